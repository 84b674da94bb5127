/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator. An access goes down a chain of levels (caches; TLBs) as far as it misses:
 *
 *     access -> first cache - miss -> second cache - miss -> ... -> memory
 *           \-> first TLB   - miss -> second TLB ...
 *
 * Each level is sets of ways; a block has its owner (the row that brought it in, which is charged for its eviction),
 * the bytes that were touched meanwhile (a bit for each, or for each 64th of a larger block), and its last writer. This
 * state moves to the next level when the block is evicted. Of other cores' private levels a flag at each block says
 * whether they may hold it; only stores to blocks without the flag, and misses, look at the others.
 */
#include "config.h"
#include "mhsim/engine/state.h"

/* ---- making ------------------------------------------------------------------------- */

static struct cache *cache_make(struct mhsim *s, unsigned level)
{
    const struct machine_level *l = &s->machine.levels[level];
    struct cache *c = mmap_store_add(&s->caches, 1);
    if (!c || !cache_open(c, l, level) || (s->classify && !fully_assoc_open(&c->full, c->sets * c->ways)))
        return NULL;
    c->number = (uint32_t)(*s->caches.count - 1);
    return c;
}

/* Most levels of most machines have no other condition. */
static bool is_plain(const struct machine_memory *m, const struct machine_level *l)
{
    return l->prefetch == MACHINE_NO_PREFETCH && !l->write_through && !l->no_allocate && !l->inclusive &&
           (l->next == MACHINE_NO_LEVEL || m->levels[l->next].line == l->line);
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

struct mhsim *mhsim_create_in(const struct machine_memory *m, const struct mhsim_options *o, const struct store *rows,
                              const struct store *pairs)
{
    struct mhsim *s = pages_get(sizeof *s);
    if (!s) {
        mmap_store_close(&(struct store){.base = rows->base, .row = rows->row, .most = rows->most});
        mmap_store_close(&(struct store){.base = pairs->base, .row = pairs->row, .most = pairs->most});
        return NULL;
    }
    s->machine = *m;
    s->levels = m->level_count;
    s->rows = *rows;
    s->pairs = *pairs;
    s->classify = o->classify;
    s->sample_mask = o->sample_sets > 1 ? o->sample_sets - 1 : 0;
    s->random = 0x2545f4914f6cdd1d;
    s->plain = !s->classify && !s->sample_mask;
    for (uint32_t i = 0; i < s->levels; i++) {
        s->strides |= m->levels[i].prefetch == MACHINE_STRIDE;
        s->plain &= is_plain(m, &m->levels[i]);
    }
    s->quick = s->plain;
    find_chains(s);
    if (mmap_store_open(&s->caches, sizeof(struct cache), MHSIM_CORES * MACHINE_LEVELS, NULL, 0, NULL) < 0 ||
        mmap_store_open(&s->cores, sizeof(struct core), MHSIM_CORES, NULL, 0, NULL) < 0 ||
        !mmap_store_add(&s->rows, 1) || !mmap_store_add(&s->pairs, 1)) {
        mhsim_free(s);
        return NULL;
    }
    return s;
}

struct mhsim *mhsim_create(const struct machine_memory *m, const struct mhsim_options *o)
{
    struct store rows, pairs;
    if (mmap_store_open(&rows, sizeof(struct mhsim_row), ROWS_MOST, NULL, 0, NULL) < 0)
        return NULL;
    if (mmap_store_open(&pairs, sizeof(struct mhsim_pair), PAIRS_MOST, NULL, 0, NULL) < 0) {
        mmap_store_close(&rows);
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

static void help_ends(struct mhsim *s)
{
    for (unsigned i = 0; i < 2; i++) {
        worker_end(s->worker[i]);
        s->worker[i] = NULL;
    }
}

void mhsim_free(struct mhsim *s)
{
    if (!s)
        return;
    help_ends(s);
    for (unsigned i = 0; i < 2; i++)
        line_engine_close(&s->lines[i]);
    for (uint64_t i = 0; s->caches.base && i < *s->caches.count; i++)
        cache_close(store_get(&s->caches, i));
    mmap_store_close(&s->caches);
    mmap_store_close(&s->cores);
    mmap_store_close(&s->rows);
    mmap_store_close(&s->pairs);
    map_close(&s->row_of);
    map_close(&s->seen);
    for (unsigned i = 0; i < 2; i++) {
        map_close(&s->pair_of[i]);
        map_close(&s->touched[i]);
    }
    pages_put(s, sizeof *s);
}

/* The first core of a plain machine is simulated block by block (line_engine.h), until there is a second. */
static void choose_lines(struct mhsim *s, const struct core *core, bool first)
{
    bool fit = first && s->plain;
    for (uint32_t i = 0; i < s->chain_count && fit; i++)
        fit = line_engine_fit(s->machine.levels, s->chains[i]);
    for (uint32_t i = 0; i < s->chain_count; i++) {
        if (s->by_lines)
            line_engine_to_caches(s, i);
        fit = fit && line_engine_open(&s->lines[i], core->first[i]);
    }
    s->by_lines = fit;
    for (uint32_t i = 0; i < s->chain_count && !fit; i++)
        line_engine_close(&s->lines[i]);
}

/* Without memory for levels of its own, and beyond the limit, a thread shares those of an earlier one. */
uint32_t mhsim_core(struct mhsim *s)
{
    uint32_t asked = s->asked_cores++;
    help_ends(s);
    uint64_t n = *s->cores.count;
    struct core *core = n < MHSIM_CORES ? mmap_store_add(&s->cores, 1) : NULL;
    if (!core)
        return n ? asked % (uint32_t)n : 0;
    const struct core *first = store_get(&s->cores, 0);
    for (uint32_t i = 0; i < s->levels; i++) {
        core->caches[i] = n && s->machine.levels[i].shared ? first->caches[i] : cache_make(s, i);
        if (!core->caches[i]) {
            --*s->cores.count;
            return n ? asked % (uint32_t)n : UINT32_MAX;
        }
    }
    for (uint32_t i = 0; i < s->levels; i++)
        if (s->machine.levels[i].next != MACHINE_NO_LEVEL)
            core->caches[i]->next = core->caches[s->machine.levels[i].next];
    for (uint32_t i = 0; i < s->chain_count; i++)
        core->first[i] = core->caches[s->chains[i]];
    choose_lines(s, core, n == 0);
    return (uint32_t)n;
}

uint32_t mhsim_row(struct mhsim *s, uint32_t core, uint64_t code, uint32_t object)
{
    /* User addresses have at most 56 bits; the row itself resolves hash collisions. */
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
        struct mhsim_row *fresh = mmap_store_add(&s->rows, 1);
        if (!fresh)
            return 0;
        fresh->code = code;
        fresh->object = object;
        fresh->core = core;
        fresh->last[0].block = fresh->last[1].block = UINT64_MAX;
        return (uint32_t)(*there = *s->rows.count - 1);
    }
}

void mhsim_quiet(struct mhsim *s, bool quiet)
{
    if (quiet == s->quiet)
        return;
    mhsim_wait(s);
    if (!quiet)
        line_engine_counted(s);
    s->quiet = quiet;
    s->quick = s->plain && !quiet;
}

void mhsim_help(struct mhsim *s, unsigned threads, void (*begins)(void))
{
    s->helpers = threads;
    s->begins = begins;
}

static void wait_for_help(const struct mhsim *s)
{
    worker_wait(s->worker[0]);
    worker_wait(s->worker[1]);
}

void mhsim_wait(struct mhsim *s)
{
    wait_for_help(s);
}

const struct mhsim_row *mhsim_rows(const struct mhsim *s, size_t *count)
{
    wait_for_help(s);
    *count = *s->rows.count;
    return (const void *)s->rows.base;
}

const struct mhsim_pair *mhsim_pairs(const struct mhsim *s, size_t *count)
{
    wait_for_help(s);
    *count = *s->pairs.count;
    return (const void *)s->pairs.base;
}

/* ---- counting, rare cases ----------------------------------------------------------------- */

/* Caches and TLBs may be simulated side by side: each takes its pairs from lines of memory of its own. 0: the limit. */
static uint64_t add_pair(struct mhsim *s, const struct mhsim_pair *pair)
{
    const unsigned at_once = s->helpers ? 64 : 1;
    struct pair_room *room = &s->pair_room[s->machine.levels[pair->level].tlb];
    if (room->next == room->end) {
        while (__atomic_test_and_set(&s->pairs_locked, __ATOMIC_ACQUIRE))
            ;
        bool more = mmap_store_add(&s->pairs, at_once);
        room->end = *s->pairs.count;
        __atomic_clear(&s->pairs_locked, __ATOMIC_RELEASE);
        room->next = more ? room->end - at_once : room->end;
    }
    if (room->next == room->end)
        return 0;
    *(struct mhsim_pair *)store_get(&s->pairs, room->next) = *pair;
    return room->next++;
}

struct mhsim_pair *state_find_pair(struct mhsim *s, uint32_t victim, uint32_t evictor, unsigned level)
{
    struct map *map = &s->pair_of[s->machine.levels[level].tlb];
    uint64_t *there = map_put(map, (uint64_t)level << 40 | (uint64_t)victim << 20 | evictor);
    if (there && !*there)
        *there = add_pair(s, &(struct mhsim_pair){.victim = victim, .evictor = evictor, .level = level});
    if (!there || !*there) /* beyond the limit: pair 0 has what is left */
        return store_get(&s->pairs, 0);
    *last_pair(s, evictor, level) = (uint32_t)*there;
    return store_get(&s->pairs, *there);
}

bool state_first_bit(struct map *m, uint64_t key, unsigned bit)
{
    uint64_t *bits = map_put(m, key);
    if (!bits || *bits >> bit & 1)
        return false;
    *bits |= 1ull << bit;
    return true;
}

/* ---- one code, twice -------------------------------------------------------------------
 *
 * On a plain machine (no prefetcher, write-back, nothing inclusive, blocks of one size in a chain; neither sampled nor
 * classified) most conditions below are constant. Functions marked ALIKE are compiled in two variants, by their
 * argument `plain`, and call their own variant. */

#define ALIKE static inline __attribute__((always_inline))

struct access {
    struct mhsim *s;
    struct core *core;
    struct mhsim_row *row;
    uint32_t row_number;
    uint64_t address; /* within one block of the level it is at */
    uint32_t size;
    uint32_t slot; /* where the last level that was asked has the block now */
};

/* ---- leaving a level --------------------------------------------------------------------------- */

static void evict(struct mhsim *s, struct core *core, struct cache *c, uint32_t slot, uint32_t evictor,
                  bool invalidation);

/* The caches of this core before `c` that may hold parts of an evicted block. */
static void evict_above_in(struct mhsim *s, struct core *core, const struct cache *c, uint64_t address,
                           uint32_t evictor, bool invalidation)
{
    for (unsigned i = 0; i < c->index; i++) {
        struct cache *up = core->caches[i];
        for (uint64_t part = 0; up->tlb == c->tlb && part < 1ull << (c->line_shift - up->line_shift); part++) {
            uint32_t slot = cache_find(up, (address >> up->line_shift) + part);
            if (slot != NO_SLOT)
                evict(s, core, up, slot, evictor, invalidation);
        }
    }
}

static void evict_above(struct mhsim *s, struct core *core, const struct cache *c, uint64_t address, uint32_t evictor,
                        bool invalidation)
{
    if (!c->shared) {
        evict_above_in(s, core, c, address, evictor, invalidation);
        return;
    }
    for (uint64_t i = 0; i < *s->cores.count; i++)
        evict_above_in(s, store_get(&s->cores, i), c, address, evictor, invalidation);
}

/* A bit of this level's mask may be a part of a bit of the next one's: there it counts whole. */
static uint64_t widen_mask(const struct cache *from, const struct cache *to, uint64_t used, uint64_t address)
{
    if (from->line_shift == to->line_shift)
        return used;
    uint64_t mask = 0;
    for (uint64_t left = used; left; left &= left - 1) {
        uint64_t at = address + ((uint64_t)__builtin_ctzll(left) << from->grain_shift);
        mask |= bytes_mask(to, at, 1u << from->grain_shift);
    }
    return mask;
}

struct brought {
    uint64_t block, used;
    uint32_t owner, state, below;
};
static void install_plain(struct mhsim *s, struct core *core, struct cache *c, struct brought, uint32_t evictor);
static void install_any(struct mhsim *s, struct core *core, struct cache *c, struct brought, uint32_t evictor);

/* The block's state goes to the next level's copy; a dirty block without a copy there is inserted there, or passed
   on. A write-back is not a use of the block: its age there stays the same. */
ALIKE void hand_on(bool plain, struct mhsim *s, struct core *core, const struct cache *from, const struct block *b,
                   uint32_t evictor)
{
    bool changed = (b->state & BLOCK_WRITER) != 0;
    uint64_t address = (b->tag - 1) << from->line_shift;
    for (struct cache *c = from->next; c; c = c->next) {
        uint64_t block = plain ? b->tag - 1 : address >> c->line_shift;
        uint64_t used = plain ? b->used : widen_mask(from, c, b->used, address);
        bool keeps = plain || !c->write_through;
        uint32_t slot = plain && c == from->next && c->blocks[b->below].tag == b->tag ? b->below : cache_find(c, block);
        if (slot != NO_SLOT) {
            struct block *there = &c->blocks[slot];
            there->used |= used;
            if (changed && keeps)
                there->state = (there->state & ~BLOCK_WRITER) | (b->state & BLOCK_WRITER);
            if (!changed || keeps)
                return;
        } else if (!changed) {
            return;
        } else if (plain || (!c->no_allocate && keeps)) {
            struct brought back = {block, used, b->owner, (b->state & (BLOCK_WRITER | BLOCK_EXCLUSIVE)) | BLOCK_BACK,
                                   0};
            (plain ? install_plain : install_any)(s, core, c, back, evictor);
            return;
        }
        counts_of(s, row_at(s, (b->state & BLOCK_WRITER) - 1), c->index)->write_backs++;
    }
}

ALIKE void leave(bool plain, struct mhsim *s, struct core *core, struct cache *c, uint32_t slot, uint32_t evictor,
                 bool invalidation)
{
    if (!plain && c->inclusive)
        evict_above(s, core, c, (c->blocks[slot].tag - 1) << c->line_shift, evictor, invalidation);
    struct block b = c->blocks[slot];
    c->blocks[slot].tag = 0;
    count_eviction(s, c->index, (uint64_t)bits_set(b.used) << c->grain_shift, b.owner, b.state & BLOCK_WRITER, evictor,
                   invalidation);
    if (c->next)
        hand_on(plain, s, core, c, &b, evictor);
}

static void evict(struct mhsim *s, struct core *core, struct cache *c, uint32_t slot, uint32_t evictor,
                  bool invalidation)
{
    leave(false, s, core, c, slot, evictor, invalidation);
    cache_drop(c, slot);
}

/* Its way. */
ALIKE uint32_t install(bool plain, struct mhsim *s, struct core *core, struct cache *c, struct brought b,
                       uint32_t evictor)
{
    uint32_t slot = cache_victim(c, cache_set(c, b.block), &s->random);
    if (c->blocks[slot].tag)
        leave(plain, s, core, c, slot, evictor, false);
    cache_put(c, slot, b.block, b.used, b.owner, b.state, b.below);
    cache_touch(c, slot);
    return slot;
}

static void install_plain(struct mhsim *s, struct core *core, struct cache *c, struct brought b, uint32_t evictor)
{
    install(true, s, core, c, b, evictor);
}

static void install_any(struct mhsim *s, struct core *core, struct cache *c, struct brought b, uint32_t evictor)
{
    install(false, s, core, c, b, evictor);
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
            struct cache *c = other->caches[k];
            uint32_t slot = c->apart ? cache_find(c, a->address >> c->line_shift) : NO_SLOT;
            if (slot == NO_SLOT)
                continue;
            found = true;
            if (write)
                evict(s, other, c, slot, a->row_number, true);
            else
                c->blocks[slot].state &= ~BLOCK_EXCLUSIVE;
        }
    }
    return found;
}

