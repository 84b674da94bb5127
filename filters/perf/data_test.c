/* SPDX-License-Identifier: BSD-3-Clause */
/* Hand-made perf.data files of both byte orders: every rule of the records, and damaged files. */
#include "config.h"

#include "filters/perf/perf.h"
#include "tests/chance.h"
#include "tests/fixtures/import_dump.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* ---- writing one ---------------------------------------------------------------------------------------- */

struct made {
    struct buf bytes; /* of the records */
    bool swapped;
    uint64_t sample_type;
};
static uint64_t read_format = 4 | 8, branch_type; /* as in perf_event_open(2): id, group */

static void put(struct buf *b, bool swapped, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buf_u8(b, (uint8_t)(v >> 8 * (swapped ? bytes - 1 - i : i)));
}

/* "4:" and "8:" set the size of the following numbers, "s:" a string of 16 bytes; fields end at NULL. Numbers are given
   as text, so that one string is one record. */
static void put_fields(struct buf *b, bool swapped, const char *fields)
{
    char *copy = mem_strdup(fields), *rest = copy, *word;
    unsigned size = 8;
    while ((word = strsep(&rest, " "))) {
        if (strcmp(word, "4:") == 0 || strcmp(word, "8:") == 0)
            size = (unsigned)(*word - '0');
        else if (*word == '\'') {
            char text[16] = "";
            snprintf(text, sizeof text, "%s", word + 1);
            buf_add(b, text, sizeof text);
        } else if (*word)
            put(b, swapped, strtoull(word, NULL, 0), size);
    }
    mem_free(copy);
}

static void record(struct made *m, unsigned type, unsigned misc, const char *fields)
{
    struct buf body = {0};
    put_fields(&body, m->swapped, fields);
    put(&m->bytes, m->swapped, type, 4);
    put(&m->bytes, m->swapped, misc, 2);
    put(&m->bytes, m->swapped, body.len + 8, 2);
    if (body.len)
        buf_add(&m->bytes, body.bytes, body.len);
    buf_release(&body);
}

/* The bit fields as the other machine numbers them. */
static void put_flags(struct buf *b, bool swapped, uint64_t flags)
{
    for (unsigned i = 0; i < 8; i++) {
        uint8_t byte = 0;
        for (unsigned k = 0; k < 8; k++)
            if (flags >> (8 * i + k) & 1)
                byte |= (uint8_t)(1u << (swapped ? 7 - k : k));
        buf_u8(b, byte);
    }
}

enum { ATTR_BYTES = 112 };
static void put_attr(struct buf *b, bool swapped, unsigned type, uint64_t config, uint64_t sample_type)
{
    const uint64_t sample_id_all = 1ull << 18;
    put(b, swapped, type, 4);
    put(b, swapped, ATTR_BYTES, 4);
    put(b, swapped, config, 8);
    put(b, swapped, 5000, 8);
    put(b, swapped, sample_type, 8);
    put(b, swapped, read_format, 8);
    put_flags(b, swapped, sample_id_all);
    put(b, swapped, 0, 8); /* wakeup, breakpoint */
    put(b, swapped, 0, 8);
    put(b, swapped, 0, 8);
    put(b, swapped, branch_type, 8);
    put(b, swapped, 7, 8); /* three registers */
    put(b, swapped, 0, 8);
    put(b, swapped, 0, 8);
    put(b, swapped, 0, 8);
}

/* Two events: cycles with id 11, cpu-clock with ids 21 and 22. */
static struct buf whole_file(const struct made *m)
{
    struct buf f = {0};
    const uint64_t attrs = 104, attr_size = ATTR_BYTES + 16, ids = attrs + 2 * attr_size, data = ids + 24;
    bool w = m->swapped;
    buf_str(&f, w ? "2ELIFREP" : "PERFILE2");
    put(&f, w, 104, 8);
    put(&f, w, attr_size, 8);
    put(&f, w, attrs, 8);
    put(&f, w, 2 * attr_size, 8);
    put(&f, w, data, 8);
    put(&f, w, m->bytes.len, 8);
    for (unsigned i = 0; i < 6; i++) /* event types; features */
        put(&f, w, i == 2 ? 1 << 3 | 1 << 11 : 0, 8);
    put_attr(&f, w, 0, 0, m->sample_type);
    put(&f, w, ids, 8);
    put(&f, w, 8, 8);
    put_attr(&f, w, 1, 0, m->sample_type);
    put(&f, w, ids + 8, 8);
    put(&f, w, 16, 8);
    put(&f, w, 11, 8);
    put(&f, w, 21, 8);
    put(&f, w, 22, 8);
    if (m->bytes.len)
        buf_add(&f, m->bytes.bytes, m->bytes.len);
    put(&f, w, data + m->bytes.len + 32, 8); /* host, command */
    put(&f, w, 20, 8);
    put(&f, w, data + m->bytes.len + 52, 8);
    put(&f, w, 44, 8);
    put_fields(&f, w, "4: 16 'node");
    put_fields(&f, w, "4: 2 16 '/usr/bin/perf 16 'record");
    return f;
}

