/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of calls as rows: from the first function down, or from each procedure up to its callers. */
#include "metrics/report/report.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>

enum { CALLERS_DEEP = 1000 }; /* levels above a procedure: recursion beyond that says nothing new */

static const double least_share = PRINT_LEAST_SHARE;

int print_no_paths(struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "no call paths were recorded; 'hpcview record' records them unless --no-call-paths is given, and "
                   "imports may have them (those of a finished database are lost if more columns are computed)");
}

static uint8_t kind_of(const struct experiment *e, size_t tree, uint32_t node)
{
    return e->places[experiment_node_place(e, tree, node)].kind;
}

static void say_where(struct view *t, struct row *r, uint32_t file, uint32_t line)
{
    r->at_file = file == SOURCE_NONE ? 0 : t->e->files[file].name;
    r->at_line = line;
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static bool ends_in_file(const char *path, const char *file, size_t n)
{
    size_t all = strlen(path);
    return all >= n && strncmp(path + all - n, file, n) == 0 && (all == n || path[all - n - 1] == '/');
}

/* Is it the loop or line that FILE:LINE names? */
static bool is_at(const struct experiment *e, const struct place *p, const char *text)
{
    const char *colon = strrchr(text, ':');
    char *end;
    if (!colon || p->file == SOURCE_NONE || (p->kind != PLACE_LOOP && p->kind != PLACE_LINE))
        return false;
    unsigned long line = strtoul(colon + 1, &end, 10);
    return end > colon + 1 && *end == '\0' && p->line_first == line &&
           ends_in_file(strtab_get(e->strings, e->files[p->file].name), text, (size_t)(colon - text));
}

int print_nothing_of(const struct view *t, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "no call path contains '%s'; name a procedure by a pattern ('dot*'), a loop or a line as FILE:LINE",
                   t->options->of);
}

bool print_is_of(const struct view *t, place_ix place)
{
    const struct place *p = &t->e->places[place];
    if (p->kind == PLACE_PROC || p->kind == PLACE_INLINE)
        return fnmatch(t->options->of, strtab_get(t->e->strings, p->name), 0) == 0;
    return is_at(t->e, p, t->options->of);
}

void print_outermost(const struct experiment *e, size_t tree, uint32_t *keys, size_t key_count)
{
    size_t n = e->trees[tree].node_count;
    uint32_t *open = mem_calloc(key_count + 1, sizeof *open); /* by key: how many of the path's nodes have it */
    uint32_t *key = mem_alloc(n * sizeof *key);
    struct VEC(uint32_t) path = {0};
    memcpy(key, keys, n * sizeof *key);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = experiment_node_parent(e, tree, i);
        while (path.count && path.items[path.count - 1] != parent) {
            uint32_t left = key[path.items[--path.count]];
            open[left == KEY_NONE ? key_count : left]--;
        }
        if (key[i] != KEY_NONE && open[key[i]])
            keys[i] = KEY_NONE;
        open[key[i] == KEY_NONE ? key_count : key[i]]++;
        *vec_push(&path) = i;
    }
    vec_release(&path);
    mem_free(open);
    mem_free(key);
}

/* ---- downwards --------------------------------------------------------------------------------------------------- */

struct down {
    struct view *t;
    size_t tree;
    double *value;   /* by node, of the metric that sorts */
    double *self;    /* by node, metric_count each: of frames, their own code with its loops, without callees */
    uint32_t *child; /* child[first[n] .. first[n + 1]) are n's, largest first */
    size_t *first;
};

static int compare_children(const void *a, const void *b, void *ctx)
{
    const struct down *d = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    return order_largest(d->value[i], d->value[k]) ?: order_of(i, k);
}