static uint32_t claim_of_others(const struct access *a, const struct cache *c, bool write)
{
    for (c = c->next; c && c->apart; c = c->next) {
        uint32_t slot = cache_find(c, a->address >> c->line_shift);
        uint32_t state = slot == NO_SLOT ? 0 : c->blocks[slot].state;
        if (slot != NO_SLOT && (!write || state & BLOCK_EXCLUSIVE))
            return state & BLOCK_EXCLUSIVE;
    }
    return ask_others(a, write) && !write ? 0 : BLOCK_EXCLUSIVE;
}

/* Whether this core has the only copy: after a store it has; after a load if no other core has it. If a later level
   of its own knows, the others need not be checked. */
static inline uint32_t claim(const struct access *a, const struct cache *c, bool write)
{
    return *a->s->cores.count < 2 || !c->apart ? BLOCK_EXCLUSIVE : claim_of_others(a, c, write);
}

/* ---- kinds of misses -------------------------------------------------------------------------------- */

static bool never_here(struct mhsim *s, const struct cache *c, uint64_t block)
{
    return state_first_bit(&s->seen, (uint64_t)c->number << 48 | block >> 6, block & 63);
}

/* Whether the row and the level meet the block for the first time. Most misses find it where the row left it before. */
static void count_new(const struct access *a, struct mhsim_counts *n, struct cache *c, uint64_t block, bool in_full)
{
    count_distinct(a->s, a->row_number, n, c->index, block);
    if (never_here(a->s, c, block))
        n->cold++;
    else
        n->conflict += in_full;
}

