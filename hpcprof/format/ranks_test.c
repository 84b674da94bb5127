/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder read by several ranks equals the folder read by one: row by row, with all data beyond the rows. */
#include "hpcprof/format/tables.h"
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

/* Files that share some rows with their neighbours and have some of their own; different numbers of threads. */
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

/* The complete result, as bytes. */
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

/* All ranks get the error, and none waits for a rank without files. */
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

/* ---- messages of another rank, byte by byte ---------------------------------------------------------------------- */

struct mail {
    const void *bytes; /* NULL: no message */
    size_t len;
    struct buf sent;
};

static int post(void *ctx, unsigned to, const void *bytes, size_t len, struct err *err)
{
    struct mail *m = ctx;
    (void)to;
    (void)err;
    buf_add(&m->sent, bytes, len);
    return 0;
}

static int deliver(void *ctx, unsigned from, struct buf *into, struct err *err)
{
    struct mail *m = ctx;
    if (!m->bytes)
        return err_set(err, ERR_SYSTEM, "rank %u is gone", from);
    buf_add(into, m->bytes, m->len);
    return 0;
}

#define CUT "data from another rank are truncated"

/* The message that sends file `n` to the other ranks, and the offset of its measurement. */
static struct buf packed(unsigned n, size_t used, const char *warning, size_t *beside)
{
    struct mail m = {0};
    struct ranks ranks = {1, 2, &m, post, deliver};
    struct hpcprof *p = make_file(n);
    struct warnings *w = warnings_create();
    struct err err = {0};
    warnings_add(w, "%s", warning);
    CHECK_INT(hpcprof_merge_wholes(&ranks, &p, &used, true, w, &err), -1);
    CHECK_STR(err.msg, "rank 0 is gone");
    struct cursor c = cursor_make(m.sent.bytes, m.sent.len);
    *beside = 8 + cursor_u64(&c);
    hpcprof_free(p);
    warnings_free(w);
    return m.sent;
}

struct united {
    struct hpcprof *whole;
    size_t used;
    struct warnings *warnings;
    struct err err;
    int status;
};

/* The first of two ranks has file 2, one file that it could use and a warning; that is sent to it. */
static struct united unite_with(const void *bytes, size_t len)
{
    struct mail m = {bytes, len, {0}};
    struct ranks ranks = {0, 2, &m, post, deliver};
    struct united u = {.whole = make_file(2), .used = 1, .warnings = warnings_create()};
    warnings_add(u.warnings, "mine");
    u.status = hpcprof_merge_wholes(&ranks, &u.whole, &u.used, true, u.warnings, &u.err);
    buf_release(&m.sent);
    return u;
}

static void united_free(struct united *u)
{
    hpcprof_free(u->whole);
    warnings_free(u->warnings);
}

/* Truncated before the measurement, it is an error; truncated inside it, the valid part counts, as in files. */
static void test_cut(void)
{
    size_t beside, wrong = 0;
    struct buf sent = packed(3, 5, "theirs", &beside);
    for (size_t len = 0; len <= sent.len; len++) {
        struct united u = unite_with(sent.bytes, len);
        const char *want = len < beside        ? CUT
                           : len == beside     ? NULL
                           : len < beside + 8  ? "another rank's part: not a measurement file"
                           : len < beside + 16 ? "another rank's part: truncated within"
                                               : NULL;
        if (want ? u.status == 0 || !str_starts(u.err.msg, want) : u.status < 0 || u.used != 6)
            wrong++, printf("# %zu bytes of %zu: %s\n", len, sent.len, u.status < 0 ? u.err.msg : "taken");
        if (len == sent.len) {
            CHECK_INT(u.whole->process_count, 2);
            CHECK_INT(warnings_count(u.warnings), 2);
            CHECK_STR(warnings_get(u.warnings, 0), "mine");
            CHECK_STR(warnings_get(u.warnings, 1), "theirs");
        }
        united_free(&u);
    }
    CHECK_INT(wrong, 0);
    buf_release(&sent);
}

/* Any part of the data that follows a complete measurement is missing. */
static void test_cut_beside(void)
{
    size_t beside, wrong = 0;
    struct buf sent = packed(3, 5, "theirs", &beside);
    for (size_t len = 0; len < beside - 8; len++) {
        struct buf less = {0};
        buf_u64(&less, len);
        buf_add(&less, sent.bytes + 8, len);
        buf_add(&less, sent.bytes + beside, sent.len - beside);
        struct united u = unite_with(less.bytes, less.len);
        wrong += u.status == 0 || strcmp(u.err.msg, CUT) != 0;
        united_free(&u);
        buf_release(&less);
    }
    CHECK_INT(wrong, 0);
    buf_release(&sent);
}

