/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns and the program's totals: comparisons, regions, repetitions, blocks, statistics for formulas; values by
   thread and place. From drawings (test_drawing.h). */
#include "tests/fixtures/experiment_outline.h"

static const struct drawn_module modules[] = {
    {"/opt/app", "F /s/a.c\n P f 1-9 1000-1100\n  S 2 1000-1010\n  L 4-6 1010\n   S 5 1010-1020\n"
                 "F /s/b.c\n P g 1-9 2000-2100\n  S 3 2000-2010\n"},
    {NULL, NULL},
};

/* Values of the metrics at the program, with their names: "a.C=10 b.C=20". */
static char *said(const struct experiment *e, bool hidden)
{
    struct buf b = {0};
    for (size_t i = 0; i < e->metric_count; i++) {
        if (!e->metrics[i].display && !hidden)
            continue;
        buf_printf(&b, "%s%s%s=", b.len ? " " : "", strtab_get(e->strings, e->metrics[i].name),
                   e->metrics[i].sort_by ? "!" : "");
        double v = experiment_value(e, i, 0, VALUE_INCLUSIVE);
        buf_printf(&b, isnan(v) ? "." : "%.6g", v);
    }
    buf_str(&b, "");
    return b.bytes;
}

/* Ten counts a sample. The first run is a, the second b; '+' begins one more measurement of the run before. */
static const struct {
    const char *name, *config, *scaling; /* scaling "": compared, NULL: not */
    const char *samples[5];
    const char *want; /* or the error's words */
    const char *warning;
} cases[] = {
    /* the error of a difference: the root of the sum of both variances, each of value times period, and one sample at
       least */
    {"a difference with its error, and a ratio",
     "",
     "",
     {"/opt/app 0x1000 C 9\n", "/opt/app 0x1000 C 16\n"},
     "a.C=90 b.C=160 C.difference!=70 C.difference.error=50 C.ratio=1.77778",
     NULL},
    {"one event of several is shared; columns of one event stand together",
     "",
     "",
     {"/opt/app 0x1000 D 9\n/opt/app 0x1000 C 1\n", "/opt/app 0x1000 C 1\n/opt/app 0x1000 E 2\n"},
     "a.D=90 a.C=10 b.C=10 b.E=20 C.difference!=0 C.difference.error=14.1421 C.ratio=1",
     NULL},
    {"the first event's difference sorts",
     "",
     "",
     {"/opt/app 0x1000 D 9\n/opt/app 0x1000 C 1\n", "/opt/app 0x1000 C 1\n/opt/app 0x1000 D 16\n"},
     "a.D=90 b.D=160 a.C=10 b.C=10 D.difference!=70 D.difference.error=50 D.ratio=1.77778 C.difference=0 "
     "C.difference.error=14.1421 C.ratio=1",
     NULL},
    {"no event in common",
     "",
     "",
     {"/opt/app 0x1000 D 9\n/opt/app 0x1000 perf::X 1\n", "/opt/app 0x1000 E 16\n"},
     "a.D!=90 a.perf::X=10 b.E=160",
     "a and b have no event in common: the first has D, X, the second E; compare others with -m"},
    {"strong scaling: what the second took more, of its total",
     "",
     "strong",
     {"/opt/app 0x1000 C 5\n", "/opt/app 0x1000 C 20\nthread\n/opt/app 0x1000 C 5\n"},
     "a.C=50 b.C=250 C.difference=200 C.difference.error=54.7723 C.ratio=5 C.loss!=0.8",
     NULL},
    {"weak scaling: more than as much for each thread, of which there is twice as many",
     "",
     "weak",
     {"/opt/app 0x1000 C 5\n", "/opt/app 0x1000 C 20\nthread\n/opt/app 0x1000 C 5\n"},
     "a.C=50 b.C=250 C.difference=200 C.difference.error=54.7723 C.ratio=5 C.loss!=0.6",
     NULL},
    /* below a twentieth of the busiest one, a thread only waits */
    {"weak scaling: threads that work",
     "",
     "weak",
     {"cpu 1000\n/opt/app 0x1000 C 5\nthread\ncpu 50\nthread\ncpu 49\n",
      "cpu 1000\n/opt/app 0x1000 C 20\nthread\n/opt/app 0x1000 C 5\n"},
     "a.C=50 b.C=250 C.difference=200 C.difference.error=54.7723 C.ratio=5 C.loss!=0.9",
     NULL},
    {"weak scaling: of repetitions the first says how many threads",
     "",
     "weak",
     {"/opt/app 0x1000 C 5\n", "/opt/app 0x1000 C 10\nthread\n", "+/opt/app 0x1000 C 10\nthread\nthread\nthread\n"},
     "a.C=50 b.C=100 stddev(b.C over repetitions)=0 C.difference=50 C.difference.error=31.6228 C.ratio=2 C.loss!=0",
     NULL},
    /* 10 and 30: the mean, and the deviation next to it */
    {"repetitions are means",
     "",
     NULL,
     {"/opt/app 0x1000 C 1\n", "+/opt/app 0x1000 C 3\n"},
     "C!=20 stddev(C over repetitions)=10",
     NULL},
    {"repetitions that lack an event",
     "",
     NULL,
     {"/opt/app 0x1000 C 1\n/opt/app 0x1000 D 1\n", "+/opt/app 0x1000 C 1\n", "+/opt/app 0x1000 C 4\n"},
     "C!=20 D=3.33333 stddev(C over repetitions)=14.1421 stddev(D over repetitions)=4.71405",
     NULL},
    {"an event's region",
     "<measured event='C' name='in' region='r'/><measured event='C'/>",
     NULL,
     {"/opt/app 0x1000 C%r 3\n/opt/app 0x1000 C 4\n/opt/app 0x1010 C%s 5\n"},
     "in!=30 C=120",
     NULL},
    {"an event's region in each run that has it",
     "<measured event='C' name='in' region='s'/>",
     NULL,
     {"/opt/app 0x1000 C%r 3\n", "/opt/app 0x1010 C%r 5\n/opt/app 0x1010 C%s 7\n"},
     "a.in!=. b.in=70",
     NULL},
    {"no such region",
     "<measured event='C' region='t'/>",
     NULL,
     {"/opt/app 0x1000 C%r 3\n"},
     "c.xml:1: no region 't' was measured",
     NULL},
    {"words of a metric's own",
     "<measured event='C' name='cyc' unit='cycles' display='no'/><computed name='S' formula='2 * cyc' unit='x'/>",
     NULL,
     {"/opt/app 0x1000 C 3\n"},
     "S!=60",
     NULL},
};

