/* The simulator against closed forms, and against a naive one made of lists, for every policy. */
#include "config.h"
#include "mhsim/engine.h"
#include "tests/tap.h"

/* ---- a textbook's simulator: slow, and obvious ----------------------------------------- */

struct naive_block {
    bool valid;
    uint64_t block;
    int owner, writer; /* writer -1: clean */
    bool used[64];     /* of bytes, or of 64ths of a larger block */
};

struct naive_level {
    const struct mhsim_level *l;
    struct naive_block *ways; /* sets x ways */
    int *order;               /* sets x ways: the most recent first */
    bool *tree;               /* sets x ways: node 1 is the root */
    uint64_t sets;
    uint32_t grain; /* bytes that are told apart */
};

struct naive {
    struct naive_level levels[MHSIM_LEVELS];
    uint32_t count;
    struct mhsim_counts rows[64][MHSIM_LEVELS];
    uint64_t pairs[64][64][MHSIM_LEVELS];
    uint64_t random;
    bool touched[64][MHSIM_LEVELS][8192], seen[MHSIM_LEVELS][8192];
};

/* What a block held of the one that goes, with the coarser grain of the two: a level's lines are no larger than those of the next. */
static void naive_hold(bool *used, const struct naive_level *n, const struct naive_block *gone,
                       const struct naive_level *from, uint32_t shift)
{
    for (uint32_t i = 0; i < from->l->line; i += from->grain)
        used[(shift + i) / n->grain] |= gone->used[i / from->grain];
}

static struct naive_block *naive_find(struct naive_level *n, uint64_t block)
{
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
    tree_away_from(n, &n->tree[set * ways], 1, 0, ways, way);
}

static uint32_t naive_victim(struct naive *s, struct naive_level *n, uint64_t set)
{
    uint32_t ways = n->l->ways;
    struct naive_block *b = &n->ways[set * ways];
    if (n->l->replace == MHSIM_LRU) {
        for (uint32_t w = 0; w < ways; w++)
            if (!b[w].valid)
                return w;
        return (uint32_t)n->order[set * ways + ways - 1];
    }
    for (uint32_t w = 0; w < ways; w++)
        if (!b[w].valid)
            return w;
    if (n->l->replace == MHSIM_PLRU)
        return tree_choice(&n->tree[set * ways], 1, 0, ways);
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (uint32_t)(((s->random >> 32) * ways) >> 32);
}

static void naive_install(struct naive *s, uint32_t k, uint64_t block, const struct naive_block *what, int evictor);

static void naive_evict(struct naive *s, uint32_t k, struct naive_block *b, int evictor)
{
    struct naive_level *n = &s->levels[k];
    uint32_t line = n->l->line;
    uint64_t address = b->block * line;
    if (n->l->inclusive)
        for (uint32_t i = 0; i < k; i++)
            for (uint64_t at = address; at < address + line; at += s->levels[i].l->line) {
                struct naive_block *up =
                    s->levels[i].l->tlb == n->l->tlb ? naive_find(&s->levels[i], at / s->levels[i].l->line) : NULL;
                if (up)
                    naive_evict(s, i, up, evictor);
            }
    struct naive_block gone = *b;
    b->valid = false;
    struct mhsim_counts *c = &s->rows[gone.owner][k];
    c->evictions++;
    for (uint32_t i = 0; i < line / n->grain; i++)
        c->used += gone.used[i] * n->grain;
    s->pairs[gone.owner][evictor][k]++;
    if (gone.writer >= 0)
        s->rows[gone.writer][k].write_backs++;
    for (uint8_t to = n->l->next; to != MHSIM_NO_LEVEL; to = s->levels[to].l->next) {
        struct naive_level *t = &s->levels[to];
        struct naive_block *there = naive_find(t, address / t->l->line);
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
            naive_install(s, to, address / t->l->line, &fresh, evictor);
            return;
        }
        s->rows[gone.writer][to].write_backs++;
    }
}

