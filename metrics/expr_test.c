/* Formulas: values, missing values, and what is said of wrong ones. */
#include "metrics/metrics_int.h"
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
    {"min + 1", 1001}, /* a metric may be called like a function */
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

static const struct {
    const char *text, *want;
} errors[] = {
    {"", "T: character 1 of the formula: there is nothing; a number, a metric's name or '(' is wanted"},
    {"  ", "T: character 3 of the formula: there is nothing; a number, a metric's name or '(' is wanted"},
    {"CYC /", "T: character 6 of the formula: nothing after '/'; a number, a metric's name or '(' is wanted"},
    {"CYC / * 2", "T: character 7 of the formula: '*' cannot stand here; a number, a metric's name or '(' is wanted"},
    {"CYC INS", "T: character 5 of the formula: 'I' cannot follow 'CYC'; one of + - * / ^ is wanted"},
    {"CYC % 2", "T: character 5 of the formula: '%' cannot follow 'CYC'; one of + - * / ^ is wanted"},
    {"2 CYC", "T: character 3 of the formula: 'C' cannot follow '2'; one of + - * / ^ is wanted"},
    {"(A + B", "T: character 1 of the formula: what is opened here is not closed; ')' is missing"},
    {"A + (B", "T: character 5 of the formula: what is opened here is not closed; ')' is missing"},
    {"A + B)", "T: character 6 of the formula: ')' closes nothing"},
    {"()", "T: character 2 of the formula: ')' cannot stand here; a number, a metric's name or '(' is wanted"},
    {"min()", "T: character 5 of the formula: ')' cannot stand here; a number, a metric's name or '(' is wanted"},
    {"min(A,)", "T: character 7 of the formula: ')' cannot stand here; a number, a metric's name or '(' is wanted"},
    {"A, B", "T: character 2 of the formula: ',' stands only between the operands of min, max and sum"},
    {"(A, B)", "T: character 3 of the formula: ',' stands only between the operands of min, max and sum"},
    {"avg(A, B)", "T: character 1 of the formula: there is no function 'avg'; there are min, max and sum"},
    {"\"A", "T: character 1 of the formula: the quote \" is not closed"},
    {"'A\\'", "T: character 1 of the formula: the quote ' is not closed"},
    {"\"\"", "T: character 1 of the formula: a name in quotes is empty"},
    {"1.2.3", "T: character 1 of the formula: '1.2.3' is not a number; a metric's name that begins with a digit stands "
              "in quotes"},
    {"2x",
     "T: character 1 of the formula: '2x' is not a number; a metric's name that begins with a digit stands in quotes"},
    {"1e999", "T: character 1 of the formula: the number 1e999 is too large"},
    {"\xc3\xa4 + \xe2\x82\xac \xe2\x82\xac",
     "T: character 7 of the formula: '\xe2\x82\xac' cannot follow '\xe2\x82\xac'; one of + - * / ^ is wanted"},
    {"A = B", "T: character 3 of the formula: '=' cannot follow 'A'; one of + - * / ^ is wanted"},
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

static const struct {
    const char *text;
    bool linear;
} shapes[] = {
    {"A - B", true},  {"A / B", false},       {"2 * A + B / 4", true}, {"A * B", false},     {"A + 1", false},
    {"3", false},     {"min(A, B)", false},   {"sum(A, B)", true},     {"sum(A, 1)", false}, {"-A", true},
    {"A ^ 2", false}, {"100 * A / B", false}, {"(1 + 2) * A", true},   {"max(A)", true},
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

int main(void)
{
    test_values();
    test_errors();
    test_limits();
    test_shapes();
    test_definitions();
    return tap_done();
}
