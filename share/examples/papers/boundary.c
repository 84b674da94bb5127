/* A boundary update whose inner loop goes down a column, as in the crystal growth that Periscope was tried on. */
#include <stdio.h>
static double UN[20000][64], V[400][32];

__attribute__((noinline)) static void interior(void)
{
    for (int i = 1; i < 399; i++)
        for (int j = 1; j < 31; j++)
            V[i][j] = V[i][j] * 0.5;
}

__attribute__((noinline)) static void bound(void)
{
    for (int k = 0; k < 3000; k++)
        for (int i = 0; i < 20000; i++) /* BAD */
            UN[i][k % 64] = 1;
}

int main(void)
{
    interior();
    bound();
    printf("%g\n", UN[3][3] + V[5][5]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
