/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metric blocks: the formulas that the events permit, and their names; the events that a block requests; errors in
 * files.
 */
#include "metrics/formula/formula.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <unistd.h>

/* The blocks of one file; NULL with an error. */
static struct blocks *blocks_of(const char *text, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    char *folder = mem_printf("%s/hpcview-blocks.XXXXXX", tmp ? tmp : "/tmp");
    struct blocks *b = NULL;
    if (!mkdtemp(folder))
        return NULL;
    char *path = mem_printf("%s/m.xml", folder);
    FILE *f = fopen(path, "w");
    if (f && fputs(text, f) >= 0 && fclose(f) == 0)
        blocks_read(folder, &b, err);
    unlink(path);
    rmdir(folder);
    mem_free(path);
    mem_free(folder);
    return b;
}

/* "a b c" as a NULL-terminated list; the words are stored in copy. */
static void words_of(char *copy, const char **list, size_t room)
{
    size_t n = 0;
    for (char *word; (word = strsep(&copy, " ")) && n + 1 < room;)
        if (*word)
            list[n++] = word;
    list[n] = NULL;
}

static const char known[] =
    "<metrics>\n"
    " <quantity name='cycles' spelled='CPU_CYCLES  cycles&#9;PAPI_TOT_CYC&#10;ix86arch::UNHALTED*'/>\n"
    " <quantity name='instructions' spelled='INST_RETIRED instructions PAPI_TOT_INS'/>\n"
    " <quantity name='misses' spelled='L1-dcache-load-misses PAPI_L1_DCM'/>\n"
    " <quantity name='loads' spelled='L1-dcache-loads'/>\n"
    " <block name='core' title='The core'>\n"
    "  <computed name='CPI' formula='cycles / instructions' unit='cycles'>  Cycles an\n instruction.  </computed>\n"
    "  <computed name='IPC' formula='1 / CPI'/>\n"
    "  <computed name='share' formula='cycles/(cycles + 2*instructions)' percent='yes'/>\n"
    " </block>\n"
    " <block name='memory' title='Memory'>\n"
    "  <computed name='miss' formula='misses / loads'/>\n"
    "  <computed name='miss' formula='misses / instructions'/>\n"
    "  <computed name='misses a cycle' formula='misses / cycles'/>\n"
    "  <computed name='twice' formula='2 * miss'/>\n"
    " </block>\n"
    "</metrics>\n";

static void add_metric(void *ctx, const struct config_metric *m)
{
    buf_printf(ctx, "%s: %s = %s%s%s%s%s%s; ", m->where, m->name, m->formula, m->percent == CHOICE_YES ? " %" : "",
               *m->unit ? " in " : "", m->unit, *m->description ? " -- " : "", m->description);
}

static void add_event(void *ctx, const char *event)
{
    buf_printf(ctx, "%s ", event);
}

