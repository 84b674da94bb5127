/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model - the experiment: places, trees over them, columns of values, and values computed from these.
 *
 * Knows:    the finished experiment, and how its parts are put in.
 * Does not: measurements, binaries, configurations, files.
 *
 * Memory:   an experiment owns all it hands out.
 * Errors:   few: indices are the caller's to keep below the counts; experiment_check verifies all.
 * Threads:  a finished experiment is read-only and may be shared.
 */
#ifndef METRICS_MODEL_H
#define METRICS_MODEL_H

#include "metrics/formula/formula.h"

/* ---- trees.c ------------------------------------------------------------------------------------------------- */

/* The last tree takes the place of another. */
void experiment_replace_tree(struct experiment *, size_t tree, size_t last);

/* ---- source_identity.c --------------------------------------------------------------------------------------- */

/* A function's name as the source has it: of "f [clone .constprop.0]", f. */
str_id source_function_name(struct strtab *, str_id name);

/* ---- derived.c ----------------------------------------------------------------------------------------------- */

#define COLUMN_NONE UINT32_MAX
struct derivation {          /* how a column is made of others */
    const struct expr *expr; /* NULL: by no formula */
    const uint32_t *operands;
    bool by_line;
    uint32_t error_of;   /* it is the error of this difference; COLUMN_NONE: none */
    uint32_t spreads[2]; /* of the error: the deviations over repetitions of the operands; COLUMN_NONE: one run each */
};
void formulas_keep(struct experiment *, size_t metric, const struct derivation *); /* once the metrics are there */
/* Of a database, whose columns have values already: for sums that a view makes. A formula with other operands has
   none. */
void formulas_from_texts(struct experiment *);
void formulas_compute(struct experiment *, size_t tree, unsigned threads); /* once the tree's measured columns are */
void formulas_free(struct experiment *);
struct difference { /* columns; error COLUMN_NONE: it is exact; spreads: of repetitions, or COLUMN_NONE */
    uint32_t base, new, error, spreads[2];
};
/* Is the metric one of a comparison, NEW - BASE? */
bool formulas_difference(const struct experiment *, size_t metric, struct difference *);

/* ---- compare.c ----------------------------------------------------------------------------------------------- */

/* Which modules were measured in which run: a place without a value there cost nothing. */
void measured_create(struct experiment *); /* none, once runs and places are there */
/* The module around the place was measured in the runs that had one of this name in memory. */
void measured_note(struct experiment *, place_ix, str_id name);
void measured_from_values(struct experiment *); /* the same by the modules' own names, and the values there are */
void measured_free(struct measured *);

/* ---- thread_values.c ----------------------------------------------------------------------------------------- */

#define TABLE_THREAD_VALUES "thread_values"
struct thread_values_of { /* a thread of a run */
    uint64_t process, thread;
    str_id name;
};
/* By place: are the values of the run's threads kept there? For one of so many metrics; mem_free. */
uint8_t *thread_values_places(const struct experiment *, size_t metric, size_t threads, size_t metrics);
int thread_values_declare(struct experiment *, struct table **, struct err *);
void thread_values_note(struct experiment *, struct table *, size_t metric, const struct thread_values_of *, place_ix,
                        uint64_t value);
/* Does a table of that name that was read from a database have the columns declared here? Then its rows. */
bool thread_values_is_one(const struct table *);
struct thread_values_row {
    place_ix place;
    str_id metric;
    struct thread_values_of who;
    double value;
};
struct thread_values_row thread_values_row(const struct table *, size_t row);
/* A row, for another rank; which has the same metrics and places. */
void thread_values_pack(const struct experiment *, const struct table *, size_t row, struct buf *out);
bool thread_values_unpack(struct experiment *, struct table *, struct cursor *);

/* ---- anonymize.c --------------------------------------------------------------------------------------------- */

struct anonymity;
void experiment_anonymity_free(struct anonymity *); /* may be NULL */

/* ---- code_tables.c ------------------------------------------------------------------------------------- */

/* References of tables while the experiment is made: a place, or a file, by its number when it was found. */
#define TABLE_FOUND_PLACE "found"
#define TABLE_FOUND_FILE  "found file"
enum { LOOP_QUALITY_COLUMNS = 45, INSTRUCTION_COLUMNS = 15 };
extern const struct table_decl loops_quality_decl, loops_checks_decl, instructions_decl, instructions_counts_decl;
#define TABLE_INSTRUCTIONS       "instructions"
#define TABLE_INSTRUCTION_COUNTS "instruction_counts"

/* The experiment's tables, with the columns that instructions.c gives them; NULL: there is none such. */
const struct table *instructions_of(const struct experiment *);
const struct table *instructions_counts_of(const struct experiment *);

#endif
