/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formulas: infix text, compiled to postfix once and evaluated at every place. The grammar stands in
 * doc/formats/configuration.md; the page's is the same (templates/logic/formula.ts), held together by the cases in
 * tests/formulas/.
 *
 * The parser is Dijkstra's shunting yard: its depth is a counter against LIMIT_EXPR_DEPTH, not the C stack.
 */
#include "metrics/formula/expr_int.h"

#include <ctype.h>
#include <math.h>

static const struct {
    const char *word; /* NULL: no function */
    uint16_t least, most;
} ops[] = {
#define X(op, word, least, most) {word, least, most},
    EXPR_OPS(X)
#undef X
};

struct waiting_operator { /* an operator or bracket whose right side is not complete yet */
    uint16_t op;          /* enum expr_op */
    uint16_t function;    /* OPEN: the function called, or EXPR_OPEN for a plain parenthesis; EXPR_OP_COUNT: a user's
                          function */
    uint32_t user;        /* OPEN of a user's function: which */
    uint32_t operands;    /* OPEN of a function: complete ones so far */
    const char *at;
};

struct parser {
    struct expr *expr;
    const char *text, *at, *what;
    const char *last, *last_end; /* the token before this one */
    const struct expr_functions *functions;
    const struct expr_input *input; /* says where things stand; NULL: as characters of the formula */
    const char *const *parameters;  /* of the function whose body this is; NULL: of none */
    size_t parameter_count;
    struct VEC(struct waiting_operator) stack;
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
    if (p->input) {
        struct buf where = {0};
        p->input->where(p->input->ctx, (size_t)(at - p->text), &where);
        err_set(p->err, ERR_FORMAT, "%s: %s", where.bytes, said);
        buf_release(&where);
        return -1;
    }
    return err_set(p->err, ERR_FORMAT, "%s: character %lu of the formula: %s", p->what, position(p, at), said);
}

static int too_deep(struct parser *p)
{
    return err_set(p->err, ERR_LIMIT, "%s: the formula is nested more than %d deep (LIMIT_EXPR_DEPTH)", p->what,
                   LIMIT_EXPR_DEPTH);
}

static int emit(struct parser *p, struct expr_step step, size_t takes)
{
    if (p->expr->steps.count >= LIMIT_EXPR_BYTES)
        return err_set(p->err, ERR_LIMIT, "%s: the formula with expanded functions has more than %d steps", p->what,
                       LIMIT_EXPR_BYTES);
    *vec_push(&p->expr->steps) = step;
    p->depth += 1 - takes;
    if (p->depth > p->expr->depth)
        p->expr->depth = p->depth;
    return p->depth > LIMIT_EXPR_DEPTH ? too_deep(p) : 0;
}

static int push(struct parser *p, struct waiting_operator w)
{
    if (p->stack.count >= LIMIT_EXPR_DEPTH)
        return too_deep(p);
    *vec_push(&p->stack) = w;
    return 0;
}

/* ---- operators -------------------------------------------------------------------------------- */

static const struct {
    const char *sign; /* longer ones before those they begin with */
    uint16_t op;
    uint8_t binds;
} signs[] = {
    {"+", EXPR_ADD, EXPR_BINDS_SUM},
    {"-", EXPR_SUBTRACT, EXPR_BINDS_SUM},
    {"*", EXPR_MULTIPLY, EXPR_BINDS_PRODUCT},
    {"/", EXPR_DIVIDE, EXPR_BINDS_PRODUCT},
    {"^", EXPR_POWER, EXPR_BINDS_POWER},
    {"<=", EXPR_NOT_ABOVE, EXPR_BINDS_COMPARISON},
    {">=", EXPR_NOT_BELOW, EXPR_BINDS_COMPARISON},
    {"==", EXPR_EQUAL, EXPR_BINDS_COMPARISON},
    {"!=", EXPR_UNEQUAL, EXPR_BINDS_COMPARISON},
    {"<", EXPR_LESS, EXPR_BINDS_COMPARISON},
    {">", EXPR_ABOVE, EXPR_BINDS_COMPARISON},
    {"and", EXPR_AND, EXPR_BINDS_AND},
    {"or", EXPR_OR, EXPR_BINDS_OR},
};
static const char known_signs[] = "expected one of + - * / ^ < <= == != >= > and or";

