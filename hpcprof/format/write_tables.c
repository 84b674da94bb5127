/* SPDX-License-Identifier: BSD-3-Clause */
/* Declared tables, written as blocks TDEF and TROW. */
#include "hpcprof/format/writer.h"

static void put_declarations(struct outfile *f, const struct table_list *l)
{
    struct block_rows b = {.f = f, .type = FORMAT_TABLES};
    for (size_t i = 0; i < l->count; i++) {
        const struct table_decl *d = table_declared(l->items[i]);
        hpcprof_write_row(&b);
        hpcprof_write_text(&b.rows, d->name);
        hpcprof_write_text(&b.rows, d->title);
        hpcprof_write_text(&b.rows, d->description);
        buf_uleb(&b.rows, d->column_count);
        for (size_t k = 0; k < d->column_count; k++) {
            hpcprof_write_text(&b.rows, d->columns[k].name);
            hpcprof_write_text(&b.rows, d->columns[k].title);
            hpcprof_write_text(&b.rows, d->columns[k].unit);
            hpcprof_write_text(&b.rows, d->columns[k].description);
            buf_uleb(&b.rows, d->columns[k].type);
            buf_uleb(&b.rows, d->columns[k].merge);
            hpcprof_write_text(&b.rows, d->columns[k].refers);
        }
    }
    hpcprof_write_rows_end(&b);
}

static void put_cell(struct buf *b, const struct hpcprof *p, const struct table_column *c, union table_cell cell)
{
    uint64_t bits;
    switch (c->type) {
    case TABLE_NUMBER:
        memcpy(&bits, &cell.number, sizeof bits);
        buf_u64(b, bits);
        break;
    case TABLE_TEXT:
        hpcprof_write_text(b, strtab_get(p->strings, cell.text));
        break;
    case TABLE_REF:
        buf_uleb(b, cell.row == TABLE_NONE ? 0 : (uint64_t)cell.row + 1);
        break;
    default:
        buf_uleb(b, cell.count + 1); /* TABLE_NO_COUNT becomes 0 */
    }
}

static void put_table(struct outfile *f, const struct hpcprof *p, uint32_t first, uint32_t ix)
{
    const struct table *t = p->tables.items[ix];
    const struct table_decl *d = table_declared(t);
    struct buf fixed = {0};
    struct block_rows b = {.f = f, .type = FORMAT_ROWS, .fixed = &fixed};
    buf_uleb(&fixed, (uint64_t)first + ix);
    for (size_t i = 0; i < table_row_count(t); i++) {
        hpcprof_write_row(&b);
        for (size_t k = 0; k < d->column_count; k++)
            put_cell(&b.rows, p, &d->columns[k], table_row(t, i)[k]);
    }
    hpcprof_write_rows_end(&b);
    buf_release(&fixed);
}

void hpcprof_write_tables(struct outfile *f, const struct hpcprof *p, uint32_t first)
{
    put_declarations(f, &p->tables);
    for (uint32_t i = 0; i < p->tables.count; i++)
        put_table(f, p, first, i);
}
