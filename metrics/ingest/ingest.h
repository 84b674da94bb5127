/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ingest - measurements to numbers by location in the code: sites, call paths, and their costs in each column.
 *
 * Knows:    measurements; events, runs and statistics as columns; which modules of several runs are one.
 * Does not: look into binaries or sources.
 *
 * Memory:   a correlation owns its lists; inputs are the caller's.
 * Errors:   a configured metric without its event is an error with file and line.
 * Threads:  none.
 */
#ifndef METRICS_INGEST_H
#define METRICS_INGEST_H

#include "metrics/config/config.h"
#include "metrics/model/model.h"

/* ---- inputs and their columns -------------------------------------------------------------------------------- */

struct thread_value {     /* of a database: a thread's inclusive cost at a place */
    uint32_t context, up; /* the place is so many above that of the context; UP_TO_ROOT: the whole program */
    uint32_t event;
    uint64_t process, thread; /* as in the table thread_values */
    str_id name;              /* of the profile's strings, as the context and the event are of the profile */
    double value;
};
#define UP_TO_ROOT UINT32_MAX
struct thread_value_list VEC(struct thread_value);

struct input {               /* one measurement of a run */
    struct hpcprof *profile; /* with the counts of threads added up, unless columns by thread are requested */
    uint32_t run;            /* index into config.runs */
    const char *path; /* where each thread's counts can be read again, so that gathering drops them; NULL: they stay */
    uint64_t samples; /* inclusive, if there is a path */
    uint32_t repetition;              /* of the run, from 1; 0: there is only one */
    bool finished;                    /* it was a database: of single threads no more is known than: */
    struct thread_value_list threads; /* thread by thread */
};

struct column {
    struct metric metric;
    enum statistic statistic; /* of the measured column `base`; LOOP: properties of loops, weighted by it */
    enum statistic_over over;
    uint32_t base;
    struct expr *expr;   /* computed: its own; else NULL */
    bool error;          /* of the difference `base` */
    uint32_t spreads[2]; /* of the error: the deviations over repetitions of the operands; COLUMN_NONE: one run each */
    uint32_t property;   /* LOOP: column of the table loop_quality */
    uint32_t *operands;  /* computed: column of each of the formula's names */
    bool by_line, of_thread;
    bool outside_mpi; /* measured: without what was sampled inside of MPI, or below it */
    uint32_t run;     /* measured: whose; RUN_ALL: of every run */
    str_id event;
    const char *where;
};

/* Counts of one event of one input go to these columns: `column`, or by_thread[thread], parts of that one, if it is
   not NULL. */
struct event_column {
    uint32_t column;
    uint32_t *by_thread; /* COLUMN_NONE: none of this thread */
    bool *in_region;     /* by region of the input; NULL: all of them */
};
struct event_column_list VEC(struct event_column);

struct columns {
    struct VEC(struct column) list;
    struct event_column_list **event_columns; /* event_columns[input][event] */
    size_t input_count;
    size_t wanted_count; /* the last ones are requested statistics */
    struct arena *arena;
};

int columns_make(const struct config *, const struct input *, size_t input_count, struct strtab *, struct columns *,
                 struct warnings *, struct err *);
uint32_t columns_find(const struct columns *, str_id name); /* or COLUMN_NONE */
/* Once all columns are there (event_columns.c). */
void columns_assign_events(struct columns *, const struct config *, const struct input *, size_t input_count,
                           struct strtab *, struct warnings *);
/* By region of the measurement: is it the named one, or in it? NULL: no region is asked for. */
bool *columns_regions_named(struct arena *, const struct strtab *, const struct hpcprof *, str_id region);
/* The metric that is another one without MPI has that one's name and this. */
#define OUTSIDE_MPI " outside MPI"
/* Is this a library of MPI's, or of its transports? */
bool columns_module_is_mpi(const char *path);
/* How many threads, ranks or repetitions a measurement is of; without ranks, each process is one. */
uint32_t columns_parts(const struct hpcprof *, enum statistic_over);
void columns_release(struct columns *, const struct input *);

/* ---- the loops' properties as columns ------------------------------------------------------------------------ */

