/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching loops of several builds: those that begin at one line, else the nearest that share lines. */
#include "metrics/align/align_int.h"

/* ---- loops ------------------------------------------------------------------------------------------- */

struct aligned_loop {
    struct place p;
    struct identity key;
    place_ix old;
};

struct loops VEC(struct aligned_loop);

static int compare_loops(const void *a, const void *b)
{
    const struct aligned_loop *x = a, *y = b;
    return order_of(x->p.line_first, y->p.line_first)
               ?: order_of(x->p.on_line, y->p.on_line)
               ?: order_of(x->p.instance, y->p.instance)
               ?: order_of(x->old, y->old);
}

/* Half of the smaller one's lines are the other's too. */
static bool share_lines(const struct place *a, const struct place *b)
{
    uint32_t first = a->line_first > b->line_first ? a->line_first : b->line_first;
    uint32_t last = a->line_last < b->line_last ? a->line_last : b->line_last;
    uint32_t n = a->line_last - a->line_first, m = b->line_last - b->line_first;
    return a->file == b->file && a->line_first && b->line_first && first <= last &&
           2 * ((uint64_t)last - first + 1) > (n < m ? n : m);
}

/* Of several loops on one line a different one; a build that has only one of them leaves it open. */
static bool are_told_apart(const struct place *a, const struct place *b)
{
    return a->line_first == b->line_first && a->on_line && b->on_line && a->on_line != b->on_line;
}

static uint32_t distance(const struct place *a, const struct place *b)
{
    return a->line_first > b->line_first ? a->line_first - b->line_first : b->line_first - a->line_first;
}

enum { LOOPS_LOOKED_AT = 1000 }; /* of one place, for each loop: source code has fewer */

/* A loop of the same parent that no build of these runs has: the nearest of those that share lines. */
static place_ix near_loop(const struct matcher *m, const struct aligned_loop *l)
{
    place_ix best = PLACE_NONE;
    unsigned looked = 0;
    for (place_ix i = m->made.items[l->p.parent].first_loop; i != PLACE_NONE && looked < LOOPS_LOOKED_AT;
         i = m->made.items[i].next_loop, looked++) {
        const struct place *p = &m->places.items[i];
        bool fits =
            !(m->made.items[i].runs & m->place_runs[l->old]) && share_lines(p, &l->p) && !are_told_apart(p, &l->p);
        if (fits && (best == PLACE_NONE || distance(p, &l->p) < distance(&m->places.items[best], &l->p) ||
                     (distance(p, &l->p) == distance(&m->places.items[best], &l->p) && i < best)))
            best = i;
    }
    return best;
}

/* All loops of a place together: those that begin at the same line have precedence. */
void align_loops(struct matcher *m, place_ix parent)
{
    struct loops rest = {0};
    for (uint32_t k = m->loop_first[parent]; k < m->loop_first[parent + 1]; k++) {
        struct aligned_loop l = {.p = m->c->places.items[m->loops[k]], .old = m->loops[k]};
        l.key = align_bring_forward(m, l.old, &l.p);
        place_ix known = align_find(m, &l.key);
        if (known != ROW_NONE)
            align_join(m, l.old, &l.p, known);
        else
            *vec_push(&rest) = l;
    }
    vec_sort(&rest, compare_loops);
    for (size_t i = 0; i < rest.count; i++) {
        place_ix known = near_loop(m, &rest.items[i]);
        if (known == PLACE_NONE)
            align_make(m, rest.items[i].old, &rest.items[i].p, &rest.items[i].key);
        else
            align_join(m, rest.items[i].old, &rest.items[i].p, known);
    }
    vec_release(&rest);
}

void align_list_loops(struct matcher *m)
{
    const struct correlation *c = m->c;
    size_t n = c->places.count;
    m->loops = mem_alloc(n * sizeof *m->loops);
    m->loop_first = mem_calloc(n + 2, sizeof *m->loop_first);
    for (size_t i = 1; i < n; i++)
        if (c->places.items[i].kind == PLACE_LOOP)
            m->loop_first[c->places.items[i].parent + 2]++;
    for (size_t i = 2; i <= n; i++)
        m->loop_first[i] += m->loop_first[i - 1];
    for (uint32_t i = 1; i < n; i++)
        if (c->places.items[i].kind == PLACE_LOOP)
            m->loops[m->loop_first[c->places.items[i].parent + 1]++] = i;
}
