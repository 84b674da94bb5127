/* The tree of call paths has an end: what comes later is counted without its path, and nothing is lost. */
#include "hpcprof/recorder/rec.h"
#include "hpcprof/recorder/unwind.h"
#include "tests/tap.h"

struct recorder hpcrec;

/* One module; each reason why a path was cut is one of its own. */
static uint32_t reasons;

uint32_t hpcrec_maps_find(uint64_t pc, uint64_t *address)
{
    *address = pc;
    return 0;
}

uint32_t hpcrec_maps_named(const char *name)
{
    (void)name;
    return ++reasons;
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
    hpcrec_counts_forget();
    hpcrec_area_free(&hpcrec.contexts, sizeof(struct context_row));
    hpcrec_area_free(&hpcrec.cells, sizeof(struct cell));
    hpcrec_area_free(&hpcrec.thread_rows, sizeof(struct thread_row));
}

int main(void)
{
    test_limit();
    return tap_done();
}
