/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computed metrics: their formulas at every node of a tree, and for sums that a view makes. A formula is computed from
 * its operands' values there, a block of nodes at a time.
 */
#include "metrics/model/model.h"

#include <math.h>

struct computed {      /* a formula that outlives the configuration it came from */
    struct expr *expr; /* NULL: measured */
    uint32_t *operands;
    bool by_line;
    bool across_runs;    /* its operands are of several runs: see fill_absent */
    uint32_t spreads[2]; /* of an error: see struct column */
    uint32_t error_of;   /* the difference whose error this is; UINT32_MAX: none */
};

void formulas_keep(struct experiment *e, size_t metric, const struct derivation *d)
{
    e->computed = e->computed ? e->computed : mem_calloc(e->metric_count, sizeof *e->computed);
    struct computed *kept = &e->computed[metric];
    kept->error_of = d->error_of;
    memcpy(kept->spreads, d->spreads, sizeof kept->spreads);
    if (!d->expr)
        return;
    kept->expr = expr_copy(d->expr);
    size_t n = expr_name_count(d->expr);
    kept->by_line = d->by_line;
    kept->operands = mem_alloc(n * sizeof *kept->operands);
    if (n)
        memcpy(kept->operands, d->operands, n * sizeof *kept->operands);
    for (size_t k = 1; k < n; k++)
        kept->across_runs |= e->metrics[kept->operands[k]].run != e->metrics[kept->operands[0]].run;
}

