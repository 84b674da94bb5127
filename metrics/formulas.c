/*
 * Computed metrics: their formulas at every node of a tree, and for sums that a view makes. A formula is computed from
 * its operands' values there, a block of nodes at a time; where no operand has data there is nothing to compute.
 */
#include "metrics/metrics_int.h"

#include <math.h>

struct computed {      /* a formula that outlives the configuration it came from */
    struct expr *expr; /* NULL: measured */
    uint32_t *operands;
    bool by_line;
};

void formulas_keep(struct experiment *e, const struct columns *columns)
{
    e->computed = mem_calloc(e->metric_count + 1, sizeof *e->computed);
    for (size_t i = 0; i < e->metric_count; i++) {
        const struct column *c = &columns->list.items[i];
        struct computed *kept = &e->computed[i];
        if (!c->expr || expr_parse(strtab_get(e->strings, c->given_formula), "", &kept->expr, NULL) < 0)
            continue;
        size_t n = expr_name_count(c->expr);
        kept->by_line = c->by_line;
        kept->operands = mem_alloc((n + 1) * sizeof *kept->operands);
        if (n)
            memcpy(kept->operands, c->operands, n * sizeof *kept->operands);
    }
}

void formulas_free(struct experiment *e)
{
    for (size_t i = 0; e->computed && i < e->metric_count; i++) {
        expr_free(e->computed[i].expr);
        mem_free(e->computed[i].operands);
    }
    mem_free(e->computed);
    e->computed = NULL;
}

double experiment_compute(const struct experiment *e, size_t metric, const double *values)
{
    const struct computed *c = &e->computed[metric];
    size_t n = c->expr ? expr_name_count(c->expr) : 0;
    double small[16];
    bool any = n == 0;
    if (!c->expr || c->by_line)
        return values[metric];
    double *operands = n > ARRAY_SIZE(small) ? mem_alloc(n * sizeof *operands) : small;
    for (size_t i = 0; i < n; i++) {
        operands[i] = values[c->operands[i]];
        any = any || !isnan(operands[i]);
    }
    double value = any ? expr_eval(c->expr, operands) : NAN;
    if (operands != small)
        mem_free(operands);
    return value;
}

enum { BLOCK = 1024 }; /* nodes at a time: operands stay in the nearest cache */

static void evaluate_block(const struct experiment *e, size_t tree, const struct computed *c, enum value_form form,
                           size_t from, size_t n, double *operands, double *out)
{
    size_t names = expr_name_count(c->expr);
    double *at_node = operands + names * BLOCK;
    for (size_t k = 0; k < names; k++)
        experiment_column(e, tree, c->operands[k], form, from, n, operands + k * BLOCK);
    for (size_t i = 0; i < n; i++) {
        bool any = names == 0;
        for (size_t k = 0; k < names; k++) {
            at_node[k] = operands[k * BLOCK + i];
            any = any || !isnan(at_node[k]);
        }
        out[i] = any ? expr_eval(c->expr, at_node) : NAN;
    }
}

static void evaluate(const struct experiment *e, size_t tree, const struct computed *c, enum value_form form,
                     double *out)
{
    size_t names = expr_name_count(c->expr), nodes = e->trees[tree].node_count;
    double *operands = mem_alloc((names * (BLOCK + 1) + 1) * sizeof *operands);
    for (size_t from = 0; from < nodes; from += BLOCK)
        evaluate_block(e, tree, c, form, from, nodes - from < BLOCK ? nodes - from : BLOCK, operands, out + from);
    mem_free(operands);
}

/* The formula at the lines alone, then sums of what came out. */
static void evaluate_by_line(struct experiment *e, size_t tree, size_t metric, double *own)
{
    evaluate(e, tree, &e->computed[metric], VALUE_EXCLUSIVE, own);
    for (size_t i = 0; i < e->trees[tree].node_count; i++)
        if (e->places[experiment_node_place(e, tree, (uint32_t)i)].kind != PLACE_LINE)
            own[i] = NAN;
    experiment_sum_column(e, tree, metric, own);
}

void formulas_compute(struct experiment *e, size_t tree)
{
    double *dense = mem_alloc((e->trees[tree].node_count + 1) * sizeof *dense);
    for (size_t i = 0; i < e->metric_count; i++) {
        if (!e->computed[i].expr)
            continue;
        if (e->computed[i].by_line) {
            evaluate_by_line(e, tree, i, dense);
            continue;
        }
        for (enum value_form form = 0; form < VALUE_FORMS; form++) {
            evaluate(e, tree, &e->computed[i], form, dense);
            experiment_set_column(e, tree, i, form, dense);
        }
    }
    mem_free(dense);
}
