/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Basic blocks and edges of one function.
 *
 *     entries -> [explore: decode in a line until control cannot go on, note branches, push their targets] -> ...
 *                      ^                                                              |
 *                      +---- targets of jump tables <---- [jumptable.c] <--- nothing pending
 *     then: leaders in the order of address become blocks, terms give their edges.
 *
 * Each instruction is decoded once, however many ways lead to it (twice where code overlaps). Time is linear in the bytes of
 * the function except for sorting the terms, which come nearly sorted.
 *
 * The end of a function is a wall: code that runs into it falls out, never into the next function. Structure recovery
 * that takes the next function in swallows hundreds of functions after one call that does not return.
 */
#include "bloop/code/cfg_int.h"

#include <stdlib.h>

/* After that many rounds the rest of the indirect jumps stays unresolved: a switch in a switch in a switch ... of 100
 * levels is not code. */
#define ROUNDS_MAX 100

/* ---- bitmaps and positions ------------------------------------------------------------- */

/* Sets n <= 64 bits from p on; true if one of them was set already. */
static inline bool bits_set(uint64_t *map, pos p, unsigned n)
{
    uint64_t mask = n == 64 ? UINT64_MAX : (1ull << n) - 1;
    unsigned shift = p & 63;
    uint64_t low = mask << shift, high = shift != 0 ? mask >> (64 - shift) : 0;
    uint64_t *w = &map[p >> 6];
    bool was = w[0] & low;
    w[0] |= low;
    if (high != 0) {
        was |= (w[1] & high) != 0;
        w[1] |= high;
    }
    return was;
}

static uint64_t bits_count(const uint64_t *map, size_t words)
{
    uint64_t n = 0;
    for (size_t i = 0; i < words; i++)
        n += (uint64_t)__builtin_popcountll(map[i]);
    return n;
}

/* ---- the function's parts -------------------------------------------------------------------- */

static void add_part(struct cfg_work *w, uint32_t f)
{
    const struct function *fn = &w->in->functions->functions[f];
    if (fn->end <= fn->begin)
        return;
    size_t avail = 0;
    const uint8_t *bytes = image_bytes(w->in->image, fn->begin, &avail);
    if (bytes == NULL || avail == 0)
        return;
    vaddr size = fn->end - fn->begin;
    if (size > avail)
        size = avail;
    if (size > UINT32_MAX / 2) /* positions have 32 bits; no function has 2 GiB */
        size = UINT32_MAX / 2;
    *vec_push(&w->parts) =
        (struct cfg_part){.begin = fn->begin, .end = fn->begin + size, .bytes = bytes, .function = f};
}

static int by_begin(const void *a, const void *b)
{
    const struct cfg_part *x = a, *y = b;
    return order_of(x->begin, y->begin);
}

static void collect_parts(struct cfg_work *w)
{
    w->parts.count = 0;
    add_part(w, w->in->function);
    size_t count;
    const struct part_of *parts = function_index_parts(&w->index, w->in->function, &count);
    for (size_t i = 0; i < count; i++)
        add_part(w, parts[i].part);
    vec_sort(&w->parts, by_begin);
    uint64_t next = 0;
    size_t fit = 0;
    for (size_t i = 0; i < w->parts.count; i++) {
        struct cfg_part *p = &w->parts.items[i];
        uint64_t size = p->end - p->begin;
        if (next + size > UINT32_MAX - 128)
            break;
        p->first = (pos)next;
        next = (next + size + 64) & ~63ull; /* always a gap, so that no part runs into the next */
        fit++;
    }
    w->parts.count = fit;
    w->end = (pos)next;
}

