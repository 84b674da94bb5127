/* SPDX-License-Identifier: BSD-3-Clause */
/* Beginning, the helper thread, the end. */
#include "hpcprof/format/format.h"
#include "hpcprof/recorder/base/syscalls.h"
#include "hpcprof/recorder/output/paths.h"
#include "hpcprof/recorder/process/process.h"
#include "hpcprof/recorder/sampling/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    pthread_t thread;
    _Atomic uint32_t asked; /* futex word: requested tasks */
    _Atomic uint32_t done;  /* futex word */
    _Atomic int task, status;
    _Atomic bool finished;
    bool none; /* it could not be started */
} helper;

static int exit_status = -1; /* as by wait(2), once we know */

/* ---- identity of this process ------------------------------------------------------------------------ */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool name_matches(const char *glob)
{
    char exe[4096], cmdline[512];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    if (fnmatch(glob, base_name(exe), 0) == 0)
        return true;
    return hpcrec_slurp("/proc/self/cmdline", cmdline, sizeof cmdline) > 0 && fnmatch(glob, base_name(cmdline), 0) == 0;
}

static bool is_chosen(const char *ranks)
{
    return record_rank() >= 0 && format_rank_chosen(ranks, (uint64_t)record_rank(), (uint64_t)record_ranks());
}

/* ---- the helper ------------------------------------------------------------------------------------------ */

static void drain(void)
{
    hpcrec_maps_new_round();
    hpcrec_maps_check();
    hpcrec_paths_refresh();
    hpcrec_threads_drain();
    if (hpcrec.barriers)
        hpcrec.barriers->notify();
}

static void switch_locked(bool on)
{
    if (on == hpcrec.measuring)
        return;
    hpcrec.was_switched = true;
    if (on) {
        drain(); /* with measuring still off, samples taken meanwhile are discarded */
        hpcrec.measuring = true;
        hpcrec_threads_switch(true);
    } else {
        hpcrec_threads_switch(false);
        hpcrec.measuring = false;
    }
}

void hpcrec_switch(bool on)
{
    sigset_t saved;
    hpcrec_lock(&saved);
    switch_locked(on);
    hpcrec_unlock(&saved);
}

/* --delay and --duration */
static void keep_time(void)
{
    uint64_t ran = hpcrec_now(CLOCK_MONOTONIC) - hpcrec.start_mono;
    const struct config *c = &hpcrec.config;
    if (c->delay_ns && !hpcrec.delay_over && ran >= c->delay_ns) {
        hpcrec.delay_over = true;
        switch_locked(true);
    }
    if (c->duration_ns && !hpcrec.duration_over && ran >= c->delay_ns + c->duration_ns) {
        hpcrec.duration_over = true;
        switch_locked(false);
    }
}

static void do_task(enum hpcrec_task task, int status)
{
    sigset_t saved;
    hpcrec_lock(&saved);
    drain();
    if (task == TASK_FINISH) {
        hpcrec_threads_stop();
        hpcrec_maps_name_all();
    } else
        hpcrec_threads_totals();
    hpcrec_file_encode(task != TASK_FLUSH, status);
    hpcrec_unlock(&saved);
    hpcrec_file_write(task != TASK_FLUSH);
    if (task == TASK_FINISH) {
        atomic_store(&helper.finished, true);
        atomic_store(&hpcrec.pid, 0);
    }
}

/* The C library ends a process whose last thread ends, by exit, and the kernel one whose last thread ends by the
   system call. Both count our helper, so the helper has to do the same. */
static void end_process(enum hpcrec_left left, int status)
{
    sigset_t none;
    if (left == LEFT_BY_LIBRARY) {
        sigemptyset(&none);
        pthread_sigmask(SIG_SETMASK, &none, NULL);
        exit(0);
    }
    do_task(TASK_FINISH, status);
    syscall(SYS_exit_group, status >> 8 & 0xff);
}

