/* planted: Spills; by: record; flags: -O2 -fno-tree-vectorize. More sums than there are registers. */
#include <stdio.h>
static double x[4096];
int main(void)
{
    double s[24] = {0}, a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0, m = 0, n = 0, o = 0, p = 0, q = 0, r = 0,
           t = 0, u = 0;
    for (int v = 0; v < 4096; v++)
        x[v] = v;
    for (int w = 0; w < 40000; w++)
        for (int v = 0; v < 4000; v++) { /* HERE */
            double y = x[v];
            a += y, b += y * a, c -= b, d += y * c, e -= d, f += y * e, g -= f, h += y * g, i -= h, j += y * i;
            k -= j, l += y * k, m -= l, n += y * m, o -= n, p += y * o, q -= p, r += y * q, t -= r, u += y * t + a;
        }
    printf("%g\n", s[0] + a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + t + u);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
