/*
 * perf.data, the file `perf record` writes, and what it writes to a pipe.
 *
 *     file:  header | attributes | ids | records | features (build ids, host, names of events, ...)
 *     pipe:  header | records, attributes and features among them
 *
 * Records come in the order the buffers of the processors were emptied; "finished round" records say up to when nothing
 * earlier can come. Between two of them records wait, as in perf itself, and are taken in the order of their time. All
 * numbers may be of the other byte order; `perf record -z` packs records with zstd into others.
 *
 * Layouts: include/uapi/linux/perf_event.h, tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "config.h"

#include "filters/keys.h"
#include "filters/perf_run.h"

#include <stdio.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum record_type {
    RECORD_MMAP = 1,
    RECORD_LOST = 2,
    RECORD_COMM = 3,
    RECORD_THROTTLE = 5,
    RECORD_FORK = 7,
    RECORD_SAMPLE = 9,
    RECORD_MMAP2 = 10,
    RECORD_LOST_SAMPLES = 13,
    RECORD_USER = 64, /* from here on perf's own, without a time */
    RECORD_ATTR = 64,
    RECORD_TRACING_DATA = 66,
    RECORD_BUILD_ID = 67,
    RECORD_FINISHED_ROUND = 68,
    RECORD_AUXTRACE = 71,
    RECORD_EVENT_UPDATE = 78,
    RECORD_FEATURE = 80,
    RECORD_COMPRESSED = 81,
    RECORD_COMPRESSED2 = 83,
};

enum sample_bit {
    SAMPLE_IP = 1u << 0,
    SAMPLE_TID = 1u << 1,
    SAMPLE_TIME = 1u << 2,
    SAMPLE_ADDR = 1u << 3,
    SAMPLE_READ = 1u << 4,
    SAMPLE_CALLCHAIN = 1u << 5,
    SAMPLE_ID = 1u << 6,
    SAMPLE_CPU = 1u << 7,
    SAMPLE_PERIOD = 1u << 8,
    SAMPLE_STREAM_ID = 1u << 9,
    SAMPLE_RAW = 1u << 10,
    SAMPLE_BRANCH_STACK = 1u << 11,
    SAMPLE_REGS_USER = 1u << 12,
    SAMPLE_STACK_USER = 1u << 13,
    SAMPLE_WEIGHT = 1u << 14,
    SAMPLE_DATA_SRC = 1u << 15,
    SAMPLE_IDENTIFIER = 1u << 16,
    SAMPLE_WEIGHT_STRUCT = 1u << 24,
};

enum feature {
    FEATURE_BUILD_ID = 2,
    FEATURE_HOST = 3,
    FEATURE_KERNEL = 4,
    FEATURE_CPU = 8,
    FEATURE_COMMAND = 11,
    FEATURE_EVENTS = 12
};

enum { MISC_CPU_MODE = 7, MISC_KERNEL = 1, MISC_GUEST_KERNEL = 4, MISC_EXEC = 1 << 13, MISC_MMAP_BUILD_ID = 1 << 14 };
enum { HEADER_BYTES = 104, PIPE_HEADER_BYTES = 16, ATTR_LEAST = 64, ATTR_MOST = 4096 };

struct attr {
    uint32_t type;
    uint64_t config, sample_type, read_format, branch_type, user_registers, flags, period;
    str_id name;    /* of the run's strings; 0: not given */
    uint32_t event; /* of the run; UINT32_MAX: not yet asked for */
};

struct waiting { /* a record until its round is over */
    uint64_t time;
    const uint8_t *bytes;
};

struct unpacking { /* what `perf record -z` packed: one stream over all records of the kind */
#ifdef HAVE_ZSTD
    ZSTD_DStream *stream;
#endif
    const uint8_t
        *place;         /* of the packed record that is read, or of the one that what is taken came from; NULL: none */
    struct buf rest;    /* unpacked, and not a whole record yet */
    struct arena *kept; /* records that wait, each behind its place */
    uint64_t total;     /* bytes unpacked */
};

struct counter {
    uint64_t id, value;
};

struct perf_data {
    struct perf_run *run;
    const char *name; /* of the input */
    const uint8_t *begin, *end;
    struct filemap *map; /* of the file */
    bool big;            /* numbers are in big-endian order */
    struct unpacking unpacking;
    struct VEC(struct attr) attrs;
    struct hashmap ids; /* event id to attribute */
    struct VEC(struct waiting) queue, spare;
    uint64_t round_limit, latest; /* times: what the round before had last; what this one has */
    struct VEC(struct perf_frame) frames;
    struct VEC(struct counter) counters; /* of the sample that is read; none: its period is in it */
    struct keys counted;         /* whose values are known: the counter's id, and its thread where each has its own */
    struct VEC(uint64_t) values; /* by that */
    char *host, *machine, *kernel, *command;
    struct hashmap build_ids; /* path to build id, of the run's strings */
    struct err *err;
};

