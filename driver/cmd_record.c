/* hpcview record: run a program and leave its measurement in a directory. */
#include "config.h"
#include "driver/lines.h"
#include "driver/record_options.h"
#include "driver/told.h"
#include "metrics/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    struct string_list events, environment, blocks, watch;
    const char *watch_file;
    unsigned warn;
    const char *sampler, *only, *region;
    bool call_paths, no_call_paths, phases, multiplex, repeat, no_children;
    double delay, duration;
} opt = {.warn = 1000};

const struct option_row record_option_rows[] = {
    {"event", 'e', OPT_LIST, &opt.events, "EVENT[@PERIOD|@fN]",
     "sample this event (several: give it again); @fN: N samples a second; @BLOCK: what a metric block wants"},
    {"sampler", 0, OPT_STRING, &opt.sampler, "papi|ring",
     "by PAPI's signals or the kernel's ring buffer (default: ring where it works)"},
    {"call-paths", 0, OPT_FLAG, &opt.call_paths, NULL,
     "with each sample, who called whom: so it is without asking, unless a configuration says no"},
    {"no-call-paths", 0, OPT_FLAG, &opt.no_call_paths, NULL, "leave that out"},
    {"phases", 0, OPT_FLAG, &opt.phases, NULL, "barriers and waits: who waits where, how long, and for whom"},
    {"watch", 0, OPT_LIST, &opt.watch, "NAME|FILE:LINE|all",
     "with --phases, a line for each episode of this barrier while the program runs"},
    {"warn", 0, OPT_COUNT, &opt.warn, "MS", "with --phases, warn of barrier times so long (1000); 0: never"},
    {"watch-file", 0, OPT_STRING, &opt.watch_file, "FILE", "where these lines go (standard error)"},
    {"multiplex", 0, OPT_FLAG, &opt.multiplex, NULL,
     "more events than counters: share them in turn; results are estimates"},
    {"repeat", 0, OPT_FLAG, &opt.repeat, NULL, "more events than counters: run the program once for each group"},
    {"delay", 0, OPT_SECONDS, &opt.delay, "SECONDS", "begin to measure that long after the start"},
    {"duration", 0, OPT_SECONDS, &opt.duration, "SECONDS", "measure for that long only"},
    {"region", 0, OPT_STRING, &opt.region, "NAME[@N]",
     "measure only in this region of the program (hpcview.h); @N: the N-th time it is entered"},
    {"no-children", 0, OPT_FLAG, &opt.no_children, NULL, "the program alone, not the processes it starts"},
    {"only", 0, OPT_STRING, &opt.only, "GLOB", "only processes whose program's name matches"},
    {"env", 0, OPT_LIST, &opt.environment, "NAME", "note this environment variable in the measurement"},
    {0},
};

static const char *out_dir;

static const struct option_row rows[] = {
    {"output", 'o', OPT_STRING, &out_dir, "DIR", "the measurement directory (default: NAME.measurements)"},
    {"metrics", 0, OPT_LIST, &opt.blocks, "BLOCK",
     "sample what this metric block wants: cpi, cache, ... ('hpcview events --metrics' lists them)"},
    {0},
};

/* Of the folder above the command's, what is called `name`; NULL: there is nothing to be read. */
static char *beside_command(const char *name)
{
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(exe, '/');
    char *beside = slash ? mem_printf("%.*s/../%s", (int)(slash - exe), exe, name) : NULL;
    if (beside && access(beside, R_OK) == 0)
        return beside;
    mem_free(beside);
    return NULL;
}

char *driver_library_path(const char *name)
{
    char *built = mem_printf(".libs/%s", name), *path = beside_command(built);
    mem_free(built);
    return path ? path : mem_printf("%s/%s", PKGLIBDIR, name);
}

char *driver_machines_dir(void)
{
    const char *named = getenv("HPCVIEW_MACHINES");
    return named && *named ? mem_strdup(named) : driver_share_path("machines");
}

char *driver_share_path(const char *name)
{
    const char *named = getenv("HPCVIEW_SHARE");
    if (named && *named)
        return path_join(named, name);
    char *built = mem_printf("share/%s", name), *tree = beside_command("config.status");
    char *path = tree ? beside_command(built) : NULL;
    mem_free(tree);
    mem_free(built);
    return path ? path : mem_printf("%s/%s", PKGDATADIR, name);
}

static char *recorder_path(void)
{
    const char *named = getenv("HPCVIEW_RECORDER");
    return named && *named ? mem_strdup(named)
                           : driver_library_path(opt.phases ? "libhpcview-record-phases.so" : "libhpcview-record.so");
}

static void say(const char *sentence)
{
    fprintf(stderr, "hpcview: warning: %s\n", sentence);
}

