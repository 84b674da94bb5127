/* Records of blocks: see lines.h. */
#include "config.h"
#include "mhsim/lines.h"
#include "mhsim/state.h"

#include <string.h>

enum { CHUNK = 1 << 20 };
#define NO_ROW UINT32_MAX

/* ---- making ------------------------------------------------------------------------- */

bool lines_fit(const struct mhsim_level *levels, unsigned level)
{
    uint64_t sets = levels[level].size / ((uint64_t)levels[level].line * levels[level].ways);
    unsigned count = 0;
    if (sets & (sets - 1))
        return false;
    for (; level != MHSIM_NO_LEVEL; level = levels[level].next)
        if (++count > LINES_LEVELS || levels[level].replace != MHSIM_LRU || levels[level].ways > ORDER_WAYS)
            return false;
    return true;
}

static size_t slots_of(const struct cache *c)
{
    return (size_t)c->sets << c->lane_shift;
}

bool lines_open(struct lines *k, struct cache *first)
{
    uint64_t most = 2; /* no record, and that of a block which is in no level yet */
    bool good = true;
    *k = (struct lines){.made = 1};
    for (struct cache *c = first; c; c = c->next) {
        struct lines_level *l = &k->at[k->count++];
        *l = (struct lines_level){.cache = c,
                                  .orders = pages_get(c->sets * sizeof *l->orders),
                                  .held = pages_get(slots_of(c) * sizeof *l->held),
                                  .sets = c->sets,
                                  .set_mask = c->set_mask,
                                  .set_inverse = c->set_inverse,
                                  .lane_shift = c->lane_shift,
                                  .last = 4 * (c->ways - 1),
                                  .index = c->index,
                                  .grain_shift = c->grain_shift};
        good &= l->orders && l->held;
        most += c->sets * c->ways;
    }
    if (most >= UINT32_MAX)
        return false;
    k->orders = k->at[0].orders;
    k->set_mask = first->set_mask;
    k->line_mask = first->line_mask;
    k->line_shift = first->line_shift;
    k->grain_shift = first->grain_shift;
    k->index = first->index;
    k->most = (uint32_t)most;
    k->all = pages_get(most * sizeof *k->all);
    k->known = pages_get(REGIONS_KNOWN * sizeof *k->known);
    return good && k->all && k->known;
}

void lines_close(struct lines *k)
{
    for (uint32_t i = 0; i < k->count; i++) {
        pages_put(k->at[i].orders, k->at[i].cache->sets * sizeof(uint64_t));
        pages_put(k->at[i].held, slots_of(k->at[i].cache) * sizeof(uint32_t));
    }
    pages_put(k->all, (size_t)k->most * sizeof *k->all);
    pages_put(k->known, REGIONS_KNOWN * sizeof *k->known);
    map_close(&k->regions);
    for (uint8_t *before; k->chunk; k->chunk = before) {
        before = *(uint8_t **)(void *)k->chunk;
        pages_put(k->chunk, CHUNK);
    }
    *k = (struct lines){0};
}

/* ---- finding a block ------------------------------------------------------------------- */

/* Cleared; NULL: none. */
static void *chunk_get(struct lines *k, size_t bytes)
{
    if (!k->chunk || k->chunk_used + bytes > CHUNK) {
        uint8_t *fresh = pages_get(CHUNK);
        if (!fresh)
            return NULL;
        *(uint8_t **)(void *)fresh = k->chunk;
        k->chunk = fresh;
        k->chunk_used = sizeof(uint8_t *);
    }
    k->chunk_used += bytes;
    return k->chunk + k->chunk_used - bytes;
}

static __attribute__((noinline)) struct lines_region *region_find(struct lines *k, uint64_t number)
{
    uint64_t *there = map_put(&k->regions, number);
    if (there && !*there)
        *there = (uint64_t)(uintptr_t)chunk_get(k, sizeof(struct lines_region));
    struct lines_region *region = there ? (struct lines_region *)(uintptr_t)*there : NULL;
    if (region) {
        k->known[number % REGIONS_KNOWN].number = number;
        k->known[number % REGIONS_KNOWN].region = region;
    }
    return region;
}

static inline struct lines_page *page_of(struct lines *k, uint64_t number)
{
    uint64_t at = number / REGION_PAGES;
    struct lines_region *region = k->known[at % REGIONS_KNOWN].region;
    if (!region || k->known[at % REGIONS_KNOWN].number != at)
        region = region_find(k, at);
    struct lines_page **page = region ? &region->page[number % REGION_PAGES] : NULL;
    if (page && __builtin_expect(!*page, 0))
        *page = chunk_get(k, sizeof **page);
    return page ? *page : NULL;
}

