/* SPDX-License-Identifier: BSD-3-Clause */
/* The finished table of functions: look-ups, and additions. */
#include "bloop/functions/functions_int.h"

#include <stdlib.h>

bool function_in_code(const struct image *im, vaddr addr)
{
    const struct image_section *s = image_section_at(im, addr);
    return s && s->exec;
}

void functions_free(struct function_table *t)
{
    if (!t)
        return;
    mem_free(t->functions);
    mem_free(t->aliases);
    arena_free(t->arena);
    mem_free(t);
}

uint32_t functions_at(const struct function_table *t, vaddr addr)
{
    size_t low = sorted_front(t->count, i, t->functions[i].begin <= addr);
    return low && addr < t->functions[low - 1].end ? (uint32_t)low - 1 : FUNCTION_NONE;
}

/* ---- call targets, and functions in gaps ---- */

/* The furthest end of a function that begins at `entry`, in no function: the next function or the section's end. */
static vaddr gap_end(const struct function_table *t, vaddr entry, size_t next)
{
    const struct image_section *s = image_section_at(t->image, entry);
    vaddr end = s->addr + s->size;
    return next < t->count && t->functions[next].begin < end ? t->functions[next].begin : end;
}

/* Deals with one entry; the old functions below `next` begin at or before it. */
static void add_entry(const struct function_table *t, struct addr_range found, size_t next, uint8_t origin,
                      struct function_list *out)
{
    vaddr entry = found.begin;
    struct function *before = out->count ? &out->items[out->count - 1] : NULL;
    struct function f = {.begin = entry, .link_name = "", .part_of = FUNCTION_NONE, .origin = origin};
    if (!function_in_code(t->image, entry))
        return;
    if (before && before->begin == entry) {
        before->origin |= origin & FROM_CALL; /* known functions are found again in their gaps: ignored */
        if (!before->sized && found.end < before->end)
            before->end = found.end;
        return;
    }
    if (before && entry < before->end) {
        if (before->sized || before->plt)
            return;
        f.end = before->end;
        before->end = entry;
    } else {
        f.end = gap_end(t, entry, next);
    }
    if (f.end > found.end)
        f.end = found.end;
    *vec_push(out) = f;
}

void functions_add_found(struct function_table *t, const struct addr_range *found, size_t count, uint8_t origin)
{
    struct function_list out = {0};
    uint32_t *moved = mem_calloc(t->count + 1, sizeof *moved); /* old index to new */
    size_t next = 0;
    vec_reserve(&out, t->count + count);
    for (size_t i = 0; i <= count; i++) {
        while (next < t->count && (i == count || t->functions[next].begin <= found[i].begin)) {
            moved[next] = (uint32_t)out.count;
            *vec_push(&out) = t->functions[next++];
        }
        if (i < count)
            add_entry(t, found[i], next, origin, &out);
    }
    for (size_t i = 0; i < out.count; i++)
        if (out.items[i].part_of != FUNCTION_NONE)
            out.items[i].part_of = moved[out.items[i].part_of];
    mem_free(moved);
    mem_free(t->functions);
    t->functions = out.items;
    t->count = out.count;
}

void functions_add(struct function_table *t, const vaddr *entries, size_t count)
{
    struct range_list found = {0};
    for (size_t i = 0; i < count; i++)
        *vec_push(&found) = (struct addr_range){entries[i], UINT64_MAX};
    functions_add_found(t, found.items, found.count, FROM_CALL);
    vec_release(&found);
}

/* ---- look-ups for every call of a binary ---- */

static int by_owner(const void *a, const void *b)
{
    const struct part_of *x = a, *y = b;
    return order_of(x->owner, y->owner) ?: order_of(x->part, y->part);
}

static void index_parts(struct function_index *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->count; i++)
        n += x->functions[i].part_of != FUNCTION_NONE;
    x->parts = mem_alloc((n + 1) * sizeof *x->parts);
    x->part_count = 0;
    for (size_t i = 0; i < x->count; i++)
        if (x->functions[i].part_of != FUNCTION_NONE)
            x->parts[x->part_count++] = (struct part_of){x->functions[i].part_of, (uint32_t)i};
    qsort(x->parts, n, sizeof *x->parts, by_owner);
}

/* Buckets of equal width, about two for each function: a look-up touches one bucket and one or two functions. Where
   functions crowd in one place the scan is cut short by a binary search. */
static void index_buckets(struct function_index *x)
{
    x->base = x->count > 0 ? x->functions[0].begin : 0;
    vaddr extent = x->count > 0 ? x->functions[x->count - 1].begin - x->base : 0;
    x->shift = 0;
    while (extent >> x->shift > 2 * (uint64_t)x->count)
        x->shift++;
    x->bucket_count = (size_t)(extent >> x->shift) + 2;
    x->buckets = mem_alloc(x->bucket_count * sizeof *x->buckets);
    size_t f = 0;
    for (size_t b = 0; b < x->bucket_count; b++) { /* first function whose begin lies in or after the bucket */
        vaddr from = (vaddr)b << x->shift;
        while (f < x->count && x->functions[f].begin - x->base < from)
            f++;
        x->buckets[b] = (uint32_t)f;
    }
}

void function_index_make(struct function_index *x, const struct function_table *t)
{
    if (x->table == t && x->functions == t->functions && x->count == t->count && x->buckets != NULL)
        return;
    function_index_release(x);
    x->table = t;
    x->functions = t->functions;
    x->count = t->count;
    index_parts(x);
    index_buckets(x);
}

void function_index_release(struct function_index *x)
{
    mem_free(x->buckets);
    mem_free(x->parts);
    *x = (struct function_index){0};
}

uint32_t function_index_find(const struct function_index *x, vaddr a)
{
    if (x->count == 0 || a < x->base)
        return FUNCTION_NONE;
    uint64_t b = (a - x->base) >> x->shift;
    if (b > x->bucket_count - 2)
        b = x->bucket_count - 2;
    size_t lo = x->buckets[b], hi = x->buckets[b + 1];
    if (b == x->bucket_count - 2)
        hi = x->count;
    lo += sorted_front(hi - lo, i, x->functions[lo + i].begin <= a);
    if (lo == 0 || a >= x->functions[lo - 1].end)
        return FUNCTION_NONE;
    return (uint32_t)(lo - 1);
}

const struct part_of *function_index_parts(const struct function_index *x, uint32_t owner, size_t *count)
{
    size_t first = sorted_front(x->part_count, i, x->parts[i].owner < owner), end = first;
    while (end < x->part_count && x->parts[end].owner == owner)
        end++;
    *count = end - first;
    return x->parts + first;
}
