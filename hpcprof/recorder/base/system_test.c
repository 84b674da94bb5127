/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's system calls (system.c): clocks, its lock, descriptors moved out of the program's range compared with
 * a plain list of their owners, files kept open, small files read in parts. The kernel is fake.
 */
#undef syscall
#undef getrlimit
#include "config.h"

#include "hpcprof/recorder/base/base.h"
#include "tests/fixtures/recorded_calls.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { FD_LIMIT = 1 << 16, NUMBERS = FD_LIMIT + 300 };

/* ---- the kernel ------------------------------------------------------------------------------------------------------ */

static bool is_open[NUMBERS];
static bool no_dup, no_limit, no_stat, no_clock, quiet; /* quiet: descriptors are not logged */
static rlim_t limit = 1024;
static int dup_from, vm_errno, lowest = 3; /* lowest: lowest free descriptor for an opened file */
static const char *file_path = "/file";    /* the only existing file */
static uint64_t file_dev = 7, file_ino = 8;

static long low_free(int from)
{
    while (from < NUMBERS && is_open[from])
        from++;
    if (from == NUMBERS)
        return -1;
    is_open[from] = true;
    return from;
}

static long dup_above(int fd, int command, int from)
{
    if (command != F_DUPFD_CLOEXEC || !is_open[fd] || no_dup)
        return -1;
    dup_from = from;
    return low_free(from);
}

static long close_number(int fd)
{
    if (!quiet)
        tell("close %d; ", fd);
    if (fd < 0 || fd >= NUMBERS || !is_open[fd])
        tell("which is not open; ");
    else
        is_open[fd] = false;
    return 0;
}

static long open_file(int at, const char *path, int flags, int mode)
{
    bool found = strcmp(path, file_path) == 0;
    tell("open %s%s%s%s; ", path, at == AT_FDCWD && mode == 0 ? "" : " elsewhere",
         flags & O_CLOEXEC ? "" : " kept by children", flags & O_DIRECTORY ? " folder" : "");
    return found ? low_free(lowest) : -1;
}

static long stat_number(int fd, struct stat *st)
{
    if (no_stat || !is_open[fd])
        return -1;
    *st = (struct stat){.st_dev = file_dev, .st_ino = file_ino};
    return 0;
}

/* A file that comes in parts, now and then after an interruption, and ends, or fails at some place. */
static const char *text;
static size_t text_at, text_bad; /* text_bad: position at which reading fails */
static bool is_over;             /* its end was reported */

static long read_text(char *to, size_t n)
{
    size_t part = strlen(text) - text_at;
    bool bad = text_at >= text_bad;
    errno = EIO;
    if (n == 0 || is_over) {
        tell("once more; ");
        return -1;
    }
    is_over = bad || part == 0;
    errno = bad ? EIO : EINTR; /* a successful read leaves errno unspecified */
    if (bad || (part && below(4) == 0))
        return -1;
    part = part < n ? part : n;
    part = part ? 1 + below((uint32_t)part) : 0;
    memcpy(to, text + text_at, part);
    text_at += part;
    return (long)part;
}

static long futex(int *word, int command, int value)
{
    if (command == FUTEX_WAKE_PRIVATE) {
        tell("wake %d; ", value);
        return 0;
    }
    tell("%s while %d is %d; ", command == FUTEX_WAIT_PRIVATE ? "wait" : "?", *word, value);
    hpcrec_unlock(&(sigset_t){{5}}); /* whoever has it goes on meanwhile */
    return 0;
}

static long set_mask(int how, const uint64_t *mask, uint64_t *old, size_t size)
{
    tell("%smask %llx; ", how == SIG_SETMASK && size == 8 ? "" : "? ", (unsigned long long)*mask);
    if (old)
        *old = 0x1234;
    return 0;
}

static long read_memory(pid_t pid, const struct iovec *to, const struct iovec *from)
{
    tell("of %d: ", (int)pid);
    errno = vm_errno;
    if (vm_errno || to->iov_len != from->iov_len)
        return -1;
    memcpy(to->iov_base, from->iov_base, to->iov_len);
    return (long)to->iov_len;
}

