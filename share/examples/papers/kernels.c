/* Three loops, each with a property of its machine code, as MAQAO lists them. */
#include <stdio.h>
static double a[4096], b[4096], c[4096];
static int at[4096];

int main(void)
{
    for (int i = 0; i < 4096; i++)
        at[i] = i * 403 & 4095, b[i] = i, c[i] = i + 1;
    for (int k = 0; k < 40000; k++) {
        for (int i = 0; i < 4096; i++) /* division */
            a[i] = b[i] / c[i];
        for (int i = 0; i < 4096; i++) /* indirect */
            a[i] = b[at[i]] + 1;
        for (int i = 1; i < 4096; i++) /* chain */
            c[i] = c[i - 1] * 0.5 + 1;
    }
    printf("%g\n", a[1] + b[2] + c[3]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
