/* Loops from exact counts of instructions and jumps. */
#include "filters/callgrind/instr_loops.h"

#include <math.h>

struct instr {
    struct instr_place place;
    uint32_t context, id;
    uint64_t count, jumped_to; /* executions; those of them that a jump led to */
};

struct edge { /* between instructions, by their index after sorting */
    uint32_t from, to;
    uint32_t jump; /* which it is, or NO_JUMP */
    uint64_t count;
};
#define NO_JUMP UINT32_MAX

struct jump {
    struct instr_place place; /* of the jump */
    uint64_t to, count;
    uint32_t id;
};

struct loop {
    uint32_t header;                   /* instruction */
    bool next_is_back;                 /* the instruction before it goes on into it, and is in the loop */
    uint64_t parts;                    /* that entered it */
    double least, most, mean, squares; /* of its mean trip counts in them; squares: of the distances from the mean */
};

struct part {                        /* what one part counted */
    uint64_t count, jumped_to, back; /* by instruction */
};

struct entry {
    str_id object;
    uint64_t address;
};

struct instr_loops {
    struct hpcprof *into;
    struct VEC(struct instr) instrs;
    struct VEC(struct jump) jumps;
    struct VEC(struct entry) entries;
    struct VEC(struct loop) loops;
    /* for parts */
    struct VEC(uint32_t) instr_of;   /* by the caller's id, UINT32_MAX: none */
    struct VEC(struct edge) jump_of; /* by the caller's id: from NO_JUMP: none; count 1: back to a loop's header */
    struct VEC(struct part) part;
};

struct instr_loops *instr_loops_create(struct hpcprof *into)
{
    struct instr_loops *l = mem_calloc(1, sizeof *l);
    l->into = into;
    return l;
}

void instr_loops_free(struct instr_loops *l)
{
    vec_release(&l->instrs);
    vec_release(&l->jumps);
    vec_release(&l->entries);
    vec_release(&l->loops);
    vec_release(&l->instr_of);
    vec_release(&l->jump_of);
    vec_release(&l->part);
    mem_free(l);
}

void instr_loops_executed(struct instr_loops *l, uint32_t id, struct instr_place place, uint32_t context,
                          uint64_t count)
{
    *vec_push(&l->instrs) = (struct instr){place, context, id, count, 0};
}

void instr_loops_jump(struct instr_loops *l, uint32_t id, struct instr_place place, const struct instr_jump *jump)
{
    place.address = jump->from;
    *vec_push(&l->jumps) = (struct jump){place, jump->to, jump->count, id};
}

void instr_loops_entry(struct instr_loops *l, str_id object, uint64_t address)
{
    *vec_push(&l->entries) = (struct entry){object, address};
}

/* ---- in order --------------------------------------------------------------------------------------------- */

#define ORDER(a, b, field)                                                                                             \
    if ((a)->field != (b)->field)                                                                                      \
    return (a)->field < (b)->field ? -1 : 1

static int compare_places(const struct instr_place *a, const struct instr_place *b)
{
    ORDER(a, b, thread);
    ORDER(a, b, object);
    ORDER(a, b, function);
    ORDER(a, b, address);
    return 0;
}

static int compare_instrs(const void *a, const void *b)
{
    return compare_places(&((const struct instr *)a)->place, &((const struct instr *)b)->place);
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    ORDER(a, b, object);
    ORDER(a, b, address);
    return 0;
}

static int compare_edges(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    ORDER(a, b, to);
    ORDER(a, b, from);
    return 0;
}

/* An instruction of several lines is one. */
static void unite(struct instr_loops *l)
{
    size_t n = 0;
    vec_sort(&l->instrs, compare_instrs);
    for (size_t i = 0; i < l->instrs.count; i++) {
        const struct instr instr = l->instrs.items[i];
        if (n && compare_instrs(&l->instrs.items[n - 1], &instr) == 0)
            l->instrs.items[n - 1].count += instr.count;
        else
            l->instrs.items[n++] = instr;
        while (l->instr_of.count <= instr.id)
            *vec_push(&l->instr_of) = UINT32_MAX;
        l->instr_of.items[instr.id] = (uint32_t)n - 1;
    }
    l->instrs.count = n;
    vec_sort(&l->entries, compare_entries);
}

