/* planted: Conversions; also: NarrowVectors; by: record; flags: -O2. Numbers go from float to double and back. */
#include <stdio.h>
static float x[4096], y[4096];
int main(void)
{
    for (int i = 0; i < 4096; i++)
        x[i] = i;
    for (int k = 0; k < 150000; k++)
        for (int i = 0; i < 4096; i++) /* HERE */
            y[i] = x[i] * 0.3 + y[i] * 0.7;
    printf("%g\n", y[17]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
