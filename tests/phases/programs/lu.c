/*
 * Blocked LU factorization by threads, in the manner of SPLASH-2's, with the blocks of the matrix contiguous in memory or
 * as rows of the whole:
 *
 *     lu [THREADS [N [contiguous | rows]]]
 *
 * For each block of the diagonal: its factorization, the blocks right and below of it, the rest; a barrier ends each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 16, THREADS_MOST = 64 };

static double *matrix;
static int n = 512, blocks, threads = 4, contiguous = 1;
static pthread_barrier_t diagonal_done, perimeter_done, interior_done;

static double *block(int i, int j, int *stride)
{
    *stride = contiguous ? B : n;
    return contiguous ? matrix + ((size_t)i * (size_t)blocks + (size_t)j) * B * B : matrix + (size_t)i * B * (size_t)n + (size_t)j * B;
}

static int owner(int i, int j)
{
    return (i + j * 3) % threads;
}

static void factor(double *a, int s)
{
    for (int k = 0; k < B; k++)
        for (int i = k + 1; i < B; i++) {
            a[i * s + k] /= a[k * s + k];
            for (int j = k + 1; j < B; j++)
                a[i * s + j] -= a[i * s + k] * a[k * s + j];
        }
}

static void solve_right(const double *d, int ds, double *a, int s)
{
    for (int k = 0; k < B; k++)
        for (int i = k + 1; i < B; i++)
            for (int j = 0; j < B; j++)
                a[i * s + j] -= d[i * ds + k] * a[k * s + j];
}

static void solve_below(const double *d, int ds, double *a, int s)
{
    for (int k = 0; k < B; k++)
        for (int i = 0; i < B; i++) {
            a[i * s + k] /= d[k * ds + k];
            for (int j = k + 1; j < B; j++)
                a[i * s + j] -= a[i * s + k] * d[k * ds + j];
        }
}

static void update(double *a, int s, const double *l, int ls, const double *u, int us)
{
    for (int i = 0; i < B; i++)
        for (int k = 0; k < B; k++)
            for (int j = 0; j < B; j++)
                a[i * s + j] -= l[i * ls + k] * u[k * us + j];
}

static void *work(void *arg)
{
    int me = (int)(size_t)arg, s, ds, ls, us;
    for (int k = 0; k < blocks; k++) {
        double *d = block(k, k, &ds);
        if (owner(k, k) == me)
            factor(d, ds);
        pthread_barrier_wait(&diagonal_done);
        for (int i = k + 1; i < blocks; i++) {
            double *right, *below;
            right = block(k, i, &s);
            if (owner(k, i) == me)
                solve_right(d, ds, right, s);
            below = block(i, k, &s);
            if (owner(i, k) == me)
                solve_below(d, ds, below, s);
        }
        pthread_barrier_wait(&perimeter_done);
        for (int i = k + 1; i < blocks; i++)
            for (int j = k + 1; j < blocks; j++)
                if (owner(i, j) == me) {
                    double *a = block(i, j, &s), *l = block(i, k, &ls), *u = block(k, j, &us);
                    update(a, s, l, ls, u, us);
                }
        pthread_barrier_wait(&interior_done);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t id[THREADS_MOST];
    threads = argc > 1 ? atoi(argv[1]) : threads;
    n = argc > 2 ? atoi(argv[2]) / B * B : n;
    contiguous = argc <= 3 || strcmp(argv[3], "rows") != 0;
    blocks = n / B;
    if (threads < 1 || threads > THREADS_MOST || n < B || !(matrix = malloc((size_t)n * (size_t)n * sizeof *matrix)))
        return 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int s;
            double *b = block(i / B, j / B, &s);
            b[i % B * s + j % B] = i == j ? n : 1.0 / (1 + i + j);
        }
    pthread_barrier_init(&diagonal_done, NULL, (unsigned)threads);
    pthread_barrier_init(&perimeter_done, NULL, (unsigned)threads);
    pthread_barrier_init(&interior_done, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, work, (void *)(size_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    printf("%dx%d, %s: %.9f\n", n, n, contiguous ? "contiguous" : "rows", matrix[(size_t)n * (size_t)n - 1]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
