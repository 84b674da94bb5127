/* SPDX-License-Identifier: BSD-3-Clause */
/* Dominators and loop forests: hand-made graphs, random graphs compared with a plain reference, and large and deep
   graphs. */
#include "bloop/code/code.h"
#include "tests/tap.h"

#include <stdlib.h>

/* ---- graphs from edges ----------------------------------------------------------------- */

struct edge {
    uint32_t from, to;
    bool pad, falls;
};
struct graph {
    struct cfg g;
    struct VEC(struct edge) edges;
};

static int by_source(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->pad != y->pad)
        return x->pad - y->pad;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void graph_finish(struct graph *t, uint32_t blocks, const uint32_t *entries, size_t entry_count)
{
    t->g = (struct cfg){.block_count = blocks, .succ_count = t->edges.count, .entry_count = entry_count};
    t->g.blocks = mem_calloc(blocks, sizeof *t->g.blocks);
    t->g.succs = mem_alloc((t->edges.count + 1) * sizeof *t->g.succs);
    t->g.entries = mem_alloc(entry_count * sizeof *t->g.entries);
    memcpy(t->g.entries, entries, entry_count * sizeof *entries);
    if (t->edges.count > 0)
        qsort(t->edges.items, t->edges.count, sizeof *t->edges.items, by_source);
    size_t k = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        struct cfg_block *block = &t->g.blocks[b];
        *block = (struct cfg_block){.begin = 16 * (vaddr)b, .succ_first = (uint32_t)k, .last_kind = INSN_JUMP};
        for (; k < t->edges.count && t->edges.items[k].from == b; k++) {
            t->g.succs[k] = t->edges.items[k].to;
            block->pad_count += t->edges.items[k].pad;
            if (t->edges.items[k].falls) {
                block->end = 16 * (vaddr)t->edges.items[k].to;
                block->last_kind = INSN_PLAIN;
            }
        }
        block->succ_count = (uint32_t)k - block->succ_first;
        if (block->succ_count - block->pad_count > 1)
            block->last_kind = block->succ_count - block->pad_count > 2 ? INSN_JUMP_INDIRECT : INSN_BRANCH;
    }
}

static void graph_release(struct graph *t)
{
    vec_release(&t->edges);
    mem_free(t->g.blocks);
    mem_free(t->g.succs);
    mem_free(t->g.entries);
}

static void edge(struct graph *t, uint32_t from, uint32_t to)
{
    *vec_push(&t->edges) = (struct edge){.from = from, .to = to};
}

/* "0>1 1~2 1=3": blocks up to the greatest number; `~` to a landing pad, `=` to the block that follows */
static void graph_parse(struct graph *t, const char *text, const char *entries)
{
    uint32_t blocks = 1, from, to, entry[8];
    char kind;
    int used;
    for (; sscanf(text, " %u%c%u%n", &from, &kind, &to, &used) == 3; text += used) {
        *vec_push(&t->edges) = (struct edge){from, to, kind == '~', kind == '='};
        blocks = from >= blocks ? from + 1 : blocks;
        blocks = to >= blocks ? to + 1 : blocks;
    }
    size_t n = 0;
    for (; sscanf(entries, " %u%n", &entry[n], &used) == 1; entries += used)
        n++;
    graph_finish(t, blocks, entry, n);
}

/* ---- forests as text: "1(2 3!(4))": loop 1 with block 2 and the irreducible loop 3 with block 4 --- */

static void print_loop(struct buf *out, const struct cfg *g, const struct loop_forest *f, uint32_t loop)
{
    if (loop != LOOP_NONE)
        buf_printf(out, "%s%u%s(", out->len > 0 && out->bytes[out->len - 1] != '(' ? " " : "", f->loops[loop].header,
                   f->loops[loop].irreducible ? "!" : "");
    for (uint32_t b = 0; loop != LOOP_NONE && b < g->block_count; b++)
        if (f->block_loop[b] == loop && b != f->loops[loop].header)
            buf_printf(out, "%s%u", out->bytes[out->len - 1] == '(' ? "" : " ", b);
    for (uint32_t l = 0; l < f->loop_count; l++)
        if (f->loops[l].parent == loop)
            print_loop(out, g, f, l);
    if (loop != LOOP_NONE)
        buf_char(out, ')');
}

