/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One source loop, several natural loops: which belong together, and the role of each.
 *
 *   parts      Jump threading turns one loop into loops within it: the paths that come back often get a loop of their
 * own, and the loop's condition is tested in there. Source loops do not do that: an inner loop's end leads to code of
 * the outer one. So a natural loop with a branch that leaves it and the loop around it at once, on that loop's line, is
 * a part of that loop and not shown by itself. copies     Vector body and remainder, unswitched, peeled and fissioned
 * loops are siblings. They are instances of one loop if they have the same line of the same file in the same
 * callee called from the same place. adoption   The control of a vector body often has no line, so that the line found
 * is one of the body's. The scalar loop beside it that has these lines inside it tells the right one.
 */
#include "bloop/assemble/assemble_int.h"

#include <stdlib.h>

/* ---- packed arithmetic ---- */

static enum packed_kind packed_kind_of(const struct assembler *a, const struct arch *arch, const struct cfg_block *b)
{
    enum packed_kind kind = PACKED_NOT;
    size_t avail, at = 0;
    const uint8_t *bytes = image_bytes(a->in->image, b->begin, &avail);
    struct insn insn;
    if (!bytes)
        return kind;
    if (avail > b->end - b->begin)
        avail = (size_t)(b->end - b->begin);
    for (; at < avail && kind < PACKED_CALCULATES; at += insn.length) {
        enum packed_kind found = arch_packed_kind(a->in->image->arch, bytes + at, avail - at);
        kind = found > kind ? found : kind;
        arch->decode(bytes + at, avail - at, b->begin + at, &insn);
    }
    return kind;
}

/* Blocks by loop, so that asking for one loop costs what that loop costs. */
static void list_blocks(struct assembler *a)
{
    const struct loop_forest *forest = a->in->forest;
    size_t loops = forest->loop_count, blocks = a->in->cfg->block_count;
    a->blocks_first.count = a->blocks.count = 0;
    vec_reserve(&a->blocks_first, loops + 2);
    vec_reserve(&a->blocks, blocks + 1);
    uint32_t *first = a->blocks_first.items;
    memset(first, 0, (loops + 2) * sizeof *first);
    for (size_t b = 0; b < blocks; b++)
        if (forest->block_loop[b] != LOOP_NONE)
            first[forest->block_loop[b] + 2]++;
    for (size_t i = 2; i < loops + 2; i++)
        first[i] += first[i - 1];
    for (size_t b = 0; b < blocks; b++)
        if (forest->block_loop[b] != LOOP_NONE)
            a->blocks.items[first[forest->block_loop[b] + 1]++] = (uint32_t)b;
    a->blocks_first.count = loops + 2;
}

/* Only the loop's own blocks: a loop around a vector loop is not a vector loop. */
enum packed_kind assemble_packed_kind(struct assembler *a, uint32_t loop)
{
    struct loop_place *p = &a->places.items[loop];
    const struct arch *arch = arch_get(a->in->image->arch);
    if (p->packed_known || !arch)
        return p->packed;
    if (a->blocks_first.count == 0)
        list_blocks(a);
    p->packed_known = true;
    for (uint32_t i = a->blocks_first.items[loop]; i < a->blocks_first.items[loop + 1] && p->packed < PACKED_CALCULATES;
         i++) {
        enum packed_kind kind = packed_kind_of(a, arch, &a->in->cfg->blocks[a->blocks.items[i]]);
        p->packed = kind > p->packed ? kind : p->packed;
    }
    return p->packed;
}

static bool is_packed(struct assembler *a, uint32_t loop)
{
    return assemble_packed_kind(a, loop) == PACKED_CALCULATES;
}

/* ---- parts ---- */

static bool tests_condition_of(struct assembler *a, uint32_t loop, uint32_t outer)
{
    const struct loop_place *p = &a->places.items[outer];
    uint32_t depth = a->in->forest->loops[outer].depth, line;
    str_id file;
    for (uint32_t i = a->evidence_first.items[loop]; i < a->evidence_first.items[loop + 1]; i++) {
        const struct evidence *e = &a->evidence.items[i];
        if (e->exit && e->fresh && a->in->forest->loops[e->leaves].depth <= depth &&
            assemble_seen_from(a, e, p->inlined, &file, &line) && file == p->file &&
            (line == p->line || line == p->line_own))
            return true;
    }
    return false;
}