static void naive_install(struct naive *s, uint32_t k, uint64_t block, const struct naive_block *what, int evictor)
{
    struct naive_level *n = &s->levels[k];
    struct naive_block *b = &n->ways[block % n->sets * n->l->ways + naive_victim(s, n, block % n->sets)];
    if (b->valid)
        naive_evict(s, k, b, evictor);
    *b = *what;
    b->valid = true;
    b->block = block;
    naive_recent(n, b);
}

/* Far addresses, pieces of FAR_BYTES: where in the tables of what was seen and touched they stand. */
enum { FAR_BYTES = 16384, FAR_PIECES = 6 };
static const uint64_t far_pieces[FAR_PIECES] = {(1 << 24) - 8192, /* across the first two regions of 2^18 lines */
                                                1024ull
                                                    << 24, /* a region whose number ends like that of the first one */
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

static void naive_access(struct naive *s, uint32_t k, int row, uint64_t address, uint32_t size, bool write)
{
    struct naive_level *n = &s->levels[k];
    struct mhsim_counts *c = &s->rows[row][k];
    uint64_t block = address / n->l->line, known = compact(block * n->l->line) / n->l->line;
    uint32_t first = (uint32_t)(address % n->l->line), grain = n->grain;
    struct naive_block *b = naive_find(n, block);
    c->accesses++;
    c->distinct += !s->touched[row][k][known];
    s->touched[row][k][known] = true;
    if (b) {
        bool all = true;
        for (uint32_t i = 0; i < size; i++) {
            all &= b->used[(first + i) / grain];
            b->used[(first + i) / grain] |= i + 1 == size || (first + i) / grain != (first + i + 1) / grain;
        }
        c->temporal += all;
        naive_recent(n, b);
        if (write && !n->l->write_through)
            b->writer = row;
        if (write && n->l->write_through) {
            c->write_throughs++;
            if (n->l->next != MHSIM_NO_LEVEL)
                naive_access(s, n->l->next, row, address, size, true);
        }
        return;
    }
    c->misses++;
    c->cold += !s->seen[k][known];
    s->seen[k][known] = true;
    if (write && n->l->no_allocate) {
        if (n->l->next != MHSIM_NO_LEVEL)
            naive_access(s, n->l->next, row, address, size, true);
        return;
    }
    if (n->l->next != MHSIM_NO_LEVEL)
        naive_access(s, n->l->next, row, address, size, false);
    if (write && n->l->write_through) {
        c->write_throughs++;
        if (n->l->next != MHSIM_NO_LEVEL)
            naive_access(s, n->l->next, row, address, size, true);
    }
    struct naive_block fresh = {.owner = row, .writer = write && !n->l->write_through ? row : -1};
    for (uint32_t i = 0; i < size; i++)
        fresh.used[(first + i) / grain] = true;
    naive_install(s, k, block, &fresh, row);
}

static struct naive *naive_create(const struct mhsim_machine *m)
{
    struct naive *s = mem_calloc(1, sizeof *s);
    s->random = 0x2545f4914f6cdd1d;
    s->count = m->level_count;
    for (uint32_t i = 0; i < m->level_count; i++) {
        struct naive_level *n = &s->levels[i];
        size_t blocks = m->levels[i].size / m->levels[i].line;
        n->l = &m->levels[i];
        n->grain = n->l->line > 64 ? n->l->line / 64 : 1;
        n->sets = blocks / n->l->ways;
        n->ways = mem_calloc(blocks, sizeof *n->ways);
        n->order = mem_calloc(blocks, sizeof *n->order);
        n->tree = mem_calloc(blocks, sizeof *n->tree);
        for (size_t b = 0; b < blocks; b++)
            n->order[b] = (int)(b % n->l->ways);
    }
    return s;
}

static void naive_free(struct naive *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        mem_free(s->levels[i].ways);
        mem_free(s->levels[i].order);
        mem_free(s->levels[i].tree);
    }
    mem_free(s);
}

/* ---- both, on the same million of random accesses ------------------------------------------ */

/* In order: two caches with the policy to try, and TLBs. Small, so that a million accesses fill them again and again.
 */