long fake_syscall(long number, ...);
long fake_syscall(long number, ...)
{
    va_list list;
    long a[4];
    va_start(list, number);
    for (int i = 0; i < 4 && number != SYS_gettid && number != SYS_getpid && (i == 0 || number != SYS_close); i++)
        a[i] = i < (number == SYS_clock_gettime || number == SYS_fstat ? 2
                    : number == SYS_read || number == SYS_fcntl        ? 3
                                                                       : 4)
                   ? va_arg(list, long)
                   : 0;
    va_end(list);
    switch (number) {
    case SYS_gettid:
        return 77;
    case SYS_getpid:
        return 70;
    case SYS_clock_gettime:
        *(struct timespec *)a[1] = (struct timespec){3 + a[0], 5};
        return no_clock ? -1 : 0;
    case SYS_rt_sigprocmask:
        return set_mask((int)a[0], (const uint64_t *)a[1], (uint64_t *)a[2], (size_t)a[3]);
    case SYS_futex:
        return futex((int *)a[0], (int)a[1], (int)a[2]);
    case SYS_close:
        return close_number((int)a[0]);
    case SYS_fcntl:
        return dup_above((int)a[0], (int)a[1], (int)a[2]);
    case SYS_openat:
        return open_file((int)a[0], (const char *)a[1], (int)a[2], (int)a[3]);
    case SYS_fstat:
        return stat_number((int)a[0], (struct stat *)a[1]);
    case SYS_read:
        return read_text((char *)a[1], (size_t)a[2]);
    case SYS_process_vm_readv:
        return read_memory((pid_t)a[0], (const struct iovec *)a[1], (const struct iovec *)a[3]);
    default:
        tell("system call %ld; ", number);
        return -1;
    }
}

int fake_getrlimit(int what, struct rlimit *r);
int fake_getrlimit(int what, struct rlimit *r)
{
    r->rlim_cur = what == RLIMIT_NOFILE ? limit : 1;
    return no_limit ? -1 : 0;
}

void hpcrec_with_private_fds(void (*run)(void *), void *arg)
{
    tell("apart; ");
    run(arg);
}

/* ---- clocks, the lock ------------------------------------------------------------------------------------------------- */

static void test_clock(void)
{
    CHECK_INT(hpcrec_now(4), 7000000005);
    no_clock = true;
    CHECK_INT(hpcrec_now(4), 0);
    no_clock = false;
    CHECK_INT(hpcrec_gettid(), 77);
}

static void test_lock(void)
{
    sigset_t saved, other;
    for (int i = 0; i < 2; i++) { /* it is free again */
        hpcrec_lock(&saved);
        CHECK_STR(take_told(), "mask ffffffffffffffff; ");
        hpcrec_unlock(&saved);
        CHECK_STR(take_told(), "mask 1234; ");
    }
    hpcrec_lock(&saved);
    take_told();
    hpcrec_lock(&other);
    CHECK_STR(take_told(), "mask ffffffffffffffff; wait while 2 is 2; wake 1; mask 5; ");
    hpcrec_unlock(&other); /* a thread may still be waiting */
    CHECK_STR(take_told(), "wake 1; mask 1234; ");
    hpcrec_lock(&saved);
    hpcrec_unlock(&saved);
    CHECK_STR(take_told(), "mask ffffffffffffffff; mask 1234; ");
    hpcrec_lock(&saved);
    hpcrec_lock_reset();
    take_told();
    hpcrec_lock(&saved);
    hpcrec_unlock(&saved);
    CHECK_STR(take_told(), "mask ffffffffffffffff; mask 1234; ");
}

/* ---- descriptors -------------------------------------------------------------------------------------------------------- */

static bool ours[NUMBERS];
static unsigned our_count;

static bool same_descriptors(void)
{
    static const int edges[] = {-1, 0, 63, 64, 65, FD_LIMIT - 1};
    int from = below(3) ? (int)below(FD_LIMIT) : edges[below(6)], wanted = from < 0 ? 0 : from;
    bool good = hpcrec_fd_count() == our_count && !hpcrec_fd_is_ours(-1) && !hpcrec_fd_is_ours(FD_LIMIT);
    for (int i = 0; i < 100 && good; i++) {
        int fd = i < 50 ? (int)below(FD_LIMIT) : (int)below(5200);
        good = hpcrec_fd_is_ours(fd) == ours[fd];
    }
    while (wanted < FD_LIMIT && !ours[wanted])
        wanted++;
    return good && hpcrec_fd_next(from) == (wanted == FD_LIMIT ? INT_MAX : wanted);
}

