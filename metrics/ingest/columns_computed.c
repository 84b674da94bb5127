/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of formulas, whose operands are columns before them, or become columns that are not shown. */
#include "metrics/ingest/columns_int.h"

#include <math.h>

/* A column's title is a name of it, too, if it is unique: TASK-CLOCK.ratio. */
static uint32_t column_shown_as(const struct columns *c, str_id name)
{
    uint32_t i = 0;
    while (i < c->list.count && c->list.items[i].metric.display_name != name)
        i++;
    return i < c->list.count ? i : COLUMN_NONE;
}

/* The column that `name` refers to in a formula, seen from one run; an event that is not a column yet becomes a hidden
 * one. */
uint32_t columns_operand(struct maker *m, const char *name, uint32_t run)
{
    uint32_t column = columns_find(m->columns, strtab_add(m->strings, name));
    if (column == COLUMN_NONE && run != RUN_ALL)
        column = columns_find(m->columns, columns_name_in_run(m, run, name));
    str_id wanted = strtab_add(m->strings, name);
    for (size_t i = 0; column == COLUMN_NONE && i < m->events.count; i++) {
        struct run_event *e = &m->events.items[i];
        str_id full = columns_name_in_run(m, e->run, strtab_get(m->strings, e->name));
        if (full != wanted && columns_name_in_run(m, e->run, strtab_get(m->strings, e->said)) != wanted &&
            !(run == e->run && columns_event_is(m, e, name)))
            continue;
        column = columns_find(m->columns, full);
        if (column != COLUMN_NONE)
            break;
        column = columns_add_measured(m, full, e, "");
        m->columns->list.items[column].metric.display = false;
    }
    if (column == COLUMN_NONE && (column = columns_operand_statistic(m, name, run)) != COLUMN_NONE)
        m->columns->list.items[column].metric.display = false;
    column = column == COLUMN_NONE ? column_shown_as(m->columns, wanted) : column;
    return column == COLUMN_NONE ? columns_operand_loop_property(m, name) : column;
}

/* Its own name, or later metrics: so there are no cycles. NULL: the configuration has no metric of that name. */
static const struct config_metric *metric_below(const struct maker *m, const char *name)
{
    for (size_t i = 0; i < m->config->metrics.count; i++)
        if (m->config->metrics.items[i].name && strcmp(m->config->metrics.items[i].name, name) == 0)
            return &m->config->metrics.items[i];
    return NULL;
}

/* Of "NEW.TASK-CLOCK" without its quotes the formula reads NEW.TASK: the first name that begins like this and needs
   quotes. */
static const char *cut_short(const char *name, const char *const *names)
{
    size_t n = strlen(name);
    for (; *names; names++)
        if (str_starts(*names, name) && (*names)[n] && !expr_in_name((*names)[n]))
            return *names;
    return NULL;
}

static int no_such_metric(struct maker *m, const struct config_metric *given, const char *name)
{
    const struct config_metric *below = metric_below(m, name);
    if (below == given)
        return err_set(m->err, ERR_FORMAT, "%s: %s is computed from itself; a formula can only use metrics above it",
                       given->where, name);
    if (below)
        return err_set(m->err, ERR_FORMAT,
                       "%s: %s: '%s' is defined below it (%s); a formula can only use metrics above it", given->where,
                       given->name, name, below->where);
    struct VEC(const char *) names = {0};
    for (size_t i = 0; i < m->columns->list.count; i++)
        *vec_push(&names) = strtab_get(m->strings, m->columns->list.items[i].metric.name);
    for (size_t i = 0; i < m->events.count; i++)
        *vec_push(&names) = strtab_get(m->strings, m->events.items[i].said);
    for (size_t i = 0; i < m->events.count; i++)
        *vec_push(&names) = strtab_get(m->strings, m->events.items[i].name);
    for (size_t i = 0; i < m->events.count; i++) {
        const struct run_event *e = &m->events.items[i];
        *vec_push(&names) = strtab_get(m->strings, columns_name_in_run(m, e->run, strtab_get(m->strings, e->said)));
    }
    *vec_push(&names) = NULL;
    const char *near = cut_short(name, names.items);
    near = near ? near : expr_metric_nearest(name, names.items);
    struct buf quoted = {0};
    if (near)
        expr_quote_name(&quoted, near);
    if (near && !expr_is_bare_name(near))
        err_set(m->err, ERR_FORMAT, "%s: %s: no metric '%s' before this one; did you mean %s, with the quotes?",
                given->where, given->name, name, quoted.bytes);
    else if (near)
        err_set(m->err, ERR_FORMAT, "%s: %s: no metric '%s' before this one; did you mean %s?", given->where,
                given->name, name, quoted.bytes);
    else
        err_set(m->err, ERR_FORMAT, "%s: %s: no metric '%s' before this one%s%s", given->where, given->name, name,
                names.count > 1 ? "; the first one is " : "", names.count > 1 ? names.items[0] : "");
    buf_release(&quoted);
    vec_release(&names);
    return -1;
}

