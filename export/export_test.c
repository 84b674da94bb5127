/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output of each format for a drawing, compared verbatim: tests/export/formats.cases (tests/cases.h). A case has
 *
 *     metrics=A,B  tree=NAME  -no-loops     options
 *     -on-line                              each loop is the second one of its line
 *     drawing                               see tests/fixtures/outline.c, and dress() below
 *     FORMAT                                its output or the error; pprof's, which is binary, field by field
 */
#include "tests/fixtures/outline.h"
#include "export/export.h"
#include "tests/cases.h"

#include <zlib.h>

enum { METRICS_MOST = 20 };

struct at_hand { /* of the case */
    char *drawing, *metrics, *tree;
    bool no_loops, on_line;
    struct experiment *e;
};

static void begin(void *ctx, const char *name)
{
    struct at_hand *h = ctx;
    (void)name;
    experiment_free(h->e);
    mem_free(h->metrics);
    mem_free(h->tree);
    *h = (struct at_hand){.drawing = h->drawing};
}

static void take_option(void *ctx, const char *word)
{
    struct at_hand *h = ctx;
    if (str_starts(word, "metrics="))
        h->metrics = mem_strdup(word + strlen("metrics="));
    else if (str_starts(word, "tree="))
        h->tree = mem_strdup(word + strlen("tree="));
    else if (strcmp(word, "-no-loops") == 0)
        h->no_loops = true;
    else if (strcmp(word, "-on-line") == 0)
        h->on_line = true;
    else
        exit(99);
}

static void take_input(void *ctx, const char *which, const char *text)
{
    struct at_hand *h = ctx;
    (void)which;
    mem_free(h->drawing);
    h->drawing = mem_strdup(text);
}

/* Adds the data that drawings lack: last lines, locations of inlined calls, copies of loops, addresses of places
   without a line; exclusive values for measured metrics, all of which are displayed. In names '_' means a blank, '~' a
   newline. */
static void dress(struct experiment *e, bool on_line)
{
    for (place_ix i = 0; i < e->place_count; i++) {
        struct place *p = &e->places[i];
        char *name = mem_strdup(strtab_get(e->strings, p->name));
        for (char *c = name; *c; c++)
            *c = *c == '_' ? ' ' : *c == '~' ? '\n' : *c;
        p->name = strtab_add(e->strings, name);
        mem_free(name);
        if (p->kind == PLACE_PROC || p->kind == PLACE_LOOP || p->kind == PLACE_INLINE)
            p->line_last = p->line_first ? p->line_first + 2 : 0;
        if (p->kind == PLACE_INLINE) {
            p->call_file = 0;
            p->call_line = p->line_first + 100;
        }
        if (p->kind == PLACE_LOOP)
            p->on_line = on_line ? 2 : 0;
        if (p->kind >= PLACE_PROC && !p->line_first)
            p->address = 0x1000 + i;
        for (place_ix k = 0; p->kind == PLACE_LOOP && k < e->place_count; k++)
            if (e->places[k].same == p->same) {
                p->instances++;
                p->instance += k <= i;
            }
    }
    for (size_t m = 0; m < e->metric_count; m++)
        e->metrics[m].has_exclusive = e->metrics[m].display = true;
}

/* ---- pprof ------------------------------------------------------------------------------------------------ */

static uint64_t varint(const uint8_t **at)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        v |= (uint64_t)(**at & 0x7f) << shift;
        if (!(*(*at)++ & 0x80))
            return v;
    }
}

/* "2{1=[1 2] 2=[5]}": messages in braces, packed numbers in brackets, texts in quotes. */
static void add_message(struct buf *out, const uint8_t *at, const uint8_t *end, unsigned inside)
{
    for (bool first = true; at < end; first = false) {
        uint64_t key = varint(&at);
        unsigned field = (unsigned)(key >> 3), path = inside * 10 + field;
        buf_printf(out, "%s%u", first ? "" : inside ? " " : "\n", field);
        if ((key & 7) == 0) {
            buf_printf(out, "=%llu", (unsigned long long)varint(&at));
            continue;
        }
        size_t n = varint(&at);
        const uint8_t *close = at + n;
        if (path == 6)
            buf_printf(out, "\"%.*s\"", (int)(close - at), (const char *)at);
        else if (path == 21 || path == 22) {
            buf_str(out, "=[");
            for (bool begun = false; at < close; begun = true)
                buf_printf(out, "%s%llu", begun ? " " : "", (unsigned long long)varint(&at));
            buf_str(out, "]");
        } else {
            buf_str(out, "{");
            add_message(out, at, close, path);
            buf_str(out, "}");
        }
        at = close;
    }
}

static void add_unpacked(struct buf *out, const struct buf *packed)
{
    static uint8_t room[1 << 16];
    z_stream z = {
        .next_in = (Bytef *)packed->bytes, .avail_in = (uInt)packed->len, .next_out = room, .avail_out = sizeof room};
    if (inflateInit2(&z, 15 + 16) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END)
        exit(99);
    add_message(out, room, z.next_out, 0);
    inflateEnd(&z);
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

struct to_write {
    const struct at_hand *h;
    const struct export_format *format;
    struct err err;
    int status;
};

static void write_it(void *ctx, struct outfile *out)
{
    struct to_write *w = ctx;
    const char *metrics[METRICS_MOST + 1] = {NULL};
    char *list = mem_strdup(w->h->metrics ? w->h->metrics : ""), *rest = list;
    for (size_t n = 0; w->h->metrics && n < METRICS_MOST && (metrics[n] = strsep(&rest, ",")); n++)
        ;
    struct export_options options = {w->h->metrics ? metrics : NULL, w->h->tree, w->h->no_loops, NULL};
    w->status = export_write(w->h->e, w->format, &options, out, &w->err);
    mem_free(list);
}

static void make_output(void *ctx, const char *what, struct buf *out)
{
    struct at_hand *h = ctx;
    struct to_write w = {.h = h};
    struct buf written = {0};
    if (!h->e) {
        h->e = outline_read(h->drawing, "a drawing");
        dress(h->e, h->on_line);
    }
    w.format = export_named(what, &w.err);
    if (w.format)
        cases_written(&written, write_it, &w);
    if (w.status > 0)
        buf_printf(out, "status %d\n", w.status);
    if (!w.format || w.status < 0)
        buf_printf(out, "error: %s\n", w.err.msg);
    else if (strcmp(what, "pprof") == 0)
        add_unpacked(out, &written);
    else
        buf_add(out, written.bytes, written.len);
    buf_release(&written);
}

int main(void)
{
    static const char *const inputs[] = {"drawing", NULL};
    struct at_hand h = {0};
    struct cases c = {inputs, begin, take_option, take_input, make_output, &h, NULL, {0}};
    cases_run(&c, "tests/export/formats.cases");
    mem_free(h.drawing);
    return tap_done();
}
