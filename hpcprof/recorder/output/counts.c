/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts: contexts (module, address) and cells (thread, context, event, region), found by open-addressing hashes. */
#include "hpcprof/format/format.h"
#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/unwind/unwind.h"

/* Rows are dense; the index is a hash table of row number + 1. */
struct index {
    struct area slots; /* uint32_t */
    size_t size;       /* a power of two */
};

static struct index context_index, cell_index;
static struct area dirty; /* uint32_t: cells changed since the last writing */

/* A program that jumps about repeats its addresses: most samples end here. */
enum { CACHE = 1024 };
static struct {
    uint64_t pc;
    uint32_t parent, context_plus_1;
} cache[CACHE];

enum {
    ROWS_MAX = 32 << 20, /* more distinct locations than any program has; samples beyond them count as lost */
    PATHS_MAX = 1 << 20, /* contexts with call paths: 16 MB and an index of 8, and about 5 MB of file. When three
                            quarters are taken, paths are cut where they were visited least. Samples beyond the capacity
                            are counted without their paths */
};

static size_t thinned_to; /* contexts there were when paths had been cut last */

static size_t paths_max(void)
{
    return hpcrec.config.paths_max ? hpcrec.config.paths_max : PATHS_MAX;
}

static uint32_t cut_rows[UNWIND_END_COUNT]; /* + 1; 0: not made yet */

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9fb21c651e98df25u;
    h ^= h >> 29;
    h *= 0x9fb21c651e98df25u;
    return h ^ h >> 32;
}

static uint64_t context_hash(const struct context_row *c)
{
    return mix(c->address ^ (uint64_t)c->module << 48) ^ mix(c->parent + (uint64_t)1);
}

static uint64_t cell_hash(const struct cell *c)
{
    return mix(((uint64_t)c->thread << 32 | c->context) ^ mix((uint64_t)c->region << 8 | c->event));
}

static bool index_rebuild(struct index *ix, size_t size, size_t count, uint64_t (*hash_of)(size_t row))
{
    struct area slots = {0};
    if (!hpcrec_area_room(&slots, size, sizeof(uint32_t)))
        return false;
    hpcrec_area_free(&ix->slots, sizeof(uint32_t));
    ix->slots = slots;
    ix->size = size;
    uint32_t *slot = slots.items;
    for (size_t row = 0; row < count; row++) {
        size_t i = hash_of(row) & (size - 1);
        while (slot[i])
            i = (i + 1) & (size - 1);
        slot[i] = (uint32_t)row + 1;
    }
    return true;
}

static uint64_t context_hash_of(size_t row)
{
    return context_hash((struct context_row *)hpcrec.contexts.items + row);
}

static uint64_t cell_hash_of(size_t row)
{
    return cell_hash((struct cell *)hpcrec.cells.items + row);
}

static bool make_room(struct area *rows, size_t item_size, struct index *ix, uint64_t (*hash_of)(size_t))
{
    if (rows->count >= ROWS_MAX || !hpcrec_area_room(rows, rows->count + 1, item_size))
        return false;
    if (rows->count * 2 >= ix->size)
        return index_rebuild(ix, ix->size ? ix->size * 2 : 1024, rows->count, hash_of);
    return true;
}

void hpcrec_contexts_stale(void)
{
    memset(cache, 0, sizeof cache);
}

static bool is_cut(uint32_t row)
{
    for (unsigned i = 0; i < UNWIND_END_COUNT; i++)
        if (cut_rows[i] == row + 1)
            return true;
    return false;
}

/* CONTEXT_NONE: the table is full, or there is no memory. */
static uint32_t context_row(const struct context_row *wanted, size_t most)
{
    if (!make_room(&hpcrec.contexts, sizeof *wanted, &context_index, context_hash_of))
        return CONTEXT_NONE;
    uint32_t *slot = context_index.slots.items;
    struct context_row *rows = hpcrec.contexts.items;
    size_t i = context_hash(wanted) & (context_index.size - 1);
    for (; slot[i]; i = (i + 1) & (context_index.size - 1))
        if (rows[slot[i] - 1].address == wanted->address && rows[slot[i] - 1].module == wanted->module &&
            rows[slot[i] - 1].parent == wanted->parent)
            return slot[i] - 1;
    if (hpcrec.contexts.count >= most && wanted->parent != CONTEXT_NONE && !is_cut(wanted->parent))
        return CONTEXT_NONE;
    rows[hpcrec.contexts.count] = *wanted;
    slot[i] = (uint32_t)++hpcrec.contexts.count;
    return slot[i] - 1;
}