/* ---- pieces of a record ------------------------------------------------------------------------------- */

static struct cursor part(const struct perf_data *d, const uint8_t *begin, const uint8_t *end)
{
    return (struct cursor){.p = begin, .end = end, .big = d->big};
}

/* Text up to its NUL or to the end of what there is, as a copy to be freed. */
static char *text(struct cursor *b, uint64_t most)
{
    uint64_t left = (uint64_t)(b->end - b->p), n = most < left ? most : left;
    const uint8_t *p = cursor_bytes(b, n);
    return mem_strndup(p ? (const char *)p : "", p ? strnlen((const char *)p, n) : 0);
}

/* A text with its length before it. */
static char *counted_text(struct cursor *b)
{
    return text(b, cursor_u32(b));
}

static int wrong(const struct perf_data *d, const uint8_t *at, const char *what)
{
    const uint8_t *packed = d->unpacking.place;
    return err_set(d->err, ERR_FORMAT, "%s, byte %llu%s: %s", d->name,
                   (unsigned long long)((packed ? packed : at) - d->begin), packed ? ", in what is packed there" : "",
                   what);
}

/* ---- attributes: what an event is, and what its samples hold ---------------------------------------------- */

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

/* The attribute at the beginning of b, which is left behind it. NULL: it is none. */
static struct attr *read_attr(struct perf_data *d, struct cursor *b, uint64_t size)
{
    struct attr a = {.event = UINT32_MAX};
    const uint8_t *begin = cursor_bytes(b, size);
    if (!begin || size < ATTR_LEAST)
        return NULL;
    struct cursor in = part(d, begin, begin + size);
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
    return &d->attrs.items[d->attrs.count - 1];
}

static void read_ids(struct perf_data *d, struct cursor *b, uint32_t attr)
{
    while (b->end - b->p >= 8)
        *hashmap_put(&d->ids, cursor_u64(b)) = attr;
}

/* Where no name is given: as perf calls the events of the kernel and of all processors. */
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

static uint32_t event_of(struct perf_data *d, struct attr *a)
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

/* Of an id that is not known: the first one. */
static struct attr *attr_of_id(struct perf_data *d, uint64_t id)
{
    uint32_t i = hashmap_get(&d->ids, id);
    return &d->attrs.items[i < d->attrs.count ? i : 0];
}

/* ---- features: what is known of the recording ---------------------------------------------------------------- */

static void set_text(char **field, char *value)
{
    mem_free(*field);
    *field = value;
}

static str_id hex(struct perf_data *d, const uint8_t *bytes, size_t n)
{
    char digits[2 * 20 + 1] = "";
    for (size_t i = 0; i < n && i < 20; i++)
        snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
    return strtab_add(perf_run_strings(d->run), digits);
}

