/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first line of loops whose control has no line of its own, from the code before and after them.
 *
 *   keyword     `do` and conditions over several lines: gcc's statement marks in front of the loop's first instruction
 *   directive   a loop that OpenMP shares out: the way from where the runtime is asked for this thread's part, also through
 *               the loop that asks for part after part (schedule(dynamic))
 *   setup       a loop on one line: what clang sets up right in front of it, on the line before and further left
 *   control     a vector body: its `for` or `do` begins in front of it, and again behind it, where what is left over is
 *               counted; or only there. Loops beside it tell what is not: a loop that ends in front of this one's lines
 *               has a line of its own (of Fortran's array statements each is a loop, and they follow each other).
 *
 * Along a path only the lines before the loop's count that have nothing in between except lines of the path itself.
 */
#include "bloop/assemble/assemble_int.h"

#include "bloop/arch/facts.h"

/* A short loop that was completely unrolled in front has a row for each iteration, with its statements between. */
static bool has_rounds(const struct assembler *a, uint32_t row, uint32_t below)
{
    enum { FURTHEST = 16 };
    const struct line_row *rows = a->debug->rows, *r = &rows[row];
    bool between = false;
    for (uint32_t i = row, k = 0; i-- > 0 && k < FURTHEST; k++) {
        if (!rows[i].is_stmt || rows[i].file != r->file)
            continue;
        between = between || (r->line < rows[i].line && rows[i].line < below);
        if (between && rows[i].line == r->line && rows[i].column == r->column)
            return true;
    }
    return false;
}

/* gcc emits a row for each statement that begins before the loop's first instruction, the keyword's before the body's; for
 * empty statements (a disabled assertion) too:
 *
 *     0x118a  81:5   x = 0;         of the procedure, ended
 *     0x118a  82:5   while (1) {
 *     0x118a  83:9     assert(p);   nothing
 *     0x118a  84:9     r = work();  begins
 *     0x118a  84:9                  its first instruction
 *
 * If a statement of the line found begins in the block, and only once, then the keyword's is the nearest row before it that
 * begins further left; if there is none, the row right before. (The line of a `for` or `while` begins twice: the loop, and
 * its condition.) 0: no such row. */
static uint32_t keyword_before(struct assembler *a, const struct loop_place *p, uint32_t at)
{
    enum { FURTHEST = 2 };
    const struct line_row *rows = a->debug->rows, *first = &rows[at];
    for (uint32_t row = at; row-- > 0 && rows[row].addr == first->addr && rows[row].is_stmt;) {
        const struct line_row *r = &rows[row];
        if (r->file != first->file || r->line >= p->line || r->column > first->column ||
            !assemble_is_in_body(a, p, r->line, false) || assemble_lines_between(a, p, r->line, p->line) != 0)
            break;
        if (r->column < first->column)
            return has_rounds(a, row, p->line) ? 0 : r->line;
    }
    const struct line_row *r = first - 1;
    bool found = at > 0 && r->addr == first->addr && r->is_stmt && r->file == first->file && r->line < p->line &&
                 p->line - r->line <= FURTHEST;
    return found ? r->line : 0;
}

static uint32_t keyword_in(struct assembler *a, const struct loop_place *p, const struct cfg_block *b, vaddr end)
{
    const struct debug_function *d = a->debug;
    uint32_t begun = 0, at = NO_ROW, row = assemble_row_before(d, b->begin);
    if (row == NO_ROW)
        row = 0;
    while (row > 0 && d->rows[row - 1].addr >= b->begin)
        row--;
    for (; row < d->row_count && d->rows[row].addr < end; row++)
        if (d->rows[row].addr >= b->begin && d->rows[row].is_stmt && d->rows[row].line == p->line) {
            begun++;
            at = row;
        }
    /* (clang's two rows at one address are the procedure's line and the first behind an empty prologue.) */
    return begun != 1 || d->rows[at].prologue_end ? 0 : keyword_before(a, p, at);
}

/* clang -O0 jumps to the next instruction, on the line of `do` or `while (1)`: the loop begins behind it. */
static uint32_t keyword_of_jump(struct assembler *a, const struct loop_place *p, uint32_t header)
{
    enum { LONGEST = 5 }; /* bytes of a jump */
    const struct cfg *cfg = a->in->cfg;
    const struct cfg_block *b = &cfg->blocks[header] - 1;
    if (header == 0 || b->last_kind != INSN_JUMP || b->end != cfg->blocks[header].begin || b->succ_count != 1 ||
        cfg->succs[b->succ_first] != header)
        return 0;
    uint32_t row = assemble_row_before(a->debug, b->end - 1);
    const struct line_row *r = row == NO_ROW ? NULL : &a->debug->rows[row];
    if (!r || b->end - r->addr > LONGEST || r->line >= p->line || assemble_file(a, r->file) != p->file ||
        assemble_inlined_at(a, r->addr) != p->inlined || !assemble_is_in_body(a, p, r->line, false))
        return 0;
    return assemble_lines_between(a, p, r->line, p->line) == 0 ? r->line : 0;
}

/* The closest block before the loop that ends in a conditional branch; the blocks between may only be a preheader. */
static uint32_t guard_of(const struct assembler *a, uint32_t loop)
{
    enum { FURTHEST = 4 };
    const struct loop_forest *forest = a->in->forest;
    uint32_t b = forest->loops[loop].header;
    for (int i = 0; i < FURTHEST; i++) {
        uint32_t up = forest->idom[b];
        if (up >= a->in->cfg->block_count || up == b || assemble_in_loop(forest, up, loop))
            break;
        if (a->in->cfg->blocks[up].last_kind == INSN_BRANCH)
            return up;
        b = up;
    }
    return UINT32_MAX;
}

/* The line that the procedure's code begins on, as does code without a line of its own. */
static uint32_t line_of_opening(const struct assembler *a)
{
    const struct line_row *rows = a->debug->rows;
    uint32_t row = assemble_row_before(a->debug, a->in->functions->functions[a->in->function].begin);
    while (row != NO_ROW && row > 0 && rows[row - 1].addr == rows[row].addr && rows[row - 1].file == rows[row].file)
        row--; /* as far as the rows of the code before the procedure */
    return row == NO_ROW ? 0 : rows[row].line;
}

/* It is that of the brace, and of nothing else; but a region opens with its directive. */
static bool opens_procedure(const struct assembler *a, uint32_t line)
{
    return !a->nodes.items[0].scope.outlined && line == line_of_opening(a);
}

static size_t exits_at(const struct assembler *a, uint32_t loop, uint32_t line)
{
    size_t n = 0;
    for (uint32_t i = a->evidence_first.items[loop]; i < a->evidence_first.items[loop + 1]; i++)
        n += a->evidence.items[i].exit && a->evidence.items[i].line == line;
    return n;
}

/* The smallest column of a statement that begins in the loop, from its first line on. */
static uint32_t left_of_loop(const struct assembler *a, uint32_t loop, const struct loop_place *p)
{
    uint32_t left = 0;
    for (uint32_t i = a->evidence_first.items[loop]; i < a->evidence_first.items[loop + 1]; i++) {
        const struct evidence *e = &a->evidence.items[i];
        if (e->stmt && e->inlined == p->inlined && e->file == p->file && e->line >= p->line && e->left &&
            (!left || e->left < left))
            left = e->left;
    }
    return left;
}

/* The nearest row in front of the loop that begins further left than all in it is its keyword's, if it is on a line before
   with nothing between. (A triangular nest: the outer loop is left where the inner one is entered again.) 0: it is not. */
static uint32_t keyword_in_front(struct assembler *a, uint32_t loop, const struct loop_place *p)
{
    enum { FURTHEST = 256 }; /* rows */
    const struct loop_forest *forest = a->in->forest;
    const struct line_row *rows = a->debug->rows;
    uint32_t left = left_of_loop(a, loop, p), b = forest->loops[loop].header, up = forest->loops[loop].parent, k = 0;
    uint32_t least = p->line; /* of the lines in front of the loop's that were passed */
    vaddr begin = a->in->cfg->blocks[b].begin;
    uint32_t row = assemble_row_before(a->debug, begin);
    if (row != NO_ROW && rows[row].addr == begin) /* the loop's own first one */
        row = row ? row - 1 : NO_ROW;
    for (; left && row != NO_ROW && k < FURTHEST; k++) {
        const struct line_row *r = &rows[row];
        if (r->addr < begin) { /* on to the block that leads here */
            uint32_t from = forest->idom[b];
            if (from >= a->in->cfg->block_count || from == b || forest->block_loop[from] != up)
                break;
            b = from;
            begin = a->in->cfg->blocks[b].begin;
            row = assemble_row_before(a->debug, a->in->cfg->blocks[b].end - 1);
            continue;
        }
        row = row ? row - 1 : NO_ROW;
        if (!r->is_stmt || !r->column || assemble_file(a, r->file) != p->file ||
            !assemble_inside(a, assemble_inlined_at(a, r->addr), p->inlined))
            continue;
        if (r->column < left)
            return r->line < p->line && r->line <= least && assemble_is_in_body(a, p, r->line, false) &&
                           !opens_procedure(a, r->line) && assemble_lines_between(a, p, r->line, p->line) == 0 &&
                           (up == LOOP_NONE || exits_at(a, up, r->line) == 0)
                       ? r->line
                       : 0;
        if (r->line == p->line && r->column > left)
            return 0; /* the line has a control */
        least = r->line < least ? r->line : least;
    }
    return 0;
}

/* The keyword's row is in front of the loop's first instruction, or, for a condition that takes several branches (it
   may begin on a line before its first `&&`), in front of its copy that guards a rotated loop. 0: nowhere. */
static uint32_t line_of_keyword(struct assembler *a, uint32_t loop, const struct loop_place *p)
{
    uint32_t head = a->in->forest->loops[loop].header, guard = guard_of(a, loop), keyword;
    const struct cfg_block *header = &a->in->cfg->blocks[head];
    if (assemble_inlined_at(a, header->begin) != p->inlined)
        return 0;
    keyword = keyword_in(a, p, header, header->begin + 1);
    if (!keyword)
        keyword = keyword_of_jump(a, p, head);
    if (!keyword && p->inlined == INLINE_NONE && guard != UINT32_MAX && exits_at(a, loop, p->line) > 1)
        keyword = keyword_in(a, p, &a->in->cfg->blocks[guard], a->in->cfg->blocks[guard].end);
    if (!keyword && p->leaves_with_child && a->gnu_c)
        keyword = keyword_in_front(a, loop, p);
    return keyword;
}

/* ---- the way ---- */

/* The nearest block in front of the loop, in the loops around it, that asks OpenMP for a part of a loop. */
static uint32_t share_in_front(const struct assembler *a, uint32_t loop, struct share *found)
{
    const struct loop_forest *forest = a->in->forest;
    uint32_t b = forest->loops[loop].header, up;
    while ((up = forest->idom[b]) < a->in->cfg->block_count && up != b) {
        const struct cfg_block *block = &a->in->cfg->blocks[up];
        size_t k = sorted_front(a->shares.count, i, a->shares.items[i].at < block->end);
        b = up;
        if (k && a->shares.items[k - 1].at >= block->begin &&
            (forest->block_loop[b] == LOOP_NONE ||
             assemble_in_loop(forest, forest->loops[loop].header, forest->block_loop[b]))) {
            *found = a->shares.items[k - 1];
            return b;
        }
    }
    return UINT32_MAX;
}

enum {
    NEXT = 1
}; /* a directive may be on the line before its loop, and then cannot be distinguished from other
                      statements */

struct way {
    uint32_t lines[16];
    size_t count, behind; /* the first are behind the loop */
    size_t aside;         /* the first are for the detour of threads that run one extra iteration */
};

static uint32_t line_at(const struct assembler *a, vaddr at)
{
    uint32_t row = assemble_row_before(a->debug, at);
    return row == NO_ROW ? 0 : a->debug->rows[row].line;
}

/* A statement of which no code is left here has a mark, followed by another one. */
static bool has_ended(const struct assembler *a, const struct line_row *r)
{
    return r->is_stmt && r + 1 < a->debug->rows + a->debug->row_count && r[1].addr == r->addr && r[1].is_stmt;
}

static void add_to_way(struct assembler *a, const struct loop_place *p, const struct line_row *r, struct way *w)
{
    if (r->line == 0 || has_ended(a, r) || r->line >= p->line || assemble_file(a, r->file) != p->file ||
        assemble_inlined_at(a, r->addr) != p->inlined || !assemble_is_in_body(a, p, r->line, false) ||
        opens_procedure(a, r->line))
        return;
    for (size_t i = 0; i < w->count; i++)
        if (w->lines[i] == r->line)
            return;
    if (w->count < ARRAY_SIZE(w->lines))
        w->lines[w->count++] = r->line;
}

/* gcc says again at a block's begin what is valid there. */
static bool is_repeated(const struct line_row *r, vaddr begin)
{
    return r->addr == begin && !r->is_stmt && r[-1].line == r->line && r[-1].column == r->column &&
           r[-1].file == r->file;
}

static void add_block_to_way(struct assembler *a, const struct loop_place *p, uint32_t block, struct way *w)
{
    const struct cfg_block *b = &a->in->cfg->blocks[block];
    for (uint32_t row = assemble_row_before(a->debug, b->end - 1);
         row != NO_ROW && a->debug->rows[row].addr >= b->begin; row = row ? row - 1 : NO_ROW)
        if (row == 0 || !is_repeated(&a->debug->rows[row], b->begin))
            add_to_way(a, p, &a->debug->rows[row], w);
}

static bool is_own_row(struct assembler *a, const struct loop_place *p, const struct line_row *r)
{
    return assemble_inlined_at(a, r->addr) == p->inlined && assemble_file(a, r->file) == p->file;
}

/* For the block that requests this thread's chunk: the code after the request, and of the code before it the loop's
   bounds, which are further down. */
static void add_question_to_way(struct assembler *a, const struct loop_place *p, uint32_t block,
                                const struct line_row *asks, struct way *w)
{
    const struct cfg_block *b = &a->in->cfg->blocks[block];
    const struct line_row *rows = a->debug->rows;
    vaddr begin = asks->addr < b->begin ? asks->addr : b->begin;
    bool own = is_own_row(a, p, asks);
    for (uint32_t row = assemble_row_before(a->debug, b->end - 1); row != NO_ROW && rows[row].addr >= begin;
         row = row ? row - 1 : NO_ROW)
        if (rows[row].addr >= asks->addr || (own && rows[row].line > asks->line))
            add_to_way(a, p, &rows[row], w);
}

/* The loop around this one in the source: one that asks for one part after the other (schedule(dynamic)) is not there.
 */
static uint32_t around_shared(const struct assembler *a, uint32_t loop)
{
    uint32_t up = a->in->forest->loops[loop].parent;
    while (up != LOOP_NONE && a->places.items[up].asks_for_parts)
        up = a->in->forest->loops[up].parent;
    return up;
}

static bool is_around_parts(const struct assembler *a, uint32_t loop, uint32_t block)
{
    uint32_t at = a->in->forest->block_loop[block], up = loop;
    do {
        up = a->in->forest->loops[up].parent;
    } while (up != at && up != LOOP_NONE && a->places.items[up].asks_for_parts);
    return up == at;
}

/* Threads that run one extra iteration take a detour on the path from `from` to `to`: if that has a line of its own,
   it is the loop's. */
static void add_aside_to_way(struct assembler *a, const struct loop_place *p, uint32_t from, uint32_t to, struct way *w)
{
    const struct loop_forest *forest = a->in->forest;
    const struct cfg *cfg = a->in->cfg;
    const struct cfg_block *b = &cfg->blocks[from];
    for (uint32_t k = 0; k < b->succ_count - b->pad_count; k++) {
        uint32_t side = cfg->succs[b->succ_first + k];
        if (side != to && forest->idom[side] == from && cfg->blocks[side].succ_count == 1 &&
            cfg->succs[cfg->blocks[side].succ_first] == to)
            add_block_to_way(a, p, side, w);
    }
    for (size_t i = 0; i < w->count; i++)
        if (w->lines[i] != line_of_opening(a))
            w->lines[w->aside++] = w->lines[i];
    w->count = w->aside;
}

/* The lines in front of the loop's own on the way to it from a question in the block `from`, through no other loop.
   Where that was moved out of the loop around it, there is only what guards the loop. */
static struct way look_at_way(struct assembler *a, uint32_t loop, uint32_t from, const struct line_row *asks,
                              const struct loop_place *p)
{
    struct way w = {.count = 0};
    const struct loop_forest *forest = a->in->forest;
    uint32_t around = around_shared(a, loop), b = forest->loops[loop].header, guard = guard_of(a, loop), to = b;
    if (forest->block_loop[from] != around) {
        uint32_t row = guard == UINT32_MAX ? NO_ROW : assemble_row_before(a->debug, a->in->cfg->blocks[guard].end - 1);
        if (row != NO_ROW && forest->block_loop[guard] == around)
            add_to_way(a, p, &a->debug->rows[row], &w);
        return w;
    }
    while (forest->idom[to] != from)
        to = forest->idom[to];
    add_aside_to_way(a, p, from, to, &w);
    while ((b = forest->idom[b]) != from)
        if (is_around_parts(a, loop, b))
            add_block_to_way(a, p, b, &w);
    add_question_to_way(a, p, from, asks, &w);
    return w;
}

/* Is there any statement between a line of the path and the loop that is not on the path itself? The detour is on
   the loop's own line, with only its directive in between. */
static bool has_between(const struct assembler *a, const struct loop_place *p, const struct way *w, uint32_t line)
{
    size_t between = assemble_lines_between(a, p, line, p->line);
    for (size_t i = 0; i < w->count; i++)
        if (w->lines[i] > line && (i >= w->aside || w->lines[i] <= line + NEXT))
            between -= assemble_lines_before(a, p->inlined, p->file, w->lines[i] + 1) !=
                       assemble_lines_before(a, p->inlined, p->file, w->lines[i]);
    return between != 0;
}

/* The last line of the nearest sibling loop that ends before it; 0: there is none. */
static uint32_t end_beside(const struct assembler *a, const struct loop_place *p)
{
    struct source_line key = {p->inlined, p->file, p->line};
    size_t n = sorted_front(a->ends.count, i, assemble_by_line(&a->ends.items[i], &key) < 0);
    const struct source_line *end = n ? &a->ends.items[n - 1] : NULL;
    return end && end->inlined == p->inlined && end->file == p->file ? end->line : 0;
}

/* The first line of `count` of the way that is not before `least` and leads to this loop and to no other. 0: none. */
static uint32_t first_on_way(const struct assembler *a, const struct loop_place *p, const struct way *w, size_t count,
                             uint32_t least)
{
    uint32_t line = 0, other = end_beside(a, p);
    for (size_t i = 0; i < count; i++)
        if (w->lines[i] >= least && w->lines[i] > other && (!line || w->lines[i] < line) &&
            !has_between(a, p, w, w->lines[i]))
            line = w->lines[i];
    return line;
}

/* A question without a line of its own is on the one that the procedure opens on: it is of the statement marked last. */
static uint32_t row_of_question(struct assembler *a, vaddr at)
{
    uint32_t row = assemble_row_before(a->debug, at), last = row;
    vaddr begin = a->in->functions->functions[a->in->function].begin;
    while (last != NO_ROW && last > 0 && a->debug->rows[last - 1].addr >= begin &&
           opens_procedure(a, a->debug->rows[last].line))
        last--;
    return last == NO_ROW || !a->debug->rows[last].is_stmt || opens_procedure(a, a->debug->rows[last].line) ? row
                                                                                                            : last;
}

/* Is any other line of the way between them? */
static bool way_has_between(const struct way *w, uint32_t low, uint32_t high)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->lines[i] > low && w->lines[i] < high)
            return true;
    return false;
}

