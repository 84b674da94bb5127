/* SPDX-License-Identifier: BSD-3-Clause */
/* Random profiles compared with their data: files of callgrind and pprof in all notations, and perf's records. */
#include "filters/callgrind/callgrind.h"
#include "filters/formats.h"
#include "filters/perf/chain_cache.h"
#include "filters/perf/run.h"
#include "tests/chance.h"
#include "tests/fixtures/import_dump.h"

#include <math.h>

static bool chance(unsigned percent)
{
    return below(100) < percent;
}

/* ---- callgrind ------------------------------------------------------------------------------------------------------------------- */

enum { NAMES = 4, HERE = 3, CALLED = 0x1004, EVENTS = 4, STEPS = 60, SUMS = 400 };

struct sums { /* by words, in no order */
    char *words[SUMS], *behind[SUMS];
    uint64_t values[SUMS], more[SUMS];
    size_t count;
};

static void add_sum(struct sums *s, char *words, const char *behind, uint64_t value, uint64_t more)
{
    size_t i = 0;
    while (i < s->count && (strcmp(s->words[i], words) != 0 || strcmp(s->behind[i], behind) != 0))
        i++;
    if (i == s->count) {
        s->words[i] = mem_strdup(words);
        s->behind[i] = mem_strdup(behind);
        s->values[i] = s->more[i] = 0;
        s->count++;
    }
    s->values[i] += value;
    s->more[i] += more;
    mem_free(words);
}

/* A line each, sorted. */
static char *sorted_lines(struct sums *s, bool both)
{
    struct buf out = {0};
    char *lines[SUMS];
    for (size_t i = 0; i < s->count; i++) {
        lines[i] = both ? mem_printf("%s %llu %llu", s->words[i], (unsigned long long)s->values[i],
                                     (unsigned long long)s->more[i])
                        : mem_printf("%s %llu%s", s->words[i], (unsigned long long)s->values[i], s->behind[i]);
        mem_free(s->words[i]);
        mem_free(s->behind[i]);
    }
    qsort(lines, s->count, sizeof *lines, compare_text);
    buf_str(&out, "");
    for (size_t i = 0; i < s->count; i++) {
        buf_printf(&out, "%s\n", lines[i]);
        mem_free(lines[i]);
    }
    s->count = 0;
    return out.bytes;
}

struct spelling { /* of a file that is being written */
    struct buf text;
    bool numbered[3][NAMES]; /* names that have been given their numbers: objects, files, functions */
    bool addresses, cachegrind;
    unsigned events[EVENTS], event_count;
    unsigned object, file, own_file, function; /* NAMES: not written; 0: "???" */
    uint64_t address, line;
    unsigned thread; /* by the order of coming */
    unsigned threads[4], thread_count, thread_number;
    unsigned process; /* which file of a measurement it is */
};
static struct sums costs, edges;

static const char *const names[3][NAMES] = {{"???", "/no/heat", "lib.so", "/proc/self/exe"},
                                            {"???", "a.c", "/x/b.h", "(c).c"},
                                            {"???", "main", "f(int, char)", "op ="}};
static const char *const event_names[EVENTS] = {"Ir", "Dr", "I1mr", "x-y"};

static const char *shown(unsigned kind, unsigned name, const char *none)
{
    return name == 0 || name == NAMES ? none : kind == 0 ? path_base(names[0][name]) : names[kind][name];
}

static void put_name(struct spelling *s, const char *key, unsigned kind, unsigned name)
{
    bool numbered = s->numbered[kind][name];
    buf_printf(&s->text, "%s=%s", key, chance(10) ? " " : "");
    if (chance(30))
        buf_printf(&s->text, "%s", names[kind][name]);
    else if (numbered && chance(80))
        buf_printf(&s->text, "(%u)", name + 1);
    else {
        buf_printf(&s->text, "(%u)%s%s", name + 1, chance(90) ? " " : "", names[kind][name]);
        s->numbered[kind][name] = true;
    }
    buf_str(&s->text, chance(5) ? "\r\n" : "\n");
}

static void put_number(struct buf *b, uint64_t value)
{
    buf_printf(b, chance(20) ? "%#llx" : "%llu", (unsigned long long)value);
}

static void put_one_position(struct buf *b, uint64_t last, uint64_t now)
{
    if (now == last && chance(60))
        buf_str(b, "*");
    else if (chance(50)) {
        buf_str(b, now >= last ? "+" : "-");
        put_number(b, now >= last ? now - last : last - now);
    } else
        put_number(b, now);
    buf_str(b, chance(90) ? " " : " \t ");
}

static void put_position(struct spelling *s, uint64_t address, uint64_t line)
{
    if (s->addresses)
        put_one_position(&s->text, s->address, address);
    put_one_position(&s->text, s->line, line);
}

static void move(struct spelling *s)
{
    uint64_t address = chance(80) ? s->address + below(9) : 0x1000 + below(200), line = 1 + below(12);
    put_position(s, address, line);
    s->address = address;
    s->line = line;
}

