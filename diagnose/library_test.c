/*
 * The properties that come with hpcview, each with an experiment that hits it and one that does not:
 * tests/diagnose/library.cases. A case is
 *
 *     case PROPERTY true LEAST MOST     its worst severity is between these
 *     case PROPERTY false               (or: unknown)
 *     case PROPERTY needs WORDS         it was not tested, for this
 *
 * and a drawing below it; "same" in place of a drawing: that of the case before.
 */
#include "diagnose/diagnose_int.h"
#include "diagnose/drawing.h"
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

static void check_case(const struct properties *p, char *head, const char *drawing, struct counts *counts)
{
    char property[100] = "", state[40] = "", words[200] = "";
    double least = 0, most = 100;
    struct diagnosis *d = NULL;
    struct diagnose_options options = {.threshold = 1, .threads = 1};
    if (sscanf(head, "case %99s %39s %199[^\n]", property, state, words) < 2)
        exit(99);
    sscanf(words, "%lf %lf", &least, &most);
    struct experiment *e = drawing_read(drawing, head);
    diagnose(e, p, &options, &d, NULL);
    const struct search_step *s = step_of(d, property);
    const char *got = s ? diagnose_state_word(s->state) : "there is no such property";
    bool needs = strcmp(state, "needs") == 0;
    bool ok =
        needs ? s && s->state == SEARCH_NOT_MEASURABLE && strstr(s->note, words)
              : s && strcmp(got, state) == 0 && (s->state != SEARCH_TRUE || (s->value >= least && s->value <= most));
    if (!CHECK_NAMED(ok, head))
        printf("# got %s %g: %s %s\n", got, s ? s->value : 0.0, s ? s->where : "", s ? s->note : "");
    uint32_t ix = property_named(p, property);
    if (ix != NONE) {
        counts[ix].hit = counts[ix].hit || (s && s->state == SEARCH_TRUE);
        counts[ix].missed = counts[ix].missed || (s && (s->state == SEARCH_FALSE || s->state == SEARCH_UNKNOWN));
    }
    diagnosis_free(d);
    experiment_free(e);
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
    mem_free(drawing);
    mem_free(all);
    mem_free(counts);
}

int main(void)
{
    const char *top = getenv("top_srcdir");
    char *path = path_join(top ? top : ".", "tests/diagnose/library.cases");
    struct properties *p = library();
    struct filemap map;
    struct err err = {0};
    CHECK(properties_count(p) > 0);
    if (CHECK_NAMED(filemap_open(&map, path, &err) == 0, "there are cases")) {
        check_file(p, (const char *)map.bytes, map.len);
        filemap_release(&map);
    }
    mem_free(path);
    properties_free(p);
    return tap_done();
}
