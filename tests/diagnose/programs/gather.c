/* planted: Gather; also: Reduction; by: record; flags: -O2. Elements are found through a table of their numbers. */
#include <stdio.h>
static double x[65536];
static int at[65536];
int main(void)
{
    double sum = 0;
    for (int i = 0; i < 65536; i++)
        x[i] = i, at[i] = (int)((i * 40503L) & 65535);
    for (int k = 0; k < 8000; k++)
        for (int i = 0; i < 65536; i++) /* HERE */
            sum += x[at[i]];
    printf("%g\n", sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
