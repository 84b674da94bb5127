/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.proto of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto), unpacked by the door.
 *
 * A first pass over the fields of the profile gathers tables: strings, functions, locations; a second one takes the
 * samples.
 */
#include "filters/base/builder.h"
#include "filters/formats.h"
#include "support/profile_proto.h"

struct pprof_text {
    const uint8_t *bytes;
    size_t len;
};

struct pprof_function {
    uint64_t name, file; /* strings */
};

struct line {
    uint64_t function, line;
};

struct location {
    uint64_t address, mapping;
    uint32_t line_first, line_count; /* into lines: the innermost first */
};

struct pprof {
    const struct filter_input *in;
    struct builder builder;
    struct VEC(struct pprof_text) strings;
    struct VEC(struct pprof_function) functions;
    struct VEC(struct location) locations;
    struct VEC(struct line) lines;
    struct VEC(uint64_t) mapping_files;
    struct hashmap function_index, location_index, mapping_index; /* by id */
    struct VEC(uint64_t) types, units;                            /* strings, of each value */
    struct VEC(uint32_t) events;
    struct VEC(uint64_t) ids, values; /* of the sample that is being read */
    struct hashmap threads;           /* by the string that names it */
    const char *missing;              /* a kind of thing that was referred to and is not there; NULL: none so far */
    struct err *err;
};

static int wrong(struct pprof *p, const uint8_t *at, const char *what)
{
    return err_set(p->err, ERR_FORMAT, "%s, byte %zu: %s", p->in->name, (size_t)(at - (const uint8_t *)p->in->bytes),
                   what);
}

/* ---- the wire ----------------------------------------------------------------------------------------------- */

struct proto_field {
    unsigned number, wire;
    uint64_t value;      /* WIRE_VARINT */
    struct cursor bytes; /* WIRE_BYTES */
};

/* The next field of a message; false: its end, or c->bad. */
static bool next_field(struct cursor *c, struct proto_field *f)
{
    if (c->bad || cursor_left(c) == 0)
        return false;
    uint64_t key = cursor_uleb(c);
    *f = (struct proto_field){.number = (unsigned)(key >> 3), .wire = key & 7};
    if (f->wire == WIRE_VARINT)
        f->value = cursor_uleb(c);
    else if (f->wire == WIRE_BYTES) {
        uint64_t n = cursor_uleb(c);
        const uint8_t *at = n <= cursor_left(c) ? cursor_bytes(c, n) : NULL;
        c->bad = c->bad || !at;
        f->bytes = cursor_make(at, at ? n : 0);
    } else if (f->wire == WIRE_FIXED64)
        f->value = cursor_u64(c);
    else if (f->wire == WIRE_FIXED32)
        f->value = cursor_u32(c);
    else
        c->bad = true;
    c->bad = c->bad || f->number == 0;
    return !c->bad;
}

static const char *string(struct pprof *p, uint64_t i)
{
    if (i >= p->strings.count) {
        p->missing = i ? "string" : p->missing;
        return "";
    }
    str_id id = strtab_addn(p->builder.into->strings, (const char *)p->strings.items[i].bytes, p->strings.items[i].len);
    return strtab_get(p->builder.into->strings, id);
}

/* ---- tables --------------------------------------------------------------------------------------------------- */

/* The numbers of a message, by field; 0: not given. */
static void read_fields(struct cursor c, uint64_t *fields, unsigned count)
{
    for (struct proto_field f; next_field(&c, &f);)
        if (f.number < count)
            fields[f.number] = f.value;
}

static void read_function(struct pprof *p, struct cursor c)
{
    uint64_t f[FUNCTION_FIELDS] = {0};
    read_fields(c, f, FUNCTION_FIELDS);
    *hashmap_put(&p->function_index, f[FUNCTION_ID]) = (uint32_t)p->functions.count;
    *vec_push(&p->functions) = (struct pprof_function){
        .name = f[FUNCTION_NAME] ? f[FUNCTION_NAME] : f[FUNCTION_SYSTEM_NAME], .file = f[FUNCTION_FILENAME]};
}

static void read_location(struct pprof *p, struct cursor c)
{
    struct location location = {.line_first = (uint32_t)p->lines.count};
    uint64_t id = 0;
    for (struct proto_field f; next_field(&c, &f);) {
        if (f.number == LOCATION_ID)
            id = f.value;
        else if (f.number == LOCATION_MAPPING_ID)
            location.mapping = f.value;
        else if (f.number == LOCATION_ADDRESS)
            location.address = f.value;
        else if (f.number == LOCATION_LINE) {
            uint64_t line[LINE_FIELDS] = {0};
            read_fields(f.bytes, line, LINE_FIELDS);
            *vec_push(&p->lines) = (struct line){line[LINE_FUNCTION_ID], line[LINE_LINE]};
        }
    }
    location.line_count = (uint32_t)p->lines.count - location.line_first;
    *hashmap_put(&p->location_index, id) = (uint32_t)p->locations.count;
    *vec_push(&p->locations) = location;
}