/* ---- rules ------------------------------------------------------------------------------------------------- */

enum {
    IP_TID_TIME_PERIOD = 1 | 2 | 4 | 0x100,
    IDENTIFIED = IP_TID_TIME_PERIOD | 0x10000,
    WITH_ID = IP_TID_TIME_PERIOD | 0x40,
    CHAINS = IDENTIFIED | 0x20,
    ALL = IDENTIFIED | 0x10 | 0x20 | 0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000 | 0x8000,
    USER = 2,
    KERNEL = 1,
    EXEC = 1 << 13,
};

struct chain_step {
    unsigned type, misc;
    const char *fields;
};

/* Order for IDENTIFIED: id ip pid/tid time period; at the end of other records: pid/tid time id. */
#define MAP(at, len, offset, path, time)                                                                               \
    {                                                                                                                  \
        1, USER, "4: 5 5 8: " at " " len " " offset " '" path " 4: 5 5 8: " time " 11"                                 \
    }
#define SAMPLE(id, ip, time, period)                                                                                   \
    {                                                                                                                  \
        9, USER, "8: " id " " ip " 4: 5 5 8: " time " " period                                                         \
    }
#define ROUND                                                                                                          \
    {                                                                                                                  \
        68, 0, ""                                                                                                      \
    }

static const struct {
    const char *name;
    uint64_t sample_type;
    struct chain_step steps[10];
    const char *want;
} rules[] = {
    {"events by id",
     IDENTIFIED,
     {SAMPLE("11", "0x10", "1", "7"), SAMPLE("22", "0x10", "2", "9")},
     "[unknown] - -:0 cpu-clock 9 x1\n[unknown] - -:0 cycles 7 x1\n"},
    {"an id that is not there is of the first event",
     IDENTIFIED,
     {SAMPLE("99", "0x10", "1", "7")},
     "[unknown] - -:0 cycles 7 x1\n"},
    {"ids in their old place", WITH_ID, {{9, USER, "8: 0x10 4: 5 5 8: 1 21 7"}}, "[unknown] - -:0 cpu-clock 7 x1\n"},
    {"no period in the sample: the event's",
     1 | 2 | 0x10000,
     {{9, USER, "8: 11 0x10 4: 5 5"}},
     "[unknown] - -:0 cycles 5000 x1\n"},
    {"threads",
     IDENTIFIED,
     {{3, 0, "4: 5 5 'main 4: 5 5 8: 1 11"},
      {3, 0, "4: 5 6 'work 4: 5 6 8: 1 11"},
      SAMPLE("11", "0x10", "2", "1"),
      {9, USER, "8: 11 0x10 4: 5 6 8: 3 2"}},
     "[unknown] - -:0 cycles 1 x1\n[unknown] - -:0 cycles 2 x1 thread 0.1 work\n"},
    {"a mapping: its first byte, its last, and beyond",
     IDENTIFIED,
     {MAP("0x1000", "0x1000", "0", "/no/a", "1"), SAMPLE("11", "0x1000", "2", "1"), SAMPLE("11", "0x1fff", "2", "2"),
      SAMPLE("11", "0x2000", "2", "4"), SAMPLE("11", "0xfff", "2", "8")},
     "[unknown] - -:0 cycles 12 x2\na - -:0 cycles 3 x2\n"},
    {"the vDSO has offsets",
     IDENTIFIED,
     {MAP("0x1000", "0x1000", "0x100", "[vdso]", "1"), SAMPLE("11", "0x1010", "2", "1")},
     "[vdso] 110 cycles 1 x1\n"},
    {"in the order of time, within a round",
     IDENTIFIED,
     {SAMPLE("11", "0x1010", "5", "1"), MAP("0x1000", "0x1000", "0", "/no/b", "4"), SAMPLE("11", "0x1010", "3", "2"),
      MAP("0x1000", "0x1000", "0", "/no/a", "2"), ROUND},
     "a - -:0 cycles 2 x1\nb - -:0 cycles 1 x1\n"},
    {"in the order of time, of one round and the next",
     IDENTIFIED,
     {SAMPLE("11", "0x1010", "5", "1"), ROUND, MAP("0x1000", "0x1000", "0", "/no/a", "4"), ROUND, ROUND},
     "a - -:0 cycles 1 x1\n"},
    {"of one time in the order of the file",
     IDENTIFIED,
     {MAP("0x1000", "0x1000", "0", "/no/a", "4"), SAMPLE("11", "0x1010", "4", "1"),
      MAP("0x1000", "0x1000", "0", "/no/b", "4"), SAMPLE("11", "0x1010", "4", "2")},
     "a - -:0 cycles 1 x1\nb - -:0 cycles 2 x1\n"},
    {"a child has its parent's mappings",
     IDENTIFIED,
     {MAP("0x1000", "0x1000", "0", "/no/a", "1"),
      {7, 0, "4: 8 5 8 5 8: 2 4: 8 8 8: 2 11"},
      {9, USER, "8: 11 0x1000 4: 8 8 8: 3 1"}},
     "a - -:0 cycles 1 x1\n"},
    {"exec drops them",
     IDENTIFIED,
     {MAP("0x1000", "0x1000", "0", "/no/a", "1"),
      {3, EXEC, "4: 5 5 'new 4: 5 5 8: 2 11"},
      SAMPLE("11", "0x1000", "3", "1")},
     "[unknown] - -:0 cycles 1 x1\n"},
    {"another name does not",
     IDENTIFIED,
     {MAP("0x1000", "0x1000", "0", "/no/a", "1"),
      {3, 0, "4: 5 5 'new 4: 5 5 8: 2 11"},
      SAMPLE("11", "0x1000", "3", "1")},
     "a - -:0 cycles 1 x1\n"},
    {"the kernel's mappings are everybody's, its modules by name",
     IDENTIFIED,
     {{1, KERNEL, "4: 0xffffffff 0 8: 0xffffffff81000000 0x1000 0 '[kernel.kall 4: 0 0 8: 0 11"},
      {1, KERNEL, "4: 0xffffffff 0 8: 0xffffffffc1000000 0x1000 0 '/m/nf-nat.ko.xz 4: 0 0 8: 0 11"},
      {9, KERNEL, "8: 11 0xffffffff81000010 4: 5 5 8: 3 1"},
      {9, KERNEL, "8: 11 0xffffffffc1000010 4: 5 5 8: 3 2"}},
     "[kernel] - -:0 cycles 1 x1\n[nf_nat] - -:0 cycles 2 x1\n"},
    {"one of the kernel's is told by its mode as well",
     IDENTIFIED,
     {{1, KERNEL, "4: 0 0 8: 0xffffffff81000000 0x1000 0 '[kernel.kall 4: 0 0 8: 0 11"},
      {9, KERNEL, "8: 11 0xffffffff81000010 4: 5 5 8: 3 1"}},
     "[kernel] - -:0 cycles 1 x1\n"},
    {"a chain: markers left out, callers where the call stands",
     CHAINS,
     {MAP("0x1000", "0x1000", "0", "[vdso]", "1"),
      {9, USER, "8: 11 0x1010 4: 5 5 8: 2 1 3 0xfffffffffffffe00 0x1010 0x1020"}},
     "[vdso] 10 cycles 1 x1 < [vdso] 1f\n"},
    {"an empty chain: the sample's own address",
     CHAINS,
     {MAP("0x1000", "0x1000", "0", "[vdso]", "1"), {9, USER, "8: 11 0x1010 4: 5 5 8: 2 1 0"}},
     "[vdso] 10 cycles 1 x1\n"},
    /* read: a value with its id; chain; raw of 12 bytes; one branch; 3 registers; no stack; weight; a hit in L2 */
    {"all that a sample may hold",
     ALL,
     {{9, USER, "8: 11 0x10 4: 5 5 8: 2 5  1 6 11  1 0x10  4: 12 1 2 3  8: 1 1 2 3  1 7 8 9  0  30 0x2400"}},
     "[unknown] - -:0 cycles 6 x1\n[unknown] - -:0 cycles L2 hit 6\n[unknown] - -:0 cycles weight 30\n"},
    {"counters of a group: what each counted since the last time",
     IDENTIFIED | 0x10,
     {{9, USER, "8: 11 0x10 4: 5 5 8: 2 5  3 6 11 100 21 7 99"},
      {9, USER, "8: 11 0x20 4: 5 5 8: 3 5  2 8 11 100 21"},
      {9, USER, "8: 11 0x30 4: 5 5 8: 4 5  2 8 11 130 21"}},
     "[unknown] - -:0 cpu-clock 130 x2\n[unknown] - -:0 cycles 8 x2\n"},
    {"more counters than the record holds",
     IDENTIFIED | 0x10,
     {{9, USER, "8: 11 0x10 4: 5 5 8: 2 5  3 6 11"}},
     "input, byte 392: a sample is truncated, or differs from its event's format"},
    {"a stack",
     ALL,
     {{9, USER, "8: 11 0x10 4: 5 5 8: 2 6  0  0  4: 4 1  8: 0  0  16 1 2 16  0  0"}},
     "[unknown] - -:0 cycles 6 x1\n"},
    {"a sample cut short",
     IDENTIFIED,
     {{9, USER, "8: 11 0x10 4: 5"}},
     "input, byte 392: a sample is truncated, or differs from its event's format"},
    {"a chain longer than the record",
     CHAINS,
     {{9, USER, "8: 11 0x10 4: 5 5 8: 2 1 0x2000000000000000 1"}},
     "input, byte 392: a sample is truncated, or differs from its event's format"},
    {"no samples", IDENTIFIED, {ROUND}, "input: contains no samples"},
};

