/* planted: NotVectorized; set: a; before: -O2 -fno-tree-vectorize; after: -O3 -march=native. A loop over arrays in the first cache, one number at a time. */
#include <stdio.h>
enum { N = 2048, ROUNDS = 500000 };
static float x[N], y[N];
__attribute__((noinline)) static void saxpy(float a)
{
    for (int i = 0; i < N; i++)
        y[i] = a * x[i] + y[i] * 0.5f;
}
int main(void)
{
    for (int i = 0; i < N; i++)
        x[i] = i;
    for (int r = 0; r < ROUNDS; r++)
        saxpy(r * 1e-6f);
    printf("%g\n", y[7]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
