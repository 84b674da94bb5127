/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The minimal cost of an iteration, by each of the possible limits:
 *
 *   front end   its uops / how many the core takes in a cycle
 *   ports       for every set of ports: the uops that can go nowhere else / how many ports that are
 *   divider     cycles that divisions keep it busy: it works on one at a time
 *   chains      latencies along values that come from the iteration before; over several, the mean. Less by what entries
 *               of the loop overlap, where it is known how many iterations they have
 *
 * The same idea as in Mendis' and others' models and in MAQAO's: a bound, and not a simulation. Chains are found as the
 * largest mean of a cycle in the graph of values that pass from one iteration to the next (registers, and stores that
 * a later iteration loads).
 */
#include "quality/body/body.h"

#include <math.h>

/* ---- uops ---------------------------------------------------------------------------- */

struct uses { /* uops by the set of ports they may take */
    uint16_t sets[48];
    double uops[48];
    size_t count;
};

static void use_ports(struct uses *u, uint16_t set, double n)
{
    size_t i = 0;
    while (i < u->count && u->sets[i] != set)
        i++;
    if (i == ARRAY_SIZE(u->sets) || set == 0)
        return;
    if (i == u->count) {
        u->sets[u->count] = set;
        u->uops[u->count++] = 0;
    }
    u->uops[i] += n;
}

static void use_cost(struct uses *u, const struct cost *c, unsigned width)
{
    for (int i = 0; i < UOPS_MAX && c->uops[width][i]; i++)
        use_ports(u, c->uops[width][i], 1);
}

/* The set of ports with the most uops that can go nowhere else for each of its ports. Unions of the sets in use are
   enough to look at; beyond a dozen different sets, each set and the union of all. */
static double busiest(const struct uses *u)
{
    double most = 0;
    size_t n = u->count > 12 ? 12 : u->count;
    for (uint32_t chosen = 1; chosen < 1u << n; chosen++) {
        uint16_t set = 0;
        double inside = 0;
        for (size_t i = 0; i < n; i++)
            set |= chosen >> i & 1 ? u->sets[i] : 0;
        for (size_t i = 0; i < u->count; i++)
            inside += (u->sets[i] & ~set) == 0 ? u->uops[i] : 0;
        double cycles = inside / __builtin_popcount(set);
        most = cycles > most ? cycles : most;
    }
    return most;
}

static bool has_own_work(const struct step *s)
{
    return s->cost != COST_LOAD && s->cost != COST_STORE;
}

static unsigned width_index(unsigned bytes)
{
    return bytes > 32 ? 2 : bytes > 16 ? 1 : 0;
}

static unsigned width_of_access(const struct body *b, const struct insn_memory *m)
{
    return width_index(quality_memory_size(m, b->machine));
}

static const struct cost *cost_of_store(const struct body *b, const struct insn_memory *m)
{
    return &b->machine->costs[m->index < ARCH_REGS ? COST_STORE_INDEXED : COST_STORE];
}

/* widen: bytes of the vectors that its data would be; 0: as it is */
static void use_memory(const struct body *b, const struct step *s, unsigned widen, struct uses *memory)
{
    const struct cost *costs = b->machine->costs;
    for (uint8_t i = 0; i < s->f.memory_count; i++) {
        const struct insn_memory *m = &s->f.memory[i];
        unsigned width = widen ? width_index(widen) : width_of_access(b, m);
        if (m->vector_index)
            continue;
        if (m->reads && s->f.class != CLASS_PREFETCH)
            use_cost(memory, &costs[COST_LOAD], width);
        if (m->writes)
            use_cost(memory, cost_of_store(b, m), width);
    }
    if (s->f.class == CLASS_PREFETCH)
        use_cost(memory, &costs[COST_LOAD], 0);
}

bool bounds_fuses(const struct body *b, const struct step *s, const struct step *next)
{
    if (!b->machine->fuses || !s->f.writes.flags || s->f.class == CLASS_CONTROL)
        return false;
    bool simple = s->f.class == CLASS_COMPARE || s->f.class == CLASS_ADD || s->f.class == CLASS_LOGIC;
    bool no_vectors = (s->f.reads.vector | s->f.writes.vector | s->f.reads.mask | s->f.writes.mask) == 0;
    bool compares_memory_with_constant = s->f.memory_count && s->f.has_constant;
    return simple && no_vectors && !compares_memory_with_constant && next->f.insn.kind == INSN_BRANCH;
}