const char *expr_op_sign(uint16_t op)
{
    size_t i = 0;
    while (i + 1 < ARRAY_SIZE(signs) && signs[i].op != op)
        i++;
    return signs[i].sign;
}

const char *expr_op_word(uint16_t op)
{
    return ops[op].word;
}

int expr_op_binds(uint16_t op)
{
    for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
        if (signs[i].op == op)
            return signs[i].binds;
    return op == EXPR_NEGATE ? EXPR_BINDS_SIGN : op == EXPR_NOT ? EXPR_BINDS_NOT : EXPR_BINDS_ATOM;
}

/* Which of `signs` is at `at`, or the number of them. A word ends where it cannot continue as a name. */
static size_t sign_at(const char *at)
{
    size_t i = 0;
    while (i < ARRAY_SIZE(signs) &&
           (!str_starts(at, signs[i].sign) || (expr_starts_name(*at) && expr_in_name(at[strlen(signs[i].sign)]))))
        i++;
    return i;
}

/* Move operators that bind at least so tightly from the stack to the output. */
static int settle(struct parser *p, int least)
{
    while (p->stack.count) {
        struct waiting_operator top = p->stack.items[p->stack.count - 1];
        if (top.op == EXPR_OPEN || expr_op_binds(top.op) < least)
            return 0;
        p->stack.count--;
        uint32_t takes = ops[top.op].least;
        if (emit(p, (struct expr_step){.op = top.op, .n = takes}, takes) < 0)
            return -1;
    }
    return 0;
}

/* ---- numbers ------------------------------------------------------------------------------------- */

struct suffix {
    double factor;
    bool time;
};

/* k, Mi, ms, KiB, %: a prefix, a unit, or both. */
static bool read_suffix(const char *at, size_t n, struct suffix *s)
{
    static const struct {
        const char *text;
        double factor;
    } prefixes[] = {{"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"k", 1e3},  {"M", 1e6},
                    {"G", 1e9},     {"T", 1e12},    {"P", 1e15},    {"m", 1e-3},    {"u", 1e-6}, {"n", 1e-9}};
    static const char *const units[] = {"s", "B", "Hz"};
    *s = (struct suffix){.factor = 1};
    if (n == 1 && *at == '%') {
        s->factor = 0.01;
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
        size_t len = strlen(prefixes[i].text);
        if (n >= len && strncmp(at, prefixes[i].text, len) == 0) {
            s->factor = prefixes[i].factor;
            at += len;
            n -= len;
            break;
        }
    }
    for (size_t i = 0; n && i < ARRAY_SIZE(units); i++)
        if (strlen(units[i]) == n && strncmp(at, units[i], n) == 0) {
            s->time = *at == 's';
            return true;
        }
    return n == 0;
}

static const char *number_end(const char *c)
{
    while (isdigit((unsigned char)*c) || *c == '.')
        c++;
    if (*c == 'e' || *c == 'E') {
        const char *exponent = c + 1 + (c[1] == '+' || c[1] == '-');
        if (isdigit((unsigned char)*exponent))
            for (c = exponent; isdigit((unsigned char)*c);)
                c++;
    }
    return c;
}

static int read_number(struct parser *p)
{
    const char *c = number_end(p->at), *behind = c;
    char *end, *digits = mem_strndup(p->at, (size_t)(c - p->at));
    double value = strtod(digits, &end);
    bool whole = *end == '\0' && end != digits;
    struct suffix suffix;
    mem_free(digits);
    while (expr_in_name(*behind) || *behind == '%')
        behind++;
    if (!whole || !read_suffix(c, (size_t)(behind - c), &suffix))
        return wrong(p, p->at,
                     "'%.*s' is not a number (optionally followed by k, M, G, T, Ki, Mi, Gi, m, u, n, s, B, Hz or %%); "
                     "quote a metric name that begins with a digit",
                     (int)(behind - p->at < 40 ? behind - p->at : 40), p->at);
    value *= suffix.factor;
    if (!isfinite(value))
        return wrong(p, p->at, "the number %.*s is too large", (int)(behind - p->at < 40 ? behind - p->at : 40), p->at);
    p->at = behind;
    return emit(p, (struct expr_step){.op = suffix.time ? EXPR_TIME : EXPR_NUMBER, .number = value}, 0);
}

/* ---- references to metrics -------------------------------------------------------------------------- */

static bool same_operand(const struct expr_operand *a, const struct expr_operand *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->run, b->run) == 0 && a->form == b->form && a->at == b->at &&
           a->statistic == b->statistic && a->over == b->over;
}

