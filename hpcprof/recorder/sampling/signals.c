/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals. A program that is killed by a signal it does not handle is first given the time to write down what was
 * counted; the program sees the default action wherever it looks, and dies of the same signal. Signals that samplers
 * use are kept out of the program's masks, and only while such a sampler runs.
 */
#include "hpcprof/recorder/base/interpose.h"
#include "hpcprof/recorder/sampling/sampling.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Those whose default action ends the process, but for SIGKILL and the real-time ones. */
static const int fatal_signals[] = {SIGHUP,  SIGINT,    SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,  SIGBUS,  SIGFPE,
                                    SIGUSR1, SIGSEGV,   SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,  SIGXCPU, SIGXFSZ,
                                    SIGPROF, SIGVTALRM, SIGPOLL, SIGPWR,  SIGSYS,  SIGSTKFLT};

static bool is_fatal(int sig)
{
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++)
        if (fatal_signals[i] == sig)
            return true;
    return false;
}

static bool samples_by(int sig)
{
    if (hpcrec_in_papi || !hpcrec_recording())
        return false;
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        uint32_t kind = hpcrec.config.events[e].conf.kind;
        if ((kind == RECORD_PAPI && sig == hpcrec_papi_signal()) ||
            ((kind == RECORD_CPUTIME || kind == RECORD_REALTIME) && sig == hpcrec_timers_signal()))
            return true;
    }
    return false;
}

bool hpcrec_signals_used(void)
{
    return samples_by(hpcrec_papi_signal()) || samples_by(hpcrec_timers_signal());
}

static void without_ours(sigset_t *set)
{
    if (samples_by(hpcrec_papi_signal()))
        sigdelset(set, hpcrec_papi_signal());
    if (samples_by(hpcrec_timers_signal()))
        sigdelset(set, hpcrec_timers_signal());
}

void hpcrec_signals_ignore(bool ignore)
{
    static struct sigaction saved[2];
    int sigs[2] = {hpcrec_papi_signal(), hpcrec_timers_signal()};
    struct sigaction nothing = {.sa_handler = SIG_IGN};
    for (int i = 0; i < 2; i++)
        if (samples_by(sigs[i]))
            hpcrec_real_sigaction(sigs[i], ignore ? &nothing : &saved[i], ignore ? &saved[i] : NULL);
}

/* ---- fatal signals -------------------------------------------------------------------------------------- */

static void on_fatal(int sig, siginfo_t *info, void *context);
static void (*finish)(int status);

/* The program's disposition for a signal with our handler: the default action, with these flags and mask. */
static struct sigaction asked[65];

static bool is_fault(int sig, const siginfo_t *info)
{
    return info->si_code > 0 && (sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL);
}

static void set_default(int sig)
{
    struct sigaction act = {.sa_handler = SIG_DFL};
    hpcrec_real_sigaction(sig, &act, NULL);
}

/* Back to the default action, and again: a fault happens again at the same instruction (so that a core file shows it),
   any other signal is sent again and waits until we return. */
static void on_fatal(int sig, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    (void)context;
    finish(sig);
    set_default(sig);
    if (!is_fault(sig, info))
        syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), sig);
    errno = saved_errno;
}

static int install_fatal(int sig)
{
    struct sigaction act = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    act.sa_sigaction = on_fatal;
    sigfillset(&act.sa_mask);
    return hpcrec_real_sigaction(sig, &act, NULL);
}

void hpcrec_signals_begin(void (*at_end)(int status))
{
    finish = at_end;
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++) {
        struct sigaction now;
        int sig = fatal_signals[i];
        if (hpcrec_real_sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_DFL && !(now.sa_flags & SA_SIGINFO)) {
            asked[sig] = now;
            install_fatal(sig);
        }
    }
}

static bool is_ours(const struct sigaction *act)
{
    return act->sa_flags & SA_SIGINFO && act->sa_sigaction == on_fatal;
}

/* ---- in front of the C library ------------------------------------------------------------------------------ */

WRAP(int, sigaction, (int sig, const struct sigaction *act, struct sigaction *old))
{
    struct sigaction was, changed;
    if (act && samples_by(sig)) { /* a sampler has it: remembered, not installed */
        static struct sigaction shadow[65];
        if (old)
            *old = shadow[sig];
        shadow[sig] = *act;
        return 0;
    }
    if (act) {
        changed = *act;
        without_ours(&changed.sa_mask);
        if (hpcrec_in_papi) /* stacks may be small (split ones, Go's): an alternate signal stack is used for PAPI's
                               too */
            changed.sa_flags |= SA_ONSTACK;
        act = &changed;
    }
    bool ours_stays =
        act && is_fatal(sig) && hpcrec_active() && !(act->sa_flags & SA_SIGINFO) && act->sa_handler == SIG_DFL;
    if (REAL(sigaction)(sig, ours_stays ? NULL : act, &was) < 0)
        return -1;
    if (ours_stays && !is_ours(&was))
        install_fatal(sig);
    bool ours_was = is_ours(&was);
    if (old)
        *old = ours_was ? asked[sig] : was;
    if (ours_stays)
        asked[sig] = *act;
    return 0;
}

int hpcrec_real_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    return REAL(sigaction)(sig, act, old);
}

static __sighandler_t set_handler(int sig, __sighandler_t handler, int flags)
{
    struct sigaction act = {.sa_flags = flags}, old;
    act.sa_handler = handler;
    if (handler == SIG_ERR || sig < 1 || sig > 64) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (!(flags & SA_NODEFER))
        sigaddset(&act.sa_mask, sig);
    return OURS(sigaction)(sig, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
}

/* BSD's meaning, which is glibc's. */
WRAP(__sighandler_t, signal, (int sig, __sighandler_t handler))
{
    (void)REAL(signal);
    return set_handler(sig, handler, SA_RESTART);
}

/* System V's, what signal() is under strict standards. */
WRAP(__sighandler_t, __sysv_signal, (int sig, __sighandler_t handler))
{
    (void)REAL(__sysv_signal);
    return set_handler(sig, handler, (int)SA_RESETHAND | SA_NODEFER);
}

WRAP(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old))
{
    sigset_t changed;
    if (set && how != SIG_UNBLOCK) {
        changed = *set;
        without_ours(&changed);
        set = &changed;
    }
    return REAL(pthread_sigmask)(how, set, old);
}

int hpcrec_real_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return REAL(pthread_sigmask)(how, set, old);
}

WRAP(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old))
{
    sigset_t changed;
    if (set && how != SIG_UNBLOCK) {
        changed = *set;
        without_ours(&changed);
        set = &changed;
    }
    return REAL(sigprocmask)(how, set, old);
}

WRAP(int, sigwait, (const sigset_t *set, int *sig))
{
    sigset_t changed = *set;
    without_ours(&changed);
    return REAL(sigwait)(&changed, sig);
}

WRAP(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info))
{
    sigset_t changed = *set;
    without_ours(&changed);
    return REAL(sigwaitinfo)(&changed, info);
}

WRAP(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout))
{
    sigset_t changed = *set;
    without_ours(&changed);
    return REAL(sigtimedwait)(&changed, info, timeout);
}

void hpcrec_signals_init(void)
{
    (void)REAL(sigaction);
    (void)REAL(pthread_sigmask);
}
