/*
 * Measures cycles per number processed by the kernels: `quality_measure` prints NAME CYCLES a line.
 *
 * The time stamp counter has a fixed frequency: a chain of register additions, which take one cycle each on every core,
 * gives the core's frequency. (Not of a constant: some cores execute those at no cost.) The difference of two lengths
 * eliminates the code around the loop; the minimum of many runs eliminates disturbances by other programs.
 *
 * Wide vectors change the frequency: for half a millisecond after the first of them the core works at a fraction of its
 * rate, then at a lower frequency until they have been gone for as long (Intel's optimization manual, 248966, "Skylake
 * server power management"). So a kernel runs for some milliseconds before it is measured, and the chain runs between
 * its calls, at their frequency.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef double kernel(int, double *, const double *, const double *, const int *);
#define KERNELS(X)                                                                                                     \
    X(copy)                                                                                                            \
    X(scale)                                                                                                           \
    X(triad)                                                                                                           \
    X(daxpy) X(sum) X(dot) X(stencil) X(recurrence) X(memory) X(divide) X(root) X(gather) X(convert) X(polynomial)
#define DECLARE(name) kernel k_##name;
KERNELS(DECLARE)

/* Both lengths end with a mispredicted branch, and fit into the L1 cache. */
enum { SHORT = 512, LONG = 1024, TRIES = 400, ROUNDS = 12, CHAIN = 600, WARM_MS = 2 };

#ifdef __x86_64__
#include <immintrin.h>
static uint64_t now(void)
{
    unsigned unused;
    _mm_lfence();
    uint64_t t = __rdtscp(&unused);
    _mm_lfence();
    return t;
}

static void chain(void)
{
    uint64_t x = 1, y = 3;
    for (int i = 0; i < CHAIN / 100; i++)
        __asm__ volatile(".rept 100\n\tadd %1, %0\n\t.endr" : "+r"(x) : "r"(y));
}
#else
static uint64_t now(void)
{
    uint64_t t;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(t));
    return t;
}

static void chain(void)
{
    uint64_t x = 1, y = 3;
    for (int i = 0; i < CHAIN / 100; i++)
        __asm__ volatile(".rept 100\n\tadd %0, %0, %1\n\t.endr" : "+r"(x) : "r"(y));
}
#endif

/* Ticks that asking for the time takes. */
static double empty(void)
{
    static uint64_t least = UINT64_MAX;
    for (int i = 0; i < 20; i++) {
        uint64_t t = now();
        t = now() - t;
        least = t < least ? t : least;
    }
    return (double)least;
}

struct data {
    double *a;
    const double *b, *c;
    const int *ix;
};

static void note_least(uint64_t *least, uint64_t since)
{
    uint64_t t = now() - since;
    *least = t < *least ? t : *least;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Cycles for each number, by one round. */
static double round_of(kernel *k, const struct data *d)
{
    uint64_t longer = UINT64_MAX, shorter = UINT64_MAX, adds = UINT64_MAX;
    for (double end = seconds() + WARM_MS * 1e-3; seconds() < end;)
        k(LONG, d->a, d->b, d->c, d->ix);
    for (int i = 0; i < TRIES; i++) {
        uint64_t t = now();
        k(LONG, d->a, d->b, d->c, d->ix);
        note_least(&longer, t);
        t = now();
        k(SHORT, d->a, d->b, d->c, d->ix);
        note_least(&shorter, t);
        for (int w = 0; w < 4; w++)
            k(LONG, d->a, d->b, d->c, d->ix);
        t = now();
        chain();
        note_least(&adds, t);
    }
    return (double)(longer - shorter) / (LONG - SHORT) / (((double)adds - empty()) / CHAIN);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    static double a[LONG + 72] __attribute__((aligned(64))), b[LONG + 72 + 8] __attribute__((aligned(64))),
        c[LONG + 72 + 16] __attribute__((aligned(64)));
    static int ix[LONG + 72] __attribute__((aligned(64)));
    static const struct {
        const char *name;
        kernel *k;
    } rows[] = {
#define ROW(name) {#name, k_##name},
        KERNELS(ROW)};
    for (int i = 0; i < LONG + 72; i++) {
        b[i] = 1 + i * 1e-3;
        c[i] = 2 - i * 1e-4;
        ix[i] = (i * 7) % LONG;
    }
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double rounds[ROUNDS];
        for (int i = 0; i < ROUNDS; i++)
            rounds[i] = round_of(rows[r].k, &(struct data){a, b, c, ix});
        qsort(rounds, ROUNDS, sizeof *rounds, ascending);
        printf("%s %.4f\n", rows[r].name, rounds[ROUNDS / 3]);
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
