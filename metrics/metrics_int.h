/*
 * What the files of metrics/ share. In the order of work:
 *
 *     expr_parse.c      formulas: text to postfix; expr_names.c their names;
 *                       expr_eval.c their values; expr_write.c text again;
 *                       expr.c the formula itself; expr_functions.c those a user defines
 *     blocks.c          metric blocks: formulas by what was measured
 *     config.c          what is wanted: the configuration file, the command line's wishes
 *     config_write.c    the commented configuration to start from
 *     config_hpcview3.c the original HPCVIEW configuration; mathml.c its formulas, as infix text
 *     read.c            the runs' measurements; structure.c the structure of what was sampled
 *     functions.c       functions kept in measurements, for binaries that are rebuilt
 *     loops.c           what the machine code of sampled loops is worth
 *     ideal.c           cycles that executed instructions would take at best
 *     instructions.c    the machine code of sampled procedures
 *     columns.c         which measured and computed columns there are
 *     feeds.c           which columns an input's counts go to
 *     gather.c          what the measurements say: sites, calls, what each cost
 *     modules.c         which modules of several runs are the same one
 *     correlate.c       every sampled address in its chain of scopes: the places
 *     match.c           places of several runs brought together; line_diff.c lines that have moved between their sources
 *     tables.c          what rooms measured about places, beside the columns
 *     sources.c         what files are called, and where their text is
 *     experiment.c      the steps in order
 *     order.c           places and files in the order of their names
 *     same.c            which places are the same thing in the source
 *     values.c          one column of numbers; trees.c the columns of every tree, and sums upwards
 *     calls.c           the tree of calls
 *     formulas.c        computed metrics
 *     find.c            what a formula's operand means in a finished experiment
 *     compare.c         what is missing in one of two runs, how far chance goes, columns that compare
 *     statistics.c      mean, spread, imbalance over threads and processes
 *     thread_values.c   what each thread spent at the places that matter
 *     lost.c            warnings: what the result lacks, with its share
 *     database.c        finished databases read back, into experiments; database_tables.c their tables
 *     database_run.c    a database taken apart into what the join wants of a run
 *     check.c           what is true of every experiment
 *     print.c           places as text, CSV and JSON; print_table.c tables beside them; print_text.c for both;
 *                       print_code.c instructions
 */
#ifndef METRICS_INT_H
#define METRICS_INT_H

#include "metrics/metrics.h"
#include "quality/quality.h"

#include <stdio.h>

/* Two numbers at a time, which every x86-64 and AArch64 has registers for: compilers vectorize no loop of an unknown
   length at -O2 (gcc 12). */
typedef double lanes __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t lane_masks __attribute__((vector_size(16)));
enum { LANES = 2 };

/* ---- expr_names.c, expr_eval.c, expr_write.c ----------------------------------------------------------------------
 */

/* Can the name stand in a formula without quotes? */
bool expr_is_bare_name(const char *name);
/* The name as a formula wants it, in quotes where needed. */
void expr_quote_name(struct buf *out, const char *name);
/* The formula as text, with the names that `name` gives for the operands (lent) and the functions of the user's written
   out: what the page computes again. Runs and statistics are gone, as they are part of a column's name. */
void expr_write(const struct expr *, struct buf *out, const char *(*name)(void *ctx, size_t operand), void *ctx);
/* "NAME = FORMULA": *name is the caller's (mem_free), *formula lies in text. */
int expr_split_definition(const char *text, char **name, const char **formula, struct err *err);
/* Is the value of a whole the sum of its parts' values, so that a percentage of the total makes sense? */
bool expr_is_linear(const struct expr *);
/* Is it missing wherever an operand is? */
bool expr_is_strict(const struct expr *);

/* ---- config.c -------------------------------------------------------------------- */

