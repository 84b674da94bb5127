/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the blocks, loops, line rows and inlined calls of one function into its scopes.
 *
 *     blocks      [---------------)[-----------)      cut at every row and at every edge of an inlined call
 *     rows        ^12   ^13    ^12     ^14              -> segments: some instructions, one line, one chain of calls,
 * one loop inlined         [------) segments    [---)[-)[--)[----)[--)[------)
 *
 * Each segment's path from the PROC down alternates between LOOPs and INLINEs: the loops around its block, each under
 * the call that places.c found it in, and the calls around the segment.
 */
#include "bloop/assemble/assemble_int.h"

#include <stdlib.h>

/* More scopes around each other than this are not opened: deeper ones join what is there. No program has so many loops
   and calls in each other; code made to look so would cost its blocks times its depth. */
enum { DEEPEST_NODE = 200 };

struct assembler *assembler_create(void)
{
    struct assembler *a = mem_calloc(1, sizeof *a);
    a->names = arena_create();
    return a;
}

void assembler_free(struct assembler *a)
{
    if (!a)
        return;
    vec_release(&a->segments);
    vec_release(&a->owners);
    vec_release(&a->evidence);
    vec_release(&a->evidence_first);
    vec_release(&a->lines);
    vec_release(&a->marks);
    vec_release(&a->ends);
    vec_release(&a->points);
    vec_release(&a->shares);
    vec_release(&a->places);
    vec_release(&a->inline_depth);
    vec_release(&a->inline_parent);
    vec_release(&a->inline_first);
    vec_release(&a->extents);
    vec_release(&a->blocks_first);
    vec_release(&a->blocks);
    vec_release(&a->loop_node);
    vec_release(&a->nodes);
    vec_release(&a->ranges);
    vec_release(&a->order);
    vec_release(&a->file_stamps);
    vec_release(&a->file_ids);
    vec_release(&a->inline_names);
    vec_release(&a->callee_names);
    hashmap_release(&a->node_by_hash);
    hashmap_release(&a->name_by_link);
    hashmap_release(&a->around);
    hashmap_release(&a->beside);
    arena_free(a->names);
    mem_free(a);
}

void function_scopes_release(struct function_scopes *f)
{
    strtab_free(f->strings);
    vec_release(&f->scopes);
    vec_release(&f->ranges);
    f->strings = NULL;
}

/* ---- which inlined call is at an address ---- */

struct inline_range {
    struct addr_range range;
    uint32_t depth, inlined;
};

static int by_begin_then_depth(const void *x, const void *y)
{
    const struct inline_range *a = x, *b = y;
    return order_of(a->range.begin, b->range.begin) ?: order_of(a->depth, b->depth) ?: order_of(a->inlined, b->inlined);
}

static void own(struct assembler *a, vaddr begin, uint32_t owner)
{
    if (a->owners.count && a->owners.items[a->owners.count - 1].begin == begin)
        a->owners.items[a->owners.count - 1].owner = owner;
    else if (a->owners.count ? a->owners.items[a->owners.count - 1].owner != owner : owner != INLINE_NONE)
        *vec_push(&a->owners) = (struct interval_owner){begin, owner};
}

/* clang makes two functions of a parallel region, one around the other: the source has one. */
static bool is_frame_of_region(const struct inline_call *c)
{
    return c->parent == INLINE_NONE && strstr(c->name, ".omp_outlined");
}

/* Copies of one call (unrolled code has an inlined call for each) are one: the first stands for all. */
static void join_copies_of_calls(struct assembler *a)
{
    const struct debug_function *d = a->debug;
    struct hashmap first = {0};
    a->inline_depth.count = a->inline_parent.count = a->inline_first.count = 0;
    for (uint32_t i = 0; i < d->inline_count; i++) {
        const struct inline_call *c = &d->inlines[i];
        uint32_t parent = c->parent == INLINE_NONE ? INLINE_NONE : a->inline_first.items[c->parent];
        const struct scope names = assemble_inlined_names(a, i);
        const uint32_t key[] = {parent,       names.name,    names.link_name, assemble_file(a, c->call_file),
                                c->call_line, c->call_column};
        uint32_t *slot = hashmap_put(&first, hash_bytes(key, sizeof key, 0));
        if (*slot == HASHMAP_NONE)
            *slot = i;
        bool frame = is_frame_of_region(c);
        *vec_push(&a->inline_first) = frame ? INLINE_NONE : *slot;
        *vec_push(&a->inline_parent) = parent;
        uint32_t depth = frame ? 0 : assemble_inline_depth(a, parent) + 1;
        *vec_push(&a->inline_depth) = depth;
    }
    hashmap_release(&first);
}

