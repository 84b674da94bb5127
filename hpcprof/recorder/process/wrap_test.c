/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of the C library (wrap.c, signals.c, interrupted_syscalls.c): the program's calls, the resulting calls of
 * the library, and of the recorder. The library is a fake (fake_libc.h) that logs its calls.
 */
#include "config.h"

#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/process/process.h"
#include "hpcprof/recorder/sampling/sampling.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

struct recorder hpcrec = {.dir.fd = -1, .file_fd = -1, .temp_fd = -1};
_Thread_local struct thread *hpcrec_self __attribute__((tls_model("initial-exec")));
_Thread_local bool hpcrec_in_papi __attribute__((tls_model("initial-exec")));
_Thread_local uint64_t hpcrec_waiting_pc __attribute__((tls_model("initial-exec")));
_Thread_local bool hpcrec_in_fork_wrapper __attribute__((tls_model("initial-exec")));

enum { TIMERS = 40, PAPIS = 41 };

/* ---- log of calls ------------------------------------------------------------------------------------------------ */

static char heard[4000];

__attribute__((format(printf, 1, 2))) static void hear(const char *format, ...)
{
    size_t n = strlen(heard);
    va_list args;
    va_start(args, format);
    vsnprintf(heard + n, sizeof heard - n, format, args);
    va_end(args);
}

static void check_heard(const char *want, const char *name)
{
    if (!tap_result(strcmp(heard, want) == 0, name, __FILE__, __LINE__))
        printf("# got    \"%s\"\n# wanted \"%s\"\n", heard, want);
    *heard = '\0';
}

static int count_of(const char *word)
{
    int n = 0;
    for (const char *at = heard; (at = strstr(at, word)); at++)
        n++;
    return n;
}

/* ---- the rest of the recorder --------------------------------------------------------------------------------------- */

static bool active, has_room;
static struct thread a_thread;
static const int ours[] = {700, 703, -1};
static int disowned = -2;

bool hpcrec_active(void)
{
    return active;
}
struct thread *hpcrec_thread_create(void)
{
    hear("create ");
    return has_room ? &a_thread : NULL;
}
void hpcrec_thread_discard(struct thread *t)
{
    hear(t == &a_thread ? "discard " : "discard? ");
}
void hpcrec_thread_begin(struct thread *t)
{
    hear(t == &a_thread ? "begin " : "begin? ");
}
void hpcrec_thread_totals(struct thread *t)
{
    hear(t == hpcrec_self ? "totals " : "totals? ");
}
void hpcrec_fork_restart(void)
{
    hear("restart ");
}
void hpcrec_ask(enum hpcrec_task task, int status)
{
    hear("ask %d %d ", (int)task, status);
}
static void finish_by_signal(int status)
{
    hear("ask %d %d ", (int)TASK_FINISH, status);
}
void hpcrec_finish(int status)
{
    hear("finish %d ", status);
}
void hpcrec_set_exit_status(int status)
{
    hear("status %d ", status);
}
void hpcrec_papi_restart(struct thread *t)
{
    hear(t == hpcrec_self ? "papi " : "papi? ");
}
int hpcrec_papi_signal(void)
{
    return PAPIS;
}
int hpcrec_timers_signal(void)
{
    return TIMERS;
}
void hpcrec_lock(sigset_t *saved)
{
    (void)saved;
    hear("lock ");
}
void hpcrec_unlock(const sigset_t *saved)
{
    (void)saved;
    hear("unlock ");
}
bool hpcrec_fd_is_ours(int fd)
{
    return fd != disowned && (fd == ours[0] || fd == ours[1]);
}
int hpcrec_fd_next(int from)
{
    return from <= ours[0] ? ours[0] : from <= ours[1] ? ours[1] : INT_MAX;
}
int hpcrec_fd_keep(int fd)
{
    hear("keep %d ", fd);
    return fd;
}
void hpcrec_fd_disown(int fd)
{
    hear("disown %d ", fd);
}
void hpcrec_threads_move_fd(int from, int to)
{
    hear("threads %d %d ", from, to);
}
void hpcrec_maps_move_fd(int from, int to)
{
    hear("maps %d %d ", from, to);
}
void hpcrec_maps_new_round(void)
{
    hear("round ");
}
void hpcrec_maps_check(void)
{
    hear("check ");
}
void hpcrec_maps_stale(void)
{
    hear("stale ");
}
void hpcrec_threads_drain(void)
{
    hear("drain ");
}
void hpcrec_missing(const char *sentence)
{
    hear("missing %s ", sentence);
}

/* ---- the library ---------------------------------------------------------------------------------------------------- */

static int answers;              /* result of calls that can fail */
static bool ranges;              /* the kernel supports close_range */
static struct sigaction now[65]; /* the process's signal actions */
static jmp_buf gone;             /* target of calls that end the process */

