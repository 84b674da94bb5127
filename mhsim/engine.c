/*
 * The simulator. An access goes down a chain of levels (caches; TLBs) as far as it misses:
 *
 *     access -> first cache - miss -> second cache - miss -> ... -> memory
 *           \-> first TLB   - miss -> second TLB ...
 *
 * Each level is sets of ways; of a block it knows who brought it in (the owner: it is charged with what becomes of the
 * block), which bytes were touched meanwhile (a bit for each, or for each 64th of a larger block), and who wrote last.
 * What a block learnt in one level is handed to the next when it leaves. Of other cores' private levels a flag at each
 * block says whether they may hold it; only stores to blocks without the flag, and misses, ask the others.
 */
#include "config.h"
#include "mhsim/engine.h"

enum { HINTED_BLOCKS = 1 << 15 };

#define NO_BLOCK  UINT64_MAX
#define NO_SLOT   UINT32_MAX
#define EXCLUSIVE (1u << 31)    /* no other core has the block */
#define FETCHED   (1u << 30)    /* by a prefetcher, and not touched since */
#define WRITER    (FETCHED - 1) /* row + 1 of who wrote last; 0: not changed */

struct block {
    uint64_t used;
    uint32_t owner, state;
};

/* The fully associative LRU level of the same size, for --classify: nodes in a list by age, and chains by hash. */
struct full {
    struct full_node {
        uint64_t block;
        uint32_t older, newer, chain;
    } * nodes;
    uint32_t *heads;
    uint32_t capacity, count, oldest, newest, mask;
};

struct cache {
    uint64_t *tags, *stamps; /* by set x ways + way; stamps: LRU alone */
    struct block *blocks;
    uint64_t *trees; /* by set: PLRU alone; 64 bits of direction, more for more ways */
    uint32_t *hints; /* by hash of a block's number: the slot where it was last; NULL: too many blocks for that */
    uint64_t clock;
    uint32_t line_shift, line_mask, grain_shift, hint_shift;
    uint32_t index, number; /* level; number among all caches */
    bool quick;             /* LRU, write-back, no sets left out: what mhsim_access does by itself */
    struct full full;
};

struct shape {
    uint64_t sets, set_mask; /* mask: 0 where sets is no power of two */
    uint32_t line_shift, grain_shift, ways, tree_words, used_bytes_per_bit;
    uint8_t next, replace, prefetch;
    bool write_through, no_allocate, inclusive, shared;
    bool apart; /* a private cache: other cores' copies of a block lie elsewhere */
};

struct core {
    struct cache *caches[MHSIM_LEVELS];
};

struct mhsim {
    struct mhsim_machine machine;
    struct shape shapes[MHSIM_LEVELS];
    struct store rows, pairs, caches, cores;
    struct map row_of, pair_of, seen, touched;
    struct mhsim_counts sink; /* while quiet */
    uint64_t random, sample_mask;
    uint32_t chains[2], chain_count, levels, asked_cores;
    bool quiet, classify, strides; /* strides: some level's prefetcher wants them */
};

/* ---- making ------------------------------------------------------------------------- */

static unsigned log2_of(uint64_t v)
{
    return 63 - (unsigned)__builtin_clzll(v);
}

static struct shape shape_of(const struct mhsim_level *l)
{
    struct shape s = {.ways = l->ways,
                      .next = l->next,
                      .replace = l->replace,
                      .prefetch = l->prefetch,
                      .write_through = l->write_through,
                      .no_allocate = l->no_allocate,
                      .inclusive = l->inclusive,
                      .shared = l->shared,
                      .apart = !l->shared && !l->tlb};
    s.sets = l->size / ((uint64_t)l->line * l->ways);
    s.set_mask = (s.sets & (s.sets - 1)) == 0 ? s.sets - 1 : 0;
    s.line_shift = log2_of(l->line);
    s.grain_shift = s.line_shift > 6 ? s.line_shift - 6 : 0;
    s.used_bytes_per_bit = 1u << s.grain_shift;
    s.tree_words = (l->ways + 63) / 64;
    return s;
}

static bool full_open(struct full *f, uint64_t blocks)
{
    f->capacity = (uint32_t)blocks;
    f->mask = (1u << (log2_of(blocks) + 1)) - 1;
    f->nodes = pages_get(blocks * sizeof *f->nodes);
    f->heads = pages_get((f->mask + 1ull) * sizeof *f->heads);
    f->oldest = f->newest = NO_SLOT;
    if (!f->nodes || !f->heads)
        return false;
    memset(f->heads, 0xff, (f->mask + 1ull) * sizeof *f->heads);
    return true;
}