struct config_run {
    const char *name;
    const char *path;  /* measurement file or directory */
    const char *where; /* "file:line" for messages */
    const char *command, *folder, *environment, *events, *threads, *host,
        *repetitions; /* how it is measured; "" or NULL: not said */
    bool no_call_paths;
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

enum choice { CHOICE_OPEN, CHOICE_YES, CHOICE_NO };

enum scaling { SCALING_NONE, SCALING_STRONG, SCALING_WEAK };
#define CONFIG_GATE "fail-if" /* the metric that config_add_gate makes */

#define RUN_ALL UINT32_MAX
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
    const struct ranks *ranks;        /* NULL: there is one. Lent */
    const char *machines, *machine;   /* folder of cores for loops' quality, NULL: none is wanted; the one asked for */
    const struct quality_tools *llvm; /* NULL: it is not asked about loops */
    bool instructions;                /* of sampled procedures are wanted */
    bool per_thread, thread_values, fold_recursion;
    bool compare;
    enum scaling scaling;
    bool statistics[3];                   /* by enum statistic_over: all of every shown event */
    struct err_gathered errors;           /* of its file: told when those are known that only measurements show */
    struct VEC(const char *) failed;      /* names of metrics that have one */
    bool lacks_runs;                      /* because of an error */
    const char *const *wanted_statistics; /* NULL: none */
};

/* ---- blocks.c ---------------------------------------------------------------------- */

int blocks_check_name(const struct blocks *, const char *name, struct err *);
/* Are both events one quantity, by whatever names? Blocks may be NULL. */
bool blocks_same_quantity(const struct blocks *, const char *event, const char *other);
/* The metrics of the block (NULL: of all) that can be computed from events of these names (NULL-terminated), in order. */
void blocks_metrics(const struct blocks *, const char *name, const char *const *events,
                    void (*each)(void *ctx, const struct config_metric *), void *ctx);

/* The configuration in bytes; `name` is its path, for messages and as the place relative paths start from. */
int config_read_bytes(const void *bytes, size_t len, const char *name, struct config **, struct warnings *,
                      struct err *);
/* Adds an error for each measurement and structure file that is not there; `planned`: also for those that a command would
   make. -1: no more than one error can be told. */
int config_gather_missing(const struct config *, bool planned, struct err_gathered *, struct err *);
/* Files and folders of a module or source after the configuration's REPLACEs; caller frees. */
char *config_replaced(const struct config *, const char *path);
/* Adds a run; a name already taken is an error. name "" is made from the path. */
int config_add_run(struct config *, const char *name, const char *path, const char *where, struct err *);
void config_add_source_view(struct config *, const char *dir, const char *view);
/* Adds a metric, parsing its formula; strings are copied. Errors: a name given twice, a formula that is none. */
int config_add_full_metric(struct config *, const struct config_metric *, struct err *);

/* What one format of configuration is: elements, where they stand, what they take. */
struct config_reader;
struct config_element {
    const char *name, *parent; /* parent NULL: the root */
    const char *attributes;    /* names, a blank between; required ones end in '!' */
    bool text;                 /* may hold text */
    int (*begin)(struct config_reader *, const struct xml_event *, struct err *);
    int (*end)(struct config_reader *, const struct xml_event *, struct err *);
};
extern const struct config_element config_elements[];          /* ours; the last row has a NULL name */
extern const struct config_element config_elements_hpcview3[]; /* the original HPCVIEW's */

struct mathml;
struct config_reader {
    struct config *config;
    const char *name, *folder; /* of the file */
    const struct config_element *elements;
    struct VEC(const struct config_element *) open;
    struct mathml *math; /* of the formula that is being read, or NULL */
    bool in_math;
    struct config_metric metric; /* the one being read */
    bool has_body;               /* it has a FILE, COMPUTE or formula already */
    struct warnings *warnings;
    uint64_t line;
    struct err_gathered errors;
    const char *part;   /* the name of the metric that is being read, as far as it has one */
    bool part_has_runs; /* what is being read may be a run, or name one */
    size_t depth,
        failed; /* of open elements; failed: what is this deep or deeper is passed over, until it ends. 0: no */
};
const char *config_where(struct config_reader *, uint64_t line);
/* <replace> and <REPLACE>: the same attributes in both formats. */
int config_begin_replace(struct config_reader *, const struct xml_event *, struct err *);
const char *config_path(struct config_reader *, const char *path); /* relative to the configuration file */
int config_flag(struct config_reader *, const struct xml_event *, const char *attribute, uint8_t *choice, struct err *);
/* The attribute or "". */
const char *config_attribute(struct config_reader *, const struct xml_event *, const char *name);
/* Begins r->metric; display_name and sort: what these attributes are called in this form of the file. */
int config_begin_metric(struct config_reader *, const struct xml_event *, const char *display_name, const char *sort,
                        struct err *);