static void find_children(struct down *d)
{
    const struct experiment *e = d->t->e;
    size_t n = e->trees[d->tree].node_count;
    experiment_children(e, d->tree, &d->first, &d->child);
    for (size_t i = 0; i < n; i++)
        if (d->first[i + 1] - d->first[i] > 1)
            qsort_r(d->child + d->first[i], d->first[i + 1] - d->first[i], sizeof *d->child, compare_children, d);
}

/* What a frame has itself, and what its loops and inlined calls have. */
static void find_self(struct down *d)
{
    const struct experiment *e = d->t->e;
    size_t metrics = e->metric_count, n = e->trees[d->tree].node_count;
    d->self = mem_alloc(n * metrics * sizeof *d->self);
    for (uint32_t node = 0; node < n; node++)
        for (size_t m = 0; m < metrics; m++)
            d->self[node * metrics + m] = experiment_node_value(e, d->tree, m, node, VALUE_EXCLUSIVE);
    for (uint32_t node = (uint32_t)n; node-- > 1;) {
        uint32_t up = experiment_node_parent(e, d->tree, node);
        uint8_t kind = kind_of(e, d->tree, node);
        if ((kind != PLACE_LOOP && kind != PLACE_INLINE) || kind_of(e, d->tree, up) == PLACE_LINE)
            continue;
        for (size_t m = 0; m < metrics; m++) {
            double *sum = &d->self[up * metrics + m], own = d->self[node * metrics + m];
            if (!isnan(own))
                *sum = isnan(*sum) ? own : *sum + own;
        }
    }
}

static double self_of(const struct down *d, uint32_t node, size_t metric)
{
    const struct experiment *e = d->t->e;
    uint8_t kind = kind_of(e, d->tree, node);
    return kind == PLACE_PROC || kind == PLACE_INLINE
               ? experiment_compute(e, metric, d->self + node * e->metric_count)
               : experiment_node_value(e, d->tree, metric, node, VALUE_EXCLUSIVE);
}

static void add_path_row(struct down *d, uint32_t node, uint32_t depth, uint32_t indent)
{
    struct view *t = d->t;
    const struct experiment *e = t->e;
    const struct place *p = &e->places[experiment_node_place(e, d->tree, node)];
    struct row r = print_row(t, experiment_node_place(e, d->tree, node));
    uint32_t caller = experiment_node_parent(e, d->tree, node);
    r.depth = depth;
    r.indent = indent;
    r.quiet = p->kind == PLACE_LINE || !(d->value[node] >= d->value[0] * least_share);
    if (p->kind == PLACE_INLINE)
        say_where(t, &r, p->call_file, p->call_line);
    else if (p->kind == PLACE_LOOP)
        say_where(t, &r, p->file, p->line_first);
    else if (p->kind == PLACE_PROC && kind_of(e, d->tree, caller) == PLACE_LINE) {
        const struct place *line = &e->places[experiment_node_place(e, d->tree, caller)];
        say_where(t, &r, line->file, line->line_first);
    }
    for (size_t m = 0; m < e->metric_count; m++) {
        print_row_values(t, &r)[m] = experiment_node_value(e, d->tree, m, node, VALUE_INCLUSIVE);
        print_row_values(t, &r)[e->metric_count + m] = self_of(d, node, m);
    }
    *vec_push(&t->rows) = r;
}

struct to_visit {
    uint32_t node, depth, indent;
};

int print_rows_of_paths(struct view *t, struct err *err)
{
    struct down d = {.t = t, .tree = experiment_calls(t->e)};
    struct VEC(struct to_visit) stack = {0};
    if (d.tree == SIZE_MAX)
        return print_no_paths(err);
    size_t n = t->e->trees[d.tree].node_count;
    d.value = mem_alloc(n * sizeof *d.value);
    find_self(&d);
    experiment_column(t->e, d.tree, t->sort_metric, VALUE_INCLUSIVE, 0, n, d.value);
    for (uint32_t i = 0; i < n && t->sort_exclusive; i++)
        d.value[i] = self_of(&d, i, t->sort_metric);
    find_children(&d);
    *vec_push(&stack) = (struct to_visit){0, 0, 0};
    while (stack.count) {
        struct to_visit v = stack.items[--stack.count];
        add_path_row(&d, v.node, v.depth, v.indent);
        uint32_t indent = v.indent + (kind_of(t->e, d.tree, v.node) != PLACE_LINE);
        for (size_t k = d.first[v.node + 1]; k-- > d.first[v.node];)
            *vec_push(&stack) = (struct to_visit){d.child[k], v.depth + 1, indent};
    }
    vec_release(&stack);
    mem_free(d.value);
    mem_free(d.self);
    mem_free(d.child);
    mem_free(d.first);
    return 0;
}

