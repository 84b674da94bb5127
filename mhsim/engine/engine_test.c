/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator compared with closed forms, and with a naive one based on lists, for every policy. */
#include "config.h"
#include "tests/fakes/fake_mmap_memory.h"

#include "mhsim/engine/engine.h"
#include "mhsim/engine/fully_assoc.h"
#include "mhsim/engine/line_engine.h"
#include "tests/tap.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* ---- a textbook's simulator: slow, and obvious ----------------------------------------- */

enum { NAIVE_ROWS = 64, NAIVE_CORES = 4, NAIVE_BLOCKS = 8192 };

struct naive_block {
    bool valid;
    uint64_t block;
    int owner, writer; /* writer -1: clean */
    bool fetched;      /* ahead of time, and not touched since */
    bool used[64];     /* of bytes, or of 64ths of a larger block */
};

struct naive_level {
    const struct machine_level *l;
    struct naive_block *ways; /* sets x ways */
    int *order;               /* sets x ways: the most recent first */
    bool *tree;               /* sets x ways: node 1 is the root */
    uint64_t *full, in_full;  /* of a level of this size without sets: the most recent first */
    uint64_t sets, blocks;
    uint32_t grain; /* granularity in bytes of tracked use */
    bool seen[NAIVE_BLOCKS];
};

struct naive {
    struct naive_level *levels[NAIVE_CORES][MACHINE_LEVELS]; /* one that is shared is of every core */
    const struct machine_memory *machine;
    uint32_t count, cores, core_of[NAIVE_ROWS];
    struct mhsim_counts rows[NAIVE_ROWS][MACHINE_LEVELS];
    uint64_t pairs[NAIVE_ROWS][NAIVE_ROWS][MACHINE_LEVELS], taken[NAIVE_ROWS][NAIVE_ROWS][MACHINE_LEVELS];
    uint64_t random, sample_sets, last[NAIVE_ROWS], split[NAIVE_ROWS];
    int64_t step[NAIVE_ROWS], stride[NAIVE_ROWS];
    bool touched[NAIVE_ROWS][MACHINE_LEVELS][NAIVE_BLOCKS];
    bool classify, quiet;
    struct mhsim_counts sink;
};

static struct mhsim_counts *naive_counts(struct naive *s, int row, uint32_t k)
{
    return s->quiet ? &s->sink : &s->rows[row][k];
}

/* Merges the used bytes of the evicted block, at the coarser granularity: a level's lines are no larger than those of
   the next level. */
static void naive_hold(bool *used, const struct naive_level *n, const struct naive_block *gone,
                       const struct naive_level *from, uint32_t shift)
{
    for (uint32_t i = 0; i < from->l->line; i += from->grain)
        used[(shift + i) / n->grain] |= gone->used[i / from->grain];
}

static struct naive_block *naive_find(struct naive_level *n, uint64_t address)
{
    uint64_t block = address / n->l->line;
    struct naive_block *set = &n->ways[block % n->sets * n->l->ways];
    for (uint32_t w = 0; w < n->l->ways; w++)
        if (set[w].valid && set[w].block == block)
            return &set[w];
    return NULL;
}

static void tree_away_from(struct naive_level *n, bool *tree, uint32_t node, uint32_t from, uint32_t size, uint32_t way)
{
    if (size == 1)
        return;
    bool right = way >= from + size / 2;
    tree[node] = !right;
    tree_away_from(n, tree, node * 2 + right, right ? from + size / 2 : from, size / 2, way);
}

static uint32_t tree_choice(const bool *tree, uint32_t node, uint32_t from, uint32_t size)
{
    if (size == 1)
        return from;
    return tree[node] ? tree_choice(tree, node * 2 + 1, from + size / 2, size / 2)
                      : tree_choice(tree, node * 2, from, size / 2);
}

static void naive_recent(struct naive_level *n, struct naive_block *b)
{
    uint32_t ways = n->l->ways, way = (uint32_t)(b - n->ways) % ways, set = (uint32_t)(b - n->ways) / ways;
    int *order = &n->order[set * ways];
    uint32_t at = 0;
    while (order[at] != (int)way)
        at++;
    for (; at > 0; at--)
        order[at] = order[at - 1];
    order[0] = (int)way;
    if (n->l->replace == MACHINE_PLRU)
        tree_away_from(n, &n->tree[set * ways], 1, 0, ways, way);
}

static uint32_t naive_victim(struct naive *s, struct naive_level *n, uint64_t set)
{
    uint32_t ways = n->l->ways;
    struct naive_block *b = &n->ways[set * ways];
    for (uint32_t w = 0; w < ways; w++)
        if (!b[w].valid)
            return w;
    if (n->l->replace == MACHINE_LRU)
        return (uint32_t)n->order[set * ways + ways - 1];
    if (n->l->replace == MACHINE_PLRU)
        return tree_choice(&n->tree[set * ways], 1, 0, ways);
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (uint32_t)(((s->random >> 32) * ways) >> 32);
}

/* Whether a level of this size without sets would have it; it would afterwards. */
static bool naive_in_full(struct naive_level *n, uint64_t block)
{
    uint64_t at = 0;
    while (at < n->in_full && n->full[at] != block)
        at++;
    bool found = at < n->in_full;
    if (!found)
        n->in_full += n->in_full < n->blocks;
    at = found ? at : n->in_full - 1;
    memmove(n->full + 1, n->full, at * sizeof *n->full);
    n->full[0] = block;
    return found;
}

static void naive_install(struct naive *s, uint32_t core, uint32_t k, uint64_t block, const struct naive_block *what,
                          int evictor);

/* taken: invalidated by another core's store. */
static void naive_evict(struct naive *s, uint32_t core, uint32_t k, struct naive_block *b, int evictor, bool taken)
{
    struct naive_level *n = s->levels[core][k];
    uint32_t line = n->l->line;
    uint64_t address = b->block * line;
    for (uint32_t other = 0; other < s->cores && n->l->inclusive; other++)
        for (uint32_t i = 0; i < k; i++) {
            struct naive_level *before = s->levels[other][i];
            if (before->l->tlb != n->l->tlb || (other != core && !n->l->shared))
                continue;
            for (uint64_t at = address; at < address + line; at += before->l->line)
                if (naive_find(before, at))
                    naive_evict(s, other, i, naive_find(before, at), evictor, taken);
        }
    struct naive_block gone = *b;
    b->valid = false;
    struct mhsim_counts *c = naive_counts(s, gone.owner, k);
    c->evictions++;
    c->invalidated += taken;
    for (uint32_t i = 0; i < line / n->grain; i++)
        c->used += gone.used[i] * n->grain;
    s->pairs[gone.owner][evictor][k] += !s->quiet;
    s->taken[gone.owner][evictor][k] += taken && !s->quiet;
    if (gone.writer >= 0)
        naive_counts(s, gone.writer, k)->write_backs++;
    for (uint8_t to = n->l->next; to != MACHINE_NO_LEVEL; to = s->levels[core][to]->l->next) {
        struct naive_level *t = s->levels[core][to];
        struct naive_block *there = naive_find(t, address);
        uint32_t shift = (uint32_t)(address % t->l->line);
        if (there) {
            naive_hold(there->used, t, &gone, n, shift);
            if (gone.writer < 0)
                return;
            if (!t->l->write_through) {
                there->writer = gone.writer;
                return;
            }
        } else if (gone.writer < 0) {
            return;
        } else if (!t->l->no_allocate && !t->l->write_through) {
            struct naive_block fresh = {.owner = gone.owner, .writer = gone.writer};
            naive_hold(fresh.used, t, &gone, n, shift);
            naive_install(s, core, to, address / t->l->line, &fresh, evictor);
            return;
        }
        naive_counts(s, gone.writer, to)->write_backs++;
    }
}

static void naive_install(struct naive *s, uint32_t core, uint32_t k, uint64_t block, const struct naive_block *what,
                          int evictor)
{
    struct naive_level *n = s->levels[core][k];
    struct naive_block *b = &n->ways[block % n->sets * n->l->ways + naive_victim(s, n, block % n->sets)];
    if (b->valid)
        naive_evict(s, core, k, b, evictor, false);
    *b = *what;
    b->valid = true;
    b->block = block;
    naive_recent(n, b);
}

/* A store takes the block from the private caches of all other cores. */
static void naive_take(struct naive *s, uint32_t core, uint32_t k, int row, uint64_t address)
{
    if (s->machine->levels[k].shared || s->machine->levels[k].tlb)
        return;
    for (uint32_t other = 0; other < s->cores; other++)
        for (uint32_t i = 0; i < s->count; i++) {
            struct naive_level *n = s->levels[other][i];
            if (other != core && !n->l->shared && !n->l->tlb && naive_find(n, address))
                naive_evict(s, other, i, naive_find(n, address), row, true);
        }
}

