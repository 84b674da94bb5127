/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input of Hatchet's GraphFrame.from_literal, as JSON: nested nodes.
 *
 *     [{"frame": {"name": "main", "type": "procedure"}, "metrics": {"CYCLES (inc)": 9, "CYCLES": 1}, "children": [...]}]
 */
#include "export/export_int.h"

#include <math.h>

static void put_value(struct jsonout *j, const char *name, const char *suffix, double v)
{
    char *key = mem_printf("%s%s", name, suffix);
    if (!isnan(v)) {
        json_put_double(j, key, v);
    }
    mem_free(key);
}

/* Hatchet calls an exclusive value by the metric's name, the inclusive one "(inc)". */
static void put_metrics(const struct exported *x, uint32_t node, struct jsonout *j)
{
    json_put_object(j, "metrics");
    for (size_t m = 0; m < x->metric_count; m++) {
        const char *name = export_metric_name(x, m);
        bool both = x->e->metrics[x->metrics[m]].has_exclusive;
        put_value(j, name, both ? " (inc)" : "",
                  experiment_node_value(x->e, x->tree, x->metrics[m], node, VALUE_INCLUSIVE));
        if (both)
            put_value(j, name, "", experiment_node_value(x->e, x->tree, x->metrics[m], node, VALUE_EXCLUSIVE));
    }
    json_end_object(j);
}

static void begin_node(const struct exported *x, uint32_t node, struct jsonout *j)
{
    place_ix place = experiment_node_place(x->e, x->tree, node);
    const struct place *p = &x->e->places[place];
    struct buf name = {0};
    export_place_name(x, place, &name);
    json_begin_object(j);
    json_put_object(j, "frame");
    json_put_string(j, "name", name.len ? name.bytes : "?");
    buf_release(&name);
    json_put_string(j, "type", export_kind_word(p->kind));
    json_put_string(j, "file", export_file(x, p->file));
    json_put_u64(j, "line", p->line_first);
    json_end_object(j);
    put_metrics(x, node, j);
    json_put_array(j, "children");
}

int export_hatchet(const struct exported *x, struct outfile *out, struct err *err)
{
    struct export_children family = export_children(x);
    struct buf text = {0};
    struct jsonout j = {.out = &text};
    uint32_t node = 0;
    (void)err;
    json_begin_array(&j);
    while (node != NODE_NONE) {
        begin_node(x, node, &j);
        uint32_t next = family.first[node];
        while (next == NODE_NONE && node != NODE_NONE) { /* this one has all its children */
            json_end_array(&j);
            json_end_object(&j);
            next = family.next[node];
            node = experiment_node_parent(x->e, x->tree, node);
        }
        node = next;
        outfile_take(out, &text);
    }
    json_end_array(&j);
    buf_char(&text, '\n');
    outfile_take(out, &text);
    mem_free(family.first);
    mem_free(family.next);
    return 0;
}
