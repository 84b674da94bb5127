/*
 * One column of numbers by place (or by a tree's node): a bit for each that has a value, and the values one after the
 * other.
 *
 *     places   0 1 2 3 4 5 6 ...        bits     0 1 0 0 1 1 0 ...
 *     values   . 7 . . 2 9 .            stored   7 2 9
 *
 * How many are stored before each word of bits is kept, so one look-up is two words and a count of bits. Sampled
 * metrics are multiples of their period: 32 bits instead of a double where that loses nothing.
 */
#include "metrics/metrics.h"

#include <math.h>

struct values {
    size_t size, count;
    uint64_t *bits;
    uint32_t *before; /* by word of bits: how many values lie before it */
    uint64_t scale;   /* 0: doubles */
    union {
        uint32_t *multiples;
        double *doubles;
    };
};

/* The value as a multiple of `scale` that 32 bits hold; false where it is not exactly that. */
static bool as_multiple(double value, uint64_t scale, uint32_t *multiple)
{
    double quotient = value / (double)scale;
    if (!(quotient >= 0 && quotient <= UINT32_MAX) || signbit(value))
        return false;
    *multiple = (uint32_t)quotient;
    return (double)*multiple * (double)scale == value;
}

static bool all_multiples(const double *dense, size_t n, uint64_t scale)
{
    uint32_t ignored;
    if (scale == 0 || scale > 1ull << 53)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isnan(dense[i]) && !as_multiple(dense[i], scale, &ignored))
            return false;
    return true;
}

static size_t words_of(size_t n)
{
    return (n + 63) / 64;
}

static void mark_present(struct values *v, const double *dense)
{
    for (size_t i = 0; i < v->size; i++) {
        if (i % 64 == 0)
            v->before[i / 64] = (uint32_t)v->count;
        if (isnan(dense[i]))
            continue;
        v->bits[i / 64] |= 1ull << i % 64;
        v->count++;
    }
}

struct values *values_create(const double *dense, size_t n, uint64_t scale)
{
    struct values *v = mem_calloc(1, sizeof *v);
    size_t at = 0;
    v->size = n;
    v->bits = mem_calloc(words_of(n) + 1, sizeof *v->bits);
    v->before = mem_calloc(words_of(n) + 1, sizeof *v->before);
    mark_present(v, dense);
    v->scale = all_multiples(dense, n, scale) ? scale : 0;
    if (v->scale)
        v->multiples = mem_alloc((v->count + 1) * sizeof *v->multiples);
    else
        v->doubles = mem_alloc((v->count + 1) * sizeof *v->doubles);
    for (size_t i = 0; i < n; i++) {
        if (isnan(dense[i]))
            continue;
        if (v->scale)
            as_multiple(dense[i], scale, &v->multiples[at++]);
        else
            v->doubles[at++] = dense[i];
    }
    return v;
}

void values_free(struct values *v)
{
    if (!v)
        return;
    mem_free(v->bits);
    mem_free(v->before);
    mem_free(v->scale ? (void *)v->multiples : (void *)v->doubles);
    mem_free(v);
}

static double stored(const struct values *v, size_t at)
{
    return v->scale ? (double)v->multiples[at] * (double)v->scale : v->doubles[at];
}

double values_get(const struct values *v, size_t i)
{
    if (!v || i >= v->size || !(v->bits[i / 64] >> i % 64 & 1))
        return NAN;
    uint64_t below = v->bits[i / 64] & ((1ull << i % 64) - 1);
    return stored(v, v->before[i / 64] + (size_t)__builtin_popcountll(below));
}

size_t values_count(const struct values *v)
{
    return v ? v->count : 0;
}

void values_unpack(const struct values *v, size_t from, size_t n, double *dense)
{
    for (size_t i = 0; i < n; i++)
        dense[i] = NAN;
    if (!v || from >= v->size)
        return;
    size_t end = n < v->size - from ? from + n : v->size, word = from / 64, at = v->before[word];
    for (; 64 * word < end; word++)
        for (uint64_t left = v->bits[word]; left; left &= left - 1) {
            size_t i = 64 * word + (size_t)__builtin_ctzll(left);
            double value = stored(v, at++);
            if (i >= from && i < end)
                dense[i - from] = value;
        }
}
