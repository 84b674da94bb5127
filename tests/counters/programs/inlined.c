/* Inlined calls: the same procedure twice on lines of one caller, and one call inside another. */
#include "programs.h"

static inline __attribute__((always_inline)) void inner(unsigned long rounds)
{
    BLOCK(rounds);
}

static inline __attribute__((always_inline)) void outer(unsigned long unit)
{
    inner(unit);
    inner(2 * unit);
}

__attribute__((noinline, noclone)) static void caller(unsigned long unit)
{
    outer(unit);
    inner(3 * unit);
}

int main(int argc, char **argv)
{
    caller(unit_of(argc, argv));
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
