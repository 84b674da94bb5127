/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing memory without the heap: tables that may be in a file, so that counts outlive the process, and hash maps.
   For code inside the simulated program. */
#ifndef MHSIM_ENGINE_MMAP_STORE_H
#define MHSIM_ENGINE_MMAP_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows that never move. */
struct store {
    uint8_t *base;
    uint64_t *count;                 /* rows; in the file's head if there is a file */
    uint64_t own_count, ready, most; /* bytes that are backed; rows at most */
    size_t row;
    const char *path; /* of the file; NULL: memory alone */
    uint64_t at;      /* offset in the file */
};

/* In memory (path NULL; count NULL: its own), or in the file from offset `at`; path is kept, no descriptor is:
   programs close unknown ones. -1: not available. */
int mmap_store_open(struct store *, size_t row, uint64_t most, const char *path, uint64_t at, uint64_t *count);
/* `n` rows more, cleared; NULL: the limit, or the disk is full. */
void *mmap_store_add(struct store *, uint64_t n);
void mmap_store_close(struct store *);

static inline void *store_get(const struct store *s, uint64_t i)
{
    return s->base + i * s->row;
}

/* Whole pages from the system, cleared; NULL: none. */
void *pages_get(size_t bytes);
void pages_put(void *, size_t bytes);

/* 64-bit keys (not ~0) to 64-bit values that begin as 0. */
struct map {
    struct map_slot {
        uint64_t key, value;
    } * slots;
    uint64_t count, capacity, most; /* most: entries at most; 0: MAP_MOST */
};
#define MAP_EMPTY UINT64_MAX
#define MAP_MOST  (1ull << 26)
/* The key's value, made where it was not; NULL: the limit, or no memory. Valid until the next put. */
uint64_t *map_put(struct map *, uint64_t key);
uint64_t *map_get(const struct map *, uint64_t key); /* NULL: not there */
void map_close(struct map *);

/* Keys made of several numbers: the upper ones are mixed into the lower bits before the multiplication, because a
   product's lower bits do not depend on them, and all rows that met a block would be in one line. */
static inline uint64_t map_hash(uint64_t key)
{
    key = (key ^ key >> 32) * 0x9e3779b97f4a7c15;
    return key ^ (key >> 29);
}

#endif