static void print_forest(struct buf *out, const struct cfg *g, const struct loop_forest *f)
{
    buf_str(out, "");
    print_loop(out, g, f, LOOP_NONE);
}

static const struct {
    const char *name, *edges, *entries, *forest, *idom;
} drawn[] = {
    {"one block", "", "0", "", "0"},
    {"diamond", "0>1 0>2 1>3 2>3", "0", "", "0 0 0 0"},
    {"self loop", "0>1 1>1 1>2", "0", "1()", "0 0 1"},
    {"the entry is the header", "0>1 1>0 1>2", "0", "0(1)", "0 0 1"},
    {"a while loop", "0>1 1>2 2>1 1>3", "0", "1(2)", "0 0 1 1"},
    {"two loops in a row", "0>1 1>1 1>2 2>3 3>2 3>4", "0", "1() 2(3)", "0 0 1 2 3"},
    {"nest of three", "0>1 1>2 2>3 3>3 3>4 4>2 4>5 5>1 5>6", "0", "1(5 2(4 3()))", "0 0 1 2 3 4 5"},
    {"continue: two back edges are one loop", "0>1 1>2 2>1 2>3 3>1 1>4", "0", "1(2 3)", "0 0 1 2 1"},
    {"two loops in one", "0>1 1>2 2>2 2>3 3>3 3>1 3>4", "0", "1(2() 3())", "0 0 1 2 3"},
    {"early exit", "0>1 1>2 2>3 3>1 1>4 2>4", "0", "1(2 3)", "0 0 1 2 1"},
    {"switch in a loop", "0>1 1>2 1>3 1>4 2>5 3>5 4>5 5>1 5>6", "0", "1(2 3 4 5)", "0 0 1 1 1 1 5"},
    {"unreachable blocks belong to nothing", "0>1 2>3 3>2 2>1", "0", "", "0 0 - -"},
    {"an unreachable jump into a loop does no harm", "0>1 1>2 2>1 3>2 2>4", "0", "1(2)", "0 0 1 - 2"},
    {"irreducible triangle", "0>1 0>2 1>2 2>1 2>3", "0", "1!(2)", "0 0 0 2"},
    {"irreducible, the lower entry is not searched first", "0>2 0>1 1>3 3>2 2>3", "0", "2!(3)", "0 0 0 0"},
    {"irreducible within a loop", "0>1 1>2 1>3 2>3 3>2 3>4 4>1 4>5", "0", "1(4 2!(3))", "0 0 1 1 3 4"},
    {"loop within irreducible", "0>1 0>3 1>2 2>2 2>3 3>1 3>4", "0", "1!(3 2())", "0 0 1 0 3"},
    {"a jump into an inner loop from outside of both", "0>1 0>3 1>2 2>3 3>2 3>4 4>1 4>5", "0", "1!(4 2!(3))",
     "0 0 0 0 3 4"},
    {"two entries, one loop", "0>2 1>2 2>3 3>2", "0 1", "2(3)", "0 1 2 2"},
    {"two entries into one loop", "0>1 1>2 2>1", "0 2", "1!(2)", "0 1 2"},
    {"entered in its middle, with a continue in front of that", "0>1 0>3 1>2 1>3 2>1 3>1 3>4", "0", "1!(2 3)",
     "0 0 1 0 3"},
    {"one entry twice", "0>1 1>0", "0 0", "0(1)", "0 0"},
    {"parallel edges", "0>1 0>1 1>2 1>2 2>1 2>1", "0", "1(2)", "0 0 1"},
    {"Ramalingam's figure 1: a ladder of jumps into a loop", "0>1 1>2 2>3 3>4 0>4 0>3 0>2 4>3 3>2 2>1", "0",
     "1!(2!(3!(4)))", "0 0 0 0 0"},
    {"a landing pad in its own range", "0>1 0~2 1>3 2>3 2~2", "0", "", "0 0 0 0"},
    {"two landing pads in each other's range", "0>1 0~2 1>3 2>3 2~4 4>3 4~2", "0", "", "0 0 0 0 2"},
    {"trying again", "0>1 1>2 1~3 3>1 3~3", "0", "1(3)", "0 0 1 1"},
    {"a landing pad in a loop", "0>1 1>2 2>1 1~3 3~3 3>4 2>4", "0", "1(2)", "0 0 1 1 1"},
    {"what a landing pad's range leads back to is in the loop", "0>1 1>2 2>1 2>4 2~3 3~2", "0", "1(2 3)", "0 0 1 2 2"},
    {"and a jump into it is one into the loop", "0>1 0>3 1>2 2>1 2>4 2~3 3~2", "0", "1!(2 3)", "0 0 0 0 2"},
    {"a `while` that is first in a `while (1)`", "0>2 1=2 2>1 2>3 3>2 3>4", "0", "2(3 2(1))", "0 2 0 2 3"},
    {"and has a condition of two parts", "0>2 1=2 2>1 2>3 3>1 3>4 4>2 4>5", "0", "2(4 2(1 3))", "0 2 0 2 3 4"},
    {"and a loop in it", "0>4 1>2 2>1 2>3 3=4 4>1 4>5 5>4 5>6", "0", "4(5 4(3 1(2)))", "0 4 1 2 0 4 5"},
    {"and a `continue` behind it", "0>2 1=2 2>1 2>3 3>2 3>4 4>2 4>5", "0", "2(3 4 2(1))", "0 2 0 2 3 4"},
    {"a `continue` in a `while`", "0>4 1>2 1>3 2>4 3=4 4>1 4>5", "0", "4(1 2 3)", "0 4 1 1 0 4"},
    {"a `continue` alone", "0>3 1>2 1>3 2=3 3>1 3>4", "0", "3(1 2)", "0 3 1 0 3"},
    {"what comes back from in front of the condition", "0>3 1>3 2=3 3>2 3>4 4>1 4>5", "0", "3(1 2 4)", "0 4 3 0 3 4"},
    {"what leads on is a `switch`", "0>2 1=2 2>3 2>5 3>1 3>4 3>5 4>2 5>2 5>6", "0", "2(1 3 4 5)", "0 3 0 2 3 2 5"},
    {"a jump and no end of a `while`", "0>2 1>2 2>1 2>3 3>2 3>4", "0", "2(1 3)", "0 2 0 2 3"},
    {"computed goto: each to each", "0>1 0>2 0>3 1>1 1>2 1>3 2>1 2>2 2>3 3>1 3>2 3>3", "0", "1!(2!(3()))", "0 0 0 0"},
};

