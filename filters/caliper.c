/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Caliper's JSON (software.llnl.gov/Caliper, "Output formatting"): records of values at regions and call paths.
 *
 *     json-split  {"data": [[1, 3395643, 0], ...], "columns": ["count", "time", "path"],
 *                  "column_metadata": [{"is_value": true}, ...], "nodes": [{"label": "main"}, {"label": "f", "parent": 0}]}
 *     json        [{"path": "main/f", "count": 100}, ...], or {"records": [...], "globals": ..., "attributes": ...}
 *
 * The regions ("path") are the call path if there is no other. Columns that cannot be added up (minima, maxima,
 * inclusive values, shares) are left out.
 */
#include "filters/base/builder.h"
#include "filters/formats.h"

#include <ctype.h>
#include <stdlib.h>

enum kind {
    NEW,
    VALUE,
    LEFT_OUT,
    RANK,
    THREAD,
    REGIONS,  /* the path of regions */
    CALLS,    /* the path of calls */
    FUNCTION, /* of the sample itself */
    MODULE,
    SOURCE_LINE, /* "heat.c:12" */
    FILE_NAME,
    LINE
};

struct caliper_column {
    enum kind kind;
    bool reference; /* its values are numbers of nodes */
    bool ready;     /* the event is there */
    const char *name, *unit;
    double scale; /* to whole numbers */
    uint32_t event;
};

struct node { /* of json-split, once it is needed */
    uint32_t context, region;
};

struct caliper_field {
    uint32_t column;
    json_ix value;
};

struct caliper {
    const struct filter_input *in;
    struct json *json;
    struct builder builder;
    const char *module;
    struct VEC(struct caliper_column) columns;
    struct hashmap column_index; /* by name, for records that name them */
    struct strtab *names;
    struct VEC(json_ix) nodes;
    struct VEC(uint32_t) parents; /* of nodes */
    struct VEC(uint32_t) chain;   /* nodes, the innermost first */
    struct VEC(struct caliper_field) fields;
    struct builder_threads threads;
    struct buf left_out; /* names of columns */
    bool has_calls;
    struct warnings *warnings;
    struct err *err;
};

static int wrong(struct caliper *c, json_ix i, const char *what)
{
    return err_set(c->err, ERR_FORMAT, "%s:%u: %s", c->in->name, json_line(c->json, i), what);
}

/* ---- whose is it? ----------------------------------------------------------------------------------------------- */

static const char *after_blanks(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

static bool is_next(const char **at, const char *end, const char *text)
{
    const char *here = after_blanks(*at, end);
    size_t n = strlen(text);
    if ((size_t)(end - here) < n || memcmp(here, text, n) != 0)
        return false;
    *at = here + n;
    return true;
}

/* A flat object in which a key is a region's, or of an aggregation's form: "sum#time.duration". */
static bool is_record(const char *at, const char *end)
{
    static const char *const keys[] = {"\"path\":", "\"function\":", "\"region\":", "\"annotation\":", "\"loop\":"};
    const char *close = memchr(at, '}', (size_t)(end - at)), *open = memchr(at, '{', (size_t)(end - at));
    end = close ? close : end;
    if (open && open < end)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (memmem(at, (size_t)(end - at), keys[i], strlen(keys[i])))
            return true;
    return memmem(at, (size_t)(end - at), "sum#", 4) || memmem(at, (size_t)(end - at), "count#", 6);
}

bool caliper_sniff(const void *bytes, size_t len)
{
    const char *at = bytes, *end = at + len, *near = at + (len < 4096 ? len : 4096);
    static const char metadata[] = "\"column_metadata\"";
    if (!filter_looks_like_text(bytes, len))
        return false;
    if (is_next(&at, end, "[") && is_next(&at, near, "{"))
        return is_record(at, near);
    if (!is_next(&at, end, "{"))
        return false;
    const char *records = at;
    if (is_next(&records, near, "\"records\":") && is_next(&records, near, "[") && is_next(&records, near, "{"))
        return is_record(records, near);
    return is_next(&at, near, "\"data\":") && memmem(at, (size_t)(end - at), metadata, sizeof metadata - 1);
}

/* ---- columns ------------------------------------------------------------------------------------------------------ */

static enum kind kind_named(const char *name)
{
    static const struct {
        const char *name;
        enum kind kind;
    } kinds[] = {
        {"path", REGIONS},
        {"region", REGIONS},
        {"function", REGIONS},
        {"annotation", REGIONS},
        {"loop", REGIONS},
        {"source.function#callpath.address", CALLS},
        {"source.function#cali.sampler.pc", FUNCTION},
        {"module#cali.sampler.pc", MODULE},
        {"sourceloc#cali.sampler.pc", SOURCE_LINE},
        {"source.file#cali.sampler.pc", FILE_NAME},
        {"source.line#cali.sampler.pc", LINE},
        {"mpi.rank", RANK},
        {"rank", RANK},
        {"thread", THREAD},
        {"pthread.id", THREAD},
        {"omp.thread.id", THREAD},
    };
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    return NEW;
}

/* Inclusive values are sums of the others; minima, maxima, shares have no sum. The mean of sums over processes is
   additive. */
static bool adds_up(const char *name)
{
    static const char *const never[] = {"min#",           "max#",      "percent_total#", "ratio#", "variance#",
                                        "histogram.bin.", "iteration", "cali.",          "avg#"};
    if (strstr(name, "inclusive") || str_ends(name, "(inc)") || str_ends(name, "(I)"))
        return false;
    if (str_starts(name, "avg#sum#") || str_starts(name, "avg#count"))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(never); i++)
        if (str_starts(name, never[i]))
            return false;
    return true;
}

