/*
 * What the files that read properties share: words that are taken one after the other, and what is wrong with them.
 *
 *     read.c              files: properties, metrics, tables
 *     read_clauses.c      the parts of a property, and formulas
 *     read_templates.c    templates, and what is made of them
 */
#ifndef DIAGNOSE_READ_INT_H
#define DIAGNOSE_READ_INT_H

#include "diagnose/diagnose_int.h"

#include <stdarg.h>

struct reader {
    struct properties *p;
    const struct token *t;
    struct warnings *problems;
    size_t wrong;
};

static inline int wrong(struct reader *r, const struct token *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
static inline int wrong(struct reader *r, const struct token *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *said = mem_vprintf(fmt, args);
    va_end(args);
    problem_at(r->problems, at, "%s", said);
    mem_free(said);
    r->wrong++;
    return -1;
}

static inline bool is(const struct token *t, const char *text)
{
    return t->kind != TOKEN_END && t->kind != TOKEN_STRING && strcmp(t->text, text) == 0;
}

static inline bool take(struct reader *r, const char *text)
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

static inline int expect(struct reader *r, const char *text, const char *after)
{
    if (take(r, text))
        return 0;
    return wrong(r, r->t, "'%s' is wanted after %s, not '%.40s'", text, after, shown(r->t));
}

/* A word, or a name in quotes. */
static inline const char *name(struct reader *r, const char *of_what)
{
    if (r->t->kind == TOKEN_WORD)
        return (r->t++)->text;
    if (r->t->kind == TOKEN_STRING)
        return token_unquoted(r->p->arena, (r->t++)->text);
    wrong(r, r->t, "the name of %s is wanted, not '%.40s'", of_what, shown(r->t));
    return NULL;
}

/* ---- read.c -------------------------------------------------------------------------------------- */

/* From the context to the closing brace. */
int read_body(struct reader *, struct property *);

/* ---- read_clauses.c ------------------------------------------------------------------------------- */

int read_let(struct reader *);
int read_context(struct reader *, struct property *);
int read_clause(struct reader *, struct property *);

/* ---- read_templates.c ------------------------------------------------------------------------------ */

int read_template(struct reader *);
/* What stands behind "PROPERTY x =". */
int read_instance(struct reader *, struct property *);

#endif
