/* planted: LowSpatialUse; also: TranslationMisses|SecondLevelMisses|LastLevelMisses|FirstLevelMisses; by: simulate; flags: -O1. The inner loop goes down a column. */
#include <stdio.h>
static volatile double field[1024][1024];
int main(void)
{
    double sum = 0;
    for (int j = 0; j < 256; j++)
        for (int i = 0; i < 1024; i++) /* HERE */
            sum += field[i][j];
    printf("%g\n", sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
