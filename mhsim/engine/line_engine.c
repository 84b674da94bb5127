/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of blocks: see line_engine.h. */
#include "config.h"
#include "mhsim/engine/line_engine.h"
#include "mhsim/engine/state.h"

#include <string.h>

/* Functions marked SAME are compiled separately for each number of levels: most of their parameters are then
   constants. */
#define SAME static inline __attribute__((always_inline))

/* ---- making ------------------------------------------------------------------------- */

bool line_engine_fit(const struct machine_level *levels, unsigned level)
{
    uint64_t sets = levels[level].size / ((uint64_t)levels[level].line * levels[level].ways);
    unsigned count = 0;
    if (sets & (sets - 1))
        return false;
    for (; level != MACHINE_NO_LEVEL; level = levels[level].next)
        if (++count > LINES_LEVELS || levels[level].replace != MACHINE_LRU || levels[level].ways > ORDER_WAYS)
            return false;
    return true;
}

/* Its nibbles behind the ways' are 0. */
static bool open_level(struct lines_level *l, struct cache *c)
{
    unsigned last = 4 * (c->ways - 1);
    *l = (struct lines_level){.orders = pages_get(c->sets * sizeof *l->orders),
                              .held = pages_get(c->sets * ORDER_WAYS * sizeof *l->held),
                              .sets = c->sets,
                              .set_mask = c->set_mask,
                              .set_inverse = c->set_inverse,
                              .through_last = UINT64_MAX >> (60 - last),
                              .last = last,
                              .index = c->index,
                              .grain_shift = c->grain_shift,
                              .cache = c};
    for (uint64_t set = 0; l->orders && set < c->sets; set++)
        l->orders[set] = c->first_order & l->through_last;
    return l->orders && l->held;
}

bool line_engine_open(struct lines *k, struct cache *first)
{
    uint64_t most = 2; /* no record, and that of a block which is in no level yet */
    bool good = true;
    *k = (struct lines){.made = 1, .line_shift = first->line_shift, .grain_shift = first->grain_shift};
    for (struct cache *c = first; c; c = c->next) {
        good &= open_level(&k->at[k->count++], c);
        most += c->sets * c->ways;
    }
    if (most >= UINT32_MAX)
        return false;
    k->most = (uint32_t)most;
    k->all = pages_get(most * sizeof *k->all);
    k->known = pages_get(REGIONS_KNOWN * sizeof *k->known);
    k->lately = pages_get(METS_LATELY * sizeof *k->lately);
    return good && k->all && k->known && k->lately;
}

void line_engine_close(struct lines *k)
{
    for (uint32_t i = 0; i < k->count; i++) {
        pages_put(k->at[i].orders, k->at[i].sets * sizeof(uint64_t));
        pages_put(k->at[i].held, k->at[i].sets * ORDER_WAYS * sizeof(uint32_t));
    }
    pages_put(k->all, (size_t)k->most * sizeof *k->all);
    pages_put(k->known, REGIONS_KNOWN * sizeof *k->known);
    for (uint64_t i = 0; i < k->regions.capacity; i++)
        if (k->regions.slots[i].key != MAP_EMPTY)
            pages_put((void *)(uintptr_t)k->regions.slots[i].value, sizeof(struct lines_region));
    map_close(&k->regions);
    map_close(&k->met);
    pages_put(k->lately, METS_LATELY * sizeof *k->lately);
    for (struct lines_mets *m = k->mets, *before; m; m = before) {
        before = m->before;
        pages_put(m, sizeof *m);
    }
    *k = (struct lines){0};
}

/* ---- finding a block ------------------------------------------------------------------- */

/* If there was no memory for one, none is made from then on: a new one would not know its blocks that are here
   already, which would be here twice. */
static __attribute__((noinline)) struct lines_region *region_find(struct lines *k, uint64_t number)
{
    uint64_t *there = k->poor ? map_get(&k->regions, number) : map_put(&k->regions, number);
    if (there && !*there && !k->poor)
        *there = (uint64_t)(uintptr_t)pages_get(sizeof(struct lines_region));
    struct lines_region *region = there ? (struct lines_region *)(uintptr_t)*there : NULL;
    k->poor |= !region;
    if (region) {
        k->known[number % REGIONS_KNOWN].number = number + 1;
        k->known[number % REGIONS_KNOWN].region = region;
    }
    return region;
}

/* NULL: not among those. */
SAME struct lines_region *region_known(const struct lines_known *known, uint64_t block)
{
    uint64_t number = block / REGION_LINES;
    const struct lines_known *at = &known[number % REGIONS_KNOWN];
    return at->number == number + 1 ? at->region : NULL;
}