static void settle_thread(struct spelling *s)
{
    unsigned i = 0;
    while (i < s->thread_count && s->threads[i] != s->thread_number)
        i++;
    if (i == s->thread_count)
        s->threads[s->thread_count++] = s->thread_number;
    s->thread = i;
}

/* "module procedure[@file] file:line", or the address where the object is on this machine */
static char *place_words(const struct spelling *s)
{
    if (s->object == HERE && s->addresses && s->address)
        return mem_printf("%s %llx", path_base(names[0][HERE]), (unsigned long long)s->address);
    const char *own = s->own_file != s->file && !s->cachegrind ? shown(1, s->own_file, "") : "";
    return mem_printf("%s %s%s%s %s:%llu", shown(0, s->object, s->cachegrind ? "prog" : "[unknown]"),
                      shown(2, s->function, "-"), *own ? "@" : "", own, shown(1, s->file, "-"),
                      (unsigned long long)s->line);
}

static uint64_t draw_cost(void)
{
    static const uint64_t sizes[] = {1, 10, 1000, 10000000, 100000000, 10000000000, 100000000000000000};
    return chance(15) ? 0 : random64() % sizes[below(ARRAY_SIZE(sizes))];
}

static unsigned put_costs(struct spelling *s, uint64_t *values)
{
    unsigned n = s->event_count - (chance(30) ? below(s->event_count + 1) : 0);
    for (unsigned i = 0; i < n; i++) {
        values[i] = draw_cost();
        if (s->cachegrind && values[i] == 0 && chance(50))
            buf_str(&s->text, ".");
        else
            put_number(&s->text, values[i]);
        buf_str(&s->text, i + 1 < n || chance(10) ? " " : "");
    }
    buf_str(&s->text, "\n");
    return n;
}

static void add_cost_line(struct spelling *s)
{
    uint64_t values[EVENTS];
    settle_thread(s);
    move(s);
    char behind[40] = "";
    if (s->thread || s->process)
        snprintf(behind, sizeof behind, " thread %u.%u ", s->process, s->thread);
    unsigned n = put_costs(s, values);
    for (unsigned i = 0; i < n; i++)
        if (values[i]) {
            char *place = place_words(s);
            add_sum(&costs, mem_printf("%s %s", place, event_names[s->events[i]]), behind, values[i], 0);
            mem_free(place);
        }
}

/* The callee's object and file default to the caller's. */
static void add_call_line(struct spelling *s)
{
    uint64_t values[EVENTS] = {0}, calls = 1 + below(1000), line = 1 + below(30);
    unsigned object = s->object, file = s->file, function = below(NAMES);
    if (chance(50))
        put_name(s, "cob", 0, object = below(NAMES));
    if (chance(50))
        put_name(s, chance(50) ? "cfi" : "cfl", 1, file = below(NAMES));
    put_name(s, "cfn", 2, function);
    buf_str(&s->text, "calls=");
    put_number(&s->text, calls);
    buf_str(&s->text, " ");
    put_position(s, CALLED, line);
    buf_str(&s->text, "\n");
    settle_thread(s);
    move(s);
    unsigned n = put_costs(s, values);
    char *place = place_words(s),
         *callee = s->addresses && object == HERE
                       ? mem_printf("%s %x", path_base(names[0][HERE]), CALLED)
                       : mem_printf("%s %s %s:%llu", shown(0, object, "[unknown]"), shown(2, function, "-"),
                                    shown(1, file, "-"), (unsigned long long)line);
    add_sum(&edges, mem_printf("%s > %s", place, callee), "", calls, n ? values[0] : 0);
    mem_free(callee);
    mem_free(place);
}

static void put_events(struct spelling *s, bool others)
{
    if (others) {
        unsigned first = below(EVENTS);
        s->event_count = 1 + below(EVENTS);
        for (unsigned i = 0; i < s->event_count; i++)
            s->events[i] = (first + i) % EVENTS;
    }
    buf_str(&s->text, "events:");
    for (unsigned i = 0; i < s->event_count; i++)
        buf_printf(&s->text, " %s", event_names[s->events[i]]);
    buf_str(&s->text, "\n");
}

static void begin_part(struct spelling *s, unsigned number)
{
    buf_printf(&s->text, "part: %u\n\ndesc: Trigger: none\n", number);
    put_events(s, chance(40));
    s->address = s->line = 0;
}

