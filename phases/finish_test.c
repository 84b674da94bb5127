/* SPDX-License-Identifier: BSD-3-Clause */
/* Analysis of the whole measurement: matching of ranks, derived numbers, samples of phases, missing threads. The
   measurements are built here, row by row, as the recorder writes them. */
#include "phases/phases.h"
#include "phases/tables.h"

#include "tests/guarded.h"
#include "tests/tap.h"

#include <math.h>

enum { MS = 1000000 };

/* ---- memory and tables with inaccessible memory after them ------------------------------------------------------- */

static bool begins_at_page; /* the inaccessible page is before it instead of after it */

static struct {
    uint8_t *at, *pages;
    size_t bytes;
} taken[64];

void *fake_get(size_t bytes, int filled_with)
{
    size_t page = guarded_whole(1), whole = guarded_whole(bytes);
    for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
        if (!taken[i].at) {
            taken[i].bytes = whole + 2 * page;
            taken[i].pages = guarded_get(taken[i].bytes);
            if (!taken[i].pages || mprotect(taken[i].pages, page, PROT_NONE) != 0 ||
                mprotect(taken[i].pages + page + whole, page, PROT_NONE) != 0)
                break;
            taken[i].at = taken[i].pages + page + (begins_at_page ? 0 : whole - bytes);
            return memset(taken[i].at, filled_with, bytes);
        }
    exit(99); /* also if memory is not freed */
}

void fake_free(void *p)
{
    for (size_t i = 0; p && i < ARRAY_SIZE(taken); i++)
        if (taken[i].at == p) {
            guarded_put(taken[i].pages, taken[i].bytes);
            taken[i].at = NULL;
            return;
        }
    if (p)
        exit(98); /* it was given back, or never taken */
}

/* Allocates exactly the requested size. */
void *fake_grow(void *items, size_t *capacity, size_t wanted, size_t item_size)
{
    void *more = fake_get(wanted * item_size, 0x5a);
    if (items)
        memcpy(more, items, *capacity * item_size);
    fake_free(items);
    *capacity = wanted;
    return more;
}

const union table_cell *fake_row(const struct table *t, size_t row)
{
    return row < table_row_count(t) ? (table_row)(t, row) : guarded_get(0);
}

static bool hashes_collide;

uint64_t fake_hash(const void *bytes, size_t n, uint64_t start)
{
    return hashes_collide ? 7 : (hash_bytes)(bytes, n, start);
}

/* The same measurement, in arrays that end where they end. */
static struct hpcprof lent(const struct hpcprof *p)
{
    static struct guarded_room rooms[4];
    struct hpcprof copy = *p;
    copy.threads = guarded_copy(&rooms[0], p->threads, p->thread_count * sizeof *p->threads);
    copy.processes = guarded_copy(&rooms[1], p->processes, p->process_count * sizeof *p->processes);
    copy.regions = guarded_copy(&rooms[2], p->regions, p->region_count * sizeof *p->regions);
    copy.counts = guarded_copy(&rooms[3], p->counts, p->count_count * sizeof *p->counts);
    return copy;
}

static void add_samples(struct hpcprof *p)
{
    struct hpcprof copy = lent(p);
    phases_add_samples(&copy);
    p->tables = copy.tables;
}

static int finished(struct hpcprof *p, struct err *err)
{
    struct hpcprof copy = lent(p);
    int answer = phases_finish(&copy, err);
    p->tables = copy.tables;
    return answer;
}

static size_t stuck_in(const struct hpcprof *p, struct phases_stuck **list)
{
    struct hpcprof copy = lent(p);
    return phases_stuck(&copy, list);
}

/* ---- measurements -------------------------------------------------------------------------------------------------- */

static struct table *table_of(struct hpcprof *p, enum phases_table which)
{
    struct table *t = NULL;
    struct err err = {0};
    if (table_list_declare(&p->tables, &phases_tables[which], p->strings, &t, &err) < 0)
        printf("# %s\n", err.msg);
    return t;
}

static struct hpcprof *measured(void)
{
    struct hpcprof *p = hpcprof_create();
    for (int i = 0; i < PHASES_RECORDED; i++)
        table_of(p, (enum phases_table)i);
    return p;
}

static uint32_t add_thread(struct hpcprof *p, const char *host, int rank, uint32_t number)
{
    struct hpcprof_process process = {.host = strtab_add(p->strings, host), .rank = rank, .pid = (uint32_t)rank + 1};
    if (number == 0)
        hpcprof_add_process(p, &process);
    return hpcprof_add_thread(p, &(struct hpcprof_thread){.process = (uint32_t)p->process_count - 1, .number = number});
}

static union table_cell text(const struct hpcprof *p, const char *s)
{
    return (union table_cell){.text = strtab_add(p->strings, s)};
}

/* A row with its keys and the given sums only: episodes, threads, phase, barrier, idle. */
static uint32_t add_barrier(struct hpcprof *p, const char *kind, uint64_t number, const uint64_t sums[5])
{
    struct table *t = table_of(p, PHASES_BARRIERS);
    static const char *const columns[] = {"episodes", "threads", "phase", "barrier", "idle"};
    union table_cell cells[ARRAY_SIZE(phases_barrier_columns)];
    for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
        cells[i] = phases_barrier_columns[i].type == TABLE_NUMBER ? (union table_cell){.number = 0}
                   : phases_barrier_columns[i].type == TABLE_REF  ? (union table_cell){.row = TABLE_NONE}
                                                                  : (union table_cell){.count = 0};
    cells[table_column_of(t, "kind")] = text(p, kind);
    cells[table_column_of(t, "name")] = text(p, "");
    cells[table_column_of(t, "number")].count = number;
    cells[table_column_of(t, "best")].count = cells[table_column_of(t, "first")].count = TABLE_NO_COUNT;
    cells[table_column_of(t, "shortest_phase")].count = TABLE_NO_COUNT;
    for (size_t i = 0; sums && i < ARRAY_SIZE(columns); i++)
        cells[table_column_of(t, columns[i])].count = sums[i];
    /* the number of passages is known only for ranks */
    cells[table_column_of(t, "passages")].count = sums ? sums[0] * sums[1] : 0;
    return table_add(t, cells);
}

static void add_passage(struct hpcprof *p, uint32_t barrier, uint32_t thread, uint32_t from, uint64_t ranks,
                        uint64_t number, const uint64_t times[3])
{
    table_add(table_of(p, PHASES_PASSAGES), (union table_cell[]){{.row = barrier},
                                                                 {.row = thread},
                                                                 {.row = from},
                                                                 {.count = 77},
                                                                 {.count = ranks},
                                                                 {.count = number},
                                                                 {.count = times[0]},
                                                                 {.count = times[1]},
                                                                 {.count = times[2]}});
}

static uint64_t count_in(struct hpcprof *p, enum phases_table which, uint32_t row, const char *column)
{
    struct table *t = table_of(p, which);
    return table_row(t, row)[table_column_of(t, column)].count;
}

static double number_in(struct hpcprof *p, enum phases_table which, uint32_t row, const char *column)
{
    struct table *t = table_of(p, which);
    return table_row(t, row)[table_column_of(t, column)].number;
}

static uint32_t row_in(struct hpcprof *p, enum phases_table which, uint32_t row, const char *column)
{
    struct table *t = table_of(p, which);
    return table_row(t, row)[table_column_of(t, column)].row;
}

static void finish(struct hpcprof *p)
{
    struct err err = {0};
    CHECK_INT(finished(p, &err), 0);
}

/* ---- ranks ------------------------------------------------------------------------------------------------------ */

/* Three ranks, two episodes: arrivals 10, 30, 60 ms, all go on at 61; the second time rank 0 is last. */
static struct hpcprof *three_ranks(const char *last_host, bool whole)
{
    static const uint64_t times[2][3][3] = {{{1, 10, 61}, {2, 30, 61}, {3, 60, 61}},
                                            {{61, 99, 101}, {61, 91, 101}, {61, 97, 101}}};
    struct hpcprof *p = measured();
    for (int rank = 0; rank < 3; rank++)
        add_thread(p, rank == 2 ? last_host : "a", rank, 0);
    uint32_t barrier = add_barrier(p, "MPI_Barrier", 1, (uint64_t[]){2, 3, 0, 0, 0});
    for (uint32_t number = 0; number < 2; number++)
        for (uint32_t rank = 0; rank < 3; rank++)
            if (whole || number == 0 || rank != 1)
                add_passage(p, barrier, rank, number ? barrier : TABLE_NONE, 3, number,
                            (uint64_t[]){times[number][rank][0] * MS, times[number][rank][1] * MS,
                                         times[number][rank][2] * MS});
    return p;
}

static void test_ranks(void)
{
    struct hpcprof *p = three_ranks("a", true);
    finish(p);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "episodes"), 2);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "barrier"), (50 + 8) * MS);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "idle"), (50 + 30 + 8 + 2) * MS);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "phase"), (59 + 39) * MS);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "overhead"), (1 + 2) * MS);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "worst"), 50 * MS);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "best"), 8 * MS);
    CHECK_INT(table_row_count(table_of(p, PHASES_EPISODES)), 2);
    CHECK_INT(table_row_count(table_of(p, PHASES_ARRIVALS)), 6);
    CHECK_INT(count_in(p, PHASES_EPISODES, 1, "number"), 2);
    CHECK_INT(count_in(p, PHASES_EPISODES, 1, "begin"), 60 * MS); /* when the last came the time before */
    CHECK_INT(row_in(p, PHASES_EPISODES, 0, "last_thread"), 2);
    CHECK_INT(row_in(p, PHASES_EPISODES, 1, "last_thread"), 0);
    CHECK_NAMED(table_row_count(table_of(p, PHASES_PHASES)) == 2 &&
                    row_in(p, PHASES_PHASES, 0, "begun") == TABLE_NONE && row_in(p, PHASES_PHASES, 1, "begun") == 0,
                "the phases of ranks, by the barrier before");
    static const uint64_t per_rank[3][3] = {
        {1, 50, 9 + 38}, {0, 30 + 8, 28 + 30}, {1, 2, 57 + 36}}; /* last, waited, busy */
    for (uint32_t rank = 0; rank < 3; rank++) {
        CHECK_INT(row_in(p, PHASES_THREADS, rank, "thread"), rank);
        CHECK_INT(count_in(p, PHASES_THREADS, rank, "last"), per_rank[rank][0]);
        CHECK_INT(count_in(p, PHASES_THREADS, rank, "waited"), per_rank[rank][1] * MS);
        CHECK_INT(count_in(p, PHASES_THREADS, rank, "busy"), per_rank[rank][2] * MS);
    }
    /* who waited for whom: ranks 0 and 1 for 2, then 1 and 2 for 0; and each rank's arrival after the first one's */
    static const uint64_t waits[4][3] = {{0, 2, 50}, {1, 2, 30}, {1, 0, 8}, {2, 0, 2}};
    CHECK_INT(table_row_count(table_of(p, PHASES_WAITS_FOR)), ARRAY_SIZE(waits));
    for (uint32_t i = 0; i < ARRAY_SIZE(waits) && table_row_count(table_of(p, PHASES_WAITS_FOR)) == ARRAY_SIZE(waits);
         i++) {
        const union table_cell *row = table_row(table_of(p, PHASES_WAITS_FOR), i);
        CHECK(row[0].row == waits[i][0] && row[1].row == waits[i][1] && row[2].count == 1 &&
              row[3].count == waits[i][2] * MS);
    }
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "first"), 10 * MS);
    static const uint64_t waited[6] = {50, 30, 0, 8, 2, 0};
    for (uint32_t i = 0; i < 6; i++)
        CHECK_INT(count_in(p, PHASES_ARRIVALS, i, "waited"), waited[i] * MS);
    static const uint32_t orders[2][3] = {{0, 1, 2}, {1, 2, 0}};
    for (uint32_t i = 0; i < 6; i++)
        CHECK_INT(row_in(p, PHASES_ARRIVALS, i, "thread"), orders[i / 3][i % 3]);
    hpcprof_free(p);
}

