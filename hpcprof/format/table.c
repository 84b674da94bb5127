/* SPDX-License-Identifier: BSD-3-Clause */
/* A measurement's tables: made row by row, equal rows found by hashing, counts put in order. */
#include "hpcprof/format/tables.h"
#include "support/sort.h"

#include <assert.h>
#include <stdlib.h>

static void *room_for_one(void *items, size_t count, size_t *room, size_t item_size)
{
    return count < *room ? items : vec_grow_(items, room, count + 1, item_size);
}

#define PUSH(t, table, count, room)                                                                                    \
    ((t)->pub.table = room_for_one((t)->pub.table, (t)->pub.count, &(t)->room, sizeof *(t)->pub.table),                \
     &(t)->pub.table[(t)->pub.count++])

static struct tables *tables_of(struct hpcprof *p)
{
    return (struct tables *)p;
}

struct hpcprof *hpcprof_create(void)
{
    struct tables *t = mem_calloc(1, sizeof *t);
    t->pub.strings = strtab_create();
    *PUSH(t, regions, region_count, region_room) = (struct hpcprof_region){0};
    *vec_push(&t->region_next) = HASHMAP_NONE;
    return &t->pub;
}

/* The index that finds equal rows is rebuilt on demand. */
static void forget_contexts(struct tables *t)
{
    row_index_release(&t->by_address.index);
    row_index_release(&t->by_line.index);
    t->by_address.seen = t->by_line.seen = 0;
}

void hpcprof_drop_counts(struct hpcprof *p)
{
    struct tables *t = tables_of(p);
    mem_free(p->contexts);
    mem_free(p->counts);
    p->contexts = NULL;
    p->counts = NULL;
    p->context_count = p->count_count = t->context_room = t->count_room = t->counts_sorted = 0;
    forget_contexts(t);
}

void hpcprof_drop_counts_from(struct hpcprof *p, size_t kept)
{
    struct tables *t = tables_of(p);
    if (kept >= p->count_count)
        return;
    p->counts = mem_realloc(p->counts, kept, sizeof *p->counts);
    p->count_count = kept;
    t->count_room = kept;
    t->counts_sorted = t->counts_sorted < kept ? t->counts_sorted : kept;
}

void hpcprof_free(struct hpcprof *p)
{
    struct tables *t = tables_of(p);
    if (!p)
        return;
    mem_free(p->events);
    mem_free(p->modules);
    mem_free(p->contexts);
    mem_free(p->processes);
    mem_free(p->threads);
    mem_free(p->totals);
    mem_free(p->counts);
    mem_free(p->regions);
    mem_free(p->notes);
    table_list_release(&p->tables);
    hashmap_release(&t->modules);
    forget_contexts(t);
    hashmap_release(&t->regions);
    vec_release(&t->module_next);
    vec_release(&t->region_next);
    vec_release(&t->shares);
    strtab_free(p->strings);
    mem_free(t);
}

uint32_t hpcprof_add_event(struct hpcprof *p, const struct hpcprof_event *e)
{
    for (size_t i = 0; i < p->event_count; i++) {
        const struct hpcprof_event *old = &p->events[i];
        if (old->name == e->name && old->unit == e->unit && old->period == e->period && old->flags == e->flags)
            return (uint32_t)i;
    }
    struct tables *t = tables_of(p);
    *PUSH(t, events, event_count, event_room) = *e;
    return (uint32_t)(p->event_count - 1);
}

uint32_t hpcprof_add_module(struct hpcprof *p, const char *path, const char *build_id)
{
    struct tables *t = tables_of(p);
    struct hpcprof_module row = {strtab_add(p->strings, path && *path ? path : "[unknown]"),
                                 strtab_add(p->strings, build_id)};
    uint32_t *slot = hashmap_put(&t->modules, (uint64_t)row.path << 32 | row.build_id);
    if (*slot == HASHMAP_NONE) {
        *slot = (uint32_t)p->module_count;
        *PUSH(t, modules, module_count, module_room) = row;
    }
    return *slot;
}

struct wanted_context {
    const struct hpcprof *p;
    const struct hpcprof_context *context;
};

static bool same_context(const void *ctx, uint32_t row)
{
    const struct wanted_context *w = ctx;
    const struct hpcprof_context *a = &w->p->contexts[row], *b = w->context;
    return a->parent == b->parent && a->module == b->module && a->by_line == b->by_line &&
           a->procedure == b->procedure && a->file == b->file && a->procedure_file == b->procedure_file &&
           a->line == b->line && (a->by_line || a->address == b->address);
}

static uint64_t hash_context(const struct hpcprof_context *c)
{
    uint64_t called = (uint64_t)c->parent << 32 | c->module, own = c->procedure_file * 0x9e3779b97f4a7c15u;
    if (!c->by_line)
        return hash_near(c->address, 0, called);
    return hash_near(called, c->line, ((uint64_t)c->procedure << 32 | c->file) ^ own);
}

