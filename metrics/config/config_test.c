/* SPDX-License-Identifier: BSD-3-Clause */
/* Configurations: reading both formats, and error messages. */
#include "metrics/config/config.h"
#include "tests/cases.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <unistd.h>

static void draw_recipe(struct buf *b, const struct config *c, size_t run)
{
    const struct config_recipe r = config_recipe(c, run);
    const char *const texts[][2] = {{"command", r.command},         {"in", r.folder},       {"with", r.environment},
                                    {"events", r.events},           {"threads", r.threads}, {"host", r.host},
                                    {"repetitions", r.repetitions}, {"only", r.only}};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (*texts[i][1] && *r.command)
            buf_printf(b, " %s '%s'", texts[i][0], texts[i][1]);
    buf_printf(b, "%s%s\n", r.no_call_paths ? " without paths" : "", r.phases ? " with phases" : "");
}

/* Prints the configuration as one text, so that input and result are visible together. */
static char *drawn(const struct config *c)
{
    static const char *const choices[] = {"", "+", "-"};
    struct buf b = {0};
    buf_printf(&b, "title %s\n", c->title);
    for (size_t i = 0; i < c->sources.count; i++)
        buf_printf(&b, "source %s%s%s%s\n", c->sources.items[i].dir, c->sources.items[i].subfolders ? " and below" : "",
                   *c->sources.items[i].view ? " as " : "", c->sources.items[i].view);
    for (size_t i = 0; i < c->replaces.count; i++)
        buf_printf(&b, "replace %s by %s\n", c->replaces.items[i].in, c->replaces.items[i].out);
    for (size_t i = 0; i < c->roles.count; i++)
        buf_printf(&b, "module %s is %s\n", c->roles.items[i].module, c->roles.items[i].role);
    for (size_t i = 0; i < c->runs.count; i++) {
        buf_printf(&b, "run %s in %s", c->runs.items[i].name, c->runs.items[i].path);
        draw_recipe(&b, c, i);
    }
    for (size_t i = 0; i < c->structures.count; i++)
        buf_printf(&b, "structure %s\n", c->structures.items[i]);
    for (size_t i = 0; i < c->debug_dirs.count; i++)
        buf_printf(&b, "debug %s\n", c->debug_dirs.items[i]);
    for (size_t i = 0; i < c->metrics.count; i++) {
        const struct config_metric *m = &c->metrics.items[i];
        if (*m->block) {
            buf_printf(&b, "block %s\n", m->block);
            continue;
        }
        buf_printf(&b, "metric %s = %s%s", m->name, *m->formula ? m->formula : "event ", m->event);
        if (m->run != RUN_ALL)
            buf_printf(&b, " of %s", c->runs.items[m->run].name);
        buf_printf(&b, "%s%s", *m->region ? " inside of " : "", m->region);
        buf_printf(&b, "%s%s%s%s%s", *m->unit ? " in " : "", m->unit, *m->display_name ? " shown as " : "",
                   m->display_name, m->by_line ? " by line" : "");
        buf_printf(&b, "%s%s%s%s%s%s", m->percent ? " percent" : "", choices[m->percent], m->display ? " display" : "",
                   choices[m->display], m->sort_by ? " sort" : "", choices[m->sort_by]);
        buf_printf(&b, "%s%s\n", *m->description ? ": " : "", m->description);
    }
    return b.bytes;
}