static void full_close(struct full *f)
{
    pages_put(f->nodes, f->capacity * sizeof *f->nodes);
    pages_put(f->heads, (f->mask + 1ull) * sizeof *f->heads);
}

static struct cache *cache_make(struct mhsim *s, unsigned level)
{
    const struct shape *h = &s->shapes[level];
    uint64_t blocks = h->sets * h->ways;
    struct cache *c = store_add(&s->caches, 1);
    if (!c)
        return NULL;
    c->index = level;
    c->number = (uint32_t)(*s->caches.count - 1);
    c->tags = pages_get(blocks * sizeof *c->tags);
    c->blocks = pages_get(blocks * sizeof *c->blocks);
    c->stamps = pages_get(blocks * sizeof *c->stamps);
    c->trees = pages_get(h->sets * h->tree_words * sizeof *c->trees);
    if (!c->tags || !c->blocks || !c->stamps || !c->trees || (s->classify && !full_open(&c->full, blocks)))
        return NULL;
    memset(c->tags, 0xff, blocks * sizeof *c->tags);
    c->line_shift = h->line_shift;
    c->line_mask = (1u << h->line_shift) - 1;
    c->grain_shift = h->grain_shift;
    if (blocks <= HINTED_BLOCKS) {
        c->hint_shift = 30 - log2_of(blocks);
        c->hints = pages_get(sizeof *c->hints << (32 - c->hint_shift));
    }
    c->quick = c->hints && h->replace == MHSIM_LRU && !h->write_through && !s->classify && !s->sample_mask;
    return c;
}

static void cache_close(const struct mhsim *s, struct cache *c)
{
    const struct shape *h = &s->shapes[c->index];
    uint64_t blocks = h->sets * h->ways;
    pages_put(c->tags, blocks * sizeof *c->tags);
    pages_put(c->blocks, blocks * sizeof *c->blocks);
    pages_put(c->stamps, blocks * sizeof *c->stamps);
    pages_put(c->trees, h->sets * h->tree_words * sizeof *c->trees);
    if (c->hints)
        pages_put(c->hints, sizeof *c->hints << (32 - c->hint_shift));
    if (c->full.nodes)
        full_close(&c->full);
}

static void find_chains(struct mhsim *s)
{
    for (unsigned tlb = 0; tlb < 2; tlb++)
        for (uint32_t i = 0; i < s->levels; i++)
            if (s->machine.levels[i].tlb == (tlb != 0)) {
                s->chains[s->chain_count++] = i;
                break;
            }
}

struct mhsim *mhsim_create_in(const struct mhsim_machine *m, const struct mhsim_options *o, const struct store *rows,
                              const struct store *pairs)
{
    struct mhsim *s = pages_get(sizeof *s);
    if (!s)
        return NULL;
    s->machine = *m;
    s->levels = m->level_count;
    s->rows = *rows;
    s->pairs = *pairs;
    s->classify = o->classify;
    s->sample_mask = o->sample_sets > 1 ? o->sample_sets - 1 : 0;
    s->random = 0x2545f4914f6cdd1d;
    for (uint32_t i = 0; i < s->levels; i++) {
        s->shapes[i] = shape_of(&m->levels[i]);
        s->strides |= m->levels[i].prefetch == MHSIM_STRIDE;
    }
    find_chains(s);
    if (store_open(&s->caches, sizeof(struct cache), MHSIM_CORES * MHSIM_LEVELS, NULL, 0, NULL) < 0 ||
        store_open(&s->cores, sizeof(struct core), MHSIM_CORES, NULL, 0, NULL) < 0 || !store_add(&s->rows, 1) ||
        !store_add(&s->pairs, 1)) {
        mhsim_free(s);
        return NULL;
    }
    return s;
}

struct mhsim *mhsim_create(const struct mhsim_machine *m, const struct mhsim_options *o)
{
    struct store rows, pairs;
    if (store_open(&rows, sizeof(struct mhsim_row), ROWS_MOST, NULL, 0, NULL) < 0)
        return NULL;
    if (store_open(&pairs, sizeof(struct mhsim_pair), PAIRS_MOST, NULL, 0, NULL) < 0) {
        store_close(&rows);
        return NULL;
    }
    struct mhsim *s = mhsim_create_in(m, o, &rows, &pairs);
    if (s) { /* their counts moved with them */
        s->rows.own_count = s->pairs.own_count = 1;
        s->rows.count = &s->rows.own_count;
        s->pairs.count = &s->pairs.own_count;
    }
    return s;
}

