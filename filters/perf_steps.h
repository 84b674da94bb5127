/*
 * The steps of the paths that samples have: a frame, called from another one.
 *
 * There is one for each address and path, and a sample looks at two or three that no cache holds any more: so they are small,
 * and lie in the table's own slots, those of near addresses side by side: a look-up touches one line of memory.
 */
#ifndef FILTERS_PERF_STEPS_H
#define FILTERS_PERF_STEPS_H

#include "support/support.h"

struct step {
    uint64_t ip;
    uint32_t parent;                 /* a context */
    uint32_t process;                /* STEP_NONE: the slot is free */
    uint32_t version, context;       /* what it is, as the process's mappings were at that version */
    uint32_t sum;                    /* the last one that was added to; STEP_NONE */
    uint32_t found : 31, caller : 1; /* found: of perf's own finding; 0: nothing */
};
#define STEP_NONE UINT32_MAX

struct steps { /* zero-initialise; steps_release when done */
    struct step *slots;
    size_t count, capacity;
};

/* Whether it is the same frame, called from the same place. */
static inline bool step_is(const struct step *a, const struct step *b)
{
    return a->ip == b->ip && a->parent == b->parent && a->process == b->process && a->found == b->found &&
           a->caller == b->caller;
}

/* Room for so many new ones, the first time too. True: they have moved; until then pointers to them hold. */
bool steps_make_room(struct steps *, size_t more);
/* The one that is the same; a new one is a copy of what is looked for. Room was made. */
struct step *steps_put(struct steps *, const struct step *, bool *is_new);
void steps_release(struct steps *);

#endif
