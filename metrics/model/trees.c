/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees over the places, and the numbers in them: the only access to values. A node's inclusive cost is summed here,
 * for every tree in the same way.
 */
#include "metrics/model/model.h"

#include <math.h>

size_t experiment_add_tree(struct experiment *e, const char *name, const char *title, size_t node_count,
                           uint32_t *parent, place_ix *place)
{
    e->trees = mem_realloc(e->trees, e->tree_count + 1, sizeof *e->trees);
    e->trees[e->tree_count] = (struct experiment_tree){
        .name = strtab_add(e->strings, name),
        .title = strtab_add(e->strings, title),
        .node_count = node_count,
        .parent = parent,
        .place = place,
        .columns = mem_calloc(e->metric_count * VALUE_FORMS, sizeof(struct values *)),
    };
    return e->tree_count++;
}

uint32_t experiment_node_parent(const struct experiment *e, size_t tree, uint32_t node)
{
    const struct experiment_tree *t = &e->trees[tree];
    return t->parent ? t->parent[node] : e->places[node].parent;
}

place_ix experiment_node_place(const struct experiment *e, size_t tree, uint32_t node)
{
    return e->trees[tree].place ? e->trees[tree].place[node] : node;
}

static struct values **column_of(const struct experiment *e, size_t tree, size_t metric, enum value_form form)
{
    return &e->trees[tree].columns[metric * VALUE_FORMS + form];
}

double experiment_node_value(const struct experiment *e, size_t tree, size_t metric, uint32_t node,
                             enum value_form form)
{
    return values_get(*column_of(e, tree, metric, form), node);
}

double experiment_value(const struct experiment *e, size_t metric, place_ix place, enum value_form form)
{
    return experiment_node_value(e, TREE_SCOPES, metric, place, form);
}

void experiment_column(const struct experiment *e, size_t tree, size_t metric, enum value_form form, size_t from,
                       size_t n, double *dense)
{
    values_unpack(*column_of(e, tree, metric, form), from, n, dense);
}

bool experiment_column_any(const struct experiment *e, size_t tree, size_t metric, enum value_form form, size_t from,
                           size_t n)
{
    return values_any(*column_of(e, tree, metric, form), from, n);
}

size_t experiment_column_count(const struct experiment *e, size_t tree, size_t metric, enum value_form form)
{
    return values_count(*column_of(e, tree, metric, form));
}

void experiment_take_column(struct experiment *e, size_t tree, size_t metric, enum value_form form, struct values *v)
{
    struct values **column = column_of(e, tree, metric, form);
    values_free(*column);
    *column = v;
}

void experiment_set_column(struct experiment *e, size_t tree, size_t metric, enum value_form form, const double *dense)
{
    experiment_take_column(e, tree, metric, form,
                           values_create(dense, e->trees[tree].node_count, e->metrics[metric].period));
}

