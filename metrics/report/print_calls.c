/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each procedure, its callers, and its callees: one row for each calling line. A call's cost is the inclusive cost
 * below it, once if it is on a path more than once; so callers of a recursive procedure may add up to more than its
 * cost.
 */
#include "metrics/report/report.h"

#include <math.h>
#include <stdlib.h>

struct shown_edge {
    place_ix callee, caller, line; /* the first place with the same source */
};

struct calls {
    struct view *t;
    size_t tree, metric_count;
    uint32_t *frame; /* by node: that of the procedure it is in, or of the module that says why a path was cut */
    struct VEC(struct shown_edge) edges;
    double *cost;  /* by edge, metric_count each */
    double *whole; /* by place of a procedure: with all it called */
    double *own;   /* its frames' own lines */
};

static uint8_t kind_of(const struct calls *c, uint32_t node)
{
    return c->t->e->places[experiment_node_place(c->t->e, c->tree, node)].kind;
}

static place_ix same_of(const struct calls *c, uint32_t node)
{
    return c->t->e->places[experiment_node_place(c->t->e, c->tree, node)].same;
}

static void find_frames(struct calls *c)
{
    size_t n = c->t->e->trees[c->tree].node_count;
    c->frame = mem_alloc(n * sizeof *c->frame);
    for (uint32_t i = 0; i < n; i++)
        c->frame[i] = i == 0 || kind_of(c, i) <= PLACE_PROC ? i : c->frame[experiment_node_parent(c->t->e, c->tree, i)];
}

static void add_values(const struct calls *c, uint32_t node, enum value_form form, double *sums)
{
    for (size_t m = 0; m < c->metric_count; m++) {
        double v = experiment_node_value(c->t->e, c->tree, m, node, form);
        if (!isnan(v))
            sums[m] = isnan(sums[m]) ? v : sums[m] + v;
    }
}