static int no_such_run(struct maker *m, const struct config_metric *given, const char *name)
{
    struct VEC(const char *) names = {0};
    for (size_t i = 0; i < m->config->runs.count; i++)
        *vec_push(&names) = m->config->runs.items[i].name;
    *vec_push(&names) = NULL;
    const char *near = str_nearest(name, names.items);
    err_set(m->err, ERR_FORMAT, "%s: %s: no run '%s'%s%s%s", given->where, given->name, name,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    vec_release(&names);
    return -1;
}

static uint32_t run_named(const struct maker *m, const char *name)
{
    uint32_t run = 0;
    while (run < m->config->runs.count && strcmp(m->config->runs.items[run].name, name) != 0)
        run++;
    return run;
}

/* The column that the operand means, seen from one run. */
static uint32_t column_of_operand(struct maker *m, const struct expr_operand *o, uint32_t run)
{
    if (*o->run)
        run = run_named(m, o->run);
    if (*o->run && run == m->config->runs.count)
        return COLUMN_NONE;
    return o->statistic == EXPR_NO_STATISTIC ? columns_operand(m, o->name, run) : columns_statistic(m, o, run);
}

/* The first operand of the formula that means nothing seen from `run`, or NULL. */
static const struct expr_operand *unknown_operand(struct maker *m, const struct expr *expr, uint32_t run)
{
    for (size_t i = 0; i < expr_name_count(expr); i++)
        if (column_of_operand(m, expr_operand(expr, i), run) == COLUMN_NONE)
            return expr_operand(expr, i);
    return NULL;
}

static int no_such_operand(struct maker *m, const struct config_metric *given, const struct expr_operand *o)
{
    if (*o->run && run_named(m, o->run) == m->config->runs.count)
        return no_such_run(m, given, o->run);
    struct buf text = {0};
    struct expr_operand plain = *o;
    plain.run = (char *)"";
    plain.at = EXPR_HERE;
    plain.form = EXPR_FORM_OWN;
    expr_operand_text(&plain, &text);
    int status = no_such_metric(m, given, o->statistic == EXPR_NO_STATISTIC ? o->name : text.bytes);
    buf_release(&text);
    return status;
}

/* One run may have what another lacks. */
static int lacks_operand(struct maker *m, const struct config_metric *given, const struct expr_operand *o, uint32_t run)
{
    const struct config_run *runs = m->config->runs.items;
    uint32_t other = 0;
    while (other < m->config->runs.count && column_of_operand(m, o, other) == COLUMN_NONE)
        other++;
    if (*o->run || o->statistic != EXPR_NO_STATISTIC || other == m->config->runs.count)
        return no_such_operand(m, given, o);
    return err_set(m->err, ERR_FORMAT, "%s: %s: the run '%s' has no '%s', but '%s' has; use run(%s).M for a single run",
                   given->where, given->name, runs[run].name, o->name, runs[other].name, runs[other].name);
}

struct operand_names {
    const struct maker *m;
    const uint32_t *operands;
};

static const char *operand_name(void *ctx, size_t operand)
{
    const struct operand_names *n = ctx;
    return strtab_get(n->m->strings, n->m->columns->list.items[n->operands[operand]].metric.name);
}

/* The run that all operands are of; RUN_NONE if they are of several, or there are none. */
static uint32_t run_of_operands(const struct maker *m, const struct column *c)
{
    size_t n = expr_name_count(c->expr);
    uint32_t run = n ? m->columns->list.items[c->operands[0]].metric.run : RUN_NONE;
    for (size_t i = 1; i < n; i++)
        if (m->columns->list.items[c->operands[i]].metric.run != run)
            return RUN_NONE;
    return run;
}

static int bind_units(struct maker *m, const struct config_metric *given, const struct column *c)
{
    struct VEC(const char *) units = {0};
    for (size_t i = 0; i < expr_name_count(c->expr); i++)
        *vec_push(&units) = strtab_get(m->strings, m->columns->list.items[c->operands[i]].metric.unit);
    *vec_push(&units) = "";
    char *what = mem_printf("%s: %s", given->where, given->name);
    int status = expr_bind_units(c->expr, units.items, what, m->err);
    mem_free(what);
    vec_release(&units);
    return status;
}

/* A sum or difference of values of one unit has that unit. */
static str_id unit_of_result(const struct maker *m, const struct column *c)
{
    size_t n = expr_name_count(c->expr);
    str_id unit = n && c->metric.percent ? m->columns->list.items[c->operands[0]].metric.unit : 0;
    for (size_t i = 0; i < n; i++)
        if (m->columns->list.items[c->operands[i]].metric.unit != unit ||
            expr_operand(c->expr, i)->at != EXPR_HERE) /* shares have none */
            return 0;
    return unit;
}

/* Properties of loops do not add up: no place has a part of the program's. */
static bool uses_loop_properties(const struct maker *m, const struct column *c)
{
    bool uses = false;
    for (size_t i = 0; i < expr_name_count(c->expr); i++)
        uses = uses || m->columns->list.items[c->operands[i]].statistic == STAT_LOOP;
    return uses;
}

int columns_add_computed_in(struct maker *m, const struct config_metric *given, uint32_t run)
{
    size_t n = expr_name_count(given->expr);
    struct column c = {.by_line = given->by_line, .run = run, .where = given->where};
    c.operands = arena_alloc(m->columns->arena, n * sizeof *c.operands);
    for (size_t i = 0; i < n; i++)
        c.operands[i] = column_of_operand(m, expr_operand(given->expr, i), run);
    str_id name = columns_name_in_run(m, run, given->name);
    if (columns_find(m->columns, name) != COLUMN_NONE)
        return columns_take_metric(m, given, name);
    c.expr = expr_copy(given->expr);
    if (bind_units(m, given, &c) < 0) {
        expr_free(c.expr);
        return -1;
    }
    struct operand_names names = {m, c.operands};
    struct buf formula = {0};
    expr_write(c.expr, &formula, operand_name, &names);
    c.metric = (struct metric){
        .name = name,
        .formula = strtab_add(m->strings, formula.bytes),
        .percent = expr_is_linear(given->expr) && !uses_loop_properties(m, &c),
        .has_exclusive = true,
        .exact_total = NAN,
        .run = run_of_operands(m, &c),
    };
    buf_release(&formula);
    for (size_t i = 0; i < n; i++)
        c.metric.estimated = c.metric.estimated || m->columns->list.items[c.operands[i]].metric.estimated;
    c.metric.unit = unit_of_result(m, &c);
    *vec_push(&m->columns->list) = c;
    columns_take_settings(m, (uint32_t)(m->columns->list.count - 1), given,
                          *given->display_name ? columns_name_in_run(m, run, given->display_name) : name);
    return 0;
}

bool columns_need_failed(const struct maker *m, const struct expr *expr)
{
    for (size_t i = 0; i < expr_name_count(expr); i++)
        for (size_t k = 0; k < m->failed.count; k++) {
            const char *name = expr_name(expr, i), *failed = m->failed.items[k];
            size_t n = strlen(name), len = strlen(failed);
            if (n >= len && strcmp(name + n - len, failed) == 0 && (n == len || name[n - len - 1] == '.'))
                return true;
        }
    return false;
}

/* With several runs, CYC / INS is gcc.CYC / gcc.INS, clang.CYC / clang.INS, ...: once for each, unless the names are
 * columns as they are. */
int columns_add_computed(struct maker *m, const struct config_metric *given)
{
    size_t runs = m->config->runs.count;
    const struct expr_operand *unknown = unknown_operand(m, given->expr, runs == 1 ? 0 : RUN_ALL);
    if (!unknown)
        return columns_add_computed_in(m, given, runs == 1 ? 0 : RUN_ALL);
    for (uint32_t run = 0; run < runs; run++)
        if ((unknown = unknown_operand(m, given->expr, run)))
            return lacks_operand(m, given, unknown, run);
    for (uint32_t run = 0; run < runs; run++)
        if (columns_add_computed_in(m, given, run) < 0)
            return -1;
    return 0;
}

/* ---- metric blocks ------------------------------------------------------------------------ */

struct block_adder {
    struct maker *m;
    uint32_t run;
    size_t added;
};

/* A name that is taken stays what it is: level 2 of an analysis has level 1 in it. */
static void add_block_metric(void *ctx, const struct config_metric *metric)
{
    struct block_adder *a = ctx;
    struct config_metric given = *metric;
    uint32_t run = a->m->config->runs.count == 1 ? 0 : a->run;
    a->added++;
    if (columns_find(a->m->columns, columns_name_in_run(a->m, run, given.name)) != COLUMN_NONE ||
        expr_parse(given.formula, given.name, &given.expr, NULL) < 0)
        return;
    if (!unknown_operand(a->m, given.expr, run))
        columns_add_computed_in(a->m, &given, run);
    expr_free(given.expr);
}

/* The block's metrics for each run, as far as its events allow; their number. */
size_t columns_add_block(struct maker *m, const char *name)
{
    struct block_adder a = {.m = m};
    for (; a.run < m->config->runs.count; a.run++) {
        struct VEC(const char *) events = {0};
        for (size_t i = 0; i < m->events.count; i++)
            if (m->events.items[i].run == a.run)
                *vec_push(&events) = strtab_get(m->strings, m->events.items[i].name);
        *vec_push(&events) = NULL;
        blocks_metrics(m->config->known_blocks, name, events.items, add_block_metric, &a);
        vec_release(&events);
    }
    return a.added;
}

int columns_add_named_block(struct maker *m, const struct config_metric *given, struct warnings *warnings)
{
    const struct blocks *known = m->config->known_blocks;
    if (strcmp(given->block, LOOPS_BLOCK) == 0)
        return columns_add_loop_properties(m);
    int status = known ? blocks_check_name(known, given->block, m->err)
                       : err_set(m->err, ERR_SYSTEM, "no metric blocks are installed");
    if (status < 0)
        return *given->where ? err_in(m->err, "%s", given->where) : -1;
    if (columns_add_block(m, given->block) == 0)
        warnings_add(warnings, "no metric of the block '%s' can be computed from the measured events", given->block);
    return 0;
}