/* Takes the operand's names. */
static uint32_t operand_index(struct expr *e, struct expr_operand *o)
{
    for (size_t i = 0; i < e->operands.count; i++)
        if (same_operand(&e->operands.items[i], o)) {
            mem_free(o->name);
            mem_free(o->run);
            return (uint32_t)i;
        }
    *vec_push(&e->operands) = *o;
    return (uint32_t)(e->operands.count - 1);
}

static int emit_operand(struct parser *p, const struct expr_operand *o)
{
    struct expr_operand own = *o;
    own.name = mem_strdup(o->name);
    own.run = mem_strdup(o->run ? o->run : "");
    return emit(p, (struct expr_step){.op = EXPR_OPERAND, .n = operand_index(p->expr, &own)}, 0);
}

enum modifier { MOD_NONE, MOD_TOTAL, MOD_PARENT, MOD_SHARE, MOD_INCLUSIVE, MOD_EXCLUSIVE, MOD_STATISTIC };

static const struct {
    const char *word;
    enum modifier modifier;
    enum expr_statistic statistic;
} modifiers[] = {
    {"total", MOD_TOTAL, 0},
    {"parent", MOD_PARENT, 0},
    {"share", MOD_SHARE, 0},
    {"inclusive", MOD_INCLUSIVE, 0},
    {"exclusive", MOD_EXCLUSIVE, 0},
    {"sum", MOD_STATISTIC, EXPR_STAT_SUM},
    {"mean", MOD_STATISTIC, EXPR_STAT_MEAN},
    {"min", MOD_STATISTIC, EXPR_STAT_MIN},
    {"max", MOD_STATISTIC, EXPR_STAT_MAX},
    {"stddev", MOD_STATISTIC, EXPR_STAT_STDDEV},
    {"imbalance", MOD_STATISTIC, EXPR_STAT_IMBALANCE},
    {"count", MOD_STATISTIC, EXPR_STAT_COUNT},
    {"argmax", MOD_STATISTIC, EXPR_STAT_ARGMAX},
};
static const char *const dimensions[] = {"threads", "ranks", "repetitions", NULL};

const char *expr_statistic_word(enum expr_statistic s)
{
    for (size_t i = 0; i < ARRAY_SIZE(modifiers); i++)
        if (modifiers[i].modifier == MOD_STATISTIC && modifiers[i].statistic == s)
            return modifiers[i].word;
    return "";
}

const char *expr_dimension_word(enum expr_dimension d)
{
    return dimensions[d];
}

struct reference { /* one that is being read */
    struct expr_operand operand;
    struct buf name, run;
    bool share;
    size_t open; /* brackets of modifiers that are not closed yet */
    const char *at;
    const char *over;      /* behind the word */
    const char *statistic; /* where its word begins */
};

/* Does the next word, at r->at, open a modifier? Moves behind its parenthesis. A modifier counts once. */
static bool read_modifier(struct reference *r)
{
    for (size_t i = 0; i < ARRAY_SIZE(modifiers); i++) {
        size_t n = strlen(modifiers[i].word);
        const char *behind = str_starts(r->at, modifiers[i].word) ? expr_skip_blanks(r->at + n) : r->at;
        if (behind == r->at || expr_in_name(r->at[n]) || *behind != '(')
            continue;
        struct expr_operand *o = &r->operand;
        switch (modifiers[i].modifier) {
        case MOD_TOTAL:
        case MOD_PARENT:
            if (o->at != EXPR_HERE || r->share)
                return false;
            o->at = modifiers[i].modifier == MOD_TOTAL ? EXPR_AT_TOTAL : EXPR_AT_PARENT;
            break;
        case MOD_SHARE:
            if (r->open)
                return false;
            r->share = true;
            break;
        case MOD_STATISTIC:
            if (r->statistic)
                return false;
            o->statistic = modifiers[i].statistic;
            r->statistic = r->at;
            break;
        default:
            if (o->form != EXPR_FORM_OWN)
                return false;
            o->form = modifiers[i].modifier == MOD_INCLUSIVE ? EXPR_FORM_INCLUSIVE : EXPR_FORM_EXCLUSIVE;
        }
        r->open++;
        r->at = expr_skip_blanks(behind + 1);
        return true;
    }
    return false;
}