static void test_cases(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t runs = 0;
        for (size_t k = 0; cases[i].samples[k]; k++)
            runs += *cases[i].samples[k] != '+';
        struct config *c = config_from(cases[i].config, runs);
        struct err err = {0};
        if (cases[i].scaling)
            CHECK_INT(config_compare(c, *cases[i].scaling ? cases[i].scaling : NULL, &err), 0);
        struct made m = make(c, cases[i].samples, modules);
        char *got = m.status == 0 ? said(m.e, false) : mem_strdup(m.err.msg);
        CHECK_NAMED(strcmp(got, cases[i].want) == 0, cases[i].name);
        if (strcmp(got, cases[i].want) != 0)
            printf("# got    %s\n# wanted %s\n", got, cases[i].want);
        if (cases[i].warning)
            CHECK_STR(warnings_count(m.warnings) ? warnings_get(m.warnings, 0) : "", cases[i].warning);
        if (m.status == 0)
            CHECK(experiment_check(m.e, &m.err) == 0);
        mem_free(got);
        release(&m);
    }
}

/* The two runs of a comparison: where the second one was measured, and where it could not have been. */
static void test_measured_in(void)
{
    const char *samples[] = {"/opt/app 0x1000 C 9\n/lib/x.so 0x10 C 1\n", "/opt/app 0x1000 C 16\n", NULL};
    struct made m = make(config_from("", 2), samples, modules);
    if (CHECK_INT(m.status, 0)) {
        for (place_ix i = 0; i < m.e->place_count; i++) {
            const char *name = strtab_get(m.e->strings, m.e->places[i].name);
            if (m.e->places[i].kind != PLACE_MODULE && i)
                continue;
            CHECK(experiment_measured(m.e, 0, i));
            CHECK_INT(experiment_measured(m.e, 1, i), strcmp(name, "x.so") != 0);
            CHECK(!experiment_measured(m.e, 2, i));
        }
        /* 90 in samples of 10; without samples, the error of one sample; exact and computed values have none */
        CHECK(fabs(experiment_error(m.e, 0, 90) - 30) < 1e-9);
        CHECK(fabs(experiment_error(m.e, 0, 0) - 10) < 1e-9);
        m.e->metrics[0].repetitions = 4;
        CHECK(fabs(experiment_error(m.e, 0, 90) - 15) < 1e-9);
        m.e->metrics[0].period = 0;
        CHECK(isnan(experiment_error(m.e, 0, 90)));
    }
    release(&m);
}