/* Distant addresses, in chunks of FAR_BYTES: their index in the tables of seen and touched blocks. */
enum { FAR_BYTES = 16384, FAR_PIECES = 6 };
static const uint64_t far_pieces[FAR_PIECES] = {(1 << 24) - 8192, /* across the first two regions of 2^18 lines */
                                                1024ull << 24,    /* its number has the low bits of the first one */
                                                (2049ull << 24) + 4096,   /* ... of the second */
                                                (1ull << 47) - FAR_BYTES, /* the stack */
                                                UINT64_C(0xffff8) << 28,
                                                4096};
static uint64_t compact(uint64_t address)
{
    for (uint64_t i = 0; i < FAR_PIECES; i++)
        if (address - far_pieces[i] < FAR_BYTES)
            return i * FAR_BYTES + address - far_pieces[i];
    return address;
}

static void naive_access(struct naive *s, uint32_t k, int row, uint64_t address, uint32_t size, bool write);

/* Reads through the next levels as after a miss. */
static void naive_fetch(struct naive *s, uint32_t k, int row, uint64_t address)
{
    uint32_t core = s->core_of[row];
    struct naive_level *n = s->levels[core][k];
    uint64_t block = address / n->l->line;
    if (naive_find(n, address) || block % s->sample_sets != 0)
        return;
    naive_counts(s, row, k)->prefetches++;
    if (n->l->next != MACHINE_NO_LEVEL)
        naive_access(s, n->l->next, row, block * n->l->line, 1, false);
    naive_install(s, core, k, block, &(struct naive_block){.owner = row, .writer = -1, .fetched = true}, row);
}

/* The next line, or the target of a stride seen twice; a stride below a line leads to the adjacent line in its
   direction. */
static void naive_ahead(struct naive *s, uint32_t k, int row, uint64_t address)
{
    const struct machine_level *l = &s->machine->levels[k];
    int64_t stride = s->stride[row], line = l->line;
    if (l->prefetch == MACHINE_NEXT_LINE)
        naive_fetch(s, k, row, address + (uint64_t)line);
    else if (l->prefetch == MACHINE_STRIDE && stride)
        naive_fetch(s, k, row,
                    address + (uint64_t)(stride > -line && stride < line ? stride > 0 ? line : -line : stride));
}

static void naive_touch(struct naive *s, uint32_t k, int row, struct naive_block *b, uint64_t address, uint32_t size)
{
    struct naive_level *n = s->levels[s->core_of[row]][k];
    uint32_t first = (uint32_t)(address % n->l->line);
    bool all = true;
    for (uint32_t i = 0; i < size; i++) {
        all &= b->used[(first + i) / n->grain];
        b->used[(first + i) / n->grain] |= i + 1 == size || (first + i) / n->grain != (first + i + 1) / n->grain;
    }
    naive_counts(s, row, k)->temporal += all;
    naive_recent(n, b);
}

static void naive_next(struct naive *s, uint32_t k, int row, uint64_t address, uint32_t size, bool write)
{
    if (s->machine->levels[k].next != MACHINE_NO_LEVEL)
        naive_access(s, s->machine->levels[k].next, row, address, size, write);
}

static void naive_access(struct naive *s, uint32_t k, int row, uint64_t address, uint32_t size, bool write)
{
    uint32_t core = s->core_of[row];
    struct naive_level *n = s->levels[core][k];
    struct mhsim_counts *c = naive_counts(s, row, k);
    uint64_t block = address / n->l->line, known = compact(block * n->l->line) / n->l->line;
    bool in_full = s->classify && naive_in_full(n, block), brings = !write || !n->l->no_allocate;
    struct naive_block *b = naive_find(n, address);
    c->accesses++;
    c->distinct += !s->touched[row][k][known];
    s->touched[row][k][known] |= !s->quiet;
    if (b) {
        bool fetched = b->fetched;
        b->fetched = false;
        naive_touch(s, k, row, b, address, size);
        if (write)
            naive_take(s, core, k, row, address);
        if (write && !n->l->write_through)
            b->writer = row;
        if (write && n->l->write_through) {
            c->write_throughs++;
            naive_next(s, k, row, address, size, true);
        }
        c->prefetch_hits += fetched;
        if (fetched)
            naive_ahead(s, k, row, address);
        return;
    }
    c->misses++;
    c->cold += !n->seen[known];
    c->conflict += n->seen[known] && in_full;
    n->seen[known] = true;
    if (!brings)
        naive_take(s, core, k, row, address);
    naive_next(s, k, row, address, size, !brings);
    if (!brings)
        return;
    if (write && n->l->write_through) {
        c->write_throughs++;
        naive_next(s, k, row, address, size, true);
    }
    if (write)
        naive_take(s, core, k, row, address);
    struct naive_block fresh = {.owner = row, .writer = write && !n->l->write_through ? row : -1};
    for (uint32_t i = 0; i < size; i++)
        fresh.used[(address % n->l->line + i) / n->grain] = true;
    naive_install(s, core, k, block, &fresh, row);
    naive_ahead(s, k, row, address);
}

/* At the first level of a chain: each block that the access touches, one in `sample_sets` of them. */
static void naive_pieces(struct naive *s, uint32_t k, int row, uint64_t address, uint32_t size, bool write)
{
    uint64_t line = s->machine->levels[k].line, end = address + size;
    s->split[row] += k == 0 && !s->quiet && address / line != (end - 1) / line;
    for (uint64_t next; address < end; address = next) {
        next = (address / line + 1) * line;
        if (address / line % s->sample_sets == 0)
            naive_access(s, k, row, address, (uint32_t)((next < end ? next : end) - address), write);
    }
}

/* Entries of TLBs are not written. */
static void naive_whole(struct naive *s, int row, uint64_t address, uint32_t size, bool write)
{
    const struct machine_memory *m = s->machine;
    uint32_t tlb = 0;
    int64_t step = (int64_t)(address - s->last[row]);
    s->stride[row] = step == s->step[row] ? step : 0;
    s->step[row] = step;
    s->last[row] = address;
    while (tlb < m->level_count && !m->levels[tlb].tlb)
        tlb++;
    naive_pieces(s, 0, row, address, size, write);
    if (tlb < m->level_count)
        naive_pieces(s, tlb, row, address, size, false);
}

static void naive_core(struct naive *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct machine_level *l = &s->machine->levels[i];
        if (l->shared && s->cores > 0) {
            s->levels[s->cores][i] = s->levels[0][i];
            continue;
        }
        struct naive_level *n = s->levels[s->cores][i] = mem_calloc(1, sizeof *n);
        n->l = l;
        n->blocks = l->size / l->line;
        n->grain = l->line > 64 ? l->line / 64 : 1;
        n->sets = n->blocks / l->ways;
        n->ways = mem_calloc(n->blocks, sizeof *n->ways);
        n->order = mem_calloc(n->blocks, sizeof *n->order);
        n->tree = mem_calloc(n->blocks, sizeof *n->tree);
        n->full = mem_calloc(n->blocks, sizeof *n->full);
        for (size_t b = 0; b < n->blocks; b++)
            n->order[b] = (int)(b % l->ways);
    }
    s->cores++;
}

static struct naive *naive_create(const struct machine_memory *m, const struct mhsim_options *o)
{
    struct naive *s = mem_calloc(1, sizeof *s);
    s->random = 0x2545f4914f6cdd1d;
    s->machine = m;
    s->count = m->level_count;
    s->classify = o->classify;
    s->sample_sets = o->sample_sets ? o->sample_sets : 1;
    naive_core(s);
    return s;
}

static void naive_free(struct naive *s)
{
    for (uint32_t core = 0; core < s->cores; core++)
        for (uint32_t i = 0; i < s->count; i++) {
            struct naive_level *n = s->levels[core][i];
            if (core > 0 && s->machine->levels[i].shared)
                continue;
            mem_free(n->ways);
            mem_free(n->order);
            mem_free(n->tree);
            mem_free(n->full);
            mem_free(n);
        }
    mem_free(s);
}

/* ---- both, on the same random accesses ------------------------------------------ */

/* In order: two caches with the policy to try, and TLBs. Small, so that thousands of accesses fill them again and again.
 */
