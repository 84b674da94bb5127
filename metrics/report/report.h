/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report - an experiment as tables: text for people, CSV and JSON for programs.
 *
 * Knows:    rows of places, of the tree of calls, of tables; their order and selection. Does not: where the experiment
 * came from; write files.
 *
 * Memory:   a view owns its rows; texts that functions return are the caller's to mem_free.
 * Errors:   a column or place that is asked for and is not there, with the nearest name.
 * Threads:  none.
 *
 *     print.c         levels, and the whole; print_rows.c which rows there are of places, and their order
 *     print_places.c  rows as text; print_data.c as CSV and JSON; print_text.c tables of text
 *     print_diff.c    rows of two runs, for a terminal
 *     print_paths.c   rows of the tree of calls; print_calls.c callers and callees; print_tree.c scopes, indented
 *     print_table.c   tables beside places; print_memory.c those of a simulated memory; print_code.c instructions
 */
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

/* The caller's to mem_free: a number, "" if there is none; a name, with its middle left out if it is too long. */
char *print_text_of_value(double);
char *print_text_of_name(const char *);

struct print_scale { /* of times: the unit in which the total has few digits */
    double factor;
    int decimals; /* -1: numbers as they are */
    const char *unit;
};
struct print_scale print_scale_of(const char *unit, double whole);
char *print_text_scaled(double, const struct print_scale *);
/* Of a metric by its value in the whole program. */
struct print_scale print_metric_scale(const struct experiment *, size_t metric);

/* ---- rows of places ---------------------------------------------------------------------- */

struct row {
    uint8_t kind; /* enum place_kind */
    str_id module, file, name, full_name;
    uint32_t line, line_last;
    uint32_t on_line, instance, instances; /* loops */
    uint64_t address;                      /* loops without a line: where they begin */
    uint32_t depth, indent;                /* rows of trees: in the tree; as displayed */
    bool quiet;                            /* rows of trees: hidden */
    const char *relation;                  /* rows of trees: name of the kind; NULL: the place's */
    str_id at_file;                        /* rows of trees: location of the call, or of the beginning */
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
    bool *in_scope;      /* by place; NULL: all are included */
    bool compared;       /* text of two runs: print_diff.c */
    struct row folded;   /* of these: the rows within the error, */
    size_t folded_count; /* so many */
};

/* A row of this place with space for its values, not in the view yet. */
struct row print_row(struct view *, place_ix);
double *print_row_values(struct view *, const struct row *);
/* "src/heat.f90:52-60 (1 of 2)": its file, lines and instance; of a loop without a line its address. */
void print_location(const struct experiment *, const struct row *, struct buf *);

/* print_tree.c: the scopes, by the metric that sorts; `whole` is the total. */
void print_tree(const struct view *, double whole, struct outfile *);

/* print_paths.c: the rows in their order; an error if no paths were measured. */
#define PRINT_LEAST_SHARE 0.01 /* of the whole: what is displayed, and whose callers are searched */
int print_rows_of_paths(struct view *, struct err *);
int print_rows_of_callers(struct view *, struct err *);
int print_no_paths(struct err *);
int print_nothing_of(const struct view *, struct err *);
bool print_is_of(const struct view *, place_ix); /* is it what options.of asks for? */
/* By node a key below the count, or KEY_NONE; of nodes with one key, those inside another of them lose theirs: the
   rest can be added up. */
#define KEY_NONE UINT32_MAX
void print_outermost(const struct experiment *, size_t tree, uint32_t *keys, size_t key_count);

/* print_code.c: all of --by instruction. */
int print_code(const struct view *, struct outfile *, struct err *);

/* print_table.c: this table by the options' format, top and sort_by. Rows of one group (by row; NULL: all are one) stay
   together, and top is the first of each: then sort_by is not NULL. */
int print_table(const struct experiment *, const struct table *, const uint32_t *group, const struct print_options *,
                struct outfile *, struct err *);

/* print_calls.c: each procedure with its callers and callees. */
int print_rows_of_calls(struct view *, struct err *);

struct print_level_row {
    const char *word;
    enum place_kind kind;
    bool exclusive; /* is its own part, without its descendants, worth a column? */
};
extern const struct print_level_row print_levels[]; /* by enum print_level */

/* print_rows.c */
double print_value_of(const struct view *t, const struct row *r, size_t metric, bool exclusive);
/* Of each place the name of its module and its procedure, inlined ones among them; mem_free. */
void print_find_surroundings(const struct experiment *, str_id **module_name, place_ix **procedure);
void print_find_scope(struct view *t);
void print_rows_of_places(struct view *t);
void print_merged_rows(struct view *t);
void print_drop_empty_rows(struct view *t);
double print_whole(const struct view *t);
void print_drop_small_rows(struct view *t);
int print_compare_rows(const void *a, const void *b, void *ctx);
int print_choose_order(struct view *t, struct err *err);

/* print_places.c */
void print_legend(const struct view *t, struct outfile *out);
void print_text(struct view *t, struct outfile *out);
void print_metric_columns(const struct view *t, struct text_table *text, size_t metric, bool exclusive);
void print_where_columns(const struct view *t, struct text_table *text);

/* print_diff.c */
/* The difference that sorts the rows, or the first; SIZE_MAX: nothing is compared. */
size_t print_difference(const struct view *t, struct difference *d);
void print_fold_noise(struct view *t); /* rows within the error leave the view for `folded` */
void print_diff(struct view *t, struct outfile *out);

/* print_data.c */
void print_csv(const struct view *t, struct outfile *out);
void print_json(const struct view *t, struct outfile *out);

/* print.c */
bool print_is_tree(const struct view *t);

#endif
