/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metrics - configuration, correlation of measurements with structure, and the named numbers people read.
 *
 * Knows:    the configuration file, the metric table, expressions, where a sample belongs in the scope tree.
 * Does not: ELF, DWARF, HTML; print.
 *
 * Usual life:
 *     config_create (+ config_add_*) or config_read -> experiment_build -> look at it -> experiment_free
 *
 * Memory:   an experiment owns all it hands out; the configuration may be freed after experiment_build.
 * Errors:   every configuration error carries file and line; a gap in the result is a warning with its share
 *           of the cost.
 * Threads:  a finished experiment is read-only and may be shared.
 */
#ifndef METRICS_H
#define METRICS_H

#include "bloop/bloop.h"
#include "hpcprof/hpcprof.h"
#include "support/support.h"

/* ---- expressions ------------------------------------------------------------------ */

/* Formulas over metrics, in one grammar: doc/formats/configuration.md. A missing operand makes the result missing
   (NaN), and so does a result that is not finite. */
struct expr;
int expr_parse(const char *text, const char *what /* for messages */, struct expr **, struct err *);
void expr_free(struct expr *);
struct expr *expr_copy(const struct expr *);

/* The form of a metric that a formula uses. */
enum expr_form { EXPR_FORM_OWN /* the result's: inclusive for inclusive */, EXPR_FORM_INCLUSIVE, EXPR_FORM_EXCLUSIVE };
enum expr_at { EXPR_HERE, EXPR_AT_TOTAL /* the root's value */, EXPR_AT_PARENT };
enum expr_statistic {
    EXPR_NO_STATISTIC,
    EXPR_STAT_SUM,
    EXPR_STAT_MEAN,
    EXPR_STAT_MIN,
    EXPR_STAT_MAX,
    EXPR_STAT_STDDEV,
    EXPR_STAT_IMBALANCE, /* max / mean - 1 */
    EXPR_STAT_COUNT,     /* how many have data */
    EXPR_STAT_ARGMAX     /* the number of the one with most */
};
enum expr_dimension { EXPR_THREADS, EXPR_RANKS, EXPR_REPETITIONS };
struct expr_operand {
    char *name; /* of the metric; lent */
    char *run;  /* "": the one that the result is of; lent */
    enum expr_form form;
    enum expr_at at;
    enum expr_statistic statistic;
    enum expr_dimension over; /* with a statistic */
};
size_t expr_name_count(const struct expr *);          /* how many operands: distinct ones, in order of first use */
const char *expr_name(const struct expr *, size_t i); /* the metric's name of operand i */
const struct expr_operand *expr_operand(const struct expr *, size_t i);
const char *expr_statistic_word(enum expr_statistic);
const char *expr_dimension_word(enum expr_dimension);
/* Times in the formula (10ms) are in the unit of its operands' times: units[i] is the one of operand i ("" none). Fails
   where those are of two kinds. Without it they are in seconds. */
int expr_bind_units(struct expr *, const char *const *units, const char *what, struct err *);
/* values[i] belongs to operand i; NaN is missing. */
double expr_eval(const struct expr *, const double *values);
/* The same at n places: operands[i] has n values, and out takes n; out may be one of them. */
void expr_eval_columns(const struct expr *, const double *const *operands, size_t n, double *out);

/* Functions that a configuration defines: ratio(a, b) = a / b. Each may call those before it. */
struct expr_function {
    char *name, *parameters[LIMIT_EXPR_PARAMETERS];
    size_t parameter_count;
    struct expr *body;
};
struct expr_functions {
    struct expr_function **items;
    size_t count;
};
/* parameters: names with blanks or commas between. */
int expr_functions_add(struct expr_functions *, const char *name, const char *parameters, const char *formula,
                       const char *what, struct err *);