static const struct random_case {
    const char *name;
    struct machine_level levels[5];
    unsigned count;
    int accesses;
} random_cases[] = {
    {"LRU, write-back",
     {{.name = "L1", .size = 2048, .line = 64, .ways = 4},
      {.name = "L2", .size = 12288, .line = 64, .ways = 6},
      {.name = "TLB", .size = 8 * 4096, .line = 4096, .ways = 8, .tlb = true}},
     3,
     60000},
    {"tree PLRU",
     {{.name = "L1", .size = 4096, .line = 64, .ways = 8, .replace = MACHINE_PLRU},
      {.name = "L2", .size = 16384, .line = 64, .ways = 16, .replace = MACHINE_PLRU}},
     2,
     60000},
    {"random",
     {{.name = "L1", .size = 2048, .line = 32, .ways = 8, .replace = MACHINE_RANDOM},
      {.name = "L2", .size = 16384, .line = 64, .ways = 4, .replace = MACHINE_RANDOM}},
     2,
     60000},
    {"write-through",
     {{.name = "L1", .size = 2048, .line = 64, .ways = 2, .write_through = true},
      {.name = "L2", .size = 16384, .line = 64, .ways = 4}},
     2,
     24000},
    {"write-through, no allocation",
     {{.name = "L1", .size = 2048, .line = 32, .ways = 2, .write_through = true, .no_allocate = true},
      {.name = "L2", .size = 16384, .line = 64, .ways = 4}},
     2,
     24000},
    {"write-back, no allocation",
     {{.name = "L1", .size = 2048, .line = 64, .ways = 2, .no_allocate = true},
      {.name = "L2", .size = 8192, .line = 64, .ways = 4, .no_allocate = true}},
     2,
     24000},
    {"inclusive",
     {{.name = "L1", .size = 4096, .line = 64, .ways = 4},
      {.name = "L2", .size = 8192, .line = 64, .ways = 2, .inclusive = true}},
     2,
     24000},
    {"inclusive of smaller lines",
     {{.name = "L1", .size = 4096, .line = 16, .ways = 4},
      {.name = "L2", .size = 8192, .line = 64, .ways = 4, .inclusive = true},
      {.name = "L3", .size = 16384, .line = 64, .ways = 4, .inclusive = true}},
     3,
     24000},
    {"three levels and two TLBs, sets of no power of two",
     {{.name = "L1", .size = 3072, .line = 64, .ways = 4},
      {.name = "L2", .size = 11 * 1024, .line = 64, .ways = 11},
      {.name = "TLB", .size = 4 * 4096, .line = 4096, .ways = 4, .tlb = true},
      {.name = "TLB2", .size = 12 * 4096, .line = 4096, .ways = 4, .tlb = true}},
     4,
     24000},
    {"three levels, one way in the middle",
     {{.name = "L1", .size = 1024, .line = 64, .ways = 4},
      {.name = "L2", .size = 4096, .line = 64, .ways = 1},
      {.name = "L3", .size = 80 * 64, .line = 64, .ways = 16},
      {.name = "TLB", .size = 4 * 4096, .line = 4096, .ways = 2, .tlb = true},
      {.name = "TLB2", .size = 6 * 4096, .line = 4096, .ways = 2, .tlb = true}},
     5,
     20000},
    {"four levels",
     {{.name = "L1", .size = 1024, .line = 64, .ways = 4},
      {.name = "L2", .size = 2048, .line = 64, .ways = 4},
      {.name = "L3", .size = 4096, .line = 64, .ways = 4},
      {.name = "L4", .size = 8192, .line = 64, .ways = 4}},
     4,
     24000},
};

static uint64_t rng = 88172645463325252ull;

static uint32_t random_below(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)((rng >> 33) % n);
}

enum { RANDOM_ROWS = 7, RANDOM_BYTES = 1 << 16 };

static bool same_counts(const struct mhsim_counts *a, const struct mhsim_counts *b)
{
    return a->accesses == b->accesses && a->misses == b->misses && a->temporal == b->temporal && a->cold == b->cold &&
           a->conflict == b->conflict && a->distinct == b->distinct && a->evictions == b->evictions &&
           a->used == b->used && a->write_backs == b->write_backs && a->write_throughs == b->write_throughs &&
           a->prefetches == b->prefetches && a->prefetch_hits == b->prefetch_hits && a->invalidated == b->invalidated;
}

static bool same_pairs(const struct mhsim *s, const struct naive *n)
{
    size_t count;
    uint64_t ours = 0, theirs = 0;
    const struct mhsim_pair *p = mhsim_pairs(s, &count);
    for (size_t i = 1; i < count; i++) {
        ours += p[i].count;
        if (n->pairs[p[i].victim][p[i].evictor][p[i].level] != p[i].count ||
            n->taken[p[i].victim][p[i].evictor][p[i].level] != p[i].invalidations)
            return false;
    }
    for (int v = 0; v < NAIVE_ROWS; v++)
        for (int e = 0; e < NAIVE_ROWS; e++)
            for (uint32_t k = 0; k < n->count; k++)
                theirs += n->pairs[v][e][k];
    return ours == theirs;
}

/* Ours come in batches of any length, some of which are more than a thread of the simulator's own is given at once. */
enum { BATCH = 1300 };
struct batch {
    struct mhsim_reference refs[BATCH];
    size_t count, wanted;
};

static void batch_end(struct mhsim *s, struct batch *b)
{
    if (b->count == 1)
        mhsim_access(s, b->refs[0].row, b->refs[0].address, b->refs[0].size, b->refs[0].write);
    else
        mhsim_accesses(s, b->refs, b->count);
    b->count = 0;
    b->wanted = 1 + random_below(random_below(8) ? 100 : BATCH);
}

static void batch_add(struct mhsim *s, struct batch *b, struct mhsim_reference ref)
{
    b->refs[b->count++] = ref;
    if (b->count >= b->wanted)
        batch_end(s, b);
}

static void random_accesses(struct mhsim *s, uint32_t core, struct naive *n, int accesses)
{
    struct batch batch = {.count = 0};
    uint32_t rows[RANDOM_ROWS];
    for (int i = 0; i < RANDOM_ROWS; i++)
        rows[i] = mhsim_row(s, core, 1000 + (uint64_t)i, 0);
    for (int i = 0; i < accesses; i++) {
        uint32_t r = random_below(RANDOM_ROWS), size = 1u << random_below(4);
        uint64_t range = r == 0 ? 1024 : r < 4 ? 16384 : RANDOM_BYTES;
        uint64_t address = 4096 + random_below((uint32_t)range) / size * size;
        bool write = random_below(3) == 0;
        batch_add(s, &batch, (struct mhsim_reference){address, rows[r], (uint16_t)size, write});
        naive_whole(n, (int)rows[r], address, size, write);
    }
    batch_end(s, &batch);
}

/* Relations between the levels' totals that hold for every policy. */
static bool adds_up(const struct mhsim *s, const struct machine_memory *m)
{
    size_t count;
    const struct mhsim_row *rows = mhsim_rows(s, &count);
    struct mhsim_counts sum[MACHINE_LEVELS] = {0};
    uint64_t evictions = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < m->level_count; k++) {
            sum[k].accesses += rows[i].levels[k].accesses;
            sum[k].misses += rows[i].levels[k].misses;
            sum[k].write_throughs += rows[i].levels[k].write_throughs;
            sum[k].prefetches += rows[i].levels[k].prefetches;
            evictions += rows[i].levels[k].evictions;
        }
    const struct mhsim_pair *pairs = mhsim_pairs(s, &count);
    for (size_t i = 0; i < count; i++)
        evictions -= pairs[i].count;
    bool ok = evictions == 0;
    for (uint32_t k = 0; k < m->level_count; k++)
        if (m->levels[k].next != MACHINE_NO_LEVEL)
            ok &= sum[m->levels[k].next].accesses == sum[k].misses + sum[k].write_throughs + sum[k].prefetches;
    return ok;
}

static struct machine_memory machine_of(const struct machine_level *levels, unsigned count)
{
    struct machine_memory m = {.level_count = count};
    struct err err = {0};
    memcpy(m.levels, levels, count * sizeof *levels);
    if (machine_memory_check(&m, "test", &err) < 0)
        printf("# %s\n", err.msg);
    return m;
}

