/* SPDX-License-Identifier: BSD-3-Clause */
/* Every node with all its values: CSV and JSON. */
#include "export/export_int.h"

#include <math.h>

static void quoted(struct buf *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n") && *text != ' ') {
        buf_str(out, text);
        return;
    }
    buf_char(out, '"');
    for (; *text; text++)
        buf_str(out, *text == '"' ? "\"\"" : (char[]){*text, '\0'});
    buf_char(out, '"');
}

static void csv_head(const struct exported *x, struct buf *out)
{
    buf_str(out, "node,parent,kind,name,file,line,last_line");
    for (size_t m = 0; m < x->metric_count; m++) {
        buf_char(out, ',');
        quoted(out, export_metric_name(x, m));
        if (x->e->metrics[x->metrics[m]].has_exclusive) {
            char *name = mem_printf("%s (E)", export_metric_name(x, m));
            buf_char(out, ',');
            quoted(out, name);
            mem_free(name);
        }
    }
    buf_char(out, '\n');
}

static void csv_value(struct buf *out, double v)
{
    buf_char(out, ',');
    if (!isnan(v))
        buf_double(out, v);
}

static void csv_row(const struct exported *x, uint32_t node, struct buf *out)
{
    place_ix place = experiment_node_place(x->e, x->tree, node);
    const struct place *p = &x->e->places[place];
    uint32_t parent = experiment_node_parent(x->e, x->tree, node);
    struct buf name = {0};
    buf_printf(out, "%u,", node);
    if (parent != NODE_NONE)
        buf_printf(out, "%u", parent);
    buf_printf(out, ",%s,", export_kind_word(p->kind));
    export_place_name(x, place, &name);
    quoted(out, name.bytes ? name.bytes : "");
    buf_char(out, ',');
    quoted(out, export_file(x, p->file));
    buf_char(out, ',');
    if (p->line_first)
        buf_printf(out, "%u", p->line_first);
    buf_char(out, ',');
    if (p->line_last)
        buf_printf(out, "%u", p->line_last);
    for (size_t m = 0; m < x->metric_count; m++) {
        csv_value(out, experiment_node_value(x->e, x->tree, x->metrics[m], node, VALUE_INCLUSIVE));
        if (x->e->metrics[x->metrics[m]].has_exclusive)
            csv_value(out, experiment_node_value(x->e, x->tree, x->metrics[m], node, VALUE_EXCLUSIVE));
    }
    buf_char(out, '\n');
    buf_release(&name);
}

int export_csv(const struct exported *x, struct outfile *out, struct err *err)
{
    struct buf row = {0};
    (void)err;
    csv_head(x, &row);
    for (uint32_t i = 0; i < x->node_count; i++) {
        csv_row(x, i, &row);
        outfile_write(out, row.bytes, row.len);
        row.len = 0;
    }
    buf_release(&row);
    return 0;
}

static void json_metrics(const struct exported *x, struct jsonout *j)
{
    json_key(j, "metrics");
    json_begin_array(j);
    for (size_t m = 0; m < x->metric_count; m++) {
        const struct metric *metric = &x->e->metrics[x->metrics[m]];
        json_begin_object(j);
        json_put_string(j, "name", export_text(x, metric->name));
        json_put_string(j, "unit", export_text(x, metric->unit));
        json_put_string(j, "formula", export_text(x, metric->formula));
        json_put_u64(j, "period", metric->period);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_values(const struct exported *x, uint32_t node, const char *key, enum value_form form,
                        struct jsonout *j)
{
    json_key(j, key);
    json_begin_array(j);
    for (size_t m = 0; m < x->metric_count; m++)
        json_double(j, experiment_node_value(x->e, x->tree, x->metrics[m], node, form)); /* NaN: null */
    json_end_array(j);
}

static void json_node(const struct exported *x, uint32_t node, struct jsonout *j)
{
    place_ix place = experiment_node_place(x->e, x->tree, node);
    const struct place *p = &x->e->places[place];
    uint32_t parent = experiment_node_parent(x->e, x->tree, node);
    struct buf name = {0};
    export_place_name(x, place, &name);
    json_begin_object(j);
    json_key(j, "parent");
    parent == NODE_NONE ? json_null(j) : json_u64(j, parent);
    json_put_string(j, "kind", export_kind_word(p->kind));
    json_put_string(j, "name", name.bytes ? name.bytes : "");
    json_put_string(j, "file", export_file(x, p->file));
    json_put_u64(j, "line", p->line_first);
    json_put_u64(j, "last_line", p->line_last);
    json_values(x, node, "inclusive", VALUE_INCLUSIVE, j);
    json_values(x, node, "exclusive", VALUE_EXCLUSIVE, j);
    json_end_object(j);
    buf_release(&name);
}

int export_json(const struct exported *x, struct outfile *out, struct err *err)
{
    struct buf text = {0};
    struct jsonout j = {.out = &text};
    (void)err;
    json_begin_object(&j);
    json_put_string(&j, "format", "hpcview-export");
    json_put_u64(&j, "version", 1);
    json_put_string(&j, "title", export_text(x, x->e->title));
    json_put_string(&j, "tree", export_text(x, x->e->trees[x->tree].name));
    json_metrics(x, &j);
    json_key(&j, "nodes");
    json_begin_array(&j);
    for (uint32_t i = 0; i < x->node_count; i++) {
        json_node(x, i, &j);
        outfile_write(out, text.bytes, text.len);
        text.len = 0;
    }
    json_end_array(&j);
    json_end_object(&j);
    buf_char(&text, '\n');
    outfile_write(out, text.bytes, text.len);
    buf_release(&text);
    return 0;
}
