/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * formula - the language of derived metrics: text to formula, formula to values; anything built of it alone.
 *
 * Knows:    names, operators and functions of formulas; their MathML; metric blocks; names of statistics. Does not:
 * experiments, configurations, where operands come from.
 *
 * Memory:   returned names are the formula's own; results for mem_free are the caller's.
 * Errors:   sentences with the place in the text; the caller adds the file.
 * Threads:  a finished formula is read-only and may be shared.
 *
 *     expr_parse.c      text to postfix; expr_names.c its names; expr_functions.c those a user defines
 *     expr_eval.c       values; expr_write.c text again; expr.c the formula itself
 *     blocks.c          metric blocks: formulas by what was measured
 *     mathml.c          the original HPCVIEW's formulas, as infix text
 */
#ifndef METRICS_FORMULA_H
#define METRICS_FORMULA_H

#include "metrics/metrics.h"

#include <stdio.h>

/* Two numbers at a time, which every x86-64 and AArch64 has registers for: compilers vectorize no loop of an unknown
   length at -O2 (gcc 12). */
typedef double lanes __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t lane_masks __attribute__((vector_size(16)));
enum { LANES = 2 };

/* ---- names, values, text ------------------------------------------------------------------------------------- */

/* Can a name without quotes go on with this? */
bool expr_in_name(char c);
/* Can the name stand in a formula without quotes? */
bool expr_is_bare_name(const char *name);
/* The name as a formula needs it, in quotes if necessary. */
void expr_quote_name(struct buf *out, const char *name);
/* The formula as text, with the names that `name` gives for the operands (lent) and the user's functions expanded:
   the page evaluates it. Runs and statistics are removed, as they are part of a column's name. */
void expr_write(const struct expr *, struct buf *out, const char *(*name)(void *ctx, size_t operand), void *ctx);
/* "NAME = FORMULA": *name is the caller's (mem_free), *formula is in text. */
int expr_split_definition(const char *text, char **name, const char **formula, struct err *err);
/* Is the value of a whole the sum of its parts' values, so that a percentage of the total makes sense? */
bool expr_is_linear(const struct expr *);
/* Is it missing wherever an operand is? */
bool expr_is_strict(const struct expr *);

/* ---- metrics of a configuration or block --------------------------------------------------------------------- */

enum choice { CHOICE_OPEN, CHOICE_YES, CHOICE_NO };

#define RUN_ALL     UINT32_MAX
#define CONFIG_GATE "fail-if" /* the metric that config_add_gate makes */
struct config_metric {
    const char *name;
    const char *display_name, *unit, *description; /* "" not given */
    const char *block;    /* the metrics of this block stand here, and nothing else is given; else "" */
    const char *event;    /* measured: its name, or its number in the file for `event_number`; computed: "" */
    const char *formula;  /* computed, else "" */
    struct expr *expr;    /* computed, else NULL */
    const char *region;   /* measured: "" is everywhere */
    const char *run_name; /* measured: "" is every run */
    uint32_t run;         /* found from run_name, or RUN_ALL */
    bool event_number;    /* an event called "2" may also be the third one of the file (HPCVIEW's select) */
    bool by_line;         /* computed: evaluated at the lines and summed up from there */
    uint8_t percent, display, sort_by; /* enum choice */
    const char *where;
};

/* ---- blocks.c ------------------------------------------------------------------------------------------------ */

int blocks_check_name(const struct blocks *, const char *name, struct err *);
/* Are both events one quantity, by any of their names? Blocks may be NULL. */
bool blocks_same_quantity(const struct blocks *, const char *event, const char *other);
/* The metrics of the block (NULL: of all) that can be computed from events of these names (NULL-terminated), in order. */
void blocks_metrics(const struct blocks *, const char *name, const char *const *events,
                    void (*each)(void *ctx, const struct config_metric *), void *ctx);

/* ---- mathml.c ------------------------------------------------------------------------------------------------ */

/* Content MathML, as far as HPCVIEW used it, to infix. begin and end get every element inside <math>. */
struct mathml *mathml_create(void);
void mathml_free(struct mathml *);
int mathml_begin(struct mathml *, const struct xml_event *, const char *where, struct err *);
int mathml_end(struct mathml *, const struct xml_event *, const char *where, struct err *);
/* At </math>: the formula, lent until mathml_free; NULL with an error if there is none or more than one. */
const char *mathml_finish(struct mathml *, const char *where, struct err *);

/* ---- names of statistics ------------------------------------------------------------------------------------- */

enum statistic {
    STAT_NONE,
    STAT_MEAN,
    STAT_MIN,
    STAT_MAX,
    STAT_STDDEV,
    STAT_IMBALANCE,
    STAT_COUNT,
    STATISTICS,
    STAT_LOOP = STATISTICS,
    STAT_ARGMAX /* the rank with most, by its number; only where a formula names it */
};
enum statistic_over { STAT_THREADS, STAT_RANKS, STAT_REPETITIONS };

int statistic_over_parse(const char *word, enum statistic_over *, struct err *);
/* Its name in formulas: mean(CYCLES over threads). */
void statistic_name(struct buf *, enum statistic, const char *metric, enum statistic_over);
/* The same for display, with the metric's displayed name. */
void statistic_words(struct buf *, enum statistic, const char *shown, enum statistic_over);
bool statistic_parse(const char *name, enum statistic *, struct buf *metric, enum statistic_over *);

/* The name a user may have meant, or NULL; names end in NULL. */
const char *expr_metric_nearest(const char *name, const char *const *names);

#endif
