/* SPDX-License-Identifier: BSD-3-Clause */
/* perf.data: its events, and facts about the recording. */
#include "filters/perf/data.h"

#include <stdio.h>

enum feature {
    FEATURE_BUILD_ID = 2,
    FEATURE_HOST = 3,
    FEATURE_KERNEL = 4,
    FEATURE_CPU = 8,
    FEATURE_COMMAND = 11,
    FEATURE_EVENTS = 12
};

char *perf_data_text(struct cursor *b, uint64_t most)
{
    uint64_t left = (uint64_t)(b->end - b->p), n = most < left ? most : left;
    const uint8_t *p = cursor_bytes(b, n);
    return mem_strndup(p ? (const char *)p : "", p ? strnlen((const char *)p, n) : 0);
}

/* A text with its length before it. */
static char *counted_text(struct cursor *b)
{
    return perf_data_text(b, cursor_u32(b));
}

int perf_data_wrong(const struct perf_data *d, const uint8_t *at, const char *what)
{
    const uint8_t *packed = d->packed_place;
    return err_set(d->err, ERR_FORMAT, "%s, byte %llu%s: %s", d->name,
                   (unsigned long long)((packed ? packed : at) - d->begin), packed ? ", in the compressed data" : "",
                   what);
}
/* ---- events --------------------------------------------------------------------------------------------------- */

/* Bit fields are numbered from the other end of each byte on machines of the other byte order. */
static uint64_t read_flags(struct cursor *b)
{
    const uint8_t *p = cursor_bytes(b, 8);
    uint64_t flags = 0;
    for (unsigned i = 0; p && i < 64; i++)
        if (p[i / 8] >> (b->big ? 7 - i % 8 : i % 8) & 1)
            flags |= 1ull << i;
    return flags;
}

bool perf_data_read_attr(struct perf_data *d, struct cursor *b, uint64_t size)
{
    struct attr a = {.event = UINT32_MAX};
    const uint8_t *begin = cursor_bytes(b, size);
    if (!begin || size < ATTR_LEAST)
        return false;
    struct cursor in = perf_data_part(d, begin, begin + size);
    a.type = cursor_u32(&in);
    cursor_u32(&in);
    a.config = cursor_u64(&in);
    a.period = cursor_u64(&in);
    a.sample_type = cursor_u64(&in);
    a.read_format = cursor_u64(&in);
    a.flags = read_flags(&in);
    if (size >= 88) {
        cursor_bytes(&in, 72 - 48);
        a.branch_type = cursor_u64(&in);
        a.user_registers = cursor_u64(&in);
    }
    *vec_push(&d->attrs) = a;
    return true;
}

void perf_data_read_ids(struct perf_data *d, struct cursor *b, uint32_t attr)
{
    while (b->end - b->p >= 8)
        *hashmap_put(&d->ids, cursor_u64(b)) = attr;
}

