/* SPDX-License-Identifier: BSD-3-Clause */
/* htmlgen's output read back: the same experiment, as a folder and as one page; and its exports in each format. */
#include "export/export.h"
#include "htmlgen/htmlgen.h"
#include "tests/fixtures/sample_experiments.h"
#include "tests/cases.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>

static char *folder; /* of this test, removed at the end */

static const char *text(const struct experiment *e, str_id id)
{
    return strtab_get(e->strings, id);
}

static void draw_heads(struct buf *b, const struct experiment *e)
{
    buf_printf(b, "%s\n", text(e, e->title));
    for (size_t i = 0; i < e->run_count; i++)
        buf_printf(b, "run %s, %s, %s, %s\n", text(e, e->runs[i].name), text(e, e->runs[i].machine),
                   path_base(text(e, e->runs[i].command)), text(e, e->runs[i].asked));
    for (size_t i = 0; i < e->file_count; i++)
        buf_printf(b, "file %s\n", text(e, e->files[i].name));
    for (size_t i = 0; i < e->metric_count; i++) {
        const struct metric *m = &e->metrics[i];
        buf_printf(b, "metric %s, %s, %s, %s, %s, %s, %llu, run %u, %d%d%d%d%d%d\n", text(e, m->name),
                   text(e, m->display_name), text(e, m->unit), text(e, m->description), text(e, m->formula),
                   text(e, m->event), (unsigned long long)m->period, m->run, m->percent, m->display, m->sort_by,
                   m->estimated, m->has_exclusive, m->summed);
    }
}

static void draw_places(struct buf *b, const struct experiment *e)
{
    for (size_t i = 0; i < e->place_count; i++) {
        const struct place *p = &e->places[i];
        buf_printf(b, "place %u role %u %d o%d in %d: %s, %s, %d:%u-%u, from %d:%u, %u/%u, %llx, as %u\n", p->kind,
                   p->role, p->irreducible, p->on_line, (int)p->parent, text(e, p->name), text(e, p->full_name),
                   (int)p->file, p->line_first, p->line_last, (int)p->call_file, p->call_line, p->instance,
                   p->instances, (unsigned long long)p->address, p->same);
    }
}

static void draw_values(struct buf *b, const struct experiment *e)
{
    for (size_t t = 0; t < e->tree_count; t++) {
        size_t n = t == TREE_SCOPES ? e->place_count : e->trees[t].node_count;
        buf_printf(b, "tree %s, %s\n", text(e, e->trees[t].name), text(e, e->trees[t].title));
        for (uint32_t i = 0; i < n; i++) {
            buf_printf(b, "%d at %u", (int)experiment_node_parent(e, t, i), experiment_node_place(e, t, i));
            for (size_t m = 0; m < e->metric_count; m++)
                for (int form = 0; form < VALUE_FORMS; form++)
                    buf_printf(b, " %.17g", fabs(experiment_node_value(e, t, m, i, (enum value_form)form)));
            buf_char(b, '\n');
        }
    }
}

static void draw_cell(struct buf *b, const struct experiment *e, const struct table_column *c, union table_cell cell)
{
    if (table_cell_missing(c, cell))
        buf_str(b, " -");
    else if (c->type == TABLE_TEXT)
        buf_printf(b, " '%s'", text(e, cell.text));
    else if (c->type == TABLE_NUMBER)
        buf_printf(b, " %.17g", cell.number);
    else
        buf_printf(b, " %llu", (unsigned long long)(c->type == TABLE_REF ? cell.row : cell.count));
}