static void turn(uint64_t *flushed)
{
    sigset_t saved;
    int status = 0;
    uint64_t now = hpcrec_now(CLOCK_MONOTONIC);
    if (now - *flushed >= (hpcrec.config.write_ns ? hpcrec.config.write_ns : (uint64_t)FLUSH_MS * 1000000)) {
        do_task(TASK_FLUSH, -1);
        *flushed = now;
        return;
    }
    hpcrec_lock(&saved);
    keep_time();
    hpcrec_threads_look(atomic_load(&hpcrec.helper));
    drain();
    if (hpcrec_contexts_are_many())
        *flushed = 0; /* paths are cut when the file is written, and that is soon */
    enum hpcrec_left left = hpcrec_threads_left(&status);
    hpcrec_unlock(&saved);
    if (left != STILL_THERE)
        end_process(left, status);
}

static void *helper_main(void *arg)
{
    uint64_t flushed = hpcrec_now(CLOCK_MONOTONIC);
    uint32_t seen = 0;
    (void)arg;
    raw_prctl(PR_SET_NAME, (void *)(uintptr_t) "hpcview");
    do_task(TASK_FLUSH, -1);
    atomic_store(&hpcrec.helper, hpcrec_gettid());
    syscall(SYS_futex, &hpcrec.helper, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    while (!atomic_load(&helper.finished)) {
        struct timespec pause = {0, (long)hpcrec_perf_pause_ms() * 1000000L};
        syscall(SYS_futex, &helper.asked, FUTEX_WAIT_PRIVATE, seen, &pause, NULL, 0);
        uint32_t asked = atomic_load(&helper.asked);
        if (asked != seen) {
            seen = asked;
            do_task((enum hpcrec_task)atomic_load(&helper.task), atomic_load(&helper.status));
            atomic_store(&helper.done, asked);
            syscall(SYS_futex, &helper.done, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
            continue;
        }
        turn(&flushed);
    }
    return NULL;
}

/* A new thread takes memory from the program's heap before it comes to us; a fork in that moment would leave the child
   a heap that is locked for ever, where the allocator does not see to that (AddressSanitizer's). And its first act is to
   make the file, which takes the lowest free descriptor for a moment (a program that closes 0 and opens its own would
   get another number), and a right that the program may be about to drop. So the program waits, ten seconds at most, as
   a file system may be dead. */
static void wait_for_helper(void)
{
    for (int i = 0; i < 1000 && atomic_load(&hpcrec.helper) == 0; i++) {
        struct timespec pause = {0, 10000000};
        syscall(SYS_futex, &hpcrec.helper, FUTEX_WAIT_PRIVATE, 0, &pause, NULL, 0);
    }
}

static bool start_helper(void)
{
    pthread_attr_t attr;
    sigset_t all, saved;
    sigfillset(&all);
    atomic_store(&hpcrec.helper, 0);
    atomic_store(&helper.finished, false);
    atomic_store(&helper.asked, 0);
    atomic_store(&helper.done, 0);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, 256 << 10);
    hpcrec_real_sigmask(SIG_SETMASK, &all, &saved); /* the helper inherits it */
    int status = hpcrec_real_pthread_create(&helper.thread, &attr, helper_main, NULL);
    if (status != 0) /* a program with much thread-local data needs a larger stack for that alone */
        status = hpcrec_real_pthread_create(&helper.thread, NULL, helper_main, NULL);
    hpcrec_real_sigmask(SIG_SETMASK, &saved, NULL);
    pthread_attr_destroy(&attr);
    helper.none = status != 0;
    if (status == 0)
        wait_for_helper();
    return status == 0;
}

/* If the system permits no further thread, the program's threads write. */
static void do_it_ourselves(enum hpcrec_task task, int status)
{
    static _Atomic bool busy;
    if (atomic_exchange(&busy, true))
        return;
    do_task(task, status);
    atomic_store(&busy, false);
}

void hpcrec_ask(enum hpcrec_task task, int status)
{
    if (!hpcrec_active())
        return;
    if (helper.none || hpcrec_is_helper()) {
        do_it_ourselves(task, status);
        return;
    }
    uint64_t give_up =
        hpcrec_now(CLOCK_MONOTONIC) + 10000000000u; /* a dead file system must not keep the program for ever */
    atomic_store(&helper.task, (int)task);
    atomic_store(&helper.status, status);
    uint32_t mine = atomic_fetch_add(&helper.asked, 1) + 1;
    syscall(SYS_futex, &helper.asked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    for (uint32_t done; (int32_t)((done = atomic_load(&helper.done)) - mine) < 0;) {
        struct timespec pause = {1, 0};
        syscall(SYS_futex, &helper.done, FUTEX_WAIT_PRIVATE, done, &pause, NULL, 0);
        if (atomic_load(&helper.finished) || hpcrec_now(CLOCK_MONOTONIC) > give_up)
            return;
    }
}

void hpcrec_finish(int status)
{
    static _Atomic bool finishing;
    if (!hpcrec_active() || atomic_exchange(&finishing, true))
        return;
    if (exit_status != -1)
        status = exit_status;
    if (hpcrec_self && !hpcrec_is_helper())
        hpcrec_thread_end(hpcrec_self); /* PAPI reads a thread's counters in that thread only */
    hpcrec_ask(TASK_FINISH, status);
    atomic_store(&finishing, false);
}

/* ---- the end of the process ------------------------------------------------------------------------------ */

/* Registered before the program's own handlers and before the libraries' destructors are, so it runs after them all. */
static void at_exit(int status, void *arg)
{
    (void)arg;
    hpcrec_finish((status & 0xff) << 8);
}

void hpcrec_set_exit_status(int status)
{
    exit_status = status;
}

static void on_fatal_signal(int status)
{
    hpcrec_ask(TASK_FINISH, status);
}

static void at_quick_exit_(void)
{
    hpcrec_finish(exit_status);
}

/* ---- fork ---------------------------------------------------------------------------------------------------- */

static sigset_t fork_mask;           /* the lock admits one fork at a time */
static bool fork_locked, was_forked; /* the latter in the child, until its own recording begins */
_Thread_local bool hpcrec_in_fork_wrapper __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
    fork_locked = hpcrec_active();
    if (fork_locked)
        hpcrec_lock(&fork_mask);
}

static void after_fork_in_parent(void)
{
    if (fork_locked)
        hpcrec_unlock(&fork_mask);
}

static void after_fork_in_child(void)
{
    if (!fork_locked)
        return;
    hpcrec_lock_reset();
    hpcrec_fork_child();
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &fork_mask, NULL, 8);
    if (!hpcrec_in_fork_wrapper) /* a fork inside the C library; from the wrapper it is safer, all fork handlers are
                                    done then */
        hpcrec_fork_restart();
}

