/* planted: none; false: WaitingPlace; set: a; by: record -e REALTIME; before: -O2; after: -O2. A loop that only computes, by the wall clock alone. */
#include <stdio.h>
int main(void)
{
    double x = 1;
    for (long i = 0; i < 200000000; i++)
        x = x * 0.9999 + 1e-5;
    printf("%g\n", x);
}
/* SPDX-License-Identifier: BSD-3-Clause */