void expr_functions_release(struct expr_functions *);
int expr_parse_with(const char *text, const char *what, const struct expr_functions *, struct expr **, struct err *);
/* A formula that stands in a text of its own language. */
struct expr_input {
    const char *text, *what;
    const struct expr_functions *functions; /* may be NULL */
    /* Writes the position of the byte at `offset` of the text, "file:3:14": the beginning of messages. */
    void (*where)(void *ctx, size_t offset, struct buf *out);
    void *ctx;
};
int expr_parse_input(const struct expr_input *, struct expr **, struct err *);
/* A name for a formula, without parameters: those after it may say the name. The input's functions are the list. */
int expr_define(struct expr_functions *, const char *name, const struct expr_input *, struct err *);
/* Forgets those from the count on. */
void expr_functions_truncate(struct expr_functions *, size_t count);
/* An operand as a formula calls it: total(M), run(x).M, mean(M over threads). */
void expr_operand_text(const struct expr_operand *, struct buf *out);

/* ---- metric blocks -------------------------------------------------------------------- */

/* Formulas over quantities, with the names of these in PAPI, perf and processors (doc/formats/metrics.md): cycles
   per instruction, miss ratios. The events that were measured, or can be, decide which can be computed. */
struct blocks;
int blocks_read(const char *folder /* all its .xml files */, struct blocks **, struct err *);
void blocks_free(struct blocks *);
size_t blocks_count(const struct blocks *);
const char *blocks_name(const struct blocks *, size_t block);
const char *blocks_title(const struct blocks *, size_t block);
/* The events to request, of those that can be counted (NULL-terminated), so that as much of the block as possible
   can be computed; the events of one formula are adjacent. -1: there is no such block, or nothing of it can be
   computed. */
int blocks_events(const struct blocks *, const char *block, const char *const *usable,
                  void (*each)(void *ctx, const char *event), void *ctx, struct err *);

/* ---- configuration ------------------------------------------------------------------ */

struct config;
struct config *config_create(void);
void config_free(struct config *);
/* With errors in its file the result may be a configuration, so that experiment_build can report them together with
   those that only its measurements show; it never builds anything of it. config_check reports those known by then. */
int config_read(const char *path, struct config **, struct warnings *, struct err *);
int config_check(const struct config *, struct err *);
bool config_is_sound(const struct config *);
/* Settings of the command line: the same as the file's elements. */
void config_set_title(struct config *, const char *title);
void config_add_measurement(struct config *, const char *path); /* file or directory: one run */
void config_add_structure(struct config *, const char *path);   /* scope tree XML or .hpcstruct */
void config_add_source_path(struct config *, const char *dir);  /* a suffix of slash star: with subfolders */
void config_add_replace(struct config *, const char *in, const char *out);
int config_add_metric(struct config *, const char *definition /* "STALL = CYCLES - ICYCLES" */, struct err *);
void config_add_debug_dir(struct config *, const char *dir);
void config_set_threads(struct config *, unsigned threads);
/* Finished experiments that may replace a run's measurements, and their reader (htmlgen_reader). Lent. */
struct experiment;
struct experiment_reader {
    bool (*knows)(const char *path);
    int (*read)(const char *path, struct experiment **, struct warnings *, struct err *);
};
void config_set_reader(struct config *, const struct experiment_reader *);
/* All ranks build the same experiment, each reading its part of the measurements' files; the first one alone has
   statistics. Lent. */
void config_set_ranks(struct config *, const struct ranks *);
/* Looks at the machine code of sampled loops (tables loop_quality, loop_checks), with the core that the machine file
   `machine` describes, or where that is NULL the one of `folder` that fits this machine. */
void config_judge_loops(struct config *, const char *folder, const char *machine);
/* With llvm-mca's estimates next to the bounds; lent. */
struct quality_tools;
void config_ask_llvm(struct config *, const struct quality_tools *);
void config_list_instructions(struct config *);    /* the machine code of sampled procedures, as a table */
void config_set_per_thread(struct config *, bool); /* one more column per measured metric and thread */
/* The table "thread_values": of every shown event what each thread spent at the places with most of it. */
void config_set_thread_values(struct config *, bool);
/* No procedure stands twice on a call path: experiment_fold_recursion, and statistics too are of the folded paths. */
void config_set_fold_recursion(struct config *, bool);
/* Mean, minimum, maximum, deviation, imbalance and count of every shown event over "threads", "ranks" or "repetitions".
 */
