/* Plain C: a product of matrices, its set-up and its check. */
#include "programs.h"

enum { N = 48 };
static double a[N][N], b[N][N], c[N][N];

__attribute__((noinline, noclone)) static void set_up(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + j;
            b[i][j] = i - j;
            c[i][j] = 0;
        }
}

__attribute__((noinline, noclone)) static void product(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                c[i][j] += a[i][k] * b[k][j];
}

__attribute__((noinline, noclone)) static double trace(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += c[i][i];
    return sum;
}

int main(int argc, char **argv)
{
    unsigned long unit = unit_of(argc, argv);
    double sum = 0;
    for (unsigned long i = 0; i < unit / (N * N * N / 4); i++) {
        set_up();
        product();
        sum += trace();
    }
    printf("%g\n", sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
