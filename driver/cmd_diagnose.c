/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview diagnose: findings, their places, severity and confidence. */
#include "config.h"

#include "campaign/campaign.h"
#include "driver/findings.h"
#include "driver/overrides.h"
#include "driver/record.h"
#include "htmlgen/htmlgen.h"

#include <math.h>
#include <stdio.h>

static struct settings {
    struct overrides overrides;
    struct string_list properties;
    const char *strategy, *threshold, *format, *out, *fail_if, *keep, *region, *database;
    unsigned experiments;
    double seconds, delay, duration;
    struct diagnose_text text;
} opt;

static const struct option_row rows[] = {
    {"properties", 'p', OPT_LIST, offsetof(struct settings, properties), "DIR",
     "also read the property files (*.asl) in this folder"},
    {"strategy", 0, OPT_STRING, offsetof(struct settings, strategy), "NAME",
     "whole, location-first, property-first, loop-aware or functions (default: whole)"},
    {"threshold", 0, OPT_STRING, offsetof(struct settings, threshold), "PERCENT",
     "omit findings that cost less than PERCENT of the run (default: 1)"},
    {"format", 'f', OPT_STRING, offsetof(struct settings, format), "FORMAT",
     "text, csv, json, sarif, periscope or graph (default: text)"},
    {"all", 0, OPT_FLAG, offsetof(struct settings, text.all), NULL, "text: every finding, with its explanation"},
    {"untested", 0, OPT_FLAG, offsetof(struct settings, text.untested), NULL,
     "text: list the properties that were not tested, and what they need"},
    {"output", 'o', OPT_STRING, offsetof(struct settings, out), "FILE", "write to FILE (default: standard output)"},
    {"database", 0, OPT_STRING, offsetof(struct settings, database), "DB",
     "also write a database of the findings and the search, or an .html file"},
    {"fail-if", 0, OPT_STRING, offsetof(struct settings, fail_if), "PERCENT",
     "exit with status 3 if a finding costs at least PERCENT"},
    {"experiments", 0, OPT_COUNT, offsetof(struct settings, experiments), "N",
     "at most N rounds of a search, or N runs of a program (default: 6)"},
    {"seconds", 0, OPT_SECONDS, offsetof(struct settings, seconds), "N",
     "with a program: start no run after this time"},
    {"region", 0, OPT_STRING, offsetof(struct settings, region), "NAME[@N]",
     "with a program: measure only in this region; @N: the N-th time it is entered"},
    {"delay", 0, OPT_SECONDS, offsetof(struct settings, delay), "SECONDS",
     "with a program: start measuring this long after its start"},
    {"duration", 0, OPT_SECONDS, offsetof(struct settings, duration), "SECONDS",
     "with a program: measure only for this long"},
    {"keep", 0, OPT_STRING, offsetof(struct settings, keep), "DIR",
     "with a program: keep the measurements in DIR (default: hpcview-NAME.experiments)"},
    {0},
};
static const struct option_table tables[] = {
    {rows, &opt, "Options"}, {override_rows, &opt.overrides, "Metrics, sources and analysis"}, {0}};

enum { STATUS_GATE = 3 };

static int percentage(const char *text, const char *option, double usual, double *percent, struct err *err)
{
    char *end;
    *percent = text ? strtod(text, &end) : usual;
    if (text && (*end || end == text || !(*percent >= 0 && *percent <= 100)))
        return err_set(err, ERR_USAGE, "diagnose: --%s needs a percentage from 0 to 100, not '%s'", option, text);
    return 0;
}

static int make_experiment(struct session *s, const struct properties *p, int argc, char **argv, struct experiment **e)
{
    struct config *config;
    if (argc == 1 && experiment_is_database(argv[0]))
        return driver_read_database(s, argv[0], false, e);
    if (overrides_config(s, &opt.overrides, "diagnose", argc, argv, &config) < 0)
        return -1;
    config_want_statistics(config, properties_statistics(p));
    config_set_thread_values(config, opt.database);
    if (opt.database)
        config_list_instructions(config);
    int status = experiment_build(config, &s->progress, e, s->warnings, &s->err);
    config_free(config);
    return status;
}

static int write_out(struct session *s, const struct experiment *e, const struct properties *p,
                     const struct diagnosis *d, enum diagnose_format format)
{
    struct outfile *out;
    if (outfile_create(opt.out ? opt.out : "-", &out, &s->err) < 0)
        return -1;
    diagnosis_write(e, p, d, format, opt.text, PACKAGE_VERSION, out);
    return outfile_commit(out, &s->err);
}

static int gate(const struct diagnosis *d, double limit)
{
    const struct finding *worst = NULL;
    for (size_t i = 0; i < d->findings.count; i++)
        if (!worst || d->findings.items[i].severity > worst->severity)
            worst = &d->findings.items[i];
    if (!opt.fail_if || !worst || worst->severity < limit)
        return 0;
    fprintf(stderr, "hpcview: --fail-if: %s costs %.1f%%\n", worst->property, worst->severity);
    return STATUS_GATE;
}

/* A finished database has its findings, unless others are asked for; 0: it has not. */
static int stored(const struct diagnose_options *options, int argc, char **argv, const struct experiment *e,
                  struct diagnosis **d)
{
    bool others = opt.properties.count || opt.strategy || opt.experiments;
    if (argc != 1 || !experiment_is_database(argv[0]) || others)
        return 0;
    return diagnosis_stored(e, opt.threshold ? options->threshold : (double)NAN, d);
}