int config_add_statistics(struct config *, const char *over, struct err *);
/* The same for diagnosis: of those that formulas name (`names`, NULL-terminated, in expr_operand_text's form) and
   whose run has several threads or processes, hidden columns; see experiment_forget_wanted. Lent. */
void config_want_statistics(struct config *, const char *const *names);
/* The first two runs are compared: difference, its error, and ratio of every event they share. With scaling, the
   loss of the second run's total: over the first run's total ("strong"), or over the same for each thread ("weak"). */
int config_compare(struct config *, const char *scaling /* or NULL */, struct err *);
/* The metrics of a block that the measured events allow; the blocks are lent to the configuration. */
void config_set_blocks(struct config *, const struct blocks *);
int config_add_block(struct config *, const char *name, struct err *);
/* All blocks, as far as their names are free: the proposal of config_write_start. A configuration from a file makes
   its own choice and is not changed. */
void config_add_all_blocks(struct config *);
/* A formula that is looked at in the whole program alone, by experiment_gate. */
int config_add_gate(struct config *, const char *formula, struct err *);
/* The runs' names instead of those from their paths, the first one's first; NULL keeps the rest. */
void config_name_runs(struct config *, const char *const *names);
/* How a run of the configuration is measured; "" if not given. Lent. */
struct config_recipe {
    const char *name, *measurements, *where;
    const char *command, *folder, *environment, *events, *threads, *host, *repetitions,
        *only; /* host, only: patterns */
    bool no_call_paths, phases;
};
size_t config_run_count(const struct config *);
struct config_recipe config_recipe(const struct config *, size_t run);
/* As if the run were not in the configuration; fails where a measured metric names it. */
int config_leave_out_run(struct config *, size_t run, struct err *);
/* A commented configuration for the runs of `c`, to be changed by hand; `path` is where it will stand. */
int config_write_start(const struct config *c, const char *path, const struct progress *, struct outfile *,
                       struct warnings *, struct err *);

/* ---- the experiment -------------------------------------------------------------------- */

/*
 *   PROGRAM > MODULE > FILE > PROC > (INLINE | LOOP)* > LINE
 */
enum place_kind { PLACE_PROGRAM, PLACE_MODULE, PLACE_FILE, PLACE_PROC, PLACE_INLINE, PLACE_LOOP, PLACE_LINE };

typedef uint32_t place_ix; /* index into experiment.places; 0 is the PROGRAM */
#define PLACE_NONE UINT32_MAX

struct place {    /* one row of every tree and table */
    uint8_t kind; /* enum place_kind */
    uint8_t role; /* LOOP: enum loop_role */
    bool irreducible;
    uint8_t on_line;  /* LOOP: as in struct scope, but at most ON_LINE_MOST: that one, or any behind it */
    place_ix parent;  /* below the own index; PLACE_NONE for the PROGRAM */
    str_id name;      /* as shown: module and file as display paths, procedures demangled; LOOP, LINE: "" */
    str_id full_name; /* PROC, INLINE: with parameters; else as name */
    uint32_t file;    /* index into files of its own lines; SOURCE_NONE: none known */
    uint32_t line_first, line_last; /* 0: unknown */
    uint32_t call_file, call_line;  /* INLINE: the call; SOURCE_NONE and 0 else */
    uint32_t instance, instances;   /* LOOP */
    uint64_t address;               /* PROC: entry, LOOP: header; 0: none */
    place_ix same;                  /* the first place that is the same thing in the source; see experiment_find_same */
};

enum { ON_LINE_MOST = 31 };

#define SOURCE_NONE UINT32_MAX
struct source_file {
    str_id name;     /* as shown and sorted: short, unique, without this machine's folders */
    str_id raw_name; /* as the debug information has it */
    str_id found;    /* where its text was found on this machine, or "" : never to be written into a database */
};

