// planted: TinyTasks|RuntimeLibrary; set: b; by: record; before: -O2 -fopenmp; after: -O2 -fopenmp -DAFTER. A recursive sum makes a task for every two numbers.
#include <cstdio>
#include <vector>
#ifdef AFTER
enum { SMALLEST = 20000 };
#else
enum { SMALLEST = 2 };
#endif
static double sum(const double *x, long n)
{
    if (n <= SMALLEST) {
        double s = 0;
        for (long i = 0; i < n; i++)
            s += x[i];
        return s;
    }
    double a, b;
#pragma omp task shared(a)
    a = sum(x, n / 2);
    b = sum(x + n / 2, n - n / 2);
#pragma omp taskwait
    return a + b;
}
int main()
{
    std::vector<double> x(600000, 0.5);
    double total = 0;
#pragma omp parallel
#pragma omp single
    for (int r = 0; r < 4; r++)
        total += sum(x.data(), x.size());
    std::printf("%g\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
