/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of a configuration: those not yet measured are measured, one after the other. */
#include "campaign/campaign.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static bool for_this_host(const struct config_recipe *r)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    return *r->host == '\0' || fnmatch(r->host, host, 0) == 0;
}

static bool is_missing(const struct config_recipe *r, bool again)
{
    return *r->command && for_this_host(r) && (again || !is_there(r->measurements));
}

/* ---- one run ---------------------------------------------------------------------------------- */

struct kept_variable {  /* as it was before the run */
    char *name, *value; /* value NULL: it was not there */
};
struct kept_environment VEC(struct kept_variable);

static void set_variable(struct kept_environment *kept, const char *name, const char *value)
{
    const char *before = getenv(name);
    *vec_push(kept) = (struct kept_variable){mem_strdup(name), before ? mem_strdup(before) : NULL};
    setenv(name, value, 1);
}

static void restore_environment(struct kept_environment *kept)
{
    while (kept->count) {
        struct kept_variable *v = &kept->items[--kept->count];
        if (v->value)
            setenv(v->name, v->value, 1);
        else
            unsetenv(v->name);
        mem_free(v->name);
        mem_free(v->value);
    }
    vec_release(kept);
}

/* "OMP_NUM_THREADS=2 X='a b'" */
static int set_environment(const struct config_recipe *r, struct kept_environment *kept, struct err *err)
{
    struct text_list words = {0};
    int status = str_words(r->environment, &words, r->where, err);
    if (*r->threads)
        set_variable(kept, "OMP_NUM_THREADS", r->threads);
    for (size_t i = 0; status == 0 && i < words.count; i++) {
        char *equals = strchr(words.items[i], '=');
        if (!equals || equals == words.items[i])
            status = err_set(err, ERR_FORMAT, "%s: environment: '%s' is not NAME=VALUE", r->where, words.items[i]);
        else {
            *equals = '\0';
            set_variable(kept, words.items[i], equals + 1);
        }
    }
    text_list_release(&words);
    return status;
}

static int go_to(const struct config_recipe *r, struct err *err)
{
    if (*r->folder == '\0' || chdir(r->folder) == 0)
        return 0;
    err_errno(err, r->folder, "the run's folder");
    return err_in(err, "%s", r->where);
}

/* The full path of a file that may not exist yet, so that it is valid in another folder. */
static char *absolute(const char *path)
{
    char here[PATH_MAX];
    return path[0] == '/' || !getcwd(here, sizeof here) ? mem_strdup(path) : path_join(here, path);
}

static int exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int measure_here(const struct campaign_runs_options *o, const struct config_recipe *r, const char *to,
                        char **argv, struct err *err)
{
    struct text_list events = {0};
    int wait_status = 0, status = str_words(r->events, &events, r->where, err);
    struct campaign_run run = {.out_dir = to,
                               .events = *r->events ? (const char *const *)events.items : NULL,
                               .only = *r->only ? r->only : NULL,
                               .no_call_paths = r->no_call_paths,
                               .phases = r->phases,
                               .argv = argv};
    if (status == 0)
        status = o->record(o->ctx, &run, &wait_status, err);
    if (status == 0 && exit_status(wait_status) != 0)
        status = err_set(err, ERR_SYSTEM, "%s: run '%s' ended with status %d; its measurement is not kept", r->where,
                         r->name, exit_status(wait_status));
    text_list_release(&events);
    return status;
}

/* Once into `to`, or repeatedly into to/1, to/2, ... */
static int measure_all(const struct campaign_runs_options *o, const struct config_recipe *r, const char *to,
                       char **argv, struct err *err)
{
    unsigned long repetitions = *r->repetitions ? strtoul(r->repetitions, NULL, 10) : 1;
    if (repetitions < 2)
        return measure_here(o, r, to, argv, err);
    int status = mkdir(to, 0777) == 0 ? 0 : err_errno(err, to, "cannot be made");
    for (unsigned long k = 1; k <= repetitions && status == 0; k++) {
        char *one = mem_printf("%s/%lu", to, k);
        status = measure_here(o, r, one, argv, err);
        mem_free(one);
    }
    return status;
}

