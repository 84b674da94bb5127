// planted: Allocation; at: process; set: b; before: -O2; after: -O2 -DAFTER. A std::list is filled and emptied again and again; a vector keeps its memory.
#include <cstdio>
#include <list>
#include <vector>
#ifdef AFTER
typedef std::vector<int> bag;
#else
typedef std::list<int> bag;
#endif
static __attribute__((noinline)) long process(bag &b, int n)
{
    b.clear();
    for (int i = 0; i < n; i++)
        b.push_back(i ^ n);
    long sum = 0;
    for (int x : b)
        sum += x;
    return sum;
}
int main()
{
    bag b;
    long total = 0;
    for (int r = 0; r < 15000; r++)
        total += process(b, 800 + r % 5);
    std::printf("%ld\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
