/* planted: LoadImbalance|BarrierImbalance|BarrierShare; set: a; by: record --phases; before: -O2 -fopenmp; after: -O2 -fopenmp -DAFTER. Later rows are longer, in two equal halves of rows. */
#include <stdio.h>
enum { N = 3000, ROUNDS = 20 };
static double y[N];
int main(void)
{
    for (int r = 0; r < ROUNDS; r++) {
#ifdef AFTER
#pragma omp parallel for schedule(dynamic, 16)
#else
#pragma omp parallel for
#endif
        for (int i = 0; i < N; i++) {
            double s = 0;
            for (int k = 0; k < 10 * i; k++)
                s = s * 0.5 + k;
            y[i] += s;
        }
    }
    printf("%g\n", y[N / 2]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
