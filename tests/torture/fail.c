/*
 * A library to preload: makes one call fail, or all from one on.
 *
 *     TORTURE=KIND:N     the N-th call of the kind fails; KIND:N+ that one and all after it; KIND:0 none;
 *                        KIND:N! the process is killed there
 *     TORTURE_IN=NAME    only in programs with that file name
 *     TORTURE_LOG=FILE   logs the number of calls of the kind
 *
 * Kinds: memory, open, read, write, map, rename (and other calls that create names; those that remove names never fail,
 * because clean-up requires them), thread. The recorder's system calls, which bypass the C library, go through
 * syscall() and have the same kinds.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { NOTHING, MEMORY, OPEN, READ, WRITE, MAP, RENAME, THREAD };
static const char *const names[] = {"nothing", "memory", "open", "read", "write", "map", "rename", "thread"};
static enum kind kind;
static long target;
static bool onward, deadly;
static _Atomic long calls;

static long raw(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined __x86_64__
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "+a"(nr)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return nr;
#elif defined __aarch64__
    register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
#error "how are system calls made on this machine?"
#endif
}

static bool fails(enum kind k)
{
    if (k != kind)
        return false;
    long n = atomic_fetch_add(&calls, 1) + 1;
    if (deadly && n == target)
        raw(SYS_kill, getpid(), SIGKILL, 0, 0, 0, 0);
    return target && (onward ? n >= target : n == target);
}

/* After a permanent failure, folders can still be opened: clean-up requires it. */
static bool opening_fails(int flags)
{
    return !(onward && flags & O_DIRECTORY) && fails(OPEN);
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

/* ---- when it begins and ends --------------------------------------------------------------------------- */

static bool wanted_here(void)
{
    char exe[4096];
    const char *name = getenv("TORTURE_IN");
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr(exe, '/');
    return !name || (slash && strcmp(slash + 1, name) == 0);
}

/* Before other libraries are set up, the recorder's for one; after the loader's own work. */
__attribute__((constructor(101))) static void begin(void)
{
    const char *what = getenv("TORTURE");
    const char *colon = what ? strchr(what, ':') : NULL;
    if (!colon || !wanted_here())
        return;
    target = strtol(colon + 1, NULL, 10);
    onward = what[strlen(what) - 1] == '+';
    deadly = what[strlen(what) - 1] == '!';
    for (enum kind k = MEMORY; k <= THREAD; k++)
        if (strncmp(what, names[k], strlen(names[k])) == 0 && what[strlen(names[k])] == ':')
            kind = k;
}

__attribute__((destructor)) static void end(void)
{
    char line[32];
    const char *log = getenv("TORTURE_LOG");
    if (kind == NOTHING || !log)
        return;
    long fd = raw(SYS_openat, AT_FDCWD, (long)log, O_WRONLY | O_CREAT | O_TRUNC, 0666, 0, 0);
    int n = snprintf(line, sizeof line, "%ld\n", atomic_load(&calls));
    raw(SYS_write, fd, (long)line, n, 0, 0, 0);
    raw(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* ---- memory: the C library's own names for its functions ----------------------------------------------- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

void *malloc(size_t n)
{
    return fails(MEMORY) ? (errno = ENOMEM, NULL) : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails(MEMORY) ? (errno = ENOMEM, NULL) : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails(MEMORY) ? (errno = ENOMEM, NULL) : __libc_realloc(p, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
    return fails(MEMORY) || !(*p = __libc_memalign(align, n)) ? ENOMEM : 0;
}

void *aligned_alloc(size_t align, size_t n)
{
    return fails(MEMORY) ? (errno = ENOMEM, NULL) : __libc_memalign(align, n);
}

/* ---- the rest: theirs by dlsym --------------------------------------------------------------------------- */

#define REAL(type, name, args)                                                                                         \
    static type(*real_##name) args;                                                                                    \
    if (!real_##name)                                                                                                  \
        real_##name = (type(*) args)dlsym(RTLD_NEXT, #name);

#define REFUSING(k, error, type, name, args, call)                                                                     \
    type name args                                                                                                     \
    {                                                                                                                  \
        REAL(type, name, args)                                                                                         \
        return fails(k) ? (type)(long)refuse(error) : real_##name call;                                                \
    }
#define REFUSING_POINTER(k, error, type, name, args, call)                                                             \
    type name args                                                                                                     \
    {                                                                                                                  \
        REAL(type, name, args)                                                                                         \
        return fails(k) ? (errno = error, NULL) : real_##name call;                                                    \
    }

#define OPENING(name, first, last, given)                                                                              \
    int name(first, ...)                                                                                               \
    {                                                                                                                  \
        REAL(int, name, (first, ...))                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, last);                                                                                          \
        int mode = va_arg(args, int);                                                                                  \
        va_end(args);                                                                                                  \
        return opening_fails(flags) ? refuse(EMFILE) : real_##name given;                                              \
    }
#define BY_PATH const char *path, int flags
#define BY_DIR  int dir, const char *path, int flags
OPENING(open, BY_PATH, flags, (path, flags, mode))
OPENING(open64, BY_PATH, flags, (path, flags, mode))
OPENING(openat, BY_DIR, flags, (dir, path, flags, mode))
OPENING(openat64, BY_DIR, flags, (dir, path, flags, mode))
REFUSING_POINTER(OPEN, EMFILE, FILE *, fopen, (const char *path, const char *mode), (path, mode))
REFUSING_POINTER(OPEN, EMFILE, FILE *, fopen64, (const char *path, const char *mode), (path, mode))
REFUSING_POINTER(OPEN, EMFILE, DIR *, opendir, (const char *path), (path))
REFUSING(OPEN, EMFILE, int, mkostemp, (char *path, int flags), (path, flags))
REFUSING(OPEN, EMFILE, int, mkostemp64, (char *path, int flags), (path, flags))

REFUSING(READ, EIO, ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))
REFUSING(READ, EIO, ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
REFUSING(READ, EIO, ssize_t, pread64, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
REFUSING(WRITE, ENOSPC, ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n))
REFUSING(WRITE, ENOSPC, ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
REFUSING(WRITE, ENOSPC, ssize_t, pwrite64, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
REFUSING(MAP, ENOMEM, void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at),
         (p, n, prot, flags, fd, at))
REFUSING(MAP, ENOMEM, void *, mmap64, (void *p, size_t n, int prot, int flags, int fd, off_t at),
         (p, n, prot, flags, fd, at))
REFUSING(RENAME, EIO, int, rename, (const char *from, const char *to), (from, to))
REFUSING(RENAME, EIO, int, mkdir, (const char *path, mode_t mode), (path, mode))
REFUSING(RENAME, EIO, int, symlink, (const char *to, const char *path), (to, path))
REFUSING_POINTER(RENAME, EIO, char *, mkdtemp, (char *path), (path))

int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    REAL(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
    return fails(THREAD) ? EAGAIN : real_pthread_create(id, attr, run, arg);
}

/* ---- system calls without the library --------------------------------------------------------------------- */

static enum kind kind_of(long nr)
{
    switch (nr) {
    case SYS_mmap:
    case SYS_mremap:
        return MAP;
    case SYS_openat:
    case SYS_perf_event_open:
        return OPEN;
    case SYS_read:
        return READ;
    case SYS_pwrite64:
        return WRITE;
    case SYS_renameat:
        return RENAME;
    default:
        return NOTHING;
    }
}

long syscall(long nr, ...)
{
    static const int errors[] = {0, ENOMEM, EMFILE, EIO, ENOSPC, ENOMEM, EIO, EAGAIN};
    va_list args;
    va_start(args, nr);
    long a = va_arg(args, long), b = va_arg(args, long), c = va_arg(args, long), d = va_arg(args, long);
    long e = va_arg(args, long), f = va_arg(args, long);
    va_end(args);
    enum kind k = kind_of(nr);
    if (k != NOTHING && fails(k))
        return refuse(errors[k]);
    long result = raw(nr, a, b, c, d, e, f);
    return result < 0 && result > -4096 ? refuse((int)-result) : result;
}
/* SPDX-License-Identifier: BSD-3-Clause */
