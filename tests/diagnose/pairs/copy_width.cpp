// planted: none; false: NarrowVectors; set: b; before: -O3 -march=native; after: -O3 -march=native -mprefer-vector-width=512. Scaling of a large array: bandwidth.
#include <cstdio>
#include <vector>
static __attribute__((noinline)) void scale(std::vector<float> &v, float f)
{
    for (auto &x : v)
        x = x * f + 1;
}
int main()
{
    std::vector<float> v(1 << 24, 1.0f);
    for (int r = 0; r < 40; r++)
        scale(v, 0.99f);
    std::printf("%g\n", v[99]);
}
// SPDX-License-Identifier: BSD-3-Clause
