/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which functions never return.
 *
 * First by name. Then the closure: a function never returns if no reachable code in it returns, calls in tail position a
 * function that may return, jumps to an unknown place, or runs out of its end; code after a call of a function that never
 * returns is not reached by it.
 *
 * The set grows from the names until nothing changes. To do that in little more than one pass over the code, each
 * function that may return keeps one witness: the calls on a short path from its entry to a return. As long as all of
 * these may return, nothing about it has changed; only when one of them turns out not to is the function looked at
 * again. (This is how the "two watched literals" of SAT solvers work.) The result is the least set closed under the
 * rule, so it depends neither on the order of work nor on threads.
 */
#include "bloop/code/cfg_int.h"

#include <stdlib.h>

/* A function whose witness broke so often is taken to return; bounds the work on code made to be expensive. */
#define LOOKS_MAX 200

/* ---- one function ------------------------------------------------------------------------ */

static uint32_t tail_callee(const struct cfg_work *w, pos at)
{
    for (size_t i = cfg_call_from(w, at); i < w->calls.count && w->calls.items[i].at == at; i++)
        return w->calls.items[i].callee;
    return FUNCTION_NONE;
}

/* May control leave the function for its caller at the end of this block? */
static bool may_leave(const struct cfg_work *w, const struct cfg_block *b, const uint8_t *noreturn)
{
    const struct term *t = cfg_term_of(w, b);
    if (t == NULL)
        return false;
    switch (t->kind) {
    case INSN_RETURN:
        return true;
    case INSN_BRANCH:
    case INSN_JUMP:
        if (t->tail) {
            uint32_t callee = tail_callee(w, t->at);
            return callee == FUNCTION_NONE || !noreturn[callee];
        }
        return false;
    case INSN_JUMP_INDIRECT: {
        const struct indirect *j = cfg_indirect_at(w, t->at);
        return j == NULL || j->state != INDIRECT_RESOLVED;
    }
    case INSN_BAD:
        return !t->goes_on;
    case INSN_PLAIN: /* runs out of its end */
        return true;
    default:
        return false;
    }
}

/* Lists the callees that must return on a way with fewest blocks from an entry to a block where control may leave.
 * False: no such way. */
static bool find_witness(struct noreturn_notes *l, const struct cfg *g, const uint8_t *noreturn)
{
    const struct cfg_work *w = g->work;
    l->callees.count = 0;
    vec_reserve(&l->reached_from, g->block_count + 1);
    uint32_t *from = l->reached_from.items;
    memset(from, 0xff, g->block_count * sizeof *from);
    l->queue.count = 0;
    for (size_t i = 0; i < g->entry_count; i++)
        if (from[g->entries[i]] == UINT32_MAX) {
            from[g->entries[i]] = g->entries[i];
            *vec_push(&l->queue) = g->entries[i];
        }
    for (size_t done = 0; done < l->queue.count; done++) {
        uint32_t b = l->queue.items[done];
        if (may_leave(w, &g->blocks[b], noreturn)) {
            for (;; b = from[b]) {
                cfg_callees_of(w, &g->blocks[b], noreturn, &l->callees);
                if (from[b] == b)
                    return true;
            }
        }
        for (uint32_t i = 0; i < g->blocks[b].succ_count; i++) {
            uint32_t to = g->succs[g->blocks[b].succ_first + i];
            if (from[to] == UINT32_MAX) {
                from[to] = b;
                *vec_push(&l->queue) = to;
            }
        }
    }
    return g->block_count == 0; /* nothing known of it: may return */
}

/* ---- the closure -------------------------------------------------------------------------- */

/* Each chunk makes its own index of all functions, so there are not many; enough for all processors to be busy to the
 * end. */
enum { CHUNKS = 64, CHUNK_LEAST = 256 };
struct closure {
    const struct image *image;
    const struct function_table *table;
    const struct arch *arch;
    uint8_t *noreturn;
    size_t chunk; /* functions of one */
    struct noreturn_notes *notes;
};

void noreturn_notes_release(struct noreturn_notes *n)
{
    vec_release(&n->witnesses);
    vec_release(&n->calls);
    vec_release(&n->found);
    vec_release(&n->reached_from);
    vec_release(&n->queue);
    vec_release(&n->callees);
}

void noreturn_notes_take(struct noreturn_notes *from, struct noreturn_notes *to)
{
    to->witnesses = from->witnesses;
    to->calls = from->calls;
    to->found = from->found;
    memset(&from->witnesses, 0, sizeof from->witnesses);
    memset(&from->calls, 0, sizeof from->calls);
    memset(&from->found, 0, sizeof from->found);
}