/* The ranges of all calls, flattened: in the order of their begin, those still open on a stack. */
static void find_owners(struct assembler *a)
{
    struct VEC(struct inline_range) all = {0}, open = {0};
    const struct debug_function *d = a->debug;
    vaddr at = 0;
    a->owners.count = 0;
    for (size_t i = 0; i < d->inline_count; i++)
        for (uint32_t r = 0; r < d->inlines[i].range_count; r++) {
            struct addr_range range = d->ranges[d->inlines[i].range_first + r];
            if (range.begin < range.end)
                *vec_push(&all) = (struct inline_range){range, a->inline_depth.items[i], a->inline_first.items[i]};
        }
    vec_sort(&all, by_begin_then_depth);
    for (size_t i = 0; i <= all.count; i++) {
        vaddr begin = i < all.count ? all.items[i].range.begin : UINT64_MAX;
        while (open.count && open.items[open.count - 1].range.end <= begin) {
            struct inline_range top = open.items[--open.count];
            if (top.range.end <= at)
                continue;
            own(a, at, top.inlined);
            at = top.range.end;
        }
        if (begin > at) {
            own(a, at, open.count ? open.items[open.count - 1].inlined : INLINE_NONE);
            at = begin;
        }
        if (i < all.count)
            *vec_push(&open) = all.items[i];
    }
    vec_release(&all);
    vec_release(&open);
}

/* ---- segments ---- */

static uint32_t last_row_at(const struct debug_function *d, uint32_t row, vaddr addr)
{
    while (row + 1 < d->row_count && d->rows[row + 1].addr <= addr)
        row++;
    return row;
}

/* Both lists are in the order of addresses: one pass. Code outside of the blocks (bytes behind an unresolved jump, for
   instance) is cut up in the same way by the caller, with no block. */
struct cutter {
    uint32_t row;
    size_t owner;
};

static void cut(struct assembler *a, struct cutter *c, vaddr begin, vaddr end, uint32_t block)
{
    const struct debug_function *d = a->debug;
    while (begin < end) {
        vaddr stop = end;
        uint32_t row = NO_ROW, inlined = INLINE_NONE;
        if (d && d->row_count) {
            if (c->row != NO_ROW || d->rows[0].addr <= begin)
                c->row = last_row_at(d, c->row == NO_ROW ? 0 : c->row, begin);
            row = c->row;
            uint32_t next = row == NO_ROW ? 0 : row + 1;
            if (next < d->row_count && d->rows[next].addr < stop)
                stop = d->rows[next].addr;
        }
        while (c->owner < a->owners.count && a->owners.items[c->owner].begin <= begin)
            c->owner++;
        if (c->owner)
            inlined = a->owners.items[c->owner - 1].owner;
        if (c->owner < a->owners.count && a->owners.items[c->owner].begin < stop)
            stop = a->owners.items[c->owner].begin;
        *vec_push(&a->segments) = (struct segment){begin, stop, block, row, inlined};
        begin = stop;
    }
}

/* Bytes of the function that no block covers: unless they are padding they may run (an unresolved jump table), so they keep
 * their lines. */
