/* A triangle of work shared evenly by rows: the thread with the last rows comes last to each barrier. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1400 };
static double a[N][N], b[N];

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 400;
    double norm = 0;
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k <= i; k++)
                sum += a[i][k] * 0.5 + k;
            b[i] = sum;
        }
#pragma omp parallel for schedule(static)
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++)
                a[i][k] = a[i][k] * 0.25 + b[k] * 1e-9;
        norm = b[N - 1];
    }
    printf("%g\n", norm);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
