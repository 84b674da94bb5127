/* SPDX-License-Identifier: BSD-3-Clause */
/* Correlation on drawings (test_drawing.h), and the expected tree with its sums as text. */
#include "tests/fixtures/experiment_outline.h"

#include <sys/stat.h>

/* ---- cases ------------------------------------------------------------------------------------------ */

static const char heat[] = "F /home/me/heat/src/heat.f90\n"
                           " P solve 40-71 1000-1100\n"
                           "  S 41 1000-1010\n"
                           "  L 52-60 1010\n"
                           "   S 53 1010-1020\n"
                           "   I dot /home/me/heat/src/vec.h:10 54\n"
                           "    L /home/me/heat/src/vec.h:12-14 1020 1 2\n"
                           "     S /home/me/heat/src/vec.h:13 1020-1030 1050-1060\n"
                           "    L /home/me/heat/src/vec.h:12-14 1030 2 2\n"
                           "     S /home/me/heat/src/vec.h:13 1030-1040\n"
                           "  S 41 1060-1070\n"
                           "F /home/me/heat/main.c\n"
                           " P main 3-9 2000-2100\n"
                           "  S 5 2000-2010\n"
                           "F\n"
                           " P _start 0 3000-3100\n";

static const char two[] = "F /s/a.c\n"
                          " P init 3-9 1000-1100\n"
                          "  S 5 1000-1010\n"
                          "F /s/b.c\n"
                          " P init 3-9 2000-2100\n"
                          "  S 5 2000-2010\n"
                          "  L 7-8 2020\n"
                          "   S 8 2020-2030\n";

static const char clones[] = "F /s/a.c\n"
                             " P sum.constprop.0<sum 3-9 1000-1100\n"
                             "  S 4 1000-1010\n"
                             "  L 5-6 1010\n"
                             " P whole.part.0<whole 13-19 2000-2100\n"
                             " P whole 13-19 3000-3100\n"
                             "F /s/b.c\n"
                             " P whole.part.0<whole 5-9 4000-4100\n";

static const struct drawn_module modules[] = {
    {"/opt/app", heat},
    {"/opt/two", two},
    {"/opt/clones", clones},
    {"/usr/lib/libfoo.so", "F\n P foo 0 100-200\n"},
    {"/gone.so", "!"},
    {"[anonymous]", NULL},
    {NULL, NULL},
};

static const struct {
    const char *name, *samples, *want;
    const char *warnings[4];
} cases[] = {
    {"one loop in two instances, an inlined call, lines copied",
     "/opt/app 0x1000 C 1\n"
     "/opt/app 0x1065 C 2\n"
     "/opt/app 0x1012 C 3\n"
     "/opt/app 0x1020 C 4\n"
     "/opt/app 0x1055 C 5\n"
     "/opt/app 0x1031 C 6\n",
     "program app = 210 .\n"
     " module app = 210 .\n"
     "  file heat.f90 = 210 .\n"
     "   proc solve heat.f90:40 = 210 30\n"
     "    loop heat.f90:52 = 180 30\n"
     "     inline dot vec.h:10 from heat.f90:54 = 150 .\n"
     "      loop vec.h:12 1/2 = 90 90\n"
     "       line vec.h:13 = 90 90\n"
     "      loop vec.h:12 2/2 = 60 60\n"
     "       line vec.h:13 = 60 60\n"
     "     line heat.f90:53 = 30 30\n"
     "    line heat.f90:41 = 30 30\n",
     {NULL}},
    {"what has no line, no symbol, no binary",
     "/opt/app 0x2000 C 94\n"
     "/opt/app 0x2010 C 1\n" /* in main, on no statement */
     "/opt/app 0x3000 C 1\n"
     "/opt/app 0x9000 C 1\n"
     "/usr/lib/libfoo.so 0x110 C 2\n"
     "/gone.so 0x110 C 3\n"
     "[anonymous] 0x7 C 1\n",
     "program app = 1030 .\n"
     " module [anonymous] = 10 .\n"
     "  file (no source) = 10 .\n"
     "   proc (no symbol) = 10 10\n"
     "    line = 10 10\n"
     " module app = 970 .\n"
     "  file (no source) = 20 .\n"
     "   proc (no symbol) = 10 10\n"
     "    line = 10 10\n"
     "   proc _start = 10 10\n"
     "    line = 10 10\n"
     "  file main.c = 950 .\n"
     "   proc main main.c:3 = 950 950\n"
     "    line = 10 10\n"
     "    line main.c:5 = 940 940\n"
     " module gone.so = 30 .\n"
     "  file (no source) = 30 .\n"
     "   proc (no symbols) = 30 30\n"
     "    line = 30 30\n"
     " module libfoo.so = 20 .\n"
     "  file (no source) = 20 .\n"
     "   proc foo = 20 20\n"
     "    line = 20 20\n",
     {"app: 1.9% of C at instructions without a line, shown by function only",
      "app: 1.0% of C outside any known function", "gone.so: cannot be opened: 2.9% of C shown by module only",
      "no debug information in libfoo.so: 1.9% of C shown by function only"}},
    {"two events, blanks where one has nothing",
     "/opt/app 0x1000 C 1\n"
     "/opt/app 0x2000 D 2\n"
     "/opt/app 0x1000 D 4\n",
     "program app = 10 . 60 .\n"
     " module app = 10 . 60 .\n"
     "  file main.c = . . 20 .\n"
     "   proc main main.c:3 = . . 20 20\n"
     "    line main.c:5 = . . 20 20\n"
     "  file src/heat.f90 = 10 . 40 .\n"
     "   proc solve src/heat.f90:40 = 10 10 40 40\n"
     "    line src/heat.f90:41 = 10 10 40 40\n",
     {NULL}},
    {"lines alone, within and without a structure",
     "/opt/app 0x2000 C 1\n"
     "/opt/app solve heat.f90 53 C 2\n"
     "/opt/app solve heat.f90 41 C 3\n"
     "/opt/app other heat.f90 90 C 4\n"
     "/opt/app - - 0 C 5\n"
     "x.so f x.c 7 C 6\n",
     "program app = 210 .\n"
     " module app = 150 .\n"
     "  file (no source) = 50 .\n"
     "   proc (no symbol) = 50 50\n"
     "    line = 50 50\n"
     "  file heat.f90 = 40 .\n"
     "   proc other heat.f90:90 = 40 40\n"
     "    line heat.f90:90 = 40 40\n"
     "  file main.c = 10 .\n"
     "   proc main main.c:3 = 10 10\n"
     "    line main.c:5 = 10 10\n"
     "  file src/heat.f90 = 50 .\n"
     "   proc solve src/heat.f90:40 = 50 30\n"
     "    loop src/heat.f90:52 = 20 20\n"
     "     line src/heat.f90:53 = 20 20\n"
     "    line src/heat.f90:41 = 30 30\n"
     " module x.so = 60 .\n"
     "  file x.c = 60 .\n"
     "   proc f x.c:7 = 60 60\n"
     "    line x.c:7 = 60 60\n",
     {NULL}},
    {"a line of a header in a procedure is in no loop with those numbers",
     "/opt/app 0x1000 C 1\n"
     "/opt/app solve /x/util.h 55 C 2\n"
     "/opt/app solve src/heat.f90 55 C 3\n",
     "program app = 60 .\n"
     " module app = 60 .\n"
     "  file src/heat.f90 = 60 .\n"
     "   proc solve src/heat.f90:40 = 60 30\n"
     "    loop src/heat.f90:52 = 30 30\n"
     "     line src/heat.f90:55 = 30 30\n"
     "    line src/heat.f90:41 = 10 10\n"
     "    line x/util.h:55 = 20 20\n",
     {NULL}},
    {"of two procedures with one name, the one in the file",
     "/opt/two 0x1000 C 1\n"
     "/opt/two init b.c 6 C 2\n",
     "program app = 30 .\n"
     " module two = 30 .\n"
     "  file a.c = 10 .\n"
     "   proc init a.c:3 = 10 10\n"
     "    line a.c:5 = 10 10\n"
     "  file b.c = 20 .\n"
     "   proc init b.c:3 = 20 20\n"
     "    line b.c:6 = 20 20\n",
     {NULL}},
    {"a line of a header, in the procedure of the file that is named",
     "/opt/two 0x2000 C 1\n"
     "/opt/two init@b.c /x/util.h 8 C 2\n"
     "/opt/two init@b.c b.c 8 C 3\n",
     "program app = 60 .\n"
     " module two = 60 .\n"
     "  file s/b.c = 60 .\n"
     "   proc init s/b.c:3 = 60 30\n"
     "    loop s/b.c:7 = 30 30\n"
     "     line s/b.c:8 = 30 30\n"
     "    line s/b.c:5 = 10 10\n"
     "    line x/util.h:8 = 20 20\n",
     {NULL}},
    {"without structure too",
     "/lib/x.so f x.c 7 C 2\n"
     "/lib/x.so f@x.c util.h 3 C 4\n",
     "program app = 60 .\n"
     " module x.so = 60 .\n"
     "  file x.c = 60 .\n"
     "   proc f x.c:7 = 60 60\n"
     "    line util.h:3 = 40 40\n"
     "    line x.c:7 = 20 20\n",
     {NULL}},
    {"what a procedure is called in the source, beside a clone of it",
     "/opt/clones 0x1000 C 1\n"
     "/opt/clones sum a.c 5 C 2\n"
     "/opt/clones whole a.c 15 C 3\n"
     "/opt/clones whole b.c 7 C 4\n",
     "program app = 100 .\n"
     " module clones = 100 .\n"
     "  file a.c = 60 .\n"
     "   proc sum [clone .constprop.0] a.c:3 = 30 10\n"
     "    loop a.c:5 = 20 20\n"
     "     line a.c:5 = 20 20\n"
     "    line a.c:4 = 10 10\n"
     "   proc whole a.c:13 = 30 30\n"
     "    line a.c:15 = 30 30\n"
     "  file b.c = 40 .\n"
     "   proc whole [clone .part.0] b.c:5 = 40 40\n"
     "    line b.c:7 = 40 40\n",
     {NULL}},
    {"what knows no build id is in the module that has one",
     "/opt/clones sum a.c 5 C 2\n"
     "/opt/clones#ab 0x1000 C 1\n",
     "program app = 30 .\n"
     " module clones = 30 .\n"
     "  file a.c = 30 .\n"
     "   proc sum [clone .constprop.0] a.c:3 = 30 10\n"
     "    loop a.c:5 = 20 20\n"
     "     line a.c:5 = 20 20\n"
     "    line a.c:4 = 10 10\n",
     {NULL}},
    {"nothing at all", "", "program app =\n", {NULL}},
};

/* One node of the tree of calls a line, with the values of the last metric. */
static char *drawn_calls(const struct experiment *e)
{
    static const char *const kinds[] = {"program", "module", "file", "proc", "inline", "loop", "line"};
    struct buf b = {0};
    size_t tree = experiment_calls(e);
    buf_str(&b, "");
    for (uint32_t i = 0; tree != SIZE_MAX && i < e->trees[tree].node_count; i++) {
        const struct place *p = &e->places[experiment_node_place(e, tree, i)];
        for (uint32_t up = experiment_node_parent(e, tree, i); up != NODE_NONE;
             up = experiment_node_parent(e, tree, up))
            buf_char(&b, ' ');
        buf_printf(&b, "%s %s", kinds[p->kind], strtab_get(e->strings, p->name));
        if (p->line_first)
            buf_printf(&b, "%u", p->line_first);
        draw_value(&b, experiment_node_value(e, tree, e->metric_count - 1, i, VALUE_INCLUSIVE));
        draw_value(&b, experiment_node_value(e, tree, e->metric_count - 1, i, VALUE_EXCLUSIVE));
        buf_char(&b, '\n');
    }
    return b.bytes;
}