bool formulas_difference(const struct experiment *e, size_t metric, struct difference *d)
{
    const struct computed *c = e->computed ? &e->computed[metric] : NULL;
    if (!c || !c->expr || !str_ends(strtab_get(e->strings, e->metrics[metric].name), ".difference") ||
        expr_name_count(c->expr) != 2)
        return false;
    *d = (struct difference){c->operands[1], c->operands[0], COLUMN_NONE, {COLUMN_NONE, COLUMN_NONE}};
    for (uint32_t i = 0; i < e->metric_count; i++)
        if (e->computed[i].error_of == metric) {
            d->error = i;
            memcpy(d->spreads, e->computed[i].spreads, sizeof d->spreads);
        }
    return true;
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

/* false: some operand is not a column. */
static bool bind_operands(const struct experiment *e, const struct hashmap *by_name, struct computed *c)
{
    size_t n = expr_name_count(c->expr);
    const char **units = mem_alloc(n * sizeof *units);
    bool all = true;
    c->operands = mem_alloc(n * sizeof *c->operands);
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

/* Statistics, and errors of differences, have their own names for formulas: their operands are not written. */
static bool names_itself(const struct computed *c, uint32_t metric)
{
    for (size_t k = 0; k < expr_name_count(c->expr); k++)
        if (c->operands[k] == metric)
            return true;
    return false;
}

/* "D.error" is the error of the difference D. Of repeated runs it is not known of sums: how often they were is not written. */
static void find_error(struct experiment *e, const struct hashmap *by_name, uint32_t metric)
{
    static const char end[] = ".error";
    const char *name = strtab_get(e->strings, e->metrics[metric].name);
    struct computed *c = &e->computed[metric];
    if (!str_ends(name, end))
        return;
    uint32_t of = hashmap_get(by_name, strtab_addn(e->strings, name, strlen(name) - strlen(end)));
    if (of == HASHMAP_NONE || !e->computed[of].expr)
        return;
    bool repeated = false;
    for (size_t k = 0; k < expr_name_count(e->computed[of].expr); k++) {
        const char *operand = strtab_get(e->strings, e->metrics[e->computed[of].operands[k]].name);
        const struct expr_operand spread = {.name = (char *)(uintptr_t)operand,
                                            .run = (char *)"",
                                            .statistic = EXPR_STAT_STDDEV,
                                            .over = EXPR_REPETITIONS};
        repeated = repeated || column_named(e, by_name, &spread) != HASHMAP_NONE;
    }
    if (!repeated && expr_name_count(e->computed[of].expr) <= ARRAY_SIZE(c->spreads)) {
        c->error_of = of;
        c->spreads[0] = c->spreads[1] = COLUMN_NONE;
    }
}

void formulas_from_texts(struct experiment *e)
{
    struct hashmap by_name = {0};
    e->computed = mem_calloc(e->metric_count, sizeof *e->computed);
    for (uint32_t i = (uint32_t)e->metric_count; i-- > 0;)
        *hashmap_put(&by_name, e->metrics[i].name) = i;
    for (uint32_t i = 0; i < e->metric_count; i++) {
        struct computed *c = &e->computed[i];
        const char *text = strtab_get(e->strings, e->metrics[i].formula);
        c->error_of = UINT32_MAX;
        c->by_line = e->metrics[i].summed;
        if (!*text || expr_parse(text, "", &c->expr, NULL) < 0)
            continue;
        bool bound = bind_operands(e, &by_name, c), itself = bound && names_itself(c, i);
        if (bound && !itself)
            continue;
        expr_free(c->expr);
        c->expr = NULL;
        if (itself)
            find_error(e, &by_name, i);
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
    double total = o->at == EXPR_AT_TOTAL ? value_around(e, tree, metric, o, 0) : NAN;
    if (o->at == EXPR_HERE)
        experiment_column(e, tree, metric, form_of(o, form), from, n, values);
    else
        for (size_t i = 0; i < n; i++)
            values[i] = o->at == EXPR_AT_TOTAL ? total : value_around(e, tree, metric, o, (uint32_t)(from + i));
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

/* For a mean over repetitions, from their deviation; if they happen to be closer than samples allow, from the
   samples. */
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

/* Several places have no one parent. A value missing in one run is zero if the formula had a value at one of the
   places. */
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
    double *operands = mem_alloc(n * sizeof *operands);
    for (size_t i = 0; i < n; i++)
        operands[i] = operand_of_sums(e, metric, i, values);
    double value = expr_eval(c->expr, operands);
    mem_free(operands);
    return value;
}

/* Which operands count as 0 if they are missing between runs. */
static bool *absent_as_zero(const struct experiment *e, const struct computed *c)
{
    size_t count = expr_name_count(c->expr);
    bool *zero = mem_calloc(count, sizeof *zero);
    for (size_t k = 0; k < count; k++)
        zero[k] = expr_operand(c->expr, k)->at == EXPR_HERE && may_be_zero(e, c->operands[k]);
    return zero;
}

/* Between runs: a place of one run that the other lacks, although it measured the module, cost nothing there. */
static void fill_absent(const struct experiment *e, size_t tree, const struct computed *c, const bool *zero,
                        size_t from, size_t n, double *values)
{
    size_t count = expr_name_count(c->expr);
    for (size_t i = 0; i < n; i++) {
        bool any = false;
        for (size_t k = 0; k < count; k++)
            any = any || (expr_operand(c->expr, k)->at == EXPR_HERE && !isnan(values[k * BLOCK + i]));
        for (size_t k = 0; k < count && any; k++)
            if (zero[k] && isnan(values[k * BLOCK + i]) &&
                experiment_measured(e, e->metrics[c->operands[k]].run,
                                    experiment_node_place(e, tree, (uint32_t)(from + i))))
                values[k * BLOCK + i] = 0;
    }
}

/* Most formulas have no value if one of the operands has none: then the others are not evaluated. */
static bool all_blank(const struct experiment *e, size_t tree, const struct computed *c, enum value_form form,
                      size_t from, size_t n)
{
    for (size_t k = 0; k < expr_name_count(c->expr); k++) {
        const struct expr_operand *o = expr_operand(c->expr, k);
        if (o->at == EXPR_HERE && !experiment_column_any(e, tree, c->operands[k], form_of(o, form), from, n))
            return true;
    }
    return false;
}

struct evaluation { /* of a formula at a tree's nodes */
    const struct experiment *e;
    size_t tree;
    const struct computed *c;
    enum value_form form;
    bool *zero; /* by operand: absent_as_zero; NULL: of one run */
    bool strict;
    double *values; /* of the operands, BLOCK of each */
    const double **operands;
};

static void evaluate_block(const struct evaluation *v, size_t from, size_t n, double *out)
{
    const struct computed *c = v->c;
    if (v->strict && all_blank(v->e, v->tree, c, v->form, from, n)) {
        for (size_t i = 0; i < n; i++)
            out[i] = NAN;
        return;
    }
    for (size_t k = 0; k < expr_name_count(c->expr); k++)
        gather(v->e, v->tree, c->operands[k], expr_operand(c->expr, k), v->form, from, n, v->values + k * BLOCK);
    if (v->zero)
        fill_absent(v->e, v->tree, c, v->zero, from, n, v->values);
    expr_eval_columns(c->expr, v->operands, n, out);
}

static struct values *evaluate(const struct experiment *e, size_t tree, const struct computed *c, enum value_form form)
{
    size_t count = expr_name_count(c->expr), nodes = e->trees[tree].node_count;
    double out[BLOCK];
    struct values *column = values_begin(nodes);
    struct evaluation v = {.e = e,
                           .tree = tree,
                           .c = c,
                           .form = form,
                           .zero = c->across_runs ? absent_as_zero(e, c) : NULL,
                           .strict = !c->across_runs && expr_is_strict(c->expr),
                           .values = mem_alloc(count * BLOCK * sizeof *v.values),
                           .operands = mem_alloc(count * sizeof *v.operands)};
    for (size_t k = 0; k < count; k++)
        v.operands[k] = v.values + k * BLOCK;
    for (size_t from = 0; from < nodes; from += BLOCK) {
        size_t n = nodes - from < BLOCK ? nodes - from : BLOCK;
        evaluate_block(&v, from, n, out);
        values_append(column, out, n);
    }
    values_end(column, 0);
    mem_free(v.zero);
    mem_free(v.operands);
    mem_free(v.values);
    return column;
}

/* The formula at the lines alone, then sums of the results. */
static void evaluate_by_line(struct experiment *e, size_t tree, size_t metric)
{
    size_t n = e->trees[tree].node_count;
    double *own = mem_alloc(n * sizeof *own);
    struct values *all = evaluate(e, tree, &e->computed[metric], VALUE_EXCLUSIVE);
    values_unpack(all, 0, n, own);
    values_free(all);
    for (size_t i = 0; i < n; i++)
        if (e->places[experiment_node_place(e, tree, (uint32_t)i)].kind != PLACE_LINE)
            own[i] = NAN;
    experiment_sum_column(e, tree, metric, own);
    mem_free(own);
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

static void compute_error(struct experiment *e, size_t tree, size_t metric)
{
    double *dense = mem_alloc(e->trees[tree].node_count * sizeof *dense);
    for (enum value_form form = 0; form < VALUE_FORMS; form++) {
        evaluate_error(e, tree, &e->computed[metric], form, dense);
        experiment_set_column(e, tree, metric, form, dense);
    }
    mem_free(dense);
}

static void compute_metric(struct experiment *e, size_t tree, size_t metric)
{
    const struct computed *c = &e->computed[metric];
    if (!c->expr)
        compute_error(e, tree, metric);
    else if (c->by_line)
        evaluate_by_line(e, tree, metric);
    else
        for (enum value_form form = 0; form < VALUE_FORMS; form++)
            experiment_take_column(e, tree, metric, form, evaluate(e, tree, c, form));
}

static bool is_computed(const struct experiment *e, size_t metric)
{
    return e->computed[metric].expr || e->computed[metric].error_of != UINT32_MAX;
}

/* The last computed metric that it needs; UINT32_MAX: none. */
static uint32_t last_needed(const struct experiment *e, size_t metric)
{
    const struct computed *c = &e->computed[metric];
    uint32_t last = c->error_of; /* whose operands stand before it; spreads are statistics */
    for (size_t k = 0; c->expr && k < expr_name_count(c->expr); k++)
        if (is_computed(e, c->operands[k]) && (last == UINT32_MAX || c->operands[k] > last))
            last = c->operands[k];
    return last;
}

/* Formulas that stand one after another and need none of each other. */
struct independent {
    struct experiment *e;
    size_t tree;
    struct VEC(size_t) metrics;
    size_t needed_end; /* behind the last metric that one of them needs */
};

static void compute_one(void *ctx, size_t i)
{
    struct independent *g = ctx;
    compute_metric(g->e, g->tree, g->metrics.items[i]);
}

static void compute_group(struct independent *g, unsigned threads)
{
    enum { NODES_LEAST = 1 << 14 }; /* worth a thread */
    parallel_for(g->metrics.count, g->e->trees[g->tree].node_count < NODES_LEAST ? 1 : threads, compute_one, g);
    g->metrics.count = g->needed_end = 0;
}

void formulas_compute(struct experiment *e, size_t tree, unsigned threads)
{
    struct independent g = {.e = e, .tree = tree};
    for (size_t i = 0; i < e->metric_count; i++) {
        if (!is_computed(e, i))
            continue;
        uint32_t needed = last_needed(e, i);
        bool any = needed != UINT32_MAX;
        if (g.metrics.count && ((any && needed >= g.metrics.items[0]) || i < g.needed_end))
            compute_group(&g, threads);
        *vec_push(&g.metrics) = i;
        g.needed_end = any && needed >= g.needed_end ? needed + 1 : g.needed_end;
    }
    compute_group(&g, threads);
    vec_release(&g.metrics);
}