/* ---- upwards --------------------------------------------------------------------------------------------------------
 */

struct item {      /* the cost of one node, on its way up: a line's exclusive one, or the inclusive one of the
                      requested kind */
    uint32_t leaf; /* the node that cost it */
    uint32_t at;   /* the procedure's node, or the caller's, where it is now; NODE_NONE: there is no caller */
    place_ix key;  /* where it was called: the call's line, or the inlined call. At the beginning the procedure, or what
                      is asked for */
};

struct group { /* items[from .. to) with one key */
    size_t from, to, values;
    uint32_t depth;
    double value;
};

struct up {
    struct view *t;
    size_t tree;
    struct VEC(struct item) items;
    struct VEC(struct group) stack;
    enum value_form form; /* of the leaves */
    double whole;
};

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return order_of(x->key, y->key) ?: order_of(x->leaf, y->leaf);
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return order_of(x->value, y->value) ?: order_of(y->from, x->from); /* a stack: the largest comes off first */
}

/* The procedure or the inlined call that the node is in, or the module that stands for a cut path. */
static uint32_t frame_of(const struct up *u, uint32_t node, bool inlined)
{
    for (uint8_t kind; node != 0; node = experiment_node_parent(u->t->e, u->tree, node)) {
        kind = kind_of(u->t->e, u->tree, node);
        if (kind <= PLACE_PROC || (inlined && kind == PLACE_INLINE))
            break;
    }
    return node;
}

/* One frame up. */
static void move_up(const struct up *u, struct item *item)
{
    uint32_t call = item->at == NODE_NONE ? NODE_NONE : experiment_node_parent(u->t->e, u->tree, item->at);
    if (call == NODE_NONE || call == 0) {
        item->at = item->key = NODE_NONE;
        return;
    }
    bool inlined = kind_of(u->t->e, u->tree, item->at) == PLACE_INLINE;
    item->key = experiment_node_place(u->t->e, u->tree, inlined ? item->at : call);
    item->at = frame_of(u, call, true);
}

/* The requested procedure, for all its callers, once on each path. */
static void find_items_of(struct up *u)
{
    const struct experiment *e = u->t->e;
    size_t n = e->trees[u->tree].node_count;
    uint32_t *keys = mem_alloc(n * sizeof *keys);
    for (uint32_t i = 0; i < n; i++) {
        place_ix place = experiment_node_place(e, u->tree, i);
        keys[i] = print_is_of(u->t, place) ? e->places[place].same : KEY_NONE;
    }
    print_outermost(e, u->tree, keys, e->place_count);
    for (uint32_t i = 0; i < n; i++)
        if (keys[i] != KEY_NONE)
            *vec_push(&u->items) = (struct item){i, frame_of(u, i, true), keys[i]};
    mem_free(keys);
}

static void find_items(struct up *u)
{
    const struct experiment *e = u->t->e;
    for (uint32_t i = 0; i < e->trees[u->tree].node_count; i++) {
        bool any = false;
        for (size_t m = 0; m < e->metric_count && !any; m++)
            any = !isnan(experiment_node_value(e, u->tree, m, i, VALUE_EXCLUSIVE));
        if (!any || kind_of(e, u->tree, i) != PLACE_LINE)
            continue;
        uint32_t frame = frame_of(u, i, false);
        *vec_push(&u->items) = (struct item){i, frame, experiment_node_place(e, u->tree, frame)};
    }
}

