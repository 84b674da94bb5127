/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of a property in one run. A name is, in this order, a column of the current row; a fact about the run or the
 * place; a metric; a column of a table whose rows are about places, "loop_quality.x".
 */
#include "diagnose/evaluate/evaluate.h"

#include <math.h>

/* ---- tables --------------------------------------------------------------------------------------- */

static size_t place_column(const struct table *t)
{
    const struct table_decl *d = table_declared(t);
    for (size_t i = 0; i < d->column_count; i++)
        if (d->columns[i].type == TABLE_REF && strcmp(d->columns[i].refers, "place") == 0)
            return i;
    return SIZE_MAX;
}

/* By place, the first row about it. */
static uint32_t *table_row_of_places(struct evaluator *ev, const struct table *t)
{
    size_t which = 0, column = place_column(t);
    while (ev->e->tables.items[which] != t)
        which++;
    while (ev->table_rows.count <= which)
        *vec_push(&ev->table_rows) = NULL;
    if (ev->table_rows.items[which])
        return ev->table_rows.items[which];
    uint32_t *rows = mem_alloc((ev->e->place_count + 1) * sizeof *rows);
    memset(rows, 0xff, ev->e->place_count * sizeof *rows);
    for (uint32_t i = (uint32_t)table_row_count(t); column != SIZE_MAX && i-- > 0;) {
        uint32_t place = table_row(t, i)[column].row;
        if (place < ev->e->place_count)
            rows[place] = i;
    }
    return ev->table_rows.items[which] = rows;
}

/* ---- facts ------------------------------------------------------------------------------------------- */

static const char *const place_facts[] = {"place.depth",      "place.innermost",   "place.instances",
                                          "place.has_source", "place.irreducible", "path.repeats"};
static const char *const run_facts[] = {"run.seconds", "run.processes",  "run.threads",
                                        "run.ranks",   "run.processors", "run.in_runtimes"};

static double run_fact(const struct experiment *e, uint32_t run, int which)
{
    uint64_t begin = UINT64_MAX, end = 0;
    size_t first = run < e->run_count ? e->runs[run].process_first : 0,
           count = run < e->run_count ? e->runs[run].process_count : e->process_count;
    struct hpcprof_parts parts = hpcprof_parts(e->processes + first, count);
    for (const struct hpcprof_process *p = e->processes + first; p < e->processes + first + count; p++)
        if (p->start_ns && p->end_ns >= p->start_ns && (!parts.ranks || p->rank >= 0)) {
            begin = p->start_ns < begin ? p->start_ns : begin;
            end = p->end_ns > end ? p->end_ns : end;
        }
    double seconds = end > begin ? (double)(end - begin) / 1e9 : NAN;
    double facts[] = {seconds, parts.processes, parts.threads, parts.ranks};
    bool none_is_known = which == 3 && parts.processes > 0; /* a program without ranks has none */
    return facts[which] > 0 || none_is_known ? facts[which] : NAN;
}

/* ---- operands --------------------------------------------------------------------------------------------- */

struct binder {
    struct evaluator *ev;
    struct resolved *of;
    struct domain *domain; /* the places it will be tested for */
};

static void lacks(struct binder *b, const char *name)
{
    for (size_t i = 0; i < b->of->lacking.count; i++)
        if (strcmp(b->of->lacking.items[i], name) == 0)
            return;
    *vec_push(&b->of->lacking) = arena_strdup(b->ev->arena, name);
}

static uint32_t run_of(const struct binder *b, const struct expr_operand *o)
{
    const struct experiment *e = b->ev->e;
    if (!*o->run)
        return b->of->run;
    for (uint32_t i = 0; i < e->run_count; i++)
        if (strcmp(strtab_get(e->strings, e->runs[i].name), o->run) == 0)
            return i;
    if (strcmp(o->run, "BASE") == 0 && e->run_count > 1)
        return 0;
    if (strcmp(o->run, "NEW") == 0 && e->run_count > 1)
        return 1;
    return e->run_count + 1 < RUN_NONE ? (uint32_t)e->run_count : 0;
}

