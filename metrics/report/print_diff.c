/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two runs side by side, for a terminal: base, new, the difference with its error, and a mark where that is more than
 * chance. Rows within the error are one row at the end. CSV and JSON have all columns and rows.
 */
#include "metrics/report/report.h"

#include <math.h>

/* ---- which columns ----------------------------------------------------------------------------- */

static bool is_part_of(const struct view *t, size_t metric, size_t difference, const struct difference *d)
{
    const struct strtab *s = t->e->strings;
    const char *name = strtab_get(s, t->e->metrics[difference].name), *own = strtab_get(s, t->e->metrics[metric].name);
    size_t stem = strlen(name) - strlen("difference");
    bool ratio = strncmp(own, name, stem) == 0 && strcmp(own + stem, "ratio") == 0;
    return metric == difference || metric == d->base || metric == d->new || metric == d->error ||
           metric == d->spreads[0] || metric == d->spreads[1] || ratio;
}

/* Is the metric a column of a comparison? */
static bool is_compared(const struct view *t, size_t metric)
{
    struct difference d;
    for (size_t i = 0; i < t->e->metric_count; i++)
        if (formulas_difference(t->e, i, &d) && is_part_of(t, metric, i, &d))
            return true;
    return false;
}

size_t print_difference(const struct view *t, struct difference *d)
{
    size_t first = SIZE_MAX;
    for (size_t i = t->e->metric_count; i-- > 0;)
        if (formulas_difference(t->e, i, d)) {
            if (is_part_of(t, t->sort_metric, i, d))
                return i;
            first = i;
        }
    return first != SIZE_MAX && formulas_difference(t->e, first, d) ? first : SIZE_MAX;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

static struct print_scale scale_of(const struct experiment *e, const struct difference *d)
{
    double whole =
        fmax(experiment_value(e, d->base, 0, VALUE_INCLUSIVE), experiment_value(e, d->new, 0, VALUE_INCLUSIVE));
    return print_scale_of(strtab_get(e->strings, e->metrics[d->base].unit), whole);
}

static char *scaled(double value, const struct print_scale *s, bool sign)
{
    char *text = print_text_scaled(value, s);
    if (!sign || !(value > 0))
        return text;
    char *signed_text = mem_printf("+%s", text);
    mem_free(text);
    return signed_text;
}

/* ---- noise ------------------------------------------------------------------------------------- */

/* '+' and '-' where chance alone makes such a difference in one of twenty comparisons at most, '~' where it is smaller. */
static char mark(const struct view *t, const struct row *r, size_t difference, const struct difference *d)
{
    double value = print_value_of(t, r, difference, false);
    double error = d->error == COLUMN_NONE ? 0 : print_value_of(t, r, d->error, false);
    if (isnan(value))
        return ' ';
    return fabs(value) <= 2 * error ? '~' : value > 0 ? '+' : '-';
}

static void add_values(const struct view *t, const struct row *r, double *sums)
{
    bool exclusive = t->options->level == PRINT_LOOP; /* loops are inside of others */
    for (size_t m = 0; m < t->e->metric_count; m++) {
        double value = print_value_of(t, r, m, exclusive);
        if (!isnan(value))
            sums[m] = isnan(sums[m]) ? value : sums[m] + value;
    }
}

void print_fold_noise(struct view *t)
{
    struct difference d;
    size_t difference = print_difference(t, &d), kept = 0, n = t->e->metric_count;
    if (print_is_tree(t))
        return;
    double *sums = mem_alloc(n * sizeof *sums);
    for (size_t m = 0; m < n; m++)
        sums[m] = NAN;
    for (size_t i = 0; i < t->rows.count; i++) {
        struct row *r = &t->rows.items[i];
        if (mark(t, r, difference, &d) == '~' && t->rows.count > 1) {
            add_values(t, r, sums);
            t->folded_count++;
        } else
            t->rows.items[kept++] = *r;
    }
    t->rows.count = kept;
    t->folded = (struct row){.values = t->values.count};
    for (size_t m = 0; m < 2 * n; m++)
        *vec_push(&t->values) = NAN;
    for (size_t m = 0; m < n; m++)
        print_row_values(t, &t->folded)[m] = sums[m];
    for (size_t m = 0; m < n; m++) {
        double value = experiment_compute(t->e, m, sums);
        print_row_values(t, &t->folded)[m] = isnan(value) ? sums[m] : value;
    }
    mem_free(sums);
}

/* ---- the table --------------------------------------------------------------------------------- */

static void add_numbers(const struct view *t, struct text_table *text, const char *head, size_t metric,
                        const struct print_scale *s, bool sign)
{
    struct text_column *c = print_text_table_add(text, head, "", false);
    for (size_t i = 0; metric != COLUMN_NONE && i < t->rows.count; i++)
        print_text_column_add(c, scaled(print_value_of(t, &t->rows.items[i], metric, false), s, sign));
}

/* The last column of a difference's: "+- 0.02", and the mark. */
static void add_errors(const struct view *t, struct text_table *text, size_t difference, const struct difference *d,
                       const struct print_scale *s)
{
    struct text_column *c = print_text_table_add(text, "+- error", "", false);
    for (size_t i = 0; i < t->rows.count; i++) {
        double error = d->error == COLUMN_NONE ? NAN : print_value_of(t, &t->rows.items[i], d->error, false);
        print_text_column_add(c, scaled(error, s, false));
    }
    c = print_text_table_add(text, "", "", true);
    for (size_t i = 0; i < t->rows.count; i++)
        print_text_column_add(c, mem_printf("%c", mark(t, &t->rows.items[i], difference, d)));
}

/* "CPUTIME: BASE 1.021 s, NEW 1.053 s: +0.032 +- 0.004 (+3.1%)" and which errors that has. */
static void write_total(const struct view *t, size_t difference, const struct difference *d, struct buf *b)
{
    const struct experiment *e = t->e;
    struct print_scale s = scale_of(e, d);
    double base = experiment_value(e, d->base, 0, VALUE_INCLUSIVE),
           new = experiment_value(e, d->new, 0, VALUE_INCLUSIVE),
           more = experiment_value(e, difference, 0, VALUE_INCLUSIVE),
           error = d->error == COLUMN_NONE ? NAN : experiment_value(e, d->error, 0, VALUE_INCLUSIVE);
    const char *name = strtab_get(e->strings, e->metrics[difference].display_name);
    char *event = mem_strndup(name, strlen(name) - (str_ends(name, ".difference") ? strlen(".difference") : 0));
    char *texts[] = {scaled(base, &s, false), scaled(new, &s, false), scaled(more, &s, true), scaled(error, &s, false)};
    buf_safe(b, event);
    buf_str(b, ":");
    for (size_t i = 0; i < 2; i++)
        buf_printf(b, "%s %s%s%s", i ? ", NEW" : " BASE", *texts[i] ? texts[i] : "nothing",
                   *texts[i] && *s.unit ? " " : "", *texts[i] ? s.unit : "");
    buf_printf(b, ": %s", *texts[2] ? texts[2] : "not comparable");
    if (!isnan(error))
        buf_printf(b, " +- %s", texts[3]);
    if (base > 0 && !isnan(more))
        buf_printf(b, " (%+.1f%%)", 100 * more / base);
    unsigned runs[] = {e->metrics[d->base].repetitions, e->metrics[d->new].repetitions};
    if (runs[0] > 1 || runs[1] > 1)
        buf_printf(b, "; means of %u and %u runs", runs[0] ? runs[0] : 1, runs[1] ? runs[1] : 1);
    if (d->error != COLUMN_NONE && (runs[0] < 2 || runs[1] < 2))
        buf_str(b, "; sampling error only: repeat the runs to know the machine's");
    buf_char(b, '\n');
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        mem_free(texts[i]);
    mem_free(event);
}

static void write_head(const struct view *t, struct outfile *out)
{
    struct difference d;
    struct buf b = {0};
    buf_safe(&b, strtab_get(t->e->strings, t->e->title));
    buf_char(&b, '\n');
    for (size_t i = 0; i < t->e->metric_count; i++)
        if (formulas_difference(t->e, i, &d))
            write_total(t, i, &d, &b);
    buf_char(&b, '\n');
    outfile_write(out, b.bytes, b.len);
    buf_release(&b);
}

void print_diff(struct view *t, struct outfile *out)
{
    struct difference d;
    struct text_table text = {0};
    size_t difference = print_difference(t, &d);
    if (t->folded_count) {
        t->folded.name = strtab_printf(t->e->strings, "(%zu more within the error)", t->folded_count);
        *vec_push(&t->rows) = t->folded;
    }
    struct print_scale s = scale_of(t->e, &d);
    add_numbers(t, &text, "BASE", d.base, &s, false);
    add_numbers(t, &text, "NEW", d.new, &s, false);
    add_numbers(t, &text, "difference", difference, &s, true);
    add_errors(t, &text, difference, &d, &s);
    for (size_t i = 0; i < t->shown.count; i++)
        if (!is_compared(t, t->shown.items[i]))
            print_metric_columns(t, &text, t->shown.items[i], false);
    print_where_columns(t, &text);
    if (!t->options->no_legend)
        write_head(t, out);
    print_text_table_write(&text, t->rows.count, out);
}
