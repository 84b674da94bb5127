/* SPDX-License-Identifier: BSD-3-Clause */
/* Random graphs and random walks through them: the trip counts of their loops, compared with counts made during the
   walk. */
#include "bloop/code/code.h"
#include "filters/filters.h"
#include "metrics/code/code.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>

enum { BLOCKS = 8, BLOCK_BYTES = 0x10, BASE = 0x1000, MODULE = 0, WALKS = 3, STEPS = 60 };

static struct cfg graph;
static struct cfg_block blocks[BLOCKS];
static uint32_t succs[2 * BLOCKS], entry;
static struct loop_forest forest;

/* For each pair of blocks, the number of transitions (BLOCKS: from outside); falling through to the next block is not a
   jump. */
static uint64_t led[BLOCKS + 1][BLOCKS];

struct bloop_binary *fake_open(const struct hpcprof *, const struct config *, uint32_t);
void fake_code_at(struct bloop_binary *, const vaddr *, size_t, bloop_code_visit *, void *, struct warnings *);
void fake_close(struct bloop_binary *);

struct bloop_binary *fake_open(const struct hpcprof *p, const struct config *config, uint32_t module)
{
    (void)p, (void)config, (void)module;
    return (struct bloop_binary *)&graph;
}

void fake_close(struct bloop_binary *binary)
{
    (void)binary;
}

void fake_code_at(struct bloop_binary *binary, const vaddr *addresses, size_t count, bloop_code_visit *visit, void *ctx,
                  struct warnings *warnings)
{
    struct bloop_code code = {.cfg = &graph, .forest = &forest};
    (void)binary, (void)addresses, (void)warnings;
    if (count)
        visit(ctx, &code);
}

static vaddr begin_of(uint32_t block)
{
    return BASE + block * BLOCK_BYTES;
}

static void draw_graph(void)
{
    uint32_t count = 2 + below(BLOCKS - 1), n = 0;
    for (uint32_t b = 0; b < count; b++) {
        blocks[b] = (struct cfg_block){.begin = begin_of(b), .end = begin_of(b + 1), .succ_first = n};
        if (b + 1 < count && below(5) > 0)
            succs[n++] = b + 1;
        if (below(3) > 0)
            succs[n++] = below(count);
        blocks[b].succ_count = n - blocks[b].succ_first;
    }
    graph = (struct cfg){
        .blocks = blocks, .succs = succs, .entries = &entry, .block_count = count, .succ_count = n, .entry_count = 1};
    loop_forest_find(&graph, &forest);
}

/* Continuing to the next block is not a jump. */
static void walk(void)
{
    uint32_t at = 0;
    led[BLOCKS][0]++;
    for (int i = 0; i < STEPS && blocks[at].succ_count; i++) {
        uint32_t to = succs[blocks[at].succ_first + below(blocks[at].succ_count)];
        led[at][to]++;
        at = to;
    }
}

static bool is_in(uint32_t block, uint32_t loop)
{
    uint32_t l = block < graph.block_count ? forest.block_loop[block] : LOOP_NONE;
    for (; l != LOOP_NONE; l = forest.loops[l].parent)
        if (l == loop)
            return true;
    return false;
}

/* By definition: entries from outside, and back edges to the header, excluding those of nested loops. */
static void count_loop(uint32_t loop, uint64_t *entries, uint64_t *iterations)
{
    *entries = 0;
    uint64_t back = 0;
    for (uint32_t from = 0; from <= BLOCKS; from++)
        for (uint32_t to = 0; to < graph.block_count; to++) {
            if (is_in(to, loop) && !is_in(from, loop))
                *entries += led[from][to];
            else if (is_in(from, loop) && forest.loops[loop].header == to)
                back += led[from][to];
        }
    *iterations = back ? *entries + back : 0;
}

static void add_row(struct table *t, uint32_t part, uint32_t from, uint32_t to, uint64_t times)
{
    table_add(t, (union table_cell[]){{.count = part}, {.row = 0}, {.row = from}, {.row = to}, {.count = times}});
}

/* The rows that callgrind's filter would create: by target only, and by address of the jump. */
static void put_jumps(struct hpcprof *p, struct table *t, uint32_t part, const uint32_t *begins, const uint32_t *ends)
{
    (void)p;
    for (uint32_t to = 0; to < graph.block_count; to++) {
        uint64_t others = led[BLOCKS][to];
        bool is_target = false;
        for (uint32_t from = 0; from < graph.block_count; from++) {
            if (from + 1 == to)
                others += led[from][to];
            else if (led[from][to]) {
                add_row(t, part, ends[from], begins[to], led[from][to]);
                is_target = true;
            }
        }
        if (is_target && others)
            add_row(t, part, TABLE_NONE, begins[to], others);
    }
}

static uint64_t counted(const struct hpcprof *p, const char *event, vaddr address)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < p->count_count; i++)
        if (strcmp(strtab_get(p->strings, p->events[p->counts[i].event].name), event) == 0 &&
            p->contexts[p->counts[i].context].address == address)
            sum += p->counts[i].value;
    return sum;
}

static bool is_jumped_to(uint32_t block)
{
    for (uint32_t from = 0; from < graph.block_count; from++)
        if (from + 1 != block && led[from][block])
            return true;
    return false;
}

