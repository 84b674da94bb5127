/* planted: Branches; by: record; flags: -O1. Many branches that depend on data. */
#include <stdio.h>
static int x[4096], counts[8];
int main(void)
{
    unsigned r = 1;
    for (int i = 0; i < 4096; i++)
        x[i] = (r = r * 1664525 + 1013904223) >> 24;
    for (int k = 0; k < 30000; k++)
        for (int i = 0; i < 4096; i++) { /* HERE */
            int v = x[i];
            if (v < 10)
                counts[0]++;
            else if (v & 1)
                counts[1] += v > 100 ? 3 : v;
            else if (v > 200)
                counts[2] ^= v;
            else if (v % 3 == 1)
                counts[3] -= v;
            else if (v > 60)
                counts[4]++;
            else
                counts[5] += 2;
        }
    printf("%d\n", counts[1] + counts[2] + counts[3] + counts[4] + counts[5]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
