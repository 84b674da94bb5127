/* The tree of call paths has an end: it is cut where it was visited least, what comes at once is counted without its path,
   and nothing is lost. */
#include "hpcprof/recorder/rec.h"
#include "hpcprof/recorder/unwind.h"
#include "tests/tap.h"

#include <stdio.h>

struct recorder hpcrec;

/* One module; each reason why a path was cut is one of its own. */
static const char *reasons[UNWIND_END_COUNT + 1];

uint32_t hpcrec_maps_find(uint64_t pc, uint64_t *address)
{
    *address = pc;
    return 0;
}

uint32_t hpcrec_maps_named(const char *name)
{
    uint32_t i = 1;
    while (reasons[i] && strcmp(reasons[i], name) != 0)
        i++;
    reasons[i] = name;
    return i;
}

const char *hpcrec_string(uint32_t offset)
{
    (void)offset;
    return "";
}

uint32_t hpcrec_string_add(const char *s)
{
    (void)s;
    return 0;
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
    hpcrec_count(0, 0, 0, 0x7000, hpcrec_context(0x100000, root), 1, 10); /* a new place below a path that is there */
    CHECK_NAMED(counted() == MANY + DEEP + 1 && thread->lost[0] == 0,
                "a new place at the end of an old path is counted");
    forget();
}

/* ---- cut where it was visited least ------------------------------------------------------------------------------- */

enum { MOST = 800, DEPTH = 8, ROUNDS = 4000, INSTRUCTIONS = 5 };

/* Contexts as text, and what was counted there: "1000 > 2000 > cut > 3000". */
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

/* Of this instruction, whoever called it. */
static uint64_t counted_in(uint64_t address)
{
    uint64_t n = 0;
    const struct cell *cells = hpcrec.cells.items;
    const struct context_row *rows = hpcrec.contexts.items;
    for (size_t i = 0; i < hpcrec.cells.count; i++)
        n += rows[cells[i].context].address == address ? cells[i].samples : 0;
    return n;
}

/* With all that was called from it. */
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

static uint32_t followed; /* a row that somebody outside of the table knows */

static void follow(const uint32_t *moved)
{
    followed = followed == CONTEXT_NONE ? CONTEXT_NONE : moved[followed];
}

static uint32_t call(uint64_t pc, uint32_t parent)
{
    uint32_t row = hpcrec_context(pc, parent);
    return row == CONTEXT_NONE ? hpcrec_context_cut(UNWIND_FULL) : row;
}

/* Ever other paths from the start, of which one in eight goes to `often`; that only comes when there are many already. */
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

/* Deeper cuts of what was cut before, below frames that stay and below reasons of other kinds. */
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

int main(void)
{
    test_limit();
    test_least_visited();
    test_cut_again();
    return tap_done();
}