static int real_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    (void)id;
    hear("pthread_create%s ", attr ? " attr" : "");
    if (answers == 0)
        hear("-> %s ", (char *)run(arg));
    return answers;
}
static int real_thrd_create(thrd_t *id, thrd_start_t run, void *arg)
{
    (void)id;
    hear("thrd_create ");
    if (answers == 0)
        hear("-> %d ", run(arg));
    return answers ? thrd_error : thrd_success;
}
static pid_t real_fork(void)
{
    hear("fork%s ", hpcrec_in_fork_wrapper ? " (ours)" : "");
    return answers;
}
static int real_daemon(int a, int b)
{
    hear("daemon %d %d ", a, b);
    return answers;
}
static void real_end(int status)
{
    hear("end %d ", status);
    longjmp(gone, 1);
}
static void hear_words(const char *const *words)
{
    for (; words && *words; words++)
        hear(" %s", *words);
    hear("|");
}
static int executed(const char *how, const char *what, char *const *argv, char *const *envp)
{
    hear("%s %s:%s", how, what, now[TIMERS].sa_handler == SIG_IGN ? " (signals ignored)" : "");
    hear_words((const char *const *)argv);
    hear_words((const char *const *)envp);
    hear(" ");
    errno = ENOEXEC;
    return -1;
}
static int real_execve(const char *path, char *const *argv, char *const *envp)
{
    return executed("execve", path, argv, envp);
}
static int real_execvpe(const char *path, char *const *argv, char *const *envp)
{
    return executed("execvpe", path, argv, envp);
}
static int real_fexecve(int fd, char *const *argv, char *const *envp)
{
    char text[20];
    snprintf(text, sizeof text, "%d", fd);
    return executed("fexecve", text, argv, envp);
}
static int real_execveat(int fd, const char *path, char *const *argv, char *const *envp, int flags)
{
    hear("%d %d ", fd, flags);
    return executed("execveat", path, argv, envp);
}
static int real_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attr, char *const *argv, char *const *envp)
{
    (void)pid, (void)actions, (void)attr;
    return executed("spawn", path, argv, envp);
}
static int real_posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attr, char *const *argv, char *const *envp)
{
    (void)pid, (void)actions, (void)attr;
    return executed("spawnp", path, argv, envp);
}
static int real_dlclose(void *handle)
{
    hear("dlclose %s ", (const char *)handle);
    return answers;
}
static int real_close(int fd)
{
    hear("close %d ", fd);
    return answers;
}
static int real_dup2(int from, int to)
{
    hear("dup2 %d %d ", from, to);
    return to;
}
static int real_dup3(int from, int to, int flags)
{
    hear("dup3 %d %d %d ", from, to, flags);
    return to;
}

static int real_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    struct sigaction was = now[sig];
    if (sig == SIGKILL)
        return -1;
    if (act)
        now[sig] = *act;
    if (old)
        *old = was;
    return 0;
}
static void hear_set(const char *what, int how, const sigset_t *set)
{
    hear("%s %d", what, how);
    for (int sig = 1; set && sig < 65; sig++)
        if (sigismember(set, sig) == 1)
            hear(" %d", sig);
    hear("%s ", set ? "" : " none");
}
static int real_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    (void)old;
    hear_set("pthread_sigmask", how, set);
    return 0;
}
static int real_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    (void)old;
    hear_set("sigprocmask", how, set);
    return 0;
}
static int real_sigwait(const sigset_t *set, int *sig)
{
    hear_set("sigwait", 0, set);
    *sig = 9;
    return 0;
}
static int real_sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    (void)info;
    hear_set("sigwaitinfo", 0, set);
    return 9;
}
static int real_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    (void)info;
    hear_set("sigtimedwait", timeout ? 1 : 0, set);
    return 9;
}

/* A wait: the thread's wait state, the signals unblocked meanwhile, and the result. */
static int waited(const char *name, uint64_t function, const sigset_t *mask)
{
    hear("%s%s ", name, hpcrec_waiting_pc == function ? " (held)" : hpcrec_waiting_pc ? " (held by another)" : "");
    if (mask)
        hear_set("mask", 0, mask);
    errno = 88;
    return 3;
}
#define WAITS(type, name, args, unused)                                                                                \
    static type real_##name args                                                                                       \
    {                                                                                                                  \
        unused;                                                                                                        \
        return (type)waited(#name, (uint64_t)(uintptr_t)real_##name, NULL);                                            \
    }
WAITS(int, nanosleep, (const struct timespec *a, struct timespec *b), ((void)a, (void)b))
WAITS(int, usleep, (useconds_t a), ((void)a))
WAITS(unsigned, sleep, (unsigned a), ((void)a))
WAITS(int, pause, (void), ((void)0))
WAITS(int, poll, (struct pollfd * a, nfds_t b, int c), ((void)a, (void)b, (void)c))
WAITS(int, select, (int a, fd_set *b, fd_set *c, fd_set *d, struct timeval *e),
      ((void)a, (void)b, (void)c, (void)d, (void)e))
WAITS(int, epoll_wait, (int a, struct epoll_event *b, int c, int d), ((void)a, (void)b, (void)c, (void)d))
WAITS(int, sem_timedwait, (sem_t * a, const struct timespec *b), ((void)a, (void)b))
WAITS(int, semop, (int a, struct sembuf *b, size_t c), ((void)a, (void)b, (void)c))
WAITS(int, semtimedop, (int a, struct sembuf *b, size_t c, const struct timespec *d),
      ((void)a, (void)b, (void)c, (void)d))
WAITS(int, msgsnd, (int a, const void *b, size_t c, int d), ((void)a, (void)b, (void)c, (void)d))
WAITS(ssize_t, msgrcv, (int a, void *b, size_t c, long d, int e), ((void)a, (void)b, (void)c, (void)d, (void)e))
WAITS(int, clock_nanosleep, (clockid_t a, int b, const struct timespec *c, struct timespec *d),
      ((void)a, (void)b, (void)c, (void)d))
static int real_ppoll(struct pollfd *a, nfds_t b, const struct timespec *c, const sigset_t *mask)
{
    (void)a, (void)b, (void)c;
    return waited("ppoll", (uint64_t)(uintptr_t)real_ppoll, mask);
}
static int real_pselect(int a, fd_set *b, fd_set *c, fd_set *d, const struct timespec *e, const sigset_t *mask)
{
    (void)a, (void)b, (void)c, (void)d, (void)e;
    return waited("pselect", (uint64_t)(uintptr_t)real_pselect, mask);
}
static int real_epoll_pwait(int a, struct epoll_event *b, int c, int d, const sigset_t *mask)
{
    (void)a, (void)b, (void)c, (void)d;
    return waited("epoll_pwait", (uint64_t)(uintptr_t)real_epoll_pwait, mask);
}
static int real_sigsuspend(const sigset_t *mask)
{
    return waited("sigsuspend", (uint64_t)(uintptr_t)real_sigsuspend, mask);
}

void *dlsym(void *where, const char *name)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } library[] = {
#define ENTRY(name) {#name, (void (*)(void))real_##name}
        ENTRY(pthread_create),
        ENTRY(thrd_create),
        ENTRY(fork),
        ENTRY(daemon),
        ENTRY(execve),
        ENTRY(execvpe),
        ENTRY(fexecve),
        ENTRY(execveat),
        ENTRY(posix_spawn),
        ENTRY(posix_spawnp),
        ENTRY(dlclose),
        ENTRY(close),
        ENTRY(dup2),
        ENTRY(dup3),
        ENTRY(sigaction),
        ENTRY(pthread_sigmask),
        ENTRY(sigprocmask),
        ENTRY(sigwait),
        ENTRY(sigwaitinfo),
        ENTRY(sigtimedwait),
        ENTRY(nanosleep),
        ENTRY(usleep),
        ENTRY(sleep),
        ENTRY(pause),
        ENTRY(poll),
        ENTRY(select),
        ENTRY(epoll_wait),
        ENTRY(sem_timedwait),
        ENTRY(semop),
        ENTRY(semtimedop),
        ENTRY(msgsnd),
        ENTRY(msgrcv),
        ENTRY(clock_nanosleep),
        ENTRY(ppoll),
        ENTRY(pselect),
        ENTRY(epoll_pwait),
        ENTRY(sigsuspend),
        {"_exit", (void (*)(void))real_end},
        {"_Exit", (void (*)(void))real_end},
        {"quick_exit", (void (*)(void))real_end},
    };
    name += strncmp(name, "fake_", 5) == 0 ? 5 : 0; /* a nested macro added this prefix to the name */
    for (size_t i = 0; where == RTLD_NEXT && i < sizeof library / sizeof *library; i++)
        if (strcmp(library[i].name, name) == 0)
            return (void *)(uintptr_t)library[i].function;
    return NULL;
}