/* The first line of the path, if possible not before the request's own. If that line is not the directive's (but the
   enclosing region's, or that of a test in the program itself, followed by statements), the detour is on the loop's. */
static uint32_t line_on_way(struct assembler *a, const struct loop_place *p, const struct way *w,
                            const struct share *asked, uint32_t question)
{
    uint32_t aside = first_on_way(a, p, w, w->aside, asked->with_program ? question + 1 : 0);
    uint32_t line = first_on_way(a, p, w, w->count, question);
    if (asked->with_program)
        return aside;
    if (!line)
        line = first_on_way(a, p, w, w->count, 0);
    bool region_only = question == line_of_opening(a) && aside > question + NEXT;
    return aside && (region_only || way_has_between(w, line, aside)) ? aside : line;
}

/* Does the loop have an exit on its first line by a control of its own? The control of a `for` or `while` is also
   before the loop, where it is set up or tested for the first time; any other exit on a statement's line belongs to the
   statement (an atomic update). */
static bool has_control(const struct assembler *a, uint32_t loop, const struct loop_place *p)
{
    enum { FURTHEST = 4 };
    const struct loop_forest *forest = a->in->forest;
    uint32_t b = forest->loops[loop].header;
    if (p->line != p->control || p->control_stale)
        return false;
    if (p->has_inside || line_at(a, a->in->cfg->blocks[b].begin) == p->line)
        return true;
    for (int i = 0; i < FURTHEST; i++) {
        uint32_t up = forest->idom[b];
        if (up >= a->in->cfg->block_count || up == b || forest->block_loop[up] != forest->loops[loop].parent)
            return false;
        b = up;
        for (uint32_t row = assemble_row_before(a->debug, a->in->cfg->blocks[b].end - 1);
             row != NO_ROW && a->debug->rows[row].addr >= a->in->cfg->blocks[b].begin; row = row ? row - 1 : NO_ROW)
            if (a->debug->rows[row].line == p->line)
                return true;
    }
    return false;
}

