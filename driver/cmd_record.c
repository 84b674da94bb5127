/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcview record: run a program and leave its measurement in a directory. */
#include "config.h"
#include "bloop/bloop.h"
#include "driver/record.h"
#include "metrics/metrics.h"
#include "phases/phases.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const struct option_row record_rows[] = {
    {"event", 'e', OPT_LIST, offsetof(struct record_options, events), "EVENT[@PERIOD|@fN]",
     "sample this event; repeatable; @fN: N samples a second; @BLOCK: events of a metric block"},
    {"sampler", 0, OPT_STRING, offsetof(struct record_options, sampler), "papi|ring",
     "by PAPI's signals or the kernel's ring buffer (default: ring if possible)"},
    {"call-paths", 0, OPT_FLAG, offsetof(struct record_options, call_paths), NULL,
     "record the call path of every sample (default)"},
    {"no-call-paths", 0, OPT_FLAG, offsetof(struct record_options, no_call_paths), NULL, "record addresses only"},
    {"phases", 0, OPT_FLAG, offsetof(struct record_options, phases), NULL, "also time barriers and waits"},
    {"watch", 0, OPT_LIST, offsetof(struct record_options, watch), "NAME|FILE:LINE|all",
     "with --phases: print a line for each episode of this barrier"},
    {"warn", 0, OPT_COUNT, offsetof(struct record_options, warn), "MS",
     "with --phases: warn of barrier times of MS and more (default: 1000; 0: never)"},
    {"watch-file", 0, OPT_STRING, offsetof(struct record_options, watch_file), "FILE",
     "write these lines to FILE (default: standard error)"},
    {"multiplex", 0, OPT_FLAG, offsetof(struct record_options, multiplex), NULL,
     "if events outnumber counters: share them in turn (estimates)"},
    {"repeat", 0, OPT_FLAG, offsetof(struct record_options, repeat), NULL,
     "if events outnumber counters: run the program once for each group"},
    {"delay", 0, OPT_SECONDS, offsetof(struct record_options, delay), "SECONDS",
     "start measuring this long after the start"},
    {"duration", 0, OPT_SECONDS, offsetof(struct record_options, duration), "SECONDS", "measure only for this long"},
    {"region", 0, OPT_STRING, offsetof(struct record_options, region), "NAME[@N]",
     "measure only in this region (hpcview.h); @N: the N-th time it is entered"},
    {"no-children", 0, OPT_FLAG, offsetof(struct record_options, no_children), NULL,
     "measure only the program, not the processes it starts"},
    {"only", 0, OPT_STRING, offsetof(struct record_options, only), "GLOB",
     "measure only processes whose program name matches"},
    {"ranks", 0, OPT_STRING, offsetof(struct record_options, ranks), "LIST", "measure only these ranks: 0,7,1000-1007"},
    {"sample-ranks", 0, OPT_COUNT, offsetof(struct record_options, sample_ranks), "N",
     "measure only N of the ranks, spread over all"},
    {"write-interval", 0, OPT_SECONDS, offsetof(struct record_options, write_interval), "SECONDS",
     "write results this often (default: 0.5, less often with many ranks)"},
    {"env", 0, OPT_LIST, offsetof(struct record_options, environment), "NAME",
     "store this environment variable in the measurement"},
    {"call-graph", 'g', OPT_OTHERS, 0, NULL, "call paths are recorded by default"},
    {"freq", 'F', OPT_OTHERS, 0, NULL, "'-e TASK-CLOCK@f99' takes 99 samples per second"},
    {"count", 'c', OPT_OTHERS, 0, NULL, "the period follows the event: -e EVENT@PERIOD"},
    {"pid", 'p', OPT_OTHERS, 0, NULL, "running processes cannot be measured; start the program with hpcview"},
    {"all-cpus", 'a', OPT_OTHERS, 0, NULL, "hpcview measures one program and the processes that it starts"},
    {0},
};

static struct settings {
    struct record_options record;
    struct string_list blocks;
    const char *out;
} opt = {.record = RECORD_DEFAULTS};