static const struct {
    const char *name, *text, *want, *warning;
} good[] = {
    {"everything of our format",
     "<?xml version='1.0'?>\n"
     "<hpcview version='1'>\n"
     " <title> Heat, two compilers </title>\n"
     " <sources path='src/*'/><sources path='/abs/lib/' show-as='lib'/>\n"
     " <replace in='/build/heat' out='.'/><replace in='' out='/root'/>\n"
     " <run name='gcc' measurements='gcc.measurements'/>\n"
     " <run measurements='/data/clang.measurements'/>\n"
     " <structure file='app.xml'/><debug path='dbg'/><module name='app-O3' role='app'/>\n"
     " <measured name='CYC' event='PAPI_TOT_CYC' run='gcc' display-name='cycles' unit='cycles' percent='no' "
     "sort='yes'>\n"
     "  <description> all of them </description></measured>\n"
     " <measured event='perf::TASK-CLOCK'/>\n"
     " <computed name='A' formula='CYC / 2' display='no'/>\n"
     " <computed name='B'><formula> CYC - A </formula><description>d</description></computed>\n"
     " <computed name='C' evaluate='lines'><math><apply><plus/><ci>A</ci><cn>1.5</cn></apply></math></computed>\n"
     "</hpcview>\n",
     "title Heat, two compilers\n"
     "source conf/src and below\n"
     "source /abs/lib as lib\n"
     "replace /build/heat/ by conf/./\n"
     "replace  by /root/\n"
     "module app-O3 is app\n"
     "run gcc in conf/gcc.measurements\n"
     "run clang in /data/clang.measurements\n"
     "structure conf/app.xml\n"
     "debug conf/dbg\n"
     "metric CYC = event PAPI_TOT_CYC of gcc in cycles shown as cycles percent- sort+: all of them\n"
     "metric perf::TASK-CLOCK = event perf::TASK-CLOCK\n"
     "metric A = CYC / 2 display-\n"
     "metric B = CYC - A: d\n"
     "metric C = A + 1.5 by line\n",
     NULL},
    {"the original HPCVIEW",
     "<HPCVIEW>\n"
     "<TITLE name='mpdsyn'/>\n"
     "<PATH name='.'/><PATH name='../src/*' viewname='source'/>\n"
     "<REPLACE in='/old' out='/new'/><REPLACE in='/x' out='/x'/>\n"
     "<STRUCTURE name='mpdsyn.psxml'/>\n"
     "<GROUP name='mine.xml'/>\n"
     "<METRIC name='CYC' displayName='cycles' sortBy='true'><FILE name='cyc.pxml'/></METRIC>\n"
     "<METRIC name='ICYC' display='false' percent='false'><FILE name='cyc.pxml' select='3' type='PROFILE'/></METRIC>\n"
     "<METRIC name='STALL'><COMPUTE><math><apply><minus/><ci> CYC "
     "</ci><ci>ICYC</ci></apply></math></COMPUTE></METRIC>\n"
     "<METRIC name='X'><COMPUTE propagate='computed'><math><ci>STALL</ci></math></COMPUTE></METRIC>\n"
     "</HPCVIEW>\n",
     "title mpdsyn\n"
     "source conf\n"
     "source src and below as source\n"
     "replace /old/ by /new/\n"
     "run cyc.pxml in conf/cyc.pxml\n"
     "structure conf/mpdsyn.psxml\n"
     "metric CYC = event 0 of cyc.pxml shown as cycles percent+ sort+\n"
     "metric ICYC = event 3 of cyc.pxml percent- display-\n"
     "metric STALL = CYC - ICYC percent+\n"
     "metric X = STALL by line percent+\n",
     "conf/c.xml:4: replacing '/x' by itself has no effect"},
    {"no column chosen for sorting",
     "<HPCVIEW><TITLE name='t'/><METRIC name='A' display='false'><FILE name='a'/></METRIC>"
     "<METRIC name='B'><FILE name='b'/></METRIC></HPCVIEW>",
     "title t\nrun a in conf/a\nrun b in conf/b\nmetric A = event 0 of a percent+ display-\n"
     "metric B = event 0 of b percent+ sort+\n",
     "conf/c.xml: no displayed METRIC has sortBy=\"true\"; tables are sorted by 'B'"},
    {"nearly nothing", "<hpcview version='1'/>", "title \n", NULL},
    {"runs with one base name", "<hpcview version='1'><run measurements='a/x'/><run measurements='b/x'/></hpcview>",
     "title \nrun x in conf/a/x\nrun x-2 in conf/b/x\n", NULL},
};

static void test_good(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        struct config *c = NULL;
        struct err err = {0};
        struct warnings *warnings = warnings_create();
        int status = config_read_bytes(good[i].text, strlen(good[i].text), "conf/c.xml", &c, warnings, &err);
        if (CHECK_NAMED(status == 0, good[i].name)) {
            char *text = drawn(c);
            CHECK_STR(text, good[i].want);
            mem_free(text);
        } else
            printf("# %s\n", err.msg);
        if (good[i].warning)
            CHECK_STR(warnings_count(warnings) ? warnings_get(warnings, 0) : "", good[i].warning);
        else
            CHECK_INT(warnings_count(warnings), 0);
        warnings_free(warnings);
        config_free(c);
    }
}

