/*
 * What a formula gives: column by column, a block of places at a time, so that each operation is one loop over numbers
 * that lie side by side.
 *
 * NaN is missing and stays missing; only or(...) looks at whether something is missing, and if(...) does not mind what
 * the branch not taken is. What is no finite number is missing too.
 */
#include "metrics/expr_int.h"

#include <math.h>

enum { BLOCK = 256 };

static bool both(double a, double b)
{
    return !isnan(a) && !isnan(b);
}

static double truth(double a, double b, bool holds)
{
    return both(a, b) ? holds : NAN;
}

static double apply_two(enum expr_op op, double a, double b)
{
    switch (op) {
    case EXPR_ADD:
        return a + b;
    case EXPR_SUBTRACT:
        return a - b;
    case EXPR_MULTIPLY:
        return a * b;
    case EXPR_DIVIDE:
        return b == 0 ? NAN : a / b;
    case EXPR_POWER:
        return both(a, b) ? pow(a, b) : NAN; /* pow(NaN, 0) and pow(1, NaN) would be 1 */
    case EXPR_LESS:
        return truth(a, b, a < b);
    case EXPR_NOT_ABOVE:
        return truth(a, b, a <= b);
    case EXPR_ABOVE:
        return truth(a, b, a > b);
    case EXPR_NOT_BELOW:
        return truth(a, b, a >= b);
    case EXPR_EQUAL:
        return truth(a, b, a == b);
    case EXPR_UNEQUAL:
        return truth(a, b, a != b);
    case EXPR_AND:
        return truth(a, b, a != 0 && b != 0);
    case EXPR_OR:
        return truth(a, b, a != 0 || b != 0);
    case EXPR_MIN:
        return both(a, b) ? (b < a ? b : a) : NAN;
    case EXPR_MAX:
        return both(a, b) ? (b > a ? b : a) : NAN;
    default: /* or(a, b): the first that is there */
        return isnan(a) ? b : a;
    }
}

static double apply_one(enum expr_op op, double a)
{
    switch (op) {
    case EXPR_NEGATE:
        return -a;
    case EXPR_NOT:
        return isnan(a) ? NAN : a == 0;
    case EXPR_SQRT:
        return sqrt(a);
    case EXPR_LOG:
        return log(a);
    case EXPR_EXP:
        return exp(a);
    case EXPR_ABS:
        return fabs(a);
    case EXPR_FLOOR:
        return floor(a);
    case EXPR_CEIL:
        return ceil(a);
    default:
        return round(a);
    }
}

/* An overflow or a power that has no real value is no number a person can use. */
static double or_missing(double x)
{
    return isfinite(x) ? x : NAN;
}

static void one(enum expr_op op, double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = or_missing(apply_one(op, a[i]));
}

/*
 * Two numbers at a time, which every x86-64 and AArch64 has registers for: compilers vectorize no loop of an unknown length at -O2 (gcc 12). Behind the
 * n values of a block others may stand, up to its end; what is made of them nobody reads.
 *
 * Values are finite or missing, so x - x is 0 or missing: added to a truth, it makes that missing where an operand is.
 */
typedef double lanes __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t masks __attribute__((vector_size(16)));
enum { LANES = 2 };
#define EACH(a, b, n, result)                                                                                          \
    for (size_t i = 0; i < (n); i += LANES) {                                                                          \
        lanes x = *(const lanes *)((a) + i), y = *(const lanes *)((b) + i);                                            \
        *(lanes *)((a) + i) = (result);                                                                                \
    }
static const lanes ones = {1, 1}, blanks = {NAN, NAN}, nothing = {0};
#define TRUTH(holds) ((lanes)((holds) & (masks)ones) + ((x - x) + (y - y)))
#define IF(holds, v) ((lanes)(((holds) & (masks)(v)) | (~(holds) & (masks)blanks)))

static void or_missing_all(double *a, size_t n)
{
    EACH(a, a, n, IF(y - y == nothing, x));
}

