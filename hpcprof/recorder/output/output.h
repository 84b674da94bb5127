/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From samples to the file: location of an address (maps.c), its call path (paths.c), counts (counts.c), samples on
 * their way from signal handlers (queue.c), and writing (file.c).
 */
#ifndef HPCPROF_RECORDER_OUTPUT_H
#define HPCPROF_RECORDER_OUTPUT_H

#include "hpcprof/recorder/base/state.h"

/* ---- where code is (maps.c) ------------------------------------------------------------------ */

struct module_row {
    uint32_t path, build_id;       /* offsets into the string pool */
    uint64_t start, length, vaddr; /* the mapping it was first seen with */
};
void hpcrec_maps_open(void);
void hpcrec_maps_forget(void);
void hpcrec_maps_move_fd(int from, int to);
void hpcrec_maps_stale(void); /* something was loaded or unloaded */
void hpcrec_maps_check(void); /* asks the loader whether something was */
/* The row of the module that holds pc, and the link-time address in it. Always finds one ("[anonymous]", "[unknown]").
 */
uint32_t hpcrec_maps_find(uint64_t pc, uint64_t *address);
uint32_t hpcrec_maps_named(const char *name); /* the row of "[...]", which is not a file */
void hpcrec_maps_name_all(void);              /* gives rows to the files of code in which nothing was sampled, too */
void hpcrec_maps_new_round(void);             /* permits one more reading of the maps for addresses that are nowhere */
const char *hpcrec_string(uint32_t offset);
uint32_t hpcrec_string_add(const char *);

/* ---- counts (counts.c) -------------------------------------------------------------------------- */

enum { CONTEXT_NONE = UINT32_MAX };
struct context_row {
    uint64_t address; /* link-time: of an instruction; with contexts below it, inside of a call */
    uint32_t module;
    uint32_t parent; /* the call it was called by: an earlier row; CONTEXT_NONE: not known */
};
struct cell {
    uint32_t thread, context;
    uint16_t region;
    uint8_t event;
    bool dirty;
    uint32_t new_samples; /* not in the file yet */
    uint64_t new_value;
    uint64_t samples, value;
};
/* The row of code that was called from the row `parent`. CONTEXT_NONE: there are as many as we keep. */
uint32_t hpcrec_context(uint64_t pc, uint32_t parent);
/* The row above all paths that were cut for this reason. */
uint32_t hpcrec_context_cut(unsigned why);
void hpcrec_count(uint32_t thread, unsigned event, uint32_t region, uint64_t pc, uint32_t parent, uint32_t samples,
                  uint64_t value);
/* Puts COUNTS blocks of the increase (all: of everything) and marks it as written. */
void hpcrec_put_counts(struct out *, bool all);
uint32_t hpcrec_region_row(const char *name, uint32_t parent); /* locked */
void hpcrec_counts_forget(void);
void hpcrec_contexts_stale(void); /* addresses mean something else from now on */
/* Soon there will be as many as we keep. */
bool hpcrec_contexts_are_many(void);
/* Cuts paths where they were visited least: rows have new numbers then, and the next file is a full one. moved[row]
   is the new one, CONTEXT_NONE if there is none; rows without a parent stay. tell may be called more than once; NULL:
   not possible now. */
void hpcrec_contexts_thin(void (*tell)(const uint32_t *moved));

struct region_row {
    uint32_t name, parent;
};

/* ---- samples on their way (queue.c) ------------------------------------------------------------------ */

/* By a handler of the sampled thread itself, with its third argument. */
void hpcrec_queue_sample(struct thread *, unsigned event, uint64_t pc, uint32_t samples, const void *context);
void hpcrec_queue_drain(struct thread *); /* locked */

/* ---- the file (file.c) ----------------------------------------------------------------------------------- */

struct extra_event {
    unsigned event;
    bool throttled;
};
/* Something the measurement lacks, a sentence for the file; a repeated one is kept once. Locked. */
void hpcrec_missing(const char *sentence);
/* By the helper only. */
void hpcrec_file_encode(bool end, int status); /* locked: fills hpcrec.out, decides whether in full */
void hpcrec_file_write(bool end);              /* not locked */
void hpcrec_file_forget(void);

#endif
