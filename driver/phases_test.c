/* SPDX-License-Identifier: BSD-3-Clause */
/* `hpcview phases` on random measurements: its exact output, against the contents of the measurements. */
#include "config.h"
#include "driver/driver.h"
#include "phases/phases.h"
#include "phases/tables.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int fake_clock(clockid_t, struct timespec *);
int fake_sleep(useconds_t);

enum { BARRIERS = 6, THREADS = 48, MODULE_BYTES = 16 };

struct barrier {
    uint64_t address, episodes, broken, threads, phase, barrier, idle, worst;
    const char *kind, *name;
};
struct waiter {
    uint32_t process, number, state, barrier, place; /* place 0: unknown */
    bool ended;
    unsigned since; /* tens of seconds ago; 0: in the future */
};
struct made {
    struct barrier barriers[BARRIERS];
    struct waiter threads[THREADS];
    unsigned barrier_count, thread_count, process_count;
    bool ranks, ended[2];
};

static const char *const states[] = {"at barrier", "running", "join", "between parallel regions"};
static const char *const kinds[] = {"pthread_barrier_wait", "omp barrier", "MPI_Barrier"};

static void draw_barriers(struct made *m)
{
    m->barrier_count = (unsigned)below(BARRIERS + 1);
    for (unsigned i = 0; i < m->barrier_count; i++) {
        struct barrier *b = &m->barriers[i];
        *b = (struct barrier){.address = 0x1000 + 16 * i,
                              .episodes = below(3) ? 1 + below(99) : 0,
                              .broken = below(2),
                              .threads = below(5),
                              .phase = below(4) ? below(4) * 1500000 : TABLE_NO_COUNT,
                              .barrier = below(3) * 250000,
                              .idle = below(5) * 1000000,
                              .worst = below(9) * 1000000,
                              .kind = kinds[below(3)],
                              .name = below(2) ? "step" : ""};
    }
}

static void draw_threads(struct made *m)
{
    m->process_count = 1 + (unsigned)below(2);
    m->ranks = below(2);
    for (unsigned p = 0; p < m->process_count; p++) {
        m->ended[p] = below(5) == 0;
        unsigned n = 1 + (unsigned)(below(2) ? below(4) : below(24));
        bool crowd = below(2); /* at one barrier */
        for (unsigned t = 0; t < n; t++) {
            uint32_t barrier = m->barrier_count ? (uint32_t)below(crowd ? 1 : m->barrier_count) : TABLE_NONE;
            m->threads[m->thread_count] = (struct waiter){.process = p,
                                                          .number = t,
                                                          .state = (uint32_t)(crowd && below(9) ? 0 : below(4)),
                                                          .barrier = barrier,
                                                          .place = (uint32_t)below(3),
                                                          .ended = below(9) == 0,
                                                          .since = below(9) ? 1 + m->thread_count : 0};
            m->thread_count++;
        }
    }
}

/* ---- the measurement ---------------------------------------------------------------------------------------------- */

static struct table *table_of(struct hpcprof *p, enum phases_table which)
{
    struct table *t = NULL;
    struct err err = {0};
    if (table_list_declare(&p->tables, &phases_tables[which], p->strings, &t, &err) < 0)
        printf("# %s\n", err.msg);
    return t;
}

static uint32_t context_at(struct hpcprof *p, uint64_t address)
{
    struct hpcprof_context c = {
        .parent = HPCPROF_NO_PARENT, .module = hpcprof_add_module(p, "/nowhere/prog", ""), .address = address};
    return hpcprof_add_context(p, &c);
}

static void put(struct table *t, union table_cell *cells, const char *column, uint64_t count)
{
    cells[table_column_of(t, column)].count = count;
}

static void add_barrier(struct hpcprof *p, const struct barrier *b, uint64_t number)
{
    struct table *t = table_of(p, PHASES_BARRIERS);
    union table_cell cells[ARRAY_SIZE(phases_barrier_columns)];
    for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
        cells[i] = phases_barrier_columns[i].type == TABLE_NUMBER ? (union table_cell){.number = 0}
                   : phases_barrier_columns[i].type == TABLE_REF  ? (union table_cell){.row = TABLE_NONE}
                                                                  : (union table_cell){.count = 0};
    cells[table_column_of(t, "place")].row = context_at(p, b->address);
    cells[table_column_of(t, "kind")].text = strtab_add(p->strings, b->kind);
    cells[table_column_of(t, "name")].text = strtab_add(p->strings, b->name);
    put(t, cells, "number", number);
    put(t, cells, "episodes", b->episodes);
    put(t, cells, "broken", b->broken);
    put(t, cells, "threads", b->threads);
    put(t, cells, "phase", b->phase);
    put(t, cells, "barrier", b->barrier);
    put(t, cells, "idle", b->idle);
    put(t, cells, "worst", b->worst);
    table_add(t, cells);
}