/* Contexts that came since are put in; most measurements never ask for those of the other kind. */
static void index_contexts(struct context_index *x, const struct hpcprof *p, bool by_line)
{
    for (; x->seen < p->context_count; x->seen++)
        if (p->contexts[x->seen].by_line == by_line)
            row_index_add(&x->index, hash_context(&p->contexts[x->seen]), (uint32_t)x->seen);
}

uint32_t hpcprof_append_context(struct hpcprof *p, const struct hpcprof_context *c)
{
    struct tables *t = tables_of(p);
    *PUSH(t, contexts, context_count, context_room) = *c;
    return (uint32_t)(p->context_count - 1);
}

uint32_t hpcprof_add_context(struct hpcprof *p, const struct hpcprof_context *c)
{
    struct tables *t = tables_of(p);
    struct context_index *x = c->by_line ? &t->by_line : &t->by_address;
    index_contexts(x, p, c->by_line);
    uint32_t row = row_index_find(&x->index, hash_context(c), same_context, &(struct wanted_context){p, c});
    return row != ROW_NONE ? row : hpcprof_append_context(p, c);
}

uint32_t hpcprof_add_process(struct hpcprof *p, const struct hpcprof_process *row)
{
    struct tables *t = tables_of(p);
    struct hpcprof_process *process = PUSH(t, processes, process_count, process_room);
    *process = *row;
    process->first_thread = (uint32_t)p->thread_count;
    process->thread_count = 0;
    return (uint32_t)(p->process_count - 1);
}

uint32_t hpcprof_add_thread(struct hpcprof *p, const struct hpcprof_thread *row)
{
    struct tables *t = tables_of(p);
    struct hpcprof_thread *thread = PUSH(t, threads, thread_count, thread_room);
    *thread = *row;
    thread->process = (uint32_t)(p->process_count - 1);
    p->processes[p->process_count - 1].thread_count++;
    return (uint32_t)(p->thread_count - 1);
}

uint32_t hpcprof_add_region(struct hpcprof *p, const char *name, uint32_t parent)
{
    struct tables *t = tables_of(p);
    struct hpcprof_region row = {strtab_add(p->strings, name), parent};
    uint32_t *slot = hashmap_put(&t->regions, (uint64_t)row.name << 32 | parent);
    if (*slot == HASHMAP_NONE) {
        *slot = (uint32_t)p->region_count;
        *PUSH(t, regions, region_count, region_room) = row;
    }
    return *slot;
}

void hpcprof_add_count(struct hpcprof *p, const struct hpcprof_count *row)
{
    struct tables *t = tables_of(p);
    /* Equal rows are added up when the table has doubled since the last time: memory follows the distinct rows, and the
       cost of sorting stays a constant factor. */
    if (p->count_count == t->count_room && p->count_count > 2 * t->counts_sorted)
        hpcprof_tables_merge_counts(t);
    *PUSH(t, counts, count_count, count_room) = *row;
}

void hpcprof_take_counts(struct hpcprof *p, struct hpcprof_count *rows, size_t count)
{
    assert(p->count_count == 0);
    mem_free(p->counts);
    p->counts = rows;
    p->count_count = tables_of(p)->count_room = count;
}

void hpcprof_reserve_counts(struct hpcprof *p, size_t more)
{
    struct tables *t = tables_of(p);
    if (t->count_room - p->count_count < more)
        p->counts = vec_grow_(p->counts, &t->count_room, p->count_count + more, sizeof *p->counts);
}

void hpcprof_add_total(struct hpcprof *p, const struct hpcprof_total *row)
{
    struct tables *t = tables_of(p);
    /* Totals of one thread come together, so an equal one is among the last few. */
    for (size_t i = p->total_count; i-- > 0 && p->totals[i].thread == row->thread;)
        if (p->totals[i].event == row->event) {
            p->totals[i].value = row->value;
            return;
        }
    *PUSH(t, totals, total_count, total_room) = *row;
}

void hpcprof_add_note(struct hpcprof *p, const struct hpcprof_note *row)
{
    struct tables *t = tables_of(p);
    *PUSH(t, notes, note_count, note_room) = *row;
}

/* ---- order ---------------------------------------------------------------------------------- */

static int compare_counts(const void *left, const void *right)
{
    const struct hpcprof_count *a = left, *b = right;
    uint64_t x = (uint64_t)a->thread << 32 | a->context, y = (uint64_t)b->thread << 32 | b->context;
    return order_of(x, y) ?: order_of(a->event, b->event) ?: order_of(a->region, b->region);
}

/* Of equal totals the later one counts; `index` keeps the order that the sort loses. */
struct indexed_total {
    struct hpcprof_total total;
    size_t index;
};

