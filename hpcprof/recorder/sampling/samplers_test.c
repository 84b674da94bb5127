/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The samplers that use signals: a fake PAPI that logs its calls, delivers its samples as signals, and has counters at
 * the end; real timers of this thread.
 */
#include "config.h"

#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/sampling/sampling.h"
#include "tests/fixtures/recorded_calls.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

struct recorder hpcrec = {.dir.fd = -1, .file_fd = -1, .temp_fd = -1};
_Thread_local struct thread *hpcrec_self __attribute__((tls_model("initial-exec")));

/* ---- fakes of the rest of the recorder, which log their calls --------------------------------------- */

static bool is_locked;

static const char *said(void)
{
    if (hpcrec_in_papi || is_locked)
        tell("left in PAPI, or with the lock; ");
    return take_told();
}

static bool kernel_permitted;
bool hpcrec_kernel_permitted(void)
{
    return kernel_permitted;
}
pid_t hpcrec_gettid(void)
{
    return gettid();
}
static uint64_t planned_now; /* 0: as it is */
uint64_t hpcrec_now(clockid_t clock)
{
    struct timespec t = {0};
    if (planned_now)
        return planned_now;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
void hpcrec_lock(sigset_t *saved)
{
    (void)saved;
    is_locked = true;
}
void hpcrec_unlock(const sigset_t *saved)
{
    (void)saved;
    is_locked = false;
}
void hpcrec_missing(const char *sentence)
{
    tell("missing%s: %s; ", is_locked ? "" : " without the lock", sentence);
}
void hpcrec_fd_adopt(int fd)
{
    tell("descriptor %d; ", fd);
}
int hpcrec_real_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    return sigaction(sig, act, old);
}

static volatile int samples[EVENTS_MAX];
static struct thread *volatile sampled;
void hpcrec_queue_sample(struct thread *t, unsigned event, uint64_t pc, uint32_t n, const void *context)
{
    (void)context;
    sampled = t;
    if (pc < 0x10000) /* planned address */
        tell("event %u at %llx x%u; ", event, (unsigned long long)pc, n);
    samples[event] += (int)n;
}

/* In a page of its own, like the recorder's threads. */
static struct thread *a_thread(void)
{
    static _Alignas(4096) struct thread one;
    one = (struct thread){.tid = gettid()};
    return &one;
}

/* ---- a PAPI ------------------------------------------------------------------------------------------- */

#ifdef HAVE_PAPI
#include <dlfcn.h> /* whose functions are renamed to fake_... here */
#include <papi.h>

static const char *refuses; /* the function that fails */
static PAPI_overflow_handler_t handler;
static long long counters[EVENTS_MAX];

/* Calls that PAPI itself makes meanwhile are not the program's. */
static int answer(const char *name)
{
    if (!hpcrec_in_papi)
        tell("(not noted) ");
    return refuses && strcmp(refuses, name) == 0 ? PAPI_EINVAL : PAPI_OK;
}

static int library_init(int version)
{
    tell("init ");
    return answer("init") == PAPI_OK ? version : version - 1;
}
static int thread_init(unsigned long (*id)(void))
{
    return id() == (unsigned long)gettid() ? answer("thread_init") : PAPI_EINVAL;
}
static int register_thread(void)
{
    return answer("register_thread");
}
static int unregister_thread(void)
{
    tell("unregister");
    return answer("unregister");
}
static int create_eventset(int *set)
{
    *set = 5;
    return answer("create_eventset");
}
static int assign_eventset_component(int set, int component)
{
    tell("component %d of %d ", component, set);
    return answer("assign");
}
static int set_domain(int domain)
{
    tell("domain %s ", domain == PAPI_DOM_ALL ? "all" : "?");
    return answer("set_domain");
}
static int multiplex_init(void)
{
    tell("multiplex ");
    return answer("multiplex_init");
}
static int set_multiplex(int set)
{
    tell("multiplex %d ", set);
    return answer("set_multiplex");
}
static int event_name_to_code(const char *name, int *code)
{
    *code = 100 + *name;
    return *name == 'Z' ? PAPI_EINVAL : answer(name);
}
static int add_event(int set, int code)
{
    tell("add %d to %d ", code, set);
    return answer("add_event");
}
static int overflow(int set, int code, int period, int flags, PAPI_overflow_handler_t f)
{
    tell("every %d of %d in %d ", period, code, set);
    handler = f;
    return flags == 0 ? answer("overflow") : PAPI_EINVAL;
}
static int start(int set)
{
    tell("start %d ", set);
    return answer("start");
}
static int read_set(int set, long long *values)
{
    (void)set;
    memcpy(values, counters, sizeof *values * 2);
    return answer("read");
}
static int stop(int set, long long *values)
{
    tell("stop ");
    return read_set(set, values) == PAPI_OK ? answer("stop") : PAPI_EINVAL;
}
static int cleanup_eventset(int set)
{
    tell("cleanup %d ", set);
    return answer("cleanup");
}
static int destroy_eventset(int *set)
{
    tell("destroy %d ", *set);
    return answer("destroy");
}

