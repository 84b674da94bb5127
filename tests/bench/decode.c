/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of a bare Zydis decode of all executable sections: the lower bound with which `make bench` compares structure
 * recovery.
 *
 *     decode FILE              the lower bound alone
 *     decode --stages FILE     also our own steps, each timed, and their statistics
 */
#include "bloop/arch/ops.h"
#include "bloop/code/cfg_int.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void bare_decode(const struct image *im)
{
    ZydisDecoder d;
    ZydisDecodedInstruction z;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    uint64_t bytes = 0, instructions = 0, bad = 0;
    double start = now();
    for (size_t i = 0; i < im->section_count; i++) {
        const struct image_section *s = &im->sections[i];
        if (!s->exec || s->bytes == NULL)
            continue;
        bytes += s->size;
        for (uint64_t at = 0; at < s->size; instructions++) {
            bool ok = ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, s->bytes + at, s->size - at, &z));
            at += ok ? z.length : 1;
            bad += !ok;
        }
    }
    printf("bare Zydis decode: %.3f s, %llu bytes, %llu instructions, %llu undecodable bytes\n", now() - start,
           (unsigned long long)bytes, (unsigned long long)instructions, (unsigned long long)bad);
}

struct totals {
    uint64_t code, padding, table, bad, instructions, blocks, edges, loops, irreducible, indirect, unresolved, deepest;
};

static void add(struct totals *t, const struct cfg *g, const struct loop_forest *f)
{
    for (size_t i = 0; i < g->block_count; i++)
        t->code += g->blocks[i].end - g->blocks[i].begin;
    t->padding += g->padding_bytes;
    t->table += g->table_bytes;
    t->bad += g->bad_bytes;
    t->instructions += g->instructions;
    t->blocks += g->block_count;
    t->edges += g->succ_count;
    t->indirect += g->indirect_jumps;
    t->unresolved += g->unresolved_jumps;
    t->loops += f->loop_count;
    for (size_t i = 0; i < f->loop_count; i++) {
        t->irreducible += f->loops[i].irreducible;
        t->deepest = f->loops[i].depth > t->deepest ? f->loops[i].depth : t->deepest;
    }
}

static void print_totals(const struct totals *t, uint64_t text)
{
    printf("%llu instructions, %llu blocks, %llu edges, %llu loops (%llu irreducible, at most %llu deep)\n",
           (unsigned long long)t->instructions, (unsigned long long)t->blocks, (unsigned long long)t->edges,
           (unsigned long long)t->loops, (unsigned long long)t->irreducible, (unsigned long long)t->deepest);
    printf("%llu bytes: %.2f%% code, %.2f%% padding, %.2f%% table; %llu undecodable bytes\n", (unsigned long long)text,
           100.0 * (double)t->code / (double)text, 100.0 * (double)t->padding / (double)text,
           100.0 * (double)t->table / (double)text, (unsigned long long)t->bad);
    printf("%llu indirect jumps, %llu unresolved (%.2f%% resolved)\n", (unsigned long long)t->indirect,
           (unsigned long long)t->unresolved,
           t->indirect > 0 ? 100.0 * (double)(t->indirect - t->unresolved) / (double)t->indirect : 100.0);
}

/* With BENCH_DECODE_VERBOSE set: print unusual cases. */
static void complain(const struct cfg *g, const struct function *fn, const struct loop_forest *f)
{
    uint32_t deepest = 0;
    for (size_t i = 0; i < f->loop_count; i++)
        deepest = f->loops[i].depth > deepest ? f->loops[i].depth : deepest;
    for (size_t i = 0; i < g->work->indirects.count; i++) {
        const struct indirect *j = &g->work->indirects.items[i];
        if (j->state == INDIRECT_UNKNOWN || j->state == INDIRECT_NEW)
            printf("unresolved %llx in %llx %s\n", (unsigned long long)cfg_address(g->work, j->at),
                   (unsigned long long)fn->begin, fn->link_name);
        else if (strcmp(getenv("BENCH_DECODE_VERBOSE"), "all") == 0)
            printf("%s %llx: %u targets\n", j->state == INDIRECT_RESOLVED ? "resolved" : "tail",
                   (unsigned long long)cfg_address(g->work, j->at), j->target_count);
    }
    if (g->bad_bytes > 0 || deepest > 12)
        printf("%llu bad bytes, %u deep in %llx-%llx %s\n", (unsigned long long)g->bad_bytes, deepest,
               (unsigned long long)fn->begin, (unsigned long long)fn->end, fn->link_name);
}

static void stages(const struct image *im)
{
    double start = now();
    struct function_table *table = functions_find(im, NULL);
    printf("functions_find: %.3f s, %zu functions\n", now() - start, table->count);
    start = now();
    uint8_t *noreturn = noreturn_find(im, table, true, 1);
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++)
        count += noreturn[i];
    printf("noreturn_find: %.3f s, %zu functions never return\n", now() - start, count);
    struct cfg g = {0};
    struct loop_forest f = {0};
    struct totals t = {0};
    double cfg_time = 0, loop_time = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->functions[i].part_of != FUNCTION_NONE)
            continue;
        struct cfg_input in = {
            .image = im, .functions = table, .arch = arch_get(im->arch), .noreturn = noreturn, .function = i};
        double a = now();
        cfg_build(&in, &g);
        double b = now();
        loop_forest_find(&g, &f);
        cfg_time += b - a;
        loop_time += now() - b;
        if (getenv("BENCH_DECODE_VERBOSE") != NULL)
            complain(&g, &table->functions[i], &f);
        add(&t, &g, &f);
    }
    printf("cfg_build: %.3f s; loop_forest_find: %.3f s\n", cfg_time, loop_time);
    uint64_t text = 0;
    for (size_t i = 0; i < im->section_count; i++)
        if (im->sections[i].exec && im->sections[i].bytes != NULL)
            text += im->sections[i].size;
    print_totals(&t, text);
    cfg_release(&g);
    loop_forest_release(&f);
    mem_free(noreturn);
    functions_free(table);
}

int main(int argc, char **argv)
{
    struct image *im = NULL;
    struct err err = {0};
    bool all = argc == 3 && strcmp(argv[1], "--stages") == 0;
    if (argc != 2 + all) {
        fprintf(stderr, "usage: decode [--stages] FILE\n");
        return 2;
    }
    double start = now();
    if (image_open(argv[argc - 1], NULL, &im, NULL, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    if (all)
        printf("image_open: %.3f s\n", now() - start);
    bare_decode(im);
    if (all)
        stages(im);
    image_close(im);
    return 0;
}