#define IN(body)   "<hpcview version='1'>\n" body "\n</hpcview>"
#define OLD(body)  "<HPCVIEW>\n" body "\n</HPCVIEW>"
#define MATH(body) IN("<computed name='M'><math>" body "</math></computed>")
static const struct {
    const char *text, *want;
} bad[] = {
    {"", "conf/c.xml: the file is empty, not a configuration"},
    {"<hpcview version='1'>", NULL},
    {"<hpcview version='1'><title></hpcview>", NULL},
    {"<html/>", "conf/c.xml:1: not a configuration: its root element is <html>, not <hpcview> (or <HPCVIEW> of the "
                "original HPCView)"},
    {"<hpcview/>", "conf/c.xml:1: <hpcview> lacks its attribute 'version'"},
    {"<hpcview version='2'/>", "conf/c.xml:1: configuration of version '2'; this hpcview reads version 1"},
    {IN("<soruces path='x'/>"), "conf/c.xml:2: unknown element <soruces> in <hpcview>; did you mean <sources>?"},
    {IN("<zzzzzzzzzz/>"), "conf/c.xml:2: unknown element <zzzzzzzzzz> in <hpcview>; available: title, sources, "
                          "replace, module, run, structure, debug, measured, computed, function, metrics"},
    {IN("<run name='a'/>"), "conf/c.xml:2: <run> lacks its attribute 'measurements'"},
    {IN("<run measurements=''/>"), "conf/c.xml:2: <run> lacks its attribute 'measurements'"},
    {IN("<run mesurements='a'/>"), "conf/c.xml:2: <run> has no attribute 'mesurements'; did you mean 'measurements'?"},
    {IN("<run measurements='a'>text</run>"), "conf/c.xml:2: <run> cannot contain text"},
    {IN("<run measurements='a'><x/></run>"), "conf/c.xml:2: <run> cannot contain elements, but contains <x>"},
    {IN("<run name='r' measurements='a'/>\n<run name='r' measurements='b'/>"),
     "conf/c.xml:3: the run 'r' already exists; every run needs its own name"},
    {IN("<measured event='E' run='nope'/>"), "conf/c.xml:2: no run 'nope' for the metric 'E'"},
    {IN("<measured event='E' sort='maybe'/>"), "conf/c.xml:2: sort must be yes or no, not 'maybe'"},
    {IN("<measured event='E'/>\n<measured event='E'/>"),
     "conf/c.xml:3: the metric 'E' is defined twice; first at conf/c.xml:2"},
    {IN("<computed name='C'/>"), "conf/c.xml:2: the computed metric 'C' has no formula"},
    {IN("<computed formula='1'/>"), "conf/c.xml:2: <computed> lacks its attribute 'name'"},
    {IN("<computed name='C' formula=''/>"), "conf/c.xml:2: the formula is empty"},
    {IN("<computed name='C' formula='A +'/>"), "conf/c.xml:2: C: character 4 of the formula: missing operand after "
                                               "'+'; expected a number, the name of a metric or '('"},
    {IN("<computed name='C' formula='1'><formula>2</formula></computed>"),
     "conf/c.xml:2: second formula; a metric has only one"},
    {IN("<computed name='C' formula='1'\n evaluate='often'/>"),
     "conf/c.xml:3: evaluate must be 'sums' or 'lines', not 'often'"},
    {MATH(""), "conf/c.xml:2: <math> must contain one <apply>, <ci> or <cn>, not 0"},
    {MATH("<ci>A</ci><ci>B</ci>"), "conf/c.xml:2: <math> must contain one <apply>, <ci> or <cn>, not 2"},
    {MATH("<ci> </ci>"), "conf/c.xml:2: <ci> is empty; expected the name of a metric"},
    {MATH("<cn>ten</cn>"), "conf/c.xml:2: <cn> must contain a number, not 'ten'"},
    {MATH("<apply/>"), "conf/c.xml:2: <apply> is empty; expected an operator (plus, minus, times, divide, power, max "
                       "and min) and its operands"},
    {MATH("<apply><ci>A</ci></apply>"), "conf/c.xml:2: the first element in <apply> must be an operator (plus, minus, "
                                        "times, divide, power, max and min), not <ci>"},
    {MATH("<apply><divide/><ci>A</ci></apply>"), "conf/c.xml:2: <divide/> has 1 operand; it takes two"},
    {MATH("<apply><minus/><cn>1</cn><cn>1</cn><cn>1</cn></apply>"),
     "conf/c.xml:2: <minus/> has 3 operands; it takes one or two"},
    {MATH("<apply><plus/><times/></apply>"), "conf/c.xml:2: <times/> can only be the first element in <apply>"},
    {MATH("<plus/>"), "conf/c.xml:2: <plus/> can only be the first element in <apply>"},
    {MATH("<apply><sin/><cn>1</cn></apply>"), "conf/c.xml:2: the first element in <apply> must be an operator (plus, "
                                              "minus, times, divide, power, max and min), not <sin>"},
    {MATH("<sin/>"), "conf/c.xml:2: unknown element <sin> in a formula; available: apply, cn, ci, plus, minus, times, "
                     "divide, power, max and min"},
    {IN("<module name='m' role=''/>"), "conf/c.xml:2: <module> lacks its attribute 'role'"},
    {IN("<module role='r'/>"), "conf/c.xml:2: <module> lacks its attribute 'name'"},
    {IN("<computed name='M'><math><ci>A</ci></math><math><ci>A</ci></math></computed>"),
     "conf/c.xml:2: second formula; a metric has only one"},
    {IN("<computed name='M' formula='A'><math><ci>A</ci></math></computed>"),
     "conf/c.xml:2: second formula; a metric has only one"},
    {IN("<computed name='M'><math><math><ci>A</ci></math></math></computed>"),
     "conf/c.xml:2: unknown element <math> in a formula; available: apply, cn, ci, plus, minus, times, divide, power, "
     "max and min"},
    {OLD("<METRIC name='A'><COMPUTE/><COMPUTE/></METRIC>"), "conf/c.xml:2: COMPUTE of METRIC 'A' contains no <math>"},
    {OLD("<METRIC name='A'><FILE name='a'/><COMPUTE/></METRIC>"),
     "conf/c.xml:2: second FILE or COMPUTE; METRIC 'A' can have only one"},
    {OLD("<METRIC name='A'><COMPUTE><math><ci>A</ci></math></COMPUTE><FILE name='a'/></METRIC>"),
     "conf/c.xml:2: second FILE or COMPUTE; METRIC 'A' can have only one"},
    {OLD("<METRIC name='A'><COMPUTE><math><ci>A</ci></math><math><ci>A</ci></math></COMPUTE></METRIC>"),
     "conf/c.xml:2: second formula; a metric has only one"},
    {OLD(""), "conf/c.xml: has no METRIC; at least one with a FILE is required"},
    {OLD("<METRIC name='A'/>"), "conf/c.xml:2: METRIC 'A' has neither FILE nor COMPUTE"},
    {OLD("<METRIC name='A'><FILE name='a'/><FILE name='b'/></METRIC>"),
     "conf/c.xml:2: second FILE or COMPUTE; METRIC 'A' can have only one"},
    {OLD("<METRIC name='A' display='false'><FILE name='a'/></METRIC>"),
     "conf/c.xml: no METRIC is displayed; set display=\"true\" for at least one"},
    {OLD("<METRIC name='A'><COMPUTE></COMPUTE></METRIC>"), "conf/c.xml:2: COMPUTE of METRIC 'A' contains no <math>"},
    {OLD("<METRIC name='A'><COMPUTE><math><ci>B</ci></math></COMPUTE></METRIC>\n<METRIC name='B'><FILE "
         "name='b'/></METRIC>"),
     "conf/c.xml:2: A: no earlier METRIC is named 'B'"},
    {OLD("<METRIC name='A'><FILE name='a' type='GPROF'/></METRIC>"),
     "conf/c.xml:2: type must be PROFILE or HPCRUN, not 'GPROF'"},
    {OLD("<METRIC name='A'><COMPUTE propagate='up'/></METRIC>"),
     "conf/c.xml:2: propagate must be raw or computed, not 'up'"},
    {"<!DOCTYPE hpcview [<!ENTITY x SYSTEM '/etc/passwd'>]><hpcview version='1'><title>&x;</title></hpcview>", NULL},
};