/* The operand under one of the names that METRIC gives it. */
static size_t find_metric(const struct binder *b, const struct expr_operand *o, bool base)
{
    const struct experiment *e = b->ev->e;
    const struct alias *a = properties_alias(b->ev->p, o->name);
    uint32_t run = run_of(b, o);
    struct expr_operand one = *o;
    size_t found = SIZE_MAX;
    if (base)
        one.statistic = EXPR_NO_STATISTIC;
    if (*o->run && run >= e->run_count)
        return SIZE_MAX;
    for (size_t i = 0; found == SIZE_MAX && i < (a ? a->names.count : 1); i++) {
        one.name = a ? (char *)a->names.items[i] : o->name;
        found = experiment_find_metric(e, run, &one);
    }
    return found;
}

static void want_column(struct evaluator *ev, size_t tree, size_t metric, enum value_form form)
{
    size_t n = ev->e->trees[tree].node_count;
    double **column = &ev->columns[(tree * ev->e->metric_count + metric) * VALUE_FORMS + form];
    if (*column)
        return;
    *column = mem_alloc((n + 1) * sizeof **column);
    experiment_column(ev->e, tree, metric, form, 0, n, *column);
}

static double parts_of_run(const struct experiment *e, uint32_t run, enum expr_dimension over)
{
    double ranks = run_fact(e, run, 3);
    return over == EXPR_THREADS ? run_fact(e, run, 2) : ranks > 0 ? ranks : run_fact(e, run, 1);
}

static bool bind_metric(struct binder *b, const struct expr_operand *o, struct source *s)
{
    const struct experiment *e = b->ev->e;
    size_t tree = b->domain->table ? TREE_SCOPES : b->domain->tree;
    s->metric = find_metric(b, o, false);
    if (s->metric == SIZE_MAX)
        return false;
    s->kind = FROM_METRIC;
    s->form = o->form == EXPR_FORM_EXCLUSIVE ? VALUE_EXCLUSIVE : VALUE_INCLUSIVE;
    bool sampled = o->statistic == EXPR_STAT_MIN || o->statistic == EXPR_STAT_MAX || o->statistic == EXPR_STAT_MEAN;
    s->error_metric = o->statistic == EXPR_NO_STATISTIC ? s->metric : sampled ? find_metric(b, o, true) : SIZE_MAX;
    s->parts = o->statistic == EXPR_STAT_MEAN ? parts_of_run(e, b->of->run, o->over) : 1;
    s->absent_is_zero = *o->run && e->metrics[s->metric].summed;
    want_column(b->ev, tree, s->metric, s->form);
    return true;
}

size_t evaluator_time(const struct evaluator *ev, uint32_t run)
{
    struct resolved of = {.run = run};
    struct binder b = {.ev = (struct evaluator *)ev, .of = &of};
    struct expr_operand time = {.name = (char *)"time", .run = (char *)""};
    size_t found = find_metric(&b, &time, false);
    for (size_t i = ev->e->run_count; found == SIZE_MAX && i-- > 0;) {
        of.run = (uint32_t)i;
        found = find_metric(&b, &time, false);
    }
    return found;
}

/* Facts that a measurement may lack; formulas give a default: or(run.processors, 1). */
enum { RUN_PROCESSORS = 4, RUN_IN_RUNTIMES };

/* How many processors the run's processes could use; NaN: that was not noted. */
static double run_processors(const struct experiment *e, uint32_t run)
{
    const struct experiment_run *r = run < e->run_count ? &e->runs[run] : NULL;
    for (uint32_t i = 0; r && i < r->environment_count; i++)
        if (strcmp(strtab_get(e->strings, r->environment[i].name), "processors usable") == 0) {
            double n = strtod(strtab_get(e->strings, r->environment[i].value), NULL);
            return n > 0 ? n : NAN;
        }
    return NAN;
}