/* The body of a build id record: process, 20 bytes (padded to 24, with their number in the 21st), file. */
static void read_build_id(struct perf_data *d, struct cursor b, uint16_t misc)
{
    cursor_u32(&b);
    const uint8_t *id = cursor_bytes(&b, 24);
    if (!id)
        return;
    size_t n = misc & 1 << 15 && id[20] <= 20 ? id[20] : 20;
    char *path = text(&b, UINT64_MAX);
    *hashmap_put(&d->build_ids, strtab_add(perf_run_strings(d->run), path)) = hex(d, id, n);
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
        read_build_id(d, part(d, b.p, begin + size), misc);
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

/* Names of events: for each its attribute, the number of its ids, its name, the ids. In a file the attributes are known
   and come in the same order; in a pipe ids tell. */
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

static void read_feature(struct perf_data *d, uint64_t feature, struct cursor b)
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

/* ---- one record ------------------------------------------------------------------------------------------------ */

/* A module of the kernel is shown as perf does: "/lib/modules/6.1/x/nf-nat.ko.xz" is "[nf_nat]". */
static char *kernel_object(const char *path)
{
    if (path[0] != '/')
        return mem_strdup(path);
    char *name = mem_printf("[%s", path_base(path)), *dot = strstr(name, ".ko");
    if (dot)
        *dot = '\0';
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    char *closed = mem_printf("%s]", name);
    mem_free(name);
    return closed;
}

static void take_mapping(struct perf_data *d, struct cursor b, uint16_t misc, bool second)
{
    struct strtab *strings = perf_run_strings(d->run);
    uint32_t pid = cursor_u32(&b);
    cursor_u32(&b);
    struct perf_mapping m = {.begin = cursor_u64(&b)};
    m.end = m.begin + cursor_u64(&b);
    m.offset = cursor_u64(&b);
    if (second) {
        const uint8_t *id = cursor_bytes(&b, 24);
        if (id && misc & MISC_MMAP_BUILD_ID && id[0] <= 20)
            m.build_id = hex(d, id + 4, id[0]);
        cursor_u64(&b);
    }
    bool kernel = (misc & MISC_CPU_MODE) == MISC_KERNEL || pid == UINT32_MAX;
    char *given = text(&b, UINT64_MAX), *path = kernel ? kernel_object(given) : mem_strdup(given);
    m.path = strtab_add(strings, path);
    if (!m.build_id && !kernel) {
        uint32_t known = hashmap_get(&d->build_ids, m.path);
        m.build_id = known == HASHMAP_NONE ? 0 : known;
    }
    if (!b.bad)
        perf_run_map(d->run, kernel ? PERF_KERNEL : pid, &m);
    mem_free(given);
    mem_free(path);
}

static void take_name(struct perf_data *d, struct cursor b, uint16_t misc)
{
    uint32_t pid = cursor_u32(&b), tid = cursor_u32(&b);
    char *name = text(&b, UINT64_MAX);
    perf_run_name(d->run, pid, tid, name, misc & MISC_EXEC);
    mem_free(name);
}

static void take_fork(struct perf_data *d, struct cursor b)
{
    uint32_t pid = cursor_u32(&b), parent = cursor_u32(&b), tid = cursor_u32(&b), parent_tid = cursor_u32(&b);
    if (!b.bad)
        perf_run_fork(d->run, pid, tid, parent, parent_tid);
}

/* What the events of the sample's group (`perf record -e '{a,b}:S'`) have counted until now, by their ids. Alone, the value
   stands before the times; in a group behind them. */
static void read_counters(struct perf_data *d, const struct attr *a, struct cursor *b)
{
    enum { ENABLED = 1, RUNNING = 2, ID = 4, GROUP = 8, LOST = 16 };
    bool group = a->read_format & GROUP;
    uint64_t times = 8 * (uint64_t)__builtin_popcountll(a->read_format & (ENABLED | RUNNING));
    uint64_t n = group ? cursor_u64(b) : 1;
    if (n > (uint64_t)(b->end - b->p) / 8)
        b->bad = true;
    cursor_bytes(b, group ? times : 0);
    for (uint64_t i = 0; i < n && !b->bad; i++) {
        struct counter c = {.value = cursor_u64(b)};
        cursor_bytes(b, group ? 0 : times);
        c.id = a->read_format & ID ? cursor_u64(b) : 0;
        cursor_bytes(b, a->read_format & LOST ? 8 : 0);
        if (a->read_format & ID && !b->bad)
            *vec_push(&d->counters) = c;
    }
}

/* Markers among the addresses say in whose code the next ones are; the first address is that of the sample. */
static void read_chain(struct perf_data *d, struct cursor *b)
{
    uint64_t n = cursor_u64(b);
    const uint64_t first_marker = (uint64_t)-4095;
    if (n > (uint64_t)(b->end - b->p) / 8)
        b->bad = true;
    d->frames.count = 0;
    for (uint64_t i = 0; i < n && !b->bad; i++) {
        uint64_t ip = cursor_u64(b);
        if (ip < first_marker && d->frames.count < LIMIT_PATH_DEPTH)
            *vec_push(&d->frames) = (struct perf_frame){.ip = ip};
    }
}

static void skip_branches(const struct attr *a, struct cursor *b)
{
    const uint64_t has_index = 1u << 17;
    uint64_t n = cursor_u64(b);
    if (a->branch_type & has_index)
        cursor_u64(b);
    if (n > (uint64_t)(b->end - b->p) / 24)
        b->bad = true;
    cursor_bytes(b, n * 24);
}

static void skip_stack(struct cursor *b)
{
    uint64_t n = cursor_u64(b);
    cursor_bytes(b, n);
    if (n)
        cursor_u64(b);
}

/* perf_mem_data_src: bits 5 to 18 are the level of memory, one of them hit or miss. */
static void take_data_source(struct perf_data *d, const struct perf_sample *s, uint64_t source)
{
    static const char *const levels[] = {"L1",
                                         "line fill buffer",
                                         "L2",
                                         "L3",
                                         "local memory",
                                         "remote memory",
                                         "remote memory",
                                         "remote cache",
                                         "remote cache",
                                         "I/O",
                                         "uncached memory"};
    uint64_t level = source >> 5 & 0x3fff;
    for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
        if (level >> (i + 3) & 1) {
            char *what = mem_printf("%s %s", levels[i], level & 4 ? "miss" : "hit");
            perf_run_extra(d->run, s, what, "", s->period);
            mem_free(what);
            return;
        }
}

static bool in_kernel(uint16_t misc)
{
    unsigned mode = misc & MISC_CPU_MODE;
    return mode == MISC_KERNEL || mode == MISC_GUEST_KERNEL;
}

static struct attr *attr_of_sample(struct perf_data *d, struct cursor b)
{
    uint64_t type = d->attrs.items[0].sample_type;
    if (d->attrs.count == 1)
        return &d->attrs.items[0];
    if (!(type & SAMPLE_IDENTIFIER))
        cursor_bytes(&b,
                     8 * (uint64_t)__builtin_popcountll(type & (SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR)));
    return attr_of_id(d, cursor_u64(&b));
}

static void deliver(struct perf_data *d, struct attr *a, struct perf_sample *s, uint64_t weight, uint64_t source)
{
    s->event = event_of(d, a);
    perf_run_sample(d->run, s);
    if (weight)
        perf_run_extra(d->run, s, "weight", "cycles", weight);
    if (source)
        take_data_source(d, s, source);
}

/* How much more the counter has than the last time. */
static uint64_t counted_since(struct perf_data *d, const struct counter *c, uint32_t tid)
{
    uint32_t row = keys_row(&d->counted, &(struct key){{tid}, {c->id, 0}});
    if (row == d->values.count)
        *vec_push(&d->values) = 0;
    uint64_t before = d->values.items[row];
    d->values.items[row] = c->value;
    return c->value - before;
}

/* Each counter of the group is a sample of its own event, of what it counted since the last one. */
static void deliver_counters(struct perf_data *d, const struct attr *a, struct perf_sample *s, uint64_t weight,
                             uint64_t source)
{
    const uint64_t inherit = 1u << 1;
    for (size_t i = 0; i < d->counters.count; i++) {
        const struct counter *c = &d->counters.items[i];
        uint32_t attr = hashmap_get(&d->ids, c->id);
        if (attr >= d->attrs.count)
            continue;
        s->period = counted_since(d, c, a->flags & inherit ? s->tid : 0);
        if (s->period)
            deliver(d, &d->attrs.items[attr], s, weight, source);
    }
}

static int take_sample(struct perf_data *d, struct cursor b, uint16_t misc)
{
    const uint8_t *begin = b.p;
    struct attr *a = attr_of_sample(d, b);
    const uint64_t frequency = 1u << 10; /* then `period` is samples a second */
    struct perf_sample s = {.period = a->period && !(a->flags & frequency) ? a->period : 1, .kernel = in_kernel(misc)};
    uint64_t type = a->sample_type, weight = 0, source = 0;
    struct perf_frame own = {0};
    cursor_bytes(&b, type & SAMPLE_IDENTIFIER ? 8 : 0);
    if (type & SAMPLE_IP)
        own.ip = cursor_u64(&b);
    if (type & SAMPLE_TID) {
        s.pid = cursor_u32(&b);
        s.tid = cursor_u32(&b);
    }
    cursor_bytes(&b, 8 * (uint64_t)__builtin_popcountll(
                             type & (SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU)));
    if (type & SAMPLE_PERIOD)
        s.period = cursor_u64(&b);
    d->counters.count = 0;
    if (type & SAMPLE_READ)
        read_counters(d, a, &b);
    d->frames.count = 0;
    if (type & SAMPLE_CALLCHAIN)
        read_chain(d, &b);
    if (type & SAMPLE_RAW)
        cursor_bytes(&b, cursor_u32(&b));
    if (type & SAMPLE_BRANCH_STACK)
        skip_branches(a, &b);
    if (type & SAMPLE_REGS_USER && cursor_u64(&b))
        cursor_bytes(&b, 8 * (uint64_t)__builtin_popcountll(a->user_registers));
    if (type & SAMPLE_STACK_USER)
        skip_stack(&b);
    if (type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT)) {
        weight = cursor_u64(&b);
        weight = type & SAMPLE_WEIGHT_STRUCT ? (uint32_t)weight : weight;
    }
    if (type & SAMPLE_DATA_SRC)
        source = cursor_u64(&b);
    if (b.bad)
        return wrong(d, begin, "a sample is cut short, or is not of the kind that its event says");
    if (type & SAMPLE_IP && d->frames.count == 0)
        *vec_push(&d->frames) = own;
    s.frames = d->frames.items;
    s.frame_count = d->frames.count;
    if (d->counters.count)
        deliver_counters(d, a, &s, weight, source);
    else
        deliver(d, a, &s, weight, source);
    return 0;
}

