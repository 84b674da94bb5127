/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Content MathML to infix: the formulas of HPCVIEW configurations in today's readable form.
 *
 *     <apply><divide/> <apply><plus/><ci>A</ci><ci>B</ci></apply> <cn>2</cn></apply>      (A + B) / 2
 */
#include "metrics/formula/formula.h"

enum { BINDS_SUM = 1, BINDS_PRODUCT, BINDS_SIGN, BINDS_POWER, BINDS_ATOM };

static const struct math_operator {
    const char *element, *infix, *function; /* one of the two */
    size_t least, most;                     /* operands */
    int binds;
} operators[] = {
    {"plus", " + ", NULL, 1, SIZE_MAX, BINDS_SUM},      {"minus", " - ", NULL, 1, 2, BINDS_SUM},
    {"times", " * ", NULL, 1, SIZE_MAX, BINDS_PRODUCT}, {"divide", " / ", NULL, 2, 2, BINDS_PRODUCT},
    {"power", " ^ ", NULL, 2, 2, BINDS_POWER},          {"max", NULL, "max(", 1, SIZE_MAX, BINDS_ATOM},
    {"min", NULL, "min(", 1, SIZE_MAX, BINDS_ATOM},
};
static const char known_operators[] = "plus, minus, times, divide, power, max and min";

struct operand {
    char *text;
    int binds; /* how tightly its outermost operator does */
};

struct mathml_frame { /* one <apply>, or <math> at the bottom */
    const struct math_operator *op;
    size_t first; /* its operands are operands[first ..] */
};

struct mathml {
    struct VEC(struct operand) operands;
    struct VEC(struct mathml_frame) frames;
};

struct mathml *mathml_create(void)
{
    struct mathml *m = mem_calloc(1, sizeof *m);
    *vec_push(&m->frames) = (struct mathml_frame){0};
    return m;
}

void mathml_free(struct mathml *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->operands.count; i++)
        mem_free(m->operands.items[i].text);
    vec_release(&m->operands);
    vec_release(&m->frames);
    mem_free(m);
}

static const struct math_operator *find_operator(const char *element)
{
    for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
        if (strcmp(operators[i].element, element) == 0)
            return &operators[i];
    return NULL;
}

int mathml_begin(struct mathml *m, const struct xml_event *event, const char *where, struct err *err)
{
    const char *element = event->element;
    struct mathml_frame *frame = &m->frames.items[m->frames.count - 1];
    bool leaf = strcmp(element, "ci") == 0 || strcmp(element, "cn") == 0;
    const struct math_operator *op = find_operator(element);
    if (m->frames.count > 1 && !frame->op && !op)
        return err_set(err, ERR_FORMAT, "%s: the first element in <apply> must be an operator (%s), not <%s>", where,
                       known_operators, element);
    if (op) {
        if (m->frames.count == 1 || frame->op)
            return err_set(err, ERR_FORMAT, "%s: <%s/> can only be the first element in <apply>", where, element);
        frame->op = op;
        return 0;
    }
    if (strcmp(element, "apply") == 0) {
        *vec_push(&m->frames) = (struct mathml_frame){.first = m->operands.count};
        return 0;
    }
    if (!leaf)
        return err_set(err, ERR_FORMAT, "%s: unknown element <%s> in a formula; available: apply, cn, ci, %s", where,
                       element, known_operators);
    return 0;
}

static int take_number(struct mathml *m, const char *text, const char *where, struct err *err)
{
    struct expr *number = NULL;
    char *digits = str_trimmed(text);
    bool minus = *digits == '-';
    if (expr_parse(digits, where, &number, NULL) < 0 || expr_name_count(number) != 0 ||
        digits[minus + strspn(digits + minus, "0123456789.eE+-")] != '\0') {
        err_set(err, ERR_FORMAT, "%s: <cn> must contain a number, not '%.100s'", where, digits);
        expr_free(number);
        mem_free(digits);
        return -1;
    }
    expr_free(number);
    /* "1-2" reads as a formula, so such text binds like a sum; a number proper is an atom */
    bool plain = digits[strspn(digits, "0123456789.eE")] == '\0';
    *vec_push(&m->operands) = (struct operand){digits, plain ? BINDS_ATOM : BINDS_SUM};
    return 0;
}

