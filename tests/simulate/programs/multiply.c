/* c = a * b by columns: 2 n^3 references in the inner loop, n^2 stores; n is the argument. */
#include <stdio.h>
#include <stdlib.h>

static double a[100][100], b[100][100];

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100;
    double *c = malloc(sizeof(double) * 100 * 100);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i][j] = i + j; /* FILL */
            b[i][j] = i - j;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i][k] * b[k][j]; /* INNER */
            c[i * n + j] = s; /* STORE */
        }
    printf("%g\n", c[n + 3]);
    return 3;
}
/* SPDX-License-Identifier: BSD-3-Clause */