/* Where the time stands in a record that is no sample: its identity is at the end. NULL: there is none. */
static const uint8_t *time_at_end(const struct attr *a, const uint8_t *end, size_t room)
{
    const uint64_t after = SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER, has_all = 1ull << 18;
    size_t back = 8 * (1 + (size_t)__builtin_popcountll(a->sample_type & after));
    bool has = a->flags & has_all && a->sample_type & SAMPLE_TIME && room >= back;
    return has ? end - back : NULL;
}

static const uint8_t *time_of_sample(const struct attr *a, const uint8_t *body, size_t room)
{
    const uint64_t before = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID;
    size_t at = 8 * (size_t)__builtin_popcountll(a->sample_type & before);
    return a->sample_type & SAMPLE_TIME && room >= at + 8 ? body + at : NULL;
}

static void take_lost(struct perf_data *d, struct cursor b, uint32_t type)
{
    uint64_t first = cursor_u64(&b), second = type == RECORD_LOST_SAMPLES ? 0 : cursor_u64(&b);
    if (b.bad)
        return;
    if (type == RECORD_LOST)
        perf_run_lost(d->run, event_of(d, attr_of_id(d, first)), second, false);
    else if (type == RECORD_LOST_SAMPLES)
        perf_run_lost(d->run, event_of(d, &d->attrs.items[0]), first, false);
    else /* throttled: time, id */
        perf_run_lost(d->run, event_of(d, attr_of_id(d, second)), 1, true);
}

