/*
 * Where each loop of a function stands in the source: in which inlined callee, in which file, at which line.
 *
 * The line of a loop header's first instruction is wrong for optimized code more often than right: loops are rotated,
 * so that the header is the body's first statement, or code without a line of its own. What tells is the evidence of
 * all the loop's own blocks:
 *
 *   exit branches   a block with one successor inside and one outside ends in the loop's condition (or in an early
 * exit, which stands further down). The smallest line among them is the `for` or `while`. statements      rows that
 * begin a statement (is_stmt). For a `do ... while` and for loops without a condition the first statement of the body
 * is the nearest thing to the keyword that the line table knows. freshness       an instruction without a location
 * inherits the row of whatever lies before it in memory, which for the first instructions of a block is another block's
 * line. Only rows that begin in the block count, unless there is nothing else.
 *
 * In which callee: go down the tree of inlined calls from the procedure as long as everything the loop has is in one
 * call. A branch that leaves the loop and is not in that call ends the way down, and so does a statement of the caller
 * that is not on the line of the call: a `for (auto x : v)` has its condition in an inlined operator!=, but its body
 * here.
 *
 * The idea of the exit branches is hpcstruct's (HPCToolkit, lib/banal/Struct.cpp); freshness, statements and the second
 * rule for the way down are ours.
 */
#include "bloop/assemble_int.h"

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
        inlined = a->debug->inlines[inlined].parent;
    return inlined == ancestor;
}

uint32_t assemble_step_towards(const struct assembler *a, uint32_t inlined, uint32_t ancestor)
{
    uint32_t depth = assemble_inline_depth(a, ancestor) + 1;
    while (assemble_inline_depth(a, inlined) > depth)
        inlined = a->debug->inlines[inlined].parent;
    return inlined;
}

uint32_t assemble_common(const struct assembler *a, uint32_t x, uint32_t y)
{
    while (x != y) {
        if (assemble_inline_depth(a, x) >= assemble_inline_depth(a, y))
            x = a->debug->inlines[x].parent;
        else
            y = a->debug->inlines[y].parent;
    }
    return x;
}

/* ---- collecting ---- */

static uint32_t inlined_at(const struct assembler *a, vaddr addr)
{
    size_t low = 0, high = a->owners.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (a->owners.items[mid].begin <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? a->owners.items[low - 1].owner : INLINE_NONE;
}

static bool in_loop(const struct loop_forest *forest, uint32_t block, uint32_t loop)
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
        inside += in_loop(forest, cfg->succs[b->succ_first + i], loop);
    /* A target outside of the function (a tail call that is conditional) is no successor, and a way out. */
    return inside == 1;
}

static void add_evidence(struct assembler *a, uint32_t loop, uint32_t row, vaddr at, bool exit, bool fresh)
{
    const struct line_row *r = &a->debug->rows[row];
    if (r->line == 0 || r->file == DEBUG_NO_FILE)
        return;
    *vec_push(&a->evidence) = (struct evidence){.loop = loop,
                                                .inlined = inlined_at(a, at),
                                                .file = r->file,
                                                .line = r->line,
                                                .exit = exit,
                                                .stmt = r->is_stmt,
                                                .fresh = fresh};
}

