/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas as objects: operands, and release. */
#include "metrics/formula/expr_int.h"

void expr_free(struct expr *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->operands.count; i++) {
        mem_free(e->operands.items[i].name);
        mem_free(e->operands.items[i].run);
    }
    vec_release(&e->operands);
    vec_release(&e->steps);
    mem_free(e);
}

struct expr *expr_copy(const struct expr *from)
{
    struct expr *e = mem_calloc(1, sizeof *e);
    e->depth = from->depth;
    e->per_second = from->per_second;
    for (size_t i = 0; i < from->steps.count; i++)
        *vec_push(&e->steps) = from->steps.items[i];
    for (size_t i = 0; i < from->operands.count; i++) {
        struct expr_operand *o = vec_push(&e->operands);
        *o = from->operands.items[i];
        o->name = mem_strdup(o->name);
        o->run = mem_strdup(o->run);
    }
    return e;
}

size_t expr_name_count(const struct expr *e)
{
    return e->operands.count;
}

const char *expr_name(const struct expr *e, size_t i)
{
    return e->operands.items[i].name;
}

const struct expr_operand *expr_operand(const struct expr *e, size_t i)
{
    return &e->operands.items[i];
}
