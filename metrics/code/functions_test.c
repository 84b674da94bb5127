/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a measurement stores, by binary and address, from fake binaries; and random trees that are
 * restored from stored rows, compared with a plain definition. (local.mk replaces the real functions with those below.)
 */
#include "tests/fixtures/experiment_outline.h"
#include "tests/chance.h"

#include <unistd.h>

/* ---- binaries ------------------------------------------------------------------------------------------ */

struct bloop_binary {
    const char *path, *build_id, *drawing; /* drawing NULL: it cannot be read further */
};

int fake_open(const char *, const struct bloop_options *, struct bloop_binary **, struct warnings *, struct err *);
void fake_close(struct bloop_binary *);
const char *fake_build_id(const struct bloop_binary *);
int fake_scopes_at(struct bloop_binary *, const vaddr *, size_t, struct scope_tree **, struct warnings *, struct err *);
void fake_add_kept(struct structures *, struct scope_tree *, const char *build_id);

static struct bloop_binary binaries[] = {
    {"/bin/a", "aa",
     "F /s/a.c\n P f 10-30 1000-1010 1020-1030\n  L 12-14 1004\n   S 13 1004-1008\n P g.part.0<g 40-50 1010-1018\n"},
    {"/bin/b", "bb", "F\n P h 0 1000-1100\n"},
    {"/bin/rebuilt", "cc", "F\n P wrong 0 1000-1100\n"},
    {"/bin/broken", "dd", NULL},
    {"relative", "ee", "F\n P wrong 0 1000-1100\n"},
};
static struct buf asked; /* of which binary and addresses */
static int open_now;

int fake_open(const char *path, const struct bloop_options *o, struct bloop_binary **b, struct warnings *w,
              struct err *err)
{
    buf_printf(&asked, "%s%s\n", path, o->procedures_only && w ? "" : " too much of it");
    for (size_t i = 0; i < ARRAY_SIZE(binaries); i++)
        if (strcmp(binaries[i].path, path) == 0) {
            *b = &binaries[i];
            open_now++;
            return 0;
        }
    return err_set(err, ERR_SYSTEM, "%s is not there", path);
}

void fake_close(struct bloop_binary *b)
{
    open_now -= b != NULL;
}

const char *fake_build_id(const struct bloop_binary *b)
{
    return b->build_id;
}

int fake_scopes_at(struct bloop_binary *b, const vaddr *addresses, size_t count, struct scope_tree **tree,
                   struct warnings *w, struct err *err)
{
    (void)w;
    for (size_t i = 0; i < count; i++)
        buf_printf(&asked, " %llx", (unsigned long long)addresses[i]);
    buf_str(&asked, "\n");
    if (!b->drawing)
        return err_set(err, ERR_FORMAT, "%s is broken", b->path);
    *tree = tree_from(b->drawing);
    return 0;
}

/* ---- stored functions ---------------------------------------------------------------------------------- */

static char *path;

static void write_measured(const char *drawing)
{
    struct hpcprof *p = profile_from(drawing);
    struct err err = {0};
    struct outfile *out;
    if (outfile_create(path, &out, &err) < 0 || hpcprof_write(p, out, &err) < 0 || outfile_commit(out, &err) < 0)
        exit(99);
    hpcprof_free(p);
}

static char *rows_of(const struct hpcprof *p)
{
    const struct table *t = table_list_find(&p->tables, "functions");
    struct buf b = {0};
    buf_str(&b, "");
    for (size_t i = 0; t && i < table_row_count(t); i++)
        for (size_t k = 0; k < table_declared(t)->column_count; k++) {
            union table_cell cell = table_row(t, i)[k];
            bool last = k + 1 == table_declared(t)->column_count;
            if (table_declared(t)->columns[k].type == TABLE_TEXT)
                buf_printf(&b, "%s%s", strtab_get(p->strings, cell.text), last ? "\n" : "|");
            else
                buf_printf(&b, "%llx%s", (unsigned long long)cell.count, last ? "\n" : "|");
        }
    return b.bytes;
}