/* Each frame is in its loops and inlined calls, its callees below the line of the call. The first run has no call paths
   and is not in the tree. */
static void test_calls(void)
{
    static const char *const samples[] = {"/opt/app 0x1000 C 9\n",
                                          "/opt/app 0x2004>0x1000 C 1\n"
                                          "/opt/app 0x2004>0x1012 C 2\n"
                                          "/opt/app 0x2004>0x1031>0x1012 C 4\n"
                                          "/opt/app 0x2004>0x1031>0x1031>0x1012 C 8\n"
                                          "/opt/app 0x2000 C 16\n",
                                          NULL};
    static const char want[] = "program app 310 .\n"
                               " proc main3 310 160\n"
                               "  line 5 310 160\n"
                               "   proc solve40 150 10\n"
                               "    loop 52 140 20\n"
                               "     inline dot10 120 .\n"
                               "      loop 12 120 .\n"
                               "       line 13 120 .\n"
                               "        proc solve40 120 .\n"
                               "         loop 52 120 40\n"
                               "          inline dot10 80 .\n"
                               "           loop 12 80 .\n"
                               "            line 13 80 .\n"
                               "             proc solve40 80 .\n"
                               "              loop 52 80 80\n"
                               "               line 53 80 80\n"
                               "          line 53 40 40\n"
                               "     line 53 20 20\n"
                               "    line 41 10 10\n";
    struct config *config = config_create();
    struct err err = {0};
    config_add_run(config, "a", "a", "", NULL);
    config_add_run(config, "b", "b", "", NULL);
    struct made m = make(config, samples, modules);
    if (CHECK(m.status == 0)) {
        char *text = drawn_calls(m.e);
        if (!CHECK_NAMED(strcmp(text, want) == 0, "the tree of calls"))
            printf("# got:\n%s# wanted:\n%s", text, want);
        if (!CHECK_NAMED(experiment_check(m.e, &err) == 0, "experiment_check"))
            printf("# %s\n", err.msg);
        mem_free(text);
    }
    release(&m);
}

/* solve is called from its own inlined dot, two levels deep: counted once on each path, with the same sums. */
static void check_folded(bool at_once)
{
    static const char *const samples[] = {"/opt/app 0x2004>0x1012 C 2\n"
                                          "/opt/app 0x2004>0x1031>0x1012 C 4\n"
                                          "/opt/app 0x2004>0x1031>0x1031>0x1012 C 8\n"
                                          "/opt/app 0x2004>0x1031>0x2004>0x1031>0x1000 C 16\n",
                                          NULL};
    static const char want[] = "program app 300 .\n"
                               " proc main3 300 .\n"
                               "  line 5 300 .\n"
                               "   proc solve40 300 160\n"
                               "    loop 52 140 140\n"
                               "     line 53 140 140\n"
                               "    line 41 160 160\n";
    struct config *config = config_create();
    struct err err = {0};
    config_add_run(config, "a", "a", "", NULL);
    config_set_fold_recursion(config, at_once);
    struct made m = make(config, samples, modules);
    if (CHECK(m.status == 0)) {
        if (!at_once)
            experiment_fold_recursion(m.e);
        char *text = drawn_calls(m.e);
        if (!CHECK_NAMED(strcmp(text, want) == 0, "recursion folded"))
            printf("# got:\n%s# wanted:\n%s", text, want);
        if (!CHECK_NAMED(experiment_check(m.e, &err) == 0, "experiment_check"))
            printf("# %s\n", err.msg);
        mem_free(text);
        CHECK_INT(m.e->tree_count, 2);
    }
    release(&m);
}

/* Ordered by name, regardless of the order of calls. */
static void test_order_of_calls(void)
{
    static const char *const samples[] = {"/opt/app 0x1031>0x1012 C 2\n/opt/app 0x2004>0x1000 C 1\n", NULL};
    static const char want[] = "program app 30 .\n"
                               " proc main3 10 .\n"
                               "  line 5 10 .\n"
                               "   proc solve40 10 10\n"
                               "    line 41 10 10\n"
                               " proc solve40 20 .\n"
                               "  loop 52 20 .\n"
                               "   inline dot10 20 .\n"
                               "    loop 12 20 .\n"
                               "     line 13 20 .\n"
                               "      proc solve40 20 .\n"
                               "       loop 52 20 20\n"
                               "        line 53 20 20\n";
    struct config *config = config_create();
    config_add_run(config, "a", "a", "", NULL);
    struct made m = make(config, samples, modules);
    if (CHECK(m.status == 0)) {
        char *text = drawn_calls(m.e);
        CHECK_STR(text, want);
        mem_free(text);
    }
    release(&m);
}

static void test_fold_recursion(void)
{
    check_folded(false);
    check_folded(true);
}

static void test_places(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct config *config = config_create();
        struct err err = {0};
        const char *samples[] = {cases[i].samples, NULL};
        config_add_measurement(config, "r");
        struct made m = make(config, samples, modules);
        if (!CHECK_NAMED(m.status == 0, cases[i].name)) {
            printf("# %s\n", m.err.msg);
            release(&m);
            continue;
        }
        char *text = drawn(m.e);
        if (!CHECK_NAMED(strcmp(text, cases[i].want) == 0, "the tree and its sums"))
            printf("# got:\n%s# wanted:\n%s", text, cases[i].want);
        if (!CHECK_NAMED(experiment_check(m.e, &err) == 0, "experiment_check"))
            printf("# %s\n", err.msg);
        for (size_t w = 0; w < ARRAY_SIZE(cases[i].warnings) && cases[i].warnings[w]; w++)
            CHECK_STR(w < warnings_count(m.warnings) ? warnings_get(m.warnings, w) : "", cases[i].warnings[w]);
        mem_free(text);
        release(&m);
    }
}

static const struct {
    const char *name, *config;
    const char *samples[3];
    const char *metrics, *root;
} metric_cases[] = {
    {"every event of one run", "", {"/opt/app 0x1000 C 1\n/opt/app 0x1000 D 2\n"}, "C % sorts\nD %\n", " = 10 . 20 ."},
    {"every event of two runs, side by side",
     "",
     {"/opt/app 0x1000 C 1\n/opt/app 0x1000 D 2\n", "/opt/app 0x1000 D 3\n/opt/app 0x1000 C 4\n"},
     "a.C % sorts\nb.C %\na.D %\nb.D %\n",
     " = 10 . 40 . 20 . 30 ."},
    {"a formula",
     "<computed name='S' formula='C - D'/><computed name='R' formula='S / (D * 2)'/>",
     {"/opt/app 0x1000 C 5\n/opt/app 0x1000 D 2\n"},
     "C % sorts\nD %\nS = C - D %\nR = S / (D * 2)\n",
     " = 50 . 20 . 30 . 0.75 ."},
    {"a formula once for every run",
     "<computed name='S' formula='C - 1e0 * min(D, \"C\")'/>",
     {"/opt/app 0x1000 C 5\n/opt/app 0x1000 D 2\n", "/opt/app 0x1000 C 7\n/opt/app 0x1000 D 3\n"},
     "a.C % sorts\nb.C %\na.D %\nb.D %\na.S = a.C - 1 * min(a.D, a.C)\nb.S = b.C - 1 * min(b.D, b.C)\n",
     " = 50 . 70 . 20 . 30 . 30 . 40 ."},
    {"a formula over runs",
     "<computed name='G' formula='a.C / b.C' percent='yes'/>",
     {"/opt/app 0x1000 C 5\n", "/opt/app 0x1000 C 10\n"},
     "a.C % sorts\nb.C %\nG = a.C / b.C %\n",
     " = 50 . 100 . 0.5 ."},
    {"chosen columns; an operand that is none is hidden",
     "<measured name='x' event='D' percent='no'/><computed name='S' formula='C - x' sort='yes'/>",
     {"/opt/app 0x1000 C 5\n/opt/app 0x1000 D 2\n"},
     "x\nC % hidden\nS = C - x % sorts\n",
     " = 20 . 50 . 30 ."},
    {"one run's column",
     "<measured name='x' event='C' run='b'/><measured event='C'/>",
     {"/opt/app 0x1000 C 5\n", "/opt/app 0x1000 C 7\n"},
     "x % sorts\na.C %\nb.C %\n",
     " = 70 . 50 . 70 ."},
    {"summed from the lines",
     "<computed name='Q' formula='C * C' evaluate='lines'/>",
     {"/opt/app 0x1000 C 1\n/opt/app 0x2000 C 2\n"},
     "C % sorts\nQ = C * C\n",
     " = 30 . 500 ."},
    {"no run has both operands",
     "<computed name='S' formula='C - E'/>",
     {"/opt/app 0x1000 C 1\n", "/opt/app 0x1000 E 1\n"},
     NULL,
     NULL},
    {"events as people say them",
     "<measured event='FAULTS'/><computed name='S' formula='\"TASK-CLOCK\" - FAULTS'/>",
     {"/opt/app 0x1000 perf::TASK-CLOCK 5\n/opt/app 0x1000 perf::FAULTS 2\n"},
     "FAULTS % sorts\nperf::TASK-CLOCK % hidden\nS = \"perf::TASK-CLOCK\" - FAULTS %\n",
     " = 20 . 50 . 30 ."},
    {"but not where two are called so",
     "<computed name='S' formula='X + 1'/>",
     {"/opt/app 0x1000 one::X 5\n/opt/app 0x1000 two::X 2\n"},
     NULL,
     NULL},
    {"an operand listed after the formula",
     "<computed name='S' formula='C - D'/><measured event='C' sort='yes'/>",
     {"/opt/app 0x1000 C 5\n/opt/app 0x2000 D 1\n"},
     "C % sorts\nD % hidden\nS = C - D %\n",
     " = 50 . 10 . 40 ."},
};

static void test_metrics(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(metric_cases); i++) {
        struct config *c = config_from(metric_cases[i].config, metric_cases[i].samples[1] ? 2 : 1);
        struct made m = make(c, metric_cases[i].samples, modules);
        CHECK_NAMED((m.status == 0) == (metric_cases[i].metrics != NULL), metric_cases[i].name);
        if (m.status == 0) {
            char *metrics = drawn_metrics(m.e), *root = root_values(m.e);
            CHECK_NAMED(strcmp(metrics, metric_cases[i].metrics) == 0, "metrics");
            if (strcmp(metrics, metric_cases[i].metrics) != 0)
                printf("# got:\n%s", metrics);
            CHECK_STR(root, metric_cases[i].root);
            CHECK(experiment_check(m.e, &m.err) == 0);
            mem_free(metrics);
            mem_free(root);
        }
        release(&m);
    }
}

static const struct {
    const char *config, *want;
} metric_errors[] = {
    {"<computed name='S' formula='CC - D'/>", "c.xml:1: S: no metric 'CC' before this one; did you mean C?"},
    {"<computed name='S' formula='mean(CC over threads)'/>",
     "c.xml:1: S: no metric 'mean(CC over threads)' before this one; the first one is C"},
    {"<computed name='S' formula='perf::TASK - D'/>",
     "c.xml:1: S: no metric 'perf::TASK' before this one; did you mean \"perf::TASK-CLOCK\", with the quotes?"},
    {"<computed name='S' formula='C'/><computed name='C' formula='1'/>", "c.xml:1: the metric 'C' already exists"},
    {"<computed name='S' formula='TASK-CLOCK'/>",
     "c.xml:1: S: no metric 'TASK' before this one; did you mean \"TASK-CLOCK\", with the quotes?"},
    {"<measured event='X1234567'/>", "c.xml:1: no event 'X1234567' was measured; available: C, D, perf::TASK-CLOCK"},
    {"<measured event='perf::TASK-CLACK'/>",
     "c.xml:1: no event 'perf::TASK-CLACK' was measured; did you mean 'perf::TASK-CLOCK'?"},
    {"<computed name='S' formula='run(n).C'/>", "c.xml:1: S: no run 'n'; did you mean 'a'?"},
    {"<computed name='S' formula='total(CC)'/>", "c.xml:1: S: no metric 'CC' before this one; did you mean C?"},
    {"<computed name='A' formula='B'/><computed name='B' formula='A'/>",
     "c.xml:1: A: 'B' is defined below it (c.xml:1); a formula can only use metrics above it"},
};