static void two(enum expr_op op, double *a, const double *b, size_t n)
{
    switch (op) {
    case EXPR_ADD:
        EACH(a, b, n, x + y);
        break;
    case EXPR_SUBTRACT:
        EACH(a, b, n, x - y);
        break;
    case EXPR_MULTIPLY:
        EACH(a, b, n, x * y);
        break;
    case EXPR_DIVIDE:
        EACH(a, b, n, x / y); /* by zero: not finite */
        break;
    case EXPR_LESS:
        EACH(a, b, n, TRUTH(x < y));
        return;
    case EXPR_ABOVE:
        EACH(a, b, n, TRUTH(x > y));
        return;
    case EXPR_NOT_BELOW:
        EACH(a, b, n, TRUTH(x >= y));
        return;
    case EXPR_NOT_ABOVE:
        EACH(a, b, n, TRUTH(x <= y));
        return;
    case EXPR_AND:
        EACH(a, b, n, TRUTH((x != nothing) & (y != nothing)));
        return;
    default:
        for (size_t i = 0; i < n; i++)
            a[i] = apply_two(op, a[i], b[i]);
    }
    or_missing_all(a, n);
}

static void many(enum expr_op op, double *first, size_t count, size_t n)
{
    bool adds = op == EXPR_SUM || op == EXPR_MEAN;
    for (size_t k = 1; k < count; k++)
        two(adds ? EXPR_ADD : op, first, first + k * BLOCK, n);
    for (size_t i = 0; op == EXPR_MEAN && i < n; i++)
        first[i] /= (double)count;
}

static void choose(double *condition, size_t n)
{
    const double *yes = condition + BLOCK, *no = yes + BLOCK;
    for (size_t i = 0; i < n; i++)
        condition[i] = isnan(condition[i]) ? NAN : condition[i] != 0 ? yes[i] : no[i];
}

static void fill(double *to, double value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = value;
}

static bool takes_many(enum expr_op op)
{
    return op == EXPR_MIN || op == EXPR_MAX || op == EXPR_SUM || op == EXPR_MEAN || op == EXPR_FIRST;
}

/* stack: depth x BLOCK values; the result is in its first block. */
static void eval_block(const struct expr *e, const double *const *operands, size_t from, size_t n, double *stack)
{
    double *top = stack; /* behind the last value */
    for (size_t i = 0; i < e->steps.count; i++) {
        const struct expr_step *s = &e->steps.items[i];
        enum expr_op op = (enum expr_op)s->op;
        if (op == EXPR_OPERAND) {
            memcpy(top, operands[s->n] + from, n * sizeof *top);
            or_missing_all(top, n);
            top += BLOCK;
        } else if (op == EXPR_NUMBER || op == EXPR_TIME) {
            fill(top, op == EXPR_TIME ? s->number * e->per_second : s->number, n);
            top += BLOCK;
        } else {
            top -= s->n * BLOCK;
            if (op == EXPR_IF)
                choose(top, n);
            else if (takes_many(op))
                many(op, top, s->n, n);
            else if (s->n == 1)
                one(op, top, n);
            else
                two(op, top, top + BLOCK, n);
            top += BLOCK;
        }
    }
}

void expr_eval_columns(const struct expr *e, const double *const *operands, size_t n, double *out)
{
    double *stack = mem_calloc((e->depth + 1) * BLOCK, sizeof *stack);
    for (size_t from = 0; from < n; from += BLOCK) {
        size_t count = n - from < BLOCK ? n - from : BLOCK;
        eval_block(e, operands, from, count, stack);
        memcpy(out + from, stack, count * sizeof *out);
    }
    mem_free(stack);
}

double expr_eval(const struct expr *e, const double *values)
{
    const double **operands = mem_alloc((e->operands.count + 1) * sizeof *operands);
    double out;
    for (size_t i = 0; i < e->operands.count; i++)
        operands[i] = &values[i];
    expr_eval_columns(e, operands, 1, &out);
    mem_free(operands);
    return out;
}

/* ---- shapes ------------------------------------------------------------------------------------ */

/* What a part of a formula is to its metrics: a number, a sum of multiples of them, or anything else. */
enum shape { SHAPE_ZERO, SHAPE_CONSTANT, SHAPE_LINEAR, SHAPE_OTHER };

