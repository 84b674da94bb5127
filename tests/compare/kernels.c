/*
 * Three functions whose comparison is predictable:
 *
 *     sum         profits from vectorization
 *     chain       does not: each division waits for the previous one
 *     repeated    is executed in full by every thread, while the others divide their work
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096, THREADS_MOST = 8 };

static float a[N], b[N], c[THREADS_MOST][N];
static double results[THREADS_MOST];
static int times, threads;

static double sum(float *restrict to)
{
    for (int i = 0; i < N; i++)
        to[i] = a[i] * b[i] + to[i];
    return to[N / 2];
}

static double chain(void)
{
    double x = 1;
    for (int i = 0; i < N; i++)
        x = 1 / (x + a[i]);
    return x;
}

static double repeated(void)
{
    double x = 0;
    for (int i = 1; i < N; i++)
        x = x / i + a[i];
    return x;
}

static void *work(void *number)
{
    int me = *(int *)number;
    for (int t = me; t < times; t += threads) {
        results[me] += sum(c[me]);
        if (t % 4 == 0)
            results[me] += chain();
    }
    for (int t = 0; t < times / 8; t++)
        results[me] += repeated();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t handles[THREADS_MOST];
    int numbers[THREADS_MOST];
    double all = 0;
    times = argc > 1 ? atoi(argv[1]) : 20000;
    threads = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < N; i++)
        a[i] = b[i] = (float)i / N;
    for (int i = 0; i < threads; i++) {
        numbers[i] = i;
        pthread_create(&handles[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    for (int i = 0; i < threads; i++)
        all += results[i];
    printf("%g\n", all);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
