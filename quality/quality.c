/* SPDX-License-Identifier: BSD-3-Clause */
/* The innermost loops of a tree, one after the other. */
#include "quality/quality_int.h"

#include <math.h>

static const char *const bound_names[BOUNDS] = {"front end", "ports", "loads and stores",
                                                "divider",   "chain", "chain through memory"};
static const char *const role_names[] = {"", "main", "remainder", "version"};

const char *quality_bound_name(enum quality_bound b)
{
    return bound_names[b];
}

const char *quality_role_name(enum quality_role r)
{
    return role_names[r];
}

struct work {
    struct bloop_binary *binary;
    struct warnings *warnings;
    const struct scope_tree *tree;
    const struct quality_options *options;
    struct hashmap loop_at;         /* header to scope; of several procedures, the last */
    struct VEC(struct body) bodies; /* of one procedure, and used again for the next */
    struct quality_report *report;
    struct models *models;
    struct VEC(struct quality_loop) loops;
};

static void say_note(struct work *w, const struct body *b, struct quality_loop *q)
{
    if (b->cut)
        q->note =
            strtab_printf(w->report->strings, "only its first %u instructions were analysed", LIMIT_LOOP_INSTRUCTIONS);
    else if (b->undecodable)
        q->note = strtab_printf(w->report->strings, "%u of its instructions are of unknown kind", b->undecodable);
    else if (b->tangled)
        q->note =
            strtab_add(w->report->strings, "irreducible, or with inner back edges: all of it counts as one iteration");
    else if (q->calls)
        q->note =
            strtab_printf(w->report->strings, "without the cost of its %u call%s", q->calls, q->calls > 1 ? "s" : "");
}

/* "at least 16 cycles for 4 numbers" */
static void say_cycles(struct buf *b, const struct quality_loop *q)
{
    buf_printf(b, ", at least %.3g cycle%s", q->bound, q->bound == 1 ? "" : "s");
    if (q->elements)
        buf_printf(b, " for %u element%s", q->elements, q->elements == 1 ? "" : "s");
}

/* Would the loop wait for its chain, if it only went round often? */
static bool waits_in_long_entries(const struct quality_loop *q)
{
    return q->if_no_chain < 0.95 * q->chain_long;
}

/* The dependence of that on the trip count. */
static void say_entries(struct buf *b, const struct quality_loop *q)
{
    bool by_chain = q->bound_by >= BOUND_CHAIN;
    if (!waits_in_long_entries(q))
        return;
    if (isnan(q->trips))
        buf_printf(b, "; %.3g if the loop ends within %.0f iterations, because its next entry overlaps with this one",
                   q->bound_short, ceil(q->ahead));
    else if (by_chain)
        buf_printf(b, " at a trip count of %.3g; %.3g without it", q->trips, q->if_no_chain);
    else
        buf_printf(b, ": at a trip count of %.3g, entries overlap", q->trips);
}

/* "scalar, 4 of 8 references indirect; bound by latency: each iteration waits for the one before, at least 16 cycles for
   4 numbers in 100 iterations an entry, where 6 would do"; "scalar, 4 of 12 references indirect; in long entries bound
   by latency: each iteration waits for the one before, 16 cycles; as it was run bound by its loads and stores, at least
   6 cycles for 4 elements: at a trip count of 1.27, entries overlap" */
static void summarize(struct work *w, struct quality_loop *q)
{
    static const char *const because[BOUNDS] = {"by its number of instructions",
                                                "by its calculations",
                                                "by its loads and stores",
                                                "by divisions",
                                                "by latency: loop-carried dependency",
                                                "by latency: dependency through memory"};
    struct buf b = {0};
    double ratio = q->vector_ratio[MIX_ALL];
    unsigned references = 0;
    for (int s = 0; s < STRIDES; s++)
        references += q->strides[s];
    buf_str(&b, isnan(ratio) ? "nothing to vectorize"
                : ratio >= 1 ? "vectorized"
                : q->vector  ? "partly vectorized"
                             : "scalar");
    if (q->strides[STRIDE_INDIRECT])
        buf_printf(&b, ", %u of %u references indirect", q->strides[STRIDE_INDIRECT], references);
    else if (q->strides[STRIDE_MORE])
        buf_printf(&b, ", %u of %u references with a larger stride", q->strides[STRIDE_MORE], references);
    if (q->bound_by < BOUND_CHAIN && waits_in_long_entries(q) && !isnan(q->trips))
        buf_printf(&b, "; for long entries bound %s, %.3g cycles; as measured", because[q->chain_by], q->chain_long);
    else
        buf_str(&b, ";");
    buf_printf(&b, " bound %s", because[q->bound_by]);
    say_cycles(&b, q);
    say_entries(&b, q);
    q->summary = strtab_add(w->report->strings, b.bytes);
    buf_release(&b);
}

static void name_loop(struct work *w, struct quality_loop *q)
{
    const struct scope_tree *t = w->tree;
    const struct scope *s = &t->scopes[q->scope];
    scope_ix proc = scope_tree_enclosing(t, q->scope, SCOPE_PROC);
    q->procedure =
        strtab_add(w->report->strings, proc == SCOPE_NONE ? "" : strtab_get(t->strings, t->scopes[proc].short_name));
    q->file = strtab_add(w->report->strings, strtab_get(t->strings, s->file));
    q->line_first = s->line_first;
    q->line_last = s->line_last;
}

