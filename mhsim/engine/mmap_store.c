/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing memory without the heap. */
#include "config.h"
#include "mhsim/engine/mmap_store.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GROW = 1 << 20, HUGE_PAGE = 1 << 21, HUGE_MOST = 1 << 28 };

void *pages_get(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED && bytes >= HUGE_PAGE && bytes <= HUGE_MOST)
        madvise(p, bytes, MADV_HUGEPAGE);
    return p == MAP_FAILED ? NULL : p;
}

void pages_put(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}

/* ---- tables ------------------------------------------------------------------------ */

int mmap_store_open(struct store *s, size_t row, uint64_t most, const char *path, uint64_t at, uint64_t *count)
{
    *s = (struct store){.row = row, .most = most, .path = path, .at = at};
    s->count = count ? count : &s->own_count;
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *p = fd < 0 ? (path ? NULL : pages_get(row * most))
                     : mmap(NULL, row * most, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
    if (fd >= 0)
        close(fd);
    if (!p || p == MAP_FAILED)
        return -1;
    s->base = p;
    return 0;
}

/* Memory of a file is only touched after the file system has reserved the space: a full disk is an error here, and
   would be a signal there. */
static bool make_ready(struct store *s, uint64_t bytes)
{
    if (!s->path || bytes <= s->ready)
        return true;
    uint64_t wanted = (bytes + GROW - 1) / GROW * GROW;
    int fd = open(s->path, O_RDWR | O_CLOEXEC);
    bool good = fd >= 0 && posix_fallocate(fd, (off_t)(s->at + s->ready), (off_t)(wanted - s->ready)) == 0;
    if (fd >= 0)
        close(fd);
    if (good)
        s->ready = wanted;
    return good;
}

void *mmap_store_add(struct store *s, uint64_t n)
{
    if (n > s->most || *s->count > s->most - n || !make_ready(s, (*s->count + n) * s->row))
        return NULL;
    void *at = store_get(s, *s->count);
    *s->count += n;
    return at;
}

void mmap_store_close(struct store *s)
{
    pages_put(s->base, s->row * s->most);
    s->base = NULL;
}

/* ---- maps -------------------------------------------------------------------------- */

static struct map_slot *find(const struct map *m, uint64_t key)
{
    uint64_t i = map_hash(key) & (m->capacity - 1);
    while (m->slots[i].key != key && m->slots[i].key != MAP_EMPTY)
        i = (i + 1) & (m->capacity - 1);
    return &m->slots[i];
}

static bool grow(struct map *m)
{
    struct map bigger = {.capacity = m->capacity ? m->capacity * 2 : 256, .count = m->count, .most = m->most};
    bigger.slots = pages_get(bigger.capacity * sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    memset(bigger.slots, 0xff, bigger.capacity * sizeof *bigger.slots);
    for (uint64_t i = 0; i < m->capacity; i++)
        if (m->slots[i].key != MAP_EMPTY)
            *find(&bigger, m->slots[i].key) = m->slots[i];
    map_close(m);
    *m = bigger;
    return true;
}

uint64_t *map_get(const struct map *m, uint64_t key)
{
    if (!m->capacity)
        return NULL;
    struct map_slot *slot = find(m, key);
    return slot->key == key ? &slot->value : NULL;
}

uint64_t *map_put(struct map *m, uint64_t key)
{
    uint64_t *there = map_get(m, key);
    if (there)
        return there;
    if (m->count >= (m->most ? m->most : MAP_MOST) || (m->count * 3 >= m->capacity * 2 && !grow(m)))
        return NULL;
    struct map_slot *slot = find(m, key);
    *slot = (struct map_slot){key, 0};
    m->count++;
    return &slot->value;
}

void map_close(struct map *m)
{
    pages_put(m->slots, m->capacity * sizeof *m->slots);
    *m = (struct map){.most = m->most};
}