static bool fuses_with_next(const struct body *b, size_t i)
{
    return i + 1 < b->path.count && bounds_fuses(b, path_step(b, i), path_step(b, i + 1));
}

static unsigned count_uops(const struct cost *c, unsigned width)
{
    unsigned n = 0;
    while (n < UOPS_MAX && c->uops[width][n])
        n++;
    return n;
}

/* Sent to the uop queue as one, and on from there as two: three registers and an index are too many for one. */
static bool is_split(const struct body *b, const struct step *s)
{
    bool indexed =
        s->f.memory_count && s->f.memory[0].reads && s->f.memory[0].index < ARCH_REGS && !s->f.memory[0].vector_index;
    return b->machine->splits_indexed && indexed && has_own_work(s) && step_is_avx(s);
}

unsigned bounds_uops(const struct body *b, const struct step *s)
{
    unsigned own =
        has_own_work(s) && !cost_is_free(b, s) ? count_uops(&b->machine->costs[s->cost], cost_width(b, s)) : 1;
    if (own == 0)
        own = 1;
    if (s->cost == COST_GATHER || s->cost == COST_SCATTER)
        own += b->machine->costs[s->cost].per_element ? (unsigned)step_elements(s, b->machine) : 0;
    if (has_own_work(s) && s->f.memory_count && s->f.memory[0].writes && !s->f.memory[0].vector_index)
        own++; /* and the store's */
    return own + is_split(b, s);
}

static void write_ports(struct buf *out, const uint16_t *uops)
{
    for (int i = 0; i < UOPS_MAX && uops[i]; i++) {
        buf_str(out, out->len ? " " : "");
        for (unsigned port = 0; port < PORTS_MAX; port++)
            if (uops[i] >> port & 1)
                buf_char(out, "0123456789abcdef"[port]);
    }
}

void bounds_ports(const struct body *b, const struct step *s, struct buf *out)
{
    const struct cost *costs = b->machine->costs;
    buf_str(out, "");
    if (has_own_work(s) && !cost_is_free(b, s))
        write_ports(out, costs[s->cost].uops[cost_width(b, s)]);
    for (uint8_t i = 0; i < s->f.memory_count; i++) {
        const struct insn_memory *m = &s->f.memory[i];
        unsigned width = width_of_access(b, m);
        if (m->reads && !m->vector_index)
            write_ports(out, costs[COST_LOAD].uops[width]);
        if (m->writes && !m->vector_index)
            write_ports(out, cost_of_store(b, m)->uops[width]);
    }
}

/* Ports, memory and divider. widen: the loop's calculations and data in vectors of so many bytes, at the core's cost
   for those (some do a wide operation in two halves); 0: as they are. Returns the uops of the front end. */
static double find_resources(const struct body *b, unsigned widen, double cycles[BOUNDS])
{
    struct uses work = {0}, memory = {0};
    double busy = 0, uops = 0;
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *s = path_step(b, i);
        const struct cost *c = &b->machine->costs[s->cost];
        unsigned wide = widen && (step_calculates(s) || s->f.writes.vector) ? widen : 0;
        unsigned width = wide ? width_index(wide) : cost_width(b, s);
        use_memory(b, s, wide, &memory);
        if (!fuses_with_next(b, i)) {
            uops += bounds_uops(b, s);
            if (has_own_work(s) && !cost_is_free(b, s))
                use_cost(&work, c, width);
        }
        if (c->per_element && s->f.memory_count)
            use_ports(&memory, c->per_element, step_elements(s, b->machine));
        busy += (double)c->busy[width];
    }
    cycles[BOUND_FRONT_END] = uops / b->machine->issue;
    if (cycles[BOUND_FRONT_END] < (double)b->machine->taken)
        cycles[BOUND_FRONT_END] = (double)b->machine->taken;
    /* Calculations and memory share ports on some cores: the larger of the two alone, and both together. */
    cycles[BOUND_PORTS] = busiest(&work);
    cycles[BOUND_MEMORY] = busiest(&memory);
    cycles[BOUND_DIVIDER] = busy;
    for (size_t i = 0; i < memory.count; i++)
        use_ports(&work, memory.sets[i], memory.uops[i]);
    double both = busiest(&work);
    if (both > cycles[BOUND_PORTS] && both > cycles[BOUND_MEMORY])
        cycles[BOUND_PORTS] = both;
    return uops;
}