static void print_idom(struct buf *out, const struct cfg *g, const struct loop_forest *f)
{
    for (uint32_t b = 0; b < g->block_count; b++) {
        buf_str(out, b > 0 ? " " : "");
        if (f->idom[b] == UINT32_MAX)
            buf_char(out, '-');
        else
            buf_printf(out, "%u", f->idom[b]);
    }
}

static void test_drawn(void)
{
    struct loop_forest f = {0};
    for (size_t i = 0; i < ARRAY_SIZE(drawn); i++) {
        struct graph t = {0};
        struct buf forest = {0}, idom = {0};
        graph_parse(&t, drawn[i].edges, drawn[i].entries);
        loop_forest_find(&t.g, &f);
        print_forest(&forest, &t.g, &f);
        print_idom(&idom, &t.g, &f);
        tap_str(forest.bytes, drawn[i].forest, drawn[i].name, __FILE__, __LINE__);
        tap_str(idom.bytes, drawn[i].idom, drawn[i].name, __FILE__, __LINE__);
        buf_release(&forest);
        buf_release(&idom);
        graph_release(&t);
    }
    loop_forest_release(&f);
}

/* ---- the reference: plain definitions, cubic ---------------------------------------------------- */

/* Reaches `to` from `from` over blocks of set `in` (by value of group). */
enum { MAX = 24 };
struct reference {
    uint32_t n, clock;
    bool edge[MAX][MAX], jump[MAX][MAX]; /* jump: some edge does not go to a landing pad */
    uint32_t order[MAX];                 /* of a depth-first search; 0: unreached */
    uint32_t loops, splits;
    struct {
        uint32_t header, members; /* header: the one that is searched first */
        bool irreducible;
        uint32_t shown;
    } loop[MAX * 2];
};

