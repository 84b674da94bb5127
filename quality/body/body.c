/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One innermost loop: its instructions, and the shortest path from its header back to it. Results for the loop are
 * those of that path, so that no bound exceeds the cost of an iteration.
 */
#include "quality/body/body.h"

enum { PATHS_COUNTED = 1000 };

void body_release(struct body *b)
{
    vec_release(&b->steps);
    vec_release(&b->path);
    vec_release(&b->refs);
    vec_release(&b->blocks);
    vec_release(&b->order);
    vec_release(&b->best);
    vec_release(&b->first_step);
    vec_release(&b->ways);
    mem_free(b->loaded);
    b->loaded = NULL;
}

/* ---- blocks ------------------------------------------------------------------------ */

static bool holds_loop(const struct loop_forest *f, uint32_t loop)
{
    return loop + 1 < f->loop_count && f->loops[loop + 1].parent == loop;
}

static void collect_blocks(struct body *b)
{
    const struct loop_forest *f = b->code->forest;
    b->blocks.count = 0;
    for (uint32_t i = 0; i < b->code->cfg->block_count; i++)
        if (f->block_loop[i] == b->loop)
            *vec_push(&b->blocks) = i;
}

static void collect_block(struct body *b, uint32_t block)
{
    const struct cfg_block *at = &b->code->cfg->blocks[block];
    size_t avail;
    const uint8_t *bytes = image_bytes(b->code->image, at->begin, &avail);
    if (!bytes)
        return;
    if (avail > at->end - at->begin)
        avail = (size_t)(at->end - at->begin);
    for (size_t i = 0, length; i < avail; i += length) {
        if (b->steps.count == LIMIT_LOOP_INSTRUCTIONS) {
            b->cut = true;
            return;
        }
        struct step *s = vec_push(&b->steps);
        *s = (struct step){.addr = at->begin + i, .bytes = bytes + i, .block = block};
        s->known = b->code->arch->facts(bytes + i, avail - i, s->addr, &s->f);
        b->code->arch->detail->lift(bytes + i, avail - i, s->addr, &s->op);
        length = s->f.insn.length ? s->f.insn.length : 1;
        b->undecodable += !s->known;
    }
}

/* ---- ways ---------------------------------------------------------------------------- */

static size_t place_of(const struct body *b, uint32_t block)
{
    size_t i = sorted_front(b->blocks.count, k, b->blocks.items[k] < block);
    return i < b->blocks.count && b->blocks.items[i] == block ? i : SIZE_MAX;
}

struct visit { /* of a block, by its place, and of its next successor */
    uint32_t place, next;
};

/* Blocks in an order in which each comes before its successors, except for the header; false: there is another cycle
   inside. Depth first, with a stack of its own. */
static bool order_blocks(struct body *b)
{
    enum { NEW, OPEN, DONE };
    const struct cfg *g = b->code->cfg;
    size_t n = b->blocks.count;
    uint8_t *state = mem_calloc(n + 1, 1);
    struct VEC(struct visit) stack = {0};
    bool simple = true;
    b->order.count = 0;
    size_t header = place_of(b, b->code->forest->loops[b->loop].header);
    vec_push(&stack)->place = (uint32_t)header;
    stack.items[0].next = 0;
    state[header] = OPEN;
    while (stack.count > 0) {
        uint32_t place = stack.items[stack.count - 1].place;
        const struct cfg_block *at = &g->blocks[b->blocks.items[place]];
        if (stack.items[stack.count - 1].next == at->succ_count) {
            state[place] = DONE;
            *vec_push(&b->order) = place;
            stack.count--;
            continue;
        }
        size_t to = place_of(b, g->succs[at->succ_first + stack.items[stack.count - 1].next++]);
        if (to == SIZE_MAX || to == header || state[to] == DONE)
            continue;
        if (state[to] == OPEN) {
            simple = false;
            continue;
        }
        state[to] = OPEN;
        vec_push(&stack)->place = (uint32_t)to;
        stack.items[stack.count - 1].next = 0;
    }
    vec_release(&stack);
    mem_free(state);
    return simple; /* `order` has the last block first */
}

/* For each block the number of ways on to the header, and the successor on the shortest. */
static void find_ways(struct body *b)
{
    const struct cfg *g = b->code->cfg;
    uint32_t header = b->code->forest->loops[b->loop].header;
    size_t n = b->blocks.count;
    struct VEC(uint64_t) length = {0};
    b->best.count = b->ways.count = 0;
    for (size_t i = 0; i < n; i++) {
        *vec_push(&b->best) = UINT32_MAX;
        *vec_push(&b->ways) = 0;
        *vec_push(&length) = UINT64_MAX;
    }
    for (size_t k = 0; k < b->order.count; k++) {
        uint32_t place = b->order.items[k];
        const struct cfg_block *at = &g->blocks[b->blocks.items[place]];
        uint64_t own = b->first_step.items[place + 1] - b->first_step.items[place];
        for (uint32_t s = 0; s < at->succ_count; s++) {
            uint32_t succ = g->succs[at->succ_first + s];
            size_t to = succ == header ? SIZE_MAX : place_of(b, succ);
            if (succ != header && (to == SIZE_MAX || length.items[to] == UINT64_MAX))
                continue;
            uint64_t all = own + (succ == header ? 0 : length.items[to]);
            b->ways.items[place] += succ == header ? 1 : b->ways.items[to];
            if (all < length.items[place]) {
                length.items[place] = all;
                b->best.items[place] = (uint32_t)(succ == header ? UINT32_MAX : to);
            }
        }
    }
    vec_release(&length);
}

static void take_block(struct body *b, uint32_t place)
{
    for (uint32_t i = b->first_step.items[place]; i < b->first_step.items[place + 1]; i++) {
        b->steps.items[i].on_path = true;
        *vec_push(&b->path) = i;
    }
}

static void take_path(struct body *b)
{
    b->path.count = 0;
    if (b->tangled) {
        for (uint32_t i = 0; i < b->blocks.count; i++)
            take_block(b, i);
        return;
    }
    size_t at = place_of(b, b->code->forest->loops[b->loop].header);
    for (size_t steps = 0; at != UINT32_MAX && steps <= b->blocks.count; steps++) {
        take_block(b, (uint32_t)at);
        at = b->best.items[at];
    }
}

bool body_make(struct body *b, const struct bloop_code *code, uint32_t loop, const struct machine_core *machine)
{
    if (holds_loop(code->forest, loop))
        return false;
    b->code = code;
    b->machine = machine;
    b->loop = loop;
    b->steps.count = b->refs.count = b->first_step.count = 0;
    b->undecodable = 0;
    b->cut = false;
    collect_blocks(b);
    for (size_t i = 0; i < b->blocks.count; i++) {
        *vec_push(&b->first_step) = (uint32_t)b->steps.count;
        collect_block(b, b->blocks.items[i]);
    }
    *vec_push(&b->first_step) = (uint32_t)b->steps.count;
    b->tangled = code->forest->loops[loop].irreducible || !order_blocks(b);
    b->paths = 1;
    if (!b->tangled) {
        find_ways(b);
        double ways = b->ways.items[place_of(b, code->forest->loops[loop].header)];
        b->paths = ways > PATHS_COUNTED ? PATHS_COUNTED : ways < 1 ? 1 : (uint32_t)ways;
    }
    take_path(b);
    return true;
}
