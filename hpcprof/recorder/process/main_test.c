/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's start, helper and end (main.c), with fakes that log their calls. The helper is a thread that runs only
 * when the test permits it, with the test's clock. A case begins with the constructor, as programs do, so each runs in
 * its own process.
 */
#undef syscall
#undef on_exit
#undef at_quick_exit
#undef pthread_atfork
#undef pthread_sigmask
#undef exit
#undef readlink
#include "config.h"

#include "hpcprof/recorder/output/paths.h"
#include "hpcprof/recorder/process/process.h"
#include "hpcprof/recorder/sampling/sampling.h"
#include "tests/steps.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PID = 111, HELPER = 900, MS = 1000000 };

/* The initial state of the fakes: WORLD, words surrounded by blanks. */
static bool world_is(const char *word)
{
    char text[40];
    const char *world = getenv("WORLD");
    snprintf(text, sizeof text, " %s ", word);
    return world && strstr(world, text);
}

/* ---- the rest of the recorder --------------------------------------------------------------------------------------- */

static pid_t pid = PID;
static uint64_t clock_ns = 5000 * (uint64_t)MS, pause_ms = 50;
static bool locked, many;
static enum hpcrec_left left = STILL_THERE;
static int left_status;
static struct thread threads[4];
static unsigned thread_count;
static _Thread_local pid_t tid = PID;

static void hear_locked(const char *word)
{
    hear("%s%s ", word, locked ? "" : " (without the lock)");
}

void hpcrec_lock(sigset_t *saved)
{
    hear(locked ? "lock (again) " : "< ");
    locked = true;
    sigemptyset(saved);
    sigaddset(saved, SIGUSR1);
}
void hpcrec_unlock(const sigset_t *saved)
{
    hear("%s%s ", locked ? ">" : "unlock (again)", sigismember(saved, SIGUSR1) ? "" : " (another mask)");
    locked = false;
}
void hpcrec_lock_reset(void)
{
    hear("reset-lock ");
    locked = false;
}
uint64_t hpcrec_now(clockid_t clock)
{
    return clock_ns + (clock == CLOCK_REALTIME);
}
pid_t hpcrec_gettid(void)
{
    return tid;
}
void hpcrec_wrap_init(void)
{
    hear("wrap ");
}
void hpcrec_remember_environment(void)
{
    hear("remember ");
}
void hpcrec_clean_environment(void)
{
    hear("clean ");
}
void hpcrec_signals_begin(void (*finish)(int status))
{
    (void)finish;
    hear("signals ");
}
struct thread *hpcrec_thread_create(void)
{
    hear("thread ");
    return world_is("full") ? NULL : &threads[thread_count++ % 4];
}
void hpcrec_thread_begin(struct thread *t)
{
    hear("begin-thread ");
    t->begun = true;
    hpcrec_self = t;
}
void hpcrec_thread_end(struct thread *t)
{
    hear("end-thread ");
    t->begun = false;
    hpcrec_self = NULL;
    if (world_is("signal-at-end"))
        hpcrec_finish(99);
}
void hpcrec_hold(struct held *h, const char *path, int flags)
{
    (void)h, (void)flags;
    hear("hold %s ", path);
}
void hpcrec_environment_gather(void)
{
    hear("facts(pid %d, from %d, at %llu and %llu) ", (int)atomic_load(&hpcrec.pid), hpcrec.parent == getppid(),
         (unsigned long long)(hpcrec.start_ns % MS), (unsigned long long)(hpcrec.start_mono / MS));
}
void hpcrec_maps_open(void)
{
    hear("maps ");
}
void hpcrec_threads_init(void)
{
    hear("threads ");
}
bool hpcrec_needs_papi(void)
{
    return world_is("papi") || world_is("papi-fails");
}
bool hpcrec_papi_load(void)
{
    hear("papi ");
    return !world_is("papi-fails");
}
void hpcrec_missing(const char *sentence)
{
    hear("missing(%s) ", sentence);
}
void hpcrec_paths_refresh(void)
{
    hear("paths ");
}
int hpcrec_real_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    hear("mask%d(%s) ", how, sigismember(set, SIGTERM) ? "all" : sigismember(set, SIGUSR2) ? "as it was" : "other");
    if (old)
        sigemptyset(old), sigaddset(old, SIGUSR2);
    return 0;
}
void hpcrec_threads_forget(void)
{
    hear("forget: threads ");
    hpcrec_self = NULL;
}
void hpcrec_perf_forget(void)
{
    hear("perf ");
}
void hpcrec_counts_forget(void)
{
    hear("counts ");
}
void hpcrec_maps_forget(void)
{
    hear("maps ");
}
void hpcrec_fd_forget_all(void)
{
    hear("descriptors ");
}
void hpcrec_file_forget(void)
{
    hear("file(%zu rows left) ", hpcrec.modules.room + hpcrec.contexts.room + hpcrec.cells.room + hpcrec.regions.room +
                                     hpcrec.thread_rows.room + hpcrec.extra_events.room);
}
void hpcrec_maps_new_round(void)
{
    hear_locked("round");
}
void hpcrec_maps_check(void)
{
    hear_locked("check");
}
void hpcrec_threads_drain(void)
{
    hear_locked(hpcrec.measuring ? "drain" : "throw-away");
}
void hpcrec_threads_switch(bool on)
{
    hear_locked(on ? hpcrec.measuring ? "on" : "on (not yet measuring)" : hpcrec.measuring ? "off" : "off (too late)");
}
void hpcrec_threads_stop(void)
{
    hear_locked("stop");
}
void hpcrec_threads_totals(void)
{
    hear_locked("totals");
}
void hpcrec_maps_name_all(void)
{
    hear_locked("name-all");
}
void hpcrec_file_encode(bool end, int status)
{
    hear_locked("encode");
    hear("(%d, %d) ", end, status);
}
void hpcrec_file_write(bool end)
{
    hear(locked ? "write%d (under the lock) " : "write%d ", end);
    if (world_is("signal-at-write"))
        hpcrec_ask(TASK_FLUSH, 8);
}
void hpcrec_threads_look(pid_t helper)
{
    hear_locked("look");
    hear("(%d) ", (int)helper);
}
bool hpcrec_contexts_are_many(void)
{
    return many;
}
enum hpcrec_left hpcrec_threads_left(int *status)
{
    if (left == LEFT_BY_KERNEL)
        *status = left_status;
    return left;
}
uint64_t hpcrec_perf_pause_ms(void)
{
    return pause_ms;
}
ssize_t hpcrec_slurp(const char *path, char *to, size_t size)
{
    if (strcmp(path, "/proc/self/cmdline") != 0 || world_is("no-words"))
        return -1;
    return snprintf(to, size, "/bin/words");
}