static bool keep_one(void)
{
    int fd = (int)low_free(below(2) ? 0 : (int)below(FD_LIMIT)),
        base = limit / 4 * 3 < 5000 / 4 * 3 ? (int)(limit / 4 * 3) : 4000;
    no_dup = below(4) == 0;
    no_limit = below(4) == 0;
    if (no_limit)
        base = 4000;
    int kept = hpcrec_fd_keep(fd);
    bool moved = kept != fd,
         good = is_open[kept] && moved == !no_dup && (!moved || (!is_open[fd] && kept >= base && dup_from == base));
    ours[kept] = true;
    our_count++;
    return good;
}

static int one_of_ours(void)
{
    int fd = (int)below(FD_LIMIT);
    for (int i = 0; i < FD_LIMIT && !ours[fd]; i++)
        fd = (fd + 1) % FD_LIMIT;
    return ours[fd] ? fd : -1;
}

static bool descriptor_step(void)
{
    static const rlim_t limits[] = {RLIM_INFINITY, 5001, 1024, 100};
    int fd = one_of_ours(), closed = fd;
    limit = limits[below(4)];
    switch (below(8)) {
    case 0: /* PAPI's, if it is installed; once */
        fd = (int)low_free(below(2) ? 0 : (int)below(FD_LIMIT - 100));
        hpcrec_fd_adopt(fd);
        hpcrec_fd_adopt(fd);
        hpcrec_fd_adopt(-1);
        hpcrec_fd_adopt(FD_LIMIT);
        ours[fd] = true;
        our_count++;
        return true;
    case 1:
    case 2:
        if (fd < 0)
            return true;
        hpcrec_fd_disown(fd);
        hpcrec_fd_disown(fd);
        hpcrec_fd_disown(-1);
        ours[fd] = false;
        our_count--;
        return is_open[fd];
    case 3:
    case 4:
        hpcrec_fd_close(&closed);
        if (fd < 0)
            return closed == -1;
        ours[fd] = false;
        our_count--;
        return closed == -1 && !is_open[fd];
    default:
        return keep_one();
    }
}

static void test_descriptors(void)
{
    bool good = true;
    quiet = true;
    CHECK_INT(hpcrec_fd_keep(-1), -1);
    for (int i = 0; i < 3000 && good; i++) {
        good = descriptor_step() && same_descriptors();
        if (i % 1000 == 999) { /* in a child */
            hpcrec_fd_forget_all();
            for (int fd = 0; fd < FD_LIMIT; fd++) {
                good = good && !(ours[fd] && is_open[fd]);
                ours[fd] = false;
            }
            our_count = 0;
            good = good && same_descriptors();
        }
    }
    CHECK_NAMED(good && our_count == 0, "who has which descriptor");
    CHECK_STR(take_told(), "");
    memset(is_open, 0, sizeof is_open);
    no_dup = no_limit = quiet = false;
}