static void add_step(struct spelling *s, unsigned *parts)
{
    static const char *const nothing[] = {"\n",           "# a comment\n", "desc: 1 2 3\n",
                                          "summary: 1\n", "\r\n",          "event: Ir : x\n"};
    switch (below(14)) {
    case 0:
        if (!s->cachegrind)
            put_name(s, "ob", 0, s->object = below(NAMES));
        break;
    case 1:
        put_name(s, "fl", 1, s->file = s->own_file = below(NAMES));
        break;
    case 2:
        put_name(s, "fn", 2, s->function = below(NAMES));
        s->own_file = s->file;
        break;
    case 3:
        put_name(s, chance(50) ? "fi" : "fe", 1, s->file = below(NAMES));
        break;
    case 4:
        if (!s->cachegrind)
            add_call_line(s);
        break;
    case 5:
        buf_str(&s->text, nothing[below(s->cachegrind ? 3 : ARRAY_SIZE(nothing))]);
        break;
    case 6:
        if (!s->cachegrind && chance(30)) {
            s->thread_number = 1 + below(3);
            buf_printf(&s->text, "thread: %u\n", s->thread_number);
        } else if (!s->cachegrind && chance(30))
            begin_part(s, ++*parts);
        break;
    case 7:
        if (!s->cachegrind) { /* a jump that was never taken, and one with only line numbers */
            buf_printf(&s->text, s->addresses ? "jcnd=0/7 " : "jcnd=3/7 ");
            put_position(s, 0x1000, 3);
            buf_str(&s->text, "\n");
            settle_thread(s);
            move(s);
            buf_str(&s->text, "\n");
        }
        break;
    default:
        add_cost_line(s);
    }
}

/* As dump() has contexts. */
static char *found_edges(const struct hpcprof *p)
{
    const struct table *t = table_list_find(&p->tables, "call_edges");
    struct sums found = {.count = 0};
    for (size_t i = 0; t && i < table_row_count(t); i++) {
        const union table_cell *row = table_row(t, i);
        struct buf words = {0};
        dump_context(&words, p, row[0].row);
        buf_str(&words, " > ");
        dump_context(&words, p, row[1].row);
        add_sum(&found, words.bytes, "", row[2].count, row[3].count);
    }
    return sorted_lines(&found, true);
}

/* The text of a file. */
static void draw_callgrind(struct spelling *s, unsigned process)
{
    unsigned parts = 0;
    *s = (struct spelling){.addresses = chance(50),
                           .cachegrind = chance(25),
                           .object = NAMES,
                           .file = NAMES,
                           .own_file = NAMES,
                           .function = NAMES,
                           .process = process};
    s->addresses = s->addresses && !s->cachegrind;
    if (s->cachegrind)
        buf_str(&s->text, "desc: I1 cache: 1 B\ncmd: /no/prog 5 5\n");
    else
        buf_printf(&s->text, "# callgrind format\n%spositions: %sline\n", chance(50) ? "creator: callgrind-3.19\n" : "",
                   s->addresses ? "instr " : "");
    put_events(s, true);
    add_cost_line(s);
    for (unsigned i = 0; i < STEPS; i++)
        add_step(s, &parts);
    buf_str(&s->text, s->cachegrind ? "summary: 1\n" : "totals: 1\n");
}

/* One file, or two combined into one measurement. */
static void check_callgrind(unsigned files)
{
    static const struct filter_options none;
    struct hpcprof *p = hpcprof_create();
    for (unsigned i = 0; i < files; i++) {
        struct spelling s;
        struct err err = {0};
        draw_callgrind(&s, i);
        struct filter_input in = {
            .bytes = s.text.bytes, .len = s.text.len, .name = "input", .options = &none, .open = filters_open};
        CHECK_INT(filter_named(s.cachegrind ? "cachegrind" : "callgrind", NULL)->convert(&in, p, NULL, &err), 0);
        if (getenv("SHOW"))
            printf("%s", s.text.bytes);
        buf_release(&s.text);
    }
    hpcprof_finish(p);
    char *got = dump(p), *got_edges = found_edges(p), *want = sorted_lines(&costs, false),
         *want_edges = sorted_lines(&edges, true);
    CHECK_STR(got, want);
    CHECK_STR(got_edges, want_edges);
    bool twice = false; /* each place is one context */
    for (uint32_t i = 0; i < p->context_count; i++)
        for (uint32_t k = 0; k < i; k++)
            twice |= memcmp(&p->contexts[i], &p->contexts[k], sizeof *p->contexts) == 0;
    CHECK_NAMED(!twice, "each place once");
    mem_free(got);
    mem_free(got_edges);
    mem_free(want);
    mem_free(want_edges);
    hpcprof_free(p);
}

/* A file after another one with the same single place: the result has one place. */
static void check_same_place(void)
{
    static const char text[] =
        "# callgrind format\npositions: instr line\nevents: Ir\nob=/proc/self/exe\nfl=a.c\nfn=f\n0x1000 5 3\n";
    static const struct filter_options none;
    struct filter_input in = {
        .bytes = text, .len = strlen(text), .name = "input", .options = &none, .open = filters_open};
    struct hpcprof *p = hpcprof_create();
    for (int i = 0; i < 3; i++) {
        CHECK_INT(callgrind_convert(&in, p, NULL, NULL), 0);
        CHECK_INT(p->context_count, 1);
    }
    hpcprof_free(p);
}

