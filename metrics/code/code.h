/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * code - what binaries and structure files know of the sampled code: scopes, loops, instructions.
 *
 * Knows:    bloop's scope trees, quality's analysis of loops, functions kept in measurements.
 * Does not: places of the experiment, but to note in tables what it found at them.
 *
 * Memory:   structures own the trees, and lend them to modules until `end`.
 * Errors:   a binary that cannot be read is its module's state, or a warning.
 * Threads:  none.
 */
#ifndef METRICS_CODE_H
#define METRICS_CODE_H

#include "metrics/ingest/ingest.h"
#include "quality/quality.h"

/* ---- structure.c, functions.c -------------------------------------------------------------------------------- */

/* The samples of a module. */
struct sampled {
    const vaddr *addresses; /* ascending */
    const double *weights;  /* of each: its share of the metrics, added up */
    const double *samples;  /* of each: how many of the event with most samples; NULL: not known */
    size_t count;
    uint64_t *listed;            /* bytes of code whose instructions are listed so far, of all modules */
    const struct correlation *c; /* NULL, or the source of trip counts (correlate_trips) */
    uint32_t module;
};

/* Source of structure; tests pass outlines. scopes() fills tree, state and why of the module; end(), if there is
   one, is called after the last request and releases everything lent. */
struct structure_source {
    void (*scopes)(void *ctx, struct module *, const struct strtab *, const struct sampled *, struct warnings *);
    void *ctx;
    void (*end)(void *ctx);
};

struct structures;
int structures_open(const struct config *, const struct progress *, struct structures **, struct warnings *,
                    struct err *);
void structures_free(struct structures *);
/* The tree of one module, which becomes its own; it is of the module with that name and build id alone. */
void structures_add(struct structures *, struct scope_tree *, const char *build_id);
/* The same of functions alone, for when its binary is not there, or another. */
void structures_add_kept(struct structures *, struct scope_tree *, const char *build_id);
/* The functions that measurements have kept (functions.c), out of their tables; then, of all, to the structures. Zero-initialise. */
struct kept_functions {
    struct table_list tables;
    struct strtab *strings;
};
void measured_functions_take(struct hpcprof *, struct kept_functions *);
void measured_functions_give(struct kept_functions *, struct structures *);
struct structure_source structures_source(struct structures *);

/* ---- loops.c ------------------------------------------------------------------------------------------------- */

struct loop_machines {                /* cores, by processor; read when they are first needed */
    const char *folder, *named;       /* folder NULL: loops are not looked at. Lent */
    const struct quality_tools *llvm; /* NULL: llvm-mca is not asked */
    struct machine_core *of[2];
    bool failed[2];
};
void loops_machines_release(struct loop_machines *);
/* The core that code of this processor is judged by; NULL: none. */
const struct machine_core *loops_machine(struct loop_machines *, bool aarch64, struct warnings *);
/* The innermost loops of the tree that contain a sampled address; the tree marks unrolled ones. NULL: none. */
struct quality_report *loops_analyze(struct loop_machines *, struct bloop_binary *, struct scope_tree *,
                                     const struct sampled *, struct warnings *);
/* Rows of the correlation's tables; scope_place: by scope of the tree, PLACE_NONE if there is none. */
void loops_note(struct correlation *, const struct quality_report *, const place_ix *scope_place);

/* ---- instructions.c ------------------------------------------------------------------------------------------ */

/* By site its share of each column, added up; mem_free. */
double *instructions_weigh_sites(const struct correlation *);
/* Samples at each site of the event that has most of them; NULL: no event is sampled. mem_free. */
double *instructions_site_samples(const struct correlation *);
/* Procedures worth showing, those with most samples first. */
struct sampled_procedures VEC(scope_ix);
void instructions_choose(struct scope_tree *, const struct sampled *, struct sampled_procedures *);
/* Those of the procedures that were sampled most; NULL: of none. */
struct quality_listing *instructions_list(struct loop_machines *, struct bloop_binary *, struct scope_tree *,
                                          const struct sampled *, struct warnings *);
struct placed_scopes { /* of a module's tree, while its sites are placed */
    uint32_t module;
    const place_ix *place; /* by scope; PLACE_NONE: it has no place */
    const uint32_t *file;  /* by string of the tree: the correlation's file; above its count: it has none */
};
/* Rows of the module's listing; then what was counted at all rows. */
void instructions_note(struct correlation *, const struct placed_scopes *);
void instructions_count(struct correlation *);

/* ---- trip_counts.c ------------------------------------------------------------------------------------------- */

/* If the measurement has counts of jumps, and their binaries are here: the events EVENT_ITERATIONS and EVENT_ENTRIES
   at loops, and the table trip_counts of their variation among the parts of a profile. */
void trip_counts_add(struct hpcprof *, const struct config *);

/* ---- ideal_cycles.c ------------------------------------------------------------------------------------------ */

#define EVENT_IDEAL "ICYCLES"
/* The binary of a module; NULL: it cannot be opened, or was built anew, which the join says. */
struct bloop_binary *code_open(const struct hpcprof *, const struct config *, uint32_t module);
/* If the measurement has counts of executed instructions, and their binaries are here: the event ICYCLES, the cycles
   that they would take at best. */
void ideal_cycles_add(struct hpcprof *, const struct config *, struct warnings *);

/* ---- how it was compiled ------------------------------------------------------------------------------------- */

/* How the sampled code was compiled; mem_free. NULL: that is not known. */
char *compilers_of_sampled(struct bloop_binary *, struct scope_tree *, const struct sampled *, struct warnings *);

#endif
