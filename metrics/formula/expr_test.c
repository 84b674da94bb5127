/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas: values, missing values, and error messages. */
#include "metrics/formula/expr_int.h"
#include "metrics/formula/formula.h"
#include "tests/cases.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    const char *text;
    double want; /* with A = 10, B = 4, perf::TASK-CLOCK = 100, NONE missing, ZERO = 0 */
} values[] = {
    {"1", 1},
    {"A", 10},
    {"A - B", 6},
    {"A - B - 1", 5},
    {"A - (B - 1)", 7},
    {"A / B / 2", 1.25},
    {"A + B * 2", 18},
    {"(A + B) * 2", 28},
    {"-A + B", -6},
    {"--A", 10},
    {"+A", 10},
    {"A - -B", 14},
    {"2 ^ 3 ^ 2", 512},
    {"-2 ^ 2", -4},
    {"2 ^ -1", 0.5},
    {"2 ^ -1 * 4", 2},
    {"2 ^ -3 ^ 2", 1.0 / 512},
    {"A * -B", -40},
    {"min(A, B, 7)", 4},
    {"max(A, B * 5, 7)", 20},
    {"sum(A, B, -1)", 13},
    {"min(A)", 10},
    {"max(min(A, B), sum(1, 2)) + 1", 5},
    {"min (A, B)", 4},
    {"min + 1", 1001}, /* a metric may have the name of a function */
    {"'min' + 1", 1001},
    {"\"perf::TASK-CLOCK\" / A", 10},
    {"'perf::TASK-CLOCK' / A", 10},
    {"\"say \\\"hi\\\"\"", 7},
    {"p::q.r", 8},
    {"1.5e2", 150},
    {".5", 0.5},
    {"1e-1 * A", 1},
    {"  A\t/ B ", 2.5},
    /* missing stays missing, and zero is not missing */
    {"A + NONE", NAN},
    {"NONE * 0", NAN},
    {"NONE ^ 0", NAN},
    {"1 ^ NONE", NAN},
    {"min(A, NONE)", NAN},
    {"max(NONE, A)", NAN},
    {"sum(A, NONE)", NAN},
    {"-NONE", NAN},
    {"A + ZERO", 10},
    {"A / ZERO", NAN},
    {"ZERO / ZERO", NAN},
    {"ZERO ^ -1", NAN},
    {"(0 - 8) ^ 0.5", NAN},
    {"1e300 * 1e300", NAN},
    {"1 / (1e300 * 1e300)", NAN},
    {"sum(1e308, 1e308)", NAN},
};

static double value_of(const char *name)
{
    static const struct {
        const char *name;
        double value;
    } known[] = {{"A", 10},     {"B", 4},   {"perf::TASK-CLOCK", 100}, {"min", 1000}, {"say \"hi\"", 7},
                 {"p::q.r", 8}, {"ZERO", 0}};
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].value;
    return NAN;
}

static double evaluate(const struct expr *e)
{
    double given[8];
    for (size_t i = 0; i < expr_name_count(e); i++)
        given[i] = value_of(expr_name(e, i));
    return expr_eval(e, given);
}

/* ---- the cases that C and the page share ------------------------------------------------------- */

static const char *own_name(void *ctx, size_t operand)
{
    return expr_name(ctx, operand);
}

/* A printed formula parses as the same formula: used for every shared case without runs and statistics. */
static bool writes_itself(const struct expr *e)
{
    struct buf text = {0}, again = {0};
    struct expr *read = NULL;
    expr_write(e, &text, own_name, (void *)e);
    bool same = expr_parse(text.bytes, "T", &read, NULL) == 0;
    if (same)
        expr_write(read, &again, own_name, read);
    same = same && strcmp(text.bytes, again.bytes) == 0;
    if (!same)
        printf("# %s\n# %s\n", text.bytes, again.bytes ? again.bytes : "cannot be read");
    expr_free(read);
    buf_release(&text);
    buf_release(&again);
    return same;
}

struct known {
    char *name;
    double value;
};

static double number_of(const char *text)
{
    return strncmp(text, "missing", 7) == 0 ? NAN : strtod(text, NULL);
}

/* pow, exp and log are not rounded alike everywhere. */
static bool about_equal(double got, double want)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    return got == want || fabs(got - want) <= 1e-12 * fabs(want);
}

enum { COPIES = 700 }; /* of every place, so that a column has more than one block */

static bool case_holds(const struct known *known, size_t known_count, const char *formula, double want)
{
    struct expr *e = NULL;
    struct err err = {0};
    struct buf name = {0};
    if (expr_parse(formula, "T", &e, &err) < 0) {
        printf("# %s: %s\n", formula, err.msg);
        return false;
    }
    size_t n = expr_name_count(e);
    double *cells = mem_calloc(n * COPIES + 1, sizeof *cells), *out = mem_calloc(COPIES, sizeof *out);
    const double **operands = mem_calloc(n + 1, sizeof *operands);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        name.len = 0;
        expr_operand_text(expr_operand(e, i), &name);
        while (k < known_count && strcmp(known[k].name, name.bytes) != 0)
            k++;
        if (k == known_count)
            printf("# %s: '%s' is not in the table\n", formula, name.bytes);
        for (size_t c = 0; c < COPIES; c++)
            cells[i * COPIES + c] = k < known_count && c % 7 != 3 ? known[k].value : NAN;
        operands[i] = cells + i * COPIES;
    }
    expr_eval_columns(e, operands, COPIES, out);
    bool holds = about_equal(out[0], want) && about_equal(out[COPIES - 1], want);
    if (!holds)
        printf("# %s: got %.17g and %.17g, wanted %.17g\n", formula, out[0], out[COPIES - 1], want);
    for (size_t i = 0; i < n; i++)
        cells[i] = cells[i * COPIES];
    holds = holds && about_equal(expr_eval(e, cells), want) && writes_itself(e);
    buf_release(&name);
    mem_free(cells);
    mem_free(out);
    mem_free(operands);
    expr_free(e);
    return holds;
}