/* ---- pprof ---------------------------------------------------------------------------------------------------------------------- */

enum { THINGS = 6, TYPES = 3, SAMPLES = 12, DEPTH = 5 };

struct pprof_drawn {
    struct buf bytes;
    struct {
        unsigned name, system_name, file;
    } functions[THINGS];
    unsigned mappings[THINGS]; /* files */
    struct {
        unsigned mapping, line_count;
        struct {
            unsigned function, line;
        } lines[3];
    } locations[THINGS];
    unsigned threads[3], thread_count;
};

/* Names of all kinds: 0 is no name. */
static const char *const texts[] = {"",        "f",   "_Zg",       "a.c",   "/x/b.c",      "/no/app", "lib.so",
                                    "samples", "cpu", "allocated", "count", "nanoseconds", "bytes",   "thread",
                                    "t1",      "t2",  "tid",       "color", "red"};
enum {
    FIRST_PLACE = 1,
    PLACES = 6,
    FIRST_TYPE = 7,
    FIRST_UNIT = 10,
    KEY_THREAD = 13,
    THREAD = 14,
    KEY_TID = 16,
    KEY_COLOR = 17,
    RED
};

static void put_varint(struct buf *b, unsigned field, uint64_t value)
{
    if (value || chance(30)) { /* missing fields are 0 */
        buf_uleb(b, field << 3);
        buf_uleb(b, value);
    }
}

static void put_part(struct buf *b, unsigned field, struct buf *part)
{
    buf_uleb(b, field << 3 | 2);
    buf_uleb(b, part->len);
    if (part->len)
        buf_add(b, part->bytes, part->len);
    buf_release(part);
}

/* Unknown fields of each wire type. */
static void put_unknown(struct buf *b)
{
    struct buf part = {0};
    switch (below(8)) {
    case 0:
        put_varint(b, 20, 7);
        break;
    case 1:
        buf_str(&part, "any");
        put_part(b, 21, &part);
        break;
    case 2:
        buf_uleb(b, 22 << 3 | 1);
        buf_u64(b, 5);
        break;
    case 3:
        buf_uleb(b, 23 << 3 | 5);
        buf_u32(b, 5);
        break;
    default:
        break;
    }
}

static void put_numbers(struct buf *b, unsigned field, const uint64_t *values, unsigned n)
{
    struct buf packed = {0};
    unsigned loose = chance(50) ? n : below(n + 1);
    for (unsigned i = 0; i < loose; i++) {
        buf_uleb(b, field << 3);
        buf_uleb(b, values[i]);
    }
    for (unsigned i = loose; i < n; i++)
        buf_uleb(&packed, values[i]);
    if (loose < n)
        put_part(b, field, &packed);
}

static void draw_tables(struct pprof_drawn *d)
{
    struct buf part = {0}, line = {0};
    for (unsigned i = 1; i < THINGS; i++) {
        d->functions[i].name = chance(70) ? FIRST_PLACE + below(PLACES) : 0;
        d->functions[i].system_name = chance(70) ? FIRST_PLACE + below(PLACES) : 0;
        d->functions[i].file = chance(70) ? FIRST_PLACE + below(PLACES) : 0;
        put_varint(&part, 4, d->functions[i].file);
        put_unknown(&part);
        put_varint(&part, 3, d->functions[i].system_name);
        put_varint(&part, 1, i * 1000);
        put_varint(&part, 2, d->functions[i].name);
        put_varint(&part, 5, 77);
        put_part(&d->bytes, 5, &part);
        d->mappings[i] = chance(80) ? FIRST_PLACE + below(PLACES) : 0;
        put_varint(&part, 1, i);
        put_varint(&part, 2, 0x1000);
        put_varint(&part, 5, d->mappings[i]);
        put_varint(&part, 6, 3);
        put_part(&d->bytes, 3, &part);
        put_unknown(&d->bytes);
    }
    for (unsigned i = 1; i < THINGS; i++) {
        d->locations[i].mapping = below(THINGS);
        d->locations[i].line_count = below(4);
        put_varint(&part, 2, d->locations[i].mapping);
        put_varint(&part, 3, 0x1234);
        for (unsigned k = 0; k < d->locations[i].line_count; k++) {
            d->locations[i].lines[k].function = below(THINGS);
            d->locations[i].lines[k].line = below(50);
            put_varint(&line, 2, d->locations[i].lines[k].line);
            put_varint(&line, 1, d->locations[i].lines[k].function * 1000);
            put_varint(&line, 3, 9);
            put_part(&part, 4, &line);
            put_unknown(&part);
        }
        put_varint(&part, 1, i + 3);
        put_varint(&part, 5, 1);
        put_part(&d->bytes, 4, &part);
    }
}

static const char *module_words(const struct pprof_drawn *d, unsigned mapping)
{
    const char *file = mapping ? texts[d->mappings[mapping]] : "";
    return *file ? path_base(file) : "[unknown]";
}

