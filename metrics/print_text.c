/* Tables as text: columns of one width each, and no character in them that a terminal would obey. */
#include "metrics/print_int.h"

#include <math.h>

/* Characters that would move the cursor, ring a bell or turn the writing round have no place in a table. */
static bool harmless(const char *s, size_t len)
{
    unsigned char c = (unsigned char)s[0], d = (unsigned char)s[1];
    if (len == 0 || c < 0x20 || c == 0x7f)
        return false;
    if (len == 2 && c == 0xc2 && d < 0xa0)
        return false; /* U+0080..9F */
    if (len == 3 && c == 0xe2) {
        unsigned char last = (unsigned char)s[2];
        /* U+2028..202E separators and embeddings, U+2066..2069 isolates */
        return !(d == 0x80 && last >= 0xa8 && last <= 0xae) && !(d == 0x81 && last >= 0xa6 && last <= 0xa9);
    }
    return true;
}

void text_add_safe(struct buf *out, const char *s)
{
    for (size_t n = strlen(s); n;) {
        size_t len = utf8_length(s, n);
        bool good = harmless(s, len);
        if (good)
            buf_add(out, s, len);
        else
            buf_char(out, '?');
        s += len ? len : 1;
        n -= len ? len : 1;
    }
}

static size_t width_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

struct text_column *text_table_add(struct text_table *t, const char *head, const char *suffix, bool left)
{
    struct buf safe = {0};
    text_add_safe(&safe, head);
    buf_str(&safe, suffix);
    struct text_column c = {.head = safe.bytes, .left = left, .width = width_of(safe.bytes)};
    *vec_push(t) = c;
    return &t->items[t->count - 1];
}

void text_column_add(struct text_column *c, char *text)
{
    size_t width = width_of(text);
    if (width > c->width)
        c->width = width;
    *vec_push(&c->cells) = text;
}

char *text_of_value(double v)
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

/* A name too long for a column, with its middle left out: beginning and end tell most. */
char *text_of_name(const char *name)
{
    struct buf safe = {0}, cut = {0};
    buf_str(&safe, "");
    text_add_safe(&safe, name);
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
    outfile_write(out, line.bytes, line.len);
    buf_release(&line);
}

void text_table_write(struct text_table *text, size_t rows, struct outfile *out)
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

/* ---- CSV, RFC 4180 but for the line ends, which are the system's -------------------------- */

void csv_add_text(struct buf *out, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        buf_str(out, s);
        return;
    }
    buf_char(out, '"');
    for (; *s; s++) {
        if (*s == '"')
            buf_char(out, '"');
        buf_char(out, *s);
    }
    buf_char(out, '"');
}
