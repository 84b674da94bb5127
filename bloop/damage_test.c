/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A valid binary, damaged: truncated at every boundary, and with bytes changed everywhere. elf_fuzz.c, linked in,
 * checks its invariants on each, so a crash or a violated invariant ends this program; LIMIT_SECONDS catches endless
 * loops.
 */
#include "bloop/binary_test.h"
#include "tests/tap.h"

#include <elf.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT_SECONDS 10 /* for a few kilobytes, on the slowest machine under a sanitizer */

static const char source[] =
    "static inline int twice(int x) { return x * 2; }\n"
    "__attribute__((noinline)) static int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += "
    "twice(a[i]); return s; }\n"
    "int table[3] = {1, 2, 3};\n"
    "int f(int k) { switch (k) { case 0: return sum(table, 3); case 1: return 7; default: return sum(table, k); } }\n"
    "int main(int argc, char **argv) { (void)argv; return f(argc); }\n";

/* Only sanitizers detect errors that do not crash: their builds run all cases, other builds a subset. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { COARSER = 1, EACH = 5 };
#else
enum { COARSER = 4, EACH = 21 };
#endif

static double slowest;

static void take(const uint8_t *bytes, size_t n)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    LLVMFuzzerTestOneInput(bytes, n);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double seconds = (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    slowest = seconds > slowest ? seconds : slowest;
}

static void cut_everywhere(const struct filemap *map)
{
    Elf64_Ehdr h;
    memcpy(&h, map->bytes, sizeof h);
    size_t cuts = 0;
    for (unsigned i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, map->bytes + h.e_shoff + i * sizeof s, sizeof s);
        uint64_t ends[] = {s.sh_offset, s.sh_offset + s.sh_size, h.e_shoff + i * sizeof s};
        for (size_t k = 0; k < ARRAY_SIZE(ends); k++)
            for (int d = -1; d <= 1; d++)
                if (ends[k] + (uint64_t)d <= map->len) {
                    take(map->bytes, ends[k] + (uint64_t)d);
                    cuts++;
                }
    }
    for (size_t n = 0; n < map->len; n += 61 * COARSER, cuts++)
        take(map->bytes, n);
    printf("# %zu cuts\n", cuts);
    CHECK_NAMED(cuts > 100 && slowest < LIMIT_SECONDS, "cut at section boundaries and between");
}

/* Sets each section header and its first bytes to all kinds of invalid numbers, and single bytes throughout the
   file. */
static void change_everywhere(const struct filemap *map)
{
    static const uint8_t values[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
    uint8_t *copy = mem_alloc(map->len);
    size_t changes = 0;
    Elf64_Ehdr h;
    memcpy(&h, map->bytes, sizeof h);
    memcpy(copy, map->bytes, map->len);
    for (size_t at = 0; at < map->len; at++) {
        bool header = at < 64 || (at >= h.e_shoff && at < h.e_shoff + (uint64_t)h.e_shnum * 64);
        if (header ? at % COARSER != 0 && at >= 64 : at % EACH != 0)
            continue;
        copy[at] = header && copy[at] == values[at % 5] ? 0x41
                   : header                             ? values[at % 5]
                                                        : copy[at] ^ (uint8_t)(1u << at % 8);
        take(copy, map->len);
        copy[at] = map->bytes[at];
        changes++;
    }
    mem_free(copy);
    printf("# %zu changes\n", changes);
    CHECK_NAMED(changes > 1000 / COARSER && slowest < LIMIT_SECONDS, "with bytes changed");
}

static void test(const char *compiler, const char *flags)
{
    char *path = compile(compiler, flags, "d.c", source, "d");
    struct filemap map;
    if (!path || filemap_open(&map, path, NULL) < 0) {
        SKIP(flags, "cannot be compiled here");
    } else {
        printf("# %s %s: %zu bytes\n", compiler, flags, map.len);
        cut_everywhere(&map);
        change_everywhere(&map);
        filemap_release(&map);
    }
    mem_free(path);
}

int main(void)
{
    scratch_make();
    test(tool("CC", "cc"), "-gdwarf-5 -O2 -c");
    test(tool("CC", "cc"), "-gdwarf-4 -O2");
    test("clang", "-gdwarf-5 -O2 -c");
    test("aarch64-linux-gnu-gcc", "-g -O1 -c");
    printf("# slowest: %.3f s\n", slowest);
    scratch_remove();
    return tap_done();
}