/* ---- an access at a level ------------------------------------------------------------------------------ */

/* At this level. True: this row had brought that same block there, or further down, itself, so it is new neither here
   nor to it. */
static bool access_plain(struct access *a, struct cache *c, bool write);
static bool access_any(struct access *a, struct cache *c, bool write);

static bool next_level(struct access *a, const struct cache *c, bool write)
{
    return c->next && access_any(a, c->next, write) && c->next->line_shift == c->line_shift;
}

/* A block that comes before anyone asked: read through the next levels as if a miss had been. */
static void fetch_ahead(struct access *a, struct cache *c, uint64_t address)
{
    struct mhsim *s = a->s;
    uint64_t block = address >> c->line_shift;
    struct access ahead = *a;
    if (cache_find(c, block) != NO_SLOT || (block & s->sample_mask) != 0)
        return;
    ahead.address = block << c->line_shift;
    ahead.size = 1;
    counts_of(s, a->row, c->index)->prefetches++;
    next_level(&ahead, c, false);
    uint32_t alone = claim(&ahead, c, false);
    install_any(s, a->core, c, (struct brought){block, 0, a->row_number, BLOCK_FETCHED | alone, 0}, a->row_number);
}

static void prefetch(struct access *a, struct cache *c)
{
    uint64_t line = 1ull << c->line_shift, here = a->address & ~(line - 1);
    int64_t stride = a->row->stride;
    if (c->prefetch == MACHINE_NEXT_LINE)
        fetch_ahead(a, c, here + line);
    else if (stride >= (int64_t)line || stride <= -(int64_t)line)
        fetch_ahead(a, c, a->address + (uint64_t)stride);
    else if (stride)
        fetch_ahead(a, c, stride > 0 ? here + line : here - line);
}