/* Statistics required by formulas: hidden, of summed metrics, and without duplicates. */
static void test_wanted(void)
{
    static const struct {
        const char *samples[3];
        const char *want;
    } wanted[] = {
        {{"/opt/app 0x1000 C 1\nthread\n/opt/app 0x1000 C 3\n"}, "C!=40 mean(C over threads)=20"},
        {{"/opt/app 0x1000 C 1\n"}, "C!=10"},
        {{"/opt/app 0x1000 C 1\nprocess -1\n/opt/app 0x1000 C 5\n"},
         "C!=60 mean(C over threads)=30 max(C over ranks)=50"},
        {{"/opt/app 0x1000 C 1\n", "/opt/app 0x1000 C 2\nthread\n/opt/app 0x1000 C 4\n"},
         "a.C!=10 b.C=60 b.mean(C over threads)=30"},
    };
    static const char *const names[] = {"mean(C over threads)", "max(C over ranks)", "mean(X over threads)", "C", NULL};
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        struct config *c = config_from("", wanted[i].samples[1] ? 2 : 1);
        config_want_statistics(c, names);
        struct made m = make(c, wanted[i].samples, modules);
        if (CHECK_INT(m.status, 0)) {
            char *got = said(m.e, true);
            CHECK_STR(got, wanted[i].want);
            mem_free(got);
        }
        release(&m);
    }
}

/* Values by thread: for the whole program and the places with the highest values, for every displayed event; ordered by
   place. The first process has no rank: it is a launcher and has no rows. */
static void test_thread_values(void)
{
    static const char want[] = "C 0.0 program 50\n"
                               "C 0.1 program 0\n"
                               "C 0.0 proc 50\n"
                               "C 0.0 line 50\n";
    static const char *const kinds[] = {"program", "module", "file", "proc", "inline", "loop", "line"};
    const char *samples[] = {
        "/opt/app 0x1000 C 1\n/opt/app 0x1010 C 2\nthread\nprocess 0\n/opt/app 0x2000 C 5\nthread\n", NULL};
    struct config *c = config_from("", 1);
    config_set_thread_values(c, true);
    struct made m = make(c, samples, modules);
    if (CHECK_INT(m.status, 0)) {
        struct buf b = {0};
        const struct table *t = NULL;
        for (size_t i = 0; i < m.e->tables.count; i++)
            if (strcmp(table_declared(m.e->tables.items[i])->name, TABLE_THREAD_VALUES) == 0)
                t = m.e->tables.items[i];
        for (size_t i = 0; t && i < table_row_count(t); i++) {
            struct thread_values_row r = thread_values_row(t, i);
            buf_printf(&b, "%s %u.%u %s %g\n", strtab_get(m.e->strings, r.metric), (unsigned)r.who.process,
                       (unsigned)r.who.thread, kinds[m.e->places[r.place].kind], r.value);
        }
        CHECK(t && thread_values_is_one(t));
        CHECK_STR(b.bytes ? b.bytes : "", want);
        buf_release(&b);
    }
    release(&m);
}

/* Number of places with higher values of this form, from procedures down. */
static size_t standing_before(const struct experiment *e, place_ix place, enum value_form form)
{
    double value = experiment_value(e, 0, place, form);
    size_t before = 0;
    for (place_ix i = 0; i < e->place_count; i++) {
        double other = e->places[i].kind >= PLACE_PROC ? experiment_value(e, 0, i, form) : NAN;
        before += other > value || (other == value && i < place);
    }
    return before;
}

/* How many places of one form the table of threads has: fewer for more threads and metrics, but some. */
static void test_places_by_thread(void)
{
    static const struct {
        size_t threads, metrics, most;
    } kept[] = {{1, 1, 64},    {2, 3, 64},    {4095, 1, 64}, {4096, 1, 63},     {4999, 1, 52},
                {4999, 3, 26}, {65535, 1, 4}, {65536, 1, 4}, {52427, 1, 5},     {52428, 1, 4},
                {4095, 0, 64}, {8191, 0, 64}, {8192, 0, 63}, {1 << 20, 100, 4}, {0, 4095, 64}};
    struct buf tree = {0}, samples = {0};
    buf_str(&tree, "F /s/a.c\n");
    for (unsigned i = 0; i < 90; i++) {
        buf_printf(&tree, " P f%u 1-9 %x-%x\n  L 2-4 %x\n   S 3 %x-%x\n", i, 0x1000 + 32 * i, 0x1020 + 32 * i,
                   0x1000 + 32 * i, 0x1000 + 32 * i, 0x1010 + 32 * i);
        buf_printf(&samples, "/opt/app 0x%x C %u\n/opt/app 0x%x C %u\n", 0x1000 + 32 * i, i * 7 % 10, 0x1010 + 32 * i,
                   i * 11 % 13);
    }
    const struct drawn_module many[] = {{"/opt/app", tree.bytes}, {NULL, NULL}};
    const char *list[] = {samples.bytes, NULL};
    struct made m = make(config_from("", 1), list, many);
    CHECK_INT(m.status, 0);
    for (size_t i = 0; m.e && i < ARRAY_SIZE(kept); i++) {
        uint8_t *is_kept = thread_values_places(m.e, 0, kept[i].threads, kept[i].metrics);
        size_t wrong = is_kept[0] != 1;
        for (place_ix k = 1; k < m.e->place_count; k++) {
            bool want = false;
            for (enum value_form form = 0; form < VALUE_FORMS; form++)
                want = want || (m.e->places[k].kind >= PLACE_PROC && experiment_value(m.e, 0, k, form) > 0 &&
                                standing_before(m.e, k, form) < kept[i].most);
            wrong += is_kept[k] != want;
        }
        if (!CHECK_INT(wrong, 0))
            printf("# %zu threads, %zu metrics\n", kept[i].threads, kept[i].metrics);
        mem_free(is_kept);
    }
    release(&m);
    buf_release(&tree);
    buf_release(&samples);
}

