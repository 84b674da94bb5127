// planted: Copying; at: drain; set: a; before: -O2; after: -O2 -DAFTER. Elements are taken from the front of a vector: all others are moved.
#include <cstdio>
#include <deque>
#include <vector>
#ifdef AFTER
typedef std::deque<long> queue;
static void drop(queue &q) { q.pop_front(); }
#else
typedef std::vector<long> queue;
static void drop(queue &q) { q.erase(q.begin()); }
#endif
static __attribute__((noinline)) long drain(queue &q)
{
    long sum = 0;
    while (!q.empty()) {
        sum += q.front();
        drop(q);
    }
    return sum;
}
int main()
{
    long total = 0;
    for (int r = 0; r < 3; r++) {
        queue q;
        for (long i = 0; i < 60000; i++)
            q.push_back(i);
        total += drain(q);
    }
    std::printf("%ld\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