ALIKE bool miss(bool plain, struct access *a, struct mhsim_counts *n, struct cache *c, uint64_t block, bool write,
                bool in_full)
{
    bool bring = plain || !write || !c->no_allocate;
    bool through = !plain && write && c->write_through;
    n->misses++;
    if (!bring)
        claim(a, c, true);
    bool known = plain ? c->next && access_plain(a, c->next, false) : next_level(a, c, !bring);
    if (!known)
        count_new(a, n, c, block, in_full);
    else
        n->conflict += in_full;
    if (!bring)
        return known;
    if (through) {
        n->write_throughs++;
        next_level(a, c, true);
    }
    uint32_t state = claim(a, c, write);
    if (write && !through)
        state |= a->row_number + 1;
    uint32_t below = c->next ? a->slot : 0;
    a->slot = install(plain, a->s, a->core, c,
                      (struct brought){block, bytes_mask(c, a->address, a->size), a->row_number, state, below},
                      a->row_number);
    if (!plain && c->prefetch)
        prefetch(a, c);
    return known;
}

ALIKE void write_hit(bool plain, struct access *a, struct mhsim_counts *n, struct cache *c, struct block *b)
{
    if (__builtin_expect(!(b->state & BLOCK_EXCLUSIVE), 0)) {
        claim(a, c, true);
        b->state |= BLOCK_EXCLUSIVE;
    }
    if (!plain && c->write_through) {
        n->write_throughs++;
        next_level(a, c, true);
    } else {
        b->state = (b->state & ~BLOCK_WRITER) | (a->row_number + 1);
    }
}

