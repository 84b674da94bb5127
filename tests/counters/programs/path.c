/* A call path 30 deep: level 1 calls level 2, and so on; each level executes one part itself, the innermost ten. */
#include "programs.h"

#define LEVEL(n, next)                                                                                                 \
    __attribute__((noinline, noclone)) static void level##n(unsigned long unit)                                        \
    {                                                                                                                  \
        BLOCK(unit);                                                                                                   \
        next(unit);                                                                                                    \
        __asm__ volatile("");                                                                                          \
    }

__attribute__((noinline, noclone)) static void level30(unsigned long unit)
{
    BLOCK(10 * unit);
}
/* clang-format off: two a line */
LEVEL(29, level30)
LEVEL(28, level29)
LEVEL(27, level28) LEVEL(26, level27) LEVEL(25, level26) LEVEL(24, level25) LEVEL(23, level24) LEVEL(22, level23)
    LEVEL(21, level22) LEVEL(20, level21) LEVEL(19, level20) LEVEL(18, level19) LEVEL(17, level18) LEVEL(16, level17)
        LEVEL(15, level16) LEVEL(14, level15) LEVEL(13, level14) LEVEL(12, level13) LEVEL(11, level12)
            LEVEL(10, level11) LEVEL(9, level10) LEVEL(8, level9) LEVEL(7, level8) LEVEL(6, level7) LEVEL(5, level6)
                LEVEL(4, level5) LEVEL(3, level4) LEVEL(2, level3) LEVEL(1, level2)
    /* clang-format on */

    int main(int argc, char **argv)
{
    level1(unit_of(argc, argv));
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
