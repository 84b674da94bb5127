/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns that lead from a table to others, and to places. */
#include "diagnose/evaluate/evaluate.h"

/* The column a dotted name leads to from `t`: "level.line" goes through the table that the column "level" refers to. */
bool diagnose_table_path(const struct experiment *e, const struct table *t, const char *name,
                         const struct table **through, size_t *columns, size_t *count)
{
    char word[256];
    *count = 0;
    while (*count < PATH_MOST) {
        size_t n = strcspn(name, ".");
        if (n >= sizeof word)
            return false;
        memcpy(word, name, n);
        word[n] = '\0';
        size_t column = table_column_of(t, word);
        if (column == SIZE_MAX)
            return false;
        through[*count] = t;
        columns[(*count)++] = column;
        if (!name[n])
            return true;
        const struct table_column *c = &table_declared(t)->columns[column];
        t = c->type == TABLE_REF ? table_list_find(&e->tables, c->refers) : NULL;
        if (!t)
            return false;
        name += n + 1;
    }
    return false;
}

bool diagnose_cell_on_path(const struct table *t, const struct table *const *through, const size_t *columns,
                           size_t count, uint32_t row, struct cell_at *at)
{
    for (size_t i = 0; i < count; i++) {
        t = through[i];
        if (row >= table_row_count(t))
            return false;
        at->column = &table_declared(t)->columns[columns[i]];
        at->cell = table_row(t, row)[columns[i]];
        if (table_cell_missing(at->column, at->cell))
            return false;
        row = at->column->type == TABLE_REF ? at->cell.row : TABLE_NONE;
    }
    return true;
}

place_ix domain_row_place(const struct domain *d, uint32_t row)
{
    struct cell_at at;
    if (d->place_path_count &&
        diagnose_cell_on_path(d->table, d->place_through, d->place_path, d->place_path_count, row, &at))
        return at.cell.row;
    return PLACE_NONE;
}