static void test_bad(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct config *c = NULL;
        struct err err = {0};
        int status = config_read_bytes(bad[i].text, strlen(bad[i].text), "conf/c.xml", &c, NULL, &err);
        CHECK_NAMED(status < 0 && !c, bad[i].want ? bad[i].want : "not well-formed");
        if (bad[i].want)
            CHECK_STR(err.msg, bad[i].want);
        else if (!CHECK_NAMED(str_starts(err.msg, "conf/c.xml:"), "names the file and place"))
            printf("# %s\n", err.msg);
        config_free(c);
    }
}

/* ---- attributes and children, as documented (doc/formats/configuration.md) ---- */

static const char ours[] =
    "<hpcview version='1'><title>t</title><sources path='s' show-as='v'/><replace in='/i' out='/o'/><module name='m' "
    "role='r'/>"
    "<run measurements='a' name='a' command='c' folder='f' environment='A=1' events='E' threads='2' call-paths='no' "
    "host='h' only='o' phases='yes' "
    "repetitions='2'/>"
    "<structure file='s.xml'/><debug path='d'/><metrics block='cpi'/><function name='f' parameters='x' formula='x + "
    "x'/>"
    "<measured event='E' name='e' run='a' region='r' display-name='d' unit='u' percent='no' display='yes' sort='yes'>"
    "<description>d</description></measured>"
    "<computed name='C' evaluate='lines' display-name='d' unit='u' percent='no' display='yes' "
    "sort='yes'><formula>e</formula>"
    "<description>d</description></computed><computed name='D'><math><ci>C</ci></math></computed></hpcview>";
static const char original[] =
    "<HPCVIEW><TITLE name='t'/><PATH name='p' viewname='v'/><REPLACE in='/i' out='/o'/><STRUCTURE name='s'/><GROUP "
    "name='g'/>"
    "<METRIC name='A' displayName='a' display='true' percent='true' sortBy='true'><FILE name='f' select='1' "
    "type='PROFILE'/></METRIC>"
    "<METRIC name='B'><COMPUTE propagate='computed'><math><ci>A</ci></math></COMPUTE></METRIC></HPCVIEW>";
