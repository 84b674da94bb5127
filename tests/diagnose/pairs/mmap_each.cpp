// planted: PageFaults|MappingMemory|Allocation|Copying; set: b; before: -O2; after: -O2 -DAFTER. A std::vector of two million numbers is made and destroyed for each step.
#include <cstdio>
#include <numeric>
#include <vector>
static __attribute__((noinline)) double step(int r, std::vector<double> &kept)
{
#ifdef AFTER
    std::vector<double> &x = kept;
    x.assign(1000000, r);
#else
    std::vector<double> x(1000000, r);
    (void)kept;
#endif
    return x[r] + x[999999];
}
int main()
{
    std::vector<double> kept;
    double total = 0;
    for (int r = 0; r < 600; r++)
        total += step(r, kept);
    std::printf("%g\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
