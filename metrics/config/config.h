/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config - the user's request: the configuration file, and additions and overrides of the command line.
 *
 * Knows:    the elements of both formats of the file, paths in them, metrics by name.
 * Does not: measurements, experiments.
 *
 * Memory:   a configuration owns its strings (arena); data lent to it must outlive it.
 * Errors:   with file and line; several of one file are gathered (struct err_gathered).
 * Threads:  none; a finished one is read-only.
 */
#ifndef METRICS_CONFIG_H
#define METRICS_CONFIG_H

#include "metrics/formula/formula.h"
#include "quality/quality.h"

struct config_run {
    const char *name;
    const char *path;  /* measurement file or directory */
    const char *where; /* "file:line" for messages */
    const char *command, *folder, *environment, *events, *threads, *host, *repetitions,
        *only; /* how it is measured; "" or NULL: not given */
    bool no_call_paths, phases;
};

struct config_path {
    const char *dir;
    const char *view; /* folder name to show for it, or "" */
    bool subfolders;
};

struct config_role {
    const char *module, *role;
};

struct config_replace {
    const char *in, *out;
};

enum scaling { SCALING_NONE, SCALING_STRONG, SCALING_WEAK };

struct config {
    struct arena *arena;
    const char *title;
    struct VEC(struct config_run) runs;
    struct VEC(const char *) structures;
    struct VEC(const char *) debug_dirs;
    struct VEC(struct config_path) sources;
    struct VEC(struct config_replace) replaces;
    struct VEC(struct config_role) roles;
    struct VEC(struct config_metric) metrics;
    struct expr_functions functions;
    const struct blocks *known_blocks; /* NULL: none */
    bool all_blocks, from_file;
    unsigned threads;
    const struct experiment_reader *reader; /* NULL: runs are measurements */
    const struct ranks *ranks;              /* NULL: there is one. Lent */
    const char *machines, *machine;   /* folder of cores for loops' quality, NULL: no analysis; the one requested */
    const struct quality_tools *llvm; /* NULL: it is not asked about loops */
    bool instructions;                /* of sampled procedures, on request */
    bool per_thread, thread_values, fold_recursion;
    bool compare;
    enum scaling scaling;
    bool statistics[3];                   /* by enum statistic_over: all of every shown event */
    struct err_gathered errors;           /* errors of its file: reported together with those that only measurements
                                             show */
    struct VEC(const char *) failed;      /* names of metrics that have one */
    bool lacks_runs;                      /* because of an error */
    const char *const *wanted_statistics; /* NULL: none */
};

/* The configuration in bytes; `name` is its path, for messages and as the place relative paths start from. */
int config_read_bytes(const void *bytes, size_t len, const char *name, struct config **, struct warnings *,
                      struct err *);
/* Adds an error for each missing measurement and structure file; `planned`: also for those that a command would
   make. -1: the limit of errors is reached. */
int config_gather_missing(const struct config *, bool planned, struct err_gathered *, struct err *);
/* Files and folders of a module or source after the configuration's REPLACEs; caller frees. */
char *config_replaced(const struct config *, const char *path);
/* Adds a run; a name already taken is an error. name "" is made from the path. */
int config_add_run(struct config *, const char *name, const char *path, const char *where, struct err *);
void config_add_source_view(struct config *, const char *dir, const char *view);
/* Adds a metric, parsing its formula; strings are copied. Errors: a duplicate name, an invalid formula. */
int config_add_full_metric(struct config *, const struct config_metric *, struct err *);

#endif
