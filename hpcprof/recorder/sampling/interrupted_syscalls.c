/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls that a signal handler ends with EINTR even with SA_RESTART (signal(7)). While the program waits in one,
 * the signals of our samplers are blocked; pending ones are counted when the wait is over, as spent in the function
 * that waited. The ring sampler uses no signals, and then these pass through.
 */
#include "hpcprof/recorder/base/interpose.h"
#include "hpcprof/recorder/sampling/sampling.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void mask_ours(int how)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, hpcrec_papi_signal());
    sigaddset(&ours, hpcrec_timers_signal());
    syscall(SYS_rt_sigprocmask, how, &ours, NULL, 8);
}

/* The program's own handlers run while it waits, as ever. */
static bool hold(uint64_t pc)
{
    if (!hpcrec_signals_used() || hpcrec_in_papi || hpcrec_waiting_pc)
        return false;
    mask_ours(SIG_BLOCK);
    hpcrec_waiting_pc = pc;
    return true;
}

static void let_go(void)
{
    int saved_errno = errno;
    mask_ours(SIG_UNBLOCK);
    hpcrec_waiting_pc = 0;
    errno = saved_errno;
}

#define WAIT(type, name, args, call)                                                                                   \
    WRAP(type, name, args)                                                                                             \
    {                                                                                                                  \
        bool held = hold((uint64_t)(uintptr_t)&REAL(name));                                                            \
        type result = REAL(name) call;                                                                                 \
        if (held)                                                                                                      \
            let_go();                                                                                                  \
        return result;                                                                                                 \
    }

/* Masks that hold while the call waits get our signals added. */
static const sigset_t *with_ours(const sigset_t *mask, sigset_t *changed)
{
    if (!mask || !hpcrec_signals_used())
        return mask;
    *changed = *mask;
    sigaddset(changed, hpcrec_papi_signal());
    sigaddset(changed, hpcrec_timers_signal());
    return changed;
}

WAIT(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
WAIT(int, usleep, (useconds_t us), (us))
WAIT(unsigned, sleep, (unsigned s), (s))
WAIT(int, pause, (void), ())
WAIT(int, poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout))
WAIT(int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *timeout), (n, r, w, e, timeout))
WAIT(int, epoll_wait, (int fd, struct epoll_event *events, int n, int timeout), (fd, events, n, timeout))
WAIT(int, sem_timedwait, (sem_t * sem, const struct timespec *until), (sem, until))
WAIT(int, semop, (int id, struct sembuf *ops, size_t n), (id, ops, n))
WAIT(int, semtimedop, (int id, struct sembuf *ops, size_t n, const struct timespec *timeout), (id, ops, n, timeout))
WAIT(int, msgsnd, (int id, const void *message, size_t n, int flags), (id, message, n, flags))
WAIT(ssize_t, msgrcv, (int id, void *message, size_t n, long type, int flags), (id, message, n, type, flags))

/* Returns the error; errno stays as it is. */
WAIT(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
     (clock, flags, time, left))

WRAP(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask))
{
    sigset_t changed;
    bool held = hold((uint64_t)(uintptr_t)&REAL(ppoll));
    int result = REAL(ppoll)(fds, n, timeout, with_ours(mask, &changed));
    if (held)
        let_go();
    return result;
}

WRAP(int, pselect, (int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *timeout, const sigset_t *mask))
{
    sigset_t changed;
    bool held = hold((uint64_t)(uintptr_t)&REAL(pselect));
    int result = REAL(pselect)(n, r, w, e, timeout, with_ours(mask, &changed));
    if (held)
        let_go();
    return result;
}

WRAP(int, epoll_pwait, (int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask))
{
    sigset_t changed;
    bool held = hold((uint64_t)(uintptr_t)&REAL(epoll_pwait));
    int result = REAL(epoll_pwait)(fd, events, n, timeout, with_ours(mask, &changed));
    if (held)
        let_go();
    return result;
}

WRAP(int, sigsuspend, (const sigset_t *mask))
{
    sigset_t changed;
    bool held = hold((uint64_t)(uintptr_t)&REAL(sigsuspend));
    int result = REAL(sigsuspend)(with_ours(mask, &changed));
    if (held)
        let_go();
    return result;
}
