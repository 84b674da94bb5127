/* SPDX-License-Identifier: BSD-3-Clause */
/* Places by line, and their counts. */
#include "filters/base/builder.h"

#include <stdlib.h>

static uint32_t add_process(struct hpcprof *into, const struct filter_input *in, const char *sampler,
                            const char *command, uint32_t rank)
{
    struct hpcprof_process process = {.source_file = strtab_add(into->strings, path_base(in->name)),
                                      .command = strtab_add(into->strings, command),
                                      .sampler = strtab_add(into->strings, sampler),
                                      .rank = rank <= INT32_MAX ? (int32_t)rank : -1,
                                      .exit_status = -1,
                                      .complete = true};
    return hpcprof_add_process(into, &process);
}

struct builder builder_begin(struct hpcprof *into, const struct filter_input *in, const char *sampler,
                             const char *command)
{
    struct hpcprof_thread thread = {.process = add_process(into, in, sampler, command, BUILDER_NO_RANK)};
    return (struct builder){.into = into, .thread = hpcprof_add_thread(into, &thread)};
}

uint32_t builder_thread(struct builder *s, const char *name, uint32_t number)
{
    struct hpcprof_thread thread = {.number = number, .name = strtab_add(s->into->strings, name)};
    return hpcprof_add_thread(s->into, &thread);
}

uint32_t builder_event(struct builder *s, const char *name, const char *description, const char *unit, uint64_t period)
{
    struct hpcprof_event event = {.name = strtab_add(s->into->strings, name),
                                  .description = strtab_add(s->into->strings, description),
                                  .unit = strtab_add(s->into->strings, unit),
                                  .period = period};
    return hpcprof_add_event(s->into, &event);
}

uint32_t builder_context(struct builder *s, const struct builder_place *p)
{
    struct hpcprof_context context = {.parent = p->parent,
                                      .module = hpcprof_add_module(s->into, p->module, ""),
                                      .procedure = strtab_add(s->into->strings, p->procedure),
                                      .file = strtab_add(s->into->strings, p->file),
                                      .line = p->line <= UINT32_MAX ? (uint32_t)p->line : 0,
                                      .by_line = true};
    return hpcprof_add_context(s->into, &context);
}

void builder_add(struct builder *s, uint32_t context, uint32_t event, uint64_t samples, uint64_t value)
{
    if (value)
        hpcprof_add_count(s->into, &(struct hpcprof_count){.thread = s->thread,
                                                           .context = context,
                                                           .event = event,
                                                           .region = s->region,
                                                           .samples = samples,
                                                           .value = value});
}

/* ---- threads of many processes ------------------------------------------------------------------------------ */

static uint64_t worker_key(uint32_t rank, uint32_t thread)
{
    return (uint64_t)rank << 32 | thread;
}

bool builder_threads_meet(struct builder_threads *t, uint32_t rank, uint32_t thread)
{
    uint32_t *slot = hashmap_put(&t->index, worker_key(rank, thread));
    if (*slot != HASHMAP_NONE)
        return true;
    *slot = (uint32_t)t->met.count;
    *vec_push(&t->met) = (struct builder_worker){rank, thread, 0};
    return t->met.count <= LIMIT_THREADS;
}

static int compare_workers(const void *left, const void *right)
{
    const struct builder_worker *a = left, *b = right;
    uint64_t ka = worker_key(a->rank, a->thread), kb = worker_key(b->rank, b->thread);
    return order_of(ka, kb);
}

struct builder builder_threads_begin(struct builder_threads *t, struct hpcprof *into, const struct filter_input *in,
                                     const char *sampler, const char *command)
{
    if (t->met.count == 0)
        builder_threads_meet(t, BUILDER_NO_RANK, 0);
    vec_sort(&t->met, compare_workers);
    uint32_t process = 0;
    for (size_t i = 0; i < t->met.count; i++) {
        struct builder_worker *w = &t->met.items[i];
        if (i == 0 || w->rank != w[-1].rank)
            process = add_process(into, in, sampler, command, w->rank);
        w->row = hpcprof_add_thread(into, &(struct hpcprof_thread){.process = process, .number = w->thread});
        *hashmap_put(&t->index, worker_key(w->rank, w->thread)) = (uint32_t)i;
    }
    return (struct builder){.into = into, .thread = t->met.items[0].row};
}

uint32_t builder_threads_row(const struct builder_threads *t, uint32_t rank, uint32_t thread)
{
    return t->met.items[hashmap_get(&t->index, worker_key(rank, thread))].row;
}

void builder_threads_release(struct builder_threads *t)
{
    vec_release(&t->met);
    hashmap_release(&t->index);
}

void builder_add_number(struct builder *s, uint32_t context, uint32_t event, double value)
{
    bool fits = value > -0.5 && value < 0x1p64; /* a difference may be a little below 0 */
    s->left_out += !fits;
    builder_add(s, context, event, 0, fits && value > 0 ? (uint64_t)(value < 0x1p52 ? value + 0.5 : value) : 0);
}

void builder_end(const struct builder *s, const struct filter_input *in, struct warnings *warnings)
{
    if (s->left_out)
        warnings_add(warnings, "%s: omitted %zu of its numbers: not counts (negative, infinite, or above 64 bits)",
                     in->name, s->left_out);
}