long syscall(long number, ...)
{
    va_list list;
    long a[3];
    va_start(list, number);
    for (int i = 0; i < 3 && number != SYS_getpid && number != SYS_gettid; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    switch (number) {
    case SYS_getpid:
        return 111;
    case SYS_gettid:
        return 222;
    case SYS_rt_sigprocmask:
        hear_set(a[0] == SIG_BLOCK ? "block" : a[0] == SIG_UNBLOCK ? "unblock" : "set", 0, (const sigset_t *)a[1]);
        errno = 99;
        return 0;
    case SYS_tgkill:
        hear("tgkill %d %d %d ", (int)a[0], (int)a[1], (int)a[2]);
        return 0;
    case SYS_fcntl:
        hear("fcntl %d %d %d ", (int)a[0], (int)a[1] == F_DUPFD_CLOEXEC, (int)a[2]);
        return 800;
    case SYS_close_range:
        hear("range %u-%u %d ", (unsigned)a[0], (unsigned)a[1], (int)a[2]);
        errno = ENOSYS;
        return ranges ? 0 : -1;
    default:
        hear("system call %ld ", number);
        return -1;
    }
}

/* ---- threads, processes ------------------------------------------------------------------------------------------------ */

static char *run_one(void *arg)
{
    hear("run %s ", (char *)arg);
    return (char *)(uintptr_t) "done";
}
static void *run_posix(void *arg)
{
    return run_one(arg);
}
static int run_c11(void *arg)
{
    run_one(arg);
    return 6;
}

static void test_threads(void)
{
    static const struct {
        bool active, room;
        int answers;
        const char *posix, *c11;
    } cases[] = {
        {true, true, 0, "create pthread_create begin run x -> done ", "create thrd_create begin run x -> 6 "},
        {true, true, 11, "create pthread_create discard ", "create thrd_create discard "},
        {true, false, 0, "create pthread_create run x -> done ", "create thrd_create run x -> 6 "},
        {true, false, 11, "create pthread_create ", "create thrd_create "},
        {false, true, 0, "pthread_create run x -> done ", "thrd_create run x -> 6 "},
    };
    char arg[] = "x";
    pthread_t posix;
    thrd_t c11;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        active = cases[i].active;
        has_room = cases[i].room;
        answers = cases[i].answers;
        CHECK_INT(pthread_create(&posix, NULL, run_posix, arg), answers);
        check_heard(cases[i].posix, "pthread_create");
        CHECK_INT(thrd_create(&c11, run_c11, arg), answers ? thrd_error : thrd_success);
        check_heard(cases[i].c11, "thrd_create");
    }
    answers = 0;
    hpcrec_real_pthread_create(&posix, NULL, run_posix, arg);
    check_heard("pthread_create run x -> done ", "the library's own");
    /* stack size, for unwinding */
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1 << 20);
    pthread_attr_setguardsize(&attr, 1 << 14);
    active = has_room = true;
    for (int paths = 0; paths < 2; paths++) {
        hpcrec.config.call_paths = paths;
        pthread_create(&posix, &attr, run_posix, arg);
        CHECK_INT(a_thread.stack_size, paths ? (1 << 20) - (1 << 14) : 0);
        pthread_create(&posix, NULL, run_posix, arg);
        CHECK_INT(a_thread.stack_size > 0, paths);
    }
    pthread_attr_setguardsize(&attr, 2 << 20);
    pthread_create(&posix, &attr, run_posix, arg);
    CHECK_INT(a_thread.stack_size, 0);
    hpcrec.config.call_paths = false;
    pthread_attr_destroy(&attr);
    *heard = '\0';
}