/* The third rank's clock is of another host: only waiting times are known, and all ranks are released at the same
   time. */
static void test_hosts(void)
{
    struct hpcprof *p = three_ranks("b", true);
    struct table *t = table_of(p, PHASES_PASSAGES);
    for (size_t row = 0; row < table_row_count(t); row++)
        for (size_t i = 6; i < 9 && table_row(t, row)[1].row == 2; i++)
            table_set(t, row, i, (union table_cell){.count = table_row(t, row)[i].count + 3600000ull * MS});
    finish(p);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "barrier"), (50 + 8) * MS);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "idle"), (50 + 30 + 8 + 2) * MS);
    hpcprof_free(p);
}

/* An episode that one rank lacks is dropped; the kept ones represent all. */
static void test_missing_rank(void)
{
    struct hpcprof *p = three_ranks("a", false);
    finish(p);
    CHECK_INT(table_row_count(table_of(p, PHASES_EPISODES)), 1);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "episodes"), 2);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "barrier"), 2 * 50 * MS);
    hpcprof_free(p);
}

/* The only episode, with its ranks in any row order, after a barrier without a common episode. */
static void test_one_episode(void)
{
    struct hpcprof *p = measured();
    for (int rank = 0; rank < 3; rank++)
        add_thread(p, "a", rank, 0);
    add_barrier(p, "omp barrier", 2, NULL);
    uint32_t barrier = add_barrier(p, "MPI_Barrier", 1, (uint64_t[]){1, 3, 0, 0, 0});
    struct table *barriers = table_of(p, PHASES_BARRIERS); /* only the number of passages of each rank is known */
    table_set(barriers, barrier, table_column_of(barriers, "episodes"), (union table_cell){.count = 0});
    for (uint32_t i = 0; i < 3; i++)
        add_passage(p, barrier, (i + 1) % 3, TABLE_NONE, 3, 0, (uint64_t[]){1 * MS, (10 + i) * MS, 20 * MS});
    finish(p);
    CHECK_INT(table_row_count(table_of(p, PHASES_EPISODES)), 1);
    CHECK_INT(count_in(p, PHASES_BARRIERS, barrier, "episodes"), 1);
    CHECK_INT(count_in(p, PHASES_BARRIERS, barrier, "idle"), 3 * MS);
    CHECK_INT(row_in(p, PHASES_EPISODES, 0, "last_thread"), 0);
    hpcprof_free(p);
}

static void test_wrong_passages(void)
{
    struct hpcprof *p = measured();
    add_thread(p, "a", 0, 0);
    add_passage(p, 5, 1, 8, 1, 2, (uint64_t[]){3, 2, 1});
    add_passage(p, 5, 9, 8, 1, 0, (uint64_t[]){3, 2, 1});
    add_passage(p, 0, 0, 8, 1, 3, (uint64_t[]){1, 2, 3}); /* the one after the last, which does not exist */
    add_passage(p, TABLE_NONE, TABLE_NONE, TABLE_NONE, 1, 1, (uint64_t[]){TABLE_NO_COUNT, TABLE_NO_COUNT, 0});
    finish(p);
    CHECK_INT(table_row_count(table_of(p, PHASES_EPISODES)), 0);
    hpcprof_free(p);
}

/* ---- many ranks, against plain definitions ---------------------------------------------------------------------------- */

enum { RANKS = 4, EPISODES = 150, KEPT = 64 };

struct plan { /* of a program: times in steps of 10, so that some are equal */
    uint32_t barrier[EPISODES];
    uint64_t begin[EPISODES][RANKS], arrived[EPISODES][RANKS], left[EPISODES][RANKS];
    uint64_t of[2]; /* episodes of each barrier */
};

