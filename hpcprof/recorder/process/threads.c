/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's threads: registered by pthread_create's wrapper and a key's destructor, or found by looking into
   /proc. */
#include "hpcprof/recorder/base/syscalls.h"
#include "hpcprof/recorder/output/paths.h"
#include "hpcprof/recorder/process/process.h"
#include "hpcprof/recorder/sampling/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Rows beyond this are one row: a program that starts threads for days has a bounded measurement. */
enum { THREAD_ROWS_MAX = 20000 };

static unsigned living_count;
static _Atomic bool main_ended;
static struct held task_dir = {.fd = -1};

/*
 * The kernel ends a process with its last thread, and that must not be ours: so the remaining threads are checked in
 * every turn. The first thread stays, dead, until all others have ended, and its status can be read then. The process'
 * status is the last thread's (before Linux 6.0: the first thread's); it is lost with that thread, unless somebody
 * holds a descriptor of it (pidfd_open(2), Linux 6.15). So when the first thread has ended, we hold the others'.
 */
enum { HELD_THREADS = 16, PIDFD_OF_THREAD = O_EXCL, PIDFD_HAS_EXIT = 8 };
static struct {
    bool first_gone, by_itself; /* some thread ended without the C library */
    int status;                 /* as by wait(2), of the last one known to have ended */
    struct {
        pid_t tid;
        int fd;
    } held[HELD_THREADS];
    unsigned held_count;
} ends;
static pthread_key_t end_key;
static bool have_key;

struct thread *hpcrec_thread_create(void)
{
    struct thread *t = hpcrec_map(sizeof *t);
    for (unsigned e = 0; t && e < EVENTS_MAX; e++)
        t->fd[e] = -1;
    if (t) {
        hpcrec_paths_create(t);
        if (hpcrec.barriers)
            hpcrec.barriers->thread_create(t);
    }
    return t;
}

void hpcrec_thread_discard(struct thread *t)
{
    hpcrec_paths_free(t);
    if (hpcrec.barriers)
        hpcrec.barriers->thread_discard(t);
    hpcrec_unmap(t, sizeof *t);
}

static bool shared_row(uint32_t row)
{
    return row == THREAD_ROWS_MAX - 1;
}

static bool new_row(struct thread *t)
{
    struct area *rows = &hpcrec.thread_rows;
    uint32_t number = hpcrec.threads_seen++;
    if (rows->count == THREAD_ROWS_MAX) {
        t->row = THREAD_ROWS_MAX - 1;
        return true;
    }
    if (!hpcrec_area_room(rows, rows->count + 1, sizeof(struct thread_row)))
        return false;
    t->row = (uint32_t)rows->count++;
    struct thread_row *row = hpcrec_row_of(t);
    *row = (struct thread_row){.number = number, .start_ns = hpcrec_now(CLOCK_REALTIME), .changed = true};
    return true;
}

static void link_in(struct thread *t)
{
    t->previous = NULL;
    t->next = hpcrec.living;
    if (hpcrec.living)
        hpcrec.living->previous = t;
    hpcrec.living = t;
    living_count++;
}

static void unlink_it(struct thread *t)
{
    if (t->previous)
        t->previous->next = t->next;
    else
        hpcrec.living = t->next;
    if (t->next)
        t->next->previous = t->previous;
    living_count--;
}

static struct thread *find_tid(pid_t tid)
{
    struct thread *t = hpcrec.living;
    while (t && t->tid != tid)
        t = t->next;
    return t;
}

static void note_end_by_library(pid_t tid);

/* ---- draining ------------------------------------------------------------------------------------------------ */

void hpcrec_drain_thread(struct thread *t)
{
    hpcrec_perf_drain(t);
    hpcrec_queue_drain(t);
}

void hpcrec_threads_drain(void)
{
    for (struct thread *t = hpcrec.living; t; t = t->next)
        hpcrec_drain_thread(t);
}

/* ---- beginning and end ------------------------------------------------------------------------------------------ */

static void take_totals(struct thread *t)
{
    if (shared_row(t->row))
        return; /* one number for many threads would be wrong most of the time */
    hpcrec_perf_totals(t, hpcrec_row_of(t));
    hpcrec_timers_totals(t, hpcrec_row_of(t));
    hpcrec_row_of(t)->changed = true;
}