/* The time of day is fixed, so that the test's own duration does not matter. */
enum { NOW_SECONDS = 1700000000 };

int fake_clock(clockid_t clock, struct timespec *t)
{
    *t = (struct timespec){NOW_SECONDS, 123456789};
    return clock == CLOCK_REALTIME ? 0 : -1;
}

static uint64_t slept; /* microseconds */

int fake_sleep(useconds_t n)
{
    slept += n;
    return 0;
}

static uint64_t time_of(unsigned since)
{
    uint64_t now = (uint64_t)NOW_SECONDS * 1000000000 + 123456789;
    return since ? now - (uint64_t)since * 10000000000 : now + 3600000000000;
}

static void add_threads(struct hpcprof *p, const struct made *m)
{
    uint32_t before = UINT32_MAX;
    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct waiter *w = &m->threads[i];
        if (w->process != before)
            hpcprof_add_process(p, &(struct hpcprof_process){.rank = m->ranks ? (int32_t)w->process : -1,
                                                             .pid = 100 + w->process,
                                                             .start_ns = 5,
                                                             .end_ns = m->ended[w->process] ? 9 : 0,
                                                             .exit_status = -1});
        before = w->process;
        uint32_t thread = hpcprof_add_thread(
            p, &(struct hpcprof_thread){
                   .process = w->process, .number = w->number, .start_ns = 5, .end_ns = w->ended ? 9 : 0});
        table_add(table_of(p, PHASES_STATES),
                  (union table_cell[]){{.row = thread},
                                       {.text = strtab_add(p->strings, states[w->state])},
                                       {.count = time_of(w->since)},
                                       {.row = w->place ? context_at(p, 0x9000 + w->place) : TABLE_NONE},
                                       {.row = w->barrier},
                                       {.count = 1}});
    }
}

