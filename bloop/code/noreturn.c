/*
 * Which functions never return.
 *
 * First by name. Then the closure: a function never returns if nothing that can be reached in it returns, calls in tail
 * position a function that may return, jumps to an unknown place, or runs out of its end; what follows a call of a
 * function that never returns is not reached by it.
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

struct looker { /* what one thread needs to look at functions */
    struct cfg g;
    struct VEC(uint32_t) reached_from; /* by block */
    struct VEC(uint32_t) queue;
};

static void looker_release(struct looker *l)
{
    cfg_release(&l->g);
    vec_release(&l->reached_from);
    vec_release(&l->queue);
}

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

/* Appends the callees that must return on a way with fewest blocks from an entry to a block where control may leave.
 * False: no such way. */
static bool find_witness(struct looker *l, const uint8_t *noreturn, struct VEC_u32 *callees)
{
    const struct cfg *g = &l->g;
    const struct cfg_work *w = g->work;
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
                cfg_callees_of(w, &g->blocks[b], noreturn, callees);
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

struct watch { /* `function` has `callee` in its witness */
    uint32_t function, callee;
};

/* Each chunk makes its own index of all functions, so there are not many; enough for all processors to be busy to the
 * end. */
enum { CHUNKS = 64, CHUNK_LEAST = 256 };
struct closure {
    const struct image *image;
    const struct function_table *table;
    const struct arch *arch;
    uint8_t *noreturn;
    size_t chunk; /* functions of one */
    struct chunk_result {
        struct VEC(struct watch) watches;
        struct VEC(uint32_t) found;
    } * results;
};

/* Looks at one function with what is known of others; false: it never returns. */
static bool look(const struct closure *c, struct looker *l, uint32_t f, struct VEC_u32 *callees)
{
    struct cfg_input in = {
        .image = c->image, .functions = c->table, .arch = c->arch, .noreturn = c->noreturn, .function = f};
    callees->count = 0;
    cfg_build(&in, &l->g);
    return find_witness(l, c->noreturn, callees);
}

static bool worth_a_look(const struct closure *c, uint32_t f)
{
    const struct function *fn = &c->table->functions[f];
    return !fn->plt && !fn->ifunc && fn->part_of == FUNCTION_NONE && !c->noreturn[f];
}

static void look_at_chunk(void *ctx, size_t chunk)
{
    struct closure *c = ctx;
    struct chunk_result *r = &c->results[chunk];
    struct looker l = {0};
    struct VEC_u32 callees = {0};
    size_t begin = chunk * c->chunk, end = begin + c->chunk < c->table->count ? begin + c->chunk : c->table->count;
    for (size_t f = begin; f < end; f++) {
        if (!worth_a_look(c, (uint32_t)f))
            continue;
        if (!look(c, &l, (uint32_t)f, &callees))
            *vec_push(&r->found) = (uint32_t)f;
        for (size_t i = 0; i < callees.count; i++)
            *vec_push(&r->watches) = (struct watch){(uint32_t)f, callees.items[i]};
    }
    vec_release(&callees);
    looker_release(&l);
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
static void spread(struct closure *c, struct watch_lists *watches, struct VEC_u32 *found)
{
    struct looker l = {0};
    struct VEC_u32 callees = {0};
    uint8_t *looks = mem_calloc(c->table->count + 1, 1);
    for (size_t done = 0; done < found->count; done++) {
        for (uint32_t i = watches->head[found->items[done]]; i != UINT32_MAX;) {
            struct watch_node node = watches->nodes.items[i];
            uint32_t f = node.function;
            i = node.next;
            if (c->noreturn[f] || looks[f] >= LOOKS_MAX)
                continue;
            looks[f]++;
            if (!look(c, &l, f, &callees)) {
                c->noreturn[f] = 1;
                *vec_push(found) = f;
            } else {
                for (size_t k = 0; k < callees.count; k++)
                    watch(watches, f, callees.items[k]);
            }
        }
    }
    mem_free(looks);
    vec_release(&callees);
    looker_release(&l);
}

static void close_over_callers(struct closure *c, unsigned threads)
{
    c->chunk = c->table->count / CHUNKS + 1 > CHUNK_LEAST ? c->table->count / CHUNKS + 1 : CHUNK_LEAST;
    size_t chunks = (c->table->count + c->chunk - 1) / c->chunk;
    c->results = mem_calloc(chunks + 1, sizeof *c->results);
    parallel_for(chunks, threads, look_at_chunk, c);
    struct watch_lists watches = {.head = mem_alloc((c->table->count + 1) * sizeof *watches.head)};
    struct VEC_u32 found = {0};
    memset(watches.head, 0xff, (c->table->count + 1) * sizeof *watches.head);
    for (size_t i = 0; i < chunks; i++) {
        struct chunk_result *r = &c->results[i];
        for (size_t k = 0; k < r->watches.count; k++)
            watch(&watches, r->watches.items[k].function, r->watches.items[k].callee);
        for (size_t k = 0; k < r->found.count; k++) {
            c->noreturn[r->found.items[k]] = 1;
            *vec_push(&found) = r->found.items[k];
        }
        vec_release(&r->watches);
        vec_release(&r->found);
    }
    spread(c, &watches, &found);
    mem_free(watches.head);
    vec_release(&watches.nodes);
    vec_release(&found);
    mem_free(c->results);
}

/* ---- on demand ------------------------------------------------------------------------------- */

struct follow_list VEC(uint32_t);

static void follow_callees(const struct closure *c, const struct cfg_work *w, uint8_t *depth, uint8_t at_depth,
                           struct follow_list *queue)
{
    for (size_t i = 0; i < w->calls.count && at_depth < NORETURN_DEPTH; i++) {
        uint32_t callee = w->calls.items[i].callee;
        if (callee == FUNCTION_NONE || depth[callee] != 0 || !worth_a_look(c, callee))
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
    struct VEC_u32 found = {0}, callees = {0};
    struct follow_list queue = {0};
    struct looker l = {0};
    uint8_t *depth = mem_calloc(table->count + 1, 1); /* 0: not seen; 1: asked for */
    uint64_t bytes = 0;
    memset(watches.head, 0xff, (table->count + 1) * sizeof *watches.head);
    for (size_t i = 0; i < count; i++)
        if (depth[wanted[i]] == 0 && worth_a_look(&c, wanted[i])) {
            depth[wanted[i]] = 1;
            *vec_push(&queue) = wanted[i];
        }
    size_t asked = queue.count;
    for (size_t done = 0; done < queue.count && c.arch != NULL; done++) {
        uint32_t f = queue.items[done];
        if (done >= asked && (bytes += table->functions[f].end - table->functions[f].begin) > NORETURN_BYTES)
            break;
        if (!look(&c, &l, f, &callees))
            *vec_push(&found) = f;
        for (size_t i = 0; i < callees.count; i++)
            watch(&watches, f, callees.items[i]);
        follow_callees(&c, l.g.work, depth, depth[f], &queue);
    }
    for (size_t i = 0; i < found.count; i++)
        noreturn[found.items[i]] = 1;
    spread(&c, &watches, &found);
    mem_free(watches.head);
    mem_free(depth);
    vec_release(&watches.nodes);
    vec_release(&found);
    vec_release(&callees);
    vec_release(&queue);
    looker_release(&l);
}

uint8_t *noreturn_find(const struct image *image, const struct function_table *table, bool whole, unsigned threads)
{
    uint8_t *noreturn = mem_calloc(table->count + 1, 1);
    for (size_t f = 0; f < table->count; f++)
        noreturn[f] = function_noreturn_by_name(table, &table->functions[f]);
    struct closure c = {.image = image, .table = table, .arch = arch_get(image->arch), .noreturn = noreturn};
    if (whole && c.arch != NULL)
        close_over_callers(&c, threads);
    return noreturn;
}
