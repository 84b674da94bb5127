/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of KCachegrind: costs at lines of functions, calls, and jumps. Inlined lines keep their own file.
 *
 * Calls come from the table call_edges, if the measurement had one, else from call paths. Loops are jumps from their
 * last line to their first, if their trip counts are known.
 */
#include "export/export_int.h"

#include <ctype.h>
#include <stdlib.h>

struct home { /* the scopes around a place: itself if it is one of them */
    place_ix module, file, proc;
};

enum what { OWN, JUMP, CALL };
struct exported_cost { /* the written parts of a function */
    struct home home;
    enum what what;
    uint32_t index; /* a node, a place that is a loop, or a call */
};
struct costs VEC(struct exported_cost);

struct exported_call {
    place_ix caller, callee; /* procedures */
    uint32_t file, line;     /* of the call */
    uint64_t count, first;   /* first: of its values, in values */
};
struct calls {
    struct VEC(struct exported_call) rows;
    struct VEC(uint64_t) values;
};

static struct home home_of(const struct exported *x, place_ix place)
{
    struct home h = {PLACE_NONE, PLACE_NONE, PLACE_NONE};
    for (place_ix p = place; p != PLACE_NONE; p = x->e->places[p].parent) {
        if (x->e->places[p].kind == PLACE_PROC)
            h.proc = p;
        else if (x->e->places[p].kind == PLACE_FILE)
            h.file = p;
        else if (x->e->places[p].kind == PLACE_MODULE)
            h.module = p;
    }
    return h;
}

static int compare_costs(const void *left, const void *right)
{
    const struct exported_cost *a = left, *b = right;
    return order_of(a->home.module, b->home.module)
               ?: order_of(a->home.file, b->home.file)
               ?: order_of(a->home.proc, b->home.proc)
               ?: order_of(a->what, b->what)
               ?: order_of(a->index, b->index);
}

/* ---- calls ---------------------------------------------------------------------------------------------------- */

static uint64_t whole(double v)
{
    return v > 0 && v < 1.8e19 ? (uint64_t)(v + 0.5) : 0;
}

static uint64_t *add_call(const struct exported *x, struct calls *calls, struct exported_call call)
{
    call.first = calls->values.count;
    for (size_t m = 0; m < x->metric_count; m++)
        *vec_push(&calls->values) = 0;
    *vec_push(&calls->rows) = call;
    return calls->values.items + call.first;
}

/* The table has the cost for the first metric only. */
static void calls_of_table(const struct exported *x, const struct table *t, struct calls *calls)
{
    size_t caller = table_column_of(t, "caller"), callee = table_column_of(t, "callee");
    size_t count = table_column_of(t, "calls"), cost = table_column_of(t, "cost");
    if (caller == SIZE_MAX || callee == SIZE_MAX || count == SIZE_MAX || cost == SIZE_MAX)
        return;
    for (size_t i = 0; i < table_row_count(t); i++) {
        const union table_cell *row = table_row(t, i);
        if (row[caller].row >= x->e->place_count || row[callee].row >= x->e->place_count)
            continue;
        const struct place *at = &x->e->places[row[caller].row];
        struct exported_call call = {home_of(x, row[caller].row).proc,
                                     home_of(x, row[callee].row).proc,
                                     at->file,
                                     at->line_first,
                                     row[count].count,
                                     0};
        uint64_t *values = add_call(x, calls, call);
        if (x->metrics[0] == 0 && row[cost].count != TABLE_NO_COUNT)
            values[0] = row[cost].count;
    }
}

/* The procedure that `node`, one of the tree of calls, is called from, and where in it. */
static uint32_t caller_of(const struct exported *x, size_t tree, uint32_t node, const struct place **line)
{
    *line = NULL;
    for (uint32_t n = experiment_node_parent(x->e, tree, node); n != NODE_NONE;
         n = experiment_node_parent(x->e, tree, n)) {
        const struct place *p = &x->e->places[experiment_node_place(x->e, tree, n)];
        if (p->kind == PLACE_LINE && !*line)
            *line = p;
        if (p->kind == PLACE_PROC)
            return n;
    }
    return NODE_NONE;
}

/* The inclusive cost of a call in a recursion holds that of the same call further in. */
static bool is_inside_itself(const struct exported *x, size_t tree, uint32_t caller, const struct exported_call *call)
{
    const struct place *line;
    for (uint32_t n = caller, up; (up = caller_of(x, tree, n, &line)) != NODE_NONE; n = up)
        if (experiment_node_place(x->e, tree, n) == call->callee &&
            experiment_node_place(x->e, tree, up) == call->caller)
            return true;
    return false;
}

/* Samples do not show how often a call was made: 1. */
static void calls_of_paths(const struct exported *x, size_t tree, struct calls *calls)
{
    const struct experiment *e = x->e;
    for (uint32_t i = 0; i < e->trees[tree].node_count; i++) {
        const struct place *line;
        place_ix callee = experiment_node_place(e, tree, i);
        uint32_t caller = e->places[callee].kind == PLACE_PROC ? caller_of(x, tree, i, &line) : NODE_NONE;
        if (caller == NODE_NONE)
            continue;
        struct exported_call call = {experiment_node_place(e, tree, caller),
                                     callee,
                                     line ? line->file : SOURCE_NONE,
                                     line ? line->line_first : 0,
                                     1,
                                     0};
        if (is_inside_itself(x, tree, caller, &call))
            continue;
        uint64_t *values = add_call(x, calls, call);
        for (size_t m = 0; m < x->metric_count; m++)
            values[m] = whole(experiment_node_value(e, tree, x->metrics[m], i, VALUE_INCLUSIVE));
    }
}

