/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as one function: through decoder, graph, jump tables, closure and loops; then the invariants that
 * code.h promises.
 *
 *     byte 0     bit 0: AArch64; bit 1: the second half of the code is the cold part
 *     byte 1, 2  length of the code; what follows it is read-only data (tables)
 */
#include "tests/fixtures/code_image.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The point of these checks is that they run, however the rest is compiled. */
#define MUST(cond) ((cond) ? (void)0 : (void)(__builtin_trap(), 0))

static bool inside(const struct function_table *t, vaddr begin, vaddr end)
{
    for (size_t i = 0; i < t->count; i++)
        if ((i == 0 || t->functions[i].part_of == 0) && begin >= t->functions[i].begin && end <= t->functions[i].end)
            return true;
    return false;
}

static void check_graph(const struct cfg *g, const struct function_table *t)
{
    for (uint32_t i = 0; i < g->block_count; i++) {
        const struct cfg_block *b = &g->blocks[i];
        MUST(b->begin < b->end && inside(t, b->begin, b->end));
        MUST(i == 0 || b->begin > b[-1].begin);
        MUST((size_t)b->succ_first + b->succ_count <= g->succ_count && b->pad_count <= b->succ_count);
        for (uint32_t k = 0; k < b->succ_count; k++)
            MUST(g->succs[b->succ_first + k] < g->block_count);
    }
    for (size_t i = 0; i < g->entry_count; i++)
        MUST(g->entries[i] < g->block_count);
    MUST(g->unresolved_jumps <= g->indirect_jumps);
}

static bool dominates(const struct loop_forest *f, uint32_t a, uint32_t b)
{
    while (b != a && f->idom[b] != b)
        b = f->idom[b];
    return a == b;
}

static void check_forest(const struct cfg *g, const struct loop_forest *f)
{
    for (uint32_t i = 0; i < f->loop_count; i++) {
        const struct loop *l = &f->loops[i];
        MUST(l->header < g->block_count && f->block_loop[l->header] != LOOP_NONE);
        MUST(l->parent == LOOP_NONE ? l->depth == 1 : l->parent < i && l->depth == f->loops[l->parent].depth + 1);
    }
    size_t steps = 0; /* the check itself must not be quadratic without end */
    for (uint32_t b = 0; b < g->block_count; b++) {
        MUST(f->idom[b] == UINT32_MAX || f->idom[b] < g->block_count);
        MUST(f->idom[b] != UINT32_MAX || f->block_loop[b] == LOOP_NONE);
        for (uint32_t l = f->block_loop[b]; l != LOOP_NONE && steps < 100000; l = f->loops[l].parent, steps++) {
            MUST(l < f->loop_count);
            MUST(f->loops[l].irreducible || dominates(f, f->loops[l].header, b));
        }
    }
}

static void check_same(const struct cfg *a, const struct cfg *b)
{
    MUST(a->block_count == b->block_count && a->succ_count == b->succ_count && a->entry_count == b->entry_count);
    for (size_t i = 0; i < a->block_count; i++)
        MUST(a->blocks[i].begin == b->blocks[i].begin && a->blocks[i].end == b->blocks[i].end);
    MUST(a->succ_count == 0 || memcmp(a->succs, b->succs, a->succ_count * sizeof *a->succs) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct cfg reused; /* whatever came before must not show */
    static struct loop_forest forest;
    if (size < 4)
        return 0;
    size_t code = bytes[1] | (size_t)bytes[2] << 8;
    bool aarch64 = bytes[0] & 1, cold = bytes[0] & 2;
    const uint8_t *p = bytes + 3;
    size -= 3;
    if (code == 0 || code > size)
        code = size;
    size_t hot = cold ? (code / 2 + 3) & ~(size_t)3 : code;
    if (hot == 0 || hot > code)
        hot = code;
    struct image_section sections[] = {
        {.name = ".text", .addr = 0x1000, .bytes = p, .size = hot, .alloc = true, .exec = true},
        {.name = ".cold", .addr = 0x20000, .bytes = p + hot, .size = code - hot, .alloc = true, .exec = true},
        {.name = ".rodata", .addr = 0x40000, .bytes = p + code, .size = size - code, .alloc = true},
    };
    struct image im = {.arch = aarch64 ? ARCH_AARCH64 : ARCH_X86_64, .sections = sections, .section_count = 3};
    struct function functions[] = {
        {.begin = 0x1000, .end = 0x1000 + hot, .link_name = "f", .part_of = FUNCTION_NONE},
        {.begin = 0x20000, .end = 0x20000 + code - hot, .link_name = "f.cold", .part_of = 0},
    };
    struct function_table table = {.functions = functions, .count = code > hot ? 2 : 1};
    const struct arch *arch = arch_get(im.arch);
    if (arch == NULL)
        return 0;
    test_site_count = size > 8 ? p[size - 1] & 3 : 0;
    for (size_t i = 0; i < test_site_count; i++)
        test_sites[i] = (struct call_site){0x1000 + p[i], 0x1000 + p[i] + p[i + 1], 0x1000 + p[i + 2]};
    struct cfg fresh = {0};
    struct cfg_input in = {.image = &im, .functions = &table, .arch = arch};
    cfg_build(&in, &reused);
    cfg_build(&in, &fresh);
    check_same(&fresh, &reused);
    check_graph(&fresh, &table);
    loop_forest_find(&fresh, &forest);
    check_forest(&fresh, &forest);
    cfg_release(&fresh);
    mem_free(noreturn_find(&im, &table, true, 1));
    return 0;
}
