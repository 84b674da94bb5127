// planted: ListWalk|Chains|Branches|CacheMisses; set: b; before: -O2; after: -O2 -DAFTER. Look-ups in a binary tree of a million nodes; a sorted array of the same keys is faster to build and to search in order.
#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>
int main()
{
    const unsigned n = 400000;
    unsigned seed = 1;
    std::vector<std::pair<unsigned, double>> flat;
    for (unsigned i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        flat.emplace_back(seed, i);
    }
    double total = 0;
#ifdef AFTER
    std::sort(flat.begin(), flat.end());
    for (int r = 0; r < 6; r++)
        for (auto &p : flat)
            total += p.second;
#else
    std::map<unsigned, double> tree(flat.begin(), flat.end());
    for (int r = 0; r < 6; r++)
        for (auto &p : tree)
            total += p.second;
#endif
    std::printf("%g\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