/* The part of the run's time inside libraries of threads, where threads spin while they wait. */
static double run_in_runtimes(const struct binder *b, uint32_t run)
{
    const struct experiment *e = b->ev->e;
    size_t metric = evaluator_time(b->ev, run);
    double inside = 0;
    if (metric == SIZE_MAX)
        return NAN;
    for (place_ix i = 0; i < e->place_count; i++)
        if (e->places[i].kind == PLACE_MODULE &&
            resolved_name_fits(RUNTIME_LIBRARIES, strtab_get(e->strings, e->places[i].name))) {
            double value = experiment_value(e, metric, i, VALUE_INCLUSIVE);
            inside += isnan(value) ? 0 : value;
        }
    return inside / experiment_value(e, metric, 0, VALUE_INCLUSIVE);
}

static bool bind_fact(struct binder *b, const struct expr_operand *o, struct source *s)
{
    size_t run = str_index(o->name, run_facts, ARRAY_SIZE(run_facts)),
           place = str_index(o->name, place_facts, ARRAY_SIZE(place_facts));
    bool is_of_run = run < ARRAY_SIZE(run_facts), is_of_place = place < ARRAY_SIZE(place_facts);
    if (is_of_run && *o->run && !b->ev->options.one_program && run_of(b, o) >= b->ev->e->run_count)
        return false; /* a run that is not there */
    if (is_of_run) {
        s->kind = FROM_CONSTANT;
        /* experiments on one program are alike: the first one counts */
        uint32_t of = b->ev->options.one_program ? 0 : run_of(b, o);
        s->constant = run == RUN_PROCESSORS    ? run_processors(b->ev->e, of)
                      : run == RUN_IN_RUNTIMES ? run_in_runtimes(b, of)
                                               : run_fact(b->ev->e, of, (int)run);
        if (isnan(s->constant) && run < RUN_PROCESSORS)
            lacks(b, o->name);
        return true;
    }
    s->kind = FROM_PLACE;
    s->fact = (int)place;
    return is_of_place;
}

static bool bind_row(struct binder *b, const struct expr_operand *o, struct source *s)
{
    s->kind = FROM_ROW;
    if (!b->domain->table || *o->run || o->statistic != EXPR_NO_STATISTIC)
        return false;
    if (!diagnose_table_path(b->ev->e, b->domain->table, o->name, s->through, s->columns, &s->column_count))
        return false;
    if (o->at == EXPR_AT_TOTAL) { /* of all rows that the filters let through; bind_domain comes before */
        s->constant = NAN;
        for (size_t i = 0; i < b->domain->count; i++) {
            double value;
            struct source here = *s;
            here.at = EXPR_HERE;
            resolved_operand_values(b->ev, b->of, &here, &b->domain->ids[i], 1, &value);
            if (!isnan(value) && resolved_filters_hold(b->ev, b->of, b->domain->ids[i]))
                s->constant = isnan(s->constant) ? value : s->constant + value;
        }
        s->kind = FROM_CONSTANT;
    }
    return true;
}

/* The table in "loop_quality.cycles", if it is one; the caller's to mem_free. */
static char *table_named(const struct binder *b, const char *name)
{
    const char *dot = strchr(name, '.');
    char *table = dot ? mem_strndup(name, (size_t)(dot - name)) : NULL;
    if (table && !table_list_find(&b->ev->e->tables, table) && !properties_table_maker(b->ev->p, table)) {
        mem_free(table);
        return NULL;
    }
    return table;
}

/* loop_quality.cycles at a place. */
static bool bind_table(struct binder *b, const struct expr_operand *o, struct source *s)
{
    char *table = table_named(b, o->name);
    s->kind = FROM_NOTHING;
    s->table = table ? table_list_find(&b->ev->e->tables, table) : NULL;
    mem_free(table);
    if (!s->table ||
        !diagnose_table_path(b->ev->e, s->table, strchr(o->name, '.') + 1, s->through, s->columns, &s->column_count))
        return false;
    s->kind = FROM_TABLE;
    table_row_of_places(b->ev, s->table);
    return true;
}

