/* Put in front of what wrap_test is made of: the functions that the recorder stands in front of are the test's own, so that
   what it does to a process happens to none. */
#ifndef TESTS_FAKE_LIBC_H
#define TESTS_FAKE_LIBC_H

#define pthread_create  world_pthread_create
#define thrd_create     world_thrd_create
#define fork            world_fork
#define daemon          world_daemon
#define _exit           world__exit
#define _Exit           world__Exit
#define quick_exit      world_quick_exit
#define execve          world_execve
#define execv           world_execv
#define execvpe         world_execvpe
#define execvp          world_execvp
#define fexecve         world_fexecve
#define execveat        world_execveat
#define execl           world_execl
#define execle          world_execle
#define execlp          world_execlp
#define posix_spawn     world_posix_spawn
#define posix_spawnp    world_posix_spawnp
#define dlclose         world_dlclose
#define close           world_close
#define close_range     world_close_range
#define closefrom       world_closefrom
#define dup2            world_dup2
#define dup3            world_dup3
#define sigaction       world_sigaction
#define signal          world_signal
#define __sysv_signal   world___sysv_signal
#define pthread_sigmask world_pthread_sigmask
#define sigprocmask     world_sigprocmask
#define sigwait         world_sigwait
#define sigwaitinfo     world_sigwaitinfo
#define sigtimedwait    world_sigtimedwait
#define nanosleep       world_nanosleep
#define usleep          world_usleep
#define sleep           world_sleep
#define pause           world_pause
#define poll            world_poll
#define select          world_select
#define epoll_wait      world_epoll_wait
#define sem_timedwait   world_sem_timedwait
#define semop           world_semop
#define semtimedop      world_semtimedop
#define msgsnd          world_msgsnd
#define msgrcv          world_msgrcv
#define clock_nanosleep world_clock_nanosleep
#define ppoll           world_ppoll
#define pselect         world_pselect
#define epoll_pwait     world_epoll_pwait
#define sigsuspend      world_sigsuspend
#define dlsym           world_dlsym
#define syscall         world_syscall

#endif
