/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The position of each loop of a function in the source: its inlined callee, file and line.
 *
 * The line of a loop header's first instruction is wrong for optimized code more often than right: loops are rotated, so that
 * the header is the body's first statement, or code without a line of its own. The evidence of all the loop's own blocks
 * decides:
 *
 *   exit branches   a block with one successor inside and one outside ends in the loop's condition (or in an early
 *                   exit, which stands further down). The smallest line among them is the `for` or `while`.
 *   statements      rows that begin a statement (is_stmt). For a `do ... while` and for loops without a condition the
 *                   first statement of the body is the nearest thing to the keyword that the line table knows.
 *   freshness       an instruction without a location inherits the row of whatever lies before it in memory, which for
 *                   the first instructions of a block is another block's line. Only rows that begin in the block
 *                   count, unless there is nothing else.
 *   marks           in front of another row at the same address: the keyword of a loop that has no instruction for it.
 *   elsewhere       where the procedure has statements that are not in the loop. A loop is one stretch of the source,
 *                   so these speak against a stretch that would hold them; see "which lines" below.
 *
 * If the control has no line at all, the code that leads to the loop decides: control.c.
 *
 * In which callee: descend the tree of inlined calls from the procedure while the whole loop is within one call. A branch
 * that leaves the loop and is not in that call ends the descent, and so does a statement of the caller that is not on the
 * line of the call: a `for (auto x : v)` has its condition in an inlined operator!=, but its body here. Code that was moved
 * into the loop, or is not a statement, does not end it.
 *
 * The idea of the exit branches is hpcstruct's (HPCToolkit, lib/banal/Struct.cpp); the rest is ours.
 */
#include "bloop/assemble/assemble_int.h"

#include <stdlib.h>

/* ---- the tree of inlined calls ---- */

uint32_t assemble_inline_depth(const struct assembler *a, uint32_t inlined)
{
    return inlined == INLINE_NONE ? 0 : a->inline_depth.items[inlined];
}

bool assemble_inside(const struct assembler *a, uint32_t inlined, uint32_t ancestor)
{
    uint32_t depth = assemble_inline_depth(a, ancestor);
    while (assemble_inline_depth(a, inlined) > depth)
        inlined = a->inline_parent.items[inlined];
    return inlined == ancestor;
}

/* The call directly below `ancestor` on the way to `inlined`, which is inside it. */
static uint32_t step_towards(const struct assembler *a, uint32_t inlined, uint32_t ancestor)
{
    uint32_t depth = assemble_inline_depth(a, ancestor) + 1;
    while (assemble_inline_depth(a, inlined) > depth)
        inlined = a->inline_parent.items[inlined];
    return inlined;
}

uint32_t assemble_common(const struct assembler *a, uint32_t x, uint32_t y)
{
    while (x != y) {
        if (assemble_inline_depth(a, x) >= assemble_inline_depth(a, y))
            x = a->inline_parent.items[x];
        else
            y = a->inline_parent.items[y];
    }
    return x;
}

/* ---- collecting ---- */

uint32_t assemble_inlined_at(const struct assembler *a, vaddr addr)
{
    size_t low = sorted_front(a->owners.count, i, a->owners.items[i].begin <= addr);
    return low ? a->owners.items[low - 1].owner : INLINE_NONE;
}

uint32_t assemble_block_at(const struct cfg *cfg, vaddr addr)
{
    size_t low = sorted_front(cfg->block_count, i, cfg->blocks[i].begin <= addr);
    return low && addr < cfg->blocks[low - 1].end ? (uint32_t)(low - 1) : UINT32_MAX;
}

bool assemble_in_loop(const struct loop_forest *forest, uint32_t block, uint32_t loop)
{
    uint32_t l = forest->block_loop[block];
    uint32_t depth = forest->loops[loop].depth;
    while (l != LOOP_NONE && forest->loops[l].depth > depth)
        l = forest->loops[l].parent;
    return l == loop;
}

/* Does the block's last instruction choose between staying in the loop and leaving it? Exceptions do not count. */
static bool is_exit(const struct cfg *cfg, const struct loop_forest *forest, uint32_t block, uint32_t loop)
{
    const struct cfg_block *b = &cfg->blocks[block];
    uint32_t jumps = b->succ_count - b->pad_count, inside = 0;
    if (b->last_kind != INSN_BRANCH)
        return false;
    for (uint32_t i = 0; i < jumps; i++)
        inside += assemble_in_loop(forest, cfg->succs[b->succ_first + i], loop);
    /* A target outside of the function (a conditional tail call) is not a successor, but an exit. */
    return inside == 1;
}

/* gcc marks the beginning of a statement with a row of its own before the statement's first instruction; code moved
   since then has rows without the mark. So the mark may be anywhere before in the block. */
static uint32_t mark_of_statement(const struct assembler *a, uint32_t row, uint32_t block)
{
    enum { FURTHEST = 64 }; /* rows */
    const struct debug_function *d = a->debug;
    const struct line_row *r = &d->rows[row];
    vaddr begin = a->in->cfg->blocks[block].begin;
    for (uint32_t i = row, k = 0; d->rows[i].addr >= begin && k < FURTHEST; i--, k++) {
        if (d->rows[i].is_stmt && d->rows[i].line == r->line && d->rows[i].file == r->file)
            return i;
        if (i == 0)
            break;
    }
    return NO_ROW;
}

static void add_evidence(struct assembler *a, uint32_t loop, uint32_t row, uint32_t block, vaddr at, uint32_t leaves,
                         bool fresh)
{
    const struct line_row *r = &a->debug->rows[row];
    uint32_t mark = mark_of_statement(a, row, block);
    if (r->line == 0 || r->file == DEBUG_NO_FILE)
        return;
    *vec_push(&a->evidence) = (struct evidence){.loop = loop,
                                                .inlined = assemble_inlined_at(a, at),
                                                .file = assemble_file(a, r->file),
                                                .line = r->line,
                                                .column = r->column,
                                                .leaves = leaves,
                                                .exit = leaves != LOOP_NONE,
                                                .stmt = mark != NO_ROW,
                                                .left = mark == NO_ROW ? 0 : a->debug->rows[mark].column,
                                                .fresh = fresh};
}