/* A sanitizer makes the naive simulator ten times slower, and detects other errors. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { LESS = 4 };
#else
enum { LESS = 1 };
#endif

static bool same_rows(const struct mhsim *s, const struct naive *n, const struct machine_memory *m)
{
    bool same = true;
    size_t count;
    const struct mhsim_row *rows = mhsim_rows(s, &count);
    for (size_t i = 0; i < count; i++) {
        same &= rows[i].split == n->split[i];
        for (uint32_t k = 0; k < m->level_count; k++)
            if (!same_counts(&rows[i].levels[k], &n->rows[i][k])) {
                const struct mhsim_counts *a = &rows[i].levels[k], *b = &n->rows[i][k];
                printf("# row %zu, %s:", i, m->levels[k].name);
                for (size_t w = 0; w < sizeof *a / sizeof(uint64_t); w++)
                    printf(" %llu %llu,", (unsigned long long)((const uint64_t *)a)[w],
                           (unsigned long long)((const uint64_t *)b)[w]);
                printf("\n");
                same = false;
            }
    }
    return same;
}

static bool is_same(const struct mhsim *s, const struct naive *n, const struct machine_memory *m)
{
    return same_rows(s, n, m) && same_pairs(s, n);
}

static void check_same(const struct mhsim *s, const struct naive *n, const struct machine_memory *m, const char *name)
{
    CHECK_NAMED(is_same(s, n, m), name);
    CHECK_NAMED(adds_up(s, m), "... and its totals add up");
}

/* second: a second core starts in the middle and stays idle. helpers: threads of the simulator. */
static void check_random(const struct random_case *c, bool second, unsigned helpers)
{
    struct machine_memory m = machine_of(c->levels, c->count);
    struct mhsim_options o = {0};
    struct mhsim *s = mhsim_create(&m, &o);
    struct naive *n = naive_create(&m, &o);
    mhsim_help(s, helpers, NULL);
    uint32_t core = mhsim_core(s);
    random_accesses(s, core, n, c->accesses / LESS / (second ? 8 : 2));
    if (second)
        mhsim_core(s);
    random_accesses(s, core, n, c->accesses / LESS / (second ? 8 : 2));
    check_same(s, n, &m,
               second    ? "... and with a second core in the middle"
               : helpers ? "... and with threads of its own"
                         : c->name);
    naive_free(n);
    mhsim_free(s);
}
/* Mostly small ones. */
static uint32_t below_twice(uint32_t n)
{
    return random_below(1 + random_below(n));
}

/* Accesses of any size at any address, by more rows than a page remembers; lines of one size in each chain, so that all
   levels see the same pieces. */
static void check_far(unsigned caches, unsigned tlbs, unsigned shift, bool second)
{
    enum { ROWS = 40 };
    uint32_t line = 1u << shift;
    const struct machine_level levels[] = {{.name = "L1", .size = 32 * line, .line = line, .ways = 4},
                                           {.name = "L2", .size = 96 * line, .line = line, .ways = 8},
                                           {.name = "L3", .size = 320 * line, .line = line, .ways = 16}},
                               pages[] = {{.name = "TLB", .size = 4 * 4096, .line = 4096, .ways = 2, .tlb = true},
                                          {.name = "TLB2", .size = 10 * 4096, .line = 4096, .ways = 5, .tlb = true}};
    fewer_instructions = second;
    struct machine_memory m = machine_of(levels, caches);
    memcpy(m.levels + caches, pages, tlbs * sizeof *pages);
    m.level_count = caches + tlbs;
    struct err err = {0};
    CHECK_INT(machine_memory_check(&m, "test", &err), 0);
    struct mhsim_options o = {0};
    struct mhsim *s = mhsim_create(&m, &o);
    struct naive *n = naive_create(&m, &o);
    struct batch batch = {.count = 0};
    uint32_t core = mhsim_core(s), rows[ROWS];
    for (uint64_t i = 0; i < ROWS; i++)
        rows[i] = mhsim_row(s, core, 1000 + i, 0);
    for (int i = 0, most = 6000 / LESS; i < most; i++) {
        uint32_t row = rows[below_twice(ROWS)], size = 1 + random_below(random_below(16) ? 16 : 200);
        uint64_t address = far_pieces[random_below(FAR_PIECES)] + below_twice(FAR_BYTES - 256);
        bool write = random_below(3) == 0;
        batch_add(s, &batch, (struct mhsim_reference){address, row, (uint16_t)size, write});
        naive_whole(n, (int)row, address, size, write);
        if (second && i == most / 2) {
            batch_end(s, &batch);
            mhsim_core(s);
        }
    }
    batch_end(s, &batch);
    char name[100];
    snprintf(name, sizeof name, "%u levels of %u bytes, %u TLBs, any address%s", caches, line, tlbs,
             second ? ", a second core" : "");
    check_same(s, n, &m, name);
    naive_free(n);
    mhsim_free(s);
}

/* ---- random machines --------------------------------------------------------------------------- */

enum { DRAWN_MACHINES = 160, DRAWN_ACCESSES = 2400, DRAWN_ROWS = 9, DRAWN_BYTES = 40000 };

/* plain: a usual configuration, for which nothing else has to be checked. */
static void draw_level(struct machine_level *l, bool plain, uint32_t line)
{
    static const uint8_t policies[] = {MACHINE_LRU, MACHINE_LRU, MACHINE_PLRU, MACHINE_RANDOM};
    l->line = line;
    l->replace = plain ? MACHINE_LRU : policies[random_below(4)];
    l->ways = l->replace == MACHINE_PLRU ? 1u << random_below(random_below(8) ? 5 : 8)
                                         : 1 + random_below(random_below(8) ? 16 : 40);
    l->size = (uint64_t)l->line * l->ways * (random_below(2) ? 1u << random_below(4) : 1 + random_below(9));
    if (plain)
        return;
    l->write_through = random_below(4) == 0;
    l->no_allocate = random_below(4) == 0;
    l->inclusive = random_below(4) == 0 && !l->no_allocate;
}

/* Caches, and up to two TLBs after the first cache. prefetches: of some kind. */
static struct machine_memory draw_machine(bool plain, bool prefetches)
{
    struct machine_memory m = {.level_count = 1 + random_below(5)};
    uint32_t line[2] = {16u << random_below(plain ? 3 : 2), 1024u << random_below(2)}, shared_from = random_below(5);
    for (uint32_t i = 0; i < m.level_count; i++) {
        struct machine_level *l = &m.levels[i];
        bool tlb = i > 0 && random_below(3) == 0 && line[1] < 4096;
        draw_level(l, plain, line[tlb]);
        snprintf(l->name, sizeof l->name, "%s%u", tlb ? "T" : "L", i);
        l->tlb = tlb;
        l->shared = i >= shared_from;
        l->prefetch = prefetches && !tlb ? (uint8_t)random_below(3) : MACHINE_NO_PREFETCH;
        line[tlb] <<= !plain && random_below(3) == 0;
    }
    return m;
}

/* Runs of a few strides, and leaps. */
static uint64_t draw_address(uint64_t *last)
{
    static const int64_t strides[] = {0, 8, 8, 40, 64, 200, -8, -72, -300};
    int64_t next = (int64_t)*last + strides[*last / 4096 % 9];
    if (random_below(12) == 0 || next < 4096 || next >= 4096 + DRAWN_BYTES)
        next = 4096 + (int64_t)below_twice(DRAWN_BYTES);
    return *last = (uint64_t)next;
}

struct drawn {
    struct mhsim *s;
    struct naive *n;
    uint32_t rows[NAIVE_CORES * DRAWN_ROWS], count;
    uint64_t at[NAIVE_CORES * DRAWN_ROWS];
};

/* Row 0, if it is the only one, belongs to the first core. */
static void drawn_rows(struct drawn *d, uint32_t core)
{
    for (uint64_t i = 0; i < DRAWN_ROWS; i++) {
        uint32_t row = d->rows[d->count++] = mhsim_row(d->s, core, 1000 + i, 0);
        d->n->core_of[row] = row ? core : 0;
    }
}

static void drawn_core(struct drawn *d)
{
    uint32_t core = mhsim_core(d->s);
    if (core == d->n->cores)
        naive_core(d->n);
    drawn_rows(d, core);
}

/* With cores that start one by one, and quiet phases. The two simulators treat rows seen while quiet, and prefetches,
   differently. */
static void drawn_life(struct drawn *d, uint32_t cores, bool quiets)
{
    struct batch batch = {.count = 0};
    for (int i = 0; i < DRAWN_ACCESSES; i++) {
        if (d->n->cores < cores && random_below(DRAWN_ACCESSES / 8) == 0) {
            batch_end(d->s, &batch);
            drawn_core(d);
        }
        if (quiets && random_below(200) == 0) {
            batch_end(d->s, &batch);
            d->n->quiet = !d->n->quiet;
            mhsim_quiet(d->s, d->n->quiet);
        }
        uint32_t r = random_below(d->count), size = random_below(8) ? 1u << random_below(4) : 1 + random_below(300);
        uint64_t address = draw_address(&d->at[r]);
        bool write = random_below(3) == 0;
        batch_add(d->s, &batch, (struct mhsim_reference){address, d->rows[r], (uint16_t)size, write});
        naive_whole(d->n, (int)d->rows[r], address, size, write);
    }
    batch_end(d->s, &batch);
}

static void forget_news(struct drawn *d, bool cold)
{
    size_t count;
    struct mhsim_row *rows = (struct mhsim_row *)(uintptr_t)mhsim_rows(d->s, &count);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < MACHINE_LEVELS; k++) {
            struct mhsim_counts *a = &rows[i].levels[k], *b = &d->n->rows[i][k];
            a->distinct = b->distinct;
            a->conflict = cold ? b->conflict : a->conflict;
            a->cold = cold ? b->cold : a->cold;
        }
}

/* Several cores with equal line sizes: a store invalidates its own line in the other cores at each level; neighbouring
   parts of a longer line of the next level stay valid. */