/* The control of a loop that OpenMP divides among threads has no line of its own, so that the whole loop seems to be
   its body. The directive's line is on the path from the request for this thread's chunk. 0: none, or the loop has its
   line already. */
static uint32_t line_of_directive(struct assembler *a, uint32_t loop, const struct loop_place *p)
{
    struct share asked = {0};
    if (a->shares.count == 0 || p->inlined != INLINE_NONE || has_control(a, loop, p))
        return 0;
    uint32_t from = share_in_front(a, loop, &asked), row = row_of_question(a, asked.at);
    if (from == UINT32_MAX || row == NO_ROW ||
        (a->debug->rows[row].line == p->line && is_own_row(a, p, &a->debug->rows[row])))
        return 0;
    if (p->line == p->control && a->in->forest->block_loop[from] != around_shared(a, loop))
        return 0;
    struct way w = look_at_way(a, loop, from, &a->debug->rows[row], p);
    return line_on_way(a, p, &w, &asked, a->debug->rows[row].line);
}

/* ---- control ---- */

/* Does a statement of that line begin behind the loop's header, outside of it? */
static bool begins_behind(struct assembler *a, const struct loop_place *p, uint32_t loop, uint32_t line)
{
    enum { FURTHEST = 512 }; /* rows */
    const struct debug_function *d = a->debug;
    const struct cfg *cfg = a->in->cfg;
    uint32_t row = assemble_row_before(d, cfg->blocks[a->in->forest->loops[loop].header].begin);
    for (uint32_t k = 0; row != NO_ROW && k < FURTHEST && row < d->row_count; k++, row++)
        if (d->rows[row].line == line && d->rows[row].is_stmt && assemble_file(a, d->rows[row].file) == p->file) {
            uint32_t b = assemble_block_at(cfg, d->rows[row].addr);
            if (b != UINT32_MAX && b != a->in->forest->loops[loop].header && !assemble_in_loop(a->in->forest, b, loop))
                return true;
        }
    return false;
}