static struct made make(size_t i, bool swapped)
{
    struct made m = {.swapped = swapped, .sample_type = rules[i].sample_type};
    for (const struct chain_step *s = rules[i].steps; s->type; s++)
        record(&m, s->type, s->misc, s->fields);
    return m;
}

static void test_rules(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            struct made m = make(i, swapped);
            struct buf f = whole_file(&m);
            char *got = converted("perf", f.bytes, f.len, NULL);
            if (swapped)
                printf("# of the other byte order:\n");
            tap_str(got, rules[i].want, rules[i].name, __FILE__, __LINE__);
            mem_free(got);
            buf_release(&f);
            buf_release(&m.bytes);
        }
}

/* The fields after counter values and branches are found in every format: a value of 6 for the first event, of 9 for
   the second if they are a group, and a weight of 30. */
static void test_formats(void)
{
    enum { ENABLED = 1, RUNNING = 2, ID = 4, GROUP = 8, LOST = 16, FORMATS = 32, HAS_INDEX = 1 << 17 };
#define MADE_OF(value) "[unknown] - -:0 " value "\n[unknown] - -:0 cycles weight 30\n"
    static const char *const wants[] = {
        MADE_OF("cycles 5 x1"), /* without ids: the sample's period */
        MADE_OF("cycles 6 x1"),
        MADE_OF("cpu-clock 9 x1\n[unknown] - -:0 cpu-clock weight 30\n[unknown] - -:0 cycles 6 x1"),
    };
#undef MADE_OF
    for (uint64_t f = 0; f < FORMATS; f++)
        for (int index = 0; index < 2; index++) {
            struct made m = {.swapped = f & 1, .sample_type = IDENTIFIED | 0x10 | 0x800 | 0x4000};
            const char *times = f & ENABLED && f & RUNNING ? "101 102" : f & (ENABLED | RUNNING) ? "101" : "";
            const char *lost = f & LOST ? "103" : "";
            char fields[200], *value = mem_printf("6 %s %s %s", f & GROUP ? "" : times, f & ID ? "11" : "", lost);
            snprintf(fields, sizeof fields, "8: 11 0x10 4: 5 5 8: 2 5 %s %s %s %s %s %s 2 %s 1 2 3 4 5 6 30",
                     f & GROUP ? "2" : "", f & GROUP ? times : "", value, f & GROUP ? "9" : "",
                     f & GROUP && f & ID ? "21" : "", f & GROUP ? lost : "", index ? "104" : "");
            read_format = f;
            branch_type = index ? HAS_INDEX : 0;
            record(&m, 9, USER, fields);
            struct buf file = whole_file(&m);
            char *got = converted("perf", file.bytes, file.len, NULL);
            printf("# read format %d, %s index\n", (int)f, index ? "an" : "no");
            CHECK_STR(got, wants[!(f & ID) ? 0 : f & GROUP ? 2 : 1]);
            mem_free(got);
            mem_free(value);
            buf_release(&file);
            buf_release(&m.bytes);
        }
    read_format = ID | GROUP;
    branch_type = 0;
}

