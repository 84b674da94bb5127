// planted: Allocation|Copying; set: a; before: -O2; after: -O2 -DAFTER. A vector for each element, made in the loop and thrown away.
#include <cstdio>
#include <vector>
static double filter(const std::vector<double> &x, std::size_t at, std::vector<double> &kept)
{
#ifdef AFTER
    std::vector<double> &window = kept;
    window.clear();
#else
    std::vector<double> window;
    (void)kept;
#endif
    for (std::size_t k = 0; k < 12; k++)
        window.push_back(x[at + k]);
    double sum = 0;
    for (double w : window)
        sum += w;
    return sum;
}
int main()
{
    std::vector<double> x(4096, 1.0), kept;
    double total = 0;
    for (int r = 0; r < 1500; r++)
        for (std::size_t i = 0; i + 12 < x.size(); i++)
            total += filter(x, i, kept);
    std::printf("%g\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
