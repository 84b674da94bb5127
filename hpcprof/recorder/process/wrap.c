/* SPDX-License-Identifier: BSD-3-Clause */
/* In front of the C library: threads, processes, descriptors, unloading. Everything passes through where we do not
 * record. */
#include "hpcprof/recorder/base/interpose.h"
#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/process/process.h"
#include "hpcprof/recorder/sampling/sampling.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

/* ---- threads ------------------------------------------------------------------------------------------- */

static void *run_thread(void *p)
{
    struct thread *t = p;
    void *(*run)(void *) = t->run;
    void *arg = t->arg;
    hpcrec_thread_begin(t);
    return run(arg);
}

static int run_c11_thread(void *p)
{
    struct thread *t = p;
    int (*run)(void *) = t->run_c11;
    void *arg = t->arg;
    hpcrec_thread_begin(t);
    return run(arg);
}

/* For a thread with these attributes, without its guard; 0: unknown. */
static size_t stack_size_of(const pthread_attr_t *attr)
{
    pthread_attr_t standard;
    size_t size = 0, guard = 0;
    if (!hpcrec.config.call_paths || (!attr && pthread_getattr_default_np(&standard) != 0))
        return 0;
    if (pthread_attr_getstacksize(attr ? attr : &standard, &size) != 0 ||
        pthread_attr_getguardsize(attr ? attr : &standard, &guard) != 0 || guard > size)
        size = guard = 0;
    if (!attr)
        pthread_attr_destroy(&standard);
    return size - guard;
}

WRAP(int, pthread_create, (pthread_t * id, const pthread_attr_t *attr, void *(*run)(void *), void *arg))
{
    struct thread *t = hpcrec_active() ? hpcrec_thread_create() : NULL;
    if (!t)
        return REAL(pthread_create)(id, attr, run, arg);
    t->run = run;
    t->arg = arg;
    t->stack_size = stack_size_of(attr);
    int status = REAL(pthread_create)(id, attr, run_thread, t);
    if (status != 0)
        hpcrec_thread_discard(t);
    return status;
}

int hpcrec_real_pthread_create(pthread_t *id, const void *attr, void *(*run)(void *), void *arg)
{
    return REAL(pthread_create)(id, attr, run, arg);
}

WRAP(int, thrd_create, (thrd_t * id, thrd_start_t run, void *arg))
{
    struct thread *t = hpcrec_active() ? hpcrec_thread_create() : NULL;
    if (!t)
        return REAL(thrd_create)(id, run, arg);
    t->run_c11 = run;
    t->arg = arg;
    int status = REAL(thrd_create)(id, run_c11_thread, t);
    if (status != thrd_success)
        hpcrec_thread_discard(t);
    return status;
}

/* ---- processes -------------------------------------------------------------------------------------------- */

WRAP(pid_t, fork, (void))
{
    hpcrec_in_fork_wrapper = true;
    pid_t pid = REAL(fork)();
    hpcrec_in_fork_wrapper = false;
    if (pid == 0)
        hpcrec_fork_restart();
    return pid;
}

/* Inside the C library the parent leaves by its own _exit, which does not come by here. */
WRAP(int, daemon, (int nochdir, int noclose))
{
    hpcrec_ask(TASK_EXEC, 0);
    return REAL(daemon)(nochdir, noclose);
}

WRAP(void, _exit, (int status))
{
    hpcrec_finish((status & 0xff) << 8);
    REAL(_exit)(status);
    __builtin_unreachable();
}

WRAP(void, _Exit, (int status))
{
    hpcrec_finish((status & 0xff) << 8);
    REAL(_Exit)(status);
    __builtin_unreachable();
}

WRAP(void, quick_exit, (int status))
{
    hpcrec_set_exit_status((status & 0xff) << 8);
    REAL(quick_exit)(status);
    __builtin_unreachable();
}

/* ---- the environment of other programs ---------------------------------------------------------------------- */

static char record_entry[32768]; /* "HPCVIEW_RECORD=..." */
static char our_path[4096];

static const char *entry_value(const char *entry, const char *name)
{
    size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=' ? entry + n + 1 : NULL;
}