static void test_processes(void)
{
    answers = 77;
    CHECK_INT(fork(), 77);
    check_heard("fork (ours) ", "the parent");
    answers = 0;
    CHECK_INT(fork(), 0);
    check_heard("fork (ours) restart ", "the child");
    answers = -1;
    CHECK_INT(fork(), -1);
    check_heard("fork (ours) ", "no child");
    CHECK_INT(hpcrec_in_fork_wrapper, 0);
    CHECK_INT(daemon(1, 2), -1);
    check_heard("ask 2 0 daemon 1 2 ", "daemon");
    for (int how = 0; how < 3; how++) {
        if (setjmp(gone) == 0) {
            if (how == 0)
                _exit(0x123);
            else if (how == 1)
                _Exit(0x123);
            else
                quick_exit(0x123);
        }
        check_heard(how < 2 ? "finish 8960 end 291 " : "status 8960 end 291 ", "the end");
    }
    static char handle[] = "h";
    answers = 5;
    active = false;
    CHECK_INT(dlclose(handle), 5);
    check_heard("dlclose h ", "unloading");
    active = true;
    CHECK_INT(dlclose(handle), 5);
    check_heard("lock round check drain unlock dlclose h lock stale unlock ", "unloading: samples are placed before");
    answers = 0;
}

/* ---- other programs ---------------------------------------------------------------------------------------------------- */

static const char *our_path;

/* "OURS" is the recorder's path. */
static char *with_path(const char *text)
{
    static char lines[8][1000];
    static unsigned next;
    char *out = lines[next++ % 8], *at = out;
    for (; *text; text++)
        if (strncmp(text, "OURS", 4) == 0) {
            at += snprintf(at, 500, "%s", our_path);
            text += 3;
        } else
            *at++ = *text;
    *at = '\0';
    return out;
}

static void test_environment(void)
{
#define ADDED " LD_PRELOAD=OURS HPCVIEW_RECORD=x"
    static const struct {
        bool children;
        const char *envp[3], *want;
    } cases[] = {
        {true, {NULL}, ADDED},
        {true, {"A=1", "B=2"}, " A=1 B=2" ADDED},
        {false, {"A=1"}, " A=1"},
        {true, {"LD_PRELOAD=a.so", "B=2"}, " LD_PRELOAD=OURS:a.so B=2 HPCVIEW_RECORD=x"},
        {true, {"LD_PRELOAD="}, " LD_PRELOAD=OURS HPCVIEW_RECORD=x"},
        {true, {"HPCVIEW_RECORD=y"}, " HPCVIEW_RECORD=y LD_PRELOAD=OURS"},
        {true, {"LD_PRELOAD=OURS"}, " LD_PRELOAD=OURS HPCVIEW_RECORD=x"},
        {true, {"LD_PRELOAD=OURS b.so"}, " LD_PRELOAD=OURS b.so HPCVIEW_RECORD=x"},
        {true, {"LD_PRELOAD=a.so:OURS"}, " LD_PRELOAD=a.so:OURS HPCVIEW_RECORD=x"},
        {true, {"LD_PRELOAD=a.so OURS:b.so", "HPCVIEW_RECORD=y"}, " LD_PRELOAD=a.so OURS:b.so HPCVIEW_RECORD=y"},
        {true, {"LD_PRELOAD=xOURS"}, " LD_PRELOAD=OURS:xOURS HPCVIEW_RECORD=x"},
        {true, {"LD_PRELOAD=OURSx", "HPCVIEW_RECORD=y"}, " LD_PRELOAD=OURS:OURSx HPCVIEW_RECORD=y"},
        {true, {"LD_PRELOAD=OURSx:OURS", "HPCVIEW_RECORD=y"}, " LD_PRELOAD=OURSx:OURS HPCVIEW_RECORD=y"},
        {true, {"LD_PRELOAD=/l/libasan.so.8"}, " LD_PRELOAD=/l/libasan.so.8:OURS HPCVIEW_RECORD=x"},
        {true, {"LD_PRELOAD=/l/libasan.so.8:a.so"}, " LD_PRELOAD=/l/libasan.so.8:OURS:a.so HPCVIEW_RECORD=x"},
        {true, {"LD_PRELOADED=1", "LD_PRELOA=2"}, " LD_PRELOADED=1 LD_PRELOA=2" ADDED},
    };
    char a[] = "a", *argv[] = {a, NULL};
    active = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *envp[4] = {NULL}, want[3000];
        for (int k = 0; k < 3 && cases[i].envp[k]; k++)
            envp[k] = with_path(cases[i].envp[k]);
        snprintf(want, sizeof want, "execve p: a|%s| ", with_path(cases[i].want));
        hpcrec.config.children = cases[i].children;
        execve("p", argv, envp);
        check_heard(want, cases[i].want);
    }
    execve("p", argv, NULL);
    check_heard(with_path("execve p: a|" ADDED "| "), "no environment");
}

