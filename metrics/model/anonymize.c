/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An experiment for strangers: data about the program stay, data about the machine's owner are removed. Texts come from
 * many places (warnings, tables, names of runs), so they all pass one rule: absolute paths become their last component,
 * hosts and users that the measurements name become "host" and "user".
 */
#include "metrics/model/model.h"

#include <ctype.h>

struct hidden_word {
    char *word;
    const char *instead;
};
struct anonymity {
    struct VEC(struct hidden_word) words;
};

/* ---- what is to be hidden ---- */

static void hide(struct anonymity *a, const char *word, size_t n, const char *instead)
{
    if (n < 2) /* of one letter there are too many */
        return;
    for (size_t i = 0; i < a->words.count; i++)
        if (strlen(a->words.items[i].word) == n && memcmp(a->words.items[i].word, word, n) == 0)
            return;
    *(struct hidden_word *)vec_push(&a->words) = (struct hidden_word){mem_strndup(word, n), instead};
}

/* The component behind each /home/, /Users/ of a path. */
static void hide_users(struct anonymity *a, const char *path)
{
    static const char *const homes[] = {"/home/", "/Users/"};
    for (size_t i = 0; i < ARRAY_SIZE(homes); i++)
        for (const char *p = path; (p = strstr(p, homes[i])) != NULL;) {
            p += strlen(homes[i]);
            hide(a, p, strcspn(p, "/ "), "user");
        }
}

static struct anonymity *find_hidden(const struct experiment *e)
{
    struct anonymity *a = mem_calloc(1, sizeof *a);
    for (size_t i = 0; i < e->process_count; i++) {
        const char *host = strtab_get(e->strings, e->processes[i].host);
        hide(a, host, strlen(host), "host");
        hide(a, host, strcspn(host, "."), "host");
        hide_users(a, strtab_get(e->strings, e->processes[i].working_dir));
        hide_users(a, strtab_get(e->strings, e->processes[i].command));
    }
    for (size_t i = 0; i < e->file_count; i++)
        hide_users(a, strtab_get(e->strings, e->files[i].raw_name));
    return a;
}

void experiment_anonymity_free(struct anonymity *a)
{
    for (size_t i = 0; a && i < a->words.count; i++)
        mem_free(a->words.items[i].word);
    if (a)
        vec_release(&a->words);
    mem_free(a);
}

/* ---- the rule ---- */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* The length of the absolute path that begins at text[at], 0: none does. Paths of the system say nothing of anybody. */
static size_t private_path(const char *text, size_t at)
{
    static const char *const of_the_system[] = {"/usr/", "/lib/", "/lib64/", "/proc/", "/sys/", "/dev/"};
    if (text[at] != '/' || (at && !strchr(" \t\"'(=:,;<[", text[at - 1])))
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(of_the_system); i++)
        if (str_starts(text + at, of_the_system[i]))
            return 0;
    size_t n = strcspn(text + at, " \t\"'),;:>]");
    return n > 1 ? n : 0;
}

static const struct hidden_word *hidden_at(const struct anonymity *a, const char *text, size_t at)
{
    if (at && in_word(text[at - 1]))
        return NULL;
    for (size_t i = 0; i < a->words.count; i++) {
        const struct hidden_word *w = &a->words.items[i];
        size_t n = strlen(w->word);
        if (strncmp(text + at, w->word, n) == 0 && !in_word(text[at + n]))
            return w;
    }
    return NULL;
}

static char *without_owner(const struct anonymity *, const char *text);

/* It may be a user's or a host's name itself: "/home/me". */
static void add_last_component(const struct anonymity *a, struct buf *out, const char *path, size_t n)
{
    while (n > 1 && path[n - 1] == '/')
        n--;
    size_t start = n;
    while (start && path[start - 1] != '/')
        start--;
    char *last = mem_strndup(path + start, n - start), *shown = without_owner(a, last);
    buf_str(out, shown);
    mem_free(last);
    mem_free(shown);
}

