/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of places: selection, cost, order. */
#include "metrics/report/report.h"

#include <fnmatch.h>
#include <math.h>

/* ---- rows ------------------------------------------------------------------------------- */

double *print_row_values(struct view *t, const struct row *r)
{
    return t->values.items + r->values;
}

double print_value_of(const struct view *t, const struct row *r, size_t metric, bool exclusive)
{
    return t->values.items[r->values + metric + (exclusive ? t->e->metric_count : 0)];
}

void print_find_surroundings(const struct experiment *e, str_id **module_name, place_ix **procedure)
{
    *module_name = mem_calloc(e->place_count, sizeof **module_name);
    *procedure = mem_calloc(e->place_count, sizeof **procedure);
    for (place_ix i = 1; i < e->place_count; i++) {
        const struct place *p = &e->places[i];
        bool here = p->kind == PLACE_PROC || p->kind == PLACE_INLINE;
        (*module_name)[i] = p->kind == PLACE_MODULE ? p->name : (*module_name)[p->parent];
        (*procedure)[i] = here ? i : (*procedure)[p->parent];
    }
}

static size_t new_values(struct view *t)
{
    size_t at = t->values.count;
    for (size_t i = 0; i < 2 * t->e->metric_count; i++)
        *vec_push(&t->values) = NAN;
    return at;
}

struct row print_row(struct view *t, place_ix i)
{
    const struct experiment *e = t->e;
    const struct place *p = &e->places[i], *procedure = &e->places[t->procedure[i]];
    bool inner = p->kind == PLACE_LOOP || p->kind == PLACE_LINE;
    /* a line without a file is assumed in its procedure's file */
    uint32_t file = p->kind == PLACE_LINE && p->line_first == 0 ? procedure->file : p->file;
    struct row r = {.kind = p->kind,
                    .module = t->module_name[i],
                    .file = file == SOURCE_NONE ? 0 : e->files[file].name,
                    .name = inner ? procedure->name : p->name,
                    .line = p->line_first,
                    .line_last = p->line_last,
                    .on_line = p->on_line,
                    .instance = p->instance,
                    .instances = p->instances,
                    .address = p->kind == PLACE_LOOP && p->line_first == 0 ? p->address : 0};
    r.full_name = p->kind == PLACE_PROC ? p->full_name : r.name;
    if (t->options->level == PRINT_FUNCTION) {
        r.name = source_function_name(e->strings, r.name);
        r.full_name = source_function_name(e->strings, r.full_name);
    }
    r.values = new_values(t);
    return r;
}

/* Places in a module, file or procedure whose name matches, and that itself. */
void print_find_scope(struct view *t)
{
    const struct experiment *e = t->e;
    t->in_scope = mem_calloc(e->place_count, 1);
    for (place_ix i = 1; i < e->place_count; i++) {
        const struct place *p = &e->places[i];
        bool named =
            p->kind == PLACE_MODULE || p->kind == PLACE_FILE || p->kind == PLACE_PROC || p->kind == PLACE_INLINE;
        t->in_scope[i] =
            t->in_scope[p->parent] || (named && fnmatch(t->options->scope, strtab_get(e->strings, p->name), 0) == 0);
    }
}

static bool is_in_scope(const struct view *t, place_ix place)
{
    return !t->in_scope || t->in_scope[place];
}

void print_rows_of_places(struct view *t)
{
    const struct experiment *e = t->e;
    for (place_ix i = 0; i < e->place_count; i++) {
        if (e->places[i].kind != print_levels[t->options->level].kind || !is_in_scope(t, i))
            continue;
        struct row r = print_row(t, i);
        for (size_t m = 0; m < e->metric_count; m++) {
            print_row_values(t, &r)[m] = experiment_value(e, m, i, VALUE_INCLUSIVE);
            print_row_values(t, &r)[e->metric_count + m] = experiment_value(e, m, i, VALUE_EXCLUSIVE);
        }
        *vec_push(&t->rows) = r;
    }
}