static bool constant(enum shape s)
{
    return s == SHAPE_ZERO || s == SHAPE_CONSTANT;
}

static enum shape shape_of_two(enum expr_op op, enum shape a, enum shape b)
{
    bool numbers = constant(a) && constant(b);
    switch (op) {
    case EXPR_ADD:
    case EXPR_SUBTRACT:
    case EXPR_SUM:
    case EXPR_MEAN:
        return numbers ? SHAPE_CONSTANT : a == b ? a : SHAPE_OTHER;
    case EXPR_MULTIPLY:
        return numbers ? SHAPE_CONSTANT : constant(a) ? b : constant(b) ? a : SHAPE_OTHER;
    case EXPR_DIVIDE:
        return constant(b) ? a : SHAPE_OTHER;
    case EXPR_FIRST: /* or(A, 0) adds up as A does */
        return a == SHAPE_LINEAR && b == SHAPE_ZERO ? SHAPE_LINEAR : numbers ? SHAPE_CONSTANT : SHAPE_OTHER;
    default:
        return numbers ? SHAPE_CONSTANT : SHAPE_OTHER;
    }
}

static enum shape shape_of_operand(const struct expr_operand *o)
{
    if (o->at == EXPR_AT_TOTAL)
        return SHAPE_CONSTANT;
    bool adds = o->at == EXPR_HERE && (o->statistic == EXPR_NO_STATISTIC || o->statistic == EXPR_STAT_SUM);
    return adds ? SHAPE_LINEAR : SHAPE_OTHER;
}

static enum shape shape_of(const struct expr *e, const struct expr_step *s, const uint8_t *values)
{
    enum shape all = s->n ? (enum shape)values[0] : SHAPE_OTHER;
    switch (s->op) {
    case EXPR_NUMBER:
    case EXPR_TIME:
        return s->number == 0 ? SHAPE_ZERO : SHAPE_CONSTANT;
    case EXPR_OPERAND:
        return shape_of_operand(&e->operands.items[s->n]);
    case EXPR_NEGATE:
        return all;
    }
    if (s->n == 1 && !takes_many((enum expr_op)s->op))
        return constant(all) ? SHAPE_CONSTANT : SHAPE_OTHER;
    for (uint32_t k = 1; k < s->n; k++)
        all = shape_of_two((enum expr_op)s->op, all, (enum shape)values[k]);
    return all;
}

bool expr_is_linear(const struct expr *e)
{
    uint8_t *stack = mem_alloc(e->depth + 1);
    size_t n = 0;
    for (size_t i = 0; i < e->steps.count; i++) {
        const struct expr_step *s = &e->steps.items[i];
        n -= s->op == EXPR_OPERAND ? 0 : s->n;
        stack[n] = (uint8_t)shape_of(e, s, stack + n);
        n++;
    }
    bool linear = stack[0] == SHAPE_LINEAR;
    mem_free(stack);
    return linear;
}

/* ---- units ------------------------------------------------------------------------------------------- */

static double per_second(const char *unit)
{
    static const struct {
        const char *unit;
        double per_second;
    } times[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}}; /* exact, as 1e-9 is not */
    for (size_t i = 0; i < ARRAY_SIZE(times); i++)
        if (strcmp(times[i].unit, unit) == 0)
            return times[i].per_second;
    return 0;
}

int expr_bind_units(struct expr *e, const char *const *units, const char *what, struct err *err)
{
    const char *first = NULL;
    bool has_times = false;
    for (size_t i = 0; i < e->steps.count; i++)
        has_times = has_times || e->steps.items[i].op == EXPR_TIME;
    e->per_second = 1;
    for (size_t i = 0; has_times && i < e->operands.count; i++) {
        double count = per_second(units[i]);
        if (count == 0)
            continue;
        if (first && strcmp(first, units[i]) != 0)
            return err_set(err, ERR_FORMAT,
                           "%s: a time stands beside values in %s and in %s; write it as a number in the unit you mean",
                           what, first, units[i]);
        first = units[i];
        e->per_second = count;
    }
    return 0;
}
