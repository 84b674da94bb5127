/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI_overflow: a signal for each sample, in every thread its own event set. The library is opened on demand, so that
 * programs recorded through the ring do not carry it, and those that use PAPI themselves are not disturbed.
 */
#include "config.h"
#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/sampling/sampling.h"

int hpcrec_papi_signal(void)
{
    return SIGRTMIN + 2; /* the signal of PAPI's perf_event component (papi 5 to 7, sys/linux-context.h and
                            perf_event.c) */
}

_Thread_local bool hpcrec_in_papi __attribute__((tls_model("initial-exec")));

bool hpcrec_needs_papi(void)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        if (hpcrec.config.events[e].conf.kind == RECORD_PAPI)
            return true;
    return false;
}

#if defined HAVE_PAPI && !defined HPCREC_STATIC

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <stdlib.h>
#include <ucontext.h>

#define PAPI_FUNCTIONS(X)                                                                                              \
    X(int, library_init, (int))                                                                                        \
    X(int, thread_init, (unsigned long (*)(void)))                                                                     \
    X(int, register_thread, (void))                                                                                    \
    X(int, unregister_thread, (void))                                                                                  \
    X(int, create_eventset, (int *))                                                                                   \
    X(int, assign_eventset_component, (int, int))                                                                      \
    X(int, set_domain, (int))                                                                                          \
    X(int, multiplex_init, (void))                                                                                     \
    X(int, set_multiplex, (int))                                                                                       \
    X(int, event_name_to_code, (const char *, int *))                                                                  \
    X(int, add_event, (int, int))                                                                                      \
    X(int, overflow, (int, int, int, int, PAPI_overflow_handler_t))                                                    \
    X(int, start, (int))                                                                                               \
    X(int, stop, (int, long long *))                                                                                   \
    X(int, read, (int, long long *))                                                                                   \
    X(int, cleanup_eventset, (int))                                                                                    \
    X(int, destroy_eventset, (int *))

static struct {
#define X(type, name, args) type(*name) args;
    PAPI_FUNCTIONS(X)
#undef X
    bool loaded, ready;
    pid_t pid;
} papi;

static int event_code[EVENTS_MAX];
static uint8_t position_event[EVENTS_MAX]; /* PAPI's position in the event set -> event */

static bool load_functions(void *library)
{
#define X(type, name, args)                                                                                            \
    papi.name = (type(*) args)dlsym(library, "PAPI_" #name);                                                           \
    if (!papi.name)                                                                                                    \
        return false;
    PAPI_FUNCTIONS(X)
#undef X
    return true;
}

static unsigned long thread_id(void)
{
    return (unsigned long)hpcrec_gettid();
}

static bool find_codes(void)
{
    unsigned n = 0;
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        if (hpcrec.config.events[e].conf.kind != RECORD_PAPI)
            continue;
        if (papi.event_name_to_code(record_papi_name(&hpcrec.config.events[e].conf), &event_code[e]) != PAPI_OK)
            return false;
        position_event[n++] = (uint8_t)e;
    }
    return true;
}

/* The kernel's software events count in the kernel as well where that is permitted, as with the ring. A domain is an
   event set's, so hardware events among them keep all to PAPI's default, user code. */
static bool choose_domain(void)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        const struct record_event *conf = &hpcrec.config.events[e].conf;
        if (conf->kind == RECORD_PAPI && conf->type != PERF_TYPE_SOFTWARE)
            return true;
    }
    return !hpcrec_kernel_permitted() || papi.set_domain(PAPI_DOM_ALL) == PAPI_OK;
}

static bool load(void)
{
    if (papi.ready && papi.pid == atomic_load(&hpcrec.pid))
        return true;
    if (!papi.loaded) {
        void *library =
            dlopen(hpcrec.config.papi_library[0] ? hpcrec.config.papi_library : "libpapi.so.7", RTLD_NOW | RTLD_LOCAL);
        if (!library || !load_functions(library))
            return false;
        papi.loaded = true;
    }
    papi.ready = papi.library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT && papi.thread_init(thread_id) == PAPI_OK &&
                 (!hpcrec.config.multiplex || papi.multiplex_init() == PAPI_OK) && choose_domain() && find_codes();
    papi.pid = atomic_load(&hpcrec.pid);
    return papi.ready;
}

/* Once in a process: after fork PAPI must be initialized again. */
bool hpcrec_papi_load(void)
{
    hpcrec_in_papi = true;
    bool ready = load();
    hpcrec_in_papi = false;
    return ready;
}

/* In the signal handler. PAPI passes a vector of the positions of events that overflowed. */
static void on_overflow(int set, void *address, long long vector, void *context)
{
    (void)set;
    uint64_t pc = (uint64_t)(uintptr_t)address;
    if (pc >> 63) /* in the kernel: the instruction that went there */
        pc = hpcrec_pc_of(context);
    for (unsigned n = 0; vector; n++, vector = (long long)((unsigned long long)vector >> 1))
        if (vector & 1 && n < EVENTS_MAX && hpcrec_self)
            hpcrec_queue_sample(hpcrec_self, position_event[n], pc, 1, context);
}