void *fake_dlopen(const char *path, int mode)
{
    (void)mode;
    tell("open %s ", path);
    return answer("dlopen") == PAPI_OK ? &counters : NULL;
}

void *fake_dlsym(void *library, const char *name)
{
#define IS(f, g)                                                                                                       \
    {                                                                                                                  \
        "PAPI_" #f, (void *)(uintptr_t)g                                                                               \
    }
    const struct {
        const char *name;
        void *function;
    } all[] = {IS(library_init, library_init),
               IS(thread_init, thread_init),
               IS(register_thread, register_thread),
               IS(unregister_thread, unregister_thread),
               IS(create_eventset, create_eventset),
               IS(assign_eventset_component, assign_eventset_component),
               IS(set_domain, set_domain),
               IS(multiplex_init, multiplex_init),
               IS(set_multiplex, set_multiplex),
               IS(event_name_to_code, event_name_to_code),
               IS(add_event, add_event),
               IS(overflow, overflow),
               IS(start, start),
               IS(stop, stop),
               IS(read, read_set),
               IS(cleanup_eventset, cleanup_eventset),
               IS(destroy_eventset, destroy_eventset)};
    for (size_t i = 0; library == &counters && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return answer(name) == PAPI_OK ? all[i].function : NULL;
    return NULL;
}

static void configure(uint32_t type)
{
    struct config *c = &hpcrec.config;
    memset(c, 0, sizeof *c);
    c->event_count = 4;
    c->events[0].conf.kind = RECORD_PERF;
    c->events[1].conf = (struct record_event){.kind = RECORD_PAPI, .period = 1000, .type = type, .name = "A"};
    c->events[2].conf.kind = RECORD_CPUTIME;
    c->events[3].conf = (struct record_event){.kind = RECORD_PAPI, .period = 70, .type = type, .name = "B"};
    c->events[4].conf =
        (struct record_event){.kind = RECORD_PAPI, .type = PERF_TYPE_HARDWARE, .name = "Z"}; /* is none */
}

static bool load(void)
{
    static int process = 1;
    hpcrec.pid = process++; /* one unknown to PAPI */
    return hpcrec_papi_load();
}

/* Failures before and after the library is loaded. */
static void test_load(void)
{
    configure(PERF_TYPE_SOFTWARE);
    CHECK(hpcrec_needs_papi());
    strcpy(hpcrec.config.papi_library, "/lib/papi");
    refuses = "dlopen";
    CHECK(!load());
    CHECK_STR(said(), "open /lib/papi ");
    refuses = "PAPI_overflow";
    CHECK(!load());
    refuses = NULL;
    *hpcrec.config.papi_library = '\0';
    said();
    CHECK(load());
    CHECK_STR(said(), "open libpapi.so.7 init ");
    CHECK(hpcrec_papi_load()); /* the same process: it is ready */
    CHECK_STR(said(), "");
    static const char *const each[] = {"init", "thread_init", "A", "B"};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        refuses = each[i];
        CHECK(!load());
    }
    refuses = NULL;
    hpcrec.config.multiplex = true;
    said();
    CHECK(load());
    CHECK_STR(said(), "init multiplex ");
    refuses = "multiplex_init";
    CHECK(!load());
    refuses = NULL;
    CHECK(!hpcrec_in_papi);
    hpcrec.config.event_count = 1;
    CHECK(!hpcrec_needs_papi());
    CHECK_INT(hpcrec_papi_signal(), SIGRTMIN + 2);
}

/* Also in the kernel, if permitted and if all events are kernel events. */
static void test_domain(void)
{
    for (int i = 0; i < 8; i++) {
        configure(i & 1 ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE);
        kernel_permitted = i & 2;
        refuses = i & 4 ? "set_domain" : NULL;
        said();
        CHECK_INT(load(), i != 7);
        CHECK_STR(said(), (i & 3) == 3 ? "init domain all " : "init ");
        if (i == 3) {
            hpcrec.config.events[3].conf.type = PERF_TYPE_HARDWARE; /* one that is not */
            CHECK(load());
            CHECK_STR(said(), "init ");
        }
    }
    refuses = NULL;
    kernel_permitted = false;
}

