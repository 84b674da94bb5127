/* Included first in the sources of the simulator's tests: its memory, processor information and system calls come from
 * the test (fake_mmap_memory.h, runtime_test.c). The system's headers come first, so that they are unchanged. */
#ifndef TESTS_FAKE_MMAP_H
#define TESTS_FAKE_MMAP_H

#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

void *fake_mmap(void *at, size_t bytes, int may, int how, int fd, off_t from);
int fake_munmap(void *p, size_t bytes);
int fake_supports(const char *word);
long fake_syscall(long number, ...);
int fake_yield(void);

#define mmap        fake_mmap
#define munmap      fake_munmap
#define syscall     fake_syscall
#define sched_yield fake_yield
#ifdef __x86_64__
#define __builtin_cpu_supports fake_supports
#endif

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
