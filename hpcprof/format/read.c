/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading measurement files. Blocks are used in order up to the first one that is truncated, damaged or invalid; the
 * rest is reported, not guessed at, because later blocks refer to rows of earlier ones.
 */
#include "hpcprof/format/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The measurement's row for the file's row i; if there is none, `what` is the block's fault. */
static uint32_t reader_row(struct reader *r, const struct reader_rows *rows, uint64_t i, const char *what)
{
    if (i < rows->count)
        return rows->items[i];
    if (!r->wrong)
        r->wrong = what;
    return 0;
}

str_id hpcprof_reader_string(struct reader *r, struct cursor *c)
{
    size_t len;
    const char *s = cursor_text(c, &len);
    return s ? strtab_addn(r->p->strings, s, strnlen(s, len)) : 0;
}

/* The number of rows that follow; each takes at least a byte, so more rows than bytes is nonsense. */
uint64_t hpcprof_reader_count(struct reader *r, struct cursor *c)
{
    uint64_t n = cursor_uleb(c);
    if (n > cursor_left(c)) {
        r->wrong = "more rows than bytes";
        return 0;
    }
    return n;
}

static void read_process(struct reader *r, struct cursor *c)
{
    struct hpcprof_process row = {
        .source_file = strtab_add(r->p->strings, path_base(r->name)), .rank = -1, .exit_status = -1};
    row.host = hpcprof_reader_string(r, c);
    row.command = hpcprof_reader_string(r, c);
    row.working_dir = hpcprof_reader_string(r, c);
    row.machine = hpcprof_reader_string(r, c);
    row.kernel = hpcprof_reader_string(r, c);
    row.sampler = hpcprof_reader_string(r, c);
    row.start_ns = cursor_uleb(c);
    row.pid = (uint32_t)cursor_uleb(c);
    row.parent_pid = (uint32_t)cursor_uleb(c);
    row.rank = (int32_t)((int64_t)(cursor_uleb(c) & INT32_MAX) - 1);
    if (c->bad)
        return;
    r->process = hpcprof_add_process(r->p, &row);
    *vec_push(&r->processes) = r->process;
}

static bool have_process(struct reader *r)
{
    if (r->process == UINT32_MAX)
        r->wrong = "it precedes any process";
    return r->process != UINT32_MAX;
}

static void read_notes(struct reader *r, struct cursor *c)
{
    if (!have_process(r))
        return;
    for (uint64_t n = hpcprof_reader_count(r, c); n > 0 && !c->bad; n--) {
        struct hpcprof_note row = {.process = r->process};
        row.name = hpcprof_reader_string(r, c);
        row.value = hpcprof_reader_string(r, c);
        if (!c->bad)
            hpcprof_add_note(r->p, &row);
    }
}

static void read_events(struct reader *r, struct cursor *c)
{
    for (uint64_t n = hpcprof_reader_count(r, c); n > 0 && !c->bad; n--) {
        struct hpcprof_event row = {0};
        row.name = hpcprof_reader_string(r, c);
        row.description = hpcprof_reader_string(r, c);
        row.unit = hpcprof_reader_string(r, c);
        row.period = cursor_uleb(c);
        row.flags = (unsigned)cursor_uleb(c);
        if (r->events.count >= LIMIT_EVENTS || r->p->event_count >= LIMIT_EVENTS)
            r->wrong = "too many events";
        if (c->bad || r->wrong)
            return;
        *vec_push(&r->events) = hpcprof_add_event(r->p, &row);
    }
}

static void read_modules(struct reader *r, struct cursor *c)
{
    for (uint64_t n = hpcprof_reader_count(r, c); n > 0 && !c->bad; n--) {
        str_id path = hpcprof_reader_string(r, c), build_id = hpcprof_reader_string(r, c);
        for (uint64_t ranges = hpcprof_reader_count(r, c); ranges > 0 && !c->bad; ranges--) {
            cursor_uleb(c); /* load address, length, address there: for display and later uses */
            cursor_uleb(c);
            cursor_uleb(c);
        }
        if (c->bad || r->wrong)
            return;
        *vec_push(&r->modules) =
            hpcprof_add_module(r->p, strtab_get(r->p->strings, path), strtab_get(r->p->strings, build_id));
    }
}

