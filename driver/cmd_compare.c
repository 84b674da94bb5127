/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview compare: run two programs in turn until it is known whether the second is slower. */
#include "compare/compare.h"
#include "driver/build.h"
#include "driver/overrides.h"
#include "driver/record.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_WORSE = 3, STATUS_UNKNOWN = 4 };

static struct settings {
    struct build_options build;
    struct record_options record;
    const char *base, *threshold, *clock, *format, *out, *keep, *prepare;
    unsigned pairs, warm_up, failures;
    double limit;
} opt = {.record = RECORD_DEFAULTS, .pairs = 20, .warm_up = 1};

static const struct option_row rows[] = {
    {"base", 0, OPT_STRING, offsetof(struct settings, base), "COMMAND",
     "the base's command, read as a shell would (default: the first one after --)"},
    {"threshold", 0, OPT_STRING, offsetof(struct settings, threshold), "PERCENT", "what matters (default: 2)"},
    {"clock", 0, OPT_STRING, offsetof(struct settings, clock), "cpu|wall", "the time that decides (default: cpu)"},
    {"pairs", 'n', OPT_COUNT, offsetof(struct settings, pairs), "N", "at most N pairs of runs (default: 20)"},
    {"warm-up", 0, OPT_COUNT, offsetof(struct settings, warm_up), "N",
     "run N pairs first that are not counted (default: 1)"},
    {"seconds", 0, OPT_SECONDS, offsetof(struct settings, limit), "SECONDS", "begin no pair after so long"},
    {"failures", 0, OPT_COUNT, offsetof(struct settings, failures), "N", "repeat up to N runs that fail (default: 0)"},
    {"prepare", 0, OPT_STRING, offsetof(struct settings, prepare), "COMMAND",
     "run this by the shell before each run; not measured"},
    {"format", 'f', OPT_STRING, offsetof(struct settings, format), "FORMAT",
     "text, markdown, json, junit or sarif (default: text)"},
    {"report", 0, OPT_STRING, offsetof(struct settings, out), "FILE",
     "write the report to FILE (default: standard output)"},
    {"keep", 0, OPT_STRING, offsetof(struct settings, keep), "DIR",
     "keep the measurements in DIR: base/N and new/N (default: removed)"},
    {"output", 'o', OPT_STRING, offsetof(struct settings, build.out), "DB",
     "also write a database of the difference (a single file if it ends in .html)"},
    {"event", 'e', OPT_LIST, offsetof(struct settings, record.events), "EVENT[@PERIOD|@fN]",
     "sample this event; the first one is compared by loops and functions (default: time)"},
    {0},
};
static const struct option_table tables[] = {{rows, &opt, "Options"}, {0}};

/* ---- the two commands -------------------------------------------------------------------------- */

struct commands {
    char **argv[COMPARE_SIDES];
    struct text_list base; /* the words of --base */
};

static int find_commands(struct commands *c, int argc, char **argv, struct err *err)
{
    static const char usage[] =
        "compare: usage: hpcview compare [options] -- BASE ARGS -- NEW ARGS, or --base 'BASE ARGS' -- NEW ARGS";
    int middle = 0;
    c->argv[COMPARE_NEW] = argv;
    if (opt.base) {
        if (str_words(opt.base, &c->base, "--base", err) < 0)
            return -1;
        c->argv[COMPARE_BASE] = c->base.items;
    } else {
        while (middle < argc && strcmp(argv[middle], "--") != 0)
            middle++;
        argv[middle] = NULL;
        c->argv[COMPARE_BASE] = argv;
        c->argv[COMPARE_NEW] = middle < argc ? argv + middle + 1 : argv + middle;
    }
    return c->argv[COMPARE_BASE][0] && c->argv[COMPARE_NEW][0] ? 0 : err_set(err, ERR_USAGE, "%s", usage);
}

static char *command_text(char **argv)
{
    struct buf b = {0};
    buf_str(&b, "");
    for (size_t i = 0; argv[i]; i++) {
        buf_str(&b, i ? " " : "");
        buf_safe(&b, argv[i]);
    }
    return b.bytes;
}

/* ---- one run ----------------------------------------------------------------------------------- */

struct runner {
    struct session *session;
    const struct commands *commands;
    const char *folder;
    uint32_t outputs[COMPARE_SIDES]; /* checksum of what the program printed */
    bool printed[COMPARE_SIDES], varies;
};

static const char *const side_names[] = {"base", "new"};

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double cpu_of_children(void)
{
    struct rusage r;
    getrusage(RUSAGE_CHILDREN, &r);
    return seconds_of(r.ru_utime) + seconds_of(r.ru_stime);
}

static double now(void *ctx)
{
    (void)ctx;
    return time_seconds();
}

/* From the first process's start to the last one's end, as they say: hpcview's own work after the run is not in it. */
static double wall_of(const char *measured, double outside)
{
    struct warnings *unheard = warnings_create();
    struct hpcprof *p;
    uint64_t start = UINT64_MAX, end = 0;
    if (hpcprof_read(measured, &p, unheard, NULL) == 0) {
        for (size_t i = 0; i < p->process_count; i++) {
            start = p->processes[i].start_ns < start ? p->processes[i].start_ns : start;
            end = p->processes[i].end_ns > end ? p->processes[i].end_ns : end;
        }
        hpcprof_free(p);
    }
    warnings_free(unheard);
    return start && start < end ? (double)(end - start) * 1e-9 : outside;
}

