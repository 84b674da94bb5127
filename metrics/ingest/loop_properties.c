/* Columns of what is known of loops (the table loop_quality), weighed by a measured column. */
#include "metrics/ingest/ingest.h"

#include <math.h>

#define FACT_PREFIX "loop_"

size_t loops_fact_count(void)
{
    return loops_quality_decl.column_count;
}

const struct table_column *loops_fact(size_t i)
{
    return loops_quality_decl.columns[i].type == TABLE_NUMBER ? &loops_quality_decl.columns[i] : NULL;
}

uint32_t loops_fact_named(const char *name)
{
    for (uint32_t i = 0; str_starts(name, FACT_PREFIX) && i < loops_quality_decl.column_count; i++)
        if (loops_fact(i) && strcmp(name + strlen(FACT_PREFIX), loops_quality_decl.columns[i].name) == 0)
            return i;
    return UINT32_MAX;
}

/* Shares and ratios have a mean; cycles or bytes of an iteration of several loops have none. */
static bool has_mean(const struct table_column *c)
{
    return c->unit && (strcmp(c->unit, "%") == 0 || strchr(c->unit, '/'));
}

/* By place: the number of the column; NaN: none. */
static double *facts_of(const struct experiment *e, const struct table *t, uint32_t column)
{
    double *facts = mem_alloc(e->place_count * sizeof *facts);
    for (size_t i = 0; i < e->place_count; i++)
        facts[i] = NAN;
    for (size_t row = 0; row < table_row_count(t); row++) {
        const union table_cell *cells = table_row(t, row);
        if (cells[0].row < e->place_count)
            facts[cells[0].row] = cells[column].number;
    }
    return facts;
}

static void fill_tree(struct experiment *e, size_t tree, size_t metric, const struct column *c, const double *facts)
{
    size_t n = e->trees[tree].node_count;
    double *values = mem_alloc(n * sizeof *values), *sums = mem_calloc(n, sizeof *sums),
           *weights = mem_calloc(n, sizeof *weights);
    bool mean = has_mean(&loops_quality_decl.columns[c->fact]);
    for (size_t i = n; i-- > 0;) {
        uint32_t up = experiment_node_parent(e, tree, (uint32_t)i);
        double own = facts[experiment_node_place(e, tree, (uint32_t)i)];
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

void loops_columns(struct experiment *e, const struct columns *columns)
{
    const struct table *t = table_list_find(&e->tables, loops_quality_decl.name);
    for (size_t i = 0; t && i < columns->list.count; i++) {
        const struct column *c = &columns->list.items[i];
        uint32_t column = c->statistic == STAT_LOOP
                              ? (uint32_t)table_column_of(t, loops_quality_decl.columns[c->fact].name)
                              : UINT32_MAX;
        if (column >= table_declared(t)->column_count || table_declared(t)->columns[column].type != TABLE_NUMBER ||
            table_declared(t)->columns[0].type != TABLE_REF)
            continue;
        double *facts = facts_of(e, t, column);
        for (size_t tree = 0; tree < e->tree_count; tree++)
            fill_tree(e, tree, i, c, facts);
        mem_free(facts);
    }
}