static const char not_started[] = "PAPI could not be started in some threads: they are missing from the measurement";

static void test_events(void)
{
    struct thread *t = a_thread();
    struct thread_row row = {0};
    ucontext_t context;
    memset(&context, 0, sizeof context);
#if defined __x86_64__
    context.uc_mcontext.gregs[REG_RIP] = 0x77;
#else
    context.uc_mcontext.pc = 0x77;
#endif
    configure(PERF_TYPE_HARDWARE);
    CHECK(load());
    said();
    hpcrec_papi_begin(t);
    CHECK(t->papi_running);
    CHECK_STR(said(), "add 165 to 5 every 1000 of 165 in 5 add 166 to 5 every 70 of 166 in 5 start 5 ");
    /* PAPI numbers its events 0 and 1; they are our 1 and 3 */
    hpcrec_self = t;
    handler(5, (void *)0x1000, 1, &context);
    handler(5, (void *)0x2000, 2, &context);
    handler(5, (void *)0x3000, 3, &context);
    handler(5, (void *)0x4000, 0, &context);
    handler(5, (void *)0x4000, 1ll << EVENTS_MAX, &context);
    handler(5, (void *)(uintptr_t)0xffffffff80000000, 1, &context); /* in the kernel: attributed to the caller */
    CHECK_STR(said(), "event 1 at 1000 x1; event 3 at 2000 x1; event 1 at 3000 x1; event 3 at 3000 x1; "
                      "event 1 at 77 x1; ");
    CHECK(sampled == t);
    hpcrec_self = NULL;
    handler(5, (void *)0x1000, 1, &context);
    CHECK_STR(said(), "");
    /* totals: of now, after a new start, at the end */
    counters[0] = 30, counters[1] = 4;
    hpcrec_papi_totals(t, &row);
    CHECK(row.total[1] == 30 && row.total[3] == 4 && row.has_total == (1 << 1 | 1 << 3));
    hpcrec_papi_restart(t);
    CHECK_STR(said(), "stop start 5 ");
    counters[0] = 1, counters[1] = 2;
    hpcrec_papi_totals(t, &row);
    CHECK(row.total[1] == 31 && row.total[3] == 6);
    counters[1] = 8;
    hpcrec_papi_restart(t);
    row = (struct thread_row){0};
    said();
    hpcrec_papi_end(t, &row);
    CHECK(row.total[1] == 32 && row.total[3] == 20 && row.has_total == (1 << 1 | 1 << 3) && !t->papi_running);
    CHECK_STR(said(), "stop every 0 of 165 in 5 every 0 of 166 in 5 cleanup 5 destroy 5 unregister");
    /* it restarts */
    hpcrec_papi_begin(t);
    hpcrec_papi_totals(t, &row);
    CHECK(row.total[1] == 1 && row.total[3] == 8);
    hpcrec_papi_end(t, &row);
    said();
    /* not running: no effect */
    hpcrec_papi_end(t, &row);
    hpcrec_papi_restart(t);
    row = (struct thread_row){0};
    hpcrec_papi_totals(t, &row);
    CHECK(row.has_total == 0);
    CHECK_STR(said(), "");
}

/* One event, the first. */
static void test_first(void)
{
    struct thread *t = a_thread();
    struct thread_row row = {0};
    configure(PERF_TYPE_HARDWARE);
    hpcrec.config.events[0] = hpcrec.config.events[1];
    hpcrec.config.events[1] = hpcrec.config.events[4];
    hpcrec.config.event_count = 1;
    CHECK(hpcrec_needs_papi());
    kernel_permitted = true;
    CHECK(load());
    CHECK_STR(said(), "init ");
    kernel_permitted = false;
    hpcrec_papi_begin(t);
    CHECK_STR(said(), "add 165 to 5 every 1000 of 165 in 5 start 5 ");
    hpcrec_self = t;
    handler(5, (void *)0x1000, 1, NULL);
    CHECK_STR(said(), "event 0 at 1000 x1; ");
    hpcrec_self = NULL;
    counters[0] = 9;
    hpcrec_papi_end(t, &row);
    CHECK(row.total[0] == 9 && row.has_total == 1);
    CHECK_STR(said(), "stop every 0 of 165 in 5 cleanup 5 destroy 5 unregister");
}