/* They come before their contexts, rows ascending. */
static void read_own_files(struct reader *r, struct cursor *c)
{
    uint64_t row = 0;
    for (uint64_t n = hpcprof_reader_count(r, c); n > 0 && !c->bad; n--) {
        row += cursor_uleb(c);
        struct own_file own = {row, hpcprof_reader_string(r, c)};
        if (!c->bad)
            *vec_push(&r->own_files) = own;
    }
}

static str_id own_file(struct reader *r)
{
    size_t *next = &r->own_file_next;
    while (*next < r->own_files.count && r->own_files.items[*next].row < r->contexts.count)
        ++*next;
    bool here = *next < r->own_files.count && r->own_files.items[*next].row == r->contexts.count;
    return here ? r->own_files.items[*next].file : 0;
}

static void read_contexts(struct reader *r, struct cursor *c)
{
    uint64_t module = 0, address = 0;
    for (uint64_t n = hpcprof_reader_count(r, c); n > 0 && !c->bad; n--) {
        struct hpcprof_context row = {.parent = HPCPROF_NO_PARENT};
        uint64_t flags = cursor_uleb(c);
        if (flags & FORMAT_HAS_PARENT)
            row.parent = reader_row(r, &r->contexts, cursor_uleb(c), "the parent of a context is missing");
        module += (uint64_t)cursor_sleb(c);
        row.module = reader_row(r, &r->modules, module, "the module of a context is missing");
        if (flags & FORMAT_BY_LINE) {
            row.by_line = true;
            row.procedure = hpcprof_reader_string(r, c);
            row.file = hpcprof_reader_string(r, c);
            row.line = (uint32_t)cursor_uleb(c);
            row.procedure_file = own_file(r);
        } else {
            row.address = address += (uint64_t)cursor_sleb(c);
        }
        if (c->bad || r->wrong)
            return;
        *vec_push(&r->contexts) = hpcprof_add_context(r->p, &row);
    }
}

static void read_regions(struct reader *r, struct cursor *c)
{
    for (uint64_t n = hpcprof_reader_count(r, c); n > 0 && !c->bad; n--) {
        uint32_t parent = reader_row(r, &r->regions, cursor_uleb(c), "the parent of a region is missing");
        str_id name = hpcprof_reader_string(r, c);
        if (c->bad || r->wrong)
            return;
        *vec_push(&r->regions) = hpcprof_add_region(r->p, strtab_get(r->p->strings, name), parent);
    }
}

static void read_threads(struct reader *r, struct cursor *c)
{
    if (!have_process(r))
        return;
    for (uint64_t n = hpcprof_reader_count(r, c); n > 0 && !c->bad; n--) {
        struct hpcprof_thread row = {.number = (uint32_t)cursor_uleb(c), .start_ns = cursor_uleb(c)};
        row.name = hpcprof_reader_string(r, c);
        if (c->bad)
            return;
        *vec_push(&r->threads) = hpcprof_add_thread(r->p, &row);
    }
    r->p->processes[r->process].complete = false;
}

static uint64_t times_period(uint64_t samples, uint64_t period)
{
    uint64_t product;
    return __builtin_mul_overflow(samples, period, &product) ? UINT64_MAX : product;
}

