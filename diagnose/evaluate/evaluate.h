/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagnose/evaluate - properties in runs: the meaning of their names there, where they hold, and their texts with names
 * and numbers filled in.
 *
 *     resolve.c      what the names of a property mean in a run
 *     paths.c        columns that lead from a table to others
 *     evaluate.c     where properties hold, column by column
 *     texts.c        labels of places, and texts filled in
 */
#ifndef DIAGNOSE_EVALUATE_H
#define DIAGNOSE_EVALUATE_H

#include "diagnose/read/read.h"

enum source_kind {
    FROM_NOTHING,  /* missing everywhere */
    FROM_METRIC,   /* at the node, or of a row's place */
    FROM_CONSTANT, /* of the run */
    FROM_PLACE,    /* a fact about the place itself */
    FROM_TABLE,    /* a column of a table whose rows are about places: at the place */
    FROM_ROW,      /* rows: a column of the row, or of rows it refers to */
    FROM_PROPERTY  /* meta: another property there */
};
enum { PATH_MOST = 4 }; /* level.line is two */
struct source {
    enum source_kind kind;
    enum expr_at at;
    enum value_form form;
    size_t metric, error_metric; /* error_metric: whose sampling gives the error; SIZE_MAX: none */
    bool absent_is_zero;         /* of one of several runs */
    double constant, parts;      /* parts: a mean over so many */
    int fact;                    /* FROM_PLACE; FROM_PROPERTY: 0 truth, 1 severity, 2 confidence */
    const struct table *table;
    const struct table *through[PATH_MOST]; /* FROM_ROW: the tables on the way */
    size_t columns[PATH_MOST], column_count;
    uint32_t property;
};
struct resolved_expr {
    struct expr *expr; /* its own copy */
    struct source *sources;
};
struct domain {                /* the places for which a property is tested */
    size_t tree;               /* places and nodes */
    const struct table *table; /* rows; NULL: nodes of the tree */
    const uint32_t *ids;
    size_t count;
    size_t place_path[PATH_MOST], place_path_count; /* rows: the columns that lead to the place */
    const struct table *place_through[PATH_MOST];
};
struct candidate {
    uint32_t id, condition;
    double severity;    /* percent of the run that is likely gained: (3 least + most) / 4 */
    double least, most; /* the interval of the gain */
    double confidence, error;
};
struct resolved { /* a property, seen from a run */
    const struct property *property;
    uint32_t index, run;
    const struct domain *domain; /* NULL: it cannot be tested */
    const char *why_not;
    struct VEC(const char *) lacking; /* events, and tables as "table NAME" */
    struct VEC(struct resolved_expr) conditions;
    struct VEC(struct resolved_expr) confidences;
    struct VEC(struct resolved_expr) severities;
    struct VEC(struct resolved_expr) leasts;
    struct VEC(struct resolved_expr) pieces; /* of title, evidence, explanation, remedy in turn; expr NULL: none */
    struct VEC(struct candidate) candidates;
    size_t uncertain;                      /* held, with less severity than twice its error */
    size_t without_value;                  /* holds, and the severity has no value */
    double *truth, *severity, *confidence; /* by node, for meta properties; NULL else */
};

struct evaluator {
    const struct experiment *e;
    const struct properties *p;
    struct diagnose_options options;
    struct arena *arena;
    size_t place_tree; /* that properties of places are asked of */
    struct VEC(struct resolved *) resolved;
    struct VEC(struct domain *) domains;
    struct VEC(uint32_t) domain_kinds;
    double **columns; /* [(tree * metrics + metric) * forms + form]: dense, where something asks for them */
    struct VEC(uint32_t *) table_rows; /* by table: its row by place, NONE; as asked for */
    uint8_t *innermost;                /* by place: a loop without loops in it */
    uint8_t *sourced;                  /* by place: a line of it, or in it, is known */
};

void evaluator_init(struct evaluator *, const struct experiment *, const struct properties *,
                    const struct diagnose_options *);
void evaluator_release(struct evaluator *);
/* Every property from every run. */
void evaluator_resolve(struct evaluator *);
place_ix domain_row_place(const struct domain *, uint32_t row);
/* A cell at the end of a path of columns; false: missing. */
struct cell_at {
    const struct table_column *column;
    union table_cell cell;
};
bool diagnose_cell_on_path(const struct table *, const struct table *const *through, const size_t *columns,
                           size_t count, uint32_t row, struct cell_at *);
bool diagnose_table_path(const struct experiment *, const struct table *, const char *name,
                         const struct table **through, size_t *columns, size_t *count);

/* ---- evaluate.c --------------------------------------------------------------------------------------- */

/* Values of an operand at ids[0..n) of the domain. */
void resolved_operand_values(const struct evaluator *, const struct resolved *, const struct source *,
                             const uint32_t *ids, size_t n, double *out);
void evaluator_run(struct evaluator *);
struct tested {
    enum diagnose_state state;
    struct candidate candidate;
};
/* One property, which can be tested, at one id of its domain. */
struct tested evaluator_test_at(const struct evaluator *, const struct resolved *, uint32_t id);
double resolved_value(const struct evaluator *, const struct resolved *, const struct resolved_expr *, uint32_t id);
bool resolved_filters_hold(const struct evaluator *, const struct resolved *, uint32_t id);
/* One of "a|b*|c" fits. */
bool resolved_name_fits(const char *globs, const char *word);
/* The metric called "time" of a run, or of the last run that has one; SIZE_MAX: none. */
size_t evaluator_time(const struct evaluator *, uint32_t run);
/* Load modules in which threads wait by spinning. */
#define RUNTIME_LIBRARIES "libgomp.so*|libomp.so*|libomp5*|libiomp5*|libtbb.so*"
place_ix domain_place(const struct evaluator *, const struct domain *, uint32_t id);
/* Of nodes of a tree: is this one of them? */
bool resolved_has(const struct resolved *, uint32_t id);

/* ---- texts.c -------------------------------------------------------------------------------------------- */

/* "loop at sweep.c:12 in relax": lent by the arena. */
const char *diagnose_place_label(struct arena *, const struct experiment *, place_ix);
const char *diagnose_node_label(struct arena *, const struct experiment *, size_t tree, uint32_t node);
/* The text number `which` (title, evidence, explanation, remedy) filled in. */
const char *resolved_text(struct evaluator *, struct arena *, const struct resolved *, int which, uint32_t id);
/* Operands and values, if the property has no texts for them. */
const char *resolved_evidence(struct evaluator *, struct arena *, const struct resolved *, const struct candidate *);

#endif
