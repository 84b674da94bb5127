/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The database's files. The page (templates/index.html) carries the head, which is JSON and names everything else; the
 * rest comes in data/ as one script call a file, or in elements of the page itself when all is one file:
 *
 *     index.html          head, style, script
 *     data/places.js      hpcview_data("places","<base64 of zlib>")
 *     data/tree-K.js      the nodes of a further tree over the places
 *     data/metric-K.js    the columns of one or more metrics, of one tree
 *     data/table-K.js     a table beside the places
 *     data/source-K.js    source texts
 */
#include "config.h"
#include "htmlgen/write/write.h"

#include <stdio.h>

/* In the order of enum source_state; documented names of the format. */
static const char *const source_state_words[] = {"text", "missing", "left-out", "too-large", "unreadable"};

/* Metrics share files if there are more than this, so that comparing forty runs does not give forty files. */
enum { METRIC_FILES_WANTED = 24 };

struct listed { /* a block of data/, in the head */
    char name[24];
    size_t bytes; /* before compression */
};

struct written_column { /* where a metric's values in a tree are */
    size_t chunk, offset, bytes;
    uint64_t scale; /* see htmlgen_metric_column */
};

struct writer {
    const struct experiment *e;
    bool single_file;
    const char *dir;   /* where the folder is being made; NULL for a single file */
    struct buf inside; /* data elements for a single file */
    struct source_text *texts;
    struct place_layout layout;
    size_t source_chunks, metrics_per_chunk, metric_chunks;
    struct written_column *columns; /* by tree, then by metric */
    size_t *table_strings;          /* by table: how many */
    struct VEC(struct listed) blocks;
    struct warnings *warnings;
};

/* ---- data blocks ---- */

static int write_file(const struct writer *w, const char *name, const struct buf *base64, struct err *err)
{
    char *path = mem_printf("%s/data/%s.js", w->dir, name);
    struct outfile *out;
    int status = outfile_create(path, &out, err);
    mem_free(path);
    if (status < 0)
        return -1;
    outfile_printf(out, BLOCK_CALL, name);
    outfile_write(out, base64->bytes, base64->len);
    outfile_printf(out, "\");\n");
    return outfile_commit(out, err);
}

/* One named block of the database, compressed; number SIZE_MAX: there is one of the name alone. */
static int put_block(struct writer *w, const char *name, size_t number, const struct buf *bytes, struct err *err)
{
    struct buf base64 = {0};
    struct listed *block = vec_push(&w->blocks);
    *block = (struct listed){.bytes = bytes->len};
    if (number == SIZE_MAX)
        snprintf(block->name, sizeof block->name, "%s", name);
    else
        snprintf(block->name, sizeof block->name, "%s-%zu", name, number);
    int status = htmlgen_pack(&base64, bytes->bytes, bytes->len, err);
    if (status == 0 && w->single_file)
        buf_printf(&w->inside, "<script type=\"application/x-hpcview\" " BLOCK_ELEMENT "%s</script>\n", block->name,
                   base64.bytes);
    else if (status == 0)
        status = write_file(w, block->name, &base64, err);
    buf_release(&base64);
    return status;
}

static int put_places(struct writer *w, struct err *err)
{
    struct buf bytes = {0};
    htmlgen_place_columns(&bytes, w->e, &w->layout);
    int status = put_block(w, "places", SIZE_MAX, &bytes, err);
    buf_release(&bytes);
    return status;
}

static int put_trees(struct writer *w, struct err *err)
{
    int status = 0;
    for (size_t tree = TREE_SCOPES + 1; status == 0 && tree < w->e->tree_count; tree++) {
        struct buf bytes = {0};
        htmlgen_node_columns(&bytes, w->e, tree);
        status = put_block(w, "tree", tree, &bytes, err);
        buf_release(&bytes);
    }
    return status;
}

static void add_metric(const struct experiment *e, size_t tree, size_t metric, struct buf *bytes,
                       struct written_column *column)
{
    size_t n = e->trees[tree].node_count;
    double *inclusive = mem_alloc((n + 1) * sizeof *inclusive), *exclusive = mem_alloc((n + 1) * sizeof *exclusive);
    experiment_column(e, tree, metric, VALUE_INCLUSIVE, 0, n, inclusive);
    experiment_column(e, tree, metric, VALUE_EXCLUSIVE, 0, n, exclusive);
    column->offset = bytes->len;
    htmlgen_metric_column(bytes, inclusive, e->metrics[metric].has_exclusive ? exclusive : NULL, n,
                          e->metrics[metric].period, &column->scale);
    column->bytes = bytes->len - column->offset;
    mem_free(inclusive);
    mem_free(exclusive);
}