/* Each of them, with the environment it is given or with the process's own. */
static void test_executed(void)
{
    extern char **environ;
    char a[] = "a", b[] = "b", own_entry[] = "OWN=1", given_entry[] = "GIVEN=1";
    char *argv[] = {a, b, NULL}, *given[] = {given_entry, NULL}, *own[] = {own_entry, NULL}, **saved = environ;
    pid_t pid;
    environ = own;
#define TRY(call, want)                                                                                                \
    do {                                                                                                               \
        errno = 0;                                                                                                     \
        CHECK_INT(call, -1);                                                                                           \
        CHECK_INT(errno, ENOEXEC);                                                                                     \
        check_heard(with_path(want), #call);                                                                           \
    } while (0)
    active = false;
    hpcrec.config.children = true;
    TRY(execve("p", argv, given), "execve p: a b| GIVEN=1" ADDED "| ");
    TRY(execv("p", argv), "execve p: a b| OWN=1" ADDED "| ");
    TRY(execvpe("p", argv, given), "execvpe p: a b| GIVEN=1" ADDED "| ");
    TRY(execvp("p", argv), "execvpe p: a b| OWN=1" ADDED "| ");
    TRY(fexecve(7, argv, given), "fexecve 7: a b| GIVEN=1" ADDED "| ");
    TRY(execveat(7, "p", argv, given, 8), "7 8 execveat p: a b| GIVEN=1" ADDED "| ");
    TRY(execl("p", "a", (char *)NULL), "execve p: a| OWN=1" ADDED "| ");
    TRY(execl("p", "a", "b", "c", (char *)NULL), "execve p: a b c| OWN=1" ADDED "| ");
    TRY(execle("p", "a", "b", (char *)NULL, given), "execve p: a b| GIVEN=1" ADDED "| ");
    TRY(execlp("p", "a", "b", (char *)NULL), "execvpe p: a b| OWN=1" ADDED "| ");
    TRY(posix_spawn(&pid, "p", NULL, NULL, argv, given), "spawn p: a b| GIVEN=1" ADDED "| ");
    TRY(posix_spawnp(&pid, "p", NULL, NULL, argv, given), "spawnp p: a b| GIVEN=1" ADDED "| ");
    /* while recording, counts are written before exec, and counting continues if it fails */
    hpcrec.config.children = false;
    active = true;
    TRY(execve("p", argv, given), "ask 2 -1 execve p: a b| GIVEN=1| ");
    hpcrec_self = &a_thread;
    TRY(execve("p", argv, given), "totals ask 2 -1 execve p: a b| GIVEN=1| papi ");
    TRY(execvpe("p", argv, given), "totals ask 2 -1 execvpe p: a b| GIVEN=1| papi ");
    TRY(fexecve(7, argv, given), "totals ask 2 -1 fexecve 7: a b| GIVEN=1| papi ");
    TRY(posix_spawn(&pid, "p", NULL, NULL, argv, given), "spawn p: a b| GIVEN=1| ");
    hpcrec_self = NULL;
    environ = saved;
}

static void test_clean(void)
{
    static const struct {
        const char *preload, *want; /* NULL: none */
    } cases[] = {
        {NULL, NULL},
        {"OURS", NULL},
        {"OURS:a.so", "a.so"},
        {"OURS a.so:b.so", "a.so:b.so"},
        {"a.so:OURS", "a.so:OURS"},
        {"OURSx:a.so", "OURSx:a.so"},
        {"a.so", "a.so"},
        {"/l/libasan.so.8:OURS", "/l/libasan.so.8"},
        {"/l/libasan.so.8:OURS:a.so", "/l/libasan.so.8:a.so"},
        {"/l/libasan.so.8:a.so", "/l/libasan.so.8:a.so"},
    };
    const char *env = getenv("LD_PRELOAD");
    char before[4000];
    snprintf(before, sizeof before, "%s", env ? env : "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv(RECORD_VARIABLE, "x", 1);
        unsetenv("LD_PRELOAD");
        if (cases[i].preload)
            setenv("LD_PRELOAD", with_path(cases[i].preload), 1);
        hpcrec_clean_environment();
        const char *got = getenv("LD_PRELOAD");
        CHECK_STR(got ? got : "(none)", cases[i].want ? with_path(cases[i].want) : "(none)");
        CHECK(!getenv(RECORD_VARIABLE));
    }
    if (env)
        setenv("LD_PRELOAD", before, 1);
    else
        unsetenv("LD_PRELOAD");
}

/* ---- descriptors -------------------------------------------------------------------------------------------------------- */

static void test_descriptors(void)
{
    active = true;
    CHECK_INT(close(5), 0);
    check_heard("close 5 ", "the program's");
    errno = 0;
    CHECK_INT(close(700), -1);
    CHECK_INT(errno, EBADF);
    check_heard("", "ours is not there");
    hpcrec_in_papi = true;
    CHECK_INT(close(700), 0);
    check_heard("disown 700 close 700 ", "PAPI closes its own");
    hpcrec_in_papi = false;
    static const struct {
        unsigned first, last;
        int flags;
        const char *want;
    } between[] = {
        {3, 600, 0, "range 3-600 0 "},
        {3, 700, 0, "range 3-699 0 "},
        {700, 700, 0, ""},
        {700, 703, 0, "range 701-702 0 "},
        {698, 705, 2, "range 698-699 2 range 701-702 2 range 704-705 2 "},
        {704, ~0u, 0, "range 704-4294967295 0 "},
        {3, ~0u, 4, "range 3-4294967295 4 "},
        {9, 3, 0, "range 9-3 0 "},
        {3000000000u, ~0u, 0, "range 3000000000-4294967295 0 "},
    };
    ranges = true;
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        CHECK_INT(close_range(between[i].first, between[i].last, between[i].flags), 0);
        check_heard(between[i].want, "close_range");
    }
    closefrom(701);
    check_heard("range 701-702 0 range 704-4294967295 0 ", "closefrom");
    closefrom(-5);
    check_heard("range 0-699 0 range 701-702 0 range 704-4294967295 0 ", "closefrom below 0");
    ranges = false;
    CHECK_INT(close_range(690, 705, 0), -1);
    *heard = '\0';
    closefrom((int)(sysconf(_SC_OPEN_MAX) < 1 << 20 ? sysconf(_SC_OPEN_MAX) : 1 << 20) - 2);
    CHECK_INT(count_of(" close "), 2); /* all possible descriptors, one by one */
    *heard = '\0';
    CHECK_INT(dup2(1, 5), 5);
    check_heard("dup2 1 5 ", "a number of the program's");
    CHECK_INT(dup2(700, 700), 700);
    check_heard("dup2 700 700 ", "the same number");
    hpcrec.dir.fd = 700;
    hpcrec.file_fd = 703;
    hpcrec.temp_fd = 4;
    CHECK_INT(dup2(1, 700), 700);
    check_heard("lock fcntl 700 1 701 keep 800 disown 700 threads 700 800 maps 700 800 unlock dup2 1 700 ",
                "ours goes away");
    CHECK(hpcrec.dir.fd == 800 && hpcrec.file_fd == 703 && hpcrec.temp_fd == 4);
    CHECK_INT(dup3(1, 703, 9), 703);
    check_heard("lock fcntl 703 1 704 keep 800 disown 703 threads 703 800 maps 703 800 unlock dup3 1 703 9 ",
                "and for dup3");
    CHECK(hpcrec.dir.fd == 800 && hpcrec.file_fd == 800 && hpcrec.temp_fd == 4);
    hpcrec.dir.fd = hpcrec.file_fd = -1;
    hpcrec.temp_fd = 703;
    active = false;
    CHECK_INT(dup3(1, 703, 0), 703);
    check_heard("dup3 1 703 0 ", "where we do not record it is the program's");
    active = true;
    CHECK_INT(dup3(703, 703, 0), 703);
    CHECK_INT(hpcrec.temp_fd, 703);
    hpcrec_fd_move_away(703);
    CHECK_INT(hpcrec.temp_fd, 800);
    *heard = '\0';
}