static void add_value(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

static bool is_line(const struct experiment *e, size_t tree, uint32_t node)
{
    return e->places[experiment_node_place(e, tree, node)].kind == PLACE_LINE;
}

/* Is the cost seen at `node` a part of `parent`'s own lines? The callees of a line are not. */
static bool is_own_line(const struct experiment *e, size_t tree, size_t node, uint32_t parent)
{
    return is_line(e, tree, (uint32_t)node) && !is_line(e, tree, parent);
}

/* Children come after their parents, so one walk backwards sums everything up. */
void experiment_sum_column(struct experiment *e, size_t tree, size_t metric, const double *own)
{
    size_t n = e->trees[tree].node_count;
    double *inclusive = mem_alloc(n * sizeof *inclusive), *exclusive = mem_alloc(n * sizeof *exclusive);
    for (size_t i = 0; i < n; i++)
        inclusive[i] = exclusive[i] = own[i];
    for (size_t i = n; i-- > 1;) {
        uint32_t parent = experiment_node_parent(e, tree, (uint32_t)i);
        add_value(&inclusive[parent], inclusive[i]);
        if (is_own_line(e, tree, i, parent))
            add_value(&exclusive[parent], own[i]);
    }
    experiment_set_column(e, tree, metric, VALUE_INCLUSIVE, inclusive);
    experiment_set_column(e, tree, metric, VALUE_EXCLUSIVE, exclusive);
    mem_free(inclusive);
    mem_free(exclusive);
}

static bool add_to(uint64_t *sum, uint64_t value)
{
    return !__builtin_add_overflow(*sum, value, sum);
}

enum { KNOWN_INCLUSIVE = 1, KNOWN_EXCLUSIVE = 2 };

static void set_counts(struct experiment *e, size_t tree, size_t metric, enum value_form form, const uint64_t *sums,
                       const uint8_t *known)
{
    size_t n = e->trees[tree].node_count;
    double repetitions = e->metrics[metric].repetitions > 1 ? e->metrics[metric].repetitions : 1;
    uint8_t wanted = form == VALUE_INCLUSIVE ? KNOWN_INCLUSIVE : KNOWN_EXCLUSIVE;
    double *dense = mem_alloc(n * sizeof *dense);
    for (size_t i = 0; i < n; i++)
        dense[i] = known[i] & wanted ? (double)sums[i] / repetitions : NAN;
    experiment_set_column(e, tree, metric, form, dense);
    mem_free(dense);
}

int experiment_sum_counts(struct experiment *e, size_t tree, size_t metric, uint64_t *own, uint8_t *known)
{
    size_t n = e->trees[tree].node_count;
    uint64_t *exclusive = mem_alloc(n * sizeof *exclusive), *inclusive = own;
    bool fits = true;
    for (size_t i = 0; i < n; i++) {
        exclusive[i] = own[i];
        known[i] = known[i] ? KNOWN_INCLUSIVE | KNOWN_EXCLUSIVE : 0;
    }
    for (size_t i = n; i-- > 1;) {
        uint32_t parent = experiment_node_parent(e, tree, (uint32_t)i);
        if (!known[i])
            continue;
        fits = add_to(&inclusive[parent], inclusive[i]) && fits;
        known[parent] |= KNOWN_INCLUSIVE;
        if (is_own_line(e, tree, i, parent) && known[i] & KNOWN_EXCLUSIVE) {
            fits = add_to(&exclusive[parent], exclusive[i]) && fits;
            known[parent] |= KNOWN_EXCLUSIVE;
        }
    }
    set_counts(e, tree, metric, VALUE_INCLUSIVE, inclusive, known);
    set_counts(e, tree, metric, VALUE_EXCLUSIVE, exclusive, known);
    mem_free(exclusive);
    return fits ? 0 : -1;
}

static void free_tree(struct experiment *e, struct experiment_tree *t)
{
    for (size_t i = 0; i < e->metric_count * VALUE_FORMS; i++)
        values_free(t->columns[i]);
    mem_free(t->columns);
    mem_free(t->parent);
    mem_free(t->place);
}

void experiment_replace_tree(struct experiment *e, size_t tree, size_t last)
{
    free_tree(e, &e->trees[tree]);
    e->trees[tree] = e->trees[last];
    e->tree_count--;
}

static void free_trees(struct experiment *e)
{
    for (size_t t = 0; t < e->tree_count; t++)
        free_tree(e, &e->trees[t]);
    mem_free(e->trees);
}

void experiment_free(struct experiment *e)
{
    if (!e)
        return;
    formulas_free(e);
    free_trees(e);
    table_list_release(&e->tables);
    measured_free(e->measured);
    experiment_anonymity_free(e->anonymity);
    strtab_free(e->strings);
    mem_free(e->source_folders);
    mem_free(e->places);
    mem_free(e->files);
    mem_free(e->metrics);
    for (size_t i = 0; i < e->run_count; i++) {
        mem_free(e->runs[i].modules);
        mem_free(e->runs[i].environment);
    }
    mem_free(e->runs);
    mem_free(e->processes);
    mem_free(e);
}