uint32_t assemble_row_before(const struct debug_function *d, vaddr addr)
{
    size_t low = sorted_front(d->row_count, i, d->rows[i].addr <= addr);
    return low ? (uint32_t)(low - 1) : NO_ROW;
}

/* A row at the begin of a cold part may be what was valid in the function before it. */
static bool begins_in(const struct assembler *a, uint32_t row, uint32_t block)
{
    vaddr addr = a->debug->rows[row].addr, begin = a->in->cfg->blocks[block].begin;
    if (addr != begin)
        return addr > begin;
    for (size_t i = 0; i < a->in->part_count; i++)
        if (a->in->parts[i].begin == begin)
            return begin == a->in->functions->functions[a->in->function].begin;
    return true;
}

uint64_t assemble_place_key(uint32_t loop, str_id file, uint32_t line, uint16_t column)
{
    const uint32_t key[] = {loop, file, line, column};
    return hash_bytes(key, sizeof key, 0);
}

/* gcc -O0 sets a nop for a label (`default:`), and a loop that begins there has it inside. */
static bool is_nop(const struct assembler *a, vaddr begin, vaddr end)
{
    const struct arch *arch = arch_get(a->in->image->arch);
    size_t avail;
    const uint8_t *bytes = image_bytes(a->in->image, begin, &avail);
    struct insn insn;
    if (!bytes || !arch || avail == 0 || end - begin > 15)
        return false;
    arch->decode(bytes, avail, begin, &insn);
    return insn.kind == INSN_PADDING && begin + insn.length == end;
}

/* A line on which the procedure, or one copy of a callee, has a statement. */
static void collect_line(struct assembler *a, uint32_t inlined, str_id file, uint32_t line)
{
    if (line && file)
        *vec_push(&a->lines) = (struct source_line){inlined, file, line};
}

int assemble_by_line(const void *x, const void *y)
{
    const struct source_line *a = x, *b = y;
    return order_of(a->inlined, b->inlined) ?: order_of(a->file, b->file) ?: order_of(a->line, b->line);
}

/* All of them sorted, each once; the lines of calls belong to the caller. */
static void sort_lines(struct assembler *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->lines.count; i++) {
        struct source_line l = a->lines.items[i];
        if (l.inlined != INLINE_NONE && (i == 0 || a->lines.items[i - 1].inlined != l.inlined))
            collect_line(a, a->inline_parent.items[l.inlined], assemble_file(a, a->debug->inlines[l.inlined].call_file),
                         a->debug->inlines[l.inlined].call_line);
    }
    vec_sort(&a->lines, assemble_by_line);
    for (size_t i = 0; i < a->lines.count; i++)
        if (n == 0 || assemble_by_line(&a->lines.items[n - 1], &a->lines.items[i]) != 0)
            a->lines.items[n++] = a->lines.items[i];
    a->lines.count = n;
}

size_t assemble_lines_before(const struct assembler *a, uint32_t inlined, str_id file, uint32_t line)
{
    struct source_line key = {inlined, file, line};
    return sorted_front(a->lines.count, i, assemble_by_line(&a->lines.items[i], &key) < 0);
}

size_t assemble_lines_between(const struct assembler *a, const struct loop_place *p, uint32_t low, uint32_t high)
{
    if (high <= low + 1)
        return 0;
    return assemble_lines_before(a, p->inlined, p->file, high) - assemble_lines_before(a, p->inlined, p->file, low + 1);
}

static bool has_call(const struct assembler *a, vaddr begin, vaddr end)
{
    const struct cfg *cfg = a->in->cfg;
    size_t n = cfg_call_count(cfg), at = sorted_front(n, i, cfg_call(cfg, i).at < begin);
    return at < n && cfg_call(cfg, at).at < end;
}

static void add_row(struct assembler *a, uint32_t loop, uint32_t row, uint32_t block, vaddr end)
{
    vaddr addr = a->debug->rows[row].addr;
    size_t before = a->evidence.count;
    add_evidence(a, loop, row, block, addr, LOOP_NONE, begins_in(a, row, block));
    if (a->evidence.count > before) {
        struct evidence *e = &a->evidence.items[before];
        e->calls = !e->stmt && has_call(a, addr, end);
    }
}

/* Of `around`: a mark without an instruction. */
static uint64_t key_bare(uint32_t loop, str_id file, uint32_t line, uint16_t column)
{
    return assemble_place_key(loop, file, line, column) ^ 1;
}

/* The loop of the code that begins with that row: before a loop's first instruction, the enclosing one. */
static uint32_t loop_of_mark(const struct assembler *a, uint32_t block, const struct line_row *r)
{
    const struct loop_forest *forest = a->in->forest;
    uint32_t loop = forest->block_loop[block];
    while (loop != LOOP_NONE && forest->loops[loop].header == block && r->addr == a->in->cfg->blocks[block].begin)
        loop = forest->loops[loop].parent;
    return loop;
}

/* Of `around`: the last line of its code from a callee. */
static uint64_t key_reach(uint32_t inlined, str_id file)
{
    return assemble_place_key(inlined, file, 0, UINT16_MAX) ^ 1;
}

static void note_reach(struct assembler *a, uint32_t inlined, str_id file, uint32_t line)
{
    uint32_t *last = hashmap_put(&a->around, key_reach(inlined, file));
    if (*last == HASHMAP_NONE || *last < line)
        *last = line;
}

static void note_bare(struct assembler *a, uint32_t block, const struct line_row *r)
{
    if (r->is_stmt)
        *hashmap_put(&a->around, key_bare(loop_of_mark(a, block, r), assemble_file(a, r->file), r->line, r->column)) =
            1;
}

