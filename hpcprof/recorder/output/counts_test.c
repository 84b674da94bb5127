/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of call paths is bounded: it is cut where it was visited least, new paths beyond the bound are counted
   without their path, and no sample is lost. */
#undef syscall
#undef dl_iterate_phdr
#include "hpcprof/format/format.h"
#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/unwind/unwind.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

struct recorder hpcrec;

/* Memory is mapped with an unreadable page after it; from some request on, mapping fails. */
static unsigned asked, mapped;
static unsigned refused_from = ~0u; /* counted as in `asked` */

long fake_syscall(long number, ...);
long fake_syscall(long number, ...)
{
    va_list list;
    long a[3];
    va_start(list, number);
    for (int i = 0; i < (number == SYS_munmap ? 2 : 3); i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_munmap) {
        mapped--;
        guarded_put((void *)a[0], guarded_whole((size_t)a[1]));
        return 0;
    }
    if (asked++ >= refused_from)
        return -1;
    mapped += number == SYS_mmap;
    void *p = guarded_get(guarded_whole((size_t)a[number == SYS_mremap ? 2 : 1]));
    if (p && number == SYS_mremap) {
        memcpy(p, (void *)a[0], (size_t)a[1]);
        guarded_put((void *)a[0], guarded_whole((size_t)a[1]));
    }
    return p ? (long)p : -1;
}

/* One module; each reason for a cut path is a module of its own. */
static const char *reasons[UNWIND_END_COUNT + 1];

uint32_t hpcrec_maps_find(uint64_t pc, uint64_t *address)
{
    *address = (uint32_t)pc;
    return pc >> 32 ? 100 + (uint32_t)(pc >> 32) : 0; /* distant addresses belong to other modules */
}

uint32_t hpcrec_maps_named(const char *name)
{
    uint32_t i = 1;
    while (reasons[i] && strcmp(reasons[i], name) != 0)
        i++;
    reasons[i] = name;
    return i;
}

static char names[8][16];

const char *hpcrec_string(uint32_t offset)
{
    return names[offset];
}

uint32_t hpcrec_string_add(const char *s)
{
    uint32_t i = 1;
    while (names[i][0] && strcmp(names[i], s) != 0)
        i++;
    snprintf(names[i], sizeof names[i], "%s", s);
    return i;
}

enum { MANY = 1 << 21, DEEP = 64 };

static struct thread_row *only_thread(void)
{
    hpcrec_area_room(&hpcrec.thread_rows, 1, sizeof(struct thread_row));
    hpcrec.thread_rows.count = 1;
    hpcrec.config.event_count = 1;
    return hpcrec.thread_rows.items;
}

static uint64_t counted(void)
{
    uint64_t n = 0;
    for (size_t i = 0; i < hpcrec.cells.count; i++)
        n += ((struct cell *)hpcrec.cells.items)[i].samples;
    return n;
}

/* Samples in one function by the path that was met `which`-th: each has its own caller. */
static void count_by_path(uint32_t root, uint32_t which)
{
    hpcrec_count(0, 0, 0, 0x5000, hpcrec_context(0x100000 + which, root), 1, 10);
}

static void forget(void)
{
    hpcrec_counts_forget();
    hpcrec_area_free(&hpcrec.contexts, sizeof(struct context_row));
    hpcrec_area_free(&hpcrec.cells, sizeof(struct cell));
    hpcrec_area_free(&hpcrec.thread_rows, sizeof(struct thread_row));
}

static void test_limit(void)
{
    struct thread_row *thread = only_thread();
    uint32_t root = hpcrec_context(0x1000, CONTEXT_NONE);
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t parent = hpcrec_context(0x100000 + i, root);
        if (parent == CONTEXT_NONE) /* as paths.c does */
            parent = hpcrec_context_cut(UNWIND_FULL);
        hpcrec_count(0, 0, 0, 0x5000, parent, 1, 10);
    }
    size_t full = hpcrec.contexts.count;
    CHECK_NAMED(full > 1 << 19 && full < (1 << 20) + 1000, "a named number of contexts, and a few more");
    CHECK_NAMED(counted() == MANY && thread->lost[0] == 0, "no sample is lost");
    uint32_t cut = hpcrec_context(0x5000, hpcrec_context_cut(UNWIND_FULL));
    const struct cell *cells = hpcrec.cells.items;
    uint64_t without = 0;
    for (size_t i = 0; i < hpcrec.cells.count; i++)
        without += cells[i].context == cut ? cells[i].samples : 0;
    CHECK_NAMED(without > MANY / 2 && without < MANY, "those without a path say so");
    for (uint32_t i = 0; i < DEEP; i++)
        count_by_path(root, i);
    CHECK_NAMED(hpcrec.contexts.count == full && counted() == MANY + DEEP, "paths that were there go on");
    uint32_t other = hpcrec_context(0x9000, CONTEXT_NONE);
    CHECK_NAMED(other != CONTEXT_NONE && hpcrec_context(0x9000, CONTEXT_NONE) == other,
                "and flat places are still made");
    hpcrec_count(0, 0, 0, 0x7000, hpcrec_context(0x100000, root), 1, 10); /* a new place below an existing path */
    CHECK_NAMED(counted() == MANY + DEEP + 1 && thread->lost[0] == 0,
                "a new place at the end of an old path is counted");
    forget();
}