static uint32_t find(const struct instr_loops *l, struct instr_place place)
{
    size_t i = sorted_front(l->instrs.count, k, compare_places(&l->instrs.items[k].place, &place) < 0);
    bool there = i < l->instrs.count && compare_places(&l->instrs.items[i].place, &place) == 0;
    return there ? (uint32_t)i : UINT32_MAX;
}

static bool is_entry(const struct instr_loops *l, const struct instr_place *p)
{
    struct entry wanted = {p->object, p->address};
    size_t i = sorted_front(l->entries.count, k, compare_entries(&l->entries.items[k], &wanted) < 0);
    return i < l->entries.count && compare_entries(&l->entries.items[i], &wanted) == 0;
}

/* ---- the graph of one function ------------------------------------------------------------------------------- */

struct graph {
    struct instr_loops *loops;
    uint32_t first, count;         /* its instructions */
    struct VEC(struct edge) edges; /* sorted by `to`; jumps, and what went on to the next instruction */
    uint32_t *order;               /* by instruction: its number in reverse postorder, from 1; 0: not reached */
    uint32_t *sorted;              /* the instructions in that order */
    uint32_t reached;
    bool *begins;        /* by instruction: it is reached from outside */
    uint32_t *dominator; /* by instruction: the number of its immediate dominator; 0 is the outside */
    uint32_t *inside,
        *inside_end;      /* by number: what it dominates has numbers of the dominator tree's preorder in between */
    uint64_t steps;       /* taken by find_dominators */
    uint32_t *edge_first; /* by instruction: where the edges to it begin */
};

static bool same_function(const struct instr_place *a, const struct instr_place *b)
{
    return a->thread == b->thread && a->object == b->object && a->function == b->function;
}

/* What came to an instruction by no jump came from the one before it, unless calls explain it: of functions' beginnings
   nothing is said. */
static void add_next_edges(struct graph *g)
{
    const struct instr *items = g->loops->instrs.items;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct instr *to = &items[g->first + i];
        if (to->count > to->jumped_to && !is_entry(g->loops, &to->place))
            *vec_push(&g->edges) = (struct edge){i - 1, i, NO_JUMP, to->count - to->jumped_to};
    }
}

struct visit {
    uint32_t instr, next; /* next: how far its successors are done */
};

/* Successors of each instruction as an index over edges sorted by `from`. */
struct successors {
    struct edge *by_from;
    uint32_t *first;
};

static int compare_from(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    ORDER(a, b, from);
    ORDER(a, b, to);
    return 0;
}

static struct successors successors_of(const struct graph *g)
{
    struct successors s = {mem_alloc((g->edges.count + 1) * sizeof *s.by_from),
                           mem_calloc(g->count + 2, sizeof *s.first)};
    if (g->edges.count)
        memcpy(s.by_from, g->edges.items, g->edges.count * sizeof *s.by_from);
    if (g->edges.count)
        qsort(s.by_from, g->edges.count, sizeof *s.by_from, compare_from);
    for (size_t i = 0; i < g->edges.count; i++)
        s.first[s.by_from[i].from + 1]++;
    for (uint32_t i = 0; i < g->count; i++)
        s.first[i + 1] += s.first[i];
    return s;
}

/* Depth first from one beginning; `done` counts down in postorder. */
static void walk(struct graph *g, const struct successors *s, uint32_t begin, uint8_t *seen, uint32_t *done)
{
    struct VEC(struct visit) stack = {0};
    if (seen[begin])
        return;
    seen[begin] = 1;
    *vec_push(&stack) = (struct visit){begin, s->first[begin]};
    while (stack.count) {
        struct visit *v = &stack.items[stack.count - 1];
        if (v->next == s->first[v->instr + 1]) {
            g->sorted[(*done)++] = v->instr;
            stack.count--;
            continue;
        }
        uint32_t to = s->by_from[v->next++].to;
        if (!seen[to]) {
            seen[to] = 1;
            *vec_push(&stack) = (struct visit){to, s->first[to]};
        }
    }
    vec_release(&stack);
}

/* Beginnings are those that calls name, the first instruction, and, for code that jumped in from elsewhere, what no
   edge leads to. */