static uint32_t last_row_at(const struct debug_function *d, uint32_t row, uint32_t last)
{
    while (row < last && d->rows[row + 1].addr == d->rows[row].addr)
        row++;
    return row;
}

/* Rows that begin in the block. Of several at one address only the last has the instruction. */
static void collect_rows(struct assembler *a, uint32_t block, uint32_t row, uint32_t last)
{
    const struct cfg_block *b = &a->in->cfg->blocks[block];
    const struct line_row *rows = a->debug->rows;
    uint32_t loop = a->in->forest->block_loop[block];
    for (; row <= last; row++) {
        if (row < last && rows[row].addr == rows[row + 1].addr) {
            note_bare(a, block, &rows[row]);
            const struct line_row *stays = &rows[last_row_at(a->debug, row, last)];
            if (rows[row].is_stmt && (rows[row].line != stays->line || rows[row].column != stays->column))
                *vec_push(&a->marks) = (struct mark){assemble_file(a, rows[row].file), rows[row].line, block, row};
            continue;
        }
        if (rows[row].addr == b->begin && is_nop(a, b->begin, row < last ? rows[row + 1].addr : b->end))
            continue;
        if (loop != LOOP_NONE)
            add_row(a, loop, row, block, row < last ? rows[row + 1].addr : b->end);
        str_id file = assemble_file(a, rows[row].file);
        *hashmap_put(&a->around, assemble_place_key(loop, file, rows[row].line, rows[row].column)) = 1;
        note_reach(a, assemble_inlined_at(a, rows[row].addr), file, rows[row].line);
        if (rows[row].is_stmt)
            collect_line(a, assemble_inlined_at(a, rows[row].addr), file, rows[row].line);
    }
}

/* Is the branch at that row the control of a loop whose body is on the same line? C's begins a statement to the left of
   another. Fortran's array statements have one column for all, and numbers for the blocks on their line. */
static bool has_body_on_line(const struct assembler *a, uint32_t row, uint32_t block)
{
    enum { FURTHEST = 64 }; /* rows */
    const struct line_row *rows = a->debug->rows, *r = &rows[row];
    vaddr begin = a->in->cfg->blocks[block].begin;
    bool one_column = true;
    for (uint32_t i = row, k = 0; i-- > 0 && rows[i].addr >= begin && k < FURTHEST; k++) {
        if (rows[i].line != r->line || rows[i].file != r->file || rows[i].column == r->column)
            continue;
        one_column = false;
        if (r->is_stmt && rows[i].is_stmt && r->column && rows[i].column > r->column)
            return true;
    }
    return one_column && r->discriminator;
}

/* Of `around`: a line that has both control and body of a loop. One copy of the loop is enough evidence for all. */
static uint64_t key_alone(str_id file, uint32_t line)
{
    return assemble_place_key(LOOP_NONE - 1, file, line, 0);
}

/* Of `around`: a line that the procedure returns on. */
static uint64_t key_return(str_id file, uint32_t line)
{
    return assemble_place_key(LOOP_NONE - 2, file, line, 0);
}

/* For the innermost loop, and those around it that this branch leaves as well. */
static void collect_exits(struct assembler *a, uint32_t block, uint32_t row)
{
    enum { MOST_LEVELS = 16 }; /* a `return` out of a deeper nest says nothing of where its outer loops are */
    const struct loop_forest *forest = a->in->forest;
    uint32_t loop = forest->block_loop[block], outermost = LOOP_NONE, l = loop;
    vaddr at = a->in->cfg->blocks[block].end - 1;
    for (int i = 0; i < MOST_LEVELS && l != LOOP_NONE && is_exit(a->in->cfg, forest, block, l);
         i++, l = forest->loops[l].parent)
        outermost = l;
    if (outermost == LOOP_NONE)
        return;
    if (has_body_on_line(a, row, block))
        *hashmap_put(&a->around, key_alone(assemble_file(a, a->debug->rows[row].file), a->debug->rows[row].line)) = 1;
    for (l = loop;; l = forest->loops[l].parent) {
        add_evidence(a, l, row, block, at, outermost, begins_in(a, row, block));
        if (l == outermost)
            return;
    }
}

static void collect_block(struct assembler *a, uint32_t block)
{
    const struct cfg_block *b = &a->in->cfg->blocks[block];
    const struct loop_forest *forest = a->in->forest;
    uint32_t loop = forest->block_loop[block];
    uint32_t last = b->begin < b->end ? assemble_row_before(a->debug, b->end - 1) : NO_ROW;
    if (last == NO_ROW)
        return;
    collect_exits(a, block, last);
    if (b->last_kind == INSN_RETURN)
        *hashmap_put(&a->around, key_return(assemble_file(a, a->debug->rows[last].file), a->debug->rows[last].line)) =
            1;
    uint32_t row = last;
    while (row > 0 && a->debug->rows[row].addr >= b->begin)
        row--;
    if (a->debug->rows[row].addr < b->begin) {
        if (loop != LOOP_NONE)
            add_evidence(a, loop, row, block, b->begin, LOOP_NONE, false);
        row++;
    }
    collect_rows(a, block, row, last);
}

/* Is the statement of a mark that callee's (INLINE_NONE: the procedure's)? `first`: one must not begin before that. */
static bool begins_before_mark(struct assembler *a, uint32_t inlined, const struct mark *m, uint32_t *first)
{
    const struct inline_call *call = inlined == INLINE_NONE ? NULL : &a->debug->inlines[inlined];
    uint32_t line = call ? call->decl_line : a->debug->decl_line;
    uint32_t last = hashmap_get(&a->around, key_reach(inlined, m->file));
    if (assemble_file(a, call ? call->decl_file : a->debug->decl_file) != m->file || line > m->line || line < *first ||
        last == HASHMAP_NONE || last < m->line)
        return false;
    *first = line + (call ? 1 : 0); /* of a recursive call the innermost */
    return true;
}

