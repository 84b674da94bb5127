/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phases - where threads and ranks wait for each other.
 *
 * Knows:    the tables of barriers and waits that `record --phases` leaves (tables.h); hpcprof/recorder/barriers makes them.
 * Does not: structure, source, pages.
 *
 * Usual life:
 *     hpcprof_read_as with phases_add_samples as its prepare -> phases_finish -> the tables are whole
 *                     phases_stuck  -> who waits now, and for whom
 *     (the experiment)    phases_compare -> barriers of several runs side by side
 *
 * Memory:   phases_stuck's answer is the caller's, by phases_stuck_free.
 * Errors:   -1 with a message if tables are invalid.
 */
#ifndef PHASES_H
#define PHASES_H

#include "hpcprof/hpcprof.h"

#include <stdio.h>

/* Of one file's own measurement, before threads' counts are added up: the counts of each thread in each phase, and
   the loops that ran there, as tables. Does nothing if there are no barriers. */
void phases_add_samples(struct hpcprof *);
/* Values that need the whole measurement: episodes of MPI's collectives, whose ranks each measured their own
   passages; means, shares, the most frequent last thread. Does nothing if there are no barriers. Call it once. */
int phases_finish(struct hpcprof *, struct err *);
/* From an experiment's tables, in order, of several runs: the table "barriers_compared". Does nothing if there are
   no barriers. */
void phases_compare(struct table_list *, struct strtab *);

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

/* ---- while a program runs ---------------------------------------------------------------------------- */

struct phases_warned_place {
    char *text;
    unsigned warnings;
};
struct phases_barrier_log {
    FILE *out;
    const char *const *watched; /* "all", names, FILE:LINE; NULL-terminated */
    /* The name of an address in the source; lent. */
    const char *(*locate)(void *ctx, const char *module, uint64_t address);
    void *locate_ctx;
    struct VEC(struct phases_warned_place) places; /* phases_barrier_log_release */
};
/* For hpcprof_record_options.notice, with a struct phases_barrier_log. */
void phases_barrier_log_line(void *log, char *line);
void phases_barrier_log_release(struct phases_barrier_log *);

#endif
