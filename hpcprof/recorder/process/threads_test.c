/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's threads (threads.c): registered ones, those found in /proc, how each ends and the process' end, in a
 * fake process. The recorder's actions are compared to the letter (tests/record/threads.cases).
 */
#undef syscall
#undef uname
#undef pthread_key_create
#undef pthread_setspecific
#include "config.h"

#include "hpcprof/recorder/output/paths.h"
#include "hpcprof/recorder/process/process.h"
#include "hpcprof/recorder/sampling/sampling.h"
#include "tests/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    PID = 111,
    HELPER = 199,
    TASKS = 200,
    TASK_DIR = 4001,
    PIDFD = 10000,
    NUMBER = 4711 /* of an event, not a descriptor */
};

/* ---- the process ---------------------------------------------------------------------------------------------------- */

static struct task {
    pid_t tid;
    char name[40];
    int status; /* exit state of its descriptor; -1: still running */
    bool ended;
} tasks[TASKS];
static unsigned task_count;
static pid_t now_tid = PID;
static bool is_active = true, no_proc, papi;
static int first_lives = 1;
static char first_stat[200], kernel[60] = "6.1.0-18";
static uint64_t ticks = 1000;
static void (*key_end)(void *);
static size_t listed; /* of the task directory */

static struct task *task_of(pid_t tid)
{
    for (unsigned i = 0; i < task_count; i++)
        if (tasks[i].tid == tid)
            return &tasks[i];
    return NULL;
}

/* ".", "..", then the numbers; four at a time. */
static long list_tasks(uint8_t *to, size_t room)
{
    size_t at = 0;
    for (int n = 0; n < 4 && listed < task_count + 2 && at + 40 <= room; listed++) {
        char name[20];
        const struct task *t = listed < 2 ? NULL : &tasks[listed - 2];
        if (t && t->ended)
            continue;
        snprintf(name, sizeof name, t ? "%d" : listed ? ".." : ".", t ? (int)t->tid : 0);
        uint16_t length = (uint16_t)((19 + strlen(name) + 1 + 7) / 8 * 8);
        memset(to + at, 0, length);
        memcpy(to + at + 16, &length, 2);
        memcpy(to + at + 19, name, strlen(name) + 1);
        at += length;
        n++;
    }
    return (long)at;
}

struct exit_info { /* linux/pidfd.h: struct pidfd_info */
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};

static long tell_exit(int fd, unsigned long request, struct exit_info *info)
{
    struct task *t = task_of(fd - PIDFD);
    hear("info(%d) ", fd - PIDFD);
    if (!t || request != _IOWR(0xff, 11, struct exit_info) || info->mask != 8)
        return -1;
    info->exit_code = t->status;
    info->mask = t->status < 0 ? 0 : 8 | 1;
    return 0;
}

long fake_syscall(long number, ...);
long fake_syscall(long number, ...)
{
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = i < 3 || number == SYS_mmap || number == SYS_mremap ? va_arg(list, long) : 0;
    va_end(list);
    unsigned alive = 0;
    switch (number) {
    case SYS_lseek:
        hear("list ");
        listed = 0;
        return no_proc || a[0] < TASK_DIR || a[1] != 0 || a[2] != SEEK_SET ? -1 : 0;
    case SYS_getdents64:
        return a[0] >= TASK_DIR ? list_tasks((uint8_t *)a[1], (size_t)a[2]) : -1;
    case SYS_tgkill:
        for (unsigned i = 0; i < task_count; i++)
            alive += tasks[i].tid == a[1] && !tasks[i].ended && a[0] == PID && a[2] == 0;
        errno = ESRCH;
        return alive ? 0 : -1;
    case SYS_fstat:
        for (unsigned i = 0; i < task_count; i++)
            alive += !tasks[i].ended;
        memset((void *)a[1], 0, sizeof(struct stat));
        ((struct stat *)a[1])->st_nlink = alive + 2;
        return a[0] >= TASK_DIR ? 0 : -1;
    case SYS_pidfd_open:
        hear("hold(%ld, %d) ", a[0], a[1] == O_EXCL);
        return PIDFD + a[0];
    case SYS_ioctl:
        return tell_exit((int)a[0], (unsigned long)a[1], (struct exit_info *)a[2]);
    case SYS_prctl:
        snprintf((char *)a[1], 16, "%s", a[0] == PR_GET_NAME && task_of(now_tid) ? task_of(now_tid)->name : "?");
        return 0;
    default:
        return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
}

int fake_uname(struct utsname *u);
int fake_uname(struct utsname *u)
{
    snprintf(u->release, sizeof u->release, "%s", kernel);
    return *kernel ? 0 : -1;
}
int fake_pthread_key_create(pthread_key_t *key, void (*end)(void *));
int fake_pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
    hear("key ");
    *key = 7;
    key_end = end;
    return 0;
}
int fake_pthread_setspecific(pthread_key_t key, const void *value);
int fake_pthread_setspecific(pthread_key_t key, const void *value)
{
    hear("set%u(%d) ", key, value ? (int)((const struct thread *)value)->tid : 0);
    return 0;
}

