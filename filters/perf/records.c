/* SPDX-License-Identifier: BSD-3-Clause */
/* perf.data: decoding of each record. */
#include "filters/perf/data.h"

enum { MISC_CPU_MODE = 7, MISC_KERNEL = 1, MISC_GUEST_KERNEL = 4, MISC_EXEC = 1 << 13, MISC_MMAP_BUILD_ID = 1 << 14 };

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
            m.build_id = perf_data_hex(d, id + 4, id[0]);
        cursor_u64(&b);
    }
    bool kernel = (misc & MISC_CPU_MODE) == MISC_KERNEL || pid == UINT32_MAX;
    char *given = perf_data_text(&b, UINT64_MAX), *path = kernel ? kernel_object(given) : mem_strdup(given);
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
    char *name = perf_data_text(&b, UINT64_MAX);
    perf_run_name(d->run, pid, tid, name, misc & MISC_EXEC);
    mem_free(name);
}

static void take_fork(struct perf_data *d, struct cursor b)
{
    uint32_t pid = cursor_u32(&b), parent = cursor_u32(&b), tid = cursor_u32(&b), parent_tid = cursor_u32(&b);
    if (!b.bad)
        perf_run_fork(d->run, pid, tid, parent, parent_tid);
}

/* The current counts of the events of the sample's group (`perf record -e '{a,b}:S'`), by their ids. Alone, the
   value comes before the times; in a group behind them. */
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
    return perf_data_attr(d, cursor_u64(&b));
}

static void deliver(struct perf_data *d, struct attr *a, struct perf_sample *s, uint64_t weight, uint64_t source)
{
    s->event = perf_data_event(d, a);
    perf_run_sample(d->run, s);
    if (weight)
        perf_run_extra(d->run, s, "weight", "cycles", weight);
    if (source)
        take_data_source(d, s, source);
}

/* How much more the counter has than the last time. */
static uint64_t counted_since(struct perf_data *d, const struct counter *c, uint32_t tid)
{
    uint32_t row = interner_row(&d->counted, &(struct interner_key){{tid}, {c->id, 0}});
    if (row == d->values.count)
        *vec_push(&d->values) = 0;
    uint64_t before = d->values.items[row];
    d->values.items[row] = c->value;
    return c->value - before;
}

/* Each counter of the group is a sample of its own event, with its count since the last one. */
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
        return perf_data_wrong(d, begin, "a sample is truncated, or differs from its event's format");
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

/* Position of the time in a record that is not a sample: its identity is at the end. NULL: there is none. */
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
        perf_run_lost(d->run, perf_data_event(d, perf_data_attr(d, first)), second, false);
    else if (type == RECORD_LOST_SAMPLES)
        perf_run_lost(d->run, perf_data_event(d, &d->attrs.items[0]), first, false);
    else /* throttled: time, id */
        perf_run_lost(d->run, perf_data_event(d, perf_data_attr(d, second)), 1, true);
}

/* Bytes of a record that follow it and are not in its size. */
static uint64_t bytes_behind(const struct record *r)
{
    struct cursor b = r->body;
    if (r->type == RECORD_TRACING_DATA)
        return ((uint64_t)cursor_u32(&b) + 7) & ~7ull;
    return r->type == RECORD_AUXTRACE ? cursor_u64(&b) : 0;
}

uint64_t perf_data_whole_size(const struct perf_data *d, const uint8_t *at, const uint8_t *end, struct record *r)
{
    if (end - at < 8)
        return 0;
    *r = perf_data_record_at(d, at);
    if (r->size < 8 || r->size > end - at)
        return 0;
    uint64_t behind = bytes_behind(r);
    return behind <= (uint64_t)(end - at) - r->size ? r->size + behind : 0;
}

int perf_data_take(struct perf_data *d, const uint8_t *at)
{
    struct record r = perf_data_record_at(d, at);
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
    default: /* not needed */
        break;
    }
    return 0;
}

uint64_t perf_data_time(const struct perf_data *d, const struct record *r)
{
    size_t room = (size_t)(r->body.end - r->body.p);
    const struct attr *a = &d->attrs.items[0];
    const uint8_t *where =
        r->type == RECORD_SAMPLE ? time_of_sample(a, r->body.p, room) : time_at_end(a, r->body.end, room);
    struct cursor b = perf_data_part(d, where, where ? where + 8 : NULL);
    uint64_t time = where ? cursor_u64(&b) : 0;
    return time == UINT64_MAX ? 0 : time;
}

void perf_data_release_records(struct perf_data *d)
{
    vec_release(&d->frames);
    vec_release(&d->counters);
    vec_release(&d->values);
    interner_release(&d->counted);
}
