/* Included first in the sources of calls_test: system calls of files.c and child.c go through the test, which can make
 * them fail or cut them short, and logs them. The system's headers come first, so that they are unchanged. */
#ifndef FAKES_FAKE_CALLS_H
#define FAKES_FAKE_CALLS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int world_clock_gettime(clockid_t which, struct timespec *t);
int world_close(int fd);
int world_fcntl(int fd, int what, int value);
int world_fstat(int fd, struct stat *st);
off_t world_lseek(int fd, off_t to, int from);
int world_madvise(void *p, size_t n, int advice);
int world_mkostemp(char *path, int flags);
void *world_mmap(void *at, size_t n, int may, int how, int fd, off_t from);
int world_nanosleep(const struct timespec *t, struct timespec *left);
int world_openat(int dir, const char *path, int flags);
int world_poll(struct pollfd *fds, nfds_t n, int milliseconds);
int world_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const *argv, char *const *environment);
int world_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int from, int to);
int world_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
ssize_t world_read(int fd, void *to, size_t n);
int world_rename(const char *from, const char *to);
ssize_t world_send(int fd, const void *from, size_t n, int flags);
int world_socketpair(int family, int type, int protocol, int pair[2]);
long world_syscall(long number, int fd, void *to, size_t n);
int world_unlinkat(int dir, const char *path, int flags);
pid_t world_waitpid(pid_t pid, int *status, int flags);
ssize_t world_write(int fd, const void *from, size_t n);

#define clock_gettime                    world_clock_gettime
#define close                            world_close
#define fcntl                            world_fcntl
#define fstat                            world_fstat
#define lseek                            world_lseek
#define madvise                          world_madvise
#define mkostemp                         world_mkostemp
#define mmap                             world_mmap
#define nanosleep                        world_nanosleep
#define openat                           world_openat
#define poll                             world_poll
#define posix_spawn                      world_posix_spawn
#define posix_spawn_file_actions_adddup2 world_posix_spawn_file_actions_adddup2
#define posix_spawn_file_actions_init    world_posix_spawn_file_actions_init
#define read                             world_read
#define rename                           world_rename
#define send                             world_send
#define socketpair                       world_socketpair
#define syscall                          world_syscall
#define unlinkat                         world_unlinkat
#define waitpid                          world_waitpid
#define write                            world_write

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