static bool has_few_rows(const struct assembler *a, uint32_t block)
{
    enum { MOST_ROWS = 256 };
    const struct cfg_block *b = &a->in->cfg->blocks[block];
    uint32_t first = assemble_row_before(a->debug, b->begin), last = assemble_row_before(a->debug, b->end - 1);
    return last != NO_ROW && last - (first == NO_ROW ? 0 : first) < MOST_ROWS;
}

/* The successors of `from` in the loop `around`; and, after a test for leftover iterations, the blocks behind it.
   `most` is how many blocks may still be visited. */
static void add_behind_to_way(struct assembler *a, const struct loop_place *p, uint32_t from, uint32_t around, int deep,
                              int *most, struct way *w)
{
    const struct loop_forest *forest = a->in->forest;
    const struct cfg *cfg = a->in->cfg;
    const struct cfg_block *b = &cfg->blocks[from];
    uint32_t jumps = b->succ_count - b->pad_count;
    for (uint32_t k = 0; jumps <= 2 && k<jumps && * most> 0; k++) {
        uint32_t to = cfg->succs[b->succ_first + k];
        if (forest->block_loop[to] != around || (around != LOOP_NONE && to == forest->loops[around].header))
            continue;
        *most -= 1;
        if (has_few_rows(a, to))
            add_block_to_way(a, p, to, w);
        if (deep > 1)
            add_behind_to_way(a, p, to, around, deep - 1, most, w);
    }
}