/* run(NAME).METRIC or METRIC. */
static bool read_metric_name(struct reference *r)
{
    bool quoted;
    const char *at = r->at;
    if (str_starts(at, "run") && *expr_skip_blanks(at + 3) == '(' && !expr_in_name(at[3])) {
        at = expr_skip_blanks(expr_skip_blanks(at + 3) + 1);
        if (expr_read_name(&at, &r->run, &quoted) != 1 || r->run.len == 0)
            return false;
        at = expr_skip_blanks(at);
        if (at[0] != ')' || at[1] != '.')
            return false;
        at += 2;
    }
    if (expr_read_name(&at, &r->name, &quoted) != 1 || r->name.len == 0 || (!quoted && *expr_skip_blanks(at) == '('))
        return false;
    r->at = at;
    return true;
}

static bool read_dimension(struct reference *r)
{
    const char *at = expr_skip_blanks(r->at);
    if (!str_starts(at, "over") || expr_in_name(at[4]))
        return false;
    r->over = at = expr_skip_blanks(at + 4);
    for (size_t i = 0; dimensions[i]; i++) {
        size_t n = strlen(dimensions[i]);
        if (str_starts(at, dimensions[i]) && !expr_in_name(at[n])) {
            r->operand.over = (enum expr_dimension)i;
            r->at = at + n;
            return true;
        }
    }
    return false;
}

static bool close_modifiers(struct reference *r)
{
    for (; r->open; r->open--) {
        r->at = expr_skip_blanks(r->at);
        if (*r->at != ')')
            return false;
        r->at++;
    }
    return true;
}

static int emit_reference(struct parser *p, struct reference *r)
{
    r->operand.name = r->name.bytes;
    r->operand.run = r->run.len ? r->run.bytes : NULL;
    if (emit_operand(p, &r->operand) < 0)
        return -1;
    if (!r->share)
        return 0;
    r->operand.at = EXPR_AT_TOTAL;
    if (emit_operand(p, &r->operand) < 0)
        return -1;
    return emit(p, (struct expr_step){.op = EXPR_DIVIDE, .n = 2}, 2);
}

/* sum, mean, min and max of several operands are functions, and of one over threads statistics. */
static bool may_be_function(const char *statistic)
{
    return str_starts(statistic, "sum") || str_starts(statistic, "m");
}

static int check_reference(struct parser *p, const struct reference *r, bool named, bool over)
{
    int word = r->statistic ? (int)strcspn(r->statistic, " \t\n(") : 0;
    if (!named)
        return wrong(p, r->at, "expected the name of a metric, as in total(M), run(NAME).M or mean(M over threads)");
    if (r->over && !over)
        return wrong(p, r->over, "statistics are over threads, ranks or repetitions");
    if (r->over && !r->statistic)
        return wrong(p, r->over, "'over' is only allowed in a statistic, as in mean(M over threads)");
    if (r->statistic && !r->over)
        return wrong(p, r->statistic, "'over' is missing, as in %.*s(M over threads)", word, r->statistic);
    return 0;
}

/* total(M), run(x).M, mean(M over threads) and the like: 1 it was one, 0 it is something else, and may be a function of
   the same name. */
static int read_reference(struct parser *p)
{
    struct reference r = {.at = p->at};
    while (read_modifier(&r))
        ;
    if (r.open == 0 && !(str_starts(r.at, "run") && *expr_skip_blanks(r.at + 3) == '('))
        return 0;
    bool named = read_metric_name(&r), over = named && read_dimension(&r);
    int status = 0;
    if (r.statistic != p->at || r.over || !may_be_function(p->at)) {
        status = check_reference(p, &r, named, over);
        if (status == 0 && !close_modifiers(&r))
            status = wrong(p, r.at, "')' is missing; only a metric name is allowed here");
        p->at = r.at;
        if (status == 0)
            status = emit_reference(p, &r) < 0 ? -1 : 1;
    }
    buf_release(&r.name);
    buf_release(&r.run);
    return status;
}

/* ---- functions ------------------------------------------------------------------------------------------ */