uint32_t hpcrec_context(uint64_t pc, uint32_t parent)
{
    size_t i = mix(pc ^ (uint64_t)(parent + 1) << 40) & (CACHE - 1);
    if (cache[i].context_plus_1 && cache[i].pc == pc && cache[i].parent == parent)
        return cache[i].context_plus_1 - 1;
    struct context_row wanted = {.parent = parent};
    wanted.module = hpcrec_maps_find(pc, &wanted.address);
    uint32_t row = context_row(&wanted, paths_max());
    cache[i].pc = pc;
    cache[i].parent = parent;
    cache[i].context_plus_1 = row + 1;
    return row;
}

static uint32_t cut_module(unsigned why)
{
    static const char *const words[] = {
#define X(name, words) words,
        UNWIND_ENDS(X)
#undef X
    };
    return hpcrec_maps_named(words[why]);
}

uint32_t hpcrec_context_cut(unsigned why)
{
    if (cut_rows[why] == 0) {
        struct context_row wanted = {.module = cut_module(why), .parent = CONTEXT_NONE};
        cut_rows[why] = context_row(&wanted, paths_max()) + 1;
    }
    return cut_rows[why] - 1;
}

/* A sample is not lost with its path. */
static uint32_t sampled_context(uint64_t pc, uint32_t parent)
{
    uint32_t row = hpcrec_context(pc, parent);
    return row == CONTEXT_NONE && parent != CONTEXT_NONE ? hpcrec_context(pc, hpcrec_context_cut(UNWIND_FULL)) : row;
}

static struct cell *cell_of(const struct cell *wanted)
{
    if (!make_room(&hpcrec.cells, sizeof *wanted, &cell_index, cell_hash_of))
        return NULL;
    uint32_t *slot = cell_index.slots.items;
    struct cell *rows = hpcrec.cells.items;
    size_t i = cell_hash(wanted) & (cell_index.size - 1);
    for (; slot[i]; i = (i + 1) & (cell_index.size - 1)) {
        struct cell *c = &rows[slot[i] - 1];
        if (c->thread == wanted->thread && c->context == wanted->context && c->event == wanted->event &&
            c->region == wanted->region)
            return c;
    }
    rows[hpcrec.cells.count] = *wanted;
    slot[i] = (uint32_t)++hpcrec.cells.count;
    return &rows[slot[i] - 1];
}

void hpcrec_count(uint32_t thread, unsigned event, uint32_t region, uint64_t pc, uint32_t parent, uint32_t samples,
                  uint64_t value)
{
    struct cell wanted = {
        .thread = thread, .context = sampled_context(pc, parent), .region = (uint16_t)region, .event = (uint8_t)event};
    struct cell *c = wanted.context == CONTEXT_NONE ? NULL : cell_of(&wanted);
    if (!c || !hpcrec_area_room(&dirty, dirty.count + 1, sizeof(uint32_t))) {
        ((struct thread_row *)hpcrec.thread_rows.items)[thread].lost[event] += samples;
        return;
    }
    ((struct thread_row *)hpcrec.thread_rows.items)[thread].last_context = wanted.context + 1;
    if (!c->dirty) {
        c->dirty = true;
        ((uint32_t *)dirty.items)[dirty.count++] = (uint32_t)(c - (struct cell *)hpcrec.cells.items);
    }
    c->new_samples += samples;
    c->new_value += value;
    c->samples += samples;
    c->value += value;
}

uint32_t hpcrec_region_row(const char *name, uint32_t parent)
{
    struct region_row *rows = hpcrec.regions.items;
    for (size_t i = 0; i < hpcrec.regions.count; i++)
        if (rows[i].parent == parent && strcmp(hpcrec_string(rows[i].name), name) == 0)
            return (uint32_t)i + 1;
    if (hpcrec.regions.count >= UINT16_MAX - 1 ||
        !hpcrec_area_room(&hpcrec.regions, hpcrec.regions.count + 1, sizeof *rows))
        return parent;
    rows = hpcrec.regions.items;
    rows[hpcrec.regions.count] = (struct region_row){hpcrec_string_add(name), parent};
    return (uint32_t)++hpcrec.regions.count;
}

