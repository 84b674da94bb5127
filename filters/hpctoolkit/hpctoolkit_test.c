/* SPDX-License-Identifier: BSD-3-Clause */
/* HPCToolkit's databases: every rule of experiment.xml, and the example of version 4 with one number changed at a
   time. */
#include "filters/hpctoolkit/hpctoolkit.h"
#include "filters/hpctoolkit/hpctoolkit_int.h"
#include "tests/fixtures/import_dump.h"
#include "tests/guarded.h"

#include <unistd.h>

/* ---- metrics' names ---------------------------------------------------------------------------------------------- */

static void test_metrics(void)
{
    static const struct {
        const char *name, *want;
    } cases[] = {
        {"CPUTIME (sec)", "CPUTIME ns 1e+09"},
        {"CPUTIME (usec):Sum (E)", "CPUTIME us 1"},
        {"T (nsec) (I)", "T ns 1"},
        {"T (us)", "T us 1"},
        {"PAPI_TOT_CYC:Sum (E)", "PAPI_TOT_CYC  1"},
        {"A (sec) B", "A B ns 1e+09"},
        {"A:Sum B", "A:Sum B  1"},
        {"", "  1"},
        {"T (sec) (usec)", "T (usec) ns 1e+09"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct hpctoolkit_metric m = hpctoolkit_metric(cases[i].name);
        char *got = mem_printf("%s %s %g", m.name, m.unit, m.scale);
        CHECK_STR(got, cases[i].want);
        mem_free(got);
        mem_free(m.name);
    }
}

/* ---- experiment.xml ---------------------------------------------------------------------------------------------- */

#define METRIC(i, n, more) "<Metric i='" i "' n='" n "' " more "/>"
#define XML(metrics, tree)                                                                                             \
    "<HPCToolkitExperiment><MetricTable>" metrics "</MetricTable><LoadModuleTable><LoadModule i='2' n='/x/app'/>"      \
    "<LoadModule i='3' n='libm'/></LoadModuleTable><FileTable><File i='4' n='a.c'/><File i='5' n='b.h'/>"              \
    "<File i='6' n='&lt;unknown file&gt;'/></FileTable><ProcedureTable><Procedure i='7' n='main'/>"                    \
    "<Procedure i='8' n='f'/><Procedure i='9' n='&lt;unknown procedure&gt;'/></ProcedureTable>" tree                   \
    "</HPCToolkitExperiment>"
#define OF(tree) XML(METRIC("0", "N", ""), tree)
#define V(value) "<M n='0' v='" value "'/>"
#define MAIN(in) "<PF n='7' lm='2' f='4' l='1'>" in "</PF>"
#define TWO(more)                                                                                                      \
    XML(METRIC("0", "N", "") METRIC("1", more, ""),                                                                    \
        "<PF n='7' lm='2' f='4'><S l='3'>" V("5") "<M n='1' v='6'/></S></PF>")

static const struct {
    const char *name, *text, *want;
} rules[] = {
    {"a statement", OF(MAIN("<S l='3'>" V("5") "</S>")), "app main a.c:3 N 5\n"},
    {"a call's line", OF(MAIN("<C l='3'>" V("5") "</C>")), "app main a.c:3 N 5\n"},
    {"a loop's own value is a sum", OF(MAIN("<L l='2'>" V("9") "<S l='3'>" V("5") "</S></L>")), "app main a.c:3 N 5\n"},
    {"a procedure's, too", OF(MAIN(V("9") "<S l='3'>" V("5") "</S>")), "app main a.c:3 N 5\n"},
    {"a callee and where it is called from",
     OF(MAIN("<C l='3'><PF n='8' lm='3' f='5'><S l='6'>" V("5") "</S></PF></C>")),
     "libm f b.h:6 N 5 < app main a.c:3\n"},
    {"what is left out is as around it", OF(MAIN("<C l='3'><PF n='8'><S l='6'>" V("5") "</S></PF></C>")),
     "app f a.c:6 N 5 < app main a.c:3\n"},
    {"a statement of another file", OF(MAIN("<S f='5' l='3'>" V("5") "</S><S l='4'>" V("6") "</S>")),
     "app main a.c:4 N 6\napp main b.h:3 N 5\n"},
    {"an inlined procedure is called", OF(MAIN("<S l='3'><Pr a='1' n='8' f='5'><S l='6'>" V("5") "</S></Pr></S>")),
     "app f b.h:6 N 5 < app main a.c:3\n"},
    {"one that is its own is not", OF(MAIN("<Pr a='0' n='8'><S l='6'>" V("5") "</S></Pr>")), "app f a.c:6 N 5\n"},
    {"nor is a flat profile's", OF("<LM n='app'><F n='c.c'><P n='g'><S l='6'>" V("5") "</S></P></F></LM>"),
     "app g c.c:6 N 5\n"},
    {"a flat profile's alien",
     OF("<LM n='app'><F n='c.c'><P n='g'><A f='d.h' n='h'><S l='6'>" V("5") "</S></A></P></F></LM>"),
     "app h d.h:6 N 5 < app g c.c:0\n"},
    {"an alien of no name", OF("<LM n='app'><F n='c.c'><P n='g'><A n=''><S l='6'>" V("5") "</S></A></P></F></LM>"),
     "app g c.c:6 N 5\n"},
    {"a root is none", OF("<PF n='&lt;program root&gt;' lm='2'>" MAIN("<S l='3'>" V("5") "</S>") "</PF>"),
     "app main a.c:3 N 5\n"},
    {"nor one of a thread", OF("<PF n='&lt;thread root&gt;' lm='2'>" MAIN("<S l='3'>" V("5") "</S>") "</PF>"),
     "app main a.c:3 N 5\n"},
    {"nor of what is partial", OF("<PF n='&lt;partial call paths&gt;' lm='2'>" MAIN("<S l='3'>" V("5") "</S>") "</PF>"),
     "app main a.c:3 N 5\n"},
    {"in a root alone", OF("<PF n='&lt;program root&gt;' lm='2'><S l='3'>" V("5") "</S></PF>"),
     "[unknown] - -:0 N 5\n"},
    {"unknown names", OF("<PF n='9' lm='2' f='6'><S l='3'>" V("5") "</S></PF>"), "app - -:3 N 5\n"},
    {"names instead of numbers", OF("<PF n='g' lm='lib' f='z.c'><S l='3'>" V("5") "</S></PF>"), "lib g z.c:3 N 5\n"},
    {"a number of no table is a name", OF("<PF n='77' lm='2' f='4'><S l='3'>" V("5") "</S></PF>"),
     "app 77 a.c:3 N 5\n"},
    {"no module", OF("<PF n='7' f='4'><S l='3'>" V("5") "</S></PF>"), "[unknown] main a.c:3 N 5\n"},
    {"values are scaled and rounded", XML(METRIC("0", "T (sec)", ""), MAIN("<S l='3'>" V("2.5e-9") "</S>")),
     "app main a.c:3 T 3\n"},
    {"a metric without a row", OF(MAIN("<S l='3'>" V("5") "<M n='1' v='6'/></S>")), "app main a.c:3 N 5\n"},
    {"exclusive values", TWO("X:Sum (E)' t='exclusive"), "app main a.c:3 N 5\napp main a.c:3 X 6\n"},
    {"inclusive ones are sums", TWO("X' t='inclusive"), "app main a.c:3 N 5\n"},
    {"derived ones are computed", TWO("X' v='derived"), "app main a.c:3 N 5\n"},
    {"what is no sum: Mean", TWO("X:Mean (E)"), "app main a.c:3 N 5\n"},
    {"StdDev", TWO("X:StdDev (E)"), "app main a.c:3 N 5\n"},
    {"Min", TWO("X:Min (E)"), "app main a.c:3 N 5\n"},
    {"Max", TWO("X:Max (E)"), "app main a.c:3 N 5\n"},
    {"CfVar", TWO("X:CfVar (E)"), "app main a.c:3 N 5\n"},
    {"CoefVar", TWO("X:CoefVar (E)"), "app main a.c:3 N 5\n"},
    {"Num", TWO("X:Num-Sources"), "app main a.c:3 N 5\n"},
    {"a value of nowhere", OF("<S l='3'>" V("5") "</S>"), "[unknown] - -:0 N 5\n"},
    {"a value outside", OF(V("5")),
     "! input: has no values; they may be in the files *.metric-db, which are not read\n"},
    {"no number", OF(MAIN("<S l='3'>" V("5x") "</S>")), "input:1: the value '5x' is not a number"},
    {"no digits", OF(MAIN("<S l='3'>" V("") "</S>")), "input:1: the value '' is not a number"},
    {"no value", OF(MAIN("<S l='3'><M n='0'/></S>")), "input:1: the value '' is not a number"},
    {"below zero", OF(MAIN("<S l='3'>" V("-5") "</S>")),
     "! input: omitted 1 of its numbers: not counts (negative, infinite, or above 64 bits)\n"},
    {"no metric", XML("", ""), "input: has no metric with exclusive values"},
    {"another root", "\n<HPCToolkitExperimen/>",
     "input:2: the root element is <HPCToolkitExperimen>, not <HPCToolkitExperiment>"},
};

static void test_xml(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        struct warnings *warnings = warnings_create();
        char *got = converted_with("hpctoolkit", rules[i].text, strlen(rules[i].text), NULL, warnings);
        tap_str(got, rules[i].want, rules[i].name, __FILE__, __LINE__);
        warnings_free(warnings);
        mem_free(got);
    }
}

