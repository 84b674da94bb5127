// planted: Branches; set: b; before: -O1; after: -O1 -DAFTER. A class of three is chosen by random data; sorted data are predicted.
#include <algorithm>
#include <cstdio>
#include <vector>
static __attribute__((noipa)) long classify(const std::vector<int> &v)
{
    long a = 0, b = 1, c = 0;
    for (int x : v) {
        if (x < 100)
            a += x;
        else if (x < 200)
            b = (b ^ x) + 1;
        else
            c -= x;
    }
    return a + b + c;
}
int main()
{
    std::vector<int> v(50000);
    unsigned seed = 5;
    for (int &x : v)
        seed = seed * 1664525 + 1013904223, x = (seed >> 16) % 300;
#ifdef AFTER
    std::sort(v.begin(), v.end());
#endif
    long total = 0;
    for (int r = 0; r < 1500; r++)
        total += classify(v);
    std::printf("%ld\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