/* Metrics computable from these events, of one block or of all (NULL). */
static const struct {
    const char *block, *events, *want;
} computed[] = {
    {"core", "cycles instructions",
     "core: CPI = cycles / instructions in cycles -- Cycles an\n instruction.; core: IPC = 1 / CPI; "
     "core: share = cycles/(cycles + 2*instructions) %; "},
    {"core", "cycles", ""},
    {"core", "instructions", ""},
    {"core", "", ""},
    /* the best name is first for any order of events; case and perf's modifiers are ignored */
    {"core", "PAPI_TOT_INS cycles cpu_cycles",
     "core: CPI = cpu_cycles / PAPI_TOT_INS in cycles -- Cycles an\n instruction.; core: IPC = 1 / CPI; "
     "core: share = cpu_cycles/(cpu_cycles + 2*PAPI_TOT_INS) %; "},
    {"core", "cycles:u instructions:uk",
     "core: CPI = cycles:u / instructions:uk in cycles -- Cycles an\n instruction.; core: IPC = 1 / CPI; "
     "core: share = cycles:u/(cycles:u + 2*instructions:uk) %; "},
    {"core", "cycles:x instructions", ""},
    {"core", "cycles: instructions", ""},
    {"core", ":u instructions", ""},
    /* PAPI's unit masks are not modifiers */
    {"core", "ix86arch::UNHALTED_CORE_CYCLES:u instructions",
     "core: CPI = ix86arch::UNHALTED_CORE_CYCLES:u / instructions in cycles -- Cycles an\n instruction.; "
     "core: IPC = 1 / CPI; "
     "core: share = ix86arch::UNHALTED_CORE_CYCLES:u/(ix86arch::UNHALTED_CORE_CYCLES:u + 2*instructions) %; "},
    {"core", "perf::cycles:u instructions", ""},
    /* of several formulas for one metric the first that can be computed; names that need quotes have them */
    {"memory", "L1-dcache-load-misses L1-dcache-loads instructions",
     "memory: miss = \"L1-dcache-load-misses\" / \"L1-dcache-loads\"; memory: twice = 2 * miss; "},
    {"memory", "PAPI_L1_DCM instructions", "memory: miss = PAPI_L1_DCM / instructions; memory: twice = 2 * miss; "},
    {"memory", "PAPI_L1_DCM cycles", "memory: misses a cycle = PAPI_L1_DCM / cycles; "},
    {NULL, "PAPI_L1_DCM cycles instructions",
     "core: CPI = cycles / instructions in cycles -- Cycles an\n instruction.; core: IPC = 1 / CPI; "
     "core: share = cycles/(cycles + 2*instructions) %; "
     "memory: miss = PAPI_L1_DCM / instructions; memory: misses a cycle = PAPI_L1_DCM / cycles; "
     "memory: twice = 2 * miss; "},
    {"disk", "cycles instructions", ""},
};

static void test_computed(const struct blocks *b)
{
    for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) {
        const char *events[16];
        struct buf got = {0};
        char *copy = mem_strdup(computed[i].events);
        words_of(copy, events, 16);
        blocks_metrics(b, computed[i].block, events, add_metric, &got);
        CHECK_STR(got.bytes ? got.bytes : "", computed[i].want);
        buf_release(&got);
        mem_free(copy);
    }
}

/* Requested events, of those that the machine can count: once each, grouped by formula. */
static const struct {
    const char *block, *usable, *want;
} asked[] = {
    {"core", "instructions cycles misses", "cycles instructions "},
    {"memory", "cycles PAPI_L1_DCM L1-dcache-loads", "PAPI_L1_DCM L1-dcache-loads cycles "},
    {"memory", "cycles instructions PAPI_L1_DCM", "PAPI_L1_DCM instructions cycles "},
    {"core", "instructions",
     "no metric of the block 'core' can be measured on this machine, which cannot count cycles"},
    {"core", "",
     "no metric of the block 'core' can be measured on this machine, which cannot count cycles, instructions"},
    {"memory", "cycles",
     "no metric of the block 'memory' can be measured on this machine, which cannot count misses, loads, instructions"},
    {"cores", "cycles", "no metric block 'cores'; did you mean 'core'?"},
    {"xyzzyxyzzy", "cycles", "no metric block 'xyzzyxyzzy'; available: core, memory"},
};

static void test_asked(const struct blocks *b)
{
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const char *usable[16];
        struct err err = {0};
        struct buf got = {0};
        char *copy = mem_strdup(asked[i].usable);
        words_of(copy, usable, 16);
        int status = blocks_events(b, asked[i].block, usable, add_event, &got, &err);
        CHECK_STR(status < 0 ? err.msg : got.bytes, asked[i].want);
        buf_release(&got);
        mem_free(copy);
    }
    struct err err = {0};
    CHECK_INT(blocks_check_name(b, "memory", &err), 0);
    CHECK_INT(blocks_check_name(b, "mem", &err), -1);
    CHECK_INT(blocks_count(b), 2);
    CHECK_STR(blocks_name(b, 1), "memory");
    CHECK_STR(blocks_title(b, 0), "The core");
}