static void draw_tables(struct buf *b, const struct experiment *e)
{
    for (size_t i = 0; i < e->tables.count; i++) {
        const struct table_decl *t = table_declared(e->tables.items[i]);
        buf_printf(b, "table %s, %s, %s\n", t->name, t->title, t->description);
        for (size_t c = 0; c < t->column_count; c++)
            buf_printf(b, "column %s, %s, %s, %s, %u, %s\n", t->columns[c].name, t->columns[c].title,
                       t->columns[c].unit, t->columns[c].description, t->columns[c].type,
                       t->columns[c].type == TABLE_REF ? t->columns[c].refers : "");
        for (size_t row = 0; row < table_row_count(e->tables.items[i]); row++) {
            buf_printf(b, "row %zu:", row);
            for (size_t c = 0; c < t->column_count; c++)
                draw_cell(b, e, &t->columns[c], table_row(e->tables.items[i], row)[c]);
            buf_char(b, '\n');
        }
    }
}

static void draw_processes(struct buf *b, const struct experiment *e)
{
    for (size_t i = 0; i < e->run_count; i++)
        buf_printf(b, "run %zu: %u processes from %u, root %u\n", i, e->runs[i].process_count, e->runs[i].process_first,
                   e->runs[i].root);
    for (size_t i = 0; i < e->process_count; i++) {
        const struct hpcprof_process *p = &e->processes[i];
        buf_printf(b, "process %s on %s, rank %d, %u threads, status %d, from %llu for %llu ms\n",
                   path_base(text(e, p->source_file)), text(e, p->host), p->rank, p->thread_count, p->exit_status,
                   (unsigned long long)(p->start_ns / 1000000),
                   (unsigned long long)((p->end_ns - p->start_ns + 500000) / 1000000));
    }
}

static char *drawn(const struct experiment *e)
{
    struct buf b = {0};
    draw_heads(&b, e);
    draw_places(&b, e);
    draw_values(&b, e);
    draw_tables(&b, e);
    draw_processes(&b, e);
    return b.bytes;
}

