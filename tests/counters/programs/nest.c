/* Nested loops: the innermost one has nearly all of the cost, and each enclosing loop its planned share. */
#include "programs.h"

__attribute__((noinline, noclone)) static void nest(unsigned long unit)
{
    for (unsigned long i = 0; i < 10; i++) {
        BLOCK(unit / 10);
        for (unsigned long j = 0; j < 10; j++)
            BLOCK(unit / 50);
    }
}

int main(int argc, char **argv)
{
    nest(unit_of(argc, argv));
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
