/*
 * phases - where threads and ranks wait for each other.
 *
 * Knows:    the tables of barriers and waits that `record --phases` leaves (tables.h); inside/ is what makes them.
 * Does not: structure, source, pages.
 *
 * Usual life:
 *     hpcprof_read -> phases_finish -> the tables are whole
 *                     phases_stuck  -> who waits now, and for whom
 *
 * Memory:   phases_stuck's answer is the caller's, by phases_stuck_free.
 * Errors:   -1 with words where tables make no sense.
 */
#ifndef PHASES_H
#define PHASES_H

#include "hpcprof/hpcprof.h"

/* What only the whole measurement tells: episodes of MPI's collectives, whose ranks measured their passages each for
   itself; means, shares, who is last most often. Nothing where there are no barriers. Call it once. */
int phases_finish(struct hpcprof *, struct err *);

/* Rows of the table "thread_states". */
struct phases_stuck {
    uint32_t barrier; /* row of "barriers" */
    uint64_t since;   /* the first arrival */
    uint32_t *arrived, *missing;
    size_t arrived_count, missing_count;
};
/* The barriers where threads stood when the measurement was last written, by the first arrival. */
size_t phases_stuck(const struct hpcprof *, struct phases_stuck **);
void phases_stuck_free(struct phases_stuck *, size_t);

#endif
