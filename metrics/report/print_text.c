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

struct print_scale print_scale_of(const char *unit, double whole)
{
    static const struct {
        const char *unit;
        double seconds;
    } times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
        if (strcmp(unit, times[i].unit) != 0 || !(fabs(whole) > 0) || isinf(whole))
            continue;
        size_t k = 0;
        while (k + 1 < ARRAY_SIZE(times) && fabs(whole) * times[i].seconds < times[k].seconds)
            k++;
        double factor = times[i].seconds / times[k].seconds;
        return (struct print_scale){factor, (int)fmax(0, 3 - floor(log10(fabs(whole) * factor))), times[k].unit};
    }
    return (struct print_scale){1, -1, unit};
}

char *print_text_scaled(double v, const struct print_scale *s)
{
    return isnan(v) || s->decimals < 0 ? print_text_of_value(v) : mem_printf("%.*f", s->decimals, v * s->factor);
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