static void forget_area(struct area *a, size_t item_size)
{
    hpcrec_area_free(a, item_size);
}

void hpcrec_fork_child(void)
{
    atomic_store(&hpcrec.pid, 0);
    atomic_store(&hpcrec.helper, 0);
    hpcrec_threads_forget();
    hpcrec_perf_forget();
    hpcrec_counts_forget();
    if (hpcrec.barriers)
        hpcrec.barriers->forget();
    hpcrec_maps_forget();
    hpcrec_fd_forget_all();
    forget_area(&hpcrec.modules, sizeof(struct module_row));
    forget_area(&hpcrec.contexts, sizeof(struct context_row));
    forget_area(&hpcrec.cells, sizeof(struct cell));
    forget_area(&hpcrec.regions, sizeof(struct region_row));
    forget_area(&hpcrec.thread_rows, sizeof(struct thread_row));
    forget_area(&hpcrec.extra_events, sizeof(struct extra_event));
    hpcrec_file_forget();
    exit_status = -1;
    was_forked = hpcrec.from_fork = true;
}

/* ---- the beginning --------------------------------------------------------------------------------------------- */

static bool begin(void)
{
    if (hpcrec.barriers)
        hpcrec.barriers->begin();
    else if (hpcrec.config.phases)
        hpcrec_missing("barriers and phases: not in programs linked with libhpcview-record.a");
    struct thread *t = hpcrec_thread_create();
    if (!t)
        return false;
    hpcrec.start_ns = hpcrec_now(CLOCK_REALTIME);
    hpcrec.start_mono = hpcrec_now(CLOCK_MONOTONIC);
    hpcrec.parent = getppid();
    atomic_store(&hpcrec.pid, (pid_t)syscall(SYS_getpid));
    hpcrec_hold(&hpcrec.dir, hpcrec.config.dir, O_DIRECTORY);
    hpcrec_environment_gather();
    hpcrec_maps_open();
    hpcrec_threads_init();
    if (!hpcrec.from_fork)
        hpcrec.measuring = hpcrec.config.delay_ns == 0 && !hpcrec.config.region[0];
    if (hpcrec_needs_papi() && !hpcrec_papi_load())
        hpcrec_missing("PAPI could not be loaded into the program: its events were not counted");
    hpcrec_paths_refresh();
    if (!start_helper())
        hpcrec_missing("the helper thread could not be started: nothing is written before the program ends");
    hpcrec_thread_begin(t);
    return true;
}

