/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurement file: written files are read back. For truncated or damaged files, the part before the damage is
 * read, and all counts are correct. */
#include "hpcprof/format/tables.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <unistd.h>

static str_id id(struct hpcprof *p, const char *s)
{
    return strtab_add(p->strings, s);
}

/* One table of each kind of column, one that refers to it and to itself. */
static void add_tables(struct hpcprof *p, uint32_t c0, uint32_t c1, uint32_t thread)
{
    static const struct table_column arrays[] = {
        {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
        {.name = "bytes", .unit = "bytes", .type = TABLE_COUNT, .merge = TABLE_SUM},
        {.name = "ratio", .type = TABLE_NUMBER, .merge = TABLE_LAST},
        {.name = "since", .unit = "ns", .type = TABLE_TIME, .merge = TABLE_MIN},
    };
    static const struct table_column evictors[] = {
        {.name = "victim", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "context"},
        {.name = "array", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "arrays"},
        {.name = "thread", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "thread"},
        {.name = "process", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "process"},
        {.name = "event", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "event"},
        {.name = "region", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "region"},
        {.name = "before", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "evictors"},
    };
    static const struct table_decl array_table = {"arrays", "Arrays", "what was allocated", arrays, ARRAY_SIZE(arrays)};
    static const struct table_decl evictor_table = {"evictors", NULL, NULL, evictors, ARRAY_SIZE(evictors)};
    struct table *a, *e;
    table_list_declare(&p->tables, &array_table, p->strings, &a, NULL);
    table_list_declare(&p->tables, &evictor_table, p->strings, &e, NULL);
    uint32_t u = table_add(a, (union table_cell[]){{.text = id(p, "u")}, {.count = 0}, {.number = 0.1}, {.count = 77}});
    table_add(a, (union table_cell[]){
                     {.text = id(p, "v")}, {.count = TABLE_NO_COUNT}, {.number = -1e300}, {.count = TABLE_NO_COUNT}});
    uint32_t first = table_add(
        e, (union table_cell[]){
               {.row = c0}, {.row = u}, {.row = thread}, {.row = 0}, {.row = 1}, {.row = 1}, {.row = TABLE_NONE}});
    table_add(
        e, (union table_cell[]){
               {.row = c1}, {.row = TABLE_NONE}, {.row = thread}, {.row = 0}, {.row = 0}, {.row = 0}, {.row = first}});
}

static struct hpcprof *example(void)
{
    struct hpcprof *p = hpcprof_create();
    struct hpcprof_event clock = {id(p, "perf::TASK-CLOCK"), id(p, "time"), id(p, "ns"), 4000000, 0};
    struct hpcprof_event freq = {id(p, "PAPI_TOT_CYC"), id(p, "cycles"), id(p, "cycles"), 1000003, HPCPROF_FREQUENCY};
    uint32_t e0 = hpcprof_add_event(p, &clock), e1 = hpcprof_add_event(p, &freq);
    uint32_t m0 = hpcprof_add_module(p, "/usr/bin/app", "00ff"), m1 = hpcprof_add_module(p, "[vdso]", "");
    uint32_t region = hpcprof_add_region(p, "solve", 0);
    struct hpcprof_process process = {.host = id(p, "node7"),
                                      .command = id(p, "app -n 3"),
                                      .working_dir = id(p, "/home"),
                                      .machine = id(p, "CPU"),
                                      .kernel = id(p, "Linux"),
                                      .sampler = id(p, "ring"),
                                      .start_ns = 1700000000000000000u,
                                      .end_ns = 1700000001000000000u,
                                      .pid = 77,
                                      .parent_pid = 1,
                                      .rank = 3,
                                      .exit_status = 256,
                                      .complete = true};
    hpcprof_add_process(p, &process);
    struct hpcprof_thread thread = {.number = 0, .name = id(p, "main"), .start_ns = 5, .end_ns = 9, .cpu_ns = 4};
    uint32_t t0 = hpcprof_add_thread(p, &thread);
    thread.number = 1;
    uint32_t t1 = hpcprof_add_thread(p, &thread);
    struct hpcprof_context c = {.parent = HPCPROF_NO_PARENT, .module = m0, .address = 0x401000};
    uint32_t c0 = hpcprof_add_context(p, &c);
    c.address = 0x400f00;
    c.parent = c0;
    uint32_t c1 = hpcprof_add_context(p, &c);
    struct hpcprof_context line = {.parent = HPCPROF_NO_PARENT,
                                   .module = m1,
                                   .procedure = id(p, "f"),
                                   .file = id(p, "f.c"),
                                   .line = 12,
                                   .by_line = true};
    uint32_t c2 = hpcprof_add_context(p, &line);
    line.procedure_file = id(p, "own.c");
    hpcprof_add_context(p, &line);
    line.line = 13;
    line.procedure_file = 0;
    hpcprof_add_context(p, &line);
    hpcprof_add_count(p, &(struct hpcprof_count){t1, c2, e0, 0, 5, 20000000});
    hpcprof_add_count(p, &(struct hpcprof_count){t0, c1, e0, region, 2, 8000000});
    hpcprof_add_count(p, &(struct hpcprof_count){t0, c0, e0, 0, 1, 4000000});
    hpcprof_add_count(p, &(struct hpcprof_count){t0, c1, e1, 0, 3, 3000011}); /* a sum of periods */
    hpcprof_add_count(p, &(struct hpcprof_count){t0, c1, e0, region, 1, 4000000});
    hpcprof_add_total(p, &(struct hpcprof_total){t0, e0, 16000123});
    hpcprof_add_total(p, &(struct hpcprof_total){t1, e0, 20000456});
    hpcprof_add_note(p, &(struct hpcprof_note){0, id(p, "cache L1d"), id(p, "32 KiB")});
    add_tables(p, c0, c1, t1);
    hpcprof_finish(p);
    return p;
}

/* Returns the bytes that hpcprof_write writes for `p`; the caller frees them. */
static uint8_t *written(const struct hpcprof *p, size_t *len)
{
    char path[] = "/tmp/hpcprof-test-XXXXXX";
    int fd = mkstemp(path);
    struct outfile *f;
    struct err err = {0};
    struct filemap map;
    close(fd);
    if (outfile_create(path, &f, &err) < 0 || hpcprof_write(p, f, &err) < 0 || outfile_commit(f, &err) < 0 ||
        filemap_open(&map, path, &err) < 0) {
        printf("Bail out! %s\n", err.msg);
        exit(1);
    }
    uint8_t *bytes = mem_alloc(map.len);
    memcpy(bytes, map.bytes, map.len);
    *len = map.len;
    filemap_release(&map);
    unlink(path);
    return bytes;
}

static void test_tables(const struct hpcprof *p)
{
    const struct table *a = table_list_find(&p->tables, "arrays"), *e = table_list_find(&p->tables, "evictors");
    CHECK_INT(p->tables.count, 2);
    CHECK_INT(table_row_count(a), 2);
    CHECK_INT(table_row_count(e), 2);
    CHECK_STR(table_declared(a)->description, "what was allocated");
    CHECK_STR(table_declared(a)->columns[1].unit, "bytes");
    CHECK_STR(strtab_get(p->strings, table_row(a, 1)[0].text), "v");
    CHECK_NAMED(table_row(a, 0)[1].count == 0 && table_row(a, 1)[1].count == TABLE_NO_COUNT, "no count is not 0");
    CHECK_NAMED(table_row(a, 0)[2].number == 0.1 && table_row(a, 1)[2].number == -1e300, "numbers to the last bit");
    CHECK_NAMED(table_row(a, 0)[3].count == 77 && table_row(a, 1)[3].count == TABLE_NO_COUNT, "times");
    static const uint32_t want[2][7] = {{0, 0, 1, 0, 1, 1, TABLE_NONE}, {1, TABLE_NONE, 1, 0, 0, 0, 0}};
    for (size_t row = 0; row < 2; row++)
        for (size_t i = 0; i < 7; i++)
            CHECK_INT(table_row(e, row)[i].row, want[row][i]);
}

/* Two files: rows with equal keys are added, and references are translated to the merged rows. */
static void test_tables_of_two_files(const uint8_t *bytes, size_t len)
{
    char dir[] = "/tmp/hpcprof-test-XXXXXX";
    struct hpcprof *p = NULL;
    struct err err = {0};
    CHECK(mkdtemp(dir) != NULL);
    for (int i = 0; i < 2; i++) {
        char *path = mem_printf("%s/%d.hpcprof", dir, i);
        FILE *f = fopen(path, "w");
        fwrite(bytes, 1, len, f);
        fclose(f);
        mem_free(path);
    }
    CHECK_INT(hpcprof_read(dir, &p, NULL, &err), 0);
    const struct table *a = table_list_find(&p->tables, "arrays"), *e = table_list_find(&p->tables, "evictors");
    CHECK_INT(table_row_count(a), 2);
    CHECK_NAMED(table_row(a, 0)[3].count == 77, "the least of two times");
    CHECK_INT(table_row_count(e), 4);
    CHECK_INT(table_row(e, 2)[2].row, 3);
    CHECK_INT(table_row(e, 2)[3].row, 1);
    CHECK_INT(table_row(e, 3)[6].row, 2);
    hpcprof_free(p);
    dir_remove_tree(dir, &err);
}

static void count_files(void *ctx, const struct hpcprof *p)
{
    *(size_t *)ctx += p->count_count;
}

static uint64_t all_samples(const struct hpcprof *p, uint32_t event)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < p->count_count; i++)
        sum += p->counts[i].event == event ? p->counts[i].samples : 0;
    return sum;
}

