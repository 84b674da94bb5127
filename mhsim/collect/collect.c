/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what the simulated process counted to a measurement: rows become counts of contexts, and tables:
 *
 *     objects           what there was to refer to: static symbols, stacks, heap blocks by who asked for them
 *     references        per reference, object and level: everything that is counted
 *     arrays            per object and level: the same
 *     evictors          whose blocks were thrown out by whom: references
 *     array_evictors    the same: objects
 */
#include "config.h"
#include "mhsim/collect/collect.h"
#include "hpcprof/hpcprof.h"
#include "support/demangle.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the file ------------------------------------------------------------------------ */

struct raw {
    struct filemap file;
    const struct raw_head *head;
    const struct mhsim_row *rows;
    const struct mhsim_pair *pairs;
    const struct raw_object *objects;
    const struct raw_module *modules;
    const struct raw_thread *threads;
    uint64_t count[RAW_TABLES];
};

/* A table as far as the file goes. */
static const void *table_of(struct raw *r, enum raw_table i, size_t size, uint64_t most)
{
    uint64_t at = RAW_TABLE_AT(i), fits = r->file.len > at ? (r->file.len - at) / size : 0;
    uint64_t count = r->head->counts[i];
    count = count < most ? count : most;
    r->count[i] = count < fits ? count : fits;
    return r->file.bytes + at;
}