/* PAPI opens descriptors for a thread's events, recognized by their signal target: they are tracked, and children do
   not inherit them. */
static void test_descriptors(void)
{
    struct thread *t = a_thread();
    struct thread_row row = {0};
    static const int numbers[] = {0, 9, 90, 190};
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    struct f_owner_ex self = {F_OWNER_TID, gettid()}, process = {F_OWNER_PID, getpid()},
                      other = {F_OWNER_TID, getppid()};
    const struct {
        int sig;
        const struct f_owner_ex *owner;
    } cases[] = {
        {SIGRTMIN + 2, &self}, {SIGRTMIN + 3, &self}, {0, &self}, {SIGRTMIN + 2, &process}, {SIGRTMIN + 2, &other}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        CHECK_INT(dup2(ends[1], numbers[i]), numbers[i]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        configure(PERF_TYPE_HARDWARE);
        CHECK(load());
        CHECK_INT(fcntl(ends[1], F_SETSIG, cases[i].sig), 0);
        CHECK_INT(fcntl(ends[1], F_SETOWN_EX, cases[i].owner), 0);
        said();
        hpcrec_papi_begin(t);
        const char *heard = said();
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            char want[40];
            snprintf(want, sizeof want, "descriptor %d; ", numbers[k]);
            CHECK_INT(strstr(heard, want) != NULL, i == 0);
            CHECK_INT(fcntl(numbers[k], F_GETFD), i == 0 ? FD_CLOEXEC : 0);
            fcntl(numbers[k], F_SETFD, 0);
        }
        hpcrec_papi_end(t, &row);
    }
    for (size_t i = 1; i < sizeof numbers / sizeof *numbers; i++)
        close(numbers[i]);
    close(ends[0]);
    close(ends[1]);
    said();
}

/* If PAPI counted while nothing was measured, or does not report it, there are no totals. */
static void test_no_totals(void)
{
    for (int i = 0; i < 4; i++) {
        struct thread *t = a_thread();
        struct thread_row row = {0};
        configure(PERF_TYPE_HARDWARE);
        CHECK(load());
        hpcrec_papi_begin(t);
        hpcrec.config.delay_ns = i == 0;
        hpcrec.config.duration_ns = i == 1;
        hpcrec.was_switched = i == 2;
        refuses = i == 3 ? "read" : NULL;
        hpcrec_papi_totals(t, &row);
        CHECK_INT(row.has_total, 0);
        refuses = i == 3 ? "stop" : NULL;
        hpcrec_papi_end(t, &row);
        CHECK_INT(row.has_total, 0);
        hpcrec.was_switched = false;
        refuses = NULL;
        said();
    }
}

static void test_begin_fails(void)
{
    static const char *const each[] = {"register_thread", "create_eventset", "assign", "set_multiplex",
                                       "add_event",       "overflow",        "start"};
    struct thread_row row = {0};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct thread *t = a_thread();
        configure(PERF_TYPE_HARDWARE);
        hpcrec.config.multiplex = i == 2 || i == 3;
        refuses = NULL;
        CHECK(load());
        refuses = each[i];
        said();
        hpcrec_papi_begin(t);
        CHECK(!t->papi_running);
        CHECK_NAMED(strstr(said(), not_started) != NULL, each[i]);
        hpcrec_papi_end(t, &row);
        CHECK_STR(said(), "");
    }
    refuses = NULL;
    struct thread *t = a_thread();
    hpcrec.config.multiplex = true;
    hpcrec_papi_begin(t);
    CHECK(strstr(said(), "component 0 of 5 multiplex 5 add") != NULL);
    refuses = "start"; /* the second time */
    hpcrec_papi_restart(t);
    CHECK(!t->papi_running);
    refuses = NULL;
    hpcrec.config.event_count = 1; /* of the kernel's ring alone */
    said();
    hpcrec_papi_begin(t);
    CHECK_STR(said(), "");
}

static void test_papi(void)
{
    test_load();
    test_domain();
    test_events();
    test_first();
    test_descriptors();
    test_no_totals();
    test_begin_fails();
}
#else
static void test_papi(void)
{
    SKIP("what is asked of PAPI", "built without it");
}
#endif

/* ---- timers ----------------------------------------------------------------------------------------------- */