/* Formulas that look elsewhere than at their own place: values at the first LINE, inclusive; and its procedure,
 * exclusive. */
static void test_around(void)
{
    static const struct {
        const char *formula;
        double line, proc;
    } formulas[] = {
        {"C", 150, 150},
        {"total(C)", 200, 200},
        {"share(C)", 0.75, 0.75},
        {"parent(C)", 150, 150}, /* each of the two procedures is in a file of its own */
        {"C / total(C) + parent(C)", 150.75, 150.75},
        {"exclusive(C) + 0", 150, 150},
        {"total(exclusive(C))", NAN, NAN}, /* no line is a direct child of the program */
        {"inclusive(C)", 150, 150},
        {"run(a).C - run(b).C", -100, -100},
        {"run(b).C &gt; run(a).C", 1, 1},
        {"run(a).D", 10, 10},
        {"twice(C)", 300, 300},
        {"run(a).C + 0 * total(run(b).C)", 150, 150},
    };
    for (size_t i = 0; i < ARRAY_SIZE(formulas); i++) {
        const char *samples[] = {"/opt/app 0x1000 C 5\n/opt/app 0x2000 C 15\n/opt/app 0x2000 D 1\n",
                                 "/opt/app 0x1000 C 10\n/opt/app 0x2000 C 25\n", NULL};
        char *body =
            mem_printf("<function name='twice' parameters='x' formula='x + x'/><computed name='S' formula='%s'/>",
                       formulas[i].formula);
        struct made m = make(config_from(body, 2), samples, modules);
        if (CHECK_NAMED(m.status == 0, formulas[i].formula)) {
            size_t metric = 0;
            place_ix line = 0;
            while (strstr(strtab_get(m.e->strings, m.e->metrics[metric].name), "S") == NULL)
                metric++;
            while (m.e->places[line].kind != PLACE_LINE)
                line++;
            double at_line = experiment_value(m.e, metric, line, VALUE_INCLUSIVE),
                   at_proc = experiment_value(m.e, metric, m.e->places[line].parent, VALUE_EXCLUSIVE);
            CHECK_NAMED(isnan(formulas[i].line) ? isnan(at_line) : at_line == formulas[i].line, "at the line");
            if (!CHECK_NAMED(isnan(formulas[i].proc) ? isnan(at_proc) : at_proc == formulas[i].proc,
                             "in the procedure"))
                printf("# %s: %g %g\n", formulas[i].formula, at_line, at_proc);
        } else
            printf("# %s\n", m.err.msg);
        mem_free(body);
        release(&m);
    }
}

static void test_metric_errors(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(metric_errors); i++) {
        const char *samples[] = {"/opt/app 0x1000 C 1\n/opt/app 0x1000 D 2\n/opt/app 0x1000 perf::TASK-CLOCK 2\n",
                                 NULL};
        struct made m = make(config_from(metric_errors[i].config, 1), samples, modules);
        CHECK_INT(m.status, -1);
        CHECK_STR(m.err.msg, metric_errors[i].want);
        release(&m);
    }
}

static void test_threads(void)
{
    struct config *c = config_create();
    const char *samples[] = {"/opt/app 0x1000 C 1\nthread\n/opt/app 0x1000 C 2\nprocess 3\n/opt/app 0x2000 C 4\n",
                             NULL};
    config_add_measurement(c, "r");
    config_set_per_thread(c, true);
    struct made m = make(c, samples, modules);
    if (CHECK_INT(m.status, 0)) {
        char *metrics = drawn_metrics(m.e), *root = root_values(m.e);
        CHECK_NAMED(strcmp(metrics, "C % sorts\nC[p0.0] %\nC[p0.1] %\nC[3.0] %\n") == 0, "a column for every thread");
        CHECK_STR(root, " = 70 . 10 . 20 . 40 .");
        mem_free(metrics);
        mem_free(root);
    }
    release(&m);
}

/* Three threads of one process and one of another: 10, 20 and 0 in a loop, 40 elsewhere. */
static void test_statistics(void)
{
    static const struct {
        const char *name;
        double program, loop, line; /* at the whole program, at the loop, at a line of another procedure */
    } wanted[] = {
        {"mean(C over threads)", 17.5, 7.5, 10},
        {"min(C over threads)", 0, 0, 0},
        {"max(C over threads)", 40, 20, 40},
        {"stddev(C over threads)", 14.790199457749, 8.2915619758885, 17.320508075689},
        {"imbalance(C over threads)", 40 / 17.5 - 1, 20 / 7.5 - 1, 3},
        {"count(C over threads)", 3, 2, 1},
        {"mean(C over ranks)", 35, 15, 20},
        {"min(C over ranks)", 30, 0, 0},
        {"max(C over ranks)", 40, 30, 40},
        {"stddev(C over ranks)", 5, 15, 20},
        {"imbalance(C over ranks)", 40 / 35.0 - 1, 1, 1},
        {"count(C over ranks)", 2, 1, 1},
    };
    const char *samples[] = {
        "/opt/app 0x1012 C 1\nthread\n/opt/app 0x1020 C 2\nthread\nprocess -1\n/opt/app 0x2000 C 4\n", NULL};
    struct config *c = config_create();
    struct err err = {0};
    config_add_measurement(c, "r");
    CHECK_INT(config_add_statistics(c, "threads", &err), 0);
    CHECK_INT(config_add_statistics(c, "ranks", &err), 0);
    CHECK_INT(config_add_statistics(c, "days", &err), -1);
    struct made m = make(c, samples, modules);
    if (!CHECK_INT(m.status, 0))
        return release(&m);
    place_ix loop = 0, line = 0;
    for (place_ix i = 0; i < m.e->place_count; i++) {
        loop = loop == 0 && m.e->places[i].kind == PLACE_LOOP ? i : loop;
        line = m.e->places[i].line_first == 5 ? i : line;
    }
    CHECK_INT(m.e->metric_count, 1 + ARRAY_SIZE(wanted));
    for (size_t i = 0; i < ARRAY_SIZE(wanted) && i + 1 < m.e->metric_count; i++) {
        const double want[] = {wanted[i].program, wanted[i].loop, wanted[i].line};
        const place_ix at[] = {0, loop, line};
        CHECK_STR(strtab_get(m.e->strings, m.e->metrics[i + 1].name), wanted[i].name);
        for (size_t k = 0; k < ARRAY_SIZE(want); k++) {
            double got = experiment_value(m.e, i + 1, at[k], VALUE_INCLUSIVE);
            if (!CHECK_NAMED(fabs(got - want[k]) < 1e-9, wanted[i].name))
                printf("# place %u: %.15g, not %.15g\n", at[k], got, want[k]);
        }
    }
    CHECK_NAMED(isnan(experiment_value(m.e, 1, loop + 1, VALUE_EXCLUSIVE)), "no own lines, no statistic of them");
    CHECK_NAMED(!m.e->metrics[1].summed, "a mean is not summed up");
    CHECK(experiment_check(m.e, &m.err) == 0);
    release(&m);
}

/* A read below an MPI call belongs to MPI; below main, the same function belongs to the program. */
static void test_outside_mpi(void)
{
    static const struct drawn_module linked[] = {{"/opt/app", "F /s/a.c\n"
                                                              " P main 1-9 1000-1100\n"
                                                              "  S 2 1000-1020\n"
                                                              " P MPI_Recv 11-19 2000-2100\n"
                                                              "  S 12 2000-2010\n"
                                                              " P read 21-29 3000-3100\n"
                                                              "  S 22 3000-3010\n"},
                                                 {NULL, NULL}};
    static const char *const names[] = {"max(\"C outside MPI\" over ranks)", "min(\"C outside MPI\" over threads)",
                                        "argmax(C over ranks)", NULL};
    static const struct {
        const char *place;
        double all, outside, most, least, which;
    } wanted[] = {{"app", 150, 80, 70, 10, 0}, {"main", 60, 60, 50, 10, 0}, {"read", 90, 20, 20, 0, 0}};
    const char *samples[] = {"process 0\n/opt/app 0x1000 C 5\n/opt/app 0x1014>0x2004>0x3000 C 7\n"
                             "/opt/app 0x1014>0x3000 C 2\nprocess 1\n/opt/app 0x1000 C 1\n",
                             NULL};
    struct config *c = config_create();
    config_add_measurement(c, "r");
    config_want_statistics(c, names);
    struct made m = make(c, samples, linked);
    if (CHECK_INT(m.status, 0) && CHECK_INT(m.e->metric_count, 5))
        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
            const double want[] = {wanted[i].all, wanted[i].outside, wanted[i].most, wanted[i].least, wanted[i].which};
            place_ix at = 0;
            while (at + 1 < m.e->place_count &&
                   strcmp(strtab_get(m.e->strings, m.e->places[at].name), wanted[i].place) != 0)
                at++;
            for (size_t k = 0; k < ARRAY_SIZE(want); k++) {
                double got = experiment_value(m.e, k, at, VALUE_INCLUSIVE);
                if (!CHECK_NAMED(got == want[k], wanted[i].place))
                    printf("# %s: %.15g, not %.15g\n", strtab_get(m.e->strings, m.e->metrics[k].name), got, want[k]);
            }
        }
    release(&m);
}

/* The same line on two paths: 10 and 20 on the first, in two threads, 50 on the second in the third. Folded, it is a
   single place. */
static void check_statistics_of_calls(bool folded)
{
    static const struct {
        const char *name;
        double program, first, second;
    } wanted[] = {
        {"mean(C over threads)", 80 / 3.0, 10, 50 / 3.0},
        {"max(C over threads)", 50, 20, 50},
        {"min(C over threads)", 10, 0, 0},
        {"imbalance(C over threads)", 50 / (80 / 3.0) - 1, 1, 2},
        {"count(C over threads)", 3, 2, 1},
        {"ABOVE", 50 - 80 / 3.0, 10, 50 - 50 / 3.0}, /* a formula of two statistics */
    };
    const char *samples[] = {"/opt/app 0x2004>0x1012 C 1\nthread\n/opt/app 0x2004>0x1012 C 2\nthread\n"
                             "/opt/app 0x2004>0x1031>0x1012 C 5\n",
                             NULL};
    struct err err = {0};
    struct config *c = config_from("<computed name='ABOVE' formula='max(C over threads) - mean(C over threads)'/>", 1);
    CHECK_INT(config_add_statistics(c, "threads", &err), 0);
    config_set_fold_recursion(c, folded);
    struct made m = make(c, samples, modules);
    if (!CHECK_INT(m.status, 0))
        return release(&m);
    size_t tree = experiment_calls(m.e);
    uint32_t line[2] = {0}, lines = 0;
    for (uint32_t i = 0; tree != SIZE_MAX && i < m.e->trees[tree].node_count; i++) {
        const struct place *p = &m.e->places[experiment_node_place(m.e, tree, i)];
        if (p->kind == PLACE_LINE && p->line_first == 53 && lines < 2)
            line[lines++] = i;
    }
    CHECK_INT(lines, folded ? 1 : 2);
    for (size_t i = 0; i < ARRAY_SIZE(wanted) && lines > 0; i++) {
        double all = wanted[i].program;
        const double want[] = {all, folded ? all : wanted[i].first, folded ? all : wanted[i].second};
        const uint32_t at[] = {0, line[!folded], line[0]};
        size_t metric = 0;
        while (metric < m.e->metric_count &&
               strcmp(strtab_get(m.e->strings, m.e->metrics[metric].name), wanted[i].name) != 0)
            metric++;
        for (size_t k = 0; k < ARRAY_SIZE(want) && CHECK(metric < m.e->metric_count); k++) {
            double got = experiment_node_value(m.e, tree, metric, at[k], VALUE_INCLUSIVE);
            if (!CHECK_NAMED(fabs(got - want[k]) < 1e-9, wanted[i].name))
                printf("# node %u: %.15g, not %.15g\n", at[k], got, want[k]);
        }
    }
    CHECK(experiment_check(m.e, &m.err) == 0);
    release(&m);
}