static void reference_search(struct reference *r, const struct cfg *g, uint32_t b)
{
    r->order[b] = ++r->clock;
    for (uint32_t i = 0; i < g->blocks[b].succ_count; i++) {
        uint32_t to = g->succs[g->blocks[b].succ_first + i];
        if (r->order[to] == 0)
            reference_search(r, g, to);
    }
}

/* Blocks of the set that `from` reaches over the set by at least one edge. */
static uint32_t reaches(const struct reference *r, uint32_t from, uint32_t set)
{
    uint32_t seen = 0, todo = 0;
    for (uint32_t b = 0; b < r->n; b++)
        if (r->edge[from][b] && (set >> b & 1))
            todo |= 1u << b;
    while (todo != 0) {
        uint32_t at = (uint32_t)__builtin_ctz(todo);
        todo &= todo - 1;
        seen |= 1u << at;
        for (uint32_t b = 0; b < r->n; b++)
            if (r->edge[at][b] && (set >> b & 1) && !(seen >> b & 1))
                todo |= 1u << b;
    }
    return seen;
}

/* Havlak's forest by definition: the loops of a set are its strongly connected regions. The header is the first block
   searched, and nested loops are those of the region without its header. A region without a jump to its header is not a
   loop. A region that contains the lowest entry of a multiple-entry loop `around` it (LOOP_NONE: none) is merged with
   it. */
static void reference_loops(struct reference *r, const struct cfg *g, uint32_t set, uint32_t around)
{
    uint32_t left = set;
    while (left != 0) {
        uint32_t b = (uint32_t)__builtin_ctz(left), region = 0;
        uint32_t forth = reaches(r, b, set);
        for (uint32_t c = 0; c < r->n; c++)
            if ((forth >> c & 1) && (reaches(r, c, set) >> b & 1))
                region |= 1u << c;
        left &= ~(region | 1u << b);
        if (region == 0)
            continue;
        uint32_t header = b;
        for (uint32_t c = 0; c < r->n; c++)
            if ((region >> c & 1) && r->order[c] < r->order[header])
                header = c;
        uint32_t lowest = header;
        bool irreducible = false, jumped_to = false;
        for (uint32_t c = 0; c < r->n; c++)
            jumped_to |= (region >> c & 1) && r->jump[c][header];
        for (uint32_t c = 0; c < r->n; c++) {
            bool entered = false;
            for (uint32_t d = 0; d < r->n; d++)
                entered |= r->edge[d][c] && r->order[d] != 0 && !(region >> d & 1);
            for (size_t i = 0; i < g->entry_count; i++)
                entered |= g->entries[i] == c;
            if (!entered || !(region >> c & 1))
                continue;
            irreducible |= c != header;
            lowest = c < lowest ? c : lowest;
        }
        uint32_t loop = around;
        if (jumped_to && (around == LOOP_NONE || !r->loop[around].irreducible || r->loop[around].shown != lowest)) {
            loop = r->loops++;
            r->loop[loop].header = header;
            r->loop[loop].members = region;
            r->loop[loop].irreducible = irreducible;
            r->loop[loop].shown = lowest;
        }
        reference_loops(r, g, region & ~(1u << header), loop);
    }
}

static bool falls_into(const struct cfg *g, uint32_t b)
{
    const struct cfg_block *block = &g->blocks[b];
    return block->end == block[1].begin && block->succ_count == 1 && g->succs[block->succ_first] == b + 1 &&
           block->last_kind != INSN_JUMP;
}