static bool text_ends(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

static bool machine_is_one(const struct machine_memory *from)
{
    struct machine_memory m = *from;
    bool texts = text_ends(m.name, sizeof m.name);
    for (uint32_t i = 0; i < MACHINE_LEVELS; i++)
        texts = texts && text_ends(m.levels[i].name, sizeof m.levels[i].name);
    return texts && machine_memory_check(&m, "", NULL) == 0;
}

/* The process wrote it, and may have written anything else over it: every index is looked at. */
static bool raw_check(const struct raw *r)
{
    const struct raw_head *h = r->head;
    if (!text_ends(h->execs, sizeof h->execs) || !text_ends(h->command, sizeof h->command) ||
        !machine_is_one(&h->orders.machine) || r->count[RAW_ROWS] == 0 || r->count[RAW_OBJECTS] == 0)
        return false;
    for (uint64_t i = 0; i < r->count[RAW_MODULES]; i++)
        if (!text_ends(r->modules[i].path, RAW_PATH) || !text_ends(r->modules[i].build_id, RAW_BUILD_ID))
            return false;
    for (uint64_t i = 0; i < r->count[RAW_OBJECTS]; i++)
        if (!text_ends(r->objects[i].name, RAW_NAME) || r->objects[i].kind > RAW_MODULE_DATA ||
            ((r->objects[i].kind == RAW_STATIC || r->objects[i].kind == RAW_MODULE_DATA) &&
             r->objects[i].module >= r->count[RAW_MODULES]))
            return false;
    for (uint64_t i = 0; i < r->count[RAW_ROWS]; i++)
        if (r->rows[i].object >= r->count[RAW_OBJECTS] || r->rows[i].core >= MHSIM_CORES)
            return false;
    for (uint64_t i = 0; i < r->count[RAW_PAIRS]; i++)
        if (r->pairs[i].victim >= r->count[RAW_ROWS] || r->pairs[i].evictor >= r->count[RAW_ROWS] ||
            r->pairs[i].level >= MACHINE_LEVELS)
            return false;
    return true;
}

static int raw_open(struct raw *r, const char *path, struct err *err)
{
    memset(r, 0, sizeof *r);
    if (filemap_open(&r->file, path, err) < 0)
        return -1;
    r->head = (const void *)r->file.bytes;
    bool good = r->file.len >= RAW_HEAD_BYTES && r->head->magic == RAW_MAGIC && r->head->size == RAW_SIZES;
    if (good) {
        r->rows = table_of(r, RAW_ROWS, sizeof *r->rows, 1 << 20);
        r->pairs = table_of(r, RAW_PAIRS, sizeof *r->pairs, 1 << 22);
        r->objects = table_of(r, RAW_OBJECTS, sizeof *r->objects, RAW_OBJECTS_MOST);
        r->modules = table_of(r, RAW_MODULES, sizeof *r->modules, RAW_MODULES_MOST);
        r->threads = table_of(r, RAW_THREADS, sizeof *r->threads, RAW_THREADS_MOST);
        good = raw_check(r);
    }
    if (good)
        return 0;
    filemap_release(&r->file);
    return err_set(err, ERR_FORMAT,
                   "the counts of process %s were overwritten, or its simulator is from another version of hpcview",
                   path_base(path));
}

/* ---- making the measurement ----------------------------------------------------------------- */

enum column {
    ACCESSES,
    MISSES,
    TEMPORAL,
    COLD,
    CONFLICT,
    DISTINCT,
    EVICTIONS,
    USED,
    WRITE_BACKS,
    INVALIDATED,
    PREFETCHED,
    COUNTS
};

#define COUNT_COLUMNS                                                                                                  \
    {.name = "accesses", .type = TABLE_COUNT, .merge = TABLE_SUM},                                                     \
        {.name = "misses", .type = TABLE_COUNT, .merge = TABLE_SUM},                                                   \
        {.name = "temporal",                                                                                           \
         .title = "temporal hits",                                                                                     \
         .type = TABLE_COUNT,                                                                                          \
         .merge = TABLE_SUM,                                                                                           \
         .description = "Hits on bytes that were accessed since the cache line was loaded."},                          \
        {.name = "cold", .title = "cold misses", .type = TABLE_COUNT, .merge = TABLE_SUM},                             \
        {.name = "conflict",                                                                                           \
         .title = "conflict misses",                                                                                   \
         .type = TABLE_COUNT,                                                                                          \
         .merge = TABLE_SUM,                                                                                           \
         .description = "Misses that a fully associative level of the same size would not have; with --classify."},    \
        {.name = "distinct", .title = "distinct cache lines", .type = TABLE_COUNT, .merge = TABLE_SUM},                \
        {.name = "evictions", .title = "evicted cache lines", .type = TABLE_COUNT, .merge = TABLE_SUM},                \
        {.name = "used",                                                                                               \
         .title = "used bytes",                                                                                        \
         .unit = "bytes",                                                                                              \
         .type = TABLE_COUNT,                                                                                          \
         .merge = TABLE_SUM,                                                                                           \
         .description = "Bytes of the evicted cache lines that were accessed."},                                       \
        {.name = "write_backs", .title = "write-backs", .type = TABLE_COUNT, .merge = TABLE_SUM},                      \
        {.name = "invalidated",                                                                                        \
         .title = "invalidated",                                                                                       \
         .type = TABLE_COUNT,                                                                                          \
         .merge = TABLE_SUM,                                                                                           \
         .description = "Evictions by another thread's store to the cache line."},                                     \
    {                                                                                                                  \
        .name = "prefetched", .title = "prefetched in time", .type = TABLE_COUNT, .merge = TABLE_SUM                   \
    }

static const struct table_column level_columns[] = {
    {.name = "level", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "line", .title = "bytes of a cache line", .unit = "bytes", .type = TABLE_COUNT, .merge = TABLE_MAX},
    {.name = "order",
     .type = TABLE_COUNT,
     .merge = TABLE_MIN,
     .description = "Position of the level: caches, then TLBs."},
};
static const struct table_column object_columns[] = {
    {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "kind", .type = TABLE_TEXT, .merge = TABLE_KEY, .description = "static, stack, heap, module data, other"},
    {.name = "where", .title = "allocated at", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
    {.name = "bytes", .unit = "bytes", .type = TABLE_COUNT, .merge = TABLE_MAX, .description = "Of the largest block."},
    {.name = "blocks", .type = TABLE_COUNT, .merge = TABLE_SUM},
};
static const struct table_column reference_columns[] = {
    {.name = "reference", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
    {.name = "object", .title = "array", .type = TABLE_REF, .refers = "objects", .merge = TABLE_KEY},
    {.name = "level", .type = TABLE_REF, .refers = "levels", .merge = TABLE_KEY},
    COUNT_COLUMNS,
};
static const struct table_column array_columns[] = {
    {.name = "object", .title = "array", .type = TABLE_REF, .refers = "objects", .merge = TABLE_KEY},
    {.name = "where", .title = "allocated at", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
    {.name = "level", .type = TABLE_REF, .refers = "levels", .merge = TABLE_KEY},
    COUNT_COLUMNS,
};
static const struct table_column evictor_columns[] = {
    {.name = "victim", .title = "victim", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
    {.name = "victim_object", .title = "victim's array", .type = TABLE_REF, .refers = "objects", .merge = TABLE_KEY},
    {.name = "evictor", .title = "by", .type = TABLE_REF, .refers = "context", .merge = TABLE_KEY},
    {.name = "evictor_object", .title = "on array", .type = TABLE_REF, .refers = "objects", .merge = TABLE_KEY},
    {.name = "level", .type = TABLE_REF, .refers = "levels", .merge = TABLE_KEY},
    {.name = "blocks", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "invalidated", .title = "of these by another thread's store", .type = TABLE_COUNT, .merge = TABLE_SUM},
};
static const struct table_column array_evictor_columns[] = {
    {.name = "victim", .title = "victim", .type = TABLE_REF, .refers = "objects", .merge = TABLE_KEY},
    {.name = "evictor", .title = "by", .type = TABLE_REF, .refers = "objects", .merge = TABLE_KEY},
    {.name = "level", .type = TABLE_REF, .refers = "levels", .merge = TABLE_KEY},
    {.name = "blocks", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "invalidated", .title = "of these by another thread's store", .type = TABLE_COUNT, .merge = TABLE_SUM},
};

enum { LEVELS, OBJECTS, REFERENCES, ARRAYS, EVICTORS, ARRAY_EVICTORS, TABLES };

#define DECLARE(n, t, d, c)                                                                                            \
    {                                                                                                                  \
        .name = n, .title = t, .description = d, .columns = c, .column_count = ARRAY_SIZE(c)                           \
    }
static const struct table_decl declarations[TABLES] = {
    DECLARE("levels", "Levels of the simulated memory", NULL, level_columns),
    DECLARE("objects", "Objects", "Arrays and other memory accessed by references.", object_columns),
    DECLARE("references", "References", "Accesses and misses of each reference at each level of the simulated memory.",
            reference_columns),
    DECLARE("arrays", "Arrays", "Accesses and misses of each array at each level of the simulated memory.",
            array_columns),
    DECLARE("evictors", "Evictors", "Cache lines evicted, by evicting reference and victim.", evictor_columns),
    DECLARE("array_evictors", "Evictors of arrays",
            "Cache lines evicted, by the array of the evicting reference and victim.", array_evictor_columns),
};

struct collector {
    const struct raw *raw;
    struct hpcprof *p;
    struct table *tables[TABLES];
    uint32_t first_thread;
    uint32_t *contexts, *objects, *sites, *modules; /* rows of the measurement by rows of the raw file */
    uint32_t levels[MACHINE_LEVELS];
    uint64_t factor; /* weight of a count: 1 if everything was simulated */
    uint32_t nowhere, heaps;
};

static str_id text(struct collector *m, const char *s)
{
    return strtab_add(m->p->strings, s);
}

static uint32_t context_of(struct collector *m, uint64_t code)
{
    const struct raw *r = m->raw;
    struct hpcprof_context c = {.parent = HPCPROF_NO_PARENT, .module = m->nowhere, .address = code};
    for (uint64_t i = r->count[RAW_MODULES]; i-- > 0;)
        if (code >= r->modules[i].lo && code < r->modules[i].hi) {
            c.module = m->modules[i];
            c.address = code - r->modules[i].bias;
            break;
        }
    return hpcprof_add_context(m->p, &c);
}

static void add_modules(struct collector *m)
{
    const struct raw *r = m->raw;
    m->modules = mem_calloc(r->count[RAW_MODULES] + 1, sizeof *m->modules);
    m->nowhere = hpcprof_add_module(m->p, "[unknown]", "");
    for (uint64_t i = 0; i < r->count[RAW_MODULES]; i++)
        m->modules[i] = hpcprof_add_module(m->p, r->modules[i].path, r->modules[i].build_id);
}

static void add_threads(struct collector *m)
{
    uint32_t cores = 1;
    for (uint64_t i = 0; i < m->raw->count[RAW_ROWS]; i++)
        cores = m->raw->rows[i].core >= cores ? m->raw->rows[i].core + 1 : cores;
    m->first_thread = (uint32_t)m->p->thread_count;
    for (uint32_t i = 0; i < cores; i++) {
        struct hpcprof_thread t = {.process = (uint32_t)m->p->process_count - 1, .number = i};
        hpcprof_add_thread(m->p, &t);
    }
}

/* ---- names of objects -------------------------------------------------------------------------- */

/* A static local x of C and Fortran is x.0, of C++ _ZZ4mainE1x, maybe with a number too. */
static char *without_number(const char *symbol)
{
    const char *dot = strrchr(symbol, '.');
    bool numbered = dot && dot > symbol && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1);
    return mem_strndup(symbol, numbered ? (size_t)(dot - symbol) : strlen(symbol));
}

static char *in_words(const char *symbol)
{
    struct arena *a = arena_create();
    char *name = mem_strdup(demangle_full(a, symbol));
    arena_free(a);
    return name;
}

/* gfortran: __grid_MOD_flux is flux of module grid; work_ is a COMMON block. Its members come demangled. */
static char *object_name(const char *symbol)
{
    const char *mod = str_starts(symbol, "__") ? strstr(symbol, "_MOD_") : NULL;
    size_t n = strlen(symbol);
    if (str_starts(symbol, "COMMON /"))
        return mem_strdup(symbol);
    if (mod && mod > symbol + 2)
        return mem_printf("%.*s::%s", (int)(mod - symbol - 2), symbol + 2, mod + 5);
    if (n > 1 && symbol[n - 1] == '_' && isalpha((unsigned char)symbol[0]))
        return mem_printf("COMMON /%.*s/", (int)n - 1, symbol);
    char *plain = without_number(symbol), *name = in_words(plain);
    mem_free(plain);
    return name;
}

/* Heap blocks are distinguished by their allocation site, and numbered in the order of first allocation. */
static uint32_t add_object(struct collector *m, const struct raw_object *o, uint32_t site)
{
    bool heap = o->kind == RAW_HEAP;
    static const char *const kinds[] = {"other", "stack", "static", "heap", "module data"};
    static const char *const names[] = {"other memory", "stack", "", "", ""};
    char *name = o->kind == RAW_STATIC        ? object_name(o->name)
                 : o->kind == RAW_MODULE_DATA ? mem_printf("data of %s", path_base(m->raw->modules[o->module].path))
                 : heap                       ? mem_printf("heap %u", ++m->heaps)
                                              : mem_strdup(*o->name ? o->name : names[o->kind]);
    union table_cell cells[] = {{.text = text(m, name)},
                                {.text = text(m, kinds[o->kind])},
                                {.row = site},
                                {.count = o->bytes ? o->bytes : TABLE_NO_COUNT},
                                {.count = o->count ? o->count : TABLE_NO_COUNT}};
    mem_free(name);
    return table_add(m->tables[OBJECTS], cells);
}

/* ---- counts ---------------------------------------------------------------------------------------- */

static bool counted_nothing(const struct mhsim_counts *c)
{
    return c->accesses == 0 && c->evictions == 0 && c->write_backs == 0 && c->prefetches == 0;
}

static void put_counts(const struct collector *m, const struct mhsim_counts *c, union table_cell *to)
{
    const bool classified = m->raw->head->orders.options.classify;
    const uint64_t values[COUNTS] = {c->accesses,    c->misses,      c->temporal,     c->cold,
                                     c->conflict,    c->distinct,    c->evictions,    c->used,
                                     c->write_backs, c->invalidated, c->prefetch_hits};
    for (int i = 0; i < COUNTS; i++)
        to[i].count = i == CONFLICT && !classified ? TABLE_NO_COUNT : values[i] * m->factor;
}

static void add_row(struct collector *m, const struct mhsim_row *row, uint32_t context, uint32_t level)
{
    union table_cell reference[3 + COUNTS] = {
        {.row = context}, {.row = m->objects[row->object]}, {.row = m->levels[level]}};
    union table_cell array[3 + COUNTS] = {
        {.row = m->objects[row->object]}, {.row = m->sites[row->object]}, {.row = m->levels[level]}};
    if (counted_nothing(&row->levels[level]))
        return;
    put_counts(m, &row->levels[level], reference + 3);
    put_counts(m, &row->levels[level], array + 3);
    table_add(m->tables[REFERENCES], reference);
    table_add(m->tables[ARRAYS], array);
}

static void add_pair(struct collector *m, const struct mhsim_pair *pair)
{
    const struct mhsim_row *victim = &m->raw->rows[pair->victim], *evictor = &m->raw->rows[pair->evictor];
    uint32_t objects[2] = {m->objects[victim->object], m->objects[evictor->object]};
    union table_cell blocks = {.count = pair->count * m->factor}, taken = {.count = pair->invalidations * m->factor};
    union table_cell level = {.row = m->levels[pair->level]};
    if (pair->count == 0 || pair->level >= m->raw->head->orders.machine.level_count)
        return;
    table_add(m->tables[EVICTORS], (union table_cell[]){{.row = m->contexts[pair->victim]},
                                                        {.row = objects[0]},
                                                        {.row = m->contexts[pair->evictor]},
                                                        {.row = objects[1]},
                                                        level,
                                                        blocks,
                                                        taken});
    table_add(m->tables[ARRAY_EVICTORS],
              (union table_cell[]){{.row = objects[0]}, {.row = objects[1]}, level, blocks, taken});
}

static uint32_t add_event(struct collector *m, const char *level, const char *what, const char *unit,
                          const char *description)
{
    char *name = level ? mem_printf("%s %s", level, what) : mem_strdup(what);
    struct hpcprof_event e = {.name = text(m, name),
                              .description = text(m, description),
                              .unit = text(m, unit),
                              .flags = m->factor > 1 ? HPCPROF_ESTIMATED : 0};
    mem_free(name);
    return hpcprof_add_event(m->p, &e);
}

static void add_count(struct collector *m, const struct mhsim_row *row, uint32_t context, uint32_t event,
                      uint64_t value)
{
    struct hpcprof_count c = {
        .thread = m->first_thread + row->core, .context = context, .event = event, .value = value * m->factor};
    if (value)
        hpcprof_add_count(m->p, &c);
}

/* Each access pays the latency of the level that had its block, as if nothing overlapped: a model, named so. */
static uint64_t cycles_of(const struct machine_memory *machine, const struct mhsim_row *row)
{
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < machine->level_count; i++) {
        const struct machine_level *l = &machine->levels[i];
        const struct mhsim_counts *c = &row->levels[i];
        cycles += (c->accesses - c->misses) * l->latency;
        if (l->next == MACHINE_NO_LEVEL && !l->tlb)
            cycles += c->misses * machine->memory_latency;
    }
    return cycles;
}

static bool has_latencies(const struct machine_memory *machine)
{
    for (uint32_t i = 0; i < machine->level_count; i++)
        if (machine->levels[i].latency == 0 && !machine->levels[i].tlb)
            return false;
    return machine->memory_latency != 0;
}

static void add_event_counts(struct collector *m)
{
    const struct raw *r = m->raw;
    const struct machine_memory *machine = &r->head->orders.machine;
    for (uint32_t k = 0; k < machine->level_count; k++) {
        uint32_t misses = add_event(m, machine->levels[k].name, "misses", "misses", "simulated");
        uint32_t accesses = add_event(m, machine->levels[k].name, "accesses", "accesses", "simulated");
        for (uint64_t i = 0; i < r->count[RAW_ROWS]; i++) {
            add_count(m, &r->rows[i], m->contexts[i], misses, r->rows[i].levels[k].misses);
            add_count(m, &r->rows[i], m->contexts[i], accesses, r->rows[i].levels[k].accesses);
        }
    }
    if (!has_latencies(machine))
        return;
    uint32_t cycles =
        add_event(m, NULL, "modelled cycles", "cycles",
                  "a model: each access costs the latency of the level that had its cache line, without overlap");
    for (uint64_t i = 0; i < r->count[RAW_ROWS]; i++)
        add_count(m, &r->rows[i], m->contexts[i], cycles, cycles_of(machine, &r->rows[i]));
}

/* ---- what the measurement says of itself ---------------------------------------------------------------- */

static void add_note(struct collector *m, const char *name, const char *value)
{
    struct hpcprof_note n = {
        .process = (uint32_t)m->p->process_count - 1, .name = text(m, name), .value = text(m, value)};
    hpcprof_add_note(m->p, &n);
}

static void add_missing(struct collector *m, struct warnings *w, char *sentence)
{
    add_note(m, "missing", sentence);
    warnings_add(w, "%s", sentence);
    mem_free(sentence);
}

/* How far a sum of n counted things may be off, taking them as independent: two standard deviations. */
static double error_of(uint64_t n)
{
    return n ? 200 / sqrt((double)n) : 100;
}

static void note_estimates(struct collector *m)
{
    const struct raw_orders *o = &m->raw->head->orders;
    struct buf b = {0};
    if (o->options.sample_sets > 1)
        buf_printf(&b, "one cache line in %u was simulated; ", o->options.sample_sets);
    if (o->burst)
        buf_printf(&b, "%llu of every %llu accesses were simulated, after %llu for warming up; ",
                   (unsigned long long)o->burst, (unsigned long long)o->period, (unsigned long long)o->warm_up);
    buf_printf(&b, "counts are multiplied by %llu; misses may be off by, at", (unsigned long long)m->factor);
    for (uint32_t k = 0; k < o->machine.level_count; k++) {
        uint64_t misses = 0;
        for (uint64_t i = 0; i < m->raw->count[RAW_ROWS]; i++)
            misses += m->raw->rows[i].levels[k].misses;
        buf_printf(&b, "%s %s %.1f%%", k ? "," : "", o->machine.levels[k].name, error_of(misses));
    }
    add_note(m, "estimate", b.bytes);
    buf_release(&b);
}

static void add_notes(struct collector *m, struct warnings *w)
{
    const struct raw_head *h = m->raw->head;
    struct buf b = {0};
    machine_memory_print(&h->orders.machine, &b);
    add_note(m, "simulated", b.bytes);
    buf_release(&b);
    if (m->factor > 1)
        note_estimates(m);
    if (h->lost)
        add_missing(
            m, w,
            mem_printf("%llu accesses in signal handlers are not in the result, because they interrupted the simulator",
                       (unsigned long long)h->lost));
    if (h->unreported)
        add_missing(
            m, w,
            mem_printf("QEMU does not report the accesses of %llu of %llu instructions that read or write memory",
                       (unsigned long long)h->unreported, (unsigned long long)h->instructions));
    if (h->execs[0])
        add_missing(m, w, mem_printf("the program executed %s, whose accesses are not in the result", h->execs));
    if (m->raw->rows[0].levels[0].accesses)
        add_missing(m, w, mem_printf("more than %d references: the rest is combined in [unknown]", 1 << 20));
    if (m->raw->count[RAW_PAIRS] && m->raw->pairs[0].count)
        add_missing(m, w,
                    mem_printf("too many pairs of evictors: %llu evictions are not distinguished",
                               (unsigned long long)m->raw->pairs[0].count));
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

static void add_process(struct collector *m, uint32_t pid, int status)
{
    static const char *const ways[] = {"simulation (compiled in)", "simulation (QEMU)"};
    const struct raw_head *h = m->raw->head;
    char host[256] = "", dir[4096] = "";
    gethostname(host, sizeof host - 1);
    struct hpcprof_process q = {.host = text(m, host),
                                .command = text(m, h->command),
                                .working_dir = text(m, getcwd(dir, sizeof dir) ? dir : ""),
                                .machine = text(m, h->orders.machine.name),
                                .sampler = text(m, ways[h->way == RAW_QEMU]),
                                .start_ns = h->start_ns,
                                .end_ns = h->end_ns,
                                .pid = h->pid,
                                .parent_pid = h->parent_pid,
                                .rank = -1,
                                .exit_status = h->pid == pid ? status
                                               : h->ended    ? 0
                                                             : -1,
                                .complete = h->ended || h->pid == pid};
    hpcprof_add_process(m->p, &q);
}

static void add_levels(struct collector *m)
{
    const struct machine_memory *machine = &m->raw->head->orders.machine;
    for (uint32_t i = 0; i < machine->level_count; i++)
        m->levels[i] = table_add(m->tables[LEVELS], (union table_cell[]){{.text = text(m, machine->levels[i].name)},
                                                                         {.count = machine->levels[i].line},
                                                                         {.count = i}});
}

static int make(struct collector *m, uint32_t pid, int status, struct warnings *w, struct err *err)
{
    const struct raw *r = m->raw;
    const struct raw_orders *o = &r->head->orders;
    m->factor = (o->options.sample_sets > 1 ? o->options.sample_sets : 1) * (o->burst ? o->period / o->burst : 1);
    for (int i = 0; i < TABLES; i++)
        if (table_list_declare(&m->p->tables, &declarations[i], m->p->strings, &m->tables[i], err) < 0)
            return -1;
    add_process(m, pid, status);
    add_threads(m);
    add_modules(m);
    add_levels(m);
    m->objects = mem_calloc(r->count[RAW_OBJECTS], sizeof *m->objects);
    m->contexts = mem_calloc(r->count[RAW_ROWS], sizeof *m->contexts);
    m->sites = mem_calloc(r->count[RAW_OBJECTS], sizeof *m->sites);
    for (uint64_t i = 0; i < r->count[RAW_OBJECTS]; i++) {
        const struct raw_object *object = &r->objects[i];
        m->sites[i] = object->kind == RAW_HEAP ? context_of(m, object->address) : TABLE_NONE;
        m->objects[i] = add_object(m, object, m->sites[i]);
    }
    for (uint64_t i = 0; i < r->count[RAW_ROWS]; i++) {
        m->contexts[i] = context_of(m, r->rows[i].code);
        for (uint32_t k = 0; k < o->machine.level_count; k++)
            add_row(m, &r->rows[i], m->contexts[i], k);
    }
    for (uint64_t i = 0; i < r->count[RAW_PAIRS]; i++)
        add_pair(m, &r->pairs[i]);
    add_event_counts(m);
    add_notes(m, w);
    table_list_sort(&m->p->tables);
    hpcprof_finish(m->p);
    return 0;
}

static char *program_of(const struct raw *r)
{
    size_t n = strcspn(r->head->command, " ");
    char *path = mem_strndup(r->head->command, n);
    char *name = mem_strdup(path_base(path));
    mem_free(path);
    return name;
}

static int write_out(const struct raw *r, struct hpcprof *p, const char *out_dir, struct err *err)
{
    struct outfile *out;
    char host[256] = "", *name = program_of(r), *path = NULL;
    gethostname(host, sizeof host - 1);
    for (unsigned i = 1; i == 1 || access(path, F_OK) == 0; i++) {
        mem_free(path);
        char *again = i > 1 ? mem_printf("-%u", i) : mem_strdup("");
        path = mem_printf("%s/%s.%s.%u%s" HPCPROF_SUFFIX, out_dir, *name ? name : "program", host, r->head->pid, again);
        mem_free(again);
    }
    int status = outfile_create(path, &out, err);
    if (status == 0 && (status = hpcprof_write(p, out, err)) < 0)
        outfile_abandon(out);
    else if (status == 0)
        status = outfile_commit(out, err);
    mem_free(path);
    mem_free(name);
    return status;
}

static int collect_file(const char *path, const char *out_dir, uint32_t pid, int status, struct warnings *w,
                        struct err *err)
{
    struct raw raw;
    if (raw_open(&raw, path, err) < 0)
        return -1;
    struct collector m = {.raw = &raw, .p = hpcprof_create()};
    int result = make(&m, pid, status, w, err);
    if (result == 0)
        result = write_out(&raw, m.p, out_dir, err);
    mem_free(m.contexts);
    mem_free(m.objects);
    mem_free(m.sites);
    mem_free(m.modules);
    hpcprof_free(m.p);
    filemap_release(&raw.file);
    return result;
}

int mhsim_collect(const char *folder, const char *out_dir, uint32_t pid, int wait_status, struct warnings *w,
                  struct err *err)
{
    struct text_list list = {0};
    int status = dir_list(folder, RAW_SUFFIX, "reading the counts", &list, err);
    for (size_t i = 0; i < list.count && status >= 0; i++)
        status = collect_file(list.items[i], out_dir, pid, wait_status, w, err);
    int found = (int)list.count;
    text_list_release(&list);
    return status < 0 ? -1 : found;
}