static void clear_maps(struct cfg_work *w)
{
    w->words = ((size_t)w->end >> 6) + 1; /* one more, so that bits_set may touch its neighbour */
    if (w->words > w->word_capacity) {
        size_t n = w->words + w->words / 2;
        w->word_capacity = n;
        w->start = mem_realloc(w->start, n, 8);
        w->covered = mem_realloc(w->covered, n, 8);
        w->leader = mem_realloc(w->leader, n, 8);
        w->entered = mem_realloc(w->entered, n, 8);
        w->table = mem_realloc(w->table, n, 8);
        w->maybe_start = mem_realloc(w->maybe_start, n, 8);
        w->maybe_covered = mem_realloc(w->maybe_covered, n, 8);
        memset(w->maybe_start, 0, n * 8);
        memset(w->maybe_covered, 0, n * 8);
        w->padded = mem_realloc(w->padded, n, 8);
        w->rank = mem_realloc(w->rank, n, 4);
    }
    memset(w->start, 0, w->words * 8);
    memset(w->covered, 0, w->words * 8);
    memset(w->leader, 0, w->words * 8);
    memset(w->entered, 0, w->words * 8);
    memset(w->table, 0, w->words * 8);
}

static void clear_work(struct cfg_work *w)
{
    clear_maps(w);
    w->terms.count = w->calls.count = w->pending.count = w->entries.count = 0;
    w->indirects.count = w->targets.count = w->sites.count = w->pad_edges.count = 0;
    w->overlaps = false;
    w->terms_sorted = w->calls_sorted = true;
    w->bad_bytes = w->table_bytes = 0;
}

/* ---- explore ------------------------------------------------------------------------------------ */

/* A block begins at p; decode it if that is still to do. */
static void reach(struct cfg_work *w, pos p)
{
    bit_set(w->leader, p);
    if (!bit_get(w->start, p))
        *vec_push(&w->pending) = p;
}

/* The position a jump goes to, if it stays in the function; only from there on is it an edge. */
static pos reach_target(struct cfg_work *w, vaddr target)
{
    pos p = cfg_position(w, target);
    if (p == POS_NONE || bit_get(w->table, p))
        return POS_NONE;
    reach(w, p);
    return p;
}

static bool never_returns(const struct cfg_work *w, uint32_t callee)
{
    return callee != FUNCTION_NONE && w->in->noreturn != NULL && w->in->noreturn[callee];
}

/* gcc: __x86_indirect_thunk_rax (-mindirect-branch=thunk-extern), clang: __llvm_retpoline_r11. A jump to one is an
 * indirect jump. */
static bool is_retpoline(const struct cfg_work *w, uint32_t callee)
{
    if (callee == FUNCTION_NONE)
        return false;
    const char *name = w->index.functions[callee].link_name;
    return str_starts(name, "__x86_indirect_") || str_starts(name, "__llvm_retpoline_");
}

static void push_call(struct cfg_work *w, pos at, uint32_t callee)
{
    if (w->calls.count > 0 && w->calls.items[w->calls.count - 1].at > at)
        w->calls_sorted = false;
    *vec_push(&w->calls) = (struct call){at, callee};
}

static void note_call(struct cfg_work *w, const struct insn *in, pos at, struct term *t)
{
    uint32_t callee = function_index_find(&w->index, in->target);
    /* A call into the middle of a function is not a call of that function. */
    if (callee != FUNCTION_NONE && w->index.functions[callee].begin != in->target)
        callee = FUNCTION_NONE;
    push_call(w, at, callee);
    if (w->in->calls != NULL)
        *vec_push(w->in->calls) = in->target;
    pos local = cfg_position(w, in->target);
    if (local != POS_NONE && callee != w->in->function &&
        !bit_get(w->table, local)) { /* a subroutine inside: asm, inline retpolines */
        bit_set(w->entered, local);
        if (!bit_get(w->leader, local))
            *vec_push(&w->entries) = local;
        reach(w, local);
    }
    t->goes_on = !never_returns(w, callee);
}

static void note_jump(struct cfg_work *w, const struct insn *in, struct term *t)
{
    t->target = reach_target(w, in->target);
    if (t->target != POS_NONE)
        return;
    t->tail = true;
    uint32_t callee = function_index_find(&w->index, in->target);
    if (t->kind == INSN_JUMP && is_retpoline(w, callee))
        t->kind = INSN_JUMP_INDIRECT;
    else if (callee != FUNCTION_NONE)
        push_call(w, t->at, callee);
}

/* call *exit@GOTPCREL(%rip), as -fno-plt and Rust make them: ff 15 and a displacement. 0: another form, which names no
   slot. */