/* ---- the rest of the recorder --------------------------------------------------------------------------------------- */

static bool locked = true;

static void hear_thread(const char *word, const struct thread *t)
{
    hear("%s(%d)%s ", word, (int)t->tid, locked ? "" : " (without the lock)");
}

bool hpcrec_active(void)
{
    return is_active;
}
bool hpcrec_needs_papi(void)
{
    return papi;
}
pid_t hpcrec_gettid(void)
{
    return now_tid;
}
void hpcrec_lock(sigset_t *saved)
{
    (void)saved;
    hear("< ");
    locked = true;
}
void hpcrec_unlock(const sigset_t *saved)
{
    (void)saved;
    hear("> ");
    locked = false;
}
/* A thread's clock id from its number, as clock_getcpuclockid computes it. */
uint64_t hpcrec_now(clockid_t clock)
{
    if (clock == CLOCK_REALTIME)
        return ticks++;
    pid_t tid = ~((pid_t)clock >> 3);
    return (clock & 7) == 6 && task_of(tid) && !task_of(tid)->ended ? (uint64_t)tid * 100 : 0;
}
void hpcrec_missing(const char *sentence)
{
    hear("missing(%s) ", sentence);
}
void hpcrec_hold(struct held *h, const char *path, int flags)
{
    hear("hold(%s, %d) ", path, flags == O_DIRECTORY);
    h->fd = TASK_DIR;
}
int hpcrec_held(struct held *h, const char *path, int flags)
{
    if (h->fd < 0 || strcmp(path, "/proc/self/task") != 0 || flags != O_DIRECTORY)
        hear("held? ");
    if (h->fd >= 0 && h->fd != TASK_DIR)
        hear("held as %d ", h->fd);
    return no_proc ? -1 : h->fd;
}
int hpcrec_fd_keep(int fd)
{
    return fd;
}
void hpcrec_fd_close(int *fd)
{
    hear("close(%d) ", *fd - PIDFD);
    *fd = -1;
}
int hpcrec_first_thread_lives(void)
{
    return first_lives;
}
ssize_t hpcrec_slurp(const char *path, char *to, size_t size)
{
    int tid = -1, n = 0;
    sscanf(path, "/proc/self/task/%d/%n", &tid, &n);
    to[0] = '\0';
    if (strcmp(path + n, "stat") == 0 && tid == PID && first_stat[0])
        return snprintf(to, size, "%s", first_stat);
    if (strcmp(path + n, "comm") == 0 && task_of(tid) && !task_of(tid)->ended)
        return snprintf(to, size, "%s\n", task_of(tid)->name);
    return -1;
}
void hpcrec_count(uint32_t thread, unsigned event, uint32_t region, uint64_t pc, uint32_t parent, uint32_t samples,
                  uint64_t value)
{
    hear("count(%u %u %u %llx %d %u %llu) ", thread, event, region, (unsigned long long)pc, (int)parent, samples,
         (unsigned long long)value);
}
void hpcrec_paths_create(struct thread *t)
{
    for (unsigned e = 0; e < EVENTS_MAX; e++)
        if (t->fd[e] != -1 || t->perf_id[e] != 0)
            hear("not fresh ");
}
void hpcrec_paths_free(struct thread *t)
{
    hear("free(%d) ", (int)t->tid);
}
void hpcrec_paths_begin(struct thread *t)
{
    hear("path(%d) ", (int)t->tid);
}
void hpcrec_path_put(struct thread *t, struct queued *entry, const void *context)
{
    (void)t;
    entry->path_end = context ? 9 : 0;
}
uint32_t hpcrec_path_take(struct thread *t, const struct queued *entry)
{
    (void)t;
    return entry->path_end;
}
void hpcrec_perf_begin(struct thread *t, pid_t tid)
{
    hear_thread(tid == t->tid ? "ring" : tid ? "ring?" : "own-ring", t);
}
void hpcrec_perf_drain(struct thread *t)
{
    hear_thread("drain", t);
}
void hpcrec_perf_end(struct thread *t)
{
    hear_thread("ring-end", t);
}
void hpcrec_perf_switch(struct thread *t, bool on)
{
    hear_thread(on ? "on" : "off", t);
}
void hpcrec_perf_totals(struct thread *t, struct thread_row *row)
{
    hear_thread("totals", t);
    row->total[0] += 5;
    row->has_total |= 1;
}
uint64_t hpcrec_perf_position(const struct thread *t)
{
    return (uint64_t)t->tid;
}
void hpcrec_timers_begin(struct thread *t, pid_t tid)
{
    hear_thread(tid == t->tid ? "timers" : "timers?", t);
}
void hpcrec_timers_end(struct thread *t)
{
    hear_thread("timers-end", t);
}
void hpcrec_timers_totals(struct thread *t, struct thread_row *row)
{
    hear_thread("timed", t);
    row->total[2]++;
    row->has_total |= 4;
}
void hpcrec_papi_begin(struct thread *t)
{
    hear(locked ? "papi(%d) (under the lock) " : "papi(%d) ", (int)t->tid);
}
void hpcrec_papi_totals(struct thread *t, struct thread_row *row)
{
    (void)t;
    row->total[0] = 60;
    row->total[1] = 70;
    row->has_total = 3;
}
void hpcrec_papi_end(struct thread *t, struct thread_row *row)
{
    hear(locked ? "papi-end(%d) (under the lock) " : "papi-end(%d) ", (int)t->tid);
    row->total[1] = 71;
    row->has_total = papi ? 2 : 0;
}