static void check_kept(const char *samples, const char *want_asked, const char *want_rows)
{
    struct hpcprof *p = NULL;
    struct err err = {0};
    struct filemap before, after;
    buf_release(&asked);
    buf_str(&asked, "");
    write_measured(samples);
    CHECK_INT(filemap_open(&before, path, &err), 0);
    CHECK_INT(measurement_keep_functions(path, path, &err), 0);
    CHECK_INT(filemap_open(&after, path, &err) + hpcprof_read(path, &p, NULL, &err), 0);
    char *rows = rows_of(p);
    CHECK_STR(asked.bytes, want_asked);
    CHECK_STR(rows, want_rows);
    CHECK_INT(open_now, 0);
    if (!*want_rows) /* then the file stays as it is */
        CHECK(after.len == before.len && memcmp(after.bytes, before.bytes, before.len) == 0);
    filemap_release(&before);
    filemap_release(&after);
    hpcprof_free(p);
    mem_free(rows);
}

static void test_kept(void)
{
    struct err err = {0};
    check_kept("/bin/a#aa 0x1024 C 1\n/bin/b 0x1000 C 1\n/bin/a#aa 0x1004 C 1\n/bin/a#aa 0x2000>0x1024 C 1\n"
               "/bin/rebuilt#ff 0x1000 C 1\n/bin/gone#aa 0x1000 C 1\n[vdso] 0x7 C 1\n/bin/broken#dd 0x1000 C 1\n"
               "relative#ee 0x1000 C 1\n/bin/a - /s/a.c 3 C 1\n",
               "/bin/a\n 1004 1024 1024 2000\n/bin/b\n 1000\n/bin/rebuilt\n/bin/gone\n/bin/broken\n 1000\n",
               "/bin/a|aa|1000|10|1000|f||/s/a.c|a|1e\n/bin/a|aa|1020|10|1000|f||/s/a.c|a|1e\n"
               "/bin/a|aa|1010|8|1010|g [clone .part.0]||/s/a.c|28|32\n"
               "/bin/b||1000|100|1000|h|||0|0\n");
    check_kept("/bin/a - /s/a.c 3 C 1\n", "", "");
    check_kept("/bin/rebuilt#ff 0x1000 C 1\n", "/bin/rebuilt\n", "");
    unlink(path);
    CHECK_INT(measurement_keep_functions(path, path, &err), -1);
    CHECK(strstr(err.msg, "No such file or directory") != NULL);
    buf_release(&asked);
}

/* ---- restored trees ------------------------------------------------------------------------------------ */

enum { ROWS = 24, MEASUREMENTS = 3, MODULES = 2, IDS = 2, FILES = 3, SLOTS = 8, SLOT = 16 };

static const char *const module_names[MODULES] = {"/bin/x", "/bin/y"}, *const ids[IDS] = {"", "0123"},
                         *const files[FILES] = {"", "/s/a.c", "/s/b.c"};

struct row {
    unsigned module, id, slot, bytes, file, first;
    uint64_t address, entry;
    bool brief;
};

static struct buf given; /* trees */

static void draw_tree(struct buf *b, const struct scope_tree *t)
{
    for (size_t i = 0; i < t->scope_count; i++) {
        const struct scope *s = &t->scopes[i];
        buf_printf(b, "%d < %d %s", s->kind, s->parent == SCOPE_NONE ? -1 : (int)s->parent,
                   strtab_get(t->strings, s->name));
        if (s->kind == SCOPE_PROC)
            buf_printf(b, " (%s) %s:%u-%u @%llx", strtab_get(t->strings, s->short_name),
                       strtab_get(t->strings, s->file), s->line_first, s->line_last, (unsigned long long)s->entry);
        for (uint32_t k = 0; k < s->range_count; k++)
            buf_printf(b, " %llx-%llx", (unsigned long long)t->ranges[s->range_first + k].begin,
                       (unsigned long long)t->ranges[s->range_first + k].end);
        buf_str(b, "\n");
    }
}