static const struct option_row rows[] = {
    {"output", 'o', OPT_STRING, offsetof(struct settings, out), "DIR",
     "measurement folder (default: hpcview-NAME.measurements)"},
    {"metrics", 0, OPT_LIST, offsetof(struct settings, blocks), "BLOCK",
     "the same as -e @BLOCK: cpi, cache, ... ('hpcview events --metrics' lists them)"},
    {0},
};

static char *recorder_path(const struct record_options *o)
{
    const char *named = getenv("HPCVIEW_RECORDER");
    return named && *named ? mem_strdup(named)
                           : driver_library_path(o->phases ? "libhpcview-record-phases.so" : "libhpcview-record.so");
}

void record_warn(const char *sentence)
{
    fprintf(stderr, "hpcview: warning: %s\n", sentence);
}

struct asked { /* the events to record, those of metric blocks included */
    struct text_list usable, events;
    bool of_block; /* some of them are a block's: users need not know how many counters these take */
    struct blocks *blocks;
};

static void asked_release(struct asked *a)
{
    text_list_release(&a->usable);
    text_list_release(&a->events);
    blocks_free(a->blocks);
}

static void add_usable(void *ctx, const struct hpcprof_event_info *e)
{
    struct asked *a = ctx;
    if (!e->why_not)
        *vec_push(&a->usable) = mem_strdup(e->name);
}

static void add_event(void *ctx, const char *event)
{
    struct asked *a = ctx;
    for (size_t i = 0; i < a->events.count; i++)
        if (str_starts(a->events.items[i], event) && strchr("@", a->events.items[i][strlen(event)]))
            return;
    *vec_push(&a->events) = mem_strdup(event);
}

static int add_block_events(struct asked *a, const char *block, struct err *err)
{
    if (!a->blocks) {
        char *folder = driver_share_path("metrics");
        int status = blocks_read(folder, &a->blocks, err);
        a->of_block = true;
        mem_free(folder);
        if (status < 0 || hpcprof_list_events(false, NULL, add_usable, a, err) < 0)
            return -1;
        *vec_push(&a->usable) = NULL;
    }
    return blocks_events(a->blocks, block, (const char *const *)a->usable.items, add_event, a, err);
}

static int ask_event(struct asked *a, const char *event, struct err *err)
{
    if (event[0] != '@')
        *vec_push(&a->events) = mem_strdup(event);
    else if (add_block_events(a, event + 1, err) < 0)
        return err_in(err, "-e %s", event);
    return 0;
}

static int ask(struct asked *a, const struct record_options *o, const struct record_request *request, struct err *err)
{
    for (size_t i = 0; request->events && request->events[i]; i++)
        if (ask_event(a, request->events[i], err) < 0)
            return -1;
    for (size_t i = 0; !request->events && i < o->events.count; i++)
        if (ask_event(a, o->events.items[i], err) < 0)
            return -1;
    for (size_t i = 0; request->blocks && i < request->blocks->count; i++)
        if (add_block_events(a, request->blocks->items[i], err) < 0)
            return err_in(err, "--metrics");
    *vec_push(&a->events) = NULL;
    return 0;
}

/* The command line takes precedence. */
static bool wants_call_paths(const struct record_options *o, const struct record_request *request)
{
    return o->call_paths || (!o->no_call_paths && !request->no_call_paths);
}

int record_region(const char *text, char **name, unsigned *time, struct err *err)
{
    const char *at = text ? strrchr(text, '@') : NULL;
    char *end;
    *name = NULL;
    *time = 0;
    if (!text)
        return 0;
    unsigned long n = at ? strtoul(at + 1, &end, 10) : 0;
    if (at == text || !*text || (at && (*end || n == 0 || n > UINT32_MAX || at[1] == '-')))
        return err_set(err, ERR_USAGE, "--region needs NAME or NAME@N with N from 1, not '%s'", text);
    *name = mem_strndup(text, at ? (size_t)(at - text) : strlen(text));
    *time = (unsigned)n;
    return 0;
}

/* A lack of space for it is not reported: it only matters to those who rebuild the measured program. */
static void keep_functions(const char *measured, const char *file)
{
    measurement_keep_functions(measured, file, NULL);
}

