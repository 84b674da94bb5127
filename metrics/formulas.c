/*
 * Computed metrics: their formulas at every node of a tree, and for sums that a view makes. A formula is computed from
 * its operands' values there, a block of nodes at a time.
 */
#include "metrics/metrics_int.h"

#include <math.h>

struct computed {      /* a formula that outlives the configuration it came from */
    struct expr *expr; /* NULL: measured */
    uint32_t *operands;
    bool by_line;
    bool across_runs;    /* its operands are of several runs: see fill_absent */
    uint32_t spreads[2]; /* of an error: see struct column */
    uint32_t error_of;   /* the difference whose error this is; UINT32_MAX: it is none */
};

void formulas_keep(struct experiment *e, const struct columns *columns)
{
    e->computed = mem_calloc(e->metric_count + 1, sizeof *e->computed);
    for (size_t i = 0; i < e->metric_count; i++) {
        const struct column *c = &columns->list.items[i];
        struct computed *kept = &e->computed[i];
        kept->error_of = c->error ? c->base : UINT32_MAX;
        memcpy(kept->spreads, c->spreads, sizeof kept->spreads);
        if (!c->expr)
            continue;
        kept->expr = expr_copy(c->expr);
        size_t n = expr_name_count(c->expr);
        kept->by_line = c->by_line;
        kept->operands = mem_alloc((n + 1) * sizeof *kept->operands);
        if (n)
            memcpy(kept->operands, c->operands, n * sizeof *kept->operands);
        for (size_t k = 1; k < n; k++)
            kept->across_runs |= e->metrics[kept->operands[k]].run != e->metrics[kept->operands[0]].run;
    }
}

/* ---- of a finished database: formulas as texts, which name its columns ---- */

static uint32_t column_named(const struct experiment *e, const struct hashmap *by_name, const struct expr_operand *o)
{
    struct expr_operand plain = *o;
    struct buf text = {0};
    plain.at = EXPR_HERE;
    plain.form = EXPR_FORM_OWN;
    if (o->statistic == EXPR_NO_STATISTIC)
        buf_str(&text, o->name); /* as it is, without the quotes that a formula needs */
    else
        expr_operand_text(&plain, &text);
    uint32_t column = hashmap_get(by_name, strtab_add(e->strings, text.bytes));
    buf_release(&text);
    return column;
}

/* false: some operand is no column. */
static bool bind_operands(const struct experiment *e, const struct hashmap *by_name, struct computed *c)
{
    size_t n = expr_name_count(c->expr);
    const char **units = mem_alloc((n + 1) * sizeof *units);
    bool all = true;
    c->operands = mem_alloc((n + 1) * sizeof *c->operands);
    for (size_t k = 0; k < n && all; k++) {
        c->operands[k] = column_named(e, by_name, expr_operand(c->expr, k));
        all = c->operands[k] != HASHMAP_NONE && *expr_operand(c->expr, k)->run == '\0';
        units[k] = all ? strtab_get(e->strings, e->metrics[c->operands[k]].unit) : "";
        c->across_runs |= all && e->metrics[c->operands[k]].run != e->metrics[c->operands[0]].run;
    }
    all = all && expr_bind_units(c->expr, units, "", NULL) == 0;
    mem_free(units);
    return all;
}

