/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of barriers to an observer: exact lines, each notice once, a warning for threads that wait too long. */
#include "hpcprof/recorder/barriers/barriers.h"
#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/process/process.h"

#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

/* ---- the world ------------------------------------------------------------------------------------------------- */

struct recorder hpcrec;
struct phases hpcrec_phases;

enum { THREADS = 3 };

static uint64_t now = 5000000000;
static struct thread threads[THREADS];
static struct phases_thread phases_threads[THREADS - 1]; /* the last thread has none */
static int pipe_ends[2] = {-1, -1}, rank = -1;
static bool is_locked, is_refused, is_standard_input, has_joined[THREADS];
static const char *pipe_path = "/tmp/pipe", *module_path = "/bin/program\twith a tab";
static unsigned folded;

int fake_clock_gettime(clockid_t id, struct timespec *t)
{
    (void)id;
    *t = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    return 0;
}

int hpcrec_held(struct held *h, const char *path, int flags)
{
    CHECK_STR(path, pipe_path);
    CHECK_INT(flags, O_WRONLY | O_NONBLOCK);
    return h->fd = is_refused ? -1 : is_standard_input ? 0 : pipe_ends[1];
}

uint32_t hpcrec_maps_find(uint64_t pc, uint64_t *address)
{
    if (pc < 0x1000)
        return UINT32_MAX;
    *address = pc - 0x1000;
    return 1;
}

const char *hpcrec_string(uint32_t offset)
{
    return offset == 7 ? module_path : "";
}

int hpcrec_rank(void)
{
    return rank;
}

void hpcrec_threads_each(void (*f)(struct thread *, void *), void *ctx)
{
    for (uint32_t i = 0; i < THREADS; i++)
        f(&threads[i], ctx);
}

void phases_teams_fold(void)
{
    folded++;
}

bool phases_team_has_joined(const struct phases_thread *t)
{
    return has_joined[t - phases_threads];
}

bool phases_trylock(void)
{
    bool free = !is_locked;
    is_locked = true;
    return free;
}

void phases_unlock(void)
{
    is_locked = false;
}

const char *const phases_kind_words[] = {
#define X(name, words) words,
    SITE_KINDS(X)
#undef X
};

static struct site sites[4] = {
    {.pc = 0x2000, .kind = BARRIER_PTHREAD},
    {.pc = 0x3050, .kind = BARRIER_USER, .name = "with\ttabs\nand lines"},
    {.pc = 0, .kind = BARRIER_OMP},
    {.pc = 0x2000, .kind = WAIT_MUTEX},
};
static struct module_row modules[2] = {{0}, {.path = 7}};
static struct thread_row rows[THREADS] = {{.number = 1}, {.number = 2}, {.number = 9}};

static void begin_world(void)
{
    hpcrec_phases = (struct phases){.sites = sites, .on = true};
    hpcrec.modules = (struct area){modules, 2, 2, false};
    hpcrec.thread_rows = (struct area){rows, THREADS, THREADS, false};
    for (uint32_t i = 0; i < THREADS; i++) {
        threads[i].row = i;
        threads[i].phases = i + 1 < THREADS ? &phases_threads[i] : NULL;
    }
    CHECK(pipe2(pipe_ends, O_NONBLOCK) == 0);
}

/* All lines that were sent since. */
static const char *told(void)
{
    static char lines[8192];
    size_t n = 0;
    hpcrec_phases_notify();
    for (ssize_t got; (got = read(pipe_ends[0], lines + n, sizeof lines - 1 - n)) > 0;)
        n += (size_t)got;
    lines[n] = '\0';
    return lines;
}

static void add_notice(struct notice n)
{
    hpcrec_phases.notices[hpcrec_phases.notice_head++ % NOTICES] = n;
}

/* ---- notices ----------------------------------------------------------------------------------------------------- */

static void test_asked(void)
{
    add_notice((struct notice){.number = 1});
    CHECK_STR(told(), ""); /* no observer */
    snprintf(hpcrec.config.notify, sizeof hpcrec.config.notify, "/tmp/pipe");
    hpcrec_phases.on = false;
    CHECK_STR(told(), "");
    hpcrec_phases.on = true;
    is_refused = true;
    CHECK_STR(told(), "");
    CHECK_INT(hpcrec_phases.notice_tail, 0);
    CHECK_INT(folded, 0);
    is_refused = false;
    is_locked = true;
    CHECK_STR(told(), "");
    CHECK_INT(folded, 1); /* episodes that are over, first */
    is_locked = false;
    CHECK_STR(told(), "E\t0\tpthread_barrier_wait\t\t/bin/program with a tab\t4096\t1\t0\t0\t0\tthread 1\n");
    CHECK(!is_locked);
    CHECK_INT(hpcrec_phases.notice_tail, 1);
    CHECK_STR(told(), "");
}

