/* planted: NotVectorized; set: a; before: -O1; after: -O2 -DAFTER. A condition on random data: gcc selects at -O1, and makes no vectors. */
#include <stdio.h>
enum { N = 1 << 16, ROUNDS = 4000 };
static int a[N];
__attribute__((noipa)) static long count(void)
{
    long sum = 0;
    for (int i = 0; i < N; i++) {
#ifdef AFTER
        sum += a[i] & -(a[i] >= 128);
#else
        if (a[i] >= 128)
            sum += a[i];
        else
            sum ^= i;
#endif
    }
    return sum;
}
int main(void)
{
    unsigned seed = 1;
    long total = 0;
    for (int i = 0; i < N; i++)
        seed = seed * 1664525 + 1013904223, a[i] = seed >> 24;
    for (int r = 0; r < ROUNDS; r++)
        total += count();
    printf("%ld\n", total);
}
/* SPDX-License-Identifier: BSD-3-Clause */
