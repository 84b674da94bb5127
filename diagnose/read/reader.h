/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files that read properties: a sequence of words, and errors. */
#ifndef DIAGNOSE_READER_H
#define DIAGNOSE_READER_H

#include "diagnose/read/read.h"

#include <stdarg.h>

struct asl_reader {
    struct properties *p;
    const struct token *t;
    struct warnings *problems;
    size_t wrong;
};

static inline int wrong(struct asl_reader *r, const struct token *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
static inline int wrong(struct asl_reader *r, const struct token *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *said = mem_vprintf(fmt, args);
    va_end(args);
    token_problem(r->problems, at, "%s", said);
    mem_free(said);
    r->wrong++;
    return -1;
}

static inline bool is(const struct token *t, const char *text)
{
    return t->kind != TOKEN_END && t->kind != TOKEN_STRING && strcmp(t->text, text) == 0;
}

static inline bool take(struct asl_reader *r, const char *text)
{
    if (!is(r->t, text))
        return false;
    r->t++;
    return true;
}

static inline const char *shown(const struct token *t)
{
    return t->kind == TOKEN_END ? "the end of the file" : t->text;
}

static inline int expect(struct asl_reader *r, const char *text, const char *after)
{
    if (take(r, text))
        return 0;
    return wrong(r, r->t, "expected '%s' after %s, not '%.40s'", text, after, shown(r->t));
}

/* A word, or a name in quotes. */
static inline const char *name(struct asl_reader *r, const char *of_what)
{
    if (r->t->kind == TOKEN_WORD)
        return (r->t++)->text;
    if (r->t->kind == TOKEN_STRING)
        return token_unquoted(r->p->arena, (r->t++)->text);
    wrong(r, r->t, "expected the name of %s, not '%.40s'", of_what, shown(r->t));
    return NULL;
}

/* ---- clauses.c ------------------------------------------------------------------------------------ */

int asl_read_let(struct asl_reader *);
/* Behind the ';' that ends a clause that is wrong; a '}' stays. */
void asl_recover(struct asl_reader *);
/* From the context to the closing brace. */
int asl_read_body(struct asl_reader *, struct property *);

/* ---- templates.c ----------------------------------------------------------------------------------- */

int asl_read_template(struct asl_reader *);
/* The right side of "PROPERTY x =". */
int asl_read_instance(struct asl_reader *, struct property *);

/* ---- texts.c --------------------------------------------------------------------------------------- */

/* `string` is the text without quotes. -1: *err says why. */
int property_text_parse(struct arena *, const char *string, const struct token *at, const struct expr_functions *,
                        struct text *, struct err *);

#endif
