/* SPDX-License-Identifier: BSD-3-Clause */
/* main: find the command, run it, say what went wrong, choose the exit status. */
#include "config.h"
#include "driver/driver.h"
#include "hpcprof/hpcprof.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* clang-format off: one a line */
static const struct command *const commands[] = {
    /* in the order a user meets them */
    &command_run,   &command_record, &command_simulate,  &command_phases,   &command_events, &command_doctor,
    &command_info,  &command_merge,  &command_structure, &command_quality,  &command_import, &command_init,
    &command_build, &command_print,  &command_compare,   &command_diagnose, &command_export, &command_open,
    NULL,
};
/* clang-format on */

enum { EXIT_FAILED = 1, EXIT_WRONG_USAGE = 2 };

static void out_of_memory(size_t wanted)
{
    fprintf(stderr, "hpcview: out of memory: %zu bytes requested\n", wanted);
    outputs_abandon();
    _exit(EXIT_FAILED);
}

/* A partial result is removed, and we end by the signal. */
static void on_signal(int sig)
{
    outputs_abandon();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void end_without_remains(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
        struct sigaction now, act = {.sa_handler = on_signal};
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &act, NULL);
    }
}

static void print_usage(FILE *to)
{
    fprintf(to, "Usage: hpcview COMMAND [options] ...\n\nShow where a program spends its time, by file, procedure, "
                "loop and line.\n\nCommands:\n");
    for (const struct command *const *cmd = commands; *cmd; cmd++)
        fprintf(to, "  %-10s %s\n", (*cmd)->name, (*cmd)->summary);
    fprintf(to, "\n'hpcview help COMMAND' lists a command's options. To start:\n  hpcview run -- ./program\n");
}

static const struct command *find_command(const char *name)
{
    for (const struct command *const *cmd = commands; *cmd; cmd++)
        if (strcmp((*cmd)->name, name) == 0)
            return *cmd;
    return NULL;
}

/* What users of other tools type, and what answers it here. */
static const char *const other_tools[][2] = {
    {"report", "'hpcview print MEASUREMENT' lists the most expensive procedures"},
    {"annotate", "'hpcview print --by line MEASUREMENT' lists the cost of source lines"},
    {"stat", "'hpcview record' counts events, and 'hpcview info MEASUREMENT' prints the totals"},
    {"list", "'hpcview events' lists the events of this machine"},
    {"script", "'hpcview export folded MEASUREMENT' prints stacks"},
    {"diff", "'hpcview print --diff BASE NEW' compares two measurements"},
    {"collect", "'hpcview record -- PROGRAM' measures a program"},
    {"profile", "'hpcview run -- PROGRAM' measures a program and builds its page"},
    {"top", "'hpcview run -- PROGRAM' measures a program and builds its page"},
    {"view", "'hpcview open DB' opens a database"},
    {"mem", "'hpcview simulate -- PROGRAM' finds cache misses"},
    {"c2c", "'hpcview simulate -- PROGRAM' finds cache misses"},
    {"version", "'hpcview --version' prints it"},
};

static const char *of_other_tools(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(other_tools); i++)
        if (strcmp(name, other_tools[i][0]) == 0)
            return other_tools[i][1];
    return NULL;
}

static int no_such_command(const char *name)
{
    const char *names[ARRAY_SIZE(commands)], *other = of_other_tools(name);
    size_t n = 0;
    for (const struct command *const *cmd = commands; *cmd; cmd++)
        names[n++] = (*cmd)->name;
    names[n] = NULL;
    const char *near = str_nearest(name, names);
    fprintf(stderr, "hpcview: no command '%s'; ", name);
    if (other)
        fprintf(stderr, "%s\n", other);
    else if (driver_is_program(name))
        fprintf(stderr, "to measure the program: hpcview run -- %s%s\n", strchr(name, '/') ? "" : "./", name);
    else if (access(name, F_OK) == 0)
        fprintf(stderr, "to print a measurement or a database: hpcview print %s\n", name);
    else if (near)
        fprintf(stderr, "did you mean '%s'?\n", near);
    else
        fprintf(stderr, "'hpcview --help' lists them\n");
    return EXIT_WRONG_USAGE;
}

/* A line on a terminal, from the first second on, at most ten times a second. */
static void show_progress(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    static double first, last;
    static bool shown;
    double t = time_seconds();
    (void)ctx;
    if (first == 0)
        first = t;
    if (done >= total) {
        if (shown)
            fprintf(stderr, "\r\033[K");
        shown = false;
        first = 0;
        return;
    }
    if (t - first < 1 || t - last < 0.1)
        return;
    last = t;
    shown = true;
    fprintf(stderr, "\r\033[K%s %d%%", what, (int)(total ? done * 100 / total : 0));
}