struct metric {
    str_id name, display_name, unit, description;
    str_id formula;       /* infix, over the names of other metrics; "" when measured */
    str_id event;         /* measured: the event's name */
    uint64_t period;      /* measured: counts per sample; 0: exact */
    double exact_total;   /* measured: the counters' own total at the threads' ends, for comparison; NaN: unknown */
    uint32_t run;         /* index into runs, or RUN_NONE: computed over several */
    uint32_t repetitions; /* measured: values are means over so many; 0 or 1: they are single measurements */
    str_id region;        /* measured: only what was inside this region of the program; "": everywhere */
    bool percent, display, sort_by, estimated;
    bool has_exclusive; /* false: the inclusive column alone makes sense */
    bool summed;        /* values of several places may be added up: measured, or computed at the lines; else see
                           experiment_compute */
};

/* Other properties of a run that may differ from other runs'. */
#define ENVIRONMENT_BUILT                                                                                              \
    "built " /* and "the program" or a load module: the compiler and its options, of the sampled code */
#define ENVIRONMENT_VARIABLE "env:" /* and a variable that was noted */
struct environment_entry {
    str_id name, value;
};

/* A run of the configuration. */
struct experiment_run {
    str_id name;     /* as the configuration has it; unique */
    str_id machine;  /* the CPU model of its first process that knows one, or "" */
    str_id command;  /* of its root, or "" */
    str_id asked;    /* the events it was asked for: "PAPI_TOT_CYC@4000000, PAPI_L2_DCM@f100" */
    str_id *modules; /* the load modules it had in memory, with samples or without: base names */
    uint32_t module_count;
    struct environment_entry *environment; /* each name once, in their order */
    uint32_t environment_count;
    uint32_t process_first, process_count; /* into processes */
    uint32_t root; /* of them: the program; if it executed another program (a wrapper's exec), the last one */
};
#define RUN_NONE UINT32_MAX /* a metric over several runs */

/* Numbers by place, or by a tree's node; most have none, which takes nearly no memory. NaN is "no data". */
struct values;
/* dense[0..n), NaN if there is none. Multiples of `scale` are kept as such, if all are; 0: no scale. */
struct values *values_create(const double *dense, size_t n, uint64_t scale);
/* The same by pieces of multiples of 64 (except the last), without memory for all of them at once. */
struct values *values_begin(size_t n);
void values_append(struct values *, const double *dense, size_t n);
void values_end(struct values *, uint64_t scale);
void values_free(struct values *);
double values_get(const struct values *, size_t i);                              /* NULL has no values */
size_t values_count(const struct values *);                                      /* how many there are */
void values_unpack(const struct values *, size_t from, size_t n, double *dense); /* NaN if there is none */
bool values_any(const struct values *, size_t from, size_t n);                   /* is any of these n there? */

enum value_form {
    VALUE_INCLUSIVE, /* the place and all below it */
    VALUE_EXCLUSIVE, /* its own lines: LINEs directly under it (LINE: all of it), so that the inclusive value is the
                        exclusive one plus the children's inclusive ones, LINE children left out */
    VALUE_FORMS
};

/* A tree over the places. The first one, TREE_SCOPES, is that of the places themselves: node i is place i. In others
   (calling contexts) many nodes may be of one place, each with its cost there: leaves of different parents stay
   separate. */
enum { TREE_SCOPES };
#define TREE_CALLS_NAME "calls" /* call paths and their frames, calls.c; absent without paths */
#define NODE_NONE       UINT32_MAX
struct experiment_tree {
    str_id name;  /* a name: "scopes", "calls" */
    str_id title; /* as shown */
    size_t node_count;
    uint32_t *parent;        /* by node: an earlier node, NODE_NONE for the first; NULL in TREE_SCOPES: the places' */
    place_ix *place;         /* by node; NULL in TREE_SCOPES: the node itself */
    struct values **columns; /* private: by metric and form; NULL: no data */
};