ALIKE void hit(bool plain, struct access *a, struct mhsim_counts *n, struct cache *c, uint32_t slot, bool write)
{
    struct block *b = &c->blocks[slot];
    uint64_t mask = bytes_mask(c, a->address, a->size);
    bool ahead = !plain && (b->state & BLOCK_FETCHED) != 0;
    if (ahead)
        b->state &= ~BLOCK_FETCHED;
    n->temporal += (b->used & mask) == mask;
    b->used |= mask;
    cache_touch(c, slot);
    if (write)
        write_hit(plain, a, n, c, b);
    if (ahead) {
        n->prefetch_hits++;
        prefetch(a, c);
    }
}

/* slot: where the block is, or NO_SLOT */
ALIKE bool access_level(bool plain, struct access *a, struct cache *c, uint32_t slot, bool write)
{
    struct mhsim_counts *n = counts_of(a->s, a->row, c->index);
    uint64_t block = a->address >> c->line_shift;
    bool in_full = !plain && a->s->classify && fully_assoc_touch(&c->full, block);
    n->accesses++;
    if (slot == NO_SLOT)
        return miss(plain, a, n, c, block, write, in_full);
    struct block *b = &c->blocks[slot];
    bool own = (b->owner == a->row_number && !(b->state & (BLOCK_FETCHED | BLOCK_BACK))) ||
               (plain && b->toucher == a->row_number);
    if (!own) {
        count_distinct(a->s, a->row_number, n, c->index, block);
        if (!a->s->quiet)
            b->toucher = a->row_number;
    }
    hit(plain, a, n, c, slot, write);
    a->slot = slot;
    return own;
}