/* Times are kept in nanoseconds: counts are integers. Caliper's time.duration is in microseconds if its name does
   not end in ".ns"; renamed columns are in seconds. */
static void set_unit(struct caliper_column *c, const char *unit)
{
    const char *name = c->name;
    bool seconds = strcmp(unit, "sec") == 0 || strcmp(unit, "s") == 0;
    bool micro = strcmp(unit, "usec") == 0 || strcmp(unit, "us") == 0;
    bool nano = strcmp(unit, "nsec") == 0 || strcmp(unit, "ns") == 0;
    if (*unit == '\0') {
        nano = str_ends(name, "time.duration.ns");
        micro = str_ends(name, "time.duration");
        seconds = strcmp(name, "time") == 0 || strcmp(name, "Time") == 0 || str_ends(name, "(s)");
    }
    c->scale = seconds ? 1e9 : micro ? 1e3 : 1;
    c->unit = seconds || micro || nano ? "ns" : unit;
}

static const char *metadata_unit(const struct json *j, json_ix metadata)
{
    const char *unit = json_string_of(j, json_get(j, metadata, "attribute.unit"));
    return *unit ? unit : json_string_of(j, json_get(j, metadata, "time.unit"));
}

static uint32_t add_column(struct caliper *c, const char *name, json_ix metadata)
{
    const struct json *j = c->json;
    json_ix is_value = json_get(j, metadata, "is_value");
    struct caliper_column column = {.kind = kind_named(name), .name = strtab_get(c->names, strtab_add(c->names, name))};
    column.reference = is_value != JSON_NONE && json_number(j, is_value) == 0;
    if (column.kind == NEW)
        column.kind = !column.reference && adds_up(name) ? VALUE : LEFT_OUT;
    set_unit(&column, metadata_unit(j, metadata));
    c->has_calls = c->has_calls || column.kind == CALLS;
    if (column.kind == LEFT_OUT && c->left_out.len < 1000)
        buf_printf(&c->left_out, "%s%s", c->left_out.len ? ", " : "", name);
    *vec_push(&c->columns) = column;
    return (uint32_t)c->columns.count - 1;
}

/* ---- paths ---------------------------------------------------------------------------------------------------------- */

static void enter(struct caliper *c, enum kind kind, const char *label, struct node *at)
{
    if (kind == REGIONS)
        at->region = hpcprof_add_region(c->builder.into, label, at->region);
    if (kind == CALLS || !c->has_calls) {
        struct builder_place p = {at->context, c->module, label, "", 0};
        at->context = builder_context(&c->builder, &p);
    }
}

static int enter_nodes(struct caliper *c, enum kind kind, json_ix value, struct node *at)
{
    uint64_t i = json_count(c->json, value);
    c->chain.count = 0;
    if (i >= c->nodes.count)
        return wrong(c, value, "no node has this number");
    for (uint32_t k = (uint32_t)i; k != UINT32_MAX && c->chain.count < LIMIT_PATH_DEPTH; k = c->parents.items[k])
        *vec_push(&c->chain) = k;
    for (size_t k = c->chain.count; k-- > 0;)
        enter(c, kind, json_string_of(c->json, json_get(c->json, c->nodes.items[c->chain.items[k]], "label")), at);
    return 0;
}

/* "main/solve/sweep" */
static void enter_text(struct caliper *c, enum kind kind, const char *path, struct node *at)
{
    char *copy = mem_strdup(path), *rest = copy;
    size_t depth = 0;
    for (char *label; (label = strsep(&rest, "/"));)
        if (*label && depth++ < LIMIT_PATH_DEPTH)
            enter(c, kind, label, at);
    mem_free(copy);
}