static const struct random_case {
    const char *name;
    struct mhsim_level levels[5];
    unsigned count;
    int accesses;
} random_cases[] = {
    {"LRU, write-back",
     {{.name = "L1", .size = 2048, .line = 64, .ways = 4},
      {.name = "L2", .size = 12288, .line = 64, .ways = 6},
      {.name = "TLB", .size = 8 * 4096, .line = 4096, .ways = 8, .tlb = true}},
     3,
     400000},
    {"tree PLRU",
     {{.name = "L1", .size = 4096, .line = 64, .ways = 8, .replace = MHSIM_PLRU},
      {.name = "L2", .size = 16384, .line = 64, .ways = 16, .replace = MHSIM_PLRU}},
     2,
     400000},
    {"random",
     {{.name = "L1", .size = 2048, .line = 32, .ways = 8, .replace = MHSIM_RANDOM},
      {.name = "L2", .size = 16384, .line = 64, .ways = 4, .replace = MHSIM_RANDOM}},
     2,
     400000},
    {"write-through",
     {{.name = "L1", .size = 2048, .line = 64, .ways = 2, .write_through = true},
      {.name = "L2", .size = 16384, .line = 64, .ways = 4}},
     2,
     150000},
    {"write-through, no allocation",
     {{.name = "L1", .size = 2048, .line = 32, .ways = 2, .write_through = true, .no_allocate = true},
      {.name = "L2", .size = 16384, .line = 64, .ways = 4}},
     2,
     150000},
    {"write-back, no allocation",
     {{.name = "L1", .size = 2048, .line = 64, .ways = 2, .no_allocate = true},
      {.name = "L2", .size = 8192, .line = 64, .ways = 4, .no_allocate = true}},
     2,
     150000},
    {"inclusive",
     {{.name = "L1", .size = 4096, .line = 64, .ways = 4},
      {.name = "L2", .size = 8192, .line = 64, .ways = 2, .inclusive = true}},
     2,
     150000},
    {"inclusive of smaller lines",
     {{.name = "L1", .size = 4096, .line = 16, .ways = 4},
      {.name = "L2", .size = 8192, .line = 64, .ways = 4, .inclusive = true},
      {.name = "L3", .size = 16384, .line = 64, .ways = 4, .inclusive = true}},
     3,
     150000},
    {"three levels and two TLBs, sets of no power of two",
     {{.name = "L1", .size = 3072, .line = 64, .ways = 4},
      {.name = "L2", .size = 11 * 1024, .line = 64, .ways = 11},
      {.name = "TLB", .size = 4 * 4096, .line = 4096, .ways = 4, .tlb = true},
      {.name = "TLB2", .size = 12 * 4096, .line = 4096, .ways = 4, .tlb = true}},
     4,
     150000},
    {"three levels, one way in the middle",
     {{.name = "L1", .size = 1024, .line = 64, .ways = 4},
      {.name = "L2", .size = 4096, .line = 64, .ways = 1},
      {.name = "L3", .size = 80 * 64, .line = 64, .ways = 16},
      {.name = "TLB", .size = 4 * 4096, .line = 4096, .ways = 2, .tlb = true},
      {.name = "TLB2", .size = 6 * 4096, .line = 4096, .ways = 2, .tlb = true}},
     5,
     100000},
    {"four levels",
     {{.name = "L1", .size = 1024, .line = 64, .ways = 4},
      {.name = "L2", .size = 2048, .line = 64, .ways = 4},
      {.name = "L3", .size = 4096, .line = 64, .ways = 4},
      {.name = "L4", .size = 8192, .line = 64, .ways = 4}},
     4,
     150000},
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
           a->distinct == b->distinct && a->evictions == b->evictions && a->used == b->used &&
           a->write_backs == b->write_backs && a->write_throughs == b->write_throughs;
}

static bool same_pairs(const struct mhsim *s, const struct naive *n)
{
    size_t count;
    uint64_t ours = 0, theirs = 0;
    const struct mhsim_pair *p = mhsim_pairs(s, &count);
    for (size_t i = 1; i < count; i++) {
        ours += p[i].count;
        if (n->pairs[p[i].victim][p[i].evictor][p[i].level] != p[i].count)
            return false;
    }
    for (int v = 0; v < 64; v++)
        for (int e = 0; e < 64; e++)
            for (uint32_t k = 0; k < n->count; k++)
                theirs += n->pairs[v][e][k];
    return ours == theirs;
}

