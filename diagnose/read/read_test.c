/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The property language: all errors in a file are reported with their locations; valid files are read as written. Files
 * of several lines are in tests/diagnose/reading.cases (tests/cases.h). A case has
 *
 *     text             a file
 *     words            its words: the start of each, its kind, '_' if something precedes it, the word
 *     problems         the error messages
 *     properties       the result: formulas with their operands, and their value if these are 2, 3, 4, ...
 *     statistics       those that the properties require
 */
#include "diagnose/read/read.h"
#include "tests/cases.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory ends after the text, so that reads past it crash. */
static struct properties *read_text(const char *text, struct warnings *problems)
{
    struct properties *p = properties_create();
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = strlen(text), room = (n / page + 1) * page;
    char *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + room, page, PROT_NONE) < 0)
        exit(99);
    memcpy(at + room - n, text, n);
    properties_add(p, at + room - n, n, "p.asl", problems);
    munmap(at, room + page);
    properties_finish(p, problems);
    return p;
}

/* Sentences, a '|' between. */
static char *problems_of(const char *text)
{
    struct warnings *problems = warnings_create();
    struct buf all = {0};
    buf_str(&all, "");
    properties_free(read_text(text, problems));
    for (size_t i = 0; i < warnings_count(problems); i++)
        buf_printf(&all, "%s%s", i ? "|" : "", warnings_get(problems, i));
    warnings_free(problems);
    return all.bytes;
}

/* ---- cases in a file ------------------------------------------------------------------------------------ */

static void add_words(const char *text, struct buf *out)
{
    static const char *const kinds[] = {"end", "word", "number", "string", "sign"};
    struct arena *arena = arena_create();
    struct warnings *problems = warnings_create();
    struct tokens words = {0};
    tokens_make(arena, text, strlen(text), "p.asl", &words, problems);
    for (size_t i = 0; i < words.count; i++) {
        const struct token *t = &words.items[i];
        buf_printf(out, "%u:%u %s %s%s", t->line, t->column, kinds[t->kind], t->blank_before ? "_" : "", t->text);
        if (t->kind == TOKEN_STRING)
            buf_printf(out, " says %s", token_unquoted(arena, t->text));
        buf_str(out, "\n");
    }
    vec_release(&words);
    warnings_free(problems);
    arena_free(arena);
}

static void add_formula(struct buf *out, const struct expr *e)
{
    double values[32];
    for (size_t i = 0; i < expr_name_count(e) && i < ARRAY_SIZE(values); i++) {
        struct buf name = {0};
        values[i] = 2 + (double)i;
        expr_operand_text(expr_operand(e, i), &name);
        buf_printf(out, "%s%s", i ? ", " : "", name.bytes);
        buf_release(&name);
    }
    buf_printf(out, " = %g", expr_eval(e, values));
}

static void add_values(struct buf *out, const char *what, const void *list)
{
    const struct VEC(struct guarded) *values = list;
    for (size_t i = 0; i < values->count; i++) {
        buf_printf(out, "  %s ", what);
        if (values->items[i].condition != NONE)
            buf_printf(out, "(%u) ", values->items[i].condition);
        add_formula(out, values->items[i].expr);
        buf_str(out, "\n");
    }
}

static void add_text(struct buf *out, const char *what, const struct text *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct piece *p = &t->items[i];
        buf_printf(out, "  %s ", what);
        if (p->condition != NONE)
            buf_printf(out, "(%u) ", p->condition);
        if (p->literal)
            buf_printf(out, "'%s'\n", p->literal);
        else {
            buf_printf(out, "{%s}%s%s ", p->formula, *p->format ? " as " : "", p->format);
            if (p->expr)
                add_formula(out, p->expr);
            buf_str(out, "\n");
        }
    }
}

