/* planted: ElementaryFunctions; set: b; before: -O2; after: -O2 -DAFTER. pow(x, y) with an exponent that is always 2. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static double x[5000];
__attribute__((noinline)) static double energy(double e)
{
    double s = 0;
    for (int i = 0; i < 5000; i++) {
#ifdef AFTER
        s += x[i] * x[i];
        (void)e;
#else
        s += pow(x[i], e);
#endif
    }
    return s;
}
int main(int argc, char **argv)
{
    double e = argc > 1 ? atof(argv[1]) : 2, total = 0;
    for (int i = 0; i < 5000; i++)
        x[i] = i * 1e-3;
    for (int r = 0; r < 3000; r++)
        total += energy(e);
    printf("%g\n", total);
}
/* SPDX-License-Identifier: BSD-3-Clause */
