/* SPDX-License-Identifier: BSD-3-Clause */
/* Jumps between instructions. */
#include "filters/callgrind/jumps.h"

#include "filters/filters.h"

void jumps_count(struct jumps *j, uint32_t thread, uint32_t object, uint64_t from, uint64_t to, uint64_t times)
{
    uint32_t row = interner_row(&j->rows, &(struct interner_key){{thread, object}, {from, to}});
    if (row == j->counts.count)
        *vec_push(&j->counts) = 0;
    j->counts.items[row] += times;
}

/* ---- where they lead ---------------------------------------------------------------------------------------- */

static int compare_targets(const void *left, const void *right)
{
    const struct jump_target *a = left, *b = right;
    return order_of(a->thread, b->thread) ?: order_of(a->object, b->object) ?: order_of(a->address, b->address);
}

static struct jump_target target_of_row(const struct jumps *j, size_t row)
{
    const struct interner_key *k = &j->rows.rows.items[row].key;
    return (struct jump_target){.thread = k->a[0], .object = k->a[1], .address = k->b[1]};
}

void jumps_find_targets(struct jumps *j)
{
    size_t n = 0;
    for (size_t i = 0; i < j->rows.rows.count; i++)
        *vec_push(&j->targets) = target_of_row(j, i);
    vec_sort(&j->targets, compare_targets);
    for (size_t i = 0; i < j->targets.count; i++)
        if (n == 0 || compare_targets(&j->targets.items[n - 1], &j->targets.items[i]) != 0)
            j->targets.items[n++] = j->targets.items[i];
    j->targets.count = n;
}

static uint32_t find_target(const struct jumps *j, const struct jump_target *t)
{
    size_t i = sorted_front(j->targets.count, k, compare_targets(&j->targets.items[k], t) < 0);
    return i < j->targets.count && compare_targets(&j->targets.items[i], t) == 0 ? (uint32_t)i : ROW_NONE;
}

uint32_t jumps_target(const struct jumps *j, uint32_t thread, uint32_t object, uint64_t address)
{
    return find_target(j, &(struct jump_target){.thread = thread, .object = object, .address = address});
}

void jumps_note_target(struct jumps *j, uint32_t position, uint32_t target)
{
    while (j->target_of.count <= position)
        *vec_push(&j->target_of) = ROW_NONE;
    j->target_of.items[position] = target;
}

void jumps_executed(struct jumps *j, uint32_t position, uint64_t times)
{
    uint32_t target = position < j->target_of.count ? j->target_of.items[position] : ROW_NONE;
    if (target != ROW_NONE)
        j->targets.items[target].executed += times;
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

static const struct table_column columns[] = {
    {.name = "part", .type = TABLE_COUNT, .merge = TABLE_KEY},
    {.name = "thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_KEY},
    {.name = "from", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
    {.name = "to", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
    {.name = "times", .type = TABLE_COUNT, .merge = TABLE_SUM},
};
const struct table_decl filters_jumps = {
    "jumps", "Jumps", "How often each jump was taken, in each part of the profile.", columns, ARRAY_SIZE(columns)};

struct output {
    struct table *table;
    unsigned part;
    jumps_context *context;
    void *ctx;
};

static void add_row(const struct output *o, const struct jump_target *to, const uint64_t *from, uint64_t times)
{
    uint32_t target = times ? o->context(o->ctx, to->object, to->address) : ROW_NONE;
    uint32_t source = target != ROW_NONE && from ? o->context(o->ctx, to->object, *from) : TABLE_NONE;
    if (target != ROW_NONE)
        table_add(o->table,
                  (union table_cell[]){
                      {.count = o->part}, {.row = to->thread}, {.row = source}, {.row = target}, {.count = times}});
}

int jumps_add(struct jumps *j, struct hpcprof *into, unsigned part, jumps_context *context, void *ctx, struct err *err)
{
    struct output o = {NULL, part, context, ctx};
    if (table_list_declare(&into->tables, &filters_jumps, into->strings, &o.table, err) < 0)
        return -1;
    for (size_t i = 0; i < j->counts.count; i++) {
        struct jump_target to = target_of_row(j, i);
        add_row(&o, &to, &j->rows.rows.items[i].key.b[0], j->counts.items[i]);
        j->targets.items[find_target(j, &to)].jumped_to += j->counts.items[i];
    }
    for (size_t i = 0; i < j->targets.count; i++) {
        const struct jump_target *t = &j->targets.items[i];
        if (t->executed > t->jumped_to)
            add_row(&o, t, NULL, t->executed - t->jumped_to);
    }
    jumps_clear(j);
    return 0;
}

void jumps_clear(struct jumps *j)
{
    for (size_t i = 0; i < j->counts.count; i++)
        j->counts.items[i] = 0;
    for (size_t i = 0; i < j->targets.count; i++)
        j->targets.items[i].executed = j->targets.items[i].jumped_to = 0;
}

void jumps_release(struct jumps *j)
{
    interner_release(&j->rows);
    vec_release(&j->counts);
    vec_release(&j->targets);
    vec_release(&j->target_of);
}