/* Regions by number; their names by number, too. */
static char names[20][20];

uint32_t hpcrec_region_row(const char *name, uint32_t parent)
{
    struct region_row *rows;
    hear_locked("region");
    for (uint32_t i = 0; i < hpcrec.regions.count; i++) {
        rows = hpcrec.regions.items;
        if (rows[i].parent == parent && strcmp(names[rows[i].name], name) == 0)
            return i + 1;
    }
    hpcrec_area_room(&hpcrec.regions, hpcrec.regions.count + 1, sizeof *rows);
    rows = hpcrec.regions.items;
    uint32_t i = (uint32_t)hpcrec.regions.count++;
    rows[i] = (struct region_row){19 - i, parent};
    snprintf(names[19 - i], sizeof names[0], "%s", name);
    return i + 1;
}
const char *hpcrec_string(uint32_t offset)
{
    return names[offset];
}
void hpcrec_mark_region(struct thread *t, uint32_t region)
{
    hear(locked ? "mark %u (under the lock) " : "mark %u ", region);
    t->region = region;
}

/* ---- the system ------------------------------------------------------------------------------------------------------- */

enum { HELPERS = 4 }; /* maximum number of successive helpers: in forked children */
static sem_t helper_may[HELPERS], program_may;
static unsigned helpers;
static _Thread_local unsigned which_helper;
static bool helper_is_there;
static void *(*helper_begin)(void *);
static void (*exit_handler)(int, void *), (*quick_handler)(void);
static void (*fork_before)(void), (*fork_parent)(void), (*fork_child)(void);

