/* planted: CallsInLoop; by: record; flags: -O2. A small function that cannot be inlined. */
#include <stdio.h>
static double x[4096];
__attribute__((noipa)) static double step(double v)
{
    return v * 0.5 + 1;
}
int main(void)
{
    for (int k = 0; k < 80000; k++)
        for (int i = 0; i < 4096; i++) /* HERE */
            x[i] = step(x[i]);
    printf("%g\n", x[17]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