/* Two timers of this thread among four events; each fires, with its event, and not after the end. */
static void test_timers(void)
{
    struct thread *t = a_thread();
    struct thread_row row = {0};
    struct config *c = &hpcrec.config;
    memset(c, 0, sizeof *c);
    memset((void *)samples, 0, sizeof samples);
    said();
    c->event_count = 4;
    c->events[0].conf.kind = RECORD_PERF;
    c->events[1].conf = (struct record_event){.kind = RECORD_CPUTIME, .period = 1000};
    c->events[2].conf.kind = RECORD_PAPI;
    c->events[3].conf = (struct record_event){.kind = RECORD_REALTIME, .period = 1000};
    c->events[4].conf = (struct record_event){.kind = RECORD_CPUTIME, .period = 1000}; /* is none */
    uint64_t cpu = hpcrec_now(CLOCK_THREAD_CPUTIME_ID), real = hpcrec_now(CLOCK_MONOTONIC);
    sampled = NULL;
    hpcrec_timers_begin(t, t->tid);
    CHECK_INT(t->has_timer, 1 << 1 | 1 << 3);
    uint64_t begun = hpcrec_now(CLOCK_MONOTONIC);
    while ((samples[1] < 3 || samples[3] < 3) && hpcrec_now(CLOCK_MONOTONIC) - real < 60000000000)
        ;
    uint64_t cpu_end = hpcrec_now(CLOCK_THREAD_CPUTIME_ID), real_end = hpcrec_now(CLOCK_MONOTONIC);
    hpcrec_timers_totals(t, &row);
    uint64_t cpu_all = hpcrec_now(CLOCK_THREAD_CPUTIME_ID) - cpu, real_all = hpcrec_now(CLOCK_MONOTONIC) - real;
    CHECK(samples[1] >= 3 && samples[3] >= 3 && !samples[0] && !samples[2]);
    CHECK(sampled == t);
    CHECK_INT(row.has_total, 1 << 1 | 1 << 3);
    /* microseconds, between the times before and after the calls */
    CHECK(row.total[3] >= (real_end - begun) / 1000 - 1 && row.total[3] <= real_all / 1000);
    CHECK(row.total[1] >= 2000 && row.total[1] <= cpu_all / 1000 && cpu_end > cpu);
    hpcrec_timers_end(t);
    CHECK_INT(t->has_timer, 0);
    int before[] = {samples[1], samples[3]};
    real = hpcrec_now(CLOCK_MONOTONIC);
    while (hpcrec_now(CLOCK_MONOTONIC) - real < 30000000)
        ;
    CHECK(samples[1] == before[0] && samples[3] == before[1]);
    row = (struct thread_row){0};
    hpcrec_timers_totals(t, &row);
    CHECK_INT(row.has_total, 0);
    CHECK(hpcrec_timers_signal() != hpcrec_papi_signal());
    CHECK_STR(said(), "");
    /* the first event's alone */
    c->events[0].conf = (struct record_event){.kind = RECORD_REALTIME, .period = 1000000};
    c->event_count = 1;
    hpcrec_timers_begin(t, t->tid);
    CHECK_INT(t->has_timer, 1);
    hpcrec_timers_end(t);
    c->events[0].conf.kind = RECORD_PERF;
    c->event_count = 4;
    /* for a thread that does not exist; the caller holds the lock */
    is_locked = true;
    hpcrec_timers_begin(t, 1 << 22);
    is_locked = false;
    CHECK(!t->has_timer);
    CHECK_STR(said(), "missing: a timer was refused in some threads: they are missing from the measurement; missing: a "
                      "timer was refused in some threads: they are missing from the measurement; ");
}

/* Whole microseconds since the timer began; unknown if the clock did not move or went back. */
static void test_totals(void)
{
    static const struct {
        uint64_t now, total;
        bool has;
    } cases[] = {{4999, 0, false}, {5000, 0, false}, {5001, 0, true},
                 {5999, 0, true},  {6000, 1, true},  {7500, 2, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct thread *t = a_thread();
        struct thread_row row = {0};
        t->has_timer = 1 << 1 | 1 << 3;
        t->timer_start[1] = 5000;
        t->timer_start[3] = 4000;
        planned_now = cases[i].now;
        hpcrec_timers_totals(t, &row);
        CHECK_INT(row.has_total, 1 << 3 | cases[i].has << 1);
        CHECK_INT(row.total[1], cases[i].total);
        CHECK_INT(row.total[3], (cases[i].now - 4000) / 1000);
    }
    planned_now = 0;
}

int main(void)
{
    RUN(test_papi);
    RUN(test_timers);
    RUN(test_totals);
    return tap_done();
}
