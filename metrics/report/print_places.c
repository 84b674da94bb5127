/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of places as text for people. */
#include "metrics/report/report.h"

#include <math.h>

/* ---- text ------------------------------------------------------------------------------- */

static char *percent_text(double v, double whole)
{
    return isnan(v) || isnan(whole) || whole == 0 ? mem_strdup("") : mem_printf("%.1f", 100 * v / whole);
}

struct print_scale print_metric_scale(const struct experiment *e, size_t metric)
{
    return print_scale_of(strtab_get(e->strings, e->metrics[metric].unit),
                          experiment_value(e, metric, 0, VALUE_INCLUSIVE));
}

/* The metric that says how far chance goes in this one; SIZE_MAX: none does. */
static size_t error_of(const struct experiment *e, size_t metric)
{
    char *name = mem_printf("%s.error", strtab_get(e->strings, e->metrics[metric].name));
    size_t i = 0;
    while (i < e->metric_count && strcmp(strtab_get(e->strings, e->metrics[i].name), name) != 0)
        i++;
    mem_free(name);
    return i < e->metric_count ? i : SIZE_MAX;
}

/* A number; with '~' where two standard errors are more than it. */
static char *number_text(const struct view *t, const struct row *r, size_t metric, bool exclusive, size_t error)
{
    double value = print_value_of(t, r, metric, exclusive);
    struct print_scale scale = print_metric_scale(t->e, metric);
    char *text = print_text_scaled(value, &scale);
    if (error == SIZE_MAX || !(fabs(value) < 2 * print_value_of(t, r, error, exclusive)))
        return text;
    char *marked = mem_printf("~%s", text);
    mem_free(text);
    return marked;
}

void print_metric_columns(const struct view *t, struct text_table *text, size_t metric, bool exclusive)
{
    const struct experiment *e = t->e;
    const struct metric *m = &e->metrics[metric];
    double whole = experiment_value(e, metric, 0, VALUE_INCLUSIVE);
    const char *suffix = exclusive ? " (E)" : "";
    size_t error = error_of(e, metric);
    if (m->percent) {
        struct text_column *c = print_text_table_add(text, "%", suffix, false);
        for (size_t i = 0; i < t->rows.count; i++)
            print_text_column_add(c, percent_text(print_value_of(t, &t->rows.items[i], metric, exclusive), whole));
    }
    struct text_column *c = print_text_table_add(text, strtab_get(e->strings, m->display_name), suffix, false);
    for (size_t i = 0; i < t->rows.count; i++)
        print_text_column_add(c, number_text(t, &t->rows.items[i], metric, exclusive, error));
}

void print_location(const struct experiment *e, const struct row *r, struct buf *out)
{
    buf_safe(out, strtab_get(e->strings, r->file));
    if (r->file && r->line)
        buf_printf(out, ":%u", r->line);
    else if (r->address)
        buf_printf(out, "%s%#llx", r->file ? ", " : "", (unsigned long long)r->address);
    if (r->file && r->line && r->line_last > r->line)
        buf_printf(out, "-%u", r->line_last);
    if (r->on_line)
        buf_printf(out, ", loop %u of its line", r->on_line);
    if (r->instances > 1)
        buf_printf(out, " (%u of %u)", r->instance, r->instances);
}

static char *location_of(const struct view *t, const struct row *r)
{
    struct buf b = {0};
    struct row at = *r;
    if (t->options->level != PRINT_LOOP)
        at.line_last = 0;
    buf_str(&b, "");
    print_location(t->e, &at, &b);
    return b.bytes;
}

/* Indented by depth; beyond the depth that fits next to numbers, the depth is a number. */
static char *tree_text(const struct view *t, const struct row *r)
{
    enum { INDENTED_MOST = 30 };
    unsigned shown = r->indent < INDENTED_MOST ? r->indent : INDENTED_MOST;
    char *name = print_text_of_name(strtab_get(t->e->strings, r->name)), *text;
    const char *kind = r->kind == PLACE_LOOP ? "loop in " : r->kind == PLACE_INLINE ? "inlined " : "";
    kind = !r->relation ? kind : strcmp(r->relation, "caller") == 0 ? "called by " : "calls ";
    if (shown < r->indent)
        text = mem_printf("%*s(+%u) %s%s", 2 * (int)shown, "", r->indent - shown, kind, name);
    else
        text = mem_printf("%*s%s%s", 2 * (int)shown, "", kind, name);
    mem_free(name);
    return text;
}

