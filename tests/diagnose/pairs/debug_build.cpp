// planted: NotOptimized; set: b; before: -O0; after: -O2. Iterators of a vector, compiled without optimization.
#include <cstdio>
#include <vector>
static double total(const std::vector<double> &v)
{
    double s = 0;
    for (std::vector<double>::const_iterator i = v.begin(); i != v.end(); ++i)
        s += *i;
    return s;
}
int main()
{
    std::vector<double> v(100000, 1.0);
    double t = 0;
    for (int r = 0; r < 300; r++)
        t += total(v);
    std::printf("%g\n", t);
}
// SPDX-License-Identifier: BSD-3-Clause
