/*
 * What becomes of properties on a drawing, to the letter: tests/diagnose/findings.cases (tests/cases.h). A case has
 *
 *     strategy=WORD, threshold=N, rounds=N, -one-program      options
 *     properties                  as in a file of them
 *     drawing                     see drawing.c
 *     text, csv, json, sarif, periscope, graph                as they are written
 *     wishes                      what is asked for next
 *     stored N                    as it is read back from the tables, from N percent on
 */
#include "diagnose/diagnose_int.h"
#include "diagnose/drawing.h"
#include "tests/cases.h"

#include <math.h>

struct at_hand { /* of the case */
    char *properties, *drawing;
    struct diagnose_options options;
    struct experiment *e;
    struct properties *p;
    struct diagnosis *d;
};

static void begin(void *ctx, const char *name)
{
    struct at_hand *h = ctx;
    (void)name;
    diagnosis_free(h->d);
    experiment_free(h->e);
    properties_free(h->p);
    h->d = NULL;
    h->e = NULL;
    h->p = NULL;
    h->options = (struct diagnose_options){.threshold = 1, .threads = 1};
}

static void take_option(void *ctx, const char *word)
{
    struct diagnose_options *o = &((struct at_hand *)ctx)->options;
    struct err err = {0};
    if (str_starts(word, "strategy=") && diagnose_strategy_parse(word + 9, &o->strategy, &err) == 0)
        return;
    if (str_starts(word, "threshold="))
        o->threshold = strtod(word + 10, NULL);
    else if (str_starts(word, "rounds="))
        o->experiments = strtoul(word + 7, NULL, 10);
    else if (strcmp(word, "-one-program") == 0)
        o->one_program = true;
    else
        exit(99);
}

static void take_input(void *ctx, const char *which, const char *text)
{
    struct at_hand *h = ctx;
    char **to = *which == 'p' ? &h->properties : &h->drawing;
    mem_free(*to);
    *to = mem_strdup(text);
}

static void look(struct at_hand *h)
{
    struct warnings *problems = warnings_create();
    struct err err = {0};
    h->p = properties_create();
    properties_add(h->p, h->properties, strlen(h->properties), "p.asl", problems);
    properties_finish(h->p, problems);
    for (size_t i = 0; i < warnings_count(problems); i++)
        printf("# %s\n", warnings_get(problems, i));
    CHECK_INT(warnings_count(problems), 0);
    warnings_free(problems);
    h->e = drawing_read(h->drawing, "a drawing");
    CHECK_INT(diagnosis_stored(h->e, 0, &h->d), 0);
    if (diagnose(h->e, h->p, &h->options, &h->d, &err) < 0)
        exit(99);
}

/* ---- what is asked for ---------------------------------------------------------------------------------- */

struct to_write {
    const struct at_hand *h;
    const struct diagnosis *d;
    enum diagnose_format format;
};

static void write_it(void *ctx, struct outfile *out)
{
    const struct to_write *w = ctx;
    diagnosis_write(w->h->e, w->h->p, w->d, w->format, "1.0", out);
}

static void add_written(const struct at_hand *h, const struct diagnosis *d, enum diagnose_format format,
                        struct buf *out)
{
    struct to_write w = {h, d, format};
    cases_written(out, write_it, &w);
}

static void add_wishes(struct at_hand *h, struct buf *out)
{
    struct diagnose_wishes wishes = {0};
    diagnosis_wishes(h->e, h->p, h->d, &wishes);
    for (size_t i = 0; i < wishes.count; i++) {
        const struct diagnose_wish *w = &wishes.items[i];
        if (w->event)
            buf_printf(out, "event %s", w->event);
        else
            buf_printf(out, "%s of %s", w->made_by, w->procedure ? w->procedure : "all");
        buf_printf(out, " for %s\n", w->property);
    }
    if (!wishes.count)
        buf_str(out, "nothing\n");
    vec_release(&wishes);
}

/* Written into the experiment twice, as into a database that had findings already. */
static void add_stored(struct at_hand *h, double threshold, struct buf *out)
{
    struct diagnosis *stored = NULL;
    struct err err = {0};
    CHECK_INT(diagnosis_add_tables(h->e, h->d, &err), 0);
    size_t tables = h->e->tables.count;
    CHECK_INT(diagnosis_add_tables(h->e, h->d, &err), 0);
    CHECK_INT(h->e->tables.count, tables);
    if (diagnosis_stored(h->e, threshold, &stored) == 1) {
        buf_printf(out, "threshold %g, rounds %u\n", stored->threshold, stored->experiments);
        add_written(h, stored, DIAGNOSE_JSON, out);
    } else
        buf_str(out, "nothing\n");
    diagnosis_free(stored);
}

static void make_output(void *ctx, const char *what, struct buf *out)
{
    struct at_hand *h = ctx;
    enum diagnose_format format;
    struct err err = {0};
    if (!h->d)
        look(h);
    if (diagnose_format_parse(what, &format, &err) == 0)
        add_written(h, h->d, format, out);
    else if (strcmp(what, "wishes") == 0)
        add_wishes(h, out);
    else if (str_starts(what, "stored "))
        add_stored(h, strtod(what + 7, NULL), out);
    else
        exit(99);
}

static void check_thresholds(void)
{
    static const struct {
        double threshold;
        int status;
    } asked[] = {{0, 0}, {100, 0}, {-0.5, -1}, {100.5, -1}, {NAN, -1}};
    struct experiment *e =
        drawing_read("metric t 1000 us CPUTIME\nMODULE prog\n FILE a.c\n  PROC f 3 t=1\n", "a drawing");
    struct properties *p = properties_create();
    for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
        struct diagnose_options options = {.threshold = asked[i].threshold, .threads = 1};
        struct diagnosis *d = NULL;
        struct err err = {0};
        CHECK_INT(diagnose(e, p, &options, &d, &err), asked[i].status);
        CHECK_STR(err.msg, asked[i].status ? "a threshold is a percentage from 0 to 100" : "");
        diagnosis_free(d);
    }
    properties_free(p);
    experiment_free(e);
}

int main(void)
{
    static const char *const inputs[] = {"properties", "drawing", NULL};
    struct at_hand h = {0};
    struct cases c = {inputs, begin, take_option, take_input, make_output, &h, NULL, {0}};
    cases_run(&c, "tests/diagnose/findings.cases");
    check_thresholds();
    mem_free(h.properties);
    mem_free(h.drawing);
    return tap_done();
}
