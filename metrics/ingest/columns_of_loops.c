/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of loop properties (the table loop_quality), weighted by a measured column. */
#include "metrics/ingest/columns_int.h"

#include <math.h>

#define PROPERTY_PREFIX "loop_"

static size_t loop_property_count(void)
{
    return loops_quality_decl.column_count;
}

static const struct table_column *loop_property(size_t i)
{
    return loops_quality_decl.columns[i].type == TABLE_NUMBER ? &loops_quality_decl.columns[i] : NULL;
}

static uint32_t loop_property_named(const char *name)
{
    for (uint32_t i = 0; str_starts(name, PROPERTY_PREFIX) && i < loops_quality_decl.column_count; i++)
        if (loop_property(i) && strcmp(name + strlen(PROPERTY_PREFIX), loops_quality_decl.columns[i].name) == 0)
            return i;
    return UINT32_MAX;
}

/* Loop properties; means are weighted by the first event that is a column. */
static uint32_t add_property(struct maker *m, uint32_t property, bool display)
{
    const struct table_column *of = loop_property(property);
    str_id name = strtab_printf(m->strings, "loop_%s", of->name);
    uint32_t base = 0, known = columns_find(m->columns, name);
    while (base < m->columns->list.count &&
           (m->columns->list.items[base].expr || m->columns->list.items[base].statistic))
        base++;
    if (known != COLUMN_NONE || base == m->columns->list.count) {
        if (known != COLUMN_NONE)
            m->columns->list.items[known].metric.display |= display;
        return known;
    }
    struct column c = {.statistic = STAT_LOOP, .base = base, .property = property, .run = RUN_ALL, .where = ""};
    c.metric = (struct metric){
        .name = name,
        .display_name = name,
        .formula = name,
        .description = strtab_add(m->strings, of->description ? of->description : of->title),
        .unit = strtab_add(m->strings, of->unit ? of->unit : ""),
        .run = RUN_NONE,
        .display = display,
        .exact_total = NAN,
    };
    *vec_push(&m->columns->list) = c;
    return (uint32_t)(m->columns->list.count - 1);
}

uint32_t columns_operand_loop_property(struct maker *m, const char *name)
{
    uint32_t property = m->config->machines ? loop_property_named(name) : UINT32_MAX;
    return property == UINT32_MAX ? COLUMN_NONE : add_property(m, property, false);
}

int columns_add_loop_properties(struct maker *m)
{
    for (uint32_t i = 0; m->config->machines && i < loop_property_count(); i++)
        if (loop_property(i))
            add_property(m, i, true);
    return 0;
}

/* Shares and ratios have a mean; cycles or bytes per iteration of several loops have none. */
static bool has_mean(const struct table_column *c)
{
    return c->unit && (strcmp(c->unit, "%") == 0 || strchr(c->unit, '/'));
}

/* By place: the number of the column; NaN: none. */
static double *properties_of(const struct experiment *e, const struct table *t, uint32_t column)
{
    double *properties = mem_alloc(e->place_count * sizeof *properties);
    for (size_t i = 0; i < e->place_count; i++)
        properties[i] = NAN;
    for (size_t row = 0; row < table_row_count(t); row++) {
        const union table_cell *cells = table_row(t, row);
        if (cells[0].row < e->place_count)
            properties[cells[0].row] = cells[column].number;
    }
    return properties;
}

static void fill_tree(struct experiment *e, size_t tree, size_t metric, const struct column *c,
                      const double *properties)
{
    size_t n = e->trees[tree].node_count;
    double *values = mem_alloc(n * sizeof *values), *sums = mem_calloc(n, sizeof *sums),
           *weights = mem_calloc(n, sizeof *weights);
    bool mean = has_mean(&loops_quality_decl.columns[c->property]);
    for (size_t i = n; i-- > 0;) {
        uint32_t up = experiment_node_parent(e, tree, (uint32_t)i);
        double own = properties[experiment_node_place(e, tree, (uint32_t)i)];
        double weight = isnan(own) ? NAN : experiment_node_value(e, tree, c->base, (uint32_t)i, VALUE_INCLUSIVE);
        if (weight > 0) {
            sums[i] = own * weight;
            weights[i] = weight;
        }
        values[i] = !isnan(own) ? own : mean && weights[i] > 0 ? sums[i] / weights[i] : NAN;
        if (up != NODE_NONE) {
            sums[up] += sums[i];
            weights[up] += weights[i];
        }
    }
    experiment_set_column(e, tree, metric, VALUE_INCLUSIVE, values);
    mem_free(values);
    mem_free(sums);
    mem_free(weights);
}

void loop_properties_fill(struct experiment *e, const struct columns *columns)
{
    const struct table *t = table_list_find(&e->tables, loops_quality_decl.name);
    for (size_t i = 0; t && i < columns->list.count; i++) {
        const struct column *c = &columns->list.items[i];
        uint32_t column = c->statistic == STAT_LOOP
                              ? (uint32_t)table_column_of(t, loops_quality_decl.columns[c->property].name)
                              : UINT32_MAX;
        if (column >= table_declared(t)->column_count || table_declared(t)->columns[column].type != TABLE_NUMBER ||
            table_declared(t)->columns[0].type != TABLE_REF)
            continue;
        double *properties = properties_of(e, t, column);
        for (size_t tree = 0; tree < e->tree_count; tree++)
            fill_tree(e, tree, i, c, properties);
        mem_free(properties);
    }
}