/* " < module function file:line" of each line, the innermost first. */
static void add_location_words(struct buf *words, const struct pprof_drawn *d, unsigned location)
{
    const char *module = module_words(d, d->locations[location].mapping);
    if (d->locations[location].line_count == 0)
        buf_printf(words, "%s%s - -:0", words->len ? " < " : "", module);
    for (unsigned k = 0; k < d->locations[location].line_count; k++) {
        unsigned f = d->locations[location].lines[k].function,
                 name = f ? d->functions[f].name ? d->functions[f].name : d->functions[f].system_name : 0;
        buf_printf(words, "%s%s %s %s:%u", words->len ? " < " : "", module, name ? texts[name] : "-",
                   f && d->functions[f].file ? texts[d->functions[f].file] : "-", d->locations[location].lines[k].line);
    }
}

static void put_label(struct buf *sample, unsigned key, unsigned text, unsigned number)
{
    struct buf label = {0};
    put_varint(&label, 3, number);
    put_varint(&label, 1, key);
    put_varint(&label, 2, text);
    put_varint(&label, 4, FIRST_UNIT);
    put_part(sample, 3, &label);
}

/* The number of the thread with this name: in the order of the labels. */
static unsigned thread_named(struct pprof_drawn *d, unsigned name)
{
    unsigned i = 0;
    while (i < d->thread_count && d->threads[i] != name)
        i++;
    if (i == d->thread_count)
        d->threads[d->thread_count++] = name;
    return i + 1;
}

/* " thread 0.N NAME" and " in REGION" as the labels have them; the last of a kind counts. */
static void draw_labels(struct pprof_drawn *d, struct buf *sample, char behind[80])
{
    char thread[40] = "";
    if (chance(40)) {
        unsigned name = THREAD + below(2);
        put_label(sample, chance(50) ? KEY_THREAD : KEY_TID, name, 0);
        snprintf(thread, sizeof thread, " thread 0.%u %s", thread_named(d, name), texts[name]);
    }
    if (chance(20)) {
        put_label(sample, KEY_TID, 0, 7);
        snprintf(thread, sizeof thread, " thread 0.%u 7", thread_named(d, 0));
    }
    bool red = chance(30);
    if (red)
        put_label(sample, KEY_COLOR, RED, 0);
    if (chance(30)) /* a number is not a region */
        put_label(sample, KEY_COLOR, 0, 5);
    snprintf(behind, 80, "%s%s", thread, red ? " in color=red" : "");
}

static void draw_sample(struct pprof_drawn *d, const unsigned *types, unsigned type_count)
{
    uint64_t ids[DEPTH], values[TYPES + 1];
    unsigned depth = below(DEPTH), n = below(TYPES + 2);
    struct buf sample = {0}, words = {0};
    char behind[80];
    for (unsigned i = 0; i < depth; i++) {
        ids[i] = 1 + below(THINGS - 1);
        add_location_words(&words, d, (unsigned)ids[i]);
        ids[i] += 3;
    }
    for (unsigned i = 0; i < n; i++)
        values[i] = chance(15) ? (uint64_t)-5 : chance(15) ? 0 : draw_cost();
    draw_labels(d, &sample, behind);
    put_numbers(&sample, 2, values, n);
    put_unknown(&sample);
    put_numbers(&sample, 1, ids, depth);
    buf_str(&words, depth ? "" : "[unknown] - -:0");
    size_t first = strcspn(words.bytes, "<") == words.len ? words.len : strcspn(words.bytes, "<") - 1;
    for (unsigned i = 0; i < n && i < type_count; i++)
        if ((int64_t)values[i] > 0) {
            char *after = mem_printf("%s%s", behind, words.bytes + first);
            add_sum(&costs, mem_printf("%.*s %s", (int)first, words.bytes, texts[types[i]]), after, values[i], 0);
            mem_free(after);
        }
    buf_release(&words);
    put_part(&d->bytes, 2, &sample);
}

static void check_pprof(void)
{
    struct pprof_drawn d = {.thread_count = 0};
    struct buf part = {0};
    unsigned types[TYPES], type_count = 1 + below(TYPES);
    for (unsigned i = 0; i < type_count; i++) {
        types[i] = FIRST_TYPE + i;
        put_varint(&part, 2, FIRST_UNIT + below(3));
        put_varint(&part, 1, types[i]);
        put_part(&d.bytes, 1, &part);
    }
    draw_tables(&d);
    for (unsigned i = 0; i < SAMPLES; i++)
        draw_sample(&d, types, type_count);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        buf_str(&part, texts[i]);
        put_part(&d.bytes, 6, &part);
    }
    char *want = sorted_lines(&costs, false), *got = converted("pprof", d.bytes.bytes, d.bytes.len, NULL);
    CHECK_STR(got, want);
    mem_free(want);
    mem_free(got);
    buf_release(&d.bytes);
}

