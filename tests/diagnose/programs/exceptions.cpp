/* planted: Exceptions|Unwinding; also: Allocation; by: record; flags: -O2. What is usual is thrown. */
#include <cstdio>
#include <stdexcept>
__attribute__((noinline)) static int parse(int i)
{
    if (i % 2)
        throw std::runtime_error("odd");
    return i;
}
int main()
{
    int good = 0, bad = 0;
    for (int i = 0; i < 600000; i++)
        try { /* HERE */
            good += parse(i) & 1;
        } catch (const std::exception &) {
            bad++;
        }
    std::printf("%d %d\n", good, bad);
}
// SPDX-License-Identifier: BSD-3-Clause