/* A mark in front of another row is of a statement of which nothing is left there (a `for` whose counter was folded into
   another one), in that callee around the address that begins closest in front of it. */
static void add_bare_mark(struct assembler *a, const struct mark *m)
{
    const struct line_row *r = &a->debug->rows[m->row];
    uint32_t loop = loop_of_mark(a, m->block, r), inlined = INLINE_NONE, first = 0;
    bool known = begins_before_mark(a, INLINE_NONE, m, &first);
    for (uint32_t i = assemble_inlined_at(a, r->addr); i != INLINE_NONE; i = a->inline_parent.items[i]) {
        if (a->debug->inlines[i].decl_line == 0)
            return; /* it may be of that one: of a lambda */
        if (begins_before_mark(a, i, m, &first)) {
            inlined = i;
            known = true;
        }
    }
    if (loop == LOOP_NONE || !known)
        return;
    *vec_push(&a->evidence) = (struct evidence){.loop = loop,
                                                .inlined = inlined,
                                                .file = m->file,
                                                .line = m->line,
                                                .column = r->column,
                                                .left = r->column,
                                                .leaves = LOOP_NONE,
                                                .stmt = true,
                                                .fresh = true,
                                                .bare = true};
}

/* Counting sort by loop. */
static void sort_evidence(struct assembler *a)
{
    size_t loops = a->in->forest->loop_count, n = a->evidence.count;
    struct evidence *sorted = mem_alloc((n + 1) * sizeof *sorted);
    vec_reserve(&a->evidence_first, loops + 2);
    uint32_t *first = a->evidence_first.items;
    memset(first, 0, (loops + 2) * sizeof *first);
    for (size_t i = 0; i < n; i++)
        first[a->evidence.items[i].loop + 2]++;
    for (size_t i = 2; i < loops + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < n; i++)
        sorted[first[a->evidence.items[i].loop + 1]++] = a->evidence.items[i];
    if (n)
        memcpy(a->evidence.items, sorted, n * sizeof *sorted);
    mem_free(sorted);
}

/* ---- one loop ---- */

struct loop_view {
    struct assembler *a;
    uint32_t loop;
    const struct evidence *evidence;
    size_t count;
    uint32_t child_first; /* loops directly inside: list through next_child */
    const uint32_t *next_child;
    bool fresh_exits, fresh_code;
    bool copied;         /* the same statements are outside the loop as well */
    bool own_statements; /* exits, or statements that were not moved in */
};

/* Is the loop around left on that line? Rounds of it that were unrolled into this one (gcc's unroll and jam) have marks of
   its control. */
static bool is_control_around(const struct loop_view *v, const struct evidence *e)
{
    const struct assembler *a = v->a;
    uint32_t up = a->in->forest->loops[v->loop].parent;
    for (uint32_t i = up == LOOP_NONE ? 0 : a->evidence_first.items[up];
         up != LOOP_NONE && i < a->evidence_first.items[up + 1]; i++) {
        const struct evidence *x = &a->evidence.items[i];
        if (x->exit && x->line == e->line && x->file == e->file)
            return true;
    }
    return false;
}

/* The evidence that counts: the fresh part, if there is any of its kind. */
static bool counts(const struct loop_view *v, const struct evidence *e)
{
    if (e->bare)
        return !is_control_around(v, e);
    return e->fresh || (e->exit ? !v->fresh_exits : !v->fresh_code);
}

/* A statement of the surroundings that the compiler has moved into the loop: it stands at the very same place, column
   included, outside of it too. (The `for` line is there too, but with its first part.) */
static bool stands_outside(const struct assembler *a, const struct evidence *e)
{
    uint32_t parent = a->in->forest->loops[e->loop].parent;
    return hashmap_get(&a->around, assemble_place_key(parent, e->file, e->line, e->column)) != HASHMAP_NONE ||
           (e->bare && hashmap_get(&a->around, key_bare(parent, e->file, e->line, e->column)) != HASHMAP_NONE);
}

/* If most of the loop's statements are outside as well, the loop was copied (its first or last iterations are
   straight code next to it), and no statement was moved. */
static bool has_copy_beside(const struct loop_view *v)
{
    uint32_t outside = 0, inside = 0;
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (e->stmt && e->fresh && !e->exit && !e->bare)
            *(stands_outside(v->a, e) ? &outside : &inside) += 1;
    }
    return outside > inside;
}

static bool is_from_outside(const struct loop_view *v, const struct evidence *e)
{
    return !v->copied && stands_outside(v->a, e);
}

/* Evidence for the callee of a loop: a branch out of it, or a statement of its own. An instruction that was moved in
   is not evidence, nor is a row without a statement's mark (a register is set up there for another call). */
static bool tells_level(const struct loop_view *v, const struct evidence *e)
{
    return counts(v, e) && (e->exit || !v->own_statements || (e->stmt && !is_from_outside(v, e)));
}

struct level {
    bool exit_here, loop_here, other_line_here;
    uint32_t below; /* the one call that contains the rest; INLINE_NONE: there is none */
    bool several_below;
};

static void look_below(const struct assembler *a, struct level *l, uint32_t inlined, uint32_t at)
{
    uint32_t step = step_towards(a, inlined, at);
    if (l->below != INLINE_NONE && l->below != step)
        l->several_below = true;
    if (l->below == INLINE_NONE)
        l->below = step;
}

