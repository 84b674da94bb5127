/* SPDX-License-Identifier: BSD-3-Clause */
/* Procedures of several builds that are clones of one: compilers make other ones, and number them in their own ways. */
#include "metrics/align/align_int.h"

#include <stdlib.h>

#define OPENMP_REGION "[OpenMP region" /* and its number; bloop/assemble/names.c */

/* ---- clones -------------------------------------------------------------------------------------------- */

static bool same_procedure(const void *ctx, uint32_t i)
{
    const struct align_key *w = ctx;
    return memcmp(&w->m->procedures.items[i].key, &w->key, sizeof w->key) == 0;
}

/* How much of a name is the source's: compilers count parallel regions in their own ways, gcc those of a function, clang
   all functions it makes; and they name lambdas differently, which also stand in arguments of templates. 0: all of it. */
static size_t named_by_source(const char *name)
{
    static const char *const lambdas[] = {"{lambda(", "'lambda", "::$_"};
    const char *region = strstr(name, OPENMP_REGION);
    if (region)
        return (size_t)(region - name) + strlen(OPENMP_REGION);
    for (size_t i = 0; i < ARRAY_SIZE(lambdas); i++) {
        const char *lambda = strstr(name, lambdas[i]);
        size_t arguments = strcspn(name, "<");
        if (lambda)
            return arguments < (size_t)(lambda - name) ? arguments : (size_t)(lambda - name);
    }
    return 0;
}

/* A function that a compiler has named is the one that begins at this line. */
static struct identity origin_of(const struct matcher *m, struct identity key, const struct place *p)
{
    const char *name = strtab_get(m->c->strings, key.name);
    size_t own = named_by_source(name);
    if (own) {
        key.name = strtab_addn(m->c->strings, name, own);
        key.line = p->line_first;
    } else {
        key.name = source_function_name(m->c->strings, key.name);
    }
    key.ordinal = 0;
    return key;
}

/* All procedures by their own names, with the runs that have them. Their files are in place. */
static void list_procedures(struct matcher *m)
{
    struct row_index known = {0};
    for (place_ix i = 1; i < m->c->places.count; i++) {
        struct place p = m->c->places.items[i];
        if (p.kind != PLACE_PROC)
            continue;
        struct align_key w = {m, align_bring_forward(m, i, &p)};
        uint64_t hash = hash_bytes(&w.key, sizeof w.key, 0);
        uint32_t at = row_index_find(&known, hash, same_procedure, &w);
        if (at == ROW_NONE) {
            at = (uint32_t)m->procedures.count;
            row_index_add(&known, hash, at);
            *vec_push(&m->procedures) = (struct procedure){.key = w.key, .origin = origin_of(m, w.key, &p), .as = at};
        }
        m->procedures.items[at].runs |= m->place_runs[i];
        m->procedure_of[i] = at;
    }
    row_index_release(&known);
}

static int compare_origins(const void *a, const void *b, void *ctx)
{
    const struct matcher *m = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    return memcmp(&m->procedures.items[i].origin, &m->procedures.items[k].origin, sizeof(struct identity))
               ?: order_of(i, k);
}

/* Procedures of one origin that wait for a counterpart, by the runs that have them: of the same runs first come, first
   served. There may be as many clones as a hostile binary likes, but few sets of runs. */
enum { SETS_OF_RUNS_MOST = 64 };

struct waiting_clone {
    uint64_t runs;
    uint32_t first, last; /* procedures; ROW_NONE: none */
};

/* Procedures that these runs have and no other run has: one compiler made a clone, or a different one, and the other
   did not. */
static struct waiting_clone *counterpart(struct waiting_clone *sets, size_t count, uint64_t runs)
{
    struct waiting_clone *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (sets[i].first != ROW_NONE && !(sets[i].runs & runs) && (!best || sets[i].first < best->first))
            best = &sets[i];
    return best;
}

static void wait_for_counterpart(struct waiting_clone *sets, size_t *count, uint64_t runs, uint32_t procedure,
                                 uint32_t *next)
{
    size_t i = 0;
    while (i < *count && sets[i].runs != runs)
        i++;
    if (i == SETS_OF_RUNS_MOST) /* it stays alone */
        return;
    if (i == *count)
        sets[(*count)++] = (struct waiting_clone){runs, ROW_NONE, ROW_NONE};
    next[procedure] = ROW_NONE;
    if (sets[i].first == ROW_NONE)
        sets[i].first = procedure;
    else
        next[sets[i].last] = procedure;
    sets[i].last = procedure;
}

/* Those of one origin, in order. */
static void pair_clones_of(struct matcher *m, const uint32_t *procedures, size_t n, uint32_t *next)
{
    struct waiting_clone sets[SETS_OF_RUNS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct procedure *p = &m->procedures.items[procedures[i]];
        struct waiting_clone *of = counterpart(sets, count, p->runs);
        if (of) {
            p->as = of->first;
            of->first = next[p->as];
            m->procedures.items[p->as].runs |= p->runs;
        }
        wait_for_counterpart(sets, &count, m->procedures.items[p->as].runs, p->as, next);
    }
}

void align_clones(struct matcher *m)
{
    list_procedures(m);
    size_t n = m->procedures.count;
    uint32_t *order = mem_alloc(n * sizeof *order), *next = mem_alloc(n * sizeof *next);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    if (n)
        qsort_r(order, n, sizeof *order, compare_origins, m);
    for (size_t from = 0, to; from < n; from = to) {
        const struct identity *origin = &m->procedures.items[order[from]].origin;
        for (to = from; to < n && memcmp(&m->procedures.items[order[to]].origin, origin, sizeof *origin) == 0;)
            to++;
        pair_clones_of(m, order + from, to - from, next);
    }
    mem_free(order);
    mem_free(next);
}