static void test_notices(void)
{
    /* an episode; the last thread to arrive has no known row; a rank's passage */
    add_notice((struct notice){
        .number = 12, .begin = 100, .first = 150, .last = 450, .site = 1, .threads = 4, .last_row = 2, .warn = true});
    add_notice((struct notice){.number = 3, .begin = 7, .first = 8, .last = 9, .site = 2, .last_row = THREADS});
    CHECK_STR(told(), "E\t1\thpcview.h\twith tabs and lines\t/bin/program with a tab\t8272\t12\t4\t350\t300\tthread 9\n"
                      "E\t0\tomp barrier\t\t\t0\t3\t0\t2\t1\tthread 0\n");
    rank = 0;
    add_notice((struct notice){.number = 5, .begin = 100, .first = 150, .last = 450, .threads = 8, .passage = true});
    CHECK_STR(told(), "P\t0\tpthread_barrier_wait\t\t/bin/program with a tab\t4096\t5\t8\t50\t300\trank 0 thread 1\n");
    rank = 31;
    add_notice((struct notice){.last_row = 1});
    CHECK_STR(told(), "E\t0\tpthread_barrier_wait\t\t/bin/program with a tab\t4096\t0\t0\t0\t0\trank 31 thread 2\n");
    rank = -1;
    for (uint32_t i = 0; i < 3 * NOTICES; i++) { /* the ring wraps around */
        add_notice((struct notice){.number = i, .site = 2});
        char wanted[100];
        snprintf(wanted, sizeof wanted, "E\t0\tomp barrier\t\t\t0\t%u\t0\t0\t0\tthread 1\n", i);
        const char *line = told();
        CHECK_NAMED(strcmp(line, wanted) == 0, "each in its turn");
    }
}

/* A path that is too long for a line: the following parts are still printed. */
static void test_long(void)
{
    static char path[5000], wanted[6000];
    for (size_t i = 3000; i < sizeof path; i += 333) {
        size_t most = PIPE_BUF - 500;
        memset(path, 'p', i);
        path[i] = '\0';
        module_path = path;
        add_notice(
            (struct notice){.number = UINT64_MAX, .begin = 0, .first = 1, .last = UINT64_MAX, .threads = UINT32_MAX});
        snprintf(wanted, sizeof wanted, "E\t0\tpthread_barrier_wait\t\t%.*s\t4096\t%llu\t%u\t%llu\t%llu\tthread 1\n",
                 (int)(i < most ? i : most), path, ~0ull, ~0u, ~0ull, ~0ull - 1);
        CHECK_NAMED(strcmp(told(), wanted) == 0, "a long path");
    }
    module_path = "/bin/program\twith a tab";
}

/* A pipe's name may be one letter, its number 0. */
static void test_short(void)
{
    strcpy(hpcrec.config.notify, pipe_path = "p");
    is_standard_input = true;
    CHECK_INT(dup2(pipe_ends[1], 0), 0);
    add_notice((struct notice){.number = 1, .site = 2});
    CHECK_STR(told(), "E\t0\tomp barrier\t\t\t0\t1\t0\t0\t0\tthread 1\n");
    is_standard_input = false;
    strcpy(hpcrec.config.notify, pipe_path = "/tmp/pipe");
}

/* A thread that waits too long at a barrier is reported once; other waits, and sleeping between regions, are not. */
static void test_waiting(void)
{
    static const char at_first[] =
        "W\t1\tpthread_barrier_wait\t\t/bin/program with a tab\t4096\t0\t0\t0\t1000\tthread 1\n";
    struct phases_thread *t = &phases_threads[0];
    t->waits_since = now - 1000;
    CHECK_STR(told(), ""); /* without a bound */
    hpcrec.config.warn_ns = 1001;
    CHECK_STR(told(), "");
    hpcrec.config.warn_ns = 1000;
    CHECK_STR(told(), at_first);
    CHECK_STR(told(), "");
    t->waits_since = now - 1500;
    has_joined[0] = true;
    CHECK_STR(told(), "");
    has_joined[0] = false;
    t->waits_at = 3;
    CHECK_STR(told(), ""); /* a lock is not a barrier */
    t->waits_at = 1;
    CHECK_STR(told(), "W\t1\thpcview.h\twith tabs and lines\t/bin/program with a tab\t8272\t0\t0\t0\t1500\tthread 1\n");
    t->waits_since = 0;
    phases_threads[1].waits_since = now + 5; /* it arrived after the clock was read */
    CHECK_STR(told(), "");
    phases_threads[1].waits_since = now - 1000;
    CHECK_STR(told(), "W\t1\tpthread_barrier_wait\t\t/bin/program with a tab\t4096\t0\t0\t0\t1000\tthread 2\n");
}

/* Without a reader, lost notices are counted, and nothing blocks. */
static void test_full(void)
{
    char filler[4096] = {0};
    while (write(pipe_ends[1], filler, sizeof filler) > 0)
        ;
    CHECK_INT(errno, EAGAIN);
    CHECK_INT(hpcrec_phases.notices_lost, 0);
    add_notice((struct notice){.number = 1});
    add_notice((struct notice){.number = 2});
    hpcrec_phases_notify();
    CHECK_INT(hpcrec_phases.notices_lost, 2);
    CHECK_INT(hpcrec_phases.notice_tail, hpcrec_phases.notice_head);
}

int main(void)
{
    begin_world();
    RUN(test_asked);
    RUN(test_notices);
    RUN(test_long);
    RUN(test_short);
    RUN(test_waiting);
    RUN(test_full);
    return tap_done();
}
