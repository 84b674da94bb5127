/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Evaluation of properties: column by column, a block of places at a time. Severities are computed only in blocks in
 * which a condition holds.
 *
 * Samples are counts, and the error of a count of n is its root. Its effect on the severity is found by moving each
 * operand by its error; a severity below twice its error may be chance, and is not a finding. A condition that would
 * not hold with an operand moved costs confidence.
 */
#include "diagnose/evaluate/evaluate.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>

enum { BLOCK = 1024, CANDIDATES_MOST = 20000 };

/* ---- values -------------------------------------------------------------------------------------- */

place_ix domain_place(const struct evaluator *ev, const struct domain *d, uint32_t id)
{
    return d->table ? domain_row_place(d, id) : experiment_node_place(ev->e, d->tree, id);
}

static double place_fact(const struct evaluator *ev, int fact, place_ix place)
{
    const struct experiment *e = ev->e;
    double depth = 0;
    if (place == PLACE_NONE)
        return NAN;
    const struct place *p = &e->places[place];
    switch (fact) {
    case 0:
        for (place_ix up = place; up != PLACE_NONE; up = e->places[up].parent)
            depth += e->places[up].kind == PLACE_LOOP;
        return depth;
    case 1:
        return ev->innermost[place];
    case 2:
        return p->kind == PLACE_LOOP && p->instances ? p->instances : 1;
    case 3:
        return ev->sourced[place];
    default:
        return p->irreducible;
    }
}

enum { FACT_REPEATS = 5 };

/* How often the node's place stands above it in the tree of calls: recursion. */
static double repeats_above(const struct evaluator *ev, const struct domain *d, uint32_t node)
{
    double repeats = 0;
    if (d->table)
        return NAN;
    place_ix place = experiment_node_place(ev->e, d->tree, node);
    for (uint32_t up = node; (up = experiment_node_parent(ev->e, d->tree, up)) != NODE_NONE;)
        repeats += experiment_node_place(ev->e, d->tree, up) == place;
    return repeats;
}

static double cell_number(const struct cell_at *at)
{
    return at->column->type == TABLE_NUMBER                                    ? at->cell.number
           : at->column->type == TABLE_COUNT || at->column->type == TABLE_TIME ? (double)at->cell.count
                                                                               : NAN;
}

static double metric_at(const struct evaluator *ev, const struct resolved *of, const struct source *s, uint32_t id)
{
    const struct domain *d = of->domain;
    size_t tree = d->table ? TREE_SCOPES : d->tree;
    uint32_t node = d->table ? domain_row_place(d, id) : id;
    if (node != NODE_NONE && s->at == EXPR_AT_TOTAL)
        node = 0;
    else if (node != NODE_NONE && s->at == EXPR_AT_PARENT)
        node = experiment_node_parent(ev->e, tree, node);
    if (node == NODE_NONE)
        return s->at == EXPR_AT_TOTAL ? experiment_value(ev->e, s->metric, 0, s->form) : NAN;
    double value = ev->columns[(tree * ev->e->metric_count + s->metric) * VALUE_FORMS + s->form][node];
    if (isnan(value) && s->absent_is_zero &&
        experiment_measured(ev->e, ev->e->metrics[s->metric].run, experiment_node_place(ev->e, tree, node)))
        return 0;
    return value;
}

static double table_at(const struct evaluator *ev, const struct resolved *of, const struct source *s, uint32_t id)
{
    place_ix place = domain_place(ev, of->domain, id);
    size_t which = 0;
    struct cell_at at;
    while (ev->e->tables.items[which] != s->table)
        which++;
    if (place == PLACE_NONE || ev->table_rows.items[which][place] == NONE ||
        !diagnose_cell_on_path(s->table, s->through, s->columns, s->column_count, ev->table_rows.items[which][place],
                               &at))
        return NAN;
    return cell_number(&at);
}

static double property_at(const struct evaluator *ev, const struct resolved *of, const struct source *s, uint32_t id)
{
    for (size_t i = 0; i < ev->resolved.count; i++) {
        const struct resolved *part = ev->resolved.items[i];
        if (part->index != s->property || (part->run != of->run && part->run != RUN_NONE))
            continue;
        if (!part->truth || part->domain->tree != of->domain->tree)
            return s->fact == 0 ? 0 : NAN;
        return s->fact == 0 ? part->truth[id] : s->fact == 1 ? part->severity[id] : part->confidence[id];
    }
    return NAN;
}

