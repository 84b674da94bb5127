/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons of programs with known times, using a fake runner that starts no programs. */
#include "compare/compare.h"
#include "tests/tap.h"

#include <math.h>

/* ---- Student's t, against tables --------------------------------------------------------------- */

static void test_student(void)
{
    static const struct {
        double p, t;
        unsigned freedom;
    } table[] = {{0.05, 12.7062, 1},  {0.05, 4.30265, 2}, {0.01, 5.84091, 3},  {0.05, 2.57058, 5},
                 {0.01, 3.16927, 10}, {0.1, 1.72913, 19}, {0.001, 3.6460, 30}, {0.05, 1.96234, 1000}};
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        double t = compare_t_quantile(table[i].p, table[i].freedom);
        if (!CHECK(fabs(t - table[i].t) < 2e-4 * table[i].t))
            printf("# p %g, %u degrees of freedom: %g, not %g\n", table[i].p, table[i].freedom, t, table[i].t);
        CHECK(fabs(compare_t_probability(table[i].t, table[i].freedom) - table[i].p) < 2e-3 * table[i].p);
    }
}

static void test_discoveries(void)
{
    /* Benjamini and Hochberg 1995, section 3.1: 15 tests of which 4 are rejected at 5% */
    static const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                               0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    bool rejected[ARRAY_SIZE(p)];
    size_t count = 0;
    compare_discoveries(p, ARRAY_SIZE(p), 0.05, rejected);
    for (size_t i = 0; i < ARRAY_SIZE(p); i++)
        count += rejected[i];
    CHECK_INT(count, 4);
    CHECK(rejected[3] && !rejected[4]);
    compare_discoveries((const double[]){0.03, 0.9}, 2, 0.05, rejected); /* one of two needs 2.5% */
    CHECK(!rejected[0] && !rejected[1]);
    compare_discoveries(NULL, 0, 0.05, NULL);
}

static void test_interval(void)
{
    static const double values[] = {1, 2, 3, 4, 5};
    struct compare_interval d = compare_interval_of(values, 5, 0.05);
    CHECK(d.mean == 3 && fabs(d.spread - 1.581139) < 1e-6);
    CHECK(fabs(d.low - 1.036757) < 1e-4 && fabs(d.high - 4.963243) < 1e-4);
    d = compare_interval_of(values, 1, 0.05);
    CHECK(isinf(d.low) && isinf(d.high));
}

static void test_looks(void)
{
    unsigned looks[16], n = 0;
    for (unsigned pairs = 1; pairs <= 20; pairs++)
        if (compare_looks_after(pairs, 20))
            looks[n++] = pairs;
    CHECK_INT(n, compare_look_count(20));
    CHECK(n == 6 && looks[0] == 4 && looks[1] == 6 && looks[2] == 8 && looks[3] == 12 && looks[4] == 18 &&
          looks[5] == 20);
}

/* ---- a machine ----------------------------------------------------------------------------------- */

static uint64_t random_state;

