/* SPDX-License-Identifier: BSD-3-Clause */
/* Random measurements: written ones are read again, block by block and in folders of many; the merged measurement is
   compared with the sum of its parts, as lines of text. */
#include "hpcprof/format/tables.h"
#include "hpcprof/format/writer.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- random measurements ----------------------------------------------------------------------------------------- */

/* Maximum number of each. */
struct sizes {
    uint32_t events, modules, regions, contexts, processes, threads, counts, totals, notes, rows;
};

static str_id id(struct hpcprof *p, const char *prefix, uint32_t n)
{
    char text[60];
    snprintf(text, sizeof text, "%s%u", prefix, n);
    return n ? strtab_add(p->strings, text) : 0;
}

/* A random number between half of the maximum and the maximum. */
static uint32_t many(uint32_t most)
{
    return most / 2 + below(most - most / 2 + 1);
}

static uint64_t wide(void)
{
    return random64() >> below(64);
}

/* A table that keeps all rows, one that merges rows, and one that refers to the latter and to itself. */
static void draw_tables(struct hpcprof *p, uint32_t rows)
{
    static const struct table_column plain[] = {
        {.name = "n", .type = TABLE_COUNT, .merge = TABLE_LAST},
        {.name = "x", .type = TABLE_NUMBER, .merge = TABLE_LAST},
        {.name = "when", .unit = "ns", .type = TABLE_TIME, .merge = TABLE_LAST},
        {.name = "where", .type = TABLE_REF, .merge = TABLE_LAST, .refers = "context"},
        {.name = "who", .type = TABLE_REF, .merge = TABLE_LAST, .refers = "thread"},
        {.name = "region", .type = TABLE_REF, .merge = TABLE_LAST, .refers = "region"},
        {.name = "of", .type = TABLE_REF, .merge = TABLE_LAST, .refers = "keyed"}};
    static const struct table_column keyed[] = {
        {.name = "key", .title = "the key", .type = TABLE_TEXT, .merge = TABLE_KEY},
        {.name = "sum", .description = "of all", .type = TABLE_COUNT, .merge = TABLE_SUM}};
    static const struct table_decl keyed_table = {"keyed", "Keyed", "what has keys", keyed, ARRAY_SIZE(keyed)};
    static const struct table_decl plain_table = {"plain", NULL, NULL, plain, ARRAY_SIZE(plain)};
    struct table *k, *t;
    if (table_list_declare(&p->tables, &keyed_table, p->strings, &k, NULL) < 0 ||
        table_list_declare(&p->tables, &plain_table, p->strings, &t, NULL) < 0)
        return;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t of =
            table_add(k, (union table_cell[]){{.text = id(p, "key ", 1 + below(rows * 2))}, {.count = below(50)}});
        table_add(t, (union table_cell[]){
                         {.count = below(9) ? wide() : TABLE_NO_COUNT},
                         {.number = (double)wide() / 7},
                         {.count = wide() >> 1},
                         {.row = p->context_count && below(5) ? below((uint32_t)p->context_count) : TABLE_NONE},
                         {.row = p->thread_count && below(5) ? below((uint32_t)p->thread_count) : TABLE_NONE},
                         {.row = below((uint32_t)p->region_count)},
                         {.row = below(5) ? of : TABLE_NONE}});
    }
}

static void draw_context(struct hpcprof *p)
{
    struct hpcprof_context c = {.parent = p->context_count && below(4) ? below((uint32_t)p->context_count)
                                                                       : HPCPROF_NO_PARENT,
                                .module = below((uint32_t)p->module_count)};
    if (below(3) == 0) {
        c.by_line = true;
        c.procedure = id(p, "f", below(20));
        c.file = id(p, "f.c", below(4));
        c.line = below(4) ? below(100) : (uint32_t)(wide() >> 32);
        c.procedure_file = below(3) ? 0 : id(p, "f.h", below(3));
    } else
        c.address = below(3) ? 0x400000 + below(200) * 4 : wide();
    hpcprof_add_context(p, &c);
}

