/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole command inside this program, given its words: tests/driver/commands.cases (tests/cases.h). A case has
 *
 *     drawing     of measurements, as read by tests/print/make_measurement.c
 *     do          line by line, in a folder of the case's own; 'blanks in' quotes, \n in them is a newline:
 *                   file NAME TEXT, program NAME, dir NAME, copy SOURCE NAME, measure NAME, set VARIABLE [VALUE]
 *                   hpcview WORDS, as NAME WORDS (the command by that name), first hpcview WORDS (its first line), ls,
 *                   show NAME
 *     said        all output: standard error, then standard output; a status other than 0
 *
 * Functions that would start a program, query this machine, or write a page print their arguments instead (local.mk
 * replaces the real functions with those below). A program's name determines how it ends: fails, exit3, kill9; gone
 * leaves no measurement; others return 0.
 */
#include "config.h"

#include "bloop/bloop.h"
#include "driver/driver.h"
#include "htmlgen/htmlgen.h"
#include "metrics/join/join.h"
#include "mhsim/mhsim.h"
#include "quality/quality.h"
#include "tests/cases.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#undef main
int command_main(int argc, char **argv);
#define main make_measurement
int make_measurement(int argc, char **argv);
#include "tests/print/make_measurement.c"
#undef main

#undef bloop_close
#undef bloop_open
#undef bloop_scopes_all
#undef clock_gettime
#undef experiment_build
#undef filemap_check
#undef htmlgen_write
int bloop_open(const char *path, const struct bloop_options *, struct bloop_binary **, struct warnings *, struct err *);
void bloop_close(struct bloop_binary *);
int clock_gettime(clockid_t, struct timespec *);
int experiment_build(const struct config *, const struct progress *, struct experiment **, struct warnings *,
                     struct err *);
int filemap_check(struct err *);
int htmlgen_write(const struct experiment *, const char *path, const struct htmlgen_options *, struct warnings *,
                  struct err *);

static char *scratch, *work; /* of the test; of the case, in it */
static char *programs;       /* PATH as it was */

/* ---- fakes of programs and machines ------------------------------------------------------------------------------ */

static void say_words(const char *what, const char *const *words)
{
    if (!words || !words[0])
        return;
    fprintf(stderr, " %s", what);
    for (size_t i = 0; words[i]; i++)
        fprintf(stderr, "%c%s", i ? ' ' : '=', words[i]);
    fputc('\n', stderr);
}

static const char *said(const char *text)
{
    return text ? text : "-";
}

static int end_of(char *const *argv, int *status, struct err *err)
{
    const char *name = path_base(argv[0]);
    *status = str_starts(name, "exit") ? atoi(name + 4) << 8 : str_starts(name, "kill") ? atoi(name + 4) : 0;
    return strcmp(name, "fails") == 0 ? err_set(err, ERR_SYSTEM, "%s: cannot be started", name) : 0;
}

/* Creates the folder of a program's measurement, with the case's drawing in it. */
static void leave_measurement(const char *dir, const char *program)
{
    char *drawn = path_join(work, "drawn.hpcprof"), *own = path_join(dir, "1.hpcprof");
    struct filemap map;
    if (strcmp(path_base(program), "gone") != 0 && dir_make(dir, NULL) == 0 && filemap_open(&map, drawn, NULL) == 0) {
        FILE *f = fopen(own, "w");
        if (!f || fwrite(map.bytes, 1, map.len, f) != map.len || fclose(f) != 0)
            exit(99);
        filemap_release(&map);
    }
    mem_free(drawn);
    mem_free(own);
}

int fake_record(const struct hpcprof_record_options *o, char *const *argv, int *status, struct warnings *w,
                struct err *err)
{
    char here[PATH_MAX],
        line[] = "E\t0\tpthread_barrier_wait\tstep\t/nowhere/prog\t16\t7\t4\t1500000\t250000\tthread 3";
    fprintf(stderr, "record %s in %s with %s, phases %d, paths %d, sampler %s\n", o->out_dir, getcwd(here, sizeof here),
            path_base(o->preload), o->phases, o->call_paths, said(o->sampler));
    say_words("program", (const char *const *)argv);
    say_words("events", o->events);
    say_words("environment", o->environment);
    fprintf(stderr, " watch %d, warn %u, multiplex %d, repeat %d, counters %u, children %d, only %s\n", o->watch,
            o->warn_ms, o->multiplex, o->repeat, o->counters, o->follow_children, said(o->only_processes));
    fprintf(stderr, " delay %g, duration %g, region %s, time %u, threads %s, X %s\n", o->delay, o->duration,
            said(o->region), o->region_time, said(getenv("OMP_NUM_THREADS")), said(getenv("X")));
    o->say("this is said meanwhile");
    if (o->phases)
        o->notice(o->notice_ctx, line);
    if (end_of(argv, status, err) < 0)
        return -1;
    leave_measurement(o->out_dir, argv[0]);
    if (o->ended)
        o->ended("what was measured", "a file of it");
    warnings_add(w, "this is warned of");
    return 0;
}

