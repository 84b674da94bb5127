// planted: none; false: SerialPart|LoadImbalance; set: b; by: record; before: -O2 -pthread; after: -O2 -pthread. Two threads with equal work in different templates' instances.
#include <cstdio>
#include <thread>
static double out[8];
template <int N> static void work()
{
    double s = N;
    for (long k = 0; k < 60000000; k++)
        s = s * 0.5 + k;
    out[N] = s;
}
int main()
{
    std::thread a(work<0>), b(work<1>), c(work<2>), d(work<3>), e(work<4>), f(work<5>);
    a.join(), b.join(), c.join(), d.join(), e.join(), f.join();
    std::printf("%g\n", out[3]);
}
// SPDX-License-Identifier: BSD-3-Clause
