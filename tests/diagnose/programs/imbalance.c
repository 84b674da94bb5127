/* planted: LoadImbalance; also: RuntimeLibrary|Barriers|Chains; by: record; flags: -O2 -fopenmp. The later iterations have more to do. */
#include <stdio.h>
int main(void)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4) schedule(static)
    for (int i = 0; i < 24000; i++) /* HERE */
        for (int j = 0; j < i; j++)
            sum = sum * 0.999999 + 1e-7;
    printf("%g\n", sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