static void build(const struct closure *c, struct cfg *g, uint32_t f)
{
    struct cfg_input in = {
        .image = c->image, .functions = c->table, .arch = c->arch, .noreturn = c->noreturn, .function = f};
    cfg_build(&in, g);
}

static bool worth_a_look(const struct function_table *t, const uint8_t *noreturn, uint32_t f)
{
    const struct function *fn = &t->functions[f];
    return !fn->plt && !fn->ifunc && fn->part_of == FUNCTION_NONE && !noreturn[f];
}

/* A function's evidence, or its absence. */
static void note_witness(struct noreturn_notes *n, const uint8_t *noreturn, uint32_t function, const struct cfg *g)
{
    if (!find_witness(n, g, noreturn))
        *vec_push(&n->found) = function;
    for (size_t i = 0; i < n->callees.count; i++)
        *vec_push(&n->witnesses) = (struct noreturn_pair){function, n->callees.items[i]};
}

void noreturn_note(struct noreturn_notes *n, const struct function_table *t, const uint8_t *noreturn, uint32_t function,
                   const struct cfg *g)
{
    const struct cfg_work *w = g->work;
    if (worth_a_look(t, noreturn, function))
        note_witness(n, noreturn, function, g);
    uint32_t last = FUNCTION_NONE;
    for (size_t i = 0; i < w->calls.count; i++) {
        uint32_t callee = w->calls.items[i].callee;
        if (callee != FUNCTION_NONE && callee != last && !noreturn[callee])
            *vec_push(&n->calls) = (struct noreturn_pair){function, callee};
        last = callee;
    }
}

static void look_at_chunk(void *ctx, size_t chunk)
{
    struct closure *c = ctx;
    struct cfg g = {0};
    size_t begin = chunk * c->chunk, end = begin + c->chunk < c->table->count ? begin + c->chunk : c->table->count;
    for (size_t f = begin; f < end; f++) {
        if (!worth_a_look(c->table, c->noreturn, (uint32_t)f))
            continue;
        build(c, &g, (uint32_t)f);
        note_witness(&c->notes[chunk], c->noreturn, (uint32_t)f, &g);
    }
    cfg_release(&g);
}

struct watch_node {
    uint32_t function, next;
};
struct watch_lists { /* by callee, linked */
    uint32_t *head;
    struct VEC(struct watch_node) nodes;
};

static void watch(struct watch_lists *l, uint32_t function, uint32_t callee)
{
    uint32_t i = (uint32_t)l->nodes.count;
    *vec_push(&l->nodes) = (struct watch_node){function, l->head[callee]};
    l->head[callee] = i;
}

/* From the functions found so far to their callers, as long as there are new ones. */
static void spread(struct closure *c, struct watch_lists *watches, struct index_list *found)
{
    struct cfg g = {0};
    struct noreturn_notes n = {0};
    uint8_t *looks = mem_calloc(c->table->count + 1, 1);
    for (size_t done = 0; done < found->count; done++) {
        for (uint32_t i = watches->head[found->items[done]]; i != UINT32_MAX;) {
            struct watch_node node = watches->nodes.items[i];
            uint32_t f = node.function;
            i = node.next;
            if (c->noreturn[f] || looks[f] >= LOOKS_MAX)
                continue;
            looks[f]++;
            build(c, &g, f);
            if (!find_witness(&n, &g, c->noreturn)) {
                c->noreturn[f] = 1;
                *vec_push(found) = f;
            } else {
                for (size_t k = 0; k < n.callees.count; k++)
                    watch(watches, f, n.callees.items[k]);
            }
        }
    }
    mem_free(looks);
    noreturn_notes_release(&n);
    cfg_release(&g);
}

/* Conclusions from the notes; *found are all functions that they add. */
static void close_over_callers(struct closure *c, const struct noreturn_notes *notes, size_t count,
                               struct index_list *found)
{
    struct watch_lists watches = {.head = mem_alloc((c->table->count + 1) * sizeof *watches.head)};
    memset(watches.head, 0xff, (c->table->count + 1) * sizeof *watches.head);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < notes[i].witnesses.count; k++)
            watch(&watches, notes[i].witnesses.items[k].function, notes[i].witnesses.items[k].callee);
        for (size_t k = 0; k < notes[i].found.count; k++) {
            c->noreturn[notes[i].found.items[k]] = 1;
            *vec_push(found) = notes[i].found.items[k];
        }
    }
    spread(c, &watches, found);
    mem_free(watches.head);
    vec_release(&watches.nodes);
}

