/* planted: Division; set: a; before: -O2; after: -O2 -DAFTER. The index is taken modulo a number that is not known when compiling. */
#include <stdio.h>
#include <stdlib.h>
enum { ROUNDS = 60000000 };
static int table[1024];
__attribute__((noinline)) static long walk(unsigned long n, unsigned long step)
{
    long sum = 0;
    unsigned long at = 0;
    for (long i = 0; i < ROUNDS; i++) {
#ifdef AFTER
        at += step;
        if (at >= n)
            at -= n;
        sum += table[at];
#else
        at = (at + step) % n;
        sum += table[at];
#endif
    }
    return sum;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 1024; i++)
        table[i] = i;
    printf("%ld\n", walk(argc > 1 ? strtoul(argv[1], NULL, 0) : 1021, 317));
}
/* SPDX-License-Identifier: BSD-3-Clause */
