/* Included first in the sources of wrap_test: the functions wrapped by the recorder are the test's own, so that its
   effects on a process reach no real one. */
#ifndef TESTS_FAKE_LIBC_H
#define TESTS_FAKE_LIBC_H

#define pthread_create  fake_pthread_create
#define thrd_create     fake_thrd_create
#define fork            fake_fork
#define daemon          fake_daemon
#define _exit           fake__exit
#define _Exit           fake__Exit
#define quick_exit      fake_quick_exit
#define execve          fake_execve
#define execv           fake_execv
#define execvpe         fake_execvpe
#define execvp          fake_execvp
#define fexecve         fake_fexecve
#define execveat        fake_execveat
#define execl           fake_execl
#define execle          fake_execle
#define execlp          fake_execlp
#define posix_spawn     fake_posix_spawn
#define posix_spawnp    fake_posix_spawnp
#define dlclose         fake_dlclose
#define close           fake_close
#define close_range     fake_close_range
#define closefrom       fake_closefrom
#define dup2            fake_dup2
#define dup3            fake_dup3
#define sigaction       fake_sigaction
#define signal          fake_signal
#define __sysv_signal   fake___sysv_signal
#define pthread_sigmask fake_pthread_sigmask
#define sigprocmask     fake_sigprocmask
#define sigwait         fake_sigwait
#define sigwaitinfo     fake_sigwaitinfo
#define sigtimedwait    fake_sigtimedwait
#define nanosleep       fake_nanosleep
#define usleep          fake_usleep
#define sleep           fake_sleep
#define pause           fake_pause
#define poll            fake_poll
#define select          fake_select
#define epoll_wait      fake_epoll_wait
#define sem_timedwait   fake_sem_timedwait
#define semop           fake_semop
#define semtimedop      fake_semtimedop
#define msgsnd          fake_msgsnd
#define msgrcv          fake_msgrcv
#define clock_nanosleep fake_clock_nanosleep
#define ppoll           fake_ppoll
#define pselect         fake_pselect
#define epoll_pwait     fake_epoll_pwait
#define sigsuspend      fake_sigsuspend
#define dlsym           fake_dlsym
#define syscall         fake_syscall

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