/* Numbers and warnings of a rank that read nothing: first the numbers, then the strings, then the trailing data. */
static void test_made_up(void)
{
    static const struct {
        const char *name;
        uint64_t numbers[6]; /* files used, rows, how many ranks' processes, those, and how many warnings */
        size_t count;
        const char *texts[3], *behind, *error;
        size_t used;
        int more; /* added to the stated length */
    } cases[] = {
        {"nothing", {0, 0, 0, 0}, 4, {NULL}, "", NULL, 1, 0},
        {"files that it could use", {4, 9, 1, 7, 0}, 5, {NULL}, "", NULL, 5, 0},
        {"warnings", {0, 0, 0, 2}, 4, {"one", "", NULL}, "", NULL, 1, 0},
        {"more warnings than come", {0, 0, 0, 2}, 4, {"one", NULL}, "", CUT, 0, 0},
        {"endless warnings", {0, 0, 0, UINT64_MAX}, 4, {"one", NULL}, "", CUT, 0, 0},
        {"more ranks than come", {0, 0, 4, 1, 1, 0}, 6, {NULL}, "", CUT, 0, 0},
        {"endless ranks", {0, 0, UINT64_MAX, 1, 1, 0}, 6, {NULL}, "", CUT, 0, 0},
        {"nothing at all", {0}, 0, {NULL}, "", CUT, 0, 0},
        {"a byte less than it says", {0, 0, 0, 0}, 4, {NULL}, "", CUT, 0, 1},
        {"something else behind it",
         {0, 0, 0, 0},
         4,
         {NULL},
         "nothing",
         "another rank's part: not a measurement file (it does not begin with \"hpcprof\")",
         0,
         0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf beside = {0}, all = {0};
        size_t texts = 0;
        for (size_t k = 0; k < cases[i].count; k++)
            buf_uleb(&beside, cases[i].numbers[k]);
        for (; cases[i].texts[texts]; texts++)
            buf_text(&beside, cases[i].texts[texts], strlen(cases[i].texts[texts]));
        buf_u64(&all, beside.len + (uint64_t)cases[i].more);
        buf_add(&all, beside.bytes, beside.len);
        buf_add(&all, cases[i].behind, strlen(cases[i].behind));
        struct united u = unite_with(all.bytes, all.len);
        printf("# %s\n", cases[i].name);
        CHECK_INT(u.status, cases[i].error ? -1 : 0);
        if (cases[i].error) {
            CHECK_STR(u.err.msg, cases[i].error);
        } else {
            CHECK_INT(u.used, cases[i].used);
            CHECK_INT(warnings_count(u.warnings), 1 + texts);
            for (size_t k = 0; k < texts; k++)
                CHECK_STR(warnings_get(u.warnings, 1 + k), cases[i].texts[k]);
        }
        united_free(&u);
        buf_release(&beside);
        buf_release(&all);
    }
}

/* ---- messages sent ---- */

static void check_beside(const struct buf *sent, const char *want)
{
    struct cursor all = cursor_make(sent->bytes, sent->len);
    size_t len = cursor_u64(&all), n;
    struct cursor c = cursor_make(cursor_bytes(&all, len), len);
    struct buf said = {0};
    buf_printf(&said, "%u files,", (unsigned)cursor_uleb(&c));
    buf_printf(&said, " %u rows; processes", (unsigned)cursor_uleb(&c));
    for (uint64_t i = cursor_uleb(&c); i > 0 && !c.bad; i--)
        buf_printf(&said, " %u", (unsigned)cursor_uleb(&c));
    for (uint64_t i = cursor_uleb(&c); i > 0 && !c.bad; i--) {
        const char *text = cursor_text(&c, &n);
        buf_printf(&said, "; \"%.*s\"", (int)n, text);
    }
    CHECK_STR(said.bytes, want);
    CHECK(!c.bad);
    buf_release(&said);
}

/* No processes or some; the first rank broadcasts all of them. */
static void test_sent(void)
{
    struct buf parts[3] = {{0}, {0}, {0}};
    static const char *const wanted[] = {"3 files, 0 rows; processes 0", "4 files, 0 rows; processes 1; \"warning 1\"",
                                         "5 files, 0 rows; processes 2; \"warning 1\"; \"warning 2\""};
    for (unsigned i = 0; i < 3; i++) {
        struct mail m = {0};
        struct ranks ranks = {1, 2, &m, post, deliver};
        struct hpcprof *p = hpcprof_create();
        struct warnings *w = warnings_create();
        struct err err = {0};
        size_t used = 3 + i;
        for (unsigned k = 1; k <= i; k++) {
            warnings_add(w, "warning %u", k);
            hpcprof_add_process(p, &(struct hpcprof_process){.pid = k, .rank = (int32_t)k, .complete = true});
        }
        CHECK_INT(hpcprof_merge_wholes(&ranks, &p, &used, true, w, &err), -1);
        check_beside(&m.sent, wanted[i]);
        parts[i] = m.sent;
        warnings_free(w);
        hpcprof_free(p);
    }
    for (unsigned i = 0; i < 3; i++) {
        struct mail m = {parts[i].bytes, parts[i].len, {0}};
        struct ranks ranks = {0, 2, &m, post, deliver};
        struct hpcprof *p = hpcprof_create();
        struct warnings *w = warnings_create();
        char want[80];
        size_t used = 10;
        hpcprof_add_process(p, &(struct hpcprof_process){.pid = 9, .rank = -1, .complete = true});
        CHECK_INT(hpcprof_merge_wholes(&ranks, &p, &used, true, w, NULL), 0);
        snprintf(want, sizeof want, "%u files, 0 rows; processes 1 %u%s", 13 + i, i,
                 strchr(wanted[i], '"') ? strchr(wanted[i], '"') - 2 : "");
        check_beside(&m.sent, want);
        buf_release(&m.sent);
        buf_release(&parts[i]);
        warnings_free(w);
        hpcprof_free(p);
    }
}

/* A list that is too short for the own rank is complete as it is, and processes of the own rank do not precede it. */
static void test_before_of_less(void)
{
    for (uint64_t listed = 0; listed < 3; listed++) {
        struct buf beside = {0}, all = {0};
        uint64_t numbers[] = {1, 0, listed, 4, 4};
        for (size_t k = 0; k < 3 + listed; k++)
            buf_uleb(&beside, numbers[k]);
        buf_uleb(&beside, 0);
        buf_u64(&all, beside.len);
        buf_add(&all, beside.bytes, beside.len);
        struct mail m = {all.bytes, all.len, {0}};
        struct ranks ranks = {3, 4, &m, post, deliver};
        struct hpcprof *p = make_file(2);
        struct warnings *w = warnings_create();
        size_t used = 1;
        CHECK_INT(hpcprof_merge_wholes(&ranks, &p, &used, true, w, NULL), 0);
        CHECK_INT(p->processes_before, 4 * listed);
        buf_release(&m.sent);
        buf_release(&beside);
        buf_release(&all);
        hpcprof_free(p);
        warnings_free(w);
    }
}

/* Each rank learns how many processes are of those before it. */
static void test_before(void)
{
    static const unsigned me[] = {1, 2, 3}, counts[] = {2, 3, 4}, want[] = {2, 5, 10};
    struct buf all = {0};
    for (size_t i = 0; i < 3; i++) {
        struct buf beside = {0};
        uint64_t numbers[] = {12, 0, 3, 2, 3, 5, 1};
        for (size_t k = 0; k < ARRAY_SIZE(numbers); k++)
            buf_uleb(&beside, numbers[k]);
        buf_text(&beside, "said", 4);
        all.len = 0;
        buf_u64(&all, beside.len);
        buf_add(&all, beside.bytes, beside.len);
        struct mail m = {all.bytes, all.len, {0}};
        struct ranks ranks = {me[i], counts[i], &m, post, deliver};
        struct hpcprof *p = hpcprof_create();
        struct warnings *w = warnings_create();
        size_t used = 7;
        CHECK_INT(hpcprof_merge_wholes(&ranks, &p, &used, true, w, NULL), 0);
        CHECK_INT(p->processes_before, want[i]);
        CHECK_INT(used, 12);
        CHECK_INT(warnings_count(w), 0); /* the first rank reports it */
        buf_release(&m.sent);
        buf_release(&beside);
        hpcprof_free(p);
        warnings_free(w);
    }
    buf_release(&all);
}

/* A table that the other rank declares differently is dropped with a warning. */
static void test_other_table(void)
{
    static const struct table_decl other = {"arrays", "Arrays", "what was allocated", columns, 1};
    struct mail m = {0};
    struct ranks ranks = {1, 2, &m, post, deliver};
    struct hpcprof *p = hpcprof_create(), *mine = make_file(2);
    struct table *t;
    struct err err = {0};
    size_t used = 1;
    hpcprof_add_process(p, &(struct hpcprof_process){.pid = 9, .rank = -1, .complete = true});
    table_list_declare(&p->tables, &other, p->strings, &t, NULL);
    struct warnings *w = warnings_create();
    CHECK_INT(hpcprof_merge_wholes(&ranks, &p, &used, true, w, &err), -1);
    warnings_free(w);
    CHECK_INT(hpcprof_add_all(mine, p, true, &err), -1);
    struct united u = unite_with(m.sent.bytes, m.sent.len);
    CHECK_INT(u.status, 0);
    CHECK_INT(u.whole->process_count, 2);
    CHECK_STR(warnings_count(u.warnings) == 2 ? warnings_get(u.warnings, 1) : "", err.msg);
    united_free(&u);
    buf_release(&m.sent);
    hpcprof_free(mine);
    hpcprof_free(p);
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
    RUN(test_cut);
    RUN(test_cut_beside);
    RUN(test_made_up);
    RUN(test_sent);
    RUN(test_before);
    RUN(test_before_of_less);
    RUN(test_other_table);
    return tap_done();
}