static uint32_t row_before(const struct debug_function *d, vaddr addr)
{
    size_t low = 0, high = d->row_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (d->rows[mid].addr <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? (uint32_t)(low - 1) : NO_ROW;
}

static void collect_block(struct assembler *a, uint32_t block)
{
    const struct cfg_block *b = &a->in->cfg->blocks[block];
    const struct loop_forest *forest = a->in->forest;
    uint32_t loop = forest->block_loop[block];
    if (loop == LOOP_NONE || b->begin >= b->end)
        return;
    uint32_t last = row_before(a->debug, b->end - 1);
    if (last == NO_ROW)
        return;
    /* For the innermost loop, and those around it that this branch leaves as well. */
    for (uint32_t l = loop; l != LOOP_NONE && is_exit(a->in->cfg, forest, block, l); l = forest->loops[l].parent)
        add_evidence(a, l, last, b->end - 1, true, a->debug->rows[last].addr >= b->begin);
    uint32_t row = last;
    while (row > 0 && a->debug->rows[row].addr >= b->begin)
        row--;
    if (a->debug->rows[row].addr < b->begin) {
        add_evidence(a, loop, row, b->begin, false, false);
        row++;
    }
    for (; row <= last; row++)
        add_evidence(a, loop, row, a->debug->rows[row].addr, false, true);
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
    const struct assembler *a;
    uint32_t loop;
    const struct evidence *evidence;
    size_t count;
    uint32_t child_first; /* loops directly inside: list through next_child */
    const uint32_t *next_child;
    bool fresh_exits, fresh_code;
};

/* What of the evidence counts: the fresh part where there is any of its sort. */
static bool counts(const struct loop_view *v, const struct evidence *e)
{
    return e->fresh || (e->exit ? !v->fresh_exits : !v->fresh_code);
}

struct level {
    bool exit_here, loop_here, other_line_here;
    uint32_t below; /* the one call that holds the rest; INLINE_NONE: there is none */
    bool several_below;
};

static void look_below(const struct assembler *a, struct level *l, uint32_t inlined, uint32_t at)
{
    uint32_t step = assemble_step_towards(a, inlined, at);
    if (l->below != INLINE_NONE && l->below != step) {
        const struct inline_call *x = &a->debug->inlines[l->below], *y = &a->debug->inlines[step];
        /* Copies of one call (unrolled code) are one call. */
        if (x->call_line != y->call_line || x->call_file != y->call_file || x->call_column != y->call_column ||
            strcmp(x->name, y->name) != 0)
            l->several_below = true;
    }
    if (l->below == INLINE_NONE)
        l->below = step;
}

static struct level look_at_level(const struct loop_view *v, uint32_t at)
{
    const struct assembler *a = v->a;
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
        if (!counts(v, e) || !assemble_inside(a, e->inlined, at))
            continue;
        if (e->inlined != at)
            look_below(a, &l, e->inlined, at);
        else if (e->exit)
            l.exit_here = true;
    }
    if (l.below == INLINE_NONE)
        return l;
    const struct inline_call *call = &a->debug->inlines[l.below];
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (counts(v, e) && e->inlined == at && e->stmt && (e->line != call->call_line || e->file != call->call_file))
            l.other_line_here = true;
    }
    return l;
}

static uint32_t find_inline_level(const struct loop_view *v)
{
    uint32_t at = INLINE_NONE;
    for (;;) {
        struct level l = look_at_level(v, at);
        if (l.exit_here || l.loop_here || l.other_line_here || l.several_below || l.below == INLINE_NONE)
            return at;
        at = l.below;
    }
}

/* The line of a place as seen from the callee `at`: its own line there, or that of the call that leads to it. */
static bool seen_from(const struct assembler *a, uint32_t inlined, uint32_t file, uint32_t line, uint32_t at,
                      uint32_t *file_seen, uint32_t *line_seen)
{
    if (!assemble_inside(a, inlined, at))
        return false;
    *file_seen = file;
    *line_seen = line;
    if (inlined != at) {
        const struct inline_call *call = &a->debug->inlines[assemble_step_towards(a, inlined, at)];
        *file_seen = call->call_file;
        *line_seen = call->call_line;
    }
    return *line_seen != 0 && *file_seen != DEBUG_NO_FILE;
}

static uint32_t file_of_callee(const struct assembler *a, uint32_t inlined)
{
    return inlined == INLINE_NONE ? a->debug->decl_file : a->debug->inlines[inlined].decl_file;
}

/* The callee's own file where the loop has evidence in it; else that of the first exit, else of the first row (an
 * included file). */
static uint32_t find_file(const struct loop_view *v, uint32_t at)
{
    uint32_t own = file_of_callee(v->a, at), first_exit = DEBUG_NO_FILE, first = DEBUG_NO_FILE, file, line;
    bool exit_in_own = false, code_in_own = false;
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (!counts(v, e) || !seen_from(v->a, e->inlined, e->file, e->line, at, &file, &line))
            continue;
        if (e->exit && file == own)
            exit_in_own = true;
        if (file == own)
            code_in_own = true;
        if (e->exit && first_exit == DEBUG_NO_FILE)
            first_exit = file;
        if (first == DEBUG_NO_FILE)
            first = file;
    }
    if (exit_in_own)
        return own;
    if (first_exit != DEBUG_NO_FILE)
        return first_exit;
    return code_in_own ? own : first;
}

/* Smallest lines by kind of evidence, as seen from the loop's callee. */
struct smallest {
    uint32_t exit, stmt, any, child; /* UINT32_MAX: none */
};