static void test_statistics_of_calls(void)
{
    check_statistics_of_calls(false);
    check_statistics_of_calls(true);
}

static void test_large_sums(void)
{
    /* 2^53 + 1 is not a double; the sum of two such columns is, and must be exact */
    struct hpcprof *p = profile_from("/opt/app 0x1000 C 1\n/opt/app 0x2000 C 1\n");
    struct structure_source source = {drawn_scopes, (void *)modules, NULL};
    struct input input = {.profile = p};
    struct config *c = config_create();
    struct experiment *e = NULL;
    struct err err = {0};
    config_add_measurement(c, "r");
    p->counts[0].value = p->counts[1].value = (1ull << 53) + 1;
    CHECK_INT(experiment_from(c, &input, 1, &source, NULL, &e, NULL, &err), 0);
    CHECK(e && experiment_value(e, 0, 0, VALUE_INCLUSIVE) == 18014398509481986.0);
    experiment_free(e);
    p->counts[0].value = UINT64_MAX;
    CHECK_INT(experiment_from(c, &input, 1, &source, NULL, &e, NULL, &err), -1);
    CHECK_STR(err.msg, "the counts of 'C' exceed 64 bits; the measurement is damaged");
    hpcprof_free(p);
    config_free(c);
}

/* The same samples in another order, in two files: the same experiment. */
static void test_order(void)
{
    const char *forwards[] = {cases[1].samples, NULL};
    const char *backwards[] = {
        "[anonymous] 0x7 C 1\n/gone.so 0x110 C 3\n/usr/lib/libfoo.so 0x110 C 2\n/opt/app 0x9000 C 1\n"
        "/opt/app 0x3000 C 1\n/opt/app 0x2010 C 1\n/opt/app 0x2000 C 90\n/opt/app 0x2000 C 4\n",
        NULL};
    struct config *c = config_create(), *d = config_create();
    config_add_measurement(c, "r");
    config_add_measurement(d, "r");
    struct made a = make(c, forwards, modules), b = make(d, backwards, modules);
    char *x = drawn(a.e), *y = drawn(b.e);
    CHECK_STR(x, y);
    mem_free(x);
    mem_free(y);
    release(&a);
    release(&b);
}

/* Two builds of a module in two runs are one MODULE, whatever their addresses; two of one name in one run stay apart.
 */
static void test_builds(void)
{
    static const struct drawn_module builds[] = {
        {"/gcc/app", "F /src/a.c\n"
                     " P f 3-30 1000-1100\n"
                     "  L 5-9 1000\n"
                     "   I g /src/a.c:40 6\n"
                     "    S 41 1000-1010\n"
                     "   I g /src/a.c:40 6\n"
                     "    S 41 1010-1020\n"},
        {"/clang/app", "F /src/a.c\n"
                       " P f 4-31 7000-7100\n"
                       "  L 5-9 7050\n"
                       "   S 6 7040-7050\n"
                       "   I g /src/a.c:40 6\n"
                       "    S 41 7050-7060\n"},
        {NULL, NULL},
    };
    const char *samples[] = {"/gcc/app 0x1000 C 1\n/gcc/app 0x1010 C 2\n",
                             "/clang/app 0x7050 C 4\n/clang/app 0x7040 C 8\n", NULL};
    struct config *c = config_create(), *d = config_create();
    config_add_measurement(c, "gcc");
    config_add_measurement(c, "clang");
    struct made m = make(c, samples, builds);
    char *text = drawn(m.e);
    CHECK_STR(text, "program app = 30 . 120 .\n"
                    " module app = 30 . 120 .\n"
                    "  file a.c = 30 . 120 .\n"
                    "   proc f a.c:4 = 30 . 120 .\n"
                    "    loop a.c:5 = 30 . 120 80\n"
                    "     inline g a.c:40 from a.c:6 = 10 10 40 40\n"
                    "      line a.c:41 = 10 10 40 40\n"
                    "     inline g a.c:40 from a.c:6 = 20 20 . .\n"
                    "      line a.c:41 = 20 20 . .\n"
                    "     line a.c:6 = . . 80 80\n");
    CHECK(experiment_check(m.e, &m.err) == 0);
    mem_free(text);
    release(&m);
    const char *together[] = {"/gcc/app 0x1000 C 1\n/clang/app 0x7050 C 4\n", NULL};
    config_add_measurement(d, "both");
    m = make(d, together, builds);
    text = drawn(m.e);
    CHECK(strstr(text, " module clang/app = 40 .\n") && strstr(text, " module gcc/app = 10 .\n"));
    mem_free(text);
    release(&m);
}

/* A procedure cloned by only one compiler is a single procedure; if a run has both, the clone is separate. */
static void test_clones_of_builds(void)
{
    static const struct drawn_module builds[] = {
        {"/gcc/app", "F /src/a.c\n"
                     " P f.constprop.0<f 3-9 1000-1100\n"
                     "  L 5-6 1010\n"
                     "   S 5 1010-1020\n"
                     " P g 13-19 2000-2100\n"
                     " P g.part.0<g 13-19 2100-2200\n"
                     " P h.isra.0<h 23-29 3000-3100\n"},
        {"/clang/app", "F /src/a.c\n"
                       " P f 3-9 5000-5100\n"
                       "  L 5-6 5010\n"
                       "   S 5 5010-5020\n"
                       " P g 13-19 6000-6100\n"
                       " P h 23-29 7000-7100\n"
                       " P h.isra.0<h 23-29 7100-7200\n"},
        {NULL, NULL},
    };
    const char *samples[] = {
        "/gcc/app 0x1010 C 1\n/gcc/app 0x2000 C 2\n/gcc/app 0x2100 C 3\n/gcc/app 0x3000 C 4\n",
        "/clang/app 0x5010 C 5\n/clang/app 0x6000 C 6\n/clang/app 0x7000 C 7\n/clang/app 0x7100 C 8\n", NULL};
    struct config *c = config_create();
    config_add_measurement(c, "gcc");
    config_add_measurement(c, "clang");
    struct made m = make(c, samples, builds);
    char *text = drawn(m.e);
    CHECK_STR(text, "program app = 100 . 260 .\n"
                    " module app = 100 . 260 .\n"
                    "  file a.c = 100 . 260 .\n"
                    "   proc f a.c:3 = 10 . 50 .\n"
                    "    loop a.c:5 = 10 10 50 50\n"
                    "     line a.c:5 = 10 10 50 50\n"
                    "   proc g a.c:13 = 20 20 60 60\n"
                    "    line = 20 20 60 60\n"
                    "   proc g [clone .part.0] a.c:13 = 30 30 . .\n"
                    "    line = 30 30 . .\n"
                    "   proc h a.c:23 = . . 70 70\n"
                    "    line = . . 70 70\n"
                    "   proc h [clone .isra.0] a.c:23 = 40 40 80 80\n"
                    "    line = 40 40 80 80\n");
    CHECK(experiment_check(m.e, &m.err) == 0);
    place_ix g[2] = {0};
    for (place_ix i = 0, n = 0; i < m.e->place_count; i++)
        if (m.e->places[i].kind == PLACE_PROC && m.e->places[i].line_first == 13 && n < 2)
            g[n++] = i;
    CHECK(g[1] && m.e->places[g[1]].same == g[0]);
    mem_free(text);
    release(&m);
}

/* Parallel regions of one function have numbers as their compiler pleases: those that begin at one line are one. */
static void test_regions_of_builds(void)
{
    static const struct drawn_module builds[] = {
        {"/gcc/app", "F /src/a.c\n"
                     " P f.omp.0<f 3-9 1000-1100\n"
                     " P f.omp.1<f 13-19 2000-2100\n"},
        {"/clang/app", "F /src/a.c\n"
                       " P f.omp.7<f 13-19 6000-6100\n"},
        {NULL, NULL},
    };
    const char *samples[] = {"/gcc/app 0x1000 C 1\n/gcc/app 0x2000 C 2\n", "/clang/app 0x6000 C 6\n", NULL};
    struct config *c = config_create();
    config_add_measurement(c, "gcc");
    config_add_measurement(c, "clang");
    struct made m = make(c, samples, builds);
    char *text = drawn(m.e);
    CHECK_STR(text, "program app = 30 . 60 .\n"
                    " module app = 30 . 60 .\n"
                    "  file a.c = 30 . 60 .\n"
                    "   proc f [OpenMP region.0] a.c:3 = 10 10 . .\n"
                    "    line = 10 10 . .\n"
                    "   proc f [OpenMP region.7] a.c:13 = 20 20 60 60\n"
                    "    line = 20 20 60 60\n");
    mem_free(text);
    release(&m);
}

/* Very many clones of one function: the n-th of one run is matched with the n-th of the other. */
static void test_many_clones(void)
{
    enum { CLONES = 100000 };
    struct buf tree[2] = {0}, samples[2] = {0};
    for (unsigned run = 0; run < 2; run++) {
        buf_str(&tree[run], "F /src/a.c\n");
        for (unsigned i = 0; i < CLONES; i++) {
            buf_printf(&tree[run], " P f.%s%u<f 3-9 %x-%x\n", run ? "isra" : "part", i, 0x1000 + 16 * i,
                       0x1010 + 16 * i);
            buf_printf(&samples[run], "/%u/app 0x%x C 1\n", run, 0x1000 + 16 * i);
        }
    }
    const struct drawn_module builds[] = {{"/0/app", tree[0].bytes}, {"/1/app", tree[1].bytes}, {NULL, NULL}};
    const char *both[] = {samples[0].bytes, samples[1].bytes, NULL};
    struct config *c = config_create();
    config_add_measurement(c, "old");
    config_add_measurement(c, "new");
    struct err err = {0};
    CHECK_INT(config_add_metric(c, "BOTH = run(old).C + 2 * run(new).C", &err), 0);
    struct made m = make(c, both, builds);
    size_t procedures = 0, in_both = 0, computed = 0;
    for (place_ix i = 0; m.e && i < m.e->place_count; i++)
        if (m.e->places[i].kind == PLACE_PROC) {
            procedures++;
            in_both += experiment_value(m.e, 0, i, VALUE_INCLUSIVE) == experiment_value(m.e, 1, i, VALUE_INCLUSIVE);
            computed += experiment_value(m.e, 2, i, VALUE_INCLUSIVE) == 30;
        }
    CHECK_INT(procedures, CLONES);
    CHECK_INT(in_both, CLONES);
    CHECK_INT(computed, CLONES);
    release(&m);
    for (unsigned run = 0; run < 2; run++) {
        buf_release(&tree[run]);
        buf_release(&samples[run]);
    }
}

/* ---- limits of the search, and slightly more --------------------------------------------------------------- */

/* A structure with the maximum number of builds, and samples of each; one run each. */
struct many {
    struct drawn_module modules[80];
    struct input inputs[80];
    size_t count;
};

static void add_build(struct many *m, const char *drawing, const char *samples)
{
    m->modules[m->count] = (struct drawn_module){mem_printf("/%zu/app", m->count), drawing};
    m->inputs[m->count] = (struct input){.profile = profile_from(samples), .run = (uint32_t)m->count};
    m->count++;
}