static vaddr slot_of_call(const struct cfg_work *w, const struct insn *in, pos at)
{
    const struct cfg_part *part = cfg_part_at(w, at);
    const uint8_t *p = part->bytes + (at - part->first);
    if (w->in->arch->kind != ARCH_X86_64 || in->length < 6 || p[in->length - 6] != 0xff || p[in->length - 5] != 0x15)
        return 0;
    int32_t disp;
    memcpy(&disp, p + in->length - 4, 4);
    return in->addr + in->length + (uint64_t)(int64_t)disp;
}

/* The value that only the loader writes into that slot: a function of this binary. */
static uint32_t function_in_slot(const struct cfg_work *w, vaddr slot)
{
    const struct image_section *s = slot ? image_section_at(w->in->image, slot) : NULL;
    vaddr target;
    if (!s || strcmp(s->name, ".got") != 0 || !image_pointer(w->in->image, slot, &target))
        return FUNCTION_NONE;
    uint32_t callee = function_index_find(&w->index, target);
    return callee != FUNCTION_NONE && w->index.functions[callee].begin == target ? callee : FUNCTION_NONE;
}

static void note_indirect_call(struct cfg_work *w, const struct insn *in, pos at, struct term *t)
{
    vaddr slot = slot_of_call(w, in, at);
    const char *name = slot ? image_slot_name(w->in->image, slot) : NULL;
    uint32_t callee = name ? FUNCTION_NONE : function_in_slot(w, slot);
    push_call(w, at, callee);
    t->goes_on = name ? !noreturn_name(name) : !never_returns(w, callee);
}

static void push_term(struct cfg_work *w, const struct term *t)
{
    if (w->terms.count > 0 && w->terms.items[w->terms.count - 1].at > t->at)
        w->terms_sorted = false;
    *vec_push(&w->terms) = *t;
}

/* The instruction ends a block or is a call. True: decoding goes on behind it. */
static bool end_or_call(struct cfg_work *w, const struct insn *in, pos at)
{
    struct term t = {.at = at, .end = at + in->length, .target = POS_NONE, .kind = in->kind};
    switch (in->kind) {
    case INSN_CALL:
        note_call(w, in, at, &t);
        if (t.goes_on)
            return true;
        break;
    case INSN_CALL_INDIRECT:
        note_indirect_call(w, in, at, &t);
        if (t.goes_on)
            return true;
        break;
    case INSN_BRANCH:
        t.goes_on = true;
        note_jump(w, in, &t);
        break;
    case INSN_JUMP:
        note_jump(w, in, &t);
        break;
    case INSN_JUMP_INDIRECT:
        *vec_push(&w->indirects) = (struct indirect){.at = at};
        break;
    case INSN_BAD:
        /* A vector instruction the decoder does not know has a length all the same, and code goes on behind it. */
        w->bad_bytes += in->length;
        t.goes_on = in->length > 1;
        break;
    default:
        break;
    }
    push_term(w, &t);
    return t.goes_on;
}

/* Decode in a line from p on. */
static void explore_line(struct cfg_work *w, pos p)
{
    const struct cfg_part *part = cfg_part_at(w, p);
    const pos end = part->first + (pos)(part->end - part->begin);
    const uint8_t *bytes = part->bytes - part->first;
    const vaddr base = part->begin - part->first;
    void (*decode)(const uint8_t *, size_t, vaddr, struct insn *) = w->in->arch->decode;
    pos last = p;
    bool after_call = false;
    while (p < end && !bit_get(w->table, p)) {
        if (bit_get(w->start, p)) {
            bit_set(w->leader, p);
            return;
        }
        struct insn in;
        decode(bytes + p, end - p, base + p, &in);
        bit_set(w->start, p);
        w->overlaps |= bits_set(w->covered, p, in.length);
        last = p;
        p += in.length;
        if (in.kind == INSN_PLAIN || in.kind == INSN_PADDING) {
            after_call &= in.kind == INSN_PADDING;
            continue;
        }
        after_call = in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT;
        if (!end_or_call(w, &in, last))
            return;
        if (!after_call && p < end && !bit_get(w->table, p))
            bit_set(w->leader, p);
    }
    /* Into the wall or a table. If the last instruction is a branch it has its term, without a place to go on. A
       compiler that puts nothing behind a call knows that it never returns. */
    uint8_t kind = after_call ? INSN_CALL : INSN_PLAIN;
    if (w->terms.count == 0 || w->terms.items[w->terms.count - 1].at != last)
        push_term(w, &(struct term){.at = last, .end = p, .target = POS_NONE, .kind = kind});
    else
        w->terms.items[w->terms.count - 1].goes_on = false;
}