struct record {
    uint32_t type;
    uint16_t misc, size;
    struct cursor body;
};

static struct record record_at(const struct perf_data *d, const uint8_t *at)
{
    struct cursor b = part(d, at, at + 8);
    struct record r = {.type = cursor_u32(&b)};
    r.misc = cursor_u16(&b);
    r.size = cursor_u16(&b);
    r.body = part(d, at + 8, at + (r.size < 8 ? 8 : r.size));
    return r;
}

static int take_record(struct perf_data *d, const uint8_t *at)
{
    struct record r = record_at(d, at);
    switch (r.type) {
    case RECORD_SAMPLE:
        return take_sample(d, r.body, r.misc);
    case RECORD_MMAP:
    case RECORD_MMAP2:
        take_mapping(d, r.body, r.misc, r.type == RECORD_MMAP2);
        break;
    case RECORD_COMM:
        take_name(d, r.body, r.misc);
        break;
    case RECORD_FORK:
        take_fork(d, r.body);
        break;
    case RECORD_LOST:
    case RECORD_LOST_SAMPLES:
    case RECORD_THROTTLE:
        take_lost(d, r.body, r.type);
        break;
    default: /* nothing that is wanted */
        break;
    }
    return 0;
}

/* ---- records that were packed wait in memory ----------------------------------------------------------------- */

/* A copy that stays until its round is over, and behind which place_of_kept finds where in the file it was packed. */
static const uint8_t *keep(struct perf_data *d, const uint8_t *record, size_t size, const uint8_t *place)
{
    struct unpacking *u = &d->unpacking;
    u->kept = u->kept ? u->kept : arena_create();
    uint8_t *copy = arena_alloc(u->kept, sizeof place + size);
    memcpy(copy, &place, sizeof place);
    memcpy(copy + sizeof place, record, size);
    return copy + sizeof place;
}

static const uint8_t *place_of_kept(const uint8_t *record)
{
    const uint8_t *place;
    memcpy(&place, record - sizeof place, sizeof place);
    return place;
}

static bool is_kept(const struct perf_data *d, const uint8_t *record)
{
    return (uintptr_t)record < (uintptr_t)d->begin || (uintptr_t)record >= (uintptr_t)d->end;
}

/* Those that still wait after a round came in it, so each is moved once; the memory of the others is given back. */
static void keep_only_waiting(struct perf_data *d)
{
    struct arena *old = d->unpacking.kept;
    d->unpacking.kept = NULL;
    for (size_t i = 0; old && i < d->queue.count; i++) {
        const uint8_t *at = d->queue.items[i].bytes;
        if (is_kept(d, at))
            d->queue.items[i].bytes = keep(d, at, record_at(d, at).size, place_of_kept(at));
    }
    arena_free(old);
}

/* ---- in the order of time --------------------------------------------------------------------------------------- */

