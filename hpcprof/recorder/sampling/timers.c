/* SPDX-License-Identifier: BSD-3-Clause */
/* CPUTIME and REALTIME: a POSIX timer for each thread that signals that thread; needs no permission at all. */
#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/sampling/sampling.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

int hpcrec_timers_signal(void)
{
    return SIGRTMIN + 9; /* programs use the first ones, PAPI SIGRTMIN+2 */
}

static bool is_timer(unsigned e)
{
    return hpcrec.config.events[e].conf.kind == RECORD_CPUTIME || hpcrec.config.events[e].conf.kind == RECORD_REALTIME;
}

/* A thread's CPU clock as a clockid_t: include/linux/posix-timers_types.h; the value of pthread_getcpuclockid. */
static clockid_t thread_clock(pid_t tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | 6);
}

static void on_timer(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    /* The value is the thread's structure, which is on a page, and the event. It outlives the timer, and the timer
       signals no other thread. */
    uintptr_t value = (uintptr_t)info->si_value.sival_ptr;
    if (info->si_code == SI_TIMER && value)
        hpcrec_queue_sample((struct thread *)(value & ~(uintptr_t)7), value & 7, hpcrec_pc_of(context),
                            1 + (uint32_t)info->si_overrun, context);
}

static void install_handler(void)
{
    static bool installed;
    struct sigaction act = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    if (installed)
        return;
    installed = true;
    act.sa_sigaction = on_timer;
    sigfillset(&act.sa_mask);
    hpcrec_real_sigaction(hpcrec_timers_signal(), &act, NULL);
}

/* The kernel fires CPU clock timers at its tick; expirations between ticks come as overruns of the next. */
static void begin_one(struct thread *t, unsigned e, pid_t tid)
{
    const struct record_event *conf = &hpcrec.config.events[e].conf;
    bool cpu = conf->kind == RECORD_CPUTIME;
    struct sigevent how = {.sigev_notify = SIGEV_THREAD_ID,
                           .sigev_signo = hpcrec_timers_signal(),
                           .sigev_value.sival_ptr = (void *)((uintptr_t)t | e)};
    how.sigev_notify_thread_id = tid;
    if (timer_create(cpu ? thread_clock(tid) : CLOCK_MONOTONIC, &how, &t->timer[e]) < 0) {
        hpcrec_missing("a timer was refused in some threads: they are missing from the measurement");
        return;
    }
    uint64_t ns = conf->period * 1000;
    struct itimerspec when = {.it_interval = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
    when.it_value = when.it_interval;
    t->timer_start[e] = hpcrec_now(cpu ? thread_clock(tid) : CLOCK_MONOTONIC);
    t->has_timer |= (uint8_t)(1u << e);
    timer_settime(t->timer[e], 0, &when, NULL);
}

void hpcrec_timers_begin(struct thread *t, pid_t tid)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        if (is_timer(e)) {
            install_handler();
            begin_one(t, e, tid);
        }
}

void hpcrec_timers_totals(struct thread *t, struct thread_row *row)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        if (!(t->has_timer >> e & 1))
            continue;
        bool cpu = hpcrec.config.events[e].conf.kind == RECORD_CPUTIME;
        uint64_t now = hpcrec_now(cpu ? thread_clock(t->tid) : CLOCK_MONOTONIC);
        if (now <= t->timer_start[e])
            continue;
        row->total[e] = (now - t->timer_start[e]) / 1000;
        row->has_total |= (uint8_t)(1u << e);
    }
}

void hpcrec_timers_end(struct thread *t)
{
    for (unsigned e = 0; e < EVENTS_MAX; e++)
        if (t->has_timer >> e & 1)
            timer_delete(t->timer[e]);
    t->has_timer = 0;
}