static int take_name(struct mathml *m, const char *text, const char *where, struct err *err)
{
    struct buf quoted = {0};
    char *name = str_trimmed(text);
    int status = 0;
    if (*name == '\0')
        status = err_set(err, ERR_FORMAT, "%s: <ci> is empty; expected the name of a metric", where);
    else {
        expr_quote_name(&quoted, name);
        *vec_push(&m->operands) = (struct operand){quoted.bytes, BINDS_ATOM};
    }
    mem_free(name);
    return status;
}

static void add_operand(struct buf *out, const struct operand *o, int needed)
{
    buf_printf(out, o->binds < needed ? "(%s)" : "%s", o->text);
}

static int combine(struct mathml *m, const char *where, struct err *err)
{
    struct mathml_frame frame = m->frames.items[--m->frames.count];
    size_t n = m->operands.count - frame.first;
    const struct operand *given = n ? m->operands.items + frame.first : NULL;
    struct buf out = {0};
    if (!frame.op)
        return err_set(err, ERR_FORMAT, "%s: <apply> is empty; expected an operator (%s) and its operands", where,
                       known_operators);
    if (n < frame.op->least || n > frame.op->most)
        return err_set(err, ERR_FORMAT, "%s: <%s/> has %zu operand%s; it takes %s", where, frame.op->element, n,
                       n == 1 ? "" : "s",
                       frame.op->most == frame.op->least ? "two"
                       : frame.op->most == 2             ? "one or two"
                                                         : "one or more");
    int binds = frame.op->binds;
    if (frame.op->function) {
        buf_str(&out, frame.op->function);
        for (size_t i = 0; i < n; i++)
            buf_printf(&out, "%s%s", i ? ", " : "", given[i].text);
        buf_str(&out, ")");
    } else if (n == 1 && strcmp(frame.op->element, "minus") == 0) {
        buf_str(&out, "-");
        binds = BINDS_SIGN;
        add_operand(&out, &given[0], BINDS_POWER);
    } else if (n == 1) {
        binds = given[0].binds;
        buf_str(&out, given[0].text);
    } else
        for (size_t i = 0; i < n; i++) {
            /* a - (b - c) and (a ^ b) ^ c need their brackets, a + b + c does not */
            int needed = frame.op->binds == BINDS_POWER ? BINDS_ATOM : i ? frame.op->binds + 1 : frame.op->binds;
            buf_str(&out, i ? frame.op->infix : "");
            add_operand(&out, &given[i], needed);
        }
    for (size_t i = 0; i < n; i++)
        mem_free(given[i].text);
    m->operands.count = frame.first;
    *vec_push(&m->operands) = (struct operand){out.bytes, binds};
    if (out.len > LIMIT_EXPR_BYTES) /* here already: the text is copied once per level */
        return err_set(err, ERR_LIMIT, "%s: the formula is longer than %d bytes (LIMIT_EXPR_BYTES)", where,
                       LIMIT_EXPR_BYTES);
    return 0;
}

int mathml_end(struct mathml *m, const struct xml_event *event, const char *where, struct err *err)
{
    if (strcmp(event->element, "apply") == 0)
        return combine(m, where, err);
    if (strcmp(event->element, "cn") == 0)
        return take_number(m, event->text, where, err);
    if (strcmp(event->element, "ci") == 0)
        return take_name(m, event->text, where, err);
    return 0;
}

const char *mathml_finish(struct mathml *m, const char *where, struct err *err)
{
    if (m->operands.count == 1)
        return m->operands.items[0].text;
    err_set(err, ERR_FORMAT, "%s: <math> must contain one <apply>, <ci> or <cn>, not %zu", where, m->operands.count);
    return NULL;
}