/* ---- too many paths ----------------------------------------------------------------------------------------
 *
 *     main > f > g > h > x    3       What was visited less than `least` times goes, and its samples come below the last
 *                > i > x    2       frame that was visited more:      main > f > [path cut: ...] > x    5
 *
 * All callers of a retained frame are retained, and each sample keeps its instruction. So the inclusive and exclusive
 * counts of retained frames are unchanged.
 */

enum fate { GOES, STAYS, MOVES }; /* MOVES: it goes, and has samples of its own */

struct thinning {
    uint64_t least, most; /* visits: of retained rows, and of any row */
    struct area visits;   /* uint64_t by row: samples there and below */
    struct area fate;     /* uint8_t by row */
    struct area moved;    /* uint32_t by row: its new one; CONTEXT_NONE: there is none */
    struct area old;      /* the rows */
    uint32_t full;        /* module of the rows that replace removed frames */
};

static bool is_visited(const struct thinning *t, const struct context_row *rows, uint32_t row)
{
    return rows[row].parent == CONTEXT_NONE || ((const uint64_t *)t->visits.items)[row] >= t->least;
}

static void sum_visits(struct thinning *t)
{
    const struct context_row *rows = hpcrec.contexts.items;
    const struct cell *cells = hpcrec.cells.items;
    uint64_t *visits = t->visits.items;
    memset(visits, 0, hpcrec.contexts.count * sizeof *visits);
    for (size_t i = 0; i < hpcrec.cells.count; i++)
        visits[cells[i].context] += cells[i].samples;
    for (size_t i = hpcrec.contexts.count; i-- > 0;)
        if (rows[i].parent != CONTEXT_NONE)
            visits[rows[i].parent] += visits[i];
    for (size_t i = 0; i < hpcrec.contexts.count; i++)
        t->most = visits[i] > t->most ? visits[i] : t->most;
}

/* How many stay, and how many move. A sampled instruction whose caller stays does too: it would only be made again. */
static size_t decide_fates(struct thinning *t, size_t *moving)
{
    const struct context_row *rows = hpcrec.contexts.items;
    const struct cell *cells = hpcrec.cells.items;
    uint8_t *fate = t->fate.items;
    size_t staying = *moving = 0;
    for (uint32_t i = 0; i < hpcrec.contexts.count; i++)
        staying += fate[i] = is_visited(t, rows, i) ? STAYS : GOES;
    for (size_t i = 0; i < hpcrec.cells.count; i++) {
        uint32_t row = cells[i].context;
        if (fate[row] != GOES)
            continue;
        fate[row] = is_visited(t, rows, rows[row].parent) ? STAYS : MOVES;
        staying += fate[row] == STAYS;
        *moving += fate[row] == MOVES;
    }
    return staying;
}

static void free_thinning(struct thinning *t)
{
    hpcrec_area_free(&t->visits, sizeof(uint64_t));
    hpcrec_area_free(&t->fate, sizeof(uint8_t));
    hpcrec_area_free(&t->moved, sizeof(uint32_t));
    hpcrec_area_free(&t->old, sizeof(struct context_row));
}

/* All memory that it takes: from here on nothing fails. */
static bool begin_thinning(struct thinning *t)
{
    size_t n = hpcrec.contexts.count, moving, size = 1024;
    struct area rows = {0};
    struct index contexts = {0}, cells = {0};
    if (!hpcrec_area_room(&t->visits, n, sizeof(uint64_t)) || !hpcrec_area_room(&t->fate, n, sizeof(uint8_t)) ||
        !hpcrec_area_room(&t->moved, n, sizeof(uint32_t)))
        return false;
    sum_visits(t);
    size_t staying = decide_fates(t, &moving);
    while (staying > paths_max() / 8 * 3 && t->least <= t->most) {
        t->least *= 2;
        staying = decide_fates(t, &moving);
    }
    size_t most = staying + 2 * moving + 1;
    while (size < 2 * most + 2)
        size *= 2;
    if (!hpcrec_area_room(&rows, most, sizeof(struct context_row)) || !index_rebuild(&contexts, size, 0, NULL) ||
        !index_rebuild(&cells, cell_index.size, 0, NULL)) {
        hpcrec_area_free(&rows, sizeof(struct context_row));
        hpcrec_area_free(&contexts.slots, sizeof(uint32_t));
        return false;
    }
    hpcrec_area_free(&context_index.slots, sizeof(uint32_t));
    hpcrec_area_free(&cell_index.slots, sizeof(uint32_t));
    t->full = cut_module(UNWIND_FULL);
    t->old = hpcrec.contexts;
    hpcrec.contexts = rows;
    context_index = contexts;
    cell_index = cells;
    return true;
}