/* Counts summed over threads: no sample is lost, and per-thread data are unchanged. */
static void test_summed(const uint8_t *bytes, size_t len)
{
    char dir[] = "/tmp/hpcprof-test-XXXXXX";
    struct hpcprof *whole = NULL, *summed = NULL;
    struct err err = {0};
    size_t seen = 0;
    CHECK(mkdtemp(dir) != NULL);
    for (int i = 0; i < 9; i++) {
        char *path = mem_printf("%s/%d.hpcprof", dir, i);
        FILE *f = fopen(path, "w");
        fwrite(bytes, 1, len, f);
        fclose(f);
        mem_free(path);
    }
    struct hpcprof_reading how = {.threads = 2, .summed = true, .each = count_files, .ctx = &seen};
    CHECK_INT(hpcprof_read(dir, &whole, NULL, &err), 0);
    CHECK_INT(hpcprof_read_as(dir, &how, &summed, NULL, &err), 0);
    CHECK_INT(whole->count_count, 9 * 4);
    CHECK_INT(summed->count_count, 4);
    CHECK_INT(summed->rows_read, 9 * 4);
    CHECK_INT(seen, 9 * 4);
    CHECK_INT(summed->process_count, 9);
    CHECK_INT(summed->thread_count, 18);
    CHECK_INT(summed->total_count, whole->total_count);
    struct hpcprof_share *a = hpcprof_shares(whole), *b = hpcprof_shares(summed);
    for (uint32_t e = 0; e < 2; e++) {
        CHECK_INT(all_samples(summed, e), all_samples(whole, e));
        CHECK_INT(b[e].sampled, a[e].sampled);
        CHECK_INT(b[e].counted, a[e].counted);
    }
    mem_free(a);
    mem_free(b);
    for (size_t i = 0; i < summed->count_count; i++)
        CHECK_INT(summed->counts[i].thread, 0);
    CHECK_INT(table_row_count(table_list_find(&summed->tables, "evictors")), 18);
    CHECK_INT(hpcprof_read_as(dir, &how, NULL, NULL, &err), 0); /* nothing is retained */
    CHECK_INT(seen, 2 * 9 * 4);
    hpcprof_free(whole);
    hpcprof_free(summed);
    dir_remove_tree(dir, &err);
}

