/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The properties included with hpcview, each with an experiment in which it holds and one in which it does not:
 * tests/diagnose/library.cases. A case is
 *
 *     case PROPERTY true LEAST MOST     its highest severity is in this range
 *     case PROPERTY false               (or: unknown)
 *     case PROPERTY needs WORDS         it was not tested, for this reason
 *     case PROPERTY says WORDS          the evidence of one of its findings contains them
 *     case PROPERTY sure LEAST MOST     its first finding's confidence is in this range
 *     case PROPERTY silent              it has no finding
 *
 * followed by a drawing; "same" instead of a drawing: that of the previous case.
 */
#include "diagnose/read/read.h"
#include "tests/fixtures/outline.h"
#include "tests/tap.h"

#include <stdlib.h>

static struct properties *library(void)
{
    const char *top = getenv("top_srcdir");
    char *dir = path_join(top ? top : ".", "share/properties");
    struct properties *p = properties_create();
    struct warnings *problems = warnings_create();
    struct err err = {0};
    if (properties_add_folder(p, dir, problems, &err) < 0)
        printf("# %s\n", err.msg);
    properties_finish(p, problems);
    for (size_t i = 0; i < warnings_count(problems); i++)
        printf("# %s\n", warnings_get(problems, i));
    CHECK_NAMED(warnings_count(problems) == 0, "nothing is wrong with the properties that come with hpcview");
    warnings_free(problems);
    mem_free(dir);
    return p;
}

struct counts {
    bool hit, missed;
};

static const struct search_step *step_of(const struct diagnosis *d, const char *property)
{
    const struct search_step *best = NULL;
    for (size_t i = 0; i < d->search.count; i++) {
        const struct search_step *s = &d->search.items[i];
        if (strcmp(s->property, property) == 0 && (!best || s->state == SEARCH_TRUE))
            best = s;
    }
    return best;
}

static const struct finding *finding_of(const struct diagnosis *d, const char *property)
{
    for (size_t i = 0; i < d->findings.count; i++)
        if (strcmp(d->findings.items[i].property, property) == 0)
            return &d->findings.items[i];
    return NULL;
}

/* About findings; -1: the word is about the search. */
static int finding_as_wanted(const struct finding *f, const char *word, const char *words, double least, double most)
{
    if (strcmp(word, "says") == 0)
        return f && strstr(f->evidence, words);
    if (strcmp(word, "sure") == 0)
        return f && f->confidence >= least && f->confidence <= most;
    return strcmp(word, "silent") == 0 ? !f : -1;
}

static void check_case(const struct properties *p, char *head, const char *drawing, struct counts *counts)
{
    char property[100] = "", state[40] = "", words[200] = "";
    double least = 0, most = 100;
    struct diagnosis *d = NULL;
    struct diagnose_options options = {.threshold = 1, .threads = 1};
    if (sscanf(head, "case %99s %39s %199[^\n]", property, state, words) < 2)
        exit(99);
    sscanf(words, "%lf %lf", &least, &most);
    struct experiment *e = outline_read(drawing, head);
    diagnose(e, p, &options, &d, NULL);
    const struct search_step *s = step_of(d, property);
    const char *got = s ? diagnose_state_word(s->state) : "there is no such property";
    bool needs = strcmp(state, "needs") == 0;
    bool ok =
        needs ? s && s->state == SEARCH_NOT_MEASURABLE && strstr(s->note, words)
              : s && strcmp(got, state) == 0 && (s->state != SEARCH_TRUE || (s->value >= least && s->value <= most));
    const struct finding *f = finding_of(d, property);
    int about_finding = finding_as_wanted(f, state, words, least, most);
    if (!CHECK_NAMED(about_finding >= 0 ? about_finding : ok, head))
        printf("# got %s %g: %s %s; %s (%g)\n", got, s ? s->value : 0.0, s ? s->where : "", s ? s->note : "",
               f ? f->evidence : "no finding", f ? f->confidence : 0.0);
    uint32_t ix = properties_find(p, property);
    if (ix != NONE) {
        counts[ix].hit = counts[ix].hit || (s && s->state == SEARCH_TRUE);
        counts[ix].missed = counts[ix].missed || (s && (s->state == SEARCH_FALSE || s->state == SEARCH_UNKNOWN));
    }
    diagnosis_free(d);
    experiment_free(e);
}

