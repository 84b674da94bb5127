/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns and escaping: an experiment's numbers and names as bytes of blocks, and as text of the page. */
#include "htmlgen/write/write.h"

#include <math.h>

/* ---- columns ---- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The values as multiples of `period` that fit in 32 bits; false if one does not, exactly. */
static bool as_multiples(const double *values, size_t n, uint64_t period, uint64_t *multiples)
{
    if (period == 0 || period > (1ull << 53))
        return false;
    for (size_t i = 0; i < n; i++) {
        double multiple = values[i] / (double)period;
        if (!(multiple >= 0 && multiple <= UINT32_MAX) || signbit(values[i]))
            return false;
        multiples[i] = (uint64_t)multiple;
        if ((double)multiples[i] * (double)period != values[i])
            return false;
    }
    return true;
}

static void add_values(struct buf *out, const double *values, size_t n, uint64_t period, uint64_t *scale)
{
    uint64_t *numbers = mem_calloc(n + 1, sizeof *numbers);
    *scale = as_multiples(values, n, period, numbers) ? period : 0;
    for (size_t i = 0; i < n && !*scale; i++)
        numbers[i] = bits_of(values[i]);
    htmlgen_planes(out, numbers, n, *scale ? 4 : 8);
    mem_free(numbers);
}

void htmlgen_metric_column(struct buf *out, const double *inclusive, const double *exclusive, size_t n, uint64_t period,
                           uint64_t *scale)
{
    uint8_t *state = htmlgen_zeros(out, n);
    double *values = mem_calloc(2 * n + 1, sizeof *values);
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(inclusive[i])) {
            state[i] = STATE_INCLUSIVE;
            values[used++] = inclusive[i];
        }
    for (size_t i = 0; exclusive && i < n; i++) {
        if (!isfinite(exclusive[i]))
            continue;
        if ((state[i] & STATE_INCLUSIVE) && bits_of(exclusive[i]) == bits_of(inclusive[i]))
            state[i] |= STATE_EQUAL;
        else {
            state[i] |= STATE_EXCLUSIVE;
            values[used++] = exclusive[i];
        }
    }
    add_values(out, values, used, period, scale);
    mem_free(values);
}

/* ---- places ---- */

/* Which of the experiment's strings the places use, numbered in the order of first use. */
struct used_strings {
    uint32_t *number; /* by str_id; UINT32_MAX: not used */
    struct VEC(str_id) ids;
};

static struct used_strings used_strings_of(const struct experiment *e)
{
    size_t known = strtab_count(e->strings);
    struct used_strings used = {.number = mem_alloc((known + 1) * sizeof *used.number)};
    memset(used.number, 0xff, known * sizeof *used.number);
    return used;
}

static void used_strings_release(struct used_strings *used)
{
    mem_free(used->number);
    vec_release(&used->ids);
}

static uint32_t use_string(struct used_strings *used, str_id id)
{
    if (used->number[id] == UINT32_MAX) {
        used->number[id] = (uint32_t)used->ids.count;
        *vec_push(&used->ids) = id;
    }
    return used->number[id];
}

static void add_string(struct buf *out, const char *text)
{
    htmlgen_utf8(out, text, strlen(text));
    buf_u8(out, 0);
}

/* Writes the strings, forgets them, and says how many there were. */
static size_t add_strings(struct buf *out, const struct experiment *e, struct used_strings *used)
{
    size_t count = used->ids.count;
    for (size_t i = 0; i < count; i++)
        add_string(out, strtab_get(e->strings, used->ids.items[i]));
    used_strings_release(used);
    return count;
}

/* The same for texts of other folders, which may name the machine. */
static size_t add_public_strings(struct buf *out, const struct experiment *e, struct used_strings *used)
{
    size_t count = used->ids.count;
    for (size_t i = 0; i < count; i++) {
        char *text = experiment_public_text(e, strtab_get(e->strings, used->ids.items[i]));
        add_string(out, text);
        mem_free(text);
    }
    used_strings_release(used);
    return count;
}

