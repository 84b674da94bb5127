/* planted: SerialPart|SerialPhase; set: a; by: record; before: -O2 -fopenmp; after: -O2 -fopenmp -DAFTER. Half of the work is outside of the parallel region. */
#include <stdio.h>
enum { N = 200000, ROUNDS = 60 };
static double y[N], z[N];
static double work(double s)
{
    for (int k = 0; k < 24; k++)
        s = s * 0.5 + k;
    return s;
}
__attribute__((noinline)) static void prepare(void)
{
#ifdef AFTER
#pragma omp parallel for
#endif
    for (int i = 0; i < N; i++)
        y[i] = work(y[i]);
}
__attribute__((noinline)) static void solve(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        z[i] = work(y[i]);
}
int main(void)
{
    for (int r = 0; r < ROUNDS; r++) {
        prepare();
        solve();
    }
    printf("%g\n", z[N / 2]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