static void test_shared_cases(void)
{
    const char *top = getenv("top_srcdir");
    char *path = path_join(top ? top : ".", "tests/formulas/cases.txt"), line[1024];
    FILE *f = fopen(path, "r");
    struct VEC(struct known) known = {0};
    size_t cases = 0, wrong = 0;
    while (f && fgets(line, sizeof line, f)) {
        char *tab = strchr(line, '\t'), *end = strchr(line, '\n');
        if (*line == '#' || !tab || !end)
            continue;
        *end = '\0';
        if (strncmp(line, "name\t", 5) == 0)
            *vec_push(&known) = (struct known){mem_strdup(strchr(tab + 1, '\t') + 1), number_of(tab + 1)};
        else {
            cases++;
            wrong += !case_holds(known.items, known.count, tab + 1, number_of(line));
        }
    }
    if (f)
        fclose(f);
    CHECK_NAMED(cases >= 3000, "thousands of shared cases");
    CHECK_INT(wrong, 0);
    for (size_t i = 0; i < known.count; i++)
        mem_free(known.items[i].name);
    vec_release(&known);
    mem_free(path);
}

/* tests/formulas/messages.txt: the page's parser gives the same sentences. */
static void test_shared_messages(void)
{
    const char *top = getenv("top_srcdir");
    char *path = path_join(top ? top : ".", "tests/formulas/messages.txt"), line[1024];
    FILE *f = fopen(path, "r");
    size_t cases = 0;
    while (f && fgets(line, sizeof line, f)) {
        char *tab = strchr(line, '\t'), *end = strchr(line, '\n'), want[1024];
        struct expr *e = NULL;
        struct err err = {0};
        if (*line == '#' || !tab || !end)
            continue;
        *tab = *end = '\0';
        snprintf(want, sizeof want, "x: %s", tab + 1);
        cases++;
        CHECK_INT(expr_parse(line, "x", &e, &err), -1);
        CHECK_STR(err.msg, want);
        expr_free(e);
    }
    if (f)
        fclose(f);
    CHECK(cases > 40);
    mem_free(path);
}

/* ---- functions of the user's ---------------------------------------------------------------------- */

static void test_functions(void)
{
    static const struct {
        const char *name, *parameters, *formula, *want;
    } defined[] = {
        {"ratio", "a b", "a / b", NULL},
        {"percent", "part, whole", "100 * ratio(part, whole)", NULL},
        {"twice", "x", "x + x", NULL},
        {"rate", "x", "x / \"perf::TASK-CLOCK\"", NULL},
        {"ratio", "x", "x", "T: the function 'ratio' already exists"},
        {"sqrt", "x", "x", "T: the function 'sqrt' already exists"},
        {"total", "x", "x", "T: the function 'total' already exists"},
        {"a-b", "x", "x", "T: 'a-b' is not a valid function name: letters, digits and '_'"},
        {"f", "", "1", "T: a function has at least one parameter"},
        {"f", "a 2", "1", "T: 'a 2' is not a list of parameters: names separated by blanks or commas"},
        {"f", "a", "g(a)",
         "T: character 1 of the formula: unknown function 'g'; available: min, max, sum, mean, sqrt, log, exp, abs, "
         "floor, ceil, round, if, or"},
        {"f", "a", "f(a)",
         "T: character 1 of the formula: unknown function 'f'; available: min, max, sum, mean, sqrt, log, exp, abs, "
         "floor, ceil, round, if, or"},
    };
    static const struct {
        const char *text;
        double want;
    } calls[] = {{"ratio(A, B)", 2.5},
                 {"percent(B, A) + 1", 41},
                 {"twice(A - B) * 2", 24},
                 {"twice(twice(A))", 40},
                 {"ratio(B + 1, ratio(A, 2))", 1},
                 {"rate(A)", 0.1},
                 {"-twice(max(A, B, 3)) ^ 2", -400},
                 {"if(A > B, twice(A), NONE)", 20}};
    struct expr_functions list = {0};
    for (size_t i = 0; i < ARRAY_SIZE(defined); i++) {
        struct err err = {0};
        int status = expr_functions_add(&list, defined[i].name, defined[i].parameters, defined[i].formula, "T", &err);
        CHECK_INT(status, defined[i].want ? -1 : 0);
        if (defined[i].want)
            CHECK_STR(err.msg, defined[i].want);
    }
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        struct expr *e = NULL;
        struct err err = {0};
        bool parsed = expr_parse_with(calls[i].text, "T", &list, &e, &err) == 0;
        if (!CHECK_NAMED(parsed && about_equal(evaluate(e), calls[i].want), calls[i].text))
            printf("# %s\n", err.msg);
        expr_free(e);
    }
    struct expr *e = NULL;
    struct err err = {0};
    CHECK_INT(expr_parse_with("ratio(A)", "T", &list, &e, &err), -1);
    CHECK_STR(err.msg, "T: character 1 of the formula: ratio takes 2 operands, not 1");
    CHECK_INT(expr_functions_add(&list, "big0", "x", "twice(twice(twice(twice(x))))", "T", &err), 0);
    CHECK_INT(expr_functions_add(&list, "big1", "x", "big0(big0(big0(x)))", "T", &err), 0);
    CHECK_INT(expr_functions_add(&list, "big2", "x", "big1(big1(x))", "T", &err), -1);
    CHECK_STR(err.msg, "T: the formula with expanded functions has more than 65536 steps");
    expr_functions_release(&list);
}