static void find_calls(const struct exported *x, struct calls *calls)
{
    const struct table *t = table_list_find(&x->e->tables, "call_edges");
    if (t)
        calls_of_table(x, t, calls);
    for (size_t i = 0; !t && i < x->e->tree_count; i++)
        if (strcmp(export_text(x, x->e->trees[i].name), TREE_CALLS_NAME) == 0)
            calls_of_paths(x, i, calls);
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

/* Names of events have no blanks, and KCachegrind allows no signs in them. */
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

/* A name cannot contain the end of a line, and "(1)" would be a number. */
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

static void set_file(const struct exported *x, uint32_t file, const char **now, struct outfile *out)
{
    const char *own = export_file(x, file);
    if (*own && strcmp(own, *now) != 0) {
        put_name(out, "fi", own);
        *now = own;
    }
}

static void put_cost(const struct exported *x, uint32_t node, const char **file, struct outfile *out)
{
    const struct place *p = &x->e->places[experiment_node_place(x->e, x->tree, node)];
    uint32_t line = p->kind == PLACE_LINE || p->kind == PLACE_LOOP ? p->line_first : 0;
    set_file(x, p->file, file, out);
    outfile_printf(out, "%u", line);
    for (size_t m = 0; m < x->metric_count; m++)
        outfile_printf(out, " %llu", (unsigned long long)export_count(x, m, node));
    outfile_printf(out, "\n");
}

static void put_call(const struct exported *x, const struct calls *calls, uint32_t i, const char **file,
                     struct outfile *out)
{
    const struct exported_call *call = &calls->rows.items[i];
    struct home home = home_of(x, call->callee);
    set_file(x, call->file, file, out);
    put_name(out, "cob", name_of(x, home.module));
    put_name(out, "cfi", name_of(x, home.file));
    put_name(out, "cfn", name_of(x, home.proc));
    outfile_printf(out, "calls=%llu %u\n%u", (unsigned long long)call->count, x->e->places[call->callee].line_first,
                   call->line);
    for (size_t m = 0; m < x->metric_count; m++)
        outfile_printf(out, " %llu", (unsigned long long)calls->values.items[call->first + m]);
    outfile_printf(out, "\n");
}

/* How often it went back to its first line: its iterations without its entries. */
static uint64_t rounds(const struct exported *x, place_ix loop)
{
    double n[2] = {0, 0};
    static const char *const names[] = {"loop iterations", "loop entries"};
    for (size_t k = 0; k < ARRAY_SIZE(names); k++)
        for (size_t m = 0; m < x->e->metric_count; m++)
            if (strcmp(export_text(x, x->e->metrics[m].name), names[k]) == 0)
                n[k] = experiment_node_value(x->e, TREE_SCOPES, m, loop, VALUE_EXCLUSIVE);
    return whole(n[0] - (n[1] > 0 ? n[1] : 0));
}

static void put_jump(const struct exported *x, place_ix loop, const char **file, struct outfile *out)
{
    const struct place *p = &x->e->places[loop];
    set_file(x, p->file, file, out);
    outfile_printf(out, "jump=%llu %u\n%u\n", (unsigned long long)rounds(x, loop), p->line_first, p->line_last);
}

static void put_function(const struct exported *x, const struct exported_cost *c, const struct exported_cost *last,
                         const char **file, struct outfile *out)
{
    bool module = !last || last->home.module != c->home.module;
    if (module)
        put_name(out, "\nob", name_of(x, c->home.module));
    if (module || last->home.proc != c->home.proc || last->home.file != c->home.file) {
        *file = name_of(x, c->home.file);
        put_name(out, "fl", *file);
        put_name(out, "fn", name_of(x, c->home.proc));
    }
}

static void put_costs(const struct exported *x, const struct costs *costs, const struct calls *calls,
                      struct outfile *out)
{
    const char *file = "";
    for (size_t i = 0; i < costs->count; i++) {
        const struct exported_cost *c = &costs->items[i];
        put_function(x, c, i ? c - 1 : NULL, &file, out);
        if (c->what == OWN)
            put_cost(x, c->index, &file, out);
        else if (c->what == JUMP)
            put_jump(x, c->index, &file, out);
        else
            put_call(x, calls, c->index, &file, out);
    }
}

static void gather(const struct exported *x, const struct calls *calls, struct costs *costs)
{
    for (uint32_t i = 0; i < x->node_count; i++)
        if (export_has_own(x, i))
            *vec_push(costs) = (struct exported_cost){home_of(x, experiment_node_place(x->e, x->tree, i)), OWN, i};
    for (place_ix p = 0; p < x->e->place_count; p++)
        if (x->e->places[p].kind == PLACE_LOOP && x->e->places[p].line_last && rounds(x, p))
            *vec_push(costs) = (struct exported_cost){home_of(x, p), JUMP, p};
    for (uint32_t i = 0; i < calls->rows.count; i++)
        if (calls->rows.items[i].caller != PLACE_NONE && calls->rows.items[i].callee != PLACE_NONE)
            *vec_push(costs) = (struct exported_cost){home_of(x, calls->rows.items[i].caller), CALL, i};
    vec_sort(costs, compare_costs);
}

int export_callgrind(const struct exported *x, struct outfile *out, struct err *err)
{
    struct costs costs = {0};
    struct calls calls = {0};
    (void)err;
    find_calls(x, &calls);
    gather(x, &calls, &costs);
    outfile_printf(out, "# callgrind format\nversion: 1\ncreator: %s\n", x->generator);
    outfile_printf(out, "positions: line\n");
    put_events(x, out);
    put_totals(x, "summary", out);
    put_costs(x, &costs, &calls, out);
    outfile_printf(out, "\n");
    put_totals(x, "totals", out);
    vec_release(&costs);
    vec_release(&calls.rows);
    vec_release(&calls.values);
    return 0;
}