static bool bind_property(struct binder *b, const struct expr_operand *o, struct source *s)
{
    static const char *const parts[] = {"", ".severity", ".confidence"};
    if (!b->of->property->meta)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        if (!str_ends(o->name, parts[i]))
            continue;
        char *bare = mem_strndup(o->name, strlen(o->name) - strlen(parts[i]));
        s->property = properties_find(b->ev->p, bare);
        mem_free(bare);
        s->fact = (int)i;
        s->kind = FROM_PROPERTY;
        if (s->property != NONE)
            return true;
    }
    return false;
}

/* Names what may be missing as a person would ask for it: METRIC's first name. */
static void lack_operand(struct binder *b, const struct expr_operand *o)
{
    const struct alias *a = properties_alias(b->ev->p, o->name);
    struct buf text = {0};
    char *table = table_named(b, o->name);
    struct expr_operand plain = {
        .name = a ? (char *)a->names.items[0] : o->name, .run = (char *)"", .statistic = o->statistic, .over = o->over};
    if (table && !table_list_find(&b->ev->e->tables, table)) {
        buf_printf(&text, "table %s", table);
        lacks(b, text.bytes);
    } else if (*o->run && run_of(b, o) >= b->ev->e->run_count)
        lacks(b, "a second run");
    else if (o->statistic != EXPR_NO_STATISTIC && find_metric(b, o, true) != SIZE_MAX)
        lacks(b, o->over == EXPR_THREADS ? "several threads" : "several processes");
    else if (plain.statistic == EXPR_NO_STATISTIC || a)
        lacks(b, plain.name);
    else {
        expr_operand_text(&plain, &text);
        lacks(b, text.bytes);
    }
    mem_free(table);
    buf_release(&text);
}

/* "r.CYCLES" with the context's name before it is the papers' way to say CYCLES. */
static bool bind_operand(struct binder *b, const struct expr_operand *o, struct source *s)
{
    *s = (struct source){.at = o->at, .error_metric = SIZE_MAX, .constant = NAN, .parts = 1};
    bool found = bind_row(b, o, s) || bind_fact(b, o, s) || bind_property(b, o, s) || bind_metric(b, o, s) ||
                 bind_table(b, o, s);
    const char *dot = strchr(o->name, '.');
    if (!found && dot && dot - o->name <= 2 && dot[1]) {
        struct expr_operand bare = *o;
        bare.name = (char *)dot + 1;
        found = bind_metric(b, &bare, s);
    }
    if (!found) {
        s->kind = FROM_NOTHING;
        return false;
    }
    return true;
}

/* ---- properties ------------------------------------------------------------------------------------------- */

static bool is_need(const struct property *p, const char *name)
{
    for (size_t i = 0; i < p->needs.count; i++)
        if (strcmp(p->needs.items[i], name) == 0)
            return true;
    return p->needs.count == 0;
}

static void bind_units(struct binder *b, struct resolved_expr *x)
{
    struct VEC(const char *) units = {0};
    for (size_t i = 0; i < expr_name_count(x->expr); i++) {
        const struct source *s = &x->sources[i];
        *vec_push(&units) =
            s->kind == FROM_METRIC ? strtab_get(b->ev->e->strings, b->ev->e->metrics[s->metric].unit) : "";
    }
    *vec_push(&units) = "";
    expr_bind_units(x->expr, units.items, b->of->property->name, NULL); /* of two kinds: seconds */
    vec_release(&units);
}

static struct resolved_expr bind_expr(struct binder *b, const struct expr *expr, bool needed)
{
    struct resolved_expr x = {0};
    if (!expr)
        return x;
    x.expr = expr_copy(expr);
    size_t n = expr_name_count(expr);
    x.sources = mem_calloc(n + 1, sizeof *x.sources);
    for (size_t i = 0; i < n; i++) {
        const struct expr_operand *o = expr_operand(expr, i);
        if (!bind_operand(b, o, &x.sources[i]) && needed && is_need(b->of->property, o->name))
            lack_operand(b, o);
    }
    bind_units(b, &x);
    return x;
}