/* The rows are gathered first and added when all of them make sense: a block counts as a whole or not at all. */
static void read_counts(struct reader *r, struct cursor *c)
{
    struct VEC(struct hpcprof_count) rows = {0};
    struct hpcprof_count row = {0};
    row.thread = reader_row(r, &r->threads, cursor_uleb(c), "its thread is missing");
    row.event = reader_row(r, &r->events, cursor_uleb(c), "its event is missing");
    row.region = reader_row(r, &r->regions, cursor_uleb(c), "its region is missing");
    uint64_t flags = cursor_uleb(c), context = 0;
    if (r->wrong || c->bad)
        return;
    for (uint64_t n = hpcprof_reader_count(r, c); n > 0 && !c->bad && !r->wrong; n--) {
        context += cursor_uleb(c);
        row.context = reader_row(r, &r->contexts, context, "the context of a count is missing");
        row.samples = cursor_uleb(c);
        row.value =
            flags & FORMAT_HAS_VALUES ? cursor_uleb(c) : times_period(row.samples, r->p->events[row.event].period);
        *vec_push(&rows) = row;
    }
    for (size_t i = 0; i < rows.count && !c->bad && !r->wrong; i++)
        hpcprof_add_count(r->p, &rows.items[i]);
    vec_release(&rows);
    if (r->process != UINT32_MAX)
        r->p->processes[r->process].complete = false;
}

static void read_totals(struct reader *r, struct cursor *c)
{
    struct hpcprof_total row = {.thread = reader_row(r, &r->threads, cursor_uleb(c), "its thread is missing")};
    if (r->wrong)
        return;
    for (uint64_t n = hpcprof_reader_count(r, c); n > 0 && !c->bad; n--) {
        row.event = reader_row(r, &r->events, cursor_uleb(c), "the event of a total is missing");
        row.value = cursor_uleb(c);
        if (c->bad || r->wrong)
            return;
        hpcprof_add_total(r->p, &row);
    }
}

static void read_thread_end(struct reader *r, struct cursor *c)
{
    uint32_t thread = reader_row(r, &r->threads, cursor_uleb(c), "its thread is missing");
    uint64_t end_ns = cursor_uleb(c), cpu_ns = cursor_uleb(c);
    str_id name = hpcprof_reader_string(r, c);
    if (r->wrong || c->bad)
        return;
    r->p->threads[thread].end_ns = end_ns;
    r->p->threads[thread].cpu_ns = cpu_ns;
    r->p->threads[thread].name = name;
}

static void read_end(struct reader *r, struct cursor *c)
{
    if (!have_process(r))
        return;
    uint64_t end_ns = cursor_uleb(c);
    int64_t status = cursor_sleb(c);
    bool complete = cursor_u8(c) != 0;
    if (c->bad)
        return;
    struct hpcprof_process *process = &r->p->processes[r->process];
    process->end_ns = end_ns;
    process->exit_status = status >= -1 && status <= INT32_MAX ? (int32_t)status : -1;
    process->complete = complete;
}

static const struct {
    uint32_t type;
    const char *words;
    void (*read)(struct reader *, struct cursor *);
} block_types[] = {
    {FORMAT_PROCESS, "process", read_process},
    {FORMAT_NOTES, "notes", read_notes},
    {FORMAT_EVENTS, "events", read_events},
    {FORMAT_MODULES, "modules", read_modules},
    {FORMAT_OWN_FILES, "files of procedures", read_own_files},
    {FORMAT_CONTEXTS, "contexts", read_contexts},
    {FORMAT_REGIONS, "regions", read_regions},
    {FORMAT_THREADS, "threads", read_threads},
    {FORMAT_COUNTS, "counts", read_counts},
    {FORMAT_TOTALS, "totals", read_totals},
    {FORMAT_THREAD_END, "thread end", read_thread_end},
    {FORMAT_END, "process end", read_end},
    {FORMAT_TABLES, "tables", hpcprof_read_tables},
    {FORMAT_ROWS, "table rows", hpcprof_read_table_rows},
};

/* ---- blocks ------------------------------------------------------------------------------------ */

struct block {
    uint32_t type;
    const uint8_t *payload;
    size_t length;
};

bool hpcprof_sniff(const void *bytes, size_t len)
{
    return len >= 8 && memcmp(bytes, FORMAT_MAGIC, 8) == 0;
}