static void read_name(struct thread *t, struct thread_row *row)
{
    char path[64], name[32];
    struct text text = hpcrec_text(path, sizeof path);
    if (t == hpcrec_self) {
        raw_prctl(PR_GET_NAME, name);
    } else {
        hpcrec_text_str(&text, "/proc/self/task/");
        hpcrec_text_u64(&text, (uint64_t)t->tid);
        hpcrec_text_str(&text, "/comm");
        if (hpcrec_slurp(path, name, sizeof name) <= 0)
            return;
    }
    name[strcspn(name, "\n")] = '\0';
    memcpy(row->name, name, sizeof row->name - 1);
}

static void close_row(struct thread *t)
{
    struct thread_row *row = hpcrec_row_of(t);
    row->end_ns = hpcrec_now(CLOCK_REALTIME);
    uint64_t cpu = hpcrec_now((clockid_t)(~(unsigned)t->tid << 3 | 6));
    if (cpu)
        row->cpu_ns = cpu;
    if (shared_row(t->row))
        memcpy(row->name, "more threads", 13);
    else
        read_name(t, row);
    row->ended = row->changed = true;
}

static void begin_locked(struct thread *t, pid_t tid)
{
    struct thread *found = find_tid(t->tid);
    if (found) { /* we found it before it could say so */
        hpcrec_drain_thread(found);
        t->row = found->row;
        hpcrec_timers_end(found);
        hpcrec_perf_end(found);
        unlink_it(found);
        hpcrec_thread_discard(found);
    } else if (!new_row(t)) {
        return;
    }
    link_in(t);
    hpcrec_perf_begin(t, tid);
    t->begun = true;
    hpcrec_timers_begin(t, t->tid);
    if (t->found && hpcrec_needs_papi())
        hpcrec_missing(
            "PAPI cannot sample threads that the C library starts itself: they are missing from the measurement");
}

void hpcrec_thread_begin(struct thread *t)
{
    sigset_t saved;
    t->tid = hpcrec_gettid();
    hpcrec_paths_begin(t);
    hpcrec_lock(&saved);
    hpcrec_self = t;
    begin_locked(t, 0);
    hpcrec_unlock(&saved);
    if (!t->begun)
        return;
    if (hpcrec.barriers)
        hpcrec.barriers->thread_begin(t);
    if (have_key)
        pthread_setspecific(end_key, t);
    hpcrec_papi_begin(t);
}

static void take_papi_totals(struct thread *t, const struct thread_row *papi_totals)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        if (papi_totals->has_total >> e & 1 && !shared_row(t->row)) {
            hpcrec_row_of(t)->total[e] = papi_totals->total[e];
            hpcrec_row_of(t)->has_total |= (uint8_t)(1u << e);
            hpcrec_row_of(t)->changed = true;
        }
}

void hpcrec_thread_end(struct thread *t)
{
    sigset_t saved;
    struct thread_row papi_totals = {0};
    if (!t->begun || t != hpcrec_self)
        return;
    hpcrec_papi_end(t, &papi_totals);
    if (hpcrec.barriers)
        hpcrec.barriers->thread_end(t);
    hpcrec_lock(&saved);
    take_totals(t);
    hpcrec_timers_end(t);
    take_papi_totals(t, &papi_totals);
    hpcrec_perf_switch(t, false);
    hpcrec_drain_thread(t);
    close_row(t);
    hpcrec_perf_end(t);
    unlink_it(t);
    t->begun = false;
    hpcrec_self = NULL;
    hpcrec_remember_ended(t->tid);
    note_end_by_library(t->tid);
    hpcrec_unlock(&saved);
    hpcrec_thread_discard(t);
}

void hpcrec_thread_totals(struct thread *t)
{
    sigset_t saved;
    struct thread_row papi_totals = {0};
    if (!t->begun || !hpcrec_needs_papi())
        return;
    hpcrec_papi_totals(t, &papi_totals);
    hpcrec_lock(&saved);
    take_papi_totals(t, &papi_totals);
    hpcrec_unlock(&saved);
}

/* The main thread comes here only by pthread_exit: exit runs no destructors of keys. */
static void at_thread_end(void *t)
{
    if (!hpcrec_active())
        return;
    bool is_main = ((struct thread *)t)->tid == atomic_load(&hpcrec.pid);
    hpcrec_thread_end(t);
    if (is_main)
        atomic_store(&main_ended, true);
}

void hpcrec_threads_init(void)
{
    have_key = have_key || pthread_key_create(&end_key, at_thread_end) == 0;
    hpcrec_hold(&task_dir, "/proc/self/task", O_DIRECTORY);
}