/* Parents come first. */
static void take_rows_that_stay(struct thinning *t)
{
    const struct context_row *old = t->old.items;
    const uint8_t *fate = t->fate.items;
    uint32_t *moved = t->moved.items;
    for (uint32_t i = 0; i < t->old.count; i++) {
        struct context_row row = old[i];
        row.parent = row.parent == CONTEXT_NONE ? CONTEXT_NONE : moved[row.parent];
        moved[i] = fate[i] == STAYS ? context_row(&row, SIZE_MAX) : CONTEXT_NONE;
    }
    for (unsigned i = 0; i < UNWIND_END_COUNT; i++)
        cut_rows[i] = cut_rows[i] ? moved[cut_rows[i] - 1] + 1 : 0;
}

/* Below the innermost frame on its path that stays. */
static uint32_t row_below_cut(const struct thinning *t, uint32_t i)
{
    const struct context_row *old = t->old.items;
    struct context_row wanted = old[i];
    uint32_t above = old[i].parent;
    while (!is_visited(t, old, above))
        above = old[above].parent;
    wanted.parent = ((const uint32_t *)t->moved.items)[above];
    if (old[above].module != t->full && !is_cut(wanted.parent)) {
        struct context_row cut = {.module = t->full, .parent = wanted.parent};
        wanted.parent = context_row(&cut, SIZE_MAX);
    }
    return context_row(&wanted, SIZE_MAX);
}

/* Cells that have become the same are added up, where the first of them was. */
static void take_cells(const struct thinning *t)
{
    struct cell *cells = hpcrec.cells.items;
    size_t n = hpcrec.cells.count;
    hpcrec.cells.count = dirty.count = 0;
    for (size_t i = 0; i < n; i++) {
        struct cell was = cells[i], wanted = was;
        wanted.context = ((const uint32_t *)t->moved.items)[was.context];
        size_t before = hpcrec.cells.count;
        struct cell *c = cell_of(&wanted);
        if (hpcrec.cells.count == before) {
            c->samples += was.samples;
            c->value += was.value;
            c->new_samples += was.new_samples;
            c->new_value += was.new_value;
            c->dirty |= was.dirty;
        }
    }
    for (size_t i = 0; i < hpcrec.cells.count; i++)
        if (cells[i].dirty)
            ((uint32_t *)dirty.items)[dirty.count++] = (uint32_t)i;
}

static void move_last_contexts(const struct thinning *t)
{
    struct thread_row *rows = hpcrec.thread_rows.items;
    for (size_t i = 0; i < hpcrec.thread_rows.count; i++)
        if (rows[i].last_context)
            rows[i].last_context = ((const uint32_t *)t->moved.items)[rows[i].last_context - 1] + 1;
}

bool hpcrec_contexts_are_many(void)
{
    return hpcrec.config.call_paths && hpcrec.contexts.count >= paths_max() / 4 * 3 &&
           hpcrec.contexts.count - thinned_to >= paths_max() / 8;
}

static bool thin_once(struct thinning *t, void (*tell)(const uint32_t *moved))
{
    if (!begin_thinning(t))
        return false;
    const uint8_t *fate = t->fate.items;
    uint32_t *moved = t->moved.items;
    take_rows_that_stay(t);
    for (uint32_t i = 0; i < t->old.count; i++)
        if (fate[i] == MOVES)
            moved[i] = row_below_cut(t, i);
    take_cells(t);
    move_last_contexts(t);
    hpcrec_contexts_stale();
    tell(moved);
    return true;
}