static void read_mapping(struct pprof *p, struct cursor c)
{
    uint64_t f[MAPPING_FIELDS] = {0};
    read_fields(c, f, MAPPING_FIELDS);
    *hashmap_put(&p->mapping_index, f[MAPPING_ID]) = (uint32_t)p->mapping_files.count;
    *vec_push(&p->mapping_files) = f[MAPPING_FILENAME];
}

static void read_type(struct pprof *p, struct cursor c)
{
    uint64_t f[VALUE_TYPE_FIELDS] = {0};
    read_fields(c, f, VALUE_TYPE_FIELDS);
    *vec_push(&p->types) = f[VALUE_TYPE_TYPE];
    *vec_push(&p->units) = f[VALUE_TYPE_UNIT];
}

static int read_tables(struct pprof *p)
{
    struct cursor c = cursor_make(p->in->bytes, p->in->len);
    for (struct proto_field f; next_field(&c, &f);) {
        if (f.number == PROFILE_STRING_TABLE)
            *vec_push(&p->strings) = (struct pprof_text){f.bytes.p, cursor_left(&f.bytes)};
        else if (f.number == PROFILE_FUNCTION)
            read_function(p, f.bytes);
        else if (f.number == PROFILE_LOCATION)
            read_location(p, f.bytes);
        else if (f.number == PROFILE_MAPPING)
            read_mapping(p, f.bytes);
        else if (f.number == PROFILE_SAMPLE_TYPE)
            read_type(p, f.bytes);
    }
    if (c.bad)
        return wrong(p, c.p, "is not a field of a profile");
    return p->types.count && p->types.count <= LIMIT_EVENTS ? 0 : wrong(p, c.p, "does not describe its values");
}

