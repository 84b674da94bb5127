/*
 * What CONTRIBUTING says about adding an input format that has a table beside its counts: this file, its row in
 * filters/filters.c, its name in filters/local.mk. tests/walkthrough/walkthrough.sh adds it and sees the table printed
 * and shown.
 *
 *     toy
 *     LINE COUNT COLOUR
 */
#include "filters/base/base.h"

#include <stdio.h>

static const struct table_column colour_columns[] = {
    {.name = "line", .title = "painted", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "context"},
    {.name = "colour", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "strokes", .unit = "strokes", .type = TABLE_COUNT, .merge = TABLE_SUM},
};
static const struct table_decl colours = {"colours", "Colours", "Which line is of which colour", colour_columns,
                                          ARRAY_SIZE(colour_columns)};

bool toy_sniff(const void *bytes, size_t len)
{
    return len > 4 && memcmp(bytes, "toy\n", 4) == 0;
}

static uint32_t context_of(struct hpcprof *p, uint32_t line)
{
    struct hpcprof_context c = {.parent = HPCPROF_NO_PARENT, .by_line = true, .line = line};
    c.module = hpcprof_add_module(p, "toy", "");
    c.procedure = strtab_add(p->strings, "paint");
    c.file = strtab_add(p->strings, "toy.c");
    return hpcprof_add_context(p, &c);
}

int toy_convert(const struct filter_input *in, struct hpcprof *p, struct warnings *warnings, struct err *err)
{
    struct hpcprof_event strokes = {.name = strtab_add(p->strings, "STROKES")};
    struct hpcprof_process process = {.rank = -1, .exit_status = -1, .complete = true};
    struct hpcprof_thread thread = {0};
    struct line_reader r = filter_line_reader_make(in->bytes, in->len);
    struct table *t;
    (void)warnings;
    uint32_t event = hpcprof_add_event(p, &strokes);
    process.command = strtab_add(p->strings, "toy");
    hpcprof_add_process(p, &process);
    uint32_t of = hpcprof_add_thread(p, &thread);
    int status = table_list_declare(&p->tables, &colours, p->strings, &t, err);
    while (status == 0 && filter_line_reader_next(&r)) {
        unsigned line, count;
        char colour[32];
        if (r.number == 1)
            continue;
        if (sscanf(r.text.bytes, "%u %u %31s", &line, &count, colour) != 3) {
            status = err_set(err, ERR_FORMAT, "%s:%lu: a line, a count and a colour are wanted", in->name, r.number);
            break;
        }
        uint32_t context = context_of(p, line);
        hpcprof_add_count(p, &(struct hpcprof_count){of, context, event, 0, 0, count});
        table_add(t,
                  (union table_cell[]){{.row = context}, {.text = strtab_add(p->strings, colour)}, {.count = count}});
    }
    filter_line_reader_release(&r);
    return status;
}
/* SPDX-License-Identifier: BSD-3-Clause */