/* A waiting thread lets the other one run. */
static void let_helper(void)
{
    sem_post(&helper_may[helpers]);
    sem_wait(&program_may);
}

static void let_program(void)
{
    sem_post(&program_may);
    sem_wait(&helper_may[which_helper]);
}

/* The thread that this is ends with its process, or as threads do. */
static void end_helper(void)
{
    helper_is_there = false;
    sem_post(&program_may);
    pthread_exit(NULL);
}

static void *run_helper(void *arg)
{
    tid = HELPER;
    which_helper = helpers;
    sem_wait(&helper_may[which_helper]);
    helper_begin(arg);
    hear("helper-ends ");
    end_helper();
    return NULL;
}

int hpcrec_real_pthread_create(pthread_t *id, const void *attr, void *(*run)(void *), void *arg)
{
    int state = -1;
    size_t size = 0;
    pthread_attr_t standard;
    static int tries;
    if (attr) {
        pthread_attr_getdetachstate(attr, &state);
        pthread_attr_getstacksize(attr, &size);
        hear("create(%s, %zu) ", state == PTHREAD_CREATE_DETACHED ? "detached" : "joinable", size);
    } else
        hear("create ");
    if (world_is("no-threads") || (world_is("large-threads") && tries++ == 0))
        return EAGAIN;
    helper_begin = run;
    helpers = (helpers + 1) % HELPERS;
    helper_is_there = !world_is("slow-helper");
    pthread_attr_init(&standard);
    pthread_attr_setdetachstate(&standard, PTHREAD_CREATE_DETACHED);
    int status = pthread_create(id, &standard, run_helper, arg);
    pthread_attr_destroy(&standard);
    return status;
}

static long futex(const _Atomic uint32_t *word, int what, uint32_t value, const struct timespec *time)
{
    static const void *words[3];
    int which = 0;
    while (which < 2 && words[which] && words[which] != word)
        which++;
    words[which] = word;
    if (what == FUTEX_WAKE_PRIVATE) {
        hear("wake-%c(%u) ", 'A' + which, value);
        return 0;
    }
    if (!world_is("slow-helper") && !world_is("dead-disk"))
        hear("wait-%c(%u, %ld ms) ", 'A' + which, value, time->tv_sec * 1000L + time->tv_nsec / MS);
    if (atomic_load(word) != value || what != FUTEX_WAIT_PRIVATE)
        return -1;
    if (tid == HELPER)
        let_program();
    else if (helper_is_there)
        let_helper();
    else
        clock_ns += (uint64_t)time->tv_sec * 1000 * MS + (uint64_t)time->tv_nsec;
    return 0;
}

long fake_syscall(long number, ...);
long fake_syscall(long number, ...)
{
    va_list list;
    long a[4];
    va_start(list, number);
    for (int i = 0; i < 4 && number != SYS_getpid; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    switch (number) {
    case SYS_getpid:
        return pid;
    case SYS_futex:
        return futex((const _Atomic uint32_t *)a[0], (int)a[1], (uint32_t)a[2], (const struct timespec *)a[3]);
    case SYS_prctl:
        hear("name(%s) ", a[0] == PR_SET_NAME ? (const char *)a[1] : "?");
        return 0;
    case SYS_rt_sigprocmask:
        hear("signals(%ld, %s) ", a[0], sigismember((const sigset_t *)a[1], SIGUSR1) ? "as it was" : "others");
        return 0;
    case SYS_exit_group:
        hear("exit-group(%ld) ", a[0]);
        end_helper();
        return 0;
    case SYS_munmap:
    case SYS_mmap:
        return syscall(number, a[0], a[1], a[2], a[3], -1L, 0L);
    default:
        hear("system call %ld ", number);
        return -1;
    }
}

int fake_on_exit(void (*f)(int, void *), void *arg);
int fake_on_exit(void (*f)(int, void *), void *arg)
{
    hear("on-exit ");
    exit_handler = arg ? NULL : f;
    return 0;
}
int fake_at_quick_exit(void (*f)(void));
int fake_at_quick_exit(void (*f)(void))
{
    hear("at-quick-exit ");
    quick_handler = f;
    return 0;
}
int fake_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int fake_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    hear("at-fork ");
    fork_before = before, fork_parent = parent, fork_child = child;
    return 0;
}
int fake_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int fake_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    (void)old;
    hear("mask%d(%s) ", how, sigisemptyset(set) ? "none" : "some");
    return 0;
}
void fake_exit(int status);
void fake_exit(int status)
{
    hear("exit(%d) ", status);
    exit_handler(status, NULL);
    end_helper();
}
ssize_t fake_readlink(const char *path, char *to, size_t size);
ssize_t fake_readlink(const char *path, char *to, size_t size)
{
    (void)path;
    if (world_is("no-exe"))
        return -1;
    memset(to, 'x', size);
    memcpy(to, "/usr/bin/solve", 14);
    return 14;
}