static void test_times(void)
{
    static const struct {
        const char *text, *unit_a, *unit_b;
        double want;
    } cases[] = {
        {"A > 5ns", "ns", "", 1},   {"A / 1us", "ns", "", 0.01},
        {"A / 1us", "us", "", 10},  {"10ms", "ns", "", 0.01},
        {"A + 1ms", "ms", "", 11},  {"A + B + 1s", "s", "s", 15},
        {"A + 1k", "ns", "", 1010}, {"A + B * 1ms", "cycles", "ns", 4000010},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct expr *e = NULL;
        struct err err = {0};
        const char *units[] = {cases[i].unit_a, cases[i].unit_b};
        expr_parse(cases[i].text, "T", &e, &err);
        CHECK_INT(expr_bind_units(e, units, "T", &err), 0);
        CHECK_NAMED(about_equal(evaluate(e), cases[i].want), cases[i].text);
        expr_free(e);
    }
    struct expr *e = NULL;
    struct err err = {0};
    expr_parse("A + B + 1ms", "T", &e, &err);
    CHECK_INT(expr_bind_units(e, (const char *[]){"ns", "us"}, "T", &err), -1);
    CHECK_STR(err.msg, "T: a time is combined with values in ns and in us; write it as a number in the intended unit");
    expr_free(e);
}

static const char *prefixed(void *ctx, size_t operand)
{
    static char text[64];
    snprintf(text, sizeof text, "g.%s", expr_name(ctx, operand));
    return text;
}

static void test_writing(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"A+B", "g.A + g.B"},
        {"1e6 * A", "1000000 * g.A"},
        {"4k * 10ms + .5 * 5%", "4000 * 0.01 + 0.5 * 0.05"},
        {"max(A, 'b-c')", "max(g.A, \"g.b-c\")"},
        {"A and not B or 3", "g.A and not g.B or 3"},
        {"A and (not B or 3)", "g.A and (not g.B or 3)"},
        {"mean(A over threads)", "g.A"},
        {"total(exclusive(A))", "total(exclusive(g.A))"},
        {"share(A)", "g.A / total(g.A)"},
        {"run(x).A", "g.A"},
        {"A - (B - 1) - 2", "g.A - (g.B - 1) - 2"},
        {"(A - B) * -(2 ^ 3) ^ -A ^ 2", "(g.A - g.B) * -(2^3)^-g.A^2"},
        {"-(A + B)", "-(g.A + g.B)"},
        {"(A < B) == (B < A)", "(g.A < g.B) == (g.B < g.A)"},
        {"if(A or B, or(A, 0), 1)", "if(g.A or g.B, or(g.A, 0), 1)"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf b = {0};
        struct expr *e = NULL;
        struct err err = {0};
        CHECK_INT(expr_parse(cases[i].text, "T", &e, &err), 0);
        expr_write(e, &b, prefixed, e);
        CHECK_STR(b.bytes, cases[i].want);
        buf_release(&b);
        expr_free(e);
    }
}

static void test_values(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        struct expr *e;
        struct err err = {0};
        if (!CHECK_NAMED(expr_parse(values[i].text, "T", &e, &err) == 0, values[i].text)) {
            printf("# %s\n", err.msg);
            continue;
        }
        double got = evaluate(e);
        bool same = isnan(values[i].want) ? isnan(got) : got == values[i].want;
        if (!CHECK_NAMED(same, "value"))
            printf("# %s: got %.17g, wanted %.17g\n", values[i].text, got, values[i].want);
        expr_free(e);
    }
}

#define NUMBERS                                                                                                        \
    " (optionally followed by k, M, G, T, Ki, Mi, Gi, m, u, n, s, B, Hz or %); quote a metric name that begins with "  \
    "a "                                                                                                               \
    "digit"