static void draw_process(struct hpcprof *p, const struct sizes *s, uint32_t pid)
{
    struct hpcprof_process process = {.host = id(p, "host", below(3)),
                                      .command = id(p, "app -n ", below(4)),
                                      .working_dir = id(p, "/home/", below(3)),
                                      .machine = id(p, "CPU ", below(3)),
                                      .kernel = id(p, "Linux ", below(3)),
                                      .sampler = id(p, "ring", below(3)),
                                      .start_ns = wide(),
                                      .end_ns = wide(),
                                      .pid = pid,
                                      .parent_pid = below(1000),
                                      .rank = (int32_t)below(5) - 1,
                                      .exit_status = (int32_t)below(70000) - 1,
                                      .complete = below(4) > 0};
    uint32_t number = hpcprof_add_process(p, &process), threads = 1 + many(s->threads),
             first = (uint32_t)p->thread_count;
    for (uint32_t i = 0; i < threads; i++)
        hpcprof_add_thread(p, &(struct hpcprof_thread){.process = number,
                                                       .number = i,
                                                       .name = id(p, "thread ", below(4)),
                                                       .start_ns = wide(),
                                                       .end_ns = wide(),
                                                       .cpu_ns = wide()});
    for (uint32_t n = many(s->counts); n > 0; n--) {
        uint32_t event = below((uint32_t)p->event_count);
        uint64_t samples = below(8) ? 1 + below(100) : wide() >> 8, period = p->events[event].period;
        bool follows = below(200) || !period || samples > 1000;
        hpcprof_add_count(p, &(struct hpcprof_count){first + below(threads), below((uint32_t)p->context_count), event,
                                                     below((uint32_t)p->region_count), samples,
                                                     follows ? samples * (period % 100000) : samples + 1});
    }
    for (uint32_t n = many(s->totals); n > 0; n--)
        hpcprof_add_total(p, &(struct hpcprof_total){first + below(threads), below((uint32_t)p->event_count), wide()});
    for (uint32_t n = many(s->notes); n > 0; n--)
        hpcprof_add_note(p, &(struct hpcprof_note){number, id(p, "note ", 1 + n), id(p, "value ", below(9))});
}

/* Shared items have the same names in all files. `pid`: of the first process. */
static struct hpcprof *draw(const struct sizes *s, uint32_t pid)
{
    struct hpcprof *p = hpcprof_create();
    for (uint32_t n = 1 + many(s->events); n > 0; n--)
        hpcprof_add_event(p, &(struct hpcprof_event){id(p, "event ", n), id(p, "of kind ", n % 3), id(p, "unit", n % 2),
                                                     n % 4 ? n * 1000 : 0, n % 5});
    for (uint32_t n = 1 + many(s->modules); n > 0; n--) {
        char path[40], build_id[20];
        snprintf(path, sizeof path, "/lib/%u.so", n / 2);
        snprintf(build_id, sizeof build_id, "%.*x", n % 2 ? 8 : 0, n % 2 ? n : 0);
        hpcprof_add_module(p, path, build_id);
    }
    for (uint32_t n = many(s->regions); n > 0; n--) {
        char name[20];
        snprintf(name, sizeof name, "region %u", below(s->regions * 2));
        hpcprof_add_region(p, name, below((uint32_t)p->region_count));
    }
    for (uint32_t n = 1 + many(s->contexts); n > 0; n--)
        draw_context(p);
    for (uint32_t i = 0, n = 1 + many(s->processes); i < n; i++)
        draw_process(p, s, pid + i);
    draw_tables(p, many(s->rows));
    hpcprof_finish(p);
    return p;
}

/* ---- as lines of text ------------------------------------------------------------------------------------------------ */

struct lines VEC(char *);

static const char *text(const struct hpcprof *p, str_id s)
{
    return strtab_get(p->strings, s);
}

static char *text_of_context(const struct hpcprof *p, uint32_t i)
{
    const struct hpcprof_context *c = &p->contexts[i];
    const struct hpcprof_module *m = &p->modules[c->module];
    char *above = c->parent == HPCPROF_NO_PARENT ? mem_strdup("") : text_of_context(p, c->parent);
    char *all = c->by_line ? mem_printf("%s > %s[%s] %s %s:%u (%s)", above, text(p, m->path), text(p, m->build_id),
                                        text(p, c->procedure), text(p, c->file), c->line, text(p, c->procedure_file))
                           : mem_printf("%s > %s[%s] %llx", above, text(p, m->path), text(p, m->build_id),
                                        (unsigned long long)c->address);
    mem_free(above);
    return all;
}

static char *text_of_region(const struct hpcprof *p, uint32_t i)
{
    if (i == 0)
        return mem_strdup("");
    char *above = text_of_region(p, p->regions[i].parent),
         *all = mem_printf("%s/%s", above, text(p, p->regions[i].name));
    mem_free(above);
    return all;
}

static char *text_of_thread(const struct hpcprof *p, uint32_t i)
{
    return mem_printf("%u.%u", p->processes[p->threads[i].process].pid, p->threads[i].number);
}

static char *text_of_cell(const struct hpcprof *p, const struct table_column *c, union table_cell v)
{
    if (c->type == TABLE_TEXT)
        return mem_strdup(text(p, v.text));
    if (c->type == TABLE_NUMBER)
        return mem_printf("%a", v.number);
    if (c->type != TABLE_REF)
        return mem_printf("%llu", (unsigned long long)v.count);
    if (v.row == TABLE_NONE)
        return mem_strdup("none");
    return strcmp(c->refers, "context") == 0  ? text_of_context(p, v.row)
           : strcmp(c->refers, "thread") == 0 ? text_of_thread(p, v.row)
           : strcmp(c->refers, "region") == 0
               ? text_of_region(p, v.row)
               : mem_strdup(text(p, table_row(table_list_find(&p->tables, c->refers), v.row)[0].text));
}

