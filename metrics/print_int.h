/* What the files of `print` share: print_text.c for print.c (places) and print_table.c (tables beside places). */
#ifndef METRICS_PRINT_INT_H
#define METRICS_PRINT_INT_H

#include "metrics/metrics_int.h"

struct text_column {
    char *head;
    bool left;
    size_t width;
    struct VEC(char *) cells;
};
struct text_table VEC(struct text_column);

/* Valid until the next one is added. The suffix is ours and stays as it is. */
struct text_column *text_table_add(struct text_table *, const char *head, const char *suffix, bool left);
void text_column_add(struct text_column *, char *text); /* takes it */
/* Heads and rows; the table is empty afterwards. */
void text_table_write(struct text_table *, size_t rows, struct outfile *);

/* The caller's to mem_free: a number, "" where there is none; a name, with its middle left out where it is too long. */
char *text_of_value(double);
char *text_of_name(const char *);
void text_add_safe(struct buf *, const char *); /* what a terminal would obey becomes '?' */

void csv_add_text(struct buf *, const char *); /* in quotes where it needs them */

#endif