static struct level look_at_level(const struct loop_view *v, uint32_t at)
{
    struct assembler *a = v->a;
    struct level l = {.below = INLINE_NONE};
    for (uint32_t c = v->child_first; c != LOOP_NONE; c = v->next_child[c]) {
        uint32_t where = a->places.items[c].inlined;
        if (where == at)
            l.loop_here = true;
        else if (assemble_inside(a, where, at))
            look_below(a, &l, where, at);
    }
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (!tells_level(v, e) || !assemble_inside(a, e->inlined, at))
            continue;
        if (e->inlined != at)
            look_below(a, &l, e->inlined, at);
        else if (e->exit)
            l.exit_here = true;
    }
    if (l.below == INLINE_NONE)
        return l;
    const struct inline_call *call = &a->debug->inlines[l.below];
    str_id call_file = assemble_file(v->a, call->call_file);
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (tells_level(v, e) && e->inlined == at && e->stmt && (e->line != call->call_line || e->file != call_file))
            l.other_line_here = true;
    }
    return l;
}

/* Does each round of the loop make this call? It begins in the loop, and not where the loop does, which is code of the
   caller: of a loop that OpenMP shares out nothing else may be left, and on the line of the call (a macro's). */
static bool is_called_inside(const struct loop_view *v, uint32_t call)
{
    const struct assembler *a = v->a;
    vaddr entry = a->debug->inlines[call].entry;
    uint32_t header = a->in->forest->loops[v->loop].header,
             block = entry ? assemble_block_at(a->in->cfg, entry) : UINT32_MAX;
    vaddr begin = a->in->cfg->blocks[header].begin;
    return block != UINT32_MAX && entry != begin && assemble_in_loop(a->in->forest, block, v->loop) &&
           !assemble_inside(a, assemble_inlined_at(v->a, begin), call);
}

static uint32_t find_inline_level(const struct loop_view *v)
{
    uint32_t at = INLINE_NONE;
    for (;;) {
        struct level l = look_at_level(v, at);
        if (l.exit_here || l.loop_here || l.other_line_here || l.several_below || l.below == INLINE_NONE ||
            is_called_inside(v, l.below))
            return at;
        at = l.below;
    }
}

/* The line of a place as seen from the callee `at`: its own line there, or that of the call that leads to it. */
static bool seen_from(struct assembler *a, uint32_t inlined, uint32_t file, uint32_t line, uint32_t at,
                      uint32_t *file_seen, uint32_t *line_seen)
{
    if (!assemble_inside(a, inlined, at))
        return false;
    *file_seen = file;
    *line_seen = line;
    if (inlined != at) {
        const struct inline_call *call = &a->debug->inlines[step_towards(a, inlined, at)];
        *file_seen = assemble_file(a, call->call_file);
        *line_seen = call->call_line;
    }
    return *line_seen != 0 && *file_seen != 0;
}

bool assemble_seen_from(struct assembler *a, const struct evidence *e, uint32_t at, str_id *file, uint32_t *line)
{
    return seen_from(a, e->inlined, e->file, e->line, at, file, line);
}

static str_id file_of_callee(struct assembler *a, uint32_t inlined)
{
    return assemble_file(a, inlined == INLINE_NONE ? a->debug->decl_file : a->debug->inlines[inlined].decl_file);
}

/* The callee's own file where the loop has evidence in it; else that of the first exit, else of the first row (an
 * included file). */
static str_id find_file(const struct loop_view *v, uint32_t at)
{
    str_id own = file_of_callee(v->a, at), first_exit = 0, first = 0, file;
    uint32_t line;
    bool exit_in_own = false, code_in_own = false;
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (!counts(v, e) || !seen_from(v->a, e->inlined, e->file, e->line, at, &file, &line))
            continue;
        if (e->exit && file == own)
            exit_in_own = true;
        if (file == own)
            code_in_own = true;
        if (e->exit && first_exit == 0)
            first_exit = file;
        if (first == 0)
            first = file;
    }
    if (exit_in_own)
        return own;
    if (first_exit != 0)
        return first_exit;
    return code_in_own ? own : first;
}

/* Is the first thing in the loop on that line? Then it is a `for` or `while` that was not rotated. */
static bool begins_with(const struct loop_view *v, const struct evidence *e)
{
    const struct assembler *a = v->a;
    uint32_t row = assemble_row_before(a->debug, a->in->cfg->blocks[a->in->forest->loops[v->loop].header].begin);
    return row != NO_ROW && a->debug->rows[row].line == e->line;
}

/* Smallest lines by kind of evidence, as seen from the loop's callee. */
struct smallest {
    uint32_t exit, stmt, any, child; /* UINT32_MAX: none */
    uint32_t doubtful; /* the largest line of a statement before the exit that may be from outside; 0: none */
    bool
        exit_outside; /* the exit is a `for` or `while`: it stands in front of the loop too (rotated), or first in it */
    bool exit_of_child;
};

static void keep_smaller(uint32_t *smallest, uint32_t line)
{
    if (line < *smallest)
        *smallest = line;
}

/* ---- which lines ----
 *
 * The lines of a loop are one stretch of the source. Each line inside is evidence for its neighbours, and each line between
 * that only has statements outside is evidence against joining the lines on both sides of it:
 *
 *     line       49   50 51 .. 130   131  132  133          390 is far from 49, and nothing of 50..130 is in the loop:
 *     inside      .                  exit  x    x           the instruction of line 49 was moved, the loop is 131-133
 *     elsewhere       x  x  x  x
 */

enum {
    WEIGHT_OWN_EXIT = 1024, /* a statement of its own, and of nothing else: beyond doubt */
    WEIGHT_LOOP = 64,
    WEIGHT_EXIT = 64,
    WEIGHT_STATEMENT = 6,
    WEIGHT_MOVED = 2,
    WEIGHT_OTHER = 2,
    AGAINST = 2
};

static int by_first(const void *x, const void *y)
{
    const struct line_point *a = x, *b = y;
    return order_of(a->first, b->first) ?: order_of(a->last, b->last);
}

static uint32_t weight_of(const struct loop_view *v, const struct evidence *e)
{
    if (e->exit)
        return e->stmt && e->fresh && !stands_outside(v->a, e) ? WEIGHT_OWN_EXIT : WEIGHT_EXIT;
    if (!e->stmt)
        return WEIGHT_OTHER;
    return e->bare || is_from_outside(v, e) ? WEIGHT_MOVED : WEIGHT_STATEMENT;
}

