/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables that other folders declare: blocks TDEF and TROW (doc/formats/measurement.md). */
#include "hpcprof/format/reader.h"

static const char *table_string(struct reader *r, struct cursor *c)
{
    return strtab_get(r->p->strings, hpcprof_reader_string(r, c));
}

static void read_column(struct reader *r, struct cursor *c, struct table_column *column)
{
    column->name = table_string(r, c);
    column->title = table_string(r, c);
    column->unit = table_string(r, c);
    column->description = table_string(r, c);
    uint64_t type = cursor_uleb(c), merge = cursor_uleb(c);
    column->type = type < TABLE_TYPES ? (uint8_t)type : TABLE_TYPES;
    column->merge = merge < TABLE_MERGES ? (uint8_t)merge : TABLE_MERGES;
    column->refers = table_string(r, c);
}

void hpcprof_read_tables(struct reader *r, struct cursor *c)
{
    for (uint64_t n = hpcprof_reader_count(r, c); n > 0 && !c->bad; n--) {
        struct table_column columns[LIMIT_TABLE_COLUMNS];
        struct table_decl decl = {.columns = columns};
        struct reader_table row = {0};
        decl.name = table_string(r, c);
        decl.title = table_string(r, c);
        decl.description = table_string(r, c);
        decl.column_count = hpcprof_reader_count(r, c);
        if (decl.column_count > LIMIT_TABLE_COLUMNS || r->tables.count == LIMIT_TABLES)
            r->wrong = "too many tables, or too many columns in a table";
        for (size_t i = 0; i < decl.column_count && !c->bad && !r->wrong; i++)
            read_column(r, c, &columns[i]);
        if (!c->bad && !r->wrong && table_list_declare(&r->p->tables, &decl, r->p->strings, &row.table, NULL) < 0)
            r->wrong = "the declaration of a table is inconsistent, or differs from another file's";
        if (c->bad || r->wrong)
            return;
        *vec_push(&r->tables) = row;
    }
}

/* The file's rows that a column's references count in; NULL: they count in nothing that a file numbers. */
static const struct reader_rows *referred_rows(const struct reader *r, const char *refers)
{
    const struct {
        const char *word;
        const struct reader_rows *rows;
    } kinds[] = {{"context", &r->contexts}, {"context.loop", &r->contexts}, {"thread", &r->threads},
                 {"event", &r->events},     {"region", &r->regions},        {"process", &r->processes}};
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strcmp(kinds[i].word, refers) == 0)
            return kinds[i].rows;
    for (size_t i = 0; i < r->tables.count; i++)
        if (strcmp(table_declared(r->tables.items[i].table)->name, refers) == 0)
            return &r->tables.items[i].rows;
    return NULL;
}

/* References are read as the file has them, and mapped when the block's rows are added: they may be to rows of this
   block that came before. `own` rows of the table are known by then. */
static uint32_t read_reference(struct reader *r, struct cursor *c, const struct reader_rows *rows, size_t own)
{
    uint64_t row = cursor_uleb(c);
    if (row == 0)
        return TABLE_NONE;
    if (!rows)
        r->wrong = "it refers to a missing table";
    else if (row - 1 >= rows->count + own)
        r->wrong = "it refers to a missing row";
    return (uint32_t)(row - 1);
}

static union table_cell read_cell(struct reader *r, struct cursor *c, const struct table_column *column,
                                  const struct reader_table *t, size_t row)
{
    union table_cell cell = {0};
    uint64_t bits;
    switch (column->type) {
    case TABLE_NUMBER:
        bits = cursor_u64(c);
        memcpy(&cell.number, &bits, sizeof cell.number);
        break;
    case TABLE_TEXT:
        cell.text = hpcprof_reader_string(r, c);
        break;
    case TABLE_REF: {
        const struct reader_rows *rows = referred_rows(r, column->refers);
        cell.row = read_reference(r, c, rows, rows == &t->rows ? row : 0);
        break;
    }
    default:
        cell.count = cursor_uleb(c) - 1; /* 0 is missing: TABLE_NO_COUNT */
    }
    return cell;
}

static void add_row(struct reader *r, struct reader_table *t, union table_cell *cells)
{
    const struct table_decl *d = table_declared(t->table);
    for (size_t i = 0; i < d->column_count; i++)
        if (d->columns[i].type == TABLE_REF && cells[i].row != TABLE_NONE)
            cells[i].row = referred_rows(r, d->columns[i].refers)->items[cells[i].row];
    *vec_push(&t->rows) = table_add(t->table, cells);
}

/* Like counts, the rows of a block are used as a whole or not at all. */
void hpcprof_read_table_rows(struct reader *r, struct cursor *c)
{
    struct VEC(union table_cell) cells = {0};
    uint64_t ix = cursor_uleb(c);
    if (ix >= r->tables.count)
        r->wrong = "its table is missing";
    if (r->wrong || c->bad)
        return;
    struct reader_table *t = &r->tables.items[ix];
    const struct table_decl *d = table_declared(t->table);
    uint64_t n = hpcprof_reader_count(r, c);
    if (n + table_row_count(t->table) > LIMIT_TABLE_ROWS)
        r->wrong = "its table has too many rows";
    for (uint64_t row = 0; row < n && !c->bad && !r->wrong; row++)
        for (size_t i = 0; i < d->column_count; i++)
            *vec_push(&cells) = read_cell(r, c, &d->columns[i], t, row);
    for (size_t at = 0; at < cells.count && !c->bad && !r->wrong; at += d->column_count)
        add_row(r, t, cells.items + at);
    vec_release(&cells);
}

void hpcprof_release_tables(struct reader *r)
{
    for (size_t i = 0; i < r->tables.count; i++)
        vec_release(&r->tables.items[i].rows);
    vec_release(&r->tables);
}
