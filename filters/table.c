/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any table: CSV, TSV, or columns of text, with the meaning of its columns given by the user:
 *
 *     hpcview import table --columns file,line,procedure,CYCLES,- --separator , --skip 1 --units cycles prof.csv
 *
 * "file", "line", "procedure", "module" and "thread" are the location; "-" is ignored; any other word is a metric's
 * name.
 */
#include "filters/base/builder.h"
#include "filters/formats.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum { MOST_COLUMNS = 1024 };
enum kind { NOTHING, FILE_NAME, LINE, PROCEDURE, MODULE, THREAD, VALUE };

struct given_column {
    enum kind kind;
    uint32_t event;
};

struct table_reader {
    const struct filter_input *in;
    struct builder builder;
    struct VEC(struct given_column) columns;
    struct hashmap threads;
    unsigned long number;
    uint32_t first_thread;
    struct err *err;
};

static int wrong(struct table_reader *t, const char *what, const char *value)
{
    return err_set(t->err, ERR_FORMAT, "%s:%lu: %s '%s'", t->in->name, t->number, what, value);
}

static enum kind kind_of(const char *word)
{
    static const char *const words[] = {"-", "file", "line", "procedure", "module", "thread"};
    size_t i = str_index(word, words, ARRAY_SIZE(words));
    return i < ARRAY_SIZE(words) ? (enum kind)i : *word ? VALUE : NOTHING;
}

static int read_columns(struct table_reader *t)
{
    char *copy = mem_strdup(t->in->options->columns), *rest = copy;
    char *unit_copy = mem_strdup(t->in->options->units ? t->in->options->units : ""), *units = unit_copy;
    bool values = false;
    for (char *word; (word = strsep(&rest, ","));) {
        struct given_column c = {.kind = kind_of(word)};
        if (c.kind == VALUE) {
            char *unit = units ? strsep(&units, ",") : NULL;
            c.event = builder_event(&t->builder, word, "from a table", unit ? unit : "", 0);
            values = true;
        }
        *vec_push(&t->columns) = c;
    }
    mem_free(copy);
    mem_free(unit_copy);
    if (t->columns.count > MOST_COLUMNS)
        return err_set(t->err, ERR_USAGE, "--columns names %zu columns; a table has at most %d", t->columns.count,
                       MOST_COLUMNS);
    return values ? 0 : err_set(t->err, ERR_USAGE, "--columns names no metric, as in file,line,CYCLES");
}

/* The next field, in place; "" is one too where a separator is given. NULL: the row ends. Quotes as in RFC 4180. */
static char *next_field(struct table_reader *t, char **at)
{
    char separator = t->in->options->separator, *begin = *at, *out;
    if (separator == '\0') {
        begin += strspn(begin, " \t");
        *at = begin + strcspn(begin, " \t");
        if (**at)
            *(*at)++ = '\0';
        return *begin ? begin : NULL;
    }
    if (!begin)
        return NULL;
    out = begin;
    bool quoted = *begin == '"';
    char *in = begin + quoted;
    for (; *in && (quoted || *in != separator); in++) {
        if (quoted && *in == '"' && in[1] != '"')
            quoted = false;
        else {
            in += quoted && *in == '"';
            *out++ = *in;
        }
    }
    *at = *in ? in + 1 : NULL;
    *out = '\0';
    return begin;
}

/* "1,234,567" and "1.5e6" are numbers too; so is "-", or nothing: none. */
static int read_value(struct table_reader *t, const char *text, uint64_t *value)
{
    struct buf plain = {0};
    char *end;
    buf_str(&plain, "");
    for (const char *c = filter_skip_blanks(text); *c; c++)
        if (*c != ',')
            buf_char(&plain, *c);
    while (plain.len && isblank((unsigned char)plain.bytes[plain.len - 1]))
        plain.bytes[--plain.len] = '\0';
    bool none = plain.len == 0 || strcmp(plain.bytes, "-") == 0;
    bool whole = plain.len && strspn(plain.bytes, "0123456789") == plain.len;
    double v = plain.len ? strtod(plain.bytes, &end) : 0;
    errno = 0;
    uint64_t exact = whole ? strtoull(plain.bytes, NULL, 10) : 0;
    bool fits = none || (whole ? errno == 0 : !(v >= 0x1p64)), is = none || (*end == '\0' && v >= 0 && fits);
    *value = none || !is ? 0 : whole ? exact : (uint64_t)(v + 0.5);
    buf_release(&plain);
    return is ? 0 : wrong(t, fits ? "not a number >= 0:" : "exceeds 64 bits:", text);
}

static uint32_t thread_named(struct table_reader *t, const char *name)
{
    uint32_t *slot = hashmap_put(&t->threads, strtab_add(t->builder.into->strings, name));
    if (*slot == HASHMAP_NONE)
        *slot =
            t->threads.count == 1 ? t->first_thread : builder_thread(&t->builder, name, (uint32_t)t->threads.count - 1);
    return *slot;
}

static int read_row(struct table_reader *t, char *text)
{
    uint64_t values[MOST_COLUMNS] = {0}, line = 0;
    const char *module = t->in->options->program ? t->in->options->program : "[unknown]";
    struct builder_place p = {HPCPROF_NO_PARENT, module, "", "", 0};
    t->builder.thread = t->first_thread;
    for (size_t i = 0; i < t->columns.count; i++) {
        char *field = next_field(t, &text);
        if (!field)
            return wrong(t, "this row has fewer columns than --columns names:", "");
        int status = 0;
        switch (t->columns.items[i].kind) {
        case FILE_NAME:
            p.file = field;
            break;
        case PROCEDURE:
            p.procedure = field;
            break;
        case MODULE:
            p.module = field;
            break;
        case LINE:
            status = read_value(t, field, &line);
            break;
        case THREAD:
            t->builder.thread = thread_named(t, field);
            break;
        case VALUE:
            status = read_value(t, field, &values[i]);
            break;
        case NOTHING:
            break;
        }
        if (status < 0)
            return -1;
    }
    p.line = line;
    uint32_t context = builder_context(&t->builder, &p);
    for (size_t i = 0; i < t->columns.count; i++)
        if (t->columns.items[i].kind == VALUE)
            builder_add(&t->builder, context, t->columns.items[i].event, 0, values[i]);
    return 0;
}

/* Content does not distinguish a table from any other text: the format must be named, with its columns. */
bool table_sniff(const void *bytes, size_t len)
{
    (void)bytes, (void)len;
    return false;
}

int table_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct table_reader t = {.in = in, .err = err};
    struct line_reader r = filter_line_reader_make(in->bytes, in->len);
    (void)warnings;
    if (!in->options->columns)
        return err_set(err, ERR_USAGE, "%s: a table needs --columns, for example file,line,procedure,CYCLES", in->name);
    if (in->len && !filter_looks_like_text(in->bytes, in->len))
        return err_set(err, ERR_FORMAT, "%s: not a text file", in->name);
    t.builder = builder_begin(into, in, "table", "");
    t.first_thread = t.builder.thread;
    int status = read_columns(&t);
    while (status == 0 && filter_line_reader_next(&r)) {
        t.number = r.number;
        if (r.number > in->options->skip && *filter_skip_blanks(r.text.bytes) && r.text.bytes[0] != '#')
            status = read_row(&t, r.text.bytes);
    }
    filter_line_reader_release(&r);
    vec_release(&t.columns);
    hashmap_release(&t.threads);
    return status;
}