bool assemble_is_in_body(struct assembler *a, const struct loop_place *p, uint32_t line, bool exit)
{
    const struct debug_function *d = a->debug;
    const struct inline_call *call = p->inlined == INLINE_NONE ? NULL : &d->inlines[p->inlined];
    uint32_t file = call ? call->decl_file : d->decl_file, first = call ? call->decl_line : d->decl_line;
    uint32_t row = assemble_row_before(d, a->in->functions->functions[a->in->function].begin);
    bool region = !call && a->nodes.items[0].scope.outlined && row != NO_ROW;
    if (region) {
        file = d->rows[row].file;
        first = d->rows[row].line;
    }
    if (file >= d->file_count || assemble_file(a, file) != p->file)
        return true;
    return exit || region ? line >= first : line > first;
}

/* Bytes of the call's ranges, in the loop or in all. */
static vaddr bytes_of_call(const struct assembler *a, uint32_t call, uint32_t loop)
{
    const struct inline_call *c = &a->debug->inlines[call];
    const struct cfg *cfg = a->in->cfg;
    vaddr sum = 0;
    for (uint32_t i = 0; i < c->range_count; i++) {
        const struct addr_range *r = &a->debug->ranges[c->range_first + i];
        size_t b = sorted_front(cfg->block_count, k, cfg->blocks[k].end <= r->begin);
        for (; b < cfg->block_count && cfg->blocks[b].begin < r->end; b++)
            if (loop == LOOP_NONE || assemble_in_loop(a->in->forest, (uint32_t)b, loop)) {
                vaddr begin = cfg->blocks[b].begin, end = cfg->blocks[b].end;
                sum += (end < r->end ? end : r->end) - (begin > r->begin ? begin : r->begin);
            }
    }
    return sum;
}

/* Is almost all of the call somewhere else? Then its rest in the loop was sunk there. */
static bool is_of_call_outside(const struct loop_view *v, const struct evidence *e, uint32_t at)
{
    enum { SHARE = 16 };
    struct assembler *a = v->a;
    if (e->exit || e->inlined == at || !assemble_inside(a, e->inlined, at))
        return false;
    uint32_t call = step_towards(a, e->inlined, at);
    if (a->outside_call != call || a->outside_loop != v->loop) {
        a->outside_call = call;
        a->outside_loop = v->loop;
        a->outside = bytes_of_call(a, call, v->loop) < bytes_of_call(a, call, LOOP_NONE) / SHARE;
    }
    return a->outside;
}

static void gather_points(const struct loop_view *v, const struct loop_place *p, bool body_only)
{
    struct assembler *a = v->a;
    str_id file;
    uint32_t line;
    a->points.count = 0;
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (counts(v, e) && seen_from(a, e->inlined, e->file, e->line, p->inlined, &file, &line) && file == p->file &&
            (!body_only || (assemble_is_in_body(a, p, line, e->exit) && !is_of_call_outside(v, e, p->inlined))))
            *vec_push(&a->points) = (struct line_point){line, line, weight_of(v, e), e, e->bare};
    }
    for (uint32_t c = v->child_first; c != LOOP_NONE; c = v->next_child[c]) {
        const struct loop_place *child = &a->places.items[c];
        if (child->line && seen_from(a, child->inlined, child->file, child->line, p->inlined, &file, &line) &&
            file == p->file)
            *vec_push(&a->points) = (struct line_point){line, child->inlined == p->inlined ? child->line_last : line,
                                                        WEIGHT_LOOP, NULL, child->keyword};
    }
    vec_sort(&a->points, by_first);
}

/* The stretch with the largest sum (Kadane's algorithm). */
static void keep_stretch(struct assembler *a, const struct loop_place *p)
{
    struct line_point *points = a->points.items;
    size_t begin = 0, best_begin = 0, best_end = 0;
    uint64_t sum = 0, best = 0;
    uint32_t reach = 0;
    for (size_t i = 0; i < a->points.count; i++) {
        uint64_t against =
            sum && points[i].first > reach
                ? AGAINST * assemble_lines_between(a, p, reach, points[i].first) + (points[i].first - reach) / 64
                : 0;
        if (against >= sum) {
            sum = 0;
            begin = i;
            reach = 0;
        } else {
            sum -= against;
        }
        sum += points[i].weight;
        if (points[i].last > reach)
            reach = points[i].last;
        if (sum > best) {
            best = sum;
            best_begin = begin;
            best_end = i + 1;
        }
    }
    if (best_end > best_begin)
        memmove(points, points + best_begin, (best_end - best_begin) * sizeof *points);
    a->points.count = best_end - best_begin;
}

/* The smallest column of a statement's mark in the loop; code without a mark that is further left ends the
   procedure. */
static uint16_t find_left(const struct assembler *a, const struct loop_place *p)
{
    uint16_t left = 0;
    for (size_t i = 0; i < a->points.count; i++) {
        const struct evidence *e = a->points.items[i].evidence;
        if (e && e->stmt && !e->bare && e->inlined == p->inlined && e->left && (!left || e->left < left))
            left = e->left;
    }
    return left;
}

static bool is_further_left(const struct evidence *e, uint16_t left)
{
    return !e->stmt && !e->calls && e->column && e->column < left;
}

/* The points on one line, from `begin` to `end`. */
struct line_group {
    size_t begin, end;
    uint32_t line, last;
    bool marked; /* with a statement's mark, or as good */
    bool
        outside; /* the procedure returns on it, and all of it stands further left, without a mark, and leads nowhere */
};