/* ---- data from memory -------------------------------------------------------------------- */

/* Bytes of the lines that the reference brings in an iteration, if none of it is in a cache. */
static double bytes_brought(const struct body *b, const struct ref *r)
{
    double line = b->machine->line;
    switch (r->stride) {
    case STRIDE_NONE:
        return 0;
    case STRIDE_ONE:
    case STRIDE_MORE:
        return r->runtime || llabs(r->moves) > line ? line : (double)llabs(r->moves);
    default:
        return line;
    }
}

static bool same_data(const struct ref *a, const struct ref *b)
{
    return a->stride == b->stride && a->known && b->known && quality_form_same_terms(&a->form, &b->form);
}

static double from_memory(const struct body *b)
{
    double bytes = 0;
    for (size_t i = 0; i < b->refs.count; i++) {
        bool again = b->refs.items[i].stack;
        for (size_t k = 0; k < i && !again; k++)
            again = same_data(&b->refs.items[k], &b->refs.items[i]);
        bytes += again ? 0 : bytes_brought(b, &b->refs.items[i]);
    }
    return bytes / QUALITY_MEMORY_BYTES;
}

/* ---- chains ----------------------------------------------------------------------------- */

/* Places of values: general registers, vectors, masks, flags; then loads whose bytes an earlier iteration stored. */
enum {
    AT_VECTOR = 32,
    AT_MASK = 64,
    AT_FLAGS = 80,
    AT_MEMORY = 81,
    MEMORY_LINKS = 24,
    VALUES = AT_MEMORY + MEMORY_LINKS
};

struct link {             /* a store, and a load of the same bytes `distance` iterations later; 0: in the same one */
    uint32_t store, load; /* on the path */
    uint32_t distance;
    bool stack;
};

struct edge { /* from a value at the beginning of an iteration to one `distance` iterations later */
    uint16_t from, to;
    uint32_t distance;
    double cycles;
};

#define APART (-1e30)

static bool depends(double at)
{
    return at > APART / 2;
}

struct arrival {   /* of a value */
    double at;     /* cycles, counted from the value we follow; APART: does not depend on it */
    uint32_t step; /* of the path, that made it; FOLLOWED: it is the value we follow */
};
#define FOLLOWED UINT32_MAX

struct chains {
    const struct body *b;
    struct link links[MEMORY_LINKS];
    size_t link_count;
    struct VEC(struct edge) edges;
    struct arrival ready[VALUES];
    uint8_t maker[VALUES];      /* cost kind of the producer */
    uint8_t last_maker[VALUES]; /* of the last producer in an iteration */
    struct arrival stored[MEMORY_LINKS];
    uint32_t *after; /* by step of the path: the operand that arrives last; NULL: not needed */
};

static uint32_t iterations_between(const struct ref *store, const struct ref *load)
{
    if (!store->known || !load->known || store->moves != load->moves ||
        !quality_form_same_terms(&store->form, &load->form))
        return UINT32_MAX;
    int64_t apart = store->form.add - load->form.add;
    if (apart == 0)
        return load->step > store->step ? 0 : store->moves == 0 ? 1 : UINT32_MAX;
    if (store->moves == 0 || apart % store->moves != 0)
        return UINT32_MAX;
    int64_t k = apart / store->moves;
    return k > 0 && k < 64 ? (uint32_t)k : UINT32_MAX;
}

static void find_links(struct chains *c)
{
    const struct body *b = c->b;
    for (size_t i = 0; i < b->refs.count; i++) {
        const struct ref *store = &b->refs.items[i];
        if (!path_step(b, store->step)->f.memory[store->operand].writes)
            continue;
        for (size_t k = 0; k < b->refs.count && c->link_count < MEMORY_LINKS; k++) {
            const struct ref *load = &b->refs.items[k];
            if (!path_step(b, load->step)->f.memory[load->operand].reads)
                continue;
            uint32_t distance = iterations_between(store, load);
            if (distance != UINT32_MAX)
                c->links[c->link_count++] = (struct link){store->step, load->step, distance, store->stack};
        }
    }
}

static const struct arrival never = {APART, FOLLOWED};

static void reset(struct chains *c)
{
    for (size_t i = 0; i < VALUES; i++)
        c->ready[i] = never;
    for (size_t i = 0; i < MEMORY_LINKS; i++)
        c->stored[i] = never;
}

static struct arrival later(struct arrival a, struct arrival b)
{
    return b.at > a.at ? b : a;
}