static void cut_gap(struct assembler *a, struct cutter *c, vaddr begin, vaddr end)
{
    const struct arch *arch = arch_get(a->in->image->arch);
    size_t avail;
    const uint8_t *bytes = image_bytes(a->in->image, begin, &avail);
    if (!a->debug || !bytes || !arch)
        return;
    if (avail > end - begin)
        avail = (size_t)(end - begin);
    struct insn insn;
    for (size_t at = 0; at < avail; at += insn.length) {
        arch->decode(bytes + at, avail - at, begin + at, &insn);
        if (insn.kind != INSN_PADDING && insn.kind != INSN_BAD)
            cut(a, c, begin + at, begin + at + insn.length, UINT32_MAX);
    }
}

static void cut_part(struct assembler *a, struct cutter *c, uint32_t *block, const struct addr_range *part)
{
    const struct cfg *cfg = a->in->cfg;
    vaddr at = part->begin;
    for (; *block < cfg->block_count && cfg->blocks[*block].begin < part->end; ++*block) {
        const struct cfg_block *b = &cfg->blocks[*block];
        vaddr begin = b->begin > at ? b->begin : at; /* code that overlaps goes to the first block */
        if (begin > at)
            cut_gap(a, c, at, begin);
        if (b->end > begin)
            cut(a, c, begin, b->end, *block);
        if (b->end > at)
            at = b->end;
    }
    if (at < part->end)
        cut_gap(a, c, at, part->end);
}

static void find_segments(struct assembler *a)
{
    struct cutter c = {.row = NO_ROW};
    uint32_t block = 0;
    a->segments.count = 0;
    for (size_t i = 0; i < a->in->part_count; i++)
        cut_part(a, &c, &block, &a->in->parts[i]);
}

/* ---- nodes ---- */

static uint32_t new_node(struct assembler *a, uint32_t parent, enum scope_kind kind)
{
    uint32_t ix = (uint32_t)a->nodes.count, depth = parent == NODE_NONE ? 0 : a->nodes.items[parent].depth + 1;
    struct scope_node *n = vec_push(&a->nodes);
    *n = (struct scope_node){.parent = parent,
                             .depth = depth,
                             .next_same_hash = NODE_NONE,
                             .range_first = UINT32_MAX,
                             .range_last = UINT32_MAX,
                             .low = UINT64_MAX,
                             .loop = LOOP_NONE,
                             .scope = {.kind = (uint8_t)kind, .parent = parent}};
    return ix;
}

static void add_range(struct assembler *a, uint32_t node, vaddr begin, vaddr end)
{
    struct scope_node *n = &a->nodes.items[node];
    if (n->range_last != UINT32_MAX && a->ranges.items[n->range_last].range.end == begin) {
        a->ranges.items[n->range_last].range.end = end;
        return;
    }
    uint32_t ix = (uint32_t)a->ranges.count;
    *vec_push(&a->ranges) = (struct node_range){{begin, end}, UINT32_MAX};
    if (n->range_last == UINT32_MAX)
        n->range_first = ix;
    else
        a->ranges.items[n->range_last].next = ix;
    n->range_last = ix;
    n->range_count++;
    if (begin < n->low)
        n->low = begin;
}

struct node_key {
    uint32_t parent, kind;
    str_id name, link_name, file;
    uint32_t line;
};

static bool same_key(const struct scope_node *n, const struct node_key *k)
{
    const struct scope *s = &n->scope;
    if (n->parent != k->parent || s->kind != k->kind)
        return false;
    if (s->kind == SCOPE_STMT)
        return s->file == k->file && s->line_first == k->line;
    return s->name == k->name && s->link_name == k->link_name && s->call_file == k->file && s->call_line == k->line;
}

/* The child of `parent` that is the statement or inlined call of the key, created on demand; *made is set if it was. */
static uint32_t child_node(struct assembler *a, const struct node_key *k, bool *made)
{
    uint32_t *first = hashmap_put(&a->node_by_hash, hash_bytes(k, sizeof *k, 0));
    for (uint32_t n = *first; n != HASHMAP_NONE; n = a->nodes.items[n].next_same_hash)
        if (same_key(&a->nodes.items[n], k)) {
            *made = false;
            return n;
        }
    uint32_t n = new_node(a, k->parent, (enum scope_kind)k->kind);
    a->nodes.items[n].next_same_hash = *first;
    *first = n;
    *made = true;
    return n;
}

