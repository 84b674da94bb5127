// planted: Copying|Allocation; at: energy|main; set: b; before: -O2; after: -O2 -DAFTER. A large container is passed by value.
#include <cstdio>
#include <vector>
#ifdef AFTER
#define ARGUMENT const std::vector<double> &
#else
#define ARGUMENT std::vector<double>
#endif
static __attribute__((noinline)) double energy(ARGUMENT x, int at)
{
    return x[at] * x[at];
}
int main()
{
    std::vector<double> x(60000, 0.5);
    double total = 0;
    for (int r = 0; r < 20000; r++)
        total += energy(x, r);
    std::printf("%g\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