static void first_difference(const char *a, const char *b)
{
    while (*a && strcspn(a, "\n") == strcspn(b, "\n") && memcmp(a, b, strcspn(a, "\n") + 1) == 0)
        a += strcspn(a, "\n") + 1, b += strcspn(b, "\n") + 1;
    printf("# wrote %.*s\n# read  %.*s\n", (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
}

/* Exports an experiment in the given format. */
static char *written_as(const struct experiment *e, const struct export_format *format)
{
    struct export_options options = {.generator = "test"};
    struct outfile *out;
    struct err err = {0};
    struct filemap map;
    char *path = path_join(folder, "written"), *bytes = NULL;
    if (outfile_create(path, &out, &err) == 0) {
        int status = export_write(e, format, &options, out, &err);
        if (status == 0 && outfile_commit(out, &err) == 0 && filemap_open(&map, path, &err) == 0) {
            bytes = mem_printf("%zu %08x", map.len, crc32_bytes(0, map.bytes, map.len));
            filemap_release(&map);
        } else if (status < 0)
            outfile_abandon(out);
    }
    mem_free(path);
    return bytes ? bytes : mem_strdup(err.msg);
}

static void test_back(const char *name, const struct experiment *e, bool single)
{
    struct htmlgen_options options = {.single_file = single};
    struct warnings *w = warnings_create();
    struct experiment *back = NULL;
    struct err err = {0};
    char *path = path_join(folder, single ? "page.html" : "folder"), *a = drawn(e);
    printf("# %s as a %s\n", name, single ? "page" : "folder");
    CHECK_INT(htmlgen_write(e, path, &options, NULL, &err), 0);
    CHECK(experiment_is_database(path));
    if (!CHECK_NAMED(experiment_read_database(path, &back, w, &err) == 0, "it is read")) {
        printf("# %s\n", err.msg);
    } else {
        char *b = drawn(back);
        if (!CHECK_NAMED(strcmp(a, b) == 0, "all that was written is read"))
            first_difference(a, b);
        CHECK_INT(warnings_count(w), 0);
        for (const struct export_format *f = export_table; f->name; f++) {
            char *before = written_as(e, f), *after = written_as(back, f);
            CHECK_STR(after, before);
            mem_free(before);
            mem_free(after);
        }
        mem_free(b);
    }
    mem_free(a);
    mem_free(path);
    experiment_free(back);
    warnings_free(w);
}

/* A database used as a run of a configuration: the same sums at the same places as measured. */
static void test_as_run(const char *name, struct experiment *e)
{
    struct htmlgen_options options = {.single_file = true};
    struct config *config = config_create();
    struct warnings *w = warnings_create();
    struct experiment *back = NULL;
    struct err err = {0};
    char *path = path_join(folder, "run.html");
    for (size_t m = 0; m < e->metric_count; m++)
        e->metrics[m].event = *text(e, e->metrics[m].formula) ? 0 : e->metrics[m].name;
    CHECK_INT(htmlgen_write(e, path, &options, NULL, &err), 0);
    config_set_reader(config, &htmlgen_reader);
    config_add_measurement(config, path);
    printf("# %s as a run\n", name);
    if (!CHECK_NAMED(experiment_build(config, NULL, &back, w, &err) == 0, "it is a run"))
        printf("# %s\n", err.msg);
    CHECK(!back || experiment_check(back, &err) == 0);
    for (size_t m = 0; back && m < back->metric_count; m++) {
        size_t was = 0;
        while (was < e->metric_count &&
               (*text(e, e->metrics[was].formula) ||
                strcmp(text(e, e->metrics[was].event), text(back, back->metrics[m].event)) != 0))
            was++;
        if (!CHECK(was < e->metric_count))
            continue;
        CHECK(experiment_value(back, m, 0, VALUE_INCLUSIVE) == experiment_value(e, was, 0, VALUE_INCLUSIVE));
        for (enum value_form form = 0; form < VALUE_FORMS; form++)
            CHECK_INT(experiment_column_count(back, TREE_SCOPES, m, form),
                      experiment_column_count(e, TREE_SCOPES, was, form));
    }
    mem_free(path);
    experiment_free(back);
    config_free(config);
    warnings_free(w);
}

static void test_sample(const char *name, struct experiment *e)
{
    test_back(name, e, false);
    test_back(name, e, true);
    experiment_free(e);
}

/* ---- damaged ones ------------------------------------------------------------------------------------------ */

/*
 * The result of reading a modified page, compared verbatim: tests/print/damage.cases. A case has
 *
 *     page                        of the tests' sources; or "sample NAME": the output for that sample
 *     numbers                     each number of its head is changed in turn
 *     texts                       each text is replaced by another text, and each key by another key
 *     blocks                      each block is truncated, and removed
 */
struct damaging {
    struct buf page;
    char *whole; /* the unmodified output */
};

/* The result is consistent. */
static bool is_sound(const struct experiment *e)
{
    bool sound = e->place_count > 0;
    for (size_t i = 0; i < e->place_count; i++)
        sound = sound && e->places[i].same < e->place_count && (i == 0 || e->places[i].parent < i);
    for (size_t t = 0; t < e->tree_count; t++)
        for (uint32_t i = 0; i < e->trees[t].node_count; i++)
            sound = sound && experiment_node_place(e, t, i) < e->place_count;
    return sound;
}

/* Reads the page with the bytes replaced: returns an error that includes its name, or the differences. Free with
   mem_free. */
static char *outcome_with(const struct damaging *d, size_t from, size_t to, const char *new)
{
    struct buf changed = {0}, said = {0};
    struct warnings *w = warnings_create();
    struct experiment *e = NULL;
    struct err err = {0};
    buf_add(&changed, d->page.bytes, from);
    buf_str(&changed, new);
    buf_add(&changed, d->page.bytes + to, d->page.len - to);
    buf_str(&said, "");
    if (experiment_read_page(changed.bytes, changed.len, "page.html", &e, w, &err) < 0)
        buf_str(&said, !e && str_starts(err.msg, "page.html:") ? err.msg + strlen("page.html:") : "UNSOUND");
    for (size_t i = 0; i < warnings_count(w); i++) {
        const char *warning = warnings_get(w, i);
        buf_printf(&said, "%s; ", str_starts(warning, "page.html: ") ? warning + strlen("page.html: ") : "UNSOUND");
    }
    if (e) {
        char *drawing = drawn(e);
        cases_difference(&said, d->whole, is_sound(e) ? drawing : "UNSOUND");
        mem_free(drawing);
    }
    experiment_free(e);
    warnings_free(w);
    buf_release(&changed);
    return said.bytes;
}

static size_t end_of_head(const struct damaging *d)
{
    return (size_t)(strstr(strstr(d->page.bytes, "hpcview-head"), "</script>") - d->page.bytes);
}

static size_t begin_of_head(const struct damaging *d)
{
    return (size_t)(strchr(strstr(d->page.bytes, "hpcview-head"), '{') - d->page.bytes);
}

/* Prints the preceding key and the current value. */
static void say_where(struct buf *out, const struct damaging *d, size_t from, size_t n)
{
    const char *at = d->page.bytes + from;
    size_t key = 0;
    while (strncmp(at, "\":", 2) != 0)
        at--;
    while (at[-1 - (long)key] != '"')
        key++;
    buf_printf(out, "%.*s %.*s", (int)key, at - key, (int)(n < 24 ? n : 24), d->page.bytes + from);
}

/* Block sizes are used only by the loader, and depend on the compressor. */
static bool is_looked_at(const struct buf *where)
{
    return !str_starts(where->bytes, "blocks ") && !str_starts(where->bytes, "generator ") &&
           !str_starts(where->bytes, "warnings ");
}

/* Other numbers, those of one outcome together. */
static void try_number(const struct damaging *d, size_t from, size_t n, struct buf *out)
{
    static const char *const numbers[] = {"0", "1", "255", "4294967295", "-1", "1e300", "null", "one more", "one less"};
    struct buf where = {0};
    char *before = mem_strdup("");
    unsigned long long is = strtoull(d->page.bytes + from, NULL, 10);
    say_where(&where, d, from, n);
    for (size_t k = 0; k < ARRAY_SIZE(numbers) && is_looked_at(&where); k++) {
        bool neighbour = str_starts(numbers[k], "one ");
        char *new = neighbour ? mem_printf("%llu", strcmp(numbers[k], "one more") == 0 ? is + 1
                                                   : is                                ? is - 1
                                                                                       : 0)
                              : mem_strdup(numbers[k]);
        char *outcome = outcome_with(d, from, from + n, new);
        if (strcmp(before, outcome) != 0)
            buf_printf(out, "%s%s%s%s ->", *before ? ": " : "", before, *before ? "\n" : "", where.bytes);
        buf_printf(out, " %s", numbers[k]);
        mem_free(before);
        mem_free(new);
        before = outcome;
    }
    if (*before)
        buf_printf(out, ": %s\n", before);
    mem_free(before);
    buf_release(&where);
}

static void say_numbers(const struct damaging *d, struct buf *out)
{
    for (size_t i = begin_of_head(d), n; i < end_of_head(d); i += n + 1) {
        n = strspn(d->page.bytes + i, "0123456789");
        if (n && strchr(":,[", d->page.bytes[i - 1]))
            try_number(d, i, n, out);
    }
}

/* Strings and keys: an item with another key is missing. */
static void say_texts(const struct damaging *d, struct buf *out)
{
    for (size_t i = begin_of_head(d), n; i < end_of_head(d); i += n + 1) {
        n = strcspn(d->page.bytes + i, "\"");
        struct buf where = {0};
        if (d->page.bytes[i - 1] != '"' || !strchr("{[:,", d->page.bytes[i - 2]))
            continue;
        if (strncmp(d->page.bytes + i + n, "\":", 2) == 0)
            buf_printf(&where, "%.*s:", (int)n, d->page.bytes + i);
        else
            say_where(&where, d, i, n);
        char *outcome = is_looked_at(&where) ? outcome_with(d, i, i + n, "another") : NULL;
        if (outcome)
            buf_printf(out, "%s -> another: %s\n", where.bytes, outcome);
        mem_free(outcome);
        buf_release(&where);
    }
}

static void say_blocks(const struct damaging *d, struct buf *out)
{
    for (const char *at = d->page.bytes; (at = strstr(at, "x-hpcview")); at++) {
        size_t from = (size_t)(strchr(at, '>') + 1 - d->page.bytes), len = strcspn(d->page.bytes + from, "<");
        const struct {
            const char *what, *new;
            size_t from, to;
        } damages[] = {{"nothing", "", from, from + len},
                       {"half of it", "", from, from + len / 2},
                       {"begun otherwise", "f", from, from + 1},
                       {"no letter", "*", from + len - 9, from + len - 8},
                       {"one letter less", "", from + len - 1, from + len},
                       {"with blanks", " \n", from + len / 2, from + len / 2}};
        for (size_t k = 0; k < ARRAY_SIZE(damages) && len > 9; k++) {
            char *outcome = outcome_with(d, damages[k].from, damages[k].to, damages[k].new);
            buf_printf(out, "%.*s, %s: %s\n", (int)strcspn(at, ">"), at, damages[k].what, outcome);
            mem_free(outcome);
        }
    }
}

static void begin_damage(void *ctx, const char *name)
{
    struct damaging *d = ctx;
    (void)name;
    buf_release(&d->page);
    mem_free(d->whole);
    *d = (struct damaging){.whole = NULL};
}

static void take_page(void *ctx, const char *which, const char *given)
{
    struct damaging *d = ctx;
    const char *top = getenv("top_srcdir");
    char *name = mem_strndup(given, strcspn(given, "\n")), *path;
    struct htmlgen_options options = {.single_file = true};
    struct experiment *e = NULL;
    struct filemap map;
    struct err err = {0};
    (void)which;
    if (str_starts(name, "sample ")) {
        e = strcmp(name, "sample facts") == 0 ? sample_facts(folder) : sample_two_runs(folder);
        path = path_join(folder, "damaged.html");
        if (htmlgen_write(e, path, &options, NULL, &err) < 0)
            exit(99);
        experiment_free(e);
    } else
        path = path_join(top ? top : ".", name);
    if (filemap_open(&map, path, &err) < 0)
        exit(99);
    buf_add(&d->page, map.bytes, map.len);
    filemap_release(&map);
    if (experiment_read_page(d->page.bytes, d->page.len, "page.html", &e, NULL, &err) < 0)
        exit(99);
    d->whole = drawn(e);
    experiment_free(e);
    mem_free(name);
    mem_free(path);
}

static void say_damage(void *ctx, const char *what, struct buf *out)
{
    const struct damaging *d = ctx;
    if (strcmp(what, "numbers") == 0)
        say_numbers(d, out);
    else if (strcmp(what, "texts") == 0)
        say_texts(d, out);
    else
        say_blocks(d, out);
}

/* The page truncated near its beginning, anywhere: it is rejected or read. */
static void test_cut(const char *path)
{
    struct damaging d = {.whole = NULL};
    size_t unsound = 0;
    take_page(&d, "page", path);
    for (size_t len = 0; len < d.page.len; len += 97) {
        char *outcome = outcome_with(&d, 0, len, "");
        unsound += strstr(outcome, "UNSOUND") != NULL;
        mem_free(outcome);
        outcome = outcome_with(&d, len, d.page.len, "");
        unsound += strstr(outcome, "UNSOUND") != NULL;
        mem_free(outcome);
    }
    CHECK_INT(unsound, 0);
    begin_damage(&d, "");
}

/* Lists that exceed the limits. */
static void test_long_lists(void)
{
    struct damaging d = {.whole = NULL};
    struct buf columns = {0}, tables = {0};
    take_page(&d, "page", "tests/corpus/database/version-3.html");
    buf_str(&tables, "\"tables\":[");
    for (unsigned i = 0; i <= LIMIT_TABLES; i++)
        buf_printf(&tables, "%s{\"name\":\"t%u\",\"title\":\"T%u\",\"columns\":[]}", i ? "," : "", i, i);
    buf_str(&tables, "]");
    buf_str(&columns, "\"tables\":[{\"name\":\"t\",\"title\":\"T\",\"rows\":0,\"strings\":0,\"columns\":[");
    for (unsigned i = 0; i <= LIMIT_TABLE_COLUMNS; i++)
        buf_printf(&columns, "%s{\"name\":\"c%u\",\"type\":\"count\"}", i ? "," : "", i);
    buf_str(&columns, "]}]");
    const struct {
        const char *old, *new, *want;
    } lists[] = {
        {"[0,0,53,1000]", "[0,0,53,1000,7,8]", "the same"},
        {"[0,0,53,1000]", "[0,0,53]", "'9000 nan 3000 na'"},
        {"[\"heat.f\",\"missing\"]", "[\"heat.f\",\"missing\",1,2]", "the same"},
        {"\"planes\":[1,", "\"planes\":[1,1,", "its names are truncated"},
        {",0,0,0,0,0],\"source", ",0,0,0,0,0,0,0],\"source", "the same"},
        {",0,0,0,0,0],\"source", ",0,0,0,0],\"source", "its head does not describe how its places are stored"},
        {"\"tables\":[]", columns.bytes, "the table 'T' is missing or damaged; the same"},
        {"\"tables\":[]", tables.bytes, "the table 'T256' is missing or damaged; the same"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        const char *at = strstr(d.page.bytes, lists[i].old);
        if (!CHECK_NAMED(at, lists[i].old))
            continue;
        size_t from = (size_t)(at - d.page.bytes);
        char *outcome = outcome_with(&d, from, from + strlen(lists[i].old), lists[i].new);
        if (!CHECK_NAMED(strstr(outcome, lists[i].want), lists[i].want))
            printf("# %.300s\n", outcome);
        mem_free(outcome);
    }
    buf_release(&columns);
    buf_release(&tables);
    begin_damage(&d, "");
}

static void test_none(void)
{
    struct experiment *e = NULL;
    struct err err = {0};
    char *path = path_join(folder, "none");
    CHECK_INT(experiment_read_database(path, &e, NULL, &err), -1);
    CHECK(!e && strstr(err.msg, path));
    CHECK(!experiment_is_database(path));
    CHECK_INT(experiment_read_database(folder, &e, NULL, &err), -1);
    CHECK(!e && strstr(err.msg, folder));
    CHECK(!experiment_is_database(folder));
    mem_free(path);
}

int main(void)
{
    static const char *const inputs[] = {"page", NULL};
    struct damaging damaged = {.whole = NULL};
    struct cases damages = {inputs, begin_damage, NULL, take_page, say_damage, &damaged, NULL, {0}};
    char name[] = "/tmp/database_test.XXXXXX";
    folder = mkdtemp(name);
    if (!folder)
        return 1;
    RUN(test_none);
    struct experiment *heat = sample_heat(folder);
    test_as_run("heat", heat);
    experiment_free(heat);
    test_sample("heat", sample_heat(folder));
    test_sample("facts", sample_facts(folder));
    test_sample("two runs", sample_two_runs(folder));
    test_sample("a large one", sample_large(3000, 7));
    test_sample("a program", sample_empty(true));
    test_cut("tests/corpus/database/version-1.html");
    test_cut("tests/corpus/database/version-2.html");
    test_cut("tests/corpus/database/version-2-paths.html");
    test_cut("tests/corpus/database/version-3.html");
    RUN(test_long_lists);
    cases_run(&damages, "tests/print/damage.cases");
    dir_remove_tree(folder, NULL);
    return tap_done();
}
