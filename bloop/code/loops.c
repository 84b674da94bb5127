/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dominators and the loop nesting forest of one control flow graph.
 *
 * A depth-first search from a root above all entries numbers the blocks; everything after that works on those numbers
 * (0 is the root, a block's number is greater than those of all its ancestors).
 *
 * Dominators: Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph", TOPLAS 1 (1979), the simple
 * variant with path compression: O(m log n) for any graph. (Semi-NCA is a little faster on ordinary graphs and quadratic on
 * some.)
 *
 * Loops: Havlak, "Nesting of reducible and irreducible loops", TOPLAS 19 (1997), in the form that Ramalingam,
 * "Identifying loops in almost linear time", TOPLAS 21 (1999), section 5, gave it. Havlak's own is quadratic where many
 * jumps lead into the middle of loops; Ramalingam takes cross and forward edges out of the graph and puts each back,
 * with its ends replaced by the loops they have been collapsed into, when the search tree's nearest common ancestor of
 * both ends is reached. So every edge is looked at a fixed number of times.
 *
 *           1            visiting 5, 4, 3, 2, 1: the back edges 4 -> 2 and 5 -> 2 give one loop {2, 3, 4, 5}
 *           |            (a header has one loop: what a `continue` adds is no loop of its own); the
 *           2 <--+--+    cross edge 5 -> 4 is put back when their common ancestor 3 is visited.
 *           |    |  |
 *           3    |  |
 *          / \   |  |
 *         4   5--|--+
 *         +------+
 *
 * A loop needs a back edge that is a jump: clang's landing pads are in the range of calls that lead to them, for the
 * destructors they call; such a cycle is not a loop.
 *
 * A loop is irreducible if an edge from outside leads to another block than its header. Which of its entries the search
 * met first says nothing: the lowest is called its header, and a loop inside with that header is one with it.
 *
 * Two loops may begin in one block: a `while` that is the first statement of a `while (1)`, as gcc -O0 makes it. Its position
 * distinguishes it from a `continue`: its condition is behind its body, and leads on to the rest of the other.
 */
#include "bloop/code/code.h"

#define NONE UINT32_MAX

struct search { /* arrays by number, unless they say otherwise; all cut from one piece of memory */
    const struct cfg *g;
    uint32_t n, m;      /* blocks; greatest number: 1..m are reached blocks */
    uint32_t edge_room; /* edges, those from the root among them */
    uint32_t *number;   /* by block; NONE: unreachable */
    uint32_t *block;
    uint32_t *parent, *last; /* in the search tree: last is the greatest number among descendants */
    uint32_t *pred_first;    /* m + 2 */
    uint32_t *preds;         /* numbers */
    uint32_t *idom;
    uint32_t
        *loop_parent; /* number of the header of the loop around this block, or around its loop if it is a header */
    uint32_t *is_header;
    uint32_t *a, *b, *c, *d, *e, *f; /* scratch */
    uint32_t *edge_from, *edge_next; /* by edge: cross and forward edges in lists */
    uint32_t *edge_to;
};

/* ---- memory ------------------------------------------------------------------------------ */

static uint32_t *cut(uint32_t **from, size_t count)
{
    uint32_t *p = *from;
    *from += count;
    return p;
}

/* loops (16 bytes each, at most n), block_loop and idom by block for the caller, then the working arrays. */
static void prepare(struct search *s, const struct cfg *g, struct loop_forest *f)
{
    *s =
        (struct search){.g = g, .n = (uint32_t)g->block_count, .edge_room = (uint32_t)(g->succ_count + g->entry_count)};
    size_t n = (size_t)s->n + 2, edges = s->edge_room;
    _Static_assert(sizeof(struct loop) == 16, "prepare counts in words");
    size_t words = n * (4 + 2 + 14) + edges * 4;
    if (words * 4 > f->memory_size) {
        size_t size = words * 4 + words;
        mem_free(f->memory); /* nothing in it is kept */
        f->memory = mem_alloc(size);
        f->memory_size = size;
    }
    uint32_t *p = f->memory;
    f->loops = (struct loop *)(void *)cut(&p, n * 4);
    f->block_loop = cut(&p, n);
    f->idom = cut(&p, n);
    uint32_t **by_number[] = {&s->number,    &s->block, &s->parent, &s->last, &s->pred_first, &s->idom, &s->loop_parent,
                              &s->is_header, &s->a,     &s->b,      &s->c,    &s->d,          &s->e,    &s->f};
    for (size_t i = 0; i < ARRAY_SIZE(by_number); i++)
        *by_number[i] = cut(&p, n);
    s->preds = cut(&p, edges);
    s->edge_from = cut(&p, edges);
    s->edge_next = cut(&p, edges);
    s->edge_to = cut(&p, edges);
    f->loop_count = 0;
}

static void fill(uint32_t *p, size_t n, uint32_t value)
{
    for (size_t i = 0; i < n; i++)
        p[i] = value;
}

/* ---- depth-first search -------------------------------------------------------------------- */

static uint32_t succ_count(const struct search *s, uint32_t number)
{
    return number == 0 ? (uint32_t)s->g->entry_count : s->g->blocks[s->block[number]].succ_count;
}

static uint32_t succ(const struct search *s, uint32_t number, uint32_t i)
{
    return number == 0 ? s->g->entries[i] : s->g->succs[s->g->blocks[s->block[number]].succ_first + i];
}

static void number_blocks(struct search *s)
{
    uint32_t *cursor = s->a;
    fill(s->number, s->n, NONE);
    uint32_t at = 0;
    cursor[0] = 0;
    s->parent[0] = 0;
    s->block[0] = NONE;
    for (;;) {
        if (cursor[at] < succ_count(s, at)) {
            uint32_t to = succ(s, at, cursor[at]++);
            if (s->number[to] != NONE)
                continue;
            s->number[to] = ++s->m;
            s->block[s->m] = to;
            s->parent[s->m] = at;
            at = s->m;
            cursor[at] = 0;
        } else {
            s->last[at] = s->m;
            if (at == 0)
                return;
            at = s->parent[at];
        }
    }
}

/* Predecessors in the order of their numbers, so that results do not depend on how the search went about. */
static void list_preds(struct search *s)
{
    uint32_t *first = s->pred_first;
    fill(first, (size_t)s->m + 2, 0);
    for (uint32_t v = 0; v <= s->m; v++)
        for (uint32_t i = 0, k = succ_count(s, v); i < k; i++)
            first[s->number[succ(s, v, i)] + 1]++;
    for (uint32_t v = 0; v <= s->m; v++)
        first[v + 1] += first[v];
    uint32_t *fill_at = s->a;
    memcpy(fill_at, first, ((size_t)s->m + 1) * sizeof *first);
    for (uint32_t v = 0; v <= s->m; v++)
        for (uint32_t i = 0, k = succ_count(s, v); i < k; i++)
            s->preds[fill_at[s->number[succ(s, v, i)]]++] = v;
}

static bool is_ancestor(const struct search *s, uint32_t up, uint32_t v)
{
    return up <= v && v <= s->last[up];
}

/* ---- dominators -------------------------------------------------------------------------------- */

/* The vertex of least semidominator on the linked path above v, which is compressed. `stack` has space for the path. */
static uint32_t eval(uint32_t v, uint32_t *ancestor, uint32_t *label, const uint32_t *semi, uint32_t *stack)
{
    if (ancestor[v] == NONE)
        return v;
    uint32_t depth = 0;
    for (uint32_t u = v; ancestor[ancestor[u]] != NONE; u = ancestor[u])
        stack[depth++] = u;
    while (depth > 0) {
        uint32_t u = stack[--depth], up = ancestor[u];
        if (semi[label[up]] < semi[label[u]])
            label[u] = label[up];
        ancestor[u] = ancestor[up];
    }
    return label[v];
}

static void find_dominators(struct search *s)
{
    uint32_t *semi = s->a, *label = s->b, *ancestor = s->c, *bucket = s->d, *bucket_next = s->e, *stack = s->f;
    for (uint32_t v = 0; v <= s->m; v++) {
        semi[v] = label[v] = v;
        ancestor[v] = bucket[v] = NONE;
    }
    for (uint32_t w = s->m; w > 0; w--) {
        for (uint32_t i = s->pred_first[w]; i < s->pred_first[w + 1]; i++) {
            uint32_t u = eval(s->preds[i], ancestor, label, semi, stack);
            if (semi[u] < semi[w])
                semi[w] = semi[u];
        }
        bucket_next[w] = bucket[semi[w]];
        bucket[semi[w]] = w;
        uint32_t up = s->parent[w];
        ancestor[w] = up;
        for (uint32_t v = bucket[up]; v != NONE; v = bucket_next[v]) {
            uint32_t u = eval(v, ancestor, label, semi, stack);
            s->idom[v] = semi[u] < semi[v] ? u : up;
        }
        bucket[up] = NONE;
    }
    for (uint32_t w = 1; w <= s->m; w++)
        if (s->idom[w] != semi[w])
            s->idom[w] = s->idom[s->idom[w]];
}

static void hand_out_dominators(const struct search *s, uint32_t *idom)
{
    for (uint32_t b = 0; b < s->n; b++) {
        uint32_t v = s->number[b];
        idom[b] = v == NONE ? NONE : s->idom[v] == 0 ? b : s->block[s->idom[v]];
    }
}

/* ---- loops --------------------------------------------------------------------------------------- */

static uint32_t find(uint32_t *up, uint32_t v)
{
    while (up[v] != v)
        v = up[v] = up[up[v]]; /* path halving */
    return v;
}

enum edge { EDGE_TREE, EDGE_BACK, EDGE_FORWARD, EDGE_CROSS };

/* *tree_seen: the tree edge to `to` was met (of several equal edges, the first is it). */
static enum edge edge_kind(const struct search *s, uint32_t from, uint32_t to, bool *tree_seen)
{
    if (is_ancestor(s, to, from))
        return EDGE_BACK;
    if (from == s->parent[to] && !*tree_seen) {
        *tree_seen = true;
        return EDGE_TREE;
    }
    return is_ancestor(s, from, to) ? EDGE_FORWARD : EDGE_CROSS;
}

/* Puts each cross and forward edge into the list of the nearest common ancestor of its ends: Tarjan's off-line way.
   While numbers go up, `path` holds the ancestors of the current vertex, and vertices that are left behind are united
   with their parent. */
static void list_edges_by_ancestor(struct search *s, uint32_t *list, uint32_t *up, uint32_t *path)
{
    uint32_t depth = 0, edges = 0;
    for (uint32_t v = 0; v <= s->m; v++) {
        list[v] = NONE;
        up[v] = v;
    }
    /* edges by the end with the greater number: a cross edge goes to a smaller one, so list them by source */
    for (uint32_t v = 0; v <= s->m; v++) {
        while (depth > 0 && s->last[path[depth - 1]] < v) {
            uint32_t left = path[--depth];
            up[left] = s->parent[left];
        }
        path[depth++] = v;
        for (uint32_t i = 0, k = succ_count(s, v); i < k; i++) {
            uint32_t to = s->number[succ(s, v, i)];
            if (is_ancestor(s, to, v) || (s->parent[to] == v)) /* back; tree (or the same again: adds nothing) */
                continue;
            uint32_t meet = is_ancestor(s, v, to) ? v : find(up, to);
            s->edge_from[edges] = v;
            s->edge_to[edges] = to;
            s->edge_next[edges] = list[meet];
            list[meet] = edges++;
        }
    }
}

/* The edges that wait at x come back between what their ends have become. */
static void restore_edges(struct search *s, uint32_t x, uint32_t *waiting, uint32_t *restored, uint32_t *up)
{
    for (uint32_t i = waiting[x]; i != NONE;) {
        uint32_t next = s->edge_next[i], to = find(up, s->edge_to[i]);
        s->edge_from[i] = find(up, s->edge_from[i]);
        s->edge_next[i] = restored[to];
        restored[to] = i;
        i = next;
    }
}

static bool jumps_to(const struct search *s, uint32_t from, uint32_t to)
{
    const struct cfg_block *b = &s->g->blocks[s->block[from]];
    uint32_t jumps = b->succ_count - b->pad_count, i = 0;
    if (b->pad_count == 0)
        return true;
    while (i < jumps && s->number[succ(s, from, i)] != to)
        i++;
    return i < jumps;
}

static bool is_jumped_back_to(const struct search *s, uint32_t x)
{
    for (uint32_t i = s->pred_first[x]; i < s->pred_first[x + 1]; i++)
        if (is_ancestor(s, x, s->preds[i]) && jumps_to(s, s->preds[i], x))
            return true;
    return false;
}

/* All that reaches a back edge to x without passing x. */
static void find_loop_of(struct search *s, uint32_t x, const uint32_t *restored, uint32_t *up, uint32_t *in_body,
                         uint32_t *body)
{
    uint32_t count = 0;
    for (uint32_t i = s->pred_first[x]; i < s->pred_first[x + 1]; i++) {
        if (!is_ancestor(s, x, s->preds[i]))
            continue;
        s->is_header[x] = 1;
        uint32_t v = find(up, s->preds[i]);
        if (v != x && in_body[v] != x) {
            in_body[v] = x;
            body[count++] = v;
        }
    }
    for (uint32_t done = 0; done < count; done++) {
        uint32_t v = body[done], z = find(up, s->parent[v]);
        for (uint32_t i = restored[v];; i = s->edge_next[i]) {
            if (z != x && in_body[z] != x) {
                in_body[z] = x;
                body[count++] = z;
            }
            if (i == NONE)
                break;
            z = find(up, s->edge_from[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        up[body[i]] = x;
        s->loop_parent[body[i]] = x;
    }
}

static bool find_loops(struct search *s)
{
    uint32_t *waiting = s->a, *restored = s->b, *up = s->c, *in_body = s->d, *body = s->e;
    list_edges_by_ancestor(s, waiting, up, body);
    for (uint32_t v = 0; v <= s->m; v++) {
        restored[v] = in_body[v] = s->loop_parent[v] = NONE;
        up[v] = v;
        s->is_header[v] = 0;
    }
    bool any = false;
    for (uint32_t x = s->m; x > 0; x--) {
        restore_edges(s, x, waiting, restored, up);
        find_loop_of(s, x, restored, up, in_body, body);
        any |= s->is_header[x] != 0;
    }
    return any;
}

/* ---- the forest in order ---------------------------------------------------------------------------- */

/* Header of the innermost loop that holds v, by number; NONE. */
static uint32_t loop_of(const struct search *s, uint32_t v)
{
    return s->is_header[v] ? v : s->loop_parent[v];
}

/* Numbers the loops so that each is followed by all within it; siblings by the address of `entry`. Fills index (by
   header's number) and order (header's number by index); returns how many. */
static uint32_t order_loops(const struct search *s, const uint32_t *entry, uint32_t *index, uint32_t *order,
                            uint32_t *child, uint32_t *sibling, uint32_t *by_block)
{
    uint32_t count = 0, roots = NONE;
    for (uint32_t b = 0; b < s->n; b++)
        by_block[b] = NONE;
    uint32_t *same_block = index; /* not in use yet: several loops may have one entry */
    for (uint32_t v = 1; v <= s->m; v++) {
        child[v] = NONE;
        if (s->is_header[v]) {
            same_block[v] = by_block[entry[v]];
            by_block[entry[v]] = v;
        }
    }
    for (uint32_t b = s->n; b-- > 0;) /* downwards, putting in front */
        for (uint32_t v = by_block[b]; v != NONE; v = same_block[v]) {
            uint32_t *list = s->loop_parent[v] == NONE ? &roots : &child[s->loop_parent[v]];
            sibling[v] = *list;
            *list = v;
        }
    for (uint32_t v = roots; v != NONE;) {
        index[v] = count;
        order[count++] = v;
        if (child[v] != NONE) {
            v = child[v];
            continue;
        }
        while (v != NONE && sibling[v] == NONE)
            v = s->loop_parent[v];
        if (v != NONE)
            v = sibling[v];
    }
    return count;
}

/* Sets entry (a block, by header's number) to the entry of lowest address, and bit 1 of is_header where there are
   several entries. Edges are taken in the order of the address they lead to, so the first that marks a loop is its
   lowest; loops that are marked are skipped by union-find. `index` is a preorder of the forest and `end` closes each
   loop's interval. */
static void mark_irreducible(struct search *s, uint32_t *entry, const uint32_t *index, const uint32_t *end,
                             uint32_t *skip)
{
    for (uint32_t v = 1; v <= s->m; v++)
        skip[v] = v;
    for (uint32_t b = 0; b < s->n; b++) {
        uint32_t to = s->number[b];
        if (to == NONE || loop_of(s, to) == NONE)
            continue;
        bool tree_seen = false;
        for (uint32_t i = s->pred_first[to]; i < s->pred_first[to + 1]; i++) {
            uint32_t from = s->preds[i];
            enum edge kind = edge_kind(s, from, to, &tree_seen);
            if (kind == EDGE_TREE || kind == EDGE_BACK)
                continue;
            uint32_t from_loop = from == 0 ? NONE : loop_of(s, from);
            for (uint32_t l = loop_of(s, to); l != NONE;) {
                l = find(skip, l);
                if (l == 0 || (from_loop != NONE && index[l] <= index[from_loop] && index[from_loop] < end[l]))
                    break;
                uint32_t around = s->loop_parent[l] == NONE ? 0 : s->loop_parent[l];
                if (l != to) {
                    s->is_header[l] |= 2;
                    if (b < entry[l])
                        entry[l] = b;
                    skip[l] = around;
                }
                l = around == 0 ? NONE : around;
            }
        }
    }
}

static void close_intervals(const struct search *s, const uint32_t *order, uint32_t count, uint32_t *end)
{
    for (uint32_t i = 0; i < count; i++)
        end[order[i]] = i + 1;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t v = order[i], around = s->loop_parent[v];
        if (around != NONE && end[around] < end[v])
            end[around] = end[v];
    }
}

/* A loop with several entries that is entered at another one's header, which is also the lowest of its entries, is
   the same loop: had the search started there, there would have been one loop. (A jump into the middle of a `while (1)`
   with a `continue` further up.) */
static void join_same_entry(struct search *s, const uint32_t *entry, uint32_t *joined)
{
    for (uint32_t v = 1; v <= s->m; v++) { /* outer loops have smaller numbers */
        uint32_t up = s->loop_parent[v];
        joined[v] = v;
        if (up != NONE)
            s->loop_parent[v] = up = joined[up];
        if (up == NONE || !s->is_header[v] || !(s->is_header[up] & 2) || entry[v] != entry[up])
            continue;
        joined[v] = up;
        s->is_header[v] = 0;
    }
}

/* Blocks of a loop without a back edge that is a jump belong to the enclosing loop. */
static void dissolve_pads(struct search *s, uint32_t *into)
{
    for (uint32_t v = 1; v <= s->m; v++) { /* outer loops have smaller numbers */
        if (s->loop_parent[v] != NONE)
            s->loop_parent[v] = into[s->loop_parent[v]];
        into[v] = v;
        if (s->is_header[v] && !is_jumped_back_to(s, v)) {
            into[v] = s->loop_parent[v];
            s->is_header[v] = 0;
        }
    }
}

/* ---- loops that begin in one block ------------------------------------------------------------------ */

/* The block in front of the loop's first one, and from which control just goes on to there: the end of a `while` whose
   condition is behind its body. NONE: it is not in the loop, or a loop itself. */
static uint32_t end_in_front(const struct search *s, uint32_t x)
{
    const struct cfg_block *header = &s->g->blocks[s->block[x]], *b = header - 1;
    if (s->block[x] == 0 || b->end != header->begin || b->last_kind == INSN_JUMP || b->succ_count != 1 ||
        s->g->succs[b->succ_first] != s->block[x] || header->last_kind != INSN_BRANCH)
        return NONE;
    uint32_t v = s->number[s->block[x] - 1];
    return v != NONE && is_ancestor(s, x, v) && !s->is_header[v] ? v : NONE;
}

/* All that reaches `from` without passing x, which comes last; false: too much, or a `switch` (its cases lie anywhere). */
static bool reach_back(const struct search *s, uint32_t x, uint32_t from, uint32_t *in_body, uint32_t *body,
                       uint32_t *count)
{
    enum { MOST = 4096 }; /* blocks: loops in loops in loops would be looked at again and again */
    in_body[from] = in_body[x] = x;
    body[0] = from;
    *count = 1;
    for (uint32_t done = 0; done < *count; done++)
        for (uint32_t i = s->pred_first[body[done]]; i < s->pred_first[body[done] + 1]; i++) {
            uint32_t v = s->preds[i];
            if (v == 0 || *count == MOST || s->g->blocks[s->block[v]].last_kind == INSN_JUMP_INDIRECT)
                return false;
            if (in_body[v] != x) {
                in_body[v] = x;
                body[(*count)++] = v;
            }
        }
    body[(*count)++] = x;
    return true;
}

/* Does this part of the condition lead to a block of the loop around x that is not in the body found? */
static bool leads_on(const struct search *s, uint32_t from, uint32_t x, const uint32_t *in_body)
{
    for (uint32_t i = 0; s->block[from] >= s->block[x] && i < succ_count(s, from); i++)
        for (uint32_t v = s->number[succ(s, from, i)], l = loop_of(s, v); l != NONE && in_body[v] != x;
             l = s->loop_parent[l])
            if (l == x)
                return true;
    return false;
}

/* The rest of the enclosing loop is reached from the condition, and returns from behind it: a `continue` goes down
   to a condition. */
static bool has_rest_behind(const struct search *s, uint32_t x, const uint32_t *in_body, const uint32_t *body,
                            uint32_t count)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        found = found || leads_on(s, body[i], x, in_body);
    for (uint32_t i = s->pred_first[x]; i < s->pred_first[x + 1]; i++) {
        uint32_t v = s->preds[i];
        found = found && !(is_ancestor(s, x, v) && in_body[v] != x && s->block[v] < s->block[x]);
    }
    return found;
}

/* The one inside gets the number of its last block, and entry[] says where it begins. */
static void split_shared_headers(struct search *s, uint32_t *entry, uint32_t *in_body, uint32_t *body)
{
    fill(in_body, (size_t)s->m + 1, NONE);
    for (uint32_t x = 1, last, count; x <= s->m; x++) {
        if (s->is_header[x] != 1 || entry[x] != s->block[x] || (last = end_in_front(s, x)) == NONE ||
            !reach_back(s, x, last, in_body, body, &count) || !has_rest_behind(s, x, in_body, body, count))
            continue;
        for (uint32_t i = 0; i < count; i++)
            if (s->loop_parent[body[i]] == x)
                s->loop_parent[body[i]] = last;
        s->loop_parent[last] = x;
        s->is_header[last] = 1;
        entry[last] = s->block[x];
    }
}

static bool is_split_off(const struct search *s, const uint32_t *entry, uint32_t v)
{
    return s->is_header[v] == 1 && entry[v] != s->block[v];
}

static void make_forest(struct search *s, struct loop_forest *f)
{
    uint32_t *entry = s->a, *index = s->b, *order = s->c, *child = s->d, *sibling = s->e, *by_block = s->f, *end = s->d,
             *skip = s->e;
    for (uint32_t v = 1; v <= s->m; v++)
        entry[v] = s->block[v];
    dissolve_pads(s, index);
    uint32_t count = order_loops(s, entry, index, order, child, sibling, by_block);
    close_intervals(s, order, count, end);
    skip[0] = 0;
    mark_irreducible(s, entry, index, end, skip);
    join_same_entry(s, entry, index);
    split_shared_headers(s, entry, index, order);
    count = order_loops(s, entry, index, order, child, sibling, by_block);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = order[i], around = s->loop_parent[v];
        struct loop *l = &f->loops[i];
        *l = (struct loop){.header = entry[v], .parent = LOOP_NONE, .depth = 1, .irreducible = s->is_header[v] & 2};
        if (around != NONE) {
            l->parent = index[around];
            l->depth = f->loops[l->parent].depth + 1;
        }
    }
    for (uint32_t v = 1; v <= s->m; v++)
        if (loop_of(s, v) != NONE)
            f->block_loop[s->block[v]] = index[loop_of(s, v)];
    for (uint32_t v = 1; v <= s->m; v++)
        if (is_split_off(s, entry, v))
            f->block_loop[entry[v]] = index[v];
    f->loop_count = count;
}

void loop_forest_find(const struct cfg *g, struct loop_forest *f)
{
    struct search s;
    prepare(&s, g, f);
    number_blocks(&s);
    list_preds(&s);
    find_dominators(&s);
    hand_out_dominators(&s, f->idom);
    fill(f->block_loop, s.n, LOOP_NONE);
    if (find_loops(&s))
        make_forest(&s, f);
}

void loop_forest_release(struct loop_forest *f)
{
    mem_free(f->memory);
    *f = (struct loop_forest){0};
}
