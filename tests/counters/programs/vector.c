/* Vectorizable code: sums and products of arrays; its instructions are counted, not planned. */
#include "programs.h"

enum { N = 4000 };
static float a[N], b[N], c[N];

__attribute__((noinline, noclone)) static void triad(void)
{
    for (int i = 0; i < N; i++)
        a[i] = b[i] + 3 * c[i];
}

__attribute__((noinline, noclone)) static void scale(void)
{
    for (int i = 0; i < N; i++)
        b[i] = c[i] * 0.5f;
}

int main(int argc, char **argv)
{
    unsigned long unit = unit_of(argc, argv);
    for (int i = 0; i < N; i++)
        c[i] = (float)i;
    for (unsigned long i = 0; i < unit / N; i++) {
        triad();
        triad();
        scale();
    }
    return a[17] == 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
