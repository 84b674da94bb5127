/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The instructions of sampled procedures, as tables: "instructions", a row for each, and "instruction_counts", the
 * counts at each of them. Included are procedures with a share of some displayed metric, the costliest first, until the
 * code is too large (LIMIT_LISTED_BYTES).
 *
 * Lines are named by file and line and not by place: most instructions of a sampled procedure were not sampled, and
 * their lines are not among the places.
 */
#include "metrics/code/code.h"

#include <math.h>

#define LEAST_SHARE 0.0005 /* of the whole, by the metric in which it has most */

/* ---- which procedures ------------------------------------------------------------------ */

double *instructions_weigh_sites(const struct correlation *c)
{
    double *weights = mem_calloc(c->sites.count, sizeof *weights);
    /* Shares of several metrics are added up: a procedure without any is not worth showing. */
    for (size_t column = 0; column < c->cells.count; column++) {
        const struct cell_list *cells = &c->cells.items[column];
        double whole = 0;
        for (size_t i = 0; i < cells->count; i++)
            whole += (double)cells->items[i].value;
        for (size_t i = 0; i < cells->count && whole > 0; i++)
            weights[cells->items[i].site] += (double)cells->items[i].value / whole;
    }
    return weights;
}

static double samples_of(const struct correlation *c, size_t column)
{
    uint64_t period = column < c->columns->list.count ? c->columns->list.items[column].metric.period : 0;
    double n = 0;
    for (size_t i = 0; period && i < c->cells.items[column].count; i++)
        n += (double)c->cells.items[column].items[i].value / (double)period;
    return n;
}

double *instructions_site_samples(const struct correlation *c)
{
    size_t most = SIZE_MAX;
    double samples = 0;
    for (size_t column = 0; c->columns && column < c->cells.count; column++) {
        double n = samples_of(c, column);
        most = n > samples ? column : most;
        samples = n > samples ? n : samples;
    }
    if (most == SIZE_MAX)
        return NULL;
    double *at = mem_calloc(c->sites.count, sizeof *at);
    const struct cell_list *cells = &c->cells.items[most];
    for (size_t i = 0; i < cells->count; i++)
        at[cells->items[i].site] += (double)cells->items[i].value / (double)c->columns->list.items[most].metric.period;
    return at;
}

struct weighed {
    scope_ix procedure;
    double weight;
};

static int heaviest_first(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return order_of(y->weight, x->weight) ?: order_of(x->procedure, y->procedure);
}

void instructions_choose(struct scope_tree *t, const struct sampled *sampled, struct sampled_procedures *chosen)
{
    double *weights = mem_calloc(t->scope_count, sizeof *weights);
    struct VEC(struct weighed) all = {0};
    for (size_t i = 0; i < sampled->count; i++) {
        scope_ix procedure = scope_tree_enclosing(t, scope_tree_find(t, sampled->addresses[i]), SCOPE_PROC);
        if (procedure != SCOPE_NONE)
            weights[procedure] += sampled->weights[i];
    }
    for (scope_ix i = 0; i < t->scope_count; i++)
        if (weights[i] >= LEAST_SHARE)
            *vec_push(&all) = (struct weighed){i, weights[i]};
    vec_sort(&all, heaviest_first);
    for (size_t i = 0; i < all.count; i++)
        *vec_push(chosen) = all.items[i].procedure;
    vec_release(&all);
    mem_free(weights);
}

struct quality_listing *instructions_list(struct loop_machines *machines, struct bloop_binary *binary,
                                          struct scope_tree *tree, const struct sampled *sampled,
                                          struct warnings *warnings)
{
    struct sampled_procedures chosen = {0};
    struct quality_listing *listing = NULL;
    instructions_choose(tree, sampled, &chosen);
    if (chosen.count)
        listing = quality_list(
            binary, tree,
            &(struct quality_listing_options){
                .machine = loops_machine(machines, bloop_is_aarch64(binary), warnings),
                .procedures = chosen.items,
                .procedure_count = chosen.count,
                .most_bytes = *sampled->listed < LIMIT_LISTED_BYTES ? LIMIT_LISTED_BYTES - *sampled->listed : 0},
            warnings);
    if (listing)
        *sampled->listed += listing->bytes;
    vec_release(&chosen);
    return listing;
}

