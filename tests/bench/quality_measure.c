/*
 * Cycles for each number that the kernels take, measured: `quality_measure` prints NAME CYCLES a line.
 *
 * The time stamp counter runs at a frequency of its own: a chain of additions between registers, which takes a cycle each
 * on every core, says how much faster the core runs. (Not of a constant: some cores do those at no cost.) The difference
 * of two lengths leaves out what is before and behind the loop; the least of many runs, what the machine did meanwhile.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef double kernel(int, double *, const double *, const double *, const int *);
#define KERNELS(X)                                                                                                     \
    X(copy)                                                                                                            \
    X(scale) X(triad) X(daxpy) X(sum) X(dot) X(stencil) X(recurrence) X(memory) X(divide) X(root) X(gather) X(convert) \
        X(polynomial)
#define DECLARE(name) kernel k_##name;
KERNELS(DECLARE)

enum { SHORT = 256, LONG = 768, TRIES = 300, ROUNDS = 25 };

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
    for (int i = 0; i < 64; i++)
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
    for (int i = 0; i < 64; i++)
        __asm__ volatile(".rept 100\n\tadd %0, %0, %1\n\t.endr" : "+r"(x) : "r"(y));
}
#endif

/* Ticks of one cycle. */
static double tick(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t t = now();
        chain();
        t = now() - t;
        least = t < least ? t : least;
    }
    return (double)least / 6400;
}

static double ticks_of(kernel *k, int n, double *a, const double *b, const double *c, const int *ix)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t t = now();
        k(n, a, b, c, ix);
        t = now() - t;
        least = t < least ? t : least;
    }
    return (double)least;
}

static double least(double a, double b)
{
    return a < b ? a : b;
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
    double cycle = 1e9;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double longer = 1e9, shorter = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
            longer = least(longer, ticks_of(rows[r].k, LONG, a, b, c, ix));
            shorter = least(shorter, ticks_of(rows[r].k, SHORT, a, b, c, ix));
            cycle = least(cycle, tick());
        }
        printf("%s %.4f\n", rows[r].name, (longer - shorter) / (LONG - SHORT) / cycle);
    }
    return 0;
}