static void add_value(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

/* ---- one row for several places of one source construct ------------------------------------- */

/* The place that gets the cost: a line its own or its function's, a loop its own; PLACE_NONE: none. */
static place_ix merged_place(const struct view *t, place_ix i)
{
    uint8_t kind = t->e->places[i].kind;
    if (t->options->level == PRINT_LOOP)
        return kind == PLACE_LOOP ? i : PLACE_NONE;
    if (kind != PLACE_LINE)
        return PLACE_NONE;
    return t->options->level == PRINT_FUNCTION ? t->procedure[i] : i;
}

/* Lines: one row per line of the source, for all its copies in loops and calls, and without a line one per
   procedure. Functions: one row, called or inlined. Loops: one row for all copies. */
static str_id merged_key(const struct view *t, place_ix i, struct strtab *keys)
{
    const struct experiment *e = t->e;
    const struct place *p = &e->places[i], *procedure = &e->places[t->procedure[i]];
    uint32_t file = p->kind == PLACE_LINE && p->line_first == 0 ? procedure->file : p->file;
    uint32_t key[] = {t->module_name[i], file, p->line_first, p->line_first ? 0 : procedure->name};
    if (p->kind == PLACE_LOOP)
        key[1] = key[2] = key[3] = p->same;
    else if (p->kind != PLACE_LINE) {
        key[2] = source_function_name(e->strings, p->full_name);
        key[3] = 0;
    }
    return strtab_addn(keys, (const char *)key, sizeof key);
}

/* Is it inside of a place of the same source (a function inlined into itself)? Its cost is counted there. */
static bool inside_same(const struct experiment *e, place_ix i)
{
    place_ix up = e->places[i].parent;
    while (up != PLACE_NONE && e->places[up].same != e->places[i].same)
        up = e->places[up].parent;
    return up != PLACE_NONE;
}

static void add_to_row(struct view *t, struct row *row, place_ix i)
{
    const struct experiment *e = t->e;
    bool whole = e->places[i].kind != PLACE_LOOP || !inside_same(e, i);
    double *values = print_row_values(t, row);
    row->places++;
    for (size_t m = 0; m < e->metric_count; m++) {
        if (whole)
            add_value(&values[m], experiment_value(e, m, i, VALUE_INCLUSIVE));
        if (e->places[i].kind == PLACE_LOOP)
            add_value(&values[e->metric_count + m], experiment_value(e, m, i, VALUE_EXCLUSIVE));
    }
}

/* Values that cannot be added up are computed from those that can. */
static void compute_merged(struct view *t, struct row *row)
{
    size_t n = t->e->metric_count;
    double *values = print_row_values(t, row), *sums = mem_alloc(2 * n * sizeof *sums);
    memcpy(sums, values, 2 * n * sizeof *sums);
    for (size_t m = 0; m < n; m++) {
        values[m] = experiment_compute(t->e, m, sums);
        values[n + m] = experiment_compute(t->e, m, sums + n);
    }
    mem_free(sums);
}

void print_merged_rows(struct view *t)
{
    const struct experiment *e = t->e;
    struct strtab *keys = strtab_create();
    struct VEC(size_t) row_of_key = {0};
    for (place_ix i = 1; i < e->place_count; i++) { /* below the program */
        place_ix united = merged_place(t, i);
        if (united == PLACE_NONE || !is_in_scope(t, i))
            continue;
        str_id k = merged_key(t, united, keys);
        while (row_of_key.count <= k)
            *vec_push(&row_of_key) = SIZE_MAX;
        if (row_of_key.items[k] == SIZE_MAX) {
            row_of_key.items[k] = t->rows.count;
            *vec_push(&t->rows) = print_row(t, united);
        }
        struct row *row = &t->rows.items[row_of_key.items[k]];
        const struct place *procedure = &e->places[t->procedure[i]];
        if (t->options->level == PRINT_LINE && row->name != procedure->name)
            row->name = row->full_name = 0; /* in several procedures */
        if (row->kind == PLACE_LOOP && e->places[united].instances > 1 && row->instance != e->places[united].instance)
            row->instance = row->instances = 1; /* all copies */
        add_to_row(t, row, i);
    }
    for (size_t i = 0; i < t->rows.count; i++)
        if (t->rows.items[i].places > 1)
            compute_merged(t, &t->rows.items[i]);
    vec_release(&row_of_key);
    strtab_free(keys);
}

static bool has_data(const struct view *t, const struct row *r)
{
    for (size_t i = 0; i < t->shown.count; i++)
        if (!isnan(print_value_of(t, r, t->shown.items[i], false)) ||
            !isnan(print_value_of(t, r, t->shown.items[i], true)))
            return true;
    return false;
}

void print_drop_empty_rows(struct view *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->rows.count; i++)
        if (has_data(t, &t->rows.items[i]) && !(t->options->format == PRINT_TEXT && t->rows.items[i].quiet))
            t->rows.items[kept++] = t->rows.items[i];
    t->rows.count = kept;
}

