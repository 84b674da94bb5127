/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of one cache: storage, and replacement. */
#include "config.h"
#include "mhsim/engine/cache.h"
#include "mhsim/engine/mmap_store.h"

static unsigned log2_of(uint64_t v)
{
    return 63 - (unsigned)__builtin_clzll(v);
}

static unsigned log2_up(uint64_t v)
{
    return v > 1 ? log2_of(v - 1) + 1 : 0;
}

/* ---- making ------------------------------------------------------------------------------- */

static size_t slot_count(const struct cache *c)
{
    return (size_t)c->sets << c->lane_shift;
}

/* The last one's tags are looked at 8 at a time. */
static size_t heads_bytes(const struct cache *c)
{
    return (sizeof *c->heads * c->sets << c->head_shift) + 16;
}

/* Ways are taken in their order: the first is the oldest. Nibbles after the last way's are unused. */
static uint64_t order_of_empty(uint32_t ways)
{
    uint64_t order = 0;
    for (uint64_t i = 0; i < ORDER_WAYS; i++)
        order |= (i < ways ? ways - 1 - i : i) << 4 * i;
    return order;
}

bool cache_open(struct cache *c, const struct machine_level *l, unsigned index)
{
    bool by_stamps = l->replace == MACHINE_LRU && l->ways > ORDER_WAYS;
    *c = (struct cache){.index = index,
                        .ways = l->ways,
                        .replace = l->replace,
                        .prefetch = l->prefetch,
                        .write_through = l->write_through,
                        .no_allocate = l->no_allocate,
                        .inclusive = l->inclusive,
                        .shared = l->shared,
                        .tlb = l->tlb,
                        .apart = !l->shared && !l->tlb};
    c->sets = l->size / ((uint64_t)l->line * l->ways);
    c->set_mask = (c->sets & (c->sets - 1)) == 0 ? c->sets - 1 : 0;
    c->set_inverse = UINT64_MAX / c->sets;
    c->line_shift = log2_of(l->line);
    c->line_mask = l->line - 1;
    c->grain_shift = c->line_shift > 6 ? c->line_shift - 6 : 0;
    c->lane_shift = log2_up(l->ways);
    c->tag_shift = log2_of(c->sets);
    c->order_words = by_stamps ? 0 : l->replace == MACHINE_PLRU ? (l->ways + 63) / 64 : 1;
    c->head_shift = log2_up(c->order_words + (l->ways + 3) / 4);
    c->first_order = l->replace == MACHINE_LRU && !by_stamps ? order_of_empty(l->ways) : 0;
    c->blocks = pages_get(slot_count(c) * sizeof *c->blocks);
    c->heads = pages_get(heads_bytes(c));
    c->stamps = by_stamps ? pages_get(slot_count(c) * sizeof *c->stamps) : NULL;
    if (c->blocks && c->heads && (c->stamps || !by_stamps))
        return true;
    cache_close(c);
    return false;
}

void cache_close(struct cache *c)
{
    pages_put(c->blocks, slot_count(c) * sizeof *c->blocks);
    pages_put(c->heads, heads_bytes(c));
    pages_put(c->stamps, slot_count(c) * sizeof *c->stamps);
    fully_assoc_close(&c->full);
    c->blocks = NULL;
    c->heads = c->stamps = NULL;
}

/* ---- replacement -------------------------------------------------------------------------- */

/* The tree of a set is stored as a heap: node 1 is the root, 2n and 2n + 1 are below n; a bit is the side to take
   next. */
static void tree_touch(uint64_t *tree, uint32_t ways, uint32_t way)
{
    for (uint32_t node = way + ways; node > 1; node /= 2) {
        uint32_t up = node / 2;
        if (node & 1)
            tree[up / 64] &= ~(1ull << up % 64);
        else
            tree[up / 64] |= 1ull << up % 64;
    }
}

static uint32_t tree_victim(const uint64_t *tree, uint32_t ways)
{
    uint32_t node = 1;
    while (node < ways)
        node = node * 2 + (tree[node / 64] >> node % 64 & 1);
    return node - ways;
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

static uint32_t random_way(uint64_t *random, uint32_t ways)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)(((*random >> 32) * ways) >> 32);
}

void cache_touch_otherwise(struct cache *c, uint32_t slot)
{
    if (c->replace == MACHINE_PLRU)
        tree_touch(cache_head(c, slot >> c->lane_shift), c->ways, slot & ((1u << c->lane_shift) - 1));
    else if (c->stamps)
        c->stamps[slot] = ++c->clock;
}

uint32_t cache_victim_otherwise(struct cache *c, uint64_t set, uint64_t *random)
{
    uint32_t first = (uint32_t)(set << c->lane_shift);
    if (c->stamps)
        return first + oldest_way(&c->stamps[first], c->ways);
    for (uint32_t i = 0; i < c->ways; i++)
        if (!c->blocks[first + i].tag)
            return first + i;
    return first +
           (c->replace == MACHINE_PLRU ? tree_victim(cache_head(c, set), c->ways) : random_way(random, c->ways));
}

/* The way becomes the oldest: those that were older come one place forward. */
static uint64_t order_drop(uint64_t order, uint64_t way, uint32_t ways)
{
    unsigned at = order_place(order, way), last = 4 * (ways - 1);
    uint64_t newer = (1ull << at) - 1, through_last = UINT64_MAX >> (60 - last);
    uint64_t older = order & through_last & ~(newer << 4 | 15);
    return (order & ~through_last) | way << last | older >> 4 | (order & newer);
}

void cache_drop(struct cache *c, uint32_t slot)
{
    uint64_t *order = cache_head(c, slot >> c->lane_shift);
    if (c->stamps)
        c->stamps[slot] = 0;
    else if (c->first_order)
        *order = order_drop(*order, slot & ((1u << c->lane_shift) - 1), c->ways);
}
