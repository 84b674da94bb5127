/* Runs that a configuration describes: what is missing here is measured, one after the other. */
#include "driver/campaign.h"
#include "driver/record_options.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* As a shell would, where nothing is special but blanks, quotes and '\'. The array ends in NULL. */
static int split(const char *text, struct text_list *words, const char *where, struct err *err)
{
    struct buf word = {0};
    char quote = '\0';
    bool in_word = false;
    for (const char *p = text;; p++) {
        if (*p == '\0' || (!quote && strchr(" \t\r\n", *p))) {
            if (in_word)
                *vec_push(words) = mem_strndup(word.bytes, word.len);
            word.len = 0;
            in_word = false;
            if (*p == '\0')
                break;
        } else if (*p == quote)
            quote = '\0';
        else if (!quote && (*p == '"' || *p == '\'')) {
            quote = *p;
            in_word = true;
        } else {
            if (*p == '\\' && quote != '\'' && p[1])
                p++;
            buf_char(&word, *p);
            in_word = true;
        }
    }
    buf_release(&word);
    *vec_push(words) = NULL;
    words->count--;
    return quote ? err_set(err, ERR_FORMAT, "%s: '%s': there is no second %c", where, text, quote) : 0;
}

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
    int status = split(r->environment, &words, r->where, err);
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

/* The whole path of what may not be there yet, so that it holds in another folder. */
static char *absolute(const char *path)
{
    char here[PATH_MAX];
    return path[0] == '/' || !getcwd(here, sizeof here) ? mem_strdup(path) : path_join(here, path);
}

static int measure_here(struct session *s, const struct config_recipe *r, const char *to, char **argv)
{
    struct text_list events = {0};
    struct string_list list = {0}, none = {0};
    int wait_status = 0, status = split(r->events, &events, r->where, &s->err);
    for (size_t i = 0; i < events.count; i++)
        *vec_push(&list) = events.items[i];
    struct record_wish wish = {.events = *r->events ? &list : NULL, .blocks = &none, .no_call_paths = r->no_call_paths};
    if (status == 0)
        status = record_program(s, to, &wish, argv, &wait_status);
    if (status == 0 && record_exit_status(wait_status) != 0)
        status = err_set(&s->err, ERR_SYSTEM, "%s: run '%s' ended with status %d; its measurement is not kept",
                         r->where, r->name, record_exit_status(wait_status));
    vec_release(&list);
    text_list_release(&events);
    return status;
}

/* Once into `to`, or as often as is wanted into to/1, to/2, ... */
static int measure_all(struct session *s, const struct config_recipe *r, const char *to, char **argv)
{
    unsigned long repetitions = *r->repetitions ? strtoul(r->repetitions, NULL, 10) : 1;
    if (repetitions < 2)
        return measure_here(s, r, to, argv);
    int status = mkdir(to, 0777) == 0 ? 0 : err_errno(&s->err, to, "cannot be made");
    for (unsigned long k = 1; k <= repetitions && status == 0; k++) {
        char *one = mem_printf("%s/%lu", to, k);
        status = measure_here(s, r, one, argv);
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

static int measure(struct session *s, const struct config_recipe *r)
{
    struct text_list words = {0};
    struct kept_environment kept = {0};
    char *to = absolute(r->measurements), *part = mem_printf("%s.part", to);
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = split(r->command, &words, r->where, &s->err);
    if (status == 0 && words.count == 0)
        status = err_set(&s->err, ERR_FORMAT, "%s: the command is empty", r->where);
    if (status == 0 && is_there(part))
        status = dir_remove_tree(part, &s->err);
    if (status == 0)
        status = set_environment(r, &kept, &s->err);
    if (status == 0)
        status = go_to(r, &s->err);
    if (status == 0)
        status = measure_all(s, r, part, words.items);
    restore_environment(&kept);
    if (here >= 0 && fchdir(here) < 0 && status == 0)
        status = err_errno(&s->err, ".", "the folder is gone");
    if (here >= 0)
        close(here);
    if (status == 0)
        status = replace(part, to, &s->err);
    else if (is_there(part))
        dir_remove_tree(part, NULL);
    text_list_release(&words);
    mem_free(part);
    mem_free(to);
    return status;
}

/* ---- all of them --------------------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void announce(const struct session *s, const struct config_recipe *r, size_t number, size_t of, double spent)
{
    if (s->quiet)
        return;
    fprintf(stderr, "hpcview: run '%s' (%zu of %zu): %s\n", r->name, number, of, r->command);
    if (number > 1)
        fprintf(stderr, "hpcview: about %.0f s to go\n", spent / (double)(number - 1) * (double)(of - number + 1));
}

int campaign_leave_out(struct session *s, struct config *config, bool planned)
{
    for (size_t i = 0; i < config_run_count(config);) {
        struct config_recipe r = config_recipe(config, i);
        if (is_there(r.measurements) || (planned && !*r.command)) {
            i++;
            continue;
        }
        warnings_add(s->warnings, "%s: run '%s' is not measured yet%s%s, and left out", r.where, r.name,
                     for_this_host(&r) ? "" : ": its machine is ", for_this_host(&r) ? "" : r.host);
        if (config_leave_out_run(config, i, &s->err) < 0)
            return -1;
    }
    return config_run_count(config)
               ? 0
               : err_set(&s->err, ERR_SYSTEM, "no run is measured; there is nothing to show%s",
                         planned ? "; 'hpcview run CONFIG.xml' measures those of this machine" : "");
}

int campaign_run(struct session *s, struct config *config, bool again, bool *failed)
{
    size_t n = config_run_count(config), wanted = 0, done = 0;
    double began = seconds_now();
    *failed = false;
    for (size_t i = 0; i < n; i++) {
        struct config_recipe r = config_recipe(config, i);
        wanted += is_missing(&r, again);
    }
    for (size_t i = 0; i < n; i++) {
        struct config_recipe r = config_recipe(config, i);
        if (!is_missing(&r, again))
            continue;
        announce(s, &r, ++done, wanted, seconds_now() - began);
        if (measure(s, &r) == 0)
            continue;
        *failed = true;
        fprintf(stderr, "hpcview: %s\n", s->err.msg);
        s->err.kind = ERR_NONE;
    }
    return campaign_leave_out(s, config, false);
}