/* Distances are small numbers where the numbers themselves are not; modulo 2^32, as the reader adds. */
static uint64_t place_number(const struct experiment *e, size_t i, enum place_column column, struct used_strings *used)
{
    const struct place *p = &e->places[i];
    switch (column) {
    case COLUMN_KIND:
        return p->kind;
    case COLUMN_ROLE:
        return (uint8_t)(p->role | p->on_line << 2 | (p->irreducible ? 0x80 : 0));
    case COLUMN_PARENT:
        return p->parent == PLACE_NONE ? 0 : (uint32_t)i - p->parent;
    case COLUMN_NAME:
        return use_string(used, p->name);
    case COLUMN_FULL_NAME:
        return use_string(used, p->full_name);
    case COLUMN_FILE:
        return p->file;
    case COLUMN_FIRST:
        return p->line_first;
    case COLUMN_LAST:
        return p->line_last - p->line_first;
    case COLUMN_CALL_FILE:
        return p->call_file;
    case COLUMN_CALL_LINE:
        return p->call_line;
    case COLUMN_INSTANCE:
        return p->instance;
    case COLUMN_INSTANCES:
        return p->instances;
    case COLUMN_ADDRESS:
        return p->address;
    default:
        return (uint32_t)i - p->same;
    }
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* Takes the upper planes of the last column away again that are 0 everywhere, and notes how many stay. */
static void end_column(struct buf *out, size_t n, unsigned planes, struct place_layout *layout)
{
    while (n && planes && is_zero((const uint8_t *)out->bytes + out->len - n, n)) {
        out->len -= n;
        planes--;
    }
    layout->planes[layout->columns++] = (uint8_t)planes;
}

void htmlgen_place_columns(struct buf *out, const struct experiment *e, struct place_layout *layout)
{
    *layout = (struct place_layout){0};
    struct used_strings used = used_strings_of(e);
    uint64_t *values = mem_calloc(e->place_count + 1, sizeof *values);
    for (enum place_column column = 0; column < PLACE_COLUMNS; column++) {
        for (size_t i = 0; i < e->place_count; i++)
            values[i] = place_number(e, i, column, &used);
        htmlgen_planes(out, values, e->place_count, htmlgen_place_widths[column]);
        if (column >= COLUMN_PARENT)
            end_column(out, e->place_count, htmlgen_place_widths[column], layout);
    }
    layout->strings = add_strings(out, e, &used);
    mem_free(values);
}

void htmlgen_node_columns(struct buf *out, const struct experiment *e, size_t tree)
{
    size_t n = e->trees[tree].node_count;
    uint64_t *values = mem_calloc(n + 1, sizeof *values);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = experiment_node_parent(e, tree, i);
        values[i] = parent == NODE_NONE ? 0 : i - parent;
    }
    htmlgen_planes(out, values, n, 4);
    for (uint32_t i = 0; i < n; i++)
        values[i] = experiment_node_place(e, tree, i);
    htmlgen_planes(out, values, n, 4);
    mem_free(values);
}

/* ---- tables ---- */

static uint64_t cell_number(const struct table_column *c, union table_cell cell, struct used_strings *used)
{
    return c->type == TABLE_TEXT     ? use_string(used, cell.text)
           : c->type == TABLE_REF    ? cell.row
           : c->type == TABLE_NUMBER ? bits_of(cell.number)
                                     : cell.count;
}

void htmlgen_table_columns(struct buf *out, const struct experiment *e, const struct table *t, size_t *string_count)
{
    struct used_strings used = used_strings_of(e);
    size_t n = table_row_count(t);
    uint64_t *values = mem_calloc(n + 1, sizeof *values);
    for (size_t i = 0; i < table_declared(t)->column_count; i++) {
        const struct table_column *c = &table_declared(t)->columns[i];
        for (size_t row = 0; row < n; row++)
            values[row] = cell_number(c, table_row(t, row)[i], &used);
        htmlgen_planes(out, values, n, htmlgen_cell_width(c->type));
    }
    *string_count = add_public_strings(out, e, &used);
    mem_free(values);
}

/* ---- text ---- */

void htmlgen_utf8(struct buf *out, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        size_t run = 0, len = 1;
        while (run < n && (len = utf8_length(p + run, n - run)) > 0)
            run += len;
        buf_add(out, p, run);
        p += run;
        n -= run;
        if (n) {
            buf_str(out, "\xef\xbf\xbd");
            p++;
            n--;
        }
    }
}

void htmlgen_escape(struct buf *out, const char *text)
{
    struct buf valid = {0};
    htmlgen_utf8(&valid, text, strlen(text));
    for (size_t i = 0; i < valid.len; i++) {
        switch (valid.bytes[i]) {
        case '&':
            buf_str(out, "&amp;");
            break;
        case '<':
            buf_str(out, "&lt;");
            break;
        case '>':
            buf_str(out, "&gt;");
            break;
        case '"':
            buf_str(out, "&quot;");
            break;
        case '\'':
            buf_str(out, "&#39;");
            break;
        default:
            buf_char(out, valid.bytes[i]);
        }
    }
    buf_release(&valid);
}
