/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of calls: call paths with their loops. Each frame of a path is a chain of places, and its callees are below
 * the line of the call:
 *
 *     program > main > loop 10 > line 12 > solve > line 40 > dot, inlined > loop 7 > line 8
 *               `---- main's frame ----'   `- solve's frame ------------------------------'
 *
 * A path that was cut begins with a MODULE that says why.
 */
#include "metrics/join/join.h"

#include <math.h>
#include <stdlib.h>

struct nodes {                   /* of a tree that is being made */
    struct VEC(uint32_t) parent; /* by node, in the order found */
    struct VEC(place_ix) place;
    struct hashmap known; /* (parent, place) to node */
};

static uint32_t node_at(struct nodes *n, uint32_t parent, place_ix place)
{
    uint32_t *slot = hashmap_put(&n->known, (uint64_t)parent << 32 | place);
    if (*slot == HASHMAP_NONE) {
        *slot = (uint32_t)n->parent.count;
        *vec_push(&n->parent) = parent;
        *vec_push(&n->place) = place;
    }
    return *slot;
}

static void release_nodes(struct nodes *n)
{
    vec_release(&n->parent);
    vec_release(&n->place);
    hashmap_release(&n->known);
}

struct calls_builder {
    struct experiment *e;
    const struct correlation *c;
    const place_ix *new_of;
    struct nodes nodes;
    uint32_t *node_of; /* by call: the node of its line, before and after they are in order */
    struct VEC(place_ix) chain;
};

/* The nodes of one frame, from its procedure (or the module that says why the path was cut) down to the line. */
static uint32_t add_frame(struct calls_builder *b, uint32_t parent, place_ix line)
{
    const struct place *places = b->e->places;
    b->chain.count = 0;
    for (place_ix i = line; places[i].kind >= PLACE_PROC || i == line; i = places[i].parent)
        *vec_push(&b->chain) = i;
    for (size_t i = b->chain.count; i-- > 0;)
        parent = node_at(&b->nodes, parent, b->chain.items[i]);
    return parent;
}

/* Callers come before their callees. */
static void add_frames(struct calls_builder *b)
{
    const struct correlation *c = b->c;
    b->node_of = mem_alloc(c->calls.count * sizeof *b->node_of);
    node_at(&b->nodes, NODE_NONE, 0);
    for (size_t i = 0; i < c->calls.count; i++) {
        const struct sampled_call *call = &c->calls.items[i];
        uint32_t parent = call->parent == CALL_NONE ? 0 : b->node_of[call->parent];
        b->node_of[i] = add_frame(b, parent, b->new_of[c->site_place[call->site]]);
    }
}