int config_finish_hpcview3(struct config_reader *, struct err *);
/* Takes the formula in infix for the metric being read. */
int config_take_formula(struct config_reader *, const char *formula, uint64_t line, struct err *);

/* ---- mathml.c -------------------------------------------------------------------- */

/* Content MathML, as far as HPCVIEW used it, to infix. begin and end get every element inside <math>. */
struct mathml *mathml_create(void);
void mathml_free(struct mathml *);
int mathml_begin(struct mathml *, const struct xml_event *, const char *where, struct err *);
int mathml_end(struct mathml *, const struct xml_event *, const char *where, struct err *);
/* At </math>: the formula, lent until mathml_free; NULL with an error if there is none or more than one. */
const char *mathml_finish(struct mathml *, const char *where, struct err *);

/* ---- what is measured: the inputs and their columns (columns.c) ------------------- */

struct thread_value {     /* of a database: what a thread spent at a place and below it */
    uint32_t context, up; /* the place is so many above that of the context; UP_TO_ROOT: the whole program */
    uint32_t event;
    uint64_t process, thread; /* as in the table thread_values */
    str_id name;              /* of the profile's strings, as the context and the event are of the profile */
    double value;
};
#define UP_TO_ROOT UINT32_MAX
struct thread_value_list VEC(struct thread_value);

struct input {               /* one measurement of a run */
    struct hpcprof *profile; /* with what threads counted added up, unless columns by thread are wanted */
    uint32_t run;            /* index into config.runs */
    const char *path; /* where each thread's counts can be read again, so that gathering drops them; NULL: they stay */
    uint64_t samples; /* in all, where there is a path */
    uint32_t repetition;              /* of the run, from 1; 0: it has no others */
    bool finished;                    /* it was a database: of single threads no more is known than: */
    struct thread_value_list threads; /* thread by thread */
};

enum statistic {
    STAT_NONE,
    STAT_MEAN,
    STAT_MIN,
    STAT_MAX,
    STAT_STDDEV,
    STAT_IMBALANCE,
    STAT_COUNT,
    STATISTICS,
    STAT_LOOP = STATISTICS
};
enum statistic_over { STAT_THREADS, STAT_RANKS, STAT_REPETITIONS };

struct column {
    struct metric metric;
    enum statistic statistic; /* of the measured column `base`; LOOP: what is known of loops, weighed by that */
    enum statistic_over over;
    uint32_t base;
    struct expr *expr;   /* computed: its own; else NULL */
    bool error;          /* of the difference `base` */
    uint32_t spreads[2]; /* of the error: the deviations over repetitions of what differs; COLUMN_NONE: one run each */
    uint32_t fact;       /* LOOP: column of the table loop_quality */
    uint32_t *operands;  /* computed: column of each of the formula's names */
    bool by_line, of_thread;
    uint32_t run; /* measured: whose; RUN_ALL: of every run */
    str_id event;
    const char *where;
};

/* One event of one input feeds these columns: `column`, or by_thread[thread], parts of that one, where it is not NULL.
 */
struct feed {
    uint32_t column;
    uint32_t *by_thread; /* COLUMN_NONE: this thread feeds none */
    bool *in_region;     /* by region of the input; NULL: all of them */
};
#define COLUMN_NONE UINT32_MAX
struct feed_list VEC(struct feed);

struct columns {
    struct VEC(struct column) list;
    struct feed_list **feeds; /* feeds[input][event] */
    size_t input_count;
    size_t wanted_count; /* the last ones are wanted statistics */
    struct arena *arena;
};

int columns_make(const struct config *, const struct input *, size_t input_count, struct strtab *, struct columns *,
                 struct warnings *, struct err *);
uint32_t columns_find(const struct columns *, str_id name); /* or COLUMN_NONE */
/* Once all columns are there (feeds.c). */
void columns_make_feeds(struct columns *, const struct config *, const struct input *, size_t input_count,
                        struct strtab *, struct warnings *);