static struct line_group look_at_line(const struct assembler *a, str_id file, size_t begin, uint16_t left)
{
    struct line_group g = {.begin = begin, .end = begin, .line = a->points.items[begin].first};
    g.outside = hashmap_get(&a->around, key_return(file, g.line)) != HASHMAP_NONE;
    for (; g.end < a->points.count && a->points.items[g.end].first == g.line; g.end++) {
        const struct line_point *point = &a->points.items[g.end];
        const struct evidence *e = point->evidence;
        if (e && e->bare)
            continue;
        g.last = point->last > g.last ? point->last : g.last;
        g.marked = g.marked || !e || e->stmt || e->calls || (e->exit && !is_further_left(e, left));
        g.outside = g.outside && e && !e->exit && is_further_left(e, left);
    }
    return g;
}

static int by_mark(const void *x, const void *y)
{
    const struct mark *a = x, *b = y;
    return order_of(a->file, b->file) ?: order_of(a->line, b->line) ?: order_of(a->block, b->block);
}

/* Has the line a mark without an instruction: in the loop, anywhere? */
static void look_for_mark(struct assembler *a, uint32_t loop, const struct mark *line, bool *inside, bool *anywhere)
{
    enum { MOST = 256 };
    if (!a->marks_sorted)
        vec_sort(&a->marks, by_mark);
    a->marks_sorted = true;
    size_t first = sorted_front(a->marks.count, i, by_mark(&a->marks.items[i], line) < 0), i = first;
    for (; i < a->marks.count && i - first < MOST; i++) {
        const struct mark *m = &a->marks.items[i];
        if (m->file != line->file || m->line != line->line)
            break;
        *inside = *inside || assemble_in_loop(a->in->forest, m->block, loop);
    }
    *anywhere = i > first;
}

/* A line of which only code without a mark is in the loop: a register is set up there for later code, if a statement
   begins behind the last of the loop and not behind that line; or it ends the procedure, or was moved in. (An `if` that
   is no longer a branch may have no mark anywhere.) */
static bool is_of_what_follows(const struct loop_view *v, const struct loop_place *p, const struct line_group *g,
                               uint32_t marked, uint16_t left)
{
    bool inside = false, follows = false;
    look_for_mark(v->a, v->loop, &(struct mark){.file = p->file, .line = g->line}, &inside, &follows);
    if (inside)
        return false;
    for (size_t i = g->begin; i < g->end && !follows; i++) {
        const struct evidence *e = v->a->points.items[i].evidence;
        follows = is_further_left(e, left) || is_from_outside(v, e);
    }
    return follows || assemble_lines_between(v->a, p, marked ? marked : g->line - 1, g->line + 1) != 0;
}

/* If more than one line of the loop has marks; a body of one statement may have its mark before the loop. Code moved
   behind a `return` begins with the row of the procedure's end, which no loop on one line (a macro's) reaches. */
static uint32_t find_last_line(const struct loop_view *v, const struct loop_place *p)
{
    uint32_t last = 0, marked = 0, first_marked = 0;
    uint16_t left = find_left(v->a, p);
    struct line_group g;
    for (size_t i = 0; i < v->a->points.count; i = g.end) {
        g = look_at_line(v->a, p->file, i, left);
        last = g.last > last && !g.outside ? g.last : last;
        if (g.last > marked && (g.marked || !is_of_what_follows(v, p, &g, marked, left))) {
            first_marked = first_marked ? first_marked : g.line;
            marked = g.last;
        }
    }
    return marked > first_marked ? marked : last;
}

static void look_at_exit(const struct loop_view *v, const struct line_point *point, struct smallest *s)
{
    if (point->first < s->exit) {
        s->exit = point->first;
        s->exit_outside = stands_outside(v->a, point->evidence) || begins_with(v, point->evidence);
    }
}

/* A statement in front of the exit: is it of the loop? In a copy everything stands outside; there it is not if the exit
   is a `for` or `while`, with the body behind it. */
static void look_at_statement(const struct loop_view *v, const struct line_point *point, struct smallest *s,
                              uint32_t last, uint16_t left)
{
    bool control = s->exit_outside && s->exit < last;
    bool ahead = point->evidence->bare && point->evidence->left < left; /* a keyword's, or of code before it */
    if (!stands_outside(v->a, point->evidence) || (v->copied && !control && !ahead))
        keep_smaller(&s->stmt, point->first);
    if (point->first < s->exit && point->first > s->doubtful)
        s->doubtful = point->first;
}

/* Does an inner loop exit to that very place too? Then the line is the inner one's, which is entered again there.
   (All loops of Fortran's array statements are on one line.) */
static bool is_exit_of_child(const struct loop_view *v, const struct evidence *e)
{
    struct assembler *a = v->a;
    for (uint32_t c = v->child_first; c != LOOP_NONE; c = v->next_child[c]) {
        const struct loop_place *p = &a->places.items[c];
        if (p->line != e->line || p->file != e->file || (p->line == p->line_last && assemble_is_fortran(a)))
            continue;
        for (uint32_t i = a->evidence_first.items[c]; i < a->evidence_first.items[c + 1]; i++) {
            const struct evidence *x = &a->evidence.items[i];
            if (x->exit && x->line == e->line && x->column == e->column && x->file == e->file)
                return true;
        }
    }
    return false;
}

static struct smallest find_smallest(const struct loop_view *v, const struct loop_place *p, uint32_t last)
{
    const struct assembler *a = v->a;
    uint16_t left = find_left(a, p);
    struct smallest s = {.exit = UINT32_MAX, .stmt = UINT32_MAX, .any = UINT32_MAX, .child = UINT32_MAX};
    for (size_t i = 0; i < a->points.count; i++) {
        const struct line_point *point = &a->points.items[i];
        keep_smaller(point->evidence ? &s.any : &s.child, point->first);
        if (!point->evidence || !point->evidence->exit)
            continue;
        if (is_exit_of_child(v, point->evidence))
            s.exit_of_child = true;
        else
            look_at_exit(v, point, &s);
    }
    for (size_t i = 0; i < a->points.count; i++)
        if (a->points.items[i].evidence && a->points.items[i].evidence->stmt)
            look_at_statement(v, &a->points.items[i], &s, last, left);
    return s;
}

