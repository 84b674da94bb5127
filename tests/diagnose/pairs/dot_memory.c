/* planted: none; false: Reduction; set: a; before: -O2; after: -O2 -ffast-math. A sum over 256 MiB: memory is the bound, not the order of the sum. */
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 25, ROUNDS = 14 };
__attribute__((noinline)) static double sum(const double *a, const double *stop)
{
    double total = 0;
    for (; a < stop; a += 8)
        total += *a;
    return total;
}
int main(void)
{
    double *a = malloc(N * sizeof *a), total = 0;
    for (long i = 0; i < N; i++)
        a[i] = i * 0.5;
    for (int r = 0; r < ROUNDS; r++)
        total += sum(a + r % 8, a + N);
    printf("%g\n", total);
}
/* SPDX-License-Identifier: BSD-3-Clause */
