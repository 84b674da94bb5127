/* SPDX-License-Identifier: BSD-3-Clause */
/* For the simulator's own files and the runtime: where its tables lie. */
#ifndef MHSIM_ENGINE_H
#define MHSIM_ENGINE_H

#include "mhsim/mhsim.h"
#include "mhsim/engine/mmap_store.h"

enum {
    ROWS_MOST = 1 << 20,  /* references x objects x threads: row numbers have 20 bits */
    PAIRS_MOST = 1 << 22, /* 160 MB; more is unreadable */
};

/* As mhsim_create, its rows and pairs in tables that are open already; they are its own, and closed if it is NULL. */
struct mhsim *mhsim_create_in(const struct machine_memory *, const struct mhsim_options *, const struct store *rows,
                              const struct store *pairs);
/* Long runs may use so many threads of the simulator's own (see worker.h), of which it uses two at most. They begin
   with `begins`, which may be NULL. Call it before the first core. */
void mhsim_help(struct mhsim *, unsigned threads, void (*begins)(void));
/* Until all accesses are counted. Functions that return rows or pairs wait as well. */
void mhsim_wait(struct mhsim *);

#endif