/* Is nothing of that line left in the loop but marks, the keyword's? */
static bool is_bare(const struct assembler *a, uint32_t line)
{
    bool bare = false;
    for (size_t i = 0; i < a->points.count; i++) {
        const struct line_point *point = &a->points.items[i];
        if (point->first == line && !point->bare)
            return false;
        bare = bare || point->first == line;
    }
    return bare;
}

/* The nearest line before, with nothing in between, of which a mark is further left than everything that begins in
   the loop: the keyword's. Other code before a loop with a copied part (its first iteration) is further up. */
static uint32_t step_to_keyword(const struct assembler *a, const struct loop_place *p, uint32_t line)
{
    uint32_t found = 0;
    uint16_t left = UINT16_MAX;
    for (size_t i = 0; i < a->points.count; i++) {
        const struct evidence *e = a->points.items[i].evidence;
        if (e && e->stmt && e->line >= line && e->column < left)
            left = e->column;
    }
    for (size_t i = 0; i < a->points.count && a->points.items[i].first < line; i++) {
        const struct evidence *e = a->points.items[i].evidence;
        if (e && e->bare && e->inlined == p->inlined && e->column < left &&
            assemble_lines_between(a, p, e->line, line) == 0)
            found = e->line;
    }
    return found ? found : line;
}

static uint32_t choose_line(const struct smallest *s)
{
    uint32_t line = s->exit;
    if (s->stmt < line)
        line = s->stmt;
    /* Part of the body's first statement has been hoisted. */
    if (s->exit != UINT32_MAX && line == s->exit && s->doubtful && !s->exit_outside)
        line = s->doubtful;
    if (line == UINT32_MAX)
        line = s->any;
    if (s->child < line)
        line = s->child;
    return line == UINT32_MAX ? 0 : line;
}

static void place_loop(struct assembler *a, uint32_t loop, uint32_t child_first, const uint32_t *next_child)
{
    struct loop_view v = {.a = a, .loop = loop, .child_first = child_first, .next_child = next_child};
    uint32_t first = a->evidence_first.items[loop], end = a->evidence_first.items[loop + 1];
    struct loop_place *p = &a->places.items[loop];
    p->has_inside = child_first != LOOP_NONE;
    v.count = end - first;
    v.evidence = v.count ? a->evidence.items + first : NULL;
    for (size_t i = 0; i < v.count; i++) {
        if (v.evidence[i].fresh && v.evidence[i].exit)
            v.fresh_exits = true;
        if (v.evidence[i].fresh && !v.evidence[i].exit)
            v.fresh_code = true;
    }
    v.copied = has_copy_beside(&v);
    for (size_t i = 0; i < v.count && !v.own_statements; i++)
        v.own_statements = counts(&v, &v.evidence[i]) &&
                           (v.evidence[i].exit || (v.evidence[i].stmt && !is_from_outside(&v, &v.evidence[i])));
    p->inlined = find_inline_level(&v);
    p->file = find_file(&v, p->inlined);
    if (p->file == 0 && child_first != LOOP_NONE)
        p->file = a->places.items[child_first].file;
    if (p->file == 0)
        return;
    gather_points(&v, p, true);
    if (a->points.count == 0)
        gather_points(&v, p, false);
    keep_stretch(a, p);
    uint32_t last = find_last_line(&v, p);
    struct smallest s = find_smallest(&v, p, last);
    p->line = choose_line(&s);
    p->line = step_to_keyword(a, p, p->line);
    p->keyword = is_bare(a, p->line);
    p->line_last = p->line ? last : 0;
    if (p->line_last < p->line)
        p->line_last = p->line;
    if (s.exit < s.child && s.exit < p->line_last)
        p->control = s.exit;
    p->control_stale = !v.fresh_exits;
    p->leaves_with_child = s.exit_of_child && s.exit == UINT32_MAX;
    p->line_alone = p->line == s.exit && hashmap_get(&a->around, key_alone(p->file, p->line)) != HASHMAP_NONE;
}

void assemble_place_loops(struct assembler *a)
{
    const struct loop_forest *forest = a->in->forest;
    size_t n = forest->loop_count;
    a->places.count = a->evidence.count = 0;
    vec_reserve(&a->places, n + 1);
    for (size_t i = 0; i < n; i++)
        *vec_push(&a->places) = (struct loop_place){.inlined = INLINE_NONE, .part_of = (uint32_t)i};
    if (!a->debug || n == 0)
        return;
    hashmap_release(&a->around);
    a->outside_call = INLINE_NONE;
    a->lines.count = a->marks.count = 0;
    a->marks_sorted = false;
    assemble_find_shares(a);
    for (uint32_t b = 0; b < a->in->cfg->block_count; b++)
        collect_block(a, b);
    sort_lines(a);
    for (size_t i = 0; i < a->marks.count; i++)
        add_bare_mark(a, &a->marks.items[i]);
    sort_evidence(a);
    /* Inner loops first; each puts itself on its parent's list. */
    uint32_t *child_first = mem_alloc(n * sizeof *child_first), *next_child = mem_alloc(n * sizeof *next_child);
    uint32_t outermost = LOOP_NONE;
    for (size_t i = 0; i < n; i++)
        child_first[i] = next_child[i] = LOOP_NONE;
    for (size_t i = n; i-- > 0;) {
        uint32_t parent = forest->loops[i].parent, *list = parent == LOOP_NONE ? &outermost : &child_first[parent];
        assemble_step_back(a, child_first[i], next_child);
        place_loop(a, (uint32_t)i, child_first[i], next_child);
        next_child[i] = *list;
        *list = (uint32_t)i;
    }
    assemble_step_back(a, outermost, next_child);
    mem_free(child_first);
    mem_free(next_child);
}
