/* One procedure that two others call: 1 part of 4 for the one, 3 for the other; and one that calls itself. */
#include "programs.h"

__attribute__((noinline, noclone)) static void work(unsigned long rounds)
{
    BLOCK(rounds);
    __asm__ volatile("");
}

__attribute__((noinline, noclone)) static void seldom(unsigned long unit)
{
    work(unit);
    __asm__ volatile("");
}

__attribute__((noinline, noclone)) static void often(unsigned long unit)
{
    for (int i = 0; i < 3; i++)
        work(unit);
    __asm__ volatile("");
}

__attribute__((noinline, noclone)) static void itself(unsigned long unit, int depth)
{
    BLOCK(unit);
    if (depth > 1)
        itself(unit, depth - 1);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    unsigned long unit = unit_of(argc, argv);
    seldom(unit);
    often(unit);
    itself(unit, 4);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