/* The program prints to a file until restore. */
static int redirect(const char *file, int saved[2], struct err *err)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    fflush(stdout);
    if (fd < 0)
        return err_errno(err, file, "cannot be made");
    for (int i = 0; i < 2; i++) {
        saved[i] = fcntl(1 + i, F_DUPFD_CLOEXEC, 3);
        dup2(fd, 1 + i);
    }
    close(fd);
    return 0;
}

static void restore(const int saved[2])
{
    for (int i = 0; i < 2; i++) {
        if (saved[i] < 0) { /* it was closed */
            close(1 + i);
            continue;
        }
        dup2(saved[i], 1 + i);
        close(saved[i]);
    }
}

static void note_output(struct runner *r, enum compare_side side, const char *file)
{
    struct filemap map;
    if (filemap_open(&map, file, NULL) < 0)
        return;
    uint32_t sum = crc32_bytes(0, map.bytes, map.len);
    filemap_release(&map);
    r->varies = r->varies || (r->printed[side] && r->outputs[side] != sum);
    r->outputs[side] = sum;
    r->printed[side] = true;
}

static int record(struct runner *r, enum compare_side side, const char *dir, const char *printed,
                  struct compare_run *run, struct err *err)
{
    static const struct record_request request = {.no_call_paths = true};
    int saved[2] = {-1, -1}, wait_status = 0;
    if (redirect(printed, saved, err) < 0)
        return -1;
    double began = time_seconds(), cpu = cpu_of_children();
    int status = record_program(r->session, &opt.record, dir, &request, r->commands->argv[side], &wait_status, err);
    run->seconds[COMPARE_CPU] = cpu_of_children() - cpu;
    run->seconds[COMPARE_WALL] = wall_of(dir, time_seconds() - began);
    restore(saved);
    run->failed = record_exit_status(wait_status) != 0;
    return status;
}

static int run_side(void *ctx, enum compare_side side, unsigned number, struct compare_run *run, struct err *err)
{
    struct runner *r = ctx;
    char *dir = mem_printf("%s/%s/%u", r->folder, side_names[side], number), *printed = mem_printf("%s.out", dir);
    struct stat st;
    int status = stat(dir, &st) == 0 ? dir_remove_tree(dir, err) : 0;
    if (status == 0 && opt.prepare && system(opt.prepare) != 0)
        status = err_set(err, ERR_SYSTEM, "--prepare: '%s' failed", opt.prepare);
    if (status == 0)
        status = record(r, side, dir, printed, run, err);
    if (status == 0 && !run->failed)
        note_output(r, side, printed);
    unlink(printed);
    if (status == 0 && number == 0)
        status = dir_remove_tree(dir, err);
    mem_free(printed);
    mem_free(dir);
    return status;
}

static void report_pair(void *ctx, unsigned pairs, unsigned most)
{
    const struct progress *p = &((struct runner *)ctx)->session->progress;
    if (p->report)
        p->report(p->ctx, "comparing", pairs, most + 1);
}

/* ---- what comes of it -------------------------------------------------------------------------- */

/* All runs, base and new of each pair in turn. */
static int build_experiment(struct session *s, const char *folder, size_t pairs, struct experiment **e)
{
    struct config *config = config_create();
    struct overrides none = {.no_quality = true};
    struct text_list names = {0};
    for (size_t i = 1; i <= pairs; i++)
        for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
            char *path = mem_printf("%s/%s/%zu", folder, side_names[side], i);
            config_add_measurement(config, path);
            *vec_push(&names) = mem_printf("%s%zu", side_names[side], i);
            mem_free(path);
        }
    *vec_push(&names) = NULL;
    int status = overrides_apply(&none, "compare", config, &s->err);
    if (status == 0) {
        config_name_runs(config, (const char *const *)names.items);
        status = experiment_build(config, &s->progress, e, s->warnings, &s->err);
    }
    config_free(config);
    names.count--;
    text_list_release(&names);
    return status;
}

/* The page: both folders are repetitions of a run. */
static int build_difference(struct session *s, const char *folder)
{
    static const char *const names[] = {"BASE", "NEW", NULL};
    struct config *config = config_create();
    struct overrides none = {.no_quality = false};
    opt.build.single_file = str_ends(opt.build.out, ".html");
    for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
        char *path = path_join(folder, side_names[side]);
        config_add_measurement(config, path);
        mem_free(path);
    }
    int status = overrides_apply(&none, "compare", config, &s->err);
    if (status == 0)
        status = config_compare(config, NULL, &s->err);
    if (status == 0) {
        config_name_runs(config, names);
        status = build_database(s, &opt.build, config, opt.build.out);
    }
    config_free(config);
    return status;
}

