/*
 * Infix arithmetic over metric names, compiled to postfix once and evaluated at every place.
 *
 *     sum     = product { ("+" | "-") product }
 *     product = signed { ("*" | "/") signed }
 *     signed  = { "-" | "+" } power
 *     power   = atom [ "^" signed ]                         right to left; -a^2 is -(a^2)
 *     atom    = number | name | "quoted name" | function "(" sum { "," sum } ")" | "(" sum ")"
 *
 * The parser is Dijkstra's shunting yard: its depth is a counter against LIMIT_EXPR_DEPTH, not the C stack.
 */
#include "metrics/metrics_int.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum op_kind {
    OP_NUMBER,
    OP_NAME,
    OP_NEGATE,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_POWER,
    OP_MIN,
    OP_MAX,
    OP_SUM,
    OP_OPEN /* only on the parser's stack: a bracket, or the one after a function's name */
};

static const struct {
    const char *name;
    enum op_kind op;
} functions[] = {{"min", OP_MIN}, {"max", OP_MAX}, {"sum", OP_SUM}};

struct op {
    enum op_kind kind;
    uint32_t n; /* NAME: index of the name; MIN, MAX, SUM: how many operands */
    double number;
};

struct expr {
    struct VEC(struct op) ops;
    struct VEC(char *) names;
};

struct waiting { /* an operator or bracket whose right side is not complete yet */
    enum op_kind kind;
    enum op_kind function; /* OPEN: what is called, or OPEN for a plain bracket */
    uint32_t operands;     /* OPEN of a function: complete ones so far */
    const char *at;
};

struct parser {
    struct expr *expr;
    const char *text, *at, *what;
    const char *last, *last_end; /* the token before this one */
    struct VEC(struct waiting) stack;
    size_t depth; /* values on the evaluation stack at this point */
    struct err *err;
};

static unsigned long position(const struct parser *p, const char *at)
{
    unsigned long n = 1;
    for (const char *c = p->text; c < at; c++)
        n += ((unsigned char)*c & 0xc0) != 0x80;
    return n;
}