static int read_header(struct cursor *c, const char *name, struct err *err)
{
    const uint8_t *start = c->p;
    if (!hpcprof_sniff(c->p, cursor_left(c)))
        return err_set(err, ERR_FORMAT, "%s: not a measurement file (it %s)", name,
                       cursor_left(c) ? "does not begin with \"hpcprof\"" : "is empty");
    cursor_bytes(c, 8);
    uint32_t version = cursor_u32(c), crc = cursor_u32(c);
    if (c->bad)
        return err_set(err, ERR_FORMAT, "%s: truncated within the first %d bytes; it contains no counts", name,
                       FORMAT_HEADER_BYTES);
    if (crc != crc32_bytes(0, start, 12))
        return err_set(err, ERR_FORMAT, "%s: the first %d bytes are damaged (checksum); the file cannot be used", name,
                       FORMAT_HEADER_BYTES);
    if (version != HPCPROF_VERSION)
        return err_set(err, ERR_UNSUPPORTED, "%s: measurement of version %u; this hpcview reads version %d", name,
                       version, HPCPROF_VERSION);
    return 0;
}

/* The next block: 1 here it is, 0 the file ends, -1 it is cut or damaged (*why says which). Moves on only after a sound
 * one. */
static int next_block(struct cursor *c, struct block *b, const char **why)
{
    struct cursor at = *c;
    if (cursor_left(&at) == 0)
        return 0;
    const uint8_t *head = at.p;
    b->type = cursor_u32(&at);
    uint32_t length = cursor_u32(&at), crc = cursor_u32(&at), head_crc = cursor_u32(&at);
    *why = "it is truncated";
    if (at.bad)
        return -1;
    *why = "its header's checksum is wrong";
    if (head_crc != crc32_bytes(0, head, 12) || length > FORMAT_PAYLOAD_MAX)
        return -1;
    *why = "it is truncated";
    b->payload = cursor_bytes(&at, length);
    if (at.bad)
        return -1;
    *why = "its checksum is wrong";
    if (crc32_bytes(0, b->payload, length) != crc)
        return -1;
    b->length = length;
    *c = at;
    return 1;
}

static const char *block_words(uint32_t type)
{
    for (size_t i = 0; i < ARRAY_SIZE(block_types); i++)
        if (block_types[i].type == type)
            return block_types[i].words;
    return "unknown";
}

/* Types we do not know come from newer writers of the same version; they add something, so they are passed over. */
static void use_block(struct reader *r, const struct block *b)
{
    struct cursor c = cursor_make(b->payload, b->length);
    r->wrong = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(block_types); i++)
        if (block_types[i].type == b->type)
            block_types[i].read(r, &c);
    if (!r->wrong && c.bad)
        r->wrong = "it is too short";
}

static void warn_rest(struct warnings *w, const char *name, const char *words, size_t offset, size_t left,
                      const char *why)
{
    warnings_add(
        w, "%s: the %s block at byte %zu is not used (%s); the %zu bytes from there on are missing from the result",
        name, words, offset, why, left);
}

static void warn_incomplete(const struct reader *r, struct warnings *w)
{
    const struct hpcprof *p = r->p;
    if (r->process == UINT32_MAX || p->processes[r->process].complete)
        return;
    const struct hpcprof_process *process = &p->processes[r->process];
    bool seen = process->exit_status >= 0;
    warnings_add(w, "%s: process %u %s; its last second may be missing from the measurement", r->name, process->pid,
                 seen ? "ended without writing its last counts" : "was killed or is still running");
}

static void release_rows(struct reader *r)
{
    vec_release(&r->processes);
    vec_release(&r->events);
    vec_release(&r->modules);
    vec_release(&r->contexts);
    vec_release(&r->own_files);
    vec_release(&r->threads);
    vec_release(&r->regions);
    hpcprof_release_tables(r);
}

