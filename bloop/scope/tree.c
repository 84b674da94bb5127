/* SPDX-License-Identifier: BSD-3-Clause */
/* The scope tree: container and look-up by address. */
#include "bloop/scope/scope_int.h"

#include <stdlib.h>

struct scope_tree *scope_tree_create(void)
{
    struct scope_tree *t = mem_calloc(1, sizeof *t);
    t->strings = strtab_create();
    return t;
}

static void lookup_free(struct scope_lookup *l)
{
    if (!l)
        return;
    mem_free(l->begins);
    mem_free(l->scopes);
    mem_free(l);
}

void scope_tree_free(struct scope_tree *t)
{
    if (!t)
        return;
    strtab_free(t->strings);
    mem_free(t->scopes);
    mem_free(t->ranges);
    lookup_free(t->lookup);
    mem_free(t);
}

struct placed_range {
    vaddr begin, end;
    scope_ix scope;
};

/* By address; where several begin at one place the outer scope first: its index is the smaller one. */
static int by_begin(const void *a, const void *b)
{
    const struct placed_range *x = a, *y = b;
    return order_of(x->begin, y->begin) ?: order_of(x->scope, y->scope);
}

static struct placed_range *sorted_ranges(const struct scope_tree *t, size_t *count)
{
    size_t total = 0, n = 0;
    for (size_t i = 0; i < t->scope_count; i++)
        total += t->scopes[i].range_count;
    struct placed_range *all = mem_alloc((total + 1) * sizeof *all);
    bool sorted = true;
    for (size_t i = 0; i < t->scope_count; i++)
        for (uint32_t r = 0; r < t->scopes[i].range_count; r++) {
            struct addr_range range = t->ranges[t->scopes[i].range_first + r];
            if (range.begin >= range.end)
                continue;
            all[n] = (struct placed_range){range.begin, range.end, (scope_ix)i};
            sorted = sorted && (n == 0 || by_begin(&all[n - 1], &all[n]) < 0);
            n++;
        }
    if (!sorted)
        qsort(all, n, sizeof *all, by_begin);
    *count = n;
    return all;
}

struct lookup_builder {
    struct VEC(vaddr) begins;
    struct VEC(scope_ix) scopes;
};

static void cover(struct lookup_builder *b, vaddr begin, scope_ix scope)
{
    if (b->begins.count && b->begins.items[b->begins.count - 1] == begin) {
        b->scopes.items[b->scopes.count - 1] = scope;
        return;
    }
    if (b->scopes.count ? b->scopes.items[b->scopes.count - 1] == scope : scope == SCOPE_NONE)
        return;
    *vec_push(&b->begins) = begin;
    *vec_push(&b->scopes) = scope;
}

/* One pass over the ranges in the order of their begin, with those still open on a stack. In a well-formed tree they
   nest; in any other the one begun last wins, which is as good an answer as any. */
static struct scope_lookup *lookup_build(const struct scope_tree *t)
{
    size_t count;
    struct placed_range *all = sorted_ranges(t, &count);
    struct VEC(struct placed_range) open = {0};
    struct lookup_builder b = {0};
    vaddr at = 0;
    for (size_t i = 0; i <= count; i++) {
        vaddr begin = i < count ? all[i].begin : UINT64_MAX;
        while (open.count && open.items[open.count - 1].end <= begin) {
            struct placed_range top = open.items[--open.count];
            if (top.end <= at)
                continue;
            cover(&b, at, top.scope);
            at = top.end;
        }
        if (begin > at) {
            cover(&b, at, open.count ? open.items[open.count - 1].scope : SCOPE_NONE);
            at = begin;
        }
        if (i < count)
            *vec_push(&open) = all[i];
    }
    mem_free(all);
    vec_release(&open);
    struct scope_lookup *l = mem_calloc(1, sizeof *l);
    l->count = b.begins.count;
    l->begins = mem_realloc(b.begins.items, l->count + 1, sizeof *l->begins);
    l->scopes = mem_realloc(b.scopes.items, l->count + 1, sizeof *l->scopes);
    return l;
}

const struct scope_lookup *scope_lookup_get(struct scope_tree *t)
{
    if (!t->lookup)
        t->lookup = lookup_build(t);
    return t->lookup;
}

scope_ix scope_tree_find(struct scope_tree *t, vaddr addr)
{
    const struct scope_lookup *l = scope_lookup_get(t);
    size_t low = sorted_front(l->count, i, l->begins[i] <= addr);
    return low ? l->scopes[low - 1] : SCOPE_NONE;
}

scope_ix scope_tree_enclosing(const struct scope_tree *t, scope_ix s, enum scope_kind kind)
{
    while (s != SCOPE_NONE && t->scopes[s].kind != kind)
        s = t->scopes[s].parent;
    return s;
}
