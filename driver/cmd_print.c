/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview print: measurements as a table, without a database. */
#include "driver/overrides.h"
#include "htmlgen/htmlgen.h"

#include <stdio.h>
#include <stdlib.h>

static struct settings {
    struct overrides overrides;
    struct string_list by;
    const char *format, *sort, *out, *table, *scope, *threshold, *gate, *scaling, *of;
    unsigned top;
    bool per_thread, tree, diff, fold;
} opt;

static const struct option_row rows[] = {
    {"by", 'b', OPT_LIST, offsetof(struct settings, by), "LEVEL",
     "program, module, file, procedure, loop, line, function, instruction, path, caller, calls, barrier, phase, "
     "reference, array or evictor (default: procedure)"},
    {"of", 0, OPT_STRING, offsetof(struct settings, of), "PLACE",
     "with --by caller or calls: procedures matching this pattern, or FILE:LINE"},
    {"fold-recursion", 0, OPT_FLAG, offsetof(struct settings, fold), NULL,
     "fold recursion: each procedure once on a call path"},
    {"format", 'f', OPT_STRING, offsetof(struct settings, format), "FORMAT", "text, csv or json (default: text)"},
    {"top", 'n', OPT_COUNT, offsetof(struct settings, top), "N", "print only the first N rows"},
    {"sort", 's', OPT_STRING, offsetof(struct settings, sort), "METRIC",
     "sort by this metric (with --table: column); 'METRIC (E)' by exclusive values"},
    {"per-thread", 't', OPT_FLAG, offsetof(struct settings, per_thread), NULL, "add a column for every thread"},
    {"tree", 0, OPT_FLAG, offsetof(struct settings, tree), NULL, "print the scope tree as indented text with bars"},
    {"scope", 0, OPT_STRING, offsetof(struct settings, scope), "GLOB",
     "only modules, files and procedures whose name matches"},
    {"threshold", 0, OPT_STRING, offsetof(struct settings, threshold), "PERCENT",
     "only rows with at least PERCENT of the total (default with --tree: 1)"},
    {"diff", 'd', OPT_FLAG, offsetof(struct settings, diff), NULL,
     "compare two measurements, the base first (runs BASE and NEW)"},
    {"scaling", 0, OPT_STRING, offsetof(struct settings, scaling), "KIND",
     "with --diff: add the loss against perfect scaling: strong or weak"},
    {"fail-if", 0, OPT_STRING, offsetof(struct settings, gate), "FORMULA",
     "exit with status 3 if it is true for the whole program"},
    {"table", 0, OPT_STRING, offsetof(struct settings, table), "NAME",
     "print this auxiliary table instead of the metrics (see hpcview-print(1), TABLES)"},
    {"output", 'o', OPT_STRING, offsetof(struct settings, out), "FILE", "write to FILE (default: standard output)"},
    {"stdio", 0, OPT_OTHERS, 0, NULL, "text is the default"},
    {"input", 'i', OPT_OTHERS, 0, NULL, "name the measurement or the perf.data without it"},
    {"call-graph", 'g', OPT_OTHERS, 0, NULL, "'--by path' prints call paths, '--by caller' callers"},
    {0},
};
static const struct option_table tables[] = {
    {rows, &opt, "Options"}, {override_rows, &opt.overrides, "Metrics, sources and analysis"}, {0}};

static int parse_format(enum print_format *format, struct err *err)
{
    static const char *const names[] = {"text", "csv", "json"};
    size_t i = opt.format ? str_index(opt.format, names, ARRAY_SIZE(names)) : 0;
    *format = (enum print_format)i;
    return i < ARRAY_SIZE(names)
               ? 0
               : err_set(err, ERR_USAGE, "print: unknown format '%s'; available: text, csv, json", opt.format);
}

static int parse_threshold(double *percent, struct err *err)
{
    char *end;
    *percent = opt.threshold ? strtod(opt.threshold, &end) : 0;
    if (opt.threshold && (*end || end == opt.threshold || !(*percent >= 0 && *percent <= 100)))
        return err_set(err, ERR_USAGE, "print: --threshold needs a percentage from 0 to 100, not '%s'", opt.threshold);
    return 0;
}