void formulas_from_texts(struct experiment *e)
{
    struct hashmap by_name = {0};
    e->computed = mem_calloc(e->metric_count + 1, sizeof *e->computed);
    for (uint32_t i = (uint32_t)e->metric_count; i-- > 0;)
        *hashmap_put(&by_name, e->metrics[i].name) = i;
    for (size_t i = 0; i < e->metric_count; i++) {
        struct computed *c = &e->computed[i];
        const char *text = strtab_get(e->strings, e->metrics[i].formula);
        c->error_of = UINT32_MAX;
        c->by_line = e->metrics[i].summed;
        if (!*text || expr_parse(text, "", &c->expr, NULL) < 0 || bind_operands(e, &by_name, c))
            continue;
        expr_free(c->expr);
        c->expr = NULL;
    }
    hashmap_release(&by_name);
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

enum { BLOCK = 1024 }; /* nodes at a time: operands stay in the nearest cache */

static enum value_form form_of(const struct expr_operand *o, enum value_form of_result)
{
    return o->form == EXPR_FORM_OWN ? of_result : o->form == EXPR_FORM_INCLUSIVE ? VALUE_INCLUSIVE : VALUE_EXCLUSIVE;
}

/* A whole is the inclusive value of the root, or of the parent, unless the formula says exclusive(M). */
static double value_around(const struct experiment *e, size_t tree, size_t metric, const struct expr_operand *o,
                           uint32_t node)
{
    uint32_t around = o->at == EXPR_AT_TOTAL ? 0 : experiment_node_parent(e, tree, node);
    return around == NODE_NONE ? NAN : experiment_node_value(e, tree, metric, around, form_of(o, VALUE_INCLUSIVE));
}

static void gather(const struct experiment *e, size_t tree, size_t metric, const struct expr_operand *o,
                   enum value_form form, size_t from, size_t n, double *values)
{
    if (o->at == EXPR_HERE)
        experiment_column(e, tree, metric, form_of(o, form), from, n, values);
    else
        for (size_t i = 0; i < n; i++)
            values[i] = value_around(e, tree, metric, o, (uint32_t)(from + i));
}

/* May a missing value of the metric be 0? A sum of nothing is, a quotient of nothing is not. */
static bool may_be_zero(const struct experiment *e, uint32_t metric)
{
    const struct computed *c = &e->computed[metric];
    return e->metrics[metric].run != RUN_NONE && (c->expr ? expr_is_linear(c->expr) : e->metrics[metric].summed) &&
           !isnan(experiment_value(e, metric, 0, VALUE_INCLUSIVE));
}

static double number_or_zero(double v)
{
    return isnan(v) ? 0 : v;
}

/* Of a mean over repetitions, by how far these lie apart; but where they happen to be closer than samples can tell, by
   that. */
static double square_of_error(const struct experiment *e, size_t metric, double value, double spread)
{
    double sampling = number_or_zero(experiment_error(e, metric, number_or_zero(value)));
    uint32_t repetitions = e->metrics[metric].repetitions;
    double between = repetitions > 1 && !isnan(spread) ? spread * spread / (repetitions - 1) : 0;
    return fmax(between, sampling * sampling);
}

/* Of a difference of sampled values: the root of the sum of their errors' squares. */
static double error_of_sums(const struct experiment *e, const struct computed *error, const double *values)
{
    uint32_t difference = error->error_of;
    const struct computed *of = &e->computed[difference];
    double squares = 0;
    for (size_t k = 0; k < expr_name_count(of->expr); k++) {
        double spread = error->spreads[k] == COLUMN_NONE ? NAN : values[error->spreads[k]];
        squares += square_of_error(e, of->operands[k], values[of->operands[k]], spread);
    }
    return isnan(values[difference]) ? NAN : sqrt(squares);
}

/* Several places have no one parent. What one run lacks cost nothing if the formula had a value at one of the places. */
static double operand_of_sums(const struct experiment *e, size_t metric, size_t operand, const double *values)
{
    const struct computed *c = &e->computed[metric];
    enum expr_at at = expr_operand(c->expr, operand)->at;
    uint32_t of = c->operands[operand];
    if (at != EXPR_HERE)
        return at == EXPR_AT_TOTAL ? experiment_value(e, of, 0, VALUE_INCLUSIVE) : NAN;
    bool absent = c->across_runs && isnan(values[of]) && !isnan(values[metric]) && may_be_zero(e, of);
    return absent ? 0 : values[of];
}

double experiment_compute(const struct experiment *e, size_t metric, const double *values)
{
    const struct computed *c = &e->computed[metric];
    if (c->error_of != UINT32_MAX)
        return error_of_sums(e, c, values);
    if (!c->expr && !e->metrics[metric].summed)
        return NAN; /* a statistic over threads: that of two places is not that of both */
    if (!c->expr || c->by_line)
        return values[metric];
    size_t n = expr_name_count(c->expr);
    double *operands = mem_alloc((n + 1) * sizeof *operands);
    for (size_t i = 0; i < n; i++)
        operands[i] = operand_of_sums(e, metric, i, values);
    double value = expr_eval(c->expr, operands);
    mem_free(operands);
    return value;
}

/* Between runs: what one has, and another that measured the module has not, cost nothing there. */
static void fill_absent(const struct experiment *e, size_t tree, const struct computed *c, size_t from, size_t n,
                        double *values)
{
    size_t count = expr_name_count(c->expr);
    for (size_t i = 0; i < n; i++) {
        bool any = false;
        for (size_t k = 0; k < count; k++)
            any = any || (expr_operand(c->expr, k)->at == EXPR_HERE && !isnan(values[k * BLOCK + i]));
        for (size_t k = 0; k < count && any; k++)
            if (isnan(values[k * BLOCK + i]) && expr_operand(c->expr, k)->at == EXPR_HERE &&
                may_be_zero(e, c->operands[k]) &&
                experiment_measured(e, e->metrics[c->operands[k]].run,
                                    experiment_node_place(e, tree, (uint32_t)(from + i))))
                values[k * BLOCK + i] = 0;
    }
}

static void evaluate(const struct experiment *e, size_t tree, const struct computed *c, enum value_form form,
                     double *out)
{
    size_t count = expr_name_count(c->expr), nodes = e->trees[tree].node_count;
    double *values = mem_alloc((count * BLOCK + 1) * sizeof *values);
    const double **operands = mem_alloc((count + 1) * sizeof *operands);
    for (size_t k = 0; k < count; k++)
        operands[k] = values + k * BLOCK;
    for (size_t from = 0; from < nodes; from += BLOCK) {
        size_t n = nodes - from < BLOCK ? nodes - from : BLOCK;
        for (size_t k = 0; k < count; k++)
            gather(e, tree, c->operands[k], expr_operand(c->expr, k), form, from, n, values + k * BLOCK);
        if (c->across_runs)
            fill_absent(e, tree, c, from, n, values);
        expr_eval_columns(c->expr, operands, n, out + from);
    }
    mem_free(operands);
    mem_free(values);
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

/* Of a difference of sampled values: the root of the sum of their errors' squares. */
static void evaluate_error(const struct experiment *e, size_t tree, const struct computed *error, enum value_form form,
                           double *out)
{
    uint32_t difference = error->error_of;
    const struct computed *of = &e->computed[difference];
    for (uint32_t i = 0; i < e->trees[tree].node_count; i++) {
        double squares = 0;
        for (size_t k = 0; k < expr_name_count(of->expr); k++) {
            double value = experiment_node_value(e, tree, of->operands[k], i, form);
            double spread =
                error->spreads[k] == COLUMN_NONE ? NAN : experiment_node_value(e, tree, error->spreads[k], i, form);
            squares += square_of_error(e, of->operands[k], value, spread);
        }
        out[i] = isnan(experiment_node_value(e, tree, difference, i, form)) ? NAN : sqrt(squares);
    }
}

void formulas_compute(struct experiment *e, size_t tree)
{
    double *dense = mem_alloc((e->trees[tree].node_count + 1) * sizeof *dense);
    for (size_t i = 0; i < e->metric_count; i++) {
        uint32_t difference = e->computed[i].error_of;
        for (enum value_form form = 0; difference != UINT32_MAX && form < VALUE_FORMS; form++) {
            evaluate_error(e, tree, &e->computed[i], form, dense);
            experiment_set_column(e, tree, i, form, dense);
        }
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
