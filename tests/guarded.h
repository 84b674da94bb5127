/* Copies of what is given to the code at hand, at the end of what may be read: who reads one too far, dies. */
#ifndef TESTS_GUARDED_H
#define TESTS_GUARDED_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GUARDED_ROOMS = 6, GUARDED_BYTES = 1 << 18 };

/* Each room holds what was copied there last. */
static inline void *guarded(unsigned room, const void *items, size_t bytes)
{
    static char *rooms[GUARDED_ROOMS];
    char **at = &rooms[room];
    if (!*at) {
        void *map = mmap(NULL, 2 * GUARDED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED || mprotect((char *)map + GUARDED_BYTES, GUARDED_BYTES, PROT_NONE) != 0)
            exit(99);
        *at = map;
    }
    if (bytes > GUARDED_BYTES)
        exit(99);
    char *copy = *at + GUARDED_BYTES - bytes;
    if (bytes)
        memcpy(copy, items, bytes);
    return copy;
}

#endif
