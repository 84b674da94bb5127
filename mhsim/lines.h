/*
 * One thread on a plain machine, where nearly all time goes: one record, a cache line of the machine that simulates, has
 * all that is known of a block of memory at every level of its chain. So a miss finds its block once for all levels, what
 * is handed on from level to level stays where it is, and neighbours in memory are neighbours here. Of a set there is its
 * order and which records it holds. A record is found by the block before it, which knows what was accessed next the last
 * time, else by a page of 64 blocks' records, in a region of 16 pages.
 *
 * Plain: LRU of at most 16 ways, first levels of 2^n sets, no prefetcher, write-back, nothing inclusive, blocks of one size in a chain, neither
 * sampled nor classified. A second thread ends it: lines_to_caches.
 *
 * Memory: from the system; a page of the program's takes 264 to 392 bytes, a block that is in some level 64.
 */
#ifndef MHSIM_LINES_H
#define MHSIM_LINES_H

#include "mhsim/cache.h"
#include "mhsim/store.h"

enum { LINES_LEVELS = 3, NO_WAY = 255, REGION_PAGES = 16, REGIONS_KNOWN = 4096 };

struct line {
    uint64_t tag; /* block + 1; 0: free, and used[0] is the next free one */
    uint64_t used[LINES_LEVELS];
    uint32_t place[LINES_LEVELS];  /* who brought it in << 8 | its way in the set, or NO_WAY: not in that level */
    uint32_t writer[LINES_LEVELS]; /* row + 1 of who wrote last; 0: not changed */
    uint32_t toucher;              /* a row that has met the block << 8 | the last level where it did */
    uint32_t next;                 /* record of what was accessed after it the last time */
};
_Static_assert(sizeof(struct line) == 64, "a record is a line of the cache");

static inline uint32_t line_way(const struct line *l, unsigned level)
{
    return l->place[level] & 0xff;
}

struct lines_page {
    uint64_t seen; /* blocks that were ever in the chain */
    uint32_t line[64];
};

struct lines_region {
    struct lines_page *page[REGION_PAGES];
};

struct lines {
    struct line *all; /* 0: none */
    uint64_t *orders; /* of the first level, with the rest of its shape */
    uint64_t set_mask, line_mask;
    uint32_t line_shift, grain_shift, index;
    uint32_t count; /* levels */
    struct lines_level {
        struct cache *cache; /* its shape */
        uint64_t *orders;    /* of sets, as in struct cache */
        uint32_t *held;      /* records, by slot; 0: none */
        uint64_t sets, set_mask, set_inverse;
        uint32_t lane_shift, last; /* last: place of the last way in an order, in bits */
        uint32_t index, grain_shift;
    } at[LINES_LEVELS];
    uint32_t made, most, free;
    struct {
        uint64_t number;
        struct lines_region *region;
    } * known; /* regions looked for last, by number */
    struct map regions;
    uint8_t *chunk; /* of pages and regions, the last; begins with where the one before is */
    size_t chunk_used;
};

struct mhsim;
struct mhsim_row;

/* Whether the chain is for this. */
bool lines_fit(const struct mhsim_level *levels, unsigned level);
bool lines_open(struct lines *, struct cache *first); /* false: no memory; to be closed */
void lines_close(struct lines *);
/* The levels' caches get what is here. */
void lines_to_caches(struct mhsim *, unsigned chain);
/* One access within one block. */
void lines_access(struct mhsim *, unsigned chain, uint32_t row, uint64_t address, uint32_t size, bool write);

static inline void lines_touch(uint64_t *order, uint64_t way)
{
    if ((*order & 15) != way)
        *order = order_newest(*order, way);
}

#endif
