// planted: none; false: BarrierOverhead|BarrierImbalance|BarrierShare|SmallPhases; set: b; by: record --phases; before: -O2 -fopenmp; after: -O2 -fopenmp. Tasks of equal size, run while the threads are at the end of the region.
#include <cmath>
#include <cstdio>
static double y[40];
int main()
{
#pragma omp parallel
    {
#pragma omp master
        for (int i = 0; i < 40; i++)
#pragma omp task firstprivate(i)
        {
            double s = i;
            for (int k = 0; k < 5000000; k++)
                s = std::sqrt(s + k);
            y[i] = s;
        }
    }
    std::printf("%g\n", y[7]);
}
// SPDX-License-Identifier: BSD-3-Clause