static char *write_measurement(const struct made *m, bool with_barriers)
{
    struct hpcprof *p = hpcprof_create();
    struct outfile *f;
    struct err err = {0};
    char *path = mem_printf("%s/phases_test.%d.hpcprof", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    for (int i = 0; with_barriers && i < PHASES_RECORDED; i++)
        table_of(p, (enum phases_table)i);
    for (unsigned i = 0; i < m->barrier_count; i++)
        add_barrier(p, &m->barriers[i], i + 1);
    if (with_barriers)
        add_threads(p, m);
    else
        hpcprof_add_process(
            p, &(struct hpcprof_process){.rank = -1, .pid = 1, .start_ns = 5, .end_ns = m->ended[0] ? 9 : 0});
    hpcprof_finish(p);
    if (outfile_create(path, &f, &err) < 0 || hpcprof_write(p, f, &err) < 0 || outfile_commit(f, &err) < 0)
        printf("# %s\n", err.msg);
    hpcprof_free(p);
    return path;
}

/* ---- expected messages ------------------------------------------------------------------------------------------- */

static double ms(uint64_t ns)
{
    return ns == TABLE_NO_COUNT ? 0 : (double)ns / 1e6;
}

static void say_barrier(FILE *out, const struct barrier *b)
{
    fprintf(out, "%s%sprog+0x%" PRIx64 " (%s)", b->name, *b->name ? " at " : "", b->address, b->kind);
}

static void say_table(FILE *out, const struct made *m)
{
    bool said[BARRIERS] = {false};
    fprintf(out, "  episodes     phase ms   barrier ms  of phase  imbalance   longest ms  ended by\n");
    for (unsigned i = 0; i < m->barrier_count; i++) {
        unsigned next = BARRIERS; /* the longest phases first; unknown ones before all others */
        for (unsigned k = 0; k < m->barrier_count; k++)
            if (!said[k] && (next == BARRIERS || m->barriers[k].phase > m->barriers[next].phase))
                next = k;
        const struct barrier *b = &m->barriers[next];
        said[next] = true;
        if (!b->episodes && !b->broken)
            continue;
        double phase = ms(b->phase), threads = (double)b->threads;
        fprintf(out, "%10" PRIu64 " %12.3f %12.3f %8.1f%% %9.1f%% %12.3f  ", b->episodes, phase, ms(b->barrier),
                phase > 0 ? ms(b->barrier) / phase * 100 : 0,
                phase > 0 && threads > 0 ? ms(b->idle) / phase / threads * 100 : 0, ms(b->worst));
        say_barrier(out, b);
        fputc('\n', out);
    }
}

static void say_thread(FILE *out, const struct made *m, unsigned i)
{
    const struct waiter *w = &m->threads[i];
    if (m->ranks)
        fprintf(out, "rank %u ", w->process);
    else if (m->process_count > 1)
        fprintf(out, "process %u ", 100 + w->process);
    fprintf(out, "thread %u", w->number);
}

static bool is_alive(const struct made *m, unsigned i)
{
    return !m->threads[i].ended && !m->ended[m->threads[i].process];
}

static bool is_mpi(const struct made *m, unsigned barrier)
{
    return strncmp(m->barriers[barrier].kind, "MPI_", 4) == 0;
}

static bool waits_at(const struct made *m, unsigned i, unsigned barrier, unsigned process)
{
    const struct waiter *w = &m->threads[i];
    return is_alive(m, i) && w->state == 0 && w->barrier == barrier && (is_mpi(m, barrier) || w->process == process);
}

static double seconds_ago(const struct made *m, unsigned barrier, unsigned process)
{
    double longest = 0;
    for (unsigned i = 0; i < m->thread_count; i++)
        if (waits_at(m, i, barrier, process) && m->threads[i].since * 10.0 > longest)
            longest = m->threads[i].since * 10.0;
    return longest;
}

static void say_stuck(FILE *out, const struct made *m, unsigned barrier, unsigned process)
{
    unsigned arrived[THREADS], missing[THREADS], come = 0, gone = 0;
    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct waiter *w = &m->threads[i];
        if (waits_at(m, i, barrier, process))
            arrived[come++] = i;
        else if (is_alive(m, i) && w->state < 2 && (is_mpi(m, barrier) ? w->number == 0 : w->process == process))
            missing[gone++] = i;
    }
    fprintf(out, "%.1f s at ", seconds_ago(m, barrier, process));
    say_barrier(out, &m->barriers[barrier]);
    fprintf(out, ": %u arrived, %u missing\n    arrived:", come, gone);
    for (unsigned i = 0; i < come && i < 16; i++) {
        fprintf(out, i ? ", " : " ");
        say_thread(out, m, arrived[i]);
    }
    fprintf(out, come > 16 ? ", ...\n" : "\n");
    for (unsigned i = 0; i < gone && i < 16; i++) {
        fprintf(out, "    missing: ");
        say_thread(out, m, missing[i]);
        fprintf(out, ", %s", states[m->threads[missing[i]].state]);
        if (m->threads[missing[i]].place)
            fprintf(out, ", last seen at prog+0x%x", 0x9000 + m->threads[missing[i]].place);
        fputc('\n', out);
    }
}

static bool is_running(const struct made *m)
{
    return !m->ended[0] || (m->process_count > 1 && !m->ended[1]);
}

/* The longest wait is printed first. */
static void say_now(FILE *out, const struct made *m)
{
    struct {
        unsigned barrier, process;
        double ago;
    } all[2 * BARRIERS], swap;
    unsigned n = 0;
    for (unsigned b = 0; b < m->barrier_count; b++)
        for (unsigned p = 0; p < (is_mpi(m, b) ? 1 : m->process_count); p++)
            for (unsigned i = 0; i < m->thread_count; i++)
                if (waits_at(m, i, b, p)) {
                    all[n].barrier = b;
                    all[n].process = p;
                    all[n++].ago = seconds_ago(m, b, p);
                    break;
                }
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = i; k > 0 && all[k].ago > all[k - 1].ago; k--) {
            swap = all[k];
            all[k] = all[k - 1];
            all[k - 1] = swap;
        }
    for (unsigned i = 0; i < n; i++)
        say_stuck(out, m, all[i].barrier, all[i].process);
    if (n == 0 && is_running(m))
        fprintf(out, "no thread waits at a barrier\n");
}

