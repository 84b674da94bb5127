/* A folder read by several ranks is the folder read by one: row by row, and with all that stands beside the rows. */
#include "hpcprof/hpcprof.h"
#include "tests/ranks.h"
#include "tests/tap.h"

#include <stdio.h>

enum { FILES = 11, DAMAGED = 6 };

static str_id id(struct hpcprof *p, const char *s)
{
    return strtab_add(p->strings, s);
}

static const struct table_column columns[] = {
    {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "at", .type = TABLE_REF, .merge = TABLE_KEY, .refers = "context"},
    {.name = "who", .type = TABLE_REF, .merge = TABLE_LAST, .refers = "thread"},
    {.name = "bytes", .type = TABLE_COUNT, .merge = TABLE_SUM},
    {.name = "most", .type = TABLE_NUMBER, .merge = TABLE_MAX},
};
static const struct table_decl decl = {"arrays", "Arrays", "what was allocated", columns, ARRAY_SIZE(columns)};

/* Files that share some rows with their neighbours and others with nobody; threads of different number. */
static struct hpcprof *make_file(unsigned n)
{
    struct hpcprof *p = hpcprof_create();
    char text[32];
    snprintf(text, sizeof text, "app %u", n);
    struct hpcprof_process process = {.command = id(p, text), .pid = n, .rank = (int32_t)n, .complete = n % 3 != 0};
    struct hpcprof_event cycles = {id(p, "CYCLES"), 0, id(p, "cycles"), 1000, 0};
    struct hpcprof_event own = {id(p, n % 2 ? "ODD" : "EVEN"), 0, 0, 10, 0};
    struct table *t;
    hpcprof_add_process(p, &process);
    hpcprof_add_note(p, &(struct hpcprof_note){0, id(p, "env:N"), id(p, text)});
    uint32_t events[] = {hpcprof_add_event(p, n % 2 ? &cycles : &own), hpcprof_add_event(p, n % 2 ? &own : &cycles)};
    uint32_t region = n % 4 ? hpcprof_add_region(p, n % 4 == 1 ? "a" : "b", 0) : 0;
    snprintf(text, sizeof text, "/lib/%u", n / 3);
    uint32_t module = hpcprof_add_module(p, text, "00ff"), parent = HPCPROF_NO_PARENT;
    table_list_declare(&p->tables, &decl, p->strings, &t, NULL);
    for (unsigned i = 0; i <= n % 3; i++) {
        snprintf(text, sizeof text, "thread %u", i);
        uint32_t thread = hpcprof_add_thread(p, &(struct hpcprof_thread){.number = i, .name = id(p, text)});
        for (unsigned k = 0; k < 5; k++) {
            struct hpcprof_context c = {.parent = parent, .module = module, .address = 16 * (n + k)};
            parent = hpcprof_add_context(p, &c);
            hpcprof_add_count(p, &(struct hpcprof_count){thread, parent, events[k % 2], region, k + 1, 1000 * (k + n)});
            table_add(t,
                      (union table_cell[]){
                          {.text = id(p, "u")}, {.row = parent}, {.row = thread}, {.count = n}, {.number = 0.1 * n}});
        }
        hpcprof_add_total(p, &(struct hpcprof_total){thread, events[0], 100000 * n + i});
    }
    hpcprof_finish(p);
    return p;
}

static void write_file(const char *dir, unsigned n)
{
    struct err err = {0};
    struct hpcprof *p = make_file(n);
    struct outfile *out;
    char *path = mem_printf("%s/%02u.hpcprof", dir, n);
    if (n == DAMAGED) {
        outfile_create(path, &out, &err);
        outfile_printf(out, "nothing");
        outfile_commit(out, &err);
    } else {
        outfile_create(path, &out, &err);
        hpcprof_write(p, out, &err);
        outfile_commit(out, &err);
    }
    mem_free(path);
    hpcprof_free(p);
}

/* All that can be told of a whole, as bytes. */
static struct buf told(const struct hpcprof *p, const struct warnings *w)
{
    struct buf all = {0};
    struct outfile *out = outfile_into(&all);
    struct hpcprof_share *shares = hpcprof_shares(p);
    hpcprof_write(p, out, NULL);
    outfile_commit(out, NULL);
    for (size_t i = 0; i < p->process_count; i++)
        buf_printf(&all, "%s\n", strtab_get(p->strings, p->processes[i].source_file));
    for (size_t i = 0; i < p->event_count; i++)
        buf_printf(&all, "%llu/%llu\n", (unsigned long long)shares[i].sampled, (unsigned long long)shares[i].counted);
    buf_printf(&all, "%zu rows\n", p->rows_read);
    for (size_t i = 0; w && i < warnings_count(w); i++)
        buf_printf(&all, "%s\n", warnings_get(w, i));
    mem_free(shares);
    return all;
}