/* ---- one case ------------------------------------------------------------------------------------------------------- */

struct wanted {
    pid_t tid;
    struct thread *found;
};

static void take_if_wanted(struct thread *t, void *wanted)
{
    struct wanted *w = wanted;
    if (t->tid == w->tid)
        w->found = t;
}

static struct thread *thread_of(pid_t tid)
{
    struct wanted w = {tid, NULL};
    hpcrec_threads_each(take_if_wanted, &w);
    return w.found;
}

static void begin_thread(pid_t tid)
{
    now_tid = tid;
    locked = false;
    hpcrec_thread_begin(hpcrec_thread_create());
    locked = true;
}

/* As for threads that end regularly: directly, or by the key's destructor. */
static void end_thread(pid_t tid, bool by_key)
{
    struct thread *t = thread_of(tid);
    now_tid = tid;
    locked = false;
    hpcrec_self = t;
    if (!t)
        hear("no thread ");
    else if (by_key)
        key_end(t);
    else
        hpcrec_thread_end(t);
    locked = true;
}

static void show_fds(struct thread *t, void *ctx)
{
    (void)ctx;
    for (unsigned e = 0; e < EVENTS_MAX; e++)
        if (t->fd[e] >= 0)
            hear("%d.%u is %d ", (int)t->tid, e, t->fd[e]);
    if (t->perf_id[0] && t->perf_id[0] != NUMBER)
        hear("%d has another number ", (int)t->tid);
}

static void show_row(const struct thread_row *r)
{
    hear("[%u '%s' %llu-%llu cpu %llu%s%s has %u", r->number, r->name, (unsigned long long)r->start_ns,
         (unsigned long long)r->end_ns, (unsigned long long)r->cpu_ns, r->ended ? " ended" : "",
         r->changed ? " changed" : "", r->has_total);
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        hear(" %llu/%llu", (unsigned long long)r->total[e], (unsigned long long)r->lost[e]);
    for (unsigned e = 0; e < EVENTS_MAX; e++)
        if (r->throttled[e] || (e >= hpcrec.config.event_count && r->lost[e]))
            hear(" and more");
    hear("] ");
}

static void show_living(struct thread *t, void *ctx)
{
    (void)ctx;
    hear("%d:%u%s ", (int)t->tid, t->row, t->found ? "f" : "");
}

static void add_tasks(pid_t first, int n, const char *name)
{
    for (int i = 0; i < n && task_count < TASKS; i++) {
        struct task *t = &tasks[task_count++];
        *t = (struct task){.tid = first + i, .status = -1};
        snprintf(t->name, sizeof t->name, "%s", name);
    }
}