static bool private_alike(const struct machine_memory *m)
{
    for (uint32_t i = 1; i < m->level_count; i++)
        if (!m->levels[i].tlb && !m->levels[i].shared && m->levels[i].line != m->levels[0].line)
            return false;
    return true;
}

static void check_drawn_machines(void)
{
    unsigned same = 0, machines = DRAWN_MACHINES / LESS;
    for (unsigned i = 0; i < machines;) {
        bool plain = random_below(3) == 0, prefetches = !plain && random_below(3) == 0, quiets = random_below(4) == 0;
        struct machine_memory m = draw_machine(plain, prefetches);
        struct mhsim_options o = {.classify = random_below(3) == 0};
        o.sample_sets = plain || random_below(4) ? 0 : 1u << random_below(4);
        if (machine_memory_check(&m, "drawn", NULL) < 0)
            continue;
        fewer_instructions = i++ % 2;
        struct drawn d = {.s = mhsim_create(&m, &o), .n = naive_create(&m, &o)};
        mhsim_help(d.s, random_below(8) ? 0 : 2, NULL);
        drawn_core(&d);
        drawn_life(&d, random_below(2) && private_alike(&m) ? 1 + random_below(NAIVE_CORES) : 1, quiets);
        if (quiets || prefetches)
            forget_news(&d, prefetches);
        bool good = is_same(d.s, d.n, &m) && adds_up(d.s, &m);
        same += good;
        if (!good) {
            struct buf b = {0};
            machine_memory_print(&m, &b);
            printf("# machine %u: %s; %u cores, one cache line in %llu%s%s\n", i, b.bytes, d.n->cores,
                   (unsigned long long)d.n->sample_sets, o.classify ? ", classified" : "", quiets ? ", quiet" : "");
            buf_release(&b);
        }
        naive_free(d.n);
        mhsim_free(d.s);
    }
    CHECK_INT(same, machines);
}

/* ---- closed forms ---------------------------------------------------------------------------- */

struct trial {
    struct mhsim *s;
    uint32_t core;
};

static struct trial trial_of(uint64_t size, uint32_t ways, bool classify)
{
    struct machine_level l = {.name = "L1", .size = size, .line = 64, .ways = ways};
    struct machine_memory m = machine_of(&l, 1);
    struct mhsim_options o = {.classify = classify};
    struct trial t = {mhsim_create(&m, &o), 0};
    t.core = mhsim_core(t.s);
    return t;
}

static struct mhsim_counts counts_of(const struct trial *t, uint32_t row)
{
    size_t count;
    return mhsim_rows(t->s, &count)[row].levels[0];
}

static void check_streams(void)
{
    enum { N = 4096 };
    for (unsigned stride = 1; stride <= 16; stride *= 2) {
        struct trial t = trial_of(4096, 4, false);
        uint32_t row = mhsim_row(t.s, t.core, 1, 0);
        for (uint64_t i = 0; i < N; i += stride)
            mhsim_access(t.s, row, 65536 + i * 8, 8, false);
        struct mhsim_counts c = counts_of(&t, row);
        uint64_t blocks = N / (stride > 8 ? stride : 8), touched = stride > 8 ? 8 : 64 / stride;
        CHECK_INT(c.accesses, N / stride);
        CHECK_INT(c.misses, blocks);
        CHECK_INT(c.cold, blocks);
        CHECK_INT(c.distinct, blocks);
        CHECK_INT(c.temporal, 0);
        /* a stride of s blocks uses one set in s */
        CHECK_INT(c.evictions, blocks - 64 / (stride > 8 ? stride / 8 : 1));
        CHECK_INT(c.used, c.evictions * touched);
        mhsim_free(t.s);
    }
}

/* Transposition of a matrix of n x n doubles: the column side has a stride of n blocks. With n a power of two and 64
   sets, all blocks fall into few sets; with a leading dimension of n + 8 they spread. */
static void check_transposition(void)
{
    enum { N = 64 };
    for (unsigned lead = N * 8; lead <= N * 8 + 8; lead += 8) {
        struct trial t = trial_of(32768, 8, true);
        uint32_t from = mhsim_row(t.s, t.core, 1, 0), to = mhsim_row(t.s, t.core, 2, 0);
        for (uint64_t i = 0; i < N; i++)
            for (uint64_t j = 0; j < N; j++) {
                mhsim_access(t.s, from, (1 << 20) + (i * lead + j) * 8, 8, false);
                mhsim_access(t.s, to, (2 << 20) + (j * lead + i) * 8, 8, true);
            }
        struct mhsim_counts r = counts_of(&t, from), w = counts_of(&t, to);
        CHECK_INT(r.cold + w.cold, 2 * N * N / 8);
        if (lead == N * 8) { /* every column maps to one set: none of its blocks survives until the next column */
            CHECK_INT(w.misses, N * N);
            CHECK_INT(w.conflict, N * N - N * N / 8);
        } else { /* 512 blocks of columns and one row: they fit, but where the row passes */
            CHECK(w.misses < N * N / 4);
        }
        mhsim_free(t.s);
    }
}

/* c[i][j] += a[i][k] * b[k][j], n = 32, in a cache that holds one row of each and not b: misses of each order, from the
   textbook. One matrix has 32 x 32 x 8 / 64 = 128 blocks; the level has 32 blocks, one set. */
static void check_matrix_orders(void)
{
    enum { N = 32, BLOCKS = N * N / 8 };
    static const struct {
        const char *order;
        uint64_t a, b, c;
    } cases[] = {
        {"ijk", BLOCKS, (uint64_t)N * N * N, BLOCKS},             /* a's row stays, b's columns never do */
        {"jik", N * BLOCKS, (uint64_t)N * N * N, N * N},          /* a's rows come again for every j */
        {"ikj", BLOCKS, (uint64_t)N * BLOCKS, BLOCKS},            /* rows alone: c's stays */
        {"kij", N * N, BLOCKS, (uint64_t)N * BLOCKS},             /* b's row stays, c comes for every k */
        {"jki", (uint64_t)N * N * N, N * N, (uint64_t)N * N * N}, /* columns of a and of c */
        {"kji", (uint64_t)N * N * N, BLOCKS, (uint64_t)N * N * N},
    };
    for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
        struct trial t = trial_of(32 * 64, 32, false);
        uint32_t a = mhsim_row(t.s, t.core, 1, 0), b = mhsim_row(t.s, t.core, 2, 0), c = mhsim_row(t.s, t.core, 3, 0);
        uint64_t at[128] = {0};
        for (unsigned x = 0; x < N; x++)
            for (unsigned y = 0; y < N; y++)
                for (unsigned z = 0; z < N; z++) {
                    const char *o = cases[k].order;
                    at[(unsigned char)o[0]] = x, at[(unsigned char)o[1]] = y, at[(unsigned char)o[2]] = z;
                    mhsim_access(t.s, a, (1 << 20) + (at['i'] * N + at['k']) * 8, 8, false);
                    mhsim_access(t.s, b, (2 << 20) + (at['k'] * N + at['j']) * 8, 8, false);
                    mhsim_access(t.s, c, (3 << 20) + (at['i'] * N + at['j']) * 8, 8, true);
                }
        struct mhsim_counts na = counts_of(&t, a), nb = counts_of(&t, b), nc = counts_of(&t, c);
        char name[128];
        snprintf(name, sizeof name, "matrix multiply %s: a %llu b %llu c %llu", cases[k].order,
                 (unsigned long long)na.misses, (unsigned long long)nb.misses, (unsigned long long)nc.misses);
        CHECK_NAMED(na.misses == cases[k].a && nb.misses == cases[k].b && nc.misses == cases[k].c, name);
        CHECK_INT(na.distinct + nb.distinct + nc.distinct, 3 * BLOCKS);
        CHECK_INT(na.accesses + nb.accesses + nc.accesses, 3 * N * N * N);
        mhsim_free(t.s);
    }
}

/* Two arrays at a distance of a multiple of the way size, in a direct-mapped level: each access evicts the other
   array's block. */
static void check_ping_pong(void)
{
    struct trial t = trial_of(4096, 1, true);
    uint32_t x = mhsim_row(t.s, t.core, 1, 0), y = mhsim_row(t.s, t.core, 2, 0);
    for (uint64_t i = 0; i < 100; i++) {
        mhsim_access(t.s, x, 65536, 8, false);
        mhsim_access(t.s, y, 65536 + 4096, 8, false);
    }
    size_t count;
    const struct mhsim_pair *p = mhsim_pairs(t.s, &count);
    CHECK_INT(counts_of(&t, x).misses, 100);
    CHECK_INT(counts_of(&t, x).conflict, 99);
    CHECK_INT(count, 3);
    CHECK(p[1].victim == x && p[1].evictor == y && p[1].count == 100);
    CHECK(p[2].victim == y && p[2].evictor == x && p[2].count == 99);
    mhsim_free(t.s);
}