static double *blank(size_t rows, size_t columns)
{
    double *values = mem_alloc(rows * columns * sizeof *values);
    for (size_t i = 0; i < rows * columns; i++)
        values[i] = NAN;
    return values;
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

static void sum_procedures(struct calls *c)
{
    const struct experiment *e = c->t->e;
    size_t n = e->trees[c->tree].node_count, columns = c->metric_count;
    uint32_t *keys = mem_alloc(n * sizeof *keys);
    c->whole = blank(e->place_count, columns);
    c->own = blank(e->place_count, columns);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = kind_of(c, i) == PLACE_PROC ? same_of(c, i) : KEY_NONE;
    print_outermost(e, c->tree, keys, e->place_count);
    for (uint32_t i = 0; i < n; i++) {
        if (keys[i] != KEY_NONE)
            add_values(c, i, VALUE_INCLUSIVE, c->whole + keys[i] * columns);
        if (kind_of(c, i) == PLACE_LINE)
            add_values(c, i, VALUE_EXCLUSIVE, c->own + same_of(c, c->frame[i]) * columns);
    }
    mem_free(keys);
}

static uint32_t edge_of(struct calls *c, struct strtab *known, uint32_t node)
{
    uint32_t line = experiment_node_parent(c->t->e, c->tree, node);
    struct shown_edge edge = {same_of(c, node), same_of(c, c->frame[line]), same_of(c, line)};
    str_id id = strtab_addn(known, (const char *)&edge, sizeof edge);
    if (id > c->edges.count) /* the first string is "" */
        *vec_push(&c->edges) = edge;
    return id - 1;
}

static void sum_edges(struct calls *c)
{
    const struct experiment *e = c->t->e;
    size_t n = e->trees[c->tree].node_count;
    uint32_t *keys = mem_alloc(n * sizeof *keys);
    struct strtab *known = strtab_create();
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = experiment_node_parent(e, c->tree, i);
        keys[i] = kind_of(c, i) == PLACE_PROC && parent != 0 && parent != NODE_NONE ? edge_of(c, known, i) : KEY_NONE;
    }
    print_outermost(e, c->tree, keys, c->edges.count);
    c->cost = blank(c->edges.count, c->metric_count);
    for (uint32_t i = 0; i < n; i++)
        if (keys[i] != KEY_NONE)
            add_values(c, i, VALUE_INCLUSIVE, c->cost + keys[i] * c->metric_count);
    mem_free(keys);
    strtab_free(known);
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* The metric that sorts; computed from the sums if it is a computed one. */
static double weight(const struct calls *c, const double *sums)
{
    double v = experiment_compute(c->t->e, c->t->sort_metric, sums);
    return isnan(v) ? -INFINITY : v;
}

static bool is_small(const struct calls *c, const double *sums)
{
    double whole = experiment_node_value(c->t->e, c->tree, c->t->sort_metric, 0, VALUE_INCLUSIVE);
    return !(weight(c, sums) >= whole * PRINT_LEAST_SHARE);
}

static void add_row(struct calls *c, place_ix place, const char *relation, const struct shown_edge *at,
                    const double *sums, const double *own)
{
    struct view *t = c->t;
    const struct experiment *e = t->e;
    struct row r = print_row(t, place);
    r.depth = r.indent = relation ? 1 : 0;
    r.relation = relation;
    r.quiet = is_small(c, sums);
    if (at && e->places[at->line].kind == PLACE_LINE && e->places[at->line].file != SOURCE_NONE) {
        r.at_file = e->files[e->places[at->line].file].name;
        r.at_line = e->places[at->line].line_first;
    }
    for (size_t m = 0; m < c->metric_count; m++) {
        print_row_values(t, &r)[m] = experiment_compute(e, m, sums);
        print_row_values(t, &r)[c->metric_count + m] = own ? experiment_compute(e, m, own) : NAN;
    }
    *vec_push(&t->rows) = r;
}

static int compare_edges(const struct calls *c, uint32_t i, uint32_t k, bool by_callee)
{
    const struct shown_edge *x = &c->edges.items[i], *y = &c->edges.items[k];
    place_ix a = by_callee ? x->callee : x->caller, b = by_callee ? y->callee : y->caller;
    double v = weight(c, c->cost + i * c->metric_count), w = weight(c, c->cost + k * c->metric_count);
    return order_of(a, b) ?: order_of(w, v) ?: order_of(i, k);
}

static int compare_callers(const void *a, const void *b, void *ctx)
{
    return compare_edges(ctx, *(const uint32_t *)a, *(const uint32_t *)b, true);
}

static int compare_callees(const void *a, const void *b, void *ctx)
{
    return compare_edges(ctx, *(const uint32_t *)a, *(const uint32_t *)b, false);
}

/* The edges of each procedure stand together; begin[procedure] is where. */
static uint32_t *sorted_edges(struct calls *c, bool by_callee, uint32_t **begin)
{
    size_t n = c->edges.count, places = c->t->e->place_count;
    uint32_t *order = mem_alloc(n * sizeof *order);
    *begin = mem_calloc(places + 1, sizeof **begin);
    for (uint32_t i = 0; i < n; i++) {
        const struct shown_edge *edge = &c->edges.items[i];
        order[i] = i;
        (*begin)[(by_callee ? edge->callee : edge->caller) + 1]++;
    }
    for (size_t p = 0; p < places; p++)
        (*begin)[p + 1] += (*begin)[p];
    qsort_r(order, n, sizeof *order, by_callee ? compare_callers : compare_callees, c);
    return order;
}

static int compare_procedures(const void *a, const void *b, void *ctx)
{
    const struct calls *c = ctx;
    place_ix p = *(const place_ix *)a, q = *(const place_ix *)b;
    double v = weight(c, c->whole + p * c->metric_count), w = weight(c, c->whole + q * c->metric_count);
    return v != w ? (v < w ? 1 : -1) : (p > q) - (p < q);
}

static void add_procedure(struct calls *c, place_ix p, const uint32_t *callers, const uint32_t *by_callee,
                          const uint32_t *callees, const uint32_t *by_caller)
{
    add_row(c, p, NULL, NULL, c->whole + p * c->metric_count, c->own + p * c->metric_count);
    bool quiet = c->t->rows.items[c->t->rows.count - 1].quiet;
    for (uint32_t i = by_callee[p]; i < by_callee[p + 1]; i++) {
        const struct shown_edge *edge = &c->edges.items[callers[i]];
        add_row(c, edge->caller, "caller", edge, c->cost + callers[i] * c->metric_count, NULL);
        c->t->rows.items[c->t->rows.count - 1].quiet |= quiet;
    }
    for (uint32_t i = by_caller[p]; i < by_caller[p + 1]; i++) {
        const struct shown_edge *edge = &c->edges.items[callees[i]];
        add_row(c, edge->callee, "callee", edge, c->cost + callees[i] * c->metric_count, NULL);
        c->t->rows.items[c->t->rows.count - 1].quiet |= quiet;
    }
}

static void add_rows(struct calls *c)
{
    const struct experiment *e = c->t->e;
    struct VEC(place_ix) procedures = {0};
    uint32_t *by_callee, *by_caller;
    uint32_t *callers = sorted_edges(c, true, &by_callee), *callees = sorted_edges(c, false, &by_caller);
    for (place_ix p = 0; p < e->place_count; p++)
        if (e->places[p].kind == PLACE_PROC && e->places[p].same == p && (!c->t->options->of || print_is_of(c->t, p)))
            *vec_push(&procedures) = p;
    if (procedures.count) /* qsort needs an array even for no elements */
        qsort_r(procedures.items, procedures.count, sizeof *procedures.items, compare_procedures, c);
    for (size_t i = 0; i < procedures.count; i++)
        add_procedure(c, procedures.items[i], callers, by_callee, callees, by_caller);
    vec_release(&procedures);
    mem_free(callers);
    mem_free(callees);
    mem_free(by_callee);
    mem_free(by_caller);
}

int print_rows_of_calls(struct view *t, struct err *err)
{
    struct calls c = {.t = t, .tree = experiment_calls(t->e), .metric_count = t->e->metric_count};
    if (c.tree == SIZE_MAX)
        return print_no_paths(err);
    find_frames(&c);
    sum_procedures(&c);
    sum_edges(&c);
    add_rows(&c);
    vec_release(&c.edges);
    mem_free(c.frame);
    mem_free(c.cost);
    mem_free(c.whole);
    mem_free(c.own);
    return t->options->of && t->rows.count == 0 ? print_nothing_of(t, err) : 0;
}