/* Their range: three quarters of the limit if the limit is low. */
static void test_base(void)
{
    static const struct {
        rlim_t limit;
        int base;
    } cases[] = {{256, 192},   {1024, 768},     {1027, 768},           {5000, 3750},
                 {5001, 4000}, {1 << 20, 4000}, {RLIM_INFINITY, 4000}, {0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fd = (int)low_free(3);
        limit = cases[i].limit;
        fd = hpcrec_fd_keep(fd);
        CHECK_INT(dup_from, cases[i].base);
        CHECK_INT(fd, cases[i].base);
        hpcrec_fd_close(&fd);
    }
    take_told();
}

/* Descriptors too high to be tracked: a new one is closed again, an existing one stays as it is. */
static void test_high(void)
{
    limit = 1024;
    memset(is_open, true, FD_LIMIT);
    is_open[5] = true;
    CHECK_INT(hpcrec_fd_keep(5), 5);
    CHECK_STR(take_told(), "close 65536; ");
    CHECK(hpcrec_fd_is_ours(5));
    int high = (int)low_free(FD_LIMIT), last = FD_LIMIT - 1;
    CHECK_INT(hpcrec_fd_keep(high), high);
    CHECK_INT(hpcrec_fd_count(), 2);
    take_told();
    hpcrec_fd_close(&high);
    CHECK_STR(take_told(), "close 65536; ");
    CHECK_INT(hpcrec_fd_count(), 1);
    is_open[last] = false;
    CHECK_INT(hpcrec_fd_keep(6), last);
    CHECK_STR(take_told(), "close 6; ");
    CHECK(hpcrec_fd_is_ours(last) && !hpcrec_fd_is_ours(6));
    CHECK_INT(hpcrec_fd_next(6), last);
    CHECK_INT(hpcrec_fd_next(last), last);
    CHECK_INT(hpcrec_fd_next(FD_LIMIT), INT_MAX);
    hpcrec_fd_forget_all();
    CHECK_STR(take_told(), "close 5; close 65535; ");
    CHECK_INT(hpcrec_fd_count(), 0);
    memset(is_open, 0, sizeof is_open);
}

static void test_held(void)
{
    struct held h = {.fd = -1};
    limit = 1024;
    CHECK_INT(hpcrec_held(&h, "/nothing", 0), -1);
    CHECK_STR(take_told(), "open /nothing; ");
    CHECK_INT(hpcrec_held(&h, "/file", O_DIRECTORY), 768);
    CHECK_STR(take_told(), "open /file folder; close 3; ");
    CHECK(h.dev == 7 && h.ino == 8);
    CHECK_INT(hpcrec_held(&h, "/file", 0), 768);
    CHECK_STR(take_told(), "");
    for (int way = 0; way < 3; way++) { /* another file of that name, on another disk, or none */
        if (way == 0)
            file_ino = 9;
        else if (way == 1)
            file_dev = 10;
        else
            is_open[h.fd] = false;
        int before = h.fd, now = hpcrec_held(&h, "/file", 0);
        CHECK(hpcrec_fd_is_ours(now) && is_open[now] && hpcrec_fd_is_ours(before) == (before == now));
        CHECK(h.dev == file_dev && h.ino == file_ino);
        CHECK_STR(take_told(), "open /file; close 3; ");
        CHECK_INT(hpcrec_fd_count(), 1);
    }
    hpcrec_fd_forget_all();
    no_dup = true; /* and no lower one is free */
    lowest = 0;
    take_told();
    for (int i = 0; i < 2; i++) {
        CHECK_INT(hpcrec_held(&h, "/file", 0), 0);
        CHECK_STR(take_told(), i ? "" : "open /file; ");
    }
    no_dup = false;
    lowest = 3;
    hpcrec_fd_forget_all();
    no_stat = true;
    h.dev = h.ino = 0;
    hpcrec_held(&h, "/file", 0);
    CHECK(h.fd >= 0 && h.dev == 0 && h.ino == 0);
    no_stat = false;
    hpcrec_fd_forget_all();
    memset(is_open, 0, sizeof is_open);
    take_told();
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static void test_memory(void)
{
    const char from[4] = "abc";
    char to[4] = "";
    CHECK(hpcrec_peek((uint64_t)(uintptr_t)from, to, 4));
    CHECK_STR(to, "abc");
    CHECK_INT(hpcrec_first_thread_lives(), 1);
    vm_errno = EFAULT;
    CHECK(!hpcrec_peek((uint64_t)(uintptr_t)from, to, 4));
    CHECK_INT(hpcrec_first_thread_lives(), -1);
    vm_errno = ESRCH;
    CHECK_INT(hpcrec_first_thread_lives(), 0);
    CHECK_STR(take_told(), "of 77: of 70: of 77: of 70: of 70: ");
}

static void test_slurp(void)
{
    static const char whole[] = "a small file of the kernel's\nwith lines\n";
    bool good = true;
    char to[64];
    for (int i = 0; i < 2000; i++) {
        size_t size = 1 + below(sizeof to - 1), length = below(sizeof whole),
               bad = below(3) ? SIZE_MAX : below(sizeof whole);
        char given[sizeof whole] = "";
        memcpy(given, whole, length);
        text = given;
        text_at = 0;
        text_bad = bad;
        is_over = false;
        lowest = i % 2 ? 3 : 0;
        memset(to, '!', sizeof to);
        ssize_t n = hpcrec_slurp("/file", to, size);
        size_t most = length < size - 1 ? length : size - 1;
        good = good && n >= 0 && (size_t)n == text_at && (text_at == most || (text_at < most && text_at >= bad)) &&
               strncmp(to, whole, (size_t)n) == 0 && to[n] == '\0' && to[n + 1] == '!' &&
               strcmp(take_told(), lowest ? "apart; open /file; close 3; " : "apart; open /file; close 0; ") == 0;
    }
    CHECK_NAMED(good, "a file in parts");
    strcpy(to, "before");
    CHECK_INT(hpcrec_slurp("/nothing", to, sizeof to), -1);
    CHECK_STR(to, "");
    CHECK_STR(take_told(), "apart; open /nothing; ");
}

int main(void)
{
    RUN(test_clock);
    RUN(test_lock);
    RUN(test_descriptors);
    RUN(test_base);
    RUN(test_high);
    RUN(test_held);
    RUN(test_memory);
    RUN(test_slurp);
    return tap_done();
}