void hpcrec_contexts_thin(void (*tell)(const uint32_t *moved))
{
    struct thinning t = {.least = 2};
    while (tell && thin_once(&t, tell) && hpcrec.contexts.count > paths_max() / 8 * 5 && t.least <= t.most) {
        uint64_t least = t.least * 4;
        free_thinning(&t);
        t = (struct thinning){.least = least};
    }
    free_thinning(&t);
    thinned_to = hpcrec.contexts.count;
}

/* ---- to the file ---------------------------------------------------------------------------------------- */

static bool before(uint32_t left, uint32_t right)
{
    const struct cell *a = (struct cell *)hpcrec.cells.items + left, *b = (struct cell *)hpcrec.cells.items + right;
    if (a->thread != b->thread)
        return a->thread < b->thread;
    if (a->event != b->event)
        return a->event < b->event;
    if (a->region != b->region)
        return a->region < b->region;
    return a->context < b->context;
}

static void sift_down(uint32_t *v, size_t i, size_t n)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(v[child], v[child + 1]))
            child++;
        if (!before(v[i], v[child]))
            return;
        uint32_t t = v[i];
        v[i] = v[child];
        v[child] = t;
    }
}

/* Heapsort: in place, no memory (qsort may take some from the program's heap), no bad case. */
static void sort_cells(uint32_t *v, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(v, i, n);
    for (size_t i = n; i-- > 1;) {
        uint32_t t = v[0];
        v[0] = v[i];
        v[i] = t;
        sift_down(v, 0, i);
    }
}

static bool same_group(const struct cell *a, const struct cell *b)
{
    return a->thread == b->thread && a->event == b->event && a->region == b->region;
}

static void put_group(struct out *o, const uint32_t *v, size_t n, bool all)
{
    struct cell *cells = hpcrec.cells.items;
    const struct cell *first = &cells[v[0]];
    bool values = hpcrec.config.events[first->event].conf.frequency != 0;
    size_t block = hpcrec_block_begin(o, FORMAT_COUNTS);
    uint32_t context = 0;
    hpcrec_put_uleb(o, first->thread);
    hpcrec_put_uleb(o, first->event);
    hpcrec_put_uleb(o, first->region);
    hpcrec_put_uleb(o, values ? FORMAT_HAS_VALUES : 0);
    hpcrec_put_uleb(o, n);
    for (size_t i = 0; i < n; i++) {
        struct cell *c = &cells[v[i]];
        hpcrec_put_uleb(o, c->context - context);
        context = c->context;
        hpcrec_put_uleb(o, all ? c->samples : c->new_samples);
        if (values)
            hpcrec_put_uleb(o, all ? c->value : c->new_value);
        c->new_samples = 0;
        c->new_value = 0;
        c->dirty = false;
    }
    hpcrec_block_end(o, block);
}

static bool gather_all(void)
{
    if (!hpcrec_area_room(&dirty, hpcrec.cells.count, sizeof(uint32_t)))
        return false;
    dirty.count = hpcrec.cells.count;
    for (size_t i = 0; i < dirty.count; i++)
        ((uint32_t *)dirty.items)[i] = (uint32_t)i;
    return true;
}

enum { GROUP_MAX = 100000 }; /* rows in a block: far below FORMAT_PAYLOAD_MAX */

void hpcrec_put_counts(struct out *o, bool all)
{
    if (all && !gather_all())
        return;
    uint32_t *v = dirty.items;
    struct cell *cells = hpcrec.cells.items;
    sort_cells(v, dirty.count);
    for (size_t i = 0, n; i < dirty.count; i += n) {
        for (n = 1; i + n < dirty.count && n < GROUP_MAX && same_group(&cells[v[i]], &cells[v[i + n]]); n++)
            ;
        put_group(o, v + i, n, all);
    }
    dirty.count = 0;
}

void hpcrec_counts_forget(void)
{
    hpcrec_area_free(&context_index.slots, sizeof(uint32_t));
    hpcrec_area_free(&cell_index.slots, sizeof(uint32_t));
    hpcrec_area_free(&dirty, sizeof(uint32_t));
    context_index.size = cell_index.size = thinned_to = 0;
    memset(cut_rows, 0, sizeof cut_rows);
    hpcrec_contexts_stale();
}