static const char *const hold_text[] = {"title", "description", "formula", "ci", NULL};
static const char *const needed[] = {"hpcview version",     "sources path",
                                     "replace in",          "module name",
                                     "module role",         "run measurements",
                                     "structure file",      "debug path",
                                     "metrics block",       "function name",
                                     "function parameters", "function formula",
                                     "measured event",      "computed name",
                                     "TITLE name",          "PATH name",
                                     "REPLACE in",          "STRUCTURE name",
                                     "GROUP name",          "METRIC name",
                                     "FILE name",           NULL};

static bool is_among(const char *const *words, const char *word)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* Replaces the text between from and to; returns whether the result is readable. */
static bool reads_with(const char *text, const char *from, const char *to, const char *new, struct err *err)
{
    char *changed = mem_printf("%.*s%s%s", (int)(from - text), text, new, to);
    struct config *c = NULL;
    *err = (struct err){0};
    bool reads = config_read_bytes(changed, strlen(changed), "c.xml", &c, NULL, err) == 0;
    config_free(c);
    mem_free(changed);
    return reads;
}

/* For each attribute of the element at `tag`: omits it, and renames it. */
static size_t try_attributes(const char *text, const char *tag, const char *end, const char *element)
{
    struct err err;
    size_t wrong = 0;
    for (const char *at = tag + strcspn(tag, " >/"); at < end && *at == ' ';) {
        const char *name = at + 1, *equals = strchr(at, '='), *next = strchr(equals + 2, '\'') + 1;
        char *key = mem_printf("%s %.*s", element, (int)(equals - name), name);
        if (reads_with(text, at, next, "", &err) == is_among(needed, key) ||
            reads_with(text, name, equals, "zzz", &err)) {
            printf("# %s: %s\n", key, err.msg);
            wrong++;
        }
        mem_free(key);
        at = next;
    }
    return wrong;
}

static void test_elements(void)
{
    char *other = mem_strdup(original); /* the same with another name */
    memcpy(other + 1, "HPCPROF", 7);
    memcpy(other + strlen(other) - 8, "HPCPROF", 7);
    const char *const texts[] = {ours, original, other};
    size_t wrong = 0, tried = 0;
    for (size_t t = 0; t < ARRAY_SIZE(texts); t++) {
        struct err err;
        CHECK_NAMED(reads_with(texts[t], texts[t], texts[t], "", &err), "the whole is read");
        for (const char *tag = texts[t]; (tag = strchr(tag, '<')); tag++) {
            if (tag[1] == '/')
                continue;
            const char *end = strchr(tag, '>');
            char *element = mem_strndup(tag + 1, strcspn(tag + 1, " >/"));
            char *closed = mem_printf(">x</%s>", element),
                 *want = mem_printf("c.xml:1: <%s> cannot contain text", element);
            bool empty = end[-1] == '/', parent = !empty && strchr(end, '<')[1] != '/';
            bool reads = reads_with(texts[t], end - empty, end + 1, empty ? closed : ">x", &err);
            tried += !parent; /* text outside of elements is ignored */
            if (!parent && !is_among(hold_text, element) && (reads || strcmp(err.msg, want) != 0)) {
                printf("# %s\n", want);
                wrong++;
            }
            wrong += try_attributes(texts[t], tag, end, element);
            mem_free(element);
            mem_free(closed);
            mem_free(want);
        }
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(tried, 27);
    mem_free(other);
}

/* Collecting all errors: each invalid part of the file is reported once. */
static void test_all_at_once(void)
{
    static const char text[] = IN("<run mesurements='a' nmae='b'/>\n"
                                  "<soruces path='x'><deep><er/></deep></soruces>\n"
                                  "<computed name='A'><math><apply><sin/><apply/></apply></math></computed>\n"
                                  "<measured event='E' run='nope'/>\n"
                                  "<computed name='B' formula='1 +'><description>d</description></computed>\n"
                                  "<computed name='C' formula='2'/>\n"
                                  "<measured event='F' sort='maybe'/>\n"
                                  "<run measurements='a'>text</run>");
    static const char *const want[] = {
        "conf/c.xml:2: <run> has no attribute 'mesurements'; did you mean 'measurements'?",
        "conf/c.xml:2: <run> has no attribute 'nmae'; did you mean 'name'?",
        "conf/c.xml:3: unknown element <soruces> in <hpcview>; did you mean <sources>?",
        ("conf/c.xml:4: the first element in <apply> must be an operator (plus, minus, times, divide, power, max and "
         "min), not <sin>"),
        "conf/c.xml:6: B: character 4 of the formula: missing operand after '+'; expected a number, the name of a "
        "metric or '('",
        "conf/c.xml:8: sort must be yes or no, not 'maybe'",
        "conf/c.xml:9: <run> cannot contain text",
        "conf/c.xml:5: no run 'nope' for the metric 'E'",
    };
    struct config *c = NULL;
    struct err err = {.others = warnings_create()};
    CHECK(config_read_bytes(text, strlen(text), "conf/c.xml", &c, NULL, &err) < 0 && !c);
    if (CHECK_INT(warnings_count(err.others), ARRAY_SIZE(want) - 1))
        for (size_t i = 0; i + 1 < ARRAY_SIZE(want); i++)
            CHECK_STR(warnings_get(err.others, i), want[i]);
    CHECK_STR(err.msg, want[ARRAY_SIZE(want) - 1]);
    warnings_free(err.others);
}

static const struct {
    const char *math, *want;
} formulas[] = {
    {"<ci>A</ci>", "A"},
    {"<ci> perf::TASK-CLOCK </ci>", "\"perf::TASK-CLOCK\""},
    {"<apply><minus/><ci>A</ci></apply>", "-A"},
    {"<apply><minus/><apply><plus/><ci>A</ci><ci>B</ci></apply></apply>", "-(A + B)"},
    {"<apply><plus/><ci>A</ci></apply>", "A"},
    {"<apply><plus/><ci>A</ci><ci>B</ci><ci>C</ci></apply>", "A + B + C"},
    {"<apply><minus/><ci>A</ci><apply><minus/><ci>B</ci><ci>C</ci></apply></apply>", "A - (B - C)"},
    {"<apply><minus/><apply><minus/><ci>A</ci><ci>B</ci></apply><ci>C</ci></apply>", "A - B - C"},
    {"<apply><times/><apply><plus/><ci>A</ci><ci>B</ci></apply><cn>2</cn></apply>", "(A + B) * 2"},
    {"<apply><divide/><ci>A</ci><apply><times/><ci>B</ci><cn> 3 </cn></apply></apply>", "A / (B * 3)"},
    {"<apply><power/><apply><power/><ci>A</ci><cn>2</cn></apply><cn>-1</cn></apply>", "(A ^ 2) ^ (-1)"},
    {"<apply><max/><ci>A</ci><apply><plus/><ci>B</ci><cn>1e3</cn></apply></apply>", "max(A, B + 1e3)"},
    {"<apply><plus/><cn>1</cn><apply><min/><ci>A</ci></apply></apply>", "1 + min(A)"},
};

static void test_mathml(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(formulas); i++) {
        struct config *c = NULL;
        struct err err = {0};
        char *text = mem_printf("<hpcview version='1'><computed name='M'><math>%s</math></computed></hpcview>",
                                formulas[i].math);
        config_read_bytes(text, strlen(text), "c.xml", &c, NULL, &err);
        CHECK_STR(c ? c->metrics.items[0].formula : err.msg, formulas[i].want);
        config_free(c);
        mem_free(text);
    }
}