/* ---- rows ------------------------------------------------------------------------------- */

static uint64_t count_or_none(vaddr address)
{
    return address == QUALITY_NO_ADDRESS ? TABLE_NO_COUNT : address;
}

static place_ix place_around(const struct scope_tree *t, const place_ix *scope_place, scope_ix s)
{
    while (s != SCOPE_NONE && scope_place[s] == PLACE_NONE)
        s = t->scopes[s].parent;
    return s == SCOPE_NONE ? PLACE_NONE : scope_place[s];
}

static uint32_t add_row(struct table *t, struct correlation *c, const struct module *m, const struct quality_insn *q,
                        const struct placed_scopes *placed)
{
    const struct scope *s = &m->tree->scopes[q->scope];
    const struct strtab *from = m->listing->strings;
    uint32_t file = s->kind == SCOPE_STMT && s->line_first ? placed->file[s->file] : SOURCE_NONE;
    const union table_cell cells[] = {
        {.row = placed->place[q->procedure]},
        {.count = placed->module},
        {.count = q->address},
        {.row = place_around(m->tree, placed->place, q->scope)},
        {.row = file < c->files.count ? file : TABLE_NONE},
        {.count = s->kind == SCOPE_STMT && s->line_first ? s->line_first : TABLE_NO_COUNT},
        {.text = strtab_add(c->strings, strtab_get(from, q->text))},
        {.count = count_or_none(q->target)},
        {.count = count_or_none(q->loop)},
        {.count = count_or_none(q->around)},
        {.number = q->uops},
        {.text = strtab_add(c->strings, strtab_get(from, q->ports))},
        {.number = q->latency},
        {.count = q->chained},
        {.text = strtab_add(c->strings, strtab_get(from, m->listing->assumed))},
    };
    _Static_assert(ARRAY_SIZE(cells) == INSTRUCTION_COLUMNS, "a cell for each column");
    return table_add(t, cells);
}

void instructions_note(struct correlation *c, const struct placed_scopes *placed)
{
    const struct module *m = &c->modules.items[placed->module];
    struct table *t = NULL;
    struct err err;
    c->unlisted += m->listing ? m->listing->left_out : 0;
    if (!m->listing || m->listing->count == 0 ||
        table_list_declare(&c->tables, &instructions_decl, c->strings, &t, &err) < 0)
        return; /* a measurement brought a table of this name: that one is shown */
    for (size_t i = 0; i < m->listing->count; i++) {
        const struct quality_insn *q = &m->listing->insns[i];
        if (placed->place[q->procedure] == PLACE_NONE)
            continue;
        uint32_t row = add_row(t, c, m, q, placed);
        uint64_t key[] = {placed->module, q->address};
        if (row != TABLE_NONE)
            *hashmap_put(&c->listed, hash_bytes(key, sizeof key, 0)) = row;
    }
}

static void count_at(const struct correlation *c, const struct table *insns, uint32_t column, const struct cell *cell,
                     struct table *t)
{
    const struct site *s = &c->sites.items[cell->site];
    uint64_t key[] = {s->module, s->address};
    uint32_t row = s->by_line || s->cut ? HASHMAP_NONE : hashmap_get(&c->listed, hash_bytes(key, sizeof key, 0));
    if (row != HASHMAP_NONE && table_row(insns, row)[2].count == s->address && cell->value)
        table_add(t, (union table_cell[]){{.row = row}, {.row = column}, {.count = cell->value}});
}

void instructions_count(struct correlation *c)
{
    const struct table *insns = table_list_find(&c->tables, TABLE_INSTRUCTIONS);
    struct table *t = NULL;
    struct err err;
    if (!insns || c->listed.count == 0 ||
        table_list_declare(&c->tables, &instructions_counts_decl, c->strings, &t, &err) < 0)
        return;
    for (uint32_t column = 0; column < c->cells.count; column++)
        for (size_t i = 0; i < c->cells.items[column].count; i++)
            count_at(c, insns, column, &c->cells.items[column].items[i], t);
}