static struct arrival plus(struct arrival a, double cycles)
{
    a.at += depends(a.at) ? cycles : 0;
    return a;
}

/* When a register's value is there for a consumer of that kind. */
static struct arrival ready_for(const struct chains *c, unsigned value, uint8_t consumer)
{
    struct arrival a = c->ready[value];
    if (depends(a.at) && c->maker[value] == consumer && consumer < COST_KINDS_COUNT) {
        const struct cost *k = &c->b->machine->costs[consumer];
        if (k->chain > 0 && k->chain < k->latency)
            a.at -= (double)(k->latency - k->chain);
    }
    return a;
}

static struct arrival latest(const struct chains *c, const struct reg_set *set, uint32_t general, uint8_t consumer)
{
    struct arrival a = never;
    for (uint32_t r = general; r; r &= r - 1)
        a = later(a, ready_for(c, (unsigned)__builtin_ctz(r), consumer));
    for (uint32_t r = set->vector; r; r &= r - 1)
        a = later(a, ready_for(c, AT_VECTOR + (unsigned)__builtin_ctz(r), consumer));
    for (uint32_t r = set->mask; r; r &= r - 1)
        a = later(a, ready_for(c, AT_MASK + (unsigned)__builtin_ctz(r), consumer));
    return set->flags ? later(a, c->ready[AT_FLAGS]) : a;
}

static void set_ready(struct chains *c, const struct reg_set *set, uint32_t general, struct arrival at, uint8_t maker)
{
    for (uint32_t r = general; r; r &= r - 1) {
        c->ready[__builtin_ctz(r)] = at;
        c->maker[__builtin_ctz(r)] = maker;
    }
    for (uint32_t r = set->vector; r; r &= r - 1) {
        c->ready[AT_VECTOR + __builtin_ctz(r)] = at;
        c->maker[AT_VECTOR + __builtin_ctz(r)] = maker;
    }
    for (uint32_t r = set->mask; r; r &= r - 1)
        c->ready[AT_MASK + __builtin_ctz(r)] = at;
    if (set->flags)
        c->ready[AT_FLAGS] = at;
}

static uint32_t address_registers(const struct step *s)
{
    uint32_t set = 0;
    for (uint8_t i = 0; i < s->f.memory_count; i++) {
        const struct insn_memory *m = &s->f.memory[i];
        set |= m->base < 32 ? 1u << m->base : 0;
        set |= m->index < 32 && !m->vector_index ? 1u << m->index : 0;
    }
    return set;
}

static uint32_t updated_bases(const struct step *s)
{
    uint32_t set = 0;
    for (uint8_t i = 0; i < s->f.memory_count; i++)
        set |= s->f.memory[i].updates && s->f.memory[i].base < 32 ? 1u << s->f.memory[i].base : 0;
    return set;
}

static double forwarding(const struct chains *c, const struct link *l)
{
    return (double)(l->stack ? c->b->machine->forward_stack : c->b->machine->forward);
}

/* Dependence of the load at i on stores before it in the iteration, and on earlier ones. */
static struct arrival handed_over(const struct chains *c, size_t i)
{
    struct arrival a = never;
    for (size_t k = 0; k < c->link_count; k++) {
        const struct link *l = &c->links[k];
        if (l->load == i)
            a = later(a, l->distance == 0 ? plus(c->stored[k], forwarding(c, l)) : c->ready[AT_MEMORY + k]);
    }
    return a;
}

/* Operands of the step at i. */
static struct arrival operands_of(const struct chains *c, size_t i, uint32_t in_address)
{
    const struct step *s = path_step(c->b, i);
    static const struct reg_set nothing;
    bool reads = false;
    for (uint8_t k = 0; k < s->f.memory_count; k++)
        reads |= s->f.memory[k].reads;
    struct reg_set read = s->f.reads;
    if (s->cost == COST_GATHER) /* the old value of its destination is needed last, and its mask keeps nothing of it */
        read.vector &= ~s->f.writes.vector;
    struct arrival a = latest(c, &read, read.general & ~in_address, s->cost);
    if (reads) {
        a = later(a, plus(latest(c, &nothing, in_address, COST_LOAD), cost_load_latency(c->b, s)));
        a = later(a, handed_over(c, i));
    }
    return a;
}