static double value_at(const struct evaluator *ev, const struct resolved *of, const struct source *s, uint32_t id)
{
    struct cell_at at;
    switch (s->kind) {
    case FROM_METRIC:
        return metric_at(ev, of, s, id);
    case FROM_CONSTANT:
        return s->constant;
    case FROM_PLACE:
        if (s->fact == FACT_REPEATS)
            return repeats_above(ev, of->domain, id);
        return place_fact(ev, s->fact, domain_place(ev, of->domain, id));
    case FROM_TABLE:
        return table_at(ev, of, s, id);
    case FROM_ROW:
        if (s->at != EXPR_HERE ||
            !diagnose_cell_on_path(of->domain->table, s->through, s->columns, s->column_count, id, &at))
            return NAN;
        return cell_number(&at);
    case FROM_PROPERTY:
        return property_at(ev, of, s, id);
    default:
        return NAN;
    }
}

void resolved_operand_values(const struct evaluator *ev, const struct resolved *of, const struct source *s,
                             const uint32_t *ids, size_t n, double *out)
{
    bool plain = s->kind == FROM_METRIC && s->at == EXPR_HERE && !of->domain->table && !s->absent_is_zero;
    bool same = n && (s->kind == FROM_CONSTANT || (s->kind == FROM_METRIC && s->at == EXPR_AT_TOTAL));
    if (plain) {
        const double *column =
            ev->columns[(of->domain->tree * ev->e->metric_count + s->metric) * VALUE_FORMS + s->form];
        for (size_t i = 0; i < n; i++)
            out[i] = column[ids[i]];
    } else if (same) {
        double value = value_at(ev, of, s, ids[0]);
        for (size_t i = 0; i < n; i++)
            out[i] = value;
    } else
        for (size_t i = 0; i < n; i++)
            out[i] = value_at(ev, of, s, ids[i]);
}

/* ---- formulas at blocks, and at one place with operands moved ----------------------------------------- */

static void eval_block(const struct evaluator *ev, const struct resolved *of, const struct resolved_expr *x,
                       const uint32_t *ids, size_t n, double *out)
{
    size_t operands = expr_name_count(x->expr);
    double *values = mem_alloc((operands * n + 1) * sizeof *values);
    const double **columns = mem_alloc((operands + 1) * sizeof *columns);
    for (size_t k = 0; k < operands; k++) {
        columns[k] = values + k * n;
        resolved_operand_values(ev, of, &x->sources[k], ids, n, values + k * n);
    }
    expr_eval_columns(x->expr, columns, n, out);
    mem_free(columns);
    mem_free(values);
}

double resolved_value(const struct evaluator *ev, const struct resolved *of, const struct resolved_expr *x, uint32_t id)
{
    double value;
    eval_block(ev, of, x, &id, 1, &value);
    return value;
}

/* One standard error of an operand's value there; 0: it has none. */
static double operand_error(const struct evaluator *ev, const struct source *s, double value)
{
    if (s->kind != FROM_METRIC || s->error_metric == SIZE_MAX || isnan(value) || s->at == EXPR_AT_TOTAL)
        return 0; /* the total's is small compared with the part's, and moves with it */
    double error = experiment_error(ev->e, s->error_metric, value * s->parts) / s->parts;
    return isnan(error) ? 0 : error;
}

struct moved {
    double value; /* as it is */
    double error; /* by all operands; 0: none has one */
    size_t moves, still_true;
};

static void move_operand(const struct resolved_expr *x, double *values, size_t k, double error, struct moved *m)
{
    double here = values[k], there[2];
    values[k] = here + error;
    there[0] = expr_eval(x->expr, values);
    values[k] = here > error ? here - error : 0;
    there[1] = expr_eval(x->expr, values);
    values[k] = here;
    for (int i = 0; i < 2; i++) {
        m->moves++;
        m->still_true += !isnan(there[i]) && there[i] != 0;
    }
    double up = isnan(there[0]) ? 0 : fabs(there[0] - m->value), down = isnan(there[1]) ? 0 : fabs(there[1] - m->value);
    double by = up > down ? up : down;
    m->error = sqrt(m->error * m->error + by * by);
}

