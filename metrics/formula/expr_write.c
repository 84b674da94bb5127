/* SPDX-License-Identifier: BSD-3-Clause */
/* A formula as text again, with as few brackets as the grammar allows. */
#include "metrics/formula/expr_int.h"

struct task { /* something still to be written: a text, or the value that a step makes */
    const char *text;
    uint32_t step;
    int least; /* in brackets where it binds less */
};

struct expr_writer {
    const struct expr *expr;
    uint32_t *begin; /* by step: the first step of the value it makes */
    struct VEC(struct task) tasks;
    struct buf *out;
    const char *(*name)(void *ctx, size_t operand);
    void *ctx;
};

static void later(struct expr_writer *w, const char *text)
{
    *vec_push(&w->tasks) = (struct task){.text = text};
}

static void later_step(struct expr_writer *w, uint32_t step, int least)
{
    *vec_push(&w->tasks) = (struct task){.step = step, .least = least};
}

/* The first to be written is pushed last. */
static void push_binary(struct expr_writer *w, uint32_t step, int binds)
{
    uint32_t right = step - 1, left = w->begin[right] - 1;
    uint16_t op = w->expr->steps.items[step].op;
    bool power = op == EXPR_POWER, comparison = binds == EXPR_BINDS_COMPARISON;
    later_step(w, right, power ? EXPR_BINDS_SIGN : binds + 1);
    later(w, power ? "" : " ");
    later(w, expr_op_sign(op));
    later(w, power ? "" : " ");
    later_step(w, left, power || comparison ? binds + 1 : binds);
}

static void push_call(struct expr_writer *w, uint32_t step)
{
    const struct expr_step *s = &w->expr->steps.items[step];
    uint32_t value = step - 1;
    later(w, ")");
    for (uint32_t i = 0; i < s->n; i++) {
        later_step(w, value, 0);
        later(w, i + 1 < s->n ? ", " : "(");
        value = w->begin[value] - 1;
    }
    later(w, expr_op_word(s->op));
}

static void write_operand(struct expr_writer *w, uint32_t ix)
{
    struct expr_operand o = w->expr->operands.items[ix];
    o.run = (char *)"";
    o.statistic = EXPR_NO_STATISTIC;
    o.name = (char *)w->name(w->ctx, ix);
    expr_operand_text(&o, w->out);
}

static void write_step(struct expr_writer *w, uint32_t step, int least)
{
    const struct expr_step *s = &w->expr->steps.items[step];
    int binds = expr_op_binds(s->op);
    if (binds < least) {
        buf_char(w->out, '(');
        later(w, ")");
    }
    if (s->op == EXPR_OPERAND)
        write_operand(w, s->n);
    else if (s->op == EXPR_NUMBER || s->op == EXPR_TIME)
        buf_double(w->out, s->op == EXPR_TIME ? s->number * w->expr->per_second : s->number);
    else if (s->op == EXPR_NEGATE || s->op == EXPR_NOT) {
        buf_str(w->out, s->op == EXPR_NOT ? "not " : "-");
        later_step(w, step - 1, binds);
    } else if (expr_op_word(s->op))
        push_call(w, step);
    else
        push_binary(w, step, binds);
}

void expr_write(const struct expr *e, struct buf *out, const char *(*name)(void *ctx, size_t operand), void *ctx)
{
    struct expr_writer w = {.expr = e, .out = out, .name = name, .ctx = ctx};
    w.begin = mem_alloc(e->steps.count * sizeof *w.begin);
    for (uint32_t i = 0; i < e->steps.count; i++) {
        uint32_t first = i;
        for (size_t n = expr_values_taken(&e->steps.items[i]); n > 0; n--)
            first = w.begin[first - 1];
        w.begin[i] = first;
    }
    later_step(&w, (uint32_t)e->steps.count - 1, 0);
    while (w.tasks.count) {
        struct task t = w.tasks.items[--w.tasks.count];
        if (t.text)
            buf_str(out, t.text);
        else
            write_step(&w, t.step, t.least);
    }
    vec_release(&w.tasks);
    mem_free(w.begin);
}

void expr_operand_text(const struct expr_operand *o, struct buf *out)
{
    static const char *const at[] = {"", "total(", "parent("}, *const form[] = {"", "inclusive(", "exclusive("};
    const char *statistic = expr_statistic_word(o->statistic);
    buf_printf(out, "%s%s%s%s", at[o->at], form[o->form], statistic, *statistic ? "(" : "");
    if (*o->run) {
        buf_str(out, "run(");
        expr_quote_name(out, o->run);
        buf_str(out, ").");
    }
    expr_quote_name(out, o->name);
    if (*statistic)
        buf_printf(out, " over %s", expr_dimension_word(o->over));
    for (int open = (o->at != EXPR_HERE) + (o->form != EXPR_FORM_OWN) + (*statistic != '\0'); open > 0; open--)
        buf_char(out, ')');
}