static int put_metrics(struct writer *w, size_t tree, struct err *err)
{
    const struct experiment *e = w->e;
    int status = 0;
    for (size_t m = 0; status == 0 && m < e->metric_count;) {
        struct buf bytes = {0};
        size_t end = m + w->metrics_per_chunk < e->metric_count ? m + w->metrics_per_chunk : e->metric_count;
        for (; m < end; m++) {
            struct written_column *column = &w->columns[tree * e->metric_count + m];
            column->chunk = w->metric_chunks;
            add_metric(e, tree, m, &bytes, column);
        }
        status = put_block(w, "metric", w->metric_chunks++, &bytes, err);
        buf_release(&bytes);
    }
    return status;
}

static int put_tables(struct writer *w, struct err *err)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < w->e->tables.count; i++) {
        struct buf bytes = {0};
        htmlgen_table_columns(&bytes, w->e, w->e->tables.items[i], &w->table_strings[i]);
        status = put_block(w, "table", i, &bytes, err);
        buf_release(&bytes);
    }
    return status;
}

static int put_sources(struct writer *w, struct err *err)
{
    int status = 0;
    for (size_t chunk = 0; status == 0 && chunk < w->source_chunks; chunk++) {
        struct buf text = {0};
        htmlgen_sources_chunk(w->e, w->texts, chunk, &text, w->warnings);
        status = put_block(w, "source", chunk, &text, err);
        buf_release(&text);
    }
    return status;
}

/* ---- the head ---- */

static void head_blocks(const struct writer *w, struct jsonout *j)
{
    json_put_array(j, "blocks");
    for (size_t i = 0; i < w->blocks.count; i++) {
        json_begin_array(j);
        json_string(j, w->blocks.items[i].name);
        json_u64(j, w->blocks.items[i].bytes);
        json_end_array(j);
    }
    json_end_array(j);
}

static void head_columns(const struct writer *w, struct jsonout *j, size_t tree)
{
    size_t n = w->e->metric_count;
    json_put_array(j, "values");
    for (size_t m = 0; m < n; m++) {
        const struct written_column *c = &w->columns[tree * n + m];
        json_begin_array(j);
        json_u64(j, c->chunk);
        json_u64(j, c->offset);
        json_u64(j, c->bytes);
        json_u64(j, c->scale);
        json_end_array(j);
    }
    json_end_array(j);
}

static void head_trees(const struct writer *w, struct jsonout *j)
{
    const struct experiment *e = w->e;
    json_put_array(j, "trees");
    for (size_t i = 0; i < e->tree_count; i++) {
        json_begin_object(j);
        json_put_string(j, "name", strtab_get(e->strings, e->trees[i].name));
        json_put_string(j, "title", strtab_get(e->strings, e->trees[i].title));
        json_put_u64(j, "nodes", e->trees[i].node_count);
        head_columns(w, j, i);
        json_end_object(j);
    }
    json_end_array(j);
}

static void head_table_columns(struct jsonout *j, const struct table_decl *d)
{
    json_put_array(j, "columns");
    for (size_t i = 0; i < d->column_count; i++) {
        const struct table_column *c = &d->columns[i];
        json_begin_object(j);
        json_put_string(j, "name", c->name);
        json_put_string(j, "title", c->title);
        json_put_string(j, "unit", c->unit);
        json_put_string(j, "description", c->description);
        json_put_string(j, "type", htmlgen_cell_types[c->type]);
        if (c->type == TABLE_REF)
            json_put_string(j, "to", c->refers);
        json_end_object(j);
    }
    json_end_array(j);
}

static void head_tables(const struct writer *w, struct jsonout *j)
{
    json_put_array(j, "tables");
    for (size_t i = 0; i < w->e->tables.count; i++) {
        const struct table_decl *d = table_declared(w->e->tables.items[i]);
        char block[32];
        snprintf(block, sizeof block, "table-%zu", i);
        json_begin_object(j);
        json_put_string(j, "name", d->name);
        json_put_string(j, "title", d->title);
        json_put_string(j, "description", d->description);
        json_put_u64(j, "rows", table_row_count(w->e->tables.items[i]));
        json_put_u64(j, "strings", w->table_strings[i]);
        json_put_string(j, "block", block);
        head_table_columns(j, d);
        json_end_object(j);
    }
    json_end_array(j);
}

static void head_metrics(const struct writer *w, struct jsonout *j)
{
    const struct experiment *e = w->e;
    json_put_array(j, "metrics");
    for (size_t i = 0; i < e->metric_count; i++) {
        json_begin_object(j);
        htmlgen_put_fields(j, e->strings, htmlgen_metric_fields, &e->metrics[i]);
        json_end_object(j);
    }
    json_end_array(j);
}

