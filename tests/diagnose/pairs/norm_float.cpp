// planted: Reduction; set: b; before: -O2; after: -O2 -ffast-math. The norm of short float vectors that stay in the first cache, through a template.
#include <cstdio>
template <class T, int N> struct vec {
    T v[N];
    T norm2() const
    {
        T s = 0;
        for (int i = 0; i < N; i++)
            s += v[i] * v[i];
        return s;
    }
};
static vec<float, 3000> x;
int main()
{
    for (int i = 0; i < 3000; i++)
        x.v[i] = i * 1e-3f;
    float total = 0;
    for (int r = 0; r < 150000; r++) {
        x.v[r % 3000] += 1e-6f;
        total += x.norm2();
    }
    std::printf("%g\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