static void sum_group(struct up *u, struct group *g)
{
    const struct experiment *e = u->t->e;
    double *sums = mem_alloc(e->metric_count * sizeof *sums);
    for (size_t m = 0; m < e->metric_count; m++) {
        sums[m] = NAN;
        for (size_t i = g->from; i < g->to; i++) {
            double v = experiment_node_value(e, u->tree, m, u->items.items[i].leaf, u->form);
            if (!isnan(v))
                sums[m] = isnan(sums[m]) ? v : sums[m] + v;
        }
    }
    g->values = u->t->values.count;
    for (size_t m = 0; m < e->metric_count; m++)
        *vec_push(&u->t->values) = experiment_compute(e, m, sums);
    for (size_t m = 0; m < e->metric_count; m++)
        *vec_push(&u->t->values) = NAN;
    g->value = u->t->values.items[g->values + u->t->sort_metric];
    g->value = isnan(g->value) ? -INFINITY : g->value;
    mem_free(sums);
}

/* The items from .. to by their keys; each large enough a group is left on the stack. */
static void push_groups(struct up *u, size_t from, size_t to, uint32_t depth)
{
    size_t before = u->stack.count;
    qsort(u->items.items + from, to - from, sizeof *u->items.items, compare_items);
    for (size_t end; from < to; from = end) {
        for (end = from + 1; end < to && u->items.items[end].key == u->items.items[from].key;)
            end++;
        struct group g = {.from = from, .to = end, .depth = depth};
        if (u->items.items[from].at == NODE_NONE)
            continue;
        sum_group(u, &g);
        if (g.value >= u->whole * least_share)
            *vec_push(&u->stack) = g;
    }
    if (u->stack.count > before)
        qsort(u->stack.items + before, u->stack.count - before, sizeof *u->stack.items, compare_groups);
}

static void add_caller_row(struct up *u, const struct group *g)
{
    struct view *t = u->t;
    const struct experiment *e = t->e;
    const struct item *first = &u->items.items[g->from];
    bool asked = g->depth == 0 && t->options->of;
    struct row r = print_row(t, experiment_node_place(e, u->tree, asked ? first->leaf : first->at));
    r.depth = r.indent = g->depth;
    r.values = g->values;
    const struct place *key = &e->places[first->key];
    if (g->depth > 0 && key->kind == PLACE_INLINE)
        say_where(t, &r, key->call_file, key->call_line);
    else if (asked || (g->depth > 0 && key->kind == PLACE_LINE))
        say_where(t, &r, key->file, key->line_first);
    *vec_push(&t->rows) = r;
}

int print_rows_of_callers(struct view *t, struct err *err)
{
    struct up u = {.t = t, .tree = experiment_calls(t->e)};
    if (u.tree == SIZE_MAX)
        return print_no_paths(err);
    u.whole = experiment_node_value(t->e, u.tree, t->sort_metric, 0, VALUE_INCLUSIVE);
    u.form = t->options->of ? VALUE_INCLUSIVE : VALUE_EXCLUSIVE;
    if (t->options->of)
        find_items_of(&u);
    else
        find_items(&u);
    if (u.items.count)
        push_groups(&u, 0, u.items.count, 0);
    while (u.stack.count) {
        struct group g = u.stack.items[--u.stack.count];
        add_caller_row(&u, &g);
        for (size_t i = g.from; i < g.to; i++)
            move_up(&u, &u.items.items[i]);
        if (g.depth < CALLERS_DEEP)
            push_groups(&u, g.from, g.to, g.depth + 1);
    }
    vec_release(&u.items);
    vec_release(&u.stack);
    return t->options->of && t->rows.count == 0 ? print_nothing_of(t, err) : 0;
}
