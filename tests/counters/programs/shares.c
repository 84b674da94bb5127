/* Three procedures that execute 1, 2 and 5 parts of 8. */
#include "programs.h"

__attribute__((noinline, noclone)) static void one(unsigned long unit)
{
    BLOCK(unit);
}

__attribute__((noinline, noclone)) static void two(unsigned long unit)
{
    BLOCK(2 * unit);
}

__attribute__((noinline, noclone)) static void five(unsigned long unit)
{
    BLOCK(5 * unit);
}

int main(int argc, char **argv)
{
    unsigned long unit = unit_of(argc, argv);
    one(unit);
    two(unit);
    five(unit);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