void fake_add_kept(struct structures *structures, struct scope_tree *tree, const char *build_id)
{
    (void)structures;
    buf_printf(&given, "[%s]\n", build_id);
    draw_tree(&given, tree);
    scope_tree_free(tree);
}

/* The functions use the slots in turn; some ranges are empty, or exceed the address space, and are ignored. */
static size_t draw_rows(struct row *rows)
{
    size_t n = below(ROWS);
    for (size_t i = 0; i < n; i++) {
        struct row *r = &rows[i];
        *r = (struct row){
            below(MODULES), below(IDS), below(SLOTS), below(6) ? 1 + below(SLOT) : 0, 0, 1 + below(9), 0, 0, below(2)};
        r->address = below(9) ? 0x1000 + SLOT * r->slot : UINT64_MAX - r->slot;
        r->bytes += r->address > 0x2000 ? SLOTS : 0;
        r->entry = 0x1000 + SLOT * (r->slot / 2 * 2);
        r->file = r->slot / 2 % FILES; /* that of its function */
    }
    return n;
}

static bool same_key(const struct row *a, const struct row *b)
{
    return a->module == b->module && a->id == b->id && a->address == b->address;
}

/* For equal keys, the last row counts; a missing name does not remove an existing one. */
static void take(struct kept_functions *kept, struct row *rows, size_t from, size_t to)
{
    struct hpcprof *p = hpcprof_create();
    struct table *t;
    struct err err = {0};
    static const struct table_column columns[] = {{.name = "module", .type = TABLE_TEXT, .merge = TABLE_KEY},
                                                  {.name = "build_id", .type = TABLE_TEXT, .merge = TABLE_KEY},
                                                  {.name = "address", .type = TABLE_COUNT, .merge = TABLE_KEY},
                                                  {.name = "bytes", .type = TABLE_COUNT, .merge = TABLE_LAST},
                                                  {.name = "entry", .type = TABLE_COUNT, .merge = TABLE_LAST},
                                                  {.name = "name", .type = TABLE_TEXT, .merge = TABLE_LAST},
                                                  {.name = "short", .type = TABLE_TEXT, .merge = TABLE_LAST},
                                                  {.name = "file", .type = TABLE_TEXT, .merge = TABLE_LAST},
                                                  {.name = "first", .type = TABLE_COUNT, .merge = TABLE_LAST},
                                                  {.name = "last", .type = TABLE_COUNT, .merge = TABLE_LAST}};
    static const struct table_decl decl = {"functions", "", "", columns, ARRAY_SIZE(columns)},
                                   other = {"other", "", "", columns, ARRAY_SIZE(columns) - 1};
    strtab_add(p->strings, "in front"); /* string numbers differ here */
    for (int i = 0; i < 2; i++) {       /* one with other columns is kept */
        CHECK_INT(table_list_declare(&p->tables, i ? &decl : &other, p->strings, &t, &err), 0);
        for (size_t k = from; k < to; k++) {
            const struct row *r = &rows[k];
            str_id name = strtab_printf(p->strings, "f%llx", (unsigned long long)r->entry);
            table_add(t, (union table_cell[]){{.text = strtab_add(p->strings, module_names[r->module])},
                                              {.text = strtab_add(p->strings, ids[r->id])},
                                              {.count = r->address},
                                              {.count = r->bytes},
                                              {.count = r->entry},
                                              {.text = name},
                                              {.text = strtab_add(p->strings, r->brief ? "brief" : "")},
                                              {.text = strtab_add(p->strings, files[r->file])},
                                              {.count = r->first},
                                              {.count = r->first + 5}});
        }
    }
    measured_functions_take(p, kept);
    CHECK(p->tables.count == 1 && table_list_find(&p->tables, "other"));
    hpcprof_free(p);
}

static bool is_range(const struct row *r)
{
    return r->bytes && r->address <= UINT64_MAX - r->bytes;
}