void hpcrec_remember_environment(void)
{
    const char *value = getenv(RECORD_VARIABLE);
    struct text t = hpcrec_text(record_entry, sizeof record_entry);
    hpcrec_text_str(&t, RECORD_VARIABLE "=");
    hpcrec_text_str(&t, value ? value : "");
#ifndef HPCREC_STATIC
    Dl_info info;
    t = hpcrec_text(our_path, sizeof our_path);
    if (dladdr(record_entry, &info) && info.dli_fname)
        hpcrec_text_str(&t, info.dli_fname);
#endif
}

/* Takes our path, the first in LD_PRELOAD but for a sanitizer's runtime, out of it. */
void hpcrec_clean_environment(void)
{
    const char *preload = getenv("LD_PRELOAD");
    size_t n = strlen(our_path), front = preload ? record_preload_front(preload) : 0;
    const char *ours = preload ? preload + front + (front > 0) : "";
    unsetenv(RECORD_VARIABLE);
    if (n == 0 || strncmp(ours, our_path, n) != 0 || (ours[n] && ours[n] != ':' && ours[n] != ' '))
        return;
    const char *rest = ours + n + (ours[n] != '\0');
    size_t size = strlen(preload) + 1;
    char *text = alloca(size);
    struct text t = hpcrec_text(text, size);
    hpcrec_text_strn(&t, preload, front);
    hpcrec_text_str(&t, front && *rest ? ":" : "");
    hpcrec_text_str(&t, rest);
    if (*text)
        setenv("LD_PRELOAD", text, 1);
    else
        unsetenv("LD_PRELOAD");
}

static bool contains_path(const char *list, const char *path)
{
    size_t n = strlen(path);
    for (const char *at = list; (at = strstr(at, path)); at++)
        if ((at == list || at[-1] == ':' || at[-1] == ' ') && (at[n] == '\0' || at[n] == ':' || at[n] == ' '))
            return true;
    return false;
}

struct environment {
    size_t count; /* entries of envp */
    int preload;  /* index of LD_PRELOAD; -1: none */
    bool complete;
};

static struct environment look_at(char *const *envp)
{
    struct environment e = {.preload = -1};
    bool record = false, preload = our_path[0] == '\0';
    for (; envp && envp[e.count]; e.count++) {
        const char *value = entry_value(envp[e.count], "LD_PRELOAD");
        record |= entry_value(envp[e.count], RECORD_VARIABLE) != NULL;
        if (value) {
            e.preload = (int)e.count;
            preload |= contains_path(value, our_path);
        }
    }
    e.complete = record && preload;
    return e;
}

static bool wants_ours(void)
{
    return hpcrec.config.children && record_entry[0];
}

/* Space for the entries, and for the text of LD_PRELOAD. */
static size_t preload_size(const struct environment *e, char *const *envp)
{
    return sizeof "LD_PRELOAD=" + strlen(our_path) + 2 + (e->preload >= 0 ? strlen(envp[e->preload]) : 0);
}

static void put_preload(struct text *t, const char *old)
{
    size_t front = record_preload_front(old);
    hpcrec_text_str(t, "LD_PRELOAD=");
    if (contains_path(old, our_path)) {
        hpcrec_text_str(t, old);
        return;
    }
    hpcrec_text_strn(t, old, front);
    hpcrec_text_str(t, front ? ":" : "");
    hpcrec_text_str(t, our_path);
    hpcrec_text_str(t, old[front] && !front ? ":" : "");
    hpcrec_text_str(t, old + front);
}

static char **fill(const struct environment *e, char *const *envp, char **to, char *preload, size_t size)
{
    size_t n = 0;
    bool record = false;
    struct text t = hpcrec_text(preload, size);
    put_preload(&t, e->preload >= 0 ? entry_value(envp[e->preload], "LD_PRELOAD") : "");
    for (size_t i = 0; i < e->count; i++) {
        record |= entry_value(envp[i], RECORD_VARIABLE) != NULL;
        to[n++] = (int)i == e->preload ? preload : envp[i];
    }
    if (e->preload < 0 && our_path[0])
        to[n++] = preload;
    if (!record)
        to[n++] = record_entry;
    to[n] = NULL;
    return to;
}

