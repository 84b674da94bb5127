/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread on a plain machine, which takes nearly all time: one record, a cache line of the machine that simulates,
 * has the whole state of a block of memory at every level of its chain. So a miss finds its block once for all levels,
 * and state moved from level to level stays in place. A record's number is in a shadow of the program's memory, 4 bytes
 * for each block. Of a set there is its order and which records it holds.
 *
 * Accesses come in batches (line_engine_batch): while one is simulated, the data that those behind it will need are
 * fetched into the caches of the machine that simulates. Without that, a miss of the program's would be several of
 * ours, one after the other.
 *
 * Plain: LRU of at most 16 ways, first levels of 2^n sets, no prefetcher, write-back, nothing inclusive, blocks of one size in a chain, neither
 * sampled nor classified. A second thread ends it: line_engine_to_caches.
 *
 * Memory: from the system; a page of the program's takes 320 bytes (64 of them for the rows that met its blocks), a
 * block that is in some level 64.
 */
#ifndef MHSIM_ENGINE_LINE_ENGINE_H
#define MHSIM_ENGINE_LINE_ENGINE_H

#include "mhsim/engine/cache.h"
#include "mhsim/engine/mmap_store.h"

enum {
    LINES_LEVELS = 3,
    NO_WAY = 255,
    PAGE_LINES = 64,
    REGION_LINES = 1 << 18,
    REGIONS_KNOWN = 1024,
    PAGE_ROWS = 2,
    ASKED_BITS = 6,
    QUIET_ROWS = 256,
    METS_AT_ONCE = 4096,
    METS_LATELY = 1024,
};

struct line {
    uint64_t tag; /* block + 1; 0: free */
    uint64_t used[LINES_LEVELS];
    uint32_t place[LINES_LEVELS];  /* owner << 8 | its way in the set, or NO_WAY: not in that level; PLACE_BACK */
    uint32_t writer[LINES_LEVELS]; /* row + 1 of the last writer; 0: not changed */
    uint32_t toucher;              /* a row that has met the block << 8 | the last level where it did */
    uint32_t next;                 /* if it is free: the next free one */
};
_Static_assert(sizeof(struct line) == 64, "a record is a line of the cache");

/* It was written back to that level: its owner need not have met it there. */
#define PLACE_BACK (1u << 31)

static inline uint32_t line_owner(const struct line *l, unsigned level)
{
    return (l->place[level] & ~PLACE_BACK) >> 8;
}

static inline uint32_t line_way(const struct line *l, unsigned level)
{
    return l->place[level] & 0xff;
}

/* Of 64 blocks, a bit each: which of them a row has met at which level. */
struct lines_met {
    uint64_t at[LINES_LEVELS];
};

/* Which of them were ever in the chain, and the ones met by the first rows; of further rows it is in `met`. */
struct lines_page {
    uint64_t seen;
    struct lines_met met[PAGE_ROWS];
    uint32_t row[PAGE_ROWS]; /* + 1; 0: none yet */
};
_Static_assert(sizeof(struct lines_page) == 64, "what is known of 64 blocks is a line of the cache");

struct lines_region {
    struct lines_page page[REGION_LINES / PAGE_LINES];
    uint32_t line[REGION_LINES]; /* records; whether one is still the block's, its tag says */
};

struct lines {
    struct line *all; /* 0: none */
    uint32_t line_shift, grain_shift;
    uint32_t count; /* levels */
    bool poor;      /* there was no memory for a region */
    bool ahead;     /* the next batch looks ahead, as this one missed much */
    struct lines_level {
        uint64_t *orders; /* of sets, as in struct cache */
        uint32_t *held;   /* ORDER_WAYS records for each set, by way; 0: none */
        uint64_t sets, set_mask, set_inverse;
        uint64_t through_last; /* the nibbles of an order that are ways'; the others are 0 */
        uint32_t last;         /* place of the last of them, in bits */
        uint32_t index, grain_shift;
        struct cache *cache; /* its shape */
    } at[LINES_LEVELS];
    uint32_t made, most, free;
    struct lines_known {
        uint64_t number; /* + 1; 0: none */
        struct lines_region *region;
    } * known;               /* regions looked for last, by number */
    struct map regions, met; /* by row and page: a struct lines_met of these */
    struct lines_mets {
        struct lines_mets *before;
        uint64_t count;
        struct lines_met all[METS_AT_ONCE];
    } * mets;
    struct lines_lately {
        uint64_t key; /* + 1; 0: none */
        struct lines_met *met;
    } * lately;                                                             /* looked for last, by key */
    uint32_t asked_tables[1 << ASKED_BITS], asked_records[1 << ASKED_BITS]; /* blocks lately looked for ahead of time */
    uint32_t quiet_rows[QUIET_ROWS], quiet_count; /* whose last block was set while quiet; more than that: all */
};

struct mhsim;
struct mhsim_row;

/* Whether the chain is for this. */
bool line_engine_fit(const struct machine_level *levels, unsigned level);
bool line_engine_open(struct lines *, struct cache *first); /* false: no memory; to be closed */
void line_engine_close(struct lines *);
/* The levels' caches get what is here. */
void line_engine_to_caches(struct mhsim *, unsigned chain);
/* Counting begins: rows forget their positions while it was off, since they may not have met them. */
void line_engine_counted(struct mhsim *);
/* In their order, along one chain. The two chains may go side by side, in two threads. */
void line_engine_batch(struct mhsim *, unsigned chain, const struct mhsim_reference *, size_t n);

#endif