int fake_list_events(bool all, const char *pattern, void (*each)(void *, const struct hpcprof_event_info *), void *ctx,
                     struct err *err)
{
    static const struct hpcprof_event_info events[] = {
        {"perf::TASK-CLOCK", "time on processors", "ns", NULL, 4000000, HPCPROF_BY_RING | HPCPROF_BY_PAPI},
        {"PAPI_TOT_CYC", "Total cycles. More of it", "cycles", NULL, 1000003, HPCPROF_BY_RING},
        {"PAPI_TOT_INS", "Instructions completed\nand more. Of it", "instructions", NULL, 0, HPCPROF_BY_PAPI},
        {"PAPI_L2_DCM",
         "level 2 data cache misses, of all that there are in this machine, whatever it is that makes them, in all",
         "misses", NULL, 10007, HPCPROF_BY_TIMER},
        {"PAPI_FP_OPS", "", "", "there is no such counter", 7, 0},
    };
    if (pattern && strcmp(pattern, "broken") == 0)
        return err_set(err, ERR_SYSTEM, "events cannot be listed");
    for (size_t i = 0; i < ARRAY_SIZE(events); i++)
        if ((all || !events[i].why_not) && (!pattern || strstr(events[i].name, pattern)))
            each(ctx, &events[i]);
    return 0;
}

int fake_keep_functions(const char *measured, const char *file, struct err *err)
{
    (void)err;
    fprintf(stderr, " functions of %s in %s are kept\n", measured, file);
    return 0;
}

int fake_machine_here(const char *sys, struct machine_memory *machine, struct err *err)
{
    const char *known = getenv("MACHINE");
    char *dir = path_join(scratch, "share/machines");
    int status = machine_memory_read("year-2001", dir, machine, err);
    mem_free(dir);
    if (strcmp(sys, "/sys") != 0 || (known && strcmp(known, "broken") == 0))
        return err_set(err, ERR_SYSTEM, "the machine cannot be read");
    return status < 0 ? -1 : !known;
}

int fake_quality_here(const char *dir, const char *cpuinfo, bool aarch64, struct machine_core **machine,
                      struct err *err)
{
    fprintf(stderr, "the core of %s, %d, in %s\n", cpuinfo, aarch64, path_base(dir));
    return machine_core_read("skylake-server", dir, machine, err);
}

/* ---- binaries: NAME.bin has the structure of NAME.bin.xml -------------------------------------------------------------------- */

static struct bloop_binary *const of_case = (struct bloop_binary *)&of_case;
static const char *binary_path;

int fake_open(const char *path, const struct bloop_options *o, struct bloop_binary **b, struct warnings *w,
              struct err *err)
{
    if (!str_ends(path, ".bin"))
        return bloop_open(path, o, b, w, err);
    fprintf(stderr, "open %s with %u threads, functions %s, sources %s, progress %d\n", path, o->threads,
            said(o->function_glob), said(o->source_glob), o->progress != NULL);
    say_words("debug files in", o->debug_dirs);
    binary_path = path;
    *b = of_case;
    return 0;
}

void fake_close(struct bloop_binary *b)
{
    if (b != of_case)
        bloop_close(b);
    else
        fprintf(stderr, "close it\n");
}

int fake_scopes_all(struct bloop_binary *b, struct scope_tree **tree, struct warnings *w, struct err *err)
{
    char *structure = mem_printf("%s.xml", binary_path);
    if (getenv("WARNED"))
        warnings_add(w, "some of it was not understood");
    int status = b == of_case ? scope_tree_read(structure, tree, w, err) : -1;
    fprintf(stderr, "all scopes of it\n");
    mem_free(structure);
    return status;
}

const char *fake_build_id(const struct bloop_binary *b)
{
    return b == of_case ? "abcdef" : "";
}

