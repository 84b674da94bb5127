/* planted: none; false: BarrierOverhead|BarrierImbalance|BarrierShare|SmallPhases; set: a; by: record --phases; before: -O2 -fopenmp; after: -O2 -fopenmp. Sixty balanced tasks that the threads run at the barrier. */
#include <stdio.h>
static double y[60];
int main(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 60; i++)
#pragma omp task firstprivate(i)
    {
        double s = i;
        for (long k = 0; k < 6000000; k++)
            s = s * 0.5 + k;
        y[i] = s;
    }
    printf("%g\n", y[30]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