static void follow_step(struct chains *c, size_t i)
{
    const struct step *s = path_step(c->b, i);
    uint32_t in_address = address_registers(s), updated = updated_bases(s);
    static const struct reg_set nothing;
    struct arrival base = updated ? latest(c, &nothing, updated, COST_INT) : never;
    if (s->f.memory_count == 0 && s->f.class == CLASS_PREFETCH)
        return;
    struct arrival at = operands_of(c, i, in_address), done = plus(at, cost_latency(c->b, s));
    if (c->after)
        c->after[i] = depends(at.at) ? at.step : depends(base.at) ? base.step : FOLLOWED;
    done.step = base.step = (uint32_t)i;
    bool calls = s->f.insn.kind == INSN_CALL || s->f.insn.kind == INSN_CALL_INDIRECT;
    if (calls)
        done = never;
    for (size_t k = 0; k < c->link_count; k++)
        if (c->links[k].store == i)
            c->stored[k] = done;
    set_ready(c, &s->f.writes, s->f.writes.general & ~updated, done, s->cost);
    if (updated)
        set_ready(c, &nothing, updated, plus(base, 1), COST_INT);
    if (calls)
        for (unsigned r = 0; r < VALUES; r++)
            if (r >= 32 || (c->b->code->arch->detail->call_clobbers >> r & 1))
                c->ready[r] = never;
}

/* All values at the end of the iteration that depend on this one. */
static void follow(struct chains *c, unsigned value)
{
    reset(c);
    c->ready[value].at = 0;
    memset(c->maker, COST_KINDS_COUNT, sizeof c->maker);
    c->maker[value] = c->last_maker[value]; /* in the iteration before */
    for (size_t i = 0; i < c->b->path.count; i++)
        follow_step(c, i);
}

static void add_edges(struct chains *c, unsigned value)
{
    follow(c, value);
    for (unsigned to = 0; to < AT_MEMORY; to++)
        if (depends(c->ready[to].at))
            *vec_push(&c->edges) = (struct edge){(uint16_t)value, (uint16_t)to, 1, c->ready[to].at};
    for (size_t k = 0; k < c->link_count; k++)
        if (c->links[k].distance > 0 && depends(c->stored[k].at))
            *vec_push(&c->edges) = (struct edge){(uint16_t)value, (uint16_t)(AT_MEMORY + k), c->links[k].distance,
                                                 c->stored[k].at + forwarding(c, &c->links[k])};
}

/* Values that are read before they are written, and written: those that may be carried to the next iteration. */
static void carried_values(const struct body *b, struct reg_set *carried)
{
    struct reg_set written = {0}, first = {0};
    for (size_t i = 0; i < b->path.count; i++) {
        const struct insn_facts *f = &path_step(b, i)->f;
        first.general |= f->reads.general & ~written.general;
        first.vector |= f->reads.vector & ~written.vector;
        first.mask |= (uint16_t)(f->reads.mask & ~written.mask);
        first.flags |= f->reads.flags && !written.flags;
        written.general |= f->writes.general;
        written.vector |= f->writes.vector;
        written.mask |= f->writes.mask;
        written.flags |= f->writes.flags;
    }
    *carried = (struct reg_set){.general = first.general & written.general,
                                .vector = first.vector & written.vector,
                                .mask = first.mask & written.mask,
                                .flags = first.flags && written.flags};
}

/* The largest mean cycles/distance of a ring of edges: beginning with 0, as long as there is a ring that is longer, that
   ring's mean (Bellman and Ford, which see a positive ring when they do not come to rest). ring: the edges of the
   longest. */
struct ring {
    size_t edges[VALUES], count;
};
enum through { THROUGH_GENERAL /* registers and flags alone */, THROUGH_REGISTERS, THROUGH_MEMORY };
static bool goes_through(const struct edge *e, enum through most)
{
    unsigned from = e->from, to = e->to;
    bool memory = from >= AT_MEMORY || to >= AT_MEMORY;
    bool vector = (from >= AT_VECTOR && from < AT_FLAGS) || (to >= AT_VECTOR && to < AT_FLAGS);
    return (!memory || most == THROUGH_MEMORY) && (!vector || most != THROUGH_GENERAL);
}