struct seen {
    uint64_t files, counts;
};

static void see(void *ctx, const struct hpcprof *p)
{
    struct seen *seen = ctx;
    seen->files++;
    seen->counts += p->count_count;
}

static void pack_seen(void *ctx, struct buf *out)
{
    buf_add(out, ctx, sizeof(struct seen));
}

static int add_seen(void *ctx, const void *bytes, size_t len, struct err *err)
{
    struct seen *seen = ctx, theirs;
    if (len != sizeof theirs)
        return err_set(err, ERR_FORMAT, "of another size");
    memcpy(&theirs, bytes, sizeof theirs);
    seen->files += theirs.files;
    seen->counts += theirs.counts;
    return 0;
}

static void read_by(const char *path, unsigned count, bool summed, const struct buf *want, const struct seen *all)
{
    struct test_ranks t;
    struct hpcprof *whole = NULL;
    struct warnings *w = warnings_create();
    struct err err = {0};
    struct seen seen = {0};
    test_ranks_begin(&t, count);
    struct hpcprof_reading how = {.threads = 1, .summed = summed, .ranks = &t.ranks};
    bool well = hpcprof_read_as(path, &how, &whole, w, &err) == 0;
    struct buf got = {0};
    if (well)
        got = told(whole, t.ranks.me ? NULL : w);
    well = well && got.len <= want->len && (t.ranks.me || got.len == want->len) &&
           memcmp(got.bytes, want->bytes, got.len) == 0;
    how.each = see;
    how.ctx = &seen;
    well = well && hpcprof_read_as(path, &how, NULL, NULL, &err) == 0;
    well = ranks_unite(&t.ranks, &(struct ranks_work){&seen, pack_seen, add_seen, NULL}, &err) == 0 && well;
    well = well && (t.ranks.me || (seen.files == all->files && seen.counts == all->counts));
    well = test_ranks_end(&t, well);
    char name[128];
    snprintf(name, sizeof name, "%u ranks, %s, threads' counts %s", count,
             str_ends(path, ".hpcprof") ? "one file" : "a folder", summed ? "added up" : "apart");
    CHECK_NAMED(well, name);
    buf_release(&got);
    hpcprof_free(whole);
    warnings_free(w);
}

static void read_by_any(const char *path)
{
    for (int summed = 0; summed < 2; summed++) {
        struct hpcprof *whole;
        struct warnings *w = warnings_create();
        struct err err = {0};
        struct seen seen = {0};
        struct hpcprof_reading how = {.threads = 2, .summed = summed, .each = see, .ctx = &seen};
        CHECK_INT(hpcprof_read_as(path, &how, &whole, w, &err), 0);
        struct buf want = told(whole, w);
        for (unsigned count = 2; count <= TEST_RANKS_MOST; count++)
            read_by(path, count, summed, &want, &seen);
        buf_release(&want);
        hpcprof_free(whole);
        warnings_free(w);
    }
}

/* The error is everybody's, and nobody waits for who has nothing. */
static void nothing_to_read(const char *dir)
{
    struct test_ranks t;
    struct hpcprof *whole;
    struct err err = {0};
    test_ranks_begin(&t, 3);
    struct hpcprof_reading how = {.summed = true, .ranks = &t.ranks};
    bool refused = hpcprof_read_as(dir, &how, &whole, NULL, &err) < 0 && strstr(err.msg, "no usable measurement file");
    CHECK_NAMED(test_ranks_end(&t, refused), "ranks that find nothing say so");
}

int main(void)
{
    char dir[] = "/tmp/hpcprof-ranks-XXXXXX";
    CHECK(mkdtemp(dir) != NULL);
    nothing_to_read(dir);
    write_file(dir, 0);
    read_by_any(dir);
    for (unsigned i = 1; i < FILES; i++)
        write_file(dir, i);
    read_by_any(dir);
    char *one = mem_printf("%s/02.hpcprof", dir);
    read_by_any(one);
    mem_free(one);
    dir_remove_tree(dir, NULL);
    return tap_done();
}
