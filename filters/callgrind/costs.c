/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of a callgrind file: their functions and contexts. */
#include "filters/base/call_edges.h"
#include "filters/callgrind/reader.h"

/* ---- whose cost it is -------------------------------------------------------------------------------------- */

void callgrind_settle_thread(struct callgrind *c)
{
    if (!c->has_process) {
        struct hpcprof_process process = {.source_file = strtab_add(c->into->strings, path_base(c->name)),
                                          .command = c->command,
                                          .sampler =
                                              strtab_add(c->into->strings, c->cachegrind ? "cachegrind" : "callgrind"),
                                          .pid = (uint32_t)c->pid,
                                          .rank = -1,
                                          .exit_status = -1,
                                          .complete = true};
        c->process = hpcprof_add_process(c->into, &process);
        c->has_process = true;
    }
    uint32_t *slot = hashmap_put(&c->threads, c->thread_number);
    if (*slot == HASHMAP_NONE) {
        struct hpcprof_thread thread = {.process = c->process, .number = (uint32_t)c->threads.count - 1};
        *slot = hpcprof_add_thread(c->into, &thread);
    }
    c->thread = *slot;
    c->has_thread = c->group_changed = true;
}

/* cachegrind does not record the object of a function: the program's is assumed. */
static const char *program_of(struct callgrind *c, char **owned)
{
    const char *command = strtab_get(c->into->strings, c->command);
    *owned = mem_strndup(command, strcspn(command, " "));
    return **owned ? *owned : "[unknown]";
}

static bool is_here(const struct callgrind *c, const char *path)
{
    struct filemap map;
    bool is = *path == '/' && input_open(c->in, path, &map);
    if (is)
        filemap_release(&map);
    return is;
}

static const struct object *settle_object(struct callgrind *c, str_id name)
{
    while (c->known_objects.count <= name)
        *vec_push(&c->known_objects) = (struct object){0};
    struct object *o = &c->known_objects.items[name];
    char *owned = NULL;
    const char *path = strtab_get(c->into->strings, name);
    if (*path == '\0')
        path = c->cachegrind ? program_of(c, &owned) : "[unknown]";
    *o = (struct object){hpcprof_add_module(c->into, path, ""), true, is_here(c, path)};
    mem_free(owned);
    return o;
}

static const struct object *object_of(struct callgrind *c, str_id name)
{
    bool settled = name < c->known_objects.count && c->known_objects.items[name].settled;
    return settled ? &c->known_objects.items[name] : settle_object(c, name);
}

/* An instruction has its address if its object is available for structure; else the line. */
static struct hpcprof_context context_of(struct callgrind *c, const struct code_place *p)
{
    const struct object *o = object_of(c, p->object);
    if (p->address && o->here)
        return (struct hpcprof_context){.parent = HPCPROF_NO_PARENT, .module = o->module, .address = p->address};
    /* cachegrind names the file of each line, and the procedure's own is not known */
    bool own = !c->cachegrind && p->own_file != p->file;
    return (struct hpcprof_context){.parent = HPCPROF_NO_PARENT,
                                    .module = o->module,
                                    .procedure = p->function,
                                    .file = p->file,
                                    .procedure_file = own ? p->own_file : 0,
                                    .line = p->line <= UINT32_MAX ? (uint32_t)p->line : 0,
                                    .by_line = true};
}

/* ---- what was counted --------------------------------------------------------------------------------------- */

uint32_t callgrind_position(struct callgrind *c)
{
    if (c->group_changed)
        callgrind_positions_enter(&c->positions, c->thread, c->object, c->function, c->file, c->own_file);
    c->group_changed = false;
    return callgrind_positions_row(&c->positions, c->has_addresses ? c->address : 0, c->has_lines ? c->source_line : 0);
}

/* Instructions of one line follow one another. */
static bool is_of_line_before(const struct callgrind *c, uint32_t row)
{
    const struct cost_position *s = &c->positions.rows.items[row];
    bool same = row > 0 && s[-1].group == s->group && s[-1].line == s->line && !s[-1].address == !s->address;
    return same && c->contexts.items[row - 1] != UINT32_MAX;
}