/* By region of the measurement: is it the named one, or in it? NULL: no region is asked for. */
bool *columns_regions_named(struct arena *, const struct strtab *, const struct hpcprof *, str_id region);
/* The name a user may have meant, or NULL; names end in NULL. */
const char *metric_nearest(const char *name, const char *const *names);
void columns_release(struct columns *, const struct input *);

/* ---- where it was measured (gather.c, modules.c, correlate.c) ------------------------------------------- */

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
    uint32_t lines_in; /* the module whose structure tells where places by line are: itself, or the same file as those
                          that measured addresses name it, with its build id */
    struct scope_tree *tree;         /* of the sampled functions; NULL: none */
    struct quality_report *quality;  /* of its sampled loops; NULL: not asked for */
    struct quality_listing *listing; /* of its sampled procedures' instructions; NULL likewise */
    bool lent;                       /* the tree is the structure source's */
    uint8_t state;                   /* enum structure_state */
    bool stripped;                   /* has functions but not one line */
    char *why; /* STRUCTURE_FAILED, or its functions alone were found: a sentence without the module's name */
    const char *names_from; /* what these were found in */
    char *built;            /* by which compiler, with which options; NULL: that is not known */
};

/* What was sampled of a module. */
struct sampled {
    const vaddr *addresses; /* ascending */
    const double *weights;  /* of each: its share of the metrics, added up */
    size_t count;
    uint64_t *listed;            /* bytes of code whose instructions are listed so far, of all modules */
    const struct correlation *c; /* NULL, or who knows trip counts (correlate_trips) */
    uint32_t module;
};

/* Where structure comes from; tests put drawings here. scopes() fills tree, state and why of the module; end(), where
   there is one, hears that no more is asked for, and what was lent is given back. */
struct structure_source {
    void (*scopes)(void *ctx, struct module *, const struct strtab *, const struct sampled *, struct warnings *);
    void *ctx;
    void (*end)(void *ctx);
};

