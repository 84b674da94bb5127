/* planted: Locks|RuntimeLibrary|TimedWaits; also: FalseParallelism|Barriers; by: record; flags: -O2 -fopenmp. A critical section for each addition. */
#include <stdio.h>
int main(void)
{
    double sum = 0;
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 30000000; i++) {
#pragma omp critical
        sum += i * 0.5; /* HERE */
    }
    printf("%g\n", sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
