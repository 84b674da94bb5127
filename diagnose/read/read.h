/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagnose/read - property files (ASL, doc/formats/properties.md): their parsed form.
 *
 *     tokens.c         a property file in words; templates are words that are read again
 *     read.c           properties, metrics, tables; clauses.c their parts, formulas by the metrics' engine; templates.c
 *     texts.c          titles and remedies with formulas in braces
 *     properties.c     all that was read, by name
 *     library.c        folders of files, and what refers to what in them
 */
#ifndef DIAGNOSE_READ_H
#define DIAGNOSE_READ_H

#include "diagnose/diagnose.h"
#include "diagnose/read/tokens.h"

#define NONE UINT32_MAX

struct condition {
    const char *id; /* "" none */
    struct expr *expr;
};
struct guarded {        /* one of a MAX list */
    uint32_t condition; /* counts where this one holds; NONE: always */
    struct expr *expr;
};
struct row_filter { /* WHERE column IS "a|b*" */
    const char *what;
    const char *globs;
    bool not ;
};
/* Names in the braces of a text that every finding has. */
enum text_word { WORD_PLACE, WORD_NAME, WORD_FILE, WORD_LINE, WORD_PROCEDURE, WORD_MODULE, WORD_RUN, WORD_NONE };
struct piece {          /* of a text: literal, or a value */
    uint32_t condition; /* printed if this one holds; NONE: always */
    const char *literal;
    const char *formula; /* as written */
    enum text_word word;
    struct expr *expr; /* NULL: the word */
    const char *format;
};
struct text VEC(struct piece);

/* Kinds of place that a property is for: bits of enum place_kind, and these. */
enum { FOR_INNERMOST = 1 << 8, FOR_PATH = 1 << 9 };

struct property {
    const char *name;
    const struct token *at; /* where its name stands */
    uint32_t kinds;
    const char *table, *at_column; /* FOR ROWS OF; NULL: of places. at_column NULL: the first that leads to a place */
    bool meta, hypothesis;
    bool together; /* all places where it holds are one finding */
    const char *refines_name;
    const struct token *refines_at;
    uint32_t refines; /* NONE */
    struct VEC(struct condition) conditions;
    struct VEC(struct guarded) confidences;
    struct VEC(struct guarded) severities;
    struct VEC(struct guarded) leasts; /* of the possible gain; none: as much as the severity */
    struct VEC(struct row_filter) filters;
    struct VEC(const char *) needs; /* required measurements; none: all that formulas name */
    struct text title, evidence, explanation, remedy;
    uint32_t rank; /* meta properties come after those they are made of */
};

struct alias { /* METRIC time = "perf::TASK-CLOCK" | CPUTIME */
    const char *name;
    struct VEC(const char *) names;
};
struct table_source { /* TABLE evictors FROM "simulate" */
    const char *table, *made_by;
};
struct template
{
    const char *name;
    struct VEC(const char *) parameters;
    struct tokens body; /* from the bracket of its context to the closing brace */
};

struct properties {
    struct arena *arena;
    struct VEC(struct property *) list;
    struct VEC(struct alias) aliases;
    struct VEC(struct table_source) sources;
    struct VEC(struct template *) templates;
    struct VEC(struct tokens) files;
    struct expr_functions definitions;   /* LETs outside of properties */
    struct VEC(const char *) statistics; /* NULL-terminated after properties_finish */
    bool finished;
};

uint32_t properties_find(const struct properties *, const char *name);
const struct alias *properties_alias(const struct properties *, const char *name);
/* Its requirement of a table, or NULL. */
const char *properties_table_maker(const struct properties *, const char *table);
void property_release(struct property *);
/* Calls each(ctx, expr) for every formula of conditions, confidences and severities. */
void property_each_expr(const struct property *, void (*each)(void *ctx, const struct expr *), void *ctx);

#endif