static int configure(void *ctx, struct config *config, struct err *err)
{
    return overrides_apply(ctx, "diagnose", config, err);
}

/* Before the program runs: a typing error must not cost a run. */
static int check_overrides(struct err *err)
{
    struct config *config = config_create();
    int status = configure(&opt.overrides, config, err);
    config_free(config);
    return status;
}

/* The operands after "--" are a program. */
static int look_at_program(struct session *s, const struct properties *p, struct diagnose_options *options, char **argv,
                           struct experiment **e, struct diagnosis **d, char **failed)
{
    struct campaign_user user = {.report = driver_report, .warnings = s->warnings, .progress = &s->progress};
    char *region;
    unsigned region_time;
    if (record_region(opt.region, &region, &region_time, &s->err) < 0)
        return -1;
    char *recorder = driver_library_path("libhpcview-record.so"),
         *barrier_recorder = driver_library_path("libhpcview-record-phases.so"),
         *simulator = driver_library_path("libhpcview-simulate-qemu.so"),
         *heap = driver_library_path("libhpcview-simulate-heap.so");
    char *keep = opt.keep ? mem_strdup(opt.keep) : dir_unused(argv[0], "experiments", NULL);
    char *database = opt.database ? mem_strdup(opt.database) : mem_printf("%s.db", keep);
    options->one_program = true;
    struct campaign_experiments experiments = {.keep = keep,
                                               .experiments = opt.experiments,
                                               .seconds = opt.seconds,
                                               .region = region,
                                               .region_time = region_time,
                                               .delay = opt.delay,
                                               .duration = opt.duration,
                                               .diagnose = *options,
                                               .recorder = recorder,
                                               .barrier_recorder = barrier_recorder,
                                               .simulator = simulator,
                                               .heap = heap,
                                               .warn = record_warn,
                                               .configure = configure,
                                               .ctx = &opt.overrides};
    experiments.diagnose.experiments = 0;
    int status = campaign_diagnose(&user, p, &experiments, argv, e, d, failed, &s->err);
    if (status == 0)
        status = findings_database(s, *e, *d, database);
    mem_free(database);
    mem_free(keep);
    mem_free(heap);
    mem_free(simulator);
    mem_free(barrier_recorder);
    mem_free(recorder);
    mem_free(region);
    return status;
}

static int look(struct session *s, const struct properties *p, struct diagnose_options *options, int argc, char **argv,
                struct experiment **e, struct diagnosis **d, char **failed)
{
    if (s->after_dashes && argc)
        return check_overrides(&s->err) < 0 ? -1 : look_at_program(s, p, options, argv, e, d, failed);
    if (opt.keep || opt.seconds > 0 || opt.region || opt.delay > 0 || opt.duration > 0)
        return err_set(&s->err, ERR_USAGE,
                       "diagnose: --keep, --seconds, --region, --delay and --duration need a program: -- PROGRAM ARGS");
    if (opt.database && argc == 1 && experiment_is_database(argv[0]))
        return err_set(&s->err, ERR_USAGE, "diagnose: %s is a database; --database needs the measurements", argv[0]);
    if (make_experiment(s, p, argc, argv, e) < 0)
        return -1;
    int status = stored(options, argc, argv, *e, d) ? 0 : diagnose(*e, p, options, d, &s->err);
    return status == 0 && opt.database ? findings_database(s, *e, *d, opt.database) : status;
}

/* Findings before an experiment failed have been written: now the error. */
static int say_failed(struct session *s, char *failed)
{
    if (failed)
        err_set(&s->err, ERR_SYSTEM, "%s", failed);
    mem_free(failed);
    return failed ? -1 : 0;
}

static int run(struct session *s, int argc, char **argv)
{
    struct diagnose_options options = {.experiments = opt.experiments};
    char *failed = NULL;
    enum diagnose_format format = DIAGNOSE_TEXT;
    struct properties *p = NULL;
    struct experiment *e = NULL;
    struct diagnosis *d = NULL;
    double limit;
    if ((opt.strategy && diagnose_strategy_parse(opt.strategy, &options.strategy, &s->err) < 0) ||
        (opt.format && diagnose_format_parse(opt.format, &format, &s->err) < 0))
        return err_in(&s->err, "diagnose");
    if (percentage(opt.threshold, "threshold", 1, &options.threshold, &s->err) < 0 ||
        percentage(opt.fail_if, "fail-if", 0, &limit, &s->err) < 0)
        return -1;
    int status = findings_properties(s, &opt.properties, &p);
    if (status == 0)
        status = look(s, p, &options, argc, argv, &e, &d, &failed);
    if (status == 0)
        status = write_out(s, e, p, d, format);
    if (say_failed(s, failed) < 0)
        status = -1;
    if (status == 0)
        status = gate(d, limit);
    diagnosis_free(d);
    experiment_free(e);
    properties_free(p);
    return status;
}

const struct command command_diagnose = {
    .name = "diagnose",
    .synopsis = "[options] CONFIG.xml | MEASUREMENTS... | DB | -- PROGRAM ARGS",
    .summary = "report performance problems: what, where, and how much each costs",
    .options = tables,
    .run = run,
};
