/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output of likwid-perfctr -O, with the marker API (-m) or without: tables of CSV, for each region and group.
 *
 *     TABLE,Region Sum,Group 1 Raw,FLOPS_DP,3
 *     Region Info,HWThread 0,HWThread 1
 *     RDTSC Runtime [s],0.012,0.013
 *     call count,1,1
 *     Event,Counter,HWThread 0,HWThread 1
 *     INSTR_RETIRED_ANY,FIXC0,1234,5678
 *
 * "TABLE,Group 1 Raw,FLOPS_DP,3" is of the whole program; before LIKWID 5 a thread is "Core 0". Tables of statistics
 * (STAT) and of metrics are computed from these and passed over.
 */
#include "filters/base/builder.h"
#include "filters/formats.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_FIELDS = 65536 };

struct likwid {
    const struct filter_input *in;
    struct builder builder;
    struct VEC(char *) fields;  /* of the line */
    struct VEC(uint32_t) cores; /* the threads of the table's columns */
    struct builder_threads threads;
    struct hashmap groups; /* by name: how many there are */
    char *group;           /* of the table that is read */
    uint32_t context;
    bool raw;         /* in a table that is read */
    uint64_t missing; /* missing rows of the table, by its first line */
    bool counting;    /* its rows have begun */
    unsigned long number;
    struct err *err;
};

static int wrong(struct likwid *l, const char *what, const char *value)
{
    return err_set(l->err, ERR_FORMAT, "%s:%lu: %s '%s'", l->in->name, l->number, what, value);
}

static void split(struct likwid *l, char *line)
{
    l->fields.count = 0;
    for (char *field; (field = strsep(&line, ",")) && l->fields.count < MOST_FIELDS;)
        *vec_push(&l->fields) = field;
    while (l->fields.count && *l->fields.items[l->fields.count - 1] == '\0')
        l->fields.count--; /* lines are filled up with commas */
}

/* "HWThread 12", "Core 12" (LIKWID 4). */
static bool is_thread(const char *field, uint32_t *number)
{
    const char *digits = str_starts(field, "HWThread ") ? field + 9 : str_starts(field, "Core ") ? field + 5 : NULL;
    if (!digits || !isdigit((unsigned char)*digits))
        return false;
    *number = (uint32_t)strtoul(digits, NULL, 10);
    return true;
}

bool likwid_sniff(const void *bytes, size_t len)
{
    struct line_reader r = filter_line_reader_make(bytes, filter_looks_like_text(bytes, len) ? len : 0);
    bool found = false;
    while (!found && r.number < 500 && filter_line_reader_next(&r)) {
        const char *line = r.text.bytes;
        found = r.text.len &&
                (str_starts(line, "TABLE,Region ") || (str_starts(line, "TABLE,Group ") && strstr(line, " Raw,")));
    }
    filter_line_reader_release(&r);
    return found;
}

/* "TABLE,Region R,Group 1 Raw,NAME,9" or "TABLE,Group 1 Raw,NAME,9": which region, which group; is it read? */
static bool table_of(struct likwid *l, const char **region, const char **group)
{
    size_t n = l->fields.count, i = 1;
    *region = NULL;
    if (n < 4 || strcmp(l->fields.items[0], "TABLE") != 0)
        return false;
    if (str_starts(l->fields.items[i], "Region "))
        *region = l->fields.items[i++] + 7;
    *group = i + 1 < n ? l->fields.items[i + 1] : "";
    return str_ends(l->fields.items[i], " Raw");
}

static void begin_table(struct likwid *l)
{
    const char *region, *group;
    l->raw = table_of(l, &region, &group);
    l->cores.count = 0;
    if (!l->raw)
        return;
    mem_free(l->group);
    l->group = mem_strdup(group);
    const char *module = l->in->options->program ? l->in->options->program : "[unknown]";
    struct builder_place place = {HPCPROF_NO_PARENT, module, region ? region : "", "", 0};
    l->context = builder_context(&l->builder, &place);
    l->builder.region = region ? hpcprof_add_region(l->builder.into, region, 0) : 0;
}

/* The line that names the columns' threads. Columns of GPUs are skipped. */
static int begin_columns(struct likwid *l, size_t from)
{
    uint32_t number;
    l->cores.count = 0;
    for (size_t i = from; i < l->fields.count; i++)
        if (is_thread(l->fields.items[i], &number))
            *vec_push(&l->cores) = builder_threads_row(&l->threads, BUILDER_NO_RANK, number);
    l->raw = l->cores.count != 0;
    return 0;
}

/* Events of several groups were counted at different times: each is by itself. */
static uint32_t event_of(struct likwid *l, const char *name, const char *unit)
{
    char *full = l->groups.count > 1 ? mem_printf("%s (%s)", name, l->group) : mem_strdup(name);
    uint32_t event = builder_event(&l->builder, full, "counted by LIKWID", unit, 0);
    mem_free(full);
    return event;
}