static struct made make_many(struct many *m)
{
    struct made made = {.config = config_create(), .warnings = warnings_create()};
    struct structure_source source = {drawn_scopes, m->modules, NULL};
    for (size_t i = 0; i < m->count; i++)
        config_add_run(made.config, m->modules[i].path, "m", "", NULL);
    made.status = experiment_from(made.config, m->inputs, m->count, &source, NULL, &made.e, made.warnings, &made.err);
    for (size_t i = 0; i < m->count; i++) {
        hpcprof_free(m->inputs[i].profile);
        mem_free((char *)m->modules[i].path);
    }
    m->count = 0;
    return made;
}

static size_t places_of_kind(const struct experiment *e, enum place_kind kind)
{
    size_t n = 0;
    for (place_ix i = 0; e && i < e->place_count; i++)
        n += e->places[i].kind == kind;
    return n;
}

/* Each build has its own clone: those of the first 64 runs are matched; later ones are not, so each remains
   separate. */
static void test_many_runs(void)
{
    static struct many m;
    struct buf trees[67] = {{0}}, samples[67] = {{0}};
    for (unsigned i = 0; i < ARRAY_SIZE(trees); i++) {
        buf_printf(&trees[i], "F /src/a.c\n P f.part.%u<f 3-9 1000-1100\n  L %u-%u 1010\n   S 5 1010-1020\n", i, 10 + i,
                   200 + i);
        buf_printf(&samples[i], "/%u/app 0x1010 C 1\n", i);
        add_build(&m, trees[i].bytes, samples[i].bytes);
    }
    struct made made = make_many(&m);
    CHECK_INT(made.status, 0);
    CHECK_INT(places_of_kind(made.e, PLACE_PROC), 4);
    CHECK_INT(places_of_kind(made.e, PLACE_LOOP), 4);
    size_t with[70] = {0};
    for (place_ix i = 0; made.e && i < made.e->place_count; i++)
        for (size_t run = 0; made.e->places[i].kind == PLACE_PROC && run < made.e->metric_count; run++)
            with[run] += !isnan(experiment_value(made.e, run, i, VALUE_INCLUSIVE));
    for (size_t run = 0; run < ARRAY_SIZE(trees); run++)
        CHECK_INT(with[run], 1);
    release(&made);
    for (unsigned i = 0; i < ARRAY_SIZE(trees); i++) {
        buf_release(&trees[i]);
        buf_release(&samples[i]);
    }
}

/* The maximum number of files with the same name that are compared; beyond it, none are. */
static void test_many_names(void)
{
    static struct many m;
    for (unsigned files = 100; files <= 101; files++) {
        struct buf trees[2] = {{0}, {0}}, samples[2] = {{0}, {0}};
        for (unsigned run = 0; run < 2; run++) {
            for (unsigned i = 0; i < files; i++) {
                buf_printf(&trees[run], "F /%u/d%u/a.c\n P f%u 3-9 %x-%x\n", run, i, i, 0x1000 + 16 * i,
                           0x1010 + 16 * i);
                buf_printf(&samples[run], "/%u/app 0x%x C 1\n", run, 0x1000 + 16 * i);
            }
            add_build(&m, trees[run].bytes, samples[run].bytes);
        }
        struct made made = make_many(&m);
        CHECK_INT(places_of_kind(made.e, PLACE_FILE), files == 100 ? 100 : 202);
        release(&made);
        for (unsigned run = 0; run < 2; run++) {
            buf_release(&trees[run]);
            buf_release(&samples[run]);
        }
    }
}

/* The maximum number of loops at one place that are searched, from the last. */
static void test_many_loops(void)
{
    static struct many m;
    for (unsigned wanted = 0; wanted <= 2; wanted++) {
        struct buf tree = {0}, samples = {0}, other = {0};
        buf_str(&tree, "F /src/a.c\n P f 3-90000 1000-20000\n");
        for (unsigned i = 0; i < 1001; i++) {
            buf_printf(&tree, "  L %u-%u %x\n   S %u %x-%x\n", 10 * i + 10, 10 * i + 15, 0x1000 + 16 * i, 10 * i + 12,
                       0x1000 + 16 * i, 0x1010 + 16 * i);
            buf_printf(&samples, "/0/app 0x%x C 1\n", 0x1000 + 16 * i);
        }
        buf_printf(&other, "F /src/a.c\n P f 3-90000 1000-20000\n  L %u-%u 1000\n   S %u 1000-1010\n", 10 * wanted + 11,
                   10 * wanted + 15, 10 * wanted + 12);
        add_build(&m, tree.bytes, samples.bytes);
        add_build(&m, other.bytes, "/1/app 0x1000 C 1\n");
        struct made made = make_many(&m);
        CHECK_INT(places_of_kind(made.e, PLACE_LOOP), wanted == 0 ? 1002 : 1001);
        release(&made);
        buf_release(&tree);
        buf_release(&samples);
        buf_release(&other);
    }
}

/* Lines in one run, addresses in another, with different paths: one module, whose addresses are looked up in the
   existing structure. */
static void test_lines_elsewhere(void)
{
    const char *samples[] = {"clones sum a.c 5 C 2\n", "/opt/clones#ab 0x1000 C 1\n", NULL};
    struct config *c = config_create();
    config_add_measurement(c, "lines");
    config_add_measurement(c, "addresses");
    struct made m = make(c, samples, modules);
    char *text = drawn(m.e);
    CHECK_STR(text, "program app = 20 . 10 .\n"
                    " module clones = 20 . 10 .\n"
                    "  file a.c = 20 . 10 .\n"
                    "   proc sum [clone .constprop.0] a.c:3 = 20 . 10 10\n"
                    "    loop a.c:5 = 20 20 . .\n"
                    "     line a.c:5 = 20 20 . .\n"
                    "    line a.c:4 = . . 10 10\n");
    mem_free(text);
    release(&m);
}

/* ---- trees, and places with the same source --------------------------------------------------------- */

static const struct place_row {
    enum place_kind kind;
    place_ix parent;
    uint32_t file, line, last;
    place_ix same;
} heat_places[] = {
    {PLACE_PROGRAM, PLACE_NONE, SOURCE_NONE, 0, 0, 0},
    {PLACE_MODULE, 0, SOURCE_NONE, 0, 0, 1},
    {PLACE_FILE, 1, 0, 0, 0, 2},
    {PLACE_PROC, 2, 0, 40, 70, 3},
    {PLACE_LOOP, 3, 0, 52, 60, 4},
    {PLACE_LOOP, 4, 0, 52, 60, 5}, /* in the previous one, on the same line: another loop */
    {PLACE_LINE, 5, 0, 53, 53, 6},
    {PLACE_LOOP, 3, 0, 52, 58, 4}, /* a copy of the first, that ends elsewhere */
    {PLACE_LINE, 7, 0, 53, 53, 6},
    {PLACE_LOOP, 3, 1, 52, 60, 9}, /* the same lines of another file */
    {PLACE_LINE, 9, 1, 53, 53, 10},
    {PLACE_LINE, 3, 0, 0, 0, 11}, /* unknown lines match nothing */
    {PLACE_LINE, 3, 0, 0, 0, 12},
    {PLACE_MODULE, 0, SOURCE_NONE, 0, 0, 13},
    {PLACE_FILE, 13, 0, 0, 0, 2}, /* of another module */
    {PLACE_FILE, 13, 1, 0, 0, 15},
    {PLACE_PROC, 15, 1, 9, 9, 16}, /* all names are "" here */
    {PLACE_PROC, 14, 0, 9, 9, 3},
};

/* An experiment of those places, with one metric in which only lines have a value: their index. */
static struct experiment *experiment_by_hand(void)
{
    struct experiment *e = mem_calloc(1, sizeof *e);
    double own[ARRAY_SIZE(heat_places)];
    e->strings = strtab_create();
    e->place_count = ARRAY_SIZE(heat_places);
    e->places = mem_calloc(e->place_count, sizeof *e->places);
    e->file_count = 2;
    e->files = mem_calloc(2, sizeof *e->files);
    e->files[0].name = strtab_add(e->strings, "a.c");
    e->files[1].name = strtab_add(e->strings, "b.c");
    for (size_t i = 0; i < e->place_count; i++) {
        const struct place_row *row = &heat_places[i];
        e->places[i] = (struct place){.kind = (uint8_t)row->kind,
                                      .parent = row->parent,
                                      .file = row->file,
                                      .line_first = row->line,
                                      .line_last = row->last,
                                      .call_file = SOURCE_NONE};
        own[i] = row->kind == PLACE_LINE ? (double)i : NAN;
    }
    e->metric_count = 1;
    e->metrics = mem_calloc(1, sizeof *e->metrics);
    e->metrics[0] = (struct metric){.name = strtab_add(e->strings, "C"), .period = 1, .run = RUN_NONE};
    experiment_find_same(e);
    experiment_add_tree(e, "scopes", "Scopes", e->place_count, NULL, NULL);
    experiment_sum_column(e, TREE_SCOPES, 0, own);
    return e;
}

/* Violations of the header's invariants are reported with the place, node or file. */
static void test_check(void)
{
    static const char *const wants[] = {
        "place 0: its parent does not come before it",
        "place 3: its parent does not come before it",
        "place 3: its parent does not come before it",
        "place 4: its parent does not come before it",
        "place 4: a place of kind 5 cannot stand in one of kind 2",
        "place 6: its file is not in the table",
        "place 6: its file is not in the table",
        "place 8: is not the same as the place it names",
        "place 8: is not the same as the place it names",
        "place 8: is not the same as the place it names",
        "file 1 is not in the order of names",
        "file 1 is not in the order of names",
        "metric 0: its run is not in the table",
        "the first tree is not that of the places",
        "the experiment has no PROGRAM",
        "the experiment has no PROGRAM",
        "place 6: its 'C' is not the sum of its parts",
        NULL,
    };
    for (size_t i = 0; i < ARRAY_SIZE(wants); i++) {
        struct experiment *e = experiment_by_hand();
        size_t places = e->place_count, trees = e->tree_count;
        struct err err = {0};
        double wrong[ARRAY_SIZE(heat_places)] = {0};
        switch (i) {
        case 0:
            e->places[0].parent = 0;
            break;
        case 1:
            e->places[3].parent = 3;
            break;
        case 2:
            e->places[3].kind = PLACE_PROGRAM;
            break;
        case 3:
            e->places[4].parent = 5;
            break;
        case 4:
            e->places[4].parent = 2;
            break;
        case 5:
            e->places[6].file = 2;
            break;
        case 6:
            e->places[6].call_file = 2;
            break;
        case 7:
            e->places[8].same = 9;
            break;
        case 8:
            e->places[8].same = 4;
            break;
        case 9:
            e->places[6].same = 3, e->places[8].same = 8;
            break;
        case 10:
            e->files[1].name = e->files[0].name;
            break;
        case 11:
            e->files[0].name = strtab_add(e->strings, "c.c");
            break;
        case 12:
            e->metrics[0].run = 0;
            break;
        case 13:
            e->trees[0].node_count--;
            break;
        case 14:
            e->place_count = 0;
            break;
        case 15:
            e->tree_count = 0;
            break;
        case 16:
            for (size_t k = 0; k < places; k++)
                wrong[k] = experiment_value(e, 0, (place_ix)k, VALUE_INCLUSIVE);
            wrong[6] = 5;
            experiment_set_column(e, TREE_SCOPES, 0, VALUE_INCLUSIVE, wrong);
            break;
        default:
            break;
        }
        int status = experiment_check(e, &err);
        if (i == 9) /* the place that it refers to is reported first */
            CHECK_STR(err.msg, "place 6: is not the same as the place it names");
        else if (wants[i])
            CHECK_STR(err.msg, wants[i]);
        CHECK_INT(status, wants[i] ? -1 : 0);
        e->place_count = places;
        e->tree_count = trees;
        experiment_free(e);
    }
}