/* Options about the runs. */
static int choose(struct config *config, struct err *err)
{
    static const char *const names[] = {"BASE", "NEW", NULL};
    config_set_per_thread(config, opt.per_thread);
    config_set_thread_values(config, opt.table && strcmp(opt.table, "thread_values") == 0);
    if (opt.scaling && !opt.diff)
        return err_set(err, ERR_USAGE, "--scaling needs --diff");
    if (opt.diff && config_compare(config, opt.scaling, err) < 0)
        return -1;
    if (opt.diff)
        config_name_runs(config, names);
    return opt.gate ? config_add_gate(config, opt.gate, err) : 0;
}

enum { STATUS_GATE = 3 };

/* The status of a gate that is passed is 0. */
static int look_at_gate(const struct experiment *e, struct err *err)
{
    bool holds;
    if (!opt.gate)
        return 0;
    if (experiment_gate(e, &holds, err) < 0)
        return err_in(err, "--fail-if");
    if (holds)
        fprintf(stderr, "hpcview: --fail-if: %s\n", opt.gate);
    return holds ? STATUS_GATE : 0;
}

/* One of the tables that are printed: of places, or of the experiment's tables. */
struct shown {
    enum print_level level;
    const char *table; /* NULL: of places, or of a simulated memory */
    bool phase_loops;  /* the samples of phases are below them */
    bool is_memory;    /* tables of a simulated memory: */
    enum print_memory memory;
};
struct shown_list VEC(struct shown);

