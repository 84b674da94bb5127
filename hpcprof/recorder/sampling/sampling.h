/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to sample: the kernel's ring buffer, PAPI, timers; and the signals that the last two use. */
#ifndef HPCPROF_RECORDER_SAMPLING_H
#define HPCPROF_RECORDER_SAMPLING_H

#include "hpcprof/recorder/base/state.h"

#include <ucontext.h>

/* perf.c: the kernel's ring buffer; tid 0 is the caller. */
void hpcrec_perf_begin(struct thread *, pid_t tid);
void hpcrec_perf_drain(struct thread *);
uint64_t hpcrec_perf_pause_ms(void); /* until the next drain of all: shorter while rings fill fast */
void hpcrec_perf_totals(struct thread *, struct thread_row *);
void hpcrec_perf_switch(struct thread *, bool on);
void hpcrec_perf_end(struct thread *);
void hpcrec_perf_forget(void); /* in a fork child, which has no rings */
uint64_t hpcrec_perf_position(const struct thread *);
/* regions.c: the thread is in that region from here on. */
void hpcrec_mark_region(struct thread *, uint32_t region);
/* The interrupted address of the thread, from a handler's third argument. */
static inline uint64_t hpcrec_pc_of(const void *context)
{
    const ucontext_t *uc = context;
#if defined __x86_64__
    return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return uc->uc_mcontext.pc;
#else
#error "where is the program counter on this machine?"
#endif
}

/* May we see what happens in the kernel (perf_event_paranoid 1 or less, or CAP_PERFMON)? Asked once. */
bool hpcrec_kernel_permitted(void);
/* Some event needs samples in the kernel, which we are not allowed. */
bool hpcrec_kernel_is_hidden(void);
/* papi.c: a signal for each sample */
bool hpcrec_papi_load(void);
bool hpcrec_needs_papi(void);
extern _Thread_local bool hpcrec_in_papi
    __attribute__((tls_model("initial-exec"))); /* calls now come from PAPI on our behalf */
void hpcrec_papi_begin(struct thread *);
void hpcrec_papi_totals(struct thread *, struct thread_row *); /* by the thread itself */
void hpcrec_papi_restart(struct thread *); /* the calling thread's own, after its signals were ignored */
void hpcrec_papi_end(struct thread *, struct thread_row *);
/* timers.c: CPUTIME and REALTIME */
void hpcrec_timers_begin(struct thread *, pid_t tid);
void hpcrec_timers_totals(struct thread *, struct thread_row *);
void hpcrec_timers_end(struct thread *);
int hpcrec_timers_signal(void);
int hpcrec_papi_signal(void);

/* signals.c: the program's view of signals. finish: called before a signal ends the process, with the status that
   wait(2) gives then. */
void hpcrec_signals_begin(void (*finish)(int status));
void hpcrec_signals_init(void);
void hpcrec_signals_ignore(bool ignore); /* while the process may become another program */
bool hpcrec_signals_used(void);          /* by a sampler of ours, now */
int hpcrec_real_sigmask(int how, const sigset_t *, sigset_t *);
int hpcrec_real_sigaction(int, const struct sigaction *, struct sigaction *);

#endif
