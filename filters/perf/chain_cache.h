/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of the paths that samples have: a frame, called from another one.
 *
 * There is one for each address and path, and a sample looks at two or three that no cache holds any more: so they are small,
 * and lie in the table's own slots, those of near addresses side by side: a look-up touches one line of memory.
 */
#ifndef FILTERS_CHAIN_CACHE_H
#define FILTERS_CHAIN_CACHE_H

#include "support/support.h"

struct chain_step {
    uint64_t ip;
    uint32_t parent;                 /* a context */
    uint32_t process;                /* CHAIN_STEP_NONE: the slot is free */
    uint32_t version, context;       /* its resolution, with the process's mappings at that version */
    uint32_t sum;                    /* the last one that was added to; CHAIN_STEP_NONE */
    uint32_t found : 31, caller : 1; /* found: of perf's own finding; 0: nothing */
};
#define CHAIN_STEP_NONE UINT32_MAX

struct chain_cache { /* zero-initialise; chain_cache_release when done */
    struct chain_step *slots;
    size_t count, capacity;
};

/* Whether it is the same frame, called from the same place. */
static inline bool chain_step_is(const struct chain_step *a, const struct chain_step *b)
{
    return a->ip == b->ip && a->parent == b->parent && a->process == b->process && a->found == b->found &&
           a->caller == b->caller;
}

/* Space for so many new ones, the first time too. True: they have moved; until then pointers to them are valid. */
bool chain_cache_reserve(struct chain_cache *, size_t more);
/* The equal one; a new one is a copy of the key. Space was reserved. */
struct chain_step *chain_cache_put(struct chain_cache *, const struct chain_step *, bool *is_new);
void chain_cache_release(struct chain_cache *);

#endif
