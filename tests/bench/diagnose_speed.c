/*
 * Properties over places: time of a diagnosis, and of the same formulas as metrics (the lower bound).
 *
 *     diagnose_speed PLACES PROPERTIES     prints seconds of the diagnosis and of the formulas by one thread
 */
#include "diagnose/diagnose.h"
#include "tests/fixtures/sample_experiments.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EVENTS = 7, BLOCK = 1024 };

/* For one thread its CPU time, so that other load does not count; for several threads the elapsed time. */
static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *condition(unsigned i)
{
    return mem_printf("EVENT_%u / EVENT_%u > 1.%02u and share(EVENT_%u) > 0.05", i % EVENTS,
                      (i / EVENTS + 1 + i) % EVENTS, i % 100, i % EVENTS);
}

static struct properties *make_properties(unsigned n)
{
    struct properties *p = properties_create();
    struct warnings *problems = warnings_create();
    struct buf text = {0};
    for (unsigned i = 0; i < n; i++) {
        char *holds = condition(i);
        buf_printf(&text,
                   "PROPERTY P%u { FOR PROGRAM, MODULE, FILE, PROCEDURE, INLINE, LOOP, LINE; CONDITION: %s; "
                   "SEVERITY: 100 * share(EVENT_%u); }\n",
                   i, holds, i % EVENTS);
        mem_free(holds);
    }
    properties_add(p, text.bytes, text.len, "bench", problems);
    properties_finish(p, problems);
    for (size_t i = 0; i < warnings_count(problems); i++)
        fprintf(stderr, "%s\n", warnings_get(problems, i));
    if (warnings_count(problems))
        exit(1);
    warnings_free(problems);
    buf_release(&text);
    return p;
}

static double time_diagnosis(const struct experiment *e, const struct properties *p, unsigned threads, size_t *found)
{
    struct diagnose_options options = {.threshold = 5, .threads = threads};
    struct diagnosis *d;
    struct err err = {0};
    clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    double begin = now(clock);
    if (diagnose(e, p, &options, &d, &err) < 0)
        exit(1);
    double seconds = now(clock) - begin;
    *found = d->findings.count;
    diagnosis_free(d);
    return seconds;
}

/* The conditions alone, over the same columns. */
static double time_formulas(const struct experiment *e, unsigned n)
{
    double *columns[EVENTS], *out = mem_alloc(BLOCK * sizeof *out), total[BLOCK];
    for (size_t m = 0; m < EVENTS; m++) {
        columns[m] = mem_alloc(e->place_count * sizeof **columns);
        experiment_column(e, TREE_SCOPES, m, VALUE_INCLUSIVE, 0, e->place_count, columns[m]);
    }
    double begin = now(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned i = 0; i < n; i++) {
        char *holds = condition(i);
        struct expr *x;
        struct err err = {0};
        if (expr_parse(holds, "bench", &x, &err) < 0)
            exit(1);
        for (size_t from = 0; from < e->place_count; from += BLOCK) {
            const double *operands[8];
            for (size_t k = 0; k < expr_name_count(x); k++) {
                const struct expr_operand *o = expr_operand(x, k);
                size_t m = (size_t)atoi(o->name + strlen("EVENT_"));
                operands[k] = columns[m] + from;
                for (size_t b = 0; o->at == EXPR_AT_TOTAL && b < BLOCK; b++)
                    total[b] = columns[m][0];
                if (o->at == EXPR_AT_TOTAL)
                    operands[k] = total;
            }
            expr_eval_columns(x, operands, e->place_count - from < BLOCK ? e->place_count - from : BLOCK, out);
        }
        expr_free(x);
        mem_free(holds);
    }
    double seconds = now(CLOCK_PROCESS_CPUTIME_ID) - begin;
    for (size_t m = 0; m < EVENTS; m++)
        mem_free(columns[m]);
    mem_free(out);
    return seconds;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    size_t found;
    struct experiment *e = sample_large((size_t)atol(argv[1]), EVENTS);
    struct properties *p = make_properties((unsigned)atoi(argv[2]));
    double formulas = time_formulas(e, (unsigned)atoi(argv[2]));
    double one = time_diagnosis(e, p, 1, &found), all = time_diagnosis(e, p, 0, &found);
    printf("%.3f %.3f %.3f %zu\n", formulas, one, all, found);
    properties_free(p);
    experiment_free(e);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