/* ---- signals -------------------------------------------------------------------------------------------------------------- */

static void on_signal(int sig)
{
    (void)sig;
}

/* "default", "ignored", "the program's", "ours". */
static const char *shown(const struct sigaction *act)
{
    if (act->sa_flags & SA_SIGINFO)
        return "ours";
    return act->sa_handler == SIG_DFL ? "default" : act->sa_handler == SIG_IGN ? "ignored" : "the program's";
}

static const char *seen(int sig)
{
    struct sigaction act = {.sa_flags = 0};
    CHECK_INT(sigaction(sig, NULL, &act), 0);
    return shown(&act);
}

static void test_fatal(void)
{
    active = true;
    memset(now, 0, sizeof now);
    now[SIGHUP].sa_handler = SIG_IGN;
    now[SIGUSR1].sa_handler = on_signal;
    hpcrec_signals_begin(finish_by_signal);
    CHECK_STR(shown(&now[SIGTERM]), "ours");
    CHECK_STR(shown(&now[SIGSTKFLT]), "ours");
    CHECK_STR(shown(&now[SIGHUP]), "ignored");
    CHECK_STR(shown(&now[SIGUSR1]), "the program's");
    CHECK_STR(shown(&now[SIGCHLD]), "default");
    CHECK_STR(seen(SIGTERM), "default");
    CHECK_STR(seen(SIGHUP), "ignored");
    CHECK_INT(now[SIGTERM].sa_flags, SA_SIGINFO | SA_ONSTACK | SA_RESTART);
    CHECK_INT(sigismember(&now[SIGTERM].sa_mask, SIGINT), 1);
    /* a handler of the program and back, with the flags it requested */
    CHECK(signal(SIGTERM, on_signal) == SIG_DFL);
    CHECK_STR(shown(&now[SIGTERM]), "the program's");
    CHECK_INT(now[SIGTERM].sa_flags, SA_RESTART);
    CHECK_INT(sigismember(&now[SIGTERM].sa_mask, SIGTERM), 1);
    struct sigaction act = {.sa_flags = SA_NOCLDSTOP}, old;
    CHECK_INT(sigaction(SIGTERM, &act, &old), 0);
    CHECK(old.sa_handler == on_signal);
    CHECK_STR(shown(&now[SIGTERM]), "ours");
    CHECK_INT(sigaction(SIGTERM, NULL, &old), 0);
    CHECK(old.sa_handler == SIG_DFL && old.sa_flags == SA_NOCLDSTOP);
    CHECK(signal(SIGTERM, SIG_DFL) == SIG_DFL);
    CHECK_STR(shown(&now[SIGTERM]), "ours");
    CHECK(signal(SIGTERM, SIG_IGN) == SIG_DFL);
    CHECK_STR(shown(&now[SIGTERM]), "ignored");
    CHECK(signal(SIGHUP, SIG_DFL) == SIG_IGN);
    CHECK_STR(shown(&now[SIGHUP]), "ours");
    CHECK(signal(SIGCHLD, SIG_DFL) == SIG_DFL);
    CHECK_STR(shown(&now[SIGCHLD]), "default");
    CHECK_INT(sigaction(SIGKILL, &act, NULL), -1);
    active = false;
    CHECK(signal(SIGUSR1, SIG_DFL) == on_signal);
    CHECK_STR(shown(&now[SIGUSR1]), "default");
    active = true;
    /* the System V and BSD variants, and invalid numbers */
    extern __sighandler_t __sysv_signal(int, __sighandler_t);
    CHECK(__sysv_signal(SIGUSR2, on_signal) == SIG_DFL);
    CHECK_INT(now[SIGUSR2].sa_flags, (int)(SA_RESETHAND | SA_NODEFER));
    CHECK_INT(sigismember(&now[SIGUSR2].sa_mask, SIGUSR2), 0);
    static const int none[] = {0, -1, 65};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        errno = 0;
        CHECK(signal(none[i], on_signal) == SIG_ERR && errno == EINVAL);
    }
    errno = 0;
    CHECK(signal(SIGUSR2, SIG_ERR) == SIG_ERR && errno == EINVAL);
    CHECK(signal(1, on_signal) == SIG_DFL && signal(64, on_signal) == SIG_DFL);
    *heard = '\0';
}

static void on_told(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
}

/* All signals that end a process, and no others (signal(7)); the program sees the previous action. */
static void test_all_fatal(void)
{
    static const int harmless[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};
    struct sigaction act;
    memset(now, 0, sizeof now);
    now[SIGINT].sa_flags = SA_NOCLDSTOP;
    hpcrec_signals_begin(finish_by_signal);
    for (int sig = 1; sig <= 64; sig++) {
        bool fatal = sig < 32;
        for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
            fatal = fatal && sig != harmless[i];
        CHECK_STR(shown(&now[sig]), fatal ? "ours" : "default");
        if (sig == SIGKILL)
            continue;
        CHECK_INT(sigaction(sig, NULL, &act), 0);
        CHECK(act.sa_handler == SIG_DFL && act.sa_flags == (sig == SIGINT ? SA_NOCLDSTOP : 0));
    }
    struct sigaction told = {.sa_flags = SA_SIGINFO};
    told.sa_sigaction = on_told;
    CHECK_INT(sigaction(SIGINT, &told, NULL), 0);
    CHECK_INT(sigaction(SIGINT, NULL, &act), 0);
    CHECK(act.sa_flags & SA_SIGINFO && act.sa_sigaction == on_told);
    *heard = '\0';
}