static uint64_t random_below(uint64_t n)
{
    static uint64_t seed = 88172645463325252ull;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static void make_plan(struct plan *plan)
{
    uint64_t last = 1000;
    *plan = (struct plan){0};
    for (int e = 0; e < EPISODES; e++) {
        plan->barrier[e] = random_below(10) < 3;
        plan->of[plan->barrier[e]]++;
        for (int r = 0; r < RANKS; r++) {
            plan->begin[e][r] = e ? plan->left[e - 1][r] : 900 + (uint64_t)r;
            plan->arrived[e][r] = plan->begin[e][r] + random_below(e % 5 ? 20 : 4) * 10;
            last = plan->arrived[e][r] > last ? plan->arrived[e][r] : last;
        }
        for (int r = 0; r < RANKS; r++)
            plan->left[e][r] = last + 10 * (1 + random_below(3));
    }
}

/* Rows in no order at all. `skew`: how far each rank's clock is ahead of the one before. */
static struct hpcprof *ranks_of_plan(const struct plan *plan, uint64_t skew)
{
    static const char *const hosts[] = {"a", "b", "c", "d"};
    struct hpcprof *p = measured();
    uint32_t order[EPISODES * RANKS];
    for (uint32_t r = 0; r < RANKS; r++)
        add_thread(p, skew ? hosts[r] : "a", (int)r, 0);
    for (uint32_t b = 0; b < 2; b++)
        add_barrier(p, b ? "MPI_Allreduce" : "MPI_Barrier", b + 1, (uint64_t[]){plan->of[b], RANKS, 0, 0, 0});
    for (uint32_t i = 0; i < EPISODES * RANKS; i++) {
        uint32_t k = (uint32_t)random_below(i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (uint32_t i = 0; i < EPISODES * RANKS; i++) {
        uint32_t e = order[i] / RANKS, r = order[i] % RANKS;
        add_passage(
            p, plan->barrier[e], r, e ? plan->barrier[e - 1] : TABLE_NONE, RANKS, e,
            (uint64_t[]){plan->begin[e][r] + r * skew, plan->arrived[e][r] + r * skew, plan->left[e][r] + r * skew});
    }
    return p;
}

struct wanted { /* of a barrier, or of one rank in it */
    uint64_t phase, barrier, idle, overhead, worst, best, longest, shortest, first, last, times[32];
    uint64_t came_last[RANKS], waited[RANKS], busy[RANKS], kept;
    double squares;
};

static int step_of(uint64_t time)
{
    int step = 0;
    for (; time; time /= 2)
        step++;
    return step;
}

static bool episode_is(struct hpcprof *p, uint32_t row, const uint64_t want[8], uint32_t barrier, uint32_t last_thread)
{
    const union table_cell *c = table_row(table_of(p, PHASES_EPISODES), row);
    bool same = c[0].row == barrier && c[10].row == last_thread && c[9].count == RANKS;
    for (int i = 0; i < 8; i++)
        same = same && c[1 + i].count == want[i];
    return same;
}

static bool arrivals_are(struct hpcprof *p, uint32_t episode, const uint32_t order[RANKS],
                         const uint64_t arrived[RANKS])
{
    bool same = true;
    for (uint32_t i = 0; i < RANKS; i++) {
        const union table_cell *c = table_row(table_of(p, PHASES_ARRIVALS), episode * RANKS + i);
        same = same && c[0].row == episode && c[1].row == order[i] && c[2].count == i + 1 &&
               c[3].count == arrived[order[i]] && c[4].count == arrived[order[RANKS - 1]] - arrived[order[i]];
    }
    return same;
}

static uint64_t cell_of(struct hpcprof *p, enum phases_table which, const uint64_t keys[2], size_t column)
{
    const struct table *t = table_of(p, which);
    bool counted = table_declared(t)->columns[1].type == TABLE_COUNT;
    for (uint32_t i = 0; i < table_row_count(t); i++)
        if (table_row(t, i)[0].row == keys[0] &&
            (counted ? table_row(t, i)[1].count : table_row(t, i)[1].row) == keys[1])
            return table_row(t, i)[column].count;
    return 0;
}

static void check_barrier(struct hpcprof *p, uint32_t b, const struct wanted *w, uint64_t episodes)
{
    static const char *const columns[] = {"episodes", "phase",         "barrier",        "idle",  "overhead", "worst",
                                          "best",     "longest_phase", "shortest_phase", "first", "last"};
    const uint64_t want[] = {episodes, w->phase,   w->barrier,  w->idle,  w->overhead, w->worst,
                             w->best,  w->longest, w->shortest, w->first, w->last};
    uint32_t most = 0;
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
        tap_int((long long)count_in(p, PHASES_BARRIERS, b, columns[i]), (long long)want[i], columns[i], __FILE__,
                __LINE__);
    CHECK(fabs(number_in(p, PHASES_BARRIERS, b, "squares") / w->squares - 1) < 1e-9);
    for (uint32_t r = 0; r < RANKS; r++) {
        const uint64_t keys[] = {b, r};
        CHECK_INT(cell_of(p, PHASES_THREADS, keys, 2), episodes);
        CHECK_INT(cell_of(p, PHASES_THREADS, keys, 3), w->came_last[r]);
        CHECK_INT(cell_of(p, PHASES_THREADS, keys, 4), w->waited[r]);
        CHECK_INT(cell_of(p, PHASES_THREADS, keys, 5), w->busy[r]);
        most = w->came_last[r] > w->came_last[most] ? r : most;
    }
    for (int step = 0; step < 20; step++)
        CHECK_INT(cell_of(p, PHASES_TIMES, (uint64_t[]){b, step ? 1ull << (step - 1) : 0}, 2), w->times[step]);
    CHECK_INT(w->came_last[row_in(p, PHASES_BARRIERS, b, "last_thread")], w->came_last[most]);
}

/* Ranks in the order of arrival: by time, then by their own clock, then by rank. */
static void sort_ranks(uint32_t order[RANKS], const uint64_t arrived[RANKS], const uint64_t by_own_clock[RANKS])
{
    for (uint32_t i = 0; i < RANKS; i++)
        order[i] = i;
    for (int i = 0; i < RANKS; i++)
        for (int k = i + 1; k < RANKS; k++) {
            uint32_t a = order[i], b = order[k];
            bool before = arrived[b] != arrived[a]             ? arrived[b] < arrived[a]
                          : by_own_clock[b] != by_own_clock[a] ? by_own_clock[b] < by_own_clock[a]
                                                               : b < a;
            if (before) {
                order[i] = b;
                order[k] = a;
            }
        }
}

/* With separate clocks (`skew`), only the waiting times are known; all ranks are released at the latest release
   time. */
static void check_many_ranks(uint64_t skew)
{
    static struct plan plan;
    struct wanted w[2] = {{.best = UINT64_MAX, .shortest = UINT64_MAX, .first = UINT64_MAX},
                          {.best = UINT64_MAX, .shortest = UINT64_MAX, .first = UINT64_MAX}};
    uint64_t waits[RANKS][RANKS] = {{0}}, after[2][3][3] = {{{0}}}, last_before = 900, rows = 0;
    make_plan(&plan);
    struct hpcprof *p = ranks_of_plan(&plan, skew);
    finish(p);
    bool episodes = true, arrivals = true;
    for (int e = 0; e < EPISODES; e++) {
        struct wanted *of = &w[plan.barrier[e]];
        uint64_t arrived[RANKS], own[RANKS], begin = skew ? UINT64_MAX : last_before, release = UINT64_MAX, let_go = 0,
                                             idle = 0;
        uint32_t order[RANKS];
        for (uint32_t r = 0; r < RANKS; r++) {
            uint64_t left = plan.left[e][r] + r * skew;
            own[r] = plan.arrived[e][r] + r * skew;
            let_go = left > let_go ? left : let_go;
            release = left < release ? left : release;
            if (skew)
                begin = plan.begin[e][r] + r * skew < begin ? plan.begin[e][r] + r * skew : begin;
        }
        for (uint32_t r = 0; r < RANKS; r++)
            arrived[r] = skew ? let_go - (plan.left[e][r] - plan.arrived[e][r]) : own[r];
        sort_ranks(order, arrived, own);
        uint64_t first = arrived[order[0]], last = arrived[order[RANKS - 1]];
        begin = begin < first ? begin : first;
        release = release > last ? release : last;
        for (uint32_t r = 0; r < RANKS; r++) {
            idle += last - arrived[r];
            of->waited[r] += last - arrived[r];
            of->busy[r] += plan.arrived[e][r] - plan.begin[e][r];
            waits[r][order[RANKS - 1]] += r == order[RANKS - 1] ? 0 : last - arrived[r];
        }
        uint64_t phase = last - begin, barrier = last - first;
        of->came_last[order[RANKS - 1]]++;
        of->phase += phase;
        of->barrier += barrier;
        of->idle += idle;
        of->overhead += release - last;
        of->worst = barrier > of->worst ? barrier : of->worst;
        of->best = barrier < of->best ? barrier : of->best;
        of->longest = phase > of->longest ? phase : of->longest;
        of->shortest = phase < of->shortest ? phase : of->shortest;
        of->first = first < of->first ? first : of->first;
        of->last = last > of->last ? last : of->last;
        of->squares += (double)barrier / 1e6 * ((double)barrier / 1e6);
        of->times[step_of(barrier)]++;
        uint64_t *pair = after[plan.barrier[e]][e ? plan.barrier[e - 1] : 2];
        pair[0]++;
        pair[1] += phase;
        pair[2] += barrier;
        if (of->kept++ < KEPT) {
            const uint64_t want[] = {of->kept, begin, first, last, release, phase, barrier, idle};
            episodes = episodes && episode_is(p, (uint32_t)rows, want, plan.barrier[e], order[RANKS - 1]);
            arrivals = arrivals && arrivals_are(p, (uint32_t)rows++, order, arrived);
        }
        last_before = last;
    }
    CHECK_INT(table_row_count(table_of(p, PHASES_EPISODES)), rows);
    CHECK_INT(table_row_count(table_of(p, PHASES_ARRIVALS)), rows * RANKS);
    CHECK_NAMED(episodes, "episodes that are kept");
    CHECK_NAMED(arrivals, "who came when");
    for (uint32_t b = 0; b < 2; b++)
        check_barrier(p, b, &w[b], plan.of[b]);
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t last = 0; last < RANKS; last++)
            CHECK_INT(cell_of(p, PHASES_WAITS_FOR, (uint64_t[]){r, last}, 3), waits[r][last]);
    for (uint32_t i = 0; i < 2 * 3 * 3; i++)
        CHECK_INT(cell_of(p, PHASES_PHASES, (uint64_t[]){i / 9, i / 3 % 3 == 2 ? TABLE_NONE : i / 3 % 3}, 2 + i % 3),
                  after[i / 9][i / 3 % 3][i % 3]);
    hpcprof_free(p);
}

/* Groups with simultaneous episodes, and sequences of rows that are not complete episodes: too few, too many, or with
   another number. */
static void test_groups(void)
{
    static const struct {
        uint64_t group, ranks, number;
        uint32_t rows;
        bool whole;
    } runs[] = {{1, 2, 0, 2, true}, {2, 2, 0, 2, true}, {2, 3, 1, 2, false}, {3, 2, 1, 3, false},
                {1, 2, 2, 2, true}, {1, 1, 3, 1, true}, {4, 0, 0, 1, false}, {5, 3, 7, 3, true}};
    struct hpcprof *p = measured();
    uint64_t whole = 0, time = 1000;
    for (int rank = 0; rank < 3; rank++)
        add_thread(p, "a", rank, 0);
    uint32_t barrier = add_barrier(p, "MPI_Barrier", 1, (uint64_t[]){1, 3, 0, 0, 0});
    struct table *t = table_of(p, PHASES_BARRIERS);
    table_set(t, barrier, table_column_of(t, "passages"), (union table_cell){.count = 100});
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++, time += 100) {
        for (uint32_t r = 0; r < runs[i].rows; r++)
            table_add(table_of(p, PHASES_PASSAGES), (union table_cell[]){{.row = barrier},
                                                                         {.row = r % 3},
                                                                         {.row = TABLE_NONE},
                                                                         {.count = runs[i].group},
                                                                         {.count = runs[i].ranks},
                                                                         {.count = runs[i].number},
                                                                         {.count = time},
                                                                         {.count = time + 10 * (r + 1)},
                                                                         {.count = time + 50}});
        whole += runs[i].whole;
    }
    finish(p);
    CHECK_INT(table_row_count(table_of(p, PHASES_EPISODES)), whole);
    CHECK_INT(count_in(p, PHASES_BARRIERS, barrier, "barrier"), (10 + 10 + 10 + 0 + 20) * 33 / 5);
    CHECK_INT(count_in(p, PHASES_BARRIERS, barrier, "episodes"), 33); /* 100 passages of 3 threads */
    CHECK_INT(count_in(p, PHASES_BARRIERS, barrier, "phase"), (20 + 20 + 20 + 10 + 30) * 33 / 5);
    CHECK_INT(count_in(p, PHASES_BARRIERS, barrier, "idle"), (10 + 10 + 10 + 0 + 20 + 10) * 33 / 5);
    CHECK_INT(count_in(p, PHASES_BARRIERS, barrier, "overhead"), (30 + 30 + 30 + 40 + 20) * 33 / 5);
    hpcprof_free(p);
}

/* A rank released from one group's barrier goes on to another's: its phase began when the last rank had arrived at the
   first barrier, whichever rank goes on. */
static void test_from_group_to_group(void)
{
    for (uint32_t goes_on = 0; goes_on < 3; goes_on++)
        for (uint32_t host = 0; host < 2; host++) {
            static const uint64_t arrived[] = {20, 30, 40};
            struct hpcprof *p = measured();
            for (int rank = 0; rank < 4; rank++)
                add_thread(p, host && rank == 3 ? "b" : "a", rank, 0);
            uint32_t first = add_barrier(p, "MPI_Barrier", 1, (uint64_t[]){1, 3, 0, 0, 0}),
                     then = add_barrier(p, "MPI_Bcast", 2, (uint64_t[]){1, 2, 0, 0, 0});
            for (uint32_t rank = 0; rank < 3; rank++)
                add_passage(p, first, rank, TABLE_NONE, 3, 0, (uint64_t[]){10, arrived[rank], 50 + rank});
            add_passage(p, then, goes_on, first, 2, 1, (uint64_t[]){50 + goes_on, 90, 100});
            add_passage(p, then, 3, TABLE_NONE, 2, 1, (uint64_t[]){60, 80, 100});
            finish(p);
            CHECK_INT(count_in(p, PHASES_EPISODES, 1, "begin"), host ? 50 + goes_on : 40);
            hpcprof_free(p);
        }
}

/* Histogram of barrier times, in powers of two: lower bound of each bin. */
static void test_barrier_times(void)
{
    static const struct {
        uint64_t barrier, least;
    } cases[] = {{0, 0},
                 {1, 1},
                 {2, 2},
                 {3, 2},
                 {4, 4},
                 {7, 4},
                 {8, 8},
                 {1ull << 40, 1ull << 40},
                 {(1ull << 41) - 1, 1ull << 40},
                 {(1ull << 53) + 1, 1ull << 53}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct hpcprof *p = measured();
        for (int rank = 0; rank < 2; rank++)
            add_thread(p, "a", rank, 0);
        uint32_t barrier = add_barrier(p, "MPI_Barrier", 1, (uint64_t[]){1, 2, 0, 0, 0});
        for (uint32_t rank = 0; rank < 2; rank++)
            add_passage(p, barrier, rank, TABLE_NONE, 2, 0,
                        (uint64_t[]){1, 2 + rank * cases[i].barrier, 3 + cases[i].barrier});
        finish(p);
        CHECK_INT(table_row_count(table_of(p, PHASES_TIMES)), 1);
        CHECK_INT(count_in(p, PHASES_TIMES, 0, "least"), cases[i].least);
        CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "barrier"),
                  cases[i].barrier); /* all episodes were kept: exact equality */
        hpcprof_free(p);
    }
}

/* A rank alone is of one host, whoever comes next: its phase begins where the one before ended. */
static void test_alone(void)
{
    struct hpcprof *p = measured();
    add_thread(p, "a", 0, 0);
    add_thread(p, "b", 1, 0);
    uint32_t first = add_barrier(p, "MPI_Barrier", 1, (uint64_t[]){1, 1, 0, 0, 0}),
             then = add_barrier(p, "MPI_Bcast", 2, (uint64_t[]){1, 1, 0, 0, 0});
    add_passage(p, first, 0, TABLE_NONE, 1, 0, (uint64_t[]){10, 20, 50});
    add_passage(p, then, 0, first, 1, 1, (uint64_t[]){50, 90, 100});
    add_passage(p, then, 1, TABLE_NONE, 1, 2, (uint64_t[]){60, 80, 100});
    finish(p);
    static const uint64_t begins[] = {10, 20, 60};
    for (uint32_t i = 0; i < ARRAY_SIZE(begins); i++)
        CHECK_INT(count_in(p, PHASES_EPISODES, i, "begin"), begins[i]);
    hpcprof_free(p);
}

/* The maximum number of ranks, and one more. */
static void test_most_ranks(void)
{
    enum { MOST = 1 << 14 };
    for (uint32_t more = 0; more < 2; more++) {
        struct hpcprof *p = measured();
        uint32_t ranks = MOST + more;
        for (uint32_t rank = 0; rank < ranks; rank++)
            add_thread(p, "a", (int)rank, 0);
        uint32_t barrier = add_barrier(p, "MPI_Barrier", 1, (uint64_t[]){1, ranks, 0, 0, 0});
        for (uint32_t rank = 0; rank < ranks; rank++)
            add_passage(p, barrier, rank, TABLE_NONE, ranks, 0, (uint64_t[]){1, 2 + rank, 2 + ranks});
        finish(p);
        CHECK_INT(table_row_count(table_of(p, PHASES_EPISODES)), more ? 0 : 1);
        CHECK_INT(count_in(p, PHASES_BARRIERS, barrier, "barrier"), more ? 0 : MOST - 1);
        hpcprof_free(p);
    }
}

/* Thread barriers keep their measured values when there are barriers of ranks. */
static void test_threads_beside_ranks(void)
{
    struct hpcprof *p = three_ranks("a", true);
    uint32_t threads = add_barrier(p, "omp barrier", 2, (uint64_t[]){7, 3, 700, 70, 90}),
             odd = add_barrier(p, "omp for", 3, (uint64_t[]){5, 0, 500, 50, 60});
    finish(p);
    static const char *const columns[] = {"episodes", "phase", "barrier", "idle"};
    static const uint64_t want[2][4] = {{7, 700, 70, 90}, {5, 500, 50, 60}};
    for (uint32_t i = 0; i < 2; i++)
        for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
            CHECK_INT(count_in(p, PHASES_BARRIERS, i ? odd : threads, columns[c]), want[i][c]);
    CHECK(isnan(number_in(p, PHASES_BARRIERS, odd, "imbalance")));
    hpcprof_free(p);
}

