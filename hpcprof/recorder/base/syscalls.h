/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls without the C library in between. Sanitizers' runtimes interpose on the library's functions, take our
 * memory and files for the program's, and are half torn down when a thread's last acts are ours. errno is set as usual.
 */
#ifndef HPCPROF_RECORDER_BASE_SYSCALLS_H
#define HPCPROF_RECORDER_BASE_SYSCALLS_H

#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static inline void *raw_mmap(size_t n, int flags, int fd)
{
    return (void *)syscall(SYS_mmap, NULL, n, PROT_READ | PROT_WRITE, flags, fd, 0L);
}

static inline void raw_munmap(void *p, size_t n)
{
    syscall(SYS_munmap, p, n);
}

static inline void *raw_mremap(void *p, size_t old, size_t n)
{
    return (void *)syscall(SYS_mremap, p, old, n, MREMAP_MAYMOVE, NULL);
}

static inline ssize_t raw_read(int fd, void *to, size_t n)
{
    return (ssize_t)syscall(SYS_read, fd, to, n);
}

static inline ssize_t raw_process_vm_readv(pid_t pid, const struct iovec *here, const struct iovec *there)
{
    return (ssize_t)syscall(SYS_process_vm_readv, pid, here, 1ul, there, 1ul, 0ul);
}

static inline ssize_t raw_pwrite(int fd, const void *from, size_t n, uint64_t at)
{
    return (ssize_t)syscall(SYS_pwrite64, fd, from, n, at);
}

static inline int raw_fstat(int fd, struct stat *st)
{
    return (int)syscall(SYS_fstat, fd, st);
}

static inline int raw_ftruncate(int fd, uint64_t n)
{
    return (int)syscall(SYS_ftruncate, fd, n);
}

static inline int raw_ioctl(int fd, unsigned long request, void *arg)
{
    return (int)syscall(SYS_ioctl, fd, request, arg);
}

static inline int raw_prctl(int option, void *arg)
{
    return (int)syscall(SYS_prctl, option, arg, 0L, 0L, 0L);
}

static inline int raw_clock_gettime(clockid_t clock, struct timespec *t)
{
    return (int)syscall(SYS_clock_gettime, clock, t);
}

#endif