static void bind_texts(struct binder *b)
{
    const struct property *p = b->of->property;
    const struct text *texts[] = {&p->title, &p->evidence, &p->explanation, &p->remedy};
    for (size_t t = 0; t < ARRAY_SIZE(texts); t++)
        for (size_t i = 0; i < texts[t]->count; i++)
            *vec_push(&b->of->pieces) = bind_expr(b, texts[t]->items[i].expr, false);
}

/* ---- domains --------------------------------------------------------------------------------------------------- */

static bool wanted_kind(const struct evaluator *ev, uint32_t kinds, place_ix place)
{
    uint8_t kind = ev->e->places[place].kind;
    if (kinds & FOR_PATH)
        return kind == PLACE_PROC || kind == PLACE_LOOP;
    return (kinds & 1u << kind) || (kinds & FOR_INNERMOST && ev->innermost[place]);
}

static struct domain *domain_of_kinds(struct evaluator *ev, uint32_t kinds, size_t tree)
{
    for (size_t i = 0; i < ev->domains.count; i++)
        if (ev->domain_kinds.items[i] == kinds)
            return ev->domains.items[i];
    struct domain *d = arena_alloc(ev->arena, sizeof *d);
    size_t nodes = ev->e->trees[tree].node_count;
    uint32_t *ids = arena_alloc(ev->arena, (nodes + 1) * sizeof *ids);
    d->tree = tree;
    for (uint32_t i = 0; i < nodes; i++)
        if (wanted_kind(ev, kinds, experiment_node_place(ev->e, tree, i)))
            ids[d->count++] = i;
    d->ids = ids;
    *vec_push(&ev->domains) = d;
    *vec_push(&ev->domain_kinds) = kinds;
    return d;
}

/* Of several runs: the column with the run of a row; SIZE_MAX: there is none. */
static size_t run_column(const struct evaluator *ev, const struct table *t)
{
    size_t column = ev->e->run_count > 1 ? table_column_of(t, "run") : SIZE_MAX;
    const struct table_column *c = column == SIZE_MAX ? NULL : &table_declared(t)->columns[column];
    return c && c->type == TABLE_REF && strcmp(c->refers, "run") == 0 ? column : SIZE_MAX;
}

static struct domain *domain_of_rows(struct binder *b, const struct property *p, const struct table *t)
{
    struct domain *d = arena_alloc(b->ev->arena, sizeof *d);
    uint32_t *ids = arena_alloc(b->ev->arena, (table_row_count(t) + 1) * sizeof *ids);
    size_t run = run_column(b->ev, t), count = 0;
    for (uint32_t i = 0; i < table_row_count(t); i++)
        if (run == SIZE_MAX || b->of->run == RUN_NONE || table_row(t, i)[run].row == b->of->run)
            ids[count++] = i;
    *d = (struct domain){.table = t, .ids = ids, .count = count};
    size_t column = place_column(t);
    if (p->at_column) {
        if (!diagnose_table_path(b->ev->e, t, p->at_column, d->place_through, d->place_path, &d->place_path_count))
            d->place_path_count = 0;
    } else if (column != SIZE_MAX) {
        d->place_through[0] = t;
        d->place_path[0] = column;
        d->place_path_count = 1;
    }
    const struct table_column *last = d->place_path_count ? &table_declared(d->place_through[d->place_path_count - 1])
                                                                 ->columns[d->place_path[d->place_path_count - 1]]
                                                          : NULL;
    if (last && (last->type != TABLE_REF || strcmp(last->refers, "place") != 0))
        d->place_path_count = 0;
    return d;
}