/* Is the branch the condition of an `if` or `switch`? That of a loop has a statement's mark of its own, in the very same
   column; theirs is behind the mark of their keyword. */
static bool is_of_if(struct assembler *a, uint32_t loop, const struct evidence *e)
{
    enum { FURTHEST = 1024 }; /* rows */
    const struct debug_function *d = a->debug;
    uint32_t row = assemble_row_before(d, a->in->cfg->blocks[a->in->forest->loops[loop].header].begin), k = 0;
    bool marked = false;
    while (row != NO_ROW && row > 0 && d->rows[row - 1].addr == d->rows[row].addr)
        row--;
    for (; row != NO_ROW && row < d->row_count && k < FURTHEST; k++, row++) {
        const struct line_row *r = &d->rows[row];
        if (!r->is_stmt || r->line != e->line || assemble_file(a, r->file) != e->file)
            continue;
        if (r->column >= e->column)
            return false;
        marked = true;
    }
    return marked;
}

/* A loop that begins with the first statement in a `for (;;)`, which is an `if` or `switch`: paths that come back. */
static bool begins_with_if(struct assembler *a, uint32_t loop, uint32_t outer)
{
    const struct loop_place *p = &a->places.items[loop], *o = &a->places.items[outer];
    bool found = false;
    if (!o->keyword || p->line != o->line_own || p->line != p->line_own)
        return false;
    for (uint32_t i = a->evidence_first.items[loop]; i < a->evidence_first.items[loop + 1]; i++) {
        const struct evidence *e = &a->evidence.items[i];
        if (!e->exit || e->line != p->line || e->file != p->file || e->inlined != p->inlined)
            continue;
        if (!is_of_if(a, loop, e))
            return false;
        found = true;
    }
    return found;
}

/* A loop that is entered at two places remains a loop without one of them, entered from outside of both. It is not a
   source loop if it begins where the enclosing one does. */
static bool is_rest_of(const struct assembler *a, uint32_t loop, uint32_t outer)
{
    const struct loop_place *p = &a->places.items[loop], *o = &a->places.items[outer];
    return (p->entered_from_outside || (p->keyword && o->keyword && p->line == p->line_own)) &&
           p->line_own == o->line_own;
}

static bool has_row_at(const struct assembler *a, uint32_t loop, const struct evidence *e)
{
    for (uint32_t i = a->evidence_first.items[loop]; i < a->evidence_first.items[loop + 1]; i++) {
        const struct evidence *x = &a->evidence.items[i];
        if (x->line == e->line && x->column == e->column && x->file == e->file && x->inlined == e->inlined)
            return true;
    }
    return false;
}

/* Do both share one control? Then everything the outer one has on the line is in the inner one as well, in two
   columns or more. (Two loops written on one line have different columns; those of a macro have one column for all.) */
static bool shares_control_with(const struct assembler *a, uint32_t loop, uint32_t outer)
{
    const struct loop_place *p = &a->places.items[loop];
    uint16_t column = 0;
    bool several = false;
    if (!a->gnu_c || a->marks.count == 0 || p->line != a->places.items[outer].line)
        return false;
    for (uint32_t i = a->evidence_first.items[outer]; i < a->evidence_first.items[outer + 1]; i++) {
        const struct evidence *e = &a->evidence.items[i];
        if (e->line != p->line || e->file != p->file || e->inlined != p->inlined)
            continue;
        if (!has_row_at(a, loop, e))
            return false;
        several = several || (column && e->column != column);
        column = e->column;
    }
    return several;
}

/* The loops around `block` that hold `from` neither, but for the outermost of them, which may be entered so. */
static void note_entry(struct assembler *a, uint32_t from, uint32_t block)
{
    const struct loop_forest *forest = a->in->forest;
    for (uint32_t l = forest->block_loop[block], up; l != LOOP_NONE; l = up) {
        up = forest->loops[l].parent;
        if (up == LOOP_NONE || assemble_in_loop(forest, from, up))
            return;
        a->places.items[l].entered_from_outside = true;
    }
}