static enum hpcprof_repeat repeat(const struct record_options *o, bool of_block)
{
    return o->repeat ? HPCPROF_REPEAT : of_block && !o->multiplex ? HPCPROF_AS_NEEDED : HPCPROF_ONCE;
}

/* HPCVIEW_COUNTERS: as if the processor had no more. */
static unsigned counters(void)
{
    const char *n = getenv("HPCVIEW_COUNTERS");
    return n ? (unsigned)strtoul(n, NULL, 10) : 0;
}

static const char *locate(void *symbolizer, const char *module, uint64_t address)
{
    return bloop_symbolize(symbolizer, module, address);
}

static int record_events(struct session *s, const struct record_options *o, const char *dir, const struct asked *asked,
                         bool call_paths, char **argv, int *wait_status, struct err *err)
{
    struct bloop_symbolizer *symbolizer = bloop_symbolizer_create();
    struct string_list watch = string_list_copy(&o->watch), environment = string_list_copy(&o->environment);
    struct phases_barrier_log log = {
        .out = stderr, .watched = string_list_array(&watch), .locate = locate, .locate_ctx = symbolizer};
    char *preload = recorder_path(o), *region;
    char *ranks = o->sample_ranks ? mem_printf("sample %u", o->sample_ranks) : o->ranks ? mem_strdup(o->ranks) : NULL;
    unsigned region_time;
    int status = record_region(o->region, &region, &region_time, err);
    if (status == 0 && o->region && o->delay > 0)
        status = err_set(err, ERR_USAGE, "--region and --delay exclude each other");
    if (status == 0 && o->watch_file && !(log.out = fopen(o->watch_file, "we")))
        status = err_errno(err, o->watch_file, "opening the file of --watch-file");
    struct hpcprof_record_options options = {.out_dir = dir,
                                             .events = (const char *const *)asked->events.items,
                                             .preload = preload,
                                             .sampler = o->sampler,
                                             .call_paths = call_paths,
                                             .phases = o->phases,
                                             .watch = o->watch.count > 0,
                                             .warn_ms = o->warn,
                                             .notice = phases_barrier_log_line,
                                             .notice_ctx = &log,
                                             .multiplex = o->multiplex,
                                             .repeat = repeat(o, asked->of_block),
                                             .counters = counters(),
                                             .follow_children = !o->no_children,
                                             .delay = o->delay,
                                             .duration = o->duration,
                                             .only_processes = o->only,
                                             .ranks = ranks,
                                             .write_interval = o->write_interval,
                                             .region = region,
                                             .region_time = region_time,
                                             .say = record_warn,
                                             .ended = keep_functions,
                                             .environment = string_list_array(&environment)};
    if (status == 0)
        status = hpcprof_record(&options, argv, wait_status, s->warnings, err);
    if (log.out && log.out != stderr)
        fclose(log.out);
    phases_barrier_log_release(&log);
    bloop_symbolizer_free(symbolizer);
    vec_release(&watch);
    vec_release(&environment);
    mem_free(region);
    mem_free(ranks);
    mem_free(preload);
    return status;
}

int record_program(struct session *s, const struct record_options *o, const char *dir,
                   const struct record_request *request, char **argv, int *wait_status, struct err *err)
{
    struct asked asked = {0};
    if (o->call_paths && o->no_call_paths)
        return err_set(err, ERR_USAGE, "--call-paths and --no-call-paths exclude each other");
    if (o->ranks && o->sample_ranks)
        return err_set(err, ERR_USAGE, "--ranks and --sample-ranks exclude each other");
    int status = ask(&asked, o, request, err);
    if (status == 0)
        status = record_events(s, o, dir, &asked, wants_call_paths(o, request), argv, wait_status, err);
    asked_release(&asked);
    return status;
}

int record_exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Of the program that this process started; the others of its ranks were started by theirs. -1: it is not one of several. */
static int own_rank(const struct hpcprof *p)
{
    for (uint32_t i = 0; i < p->process_count; i++)
        if (p->processes[i].parent_pid == (uint32_t)getpid())
            return p->processes[i].rank;
    return -1;
}

