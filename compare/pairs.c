/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of runs, and when there are enough of them. */
#include "compare/compare.h"

#include <math.h>

void comparison_release(struct comparison *c)
{
    vec_release(&c->pairs);
    vec_release(&c->scopes);
}

/* One side's run; again where the program fails now and then. */
static int run_side(const struct compare_options *o, struct comparison *c, enum compare_side side, unsigned number,
                    struct compare_run *run, struct err *err)
{
    for (;;) {
        *run = (struct compare_run){.failed = false};
        if (o->run(o->ctx, side, number, run, err) < 0)
            return -1;
        if (!run->failed)
            return 0;
        if (++c->failed > o->failures)
            return err_set(err, ERR_SYSTEM, "the %s program failed: %u failed runs in total; --failures allows more",
                           side == COMPARE_BASE ? "base" : "new", c->failed);
    }
}

static int run_pair(const struct compare_options *o, struct comparison *c, unsigned number, struct compare_pair *pair,
                    struct err *err)
{
    enum compare_side first = number % 2 ? COMPARE_BASE : COMPARE_NEW,
                      second = first == COMPARE_BASE ? COMPARE_NEW : COMPARE_BASE;
    if (run_side(o, c, first, number, &pair->side[first], err) < 0)
        return -1;
    return run_side(o, c, second, number, &pair->side[second], err);
}

/* Of the logarithms of ratios: two times as slow is as far from the same as two times as fast. */
static struct compare_interval relative(const struct comparison *c, enum compare_clock clock, double alpha)
{
    double *ratios = mem_alloc(c->pairs.count * sizeof *ratios);
    for (size_t i = 0; i < c->pairs.count; i++) {
        const struct compare_run *side = c->pairs.items[i].side;
        ratios[i] = log(fmax(side[COMPARE_NEW].seconds[clock], 1e-9) / fmax(side[COMPARE_BASE].seconds[clock], 1e-9));
    }
    struct compare_interval of = compare_interval_of(ratios, c->pairs.count, alpha);
    mem_free(ratios);
    return (struct compare_interval){expm1(of.mean), expm1(of.low), expm1(of.high), of.spread};
}

static void look(const struct compare_options *o, struct comparison *c)
{
    for (enum compare_clock clock = 0; clock < COMPARE_CLOCKS; clock++)
        c->difference[clock] = relative(c, clock, COMPARE_ERROR / c->looks);
    const struct compare_interval *d = &c->difference[o->clock];
    c->verdict = d->low > o->threshold ? COMPARE_WORSE : d->high < o->threshold ? COMPARE_NOT_WORSE : COMPARE_UNKNOWN;
}

int compare_measure(const struct compare_options *o, struct comparison *c, struct err *err)
{
    double began = o->now(o->ctx);
    struct compare_pair pair;
    c->verdict = COMPARE_UNKNOWN;
    c->looks = compare_look_count(o->most);
    for (unsigned i = 0; i < o->warm_up; i++)
        if (run_pair(o, c, 0, &pair, err) < 0)
            return -1;
    for (unsigned i = 1; i <= o->most && c->verdict == COMPARE_UNKNOWN && !c->out_of_time; i++) {
        if (run_pair(o, c, i, &pair, err) < 0)
            return -1;
        *vec_push(&c->pairs) = pair;
        if (o->report)
            o->report(o->ctx, i, o->most);
        c->out_of_time = o->limit > 0 && i < o->most && o->now(o->ctx) - began >= o->limit;
        if (compare_looks_after(i, o->most) || c->out_of_time)
            look(o, c);
    }
    return 0;
}

double compare_pairs_needed(const struct comparison *c, const struct compare_options *o)
{
    const struct compare_interval *d = &c->difference[o->clock];
    double distance = fabs(log1p(d->mean) - log1p(o->threshold)),
           t = compare_t_quantile(COMPARE_ERROR / c->looks, 1000);
    return distance > 0 && !isnan(d->spread) ? ceil(pow(t * d->spread / distance, 2)) : 0;
}