/* Without bytes if there is no such row. */
static struct row row_at(const struct row *rows, size_t n, struct row key)
{
    for (size_t i = 0; i < n; i++)
        if (same_key(&rows[i], &key)) {
            bool brief = rows[i].brief || key.brief;
            key = rows[i];
            key.brief = brief;
        }
    return key;
}

/* File by file, function by function in the order of their addresses. */
static void want_module(struct buf *b, const struct row *rows, size_t n, unsigned module, unsigned id)
{
    bool any = false;
    int scopes = 1;
    for (size_t i = 0; i < n; i++)
        any |= rows[i].module == module && rows[i].id == id;
    if (!any)
        return;
    buf_printf(b, "[%s]\n%d < -1 %s\n", ids[id], SCOPE_MODULE, module_names[module]);
    for (unsigned file = 0; file < FILES; file++) {
        int file_scope = 0;
        for (unsigned function = 0; function < SLOTS / 2; function++) {
            bool begun = false;
            for (unsigned slot = 2 * function; slot < 2 * function + 2; slot++) {
                struct row row =
                    row_at(rows, n, (struct row){.module = module, .id = id, .address = 0x1000 + SLOT * slot});
                const struct row *r = &row;
                if (r->file != file || !is_range(r))
                    continue;
                if (!file_scope) {
                    file_scope = scopes++;
                    buf_printf(b, "%d < 0 %s\n", SCOPE_FILE, files[file]);
                }
                if (!begun) {
                    buf_printf(b, "%d < %d f%llx (", SCOPE_PROC, file_scope, (unsigned long long)r->entry);
                    buf_printf(b, r->brief ? "brief" : "f%llx", (unsigned long long)r->entry);
                    buf_printf(b, ") %s:%u-%u @%llx", files[file], r->first, r->first + 5,
                               (unsigned long long)r->entry);
                    scopes++;
                }
                begun = true;
                buf_printf(b, " %llx-%llx", (unsigned long long)r->address, (unsigned long long)r->address + r->bytes);
            }
            if (begun)
                buf_str(b, "\n");
        }
    }
}

static void test_given(void)
{
    size_t wrong = 0;
    for (int round = 0; round < 120; round++) {
        struct row rows[ROWS];
        struct kept_functions kept = {0};
        struct buf want = {0};
        size_t n = draw_rows(rows), cut[MEASUREMENTS + 1] = {0, n ? below((uint32_t)n) : 0, n, n};
        for (int i = 0; i < MEASUREMENTS; i++)
            take(&kept, rows, cut[i], cut[i + 1]);
        buf_release(&given);
        buf_str(&given, "");
        buf_str(&want, "");
        measured_functions_give(&kept, NULL);
        for (unsigned i = 0; i < MODULES * IDS; i++)
            want_module(&want, rows, n, i / IDS, i % IDS);
        if (strcmp(given.bytes, want.bytes) != 0 && wrong++ == 0)
            printf("# got    %s\n# wanted %s\n", given.bytes, want.bytes);
        buf_release(&want);
    }
    buf_release(&given);
    CHECK_INT(wrong, 0);
}

/* Invalid rows produce no tree; the trees of other rows are restored. */
static void test_damaged(void)
{
    struct row rows[] = {{.bytes = 8, .address = 0x1000, .entry = 0x1000},
                         {.bytes = 8, .address = 0x1010, .entry = 0x1010, .first = UINT32_MAX},
                         {.module = 1, .bytes = 8, .address = 0x1000, .entry = 0x1000, .first = 3}};
    struct kept_functions kept = {0};
    take(&kept, rows, 0, 3);
    measured_functions_give(&kept, NULL);
    CHECK_STR(given.bytes, "[]\n0 < -1 /bin/y\n1 < 0 \n2 < 1 f1000 (f1000) :3-8 @1000 1000-1008\n");
    buf_release(&given);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    path = mem_printf("%s/functions_test.%d.hpcprof", tmp ? tmp : "/tmp", (int)getpid());
    test_kept();
    test_given();
    test_damaged();
    mem_free(path);
    return tap_done();
}
