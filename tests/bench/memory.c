/* Simulated by `make bench`: matmul, triad, chase, sort; the arguments select one and its repetitions (default: 1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER = 400, LENGTH = 1 << 20, LINKS = 1 << 20 };

static double x[ORDER][ORDER], y[ORDER][ORDER], z[ORDER][ORDER];

static void matmul(void)
{
    for (int i = 0; i < ORDER; i++)
        for (int j = 0; j < ORDER; j++) {
            x[i][j] = i + j;
            y[i][j] = i - j;
        }
    for (int i = 0; i < ORDER; i++)
        for (int j = 0; j < ORDER; j++) {
            double s = 0;
            for (int k = 0; k < ORDER; k++)
                s += x[i][k] * y[k][j];
            z[i][j] = s;
        }
}

static void triad(void)
{
    double *a = calloc(LENGTH, sizeof *a), *b = calloc(LENGTH, sizeof *b), *c = calloc(LENGTH, sizeof *c);
    for (int r = 0; r < 10; r++)
        for (int i = 0; i < LENGTH; i++)
            a[i] = b[i] + 3.0 * c[i];
    z[0][0] = a[5] + a[LENGTH / 2];
    free(a);
    free(b);
    free(c);
}

static void chase(void)
{
    unsigned *next = malloc(LINKS * 16 * sizeof *next), at = 0;
    for (unsigned i = 0; i < LINKS; i++) /* a full cycle: Hull and Dobell */
        next[i * 16] = (i * 1664525u + 1013904223u) % LINKS;
    for (int i = 0; i < 4 * LINKS; i++)
        at = next[at * 16];
    z[0][0] = at;
    free(next);
}

static int by_value(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void sort(void)
{
    double *a = malloc(LENGTH * sizeof *a);
    unsigned r = 1;
    for (int i = 0; i < LENGTH; i++)
        a[i] = (r = r * 1664525u + 1013904223u) >> 8;
    qsort(a, LENGTH, sizeof *a, by_value);
    z[0][0] = a[7];
    free(a);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"matmul", matmul}, {"triad", triad}, {"chase", chase}, {"sort", sort}};
    int times = argc > 2 ? atoi(argv[2]) : 1;
    for (unsigned i = 0; argc > 1 && i < 4; i++)
        for (int n = 0; n < times && strcmp(argv[1], all[i].name) == 0; n++)
            all[i].run();
    printf("%g\n", z[0][0] + z[ORDER / 2][7]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
