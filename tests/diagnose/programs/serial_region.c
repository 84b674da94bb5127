/* planted: SerialPart; also: NarrowVectors|RuntimeLibrary|Barriers|Chains; by: record; flags: -O2 -fopenmp. Half of the work is outside of the parallel loop. */
#include <stdio.h>
static double work(int n)
{
    double x = 1;
    for (int i = 0; i < n; i++)
        x = x * 0.999999 + 1e-7;
    return x;
}
int main(void)
{
    double sum = 0, all = 0;
    for (int i = 0; i < 200; i++) /* HERE */
        all += work(1000000);
#pragma omp parallel for reduction(+ : sum) num_threads(4) schedule(static)
    for (int i = 0; i < 400; i++)
        sum += work(1000000);
    printf("%g\n", sum + all);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