static void head_files(const struct writer *w, struct jsonout *j)
{
    const struct experiment *e = w->e;
    json_put_array(j, "files");
    for (size_t i = 0; i < e->file_count; i++) {
        json_begin_array(j);
        json_string(j, strtab_get(e->strings, e->files[i].name));
        json_string(j, source_state_words[w->texts[i].state]);
        if (w->texts[i].state == SOURCE_TEXT) {
            json_u64(j, w->texts[i].chunk);
            json_u64(j, w->texts[i].offset);
            json_u64(j, w->texts[i].bytes);
        }
        json_end_array(j);
    }
    json_end_array(j);
}

static void head_environment(const struct experiment *e, const struct experiment_run *run, struct jsonout *j)
{
    if (run->environment_count == 0)
        return;
    json_put_array(j, "facts");
    for (size_t i = 0; i < run->environment_count; i++) {
        json_begin_array(j);
        json_string(j, strtab_get(e->strings, run->environment[i].name));
        json_string(j, strtab_get(e->strings, run->environment[i].value));
        json_end_array(j);
    }
    json_end_array(j);
}

static void head_runs(const struct writer *w, struct jsonout *j)
{
    const struct experiment *e = w->e;
    json_put_array(j, "runs");
    for (size_t i = 0; i < e->run_count; i++) {
        const struct experiment_run *run = &e->runs[i];
        json_begin_object(j);
        htmlgen_put_fields(j, e->strings, htmlgen_run_fields, run);
        json_put_array(j, "modules");
        for (size_t k = 0; k < run->module_count; k++)
            json_string(j, strtab_get(e->strings, run->modules[k]));
        json_end_array(j);
        head_environment(e, run, j);
        htmlgen_put_fields(j, e->strings, htmlgen_run_processes, run);
        json_end_object(j);
    }
    json_end_array(j);
}

static void head_processes(const struct writer *w, struct jsonout *j)
{
    const struct experiment *e = w->e;
    json_put_array(j, "processes");
    for (size_t i = 0; i < e->process_count; i++) {
        const struct hpcprof_process *p = &e->processes[i];
        json_begin_object(j);
        htmlgen_put_fields(j, e->strings, htmlgen_process_names, p);
        /* a double holds milliseconds since 1970 exactly, nanoseconds not */
        json_put_double(j, "start_ms", (double)(p->start_ns / 1000000));
        json_key(j, "seconds");
        if (p->start_ns && p->end_ns >= p->start_ns)
            json_double(j, (double)(p->end_ns - p->start_ns) / 1e9);
        else
            json_null(j);
        htmlgen_put_fields(j, e->strings, htmlgen_process_fields, p);
        json_end_object(j);
    }
    json_end_array(j);
}

static void head_warnings(const struct writer *w, struct jsonout *j)
{
    json_put_array(j, "warnings");
    for (size_t i = 0; w->warnings && i < warnings_count(w->warnings); i++) {
        char *text = experiment_public_text(w->e, warnings_get(w->warnings, i));
        json_string(j, text);
        mem_free(text);
    }
    json_end_array(j);
}

/* How the block of the places is to be read. */
static void head_planes(const struct writer *w, struct jsonout *j)
{
    json_put_array(j, "planes");
    for (size_t i = 0; i < w->layout.columns; i++)
        json_u64(j, w->layout.planes[i]);
    json_end_array(j);
}

static void make_head(const struct writer *w, struct buf *head)
{
    struct jsonout j = {.out = head};
    json_begin_object(&j);
    json_put_string(&j, "format", "hpcview-database");
    json_put_u64(&j, "version", HTMLGEN_VERSION);
    json_put_string(&j, "generator", PACKAGE_STRING);
    json_put_string(&j, "title", strtab_get(w->e->strings, w->e->title));
    json_put_u64(&j, "places", w->e->place_count);
    json_put_u64(&j, "strings", w->layout.strings);
    head_planes(w, &j);
    json_put_u64(&j, "source_chunks", w->source_chunks);
    head_blocks(w, &j);
    head_runs(w, &j);
    head_metrics(w, &j);
    head_trees(w, &j);
    head_tables(w, &j);
    head_files(w, &j);
    head_processes(w, &j);
    head_warnings(w, &j);
    json_end_object(&j);
}

/* ---- the page ---- */