/* ---- the same from a pipe, and packed -------------------------------------------------------------------------- */

static void put_attr_record(struct buf *f, bool swapped, unsigned type, uint64_t sample_type, const char *ids)
{
    struct buf body = {0};
    put_attr(&body, swapped, type, 0, sample_type);
    put_fields(&body, swapped, ids);
    put(f, swapped, 64, 4);
    put(f, swapped, 0, 2);
    put(f, swapped, body.len + 8, 2);
    buf_add(f, body.bytes, body.len);
    buf_release(&body);
}

static struct buf piped_file(const struct made *m)
{
    struct buf f = {0};
    buf_str(&f, m->swapped ? "2ELIFREP" : "PERFILE2");
    put(&f, m->swapped, 16, 8);
    put_attr_record(&f, m->swapped, 0, m->sample_type, "8: 11");
    put_attr_record(&f, m->swapped, 1, m->sample_type, "8: 21 22");
    buf_add(&f, m->bytes.bytes, m->bytes.len);
    return f;
}

static void test_pipe(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            struct made m = make(i, swapped);
            struct buf f = piped_file(&m);
            char *got = converted("perf", f.bytes, f.len, NULL);
            if (!str_starts(rules[i].want, "input, byte"))
                tap_str(got, rules[i].want, rules[i].name, __FILE__, __LINE__);
            mem_free(got);
            buf_release(&f);
            buf_release(&m.bytes);
        }
}

