/* planted: Versions|Remainder; also: TinyLoop; by: record; flags: -O3. The number that is added may be one of those that are written: each
   call takes the version for that. (Copied into a variable before the loop: a fifth of the time.) */
#include <stdio.h>
static float a[4096], b[4096];
__attribute__((noipa)) static void add(float *x, const float *y, const float *s, int n)
{
    for (int i = 0; i < n; i++) /* HERE */
        x[i] = y[i] + *s;
}
int main(void)
{
    for (int k = 0; k < 150000; k++)
        add(a, b, a + 10, 4000);
    printf("%g\n", a[17] + b[3]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
