/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of this folder: the tables while they grow. */
#ifndef HPCPROF_FORMAT_TABLES_H
#define HPCPROF_FORMAT_TABLES_H

#include "hpcprof/format/format.h"
#include "hpcprof/hpcprof.h"

/* hpcprof with its capacities and the maps that find equal rows. The public part comes first, so the pointers are
 * exchangeable. */
struct tables {
    struct hpcprof pub;
    size_t event_room, module_room, context_room, process_room, thread_room, total_room, count_room, region_room,
        note_room;
    struct hashmap modules, regions;               /* key: hash of the row; value: the last row with it */
    struct VEC(uint32_t) module_next, region_next; /* rows with the same hash */
    struct context_index {
        struct row_index index;
        size_t seen; /* contexts before this one are in it */
    } by_address, by_line;
    struct VEC(struct hpcprof_share) shares; /* by event, where counts of threads were added up */
    size_t counts_sorted;                    /* how many counts are in order, the last time it was looked */
};

/* Makes `counts` sorted with equal rows added up; cheap when nothing came since. */
void hpcprof_tables_merge_counts(struct tables *);

/* Adds to hpcprof_shares's sums of the event. */
void hpcprof_tables_add_share(struct hpcprof *, uint32_t event, struct hpcprof_share);

/* Of a folder: an error if it has ranks of two jobs, a warning for ranks that it lacks (jobs.c). */
int hpcprof_check_jobs(const struct hpcprof *, const char *path, struct warnings *, struct err *);

/* Merges what ranks read (ranks.c): the result and *used are the same on all of them; the first one has the warnings
   of all. */
int hpcprof_merge_wholes(const struct ranks *, struct hpcprof **whole, size_t *used, bool summed, struct warnings *,
                         struct err *);

#endif