static void test_sniff(void)
{
    static const struct {
        const char *text;
        size_t len; /* 0: of the text */
        bool is;
    } cases[] = {
        {"HPCTOOLKITmeta\4\0", 16, true},
        {"HPCTOOLKITprof\4\0", 16, true},
        {"HPCTOOLKITctxt\4\0", 16, true},
        {"HPCTOOLKITmeta\4\0", 15, false},
        {"HPCTOOLKITmetb\4\0", 16, false},
        {"hPCTOOLKITmeta\4\0", 16, false},
        {" \n<HPCToolkitExperiment>", 0, true},
        {"HPCToolkitExperiment", 0, false},
        {"<HPCToolkitExperimen>", 0, false},
        {"  ", 0, false},
        {"", 0, false},
        {"<HPCToolkitExperiment>\0", 23, false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        CHECK_NAMED(hpctoolkit_sniff(cases[i].text, cases[i].len ? cases[i].len : strlen(cases[i].text)) == cases[i].is,
                    "a database or not");
}

/* ---- version 4 --------------------------------------------------------------------------------------------------- */

static struct filemap read_example(const char *name)
{
    const char *top = getenv("top_srcdir");
    char *folder = path_join(top ? top : ".", "tests/filters/hpctoolkit-database"), *path = path_join(folder, name);
    struct filemap map = {0};
    CHECK_NAMED(filemap_open(&map, path, NULL) == 0, name);
    mem_free(path);
    mem_free(folder);
    return map;
}

static void write_example(const char *name, const char *text)
{
    const char *top = getenv("top_srcdir");
    char *path = mem_printf("%s/tests/filters/hpctoolkit-database/%s", top ? top : ".", name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        exit(99);
    mem_free(path);
}

/* Location of a number: "m3+0*+8*" means: in meta.db, section 3, follow the pointer at offset 0, then the one at offset
   8. */
static size_t place(const uint8_t *const files[2], const char *words)
{
    const uint8_t *file = files[*words == 'p'];
    char *end = (char *)words + 1;
    uint64_t at = *end == '@' ? 0 : 16 + 8 + 16 * (uint64_t)(*end - '0');
    if (*end++ != '@')
        memcpy(&at, file + at, 8);
    while (*end)
        if (*end == '*') {
            memcpy(&at, file + at, 8);
            end++;
        } else
            at += strtoull(end + 1, &end, 0);
    return at;
}

/* "thread module!procedure@file:line < its caller: EVENT value ..." of each context. */
static void dump_values(struct buf *out, const struct hpcprof *p)
{
    for (size_t i = 0; i < p->count_count; i++) {
        const struct hpcprof_count *c = &p->counts[i];
        const struct hpcprof_thread *t = &p->threads[c->thread];
        if (i == 0 || c[-1].thread != c->thread || c[-1].context != c->context) {
            int rank = p->processes[t->process].rank;
            buf_printf(out, "%s%.*s%d.%u", i ? "\n" : "", rank < 0, "-", rank < 0 ? 0 : rank, t->number);
            for (uint32_t up = c->context; up != HPCPROF_NO_PARENT; up = p->contexts[up].parent) {
                const struct hpcprof_context *at = &p->contexts[up];
                buf_printf(out, "%s%s!%s@%s:%u", up == c->context ? " " : " < ",
                           path_base(strtab_get(p->strings, p->modules[at->module].path)),
                           strtab_get(p->strings, at->procedure), strtab_get(p->strings, at->file), at->line);
            }
        }
        buf_printf(out, " %.1s%llu", strtab_get(p->strings, p->events[c->event].name), (unsigned long long)c->value);
    }
    buf_str(out, p->count_count ? "\n" : "");
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* The first line of `text` that `other` lacks, NULL: none. *count: the number of such lines. */
static const char *first_new(const char *text, const char *other, size_t *count)
{
    const char *first = NULL;
    *count = 0;
    for (size_t len; *text; text += len) {
        len = strcspn(text, "\n") + 1;
        char *line = mem_strndup(text, len);
        if (!strstr(other, line)) {
            first = first ? first : text;
            ++*count;
        }
        mem_free(line);
    }
    return first;
}

/* "LINES, NEW new: the first of them", compared with the original, or "as it is". */
static char *difference(const char *before, const char *after)
{
    size_t added, gone;
    const char *line = first_new(after, before, &added);
    first_new(before, after, &gone);
    if (!added && !gone)
        return mem_strdup("as it is");
    return mem_printf("%zu, %zu new%s%.*s", count_lines(after), added, line ? ": " : "",
                      line ? (int)strcspn(line, "\n") : 0, line ? line : "");
}

static char *database(const uint8_t *const files[2], const size_t lens[2])
{
    static const struct filter_options none;
    struct hpctoolkit_files f = {files[0], files[1], lens[0], lens[1]};
    struct filter_input in = {.name = "input", .options = &none, .open = filters_open};
    struct hpcprof *p = hpcprof_create();
    struct warnings *warnings = warnings_create();
    struct err err = {0};
    struct buf out = {0};
    if (hpctoolkit_v4(&f, &in, p, warnings, &err) == 0) {
        hpcprof_finish(p);
        dump_values(&out, p);
        for (size_t i = 0; i < warnings_count(warnings); i++)
            buf_printf(&out, "! %s\n", warnings_get(warnings, i));
    } else
        buf_str(&out, err.msg);
    warnings_free(warnings);
    hpcprof_free(p);
    return out.bytes;
}

/* The nested contexts of the example. */
#define IN_MAIN "m3+0*+8*"
#define LINE_14 IN_MAIN "+8*"
#define SOLVE   LINE_14 "+8*"
#define LOOP    SOLVE "+8*"
#define LINE_23 LOOP "+8*"
#define LINE_24 LINE_23 "+48"
#define FLUX    LINE_23 "+8*"
#define LINE_5  FLUX "+8*"
#define OUTSIDE "m3+0*+40*"

static const struct {
    const char *name, *at;
    unsigned bytes;
    uint64_t value;
    const char *want;
} changes[] = {
    {"entry points behind the end", "m3+0", 8, 1449, "input: meta.db, byte 928: its contexts are inconsistent"},
    {"no database", "m@+0", 1, 0, "input: meta.db, byte 0: does not begin like this file of an HPCToolkit database"},
    {"of another kind", "m@+10", 4, 0x666f7270,
     "input: meta.db, byte 0: does not begin like this file of an HPCToolkit database"},
    {"of an older version", "m@+14", 1, 3,
     "input: meta.db is of version 3 of the HPCToolkit database; version 4 can be read"},
    {"the profiles of a later one", "p@+14", 1, 5,
     "input: profile.db is of version 5 of the HPCToolkit database; version 4 can be read"},
    {"no name for its ranks", "m1+0*+16*", 1, 0x58, "7, 7 new: -0.0 heat!main@/home/me/heat.c:14 P7"},
    {"no name for its threads", "m1+0*+24*", 1, 0x58,
     "7, 2 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C375000000 P1500"},
    {"names of the kinds before", "m1+0", 8, 344,
     "7, 5 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C375000000 P1500"},
    {"fewer names than ids", "m1+8", 1, 2, "6, 6 new: -0.0 heat!main@/home/me/heat.c:14 P7"},
    {"metrics behind the end", "m2+0", 8, 1449, "input: meta.db, byte 400: its metrics are inconsistent"},
    {"more metrics than can be", "m2+8", 4, 100000, "input: meta.db, byte 400: its metrics are inconsistent"},
    {"no metric", "m2+8", 4, 0, "0, 0 new"},
    {"one metric", "m2+8", 4, 1,
     "7, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C250000000"},
    {"a metric's size below the least", "m2+12", 1, 27, "input: meta.db, byte 400: its metrics are inconsistent"},
    {"an instance's size below the least", "m2+13", 1, 9, "input: meta.db, byte 400: its metrics are inconsistent"},
    {"an instance's size that is the least", "m2+13", 1, 10,
     "2, 2 new: ! input: CPUTIME (sec) is omitted: it has no values of scope 'execution'"},
    {"a metric without a name", "m2+0*", 8, 0,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 P1000"},
    {"a metric whose name stands outside", "m2+0*", 8, 1512,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 P1000"},
    {"a metric's instances behind the end", "m2+0*+8", 8, 1481, "input: meta.db, byte 528: a metric is truncated"},
    {"none of scope execution", "m2+0*+24", 2, 1,
     "9, 8 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 P1000"},
    {"a scope of another type", "m2+0*+8*+16*+8", 1, 3,
     "2, 2 new: ! input: CPUTIME (sec) is omitted: it has no values of scope 'execution'"},
    {"a scope that is not in the file", "m2+0*+8*+16", 8, 1500,
     "9, 8 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 P1000"},
    {"another number of its values", "m2+0*+8*+24", 2, 2,
     "9, 9 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 P1000"},
    {"a number that no value has", "m2+0*+8*+24", 2, 999,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 P1000"},
    {"entry points elsewhere", "m3+0", 8, 1441,
     "input: meta.db, byte 1441: the contexts of an entry point are truncated"},
    {"fewer entry points", "m3+8", 2, 1, "8, 1 new: 0.1 [unknown]!@:0 C62500000 P40"},
    {"no entry point", "m3+8", 2, 0, "3, 3 new: 0.0 [unknown]!@:0 C875000000 P4700"},
    {"more entry points than there are", "m3+8", 2, 3, "input: meta.db, byte 928: its contexts are inconsistent"},
    {"an entry point's size below the least", "m3+10", 1, 19,
     "input: meta.db, byte 928: its contexts are inconsistent"},
    {"an entry point's size that is the least", "m3+10", 1, 20,
     "input: meta.db, byte 1460: the contexts of an entry point are truncated"},
    {"an entry point's contexts behind the end", "m3+0*+8", 8, 1489,
     "input: meta.db, byte 1440: the contexts of an entry point are truncated"},
    {"an entry point with nothing below it", "m3+0*", 8, 0, "4, 3 new: 0.0 [unknown]!@:0 C875000000 P4700"},
    {"an entry point whose number is a context's", "m3+0*+16", 4, 99, "11, 3 new: 0.0 [unknown]!@:0 C875000000 P4700"},
    {"a context behind the end", IN_MAIN "+8", 8, 1500,
     "input: meta.db, byte 1352: a context is truncated, or nested too deep"},
    {"a context below itself", LINE_5, 8, 48, "input: meta.db, byte 0: a context is truncated, or nested too deep"},
    {"a called one that is no function", IN_MAIN "+22", 1, 3,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 C250000000 P1000"},
    {"a context without its function", IN_MAIN "+20", 1, 0,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 C250000000 P1000"},
    {"a function without a name", IN_MAIN "+32*", 8, 0,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!@/home/me/heat.c:14 C250000000 P1000"},
    {"a function without a module", IN_MAIN "+32*+8", 8, 0,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < [unknown]!main@/home/me/heat.c:14 C250000000 P1000"},
    {"a function of another module", IN_MAIN "+32*+8", 8, 672,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < libm.so.6!main@/home/me/heat.c:14 C250000000 P1000"},
    {"a module without a path", "m5+0*+8", 8, 0,
     "8, 7 new: 0.0 [unknown]!solve@/home/me/heat.c:23 < [unknown]!main@/home/me/heat.c:14 C250000000 P1000"},
    {"a function without a file", IN_MAIN "+32*+24", 8, 0, "as it is"},
    {"a line without a file", LINE_14 "+32", 8, 0,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:0 C250000000 P1000"},
    {"another line", LINE_14 "+40", 4, 77,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:77 C250000000 P1000"},
    {"a line of a file that was not copied", LINE_14 "+32*", 4, 0,
     "8, 7 new: 0.0 heat!solve@src/home/me/heat.c:23 < heat!main@src/home/me/heat.c:14 C250000000 P1000"},
    {"a line of a function", LINE_14 "+22", 1, 0, "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 C250000000 P1000"},
    {"a line without its line", LINE_14 "+20", 1, 0,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:0 C250000000 P1000"},
    {"fewer words than the flags say", LINE_14 "+23", 1, 1,
     "input: meta.db, byte 400: a context is truncated, or nested too deep"},
    {"more words than there are", OUTSIDE "+23", 1, 255,
     "input: meta.db, byte 1392: a context is truncated, or nested too deep"},
    {"another number of a context", LINE_14 "+16", 4, 1000,
     "11, 4 new: 0.0 heat!main@/home/me/heat.c:0 C875000000 P4700"},
    {"the file of which the name has a bracket", LINE_14 "+32*+8*", 1, 0x5b,
     "8, 7 new: 0.0 heat!solve@:0 < heat!main@:0 C250000000 P1000"},
    {"the file of which the name is not known", LINE_14 "+32*+8*", 1, 0x3c,
     "8, 7 new: 0.0 heat!solve@:0 < heat!main@:0 C250000000 P1000"},
    {"a file elsewhere than in src", LINE_14 "+32*+8*", 1, 0x54,
     "8, 7 new: 0.0 heat!solve@Trc/home/me/heat.c:23 < heat!main@Trc/home/me/heat.c:14 C250000000 P1000"},
    {"a name that ends otherwise", LINE_24 "+8*+32*+0*+14", 1, 0x58,
     "8, 1 new: 0.0 libm.so.6!exp [libm.so.6X@:0 < heat!solve@/home/me/heat.c:24 < heat!main@/home/me/heat.c:14 "
     "C125000000 P700"},
    {"a name of another module", LINE_24 "+8*+32*+0*+5", 1, 0x4c,
     "8, 1 new: 0.0 libm.so.6!exp [Libm.so.6]@:0 < heat!solve@/home/me/heat.c:24 < heat!main@/home/me/heat.c:14 "
     "C125000000 P700"},
    {"a name without a blank", LINE_24 "+8*+32*+0*+3", 1, 0x78,
     "8, 1 new: 0.0 libm.so.6!expx[libm.so.6]@:0 < heat!solve@/home/me/heat.c:24 < heat!main@/home/me/heat.c:14 "
     "C125000000 P700"},
    {"a bracket elsewhere", LINE_24 "+8*+32*+0*+4", 1, 0x78,
     "8, 1 new: 0.0 libm.so.6!exp xlibm.so.6]@:0 < heat!solve@/home/me/heat.c:24 < heat!main@/home/me/heat.c:14 "
     "C125000000 P700"},
    {"a point with a module", OUTSIDE "+32", 8, 656, "8, 1 new: 0.1 heat!@:0 C62500000 P40"},
    {"a point without a module", OUTSIDE "+32", 8, 0, "8, 1 new: 0.1 [unknown]!@:0 C62500000 P40"},
    {"a point without its flag", OUTSIDE "+20", 1, 0, "8, 1 new: 0.1 [unknown]!@:0 C62500000 P40"},
    {"profiles behind the end", "p0+0", 8, 2049, "input: profile.db, byte 2024: its profiles are inconsistent"},
    {"a profile's size below the least", "p0+12", 1, 43, "input: profile.db, byte 2024: its profiles are inconsistent"},
    {"no profiles", "p0+8", 4, 0, "0, 0 new"},
    {"two profiles", "p0+8", 4, 2, "3, 0 new"},
    {"all profiles are a summary's", "p0+0*+88", 4, 1, "5, 0 new"},
    {"the summary is none", "p0+0*+40", 4, 0, "11, 6 new: 1.0 heat!main@/home/me/heat.c:14 P14"},
    {"fewer values", "p0+0*+48", 8, 3, "input: profile.db, byte 972: a context's values are out of order"},
    {"more values than the file holds", "p0+0*+48", 8, 225,
     "input: profile.db, byte 2088: the profile of a thread is truncated"},
    {"values behind the end", "p0+0*+56", 8, 2239,
     "input: profile.db, byte 2088: the profile of a thread is truncated"},
    {"as many values as nobody has", "p0+0*+48", 8, 0x2000000000000000,
     "input: profile.db, byte 2088: the profile of a thread is truncated"},
    {"fewer contexts", "p0+0*+64", 4, 2, "6, 1 new: 0.0 [unknown]!@:0 C6750000000 P36600"},
    {"contexts behind the end", "p0+0*+72", 8, 2239,
     "input: profile.db, byte 2088: the profile of a thread is truncated"},
    {"ids behind the end", "p0+0*+80", 8, 2236,
     "8, 3 new: -0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C250000000 P1000"},
    {"no ids", "p0+0*+80", 8, 0,
     "7, 3 new: 1.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C250000000 P1000"},
    {"values beyond the last", "p0+0*+72*+16", 8, 99,
     "input: profile.db, byte 960: a context's values are out of order"},
    {"another context's", "p0+0*+72*+36", 4, 4, "11, 3 new: 0.0 heat!main@/home/me/heat.c:0 C875000000 P4700"},
    {"a context of nobody", "p0+0*+72*+36", 4, 4000, "10, 2 new: 0.0 heat!main@/home/me/heat.c:0 C875000000 P4700"},
    {"a loop below itself", LOOP "+8", 8, 1216, "input: meta.db, byte 1216: contexts form a cycle"},
    {"an inlined function that is not called", FLUX "+21", 1, 0,
     "8, 2 new: 0.0 heat!flux@/home/me/flux.h:5 < heat!main@/home/me/heat.c:14 C500000000 P3000"},
    {"a function behind the end", IN_MAIN "+32", 8, 1480,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 C250000000 P1000"},
    {"a name of the module alone", LINE_24 "+8*+32*", 8, 246,
     "8, 1 new: 0.0 libm.so.6! [libm.so.6]@:0 < heat!solve@/home/me/heat.c:24 < heat!main@/home/me/heat.c:14 "
     "C125000000 P700"},
    {"a name of one letter", LINE_24 "+8*+32*", 8, 245,
     "8, 1 new: 0.0 libm.so.6!p@:0 < heat!solve@/home/me/heat.c:24 < heat!main@/home/me/heat.c:14 C125000000 P700"},
    {"a name whose end is the file's", "m2+0*", 8, 1511,
     "8, 7 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 P1000"},
    {"a point that has a name", LINE_24 "+8*+20", 1, 5, "as it is"},
    {"another thread", "p0+0*+128*+44", 4, 7,
     "8, 2 new: 0.7 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C125000000 P500"},
    {"a thread's number as another kind's", "p0+0*+128*+40", 1, 0,
     "7, 2 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C375000000 P1500"},
    {"a thread's number as its process's", "p0+0*+128*+40", 1, 2,
     "8, 2 new: 1.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C125000000 P500"},
    {"fewer numbers of a thread", "p0+0*+128*", 2, 2,
     "7, 2 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C375000000 P1500"},
    {"the first values begin late", "p0+0*+72*+4", 8, 1, "as it is"},
    {"values in no order", "p0+0*+72*+4", 8, 5, "input: profile.db, byte 960: a context's values are out of order"},
    {"a value of a context's own", "p0+0*+56*+152", 8, 0x4059000000000000,
     "9, 2 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C250000000 P3900"},
    {"a value below zero", "p0+0*+56*+152", 8, 0xc059000000000000,
     "9, 2 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C250000000 P4100"},
    {"a value without end", "p0+0*+56*+152", 8, 0x7ff0000000000000,
     "9, 2 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C250000000"},
    {"a value that is no number", "p0+0*+56*+152", 8, 0x7ff8000000000000,
     "9, 2 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C250000000"},
    {"a scope that is a point", "p0+0*+56*+150", 2, 0,
     "9, 2 new: 0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C250000000 P4000"},
};

static void test_changes(void)
{
    struct filemap maps[2] = {read_example("meta.db"), read_example("profile.db")};
    char *as_it_is =
        database((const uint8_t *const[]){maps[0].bytes, maps[1].bytes}, (const size_t[]){maps[0].len, maps[1].len});
    CHECK_STR(as_it_is,
              "0.0 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C250000000 P1000\n"
              "0.0 heat!flux@/home/me/flux.h:5 < heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 "
              "C500000000 P3000\n"
              "0.0 libm.so.6!exp@:0 < heat!solve@/home/me/heat.c:24 < heat!main@/home/me/heat.c:14 C125000000 P700\n"
              "0.1 heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 C125000000 P500\n"
              "0.1 libm.so.6!@:0 C62500000 P40\n"
              "1.0 heat!main@/home/me/heat.c:14 P7\n"
              "1.0 heat!flux@/home/me/flux.h:5 < heat!solve@/home/me/heat.c:23 < heat!main@/home/me/heat.c:14 "
              "C375000000 P2000\n"
              "1.0 heat!solve@/home/me/heat.c:24 < heat!main@/home/me/heat.c:14 C31250000 P5\n");
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        uint8_t *copies[2];
        const uint8_t *const files[2] = {maps[0].bytes, maps[1].bytes};
        const size_t lens[2] = {maps[0].len, maps[1].len};
        for (int k = 0; k < 2; k++)
            copies[k] = memcpy(mem_alloc(lens[k]), files[k], lens[k]);
        size_t at = place(files, changes[i].at);
        for (unsigned k = 0; k < changes[i].bytes; k++)
            copies[changes[i].at[0] == 'p'][at + k] = (uint8_t)(changes[i].value >> 8 * k);
        char *got = database((const uint8_t *const[]){copies[0], copies[1]}, lens);
        char *said = str_starts(got, "input: ") ? mem_strdup(got) : difference(as_it_is, got);
        tap_str(said, changes[i].want, changes[i].name, __FILE__, __LINE__);
        mem_free(said);
        mem_free(got);
        mem_free(copies[0]);
        mem_free(copies[1]);
    }
    mem_free(as_it_is);
    filemap_release(&maps[0]);
    filemap_release(&maps[1]);
}

static struct guarded_room lent[2]; /* the database's two files */

/* Truncated anywhere before its end marker, a file gives an error with its name; memory ends after it, so that reads
   past its end are detected. */
static void test_cut(void)
{
    struct filemap maps[2] = {read_example("meta.db"), read_example("profile.db")};
    for (int cut = 0; cut < 2; cut++) {
        bool words = true;
        const char *begins = cut ? "input: profile.db, byte " : "input: meta.db, byte ";
        for (size_t n = 0; n <= maps[cut].len - 8; n++) {
            const uint8_t *copy = guarded_copy(&lent[0], maps[cut].bytes, n);
            char *got = database((const uint8_t *const[]){cut ? maps[0].bytes : copy, cut ? copy : maps[1].bytes},
                                 (const size_t[]){cut ? maps[0].len : n, cut ? n : maps[1].len});
            bool whole = n == maps[cut].len - 8;
            if (str_starts(got, begins) == whole)
                printf("# %zu: %s\n", n, got), words = false;
            mem_free(got);
        }
        CHECK_NAMED(words, begins);
    }
    filemap_release(&maps[0]);
    filemap_release(&maps[1]);
}

/* FNV-1a of the results with one of every 32 bytes changed. */
static uint32_t digest_of_changed(const struct filemap maps[2], int changed, size_t from, unsigned how)
{
    uint32_t digest = 0;
    for (size_t i = from; i < from + 32 && i < maps[changed].len; i++) {
        const uint8_t *files[2] = {guarded_copy(&lent[0], maps[0].bytes, maps[0].len),
                                   guarded_copy(&lent[1], maps[1].bytes, maps[1].len)};
        uint8_t *byte = (uint8_t *)files[changed] + i;
        *byte = (uint8_t)(how == 0 ? *byte + 1 : how == 1 ? *byte ^ 16 : how == 2 ? 0 : 255);
        char *got = database(files, (const size_t[]){maps[0].len, maps[1].len});
        for (const char *c = got; c && *c; c++)
            digest = (digest ^ (unsigned char)*c) * 16777619;
        mem_free(got);
    }
    return digest;
}

/* tests/filters/hpctoolkit-database/damaged: a line for each 32 bytes of both. */
static void test_each_byte(void)
{
    struct filemap maps[2] = {read_example("meta.db"), read_example("profile.db")}, want = read_example("damaged");
    const char *golden = getenv("GOLDEN");
    struct buf out = {0};
    for (int changed = 0; changed < 2; changed++)
        for (size_t from = 0; from < maps[changed].len; from += 32) {
            buf_printf(&out, "%s %4zu", changed ? "profile" : "meta", from);
            for (unsigned how = 0; how < 4; how++)
                buf_printf(&out, " %08x", digest_of_changed(maps, changed, from, how));
            buf_str(&out, "\n");
        }
    char *wanted = mem_strndup((const char *)want.bytes, want.len);
    CHECK_STR(out.bytes, wanted);
    if (golden && strcmp(golden, "write") == 0)
        write_example("damaged", out.bytes);
    mem_free(wanted);
    buf_release(&out);
    filemap_release(&want);
    filemap_release(&maps[0]);
    filemap_release(&maps[1]);
}

/* Given as a folder, with or without the accompanying files. */
static void test_files_missing(void)
{
    static const struct filter_options none;
    static const char *const names[] = {"meta.db", "profile.db"};
    for (int kept = 0; kept < 3; kept++) {
        char folder[] = "/tmp/hpctoolkit.XXXXXX";
        struct err err = {0};
        struct hpcprof *p = hpcprof_create();
        CHECK_NAMED(mkdtemp(folder) != NULL, "a folder");
        for (int k = 0; k < 2; k++) {
            struct filemap map = read_example(names[k]);
            char *path = path_join(folder, names[k]);
            FILE *f = kept == 2 || kept == k ? fopen(path, "w") : NULL;
            if (f && (fwrite(map.bytes, 1, map.len, f) != map.len || fclose(f) != 0))
                exit(99);
            mem_free(path);
            filemap_release(&map);
        }
        char *name = path_join(folder, "cct.db");
        struct filter_input in = {
            .bytes = "HPCTOOLKITctxt\4\0", .len = 16, .name = name, .options = &none, .open = filters_open};
        int status = hpctoolkit_convert(&in, p, NULL, &err);
        CHECK(status == (kept == 2 ? 0 : -1));
        char *missing = kept < 2 ? mem_printf("%s/%s: ", folder, names[!kept]) : mem_strdup("");
        CHECK_NAMED(str_starts(kept < 2 ? err.msg : "", missing), "the one that is not there is named");
        for (int k = 0; k < 2; k++) {
            char *path = path_join(folder, names[k]);
            unlink(path);
            mem_free(path);
        }
        rmdir(folder);
        mem_free(missing);
        mem_free(name);
        hpcprof_free(p);
    }
}

int main(void)
{
    test_metrics();
    test_xml();
    test_sniff();
    test_changes();
    test_cut();
    test_each_byte();
    test_files_missing();
    return tap_done();
}
