/* SPDX-License-Identifier: BSD-3-Clause */
/* The one door to the heap, arenas and growing arrays. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

/* Builds with AddressSanitizer detect reads behind an allocation; so that they also detect reads behind an array's
   elements, or from one allocation of an arena into the next, small arrays have no spare capacity there, and arenas a
   gap behind each allocation. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
enum { GROWN_EXACTLY = 64, ARENA_GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
enum { GROWN_EXACTLY = 0, ARENA_GAP = 0 };
#endif

static void (*memory_handler)(size_t wanted);

void mem_set_handler(void (*out_of_memory)(size_t wanted))
{
    memory_handler = out_of_memory;
}

static _Noreturn void out_of_memory(size_t wanted)
{
    if (memory_handler)
        memory_handler(wanted);
    abort();
}

void *mem_alloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        out_of_memory(n);
    return p;
}

void *mem_calloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (!p)
        out_of_memory(count * size);
    return p;
}

void *mem_realloc(void *p, size_t count, size_t size)
{
    size_t n;
    if (__builtin_mul_overflow(count, size, &n))
        out_of_memory(SIZE_MAX);
    p = realloc(p, n ? n : 1);
    if (!p)
        out_of_memory(n);
    return p;
}

char *mem_strndup(const char *s, size_t n)
{
    char *copy = mem_alloc(n + 1);
    if (n) /* an empty buffer may have no bytes at all */
        memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *mem_strdup(const char *s)
{
    return mem_strndup(s, strlen(s));
}

char *mem_vprintf(const char *fmt, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, fmt, args) < 0)
        out_of_memory(strlen(fmt));
    return text;
}

char *mem_printf(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = mem_vprintf(fmt, args);
    va_end(args);
    return text;
}

void mem_free(void *p)
{
    free(p);
}

void *vec_grow_(void *items, size_t *capacity, size_t wanted, size_t item_size)
{
    size_t n = *capacity ? *capacity + *capacity / 2 : 8;
    if (n < wanted || wanted <= GROWN_EXACTLY)
        n = wanted;
    items = mem_realloc(items, n, item_size);
    *capacity = n;
    return items;
}

/* An arena is a chain of chunks; a large request gets a chunk of its own. Chunks are taken cleared, so what is handed out
   is clear without another pass over it. */
struct chunk {
    struct chunk *next;
    size_t size;
    _Alignas(16) char bytes[];
};

struct arena {
    struct chunk *chunks; /* the first is the one being filled */
    size_t used, total;
};

enum { CHUNK_FIRST = 4096, CHUNK_LARGEST = 1 << 20 };

struct arena *arena_create(void)
{
    return mem_calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        mem_free(c);
    }
    mem_free(a);
}

static struct chunk *add_chunk(struct arena *a, size_t size)
{
    struct chunk *c = mem_calloc(1, sizeof *c + size);
    c->size = size;
    ASAN_POISON_MEMORY_REGION(c->bytes, size);
    a->total += sizeof *c + size;
    return c;
}

static void *take(struct arena *a, size_t n)
{
    if (a->chunks && a->chunks->size - a->used >= n) {
        void *p = a->chunks->bytes + a->used;
        a->used += n;
        return p;
    }
    size_t usual = a->chunks ? a->chunks->size * 2 : CHUNK_FIRST;
    if (usual > CHUNK_LARGEST)
        usual = CHUNK_LARGEST;
    if (n > usual / 2 && a->chunks) { /* goes behind the current chunk, which stays in use */
        struct chunk *c = add_chunk(a, n);
        c->next = a->chunks->next;
        a->chunks->next = c;
        return c->bytes;
    }
    struct chunk *c = add_chunk(a, n > usual ? n : usual);
    c->next = a->chunks;
    a->chunks = c;
    a->used = n;
    return c->bytes;
}

void *arena_alloc(struct arena *a, size_t n)
{
    if (n > SIZE_MAX / 2)
        out_of_memory(n);
    void *p = take(a, ((n + 15) & ~(size_t)15) + ARENA_GAP);
    ASAN_UNPOISON_MEMORY_REGION(p, n);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *copy = arena_alloc(a, n + 1);
    memcpy(copy, s, n);
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
    va_start(args, fmt);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, fmt, args);
    va_end(args);
    return text;
}

size_t arena_bytes(const struct arena *a)
{
    return a->total;
}