static void add_property(struct buf *out, const struct properties *all, const struct property *p)
{
    buf_printf(out, "%s at %u:%u for %#x%s%s%s%s%s", p->name, p->at->line, p->at->column, p->kinds,
               p->table ? " rows of " : "", p->table ? p->table : "", p->at_column ? " at " : "",
               p->at_column ? p->at_column : "", p->meta ? " meta" : "");
    buf_printf(out, "%s%s rank %u%s%s\n", p->hypothesis ? " hypothesis" : "", p->together ? " together" : "", p->rank,
               p->refines == NONE ? "" : " refines ", p->refines == NONE ? "" : all->list.items[p->refines]->name);
    for (size_t i = 0; i < p->conditions.count; i++) {
        buf_printf(out, "  condition (%s) ", p->conditions.items[i].id);
        add_formula(out, p->conditions.items[i].expr);
        buf_str(out, "\n");
    }
    add_values(out, "confidence", &p->confidences);
    add_values(out, "severity", &p->severities);
    for (size_t i = 0; i < p->filters.count; i++)
        buf_printf(out, "  where %s is %s%s\n", p->filters.items[i].what, p->filters.items[i].not ? "not " : "",
                   p->filters.items[i].globs);
    for (size_t i = 0; i < p->needs.count; i++)
        buf_printf(out, "  needs %s\n", p->needs.items[i]);
    add_text(out, "title", &p->title);
    add_text(out, "evidence", &p->evidence);
    add_text(out, "explanation", &p->explanation);
    add_text(out, "remedy", &p->remedy);
}

static void add_properties(const struct properties *p, struct buf *out)
{
    for (size_t i = 0; i < p->aliases.count; i++)
        for (size_t k = 0; k < p->aliases.items[i].names.count; k++)
            buf_printf(out, "metric %s may be %s\n", p->aliases.items[i].name, p->aliases.items[i].names.items[k]);
    for (size_t i = 0; i < p->aliases.count; i++)
        buf_printf(out, "metric %s is first %s\n", p->aliases.items[i].name,
                   properties_alias(p, p->aliases.items[i].name)->names.items[0]);
    for (size_t i = 0; i < p->sources.count; i++)
        buf_printf(out, "table %s from %s\n", p->sources.items[i].table, p->sources.items[i].made_by);
    for (size_t i = 0; i < p->list.count; i++)
        add_property(out, p, p->list.items[i]);
    if (!out->len)
        buf_str(out, "none\n");
}

static void begin_case(void *ctx, const char *name)
{
    (void)ctx;
    (void)name;
}

static void take_text(void *ctx, const char *which, const char *text)
{
    char **at_hand = ctx;
    (void)which;
    mem_free(*at_hand);
    *at_hand = mem_strdup(text);
}

static void make_output(void *ctx, const char *what, struct buf *out)
{
    const char *text = *(char **)ctx;
    struct warnings *problems = warnings_create();
    struct properties *p = read_text(text, problems);
    if (strcmp(what, "words") == 0)
        add_words(text, out);
    else if (strcmp(what, "properties") == 0)
        add_properties(p, out);
    else if (strcmp(what, "statistics") == 0)
        for (const char *const *s = properties_statistics(p); *s; s++)
            buf_printf(out, "%s\n", *s);
    else {
        for (size_t i = 0; i < warnings_count(problems); i++)
            buf_printf(out, "%s\n", warnings_get(problems, i));
        if (!warnings_count(problems))
            buf_str(out, "none\n");
    }
    warnings_free(problems);
    properties_free(p);
}

static void check_file(void)
{
    static const char *const inputs[] = {"text", NULL};
    char *text = NULL;
    struct cases c = {inputs, begin_case, begin_case, take_text, make_output, &text, NULL, {0}};
    cases_run(&c, "tests/diagnose/reading.cases");
    mem_free(text);
}