/* The scope of a requested loop, or SCOPE_NONE. */
static scope_ix wanted_scope(const struct work *w, const struct bloop_code *code, uint32_t loop)
{
    scope_ix scope = hashmap_get(&w->loop_at, code->cfg->blocks[code->forest->loops[loop].header].begin);
    return scope == HASHMAP_NONE || (w->options->wanted && !w->options->wanted[scope]) ? SCOPE_NONE : scope;
}

static struct body *body_at(struct work *w, size_t i)
{
    while (w->bodies.count <= i)
        *vec_push(&w->bodies) = (struct body){0};
    return &w->bodies.items[i];
}

static void look_at_loop(struct work *w, struct body *b, struct quality_loop *q)
{
    name_loop(w, q);
    cost_find(b);
    body_find_addresses(b);
    quality_mix_count(b, q);
    double trips = w->options->trips ? w->options->trips[q->scope] : 0;
    bounds_find(b, q, trips > 0 ? trips : trips_find(b));
    waits_find(b, w->options->samples, q);
    q->model = NAN;
    if (w->models)
        models_add(w->models, b, q, w->loops.count - 1);
    say_note(w, b, q);
    summarize(w, q);
}

static void check_loops(struct work *w, size_t first)
{
    struct quality_built built = {.producer = ""};
    char *producer = bloop_producer(w->binary, w->loops.items[first].header, &built.language, w->warnings);
    built.producer = producer;
    for (size_t i = first; i < w->loops.count; i++)
        checks_find(&w->bodies.items[i - first], &w->loops.items[i], w->tree, &built, w->report);
    mem_free(producer);
}

/* A procedure: its loops first, because the role of a copy depends on the others. */
static void visit(void *ctx, const struct bloop_code *code)
{
    struct work *w = ctx;
    size_t first = w->loops.count;
    for (uint32_t i = 0; i < code->forest->loop_count; i++) {
        scope_ix scope = wanted_scope(w, code, i);
        if (scope == SCOPE_NONE || !body_make(body_at(w, w->loops.count - first), code, i, w->options->machine))
            continue;
        struct quality_loop *q = vec_push(&w->loops);
        *q = (struct quality_loop){.scope = scope, .header = code->cfg->blocks[code->forest->loops[i].header].begin};
        look_at_loop(w, &w->bodies.items[w->loops.count - 1 - first], q);
    }
    if (w->loops.count == first)
        return;
    quality_roles_find(w->tree, w->loops.items + first, w->loops.count - first);
    check_loops(w, first);
}

/* Checks name scopes until the loops are in order. */
static void order_checks(struct quality_report *r)
{
    struct hashmap index = {0};
    for (size_t i = 0; i < r->loop_count; i++)
        *hashmap_put(&index, r->loops[i].scope) = (uint32_t)i;
    for (size_t i = 0; i < r->check_count; i++)
        r->checks[i].loop = hashmap_get(&index, r->checks[i].loop);
    hashmap_release(&index);
}

static int by_loop(const void *a, const void *b)
{
    const struct quality_check *x = a, *y = b;
    return order_of(x->loop, y->loop) ?: order_of(x->kind, y->kind) ?: order_of(x->address, y->address);
}

static int by_scope(const void *a, const void *b)
{
    const struct quality_loop *x = a, *y = b;
    return order_of(x->scope, y->scope);
}

struct address_list VEC(vaddr);

/* Entries of the procedures that have a loop to look at. */
static void list_entries(struct work *w, struct address_list *entries)
{
    const struct scope_tree *t = w->tree;
    scope_ix last = SCOPE_NONE;
    for (scope_ix i = 0; i < t->scope_count; i++) {
        const struct scope *s = &t->scopes[i];
        if (s->kind != SCOPE_LOOP || (w->options->wanted && !w->options->wanted[i]))
            continue;
        *hashmap_put(&w->loop_at, s->entry) = i;
        scope_ix proc = scope_tree_enclosing(t, i, SCOPE_PROC);
        if (proc != SCOPE_NONE && proc != last)
            *vec_push(entries) = t->scopes[proc].entry;
        last = proc;
    }
}

int quality_analyze(struct bloop_binary *binary, const struct scope_tree *tree, const struct quality_options *options,
                    struct quality_report **result, struct warnings *warnings, struct err *err)
{
    struct address_list entries = {0};
    struct quality_report *r = mem_calloc(1, sizeof *r);
    struct work w = {.binary = binary, .warnings = warnings, .tree = tree, .options = options, .report = r};
    (void)err;
    r->strings = strtab_create();
    r->machine = strtab_add(r->strings, options->machine->name);
    r->assumed = strtab_add(r->strings, options->machine->assumed);
    w.models = models_create(options->tools, options->machine);
    list_entries(&w, &entries);
    scope_tree_find((struct scope_tree *)tree, 0); /* its look-up, for the lines of instructions */
    bloop_code_at(binary, entries.items, entries.count, visit, &w, warnings);
    models_run(w.models, w.loops.items, r, warnings);
    models_free(w.models);
    vec_sort(&w.loops, by_scope);
    r->loops = w.loops.items;
    r->loop_count = w.loops.count;
    order_checks(r);
    if (r->check_count)
        qsort(r->checks, r->check_count, sizeof *r->checks, by_loop);
    for (size_t i = 0; i < w.bodies.count; i++)
        body_release(&w.bodies.items[i]);
    vec_release(&w.bodies);
    hashmap_release(&w.loop_at);
    vec_release(&entries);
    *result = r;
    return 0;
}

void quality_free(struct quality_report *r)
{
    if (!r)
        return;
    strtab_free(r->strings);
    mem_free(r->loops);
    mem_free(r->checks);
    mem_free(r);
}
