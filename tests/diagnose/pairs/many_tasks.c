/* planted: TinyTasks|RuntimeLibrary; false: BarrierOverhead|SmallPhases; set: a; by: record --phases; before: -O2 -fopenmp; after: -O2 -fopenmp -DAFTER. A task for each number. */
#include <stdio.h>
enum { N = 400000 };
static double y[N];
static void work(int i)
{
    double s = i;
    for (int k = 0; k < 20; k++)
        s = s * 0.5 + k;
    y[i] += s;
}
int main(void)
{
#pragma omp parallel
#pragma omp single
    for (int r = 0; r < 3; r++) {
#ifdef AFTER
        for (int i = 0; i < N; i += 1000)
#pragma omp task firstprivate(i)
            for (int k = i; k < i + 1000; k++)
                work(k);
#else
        for (int i = 0; i < N; i++)
#pragma omp task firstprivate(i)
            work(i);
#endif
#pragma omp taskwait
    }
    printf("%g\n", y[N / 2]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
