/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that a user defines: their names, their parameters, and the formulas that they stand for. */
#include "metrics/formula/expr_int.h"

#include <ctype.h>

static void function_free(struct expr_function *f)
{
    for (size_t i = 0; i < f->parameter_count; i++)
        mem_free(f->parameters[i]);
    mem_free(f->name);
    expr_free(f->body);
    mem_free(f);
}

static int take_parameters(struct expr_function *f, const char *parameters, const char *what, struct err *err)
{
    struct buf name = {0};
    bool quoted;
    int status = 0;
    for (const char *at = expr_skip_blanks(parameters); *at && status == 0;) {
        if (f->parameter_count == LIMIT_EXPR_PARAMETERS)
            status = err_set(err, ERR_LIMIT, "%s: a function has at most %d parameters", what, LIMIT_EXPR_PARAMETERS);
        else if (expr_read_name(&at, &name, &quoted) != 1 || quoted || !expr_is_bare_name(name.bytes))
            status =
                err_set(err, ERR_FORMAT, "%s: '%.60s' is not a list of parameters: names separated by blanks or commas",
                        what, parameters);
        else
            f->parameters[f->parameter_count++] = mem_strdup(name.bytes);
        while (*at == ',' || isspace((unsigned char)*at))
            at++;
    }
    buf_release(&name);
    if (status == 0 && f->parameter_count == 0)
        status = err_set(err, ERR_FORMAT, "%s: a function has at least one parameter", what);
    return status;
}

static bool is_taken(const struct expr_functions *l, const char *name)
{
    bool taken = expr_is_function(name);
    for (size_t i = 0; i < l->count; i++)
        taken = taken || strcmp(l->items[i]->name, name) == 0;
    return taken;
}

/* May something be called so? */
static int check_function(const struct expr_functions *l, const char *name, const char *what, struct err *err)
{
    if (!expr_is_bare_name(name))
        return err_set(err, ERR_FORMAT, "%s: '%.60s' is not a valid function name: letters, digits and '_'", what,
                       name);
    if (is_taken(l, name))
        return err_set(err, ERR_FORMAT, "%s: the function '%.60s' already exists", what, name);
    if (l->count == LIMIT_EXPR_FUNCTIONS)
        return err_set(err, ERR_LIMIT, "%s: more than %d functions", what, LIMIT_EXPR_FUNCTIONS);
    return 0;
}

static void keep_function(struct expr_functions *l, struct expr_function *f)
{
    l->items = mem_realloc(l->items, l->count + 1, sizeof *l->items);
    l->items[l->count++] = f;
}

int expr_define(struct expr_functions *l, const char *name, const struct expr_input *in, struct err *err)
{
    struct expr *body;
    if (check_function(l, name, in->what, err) < 0 || expr_parse_input(in, &body, err) < 0)
        return -1;
    struct expr_function *f = mem_calloc(1, sizeof *f);
    *f = (struct expr_function){.name = mem_strdup(name), .body = body};
    keep_function(l, f);
    return 0;
}

int expr_functions_add(struct expr_functions *l, const char *name, const char *parameters, const char *formula,
                       const char *what, struct err *err)
{
    struct expr_function *f;
    if (check_function(l, name, what, err) < 0)
        return -1;
    f = mem_calloc(1, sizeof *f);
    f->name = mem_strdup(name);
    if (take_parameters(f, parameters, what, err) < 0) {
        function_free(f);
        return -1;
    }
    if (expr_parse_body(f, formula, what, l, &f->body, err) < 0) {
        function_free(f);
        return -1;
    }
    keep_function(l, f);
    return 0;
}

void expr_functions_truncate(struct expr_functions *l, size_t count)
{
    while (l->count > count)
        function_free(l->items[--l->count]);
}

void expr_functions_release(struct expr_functions *l)
{
    expr_functions_truncate(l, 0);
    mem_free(l->items);
    *l = (struct expr_functions){0};
}