static void test_replace(void)
{
    static const struct {
        const char *path, *want;
    } cases[] = {
        {"/old/a/b.c", "/new/a/b.c"}, {"/old", "/old"},   {"/old/", "/old/"},   {"/older/x", "/older/x"},
        {"/first/x", "second/x"},     {"rel/x", "rel/x"}, {"/two/x", "/one/x"},
    };
    struct config *c = config_create();
    config_add_replace(c, "/old", "/new");
    config_add_replace(c, "/first/", "second");
    config_add_replace(c, "/two", "/one"); /* the first match wins, and is not replaced again */
    config_add_replace(c, "/one", "/three");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *got = config_replaced(c, cases[i].path);
        CHECK_STR(got, cases[i].want);
        mem_free(got);
    }
    config_free(c);
    c = config_create();
    config_add_replace(c, "", "/root");
    char *got = config_replaced(c, "x/y");
    CHECK_STR(got, "/root/x/y");
    mem_free(got);
    config_free(c);
}

static void test_depth(void)
{
    struct buf b = {0};
    struct config *c = NULL;
    struct err err = {0};
    buf_str(&b, "<hpcview version='1'><computed name='M'><math>");
    for (int i = 0; i < 3000; i++)
        buf_str(&b, "<apply><minus/><cn>1</cn>");
    buf_str(&b, "<cn>1</cn>");
    for (int i = 0; i < 3000; i++)
        buf_str(&b, "</apply>");
    buf_str(&b, "</math></computed></hpcview>");
    CHECK(config_read_bytes(b.bytes, b.len, "c.xml", &c, NULL, &err) < 0);
    CHECK_INT(err.kind, ERR_LIMIT);
    config_free(c);
    buf_release(&b);
}