/* The process is written down and dies of the same signal; a fault by happening again. */
static void test_dying(void)
{
    static const struct {
        int sig, code;
        const char *want;
    } cases[] = {
        {SIGTERM, 0, "ask 3 15 tgkill 111 222 15 "},
        {SIGTERM, 1, "ask 3 15 tgkill 111 222 15 "},
        {SIGSEGV, 1, "ask 3 11 "},
        {SIGSEGV, 0, "ask 3 11 tgkill 111 222 11 "},
        {SIGSEGV, -6, "ask 3 11 tgkill 111 222 11 "},
        {SIGBUS, 2, "ask 3 7 "},
        {SIGFPE, 1, "ask 3 8 "},
        {SIGILL, 1, "ask 3 4 "},
        {SIGTRAP, 1, "ask 3 5 tgkill 111 222 5 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        siginfo_t info = {.si_signo = cases[i].sig, .si_code = cases[i].code};
        memset(now, 0, sizeof now);
        hpcrec_signals_begin(finish_by_signal);
        errno = 1234;
        now[cases[i].sig].sa_sigaction(cases[i].sig, &info, NULL);
        CHECK_INT(errno, 1234);
        CHECK_STR(shown(&now[cases[i].sig]), "default");
        check_heard(cases[i].want, "dying");
    }
}

/* By the first or second of two events; later entries are ignored. */
static void sample_by(unsigned kind, bool recording)
{
    static unsigned turn;
    hpcrec.config.event_count = 2;
    hpcrec.config.events[turn % 2].conf.kind = kind;
    hpcrec.config.events[++turn % 2].conf.kind = RECORD_PERF;
    hpcrec.config.events[2].conf.kind = RECORD_PAPI;
    atomic_store(&hpcrec.pid, recording ? 1 : 0);
}

/* A sampler's signal is removed from the program's masks only while that sampler runs. */
static void test_masks(void)
{
    static const struct {
        unsigned kind;
        bool recording, in_papi;
        const char *left; /* of {2, TIMERS, PAPIS} */
    } cases[] = {
        {RECORD_PERF, true, false, " 2 40 41"},     {RECORD_CPUTIME, true, false, " 2 41"},
        {RECORD_REALTIME, true, false, " 2 41"},    {RECORD_PAPI, true, false, " 2 40"},
        {RECORD_CPUTIME, false, false, " 2 40 41"}, {RECORD_PAPI, true, true, " 2 40 41"},
    };
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, 2);
    sigaddset(&set, TIMERS);
    sigaddset(&set, PAPIS);
    active = true;
    enum { CASES = sizeof cases / sizeof *cases };
    for (size_t k = 0; k < 2 * CASES + 1; k++) {
        char want[300];
        int sig;
        siginfo_t info;
        struct timespec timeout = {0, 0};
        size_t i = k % CASES;
        const char *left = cases[i].left;
        sample_by(cases[i].kind, cases[i].recording);
        hpcrec_in_papi = cases[i].in_papi;
        CHECK_INT(hpcrec_signals_used(), strcmp(left, " 2 40 41") != 0);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        pthread_sigmask(SIG_SETMASK, &set, NULL);
        snprintf(want, sizeof want, "pthread_sigmask %d%s pthread_sigmask %d%s ", SIG_BLOCK, left, SIG_SETMASK, left);
        check_heard(want, "pthread_sigmask");
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        pthread_sigmask(SIG_BLOCK, NULL, &set);
        snprintf(want, sizeof want, "pthread_sigmask %d 2 40 41 pthread_sigmask %d none ", SIG_UNBLOCK, SIG_BLOCK);
        check_heard(want, "pthread_sigmask: what is unblocked");
        sigprocmask(SIG_BLOCK, &set, NULL);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        sigprocmask(SIG_SETMASK, NULL, NULL);
        snprintf(want, sizeof want, "sigprocmask %d%s sigprocmask %d 2 40 41 sigprocmask %d none ", SIG_BLOCK, left,
                 SIG_UNBLOCK, SIG_SETMASK);
        check_heard(want, "sigprocmask");
        CHECK_INT(sigwait(&set, &sig), 0);
        CHECK_INT(sigwaitinfo(&set, &info), 9);
        CHECK_INT(sigtimedwait(&set, &info, &timeout), 9);
        snprintf(want, sizeof want, "sigwait 0%s sigwaitinfo 0%s sigtimedwait 1%s ", left, left, left);
        check_heard(want, "waiting");
        hpcrec_real_sigmask(SIG_BLOCK, &set, NULL);
        snprintf(want, sizeof want, "pthread_sigmask %d 2 40 41 ", SIG_BLOCK);
        check_heard(want, "our own");
        /* of a handler's mask too */
        struct sigaction act = {.sa_mask = set};
        act.sa_handler = on_signal;
        memset(now, 0, sizeof now);
        sigaction(SIGUSR1, &act, NULL);
        CHECK_INT(sigismember(&now[SIGUSR1].sa_mask, TIMERS), strstr(left, "40") != NULL);
        CHECK_INT(sigismember(&now[SIGUSR1].sa_mask, PAPIS), strstr(left, "41") != NULL);
        CHECK_INT(now[SIGUSR1].sa_flags & SA_ONSTACK, cases[i].in_papi ? SA_ONSTACK : 0);
        /* the program's own action for the signal is stored but not installed */
        struct sigaction first, second;
        CHECK_INT(sigaction(TIMERS, &act, NULL), 0);
        bool kept = strstr(left, "40") == NULL;
        CHECK_STR(shown(&now[TIMERS]), kept ? "default" : "the program's");
        act.sa_handler = SIG_IGN;
        sigaction(TIMERS, &act, &first);
        sigaction(TIMERS, &act, &second);
        CHECK(first.sa_handler == on_signal && second.sa_handler == SIG_IGN);
        hpcrec_in_papi = false;
    }
    /* during exec they are ignored, and are restored if it fails */
    sample_by(RECORD_CPUTIME, true);
    memset(now, 0, sizeof now);
    now[TIMERS].sa_handler = now[PAPIS].sa_handler = on_signal;
    hpcrec_signals_ignore(true);
    CHECK_STR(shown(&now[TIMERS]), "ignored");
    CHECK_STR(shown(&now[PAPIS]), "the program's");
    hpcrec_signals_ignore(false);
    CHECK_STR(shown(&now[TIMERS]), "the program's");
    sample_by(RECORD_PAPI, true);
    hpcrec_signals_ignore(true);
    CHECK_STR(shown(&now[TIMERS]), "the program's");
    CHECK_STR(shown(&now[PAPIS]), "ignored");
    hpcrec_signals_ignore(false);
    CHECK_STR(shown(&now[PAPIS]), "the program's");
    sample_by(RECORD_CPUTIME, true);
    char *argv[] = {NULL};
    active = true;
    execve("p", argv, argv);
    check_heard("ask 2 -1 execve p: (signals ignored)|| ", "no sample's signal meets the next program");
    CHECK_STR(shown(&now[TIMERS]), "the program's");
    sample_by(RECORD_PERF, false);
    *heard = '\0';
}