/* All blocks that lead to `from` without passing the loop's first block, and that block; 0: a `switch` is among
   them. */
static uint32_t leading_to(const struct reference *r, const struct cfg *g, uint32_t from, uint32_t first)
{
    uint32_t body = 1u << from;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t v = 0; v < r->n; v++)
            for (uint32_t b = 0; b < r->n; b++) {
                if (r->order[v] == 0 || !r->edge[v][b] || !(body >> b & 1) || b == first)
                    continue;
                if (g->blocks[v].last_kind == INSN_JUMP_INDIRECT)
                    return 0;
                more |= !(body >> v & 1);
                body |= 1u << v;
            }
    }
    return body | 1u << first;
}

/* A loop that shares its first block with another: the code before that block falls through to it, and the part of the
   condition from there on leads to the rest of the loop, the only source of its back edges. */
static void reference_splits(struct reference *r, const struct cfg *g)
{
    for (uint32_t l = 0, count = r->loops; l < count; l++) {
        uint32_t first = r->loop[l].header, all = r->loop[l].members, last = first - 1;
        bool is_header = false, leads_on = false, comes_back = false;
        for (uint32_t k = 0; k < count; k++)
            is_header |= r->loop[k].header == last;
        if (r->loop[l].irreducible || first == 0 || !(all >> last & 1) || is_header || !falls_into(g, last) ||
            g->blocks[first].last_kind != INSN_BRANCH)
            continue;
        uint32_t body = leading_to(r, g, last, first);
        for (uint32_t b = 0; b < r->n; b++)
            for (uint32_t to = 0; to < r->n; to++) {
                leads_on |= (body >> b & 1) && b >= first && r->edge[b][to] && ((all & ~body) >> to & 1);
                comes_back |= to == first && b < first && r->edge[b][to] && ((all & ~body) >> b & 1);
            }
        if (body == 0 || !leads_on || comes_back)
            continue;
        r->loop[r->loops].members = body;
        r->loop[r->loops].irreducible = false;
        r->loop[r->loops++].shown = first;
        r->splits++;
    }
}

/* Same loops: same blocks, header and mark? */
static bool agrees(const struct reference *r, const struct cfg *g, const struct loop_forest *f)
{
    if (f->loop_count != r->loops)
        return false;
    for (uint32_t l = 0; l < f->loop_count; l++) {
        uint32_t members = 0;
        for (uint32_t b = 0; b < g->block_count; b++)
            for (uint32_t k = f->block_loop[b]; k != LOOP_NONE; k = f->loops[k].parent)
                if (k == l)
                    members |= 1u << b;
        bool found = false;
        for (uint32_t k = 0; k < r->loops; k++)
            found |= r->loop[k].members == members && r->loop[k].shown == f->loops[l].header &&
                     r->loop[k].irreducible == f->loops[l].irreducible;
        uint32_t parent = f->loops[l].parent;
        if (!found || (parent != LOOP_NONE && (parent >= l || f->loops[l].depth != f->loops[parent].depth + 1)) ||
            (parent == LOOP_NONE && f->loops[l].depth != 1))
            return false;
    }
    return true;
}

/* a dominates b if b cannot be reached without a. */
static uint32_t reached_without(const struct reference *r, const struct cfg *g, uint32_t without)
{
    uint32_t set = ((1u << (r->n - 1)) * 2 - 1), seen = 0;
    if (without < r->n)
        set &= ~(1u << without);
    for (size_t i = 0; i < g->entry_count; i++)
        if (set >> g->entries[i] & 1)
            seen |= 1u << g->entries[i] | reaches(r, g->entries[i], set);
    return seen;
}