/* A text, or the label of a node. */
static const char *text_of(struct caliper *c, const struct caliper_field *f)
{
    const struct json *j = c->json;
    uint64_t i = json_count(j, f->value);
    if (c->columns.items[f->column].reference)
        return i < c->nodes.count ? json_string_of(j, json_get(j, c->nodes.items[i], "label")) : "";
    return json_string_of(j, f->value);
}

/* ---- records -------------------------------------------------------------------------------------------------------- */

static void worker_of(struct caliper *c, uint32_t *rank, uint32_t *thread)
{
    *rank = BUILDER_NO_RANK;
    *thread = 0;
    for (size_t i = 0; i < c->fields.count; i++) {
        const struct caliper_field *f = &c->fields.items[i];
        enum kind kind = c->columns.items[f->column].kind;
        if (kind != RANK && kind != THREAD)
            continue;
        const char *text = text_of(c, f);
        uint64_t n = *text ? strtoull(text, NULL, 10) : json_count(c->json, f->value);
        *(kind == RANK ? rank : thread) = n < INT32_MAX ? (uint32_t)n : INT32_MAX;
    }
}

/* The location of the sample itself, below its path. */
static void place_sample(struct caliper *c, const struct caliper_field *f, struct builder_place *p, char **owned)
{
    enum kind kind = c->columns.items[f->column].kind;
    const char *text = text_of(c, f), *colon = strrchr(text, ':');
    if (kind == FUNCTION)
        p->procedure = text;
    else if (kind == MODULE)
        p->module = *text ? text : p->module;
    else if (kind == FILE_NAME)
        p->file = text;
    else if (kind == LINE)
        p->line = *text ? strtoull(text, NULL, 10) : json_count(c->json, f->value);
    else if (kind == SOURCE_LINE && colon && !*owned) {
        *owned = mem_strndup(text, (size_t)(colon - text));
        p->file = strcmp(*owned, "UNKNOWN") == 0 ? "" : *owned;
        p->line = strtoull(colon + 1, NULL, 10);
    }
}

/* The path's last frame is the sample's function, which then has a line and a module. */
static uint32_t sample_context(struct caliper *c, uint32_t path)
{
    struct hpcprof *into = c->builder.into;
    struct builder_place p = {path, c->module, "", "", 0};
    char *owned = NULL;
    for (size_t i = 0; i < c->fields.count; i++)
        place_sample(c, &c->fields.items[i], &p, &owned);
    bool more = *p.file || p.line || *p.procedure || p.module != c->module;
    if (path != HPCPROF_NO_PARENT && more) {
        const struct hpcprof_context *last = &into->contexts[path];
        const char *name = strtab_get(into->strings, last->procedure);
        if (*p.procedure == '\0' || strcmp(name, p.procedure) == 0) {
            p.procedure = name;
            p.parent = last->parent;
        }
    }
    uint32_t context = path == HPCPROF_NO_PARENT || more ? builder_context(&c->builder, &p) : path;
    mem_free(owned);
    return context;
}

static int take_path(struct caliper *c, const struct caliper_field *f, struct node *at)
{
    const struct caliper_column *column = &c->columns.items[f->column];
    if (column->kind != REGIONS && column->kind != CALLS)
        return 0;
    if (column->reference)
        return enter_nodes(c, column->kind, f->value, at);
    enter_text(c, column->kind, json_string_of(c->json, f->value), at);
    return 0;
}

static void add_value(struct caliper *c, const struct caliper_field *f, uint32_t context)
{
    const struct json *j = c->json;
    struct caliper_column *column = &c->columns.items[f->column];
    const char *text = json_string_of(j, f->value);
    char *end = NULL;
    bool number = json_type_of(j, f->value) == JSON_NUMBER; /* with quote-all numbers are texts */
    double value = number ? json_number(j, f->value) : strtod(text, &end);
    if (column->kind != VALUE || (!number && (*text == '\0' || *end)))
        return;
    if (!column->ready)
        column->event = builder_event(&c->builder, column->name, "as Caliper has it", column->unit, 0);
    column->ready = true;
    uint64_t exact = number && column->scale == 1 ? json_count(j, f->value) : 0;
    if (exact)
        builder_add(&c->builder, context, column->event, 0, exact);
    else
        builder_add_number(&c->builder, context, column->event, value * column->scale);
}

static int read_record(struct caliper *c)
{
    struct node at = {HPCPROF_NO_PARENT, 0};
    uint32_t rank, thread;
    for (size_t i = 0; i < c->fields.count; i++)
        if (take_path(c, &c->fields.items[i], &at) < 0)
            return -1;
    worker_of(c, &rank, &thread);
    c->builder.thread = builder_threads_row(&c->threads, rank, thread);
    c->builder.region = at.region;
    uint32_t context = sample_context(c, at.context);
    for (size_t i = 0; i < c->fields.count; i++)
        add_value(c, &c->fields.items[i], context);
    return 0;
}

