/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in formulas: their form, quoting, NAME = FORMULA. */
#include "metrics/formula/expr_int.h"

#include <ctype.h>

bool expr_starts_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

bool expr_in_name(char c)
{
    return expr_starts_name(c) || isdigit((unsigned char)c) || c == ':' || c == '.';
}

static bool is_operator_word(const char *name)
{
    return strcmp(name, "and") == 0 || strcmp(name, "or") == 0 || strcmp(name, "not") == 0;
}

bool expr_is_bare_name(const char *name)
{
    if (!expr_starts_name(*name) || is_operator_word(name))
        return false;
    for (const char *c = name; *c; c++)
        if (!expr_in_name(*c))
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

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* false: its quote is not closed. */
static bool read_quoted(const char **at, struct buf *name)
{
    const char *c = *at;
    for (char quote = *c++; *c != quote; c++) {
        if (*c == '\\' && (c[1] == quote || c[1] == '\\'))
            c++;
        if (*c == '\0')
            return false;
        buf_char(name, *c);
    }
    buf_str(name, "");
    *at = c + 1;
    return true;
}

/* Behind a part of a name: is there another one, as in RUN."perf::TASK-CLOCK" or "a run".CYCLES? A bare part has its '.'. */
static bool goes_on(const char **at, struct buf *name)
{
    const char *c = *at;
    if (!is_quote(c[-1]))
        return c[-1] == '.' && is_quote(*c);
    if (*c != '.' || !(is_quote(c[1]) || expr_starts_name(c[1])))
        return false;
    buf_char(name, '.');
    *at = c + 1;
    return true;
}

int expr_read_name(const char **at, struct buf *name, bool *quoted)
{
    const char *c = *at;
    name->len = 0;
    *quoted = false;
    if (!is_quote(*c) && !expr_starts_name(*c))
        return 0;
    do {
        bool in_quotes = is_quote(*c);
        *quoted = *quoted || in_quotes;
        if (in_quotes && !read_quoted(&c, name)) {
            *at = c;
            return -1;
        }
        while (!in_quotes && expr_in_name(*c))
            buf_char(name, *c++);
    } while (goes_on(&c, name));
    *at = c;
    return 1;
}

const char *expr_skip_blanks(const char *c)
{
    while (isspace((unsigned char)*c))
        c++;
    return c;
}

int expr_split_definition(const char *text, char **name, const char **formula, struct err *err)
{
    struct buf read = {0};
    const char *at = expr_skip_blanks(text);
    bool quoted;
    int status = expr_read_name(&at, &read, &quoted);
    at = expr_skip_blanks(at);
    *name = NULL;
    if (status <= 0 || read.len == 0)
        status = err_set(
            err, ERR_USAGE,
            "'%s': expected NAME = FORMULA, where NAME has letters, digits, '_', '.' and ':', or is quoted", text);
    else if (*at != '=')
        status = err_set(err, ERR_USAGE, "'%s': '=' is missing after the name; expected NAME = FORMULA", text);
    else {
        *name = mem_strdup(read.bytes);
        *formula = expr_skip_blanks(at + 1);
        status = 0;
    }
    buf_release(&read);
    return status;
}

const char *expr_metric_nearest(const char *name, const char *const *names)
{
    /* "perf::TASK" of perf::TASK-CLOCK, whose '-' was read as a minus; a name not typed to its end */
    for (size_t i = 0; names[i] && strlen(name) > 2; i++)
        if (str_starts(names[i], name))
            return names[i];
    return str_nearest(name, names);
}
