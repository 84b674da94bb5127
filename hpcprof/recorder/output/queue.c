/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples on their way from a signal handler to the counts: a queue in each thread, one producer, one consumer. */
#include "hpcprof/recorder/output/paths.h"

/* Called by signal handlers of the sampled thread itself. */
void hpcrec_queue_sample(struct thread *t, unsigned event, uint64_t pc, uint32_t samples, const void *context)
{
    if (!t->begun)
        return;
    if (hpcrec_waiting_pc)
        pc = hpcrec_waiting_pc;
    uint32_t head = atomic_load_explicit(&t->queue_head, memory_order_relaxed);
    if (head - atomic_load_explicit(&t->queue_tail, memory_order_acquire) >= QUEUE_ENTRIES) {
        atomic_fetch_add_explicit(&t->dropped[event], samples, memory_order_relaxed);
        return;
    }
    struct queued *q = &t->queue[head % QUEUE_ENTRIES];
    *q = (struct queued){.pc = pc, .region = (uint16_t)t->region, .event = (uint8_t)event, .samples = samples};
    hpcrec_path_put(t, q, context);
    atomic_store_explicit(&t->queue_head, head + 1, memory_order_release);
}

void hpcrec_queue_drain(struct thread *t)
{
    uint32_t tail = atomic_load_explicit(&t->queue_tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&t->queue_head, memory_order_acquire);
    for (; tail != head; tail++) {
        const struct queued *q = &t->queue[tail % QUEUE_ENTRIES];
        uint32_t parent = hpcrec_path_take(t, q);
        if (hpcrec.measuring)
            hpcrec_count(t->row, q->event, q->region, q->pc, parent, q->samples,
                         q->samples * hpcrec.config.events[q->event].conf.period);
    }
    atomic_store_explicit(&t->queue_tail, tail, memory_order_release);
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        uint64_t dropped = atomic_exchange_explicit(&t->dropped[e], 0, memory_order_relaxed);
        if (dropped) {
            hpcrec_row_of(t)->lost[e] += dropped;
            hpcrec_row_of(t)->changed = true;
        }
    }
}