/* Where there is no memory for pages. */
static uint32_t search_sets(const struct lines *k, uint64_t block)
{
    for (uint32_t i = 0; i < k->count; i++) {
        const struct cache *c = k->at[i].cache;
        const uint32_t *held = &k->at[i].held[cache_set(c, block) << c->lane_shift];
        for (uint32_t w = 0; w < c->ways; w++)
            if (held[w] && k->all[held[w]].tag == block + 1)
                return held[w];
    }
    return 0;
}

/* In no level yet. */
static uint32_t line_make(struct lines *k, uint64_t block)
{
    uint32_t i = k->free;
    struct line *l = &k->all[i ? i : k->made];
    if (i)
        k->free = (uint32_t)l->used[0];
    else
        i = k->made++;
    l->tag = block + 1;
    l->next = 0;
    l->toucher = NO_ROW;
    for (unsigned level = 0; level < LINES_LEVELS; level++)
        l->place[level] = NO_WAY;
    return i;
}

/* Its record, made where there is none; *cold: it was never here before. */
static __attribute__((noinline)) uint32_t line_of(struct lines *k, uint64_t block, bool *cold)
{
    struct lines_page *page = page_of(k, block >> 6);
    uint32_t i = page ? page->line[block & 63] : search_sets(k, block);
    if (k->all[i].tag == block + 1)
        return i;
    i = line_make(k, block);
    if (page) {
        page->line[block & 63] = i;
        *cold = !(page->seen >> (block & 63) & 1);
        page->seen |= 1ull << (block & 63);
    }
    return i;
}

/* ---- coming and leaving ------------------------------------------------------------------
 *
 * What is marked SAME is compiled for each level by itself: most of what it does is then a constant. */

#define SAME static inline __attribute__((always_inline))

SAME uint64_t set_of(const struct lines_level *at, unsigned level, uint64_t block)
{
    if (level == 0 || at->set_mask)
        return block & at->set_mask;
    uint64_t quotient = (uint64_t)(((unsigned __int128)block * at->set_inverse) >> 64);
    uint64_t set = block - quotient * at->sets;
    return set >= at->sets ? set - at->sets : set;
}

static void leave(struct mhsim *, struct lines *, unsigned level, struct line *, uint32_t evictor);

/* At the oldest's place; that one goes. */
SAME struct line *enter(struct lines *k, unsigned level, struct line *l, uint32_t owner)
{
    const struct lines_level *at = &k->at[level];
    uint64_t set = set_of(at, level, l->tag - 1), through_last = UINT64_MAX >> (60 - at->last);
    uint64_t old = at->orders[set];
    if (__builtin_expect(!old, 0))
        old = at->cache->first_order;
    uint64_t way = old >> at->last & 15;
    uint32_t *held = &at->held[(set << at->lane_shift) + way], gone = *held;
    at->orders[set] = (old & ~through_last) | (old << 4 & through_last) | way;
    *held = (uint32_t)(l - k->all);
    l->place[level] = owner << 8 | (uint32_t)way;
    return &k->all[gone];
}

/* What was learnt of the block is the next level's; a change without a copy there comes there. */
SAME void leave_level(struct mhsim *s, struct lines *k, unsigned level, struct line *l, uint32_t evictor)
{
    uint32_t writer = l->writer[level], owner = l->place[level] >> 8, below = level + 1;
    count_eviction(s, k->at[level].index, (uint64_t)bits_set(l->used[level]) << k->at[level].grain_shift, owner, writer,
                   evictor, false);
    l->place[level] = NO_WAY;
    if (below < LINES_LEVELS && line_way(l, below) != NO_WAY) {
        l->used[below] |= l->used[level];
        l->writer[below] = writer ? writer : l->writer[below];
        return;
    }
    if (below < LINES_LEVELS && below < k->count && writer) {
        l->used[below] = l->used[level];
        l->writer[below] = writer;
        struct line *gone = enter(k, below, l, owner);
        if (gone->tag)
            leave(s, k, below, gone, evictor);
    } else if (line_way(l, 0) == NO_WAY && line_way(l, 1) == NO_WAY && line_way(l, 2) == NO_WAY) {
        l->tag = 0;
        l->used[0] = k->free;
        k->free = (uint32_t)(l - k->all);
    }
}

static void leave(struct mhsim *s, struct lines *k, unsigned level, struct line *l, uint32_t evictor)
{
    leave_level(s, k, level, l, evictor);
}

/* ---- an access ------------------------------------------------------------------------------ */

struct here {
    struct mhsim *s;
    struct lines *k;
    struct mhsim_counts *counts; /* of the row, or what is thrown away */
    struct line *line;
    uint64_t mask;
    uint32_t row;
    bool known; /* the row had brought the block there, or further down, itself: it is new neither there nor before */
    bool cold;  /* nobody had */
};

/* To the row the block is new there. */
static __attribute__((noinline)) void meet(const struct here *h, unsigned level, struct mhsim_counts *n)
{
    count_distinct(h->s, h->row, n, h->k->at[level].index, h->line->tag - 1);
}