/* Merges runs that are in order already, as they come from each processor: records of one time keep their order. */
static void sort_queue(struct perf_data *d)
{
    size_t n = d->queue.count;
    vec_reserve(&d->spare, n);
    for (size_t runs = 2; runs > 1;) {
        size_t out = 0, at = 0;
        struct waiting *in = d->queue.items, *to = d->spare.items;
        for (runs = 0; at < n; runs++) {
            size_t middle = at + 1, end;
            while (middle < n && in[middle - 1].time <= in[middle].time)
                middle++;
            if (at == 0 && middle == n)
                return;
            for (end = middle < n ? middle + 1 : n; end < n && in[end - 1].time <= in[end].time;)
                end++;
            for (size_t left = at, right = middle; left < middle || right < end;)
                to[out++] =
                    right == end || (left < middle && in[left].time <= in[right].time) ? in[left++] : in[right++];
            at = end;
        }
        d->queue.items = to;
        d->spare.items = in;
        size_t capacity = d->queue.capacity;
        d->queue.capacity = d->spare.capacity;
        d->spare.capacity = capacity;
    }
}

/* Takes what has waited up to that time. */
static int take_until(struct perf_data *d, uint64_t time)
{
    const uint8_t *place = d->unpacking.place;
    size_t n = 0;
    int status = 0;
    sort_queue(d);
    for (; n < d->queue.count && d->queue.items[n].time <= time && status == 0; n++) {
        const uint8_t *at = d->queue.items[n].bytes;
        d->unpacking.place = is_kept(d, at) ? place_of_kept(at) : NULL;
        status = take_record(d, at);
    }
    if (status < 0)
        return -1;
    d->unpacking.place = place;
    if (n)
        memmove(d->queue.items, d->queue.items + n, (d->queue.count - n) * sizeof *d->queue.items);
    d->queue.count -= n;
    keep_only_waiting(d);
    return 0;
}

static int finish_round(struct perf_data *d)
{
    int status = take_until(d, d->round_limit);
    d->round_limit = d->latest;
    return status;
}

/* A record without a time is taken at once: what perf says of processes that ran before it. */
static int put_record(struct perf_data *d, const uint8_t *at, const struct record *r)
{
    size_t room = (size_t)(r->body.end - r->body.p);
    const struct attr *a = &d->attrs.items[0];
    const uint8_t *where =
        r->type == RECORD_SAMPLE ? time_of_sample(a, r->body.p, room) : time_at_end(a, r->body.end, room);
    struct cursor b = part(d, where, where ? where + 8 : NULL);
    uint64_t time = where ? cursor_u64(&b) : 0;
    if (time == 0 || time == UINT64_MAX)
        return take_record(d, at);
    d->latest = time > d->latest ? time : d->latest;
    if (d->unpacking.place)
        at = keep(d, at, r->size, d->unpacking.place);
    *vec_push(&d->queue) = (struct waiting){time, at};
    return 0;
}

/* ---- records, one after the other ----------------------------------------------------------------------------------------------- */

static void update_event(struct perf_data *d, struct cursor b)
{
    enum { NAME = 2 };
    uint64_t what = cursor_u64(&b), id = cursor_u64(&b);
    uint32_t attr = hashmap_get(&d->ids, id);
    char *name = text(&b, UINT64_MAX);
    if (what == NAME && !b.bad && attr < d->attrs.count)
        d->attrs.items[attr].name = strtab_add(perf_run_strings(d->run), name);
    mem_free(name);
}

static bool is_packed(uint32_t type)
{
    return type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
}

/* Bytes of a record that follow it and are not in its size. */
static uint64_t bytes_behind(const struct record *r)
{
    struct cursor b = r->body;
    if (r->type == RECORD_TRACING_DATA)
        return ((uint64_t)cursor_u32(&b) + 7) & ~7ull;
    return r->type == RECORD_AUXTRACE ? cursor_u64(&b) : 0;
}

static int read_attr_record(struct perf_data *d, struct cursor b)
{
    struct cursor size = b;
    cursor_bytes(&size, 4);
    uint64_t bytes = cursor_u32(&size);
    const uint8_t *at = b.p;
    if (bytes > ATTR_MOST || d->attrs.count >= LIMIT_EVENTS || !read_attr(d, &b, bytes))
        return wrong(d, at, "the description of an event is damaged");
    read_ids(d, &b, (uint32_t)(d->attrs.count - 1));
    return 0;
}

static int read_user_record(struct perf_data *d, const struct record *r)
{
    struct cursor b = r->body;
    switch (r->type) {
    case RECORD_ATTR:
        return read_attr_record(d, b);
    case RECORD_BUILD_ID:
        read_build_id(d, b, r->misc);
        return 0;
    case RECORD_FINISHED_ROUND:
        return finish_round(d);
    case RECORD_EVENT_UPDATE:
        update_event(d, b);
        return 0;
    case RECORD_FEATURE: {
        uint64_t feature = cursor_u64(&b);
        read_feature(d, feature, b);
        return 0;
    }
    default:
        return 0;
    }
}

