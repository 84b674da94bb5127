// planted: none; false: Reduction|Chains|NarrowVectors; set: b; before: -O3; after: -O3 -ffast-math. A seven-point stencil in three dimensions, from memory.
#include <cstdio>
#include <vector>
int main()
{
    const long n = 200;
    std::vector<double> a(n * n * n, 1.0), b(n * n * n, 0.0);
    for (int r = 0; r < 20; r++) {
        for (long z = 1; z < n - 1; z++)
            for (long y = 1; y < n - 1; y++)
                for (long x = 1; x < n - 1; x++) {
                    long i = (z * n + y) * n + x;
                    b[i] = a[i] * 0.4 + 0.1 * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] + a[i + n * n]);
                }
        a.swap(b);
    }
    std::printf("%g\n", a[n * n * n / 2]);
}
// SPDX-License-Identifier: BSD-3-Clause