/* The environment with our entries, on the caller's stack: a vfork child must not touch the parent's memory. */
#define WITH_OURS(envp)                                                                                                \
    ({                                                                                                                 \
        struct environment e_ = look_at(envp);                                                                         \
        bool as_is_ = !wants_ours() || e_.complete || e_.count > 20000;                                                \
        size_t size_ = as_is_ ? 1 : preload_size(&e_, envp);                                                           \
        char **room_ = alloca(as_is_ ? 8 : (e_.count + 3) * sizeof(char *)), *text_ = alloca(size_);                   \
        as_is_ ? (char **)(uintptr_t)(envp) : fill(&e_, envp, room_, text_, size_);                                    \
    })

extern char **environ;

/* ---- exec: counts are written before this image is replaced; if exec fails, counting goes on ------------------- */

/* A sample's signal that is on its way would find no handler in the next program, and end it: signals that are ignored
   are thrown away. */
static void before_exec(void)
{
    if (!hpcrec_active())
        return;
    if (hpcrec_self)
        hpcrec_thread_totals(hpcrec_self);
    hpcrec_ask(TASK_EXEC, -1);
    hpcrec_signals_ignore(true);
}

static int exec_failed(void)
{
    int saved_errno = errno;
    if (hpcrec_active()) {
        hpcrec_signals_ignore(false);
        if (hpcrec_self)
            hpcrec_papi_restart(hpcrec_self);
    }
    errno = saved_errno;
    return -1;
}

WRAP(int, execve, (const char *path, char *const argv[], char *const envp[]))
{
    before_exec();
    REAL(execve)(path, argv, WITH_OURS(envp));
    return exec_failed();
}

WRAP(int, execv, (const char *path, char *const argv[]))
{
    (void)REAL(execv);
    return OURS(execve)(path, argv, environ);
}

WRAP(int, execvpe, (const char *file, char *const argv[], char *const envp[]))
{
    before_exec();
    REAL(execvpe)(file, argv, WITH_OURS(envp));
    return exec_failed();
}

WRAP(int, execvp, (const char *file, char *const argv[]))
{
    (void)REAL(execvp);
    return OURS(execvpe)(file, argv, environ);
}

WRAP(int, fexecve, (int fd, char *const argv[], char *const envp[]))
{
    before_exec();
    REAL(fexecve)(fd, argv, WITH_OURS(envp));
    return exec_failed();
}

WRAP(int, execveat, (int fd, const char *path, char *const argv[], char *const envp[], int flags))
{
    before_exec();
    REAL(execveat)(fd, path, argv, WITH_OURS(envp), flags);
    return exec_failed();
}

/* The arguments of execl and its kin, as an array on this function's stack; the environment of execle comes after
   them. */
#define COLLECT(first, argv, envp, has_env)                                                                            \
    char **argv;                                                                                                       \
    char *const *envp = environ;                                                                                       \
    do {                                                                                                               \
        va_list args_;                                                                                                 \
        size_t n_ = 1;                                                                                                 \
        va_start(args_, first);                                                                                        \
        while (va_arg(args_, const char *))                                                                            \
            n_++;                                                                                                      \
        va_end(args_);                                                                                                 \
        argv = alloca((n_ + 1) * sizeof *argv);                                                                        \
        va_start(args_, first);                                                                                        \
        argv[0] = (char *)(uintptr_t)(first);                                                                          \
        for (size_t i_ = 1; i_ <= n_; i_++)                                                                            \
            argv[i_] = va_arg(args_, char *);                                                                          \
        if (has_env)                                                                                                   \
            envp = va_arg(args_, char *const *);                                                                       \
        va_end(args_);                                                                                                 \
    } while (0)

WRAP(int, execl, (const char *path, const char *arg, ...))
{
    (void)REAL(execl);
    COLLECT(arg, argv, envp, false);
    return OURS(execve)(path, argv, envp);
}

WRAP(int, execle, (const char *path, const char *arg, ...))
{
    (void)REAL(execle);
    COLLECT(arg, argv, envp, true);
    return OURS(execve)(path, argv, envp);
}

WRAP(int, execlp, (const char *file, const char *arg, ...))
{
    (void)REAL(execlp);
    COLLECT(arg, argv, envp, false);
    return OURS(execvpe)(file, argv, envp);
}

WRAP(int, posix_spawn,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
      char *const argv[], char *const envp[]))
{
    return REAL(posix_spawn)(pid, path, actions, attr, argv, WITH_OURS(envp));
}