/* The size of the record at `at`, with what follows it; 0: it is none. */
static uint64_t whole_size(const struct perf_data *d, const uint8_t *at, const uint8_t *end)
{
    if (end - at < 8)
        return 0;
    struct record r = record_at(d, at);
    if (r.size < 8 || r.size > end - at)
        return 0;
    uint64_t behind = bytes_behind(&r);
    return behind <= (uint64_t)(end - at) - r.size ? r.size + behind : 0;
}

static int read_record(struct perf_data *d, const uint8_t *at)
{
    struct record r = record_at(d, at);
    if (r.type >= RECORD_USER)
        return read_user_record(d, &r);
    if (d->attrs.count == 0)
        return wrong(d, at, "a record comes before the description of its event");
    return put_record(d, at, &r);
}

/* ---- packed records --------------------------------------------------------------------------------------------- */

#ifdef HAVE_ZSTD
/* Takes the records that are whole by now. */
static int read_unpacked(struct perf_data *d)
{
    struct buf *rest = &d->unpacking.rest;
    const uint8_t *begin = (const uint8_t *)rest->bytes, *end = begin + rest->len, *at = begin;
    int status = 0;
    for (uint64_t size; status == 0 && (size = whole_size(d, at, end)); at += size)
        status = is_packed(record_at(d, at).type) ? wrong(d, at, "a packed record holds another packed one")
                                                  : read_record(d, at);
    if (status == 0 && end - at >= 8 && record_at(d, at).size < 8)
        return wrong(d, at, "it is no record");
    rest->len = (size_t)(end - at);
    if (at > begin)
        memmove(rest->bytes, at, rest->len);
    return status;
}

/* A piece of what is left in `in`: 1; 0: there is no more. */
static int unpack_piece(struct perf_data *d, ZSTD_inBuffer *in)
{
    struct unpacking *u = &d->unpacking;
    uint8_t room[1 << 16];
    ZSTD_outBuffer out = {room, sizeof room, 0};
    size_t before = in->pos, status = ZSTD_decompressStream(u->stream, &out, in);
    if (ZSTD_isError(status))
        return wrong(d, u->place, "it is damaged");
    u->total += out.pos;
    if (u->total > LIMIT_IMPORT_BYTES)
        return wrong(d, u->place, "unpacked it has more than the 4 GiB that are read of a file (LIMIT_IMPORT_BYTES)");
    buf_add(&u->rest, room, out.pos);
    return out.pos || in->pos != before;
}

/* All packed records are one stream, and a record may end in the next one. */
static int read_packed(struct perf_data *d, const uint8_t *at)
{
    struct record r = record_at(d, at);
    struct unpacking *u = &d->unpacking;
    uint64_t n = r.type == RECORD_COMPRESSED2 ? cursor_u64(&r.body) : (uint64_t)(r.body.end - r.body.p);
    const uint8_t *packed = cursor_bytes(&r.body, n);
    ZSTD_inBuffer in = {packed, n, 0};
    int status = 1;
    if (!packed)
        return wrong(d, at, "a packed record is cut short");
    u->stream = u->stream ? u->stream : ZSTD_createDStream();
    u->place = at;
    while (status > 0 && (status = unpack_piece(d, &in)) > 0)
        status = read_unpacked(d) < 0 ? -1 : 1;
    if (status == 0)
        u->place = NULL;
    return status;
}
#else
static int read_packed(struct perf_data *d, const uint8_t *at)
{
    return wrong(d, at, "its records are packed with zstd, and this hpcview was built without it");
}
#endif

static void unpacking_release(struct unpacking *u)
{
#ifdef HAVE_ZSTD
    ZSTD_freeDStream(u->stream);
#endif
    buf_release(&u->rest);
    arena_free(u->kept);
}

/* ---- all of them -------------------------------------------------------------------------------------------------- */