/* The lines on the way to the loop, as far as the loop around it, and right behind its exits. Of a loop with its blocks
   listed (is it packed?). */
static struct way look_around(struct assembler *a, uint32_t loop, const struct loop_place *p)
{
    enum { FURTHEST = 2, MOST = 64 }; /* blocks behind */
    const struct loop_forest *forest = a->in->forest;
    uint32_t parent = forest->loops[loop].parent, b = forest->loops[loop].header, up;
    int most = MOST;
    struct way w = {.count = 0};
    for (uint32_t i = a->blocks_first.items[loop]; i < a->blocks_first.items[loop + 1]; i++)
        add_behind_to_way(a, p, a->blocks.items[i], parent, FURTHEST, &most, &w);
    w.behind = w.count;
    while (w.count < ARRAY_SIZE(w.lines) && (up = forest->idom[b]) < a->in->cfg->block_count && up != b) {
        b = up;
        if (forest->block_loop[b] == parent)
            add_block_to_way(a, p, b, &w);
        if (parent != LOOP_NONE && b == forest->loops[parent].header)
            break;
    }
    return w;
}

static uint64_t key_beside(const struct loop_place *p, uint32_t line)
{
    return assemble_place_key(p->inlined, p->file, line, 0);
}

/* Does a sibling loop begin on that line, and end before this one's? */
static bool is_of_another(const struct assembler *a, const struct loop_place *p, uint32_t line)
{
    uint32_t last = hashmap_get(&a->beside, key_beside(p, line));
    return last != HASHMAP_NONE && last < p->line;
}

