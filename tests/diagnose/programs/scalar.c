/* planted: NotVectorized; by: record; flags: -O2 -fno-tree-vectorize. What could be four at once is done one by one. */
#include <stdio.h>
static float x[4096], y[4096];
int main(void)
{
    for (int i = 0; i < 4096; i++)
        x[i] = i, y[i] = 1;
    for (int k = 0; k < 300000; k++)
        for (int i = 0; i < 4096; i++) /* HERE */
            y[i] = x[i] * 0.5f + y[i] * 0.25f;
    printf("%g\n", y[17]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
