/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview export: measurements, or a finished database, in another tool's format. */
#include "config.h"

#include "driver/overrides.h"
#include "export/export.h"
#include "htmlgen/htmlgen.h"

#include <stdio.h>
#include <unistd.h>

static struct settings {
    struct overrides overrides;
    const char *out, *tree;
    struct string_list values;
    bool fold, no_loops;
} opt;

static const struct option_row rows[] = {
    {"output", 'o', OPT_STRING, offsetof(struct settings, out), "FILE", "write to FILE (default: standard output)"},
    {"value", 'v', OPT_LIST, offsetof(struct settings, values), "METRIC",
     "export only this metric; repeatable (default: every displayed metric)"},
    {"fold-recursion", 0, OPT_FLAG, offsetof(struct settings, fold), NULL,
     "fold recursion: each procedure once on a call path"},
    {"no-loops", 0, OPT_FLAG, offsetof(struct settings, no_loops), NULL, "omit loops from stacks"},
    {"tree", 0, OPT_STRING, offsetof(struct settings, tree), "NAME", "scopes, or calls (call paths)"},
    {0},
};
static const struct option_table tables[] = {
    {rows, &opt, "Options"}, {override_rows, &opt.overrides, "Metrics, sources and analysis"}, {0}};

static int make_experiment(struct session *s, int argc, char **argv, struct experiment **e)
{
    struct config *config;
    if (argc == 1 && !overrides_add_columns(&opt.overrides) && experiment_is_database(argv[0]))
        return driver_read_database(s, argv[0], opt.fold, e);
    if (overrides_config(s, &opt.overrides, "export", argc, argv, &config) < 0)
        return -1;
    config_add_all_blocks(config); /* as in a database of it */
    config_set_fold_recursion(config, opt.fold);
    int status = experiment_build(config, &s->progress, e, s->warnings, &s->err);
    config_free(config);
    return status;
}

static int write_out(struct session *s, const struct experiment *e, const struct export_format *format)
{
    struct export_options options = {
        .tree = opt.tree, .no_loops = opt.no_loops, .generator = "hpcview-" PACKAGE_VERSION};
    struct outfile *out;
    if (!opt.out && strcmp(format->name, "pprof") == 0 && isatty(STDOUT_FILENO))
        return err_set(&s->err, ERR_USAGE, "export: pprof's format is binary; write it to a file with -o");
    if (opt.values.count) {
        *vec_push(&opt.values) = NULL;
        options.metrics = opt.values.items;
    }
    if (outfile_create(opt.out ? opt.out : "-", &out, &s->err) < 0)
        return -1;
    if (export_write(e, format, &options, out, &s->err) < 0) {
        outfile_abandon(out);
        return s->err.kind == ERR_USAGE ? err_in(&s->err, "export") : -1;
    }
    return outfile_commit(out, &s->err);
}

static int run(struct session *s, int argc, char **argv)
{
    struct experiment *e = NULL;
    if (argc < 2)
        return err_set(&s->err, ERR_USAGE, "export: usage: hpcview export FORMAT CONFIG.xml | MEASUREMENTS... | DB");
    if (strcmp(argv[0], "hpcstruct") == 0)
        return structure_to_hpcstruct(s, argc - 1, argv + 1, opt.out);
    const struct export_format *format = export_named(argv[0], &s->err);
    if (!format)
        return err_in(&s->err, "export");
    int status = make_experiment(s, argc - 1, argv + 1, &e);
    if (status == 0)
        status = write_out(s, e, format);
    experiment_free(e);
    vec_release(&opt.values);
    return status;
}

const struct command command_export = {
    .name = "export",
    .synopsis = "[options] FORMAT CONFIG.xml | MEASUREMENTS... | DB",
    .summary = "write results in other tools' formats",
    .options = tables,
    .run = run,
};