static void say_missing(const char *sentence)
{
    sigset_t saved;
    hpcrec_lock(&saved);
    hpcrec_missing(sentence);
    hpcrec_unlock(&saved);
}

static bool add_events(struct thread *t)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        const struct record_event *conf = &hpcrec.config.events[e].conf;
        if (conf->kind != RECORD_PAPI)
            continue;
        if (papi.add_event(t->event_set, event_code[e]) != PAPI_OK ||
            papi.overflow(t->event_set, event_code[e], (int)conf->period, 0, on_overflow) != PAPI_OK)
            return false;
    }
    return true;
}

static bool begin_set(struct thread *t)
{
    t->event_set = PAPI_NULL;
    memset(t->papi_before, 0, sizeof t->papi_before);
    if (papi.register_thread() != PAPI_OK || papi.create_eventset(&t->event_set) != PAPI_OK)
        return false;
    if (hpcrec.config.multiplex &&
        (papi.assign_eventset_component(t->event_set, 0) != PAPI_OK || papi.set_multiplex(t->event_set) != PAPI_OK))
        return false;
    return add_events(t) && papi.start(t->event_set) == PAPI_OK;
}

/* PAPI keeps the kernel's events under low numbers of its choice; the program must not close them. Those of the
   calling thread are recognized by the thread they signal: fcntl(2), F_GETOWN_EX. */
static void adopt_descriptors(void)
{
    struct f_owner_ex owner;
    struct dirent *entry;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return;
    while ((entry = readdir(dir))) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fcntl(fd, F_GETSIG) == hpcrec_papi_signal() &&
            fcntl(fd, F_GETOWN_EX, &owner) == 0 && owner.type == F_OWNER_TID && owner.pid == hpcrec_gettid() &&
            fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
            hpcrec_fd_adopt(fd);
    }
    closedir(dir);
}

void hpcrec_papi_begin(struct thread *t)
{
    if (!hpcrec_needs_papi())
        return;
    hpcrec_in_papi = true;
    t->papi_running = papi.ready && begin_set(t);
    adopt_descriptors();
    hpcrec_in_papi = false;
    if (!t->papi_running)
        say_missing("PAPI could not be started in some threads: they are missing from the measurement");
}

static void take_values(const struct thread *t, const long long *values, struct thread_row *row)
{
    unsigned n = 0;
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        if (hpcrec.config.events[e].conf.kind == RECORD_PAPI) {
            row->total[e] = (uint64_t)(t->papi_before[n] + values[n]);
            n++;
            row->has_total |= (uint8_t)(1u << e);
        }
}

/* PAPI continues to count while we do not measure, so its value is not a total then. */
static bool totals_mean_something(void)
{
    return !hpcrec.config.delay_ns && !hpcrec.config.duration_ns && !hpcrec.was_switched;
}

void hpcrec_papi_totals(struct thread *t, struct thread_row *row)
{
    long long values[EVENTS_MAX] = {0};
    hpcrec_in_papi = true;
    if (t->papi_running && totals_mean_something() && papi.read(t->event_set, values) == PAPI_OK)
        take_values(t, values, row);
    hpcrec_in_papi = false;
}

/* PAPI starts a counter again in the handler of its overflow; a signal that was ignored leaves it stopped. */
void hpcrec_papi_restart(struct thread *t)
{
    long long values[EVENTS_MAX] = {0};
    if (!t->papi_running)
        return;
    hpcrec_in_papi = true;
    if (papi.stop(t->event_set, values) == PAPI_OK) {
        for (unsigned n = 0; n < EVENTS_MAX; n++)
            t->papi_before[n] += values[n];
        t->papi_running = papi.start(t->event_set) == PAPI_OK;
    }
    hpcrec_in_papi = false;
}

void hpcrec_papi_end(struct thread *t, struct thread_row *row)
{
    long long values[EVENTS_MAX] = {0};
    if (!t->papi_running)
        return;
    t->papi_running = false;
    hpcrec_in_papi = true;
    if (papi.stop(t->event_set, values) == PAPI_OK && totals_mean_something())
        take_values(t, values, row);
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        if (hpcrec.config.events[e].conf.kind == RECORD_PAPI)
            papi.overflow(t->event_set, event_code[e], 0, 0, on_overflow);
    papi.cleanup_eventset(t->event_set);
    papi.destroy_eventset(&t->event_set);
    papi.unregister_thread();
    hpcrec_in_papi = false;
}

#else

bool hpcrec_papi_load(void)
{
    return false;
}

void hpcrec_papi_begin(struct thread *t)
{
    (void)t;
}

void hpcrec_papi_totals(struct thread *t, struct thread_row *row)
{
    (void)t;
    (void)row;
}

void hpcrec_papi_restart(struct thread *t)
{
    (void)t;
}

void hpcrec_papi_end(struct thread *t, struct thread_row *row)
{
    (void)t;
    (void)row;
}

#endif