static int no_such_function(struct parser *p, const char *at, const char *name)
{
    struct VEC(const char *) names = {0};
    struct buf list = {0};
    for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
        if (ops[i].word) {
            buf_printf(&list, "%s%s", names.count ? ", " : "", ops[i].word);
            *vec_push(&names) = ops[i].word;
        }
    for (size_t i = 0; i < ARRAY_SIZE(modifiers); i++)
        *vec_push(&names) = modifiers[i].word;
    for (size_t i = 0; p->functions && i < p->functions->count; i++)
        *vec_push(&names) = p->functions->items[i]->name;
    *vec_push(&names) = NULL;
    const char *near = strlen(name) > 3 ? str_nearest(name, names.items) : NULL; /* all short names are similar */
    int status = near ? wrong(p, at, "unknown function '%.60s'; did you mean %s?", name, near)
                      : wrong(p, at, "unknown function '%.60s'; available: %s", name, list.bytes);
    vec_release(&names);
    buf_release(&list);
    return status;
}

/* At "NAME (": pushes the call and moves behind the bracket. */
static int open_call(struct parser *p, const char *start, const char *name)
{
    struct waiting_operator w = {.op = EXPR_OPEN, .function = EXPR_OP_COUNT, .at = start};
    for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
        if (ops[i].word && strcmp(ops[i].word, name) == 0)
            w.function = (uint16_t)i;
    for (size_t i = 0; w.function == EXPR_OP_COUNT; i++) {
        if (!p->functions || i == p->functions->count)
            return no_such_function(p, start, name);
        w.user = (uint32_t)i;
        if (strcmp(p->functions->items[i]->name, name) == 0)
            break;
    }
    p->at = expr_skip_blanks(p->at) + 1;
    return push(p, w);
}

static int check_arity(struct parser *p, const struct waiting_operator *w, uint32_t given)
{
    bool user = w->function == EXPR_OP_COUNT;
    const struct expr_function *f = user ? p->functions->items[w->user] : NULL;
    uint32_t least = user ? (uint32_t)f->parameter_count : ops[w->function].least;
    uint32_t most = user ? (uint32_t)f->parameter_count : ops[w->function].most;
    if (given >= least && given <= most)
        return 0;
    return wrong(p, w->at, "%s takes %u operand%s, not %u", user ? f->name : ops[w->function].word, least,
                 least == 1 ? "" : "s", given);
}

size_t expr_values_taken(const struct expr_step *s)
{
    return s->op == EXPR_OPERAND || s->op == EXPR_PARAMETER ? 0 : s->n;
}

/* Where each of the last `n` values begins among the steps: postfix, walked backwards. */
static void find_operands(const struct expr *e, uint32_t n, size_t *begins)
{
    size_t at = e->steps.count;
    while (n-- > 0) {
        for (size_t wanted = 1; wanted > 0; at--)
            wanted = wanted + expr_values_taken(&e->steps.items[at - 1]) - 1;
        begins[n] = at;
    }
}

/* The function's body with its parameters' places taken by the operands, which are the last values so far. */
static int expand(struct parser *p, const struct expr_function *f)
{
    struct VEC(struct expr_step) given = {0};
    size_t begins[LIMIT_EXPR_PARAMETERS + 1];
    uint32_t n = (uint32_t)f->parameter_count;
    find_operands(p->expr, n, begins);
    size_t first = n ? begins[0] : p->expr->steps.count;
    begins[n] = p->expr->steps.count;
    for (size_t i = first; i < p->expr->steps.count; i++)
        *vec_push(&given) = p->expr->steps.items[i];
    p->expr->steps.count = first;
    p->depth -= n;
    int status = 0;
    for (size_t i = 0; i < f->body->steps.count && status == 0; i++) {
        const struct expr_step *s = &f->body->steps.items[i];
        if (s->op == EXPR_OPERAND)
            status = emit_operand(p, &f->body->operands.items[s->n]);
        else if (s->op != EXPR_PARAMETER)
            status = emit(p, *s, s->n);
        else
            for (size_t k = begins[s->n]; k < begins[s->n + 1] && status == 0; k++)
                status = emit(p, given.items[k - first], expr_values_taken(&given.items[k - first]));
    }
    vec_release(&given);
    return status;
}