/* Event names are in separate records or in the features. */
static void test_pipe_names(void)
{
    struct made m = {.sample_type = IDENTIFIED};
    record(&m, 78, 0, "8: 2 21 'my-clock");
    record(&m, 80, 0, "8: 12 4: 1 8 8: 0 4: 1 16 'L1-loads:u 8: 11");
    record(&m, 9, USER, "8: 11 0x10 4: 5 5 8: 1 7");
    record(&m, 9, USER, "8: 21 0x10 4: 5 5 8: 1 7");
    struct buf f = piped_file(&m);
    char *got = converted("perf", f.bytes, f.len, NULL);
    CHECK_STR(got, "[unknown] - -:0 L1-loads:u 7 x1\n[unknown] - -:0 my-clock 7 x1\n");
    mem_free(got);
    buf_release(&f);
    buf_release(&m.bytes);
}

/* Build ids are in mapping records, or in earlier records of files: 20 bytes, or the number in the 21st. */
static void test_build_ids(void)
{
#define ID_BYTES "0x0807060504030201 0x100f0e0d0c0b0a09 "
    enum { OWN_ID = 1 << 14, SAYS_SIZE = 1 << 15 };
    static const struct {
        unsigned type, misc;
        const char *fields, *want;
    } cases[] = {
        {67, USER, "4: 5 8: " ID_BYTES "0x0000000814131211 '/no/a", "0102030405060708090a0b0c0d0e0f1011121314"},
        {67, USER | SAYS_SIZE, "4: 5 8: " ID_BYTES "0x0000000814131211 '/no/a", "0102030405060708"},
        {67, USER | SAYS_SIZE, "4: 5 8: " ID_BYTES "0x0000001414131211 '/no/a",
         "0102030405060708090a0b0c0d0e0f1011121314"},
        {67, USER | SAYS_SIZE, "4: 5 8: " ID_BYTES "0x0000001514131211 '/no/a",
         "0102030405060708090a0b0c0d0e0f1011121314"},
        {67, USER, "4: 5 8: " ID_BYTES "0x0000000814131211 '/no/b", ""},
        {67, USER, "4: 5 8: 1 2", ""},
        {10, USER | OWN_ID, "4: 5 5 8: 0x2000 0x1000 0 4: 4 0x04030201 8: 0 0 4: 5 5 '/no/a 4: 5 5 8: 1 11",
         "01020304"},
        {10, USER, "4: 5 5 8: 0x2000 0x1000 0 4: 4 0x04030201 8: 0 0 4: 5 5 '/no/a 4: 5 5 8: 1 11", ""},
        {10, USER | OWN_ID, "4: 5 5 8: 0x2000 0x1000 0 4: 21 0x04030201 8: 0 0 4: 5 5 '/no/a 4: 5 5 8: 1 11", ""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = {.sample_type = IDENTIFIED};
        static const struct filter_options none;
        record(&m, cases[i].type, cases[i].misc, cases[i].fields);
        if (cases[i].type == 67)
            record(&m, 1, USER, "4: 5 5 8: 0x2000 0x1000 0 '/no/a 4: 5 5 8: 1 11");
        record(&m, 9, USER, "8: 11 0x2010 4: 5 5 8: 2 7");
        struct buf f = piped_file(&m);
        struct filter_input in = {
            .bytes = f.bytes, .len = f.len, .name = "input", .options = &none, .open = filters_open};
        struct hpcprof *p = hpcprof_create();
        if (CHECK_INT(perf_data_convert(&in, p, NULL, NULL), 0) && CHECK_INT(p->count_count, 1)) {
            const struct hpcprof_module *a = &p->modules[p->contexts[p->counts[0].context].module];
            CHECK_STR(strtab_get(p->strings, a->path), "/no/a");
            CHECK_STR(strtab_get(p->strings, a->build_id), cases[i].want);
        }
        hpcprof_free(p);
        buf_release(&f);
        buf_release(&m.bytes);
    }
}

#ifdef HAVE_ZSTD
/* The first `most` bytes of the records, compressed in pieces so that records cross their boundaries. */
static char *from_packed(const struct made *m, size_t most, size_t piece)
{
    struct made packed = {.sample_type = m->sample_type};
    ZSTD_CStream *z = ZSTD_createCStream();
    ZSTD_initCStream(z, 1);
    for (size_t at = 0, n; at < most; at += n) {
        char room[4096];
        n = most - at < piece ? most - at : piece;
        ZSTD_inBuffer in = {m->bytes.bytes + at, n, 0};
        ZSTD_outBuffer out = {room, sizeof room, 0};
        ZSTD_compressStream(z, &out, &in);
        ZSTD_flushStream(z, &out);
        put(&packed.bytes, false, 81, 4);
        put(&packed.bytes, false, 0, 2);
        put(&packed.bytes, false, out.pos + 8, 2);
        buf_add(&packed.bytes, room, out.pos);
    }
    struct buf f = whole_file(&packed);
    char *got = converted("perf", f.bytes, f.len, NULL);
    ZSTD_freeCStream(z);
    buf_release(&f);
    buf_release(&packed.bytes);
    return got;
}
#endif

/* The same as uncompressed; messages about errors give the location in the compressed data. */
static void test_packed(void)
{
#ifdef HAVE_ZSTD
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        struct made m = make(i, false);
        char *got = from_packed(&m, m.bytes.len, 40);
        const char *what = strstr(rules[i].want, ": "), *said = strstr(got, ": ");
        if (str_starts(rules[i].want, "input, byte"))
            tap_result(str_starts(got, "input, byte ") && said && strcmp(said, what) == 0, rules[i].name, __FILE__,
                       __LINE__);
        else
            tap_str(got, rules[i].want, rules[i].name, __FILE__, __LINE__);
        mem_free(got);
        buf_release(&m.bytes);
    }
#else
    SKIP("packed records", "built without zstd");
#endif
}

