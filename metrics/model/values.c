/* SPDX-License-Identifier: BSD-3-Clause */
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
#include "metrics/model/model.h"

#include <math.h>

enum { WORD = 64 };

struct values {
    size_t size, count;
    size_t filled, room; /* while it is made: position; allocated doubles */
    uint64_t *bits;
    uint32_t *before; /* by word of bits: how many values lie before it */
    uint64_t scale;   /* 0: doubles */
    union {
        uint32_t *multiples;
        double *doubles;
    };
};

/* The value as a multiple of `scale` that fits in 32 bits; false if it is not exactly that. */
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

/* Which of the up to 64 values are there. Most often all are, or none. */
static uint64_t present(const double *dense, size_t n)
{
    uint64_t bits = 0;
    if (n == WORD) {
        lane_masks all = {-1, -1}, any = {0};
        for (size_t i = 0; i < WORD; i += LANES) {
            lane_masks here = *(const lanes *)(dense + i) == *(const lanes *)(dense + i);
            all &= here;
            any |= here;
        }
        if (all[0] & all[1])
            return ~0ull;
        if (!(any[0] | any[1]))
            return 0;
    }
    for (size_t i = 0; i < n; i++)
        bits |= (uint64_t)!isnan(dense[i]) << i;
    return bits;
}

struct values *values_begin(size_t n)
{
    struct values *v = mem_calloc(1, sizeof *v);
    size_t words = n / WORD + 2;
    v->size = n;
    v->bits = mem_calloc(words, sizeof *v->bits);
    v->before = mem_calloc(words, sizeof *v->before);
    return v;
}

/* Space for so many more; as much as the column's rest would need at this density. */
static void reserve(struct values *v, size_t added)
{
    if (v->count + added <= v->room)
        return;
    size_t room = 2 * (v->count + added);
    v->room = room < v->size ? room : v->size;
    v->doubles = mem_realloc(v->doubles, v->room + 1, sizeof *v->doubles);
}

static void append_word(struct values *v, const double *dense, size_t n)
{
    uint64_t bits = present(dense, n);
    v->before[v->filled / WORD] = (uint32_t)v->count;
    v->bits[v->filled / WORD] = bits;
    v->filled += n;
    if (bits == ~0ull) {
        memcpy(v->doubles + v->count, dense, WORD * sizeof *dense);
        v->count += WORD;
        return;
    }
    for (; bits; bits &= bits - 1)
        v->doubles[v->count++] = dense[__builtin_ctzll(bits)];
}

void values_append(struct values *v, const double *dense, size_t n)
{
    reserve(v, n);
    for (size_t i = 0; i < n; i += WORD)
        append_word(v, dense + i, n - i < WORD ? n - i : WORD);
}

/* The doubles as multiples, where all are. */
static void scale_down(struct values *v, uint64_t scale)
{
    if (!all_multiples(v->doubles, v->count, scale))
        return;
    uint32_t *multiples = mem_alloc(v->count * sizeof *multiples);
    for (size_t i = 0; i < v->count; i++)
        as_multiple(v->doubles[i], scale, &multiples[i]);
    mem_free(v->doubles);
    v->multiples = multiples;
    v->scale = scale;
}

void values_end(struct values *v, uint64_t scale)
{
    if (scale)
        scale_down(v, scale);
    if (!v->scale)
        v->doubles = mem_realloc(v->doubles, v->count, sizeof *v->doubles);
}

struct values *values_create(const double *dense, size_t n, uint64_t scale)
{
    struct values *v = values_begin(n);
    for (size_t i = 0; i < n; i += WORD)
        values_append(v, dense + i, n - i < WORD ? n - i : WORD);
    values_end(v, scale);
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

/* Numbers of 32 bits become doubles by standing where those have their last bits. */
static void unpack_multiples(const uint32_t *multiples, uint64_t scale, size_t n, double *dense)
{
    const lane_masks bits = {0x4330000000000000, 0x4330000000000000};
    const lanes base = {0x1p52, 0x1p52}, by = {(double)scale, (double)scale};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lane_masks wide = {multiples[i], multiples[i + 1]};
        *(lanes *)(dense + i) = ((lanes)(wide | bits) - base) * by;
    }
    for (; i < n; i++)
        dense[i] = (double)multiples[i] * (double)scale;
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

/* One word's values from bit `from` to `end`. */
static void unpack_word(const struct values *v, size_t word, size_t from, size_t end, double *dense)
{
    size_t at = v->before[word];
    uint64_t bits = v->bits[word];
    if (bits == ~0ull && v->scale) {
        unpack_multiples(v->multiples + at + from, v->scale, end - from, dense);
        return;
    }
    if (bits == ~0ull) {
        memcpy(dense, v->doubles + at + from, (end - from) * sizeof *dense);
        return;
    }
    for (size_t i = 0; i < end - from; i++)
        dense[i] = NAN;
    for (; bits; bits &= bits - 1, at++) {
        size_t i = (size_t)__builtin_ctzll(bits);
        if (i >= from && i < end)
            dense[i - from] = stored(v, at);
    }
}

void values_unpack(const struct values *v, size_t from, size_t n, double *dense)
{
    size_t end = !v || from >= v->size ? from : n < v->size - from ? from + n : v->size, i = from;
    while (i < end) {
        size_t first = i % WORD, last = end - i < WORD - first ? first + (end - i) : WORD;
        unpack_word(v, i / WORD, first, last, dense + (i - from));
        i += last - first;
    }
    for (; i < from + n; i++)
        dense[i - from] = NAN;
}

bool values_any(const struct values *v, size_t from, size_t n)
{
    size_t end = !v || from >= v->size ? from : n < v->size - from ? from + n : v->size;
    for (size_t i = from; i < end; i += WORD - i % WORD) {
        size_t first = i % WORD, last = end - i < WORD - first ? first + (end - i) : WORD;
        if (v->bits[i / WORD] >> first << (WORD - (last - first)))
            return true;
    }
    return false;
}