static void number_instrs(struct graph *g)
{
    struct successors s = successors_of(g);
    uint8_t *seen = mem_calloc(g->count + 1, 1);
    uint32_t done = 0;
    for (uint32_t i = g->count; i-- > 0;) {
        bool led_to = g->edge_first[i + 1] > g->edge_first[i];
        g->begins[i] = i == 0 || !led_to || is_entry(g->loops, &g->loops->instrs.items[g->first + i].place);
        if (g->begins[i])
            walk(g, &s, i, seen, &done);
    }
    for (uint32_t i = 0; i < g->count; i++) { /* circles that nothing leads into */
        g->begins[i] = g->begins[i] || !seen[i];
        walk(g, &s, i, seen, &done);
    }
    for (uint32_t i = 0; i < done / 2; i++) {
        uint32_t other = g->sorted[i];
        g->sorted[i] = g->sorted[done - 1 - i];
        g->sorted[done - 1 - i] = other;
    }
    g->reached = done;
    for (uint32_t i = 0; i < done; i++)
        g->order[g->sorted[i]] = i + 1;
    mem_free(seen);
    mem_free(s.by_from);
    mem_free(s.first);
}

/* Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm. Numbers are those of reverse postorder; 0 is the
   outside, from where all beginnings are reached. */
static uint32_t common_dominator(struct graph *g, uint32_t a, uint32_t b)
{
    for (; a != b; g->steps++) {
        if (a > b)
            a = g->dominator[g->sorted[a - 1]];
        else
            b = g->dominator[g->sorted[b - 1]];
    }
    return a;
}

static uint32_t dominator_now(struct graph *g, uint32_t i)
{
    uint32_t dominator = g->begins[i] ? 0 : UINT32_MAX;
    for (uint32_t e = g->edge_first[i]; e < g->edge_first[i + 1] && dominator != 0; e++) {
        uint32_t from = g->edges.items[e].from;
        if (g->dominator[from] != UINT32_MAX)
            dominator = dominator == UINT32_MAX ? g->order[from] : common_dominator(g, dominator, g->order[from]);
    }
    return dominator == UINT32_MAX ? 0 : dominator;
}

/* false: the graph is of a kind that takes too long; no compiler makes one. */
static bool find_dominators(struct graph *g)
{
    enum { STEPS_PER_INSTR = 1000 };
    for (uint32_t i = 0; i < g->count; i++)
        g->dominator[i] = UINT32_MAX;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < g->reached; k++) {
            uint32_t i = g->sorted[k], dominator = dominator_now(g, i);
            changed = changed || dominator != g->dominator[i];
            g->dominator[i] = dominator;
            if (g->steps++ > (uint64_t)STEPS_PER_INSTR * (g->count + 1000))
                return false;
        }
    }
    return true;
}

/* Preorder of the dominator tree, from its sizes: a dominator's number is below those of what it dominates. */
static void number_dominated(struct graph *g)
{
    uint32_t *next = mem_calloc(g->reached + 2, sizeof *next);
    for (uint32_t k = 0; k <= g->reached; k++)
        g->inside_end[k] = 1;
    for (uint32_t k = g->reached; k > 0; k--)
        g->inside_end[g->dominator[g->sorted[k - 1]]] += g->inside_end[k];
    next[0] = 1;
    for (uint32_t k = 1; k <= g->reached; k++) {
        uint32_t up = g->dominator[g->sorted[k - 1]];
        g->inside[k] = next[up];
        next[up] += g->inside_end[k];
        next[k] = g->inside[k] + 1;
        g->inside_end[k] += g->inside[k];
    }
    mem_free(next);
}

static bool dominates(const struct graph *g, uint32_t a, uint32_t b)
{
    uint32_t x = g->order[a], y = g->order[b];
    return g->inside[x] <= g->inside[y] && g->inside[y] < g->inside_end[x];
}

/* ---- what is said of the loops ----------------------------------------------------------------------------------- */

struct loop_events {
    uint32_t iterations, entries;
};

static void add_loop(const struct graph *g, uint32_t header, uint64_t back, const struct loop_events *events)
{
    const struct instr *i = &g->loops->instrs.items[g->first + header];
    struct hpcprof_count count = {
        .thread = i->place.thread, .context = i->context, .event = events->iterations, .value = i->count};
    hpcprof_add_count(g->loops->into, &count);
    count.event = events->entries;
    count.value = i->count > back ? i->count - back : 0;
    if (count.value)
        hpcprof_add_count(g->loops->into, &count);
}