static void drop_others(struct assembler *a, const struct loop_place *p, struct way *w)
{
    size_t n = 0, behind = 0;
    for (size_t i = 0; i < w->count; i++)
        if (!is_of_another(a, p, w->lines[i])) {
            behind += i < w->behind;
            w->lines[n++] = w->lines[i];
        }
    w->count = n;
    w->behind = behind;
}

/* The closest that begins behind the loop, and is not how the loop around it ends. 0: none. */
static uint32_t line_of_control(struct assembler *a, uint32_t loop, const struct loop_place *p)
{
    uint32_t parent = a->in->forest->loops[loop].parent, line = 0;
    struct way w = look_around(a, loop, p);
    drop_others(a, p, &w);
    for (size_t i = 0; i < w.count; i++)
        if (w.lines[i] > line && !has_between(a, p, &w, w.lines[i]) &&
            (i < w.behind || begins_behind(a, p, loop, w.lines[i])) &&
            (parent == LOOP_NONE || exits_at(a, parent, w.lines[i]) == 0))
            line = w.lines[i];
    return line;
}

/* The smallest column of a statement that begins on that line in the block; 0: none, or no columns. */
static uint32_t leftmost(const struct assembler *a, uint32_t block, uint32_t line, bool stmt)
{
    enum { FURTHEST = 64 }; /* rows */
    const struct line_row *rows = a->debug->rows;
    const struct cfg_block *b = &a->in->cfg->blocks[block];
    uint32_t row = assemble_row_before(a->debug, b->end - 1), left = 0;
    for (uint32_t k = 0; row != NO_ROW && rows[row].addr >= b->begin && k < FURTHEST; k++, row = row ? row - 1 : NO_ROW)
        if (rows[row].line == line && (rows[row].is_stmt || !stmt) && (!left || rows[row].column < left))
            left = rows[row].column;
    return left;
}