static struct moved eval_moved(const struct evaluator *ev, const struct resolved *of, const struct resolved_expr *x,
                               uint32_t id)
{
    struct moved m = {0};
    size_t n = expr_name_count(x->expr);
    double *values = mem_alloc((n + 1) * sizeof *values);
    for (size_t k = 0; k < n; k++)
        resolved_operand_values(ev, of, &x->sources[k], &id, 1, &values[k]);
    m.value = expr_eval(x->expr, values);
    for (size_t k = 0; k < n; k++) {
        double error = operand_error(ev, &x->sources[k], values[k]);
        if (error > 0)
            move_operand(x, values, k, error, &m);
    }
    mem_free(values);
    return m;
}

/* ---- filters --------------------------------------------------------------------------------------------- */

static place_ix place_around(const struct evaluator *ev, place_ix place, uint32_t kinds)
{
    while (place != PLACE_NONE && !(1u << ev->e->places[place].kind & kinds))
        place = ev->e->places[place].parent;
    return place;
}

static const char *place_word(const struct evaluator *ev, place_ix place, const char *what)
{
    static const char *const kinds[] = {"program", "module", "file", "procedure", "inline", "loop", "line"};
    static const char *const roles[] = {"plain", "vector", "remainder", "unrolled"};
    const struct experiment *e = ev->e;
    if (place == PLACE_NONE)
        return NULL;
    if (strcmp(what, "name") == 0)
        return strtab_get(e->strings, e->places[place].name);
    if (strcmp(what, "kind") == 0)
        return kinds[e->places[place].kind];
    if (strcmp(what, "role") == 0)
        return e->places[place].kind == PLACE_LOOP ? roles[e->places[place].role & 3] : "";
    if (strcmp(what, "file") == 0)
        return e->places[place].file < e->file_count ? strtab_get(e->strings, e->files[e->places[place].file].name)
                                                     : "";
    uint32_t around = strcmp(what, "module") == 0      ? 1u << PLACE_MODULE
                      : strcmp(what, "procedure") == 0 ? 1u << PLACE_PROC | 1u << PLACE_INLINE
                                                       : 0;
    place_ix in = around ? place_around(ev, place, around) : PLACE_NONE;
    return !around ? NULL : in == PLACE_NONE ? "" : strtab_get(e->strings, e->places[in].name);
}

/* A column's text; of a row that is referred to, its first text. */
static const char *row_word(const struct evaluator *ev, const struct domain *d, uint32_t row, const char *what)
{
    const struct table *through[PATH_MOST];
    size_t columns[PATH_MOST], count;
    struct cell_at at;
    if (!diagnose_table_path(ev->e, d->table, what, through, columns, &count))
        return NULL;
    if (!diagnose_cell_on_path(d->table, through, columns, count, row, &at))
        return "";
    if (at.column->type == TABLE_TEXT)
        return strtab_get(ev->e->strings, at.cell.text);
    const struct table *t = at.column->type == TABLE_REF ? table_list_find(&ev->e->tables, at.column->refers) : NULL;
    for (size_t i = 0; t && i < table_declared(t)->column_count && at.cell.row < table_row_count(t); i++)
        if (table_declared(t)->columns[i].type == TABLE_TEXT)
            return strtab_get(ev->e->strings, table_row(t, at.cell.row)[i].text);
    return "";
}

/* One of "a|b*|c" fits. */
bool resolved_name_fits(const char *globs, const char *word)
{
    char one[256];
    for (const char *at = globs;; at++) {
        size_t n = strcspn(at, "|");
        snprintf(one, sizeof one, "%.*s", (int)n, at);
        if (fnmatch(one, word, 0) == 0)
            return true;
        at += n;
        if (!*at)
            return false;
    }
}