/* Adds one file to `p`. */
static int read_into(struct hpcprof *p, const void *bytes, size_t len, const char *name, struct warnings *w,
                     struct err *err)
{
    struct cursor c = cursor_make(bytes, len);
    if (read_header(&c, name, err) < 0)
        return -1;
    struct reader r = {.p = p, .name = name, .process = UINT32_MAX};
    *vec_push(&r.regions) = 0;
    struct block b;
    const char *why = "";
    for (;;) {
        const uint8_t *start = c.p;
        int got = next_block(&c, &b, &why);
        if (got > 0)
            use_block(&r, &b);
        if (got < 0 || (got > 0 && r.wrong)) {
            const char *words = got > 0 ? block_words(b.type) : "next";
            warn_rest(w, name, words, (size_t)(start - (const uint8_t *)bytes), (size_t)(c.end - start),
                      got > 0 ? r.wrong : why);
            if (r.process != UINT32_MAX)
                p->processes[r.process].complete = false;
            break;
        }
        if (got == 0)
            break;
    }
    if (r.process == UINT32_MAX)
        warnings_add(w, "%s: contains no process and no counts", name);
    warn_incomplete(&r, w);
    release_rows(&r);
    return 0;
}

int hpcprof_list_blocks(const void *bytes, size_t len, const char *name,
                        void (*each)(void *ctx, const struct hpcprof_block *), void *ctx, struct err *err)
{
    struct cursor c = cursor_make(bytes, len);
    if (read_header(&c, name, err) < 0)
        return -1;
    struct block b;
    const char *why;
    for (;;) {
        const uint8_t *start = c.p;
        int got = next_block(&c, &b, &why);
        if (got == 0)
            return 0;
        struct hpcprof_block row = {.offset = (uint64_t)(start - (const uint8_t *)bytes)};
        row.type = got > 0 ? block_words(b.type) : "unusable";
        row.length = got > 0 ? (uint64_t)(c.p - start) : (uint64_t)(c.end - start);
        row.why_not = got > 0 ? NULL : why;
        each(ctx, &row);
        if (got < 0)
            return 0;
    }
}

/* ---- files and directories ------------------------------------------------------------------------ */

int hpcprof_read_bytes(const void *bytes, size_t len, const char *name, struct hpcprof **out, struct warnings *w,
                       struct err *err)
{
    struct hpcprof *p = hpcprof_create();
    *out = NULL;
    if (read_into(p, bytes, len, name, w, err) < 0) {
        hpcprof_free(p);
        return -1;
    }
    hpcprof_finish(p);
    hpcprof_warn_unsampled(p, w);
    *out = p;
    return 0;
}

struct one_file { /* read by itself, on any thread */
    const char *path;
    void (*prepare)(struct hpcprof *); /* NULL: as it is */
    struct hpcprof *p;                 /* NULL: it cannot be used */
    struct warnings *warnings;
    struct err err;
};

static void read_one(void *ctx, size_t i)
{
    struct one_file *f = (struct one_file *)ctx + i;
    struct filemap map;
    f->warnings = warnings_create();
    f->p = hpcprof_create();
    int status = filemap_open(&map, f->path, &f->err);
    if (status == 0) {
        status = read_into(f->p, map.bytes, map.len, f->path, f->warnings, &f->err);
        filemap_release(&map);
    }
    if (status < 0) {
        hpcprof_free(f->p);
        f->p = NULL;
        return;
    }
    hpcprof_finish(f->p);
    if (f->prepare)
        f->prepare(f->p);
}

/* Adds one file's measurement to the whole (NULL: not needed), or makes it the whole if it is alone; true if it
   could be used. */
static bool take_one(struct one_file *f, const struct hpcprof_reading *how, bool alone, struct hpcprof **whole,
                     struct warnings *w)
{
    struct err err = {0};
    bool used = f->p != NULL;
    for (size_t i = 0; i < warnings_count(f->warnings); i++)
        warnings_add(w, "%s", warnings_get(f->warnings, i));
    if (used && how->each)
        how->each(how->ctx, f->p);
    if (used && *whole && alone && !(how->summed && f->p->thread_count > 1)) {
        hpcprof_free(*whole);
        *whole = f->p;
        f->p = NULL;
    } else if (used && *whole && hpcprof_add_all(*whole, f->p, how->summed, &err) < 0)
        warnings_add(w, "%s: %s", f->path, err.msg);
    warnings_free(f->warnings);
    hpcprof_free(f->p);
    return used;
}