static void check_split(void)
{
    struct trial t = trial_of(4096, 4, false);
    uint32_t x = mhsim_row(t.s, t.core, 1, 0);
    size_t count;
    mhsim_access(t.s, x, 65536 + 60, 8, false); /* 4 bytes in each of two blocks */
    mhsim_access(t.s, x, 65536 + 60, 4, false);
    mhsim_access(t.s, x, 65536 + 64, 4, false);
    CHECK_INT(counts_of(&t, x).accesses, 4);
    CHECK_INT(counts_of(&t, x).misses, 2);
    CHECK_INT(counts_of(&t, x).temporal, 2);
    CHECK_INT(mhsim_rows(t.s, &count)[x].split, 1);
    mhsim_free(t.s);
}

/* ---- prefetchers, cores, samples ------------------------------------------------------------------ */

static void check_prefetch(uint8_t kind, uint64_t stride, uint64_t misses)
{
    struct machine_level levels[] = {{.name = "L1", .size = 32768, .line = 64, .ways = 8, .prefetch = kind},
                                     {.name = "L2", .size = 1 << 20, .line = 64, .ways = 8}};
    struct machine_memory m = machine_of(levels, 2);
    struct mhsim_options o = {0};
    struct mhsim *s = mhsim_create(&m, &o);
    uint32_t row = mhsim_row(s, mhsim_core(s), 1, 0);
    size_t count;
    for (uint64_t i = 0; i < 1000; i++)
        mhsim_access(s, row, 65536 + i * stride, 8, false);
    const struct mhsim_counts *c = mhsim_rows(s, &count)[row].levels;
    CHECK_INT(c[0].misses, misses);
    CHECK_INT(c[0].prefetch_hits, c[0].distinct - misses);
    CHECK(adds_up(s, &m));
    mhsim_free(s);
}

/* With one block in 16 sampled, only blocks in the sample are prefetched. */
static void check_prefetch_in_samples(uint8_t kind, uint64_t stride, uint64_t misses, uint64_t prefetches)
{
    struct machine_level l = {.name = "L1", .size = 32768, .line = 64, .ways = 8, .prefetch = kind};
    struct machine_memory m = machine_of(&l, 1);
    struct mhsim_options o = {.sample_sets = 16};
    struct mhsim *s = mhsim_create(&m, &o);
    uint32_t row = mhsim_row(s, mhsim_core(s), 1, 0);
    size_t count;
    for (uint64_t i = 0; i < 320; i++)
        mhsim_access(s, row, 65536 + i * stride, 8, false);
    const struct mhsim_counts *c = mhsim_rows(s, &count)[row].levels;
    CHECK_INT(c->misses, misses);
    CHECK_INT(c->prefetches, prefetches);
    mhsim_free(s);
}

/* Two threads store into one block in turn: each store takes it from the other. */
static void check_false_sharing(void)
{
    struct machine_level levels[] = {{.name = "L1", .size = 32768, .line = 64, .ways = 8},
                                     {.name = "L2", .size = 65536, .line = 64, .ways = 8},
                                     {.name = "L3", .size = 1 << 20, .line = 64, .ways = 8, .shared = true}};
    struct machine_memory m = machine_of(levels, 3);
    struct mhsim_options o = {0};
    struct mhsim *s = mhsim_create(&m, &o);
    uint32_t c0 = mhsim_core(s), c1 = mhsim_core(s);
    uint32_t x = mhsim_row(s, c0, 1, 0), y = mhsim_row(s, c1, 1, 0), z = mhsim_row(s, c0, 2, 0),
             w = mhsim_row(s, c1, 3, 0);
    for (int i = 0; i < 100; i++) {
        mhsim_access(s, x, 65536, 8, true);
        mhsim_access(s, y, 65536 + 8, 8, true);
    }
    for (int i = 0; i < 100; i++) { /* both read: no invalidation */
        mhsim_access(s, z, 131072, 8, false);
        mhsim_access(s, w, 131072, 8, false);
    }
    size_t count;
    const struct mhsim_row *rows = mhsim_rows(s, &count);
    CHECK_INT(rows[x].levels[0].misses, 100);
    CHECK_INT(rows[x].levels[0].invalidated, 100);
    CHECK_INT(rows[y].levels[0].invalidated, 99);
    CHECK_INT(rows[y].levels[0].misses, 100);
    CHECK_INT(rows[y].levels[2].misses, 0);
    CHECK_INT(rows[z].levels[0].misses, 1);
    CHECK_INT(rows[w].levels[0].misses, 1);
    CHECK_INT(rows[w].levels[2].misses, 0);
    const struct mhsim_pair *p = mhsim_pairs(s, &count);
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found |= p[i].victim == x && p[i].evictor == y && p[i].level == 0 && p[i].invalidations == 100;
    CHECK_NAMED(found, "a store of the other thread is named as what took the block away");
    mhsim_free(s);
}

static void check_samples(void)
{
    struct machine_level l = {.name = "L1", .size = 32768, .line = 64, .ways = 8};
    struct machine_memory m = machine_of(&l, 1);
    struct mhsim_options o = {.sample_sets = 16};
    struct mhsim *s = mhsim_create(&m, &o);
    uint32_t row = mhsim_row(s, mhsim_core(s), 1, 0);
    size_t count;
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 65536; i++)
            mhsim_access(s, row, 65536 + i * 8, 8, false);
    const struct mhsim_counts *c = mhsim_rows(s, &count)[row].levels;
    CHECK_INT(c->accesses * 16, 2 * 65536);
    CHECK_INT(c->misses * 16, 2 * 65536 / 8);
    mhsim_quiet(s, true);
    mhsim_access(s, row, 65536, 8, false);
    CHECK_INT(c->accesses * 16, 2 * 65536);
    mhsim_free(s);
}

/* For accesses that change the levels while nothing is counted: the single-threaded simulator, in batches, compared
   with the multithreaded one, access by access. Blocks first fetched by a row while quiet are counted differently by
   the two. */
static bool same_but_distinct(struct mhsim_counts a, const struct mhsim_counts *b)
{
    a.distinct = b->distinct;
    return same_counts(&a, b);
}

static void check_quiet(unsigned caches)
{
    enum { ROWS = 400, ROUNDS = 120, MOST = 500 };
    struct machine_level levels[] = {{.name = "L1", .size = 1024, .line = 64, .ways = 4},
                                     {.name = "L2", .size = 4096, .line = 64, .ways = 8},
                                     {.name = "L3", .size = 12288, .line = 64, .ways = 12},
                                     {.name = "TLB", .size = 4 * 4096, .line = 4096, .ways = 2, .tlb = true},
                                     {.name = "TLB2", .size = 12 * 4096, .line = 4096, .ways = 4, .tlb = true}};
    struct machine_memory m = machine_of(levels + 3 - caches, caches + 2);
    struct mhsim_options o = {0};
    struct mhsim *one = mhsim_create(&m, &o), *many = mhsim_create(&m, &o);
    uint32_t core = mhsim_core(one), same = mhsim_core(many);
    static struct mhsim_reference refs[MOST];
    mhsim_core(many); /* a second thread, which is idle */
    mhsim_help(one, 1 + caches % 2, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = 1 + random_below(MOST), used = round % 20 < 10 ? ROWS : 8;
        for (size_t i = 0; i < n; i++) {
            uint64_t code = 1 + random_below((uint32_t)used), address = (1 << 20) + 8 * (uint64_t)random_below(1 << 13);
            bool write = code % 3 == 0;
            refs[i] = (struct mhsim_reference){address, mhsim_row(one, core, code, 0), 8, write};
            mhsim_access(many, mhsim_row(many, same, code, 0), address, 8, write);
        }
        mhsim_accesses(one, refs, n);
        bool quiet = random_below(2);
        mhsim_quiet(one, quiet);
        mhsim_quiet(many, quiet);
    }
    size_t count[2];
    const struct mhsim_row *of_one = mhsim_rows(one, &count[0]), *of_many = mhsim_rows(many, &count[1]);
    CHECK_INT(count[0], count[1]);
    bool equal = count[0] == count[1];
    for (size_t i = 1; equal && i < count[0]; i++)
        for (unsigned k = 0; k < m.level_count; k++)
            equal &= same_but_distinct(of_one[i].levels[k], &of_many[i].levels[k]);
    CHECK_NAMED(equal, "what is quiet changes the levels and no counts, in batches as one by one");
    mhsim_free(one);
    mhsim_free(many);
}