void mhsim_free(struct mhsim *s)
{
    if (!s)
        return;
    for (uint64_t i = 0; s->caches.base && i < *s->caches.count; i++)
        cache_close(s, store_get(&s->caches, i));
    store_close(&s->caches);
    store_close(&s->cores);
    store_close(&s->rows);
    store_close(&s->pairs);
    map_close(&s->row_of);
    map_close(&s->pair_of);
    map_close(&s->seen);
    map_close(&s->touched);
    pages_put(s, sizeof *s);
}

/* Without memory for levels of its own, and beyond the limit, a thread shares those of an earlier one. */
uint32_t mhsim_core(struct mhsim *s)
{
    uint32_t asked = s->asked_cores++;
    uint64_t n = *s->cores.count;
    struct core *core = n < MHSIM_CORES ? store_add(&s->cores, 1) : NULL;
    if (!core)
        return n ? asked % (uint32_t)n : 0;
    const struct core *first = store_get(&s->cores, 0);
    for (uint32_t i = 0; i < s->levels; i++) {
        core->caches[i] = n && s->shapes[i].shared ? first->caches[i] : cache_make(s, i);
        if (!core->caches[i]) {
            --*s->cores.count;
            return n ? asked % (uint32_t)n : UINT32_MAX;
        }
    }
    return (uint32_t)n;
}

uint32_t mhsim_row(struct mhsim *s, uint32_t core, uint64_t code, uint32_t object)
{
    /* User addresses have at most 56 bits; a hash that meets another's is told by the row itself. */
    uint64_t key = map_hash(map_hash(code) ^ ((uint64_t)object << 24) ^ core) & ~(1ull << 63);
    for (;; key = (key + 1) & ~(1ull << 63)) {
        uint64_t *there = map_put(&s->row_of, key);
        if (!there)
            return 0;
        const struct mhsim_row *row = store_get(&s->rows, *there);
        if (*there && row->code == code && row->object == object && row->core == core)
            return (uint32_t)*there;
        if (*there)
            continue;
        struct mhsim_row *fresh = store_add(&s->rows, 1);
        if (!fresh)
            return 0;
        fresh->code = code;
        fresh->object = object;
        fresh->core = core;
        fresh->last_block = NO_BLOCK;
        return (uint32_t)(*there = *s->rows.count - 1);
    }
}

void mhsim_quiet(struct mhsim *s, bool quiet)
{
    s->quiet = quiet;
}

const struct mhsim_row *mhsim_rows(const struct mhsim *s, size_t *count)
{
    *count = *s->rows.count;
    return (const void *)s->rows.base;
}

const struct mhsim_pair *mhsim_pairs(const struct mhsim *s, size_t *count)
{
    *count = *s->pairs.count;
    return (const void *)s->pairs.base;
}

/* ---- an access, for the functions below ------------------------------------------------- */

struct access {
    struct mhsim *s;
    struct core *core;
    struct mhsim_row *row;
    uint32_t row_number;
    uint64_t address; /* within one block of the level it is at */
    uint32_t size;
};

static struct mhsim_counts *counts_of(struct mhsim *s, struct mhsim_row *row, unsigned level)
{
    return __builtin_expect(s->quiet, 0) ? &s->sink : &row->levels[level];
}

static struct mhsim_row *row_at(struct mhsim *s, uint32_t i)
{
    return store_get(&s->rows, i);
}

static uint64_t bytes_mask(const struct shape *h, uint64_t address, uint32_t size)
{
    uint64_t in_block = (1ull << h->line_shift) - 1;
    unsigned first = (unsigned)((address & in_block) >> h->grain_shift);
    unsigned last = (unsigned)(((address + size - 1) & in_block) >> h->grain_shift);
    return (UINT64_MAX >> (63 - (last - first))) << first;
}

static uint64_t set_of(const struct shape *h, uint64_t block)
{
    return h->set_mask || h->sets == 1 ? block & h->set_mask : block % h->sets;
}

static inline uint32_t *hint_of(const struct cache *c, uint64_t block)
{
    return &c->hints[(uint32_t)(block * 0x9e3779b1) >> c->hint_shift];
}

static uint32_t find_slot(const struct shape *h, const struct cache *c, uint64_t block)
{
    if (c->hints && c->tags[*hint_of(c, block)] == block)
        return *hint_of(c, block);
    uint32_t first = (uint32_t)(set_of(h, block) * h->ways), end = first + h->ways;
    for (uint32_t i = first; i < end; i++)
        if (c->tags[i] == block) {
            if (c->hints)
                *hint_of(c, block) = i;
            return i;
        }
    return NO_SLOT;
}

