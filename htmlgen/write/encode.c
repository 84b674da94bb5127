/* Columns, compression and escaping: how an experiment's numbers and names become text in a file. */
#include "htmlgen/write/write.h"

#include <math.h>
#include <zlib.h>

/* ---- columns ---- */

static uint8_t *grow(struct buf *out, size_t n)
{
    static const uint8_t nothing[4096];
    size_t at = out->len;
    for (size_t left = n; left;) {
        size_t part = left < sizeof nothing ? left : sizeof nothing;
        buf_add(out, nothing, part);
        left -= part;
    }
    return n ? (uint8_t *)out->bytes + at : NULL;
}

void htmlgen_planes_u32(struct buf *out, const uint32_t *values, size_t n)
{
    uint8_t *planes = grow(out, 4 * n);
    for (unsigned byte = 0; byte < 4; byte++)
        for (size_t i = 0; i < n; i++)
            planes[byte * n + i] = (uint8_t)(values[i] >> 8 * byte);
}

void htmlgen_planes_u64(struct buf *out, const uint64_t *values, size_t n)
{
    uint8_t *planes = grow(out, 8 * n);
    for (unsigned byte = 0; byte < 8; byte++)
        for (size_t i = 0; i < n; i++)
            planes[byte * n + i] = (uint8_t)(values[i] >> 8 * byte);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The values as multiples of `period` that 32 bits hold; false where one is not exactly that. */
static bool as_multiples(const double *values, size_t n, uint64_t period, uint32_t *multiples)
{
    if (period == 0 || period > (1ull << 53))
        return false;
    for (size_t i = 0; i < n; i++) {
        double multiple = values[i] / (double)period;
        if (!(multiple >= 0 && multiple <= UINT32_MAX) || signbit(values[i]))
            return false;
        multiples[i] = (uint32_t)multiple;
        if ((double)multiples[i] * (double)period != values[i])
            return false;
    }
    return true;
}

static void add_values(struct buf *out, const double *values, size_t n, uint64_t period, uint64_t *scale)
{
    uint32_t *multiples = mem_calloc(n + 1, sizeof *multiples);
    uint64_t *bits = mem_calloc(n + 1, sizeof *bits);
    *scale = as_multiples(values, n, period, multiples) ? period : 0;
    if (*scale)
        htmlgen_planes_u32(out, multiples, n);
    else {
        if (n)
            memcpy(bits, values, n * sizeof *bits);
        htmlgen_planes_u64(out, bits, n);
    }
    mem_free(multiples);
    mem_free(bits);
}

void htmlgen_metric_column(struct buf *out, const double *inclusive, const double *exclusive, size_t n, uint64_t period,
                           uint64_t *scale)
{
    uint8_t *state = grow(out, n);
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

/* The same for texts of other rooms, which may name the machine. */
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

static void add_u8(struct buf *out, const struct experiment *e, uint8_t (*get)(const struct place *))
{
    uint8_t *to = grow(out, e->place_count);
    for (size_t i = 0; i < e->place_count; i++)
        to[i] = get(&e->places[i]);
}

static uint8_t get_kind(const struct place *p)
{
    return p->kind;
}

static uint8_t get_role(const struct place *p)
{
    return (uint8_t)(p->role | p->on_line << 2 | (p->irreducible ? 0x80 : 0));
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

static void add_numbers(struct buf *out, const struct experiment *e, const uint32_t *values,
                        struct place_layout *layout)
{
    htmlgen_planes_u32(out, values, e->place_count);
    end_column(out, e->place_count, 4, layout);
}

/* A column of struct place's 32-bit members, by their offset. */
static void add_u32(struct buf *out, const struct experiment *e, size_t offset, uint32_t *values,
                    struct place_layout *layout)
{
    for (size_t i = 0; i < e->place_count; i++)
        memcpy(&values[i], (const char *)&e->places[i] + offset, sizeof values[i]);
    add_numbers(out, e, values, layout);
}

static void add_names(struct buf *out, const struct experiment *e, struct used_strings *used, uint32_t *values,
                      struct place_layout *layout)
{
    for (size_t i = 0; i < e->place_count; i++)
        values[i] = use_string(used, e->places[i].name);
    add_numbers(out, e, values, layout);
    for (size_t i = 0; i < e->place_count; i++)
        values[i] = use_string(used, e->places[i].full_name);
    add_numbers(out, e, values, layout);
}

/* Distances to the parent and lengths of line ranges are small numbers where the numbers themselves are not. */
static void add_parents(struct buf *out, const struct experiment *e, uint32_t *values, struct place_layout *layout)
{
    for (size_t i = 0; i < e->place_count; i++)
        values[i] = e->places[i].parent == PLACE_NONE ? 0 : (uint32_t)i - e->places[i].parent;
    add_numbers(out, e, values, layout);
}

static void add_last_lines(struct buf *out, const struct experiment *e, uint32_t *values, struct place_layout *layout)
{
    for (size_t i = 0; i < e->place_count; i++)
        values[i] = e->places[i].line_last - e->places[i].line_first; /* modulo 2^32, as the reader adds */
    add_numbers(out, e, values, layout);
}

static void add_addresses(struct buf *out, const struct experiment *e, struct place_layout *layout)
{
    uint64_t *values = mem_calloc(e->place_count + 1, sizeof *values);
    for (size_t i = 0; i < e->place_count; i++)
        values[i] = e->places[i].address;
    htmlgen_planes_u64(out, values, e->place_count);
    end_column(out, e->place_count, 8, layout);
    mem_free(values);
}

static void add_same(struct buf *out, const struct experiment *e, uint32_t *values, struct place_layout *layout)
{
    for (size_t i = 0; i < e->place_count; i++)
        values[i] = (uint32_t)i - e->places[i].same;
    add_numbers(out, e, values, layout);
}

void htmlgen_node_columns(struct buf *out, const struct experiment *e, size_t tree)
{
    size_t n = e->trees[tree].node_count;
    uint32_t *values = mem_calloc(n + 1, sizeof *values);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = experiment_node_parent(e, tree, i);
        values[i] = parent == NODE_NONE ? 0 : i - parent;
    }
    htmlgen_planes_u32(out, values, n);
    for (uint32_t i = 0; i < n; i++)
        values[i] = experiment_node_place(e, tree, i);
    htmlgen_planes_u32(out, values, n);
    mem_free(values);
}

void htmlgen_place_columns(struct buf *out, const struct experiment *e, struct place_layout *layout)
{
    *layout = (struct place_layout){0};
    struct used_strings used = used_strings_of(e);
    uint32_t *values = mem_calloc(e->place_count + 1, sizeof *values);

    add_u8(out, e, get_kind);
    add_u8(out, e, get_role);
    add_parents(out, e, values, layout);
    add_names(out, e, &used, values, layout);
    add_u32(out, e, offsetof(struct place, file), values, layout);
    add_u32(out, e, offsetof(struct place, line_first), values, layout);
    add_last_lines(out, e, values, layout);
    add_u32(out, e, offsetof(struct place, call_file), values, layout);
    add_u32(out, e, offsetof(struct place, call_line), values, layout);
    add_u32(out, e, offsetof(struct place, instance), values, layout);
    add_u32(out, e, offsetof(struct place, instances), values, layout);
    add_addresses(out, e, layout);
    add_same(out, e, values, layout);
    layout->strings = add_strings(out, e, &used);
    mem_free(values);
}

/* ---- tables ---- */

static uint64_t cell_bits(const struct table_column *c, union table_cell cell)
{
    return c->type == TABLE_NUMBER ? bits_of(cell.number) : cell.count;
}

static void add_wide_cells(struct buf *out, const struct table *t, size_t column)
{
    size_t n = table_row_count(t);
    uint64_t *values = mem_calloc(n + 1, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = cell_bits(&table_declared(t)->columns[column], table_row(t, i)[column]);
    htmlgen_planes_u64(out, values, n);
    mem_free(values);
}

static void add_narrow_cells(struct buf *out, const struct table *t, size_t column, struct used_strings *used)
{
    bool text = table_declared(t)->columns[column].type == TABLE_TEXT;
    size_t n = table_row_count(t);
    uint32_t *values = mem_calloc(n + 1, sizeof *values);
    for (size_t i = 0; i < n; i++) {
        union table_cell cell = table_row(t, i)[column];
        values[i] = text ? use_string(used, cell.text) : cell.row;
    }
    htmlgen_planes_u32(out, values, n);
    mem_free(values);
}

void htmlgen_table_columns(struct buf *out, const struct experiment *e, const struct table *t, size_t *string_count)
{
    struct used_strings used = used_strings_of(e);
    for (size_t i = 0; i < table_declared(t)->column_count; i++) {
        uint8_t type = table_declared(t)->columns[i].type;
        if (type == TABLE_TEXT || type == TABLE_REF)
            add_narrow_cells(out, t, i, &used);
        else
            add_wide_cells(out, t, i);
    }
    *string_count = add_public_strings(out, e, &used);
}

/* ---- compression and text ---- */

int htmlgen_compress(struct buf *base64, const void *bytes, size_t n, struct err *err)
{
    if (n > UINT32_MAX)
        return err_set(err, ERR_LIMIT, "a part of the database would have %zu bytes; the limit is %lu", n,
                       (unsigned long)UINT32_MAX);
    uLongf len = compressBound((uLong)n);
    uint8_t *packed = mem_alloc(len ? len : 1);
    int status = compress2(packed, &len, n ? bytes : packed, (uLong)n, 6);
    if (status != Z_OK) {
        mem_free(packed);
        return err_set(err, ERR_SYSTEM, "zlib cannot compress %zu bytes (its status %d)", n, status);
    }
    buf_base64(base64, packed, len);
    mem_free(packed);
    return 0;
}

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
