/* Included first in the sources of perf_test: the kernel is a fake. */
#ifndef TESTS_FAKE_PERF_H
#define TESTS_FAKE_PERF_H

#define syscall   fake_syscall
#define getrlimit fake_getrlimit
#define geteuid   fake_geteuid
#define sysconf   fake_sysconf

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