/* The reference of a row's share, in the metric that sorts: for a difference of runs, which may be 0 in total, the
   larger run. */
double print_whole(const struct view *t)
{
    double whole = fabs(experiment_value(t->e, t->sort_metric, 0, VALUE_INCLUSIVE));
    for (size_t i = 0; i < t->shown.count && t->e->metrics[t->sort_metric].formula; i++) {
        const struct metric *m = &t->e->metrics[t->shown.items[i]];
        double other = experiment_value(t->e, t->shown.items[i], 0, VALUE_INCLUSIVE);
        if (m->formula == 0 && m->unit == t->e->metrics[t->sort_metric].unit && !(other <= whole))
            whole = other;
    }
    return isnan(whole) ? 0 : whole;
}

void print_drop_small_rows(struct view *t)
{
    double least = print_whole(t) * t->options->threshold / 100;
    size_t kept = 0;
    for (size_t i = 0; i < t->rows.count && t->options->threshold > 0; i++)
        if (fabs(print_value_of(t, &t->rows.items[i], t->sort_metric, t->sort_exclusive)) >= least)
            t->rows.items[kept++] = t->rows.items[i];
    t->rows.count = t->options->threshold > 0 ? kept : t->rows.count;
}

/* ---- order ------------------------------------------------------------------------------ */

static int compare_text(const struct view *t, str_id a, str_id b)
{
    return a == b ? 0 : strcmp(strtab_get(t->e->strings, a), strtab_get(t->e->strings, b));
}

/* Largest first, blanks last; equal ones by location. */
int print_compare_rows(const void *a, const void *b, void *ctx)
{
    const struct view *t = ctx;
    const struct row *x = a, *y = b;
    double v = print_value_of(t, x, t->sort_metric, t->sort_exclusive),
           w = print_value_of(t, y, t->sort_metric, t->sort_exclusive);
    return order_largest(v, w)
               ?: compare_text(t, x->module, y->module)
               ?: compare_text(t, x->file, y->file)
               ?: order_of(x->line, y->line)
               ?: compare_text(t, x->name, y->name)
               ?: compare_text(t, x->full_name, y->full_name)
               ?: order_of(x->values, y->values);
}

static bool sorts_by(const struct view *t, size_t metric, const char *wanted, bool *exclusive)
{
    str_id names[] = {t->e->metrics[metric].name, t->e->metrics[metric].display_name};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const char *name = strtab_get(t->e->strings, names[i]);
        size_t n = strlen(name);
        if (strncmp(name, wanted, n) != 0)
            continue;
        *exclusive = strcmp(wanted + n, " (E)") == 0;
        if (wanted[n] == '\0' || (*exclusive && print_levels[t->options->level].exclusive))
            return true;
    }
    return false;
}

static int no_such_metric(const struct view *t, const char *wanted, struct err *err)
{
    struct VEC(const char *) names = {0};
    for (size_t i = 0; i < t->e->metric_count; i++)
        *vec_push(&names) = strtab_get(t->e->strings, t->e->metrics[i].name);
    *vec_push(&names) = NULL;
    const char *near = expr_metric_nearest(wanted, names.items);
    if (!near)
        near = names.items[0];
    err_set(err, ERR_USAGE, "no metric '%s' to sort by%s%s%s", wanted, near ? "; did you mean '" : "", near ? near : "",
            near ? "'?" : "");
    vec_release(&names);
    return -1;
}

int print_choose_order(struct view *t, struct err *err)
{
    const struct experiment *e = t->e;
    const char *wanted = t->options->sort_by;
    t->sort_metric = t->shown.count ? t->shown.items[0] : 0;
    for (size_t i = 0; i < e->metric_count; i++)
        if (!wanted && e->metrics[i].sort_by)
            t->sort_metric = i;
    for (size_t i = 0; wanted && i < e->metric_count; i++)
        if (sorts_by(t, i, wanted, &t->sort_exclusive)) {
            t->sort_metric = i;
            return 0;
        }
    return wanted ? no_such_metric(t, wanted, err) : 0;
}