static void say_loops(const struct graph *g, const struct loop_events *events)
{
    for (uint32_t i = 0; i < g->count; i++) {
        struct loop loop = {.header = g->first + i};
        uint64_t back = 0;
        for (uint32_t e = g->edge_first[i]; e < g->edge_first[i + 1]; e++) {
            const struct edge *edge = &g->edges.items[e];
            if (!dominates(g, i, edge->from))
                continue;
            back += edge->count;
            if (edge->jump == NO_JUMP)
                loop.next_is_back = true;
            else
                g->loops->jump_of.items[g->loops->jumps.items[edge->jump].id].count = 1;
        }
        if (back) {
            add_loop(g, i, back, events);
            *vec_push(&g->loops->loops) = loop;
        }
    }
}

static void read_function(struct instr_loops *l, uint32_t first, uint32_t count, const struct edge *jumps,
                          size_t jump_count, const struct loop_events *events)
{
    struct graph g = {.loops = l, .first = first, .count = count};
    g.order = mem_calloc(count + 1, sizeof *g.order);
    g.sorted = mem_calloc(count + 1, sizeof *g.sorted);
    g.dominator = mem_calloc(count + 1, sizeof *g.dominator);
    g.inside = mem_calloc(count + 2, sizeof *g.inside);
    g.inside_end = mem_calloc(count + 2, sizeof *g.inside_end);
    g.edge_first = mem_calloc(count + 2, sizeof *g.edge_first);
    g.begins = mem_calloc(count + 1, sizeof *g.begins);
    for (size_t i = 0; i < jump_count; i++)
        *vec_push(&g.edges) = (struct edge){jumps[i].from - first, jumps[i].to - first, jumps[i].jump, jumps[i].count};
    add_next_edges(&g);
    vec_sort(&g.edges, compare_edges);
    for (size_t i = 0; i < g.edges.count; i++)
        g.edge_first[g.edges.items[i].to + 1]++;
    for (uint32_t i = 0; i < count; i++)
        g.edge_first[i + 1] += g.edge_first[i];
    number_instrs(&g);
    if (find_dominators(&g)) {
        number_dominated(&g);
        say_loops(&g, events);
    }
    mem_free(g.inside);
    mem_free(g.inside_end);
    vec_release(&g.edges);
    mem_free(g.order);
    mem_free(g.sorted);
    mem_free(g.dominator);
    mem_free(g.edge_first);
    mem_free(g.begins);
}

static uint32_t add_event(struct hpcprof *into, const char *name, const char *description)
{
    struct hpcprof_event event = {.name = strtab_add(into->strings, name),
                                  .description = strtab_add(into->strings, description),
                                  .unit = strtab_add(into->strings, "times")};
    return hpcprof_add_event(into, &event);
}

static void note_jump(struct instr_loops *l, uint32_t id, const struct edge *edge)
{
    while (l->jump_of.count <= id)
        *vec_push(&l->jump_of) = (struct edge){.from = NO_JUMP};
    l->jump_of.items[id] = (struct edge){edge->from, edge->to, edge->jump, 0};
}