#define REFERENCE "expected the name of a metric, as in total(M), run(NAME).M or mean(M over threads)"
static const struct {
    const char *text, *want;
} errors[] = {
    {"", "T: character 1 of the formula: empty formula; expected a number, the name of a metric or '('"},
    {"  ", "T: character 3 of the formula: empty formula; expected a number, the name of a metric or '('"},
    {"CYC /",
     "T: character 6 of the formula: missing operand after '/'; expected a number, the name of a metric or '('"},
    {"CYC / * 2", "T: character 7 of the formula: unexpected '*'; expected a number, the name of a metric or '('"},
    {"CYC INS",
     "T: character 5 of the formula: unexpected 'I' after 'CYC'; expected one of + - * / ^ < <= == != >= > and or"},
    {"CYC % 2",
     "T: character 5 of the formula: unexpected '%' after 'CYC'; expected one of + - * / ^ < <= == != >= > and or"},
    {"2 CYC",
     "T: character 3 of the formula: unexpected 'C' after '2'; expected one of + - * / ^ < <= == != >= > and or"},
    {"(A + B", "T: character 1 of the formula: unmatched '('; ')' is missing"},
    {"A + (B", "T: character 5 of the formula: unmatched '('; ')' is missing"},
    {"A + B)", "T: character 6 of the formula: unmatched ')'"},
    {"()", "T: character 2 of the formula: unexpected ')'; expected a number, the name of a metric or '('"},
    {"min()", "T: character 5 of the formula: unexpected ')'; expected a number, the name of a metric or '('"},
    {"min(A,)", "T: character 7 of the formula: unexpected ')'; expected a number, the name of a metric or '('"},
    {"A, B", "T: character 2 of the formula: ',' is only allowed between operands of a function"},
    {"(A, B)", "T: character 3 of the formula: ',' is only allowed between operands of a function"},
    {"avg(A, B)", "T: character 1 of the formula: unknown function 'avg'; available: min, max, sum, mean, sqrt, log, "
                  "exp, abs, floor, ceil, round, if, or"},
    {"\"A", "T: character 1 of the formula: the quote \" is not closed"},
    {"'A\\'", "T: character 1 of the formula: the quote ' is not closed"},
    {"\"\"", "T: character 1 of the formula: a name in quotes is empty"},
    {"A + NEW.\"B", "T: character 9 of the formula: the quote \" is not closed"},
    {"'a run'.'B' C", "T: character 13 of the formula: unexpected 'C' after ''a run'.'B''; expected one of + - * / ^ < "
                      "<= == != >= > and or"},
    {"1.2.3", "T: character 1 of the formula: '1.2.3' is not a number" NUMBERS},
    {"2x", "T: character 1 of the formula: '2x' is not a number" NUMBERS},
    {"2kx", "T: character 1 of the formula: '2kx' is not a number" NUMBERS},
    {"2kk", "T: character 1 of the formula: '2kk' is not a number" NUMBERS},
    {"5%%", "T: character 1 of the formula: '5%%' is not a number" NUMBERS},
    {"1e300P", "T: character 1 of the formula: the number 1e300P is too large"},
    {"A < B < 3", "T: character 7 of the formula: comparisons do not chain; write A < B and B < C"},
    {"A < B + 1 == 3", "T: character 11 of the formula: comparisons do not chain; write A < B and B < C"},
    {"A + not B",
     "T: character 5 of the formula: 'not' has lower precedence than the preceding operator; put it in parentheses"},
    {"and", "T: character 1 of the formula: unexpected 'and'; quote it if it is the name of a metric"},
    {"A and",
     "T: character 6 of the formula: missing operand after 'and'; expected a number, the name of a metric or '('"},
    {"sqrt(A, B)", "T: character 1 of the formula: sqrt takes 1 operand, not 2"},
    {"2 * if(A, B)", "T: character 5 of the formula: if takes 3 operands, not 2"},
    {"if(A, B, A, B)", "T: character 1 of the formula: if takes 3 operands, not 4"},
    {"roun(A)", "T: character 1 of the formula: unknown function 'roun'; did you mean round?"},
    {"totl(A)", "T: character 1 of the formula: unknown function 'totl'; did you mean total?"},
    {"total(A + B)", "T: character 9 of the formula: ')' is missing; only a metric name is allowed here"},
    {"total(3)", "T: character 7 of the formula: " REFERENCE},
    {"total()", "T: character 7 of the formula: " REFERENCE},
    {"total(total(A))", "T: character 7 of the formula: " REFERENCE},
    {"share(share(A))", "T: character 7 of the formula: " REFERENCE},
    {"run(x)", "T: character 1 of the formula: " REFERENCE},
    {"run(x).", "T: character 1 of the formula: " REFERENCE},
    {"run().A", "T: character 1 of the formula: " REFERENCE},
    {"mean(A over)", "T: character 12 of the formula: statistics are over threads, ranks or repetitions"},
    {"mean(A over cores)", "T: character 13 of the formula: statistics are over threads, ranks or repetitions"},
    {"total(A over threads)",
     "T: character 14 of the formula: 'over' is only allowed in a statistic, as in mean(M over threads)"},
    {"stddev(A)", "T: character 1 of the formula: 'over' is missing, as in stddev(M over threads)"},
    {"1 + count ( A )", "T: character 5 of the formula: 'over' is missing, as in count(M over threads)"},
    {"mean(A over threads", "T: character 20 of the formula: ')' is missing; only a metric name is allowed here"},
    {"1e999", "T: character 1 of the formula: the number 1e999 is too large"},
    {"\xc3\xa4 + \xe2\x82\xac \xe2\x82\xac", "T: character 7 of the formula: unexpected '\xe2\x82\xac' after "
                                             "'\xe2\x82\xac'; expected one of + - * / ^ < <= == != >= > and or"},
    {"A = B",
     "T: character 3 of the formula: unexpected '=' after 'A'; expected one of + - * / ^ < <= == != >= > and or"},
    {"\xff\xfe", NULL},
    {"A \x01", NULL},
};

static void test_errors(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
        struct expr *e = NULL;
        struct err err = {0};
        int status = expr_parse(errors[i].text, "T", &e, &err);
        if (errors[i].want) {
            CHECK_INT(status, -1);
            CHECK_STR(err.msg, errors[i].want);
        }
        expr_free(e);
    }
}

static char *repeated(const char *what, size_t n)
{
    struct buf b = {0};
    while (n--)
        buf_str(&b, what);
    return b.bytes;
}

static void test_limits(void)
{
    static const char *const parts[] = {"(", "-", "min(", "A^", "A+(", "+"};
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        struct expr *e = NULL;
        struct err err = {0};
        char *text = repeated(parts[i], 20000);
        CHECK_NAMED(expr_parse(text, "T", &e, &err) < 0 && err.msg[0], parts[i]);
        CHECK_NAMED(strlen(err.msg) < 200, "the sentence stays short");
        mem_free(text);
    }
    /* long but flat is fine */
    char *text = repeated("A - B + ", 5000);
    struct buf b = {0};
    buf_str(&b, text);
    buf_str(&b, "1");
    struct expr *e = NULL;
    struct err err = {0};
    CHECK_INT(expr_parse(b.bytes, "T", &e, &err), 0);
    CHECK(evaluate(e) == 30001);
    CHECK_INT(expr_name_count(e), 2);
    expr_free(e);
    buf_release(&b);
    mem_free(text);
    text = repeated("A + ", 30000);
    CHECK(expr_parse(text, "T", &e, &err) < 0);
    CHECK_INT(err.kind, ERR_LIMIT);
    mem_free(text);
}