/* The INLINE node for a call under `parent`. Calls of one callee at one place (copies by unrolling) share a node. */
static uint32_t inline_node(struct assembler *a, uint32_t parent, uint32_t inlined)
{
    const struct inline_call *call = &a->debug->inlines[inlined];
    const struct scope names = assemble_inlined_names(a, inlined);
    bool made;
    struct node_key key = {parent,         SCOPE_INLINE, names.name, names.link_name, assemble_file(a, call->call_file),
                           call->call_line};
    uint32_t n = child_node(a, &key, &made);
    if (made) {
        struct scope *s = &a->nodes.items[n].scope;
        s->name = names.name;
        s->short_name = names.short_name;
        s->link_name = names.link_name;
        s->call_file = key.file;
        s->call_line = key.line;
        s->file = assemble_file(a, call->decl_file);
        s->line_first = s->line_last = call->decl_line;
    }
    return n;
}

/* From a node whose code is in callee `from` down to callee `to`. Where `to` is not inside `from` (code moved into a
   loop of another callee) only the calls that the two do not share are opened. */
static uint32_t descend(struct assembler *a, uint32_t node, uint32_t from, uint32_t to)
{
    uint32_t stop = assemble_common(a, from, to), chain[64];
    size_t n = 0;
    for (uint32_t i = to; i != stop; i = a->inline_parent.items[i])
        n++;
    uint32_t *path = n <= ARRAY_SIZE(chain) ? chain : mem_alloc(n * sizeof *path);
    size_t k = n;
    for (uint32_t i = to; i != stop; i = a->inline_parent.items[i])
        path[--k] = i;
    for (k = 0; k < n && a->nodes.items[node].depth < DEEPEST_NODE; k++)
        node = inline_node(a, node, path[k]);
    a->too_deep = a->too_deep || k < n;
    if (path != chain)
        mem_free(path);
    return node;
}

/* The LOOP node, made with everything above it. Parents have lower indices: made in that order no recursion is needed.
 */
static void make_loop_nodes(struct assembler *a)
{
    const struct loop_forest *forest = a->in->forest;
    a->loop_node.count = 0;
    for (uint32_t i = 0; i < forest->loop_count; i++) {
        const struct loop *l = &forest->loops[i];
        const struct loop_place *p = &a->places.items[i];
        uint32_t node = 0, from = INLINE_NONE;
        if (p->part_of != i) {
            uint32_t whole = a->loop_node.items[p->part_of];
            *vec_push(&a->loop_node) = whole;
            continue;
        }
        if (l->parent != LOOP_NONE) {
            node = a->loop_node.items[l->parent];
            from = a->places.items[l->parent].inlined;
        }
        if (p->inlined != from)
            node = descend(a, node, from, p->inlined);
        if (a->nodes.items[node].depth < DEEPEST_NODE) {
            node = new_node(a, node, SCOPE_LOOP);
            struct scope *s = &a->nodes.items[node].scope;
            s->file = p->file;
            s->line_first = p->line;
            s->line_last = p->line_last;
            s->irreducible = l->irreducible;
            a->nodes.items[node].loop = i;
        } else {
            a->too_deep = true;
        }
        *vec_push(&a->loop_node) = node;
    }
}

static void place_segment(struct assembler *a, const struct segment *s)
{
    uint32_t loop = s->block == UINT32_MAX ? LOOP_NONE : a->in->forest->block_loop[s->block];
    uint32_t node = loop == LOOP_NONE ? 0 : a->loop_node.items[loop];
    uint32_t from = loop == LOOP_NONE ? INLINE_NONE : a->places.items[loop].inlined;
    const struct line_row *row = s->row == NO_ROW ? NULL : &a->debug->rows[s->row];
    bool made;
    if (!row || row->line == 0 || row->file == DEBUG_NO_FILE)
        return; /* found by its loop's or procedure's range */
    node = descend(a, node, from, s->inlined);
    struct node_key key = {node, SCOPE_STMT, 0, 0, assemble_file(a, row->file), row->line};
    uint32_t stmt = child_node(a, &key, &made);
    if (made) {
        struct scope *st = &a->nodes.items[stmt].scope;
        st->file = key.file;
        st->line_first = st->line_last = key.line;
    }
    add_range(a, stmt, s->begin, s->end);
}

