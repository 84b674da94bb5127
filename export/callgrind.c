/* The format of KCachegrind: costs at lines of functions. Loops are not in it; inlined lines keep their own file. */
#include "export/export_int.h"

#include <ctype.h>
#include <stdlib.h>

struct cost { /* one node with costs, and the function it is in */
    place_ix module, file, proc;
    uint32_t node;
};
struct costs VEC(struct cost);

/* The scopes around a place: itself where it is one of them. */
static struct cost cost_of(const struct exported *x, uint32_t node)
{
    struct cost c = {PLACE_NONE, PLACE_NONE, PLACE_NONE, node};
    for (place_ix p = experiment_node_place(x->e, x->tree, node); p != PLACE_NONE; p = x->e->places[p].parent) {
        if (x->e->places[p].kind == PLACE_PROC)
            c.proc = p;
        else if (x->e->places[p].kind == PLACE_FILE)
            c.file = p;
        else if (x->e->places[p].kind == PLACE_MODULE)
            c.module = p;
    }
    return c;
}

static int compare_costs(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->proc != b->proc)
        return a->proc < b->proc ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Names of events have no blanks, and KCachegrind wants no signs in them. */
static void put_events(const struct exported *x, struct outfile *out)
{
    outfile_printf(out, "events:");
    for (size_t m = 0; m < x->metric_count; m++) {
        outfile_printf(out, " ");
        for (const char *c = export_metric_name(x, m); *c; c++)
            outfile_write(out, isalnum((unsigned char)*c) ? c : "_", 1);
    }
    outfile_printf(out, "\n");
}

static void put_totals(const struct exported *x, const char *word, struct outfile *out)
{
    outfile_printf(out, "%s:", word);
    for (size_t m = 0; m < x->metric_count; m++)
        outfile_printf(out, " %.0f", export_total(x, m));
    outfile_printf(out, "\n");
}

/* A name may not have a line's end in it, and "(1)" would be a number. */
static void put_name(struct outfile *out, const char *key, const char *name)
{
    outfile_printf(out, "%s=", key);
    if (name[0] == '(' && isdigit((unsigned char)name[1]))
        outfile_write(out, "_", 1);
    for (; *name; name++)
        outfile_write(out, *name == '\n' || *name == '\r' ? " " : name, 1);
    outfile_printf(out, "\n");
}

static const char *name_of(const struct exported *x, place_ix place)
{
    const char *name = place == PLACE_NONE ? "" : export_text(x, x->e->places[place].name);
    return *name ? name : "???";
}

static void put_cost(const struct exported *x, uint32_t node, const char **file, struct outfile *out)
{
    const struct place *p = &x->e->places[experiment_node_place(x->e, x->tree, node)];
    const char *own = export_file(x, p->file);
    uint32_t line = p->kind == PLACE_LINE || p->kind == PLACE_LOOP ? p->line_first : 0;
    if (*own && strcmp(own, *file) != 0) {
        put_name(out, "fi", own);
        *file = own;
    }
    outfile_printf(out, "%u", line);
    for (size_t m = 0; m < x->metric_count; m++)
        outfile_printf(out, " %llu", (unsigned long long)export_count(x, m, node));
    outfile_printf(out, "\n");
}

static void put_costs(const struct exported *x, const struct costs *costs, struct outfile *out)
{
    const struct cost *last = NULL;
    const char *file = "";
    for (size_t i = 0; i < costs->count; i++) {
        const struct cost *c = &costs->items[i];
        if (!last || last->module != c->module)
            put_name(out, "\nob", name_of(x, c->module));
        if (!last || last->proc != c->proc || last->file != c->file || last->module != c->module) {
            file = name_of(x, c->file);
            put_name(out, "fl", file);
            put_name(out, "fn", name_of(x, c->proc));
        }
        put_cost(x, c->node, &file, out);
        last = c;
    }
}

int export_callgrind(const struct exported *x, struct outfile *out, struct err *err)
{
    struct costs costs = {0};
    (void)err;
    for (uint32_t i = 0; i < x->node_count; i++)
        if (export_has_own(x, i))
            *vec_push(&costs) = cost_of(x, i);
    vec_sort(&costs, compare_costs);
    outfile_printf(out, "# callgrind format\nversion: 1\ncreator: %s\n", x->generator);
    outfile_printf(out, "positions: line\n");
    put_events(x, out);
    put_totals(x, "summary", out);
    put_costs(x, &costs, out);
    outfile_printf(out, "\n");
    put_totals(x, "totals", out);
    vec_release(&costs);
    return 0;
}
