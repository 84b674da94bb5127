/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables as text: columns of one width each, without characters that a terminal would interpret. */
#include "metrics/report/report.h"

#include <math.h>

static size_t width_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

struct text_column *print_text_table_add(struct text_table *t, const char *head, const char *suffix, bool left)
{
    struct buf safe = {0};
    buf_safe(&safe, head);
    buf_str(&safe, suffix);
    struct text_column c = {.head = safe.bytes, .left = left, .width = width_of(safe.bytes)};
    *vec_push(t) = c;
    return &t->items[t->count - 1];
}

void print_text_column_add(struct text_column *c, char *text)
{
    size_t width = width_of(text);
    if (width > c->width)
        c->width = width;
    *vec_push(&c->cells) = text;
}

char *print_text_of_value(double v)
{
    struct buf b = {0};
    if (isnan(v))
        return mem_strdup("");
    if (v == floor(v) && fabs(v) < 9007199254740992.0)
        buf_double(&b, v);
    else
        buf_printf(&b, "%.6g", v);
    return b.bytes;
}

enum { LONGEST_NAME = 64 }; /* those of C++ templates can have thousands of characters; CSV and JSON have them all */

/* A name too long for a column, with its middle left out: beginning and end are most informative. */
char *print_text_of_name(const char *name)
{
    struct buf safe = {0}, cut = {0};
    buf_str(&safe, "");
    buf_safe(&safe, name);
    size_t width = width_of(safe.bytes), at = 0;
    if (width <= LONGEST_NAME)
        return safe.bytes;
    for (const char *c = safe.bytes; *c; c++) {
        at += ((unsigned char)*c & 0xc0) != 0x80;
        if (at <= LONGEST_NAME * 2 / 3 || at > width - (LONGEST_NAME / 3 - 3))
            buf_char(&cut, *c);
        else if (at == LONGEST_NAME * 2 / 3 + 1 && ((unsigned char)*c & 0xc0) != 0x80)
            buf_str(&cut, "...");
    }
    buf_release(&safe);
    return cut.bytes;
}

static void write_row(const struct text_table *text, size_t row, struct outfile *out)
{
    struct buf line = {0};
    for (size_t c = 0; c < text->count; c++) {
        const struct text_column *column = &text->items[c];
        const char *cell = row == SIZE_MAX ? column->head : column->cells.items[row];
        int blanks = (int)(column->width - width_of(cell));
        buf_str(&line, c ? "  " : "");
        if (!column->left)
            buf_printf(&line, "%*s", blanks, "");
        buf_str(&line, cell);
        if (column->left && c + 1 < text->count)
            buf_printf(&line, "%*s", blanks, "");
    }
    while (line.len && line.bytes[line.len - 1] == ' ')
        line.len--;
    buf_char(&line, '\n');
    outfile_take(out, &line);
}

void print_text_table_write(struct text_table *text, size_t rows, struct outfile *out)
{
    write_row(text, SIZE_MAX, out);
    for (size_t i = 0; i < rows; i++)
        write_row(text, i, out);
    for (size_t c = 0; c < text->count; c++) {
        for (size_t i = 0; i < text->items[c].cells.count; i++)
            mem_free(text->items[c].cells.items[i]);
        vec_release(&text->items[c].cells);
        mem_free(text->items[c].head);
    }
    vec_release(text);
}
