/* planted: none; false: NarrowVectors; set: a; before: -O3 -march=native; after: -O3 -march=native -mprefer-vector-width=512. Memory's bandwidth is the bound. */
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 23, ROUNDS = 40 };
__attribute__((noinline)) static void triad(double *restrict a, const double *restrict b, const double *restrict c, double s)
{
    for (long i = 0; i < N; i++)
        a[i] = b[i] + s * c[i];
}
int main(void)
{
    double *a = calloc(N, 8), *b = malloc(N * 8L), *c = malloc(N * 8L);
    for (long i = 0; i < N; i++)
        b[i] = i, c[i] = 1;
    for (int r = 0; r < ROUNDS; r++)
        triad(a, b, c, r);
    printf("%g\n", a[N / 2]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