static int close_bracket(struct parser *p)
{
    if (settle(p, 0) < 0)
        return -1;
    if (p->stack.count == 0)
        return wrong(p, p->at, "unmatched ')'");
    struct waiting_operator open = p->stack.items[--p->stack.count];
    p->at++;
    if (open.function == EXPR_OPEN)
        return 0;
    uint32_t operands = open.operands + 1;
    if (check_arity(p, &open, operands) < 0)
        return -1;
    if (open.function == EXPR_OP_COUNT)
        return expand(p, p->functions->items[open.user]);
    return emit(p, (struct expr_step){.op = open.function, .n = operands}, operands);
}

static int read_comma(struct parser *p)
{
    if (settle(p, 0) < 0)
        return -1;
    if (p->stack.count == 0 || p->stack.items[p->stack.count - 1].function == EXPR_OPEN)
        return wrong(p, p->at, "',' is only allowed between operands of a function");
    p->stack.items[p->stack.count - 1].operands++;
    p->at++;
    return 0;
}

/* ---- operands and operators in turn ---------------------------------------------------------------------- */

static bool is_parameter(const struct parser *p, const char *name, uint32_t *ix)
{
    *ix = (uint32_t)str_index(name, p->parameters, p->parameter_count);
    return *ix < p->parameter_count;
}

/* A formula that has this name and no parameters, or NULL. */
static const struct expr_function *definition_named(const struct parser *p, const char *name)
{
    for (size_t i = 0; p->functions && i < p->functions->count; i++)
        if (p->functions->items[i]->parameter_count == 0 && strcmp(p->functions->items[i]->name, name) == 0)
            return p->functions->items[i];
    return NULL;
}

static int read_not(struct parser *p, const char *start)
{
    uint16_t before = p->stack.count ? p->stack.items[p->stack.count - 1].op : EXPR_OPEN;
    if ((before != EXPR_OPEN && expr_op_binds(before) > EXPR_BINDS_NOT) || (p->last && *p->last == '+'))
        return wrong(p, start, "'not' has lower precedence than the preceding operator; put it in parentheses");
    return push(p, (struct waiting_operator){.op = EXPR_NOT, .function = EXPR_OPEN, .at = start});
}

static int read_word(struct parser *p, bool *complete)
{
    struct buf name = {0};
    bool quoted;
    const char *start = p->at;
    const struct expr_function *definition;
    uint32_t ix;
    int status = read_reference(p);
    *complete = true;
    if (status != 0)
        return status < 0 ? -1 : 0;
    status = expr_read_name(&p->at, &name, &quoted);
    if (status < 0)
        status = wrong(p, p->at, "the quote %c is not closed", *p->at);
    else if (name.len == 0)
        status = wrong(p, start, "a name in quotes is empty");
    else if (!quoted && strcmp(name.bytes, "not") == 0) {
        *complete = false;
        status = read_not(p, start);
    } else if (!quoted && *expr_skip_blanks(p->at) == '(') {
        *complete = false;
        status = open_call(p, start, name.bytes);
    } else if (!quoted && !expr_is_bare_name(name.bytes))
        status = wrong(p, start, "unexpected '%s'; quote it if it is the name of a metric", name.bytes);
    else if (!quoted && is_parameter(p, name.bytes, &ix))
        status = emit(p, (struct expr_step){.op = EXPR_PARAMETER, .n = ix}, 0);
    else if (!quoted && (definition = definition_named(p, name.bytes)))
        status = expand(p, definition);
    else
        status = emit_operand(p, &(struct expr_operand){.name = name.bytes});
    buf_release(&name);
    return status;
}

static int nothing_here(struct parser *p)
{
    static const char wanted[] = "expected a number, the name of a metric or '('";
    if (*p->at == '\0' && !p->last)
        return wrong(p, p->at, "empty formula; %s", wanted);
    if (*p->at == '\0')
        return wrong(p, p->at, "missing operand after '%.*s'; %s", (int)(p->last_end - p->last), p->last, wanted);
    int len = (int)utf8_length(p->at, strlen(p->at));
    return wrong(p, p->at, "unexpected '%.*s'; %s", len ? len : 1, p->at, wanted);
}