/* Only where the parent was recorded when it forked: not that of a program that --only leaves out, nor of one whose end is
   written. */
void hpcrec_fork_restart(void)
{
    if (!was_forked || !hpcrec.config.children)
        return;
    was_forked = false;
    begin();
}

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv(RECORD_VARIABLE);
    hpcrec_wrap_init();
    if (!text || !hpcrec_config_read(&hpcrec.config, text))
        return;
    hpcrec_remember_environment();
    if (!hpcrec.config.children)
        hpcrec_clean_environment();
    if (hpcrec.config.only[0] && !name_matches(hpcrec.config.only))
        return;
    if (hpcrec.config.ranks[0] && !is_chosen(hpcrec.config.ranks))
        return;
    on_exit(at_exit, NULL);
    at_quick_exit(at_quick_exit_);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    hpcrec_signals_begin(on_fatal_signal);
    begin();
}

/* ---- for the program: hpcview.h calls these through one exported table ---------------------------------------------
 */

static void user_start(void)
{
    if (hpcrec_active())
        hpcrec_switch(true);
}

static void user_stop(void)
{
    if (hpcrec_active())
        hpcrec_switch(false);
}

/* --region: on with the first thread that enters it, off with the last that leaves it. Under the lock. */
static void enter_measured(const char *name)
{
    unsigned wanted = hpcrec.config.region_time;
    if (!hpcrec.config.region[0] || strcmp(name, hpcrec.config.region) != 0 || hpcrec.in_region++ > 0)
        return;
    hpcrec.region_times++;
    if (!wanted || hpcrec.region_times == wanted)
        switch_locked(true);
}

static void leave_measured(const char *name)
{
    if (hpcrec.config.region[0] && strcmp(name, hpcrec.config.region) == 0 && hpcrec.in_region > 0 &&
        --hpcrec.in_region == 0)
        switch_locked(false);
}

/* Of the program's own regions; with barriers, samples are of the phase in it. */
static uint32_t user_region_of(const struct thread *t)
{
    return hpcrec.barriers ? hpcrec.barriers->user_region(t) : t->region;
}

static void enter_region(struct thread *t, uint32_t region)
{
    if (hpcrec.barriers)
        hpcrec.barriers->region(t, region);
    else
        hpcrec_mark_region(t, region);
}

static void user_region_begin(const char *name)
{
    struct thread *t = hpcrec_self;
    sigset_t saved;
    if (!name || !t || !t->begun || !hpcrec_active())
        return;
    hpcrec_lock(&saved);
    uint32_t region = hpcrec_region_row(name, user_region_of(t));
    enter_measured(name);
    hpcrec_unlock(&saved);
    enter_region(t, region);
}

/* Ends the innermost region of that name (and those inside it); without one, does nothing. */
static void user_region_end(const char *name)
{
    struct thread *t = hpcrec_self;
    sigset_t saved;
    if (!t || !t->begun || !user_region_of(t) || !hpcrec_active())
        return;
    hpcrec_lock(&saved);
    const struct region_row *rows = hpcrec.regions.items;
    uint32_t inner = user_region_of(t), region = inner;
    while (region && name && strcmp(hpcrec_string(rows[region - 1].name), name) != 0)
        region = rows[region - 1].parent;
    uint32_t parent = region ? rows[region - 1].parent : inner;
    for (uint32_t up = inner; up != parent; up = rows[up - 1].parent)
        leave_measured(hpcrec_string(rows[up - 1].name));
    hpcrec_unlock(&saved);
    enter_region(t, parent);
}

__attribute__((visibility("default"))) extern const struct hpcview_calls hpcview_calls_1;
const struct hpcview_calls hpcview_calls_1 = {user_start, user_stop, user_region_begin, user_region_end};