static bool dominators_agree(const struct reference *r, const struct cfg *g, const struct loop_forest *f)
{
    uint32_t reachable = reached_without(r, g, MAX), without[MAX];
    for (uint32_t b = 0; b < r->n; b++)
        without[b] = reached_without(r, g, b);
    for (uint32_t b = 0; b < r->n; b++) {
        if (!(reachable >> b & 1)) {
            if (f->idom[b] != UINT32_MAX)
                return false;
            continue;
        }
        uint32_t up = f->idom[b];
        for (uint32_t d = 0; d < r->n; d++) {
            bool dominates = d != b && !(without[d] >> b & 1) && (reachable >> d & 1);
            /* every strict dominator of b is idom(b) or dominates it */
            if (dominates && (up == b || (d != up && (without[d] >> up & 1))))
                return false;
        }
        if (up != b && (without[up] >> b & 1))
            return false;
    }
    return true;
}

static uint64_t seed; /* of a linear congruential generator: the same graphs on every machine */

static uint32_t below(uint32_t k)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % k;
}

static void random_edge(struct graph *t, uint32_t blocks, bool pads)
{
    uint32_t from = below(blocks), to = below(blocks);
    *vec_push(&t->edges) = (struct edge){.from = from, .to = to, .pad = pads && below(2)};
}

/* A loop with its condition after its body, followed by the rest of the enclosing loop, which starts at the same block;
   returns the number of other edges, which may change the shape. */
static uint32_t while_in_a_loop(struct graph *t, uint32_t blocks)
{
    uint32_t body = 1 + below(blocks - 3), condition = body + 1 + below(blocks - 2 - body),
             end = condition + 1 + below(blocks - 1 - condition);
    edge(t, 0, condition);
    for (uint32_t b = body; b < condition; b++)
        *vec_push(&t->edges) = (struct edge){.from = b, .to = b + 1, .falls = true};
    edge(t, condition, body);
    for (uint32_t b = condition; b < end; b++)
        edge(t, b, b + 1);
    edge(t, end, condition);
    return below(4);
}

static void test_random(void)
{
    seed = 1;
    int bad_loops = 0, bad_dominators = 0;
    uint32_t splits = 0;
    struct loop_forest f = {0};
    for (int round = 0; round < 20000; round++) {
        struct graph t = {0};
        struct reference r = {0};
        r.n = 2 + below(round % 10 == 0 ? MAX - 2 : 9);
        uint32_t edges = below(3 * r.n), entries[3] = {0};
        entries[1] = below(r.n);
        entries[2] = below(r.n);
        if (round % 4 == 1 && r.n > 4)
            edges = while_in_a_loop(&t, r.n);
        for (uint32_t i = 0; i < edges; i++)
            random_edge(&t, r.n, round % 3 == 0);
        graph_finish(&t, r.n, entries, below(4) == 0 ? 3 : 1);
        for (size_t i = 0; i < t.edges.count; i++) {
            const struct edge *e = &t.edges.items[i];
            r.edge[e->from][e->to] = true;
            r.jump[e->from][e->to] |= !e->pad;
        }
        for (size_t i = 0; i < t.g.entry_count; i++)
            if (r.order[t.g.entries[i]] == 0)
                reference_search(&r, &t.g, t.g.entries[i]);
        uint32_t reached = 0;
        for (uint32_t b = 0; b < r.n; b++)
            reached |= r.order[b] != 0 ? 1u << b : 0;
        reference_loops(&r, &t.g, reached, LOOP_NONE);
        reference_splits(&r, &t.g);
        splits += r.splits;
        loop_forest_find(&t.g, &f);
        bad_loops += !agrees(&r, &t.g, &f);
        bad_dominators += !dominators_agree(&r, &t.g, &f);
        graph_release(&t);
    }
    printf("# %u loops begin where another one does\n", splits);
    CHECK(splits > 100);
    CHECK_INT(bad_loops, 0);
    CHECK_INT(bad_dominators, 0);
    loop_forest_release(&f);
}

/* ---- large ------------------------------------------------------------------------------------------ */

