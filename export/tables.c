/* SPDX-License-Identifier: BSD-3-Clause */
/* Every node with all its values: CSV and JSON. */
#include "export/export_int.h"

static void csv_head(const struct exported *x, struct csvout *c)
{
    buf_str(c->out, "node,parent,kind,name,file,line,last_line");
    c->need_comma = true;
    for (size_t m = 0; m < x->metric_count; m++) {
        csv_text(c, export_metric_name(x, m));
        if (x->e->metrics[x->metrics[m]].has_exclusive) {
            char *name = mem_printf("%s (E)", export_metric_name(x, m));
            csv_text(c, name);
            mem_free(name);
        }
    }
    csv_end_line(c);
}

static void csv_row(const struct exported *x, uint32_t node, struct csvout *c)
{
    place_ix place = experiment_node_place(x->e, x->tree, node);
    const struct place *p = &x->e->places[place];
    uint32_t parent = experiment_node_parent(x->e, x->tree, node);
    struct buf name = {0};
    export_place_name(x, place, &name);
    csv_u64(c, node);
    if (parent != NODE_NONE)
        csv_u64(c, parent);
    else
        csv_empty(c);
    csv_text(c, export_kind_word(p->kind));
    csv_text(c, name.bytes ? name.bytes : "");
    csv_text(c, export_file(x, p->file));
    csv_nonzero(c, p->line_first);
    csv_nonzero(c, p->line_last);
    for (size_t m = 0; m < x->metric_count; m++) {
        csv_double(c, experiment_node_value(x->e, x->tree, x->metrics[m], node, VALUE_INCLUSIVE));
        if (x->e->metrics[x->metrics[m]].has_exclusive)
            csv_double(c, experiment_node_value(x->e, x->tree, x->metrics[m], node, VALUE_EXCLUSIVE));
    }
    csv_end_line(c);
    buf_release(&name);
}

int export_csv(const struct exported *x, struct outfile *out, struct err *err)
{
    struct buf row = {0};
    struct csvout c = {.out = &row};
    (void)err;
    csv_head(x, &c);
    for (uint32_t i = 0; i < x->node_count; i++) {
        csv_row(x, i, &c);
        outfile_take(out, &row);
    }
    return 0;
}

static void json_metrics(const struct exported *x, struct jsonout *j)
{
    json_put_array(j, "metrics");
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
    json_put_array(j, key);
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
    json_put_array(&j, "nodes");
    for (uint32_t i = 0; i < x->node_count; i++) {
        json_node(x, i, &j);
        outfile_take(out, &text);
    }
    json_end_array(&j);
    json_end_object(&j);
    buf_char(&text, '\n');
    outfile_take(out, &text);
    return 0;
}