bool resolved_filters_hold(const struct evaluator *ev, const struct resolved *of, uint32_t id)
{
    const struct domain *d = of->domain;
    for (size_t i = 0; i < of->property->filters.count; i++) {
        const struct row_filter *f = &of->property->filters.items[i];
        const char *word = d->table ? row_word(ev, d, id, f->what) : NULL;
        if (!word)
            word = place_word(ev, domain_place(ev, d, id), f->what);
        if (!word || resolved_name_fits(f->globs, word) == f->not )
            return false;
    }
    return true;
}

/* ---- one place -------------------------------------------------------------------------------------------- */

/* The largest of a MAX list whose conditions hold; NaN: none has a value. */
static struct moved best_of(const struct evaluator *ev, const struct resolved *of, const struct guarded *guards,
                            const struct resolved_expr *values, size_t count, uint32_t id)
{
    struct moved best = {.value = NAN};
    for (size_t i = 0; i < count; i++) {
        if (guards[i].condition != NONE) {
            double truth = resolved_value(ev, of, &of->conditions.items[guards[i].condition], id);
            if (isnan(truth) || truth == 0)
                continue;
        }
        struct moved m = eval_moved(ev, of, &values[i], id);
        if (!isnan(m.value) && (isnan(best.value) || m.value > best.value))
            best = m;
    }
    return best;
}

static bool first_true(const struct evaluator *ev, const struct resolved *of, uint32_t id, uint32_t *which,
                       bool *missing)
{
    for (uint32_t i = 0; i < of->conditions.count; i++) {
        double truth = resolved_value(ev, of, &of->conditions.items[i], id);
        *missing = *missing || isnan(truth);
        if (!isnan(truth) && truth != 0) {
            *which = i;
            return true;
        }
    }
    return false;
}

static double confidence_of(const struct evaluator *ev, const struct resolved *of, const struct candidate *c)
{
    const struct property *p = of->property;
    struct moved said = best_of(ev, of, p->confidences.items, of->confidences.items, of->confidences.count, c->id);
    struct moved condition = eval_moved(ev, of, &of->conditions.items[c->condition], c->id);
    double confidence = isnan(said.value) ? 1 : said.value < 0 ? 0 : said.value > 1 ? 1 : said.value;
    if (condition.moves)
        confidence *= (1 + (double)condition.still_true) / (1 + (double)condition.moves);
    if (c->error > 0)
        confidence *= erf(c->severity / c->error / sqrt(2));
    return confidence;
}

/* The likely gain is nearer to the least: bounds and shares of time are the gain of the best remedy. */
static void set_gain(struct candidate *c, const struct moved *severity, double least)
{
    c->most = severity->value > 100 ? 100 : severity->value; /* NaN stays */
    c->least = isnan(least) ? c->most : fmin(fmax(least, 0), c->most);
    c->severity = (3 * c->least + c->most) / 4;
    c->error = severity->error > 0 ? severity->error * (c->most > 0 ? c->severity / c->most : 1) : NAN;
}

struct tested evaluator_test_at(const struct evaluator *ev, const struct resolved *of, uint32_t id)
{
    struct tested t = {.state = SEARCH_FALSE, .candidate = {.id = id, .severity = NAN, .error = NAN}};
    bool missing = false;
    if (!resolved_filters_hold(ev, of, id) || !first_true(ev, of, id, &t.candidate.condition, &missing)) {
        t.state = missing ? SEARCH_UNKNOWN : SEARCH_FALSE;
        return t;
    }
    t.state = SEARCH_TRUE;
    struct moved severity =
        best_of(ev, of, of->property->severities.items, of->severities.items, of->severities.count, id);
    if (of->property->hypothesis && isnan(severity.value))
        severity = (struct moved){.value = 0};
    set_gain(&t.candidate, &severity,
             best_of(ev, of, of->property->leasts.items, of->leasts.items, of->leasts.count, id).value);
    t.candidate.confidence = confidence_of(ev, of, &t.candidate);
    if (isnan(severity.value) || (severity.error > 0 && severity.value < 2 * severity.error))
        t.state = SEARCH_UNKNOWN;
    return t;
}

bool resolved_has(const struct resolved *of, uint32_t id)
{
    const struct domain *d = of->domain;
    size_t before = sorted_front(d->count, i, d->ids[i] < id);
    return before < d->count && d->ids[before] == id;
}

/* ---- all places -------------------------------------------------------------------------------------------- */

