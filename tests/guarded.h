/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests: memory that ends at an inaccessible page, so that accesses past its end crash even without sanitizers. */
#ifndef TESTS_GUARDED_H
#define TESTS_GUARDED_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static inline size_t guarded_whole(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Cleared; NULL: no memory. */
static inline void *guarded_get(size_t bytes)
{
    size_t whole = guarded_whole(bytes), page = guarded_whole(1);
    uint8_t *p = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + whole, page, PROT_NONE) != 0)
        return NULL;
    return p + whole - bytes;
}

static inline void guarded_put(void *p, size_t bytes)
{
    size_t whole = guarded_whole(bytes);
    if (p)
        munmap((uint8_t *)p - (whole - bytes), whole + guarded_whole(1));
}

struct guarded_room {
    uint8_t *end; /* NULL: not allocated yet */
    size_t bytes;
};

/* A copy of the items; valid until the next request. */
static inline void *guarded_copy(struct guarded_room *room, const void *items, size_t bytes)
{
    if (!room->end || room->bytes < bytes) {
        uint8_t *p = guarded_get(guarded_whole(bytes));
        if (!p)
            exit(99);
        *room = (struct guarded_room){p + guarded_whole(bytes), guarded_whole(bytes)};
    }
    if (bytes)
        memcpy(room->end - bytes, items, bytes);
    return room->end - bytes;
}

#endif
