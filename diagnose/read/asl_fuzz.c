/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a property file: properties or error messages, nothing else; properties that were read can be
   evaluated. */
#include "diagnose/diagnose.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A program with one procedure, one loop and one line of time. */
static struct experiment *smallest(void)
{
    static const uint8_t kinds[] = {PLACE_PROGRAM, PLACE_MODULE, PLACE_FILE, PLACE_PROC, PLACE_LOOP, PLACE_LINE};
    struct experiment *e = mem_calloc(1, sizeof *e);
    double own[ARRAY_SIZE(kinds)];
    e->strings = strtab_create();
    e->place_count = ARRAY_SIZE(kinds);
    e->places = mem_calloc(e->place_count, sizeof *e->places);
    for (uint32_t i = 0; i < e->place_count; i++) {
        e->places[i] = (struct place){
            .kind = kinds[i], .parent = i ? i - 1 : PLACE_NONE, .file = SOURCE_NONE, .line_first = i, .same = i};
        own[i] = i + 1 == e->place_count ? 1000 : (double)NAN;
    }
    e->metric_count = 1;
    e->metrics = mem_calloc(1, sizeof *e->metrics);
    e->metrics[0] = (struct metric){
        .name = strtab_add(e->strings, "T"), .event = strtab_add(e->strings, "T"), .period = 1, .summed = true};
    experiment_add_tree(e, "scopes", "Scopes", e->place_count, NULL, NULL);
    experiment_sum_column(e, TREE_SCOPES, 0, own);
    return e;
}

static void look(const struct experiment *e, const struct properties *p, enum diagnose_strategy strategy)
{
    struct diagnose_options options = {.strategy = strategy, .threads = 1, .experiments = 20};
    struct diagnosis *d = NULL;
    struct err err = {0};
    if (diagnose(e, p, &options, &d, &err) < 0)
        __builtin_trap();
    for (size_t i = 0; i < d->findings.count; i++)
        if (!(d->findings.items[i].severity <= 100) || !(d->findings.items[i].confidence <= 1))
            __builtin_trap();
    diagnosis_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct properties *p = properties_create();
    struct warnings *problems = warnings_create();
    properties_add(p, data, size, "fuzz", problems);
    size_t at_reading = warnings_count(problems);
    properties_finish(p, problems);
    for (size_t i = 0; i < warnings_count(problems); i++)
        if (i < LIMIT_WARNINGS && !str_starts(warnings_get(problems, i), "fuzz:"))
            __builtin_trap(); /* each message contains a location */
    if (warnings_count(problems) == at_reading && properties_count(p) < 50) {
        struct experiment *e = smallest();
        look(e, p, DIAGNOSE_WHOLE);
        look(e, p, DIAGNOSE_PROPERTY_FIRST);
        experiment_free(e);
    }
    warnings_free(problems);
    properties_free(p);
    return 0;
}
