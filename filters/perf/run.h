/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf's records, in the order of time: from its binary file (data.c) and its text (script.c) alike.
 *
 * Mappings and forks give the file of an address and the offset in it; the file's program headers give the link-time
 * address of that. Samples are summed up as they come: memory follows the distinct addresses and paths, not the
 * samples.
 */
#ifndef FILTERS_PERF_RUN_H
#define FILTERS_PERF_RUN_H

#include "filters/base/base.h"

struct perf_mapping {
    uint64_t begin, end, offset;
    str_id path, build_id; /* of perf_run_strings; build_id in hex, or 0 */
};
#define PERF_KERNEL UINT32_MAX /* the process whose mappings are the kernel's */

struct perf_frame {
    uint64_t ip;
    str_id symbol, object; /* perf's own resolution, if given; 0 */
    uint64_t into;         /* bytes into the symbol; UINT64_MAX: unknown */
    str_id file;           /* and the line, for where the address cannot be placed */
    uint32_t line;
    bool may_be_offset; /* in chains perf's text has had offsets in the object's file since 5.17, addresses before */
};

struct perf_sample {
    uint32_t pid, tid, event;
    uint64_t samples;                /* that it stands for; 0: one */
    uint64_t period;                 /* of all of them */
    bool kernel;                     /* sampled in the kernel: its first frame is in the kernel's mappings */
    const struct perf_frame *frames; /* the innermost first; NULL and 0: the place is not known */
    size_t frame_count;
};

struct perf_run;
struct perf_run *perf_run_create(struct hpcprof *into, const struct filter_input *);
void perf_run_free(struct perf_run *);
struct strtab *perf_run_strings(struct perf_run *);
/* Another tool than perf recorded it: its name, and the meaning of its event. */
void perf_run_is(struct perf_run *, const char *sampler, uint32_t event, const char *unit);
/* Properties of all processes of the recording. NULL: unknown. */
void perf_run_about(struct perf_run *, const char *host, const char *machine, const char *kernel, const char *command);
void perf_run_map(struct perf_run *, uint32_t pid, const struct perf_mapping *);
void perf_run_fork(struct perf_run *, uint32_t pid, uint32_t tid, uint32_t parent_pid, uint32_t parent_tid);
/* exec: the process begins anew, without mappings. */
void perf_run_name(struct perf_run *, uint32_t pid, uint32_t tid, const char *name, bool exec);
/* The index of an event of that name. */
uint32_t perf_run_event(struct perf_run *, const char *name);
void perf_run_sample(struct perf_run *, const struct perf_sample *);
/* Values in addition to the samples': `weight` of them at the sample's place, of the event "EVENT WHAT". */
void perf_run_extra(struct perf_run *, const struct perf_sample *, const char *what, const char *unit, uint64_t value);
void perf_run_lost(struct perf_run *, uint32_t event, uint64_t records, bool throttled);
/* Fills the measurement. Errors: no samples (`advice` follows that), too many events. */
int perf_run_finish(struct perf_run *, const char *advice, struct warnings *, struct err *);

#endif