/* ---- replacement -------------------------------------------------------------------------- */

/* The tree of a set lies as a heap lies: node 1 is the root, 2n and 2n + 1 are below n; a bit is the side to take next.
 */
static void plru_touch(const struct shape *h, struct cache *c, uint32_t slot)
{
    uint32_t set = slot / h->ways, way = slot % h->ways;
    uint64_t *tree = &c->trees[(uint64_t)set * h->tree_words];
    for (uint32_t node = way + h->ways; node > 1; node /= 2) {
        uint32_t up = node / 2;
        if (node & 1)
            tree[up / 64] &= ~(1ull << up % 64);
        else
            tree[up / 64] |= 1ull << up % 64;
    }
}

static uint32_t plru_victim(const struct shape *h, const struct cache *c, uint64_t set)
{
    const uint64_t *tree = &c->trees[set * h->tree_words];
    uint32_t node = 1;
    while (node < h->ways)
        node = node * 2 + (tree[node / 64] >> node % 64 & 1);
    return node - h->ways;
}

static void touch_slot(const struct shape *h, struct cache *c, uint32_t slot)
{
    if (h->replace == MHSIM_LRU)
        c->stamps[slot] = ++c->clock;
    else if (h->replace == MHSIM_PLRU)
        plru_touch(h, c, slot);
}

static uint32_t random_way(struct mhsim *s, uint32_t ways)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (uint32_t)(((s->random >> 32) * ways) >> 32);
}

static uint32_t oldest_way(const uint64_t *stamps, uint32_t ways)
{
    uint32_t best = 0;
    uint64_t least = stamps[0];
    for (uint32_t i = 1; i < ways; i++) {
        best = stamps[i] < least ? i : best;
        least = stamps[i] < least ? stamps[i] : least;
    }
    return best;
}

static uint32_t choose_victim(struct mhsim *s, const struct shape *h, const struct cache *c, uint64_t block)
{
    uint64_t set = set_of(h, block);
    uint32_t first = (uint32_t)(set * h->ways);
    if (h->replace == MHSIM_LRU) /* empty ways have stamp 0 */
        return first + oldest_way(&c->stamps[first], h->ways);
    for (uint32_t i = 0; i < h->ways; i++)
        if (c->tags[first + i] == NO_BLOCK)
            return first + i;
    return first + (h->replace == MHSIM_PLRU ? plru_victim(h, c, set) : random_way(s, h->ways));
}

/* ---- who evicts whom ------------------------------------------------------------------------ */

static struct mhsim_pair *pair_of(struct mhsim *s, uint32_t victim, uint32_t evictor, unsigned level)
{
    struct mhsim_row *row = row_at(s, evictor);
    struct mhsim_pair *last = store_get(&s->pairs, row->last_pair[level]);
    if (row->last_pair[level] && last->victim == victim)
        return last;
    uint64_t *there = map_put(&s->pair_of, (uint64_t)level << 40 | (uint64_t)victim << 20 | evictor);
    if (there && !*there) {
        struct mhsim_pair *fresh = store_add(&s->pairs, 1);
        if (!fresh)
            return NULL;
        *fresh = (struct mhsim_pair){.victim = victim, .evictor = evictor, .level = level};
        *there = *s->pairs.count - 1;
    }
    if (!there)
        return NULL;
    row->last_pair[level] = (uint32_t)*there;
    return store_get(&s->pairs, *there);
}