void noreturn_close(const struct image *image, const struct function_table *table, uint8_t *noreturn,
                    struct noreturn_notes *notes, size_t note_count, struct index_list *again)
{
    struct closure c = {.image = image, .table = table, .arch = arch_get(image->arch), .noreturn = noreturn};
    struct index_list found = {0};
    close_over_callers(&c, notes, note_count, &found);
    for (size_t i = 0; i < note_count; i++) {
        for (size_t k = 0; found.count > 0 && k < notes[i].calls.count; k++)
            if (noreturn[notes[i].calls.items[k].callee]) /* it was not when this was noted */
                *vec_push(again) = notes[i].calls.items[k].function;
        noreturn_notes_release(&notes[i]);
    }
    vec_sort_unique(again, order_u32);
    vec_release(&found);
}

/* ---- on demand ------------------------------------------------------------------------------- */

static void follow_callees(const struct closure *c, const struct cfg_work *w, uint8_t *depth, uint8_t at_depth,
                           struct index_list *queue)
{
    for (size_t i = 0; i < w->calls.count && at_depth < NORETURN_DEPTH; i++) {
        uint32_t callee = w->calls.items[i].callee;
        if (callee == FUNCTION_NONE || depth[callee] != 0 || !worth_a_look(c->table, c->noreturn, callee))
            continue;
        depth[callee] = at_depth + 1;
        *vec_push(queue) = callee;
    }
}

void noreturn_follow(const struct image *image, const struct function_table *table, uint8_t *noreturn,
                     const uint32_t *wanted, size_t count)
{
    struct closure c = {.image = image, .table = table, .arch = arch_get(image->arch), .noreturn = noreturn};
    struct watch_lists watches = {.head = mem_alloc((table->count + 1) * sizeof *watches.head)};
    struct index_list found = {0};
    struct noreturn_notes n = {0};
    struct index_list queue = {0};
    struct cfg g = {0};
    uint8_t *depth = mem_calloc(table->count + 1, 1); /* 0: not seen; 1: asked for */
    uint64_t bytes = 0;
    memset(watches.head, 0xff, (table->count + 1) * sizeof *watches.head);
    for (size_t i = 0; i < count; i++)
        if (depth[wanted[i]] == 0 && worth_a_look(table, noreturn, wanted[i])) {
            depth[wanted[i]] = 1;
            *vec_push(&queue) = wanted[i];
        }
    size_t asked = queue.count;
    for (size_t done = 0; done < queue.count && c.arch != NULL; done++) {
        uint32_t f = queue.items[done];
        if (done >= asked && (bytes += table->functions[f].end - table->functions[f].begin) > NORETURN_BYTES)
            break;
        build(&c, &g, f);
        if (!find_witness(&n, &g, noreturn))
            *vec_push(&found) = f;
        for (size_t i = 0; i < n.callees.count; i++)
            watch(&watches, f, n.callees.items[i]);
        follow_callees(&c, g.work, depth, depth[f], &queue);
    }
    for (size_t i = 0; i < found.count; i++)
        noreturn[found.items[i]] = 1;
    spread(&c, &watches, &found);
    mem_free(watches.head);
    mem_free(depth);
    vec_release(&watches.nodes);
    vec_release(&found);
    vec_release(&queue);
    noreturn_notes_release(&n);
    cfg_release(&g);
}

uint8_t *noreturn_find(const struct image *image, const struct function_table *table, bool whole, unsigned threads)
{
    uint8_t *noreturn = mem_calloc(table->count + 1, 1);
    for (size_t f = 0; f < table->count; f++)
        noreturn[f] = function_noreturn_by_name(table, &table->functions[f]);
    struct closure c = {.image = image, .table = table, .arch = arch_get(image->arch), .noreturn = noreturn};
    if (whole) {
        c.chunk = table->count / CHUNKS + 1 > CHUNK_LEAST ? table->count / CHUNKS + 1 : CHUNK_LEAST;
        size_t chunks = (table->count + c.chunk - 1) / c.chunk;
        struct index_list found = {0};
        c.notes = mem_calloc(chunks + 1, sizeof *c.notes);
        parallel_for(chunks, threads, look_at_chunk, &c);
        close_over_callers(&c, c.notes, chunks, &found);
        for (size_t i = 0; i < chunks; i++)
            noreturn_notes_release(&c.notes[i]);
        mem_free(c.notes);
        vec_release(&found);
    }
    return noreturn;
}