static void find_entries(struct assembler *a)
{
    const struct cfg *cfg = a->in->cfg;
    bool any = false;
    for (uint32_t i = 0; i < a->in->forest->loop_count; i++)
        any = any || a->in->forest->loops[i].irreducible;
    for (uint32_t b = 0; any && b < cfg->block_count; b++)
        for (uint32_t k = 0; k < cfg->blocks[b].succ_count - cfg->blocks[b].pad_count; k++)
            note_entry(a, b, cfg->succs[cfg->blocks[b].succ_first + k]);
}

void assemble_find_parts(struct assembler *a)
{
    const struct loop_forest *forest = a->in->forest;
    find_entries(a);
    for (uint32_t i = 0; i < forest->loop_count; i++) {
        struct loop_place *p = &a->places.items[i];
        p->part_of = i;
        if (forest->loops[i].parent == LOOP_NONE)
            continue;
        uint32_t outer = a->places.items[forest->loops[i].parent].part_of;
        const struct loop_place *o = &a->places.items[outer];
        if (o->line && o->inlined == p->inlined && o->file == p->file &&
            (tests_condition_of(a, i, outer) || begins_with_if(a, i, outer) || is_rest_of(a, i, outer) ||
             shares_control_with(a, i, outer))) {
            struct loop_place *whole = &a->places.items[outer];
            p->part_of = outer;
            if (p->line_last > whole->line_last)
                whole->line_last = p->line_last;
        }
    }
}

/* ---- adoption ---- */

static uint64_t inner_key(uint32_t loop, uint32_t line)
{
    return (uint64_t)loop << 32 | line;
}

/* Sibling loops, the wider before the narrower. */
static int by_parent_and_lines(const void *x, const void *y, void *ctx)
{
    const struct assembler *a = ctx;
    uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
    const struct loop_place *p = &a->places.items[i], *q = &a->places.items[j];
    uint32_t up = a->in->forest->loops[i].parent, vp = a->in->forest->loops[j].parent;
    return order_of(up, vp)
               ?: order_of(p->inlined, q->inlined)
               ?: order_of(p->file, q->file)
               ?: order_of(p->line, q->line)
               ?: order_of(q->line_last, p->line_last)
               ?: order_of(i, j);
}

static bool same_surroundings(const struct assembler *a, uint32_t i, uint32_t j)
{
    const struct loop_place *p = &a->places.items[i], *q = &a->places.items[j];
    return a->in->forest->loops[i].parent == a->in->forest->loops[j].parent && p->inlined == q->inlined &&
           p->file == q->file;
}

static bool stands_in(const struct assembler *a, uint32_t loop, const struct evidence *e)
{
    return hashmap_get(&a->around, assemble_place_key(loop, e->file, e->line, e->column)) != HASHMAP_NONE;
}

static bool is_vector_of(struct assembler *a, uint32_t loop, uint32_t wide)
{
    return a->places.items[loop].line <= a->places.items[wide].line_last && is_packed(a, loop) && !is_packed(a, wide);
}

/* Its branch back is on no line of its own, so the line found is the body's; that of a vector body may be on one that is
   in the body of `wide`. */
static bool has_no_control_line(struct assembler *a, uint32_t loop, uint32_t wide)
{
    const struct loop_place *p = &a->places.items[loop];
    const struct evidence *exit = NULL;
    for (uint32_t i = a->evidence_first.items[loop]; i < a->evidence_first.items[loop + 1]; i++)
        if (a->evidence.items[i].exit && (!exit || a->evidence.items[i].line < exit->line))
            exit = &a->evidence.items[i];
    return p->line == p->line_last || !exit || exit->line > p->line ||
           (is_vector_of(a, loop, wide) && stands_in(a, wide, exit));
}

/* Do the first statements of `loop` stand in `wide` too? (In a loop that is only left towards this one they do not.) */
static bool shares_statements(const struct assembler *a, uint32_t loop, uint32_t wide)
{
    const struct loop_place *p = &a->places.items[loop];
    for (uint32_t i = a->evidence_first.items[loop]; i < a->evidence_first.items[loop + 1]; i++) {
        const struct evidence *e = &a->evidence.items[i];
        if ((e->line == p->line || e->line == p->line_own) && stands_in(a, wide, e))
            return true;
    }
    return false;
}