/* A `do` on one line: its condition is behind all else there. */
static bool ends_with_condition(const struct assembler *a, uint32_t loop)
{
    uint32_t exit = 0, right = 0;
    for (uint32_t i = a->evidence_first.items[loop]; i < a->evidence_first.items[loop + 1]; i++) {
        const struct evidence *e = &a->evidence.items[i];
        if (e->exit && e->column > exit)
            exit = e->column;
        if (e->column > right)
            right = e->column;
    }
    return exit == right;
}

/* For a loop on one line: clang leaves the line of its `for` on the setup code, on the line before and further left. */
static uint32_t line_of_setup(struct assembler *a, uint32_t loop, const struct loop_place *p)
{
    const struct loop_forest *forest = a->in->forest;
    const struct cfg *cfg = a->in->cfg;
    uint32_t header = forest->loops[loop].header, up = forest->idom[header];
    if (p->line != p->line_last || ends_with_condition(a, loop) || up >= cfg->block_count || up == header ||
        cfg->blocks[up].succ_count != 1 || forest->block_loop[up] != forest->loops[loop].parent)
        return 0;
    uint32_t row = assemble_row_before(a->debug, cfg->blocks[up].end - 1), body = leftmost(a, header, p->line, false);
    const struct line_row *r = row == NO_ROW ? NULL : &a->debug->rows[row];
    struct way w = {.count = 0};
    if (!r || r->addr < cfg->blocks[up].begin || r->line + 1 != p->line)
        return 0;
    add_to_way(a, p, r, &w);
    uint32_t column = w.count ? leftmost(a, up, r->line, true) : 0;
    return column && column == r->column && column < body && !is_of_another(a, p, r->line) ? r->line : 0;
}

/* Does the block end by asking whether a whole number is above zero or one, or is it compared with another one? */
static bool asks_for_rounds(const struct assembler *a, uint32_t block)
{
    const struct cfg_block *b = &a->in->cfg->blocks[block];
    const struct arch *arch = arch_get(a->in->image->arch);
    struct insn_facts f;
    bool asks = false;
    size_t avail = 0;
    const uint8_t *bytes = image_bytes(a->in->image, b->begin, &avail);
    for (vaddr at = b->begin; bytes && at < b->end && at - b->begin < avail; at += f.insn.length) {
        if (!arch->facts(bytes + (at - b->begin), avail - (size_t)(at - b->begin), at, &f))
            return false;
        if (f.class == CLASS_COMPARE)
            asks = !f.reads.vector && (!f.has_constant || f.constant == 0 || f.constant == 1);
    }
    return asks;
}

/* Of the consecutive tests on that line, does one check that there are any iterations? (Others check that there are
   enough for a vector.) */
static bool has_zero_trip_guard(const struct assembler *a, uint32_t guard, uint32_t line)
{
    enum { MOST = 6 };
    const struct loop_forest *forest = a->in->forest;
    uint32_t around = forest->block_loop[guard];
    for (int i = 0; i < MOST; i++) {
        const struct cfg_block *b = &a->in->cfg->blocks[guard];
        if (b->last_kind == INSN_BRANCH && line_at(a, b->end - 1) == line && asks_for_rounds(a, guard))
            return true;
        uint32_t up = forest->idom[guard];
        if (up >= a->in->cfg->block_count || up == guard || forest->block_loop[up] != around ||
            line_at(a, b->end - 1) != line)
            return false;
        guard = up;
    }
    return false;
}

/* gfortran's `do` of few statements may have no instruction of its line in the loop. The instructions that compute
   the trip count are before it, after the test for zero iterations. Those of an array statement are on the statement's
   own line; one of constant size may be behind another condition. */
static uint32_t line_of_count(struct assembler *a, uint32_t loop, const struct loop_place *p)
{
    const struct loop_forest *forest = a->in->forest;
    const struct cfg *cfg = a->in->cfg;
    uint32_t header = forest->loops[loop].header, up = forest->idom[header], guard = guard_of(a, loop);
    if (!assemble_is_fortran(a) || guard == UINT32_MAX || up == guard || up == header ||
        forest->block_loop[up] != forest->loops[loop].parent || forest->block_loop[guard] != forest->block_loop[up] ||
        line_at(a, cfg->blocks[header].begin) != p->line)
        return 0;
    uint32_t row = assemble_row_before(a->debug, cfg->blocks[up].end - 1);
    const struct line_row *r = row == NO_ROW ? NULL : &a->debug->rows[row];
    if (!r || r->addr < cfg->blocks[up].begin || r->line >= p->line || r->discriminator || !is_own_row(a, p, r) ||
        !assemble_is_in_body(a, p, r->line, false) || assemble_lines_between(a, p, r->line, p->line) != 0 ||
        is_of_another(a, p, r->line))
        return 0;
    return has_zero_trip_guard(a, guard, r->line) ? r->line : 0;
}