bool session_speaks(struct session *s)
{
    s->silent = hpcprof_own_rank() > 0;
    s->progress.report = s->silent ? NULL : s->progress.report;
    return !s->silent;
}

/* Behind the name of a measurement's file; NULL: it is about something else. */
static const char *about_file(const char *warning)
{
    const char *end = strstr(warning, HPCPROF_SUFFIX ": ");
    return end ? end + strlen(HPCPROF_SUFFIX) : NULL;
}

/* The same but for the file and numbers. */
static bool are_alike(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    for (a = about_file(a), b = about_file(b); a && b; a++, b++) {
        a += strspn(a, digits);
        b += strspn(b, digits);
        if (*a != *b)
            return false;
        if (*a == '\0')
            return true;
    }
    return false;
}

/* Thousands of ranks may have been cut in the same way: then the first one stands for all of them. */
void session_print_warnings(struct session *s)
{
    static size_t printed;
    size_t count = warnings_count(s->warnings);
    bool *done = mem_calloc(count + 1, sizeof *done);
    for (; !s->silent && printed < count; printed++) {
        struct VEC(size_t) alike = {0};
        const char *text = warnings_get(s->warnings, printed);
        for (size_t i = printed + 1; !done[printed] && about_file(text) && i < count; i++)
            if (are_alike(text, warnings_get(s->warnings, i)))
                *vec_push(&alike) = i;
        for (size_t i = 0; alike.count > 1 && i < alike.count; i++)
            done[alike.items[i]] = true;
        if (!done[printed])
            fprintf(stderr,
                    alike.count > 1 ? "hpcview: warning: %s (and %zu more files alike)\n" : "hpcview: warning: %s\n",
                    text, alike.count);
        vec_release(&alike);
    }
    mem_free(done);
}

void driver_report(void *ctx, const char *sentence)
{
    (void)ctx;
    fprintf(stderr, "hpcview: %s\n", sentence);
}

static void say_how_it_ended(struct session *s, int status)
{
    session_print_warnings(s);
    if (status >= 0)
        return;
    for (size_t i = 0; i < warnings_count(s->err.others); i++)
        fprintf(stderr, "hpcview: %s\n", warnings_get(s->err.others, i));
    fprintf(stderr, "hpcview: %s\n", s->err.msg);
}

static int run_command(const struct command *cmd, int argc, char **argv)
{
    struct session s = {.warnings = warnings_create(), .err.others = warnings_create()};
    bool help;
    if (isatty(STDERR_FILENO))
        s.progress.report = show_progress;
    for (int i = 0; i < argc; i++)
        s.after_dashes = s.after_dashes || strcmp(argv[i], "--") == 0;
    int status = options_parse(cmd, &argc, argv, &help, &s.err);
    if (status == 0 && help)
        options_help(cmd);
    else if (status == 0)
        status = cmd->run(&s, argc, argv);
    if (status >= 0 && filemap_check(&s.err) < 0)
        status = -1;
    if (driver_ranks_speak())
        say_how_it_ended(&s, status);
    bool alike = driver_ranks_end(status < 0);
    if (!alike && !driver_ranks_speak())
        say_how_it_ended(&s, status);
    if (status < 0)
        status = s.err.kind == ERR_USAGE ? EXIT_WRONG_USAGE : EXIT_FAILED;
    if (!alike)
        driver_ranks_abort(status);
    warnings_free(s.warnings);
    warnings_free(s.err.others);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "hpcview: writing to standard output failed\n");
        status = status ? status : EXIT_FAILED;
    }
    return status;
}

/* "help COMMAND"; "help --words [COMMAND]" is for shells (share/completions). */
static int help(char **words)
{
    bool for_shell = strcmp(words[0], "--words") == 0;
    const char *name = words[for_shell];
    const struct command *about = name ? find_command(name) : NULL;
    if (name && !about)
        return no_such_command(name);
    if (about)
        (for_shell ? options_words : options_help)(about);
    for (const struct command *const *cmd = commands; !about && *cmd; cmd++)
        printf("%s\t%s\n", (*cmd)->name, (*cmd)->summary);
    return 0;
}

int main(int argc, char **argv); /* by another name in commands_test, which has a main of its own */

int main(int argc, char **argv)
{
    mem_set_handler(out_of_memory);
    end_without_remains();
    /* Installed under a command's own name, `bloop` say, it is that command. */
    if (strcmp(path_base(argv[0]), "bloop") == 0 && find_command("structure"))
        return run_command(find_command("structure"), argc - 1, argv + 1);
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_WRONG_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2)
        return help(argv + 2);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("hpcview %s\n", PACKAGE_VERSION);
        return 0;
    }
    const struct command *cmd = find_command(argv[1]);
    return cmd ? run_command(cmd, argc - 2, argv + 2) : no_such_command(argv[1]);
}
