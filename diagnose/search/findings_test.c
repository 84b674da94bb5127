/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings for given properties and a drawing, compared verbatim: tests/diagnose/findings.cases (tests/cases.h). A case
 * has
 *
 *     strategy=WORD, threshold=N, rounds=N, -one-program      options
 *     -measured                   each run stores its modules
 *     properties                  as in a property file
 *     drawing                     see tests/fixtures/outline.c
 *     text, csv, json, sarif, periscope, graph                the output in that format
 *     wishes                      the next measurements requested
 *     stored N                    as read back from the tables, from N percent on
 */
#include "diagnose/search/search.h"
#include "tests/fixtures/outline.h"
#include "metrics/join/join.h"
#include "tests/cases.h"

#include <math.h>

struct at_hand { /* of the case */
    char *properties, *drawing;
    struct diagnose_options options;
    bool measured;
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
    h->measured = false;
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
    else if (strcmp(word, "-measured") == 0)
        ((struct at_hand *)ctx)->measured = true;
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
    h->e = outline_read(h->drawing, "a drawing");
    if (h->measured)
        measured_from_values(h->e);
    CHECK_INT(diagnosis_stored(h->e, 0, &h->d), 0);
    if (diagnose(h->e, h->p, &h->options, &h->d, &err) < 0)
        exit(99);
    bool nodes = true; /* nodes exist only in a tree of calls */
    for (size_t i = 0; i < h->d->findings.count; i++)
        nodes = nodes && (h->d->findings.items[i].node == NODE_NONE) == (h->d->findings.items[i].tree == TREE_SCOPES);
    CHECK(nodes);
}

/* ---- requests ------------------------------------------------------------------------------------------- */

struct to_write {
    const struct at_hand *h;
    const struct diagnosis *d;
    enum diagnose_format format;
};

static void write_it(void *ctx, struct outfile *out)
{
    const struct to_write *w = ctx;
    diagnosis_write(w->h->e, w->h->p, w->d, w->format, (struct diagnose_text){true, true}, "1.0", out);
}

static void add_written(const struct at_hand *h, const struct diagnosis *d, enum diagnose_format format,
                        struct buf *out)
{
    struct to_write w = {h, d, format};
    cases_written(out, write_it, &w);
}

static void add_wishes(struct at_hand *h, struct buf *out)
{
    struct diagnose_measurements wishes = {0};
    diagnosis_next_measurements(h->e, h->p, h->d, &wishes);
    for (size_t i = 0; i < wishes.count; i++) {
        const struct diagnose_measurement *w = &wishes.items[i];
        if (w->event)
            buf_printf(out, "event %s", w->event);
        else
            buf_printf(out, "%s of %s", w->made_by,
                       w->procedure == PLACE_NONE ? "all" : strtab_get(h->e->strings, h->e->places[w->procedure].name));
        struct experiment_code_list code = {0};
        if (w->procedure != PLACE_NONE)
            experiment_code_of(h->e, w->procedure, &code);
        for (size_t k = 0; k < code.count; k++)
            buf_printf(out, " %s:%llu-%llu", code.items[k].module, (unsigned long long)code.items[k].from,
                       (unsigned long long)code.items[k].to);
        vec_release(&code);
        buf_printf(out, " for %s\n", w->property);
    }
    if (!wishes.count)
        buf_str(out, "nothing\n");
    vec_release(&wishes);
}

/* Stored in the experiment twice, as in a database that had findings already. */
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
        outline_read("metric t 1000 us CPUTIME\nMODULE prog\n FILE a.c\n  PROC f 3 t=1\n", "a drawing");
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

/* ---- words ------------------------------------------------------------------------------------------------ */

static void check_words(void)
{
    static const char *const strategies[] = {"whole", "location-first", "property-first", "loop-aware", "functions"},
                             *const formats[] = {"text", "csv", "json", "sarif", "periscope", "graph"};
    enum diagnose_strategy strategy;
    enum diagnose_format format;
    struct err err = {0};
    for (size_t i = 0; i < ARRAY_SIZE(strategies); i++)
        CHECK(diagnose_strategy_parse(strategies[i], &strategy, &err) == 0 && strategy == (enum diagnose_strategy)i);
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        CHECK(diagnose_format_parse(formats[i], &format, &err) == 0 && format == (enum diagnose_format)i);
    CHECK_INT(diagnose_strategy_parse("wholes", &strategy, &err), -1);
    CHECK_STR(err.msg,
              "unknown strategy 'wholes'; available: whole, location-first, property-first, loop-aware, functions");
    err = (struct err){0};
    CHECK_INT(diagnose_format_parse("", &format, &err), -1);
    CHECK_STR(err.msg, "unknown format ''; available: text, csv, json, sarif, periscope, graph");
}

/* ---- tables of these names from other tools or older versions -------------------------------------------------- */