/* ---- cuts at the least visited places ---------------------------------------------------------------------------- */

enum { MOST = 800, DEPTH = 8, ROUNDS = 4000, INSTRUCTIONS = 5 };

/* Contexts as text with their counts: "1000 > 2000 > cut > 3000". */
static void text_of(uint32_t row, char *to)
{
    const struct context_row *rows = hpcrec.contexts.items;
    to[0] = '\0';
    if (rows[row].parent != CONTEXT_NONE) {
        text_of(rows[row].parent, to);
        strcat(to, " > ");
    }
    if (rows[row].module)
        strcat(to, "cut");
    else
        sprintf(to + strlen(to), "%x", (unsigned)rows[row].address);
}

static uint64_t counted_at(const char *path)
{
    uint64_t n = 0;
    const struct cell *cells = hpcrec.cells.items;
    for (size_t i = 0; i < hpcrec.cells.count; i++) {
        char text[400];
        text_of(cells[i].context, text);
        n += strcmp(text, path) == 0 ? cells[i].samples : 0;
    }
    return n;
}

/* Samples at this instruction, for all callers. */
static uint64_t counted_in(uint64_t address)
{
    uint64_t n = 0;
    const struct cell *cells = hpcrec.cells.items;
    const struct context_row *rows = hpcrec.contexts.items;
    for (size_t i = 0; i < hpcrec.cells.count; i++)
        n += rows[cells[i].context].address == address ? cells[i].samples : 0;
    return n;
}

/* Including callees. */
static uint64_t counted_below(uint64_t address)
{
    uint64_t n = 0;
    const struct cell *cells = hpcrec.cells.items;
    const struct context_row *rows = hpcrec.contexts.items;
    for (size_t i = 0; i < hpcrec.cells.count; i++)
        for (uint32_t r = cells[i].context; r != CONTEXT_NONE; r = rows[r].parent)
            if (rows[r].address == address) {
                n += cells[i].samples;
                break;
            }
    return n;
}

static uint32_t followed; /* a row referenced from outside of the table */

static void follow(const uint32_t *moved)
{
    followed = followed == CONTEXT_NONE ? CONTEXT_NONE : moved[followed];
}

static uint32_t call(uint64_t pc, uint32_t parent)
{
    uint32_t row = hpcrec_context(pc, parent);
    return row == CONTEXT_NONE ? hpcrec_context_cut(UNWIND_FULL) : row;
}

/* Always different paths from the start, one in eight of which reaches `often`, which first occurs when there are many
   already. */
static void count_rounds(uint32_t root, uint64_t *paths)
{
    for (uint32_t i = 0, r = 1; i < ROUNDS; i++) {
        uint32_t parent = root;
        for (int k = 0; k < DEPTH; k++) {
            r = r * 1664525u + 1013904223u;
            parent = call(0x10000 * (uint64_t)(k + 2) + (r >> 24) * 16, parent);
        }
        hpcrec_count(0, 0, 0, 0x100 + i % INSTRUCTIONS, parent, 1, 10);
        if (i % 8 == 0 && i > ROUNDS / 4) {
            hpcrec_count(0, 0, 0, 0x200, call(0x8000, call(0x7000, root)), 1, 10);
            ++*paths;
        }
        if (hpcrec_contexts_are_many())
            hpcrec_contexts_thin(follow);
    }
}

