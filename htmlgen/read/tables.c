/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a database (doc/formats/database.md). */
#include "htmlgen/read/read.h"

struct table_reader {
    struct database *d;
    struct table_decl decl;
    struct table_column columns[LIMIT_TABLE_COLUMNS];
    const uint8_t *cells[LIMIT_TABLE_COLUMNS];
    str_id *strings;
    size_t string_count, rows;
};

static const char *text_of(struct table_reader *r, json_ix object, const char *key)
{
    return strtab_get(r->d->e->strings, database_text(r->d, object, key));
}

static bool read_column(struct table_reader *r, json_ix at, struct table_column *c)
{
    const char *type = text_of(r, at, "type");
    *c = (struct table_column){.name = text_of(r, at, "name"),
                               .title = text_of(r, at, "title"),
                               .unit = text_of(r, at, "unit"),
                               .description = text_of(r, at, "description"),
                               .merge = TABLE_LAST};
    while (c->type < TABLE_TYPES && strcmp(htmlgen_cell_types[c->type], type) != 0)
        c->type++;
    if (c->type == TABLE_REF)
        c->refers = text_of(r, at, "to");
    return c->type < TABLE_TYPES;
}

static bool read_declaration(struct table_reader *r, json_ix at)
{
    json_ix list = json_get(r->d->head, at, "columns");
    r->decl = (struct table_decl){text_of(r, at, "name"), text_of(r, at, "title"), text_of(r, at, "description"),
                                  r->columns, 0};
    for (json_ix i = json_first(r->d->head, list); i != JSON_NONE; i = json_next(r->d->head, i))
        if (r->decl.column_count == LIMIT_TABLE_COLUMNS || !read_column(r, i, &r->columns[r->decl.column_count++]))
            return false;
    return r->decl.column_count > 0;
}

static union table_cell cell_at(const struct table_reader *r, size_t column, size_t row)
{
    unsigned width = htmlgen_cell_width(r->columns[column].type);
    uint64_t bits = htmlgen_number(r->cells[column], r->rows, row, width);
    union table_cell cell = {.count = 0};
    if (r->columns[column].type == TABLE_TEXT)
        cell.text = bits < r->string_count ? r->strings[bits] : 0;
    else if (width == 4)
        cell.row = (uint32_t)bits;
    else
        cell.count = bits; /* of a number too: its bytes */
    return cell;
}

static bool read_rows(struct table_reader *r, const struct htmlgen_block *b)
{
    struct columns_reader columns = {b, 0, r->rows};
    for (size_t i = 0; i < r->decl.column_count; i++)
        if (!(r->cells[i] = database_column(&columns, htmlgen_cell_width(r->columns[i].type))))
            return false;
    struct table *t;
    r->strings = database_strings(r->d, &columns, r->string_count);
    if (!r->strings || table_list_declare(&r->d->e->tables, &r->decl, r->d->e->strings, &t, NULL) < 0)
        return false;
    for (size_t row = 0; row < r->rows; row++) {
        union table_cell cells[LIMIT_TABLE_COLUMNS];
        for (size_t i = 0; i < r->decl.column_count; i++)
            cells[i] = cell_at(r, i, row);
        table_add(t, cells);
    }
    return true;
}

static bool read_table(struct database *d, size_t number, json_ix at)
{
    struct table_reader r = {.d = d,
                             .rows = json_count(d->head, json_get(d->head, at, "rows")),
                             .string_count = json_count(d->head, json_get(d->head, at, "strings"))};
    struct htmlgen_block b;
    char *name = mem_printf("table-%zu", number);
    bool is = r.rows <= LIMIT_TABLE_ROWS && read_declaration(&r, at) && !table_list_find(&d->e->tables, r.decl.name) &&
              database_block(d, name, &b);
    mem_free(name);
    if (!is)
        return false;
    is = read_rows(&r, &b);
    mem_free(r.strings);
    mem_free(b.bytes);
    return is;
}

static size_t rows_of(const struct experiment *e, const char *what)
{
    const struct table *t = table_list_find(&e->tables, what);
    return strcmp(what, "place") == 0     ? e->place_count
           : strcmp(what, "process") == 0 ? e->process_count
           : strcmp(what, "metric") == 0  ? e->metric_count
           : strcmp(what, "file") == 0    ? e->file_count
           : strcmp(what, "run") == 0     ? e->run_count
           : t                            ? table_row_count(t)
                                          : 0;
}

/* Tables may refer to later ones: references are checked when all are there. */
static void check_references(struct experiment *e)
{
    for (size_t t = 0; t < e->tables.count; t++) {
        struct table *of = e->tables.items[t];
        const struct table_decl *decl = table_declared(of);
        for (size_t c = 0; c < decl->column_count; c++) {
            size_t most = decl->columns[c].type == TABLE_REF ? rows_of(e, decl->columns[c].refers) : SIZE_MAX;
            for (size_t row = 0; most != SIZE_MAX && row < table_row_count(of); row++)
                if (table_row(of, row)[c].row >= most)
                    table_set(of, row, c, (union table_cell){.row = TABLE_NONE});
        }
    }
}

void database_tables(struct database *d)
{
    size_t number = 0;
    json_ix list = json_get(d->head, 0, "tables");
    for (json_ix i = json_first(d->head, list); i != JSON_NONE; i = json_next(d->head, i), number++)
        if (number >= LIMIT_TABLES || !read_table(d, number, i))
            warnings_add(d->warnings, "%s: the table '%s' is missing or damaged", d->path,
                         json_string_of(d->head, json_get(d->head, i, "title")));
    check_references(d->e);
}
