/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagnose - what is wrong, where, how badly, how sure, and how we know.
 *
 * Knows:    performance properties (ASL, doc/formats/properties.md), how to look for them, findings.
 * Does not: measurements, ELF, pages; print; run programs.
 *
 * Usual life:
 *     properties_create -> properties_add (each file) -> properties_finish -> (config_want_statistics, experiment_build)
 *         -> diagnose -> diagnosis_write, or diagnosis_add_tables -> diagnosis_free -> properties_free
 *
 * Memory:   properties own all that was read; a diagnosis lends names from them and from the experiment.
 * Errors:   what is wrong with a property file is a sentence each, "file:line:column: ...", all of them at once.
 * Threads:  finished properties are read-only and may be shared.
 *
 * To add a property: a block in share/properties/, two cases in tests/diagnose/. No C is needed.
 */
#ifndef DIAGNOSE_H
#define DIAGNOSE_H

#include "metrics/metrics.h"

/* ---- properties ------------------------------------------------------------------------------ */

struct properties;
struct properties *properties_create(void);
void properties_free(struct properties *);
/* Reads a file's properties, in addition to those already read; `name` is the file's, for messages. */
void properties_add(struct properties *, const void *bytes, size_t len, const char *name, struct warnings *problems);
/* All *.asl of a folder, in the order of their names. An error: it cannot be read. */
int properties_add_folder(struct properties *, const char *dir, struct warnings *problems, struct err *);
/* After the last file: names that refer to other properties find them, and circles are found. */
void properties_finish(struct properties *, struct warnings *problems);
size_t properties_count(const struct properties *);
/* The statistics that formulas name, for config_want_statistics; NULL-terminated, lent. */
const char *const *properties_statistics(const struct properties *);

/* ---- looking for them --------------------------------------------------------------------------- */

enum diagnose_strategy {
    DIAGNOSE_WHOLE,          /* every property at every place it is for */
    DIAGNOSE_LOCATION_FIRST, /* Periscope's: a property down to the innermost place, then what refines it */
    DIAGNOSE_PROPERTY_FIRST, /* Periscope's: all that refines it in one place, then the places inside */
    DIAGNOSE_LOOP_AWARE,     /* Paradyn's: breadth first through calls and loops; a false hypothesis prunes its
                                subtree */
    DIAGNOSE_FUNCTIONS       /* the same without loops, for comparison */
};
int diagnose_strategy_parse(const char *word, enum diagnose_strategy *, struct err *);

struct diagnose_options {
    enum diagnose_strategy strategy;
    double threshold;   /* percent of the run: findings below are not made */
    size_t experiments; /* rounds of a search at most; 0: no limit */
    bool one_program;   /* the runs are experiments on one program: a name means the last run that measured it */
    unsigned threads;   /* 0: as many as there are processors */
};

enum diagnose_state {
    SEARCH_TRUE,
    SEARCH_FALSE,
    SEARCH_UNKNOWN,        /* too few samples to decide, or a value is missing */
    SEARCH_PRUNED,         /* its parent is false */
    SEARCH_NOT_MEASURABLE, /* something it needs was not measured */
    SEARCH_NOT_REACHED     /* a limit ended the search before */
};
const char *diagnose_state_word(enum diagnose_state);

struct finding {
    const char *property, *title; /* the property's name; its title, filled in */
    uint32_t run;                 /* RUN_NONE: over several */
    place_ix place;               /* PLACE_NONE: none */
    size_t tree;
    uint32_t node;              /* of a tree other than the scopes'; NODE_NONE */
    double severity;            /* percent of the run that is likely gained */
    double gain_low, gain_high; /* the interval of that gain */
    double error;               /* of the severity: one standard error from sampling; NaN: not sampled */
    double confidence;          /* 0..1 */
    size_t copies;              /* places of the same thing in the source that are merged here */
    const char *where, *evidence, *explanation, *remedy;
};

#define STEP_NONE UINT32_MAX
struct search_step {
    const char *property;
    place_ix place;
    const char *where;
    enum diagnose_state state;
    double value, threshold; /* severity, and its threshold; NaN: none */
    uint32_t experiment;     /* from 1 */
    uint32_t parent;         /* the step that led here; STEP_NONE: none */
    const char *note;        /* its requirements, why it is unknown, how often it holds; or "" */
};

struct diagnosis {
    struct arena *arena;
    struct VEC(struct finding) findings; /* the worst first */
    struct VEC(struct search_step) search;
    uint32_t experiments; /* rounds that the search took */
    double threshold;
    enum diagnose_strategy strategy;
};
int diagnose(const struct experiment *, const struct properties *, const struct diagnose_options *, struct diagnosis **,
             struct err *);
void diagnosis_free(struct diagnosis *);
/* The tables "findings" and "search". */
int diagnosis_add_tables(struct experiment *, const struct diagnosis *, struct err *);
/* The contents of these tables of a finished database; NaN: with the threshold of then. 0: it has none, or was made
   with a higher threshold. */
int diagnosis_stored(const struct experiment *, double threshold, struct diagnosis **);

/* The measurements to request next: events, and tables by the command that makes them ("simulate"). A property is
   open if the one that it refines holds, or if it refines none. */
struct diagnose_measurement {
    const char *event;    /* NULL: a table */
    place_ix procedure;   /* a table's: of this procedure; PLACE_NONE: of all */
    const char *made_by;  /* a table's: the command */
    const char *property; /* the first that asks */
};
struct diagnose_measurements VEC(struct diagnose_measurement);
void diagnosis_next_measurements(const struct experiment *, const struct properties *, const struct diagnosis *,
                                 struct diagnose_measurements *);

/* ---- text ------------------------------------------------------------------------------------------ */

enum diagnose_format {
    DIAGNOSE_TEXT,
    DIAGNOSE_CSV,
    DIAGNOSE_JSON,
    DIAGNOSE_SARIF,
    DIAGNOSE_PERISCOPE,
    DIAGNOSE_GRAPH /* the search as a graph, in dot's language */
};
int diagnose_format_parse(const char *word, enum diagnose_format *, struct err *);
struct diagnose_text { /* of the text: the parts after the first findings and the number of properties checked */
    bool all;          /* every finding, with its explanation */
    bool untested;     /* untested properties, and their requirements */
};
void diagnosis_write(const struct experiment *, const struct properties *, const struct diagnosis *,
                     enum diagnose_format, struct diagnose_text, const char *version, struct outfile *);

#endif