static bool access_plain(struct access *a, struct cache *c, bool write)
{
    return access_level(true, a, c, cache_find(c, a->address >> c->line_shift), write);
}

static bool access_any(struct access *a, struct cache *c, bool write)
{
    return access_level(false, a, c, cache_find(c, a->address >> c->line_shift), write);
}

/* ---- the door --------------------------------------------------------------------------------------------- */

/* The most frequent access: a hit at the first level of a plain machine, in a block that no other core holds and the
   row has met before. False: nothing was done. */
static inline bool hit_quick(struct cache *c, struct mhsim_row *row, uint32_t row_number, uint32_t slot,
                             uint64_t address, uint32_t size, bool write)
{
    struct block *b = &c->blocks[slot];
    if (!(b->state & BLOCK_EXCLUSIVE) ||
        (b->owner != row_number && b->toucher != row_number && (c->tlb || row->last[0].block != b->tag - 1)))
        return false;
    struct mhsim_counts *n = &row->levels[c->index];
    uint64_t used = b->used, mask = bytes_mask(c, address, size);
    n->accesses++;
    n->temporal += (used & mask) == mask;
    b->used = used | mask;
    cache_touch(c, slot);
    if (write)
        b->state = BLOCK_EXCLUSIVE | (row_number + 1);
    return true;
}

/* At the first level of a chain of a plain machine. */
static void access_first(struct access *a, struct cache *c, unsigned chain, bool write)
{
    uint32_t slot = a->slot = cache_find(c, a->address >> c->line_shift);
    if (slot == NO_SLOT || a->s->quiet || !hit_quick(c, a->row, a->row_number, slot, a->address, a->size, write))
        access_level(true, a, c, slot, write);
    a->row->last[chain].slot = a->slot;
}

