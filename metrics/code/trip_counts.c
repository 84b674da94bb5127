/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often loops go round. The table `jumps` of a measurement (callgrind's, --collect-jumps=yes) says how often control
 * came to an instruction, and from where; bloop's forest says which loops that enters, and which it begins anew:
 *
 *     entries      from outside of the loop to anywhere in it
 *     iterations   entries, and returns to the header from within
 *
 * A return belongs to the innermost loop that it does not leave, and a loop with several entries is entered by all of
 * them. Both numbers are counts of two events at the loop's header, or, if no jump leads there, at another instruction
 * of the loop's own.
 */
#include "bloop/code/code.h"
#include "filters/filters.h"
#include "metrics/code/code.h"

#include <math.h>

struct edge { /* times control came to `to` */
    vaddr from, to;
    uint32_t from_context, to_context; /* from_context TABLE_NONE: without a jump */
    uint32_t thread, part;
    uint64_t times;
};
struct edge_list VEC(struct edge);

struct flow { /* of a loop, in one thread and part */
    uint32_t loop, thread, part;
    uint64_t entries, back;
};
struct flow_list VEC(struct flow);

struct trips { /* of a loop in a thread, over its parts: Welford's way to mean and spread */
    uint64_t parts;
    double least, most, mean, squares;
};

struct work {
    struct hpcprof *p;
    uint32_t iterations, entries;  /* events */
    const struct edge_list *edges; /* of the module that is looked into */
    const struct bloop_code *code;
    struct flow_list flows;                  /* of the function that is looked at */
    struct VEC(uint32_t) places;             /* by loop: a context, or TABLE_NONE */
    struct VEC(struct hpcprof_count) counts; /* adding may put all rows in another order */
    struct table *table;                     /* trip_counts; NULL: the profile has no parts */
};

/* ---- edges and loops ---------------------------------------------------------------------------------------- */

enum { NO_BLOCK = UINT32_MAX };

static uint32_t block_at(const struct cfg *g, vaddr address)
{
    size_t n = sorted_front(g->block_count, i, g->blocks[i].begin <= address);
    return n && address < g->blocks[n - 1].end ? (uint32_t)n - 1 : NO_BLOCK;
}

/* The block before it, which goes on into it. */
static uint32_t block_before(const struct cfg *g, uint32_t block)
{
    const struct cfg_block *b = block ? &g->blocks[block - 1] : NULL;
    for (uint32_t i = 0; b && b->end == g->blocks[block].begin && i < b->succ_count; i++)
        if (g->succs[b->succ_first + i] == block)
            return block - 1;
    return NO_BLOCK;
}

static bool is_inside(const struct loop_forest *f, uint32_t block, uint32_t loop)
{
    uint32_t l = block == NO_BLOCK ? LOOP_NONE : f->block_loop[block];
    while (l != LOOP_NONE && l != loop)
        l = f->loops[l].parent;
    return l == loop;
}

static void follow(struct work *w, const struct edge *e, uint32_t to)
{
    const struct loop_forest *f = w->code->forest;
    uint32_t from = e->from_context == TABLE_NONE ? block_before(w->code->cfg, to) : block_at(w->code->cfg, e->from);
    uint32_t loop = f->block_loop[to];
    if (loop != LOOP_NONE && (f->loops[loop].header == to || w->places.items[loop] == TABLE_NONE))
        w->places.items[loop] = e->to_context;
    for (; loop != LOOP_NONE && !is_inside(f, from, loop); loop = f->loops[loop].parent)
        *vec_push(&w->flows) = (struct flow){loop, e->thread, e->part, e->times, 0};
    if (loop != LOOP_NONE && f->loops[loop].header == to)
        *vec_push(&w->flows) = (struct flow){loop, e->thread, e->part, 0, e->times};
}

static void follow_edges(struct work *w)
{
    const struct cfg *g = w->code->cfg;
    for (uint32_t b = 0; b < g->block_count; b++) {
        const struct edge *edges = w->edges->items;
        size_t i = sorted_front(w->edges->count, k, edges[k].to < g->blocks[b].begin);
        for (; i < w->edges->count && edges[i].to == g->blocks[b].begin; i++)
            follow(w, &edges[i], b);
    }
}

/* ---- what is counted ------------------------------------------------------------------------------------------ */

static void add_count(struct work *w, uint32_t event, const struct flow *f, uint64_t value)
{
    if (value)
        *vec_push(&w->counts) = (struct hpcprof_count){
            .thread = f->thread, .context = w->places.items[f->loop], .event = event, .value = value};
}

static void add_trips(struct trips *t, const struct flow *f)
{
    if (f->entries == 0) /* it only continues an entry of an earlier part */
        return;
    double trips = (double)(f->entries + f->back) / (double)f->entries, from_mean = trips - t->mean;
    t->least = t->parts == 0 || trips < t->least ? trips : t->least;
    t->most = t->parts == 0 || trips > t->most ? trips : t->most;
    t->parts++;
    t->mean += from_mean / (double)t->parts;
    t->squares += from_mean * (trips - t->mean);
}

static void add_row(struct work *w, const struct flow *f, const struct trips *t)
{
    if (t->parts)
        table_add(w->table,
                  (union table_cell[]){{.row = w->places.items[f->loop]},
                                       {.row = f->thread},
                                       {.count = t->parts},
                                       {.number = t->least},
                                       {.number = t->mean},
                                       {.number = t->most},
                                       {.number = t->parts > 1 ? sqrt(t->squares / (double)(t->parts - 1)) : 0}});
}

static int by_loop(const void *left, const void *right)
{
    const struct flow *a = left, *b = right;
    return order_of(a->loop, b->loop) ?: order_of(a->thread, b->thread) ?: order_of(a->part, b->part);
}

/* The next part of the flows that begin at `first`, which is left behind it. */
static struct flow next_part(const struct flow_list *flows, size_t *first)
{
    struct flow f = flows->items[*first];
    while (++*first < flows->count && by_loop(&f, &flows->items[*first]) == 0) {
        f.entries += flows->items[*first].entries;
        f.back += flows->items[*first].back;
    }
    return f;
}

static void count_loops(struct work *w)
{
    vec_sort(&w->flows, by_loop);
    for (size_t i = 0; i < w->flows.count;) {
        struct flow whole = w->flows.items[i];
        struct trips trips = {0};
        whole.entries = whole.back = 0;
        while (i < w->flows.count && w->flows.items[i].loop == whole.loop && w->flows.items[i].thread == whole.thread) {
            struct flow part = next_part(&w->flows, &i);
            whole.entries += part.entries;
            whole.back += part.back;
            if (part.part)
                add_trips(&trips, &part);
        }
        if (whole.back == 0)
            continue; /* it never went round */
        add_count(w, w->iterations, &whole, whole.entries + whole.back);
        add_count(w, w->entries, &whole, whole.entries);
        add_row(w, &whole, &trips);
    }
}

static void look_at(void *ctx, const struct bloop_code *code)
{
    struct work *w = ctx;
    w->code = code;
    w->flows.count = w->places.count = 0;
    while (w->places.count < code->forest->loop_count)
        *vec_push(&w->places) = TABLE_NONE;
    follow_edges(w);
    count_loops(w);
}

/* ---- the measurement -------------------------------------------------------------------------------------------- */

static int by_target(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    return order_of(a->to, b->to) ?: order_of(a->from, b->from);
}

static struct edge_list *edges_by_module(const struct hpcprof *p, const struct table *jumps, bool *has_parts)
{
    enum { PART, THREAD, FROM, TO, TIMES };
    struct edge_list *of = mem_calloc(p->module_count + 1, sizeof *of);
    for (size_t i = 0; i < table_row_count(jumps); i++) {
        const union table_cell *row = table_row(jumps, i);
        uint32_t from = row[FROM].row, to = row[TO].row;
        if (to >= p->context_count || (from != TABLE_NONE && from >= p->context_count) ||
            row[THREAD].row >= p->thread_count || p->contexts[to].by_line)
            continue;
        vaddr address = from == TABLE_NONE ? 0 : p->contexts[from].address;
        *vec_push(&of[p->contexts[to].module]) = (struct edge){
            address, p->contexts[to].address, from, to, row[THREAD].row, (uint32_t)row[PART].count, row[TIMES].count};
        *has_parts |= row[PART].count != 0;
    }
    return of;
}

static void look_into(struct work *w, const struct config *config, uint32_t module, struct edge_list *edges)
{
    struct bloop_binary *binary = edges->count ? code_open(w->p, config, module) : NULL;
    struct VEC(vaddr) targets = {0};
    if (binary) {
        vec_sort(edges, by_target);
        for (size_t i = 0; i < edges->count; i++)
            if (i == 0 || edges->items[i].to != edges->items[i - 1].to)
                *vec_push(&targets) = edges->items[i].to;
        w->edges = edges;
        bloop_code_at(binary, targets.items, targets.count, look_at, w, NULL);
        bloop_close(binary);
    }
    vec_release(&targets);
}

static uint32_t add_event(struct hpcprof *p, const char *name, const char *description)
{
    return hpcprof_add_event(p, &(struct hpcprof_event){.name = strtab_add(p->strings, name),
                                                        .description = strtab_add(p->strings, description),
                                                        .unit = strtab_add(p->strings, "times")});
}

static const struct table_column columns[] = {
    {.name = "loop", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
    {.name = "thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_KEY},
    {.name = "parts", .title = "parts with entries", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "least", .title = "minimum trip count", .type = TABLE_NUMBER, .merge = TABLE_MIN},
    {.name = "mean", .title = "mean trip count", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    {.name = "most", .title = "maximum trip count", .type = TABLE_NUMBER, .merge = TABLE_MAX},
    {.name = "spread", .title = "standard deviation", .type = TABLE_NUMBER, .merge = TABLE_LAST},
};
static const struct table_decl decl = {
    "trip_counts", "Trip counts", "Trip counts of loops in the parts of the profile.", columns, ARRAY_SIZE(columns)};

static void read_jumps(struct hpcprof *p, const struct table *jumps, const struct config *config)
{
    bool has_parts = false;
    struct edge_list *edges = edges_by_module(p, jumps, &has_parts);
    struct work w = {.p = p};
    w.iterations = add_event(p, EVENT_ITERATIONS, "number of executions of the loop's first instruction");
    w.entries = add_event(p, EVENT_ENTRIES, "number of entries of the loop");
    if (has_parts && table_list_declare(&p->tables, &decl, p->strings, &w.table, NULL) < 0)
        w.table = NULL;
    for (uint32_t i = 0; i < p->module_count; i++) {
        look_into(&w, config, i, &edges[i]);
        vec_release(&edges[i]);
    }
    for (size_t i = 0; i < w.counts.count; i++)
        hpcprof_add_count(p, &w.counts.items[i]);
    mem_free(edges);
    vec_release(&w.flows);
    vec_release(&w.places);
    vec_release(&w.counts);
}

void trip_counts_add(struct hpcprof *p, const struct config *config)
{
    for (size_t i = 0; i < p->tables.count; i++)
        if (table_is(p->tables.items[i], &filters_jumps)) {
            read_jumps(p, p->tables.items[i], config);
            table_list_drop(&p->tables, i); /* of no use but for this */
            hpcprof_finish(p);
            break;
        }
}