/* ---- the command ------------------------------------------------------------------------------------------------------------- */

/* Its output, and the error message if it fails. The caller frees it. */
static char *phases(struct session *s, int argc, char **argv, int *status)
{
    FILE *file = tmpfile();
    fflush(stdout);
    int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    *status = command_phases.run(s, argc, argv);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    long n = lseek(fileno(file), 0, SEEK_END);
    char *text = mem_calloc((size_t)n + 1, 1);
    if (pread(fileno(file), text, (size_t)n, 0) != n)
        printf("# cannot be read\n");
    fclose(file);
    return text;
}

static void parse(char **words)
{
    int n = 0;
    bool help;
    struct err err = {0};
    while (words[n])
        n++;
    CHECK_INT(options_parse(&command_phases, &n, words, &help, &err), 0);
}

/* This many looks at one measurement, separated by a line. */
static char *wanted_text(const struct made *m, unsigned looks)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (unsigned i = 0; i < looks; i++) {
        if (i)
            fputc('\n', out);
        say_table(out, m);
        say_now(out, m);
    }
    fclose(out);
    return text;
}

/* The time between two looks is given in microseconds. */
static void check_drawn(unsigned looks, uint64_t every)
{
    struct made m = {.process_count = 0};
    struct session s = {.warnings = warnings_create()};
    int status;
    draw_barriers(&m);
    draw_threads(&m);
    char *path = write_measurement(&m, true);
    slept = 0;
    char *got = phases(&s, 1, (char *[]){path, NULL}, &status), *wanted = wanted_text(&m, is_running(&m) ? looks : 1);
    CHECK_INT(status, 0);
    CHECK_STR(got, wanted);
    CHECK_INT(slept, is_running(&m) ? every * (looks - 1) : 0);
    unlink(path);
    mem_free(path);
    mem_free(got);
    free(wanted);
    warnings_free(s.warnings);
}

/* Without barriers it fails; but where the program runs on and is followed, they may come. */
static void check_without(bool ended, bool fails)
{
    struct made m = {.process_count = 1, .ended = {ended}};
    struct session s = {.warnings = warnings_create()};
    int status;
    char *path = write_measurement(&m, false),
         *said = mem_printf("%s: no barriers were measured; record with --phases", path);
    char *got = phases(&s, 1, (char *[]){path, NULL}, &status);
    CHECK_INT(status, fails ? -1 : 0);
    CHECK_STR(fails ? s.err.msg : said, said);
    CHECK_STR(got, fails ? "" : "\n\n");
    unlink(path);
    mem_free(got);
    got = phases(&s, 1, (char *[]){path, NULL}, &status); /* which is gone */
    CHECK_INT(status, -1);
    CHECK_STR(got, "");
    mem_free(got);
    mem_free(said);
    mem_free(path);
    warnings_free(s.warnings);
}

static void test_words(void)
{
    struct session s = {.warnings = warnings_create()};
    char a[] = "a", b[] = "b";
    for (int argc = 0; argc < 3; argc += 2) {
        int status;
        char *got = phases(&s, argc, (char *[]){a, b, NULL}, &status);
        CHECK_INT(status, -1);
        CHECK_STR(got, "");
        CHECK_STR(s.err.msg, "phases: usage: hpcview phases MEASUREMENT");
        mem_free(got);
    }
    warnings_free(s.warnings);
}

int main(void)
{
    RUN(test_words);
    check_without(true, true);
    check_without(false, true);
    for (int i = 0; i < 60; i++)
        check_drawn(1, 0);
    char follow[] = "--follow", times[] = "--times", three[] = "3", never[] = "--every=0", soon[] = "--every=0.001";
    parse((char *[]){follow, times, three, NULL});
    check_without(true, true);
    check_without(false, false);
    for (int i = 0; i < 5; i++)
        check_drawn(3, 1000000);
    parse((char *[]){never, NULL});
    for (int i = 0; i < 5; i++)
        check_drawn(3, 1000000);
    parse((char *[]){soon, NULL});
    for (int i = 0; i < 20; i++)
        check_drawn(3, 1000);
    return tap_done();
}