/* Invalid times: of another clock, or wrapped. No result is negative. */
static void test_odd_times(void)
{
    static const struct {
        const char *name, *hosts[2];
        uint64_t times[2][3];                                           /* begin, arrived, left */
        uint64_t begin, first, last, release, idle, waited[2], busy[2]; /* expected result, by order of arrival */
    } cases[] = {
        {"left before it arrived", {"a", "a"}, {{10, 20, 15}, {10, 30, 35}}, 10, 20, 30, 30, 10, {10, 0}, {10, 20}},
        {"began after it arrived", {"a", "a"}, {{25, 20, 40}, {50, 30, 40}}, 20, 20, 30, 40, 10, {10, 0}, {0, 0}},
        {"began when it arrived", {"a", "a"}, {{20, 20, 40}, {20, 30, 40}}, 20, 20, 30, 40, 10, {10, 0}, {0, 10}},
        {"two clocks", {"a", "b"}, {{1000, 1020, 1040}, {10, 30, 35}}, 10, 1020, 1035, 1035, 15, {15, 0}, {20, 20}},
        {"two clocks, left before it arrived",
         {"a", "b"},
         {{1000, 1020, 1010}, {10, 30, 35}},
         10,
         1005,
         1010,
         1010,
         5,
         {5, 0},
         {20, 20}},
        {"two clocks, longer than there is time", {"a", "b"}, {{0, 0, 40}, {0, 1, 39}}, 0, 0, 2, 39, 2, {2, 0}, {0, 1}},
        {"two clocks that stand still", {"a", "b"}, {{0, 0, 0}, {0, 0, 0}}, 0, 0, 0, 0, 0, {0, 0}, {0, 0}},
        {"of one time, by rank", {"a", "a"}, {{5, 20, 40}, {6, 20, 40}}, 5, 20, 20, 40, 0, {0, 0}, {15, 14}},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct hpcprof *p = measured();
        struct buf got = {0}, want = {0};
        for (int rank = 0; rank < 2; rank++)
            add_thread(p, cases[i].hosts[rank], rank, 0);
        uint32_t barrier = add_barrier(p, "MPI_Barrier", 1, (uint64_t[]){1, 2, 0, 0, 0});
        for (uint32_t rank = 0; rank < 2; rank++)
            add_passage(p, barrier, rank, TABLE_NONE, 2, 0, cases[i].times[rank]);
        finish(p);
        static const char *const columns[] = {"begin", "first", "last", "release", "idle"};
        const uint64_t wanted[] = {cases[i].begin, cases[i].first, cases[i].last, cases[i].release, cases[i].idle};
        for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
            buf_printf(&got, "%s %llu, ", columns[c], (unsigned long long)count_in(p, PHASES_EPISODES, 0, columns[c]));
            buf_printf(&want, "%s %llu, ", columns[c], (unsigned long long)wanted[c]);
        }
        for (uint32_t k = 0; k < 2; k++) {
            buf_printf(&got, "waited %llu, busy %llu; ", (unsigned long long)count_in(p, PHASES_ARRIVALS, k, "waited"),
                       (unsigned long long)count_in(p, PHASES_THREADS, k, "busy"));
            buf_printf(&want, "waited %llu, busy %llu; ", (unsigned long long)cases[i].waited[k],
                       (unsigned long long)cases[i].busy[k]);
        }
        tap_str(got.bytes, want.bytes, cases[i].name, __FILE__, __LINE__);
        buf_release(&got);
        buf_release(&want);
        hpcprof_free(p);
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

static void test_derived(void)
{
    struct hpcprof *p = measured();
    uint32_t first = add_thread(p, "a", -1, 0), second = add_thread(p, "a", -1, 1);
    uint32_t b = add_barrier(p, "omp barrier", 1, (uint64_t[]){4, 2, 400 * MS, 100 * MS, 200 * MS});
    uint32_t never = add_barrier(p, "omp for end", 2, NULL);
    table_set(table_of(p, PHASES_BARRIERS), b, table_column_of(table_of(p, PHASES_BARRIERS), "squares"),
              (union table_cell){.number = 2500 + 4 * 16});
    table_add(table_of(p, PHASES_THREADS), (union table_cell[ARRAY_SIZE(phases_thread_columns)]){
                                               {.row = b}, {.row = first}, {.count = 4}, {.count = 1}});
    table_add(table_of(p, PHASES_THREADS), (union table_cell[ARRAY_SIZE(phases_thread_columns)]){
                                               {.row = b}, {.row = second}, {.count = 4}, {.count = 3}});
    table_add(table_of(p, PHASES_THREADS), (union table_cell[ARRAY_SIZE(phases_thread_columns)]){
                                               {.row = 99}, {.row = 99}, {.count = 4}, {.count = 9}});
    finish(p);
    CHECK(number_in(p, PHASES_BARRIERS, b, "mean") == 25e6);
    CHECK(number_in(p, PHASES_BARRIERS, b, "deviation") == 4e6);
    CHECK(number_in(p, PHASES_BARRIERS, b, "share") == 25);
    CHECK(number_in(p, PHASES_BARRIERS, b, "imbalance") == 25);
    CHECK_INT(row_in(p, PHASES_BARRIERS, b, "last_thread"), second);
    CHECK(number_in(p, PHASES_BARRIERS, b, "last_share") == 75);
    CHECK_INT(count_in(p, PHASES_BARRIERS, b, "participants"), 2);
    CHECK_NAMED(isnan(number_in(p, PHASES_BARRIERS, never, "mean")), "a barrier that nobody passed has no mean");
    CHECK_NAMED(isnan(number_in(p, PHASES_BARRIERS, never, "share")), "and no share");
    hpcprof_free(p);
}

/* ---- samples -------------------------------------------------------------------------------------------------------- */

/* Two barriers in turn, and a region of the program's own inside of the second phase. */
static struct hpcprof *sampled(void)
{
    struct hpcprof *p = measured();
    uint32_t thread = add_thread(p, "a", -1, 0),
             event = hpcprof_add_event(p, &(struct hpcprof_event){.name = strtab_add(p->strings, "T")});
    uint32_t module = hpcprof_add_module(p, "/bin/x", ""),
             a = add_barrier(p, "omp barrier", 1, (uint64_t[]){9, 1, 1, 1, 1}),
             b = add_barrier(p, "omp for end", 12, (uint64_t[]){9, 1, 1, 1, 1});
    uint32_t regions[] = {0, 1, 2, 3, 4};
    regions[1] = hpcprof_add_region(p, PHASES_REGION "1", 0);
    regions[2] = hpcprof_add_region(p, PHASES_REGION "12", 0);
    regions[3] = hpcprof_add_region(p, "solve", regions[2]);
    regions[4] = hpcprof_add_region(p, PHASES_REGION "99", 0);
    for (uint32_t i = 0; i < ARRAY_SIZE(regions); i++) {
        uint32_t context = hpcprof_add_context(
            p, &(struct hpcprof_context){.parent = HPCPROF_NO_PARENT, .module = module, .address = 16 + i});
        hpcprof_add_count(p, &(struct hpcprof_count){.thread = thread,
                                                     .context = context,
                                                     .event = event,
                                                     .region = regions[i],
                                                     .samples = i + 1,
                                                     .value = 10 * (i + 1)});
    }
    table_add(table_of(p, PHASES_PHASES),
              (union table_cell[ARRAY_SIZE(phases_phase_columns)]){{.row = b}, {.row = a}, {.count = 8}});
    table_add(table_of(p, PHASES_PHASES),
              (union table_cell[ARRAY_SIZE(phases_phase_columns)]){{.row = a}, {.row = a}, {.count = 1}});
    table_add(table_of(p, PHASES_PHASES),
              (union table_cell[ARRAY_SIZE(phases_phase_columns)]){{.row = a}, {.row = TABLE_NONE}, {.count = 1}});
    hpcprof_finish(p);
    return p;
}

static void test_samples(void)
{
    struct hpcprof *p = sampled();
    add_samples(p);
    add_samples(p); /* once is enough */
    finish(p);
    CHECK_INT(table_row_count(table_of(p, PHASES_SAMPLES)), 3);
    for (uint32_t row = 0; row < 3; row++) {
        uint32_t begun = row_in(p, PHASES_SAMPLES, row, "begun"), ended = row_in(p, PHASES_SAMPLES, row, "ended");
        /* after an unknown barrier: before the first one, or in a region whose barrier is missing */
        uint64_t wanted = begun == TABLE_NONE ? 1 + 5 : begun == 0 ? 2 : 3 + 4;
        CHECK_INT(count_in(p, PHASES_SAMPLES, row, "samples"), wanted);
        CHECK_INT(count_in(p, PHASES_SAMPLES, row, "value"), 10 * wanted);
        CHECK_INT(ended, begun == TABLE_NONE ? 0 : begun == 0 ? 1 : TABLE_NONE);
    }
    CHECK_INT(table_row_count(table_of(p, PHASES_PLACES)), 5);
    double share = 0;
    for (uint32_t row = 0; row < 5; row++)
        share += row_in(p, PHASES_PLACES, row, "begun") == 1 ? number_in(p, PHASES_PLACES, row, "share") : 0;
    CHECK_NAMED(fabs(share - 100) < 1e-9, "all places of a phase are the phase");
    hpcprof_free(p);
}

/* Before the first barrier, no phase has ended. */
static void test_no_phase_ended(void)
{
    struct hpcprof *p = measured();
    uint32_t thread = add_thread(p, "a", -1, 0),
             event = hpcprof_add_event(p, &(struct hpcprof_event){.name = strtab_add(p->strings, "T")}),
             module = hpcprof_add_module(p, "/bin/x", "");
    add_barrier(p, "omp barrier", 1, NULL);
    hpcprof_add_region(p, PHASES_REGION "1", 0);
    uint32_t context =
        hpcprof_add_context(p, &(struct hpcprof_context){.parent = HPCPROF_NO_PARENT, .module = module, .address = 16});
    hpcprof_add_count(
        p, &(struct hpcprof_count){.thread = thread, .context = context, .event = event, .samples = 1, .value = 10});
    hpcprof_finish(p);
    add_samples(p);
    finish(p);
    CHECK_INT(table_row_count(table_of(p, PHASES_SAMPLES)), 1);
    CHECK_INT(row_in(p, PHASES_SAMPLES, 0, "begun"), TABLE_NONE);
    CHECK_INT(row_in(p, PHASES_SAMPLES, 0, "ended"), TABLE_NONE);
    hpcprof_free(p);
}

/* The phase of a region: "after barrier N", with any text after the number. */
static void test_regions(void)
{
    static const struct {
        const char *region;
        uint32_t begun;
    } cases[] = {{PHASES_REGION "1", 0},           {PHASES_REGION "12", 1},         {PHASES_REGION "012", 1},
                 {PHASES_REGION "1x2", 0},         {PHASES_REGION "2", TABLE_NONE}, {PHASES_REGION "", TABLE_NONE},
                 {PHASES_REGION "0", TABLE_NONE},  {PHASES_REGION "/", TABLE_NONE}, {PHASES_REGION ":", TABLE_NONE},
                 {PHASES_REGION "x", TABLE_NONE},  {"after barrier1", TABLE_NONE},  {"1", TABLE_NONE},
                 {PHASES_REGION "19", 2},          {PHASES_REGION "4294967295", 3}, {PHASES_REGION "42949672950", 3},
                 {PHASES_REGION "429496729501", 3}};
    static const uint64_t numbers[] = {1, 12, 19, 4294967295, 42949672950}; /* the last is more than a region can say */
    static const char *const kinds[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (int inside = 0; inside < 2; inside++) { /* and of a region in it, or around it */
            struct hpcprof *p = measured();
            uint32_t thread = add_thread(p, "a", -1, 0),
                     event = hpcprof_add_event(p, &(struct hpcprof_event){.name = strtab_add(p->strings, "T")}),
                     module = hpcprof_add_module(p, "/bin/x", "");
            for (size_t b = 0; b < ARRAY_SIZE(numbers); b++)
                add_barrier(p, kinds[b], numbers[b], NULL);
            uint32_t region = hpcprof_add_region(p, cases[i].region, inside ? hpcprof_add_region(p, "solve", 0) : 0);
            if (!inside)
                region = hpcprof_add_region(p, "inner", region);
            uint32_t context = hpcprof_add_context(
                p, &(struct hpcprof_context){.parent = HPCPROF_NO_PARENT, .module = module, .address = 16});
            hpcprof_add_count(
                p,
                &(struct hpcprof_count){
                    .thread = thread, .context = context, .event = event, .region = region, .samples = 3, .value = 10});
            hpcprof_finish(p);
            add_samples(p);
            tap_int(row_in(p, PHASES_SAMPLES, 0, "begun"), cases[i].begun, cases[i].region, __FILE__, __LINE__);
            CHECK(row_in(p, PHASES_PLACES, 0, "begun") == cases[i].begun &&
                  row_in(p, PHASES_PLACES, 0, "place") == context && count_in(p, PHASES_PLACES, 0, "samples") == 3 &&
                  count_in(p, PHASES_PLACES, 0, "value") == 10 && isnan(number_in(p, PHASES_PLACES, 0, "share")));
            hpcprof_free(p);
        }
}

/* Sums of squares are truncated so that additions are exact. */
static void test_squares(void)
{
    static const char *const kinds[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static const double given[] = {0.3, 0, 1, 0.1, 2.5, 1e6 + 1.0 / 3, 0x1p-22, 0x1.8p-21};
    struct hpcprof *p = measured();
    for (uint32_t i = 0; i < ARRAY_SIZE(given); i++) {
        struct table *t = table_of(p, PHASES_BARRIERS);
        table_set(t, add_barrier(p, kinds[i], i + 1, NULL), table_column_of(t, "squares"),
                  (union table_cell){.number = given[i]});
    }
    add_samples(p);
    for (uint32_t i = 0; i < ARRAY_SIZE(given); i++) {
        double squares = number_in(p, PHASES_BARRIERS, i, "squares");
        CHECK(squares * 0x1p20 == floor(squares * 0x1p20) && fabs(squares - given[i]) <= 0x1p-21);
    }
    CHECK(!table_list_find(&p->tables, phases_tables[PHASES_SAMPLES].name));
    hpcprof_free(p);
}

/* Ties are resolved in favour of the first: the most frequent last thread, and the barrier that ends a phase. Invalid
   references are ignored. */
static void test_equals(void)
{
    struct hpcprof *p = measured();
    uint32_t t[3];
    for (uint32_t i = 0; i < 3; i++)
        t[i] = add_thread(p, "a", -1, i);
    uint32_t a = add_barrier(p, "omp barrier", 1, (uint64_t[]){10, 3, 1, 1, 1}),
             b = add_barrier(p, "omp for", 2, (uint64_t[]){10, 3, 1, 1, 1});
    static const uint64_t came_last[] = {4, 4, TABLE_NO_COUNT};
    for (uint32_t i = 0; i < 3; i++)
        table_add(table_of(p, PHASES_THREADS), (union table_cell[ARRAY_SIZE(phases_thread_columns)]){
                                                   {.row = a}, {.row = t[i]}, {.count = 9}, {.count = came_last[i]}});
    table_add(table_of(p, PHASES_THREADS), (union table_cell[ARRAY_SIZE(phases_thread_columns)]){
                                               {.row = b + 1}, {.row = t[0]}, {.count = 9}, {.count = 99}});
    static const struct {
        uint32_t ended, begun;
        uint64_t episodes;
    } phases[] = {{1, 0, 3}, {0, 0, 3}, {0, 1, 1}, {1, 1, 2}, {1, TABLE_NONE, 5}, {0, 2, 6}, {0, 0, TABLE_NO_COUNT}};
    for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
        table_add(table_of(p, PHASES_PHASES),
                  (union table_cell[ARRAY_SIZE(phases_phase_columns)]){
                      {.row = phases[i].ended}, {.row = phases[i].begun}, {.count = phases[i].episodes}});
    static const struct {
        uint32_t begun, event;
        uint64_t value;
        uint32_t ended; /* expected result */
        double share;
    } places[] = {{0, 2, 9, 1, NAN}, {0, 0, 30, 1, 75},          {0, 0, 10, 1, 25}, {1, 0, 7, 1, 70},
                  {0, 1, 8, 1, 100}, {TABLE_NONE, 0, 5, 0, 50},  {2, 0, 5, 0, 50},  {1, 0, 3, 1, 30},
                  {1, 2, 5, 1, NAN}, {1, TABLE_NONE, 5, 1, NAN}, {1, 1, 0, 1, NAN}, {0, 2, 1, 1, NAN}};
    for (size_t i = 0; i < 2; i++)
        hpcprof_add_event(p, &(struct hpcprof_event){.name = strtab_add(p->strings, i ? "U" : "T")});
    table_of(p, PHASES_SAMPLES);
    for (uint32_t i = 0; i < ARRAY_SIZE(places); i++)
        table_add(table_of(p, PHASES_PLACES), (union table_cell[]){{.row = places[i].begun},
                                                                   {.row = TABLE_NONE},
                                                                   {.row = i},
                                                                   {.row = places[i].event},
                                                                   {.count = 1},
                                                                   {.count = places[i].value},
                                                                   {.number = (double)NAN}});
    finish(p);
    CHECK_INT(row_in(p, PHASES_BARRIERS, a, "last_thread"), t[0]);
    CHECK(number_in(p, PHASES_BARRIERS, a, "last_share") == 40);
    CHECK_INT(row_in(p, PHASES_BARRIERS, b, "last_thread"), TABLE_NONE);
    for (uint32_t i = 0; i < ARRAY_SIZE(places); i++) {
        double share = number_in(p, PHASES_PLACES, i, "share");
        CHECK_INT(row_in(p, PHASES_PLACES, i, "ended"), places[i].ended);
        CHECK(isnan(places[i].share) ? isnan(share) : fabs(share - places[i].share) < 1e-9);
    }
    hpcprof_free(p);
}

/* Tables of these names from other tools: of thread states, of loops in phases. */
static void test_foreign_others(void)
{
    static const char *const names[] = {"thread", "state", "since", "barrier"};
    for (size_t without = 0; without < ARRAY_SIZE(names); without++) {
        struct table_column columns[ARRAY_SIZE(names) - 1];
        struct table_decl foreign = {"thread_states", NULL, NULL, columns, ARRAY_SIZE(columns)};
        struct hpcprof *p = hpcprof_create();
        struct table *t = NULL;
        struct phases_stuck *stuck;
        struct err err = {0};
        for (size_t i = 0, n = 0; i < ARRAY_SIZE(names); i++)
            if (i != without)
                columns[n++] = (struct table_column){.name = names[i], .type = TABLE_COUNT, .merge = TABLE_LAST};
        CHECK_INT(table_list_declare(&p->tables, &foreign, p->strings, &t, &err), 0);
        table_add(t, (union table_cell[]){{.count = 0}, {.count = 0}, {.count = 0}});
        for (int i = 0; i < PHASES_STATES; i++)
            table_of(p, (enum phases_table)i);
        CHECK_INT(stuck_in(p, &stuck), 0);
        CHECK(!stuck);
        hpcprof_free(p);
    }
    for (int which = 0; which < 3; which++) { /* without one of the tables, no waits are reported */
        static const enum phases_table needed[] = {PHASES_BARRIERS, PHASES_THREADS, PHASES_STATES};
        struct hpcprof *p = hpcprof_create();
        struct phases_stuck *stuck;
        for (int i = 0; i < 3; i++)
            if (i != which)
                table_of(p, needed[i]);
        CHECK_INT(stuck_in(p, &stuck), 0);
        CHECK(!stuck);
        hpcprof_free(p);
    }
    static const enum phases_table made[] = {PHASES_SAMPLES, PHASES_PLACES};
    for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
        static const struct table_column columns[] = {{.name = "begun", .type = TABLE_TEXT, .merge = TABLE_KEY}};
        struct table_decl foreign = {phases_tables[made[i]].name, NULL, NULL, columns, 1};
        struct hpcprof *p = sampled();
        struct table *t = NULL;
        struct err err = {0};
        CHECK_INT(table_list_declare(&p->tables, &foreign, p->strings, &t, &err), 0);
        table_add(t, (union table_cell[]){text(p, "7")});
        add_samples(p);
        finish(p);
        CHECK_STR(strtab_get(p->strings, table_row(t, 0)[0].text), "7");
        CHECK_INT(table_row_count(t), 1);
        hpcprof_free(p);
    }
}

/* The result depends on which of the two sample tables exist. */
static void test_tables_of_samples(void)
{
    static const enum phases_table both[] = {PHASES_SAMPLES, PHASES_PLACES};
    for (unsigned there = 0; there < 4; there++)
        for (int read = 0; read < 2; read++) { /* when a file is read, or when the whole is finished */
            struct hpcprof *p = sampled();
            union table_cell begun = {.row = 0}, none = {.row = TABLE_NONE};
            for (unsigned i = 0; i < 2; i++)
                if (there & 1u << i)
                    table_add(table_of(p, both[i]), (union table_cell[ARRAY_SIZE(phases_place_columns)]){
                                                        begun, none, {.row = 0}, {.row = 0}});
            if (read)
                add_samples(p);
            else
                finish(p);
            bool samples = table_list_find(&p->tables, phases_tables[PHASES_SAMPLES].name) != NULL,
                 places = table_list_find(&p->tables, phases_tables[PHASES_PLACES].name) != NULL;
            CHECK_INT(samples, (there & 1) || read);
            CHECK_INT(places, (there & 2) || (there & 1) != (unsigned)read);
            if (!read && there & 1)
                CHECK_INT(row_in(p, PHASES_SAMPLES, 0, "ended"), 1);
            if (!read && there & 2)
                CHECK_INT(row_in(p, PHASES_PLACES, 0, "ended"), there & 1 ? 1 : TABLE_NONE);
            if (read && samples)
                CHECK_INT(table_row_count(table_of(p, PHASES_SAMPLES)), there & 1 ? 1 : 3);
            if (read && places)
                CHECK_INT(table_row_count(table_of(p, PHASES_PLACES)), there & 1 ? 1 : there & 2 ? 6 : 5);
            hpcprof_free(p);
        }
}

/* Barriers from other tools: without numbers there are no phases, and columns named like our squares are left
   unchanged. */
static void test_foreign_squares(void)
{
    static const struct {
        const char *name;
        uint8_t type, merge;
        double want; /* of 0.3 */
    } cases[] = {{"squares", TABLE_NUMBER, TABLE_SUM, 314573 * 0x1p-20},
                 {"squares", TABLE_NUMBER, TABLE_LAST, 0.3},
                 {"squares", TABLE_NUMBER, TABLE_MAX, 0.3},
                 {"squares", TABLE_COUNT, TABLE_SUM, 0.3},
                 {"squared", TABLE_NUMBER, TABLE_SUM, 0.3}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct table_column columns[] = {
            {.name = "kind", .type = TABLE_TEXT, .merge = TABLE_KEY},
            {.name = cases[i].name, .type = cases[i].type, .merge = cases[i].merge},
        };
        struct table_decl foreign = {"barriers", NULL, NULL, columns, ARRAY_SIZE(columns)};
        struct hpcprof *p = hpcprof_create();
        struct table *t = NULL;
        struct err err = {0};
        hpcprof_add_region(p, PHASES_REGION "1", 0);
        CHECK_INT(table_list_declare(&p->tables, &foreign, p->strings, &t, &err), 0);
        for (int row = 0; row < 3; row++)
            table_add(t, (union table_cell[]){text(p, row == 0 ? "a" : row == 1 ? "b" : "c"), {.number = 0.3}});
        add_samples(p);
        for (uint32_t row = 0; row < 3; row++)
            CHECK(table_row(t, row)[1].number == cases[i].want);
        CHECK_INT(p->tables.count, 1);
        hpcprof_free(p);
    }
}

/* ---- random numbers, compared with plain definitions ------------------------------------------------------------- */

/* One of a few counts, so that some are equal; occasionally missing. */
static uint64_t drawn_count(uint64_t n)
{
    return random_below(9) ? random_below(n) : TABLE_NO_COUNT;
}

/* A row below `n`, one after the last, or none. */
static uint32_t drawn_row(size_t n)
{
    uint64_t row = random_below(n + 2);
    return row > n ? TABLE_NONE : (uint32_t)row;
}

static double known(uint64_t count)
{
    return count == TABLE_NO_COUNT ? 0 : (double)count;
}

/* (The square root of a number near 0 is less exact than the number.) */
static bool same_number(double got, double want)
{
    return isfinite(want) ? fabs(got - want) <= 1e-9 * fabs(want) + 1e-6 : isnan(got);
}

static struct hpcprof *drawn_numbers(void)
{
    static const char *const kinds[] = {"a", "b", "c", "d"};
    struct hpcprof *p = measured();
    size_t barriers = random_below(4), events = random_below(4);
    for (uint32_t i = 0; i < 3; i++)
        add_thread(p, "a", -1, i);
    for (size_t i = 0; i < events; i++)
        hpcprof_add_event(p, &(struct hpcprof_event){.name = strtab_add(p->strings, kinds[i])});
    for (size_t i = 0; i < barriers; i++) {
        uint64_t sums[5];
        for (size_t k = 0; k < ARRAY_SIZE(sums); k++)
            sums[k] = drawn_count(5);
        uint32_t row = add_barrier(p, kinds[i], i + 1, sums);
        struct table *t = table_of(p, PHASES_BARRIERS);
        table_set(t, row, table_column_of(t, "squares"), (union table_cell){.number = (double)random_below(90) / 1e12});
    }
    for (uint64_t i = random_below(9); i > 0; i--)
        table_add(table_of(p, PHASES_THREADS),
                  (union table_cell[ARRAY_SIZE(phases_thread_columns)]){
                      {.row = drawn_row(barriers)}, {.row = drawn_row(3)}, {.count = 1}, {.count = drawn_count(4)}});
    for (uint64_t i = random_below(9); i > 0; i--)
        table_add(table_of(p, PHASES_PHASES),
                  (union table_cell[ARRAY_SIZE(phases_phase_columns)]){
                      {.row = drawn_row(barriers)}, {.row = drawn_row(barriers)}, {.count = drawn_count(4)}});
    table_of(p, PHASES_SAMPLES);
    for (uint64_t i = random_below(12); i > 0; i--) {
        union table_cell begun = {.row = drawn_row(barriers)}, none = {.row = TABLE_NONE};
        uint32_t event = drawn_row(events);
        table_add(table_of(p, PHASES_SAMPLES),
                  (union table_cell[]){begun, none, {.row = 0}, {.row = event}, {.count = 1}, {.count = 1}});
        table_add(table_of(p, PHASES_PLACES), (union table_cell[]){begun,
                                                                   none,
                                                                   {.row = drawn_row(3)},
                                                                   {.row = event},
                                                                   {.count = 1},
                                                                   {.count = drawn_count(5)},
                                                                   {.number = (double)NAN}});
    }
    return p;
}

static bool barrier_is_derived(struct hpcprof *p, uint32_t row)
{
    static const char *const names[] = {"mean", "deviation", "share", "imbalance", "last_share"};
    double episodes = known(count_in(p, PHASES_BARRIERS, row, "episodes")),
           phase = known(count_in(p, PHASES_BARRIERS, row, "phase")),
           barrier = known(count_in(p, PHASES_BARRIERS, row, "barrier")),
           idle = known(count_in(p, PHASES_BARRIERS, row, "idle")),
           threads = known(count_in(p, PHASES_BARRIERS, row, "threads")),
           spread = number_in(p, PHASES_BARRIERS, row, "squares") * 1e12 / episodes -
                    barrier / episodes * (barrier / episodes),
           most = 0;
    uint32_t last_thread = TABLE_NONE;
    for (uint32_t i = 0; i < table_row_count(table_of(p, PHASES_THREADS)); i++) {
        double last = known(count_in(p, PHASES_THREADS, i, "last"));
        if (row_in(p, PHASES_THREADS, i, "barrier") == row && last > most) {
            most = last;
            last_thread = row_in(p, PHASES_THREADS, i, "thread");
        }
    }
    const double want[] = {barrier / episodes, spread > 0 ? sqrt(spread) : 0, barrier / phase * 100,
                           idle / (phase * threads) * 100, most > 0 ? most / episodes * 100 : 0};
    bool same = row_in(p, PHASES_BARRIERS, row, "last_thread") == last_thread;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        same = same && same_number(number_in(p, PHASES_BARRIERS, row, names[i]), want[i]);
    return same;
}

/* A row number after the last barrier means that the phase began before the first one. */
static uint32_t begun_by(struct hpcprof *p, enum phases_table which, uint32_t row)
{
    uint32_t begun = row_in(p, which, row, "begun");
    return begun < table_row_count(table_of(p, PHASES_BARRIERS)) ? begun : TABLE_NONE;
}

static uint32_t usual_end(struct hpcprof *p, uint32_t begun)
{
    uint32_t end = TABLE_NONE;
    double most = 0;
    for (uint32_t i = 0; i < table_row_count(table_of(p, PHASES_PHASES)); i++) {
        double episodes = known(count_in(p, PHASES_PHASES, i, "episodes"));
        if (begun_by(p, PHASES_PHASES, i) == begun && episodes > most) {
            most = episodes;
            end = row_in(p, PHASES_PHASES, i, "ended");
        }
    }
    return end;
}

static double share_of(struct hpcprof *p, uint32_t row)
{
    uint32_t event = row_in(p, PHASES_PLACES, row, "event");
    double whole = 0;
    for (uint32_t i = 0; i < table_row_count(table_of(p, PHASES_PLACES)); i++)
        if (begun_by(p, PHASES_PLACES, i) == begun_by(p, PHASES_PLACES, row) &&
            row_in(p, PHASES_PLACES, i, "event") == event)
            whole += known(count_in(p, PHASES_PLACES, i, "value"));
    return event < p->event_count ? known(count_in(p, PHASES_PLACES, row, "value")) / whole * 100 : (double)NAN;
}

static void test_drawn_numbers(void)
{
    unsigned wrong = 0;
    for (int round = 0; round < 400; round++) {
        struct hpcprof *p = drawn_numbers();
        struct err err = {0};
        wrong += finished(p, &err) != 0;
        for (uint32_t i = 0; i < table_row_count(table_of(p, PHASES_BARRIERS)); i++)
            wrong += !barrier_is_derived(p, i);
        for (uint32_t i = 0; i < table_row_count(table_of(p, PHASES_SAMPLES)); i++)
            wrong += row_in(p, PHASES_SAMPLES, i, "ended") != usual_end(p, begun_by(p, PHASES_SAMPLES, i));
        for (uint32_t i = 0; i < table_row_count(table_of(p, PHASES_PLACES)); i++)
            wrong += row_in(p, PHASES_PLACES, i, "ended") != usual_end(p, begun_by(p, PHASES_PLACES, i)) ||
                     !same_number(number_in(p, PHASES_PLACES, i, "share"), share_of(p, i));
        hpcprof_free(p);
    }
    CHECK_INT(wrong, 0);
}

static void test_no_barriers(void)
{
    struct hpcprof *p = hpcprof_create();
    struct err err = {0};
    add_samples(p);
    CHECK_INT(finished(p, &err), 0);
    CHECK_INT(p->tables.count, 0);
    hpcprof_free(p);
}

/* A table of this name from another tool. */
static void test_foreign_table(void)
{
    static const struct table_column columns[] = {{.name = "number", .type = TABLE_TEXT, .merge = TABLE_KEY}};
    static const struct table_decl foreign = {"barriers", NULL, NULL, columns, 1};
    struct hpcprof *p = hpcprof_create();
    struct table *t = NULL;
    struct err err = {0};
    struct phases_stuck *stuck;
    hpcprof_add_region(p, PHASES_REGION "1", 0);
    CHECK_INT(table_list_declare(&p->tables, &foreign, p->strings, &t, &err), 0);
    table_add(t, (union table_cell[]){text(p, "7")});
    add_samples(p);
    CHECK_INT(finished(p, &err), 0);
    CHECK_INT(stuck_in(p, &stuck), 0);
    phases_stuck_free(stuck, 0);
    hpcprof_free(p);
}

/* And of that of passages. */
static void test_foreign_passages(void)
{
    static const struct table_column columns[] = {{.name = "number", .type = TABLE_TEXT, .merge = TABLE_KEY}};
    static const struct table_decl foreign = {"passages", NULL, NULL, columns, 1};
    struct hpcprof *p = hpcprof_create();
    struct table *t = NULL;
    struct err err = {0};
    for (int i = 0; i < PHASES_RECORDED; i++)
        if (i != PHASES_PASSAGES)
            table_of(p, (enum phases_table)i);
    CHECK_INT(table_list_declare(&p->tables, &foreign, p->strings, &t, &err), 0);
    table_add(t, (union table_cell[]){text(p, "7")});
    CHECK_INT(finished(p, &err), -1);
    CHECK(strstr(err.msg, "passages"));
    hpcprof_free(p);
}

/* ---- missing threads --------------------------------------------------------------------------------------------- */

static void add_state(struct hpcprof *p, uint32_t thread, const char *state, uint64_t since, uint32_t barrier)
{
    table_add(
        table_of(p, PHASES_STATES),
        (union table_cell[]){
            {.row = thread}, text(p, state), {.count = since}, {.row = TABLE_NONE}, {.row = barrier}, {.count = 3}});
}

static void test_stuck(void)
{
    struct hpcprof *p = measured();
    uint32_t t[6];
    for (uint32_t i = 0; i < 5; i++)
        t[i] = add_thread(p, "a", i ? -1 : 0, i);
    t[5] = add_thread(p, "a", 1, 0);
    uint32_t b = add_barrier(p, "omp barrier", 1, NULL), later = add_barrier(p, "MPI_Barrier", 2, NULL);
    for (uint32_t i = 0; i < 4; i++)
        table_add(table_of(p, PHASES_THREADS),
                  (union table_cell[ARRAY_SIZE(phases_thread_columns)]){{.row = b}, {.row = t[i]}, {.count = 7}});
    p->threads[t[3]].end_ns = 5; /* it has ended: it is no longer waited for */
    add_state(p, t[1], "at barrier", 50, b);
    add_state(p, t[0], "at barrier", 40, b);
    add_state(p, t[2], "running", 10, b);
    add_state(p, t[3], "running", 10, b);
    add_state(p, t[4], "running", 10, TABLE_NONE); /* it never arrived there */
    add_state(p, t[5], "at barrier", 20, later);
    struct phases_stuck *list;
    size_t n = stuck_in(p, &list);
    CHECK_INT(n, 2);
    if (n == 2) {
        CHECK_INT(list[0].barrier, later); /* the longest wait is first */
        CHECK_INT(list[1].barrier, b);
        CHECK_INT(list[1].since, 40);
        CHECK_INT(list[1].arrived_count, 2);
        CHECK_NAMED(list[1].arrived_count == 2 && list[1].arrived[0] == 1 && list[1].arrived[1] == 0,
                    "who has arrived, in the order of threads");
        CHECK_NAMED(list[1].missing_count == 1 && list[1].missing[0] == 2,
                    "missing: who came the times before, and lives");
    }
    phases_stuck_free(list, n);
    hpcprof_free(p);
}

/* Threads are letters; "a.": it has ended, "a!": its process has. Blanks separate processes. States: b, c at barrier b
   or c (since 10 times the following number), r running, j at a join, p between parallel regions. */
static void test_who_is_missing(void)
{
    static const struct {
        const char *name, *threads, *states, *been_there, *kinds[2], *want;
    } cases[] = {
        {"nobody waits", "ab", "a:r b:r", "", {"omp barrier", "omp for"}, ""},
        {"one is missing", "abc", "a:b5 b:r c:b4", "", {"omp barrier", "omp for"}, "b40 ac-b"},
        {"all have come", "ab", "a:b5 b:b4", "", {"omp barrier", "omp for"}, "b40 ab-"},
        {"who was never there is not waited for", "abc", "a:b5 b:r c:r", "bb", {"omp barrier", "omp for"}, "b50 a-b"},
        {"nor who has ended", "ab.c", "a:b5 b:r c:r", "", {"omp barrier", "omp for"}, "b50 a-c"},
        {"nor whose process has", "a b!", "a:b5 b:r", "", {"MPI_Barrier", "omp for"}, "b50 a-"},
        {"nor who is between regions", "abc", "a:b5 b:p c:j", "", {"omp barrier", "omp for"}, "b50 a-"},
        {"who is at a join is, if it was there", "abc", "a:b5 b:p c:j", "bb.bc", {"omp barrier", "omp for"}, "b50 a-c"},
        {"who has ended waits no more", "a.b", "a:b5 b:r", "", {"omp barrier", "omp for"}, ""},
        {"threads meet in their process",
         "ab cd",
         "a:b5 b:r c:b3 d:r",
         "",
         {"omp barrier", "omp for"},
         "b30 c-d b50 a-b"},
        {"threads of several processes at one time",
         "ab cd ef",
         "c:b5 d:r a:b5 b:r e:b5 f:r",
         "",
         {"omp barrier", "omp for"},
         "b50 c-d b50 a-b b50 e-f"},
        {"the first thread's row decides",
         "ab cd",
         "b:b5 c:b5 a:b5 d:r",
         "",
         {"omp barrier", "omp for"},
         "b50 c-d b50 ab-"},
        {"whichever came first", "ab cd", "b:b5 d:b5 a:b5 c:b5", "", {"omp barrier", "omp for"}, "b50 ab- b50 cd-"},
        {"ranks over processes", "a b c", "a:b5 b:r c:b3", "", {"MPI_Barrier", "omp for"}, "b30 ac-b"},
        {"but not other threads of a rank", "a bc d", "a:b5 b:r c:r d:b3", "", {"MPI_Barrier", "omp for"}, "b30 ad-b"},
        {"two barriers, by the longer wait",
         "abcd",
         "a:b5 b:c2 c:r d:c7",
         "",
         {"omp barrier", "omp for"},
         "c20 bd-ac b50 a-bcd"},
        {"of one time, by barrier", "abc", "b:c5 a:b5 c:r", "", {"omp barrier", "omp for"}, "b50 a-bc c50 b-ac"},
        {"a barrier that is not there", "ab", "a:d5 b:r", "", {"omp barrier", "omp for"}, ""},
        {"in the order of threads", "abcde", "e:b1 c:b9 d:b3 a:b2 b:r", "", {"omp barrier", "omp for"}, "b10 acde-b"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct hpcprof *p = measured();
        struct buf got = {0};
        struct phases_stuck *list;
        uint32_t number = 0;
        for (const char *c = cases[i].threads; *c; c++)
            if (*c == ' ')
                number = 0;
            else if (*c == '.')
                p->threads[p->thread_count - 1].end_ns = 5;
            else if (*c == '!')
                p->processes[p->process_count - 1].end_ns = 5;
            else
                add_thread(p, "a", 0, number++);
        for (uint32_t b = 0; b < 2; b++)
            add_barrier(p, cases[i].kinds[b], b + 1, NULL);
        for (const char *c = cases[i].been_there; *c; c += 2 + (c[2] == '.'))
            table_add(table_of(p, PHASES_THREADS),
                      (union table_cell[ARRAY_SIZE(phases_thread_columns)]){{.row = (uint32_t)(c[0] - 'b')},
                                                                            {.row = (uint32_t)(c[1] - 'a')}});
        for (const char *c = cases[i].states; *c; c += strcspn(c, " "), c += *c == ' ') {
            bool waits = c[2] >= 'b' && c[2] <= 'd';
            add_state(p, (uint32_t)(c[0] - 'a'),
                      waits         ? "at barrier"
                      : c[2] == 'r' ? "running"
                      : c[2] == 'j' ? "join"
                                    : "between parallel regions",
                      waits ? 10u * (uint64_t)(c[3] - '0') : 1, waits ? (uint32_t)(c[2] - 'b') : TABLE_NONE);
        }
        size_t n = stuck_in(p, &list);
        buf_str(&got, "");
        for (size_t k = 0; k < n; k++) {
            const struct table *t = table_of(p, PHASES_STATES);
            buf_printf(&got, "%s%c%llu ", k ? " " : "", 'b' + (int)list[k].barrier, (unsigned long long)list[k].since);
            for (size_t a = 0; a < list[k].arrived_count; a++)
                buf_char(&got, (char)('a' + table_row(t, list[k].arrived[a])[0].row));
            buf_char(&got, '-');
            for (size_t m = 0; m < list[k].missing_count; m++)
                buf_char(&got, (char)('a' + table_row(t, list[k].missing[m])[0].row));
        }
        tap_str(got.bytes, cases[i].want, cases[i].name, __FILE__, __LINE__);
        buf_release(&got);
        phases_stuck_free(list, n);
        hpcprof_free(p);
    }
}

/* A table from another tool may list a thread twice: row order applies. */
static void test_thread_twice(void)
{
    static const struct table_column columns[] = {
        {.name = "barrier", .type = TABLE_REF, .refers = "barriers", .merge = TABLE_LAST},
        {.name = "since", .type = TABLE_TIME, .merge = TABLE_LAST},
        {.name = "state", .type = TABLE_TEXT, .merge = TABLE_LAST},
        {.name = "thread", .type = TABLE_REF, .refers = "thread", .merge = TABLE_LAST},
    };
    static const struct table_decl foreign = {"thread_states", NULL, NULL, columns, ARRAY_SIZE(columns)};
    static const uint32_t threads[] = {1, 0, 1, 0}, want[] = {1, 3, 0, 2};
    struct hpcprof *p = hpcprof_create();
    struct table *t = NULL;
    struct phases_stuck *list;
    struct err err = {0};
    for (uint32_t i = 0; i < 2; i++)
        add_thread(p, "a", 0, i);
    add_barrier(p, "omp barrier", 1, NULL);
    table_of(p, PHASES_THREADS);
    CHECK_INT(table_list_declare(&p->tables, &foreign, p->strings, &t, &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        table_add(t, (union table_cell[]){{.row = 0}, {.count = 9 - i}, text(p, "at barrier"), {.row = threads[i]}});
    size_t n = stuck_in(p, &list);
    if (CHECK_INT(n, 1) && CHECK_INT(list->arrived_count, ARRAY_SIZE(want))) {
        CHECK(memcmp(list->arrived, want, sizeof want) == 0);
        CHECK_INT(list->since, 6);
        CHECK_INT(list->missing_count, 0);
    }
    phases_stuck_free(list, n);
    hpcprof_free(p);
}

/* Random states, compared with the definition: threads at a barrier wait together if they are of one process, or are
   ranks. */
enum { WAITING = 3 };

struct crowd {
    struct hpcprof *p;
    size_t n; /* of threads, also of those that have a state */
    bool ranks[WAITING];
    struct {
        uint32_t thread, barrier, process;
        uint64_t since;
        const char *state;
        bool lives;
    } is[8];
    bool been_there[WAITING][8], somebody[WAITING];
};

static void draw_crowd(struct crowd *c)
{
    static const char *const states[] = {"at barrier", "at barrier",    "running", "join", "between parallel regions",
                                         "at barrier", "at barrier too"};
    static const char *const kinds[2][WAITING] = {{"omp", "MPI", "xMPI_Barrier"}, {"MPI_A", "MPI_B", "MPI_"}};
    size_t threads = 1 + random_below(7);
    *c = (struct crowd){.p = measured(), .n = threads + random_below(2)};
    for (uint32_t i = 0; i < threads; i++)
        add_thread(c->p, "a", -1, i ? (uint32_t)random_below(2) : 0);
    for (size_t i = 0; i < threads; i++)
        c->p->threads[i].end_ns = !random_below(6);
    for (size_t i = 0; i < c->p->process_count; i++)
        c->p->processes[i].end_ns = !random_below(6);
    for (uint32_t b = 0; b < WAITING; b++) {
        c->ranks[b] = random_below(2);
        add_barrier(c->p, kinds[c->ranks[b]][b], b + 1, NULL);
        c->somebody[b] = false;
        for (uint32_t i = 0; i < threads && b != 1; i++) /* no thread was ever at the second */
            if (!random_below(2)) {
                c->been_there[b][i] = c->somebody[b] = true;
                table_add(table_of(c->p, PHASES_THREADS),
                          (union table_cell[ARRAY_SIZE(phases_thread_columns)]){{.row = b}, {.row = i}});
            }
    }
    for (size_t first = random_below(c->n), i = 0; i < c->n; i++) { /* rows in another order than threads */
        uint32_t thread = (uint32_t)((first + i * (c->n > 2 && c->n % 2 ? 2 : 1)) % c->n);
        bool there = thread < threads;
        c->is[i].thread = thread;
        c->is[i].barrier = drawn_row(WAITING);
        c->is[i].since = 1 + random_below(4);
        c->is[i].state = states[random_below(ARRAY_SIZE(states))];
        c->is[i].process = there ? c->p->threads[thread].process : UINT32_MAX;
        c->is[i].lives = there && c->p->threads[thread].end_ns == 0 && c->p->processes[c->is[i].process].end_ns == 0;
        add_state(c->p, thread, c->is[i].state, c->is[i].since, c->is[i].barrier);
    }
}

static bool waits_in(const struct crowd *c, size_t i, uint32_t barrier, uint32_t process)
{
    return c->is[i].lives && c->is[i].barrier == barrier && strcmp(c->is[i].state, "at barrier") == 0 &&
           (c->ranks[barrier] || c->is[i].process == process);
}

static bool is_waited_for(const struct crowd *c, size_t i, uint32_t barrier, uint32_t process)
{
    if (!c->is[i].lives || waits_in(c, i, barrier, process) || (!c->ranks[barrier] && c->is[i].process != process) ||
        strcmp(c->is[i].state, "between parallel regions") == 0)
        return false;
    if (c->somebody[barrier])
        return c->been_there[barrier][c->is[i].thread];
    return strcmp(c->is[i].state, "join") != 0 && !(c->ranks[barrier] && c->p->threads[c->is[i].thread].number);
}

struct waiting {
    uint64_t order; /* start of the wait, barrier, row of the first thread */
    char words[80];
};

static int by_order(const void *left, const void *right)
{
    const struct waiting *a = left, *b = right;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void say(char *to, size_t room, uint32_t barrier, uint64_t since)
{
    snprintf(to, room, "%u since %u:", barrier, (unsigned)since);
}

static void say_row(char *to, size_t room, char sign, uint32_t row)
{
    size_t n = strlen(to);
    snprintf(to + n, room - n, " %c%u", sign, row);
}

static size_t plainly_stuck(const struct crowd *c, struct waiting list[WAITING * 8])
{
    size_t count = 0;
    for (uint32_t barrier = 0; barrier < WAITING; barrier++)
        for (uint32_t process = 0; process < (c->ranks[barrier] ? 1 : c->p->process_count); process++) {
            uint64_t since = UINT64_MAX;
            uint32_t rows[8], n = 0;
            for (uint32_t thread = 0; thread < c->n; thread++)
                for (uint32_t i = 0; i < c->n; i++)
                    if (c->is[i].thread == thread && waits_in(c, i, barrier, process)) {
                        rows[n++] = i;
                        since = c->is[i].since < since ? c->is[i].since : since;
                    }
            if (n == 0)
                continue;
            struct waiting *w = &list[count++];
            w->order = (since * WAITING + barrier) * 8 + rows[0];
            say(w->words, sizeof w->words, barrier, since);
            for (uint32_t i = 0; i < n; i++)
                say_row(w->words, sizeof w->words, '+', rows[i]);
            for (uint32_t i = 0; i < c->n; i++)
                if (is_waited_for(c, i, barrier, process))
                    say_row(w->words, sizeof w->words, '-', i);
        }
    qsort(list, count, sizeof *list, by_order);
    return count;
}

static void test_drawn_crowds(void)
{
    unsigned wrong = 0;
    for (int round = 0; round < 1500; round++) {
        struct crowd c;
        struct waiting want[WAITING * 8];
        struct phases_stuck *got;
        draw_crowd(&c);
        size_t n = stuck_in(c.p, &got);
        wrong += n != plainly_stuck(&c, want);
        for (size_t i = 0; i < n && !wrong; i++) {
            char words[sizeof want->words];
            say(words, sizeof words, got[i].barrier, got[i].since);
            for (size_t k = 0; k < got[i].arrived_count; k++)
                say_row(words, sizeof words, '+', got[i].arrived[k]);
            for (size_t k = 0; k < got[i].missing_count; k++)
                say_row(words, sizeof words, '-', got[i].missing[k]);
            if (strcmp(words, want[i].words) != 0) {
                printf("# %s, not %s\n", words, want[i].words);
                wrong++;
            }
        }
        phases_stuck_free(got, n);
        hpcprof_free(c.p);
    }
    CHECK_INT(wrong, 0);
}

/* ---- runs side by side -------------------------------------------------------------------------------------------- */

static void test_compare(void)
{
    static const struct table_column columns[] = {
        {.name = "run", .type = TABLE_REF, .refers = "run", .merge = TABLE_KEY},
        {.name = "place", .type = TABLE_REF, .refers = "place", .merge = TABLE_KEY},
        {.name = "kind", .type = TABLE_TEXT, .merge = TABLE_KEY},
        {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
        {.name = "threads", .type = TABLE_COUNT, .merge = TABLE_LAST},
        {.name = "phase", .type = TABLE_COUNT, .merge = TABLE_LAST},
        {.name = "barrier", .type = TABLE_COUNT, .merge = TABLE_LAST},
        {.name = "imbalance", .type = TABLE_NUMBER, .merge = TABLE_LAST},
    };
    static const struct {
        uint32_t run, place;
        const char *kind, *name;
        uint64_t threads, phase, barrier;
        double imbalance;
    } rows[] = {
        {0, 5, "omp", "", 2, 100, 10, 1.5}, {0, 6, "omp", "", 2, 0, 20, 2.5},     {0, 5, "pthread", "", 3, 40, 4, 0},
        {0, 5, "omp", "b", 4, 50, 5, 0},    {1, 5, "omp", "", 8, 50, 11, 3.5},    {1, 6, "omp", "", 9, 70, 21, 4.5},
        {1, 7, "omp", "", 7, 7, 7, 7},      {2, 5, "omp", "b", 16, 150, 12, 5.5}, {2, 5, "pthread", "", 1, 10, 1, 0},
    };
    static const struct {
        size_t base, row; /* of the above */
        double growth;
    } want[] = {{0, 4, 0.5}, {1, 5, NAN}, {3, 7, 3}, {2, 8, 0.25}};
    for (size_t left_out = 0; left_out <= ARRAY_SIZE(columns); left_out++) {
        struct table_column there[ARRAY_SIZE(columns)];
        size_t n = 0;
        for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
            if (i + 1 != left_out)
                there[n++] = columns[i];
        struct table_decl decl = {"barriers", "Barriers", NULL, there, n};
        struct table_list tables = {0};
        struct strtab *strings = strtab_create();
        struct table *t = NULL;
        struct err err = {0};
        phases_compare(&tables, strings);
        CHECK(!table_list_find(&tables, "barriers_compared")); /* empty input gives no table */
        CHECK_INT(table_list_declare(&tables, &decl, strings, &t, &err), 0);
        for (size_t i = 0; i < ARRAY_SIZE(rows) && left_out == 0; i++)
            table_add(t, (union table_cell[]){{.row = rows[i].run},
                                              {.row = rows[i].place},
                                              {.text = strtab_add(strings, rows[i].kind)},
                                              {.text = strtab_add(strings, rows[i].name)},
                                              {.count = rows[i].threads},
                                              {.count = rows[i].phase},
                                              {.count = rows[i].barrier},
                                              {.number = rows[i].imbalance}});
        phases_compare(&tables, strings);
        const struct table *c = table_list_find(&tables, "barriers_compared");
        CHECK_NAMED(!c == (left_out > 0), "nothing where a column is missing");
        for (size_t i = 0; c && i < ARRAY_SIZE(want) && table_row_count(c) == ARRAY_SIZE(want); i++) {
            const union table_cell *got = table_row(c, (uint32_t)i);
            size_t a = want[i].base, b = want[i].row;
            CHECK_INT(got[0].row, rows[b].place);
            CHECK_STR(strtab_get(strings, got[1].text), rows[b].kind);
            CHECK_STR(strtab_get(strings, got[2].text), rows[b].name);
            CHECK_INT(got[3].row, rows[a].run);
            CHECK_INT(got[4].row, rows[b].run);
            CHECK_INT(got[5].count, rows[a].threads);
            CHECK_INT(got[6].count, rows[b].threads);
            CHECK_INT(got[7].count, rows[a].phase);
            CHECK_INT(got[8].count, rows[b].phase);
            CHECK_INT(got[9].count, rows[a].barrier);
            CHECK_INT(got[10].count, rows[b].barrier);
            CHECK(got[11].number == rows[a].imbalance && got[12].number == rows[b].imbalance);
            CHECK(isnan(want[i].growth) ? isnan(got[13].number) : got[13].number == want[i].growth);
        }
        CHECK_INT(c ? table_row_count(c) : 0, left_out ? 0 : ARRAY_SIZE(want));
        table_list_release(&tables);
        strtab_free(strings);
    }
}

/* Each row is paired with the first one with the same place, kind and name; if both rows have the same hash, the later
   one is unpaired. */
static void test_drawn_runs(void)
{
    static const struct table_column columns[] = {
        {.name = "imbalance", .type = TABLE_NUMBER, .merge = TABLE_LAST},
        {.name = "phase", .type = TABLE_COUNT, .merge = TABLE_LAST},
        {.name = "barrier", .type = TABLE_COUNT, .merge = TABLE_LAST},
        {.name = "threads", .type = TABLE_COUNT, .merge = TABLE_LAST},
        {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
        {.name = "kind", .type = TABLE_TEXT, .merge = TABLE_KEY},
        {.name = "place", .type = TABLE_REF, .refers = "place", .merge = TABLE_KEY},
        {.name = "run", .type = TABLE_REF, .refers = "run", .merge = TABLE_KEY},
    };
    static const struct table_decl decl = {"barriers", NULL, NULL, columns, ARRAY_SIZE(columns)};
    static const char *const texts[] = {"a", "b"};
    unsigned wrong = 0;
    for (int round = 0; round < 200; round++) {
        struct table_list tables = {0};
        struct strtab *strings = strtab_create();
        struct table *t = NULL;
        struct err err = {0};
        wrong += table_list_declare(&tables, &decl, strings, &t, &err) != 0;
        for (uint32_t run = 0; run < 4; run++)
            for (uint64_t i = random_below(5); i > 0; i--)
                table_add(t, (union table_cell[]){{.number = (double)random_below(9)},
                                                  {.count = random_below(5)},
                                                  {.count = random_below(5)},
                                                  {.count = random_below(5)},
                                                  {.text = strtab_add(strings, texts[random_below(2)])},
                                                  {.text = strtab_add(strings, texts[random_below(2)])},
                                                  {.row = (uint32_t)random_below(2)},
                                                  {.row = run}});
        hashes_collide = round % 2;
        phases_compare(&tables, strings);
        const struct table *c = table_list_find(&tables, "barriers_compared");
        uint32_t pairs = 0;
        for (uint32_t i = 0; i < table_row_count(t); i++) {
            const union table_cell *b = table_row(t, i), *a = NULL;
            for (uint32_t k = 0; k < (hashes_collide && i ? 1 : i) && !a; k++) {
                const union table_cell *before = table_row(t, k);
                a = before[4].text == b[4].text && before[5].text == b[5].text && before[6].row == b[6].row ? before
                                                                                                            : NULL;
            }
            if (!a)
                continue;
            const union table_cell *got = table_row(c, pairs++);
            double growth = a[1].count ? (double)b[1].count / (double)a[1].count : (double)NAN;
            wrong += got[0].row != b[6].row || got[1].text != b[5].text || got[2].text != b[4].text ||
                     got[3].row != a[7].row || got[4].row != b[7].row || got[5].count != a[3].count ||
                     got[6].count != b[3].count || got[7].count != a[1].count || got[8].count != b[1].count ||
                     got[9].count != a[2].count || got[10].count != b[2].count || got[11].number != a[0].number ||
                     got[12].number != b[0].number || !same_number(got[13].number, growth);
        }
        wrong += pairs != table_row_count(c);
        hashes_collide = false;
        table_list_release(&tables);
        strtab_free(strings);
    }
    CHECK_INT(wrong, 0);
}

static void test_all(void)
{
    test_ranks();
    test_hosts();
    test_missing_rank();
    test_one_episode();
    test_wrong_passages();
    check_many_ranks(0);
    check_many_ranks(86400ull * 1000 * MS);
    test_groups();
    test_from_group_to_group();
    test_barrier_times();
    test_alone();
    test_most_ranks();
    test_threads_beside_ranks();
    test_odd_times();
    test_derived();
    test_samples();
    test_no_phase_ended();
    test_regions();
    test_squares();
    test_equals();
    test_foreign_others();
    test_tables_of_samples();
    test_foreign_squares();
    test_drawn_numbers();
    test_no_barriers();
    test_foreign_table();
    test_foreign_passages();
    test_stuck();
    test_who_is_missing();
    test_thread_twice();
    test_drawn_crowds();
    test_compare();
    test_drawn_runs();
}

int main(void)
{
    RUN(test_all);
    begins_at_page = true;
    RUN(test_all);
    return tap_done();
}