static void count_them(const struct properties *p, const struct counts *counts)
{
    size_t hypotheses = 0, hit = 0, missed = 0;
    for (size_t i = 0; i < properties_count(p); i++) {
        hypotheses += p->list.items[i]->hypothesis;
        hit += counts[i].hit;
        missed += counts[i].missed;
    }
    printf("# %zu properties, %zu of them hypotheses; %zu have a case that hits them, %zu one that does not\n",
           properties_count(p), hypotheses, hit, missed);
}

static void check_file(const struct properties *p, const char *bytes, size_t len)
{
    struct counts *counts = mem_calloc(properties_count(p) + 1, sizeof *counts);
    char *all = mem_strndup(bytes, len), *at = strstr(all, "case ");
    char *drawing = mem_strdup("");
    while (at) {
        char *next = strstr(at, "\ncase "), *body = strchr(at, '\n');
        if (next)
            *next++ = '\0';
        body = body && (!next || body < next) ? body : NULL;
        if (body)
            *body++ = '\0';
        if (body && !str_starts(body, "same")) {
            mem_free(drawing);
            drawing = mem_strdup(body);
        }
        check_case(p, at, drawing, counts);
        at = next;
    }
    for (size_t i = 0; i < properties_count(p); i++)
        if (!counts[i].hit || !counts[i].missed) {
            char *name = mem_printf("%s has a case that hits it and one that does not", p->list.items[i]->name);
            CHECK_NAMED(false, name);
            mem_free(name);
        }
    count_them(p, counts);
    mem_free(drawing);
    mem_free(all);
    mem_free(counts);
}

/* ---- sources ------------------------------------------------------------------------------------------ */

enum { LIBRARY_LEAST = 60 }; /* minimum number of properties that hpcview includes */

struct lines {
    struct filemap map;
    struct VEC(char *) of;
};

static void read_lines(struct lines *l, const char *path)
{
    struct err err = {0};
    if (filemap_open(&l->map, path, &err) < 0)
        exit(99);
    char *all = mem_strndup((const char *)l->map.bytes, l->map.len), *rest = all;
    for (char *line; (line = strsep(&rest, "\n"));)
        *vec_push(&l->of) = mem_strdup(line);
    mem_free(all);
    filemap_release(&l->map);
}

static void release_lines(struct lines *l)
{
    for (size_t i = 0; i < l->of.count; i++)
        mem_free(l->of.items[i]);
    vec_release(&l->of);
}

/* A comment right above the block that begins with this line, or in it. */
static bool has_comment(const struct lines *l, size_t line)
{
    bool block = l->of.items[line][strlen(l->of.items[line]) - 1] == '{';
    if (line && strncmp(l->of.items[line - 1], "//", 2) == 0)
        return true;
    for (; block && line < l->of.count && l->of.items[line][0] != '}'; line++)
        if (strstr(l->of.items[line], "// "))
            return true;
    return false;
}

/* Instances of a template may use the template's source reference. */
static bool has_source(const struct lines *l, size_t line)
{
    char *equals = strstr(l->of.items[line], " = "), *open = equals ? strchr(equals, '<') : NULL;
    if (has_comment(l, line) || !open)
        return has_comment(l, line);
    char *template = mem_printf("PROPERTY TEMPLATE %.*s<", (int)(open - equals - 3), equals + 3);
    bool found = false;
    for (size_t i = 0; i < l->of.count; i++)
        found = found || (str_starts(l->of.items[i], template) && has_comment(l, i));
    mem_free(template);
    return found;
}

static void check_sources(const struct properties *p)
{
    const char *file = NULL;
    struct lines l = {0};
    for (size_t i = 0; i < p->list.count; i++) {
        const struct property *of = p->list.items[i];
        if (!file || strcmp(file, of->at->file) != 0) {
            release_lines(&l);
            l = (struct lines){0};
            read_lines(&l, file = of->at->file);
        }
        if (!has_source(&l, of->at->line - 1)) {
            char *name = mem_printf("%s:%u: %s has its source in a comment", file, of->at->line, of->name);
            CHECK_NAMED(false, name);
            mem_free(name);
        }
    }
    release_lines(&l);
    CHECK_NAMED(p->list.count >= LIBRARY_LEAST, "there are at least sixty properties");
}

int main(void)
{
    const char *top = getenv("top_srcdir");
    char *path = path_join(top ? top : ".", "tests/diagnose/library.cases");
    struct properties *p = library();
    struct filemap map;
    struct err err = {0};
    check_sources(p);
    if (CHECK_NAMED(filemap_open(&map, path, &err) == 0, "there are cases")) {
        check_file(p, (const char *)map.bytes, map.len);
        filemap_release(&map);
    }
    mem_free(path);
    properties_free(p);
    return tap_done();
}
