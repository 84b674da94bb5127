/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths of samples: from registers and a stack to the row of the context a sample's instruction was called from.
 *
 *   signal handler:  walks the thread's own stack, queues what is new in the path      -> helper: rows
 *   ring:            registers and the top of the stack come with the sample           -> helper: walks, rows
 *
 * Most of a path is the path before. So only what differs is queued, and rows are looked up for only that.
 */
#ifndef HPCPROF_RECORDER_OUTPUT_PATHS_H
#define HPCPROF_RECORDER_OUTPUT_PATHS_H

#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/unwind/unwind.h"

enum {
    PATH_FRAMES = 16384, /* of one path: only runaway recursion is deeper */
    PATH_WORDS = 16384,  /* frames of one thread that handlers hold until drained; a power of two */
};

/* The kernel's request for each sample in the ring: as much as a record holds. It copies no more than there is, and
   some functions use tens of kilobytes (a compiler's arithmetic: one path in a hundred is longer than 32). */
enum { HPCREC_STACK_BYTES = (64 << 10) - 512, HPCREC_STACK_LEAST = HPCREC_STACK_BYTES / 32 };
#if defined __x86_64__
#define HPCREC_REGISTERS_MASK 0xff01ffull /* all but segments and flags: asm/perf_regs.h */
enum { HPCREC_REGISTERS_BYTES = 8 + 17 * 8 + 16 };
#else
#define HPCREC_REGISTERS_MASK 0x1ffffffffull
enum { HPCREC_REGISTERS_BYTES = 8 + 33 * 8 + 16 };
#endif

static inline uint64_t hpcrec_drain_ms(void)
{
    return hpcrec.config.call_paths ? PATHS_DRAIN_MS : DRAIN_MS;
}

void hpcrec_paths_create(struct thread *); /* none if none are requested, or there is no memory */
void hpcrec_paths_free(struct thread *);
void hpcrec_paths_begin(struct thread *); /* by the thread itself: where its stack is */
void hpcrec_paths_refresh(void);          /* locked: objects may have been loaded and unloaded */
/* In the handler: walks, and completes the queue's entry. */
void hpcrec_path_put(struct thread *, struct queued *, const void *context);
/* The row that the queued sample was called from; in the order they were queued, each once. Locked. */
uint32_t hpcrec_path_take(struct thread *, const struct queued *);
/* The same for a sample whose registers and stack are at `p`. Locked. *pc becomes the user's if it is the kernel's. */
uint32_t hpcrec_path_of_record(struct thread *, const uint8_t *p, const uint8_t *end, uint64_t *pc);
void hpcrec_paths_moved(const uint32_t *moved); /* locked: contexts have new rows */

#endif