static int compare_totals(const void *left, const void *right)
{
    const struct indexed_total *a = left, *b = right;
    return order_of(a->total.thread, b->total.thread)
               ?: order_of(a->total.event, b->total.event)
               ?: order_of(a->index, b->index);
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Merges two sequences in order: n rows, followed by `late`; there is space for both. */
static void merge_in(struct hpcprof_count *rows, size_t n, const struct hpcprof_count *late, size_t late_count)
{
    for (size_t i = n, k = late_count; k > 0;) { /* from the end, which is free */
        bool first_last = i > 0 && compare_counts(&rows[i - 1], &late[k - 1]) > 0;
        rows[i + k - 1] = first_last ? rows[i - 1] : late[k - 1];
        i -= first_last;
        k -= !first_last;
    }
}

enum { DIGITS_OF_FIELD = 4, DIGITS = 16 };

/* As compare_counts has it: region, event, context, thread. */
static uint8_t digit(const void *counts, uint32_t row, unsigned which)
{
    const struct hpcprof_count *c = (const struct hpcprof_count *)counts + row;
    uint32_t field[] = {c->region, c->event, c->context, c->thread};
    return (uint8_t)(field[which / DIGITS_OF_FIELD] >> 8 * (which % DIGITS_OF_FIELD));
}

/* mem_free */
static struct hpcprof_count *sorted_copy(const struct hpcprof_count *rows, size_t count)
{
    struct hpcprof_count *copy = mem_alloc(count * sizeof *copy);
    uint32_t *order = sort_digits(rows, count, DIGITS, digit);
    for (size_t i = 0; i < count; i++)
        copy[i] = rows[order[i]];
    mem_free(order);
    return copy;
}

/* Most rows are usually in order: the others are sorted by themselves. */
static void order_rows(struct hpcprof_count *rows, size_t count)
{
    struct VEC(struct hpcprof_count) late = {0};
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (n == 0 || compare_counts(&rows[n - 1], &rows[i]) <= 0)
            rows[n++] = rows[i];
        else
            *vec_push(&late) = rows[i];
    if (late.count) {
        struct hpcprof_count *sorted = sorted_copy(late.items, late.count);
        merge_in(rows, n, sorted, late.count);
        mem_free(sorted);
    }
    vec_release(&late);
}

/* The first `sorted` are in order, and there are more; additions from a file usually are in order, or are few. */
static void order_counts(struct hpcprof *p, size_t sorted)
{
    size_t added = p->count_count - sorted;
    struct hpcprof_count *rows = p->counts, *tail = rows + sorted;
    order_rows(tail, added);
    if (sorted == 0 || compare_counts(tail - 1, tail) <= 0)
        return;
    struct hpcprof_count *copy = mem_alloc(added * sizeof *copy);
    memcpy(copy, tail, added * sizeof *copy);
    merge_in(rows, sorted, copy, added);
    mem_free(copy);
}

/* Whether the rows from `sorted` on come after those before, none twice: as most writers put them. */
static bool follows(const struct hpcprof_count *rows, size_t sorted, size_t count)
{
    for (size_t i = sorted ? sorted : 1; i < count; i++)
        if (compare_counts(&rows[i - 1], &rows[i]) >= 0)
            return false;
    return true;
}

static void add_equal_rows(struct hpcprof *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count_count; i++) {
        struct hpcprof_count *last = n > 0 ? &p->counts[n - 1] : NULL;
        if (last && compare_counts(last, &p->counts[i]) == 0) {
            last->samples = add_saturating(last->samples, p->counts[i].samples);
            last->value = add_saturating(last->value, p->counts[i].value);
        } else {
            p->counts[n++] = p->counts[i];
        }
    }
    p->count_count = n;
}

void hpcprof_tables_merge_counts(struct tables *t)
{
    struct hpcprof *p = &t->pub;
    if (!follows(p->counts, t->counts_sorted, p->count_count)) {
        order_counts(p, t->counts_sorted);
        add_equal_rows(p);
    }
    t->counts_sorted = p->count_count;
}

static void merge_totals(struct hpcprof *p)
{
    struct indexed_total *rows = mem_alloc(p->total_count * sizeof *rows);
    for (size_t i = 0; i < p->total_count; i++)
        rows[i] = (struct indexed_total){p->totals[i], i};
    if (p->total_count)
        qsort(rows, p->total_count, sizeof *rows, compare_totals);
    size_t n = 0;
    for (size_t i = 0; i < p->total_count; i++) {
        bool same =
            n > 0 && p->totals[n - 1].thread == rows[i].total.thread && p->totals[n - 1].event == rows[i].total.event;
        p->totals[same ? n - 1 : n++] = rows[i].total;
    }
    p->total_count = n;
    mem_free(rows);
}

