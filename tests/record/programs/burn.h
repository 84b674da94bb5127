/*
 * Shared by the programs of tests/record: burn(MS) uses this much CPU time of the calling thread, nearly all of it in
 * user mode, and returns the amount. At its end a program prints "burned N", the milliseconds of all its threads, which
 * the measurement must account for.
 */
#ifndef BURN_H
#define BURN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static volatile double burn_sink;

__attribute__((noinline)) static void burn(int ms)
{
    double end = cpu_ms() + ms;
    while (cpu_ms() < end) {
        double x = 1;
        for (int i = 0; i < 50000; i++)
            x = x * 1.0000001 + 0.5;
        burn_sink = x;
    }
}

static inline void say_burned(int ms)
{
    printf("burned %d\n", ms);
    fflush(stdout);
}

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