void assemble_adopt_lines(struct assembler *a)
{
    enum {
        FURTHEST = 8
    }; /* lines from keyword to statement; and levels of loops inside a loop that are known by line */
    const struct loop_forest *forest = a->in->forest;
    size_t n = forest->loop_count;
    struct hashmap inner = {0}; /* loop and line of a loop in it */
    uint32_t *order = mem_alloc((n + 1) * sizeof *order), last = LOOP_NONE;
    uint8_t *has_inner = mem_calloc(n + 1, 1);
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        uint32_t up = forest->loops[i].parent;
        for (int k = 0; k < FURTHEST && up != LOOP_NONE; k++, up = forest->loops[up].parent) {
            *hashmap_put(&inner, inner_key(up, a->places.items[i].line)) = 1;
            has_inner[up] = 1;
        }
    }
    qsort_r(order, n, sizeof *order, by_parent_and_lines, a);
    for (size_t k = 0; k < n; k++) {
        struct loop_place *p = &a->places.items[order[k]];
        if (!p->line)
            continue;
        const struct loop_place *wide = last == LOOP_NONE ? NULL : &a->places.items[last];
        bool inside = wide && same_surroundings(a, last, order[k]) &&
                      (p->line_last <= wide->line_last || is_vector_of(a, order[k], last));
        if (inside && p->line > wide->line && p->line - wide->line <= FURTHEST && !has_inner[order[k]] &&
            hashmap_get(&inner, inner_key(last, p->line)) == HASHMAP_NONE && has_no_control_line(a, order[k], last) &&
            shares_statements(a, order[k], last))
            p->line = wide->line;
        if (!inside)
            last = order[k];
    }
    hashmap_release(&inner);
    mem_free(order);
    mem_free(has_inner);
}

/* ---- unrolled loops ---- */

struct place_list VEC(uint64_t); /* line and column of a mark */

/* The marks of the loop's own statements; with `line` only those there. */
static void list_marks(struct assembler *a, uint32_t loop, uint32_t line, struct place_list *marks)
{
    const struct loop_place *p = &a->places.items[loop];
    const struct line_row *rows = a->debug->rows;
    marks->count = 0;
    for (uint32_t i = a->blocks_first.items[loop]; i < a->blocks_first.items[loop + 1]; i++) {
        const struct cfg_block *b = &a->in->cfg->blocks[a->blocks.items[i]];
        uint32_t row = assemble_row_before(a->debug, b->end - 1);
        for (; row != NO_ROW && rows[row].addr >= b->begin; row = row ? row - 1 : NO_ROW)
            if (rows[row].is_stmt && rows[row].line && (!line || rows[row].line == line) &&
                assemble_file(a, rows[row].file) == p->file && assemble_inlined_at(a, rows[row].addr) == p->inlined)
                *vec_push(marks) = (uint64_t)rows[row].line << 16 | rows[row].column;
    }
}

/* At least so often; a branch on two paths is twice there, too. */
static bool each_repeated(struct place_list *marks)
{
    enum { LEAST = 4 };
    size_t n;
    vec_sort(marks, order_u64);
    for (size_t i = 0; i < marks->count; i += n) {
        for (n = 1; i + n < marks->count && marks->items[i + n] == marks->items[i];)
            n++;
        if (n < LEAST)
            return false;
    }
    return marks->count > 0;
}

/* gcc marks the beginning of each statement, and of each copy of it in an unrolled body, control included. All
   statements of a macro have one position, as has a loop on one line: these are not evidence. Neither are clang's,
   which keeps only the last copy of the control, nor gfortran's, with one column for a whole line. */
static bool is_unrolled(struct assembler *a, uint32_t loop)
{
    const struct loop_place *p = &a->places.items[loop];
    struct place_list marks = {0};
    if (p->has_inside || !p->line || !a->gnu_c)
        return false;
    if (a->blocks_first.count == 0)
        list_blocks(a);
    list_marks(a, loop, p->line, &marks);
    bool repeated = each_repeated(&marks);
    if (repeated) {
        list_marks(a, loop, 0, &marks);
        repeated = each_repeated(&marks) && marks.items[0] >> 16 != marks.items[marks.count - 1] >> 16;
    }
    vec_release(&marks);
    return repeated;
}

/* ---- instances ---- */