/* ---- perf's records, compared with a table of the addresses of each process -------------------------------------- */

enum {
    PROCESSES = 4,
    TIDS = 3,
    ADDRESSES = 48,
    OBJECTS = 5,
    VDSO = 3,           /* of objects */
    UNKNOWN_SYMBOL = 3, /* of symbols */
    NEVER_MAPPED = OBJECTS,
    RECORDS = 70,
    FRAMES = 4,
    PATH_EVENTS = 12
};

struct perf_drawn {
    struct {
        unsigned object;                 /* 0: not mapped */
        uint64_t address;                /* in its file */
    } mapped[PROCESSES][ADDRESSES];      /* never at 0 */
    const char *names[PROCESSES * TIDS]; /* of threads, by tid; NULL: unknown */
    struct {
        unsigned process, tid;
        const char *name; /* its name when first seen */
    } seen[PROCESSES * TIDS];
    unsigned seen_count;
    unsigned without_mapping, without_binary, all;
};

static const char *const objects[OBJECTS + 1] = {"", "/no/a", "/no/b c", "[vdso]", "/no/d.so", "/no/e"};
static const char *const symbols[] = {"", "f", "g(int)", "[unknown]"};
static const char *const thread_names[] = {"one", "two", "three"};

/* As in dump(): "MODULE FUNCTION -:0", or an address outside of files. *placed: 0, or 1 without a mapping, 2 without
   its binary. */
static char *frame_words(const struct perf_drawn *d, unsigned process, uint64_t ip, bool caller, unsigned symbol,
                         unsigned object, unsigned *placed)
{
    ip -= caller && ip;
    unsigned own = d->mapped[process][ip].object;
    *placed = 0;
    if (own == VDSO)
        return mem_printf("[vdso] %llx", (unsigned long long)d->mapped[process][ip].address);
    const char *path = objects[own ? own : object];
    *placed = *path != '/' ? 0 : own ? 2 : 1;
    return mem_printf("%s %s -:0", *path ? path_base(path) : "[unknown]",
                      symbol == 0 || symbol == UNKNOWN_SYMBOL ? "-" : symbols[symbol]);
}

static void draw_map(struct perf_drawn *d, struct perf_run *r)
{
    unsigned process = below(PROCESSES), begin = 1 + below(ADDRESSES - 1), end = begin + below(ADDRESSES - begin + 1),
             object = 1 + below(OBJECTS - 1);
    uint64_t offset = below(1000);
    perf_run_map(r, 100 + process,
                 &(struct perf_mapping){begin, end, offset, strtab_add(perf_run_strings(r), objects[object]), 0});
    for (unsigned i = begin; i < end; i++) {
        d->mapped[process][i].object = object;
        d->mapped[process][i].address = offset + (i - begin);
    }
}

static void draw_fork(struct perf_drawn *d, struct perf_run *r)
{
    unsigned child = below(PROCESSES), parent = below(PROCESSES), tid = below(PROCESSES * TIDS),
             from = below(PROCESSES * TIDS);
    perf_run_fork(r, 100 + child, tid, 100 + parent, from);
    d->names[tid] = d->names[from] ? d->names[from] : d->names[tid];
    if (child != parent)
        memcpy(d->mapped[child], d->mapped[parent], sizeof d->mapped[child]);
}

static void draw_name(struct perf_drawn *d, struct perf_run *r)
{
    unsigned process = below(PROCESSES), tid = below(PROCESSES * TIDS);
    bool exec = chance(30);
    d->names[tid] = thread_names[below(ARRAY_SIZE(thread_names))];
    perf_run_name(r, 100 + process, tid, d->names[tid], exec);
    if (exec)
        memset(d->mapped[process], 0, sizeof d->mapped[process]);
}

static void see(struct perf_drawn *d, unsigned process, unsigned tid)
{
    for (unsigned i = 0; i < d->seen_count; i++)
        if (d->seen[i].process == process && d->seen[i].tid == tid)
            return;
    d->seen[d->seen_count].process = process;
    d->seen[d->seen_count].tid = tid;
    d->seen[d->seen_count++].name = d->names[tid];
}

/* The words of a sum include the index of its thread among those seen, because the numbers are known only at the
   end. */