/* With too many threads for columns, the first ones get columns. */
static void test_many_threads(void)
{
    for (size_t threads = 256; threads <= 258; threads++) {
        struct buf samples = {0};
        for (size_t i = 0; i < threads; i++)
            buf_printf(&samples, "%s/opt/app 0x1000 C %zu\n", i ? "thread\n" : "", i + 1);
        const char *list[] = {samples.bytes, NULL};
        struct config *c = config_from("", 1);
        config_set_per_thread(c, true);
        struct made m = make(c, list, modules);
        if (CHECK_INT(m.status, 0)) {
            CHECK_INT(m.e->metric_count, 257);
            CHECK_STR(strtab_get(m.e->strings, m.e->metrics[256].name), "C[255]");
            CHECK(experiment_value(m.e, 256, 0, VALUE_INCLUSIVE) == 2560);
            char *want = mem_printf("%zu columns by thread; only the first 256 are shown", threads);
            CHECK_INT(warnings_count(m.warnings), threads > 256);
            if (threads > 256)
                CHECK_STR(warnings_get(m.warnings, 0), want);
            mem_free(want);
        }
        release(&m);
        buf_release(&samples);
    }
}

/* More lines than formulas process at once: some blocks of lines have no value of a metric, others have all values. */
static void test_stretches(void)
{
    enum { LINES = 3000, C_UNTIL = 700, D_FROM = 500 };
    struct buf tree = {0}, samples = {0};
    buf_printf(&tree, "F /s/a.c\n P f 1-%d 10000-20000\n", LINES);
    for (unsigned line = 1; line <= LINES; line++) {
        buf_printf(&tree, "  S %u %x-%x\n", line, 0x10000 + 4 * line, 0x10004 + 4 * line);
        if (line < C_UNTIL)
            buf_printf(&samples, "/opt/app 0x%x C %u\n", 0x10000 + 4 * line, line);
        if (line >= D_FROM)
            buf_printf(&samples, "/opt/app 0x%x D %u\n", 0x10000 + 4 * line, line);
    }
    const struct drawn_module long_one[] = {{"/opt/app", tree.bytes}, {NULL, NULL}};
    const char *list[] = {samples.bytes, NULL};
    struct config *c =
        config_from("<measured event='C'/><measured event='D'/><computed name='twice' formula='2 * C'/>"
                    "<computed name='both' formula='C + D'/><computed name='some' formula='or(C, D)'/>"
                    "<computed name='more' formula='max(C, D)'/><computed name='one' formula='if(C &gt; 0, C, D)'/>",
                    1);
    struct made m = make(c, list, long_one);
    size_t wrong = 0, seen = 0;
    for (place_ix i = 0; m.status == 0 && i < m.e->place_count; i++) {
        unsigned line = m.e->places[i].line_first;
        if (m.e->places[i].kind != PLACE_LINE)
            continue;
        double ten = 10 * (double)line, in_c = line < C_UNTIL ? ten : (double)NAN,
               in_d = line >= D_FROM ? ten : (double)NAN;
        double want[] = {in_c, in_d, 2 * in_c, in_c + in_d, ten, (in_c + in_d) / 2, in_c};
        for (size_t k = 0; k < 2 * ARRAY_SIZE(want); k++) {
            double got = experiment_value(m.e, k / 2, i, k % 2 ? VALUE_EXCLUSIVE : VALUE_INCLUSIVE);
            wrong += isnan(want[k / 2]) ? !isnan(got) : !(fabs(got - want[k / 2]) < 1e-9);
        }
        seen++;
    }
    CHECK_STR(m.err.msg, "");
    CHECK_INT(seen, LINES);
    CHECK_INT(wrong, 0);
    release(&m);
    buf_release(&samples);
    buf_release(&tree);
}

int main(void)
{
    test_stretches();
    test_many_threads();
    test_places_by_thread();
    test_cases();
    test_measured_in();
    test_wanted();
    test_thread_values();
    return tap_done();
}