struct ranked_file {
    char *path;
    uint32_t rank; /* of its first process; NO_RANK: none, or the file cannot be read */
};

enum { NO_RANK = INT32_MAX };

int32_t hpcprof_rank_in(const char *path)
{
    struct filemap map;
    struct block b = {0};
    const char *why;
    int32_t rank = -1;
    if (filemap_open(&map, path, NULL) < 0)
        return -1;
    struct cursor c = cursor_make(map.bytes, map.len);
    bool more = read_header(&c, path, NULL) == 0;
    while (more && b.type != FORMAT_PROCESS) /* the first block that the recorder writes; later in imports */
        more = next_block(&c, &b, &why) > 0;
    if (more) {
        struct cursor at = cursor_make(b.payload, b.length);
        size_t len;
        for (int i = 0; i < 6; i++) /* host ... sampler */
            cursor_text(&at, &len);
        for (int i = 0; i < 3; i++) /* start, pid, parent */
            cursor_uleb(&at);
        rank = (int32_t)(cursor_uleb(&at) & INT32_MAX) - 1;
    }
    filemap_release(&map);
    return rank;
}

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked_file *a = left, *b = right;
    return order_of(a->rank, b->rank) ?: strcmp(a->path, b->path);
}

static void find_rank(void *ctx, size_t i)
{
    struct ranked_file *f = (struct ranked_file *)ctx + i;
    int32_t rank = hpcprof_rank_in(f->path);
    f->rank = rank < 0 ? NO_RANK : (uint32_t)rank;
}

/* In the order of ranks, those of processes without one last: a rank's processes follow each other. */
static struct ranked_file *order_by_rank(struct text_list *names, unsigned threads)
{
    struct ranked_file *files = mem_calloc(names->count + 1, sizeof *files);
    for (size_t i = 0; i < names->count; i++)
        files[i].path = names->items[i];
    if (names->count > 1) {
        parallel_for(names->count, threads, find_rank, files);
        qsort(files, names->count, sizeof *files, compare_ranked);
    }
    return files;
}

/* Back to where the file's rank begins: one reader has all files of a rank. */
static size_t begin_of_rank(const struct ranked_file *files, size_t count, size_t i)
{
    while (i > 0 && i < count && files[i].rank != NO_RANK && files[i].rank == files[i - 1].rank)
        i--;
    return i;
}

/* Those that this rank reads: a single one is read by all, and looked at by the first. */
static void own_files(const struct hpcprof_reading *how, const struct ranked_file *files, size_t count, bool looked_at,
                      size_t *from, size_t *to)
{
    ranks_share(count > 1 ? how->ranks : NULL, count, from, to);
    *from = begin_of_rank(files, count, *from);
    *to = begin_of_rank(files, count, *to);
    if (count == 1 && looked_at && how->ranks && how->ranks->me)
        *to = 0;
}

enum { FILES_AT_ONCE = 4 }; /* for each thread: enough to keep it busy while the others' are taken */

struct batch {
    struct one_file *files;
    size_t count;
};

/* While some files are read, one thread adds those that were read before: adding is most of the work. */
struct reading_files {
    const struct hpcprof_reading *how;
    bool alone;
    struct batch reading, read;
    struct hpcprof **whole;
    struct warnings *warnings;
    size_t used;
};

static void take_batch(struct reading_files *r)
{
    for (size_t i = 0; i < r->read.count; i++) {
        if (!r->read.files[i].p)
            warnings_add(r->warnings, "%s", r->read.files[i].err.msg);
        r->used += take_one(&r->read.files[i], r->how, r->alone, r->whole, r->warnings);
    }
}