/* While a sampler uses signals, a wait that they would interrupt blocks them, and the samples are attributed to it. */
static void wait_in_all(const char *how, const sigset_t *given, const char *with)
{
    const sigset_t *volatile mask = given; /* the compiler must not see that sigsuspend is not reached without one */
    struct timespec t = {0, 0};
    struct timeval v = {0, 0};
    struct pollfd poll_fd = {0};
    struct epoll_event event = {0};
    struct sembuf operation = {0};
    sem_t sem;
    static const char *const order[] = {"nanosleep",   "usleep",     "sleep",           "pause", "poll",
                                        "select",      "epoll_wait", "sem_timedwait",   "semop", "semtimedop",
                                        "msgsnd",      "msgrcv",     "clock_nanosleep", "ppoll", "pselect",
                                        "epoll_pwait", "sigsuspend"};
    for (size_t i = 0; i < sizeof order / sizeof *order - !mask; i++) { /* the last one wants a mask */
        char want[300];
        errno = 0;
        long result = i == 0    ? nanosleep(&t, NULL)
                      : i == 1  ? usleep(1)
                      : i == 2  ? (int)sleep(1)
                      : i == 3  ? pause()
                      : i == 4  ? poll(&poll_fd, 0, 0)
                      : i == 5  ? select(0, NULL, NULL, NULL, &v)
                      : i == 6  ? epoll_wait(0, &event, 0, 0)
                      : i == 7  ? sem_timedwait(&sem, &t)
                      : i == 8  ? semop(0, &operation, 0)
                      : i == 9  ? semtimedop(0, &operation, 0, &t)
                      : i == 10 ? msgsnd(0, "", 0, 0)
                      : i == 11 ? msgrcv(0, want, 0, 0, 0)
                      : i == 12 ? clock_nanosleep(0, 0, &t, NULL)
                      : i == 13 ? ppoll(&poll_fd, 0, &t, mask)
                      : i == 14 ? pselect(0, NULL, NULL, NULL, &t, mask)
                      : i == 15 ? epoll_pwait(0, &event, 0, 0, mask)
                                : sigsuspend(mask);
        CHECK_INT(result, 3);
        CHECK_INT(errno, 88);
        snprintf(want, sizeof want, how, order[i], i > 12 && mask ? with : "");
        check_heard(want, order[i]);
    }
}

static void test_waits(void)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, 2);
    sample_by(RECORD_PERF, true);
    wait_in_all("%s %s", &mask, "mask 0 2 ");
    sample_by(RECORD_CPUTIME, false);
    wait_in_all("%s %s", &mask, "mask 0 2 ");
    sample_by(RECORD_CPUTIME, true);
    wait_in_all("block 0 40 41 %s (held) %sunblock 0 40 41 ", &mask, "mask 0 2 40 41 ");
    wait_in_all("block 0 40 41 %s (held) %sunblock 0 40 41 ", NULL, "");
    CHECK_INT(hpcrec_waiting_pc, 0);
    hpcrec_waiting_pc = 5; /* nested waits: attributed to the outer one */
    wait_in_all("%s (held by another) %s", NULL, "");
    CHECK_INT(hpcrec_waiting_pc, 5);
    hpcrec_waiting_pc = 0;
    hpcrec_in_papi = true;
    wait_in_all("%s %s", NULL, "");
    hpcrec_in_papi = false;
    sample_by(RECORD_PERF, false);
}

int main(void)
{
    Dl_info info;
    setenv(RECORD_VARIABLE, "x", 1);
    hpcrec_remember_environment();
    unsetenv(RECORD_VARIABLE);
    our_path = dladdr(&hpcrec, &info) ? info.dli_fname : "";
    hpcrec_wrap_init();
    RUN(test_threads);
    RUN(test_processes);
    RUN(test_environment);
    RUN(test_executed);
    RUN(test_clean);
    RUN(test_descriptors);
    RUN(test_fatal);
    RUN(test_all_fatal);
    RUN(test_dying);
    RUN(test_masks);
    RUN(test_waits);
    return tap_done();
}
