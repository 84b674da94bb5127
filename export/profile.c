/* SPDX-License-Identifier: BSD-3-Clause */
/* PROFILE 3.0 of the original HPCView: values at lines of a PGM tree. It has no inlining: inlined code is at the line
 * of the call. */
#include "export/export_int.h"

#include <stdlib.h>

static void put_head(const struct exported *x, struct xmlout *xml)
{
    xmlout_begin(xml, "PROFILEPARAMS");
    xmlout_begin(xml, "TARGET");
    xmlout_attr(xml, "name", export_text(x, x->e->title));
    xmlout_end(xml);
    xmlout_begin(xml, "METRICS");
    for (size_t m = 0; m < x->metric_count; m++) {
        const struct metric *metric = &x->e->metrics[x->metrics[m]];
        xmlout_begin(xml, "METRIC");
        xmlout_attr_u64(xml, "shortName", m);
        xmlout_attr(xml, "nativeName", export_metric_name(x, m));
        xmlout_attr(xml, "displayName", export_text(x, metric->display_name));
        xmlout_attr_u64(xml, "period", metric->period);
        xmlout_attr(xml, "units", export_text(x, metric->unit));
        xmlout_end(xml);
    }
    xmlout_end(xml);
    xmlout_end(xml);
}

static void put_values(const struct exported *x, uint32_t node, struct xmlout *xml)
{
    for (size_t m = 0; m < x->metric_count; m++) {
        if (!export_count(x, m, node))
            continue;
        xmlout_begin(xml, "M");
        xmlout_attr_u64(xml, "n", m);
        xmlout_attr_u64(xml, "v", export_count(x, m, node));
        xmlout_end(xml);
    }
}

/* The outermost inlined call around a place, or PLACE_NONE. */
static place_ix inlined_into(const struct exported *x, place_ix place)
{
    place_ix found = PLACE_NONE;
    for (; place != PLACE_NONE && x->e->places[place].kind > PLACE_PROC; place = x->e->places[place].parent)
        if (x->e->places[place].kind == PLACE_INLINE)
            found = place;
    return found;
}

static void put_scope(const struct exported *x, const struct place *p, struct xmlout *xml)
{
    static const char *const elements[] = {"PGM", "LM", "F", "P", "S", "L", "S"};
    bool inlined = p->kind == PLACE_INLINE;
    xmlout_begin(xml, elements[p->kind]);
    if (p->kind <= PLACE_PROC)
        xmlout_attr(xml, "n", export_text(x, p->name));
    if (p->kind >= PLACE_PROC) {
        xmlout_attr_u64(xml, "b", inlined ? p->call_line : p->line_first);
        xmlout_attr_u64(xml, "e", inlined ? p->call_line : p->line_last ? p->line_last : p->line_first);
    }
}

/* Around the tree without recursion: down to the first child, else on to the next, else up. */
static void put_tree(const struct exported *x, struct xmlout *xml)
{
    struct export_children c = export_children(x);
    for (uint32_t node = 0;;) {
        place_ix place = experiment_node_place(x->e, x->tree, node);
        const struct place *p = &x->e->places[place];
        place_ix call = inlined_into(x, place);
        bool own_scope = call == PLACE_NONE || call == place;
        if (own_scope)
            put_scope(x, p, xml);
        put_values(x, node, xml);
        if (c.first[node] != NODE_NONE) {
            node = c.first[node];
            continue;
        }
        for (;;) {
            place_ix here = experiment_node_place(x->e, x->tree, node), around = inlined_into(x, here);
            if (around == PLACE_NONE || around == here)
                xmlout_end(xml);
            if (node == 0 || c.next[node] != NODE_NONE)
                break;
            node = experiment_node_parent(x->e, x->tree, node);
        }
        if (node == 0)
            break;
        node = c.next[node];
    }
    mem_free(c.first);
    mem_free(c.next);
}

int export_profile(const struct exported *x, struct outfile *out, struct err *err)
{
    struct xmlout *xml = xmlout_create(out, NULL);
    (void)err;
    xmlout_begin(xml, "PROFILE");
    xmlout_attr(xml, "version", "3.0");
    xmlout_begin(xml, "PROFILEHDR");
    xmlout_attr(xml, "n", x->generator);
    xmlout_end(xml);
    put_head(x, xml);
    xmlout_begin(xml, "PROFILESCOPETREE");
    put_tree(x, xml);
    xmlout_end(xml);
    xmlout_end(xml);
    xmlout_finish(xml);
    return 0;
}