static void explore(struct cfg_work *w)
{
    while (w->pending.count > 0) {
        pos p = w->pending.items[--w->pending.count];
        if (!bit_get(w->start, p))
            explore_line(w, p);
    }
}

/* Code behind a switch is reached only through it: alternate finding targets and exploring from there. */
static void settle_indirect_jumps(struct cfg_work *w)
{
    size_t targets = 0;
    for (int round = 0; w->indirects.count > 0 && round < ROUNDS_MAX && w->in->arch->detail != NULL; round++) {
        cfg_sort(w);
        if (!jumptable_resolve(w, round == 0))
            return;
        for (; targets < w->targets.count; targets++)
            if (!bit_get(w->table, w->targets.items[targets]))
                reach(w, w->targets.items[targets]);
        explore(w);
    }
}

struct jump_site {
    uint64_t key;
    uint32_t indirect;
};

static int by_key(const void *a, const void *b)
{
    const struct jump_site *x = a, *y = b;
    return order_of(x->key, y->key) ?: order_of(x->indirect, y->indirect);
}

static int by_at(const void *a, const void *b)
{
    const struct indirect *x = a, *y = b;
    return order_of(x->at, y->at);
}

static bool same_targets(const struct cfg_work *w, const struct indirect *a, const struct indirect *b)
{
    return a->target_count == b->target_count &&
           (a->target_first == b->target_first ||
            memcmp(w->targets.items + a->target_first, w->targets.items + b->target_first,
                   a->target_count * sizeof(pos)) == 0);
}

/* Compilers copy the one dispatch of an interpreter or of a switch in a loop to the end of every case. What was one
   loop becomes a tangle in which each of n cases leads to each: n * n edges, and by the letter a nest of n irreducible
   loops. So all jumps through one table go through the first of them, which becomes a block of its own: the same ways
   through the function, 2 n edges, and the one loop that was written.

       case 1: ... jmp *T        case 1: ... --+
       case 2: ... jmp *T        case 2: ... --+--> [jmp *T] --> case 1, case 2, case 3
       case 3: ... jmp *T        case 3: ... --+                                         */
static void join_dispatches(struct cfg_work *w)
{
    struct VEC(struct jump_site) sites = {0};
    for (size_t i = 0; i < w->indirects.count; i++) {
        const struct indirect *in = &w->indirects.items[i];
        if (in->state == INDIRECT_RESOLVED && in->target_count > 1)
            *vec_push(&sites) = (struct jump_site){
                hash_bytes(w->targets.items + in->target_first,
                           (in->target_count < 64 ? in->target_count : 64) * sizeof(pos), in->target_count),
                (uint32_t)i};
    }
    vec_sort(&sites, by_key);
    for (size_t i = 0, end; i < sites.count; i = end) {
        struct indirect *first = &w->indirects.items[sites.items[i].indirect];
        for (end = i + 1; end < sites.count && sites.items[end].key == sites.items[i].key; end++)
            if (w->indirects.items[sites.items[end].indirect].at < first->at)
                first = &w->indirects.items[sites.items[end].indirect];
        struct indirect shared = *first;
        for (size_t k = i; end - i > 1 && k < end; k++) {
            struct indirect *in = &w->indirects.items[sites.items[k].indirect];
            if (in == first || !same_targets(w, in, &shared))
                continue;
            bit_set(w->leader, shared.at);
            in->target_first = (uint32_t)w->targets.count;
            in->target_count = 1;
            *vec_push(&w->targets) = shared.at;
        }
    }
    vec_release(&sites);
}