static void test_round_trip(const uint8_t *bytes, size_t len)
{
    struct hpcprof *p;
    struct warnings *w = warnings_create();
    struct err err = {0};
    CHECK_INT(hpcprof_read_bytes(bytes, len, "dir/x.hpcprof", &p, w, &err), 0);
    CHECK_INT(warnings_count(w), 0);
    CHECK_INT(p->event_count, 2);
    CHECK_INT(p->module_count, 2);
    CHECK_INT(p->context_count, 5);
    CHECK_NAMED(p->contexts[2].procedure_file == 0 && p->contexts[4].procedure_file == 0,
                "a procedure in its line's file");
    CHECK_STR(strtab_get(p->strings, p->contexts[3].procedure_file), "own.c");
    CHECK_INT(p->region_count, 2);
    CHECK_INT(p->count_count, 4);
    CHECK_INT(p->total_count, 2);
    CHECK_INT(p->note_count, 1);
    CHECK_STR(strtab_get(p->strings, p->processes[0].source_file), "x.hpcprof");
    CHECK_STR(strtab_get(p->strings, p->processes[0].command), "app -n 3");
    CHECK_INT(p->processes[0].rank, 3);
    CHECK_INT(p->processes[0].exit_status, 256);
    CHECK_INT(p->processes[0].end_ns, 1700000001000000000);
    CHECK(p->processes[0].complete);
    CHECK_INT(p->processes[0].thread_count, 2);
    CHECK_INT(p->threads[1].cpu_ns, 4);
    CHECK_INT(p->contexts[1].address, 0x400f00);
    CHECK_INT(p->contexts[1].parent, 0);
    CHECK(p->contexts[2].by_line);
    CHECK_INT(p->contexts[2].line, 12);
    CHECK_NAMED(p->counts[1].samples == 3 && p->counts[1].value == 12000000 && p->counts[1].region == 1,
                "equal counts are added up");
    CHECK_NAMED(p->counts[2].samples == 3 && p->counts[2].value == 3000011,
                "a value that is not samples x period is kept");
    CHECK_INT(p->totals[1].value, 20000456);
    test_tables(p);
    size_t again_len;
    uint8_t *again = written(p, &again_len);
    CHECK_NAMED(again_len == len && memcmp(again, bytes, len) == 0, "written again it is the same bytes");
    mem_free(again);
    hpcprof_free(p);
    warnings_free(w);
}