static void check_foreign_tables(void)
{
    static const struct {
        const char *name, *tables;
        double threshold;
        const char *want; /* stored rows: each finding, each step */
    } cases[] = {
        {"findings alone", "table findings place:place\nrow f\n", 0, NULL},
        {"a search alone", "table search place:place\nrow f\n", 0, NULL},
        {"with next to nothing in them", "table findings other:text\nrow x\ntable search other:count\nrow 5\n", 0,
         "0: |||0|?|?|the program. state not reached||the program|0|-|?|;"},
        {"columns of other types",
         "table findings place:count property:count severity:text confidence:count copies:number path:count\n"
         "row 1 2 x 3 4 5\ntable search state:count value:text parent:count experiment:number place:text\n"
         "row 1 x 0 2 f\n",
         0, "0: |||0|?|?|the program. state not reached||the program|0|-|?|;"},
        {"all that is read",
         "table findings place:place property:text severity:number confidence:number error:number evidence:text "
         "explanation:text remedy:text path:text copies:count name:text\n"
         "row f T 5 0.5 0.25 e x r - 3 N\nrow - U 2 1 - - - - a_>_b 1 M\n"
         "table search hypothesis:text place:place state:text value:number threshold:number experiment:count "
         "parent:search note:text\n"
         "row H f true 5 1.5 1 - n\nrow I - pruned - 1.5 4 0 -\nrow J f wrong 1 - 2 7 -\n",
         2,
         "2: N|T|e|3|5|0.5|f. M|U||1|2|1|a > b. state true|H|f|1|-|5|n; state pruned|I|the program|4|0|?|; state not "
         "reached|J|f|2|-|1|;"},
        {"from five percent on",
         "table findings severity:number place:place\nrow 5 f\nrow 4.99 f\nrow - f\n"
         "table search threshold:number\nrow 1\nrow 3\n",
         5, "5: |||0|5|?|f. state not reached||the program|0|-|?|; state not reached||the program|0|-|?|;"},
        {"a threshold below what was looked for", "table findings n:count\ntable search threshold:number\nrow 3\n",
         2.99, NULL},
        {"the threshold of then", "table findings n:count\ntable search threshold:number\nrow 3\n", 3,
         "3:  state not reached||the program|0|-|?|;"},
        {"whatever the threshold of then was", "table findings n:count\ntable search threshold:number\nrow 3\n", NAN,
         "3:  state not reached||the program|0|-|?|;"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *drawing =
            mem_printf("metric t 1 us CPUTIME\nMODULE prog\n FILE a.c\n  PROC f 3 @f t=1\n%s", cases[i].tables);
        struct experiment *e = outline_read(drawing, cases[i].name);
        struct diagnosis *d = NULL;
        struct buf got = {0};
        CHECK_INT(diagnosis_stored(e, cases[i].threshold, &d), cases[i].want != NULL);
        if (d) {
            buf_printf(&got, "%g:", d->threshold);
            for (size_t k = 0; k < d->findings.count; k++) {
                const struct finding *f = &d->findings.items[k];
                buf_printf(&got, " %s|%s|%s|%zu|", f->property, f->title, f->evidence, f->copies);
                buf_printf(&got, isnan(f->severity) ? "?|" : "%g|", f->severity);
                buf_printf(&got, isnan(f->confidence) ? "?|" : "%g|", f->confidence);
                buf_printf(&got, "%s.", f->where);
            }
            if (!d->findings.count)
                buf_str(&got, " ");
            for (size_t k = 0; k < d->search.count; k++) {
                const struct search_step *s = &d->search.items[k];
                buf_printf(&got, " state %s|%s|%s|%u|", diagnose_state_word(s->state), s->property, s->where,
                           s->experiment);
                buf_printf(&got, s->parent == NONE ? "-|" : "%u|", s->parent);
                buf_printf(&got, isnan(s->value) ? "?|" : "%g|", s->value);
                buf_printf(&got, "%s;", s->note);
            }
            tap_str(got.bytes, cases[i].want ? cases[i].want : "", cases[i].name, __FILE__, __LINE__);
        }
        buf_release(&got);
        diagnosis_free(d);
        experiment_free(e);
        mem_free(drawing);
    }
}

/* More places than are stored: the first ones are. */
static void check_many_places(void)
{
    enum { PLACES = 20100, KEPT = 20000 };
    const char *text =
        "METRIC time = CPUTIME; PROPERTY All (LINE l) { TOGETHER; CONDITION: time > 0; SEVERITY: 0.001; }"
        "PROPERTY One (LINE l) { TOGETHER; CONDITION: time == 7; SEVERITY: 5; }";
    struct warnings *problems = warnings_create();
    struct properties *p = properties_create();
    struct diagnose_options options = {.threshold = 1, .threads = 1};
    struct diagnosis *d = NULL;
    struct buf drawing = {0};
    struct err err = {0};
    buf_str(&drawing, "metric t 1 us CPUTIME\nMODULE prog\n FILE a.c\n  PROC f 3\n");
    for (unsigned i = 0; i < PLACES; i++)
        buf_printf(&drawing, "   LINE %u t=%d\n", i + 4, i + 1 == PLACES ? 7 : 1);
    struct experiment *e = outline_read(drawing.bytes, "many lines");
    properties_add(p, text, strlen(text), "p.asl", problems);
    properties_finish(p, problems);
    CHECK_INT(diagnose(e, p, &options, &d, &err), 0);
    if (CHECK_NAMED(d && d->findings.count == 2, "many places are found")) {
        CHECK_INT(d->findings.items[0].copies, KEPT);
        CHECK_INT(d->findings.items[1].copies, 1);
        CHECK_STR(d->findings.items[1].where, "a.c:20103 in f");
    }
    diagnosis_free(d);
    properties_free(p);
    warnings_free(problems);
    experiment_free(e);
    buf_release(&drawing);
}

int main(void)
{
    static const char *const inputs[] = {"properties", "drawing", NULL};
    struct at_hand h = {0};
    struct cases c = {inputs, begin, take_option, take_input, make_output, &h, NULL, {0}};
    cases_run(&c, "tests/diagnose/findings.cases");
    check_thresholds();
    check_words();
    check_foreign_tables();
    check_many_places();
    mem_free(h.properties);
    mem_free(h.drawing);
    return tap_done();
}
