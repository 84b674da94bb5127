/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview run: record, recover structure, build: one command from a program to its database. */
#include "campaign/campaign.h"
#include "driver/build.h"
#include "driver/record.h"
#include "driver/overrides.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct settings {
    struct build_options build;
    struct record_options record;
    struct overrides overrides;
    bool again;
} opt = {.record = RECORD_DEFAULTS};

static const struct option_row rows[] = {
    {"again", 0, OPT_FLAG, offsetof(struct settings, again), NULL,
     "with CONFIG.xml: also measure runs that are already measured"},
    {0},
};
static const struct option_table tables[] = {{rows, &opt, "Options"},
                                             {build_rows, &opt.build, "What to write"},
                                             {record_rows, &opt.record, "What to measure"},
                                             {override_rows, &opt.overrides, "Metrics, sources and analysis"},
                                             {0}};

struct places { /* destinations of the results: the measurement is next to the database, to be built again with other
                   options */
    char *database, *measurements;
};

static struct places default_places(const char *program)
{
    struct places p = {.measurements = driver_measurement_dir(program)};
    p.database = mem_printf("%.*s.%s", (int)(strlen(p.measurements) - strlen(".measurements")), p.measurements,
                            opt.build.single_file ? "html" : "db");
    return p;
}

/* "out/heat.db" has its measurements in "out/heat.measurements". */
static struct places given_places(const char *database)
{
    static const char *const endings[] = {".db", ".html"};
    size_t n = strlen(database);
    while (n > 1 && database[n - 1] == '/')
        n--;
    char *stem = mem_strndup(database, n);
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
        if (str_ends(stem, endings[i]) && strlen(path_base(stem)) > strlen(endings[i]))
            stem[strlen(stem) - strlen(endings[i])] = '\0';
    struct places p = {mem_strdup(database), mem_printf("%s.measurements", stem)};
    mem_free(stem);
    return p;
}

/* A database that -o names is replaced, and so is its measurement (not by ranks, of which others may write there already);
   but a folder with anything else in it is left alone.
 */
static int clear_measurements(const char *path, struct err *err)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int status = 0;
    if (!dir)
        return 0;
    while (status == 0 && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !str_ends(entry->d_name, HPCPROF_SUFFIX))
            status =
                err_set(err, ERR_SYSTEM,
                        "%s: contains %s, which is not a measurement; move it, or choose another name for the database",
                        path, entry->d_name);
    closedir(dir);
    return status == 0 ? dir_remove_tree(path, err) : status;
}

/* Ranks leave a file each when they are done; the first one takes these away, and builds. */
#define DONE ".done."
enum { PATIENCE = 60 /* seconds in which no other rank is done */, LOOKS = 10 /* a second */ };

static char *done_file(const char *measurements, int rank)
{
    return mem_printf("%s/" DONE "%d", measurements, rank);
}

static void tell_done(const char *measurements)
{
    char *path = done_file(measurements, hpcprof_own_rank());
    FILE *f = fopen(path, "we");
    if (f)
        fclose(f);
    mem_free(path);
}

/* False: some have not come. */
static bool wait_for_ranks(const char *measurements)
{
    int ranks = hpcprof_own_ranks(), looks = 0;
    for (int rank = 1; rank < ranks && looks < PATIENCE * LOOKS;) {
        char *path = done_file(measurements, rank);
        if (unlink(path) == 0) {
            rank++;
            looks = 0;
        } else {
            looks++;
            nanosleep(&(struct timespec){0, 1000000000 / LOOKS}, NULL);
        }
        mem_free(path);
    }
    return ranks > 0 && looks < PATIENCE * LOOKS;
}