/* One source loop: the same line of the same file in the same callee, called from the same place. A loop inside a
   loop of the same line is another one (two `for` on one line), so the number of such enclosing loops is part of the
   key. Among siblings, columns decide which belong together. */
struct loop_key {
    uint64_t calls; /* hash of the chain of call sites */
    str_id file;
    uint32_t line, same_above;
    uint32_t on_line;
    struct extent extent; /* only where others begin on its line */
    uint32_t node;
    vaddr low;
};

static int by_key(const void *x, const void *y)
{
    const struct loop_key *a = x, *b = y;
    return order_of(a->calls, b->calls)
               ?: order_of(a->file, b->file)
               ?: order_of(a->line, b->line)
               ?: order_of(a->same_above, b->same_above)
               ?: order_of(a->on_line, b->on_line)
               ?: order_of(a->low, b->low);
}

static bool same_loop(const struct loop_key *a, const struct loop_key *b)
{
    return a->calls == b->calls && a->file == b->file && a->line == b->line && a->same_above == b->same_above;
}

static struct loop_key key_of_loop(struct assembler *a, uint32_t node)
{
    const struct scope *s = &a->nodes.items[node].scope;
    struct loop_key k = {.file = s->file, .line = s->line_first, .node = node, .low = a->nodes.items[node].low};
    for (uint32_t n = a->nodes.items[node].parent; n != NODE_NONE; n = a->nodes.items[n].parent) {
        const struct scope *up = &a->nodes.items[n].scope;
        if (up->kind == SCOPE_INLINE) {
            const uint32_t site[] = {up->name, up->link_name, up->call_file, up->call_line};
            k.calls = hash_bytes(site, sizeof site, k.calls + 1);
        } else if (up->kind == SCOPE_LOOP && up->file == k.file && up->line_first == k.line) {
            k.same_above++;
        }
    }
    return k;
}

enum { SCALAR = 1, PACKED = 2, UNROLLED = 4 };

static uint32_t kind_of(struct assembler *a, uint32_t loop)
{
    return is_packed(a, loop) ? PACKED : is_unrolled(a, loop) ? UNROLLED : SCALAR;
}

static uint8_t role_of(uint32_t kind, uint32_t kinds)
{
    if (kind == UNROLLED)
        return kinds & PACKED ? LOOP_REMAINDER : LOOP_UNROLLED;
    if (kinds == kind)
        return LOOP_PLAIN;
    return kind == PACKED ? LOOP_VECTOR : LOOP_REMAINDER;
}

/* Among copies of one loop under one parent: those that calculate with packed numbers are its vector body, those that do
   several iterations in one are unrolled, the others what is left over. A copy alone is not called vector: packed
   instructions may come of straight-line code in it. Nor are loops with loops in them: their copies come of unswitching,
   or are several loops written on one line. */
static void name_roles(struct assembler *a, const struct loop_key *keys, size_t n)
{
    struct hashmap kinds = {0}; /* parent -> which of them are under it */
    for (size_t i = 0; i < n; i++)
        if (a->places.items[a->nodes.items[keys[i].node].loop].has_inside)
            return;
    uint32_t *kind = mem_alloc(n * sizeof *kind);
    for (size_t i = 0; i < n; i++) {
        const struct scope_node *node = &a->nodes.items[keys[i].node];
        kind[i] = kind_of(a, node->loop);
        uint32_t *all = hashmap_put(&kinds, node->parent);
        *all = (*all == HASHMAP_NONE ? 0 : *all) | kind[i];
    }
    for (size_t i = 0; i < n; i++) {
        struct scope_node *node = &a->nodes.items[keys[i].node];
        node->scope.role = role_of(kind[i], hashmap_get(&kinds, node->parent));
    }
    mem_free(kind);
    hashmap_release(&kinds);
}

static void widen(struct extent *x, uint16_t left, uint16_t right)
{
    x->left = !x->left || left < x->left ? left : x->left;
    x->right = right > x->right ? right : x->right;
}

static bool is_on_line_of(const struct loop_place *p, const struct loop_place *other)
{
    return p->inlined == other->inlined && p->file == other->file && p->line == other->line;
}

/* The columns of the loop's own evidence on its first line; where statements have marks, only of these: the others may
   have been moved in from another loop there. */
