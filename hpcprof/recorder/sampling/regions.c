/* SPDX-License-Identifier: BSD-3-Clause */
/* The region of the program that a thread is in. Samples of the ring come later: a mark says from which position on it holds. */
#include "hpcprof/recorder/sampling/sampling.h"

void hpcrec_mark_region(struct thread *t, uint32_t region)
{
    t->region = region;
    if (!t->ring)
        return;
    uint32_t head = atomic_load_explicit(&t->mark_head, memory_order_relaxed);
    if (head - atomic_load_explicit(&t->mark_tail, memory_order_acquire) >= MARKS) {
        sigset_t saved;
        hpcrec_lock(&saved);
        hpcrec_perf_drain(t);
        t->drained_region = region;
        atomic_store(&t->mark_tail, head);
        hpcrec_unlock(&saved);
        return;
    }
    t->marks[head % MARKS] = (struct mark){hpcrec_perf_position(t), region};
    atomic_store_explicit(&t->mark_head, head + 1, memory_order_release);
}