struct experiment {
    struct strtab *strings; /* of the tables too */
    str_id title;
    struct place
        *places; /* parents before children; siblings ordered by kind, name, line, address: same input, same order */
    struct source_file *files;     /* ordered by name */
    struct experiment_run *runs;   /* in the order of the configuration */
    struct metric *metrics;        /* in the order of the configuration */
    struct experiment_tree *trees; /* at least TREE_SCOPES; values by experiment_value and its like alone */
    size_t place_count, file_count, run_count, metric_count, tree_count;
    struct table_list tables; /* other data about places; references are to "place", "process", "metric", or another
                                 of these tables */
    struct hpcprof_process *processes; /* processes and threads measured, for the page's "about"; those of a run
                                          together */
    size_t process_count;
    size_t wanted_count;    /* private: so many of the last metrics are config_want_statistics' */
    str_id *source_folders; /* on this machine, as debug information has them: never to be written into a database */
    size_t source_folder_count;
    struct measured *measured;   /* private: experiment_measured */
    struct computed *computed;   /* private: by metric, for experiment_compute */
    struct anonymity *anonymity; /* private: experiment_anonymize; NULL: names are as they are */
};

/* A metric's value at a place, with all that was called from elsewhere left out: TREE_SCOPES'. NaN: no data. */
double experiment_value(const struct experiment *, size_t metric, place_ix, enum value_form);
double experiment_node_value(const struct experiment *, size_t tree, size_t metric, uint32_t node, enum value_form);
/* Of nodes from .. from + n at once: if many values are needed. */
void experiment_column(const struct experiment *, size_t tree, size_t metric, enum value_form, size_t from, size_t n,
                       double *dense);
bool experiment_column_any(const struct experiment *, size_t tree, size_t metric, enum value_form, size_t from,
                           size_t n);
size_t experiment_column_count(const struct experiment *, size_t tree, size_t metric, enum value_form);
uint32_t experiment_node_parent(const struct experiment *, size_t tree, uint32_t node); /* NODE_NONE: the first */
place_ix experiment_node_place(const struct experiment *, size_t tree, uint32_t node);
/* The children of each node in order: child[first[node]] to child[first[node + 1] - 1]. mem_free both. */
void experiment_children(const struct experiment *, size_t tree, size_t **first, uint32_t **child);
place_ix experiment_enclosing(const struct experiment *, place_ix, enum place_kind); /* itself, or PLACE_NONE */
size_t experiment_calls(const struct experiment *); /* the tree of calls; SIZE_MAX: no paths were measured */
/* In the tree of calls, a procedure called through itself is merged with the outer call: no path has a procedure
   twice. Statistics are blank there then (config_set_fold_recursion has them). */
void experiment_fold_recursion(struct experiment *);

/* For makers of experiments (the join, tests): places and metrics come first, then trees, then columns. */
/* Adds a tree and returns its index; parent and place, by node, become its own. TREE_SCOPES has neither and comes
 * first. */
size_t experiment_add_tree(struct experiment *, const char *name, const char *title, size_t node_count,
                           uint32_t *parent, place_ix *place);
void experiment_set_column(struct experiment *, size_t tree, size_t metric, enum value_form, const double *dense);
/* Takes a finished column. */
void experiment_take_column(struct experiment *, size_t tree, size_t metric, enum value_form, struct values *);
/* Both forms of a column from the values at the nodes themselves (NaN: none); the second in integers, where
   known[node] marks those that exist: exact until the end. -1: the sum has more than 64 bits. Both arrays are used up.
   */
void experiment_sum_column(struct experiment *, size_t tree, size_t metric, const double *own);
int experiment_sum_counts(struct experiment *, size_t tree, size_t metric, uint64_t *own, uint8_t *known);
/* Says of every place which is the first of the same thing in the source (place.same). */
void experiment_find_same(struct experiment *);

/* Adds to the measurement file the functions that contain sampled addresses, here and now, of all modules in
   `measured` (a folder, or that file): they are shown if a binary is rebuilt or removed. */
int measurement_keep_functions(const char *measured, const char *file, struct err *);

int experiment_build(const struct config *, const struct progress *, struct experiment **, struct warnings *,
                     struct err *);
