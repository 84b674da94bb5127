/* planted: none; false: Reduction; set: a; before: -O2; after: -O2 -ffast-math. Rows of 27 numbers each: neighbouring rows overlap in the processor. */
#include <stdio.h>
#include <stdlib.h>
enum { ROWS = 4000, WIDTH = 27, ROUNDS = 4000 };
static double value[ROWS * WIDTH], x[ROWS], y[ROWS];
static int column[ROWS * WIDTH];
__attribute__((noinline)) static void multiply(void)
{
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int k = r * WIDTH; k < (r + 1) * WIDTH; k++)
            sum += value[k] * x[column[k]];
        y[r] = sum;
    }
}
int main(void)
{
    for (int i = 0; i < ROWS * WIDTH; i++)
        value[i] = i % 7, column[i] = (i / WIDTH + i % WIDTH * 13) % ROWS;
    for (int i = 0; i < ROWS; i++)
        x[i] = i;
    for (int r = 0; r < ROUNDS; r++)
        multiply();
    printf("%g\n", y[ROWS / 2]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