/* ---- step limits, and one more ------------------------------------------------------------------------- */

static void byte_of(void *ctx, size_t offset, struct buf *out)
{
    buf_printf(out, "%s, byte %zu", (const char *)ctx, offset);
}

static size_t steps_of(const struct expr_functions *functions, const char *text, struct err *err)
{
    static char place[] = "T";
    struct expr_input in = {.text = text, .what = "T", .functions = functions, .where = byte_of, .ctx = place};
    struct expr *e = NULL;
    *err = (struct err){0};
    if (expr_parse_input(&in, &e, err) < 0)
        return 0;
    size_t n = e->steps.count;
    expr_free(e);
    return n;
}

/* A formula of n steps: d0(A) has one, d1(A) three, d2(A) seven and so on; a sum of two has one more. */
static char *formula_of(size_t n)
{
    struct buf b = {0};
    size_t rest = n % 2 ? n + 1 : n;
    buf_str(&b, n % 2 ? "(" : "-(");
    for (unsigned bit = 1; bit < 20; bit++)
        if (rest >> bit & 1)
            buf_printf(&b, "%sd%u(A)", b.bytes[b.len - 1] == '(' ? "" : " + ", bit - 1);
    buf_str(&b, ")");
    return b.bytes;
}

static char *with_formula(const char *text, size_t n)
{
    struct buf b = {0};
    char *formula = formula_of(n);
    for (; *text; text++)
        if (*text == '@')
            buf_str(&b, formula);
        else
            buf_char(&b, *text);
    buf_str(&b, "");
    mem_free(formula);
    return b.bytes;
}

static void check_steps(const struct expr_functions *functions, const char *text)
{
    struct err err;
    char *one = with_formula(text, 1), *three = with_formula(text, 3);
    size_t least = steps_of(functions, one, &err), each = (steps_of(functions, three, &err) - least) / 2, wrong = 0;
    for (size_t wanted = LIMIT_EXPR_BYTES - 6; wanted < LIMIT_EXPR_BYTES + 12; wanted++) {
        if (each == 0 || (wanted - least) % each)
            continue;
        char *formula = with_formula(text, (wanted - least) / each + 1);
        bool fits = wanted <= LIMIT_EXPR_BYTES;
        wrong += steps_of(functions, formula, &err) != (fits ? wanted : 0);
        wrong += err.kind != (fits ? ERR_NONE : ERR_LIMIT) || (!fits && !strstr(err.msg, "steps"));
        mem_free(formula);
    }
    if (!CHECK_NAMED(least && each && !wrong, text))
        printf("# %zu steps and %zu for each, %zu wrong: %s\n", least, each, wrong, err.msg);
    mem_free(one);
    mem_free(three);
}

/* Every prefix before every unit, and alone. */
static void test_suffixes(void)
{
    static const struct {
        const char *text;
        double factor;
    } prefixes[] = {{"", 1},       {"k", 1e3},   {"M", 1e6},          {"G", 1e9},
                    {"T", 1e12},   {"P", 1e15},  {"m", 1e-3},         {"u", 1e-6},
                    {"n", 1e-9},   {"Ki", 1024}, {"Mi", 1024 * 1024}, {"Gi", 1024.0 * 1024 * 1024},
                    {"Ti", 0x1p40}};
    static const char *const units[] = {"", "s", "B", "Hz"}, *const none[] = {"i", "Pi", "Kix", "kk", "sB", "x", "Hzs"};
    struct err err = {0};
    struct expr *e = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
        for (size_t k = 0; k < ARRAY_SIZE(units); k++) {
            char *text = mem_printf("3%s%s", prefixes[i].text, units[k]);
            if (CHECK_NAMED(expr_parse(text, "T", &e, &err) == 0, text))
                CHECK(fabs(expr_eval(e, NULL) / (3 * prefixes[i].factor) - 1) < 1e-12);
            expr_free(e);
            e = NULL;
            mem_free(text);
        }
    for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
        char *text = mem_printf("3%s", none[i]);
        CHECK_NAMED(expr_parse(text, "T", &e, &err) < 0, none[i]);
        mem_free(text);
    }
}

