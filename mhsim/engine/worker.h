/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of the simulator's own: one chain, the caches' or the TLBs', is simulated there while the caller goes on with the
 * other and with whatever it does next. The two share nothing but the table of pairs (which has a lock) and rows, of which
 * each writes its own parts.
 *
 * Accesses are copied into a ring of batches. Neither side spins: the thread sleeps when the ring is empty and is woken when
 * it is half full, or when somebody waits; who finds it full sleeps until half of it is done. So a call of the kernel comes
 * with thousands of accesses.
 */
#ifndef MHSIM_ENGINE_WORKER_H
#define MHSIM_ENGINE_WORKER_H

#include "mhsim/mhsim.h"

struct worker;
/* What is done there with each batch. */
typedef void worker_work(struct mhsim *, unsigned chain, const struct mhsim_reference *, size_t n);

/* begins: what the thread does first, or NULL. NULL: no thread to be had. */
struct worker *worker_begin(struct mhsim *, unsigned chain, worker_work *, void (*begins)(void));
/* To be worked on in their order. */
void worker_give(struct worker *, const struct mhsim_reference *, size_t n);
/* Until all that was given is done: then nothing happens there. NULL is good. */
void worker_wait(struct worker *);
/* The same, and the thread ends. In the child of a fork there is none: its memory is given back. NULL is good. */
void worker_end(struct worker *);

#endif