/* 10,000 loops around each other: 0 1 2 ... k, then back from k+1 to k, from k+2 to k-1 ... */
static void test_deep(void)
{
    enum { DEPTH = 10000 };
    struct graph t = {0};
    uint32_t entry = 0;
    for (uint32_t i = 0; i + 1 < 2 * DEPTH; i++)
        edge(&t, i, i + 1);
    for (uint32_t i = 0; i < DEPTH; i++)
        edge(&t, 2 * DEPTH - 1 - i, i);
    graph_finish(&t, 2 * DEPTH, &entry, 1);
    struct loop_forest f = {0};
    loop_forest_find(&t.g, &f);
    CHECK_INT(f.loop_count, DEPTH);
    CHECK_INT(f.loops[DEPTH - 1].depth, DEPTH);
    CHECK_INT(f.loops[DEPTH - 1].header, DEPTH - 1);
    CHECK_INT(f.block_loop[DEPTH], DEPTH - 1);
    loop_forest_release(&f);
    graph_release(&t);
}

/* The same with a jump from the first block into the middle of every loop: every loop but the outermost is irreducible.
 */
static void test_deep_irreducible(void)
{
    enum { DEPTH = 10000 };
    struct graph t = {0};
    uint32_t entry = 0;
    for (uint32_t i = 0; i < 2 * DEPTH; i++)
        edge(&t, i, i + 1);
    for (uint32_t i = 1; i <= DEPTH; i++)
        edge(&t, 2 * DEPTH + 1 - i, i);
    for (uint32_t i = DEPTH + 1; i <= 2 * DEPTH; i++)
        edge(&t, 0, i);
    graph_finish(&t, 2 * DEPTH + 1, &entry, 1);
    struct loop_forest f = {0};
    loop_forest_find(&t.g, &f);
    size_t irreducible = 0;
    for (size_t i = 0; i < f.loop_count; i++)
        irreducible += f.loops[i].irreducible;
    CHECK_INT(f.loop_count, DEPTH);
    CHECK_INT(irreducible, DEPTH);
    loop_forest_release(&f);
    graph_release(&t);
}

/* A million blocks in a chain, a loop of three in every four of them, all in a great loop. */
static void test_long(void)
{
    enum { BLOCKS = 1000000 };
    struct graph t = {0};
    uint32_t entry = 0;
    for (uint32_t i = 0; i + 1 < BLOCKS; i++)
        edge(&t, i, i + 1);
    for (uint32_t i = 1; i + 4 < BLOCKS; i += 4)
        edge(&t, i + 2, i);
    edge(&t, BLOCKS - 1, 0);
    graph_finish(&t, BLOCKS, &entry, 1);
    struct loop_forest f = {0};
    loop_forest_find(&t.g, &f);
    CHECK_INT(f.loop_count, (BLOCKS - 5 + 3) / 4 + 1);
    CHECK_INT(f.loops[1].header, 1);
    CHECK_INT(f.loops[1].depth, 2);
    CHECK_INT(f.idom[BLOCKS - 1], BLOCKS - 2);
    loop_forest_release(&f);
    graph_release(&t);
}

/* Half a million blocks of which each jumps back to a block anywhere before and forward to one anywhere after: one
 * great tangle. */
static void test_tangle(void)
{
    enum { BLOCKS = 500000 };
    struct graph t = {0};
    seed = 7;
    uint32_t entry = 0;
    for (uint32_t i = 0; i + 1 < BLOCKS; i++) {
        edge(&t, i, i + 1);
        edge(&t, i, below(BLOCKS));
        edge(&t, i, below(i + 1));
    }
    graph_finish(&t, BLOCKS, &entry, 1);
    struct loop_forest f = {0};
    loop_forest_find(&t.g, &f);
    size_t inside = 0;
    for (uint32_t b = 0; b < BLOCKS; b++)
        inside += f.block_loop[b] != LOOP_NONE;
    CHECK(f.loop_count > 1000 && inside > BLOCKS / 2);
    loop_forest_release(&f);
    graph_release(&t);
}

int main(void)
{
    RUN(test_drawn);
    RUN(test_random);
    RUN(test_deep);
    RUN(test_deep_irreducible);
    RUN(test_long);
    RUN(test_tangle);
    return tap_done();
}
