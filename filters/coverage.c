/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often each line was executed: gcov's JSON, lcov's .info, LLVM's coverage JSON. Counts are exact, one event,
 * "executions"; a line executed in several functions (templates, inlined copies) is once in each.
 */
#include "filters/base/builder.h"
#include "filters/formats.h"

#include <ctype.h>
#include <stdlib.h>

static uint32_t executions(struct builder *s)
{
    return builder_event(s, "executions", "executions of the line", "times", 0);
}

static int wrong_json(const struct filter_input *in, const struct json *j, json_ix i, const char *what, struct err *err)
{
    return err_set(err, ERR_FORMAT, "%s:%u: %s", in->name, json_line(j, i), what);
}

/* ---- gcov ---------------------------------------------------------------------------------------------- */

bool gcov_sniff(const void *bytes, size_t len)
{
    return filter_text_begins(bytes, len, '{', "\"gcc_version\"") ||
           filter_text_begins(bytes, len, '{', "\"data_file\"");
}

/* The name to show for a function: functions are few in a file, lines many, and those of one function follow each
 * other. */
static const char *demangled(const struct json *j, json_ix functions, const char *name)
{
    for (json_ix i = json_first(j, functions); i != JSON_NONE; i = json_next(j, i))
        if (strcmp(json_string_of(j, json_get(j, i, "name")), name) == 0) {
            const char *shown = json_string_of(j, json_get(j, i, "demangled_name"));
            return *shown ? shown : name;
        }
    return name;
}

static void gcov_file(struct builder *s, uint32_t event, const struct json *j, json_ix file, const char *module)
{
    json_ix functions = json_get(j, file, "functions");
    struct builder_place p = {HPCPROF_NO_PARENT, module, "", json_string_of(j, json_get(j, file, "file")), 0};
    const char *last = "";
    for (json_ix i = json_first(j, json_get(j, file, "lines")); i != JSON_NONE; i = json_next(j, i)) {
        const char *name = json_string_of(j, json_get(j, i, "function_name"));
        if (strcmp(name, last) != 0)
            p.procedure = demangled(j, functions, name);
        last = name;
        p.line = json_count(j, json_get(j, i, "line_number"));
        uint64_t count = json_count(j, json_get(j, i, "count"));
        if (count)
            builder_add(s, builder_context(s, &p), event, 0, count);
    }
}

/* Adds each file of a report's list; `lacks`: the error if there is no list. */
static int convert_report(
    const struct filter_input *in, struct hpcprof *into, const char *tool, const char *list, const char *lacks,
    void (*add)(struct builder *, uint32_t event, const struct json *, json_ix, const char *module), struct err *err)
{
    struct json *j;
    if (json_read(in->bytes, in->len, in->name, &j, err) < 0)
        return -1;
    json_ix files = json_get(j, 0, list);
    int status = 0;
    if (json_type_of(j, files) != JSON_ARRAY)
        status = wrong_json(in, j, 0, lacks, err);
    else {
        struct builder s = builder_begin(into, in, tool, "");
        uint32_t event = executions(&s);
        const char *module = in->options->program ? in->options->program : "[unknown]";
        for (json_ix i = json_first(j, files); i != JSON_NONE; i = json_next(j, i))
            add(&s, event, j, i, module);
    }
    json_free(j);
    return status;
}

int gcov_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    (void)warnings;
    return convert_report(in, into, "gcov", "files", "has no list of files as written by gcov --json-format", gcov_file,
                          err);
}

/* ---- lcov ------------------------------------------------------------------------------------------------- */

bool lcov_sniff(const void *bytes, size_t len)
{
    struct line_reader r = filter_line_reader_make(bytes, filter_looks_like_text(bytes, len) ? len : 0);
    bool source = false, found = false;
    while (!found && r.number < 100 && filter_line_reader_next(&r)) {
        const char *line = r.text.bytes;
        bool known = str_starts(line, "TN:") || str_starts(line, "SF:") || str_starts(line, "FN:") ||
                     str_starts(line, "FNL:") || str_starts(line, "FNA:") || str_starts(line, "VER:") || *line == '#';
        found = source && (known || str_starts(line, "DA:") || str_starts(line, "FNDA:") || str_starts(line, "FNF:") ||
                           str_starts(line, "BRDA:") || str_starts(line, "end_of_record"));
        source = source || str_starts(line, "SF:");
        if (!known && !found)
            break;
    }
    filter_line_reader_release(&r);
    return found;
}