/* ---- ranges of loops ---- */

/* Blocks come in the order of addresses, so adjacent ranges merge. */
static void add_loop_ranges(struct assembler *a)
{
    const struct loop_forest *forest = a->in->forest;
    const struct cfg *cfg = a->in->cfg;
    vaddr before_end = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        vaddr begin = cfg->blocks[b].begin > before_end ? cfg->blocks[b].begin : before_end;
        uint32_t loop = forest->block_loop[b];
        if (cfg->blocks[b].end <= begin)
            continue;
        uint32_t node = loop == LOOP_NONE ? 0 : a->loop_node.items[loop];
        for (; node != 0; node = a->nodes.items[node].parent)
            if (a->nodes.items[node].loop != LOOP_NONE)
                add_range(a, node, begin, cfg->blocks[b].end);
        before_end = cfg->blocks[b].end;
    }
}

/* ---- the procedure ---- */

static void make_procedure(struct assembler *a)
{
    uint32_t node = new_node(a, NODE_NONE, SCOPE_PROC);
    struct scope *s = &a->nodes.items[node].scope;
    assemble_name_procedure(a, s);
    if (!a->debug)
        return;
    uint32_t file = a->debug->decl_file;
    if (file >= a->debug->file_count) /* assembler code: lines, but no procedures */
        for (size_t i = 0; i < a->debug->row_count && file >= a->debug->file_count; i++)
            file = a->debug->rows[i].file;
    s->file = assemble_file(a, file);
    s->line_first = a->debug->decl_line;
}

/* Of its own lines in its own file; where the declaration gives none, the first too. */
static void find_procedure_lines(struct assembler *a)
{
    struct scope *proc = &a->nodes.items[0].scope;
    uint32_t first = UINT32_MAX, last = proc->line_first;
    for (size_t i = 0; i < a->segments.count; i++) {
        const struct segment *s = &a->segments.items[i];
        const struct line_row *row = s->row == NO_ROW ? NULL : &a->debug->rows[s->row];
        if (!row || !row->line || s->inlined != INLINE_NONE || assemble_file(a, row->file) != proc->file)
            continue;
        if (row->line < first)
            first = row->line;
        if (row->line > last)
            last = row->line;
    }
    if (proc->line_first == 0 && first != UINT32_MAX)
        proc->line_first = first;
    proc->line_last = last;
}

static void find_inline_lines(struct assembler *a)
{
    for (size_t i = a->nodes.count; i-- > 1;) {
        const struct scope *s = &a->nodes.items[i].scope;
        struct scope *parent = &a->nodes.items[a->nodes.items[i].parent].scope;
        if (s->kind == SCOPE_INLINE || parent->kind != SCOPE_INLINE || s->file != parent->file || !s->line_first)
            continue;
        if (parent->line_first == 0)
            parent->line_first = s->line_first;
        if (s->line_last > parent->line_last)
            parent->line_last = s->line_last;
    }
}

/* ---- out ---- */

static int by_parent_then_address(const void *x, const void *y, void *ctx)
{
    const struct assembler *a = ctx;
    uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
    const struct scope_node *m = &a->nodes.items[i], *n = &a->nodes.items[j];
    return order_of(m->parent, n->parent) ?: order_of(m->low, n->low) ?: order_of(i, j);
}

static void find_lows(struct assembler *a)
{
    for (size_t i = a->nodes.count; i-- > 1;) {
        struct scope_node *n = &a->nodes.items[i], *parent = &a->nodes.items[n->parent];
        if (n->low < parent->low)
            parent->low = n->low;
    }
}