/* NULL: no memory. */
static struct lines_region *region_of(struct lines *k, uint64_t block)
{
    struct lines_region *region = region_known(k->known, block);
    return region ? region : region_find(k, block / REGION_LINES);
}

SAME uint64_t set_of(const struct lines_level *at, bool first, uint64_t block)
{
    if (first || at->set_mask)
        return block & at->set_mask;
    uint64_t quotient = (uint64_t)(((unsigned __int128)block * at->set_inverse) >> 64);
    uint64_t set = block - quotient * at->sets;
    return set >= at->sets ? set - at->sets : set;
}

/* If there is no memory for regions. */
static uint32_t search_sets(const struct lines *k, uint64_t block)
{
    for (uint32_t i = 0; i < k->count; i++) {
        const uint32_t *held = &k->at[i].held[cache_set(k->at[i].cache, block) * ORDER_WAYS];
        for (uint32_t w = 0; w < k->at[i].cache->ways; w++)
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
        k->free = l->next;
    else
        i = k->made++;
    l->tag = block + 1;
    l->toucher = NO_ROW;
    for (unsigned level = 0; level < LINES_LEVELS; level++)
        l->place[level] = NO_WAY;
    return i;
}

#define COLD (1ull << 32)

/* The record of a block without one, or in no known region: COLD is set if the block was never here. */
static __attribute__((noinline)) uint64_t line_absent(struct lines *k, uint64_t block)
{
    struct lines_region *region = region_of(k, block);
    uint32_t i = region ? region->line[block % REGION_LINES] : search_sets(k, block);
    if (k->all[i].tag == block + 1)
        return i;
    i = line_make(k, block);
    if (!region)
        return i;
    struct lines_page *page = &region->page[block % REGION_LINES / PAGE_LINES];
    uint64_t bit = 1ull << block % PAGE_LINES, seen = page->seen;
    region->line[block % REGION_LINES] = i;
    page->seen |= bit;
    return seen & bit ? i : i | COLD;
}

/* ---- one batch ------------------------------------------------------------------------------
 *
 * One chain after the other: so each has the registers for itself. A batch's tables are copied: the compiler knows that
 * no count stored changes the copies. Only rare cases call functions, and these get no copy. */

struct pass {
    struct mhsim *s;
    struct lines *k;
    struct line *all;
    const struct lines_known *known;
    struct lines_known last; /* of those, the one that was looked for last */
    struct mhsim_row *rows;
    struct mhsim_pair *pairs;
    struct lines_level at[LINES_LEVELS];
    uint32_t missed, missed_far; /* at the first level; at all but the last */
};

/* Constants of a whole batch, mostly known at compile time. */
struct shape {
    unsigned chain, levels, line_shift, grain_shift;
    unsigned first; /* its first level among all: the others follow at once; ANY_INDEX: they may not */
    bool quiet, popcount;
};

#define ANY_INDEX UINT32_MAX

static struct pass pass_begin(struct mhsim *s, unsigned chain)
{
    struct lines *k = &s->lines[chain];
    struct pass p = {.s = s,
                     .k = k,
                     .all = k->all,
                     .known = k->known,
                     .rows = row_at(s, 0),
                     .pairs = (struct mhsim_pair *)(void *)s->pairs.base};
    for (unsigned i = 0; i < LINES_LEVELS; i++)
        p.at[i] = k->at[i];
    return p;
}

SAME const struct lines_region *region_last(struct pass *p, uint64_t block)
{
    uint64_t number = block / REGION_LINES + 1;
    if (__builtin_expect(p->last.number != number, 0))
        p->last = (struct lines_known){number, region_known(p->known, block)};
    return p->last.region;
}

static struct shape shape_of(const struct mhsim *s, unsigned chain)
{
    const struct lines *k = &s->lines[chain];
    return (struct shape){chain, k->count, k->line_shift, k->grain_shift, ANY_INDEX, s->quiet, false};
}

SAME unsigned index_of(const struct pass *p, struct shape f, unsigned level)
{
    return f.first == ANY_INDEX ? p->at[level].index : f.first + level;
}

/* ---- coming and leaving ------------------------------------------------------------------ */

static void leave_slowly(struct mhsim *, unsigned chain, unsigned level, struct line *, uint32_t evictor);

/* A hit there. */
SAME void touch(const struct pass *p, unsigned level, uint64_t set, const struct line *l)
{
    uint64_t *order = &p->at[level].orders[set], way = line_way(l, level);
    if ((*order & 15) != way)
        *order = order_newest(*order, way);
}

/* At the oldest's place; that one goes: its record's number. */
SAME uint32_t enter(const struct pass *p, unsigned level, uint64_t set, struct line *l, uint32_t owner)
{
    const struct lines_level *at = &p->at[level];
    uint64_t order = at->orders[set], way = order >> at->last;
    uint32_t *held = &at->held[set * ORDER_WAYS + way], gone = *held;
    at->orders[set] = (order << 4 & at->through_last) | way;
    *held = (uint32_t)(l - p->all);
    l->place[level] = owner << 8 | (uint32_t)way;
    return gone;
}

/* Of a block that `evictor` evicts. */
SAME void count_leaving(const struct pass *p, struct shape f, unsigned level, const struct line *l, uint32_t evictor)
{
    uint32_t owner = level ? line_owner(l, level) : l->place[0] >> 8; /* nothing is written back to the first */
    uint32_t writer = l->writer[level], index = index_of(p, f, level);
    struct mhsim_counts *n = &p->rows[owner].levels[index];
    n->evictions++;
    n->used += (uint64_t)(f.popcount ? (unsigned)__builtin_popcountll(l->used[level]) : bits_set(l->used[level]))
               << f.grain_shift;
    if (!f.chain && writer)
        p->rows[writer - 1].levels[index].write_backs++;
    uint32_t last = p->rows[evictor].last[f.chain].pair[index];
    struct mhsim_pair *pair = &p->pairs[last];
    if (__builtin_expect(!last || pair->victim != owner, 0))
        pair = state_find_pair(p->s, owner, evictor, index);
    pair->count++;
}

/* The block's state moves to the next level; a dirty block without a copy there is inserted. */
SAME void leave(const struct pass *p, struct shape f, unsigned level, struct line *l, uint32_t evictor)
{
    unsigned below = level + 1;
    uint32_t writer = f.chain ? 0 : l->writer[level], owner = line_owner(l, level);
    if (__builtin_expect(!f.quiet, 1))
        count_leaving(p, f, level, l, evictor);
    l->place[level] = NO_WAY;
    if (below < LINES_LEVELS && below < f.levels && line_way(l, below) != NO_WAY) {
        l->used[below] |= l->used[level];
        if (writer)
            l->writer[below] = writer;
    } else if (below < LINES_LEVELS && below < f.levels && writer) {
        l->used[below] = l->used[level];
        l->writer[below] = writer;
        uint32_t gone = enter(p, below, set_of(&p->at[below], false, l->tag - 1), l, owner);
        l->place[below] |= PLACE_BACK;
        if (gone)
            leave_slowly(p->s, f.chain, below, &p->all[gone], evictor);
    } else if (line_way(l, 0) == NO_WAY && line_way(l, 1) == NO_WAY && line_way(l, 2) == NO_WAY) {
        l->tag = 0;
        l->next = p->k->free;
        p->k->free = (uint32_t)(l - p->all);
    }
}

static __attribute__((noinline)) void leave_slowly(struct mhsim *s, unsigned chain, unsigned level, struct line *l,
                                                   uint32_t evictor)
{
    const struct pass p = pass_begin(s, chain);
    leave(&p, shape_of(s, chain), level, l, evictor);
}

/* ---- an access ------------------------------------------------------------------------------ */

struct here {
    struct mhsim_counts *counts; /* of the row, or what is thrown away */
    struct line *line;
    uint64_t block, mask;
    uint32_t row;
    bool known; /* the row had brought the block there, or further down, itself: it is new neither there nor before */
    bool cold;  /* no one held it */
};

static struct lines_met *met_add(struct lines *k)
{
    if (!k->mets || k->mets->count == METS_AT_ONCE) {
        struct lines_mets *more = pages_get(sizeof *more);
        if (!more)
            return NULL;
        more->before = k->mets;
        k->mets = more;
    }
    return &k->mets->all[k->mets->count++];
}

static uint64_t met_key(uint32_t row, uint64_t page)
{
    return (uint64_t)row << 44 | (page & ((1ull << 44) - 1));
}

/* NULL: no memory. */
static struct lines_met *met_find(struct lines *k, uint32_t row, uint64_t block)
{
    struct lines_region *region = region_of(k, block);
    struct lines_page *page = region ? &region->page[block % REGION_LINES / PAGE_LINES] : NULL;
    for (unsigned i = 0; page && i < PAGE_ROWS; i++) {
        if (!page->row[i])
            page->row[i] = row + 1;
        if (page->row[i] == row + 1)
            return &page->met[i];
    }
    uint64_t *there = map_put(&k->met, met_key(row, block / PAGE_LINES));
    if (there && !*there)
        *there = (uint64_t)(uintptr_t)met_add(k);
    return there ? (struct lines_met *)(uintptr_t)*there : NULL;
}

/* Rows go through few pages at a time. */
static struct lines_met *met_of(struct lines *k, uint32_t row, uint64_t block)
{
    uint64_t key = met_key(row, block / PAGE_LINES);
    struct lines_lately *at = &k->lately[(key ^ key >> 42) % METS_LATELY];
    if (at->key != key + 1)
        *at = (struct lines_lately){key + 1, met_find(k, row, block)};
    return at->met;
}

/* Whether to the row the block is new there. */
static __attribute__((noinline)) bool is_new(struct lines *k, uint32_t row, unsigned level, uint64_t block)
{
    struct lines_met *met = met_of(k, row, block);
    uint64_t bit = 1ull << block % PAGE_LINES;
    if (!met || met->at[level] & bit)
        return false;
    met->at[level] |= bit;
    return true;
}

/* The hit was not the owner's: the row had met the block, whichever row brought it in. */
SAME void meet(const struct pass *p, struct shape f, const struct here *h, unsigned level, struct mhsim_counts *n)
{
    if (!f.quiet)
        n->distinct += is_new(p->k, h->row, level, h->block);
}

/* The row had brought the block to the level, or is known to have met it there or further down. */
SAME bool is_known(const struct line *l, unsigned level, uint32_t row)
{
    return l->place[level] >> 8 == row || (l->toucher >> 8 == row && (l->toucher & 0xff) >= level);
}

/* again: the row's last access was to it as well. */
SAME void hit(const struct pass *p, struct shape f, struct here *h, unsigned level, bool again)
{
    struct line *l = h->line;
    struct mhsim_counts *n = &h->counts[index_of(p, f, level)];
    h->known = again || is_known(l, level, h->row);
    if (__builtin_expect(!h->known, 0)) {
        meet(p, f, h, level, n);
        if (!f.quiet)
            l->toucher = h->row << 8 | level;
    }
    n->accesses++;
    n->temporal += (h->mask & ~l->used[level]) == 0;
    l->used[level] |= h->mask;
    touch(p, level, set_of(&p->at[level], level == 0, h->block), l);
}

SAME void miss(const struct pass *p, struct shape f, struct here *h, unsigned level)
{
    struct line *l = h->line;
    struct mhsim_counts *n = &h->counts[index_of(p, f, level)];
    n->accesses++;
    n->misses++;
    if (__builtin_expect(h->cold, 0))
        n->cold++;
    if (__builtin_expect(!h->known, 0))
        meet(p, f, h, level, n);
    l->used[level] = h->mask;
    if (!f.chain)
        l->writer[level] = 0;
    uint32_t gone = enter(p, level, set_of(&p->at[level], level == 0, h->block), l, h->row);
    if (__builtin_expect(gone != 0, 1))
        leave(p, f, level, &p->all[gone], h->row);
}

SAME void access_below(struct pass *p, struct shape f, struct here *h)
{
    p->missed++;
    if (f.levels > 1 && line_way(h->line, 1) != NO_WAY) {
        hit(p, f, h, 1, false);
    } else if (f.levels > 1) {
        p->missed_far++;
        if (f.levels > 2 && line_way(h->line, 2) != NO_WAY)
            hit(p, f, h, 2, false);
        else if (f.levels > 2)
            miss(p, f, h, 2);
        miss(p, f, h, 1);
    }
    miss(p, f, h, 0);
}

/* Within one block, of which the access touches what the mask says: a hit where the row was the last time, and so has met.
   False: it is not, or the record became another block's, which is where somebody else was. */
SAME bool access_again(const struct pass *p, struct shape f, struct line *l, const struct mhsim_row *r,
                       struct mhsim_counts *counts, uint64_t block, uint64_t mask)
{
    if (__builtin_expect(l->tag != block + 1 || r->last[f.chain].block != block, 0))
        return false;
    uint64_t *order = &p->at[0].orders[block & p->at[0].set_mask], used = l->used[0];
    uint32_t way = line_way(l, 0);
    if (__builtin_expect((*order & 15) != way, 0)) {
        if (way == NO_WAY)
            return false;
        *order = order_newest(*order, way);
    }
    l->used[0] = used | mask;
    if (f.quiet)
        return true;
    struct mhsim_counts *n = &counts[index_of(p, f, 0)];
    n->accesses++;
    n->temporal += (mask & ~used) == 0;
    return true;
}

/* The most frequent miss: L2 has the block, the row had met it there, and the block evicted from L1 has its copy
   there, too. NULL: another case, and nothing was done. */
SAME struct line *access_second(struct pass *p, struct shape f, struct mhsim_row *r, uint32_t row, uint64_t block,
                                uint64_t mask)
{
    const struct lines_level *first = &p->at[0];
    const struct lines_region *region = region_last(p, block);
    const uint32_t number = region ? region->line[block % REGION_LINES] : 0;
    struct line *l = &p->all[number];
    const uint64_t set = block & first->set_mask, order = first->orders[set], way = order >> first->last;
    uint32_t *held = &first->held[set * ORDER_WAYS + way];
    struct line *gone = &p->all[*held];
    if (f.quiet || l->tag != block + 1 || l->place[0] != NO_WAY || line_way(l, 1) == NO_WAY || !is_known(l, 1, row) ||
        line_way(gone, 1) == NO_WAY)
        return NULL;
    struct mhsim_counts *n = r->levels;
    p->missed++;
    r->last[f.chain].block = block;
    r->last[f.chain].slot = number;
    n[index_of(p, f, 1)].temporal += (mask & ~l->used[1]) == 0;
    n[index_of(p, f, 1)].accesses++;
    l->used[1] |= mask;
    touch(p, 1, set_of(&p->at[1], false, block), l);
    n[index_of(p, f, 0)].accesses++;
    n[index_of(p, f, 0)].misses++;
    count_leaving(p, f, 0, gone, row);
    gone->used[1] |= gone->used[0];
    if (!f.chain && gone->writer[0])
        gone->writer[1] = gone->writer[0];
    gone->place[0] = NO_WAY;
    first->orders[set] = (order << 4 & first->through_last) | way;
    *held = number;
    l->place[0] = row << 8 | (uint32_t)way;
    l->used[0] = mask;
    if (!f.chain)
        l->writer[0] = 0;
    return l;
}

/* The row need not have met it at its recorded place: see line_engine_counted. */
SAME void note_quiet(struct lines *k, uint32_t row)
{
    if (k->quiet_count < QUIET_ROWS)
        k->quiet_rows[k->quiet_count] = row;
    k->quiet_count += k->quiet_count <= QUIET_ROWS;
}

void line_engine_counted(struct mhsim *s)
{
    for (uint32_t chain = 0; chain < s->chain_count; chain++) {
        struct lines *k = &s->lines[chain];
        for (uint32_t i = 0; i < k->quiet_count && k->quiet_count <= QUIET_ROWS; i++)
            row_at(s, k->quiet_rows[i])->last[chain].block = UINT64_MAX;
        for (uint32_t i = 0; i < *s->rows.count && k->quiet_count > QUIET_ROWS; i++)
            row_at(s, i)->last[chain].block = UINT64_MAX;
        k->quiet_count = 0;
    }
}

/* ... and anything else: its record. */
SAME struct line *access_else(struct pass *p, struct shape f, struct mhsim_row *r, uint32_t row,
                              struct mhsim_counts *counts, uint64_t block, uint64_t mask)
{
    struct lines_region *region = region_known(p->known, block);
    uint32_t number = region ? region->line[block % REGION_LINES] : 0;
    bool cold = false, again = r->last[f.chain].block == block;
    if (__builtin_expect(p->all[number].tag != block + 1, 0)) {
        uint64_t made = line_absent(p->k, block);
        number = (uint32_t)made;
        cold = made >= COLD;
    }
    struct here h = {counts, &p->all[number], block, mask, row, false, cold};
    r->last[f.chain].block = block;
    r->last[f.chain].slot = number;
    if (f.quiet)
        note_quiet(p->k, row);
    if (line_way(h.line, 0) != NO_WAY)
        hit(p, f, &h, 0, again);
    else
        access_below(p, f, &h);
    return h.line;
}

SAME void access_block(struct pass *p, struct shape f, uint32_t row, uint64_t block, uint64_t mask, bool write)
{
    struct mhsim_row *r = &p->rows[row];
    struct mhsim_counts *counts = f.quiet ? p->s->sink : r->levels;
    struct line *l = &p->all[r->last[f.chain].slot];
    if (!access_again(p, f, l, r, counts, block, mask))
        l = access_else(p, f, r, row, counts, block, mask);
    if (!f.chain && write)
        l->writer[0] = row + 1;
}

/* The bytes of its block that an access touches. */
static uint64_t mask_of(struct shape f, uint64_t address, uint32_t size)
{
    uint64_t from = address >> f.grain_shift, more = ((address + size - 1) >> f.grain_shift) - from;
    return UINT64_MAX >> (63 - more) << (from & ((1u << (f.line_shift - f.grain_shift)) - 1));
}

static __attribute__((noinline)) void access_split(struct mhsim *s, unsigned chain, const struct mhsim_reference *ref)
{
    struct pass p = pass_begin(s, chain);
    const struct shape f = shape_of(s, chain);
    uint64_t line = 1ull << f.line_shift, address = ref->address, end = address + ref->size, next;
    for (; address < end; address = next) {
        next = (address & ~(line - 1)) + line;
        access_block(&p, f, ref->row, address >> f.line_shift,
                     mask_of(f, address, (uint32_t)((next < end ? next : end) - address)), ref->write);
    }
    if (!chain && !s->quiet) /* not even 0 is added by the other chain, which may be another thread's */
        row_at(s, ref->row)->split++;
}

/* ---- looking ahead ----------------------------------------------------------------------------
 *
 * Once for each block: most accesses are to a block that was looked for shortly before. */

enum { RECORDS_AHEAD = 12, TABLES_AHEAD = 24 };

/* Whether the block is among those it was lately asked for; it is now. */
SAME bool asked_lately(uint32_t *asked, uint64_t block)
{
    uint32_t *at = &asked[block * 0x9e3779b97f4a7c15 >> (64 - ASKED_BITS)], tag = (uint32_t)block;
    if (*at == tag)
        return true;
    *at = tag;
    return false;
}

SAME void fetch_tables(const struct pass *p, struct shape f, uint64_t block)
{
    const struct lines_region *region = region_known(p->known, block);
    if (!region)
        return;
    __builtin_prefetch(&region->line[block % REGION_LINES]);
    __builtin_prefetch(&region->page[block % REGION_LINES / PAGE_LINES]);
    for (unsigned level = 1; level < f.levels; level++) {
        uint64_t set = set_of(&p->at[level], false, block);
        __builtin_prefetch(&p->at[level].orders[set]);
        __builtin_prefetch(&p->at[level].held[set * ORDER_WAYS]);
    }
}

/* The oldest of the set: it will have to go, if the block is not there. */
SAME void fetch_oldest(const struct pass *p, const struct lines_level *at, uint64_t block)
{
    uint64_t set = set_of(at, false, block);
    __builtin_prefetch(&p->all[at->held[set * ORDER_WAYS + (at->orders[set] >> at->last & 15)]]);
}

SAME void fetch_records(const struct pass *p, struct shape f, uint64_t block)
{
    const struct lines_region *region = region_known(p->known, block);
    if (region)
        __builtin_prefetch(&p->all[region->line[block % REGION_LINES]]);
    for (unsigned level = 1; level < f.levels; level++)
        fetch_oldest(p, &p->at[level], block);
}

SAME void look_ahead(const struct pass *p, struct shape f, const struct mhsim_reference *refs, size_t n)
{
    if (n > TABLES_AHEAD) {
        uint64_t block = refs[TABLES_AHEAD].address >> f.line_shift;
        if (!asked_lately(p->k->asked_tables, block))
            fetch_tables(p, f, block);
    }
    if (n > RECORDS_AHEAD) {
        uint64_t block = refs[RECORDS_AHEAD].address >> f.line_shift;
        if (!asked_lately(p->k->asked_records, block))
            fetch_records(p, f, block);
    }
}

/* ---- batches -------------------------------------------------------------------------------- */

/* A block that misses only in L2 has its records in our own caches anyway. */
SAME void pass_end(const struct pass *p, size_t n)
{
    p->k->ahead = p->missed_far > n / 16;
}

/* One chain, of any shape. */
static void batch_any(struct mhsim *s, unsigned chain, const struct mhsim_reference *refs, size_t n)
{
    struct pass p = pass_begin(s, chain);
    const struct shape f = shape_of(s, chain);
    const uint64_t line = 1ull << f.line_shift;
    for (size_t i = 0; i < n; i++) {
        const struct mhsim_reference *ref = &refs[i];
        if (p.k->ahead)
            look_ahead(&p, f, ref, n - i);
        if ((ref->address & (line - 1)) + ref->size > line)
            access_split(s, chain, ref);
        else
            access_block(&p, f, ref->row, ref->address >> f.line_shift, mask_of(f, ref->address, ref->size),
                         ref->write);
    }
    pass_end(&p, n);
}

/* Most machines: lines of 64 bytes, a bit for each byte; pages of 4096, a bit for 64; two levels of TLBs. Repeated
   touches, the most frequent case, are done in the loop, all else by functions. */
enum { LINE_SHIFT = 6, PAGE_SHIFT = 12 };

#define CACHES(levels, quiet, popcount) ((struct shape){0, levels, LINE_SHIFT, 0, 0, quiet, popcount})
#define TLBS(caches, quiet, popcount)   ((struct shape){1, 2, PAGE_SHIFT, LINE_SHIFT, caches, quiet, popcount})

typedef struct line *else_function(struct pass *, struct mhsim_row *, uint32_t row, uint64_t block, uint64_t mask);

SAME void batch_shaped(struct shape f, else_function *other, struct mhsim *s, const struct mhsim_reference *refs,
                       size_t n)
{
    struct pass p = pass_begin(s, f.chain);
    const struct pass again = {.at[0].orders = p.at[0].orders,
                               .at[0].set_mask = p.at[0].set_mask}; /* for the loop alone */
    struct mhsim_row *const rows = p.rows;
    struct line *const all = p.all;
    const bool ahead = p.k->ahead;
    const uint64_t line = 1 << LINE_SHIFT;
    for (const struct mhsim_reference *ref = refs, *end = refs + n; ref < end; ref++) {
        const uint64_t address = ref->address, at = address & (line - 1), block = address >> f.line_shift;
        struct mhsim_row *r = &rows[ref->row];
        if (__builtin_expect(ahead, 0))
            look_ahead(&p, f, ref, (size_t)(end - ref));
        if (__builtin_expect(at + ref->size > line, 0)) {
            access_split(s, f.chain, ref);
            continue;
        }
        uint64_t mask = f.chain ? 1ull << (address >> LINE_SHIFT & (line - 1)) : UINT64_MAX >> (line - ref->size) << at;
        struct line *l = &all[r->last[f.chain].slot];
        if (!access_again(&again, f, l, r, r->levels, block, mask)) {
            l = access_second(&p, f, r, ref->row, block, mask);
            if (__builtin_expect(!l, 0))
                l = other(&p, r, ref->row, block, mask);
        }
        if (!f.chain && ref->write)
            l->writer[0] = ref->row + 1;
    }
    pass_end(&p, n);
}

#define SHAPE(name, target, shape, quiet)                                                                              \
    static target __attribute__((noinline)) struct line *name##_else(struct pass *p, struct mhsim_row *r,              \
                                                                     uint32_t row, uint64_t block, uint64_t mask)      \
    {                                                                                                                  \
        return access_else(p, shape, r, row, (quiet) ? p->s->sink : r->levels, block, mask);                           \
    }                                                                                                                  \
    static target __attribute__((noinline)) void name(struct mhsim *s, const struct mhsim_reference *refs, size_t n)   \
    {                                                                                                                  \
        batch_shaped(shape, name##_else, s, refs, n);                                                                  \
    }
#define SHAPED(name, target, quiet, popcount)                                                                          \
    SHAPE(name##_two, target, CACHES(2, quiet, popcount), quiet)                                                       \
    SHAPE(name##_three, target, CACHES(3, quiet, popcount), quiet)                                                     \
    SHAPE(name##_tlbs_of_two, target, TLBS(2, quiet, popcount), quiet)                                                 \
    SHAPE(name##_tlbs_of_three, target, TLBS(3, quiet, popcount), quiet)                                               \
    static batch_function *const name[2][2] = {{name##_two, name##_three}, {name##_tlbs_of_two, name##_tlbs_of_three}}

typedef void batch_function(struct mhsim *, const struct mhsim_reference *, size_t n);

/* By chain; then by levels of caches, two or three. */
SHAPED(counting, , false, false);
SHAPED(quiet, , true, false);
#ifdef __x86_64__
/* Processors since 2013 count bits by an instruction, and shift by any register. */
SHAPED(counting_bits, __attribute__((target("popcnt,bmi,bmi2"))), false, true);

static bool has_bits(void)
{
    return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#else
#define counting_bits counting

static bool has_bits(void)
{
    return false;
}
#endif

static bool has_shape(const struct lines *k, unsigned line_shift, unsigned grain_shift, unsigned first)
{
    bool has = k->line_shift == line_shift && k->grain_shift == grain_shift;
    for (unsigned i = 0; i < k->count; i++)
        has &= k->at[i].index == first + i;
    return has;
}

void line_engine_batch(struct mhsim *s, unsigned chain, const struct mhsim_reference *refs, size_t n)
{
    const struct lines *c = &s->lines[0], *t = &s->lines[1];
    unsigned caches = c->count;
    bool shaped = (caches == 2 || caches == 3) && (chain ? t->count == 2 && has_shape(t, PAGE_SHIFT, LINE_SHIFT, caches)
                                                         : has_shape(c, LINE_SHIFT, 0, 0));
    if (shaped)
        (s->quiet ? quiet : has_bits() ? counting_bits : counting)[chain][caches - 2](s, refs, n);
    else
        batch_any(s, chain, refs, n);
}

/* ---- more than one thread ---------------------------------------------------------------------- */

static void level_to_cache(const struct lines *k, uint32_t level)
{
    struct cache *c = k->at[level].cache;
    for (uint64_t set = 0; set < c->sets; set++) {
        const uint32_t *held = &k->at[level].held[set * ORDER_WAYS];
        *cache_head(c, set) = k->at[level].orders[set] | (c->first_order & ~k->at[level].through_last);
        for (uint32_t slot = (uint32_t)(set << c->lane_shift), i = 0; i < c->ways; i++) {
            const struct line *l = &k->all[held[i]];
            if (!l->tag)
                continue;
            uint32_t back = l->place[level] & PLACE_BACK ? BLOCK_BACK : 0;
            cache_put(c, slot + i, l->tag - 1, l->used[level], line_owner(l, level),
                      BLOCK_EXCLUSIVE | back | l->writer[level], 0);
            if (l->toucher != NO_ROW && (l->toucher & 0xff) >= level)
                c->blocks[slot + i].toucher = l->toucher >> 8;
        }
    }
}

static void put_bits(struct map *m, uint64_t key, uint64_t bits)
{
    uint64_t *there = bits ? map_put(m, key) : NULL;
    if (there)
        *there |= bits;
}

static void page_to_maps(struct mhsim *s, const struct cache *c, unsigned level, uint64_t number,
                         const struct lines_page *page)
{
    put_bits(&s->seen, (uint64_t)c->number << 48 | number, page->seen);
    for (unsigned i = 0; i < PAGE_ROWS && page->row[i]; i++)
        put_bits(&s->touched[c->tlb], touched_key(page->row[i] - 1, c->index, number * PAGE_LINES),
                 page->met[i].at[level]);
}

static void region_to_maps(struct mhsim *s, const struct lines *k, uint64_t number, const struct lines_region *region)
{
    for (uint64_t i = 0; i < REGION_LINES / PAGE_LINES; i++)
        for (uint32_t level = 0; level < k->count && region->page[i].seen; level++)
            page_to_maps(s, k->at[level].cache, level, number * (REGION_LINES / PAGE_LINES) + i, &region->page[i]);
}

static void mets_to_maps(struct mhsim *s, unsigned chain)
{
    const struct lines *k = &s->lines[chain];
    for (uint64_t i = 0; i < k->met.capacity; i++) {
        const struct map_slot *slot = &k->met.slots[i];
        const struct lines_met *met = slot->key == MAP_EMPTY ? NULL : (const struct lines_met *)(uintptr_t)slot->value;
        uint64_t row = slot->key >> 44, page = slot->key & ((1ull << 44) - 1);
        for (uint32_t level = 0; met && level < k->count; level++)
            put_bits(&s->touched[chain], touched_key((uint32_t)row, k->at[level].index, page * PAGE_LINES),
                     met->at[level]);
    }
}

void line_engine_to_caches(struct mhsim *s, unsigned chain)
{
    struct lines *k = &s->lines[chain];
    for (uint32_t i = 0; i < k->count; i++)
        level_to_cache(k, i);
    for (uint64_t r = 0; r < k->regions.capacity; r++)
        if (k->regions.slots[r].key != MAP_EMPTY && k->regions.slots[r].value)
            region_to_maps(s, k, k->regions.slots[r].key,
                           (const struct lines_region *)(uintptr_t)k->regions.slots[r].value);
    mets_to_maps(s, chain);
    for (uint32_t i = 0; i < *s->rows.count; i++) {
        struct mhsim_last *last = &row_at(s, i)->last[chain];
        last->slot = 0;
        last->block = UINT64_MAX;
    }
    line_engine_close(k);
}