/* Threads in the order of their rows would be prettier, but the list is what there is; totals go by row. */
void hpcrec_threads_totals(void)
{
    for (struct thread *t = hpcrec.living; t; t = t->next)
        take_totals(t);
}

void hpcrec_threads_stop(void)
{
    hpcrec_threads_totals();
    for (struct thread *t = hpcrec.living; t; t = t->next) {
        hpcrec_perf_switch(t, false);
        hpcrec_drain_thread(t);
        close_row(t);
    }
}

void hpcrec_threads_switch(bool on)
{
    for (struct thread *t = hpcrec.living; t; t = t->next) {
        if (!on)
            hpcrec_drain_thread(t);
        hpcrec_perf_switch(t, on);
    }
}

void hpcrec_threads_forget(void)
{
    for (struct thread *t = hpcrec.living, *next; t; t = next) {
        next = t->next;
        t->ring = NULL; /* the kernel does not copy rings to children */
        hpcrec_thread_discard(t);
    }
    hpcrec.living = NULL;
    living_count = 0;
    main_ended = false;
    task_dir.fd = -1;
    memset(&ends, 0, sizeof ends);
    hpcrec_self = NULL;
    if (have_key)
        pthread_setspecific(end_key, NULL);
}

void hpcrec_threads_move_fd(int from, int to)
{
    if (task_dir.fd == from)
        task_dir.fd = to;
    for (struct thread *t = hpcrec.living; t; t = t->next)
        for (unsigned e = 0; e < EVENTS_MAX; e++)
            if (t->fd[e] == from)
                t->fd[e] = to;
}

/* ---- threads that did not register: started by the C library itself, or by clone
 * ------------------------------------- */

enum { REMEMBERED = 64 };
static pid_t ended_tids[REMEMBERED], seen_once[REMEMBERED];
static unsigned ended_at, seen_count;

/* A thread that reported its end is in /proc for a moment longer. */
void hpcrec_remember_ended(pid_t tid)
{
    ended_tids[ended_at++ % REMEMBERED] = tid;
}

static bool in_list(const pid_t *list, size_t n, pid_t tid)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == tid)
            return true;
    return false;
}

static void attach(pid_t tid)
{
    struct thread *t = hpcrec_thread_create();
    if (!t)
        return;
    t->tid = tid;
    t->found = true;
    begin_locked(t, tid);
    if (!t->begun)
        hpcrec_thread_discard(t);
}

/* Attached when seen twice: most threads register within microseconds. */
static void consider(pid_t tid, pid_t helper, pid_t *now, unsigned *now_count)
{
    if (tid == helper || find_tid(tid) || in_list(ended_tids, REMEMBERED, tid) ||
        (tid == atomic_load(&hpcrec.pid) && (main_ended || ends.first_gone)))
        return;
    if (in_list(seen_once, seen_count, tid))
        attach(tid);
    else if (*now_count < REMEMBERED)
        now[(*now_count)++] = tid;
}

struct entry64 { /* linux_dirent64, getdents(2) */
    uint64_t ino, off;
    uint16_t length;
    uint8_t type;
    char name[];
};

