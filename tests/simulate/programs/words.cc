// SPDX-License-Identifier: BSD-3-Clause
// Arrays of C++: of a namespace, a class, a template, a function.
#include <cstdio>

namespace ns {
static double grid[400];
struct C {
    static int table[300];
};
int C::table[300];
template <int N> struct T {
    static double buffer[200];
};
template <int N> double T<N>::buffer[200];
} // namespace ns

int main()
{
    static double kept[500];
    for (int i = 0; i < 200; i++)
        kept[i] += ns::T<3>::buffer[i] += ns::C::table[i] += ns::grid[i] += i;
    std::printf("%g\n", kept[7] + ns::grid[3]);
}