static void draw_perf_sample(struct perf_drawn *d, struct perf_run *r)
{
    struct perf_frame frames[FRAMES];
    unsigned process = below(PROCESSES), tid = process * TIDS + below(TIDS), count = below(FRAMES + 1), placed = 0,
             event = chance(90) ? below(3) : below(PATH_EVENTS - 1);
    struct buf words = {0};
    char name[8];
    snprintf(name, sizeof name, "e%u", event);
    for (unsigned i = 0; i < count; i++) {
        unsigned symbol = below(ARRAY_SIZE(symbols)), object = chance(30) ? NEVER_MAPPED : 0, ignored;
        frames[i] = (struct perf_frame){.ip = 1 + below(ADDRESSES - 1),
                                        .symbol = strtab_add(perf_run_strings(r), symbols[symbol]),
                                        .object = strtab_add(perf_run_strings(r), objects[object])};
        char *frame = frame_words(d, process, frames[i].ip, i > 0, symbol, object, i ? &ignored : &placed);
        buf_printf(&words, i ? " < %s" : "%s", frame);
        mem_free(frame);
    }
    buf_str(&words, count ? "" : "[unknown] - -:0");
    size_t first = strcspn(words.bytes, "<") == words.len ? words.len : strcspn(words.bytes, "<") - 1;
    uint64_t period = 1 + below(1000), weight = 1 + below(50);
    struct perf_sample sample = {.pid = 100 + process,
                                 .tid = tid,
                                 .event = perf_run_event(r, name),
                                 .period = period,
                                 .frames = frames,
                                 .frame_count = count};
    perf_run_sample(r, &sample);
    see(d, process, tid);
    d->all++;
    d->without_mapping += placed == 1;
    d->without_binary += placed == 2;
    char *behind = mem_printf("%u,%u%s", process, tid, words.bytes + first);
    add_sum(&costs, mem_printf("%.*s %s", (int)first, words.bytes, name), behind, period, 1);
    if (chance(15)) {
        perf_run_extra(r, &sample, "weight", "cycles", weight);
        add_sum(&costs, mem_printf("%.*s %s weight", (int)first, words.bytes, name), behind, weight, 0);
    }
    mem_free(behind);
    buf_release(&words);
}

/* " thread P.N NAME", but for the first thread of all: processes and threads are in the order of their numbers. */
static char *thread_words(const struct perf_drawn *d, unsigned process, unsigned tid)
{
    unsigned before[PROCESSES] = {0}, number = 0, processes = 0;
    const char *name = NULL;
    for (unsigned i = 0; i < d->seen_count; i++) {
        before[d->seen[i].process] = 1;
        number += d->seen[i].process == process && d->seen[i].tid < tid;
        if (d->seen[i].process == process && d->seen[i].tid == tid)
            name = d->seen[i].name;
    }
    for (unsigned i = 0; i < process; i++)
        processes += before[i];
    return processes + number == 0 ? mem_strdup("")
                                   : mem_printf(" thread %u.%u %s", processes, number, name ? name : "");
}

static char *perf_wanted(const struct perf_drawn *d)
{
    for (size_t i = 0; i < costs.count; i++) { /* thread numbers are replaced by their descriptions */
        unsigned process, tid;
        int n;
        if (sscanf(costs.behind[i], "%u,%u%n", &process, &tid, &n) != 2)
            exit(99);
        char *thread = thread_words(d, process, tid),
             *behind = costs.more[i]
                           ? mem_printf(" x%llu%s%s", (unsigned long long)costs.more[i], thread, costs.behind[i] + n)
                           : mem_printf("%s%s", thread, costs.behind[i] + n);
        mem_free(costs.behind[i]);
        mem_free(thread);
        costs.behind[i] = behind;
    }
    return sorted_lines(&costs, false);
}

static void check_share(const struct warnings *w, size_t at, unsigned count, unsigned all, const char *why)
{
    char *said = mem_printf("input: %.1f%% of the samples are by function only, because %s", 100.0 * count / all, why);
    CHECK_NAMED(warnings_count(w) > at && str_starts(warnings_get(w, at), said), said);
    mem_free(said);
}

static void check_perf(void)
{
    struct perf_drawn d = {.all = 0};
    struct hpcprof *p = hpcprof_create();
    struct perf_run *r = perf_run_create(p, &(struct filter_input){.name = "input", .open = filters_open});
    struct warnings *w = warnings_create();
    struct err err = {0};
    for (unsigned i = 0; i < RECORDS; i++)
        switch (below(10)) {
        case 0:
        case 1:
            draw_map(&d, r);
            break;
        case 2:
            draw_fork(&d, r);
            break;
        case 3:
            draw_name(&d, r);
            break;
        default:
            draw_perf_sample(&d, r);
        }
    CHECK_INT(perf_run_finish(r, "", w, &err), 0);
    hpcprof_finish(p);
    char *got = dump(p), *want = perf_wanted(&d);
    CHECK_STR(got, want);
    CHECK_INT(warnings_count(w), (d.without_mapping > 0) + (d.without_binary > 0));
    if (d.without_mapping)
        check_share(w, 0, d.without_mapping, d.all, "the file has no mappings for them");
    if (d.without_binary)
        check_share(w, d.without_mapping > 0, d.without_binary, d.all, "their binaries are not on this machine");
    mem_free(got);
    mem_free(want);
    warnings_free(w);
    perf_run_free(r);
    hpcprof_free(p);
}