static uint64_t value_of(const struct hpcprof *p, uint32_t thread, uint32_t context, uint32_t event, uint32_t region)
{
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].thread == thread && p->counts[i].context == context && p->counts[i].event == event &&
            p->counts[i].region == region)
            return p->counts[i].value;
    return 0;
}

/* Every count must be one of the complete file's. */
static bool part_of(const struct hpcprof *part, const struct hpcprof *whole)
{
    for (size_t i = 0; i < part->count_count; i++) {
        const struct hpcprof_count *c = &part->counts[i];
        if (value_of(whole, c->thread, c->context, c->event, c->region) != c->value)
            return false;
    }
    return true;
}

static void test_cut_everywhere(const uint8_t *bytes, size_t len, const struct hpcprof *whole)
{
    size_t read = 0, refused = 0, most = 0, not_growing = 0, wrong = 0, silent = 0;
    for (size_t cut = 0; cut < len; cut++) {
        struct hpcprof *p;
        struct warnings *w = warnings_create();
        struct err err = {0};
        uint8_t *exact = mem_alloc(cut); /* so that a sanitizer sees a read past the cut */
        memcpy(exact, bytes, cut);
        if (hpcprof_read_bytes(exact, cut, "cut", &p, w, &err) == 0) {
            read++;
            not_growing += p->count_count < most;
            most = p->count_count;
            wrong += !part_of(p, whole);
            silent += warnings_count(w) == 0;
            hpcprof_free(p);
        } else {
            refused++;
            silent += err.msg[0] == '\0';
        }
        mem_free(exact);
        warnings_free(w);
    }
    CHECK_NAMED(refused == FORMAT_HEADER_BYTES, "cut inside the header it is refused");
    CHECK_NAMED(read == len - FORMAT_HEADER_BYTES, "cut anywhere later it is read");
    CHECK_NAMED(not_growing == 0 && most == whole->count_count, "what complete blocks hold is never lost");
    CHECK_NAMED(wrong == 0, "no count differs from the whole file's");
    CHECK_NAMED(silent == 0, "every cut is said");
}

