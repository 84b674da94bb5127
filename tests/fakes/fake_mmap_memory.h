/* For tests: memory that the simulator maps ends at an inaccessible page, and mapping fails on request. For sources
   that are compiled with fake_mmap.h included first. */
#ifndef TESTS_FAKE_MMAP_MEMORY_H
#define TESTS_FAKE_MMAP_MEMORY_H

#include "tests/fakes/fake_mmap.h"

#undef mmap
#undef munmap
#undef syscall
#undef sched_yield
#undef __builtin_cpu_supports

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Of mappings of this size (0: any), this many succeed first, then this many fail. */
static struct {
    size_t bytes;
    unsigned first, times, refused;
    int mapped; /* number of existing mappings */
} made_memory;

static bool memory_refuses(size_t bytes)
{
    if (made_memory.times == 0 || (made_memory.bytes && made_memory.bytes != bytes))
        return false;
    if (made_memory.first > 0)
        return made_memory.first--, false;
    made_memory.times -= made_memory.times != UINT_MAX;
    made_memory.refused++;
    return true;
}

static size_t memory_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t memory_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Ends at a page's end, as closely as cache lines permit, followed by an inaccessible page; for files whole pages. */
void *fake_mmap(void *at, size_t bytes, int may, int how, int fd, off_t from)
{
    size_t page = memory_page(), whole = memory_up(bytes, page);
    (void)at;
    if (memory_refuses(bytes))
        return MAP_FAILED;
    uint8_t *p = mmap(NULL, whole + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return MAP_FAILED;
    __atomic_add_fetch(&made_memory.mapped, 1, __ATOMIC_SEQ_CST);
    if (fd >= 0)
        return mmap(p, bytes, may, how | MAP_FIXED, fd, from);
    return mprotect(p, whole, may) == 0 ? p + whole - memory_up(bytes, 64) : MAP_FAILED;
}

int fake_munmap(void *p, size_t bytes)
{
    size_t page = memory_page();
    uint8_t *whole = (uint8_t *)p - (uintptr_t)p % page;
    __atomic_sub_fetch(&made_memory.mapped, 1, __ATOMIC_SEQ_CST);
    return munmap(whole, memory_up(bytes, page) + page);
}

static bool fewer_instructions; /* as on older processors */

int fake_supports(const char *word)
{
    if (fewer_instructions)
        return false;
#ifdef __x86_64__
    return strcmp(word, "popcnt") == 0 ? __builtin_cpu_supports("popcnt")
           : strcmp(word, "bmi") == 0  ? __builtin_cpu_supports("bmi")
                                       : __builtin_cpu_supports("bmi2");
#else
    return *word != '\0';
#endif
}

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