/* A measurement appears under its name when it is whole; the one that was there stays until then. */
static int replace(const char *from, const char *to, struct err *err)
{
    if (is_there(to) && dir_remove_tree(to, err) < 0)
        return -1;
    return rename(from, to) == 0 ? 0 : err_errno(err, to, "cannot be made");
}

static int measure(const struct campaign_runs_options *o, const struct config_recipe *r, struct err *err)
{
    struct text_list words = {0};
    struct kept_environment kept = {0};
    char *to = absolute(r->measurements), *part = mem_printf("%s.part", to);
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = str_words(r->command, &words, r->where, err);
    if (status == 0 && words.count == 0)
        status = err_set(err, ERR_FORMAT, "%s: the command is empty", r->where);
    if (status == 0 && is_there(part))
        status = dir_remove_tree(part, err);
    if (status == 0)
        status = set_environment(r, &kept, err);
    if (status == 0)
        status = go_to(r, err);
    if (status == 0)
        status = measure_all(o, r, part, words.items, err);
    restore_environment(&kept);
    if (here >= 0 && fchdir(here) < 0 && status == 0)
        status = err_errno(err, ".", "the folder is gone");
    if (here >= 0)
        close(here);
    if (status == 0)
        status = replace(part, to, err);
    else if (is_there(part))
        dir_remove_tree(part, NULL);
    text_list_release(&words);
    mem_free(part);
    mem_free(to);
    return status;
}

/* ---- all of them --------------------------------------------------------------------------------- */

static void PRINTF_LIKE(2, 3) report(const struct campaign_user *user, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *sentence = mem_vprintf(fmt, args);
    va_end(args);
    user->report(user->ctx, sentence);
    mem_free(sentence);
}

static void announce(const struct campaign_user *user, const struct config_recipe *r, size_t number, size_t of,
                     double spent)
{
    report(user, "run '%s' (%zu of %zu): %s", r->name, number, of, r->command);
    if (number > 1)
        report(user, "about %.0f s to go", spent / (double)(number - 1) * (double)(of - number + 1));
}

int campaign_leave_out(struct config *config, bool planned, struct warnings *warnings, struct err *err)
{
    for (size_t i = 0; i < config_run_count(config);) {
        struct config_recipe r = config_recipe(config, i);
        if (is_there(r.measurements) || (planned && !*r.command)) {
            i++;
            continue;
        }
        warnings_add(warnings, "%s: run '%s' is not measured yet%s%s and is omitted", r.where, r.name,
                     for_this_host(&r) ? "" : ": its machine is ", for_this_host(&r) ? "" : r.host);
        if (config_leave_out_run(config, i, err) < 0)
            return -1;
    }
    return config_run_count(config)
               ? 0
               : err_set(err, ERR_SYSTEM, "no run is measured yet%s",
                         planned ? "; 'hpcview run CONFIG.xml' measures those of this machine" : "");
}

int campaign_measure(const struct campaign_user *user, const struct campaign_runs_options *o, struct config *config,
                     bool *failed, struct err *err)
{
    size_t n = config_run_count(config), missing = 0, done = 0;
    double began = time_seconds();
    *failed = false;
    for (size_t i = 0; i < n; i++) {
        struct config_recipe r = config_recipe(config, i);
        missing += is_missing(&r, o->again);
    }
    for (size_t i = 0; i < n; i++) {
        struct config_recipe r = config_recipe(config, i);
        if (!is_missing(&r, o->again))
            continue;
        done++;
        if (!o->quiet)
            announce(user, &r, done, missing, time_seconds() - began);
        if (measure(o, &r, err) == 0)
            continue;
        *failed = true;
        report(user, "%s", err->msg);
        err->kind = ERR_NONE;
    }
    return campaign_leave_out(config, false, user->warnings, err);
}