static void access_parts(struct access *a, unsigned chain, bool write)
{
    struct mhsim *s = a->s;
    struct cache *c = a->core->caches[s->chains[chain]];
    uint64_t address = a->address, end = address + a->size - 1;
    uint32_t size = a->size;
    for (uint64_t block = address >> c->line_shift; block <= end >> c->line_shift; block++) {
        uint64_t from = block << c->line_shift, to = from + c->line_mask;
        a->address = from > address ? from : address;
        a->size = (uint32_t)((to < end ? to : end) - a->address + 1);
        if (!(block & s->sample_mask))
            access_any(a, c, write);
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

static void access_chain(struct access *a, unsigned chain, bool write)
{
    struct mhsim *s = a->s;
    struct cache *c = a->core->first[chain];
    uint64_t block = a->address >> c->line_shift;
    if (__builtin_expect(block != (a->address + a->size - 1) >> c->line_shift, 0)) {
        access_parts(a, chain, write);
        return;
    }
    if (s->plain)
        access_first(a, c, chain, write);
    else if (!(block & s->sample_mask))
        access_any(a, c, write);
    if (!chain)
        a->row->last[0].block = block;
}

static __attribute__((noinline)) void access_slowly(struct mhsim *s, uint32_t row_number, unsigned chain,
                                                    uint64_t address, uint32_t size, bool write)
{
    struct mhsim_row *row = row_at(s, row_number);
    struct access a = {s, store_get(&s->cores, row->core), row, row_number, address, size, 0};
    access_chain(&a, chain, write);
}

/* The row's last position. */
static inline bool hit_again(struct cache *c, struct mhsim_row *row, uint32_t row_number, unsigned chain,
                             uint64_t address, uint32_t size, bool write)
{
    uint32_t slot = row->last[chain].slot;
    return c->blocks[slot].tag == (address >> c->line_shift) + 1 &&
           (address & c->line_mask) + size <= (uint64_t)c->line_mask + 1 &&
           hit_quick(c, row, row_number, slot, address, size, write);
}

static void access_caches(struct mhsim *s, uint32_t row_number, uint64_t address, uint32_t size, bool write)
{
    struct mhsim_row *row = row_at(s, row_number);
    const struct core *core = (const struct core *)(void *)s->cores.base + row->core;
    if (__builtin_expect(s->strides, 0))
        follow_stride(row, address);
    if (!s->quick || !hit_again(core->first[0], row, row_number, 0, address, size, write))
        access_slowly(s, row_number, 0, address, size, write);
    /* an entry of a TLB is not written back */
    if (s->chain_count > 1 && (!s->quick || !hit_again(core->first[1], row, row_number, 1, address, size, false)))
        access_slowly(s, row_number, 1, address, size, false);
}

/* A run that ends soon, maybe by a fault, is not worth a thread. The caches are most of the work. */
static void ask_for_help(struct mhsim *s)
{
    enum { BATCHES_ALONE = 256 };
    if (++s->batches == BATCHES_ALONE)
        for (uint32_t i = 0; i < s->chain_count && i < s->helpers; i++)
            s->worker[i] = worker_begin(s, i, line_engine_batch, s->begins);
}

static void access_lines(struct mhsim *s, const struct mhsim_reference *refs, size_t n)
{
    for (uint32_t i = 0; i < s->chain_count; i++)
        if (s->worker[i])
            worker_give(s->worker[i], refs, n);
        else
            line_engine_batch(s, i, refs, n);
    if (s->batches < UINT32_MAX && !s->worker[0])
        ask_for_help(s);
}

void mhsim_accesses(struct mhsim *s, const struct mhsim_reference *refs, size_t n)
{
    if (s->by_lines) {
        access_lines(s, refs, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        access_caches(s, refs[i].row, refs[i].address, refs[i].size, refs[i].write);
}

void mhsim_access(struct mhsim *s, uint32_t row, uint64_t address, uint32_t size, bool write)
{
    const struct mhsim_reference ref = {address, row, (uint16_t)(size ? size : 1), write};
    mhsim_accesses(s, &ref, 1);
}
