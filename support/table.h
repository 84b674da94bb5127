/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables about places: relations (evictor and victim), objects (arrays, barriers), facts, findings, intervals.
 *
 * A folder declares a table once: its name and its typed columns. From there on the table is read from and written to
 * measurements (blocks TDEF and TROW), carried through the experiment, where references to contexts become references
 * to places, written to the database, loaded by the page, printed and exported, all without another line of that
 * folder's.
 *
 *     static const struct table_column evictor_columns[] = {
 *         {.name = "victim", .title = "evicted", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
 *         {.name = "evictor", .title = "by", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
 *         {.name = "blocks", .title = "blocks", .type = TABLE_COUNT, .merge = TABLE_SUM},
 *     };
 *     static const struct table_decl evictors = {"evictors", "Evictors", "...", evictor_columns, 3};
 *     struct table *t = NULL;
 *     if (table_list_declare(&profile->tables, &evictors, profile->strings, &t, err) < 0) ...
 *     table_add(t, (union table_cell[]){{.row = victim}, {.row = evictor}, {.count = 3}});
 *
 * Rows whose key columns are equal are one row; the other columns say how values unite. A table without a key column
 * keeps every row. Memory: a table owns all it hands out but its strings' table.
 */
#ifndef SUPPORT_TABLE_H
#define SUPPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct strtab;

enum table_type {
    TABLE_COUNT,  /* a whole number; TABLE_NO_COUNT: missing */
    TABLE_NUMBER, /* NaN: missing */
    TABLE_TEXT,   /* a string's id in the table's strings */
    TABLE_TIME,   /* ns since 1970, or of a clock the description names; TABLE_NO_COUNT: missing */
    TABLE_REF,    /* a row of the table `refers`; TABLE_NONE: none */
    TABLE_TYPES
};
enum table_merge { TABLE_KEY, TABLE_SUM, TABLE_MIN, TABLE_MAX, TABLE_LAST, TABLE_MERGES };
#define TABLE_NONE     UINT32_MAX
#define TABLE_NO_COUNT UINT64_MAX

struct table_column {
    const char *name;        /* its name in formulas, CSV heads and code: a word */
    const char *title;       /* display name; NULL: the name */
    const char *unit;        /* "ns", "bytes", ...; NULL: none */
    const char *description; /* a sentence, or NULL */
    uint8_t type, merge;     /* enum table_type, enum table_merge; texts and references do not add up */
    const char
        *refers; /* TABLE_REF: "context", "context.loop" (the innermost loop around it, else its procedure), "thread",
                           "event", "region", "process", "place" or a table's name */
};
struct table_decl {
    const char *name, *title, *description; /* title and description may be NULL: the name, none */
    const struct table_column *columns;
    size_t column_count;
};
union table_cell {
    uint64_t count; /* TABLE_COUNT, TABLE_TIME */
    double number;
    uint32_t text; /* str_id */
    uint32_t row;
};

struct table;
void table_free(struct table *);
const struct table_decl *table_declared(const struct table *); /* no member of it is NULL */
/* Is it what `d` declares, and not another table of that name (a database, which anybody may have written, may have one)?
   Name, and names and types of columns. */
bool table_is(const struct table *, const struct table_decl *d);
size_t table_row_count(const struct table *);
/* The cells of a row, one for each column; valid until the next table_add. */
const union table_cell *table_row(const struct table *, size_t row);
/* The column's number, or SIZE_MAX. */
size_t table_column_of(const struct table *, const char *name);
/* Adds a row, or unites it with the one that has the same keys; the row it is now. Beyond LIMIT_TABLE_ROWS nothing is
   added, and TABLE_NONE comes back. */
uint32_t table_add(struct table *, const union table_cell *);
/* Changes the value of a cell in a column that is not a key. */
void table_set(struct table *, size_t row, size_t column, union table_cell);
bool table_cell_missing(const struct table_column *, union table_cell);

/* All tables of one document, in the order they were declared. */
struct table_list {
    struct table **items;
    size_t count;
};
struct table *table_list_find(const struct table_list *, const char *name); /* NULL: none */
/* The declared table, created on demand. Errors: another declaration under this name, an invalid declaration. Texts
   of the table live in `strings`, which must outlive it. */
int table_list_declare(struct table_list *, const struct table_decl *, struct strtab *strings, struct table **,
                       struct err *);
/* Frees one of them, to which no other refers. */
void table_list_drop(struct table_list *, size_t);
void table_list_release(struct table_list *);

/* References of one kind become references of another: rows[old] is the new row, TABLE_NONE if there is none. */
struct table_mapping {
    const char *refers, *becomes;
    const uint32_t *rows;
    size_t count;
};
/* Adds the rows of all tables of `from` to those of `to`, with their references mapped; rows whose keys are equal after
   that are one. References to other tables of `from` follow their rows; other references stay as they are. */
int table_list_merge(struct table_list *to, struct strtab *strings, const struct table_list *from,
                     const struct table_mapping *, size_t mapping_count, struct err *);
/* Puts all rows in the order of their cells, column by column (texts as text), so that the order of adding does not
   show; references between the tables follow. */
void table_list_sort(struct table_list *);

#endif
