/* planted: Gather|CacheMisses; set: b; before: -O2; after: -O2 -DAFTER. Random look-ups in 64 MiB; in order they are neighbours. */
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 24 };
static float *table;
static unsigned *order;
__attribute__((noinline)) static float collect(void)
{
    float s[4] = {0};
    for (long i = 0; i < N; i++)
        s[i & 3] += table[order[i]];
    return s[0] + s[1] + s[2] + s[3];
}
int main(void)
{
    table = malloc(N * sizeof *table);
    order = malloc(N * sizeof *order);
    unsigned seed = 1;
    for (long i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        table[i] = i;
#ifdef AFTER
        order[i] = i;
#else
        order[i] = seed >> 8;
#endif
    }
    float total = 0;
    for (int r = 0; r < 4; r++)
        total += collect();
    printf("%g\n", total);
}
/* SPDX-License-Identifier: BSD-3-Clause */
