/* planted: Reduction; set: a; before: -O2; after: -O2 -ffast-math. A sum of products in the first cache: the additions are the bound. */
#include <stdio.h>
enum { N = 1024, ROUNDS = 400000 };
static double a[N], b[N];
__attribute__((noinline)) static double dot(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += a[i] * b[i];
    return sum;
}
int main(void)
{
    double total = 0;
    for (int i = 0; i < N; i++)
        a[i] = i * 0.5, b[i] = 1.0 / (i + 1);
    for (int r = 0; r < ROUNDS; r++) {
        a[r % N] += 1e-9;
        total += dot();
    }
    printf("%g\n", total);
}
/* SPDX-License-Identifier: BSD-3-Clause */