static int wrong(struct parser *p, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
static int wrong(struct parser *p, const char *at, const char *fmt, ...)
{
    char said[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(said, sizeof said, fmt, args);
    va_end(args);
    return err_set(p->err, ERR_FORMAT, "%s: character %lu of the formula: %s", p->what, position(p, at), said);
}

static int emit(struct parser *p, struct op op, size_t takes)
{
    *vec_push(&p->expr->ops) = op;
    p->depth += 1 - takes;
    if (p->depth > LIMIT_EXPR_DEPTH)
        return err_set(p->err, ERR_LIMIT, "%s: the formula is nested more than %d deep (LIMIT_EXPR_DEPTH)", p->what,
                       LIMIT_EXPR_DEPTH);
    return 0;
}

static int push(struct parser *p, struct waiting w)
{
    if (p->stack.count >= LIMIT_EXPR_DEPTH)
        return err_set(p->err, ERR_LIMIT, "%s: the formula is nested more than %d deep (LIMIT_EXPR_DEPTH)", p->what,
                       LIMIT_EXPR_DEPTH);
    *vec_push(&p->stack) = w;
    return 0;
}

static int binding(enum op_kind kind)
{
    switch (kind) {
    case OP_ADD:
    case OP_SUBTRACT:
        return 1;
    case OP_MULTIPLY:
    case OP_DIVIDE:
        return 2;
    case OP_NEGATE:
        return 3;
    case OP_POWER:
        return 4;
    default:
        return 0;
    }
}

/* Move operators that bind at least so tightly from the stack to the output. */
static int settle(struct parser *p, int least)
{
    while (p->stack.count) {
        struct waiting top = p->stack.items[p->stack.count - 1];
        if (top.kind == OP_OPEN || binding(top.kind) < least)
            return 0;
        p->stack.count--;
        if (emit(p, (struct op){.kind = top.kind}, top.kind == OP_NEGATE ? 1 : 2) < 0)
            return -1;
    }
    return 0;
}

static bool starts_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool in_name(char c)
{
    return starts_name(c) || isdigit((unsigned char)c) || c == ':' || c == '.';
}

bool expr_is_bare_name(const char *name)
{
    if (!starts_name(*name))
        return false;
    for (const char *c = name; *c; c++)
        if (!in_name(*c))
            return false;
    return true;
}

void expr_quote_name(struct buf *out, const char *name)
{
    if (expr_is_bare_name(name)) {
        buf_str(out, name);
        return;
    }
    buf_char(out, '"');
    for (const char *c = name; *c; c++) {
        if (*c == '"' || *c == '\\')
            buf_char(out, '\\');
        buf_char(out, *c);
    }
    buf_char(out, '"');
}

/* Reads a bare or quoted name at *at and moves *at behind it. 0: there is none; -1: its quote is not closed. */
static int read_name(const char **at, struct buf *name, bool *quoted)
{
    const char *c = *at;
    name->len = 0;
    *quoted = *c == '"' || *c == '\'';
    if (!*quoted) {
        if (!starts_name(*c))
            return 0;
        while (in_name(*c))
            buf_char(name, *c++);
        *at = c;
        return 1;
    }
    for (char quote = *c++; *c != quote; c++) {
        if (*c == '\\' && (c[1] == quote || c[1] == '\\'))
            c++;
        if (*c == '\0')
            return -1;
        buf_char(name, *c);
    }
    buf_str(name, "");
    *at = c + 1;
    return 1;
}

static const char *skip_blanks(const char *c)
{
    while (isspace((unsigned char)*c))
        c++;
    return c;
}

static uint32_t name_index(struct expr *e, const char *name)
{
    for (size_t i = 0; i < e->names.count; i++)
        if (strcmp(e->names.items[i], name) == 0)
            return (uint32_t)i;
    *vec_push(&e->names) = mem_strdup(name);
    return (uint32_t)(e->names.count - 1);
}

static int read_number(struct parser *p)
{
    const char *c = p->at;
    char *end;
    while (isdigit((unsigned char)*c) || *c == '.')
        c++;
    if (*c == 'e' || *c == 'E') {
        const char *exponent = c + 1 + (c[1] == '+' || c[1] == '-');
        if (isdigit((unsigned char)*exponent))
            for (c = exponent; isdigit((unsigned char)*c);)
                c++;
    }
    char *digits = mem_strndup(p->at, (size_t)(c - p->at));
    double value = strtod(digits, &end);
    bool whole = *end == '\0' && end != digits;
    mem_free(digits);
    if (!whole || in_name(*c))
        return wrong(p, p->at, "'%.*s' is not a number; a metric's name that begins with a digit stands in quotes",
                     (int)(c - p->at + (in_name(*c) ? 1 : 0)), p->at);
    if (!isfinite(value))
        return wrong(p, p->at, "the number %.*s is too large", (int)(c - p->at), p->at);
    p->at = c;
    return emit(p, (struct op){.kind = OP_NUMBER, .number = value}, 0);
}

static int read_name_or_call(struct parser *p, bool *complete)
{
    struct buf name = {0};
    bool quoted;
    const char *start = p->at;
    int status = read_name(&p->at, &name, &quoted);
    *complete = true;
    if (status < 0)
        status = wrong(p, start, "the quote %c is not closed", *start);
    else if (name.len == 0)
        status = wrong(p, start, "a name in quotes is empty");
    else if (!quoted && *skip_blanks(p->at) == '(') {
        size_t f = 0;
        while (f < ARRAY_SIZE(functions) && strcmp(functions[f].name, name.bytes) != 0)
            f++;
        if (f == ARRAY_SIZE(functions))
            status = wrong(p, start, "there is no function '%s'; there are min, max and sum", name.bytes);
        else {
            p->at = skip_blanks(p->at) + 1;
            *complete = false;
            status = push(p, (struct waiting){OP_OPEN, functions[f].op, 0, start});
        }
    } else
        status = emit(p, (struct op){.kind = OP_NAME, .n = name_index(p->expr, name.bytes)}, 0);
    buf_release(&name);
    return status;
}

static int nothing_here(struct parser *p)
{
    static const char wanted[] = "a number, a metric's name or '(' is wanted";
    if (*p->at == '\0' && !p->last)
        return wrong(p, p->at, "there is nothing; %s", wanted);
    if (*p->at == '\0')
        return wrong(p, p->at, "nothing after '%.*s'; %s", (int)(p->last_end - p->last), p->last, wanted);
    int len = (int)utf8_length(p->at, strlen(p->at));
    return wrong(p, p->at, "'%.*s' cannot stand here; %s", len ? len : 1, p->at, wanted);
}

/* Where an operand may begin. *complete: a whole one was read, an operator follows. */
static int read_operand(struct parser *p, bool *complete)
{
    const char *start = p->at;
    char c = *p->at;
    *complete = false;
    if (c == '-' || c == '+') {
        p->at++;
        return c == '+' ? 0 : push(p, (struct waiting){OP_NEGATE, OP_OPEN, 0, start});
    }
    if (c == '(') {
        p->at++;
        return push(p, (struct waiting){OP_OPEN, OP_OPEN, 0, start});
    }
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->at[1]))) {
        *complete = true;
        return read_number(p);
    }
    if (starts_name(c) || c == '"' || c == '\'')
        return read_name_or_call(p, complete);
    return nothing_here(p);
}

