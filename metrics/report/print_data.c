/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of places for programs: CSV and JSON. */
#include "metrics/report/report.h"

/* For a row that is a caller, or a call: does it have a location? */
static bool says_where(const struct view *t)
{
    return t->options->level == PRINT_CALLER || t->options->level == PRINT_CALLS;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_head(const struct view *t, struct csvout *c)
{
    buf_str(c->out, print_is_tree(t) ? "depth,kind,module,file,line,name" : "kind,module,file,line,name");
    buf_str(c->out, says_where(t) ? ",at_file,at_line" : "");
    c->need_comma = true;
    for (size_t i = 0; i < t->shown.count; i++) {
        const struct metric *m = &t->e->metrics[t->shown.items[i]];
        const char *name = strtab_get(t->e->strings, m->name);
        csv_text(c, name);
        if (print_levels[t->options->level].exclusive && m->has_exclusive) {
            char *exclusive = mem_printf("%s (E)", name);
            csv_text(c, exclusive);
            mem_free(exclusive);
        }
    }
    buf_str(c->out, t->options->level == PRINT_LOOP ? ",line_last,on_line,instance,instances" : "");
    csv_end_line(c);
}

static const char *word_of(const struct view *t, const struct row *r)
{
    static const char *const words[] = {"program", "module", "file", "procedure", "inline", "loop", "line"};
    return r->relation ? r->relation : print_is_tree(t) ? words[r->kind] : print_levels[t->options->level].word;
}

static void csv_row(const struct view *t, const struct row *r, struct csvout *c)
{
    const struct strtab *strings = t->e->strings;
    if (print_is_tree(t))
        csv_u64(c, r->depth);
    csv_text(c, word_of(t, r));
    csv_text(c, strtab_get(strings, r->module));
    csv_text(c, strtab_get(strings, r->file));
    csv_nonzero(c, r->line);
    csv_text(c, strtab_get(strings, r->name));
    if (says_where(t)) {
        csv_text(c, strtab_get(strings, r->at_file));
        csv_nonzero(c, r->at_line);
    }
    for (size_t i = 0; i < t->shown.count; i++) {
        csv_double(c, print_value_of(t, r, t->shown.items[i], false));
        if (print_levels[t->options->level].exclusive && t->e->metrics[t->shown.items[i]].has_exclusive)
            csv_double(c, print_value_of(t, r, t->shown.items[i], true));
    }
    if (t->options->level == PRINT_LOOP) { /* behind the metrics, where it moves no column */
        csv_nonzero(c, r->line_last);
        csv_nonzero(c, r->on_line);
        csv_nonzero(c, r->instance);
        csv_nonzero(c, r->instances);
    }
    csv_end_line(c);
}

void print_csv(const struct view *t, struct outfile *out)
{
    struct buf b = {0};
    struct csvout c = {.out = &b};
    csv_head(t, &c);
    for (size_t i = 0; i < t->rows.count; i++) {
        csv_row(t, &t->rows.items[i], &c);
        if (b.len > 60000)
            outfile_take(out, &b);
    }
    outfile_take(out, &b);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_text(struct jsonout *j, const struct view *t, const char *key, str_id text)
{
    json_put_string(j, key, strtab_get(t->e->strings, text));
}

static void json_metric(struct jsonout *j, const struct view *t, size_t metric)
{
    const struct metric *m = &t->e->metrics[metric];
    json_begin_object(j);
    json_text(j, t, "name", m->name);
    json_text(j, t, "display_name", m->display_name);
    json_text(j, t, "unit", m->unit);
    json_text(j, t, "description", m->description);
    json_text(j, t, "event", m->event);
    json_text(j, t, "formula", m->formula);
    json_put_u64(j, "period", m->period);
    json_put_bool(j, "percent", m->percent);
    json_put_bool(j, "estimated", m->estimated);
    json_put_double(j, "total", experiment_value(t->e, metric, 0, VALUE_INCLUSIVE));
    json_put_double(j, "exact_total", m->exact_total);
    json_end_object(j);
}

static void json_values(struct jsonout *j, const struct view *t, const struct row *r, const char *key, bool exclusive)
{
    json_put_object(j, key);
    for (size_t i = 0; i < t->shown.count; i++) {
        json_put_double(j, strtab_get(t->e->strings, t->e->metrics[t->shown.items[i]].name),
                        print_value_of(t, r, t->shown.items[i], exclusive));
    }
    json_end_object(j);
}

static void json_row(struct jsonout *j, const struct view *t, const struct row *r)
{
    json_begin_object(j);
    if (print_is_tree(t)) {
        json_put_u64(j, "depth", r->depth);
    }
    json_put_string(j, "kind", word_of(t, r));
    json_text(j, t, "module", r->module);
    json_text(j, t, "file", r->file);
    json_key(j, "line");
    if (r->line)
        json_u64(j, r->line);
    else
        json_null(j);
    json_text(j, t, "name", r->name);
    json_text(j, t, "full_name", r->full_name);
    if (says_where(t)) {
        json_text(j, t, "at_file", r->at_file);
        json_key(j, "at_line");
        if (r->at_line)
            json_u64(j, r->at_line);
        else
            json_null(j);
    }
    if (t->options->level == PRINT_LOOP) {
        json_put_u64(j, "line_last", r->line_last);
        if (r->on_line)
            json_put_u64(j, "on_line", r->on_line);
        json_put_u64(j, "instance", r->instance);
        json_put_u64(j, "instances", r->instances);
    }
    json_values(j, t, r, "values", false);
    if (print_levels[t->options->level].exclusive)
        json_values(j, t, r, "exclusive", true);
    json_end_object(j);
}

void print_json(const struct view *t, struct outfile *out)
{
    struct buf b = {0};
    struct jsonout j = {&b, false};
    json_begin_object(&j);
    json_text(&j, t, "title", t->e->title);
    json_put_string(&j, "by", print_levels[t->options->level].word);
    json_put_array(&j, "metrics");
    for (size_t i = 0; i < t->shown.count; i++)
        json_metric(&j, t, t->shown.items[i]);
    json_end_array(&j);
    json_put_array(&j, "rows");
    for (size_t i = 0; i < t->rows.count; i++)
        json_row(&j, t, &t->rows.items[i]);
    json_end_array(&j);
    json_end_object(&j);
    buf_char(&b, '\n');
    outfile_take(out, &b);
}