void hpcprof_finish(struct hpcprof *p)
{
    forget_contexts(tables_of(p));
    hpcprof_tables_merge_counts(tables_of(p));
    merge_totals(p);
}

/* ---- ranks ------------------------------------------------------------------------------------------------------ */

struct hpcprof_parts hpcprof_parts(const struct hpcprof_process *processes, size_t count)
{
    struct hpcprof_parts all = {0}, ranked = {0};
    struct hashmap seen = {0};
    for (size_t i = 0; i < count; i++) {
        all.processes++;
        all.threads += processes[i].thread_count;
        if (processes[i].rank < 0)
            continue;
        uint32_t *slot = hashmap_put(&seen, (uint64_t)processes[i].rank);
        ranked.ranks += *slot == HASHMAP_NONE;
        *slot = 0;
        ranked.processes++;
        ranked.threads += processes[i].thread_count;
    }
    hashmap_release(&seen);
    return ranked.ranks ? ranked : all;
}

/* ---- call paths ---------------------------------------------------------------------------------------------- */

bool hpcprof_has_paths(const struct hpcprof *p)
{
    for (size_t i = 0; i < p->context_count; i++)
        if (p->contexts[i].parent != HPCPROF_NO_PARENT)
            return true;
    return false;
}

const char *hpcprof_cut_reason(const struct hpcprof *p, uint32_t context)
{
    const char *module = strtab_get(p->strings, p->modules[p->contexts[context].module].path);
    return str_starts(module, FORMAT_PATH_CUT) ? module : NULL;
}

/* ---- sampled and counted ------------------------------------------------------------------------------------- */

void hpcprof_tables_add_share(struct hpcprof *p, uint32_t event, struct hpcprof_share share)
{
    struct tables *t = tables_of(p);
    while (t->shares.count <= event)
        *vec_push(&t->shares) = (struct hpcprof_share){0};
    struct hpcprof_share *sum = &t->shares.items[event];
    sum->sampled = add_saturating(sum->sampled, share.sampled);
    sum->counted = add_saturating(sum->counted, share.counted);
}

/* Totals and counts are both in the order of threads, so one walk over each is enough. */
struct hpcprof_share *hpcprof_shares(const struct hpcprof *p)
{
    const struct tables *t = (const struct tables *)p;
    struct hpcprof_share *shares = mem_calloc(p->event_count, sizeof *shares);
    if (t->shares.count) {
        memcpy(shares, t->shares.items, t->shares.count * sizeof *shares);
        return shares;
    }
    uint64_t *known_in = mem_calloc(p->event_count, sizeof *known_in); /* thread + 1: its total is known there */
    for (size_t i = 0, c = 0; i < p->total_count;) {
        uint32_t thread = p->totals[i].thread;
        for (; i < p->total_count && p->totals[i].thread == thread; i++) {
            struct hpcprof_share *share = &shares[p->totals[i].event];
            known_in[p->totals[i].event] = (uint64_t)thread + 1;
            share->counted = add_saturating(share->counted, p->totals[i].value);
        }
        for (; c < p->count_count && p->counts[c].thread <= thread; c++) {
            struct hpcprof_share *share = &shares[p->counts[c].event];
            if (p->counts[c].thread == thread && known_in[p->counts[c].event] == (uint64_t)thread + 1)
                share->sampled = add_saturating(share->sampled, p->counts[c].value);
        }
    }
    mem_free(known_in);
    return shares;
}

static const char *kernel_note(const struct hpcprof *p)
{
    for (size_t i = 0; i < p->note_count; i++)
        if (strcmp(strtab_get(p->strings, p->notes[i].name), FORMAT_NOTE_KERNEL) == 0)
            return strtab_get(p->strings, p->notes[i].value);
    return NULL;
}

/* Below this many samples a gap may be chance; below a fifth it is the cost of starting and ending. */
enum { SAMPLES_TO_JUDGE = 20, LEAST_PERCENT = 80 };

void hpcprof_warn_unsampled(const struct hpcprof *p, struct warnings *w)
{
    const char *why = kernel_note(p);
    struct hpcprof_share *shares = hpcprof_shares(p);
    for (uint32_t e = 0; e < p->event_count; e++) {
        const struct hpcprof_event *event = &p->events[e];
        double counted = (double)shares[e].counted;
        double percent = counted > 0 ? 100.0 * (double)shares[e].sampled / counted : 100;
        if (event->period == 0 || event->flags & HPCPROF_LOST || percent >= LEAST_PERCENT ||
            counted / (double)event->period < SAMPLES_TO_JUDGE)
            continue;
        warnings_add(w, "%s: only %.0f%% of the counts were sampled; the rest is not attributed to any procedure%s%s",
                     strtab_get(p->strings, event->name), percent, why ? ". In the kernel: " : "", why ? why : "");
    }
    mem_free(shares);
}
