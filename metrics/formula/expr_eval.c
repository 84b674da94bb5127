/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Evaluation of formulas: column by column, a block of places at a time, so that each operation is one loop over
 * adjacent numbers.
 *
 * NaN is missing and stays missing; only or(...) tests for missing operands, and if(...) ignores the branch not taken.
 * Results that are not finite are missing too.
 */
#include "metrics/formula/expr_int.h"

#include <math.h>

enum { BLOCK = 256 };

/*
 * Operations on lanes (formula.h). The n values of a block may be padded to an even number; the padding's results are
 * not used.
 *
 * Values are finite or missing, so x - x is 0 or missing: less that, a result is missing where an operand is, and keeps the sign of a zero.
 */
static const lanes ones = {1, 1}, blanks = {NAN, NAN}, nothing = {0};
static const lane_masks signs = {INT64_MIN, INT64_MIN};

#define EACH(to, a, b, n, result)                                                                                      \
    for (size_t i = 0; i < (n); i += LANES) {                                                                          \
        lanes x = *(const lanes *)((a) + i), y = *(const lanes *)((b) + i);                                            \
        *(lanes *)((to) + i) = (result);                                                                               \
    }
#define CHOICE(holds, v, w) ((lanes)(((holds) & (lane_masks)(v)) | (~(holds) & (lane_masks)(w))))
#define BLANK_AS(v)         ((v) - (v))
#define BOTH(v)             ((v)-BLANK_AS(x) - BLANK_AS(y))
#define TRUTH(holds)        BOTH((lanes)((holds) & (lane_masks)ones))
#define KNOWN(v)            (BLANK_AS(v) == nothing)

/* An overflow or a power without a real value is not a usable number. */
static lanes or_missing(lanes v)
{
    return v - BLANK_AS(v);
}

static double number_or_missing(double v)
{
    return isfinite(v) ? v : NAN;
}

static double power(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : number_or_missing(pow(a, b)); /* pow(NaN, 0) and pow(1, NaN) would be 1 */
}

/* May read and write the same places. */
static void two(enum expr_op op, double *to, const double *a, const double *b, size_t n)
{
    switch (op) {
    case EXPR_ADD:
    case EXPR_SUM:
    case EXPR_MEAN:
        EACH(to, a, b, n, or_missing(x + y));
        break;
    case EXPR_SUBTRACT:
        EACH(to, a, b, n, or_missing(x - y));
        break;
    case EXPR_MULTIPLY:
        EACH(to, a, b, n, or_missing(x * y));
        break;
    case EXPR_DIVIDE:
        EACH(to, a, b, n, or_missing(x / y)); /* by zero: not finite */
        break;
    case EXPR_POWER:
        for (size_t i = 0; i < n; i++)
            to[i] = power(a[i], b[i]);
        break;
    case EXPR_LESS:
        EACH(to, a, b, n, TRUTH(x < y));
        break;
    case EXPR_ABOVE:
        EACH(to, a, b, n, TRUTH(x > y));
        break;
    case EXPR_NOT_BELOW:
        EACH(to, a, b, n, TRUTH(x >= y));
        break;
    case EXPR_NOT_ABOVE:
        EACH(to, a, b, n, TRUTH(x <= y));
        break;
    case EXPR_EQUAL:
        EACH(to, a, b, n, TRUTH(x == y));
        break;
    case EXPR_UNEQUAL:
        EACH(to, a, b, n, TRUTH(x != y));
        break;
    case EXPR_AND:
        EACH(to, a, b, n, TRUTH((x != nothing) & (y != nothing)));
        break;
    case EXPR_OR:
        EACH(to, a, b, n, TRUTH((x != nothing) | (y != nothing)));
        break;
    case EXPR_MIN:
        EACH(to, a, b, n, BOTH(CHOICE(y < x, y, x)));
        break;
    case EXPR_MAX:
        EACH(to, a, b, n, BOTH(CHOICE(y > x, y, x)));
        break;
    default: /* or(a, b): the first that is there */
        EACH(to, a, b, n, CHOICE(KNOWN(x), x, y));
    }
}

static double apply_one(enum expr_op op, double a)
{
    switch (op) {
    case EXPR_SQRT:
        return sqrt(a);
    case EXPR_LOG:
        return log(a);
    case EXPR_EXP:
        return exp(a);
    case EXPR_FLOOR:
        return floor(a);
    case EXPR_CEIL:
        return ceil(a);
    default:
        return round(a);
    }
}