static double largest_mean(const struct edge *edges, size_t n, enum through most, struct ring *ring)
{
    double mean = 0;
    ring->count = 0;
    for (int round = 0; round < 64; round++) {
        double far[VALUES] = {0};
        int by[VALUES];
        int last = -1;
        memset(by, -1, sizeof by);
        for (int pass = 0; pass <= VALUES; pass++) {
            last = -1;
            for (size_t i = 0; i < n; i++) {
                const struct edge *e = &edges[i];
                if (!goes_through(e, most))
                    continue;
                double longer = far[e->from] + e->cycles - mean * e->distance;
                if (longer > far[e->to] + 1e-9) {
                    far[e->to] = longer;
                    by[e->to] = (int)i;
                    last = e->to;
                }
            }
            if (last < 0)
                break;
        }
        if (last < 0)
            return mean;
        for (int i = 0; i < VALUES && by[last] >= 0; i++) /* into the ring */
            last = edges[by[last]].from;
        double cycles = 0, distance = 0;
        struct ring found = {.count = 0};
        int at = last;
        for (int i = 0; i < VALUES && by[at] >= 0; i++) {
            const struct edge *e = &edges[by[at]];
            cycles += e->cycles;
            distance += e->distance;
            found.edges[found.count++] = (size_t)by[at];
            at = e->from;
            if (at == last)
                break;
        }
        if (distance <= 0 || cycles / distance <= mean + 1e-9)
            return mean;
        mean = cycles / distance;
        *ring = found;
    }
    return mean;
}

static void find_last_makers(struct chains *c)
{
    memset(c->last_maker, COST_KINDS_COUNT, sizeof c->last_maker);
    for (size_t i = 0; i < c->b->path.count; i++) {
        const struct step *s = path_step(c->b, i);
        for (uint32_t r = s->f.writes.general; r; r &= r - 1)
            c->last_maker[__builtin_ctz(r)] = s->cost;
        for (uint32_t r = s->f.writes.vector; r; r &= r - 1)
            c->last_maker[AT_VECTOR + __builtin_ctz(r)] = s->cost;
    }
}

static void add_chains(struct chains *c)
{
    struct reg_set carried;
    find_last_makers(c);
    carried_values(c->b, &carried);
    for (uint32_t r = carried.general; r; r &= r - 1)
        add_edges(c, (unsigned)__builtin_ctz(r));
    for (uint32_t r = carried.vector; r; r &= r - 1)
        add_edges(c, AT_VECTOR + (unsigned)__builtin_ctz(r));
    for (uint32_t r = carried.mask; r; r &= r - 1)
        add_edges(c, AT_MASK + (unsigned)__builtin_ctz(r));
    if (carried.flags)
        add_edges(c, AT_FLAGS);
    for (size_t k = 0; k < c->link_count; k++)
        if (c->links[k].distance > 0)
            add_edges(c, AT_MEMORY + (unsigned)k);
}

/* The steps that pass the value on, from the end of each edge of the ring back to its beginning. */
static void mark_ring(struct chains *c, struct body *b, const struct ring *ring)
{
    c->after = mem_alloc((b->path.count + 1) * sizeof *c->after);
    for (size_t i = 0; i < ring->count; i++) {
        const struct edge *e = &c->edges.items[ring->edges[i]];
        follow(c, e->from);
        const struct arrival *end = e->to < AT_MEMORY ? &c->ready[e->to] : &c->stored[e->to - AT_MEMORY];
        for (uint32_t at = end->step; at != FOLLOWED; at = c->after[at])
            path_step(b, at)->chained = true;
    }
    mem_free(c->after);
}

static void find_chains(struct body *b, struct quality_loop *q)
{
    struct chains c = {.b = b};
    struct ring registers, general, memory = {.count = 0};
    find_links(&c);
    add_chains(&c);
    q->cycles[BOUND_CHAIN] = largest_mean(c.edges.items, c.edges.count, THROUGH_REGISTERS, &registers);
    q->chain_general = largest_mean(c.edges.items, c.edges.count, THROUGH_GENERAL, &general);
    double all = c.link_count ? largest_mean(c.edges.items, c.edges.count, THROUGH_MEMORY, &memory) : 0;
    q->cycles[BOUND_STORE_CHAIN] = all > q->cycles[BOUND_CHAIN] ? all : 0;
    mark_ring(&c, b, all > q->cycles[BOUND_CHAIN] ? &memory : &registers);
    vec_release(&c.edges);
}

/* ---- what if -------------------------------------------------------------------------------- */

static double largest(const double *cycles)
{
    double most = 0;
    for (int i = 0; i < BOUNDS; i++)
        most = cycles[i] > most ? cycles[i] : most;
    return most;
}

