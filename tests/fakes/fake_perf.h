/* Put in front of what perf_test is made of: the kernel that is asked is the test's. */
#ifndef TESTS_FAKE_PERF_H
#define TESTS_FAKE_PERF_H

#define syscall   fake_syscall
#define getrlimit fake_getrlimit
#define geteuid   fake_geteuid
#define sysconf   fake_sysconf

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
