/* Memory whose last byte is the last of a page, behind which nothing may be read: who reads one too far crashes, in every build. */
#ifndef TESTS_EDGE_H
#define TESTS_EDGE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct edge {
    uint8_t *end; /* NULL: not made yet */
    size_t room;
};

/* A copy of n bytes, at the edge; it is there until the next one is asked for. */
static inline uint8_t *edge_copy(struct edge *e, const void *bytes, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (n + page - 1) / page * page;
    if (!e->end || e->room < n) {
        uint8_t *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED || mprotect(p + room, page, PROT_NONE) != 0)
            exit(99);
        *e = (struct edge){p + room, room};
    }
    memcpy(e->end - n, bytes, n);
    return e->end - n;
}

#endif
