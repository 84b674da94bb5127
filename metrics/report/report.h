/* What the files of `print` share: print_text.c for print.c (places) and print_table.c (tables beside places);
 * print_paths.c finds print.c's rows in the tree of calls. */
#ifndef METRICS_REPORT_H
#define METRICS_REPORT_H

#include "metrics/model/model.h"

struct text_column {
    char *head;
    bool left;
    size_t width;
    struct VEC(char *) cells;
};
struct text_table VEC(struct text_column);

/* Valid until the next one is added. The suffix is ours and stays as it is. */
struct text_column *print_text_table_add(struct text_table *, const char *head, const char *suffix, bool left);
void print_text_column_add(struct text_column *, char *text); /* takes it */
/* Heads and rows; the table is empty afterwards. */
void print_text_table_write(struct text_table *, size_t rows, struct outfile *);

/* The caller's to mem_free: a number, "" where there is none; a name, with its middle left out where it is too long. */
char *print_text_of_value(double);
char *print_text_of_name(const char *);

void print_csv_text(struct buf *, const char *); /* in quotes where it needs them */

/* ---- rows of places ---------------------------------------------------------------------- */

struct row {
    uint8_t kind; /* enum place_kind */
    str_id module, file, name, full_name;
    uint32_t line, line_last;
    uint32_t on_line, instance, instances; /* loops */
    uint64_t address;                      /* loops without a line: where they begin */
    uint32_t depth, indent;                /* rows of trees: in the tree; as shown to people */
    bool quiet;                            /* rows of trees: not shown to people */
    const char *relation;                  /* rows of trees: a word for the kind; NULL: the place's */
    str_id at_file;                        /* rows of trees: where it is called, or begins */
    uint32_t at_line;
    size_t places; /* that a row of lines stands for */
    size_t values; /* of its metric_count inclusive, then as many exclusive ones in view.values */
};

struct view {
    const struct experiment *e;
    const struct print_options *options;
    struct VEC(struct row) rows;
    struct VEC(double) values;
    struct VEC(size_t) shown; /* metrics with a column */
    size_t sort_metric;
    bool sort_exclusive;
    str_id *module_name; /* by place */
    place_ix *procedure; /* by place: the innermost procedure or inlined call around it; 0: none */
    bool *in_scope;      /* by place; NULL: all are wanted */
};

/* A row of this place with room for its values, not in the view yet. */
struct row print_row(struct view *, place_ix);
double *print_row_values(struct view *, const struct row *);
/* "src/heat.f90:52-60 (1 of 2)": its file, lines and instance; of a loop without a line its address. */
void print_location(const struct experiment *, const struct row *, struct buf *);

/* print_tree.c: the scopes, by the metric that sorts; `whole` is what all of it is. */
void print_tree(const struct view *, double whole, struct outfile *);

/* print_paths.c: the rows in their order; an error where no paths were measured. */
#define PRINT_LEAST_SHARE 0.01 /* of the whole: what people are shown, and whose callers are looked for */
int print_rows_of_paths(struct view *, struct err *);
int print_rows_of_callers(struct view *, struct err *);
int print_no_paths(struct err *);
int print_nothing_of(const struct view *, struct err *);
bool print_is_of(const struct view *, place_ix); /* is it what options.of asks for? */
/* By node a key below the count, or KEY_NONE; of nodes with one key, those inside another of them lose theirs: what
   the rest have can be added up. */
#define KEY_NONE UINT32_MAX
void print_outermost(const struct experiment *, size_t tree, uint32_t *keys, size_t key_count);

/* print_code.c: all of --by instruction. */
int print_code(const struct view *, struct outfile *, struct err *);

/* print_table.c: this table by the options' format, top and sort_by. Rows of one group (by row; NULL: all are one) stay
   together, and top is the first of each: then sort_by is not NULL. */
int print_table(const struct experiment *, const struct table *, const uint32_t *group, const struct print_options *,
                struct outfile *, struct err *);

/* print_calls.c: each procedure with its callers and what it calls. */
int print_rows_of_calls(struct view *, struct err *);

#endif
