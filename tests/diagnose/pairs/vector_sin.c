/* planted: ElementaryFunctions; set: b; before: -O3 -ffast-math -march=native; after: -O3 -ffast-math -march=native -DAFTER. The sine of a table of angles that never change, by a vector library. */
#include <math.h>
#include <stdio.h>
static float angle[4096], s[4096], y[4096];
__attribute__((noinline)) static void rotate(float f)
{
    for (int i = 0; i < 4096; i++) {
#ifdef AFTER
        y[i] += f * s[i];
#else
        y[i] += f * sinf(angle[i]);
#endif
    }
}
int main(void)
{
    for (int i = 0; i < 4096; i++)
        s[i] = sinf(angle[i] = i * 1e-3f);
    for (int r = 0; r < 40000; r++)
        rotate(r * 1e-5f);
    printf("%g\n", y[99]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