static void do_step(const char *word, const char *rest)
{
    char text[60] = "";
    long a = 0, b = 0;
    int n = rest ? sscanf(rest, "%ld %ld", &a, &b) : 0;
    if (rest)
        snprintf(text, sizeof text, "%s", rest + strcspn(rest, " ") + (strchr(rest, ' ') != NULL));
    pid_t tid = (pid_t)a;
    if (strcmp(word, "init") == 0)
        hpcrec_threads_init();
    else if (strcmp(word, "task") == 0)
        add_tasks(tid, 1, text);
    else if (strcmp(word, "tasks") == 0)
        add_tasks(tid, (int)b, "many");
    else if (strcmp(word, "gone") == 0) /* with the state of its descriptor */
        task_of(tid)->ended = true, task_of(tid)->status = n > 1 ? (int)b : -1;
    else if (strcmp(word, "rename") == 0)
        snprintf(task_of(tid)->name, sizeof task_of(tid)->name, "%s", text);
    else if (strcmp(word, "begin") == 0)
        begin_thread(tid);
    else if (strcmp(word, "pass") == 0) /* this many threads that start and end */
        for (pid_t i = tid; i < tid + b; i++)
            add_tasks(i, 1, "short"), begin_thread(i), end_thread(i, false), task_of(i)->ended = true, *heard = '\0';
    else if (strcmp(word, "end") == 0)
        end_thread(tid, false);
    else if (strcmp(word, "key") == 0)
        end_thread(tid, true);
    else if (strcmp(word, "own") == 0) { /* totals of a thread, by itself */
        locked = false;
        hpcrec_thread_totals(thread_of(tid));
        locked = true;
    } else if (strcmp(word, "look") == 0)
        hpcrec_threads_look(HELPER);
    else if (strcmp(word, "left") == 0) {
        int status = -7;
        enum hpcrec_left left = hpcrec_threads_left(&status);
        hear("%s %d ", left == STILL_THERE ? "still" : left == LEFT_BY_LIBRARY ? "library" : "kernel", status);
    } else if (strcmp(word, "living") == 0)
        hpcrec_threads_each(show_living, NULL);
    else if (strcmp(word, "row") == 0)
        show_row((struct thread_row *)hpcrec.thread_rows.items + a);
    else if (strcmp(word, "unchanged") == 0)
        ((struct thread_row *)hpcrec.thread_rows.items)[a].changed = false;
    else if (strcmp(word, "rows") == 0)
        hear("%zu of %u ", hpcrec.thread_rows.count, hpcrec.threads_seen);
    else if (strcmp(word, "totals") == 0)
        hpcrec_threads_totals();
    else if (strcmp(word, "stop") == 0)
        hpcrec_threads_stop();
    else if (strcmp(word, "switch") == 0)
        hpcrec_threads_switch(a != 0);
    else if (strcmp(word, "drain") == 0)
        hpcrec_threads_drain();
    else if (strcmp(word, "forget") == 0) {
        hpcrec_threads_forget();
        hear("self %d ", hpcrec_self != NULL);
    } else if (strcmp(word, "sample") == 0) /* of a thread that is in region 3; of event 1 */
        thread_of(tid)->region = 3, hpcrec_queue_sample(thread_of(tid), 1, 0xc0de, (uint32_t)b, b > 5 ? heard : NULL);
    else if (strcmp(word, "samples") == 0) /* this many samples, of the events in turn, each of 10 */
        for (long i = 0; i < b; i++)
            hpcrec_queue_sample(thread_of(tid), (unsigned)i % 3, 0xc0de, 10, NULL);
    else if (strcmp(word, "measure") == 0)
        hpcrec.measuring = a != 0;
    else if (strcmp(word, "fd") == 0)
        thread_of(tid)->fd[b] = (int)(500 + b), thread_of(tid)->perf_id[0] = NUMBER;
    else if (strcmp(word, "move") == 0) {
        hpcrec_threads_move_fd((int)a, (int)b);
        hpcrec_threads_each(show_fds, NULL);
    } else if (strcmp(word, "last") == 0)
        ((struct thread_row *)hpcrec.thread_rows.items)[a].last_context = (uint32_t)b,
                            hear("%d ", (int)hpcrec_thread_last_context((uint32_t)a));
    else if (strcmp(word, "first") == 0) { /* whether it is alive according to memory and to /proc */
        first_lives = (int)a;
        snprintf(first_stat, sizeof first_stat, "%s", text);
    } else if (strcmp(word, "kernel") == 0)
        snprintf(kernel, sizeof kernel, "%s", rest ? rest : "");
    else if (strcmp(word, "proc") == 0)
        no_proc = a == 0;
    else if (strcmp(word, "papi") == 0)
        papi = a != 0;
    else if (strcmp(word, "events") == 0)
        hpcrec.config.event_count = (unsigned)a;
    else if (strcmp(word, "active") == 0)
        is_active = a != 0;
    else if (strcmp(word, "seen") == 0) /* this many rows, as if so many threads had existed */
        for (hpcrec_area_room(&hpcrec.thread_rows, (size_t)a, sizeof(struct thread_row));
             hpcrec.thread_rows.count < (size_t)a;)
            hpcrec.thread_rows.count++, hpcrec.threads_seen++;
    else
        hear("no such step: %s ", word);
}

static void be_process(char *script)
{
    hpcrec.config.event_count = 3;
    hpcrec.measuring = true;
    for (unsigned e = 0; e < 3; e++)
        hpcrec.config.events[e].conf.period = 10 + e;
    atomic_store(&hpcrec.pid, PID);
    add_tasks(PID, 1, "main");
    add_tasks(HELPER, 1, "hpcview");
    hpcrec_threads_init();
    steps_take(script, do_step);
}

int main(void)
{
    steps_run("tests/record/threads.cases", be_process);
    return tap_done();
}