/* Records that are pending between compressed pieces are processed in time order, even if rounds end in between. */
static void test_packed_rounds(void)
{
#ifdef HAVE_ZSTD
    struct made m = {.sample_type = IDENTIFIED};
    char fields[80];
    for (unsigned i = 0; i < 2000; i++) {
        unsigned time = 1 + i / 20 * 20 + 19 - i % 20;
        snprintf(fields, sizeof fields, "8: 11 0x10 4: 5 5 8: %u %u", time, i);
        if (i % 7 == 0)
            snprintf(fields, sizeof fields, "4: 5 5 8: 0 4096 0 '/no/m%u 4: 5 5 8: %u 11", i % 13, time);
        record(&m, i % 7 ? 9 : 1, USER, fields);
        if (i % 30 == 0)
            record(&m, 68, 0, "");
    }
    struct buf f = whole_file(&m);
    char *want = converted("perf", f.bytes, f.len, NULL), *got = from_packed(&m, m.bytes.len, 1000);
    CHECK(strlen(want) > 100);
    CHECK_STR(got, want);
    mem_free(got);
    got = from_packed(&m, m.bytes.len - 5, 40);
    CHECK(strstr(got, ": the compressed records before it end in the middle of one; did the recording end normally?"));
    mem_free(got);
    mem_free(want);
    buf_release(&f);
    buf_release(&m.bytes);
#else
    SKIP("rounds of packed records", "built without zstd");
#endif
}

/* ---- about the recording; damage -------------------------------------------------------------------------------- */