/* Blocks accessed while quiet do not count as met by the row. */
static void check_met_quietly(uint32_t row_count)
{
    struct machine_level levels[] = {{.name = "L1", .size = 32768, .line = 64, .ways = 8},
                                     {.name = "L2", .size = 65536, .line = 64, .ways = 8},
                                     {.name = "TLB", .size = 64 * 4096, .line = 4096, .ways = 4, .tlb = true},
                                     {.name = "TLB2", .size = 512 * 4096, .line = 4096, .ways = 4, .tlb = true}};
    struct machine_memory m = machine_of(levels, 4);
    struct mhsim_options o = {0};
    struct mhsim *s = mhsim_create(&m, &o);
    uint32_t core = mhsim_core(s);
    mhsim_access(s, mhsim_row(s, core, 1, 0), 65536, 8, false);
    for (int round = 0; round < 2; round++) {
        mhsim_quiet(s, round == 0);
        for (uint32_t i = 0; i < row_count; i++)
            mhsim_access(s, mhsim_row(s, core, 2 + i, 0), 65536, 8, false);
    }
    size_t count;
    const struct mhsim_row *rows = mhsim_rows(s, &count);
    uint64_t met = 0;
    for (size_t i = 0; i < count; i++)
        met += rows[i].levels[0].distinct + rows[i].levels[2].distinct;
    CHECK_INT(met, 2 * (row_count + 1));
    mhsim_free(s);
}

/* ---- memory outside of the heap -------------------------------------------------------------------- */

static long mapped_pages(void)
{
    long pages = -1;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld", &pages) != 1)
        pages = -1;
    if (f)
        fclose(f);
    return pages;
}

/* Distant addresses in many rows, so that all tables exist. */
static void live_and_die(const struct machine_memory *m, bool classify, bool second)
{
    struct mhsim_options o = {.classify = classify};
    struct mhsim *s = mhsim_create(m, &o);
    uint32_t core = mhsim_core(s);
    for (int i = 0; i < 3000; i++) {
        uint64_t address = far_pieces[random_below(FAR_PIECES)] + random_below(FAR_BYTES);
        mhsim_access(s, mhsim_row(s, core, random_below(40), 0), address, 8, i % 2);
        if (second && i == 1500)
            mhsim_core(s);
    }
    mhsim_free(s);
}

static void check_given_back(void)
{
    static const struct machine_level levels[] = {
        {.name = "L1", .size = 2048, .line = 64, .ways = 4},
        {.name = "L2", .size = 64 * 20 * 7, .line = 64, .ways = 20, .replace = MACHINE_LRU},
        {.name = "TLB", .size = 8 * 4096, .line = 4096, .ways = 2, .tlb = true},
    };
    for (int i = 0; i < 8; i++) {
        struct machine_memory m = machine_of(levels, 3);
        m.levels[1].ways = i & 1 ? 20 : 4;
        long before = mapped_pages();
        live_and_die(&m, i & 2, i & 4);
        CHECK_INT(mapped_pages() - before, 0);
    }
}

static const struct machine_level little_levels[] = {
    {.name = "L1", .size = 32 * 64, .line = 64, .ways = 4},
    {.name = "L2", .size = 96 * 64, .line = 64, .ways = 8},
    {.name = "L3", .size = 320 * 64, .line = 64, .ways = 16},
    {.name = "TLB", .size = 4 * 4096, .line = 4096, .ways = 2, .tlb = true},
    {.name = "TLB2", .size = 10 * 4096, .line = 4096, .ways = 5, .tlb = true},
};

/* ---- threads of the simulator ------------------------------------------------------------------- */

static unsigned helpers_begun, helpers_alike;
static uint32_t caller_sleeps, helper_sleeps; /* how often they did */
static bool helpers_wait;                     /* they begin when the caller waits for them */

int fake_yield(void)
{
    return sched_yield();
}

/* The futex calls of the simulator's threads. */
long fake_syscall(long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_futex && a[1] == FUTEX_WAIT_PRIVATE)
        __atomic_add_fetch(syscall(SYS_gettid) == getpid() ? &caller_sleeps : &helper_sleeps, 1, __ATOMIC_SEQ_CST);
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void wait_for(const uint32_t *count)
{
    while (__atomic_load_n(count, __ATOMIC_SEQ_CST) == 0)
        sched_yield();
}

/* They have a name, and no signals. */
static void helper_begins(void)
{
    char name[16] = "";
    sigset_t kept_out;
    prctl(PR_GET_NAME, name);
    pthread_sigmask(SIG_SETMASK, NULL, &kept_out);
    bool alike = strcmp(name, "hpcview") == 0 && sigismember(&kept_out, SIGTERM) && sigismember(&kept_out, SIGPROF);
    __atomic_add_fetch(&helpers_alike, alike, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&helpers_begun, 1, __ATOMIC_SEQ_CST);
    if (helpers_wait)
        wait_for(&caller_sleeps);
}

/* One for each chain, at most two; the caller's signal mask is unchanged. */
static void check_helpers(unsigned wanted, unsigned tlbs)
{
    struct machine_memory m = machine_of(little_levels, 3 + tlbs);
    struct mhsim_options o = {0};
    struct mhsim *s = mhsim_create(&m, &o);
    sigset_t before, behind;
    unsigned want = wanted < 1 + (tlbs > 0) ? wanted : 1 + (tlbs > 0);
    helpers_begun = helpers_alike = 0;
    caller_sleeps = helper_sleeps = 0;
    helpers_wait = true;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    mhsim_help(s, wanted, helper_begins);
    uint32_t row = mhsim_row(s, mhsim_core(s), 1, 0);
    for (uint64_t i = 0; i < 400; i++)
        mhsim_access(s, row, 4096 + 8 * i, 8, false);
    mhsim_wait(s);
    if (want) /* neither of them spins */
        wait_for(&helper_sleeps);
    CHECK(want == 0 || caller_sleeps > 0);
    pthread_sigmask(SIG_SETMASK, NULL, &behind);
    CHECK_INT(helpers_begun, want);
    CHECK_INT(helpers_alike, want);
    CHECK(sigismember(&before, SIGTERM) == sigismember(&behind, SIGTERM) &&
          sigismember(&before, SIGPROF) == sigismember(&behind, SIGPROF));
    mhsim_free(s);
}

/* ---- limits, and too little memory ------------------------------------------------------------------ */

/* Pairs that do not fit are counted in pair 0. */
static bool same_pairs_or_fewer(const struct mhsim *s, const struct naive *n)
{
    size_t count;
    uint64_t ours = 0, theirs = 0;
    const struct mhsim_pair *p = mhsim_pairs(s, &count);
    for (size_t i = 0; i < count; i++) {
        ours += p[i].count;
        if (i > 0 && n->pairs[p[i].victim][p[i].evictor][p[i].level] < p[i].count)
            return false;
    }
    for (int v = 0; v < NAIVE_ROWS; v++)
        for (int e = 0; e < NAIVE_ROWS; e++)
            for (uint32_t k = 0; k < n->count; k++)
                theirs += n->pairs[v][e][k];
    return ours == theirs;
}

/* Rows that met a block may be forgotten, but never invented. */
static bool no_more_news(const struct mhsim *s, const struct naive *n)
{
    size_t count;
    bool good = true;
    const struct mhsim_row *rows = mhsim_rows(s, &count);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < MACHINE_LEVELS; k++)
            good &= rows[i].levels[k].distinct <= n->rows[i][k].distinct;
    return good;
}

static void forget_cold(struct drawn *d)
{
    size_t count;
    const struct mhsim_row *rows = mhsim_rows(d->s, &count);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < MACHINE_LEVELS; k++)
            d->n->rows[i][k].cold = rows[i].levels[k].cold;
}

static void far_life(struct drawn *d, int accesses)
{
    struct batch batch = {.count = 0};
    for (int i = 0; i < accesses; i++) {
        uint32_t row = d->rows[below_twice(d->count)], size = 1 + random_below(random_below(16) ? 16 : 200);
        uint64_t address = far_pieces[random_below(FAR_PIECES)] + below_twice(FAR_BYTES - 256);
        bool write = random_below(3) == 0;
        batch_add(d->s, &batch, (struct mhsim_reference){address, row, (uint16_t)size, write});
        naive_whole(d->n, (int)row, address, size, write);
    }
    batch_end(d->s, &batch);
}

/* A life with a second core in its middle, in which some mapping, or all from that one on, is refused. */
static bool lives_with_little(const struct machine_memory *m, const struct mhsim_options *o, unsigned first,
                              unsigned times)
{
    bool good = true;
    long before = mapped_pages();
    made_memory.first = first;
    made_memory.times = times;
    made_memory.refused = 0;
    struct drawn d = {.s = mhsim_create(m, o), .n = naive_create(m, o)};
    uint32_t core = d.s ? mhsim_core(d.s) : UINT32_MAX;
    good &= core == 0 || (core == UINT32_MAX && made_memory.refused > 0);
    if (core == 0) {
        drawn_rows(&d, core);
        far_life(&d, 1200 / LESS);
        good &= no_more_news(d.s, d.n); /* (some of the resulting notifications to the caches may be lost) */
        drawn_core(&d);
        far_life(&d, 600 / LESS);
        good &= adds_up(d.s, m);
        forget_news(&d, true);
        good &= same_rows(d.s, d.n, m) && same_pairs_or_fewer(d.s, d.n);
    }
    made_memory.times = 0;
    naive_free(d.n);
    mhsim_free(d.s);
    good &= LESS > 1 || before <= 0 || mapped_pages() == before;
    if (!good)
        printf("# of mappings %u are granted, then %u refused\n", first, times);
    return good;
}

