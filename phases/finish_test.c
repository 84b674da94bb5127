/* What the whole measurement tells: ranks that meet, derived numbers, samples of phases, who is missing. Measurements are made
   here, row by row, as the recorder would have left them. */
#include "phases/phases.h"
#include "phases/tables.h"

#include "tests/tap.h"

#include <math.h>

enum { MS = 1000000 };

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

/* A row with nothing but what it is known by, and what is given as sums: episodes, threads, phase, barrier, idle. */
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
    /* what counts passages is what a recorder of ranks knows */
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
    CHECK_INT(phases_finish(p, &err), 0);
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
    /* who waited for whom: ranks 0 and 1 for 2, then 1 and 2 for 0; and each rank's arrival, behind the first's */
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

/* The third rank's clock is of another host: waiting times are all that is known, and all were let go at one time. */
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

/* An episode that a rank has no word of is none; what was kept stands for all there were. */
static void test_missing_rank(void)
{
    struct hpcprof *p = three_ranks("a", false);
    finish(p);
    CHECK_INT(table_row_count(table_of(p, PHASES_EPISODES)), 1);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "episodes"), 2);
    CHECK_INT(count_in(p, PHASES_BARRIERS, 0, "barrier"), 2 * 50 * MS);
    hpcprof_free(p);
}

static void test_wrong_passages(void)
{
    struct hpcprof *p = measured();
    add_thread(p, "a", 0, 0);
    add_passage(p, 5, 9, 8, 1, 0, (uint64_t[]){3, 2, 1});
    add_passage(p, TABLE_NONE, TABLE_NONE, TABLE_NONE, 1, 1, (uint64_t[]){TABLE_NO_COUNT, TABLE_NO_COUNT, 0});
    finish(p);
    CHECK_INT(table_row_count(table_of(p, PHASES_EPISODES)), 0);
    hpcprof_free(p);
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
    phases_add_samples(p);
    phases_add_samples(p); /* once is enough */
    finish(p);
    CHECK_INT(table_row_count(table_of(p, PHASES_SAMPLES)), 3);
    for (uint32_t row = 0; row < 3; row++) {
        uint32_t begun = row_in(p, PHASES_SAMPLES, row, "begun"), ended = row_in(p, PHASES_SAMPLES, row, "ended");
        /* after no barrier that is known: before the first one, and in a region whose barrier is not there */
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

static void test_no_barriers(void)
{
    struct hpcprof *p = hpcprof_create();
    struct err err = {0};
    phases_add_samples(p);
    CHECK_INT(phases_finish(p, &err), 0);
    CHECK_INT(p->tables.count, 0);
    hpcprof_free(p);
}

/* Somebody else's table of this name. */
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
    phases_add_samples(p);
    CHECK_INT(phases_finish(p, &err), 0);
    CHECK_INT(phases_stuck(p, &stuck), 0);
    phases_stuck_free(stuck, 0);
    hpcprof_free(p);
}

/* ---- who is missing -------------------------------------------------------------------------------------------------- */

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
    p->threads[t[3]].end_ns = 5; /* it has ended: nobody waits for it any more */
    add_state(p, t[1], "at barrier", 50, b);
    add_state(p, t[0], "at barrier", 40, b);
    add_state(p, t[2], "running", 10, b);
    add_state(p, t[3], "running", 10, b);
    add_state(p, t[4], "running", 10, TABLE_NONE); /* never came there */
    add_state(p, t[5], "at barrier", 20, later);
    struct phases_stuck *list;
    size_t n = phases_stuck(p, &list);
    CHECK_INT(n, 2);
    if (n == 2) {
        CHECK_INT(list[0].barrier, later); /* the longest wait comes first */
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
        CHECK(!table_list_find(&tables, "barriers_compared")); /* nothing of nothing */
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

int main(void)
{
    test_ranks();
    test_hosts();
    test_missing_rank();
    test_wrong_passages();
    test_derived();
    test_samples();
    test_no_barriers();
    test_foreign_table();
    test_stuck();
    test_compare();
    return tap_done();
}