WRAP(int, posix_spawnp,
     (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
      char *const argv[], char *const envp[]))
{
    return REAL(posix_spawnp)(pid, file, actions, attr, argv, WITH_OURS(envp));
}

/* ---- unloading: samples taken so far belong to the objects loaded now ------------------------------------------- */
/* dlopen is not wrapped: it looks at its caller for search paths, and would see us. The loader's counters reveal it. */

#ifndef HPCREC_STATIC
WRAP(int, dlclose, (void *handle))
{
    sigset_t saved;
    if (!hpcrec_active())
        return REAL(dlclose)(handle);
    hpcrec_lock(&saved);
    hpcrec_maps_new_round();
    hpcrec_maps_check();
    hpcrec_threads_drain();
    if (hpcrec.barriers)
        hpcrec.barriers->resolve();
    hpcrec_unlock(&saved);
    int status = REAL(dlclose)(handle);
    hpcrec_lock(&saved);
    hpcrec_maps_stale();
    hpcrec_unlock(&saved);
    return status;
}
#endif

/* ---- descriptors: ours are not there for the program --------------------------------------------------------------
 */

WRAP(int, close, (int fd))
{
    if (hpcrec_in_papi) {
        hpcrec_fd_disown(fd);
    } else if (hpcrec_fd_is_ours(fd)) {
        errno = EBADF;
        return -1;
    }
    return REAL(close)(fd);
}

static int close_between(unsigned first, unsigned last, int flags)
{
    return first > last ? 0 : (int)syscall(SYS_close_range, first, last, flags);
}

static int close_around_ours(unsigned first, unsigned last, int flags)
{
    int status = 0;
    while (first <= last) {
        int ours = hpcrec_fd_next(first > INT_MAX ? INT_MAX - 1 : (int)first);
        if (ours == INT_MAX || (unsigned)ours > last) {
            int s = close_between(first, last, flags);
            return s < 0 ? s : status;
        }
        if ((unsigned)ours > first && close_between(first, (unsigned)ours - 1, flags) < 0)
            status = -1;
        first = (unsigned)ours + 1;
    }
    return status;
}

WRAP(int, close_range, (unsigned first, unsigned last, int flags))
{
    (void)REAL(close_range);
    if (first > last || flags & 4 /* CLOSE_RANGE_CLOEXEC: ours have that already */)
        return (int)syscall(SYS_close_range, first, last, flags);
    return close_around_ours(first, last, flags);
}

/* Kernels before 5.9 have no close_range. */
WRAP(void, closefrom, (int low))
{
    (void)REAL(closefrom);
    unsigned first = low < 0 ? 0 : (unsigned)low;
    if (close_around_ours(first, ~0u, 0) < 0)
        for (long fd = (long)first; fd < sysconf(_SC_OPEN_MAX) && fd < 1 << 20; fd++)
            OURS(close)((int)fd);
}

WRAP(int, dup2, (int from, int to))
{
    if (hpcrec_fd_is_ours(to) && from != to)
        hpcrec_fd_move_away(to);
    return REAL(dup2)(from, to);
}

WRAP(int, dup3, (int from, int to, int flags))
{
    if (hpcrec_fd_is_ours(to) && from != to)
        hpcrec_fd_move_away(to);
    return REAL(dup3)(from, to, flags);
}

/* The program needs this number: ours becomes another one. In a vfork child the numbers are its own. */
void hpcrec_fd_move_away(int fd)
{
    sigset_t saved;
    if (!hpcrec_active())
        return;
    hpcrec_lock(&saved);
    int to = hpcrec_fd_keep((int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, fd + 1));
    hpcrec_fd_disown(fd);
    hpcrec_threads_move_fd(fd, to);
    hpcrec_maps_move_fd(fd, to);
    if (hpcrec.dir.fd == fd)
        hpcrec.dir.fd = to;
    if (hpcrec.file_fd == fd)
        hpcrec.file_fd = to;
    if (hpcrec.temp_fd == fd)
        hpcrec.temp_fd = to;
    hpcrec_unlock(&saved);
}

void hpcrec_wrap_init(void)
{
    hpcrec_signals_init();
    (void)REAL(pthread_create);
    (void)REAL(_exit);
    (void)REAL(execve);
    (void)REAL(close);
}