static void keep_candidate(struct resolved *of, const struct evaluator *ev, uint32_t id)
{
    if (of->candidates.count == CANDIDATES_MOST)
        return;
    struct tested t = evaluator_test_at(ev, of, id);
    of->uncertain += t.state == SEARCH_UNKNOWN && !isnan(t.candidate.severity);
    of->without_value += t.state == SEARCH_UNKNOWN && isnan(t.candidate.severity);
    /* a part of a group may be arbitrarily small: merge.c tests the whole */
    if (t.state == SEARCH_TRUE || (of->property->together && t.candidate.severity > 0))
        *vec_push(&of->candidates) = t.candidate;
}

static void note_for_meta(struct resolved *of, const struct evaluator *ev, uint32_t id)
{
    struct tested t = evaluator_test_at(ev, of, id);
    of->truth[id] = t.state == SEARCH_TRUE;
    of->severity[id] = t.state == SEARCH_TRUE ? t.candidate.severity : NAN;
    of->confidence[id] = t.state == SEARCH_TRUE ? t.candidate.confidence : NAN;
}

/* holds[i]: a condition is true at ids[i]. */
static bool conditions_in_block(const struct evaluator *ev, const struct resolved *of, const uint32_t *ids, size_t n,
                                bool *holds)
{
    double truth[BLOCK];
    bool any = false;
    memset(holds, 0, n);
    for (size_t c = 0; c < of->conditions.count; c++) {
        eval_block(ev, of, &of->conditions.items[c], ids, n, truth);
        for (size_t i = 0; i < n; i++)
            holds[i] = holds[i] || (!isnan(truth[i]) && truth[i] != 0);
    }
    for (size_t i = 0; i < n; i++)
        any = any || holds[i];
    return any;
}

/* large[i]: some severity at ids[i] may reach the threshold, or has no value. */
static void severities_in_block(const struct evaluator *ev, const struct resolved *of, const uint32_t *ids, size_t n,
                                bool *large)
{
    double value[BLOCK];
    memset(large, of->severities.count == 0 || of->property->hypothesis, n);
    for (size_t s = 0; s < of->severities.count; s++) {
        eval_block(ev, of, &of->severities.items[s], ids, n, value);
        for (size_t i = 0; i < n; i++)
            large[i] = large[i] || isnan(value[i]) || value[i] >= ev->options.threshold ||
                       (of->property->together && value[i] > 0);
    }
}

static void evaluate_block(const struct evaluator *ev, struct resolved *of, const uint32_t *ids, size_t n)
{
    bool holds[BLOCK], large[BLOCK];
    if (!conditions_in_block(ev, of, ids, n, holds))
        return;
    severities_in_block(ev, of, ids, n, large);
    for (size_t i = 0; i < n; i++) {
        if (holds[i] && of->truth && resolved_filters_hold(ev, of, ids[i]))
            note_for_meta(of, ev, ids[i]);
        if (holds[i] && large[i] && resolved_filters_hold(ev, of, ids[i]))
            keep_candidate(of, ev, ids[i]);
    }
}

static void evaluate(const struct evaluator *ev, struct resolved *of)
{
    const struct domain *d = of->domain;
    for (size_t from = 0; d && from < d->count; from += BLOCK)
        evaluate_block(ev, of, d->ids + from, d->count - from < BLOCK ? d->count - from : BLOCK);
    /* below the threshold, with its error or without */
    size_t kept = 0;
    for (size_t i = 0; i < of->candidates.count; i++)
        if (of->candidates.items[i].severity >= ev->options.threshold || of->property->hypothesis ||
            of->property->together)
            of->candidates.items[kept++] = of->candidates.items[i];
    of->candidates.count = kept;
}

struct rank {
    struct evaluator *ev;
    uint32_t rank;
};

static void evaluate_one(void *ctx, size_t i)
{
    const struct rank *r = ctx;
    struct resolved *of = r->ev->resolved.items[i];
    if (of->property->rank == r->rank)
        evaluate(r->ev, of);
}