static void reach_landing_pads(struct cfg_work *w)
{
    for (size_t i = 0; i < w->parts.count; i++)
        image_call_sites(w->in->image, w->parts.items[i].begin, &w->sites);
    for (size_t i = 0; i < w->sites.count; i++) {
        pos pad = reach_target(w, w->sites.items[i].pad);
        if (pad != POS_NONE)
            bit_set(w->entered, pad);
    }
}

/* ---- blocks ---------------------------------------------------------------------------------------------- */

static void rank_leaders(struct cfg_work *w)
{
    uint32_t n = 0;
    for (size_t i = 0; i < w->words; i++) {
        w->rank[i] = n;
        n += (uint32_t)__builtin_popcountll(w->leader[i]);
    }
}

/* Each leader is one block, so the block of a leader is how many leaders are before it. */
static uint32_t block_of_leader(const struct cfg_work *w, pos p)
{
    return w->rank[p >> 6] + (uint32_t)__builtin_popcountll(w->leader[p >> 6] & ((1ull << (p & 63)) - 1));
}

/* The block whose leader is the last at or before p. */
static uint32_t block_before(const struct cfg_work *w, pos p)
{
    return block_of_leader(w, p) - !bit_get(w->leader, p);
}

/* The end of the block that starts at `leader`: *term is its last instruction if that ends it, else NULL and the block falls
 * through into another. */
static pos end_of_block(const struct cfg_work *w, pos leader, pos next_leader, size_t *t, const struct term **term)
{
    while (*t < w->terms.count && w->terms.items[*t].at < leader)
        (*t)++;
    *term = NULL;
    if (*t < w->terms.count && w->terms.items[*t].at < next_leader) {
        *term = &w->terms.items[*t];
        return (*term)->end;
    }
    return next_leader;
}

/* The same if instructions overlap: only walking them shows which leaders and terms belong to this line. */
static pos end_of_block_walking(const struct cfg_work *w, pos leader, const struct term **term)
{
    const struct cfg_part *part = cfg_part_at(w, leader);
    const pos end = part->first + (pos)(part->end - part->begin);
    pos p = leader;
    for (;;) {
        *term = cfg_term_at(w, p);
        if (*term)
            return (*term)->end;
        p += cfg_insn_at(w, p).length;
        if (p >= end || bit_get(w->leader, p) || !bit_get(w->start, p))
            return p;
    }
}

static void add_succ(struct cfg *g, size_t *capacity, struct cfg_block *b, uint32_t to)
{
    if (g->succ_count == *capacity)
        g->succs = vec_grow_(g->succs, capacity, g->succ_count + 1, sizeof *g->succs);
    g->succs[g->succ_count++] = to;
    b->succ_count++;
}

struct cfg_capacity { /* at the head of cfg_work's owner: how much the arrays of a cfg hold */
    size_t blocks, succs, entries;
};

struct cfg_work_owner {
    struct cfg_work work; /* first, so that cfg.work is it */
    struct cfg_capacity capacity;
};

static struct cfg_capacity *capacity_of(struct cfg *g)
{
    return &((struct cfg_work_owner *)(void *)g->work)->capacity;
}

static void add_edges_of(struct cfg *g, struct cfg_block *b, const struct term *t)
{
    struct cfg_work *w = g->work;
    size_t *capacity = &capacity_of(g)->succs;
    if (t == NULL)
        return;
    if (t->goes_on && t->end < w->end && bit_get(w->leader, t->end))
        add_succ(g, capacity, b, block_of_leader(w, t->end));
    if (t->kind == INSN_JUMP_INDIRECT) {
        const struct indirect *j = cfg_indirect_at(w, t->at);
        for (uint32_t i = 0; j != NULL && i < j->target_count; i++)
            if (bit_get(w->leader, w->targets.items[j->target_first + i]))
                add_succ(g, capacity, b, block_of_leader(w, w->targets.items[j->target_first + i]));
    } else if (t->target != POS_NONE) {
        uint32_t to = block_of_leader(w, t->target);
        if (b->succ_count == 0 || g->succs[b->succ_first] != to)
            add_succ(g, capacity, b, to);
    }
}