static bool rows_are_sound(void)
{
    const struct context_row *rows = hpcrec.contexts.items;
    for (uint32_t i = 0; i < hpcrec.contexts.count; i++)
        if (rows[i].parent != CONTEXT_NONE && rows[i].parent >= i)
            return false;
    for (uint32_t i = 0; i < hpcrec.contexts.count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (memcmp(&rows[i], &rows[k], sizeof *rows) == 0)
                return false;
    return true;
}

static void test_least_visited(void)
{
    struct thread_row *thread = only_thread();
    uint64_t often = 0;
    hpcrec.config.call_paths = true;
    hpcrec.config.paths_max = MOST;
    uint32_t root = followed = hpcrec_context(0x1000, CONTEXT_NONE);
    count_rounds(root, &often);
    CHECK_NAMED(hpcrec.contexts.count <= MOST + 2 * INSTRUCTIONS + 2, "contexts stay below their limit");
    CHECK_NAMED(rows_are_sound(), "parents come first, and no row is there twice");
    CHECK_NAMED(counted() == ROUNDS + often && thread->lost[0] == 0, "no sample is lost");
    CHECK_NAMED(counted_below(0x1000) == counted(), "what stays has all it called");
    CHECK_NAMED(followed == root && counted_at("1000 > 7000 > 8000 > 200") == often,
                "paths that are often met are whole, late as they came");
    CHECK_NAMED(counted_at("1000 > cut > 100") > ROUNDS / INSTRUCTIONS / 2 &&
                    counted_in(0x100) == ROUNDS / INSTRUCTIONS,
                "others keep what stays of them, and their instruction");
    CHECK_NAMED(thread->last_context > 0 && thread->last_context <= hpcrec.contexts.count,
                "the last place of a thread is one that there is");
    forget();
}

/* Repeated cuts at less depth, below frames that stay and below markers of other kinds. */
static void test_cut_again(void)
{
    only_thread();
    hpcrec.config.paths_max = MOST;
    uint32_t root = hpcrec_context(0x1000, CONTEXT_NONE), lost = hpcrec_context_cut(UNWIND_STACK);
    uint32_t calls[] = {call(0x2000, root), call(0x3000, lost)};
    for (uint32_t i = 0; i < 8 * MOST; i++) {
        for (int k = 0; k < 2; k++)
            hpcrec_count(0, 0, 0, 0x100, call(0x100000 + i, call(0x4000, calls[k])), 1, 10);
        followed = calls[0];
        if (hpcrec_contexts_are_many()) {
            hpcrec_contexts_thin(follow);
            calls[0] = followed;
            calls[1] = call(0x3000, hpcrec_context_cut(UNWIND_STACK));
        }
    }
    uint64_t inner = counted_at("1000 > 2000 > 4000 > cut > 100"), outer = counted_at("cut > 3000 > 4000 > cut > 100");
    CHECK_NAMED(inner > 7 * MOST && outer > 7 * MOST, "paths are cut below the last frame that is met often");
    CHECK_NAMED(counted_at("1000 > 2000 > 4000 > cut > cut > 100") == 0 && counted() == 16 * MOST, "and once");
    forget();
}

/* ---- comparison with lists

The same operations by linear search in lists: contents, rows, remaining paths after cuts, and output. ---- */

enum { PATHS = 320, LIST = 4000, STRANDS = 3, EVENTS = 3, REGIONS = 3 };

struct listed {
    struct context_row rows[LIST];
    struct cell cells[LIST];
    size_t row_count, cell_count, thinned_to;
    uint32_t cut[UNWIND_END_COUNT]; /* CONTEXT_NONE: not created */
    uint32_t last[STRANDS];         /* + 1 */
};
static struct listed list;

static bool listed_is_cut(uint32_t row)
{
    for (unsigned i = 0; i < UNWIND_END_COUNT; i++)
        if (list.cut[i] == row)
            return true;
    return false;
}

static uint32_t listed_row(struct context_row wanted, size_t most)
{
    for (uint32_t i = 0; i < list.row_count; i++)
        if (list.rows[i].address == wanted.address && list.rows[i].module == wanted.module &&
            list.rows[i].parent == wanted.parent)
            return i;
    if (list.row_count >= most && wanted.parent != CONTEXT_NONE && !listed_is_cut(wanted.parent))
        return CONTEXT_NONE;
    if (list.row_count == LIST)
        exit(99);
    list.rows[list.row_count] = wanted;
    return (uint32_t)list.row_count++;
}

static uint32_t listed_cut(unsigned why)
{
    static const char *const words[] = {
#define X(name, words) words,
        UNWIND_ENDS(X)
#undef X
    };
    struct context_row wanted = {.module = hpcrec_maps_named(words[why]), .parent = CONTEXT_NONE};
    if (list.cut[why] == CONTEXT_NONE)
        list.cut[why] = listed_row(wanted, PATHS);
    return list.cut[why];
}

static uint32_t listed_context(uint64_t pc, uint32_t parent)
{
    struct context_row wanted = {.parent = parent};
    wanted.module = hpcrec_maps_find(pc, &wanted.address);
    return listed_row(wanted, PATHS);
}

/* Finds the cell, or adds an empty one. */
static struct cell *listed_cell(struct cell like)
{
    struct cell *c = list.cells;
    while (c < list.cells + list.cell_count && (c->thread != like.thread || c->context != like.context ||
                                                c->event != like.event || c->region != like.region))
        c++;
    if (c == list.cells + LIST)
        exit(99);
    if (c == list.cells + list.cell_count) {
        list.cell_count++;
        *c = (struct cell){.thread = like.thread, .context = like.context, .event = like.event, .region = like.region};
    }
    return c;
}

static void listed_count(struct cell what, uint64_t pc, uint32_t parent)
{
    what.context = listed_context(pc, parent);
    if (what.context == CONTEXT_NONE)
        what.context = listed_context(pc, listed_cut(UNWIND_FULL));
    struct cell *c = listed_cell(what);
    c->samples += what.samples;
    c->value += what.value;
    c->new_samples += what.new_samples;
    c->new_value += what.new_value;
    c->dirty = true;
    list.last[what.thread] = what.context + 1;
}

/* ---- cutting them ---- */

static uint64_t visits[LIST], most_visits;

static bool listed_visited(uint32_t row, uint64_t least)
{
    return list.rows[row].parent == CONTEXT_NONE || visits[row] >= least;
}

static void listed_visits(void)
{
    memset(visits, 0, sizeof visits);
    most_visits = 0;
    for (size_t i = 0; i < list.cell_count; i++)
        for (uint32_t r = list.cells[i].context; r != CONTEXT_NONE; r = list.rows[r].parent)
            visits[r] += list.cells[i].samples;
    for (size_t i = 0; i < list.row_count; i++)
        most_visits = visits[i] > most_visits ? visits[i] : most_visits;
}

static bool listed_sampled(uint32_t row)
{
    for (size_t i = 0; i < list.cell_count; i++)
        if (list.cells[i].context == row)
            return true;
    return false;
}

static bool listed_stays(uint32_t row, uint64_t least)
{
    return listed_visited(row, least) || (listed_sampled(row) && listed_visited(list.rows[row].parent, least));
}

static size_t listed_staying(uint64_t least)
{
    size_t n = 0;
    for (uint32_t i = 0; i < list.row_count; i++)
        n += listed_stays(i, least);
    return n;
}

/* New row of each row after the last cut; CONTEXT_NONE: removed. */
static uint32_t gone_to[LIST];

static void listed_cut_once(uint64_t least)
{
    static struct listed was;
    was = list;
    uint32_t full = hpcrec_maps_named(FORMAT_PATH_CUT "more paths than are kept]");
    bool stays[LIST], sampled[LIST];
    for (uint32_t i = 0; i < was.row_count; i++) {
        stays[i] = listed_stays(i, least);
        sampled[i] = listed_sampled(i);
    }
    list.row_count = list.cell_count = 0;
    for (uint32_t i = 0; i < was.row_count; i++) {
        struct context_row row = was.rows[i];
        row.parent = row.parent == CONTEXT_NONE ? CONTEXT_NONE : gone_to[row.parent];
        gone_to[i] = stays[i] ? listed_row(row, LIST) : CONTEXT_NONE;
    }
    for (unsigned i = 0; i < UNWIND_END_COUNT; i++)
        list.cut[i] = was.cut[i] == CONTEXT_NONE ? CONTEXT_NONE : gone_to[was.cut[i]];
    for (uint32_t i = 0; i < was.row_count; i++) {
        if (stays[i] || !sampled[i])
            continue;
        struct context_row row = was.rows[i];
        uint32_t above = row.parent;
        while (was.rows[above].parent != CONTEXT_NONE && visits[above] < least)
            above = was.rows[above].parent;
        row.parent = gone_to[above];
        if (was.rows[above].module != full && !listed_is_cut(row.parent))
            row.parent = listed_row((struct context_row){.module = full, .parent = row.parent}, LIST);
        gone_to[i] = listed_row(row, LIST);
    }
    for (size_t i = 0; i < was.cell_count; i++) {
        struct cell like = was.cells[i];
        like.context = gone_to[like.context];
        struct cell *c = listed_cell(like);
        c->samples += like.samples;
        c->value += like.value;
        c->new_samples += like.new_samples;
        c->new_value += like.new_value;
        c->dirty = c->dirty || like.dirty;
    }
    for (unsigned i = 0; i < STRANDS; i++)
        list.last[i] = list.last[i] ? gone_to[list.last[i] - 1] + 1 : 0;
}

/* Cut once: the next limit of visits, doubled where too much would stay. */
static uint64_t listed_thin_once(uint64_t least)
{
    listed_visits();
    while (listed_staying(least) > PATHS / 8 * 3 && least <= most_visits)
        least *= 2;
    listed_cut_once(least);
    return least;
}

static unsigned wrong, cuttings;
static uint64_t cut_least; /* of the cutting that is going on */

/* Called on each cut: the list is cut at the same time. */
static void cut_too(const uint32_t *moved)
{
    size_t n = list.row_count;
    cut_least = listed_thin_once(cut_least);
    wrong += memcmp(moved, gone_to, n * sizeof *moved) != 0;
    cut_least *= 4;
    cuttings++;
}

/* Fills the unused end of lists with invalid data. */
static void spoil_rest(struct area *a, size_t item_size, int with)
{
    memset((uint8_t *)a->items + a->count * item_size, with, (a->room - a->count) * item_size);
}

static void spoil_rests(void)
{
    spoil_rest(&hpcrec.contexts, sizeof(struct context_row), below(2) ? 0xff : 0xee); /* without and with a parent */
    spoil_rest(&hpcrec.cells, sizeof(struct cell), 0xff);
    spoil_rest(&hpcrec.thread_rows, sizeof(struct thread_row), 0xff);
}

static void thin_both(void)
{
    uint64_t most;
    unsigned before = cuttings, wanted = 0;
    struct listed *copy = malloc(sizeof list);
    *copy = list;
    cut_least = 2;
    do { /* how often it is cut */
        uint64_t least = listed_thin_once(cut_least);
        most = most_visits;
        cut_least = least * 4;
        wanted++;
    } while (list.row_count > PATHS / 8 * 5 && cut_least / 4 <= most);
    list = *copy;
    free(copy);
    cut_least = 2;
    spoil_rests();
    unsigned asked_before = asked, mapped_before = mapped;
    hpcrec_contexts_thin(cut_too);
    wrong += cuttings - before != wanted;
    wrong += asked - asked_before != 6 * wanted || mapped != mapped_before; /* all of it before anything is cut */
    list.thinned_to = list.row_count;
}

/* ---- output ---- */

static int by_place(const void *left, const void *right)
{
    const struct cell *a = &list.cells[*(const uint32_t *)left], *b = &list.cells[*(const uint32_t *)right];
    uint64_t of_a = (uint64_t)a->thread << 32 | (uint64_t)a->event << 16 | a->region;
    uint64_t of_b = (uint64_t)b->thread << 32 | (uint64_t)b->event << 16 | b->region;
    return of_a != of_b ? (of_a < of_b ? -1 : 1) : a->context < b->context ? -1 : 1;
}

static bool of_one_block(const struct cell *a, const struct cell *b)
{
    return a->thread == b->thread && a->event == b->event && a->region == b->region;
}

static void put_listed_block(struct out *out, uint32_t *order, size_t n, bool all)
{
    const struct cell *first = &list.cells[order[0]];
    size_t block = hpcrec_block_begin(out, FORMAT_COUNTS);
    bool values = first->event == 1;
    uint64_t head[] = {first->thread, first->event, first->region, values ? FORMAT_HAS_VALUES : 0, n};
    for (size_t i = 0; i < 5; i++)
        hpcrec_put_uleb(out, head[i]);
    for (size_t i = 0; i < n; i++) {
        struct cell *c = &list.cells[order[i]];
        hpcrec_put_uleb(out, i ? c->context - list.cells[order[i - 1]].context : c->context);
        hpcrec_put_uleb(out, all ? c->samples : c->new_samples);
        if (values)
            hpcrec_put_uleb(out, all ? c->value : c->new_value);
    }
    hpcrec_block_end(out, block);
}

static void put_listed(struct out *out, bool all)
{
    uint32_t order[LIST];
    size_t n = 0;
    for (uint32_t i = 0; i < list.cell_count; i++)
        if (all || list.cells[i].dirty)
            order[n++] = i;
    qsort(order, n, sizeof *order, by_place);
    for (size_t i = 0, k; i < n; i += k) {
        for (k = 1; i + k < n && of_one_block(&list.cells[order[i]], &list.cells[order[i + k]]); k++)
            ;
        put_listed_block(out, order + i, k, all);
    }
    for (size_t i = 0; i < n; i++) {
        struct cell *c = &list.cells[order[i]];
        c->new_samples = 0;
        c->new_value = 0;
        c->dirty = false;
    }
}

static void write_both(bool all)
{
    struct out got = {0}, want = {0};
    spoil_rests();
    hpcrec_put_counts(&got, all);
    put_listed(&want, all);
    wrong += got.bytes.count != want.bytes.count ||
             (got.bytes.count && memcmp(got.bytes.items, want.bytes.items, got.bytes.count) != 0);
    hpcrec_area_free(&got.bytes, 1);
    hpcrec_area_free(&want.bytes, 1);
}

static bool lists_are_same(void)
{
    const struct context_row *rows = hpcrec.contexts.items;
    const struct cell *cells = hpcrec.cells.items;
    const struct thread_row *threads = hpcrec.thread_rows.items;
    bool same = hpcrec.contexts.count == list.row_count && hpcrec.cells.count == list.cell_count;
    for (size_t i = 0; same && i < list.row_count; i++)
        same = rows[i].address == list.rows[i].address && rows[i].module == list.rows[i].module &&
               rows[i].parent == list.rows[i].parent;
    for (size_t i = 0; same && i < list.cell_count; i++) {
        const struct cell *a = &cells[i], *b = &list.cells[i];
        same = of_one_block(a, b) && a->context == b->context && a->samples == b->samples && a->value == b->value &&
               a->new_samples == b->new_samples && a->new_value == b->new_value && a->dirty == b->dirty;
    }
    for (unsigned i = 0; same && i < STRANDS; i++)
        same = threads[i].last_context == list.last[i];
    return same;
}

/* ---- random input ---- */

/* Some addresses are frequent, the others are many; with `apart`, in several modules. */
static uint64_t drawn_pc(bool apart)
{
    uint64_t module = apart ? below(3) : 0;
    return module << 32 | (below(3) ? below(4) : 100 + below(2000)) * 8;
}

/* Calls both; without memory, does the same as paths.c. */
static uint32_t call_both(uint64_t pc, uint32_t parent)
{
    uint32_t row = hpcrec_context(pc, parent), want = listed_context(pc, parent);
    wrong += row != want;
    if (want != CONTEXT_NONE)
        return want;
    want = listed_cut(UNWIND_FULL);
    wrong += hpcrec_context_cut(UNWIND_FULL) != want;
    return want;
}

static uint32_t drawn_path(unsigned depth, bool apart)
{
    uint32_t row = CONTEXT_NONE;
    if (below(8) == 0) {
        unsigned why = below(UNWIND_END_COUNT - 1) + 1;
        row = listed_cut(why);
        wrong += hpcrec_context_cut(why) != row;
    }
    for (unsigned i = depth ? below(depth + 1) : 0; i > 0; i--)
        row = call_both(drawn_pc(apart), row);
    return row;
}

static void count_both(unsigned depth, bool apart)
{
    uint32_t path = drawn_path(depth, apart);
    uint64_t pc = drawn_pc(apart);
    struct cell what = {.thread = below(STRANDS),
                        .event = (uint8_t)below(EVENTS),
                        .region = (uint16_t)below(REGIONS),
                        .samples = 1 + below(below(8) ? 3 : 300)};
    if (below(20) == 0)
        what.samples = 0; /* counted without a sample */
    what.value = below(1000) * (uint64_t)what.samples;
    what.new_samples = (uint32_t)what.samples;
    what.new_value = what.value;
    listed_count(what, pc, path);
    hpcrec_count(what.thread, what.event, what.region, pc, path, (uint32_t)what.samples, what.value);
}

static void begin_lists(void)
{
    memset(&list, 0, sizeof list);
    memset(list.cut, 0xff, sizeof list.cut);
    hpcrec_area_room(&hpcrec.thread_rows, STRANDS, sizeof(struct thread_row));
    hpcrec.thread_rows.count = STRANDS;
    hpcrec.config = (struct config){.call_paths = true, .paths_max = PATHS, .event_count = EVENTS};
    hpcrec.config.events[1].conf.frequency = 1000;
}

static void test_lists(void)
{
    static const struct {
        const char *name;
        unsigned depth, steps, write, thin;
        bool apart;
    } kinds[] = {
        {"short paths", 2, 1200, 40, 1, true},      {"long paths", 9, 1200, 40, 1, true},
        {"flat places", 0, 800, 30, 1, true},       {"long paths, cut late", 12, 600, 100, 60, false},
        {"seldom written", 5, 1200, 600, 1, false}, {"short paths of one module", 3, 1200, 7, 1, false},
    };
    for (unsigned k = 0; k < 6; k++) {
        unsigned before = cuttings;
        wrong = 0;
        begin_lists();
        for (unsigned i = 0; i < kinds[k].steps; i++) {
            count_both(kinds[k].depth, kinds[k].apart);
            bool many = list.row_count >= PATHS / 4 * 3 && list.row_count - list.thinned_to >= PATHS / 8;
            wrong += hpcrec_contexts_are_many() != many;
            if (many && below(kinds[k].thin) == 0) {
                thin_both();
                wrong += !lists_are_same();
            }
            if (many && below(50) == 0) { /* unused */
                hpcrec_contexts_thin(NULL);
                list.thinned_to = list.row_count;
            }
            if (below(kinds[k].write) == 0)
                write_both(below(5) == 0);
        }
        wrong += !lists_are_same();
        write_both(false);
        write_both(true);
        write_both(false);
        CHECK_NAMED(wrong == 0 && cuttings > before, kinds[k].name);
        hpcrec.config.call_paths = false;
        CHECK(!hpcrec_contexts_are_many());
        forget();
    }
    hpcrec.config = (struct config){0};
}

static void count_one(uint64_t pc, uint32_t parent)
{
    listed_count((struct cell){.samples = 1, .value = 10, .new_samples = 1, .new_value = 10}, pc, parent);
    hpcrec_count(0, 0, 0, pc, parent, 1, 10);
}

/* More places without callers than can be kept, next to paths with `most` visits each; and many paths with equal
   visits, of which more are kept than the limit. */
static void test_limits_of_visits(void)
{
    for (unsigned most = 1; most <= 9; most++)
        for (int starts = 0; starts < 2; starts++) {
            begin_lists();
            wrong = 0;
            for (uint32_t i = 0; !starts && i < PATHS / 8 * 3 + 10; i++)
                count_one(0x10000 + i, CONTEXT_NONE);
            for (uint32_t i = 0; !starts && i < most; i++)
                count_one(4, call_both(3, call_both(2, call_both(1, CONTEXT_NONE))));
            for (uint32_t i = 0; starts && list.row_count < PATHS - 20; i++)
                for (uint32_t k = 0; k < most; k++)
                    count_one(0x2000 + k, call_both(0x1000 + k, call_both(0x10000 + i, CONTEXT_NONE)));
            thin_both();
            CHECK(wrong == 0 && lists_are_same());
            forget();
        }
    hpcrec.config = (struct config){0};
}

/* If any allocation fails, nothing is cut, and temporary memory is released. */
static void test_no_memory_to_cut(void)
{
    begin_lists();
    wrong = 0;
    while (list.row_count < PATHS - 20)
        count_both(6, true);
    for (unsigned k = 0; k < 6; k++) {
        unsigned before = cuttings, mapped_before = mapped;
        refused_from = asked + k;
        hpcrec_contexts_thin(cut_too);
        refused_from = ~0u;
        list.thinned_to = list.row_count;
        CHECK(cuttings == before && mapped == mapped_before && lists_are_same() && !hpcrec_contexts_are_many());
    }
    thin_both();
    CHECK(wrong == 0 && lists_are_same());
    write_both(false);
    write_both(true);
    CHECK_INT(wrong, 0);
    forget();
    CHECK_INT(mapped, 0);
    hpcrec.config = (struct config){0};
}

/* Without memory, samples at new places are lost and reported; those at existing places are counted. All are counted
   when memory is available again. */
static void test_no_memory_to_count(void)
{
    enum { PLACES = 5000, EACH = 3 };
    for (int rounds = 1; rounds < 40; rounds++) { /* each array in turn is the first to grow */
        struct thread_row *thread = only_thread();
        memset(thread, 0, sizeof *thread);
        for (int i = 0; i < rounds * 40; i++)
            hpcrec_count(0, 0, 0, (uint64_t)i, CONTEXT_NONE, EACH, 10);
        refused_from = asked;
        for (int i = 0; i < PLACES; i++)
            hpcrec_count(0, 0, 0, (uint64_t)i, CONTEXT_NONE, EACH, 10);
        refused_from = ~0u;
        uint64_t lost = thread->lost[0];
        bool well = lost > 0 && lost % EACH == 0 && counted() + lost == (uint64_t)(PLACES + rounds * 40) * EACH;
        for (int i = 0; i < PLACES; i++)
            hpcrec_count(0, 0, 0, (uint64_t)i, CONTEXT_NONE, EACH, 10);
        struct out out = {0};
        hpcrec_put_counts(&out, true);
        CHECK(well && thread->lost[0] == lost && counted() + lost == (uint64_t)(2 * PLACES + rounds * 40) * EACH);
        CHECK(hpcrec.cells.count == PLACES && out.bytes.count > PLACES * 2);
        hpcrec_area_free(&out.bytes, 1);
        forget();
    }
    CHECK_INT(mapped, 0);
}

/* If the output does not fit into memory, nothing is written; changes remain pending. */
static void test_no_memory_to_put(void)
{
    enum { PLACES = 5000 };
    struct out out = {0};
    only_thread();
    for (int i = 0; i < PLACES; i++) {
        hpcrec_count(0, 0, 0, (uint64_t)i, CONTEXT_NONE, 1, 10);
        if (i % 500 == 499)
            hpcrec_put_counts(&out, false);
    }
    hpcrec_count(0, 0, 0, 7, CONTEXT_NONE, 1, 10);
    out.bytes.count = 0;
    refused_from = asked;
    hpcrec_put_counts(&out, true);
    refused_from = ~0u;
    CHECK_INT(out.bytes.count, 0);
    hpcrec_put_counts(&out, false);
    CHECK(out.bytes.count > FORMAT_BLOCK_BYTES && out.bytes.count < FORMAT_BLOCK_BYTES + 20);
    out.bytes.count = 0;
    hpcrec_put_counts(&out, true);
    CHECK(out.bytes.count > 2 * PLACES);
    hpcrec_area_free(&out.bytes, 1);
    forget();
    CHECK_INT(mapped, 0);
}

/* As many places as fill pages to the last byte, of which some move when paths are cut. */
static void test_whole_pages(void)
{
    enum { PLACES = 4096, BELOW = 100 };
    only_thread();
    hpcrec.config.paths_max = 4 * PLACES;
    uint32_t root = call(1, CONTEXT_NONE);
    for (uint32_t i = 0; i < BELOW; i++)
        hpcrec_count(0, 0, 0, 2, call(8 + i, call(7, root)), 1, 10);
    while (hpcrec.contexts.count < PLACES)
        hpcrec_count(0, 0, 0, 0x1000 + hpcrec.contexts.count, CONTEXT_NONE, 1, 10);
    uint64_t before = counted();
    followed = root;
    hpcrec_contexts_thin(follow);
    CHECK_INT(hpcrec.contexts.count, PLACES - 2 * BELOW + 2);
    CHECK_INT(counted(), before);
    CHECK_INT(counted_at("1 > 7 > cut > 2"), BELOW);
    forget();
    hpcrec.config.paths_max = 0;
}

/* More than a reader should handle in one block: another block is started. */
static void test_blocks(void)
{
    enum { BLOCK = 100000, PLACES = 2 * BLOCK + 1 };
    struct out out = {0};
    only_thread();
    for (uint32_t i = 0; i < PLACES; i++)
        hpcrec_count(0, 0, 0, i, CONTEXT_NONE, 1, 10);
    hpcrec_put_counts(&out, false);
    size_t bytes = 0, wanted[] = {BLOCK, BLOCK, 1}, blocks = 0;
    for (const uint8_t *p = out.bytes.items; bytes < out.bytes.count; blocks++) {
        uint32_t length;
        size_t n = 0;
        memcpy(&length, p + bytes + 4, 4);
        const uint8_t *number = p + bytes + FORMAT_BLOCK_BYTES + 4; /* after thread, event, region, flags */
        for (unsigned shift = 0;; shift += 7) {
            n |= (size_t)(*number & 0x7f) << shift;
            if (!(*number++ & 0x80))
                break;
        }
        CHECK_INT(n, blocks < 3 ? wanted[blocks] : 0);
        bytes += FORMAT_BLOCK_BYTES + length;
    }
    CHECK_INT(blocks, 3);
    hpcrec_area_free(&out.bytes, 1);
    forget();
}

/* Regions are identified by name and parent; when the numbers are exhausted, samples count for the parent only. */
static void test_regions(void)
{
    enum { MOST_REGIONS = UINT16_MAX - 1 };
    CHECK_INT(hpcrec_region_row("a", 0), 1);
    CHECK_INT(hpcrec_region_row("b", 0), 2);
    CHECK_INT(hpcrec_region_row("a", 2), 3);
    CHECK_INT(hpcrec_region_row("a", 0), 1);
    CHECK_INT(hpcrec_region_row("b", 0), 2);
    CHECK_INT(hpcrec_region_row("a", 2), 3);
    CHECK(hpcrec_area_room(&hpcrec.regions, MOST_REGIONS, sizeof(struct region_row)));
    hpcrec.regions.count = MOST_REGIONS - 1;
    CHECK_INT(hpcrec_region_row("c", 3), MOST_REGIONS);
    CHECK_INT(hpcrec_region_row("c", 3), MOST_REGIONS);
    CHECK_INT(hpcrec_region_row("d", 3), 3);
    CHECK_INT(hpcrec_region_row("c", MOST_REGIONS), MOST_REGIONS);
    CHECK_INT(hpcrec.regions.count, MOST_REGIONS);
    hpcrec_area_free(&hpcrec.regions, sizeof(struct region_row));
}

int main(void)
{
    RUN(test_lists);
    RUN(test_limits_of_visits);
    RUN(test_no_memory_to_cut);
    RUN(test_no_memory_to_count);
    RUN(test_no_memory_to_put);
    RUN(test_whole_pages);
    RUN(test_blocks);
    RUN(test_regions);
    RUN(test_limit);
    RUN(test_least_visited);
    RUN(test_cut_again);
    return tap_done();
}