static void take_or_read(void *ctx, size_t i)
{
    struct reading_files *r = ctx;
    if (i == 0)
        take_batch(r);
    else
        read_one(r->reading.files, i - 1);
}

static size_t read_files(struct text_list *names, const struct hpcprof_reading *how, struct hpcprof **whole,
                         struct warnings *w)
{
    unsigned threads = how->threads ? how->threads : parallel_default();
    size_t most = (size_t)threads * FILES_AT_ONCE, first, end;
    struct one_file *list = mem_calloc(2 * most, sizeof *list);
    struct ranked_file *files = order_by_rank(names, threads);
    struct reading_files r = {.how = how, .alone = names->count == 1, .whole = whole, .warnings = w};
    own_files(how, files, names->count, *whole == NULL, &first, &end);
    for (size_t from = first, odd = 0; from < end || r.read.count; odd = !odd) {
        size_t n = end - from < most ? end - from : most;
        r.reading = (struct batch){list + odd * most, n};
        for (size_t i = 0; i < n; i++)
            r.reading.files[i] = (struct one_file){.path = files[from + i].path, .prepare = how->prepare};
        parallel_for(n + 1, threads, take_or_read, &r);
        progress_report(how->progress, "reading measurements", from - first, end - first);
        r.read = r.reading;
        from += n;
    }
    if (end > first)
        progress_report(how->progress, "reading measurements", end - first, end - first);
    mem_free(list);
    mem_free(files);
    return r.used;
}

static int read_directory(const char *path, const struct hpcprof_reading *how, struct hpcprof **whole,
                          struct warnings *w, struct err *err)
{
    struct text_list files = {0};
    int status = dir_list(path, HPCPROF_SUFFIX, "opening the measurement directory", &files, err);
    size_t used = status == 0 ? read_files(&files, how, whole, w) : 0;
    if (status == 0 && *whole && files.count > 1)
        status = hpcprof_merge_wholes(how->ranks, whole, &used, how->summed, w, err);
    if (status == 0 && used == 0 && (*whole || !how->ranks))
        status = err_set(err, ERR_FORMAT, "%s: no usable measurement file (*%s) in this folder", path, HPCPROF_SUFFIX);
    text_list_release(&files);
    return status;
}

static int read_file(const char *path, const struct hpcprof_reading *how, struct hpcprof **whole, struct warnings *w,
                     struct err *err)
{
    struct one_file f = {.path = path, .prepare = how->prepare};
    read_one(&f, 0);
    if (!f.p)
        err_set(err, f.err.kind, "%s", f.err.msg);
    return take_one(&f, how, true, whole, w) ? 0 : -1;
}

int hpcprof_read_as(const char *path, const struct hpcprof_reading *how, struct hpcprof **out, struct warnings *w,
                    struct err *err)
{
    struct stat st;
    struct hpcprof *whole = NULL;
    if (out)
        *out = NULL;
    if (stat(path, &st) < 0)
        return err_errno(err, path, "reading the measurement");
    if (out)
        whole = hpcprof_create();
    bool another_s = !out && how->ranks && how->ranks->me;
    int status = S_ISDIR(st.st_mode) ? read_directory(path, how, &whole, w, err)
                 : another_s         ? 0
                                     : read_file(path, how, &whole, w, err);
    if (status < 0 || !whole) {
        hpcprof_free(whole);
        return status;
    }
    hpcprof_finish(whole);
    if (S_ISDIR(st.st_mode) && hpcprof_check_jobs(whole, path, w, err) < 0) {
        hpcprof_free(whole);
        return -1;
    }
    hpcprof_warn_unsampled(whole, w);
    *out = whole;
    return 0;
}

int hpcprof_read(const char *path, struct hpcprof **out, struct warnings *w, struct err *err)
{
    return hpcprof_read_as(path, &(struct hpcprof_reading){0}, out, w, err);
}
