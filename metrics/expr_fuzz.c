/* Any bytes as a formula: an answer or a sentence, never anything else; what parses can be evaluated. */
#include "metrics/metrics_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    }
    expr_free(e);
    char *name = NULL;
    const char *formula;
    if (expr_split_definition(text, &name, &formula, &err) == 0 && strlen(formula) > size)
        __builtin_trap();
    mem_free(name);
    mem_free(text);
    return 0;
}
