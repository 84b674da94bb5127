/* Put in front of what perf_test is made of: the kernel that is asked is the test's. */
#ifndef TESTS_FAKE_PERF_H
#define TESTS_FAKE_PERF_H

#define syscall   world_syscall
#define getrlimit world_getrlimit
#define geteuid   world_geteuid
#define sysconf   world_sysconf

#endif
