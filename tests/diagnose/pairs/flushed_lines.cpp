// planted: InputOutput; at: report|main; set: b; before: -O2; after: -O2 -DAFTER. Each line is flushed with std::endl.
#include <cstdio>
#include <fstream>
static __attribute__((noinline)) void report(std::ofstream &out, int i)
{
#ifdef AFTER
    out << "step " << i << '\n';
#else
    out << "step " << i << std::endl;
#endif
}
int main()
{
    std::ofstream out("/dev/null");
    for (int i = 0; i < 1500000; i++)
        report(out, i);
}
// SPDX-License-Identifier: BSD-3-Clause