struct site { /* one sampled place in the code; there may be millions */
    uint32_t module;
    bool by_line;
    bool cut; /* no place in the code: why a call path has no beginning. The module's name says it */
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
struct call {
    uint32_t parent; /* an earlier call; CALL_NONE: the thread's first function, or why the path was cut */
    uint32_t site;
};
#define CALL_NONE UINT32_MAX

struct cell { /* what one site cost in one column */
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
    struct VEC(struct call) calls;      /* parents first */
    struct VEC(struct cell_list) cells; /* by column; the last ones may be missing */
    struct VEC(struct place) places;    /* places[0] is the PROGRAM; in the order found, parents first */
    struct VEC(struct source_file) files;
    struct VEC(uint32_t) file_module; /* the first module that uses files[i] */
    struct VEC(uint8_t) file_known; /* structure names files[i]; else a measurement alone does, and may say anything */
    place_ix *site_place;           /* the LINE of each site */
    uint8_t *site_state;            /* enum site_state */
    uint32_t *call_node;            /* by call, the node of its line; NULL: there is no tree of calls (calls.c) */
    double *site_weight;            /* its share of each column, added up */
    struct VEC(struct loop_count) loop_counts; /* by site, of those where loops begin; of all runs */
    struct hashmap loop_at; /* hash of module and address to loop_counts, of files that several modules are, once */
    uint64_t listed_bytes;  /* of code whose instructions are among the tables */
    size_t unlisted;        /* sampled procedures whose instructions would have been too much */
    struct hashmap listed;  /* hash of module and address to the row of "instructions" */
    uint32_t *file_rank;    /* by file: where it is among the experiment's; once they are in order */
    struct row_index module_index;
    struct row_index site_index, call_index; /* of the first ones, */
    size_t sites_indexed, calls_indexed;     /* so many: the rest when one is looked for */
    struct VEC(bool) with_paths;             /* by input: it has call paths */
    struct row_index place_index;            /* while places are made; with what tells them from equal siblings */
    struct VEC(uint32_t) ordinals;
    struct hashmap file_index; /* normalised path and version to files */
    struct table_list tables;  /* of the measurements; they refer to sites and to events, counted over all inputs */
    uint32_t process_count, event_count; /* of the inputs so far */
};

/*
 * What tells a place from its siblings. It is made of what the source says, not of scopes or addresses, so that the
 * same place in another build of the module is the same one; where that is not enough, the ordinal among the equal ones
 * is.
 */
struct identity {
    uint32_t parent, kind, name, file, line, call_file, call_line, on_line, instance, ordinal;
};
struct identity identity_of(const struct place *, uint32_t ordinal);

/* The measured columns of a tree from their cells. node_of: whose a cell is; NODE_NONE: nobody's. */
typedef uint32_t node_of_cell(const void *ctx, const struct cell *);
int sum_measured(struct experiment *, size_t tree, const struct correlation *, node_of_cell *node_of, const void *ctx,
                 struct err *);
void correlation_init(struct correlation *, struct strtab *);
void correlation_release(struct correlation *);
/* Gathers sites and cells of all inputs; contexts and counts of those that can be read again are dropped meanwhile. */
int correlate_gather(struct correlation *, const struct config *, const struct input *, size_t input_count,
                     const struct columns *, struct warnings *, struct err *);
/* By context of a measurement of the run, its site and the innermost frame of its path (NULL: its input has no `paths`):
   those that correlate_gather made, and numbers above. mem_free both. */
struct context_sites {
    uint32_t *sites, *calls;
};
struct context_sites correlate_contexts(struct correlation *, const struct config *, const struct hpcprof *,
                                        uint32_t run, bool paths);
/* Modules of one role, one in each run, are one MODULE: builds that are compared. One role have those of one name; else
   the programs that were run, and versions of a library, if their names are similar. */
void correlate_group_modules(struct correlation *);
/* The last part of a module's path; "[vdso]" has none. */
static inline const char *module_base_name(const char *path)
{
    return path[0] == '[' ? path : path_base(path);
}
/* What a module is compared by: its role, else that. Lent. */
const char *correlate_module_name(const struct correlation *, uint32_t module);
/* Asks the source for every module's structure and puts every site into its place. */
void correlate_place(struct correlation *, const struct config *, const struct structure_source *, struct warnings *,
                     const struct progress *);

/* ---- same.c ---------------------------------------------------------------------------- */

/* A function's name as the source has it: of "f [clone .constprop.0]", f. */
str_id same_function_name(struct strtab *, str_id name);

/* ---- match.c, line_diff.c ------------------------------------------------------------ */

/* Places of several runs that are one thing in the source become one: files of one tree in different folders, lines
   that have moved, loops that compilers begin elsewhere. After sources_find, whose texts it compares. */
void match_runs(struct correlation *, struct warnings *);
/* Warns where two runs that are compared ran programs that are not one module. */
void match_warn_programs(const struct correlation *, struct warnings *);
/* By line of a, the first one first: the line of b, from 1, that it has become; 0: it is gone. mem_free. */
uint32_t *line_diff(const void *a, size_t a_len, const void *b, size_t b_len, size_t *lines_of_a);

/* Iterations of an entry of the loop that begins there; 0: not known. */
double correlate_trips(const struct correlation *, uint32_t module, vaddr header);

/* ---- loops.c -------------------------------------------------------------------------- */

struct loop_machines {                /* cores, by processor; read when they are first needed */
    const char *folder, *named;       /* folder NULL: loops are not looked at. Lent */
    const struct quality_tools *llvm; /* NULL: llvm-mca is not asked */
    struct machine_core *of[2];
    bool failed[2];
};
void loop_machines_release(struct loop_machines *);
/* The core that code of this processor is judged by; NULL: none. */
const struct machine_core *loop_machine(struct loop_machines *, bool aarch64, struct warnings *);
/* The innermost loops of the tree that hold a sampled address; unrolled ones are told so in the tree. NULL: none. */
struct quality_report *loops_analyze(struct loop_machines *, struct bloop_binary *, struct scope_tree *,
                                     const struct sampled *, struct warnings *);
/* Rows of the correlation's tables; scope_place: by scope of the tree, PLACE_NONE where there is none. */
void loops_note(struct correlation *, const struct quality_report *, const place_ix *scope_place);

/* What is known of loops as columns: "loop_" and the name of a column of numbers of the table loop_quality. */
#define LOOPS_BLOCK "loops" /* all of them */
size_t loops_fact_count(void);
const struct table_column *loops_fact(size_t); /* NULL: that column is no number */
uint32_t loops_fact_named(const char *name);   /* UINT32_MAX: there is none */
/* Fills these columns: at loops what the table has; further out a mean, weighed by the columns' base, of what is a share
   or a ratio. */
void loops_columns(struct experiment *, const struct columns *);

/* Iterations and entries of loops, at the first instruction of each (callgrind --collect-jumps=yes). */
#define EVENT_ITERATIONS "loop iterations"
#define EVENT_ENTRIES    "loop entries"

/* ---- ideal.c ------------------------------------------------------------------------- */

#define EVENT_IDEAL "ICYCLES"
/* Where the measurement says how often instructions were executed, and their binaries are here: the event ICYCLES, the
   cycles that they would take at best. */
void ideal_add(struct hpcprof *, const struct config *, struct warnings *);

/* ---- instructions.c ---------------------------------------------------------------------- */

#define TABLE_INSTRUCTIONS       "instructions"
#define TABLE_INSTRUCTION_COUNTS "instruction_counts"

/* The experiment's tables, with the columns that instructions.c gives them; NULL: there is none such. */
const struct table *instructions_of(const struct experiment *);
const struct table *instructions_counts_of(const struct experiment *);
/* By site its share of each column, added up; mem_free. */
double *instructions_weigh_sites(const struct correlation *);
/* Procedures that are worth showing, those that were sampled most first. */
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

/* ---- facts.c ------------------------------------------------------------------------- */

/* How the sampled code was compiled; mem_free. NULL: that is not known. */
char *facts_built(struct bloop_binary *, struct scope_tree *, const struct sampled *, struct warnings *);
/* The facts of a run: of its measurements' notes, and of its modules. */
void facts_take(struct experiment *, const struct correlation *, const struct input *, size_t input_count,
                uint32_t run);

/* ---- statistics.c -------------------------------------------------------------------- */

int statistic_over_parse(const char *word, enum statistic_over *, struct err *);
/* What formulas call it: mean(CYCLES over threads). */
void statistic_name(struct buf *, enum statistic, const char *metric, enum statistic_over);
/* The same for people, of what the metric is shown as. */
void statistic_words(struct buf *, enum statistic, const char *shown, enum statistic_over);
bool statistic_parse(const char *name, enum statistic *, struct buf *metric, enum statistic_over *);
/* Fills the columns that are statistics, reading the inputs again. */
int statistics_compute(struct experiment *, struct correlation *, const struct config *, const struct columns *,
                       const struct input *, size_t input_count, const place_ix *new_of, struct err *);

/* ---- thread_values.c ------------------------------------------------------------------ */

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
/* Of a table of that name that was read from a database: is it as they are here? Then its rows. */
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

/* ---- compare.c ----------------------------------------------------------------------- */

struct measured;
void measured_make(struct experiment *, const struct correlation *, const place_ix *new_of);
void measured_from_database(struct experiment *); /* by the names of modules, and the values there are */
void measured_free(struct measured *);
enum comparison { COMPARE_DIFFERENCE, COMPARE_RATIO, COMPARE_LOSS };
/* The computed columns that compare an event's columns of two runs. */
void compare_columns(const struct config *, const struct input *, size_t input_count, const char *event,
                     const char *base, const char *new,
                     void (*add)(void *ctx, enum comparison, const char *name, const char *formula), void *ctx);

/* ---- anonymize.c -------------------------------------------------------------------- */

struct anonymity;
void anonymity_free(struct anonymity *); /* may be NULL */

/* ---- tables.c ------------------------------------------------------------------------ */

struct sites_of_contexts { /* the site of a context, made where there is none yet */
    uint32_t (*site)(void *ctx, uint32_t context);
    void *ctx;
};
/* What tables of a correlation may refer to besides: a place, or a file, by the number it had when it was found. */
#define TABLE_FOUND_PLACE "found"
#define TABLE_FOUND_FILE  "found file"
/* Adds a measurement's tables to `to`: contexts become sites, processes and events are counted from the given ones on. Of
   several runs each row says of which it is. */
#define RUN_ALONE UINT32_MAX
int tables_gather(struct table_list *to, struct strtab *, const struct hpcprof *, const struct sites_of_contexts *,
                  uint32_t run, uint32_t first_process, uint32_t first_event, struct err *);
/* Sites become places, events metrics, and the experiment has its tables, in order. */
int tables_finish(struct experiment *, const struct correlation *from, const uint32_t *site_places,
                  const place_ix *found_places, const uint32_t *event_metrics, struct err *);

/* ---- structure from binaries and structure files (structure.c) ---------------------- */

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
void functions_take(struct hpcprof *, struct kept_functions *);
void functions_give(struct kept_functions *, struct structures *);
/* What a database says of its run, as a measurement, and of its modules, whose trees are added, and of its threads
   (vec_release). `input`: no other has that number (database_run.c). */
int database_as_run(const char *path, uint32_t input, struct structures *, struct hpcprof **,
                    struct thread_value_list *, struct warnings *, struct err *);
struct structure_source structures_source(struct structures *);

/* ---- names and texts of sources (sources.c) ------------------------------------------ */

void sources_name_modules(struct correlation *);
void sources_name_files(struct correlation *, const struct config *);
/* The folders that are common to each module's own sources, where they are here. */
void sources_keep_folders(const struct correlation *, struct experiment *);
/* How many whole components the ends of two paths share. */
unsigned path_shared_end(const char *a, const char *b);
/* Fills `found` of every file, looking on this machine. */
void sources_find(struct correlation *, const struct config *, const struct input *, size_t input_count);

/* Opens one run's measurement, whosever it is (read.c). */
int measurement_read(const struct config *, const struct config_run *, const struct progress *, struct hpcprof **,
                     struct warnings *, struct err *);

/* ---- order.c ----------------------------------------------------------------------------- */

/* FILE places get the names of their files, now that those are known. */
void name_files_as_shown(struct correlation *);
/* Fills the experiment's files and places; by old place, the new one (mem_free). */
place_ix *order_places_and_files(struct correlation *, struct experiment *);

/* ---- calls.c -------------------------------------------------------------------------------- */

/* Adds the tree of calls, where paths were measured, with what was measured. */
int calls_build(struct experiment *, struct correlation *, const place_ix *new_of, struct warnings *, struct err *);
void calls_fold(struct experiment *, struct correlation *); /* experiment_fold_recursion, before statistics */

/* ---- trees.c -------------------------------------------------------------------------------- */

/* The last tree takes the place of another. */
void experiment_replace_tree(struct experiment *, size_t tree, size_t last);

/* ---- formulas.c ---------------------------------------------------------------------------- */

void formulas_keep(struct experiment *, const struct columns *); /* once the metrics are there */
/* Of a database, whose columns have values already: for sums that a view makes. A formula that names something else has
   none. */
void formulas_from_texts(struct experiment *);
void formulas_compute(struct experiment *, size_t tree, unsigned threads); /* once the tree's measured columns are */
void formulas_free(struct experiment *);

/* ---- lost.c --------------------------------------------------------------------------------- */

/* Shares of what could be shown less exactly than by line. */
void warn_shares(const struct experiment *, const struct correlation *, const struct columns *, struct warnings *);
/* The table "placement": what of each event is shown by line, by function, by module and not at all, and why. */
int lost_table(struct experiment *, const struct correlation *, const struct columns *, const struct input *,
               size_t input_count, struct err *);
/* What the recorder lost, and what it could not note. */
void warn_recording(const struct input *, size_t input_count, struct warnings *);

/* ---- the steps (experiment.c) --------------------------------------------------------- */

/* The part of experiment_build that needs no files: tests call it with hand-made measurements and structure. The inputs
 * stay the caller's. */
int experiment_from(const struct config *, const struct input *, size_t input_count, const struct structure_source *,
                    const struct progress *, struct experiment **, struct warnings *, struct err *);

#endif