static char *without_owner(const struct anonymity *a, const char *text)
{
    struct buf out = {0};
    for (size_t at = 0; text[at];) {
        size_t path = private_path(text, at);
        const struct hidden_word *w = path ? NULL : hidden_at(a, text, at);
        if (path)
            add_last_component(a, &out, text + at, path);
        else if (w)
            buf_str(&out, w->instead);
        else
            buf_char(&out, text[at]);
        at += path ? path : w ? strlen(w->word) : 1;
    }
    char *result = mem_strndup((const char *)out.bytes, out.len);
    buf_release(&out);
    return result;
}

char *experiment_public_text(const struct experiment *e, const char *text)
{
    return e->anonymity ? without_owner(e->anonymity, text) : mem_strdup(text);
}

/* ---- the experiment ---- */

static void clean(const struct experiment *e, str_id *id)
{
    char *text = experiment_public_text(e, strtab_get(e->strings, *id));
    *id = strtab_add(e->strings, text);
    mem_free(text);
}

/* Of "/home/me/heat 160000 --secret" "heat" stays. */
static void clean_command(const struct experiment *e, str_id *id)
{
    char *program = mem_strdup(strtab_get(e->strings, *id));
    program[strcspn(program, " ")] = '\0';
    *id = strtab_add(e->strings, path_base(program));
    mem_free(program);
    clean(e, id);
}

static void clean_processes(struct experiment *e)
{
    str_id nothing = strtab_add(e->strings, "");
    for (size_t i = 0; i < e->process_count; i++) {
        struct hpcprof_process *p = &e->processes[i];
        p->source_file = strtab_printf(e->strings, "process %zu", i + 1);
        p->host = p->working_dir = nothing;
        p->pid = p->parent_pid = 0;
        clean_command(e, &p->command);
        clean(e, &p->kernel);
    }
}

/* Options of a compiler without those that name folders and files. */
static str_id without_paths(struct strtab *strings, const char *options)
{
    struct buf kept = {0};
    while (*options) {
        size_t n = strcspn(options, " ");
        if (n && !memchr(options, '/', n)) {
            buf_str(&kept, kept.len ? " " : "");
            buf_add(&kept, options, n);
        }
        options += n + (options[n] == ' ');
    }
    str_id all = strtab_addn(strings, kept.bytes, kept.len);
    buf_release(&kept);
    return all;
}

/* Environment variables are removed. */
static void clean_environment(struct experiment *e, struct experiment_run *run)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run->environment_count; i++) {
        if (str_starts(strtab_get(e->strings, run->environment[i].name), ENVIRONMENT_VARIABLE))
            continue;
        run->environment[kept] = run->environment[i];
        clean(e, &run->environment[kept].name);
        str_id *value = &run->environment[kept++].value;
        *value = without_paths(e->strings, strtab_get(e->strings, *value));
        clean(e, value);
    }
    run->environment_count = kept;
}

void experiment_anonymize(struct experiment *e)
{
    experiment_anonymity_free(e->anonymity);
    e->anonymity = find_hidden(e);
    clean(e, &e->title);
    for (size_t i = 0; i < e->run_count; i++) {
        clean(e, &e->runs[i].name);
        clean_command(e, &e->runs[i].command);
        for (size_t k = 0; k < e->runs[i].module_count; k++)
            clean(e, &e->runs[i].modules[k]);
        clean_environment(e, &e->runs[i]);
    }
    clean_processes(e);
    for (size_t i = 0; i < e->file_count; i++)
        clean(e, &e->files[i].name);
    for (size_t i = 0; i < e->place_count; i++)
        if (e->places[i].kind <= PLACE_FILE) { /* procedures have names of the program's own */
            clean(e, &e->places[i].name);
            clean(e, &e->places[i].full_name);
        }
    for (size_t i = 0; i < e->metric_count; i++) {
        clean(e, &e->metrics[i].name);
        clean(e, &e->metrics[i].display_name);
        clean(e, &e->metrics[i].description);
        clean(e, &e->metrics[i].formula);
    }
}