static void policy(const struct writer *w, struct buf *out)
{
    buf_printf(out,
               "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'sha256-%s'; "
               "script-src 'sha256-%s",
               htmlgen_style_hash, htmlgen_script_hash);
    /* The data scripts: 'self' where the page comes from a server, file: where it comes from disk. Trusted Types make
       the browser itself refuse text as markup. */
    buf_str(out, w->single_file ? "'" : "' 'self' file:");
    buf_str(out, "; worker-src blob:"); /* the page's own script again, which unpacks large blocks */
    buf_str(out, "; require-trusted-types-for 'script'; trusted-types hpcview");
}

/* The template with its @NAMES@ replaced, in one pass, so that the replacements are not searched again. */
static void make_page(const struct writer *w, const struct buf *head, struct buf *out)
{
    const char *p = (const char *)htmlgen_page, *end = p + htmlgen_page_len;
    while (p < end) {
        const char *at = memchr(p, '@', (size_t)(end - p));
        const char *close = at ? memchr(at + 1, '@', (size_t)(end - at - 1)) : NULL;
        if (!close) {
            buf_add(out, p, (size_t)(end - p));
            return;
        }
        size_t n = (size_t)(close - at - 1);
        buf_add(out, p, (size_t)(at - p));
        if (n == 5 && memcmp(at + 1, "TITLE", n) == 0)
            htmlgen_escape(out, strtab_get(w->e->strings, w->e->title));
        else if (n == 6 && memcmp(at + 1, "POLICY", n) == 0)
            policy(w, out);
        else if (n == 5 && memcmp(at + 1, "STYLE", n) == 0)
            buf_add(out, htmlgen_style, htmlgen_style_len);
        else if (n == 6 && memcmp(at + 1, "SCRIPT", n) == 0)
            buf_add(out, htmlgen_script, htmlgen_script_len);
        else if (n == 4 && memcmp(at + 1, "HEAD", n) == 0)
            buf_add(out, head->bytes, head->len);
        else if (n == 4 && memcmp(at + 1, "DATA", n) == 0)
            buf_add(out, w->inside.bytes, w->inside.len);
        p = close + 1;
    }
}

static int write_page(const struct writer *w, const char *path, struct err *err)
{
    struct buf head = {0}, page = {0};
    struct outfile *out;
    make_head(w, &head);
    make_page(w, &head, &page);
    int status = outfile_create(path, &out, err);
    if (status == 0) {
        outfile_write(out, page.bytes, page.len);
        status = outfile_commit(out, err);
    }
    buf_release(&head);
    buf_release(&page);
    return status;
}

/* The head comes last: the blocks before it say where things lie in them, and reading the sources may bring warnings.
 */
static int write_all(struct writer *w, const char *page_path, struct err *err)
{
    int status = put_places(w, err);
    if (status == 0)
        status = put_trees(w, err);
    for (size_t tree = 0; status == 0 && tree < w->e->tree_count; tree++)
        status = put_metrics(w, tree, err);
    if (status == 0)
        status = put_tables(w, err);
    if (status == 0)
        status = put_sources(w, err);
    return status == 0 ? write_page(w, page_path, err) : -1;
}

static int write_folder(struct writer *w, const char *path, struct err *err)
{
    struct outdir *dir;
    if (outdir_create(path, "data/places.js", &dir, err) < 0)
        return -1;
    w->dir = outdir_path(dir);
    char *data = path_join(w->dir, "data"), *page = path_join(w->dir, "index.html");
    int status = dir_make(data, err);
    if (status == 0)
        status = write_all(w, page, err);
    mem_free(data);
    mem_free(page);
    if (status < 0) {
        outdir_abandon(dir);
        return -1;
    }
    return outdir_commit(dir, err);
}

int htmlgen_write(const struct experiment *e, const char *path, const struct htmlgen_options *opts,
                  struct warnings *warnings, struct err *err)
{
    struct writer w = {.e = e, .single_file = opts && opts->single_file, .warnings = warnings};
    w.texts = mem_calloc(e->file_count + 1, sizeof *w.texts);
    w.columns = mem_calloc(e->metric_count * e->tree_count + 1, sizeof *w.columns);
    w.table_strings = mem_calloc(e->tables.count + 1, sizeof *w.table_strings);
    w.metrics_per_chunk = e->metric_count / METRIC_FILES_WANTED + 1;
    w.source_chunks = htmlgen_sources_plan(e, opts && opts->no_sources, w.texts, warnings);
    int status = w.single_file ? write_all(&w, path, err) : write_folder(&w, path, err);
    buf_release(&w.inside);
    mem_free(w.texts);
    mem_free(w.columns);
    mem_free(w.table_strings);
    vec_release(&w.blocks);
    return status < 0 ? err_in(err, "writing the database %s", path) : 0;
}