/* ---- cases of one line ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text, *said;
} cases[] = {
    {"nothing", "", ""},
    {"the smallest", "PROPERTY A { CONDITION: T > 1; SEVERITY: 3; }", ""},
    {"the papers' form",
     "PROPERTY LC1ReadMissesOverMemRef(SeqPerf s) { CONDITION: s.lc1_data_read_miss / s.read_access > 0.01; "
     "CONFIDENCE: 1; SEVERITY: s.lc1_data_read_miss / s.read_access; }",
     ""},
    {"LET ... IN, guarded values, MAX",
     "PROPERTY A(Region r, Basis b) { LET float x = T / 2; y = x * 2; IN CONDITION: (big) y > 5 OR (small) y > 1; "
     "CONFIDENCE: MAX((big) -> 1, (small) -> 0.5); SEVERITY: MAX((big) -> y, (small) -> x); };",
     ""},
    {"a formula that begins with a bracket", "PROPERTY A { CONDITION: (T) > 1; SEVERITY: (T) * 2; }", ""},
    {"operators in capitals", "PROPERTY A { CONDITION: (T > 1 AND NOT T > 2 OR T > 3); SEVERITY: MIN(T, 2); }", ""},
    {"MAX as part of a formula", "PROPERTY A { CONDITION: T > 1; SEVERITY: MAX(T, 2) / 2; }", ""},
    {"templates and what they make",
     "PROPERTY TEMPLATE Over<M, Limit> (Region r) { CONDITION: M > Limit; SEVERITY: M; TITLE: \"{M} is above\"; } "
     "PROPERTY A = Over<T / 2, 3>; PROPERTY B = Over<\"perf::X\", (1 > 0)>;",
     ""},
    {"meta properties",
     "PROPERTY A { CONDITION: T > 1; SEVERITY: 3; } METAPROPERTY B { CONDITION: A AND A.severity > 1; SEVERITY: "
     "A.severity; }",
     ""},
    {"rows",
     "PROPERTY A { FOR ROWS OF evictors; WHERE level IS NOT \"L1|L2*\"; CONDITION: n > 1; SEVERITY: n; AT by; }", ""},
    {"comments", "# one\n// two\n/* three\n */ PROPERTY A { CONDITION: T /* here */ > 1; SEVERITY: 3; } // end", ""},
    {"nothing but a comment", "# x", ""},
    {"a slash at the end", "/",
     "p.asl:1:1: expected PROPERTY, HYPOTHESIS, METAPROPERTY, METRIC, TABLE or LET, not '/'"},

    {"an unknown part", "PROPERTY A {\n  CONDITON: T > 1;\n  SEVERITY: 3; }",
     "p.asl:2:3: unknown part of a property 'CONDITON'; did you mean CONDITION?|p.asl:1:10: the property A has no "
     "CONDITION"},
    {"no severity", "PROPERTY A { CONDITION: T > 1; }",
     "p.asl:1:10: the property A has no SEVERITY, in percent of the run"},
    {"all errors at once",
     "PROPERTY A { CONDITION: T >; SEVERITY: 3; }\nPROPERTY B { CONDITION: T > 1; SEVERITY: foo(3); }\nPROPRETY C {}",
     "p.asl:1:28: missing operand after '>'; expected a number, the name of a metric or '('|p.asl:1:10: the property A "
     "has no CONDITION|p.asl:2:42: unknown function 'foo'; available: min, max, sum, mean, sqrt, log, exp, abs, floor, "
     "ceil, round, if, or|p.asl:2:10: the property B has no SEVERITY, in percent of the run|p.asl:3:1: expected "
     "PROPERTY, HYPOTHESIS, METAPROPERTY, METRIC, TABLE or LET, not 'PROPRETY'"},
    {"the column behind text of other bytes", "PROPERTY A { CONDITION: \"\xc3\xa9\" > 1 1; SEVERITY: 3; }",
     "p.asl:1:33: unexpected '1' after '1'; expected one of + - * / ^ < <= == != >= > and or|p.asl:1:10: the property "
     "A has no CONDITION"},
    {"a line further on", "PROPERTY A {\n CONDITION: T\n   > (1;\n SEVERITY: 3; }",
     "p.asl:3:6: unmatched '('; ')' is missing|p.asl:1:10: the property A has no CONDITION"},
    {"an unknown id", "PROPERTY A { CONDITION: (x) T > 1; SEVERITY: (y) -> 3; }",
     "p.asl:1:47: no condition is named 'y'|p.asl:1:10: the property A has no SEVERITY, in percent of the run"},
    {"a brace too many, before what has an error", "}\nPROPERTY A { CONDITION: T > 1; }",
     "p.asl:1:1: expected PROPERTY, HYPOTHESIS, METAPROPERTY, METRIC, TABLE or LET, not '}'|p.asl:2:10: the property A "
     "has no SEVERITY, in percent of the run"},
    {"an open comment", "PROPERTY A { CONDITION: T > 1; SEVERITY: 3; } /* x",
     "p.asl:1:47: this comment is not closed; '*/' is missing"},
    {"an open quote", "PROPERTY A { TITLE: \"x; }",
     "p.asl:1:21: the quote \" is not closed|p.asl:1:26: expected ';' after TITLE, not 'the end of the "
     "file'|p.asl:1:26: expected '}' after the last part of a property, not 'the end of the file'"},
    {"an open brace in a text", "PROPERTY A { CONDITION: T > 1; SEVERITY: 3; TITLE: \"{place\"; }",
     "p.asl:1:52: '{' in a text is not closed"},
    {"a formula in a text", "PROPERTY A { CONDITION: T > 1; SEVERITY: 3; TITLE: \"{T + }\"; }",
     "p.asl:1:52: missing operand after '+'; expected a number, the name of a metric or '('"},
    {"two of one name", "PROPERTY A { CONDITION: T > 1; SEVERITY: 3; }\nPROPERTY A { CONDITION: T > 1; SEVERITY: 3; }",
     "p.asl:2:10: the property A is already defined at p.asl:1"},
    {"a definition twice", "LET x = 1;\nPROPERTY A { LET x = 2; CONDITION: T > x; SEVERITY: 3; }",
     "p.asl:2:18: the function 'x' already exists"},
    {"no kind", "PROPERTY A { FOR LOOPS; CONDITION: T > 1; SEVERITY: 3; }",
     "p.asl:1:18: unknown kind of place 'LOOPS'; available: PROGRAM, MODULE, FILE, PROCEDURE, INLINE, LOOP, INNERMOST, "
     "LINE, PATH, ROWS OF a table"},
    {"a parent that is not there", "PROPERTY Misses { REFINES: Mises; CONDITION: T > 1; SEVERITY: 3; }",
     "p.asl:1:28: no property 'Mises' to refine; did you mean Misses?"},
    {"a circle of refinement",
     "PROPERTY A { REFINES: B; CONDITION: T > 1; SEVERITY: 3; }\nPROPERTY B { REFINES: A; CONDITION: T > 1; SEVERITY: "
     "3; }",
     "p.asl:1:23: A refines itself, through B"},
    {"a circle of meta properties",
     "METAPROPERTY A { CONDITION: B; SEVERITY: 3; }\nMETAPROPERTY B { CONDITION: A; SEVERITY: 3; }",
     "p.asl:1:14: A is defined in terms of itself|p.asl:2:14: B is defined in terms of itself"},
    {"a template that is not there", "PROPERTY A = Over<T>;", "p.asl:1:14: no template 'Over' is defined before this"},
    {"arguments that are too few",
     "PROPERTY TEMPLATE Over<M, L> { CONDITION: M > L; SEVERITY: M; } PROPERTY A = Over<T>;",
     "p.asl:1:78: the template Over has 2 parameters, not 1"},
    {"severity in words", "PROPERTY A { CONDITION: T > 1; SEVERITY: ; }",
     "p.asl:1:42: empty formula; expected a number, the name of a metric or '('|p.asl:1:10: the property A has no "
     "SEVERITY, in percent of the run"},
};