static void keep_smaller(uint32_t *smallest, uint32_t line)
{
    if (line < *smallest)
        *smallest = line;
}

static struct smallest find_smallest(const struct loop_view *v, const struct loop_place *p)
{
    const struct assembler *a = v->a;
    struct smallest s = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint32_t file, line;
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (!counts(v, e) || !seen_from(a, e->inlined, e->file, e->line, p->inlined, &file, &line) || file != p->file)
            continue;
        if (e->exit)
            keep_smaller(&s.exit, line);
        if (e->stmt)
            keep_smaller(&s.stmt, line);
        keep_smaller(&s.any, line);
    }
    for (uint32_t c = v->child_first; c != LOOP_NONE; c = v->next_child[c]) {
        const struct loop_place *child = &a->places.items[c];
        if (child->line && seen_from(a, child->inlined, child->file, child->line, p->inlined, &file, &line) &&
            file == p->file)
            keep_smaller(&s.child, line);
    }
    return s;
}

static uint32_t choose_line(const struct smallest *s)
{
    uint32_t line = s->exit;
    if (s->stmt < line)
        line = s->stmt;
    if (line == UINT32_MAX)
        line = s->any;
    if (s->child < line)
        line = s->child;
    return line == UINT32_MAX ? 0 : line;
}

static uint32_t find_last_line(const struct loop_view *v, const struct loop_place *p)
{
    uint32_t last = p->line, file, line;
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (counts(v, e) && seen_from(v->a, e->inlined, e->file, e->line, p->inlined, &file, &line) &&
            file == p->file && line > last)
            last = line;
    }
    for (uint32_t c = v->child_first; c != LOOP_NONE; c = v->next_child[c]) {
        const struct loop_place *child = &v->a->places.items[c];
        if (child->inlined == p->inlined && child->file == p->file && child->line_last > last)
            last = child->line_last;
    }
    return last;
}

static void place_loop(struct assembler *a, uint32_t loop, uint32_t child_first, const uint32_t *next_child)
{
    struct loop_view v = {.a = a, .loop = loop, .child_first = child_first, .next_child = next_child};
    uint32_t first = a->evidence_first.items[loop], end = a->evidence_first.items[loop + 1];
    struct loop_place *p = &a->places.items[loop];
    v.evidence = a->evidence.items + first;
    v.count = end - first;
    for (size_t i = 0; i < v.count; i++) {
        if (v.evidence[i].fresh && v.evidence[i].exit)
            v.fresh_exits = true;
        if (v.evidence[i].fresh && !v.evidence[i].exit)
            v.fresh_code = true;
    }
    p->inlined = find_inline_level(&v);
    p->file = find_file(&v, p->inlined);
    if (p->file == DEBUG_NO_FILE && child_first != LOOP_NONE)
        p->file = a->places.items[child_first].file;
    if (p->file == DEBUG_NO_FILE)
        return;
    struct smallest s = find_smallest(&v, p);
    p->line = choose_line(&s);
    p->line_last = p->line ? find_last_line(&v, p) : 0;
}

void assemble_place_loops(struct assembler *a)
{
    const struct loop_forest *forest = a->in->forest;
    size_t n = forest->loop_count;
    a->places.count = a->evidence.count = 0;
    vec_reserve(&a->places, n + 1);
    for (size_t i = 0; i < n; i++)
        *vec_push(&a->places) = (struct loop_place){INLINE_NONE, DEBUG_NO_FILE, 0, 0, LOOP_PLAIN};
    if (!a->debug || n == 0)
        return;
    for (uint32_t b = 0; b < a->in->cfg->block_count; b++)
        collect_block(a, b);
    sort_evidence(a);
    /* Inner loops first; each puts itself on its parent's list. */
    uint32_t *child_first = mem_alloc(n * sizeof *child_first), *next_child = mem_alloc(n * sizeof *next_child);
    for (size_t i = 0; i < n; i++)
        child_first[i] = next_child[i] = LOOP_NONE;
    for (size_t i = n; i-- > 0;) {
        uint32_t parent = forest->loops[i].parent;
        place_loop(a, (uint32_t)i, child_first[i], next_child);
        if (parent != LOOP_NONE) {
            next_child[i] = child_first[parent];
            child_first[parent] = (uint32_t)i;
        }
    }
    mem_free(child_first);
    mem_free(next_child);
}