static int close_bracket(struct parser *p)
{
    if (settle(p, 0) < 0)
        return -1;
    if (p->stack.count == 0)
        return wrong(p, p->at, "')' closes nothing");
    struct waiting open = p->stack.items[--p->stack.count];
    p->at++;
    if (open.function == OP_OPEN)
        return 0;
    uint32_t operands = open.operands + 1;
    return emit(p, (struct op){.kind = open.function, .n = operands}, operands);
}

static int read_comma(struct parser *p)
{
    if (settle(p, 0) < 0)
        return -1;
    if (p->stack.count == 0 || p->stack.items[p->stack.count - 1].function == OP_OPEN)
        return wrong(p, p->at, "',' stands only between the operands of min, max and sum");
    p->stack.items[p->stack.count - 1].operands++;
    p->at++;
    return 0;
}

/* Where an operator may stand. *operand_next: one was read that wants something to its right. */
static int read_operator(struct parser *p, bool *operand_next)
{
    static const char signs[] = "+-*/^";
    static const enum op_kind kinds[] = {OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_POWER};
    *operand_next = true;
    if (*p->at == ')') {
        *operand_next = false;
        return close_bracket(p);
    }
    if (*p->at == ',')
        return read_comma(p);
    const char *sign = strchr(signs, *p->at);
    if (!sign) {
        int len = (int)utf8_length(p->at, strlen(p->at));
        return wrong(p, p->at, "'%.*s' cannot follow '%.*s'; one of + - * / ^ is wanted", len ? len : 1, p->at,
                     (int)(p->last_end - p->last), p->last);
    }
    enum op_kind kind = kinds[sign - signs];
    /* "^" groups to the right: one already waiting stays below. */
    if (settle(p, kind == OP_POWER ? binding(kind) + 1 : binding(kind)) < 0)
        return -1;
    return push(p, (struct waiting){kind, OP_OPEN, 0, p->at++});
}

static int parse(struct parser *p)
{
    bool operand_next = true, complete;
    for (;;) {
        p->at = skip_blanks(p->at);
        const char *start = p->at;
        if (*start == '\0' && !operand_next)
            break;
        if (operand_next) {
            if (read_operand(p, &complete) < 0)
                return -1;
            operand_next = !complete;
        } else if (read_operator(p, &operand_next) < 0)
            return -1;
        p->last = start;
        p->last_end = p->at;
    }
    if (settle(p, 0) < 0)
        return -1;
    if (p->stack.count)
        return wrong(p, p->stack.items[p->stack.count - 1].at, "what is opened here is not closed; ')' is missing");
    return 0;
}

int expr_parse(const char *text, const char *what, struct expr **result, struct err *err)
{
    struct parser p = {.text = text, .at = text, .what = what, .err = err};
    *result = NULL;
    if (strlen(text) > LIMIT_EXPR_BYTES)
        return err_set(err, ERR_LIMIT, "%s: the formula is longer than %d bytes (LIMIT_EXPR_BYTES)", what,
                       LIMIT_EXPR_BYTES);
    p.expr = mem_calloc(1, sizeof *p.expr);
    int status = parse(&p);
    vec_release(&p.stack);
    if (status < 0) {
        expr_free(p.expr);
        return -1;
    }
    *result = p.expr;
    return 0;
}

void expr_rename(const char *text, struct buf *out, const char *(*rename)(void *ctx, const char *name), void *ctx)
{
    struct buf name = {0};
    bool quoted;
    for (const char *at = text; *at;) {
        const char *start = at;
        if (isdigit((unsigned char)*at) || *at == '.') { /* the 'e' of 1e6 is no name */
            while (in_name(*at) || ((*at == '+' || *at == '-') && (at[-1] == 'e' || at[-1] == 'E')))
                at++;
            buf_add(out, start, (size_t)(at - start));
        } else if (read_name(&at, &name, &quoted) == 1) {
            if (!quoted && *skip_blanks(at) == '(')
                buf_add(out, start, (size_t)(at - start));
            else
                expr_quote_name(out, rename(ctx, name.bytes));
        } else
            buf_char(out, *at++);
    }
    buf_str(out, "");
    buf_release(&name);
}

int expr_split_definition(const char *text, char **name, const char **formula, struct err *err)
{
    struct buf read = {0};
    const char *at = skip_blanks(text);
    bool quoted;
    int status = read_name(&at, &read, &quoted);
    at = skip_blanks(at);
    *name = NULL;
    if (status <= 0 || read.len == 0)
        status = err_set(err, ERR_USAGE,
                         "'%s': a metric is given as NAME = FORMULA, where NAME is letters, digits, '_', '.' and ':', "
                         "or stands in quotes",
                         text);
    else if (*at != '=')
        status =
            err_set(err, ERR_USAGE, "'%s': '=' is missing after the name; a metric is given as NAME = FORMULA", text);
    else {
        *name = mem_strdup(read.bytes);
        *formula = skip_blanks(at + 1);
        status = 0;
    }
    buf_release(&read);
    return status;
}