/* Prints the rows of a table; `united`: without values that may be sums of several rows. */
static void put_table(struct lines *to, const struct hpcprof *p, const struct table *t)
{
    const struct table_decl *d = table_declared(t);
    for (size_t r = 0; r < table_row_count(t); r++) {
        char *line = mem_printf("row of %s (%s, %s):", d->name, d->title, d->description);
        for (size_t k = 0; k < d->column_count; k++) {
            char *cell = text_of_cell(p, &d->columns[k], table_row(t, r)[k]);
            char *more = mem_printf("%s %s[%s|%s|%s]=%s", line, d->columns[k].name, d->columns[k].title,
                                    d->columns[k].unit, d->columns[k].description, cell);
            mem_free(line);
            mem_free(cell);
            line = more;
        }
        *vec_push(to) = line;
    }
}

/* If `summed`, without the fields of single threads. */
static void put_counts(struct lines *to, const struct hpcprof *p, bool summed)
{
    for (size_t i = 0; i < p->count_count; i++) {
        const struct hpcprof_count *c = &p->counts[i];
        char *context = text_of_context(p, c->context), *region = text_of_region(p, c->region);
        char *thread = summed ? mem_strdup("all") : text_of_thread(p, c->thread);
        *vec_push(to) =
            mem_printf("count of %s in %s, %s, region %s:\t%llu %llu", text(p, p->events[c->event].name), thread,
                       context, region, (unsigned long long)c->samples, (unsigned long long)c->value);
        mem_free(context);
        mem_free(region);
        mem_free(thread);
    }
}

static void put_rest(struct lines *to, const struct hpcprof *p)
{
    for (size_t i = 0; i < p->process_count; i++) {
        const struct hpcprof_process *x = &p->processes[i];
        *vec_push(to) =
            mem_printf("process %u of %u on %s: %s|%s|%s|%s|%s %llu-%llu rank %d status %d %d threads %u", x->pid,
                       x->parent_pid, text(p, x->host), text(p, x->command), text(p, x->working_dir),
                       text(p, x->machine), text(p, x->kernel), text(p, x->sampler), (unsigned long long)x->start_ns,
                       (unsigned long long)x->end_ns, x->rank, x->exit_status, x->complete, x->thread_count);
    }
    for (uint32_t i = 0; i < p->thread_count; i++) {
        const struct hpcprof_thread *t = &p->threads[i];
        char *name = text_of_thread(p, i);
        *vec_push(to) =
            mem_printf("thread %s '%s' %llu-%llu cpu %llu", name, text(p, t->name), (unsigned long long)t->start_ns,
                       (unsigned long long)t->end_ns, (unsigned long long)t->cpu_ns);
        mem_free(name);
    }
    for (size_t i = 0; i < p->total_count; i++) {
        char *name = text_of_thread(p, p->totals[i].thread);
        *vec_push(to) = mem_printf("total of %s in %s: %llu", text(p, p->events[p->totals[i].event].name), name,
                                   (unsigned long long)p->totals[i].value);
        mem_free(name);
    }
    for (size_t i = 0; i < p->note_count; i++)
        *vec_push(to) = mem_printf("note of %u: %s=%s", p->processes[p->notes[i].process].pid,
                                   text(p, p->notes[i].name), text(p, p->notes[i].value));
    const struct table *plain = table_list_find(&p->tables, "plain");
    if (plain)
        put_table(to, p, plain);
}

/* Prints the items shared by all files, once in the merged measurement. */
static void put_shared(struct lines *to, const struct hpcprof *p)
{
    for (size_t i = 0; i < p->event_count; i++) {
        const struct hpcprof_event *e = &p->events[i];
        *vec_push(to) = mem_printf("event %s|%s|%s %llu %u", text(p, e->name), text(p, e->description),
                                   text(p, e->unit), (unsigned long long)e->period, e->flags);
    }
    for (size_t i = 0; i < p->module_count; i++)
        *vec_push(to) = mem_printf("module %s[%s]", text(p, p->modules[i].path), text(p, p->modules[i].build_id));
    for (uint32_t i = 1; i < p->region_count; i++) {
        char *name = text_of_region(p, i);
        *vec_push(to) = mem_printf("region %s", name);
        mem_free(name);
    }
    for (uint32_t i = 0; i < p->context_count; i++) {
        char *name = text_of_context(p, i);
        *vec_push(to) = mem_printf("context %s", name);
        mem_free(name);
    }
}

static void put_keyed(struct lines *to, const struct hpcprof *p)
{
    const struct table *keyed = table_list_find(&p->tables, "keyed");
    for (size_t r = 0; keyed && r < table_row_count(keyed); r++)
        *vec_push(to) = mem_printf("keyed %s:\t%llu 0", text(p, table_row(keyed, r)[0].text),
                                   (unsigned long long)table_row(keyed, r)[1].count);
}