static void look_for_new(pid_t helper)
{
    pid_t now[REMEMBERED];
    unsigned now_count = 0;
    _Alignas(8) char buffer[4096];
    long n;
    if (syscall(SYS_lseek, task_dir.fd, 0, SEEK_SET) < 0)
        return;
    while ((n = syscall(SYS_getdents64, task_dir.fd, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < n;) {
            const struct entry64 *entry = (const struct entry64 *)(buffer + at);
            if (entry->name[0] != '.') /* numbers, but for the folder itself and the one around it */
                consider((pid_t)strtol(entry->name, NULL, 10), helper, now, &now_count);
            at += entry->length;
        }
    memcpy(seen_once, now, sizeof now);
    seen_count = now_count;
}

static void end_one(struct thread *t)
{
    take_totals(t);
    hpcrec_timers_end(t);
    hpcrec_drain_thread(t);
    close_row(t);
    hpcrec_perf_end(t);
    unlink_it(t);
    hpcrec_thread_discard(t);
}

/* The number of threads there are, the helper among them; 0: unknown. /proc's task directory has a link for each. */
static unsigned task_count(void)
{
    struct stat st;
    int fd = hpcrec_held(&task_dir, "/proc/self/task", O_DIRECTORY);
    return fd < 0 || raw_fstat(fd, &st) < 0 || st.st_nlink < 2 ? 0 : (unsigned)st.st_nlink - 2;
}

/* ---- unreported ends: a thread that makes the exit system call itself
 * -------------------------------------------------
 */
struct thread_info { /* linux/pidfd.h: struct pidfd_info, its first version */
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};

static void hold_thread(pid_t tid)
{
    for (unsigned i = 0; i < ends.held_count; i++)
        if (ends.held[i].tid == tid)
            return;
    if (ends.held_count == HELD_THREADS)
        return;
    ends.held[ends.held_count].tid = tid;
    ends.held[ends.held_count++].fd = hpcrec_fd_keep((int)syscall(SYS_pidfd_open, tid, PIDFD_OF_THREAD));
}

static void take_status(pid_t tid)
{
    struct thread_info info = {.mask = PIDFD_HAS_EXIT};
    for (unsigned i = 0; i < ends.held_count; i++) {
        if (ends.held[i].tid != tid)
            continue;
        if (raw_ioctl(ends.held[i].fd, _IOWR(0xff, 11, struct thread_info), &info) == 0 && info.mask & PIDFD_HAS_EXIT)
            ends.status = info.exit_code;
        hpcrec_fd_close(&ends.held[i].fd);
        ends.held[i] = ends.held[--ends.held_count];
        return;
    }
}

static bool last_thread_decides(void)
{
    struct utsname u;
    return uname(&u) == 0 && strtol(u.release, NULL, 10) >= 6;
}

/* pthread_exit and its like end a thread with status 0. */
static void note_end_by_library(pid_t tid)
{
    take_status(tid);
    if (ends.first_gone && last_thread_decides())
        ends.status = 0;
}

/* /proc/PID/task/TID/stat: "TID (NAME) STATE ... STATUS". */
static bool read_stat_of_first(char *state, int *status)
{
    char path[64], text[1024];
    struct text t = hpcrec_text(path, sizeof path);
    hpcrec_text_str(&t, "/proc/self/task/");
    hpcrec_text_u64(&t, (uint64_t)atomic_load(&hpcrec.pid));
    hpcrec_text_str(&t, "/stat");
    ssize_t n = hpcrec_slurp(path, text, sizeof text);
    const char *after_name = n > 0 ? strrchr(text, ')') : NULL;
    if (!after_name || after_name[1] != ' ')
        return false;
    *state = after_name[2];
    while (n > 0 && text[n - 1] != ' ')
        n--;
    *status = (int)strtol(text + n, NULL, 10);
    return true;
}

static bool first_has_ended(int *status)
{
    char state = 'R';
    int lives = hpcrec_first_thread_lives();
    if (lives <= 0 && !read_stat_of_first(&state, status))
        return lives == 0;
    return lives == 0 || state == 'Z' || state == 'X';
}

static void look_at_first(void)
{
    if (!ends.first_gone && first_has_ended(&ends.status)) {
        struct thread *t = find_tid(atomic_load(&hpcrec.pid));
        ends.first_gone = true;
        if (t) {
            ends.by_itself = true;
            end_one(t);
        }
    }
    for (struct thread *t = hpcrec.living; ends.first_gone && t; t = t->next)
        hold_thread(t->tid);
}

static bool is_gone(pid_t tid)
{
    return syscall(SYS_tgkill, atomic_load(&hpcrec.pid), tid, 0) != 0 && errno == ESRCH;
}

/* Threads we found ourselves; `all`: also those that would have reported their end had they ended by the library. */
static void end_the_gone(bool all)
{
    for (struct thread *t = hpcrec.living, *next; t; t = next) {
        next = t->next;
        if (!t->found && !all)
            continue;
        if (!is_gone(t->tid)) {
            hpcrec_timers_totals(t, hpcrec_row_of(t)); /* its clock ends with it */
            continue;
        }
        ends.by_itself |= !t->found;
        take_status(t->tid);
        end_one(t);
    }
}

void hpcrec_threads_look(pid_t helper)
{
    unsigned count = task_count();
    look_at_first();
    bool first_gone = main_ended || ends.first_gone;
    end_the_gone(count == 0 ? ends.first_gone : count < living_count + 1 + first_gone);
    if (count > living_count + 1 + first_gone || seen_count > 0)
        look_for_new(helper);
}

enum hpcrec_left hpcrec_threads_left(int *status)
{
    unsigned count = task_count();
    if (!ends.first_gone || living_count > 0 || (count != 2 && count != 0)) /* the first one, dead, and the helper */
        return STILL_THERE;
    *status = ends.status;
    return main_ended && !ends.by_itself ? LEFT_BY_LIBRARY : LEFT_BY_KERNEL;
}