/* Ours come in batches of any length. */
enum { BATCH = 100 };
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
    b->wanted = 1 + random_below(BATCH);
}

static void batch_add(struct mhsim *s, struct batch *b, struct mhsim_reference ref)
{
    b->refs[b->count++] = ref;
    if (b->count >= b->wanted)
        batch_end(s, b);
}

static void random_accesses(struct mhsim *s, uint32_t core, struct naive *n, const struct mhsim_machine *m,
                            int accesses)
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
        bool tlb_done = false;
        naive_access(n, 0, (int)rows[r], address, size, write);
        for (uint32_t k = 0; k < m->level_count && !tlb_done; k++)
            if (m->levels[k].tlb) {
                naive_access(n, k, (int)rows[r], address, size, false);
                tlb_done = true;
            }
    }
    batch_end(s, &batch);
}

/* What the levels' totals must be to each other, whatever the policy. */
static bool adds_up(const struct mhsim *s, const struct mhsim_machine *m)
{
    size_t count;
    const struct mhsim_row *rows = mhsim_rows(s, &count);
    struct mhsim_counts sum[MHSIM_LEVELS] = {0};
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
        if (m->levels[k].next != MHSIM_NO_LEVEL)
            ok &= sum[m->levels[k].next].accesses == sum[k].misses + sum[k].write_throughs + sum[k].prefetches;
    return ok;
}

static struct mhsim_machine machine_of(const struct mhsim_level *levels, unsigned count)
{
    struct mhsim_machine m = {.level_count = count};
    struct err err = {0};
    memcpy(m.levels, levels, count * sizeof *levels);
    if (mhsim_machine_check(&m, "test", &err) < 0)
        printf("# %s\n", err.msg);
    return m;
}