static unsigned irreducible, nested, plain;

static void check_graph(void)
{
    struct hpcprof *p = hpcprof_create();
    struct table *t;
    uint32_t begins[BLOCKS], ends[BLOCKS];
    static const struct config config;
    draw_graph();
    memset(led, 0, sizeof led);
    for (int i = 0; i < WALKS; i++)
        walk();
    hpcprof_add_thread(
        p, &(struct hpcprof_thread){.process = hpcprof_add_process(p, &(struct hpcprof_process){.rank = -1})});
    uint32_t module = hpcprof_add_module(p, "m", "");
    for (uint32_t b = 0; b < graph.block_count; b++) {
        struct hpcprof_context c = {.parent = HPCPROF_NO_PARENT, .module = module, .address = begin_of(b)};
        begins[b] = hpcprof_add_context(p, &c);
        c.address = begin_of(b + 1) - 2;
        ends[b] = hpcprof_add_context(p, &c);
    }
    CHECK_INT(table_list_declare(&p->tables, &filters_jumps, p->strings, &t, NULL), 0);
    put_jumps(p, t, 0, begins, ends);
    hpcprof_finish(p);
    trip_counts_add(p, &config);
    CHECK(table_list_find(&p->tables, "jumps") == NULL);
    for (uint32_t l = 0; l < forest.loop_count; l++) {
        uint64_t entries, iterations;
        uint32_t header = forest.loops[l].header;
        count_loop(l, &entries, &iterations);
        bool placed = is_jumped_to(header) && forest.block_loop[header] == l;
        /* an irreducible loop may have an entry that is never used */
        if (!placed || (forest.loops[l].irreducible && iterations == 0))
            continue;
        bool complete = true;
        for (uint32_t to = 0; to < graph.block_count; to++)
            complete &=
                !is_in(to, l) || is_jumped_to(to) || is_in(to ? to - 1 : BLOCKS, l) || !led[to ? to - 1 : BLOCKS][to];
        if (!complete)
            continue;
        CHECK_INT(counted(p, EVENT_ITERATIONS, begin_of(header)), iterations);
        CHECK_INT(counted(p, EVENT_ENTRIES, begin_of(header)), iterations ? entries : 0);
        irreducible += forest.loops[l].irreducible;
        nested += forest.loops[l].depth > 1;
        plain += !forest.loops[l].irreducible;
    }
    hpcprof_free(p);
}

/* 10 trips in the first part, 2 x 4 in the second; in the third the loop only goes on. */
static void check_parts(void)
{
    static const uint64_t times[][2] = {{9, 1}, {6, 2}, {3, 0}};
    static const struct config config;
    struct hpcprof *p = hpcprof_create();
    struct table *t;
    blocks[0] = (struct cfg_block){.begin = begin_of(0), .end = begin_of(1), .succ_first = 0, .succ_count = 1};
    blocks[1] = (struct cfg_block){.begin = begin_of(1), .end = begin_of(2), .succ_first = 1, .succ_count = 1};
    succs[0] = succs[1] = 1;
    graph = (struct cfg){
        .blocks = blocks, .succs = succs, .entries = &entry, .block_count = 2, .succ_count = 2, .entry_count = 1};
    loop_forest_find(&graph, &forest);
    hpcprof_add_thread(
        p, &(struct hpcprof_thread){.process = hpcprof_add_process(p, &(struct hpcprof_process){.rank = -1})});
    struct hpcprof_context c = {
        .parent = HPCPROF_NO_PARENT, .module = hpcprof_add_module(p, "m", ""), .address = begin_of(1)};
    uint32_t header = hpcprof_add_context(p, &c);
    c.address = begin_of(2) - 2;
    uint32_t jump = hpcprof_add_context(p, &c);
    CHECK_INT(table_list_declare(&p->tables, &filters_jumps, p->strings, &t, NULL), 0);
    for (uint32_t part = 0; part < ARRAY_SIZE(times); part++) {
        add_row(t, part + 1, jump, header, times[part][0]);
        if (times[part][1])
            add_row(t, part + 1, TABLE_NONE, header, times[part][1]);
    }
    hpcprof_finish(p);
    trip_counts_add(p, &config);
    CHECK_INT(counted(p, EVENT_ITERATIONS, begin_of(1)), 21);
    CHECK_INT(counted(p, EVENT_ENTRIES, begin_of(1)), 3);
    const struct table *trips = table_list_find(&p->tables, "trip_counts");
    if (CHECK(trips && table_row_count(trips) == 1)) {
        const union table_cell *row = table_row(trips, 0);
        CHECK_INT(p->contexts[row[0].row].address, begin_of(1));
        CHECK_INT(row[2].count, 2);
        CHECK_INT(row[3].number, 4);
        CHECK_INT(row[4].number, 7);
        CHECK_INT(row[5].number, 10);
        CHECK(row[6].number > 4.24 && row[6].number < 4.25);
    }
    hpcprof_free(p);
}

int main(void)
{
    for (int i = 0; i < 2000; i++)
        check_graph();
    printf("# %u loops, %u of them in others; %u with several ways in\n", plain, nested, irreducible);
    CHECK(plain > 300 && nested > 50 && irreducible > 20);
    check_parts();
    loop_forest_release(&forest);
    return tap_done();
}