/* The fields of one record: an array in the order of the columns, or an object that names them. */
static int gather_fields(struct caliper *c, json_ix record)
{
    const struct json *j = c->json;
    bool named = json_type_of(j, record) == JSON_OBJECT;
    uint32_t n = 0;
    c->fields.count = 0;
    for (json_ix i = json_first(j, record); i != JSON_NONE; i = json_next(j, i), n++) {
        uint32_t column = n;
        if (named) {
            uint32_t *slot = hashmap_put(&c->column_index, strtab_add(c->names, json_key_of(j, i)));
            if (*slot == HASHMAP_NONE)
                *slot = add_column(c, json_key_of(j, i), JSON_NONE);
            column = *slot;
        }
        if (column >= c->columns.count || c->columns.count > LIMIT_EVENTS)
            return wrong(c, i, "more values than columns, or too many columns (LIMIT_EVENTS)");
        if (json_type_of(j, i) != JSON_NULL)
            *vec_push(&c->fields) = (struct caliper_field){column, i};
    }
    return 0;
}

static int each_record(struct caliper *c, json_ix records, int (*what)(struct caliper *))
{
    for (json_ix i = json_first(c->json, records); i != JSON_NONE; i = json_next(c->json, i))
        if (gather_fields(c, i) < 0 || what(c) < 0)
            return -1;
    return 0;
}

static int meet_worker(struct caliper *c)
{
    uint32_t rank, thread;
    worker_of(c, &rank, &thread);
    return builder_threads_meet(&c->threads, rank, thread) ? 0 : wrong(c, 0, "has too many threads (LIMIT_THREADS)");
}

static int read_nodes(struct caliper *c, json_ix nodes)
{
    const struct json *j = c->json;
    for (json_ix i = json_first(j, nodes); i != JSON_NONE; i = json_next(j, i)) {
        json_ix parent = json_get(j, i, "parent");
        uint64_t k = parent == JSON_NONE ? UINT32_MAX : json_count(j, parent);
        if (parent != JSON_NONE && k >= c->nodes.count)
            return wrong(c, i, "a node's parent must precede it");
        *vec_push(&c->nodes) = i;
        *vec_push(&c->parents) = (uint32_t)k;
    }
    return 0;
}

static int read_head(struct caliper *c, json_ix *records)
{
    const struct json *j = c->json;
    if (json_type_of(j, 0) == JSON_ARRAY)
        *records = 0;
    else if ((*records = json_get(j, 0, "records")) == JSON_NONE) {
        json_ix metadata = json_first(j, json_get(j, 0, "column_metadata"));
        *records = json_get(j, 0, "data");
        for (json_ix i = json_first(j, json_get(j, 0, "columns")); i != JSON_NONE; i = json_next(j, i)) {
            add_column(c, json_string_of(j, i), metadata);
            metadata = metadata == JSON_NONE ? JSON_NONE : json_next(j, metadata);
        }
        if (read_nodes(c, json_get(j, 0, "nodes")) < 0)
            return -1;
    }
    return json_type_of(j, *records) == JSON_ARRAY ? 0
                                                   : wrong(c, 0, "has no records as in Caliper's json or json-split");
}

static int read_all(struct caliper *c, struct hpcprof *into)
{
    json_ix records;
    if (read_head(c, &records) < 0 || each_record(c, records, meet_worker) < 0)
        return -1;
    c->builder = builder_threads_begin(&c->threads, into, c->in, "Caliper", "");
    if (each_record(c, records, read_record) < 0)
        return -1;
    if (c->left_out.len)
        warnings_add(c->warnings, "%s: omitted columns that cannot be added up: %s", c->in->name, c->left_out.bytes);
    for (size_t i = 0; i < c->columns.count; i++)
        if (c->columns.items[i].ready)
            return 0;
    return wrong(c, 0, "has no column of additive values, such as sum(...) or count() of exclusive values");
}

int caliper_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct caliper c = {.in = in,
                        .module = in->options->program ? in->options->program : "[unknown]",
                        .names = strtab_create(),
                        .warnings = warnings,
                        .err = err};
    int status = json_read(in->bytes, in->len, in->name, &c.json, err);
    if (status == 0)
        status = read_all(&c, into);
    if (status == 0)
        builder_end(&c.builder, in, warnings);
    vec_release(&c.columns);
    vec_release(&c.nodes);
    vec_release(&c.parents);
    vec_release(&c.chain);
    vec_release(&c.fields);
    hashmap_release(&c.column_index);
    builder_threads_release(&c.threads);
    buf_release(&c.left_out);
    strtab_free(c.names);
    if (c.json)
        json_free(c.json);
    return status;
}