/* A sanitizer makes the naive simulator ten times slower, and looks for other mistakes. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { LESS = 16 };
#else
enum { LESS = 1 };
#endif

static void check_same(const struct mhsim *s, const struct naive *n, const struct mhsim_machine *m, const char *name)
{
    bool same = true;
    size_t count;
    const struct mhsim_row *rows = mhsim_rows(s, &count);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < m->level_count; k++)
            if (!same_counts(&rows[i].levels[k], &n->rows[i][k])) {
                const struct mhsim_counts *a = &rows[i].levels[k], *b = &n->rows[i][k];
                printf("# row %zu, %s: misses %llu and %llu, write-backs %llu and %llu, used %llu and %llu, temporal "
                       "%llu and %llu\n",
                       i, m->levels[k].name, (unsigned long long)a->misses, (unsigned long long)b->misses,
                       (unsigned long long)a->write_backs, (unsigned long long)b->write_backs,
                       (unsigned long long)a->used, (unsigned long long)b->used, (unsigned long long)a->temporal,
                       (unsigned long long)b->temporal);
                same = false;
            }
    CHECK_NAMED(same && same_pairs(s, n), name);
    CHECK_NAMED(adds_up(s, m), "... and its totals add up");
}

/* second: a second core comes in the middle, and does nothing. helpers: threads of the simulator's own. */
static void check_random(const struct random_case *c, bool second, unsigned helpers)
{
    struct mhsim_machine m = machine_of(c->levels, c->count);
    struct mhsim_options o = {0};
    struct mhsim *s = mhsim_create(&m, &o);
    struct naive *n = naive_create(&m);
    mhsim_help(s, helpers, NULL);
    uint32_t core = mhsim_core(s);
    random_accesses(s, core, n, &m, c->accesses / LESS / (second ? 8 : 2));
    if (second)
        mhsim_core(s);
    random_accesses(s, core, n, &m, c->accesses / LESS / (second ? 8 : 2));
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

/* How many there are. */
static unsigned naive_pieces(struct naive *s, uint32_t k, int row, uint64_t address, uint32_t size, bool write)
{
    uint64_t line = s->levels[k].l->line, end = address + size;
    unsigned pieces = 0;
    for (uint64_t next; address < end; address = next, pieces++) {
        next = (address / line + 1) * line;
        naive_access(s, k, row, address, (uint32_t)((next < end ? next : end) - address), write);
    }
    return pieces;
}

/* Accesses of any size at any address, by more rows than a page remembers; lines of one size in each chain, so that all
   levels see the same pieces. */
static void check_far(unsigned caches, unsigned tlbs, unsigned shift, bool second)
{
    enum { ROWS = 40 };
    uint32_t line = 1u << shift;
    const struct mhsim_level levels[] = {{.name = "L1", .size = 32 * line, .line = line, .ways = 4},
                                         {.name = "L2", .size = 96 * line, .line = line, .ways = 8},
                                         {.name = "L3", .size = 320 * line, .line = line, .ways = 16}},
                             pages[] = {{.name = "TLB", .size = 4 * 4096, .line = 4096, .ways = 2, .tlb = true},
                                        {.name = "TLB2", .size = 10 * 4096, .line = 4096, .ways = 5, .tlb = true}};
    struct mhsim_machine m = machine_of(levels, caches);
    memcpy(m.levels + caches, pages, tlbs * sizeof *pages);
    m.level_count = caches + tlbs;
    struct err err = {0};
    CHECK_INT(mhsim_machine_check(&m, "test", &err), 0);
    struct mhsim_options o = {0};
    struct mhsim *s = mhsim_create(&m, &o);
    struct naive *n = naive_create(&m);
    struct batch batch = {.count = 0};
    uint32_t core = mhsim_core(s), rows[ROWS];
    uint64_t split[64] = {0};
    for (uint64_t i = 0; i < ROWS; i++)
        rows[i] = mhsim_row(s, core, 1000 + i, 0);
    for (int i = 0, most = 30000 / LESS; i < most; i++) {
        uint32_t row = rows[below_twice(ROWS)], size = 1 + random_below(random_below(16) ? 16 : 200);
        uint64_t address = far_pieces[random_below(FAR_PIECES)] + below_twice(FAR_BYTES - 256);
        bool write = random_below(3) == 0;
        batch_add(s, &batch, (struct mhsim_reference){address, row, (uint16_t)size, write});
        for (uint32_t k = 0; k < m.level_count; k += caches)
            if (k == 0 || k == caches)
                split[row] += naive_pieces(n, k, (int)row, address, size, write && k == 0) > 1 && k == 0;
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
    size_t count;
    const struct mhsim_row *got = mhsim_rows(s, &count);
    bool good = true;
    for (int i = 0; i < ROWS; i++)
        good &= got[rows[i]].split == split[rows[i]];
    CHECK_NAMED(good, "... and how many went across two blocks");
    naive_free(n);
    mhsim_free(s);
}

/* ---- closed forms ---------------------------------------------------------------------------- */

struct trial {
    struct mhsim *s;
    uint32_t core;
};

static struct trial trial_of(uint64_t size, uint32_t ways, bool classify)
{
    struct mhsim_level l = {.name = "L1", .size = size, .line = 64, .ways = ways};
    struct mhsim_machine m = machine_of(&l, 1);
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

/* A matrix of n x n doubles transposed: the column side walks n blocks apart. With n a power of two and 64 sets, all
   fall into few sets; with a leading dimension of n + 8 they spread. */
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
        if (lead == N * 8) { /* every column lies in one set: none of its blocks stays until the next column */
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

/* Two arrays that lie a multiple of the way's size apart, in a level of one way: each throws the other out every time.
 */
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
    struct mhsim_level levels[] = {{.name = "L1", .size = 32768, .line = 64, .ways = 8, .prefetch = kind},
                                   {.name = "L2", .size = 1 << 20, .line = 64, .ways = 8}};
    struct mhsim_machine m = machine_of(levels, 2);
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

/* Of one block in 16: only what is itself of these is fetched ahead. */
static void check_prefetch_in_samples(uint8_t kind, uint64_t stride, uint64_t misses, uint64_t prefetches)
{
    struct mhsim_level l = {.name = "L1", .size = 32768, .line = 64, .ways = 8, .prefetch = kind};
    struct mhsim_machine m = machine_of(&l, 1);
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
    struct mhsim_level levels[] = {{.name = "L1", .size = 32768, .line = 64, .ways = 8},
                                   {.name = "L2", .size = 65536, .line = 64, .ways = 8},
                                   {.name = "L3", .size = 1 << 20, .line = 64, .ways = 8, .shared = true}};
    struct mhsim_machine m = machine_of(levels, 3);
    struct mhsim_options o = {0};
    struct mhsim *s = mhsim_create(&m, &o);
    uint32_t c0 = mhsim_core(s), c1 = mhsim_core(s);
    uint32_t x = mhsim_row(s, c0, 1, 0), y = mhsim_row(s, c1, 1, 0), z = mhsim_row(s, c0, 2, 0),
             w = mhsim_row(s, c1, 3, 0);
    for (int i = 0; i < 100; i++) {
        mhsim_access(s, x, 65536, 8, true);
        mhsim_access(s, y, 65536 + 8, 8, true);
    }
    for (int i = 0; i < 100; i++) { /* both read: nobody loses anything */
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
    struct mhsim_level l = {.name = "L1", .size = 32768, .line = 64, .ways = 8};
    struct mhsim_machine m = machine_of(&l, 1);
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

/* What changes the levels while nothing is counted: the simulator of one thread, in batches, against that of several, one
   access after the other. Which blocks are new to a row that brought them in while quiet, each of them sees in its own way. */
static bool same_but_distinct(struct mhsim_counts a, const struct mhsim_counts *b)
{
    a.distinct = b->distinct;
    return same_counts(&a, b);
}

static void check_quiet(unsigned caches)
{
    enum { ROWS = 400, ROUNDS = 400, MOST = 700 };
    struct mhsim_level levels[] = {{.name = "L1", .size = 1024, .line = 64, .ways = 4},
                                   {.name = "L2", .size = 4096, .line = 64, .ways = 8},
                                   {.name = "L3", .size = 12288, .line = 64, .ways = 12},
                                   {.name = "TLB", .size = 4 * 4096, .line = 4096, .ways = 2, .tlb = true},
                                   {.name = "TLB2", .size = 12 * 4096, .line = 4096, .ways = 4, .tlb = true}};
    struct mhsim_machine m = machine_of(levels + 3 - caches, caches + 2);
    struct mhsim_options o = {0};
    struct mhsim *one = mhsim_create(&m, &o), *many = mhsim_create(&m, &o);
    uint32_t core = mhsim_core(one), same = mhsim_core(many);
    static struct mhsim_reference refs[MOST];
    mhsim_core(many); /* a second thread, which does nothing */
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

/* What rows are at while quiet, they have not met. */
static void check_met_quietly(uint32_t row_count)
{
    struct mhsim_level levels[] = {{.name = "L1", .size = 32768, .line = 64, .ways = 8},
                                   {.name = "L2", .size = 65536, .line = 64, .ways = 8},
                                   {.name = "TLB", .size = 64 * 4096, .line = 4096, .ways = 4, .tlb = true},
                                   {.name = "TLB2", .size = 512 * 4096, .line = 4096, .ways = 4, .tlb = true}};
    struct mhsim_machine m = machine_of(levels, 4);
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

int main(void)
{
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
    check_prefetch(MHSIM_NO_PREFETCH, 64, 1000);
    check_prefetch(MHSIM_NEXT_LINE, 64, 1);
    check_prefetch(MHSIM_STRIDE, 256, 3);
    check_prefetch(MHSIM_STRIDE, (uint64_t)-256, 3);
    check_false_sharing();
    check_prefetch_in_samples(MHSIM_NEXT_LINE, 64, 20, 0);
    check_prefetch_in_samples(MHSIM_NEXT_LINE, 960, 20, 0); /* 15 lines: one in 16 of them */
    check_prefetch_in_samples(MHSIM_STRIDE, 1024, 3, 318);
    check_prefetch_in_samples(MHSIM_STRIDE, 1088, 20, 0);
    check_samples();
    return tap_done();
}