static void add_pad_edges_of(struct cfg *g, uint32_t block, size_t *next)
{
    struct cfg_work *w = g->work;
    struct cfg_block *b = &g->blocks[block];
    for (; *next < w->pad_edges.count && w->pad_edges.items[*next] >> 32 == block; (*next)++) {
        if (b->pad_count == UINT16_MAX)
            continue;
        add_succ(g, &capacity_of(g)->succs, b, (uint32_t)w->pad_edges.items[*next]);
        b->pad_count++;
    }
}

static void make_blocks(struct cfg *g)
{
    struct cfg_work *w = g->work;
    size_t n = bits_count(w->leader, w->words), t = 0, pad = 0;
    struct cfg_capacity *capacity = capacity_of(g);
    if (n > capacity->blocks)
        g->blocks = vec_grow_(g->blocks, &capacity->blocks, n, sizeof *g->blocks);
    pos leader = bit_next(w->leader, 0, w->end);
    while (leader < w->end) {
        pos next = bit_next(w->leader, leader + 1, w->end);
        const struct term *term;
        pos end = w->overlaps ? end_of_block_walking(w, leader, &term) : end_of_block(w, leader, next, &t, &term);
        vaddr begin = cfg_address(w, leader);
        struct cfg_block *b = &g->blocks[g->block_count];
        *b = (struct cfg_block){.begin = begin, .end = begin + (end - leader), .succ_first = (uint32_t)g->succ_count};
        b->last_kind = term != NULL ? term->kind : INSN_PLAIN;
        b->bad_end = term != NULL && term->kind == INSN_BAD;
        if (term != NULL)
            add_edges_of(g, b, term);
        else if (end < w->end && bit_get(w->leader, end))
            add_succ(g, &capacity->succs, b, block_of_leader(w, end));
        add_pad_edges_of(g, (uint32_t)g->block_count++, &pad);
        leader = next;
    }
}

/* Each call in the range of a call site leads to its pad too. */
static void collect_pad_edges(struct cfg_work *w)
{
    if (w->sites.count > 0)
        memset(w->padded, 0, w->words * 8);
    for (size_t i = 0; i < w->sites.count; i++) {
        const struct call_site *s = &w->sites.items[i];
        pos pad = cfg_position(w, s->pad), from = cfg_position(w, s->begin);
        if (pad == POS_NONE || from == POS_NONE || s->end <= s->begin || !bit_get(w->leader, pad))
            continue;
        uint64_t to = block_of_leader(w, pad);
        uint64_t size = s->end - s->begin;
        size_t lo = cfg_call_from(w, from);
        for (; lo < w->calls.count && w->calls.items[lo].at - from < size; lo++) {
            uint64_t edge = (uint64_t)block_before(w, w->calls.items[lo].at) << 32 | to;
            bit_set(w->padded, pad);
            if (w->pad_edges.count == 0 || w->pad_edges.items[w->pad_edges.count - 1] != edge)
                *vec_push(&w->pad_edges) = edge;
        }
    }
    vec_sort_unique(&w->pad_edges, order_u64);
}

/* Landing pads that no call of ours reaches (the call was assumed not to throw, or is in unreached code) are entries of the
 * graph. */
static void enter_orphan_pads(struct cfg_work *w)
{
    for (size_t i = 0; i < w->sites.count; i++) {
        pos pad = cfg_position(w, w->sites.items[i].pad);
        if (pad != POS_NONE && bit_get(w->leader, pad) && !bit_get(w->padded, pad)) {
            bit_set(w->padded, pad);
            *vec_push(&w->entries) = pad;
        }
    }
}

static void make_entries(struct cfg *g)
{
    struct cfg_work *w = g->work;
    struct cfg_capacity *capacity = capacity_of(g);
    if (w->entries.count > capacity->entries)
        g->entries = vec_grow_(g->entries, &capacity->entries, w->entries.count, sizeof *g->entries);
    for (size_t i = 0; i < w->entries.count; i++)
        g->entries[g->entry_count++] = block_of_leader(w, w->entries.items[i]);
}

