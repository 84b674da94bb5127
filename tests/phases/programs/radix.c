/*
 * Radix sort by threads, in the manner of SPLASH-2's: in each pass every thread counts its keys' digits; the counts
 * become offsets; every thread moves its keys. A barrier ends each of the three phases:
 *
 *     radix [THREADS [KEYS]]
 *
 * The second phase is serial: the other threads wait.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BITS = 8, DIGITS = 1 << BITS, THREADS_MOST = 64 };

static unsigned *from, *to;
static size_t keys = 1 << 20, place[THREADS_MOST][DIGITS];
static int threads = 4;
static pthread_barrier_t counted, placed, moved;

static void count(int me, unsigned shift, size_t begin, size_t end)
{
    for (int d = 0; d < DIGITS; d++)
        place[me][d] = 0;
    for (size_t i = begin; i < end; i++)
        place[me][from[i] >> shift & (DIGITS - 1)]++;
}

static void make_places(void)
{
    size_t next = 0;
    for (int d = 0; d < DIGITS; d++)
        for (int t = 0; t < threads; t++) {
            size_t n = place[t][d];
            place[t][d] = next;
            next += n;
        }
}

static void move(int me, unsigned shift, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        to[place[me][from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

static void *sort(void *arg)
{
    int me = (int)(size_t)arg;
    size_t begin = keys * (size_t)me / (size_t)threads, end = keys * ((size_t)me + 1) / (size_t)threads;
    for (unsigned shift = 0; shift < 32; shift += BITS) {
        count(me, shift, begin, end);
        pthread_barrier_wait(&counted);
        if (me == 0)
            make_places();
        pthread_barrier_wait(&placed);
        move(me, shift, begin, end);
        if (pthread_barrier_wait(&moved) == PTHREAD_BARRIER_SERIAL_THREAD) {
            unsigned *swap = from;
            from = to;
            to = swap;
        }
        pthread_barrier_wait(&moved);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t id[THREADS_MOST];
    unsigned seed = 1;
    threads = argc > 1 ? atoi(argv[1]) : threads;
    keys = argc > 2 ? strtoul(argv[2], NULL, 10) : keys;
    if (threads < 1 || threads > THREADS_MOST || !(from = malloc(keys * sizeof *from)) || !(to = malloc(keys * sizeof *to)))
        return 1;
    for (size_t i = 0; i < keys; i++)
        from[i] = seed = seed * 1664525 + 1013904223;
    pthread_barrier_init(&counted, NULL, (unsigned)threads);
    pthread_barrier_init(&placed, NULL, (unsigned)threads);
    pthread_barrier_init(&moved, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, sort, (void *)(size_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    for (size_t i = 1; i < keys; i++)
        if (from[i - 1] > from[i])
            return 1;
    printf("%zu keys sorted\n", keys);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
