/* planted: FalseSharing|SharedLine; false: SerialPart; set: b; by: record; before: -O1 -fopenmp; after: -O1 -fopenmp -DAFTER. Counters of threads lie side by side in one cache line. */
#include <omp.h>
#include <stdio.h>
#ifdef AFTER
enum { APART = 32 };
#else
enum { APART = 1 };
#endif
static volatile long hits[64 * 32];
int main(void)
{
#pragma omp parallel num_threads(2)
    {
        volatile long *mine = &hits[omp_get_thread_num() * APART];
        for (long i = 0; i < 80000000; i++)
            *mine += i & 3;
    }
    printf("%ld\n", hits[0]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
