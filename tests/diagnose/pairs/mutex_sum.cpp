// planted: Locks|TimedWaits|LockContention; at: add; set: a; by: record --phases; before: -O2 -pthread; after: -O2 -pthread -DAFTER. A std::mutex for each addition.
#include <cstdio>
#include <mutex>
#include <thread>
static std::mutex lock;
static double total;
static void add(int from)
{
    double mine = 0;
    for (int i = 0; i < 8000000; i++) {
        double v = 1.0 / (from + i + 1);
#ifdef AFTER
        mine += v;
#else
        std::lock_guard<std::mutex> held(lock);
        total += v;
#endif
    }
    std::lock_guard<std::mutex> held(lock);
    total += mine;
}
int main()
{
    std::thread a(add, 0), b(add, 1000);
    a.join();
    b.join();
    std::printf("%g\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