/* Default names: perf's names of the events of the kernel and of all processors. */
static const char *attr_name(const struct attr *a)
{
    static const char *const hardware[] = {
        "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
        "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
    static const char *const software[] = {"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
                                           "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
                                           "emulation-faults", "dummy"};
    if (a->type == 0 && a->config < ARRAY_SIZE(hardware))
        return hardware[a->config];
    if (a->type == 1 && a->config < ARRAY_SIZE(software))
        return software[a->config];
    return "event";
}

uint32_t perf_data_event(struct perf_data *d, struct attr *a)
{
    if (a->event == UINT32_MAX) {
        const char *name = a->name ? strtab_get(perf_run_strings(d->run), a->name) : attr_name(a);
        char *numbered = strcmp(name, "event") ? mem_strdup(name)
                                               : mem_printf("event %u:%llx", a->type, (unsigned long long)a->config);
        a->event = perf_run_event(d->run, numbered);
        mem_free(numbered);
    }
    return a->event;
}

struct attr *perf_data_attr(struct perf_data *d, uint64_t id)
{
    uint32_t i = hashmap_get(&d->ids, id);
    return &d->attrs.items[i < d->attrs.count ? i : 0];
}

void perf_data_update_event(struct perf_data *d, struct cursor b)
{
    enum { NAME = 2 };
    uint64_t what = cursor_u64(&b), id = cursor_u64(&b);
    uint32_t attr = hashmap_get(&d->ids, id);
    char *name = perf_data_text(&b, UINT64_MAX);
    if (what == NAME && !b.bad && attr < d->attrs.count)
        d->attrs.items[attr].name = strtab_add(perf_run_strings(d->run), name);
    mem_free(name);
}

/* ---- what is known of the recording ------------------------------------------------------------------------------ */

static void set_text(char **field, char *value)
{
    mem_free(*field);
    *field = value;
}

str_id perf_data_hex(struct perf_data *d, const uint8_t *bytes, size_t n)
{
    char digits[2 * 20 + 1] = "";
    for (size_t i = 0; i < n && i < 20; i++)
        snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
    return strtab_add(perf_run_strings(d->run), digits);
}

/* The body of a build id record: process, 20 bytes (padded to 24, with their number in the 21st), file. */
void perf_data_read_build_id(struct perf_data *d, struct cursor b, uint16_t misc)
{
    cursor_u32(&b);
    const uint8_t *id = cursor_bytes(&b, 24);
    if (!id)
        return;
    size_t n = misc & 1 << 15 && id[20] <= 20 ? id[20] : 20;
    char *path = perf_data_text(&b, UINT64_MAX);
    *hashmap_put(&d->build_ids, strtab_add(perf_run_strings(d->run), path)) = perf_data_hex(d, id, n);
    mem_free(path);
}

static void read_build_ids(struct perf_data *d, struct cursor b)
{
    while (b.end - b.p >= 8) {
        const uint8_t *begin = b.p;
        cursor_u32(&b);
        uint16_t misc = cursor_u16(&b), size = cursor_u16(&b);
        if (size < 8 || (size_t)(b.end - begin) < size)
            return;
        perf_data_read_build_id(d, perf_data_part(d, b.p, begin + size), misc);
        b.p = begin + size;
    }
}

static void read_command(struct perf_data *d, struct cursor b)
{
    struct buf line = {0};
    uint32_t words = cursor_u32(&b);
    for (uint32_t i = 0; i < words && !b.bad; i++) {
        char *word = counted_text(&b);
        buf_printf(&line, "%s%s", i ? " " : "", i ? word : path_base(word));
        mem_free(word);
    }
    set_text(&d->command, line.bytes ? line.bytes : mem_strdup(""));
}

/* Names of events: for each its attribute, the number of its ids, its name, the ids. In a file the attributes are
   known and come in the same order; in a pipe ids identify them. */
static void read_event_names(struct perf_data *d, struct cursor b)
{
    uint32_t count = cursor_u32(&b), size = cursor_u32(&b);
    for (uint32_t i = 0; i < count && !b.bad; i++) {
        cursor_bytes(&b, size);
        uint32_t ids = cursor_u32(&b);
        char *name = counted_text(&b);
        struct attr *a = i < d->attrs.count ? &d->attrs.items[i] : NULL;
        for (uint32_t k = 0; k < ids && !b.bad; k++) {
            uint32_t known = hashmap_get(&d->ids, cursor_u64(&b));
            if (k == 0 && known < d->attrs.count)
                a = &d->attrs.items[known];
        }
        if (a && *name)
            a->name = strtab_add(perf_run_strings(d->run), name);
        mem_free(name);
    }
}

void perf_data_read_feature(struct perf_data *d, uint64_t feature, struct cursor b)
{
    if (feature == FEATURE_BUILD_ID)
        read_build_ids(d, b);
    else if (feature == FEATURE_HOST)
        set_text(&d->host, counted_text(&b));
    else if (feature == FEATURE_KERNEL)
        set_text(&d->kernel, counted_text(&b));
    else if (feature == FEATURE_CPU)
        set_text(&d->machine, counted_text(&b));
    else if (feature == FEATURE_COMMAND)
        read_command(d, b);
    else if (feature == FEATURE_EVENTS)
        read_event_names(d, b);
}

void perf_data_release_attrs(struct perf_data *d)
{
    mem_free(d->host);
    mem_free(d->machine);
    mem_free(d->kernel);
    mem_free(d->command);
    vec_release(&d->attrs);
    hashmap_release(&d->ids);
    hashmap_release(&d->build_ids);
}