static void add_events(struct pprof *p)
{
    for (size_t i = 0; i < p->types.count; i++) {
        const char *unit = string(p, p->units.items[i]);
        *vec_push(&p->events) = builder_event(&p->builder, string(p, p->types.items[i]), "as pprof has it",
                                              strcmp(unit, "nanoseconds") == 0 ? "ns"
                                              : strcmp(unit, "count")          ? unit
                                                                               : "",
                                              0);
    }
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

/* Packed or one by one: both are allowed. */
static void read_numbers(const struct proto_field *f, struct cursor *c, uint64_t first, bool packed, uint64_t **items,
                         size_t *count, size_t *capacity)
{
    struct VEC(uint64_t) v = {*items, *count, *capacity};
    (void)f;
    if (!packed)
        *vec_push(&v) = first;
    while (packed && !c->bad && cursor_left(c))
        *vec_push(&v) = cursor_uleb(c);
    *items = v.items;
    *count = v.count;
    *capacity = v.capacity;
}

static const char *module_of(struct pprof *p, const struct location *l)
{
    uint32_t m = hashmap_get(&p->mapping_index, l->mapping);
    const char *file = m < p->mapping_files.count ? string(p, p->mapping_files.items[m]) : "";
    return *file ? file : "[unknown]";
}

/* The contexts of one location, its outermost line first: the caller of an inlined function is the one it is inlined
   into. */
static uint32_t location_context(struct pprof *p, uint64_t id, uint32_t parent)
{
    uint32_t i = hashmap_get(&p->location_index, id);
    struct builder_place place = {.parent = parent, .module = "[unknown]", .procedure = "", .file = ""};
    if (i >= p->locations.count && id != UINT64_MAX)
        p->missing = "location";
    if (i >= p->locations.count)
        return builder_context(&p->builder, &place);
    const struct location *l = &p->locations.items[i];
    place.module = module_of(p, l);
    if (l->line_count == 0)
        return builder_context(&p->builder, &place);
    for (uint32_t k = l->line_count; k-- > 0;) {
        const struct line *line = &p->lines.items[l->line_first + k];
        uint32_t function = hashmap_get(&p->function_index, line->function);
        struct pprof_function none = {0}, *f = function < p->functions.count ? &p->functions.items[function] : &none;
        p->missing = f == &none && line->function ? "function" : p->missing;
        place.procedure = string(p, f->name);
        place.file = string(p, f->file);
        place.line = line->line;
        place.parent = builder_context(&p->builder, &place);
    }
    return place.parent;
}

/* A label that names a thread is one; another is a region, "key=value". */
static void take_label(struct pprof *p, struct cursor c, uint32_t *thread, uint32_t *region)
{
    uint64_t label[LABEL_FIELDS] = {0};
    read_fields(c, label, LABEL_FIELDS);
    const char *key = string(p, label[LABEL_KEY]);
    char *text = label[LABEL_STR] ? mem_strdup(string(p, label[LABEL_STR]))
                                  : mem_printf("%llu", (unsigned long long)label[LABEL_NUM]);
    if (strcmp(key, "thread") == 0 || strcmp(key, "thread_id") == 0 || strcmp(key, "tid") == 0) {
        uint32_t *slot = hashmap_put(&p->threads, strtab_add(p->builder.into->strings, text));
        if (*slot == HASHMAP_NONE)
            *slot = builder_thread(&p->builder, text, (uint32_t)p->threads.count);
        *thread = *slot;
    } else if (*key && label[LABEL_STR]) {
        char *name = mem_printf("%s=%s", key, text);
        *region = hpcprof_add_region(p->builder.into, name, 0);
        mem_free(name);
    }
    mem_free(text);
}

static void add_sample(struct pprof *p, uint32_t thread, uint32_t region)
{
    uint32_t at = HPCPROF_NO_PARENT;
    size_t n = p->ids.count < LIMIT_PATH_DEPTH ? p->ids.count : LIMIT_PATH_DEPTH;
    for (size_t i = n; i-- > 0;)
        at = location_context(p, p->ids.items[i], at);
    if (at == HPCPROF_NO_PARENT)
        at = location_context(p, UINT64_MAX, at);
    for (size_t i = 0; i < p->values.count && i < p->events.count; i++)
        if ((int64_t)p->values.items[i] > 0)
            hpcprof_add_count(p->builder.into, &(struct hpcprof_count){.thread = thread,
                                                                       .context = at,
                                                                       .event = p->events.items[i],
                                                                       .region = region,
                                                                       .value = p->values.items[i]});
}

static int read_sample(struct pprof *p, struct cursor c)
{
    uint32_t thread = p->builder.thread, region = 0;
    p->ids.count = p->values.count = 0;
    for (struct proto_field f; next_field(&c, &f);) {
        if (f.number == SAMPLE_LOCATION_ID)
            read_numbers(&f, &f.bytes, f.value, f.wire == WIRE_BYTES, &p->ids.items, &p->ids.count, &p->ids.capacity);
        else if (f.number == SAMPLE_VALUE)
            read_numbers(&f, &f.bytes, f.value, f.wire == WIRE_BYTES, &p->values.items, &p->values.count,
                         &p->values.capacity);
        else if (f.number == SAMPLE_LABEL && f.wire == WIRE_BYTES)
            take_label(p, f.bytes, &thread, &region);
    }
    if (c.bad)
        return wrong(p, c.p, "a sample is damaged");
    add_sample(p, thread, region);
    return 0;
}

/* Two numbers of texts: the type and the unit. */
static bool is_value_type(struct cursor c)
{
    struct proto_field f;
    unsigned fields = 0;
    while (next_field(&c, &f) && f.number < VALUE_TYPE_FIELDS && f.wire == WIRE_VARINT)
        fields++;
    return !c.bad && cursor_left(&c) == 0 && fields > 0;
}

/* A message whose fields are all of a profile, a value's type among the first. Go begins with the time. */
bool pprof_sniff(const void *bytes, size_t len)
{
    struct cursor c = cursor_make(bytes, len);
    struct proto_field f;
    unsigned fields = 0, types = 0;
    while (fields < 50 && next_field(&c, &f)) {
        bool message = f.number <= PROFILE_STRING_TABLE || f.number == PROFILE_PERIOD_TYPE;
        bool packed = f.number == PROFILE_COMMENT;
        if (f.number > PROFILE_DOC_URL || (!packed && f.wire != (message ? WIRE_BYTES : WIRE_VARINT)) ||
            (f.number == PROFILE_SAMPLE_TYPE && !is_value_type(f.bytes)))
            return false;
        types += f.number == PROFILE_SAMPLE_TYPE;
        fields++;
    }
    return !c.bad && fields > 2 && types > 0;
}

int pprof_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct pprof p = {.in = in, .err = err};
    (void)warnings;
    p.builder = builder_begin(into, in, "pprof", "");
    int status = read_tables(&p);
    if (status == 0)
        add_events(&p);
    struct cursor c = cursor_make(in->bytes, in->len);
    for (struct proto_field f; status == 0 && next_field(&c, &f);)
        if (f.number == PROFILE_SAMPLE)
            status = read_sample(&p, f.bytes);
    if (status == 0 && p.missing)
        status = err_set(err, ERR_FORMAT, "%s, byte %zu: lacks a %s that its samples refer to; is the file truncated?",
                         in->name, in->len, p.missing);
    vec_release(&p.strings);
    vec_release(&p.functions);
    vec_release(&p.locations);
    vec_release(&p.lines);
    vec_release(&p.mapping_files);
    vec_release(&p.types);
    vec_release(&p.units);
    vec_release(&p.events);
    vec_release(&p.ids);
    vec_release(&p.values);
    hashmap_release(&p.function_index);
    hashmap_release(&p.location_index);
    hashmap_release(&p.mapping_index);
    hashmap_release(&p.threads);
    return status;
}
