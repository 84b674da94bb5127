/* planted: Division; also: NotVectorized|NarrowVectors; by: record; flags: -O2. A division in each iteration. */
#include <stdio.h>
static double x[4096], y[4096];
int main(void)
{
    for (int i = 0; i < 4096; i++)
        x[i] = i + 1, y[i] = 3 + i % 7;
    for (int k = 0; k < 60000; k++)
        for (int i = 0; i < 4096; i++) /* HERE */
            x[i] = (x[i] + 1) / y[i];
    printf("%g\n", x[17]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
