/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes, checksums, the map from 64-bit keys and the index of rows. */
#include "support/support.h"

#include <zlib.h>

/* Written so that compilers make one load of it. */
static uint64_t little_u64(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
    const uint8_t *p = bytes;
    uint64_t h = seed ^ n * 0x9e3779b97f4a7c15ull;
    for (; n >= 8; p += 8, n -= 8)
        h = hash_mix(h ^ little_u64(p)) + 0x9e3779b97f4a7c15ull;
    uint64_t rest = 0;
    for (size_t i = 0; i < n; i++)
        rest |= (uint64_t)p[i] << 8 * i;
    return hash_mix(h ^ rest);
}

uint32_t crc32_bytes(uint32_t crc, const void *bytes, size_t n)
{
    return (uint32_t)crc32_z(crc, bytes, n);
}

/* Open addressing, linear probing, at most three quarters full. A slot's data are adjacent: the cost of a lookup in
   a large map is the cache line that it misses. */
static struct hashmap_slot *slot_of(const struct hashmap *m, uint64_t key)
{
    size_t i = hash_mix(key) & (m->capacity - 1);
    while (m->slots[i].used && m->slots[i].key != key)
        i = (i + 1) & (m->capacity - 1);
    return &m->slots[i];
}

uint32_t hashmap_get(const struct hashmap *m, uint64_t key)
{
    if (m->capacity == 0)
        return HASHMAP_NONE;
    const struct hashmap_slot *slot = slot_of(m, key);
    return slot->used ? slot->value : HASHMAP_NONE;
}

static void hashmap_grow(struct hashmap *m)
{
    struct hashmap bigger = {.capacity = m->capacity ? m->capacity * 2 : 16, .count = m->count};
    bigger.slots = mem_calloc(bigger.capacity, sizeof *bigger.slots);
    for (size_t i = 0; i < m->capacity; i++)
        if (m->slots[i].used)
            *slot_of(&bigger, m->slots[i].key) = m->slots[i];
    hashmap_release(m);
    *m = bigger;
}

uint32_t *hashmap_put(struct hashmap *m, uint64_t key)
{
    if (m->capacity == 0 || m->count >= m->capacity / 4 * 3)
        hashmap_grow(m);
    struct hashmap_slot *slot = slot_of(m, key);
    if (!slot->used) {
        *slot = (struct hashmap_slot){key, HASHMAP_NONE, 1};
        m->count++;
    }
    return &slot->value;
}

void hashmap_release(struct hashmap *m)
{
    mem_free(m->slots);
    *m = (struct hashmap){0};
}

/* ---- rows of a table, by contents ---------------------------------------------------------------------- */

static void put_row(struct row_index *x, struct row_slot slot)
{
    size_t i = slot.hash & (x->capacity - 1);
    while (x->slots[i].row != ROW_NONE)
        i = row_index_next(x, i);
    x->slots[i] = slot;
}

void row_index_add(struct row_index *x, uint64_t hash, uint32_t row)
{
    if (x->count >= x->capacity / 4 * 3) {
        struct row_index bigger = {.capacity = x->capacity ? x->capacity * 2 : 16, .count = x->count};
        bigger.slots = mem_alloc(bigger.capacity * sizeof *bigger.slots);
        memset(bigger.slots, 0xff, bigger.capacity * sizeof *bigger.slots);
        for (size_t i = 0; i < x->capacity; i++)
            if (x->slots[i].row != ROW_NONE)
                put_row(&bigger, x->slots[i]);
        row_index_release(x);
        *x = bigger;
    }
    put_row(x, (struct row_slot){(uint32_t)hash, row});
    x->count++;
}

void row_index_release(struct row_index *x)
{
    mem_free(x->slots);
    *x = (struct row_index){0};
}