/* If perf names the object of an address and the process has no mapping there, that of its parent may apply. */
static void check_forked(void)
{
    static const struct {
        const char *object, *want;
        uint64_t ip;
    } cases[] = {{"/no/a", "a f -:0 e 1 x1\n", 0x1010}, {"[vdso]", "[vdso] 20 e 1 x1\n", 0x2010},
                 {"/no/b", "b f -:0 e 1 x1\n", 0x1010}, {"[vdso]", "[vdso] f -:0 e 1 x1\n", 0x1010},
                 {"/no/a", "a f -:0 e 1 x1\n", 0x2010}, {"", "[unknown] f -:0 e 1 x1\n", 0x1010}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct hpcprof *p = hpcprof_create();
        struct perf_run *r = perf_run_create(p, &(struct filter_input){.name = "input", .open = filters_open});
        struct warnings *w = warnings_create();
        struct strtab *strings = perf_run_strings(r);
        perf_run_map(r, 7, &(struct perf_mapping){0x2000, 0x2100, 0x10, strtab_add(strings, "[vdso]"), 0});
        perf_run_map(r, 8, &(struct perf_mapping){0x1000, 0x1100, 0, strtab_add(strings, "/no/a"), 0});
        struct perf_frame f = {
            .ip = cases[i].ip, .symbol = strtab_add(strings, "f"), .object = strtab_add(strings, cases[i].object)};
        perf_run_sample(
            r, &(struct perf_sample){
                   .pid = 9, .tid = 9, .event = perf_run_event(r, "e"), .period = 1, .frames = &f, .frame_count = 1});
        CHECK_INT(perf_run_finish(r, "", w, NULL), 0);
        hpcprof_finish(p);
        char *got = dump(p);
        CHECK_STR(got, cases[i].want);
        mem_free(got);
        warnings_free(w);
        perf_run_free(r);
        hpcprof_free(p);
    }
}

/* ---- hash tables ------------------------------------------------------------------------------------------------- */

static size_t longest_run(const struct chain_cache *t)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < t->capacity; i++) {
        run = t->slots[i].process != CHAIN_STEP_NONE ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Steps that differ in one field are distinguished and have different hashes; otherwise look-ups would be linear. */
static void check_steps(void)
{
    enum { PUT = 3000, FIELDS = 4 };
    for (unsigned field = 0; field < FIELDS; field++) {
        struct chain_cache t = {0};
        bool is_new, right = true;
        for (uint32_t i = 0; i < 2 * PUT; i++) {
            uint32_t n = i % PUT / 2, of[FIELDS] = {n * (field == 0), n * (field == 1), n * (field == 2), 0};
            struct chain_step s = {.ip = field == 3 ? 0x1000 + 4096 * (uint64_t)n : 0x1000,
                                   .parent = of[0],
                                   .process = of[1],
                                   .found = of[2] & INT32_MAX,
                                   .caller = i & 1,
                                   .context = i};
            chain_cache_reserve(&t, 1);
            right = right && chain_cache_put(&t, &s, &is_new)->context == i % PUT && is_new == (i < PUT);
        }
        CHECK(right && t.count == PUT && t.count <= t.capacity / 4 * 3);
        CHECK_NAMED(longest_run(&t) < PUT / 10, "steps lie apart");
        chain_cache_release(&t);
    }
}

/* The outermost frames of too deep a stack are dropped; its leaf and its sum are kept. */
static void check_deep_stack(void)
{
    struct buf text = {0};
    struct filter_options none = {0};
    struct err err = {0};
    for (unsigned i = 0; i < LIMIT_PATH_DEPTH + 5; i++)
        buf_printf(&text, "%sf%u", i ? ";" : "", i);
    buf_str(&text, " 7\n");
    struct hpcprof *p = hpcprof_create();
    struct filter_input in = {
        .bytes = text.bytes, .len = text.len, .name = "input", .options = &none, .open = filters_open};
    struct warnings *warnings = warnings_create();
    CHECK_INT(folded_convert(&in, p, warnings, &err), 0);
    hpcprof_finish(p);
    CHECK_STR(warnings_get(warnings, 0), "input: 1 stacks have more than 1024 frames; the outermost ones are left out");
    warnings_free(warnings);
    CHECK_INT(p->counts[0].value, 7);
    char *last = mem_printf("f%u", LIMIT_PATH_DEPTH + 4);
    CHECK_INT(p->context_count, LIMIT_PATH_DEPTH);
    CHECK_STR(strtab_get(p->strings, p->contexts[p->counts[0].context].procedure), last);
    mem_free(last);
    hpcprof_free(p);
    buf_release(&text);
}

int main(void)
{
    for (unsigned i = 0; i < 150; i++)
        check_callgrind(1 + (i % 5 == 0));
    check_same_place();
    for (int i = 0; i < 100; i++)
        check_pprof();
    for (int i = 0; i < 150; i++)
        check_perf();
    check_forked();
    check_steps();
    check_deep_stack();
    return tap_done();
}