bool fake_is_aarch64(const struct bloop_binary *b)
{
    return b == of_case && getenv("AARCH64");
}

char *fake_cache_path(const struct bloop_binary *b, const char *dir, const char *version)
{
    if (strncmp(version, PACKAGE_VERSION "-", strlen(PACKAGE_VERSION) + 1) != 0 || b != of_case)
        fprintf(stderr, "another version, or binary\n");
    return mem_printf("%s/%s", dir, fake_build_id(b));
}

struct fake_stats fake_stats(const struct bloop_binary *b)
{
    (void)b;
    return (struct fake_stats){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
}

int fake_analyze(struct bloop_binary *b, const struct scope_tree *tree, const struct quality_options *o,
                 struct quality_report **report, struct warnings *w, struct err *err)
{
    (void)w;
    fprintf(stderr, "analyze %d with %zu scopes, a machine %d, all loops %d, llvm %s %s\n", b == of_case,
            tree->scope_count, o->machine != NULL, !o->wanted, o->tools ? o->tools->mc : "-",
            o->tools ? o->tools->mca : "-");
    *report = (struct quality_report *)&of_case;
    return getenv("WARNED") ? err_set(err, ERR_FORMAT, "it cannot be judged") : 0;
}

void fake_quality_free(struct quality_report *report)
{
    (void)report;
}

void fake_quality_write(const struct quality_report *report, enum quality_format format, struct outfile *out)
{
    outfile_printf(out, "report %d in format %d\n", report != NULL, format);
}

/* ---- a simulated memory --------------------------------------------------------------------------------------------------- */

/* The same for any program: one variable with an address, one in a frame. */
void fake_variables(struct bloop_binary *b, struct bloop_variables *v, struct warnings *w)
{
    (void)b;
    (void)w;
    *vec_push(v) = (struct bloop_variable){.name = mem_strdup("COMMON /area/ flux"), .at = 0x4000, .bytes = 0x80};
    *vec_push(v) = (struct bloop_variable){.name = mem_strdup("solve::work"),
                                           .in_frame = true,
                                           .at = -0x90,
                                           .bytes = 0x88,
                                           .procedure = {0x1000, 0x1100},
                                           .code = {0x1010, 0x10f0}};
}

int fake_simulate(const struct mhsim_run_options *o, char *const *argv, int *status, struct warnings *w,
                  struct err *err)
{
    struct mhsim_variables found = {0};
    fprintf(stderr, "simulate %s with %s and %s, qemu %s\n", o->out_dir, path_base(o->plugin), path_base(o->heap),
            said(o->qemu));
    say_words("program", (const char *const *)argv);
    say_words("functions", o->functions);
    fprintf(stderr, " delay %llu, window %llu, burst %llu of %llu after %llu, sets 1/%u, classify %d, levels %u\n",
            (unsigned long long)o->delay, (unsigned long long)o->window, (unsigned long long)o->burst,
            (unsigned long long)o->period, (unsigned long long)o->warm_up, o->simulator.sample_sets,
            o->simulator.classify, o->machine->level_count);
    fprintf(stderr, " region %s, time %u\n", said(o->region), o->region_time);
    o->variables("/nowhere/program", &found, w);
    fprintf(stderr, " variables of what is not there: %zu\n", found.count);
    o->variables("/proc/self/exe", &found, w);
    for (size_t i = 0; i < found.count; i++)
        fprintf(stderr, " variable %s %#llx-%#llx known in %#llx-%#llx at %lld-%lld\n", found.items[i].name,
                (unsigned long long)found.items[i].from, (unsigned long long)found.items[i].to,
                (unsigned long long)found.items[i].code_from, (unsigned long long)found.items[i].code_to,
                (long long)found.items[i].lo, (long long)found.items[i].hi);
    vec_release(&found);
    return end_of(argv, status, err);
}

int fake_gethostname(char *name, size_t size)
{
    snprintf(name, size, "node7");
    return 0;
}

/* $OPENER succeeds; other programs end as their names say (exitN, signalN), or do not exist. */
int fake_execlp(const char *program, const char *arg0, ...)
{
    va_list rest;
    va_start(rest, arg0);
    const char *address = va_arg(rest, const char *);
    va_end(rest);
    dprintf(STDOUT_FILENO, "%s%s opens %s\n", program, strcmp(program, arg0) == 0 ? "" : " by another name", address);
    if (getenv("OPENER") && strcmp(program, getenv("OPENER")) == 0)
        _exit(0);
    if (str_starts(program, "exit"))
        _exit(atoi(program + 4));
    if (str_starts(program, "signal"))
        kill(getpid(), atoi(program + 6));
    return -1;
}

int fake_isatty(int fd)
{
    (void)fd;
    return getenv("TERMINAL") != NULL;
}

/* Each reading advances the clock: on a terminal by half a second, otherwise by 7. */
int fake_clock(clockid_t clock, struct timespec *t)
{
    static long tenths = 70;
    if (clock != CLOCK_MONOTONIC)
        return clock_gettime(clock, t);
    *t = (struct timespec){tenths / 10, tenths % 10 * 100000000};
    tenths += getenv("TERMINAL") ? 5 : 70;
    return 0;
}

/* ---- fakes of the output ----------------------------------------------------------------------------------------- */

static void say_configuration(const struct config *c)
{
    fprintf(
        stderr,
        "build '%s' threads %u, of a file %d, all blocks %d, instructions %d, values %d, each thread %d, folded %d\n",
        said(c->title), c->threads, c->from_file, c->all_blocks, c->instructions, c->thread_values, c->per_thread,
        c->fold_recursion);
    for (size_t i = 0; i < c->runs.count; i++)
        fprintf(stderr, " run %s %s\n", c->runs.items[i].name, c->runs.items[i].path);
    for (size_t i = 0; i < c->structures.count; i++)
        fprintf(stderr, " structure %s\n", c->structures.items[i]);
    for (size_t i = 0; i < c->debug_dirs.count; i++)
        fprintf(stderr, " debug files in %s\n", c->debug_dirs.items[i]);
    for (size_t i = 0; i < c->sources.count; i++)
        fprintf(stderr, " sources in %s, with subfolders %d\n", c->sources.items[i].dir,
                c->sources.items[i].subfolders);
    for (size_t i = 0; i < c->replaces.count; i++)
        fprintf(stderr, " %s becomes %s\n", c->replaces.items[i].in, c->replaces.items[i].out);
    for (size_t i = 0; i < c->metrics.count; i++)
        fprintf(stderr, " metric %s = %s%s\n", c->metrics.items[i].name, c->metrics.items[i].formula,
                c->metrics.items[i].block);
    fprintf(stderr, " compared %d %d, statistics %d%d%d, wanted %s, core %s of %s, llvm %d, blocks %d\n", c->compare,
            c->scaling, c->statistics[0], c->statistics[1], c->statistics[2],
            c->wanted_statistics && c->wanted_statistics[0] ? "some" : "none", said(c->machine),
            c->machines ? path_base(c->machines) : "-", c->llvm != NULL, c->known_blocks != NULL);
}

int fake_build(const struct config *c, const struct progress *progress, struct experiment **e, struct warnings *w,
               struct err *err)
{
    if (getenv("SAY_CONFIGURATION"))
        say_configuration(c);
    for (uint64_t i = 0; i <= 20 && getenv("TERMINAL"); i++)
        progress_report(progress, "building", i % 10, i < 10 ? 10 : i == 20 ? 10 : 0);
    return experiment_build(c, &(struct progress){NULL, NULL}, e, w, err);
}

int fake_filemap_check(struct err *err)
{
    const char *warned = getenv("WARNED");
    return warned && strcmp(warned, "shrunk") == 0 ? err_set(err, ERR_SYSTEM, "a file became shorter")
                                                   : filemap_check(err);
}

/* One of several ranks, RANK, which are not connected here; ALONE: the only rank that fails, if any. */
const struct ranks *driver_ranks_begin(void)
{
    return NULL;
}

bool driver_ranks_begun(struct warnings *w)
{
    (void)w;
    return true;
}

bool driver_ranks_speak(void)
{
    return !getenv("RANK") || atoi(getenv("RANK")) == 0;
}

bool driver_ranks_end(bool failed)
{
    return !failed || !getenv("ALONE");
}

void driver_ranks_abort(int status)
{
    fprintf(stderr, "all ranks end, with status %d\n", status);
}

/* Half of a file is written when a signal comes. */
static void raise_meanwhile(int sig)
{
    struct outfile *half;
    if (outfile_create("half", &half, NULL) < 0)
        exit(99);
    outfile_write(half, "half", 4);
    raise(sig);
    outfile_abandon(half);
}

int fake_write(const struct experiment *e, const char *path, const struct htmlgen_options *o, struct warnings *w,
               struct err *err)
{
    fprintf(stderr, "write %s, one file %d, sources %d, tables", path, o->single_file, !o->no_sources);
    for (size_t i = 0; i < e->tables.count; i++)
        fprintf(stderr, " %s", table_declared(e->tables.items[i])->name);
    fprintf(stderr, ", host %s\n", e->process_count ? strtab_get(e->strings, e->processes[0].host) : "-");
    for (size_t i = 0; getenv("SAY_METRICS") && i < e->metric_count; i++)
        fprintf(stderr, "  of %s\n", strtab_get(e->strings, e->metrics[i].name));
    if (getenv("RAISE"))
        raise_meanwhile(atoi(getenv("RAISE")));
    return htmlgen_write(e, path, o, w, err);
}

/* ---- a line of "do" -------------------------------------------------------------------------------------------------------- */

struct at_hand {
    char *drawing, *lines;
};

enum { WORDS_MOST = 40 };

/* In place. */
static int split(char *line, char **words)
{
    int n = 0;
    char *to = line;
    while (*line && n < WORDS_MOST - 1) {
        bool quoted = false;
        line += strspn(line, " ");
        if (!*line)
            break;
        words[n++] = to;
        for (; *line && (quoted || *line != ' '); line++)
            if (*line == '\'')
                quoted = !quoted;
            else if (*line == '\\' && line[1] == 'n') {
                *to++ = '\n';
                line++;
            } else
                *to++ = *line;
        line += *line == ' ';
        *to++ = '\0';
    }
    words[n] = NULL;
    return n;
}

static void put_file(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(name, "w");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f) != 0)
        exit(99);
}