static double uniform(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

struct machine {
    double slower, noise, drift; /* of the new program; of a run; from run to run */
    unsigned runs, fail_every;
    char order[64];
};

static int run_one(void *ctx, enum compare_side side, unsigned number, struct compare_run *run, struct err *err)
{
    struct machine *m = ctx;
    (void)number;
    (void)err;
    if (m->runs < sizeof m->order - 1)
        m->order[m->runs] = side == COMPARE_BASE ? 'A' : 'B';
    m->runs++;
    run->failed = m->fail_every && m->runs % m->fail_every == 0;
    run->seconds[COMPARE_CPU] = run->seconds[COMPARE_WALL] =
        exp(m->noise * normal() + m->drift * m->runs + (side == COMPARE_NEW ? log1p(m->slower) : 0));
    return 0;
}

static double no_time(void *ctx)
{
    return ((struct machine *)ctx)->runs;
}

static struct compare_options options_of(struct machine *m)
{
    return (struct compare_options){
        .threshold = 0.02, .warm_up = 1, .most = 20, .run = run_one, .now = no_time, .ctx = m};
}

struct tally {
    unsigned verdicts[3], differs, pairs, errors;
};

static struct tally compare_often(const struct machine *of, unsigned times)
{
    struct tally tally = {0};
    for (unsigned i = 0; i < times; i++) {
        struct machine m = *of;
        struct compare_options o = options_of(&m);
        struct comparison c = {0};
        struct err err = {0};
        tally.errors += compare_measure(&o, &c, &err) < 0;
        tally.verdicts[c.verdict]++;
        tally.differs += c.difference[COMPARE_CPU].low > 0 || c.difference[COMPARE_CPU].high < 0;
        tally.pairs += (unsigned)c.pairs.count;
        comparison_release(&c);
    }
    return tally;
}

/* The same program twice, however much the machine varies: at most 5% differ. */
static void test_same_program(void)
{
    static const double noises[] = {0.002, 0.01, 0.05, 0.3};
    for (size_t i = 0; i < ARRAY_SIZE(noises); i++) {
        struct tally t = compare_often(&(struct machine){.noise = noises[i], .drift = i % 2 ? 0.001 : 0}, 1000);
        printf("# noise %g: %u differ, %u worse, %u not known, %.1f pairs\n", noises[i], t.differs,
               t.verdicts[COMPARE_WORSE], t.verdicts[COMPARE_UNKNOWN], t.pairs / 1000.0);
        CHECK(t.errors == 0 && t.differs <= 50);
        CHECK(t.verdicts[COMPARE_WORSE] <= 25);
    }
}

/* Detection of slowdowns: 3% within 20 pairs of runs that vary by 0.7%, 10% within six that vary by 2%; at a slowdown
   equal to the threshold, at most 2.5% are reported as worse. */
static void test_power(void)
{
    struct tally t = compare_often(&(struct machine){.slower = 0.03, .noise = 0.007}, 500);
    CHECK(t.verdicts[COMPARE_WORSE] >= 450);
    t = compare_often(&(struct machine){.slower = 0.1, .noise = 0.012}, 500);
    printf("# 10%%: %u worse, %.1f pairs\n", t.verdicts[COMPARE_WORSE], t.pairs / 500.0);
    CHECK(t.verdicts[COMPARE_WORSE] >= 450 && t.pairs <= 6 * 500);
    t = compare_often(&(struct machine){.slower = 0.02, .noise = 0.01}, 1000);
    CHECK(t.verdicts[COMPARE_WORSE] <= 25);
}

static void test_order(void)
{
    struct machine m = {.noise = 0.5};
    struct compare_options o = options_of(&m);
    struct comparison c = {0};
    struct err err = {0};
    o.most = 4;
    CHECK_INT(compare_measure(&o, &c, &err), 0);
    CHECK_STR(m.order, "BAABBAABBA"); /* the first pair is not counted */
    CHECK_INT(c.pairs.count, 4);
    comparison_release(&c);
}

static void test_failures(void)
{
    struct machine m = {.noise = 0.01, .fail_every = 5};
    struct compare_options o = options_of(&m);
    struct comparison c = {0};
    struct err err = {0};
    o.failures = 100;
    CHECK_INT(compare_measure(&o, &c, &err), 0);
    CHECK(c.failed > 0);
    comparison_release(&c);
    c = (struct comparison){0};
    o.failures = 1;
    CHECK_INT(compare_measure(&o, &c, &err), -1);
    CHECK(strstr(err.msg, "2 failed runs") != NULL);
    comparison_release(&c);
}

/* A limit stops it with the result so far. */
static void test_limit(void)
{
    struct machine m = {.noise = 0.5};
    struct compare_options o = options_of(&m);
    struct comparison c = {0};
    struct err err = {0};
    o.limit = 11; /* a run takes a second */
    CHECK_INT(compare_measure(&o, &c, &err), 0);
    CHECK(c.out_of_time && c.pairs.count == 5 && c.verdict == COMPARE_UNKNOWN);
    CHECK(isfinite(c.difference[COMPARE_CPU].low));
    comparison_release(&c);
}

int main(void)
{
    random_state = 1;
    RUN(test_student);
    RUN(test_discoveries);
    RUN(test_interval);
    RUN(test_looks);
    RUN(test_same_program);
    RUN(test_power);
    RUN(test_order);
    RUN(test_failures);
    RUN(test_limit);
    return tap_done();
}