static void test_about(void)
{
    struct made m = make(0, false);
    record(&m, 2, 0, "8: 21 30 4: 5 5 8: 3 11");   /* lost 30 of cpu-clock */
    record(&m, 5, 0, "8: 3 11 11 4: 5 5 8: 3 11"); /* cycles throttled */
    record(&m, 13, 0, "8: 8 4: 5 5 8: 3 11");      /* 8 samples of cycles lost */
    struct buf f = whole_file(&m);
    static const struct filter_options none;
    struct filter_input in = {
        .bytes = f.bytes, .len = f.len, .name = "dir/perf.data", .options = &none, .open = filters_open};
    struct hpcprof *p = hpcprof_create();
    CHECK_INT(perf_data_convert(&in, p, NULL, NULL), 0);
    CHECK_STR(strtab_get(p->strings, p->processes[0].host), "node");
    CHECK_STR(strtab_get(p->strings, p->processes[0].command), "perf record");
    CHECK_STR(strtab_get(p->strings, p->processes[0].source_file), "perf.data");
    static const struct {
        const char *event;
        uint64_t value;
    } totals[] = {{"cycles lost", 8}, {"cycles throttled", 1}, {"cpu-clock lost", 30}};
    CHECK_INT(p->total_count, ARRAY_SIZE(totals));
    for (size_t i = 0; i < ARRAY_SIZE(totals) && i < p->total_count; i++) {
        CHECK_STR(strtab_get(p->strings, p->events[p->totals[i].event].name), totals[i].event);
        CHECK_INT(p->totals[i].value, totals[i].value);
        CHECK_INT(p->events[p->totals[i].event].flags, HPCPROF_LOST);
    }
    hpcprof_free(p);
    buf_release(&f);
    buf_release(&m.bytes);
}

/* Cut anywhere, it is an error with words. */
static void test_cut(void)
{
    struct made m = make(0, false);
    struct buf f = whole_file(&m);
    bool words = true;
    for (size_t n = 16; n < f.len; n++) {
        char *got = converted("perf", f.bytes, n, NULL);
        words = words && str_starts(got, "input, byte ");
        mem_free(got);
    }
    CHECK(words);
    char *got = converted("perf", f.bytes, 400, NULL);
    CHECK_STR(got, "input, byte 400: the file ends before its data; is it truncated?");
    mem_free(got);
    buf_release(&f);
    buf_release(&m.bytes);
}

/* Unnamed events get perf's names, by type and number. */
static void test_event_names(void)
{
    static const char *const names[2][11] = {
        {"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
         "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"},
        {"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults",
         "alignment-faults", "emulation-faults", "dummy"}};
    static const struct filter_options none;
    struct made m = make(0, false);
    struct buf f = whole_file(&m);
    for (uint32_t type = 0; type < 4; type++)
        for (uint64_t number = 0; number < 11; number++) {
            const char *name = type < 2 ? names[type][number] : NULL;
            char *want = name ? mem_strdup(name) : mem_printf("event %u:%x", type, (unsigned)number);
            struct filter_input in = {
                .bytes = f.bytes, .len = f.len, .name = "input", .options = &none, .open = filters_open};
            struct hpcprof *p = hpcprof_create();
            bool there = false;
            memcpy(f.bytes + 104, &type, 4);
            memcpy(f.bytes + 112, &number, 8);
            CHECK_INT(perf_data_convert(&in, p, NULL, NULL), 0);
            for (size_t i = 0; i < p->event_count; i++)
                there = there || strcmp(strtab_get(p->strings, p->events[i].name), want) == 0;
            CHECK_NAMED(there, want);
            hpcprof_free(p);
            mem_free(want);
        }
    buf_release(&f);
    buf_release(&m.bytes);
}

/* Each possible row size of the event table, from 64 bytes plus the location of the ids on. */
static void test_row_sizes(void)
{
    struct made m = make(0, false);
    struct buf f = whole_file(&m);
    unsigned wrong = 0;
    for (unsigned size = 0; size < 4200; size++) {
        memcpy(f.bytes + 16, &(uint64_t){size}, 8);
        char *got = converted("perf", f.bytes, f.len, NULL);
        bool damaged = strcmp(got, "input, byte 0: the header's table of events is damaged") == 0;
        wrong += damaged != (size < 64 + 16 || size > 4096);
        mem_free(got);
    }
    CHECK_INT(wrong, 0);
    buf_release(&f);
    buf_release(&m.bytes);
}