static void test_flip_every_bit(const uint8_t *bytes, size_t len, const struct hpcprof *whole)
{
    size_t wrong = 0, silent = 0;
    uint8_t *copy = mem_alloc(len);
    memcpy(copy, bytes, len);
    for (size_t bit = 0; bit < len * 8; bit++) {
        struct hpcprof *p;
        struct warnings *w = warnings_create();
        struct err err = {0};
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (hpcprof_read_bytes(copy, len, "flipped", &p, w, &err) == 0) {
            wrong += !part_of(p, whole);
            silent += warnings_count(w) == 0;
            hpcprof_free(p);
        } else {
            silent += err.msg[0] == '\0';
        }
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        warnings_free(w);
    }
    CHECK_NAMED(wrong == 0, "no flipped bit changes a count");
    CHECK_NAMED(silent == 0, "every flipped bit is noticed");
    mem_free(copy);
}

static void add_block(struct buf *b, uint32_t type, const void *payload, size_t n)
{
    size_t at = b->len;
    buf_u32(b, type);
    buf_u32(b, (uint32_t)n);
    buf_u32(b, crc32_bytes(0, payload, n));
    buf_u32(b, crc32_bytes(0, b->bytes + at, 12));
    buf_add(b, payload, n);
}

#define ZEROS_13    "\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define TABLE_OF_65 "\1\1t\0\0\x41" ZEROS_13 ZEROS_13 ZEROS_13 ZEROS_13 ZEROS_13