bool instr_loops_finish(struct instr_loops *l, const char *name, struct warnings *warnings)
{
    struct VEC(struct edge) edges = {0};
    uint64_t lost = 0;
    if (l->jumps.count == 0 || l->instrs.count == 0)
        return false;
    struct loop_events events = {
        add_event(l->into, "loop iterations", "number of executions of the loop's first instruction"),
        add_event(l->into, "loop entries", "number of entries of the loop")};
    unite(l);
    for (size_t i = 0; i < l->jumps.count; i++) {
        const struct jump *j = &l->jumps.items[i];
        struct instr_place to = j->place;
        to.address = j->to;
        uint32_t from_index = find(l, j->place), to_index = find(l, to);
        if (from_index == UINT32_MAX || to_index == UINT32_MAX) {
            lost++;
            continue;
        }
        struct edge edge = {from_index, to_index, (uint32_t)i, j->count};
        note_jump(l, j->id, &edge);
        *vec_push(&edges) = edge;
        l->instrs.items[to_index].jumped_to += j->count;
    }
    vec_sort(&edges, compare_edges);
    size_t at = 0;
    for (uint32_t first = 0, end; first < l->instrs.count; first = end) {
        for (end = first + 1;
             end < l->instrs.count && same_function(&l->instrs.items[first].place, &l->instrs.items[end].place);)
            end++;
        size_t begin = at;
        while (at < edges.count && edges.items[at].to < end)
            at++;
        if (at > begin)
            read_function(l, first, end - first, edges.items + begin, at - begin, &events);
    }
    if (lost)
        warnings_add(
            warnings,
            "%s: %llu of %llu recorded jumps cross function boundaries; loops formed by such jumps cannot be detected",
            name, (unsigned long long)lost, (unsigned long long)l->jumps.count);
    vec_release(&edges);
    return l->loops.count != 0;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static struct part *part_at(struct instr_loops *l, uint32_t instr)
{
    while (l->part.count < l->instrs.count)
        *vec_push(&l->part) = (struct part){0};
    return &l->part.items[instr];
}

void instr_loops_part_executed(struct instr_loops *l, uint32_t id, uint64_t count)
{
    uint32_t instr = id < l->instr_of.count ? l->instr_of.items[id] : UINT32_MAX;
    if (instr != UINT32_MAX)
        part_at(l, instr)->count += count;
}

void instr_loops_part_jump(struct instr_loops *l, uint32_t id, uint64_t count)
{
    const struct edge *jump = id < l->jump_of.count ? &l->jump_of.items[id] : NULL;
    if (!jump || jump->from == NO_JUMP)
        return;
    struct part *p = part_at(l, jump->to);
    p->jumped_to += count;
    p->back += jump->count ? count : 0;
}

/* Welford's way to mean and spread. */
static void add_trips(struct loop *loop, double trips)
{
    loop->least = loop->parts == 0 || trips < loop->least ? trips : loop->least;
    loop->most = loop->parts == 0 || trips > loop->most ? trips : loop->most;
    loop->parts++;
    double from_mean = trips - loop->mean;
    loop->mean += from_mean / (double)loop->parts;
    loop->squares += from_mean * (trips - loop->mean);
}

/* A part that only goes on with a loop that an earlier one entered says nothing of its trips. */
void instr_loops_part_end(struct instr_loops *l)
{
    for (size_t i = 0; i < l->loops.count; i++) {
        struct loop *loop = &l->loops.items[i];
        const struct part *p = part_at(l, loop->header);
        uint64_t back = p->back;
        if (loop->next_is_back && p->count > p->jumped_to)
            back += p->count - p->jumped_to;
        if (p->count > back)
            add_trips(loop, (double)p->count / (double)(p->count - back));
    }
    if (l->part.count)
        memset(l->part.items, 0, l->part.count * sizeof *l->part.items);
}

int instr_loops_say_parts(struct instr_loops *l, struct err *err)
{
    static const struct table_column columns[] = {
        {.name = "loop", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
        {.name = "thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_KEY},
        {.name = "parts", .title = "parts with entries", .type = TABLE_COUNT, .merge = TABLE_SUM},
        {.name = "least", .title = "minimum trip count", .type = TABLE_NUMBER, .merge = TABLE_MIN},
        {.name = "mean", .title = "mean trip count", .type = TABLE_NUMBER, .merge = TABLE_LAST},
        {.name = "most", .title = "maximum trip count", .type = TABLE_NUMBER, .merge = TABLE_MAX},
        {.name = "spread", .title = "standard deviation", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    };
    static const struct table_decl decl = {"trip_counts", "Trip counts",
                                           "Trip counts of loops in the parts of the profile.", columns,
                                           ARRAY_SIZE(columns)};
    struct table *t;
    if (table_list_declare(&l->into->tables, &decl, l->into->strings, &t, err) < 0)
        return -1;
    for (size_t i = 0; i < l->loops.count; i++) {
        const struct loop *loop = &l->loops.items[i];
        const struct instr *header = &l->instrs.items[loop->header];
        double spread = loop->parts > 1 ? sqrt(loop->squares / (double)(loop->parts - 1)) : 0;
        if (loop->parts)
            table_add(t, (union table_cell[]){{.row = header->context},
                                              {.row = header->place.thread},
                                              {.count = loop->parts},
                                              {.number = loop->least},
                                              {.number = loop->mean},
                                              {.number = loop->most},
                                              {.number = spread}});
    }
    return 0;
}