struct asked { /* the events to record, those of metric blocks included */
    struct text_list usable, events;
    bool of_block; /* some of them are a block's: how many counters these take, nobody who asks has to know */
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

static int ask(struct asked *a, const struct record_wish *wish, struct err *err)
{
    const struct string_list *events = wish->events ? wish->events : &opt.events, *blocks = wish->blocks;
    for (size_t i = 0; i < events->count; i++) {
        const char *event = events->items[i];
        if (event[0] != '@')
            *vec_push(&a->events) = mem_strdup(event);
        else if (add_block_events(a, event + 1, err) < 0)
            return err_in(err, "-e %s", event);
    }
    for (size_t i = 0; i < blocks->count; i++)
        if (add_block_events(a, blocks->items[i], err) < 0)
            return err_in(err, "--metrics");
    *vec_push(&a->events) = NULL;
    return 0;
}

/* The command line has the last word. */
static bool wants_call_paths(const struct record_wish *wish)
{
    return opt.call_paths || (!opt.no_call_paths && !wish->no_call_paths);
}

int record_region(const char *text, struct hpcprof_record_options *o, struct err *err)
{
    static struct buf name;
    const char *at = text ? strrchr(text, '@') : NULL;
    char *end;
    buf_release(&name);
    o->region = NULL;
    o->region_time = 0;
    if (!text)
        return 0;
    unsigned long n = at ? strtoul(at + 1, &end, 10) : 0;
    if (at == text || !*text || (at && (*end || n == 0 || n > UINT32_MAX || at[1] == '-')))
        return err_set(err, ERR_USAGE, "--region wants NAME or NAME@N with N from 1, not '%s'", text);
    buf_add(&name, text, at ? (size_t)(at - text) : strlen(text));
    buf_str(&name, "");
    o->region = name.bytes;
    o->region_time = (unsigned)n;
    return 0;
}

/* That there may be no room for it is no news: it is for those who rebuild what they measured. */
static void keep_functions(const char *measured, const char *file)
{
    measurement_keep_functions(measured, file, NULL);
}

static enum hpcprof_repeat repeat(bool of_block)
{
    return opt.repeat ? HPCPROF_REPEAT : of_block && !opt.multiplex ? HPCPROF_AS_NEEDED : HPCPROF_ONCE;
}

/* HPCVIEW_COUNTERS: as if the processor had no more. */
static unsigned counters(void)
{
    const char *n = getenv("HPCVIEW_COUNTERS");
    return n ? (unsigned)strtoul(n, NULL, 10) : 0;
}

static int record_events(struct session *s, const char *dir, const struct asked *asked, bool call_paths, char **argv,
                         int *wait_status)
{
    struct told told = {stderr, string_list_array(&opt.watch)};
    if (opt.watch_file && !(told.out = fopen(opt.watch_file, "we")))
        return err_errno(&s->err, opt.watch_file, "opening the file of --watch-file");
    char *preload = recorder_path();
    struct hpcprof_record_options options = {.out_dir = dir,
                                             .events = (const char *const *)asked->events.items,
                                             .preload = preload,
                                             .sampler = opt.sampler,
                                             .call_paths = call_paths,
                                             .phases = opt.phases,
                                             .watch = opt.watch.count > 0,
                                             .warn_ms = opt.warn,
                                             .told = told_line,
                                             .told_ctx = &told,
                                             .multiplex = opt.multiplex,
                                             .repeat = repeat(asked->of_block),
                                             .counters = counters(),
                                             .follow_children = !opt.no_children,
                                             .delay = opt.delay,
                                             .duration = opt.duration,
                                             .only_processes = opt.only,
                                             .say = say,
                                             .ended = keep_functions,
                                             .environment = string_list_array(&opt.environment)};
    int status = record_region(opt.region, &options, &s->err);
    if (status == 0 && opt.region && opt.delay > 0)
        status = err_set(&s->err, ERR_USAGE, "--region and --delay exclude each other");
    if (status == 0)
        status = hpcprof_record(&options, argv, wait_status, s->warnings, &s->err);
    mem_free(preload);
    if (told.out != stderr)
        fclose(told.out);
    lines_release();
    return status;
}

int record_program(struct session *s, const char *dir, const struct record_wish *wish, char **argv, int *wait_status)
{
    struct asked asked = {0};
    if (opt.call_paths && opt.no_call_paths)
        return err_set(&s->err, ERR_USAGE, "--call-paths and --no-call-paths: only one of them can be meant");
    int status = ask(&asked, wish, &s->err);
    if (status == 0)
        status = record_events(s, dir, &asked, wants_call_paths(wish), argv, wait_status);
    asked_release(&asked);
    return status;
}

int record_exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

char *driver_measurement_dir(const char *program)
{
    struct stat st;
    char *dir = mem_printf("%s.measurements", path_base(program));
    for (unsigned i = 2; lstat(dir, &st) == 0; i++) {
        mem_free(dir);
        dir = mem_printf("%s.measurements-%u", path_base(program), i);
    }
    return dir;
}

/* What later commands say each time they read the measurement, said at once where that is cheap: parallel programs
   leave many files, and each rank comes here. */
static void warn_unsampled(struct session *s, const char *dir)
{
    enum { FILES_MOST = 16 };
    struct hpcprof *p;
    struct dirent **list;
    int n = scandir(dir, &list, NULL, NULL);
    for (int i = 0; i < n; i++)
        free(list[i]);
    if (n < 0)
        return;
    free(list);
    struct warnings *later = warnings_create();
    if (n - 2 <= FILES_MOST && hpcprof_read(dir, &p, later, NULL) == 0) {
        hpcprof_warn_unsampled(p, s->warnings);
        hpcprof_free(p);
    }
    warnings_free(later);
}

static int run(struct session *s, int argc, char **argv)
{
    int wait_status;
    if (argc == 0)
        return err_set(&s->err, ERR_USAGE, "record: which program? hpcview record [options] -- PROGRAM ARGS");
    char *dir = out_dir ? mem_strdup(out_dir) : driver_measurement_dir(argv[0]);
    struct record_wish wish = {.blocks = &opt.blocks};
    int status = record_program(s, dir, &wish, argv, &wait_status);
    if (status == 0)
        warn_unsampled(s, dir);
    if (status == 0 && !out_dir)
        fprintf(stderr, "hpcview: the measurement is in %s\n", dir);
    mem_free(dir);
    return status < 0 ? -1 : record_exit_status(wait_status);
}

static const struct option_row *const tables[] = {rows, record_option_rows, NULL};

const struct command command_record = {
    .name = "record",
    .synopsis = "[options] [--] PROGRAM ARGS",
    .summary = "run a program and measure where its time goes",
    .options = tables,
    .stops_at_operand = true,
    .run = run,
};
