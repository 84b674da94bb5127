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

uint32_t assemble_step_towards(const struct assembler *a, uint32_t inlined, uint32_t ancestor)
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

static uint32_t inlined_at(const struct assembler *a, vaddr addr)
{
    size_t low = sorted_front(a->owners.count, i, a->owners.items[i].begin <= addr);
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

/* gcc marks the beginning of a statement with a row of its own in front of the statement's first instruction; what has
   been moved about since then has rows without the mark. So the mark may be anywhere before in the block. */
static bool begins_statement(const struct assembler *a, uint32_t row, uint32_t block)
{
    enum { FURTHEST = 64 }; /* rows */
    const struct debug_function *d = a->debug;
    const struct line_row *r = &d->rows[row];
    vaddr begin = a->in->cfg->blocks[block].begin;
    for (uint32_t i = row, k = 0; d->rows[i].addr >= begin && k < FURTHEST; i--, k++) {
        if (d->rows[i].is_stmt && d->rows[i].line == r->line && d->rows[i].file == r->file)
            return true;
        if (i == 0)
            break;
    }
    return false;
}

static void add_evidence(struct assembler *a, uint32_t loop, uint32_t row, uint32_t block, vaddr at, uint32_t leaves,
                         bool fresh)
{
    const struct line_row *r = &a->debug->rows[row];
    if (r->line == 0 || r->file == DEBUG_NO_FILE)
        return;
    *vec_push(&a->evidence) = (struct evidence){.loop = loop,
                                                .inlined = inlined_at(a, at),
                                                .file = assemble_file(a, r->file),
                                                .line = r->line,
                                                .column = r->column,
                                                .leaves = leaves,
                                                .exit = leaves != LOOP_NONE,
                                                .stmt = begins_statement(a, row, block),
                                                .fresh = fresh};
}

static uint32_t row_before(const struct debug_function *d, vaddr addr)
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

/* Rows that begin in the block. Of several at one address only the last has the instruction; the others are statements
   of which nothing is left here, or that ended in the block before. */
static void collect_rows(struct assembler *a, uint32_t block, uint32_t row, uint32_t last)
{
    const struct cfg_block *b = &a->in->cfg->blocks[block];
    const struct line_row *rows = a->debug->rows;
    uint32_t loop = a->in->forest->block_loop[block];
    for (; row <= last; row++) {
        if (row < last && rows[row].addr == rows[row + 1].addr)
            continue;
        if (rows[row].addr == b->begin && is_nop(a, b->begin, row < last ? rows[row + 1].addr : b->end))
            continue;
        if (loop != LOOP_NONE)
            add_evidence(a, loop, row, block, rows[row].addr, LOOP_NONE, begins_in(a, row, block));
        *hashmap_put(&a->around,
                     assemble_place_key(loop, assemble_file(a, rows[row].file), rows[row].line, rows[row].column)) = 1;
    }
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
    uint32_t last = b->begin < b->end ? row_before(a->debug, b->end - 1) : NO_ROW;
    if (last == NO_ROW)
        return;
    collect_exits(a, block, last);
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
    str_id call_file = assemble_file(v->a, call->call_file);
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (counts(v, e) && e->inlined == at && e->stmt && (e->line != call->call_line || e->file != call_file))
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
static bool seen_from(struct assembler *a, uint32_t inlined, uint32_t file, uint32_t line, uint32_t at,
                      uint32_t *file_seen, uint32_t *line_seen)
{
    if (!assemble_inside(a, inlined, at))
        return false;
    *file_seen = file;
    *line_seen = line;
    if (inlined != at) {
        const struct inline_call *call = &a->debug->inlines[assemble_step_towards(a, inlined, at)];
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

/* A statement of the surroundings that the compiler has moved, or copied, into the loop: it stands at the very same
   place, column included, outside of it too. (The `for` line is there too, but with its first part.) */
static bool is_from_outside(const struct loop_view *v, const struct evidence *e)
{
    uint32_t parent = v->a->in->forest->loops[v->loop].parent;
    return hashmap_get(&v->a->around, assemble_place_key(parent, e->file, e->line, e->column)) != HASHMAP_NONE;
}

/* Is the first thing in the loop on that line? Then it is a `for` or `while` that was not rotated. */
static bool begins_with(const struct loop_view *v, const struct evidence *e)
{
    const struct assembler *a = v->a;
    uint32_t row = row_before(a->debug, a->in->cfg->blocks[a->in->forest->loops[v->loop].header].begin);
    return row != NO_ROW && a->debug->rows[row].line == e->line;
}

/* Smallest lines by kind of evidence, as seen from the loop's callee. */
struct smallest {
    uint32_t exit, stmt, any, child; /* UINT32_MAX: none */
    uint32_t doubtful; /* the largest line of a statement before the exit that may be from outside; 0: none */
    bool
        exit_outside; /* the exit is a `for` or `while`: it stands in front of the loop too (rotated), or first in it */
};

static void keep_smaller(uint32_t *smallest, uint32_t line)
{
    if (line < *smallest)
        *smallest = line;
}

static struct smallest find_smallest(const struct loop_view *v, const struct loop_place *p)
{
    struct assembler *a = v->a;
    struct smallest s = {.exit = UINT32_MAX, .stmt = UINT32_MAX, .any = UINT32_MAX, .child = UINT32_MAX};
    str_id file;
    uint32_t line;
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (!counts(v, e) || !seen_from(a, e->inlined, e->file, e->line, p->inlined, &file, &line) || file != p->file)
            continue;
        if (e->exit && line < s.exit) {
            s.exit = line;
            s.exit_outside = is_from_outside(v, e) || begins_with(v, e);
        }
        if (e->stmt && !is_from_outside(v, e))
            keep_smaller(&s.stmt, line);
        keep_smaller(&s.any, line);
    }
    for (size_t i = 0; i < v->count; i++) {
        const struct evidence *e = &v->evidence[i];
        if (counts(v, e) && seen_from(a, e->inlined, e->file, e->line, p->inlined, &file, &line) && file == p->file &&
            e->stmt && line < s.exit && line > s.doubtful)
            s.doubtful = line;
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
    /* Part of the body's first statement has been hoisted. */
    if (s->exit != UINT32_MAX && line == s->exit && s->doubtful && !s->exit_outside)
        line = s->doubtful;
    if (line == UINT32_MAX)
        line = s->any;
    if (s->child < line)
        line = s->child;
    return line == UINT32_MAX ? 0 : line;
}

/* gcc puts a row for each statement that begins in front of the loop's first instruction, the keyword's before the
 * body's:
 *
 *     0x118a  81  int r;          of the procedure, ended
 *     0x118a  82  do {
 *     0x118a  83    r = work();   begins
 *     0x118a  83                  its first instruction
 *
 * If a statement of the line found begins in the block, and only once, then the row right before is the keyword's. (The
 * line of a `for` or `while` begins twice: the loop, and its condition.) 0: no such row. */
static uint32_t keyword_in(const struct debug_function *d, const struct cfg_block *b, vaddr end, uint32_t line)
{
    enum { FURTHEST = 2 };
    uint32_t begun = 0, at = NO_ROW, row = row_before(d, b->begin);
    if (row == NO_ROW)
        row = 0;
    while (row > 0 && d->rows[row - 1].addr >= b->begin)
        row--;
    for (; row < d->row_count && d->rows[row].addr < end; row++)
        if (d->rows[row].addr >= b->begin && d->rows[row].is_stmt && d->rows[row].line == line) {
            begun++;
            at = row;
        }
    if (begun != 1 || at == 0)
        return 0;
    /* (clang's two rows at one address are the procedure's line and the first behind an empty prologue.) */
    const struct line_row *first = &d->rows[at], *before = first - 1;
    bool found = !first->prologue_end && at > 1 && before->addr == first->addr && before->is_stmt &&
                 before->file == first->file && before->line < line && line - before->line <= FURTHEST;
    return found ? before->line : 0;
}

/* The closest block in front of the loop that ends in a decision; the blocks between may be no more than a preheader.
 */
static uint32_t guard_of(const struct assembler *a, uint32_t loop)
{
    enum { FURTHEST = 4 };
    const struct loop_forest *forest = a->in->forest;
    uint32_t b = forest->loops[loop].header;
    for (int i = 0; i < FURTHEST; i++) {
        uint32_t up = forest->idom[b];
        if (up >= a->in->cfg->block_count || up == b || in_loop(forest, up, loop))
            break;
        if (a->in->cfg->blocks[up].last_kind == INSN_BRANCH)
            return up;
        b = up;
    }
    return UINT32_MAX;
}

static uint32_t exits_at(const struct loop_view *v, const struct loop_place *p)
{
    uint32_t n = 0;
    for (size_t i = 0; i < v->count; i++)
        n += v->evidence[i].exit && v->evidence[i].line == p->line;
    return n;
}

/* The keyword's row is in front of the loop's first instruction, or, for a condition that takes several branches (it
   may begin on a line before its first `&&`), in front of its copy that guards a rotated loop. */
static uint32_t step_back_to_keyword(const struct loop_view *v, const struct loop_place *p)
{
    const struct assembler *a = v->a;
    const struct cfg_block *header = &a->in->cfg->blocks[a->in->forest->loops[v->loop].header];
    uint32_t guard = guard_of(a, v->loop), keyword = 0;
    if (p->inlined != INLINE_NONE)
        return p->line;
    keyword = keyword_in(a->debug, header, header->begin + 1, p->line);
    if (!keyword && guard != UINT32_MAX && exits_at(v, p) > 1)
        keyword = keyword_in(a->debug, &a->in->cfg->blocks[guard], a->in->cfg->blocks[guard].end, p->line);
    return keyword ? keyword : p->line;
}

static uint32_t find_last_line(const struct loop_view *v, const struct loop_place *p)
{
    uint32_t last = p->line, line;
    str_id file;
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

/* Is the line found that of a `for` or `while`: of an exit, in front of everything else in the loop? */
static bool has_control_line(const struct loop_view *v, const struct loop_place *p, const struct smallest *s)
{
    return p->line == s->exit && s->exit < s->child && s->exit < find_last_line(v, p);
}

/* The control of an OpenMP loop has no line of its own, so that all of the loop seems to be its body. The branch that
   decides whether there is anything to do for this thread has the directive's. (So has the guard of a loop in it that
   was moved outwards; but that one has its own line.) */
static uint32_t step_back_to_directive(const struct loop_view *v, const struct loop_place *p, const struct smallest *s)
{
    enum { FURTHEST = 4 };
    struct assembler *a = v->a;
    uint32_t guard = guard_of(a, v->loop);
    if (!a->nodes.items[0].scope.outlined || guard == UINT32_MAX || p->inlined != INLINE_NONE)
        return p->line;
    if (a->in->forest->loops[v->loop].parent != LOOP_NONE && has_control_line(v, p, s))
        return p->line;
    /* All it has is on the line of the loop in it: that one's. The region itself begins with its directive. */
    uint32_t first = row_before(a->debug, a->in->functions->functions[a->in->function].begin);
    if (first != NO_ROW && a->in->forest->loops[v->loop].parent == LOOP_NONE && s->child == p->line) {
        const struct line_row *r = &a->debug->rows[first];
        if (r->line && r->line < p->line && p->line - r->line <= FURTHEST && assemble_file(a, r->file) == p->file)
            return r->line;
    }
    for (uint32_t b = a->in->forest->idom[a->in->forest->loops[v->loop].header];; b = a->in->forest->idom[b]) {
        uint32_t row = row_before(a->debug, a->in->cfg->blocks[b].end - 1);
        if (row == NO_ROW || assemble_file(a, a->debug->rows[row].file) != p->file ||
            a->debug->rows[row].line == p->line)
            return p->line; /* what leads to it is of the same line: the `for` itself */
        uint32_t line = a->debug->rows[row].line;
        if (b == guard)
            return line >= a->debug->decl_line && line < p->line && p->line - line <= FURTHEST ? line : p->line;
    }
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
    if (p->file == 0 && child_first != LOOP_NONE)
        p->file = a->places.items[child_first].file;
    if (p->file == 0)
        return;
    struct smallest s = find_smallest(&v, p);
    p->line = choose_line(&s);
    p->line = step_back_to_keyword(&v, p);
    p->line = step_back_to_directive(&v, p, &s);
    p->line_last = p->line ? find_last_line(&v, p) : 0;
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