static bool has_region(const struct hpcprof *p, const char *wanted)
{
    for (size_t i = 1; i < p->region_count; i++) {
        const char *name = strtab_get(p->strings, p->regions[i].name);
        if (str_starts(wanted, name) && strchr("@", wanted[strlen(name)]))
            return true;
    }
    return false;
}

static void warn_empty(struct session *s, const struct hpcprof *p, const struct record_options *o, double seconds)
{
    uint32_t e = 0;
    while (e < p->event_count && p->events[e].period == 0)
        e++;
    if (o->region && !has_region(p, o->region))
        warnings_add(s->warnings,
                     "no samples: region '%s' was never entered; hpcview_region_begin(\"NAME\") in the "
                     "program begins a region (hpcview.h)",
                     o->region);
    else if (e < p->event_count)
        warnings_add(s->warnings,
                     "no samples in %.3g s of CPU time; run the program longer, or sample more often than "
                     "every %llu %s: -e EVENT@PERIOD",
                     seconds, (unsigned long long)p->events[e].period, strtab_get(p->strings, p->events[e].unit));
}

/* A program that was started is worth a line: how much is known of it, or why nothing is. */
static bool report(struct session *s, const struct hpcprof *p, const struct record_options *o, const char *dir)
{
    uint64_t samples = 0, cpu_ns = 0;
    for (size_t i = 0; i < p->count_count; i++)
        samples += p->counts[i].samples;
    for (size_t i = 0; i < p->thread_count; i++)
        cpu_ns += p->threads[i].cpu_ns;
    if (samples == 0) {
        warn_empty(s, p, o, (double)cpu_ns * 1e-9);
        return false;
    }
    fprintf(stderr, "hpcview: %llu sample%s in ", (unsigned long long)samples, samples == 1 ? "" : "s");
    if (cpu_ns)
        fprintf(stderr, "%.3g s of CPU time, ", (double)cpu_ns * 1e-9);
    fprintf(stderr, "%zu thread%s", p->thread_count, p->thread_count == 1 ? "" : "s");
    if (p->process_count > 1)
        fprintf(stderr, " of %zu processes", p->process_count);
    fprintf(stderr, ": %s\n", dir);
    return true;
}

/* Parallel programs leave many files, and each rank comes here: it reads few. */
bool record_report(struct session *s, const struct record_options *o, const char *dir)
{
    enum { FILES_MOST = 16 };
    struct text_list files = {0};
    struct hpcprof *p = NULL;
    struct warnings *later = warnings_create(); /* commands that read the measurement give them */
    bool speak = dir_list(dir, HPCPROF_SUFFIX, "reading the folder", &files, NULL) == 0 && files.count > 0;
    if (speak && files.count <= FILES_MOST && hpcprof_read(dir, &p, later, NULL) == 0) {
        hpcprof_warn_unsampled(p, s->warnings);
        speak = own_rank(p) < 0 ? report(s, p, o, dir) : own_rank(p) == 0;
        hpcprof_free(p);
    }
    text_list_release(&files);
    warnings_free(later);
    return speak;
}

static int run(struct session *s, int argc, char **argv)
{
    int wait_status;
    if (argc == 0)
        return err_set(&s->err, ERR_USAGE, "record: usage: hpcview record [options] -- PROGRAM ARGS");
    char *dir = opt.out ? mem_strdup(opt.out) : driver_measurement_dir(argv[0]);
    struct record_request request = {.blocks = &opt.blocks};
    bool speaks = session_speaks(s);
    int status = record_program(s, &opt.record, dir, &request, argv, &wait_status, &s->err);
    if (status == 0 && speaks && record_report(s, &opt.record, dir))
        fprintf(stderr, "hpcview: next: hpcview print %s (or: diagnose, build)\n", dir);
    mem_free(dir);
    return status < 0 ? -1 : record_exit_status(wait_status);
}

static const struct option_table tables[] = {
    {rows, &opt, "Options"}, {record_rows, &opt.record, "What to measure"}, {0}};

const struct command command_record = {
    .name = "record",
    .synopsis = "[options] [--] PROGRAM ARGS",
    .summary = "run a program and measure where its time goes",
    .options = tables,
    .stops_at_operand = true,
    .run = run,
};