/* ---- one case ----------------------------------------------------------------------------------------------------------- */

extern const struct hpcview_calls hpcview_calls_1;

static void fork_off(bool wrapped, bool is_child)
{
    hpcrec_in_fork_wrapper = wrapped;
    if (fork_before)
        fork_before();
    if (is_child) {
        pid += 1000;
        tid = pid;
        helper_is_there = false;
        hpcrec_area_room(&hpcrec.cells, 100, sizeof(struct cell));
        hpcrec_area_room(&hpcrec.modules, 100, sizeof(struct module_row));
        hpcrec_area_room(&hpcrec.contexts, 100, sizeof(struct context_row));
        hpcrec_area_room(&hpcrec.thread_rows, 100, sizeof(struct thread_row));
        hpcrec_area_room(&hpcrec.extra_events, 100, sizeof(struct extra_event));
        if (fork_child)
            fork_child();
        hpcrec_in_fork_wrapper = false;
        if (wrapped)
            hpcrec_fork_restart();
    } else
        fork_parent();
}

/* Commands of the script: an action and a number or name. */
static void do_step(const char *word, const char *name)
{
    int n = name ? atoi(name) : 0;
    if (strcmp(word, "turn") == 0) { /* as long as the helper rests, n times; it may end */
        for (; n-- > 0 && helper_is_there;) {
            clock_ns += pause_ms * MS;
            let_helper();
        }
    } else if (strcmp(word, "clock") == 0)
        clock_ns += (uint64_t)n * MS;
    else if (strcmp(word, "pause") == 0)
        pause_ms = (uint64_t)n;
    else if (strcmp(word, "start") == 0)
        hpcview_calls_1.start();
    else if (strcmp(word, "stop") == 0)
        hpcview_calls_1.stop();
    else if (strcmp(word, "in") == 0)
        hpcview_calls_1.region_begin(name);
    else if (strcmp(word, "out") == 0)
        hpcview_calls_1.region_end(name);
    else if (strcmp(word, "thread") == 0) /* another thread of the program */
        hpcrec_self = n < 0 ? NULL : &threads[n], threads[n < 0 ? 0 : n].begun = true;
    else if (strcmp(word, "unbegun") == 0)
        hpcrec_self->begun = false;
    else if (strcmp(word, "ask") == 0)
        hpcrec_ask((enum hpcrec_task)n, 7);
    else if (strcmp(word, "finish") == 0)
        hpcrec_finish(n);
    else if (strcmp(word, "exit") == 0)
        exit_handler(n, NULL);
    else if (strcmp(word, "quick") == 0)
        quick_handler();
    else if (strcmp(word, "status") == 0)
        hpcrec_set_exit_status(n);
    else if (strcmp(word, "fork") == 0) /* 0: the parent, 1: the child, 2: the child, by fork()'s wrapper */
        fork_off(n == 2, n > 0);
    else if (strcmp(word, "pid") == 0)
        pid = n;
    else if (strcmp(word, "left") == 0) /* by the library, or with a status by the kernel */
        left = name ? LEFT_BY_KERNEL : LEFT_BY_LIBRARY, left_status = n;
    else if (strcmp(word, "many") == 0)
        many = n;
    else if (strcmp(word, "helper") == 0) /* thread identity, as queried by each */
        hear("%d ", hpcrec_is_helper()), tid = HELPER, hear("%d ", hpcrec_is_helper()), tid = pid;
    else if (strcmp(word, "as-helper") == 0)
        tid = HELPER;
    else if (strcmp(word, "clock?") == 0)
        hear("%llu ", (unsigned long long)(clock_ns / MS));
    else
        hear("no such step: %s ", word);
}

