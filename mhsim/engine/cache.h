/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocks of one cache (or TLB) of the simulator: where they lie, how one is found, which goes next.
 *
 * A miss in a large cache is a miss in the caches of the machine that simulates it, so a look-up touches little: of a
 * set there is a head in one line of memory (its order, and 16 bits of each block's number) and the one block in
 * question. All of it begins as zeros, so that unused parts take no memory.
 *
 *     head:    order (LRU: a nibble for each way, the most recent first; PLRU: the tree's bits) | short tags, 4 to a word
 *     blocks:  by set and lane (ways, rounded up to a power of two)
 */
#ifndef MHSIM_ENGINE_CACHE_H
#define MHSIM_ENGINE_CACHE_H

#include "mhsim/engine/fully_assoc.h"
#include "mhsim/mhsim.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define NO_SLOT UINT32_MAX

/* A block's state. */
#define BLOCK_EXCLUSIVE (1u << 31)       /* no other core has the block */
#define BLOCK_FETCHED   (1u << 30)       /* by a prefetcher, and not touched since */
#define BLOCK_BACK      (1u << 29)       /* written back to here: its owner need not have met it at this level */
#define BLOCK_WRITER    (BLOCK_BACK - 1) /* row + 1 of the last writer; 0: not changed */
#define NO_ROW          UINT32_MAX

struct block {
    uint64_t tag;  /* its number + 1; 0: none is here */
    uint64_t used; /* bytes touched, or 64ths of a larger block: a bit each */
    uint32_t owner, state;
    uint32_t toucher; /* a row known to have met the block here: its owner, or the last one; NO_ROW: none */
    uint32_t below;   /* where in the next cache its copy was put; the tag there says whether it still is */
};

struct cache {
    struct block *blocks;
    uint64_t *heads;
    uint64_t *stamps, clock; /* LRU of more ways than an order has nibbles for: by slot; 0: empty */
    struct cache *next;      /* where a miss goes; NULL: memory */
    uint64_t sets, set_mask, set_inverse;
    uint64_t first_order; /* of an empty set; 0: none is kept (PLRU, random, and LRU by stamps) */
    uint32_t ways, lane_shift, head_shift, order_words, tag_shift;
    uint32_t line_shift, line_mask, grain_shift;
    uint32_t index, number; /* level; number among all caches */
    uint8_t replace, prefetch;
    bool write_through, no_allocate, inclusive, shared, tlb;
    bool apart; /* a private cache: other cores' copies of a block lie elsewhere */
    struct fully_assoc full;
};

enum { ORDER_WAYS = 16 };
#define EACH_NIBBLE UINT64_C(0x1111111111111111)
#define EACH_LANE   UINT64_C(0x0001000100010001)

bool cache_open(struct cache *, const struct machine_level *, unsigned index); /* false: no memory */
void cache_close(struct cache *);
/* The slot, whose block went, is the next to be taken. */
void cache_drop(struct cache *, uint32_t slot);
void cache_touch_otherwise(struct cache *, uint32_t slot); /* of cache_touch, if there is no order */
uint32_t cache_victim_otherwise(struct cache *, uint64_t set, uint64_t *random);

/* block modulo sets: at most one too many sets are left by a quotient from the inverse (rounded down). */
static inline uint64_t cache_set(const struct cache *c, uint64_t block)
{
    if (c->set_mask || c->sets == 1)
        return block & c->set_mask;
    uint64_t quotient = (uint64_t)(((unsigned __int128)block * c->set_inverse) >> 64), set = block - quotient * c->sets;
    return set >= c->sets ? set - c->sets : set;
}

static inline uint64_t *cache_head(const struct cache *c, uint64_t set)
{
    return &c->heads[set << c->head_shift];
}

static inline uint64_t cache_short_tag(const struct cache *c, uint64_t block)
{
    return block >> c->tag_shift & 0xffff;
}

/* Which of 8 (with SSE2) or 4 short tags at `tags` may match: bits, `at` of them apart. Elsewhere a zero among the
   lanes of a word shows as its highest bit, and higher lanes may show false matches (Mycroft 1987; Warren, Hacker's
   Delight, 6-1). The block decides. */
#ifdef __SSE2__
enum { TAGS_AT_ONCE = 8, TAG_BITS = 2 };
static inline uint64_t tags_alike(const uint64_t *tags, uint64_t wanted)
{
    __m128i eight = _mm_loadu_si128((const void *)tags);
    return (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi16(eight, _mm_set1_epi16((short)wanted))) & 0x5555;
}
#else
enum { TAGS_AT_ONCE = 4, TAG_BITS = 16 };
static inline uint64_t tags_alike(const uint64_t *tags, uint64_t wanted)
{
    uint64_t x = *tags ^ wanted * EACH_LANE;
    return ((x - EACH_LANE) & ~x & EACH_LANE << 15) >> 15;
}
#endif

/* Tags behind the last way's are another set's order, or nothing: their blocks are not asked. */
static inline uint32_t cache_find(const struct cache *c, uint64_t block)
{
    uint64_t set = cache_set(c, block), wanted = cache_short_tag(c, block);
    const uint64_t *tags = cache_head(c, set) + c->order_words;
    uint32_t first = (uint32_t)(set << c->lane_shift);
    for (uint32_t i = 0; i < c->ways; i += TAGS_AT_ONCE)
        for (uint64_t found = tags_alike(tags + i / 4, wanted); found; found &= found - 1) {
            uint32_t way = i + (uint32_t)__builtin_ctzll(found) / TAG_BITS;
            if (way < c->ways && c->blocks[first + way].tag == block + 1)
                return first + way;
        }
    return NO_SLOT;
}

/* Where the way stands in the order, in bits. */
static inline __attribute__((always_inline)) unsigned order_place(uint64_t order, uint64_t way)
{
    uint64_t x = order ^ way * EACH_NIBBLE;
    return (unsigned)__builtin_ctzll((x - EACH_NIBBLE) & ~x & EACH_NIBBLE << 3) & ~3u;
}

/* The way becomes the newest; it is in the order, and not the newest. */
static inline __attribute__((always_inline)) uint64_t order_newest(uint64_t order, uint64_t way)
{
    uint64_t x = order ^ way * EACH_NIBBLE;
    uint64_t through = (2ull << __builtin_ctzll((x - EACH_NIBBLE) & ~x & EACH_NIBBLE << 3)) - 1; /* its last bit's */
    return (order & ~through) | (order << 4 & through) | way;
}

static inline void cache_touch(struct cache *c, uint32_t slot)
{
    uint64_t way = slot & ((1u << c->lane_shift) - 1), *order = cache_head(c, slot >> c->lane_shift);
    if (!c->first_order) {
        cache_touch_otherwise(c, slot);
    } else if ((*order & 15) != way) { /* it was taken before, so there is an order */
        *order = order_newest(*order, way);
    }
}

/* The slot that the next block of this set comes to; what is in it has to go. Empty ways stand last in an order by
   themselves. random: the state to draw from. */
static inline uint32_t cache_victim(struct cache *c, uint64_t set, uint64_t *random)
{
    uint64_t *order = cache_head(c, set);
    if (!c->first_order)
        return cache_victim_otherwise(c, set, random);
    if (!*order)
        *order = c->first_order;
    return (uint32_t)(set << c->lane_shift) + (uint32_t)(*order >> 4 * (c->ways - 1) & 15);
}

static inline void cache_put(struct cache *c, uint32_t slot, uint64_t block, uint64_t used, uint32_t owner,
                             uint32_t state, uint32_t below)
{
    uint32_t way = slot & ((1u << c->lane_shift) - 1);
    uint64_t *word = cache_head(c, slot >> c->lane_shift) + c->order_words + way / 4;
    unsigned at = way % 4 * 16;
    *word = (*word & ~(UINT64_C(0xffff) << at)) | cache_short_tag(c, block) << at;
    c->blocks[slot] = (struct block){block + 1, used, owner, state, state & BLOCK_BACK ? NO_ROW : owner, below};
}

#endif
