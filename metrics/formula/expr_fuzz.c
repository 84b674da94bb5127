/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a formula: a result or an error message, nothing else; formulas that parse can be evaluated. */
#include "metrics/formula/formula.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *own_name(void *ctx, size_t operand)
{
    return expr_name(ctx, operand);
}

/* A printed formula can be parsed again, unless it is too long or too deep. */
static void check_writing(struct expr *e)
{
    struct buf text = {0};
    struct expr *again = NULL;
    struct err err = {0};
    expr_write(e, &text, own_name, e);
    if (expr_parse(text.bytes, "fuzz", &again, &err) < 0 && err.kind != ERR_LIMIT)
        __builtin_trap();
    expr_free(again);
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct expr *e = NULL;
    struct err err = {0};
    char *text = mem_strndup((const char *)data, size);
    if (expr_parse(text, "fuzz", &e, &err) < 0) {
        if (err.msg[0] == '\0' || e)
            __builtin_trap(); /* an error without words is a bug */
    } else {
        double *values = mem_calloc(expr_name_count(e) + 1, sizeof *values);
        for (size_t i = 0; i < expr_name_count(e); i++)
            values[i] = (double)i;
        volatile double value = expr_eval(e, values);
        (void)value;
        (void)expr_is_linear(e);
        mem_free(values);
        check_writing(e);
    }
    expr_free(e);
    e = NULL;
    struct expr_functions functions = {0};
    if (expr_functions_add(&functions, "f", "x y", text, "fuzz", &err) == 0) {
        if (expr_parse_with("f(f(1, A), B) + f(A, 2)", "fuzz", &functions, &e, &err) == 0)
            check_writing(e);
        expr_free(e);
    }
    expr_functions_release(&functions);
    char *name = NULL;
    const char *formula;
    if (expr_split_definition(text, &name, &formula, &err) == 0 && strlen(formula) > size)
        __builtin_trap();
    mem_free(name);
    mem_free(text);
    return 0;
}