static void check_little_memory(void)
{
    for (unsigned kind = 0; kind < 3; kind++) {
        struct machine_memory m = machine_of(little_levels, 5);
        struct mhsim_options o = {.classify = kind == 1};
        m.levels[1].ways = kind == 2 ? 24 : 8; /* by stamps */
        m.levels[2].shared = true;
        unsigned failed = 0, lives = 0;
        for (bool some = true; some; lives++) {
            failed += !lives_with_little(&m, &o, lives, 1);
            some = made_memory.refused > 0;
            failed += !lives_with_little(&m, &o, lives, UINT_MAX);
        }
        CHECK_INT(failed, 0);
        CHECK(lives > 10);
    }
}

/* Blocks known only by their address: each counts as one seen before. */
static void check_without_regions(bool second)
{
    struct machine_memory m = machine_of(little_levels, 5);
    struct mhsim_options o = {0};
    struct drawn d = {.s = mhsim_create(&m, &o), .n = naive_create(&m, &o)};
    made_memory.bytes = sizeof(struct lines_region);
    made_memory.first = made_memory.refused = 0;
    made_memory.times = UINT_MAX;
    drawn_core(&d);
    far_life(&d, 20000 / LESS);
    for (int row = 0; row < NAIVE_ROWS; row++)
        for (uint32_t k = 0; k < m.level_count; k++)
            d.n->rows[row][k].cold = 0;
    if (second) {
        drawn_core(&d);
        far_life(&d, 5000 / LESS);
        forget_cold(&d);
    }
    CHECK(made_memory.refused > 0);
    check_same(d.s, d.n, &m, "no memory for regions");
    made_memory.bytes = made_memory.times = 0;
    naive_free(d.n);
    mhsim_free(d.s);
}

/* Row 0 and pair 0 collect the overflow. */
static void check_few_rows(uint64_t rows_most, uint64_t pairs_most, unsigned helpers)
{
    struct machine_memory m = machine_of(little_levels, 5);
    struct mhsim_options o = {0};
    struct store rows, pairs;
    uint64_t counts[2] = {0};
    size_t count;
    CHECK(mmap_store_open(&rows, sizeof(struct mhsim_row), rows_most, NULL, 0, &counts[0]) == 0 &&
          mmap_store_open(&pairs, sizeof(struct mhsim_pair), pairs_most, NULL, 0, &counts[1]) == 0);
    struct drawn d = {.s = mhsim_create_in(&m, &o, &rows, &pairs), .n = naive_create(&m, &o)};
    mhsim_help(d.s, helpers, NULL);
    drawn_core(&d);
    far_life(&d, 4000 / LESS);
    drawn_core(&d);
    far_life(&d, 2000 / LESS);
    const struct mhsim_row *all = mhsim_rows(d.s, &count);
    CHECK_INT(count, rows_most < 2 * DRAWN_ROWS + 1 ? rows_most : 2 * DRAWN_ROWS + 1);
    for (size_t i = 1; i < count; i++)
        CHECK(all[i].code == 1000 + (i - 1) % DRAWN_ROWS && all[i].core == (i - 1) / DRAWN_ROWS && all[i].object == 0);
    CHECK(same_rows(d.s, d.n, &m) && same_pairs_or_fewer(d.s, d.n) && adds_up(d.s, &m));
    mhsim_pairs(d.s, &count);
    CHECK_INT(count, helpers ? 1 + (pairs_most - 1) / 64 * 64 : pairs_most);
    naive_free(d.n);
    mhsim_free(d.s);
}

/* Each core has levels of its own; cores beyond the limit share them in turn. */
static void check_many_cores(void)
{
    struct machine_level levels[MACHINE_LEVELS];
    for (unsigned i = 0; i < MACHINE_LEVELS; i++) {
        levels[i] = (struct machine_level){.size = 64, .line = 64, .ways = 1, .tlb = i >= 5};
        snprintf(levels[i].name, sizeof levels[i].name, "L%u", i);
    }
    struct machine_memory m = machine_of(levels, MACHINE_LEVELS);
    struct mhsim_options o = {0};
    struct mhsim *s = mhsim_create(&m, &o);
    bool good = true;
    size_t count;
    for (uint32_t i = 0; i < MHSIM_CORES + 3; i++)
        good &= mhsim_core(s) == i % MHSIM_CORES;
    for (uint32_t i = 0; i < 2 * MHSIM_CORES; i++)
        mhsim_access(s, mhsim_row(s, i % MHSIM_CORES, 1, 0), 64 * (uint64_t)(i % MHSIM_CORES), 8, false);
    const struct mhsim_row *rows = mhsim_rows(s, &count);
    CHECK_INT(count, MHSIM_CORES + 1);
    for (size_t i = 1; i < count; i++)
        for (unsigned k = 0; k < MACHINE_LEVELS; k++) {
            bool first = k == 0 || k == 5;
            const struct mhsim_counts *c = &rows[i].levels[k];
            good &= c->misses == 1 && c->cold == 1 && c->distinct == 1 && c->accesses == (first ? 2 : 1);
        }
    CHECK_NAMED(good, "many cores");
    mhsim_free(s);
}

/* A fully associative level, compared with a list; its table has room for at most twice as many blocks. */
static void check_full(void)
{
    bool good = true;
    for (uint64_t blocks = 1; blocks < 200; blocks += 1 + blocks / 9) {
        struct fully_assoc f = {0};
        struct naive_level n = {.blocks = blocks, .full = mem_calloc(blocks, sizeof *n.full)};
        good &= fully_assoc_open(&f, blocks) && (f.mask & (f.mask + 1)) == 0 && f.mask >= blocks && f.mask < 2 * blocks;
        for (int i = 0; i < 3000 && good; i++) {
            uint64_t block = random_below(8) ? below_twice(2 * (uint32_t)blocks) : (uint64_t)random_below(1000) << 40;
            good &= fully_assoc_touch(&f, block) == naive_in_full(&n, block);
        }
        fully_assoc_close(&f);
        mem_free(n.full);
    }
    CHECK_NAMED(good, "a level without sets");
}

int main(void)
{
    if (LESS == 1 && mapped_pages() > 0)
        check_given_back();
    else
        SKIP("what is given back", "a sanitizer's own memory, or no /proc");
    check_drawn_machines();
    check_met_quietly(10);
    check_met_quietly(1000);
    check_quiet(3);
    check_quiet(2);
    check_quiet(1);
    for (size_t i = 0; i < ARRAY_SIZE(random_cases); i++) {
        for (unsigned helpers = 0; helpers <= 2; helpers++) {
            check_random(&random_cases[i], false, helpers);
            check_random(&random_cases[i], true, helpers);
        }
    }
    for (unsigned caches = 1; caches <= 3; caches++)
        for (unsigned tlbs = 0; tlbs <= 2; tlbs++) {
            check_far(caches, tlbs, 6, false);
            check_far(caches, tlbs, 6, true);
            check_far(caches, tlbs, 5 + 3 * (tlbs % 2), tlbs == 0);
        }
    check_streams();
    check_transposition();
    check_matrix_orders();
    check_ping_pong();
    check_split();
    check_prefetch(MACHINE_NO_PREFETCH, 64, 1000);
    check_prefetch(MACHINE_NEXT_LINE, 64, 1);
    check_prefetch(MACHINE_STRIDE, 256, 3);
    check_prefetch(MACHINE_STRIDE, (uint64_t)-256, 3);
    check_false_sharing();
    check_prefetch_in_samples(MACHINE_NEXT_LINE, 64, 20, 0);
    check_prefetch_in_samples(MACHINE_NEXT_LINE, 960, 20, 0); /* 15 lines: one in 16 of them */
    check_prefetch_in_samples(MACHINE_STRIDE, 1024, 3, 318);
    check_prefetch_in_samples(MACHINE_STRIDE, 1088, 20, 0);
    check_samples();
    for (unsigned helpers = 0; helpers < 4; helpers++)
        check_helpers(helpers, helpers == 3 ? 0 : 2);
    check_full();
    check_little_memory();
    check_without_regions(false);
    check_without_regions(true);
    check_few_rows(8, 100, 0);
    check_few_rows(40, 150, 2);
    check_many_cores();
    return tap_done();
}