/* ---- all ---- */

static const char *called_name(const struct assembler *a, size_t call)
{
    uint32_t callee = call < cfg_call_count(a->in->cfg) ? cfg_call(a->in->cfg, call).callee : FUNCTION_NONE;
    return callee == FUNCTION_NONE ? "" : a->in->functions->functions[callee].link_name;
}

static const char asks_many[] = "omp_get_num_threads", asks_own[] = "omp_get_thread_num";

/* gcc does not ask again for this thread's number where the program has done so in front. */
static bool has_been_asked(const struct assembler *a, size_t call)
{
    return call && str_starts(called_name(a, call), asks_many) && str_starts(called_name(a, call - 1), asks_own);
}

/* gcc's code calls these to request this thread's chunk of a loop; a program that is only interested in its number
   calls one of the two. (clang's loops have lines of their own.) */
static bool shares_work(const struct assembler *a, size_t call)
{
    const char *name = called_name(a, call);
    return str_starts(name, "GOMP_loop_") || has_been_asked(a, call) ||
           (str_starts(name, asks_many) && str_starts(called_name(a, call + 1), asks_own));
}

/* Has the question no line of its own, but that of the program's? */
static bool shares_with_program(const struct assembler *a, size_t call)
{
    return has_been_asked(a, call) &&
           line_at(a, cfg_call(a->in->cfg, call - 1).at) == line_at(a, cfg_call(a->in->cfg, call).at);
}

void assemble_find_shares(struct assembler *a)
{
    a->shares.count = 0;
    for (size_t i = 0; i < cfg_call_count(a->in->cfg); i++) {
        if (!shares_work(a, i))
            continue;
        vaddr at = cfg_call(a->in->cfg, i).at;
        uint32_t block = assemble_block_at(a->in->cfg, at),
                 loop = block == UINT32_MAX ? LOOP_NONE : a->in->forest->block_loop[block];
        *vec_push(&a->shares) = (struct share){at, shares_with_program(a, i)};
        if (loop != LOOP_NONE && strstr(called_name(a, i), "_next"))
            a->places.items[loop].asks_for_parts = true;
    }
}

/* The lines of sibling loops, as far as they have lines of their own. */
static void note_beside(struct assembler *a, uint32_t first, const uint32_t *next)
{
    hashmap_release(&a->beside);
    for (uint32_t l = first; l != LOOP_NONE; l = next[l]) {
        const struct loop_place *p = &a->places.items[l];
        uint32_t *last = hashmap_put(&a->beside, key_beside(p, p->line));
        if (p->line_last < *last) /* (HASHMAP_NONE is above all) */
            *last = p->line_last;
    }
}

/* The last lines of sibling loops; only directives are searched between them. (A loop on one line may implement the
   directive itself: the sum of a reduction.) */
static void note_ends(struct assembler *a, uint32_t first, const uint32_t *next)
{
    a->ends.count = 0;
    for (uint32_t l = first; l != LOOP_NONE && a->shares.count; l = next[l]) {
        const struct loop_place *p = &a->places.items[l];
        if (p->line < p->line_last)
            *vec_push(&a->ends) = (struct source_line){p->inlined, p->file, p->line_last};
    }
    vec_sort(&a->ends, assemble_by_line);
}

static void step_back_to(struct loop_place *p, uint32_t line)
{
    if (line && line < p->line)
        p->line = line;
}

void assemble_step_back(struct assembler *a, uint32_t first, const uint32_t *next)
{
    bool noted = false;
    note_ends(a, first, next);
    for (uint32_t l = first; l != LOOP_NONE; l = next[l]) {
        struct loop_place *p = &a->places.items[l];
        if (!p->line)
            continue;
        p->line_own = p->line;
        if (!p->keyword)
            step_back_to(p, line_of_keyword(a, l, p));
        uint32_t before = p->line;
        p->keyword = p->keyword || before < p->line_own;
        step_back_to(p, line_of_directive(a, l, p));
        if (p->line < before || p->has_inside)
            continue;
        if (!noted)
            note_beside(a, first, next);
        noted = true;
        step_back_to(p, line_of_count(a, l, p));
        if (p->line < before || p->line == p->control || p->line_alone)
            continue;
        step_back_to(p, line_of_setup(a, l, p));
        if (p->line == before && assemble_packed_kind(a, l) != PACKED_NOT)
            step_back_to(p, line_of_control(a, l, p));
    }
}