/* The callee, and the location of the call. */
static void add_tree_columns(const struct view *t, struct text_table *text)
{
    static const char *const heads[][2] = {[PRINT_PATH] = {"calls", "called at"},
                                           [PRINT_CALLER] = {"procedure with its callers", "calls at"},
                                           [PRINT_CALLS] = {"procedure with callers and callees", "at"}};
    struct text_column *c = print_text_table_add(text, heads[t->options->level][0], "", true);
    for (size_t i = 0; i < t->rows.count; i++)
        print_text_column_add(c, tree_text(t, &t->rows.items[i]));
    c = print_text_table_add(text, heads[t->options->level][1], "", true);
    for (size_t i = 0; i < t->rows.count; i++) {
        const struct row *r = &t->rows.items[i];
        struct buf b = {0};
        buf_str(&b, "");
        buf_safe(&b, strtab_get(t->e->strings, r->at_file));
        if (r->at_file && r->at_line)
            buf_printf(&b, ":%u", r->at_line);
        print_text_column_add(c, b.bytes);
    }
}

/* Is it the same in all rows? Then a comparison, which has little space, omits it. */
static bool is_one_module(const struct view *t)
{
    for (size_t i = 1; i < t->rows.count; i++)
        if (t->rows.items[i].module && t->rows.items[i].module != t->rows.items[0].module)
            return false;
    return true;
}

void print_where_columns(const struct view *t, struct text_table *text)
{
    if (print_is_tree(t)) {
        add_tree_columns(t, text);
        return;
    }
    enum print_level level = t->options->level;
    const struct strtab *strings = t->e->strings;
    static const char *const heads[] = {"program",      "module",       "file",    "procedure",
                                        "in procedure", "in procedure", "function"};
    struct text_column *c = print_text_table_add(text, heads[level], "", true);
    for (size_t i = 0; i < t->rows.count; i++)
        print_text_column_add(c, print_text_of_name(strtab_get(strings, t->rows.items[i].name)));
    if (level >= PRINT_PROC) {
        c = print_text_table_add(text, "location", "", true);
        for (size_t i = 0; i < t->rows.count; i++)
            print_text_column_add(c, location_of(t, &t->rows.items[i]));
    }
    if (level >= PRINT_FILE && !(t->compared && is_one_module(t))) {
        c = print_text_table_add(text, "module", "", true);
        for (size_t i = 0; i < t->rows.count; i++)
            print_text_column_add(c, print_text_of_name(strtab_get(strings, t->rows.items[i].module)));
    }
}

/* A time in its own best unit, without trailing zeros; anything else as it is. */
static void add_quantity(struct buf *b, const char *before, double value, const char *unit)
{
    struct print_scale scale = print_scale_of(unit, value);
    buf_printf(b, "%s%.15g", before, value * scale.factor);
    if (scale.decimals >= 0)
        buf_printf(b, " %s", scale.unit);
}

/* The meaning of each column, above the table. */
void print_legend(const struct view *t, struct outfile *out)
{
    const struct experiment *e = t->e;
    struct buf b = {0};
    if (t->options->no_legend)
        return;
    buf_safe(&b, strtab_get(e->strings, e->title));
    buf_char(&b, '\n');
    for (size_t i = 0; i < t->shown.count; i++) {
        const struct metric *m = &e->metrics[t->shown.items[i]];
        double whole = experiment_value(e, t->shown.items[i], 0, VALUE_INCLUSIVE);
        buf_safe(&b, strtab_get(e->strings, m->display_name));
        if (m->formula && m->formula != m->name) {
            buf_str(&b, " = ");
            buf_safe(&b, strtab_get(e->strings, m->formula));
        }
        struct print_scale scale = print_metric_scale(e, t->shown.items[i]);
        char *value = print_text_scaled(whole, &scale);
        buf_printf(&b, ": %s", *value ? value : "nothing");
        mem_free(value);
        if (*scale.unit) {
            buf_char(&b, ' ');
            buf_safe(&b, scale.unit);
        }
        buf_str(&b, m->formula ? "" : " in total");
        if (m->period)
            add_quantity(&b, ", one sample every ", (double)m->period, strtab_get(e->strings, m->unit));
        if (m->repetitions > 1)
            buf_printf(&b, ", the mean of %u runs", m->repetitions);
        if (!isnan(m->exact_total)) {
            char *exact = print_text_scaled(m->exact_total, &scale);
            buf_printf(&b, "; counted %s%s%s", exact, scale.decimals >= 0 ? " " : "",
                       scale.decimals >= 0 ? scale.unit : "");
            mem_free(exact);
        }
        buf_str(&b, m->estimated ? ", estimated\n" : "\n");
    }
    buf_char(&b, '\n');
    outfile_take(out, &b);
}

void print_text(struct view *t, struct outfile *out)
{
    struct text_table text = {0};
    for (size_t i = 0; i < t->shown.count; i++) {
        print_metric_columns(t, &text, t->shown.items[i], false);
        if (print_levels[t->options->level].exclusive && t->e->metrics[t->shown.items[i]].has_exclusive)
            print_metric_columns(t, &text, t->shown.items[i], true);
    }
    print_where_columns(t, &text);
    print_legend(t, out);
    print_text_table_write(&text, t->rows.count, out);
}
