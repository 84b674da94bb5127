/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions, and what was found at them: look-ups in the function whose graph is being built. */
#include "bloop/code/cfg_int.h"

/* ---- bitmaps and positions ---- */

/* The next bit that is not as in `flip`, all of whose bits are alike. */
static pos next_unlike(const uint64_t *map, pos p, pos end, uint64_t flip)
{
    while (p < end) {
        uint64_t word = (map[p >> 6] ^ flip) >> (p & 63);
        if (word != 0) {
            p += (pos)__builtin_ctzll(word);
            return p < end ? p : end;
        }
        p = (p | 63) + 1;
    }
    return end;
}

pos bit_next(const uint64_t *map, pos p, pos end)
{
    return next_unlike(map, p, end, 0);
}

pos bit_next_clear(const uint64_t *map, pos p, pos end)
{
    return next_unlike(map, p, end, UINT64_MAX);
}

const struct cfg_part *cfg_part_at(const struct cfg_work *w, pos p)
{
    size_t i = w->parts.count - 1;
    while (i > 0 && w->parts.items[i].first > p)
        i--;
    return &w->parts.items[i];
}

pos cfg_position(const struct cfg_work *w, vaddr a)
{
    for (size_t i = 0; i < w->parts.count; i++) {
        const struct cfg_part *part = &w->parts.items[i];
        if (a >= part->begin && a < part->end)
            return part->first + (pos)(a - part->begin);
    }
    return POS_NONE;
}

vaddr cfg_address(const struct cfg_work *w, pos p)
{
    const struct cfg_part *part = cfg_part_at(w, p);
    return part->begin + (p - part->first);
}

struct insn cfg_insn_at(const struct cfg_work *w, pos p)
{
    const struct cfg_part *part = cfg_part_at(w, p);
    struct insn in;
    w->in->arch->decode(part->bytes + (p - part->first), (size_t)(part->end - part->begin) - (p - part->first), 0, &in);
    return in;
}

/* ---- what ends blocks, and calls ---- */

/* Merge sort that starts from the runs the input has: lines are explored upwards, so there are few. */
#define DEFINE_SORT(name, type, key)                                                                                   \
    static void name(type *a, type *spare, size_t n)                                                                   \
    {                                                                                                                  \
        type *from = a, *to = spare;                                                                                   \
        for (size_t runs = 2; runs > 1;) {                                                                             \
            size_t i = 0;                                                                                              \
            runs = 0;                                                                                                  \
            while (i < n) {                                                                                            \
                size_t mid = i + 1, k = i;                                                                             \
                while (mid < n && from[mid - 1].key <= from[mid].key)                                                  \
                    mid++;                                                                                             \
                size_t end = mid < n ? mid + 1 : mid;                                                                  \
                while (end < n && from[end - 1].key <= from[end].key)                                                  \
                    end++;                                                                                             \
                size_t x = i, y = mid;                                                                                 \
                while (x < mid || y < end)                                                                             \
                    to[k++] = y >= end || (x < mid && from[x].key <= from[y].key) ? from[x++] : from[y++];             \
                i = end;                                                                                               \
                runs++;                                                                                                \
            }                                                                                                          \
            type *other = from;                                                                                        \
            from = to;                                                                                                 \
            to = other;                                                                                                \
        }                                                                                                              \
        if (from != a)                                                                                                 \
            memcpy(a, from, n * sizeof *a);                                                                            \
    }
DEFINE_SORT(sort_terms, struct term, at)
DEFINE_SORT(sort_calls, struct call, at)

void cfg_sort(struct cfg_work *w)
{
    if (!w->terms_sorted) {
        vec_reserve(&w->term_spare, w->terms.count);
        sort_terms(w->terms.items, w->term_spare.items, w->terms.count);
    }
    if (!w->calls_sorted) {
        vec_reserve(&w->call_spare, w->calls.count);
        sort_calls(w->calls.items, w->call_spare.items, w->calls.count);
    }
    w->terms_sorted = w->calls_sorted = true;
}

/* The term at or after p (terms are sorted); count: none. */
static size_t term_from(const struct cfg_work *w, pos p)
{
    return sorted_front(w->terms.count, i, w->terms.items[i].at < p);
}

const struct term *cfg_term_at(const struct cfg_work *w, pos p)
{
    size_t t = term_from(w, p);
    return t < w->terms.count && w->terms.items[t].at == p ? &w->terms.items[t] : NULL;
}

size_t cfg_call_from(const struct cfg_work *w, pos p)
{
    return sorted_front(w->calls.count, i, w->calls.items[i].at < p);
}

const struct term *cfg_term_of(const struct cfg_work *w, const struct cfg_block *b)
{
    pos begin = cfg_position(w, b->begin), end = begin + (pos)(b->end - b->begin);
    size_t t = term_from(w, end);
    while (t > 0 && w->terms.items[t - 1].at >= begin)
        if (w->terms.items[--t].end == end)
            return &w->terms.items[t];
    return NULL;
}

void cfg_callees_of(const struct cfg_work *w, const struct cfg_block *b, const uint8_t *noreturn,
                    struct index_list *callees)
{
    pos begin = cfg_position(w, b->begin);
    for (size_t i = cfg_call_from(w, begin); i < w->calls.count && w->calls.items[i].at - begin < b->end - b->begin;
         i++) {
        uint32_t f = w->calls.items[i].callee;
        if (f != FUNCTION_NONE && !noreturn[f])
            *vec_push(callees) = f;
    }
}

size_t cfg_call_count(const struct cfg *g)
{
    return g->work ? g->work->calls.count : 0;
}

struct cfg_call cfg_call(const struct cfg *g, size_t i)
{
    const struct call *c = &g->work->calls.items[i];
    return (struct cfg_call){cfg_address(g->work, c->at), c->callee};
}

const struct indirect *cfg_indirect_at(const struct cfg_work *w, pos at)
{
    size_t lo = sorted_front(w->indirects.count, i, w->indirects.items[i].at < at);
    return lo < w->indirects.count && w->indirects.items[lo].at == at ? &w->indirects.items[lo] : NULL;
}