static void note_part(void *ctx, const struct expr *x)
{
    struct evaluator *ev = ctx;
    for (size_t k = 0; k < expr_name_count(x); k++)
        for (size_t i = 0; i < ev->resolved.count; i++) {
            struct resolved *of = ev->resolved.items[i];
            size_t n = strlen(of->property->name);
            const char *name = expr_name(x, k);
            if (of->truth || !of->domain || of->domain->table || strncmp(name, of->property->name, n) != 0 ||
                (name[n] && name[n] != '.'))
                continue;
            size_t nodes = ev->e->trees[of->domain->tree].node_count;
            of->truth = mem_calloc(nodes + 1, sizeof(double));
            of->severity = mem_calloc(nodes + 1, sizeof(double));
            of->confidence = mem_calloc(nodes + 1, sizeof(double));
        }
}

void evaluator_run(struct evaluator *ev)
{
    uint32_t most = 0;
    for (size_t i = 0; i < ev->p->list.count; i++) {
        const struct property *p = ev->p->list.items[i];
        most = p->rank > most ? p->rank : most;
        if (p->meta)
            property_each_expr(p, note_part, ev);
    }
    for (struct rank r = {.ev = ev}; r.rank <= most; r.rank++)
        parallel_for(ev->resolved.count, ev->options.threads, evaluate_one, &r);
}

/* ---- life -------------------------------------------------------------------------------------------------- */

void evaluator_init(struct evaluator *ev, const struct experiment *e, const struct properties *p,
                    const struct diagnose_options *options)
{
    *ev = (struct evaluator){.e = e, .p = p, .options = *options, .arena = arena_create()};
    ev->columns = mem_calloc(e->tree_count * e->metric_count * VALUE_FORMS + 1, sizeof *ev->columns);
    ev->innermost = mem_calloc(e->place_count + 1, 1);
    for (size_t i = 0; i < e->place_count; i++)
        ev->innermost[i] = e->places[i].kind == PLACE_LOOP;
    for (size_t i = e->place_count; i-- > 1;)
        if (e->places[i].kind == PLACE_LOOP)
            for (place_ix up = e->places[i].parent; up != PLACE_NONE && ev->innermost[up] != 2;
                 up = e->places[up].parent)
                ev->innermost[up] = 2; /* seen, and not innermost */
    for (size_t i = 0; i < e->place_count; i++)
        ev->innermost[i] = ev->innermost[i] == 1;
    ev->sourced = mem_calloc(e->place_count + 1, 1);
    for (size_t i = e->place_count; i-- > 0;) {
        const struct place *at = &e->places[i];
        ev->sourced[i] = ev->sourced[i] || (at->kind != PLACE_FILE && at->file != SOURCE_NONE && at->line_first);
        if (i && ev->sourced[i])
            ev->sourced[at->parent] = 1;
    }
}

static void exprs_release(struct resolved_expr *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        expr_free(x[i].expr);
        mem_free(x[i].sources);
    }
}

static void resolved_free(struct resolved *of)
{
    exprs_release(of->conditions.items, of->conditions.count);
    exprs_release(of->confidences.items, of->confidences.count);
    exprs_release(of->severities.items, of->severities.count);
    exprs_release(of->leasts.items, of->leasts.count);
    exprs_release(of->pieces.items, of->pieces.count);
    vec_release(&of->conditions);
    vec_release(&of->confidences);
    vec_release(&of->severities);
    vec_release(&of->leasts);
    vec_release(&of->pieces);
    vec_release(&of->candidates);
    vec_release(&of->lacking);
    mem_free(of->truth);
    mem_free(of->severity);
    mem_free(of->confidence);
    mem_free(of);
}

void evaluator_release(struct evaluator *ev)
{
    for (size_t i = 0; i < ev->resolved.count; i++)
        resolved_free(ev->resolved.items[i]);
    for (size_t i = 0; i < ev->e->tree_count * ev->e->metric_count * VALUE_FORMS; i++)
        mem_free(ev->columns[i]);
    for (size_t i = 0; i < ev->table_rows.count; i++)
        mem_free(ev->table_rows.items[i]);
    mem_free(ev->columns);
    mem_free(ev->innermost);
    mem_free(ev->sourced);
    vec_release(&ev->resolved);
    vec_release(&ev->domains);
    vec_release(&ev->domain_kinds);
    vec_release(&ev->table_rows);
    arena_free(ev->arena);
}