static struct domain *bind_domain(struct binder *b)
{
    const struct property *p = b->of->property;
    if (p->table) {
        const struct table *t = table_list_find(&b->ev->e->tables, p->table);
        if (t)
            return domain_of_rows(b, p, t);
        char *lacking = mem_printf("table %s", p->table);
        lacks(b, lacking);
        mem_free(lacking);
        return NULL;
    }
    size_t tree = p->kinds & FOR_PATH ? experiment_calls(b->ev->e) : b->ev->place_tree;
    if (tree == SIZE_MAX)
        lacks(b, "call paths");
    return tree == SIZE_MAX ? NULL : domain_of_kinds(b->ev, p->kinds, tree);
}

/* If a table is missing, or formulas name unmeasured metrics. */
static void say_why_not(struct binder *b)
{
    struct buf why = {0};
    for (size_t i = 0; i < b->of->lacking.count; i++) {
        const char *lacking = b->of->lacking.items[i];
        const char *made_by =
            str_starts(lacking, "table ") ? properties_table_maker(b->ev->p, lacking + strlen("table ")) : NULL;
        buf_printf(&why, "%s%s", i ? ", " : "needs ", lacking);
        if (made_by)
            buf_printf(&why, " (hpcview %s)", made_by);
    }
    if (why.len)
        b->of->why_not = arena_strdup(b->ev->arena, why.bytes);
    buf_release(&why);
}

static struct resolved *resolve(struct evaluator *ev, uint32_t index, uint32_t run)
{
    const struct property *p = ev->p->list.items[index];
    struct resolved *of = mem_calloc(1, sizeof *of);
    struct domain nowhere = {0};
    struct binder b = {.ev = ev, .of = of};
    *of = (struct resolved){.property = p, .index = index, .run = run};
    b.domain = bind_domain(&b);
    of->domain = b.domain;
    b.domain = b.domain ? b.domain : &nowhere;
    size_t lacking = of->domain ? SIZE_MAX : of->lacking.count;
    for (size_t i = 0; i < p->conditions.count; i++)
        *vec_push(&of->conditions) = bind_expr(&b, p->conditions.items[i].expr, true);
    for (size_t i = 0; i < p->confidences.count; i++)
        *vec_push(&of->confidences) = bind_expr(&b, p->confidences.items[i].expr, true);
    for (size_t i = 0; i < p->severities.count; i++)
        *vec_push(&of->severities) = bind_expr(&b, p->severities.items[i].expr, true);
    for (size_t i = 0; i < p->leasts.count; i++)
        *vec_push(&of->leasts) = bind_expr(&b, p->leasts.items[i].expr, true);
    bind_texts(&b);
    if (lacking < of->lacking.count) /* without the table, its columns are not missed one by one */
        of->lacking.count = lacking;
    say_why_not(&b);
    if (of->why_not)
        of->domain = NULL;
    return of;
}

/* Rows of a table without a column for the run. */
static bool is_of_all_runs(const struct evaluator *ev, const struct property *p)
{
    const struct table *t = p->table ? table_list_find(&ev->e->tables, p->table) : NULL;
    return p->table && (!t || run_column(ev, t) == SIZE_MAX);
}

/* Names runs itself: the same from every run. */
static void note_run(void *ctx, const struct expr *e)
{
    for (size_t i = 0; i < expr_name_count(e); i++)
        if (*expr_operand(e, i)->run)
            *(bool *)ctx = true;
}

void evaluator_resolve(struct evaluator *ev)
{
    for (uint32_t i = 0; i < ev->p->list.count; i++) {
        const struct property *p = ev->p->list.items[i];
        bool once = ev->options.one_program || ev->e->run_count < 2 || is_of_all_runs(ev, p);
        property_each_expr(p, note_run, &once);
        for (uint32_t run = 0; run < (once ? 1 : ev->e->run_count); run++)
            *vec_push(&ev->resolved) =
                resolve(ev, i, once && (ev->e->run_count != 1 || ev->options.one_program) ? RUN_NONE : run);
    }
}