static void one(enum expr_op op, double *to, const double *a, size_t n)
{
    switch (op) {
    case EXPR_NEGATE:
        EACH(to, a, a, n, (lanes)((lane_masks)x ^ signs) - BLANK_AS(y));
        break;
    case EXPR_ABS:
        EACH(to, a, a, n, (lanes)((lane_masks)x & ~signs) - BLANK_AS(y));
        break;
    case EXPR_NOT:
        EACH(to, a, a, n, TRUTH((x == nothing) | (y == nothing)));
        break;
    default:
        for (size_t i = 0; i < n; i++)
            to[i] = isnan(a[i]) ? NAN : number_or_missing(apply_one(op, a[i]));
    }
}

static void many(enum expr_op op, double *to, const double *const *from, size_t count, size_t n)
{
    const double *sum = from[0];
    for (size_t k = 1; k < count; k++, sum = to)
        two(op, to, sum, from[k], n);
    if (sum != to)
        memcpy(to, sum, n * sizeof *to);
    for (size_t i = 0; op == EXPR_MEAN && i < n; i++)
        to[i] /= (double)count;
}

/* The branch that is not taken may be missing. */
static void choose(double *to, const double *const *from, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        lanes holds = *(const lanes *)(from[0] + i);
        lanes taken = CHOICE(holds != nothing, *(const lanes *)(from[1] + i), *(const lanes *)(from[2] + i));
        *(lanes *)(to + i) = CHOICE(KNOWN(holds), or_missing(taken), blanks);
    }
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

/* The stack of values: operands are referred to, results are in blocks of the stack's own. */
struct stack {
    const double **values; /* the formula's depth of them */
    double *blocks;        /* one for each, of BLOCK values */
};

/* Lanes reach behind the end of an odd number. */
static const double *operand(const double *column, size_t n, double *block)
{
    if (n % LANES == 0)
        return column;
    memcpy(block, column, n * sizeof *block);
    return block;
}

static void compute(const struct expr_step *s, double *to, const double *const *from, size_t n)
{
    enum expr_op op = (enum expr_op)s->op;
    if (op == EXPR_IF)
        choose(to, from, n);
    else if (takes_many(op))
        many(op, to, from, s->n, n);
    else if (s->n == 1)
        one(op, to, from[0], n);
    else
        two(op, to, from[0], from[1], n);
}

static void eval_block(const struct expr *e, const double *const *operands, size_t from, size_t n,
                       const struct stack *stack, double *out)
{
    size_t top = 0; /* behind the last value */
    for (size_t i = 0; i < e->steps.count; i++) {
        const struct expr_step *s = &e->steps.items[i];
        double *block = stack->blocks + (s->op == EXPR_OPERAND ? top : top - s->n) * BLOCK;
        if (s->op == EXPR_OPERAND)
            stack->values[top] = operand(operands[s->n] + from, n, block);
        else if (s->op == EXPR_NUMBER || s->op == EXPR_TIME) {
            fill(block, s->op == EXPR_TIME ? s->number * e->per_second : s->number, n);
            stack->values[top] = block;
        } else {
            top -= s->n;
            compute(s, block, stack->values + top, n);
            stack->values[top] = block;
        }
        top++;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = stack->values[0][i] - BLANK_AS(stack->values[0][i]);
}

void expr_eval_columns(const struct expr *e, const double *const *operands, size_t n, double *out)
{
    struct stack stack = {.values = mem_alloc(e->depth * sizeof *stack.values),
                          .blocks = mem_calloc(e->depth * BLOCK, sizeof *stack.blocks)};
    for (size_t from = 0; from < n; from += BLOCK)
        eval_block(e, operands, from, n - from < BLOCK ? n - from : BLOCK, &stack, out + from);
    mem_free(stack.blocks);
    mem_free(stack.values);
}

double expr_eval(const struct expr *e, const double *values)
{
    const double **operands = mem_alloc(e->operands.count * sizeof *operands);
    double out;
    for (size_t i = 0; i < e->operands.count; i++)
        operands[i] = &values[i];
    expr_eval_columns(e, operands, 1, &out);
    mem_free(operands);
    return out;
}

bool expr_is_strict(const struct expr *e)
{
    for (size_t i = 0; i < e->steps.count; i++)
        if (e->steps.items[i].op == EXPR_IF || e->steps.items[i].op == EXPR_FIRST)
            return false;
    return true;
}

/* ---- shapes ------------------------------------------------------------------------------------ */

/* The dependence of a part of a formula on its metrics: a constant, a linear combination, or any other. */
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
    uint8_t *stack = mem_alloc(e->depth);
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
            return err_set(
                err, ERR_FORMAT,
                "%s: a time is combined with values in %s and in %s; write it as a number in the intended unit", what,
                first, units[i]);
        first = units[i];
        e->per_second = count;
    }
    return 0;
}
