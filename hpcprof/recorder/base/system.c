/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks, the lock, descriptors out of the program's way, our own memory read safely. */
#include "hpcprof/recorder/base/base.h"
#include "hpcprof/recorder/base/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

uint64_t hpcrec_now(clockid_t clock)
{
    struct timespec t;
    return raw_clock_gettime(clock, &t) < 0 ? 0 : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

pid_t hpcrec_gettid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* ---- the lock: 0 free, 1 taken, 2 taken and waited for (Drepper, Futexes are tricky, mutex 2) ------------ */

static _Atomic int lock_word;

void hpcrec_lock_reset(void)
{
    atomic_store(&lock_word, 0);
}

/* Blocked signals include those the library sends itself (cancellation, setuid of all threads): they wait the few
   microseconds. Otherwise a handler that calls _exit or fork here would wait for itself. */
void hpcrec_lock(sigset_t *saved)
{
    uint64_t all = ~(uint64_t)0;
    int free_word = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, saved, 8);
    if (atomic_compare_exchange_strong(&lock_word, &free_word, 1))
        return;
    while (atomic_exchange(&lock_word, 2) != 0)
        syscall(SYS_futex, &lock_word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void hpcrec_unlock(const sigset_t *saved)
{
    if (atomic_exchange(&lock_word, 0) == 2)
        syscall(SYS_futex, &lock_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, saved, NULL, 8);
}

/* ---- descriptors -------------------------------------------------------------------------------------------- */

enum { FD_LIMIT = 1 << 16 };
static _Atomic uint64_t our_fds[FD_LIMIT / 64];
static _Atomic unsigned our_fd_count;

unsigned hpcrec_fd_count(void)
{
    return atomic_load_explicit(&our_fd_count, memory_order_relaxed);
}

bool hpcrec_fd_is_ours(int fd)
{
    return fd >= 0 && fd < FD_LIMIT && (atomic_load_explicit(&our_fds[fd / 64], memory_order_relaxed) >> fd % 64 & 1);
}

int hpcrec_fd_next(int from)
{
    for (int fd = from < 0 ? 0 : from; fd < FD_LIMIT; fd++) {
        if (fd % 64 == 0 && atomic_load_explicit(&our_fds[fd / 64], memory_order_relaxed) == 0)
            fd += 63;
        else if (hpcrec_fd_is_ours(fd))
            return fd;
    }
    return INT_MAX;
}

void hpcrec_fd_forget_all(void)
{
    for (int fd = hpcrec_fd_next(0); fd != INT_MAX; fd = hpcrec_fd_next(fd)) {
        syscall(SYS_close, fd);
        atomic_fetch_and(&our_fds[fd / 64], ~(1ull << fd % 64));
    }
    atomic_store(&our_fd_count, 0);
}

/* The upper quarter of the range that the soft limit allows, but not so high that the kernel's table grows by much. */
static int fd_base(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > 5000)
        return 4000;
    return (int)(limit.rlim_cur / 4 * 3);
}

void hpcrec_fd_adopt(int fd)
{
    if (fd < 0 || fd >= FD_LIMIT || hpcrec_fd_is_ours(fd))
        return;
    atomic_fetch_or(&our_fds[fd / 64], 1ull << fd % 64);
    atomic_fetch_add(&our_fd_count, 1);
}

int hpcrec_fd_keep(int fd)
{
    if (fd < 0)
        return fd;
    int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, fd_base());
    if (high >= FD_LIMIT) {
        syscall(SYS_close, high);
        high = -1;
    }
    if (high >= 0) {
        syscall(SYS_close, fd);
        fd = high;
    }
    if (fd < FD_LIMIT)
        atomic_fetch_or(&our_fds[fd / 64], 1ull << fd % 64);
    atomic_fetch_add(&our_fd_count, 1);
    return fd;
}

void hpcrec_fd_disown(int fd)
{
    if (!hpcrec_fd_is_ours(fd))
        return;
    atomic_fetch_and(&our_fds[fd / 64], ~(1ull << fd % 64));
    atomic_fetch_sub(&our_fd_count, 1);
}

void hpcrec_fd_close(int *fd)
{
    if (*fd < 0)
        return;
    if (*fd < FD_LIMIT)
        atomic_fetch_and(&our_fds[*fd / 64], ~(1ull << *fd % 64));
    atomic_fetch_sub(&our_fd_count, 1);
    syscall(SYS_close, *fd);
    *fd = -1;
}

static bool same_file(const struct held *h)
{
    struct stat st;
    return h->fd >= 0 && raw_fstat(h->fd, &st) == 0 && (uint64_t)st.st_dev == h->dev && (uint64_t)st.st_ino == h->ino;
}

void hpcrec_hold(struct held *h, const char *path, int flags)
{
    struct stat st;
    h->fd = hpcrec_fd_keep((int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | flags, 0));
    if (h->fd < 0 || raw_fstat(h->fd, &st) < 0)
        return;
    h->dev = (uint64_t)st.st_dev;
    h->ino = (uint64_t)st.st_ino;
}

/* A program may close everything without asking the C library; then the number may be a file of its own by now. */
int hpcrec_held(struct held *h, const char *path, int flags)
{
    if (!same_file(h)) {
        hpcrec_fd_disown(h->fd);
        hpcrec_hold(h, path, flags);
    }
    return h->fd;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* By our own thread's number: the process' number is the first thread's, which has no memory once it has ended. */
bool hpcrec_peek(uint64_t address, void *to, size_t n)
{
    struct iovec here = {to, n}, there = {(void *)(uintptr_t)address, n};
    return raw_process_vm_readv(hpcrec_gettid(), &here, &there) == (ssize_t)n;
}

/* The number of the process is the first thread's: one that has ended has no memory. */
int hpcrec_first_thread_lives(void)
{
    char byte, other = 0;
    struct iovec here = {&byte, 1}, there = {&other, 1};
    if (raw_process_vm_readv((pid_t)syscall(SYS_getpid), &here, &there) == 1)
        return 1;
    return errno == ESRCH ? 0 : -1;
}

struct slurp {
    const char *path;
    char *to;
    size_t size;
    ssize_t n;
};

static void slurp(void *arg)
{
    struct slurp *s = arg;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, s->path, O_RDONLY | O_CLOEXEC, 0);
    s->n = fd < 0 ? -1 : 0;
    while (fd >= 0 && (size_t)s->n < s->size - 1) {
        ssize_t got = raw_read(fd, s->to + s->n, s->size - 1 - (size_t)s->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        s->n += got;
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    s->to[s->n < 0 ? 0 : s->n] = '\0';
}

ssize_t hpcrec_slurp(const char *path, char *to, size_t size)
{
    struct slurp s = {path, to, size, -1};
    hpcrec_with_private_fds(slurp, &s);
    return s.n;
}