/* Loop properties as columns: "loop_" and the name of a numeric column of the table loop_quality. */
#define LOOPS_BLOCK "loops" /* all of them */
/* Fills these columns: at loops the table's value; further out, for a share or a ratio, a mean weighted by the
   columns' base. */
void loop_properties_fill(struct experiment *, const struct columns *);

/* ---- where it was measured ----------------------------------------------------------------------------------- */

enum structure_state {
    STRUCTURE_FOUND,
    STRUCTURE_NONE,  /* no file to look into: [anonymous], [kernel] */
    STRUCTURE_FAILED /* there ought to be one; `why` says what is wrong */
};

struct module {            /* a load module that was sampled; equal ones of several runs are one */
    str_id path, raw_path; /* after and before REPLACE */
    str_id build_id;
    str_id folder; /* of all the sources that it was made of, ending in '/'; 0: not known */
    str_id shown;
    uint32_t group;   /* the module whose place it shares: itself, or the same one of an earlier run in another build */
    uint32_t version; /* its number among the builds of its group: each has its own version of a source file */
    str_id role;      /* the name it is compared by and shown with, where the configuration gives one; else 0 */
    bool program;     /* the first process of a run says that it ran this */
    uint32_t lines_in; /* the module whose structure has places by line: itself, or the same file, with its build id,
                          as those with measured addresses name it */
    struct scope_tree *tree;         /* of the sampled functions; NULL: none */
    struct quality_report *quality;  /* of its sampled loops; NULL: not asked for */
    struct quality_listing *listing; /* of its sampled procedures' instructions; NULL likewise */
    bool lent;                       /* the tree is the structure source's */
    uint8_t state;                   /* enum structure_state */
    bool stripped;                   /* has functions but not one line */
    char *why; /* STRUCTURE_FAILED, or its functions alone were found: a sentence without the module's name */
    const char *names_from; /* the correlation that found these */
    char *built;            /* by which compiler, with which options; NULL: that is not known */
};

struct site { /* one sampled place in the code; there may be millions */
    uint32_t module;
    bool by_line;
    bool cut; /* not code: why a call path has no beginning, in the module's name */
    union {
        vaddr address;
        struct { /* by line */
            str_id procedure, file;
            str_id own_file; /* the procedure's; 0: not known, or `file` */
            uint32_t line;
        };
    };
};

/* One frame of a call path: this site, called from `parent`. */
struct sampled_call {
    uint32_t parent; /* an earlier call; CALL_NONE: the thread's first function, or why the path was cut */
    uint32_t site;
};
#define CALL_NONE UINT32_MAX

struct cell { /* the cost of one site in one column */
    uint32_t site;
    uint32_t call; /* the innermost frame of the path it was reached by; CALL_NONE: paths were not measured */
    uint64_t value;
};
struct cell_list VEC(struct cell);

struct loop_count { /* of the loop that begins at a site */
    double iterations, entries;
};

struct module_use { /* the run has samples in the module */
    uint32_t module, run;
};

enum site_state { SITE_LINE, SITE_NO_LINE, SITE_NO_SYMBOL, SITE_NO_MODULE };