struct function_line {
    uint64_t line;
    str_id name;
};

struct lcov {
    const struct filter_input *in;
    struct builder builder;
    uint32_t event;
    str_id file;
    struct VEC(struct function_line) functions; /* of the file, by line */
    struct hashmap leaders;                     /* of the file, by number: lines of functions that have no name yet */
    struct VEC(struct function_line) lines;     /* name: unused */
    struct VEC(uint64_t) counts;                /* of lines */
    unsigned long number;
    struct err *err;
};

static int compare_lines(const void *left, const void *right)
{
    const struct function_line *a = left, *b = right;
    return order_of(a->line, b->line);
}

/* Functions may come after the lines in them: a file is kept until its end. */
static void lcov_end(struct lcov *l)
{
    struct strtab *strings = l->builder.into->strings;
    const char *module = l->in->options->program ? l->in->options->program : "[unknown]";
    vec_sort(&l->functions, compare_lines);
    for (size_t i = 0; i < l->lines.count; i++) {
        uint64_t line = l->lines.items[i].line;
        size_t k = sorted_front(l->functions.count, f, l->functions.items[f].line <= line);
        struct builder_place p = {HPCPROF_NO_PARENT, module,
                                  k ? strtab_get(strings, l->functions.items[k - 1].name) : "",
                                  strtab_get(strings, l->file), line};
        if (l->counts.items[i])
            builder_add(&l->builder, builder_context(&l->builder, &p), l->event, 0, l->counts.items[i]);
    }
    l->functions.count = l->lines.count = l->counts.count = 0;
    hashmap_release(&l->leaders);
}

/* "12,7" of "DA:12,7" or "DA:12,7,checksum". */
static int lcov_line(struct lcov *l, const char *text)
{
    char *end;
    uint64_t line = strtoull(text, &end, 10);
    if (end == text || *end != ',' || !isdigit((unsigned char)end[1]))
        return err_set(l->err, ERR_FORMAT, "%s:%lu: DA: must have a line number and a count", l->in->name, l->number);
    *vec_push(&l->lines) = (struct function_line){line, 0};
    *vec_push(&l->counts) = strtoull(end + 1, NULL, 10);
    return 0;
}

/* "5,main", or "5,9,main" since lcov 2.2. */
static void lcov_function(struct lcov *l, const char *text)
{
    char *end, *second;
    uint64_t line = strtoull(text, &end, 10);
    if (end == text || *end != ',')
        return;
    strtoull(end + 1, &second, 10);
    const char *name = second > end + 1 && *second == ',' ? second + 1 : end + 1;
    *vec_push(&l->functions) = (struct function_line){line, strtab_add(l->builder.into->strings, name)};
}

/* "0,3,9": number and lines of a function, and "0,5,main": a name of that number, since lcov 2.2. Of several names of one
   function, the first is taken. */
static void lcov_leader(struct lcov *l, const char *text)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10), line = *end == ',' ? strtoull(end + 1, NULL, 10) : 0;
    if (line && line < HASHMAP_NONE)
        *hashmap_put(&l->leaders, number) = (uint32_t)line;
}

static void lcov_alias(struct lcov *l, const char *text)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10);
    uint32_t line = hashmap_get(&l->leaders, number);
    const char *name = *end == ',' ? strchr(end + 1, ',') : NULL;
    if (!name || line == HASHMAP_NONE || line == 0)
        return;
    *vec_push(&l->functions) = (struct function_line){line, strtab_add(l->builder.into->strings, name + 1)};
    *hashmap_put(&l->leaders, number) = 0;
}

static int lcov_text(struct lcov *l, const char *text)
{
    if (str_starts(text, "SF:")) {
        lcov_end(l);
        l->file = strtab_add(l->builder.into->strings, text + 3);
    } else if (str_starts(text, "FN:"))
        lcov_function(l, text + 3);
    else if (str_starts(text, "FNL:"))
        lcov_leader(l, text + 4);
    else if (str_starts(text, "FNA:"))
        lcov_alias(l, text + 4);
    else if (str_starts(text, "DA:"))
        return lcov_line(l, text + 3);
    else if (strcmp(text, "end_of_record") == 0)
        lcov_end(l);
    return 0;
}

