/* SPDX-License-Identifier: BSD-3-Clause */
/* Which loops and functions changed: each is tested over the pairs, as the program is. */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_SHARE 0.01 /* of the time of either side: scopes with less are not tested */

struct sums {
    const struct experiment *e;
    size_t runs;
    uint32_t *row;               /* by place that is the first of its like: which of the rows below */
    struct VEC(place_ix) places; /* by row */
    struct VEC(double) values;   /* by row and run */
};

static double *values_of(struct sums *s, place_ix place)
{
    place_ix same = s->e->places[place].same;
    if (s->row[same] == UINT32_MAX) {
        s->row[same] = (uint32_t)s->places.count;
        *vec_push(&s->places) = same;
        for (size_t i = 0; i < s->runs; i++)
            *vec_push(&s->values) = 0;
    }
    return s->values.items + s->row[same] * s->runs;
}

/* The place that a place's own time counts for: a loop for itself, unless it is inside of a copy of itself; a line for the
   function around it. PLACE_NONE: for nothing. */
static place_ix counted_for(const struct experiment *e, place_ix i)
{
    const struct place *p = &e->places[i];
    place_ix up = p->parent;
    if (p->kind == PLACE_LOOP) {
        while (up != PLACE_NONE && e->places[up].same != p->same)
            up = e->places[up].parent;
        return up == PLACE_NONE ? i : PLACE_NONE;
    }
    if (p->kind != PLACE_LINE)
        return PLACE_NONE;
    while (e->places[up].kind != PLACE_PROC && e->places[up].kind != PLACE_INLINE && e->places[up].parent != PLACE_NONE)
        up = e->places[up].parent;
    return e->places[up].kind == PLACE_PROC || e->places[up].kind == PLACE_INLINE ? up : PLACE_NONE;
}

/* The first event of a run, in seconds where it is a time. */
static size_t metric_of(const struct experiment *e, uint32_t run, double *unit)
{
    static const struct {
        const char *unit;
        double seconds;
    } times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}};
    size_t metric = 0;
    while (metric < e->metric_count &&
           (e->metrics[metric].run != run || !*strtab_get(e->strings, e->metrics[metric].event)))
        metric++;
    *unit = 1;
    for (size_t i = 0; metric < e->metric_count && i < ARRAY_SIZE(times); i++)
        if (strcmp(strtab_get(e->strings, e->metrics[metric].unit), times[i].unit) == 0)
            *unit = times[i].seconds;
    return metric;
}

static void add_run(struct sums *s, uint32_t run, double *period)
{
    double unit;
    size_t metric = metric_of(s->e, run, &unit);
    if (metric == s->e->metric_count)
        return;
    *period = fmax(*period, (double)s->e->metrics[metric].period * unit);
    for (place_ix i = 1; i < s->e->place_count; i++) {
        place_ix place = counted_for(s->e, i);
        double value = place == PLACE_NONE ? NAN : experiment_value(s->e, metric, i, VALUE_INCLUSIVE);
        if (!isnan(value))
            values_of(s, place)[run] += value * unit;
    }
}

/* Where runs happen to be closer than samples can tell, samples decide. */
static struct compare_scope test(const double *values, size_t pairs, double period, double alpha)
{
    struct compare_scope scope = {.p = 1};
    double *differences = mem_alloc(pairs * sizeof *differences);
    for (size_t i = 0; i < pairs; i++) {
        differences[i] = values[2 * i + 1] - values[2 * i];
        for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
            scope.seconds[side] += values[2 * i + side] / (double)pairs;
    }
    struct compare_interval d = compare_interval_of(differences, pairs, alpha);
    mem_free(differences);
    if (pairs < 2)
        return scope;
    double least = sqrt((scope.seconds[COMPARE_BASE] + scope.seconds[COMPARE_NEW]) * period);
    d.spread = fmax(d.spread, least);
    double error = d.spread / sqrt((double)pairs), t = compare_t_quantile(alpha, (unsigned)pairs - 1);
    scope.difference = (struct compare_interval){d.mean, d.mean - t * error, d.mean + t * error, d.spread};
    scope.p = compare_t_probability(fabs(d.mean) / error, (unsigned)pairs - 1);
    return scope;
}

static int largest_change_first(const void *a, const void *b)
{
    const struct compare_scope *x = a, *y = b;
    return order_largest(fabs(x->difference.mean), fabs(y->difference.mean)) ?: order_of(x->place, y->place);
}

void compare_find_scopes(const struct experiment *e, struct comparison *c)
{
    struct sums s = {.e = e, .runs = e->run_count, .row = mem_alloc(e->place_count * sizeof *s.row)};
    size_t pairs = e->run_count / 2;
    double period = 0, whole[COMPARE_SIDES] = {0}, looks = c->looks ? c->looks : 1;
    memset(s.row, 0xff, e->place_count * sizeof *s.row);
    for (uint32_t run = 0; run < 2 * pairs; run++)
        add_run(&s, run, &period);
    for (uint32_t run = 0; run < 2 * pairs; run++) {
        double unit;
        size_t metric = metric_of(e, run, &unit);
        double value = metric < e->metric_count ? experiment_value(e, metric, 0, VALUE_INCLUSIVE) : NAN;
        whole[run % 2] += isnan(value) ? 0 : value * unit / (double)pairs;
    }
    for (size_t i = 0; i < s.places.count; i++) {
        struct compare_scope scope = test(s.values.items + i * s.runs, pairs, period, COMPARE_ERROR / looks);
        scope.place = s.places.items[i];
        if (scope.seconds[COMPARE_BASE] >= LEAST_SHARE * whole[COMPARE_BASE] ||
            scope.seconds[COMPARE_NEW] >= LEAST_SHARE * whole[COMPARE_NEW])
            *vec_push(&c->scopes) = scope;
    }
    double *p = mem_alloc(c->scopes.count * sizeof *p);
    bool *rejected = mem_calloc(c->scopes.count, 1);
    for (size_t i = 0; i < c->scopes.count; i++) /* the runs ended after one of several looks */
        p[i] = fmin(1, c->scopes.items[i].p * looks);
    compare_discoveries(p, c->scopes.count, COMPARE_ERROR, rejected);
    for (size_t i = 0; i < c->scopes.count; i++)
        c->scopes.items[i].changed = rejected[i];
    vec_sort(&c->scopes, largest_change_first);
    mem_free(p);
    mem_free(rejected);
    mem_free(s.row);
    vec_release(&s.places);
    vec_release(&s.values);
}