/* The child's output: standard error, then standard output, each captured in a file. */
static void in_child(struct buf *out, int (*run)(int, char **), int argc, char **argv, const char *input)
{
    char *paths[2] = {path_join(scratch, "err"), path_join(scratch, "out")};
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int in = input ? open(input, O_RDONLY) : open("/dev/null", O_RDONLY);
        for (int i = 0; i < 2; i++) {
            int fd = open(paths[i], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
            if (fd < 0 || dup2(fd, i ? STDOUT_FILENO : STDERR_FILENO) < 0 || dup2(in, STDIN_FILENO) < 0)
                _exit(99);
        }
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (getenv("IGNORED"))
            signal(atoi(getenv("IGNORED")), SIG_IGN);
        exit(run(argc, argv));
    }
    int status = 0;
    waitpid(pid, &status, 0);
    for (int i = 0; i < 2; i++) {
        struct filemap map;
        if (filemap_open(&map, paths[i], NULL) < 0)
            exit(99);
        if (map.len)
            buf_add(out, map.bytes, map.len);
        filemap_release(&map);
        mem_free(paths[i]);
    }
    if (WIFSIGNALED(status))
        buf_printf(out, "signal %d\n", WTERMSIG(status));
    else if (status)
        buf_printf(out, "status %d\n", WEXITSTATUS(status));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(struct buf *out, const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    struct VEC(char *) names = {0};
    while (d && (entry = readdir(d)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && strcmp(entry->d_name, ".cache") != 0)
            *vec_push(&names) =
                mem_printf("%s%s%s", strcmp(dir, ".") ? dir : "", strcmp(dir, ".") ? "/" : "", entry->d_name);
    if (d)
        closedir(d);
    vec_sort(&names, compare_names);
    for (size_t i = 0; i < names.count; i++) {
        struct stat st;
        bool folder = lstat(names.items[i], &st) == 0 && S_ISDIR(st.st_mode),
             database = experiment_is_database(names.items[i]);
        buf_printf(out, " %s%s%s\n", names.items[i], folder ? "/" : "", database ? ", a database" : "");
        if (folder && !database)
            list(out, names.items[i]);
        mem_free(names.items[i]);
    }
    vec_release(&names);
}

static void copy_source(const char *source, const char *name)
{
    char *path = path_join(getenv("top_srcdir") ? getenv("top_srcdir") : ".", source);
    struct filemap map;
    if (filemap_open(&map, path, NULL) < 0)
        exit(99);
    put_file(name, (const char *)map.bytes, map.len);
    filemap_release(&map);
    mem_free(path);
}

static void show(struct buf *out, const char *name)
{
    struct filemap map;
    if (filemap_open(&map, name, NULL) < 0) {
        buf_printf(out, "%s: not there\n", name);
        return;
    }
    buf_add(out, map.bytes, map.len);
    filemap_release(&map);
}

static void measure(struct buf *out, const struct at_hand *h, char *name)
{
    char *drawing = path_join(scratch, "drawing"), *argv[] = {name, name, NULL};
    put_file(drawing, h->drawing, strlen(h->drawing));
    in_child(out, make_measurement, 2, argv, drawing);
    mem_free(drawing);
}

/* HERE is the case's folder. */
static void set_variable(const char *name, const char *value)
{
    struct buf b = {0};
    for (const char *at; (at = strstr(value, "HERE")); value = at + strlen("HERE"))
        buf_printf(&b, "%.*s%s", (int)(at - value), value, work);
    buf_str(&b, value);
    setenv(name, b.bytes, 1);
    buf_release(&b);
}

static void do_line(struct buf *out, const struct at_hand *h, char *line)
{
    char *words[WORDS_MOST];
    int n = split(line, words);
    if (n == 0)
        return;
    if (strcmp(words[0], "hpcview") == 0)
        in_child(out, command_main, n, words, NULL);
    else if (strcmp(words[0], "as") == 0)
        in_child(out, command_main, n - 1, words + 1, NULL);
    else if (strcmp(words[0], "first") == 0) {
        struct buf all = {0};
        in_child(&all, command_main, n - 1, words + 1, NULL);
        buf_add(out, all.bytes, strcspn(all.bytes, "\n") + 1);
        buf_release(&all);
    } else if (strcmp(words[0], "file") == 0)
        put_file(words[1], words[2], strlen(words[2]));
    else if (strcmp(words[0], "dir") == 0)
        dir_make(words[1], NULL);
    else if (strcmp(words[0], "copy") == 0)
        copy_source(words[1], words[2]);
    else if (strcmp(words[0], "measure") == 0)
        measure(out, h, words[1]);
    else if (strcmp(words[0], "program") == 0) {
        put_file(words[1], "#!/bin/sh\n", 10);
        chmod(words[1], 0755);
    } else if (strcmp(words[0], "set") == 0 && words[2])
        set_variable(words[1], words[2]);
    else if (strcmp(words[0], "set") == 0)
        unsetenv(words[1]);
    else if (strcmp(words[0], "ls") == 0)
        list(out, ".");
    else if (strcmp(words[0], "show") == 0)
        show(out, words[1]);
    else
        buf_printf(out, "what is '%s'?\n", words[0]);
}

/* A few files, so that lists of them do not depend on the installed ones. */
static void make_share(void)
{
    static const char *const copied[] = {"share/metrics/quantities.xml", "share/machines/year-2001.xml",
                                         "share/machines/skylake-server.xml"};
    static const char blocks[] =
        "<?xml version=\"1.0\"?>\n<metrics version=\"1\">\n"
        "<block name=\"cpi\" title=\"Cycles per instruction\">"
        "<computed name=\"CPI\" formula=\"cycles / instructions\">cycles per instruction</computed></block>\n"
        "<block name=\"cache\" title=\"Misses\">"
        "<computed name=\"L2_MPKI\" formula=\"l2_misses * 1000 / instructions\">misses</computed></block>\n"
        "<block name=\"flops\" title=\"Operations\">"
        "<computed name=\"GFLOPS\" formula=\"flops / task_clock\">operations</computed></block>\n</metrics>\n";
    static const char properties[] =
        "PROPERTY Hot { FOR PROCEDURE; CONDITION: share(CPUTIME) > 0.1; CONFIDENCE: 0.9; SEVERITY: 40 * "
        "share(CPUTIME);\n"
        " TITLE: \"{place} is hot\"; EVIDENCE: \"{share(CPUTIME):%} of the time\"; REMEDY: \"Think.\"; }\n"
        "PROPERTY Missing { FOR PROGRAM; CONDITION: NOWHERE > 0; CONFIDENCE: 1; SEVERITY: 50;\n"
        " TITLE: \"Missing\"; EVIDENCE: \"none\"; REMEDY: \"None.\"; }\n";
    CHECK_INT(chdir(scratch) + (dir_make("share/metrics", NULL) || dir_make("share/machines", NULL) ||
                                dir_make("share/properties", NULL)),
              0);
    for (size_t i = 0; i < ARRAY_SIZE(copied); i++)
        copy_source(copied[i], copied[i]);
    put_file("share/metrics/few.xml", blocks, strlen(blocks));
    put_file("share/properties/few.asl", properties, strlen(properties));
}

/* ---- cases --------------------------------------------------------------------------------------------------------------------- */

static void begin(void *ctx, const char *name)
{
    static const char *const variables_unset[] = {"TERMINAL",
                                                  "MACHINE",
                                                  "OPENER",
                                                  "BROWSER",
                                                  "X",
                                                  "OMP_NUM_THREADS",
                                                  "HPCVIEW_COUNTERS",
                                                  "HPCVIEW_RECORDER",
                                                  "HPCVIEW_MACHINES",
                                                  "DEBUGINFOD_CACHE_PATH",
                                                  "XDG_CACHE_HOME",
                                                  "SAY_CONFIGURATION",
                                                  "WARNED",
                                                  "AARCH64",
                                                  "RAISE",
                                                  "IGNORED",
                                                  "SAY_METRICS",
                                                  "RANK",
                                                  "ALONE"};
    char *share = path_join(scratch, "share");
    (void)ctx;
    (void)name;
    if (chdir(scratch) != 0)
        exit(99);
    dir_remove_tree(work, NULL);
    if (mkdir(work, 0777) != 0 || chdir(work) != 0)
        exit(99);
    for (size_t i = 0; i < ARRAY_SIZE(variables_unset); i++)
        unsetenv(variables_unset[i]);
    setenv("HOME", work, 1);
    setenv("PATH", programs, 1);
    setenv("HPCVIEW_SHARE", share, 1);
    mem_free(share);
}

static void take_option(void *ctx, const char *word)
{
    (void)ctx;
    (void)word;
    exit(99);
}

static void take_input(void *ctx, const char *which, const char *text)
{
    struct at_hand *h = ctx;
    char **to = strcmp(which, "do") == 0 ? &h->lines : &h->drawing;
    mem_free(*to);
    *to = mem_strdup(text);
}

/* Removes the parts that depend on this machine. */
static void add_plain(struct buf *out, const char *text)
{
    const char *const from[] = {work, scratch, getenv("top_srcdir") ? getenv("top_srcdir") : ".",
                                "hpcview-" PACKAGE_VERSION, "hpcview " PACKAGE_VERSION},
                      *const to[] = {"HERE", "SCRATCH", "SOURCE", "hpcview-VERSION", "hpcview VERSION"};
    while (*text) {
        size_t i = 0;
        while (i < ARRAY_SIZE(from) && (strlen(from[i]) < 3 || !str_starts(text, from[i])))
            i++;
        if (i < ARRAY_SIZE(from)) {
            buf_str(out, to[i]);
            text += strlen(from[i]);
        } else
            buf_char(out, *text++);
    }
}

static void make_output(void *ctx, const char *what, struct buf *out)
{
    const struct at_hand *h = ctx;
    struct buf all = {0};
    char *lines = mem_strdup(h->lines ? h->lines : ""), *rest = lines, *line;
    (void)what;
    buf_str(&all, "");
    while ((line = strsep(&rest, "\n")))
        do_line(&all, h, line);
    add_plain(out, all.bytes);
    buf_release(&all);
    mem_free(lines);
}

int main(void)
{
    static const char *const inputs[] = {"drawing", "do", NULL};
    struct at_hand h = {0};
    struct cases c = {inputs, begin, take_option, take_input, make_output, &h, NULL, {0}};
    const char *tmp = getenv("TMPDIR");
    /* A shell starts what follows "&" with SIGINT and SIGQUIT ignored, nohup with SIGHUP; commands respect that. */
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    programs = mem_strdup(getenv("PATH") ? getenv("PATH") : "");
    char *top = realpath(getenv("top_srcdir") ? getenv("top_srcdir") : ".", NULL);
    setenv("top_srcdir", top, 1);
    free(top);
    char *made = mem_printf("%s/hpcview-commands.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(made) || !(scratch = realpath(made, NULL)))
        return 99;
    make_share();
    work = path_join(scratch, "work");
    cases_run(&c, "tests/driver/commands.cases");
    if (chdir("/") != 0)
        return 99;
    dir_remove_tree(scratch, NULL);
    mem_free(h.drawing);
    mem_free(h.lines);
    free(scratch);
    mem_free(made);
    mem_free(work);
    mem_free(programs);
    return tap_done();
}