static void test_same_quantity(const struct blocks *b)
{
    CHECK(blocks_same_quantity(b, "cycles:u", "PAPI_TOT_CYC"));
    CHECK(blocks_same_quantity(b, "L1-dcache-loads", "L1-dcache-loads:u")); /* the last one */
    CHECK(!blocks_same_quantity(b, "cycles", "instructions"));
    CHECK(!blocks_same_quantity(b, "cycles", "nothing"));
    CHECK(!blocks_same_quantity(b, "nothing", "nothing"));
    CHECK(!blocks_same_quantity(NULL, "cycles", "cycles"));
}

/* A file's text, and the error message after its name. */
static const struct {
    const char *text, *want;
} wrong[] = {
    {"<metric/>", ":1: unknown element <metric>; metric blocks have <quantity>, <block> and <computed>"},
    {"<metrics>\n<quantity spelled='x'/></metrics>", ":2: <quantity> lacks its attribute 'name'"},
    {"<metrics><quantity name='x'/></metrics>", ":1: <quantity> lacks its attribute 'spelled'"},
    {"<metrics><quantity name='x' spelled='x'/>\n<quantity name='x' spelled='y'/></metrics>",
     ":2: the quantity 'x' is defined twice"},
    {"<metrics><block/></metrics>", ":1: <block> lacks its attribute 'name'"},
    {"<metrics><block name='b'>\n<computed formula='1'/></block></metrics>",
     ":2: <computed> lacks its attribute 'name'"},
    {"<metrics><block name='b'><computed name='m'/></block></metrics>", ":1: <computed> lacks its attribute 'formula'"},
    {"<metrics><computed name='m' formula='1'/></metrics>", ":1: unknown element <computed>"},
    {"<metrics><block name='b'/><quantity name='x' spelled='x'><computed name='m' formula='x'/></quantity></metrics>",
     ":1: unknown element <computed>"},
    {"<metrics><block name='b'><block name='c'/></block></metrics>", ":1: unknown element <block>"},
    {"<metrics><block name='b'><quantity name='x' spelled='x'/></block></metrics>", ":1: unknown element <quantity>"},
    {"<metrics><metrics/></metrics>", ":1: unknown element <metrics>"},
    {"<metrics><block name='b'><computed name='m' formula='1 +'/></block></metrics>", ":1: m:"},
    /* names are quantities, or metrics before this one in its block */
    {"<metrics><block name='b'><computed name='m' formula='y'/></block></metrics>",
     "block 'b': m: 'y' is neither a quantity nor an earlier metric"},
    {"<metrics><block name='b'><computed name='m' formula='n'/><computed name='n' formula='1'/></block></metrics>",
     "block 'b': m: 'n' is neither a quantity nor an earlier metric"},
    {"<metrics><block name='b'><computed name='m' formula='m'/></block></metrics>",
     "block 'b': m: 'm' is neither a quantity nor an earlier metric"},
    {"<metrics><block name='a'><computed name='n' formula='1'/></block>"
     "<block name='b'><computed name='m' formula='n'/></block></metrics>",
     "block 'b': m: 'n' is neither a quantity nor an earlier metric"},
};

static void test_wrong(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err err = {0};
        struct blocks *b = blocks_of(wrong[i].text, &err);
        CHECK_NAMED(!b && strstr(err.msg, wrong[i].want), wrong[i].want);
        if (b || !strstr(err.msg, wrong[i].want))
            printf("# %s\n", b ? "it was taken" : err.msg);
        blocks_free(b);
    }
}

int main(void)
{
    struct err err = {0};
    struct blocks *b = blocks_of(known, &err);
    CHECK_STR(err.msg, "");
    if (b) {
        test_computed(b);
        test_asked(b);
        test_same_quantity(b);
    }
    blocks_free(b);
    RUN(test_wrong);
    return tap_done();
}