/* Without the processor's own instruction, which not every one has, the compiler would call a function. */
static inline unsigned bits_set(uint64_t v)
{
    if (v == UINT64_MAX)
        return 64;
    v -= v >> 1 & 0x5555555555555555;
    v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
    return (unsigned)(((v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

static void count_eviction(struct mhsim *s, const struct shape *h, unsigned level, const struct block *b,
                           uint32_t evictor, bool invalidation)
{
    struct mhsim_counts *n = counts_of(s, row_at(s, b->owner), level);
    n->evictions++;
    n->invalidated += invalidation;
    n->used += (uint64_t)bits_set(b->used) * h->used_bytes_per_bit;
    if (s->quiet)
        return;
    struct mhsim_pair *pair = pair_of(s, b->owner, evictor, level);
    if (!pair) /* beyond the limit: pair 0 has what is left */
        pair = store_get(&s->pairs, 0);
    pair->count++;
    pair->invalidations += invalidation;
}

/* ---- leaving a level --------------------------------------------------------------------------- */

static void evict(struct mhsim *s, struct core *core, struct cache *c, uint32_t slot, uint32_t evictor,
                  bool invalidation);

/* The cache of this core at a level before `c` that may hold parts of what leaves it. */
static void evict_above_in(struct mhsim *s, struct core *core, const struct cache *c, uint64_t address,
                           uint32_t evictor, bool invalidation)
{
    const struct shape *h = &s->shapes[c->index];
    for (unsigned i = 0; i < s->levels; i++) {
        const struct shape *up = &s->shapes[i];
        if (i >= c->index || s->machine.levels[i].tlb != s->machine.levels[c->index].tlb)
            continue;
        for (uint64_t part = 0; part < 1ull << (h->line_shift - up->line_shift); part++) {
            uint32_t slot = find_slot(up, core->caches[i], (address >> up->line_shift) + part);
            if (slot != NO_SLOT)
                evict(s, core, core->caches[i], slot, evictor, invalidation);
        }
    }
}

static void evict_above(struct mhsim *s, struct core *core, const struct cache *c, uint64_t address, uint32_t evictor,
                        bool invalidation)
{
    if (!s->shapes[c->index].shared) {
        evict_above_in(s, core, c, address, evictor, invalidation);
        return;
    }
    for (uint64_t i = 0; i < *s->cores.count; i++)
        evict_above_in(s, store_get(&s->cores, i), c, address, evictor, invalidation);
}

/* A bit of this level's mask may be a part of a bit of the next one's: there it counts whole. */
static uint64_t widen_mask(const struct shape *from, const struct shape *to, uint64_t used, uint64_t address)
{
    if (from->line_shift == to->line_shift)
        return used;
    uint64_t mask = 0;
    for (uint64_t left = used; left; left &= left - 1) {
        uint64_t at = address + ((uint64_t)__builtin_ctzll(left) << from->grain_shift);
        mask |= bytes_mask(to, at, from->used_bytes_per_bit);
    }
    return mask;
}

static void install(struct mhsim *s, struct core *core, struct cache *c, uint64_t block, struct block b,
                    uint32_t evictor, bool touch);

/* What was learnt of the block goes to the next level's copy; a change without a copy there is put there, or goes on. A
   write-back is no use of the block: its age there stays as it is. */
static void hand_on(struct mhsim *s, struct core *core, const struct shape *h, uint8_t next, const struct block *b,
                    uint64_t address, uint32_t evictor)
{
    bool changed = (b->state & WRITER) != 0;
    while (next != MHSIM_NO_LEVEL) {
        const struct shape *to = &s->shapes[next];
        struct cache *c = core->caches[next];
        uint64_t block = address >> to->line_shift, used = widen_mask(h, to, b->used, address);
        uint32_t slot = find_slot(to, c, block);
        if (slot != NO_SLOT) {
            c->blocks[slot].used |= used;
            if (changed && !to->write_through)
                c->blocks[slot].state = (c->blocks[slot].state & ~WRITER) | (b->state & WRITER);
            if (!changed || !to->write_through)
                return;
        } else if (!changed) {
            return;
        } else if (!to->no_allocate && !to->write_through) {
            install(s, core, c, block, (struct block){used, b->owner, b->state & (WRITER | EXCLUSIVE)}, evictor, true);
            return;
        }
        counts_of(s, row_at(s, (b->state & WRITER) - 1), next)->write_backs++;
        next = to->next;
    }
}

static void evict(struct mhsim *s, struct core *core, struct cache *c, uint32_t slot, uint32_t evictor,
                  bool invalidation)
{
    const struct shape *h = &s->shapes[c->index];
    uint64_t address = c->tags[slot] << h->line_shift;
    if (h->inclusive)
        evict_above(s, core, c, address, evictor, invalidation);
    struct block b = c->blocks[slot];
    c->tags[slot] = NO_BLOCK;
    c->stamps[slot] = 0;
    count_eviction(s, h, c->index, &b, evictor, invalidation);
    if (b.state & WRITER)
        counts_of(s, row_at(s, (b.state & WRITER) - 1), c->index)->write_backs++;
    hand_on(s, core, h, h->next, &b, address, evictor);
}

static void install(struct mhsim *s, struct core *core, struct cache *c, uint64_t block, struct block b,
                    uint32_t evictor, bool touch)
{
    const struct shape *h = &s->shapes[c->index];
    uint32_t slot = choose_victim(s, h, c, block);
    if (c->tags[slot] != NO_BLOCK)
        evict(s, core, c, slot, evictor, false);
    c->tags[slot] = block;
    c->blocks[slot] = b;
    if (c->hints)
        *hint_of(c, block) = slot;
    if (touch)
        touch_slot(h, c, slot);
}

/* ---- other cores --------------------------------------------------------------------------------- */

/* Other cores' private copies of the block go (a store) or lose their claim to be alone (a load). True: some core had
 * one. */
static bool ask_others(const struct access *a, bool write)
{
    struct mhsim *s = a->s;
    bool found = false;
    for (uint64_t i = 0; i < *s->cores.count; i++) {
        struct core *other = store_get(&s->cores, i);
        for (unsigned k = 0; k < s->levels && other != a->core; k++) {
            const struct shape *h = &s->shapes[k];
            uint32_t slot = h->apart ? find_slot(h, other->caches[k], a->address >> h->line_shift) : NO_SLOT;
            if (slot == NO_SLOT)
                continue;
            found = true;
            if (write)
                evict(s, other, other->caches[k], slot, a->row_number, true);
            else
                other->caches[k]->blocks[slot].state &= ~EXCLUSIVE;
        }
    }
    return found;
}

/* Whether this core is alone with the block: after a store it is; after a load if nobody else has it. What a later
   level of its own knows need not be asked again. */
static uint32_t claim(const struct access *a, unsigned level, bool write)
{
    struct mhsim *s = a->s;
    if (*s->cores.count < 2 || !s->shapes[level].apart)
        return EXCLUSIVE;
    for (uint8_t k = s->shapes[level].next; k != MHSIM_NO_LEVEL && s->shapes[k].apart; k = s->shapes[k].next) {
        uint32_t slot = find_slot(&s->shapes[k], a->core->caches[k], a->address >> s->shapes[k].line_shift);
        uint32_t state = slot == NO_SLOT ? 0 : a->core->caches[k]->blocks[slot].state;
        if (slot != NO_SLOT && (!write || state & EXCLUSIVE))
            return state & EXCLUSIVE;
    }
    return ask_others(a, write) && !write ? 0 : EXCLUSIVE;
}

/* ---- kinds of misses -------------------------------------------------------------------------------- */

static bool first_bit(struct map *m, uint64_t key, unsigned bit)
{
    uint64_t *bits = map_put(m, key);
    if (!bits || *bits >> bit & 1)
        return false;
    *bits |= 1ull << bit;
    return true;
}

static bool never_here(struct mhsim *s, const struct cache *c, uint64_t block)
{
    return first_bit(&s->seen, (uint64_t)c->number << 48 | block >> 6, block & 63);
}

static bool never_touched(struct mhsim *s, uint32_t row, unsigned level, uint64_t block)
{
    return first_bit(&s->touched, (uint64_t)row << 44 | (uint64_t)level << 41 | (block >> 6 & ((1ull << 41) - 1)),
                     block & 63);
}

static void full_unlink(struct full *f, uint32_t i)
{
    struct full_node *n = &f->nodes[i];
    *(n->older == NO_SLOT ? &f->oldest : &f->nodes[n->older].newer) = n->newer;
    *(n->newer == NO_SLOT ? &f->newest : &f->nodes[n->newer].older) = n->older;
}

static void full_append(struct full *f, uint32_t i)
{
    f->nodes[i].older = f->newest;
    f->nodes[i].newer = NO_SLOT;
    *(f->newest == NO_SLOT ? &f->oldest : &f->nodes[f->newest].newer) = i;
    f->newest = i;
}

static uint32_t *full_chain(struct full *f, uint64_t block)
{
    uint32_t *at = &f->heads[map_hash(block) & f->mask];
    while (*at != NO_SLOT && f->nodes[*at].block != block)
        at = &f->nodes[*at].chain;
    return at;
}

/* Whether the fully associative level has the block; it has it afterwards. */
static bool full_touch(struct full *f, uint64_t block)
{
    uint32_t i = *full_chain(f, block);
    if (i != NO_SLOT) {
        full_unlink(f, i);
        full_append(f, i);
        return true;
    }
    if (f->count < f->capacity) {
        i = f->count++;
    } else {
        i = f->oldest;
        full_unlink(f, i);
        *full_chain(f, f->nodes[i].block) = f->nodes[i].chain;
    }
    f->nodes[i].block = block;
    f->nodes[i].chain = f->heads[map_hash(block) & f->mask];
    f->heads[map_hash(block) & f->mask] = i;
    full_append(f, i);
    return false;
}

/* ---- an access at a level ------------------------------------------------------------------------------ */

static bool access_level(const struct access *a, unsigned level, bool write);

/* True: this row had brought that same block there, or further down, itself, so it is new neither here nor to it. */
static bool next_level(const struct access *a, const struct shape *h, bool write)
{
    return h->next != MHSIM_NO_LEVEL && access_level(a, h->next, write) &&
           a->s->shapes[h->next].line_shift == h->line_shift;
}

/* A block that comes before anyone asked: read through the next levels as if a miss had been. */
static void fetch_ahead(const struct access *a, unsigned level, uint64_t address)
{
    struct mhsim *s = a->s;
    const struct shape *h = &s->shapes[level];
    struct cache *c = a->core->caches[level];
    uint64_t block = address >> h->line_shift;
    struct access ahead = *a;
    if (find_slot(h, c, block) != NO_SLOT || (block & s->sample_mask) != 0)
        return;
    ahead.address = block << h->line_shift;
    ahead.size = 1;
    counts_of(s, a->row, level)->prefetches++;
    next_level(&ahead, h, false);
    uint32_t alone = claim(&ahead, level, false);
    install(s, a->core, c, block, (struct block){0, a->row_number, FETCHED | alone}, a->row_number, true);
}

static void prefetch(const struct access *a, unsigned level)
{
    const struct shape *h = &a->s->shapes[level];
    uint64_t line = 1ull << h->line_shift, here = a->address & ~(line - 1);
    int64_t stride = a->row->stride;
    if (h->prefetch == MHSIM_NEXT_LINE)
        fetch_ahead(a, level, here + line);
    else if (stride >= (int64_t)line || stride <= -(int64_t)line)
        fetch_ahead(a, level, a->address + (uint64_t)stride);
    else if (stride)
        fetch_ahead(a, level, stride > 0 ? here + line : here - line);
}

/* Whether the row and the level meet the block for the first time. Most misses find it where the row left it before. */
static void count_new(const struct access *a, struct mhsim_counts *n, struct cache *c, uint64_t block, bool known,
                      bool in_full)
{
    if (!known && !a->s->quiet)
        n->distinct += never_touched(a->s, a->row_number, c->index, block);
    if (!known && never_here(a->s, c, block))
        n->cold++;
    else
        n->conflict += in_full;
}

static bool miss(const struct access *a, struct mhsim_counts *n, unsigned level, uint64_t block, bool write,
                 bool in_full)
{
    struct mhsim *s = a->s;
    const struct shape *h = &s->shapes[level];
    struct cache *c = a->core->caches[level];
    bool bring = !write || !h->no_allocate;
    n->misses++;
    if (!bring)
        claim(a, level, true);
    bool known = next_level(a, h, !bring);
    count_new(a, n, c, block, known, in_full);
    if (!bring)
        return known;
    if (write && h->write_through) {
        n->write_throughs++;
        next_level(a, h, true);
    }
    struct block b = {bytes_mask(h, a->address, a->size), a->row_number, claim(a, level, write)};
    if (write && !h->write_through)
        b.state |= a->row_number + 1;
    install(s, a->core, c, block, b, a->row_number, true);
    if (h->prefetch)
        prefetch(a, level);
    return known;
}

static void write_hit(const struct access *a, struct mhsim_counts *n, unsigned level, struct block *b)
{
    const struct shape *h = &a->s->shapes[level];
    if (__builtin_expect(!(b->state & EXCLUSIVE), 0)) {
        claim(a, level, true);
        b->state |= EXCLUSIVE;
    }
    if (h->write_through) {
        n->write_throughs++;
        next_level(a, h, true);
    } else {
        b->state = (b->state & ~WRITER) | (a->row_number + 1);
    }
}

/* Who brought the block in has touched it: others need the look-up. */
static void count_distinct(const struct access *a, struct mhsim_counts *n, unsigned level, uint64_t block)
{
    if (!a->s->quiet)
        n->distinct += never_touched(a->s, a->row_number, level, block);
}

static void hit(const struct access *a, struct mhsim_counts *n, unsigned level, uint32_t slot, bool write)
{
    const struct shape *h = &a->s->shapes[level];
    struct cache *c = a->core->caches[level];
    struct block *b = &c->blocks[slot];
    uint64_t mask = bytes_mask(h, a->address, a->size);
    bool ahead = (b->state & FETCHED) != 0;
    if (__builtin_expect(ahead, 0)) {
        b->state &= ~FETCHED;
        count_distinct(a, n, level, c->tags[slot]);
    }
    n->temporal += (b->used & mask) == mask;
    b->used |= mask;
    touch_slot(h, c, slot);
    if (write)
        write_hit(a, n, level, b);
    if (__builtin_expect(ahead, 0)) {
        n->prefetch_hits++;
        prefetch(a, level);
    }
}

static bool access_level(const struct access *a, unsigned level, bool write)
{
    struct mhsim *s = a->s;
    const struct shape *h = &s->shapes[level];
    struct cache *c = a->core->caches[level];
    struct mhsim_counts *n = counts_of(s, a->row, level);
    uint64_t block = a->address >> h->line_shift;
    uint32_t slot = find_slot(h, c, block);
    bool in_full = s->classify && full_touch(&c->full, block);
    n->accesses++;
    if (slot == NO_SLOT) {
        return miss(a, n, level, block, write, in_full);
    }
    bool own = c->blocks[slot].owner == a->row_number && !(c->blocks[slot].state & FETCHED);
    if (!own)
        count_distinct(a, n, level, block);
    hit(a, n, level, slot, write);
    return own;
}

/* ---- the door --------------------------------------------------------------------------------------------- */

/* What most accesses are, without a call: a hit at the first level in a block that nobody disputes. */
static inline bool access_quick(struct cache *c, struct mhsim_row *row, uint32_t row_number, uint64_t address,
                                uint64_t end, bool caches, bool write)
{
    uint64_t block = address >> c->line_shift;
    uint32_t slot = c->quick ? *hint_of(c, block) : 0;
    struct block *b = &c->blocks[slot];
    if (!c->quick || c->tags[slot] != block || block != end >> c->line_shift ||
        (b->state & (EXCLUSIVE | FETCHED)) != EXCLUSIVE ||
        (b->owner != row_number && (!caches || row->last_block != block)))
        return false;
    struct mhsim_counts *n = &row->levels[c->index];
    unsigned from = (unsigned)((address & c->line_mask) >> c->grain_shift);
    uint64_t used = b->used, mask = (UINT64_MAX >> (63 - ((end >> c->grain_shift) - (address >> c->grain_shift))))
                                    << from;
    n->accesses++;
    n->temporal += (used & mask) == mask;
    b->used = used | mask;
    c->stamps[slot] = ++c->clock;
    if (write)
        b->state = EXCLUSIVE | (row_number + 1);
    return true;
}

static void access_chain(struct access *a, unsigned chain, bool write)
{
    struct mhsim *s = a->s;
    unsigned shift = s->shapes[s->chains[chain]].line_shift;
    uint64_t address = a->address, end = address + a->size - 1;
    uint32_t size = a->size;
    if (address >> shift == end >> shift) {
        if (!(address >> shift & s->sample_mask))
            access_level(a, s->chains[chain], write);
        if (!chain)
            a->row->last_block = address >> shift;
        return;
    }
    for (uint64_t block = address >> shift; block <= end >> shift; block++) {
        uint64_t from = block << shift, to = from + (1ull << shift) - 1;
        a->address = from > address ? from : address;
        a->size = (uint32_t)((to < end ? to : end) - a->address + 1);
        if (!(block & s->sample_mask))
            access_level(a, s->chains[chain], write);
    }
    a->address = address;
    a->size = size;
    a->row->split += !chain && !s->quiet;
}

static void follow_stride(struct mhsim_row *row, uint64_t address)
{
    int64_t step = (int64_t)(address - row->last_address);
    row->stride = step == row->step ? step : 0;
    row->step = step;
    row->last_address = address;
}

static __attribute__((noinline)) void access_slow(struct mhsim *s, struct core *core, uint32_t row_number,
                                                  uint64_t address, uint32_t size, unsigned chain, bool write)
{
    struct access a = {s, core, row_at(s, row_number), row_number, address, size};
    access_chain(&a, chain, write);
}

void mhsim_access(struct mhsim *s, uint32_t row_number, uint64_t address, uint32_t size, bool write)
{
    struct mhsim_row *row = row_at(s, row_number);
    struct core *core = store_get(&s->cores, row->core);
    size += size == 0;
    if (__builtin_expect(s->strides, 0))
        follow_stride(row, address);
    uint64_t end = address + size - 1;
    if (s->quiet || !access_quick(core->caches[s->chains[0]], row, row_number, address, end, true, write))
        access_slow(s, core, row_number, address, size, 0, write);
    if (s->chain_count > 1 && /* an entry of a TLB is not written back */
        (s->quiet || !access_quick(core->caches[s->chains[1]], row, row_number, address, end, false, false)))
        access_slow(s, core, row_number, address, size, 1, false);
}