/* Rows that do not match the table declared before them, and valid ones next to them. */
static void test_nonsense_rows(void)
{
    static const char decl[] = "\1\1t\0\0\2\1x\0\0\0\0\0\0\1r\0\0\0\4\0\1t";
    static const struct {
        const char *name;
        const char *payload;
        size_t len;
        const char *want; /* NULL: valid */
    } cases[] = {
        {"a row, and one that refers to it", "\0\2\5\0\6\1", 6, NULL},
        {"a row that refers to itself", "\0\2\5\0\6\2", 6, "it refers to a missing row"},
        {"a row that refers to a later one", "\0\2\5\2\6\0", 6, "it refers to a missing row"},
        {"a row that is cut", "\0\2\5\0\6", 5, "it is too short"},
        {"rows of another table", "\1\1\5\0", 4, "its table is missing"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf b = {0};
        struct hpcprof *p = NULL;
        struct warnings *w = warnings_create();
        buf_add(&b, FORMAT_MAGIC, 8);
        buf_u32(&b, HPCPROF_VERSION);
        buf_u32(&b, crc32_bytes(0, b.bytes, b.len));
        add_block(&b, FORMAT_TABLES, decl, sizeof decl - 1);
        add_block(&b, FORMAT_ROWS, cases[i].payload, cases[i].len);
        CHECK_INT(hpcprof_read_bytes(b.bytes, b.len, "rows", &p, w, NULL), 0);
        bool said = cases[i].want && strstr(warnings_get(w, 0), cases[i].want);
        CHECK_NAMED(said || (!cases[i].want && strstr(warnings_get(w, 0), "no process")), cases[i].name);
        CHECK_INT(table_row_count(table_list_find(&p->tables, "t")), cases[i].want ? 0 : 2);
        hpcprof_free(p);
        warnings_free(w);
        buf_release(&b);
    }
}

/* Blocks with valid checksums and invalid contents. */
static void test_nonsense(void)
{
    static const struct {
        const char *name;
        uint32_t type;
        const char *payload;
        size_t len;
        const char *want;
    } cases[] = {
        {"counts of no thread", FORMAT_COUNTS, "\0\0\0\0\1\0\1", 7, "its thread is missing"},
        {"more rows than bytes", FORMAT_EVENTS, "\xff\xff\xff\xff\x0f", 5, "more rows than bytes"},
        {"a string beyond the end", FORMAT_EVENTS, "\1\x20xy", 4, "it is too short"},
        {"a thread without a process", FORMAT_THREADS, "\1\0\0\0", 4, "it precedes any process"},
        {"a context of no module", FORMAT_CONTEXTS, "\1\0\0\0", 4, "the module of a context is missing"},
        {"a region in no region", FORMAT_REGIONS, "\1\7\0", 3, "the parent of a region is missing"},
        {"a table of a strange type", FORMAT_TABLES, "\1\1t\0\0\1\1x\0\0\0\5\0\0", 14,
         "the declaration of a table is inconsistent"},
        {"a table of too many columns", FORMAT_TABLES, TABLE_OF_65, sizeof TABLE_OF_65 - 1, "too many columns"},
        {"a table without columns", FORMAT_TABLES, "\1\1t\0\0\0", 6, "the declaration of a table is inconsistent"},
        {"rows of no table", FORMAT_ROWS, "\0\1\1", 3, "its table is missing"},
        {"an empty block", FORMAT_MODULES, "", 0, "it is too short"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf b = {0};
        struct hpcprof *p = NULL;
        struct warnings *w = warnings_create();
        struct err err = {0};
        buf_add(&b, FORMAT_MAGIC, 8);
        buf_u32(&b, HPCPROF_VERSION);
        buf_u32(&b, crc32_bytes(0, b.bytes, b.len));
        add_block(&b, cases[i].type, cases[i].payload, cases[i].len);
        int status = hpcprof_read_bytes(b.bytes, b.len, "nonsense", &p, w, &err);
        CHECK_NAMED(status == 0 && warnings_count(w) > 0 && strstr(warnings_get(w, 0), cases[i].want), cases[i].name);
        if (status == 0 && warnings_count(w) > 0 && !strstr(warnings_get(w, 0), cases[i].want))
            printf("# got: %s\n", warnings_get(w, 0));
        hpcprof_free(p);
        warnings_free(w);
        buf_release(&b);
    }
}

static void test_refused(const uint8_t *bytes, size_t len)
{
    struct hpcprof *p;
    struct err err = {0};
    struct buf b = {0};
    CHECK_INT(hpcprof_read_bytes("\177ELF", 4, "a.out", &p, NULL, &err), -1);
    CHECK_STR(err.msg, "a.out: not a measurement file (it does not begin with \"hpcprof\")");
    buf_add(&b, FORMAT_MAGIC, 8);
    buf_u32(&b, 9);
    buf_u32(&b, crc32_bytes(0, b.bytes, b.len));
    buf_add(&b, bytes + b.len, len - b.len);
    CHECK_INT(hpcprof_read_bytes(b.bytes, b.len, "new", &p, NULL, &err), -1);
    CHECK_STR(err.msg, "new: measurement of version 9; this hpcview reads version 1");
    CHECK_INT(hpcprof_read("/nonexistent/dir", &p, NULL, &err), -1);
    buf_release(&b);
}

/* A newer writer may add block types; they are passed over. */
static void test_unknown_block(const uint8_t *bytes, size_t len)
{
    struct buf b = {0};
    struct hpcprof *p;
    struct warnings *w = warnings_create();
    struct err err = {0};
    buf_add(&b, bytes, FORMAT_HEADER_BYTES);
    add_block(&b, FORMAT_TYPE('N', 'E', 'W', '!'), "abc", 3);
    buf_add(&b, bytes + FORMAT_HEADER_BYTES, len - FORMAT_HEADER_BYTES);
    CHECK_INT(hpcprof_read_bytes(b.bytes, b.len, "newer", &p, w, &err), 0);
    CHECK_NAMED(p->count_count == 4 && warnings_count(w) == 0, "an unknown block type is passed over");
    hpcprof_free(p);
    warnings_free(w);
    buf_release(&b);
}

static void test_many_counts(void)
{
    struct hpcprof *p = example();
    for (uint64_t i = 0; i < 100000; i++)
        hpcprof_add_count(p, &(struct hpcprof_count){0, 0, 0, 0, 1, 4000000});
    hpcprof_finish(p);
    CHECK_INT(p->count_count, 4);
    CHECK_INT(value_of(p, 0, 0, 0, 0), 100001ull * 4000000);
    hpcprof_free(p);
}

/* More of each item than fits into a block: contexts, lines with their procedures' files, counts of two threads, events
   and regions. */
static struct hpcprof *large(void)
{
    enum { CONTEXTS = 10000 };
    struct hpcprof *p = example();
    struct hpcprof_context at = {.parent = HPCPROF_NO_PARENT}, line = {.parent = HPCPROF_NO_PARENT, .by_line = true};
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        at.module = i % 2;
        at.address = 0x500000 + (i * 7919u) % 65536 * 4;
        at.parent = hpcprof_add_context(p, &at) / 3;
        char name[32];
        snprintf(name, sizeof name, "procedure %u", i / 7);
        line.procedure = id(p, name);
        line.line = i;
        line.procedure_file = i % 3 ? 0 : id(p, i % 2 ? "a.h" : "b.h");
        hpcprof_add_context(p, &line);
    }
    for (uint32_t i = 0; i < p->context_count; i++)
        hpcprof_add_count(p, &(struct hpcprof_count){i % 2, i, i / 2 % 2, i / 4 % 2, i % 5 + 1, i * 3 + 1});
    for (uint32_t i = 0; i < p->context_count; i++)
        hpcprof_add_count(p, &(struct hpcprof_count){0, i, 0, 0, 2, 8000000});
    hpcprof_finish(p);
    return p;
}

static bool same_context(const struct hpcprof *a, const struct hpcprof *b, size_t i)
{
    const struct hpcprof_context *x = &a->contexts[i], *y = &b->contexts[i];
    return x->parent == y->parent && x->module == y->module && x->address == y->address && x->line == y->line &&
           x->by_line == y->by_line &&
           strcmp(strtab_get(a->strings, x->procedure), strtab_get(b->strings, y->procedure)) == 0 &&
           strcmp(strtab_get(a->strings, x->file), strtab_get(b->strings, y->file)) == 0 &&
           strcmp(strtab_get(a->strings, x->procedure_file), strtab_get(b->strings, y->procedure_file)) == 0;
}

static void test_more_than_a_block(void)
{
    struct hpcprof *p = large(), *back = NULL;
    struct warnings *w = warnings_create();
    size_t len;
    uint8_t *bytes = written(p, &len);
    CHECK_INT(hpcprof_read_bytes(bytes, len, "large", &back, w, NULL), 0);
    CHECK_INT(warnings_count(w), 0);
    bool contexts = back->context_count == p->context_count, counts = back->count_count == p->count_count;
    CHECK(p->context_count > 16384 && p->count_count > 2 * 16384);
    for (size_t i = 0; contexts && i < p->context_count; i++)
        contexts = same_context(p, back, i);
    for (size_t i = 0; counts && i < p->count_count; i++)
        counts = memcmp(&p->counts[i], &back->counts[i], sizeof p->counts[i]) == 0;
    CHECK_NAMED(contexts, "all contexts come back");
    CHECK_NAMED(counts, "all counts come back");
    mem_free(bytes);
    hpcprof_free(back);
    hpcprof_free(p);
    warnings_free(w);
}

/* Of several totals of a thread and event, the last one counts. */
static void test_totals(void)
{
    struct hpcprof *p = example();
    for (uint64_t i = 0; i < 3; i++)
        for (uint32_t event = 2; event-- > 0;)
            hpcprof_add_total(p, &(struct hpcprof_total){1, event, 100 * i + event});
    hpcprof_finish(p);
    CHECK_INT(p->total_count, 3);
    CHECK(p->totals[0].thread == 0 && p->totals[0].event == 0 && p->totals[0].value == 16000123);
    CHECK(p->totals[1].thread == 1 && p->totals[1].event == 0 && p->totals[1].value == 200);
    CHECK(p->totals[2].thread == 1 && p->totals[2].event == 1 && p->totals[2].value == 201);
    hpcprof_free(p);
}

/* The same of many threads and events, in any order. */
static void test_many_totals(void)
{
    enum { THREADS = 5, EVENTS = 4 };
    uint64_t last[THREADS][EVENTS] = {{0}};
    struct hpcprof *p = hpcprof_create();
    uint32_t random = 7, known = 0;
    for (uint32_t i = 1; i < 200; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t thread = (random >> 16) % THREADS, event = (random >> 24) % EVENTS;
        known += last[thread][event] == 0;
        last[thread][event] = i;
        hpcprof_add_total(p, &(struct hpcprof_total){thread, event, i});
        if (i % 50 == 0)
            hpcprof_finish(p);
    }
    hpcprof_finish(p);
    CHECK_INT(p->total_count, known);
    bool good = true;
    for (size_t i = 0; i < p->total_count; i++) {
        const struct hpcprof_total *t = &p->totals[i], *before = i ? t - 1 : NULL;
        good = good && t->value == last[t->thread][t->event] &&
               (!before || before->thread < t->thread || (before->thread == t->thread && before->event < t->event));
    }
    CHECK_NAMED(good, "the last of each, by thread and event");
    hpcprof_free(p);
}

/* Counts without samples are reported from a fifth on, if there is enough data to judge. */
static void test_unsampled(void)
{
    static const struct {
        const char *name;
        uint64_t period, samples, counted;
        unsigned flags;
        const char *note, *want;
    } cases[] = {
        {"all of it", 1000, 100, 100000, 0, NULL, NULL},
        {"four fifths", 1000, 80, 100000, 0, NULL, NULL},
        {"less", 1000, 79, 100000, 0, NULL,
         "E: only 79% of the counts were sampled; the rest is not attributed to any procedure"},
        {"less, and why", 1000, 50, 100000, 0, "no right",
         "E: only 50% of the counts were sampled; the rest is not attributed to any procedure. In the kernel: no "
         "right"},
        {"too little to judge", 1000, 5, 19999, 0, NULL, NULL},
        {"just enough", 1000, 5, 20000, 0, NULL,
         "E: only 25% of the counts were sampled; the rest is not attributed to any procedure"},
        {"exact counts", 0, 5, 100000, 0, NULL, NULL},
        {"lost samples", 1000, 5, 100000, HPCPROF_LOST, NULL, NULL},
        {"more than was counted", 1000, 200, 100000, 0, NULL, NULL},
        {"nothing counted", 1000, 5, 0, 0, NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct hpcprof *p = hpcprof_create();
        struct warnings *w = warnings_create();
        struct hpcprof_event e = {.name = id(p, "E"), .period = cases[i].period, .flags = cases[i].flags};
        struct hpcprof_process process = {.rank = -1};
        struct hpcprof_thread thread = {.process = hpcprof_add_process(p, &process)};
        struct hpcprof_context c = {
            .parent = HPCPROF_NO_PARENT, .module = hpcprof_add_module(p, "/app", ""), .address = 16};
        hpcprof_add_thread(p, &thread);
        hpcprof_add_event(p, &e);
        hpcprof_add_count(
            p, &(struct hpcprof_count){0, hpcprof_add_context(p, &c), 0, 0, cases[i].samples, cases[i].samples * 1000});
        hpcprof_add_total(p, &(struct hpcprof_total){0, 0, cases[i].counted});
        if (cases[i].note)
            hpcprof_add_note(p, &(struct hpcprof_note){0, id(p, "in the kernel"), id(p, cases[i].note)});
        hpcprof_finish(p);
        hpcprof_warn_unsampled(p, w);
        CHECK_NAMED(warnings_count(w) == (cases[i].want != NULL), cases[i].name);
        if (cases[i].want)
            CHECK_STR(warnings_count(w) ? warnings_get(w, 0) : "", cases[i].want);
        hpcprof_free(p);
        warnings_free(w);
    }
}

int main(void)
{
    struct hpcprof *p = example();
    size_t len;
    uint8_t *bytes = written(p, &len);
    test_round_trip(bytes, len);
    test_cut_everywhere(bytes, len, p);
    test_flip_every_bit(bytes, len, p);
    RUN(test_nonsense);
    RUN(test_nonsense_rows);
    test_tables_of_two_files(bytes, len);
    test_summed(bytes, len);
    test_refused(bytes, len);
    test_unknown_block(bytes, len);
    RUN(test_many_counts);
    RUN(test_more_than_a_block);
    RUN(test_totals);
    RUN(test_many_totals);
    RUN(test_unsampled);
    mem_free(bytes);
    hpcprof_free(p);
    return tap_done();
}