static struct extent extent_of(const struct assembler *a, uint32_t loop)
{
    const struct loop_place *p = &a->places.items[loop];
    struct extent marked = {0}, any = {0};
    for (uint32_t k = a->evidence_first.items[loop]; k < a->evidence_first.items[loop + 1]; k++) {
        const struct evidence *e = &a->evidence.items[k];
        if (!e->column || !e->fresh || e->inlined != p->inlined || e->file != p->file || e->line != p->line)
            continue;
        widen(&any, e->column, e->column);
        if (e->stmt)
            widen(&marked, e->column, e->column);
    }
    return marked.left ? marked : any;
}

/* From which column to which each loop goes on its first line, with the loops in it that begin there; 0: no column. */
static void find_extents(struct assembler *a)
{
    const struct loop_forest *forest = a->in->forest;
    vec_reserve(&a->extents, forest->loop_count);
    memset(a->extents.items, 0, forest->loop_count * sizeof *a->extents.items);
    for (uint32_t i = forest->loop_count; i-- > 0;) {
        const struct loop_place *p = &a->places.items[i];
        struct extent *x = &a->extents.items[i], own = extent_of(a, i);
        uint32_t up = forest->loops[i].parent;
        if (own.left)
            widen(x, own.left, p->line_last > p->line ? UINT16_MAX : own.right);
        if (x->left && up != LOOP_NONE && is_on_line_of(p, &a->places.items[up]))
            widen(&a->extents.items[up], x->left, x->right);
    }
}

static int by_extent(const void *x, const void *y)
{
    const struct loop_key *a = x, *b = y;
    return a->extent.left - b->extent.left; /* of those in one column only the first can begin a group */
}

/* Sibling loops that begin on one line. A loop has a control and a body, and its copies have parts of both: if one
   extends from column to column and all others are to its right, these are copies of another loop. One that continues
   after the line has all of it to its right. If one of them has no usable columns, nothing is known: they are copies.
   So they are for macros and gfortran, with one column for all of a line. */
static void tell_by_column(struct assembler *a, struct loop_key *keys, size_t n)
{
    uint32_t groups = 0, right = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t loop = a->nodes.items[keys[i].node].loop;
        keys[i].extent = a->extents.items[loop];
        if (keys[i].extent.left >= keys[i].extent.right)
            return;
    }
    qsort(keys, n, sizeof *keys, by_extent);
    for (size_t i = 0; i < n; i++) {
        groups += keys[i].extent.left > right;
        right = keys[i].extent.right > right ? keys[i].extent.right : right;
        keys[i].on_line = groups;
    }
    for (size_t i = 0; i < n; i++)
        keys[i].on_line = groups > 1 ? keys[i].on_line : 0;
    qsort(keys, n, sizeof *keys, by_key); /* by address again */
}

static void number_copies(struct assembler *a, const struct loop_key *keys, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        struct scope *s = &a->nodes.items[keys[k].node].scope;
        s->instance = (uint32_t)k + 1;
        s->instances = (uint32_t)n;
        s->on_line = keys[k].on_line;
    }
    if (n > 1 || is_unrolled(a, a->nodes.items[keys->node].loop))
        name_roles(a, keys, n);
}

void assemble_number_instances(struct assembler *a)
{
    struct VEC(struct loop_key) keys = {0};
    bool extents_known = false;
    for (uint32_t i = 0; i < a->nodes.count; i++) {
        struct scope *s = &a->nodes.items[i].scope;
        if (s->kind != SCOPE_LOOP)
            continue;
        s->instance = s->instances = 1;
        if (s->line_first)
            *vec_push(&keys) = key_of_loop(a, i);
    }
    vec_sort(&keys, by_key);
    for (size_t i = 0, n; i < keys.count; i += n) {
        for (n = 1; i + n < keys.count && same_loop(&keys.items[i], &keys.items[i + n]);)
            n++;
        if (n > 1 && !extents_known)
            find_extents(a), extents_known = true;
        if (n > 1)
            tell_by_column(a, &keys.items[i], n);
        for (size_t k = 0, copies; k < n; k += copies) {
            for (copies = 1; k + copies < n && keys.items[i + k + copies].on_line == keys.items[i + k].on_line;)
                copies++;
            number_copies(a, &keys.items[i + k], copies);
        }
    }
    vec_release(&keys);
}
