/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of places and files: determined by the input, never by the order of discovery.
 */
#include "metrics/join/join.h"

#include <stdlib.h>

struct sorter {
    const struct correlation *c;
    const uint32_t *file_rank; /* by file: its place in the order of names */
};

static uint64_t rank_of(const struct sorter *s, uint32_t file)
{
    return file == SOURCE_NONE ? 0 : (uint64_t)s->file_rank[file] + 1;
}

static int compare_places(const void *a, const void *b, void *ctx)
{
    const struct sorter *s = ctx;
    place_ix i = *(const place_ix *)a, k = *(const place_ix *)b;
    const struct place *x = &s->c->places.items[i], *y = &s->c->places.items[k];
    return order_of(x->parent, y->parent)
               ?: order_of(x->kind, y->kind)
               ?: strcmp(strtab_get(s->c->strings, x->name), strtab_get(s->c->strings, y->name))
               ?: order_of(rank_of(s, x->file), rank_of(s, y->file))
               ?: order_of(x->line_first, y->line_first)
               ?: order_of(x->call_line, y->call_line)
               ?: order_of(x->instance, y->instance)
               ?: order_of(x->address, y->address)
               ?: order_of(i, k);
}

static int compare_files(const void *a, const void *b, void *ctx)
{
    const struct correlation *c = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    return strcmp(strtab_get(c->strings, c->files.items[i].name), strtab_get(c->strings, c->files.items[k].name))
               ?: order_of(i, k);
}

/* Files in the order of their names; rank[old] = new. */
static uint32_t *order_files(struct correlation *c, struct experiment *e)
{
    size_t n = c->files.count;
    uint32_t *order = mem_alloc(n * sizeof *order), *rank = mem_alloc(n * sizeof *rank);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, compare_files, c);
    e->files = mem_calloc(n, sizeof *e->files);
    e->file_count = n;
    for (size_t i = 0; i < n; i++) {
        rank[order[i]] = (uint32_t)i;
        e->files[i] = c->files.items[order[i]];
    }
    mem_free(order);
    return rank;
}

void sources_name_as_shown(struct correlation *c)
{
    for (size_t i = 0; i < c->places.count; i++) {
        struct place *p = &c->places.items[i];
        if (p->kind == PLACE_FILE)
            p->name = p->full_name =
                p->file == SOURCE_NONE ? strtab_add(c->strings, "(no source)") : c->files.items[p->file].name;
    }
}

/* Places in pre-order, siblings sorted; new_of[old] = new. No recursion: the stack holds the siblings still to come. */
static place_ix *order_places(struct correlation *c, const uint32_t *file_rank, struct experiment *e)
{
    size_t n = c->places.count;
    struct sorter sorter = {c, file_rank};
    place_ix *by_parent = mem_alloc(n * sizeof *by_parent), *new_of = mem_alloc(n * sizeof *new_of);
    size_t *first = mem_calloc(n + 1, sizeof *first); /* by_parent[first[p] .. first[p + 1]) are the children of p */
    struct VEC(place_ix) stack = {0};
    e->places = mem_calloc(n, sizeof *e->places);
    for (size_t i = 1; i < n; i++) {
        by_parent[i - 1] = (place_ix)i;
        first[c->places.items[i].parent + 1]++;
    }
    for (size_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    qsort_r(by_parent, n - 1, sizeof *by_parent, compare_places, &sorter);
    *vec_push(&stack) = 0;
    while (stack.count) {
        place_ix old = stack.items[--stack.count];
        struct place *p = &e->places[e->place_count];
        new_of[old] = (place_ix)e->place_count++;
        *p = c->places.items[old];
        if (p->parent != PLACE_NONE)
            p->parent = new_of[p->parent];
        p->file = p->file == SOURCE_NONE ? SOURCE_NONE : file_rank[p->file];
        p->call_file = p->call_file == SOURCE_NONE ? SOURCE_NONE : file_rank[p->call_file];
        for (size_t k = first[old + 1]; k-- > first[old];)
            *vec_push(&stack) = by_parent[k];
    }
    vec_release(&stack);
    mem_free(first);
    mem_free(by_parent);
    return new_of;
}

place_ix *metrics_order_places_and_files(struct correlation *c, struct experiment *e)
{
    c->file_rank = order_files(c, e);
    place_ix *new_of = order_places(c, c->file_rank, e);
    vec_release(&c->places); /* they are the experiment's now */
    return new_of;
}
