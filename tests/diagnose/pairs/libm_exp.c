/* planted: ElementaryFunctions; set: a; before: -O2; after: -O3 -ffast-math -march=native. exp and pow, one call a number. */
#include <math.h>
#include <stdio.h>
enum { N = 4096, ROUNDS = 2500 };
static double x[N], y[N];
__attribute__((noinline)) static void update(double t)
{
    for (int i = 0; i < N; i++)
        y[i] = exp(-x[i] * t) + pow(x[i], 1.3);
}
int main(void)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.001 * i;
    for (int r = 0; r < ROUNDS; r++)
        update(r * 1e-4);
    printf("%g\n", y[N / 2]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