/* No vectors divide integers. */
static bool divides_integers(const struct body *b)
{
    for (size_t i = 0; i < b->path.count; i++)
        if (path_step(b, i)->f.class == CLASS_DIVIDE && path_step(b, i)->f.type == NUMBER_INTEGER)
            return true;
    return false;
}

/* If some operations could be in vectors of so many bytes: each of these does the work of several iterations, except
   for chains that are not reductions. */
static double if_vectorized(const struct body *b, const struct quality_loop *q, unsigned bytes)
{
    double cycles[BOUNDS], used = q->vector_efficiency[MIX_ALL] * b->machine->vector / bytes;
    if (isnan(used) || used >= 0.999 || q->calls)
        return NAN;
    memcpy(cycles, q->cycles, sizeof cycles);
    find_resources(b, bytes, cycles);
    for (int i = 0; i < BOUNDS; i++)
        if (i != BOUND_STORE_CHAIN && (i != BOUND_DIVIDER || !divides_integers(b)))
            cycles[i] *= used; /* chains of sums too; others keep their latency, and cannot be vectorized */
    return largest(cycles);
}

/* Bytes of the vectors that the loop was compiled for, as its instructions show: without AVX's encodings 16 on x86-64. */
static unsigned compiled_width(const struct body *b)
{
    unsigned widest = 16;
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *s = path_step(b, i);
        unsigned width = step_width(s, b->machine);
        if (step_is_avx(s) && widest < 32)
            widest = 32;
        widest = s->f.packed && width > widest ? width : widest;
    }
    return widest < b->machine->vector ? widest : b->machine->vector;
}

static double if_clean(struct body *b, const struct quality_loop *q)
{
    struct uses work = {0};
    double uops = 0, cycles[BOUNDS];
    if (q->address_share == 0)
        return NAN;
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *s = path_step(b, i);
        if (s->addressing || s->cost == COST_BRANCH)
            continue;
        uops += bounds_uops(b, s);
        if (has_own_work(s) && !cost_is_free(b, s))
            use_cost(&work, &b->machine->costs[s->cost], cost_width(b, s));
    }
    memcpy(cycles, q->cycles, sizeof cycles);
    cycles[BOUND_FRONT_END] = uops / b->machine->issue;
    cycles[BOUND_PORTS] = busiest(&work);
    double least = largest(cycles);
    return least > 0 ? least : NAN; /* nothing but address work: it cannot all go */
}

/* Cost of chains if entries of the loop are as short as that. */
static void overlap_entries(const struct body *b, struct quality_loop *q, double trips)
{
    double chain = q->cycles[BOUND_CHAIN], stored = q->cycles[BOUND_STORE_CHAIN];
    q->trips = trips;
    q->ahead = (double)b->machine->window / (q->uops ? q->uops : 1);
    q->chain_long = chain > stored ? chain : stored;
    q->chain_by = chain > stored ? BOUND_CHAIN : BOUND_STORE_CHAIN;
    if (isnan(trips))
        return;
    q->cycles[BOUND_CHAIN] = quality_with_overlap(chain, 0, q->ahead, trips);
    q->cycles[BOUND_STORE_CHAIN] = quality_with_overlap(stored, 0, q->ahead, trips);
}

void bounds_find(struct body *b, struct quality_loop *q, double trips)
{
    double cycles[BOUNDS];
    q->uops = (uint32_t)find_resources(b, 0, q->cycles);
    find_chains(b, q);
    overlap_entries(b, q, trips);
    q->bound_by = 0;
    for (uint8_t i = 1; i < BOUNDS; i++)
        if (q->cycles[i] > q->cycles[q->bound_by])
            q->bound_by = i;
    q->bound = q->cycles[q->bound_by];
    memcpy(cycles, q->cycles, sizeof cycles);
    cycles[q->bound_by] = 0;
    q->if_next = largest(cycles);
    memcpy(cycles, q->cycles, sizeof cycles);
    cycles[BOUND_CHAIN] = cycles[BOUND_STORE_CHAIN] = 0;
    q->if_no_chain = largest(cycles);
    q->bound_short = isnan(trips) ? q->if_no_chain : q->bound;
    q->if_clean = if_clean(b, q);
    q->if_vectorized = if_vectorized(b, q, b->machine->vector);
    q->if_vectorized_here = if_vectorized(b, q, compiled_width(b));
    q->from_memory = from_memory(b);
}