void expr_free(struct expr *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->names.count; i++)
        mem_free(e->names.items[i]);
    vec_release(&e->names);
    vec_release(&e->ops);
    mem_free(e);
}

size_t expr_name_count(const struct expr *e)
{
    return e->names.count;
}

const char *expr_name(const struct expr *e, size_t i)
{
    return e->names.items[i];
}

static double apply_many(enum op_kind kind, const double *operands, uint32_t n)
{
    double result = operands[0];
    for (uint32_t i = 1; i < n; i++) {
        /* fmin and fmax would pass over a NaN; here it must win */
        if (isnan(result) || isnan(operands[i]))
            return NAN;
        if (kind == OP_SUM)
            result += operands[i];
        else if (kind == OP_MIN ? operands[i] < result : operands[i] > result)
            result = operands[i];
    }
    return result;
}

static double apply_two(enum op_kind kind, double a, double b)
{
    if (isnan(a) || isnan(b)) /* pow(NaN, 0) and pow(1, NaN) would be 1 */
        return NAN;
    switch (kind) {
    case OP_ADD:
        return a + b;
    case OP_SUBTRACT:
        return a - b;
    case OP_MULTIPLY:
        return a * b;
    case OP_DIVIDE:
        return b == 0 ? NAN : a / b;
    default:
        return pow(a, b);
    }
}

double expr_eval(const struct expr *e, const double *values)
{
    double stack[LIMIT_EXPR_DEPTH];
    size_t n = 0;
    for (size_t i = 0; i < e->ops.count; i++) {
        const struct op *op = &e->ops.items[i];
        switch (op->kind) {
        case OP_NUMBER:
            stack[n++] = op->number;
            break;
        case OP_NAME:
            stack[n++] = values[op->n];
            break;
        case OP_NEGATE:
            stack[n - 1] = -stack[n - 1];
            break;
        case OP_MIN:
        case OP_MAX:
        case OP_SUM:
            n -= op->n;
            stack[n] = apply_many(op->kind, stack + n, op->n);
            n++;
            break;
        default:
            n--;
            stack[n - 1] = apply_two(op->kind, stack[n - 1], stack[n]);
            /* an overflow or a power that has no real value is no number a person can use */
            if (!isfinite(stack[n - 1]))
                stack[n - 1] = NAN;
        }
    }
    return isfinite(stack[0]) ? stack[0] : NAN;
}

/* What a part of a formula is to its metrics: a number, a sum of multiples of them, or anything else. */
enum shape { SHAPE_CONSTANT, SHAPE_LINEAR, SHAPE_OTHER };

static enum shape shape_of_two(enum op_kind kind, enum shape a, enum shape b)
{
    bool constant = a == SHAPE_CONSTANT && b == SHAPE_CONSTANT;
    switch (kind) {
    case OP_ADD:
    case OP_SUBTRACT:
        return a == b ? a : SHAPE_OTHER;
    case OP_MULTIPLY:
        return constant ? SHAPE_CONSTANT : a == SHAPE_CONSTANT ? b : b == SHAPE_CONSTANT ? a : SHAPE_OTHER;
    case OP_DIVIDE:
        return b == SHAPE_CONSTANT ? a : SHAPE_OTHER;
    default:
        return constant ? SHAPE_CONSTANT : SHAPE_OTHER;
    }
}

bool expr_is_linear(const struct expr *e)
{
    uint8_t stack[LIMIT_EXPR_DEPTH];
    size_t n = 0;
    for (size_t i = 0; i < e->ops.count; i++) {
        const struct op *op = &e->ops.items[i];
        if (op->kind == OP_NUMBER || op->kind == OP_NAME)
            stack[n++] = op->kind == OP_NAME ? SHAPE_LINEAR : SHAPE_CONSTANT;
        else if (op->kind == OP_MIN || op->kind == OP_MAX || op->kind == OP_SUM) {
            n -= op->n;
            enum shape all = op->n == 1 || op->kind == OP_SUM ? (enum shape)stack[n] : SHAPE_OTHER;
            for (uint32_t k = 1; k < op->n; k++)
                all = shape_of_two(OP_ADD, all, (enum shape)stack[n + k]);
            stack[n++] = (uint8_t)all;
        } else if (op->kind != OP_NEGATE) {
            n--;
            stack[n - 1] = (uint8_t)shape_of_two(op->kind, (enum shape)stack[n - 1], (enum shape)stack[n]);
        }
    }
    return stack[0] == SHAPE_LINEAR;
}
