/*
 * What the files of diagnose/ share. In the order of work:
 *
 *     tokens.c     a property file in words; templates are words that are read again
 *     read.c       words to properties; read_clauses.c their parts, formulas by the metrics' engine; read_templates.c
 *     texts.c      titles and remedies with names and numbers filled in
 *     library.c    folders of files; what refers to what
 *     bind.c       a property seen from one run: what its names mean there
 *     evaluate.c   where properties hold, column by column
 *     unite.c      findings: what is one thing is said once
 *     search.c     strategies
 *     tables.c     findings and search as tables beside the places
 *     print.c      text, CSV, JSON; formats.c SARIF, Periscope's XML, graphs
 */
#ifndef DIAGNOSE_INT_H
#define DIAGNOSE_INT_H

#include "diagnose/diagnose.h"

#define NONE UINT32_MAX

/* ---- tokens.c -------------------------------------------------------------------------------- */

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING /* in double quotes */, TOKEN_SIGN };
struct token {
    enum token_kind kind;
    bool blank_before;
    const char *text; /* strings: with their quotes, as they stand */
    const char *file;
    uint32_t line, column;
};
struct tokens VEC(struct token);
/* The last one is TOKEN_END. */
void tokens_make(struct arena *, const char *bytes, size_t len, const char *file, struct tokens *,
                 struct warnings *problems);
/* A string's text without quotes. */
char *token_unquoted(struct arena *, const char *text);

/* ---- what was read -------------------------------------------------------------------------------- */

struct condition {
    const char *id; /* "" none */
    struct expr *expr;
};
struct guarded {        /* one of a MAX list */
    uint32_t condition; /* counts where this one holds; NONE: always */
    struct expr *expr;
};
struct filter { /* WHERE column IS "a|b*" */
    const char *what;
    const char *globs;
    bool not ;
};
struct piece {          /* of a text: words, or what is filled in */
    uint32_t condition; /* said where this one holds; NONE: always */
    const char *literal;
    const char *word; /* the formula's text, where it is one word */
    struct expr *expr;
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
    struct VEC(struct filter) filters;
    struct VEC(const char *) needs; /* what must be measured; none: all that formulas name */
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

void problem_at(struct warnings *, const struct token *, const char *fmt, ...) PRINTF_LIKE(3, 4);
uint32_t property_named(const struct properties *, const char *name);
const struct alias *alias_named(const struct properties *, const char *name);
/* What it needs of a table, or NULL. */
const char *table_made_by(const struct properties *, const char *table);
/* Calls each(ctx, expr) for every formula of conditions, confidences and severities. */
void property_each_expr(const struct property *, void (*each)(void *ctx, const struct expr *), void *ctx);

/* texts.c: `string` is the text without quotes. -1: *err says why. */
int text_parse(struct arena *, const char *string, const struct token *at, const struct expr_functions *, struct text *,
               struct err *);

/* ---- bind.c ------------------------------------------------------------------------------------------ */

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
    size_t metric, error_metric; /* error_metric: whose sampling tells the error; SIZE_MAX: none */
    bool absent_is_zero;         /* of one of several runs */
    double constant, parts;      /* parts: a mean over so many */
    int fact;                    /* FROM_PLACE; FROM_PROPERTY: 0 truth, 1 severity, 2 confidence */
    const struct table *table;
    const struct table *through[PATH_MOST]; /* FROM_ROW: the tables on the way */
    size_t columns[PATH_MOST], column_count;
    uint32_t property;
};
struct bound_expr {
    struct expr *expr; /* its own copy */
    struct source *sources;
};
struct domain {                /* what a property is asked of */
    size_t tree;               /* places and nodes */
    const struct table *table; /* rows; NULL: nodes of the tree */
    const uint32_t *ids;
    size_t count;
    size_t place_path[PATH_MOST], place_path_count; /* rows: the columns that lead to the place */
    const struct table *place_through[PATH_MOST];
};
struct candidate {
    uint32_t id, condition;
    double severity, confidence, error;
};
struct bound { /* a property, seen from a run */
    const struct property *property;
    uint32_t index, run;
    const struct domain *domain; /* NULL: it cannot be tested */
    const char *why_not;
    struct VEC(const char *) lacking; /* events, and tables as "table NAME" */
    struct VEC(struct bound_expr) conditions;
    struct VEC(struct bound_expr) confidences;
    struct VEC(struct bound_expr) severities;
    struct VEC(struct bound_expr) pieces; /* of title, evidence, explanation, remedy in turn; expr NULL: none */
    struct VEC(struct candidate) candidates;
    size_t uncertain;                      /* held, with less severity than twice its error */
    size_t without_value;                  /* held, and the severity has no value */
    double *truth, *severity, *confidence; /* by node, for meta properties; NULL else */
};

struct evaluator {
    const struct experiment *e;
    const struct properties *p;
    struct diagnose_options options;
    struct arena *arena;
    size_t place_tree; /* that properties of places are asked of */
    struct VEC(struct bound *) bounds;
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
void bind_all(struct evaluator *);
place_ix row_place(const struct domain *, uint32_t row);
/* A cell at the end of a path of columns; false: missing. */
struct cell_at {
    const struct table_column *column;
    union table_cell cell;
};
bool cell_on_path(const struct table *, const struct table *const *through, const size_t *columns, size_t count,
                  uint32_t row, struct cell_at *);
bool table_path(const struct experiment *, const struct table *, const char *name, const struct table **through,
                size_t *columns, size_t *count);

/* ---- evaluate.c --------------------------------------------------------------------------------------- */

/* Values of an operand at ids[0..n) of the domain. */
void source_gather(const struct evaluator *, const struct bound *, const struct source *, const uint32_t *ids, size_t n,
                   double *out);
void evaluate_all(struct evaluator *);
struct tested {
    enum diagnose_state state;
    struct candidate candidate;
};
/* One property, which can be tested, at one id of its domain. */
struct tested evaluate_at(const struct evaluator *, const struct bound *, uint32_t id);
double bound_value(const struct evaluator *, const struct bound *, const struct bound_expr *, uint32_t id);
bool filters_hold(const struct evaluator *, const struct bound *, uint32_t id);
place_ix domain_place(const struct evaluator *, const struct domain *, uint32_t id);
/* Of nodes of a tree: is this one of them? */
bool domain_has(const struct bound *, uint32_t id);

/* ---- texts.c -------------------------------------------------------------------------------------------- */

/* "loop at sweep.c:12 in relax": lent by the arena. */
const char *place_label(struct arena *, const struct experiment *, place_ix);
const char *node_label(struct arena *, const struct experiment *, size_t tree, uint32_t node);
/* The text number `which` (title, evidence, explanation, remedy) filled in. */
const char *text_filled(struct evaluator *, struct arena *, const struct bound *, int which, uint32_t id);
/* Operands and values, where the property has no words for them. */
const char *evidence_of(struct evaluator *, struct arena *, const struct bound *, const struct candidate *);

/* ---- unite.c ----------------------------------------------------------------------------------------------- */

void findings_make(struct evaluator *, struct diagnosis *);

/* ---- search.c ------------------------------------------------------------------------------------------------ */

int search(struct evaluator *, struct diagnosis *, struct err *);

/* formats.c */
void write_sarif(const struct experiment *, const struct properties *, const struct diagnosis *, const char *version,
                 struct outfile *);
void write_periscope(const struct experiment *, const struct diagnosis *, struct outfile *);
void write_graph(const struct diagnosis *, struct outfile *);

#endif