/* ---- bytes that are not our code ------------------------------------------------------------------------------ */

static bool is_padding(const struct arch *arch, const uint8_t *p, size_t n, vaddr a, uint8_t *length)
{
    struct insn in;
    arch->decode(p, n, a, &in);
    *length = in.length;
    if (in.kind == INSN_PADDING)
        return true;
    *length = 1;
    return p[0] == 0;
}

/* nops, int3 and zeros between blocks */
static uint64_t count_padding(const struct cfg_work *w)
{
    uint64_t n = 0;
    for (size_t i = 0; i < w->parts.count; i++) {
        const struct cfg_part *part = &w->parts.items[i];
        pos end = part->first + (pos)(part->end - part->begin);
        pos p = bit_next_clear(w->covered, part->first, end);
        while (p < end) {
            pos gap_end = bit_next(w->covered, p, end);
            uint8_t length;
            while (p < gap_end && !bit_get(w->table, p) &&
                   is_padding(w->in->arch, part->bytes + (p - part->first), gap_end - p,
                              part->begin + (p - part->first), &length)) {
                n += length;
                p += length;
            }
            p = bit_next_clear(w->covered, gap_end, end);
        }
    }
    return n;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static struct cfg_work *work_of(struct cfg *g)
{
    if (g->work == NULL) {
        struct cfg_work_owner *o = mem_calloc(1, sizeof *o);
        g->work = &o->work;
    }
    return g->work;
}

static void reset(struct cfg *g)
{
    g->block_count = g->succ_count = g->entry_count = 0;
    g->instructions = g->bad_bytes = g->padding_bytes = g->table_bytes = 0;
    g->indirect_jumps = g->unresolved_jumps = 0;
}

void cfg_build(const struct cfg_input *in, struct cfg *g)
{
    struct cfg_work *w = work_of(g);
    reset(g);
    w->in = in;
    function_index_make(&w->index, in->functions);
    collect_parts(w);
    clear_work(w);
    pos entry = cfg_position(w, in->functions->functions[in->function].begin);
    if (entry == POS_NONE)
        return;
    bit_set(w->entered, entry);
    *vec_push(&w->entries) = entry;
    reach(w, entry);
    explore(w);
    reach_landing_pads(w);
    explore(w);
    settle_indirect_jumps(w);
    join_dispatches(w);
    vec_sort(&w->indirects, by_at);
    cfg_sort(w);
    rank_leaders(w);
    collect_pad_edges(w);
    enter_orphan_pads(w);
    make_blocks(g);
    make_entries(g);
    g->instructions = bits_count(w->start, w->words);
    g->bad_bytes = w->bad_bytes;
    g->table_bytes = w->table_bytes;
    g->padding_bytes = count_padding(w);
    for (size_t i = 0; i < w->indirects.count; i++) {
        g->indirect_jumps += w->indirects.items[i].state != INDIRECT_TAIL_CALL;
        g->unresolved_jumps +=
            w->indirects.items[i].state == INDIRECT_UNKNOWN || w->indirects.items[i].state == INDIRECT_NEW;
    }
}

void cfg_release(struct cfg *g)
{
    struct cfg_work *w = g->work;
    if (w != NULL) {
        function_index_release(&w->index);
        vec_release(&w->parts);
        mem_free(w->start);
        mem_free(w->covered);
        mem_free(w->leader);
        mem_free(w->entered);
        mem_free(w->table);
        mem_free(w->maybe_start);
        mem_free(w->maybe_covered);
        mem_free(w->padded);
        mem_free(w->rank);
        vec_release(&w->terms);
        vec_release(&w->term_spare);
        vec_release(&w->calls);
        vec_release(&w->call_spare);
        vec_release(&w->pending);
        vec_release(&w->entries);
        vec_release(&w->indirects);
        vec_release(&w->targets);
        vec_release(&w->sites);
        vec_release(&w->pad_edges);
        jumptable_release(w->jumptable);
        mem_free(w);
    }
    mem_free(g->blocks);
    mem_free(g->succs);
    mem_free(g->entries);
    *g = (struct cfg){0};
}