/* Whether this process is to build: one that is alone, or the first rank when all others are done. */
static bool builds(struct session *s, const struct places *p)
{
    if (hpcprof_own_rank() < 0)
        return true;
    if (hpcprof_own_rank() > 0)
        tell_done(p->measurements);
    else if (wait_for_ranks(p->measurements))
        return true;
    else
        warnings_add(s->warnings, "not all ranks are done; when they are: hpcview build -o %s %s", p->database,
                     p->measurements);
    return false;
}

static int record_and_build(struct session *s, struct config *config, const struct places *p, char **argv)
{
    struct record_request request = {.blocks = &opt.overrides.blocks};
    int wait_status;
    config_add_measurement(config, p->measurements);
    config_add_all_blocks(config);
    if (overrides_apply(&opt.overrides, "run", config, &s->err) <
        0) /* before the program runs: a typing error must not cost a run */
        return -1;
    session_speaks(s);
    if ((hpcprof_own_rank() < 0 && clear_measurements(p->measurements, &s->err) < 0) ||
        record_program(s, &opt.record, p->measurements, &request, argv, &wait_status, &s->err) < 0)
        return -1;
    record_report(s, &opt.record, p->measurements);
    if (WIFSIGNALED(wait_status))
        warnings_add(s->warnings, "%s was killed by signal %d", path_base(argv[0]), WTERMSIG(wait_status));
    if (builds(s, p) && build_database(s, &opt.build, config, p->database) < 0)
        return -1;
    return record_exit_status(wait_status);
}

/* A run of a configuration. */
static int record_run(void *ctx, const struct campaign_run *run, int *wait_status, struct err *err)
{
    struct record_request request = {.events = run->events, .no_call_paths = run->no_call_paths};
    struct record_options options = opt.record; /* the command line takes precedence */
    options.only = options.only ? options.only : run->only;
    options.phases |= run->phases;
    return record_program(ctx, &options, run->out_dir, &request, run->argv, wait_status, err);
}

/* The runs that the file describes; existing ones are built even if one fails. */
static int run_configuration(struct session *s, int argc, char **argv)
{
    struct config *config;
    bool failed = false;
    if (overrides_config(s, &opt.overrides, "run", argc, argv, &config) < 0)
        return -1;
    if (config_check(config, &s->err) < 0) {
        config_free(config);
        return -1;
    }
    char *database = opt.build.out ? mem_strdup(opt.build.out) : build_database_name(&opt.build, argv[0]);
    struct campaign_user user = {.report = driver_report, .warnings = s->warnings, .progress = &s->progress};
    struct campaign_runs_options options = {.again = opt.again, .quiet = s->quiet, .record = record_run, .ctx = s};
    int status = campaign_measure(&user, &options, config, &failed, &s->err);
    if (status == 0)
        status = build_database(s, &opt.build, config, database);
    mem_free(database);
    config_free(config);
    return status == 0 && failed ? 1 : status;
}

static int run(struct session *s, int argc, char **argv)
{
    if (argc == 0)
        return err_set(&s->err, ERR_USAGE, "run: usage: hpcview run [options] -- PROGRAM ARGS");
    if (argc == 1 && driver_is_configuration(argv[0]))
        return run_configuration(s, argc, argv);
    if (driver_is_configuration(argv[0]) && access(argv[0], X_OK) != 0)
        return err_set(&s->err, ERR_USAGE,
                       "run: %s is a configuration, not a program, and takes no '%s'; put options before it", argv[0],
                       argv[1]);
    if (opt.again)
        return err_set(&s->err, ERR_USAGE, "run: --again needs a configuration");
    struct places p = opt.build.out ? given_places(opt.build.out) : default_places(argv[0]);
    struct config *config = config_create();
    int status = record_and_build(s, config, &p, argv);
    config_free(config);
    mem_free(p.database);
    mem_free(p.measurements);
    return status;
}

const struct command command_run = {
    .name = "run",
    .synopsis = "[options] [--] PROGRAM ARGS | CONFIG.xml",
    .summary = "run a program and show where its time goes",
    .options = tables,
    .stops_at_operand = true,
    .run = run,
};