/* Files with mistakes: errors and missing measurements are reported together. Planned measurements may be missing. */
static void test_files(void)
{
    static const struct {
        const char *name, *text;
        int read;
        bool sound;
        int check;
        const char *said[4];
    } cases[] = {
        {"sound", IN("<run measurements='gone.m'/>"), 0, true, 0, {NULL}},
        {"a mistake", IN("<run measurements='here.m' nmae='a'/>"), 0, false, -1, {"no attribute 'nmae'"}},
        {"a mistake, and none of its measurements",
         IN("<soruces/>\n<run measurements='gone.m'/>\n<run name='b' measurements='lost.m'/>\n<run name='c' "
            "measurements='planned.m' command='./x'/>\n<title>t</title>"),
         0,
         false,
         -1,
         {"unknown element <soruces>", "gone.m", "lost.m"}},
        {"a mistake, and not well-formed",
         "<hpcview version='1'><soruces/><run measurements='gone.m'/><title>",
         -1,
         false,
         0,
         {"unknown element <soruces>", "not well-formed", "gone.m"}},
    };
    char folder[] = "/tmp/config_test.XXXXXX";
    if (!mkdtemp(folder))
        exit(99);
    char *path = path_join(folder, "c.xml"), *here = path_join(folder, "here.m");
    FILE *out = fopen(here, "w");
    CHECK(out && fclose(out) == 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct config *c = NULL;
        struct err err = {.others = warnings_create()};
        size_t wanted = 0, said = 0;
        out = fopen(path, "w");
        CHECK(out && fputs(cases[i].text, out) >= 0 && fclose(out) == 0);
        int status = config_read(path, &c, NULL, &err);
        CHECK_INT(status, cases[i].read);
        CHECK_INT(c && config_is_sound(c), cases[i].sound);
        if (c)
            CHECK_INT(status = config_check(c, &err), cases[i].check);
        for (; wanted < ARRAY_SIZE(cases[i].said) && cases[i].said[wanted]; wanted++) {
            bool found = strstr(err.msg, cases[i].said[wanted]);
            for (size_t k = 0; k < warnings_count(err.others); k++)
                found = found || strstr(warnings_get(err.others, k), cases[i].said[wanted]);
            said += found;
        }
        CHECK_NAMED(said == wanted && warnings_count(err.others) + (status < 0) == wanted, cases[i].name);
        warnings_free(err.others);
        config_free(c);
    }
    struct config *c = NULL;
    struct err err = {0};
    CHECK_INT(truncate(path, LIMIT_CONFIG_BYTES + 1), 0);
    CHECK(config_read(path, &c, NULL, &err) == -1 && err.kind == ERR_LIMIT);
    CHECK(config_read(folder, &c, NULL, &err) == -1 && !c);
    dir_remove_tree(folder, NULL);
    mem_free(here);
    mem_free(path);
}