static void show(const char *what)
{
    printf("%s: %s\n", what, heard);
    *heard = '\0';
}

static void show_config(void)
{
    struct config c = {0};
    bool good = hpcrec_config_read(&c, getenv(RECORD_VARIABLE));
    printf("%s dir(%s) only(%s) papi(%s) env(%s) region(%s, %u) tell(%s)\n", good ? "good" : "bad", c.dir, c.only,
           c.papi_library, c.note_env, c.region, c.region_time, c.notify);
    printf("papi%d multiplex%d children%d paths%d of %zu phases%d watch%d warn %llu run %u delay %llu duration %llu\n",
           c.papi, c.multiplex, c.children, c.call_paths, c.paths_max, c.phases, c.watch, (unsigned long long)c.warn_ns,
           c.run, (unsigned long long)c.delay_ns, (unsigned long long)c.duration_ns);
    for (unsigned i = 0; i < c.event_count; i++) {
        const struct record_event *e = &c.events[i].conf;
        printf("event(%s; %s; %s) %llu %llu kind %u %u %llu %llu %llu flags %u\n", e->name, e->description, e->unit,
               (unsigned long long)e->period, (unsigned long long)e->frequency, e->kind, e->type,
               (unsigned long long)e->config, (unsigned long long)e->config1, (unsigned long long)e->config2, e->flags);
    }
}

static int be_program(char *script)
{
    if (strcmp(script, "config") == 0)
        show_config();
    if (str_starts(script, "begin"))
        show("begin");
    *heard = '\0';
    for (char *line; (line = strsep(&script, ";"));) {
        line += strspn(line, " ");
        char *all = mem_strdup(line), *word = strsep(&line, " ");
        if (*word && strcmp(word, "begin") != 0 && strcmp(word, "config") != 0) {
            do_step(word, line);
            printf("%s%s", hpcrec_active() ? "" : "(inactive) ", hpcrec.was_switched ? "(switched) " : "");
            show(all);
        }
        mem_free(all);
    }
    exit(0); /* with a thread that waits for ever */
}

/* ---- the cases ---------------------------------------------------------------------------------------------------------- */

static char *config, *world, *self;

static void begin(void *ctx, const char *name)
{
    (void)ctx, (void)name;
    mem_free(config);
    mem_free(world);
    config = world = NULL;
}

static void option(void *ctx, const char *word)
{
    (void)ctx, (void)word;
}

static void input(void *ctx, const char *which, const char *text)
{
    bool of_world = strcmp(which, "world") == 0;
    char **to = of_world ? &world : &config;
    (void)ctx;
    mem_free(*to);
    *to = of_world ? mem_printf(" %.*s ", (int)strcspn(text, "\n"), text) : mem_strdup(text);
}

/* The constructor has run in this process, but nothing is recorded: the case runs in another process. */
static void become_program(char *script)
{
    setenv("WORLD", world ? world : "", 1);
    if (config)
        setenv(RECORD_VARIABLE, config, 1);
    execl(self, self, "--case", script, (char *)NULL);
}

/* "-- do turn 1; stop": the steps; the text of the part is the expected result. "-- config": the configuration as
   read. */
static void output(void *ctx, const char *what, struct buf *out)
{
    (void)ctx;
    steps_in_process(str_starts(what, "do ") ? what + 3 : what, become_program, out);
}

int main(int argc, char **argv)
{
    static const char *const inputs[] = {"world", "record", NULL};
    struct cases c = {inputs, begin, option, input, output, NULL, NULL, {0}};
    char path[PATH_MAX];
    if (argc == 3 && strcmp(argv[1], "--case") == 0)
        return be_program(argv[2]);
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    self = path;
    unsetenv(RECORD_VARIABLE);
    cases_run(&c, "tests/record/main.cases");
    return tap_done();
}
