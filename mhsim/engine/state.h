/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's state and counting, for its own files: engine.c (any machine) and line_engine.c (most machines). */
#ifndef MHSIM_ENGINE_STATE_H
#define MHSIM_ENGINE_STATE_H

#include "mhsim/engine/worker.h"
#include "mhsim/engine/cache.h"
#include "mhsim/engine/engine.h"
#include "mhsim/engine/line_engine.h"

struct core {
    struct cache *caches[MACHINE_LEVELS];
    struct cache *first[2]; /* of each chain */
};

struct mhsim {
    struct machine_memory machine;
    struct store rows, pairs, caches, cores;
    struct map row_of, seen, pair_of[2], touched[2]; /* of caches, of TLBs */
    struct mhsim_counts sink[MACHINE_LEVELS];        /* while quiet */
    uint64_t random, sample_mask;
    uint32_t chains[2], chain_count, levels, asked_cores;
    bool quiet, classify, strides; /* strides: some level's prefetcher needs them */
    bool plain;                    /* see "one code, twice" */
    bool quick;                    /* plain, and counting */
    bool by_lines;                 /* the chains are in `lines`, their caches are empty */
    struct pair_room {
        uint64_t next, end;
    } pair_room[2];
    bool pairs_locked;
    uint32_t helpers, batches; /* threads that may help; accesses before they were requested */
    void (*begins)(void);
    struct worker *worker[2]; /* of each chain */
    struct lines lines[2];
};

/* As store_get does, but by a size that the compiler knows. */
static inline struct mhsim_row *row_at(const struct mhsim *s, uint32_t i)
{
    return (struct mhsim_row *)(void *)s->rows.base + i;
}

static inline struct mhsim_counts *counts_of(struct mhsim *s, struct mhsim_row *row, unsigned level)
{
    return __builtin_expect(s->quiet, 0) ? &s->sink[level] : &row->levels[level];
}

static inline uint64_t bytes_mask(const struct cache *c, uint64_t address, uint32_t size)
{
    unsigned first = (unsigned)((address & c->line_mask) >> c->grain_shift);
    unsigned last = (unsigned)(((address + size - 1) & c->line_mask) >> c->grain_shift);
    return (UINT64_MAX >> (63 - (last - first))) << first;
}

/* The key's bit is set; true: it was not. */
bool state_first_bit(struct map *, uint64_t key, unsigned bit);
struct mhsim_pair *state_find_pair(struct mhsim *, uint32_t victim, uint32_t evictor, unsigned level);

/* Of the map `touched`: 64 blocks at a level, a bit for each. */
static inline uint64_t touched_key(uint32_t row, unsigned level, uint64_t block)
{
    return (uint64_t)row << 44 | (uint64_t)level << 41 | (block >> 6 & ((1ull << 41) - 1));
}

/* The owner has touched it: others need the look-up. */
static inline void count_distinct(struct mhsim *s, uint32_t row, struct mhsim_counts *n, unsigned level, uint64_t block)
{
    if (!s->quiet)
        n->distinct +=
            state_first_bit(&s->touched[s->machine.levels[level].tlb], touched_key(row, level, block), block & 63);
}

/* The pair in which the row was the evictor the last time. */
static inline uint32_t *last_pair(struct mhsim *s, uint32_t evictor, unsigned level)
{
    return &row_at(s, evictor)->last[s->machine.levels[level].tlb].pair[level];
}

static inline struct mhsim_pair *pair_of(struct mhsim *s, uint32_t victim, uint32_t evictor, unsigned level)
{
    uint32_t last = *last_pair(s, evictor, level);
    struct mhsim_pair *pair = (struct mhsim_pair *)(void *)s->pairs.base + last;
    return last && pair->victim == victim ? pair : state_find_pair(s, victim, evictor, level);
}

/* Without the processor's own instruction, which not every one has, the compiler would call a function. */
static inline unsigned bits_set(uint64_t v)
{
    if (v == UINT64_MAX)
        return 64;
    if (!(v & (v - 1)))
        return v != 0;
    v -= v >> 1 & 0x5555555555555555;
    v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
    return (unsigned)(((v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

/* Of a block brought in by `owner`, of which `used` bytes were touched; writer: row + 1 of the last writer, 0: none. */
static inline void count_eviction(struct mhsim *s, unsigned level, uint64_t used, uint32_t owner, uint32_t writer,
                                  uint32_t evictor, bool invalidation)
{
    if (__builtin_expect(s->quiet, 0))
        return;
    struct mhsim_counts *n = &row_at(s, owner)->levels[level];
    n->evictions++;
    n->used += used;
    if (writer)
        row_at(s, writer - 1)->levels[level].write_backs++;
    struct mhsim_pair *pair = pair_of(s, owner, evictor, level);
    pair->count++;
    if (invalidation) {
        n->invalidated++;
        pair->invalidations++;
    }
}

#endif
