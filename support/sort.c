/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Natural merge sort (Knuth, The Art of Computer Programming 3, 5.2.4): the runs that are there are merged two by two.
 *
 * The part of two neighbours that is in its place already, the smaller items of the left and the larger ones of the
 * right, is found by binary search and not touched, so that runs one behind the other cost next to nothing.
 */
#include "support/sort.h"

#include "support/support.h"

#include <math.h>
#include <stdlib.h>

int order_u32(const void *a, const void *b)
{
    return order_of(*(const uint32_t *)a, *(const uint32_t *)b);
}

int order_u64(const void *a, const void *b)
{
    return order_of(*(const uint64_t *)a, *(const uint64_t *)b);
}

int order_largest(double a, double b)
{
    return order_of(isnan(a), isnan(b)) ?: order_of(b, a);
}

struct sorting {
    char *items;
    size_t size;
    int (*compare)(const void *, const void *, void *ctx);
    void *ctx;
    struct VEC(size_t) ends; /* of the runs: one ends where the next begins */
    char *buffer;
    size_t buffer_bytes;
};

static char *item(const struct sorting *s, size_t i)
{
    return s->items + i * s->size;
}

static int compared(const struct sorting *s, const void *a, const void *b)
{
    return s->compare(a, b, s->ctx);
}

static void find_runs(struct sorting *s, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compared(s, item(s, i - 1), item(s, i)) > 0)
            *vec_push(&s->ends) = i;
    *vec_push(&s->ends) = count;
}

static char *set_aside(struct sorting *s, size_t first, size_t count)
{
    size_t bytes = count * s->size;
    if (bytes > s->buffer_bytes) {
        mem_free(s->buffer);
        s->buffer = mem_alloc(bytes);
        s->buffer_bytes = bytes;
    }
    memcpy(s->buffer, item(s, first), bytes);
    return s->buffer;
}

/* From the smallest on; the left ones are copied out. */
static void merge_up(struct sorting *s, size_t begin, size_t middle, size_t end)
{
    const char *left = set_aside(s, begin, middle - begin), *left_end = left + (middle - begin) * s->size;
    const char *right = item(s, middle), *right_end = item(s, end);
    char *to = item(s, begin);
    for (; left < left_end && right < right_end; to += s->size) {
        const char **from = compared(s, left, right) <= 0 ? &left : &right;
        memcpy(to, *from, s->size);
        *from += s->size;
    }
    memcpy(to, left, (size_t)(left_end - left));
}

/* From the largest on; the right ones are copied out. */
static void merge_down(struct sorting *s, size_t begin, size_t middle, size_t end)
{
    const char *right = set_aside(s, middle, end - middle);
    size_t l = middle, r = end - middle, to = end;
    while (l > begin && r > 0) {
        const char *left_last = item(s, l - 1), *right_last = right + (r - 1) * s->size;
        bool from_left = compared(s, left_last, right_last) > 0;
        memcpy(item(s, --to), from_left ? left_last : right_last, s->size);
        *(from_left ? &l : &r) -= 1;
    }
    memcpy(item(s, begin), right, r * s->size);
}

static void merge(struct sorting *s, size_t begin, size_t middle, size_t end)
{
    const char *first_right = item(s, middle), *last_left = item(s, middle - 1);
    begin += sorted_front(middle - begin, i, compared(s, item(s, begin + i), first_right) <= 0);
    end = middle + sorted_front(end - middle, i, compared(s, item(s, middle + i), last_left) < 0);
    if (begin == middle || end == middle)
        return;
    (middle - begin <= end - middle ? merge_up : merge_down)(s, begin, middle, end);
}

/* Each run with its neighbour; half as many are left. */
static void merge_neighbours(struct sorting *s)
{
    size_t begin = 0, n = 0;
    for (size_t i = 0; i < s->ends.count; i += 2) {
        bool pair = i + 1 < s->ends.count;
        size_t middle = s->ends.items[i], end = s->ends.items[i + pair];
        if (pair)
            merge(s, begin, middle, end);
        s->ends.items[n++] = begin = end;
    }
    s->ends.count = n;
}

void sort_items_with(void *items, size_t count, size_t size, int (*compare)(const void *, const void *, void *ctx),
                     void *ctx)
{
    struct sorting s = {.items = items, .size = size, .compare = compare, .ctx = ctx};
    if (count < 2)
        return;
    find_runs(&s, count);
    while (s.ends.count > 1)
        merge_neighbours(&s);
    vec_release(&s.ends);
    mem_free(s.buffer);
}

struct without_ctx {
    int (*compare)(const void *, const void *);
};

static int compare_without_ctx(const void *a, const void *b, void *ctx)
{
    const struct without_ctx *order = ctx;
    return order->compare(a, b);
}

void sort_items(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    sort_items_with(items, count, size, compare_without_ctx, &(struct without_ctx){compare});
}

uint32_t *sort_digits(const void *rows, size_t count, unsigned digits,
                      uint8_t (*digit)(const void *rows, uint32_t row, unsigned which))
{
    uint32_t *order = mem_alloc((count + 1) * sizeof *order), *next = mem_alloc((count + 1) * sizeof *next);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (unsigned which = 0; which < digits; which++) {
        size_t before[UINT8_MAX + 2] = {0};
        for (size_t i = 0; i < count; i++)
            before[digit(rows, (uint32_t)i, which) + 1]++;
        if (count == 0 || before[digit(rows, 0, which) + 1] == count)
            continue;
        for (size_t k = 1; k <= UINT8_MAX; k++)
            before[k] += before[k - 1];
        for (size_t i = 0; i < count; i++)
            next[before[digit(rows, order[i], which)]++] = order[i];
        uint32_t *sorted = next;
        next = order;
        order = sorted;
    }
    mem_free(next);
    return order;
}
