/* SPDX-License-Identifier: BSD-3-Clause */
/* Ten loops with a tenth of the time each; -DSLOWER=N lengthens the third one by N per cent of the run. */
#include <stdio.h>
#include <stdlib.h>

#ifndef SLOWER
#define SLOWER 0
#endif

#define LOOP(name)                                                                                                     \
    static __attribute__((noinline)) double name(long n, double x)                                                     \
    {                                                                                                                  \
        for (long i = 0; i < n; i++)                                                                                   \
            x = 1 / (x + 1.5);                                                                                         \
        return x;                                                                                                      \
    }

/* clang-format off: a line each */
LOOP(first)
LOOP(second)
LOOP(third)
LOOP(fourth)
LOOP(fifth)
LOOP(sixth)
LOOP(seventh)
LOOP(eighth)
LOOP(ninth)
LOOP(tenth)
/* clang-format on */

int main(int argc, char **argv)
{
    double (*const loops[])(long, double) = {first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth};
    long rounds = argc > 1 ? atol(argv[1]) : 100;
    double x = 1;
    for (long round = 0; round < rounds; round++)
        for (int i = 0; i < 10; i++)
            x = loops[i](i == 2 ? 10000 + 1000 * SLOWER : 10000, x);
    printf("%g\n", x);
    return argc > 2;
}