/* Where an operand may begin. *complete: a whole one was read, an operator follows. */
static int read_operand(struct parser *p, bool *complete)
{
    const char *start = p->at;
    char c = *p->at;
    *complete = false;
    if (c == '-' || c == '+') {
        p->at++;
        return c == '+' ? 0 : push(p, (struct waiting_operator){.op = EXPR_NEGATE, .function = EXPR_OPEN, .at = start});
    }
    if (c == '(') {
        p->at++;
        return push(p, (struct waiting_operator){.op = EXPR_OPEN, .function = EXPR_OPEN, .at = start});
    }
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->at[1]))) {
        *complete = true;
        return read_number(p);
    }
    if (expr_starts_name(c) || c == '"' || c == '\'')
        return read_word(p, complete);
    return nothing_here(p);
}

/* Where an operator may follow. *operand_next: one was read that needs an operand on its right. */
static int read_operator(struct parser *p, bool *operand_next)
{
    *operand_next = true;
    if (*p->at == ')') {
        *operand_next = false;
        return close_bracket(p);
    }
    if (*p->at == ',')
        return read_comma(p);
    size_t sign = sign_at(p->at);
    if (sign == ARRAY_SIZE(signs)) {
        int len = (int)utf8_length(p->at, strlen(p->at));
        return wrong(p, p->at, "unexpected '%.*s' after '%.*s'; %s", len ? len : 1, p->at, (int)(p->last_end - p->last),
                     p->last, known_signs);
    }
    int binds = signs[sign].binds;
    /* "^" groups to the right: one already waiting stays below. A comparison that waits is found there. */
    if (settle(p, signs[sign].op == EXPR_POWER || binds == EXPR_BINDS_COMPARISON ? binds + 1 : binds) < 0)
        return -1;
    if (binds == EXPR_BINDS_COMPARISON && p->stack.count &&
        expr_op_binds(p->stack.items[p->stack.count - 1].op) == binds)
        return wrong(p, p->at, "comparisons do not chain; write A < B and B < C");
    struct waiting_operator w = {.op = signs[sign].op, .function = EXPR_OPEN, .at = p->at};
    p->at += strlen(signs[sign].sign);
    return push(p, w);
}

static int parse(struct parser *p)
{
    bool operand_next = true, complete;
    for (;;) {
        p->at = expr_skip_blanks(p->at);
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
        return wrong(p, p->stack.items[p->stack.count - 1].at, "unmatched '('; ')' is missing");
    return 0;
}

static int parse_whole(struct parser *p, struct expr **result)
{
    *result = NULL;
    if (strlen(p->text) > LIMIT_EXPR_BYTES)
        return err_set(p->err, ERR_LIMIT, "%s: the formula is longer than %d bytes (LIMIT_EXPR_BYTES)", p->what,
                       LIMIT_EXPR_BYTES);
    p->at = p->text;
    p->expr = mem_calloc(1, sizeof *p->expr);
    p->expr->per_second = 1;
    int status = parse(p);
    vec_release(&p->stack);
    if (status < 0) {
        expr_free(p->expr);
        return -1;
    }
    *result = p->expr;
    return 0;
}

int expr_parse_with(const char *text, const char *what, const struct expr_functions *functions, struct expr **result,
                    struct err *err)
{
    struct parser p = {.text = text, .what = what, .functions = functions, .err = err};
    return parse_whole(&p, result);
}

int expr_parse_input(const struct expr_input *in, struct expr **result, struct err *err)
{
    struct parser p = {.text = in->text, .what = in->what, .functions = in->functions, .input = in, .err = err};
    return parse_whole(&p, result);
}

int expr_parse(const char *text, const char *what, struct expr **result, struct err *err)
{
    return expr_parse_with(text, what, NULL, result, err);
}

int expr_parse_body(const struct expr_function *f, const char *text, const char *what,
                    const struct expr_functions *functions, struct expr **result, struct err *err)
{
    struct parser p = {.text = text,
                       .what = what,
                       .functions = functions,
                       .parameters = (const char *const *)f->parameters,
                       .parameter_count = f->parameter_count,
                       .err = err};
    return parse_whole(&p, result);
}

bool expr_is_function(const char *name)
{
    bool is = strcmp(name, "run") == 0 || strcmp(name, "not") == 0 || strcmp(name, "over") == 0;
    for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
        is = is || (ops[i].word && strcmp(ops[i].word, name) == 0);
    for (size_t i = 0; i < ARRAY_SIZE(modifiers); i++)
        is = is || strcmp(modifiers[i].word, name) == 0;
    return is;
}