static void check_cases(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *said = problems_of(cases[i].text);
        tap_str(said, cases[i].said, cases[i].name, __FILE__, __LINE__);
        mem_free(said);
    }
}

/* Words of all templates that are written out count together. */
static void check_many_words(void)
{
    enum { TIMES = 1024 };
    for (unsigned more = 0; more < 2; more++) {
        struct buf text = {0};
        buf_str(&text, "PROPERTY TEMPLATE Long<A> { TITLE: ");
        for (int i = 0; i < TIMES; i++)
            buf_str(&text, "A ");
        buf_str(&text, "; }\n");
        for (unsigned n = 0; n < 4 + more; n++) {
            buf_printf(&text, "PROPERTY P%u = Long<", n);
            for (int i = 0; i < TIMES; i++)
                buf_str(&text, "0 ");
            buf_str(&text, ">;\n");
        }
        char *said = problems_of(text.bytes);
        CHECK_INT(strstr(said, "p.asl:6:15: expanded templates have more than 4194304 words") != NULL, more);
        mem_free(said);
        buf_release(&text);
    }
}

static void count_operands(void *ctx, const struct expr *e)
{
    *(size_t *)ctx += expr_name_count(e);
}

static void check_contents(void)
{
    struct warnings *problems = warnings_create();
    struct properties *p = read_text(
        "METRIC time = \"perf::TASK-CLOCK\" | CPUTIME; TABLE evictors FROM \"simulate\"; LET half = time / 2;"
        "PROPERTY A (LOOP l) { LET x = half * 2; CONDITION: (a) imbalance(x1 over threads) > 1 OR (b) x > max(time "
        "over "
        "ranks);"
        "CONFIDENCE: 0.5; SEVERITY: MAX((a) -> 1, 2, (b) -> 3); WHERE name IS \"f*\" AND module IS NOT \"g\"; TOGETHER;"
        "NEEDS: time; TITLE: \"a {place} b {time / 2:%}\" \"c\"; }"
        "PROPERTY B { REFINES A; FOR PATH, LINE; CONDITION: 1; SEVERITY: 3; }",
        problems);
    CHECK_INT(warnings_count(problems), 0);
    CHECK_INT(properties_count(p), 2);
    if (properties_count(p) == 2) {
        const struct property *a = p->list.items[0], *b = p->list.items[1];
        size_t operands = 0;
        CHECK_INT(a->kinds, 1 << PLACE_LOOP);
        CHECK_INT(a->conditions.count, 2);
        CHECK_STR(a->conditions.items[1].id, "b");
        CHECK_INT(a->severities.count, 3);
        CHECK(a->severities.items[1].condition == NONE && a->severities.items[2].condition == 1);
        CHECK(a->filters.count == 2 && !a->filters.items[0].not &&a->filters.items[1].not );
        CHECK(a->together && a->needs.count == 1);
        CHECK_INT(a->title.count, 5);
        CHECK_STR(a->title.items[3].format, "%");
        CHECK_STR(a->title.items[4].literal, " c");
        property_each_expr(a, count_operands, &operands);
        CHECK_INT(operands, 3); /* imbalance; time, referenced by x and half, and max */
        CHECK_INT(b->refines, 0);
        CHECK_INT(b->kinds, FOR_PATH | 1 << PLACE_LINE);
    }
    const char *const *statistics = properties_statistics(p);
    CHECK_STR(statistics[0], "imbalance(x1 over threads)");
    CHECK_STR(statistics[1], "max(\"perf::TASK-CLOCK\" over ranks)");
    CHECK_STR(statistics[2], "max(CPUTIME over ranks)");
    CHECK(statistics[3] == NULL);
    CHECK_STR(properties_table_maker(p, "evictors"), "simulate");
    properties_free(p);
    warnings_free(problems);
}

int main(void)
{
    check_file();
    check_cases();
    check_many_words();
    check_contents();
    return tap_done();
}