/* --by barrier, --by phase: places that have tables of their own. */
static const char *table_of_level(const char *word)
{
    static const char *const words[][2] = {{"barrier", "barriers"}, {"phase", "phases"}};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strcmp(word, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

/* --by reference, array, evictor. */
static bool memory_of_level(const char *word, enum print_memory *memory)
{
    static const char *const words[] = {"reference", "array", "evictor"};
    size_t i = str_index(word, words, ARRAY_SIZE(words));
    *memory = (enum print_memory)i;
    return i < ARRAY_SIZE(words);
}

static bool is_of_scopes(const struct shown *one)
{
    return !one->table && !one->is_memory;
}

static int choose_shown(struct shown_list *shown, struct err *err)
{
    for (size_t i = 0; i < opt.by.count && !opt.table; i++) {
        struct shown one = {.level = PRINT_PROC, .table = table_of_level(opt.by.items[i])};
        one.is_memory = memory_of_level(opt.by.items[i], &one.memory);
        if (is_of_scopes(&one) && print_level_parse(opt.by.items[i], &one.level, err) < 0)
            return err_in(err, "print");
        one.phase_loops = one.table && strcmp(one.table, "phases") == 0;
        *vec_push(shown) = one;
    }
    if (shown->count == 0)
        *vec_push(shown) = (struct shown){.level = PRINT_PROC, .table = opt.table};
    return 0;
}

static bool is_shown(const struct shown_list *shown, enum print_level level)
{
    for (size_t i = 0; i < shown->count; i++)
        if (is_of_scopes(&shown->items[i]) && shown->items[i].level == level)
            return true;
    return false;
}

/* --by phase: which loops ran there, below the phases. */
static int print_loops_of_phases(const struct experiment *e, const struct print_options *options, struct outfile *out,
                                 struct err *err)
{
    struct print_options hottest = *options;
    hottest.sort_by = "value";
    if (options->format != PRINT_TEXT || !table_list_find(&e->tables, "phase_loops"))
        return 0;
    outfile_write(out, "\n", 1);
    return experiment_print_table(e, "phase_loops", &hottest, out, err);
}

/* Several tables are one list in JSON; else an empty line stands between them. */
static int print_all(const struct experiment *e, const struct shown_list *shown, struct print_options *options,
                     struct outfile *out, struct err *err)
{
    const char *begin = "", *between = "\n", *end = "";
    int status = 0;
    if (options->format == PRINT_JSON && shown->count > 1) {
        begin = "[\n";
        between = ",\n";
        end = "]\n";
    }
    outfile_write(out, begin, strlen(begin));
    for (size_t i = 0; i < shown->count && status == 0; i++) {
        const struct shown *one = &shown->items[i];
        if (i)
            outfile_write(out, between, strlen(between));
        options->level = one->level;
        options->no_legend = i > 0;
        status = one->is_memory ? experiment_print_memory(e, one->memory, options, out, err)
                 : one->table   ? experiment_print_table(e, one->table, options, out, err)
                                : experiment_print(e, options, out, err);
        if (status == 0 && one->phase_loops)
            status = print_loops_of_phases(e, options, out, err);
    }
    outfile_write(out, end, strlen(end));
    return status;
}

static int print(const struct experiment *e, const struct shown_list *shown, struct print_options *options,
                 struct err *err)
{
    struct outfile *out;
    if (outfile_create(opt.out ? opt.out : "-", &out, err) < 0)
        return -1;
    if (print_all(e, shown, options, out, err) < 0) {
        outfile_abandon(out);
        return -1;
    }
    return outfile_commit(out, err);
}

static int check_options(const struct shown_list *shown, struct print_options *options, struct err *err)
{
    if (parse_threshold(&options->threshold, err) < 0)
        return -1;
    if (opt.of && !is_shown(shown, PRINT_CALLER) && !is_shown(shown, PRINT_CALLS))
        return err_set(err, ERR_USAGE, "print: --of needs --by caller or --by calls");
    if (opt.tree && options->format != PRINT_TEXT)
        return err_set(err, ERR_USAGE, "print: --tree has no other format than text");
    return 0;
}

/* A database by itself is printed as it is, with all its columns, trees and tables; where columns are to be made anew of
   it, it is a run like any other. */
static bool is_as_it_is(int argc, char **argv)
{
    return argc == 1 && !opt.per_thread && !opt.diff && !opt.gate && !overrides_add_columns(&opt.overrides) &&
           experiment_is_database(argv[0]);
}

static int make_experiment(struct session *s, const struct shown_list *shown, int argc, char **argv,
                           struct experiment **e)
{
    struct config *config;
    if (is_as_it_is(argc, argv))
        return driver_read_database(s, argv[0], opt.fold, e);
    int status = overrides_config(s, &opt.overrides, "print", argc, argv, &config);
    if (status == 0 && (is_shown(shown, PRINT_INSTRUCTION) || (opt.table && str_starts(opt.table, "instruction"))))
        config_list_instructions(config);
    if (status == 0)
        config_set_fold_recursion(config, opt.fold);
    if (status == 0 && choose(config, &s->err) < 0)
        status = err_in(&s->err, "print");
    if (status == 0)
        status = experiment_build(config, &s->progress, e, s->warnings, &s->err);
    config_free(config);
    return status;
}

static int run(struct session *s, int argc, char **argv)
{
    struct print_options options = {
        .top = opt.top, .sort_by = opt.sort, .scope = opt.scope, .of = opt.of, .tree = opt.tree, .diff = opt.diff};
    struct experiment *e = NULL;
    struct shown_list shown = {0};
    int status = parse_format(&options.format, &s->err);
    if (status == 0)
        status = choose_shown(&shown, &s->err);
    if (status == 0)
        status = check_options(&shown, &options, &s->err);
    if (status == 0)
        status = make_experiment(s, &shown, argc, argv, &e);
    if (status == 0)
        status = print(e, &shown, &options, &s->err);
    if (status == 0)
        status = look_at_gate(e, &s->err);
    experiment_free(e);
    vec_release(&shown);
    return status;
}

const struct command command_print = {
    .name = "print",
    .synopsis = "[options] CONFIG.xml | MEASUREMENTS... | DB",
    .summary = "print results by module, procedure, loop, line or call path",
    .options = tables,
    .run = run,
};