/* What else ran here, and where this may run. */
static char *machine_text(void)
{
    double load = 0;
    cpu_set_t set;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    getloadavg(&load, 1);
    return allowed && allowed < processors
               ? mem_printf("%ld processors, load average %.1f, pinned to %d of them", processors, load, allowed)
               : mem_printf("%ld processors, load average %.1f, not pinned", processors, load);
}

static int write_report(struct session *s, const struct compare_report *report, enum compare_format format)
{
    struct outfile *out;
    if (outfile_create(opt.out ? opt.out : "-", &out, &s->err) < 0)
        return -1;
    compare_write(report, format, out);
    return outfile_commit(out, &s->err);
}

static int report_all(struct session *s, const struct runner *r, const struct compare_options *options,
                      struct comparison *c, enum compare_format format)
{
    struct experiment *e = NULL;
    char *names[COMPARE_SIDES], *machine = machine_text();
    int status = build_experiment(s, r->folder, c->pairs.count, &e);
    if (status == 0)
        compare_find_scopes(e, c);
    for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
        names[side] = command_text(r->commands->argv[side]);
    struct compare_report report = {{names[0], names[1]}, machine, options, e, c};
    if (status == 0 && !r->varies && r->outputs[COMPARE_BASE] != r->outputs[COMPARE_NEW])
        warnings_add(s->warnings, "the two programs print different output");
    if (status == 0)
        status = write_report(s, &report, format);
    if (status == 0 && opt.build.out)
        status = build_difference(s, r->folder);
    for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
        mem_free(names[side]);
    mem_free(machine);
    experiment_free(e);
    return status;
}

/* ---- options ----------------------------------------------------------------------------------- */

static int take_options(struct compare_options *o, enum compare_format *format, struct err *err)
{
    char *end = NULL;
    double percent = opt.threshold ? strtod(opt.threshold, &end) : 2;
    if ((end && (end == opt.threshold || (*end && strcmp(end, "%") != 0))) || !(percent > 0 && percent <= 1000))
        return err_set(err, ERR_USAGE, "compare: --threshold needs a percentage above 0, not '%s'", opt.threshold);
    if (opt.clock && strcmp(opt.clock, "cpu") != 0 && strcmp(opt.clock, "wall") != 0)
        return err_set(err, ERR_USAGE, "compare: --clock must be cpu or wall, not '%s'", opt.clock);
    if (opt.pairs < 4)
        return err_set(err, ERR_USAGE, "compare: --pairs needs at least 4, not %u", opt.pairs);
    *o = (struct compare_options){.threshold = percent / 100,
                                  .clock = opt.clock && strcmp(opt.clock, "wall") == 0 ? COMPARE_WALL : COMPARE_CPU,
                                  .warm_up = opt.warm_up,
                                  .most = opt.pairs,
                                  .failures = opt.failures,
                                  .limit = opt.limit,
                                  .run = run_side,
                                  .now = now,
                                  .report = report_pair};
    if (compare_format_parse(opt.format ? opt.format : "text", format, err) < 0)
        return err_in(err, "compare");
    return 0;
}

/* A new folder of this process for the measurements, or the one of --keep, which must be new. */
static char *make_folder(struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    char *folder =
        opt.keep ? mem_strdup(opt.keep) : mem_printf("%s/hpcview-compare-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    bool made = opt.keep ? mkdir(folder, 0777) == 0 : mkdtemp(folder) != NULL;
    for (enum compare_side side = 0; made && side < COMPARE_SIDES; side++) {
        char *path = path_join(folder, side_names[side]);
        made = mkdir(path, 0777) == 0;
        mem_free(path);
    }
    if (made)
        return folder;
    err_errno(err, folder, "the folder for measurements cannot be made");
    mem_free(folder);
    return NULL;
}

static int run(struct session *s, int argc, char **argv)
{
    static const int statuses[] = {
        [COMPARE_NOT_WORSE] = 0, [COMPARE_WORSE] = STATUS_WORSE, [COMPARE_UNKNOWN] = STATUS_UNKNOWN};
    struct commands commands = {0};
    struct comparison c = {0};
    struct compare_options options;
    enum compare_format format;
    struct runner runner = {.session = s, .commands = &commands};
    char *folder = NULL;
    int status = take_options(&options, &format, &s->err);
    if (status == 0)
        status = find_commands(&commands, argc, argv, &s->err);
    if (status == 0 && !(folder = make_folder(&s->err)))
        status = -1;
    if (status == 0) {
        runner.folder = folder;
        options.ctx = &runner;
        status = compare_measure(&options, &c, &s->err);
    }
    if (status == 0)
        status = report_all(s, &runner, &options, &c, format);
    if (folder && !opt.keep)
        dir_remove_tree(folder, NULL);
    if (status == 0)
        status = statuses[c.verdict];
    comparison_release(&c);
    text_list_release(&commands.base);
    mem_free(folder);
    return status;
}

const struct command command_compare = {
    .name = "compare",
    .synopsis = "[options] -- BASE ARGS -- NEW ARGS",
    .summary = "run two programs in turn; is the second one slower, and where",
    .options = tables,
    .stops_at_operand = true,
    .run = run,
};
