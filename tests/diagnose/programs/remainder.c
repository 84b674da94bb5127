/* planted: Remainder; by: record; flags: -O3 -mavx2 --param vect-epilogues-nomask=0. The loop runs fifteen times, and vectors hold 32: all of it is remainder. */
#include <stdio.h>
static unsigned char x[16000], y[16000];
__attribute__((noipa)) static void mix(unsigned char *restrict a, const unsigned char *restrict b, int n)
{
    for (int i = 0; i < n; i++) /* HERE */
        a[i] = (unsigned char)(a[i] / 3 + b[i]);
}
int main(void)
{
    for (int k = 0; k < 25000; k++)
        for (int i = 0; i < 1000; i++)
            mix(x + i * 15, y + i * 15, 15);
    printf("%d\n", x[17]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