/* Mistakes in the command line are reported as such; correct input prints nothing. */
static void test_typed(void)
{
    static const struct {
        int (*add)(struct config *, const char *, struct err *);
        const char *right, *wrong;
    } cases[] = {{config_add_gate, "A > 1", "A >"}, {config_add_metric, "B = A + 1", "B = A +"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct config *c = config_create();
        struct err err = {.kind = ERR_LIMIT};
        CHECK_INT(cases[i].add(c, cases[i].right, &err), 0);
        CHECK_INT(err.kind, ERR_LIMIT);
        CHECK_INT(cases[i].add(c, cases[i].wrong, &err), -1);
        CHECK_INT(err.kind, ERR_USAGE);
        CHECK_INT(cases[i].add(c, cases[i].wrong, NULL), -1);
        config_free(c);
    }
}

/* The limits, and one more. */
static void test_limits(void)
{
    static const struct {
        const char *begin, *end, *last;
        size_t most;
        const char *want;
    } limits[] = {
        {"<run measurements='", "'/>", "<run measurements='x'/>", LIMIT_RUNS,
         "c.xml:2: more than 4096 runs (LIMIT_RUNS); put the files of one run in one folder"},
        {"<measured event='e", "'/>", "<measured event='x'/>", LIMIT_METRICS,
         "c.xml:2: more than 4096 metrics (LIMIT_METRICS)"},
        {"<measured event='e", "'/>", "<metrics block='cpi'/>", LIMIT_METRICS,
         "c.xml:2: more than 4096 metrics (LIMIT_METRICS)"},
        {"<function name='f", "' parameters='x' formula='x'/>", "<function name='g' parameters='x' formula='x'/>",
         LIMIT_EXPR_FUNCTIONS, "c.xml:2: function g: more than 1000 functions"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
        for (int more = 0; more < 2; more++) {
            struct buf b = {0};
            struct config *c = NULL;
            struct err err = {0};
            buf_str(&b, "<hpcview version='1'>");
            for (unsigned k = 0; k < limits[i].most; k++)
                buf_printf(&b, "%s%u%s", limits[i].begin, k, limits[i].end);
            buf_printf(&b, "\n%s</hpcview>", more ? limits[i].last : "");
            CHECK_INT(config_read_bytes(b.bytes, b.len, "c.xml", &c, NULL, &err), more ? -1 : 0);
            if (more)
                CHECK_STR(err.msg, limits[i].want);
            config_free(c);
            buf_release(&b);
        }
}

/*
 * Results of configurations, and of configurations with a mistake: tests/print/configurations.cases. A case has
 *
 *     configuration
 *     read           the configuration as read, and the messages
 *     without        with each attribute and each element removed
 *     as WORD        with the value of each attribute replaced by the word
 *     called         with each attribute and each element renamed
 *     twice          with each element without children duplicated
 */
static void forget_configuration(void *ctx, const char *name)
{
    char **text = ctx;
    (void)name;
    mem_free(*text);
    *text = NULL;
}

static void take_configuration(void *ctx, const char *which, const char *given)
{
    char **text = ctx;
    (void)which;
    *text = mem_strndup(given, strlen(given) - 1);
}

/* Without the words of the library that reads XML. */
static void say_line(struct buf *b, const char *line)
{
    const char *words = strstr(line, "not well-formed XML");
    buf_printf(b, "%.*s\n", words ? (int)(words - line) + (int)strlen("not well-formed XML") : (int)strlen(line), line);
}

/* The configuration as read from the bytes, or the error, and the warnings. Free with mem_free. */
static char *read_of(const char *text)
{
    struct buf b = {0};
    struct config *c = NULL;
    struct warnings *warnings = warnings_create();
    struct err err = {.others = warnings};
    if (config_read_bytes(text, strlen(text), "conf/c.xml", &c, warnings, &err) < 0)
        say_line(&b, err.msg);
    else {
        char *drawing = drawn(c);
        buf_str(&b, drawing);
        mem_free(drawing);
    }
    for (size_t i = 0; i < warnings_count(warnings); i++) {
        buf_str(&b, "and ");
        say_line(&b, warnings_get(warnings, i));
    }
    config_free(c);
    warnings_free(warnings);
    return b.bytes;
}

/* With the bytes between from and to replaced: the error, or the differences. */
static void say_with(const char *text, const char *from, const char *to, const char *new, struct buf *out)
{
    char *changed = mem_printf("%.*s%s%s", (int)(from - text), text, new, to), *whole = read_of(text),
         *read = read_of(changed);
    buf_printf(out, "%.*s%s%s: ", (int)(to - from < 40 ? to - from : 40), from, *new ? " -> " : "", new);
    if (str_starts(read, "conf/c.xml:"))
        buf_str(out, read + strlen("conf/c.xml:"));
    else {
        cases_difference(out, whole, read);
        buf_char(out, '\n');
    }
    mem_free(changed);
    mem_free(whole);
    mem_free(read);
}

static void say_attributes(const char *text, const char *tag, const char *what, struct buf *out)
{
    for (const char *at = tag + strcspn(tag, " >/"); *at == ' ';) {
        const char *equals = strchr(at, '='), *next = strchr(equals + 2, '\'') + 1;
        if (strcmp(what, "without") == 0)
            say_with(text, at, next, "", out);
        else if (strcmp(what, "called") == 0)
            say_with(text, at + 1, equals, "zzz", out);
        else if (str_starts(what, "as "))
            say_with(text, equals + 2, next - 1, what + strlen("as "), out);
        at = next;
    }
}

static void say_configuration(void *ctx, const char *what, struct buf *out)
{
    const char *text = *(char **)ctx;
    if (strcmp(what, "read") == 0) {
        char *read = read_of(text);
        buf_str(out, read);
        mem_free(read);
        return;
    }
    for (const char *tag = text; (tag = strchr(tag, '<')); tag++) {
        const char *end = strchr(tag, '>') + 1;
        size_t name = strcspn(tag + 1, " >/");
        char *twice = mem_printf("%.*s%.*s", (int)(end - tag), tag, (int)(end - tag), tag);
        if (tag[1] != '/')
            say_attributes(text, tag, what, out);
        if (tag[1] != '/' && strcmp(what, "called") == 0)
            say_with(text, tag + 1, tag + 1 + name, "zzz", out);
        if (end[-2] == '/' && strcmp(what, "without") == 0)
            say_with(text, tag, end, "", out);
        if (end[-2] == '/' && strcmp(what, "twice") == 0)
            say_with(text, tag, end, twice, out);
        mem_free(twice);
    }
}

int main(void)
{
    static const char *const inputs[] = {"configuration", NULL};
    char *text = NULL;
    struct cases cases = {inputs, forget_configuration, NULL, take_configuration, say_configuration, &text, NULL, {0}};
    RUN(test_files);
    RUN(test_good);
    RUN(test_bad);
    RUN(test_elements);
    RUN(test_all_at_once);
    RUN(test_mathml);
    RUN(test_replace);
    RUN(test_depth);
    RUN(test_limits);
    RUN(test_typed);
    cases_run(&cases, "tests/print/configurations.cases");
    return tap_done();
}