/* One value at one place is changed: are the sums still valid? Integers are compared exactly, others approximately. */
static void test_check_sums(void)
{
    static const struct {
        double factor; /* of all that lines have */
        place_ix place;
        enum value_form form;
        double by; /* added to the value; NaN: the value becomes missing */
        bool sound;
    } sums[] = {
        {1, 0, VALUE_INCLUSIVE, 0, true},        {1, 0, VALUE_INCLUSIVE, 1, false},
        {1, 0, VALUE_INCLUSIVE, -1, false},      {1, 5, VALUE_INCLUSIVE, NAN, false},
        {1, 5, VALUE_EXCLUSIVE, NAN, false},     {1, 6, VALUE_EXCLUSIVE, NAN, false},
        {1, 3, VALUE_EXCLUSIVE, 1, false},       {0.1, 3, VALUE_INCLUSIVE, 1e-14, true},
        {0.1, 3, VALUE_INCLUSIVE, 1e-9, false},  {0.1, 3, VALUE_INCLUSIVE, -1e-9, false},
        {0x1p53, 0, VALUE_INCLUSIVE, 2e4, true}, {0x1p53, 0, VALUE_INCLUSIVE, 1e7, false},
        {0x1p46, 6, VALUE_EXCLUSIVE, 1, false},  {0x1p46, 0, VALUE_INCLUSIVE, 1, false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
        struct experiment *e = experiment_by_hand();
        double values[ARRAY_SIZE(heat_places)];
        struct err err = {0};
        for (size_t k = 0; k < e->place_count; k++)
            values[k] = e->places[k].kind == PLACE_LINE ? (double)k * sums[i].factor : NAN;
        experiment_sum_column(e, TREE_SCOPES, 0, values);
        for (size_t k = 0; k < e->place_count; k++)
            values[k] = experiment_value(e, 0, (place_ix)k, sums[i].form);
        values[sums[i].place] += sums[i].by;
        experiment_set_column(e, TREE_SCOPES, 0, sums[i].form, values);
        if (!CHECK_INT(experiment_check(e, &err) == 0, sums[i].sound))
            printf("# %zu: %s\n", i, err.msg);
        experiment_free(e);
    }
    /* a leaf may be empty: 14 is a file without lines */
    struct experiment *e = experiment_by_hand();
    double values[ARRAY_SIZE(heat_places)];
    struct err err = {0};
    for (size_t k = 0; k < e->place_count; k++)
        values[k] = experiment_value(e, 0, (place_ix)k, VALUE_INCLUSIVE);
    CHECK(isnan(values[14]));
    values[14] = 0;
    experiment_set_column(e, TREE_SCOPES, 0, VALUE_INCLUSIVE, values);
    CHECK_INT(experiment_check(e, &err), -1);
    CHECK_STR(err.msg, "place 14: its 'C' is not the sum of its parts");
    experiment_free(e);
}

/* The shares by address within a procedure add up for each metric; the heaviest procedures come first, light ones are
   omitted. */
static void test_chosen_procedures(void)
{
    static const char drawing[] = "F /s/a.c\n"
                                  " P f 1-9 1000-1100\n  S 2 1000-1010\n"
                                  " P g 11-19 2000-2100\n  L 12-14 2010\n   S 13 2010-2020\n  S 15 2020-2030\n"
                                  " P h 21-29 3000-3100\n"
                                  " P i 31-39 4000-4100\n"
                                  " P j 41-49 5000-5100\n";
    static const vaddr addresses[] = {0x10, 0x1000, 0x2010, 0x2020, 0x3050, 0x4000, 0x4001, 0x5000, 0x9000};
    static const double weights[] = {9, 0.5, 0.25, 0.375, 0.5, 0.0001, 0.00015, 0.0001, 9};
    struct scope_tree *t = tree_from(drawing);
    struct sampled_procedures chosen = {0};
    struct buf got = {0};
    instructions_choose(
        t, &(struct sampled){.addresses = addresses, .weights = weights, .count = ARRAY_SIZE(addresses)}, &chosen);
    for (size_t i = 0; i < chosen.count; i++)
        buf_printf(&got, "%s ", strtab_get(t->strings, t->scopes[chosen.items[i]].name));
    CHECK_STR(got.bytes, "g f h ");
    vec_release(&chosen);
    buf_release(&got);
    scope_tree_free(t);
}

static void test_weights_of_sites(void)
{
    static const struct {
        uint32_t column, site;
        uint64_t value;
    } given[] = {{0, 0, 10}, {0, 1, 20}, {0, 0, 10}, {1, 1, 1}, {1, 2, 3}, {2, 3, 0}};
    static const double want[] = {0.5, 0.5 + 0.25, 0.75, 0};
    struct strtab *strings = strtab_create();
    struct correlation c;
    correlation_init(&c, strings);
    for (size_t i = 0; i < ARRAY_SIZE(want); i++)
        *vec_push(&c.sites) = (struct site){.address = i};
    for (size_t i = 0; i < 4; i++)
        *vec_push(&c.cells) = (struct cell_list){0};
    for (size_t i = 0; i < ARRAY_SIZE(given); i++)
        *vec_push(&c.cells.items[given[i].column]) =
            (struct cell){.site = given[i].site, .call = CALL_NONE, .value = given[i].value};
    double *weights = instructions_weigh_sites(&c);
    for (size_t i = 0; i < ARRAY_SIZE(want); i++)
        CHECK(fabs(weights[i] - want[i]) < 1e-12);
    mem_free(weights);
    correlation_release(&c);
    strtab_free(strings);
}

/* The kinds of places that can contain each other. */
static void test_check_kinds(void)
{
    static const char *const may[] = {".x.....", "..x....", "...x...", "....xxx", "....xxx", "....xxx", "......."};
    for (int parent = 0; parent < 7; parent++)
        for (int kind = 0; kind < 7; kind++) {
            struct experiment *e = experiment_by_hand();
            struct err err = {0};
            place_ix in = 0;
            e->places[7].kind = PLACE_INLINE; /* so that one exists */
            e->places[7].same = 7;
            while (e->places[in].kind != parent)
                in++;
            place_ix last = (place_ix)e->place_count - 1; /* it has no children */
            e->places[last].kind = (uint8_t)kind;
            e->places[last].parent = in;
            e->places[last].same = last;
            CHECK_INT(experiment_check(e, &err) == 0, may[parent][kind] == 'x');
            experiment_free(e);
        }
}

/* A second tree with invalid nodes. */
static void test_check_nodes(void)
{
    static const struct {
        uint32_t parents[3];
        place_ix places[3];
        const char *want;
    } nodes[] = {
        {{NODE_NONE, 0, 1}, {0, 3, 6}, NULL},
        {{NODE_NONE, 0, 0}, {0, 3, 3}, NULL},
        {{0, 0, 1}, {0, 3, 6}, "calls: node 0: its parent does not come before it"},
        {{NODE_NONE, 1, 1}, {0, 3, 6}, "calls: node 1: its parent does not come before it"},
        {{NODE_NONE, 0, 2}, {0, 3, 6}, "calls: node 2: its parent does not come before it"},
        {{NODE_NONE, 0, NODE_NONE}, {0, 3, 6}, "calls: node 2: its parent does not come before it"},
        {{NODE_NONE, 0, 1}, {0, 3, 18}, "calls: node 2: its place is not in the table"},
        {{NODE_NONE, 0, 1}, {0, 3, 17}, NULL},
        {{NODE_NONE, 0, 1}, {18, 3, 6}, "calls: node 0: its place is not in the table"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
        struct experiment *e = experiment_by_hand();
        struct err err = {0};
        uint32_t *parents = mem_alloc(sizeof nodes[i].parents);
        place_ix *places = mem_alloc(sizeof nodes[i].places);
        memcpy(parents, nodes[i].parents, sizeof nodes[i].parents);
        memcpy(places, nodes[i].places, sizeof nodes[i].places);
        experiment_add_tree(e, "calls", "Calls", 3, parents, places);
        CHECK_INT(experiment_check(e, &err), nodes[i].want ? -1 : 0);
        if (nodes[i].want)
            CHECK_STR(err.msg, nodes[i].want);
        experiment_free(e);
    }
}

static void test_same(void)
{
    struct experiment *e = experiment_by_hand();
    for (size_t i = 0; i < e->place_count; i++)
        if (!CHECK_INT(e->places[i].same, heat_places[i].same))
            printf("# place %zu\n", i);
    experiment_free(e);
}

/* A tree of calls that contains a line twice, under different callers: each has its own values. */
static void test_second_tree(void)
{
    struct err err = {0};
    struct experiment *e = experiment_by_hand();
    const struct sampled_call {
        uint32_t parent;
        place_ix place;
        uint64_t own;
        double inclusive, exclusive;
    } calls[] = {
        {NODE_NONE, 0, 0, 15, NAN}, /* the program */
        {0, 3, 0, 15, 1},           /* solve */
        {1, 6, 1, 14, 1},           /* one of its lines, which calls solve again */
        {2, 3, 0, 13, 13},          /* solve, called from there */
        {3, 6, 4, 4, 4},            /* the same line under another parent */
        {3, 8, 9, 9, 9},
        {1, 10, 0, 1, NAN}, /* a line without exclusive cost */
        {6, 3, 0, 1, 1},
        {7, 6, 1, 1, 1},
    };
    size_t n = ARRAY_SIZE(calls);
    uint32_t *parent = mem_calloc(n, sizeof *parent);
    place_ix *place = mem_calloc(n, sizeof *place);
    uint64_t own[ARRAY_SIZE(calls)];
    uint8_t known[ARRAY_SIZE(calls)];
    for (size_t i = 0; i < n; i++) {
        parent[i] = calls[i].parent;
        place[i] = calls[i].place;
        own[i] = calls[i].own;
        known[i] = calls[i].own != 0;
    }
    size_t tree = experiment_add_tree(e, "calls", "Calls", n, parent, place);
    CHECK_INT(experiment_sum_counts(e, tree, 0, own, known), 0);
    for (uint32_t i = 0; i < n; i++) {
        double inclusive = experiment_node_value(e, tree, 0, i, VALUE_INCLUSIVE),
               exclusive = experiment_node_value(e, tree, 0, i, VALUE_EXCLUSIVE);
        if (!CHECK(inclusive == calls[i].inclusive) ||
            !CHECK(exclusive == calls[i].exclusive || (isnan(exclusive) && isnan(calls[i].exclusive))))
            printf("# node %u: %g %g\n", i, inclusive, exclusive);
    }
    CHECK_NAMED(experiment_value(e, 0, 6, VALUE_INCLUSIVE) == 6, "the places keep their own values");
    if (!CHECK_NAMED(experiment_check(e, &err) == 0, "experiment_check"))
        printf("# %s\n", err.msg);
    double wrong[ARRAY_SIZE(calls)] = {1};
    experiment_set_column(e, tree, 0, VALUE_INCLUSIVE, wrong);
    CHECK_INT(experiment_check(e, &err), -1);
    CHECK_STR(err.msg, "node 8: its 'C' is not the sum of its parts");
    experiment_free(e);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t version_seed = 88172645463325252ull;

/* ---- versions of a source --------------------------------------------------------------------------- */

enum { VERSION_LINES = 60 };
struct version {
    struct buf text;
    struct {
        uint32_t samples, was; /* was: the line in the older version; 0: none */
    } lines[VERSION_LINES + 1];
    uint32_t count;
};

static uint32_t add_line(struct version *v, unsigned word, uint32_t was)
{
    buf_printf(&v->text, "    line %u;\n", word);
    v->count++;
    v->lines[v->count].samples = 1 + (uint32_t)(next_random(&version_seed) >> 40) % 1000;
    v->lines[v->count].was = was;
    return v->count;
}

/* Lines that stay, and between them some that are new, gone, or others in their place. */
static void make_versions(struct version *older, struct version *newer)
{
    unsigned word = 0;
    while (newer->count + 4 < VERSION_LINES && older->count + 4 < VERSION_LINES) {
        uint32_t kind = (uint32_t)(next_random(&version_seed) >> 33) % 5, n = 1 + kind % 2;
        word++;
        add_line(newer, word, add_line(older, word, 0));
        for (uint32_t i = 0; i < n; i++) {
            uint32_t was = kind == 1 || kind == 3 ? add_line(older, ++word, 0) : 0;
            if (kind == 2 || kind == 3)
                add_line(newer, ++word, was);
        }
    }
    word++;
    add_line(newer, word, add_line(older, word, 0));
}

/* A procedure of all lines with one loop. */
static char *draw_version(const struct version *v, const char *path, uint32_t first, uint32_t last)
{
    struct buf b = {0};
    buf_printf(&b, "F %s\n P f 1-%u 1000-9000\n", path, v->count);
    for (uint32_t line = 1; line <= v->count; line++) {
        if (line == first)
            buf_printf(&b, "  L %u-%u %x\n", first, last, 0x1000 + 16 * line);
        buf_printf(&b, "  %sS %u %x-%x\n", line >= first && line <= last ? " " : "", line, 0x1000 + 16 * line,
                   0x1010 + 16 * line);
    }
    return b.bytes;
}

static char *draw_samples(const struct version *v, const char *module)
{
    struct buf b = {0};
    for (uint32_t line = 1; line <= v->count; line++)
        buf_printf(&b, "%s 0x%x C %u\n", module, 0x1000 + 16 * line, v->lines[line].samples);
    return b.bytes;
}

static bool is_value(double value, uint32_t samples)
{
    return samples ? value == 10 * samples : isnan(value);
}

/* How many places of the kind have these lines and these samples in the two runs. */
static size_t places_with(const struct experiment *e, enum place_kind kind, uint32_t first, uint32_t last,
                          uint32_t older, uint32_t newer)
{
    size_t n = 0;
    for (place_ix i = 0; i < e->place_count; i++)
        n += e->places[i].kind == kind && e->places[i].line_first == first && e->places[i].line_last == last &&
             is_value(experiment_value(e, 0, i, VALUE_INCLUSIVE), older) &&
             is_value(experiment_value(e, 1, i, VALUE_INCLUSIVE), newer);
    return n;
}

static uint32_t samples_of(const struct version *v, uint32_t first, uint32_t last)
{
    uint32_t sum = 0;
    for (uint32_t line = first; line <= last; line++)
        sum += v->lines[line].samples;
    return sum;
}

static size_t check_versions(const struct experiment *e, const struct version *older, const struct version *newer,
                             const uint32_t *first, const uint32_t *last)
{
    size_t wrong = 0, lines = 0, gone = older->count;
    bool stays[VERSION_LINES + 1] = {false};
    for (uint32_t line = 1; line <= newer->count; line++) {
        uint32_t was = newer->lines[line].was;
        stays[was] = was > 0;
        gone -= was > 0;
        wrong += places_with(e, PLACE_LINE, line, line, was ? older->lines[was].samples : 0,
                             newer->lines[line].samples) != 1;
    }
    for (uint32_t line = 1; line <= older->count; line++)
        wrong += !stays[line] && places_with(e, PLACE_LINE, line, line, older->lines[line].samples, 0) != 1;
    for (place_ix i = 0; i < e->place_count; i++)
        lines += e->places[i].kind == PLACE_LINE;
    wrong += lines != newer->count + gone;
    wrong += places_with(e, PLACE_LOOP, first[1], last[1], samples_of(older, first[0], last[0]),
                         samples_of(newer, first[1], last[1])) != 1;
    wrong += places_with(e, PLACE_PROC, 1, newer->count, samples_of(older, 1, older->count),
                         samples_of(newer, 1, newer->count)) != 1;
    return wrong;
}

/* The position of each line in two texts is known: unchanged or edited lines have the samples of both runs, at the
   newer line number. */
static void test_versions(void)
{
    char folder[] = "/tmp/experiment_test.XXXXXX";
    if (!mkdtemp(folder))
        exit(99);
    char *paths[2] = {mem_printf("%s/1/a.c", folder), mem_printf("%s/2/a.c", folder)};
    size_t wrong = 0;
    for (int round = 0; round < 60; round++) {
        struct version v[2] = {{.count = 0}, {.count = 0}};
        make_versions(&v[0], &v[1]);
        uint32_t first[2] = {0}, last[2] = {0};
        for (first[1] = 2 + (uint32_t)(next_random(&version_seed) >> 40) % 20; !v[1].lines[first[1]].was;)
            first[1]++;
        for (last[1] = first[1] + 3; !v[1].lines[last[1]].was;)
            last[1]++;
        first[0] = v[1].lines[first[1]].was;
        last[0] = v[1].lines[last[1]].was;
        char *trees[2], *samples[2];
        for (int i = 0; i < 2; i++) {
            struct outfile *out;
            struct err err = {0};
            char *of = mem_strndup(paths[i], strlen(paths[i]) - strlen("/a.c"));
            mkdir(of, 0777);
            mem_free(of);
            if (outfile_create(paths[i], &out, &err) < 0)
                exit(99);
            outfile_write(out, v[i].text.bytes, v[i].text.len);
            if (outfile_commit(out, &err) < 0)
                exit(99);
            trees[i] = draw_version(&v[i], paths[i], first[i], last[i]);
            samples[i] = draw_samples(&v[i], i ? "/2/app" : "/1/app");
        }
        const struct drawn_module both[] = {{"/1/app", trees[0]}, {"/2/app", trees[1]}, {NULL, NULL}};
        const char *runs[] = {samples[0], samples[1], NULL};
        struct config *c = config_create();
        config_add_measurement(c, "older");
        config_add_measurement(c, "newer");
        struct made m = make(c, runs, both);
        size_t here = m.e ? check_versions(m.e, &v[0], &v[1], first, last) : 1;
        if (here && !wrong && m.e) {
            char *text = drawn(m.e);
            printf("# round %d, %zu wrong\n%s\n%s", round, here, v[1].text.bytes, text);
            mem_free(text);
        }
        wrong += here;
        release(&m);
        for (int i = 0; i < 2; i++) {
            mem_free(trees[i]);
            mem_free(samples[i]);
            buf_release(&v[i].text);
        }
    }
    CHECK_INT(wrong, 0);
    dir_remove_tree(folder, NULL);
    mem_free(paths[0]);
    mem_free(paths[1]);
}

static void write_text(const char *folder, const char *name, const char *text)
{
    char *path = path_join(folder, name);
    struct outfile *out;
    struct err err = {0};
    for (char *end = strchr(path + strlen(folder) + 1, '/'); end; end = strchr(end + 1, '/')) {
        *end = '\0';
        mkdir(path, 0777);
        *end = '/';
    }
    if (outfile_create(path, &out, &err) < 0)
        exit(99);
    outfile_write(out, text, strlen(text));
    if (outfile_commit(out, &err) < 0)
        exit(99);
    mem_free(path);
}

/* Matching of an older file with one of two newer files: a common folder takes precedence over equal text, as texts
   change between builds. */
static void test_folder_before_text(void)
{
    char folder[] = "/tmp/experiment_test.XXXXXX";
    if (!mkdtemp(folder))
        exit(99);
    write_text(folder, "1/b/a.c", "1\n2\nit was so\n");
    write_text(folder, "2/b/a.c", "1\n2\nit is so\n");
    write_text(folder, "2/c/a.c", "1\n2\nit was so\n");
    char *older = mem_printf("F %s/1/b/a.c\n P f 1-9 1000-1100\n  S 2 1000-1010\n", folder);
    char *newer = mem_printf("F %s/2/b/a.c\n P f 1-9 1000-1100\n  S 2 1000-1010\n"
                             "F %s/2/c/a.c\n P g 1-9 2000-2100\n  S 2 2000-2010\n",
                             folder, folder);
    const struct drawn_module both[] = {{"/1/app", older}, {"/2/app", newer}, {NULL, NULL}};
    const char *runs[] = {"/1/app 0x1000 C 1\n", "/2/app 0x1000 C 3\n/2/app 0x2000 C 4\n", NULL};
    struct config *c = config_create();
    config_add_measurement(c, "older");
    config_add_measurement(c, "newer");
    struct made m = make(c, runs, both);
    CHECK(m.e);
    CHECK_INT(m.e ? places_with(m.e, PLACE_LINE, 2, 2, 1, 3) : 0, 1);
    CHECK_INT(m.e ? places_with(m.e, PLACE_LINE, 2, 2, 0, 4) : 0, 1);
    release(&m);
    dir_remove_tree(folder, NULL);
    mem_free(older);
    mem_free(newer);
}

/* Values are stored in columns unchanged, with any of them missing. */
static void test_values(void)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000};
    static const double scales[] = {1, 4000000, 0.25}; /* the last is not a multiple of any period */
    uint64_t seed = 88172645463325252ull;
    for (size_t s = 0; s < ARRAY_SIZE(sizes) * ARRAY_SIZE(scales) * 3; s++) {
        size_t n = sizes[s % ARRAY_SIZE(sizes)], present = 0, rarity = 1 + 30 * (s / ARRAY_SIZE(sizes) % 3);
        double scale = scales[s / ARRAY_SIZE(sizes) / 3], dense[1001], out[1001];
        for (size_t i = 0; i < n; i++) {
            dense[i] = next_random(&seed) % rarity ? NAN : (double)(next_random(&seed) % 1000) * scale;
            present += !isnan(dense[i]);
        }
        struct values *v = values_create(dense, n, scale == 0.25 ? 4000000 : (uint64_t)scale);
        bool equal = values_count(v) == present && isnan(values_get(v, n)) && isnan(values_get(NULL, 0));
        for (size_t i = 0; i < n; i++)
            equal = equal && (values_get(v, i) == dense[i] || (isnan(values_get(v, i)) && isnan(dense[i])));
        for (size_t from = 0; from <= n; from += 1 + n / 7) {
            values_unpack(v, from, n - from + 1, out);
            for (size_t i = from; i < n; i++)
                equal = equal && (out[i - from] == dense[i] || (isnan(out[i - from]) && isnan(dense[i])));
            equal = equal && isnan(out[n - from]);
        }
        CHECK_NAMED(equal, "a column keeps its values");
        values_free(v);
    }
}

/* ---- columns of values --------------------------------------------------------------------------------- */

enum { DENSE_MOST = 400 };

static uint32_t values_seed_below(uint32_t n)
{
    static uint64_t state = 88172645463325252ull;
    return (uint32_t)(next_random(&state) >> 33) % n;
}

/* Runs of all, no and some values, multiples of the scale, large and small, and occasionally other numbers. */
static size_t draw_dense(double *dense, uint64_t scale)
{
    size_t n = values_seed_below(4) ? values_seed_below(DENSE_MOST) : 64 * values_seed_below(6);
    uint32_t odd = values_seed_below(4);
    for (size_t i = 0, end; i < n; i = end) {
        uint32_t rarity = values_seed_below(3);
        end = i + 1 + values_seed_below(150);
        for (; i < n && i < end; i++) {
            double multiple = values_seed_below(3) ? values_seed_below(1000) : 4294967295.0 - values_seed_below(2);
            dense[i] = rarity == 0 || (rarity == 1 && values_seed_below(2)) ? multiple * (double)scale : NAN;
        }
    }
    if (n && odd == 1)
        dense[values_seed_below((uint32_t)n)] = values_seed_below(2) ? 0.5 : 4294967296.0 * (double)scale;
    if (n && odd == 2)
        dense[values_seed_below((uint32_t)n)] = values_seed_below(2) ? -3 : -0.0;
    return n;
}

static bool same_double(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

/* As a whole, or in pieces that end at word boundaries. */
static struct values *values_of(const double *dense, size_t n, uint64_t scale)
{
    if (values_seed_below(2))
        return values_create(dense, n, scale);
    struct values *v = values_begin(n);
    for (size_t i = 0, piece; i < n; i += piece) {
        piece = 64 * (size_t)(1 + values_seed_below(3));
        piece = piece < n - i ? piece : n - i;
        values_append(v, dense + i, piece);
    }
    values_end(v, scale);
    return v;
}

/* Values are returned unchanged, one by one and in any range, including ranges that exceed the end. */
static void test_drawn_values(void)
{
    static const uint64_t scales[] = {0, 1, 4, 1000003, 1ull << 53, (1ull << 53) + 2};
    size_t wrong = 0;
    for (size_t round = 0; round < 3000; round++) {
        double dense[DENSE_MOST + 1], out[DENSE_MOST + 80];
        uint64_t scale = scales[round % ARRAY_SIZE(scales)];
        size_t n = draw_dense(dense, scale ? scale : 3), count = 0;
        struct values *v = values_of(dense, n, scale);
        for (size_t i = 0; i < n; i++) {
            count += !isnan(dense[i]);
            wrong += !same_double(values_get(v, i), dense[i]);
        }
        wrong += values_count(v) != count || !isnan(values_get(v, n)) || !isnan(values_get(v, SIZE_MAX));
        for (int part = 0; part < 8; part++) {
            size_t from = values_seed_below((uint32_t)n + 70), m = values_seed_below(part % 2 ? 70 : DENSE_MOST);
            bool any = false;
            out[m] = 7;
            values_unpack(v, from, m, out);
            for (size_t i = 0; i < m; i++) {
                double want = from + i < n ? dense[from + i] : NAN;
                any = any || !isnan(want);
                wrong += !same_double(out[i], want);
            }
            wrong += out[m] != 7 || values_any(v, from, m) != any;
        }
        values_free(v);
    }
    CHECK_INT(wrong, 0);
    CHECK(values_count(NULL) == 0 && !values_any(NULL, 0, 5) && isnan(values_get(NULL, 0)));
}

/* Random samples, as one thread of one file and as several threads: the same experiment, and nothing is lost. */
static void test_conservation(void)
{
    static const char *const places[] = {"/opt/app 0x1000",
                                         "/opt/app 0x1012",
                                         "/opt/app 0x1020",
                                         "/opt/app 0x1055",
                                         "/opt/app 0x1031",
                                         "/opt/app 0x1065",
                                         "/opt/app 0x2000",
                                         "/opt/app 0x2010",
                                         "/opt/app 0x3000",
                                         "/opt/app 0x9000",
                                         "/gone.so 0x110",
                                         "[anonymous] 0x7",
                                         "/opt/app solve heat.f90 53",
                                         "/opt/app solve vec.h 53"};
    uint64_t seed = 88172645463325252ull, wrong = 0;
    for (int round = 0; round < 50; round++) {
        struct buf whole = {0}, parts[3] = {{0}, {0}, {0}};
        uint64_t sum[2] = {0, 0};
        buf_str(&whole, "/opt/app 0x1000 C 1\n/opt/app 0x1000 D 1\n"); /* both events, in this order, in every part */
        for (int i = 0; i < 3; i++)
            buf_printf(&parts[i], "/opt/app 0x1000 C %d\n/opt/app 0x1000 D %d\n", i == 0, i == 0);
        for (int i = 0; i < 60; i++) {
            uint64_t r = next_random(&seed);
            char line[100];
            snprintf(line, sizeof line, "%s %c %d\n", places[r % ARRAY_SIZE(places)], "CD"[r >> 20 & 1],
                     (int)(r >> 34 & 511) + 1);
            sum[r >> 20 & 1] += (r >> 34 & 511) + 1;
            buf_str(&whole, line);
            buf_printf(&parts[r >> 50 & 1 ? 1 : r >> 51 & 1 ? 2 : 0], "%s%s", r >> 55 & 1 ? "thread\n" : "", line);
        }
        struct config *config = config_create();
        struct structure_source source = {drawn_scopes, (void *)modules, NULL};
        struct input one = {.profile = profile_from(whole.bytes)}, three[3];
        struct experiment *a = NULL, *b = NULL;
        struct err err = {0};
        config_add_measurement(config, "r");
        for (int i = 0; i < 3; i++)
            three[i] = (struct input){.profile = profile_from(parts[i].bytes)};
        if (experiment_from(config, &one, 1, &source, NULL, &a, NULL, &err) < 0 ||
            experiment_from(config, three, 3, &source, NULL, &b, NULL, &err) < 0 || experiment_check(a, &err) < 0)
            printf("# %s\n", err.msg);
        char *x = a ? drawn(a) : mem_strdup(""), *y = b ? drawn(b) : mem_strdup("b");
        wrong += strcmp(x, y) != 0;
        for (size_t m = 0; a && m < 2; m++)
            wrong += experiment_value(a, m, 0, VALUE_INCLUSIVE) != (double)(10 * (sum[m] + 1));
        mem_free(x);
        mem_free(y);
        experiment_free(a);
        experiment_free(b);
        hpcprof_free(one.profile);
        for (int i = 0; i < 3; i++) {
            hpcprof_free(three[i].profile);
            buf_release(&parts[i]);
        }
        buf_release(&whole);
        config_free(config);
    }
    CHECK_INT(wrong, 0);
}

/* A wrapper starts a helper and then execs the real program, recognizable only by pid, host and start. Of programs
   started together, the first one is chosen. */
static void test_root(void)
{
    static const struct {
        const char *host, *command;
        uint64_t start;
        uint32_t pid;
    } processes[] = {{"a", "/bin/helper", 20, 8},    {"b", "/bin/elsewhere", 30, 7}, {"a", "/bin/solver in.txt", 40, 7},
                     {"a", "/bin/sh run.sh", 10, 7}, {"a", "/bin/twin", 10, 6},      {"a", "/bin/late", 50, 9}};
    struct hpcprof *p = profile_from("m.so 0x1000 C 1\n");
    for (size_t i = 0; i < ARRAY_SIZE(processes); i++)
        hpcprof_add_process(p, &(struct hpcprof_process){.host = strtab_add(p->strings, processes[i].host),
                                                         .command = strtab_add(p->strings, processes[i].command),
                                                         .start_ns = processes[i].start,
                                                         .pid = processes[i].pid,
                                                         .rank = -1});
    struct config *config = config_create();
    static const struct drawn_module none[] = {{NULL, NULL}};
    struct structure_source source = {drawn_scopes, (void *)none, NULL};
    struct input input = {.profile = p};
    struct experiment *e = NULL;
    struct err err = {0};
    config_add_measurement(config, "r");
    CHECK_INT(experiment_from(config, &input, 1, &source, NULL, &e, NULL, &err), 0);
    CHECK_STR(strtab_get(e->strings, e->runs[0].command), "/bin/solver in.txt");
    CHECK_STR(strtab_get(e->strings, e->title), "solver");
    CHECK_STR(strtab_get(e->strings, e->runs[0].modules[0]), "m.so");
    experiment_free(e);
    hpcprof_free(p);
    input.profile = p = hpcprof_create(); /* of an empty measurement */
    hpcprof_add_process(p, &(struct hpcprof_process){.rank = -1});
    CHECK_INT(experiment_from(config, &input, 1, &source, NULL, &e, NULL, &err), 0);
    CHECK_STR(strtab_get(e->strings, e->runs[0].asked), "");
    CHECK_INT(e->runs[0].module_count, 0);
    experiment_free(e);
    hpcprof_free(p);
    config_free(config);
}

/* ---- sites and calls ----------------------------------------------------------------------------------- */

enum { CONTEXTS = 60, MEASURED = 3 };
struct drawn_context {
    char *site, *call; /* in words */
    uint32_t is_site, is_call;
};

/* Few modules, names, lines and addresses, so that many are the same in all but one. */
static void draw_contexts(struct hpcprof *p, struct drawn_context *list)
{
    static const char *const names[] = {"", "f", "g"};
    for (size_t i = 0; i < values_seed_below(5); i++) /* so that texts and modules have other numbers in each */
        hpcprof_add_module(p, names[values_seed_below(3)], "1");
    for (uint32_t i = 0, known; i < CONTEXTS; i = known) {
        const char *path = values_seed_below(9) ? names[1 + values_seed_below(2)] : "[path cut: deep]";
        const char *id = names[values_seed_below(2)], *words[3];
        struct hpcprof_context x = {.parent = i && values_seed_below(3) ? values_seed_below(i) : HPCPROF_NO_PARENT,
                                    .module = hpcprof_add_module(p, path, id),
                                    .by_line = values_seed_below(2)};
        char *where;
        for (size_t k = 0; k < ARRAY_SIZE(words); k++)
            words[k] = names[values_seed_below(3)];
        if (x.by_line) {
            x.procedure = strtab_add(p->strings, words[0]);
            x.file = strtab_add(p->strings, words[1]);
            x.procedure_file = strtab_add(p->strings, words[2]);
            x.line = values_seed_below(2);
            where = mem_printf("%s %s %s %u", words[0], words[1], words[2], x.line);
        } else
            where = mem_printf("%llx", (unsigned long long)(x.address = values_seed_below(4)));
        known = hpcprof_add_context(p, &x) + 1;
        if (known > i) {
            list[i].site = mem_printf("%s#%s %d %s", path, id, x.by_line, where);
            list[i].call =
                mem_printf("%s < %s", list[i].site, x.parent == HPCPROF_NO_PARENT ? "" : list[x.parent].call);
        } else
            known = i;
        mem_free(where);
    }
}

/* Sites with equal descriptions have the same number in all measurements, others have distinct ones. */
static void test_sites(void)
{
    struct strtab *strings = strtab_create();
    struct config *config = config_create();
    struct correlation c;
    struct drawn_context all[MEASURED][CONTEXTS];
    size_t wrong = 0;
    correlation_init(&c, strings);
    for (size_t k = 0; k < MEASURED; k++) {
        struct hpcprof *p = hpcprof_create();
        draw_contexts(p, all[k]);
        struct context_sites found = ingest_contexts(&c, config, p, 0, true);
        for (size_t i = 0; i < CONTEXTS; i++) {
            all[k][i].is_site = found.sites[i];
            all[k][i].is_call = found.calls[i];
        }
        mem_free(found.sites);
        mem_free(found.calls);
        hpcprof_free(p);
    }
    struct drawn_context *list = all[0];
    for (size_t i = 0; i < MEASURED * CONTEXTS; i++)
        for (size_t k = 0; k < i; k++) {
            wrong += (strcmp(list[i].site, list[k].site) == 0) != (list[i].is_site == list[k].is_site);
            wrong += (strcmp(list[i].call, list[k].call) == 0) != (list[i].is_call == list[k].is_call);
        }
    CHECK_INT(wrong, 0);
    for (size_t i = 0; i < MEASURED * CONTEXTS; i++) {
        CHECK(list[i].is_site < c.sites.count && list[i].is_call < c.calls.count);
        mem_free(list[i].site);
        mem_free(list[i].call);
    }
    correlation_release(&c);
    config_free(config);
    strtab_free(strings);
}

int main(void)
{
    test_conservation();
    test_values();
    test_drawn_values();
    test_same();
    test_check();
    test_check_sums();
    test_check_kinds();
    test_chosen_procedures();
    test_weights_of_sites();
    test_sites();
    test_check_nodes();
    test_second_tree();
    test_builds();
    test_clones_of_builds();
    test_regions_of_builds();
    test_many_clones();
    test_many_runs();
    test_many_names();
    test_many_loops();
    test_lines_elsewhere();
    test_versions();
    test_folder_before_text();
    test_places();
    test_calls();
    test_order_of_calls();
    test_fold_recursion();
    test_metrics();
    test_around();
    test_metric_errors();
    test_threads();
    test_statistics();
    test_outside_mpi();
    test_statistics_of_calls();
    test_large_sums();
    test_order();
    test_root();
    return tap_done();
}
