/* SPDX-License-Identifier: BSD-3-Clause */
/* Is an experiment what its header promises? For tests, and for us while we change things. */
#include "metrics/model/model.h"

#include <math.h>

static int check_place(const struct experiment *e, size_t i, struct err *err)
{
    const struct place *p = &e->places[i];
    if (i == 0 ? p->kind != PLACE_PROGRAM || p->parent != PLACE_NONE : p->kind == PLACE_PROGRAM || p->parent >= i)
        return err_set(err, ERR_FORMAT, "place %zu: its parent does not come before it", i);
    static const uint8_t below[] = {
        [PLACE_PROGRAM] = 1 << PLACE_MODULE,
        [PLACE_MODULE] = 1 << PLACE_FILE,
        [PLACE_FILE] = 1 << PLACE_PROC,
        [PLACE_PROC] = 1 << PLACE_INLINE | 1 << PLACE_LOOP | 1 << PLACE_LINE,
        [PLACE_INLINE] = 1 << PLACE_INLINE | 1 << PLACE_LOOP | 1 << PLACE_LINE,
        [PLACE_LOOP] = 1 << PLACE_INLINE | 1 << PLACE_LOOP | 1 << PLACE_LINE,
        [PLACE_LINE] = 0,
    };
    if (i && !(below[e->places[p->parent].kind] >> p->kind & 1))
        return err_set(err, ERR_FORMAT, "place %zu: a place of kind %d cannot stand in one of kind %d", i, p->kind,
                       e->places[p->parent].kind);
    if ((p->file != SOURCE_NONE && p->file >= e->file_count) ||
        (p->call_file != SOURCE_NONE && p->call_file >= e->file_count))
        return err_set(err, ERR_FORMAT, "place %zu: its file is not in the table", i);
    if (p->same > i || e->places[p->same].kind != p->kind || e->places[p->same].same != p->same)
        return err_set(err, ERR_FORMAT, "place %zu: is not the same as the place it names", i);
    return 0;
}

static bool equal_sums(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    /* whole numbers below 2^53 add up exactly in any order */
    bool whole = a == floor(a) && b == floor(b); /* a mean over repetitions is not */
    return whole && a < 9007199254740992.0 ? a == b : fabs(a - b) <= a * 1e-12;
}

static bool check_is_line(const struct experiment *e, size_t tree, uint32_t node)
{
    return e->places[experiment_node_place(e, tree, node)].kind == PLACE_LINE;
}

static void add_part(double *sum, double part)
{
    if (!isnan(part))
        *sum = isnan(*sum) ? part : *sum + part;
}

/* In every tree: a node's inclusive cost is its own and its children's, and its exclusive cost is its own lines'. */
static int check_sums(const struct experiment *e, size_t tree, size_t metric, struct err *err)
{
    size_t n = e->trees[tree].node_count;
    double *parts = mem_alloc(n * sizeof *parts), *own = mem_alloc(n * sizeof *own);
    int status = 0;
    for (uint32_t i = 0; i < n; i++)
        parts[i] = own[i] =
            check_is_line(e, tree, i) ? experiment_node_value(e, tree, metric, i, VALUE_EXCLUSIVE) : NAN;
    for (uint32_t i = (uint32_t)n; i-- > 0 && status == 0;) {
        double inclusive = experiment_node_value(e, tree, metric, i, VALUE_INCLUSIVE);
        uint32_t parent = experiment_node_parent(e, tree, i);
        if (!equal_sums(inclusive, parts[i]) ||
            !equal_sums(experiment_node_value(e, tree, metric, i, VALUE_EXCLUSIVE), own[i]))
            status =
                err_set(err, ERR_FORMAT, "%s %u: its '%s' is not the sum of its parts",
                        tree == TREE_SCOPES ? "place" : "node", i, strtab_get(e->strings, e->metrics[metric].name));
        if (i == 0)
            continue;
        add_part(&parts[parent], inclusive);
        if (check_is_line(e, tree, i) && !check_is_line(e, tree, parent))
            add_part(&own[parent], own[i]);
    }
    mem_free(parts);
    mem_free(own);
    return status;
}

static int check_tree(const struct experiment *e, size_t tree, struct err *err)
{
    const struct experiment_tree *t = &e->trees[tree];
    if (tree == TREE_SCOPES && (t->parent || t->place || t->node_count != e->place_count))
        return err_set(err, ERR_FORMAT, "the first tree is not that of the places");
    for (uint32_t i = 0; t->parent && i < t->node_count; i++)
        if (i == 0 ? t->parent[i] != NODE_NONE : t->parent[i] >= i)
            return err_set(err, ERR_FORMAT, "%s: node %u: its parent does not come before it",
                           strtab_get(e->strings, t->name), i);
    for (uint32_t i = 0; t->place && i < t->node_count; i++)
        if (t->place[i] >= e->place_count)
            return err_set(err, ERR_FORMAT, "%s: node %u: its place is not in the table",
                           strtab_get(e->strings, t->name), i);
    for (size_t m = 0; m < e->metric_count; m++)
        if (e->metrics[m].formula == 0 && check_sums(e, tree, m, err) < 0)
            return -1;
    return 0;
}

int experiment_check(const struct experiment *e, struct err *err)
{
    if (e->place_count == 0 || e->tree_count == 0)
        return err_set(err, ERR_FORMAT, "the experiment has no PROGRAM");
    for (size_t i = 0; i < e->place_count; i++)
        if (check_place(e, i, err) < 0)
            return -1;
    for (size_t i = 1; i < e->file_count; i++)
        if (strcmp(strtab_get(e->strings, e->files[i - 1].name), strtab_get(e->strings, e->files[i].name)) >= 0)
            return err_set(err, ERR_FORMAT, "file %zu is not in the order of names", i);
    for (size_t i = 0; i < e->metric_count; i++)
        if (e->metrics[i].run != RUN_NONE && e->metrics[i].run >= e->run_count)
            return err_set(err, ERR_FORMAT, "metric %zu: its run is not in the table", i);
    for (size_t i = 0; i < e->tree_count; i++)
        if (check_tree(e, i, err) < 0)
            return -1;
    return 0;
}
