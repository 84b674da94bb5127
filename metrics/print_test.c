/*
 * What `print` makes of an experiment, to the letter: tests/print/print.cases (tests/cases.h). A case has
 *
 *     sample                     heat, facts, memory, waits, two-runs, hostile (htmlgen/sample.c); or
 *     drawing                    see diagnose/drawing.c
 *     by LEVEL [OPTION...]       the rows of a level; format=WORD top=N sort=NAME threshold=N scope=GLOB of=PLACE -fused
 *                                -tree -no-legend; in options '_' is a blank, '~' a '_'
 *     memory KIND [OPTION...]    reference, array, evictor
 *     table NAME [OPTION...]
 *     sources                    what is told of sources without text
 */
#include "diagnose/drawing.h"
#include "htmlgen/sample.h"
#include "metrics/metrics_int.h"
#include "tests/cases.h"

#include <math.h>

struct at_hand { /* of the case */
    char *drawing, *sample, *folder;
    struct experiment *e;
};

static void begin(void *ctx, const char *name)
{
    struct at_hand *h = ctx;
    (void)name;
    experiment_free(h->e);
    h->e = NULL;
}

static void take_option(void *ctx, const char *word)
{
    (void)ctx;
    (void)word;
    exit(99);
}

/* The one that is given is what is printed. */
static void take_input(void *ctx, const char *which, const char *text)
{
    struct at_hand *h = ctx;
    mem_free(h->drawing);
    mem_free(h->sample);
    h->drawing = *which == 'd' ? mem_strdup(text) : NULL;
    h->sample = *which == 's' ? mem_strndup(text, strcspn(text, "\n")) : NULL;
}

static struct experiment *sample_named(const struct at_hand *h)
{
    static const struct {
        const char *name;
        struct experiment *(*make)(const char *dir);
    } samples[] = {{"heat", sample_heat},   {"facts", sample_facts},       {"memory", sample_memory},
                   {"waits", sample_waits}, {"two-runs", sample_two_runs}, {"hostile", sample_hostile}};
    for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
        if (strcmp(samples[i].name, h->sample) == 0)
            return samples[i].make(h->folder);
    exit(99);
}

/* Measured metrics have exclusive values, and all columns are shown. */
static struct experiment *drawn(const struct at_hand *h)
{
    struct experiment *e = drawing_read(h->drawing, "a drawing");
    for (size_t m = 0; m < e->metric_count; m++) {
        e->metrics[m].display = e->metrics[m].has_exclusive = true;
        e->metrics[m].percent = e->metrics[m].summed;
    }
    return e;
}

struct to_print {
    struct experiment *e;
    const char *what, *name;
    struct print_options options;
    struct err err;
    int status;
};

static void print_it(void *ctx, struct outfile *out)
{
    static const char *const kinds[] = {"reference", "array", "evictor"};
    struct to_print *p = ctx;
    size_t kind = 0;
    while (kind < ARRAY_SIZE(kinds) && strcmp(kinds[kind], p->name) != 0)
        kind++;
    if (strcmp(p->what, "by") == 0)
        p->status = print_level_parse(p->name, &p->options.level, &p->err) < 0
                        ? -1
                        : experiment_print(p->e, &p->options, out, &p->err);
    else if (strcmp(p->what, "table") == 0)
        p->status = experiment_print_table(p->e, p->name, &p->options, out, &p->err);
    else if (kind < ARRAY_SIZE(kinds))
        p->status = experiment_print_memory(p->e, (enum print_memory)kind, &p->options, out, &p->err);
    else
        exit(99);
}

static void read_option(struct print_options *o, char *word)
{
    char *value = strchr(word, '=');
    for (char *c = value ? value + 1 : word; *c; c++)
        *c = *c == '_' ? ' ' : *c == '~' ? '_' : *c;
    if (str_starts(word, "format="))
        o->format = strcmp(value, "=csv") == 0 ? PRINT_CSV : strcmp(value, "=json") == 0 ? PRINT_JSON : PRINT_TEXT;
    else if (str_starts(word, "top="))
        o->top = strtoul(value + 1, NULL, 10);
    else if (str_starts(word, "threshold="))
        o->threshold = strtod(value + 1, NULL);
    else if (str_starts(word, "sort="))
        o->sort_by = value + 1;
    else if (str_starts(word, "scope="))
        o->scope = value + 1;
    else if (str_starts(word, "of="))
        o->of = value + 1;
    else if (strcmp(word, "-fused") == 0)
        o->fused = true;
    else if (strcmp(word, "-tree") == 0)
        o->tree = true;
    else if (strcmp(word, "-no-legend") == 0)
        o->no_legend = true;
    else
        exit(99);
}

static void say_sources(const struct experiment *e, struct buf *out)
{
    struct warnings *w = warnings_create();
    experiment_warn_sources(e, w);
    for (size_t i = 0; i < warnings_count(w); i++)
        buf_printf(out, "%s\n", warnings_get(w, i));
    if (warnings_count(w) == 0)
        buf_str(out, "nothing\n");
    warnings_free(w);
}

static void make_output(void *ctx, const char *what, struct buf *out)
{
    struct at_hand *h = ctx;
    struct to_print p = {0};
    char *words = mem_strdup(what), *rest = words;
    if (!h->e) {
        h->e = h->sample ? sample_named(h) : drawn(h);
        formulas_from_texts(h->e); /* as a database's are */
        for (size_t m = 0; m < h->e->metric_count; m++)
            h->e->metrics[m].exact_total = NAN;
    }
    if (strcmp(what, "sources") == 0) {
        say_sources(h->e, out);
        mem_free(words);
        return;
    }
    p.e = h->e;
    p.what = strsep(&rest, " ");
    p.name = strsep(&rest, " ");
    for (char *word; (word = strsep(&rest, " "));)
        read_option(&p.options, word);
    cases_written(out, print_it, &p);
    if (p.status > 0)
        buf_printf(out, "status %d\n", p.status);
    if (p.status < 0) {
        out->len = 0;
        buf_printf(out, "error: %s\n", p.err.msg);
    }
    mem_free(words);
}

int main(void)
{
    static const char *const inputs[] = {"sample", "drawing", NULL};
    char folder[] = "/tmp/print_test.XXXXXX";
    struct at_hand h = {.folder = mkdtemp(folder)};
    struct cases c = {inputs, begin, take_option, take_input, make_output, &h, NULL, {0}};
    if (!h.folder)
        return 1;
    cases_run(&c, "tests/print/print.cases");
    dir_remove_tree(folder, NULL);
    mem_free(h.drawing);
    mem_free(h.sample);
    return tap_done();
}
