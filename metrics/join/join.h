/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * join - measurements, structure and sources become an experiment.
 *
 * Knows:    every step and their order; which places of several runs are one; names and texts of sources.
 * Does not: formats of files; print.
 *
 * Memory:   the experiment owns the result; the correlation ends with the join.
 * Errors:   what cannot be done; gaps in the result are a warning with their share of the cost.
 * Threads:  none.
 */
#ifndef METRICS_JOIN_H
#define METRICS_JOIN_H

#include "metrics/align/align.h"
#include "metrics/code/code.h"

/* ---- correlate.c --------------------------------------------------------------------------------------------- */

/* Asks the source for every module's structure and puts every site into its place. */
void correlate_place(struct correlation *, const struct config *, const struct structure_source *, struct warnings *,
                     const struct progress *);

/* ---- environment.c ------------------------------------------------------------------------------------------- */

/* The environment of a run: of its measurements' notes, and of its modules. */
void environment_take(struct experiment *, const struct correlation *, const struct input *, size_t input_count,
                      uint32_t run);

/* ---- metrics_finished_run.c -------------------------------------------------------------------------- */

/* A finished experiment's data about its run, as a measurement, and about its modules, whose trees are added, and
   its threads (vec_release). `path` is for messages; `input`: unique number. */
int metrics_finished_run(const struct experiment *, const char *path, uint32_t input, struct structures *,
                         struct hpcprof **, struct thread_value_list *, struct err *);

/* ---- mpi.c --------------------------------------------------------------------------------------------------- */

/* If a column is of what is outside of MPI: which sites and calls are inside. */
void metrics_find_mpi(struct correlation *, const struct experiment *, const struct columns *, const place_ix *new_of);
/* After it: was this sampled inside of MPI or below it? `call`: CALL_NONE if paths were not measured. */
bool metrics_in_mpi(const struct correlation *, uint32_t site, uint32_t call);

/* ---- statistics.c -------------------------------------------------------------------------------------------- */

/* Fills the columns that are statistics, reading the inputs again. */
int statistics_compute(struct experiment *, struct correlation *, const struct config *, const struct columns *,
                       const struct input *, size_t input_count, const place_ix *new_of, struct err *);

/* ---- sources.c ----------------------------------------------------------------------------------------------- */

void sources_name_modules(struct correlation *);
void sources_name_files(struct correlation *, const struct config *);
/* The common folders of each module's own sources, if they are here. */
void sources_keep_folders(const struct correlation *, struct experiment *);
/* Fills `found` of every file, looking on this machine. */
void sources_find(struct correlation *, const struct config *, const struct input *, size_t input_count);

/* ---- order.c ------------------------------------------------------------------------------------------------- */

/* FILE places get the names of their files, now that those are known. */
void sources_name_as_shown(struct correlation *);
/* Fills the experiment's files and places; by old place, the new one (mem_free). */
place_ix *metrics_order_places_and_files(struct correlation *, struct experiment *);

/* ---- calls.c ------------------------------------------------------------------------------------------------- */

/* Adds the tree of calls, if paths were measured, with its measured values. */
int metrics_calls_build(struct experiment *, struct correlation *, const place_ix *new_of, struct warnings *,
                        struct err *);
void metrics_calls_fold(struct experiment *, struct correlation *); /* experiment_fold_recursion, before statistics */

/* ---- attribution_report.c ------------------------------------------------------------------------------------ */

/* Shares of cost that are shown less exactly than by line. */
void metrics_warn_shares(const struct experiment *, const struct correlation *, const struct columns *,
                         struct warnings *);
/* The table "placement": the part of each event that is shown by line, by function, by module and not at all, and
   why. */
int attribution_table(struct experiment *, const struct correlation *, const struct columns *, const struct input *,
                      size_t input_count, struct err *);
/* Samples and other data that the recorder lost. */
void metrics_warn_recording(const struct input *, size_t input_count, struct warnings *);

/* ---- experiment.c -------------------------------------------------------------------------------------------- */

/* The measured columns of a tree from their cells. node_of: a cell's node; NODE_NONE: none. */
typedef uint32_t node_of_cell(const void *ctx, const struct cell *);
int metrics_sum_measured(struct experiment *, size_t tree, const struct correlation *, node_of_cell *node_of,
                         const void *ctx, struct err *);
/* The part of experiment_build that needs no files: tests call it with hand-made measurements and structure. The inputs
 * stay the caller's. */
int experiment_from(const struct config *, const struct input *, size_t input_count, const struct structure_source *,
                    const struct progress *, struct experiment **, struct warnings *, struct err *);

#endif