/* ---- order --------------------------------------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b, void *ctx)
{
    const struct nodes *all = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    return order_of(all->parent.items[i], all->parent.items[k]) ?: order_of(all->place.items[i], all->place.items[k]);
}

/* Pre-order, siblings in the order of their places; gives new numbers by old ones. */
static uint32_t *order_nodes(struct nodes *b, uint32_t *parent, place_ix *place)
{
    size_t n = b->parent.count;
    uint32_t *by_parent = mem_alloc(n * sizeof *by_parent), *number = mem_alloc(n * sizeof *number);
    size_t *first = mem_calloc(n + 1, sizeof *first);
    struct VEC(uint32_t) stack = {0};
    uint32_t next = 0;
    for (uint32_t i = 1; i < n; i++) {
        by_parent[i - 1] = i;
        first[b->parent.items[i] + 1]++;
    }
    for (size_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    qsort_r(by_parent, n - 1, sizeof *by_parent, compare_nodes, b);
    *vec_push(&stack) = 0;
    while (stack.count) {
        uint32_t old = stack.items[--stack.count];
        number[old] = next;
        parent[next] = old ? number[b->parent.items[old]] : NODE_NONE;
        place[next++] = b->place.items[old];
        for (size_t k = first[old + 1]; k-- > first[old];)
            *vec_push(&stack) = by_parent[k];
    }
    vec_release(&stack);
    mem_free(first);
    mem_free(by_parent);
    return number;
}

/* The nodes as a tree of the experiment; *number says what became of each. */
static size_t add_tree(struct experiment *e, struct nodes *nodes, uint32_t **number)
{
    size_t n = nodes->parent.count;
    uint32_t *parent = mem_alloc(n * sizeof *parent);
    place_ix *place = mem_alloc(n * sizeof *place);
    *number = order_nodes(nodes, parent, place);
    return experiment_add_tree(e, TREE_CALLS_NAME, "Calls", n, parent, place);
}

/* ---- values -------------------------------------------------------------------------------------------------- */

static uint32_t node_of_call(const void *ctx, const struct cell *cell)
{
    const struct correlation *c = ctx;
    return cell->call == CALL_NONE ? NODE_NONE : c->call_node[cell->call];
}

int metrics_calls_build(struct experiment *e, struct correlation *c, const place_ix *new_of, struct warnings *warnings,
                        struct err *err)
{
    struct calls_builder b = {.e = e, .c = c, .new_of = new_of};
    int status = 0;
    if (c->calls.count == 0)
        return 0;
    add_frames(&b);
    size_t n = b.nodes.parent.count;
    if (e->metric_count * n > LIMIT_EXPERIMENT_VALUES) {
        warnings_add(warnings,
                     "call paths are omitted: %zu columns at %zu nodes exceed %llu values (LIMIT_EXPERIMENT_VALUES); "
                     "choose fewer columns",
                     e->metric_count, n, (unsigned long long)LIMIT_EXPERIMENT_VALUES);
    } else {
        uint32_t *number;
        size_t tree = add_tree(e, &b.nodes, &number);
        for (size_t i = 0; i < c->calls.count; i++)
            b.node_of[i] = number[b.node_of[i]];
        mem_free(number);
        c->call_node = b.node_of;
        b.node_of = NULL;
        status = metrics_sum_measured(e, tree, c, node_of_call, c, err);
    }
    release_nodes(&b.nodes);
    vec_release(&b.chain);
    mem_free(b.node_of);
    return status;
}

/* ---- recursion -------------------------------------------------------------------------------------------------
 *
 *     main > f, line 4 > g, line 9 > f, line 5 > h        becomes        main > f, line 5 > h
 */

/* The frame of this procedure that `node` is in, however deep; NODE_NONE: in none. `frame` is the innermost one
   around each node. */
static uint32_t frame_on_path(const struct experiment *e, const struct nodes *n, const uint32_t *frame, uint32_t node,
                              place_ix procedure)
{
    uint32_t at = frame[node];
    while (at != NODE_NONE && e->places[n->place.items[at]].same != e->places[procedure].same)
        at = frame[n->parent.items[at]];
    return at;
}

/* By node of the tree of calls, the one it becomes. */
static uint32_t *fold_nodes(const struct experiment *e, size_t tree, struct nodes *folded)
{
    size_t n = e->trees[tree].node_count;
    uint32_t *became = mem_alloc(n * sizeof *became), *frame = mem_alloc(n * sizeof *frame);
    for (uint32_t i = 0; i < n; i++) {
        place_ix place = experiment_node_place(e, tree, i);
        uint32_t parent = i ? became[experiment_node_parent(e, tree, i)] : NODE_NONE;
        bool procedure = e->places[place].kind == PLACE_PROC;
        uint32_t known = procedure && i ? frame_on_path(e, folded, frame, parent, place) : NODE_NONE;
        became[i] = known != NODE_NONE ? known : node_at(folded, parent, place);
        frame[became[i]] = procedure ? became[i] : i ? frame[parent] : NODE_NONE;
    }
    mem_free(frame);
    return became;
}

static bool has_cost(const struct experiment *e, size_t tree, uint32_t node)
{
    if (e->places[experiment_node_place(e, tree, node)].kind != PLACE_LINE)
        return false;
    for (size_t m = 0; m < e->metric_count; m++)
        if (!isnan(experiment_node_value(e, tree, m, node, VALUE_EXCLUSIVE)))
            return true;
    return false;
}

/* Lines that did nothing but call what is above them now are left out. */
static void drop_unused(const struct experiment *e, size_t tree, struct nodes *folded, uint32_t *became)
{
    size_t n = folded->parent.count, kept = 0;
    bool *used = mem_calloc(n, sizeof *used);
    uint32_t *moved = mem_alloc(n * sizeof *moved);
    for (uint32_t i = 0; i < e->trees[tree].node_count; i++)
        used[became[i]] |= i == 0 || has_cost(e, tree, i);
    for (size_t i = n; i-- > 1;)
        used[folded->parent.items[i]] |= used[i];
    for (size_t i = 0; i < n; i++) {
        moved[i] = used[i] ? (uint32_t)kept : NODE_NONE;
        if (!used[i])
            continue;
        folded->parent.items[kept] = i ? moved[folded->parent.items[i]] : NODE_NONE;
        folded->place.items[kept++] = folded->place.items[i];
    }
    folded->parent.count = folded->place.count = kept;
    for (uint32_t i = 0; i < e->trees[tree].node_count; i++)
        became[i] = moved[became[i]];
    mem_free(moved);
    mem_free(used);
}

/* The own cost of each line of the tree goes to the line's final node. */
static void fold_column(struct experiment *e, size_t tree, size_t folded, size_t metric, const uint32_t *became,
                        const uint32_t *number)
{
    size_t n = e->trees[folded].node_count;
    double *own = mem_alloc(n * sizeof *own);
    for (size_t i = 0; i < n; i++)
        own[i] = NAN;
    for (uint32_t i = 0; i < e->trees[tree].node_count; i++) {
        double v = experiment_node_value(e, tree, metric, i, VALUE_EXCLUSIVE);
        if (isnan(v) || e->places[experiment_node_place(e, tree, i)].kind != PLACE_LINE)
            continue;
        double *sum = &own[number[became[i]]];
        *sum = isnan(*sum) ? v : *sum + v;
    }
    experiment_sum_column(e, folded, metric, own);
    mem_free(own);
}

/* call_node: by call, the node of its line; NULL: no longer needed. */
static void fold(struct experiment *e, uint32_t *call_node, size_t call_count)
{
    size_t tree = experiment_calls(e);
    struct nodes nodes = {0};
    uint32_t *number;
    if (tree == SIZE_MAX || e->trees[tree].node_count == 0)
        return;
    uint32_t *became = fold_nodes(e, tree, &nodes);
    drop_unused(e, tree, &nodes, became);
    size_t folded = add_tree(e, &nodes, &number);
    for (size_t m = 0; m < e->metric_count; m++)
        if (e->metrics[m].summed && experiment_column_count(e, tree, m, VALUE_INCLUSIVE))
            fold_column(e, tree, folded, m, became, number);
    if (e->computed)
        formulas_compute(e, folded, 1);
    experiment_replace_tree(e, tree, folded);
    for (size_t i = 0; call_node && i < call_count; i++)
        call_node[i] = became[call_node[i]] == NODE_NONE ? NODE_NONE : number[became[call_node[i]]];
    mem_free(number);
    mem_free(became);
    release_nodes(&nodes);
}

void experiment_fold_recursion(struct experiment *e)
{
    fold(e, NULL, 0);
}

void metrics_calls_fold(struct experiment *e, struct correlation *c)
{
    fold(e, c->call_node, c->calls.count);
}