void experiment_free(struct experiment *);
/* A metric's value for sums computed by a view, of several places for example: values[] holds the sums of all
   metrics. Measured metrics, and computed ones that are summed up from the lines, are values[metric] as it is;
   statistics over threads have no value for several places. */
double experiment_compute(const struct experiment *, size_t metric, const double *values);
/* Was the place's module measured in the run, so that a missing value there says that it cost nothing? */
bool experiment_measured(const struct experiment *, uint32_t run, place_ix);
/* The standard error of a sampled value: samples are counts. NaN: it was not sampled. */
double experiment_error(const struct experiment *, size_t metric, double value);
/* The metric that a formula's operand means, seen from a run; RUN_NONE: from all, the last that has it. SIZE_MAX: none
   was measured. */
size_t experiment_find_metric(const struct experiment *, uint32_t run, const struct expr_operand *);
/* Removes the columns of config_want_statistics after their use, before the experiment is shown. */
void experiment_forget_wanted(struct experiment *);
/* Is a gate's formula true in the whole program? -1: it has no value there. */
int experiment_gate(const struct experiment *, bool *holds, struct err *);
/* Warns if files with a good part of the cost have no text on this machine: for output that shows sources. */
void experiment_warn_sources(const struct experiment *, struct warnings *);
/* For strangers: hosts, users, folders, arguments and process numbers go from the experiment's own names; tables and
   warnings are for experiment_public_text, which gives any text as it may be shown (the caller's to mem_free). */
void experiment_anonymize(struct experiment *);
char *experiment_public_text(const struct experiment *, const char *text);
/* Verify indices, order and that every sum is the sum of its parts. */
int experiment_check(const struct experiment *, struct err *);

/* Code of a load module, as its file has it; `module` is lent. */
struct experiment_code {
    const char *module; /* as shown */
    uint64_t from, to;
};
struct experiment_code_list VEC(struct experiment_code);
/* Appends the procedure's pieces of code, if its instructions are listed. */
void experiment_code_of(const struct experiment *, place_ix procedure, struct experiment_code_list *);

/* ---- text ----------------------------------------------------------------------------------- */

enum print_level {
    PRINT_PROGRAM,
    PRINT_MODULE,
    PRINT_FILE,
    PRINT_PROC,
    PRINT_LOOP,
    PRINT_LINE,
    PRINT_FUNCTION, /* inclusive of its inlined copies, and exclusive of functions inlined into it */
    PRINT_PATH,
    PRINT_CALLER,
    PRINT_CALLS,
    PRINT_INSTRUCTION
};
enum print_format { PRINT_TEXT, PRINT_CSV, PRINT_JSON };
struct print_options {
    enum print_level level;
    enum print_format format;
    size_t top;          /* 0: all */
    const char *sort_by; /* metric name; NULL: the first displayed */
    double threshold;    /* percent: rows with less of the whole are left out, in the metric that sorts; 0: none */
    const char *scope;   /* only what is in modules, files and procedures whose names match this pattern; NULL: all */
    bool diff;           /* two runs: one row for all copies of a loop; text for a terminal */
    bool no_legend;      /* text: the meaning of the columns is above another table */
    bool tree;           /* the scope tree as indented text, instead of a table */
    const char *of;      /* callers and calls of these alone: procedures by pattern, loops and lines by FILE:LINE */
};
int print_level_parse(const char *word, enum print_level *, struct err *);
int experiment_print(const struct experiment *, const struct print_options *, struct outfile *, struct err *);
/* One of the experiment's tables; of the options, format, top and sort_by, which names a column. */
int experiment_print_table(const struct experiment *, const char *name, const struct print_options *, struct outfile *,
                           struct err *);
/* Results of a simulated memory hierarchy, level by level, with shares and ratios: by reference, by array, or by
   evictor. Of the options, format, sort_by (a column, within each level) and top (of each level). */
enum print_memory { PRINT_REFERENCE, PRINT_ARRAY, PRINT_EVICTOR };
int experiment_print_memory(const struct experiment *, enum print_memory, const struct print_options *,
                            struct outfile *, struct err *);

#endif