static void free_lines(struct lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        mem_free(l->items[i]);
    vec_release(l);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the lines. If lines are equal up to a tab, the two numbers after it are added; other duplicates are removed if
   `once`. */
static void unite(struct lines *l, bool once)
{
    size_t n = 0;
    if (l->count == 0)
        return;
    qsort(l->items, l->count, sizeof *l->items, by_text);
    for (size_t i = 0; i < l->count; i++) {
        char *tab = strchr(l->items[i], '\t');
        size_t head = tab ? (size_t)(tab - l->items[i]) + 1 : strlen(l->items[i]) + 1;
        bool same = n > 0 && (tab || once) && strncmp(l->items[n - 1], l->items[i], head) == 0;
        if (!same) {
            l->items[n++] = l->items[i];
            continue;
        }
        if (tab) {
            unsigned long long a[2], b[2];
            sscanf(l->items[n - 1] + head, "%llu %llu", &a[0], &a[1]);
            sscanf(tab + 1, "%llu %llu", &b[0], &b[1]);
            char *sum = mem_printf("%.*s%llu %llu", (int)head, l->items[i], a[0] + b[0], a[1] + b[1]);
            mem_free(l->items[n - 1]);
            l->items[n - 1] = sum;
        }
        mem_free(l->items[i]);
    }
    l->count = n;
}

static bool same_lines(const struct lines *got, const struct lines *want, const char *what)
{
    for (size_t i = 0; i < got->count || i < want->count; i++) {
        const char *a = i < got->count ? got->items[i] : "nothing", *b = i < want->count ? want->items[i] : "nothing";
        if (strcmp(a, b) != 0) {
            printf("# %s, line %zu:\n# got    \"%.300s\"\n# wanted \"%.300s\"\n", what, i, a, b);
            return false;
        }
    }
    return true;
}

/* ---- round trip -------------------------------------------------------------------------------------------------- */

static struct buf written(const struct hpcprof *p)
{
    struct buf all = {0};
    struct outfile *out = outfile_into(&all);
    struct err err = {0};
    if (hpcprof_write(p, out, &err) < 0 || outfile_commit(out, &err) < 0)
        printf("# %s\n", err.msg);
    return all;
}

/* Blocks are contiguous, none exceeds the maximum size, and all are valid. */
struct blocks {
    uint64_t at;
    unsigned count, bad;
    size_t modules, regions, contexts; /* blocks of them */
};

static void see_block(void *ctx, const struct hpcprof_block *b)
{
    struct blocks *all = ctx;
    all->bad += b->offset != all->at || b->why_not || b->length > FORMAT_BLOCK_BYTES + 2 * BYTES_PER_BLOCK;
    all->at = b->offset + b->length;
    all->count++;
    all->modules += strcmp(b->type, "modules") == 0;
    all->regions += strcmp(b->type, "regions") == 0;
    all->contexts += strcmp(b->type, "contexts") == 0;
}

/* For rows of a few bytes each. */
static size_t blocks_for(size_t rows)
{
    return (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
}

static bool comes_back(const struct hpcprof *p)
{
    struct buf bytes = written(p), again;
    struct hpcprof *back = NULL;
    struct warnings *w = warnings_create();
    struct lines a = {0}, b = {0};
    struct blocks blocks = {.at = FORMAT_HEADER_BYTES};
    hpcprof_list_blocks(bytes.bytes, bytes.len, "", see_block, &blocks, NULL);
    bool well = blocks.bad == 0 && blocks.at == bytes.len && blocks.modules == blocks_for(p->module_count) &&
                blocks.regions == blocks_for(p->region_count - 1) && blocks.contexts == blocks_for(p->context_count) &&
                hpcprof_read_bytes(bytes.bytes, bytes.len, "drawn", &back, w, NULL) == 0;
    if (well) {
        put_shared(&a, p), put_counts(&a, p, false), put_rest(&a, p), put_keyed(&a, p);
        put_shared(&b, back), put_counts(&b, back, false), put_rest(&b, back), put_keyed(&b, back);
        well = same_lines(&b, &a, "read back");
        again = written(back);
        well = well && again.len == bytes.len && memcmp(again.bytes, bytes.bytes, bytes.len) == 0;
        buf_release(&again);
    }
    free_lines(&a);
    free_lines(&b);
    warnings_free(w);
    hpcprof_free(back);
    buf_release(&bytes);
    return well;
}

static void test_there_and_back(void)
{
    static const struct sizes small = {3, 4, 5, 30, 3, 4, 60, 8, 4, 20};
    /* Each in turn exceeds the size of a block. */
    static const struct sizes large[] = {{LIMIT_EVENTS - 1, 2, 2, 5, 1, 1, 5, 2, 2, 2},
                                         {2, 9000, 2, 5, 1, 1, 5, 2, 2, 2},
                                         {2, 2, 9000, 5, 1, 1, 5, 2, 2, 2},
                                         {2, 2, 2, 9000, 1, 1, 20000, 2, 2, 2},
                                         {2, 2, 2, 5, 9, 1, 5, 2, 2, 2},
                                         {2, 2, 2, 5, 2, 9000, 5, 9000, 2, 2},
                                         {200, 2, 200, 50, 2, 2, 20000, 2, 2, 2},
                                         {2, 2, 2, 5, 2, 1, 5, 2, 9000, 2},
                                         {2, 2, 2, 5, 1, 2, 5, 2, 2, 9000}};
    unsigned wrong = 0;
    for (int i = 0; i < 100; i++) {
        struct hpcprof *p = draw(&small, 100);
        wrong += !comes_back(p);
        hpcprof_free(p);
    }
    CHECK_INT(wrong, 0);
    for (size_t i = 0; i < ARRAY_SIZE(large); i++) {
        struct hpcprof *p = draw(&large[i], 100);
        CHECK(comes_back(p));
        hpcprof_free(p);
    }
}

/* ---- blocks that are sound and end too early ------------------------------------------------------------------------- */

static bool is_among(const struct lines *all, char *line)
{
    return bsearch(&line, all->items, all->count, sizeof *all->items, by_text) != NULL;
}

struct cuts {
    const struct buf *bytes;
    const struct lines *all; /* of the complete file, sorted */
    unsigned wrong, tried;
};

/* The file up to this block, followed by the truncated block: the result contains only places and counts of the
   complete file. */
static void cut_block(void *ctx, const struct hpcprof_block *b)
{
    struct cuts *cuts = ctx;
    size_t length = (size_t)b->length - FORMAT_BLOCK_BYTES;
    const char *payload = cuts->bytes->bytes + b->offset + FORMAT_BLOCK_BYTES;
    for (size_t less = 1; less <= length && less < 30; less += 1 + less / 6) {
        struct buf file = {0}, rest = {0};
        struct hpcprof *p = NULL;
        struct warnings *w = warnings_create();
        struct lines lines = {0};
        uint32_t type;
        memcpy(&type, cuts->bytes->bytes + b->offset, 4);
        buf_add(&rest, payload, length - less);
        buf_add(&file, cuts->bytes->bytes, (size_t)b->offset);
        hpcprof_write_block_head(&file, type, &rest);
        buf_add(&file, payload, length - less);
        if (hpcprof_read_bytes(file.bytes, file.len, "cut", &p, w, NULL) == 0) {
            put_shared(&lines, p), put_counts(&lines, p, false);
            for (size_t i = 0; i < lines.count; i++)
                cuts->wrong += !is_among(cuts->all, lines.items[i]);
            cuts->wrong += warnings_count(w) == 0;
        }
        cuts->tried++;
        free_lines(&lines);
        hpcprof_free(p);
        warnings_free(w);
        buf_release(&file);
        buf_release(&rest);
    }
}

static void test_cut_blocks(void)
{
    static const struct sizes sizes = {3, 4, 3, 9, 2, 2, 12, 3, 3, 4};
    unsigned wrong = 0, tried = 0;
    for (int i = 0; i < 12; i++) {
        struct hpcprof *p = draw(&sizes, 100);
        struct buf bytes = written(p);
        struct lines all = {0};
        put_shared(&all, p), put_counts(&all, p, false);
        unite(&all, true);
        struct cuts cuts = {&bytes, &all, 0, 0};
        hpcprof_list_blocks(bytes.bytes, bytes.len, "", cut_block, &cuts, NULL);
        wrong += cuts.wrong, tried += cuts.tried;
        free_lines(&all);
        buf_release(&bytes);
        hpcprof_free(p);
    }
    CHECK_INT(wrong, 0);
    CHECK(tried > 500);
}

/* The warning for a process that did not write its end block. */
static void test_incomplete(void)
{
    static const struct {
        int32_t status, read;
        const char *want;
    } cases[] = {
        {-1, -1, "x: process 7 was killed or is still running; its last second may be missing from the measurement"},
        {-2, -1, "x: process 7 was killed or is still running; its last second may be missing from the measurement"},
        {0, 0,
         "x: process 7 ended without writing its last counts; its last second may be missing from the measurement"},
        {9, 9,
         "x: process 7 ended without writing its last counts; its last second may be missing from the measurement"},
        {INT32_MAX, INT32_MAX,
         "x: process 7 ended without writing its last counts; its last second may be missing from the measurement"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct hpcprof *p = hpcprof_create(), *back = NULL;
        struct warnings *w = warnings_create();
        hpcprof_add_process(p, &(struct hpcprof_process){.pid = 7, .rank = -1, .exit_status = cases[i].status});
        hpcprof_finish(p);
        struct buf bytes = written(p);
        CHECK_INT(hpcprof_read_bytes(bytes.bytes, bytes.len, "x", &back, w, NULL), 0);
        CHECK_STR(warnings_count(w) == 1 ? warnings_get(w, 0) : "not one", cases[i].want);
        CHECK_INT(back ? back->processes[0].exit_status : -9, cases[i].read);
        buf_release(&bytes);
        hpcprof_free(back);
        hpcprof_free(p);
        warnings_free(w);
    }
}

/* Values implied by samples and period are not written: each takes at least a byte per row. */
static void test_values_told(void)
{
    enum { ROWS = 50 };
    size_t bytes[2];
    for (unsigned odd = 0; odd < 2; odd++) {
        struct hpcprof *p = hpcprof_create(), *back = NULL;
        hpcprof_add_process(p, &(struct hpcprof_process){.rank = -1, .complete = true});
        hpcprof_add_thread(p, &(struct hpcprof_thread){0});
        hpcprof_add_event(p, &(struct hpcprof_event){.period = 10});
        uint32_t module = hpcprof_add_module(p, "m", "");
        for (unsigned i = 0; i < ROWS; i++) {
            struct hpcprof_context c = {.parent = HPCPROF_NO_PARENT, .module = module, .address = i};
            uint64_t value = i == ROWS / 2 ? 20 + odd : 20;
            hpcprof_add_count(
                p, &(struct hpcprof_count){.context = hpcprof_add_context(p, &c), .samples = 2, .value = value});
        }
        hpcprof_finish(p);
        struct buf file = written(p);
        bytes[odd] = file.len;
        CHECK_INT(hpcprof_read_bytes(file.bytes, file.len, "x", &back, NULL, NULL), 0);
        CHECK_INT(back->counts[ROWS / 2].value, 20 + odd);
        buf_release(&file);
        hpcprof_free(back);
        hpcprof_free(p);
    }
    CHECK(bytes[0] + ROWS <= bytes[1]);
}

/* No row is lost if several blocks are required: events with long descriptions, contexts with files of their own. */
static void test_several_blocks(void)
{
    enum { EVENTS = 12, LONG = 300000, OWN = 70000 };
    struct hpcprof *p = hpcprof_create(), *back = NULL;
    char *words = mem_alloc(LONG + 1);
    memset(words, 'w', LONG);
    words[LONG] = '\0';
    for (unsigned i = 0; i < EVENTS; i++) {
        words[0] = (char)('a' + i);
        hpcprof_add_event(p, &(struct hpcprof_event){.name = id(p, "event", i),
                                                     .description = strtab_add(p->strings, words),
                                                     .period = i + 1});
    }
    struct hpcprof_context c = {.parent = HPCPROF_NO_PARENT, .module = hpcprof_add_module(p, "m", ""), .by_line = true};
    for (uint32_t i = 0; i < OWN; i++) {
        c.line = i + 1;
        c.procedure_file = i % 3 ? id(p, "own", i % 7) : 0;
        hpcprof_add_context(p, &c);
    }
    hpcprof_add_process(p, &(struct hpcprof_process){.rank = -1, .complete = true});
    hpcprof_finish(p);
    struct buf bytes = written(p);
    CHECK_INT(hpcprof_read_bytes(bytes.bytes, bytes.len, "", &back, NULL, NULL), 0);
    size_t wrong = !back || back->event_count != EVENTS || back->context_count != OWN;
    for (unsigned i = 0; i < EVENTS && !wrong; i++) {
        const char *said = text(back, back->events[i].description);
        wrong += back->events[i].period != i + 1 || said[0] != (char)('a' + i) || strlen(said) != LONG;
    }
    for (uint32_t i = 0; i < OWN && !wrong; i++)
        wrong += back->contexts[i].line != i + 1 ||
                 strcmp(text(back, back->contexts[i].procedure_file), text(p, p->contexts[i].procedure_file)) != 0;
    CHECK_INT(wrong, 0);
    buf_release(&bytes);
    hpcprof_free(back);
    hpcprof_free(p);
    mem_free(words);
}

/* A name that is longer than a block's share of names is cut. */
static void test_long_name(void)
{
    enum { MOST = FORMAT_PAYLOAD_MAX / 16 };
    for (size_t n = MOST - 1; n <= MOST + 1; n++) {
        struct hpcprof *p = hpcprof_create(), *back = NULL;
        struct warnings *w = warnings_create();
        char *name = mem_alloc(n + 1);
        memset(name, 'x', n);
        name[n] = '\0';
        hpcprof_add_module(p, name, "");
        hpcprof_add_process(p, &(struct hpcprof_process){.rank = -1, .complete = true});
        hpcprof_finish(p);
        struct buf bytes = written(p);
        CHECK_INT(hpcprof_read_bytes(bytes.bytes, bytes.len, "", &back, w, NULL), 0);
        CHECK_INT(back ? strlen(text(back, back->modules[0].path)) : 0, n < MOST ? n : MOST);
        buf_release(&bytes);
        hpcprof_free(back);
        hpcprof_free(p);
        warnings_free(w);
        mem_free(name);
    }
}

/* ---- folders --------------------------------------------------------------------------------------------------------- */

enum { FILES = 7 };
static char folder[] = "/tmp/hpcprof-drawn-XXXXXX";

struct seen {
    struct lines files;
    size_t done, reports;
    bool wrong;
};

static void see_file(void *ctx, const struct hpcprof *p)
{
    struct seen *seen = ctx;
    *vec_push(&seen->files) = mem_printf("%u %zu", p->processes[0].pid, p->note_count);
}

static void add_a_note(struct hpcprof *p)
{
    hpcprof_add_note(p, &(struct hpcprof_note){(uint32_t)p->process_count - 1, id(p, "prepared ", 1), 0});
    hpcprof_finish(p);
}

static void see_progress(void *ctx, const char *what, uint64_t done, uint64_t all)
{
    struct seen *seen = ctx;
    seen->wrong |= strcmp(what, "reading measurements") != 0 || done < seen->done || done > all;
    seen->done = done;
    seen->reports++;
}

/* Files are read in the order of their first processes' ranks, those without one last. */
static void insert_by_rank(struct lines *order, uint32_t *ranks, const struct hpcprof *p)
{
    size_t at = order->count;
    char *line = mem_printf("%u %zu", p->processes[0].pid, p->note_count);
    vec_push(order);
    for (uint32_t rank = (uint32_t)p->processes[0].rank; at > 0 && ranks[at - 1] > rank; at--) {
        ranks[at] = ranks[at - 1];
        order->items[at] = order->items[at - 1];
    }
    ranks[at] = (uint32_t)p->processes[0].rank;
    order->items[at] = line;
}

static bool folder_is_its_parts(unsigned count, bool summed, unsigned threads, bool prepares)
{
    static const struct sizes sizes = {3, 4, 3, 12, 2, 3, 40, 5, 3, 9};
    struct lines want = {0}, shared = {0}, got = {0}, got_shared = {0}, order = {0};
    uint32_t ranks[FILES];
    struct hpcprof *whole = NULL;
    struct warnings *w = warnings_create();
    struct err err = {0};
    struct seen seen = {0};
    struct progress progress = {.report = see_progress, .ctx = &seen};
    struct hpcprof_reading how = {.threads = threads,
                                  .summed = summed,
                                  .prepare = prepares ? add_a_note : NULL,
                                  .each = see_file,
                                  .ctx = &seen,
                                  .progress = &progress};
    for (unsigned i = 0; i < count; i++) {
        struct hpcprof *p = draw(&sizes, 100 * (i + 1));
        struct outfile *out;
        char *path = mem_printf("%s/%u.hpcprof", folder, i);
        if (outfile_create(path, &out, NULL) < 0 || hpcprof_write(p, out, NULL) < 0 || outfile_commit(out, NULL) < 0)
            exit(99);
        mem_free(path);
        if (prepares)
            add_a_note(p);
        put_counts(&want, p, summed), put_rest(&want, p), put_keyed(&want, p), put_shared(&shared, p);
        insert_by_rank(&order, ranks, p);
        hpcprof_free(p);
    }
    bool well = hpcprof_read_as(folder, &how, &whole, w, &err) == 0;
    if (well) {
        put_counts(&got, whole, summed), put_rest(&got, whole), put_keyed(&got, whole), put_shared(&got_shared, whole);
        size_t before = got.count, before_shared = got_shared.count;
        unite(&want, false), unite(&got, false), unite(&shared, true), unite(&got_shared, true);
        well = same_lines(&got, &want, "a folder") && same_lines(&got_shared, &shared, "a folder's places") &&
               same_lines(&seen.files, &order, "each file") && got.count == before && got_shared.count == before_shared;
        for (size_t i = 0; i < whole->count_count; i++)
            well = well && (!summed || whole->counts[i].thread == 0);
        for (size_t i = 1; i < whole->count_count; i++) {
            const struct hpcprof_count *a = &whole->counts[i - 1], *b = &whole->counts[i];
            uint32_t x[] = {a->thread, a->context, a->event, a->region},
                     y[] = {b->thread, b->context, b->event, b->region};
            int k = 0;
            while (k < 3 && x[k] == y[k])
                k++;
            well = well && x[k] < y[k];
        }
        well =
            well && !seen.wrong && seen.done == count && seen.reports == (count + 4 * threads - 1) / (4 * threads) + 2;
    } else
        printf("# %s\n", err.msg);
    free_lines(&want), free_lines(&shared), free_lines(&got), free_lines(&got_shared), free_lines(&order),
        free_lines(&seen.files);
    hpcprof_free(whole);
    warnings_free(w);
    return well;
}

static void test_folders(void)
{
    unsigned wrong = 0;
    if (!mkdtemp(folder)) {
        SKIP("folders", "none can be made in /tmp");
        return;
    }
    for (unsigned i = 0; i < 42; i++) {
        unsigned count = 1 + i % FILES;
        wrong += !folder_is_its_parts(count, i / 7 % 2, 1 + i % 2, i % 3 == 0);
        if (count == FILES) {
            dir_remove_tree(folder, NULL);
            if (mkdir(folder, 0700) < 0)
                exit(99);
        }
    }
    CHECK_INT(wrong, 0);
    dir_remove_tree(folder, NULL);
}

/* ---- counts that come in any order ----------------------------------------------------------------------------------- */

enum { MOST_DISTINCT = 600 };

struct summed { /* sorted and unique */
    struct hpcprof_count rows[MOST_DISTINCT];
    size_t count;
};

static int before(const struct hpcprof_count *a, const struct hpcprof_count *b)
{
    uint32_t x[] = {a->thread, a->context, a->event, a->region}, y[] = {b->thread, b->context, b->event, b->region};
    int k = 0;
    while (k < 3 && x[k] == y[k])
        k++;
    return (x[k] > y[k]) - (x[k] < y[k]);
}

static uint64_t sum_or_most(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Adds one row, in sorted position. */
static void sum_up(struct summed *s, const struct hpcprof_count *row)
{
    size_t i = 0;
    while (i < s->count && before(&s->rows[i], row) < 0)
        i++;
    if (i < s->count && before(&s->rows[i], row) == 0) {
        s->rows[i].samples = sum_or_most(s->rows[i].samples, row->samples);
        s->rows[i].value = sum_or_most(s->rows[i].value, row->value);
        return;
    }
    memmove(s->rows + i + 1, s->rows + i, (s->count - i) * sizeof *s->rows);
    s->rows[i] = *row;
    s->count++;
}

/* Numbers that differ in one of their bytes. */
static struct hpcprof_count draw_count(uint32_t variety)
{
    uint32_t field[4];
    for (int i = 0; i < 4; i++)
        field[i] = below(variety) ? 0 : (1 + below(2)) << 8 * below(4);
    return (struct hpcprof_count){field[0],
                                  field[1],
                                  field[2],
                                  field[3],
                                  below(20) ? below(5) : UINT64_MAX - below(3),
                                  below(20) ? below(9) : UINT64_MAX - below(3)};
}

static bool same_counts(const struct hpcprof *p, const struct summed *s)
{
    bool same = p->count_count == s->count;
    for (size_t i = 0; same && i < s->count; i++)
        same = before(&p->counts[i], &s->rows[i]) == 0 && p->counts[i].samples == s->rows[i].samples &&
               p->counts[i].value == s->rows[i].value;
    return same;
}

/* Rows that are added, sometimes summed in between, truncated, and moved as a whole or one by one: the result is always
   their sum, and memory is needed only for distinct rows. */
static bool counts_are_summed(unsigned variety, unsigned rows, bool looked_at)
{
    static struct summed s;
    struct hpcprof *p = hpcprof_create();
    bool well = true, reserved = false;
    s.count = 0;
    if (below(3) == 0) {
        size_t n = below(40);
        struct hpcprof_count *taken = mem_calloc(n + 1, sizeof *taken);
        for (size_t i = 0; i < n; i++) {
            taken[i] = draw_count(variety);
            sum_up(&s, &taken[i]);
        }
        hpcprof_take_counts(p, taken, n);
    }
    while (rows-- > 0 && s.count < MOST_DISTINCT - 1) {
        struct hpcprof_count row = draw_count(variety);
        if (below(4) == 0 && s.count) /* repeats the last one */
            row = s.rows[s.count - 1];
        hpcprof_add_count(p, &row);
        sum_up(&s, &row);
        well = well && (reserved || p->count_count <= 4 * s.count + 64);
        if (looked_at && below(100) == 0) {
            reserved = true;
            hpcprof_reserve_counts(p, below(60));
        }
        if (looked_at && below(40) == 0) {
            hpcprof_finish(p);
            well = well && same_counts(p, &s);
            if (below(4) == 0) {
                size_t kept = 1 + below((uint32_t)s.count + 3);
                hpcprof_drop_counts_from(p, kept);
                s.count = kept < s.count ? kept : s.count;
            } else if (below(9) == 0) {
                hpcprof_drop_counts(p);
                s.count = 0;
            }
        }
    }
    hpcprof_finish(p);
    well = well && same_counts(p, &s);
    hpcprof_free(p);
    return well;
}

static void test_counts_in_any_order(void)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < 200; i++)
        wrong += !counts_are_summed(1 + i % 5, i * 5, i % 2);
    for (unsigned i = 0; i < 5; i++)
        wrong += !counts_are_summed(30, 5000, false);
    CHECK_INT(wrong, 0);
}

/* ---- sampled and counted --------------------------------------------------------------------------------------------- */

/* For each count, checks whether its thread has a total of its event. */
static bool shares_are_right(const struct hpcprof *p)
{
    struct hpcprof_share *got = hpcprof_shares(p);
    bool well = true;
    for (uint32_t e = 0; e < p->event_count; e++) {
        struct hpcprof_share want = {0, 0};
        for (size_t i = 0; i < p->total_count; i++)
            if (p->totals[i].event == e) {
                want.counted = sum_or_most(want.counted, p->totals[i].value);
                for (size_t k = 0; k < p->count_count; k++)
                    if (p->counts[k].event == e && p->counts[k].thread == p->totals[i].thread)
                        want.sampled = sum_or_most(want.sampled, p->counts[k].value);
            }
        well = well && got[e].sampled == want.sampled && got[e].counted == want.counted;
    }
    mem_free(got);
    return well;
}

static void test_shares(void)
{
    static const struct sizes sizes = {3, 2, 2, 9, 3, 4, 60, 12, 1, 1};
    unsigned wrong = 0;
    for (int i = 0; i < 60; i++) {
        struct hpcprof *p = draw(&sizes, 100);
        hpcprof_finish(p);
        wrong += !shares_are_right(p);
        hpcprof_free(p);
    }
    CHECK_INT(wrong, 0);
}

int main(void)
{
    RUN(test_there_and_back);
    RUN(test_cut_blocks);
    RUN(test_incomplete);
    RUN(test_values_told);
    RUN(test_several_blocks);
    RUN(test_long_name);
    RUN(test_folders);
    RUN(test_counts_in_any_order);
    RUN(test_shares);
    return tap_done();
}