/* The maximum number of pending values of a function or operator, and one more. */
static void test_waiting_values(void)
{
    static const struct {
        const char *last;
        size_t waiting;
    } cases[] = {{"A", 1},
                 {"1", 1},
                 {"-A", 1},
                 {"(A)", 1},
                 {"A + A", 2},
                 {"A ^ A ^ A", 3},
                 {"share(C)", 2},
                 {"A * share(C)", 3},
                 {"min(A, A, A)", 3},
                 {"total(C)", 1},
                 {"twice(A)", 2},
                 {"between(A, 1, 2)", 3}};
    struct expr_functions list = {0};
    struct err err = {0};
    CHECK_INT(expr_functions_add(&list, "twice", "x", "x + x", "f", &err), 0);
    CHECK_INT(expr_functions_add(&list, "between", "x, y, z", "x * 2 + y * z", "f", &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t n = LIMIT_EXPR_DEPTH - 4; n <= LIMIT_EXPR_DEPTH; n++) {
            char *before = repeated("A, ", (int)n), *text = mem_printf("max(%s%s)", before, cases[i].last);
            bool fits = n + cases[i].waiting <= LIMIT_EXPR_DEPTH;
            if (!CHECK_NAMED((steps_of(&list, text, &err) > 0) == fits && err.kind == (fits ? ERR_NONE : ERR_LIMIT),
                             cases[i].last))
                printf("# behind %zu: %s\n", n, err.msg);
            mem_free(before);
            mem_free(text);
        }
    expr_functions_release(&list);
}

/* The maximum number of parameters, each in its position. */
static void test_many_parameters(void)
{
    struct expr_functions list = {0};
    struct buf names = {0}, body = {0}, call = {0};
    struct err err = {0};
    double want = 0;
    for (unsigned i = 0; i < LIMIT_EXPR_PARAMETERS; i++) {
        buf_printf(&names, "%sp%u", i ? ", " : "", i);
        buf_printf(&body, "%s%u * p%u", i ? " + " : "", i * i + 1, i);
        buf_printf(&call, "%s%u - A", i ? ", " : "f(", 3 * i);
        want += (i * i + 1) * (3.0 * i - 7);
    }
    buf_str(&call, ")");
    CHECK_INT(expr_functions_add(&list, "f", names.bytes, body.bytes, "f", &err), 0);
    static char place[] = "T";
    struct expr_input in = {.text = call.bytes, .what = "T", .functions = &list, .where = byte_of, .ctx = place};
    struct expr *e = NULL;
    if (CHECK_INT(expr_parse_input(&in, &e, &err), 0))
        CHECK(expr_eval(e, (double[]){7}) == want);
    expr_free(e);
    expr_functions_release(&list);
    buf_release(&names);
    buf_release(&body);
    buf_release(&call);
}

static void test_steps(void)
{
    static const char *const texts[] = {"@",
                                        "A + @",
                                        "@ + A",
                                        "@ - A * A ^ A",
                                        "A < @",
                                        "(@) + A + A",
                                        "-(-(@))",
                                        "max(@, A)",
                                        "max(A + A, @ + A)",
                                        "sqrt(A + @)",
                                        "@ + share(C)",
                                        "twice(@)",
                                        "twice(A) + twice(@) + twice(A)",
                                        "between(A + A, @, A * A)",
                                        "if(A > A, @, A + A)",
                                        "if(@ < A, A, A + A)",
                                        "not (@ > A)",
                                        "A > @ and A > A or A > A"};
    struct expr_functions list = {0};
    struct err err = {0};
    CHECK_INT(expr_functions_add(&list, "d0", "x", "x", "f", &err), 0);
    for (unsigned i = 1; i < 16; i++) {
        char *name = mem_printf("d%u", i), *body = mem_printf("d%u(x) + d%u(x)", i - 1, i - 1);
        CHECK_INT(expr_functions_add(&list, name, "x", body, "f", &err), 0);
        mem_free(name);
        mem_free(body);
    }
    CHECK_INT(expr_functions_add(&list, "twice", "x", "x + x", "f", &err), 0);
    CHECK_INT(expr_functions_add(&list, "between", "x, y, z", "(y - x) / (z - x) + B", "f", &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        check_steps(&list, texts[i]);
    expr_functions_release(&list);
}

static const struct {
    const char *text;
    bool linear;
} shapes[] = {
    {"A - B", true},
    {"A / B", false},
    {"2 * A + B / 4", true},
    {"A * B", false},
    {"A + 1", false},
    {"3", false},
    {"min(A, B)", false},
    {"sum(A, B)", true},
    {"sum(A, 1)", false},
    {"-A", true},
    {"A ^ 2", false},
    {"or(A, 0)", true},
    {"or(A, 0) - or(B, 0)", true},
    {"or(A, 1)", false},
    {"or(0, A)", false},
    {"share(A)", true},
    {"A / total(B)", true},
    {"A * parent(A)", false},
    {"mean(A, B)", true},
    {"abs(A)", false},
    {"A > B", false},
    {"if(A, B, B)", false},
    {"max(A over threads)", false},
    {"sum(A over threads)", true},
    {"sqrt(4) * A", true},
    {"0 * 2 + A", false},
    {"100 * A / B", false},
    {"(1 + 2) * A", true},
    {"max(A)", true},
};

static void test_shapes(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        struct expr *e;
        struct err err = {0};
        expr_parse(shapes[i].text, "T", &e, &err);
        CHECK_NAMED(e && expr_is_linear(e) == shapes[i].linear, shapes[i].text);
        expr_free(e);
    }
}

static void test_definitions(void)
{
    static const struct {
        const char *text, *name, *formula;
    } cases[] = {
        {"STALL = A - B", "STALL", "A - B"},
        {"STALL=A", "STALL", "A"},
        {" 'a b' =1", "a b", "1"},
        {"A - B", NULL, NULL},
        {"= A", NULL, NULL},
        {"\"\" = A", NULL, NULL},
        {"'x = 1", NULL, NULL},
        {"", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *name;
        const char *formula = NULL;
        struct err err = {0};
        int status = expr_split_definition(cases[i].text, &name, &formula, &err);
        CHECK_INT(status, cases[i].name ? 0 : -1);
        if (cases[i].name) {
            CHECK_STR(name, cases[i].name);
            CHECK_STR(formula, cases[i].formula);
        } else
            CHECK(err.msg[0] != '\0');
        mem_free(name);
    }
    struct buf b = {0};
    expr_quote_name(&b, "a::b");
    buf_char(&b, ' ');
    expr_quote_name(&b, "a-\"b\\");
    CHECK_STR(b.bytes, "a::b \"a-\\\"b\\\\\"");
    buf_release(&b);
}

/* Formulas embedded in another language: errors have the right position, and a named formula acts as if it were written
   in place. */
static void test_inputs(void)
{
    static const struct {
        const char *text, *want;
    } wrong[] = {
        {"A + * B", "in it, byte 4: "}, {"A )", "in it, byte 2: "},       {"f(A", "in it, byte 0: "},
        {"1, 2", "in it, byte 1: "},    {"min()", "in it, byte 4: "},     {"half + other(1)", "in it, byte 7: "},
        {"", "in it, byte 0: "},        {"half half", "in it, byte 5: "}, {"sqrt(1, 2)", "in it, byte "},
    };
    static char place[] = "in it";
    struct expr_functions list = {0};
    struct err err = {0};
    struct expr_input in = {.text = "A / 2", .what = "T", .functions = &list, .where = byte_of, .ctx = place};
    CHECK_INT(expr_define(&list, "half", &in, &err), 0);
    in.text = "half + 1";
    CHECK_INT(expr_define(&list, "more", &in, &err), 0);
    CHECK_INT(expr_define(&list, "more", &in, &err), -1);
    in.text = "half + ";
    CHECK_INT(expr_define(&list, "none", &in, &err), -1);
    CHECK_INT(list.count, 2);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct expr *e = NULL;
        in.text = wrong[i].text;
        CHECK_INT(expr_parse_input(&in, &e, &err), -1);
        if (!CHECK_NAMED(str_starts(err.msg, wrong[i].want), wrong[i].text))
            printf("# %s\n", err.msg);
    }
    struct expr *e = NULL;
    in.text = "more * half + A";
    if (CHECK_INT(expr_parse_input(&in, &e, &err), 0)) {
        CHECK_INT(expr_name_count(e), 1);
        CHECK(expr_eval(e, (double[]){6}) == 4 * 3 + 6);
        expr_free(e);
    }
    expr_functions_truncate(&list, 1);
    in.text = "more";
    if (CHECK_INT(expr_parse_input(&in, &e, &err), 0)) { /* a metric's name again */
        CHECK_STR(expr_name(e, 0), "more");
        expr_free(e);
    }
    expr_functions_release(&list);
}

/* Names of statistics are accepted as written; similar names are rejected. */
static void test_statistic_names(void)
{
    static const char *const none[] = {"",
                                       "mean",
                                       "mean(C)",
                                       "mean(C over thread)",
                                       "mean( over threads)",
                                       "mean(\"\" over threads)",
                                       "mean(C over threads",
                                       "mean(C over threads) ",
                                       "means(C over threads)",
                                       "mea(C over threads)",
                                       "(C over threads)",
                                       "sum(C over threads)",
                                       "mean C over threads)",
                                       "mean(C  over threads+)"};
    static const char *const names[] = {"C",      "a.C",       "a b", "say \"hi\"", "\\", "\"", "a over threads",
                                        "x\\\"y", "perf::A-B", "(",   ")"};
    enum statistic which;
    enum statistic_over over;
    struct buf metric = {0};
    for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
        metric.len = 0;
        CHECK_NAMED(!statistic_parse(none[i], &which, &metric, &over), none[i]);
    }
    size_t wrong = 0;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        for (enum statistic s = STAT_MEAN; s < STATISTICS; s++)
            for (enum statistic_over o = STAT_THREADS; o <= STAT_REPETITIONS; o++) {
                struct buf name = {0};
                statistic_name(&name, s, names[i], o);
                metric.len = 0;
                wrong += !statistic_parse(name.bytes, &which, &metric, &over) || which != s || over != o ||
                         strcmp(metric.bytes, names[i]) != 0;
                buf_release(&name);
            }
    CHECK_INT(wrong, 0);
    metric.len = 0;
    CHECK(statistic_parse("max(\"C over ranks)", &which, &metric, &over) && strcmp(metric.bytes, "\"C") == 0);
    metric.len = 0;
    CHECK(statistic_parse("max(C\" over ranks)", &which, &metric, &over) && strcmp(metric.bytes, "C\"") == 0);
    metric.len = 0;
    CHECK(statistic_parse("max(\" over ranks)", &which, &metric, &over) && strcmp(metric.bytes, "\"") == 0);
    metric.len = 0;
    CHECK(statistic_parse("max(a\\b over ranks)", &which, &metric, &over) && strcmp(metric.bytes, "a\\b") == 0);
    metric.len = 0;
    CHECK(statistic_parse("max(\"ab\\\" over ranks)", &which, &metric, &over) && strcmp(metric.bytes, "ab\\") == 0);
    buf_release(&metric);
}

/* Any name can be written: in a formula, qualified by a run, and in a statistic; quotes are used only if necessary. */
static void test_drawn_names(void)
{
    static const char *const pieces[] = {"a", "Z", "_", "0", "9", ".", ":",        "::",   "-",   " ",   "\"",  "\\",
                                         "'", "(", ")", "+", ",", "%", "\xc3\xa9", "over", "min", "run", "not", "and"};
    size_t wrong = 0, bare = 0;
    for (int i = 0; i < 20000; i++) {
        struct buf name = {0}, quoted = {0}, text = {0};
        struct expr *e = NULL;
        for (uint32_t n = 1 + below(5); n > 0; n--)
            buf_str(&name, pieces[below(ARRAY_SIZE(pieces))]);
        expr_quote_name(&quoted, name.bytes);
        buf_printf(&text, "2 * total(mean(run(%s).%s over ranks)) - %s", quoted.bytes, quoted.bytes, quoted.bytes);
        bool fits = expr_parse(text.bytes, "T", &e, NULL) == 0 && expr_name_count(e) == 2;
        for (size_t k = 0; fits && k < 2; k++) {
            const struct expr_operand *o = expr_operand(e, k);
            fits = strcmp(o->name, name.bytes) == 0 && strcmp(o->run, k ? "" : name.bytes) == 0 &&
                   o->at == (k ? EXPR_HERE : EXPR_AT_TOTAL) &&
                   o->statistic == (k ? EXPR_NO_STATISTIC : EXPR_STAT_MEAN) && (k || o->over == EXPR_RANKS);
        }
        bool is_bare = expr_is_bare_name(name.bytes);
        fits = fits && is_bare == (strcmp(quoted.bytes, name.bytes) == 0);
        if (!fits && wrong++ == 0)
            printf("# %s\n", text.bytes);
        bare += is_bare;
        expr_free(e);
        buf_release(&name);
        buf_release(&quoted);
        buf_release(&text);
    }
    CHECK_INT(wrong, 0);
    CHECK(bare > 2000);
}

/*
 * Messages about incomplete formulas: tests/formulas/unfinished.cases. A case has
 *
 *     functions     "NAME PARAMETERS = FORMULA", a line each
 *     formula
 *     cut           each prefix of it
 *     without       with each of its words removed
 *     twice         with each of its words duplicated
 *     with WORD     with the word inserted between each two of its words
 *
 * and for each the message, or the formula as printed, its operands, and its absolute value for operands 2, 3, 4, ...
 */
struct unfinished {
    struct expr_functions functions;
    char *formula;
};

static void forget_formula(void *ctx, const char *name)
{
    struct unfinished *u = ctx;
    (void)name;
    mem_free(u->formula);
    u->formula = NULL;
    if (!*name)
        expr_functions_release(&u->functions);
}

static void take_formula(void *ctx, const char *which, const char *text)
{
    struct unfinished *u = ctx;
    struct err err = {0};
    char *copy = mem_strndup(text, strlen(text) - 1), *rest = copy, *line;
    if (strcmp(which, "formula") == 0) {
        mem_free(u->formula);
        u->formula = copy;
        return;
    }
    while ((line = strsep(&rest, "\n"))) {
        char *formula = strstr(line, " = "), *parameters = strchr(line, ' ');
        formula[0] = parameters[0] = '\0';
        if (expr_functions_add(&u->functions, line, formula > parameters ? parameters + 1 : "", formula + 3, line,
                               &err) < 0)
            printf("not ok - %s\n", err.msg);
    }
    mem_free(copy);
}

/* Length of the word that starts there; blanks are not part of words. */
static size_t word_length(const char *at)
{
    size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:%"),
           sign = strspn(at, "<>=!");
    const char *end = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
    return end ? (size_t)(end + 1 - at) : name ? name : sign ? sign : *at != '\0';
}

/* With `new` in the place of n bytes. */
static void say_changed(const struct unfinished *u, size_t from, size_t n, const char *new, struct buf *out)
{
    char *text = mem_printf("%.*s%s%s", (int)from, u->formula, new, u->formula + from + n);
    struct expr *e = NULL;
    struct err err = {0};
    struct buf written = {0};
    if (expr_parse_with(text, "T", &u->functions, &e, &err) < 0)
        buf_printf(out, "%s -> %s\n", text, str_starts(err.msg, "T: ") && !e ? err.msg + strlen("T: ") : "UNSOUND");
    else {
        double given[16];
        expr_write(e, &written, own_name, e);
        buf_printf(out, "%s => %s, of", text, written.bytes);
        for (size_t i = 0; i < expr_name_count(e); i++) {
            buf_char(out, ' ');
            expr_operand_text(expr_operand(e, i), out);
            given[i] = (double)i + 2;
        }
        buf_printf(out, ": %g\n", fabs(expr_eval(e, given)));
    }
    expr_free(e);
    buf_release(&written);
    mem_free(text);
}

static void say_unfinished(void *ctx, const char *what, struct buf *out)
{
    const struct unfinished *u = ctx;
    size_t len = strlen(u->formula);
    for (size_t at = 0, n; at < len; at += n) {
        n = word_length(u->formula + at);
        if (strcmp(what, "cut") == 0)
            say_changed(u, at, len - at, "", out);
        if (u->formula[at] == ' ')
            continue;
        char *word = mem_strndup(u->formula + at, n), *twice = mem_printf("%s %s", word, word);
        if (strcmp(what, "without") == 0)
            say_changed(u, at, n, "", out);
        else if (strcmp(what, "twice") == 0)
            say_changed(u, at, n, twice, out);
        else if (str_starts(what, "with "))
            say_changed(u, at, 0, what + strlen("with "), out);
        mem_free(word);
        mem_free(twice);
    }
}

int main(void)
{
    static const char *const inputs[] = {"functions", "formula", NULL};
    struct unfinished unfinished = {.formula = NULL};
    struct cases cases = {inputs, forget_formula, NULL, take_formula, say_unfinished, &unfinished, NULL, {0}};
    RUN(test_values);
    RUN(test_shared_cases);
    RUN(test_shared_messages);
    RUN(test_functions);
    RUN(test_times);
    RUN(test_writing);
    RUN(test_errors);
    RUN(test_limits);
    RUN(test_steps);
    RUN(test_suffixes);
    RUN(test_waiting_values);
    RUN(test_many_parameters);
    RUN(test_shapes);
    RUN(test_definitions);
    RUN(test_inputs);
    RUN(test_drawn_names);
    RUN(test_statistic_names);
    cases_run(&cases, "tests/formulas/unfinished.cases");
    return tap_done();
}
