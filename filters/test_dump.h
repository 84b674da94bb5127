/* A measurement as text, for tests. */
#ifndef FILTERS_TEST_DUMP_H
#define FILTERS_TEST_DUMP_H

#include "filters/filters_int.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>

static void dump_context(struct buf *out, const struct hpcprof *p, uint32_t context)
{
    const struct hpcprof_context *c = &p->contexts[context];
    buf_str(out, path_base(strtab_get(p->strings, p->modules[c->module].path)));
    if (c->by_line)
        buf_printf(out, " %s%s%s %s:%u", c->procedure ? strtab_get(p->strings, c->procedure) : "-",
                   c->procedure_file ? "@" : "", strtab_get(p->strings, c->procedure_file),
                   c->file ? strtab_get(p->strings, c->file) : "-", c->line);
    else
        buf_printf(out, " %llx", (unsigned long long)c->address);
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "module procedure file:line EVENT value [xSAMPLES] [thread T] [in REGION] [< caller]" of each count, sorted. */
static char *dump(const struct hpcprof *p)
{
    struct buf out = {0};
    char **lines = mem_calloc(p->count_count + 1, sizeof *lines);
    for (size_t i = 0; i < p->count_count; i++) {
        const struct hpcprof_count *c = &p->counts[i];
        struct buf line = {0};
        dump_context(&line, p, c->context);
        buf_printf(&line, " %s %llu", strtab_get(p->strings, p->events[c->event].name), (unsigned long long)c->value);
        if (c->samples)
            buf_printf(&line, " x%llu", (unsigned long long)c->samples);
        if (c->thread)
            buf_printf(&line, " thread %u.%u %s", p->threads[c->thread].process, p->threads[c->thread].number,
                       strtab_get(p->strings, p->threads[c->thread].name));
        if (c->region)
            buf_printf(&line, " in %s", strtab_get(p->strings, p->regions[c->region].name));
        for (uint32_t up = p->contexts[c->context].parent; up != HPCPROF_NO_PARENT; up = p->contexts[up].parent) {
            buf_str(&line, " < ");
            dump_context(&line, p, up);
        }
        lines[i] = line.bytes;
    }
    qsort(lines, p->count_count, sizeof *lines, compare_text);
    buf_str(&out, "");
    for (size_t i = 0; i < p->count_count; i++) {
        buf_printf(&out, "%s\n", lines[i]);
        mem_free(lines[i]);
    }
    mem_free(lines);
    return out.bytes;
}

/* What becomes of it, or the error; behind it what was warned of, where that is asked for, each with "! " in front. */
static inline char *converted_with(const char *format, const void *bytes, size_t len,
                                   const struct filter_options *options, struct warnings *warnings)
{
    static const struct filter_options none;
    struct err err = {0};
    const struct filter *f = filter_named(format, &err);
    struct hpcprof *p = hpcprof_create();
    struct filter_input in = {.bytes = bytes, .len = len, .name = "input", .options = options ? options : &none};
    struct buf out = {0};
    if (f && f->convert(&in, p, warnings, &err) == 0) {
        hpcprof_finish(p);
        char *text = dump(p);
        buf_str(&out, text);
        mem_free(text);
        for (size_t i = 0; warnings && i < warnings_count(warnings); i++)
            buf_printf(&out, "! %s\n", warnings_get(warnings, i));
    } else
        buf_str(&out, err.msg);
    hpcprof_free(p);
    return out.bytes;
}

static inline char *converted(const char *format, const void *bytes, size_t len, const struct filter_options *options)
{
    return converted_with(format, bytes, len, options, NULL);
}

#endif
