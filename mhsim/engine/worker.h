/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of the simulator's own: one chain, the caches' or the TLBs', is simulated there while the caller continues
 * with the other and with its next work. The two share only the table of pairs (which has a lock) and rows, of which
 * each writes its own parts.
 *
 * Accesses are copied into a ring of batches. Neither side spins: the thread sleeps when the ring is empty and is woken
 * when it is half full, or when somebody waits; a caller that finds it full sleeps until half of it is done. So there
 * is one call of the kernel for thousands of accesses.
 */
#ifndef MHSIM_ENGINE_WORKER_H
#define MHSIM_ENGINE_WORKER_H

#include "mhsim/mhsim.h"

struct worker;
/* Processing of each batch. */
typedef void worker_work(struct mhsim *, unsigned chain, const struct mhsim_reference *, size_t n);

/* begins: run first by the thread, or NULL. NULL: no thread available. */
struct worker *worker_begin(struct mhsim *, unsigned chain, worker_work *, void (*begins)(void));
/* To be worked on in their order. */
void worker_give(struct worker *, const struct mhsim_reference *, size_t n);
/* Until all that was given is done: then nothing happens there. NULL is good. */
void worker_wait(struct worker *);
/* The same, and the thread ends. In the child of a fork there is none: its memory is freed. May be NULL. */
void worker_end(struct worker *);

#endif
