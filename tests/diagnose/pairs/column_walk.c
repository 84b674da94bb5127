/* planted: Strides|LowSpatialUse; set: a; before: -O2; after: -O2 -DAFTER. The inner loop goes down the columns of a large matrix. */
#include <stdio.h>
enum { N = 4096, ROUNDS = 3 };
static double a[N][N];
__attribute__((noinline)) static double sum(void)
{
    double s[4] = {0};
#ifdef AFTER
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            s[j & 3] += a[i][j] * 2;
#else
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            s[i & 3] += a[i][j] * 2;
#endif
    return s[0] + s[1] + s[2] + s[3];
}
int main(void)
{
    double total = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i + j;
    for (int r = 0; r < ROUNDS; r++)
        total += sum();
    printf("%g\n", total);
}
/* SPDX-License-Identifier: BSD-3-Clause */