static int add_values(struct likwid *l, size_t from, uint32_t event, double scale)
{
    for (size_t i = from; i < l->fields.count && i - from < l->cores.count; i++) {
        const char *text = l->fields.items[i];
        char *end;
        double value = strtod(text, &end);
        bool whole = text[strspn(text, "0123456789")] == '\0' && scale == 1;
        if (strcmp(text, "-") == 0 || *text == '\0' || value != value)
            continue; /* not counted there: "nan", "-" */
        if (*end || value < 0)
            return wrong(l, "not a number >= 0:", text);
        l->builder.thread = l->cores.items[i - from];
        if (whole)
            builder_add(&l->builder, l->context, event, 0, strtoull(text, NULL, 10));
        else
            builder_add_number(&l->builder, l->context, event, value * scale);
    }
    return 0;
}

static int read_row(struct likwid *l)
{
    const char *name = l->fields.items[0];
    if (strcmp(name, "Region Info") == 0)
        return begin_columns(l, 1);
    if (strcmp(name, "Event") == 0)
        return begin_columns(l, 2);
    if (l->cores.count == 0)
        return wrong(l, "the threads of this table were not named before", name);
    if (strcmp(name, "RDTSC Runtime [s]") == 0)
        return add_values(l, 1, event_of(l, "runtime", "ns"), 1e9);
    if (strcmp(name, "call count") == 0)
        return add_values(l, 1, event_of(l, "calls", "calls"), 1);
    if (str_starts(name, "Runtime (RDTSC)")) /* of a region: the same again */
        return l->builder.region ? 0 : add_values(l, 2, event_of(l, "runtime", "ns"), 1e9);
    return add_values(l, 2, event_of(l, name, ""), 1);
}

/* Threads and groups are known before anything is counted. */
static int meet_all(struct likwid *l)
{
    struct line_reader r = filter_line_reader_make(l->in->bytes, l->in->len);
    int status = 0;
    struct strtab *strings = strtab_create();
    while (status == 0 && filter_line_reader_next(&r)) {
        const char *region, *group;
        uint32_t number;
        l->number = r.number;
        split(l, r.text.bytes);
        if (table_of(l, &region, &group))
            *hashmap_put(&l->groups, strtab_add(strings, group)) = 0;
        bool header = l->fields.count &&
                      (strcmp(l->fields.items[0], "Region Info") == 0 || strcmp(l->fields.items[0], "Event") == 0);
        for (size_t i = 1; header && i < l->fields.count; i++)
            if (is_thread(l->fields.items[i], &number) && !builder_threads_meet(&l->threads, BUILDER_NO_RANK, number))
                status = wrong(l, "has too many threads (LIMIT_THREADS):", l->fields.items[i]);
    }
    filter_line_reader_release(&r);
    strtab_free(strings);
    return status;
}

/* Any table, read or not: "TABLE,...,3" is followed by three rows behind the line that names its columns. */
static void count_rows(struct likwid *l)
{
    const char *first = l->fields.items[0], *last = l->fields.items[l->fields.count - 1];
    bool table = strcmp(first, "TABLE") == 0;
    if (table || strcmp(first, "STRUCT") == 0 || str_starts(first, "----")) {
        l->missing = table ? strtoull(last, NULL, 10) : 0;
        l->counting = false;
    } else if (strcmp(first, "Event") == 0 || strcmp(first, "Metric") == 0)
        l->counting = true;
    else if (l->counting && l->missing)
        l->missing--;
}

static int check_end(struct likwid *l, bool any)
{
    const char *bytes = l->in->bytes;
    if (!any)
        return err_set(l->err, ERR_FORMAT, "%s: has no table of counts (TABLE,... Raw)", l->in->name);
    if (l->missing || bytes[l->in->len - 1] != '\n')
        return err_set(l->err, ERR_FORMAT, "%s:%lu: ends in the middle of a table; is the file truncated?", l->in->name,
                       l->number);
    return 0;
}

static int read_lines(struct likwid *l)
{
    struct line_reader r = filter_line_reader_make(l->in->bytes, l->in->len);
    int status = 0;
    bool any = false;
    while (status == 0 && filter_line_reader_next(&r)) {
        l->number = r.number;
        split(l, r.text.bytes);
        if (l->fields.count == 0)
            continue;
        count_rows(l);
        if (strcmp(l->fields.items[0], "TABLE") == 0) {
            begin_table(l);
            any = any || l->raw;
        } else if (strcmp(l->fields.items[0], "STRUCT") == 0 || str_starts(l->fields.items[0], "----"))
            l->raw = false;
        else if (l->raw)
            status = read_row(l);
    }
    filter_line_reader_release(&r);
    return status == 0 ? check_end(l, any) : status;
}

int likwid_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct likwid l = {.in = in, .err = err};
    int status = meet_all(&l);
    if (status == 0) {
        l.builder = builder_threads_begin(&l.threads, into, in, "LIKWID", "");
        status = read_lines(&l);
    }
    if (status == 0)
        builder_end(&l.builder, in, warnings);
    vec_release(&l.fields);
    vec_release(&l.cores);
    builder_threads_release(&l.threads);
    hashmap_release(&l.groups);
    mem_free(l.group);
    return status;
}
