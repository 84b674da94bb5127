/* planted: NotOptimized; set: a; before: -O0; after: -O2. Compiled without optimization. */
#include <stdio.h>
enum { N = 2000, ROUNDS = 60 };
static double a[N][N];
static void relax(void)
{
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
}
int main(void)
{
    for (int i = 0; i < N; i++)
        a[0][i] = a[i][0] = 1;
    for (int r = 0; r < ROUNDS; r++)
        relax();
    printf("%g\n", a[N / 2][N / 2]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