SAME void hit(struct here *h, unsigned level)
{
    struct line *l = h->line;
    const struct lines_level *at = &h->k->at[level];
    struct mhsim_counts *n = &h->counts[at->index];
    h->known = l->place[level] >> 8 == h->row || (l->toucher >> 8 == h->row && (l->toucher & 0xff) >= level);
    if (!h->known) {
        meet(h, level, n);
        if (!h->s->quiet)
            l->toucher = h->row << 8 | level;
    }
    n->accesses++;
    n->temporal += (h->mask & ~l->used[level]) == 0;
    l->used[level] |= h->mask;
    lines_touch(&at->orders[set_of(at, level, l->tag - 1)], line_way(l, level));
}

SAME void miss(struct here *h, unsigned level)
{
    struct line *l = h->line;
    struct mhsim_counts *n = &h->counts[h->k->at[level].index];
    n->accesses++;
    n->misses++;
    n->cold += h->cold;
    if (!h->known)
        meet(h, level, n);
    l->used[level] = h->mask;
    l->writer[level] = 0;
    struct line *gone = enter(h->k, level, l, h->row);
    if (__builtin_expect(gone->tag != 0, 1))
        leave_level(h->s, h->k, level, gone, h->row);
}

static __attribute__((noinline)) void hit_third(struct here *h)
{
    hit(h, 2);
    miss(h, 1);
}

static __attribute__((noinline)) void miss_all(struct here *h)
{
    if (h->k->count > 2)
        miss(h, 2);
    if (h->k->count > 1)
        miss(h, 1);
}

void lines_access(struct mhsim *s, unsigned chain, uint32_t row, uint64_t address, uint32_t size, bool write)
{
    struct lines *k = &s->lines[chain];
    struct mhsim_row *r = row_at(s, row);
    uint64_t block = address >> k->line_shift, from = (address & k->line_mask) >> k->grain_shift;
    uint64_t to = ((address + size - 1) & k->line_mask) >> k->grain_shift;
    struct here h = {s,     k,    s->quiet ? s->sink : r->levels, NULL, UINT64_MAX >> (63 - to + from) << from, row,
                     false, false};
    struct line *before = &k->all[r->last_slot[chain]];
    uint32_t number = before->next;
    if (k->all[number].tag != block + 1)
        before->next = number = line_of(k, block, &h.cold);
    h.line = &k->all[number];
    r->last_slot[chain] = number;
    __builtin_prefetch(&k->all[h.line->next]);
    if (line_way(h.line, 0) != NO_WAY) {
        hit(&h, 0);
    } else {
        if (line_way(h.line, 1) != NO_WAY)
            hit(&h, 1);
        else if (line_way(h.line, 2) != NO_WAY)
            hit_third(&h);
        else
            miss_all(&h);
        miss(&h, 0);
    }
    if (write)
        h.line->writer[0] = row + 1;
}

/* ---- more than one thread ---------------------------------------------------------------------- */

static void level_to_cache(const struct lines *k, uint32_t level)
{
    struct cache *c = k->at[level].cache;
    for (uint64_t set = 0; set < c->sets; set++) {
        *cache_head(c, set) = k->at[level].orders[set];
        for (uint32_t slot = (uint32_t)(set << c->lane_shift), i = 0; i < c->ways; i++) {
            const struct line *l = &k->all[k->at[level].held[slot + i]];
            if (!l->tag)
                continue;
            cache_put(c, slot + i, l->tag - 1, l->used[level], l->place[level] >> 8, BLOCK_EXCLUSIVE | l->writer[level],
                      0);
            if (l->toucher != NO_ROW && (l->toucher & 0xff) >= level)
                c->blocks[slot + i].toucher = l->toucher >> 8;
        }
    }
}

static void region_to_seen(struct mhsim *s, const struct cache *c, uint64_t number, const struct lines_region *r)
{
    for (uint32_t i = 0; r && i < REGION_PAGES; i++) {
        uint64_t *seen = r->page[i] ? map_put(&s->seen, (uint64_t)c->number << 48 | (number * REGION_PAGES + i)) : NULL;
        if (seen)
            *seen |= r->page[i]->seen;
    }
}

void lines_to_caches(struct mhsim *s, unsigned chain)
{
    struct lines *k = &s->lines[chain];
    for (uint32_t i = 0; i < k->count; i++) {
        level_to_cache(k, i);
        for (uint64_t r = 0; r < k->regions.capacity; r++)
            if (k->regions.slots[r].key != MAP_EMPTY)
                region_to_seen(s, k->at[i].cache, k->regions.slots[r].key,
                               (const struct lines_region *)(uintptr_t)k->regions.slots[r].value);
    }
    for (uint32_t i = 0; i < *s->rows.count; i++)
        row_at(s, i)->last_slot[chain] = 0;
    lines_close(k);
}