int lcov_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct lcov l = {.in = in, .builder = builder_begin(into, in, "lcov", ""), .err = err};
    struct line_reader r = filter_line_reader_make(in->bytes, in->len);
    int status = 0;
    (void)warnings;
    l.event = executions(&l.builder);
    while (status == 0 && filter_line_reader_next(&r)) {
        l.number = r.number;
        status = lcov_text(&l, r.text.bytes);
    }
    if (status == 0 && (l.lines.count || l.functions.count))
        status = err_set(err, ERR_FORMAT, "%s:%lu: has no end_of_record; is the file truncated?", in->name, l.number);
    if (status == 0 && l.file == 0)
        status = err_set(err, ERR_FORMAT, "%s: names no source file (SF:)", in->name);
    filter_line_reader_release(&r);
    hashmap_release(&l.leaders);
    vec_release(&l.functions);
    vec_release(&l.lines);
    vec_release(&l.counts);
    return status;
}

/* ---- llvm-cov export ------------------------------------------------------------------------------------------- */

bool llvm_cov_sniff(const void *bytes, size_t len)
{
    const char *text = bytes;
    static const char type[] = "\"llvm.coverage.json.export\"", begin[] = "{\"data\":[{\"files\":[";
    if (!filter_looks_like_text(bytes, len) || *text != '{')
        return false;
    /* it stands at the end as a rule, which a file may lack */
    return (len >= sizeof begin - 1 && memcmp(text, begin, sizeof begin - 1) == 0) ||
           memmem(text, len < 4096 ? len : 4096, type, sizeof type - 1) ||
           memmem(text + (len > 4096 ? len - 4096 : 0), len < 4096 ? len : 4096, type, sizeof type - 1);
}

struct coverage_segment { /* from here on, `count` holds */
    uint64_t line, count;
    bool has_count, entry, gap;
};

static struct coverage_segment read_segment(const struct json *j, json_ix list)
{
    uint64_t v[6] = {0};
    json_ix i = json_first(j, list);
    for (size_t k = 0; k < ARRAY_SIZE(v) && i != JSON_NONE; k++, i = json_next(j, i))
        v[k] = json_count(j, i);
    return (struct coverage_segment){v[0], v[2], v[3] != 0, v[4] != 0, v[5] != 0};
}

/* As LLVM's LineCoverageStats counts a line: the largest of the count at its beginning and of regions that begin in
   it. */
static void llvm_line(struct builder *s, uint32_t event, struct builder_place *p, uint64_t line,
                      const struct coverage_segment *before, uint64_t entries)
{
    uint64_t held = before->has_count ? before->count : 0;
    p->line = line;
    if (held > entries || entries)
        builder_add(s, builder_context(s, p), event, 0, held > entries ? held : entries);
}

enum { MOST_LINES = 10000000 };

static void llvm_file(struct builder *s, uint32_t event, const struct json *j, json_ix file, const char *module)
{
    struct builder_place p = {HPCPROF_NO_PARENT, module, "", json_string_of(j, json_get(j, file, "filename")), 0};
    struct coverage_segment held = {0}, now = {0};
    uint64_t line = 0, entries = 0;
    for (json_ix i = json_first(j, json_get(j, file, "segments")); i != JSON_NONE; i = json_next(j, i)) {
        struct coverage_segment next = read_segment(j, i);
        if (next.line < line || next.line > MOST_LINES)
            continue;
        if (next.line > line) {
            if (line)
                llvm_line(s, event, &p, line, &held, entries);
            for (uint64_t k = line + 1; now.has_count && k < next.line; k++)
                llvm_line(s, event, &p, k, &now, 0);
            held = now;
            line = next.line;
            entries = 0;
        }
        if (next.entry && next.has_count && !next.gap && next.count > entries)
            entries = next.count;
        now = next;
    }
    if (line)
        llvm_line(s, event, &p, line, &held, entries);
}

static void llvm_export(struct builder *s, uint32_t event, const struct json *j, json_ix export, const char *module)
{
    for (json_ix f = json_first(j, json_get(j, export, "files")); f != JSON_NONE; f = json_next(j, f))
        llvm_file(s, event, j, f, module);
}

int llvm_cov_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    (void)warnings;
    return convert_report(in, into, "llvm-cov", "data", "has no \"data\" as written by llvm-cov export", llvm_export,
                          err);
}