/* More threads and events at one place than a linear search handles: each keeps its own values, in order. */
static void test_crowd(void)
{
    enum { THREADS = 20, TIMES = 3 };
    struct made m = {.sample_type = IDENTIFIED};
    for (unsigned i = 0; i < TIMES * THREADS * 2; i++) {
        unsigned thread = i * 7 % THREADS, event = i / THREADS % 2;
        char *fields = mem_printf("%u 0x1010 4: 7 %u 8: %u %u", event ? 21u : 11u, 100 + thread, i + 1, 1000 + thread);
        record(&m, 9, USER, fields);
        mem_free(fields);
    }
    struct buf f = whole_file(&m);
    struct hpcprof *p = hpcprof_create();
    struct filter_options options = {0};
    struct filter_input in = {f.bytes, f.len, "crowd", &options, NULL, filters_open};
    CHECK_INT(perf_data_convert(&in, p, NULL, NULL), 0);
    hpcprof_finish(p);
    bool right = p->count_count == THREADS * 2, in_order = true;
    for (size_t i = 0; right && i < p->count_count; i++) {
        const struct hpcprof_count *c = &p->counts[i];
        right = c->thread == i / 2 && c->event == i % 2 && c->samples == TIMES && c->value == TIMES * (1000 + i / 2);
        in_order = in_order && p->threads[c->thread].number == i / 2;
    }
    CHECK(right && in_order);
    hpcprof_free(p);
    buf_release(&f);
    buf_release(&m.bytes);
}

/* Records in any order, of one round or of several, some of one time: they count in the order of time, those in the order of the file. */
static void check_drawn_order(void)
{
    enum { RECORDS = 40, OBJECTS = 5, OF_ROUND = 6 };
    struct {
        unsigned time, object; /* object 0: a sample */
        uint64_t period;
    } records[RECORDS], swap;
    struct made m = {.sample_type = IDENTIFIED};
    unsigned n = 2 + below(below(2) ? 5 : RECORDS - 1), samples[OBJECTS] = {0}, now = 0;
    uint64_t sums[OBJECTS] = {0};
    bool rounds = below(2); /* no record is more than one round late */
    struct buf want = {0};
    for (unsigned i = 0; i < n; i++) {
        unsigned least = rounds ? i / OF_ROUND * 10 + 2 : 2;
        records[i].time =
            i && below(2) ? records[i - 1].time + below(3) : least + below(18); /* runs that are in order */
        if (records[i].time < least || records[i].time > least + 17)
            records[i].time = least + below(18);
        records[i].object = i && below(3) == 0 ? 1 + below(OBJECTS - 1) : 0;
        records[i].period = 1 + below(100);
        char *fields =
            records[i].object
                ? mem_printf("4: 5 5 8: 0x1000 0x1000 0 '/no/m%u 4: 5 5 8: %u 11", records[i].object, records[i].time)
                : mem_printf("8: 11 0x1010 4: 5 5 8: %u %u", records[i].time, (unsigned)records[i].period);
        record(&m, records[i].object ? 1 : 9, USER, fields);
        mem_free(fields);
        if (rounds && i % OF_ROUND == OF_ROUND - 1)
            record(&m, 68, 0, "");
    }
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = i; k > 0 && records[k].time < records[k - 1].time; k--) {
            swap = records[k];
            records[k] = records[k - 1];
            records[k - 1] = swap;
        }
    for (unsigned i = 0; i < n; i++)
        if (records[i].object)
            now = records[i].object;
        else {
            sums[now] += records[i].period;
            samples[now]++;
        }
    buf_str(&want, "");
    for (unsigned i = 0; i < OBJECTS; i++)
        if (samples[i])
            buf_printf(&want, "%s%.0u - -:0 cycles %llu x%u\n", i ? "m" : "[unknown]", i, (unsigned long long)sums[i],
                       samples[i]);
    struct buf f = whole_file(&m);
    char *got = converted("perf", f.bytes, f.len, NULL);
    CHECK_STR(got, want.bytes);
    mem_free(got);
    buf_release(&f);
    buf_release(&want);
    buf_release(&m.bytes);
}

int main(void)
{
    test_rules();
    test_formats();
    test_pipe();
    test_pipe_names();
    test_build_ids();
    test_packed();
    test_packed_rounds();
    test_about();
    test_cut();
    test_event_names();
    test_row_sizes();
    test_crowd();
    for (int i = 0; i < 150; i++)
        check_drawn_order();
    return tap_done();
}