static int read_records(struct perf_data *d, const uint8_t *at, const uint8_t *end)
{
    int status = 0;
    while (at < end && status == 0) {
        uint64_t size = whole_size(d, at, end);
        if (size == 0)
            return wrong(d, at, "a record is cut short, or is none; was the recording ended?");
        status = is_packed(record_at(d, at).type) ? read_packed(d, at) : read_record(d, at);
        at += size;
        filemap_pass(d->map, at);
    }
    if (status == 0 && d->unpacking.rest.len)
        return wrong(d, at, "the packed records before it end in the middle of one; was the recording ended?");
    return status == 0 ? take_until(d, UINT64_MAX) : status;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

struct section {
    uint64_t offset, size;
};

static struct section read_section(struct cursor *b)
{
    struct section s = {.offset = cursor_u64(b)};
    s.size = cursor_u64(b);
    return s;
}

/* The bytes of a section; bad: it is not all there. */
static struct cursor section_bytes(const struct cursor *all, struct section s)
{
    struct cursor b = *all;
    cursor_bytes(&b, s.offset);
    if (!b.bad && s.size <= (uint64_t)(b.end - b.p))
        b.end = b.p + s.size;
    else
        b.bad = true;
    return b;
}

static int read_attrs(struct perf_data *d, const struct cursor *all, struct section where, uint64_t each)
{
    struct cursor b = section_bytes(all, where);
    if (b.bad || each < ATTR_LEAST + 16 || each > ATTR_MOST || where.size / each > LIMIT_EVENTS)
        return wrong(d, d->begin, "the header's table of events is damaged");
    for (uint64_t n = where.size / each; n > 0; n--) {
        if (!read_attr(d, &b, each - 16))
            return wrong(d, b.p, "the description of an event is damaged");
        struct cursor ids = section_bytes(all, read_section(&b));
        if (ids.bad)
            return wrong(d, b.p, "the ids of an event are not in the file");
        read_ids(d, &ids, (uint32_t)(d->attrs.count - 1));
    }
    return 0;
}

/* A section for each feature whose bit is set stands behind the data. */
static int read_features(struct perf_data *d, const struct cursor *all, struct section data, const uint64_t bits[4])
{
    struct cursor table = *all;
    if (data.size > UINT64_MAX - data.offset || data.size == 0) /* what is wrong with the data is said there */
        return 0;
    cursor_bytes(&table, data.offset + data.size);
    for (unsigned i = 0; i < 256; i++) {
        if (!(bits[i / 64] >> i % 64 & 1))
            continue;
        struct cursor b = section_bytes(all, read_section(&table));
        if (table.bad || b.bad)
            return wrong(d, all->end, "the file ends before what it says of the recording; was it copied whole?");
        read_feature(d, i, b);
    }
    return 0;
}

static int read_file(struct perf_data *d, struct cursor all)
{
    struct cursor b = all;
    uint64_t features[4];
    cursor_bytes(&b, 16);
    uint64_t attr_size = cursor_u64(&b);
    struct section attrs = read_section(&b), data = read_section(&b);
    read_section(&b);
    for (size_t i = 0; i < 4; i++)
        features[i] = cursor_u64(&b);
    if (b.bad)
        return wrong(d, d->begin, "the header is cut short");
    if (read_attrs(d, &all, attrs, attr_size) < 0)
        return -1;
    struct cursor records = section_bytes(&all, data);
    if (records.bad)
        return wrong(d, all.end, "the file ends before its data; was it copied whole?");
    if (read_features(d, &all, data, features) < 0)
        return -1;
    if (data.size == 0)
        return err_set(d->err, ERR_FORMAT, "%s: the recording was not ended, or recorded nothing", d->name);
    return read_records(d, records.p, records.end);
}

/* The magic is a number of 8 bytes. */
static bool has_magic(const uint8_t *bytes, size_t len, bool *big)
{
    *big = len >= PIPE_HEADER_BYTES && memcmp(bytes, "2ELIFREP", 8) == 0;
    return *big || (len >= PIPE_HEADER_BYTES && memcmp(bytes, "PERFILE2", 8) == 0);
}

bool perf_data_sniff(const void *bytes, size_t len)
{
    bool big;
    return has_magic(bytes, len, &big);
}

int perf_data_convert(const struct filter_input *in, struct hpcprof *into, struct warnings *warnings, struct err *err)
{
    struct perf_data d = {.run = perf_run_create(into, in->name),
                          .name = in->name,
                          .begin = in->bytes,
                          .end = (const uint8_t *)in->bytes + in->len,
                          .map = in->map,
                          .err = err};
    int status;
    if (!has_magic(in->bytes, in->len, &d.big))
        status = err_set(err, ERR_FORMAT, "%s: does not begin as a perf.data file", in->name);
    else {
        struct cursor all = part(&d, d.begin, d.begin + in->len), size = part(&d, d.begin + 8, d.begin + 16);
        status = cursor_u64(&size) == PIPE_HEADER_BYTES ? read_records(&d, d.begin + PIPE_HEADER_BYTES, all.end)
                                                        : read_file(&d, all);
    }
    perf_run_about(d.run, d.host, d.machine, d.kernel, d.command);
    if (status == 0)
        status = perf_run_finish(d.run, "", warnings, err);
    mem_free(d.host);
    mem_free(d.machine);
    mem_free(d.kernel);
    mem_free(d.command);
    vec_release(&d.attrs);
    vec_release(&d.queue);
    vec_release(&d.spare);
    vec_release(&d.frames);
    vec_release(&d.counters);
    vec_release(&d.values);
    keys_release(&d.counted);
    hashmap_release(&d.ids);
    hashmap_release(&d.build_ids);
    unpacking_release(&d.unpacking);
    perf_run_free(d.run);
    return status;
}