struct correlation {
    struct strtab *strings; /* the experiment's */
    struct VEC(struct module) modules;
    struct VEC(struct module_use) uses;
    struct VEC(struct site) sites;
    struct VEC(struct sampled_call) calls; /* parents first */
    struct VEC(struct cell_list) cells;    /* by column; the last ones may be missing */
    struct VEC(struct place) places;       /* places[0] is the PROGRAM; in the order found, parents first */
    struct VEC(struct source_file) files;
    struct VEC(uint32_t) file_module; /* the first module that uses files[i] */
    struct VEC(uint8_t) file_known;  /* structure names files[i]; else a measurement alone does, and may say anything */
    place_ix *site_place;            /* the LINE of each site */
    uint8_t *site_state;             /* enum site_state */
    uint32_t *call_node;             /* by call, the node of its line; NULL: there is no tree of calls (calls.c) */
    bool *site_in_mpi, *call_in_mpi; /* inside MPI, or below a call of it; NULL: not requested */
    double *site_weight;             /* its share of each column, added up */
    double *site_samples;            /* samples of the event that has most of them; NULL: periods are not known */
    const struct columns *columns;   /* the nodes of the cells; lent. NULL: unknown */
    struct VEC(struct loop_count) loop_counts; /* by site, of those where loops begin; of all runs */
    struct hashmap loop_at; /* hash of module and address to loop_counts, of files that several modules are, once */
    uint64_t listed_bytes;  /* of code whose instructions are among the tables */
    size_t unlisted;        /* sampled procedures whose instructions would have been too much */
    struct hashmap listed;  /* hash of module and address to the row of "instructions" */
    uint32_t *file_rank;    /* by file: its index in the experiment; once they are in order */
    struct row_index module_index;
    struct row_index site_index, call_index; /* of the first ones, */
    size_t sites_indexed, calls_indexed;     /* so many: the rest when one is looked for */
    struct VEC(bool) with_paths;             /* by input: it has call paths */
    struct row_index place_index;            /* while places are made; with the keys that distinguish equal siblings */
    struct VEC(uint32_t) ordinals;
    struct hashmap file_index; /* normalised path and version to files */
    struct table_list tables;  /* of the measurements; they refer to sites and to events, counted over all inputs */
    uint32_t process_count, event_count; /* of the inputs so far */
};

void correlation_init(struct correlation *, struct strtab *);
void correlation_release(struct correlation *);
void correlate_free_structure(struct module *); /* and its results */
/*
 * The key of a place among its siblings. It consists of the source's properties, not of scopes or addresses, so that
 * the same place in another build of the module is the same one; if that is not enough, the ordinal among the equal
 * ones is.
 */
struct identity {
    uint32_t parent, kind, name, file, line, call_file, call_line, on_line, instance, ordinal;
};
struct identity metrics_identity_of(const struct place *, uint32_t ordinal);

/* Gathers sites and cells of all inputs; contexts and counts that can be read again are dropped meanwhile. */
int ingest_inputs(struct correlation *, const struct config *, const struct input *, size_t input_count,
                  const struct columns *, struct warnings *, struct err *);
/* By context of a measurement of the run, its site and the innermost frame of its path (NULL: its input has no
   `paths`): those that ingest_inputs made, and numbers above. mem_free both. */
struct context_sites {
    uint32_t *sites, *calls;
};
struct context_sites ingest_contexts(struct correlation *, const struct config *, const struct hpcprof *, uint32_t run,
                                     bool paths);
/* Modules of one role, one in each run, are one MODULE: builds that are compared. One role have those of one name; else
   the programs that were run, and versions of a library. */
void correlate_group_modules(struct correlation *);
/* The last component of a module's path; "[vdso]" has none. */
static inline const char *module_base_name(const char *path)
{
    return path[0] == '[' ? path : path_base(path);
}
/* The key for comparing modules: its role, else its name. Lent. */
const char *correlate_module_name(const struct correlation *, uint32_t module);

/* Samples of one run and counts of another, whose tool wrote no build id, are of one loop. */
void correlate_loop_counts(struct correlation *);
/* Iterations of an entry of the loop that begins there; 0: not known. */
double correlate_trips(const struct correlation *, uint32_t module, vaddr header);

/* Iterations and entries of loops, at the first instruction of each (callgrind --collect-jumps=yes). */
#define EVENT_ITERATIONS "loop iterations"
#define EVENT_ENTRIES    "loop entries"

/* ---- tables.c ------------------------------------------------------------------------------------------------ */

struct sites_of_contexts { /* the site of a context, created on demand */
    uint32_t (*site)(void *ctx, uint32_t context);
    void *ctx;
};
/* Adds a measurement's tables to `to`: contexts become sites, processes and events are counted from the given ones on. Of
   several runs each row says of which it is. */
#define RUN_ALONE UINT32_MAX
int tables_ingest(struct table_list *to, struct strtab *, const struct hpcprof *, const struct sites_of_contexts *,
                  uint32_t run, uint32_t first_process, uint32_t first_event, struct err *);
/* Sites become places, events metrics, and the experiment has its tables, in order. */
int metrics_tables_finish(struct experiment *, const struct correlation *from, const uint32_t *site_places,
                          const place_ix *found_places, const uint32_t *event_metrics, struct err *);

#endif
