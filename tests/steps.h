/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases (tests/cases.h) whose parts are headed by steps, "-- step NUMBER; other": a separate process executes them, and
 * its log is the text of the part.
 */
#ifndef TESTS_STEPS_H
#define TESTS_STEPS_H

#include "tests/cases.h"

#include <stdarg.h>
#include <sys/wait.h>

static char heard[1 << 16];

__attribute__((format(printf, 1, 2))) static inline void hear(const char *format, ...)
{
    size_t n = strlen(heard);
    va_list args;
    va_start(args, format);
    vsnprintf(heard + n, sizeof heard - n, format, args);
    va_end(args);
}

/* The output of a child process that runs `be`. */
static inline void steps_in_process(const char *what, void (*be)(char *script), struct buf *out)
{
    int ends[2], status = -1;
    char bytes[4096], *script = mem_strdup(what);
    if (pipe(ends) < 0)
        exit(99);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        be(script);
        mem_free(script);
        exit(0); /* writes the coverage data */
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;)
        buf_add(out, bytes, (size_t)n);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (status != 0)
        buf_printf(out, "ended with status %d\n", status);
    mem_free(script);
}

/* Executes each step, given its word and argument (NULL: none), and prints a line if it logs anything. */
static inline void steps_take(char *script, void (*step)(const char *word, const char *rest))
{
    *heard = '\0';
    for (char *at; (at = strsep(&script, ";"));) {
        at += strspn(at, " ");
        char *all = mem_strdup(at), *word = strsep(&at, " ");
        if (*word)
            step(word, at);
        if (*heard)
            printf("%s: %s\n", all, heard);
        *heard = '\0';
        mem_free(all);
    }
}

static inline void steps_begin(void *ctx, const char *name)
{
    (void)ctx, (void)name;
}

static inline void steps_input(void *ctx, const char *which, const char *text)
{
    (void)ctx, (void)which, (void)text;
}

static inline void steps_output(void *be, const char *what, struct buf *out)
{
    steps_in_process(what, *(void (**)(char *))be, out);
}

/* The cases of a file, without inputs; each part's process is `be`. */
static inline void steps_run(const char *path, void (*be)(char *script))
{
    static const char *const inputs[] = {NULL};
    struct cases c = {inputs, steps_begin, steps_begin, steps_input, steps_output, &be, NULL, {0}};
    cases_run(&c, path);
}

#endif
