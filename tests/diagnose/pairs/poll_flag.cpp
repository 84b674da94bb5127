// planted: BusyWait; at: wait; false: SerialPart; set: b; by: record; before: -O2 -pthread; after: -O2 -pthread -DAFTER. A worker polls a flag between its steps while the main thread computes.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
static std::atomic<int> step(0);
static __attribute__((noinline)) double work(long n)
{
    double s = 1;
    for (long k = 0; k < n; k++)
        s = std::sqrt(s + k);
    return s;
}
static __attribute__((noinline)) void wait(int n)
{
    while (step.load(std::memory_order_acquire) < n) {
    }
}
static double results[2];
int main()
{
#ifdef AFTER
    const long mine = 3000000, other = 3000000;
#else
    const long mine = 6000000, other = 10000;
#endif
    std::thread worker([=] {
        for (int i = 1; i <= 20; i++) {
            wait(i);
            results[1] += work(other);
        }
    });
    for (int i = 1; i <= 20; i++) {
        step.store(i, std::memory_order_release);
        results[0] += work(mine);
    }
    worker.join();
    std::printf("%g\n", results[0] + results[1]);
}
// SPDX-License-Identifier: BSD-3-Clause