static uint32_t make_context(struct callgrind *c, uint32_t row)
{
    const struct cost_position *s = &c->positions.rows.items[row];
    const struct cost_group *g = cost_positions_group(&c->positions, row);
    struct code_place place = {g->object, g->function, g->file, g->own_file, s->address, s->line};
    struct hpcprof_context context = context_of(c, &place);
    if (context.by_line && is_of_line_before(c, row))
        return c->contexts.items[row - 1];
    return c->distinct && !context.by_line ? hpcprof_append_context(c->into, &context)
                                           : hpcprof_add_context(c->into, &context);
}

/* The context of a row. */
static uint32_t context_of_row(struct callgrind *c, uint32_t row)
{
    uint32_t *context = &c->contexts.items[row];
    return *context != UINT32_MAX ? *context : (*context = make_context(c, row));
}

static void add_executed(struct callgrind *c, uint32_t row, uint64_t times)
{
    while (c->executed.count <= row)
        *vec_push(&c->executed) = 0;
    c->executed.items[row] += times;
}

static size_t counts_wanted(const struct callgrind *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->costs.count; i++)
        n += c->costs.items[i] != 0;
    return n;
}

static void add_counts(struct callgrind *c, uint32_t row, const uint64_t *costs)
{
    struct hpcprof_count count = {.thread = cost_positions_group(&c->positions, row)->thread};
    for (size_t i = 0; i < c->event_count; i++) {
        if (costs[i] == 0)
            continue;
        count.context = context_of_row(c, row);
        count.event = c->events[i];
        count.value = costs[i];
        hpcprof_add_count(c->into, &count);
    }
}

void callgrind_flush(struct callgrind *c, bool last)
{
    bool executed = c->ir < c->event_count && (!last || c->jumps.rows.rows.count);
    c->distinct = c->first_file && callgrind_positions_order(&c->positions);
    vec_reserve(&c->contexts, c->positions.rows.count);
    while (c->contexts.count < c->positions.rows.count)
        *vec_push(&c->contexts) = UINT32_MAX;
    hpcprof_reserve_counts(c->into, counts_wanted(c));
    for (size_t i = 0, row = 0; i < c->costs.count; i += c->event_count, row++) {
        add_counts(c, (uint32_t)row, c->costs.items + i);
        if (executed && c->positions.rows.items[row].address)
            add_executed(c, (uint32_t)row, c->costs.items[i + c->ir]);
    }
    vec_release(&c->costs);
}

/* The first instruction of a called function was usually executed. */
static uint32_t context_at(struct callgrind *c, const struct code_place *p)
{
    struct hpcprof_context context = context_of(c, p);
    uint32_t row =
        c->distinct && !context.by_line ? callgrind_positions_at(&c->positions, p->object, p->address) : ROW_NONE;
    return row != ROW_NONE ? context_of_row(c, row) : hpcprof_add_context(c->into, &context);
}

int callgrind_call_edges(struct callgrind *c)
{
    struct table *t;
    if (c->calls.rows.count == 0)
        return 0;
    if (call_edges_declare(c->into, &t, c->err) < 0)
        return -1;
    for (uint32_t i = 0; i < c->calls.rows.count; i++) {
        const struct interner_key *k = &c->calls.rows.items[i].key;
        struct code_place callee = {k->a[1], k->a[2], k->a[3], 0, k->b[0], k->b[1]};
        struct call_sum sum = c->call_sums.items[i];
        uint32_t caller = context_of_row(c, k->a[0]);
        call_edges_add(t, &(struct call_edge){caller, context_at(c, &callee), sum.calls, sum.cost});
    }
    return 0;
}

/* ---- jumps ------------------------------------------------------------------------------------------------ */

void callgrind_jumps_executed(struct callgrind *c)
{
    jumps_find_targets(&c->jumps);
    for (uint32_t i = 0; i < c->positions.rows.count; i++) {
        const struct cost_group *g = cost_positions_group(&c->positions, i);
        uint32_t target = jumps_target(&c->jumps, g->thread, g->object, c->positions.rows.items[i].address);
        jumps_note_target(&c->jumps, i, target);
        if (i < c->executed.count)
            jumps_executed(&c->jumps, i, c->executed.items[i]);
    }
}

static uint32_t instruction(void *ctx, uint32_t object, uint64_t address)
{
    struct callgrind *c = ctx;
    uint32_t context = context_at(c, &(struct code_place){.object = object, .address = address});
    return c->into->contexts[context].by_line ? ROW_NONE : context;
}

int callgrind_jumps_add(struct callgrind *c, unsigned part)
{
    return jumps_add(&c->jumps, c->into, part, instruction, c, c->err);
}