static scope_ix emit_scope(struct assembler *a, uint32_t node, scope_ix parent)
{
    const struct scope_node *n = &a->nodes.items[node];
    struct function_scopes *out = a->out;
    struct scope s = n->scope;
    s.parent = parent;
    if (s.kind == SCOPE_LOOP)
        s.entry = a->in->cfg->blocks[a->in->forest->loops[n->loop].header].begin;
    s.range_first = (uint32_t)out->ranges.count;
    s.range_count = 0;
    if (node == 0) {
        s.entry = a->in->functions->functions[a->in->function].begin;
        for (size_t i = 0; i < a->in->part_count; i++) {
            *vec_push(&out->ranges) = a->in->parts[i];
            s.range_count++;
        }
    }
    for (uint32_t r = n->range_first; r != UINT32_MAX; r = a->ranges.items[r].next) {
        *vec_push(&out->ranges) = a->ranges.items[r].range;
        s.range_count++;
    }
    *vec_push(&out->scopes) = s;
    return (scope_ix)(out->scopes.count - 1);
}

/* Pre-order with the siblings sorted by address: a stack of (node, index its parent got). */
static void emit(struct assembler *a)
{
    struct VEC(struct {
        uint32_t node;
        scope_ix parent;
    }) stack = {0};
    uint32_t n = (uint32_t)a->nodes.count;
    uint32_t *first = mem_alloc(((size_t)n + 2) * sizeof *first);
    a->order.count = 0;
    vec_reserve(&a->order, n);
    for (uint32_t i = 1; i < n; i++)
        *vec_push(&a->order) = i;
    if (a->order.count > 1)
        qsort_r(a->order.items, a->order.count, sizeof *a->order.items, by_parent_then_address, a);
    uint32_t at = 0;
    for (uint32_t parent = 0; parent < n; parent++) {
        first[parent] = at;
        while (at < a->order.count && a->nodes.items[a->order.items[at]].parent == parent)
            at++;
    }
    first[n] = at;
    *vec_push(&stack) = (typeof(*stack.items)){0, SCOPE_NONE};
    while (stack.count) {
        typeof(*stack.items) top = stack.items[--stack.count];
        scope_ix made = emit_scope(a, top.node, top.parent);
        for (uint32_t i = first[top.node + 1]; i-- > first[top.node];)
            *vec_push(&stack) = (typeof(*stack.items)){a->order.items[i], made};
    }
    vec_release(&stack);
    mem_free(first);
}

static void begin(struct assembler *a, const struct assemble_input *in, struct function_scopes *out)
{
    if (!out->strings) {
        out->strings = strtab_create();
        a->named_in = NULL; /* may still hold addresses of freed strings */
    }
    if (arena_bytes(a->names) > 1 << 20) {
        arena_free(a->names);
        a->names = arena_create();
    }
    a->in = in;
    a->out = out;
    a->debug = in->debug;
    a->gnu_c = in->debug && in->debug->producer && str_starts(in->debug->producer, "GNU C");
    a->stamp++;
    a->too_deep = false;
    a->nodes.count = a->ranges.count = a->owners.count = a->blocks_first.count = 0;
    hashmap_release(&a->node_by_hash);
    if (a->named_in != out->strings) {
        a->named_in = out->strings;
        hashmap_release(&a->name_by_link);
        a->callee_names.count = 0;
    }
    a->inline_names.count = 0;
    for (size_t i = 0; in->debug && i < in->debug->inline_count; i++)
        *vec_push(&a->inline_names) = UINT32_MAX;
}

bool assemble_function(struct assembler *a, const struct assemble_input *in, struct function_scopes *out)
{
    begin(a, in, out);
    make_procedure(a);
    if (a->debug) {
        join_copies_of_calls(a);
        find_owners(a);
    }
    find_segments(a);
    assemble_place_loops(a);
    if (a->debug && a->places.count > 0) {
        assemble_adopt_lines(a);
        assemble_find_parts(a);
    }
    make_loop_nodes(a);
    for (size_t i = 0; i < a->segments.count; i++)
        place_segment(a, &a->segments.items[i]);
    add_loop_ranges(a);
    find_procedure_lines(a);
    find_inline_lines(a);
    find_lows(a);
    assemble_number_instances(a);
    emit(a);
    return !a->too_deep;
}
