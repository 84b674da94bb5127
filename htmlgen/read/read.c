/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a finished database (doc/formats/database.md, versions 1 to 3), perhaps from elsewhere. All of it is hostile:
 * every size is checked against the bytes available before it is used.
 */
#include "htmlgen/read/read.h"

#include <math.h>
#include <sys/stat.h>

static const char head_tag[] = "id=\"hpcview-head\">";

/* ---- blocks ---------------------------------------------------------------------------------------------- */

static bool unpack_block(const uint8_t *text, size_t len, const char *before, char after, struct htmlgen_block *b)
{
    const uint8_t *begin = len ? memmem(text, len, before, strlen(before)) : NULL;
    if (!begin)
        return false;
    begin += strlen(before);
    const uint8_t *end = memchr(begin, after, len - (size_t)(begin - text));
    if (!end)
        return false;
    return htmlgen_unpack((const char *)begin, (size_t)(end - begin), b);
}

bool database_block(struct database *d, const char *name, struct htmlgen_block *b)
{
    bool is = false;
    if (d->single) {
        char *tag = mem_printf(BLOCK_ELEMENT, name);
        is = unpack_block(d->page.bytes, d->page.len, tag, '<', b);
        mem_free(tag);
        return is;
    }
    struct filemap map;
    char *file = mem_printf("%s/data/%s.js", d->path, name), *call = mem_printf(BLOCK_CALL, name);
    if (filemap_open(&map, file, NULL) == 0) {
        is = unpack_block(map.bytes, map.len, call, '"', b);
        filemap_release(&map);
    }
    mem_free(file);
    mem_free(call);
    return is;
}

/* ---- columns -------------------------------------------------------------------------------------------------- */

const uint8_t *database_column(struct columns_reader *r, unsigned width)
{
    if (r->block->len - r->at < (uint64_t)r->n * width)
        return NULL;
    const uint8_t *p = r->block->bytes + r->at;
    r->at += r->n * width;
    return p;
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

static int damaged(struct database *d, const char *what)
{
    return err_set(d->err, ERR_FORMAT, "%s: %s", d->path, what);
}

str_id *database_strings(struct database *d, const struct columns_reader *r, size_t count)
{
    struct cursor c =
        r->block->bytes ? cursor_make(r->block->bytes + r->at, r->block->len - r->at) : cursor_make(NULL, 0);
    if (count > cursor_left(&c)) /* each has an end */
        return NULL;
    str_id *ids = mem_calloc(count, sizeof *ids);
    for (size_t i = 0; i < count && !c.bad; i++)
        ids[i] = strtab_add(d->e->strings, cursor_cstr(&c));
    if (!c.bad)
        return ids;
    mem_free(ids);
    return NULL;
}

static bool place_fits(const struct database *d, const struct place *p, size_t i)
{
    bool parent = i == 0 ? p->kind == PLACE_PROGRAM && p->parent == PLACE_NONE : p->parent < i;
    bool file = p->file == SOURCE_NONE || p->file < d->e->file_count;
    bool call = p->call_file == SOURCE_NONE || p->call_file < d->e->file_count;
    return parent && file && call && p->kind <= PLACE_LINE && (i == 0 || p->kind != PLACE_PROGRAM);
}

struct place_columns {
    const uint8_t *at[PLACE_COLUMNS];
    unsigned widths[PLACE_COLUMNS];
};

static struct place make_place(const struct place_columns *columns, size_t n, size_t i, const str_id *strings,
                               size_t string_count)
{
    uint64_t v[PLACE_COLUMNS];
    for (size_t k = 0; k < PLACE_COLUMNS; k++)
        v[k] = htmlgen_number(columns->at[k], n, i, columns->widths[k]);
    return (struct place){.kind = (uint8_t)v[COLUMN_KIND],
                          .role = v[COLUMN_ROLE] & 3,
                          .on_line = v[COLUMN_ROLE] >> 2 & ON_LINE_MOST,
                          .irreducible = v[COLUMN_ROLE] >> 7,
                          .parent =
                              v[COLUMN_PARENT] && v[COLUMN_PARENT] <= i ? (place_ix)(i - v[COLUMN_PARENT]) : PLACE_NONE,
                          .name = v[COLUMN_NAME] < string_count ? strings[v[COLUMN_NAME]] : 0,
                          .full_name = v[COLUMN_FULL_NAME] < string_count ? strings[v[COLUMN_FULL_NAME]] : 0,
                          .file = (uint32_t)v[COLUMN_FILE],
                          .line_first = (uint32_t)v[COLUMN_FIRST],
                          .line_last = (uint32_t)(v[COLUMN_FIRST] + v[COLUMN_LAST]),
                          .call_file = (uint32_t)v[COLUMN_CALL_FILE],
                          .call_line = (uint32_t)v[COLUMN_CALL_LINE],
                          .instance = (uint32_t)v[COLUMN_INSTANCE],
                          .instances = (uint32_t)v[COLUMN_INSTANCES],
                          .address = v[COLUMN_ADDRESS]};
}

/* How many planes each column has: version 1 had no last column, version 3 leaves planes of zeros out. */
static bool find_widths(const struct database *d, unsigned version, unsigned widths[PLACE_COLUMNS])
{
    for (size_t k = 0; k < PLACE_COLUMNS; k++)
        widths[k] = htmlgen_place_widths[k];
    if (version == 1)
        widths[COLUMN_SAME] = 0;
    if (version < 3)
        return true;
    json_ix i = json_first(d->head, json_get(d->head, 0, "planes"));
    for (size_t k = COLUMN_PARENT; k < PLACE_COLUMNS; k++, i = json_next(d->head, i)) {
        uint64_t planes = i == JSON_NONE ? UINT64_MAX : json_count(d->head, i);
        if (planes > htmlgen_place_widths[k])
            return false;
        widths[k] = (unsigned)planes;
    }
    return true;
}

static int fill_places(struct database *d, const struct htmlgen_block *b, size_t n, size_t string_count,
                       unsigned version)
{
    struct columns_reader r = {b, 0, n};
    struct place_columns columns;
    if (!find_widths(d, version, columns.widths))
        return damaged(d, "its head does not describe how its places are stored");
    for (size_t k = 0; k < PLACE_COLUMNS; k++)
        if (!(columns.at[k] = database_column(&r, columns.widths[k])))
            return damaged(d, "its places are truncated");
    str_id *strings = database_strings(d, &r, string_count);
    if (!strings)
        return damaged(d, "its names are truncated");
    d->e->places = mem_calloc(n, sizeof *d->e->places);
    d->e->place_count = n;
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        d->e->places[i] = make_place(&columns, n, i, strings, string_count);
        if (!place_fits(d, &d->e->places[i], i))
            status = damaged(d, "its places refer to missing parents or files");
    }
    mem_free(strings);
    return status;
}

static int read_places(struct database *d, unsigned version)
{
    struct htmlgen_block b;
    uint64_t n = json_count(d->head, json_get(d->head, 0, "places"));
    uint64_t strings = json_count(d->head, json_get(d->head, 0, "strings"));
    if (!database_block(d, "places", &b))
        return damaged(d, "its places are missing or damaged; nothing can be shown without them");
    int status = n == 0 || n > b.len ? damaged(d, "the number of its places differs from its head")
                                     : fill_places(d, &b, n, strings, version);
    mem_free(b.bytes);
    if (status == 0)
        experiment_find_same(d->e);
    return status;
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static size_t database_length(const struct json *j, json_ix list)
{
    size_t n = 0;
    for (json_ix i = json_first(j, list); i != JSON_NONE; i = json_next(j, i))
        n++;
    return n;
}

str_id database_text(struct database *d, json_ix object, const char *key)
{
    return strtab_add(d->e->strings, json_string_of(d->head, json_get(d->head, object, key)));
}

static void read_files(struct database *d)
{
    json_ix list = json_get(d->head, 0, "files");
    d->e->files = mem_calloc(database_length(d->head, list), sizeof *d->e->files);
    for (json_ix i = json_first(d->head, list); i != JSON_NONE; i = json_next(d->head, i)) {
        str_id name = strtab_add(d->e->strings, json_string_of(d->head, json_first(d->head, i)));
        d->e->files[d->e->file_count++] = (struct source_file){.name = name, .raw_name = name};
    }
}

static void read_modules(struct database *d, json_ix list, struct experiment_run *run)
{
    run->modules = mem_calloc(database_length(d->head, list), sizeof *run->modules);
    for (json_ix i = json_first(d->head, list); i != JSON_NONE; i = json_next(d->head, i))
        run->modules[run->module_count++] = strtab_add(d->e->strings, json_string_of(d->head, i));
}

static void read_environment(struct database *d, json_ix list, struct experiment_run *run)
{
    run->environment = mem_calloc(database_length(d->head, list), sizeof *run->environment);
    for (json_ix i = json_first(d->head, list); i != JSON_NONE; i = json_next(d->head, i)) {
        json_ix name = json_first(d->head, i), value = name == JSON_NONE ? JSON_NONE : json_next(d->head, name);
        if (value != JSON_NONE)
            run->environment[run->environment_count++] =
                (struct environment_entry){strtab_add(d->e->strings, json_string_of(d->head, name)),
                                           strtab_add(d->e->strings, json_string_of(d->head, value))};
    }
}

static void read_runs(struct database *d)
{
    json_ix list = json_get(d->head, 0, "runs");
    d->e->runs = mem_calloc(database_length(d->head, list), sizeof *d->e->runs);
    for (json_ix i = json_first(d->head, list); i != JSON_NONE; i = json_next(d->head, i)) {
        struct experiment_run *run = &d->e->runs[d->e->run_count++];
        htmlgen_get_fields(d->head, i, d->e->strings, htmlgen_run_fields, run);
        read_modules(d, json_get(d->head, i, "modules"), run);
        read_environment(d, json_get(d->head, i, "facts"), run);
    }
}

static void read_process(struct database *d, json_ix at, struct hpcprof_process *p)
{
    double start = json_number(d->head, json_get(d->head, at, "start_ms")),
           seconds = json_number(d->head, json_get(d->head, at, "seconds"));
    bool timed = start > 0 && start < 1e15 && seconds >= 0 && seconds < 1e9;
    htmlgen_get_fields(d->head, at, d->e->strings, htmlgen_process_names, p);
    htmlgen_get_fields(d->head, at, d->e->strings, htmlgen_process_fields, p);
    p->start_ns = timed ? (uint64_t)(start * 1e6) : 0;
    p->end_ns = timed ? p->start_ns + (uint64_t)(seconds * 1e9 + 0.5) : 0;
}

/* The measured programs, and the part of the database that belongs to each run. */
static void read_processes(struct database *d)
{
    json_ix list = json_get(d->head, 0, "processes"), runs = json_get(d->head, 0, "runs");
    d->e->processes = mem_calloc(database_length(d->head, list), sizeof *d->e->processes);
    for (json_ix i = json_first(d->head, list); i != JSON_NONE; i = json_next(d->head, i))
        read_process(d, i, &d->e->processes[d->e->process_count++]);
    struct experiment_run *run = d->e->runs;
    for (json_ix i = json_first(d->head, runs); i != JSON_NONE; i = json_next(d->head, i), run++) {
        htmlgen_get_fields(d->head, i, d->e->strings, htmlgen_run_processes, run);
        if (run->process_first > d->e->process_count || run->process_count > d->e->process_count - run->process_first)
            run->process_first = run->process_count = run->root = 0;
        else if (run->root < run->process_first || run->root - run->process_first >= run->process_count)
            run->root = run->process_first;
    }
}

static void read_metrics(struct database *d)
{
    json_ix list = json_get(d->head, 0, "metrics");
    d->e->metrics = mem_calloc(database_length(d->head, list), sizeof *d->e->metrics);
    for (json_ix i = json_first(d->head, list); i != JSON_NONE; i = json_next(d->head, i)) {
        struct metric *m = &d->e->metrics[d->e->metric_count++];
        htmlgen_get_fields(d->head, i, d->e->strings, htmlgen_metric_fields, m);
        m->exact_total = NAN;
        m->run = m->run < d->e->run_count ? m->run : RUN_NONE;
    }
}

/* ---- values
 * ---------------------------------------------------------------------------------------------------------- */

struct where { /* of a column's values */
    uint64_t chunk, offset, bytes, scale;
};

static double value_at(const uint8_t *values, size_t count, size_t i, uint64_t scale)
{
    uint64_t bits = htmlgen_number(values, count, i, scale ? 4 : 8);
    double v;
    if (scale)
        return (double)bits * (double)scale;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Both forms of one column of n nodes from its bytes. */
static bool fill_column(struct database *d, size_t tree, size_t metric, const uint8_t *bytes, const struct where *w,
                        size_t n)
{
    size_t inclusive = 0, exclusive = 0, in = 0, ex = 0, width = w->scale ? 4 : 8;
    if (w->bytes < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        inclusive += (bytes[i] & STATE_INCLUSIVE) != 0;
        exclusive += (bytes[i] & STATE_EXCLUSIVE) != 0;
    }
    size_t all = inclusive + exclusive; /* their byte planes are over both */
    if (w->bytes - n < (uint64_t)all * width)
        return false;
    double *of_all = mem_alloc(n * sizeof *of_all), *own = mem_alloc(n * sizeof *own);
    for (size_t i = 0; i < n; i++) {
        of_all[i] = bytes[i] & STATE_INCLUSIVE ? value_at(bytes + n, all, in++, w->scale) : NAN;
        own[i] = bytes[i] & STATE_EQUAL       ? of_all[i]
                 : bytes[i] & STATE_EXCLUSIVE ? value_at(bytes + n, all, inclusive + ex++, w->scale)
                                              : NAN;
    }
    experiment_set_column(d->e, tree, metric, VALUE_INCLUSIVE, of_all);
    experiment_set_column(d->e, tree, metric, VALUE_EXCLUSIVE, own);
    mem_free(of_all);
    mem_free(own);
    return true;
}

struct chunks { /* the last one read: columns of a chunk follow each other */
    struct htmlgen_block block;
    uint64_t number;
    bool read;
};

static void read_column(struct database *d, struct chunks *c, size_t tree, size_t metric, const struct where *w,
                        size_t n)
{
    if (!c->read || c->number != w->chunk) {
        char *name = mem_printf("metric-%llu", (unsigned long long)w->chunk);
        mem_free(c->block.bytes);
        c->block = (struct htmlgen_block){0};
        if (!database_block(d, name, &c->block))
            c->block = (struct htmlgen_block){0};
        c->number = w->chunk;
        c->read = true;
        mem_free(name);
    }
    bool there = c->block.bytes && w->offset <= c->block.len && w->bytes <= c->block.len - w->offset;
    if (!there || !fill_column(d, tree, metric, c->block.bytes + w->offset, w, n))
        warnings_add(d->warnings, "%s: the values of %s are missing or damaged", d->path,
                     strtab_get(d->e->strings, d->e->metrics[metric].name));
}

static struct where where_in_list(const struct json *j, json_ix list)
{
    uint64_t v[4] = {0};
    json_ix i = json_first(j, list);
    for (size_t k = 0; k < 4 && i != JSON_NONE; k++, i = json_next(j, i))
        v[k] = json_count(j, i);
    return (struct where){v[0], v[1], v[2], v[3]};
}

static struct where where_of_metric(const struct json *j, json_ix metric)
{
    return (struct where){json_count(j, json_get(j, metric, "chunk")), json_count(j, json_get(j, metric, "offset")),
                          json_count(j, json_get(j, metric, "bytes")), json_count(j, json_get(j, metric, "scale"))};
}

/* Version 1: where its values are stands in each metric. */
static void read_values_1(struct database *d)
{
    struct chunks c = {0};
    size_t m = 0;
    json_ix list = json_get(d->head, 0, "metrics");
    for (json_ix i = json_first(d->head, list); i != JSON_NONE; i = json_next(d->head, i), m++) {
        struct where w = where_of_metric(d->head, i);
        read_column(d, &c, TREE_SCOPES, m, &w, d->e->place_count);
    }
    mem_free(c.block.bytes);
}

/* Values of a tree: for each metric a list, or null. */
static void read_values(struct database *d, size_t tree, json_ix values)
{
    struct chunks c = {0};
    size_t m = 0;
    for (json_ix i = json_first(d->head, values); i != JSON_NONE && m < d->e->metric_count;
         i = json_next(d->head, i), m++) {
        struct where w = where_in_list(d->head, i);
        if (json_type_of(d->head, i) == JSON_ARRAY && w.bytes)
            read_column(d, &c, tree, m, &w, d->e->trees[tree].node_count);
    }
    mem_free(c.block.bytes);
}

/* ---- trees
 * ------------------------------------------------------------------------------------------------------------- */

/* The nodes of a further tree; false: missing or invalid. */
static bool read_nodes(struct database *d, size_t number, json_ix tree)
{
    struct htmlgen_block b;
    char *name = mem_printf("tree-%zu", number);
    bool is = database_block(d, name, &b);
    mem_free(name);
    if (!is)
        return false;
    uint64_t n = json_count(d->head, json_get(d->head, tree, "nodes"));
    struct columns_reader r = {&b, 0, n};
    is = n > 0 && n <= b.len / 8;
    const uint8_t *up = is ? database_column(&r, 4) : NULL, *at = is ? database_column(&r, 4) : NULL;
    uint32_t *parent = mem_calloc(is ? n : 0, sizeof *parent), *place = mem_calloc(is ? n : 0, sizeof *place);
    for (size_t i = 0; is && i < n; i++) {
        uint64_t back = htmlgen_number(up, n, i, 4);
        parent[i] = back ? (uint32_t)(i - back) : NODE_NONE;
        place[i] = (uint32_t)htmlgen_number(at, n, i, 4);
        is = back <= i && (back != 0) == (i != 0) && place[i] < d->e->place_count;
    }
    if (is)
        experiment_add_tree(d->e, json_string_of(d->head, json_get(d->head, tree, "name")),
                            json_string_of(d->head, json_get(d->head, tree, "title")), n, parent, place);
    else {
        mem_free(parent);
        mem_free(place);
    }
    mem_free(b.bytes);
    return is;
}

static void read_trees(struct database *d)
{
    size_t number = 0;
    json_ix list = json_get(d->head, 0, "trees");
    for (json_ix i = json_first(d->head, list); i != JSON_NONE; i = json_next(d->head, i), number++) {
        size_t tree = number ? d->e->tree_count : TREE_SCOPES;
        if (number && !read_nodes(d, number, i)) {
            warnings_add(d->warnings, "%s: the tree '%s' is missing or damaged", d->path,
                         json_string_of(d->head, json_get(d->head, i, "title")));
            continue;
        }
        read_values(d, tree, json_get(d->head, i, "values"));
    }
}

/* ---- the whole
 * ----------------------------------------------------------------------------------------------------------- */

static int read_head(struct database *d)
{
    const uint8_t *begin = d->page.len ? memmem(d->page.bytes, d->page.len, head_tag, strlen(head_tag)) : NULL;
    if (!begin)
        return damaged(d, "is not an hpcview page");
    begin += strlen(head_tag);
    size_t left = d->page.len - (size_t)(begin - d->page.bytes);
    const uint8_t *end = memmem(begin, left, "</script", 8);
    return json_read(begin, end ? (size_t)(end - begin) : left, d->path, &d->head, d->err);
}

static int fill_experiment(struct database *d)
{
    uint64_t version = json_count(d->head, json_get(d->head, 0, "version"));
    if (strcmp(json_string_of(d->head, json_get(d->head, 0, "format")), "hpcview-database") != 0)
        return damaged(d, "its head is not that of a database");
    if (version < 1 || version > HTMLGEN_VERSION)
        return err_set(d->err, ERR_UNSUPPORTED, "%s: is of version %llu; this hpcview reads versions 1 to %d", d->path,
                       (unsigned long long)version, HTMLGEN_VERSION);
    d->e->title = database_text(d, 0, "title");
    read_files(d);
    read_runs(d);
    read_processes(d);
    read_metrics(d);
    if (read_places(d, (unsigned)version) < 0)
        return -1;
    experiment_add_tree(d->e, "scopes", "Scopes", d->e->place_count, NULL, NULL);
    if (version == 1)
        read_values_1(d);
    else
        read_trees(d);
    formulas_from_texts(d->e);
    measured_from_values(d->e);
    database_tables(d);
    return 0;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_page(struct database *d, struct err *err)
{
    d->single = !is_folder(d->path);
    char *page = d->single ? mem_strdup(d->path) : path_join(d->path, "index.html");
    int status = filemap_open(&d->page, page, err);
    mem_free(page);
    return status;
}

bool experiment_is_database(const char *path)
{
    struct database d = {.path = path};
    struct stat st;
    if (stat(path, &st) != 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) || open_page(&d, NULL) < 0)
        return false;
    bool is = d.page.len && memmem(d.page.bytes, d.page.len, head_tag, strlen(head_tag));
    filemap_release(&d.page);
    return is;
}

static int read_page(struct database *d, struct experiment **result)
{
    int status = read_head(d);
    if (status == 0) {
        d->e = mem_calloc(1, sizeof *d->e);
        d->e->strings = strtab_create();
        status = fill_experiment(d);
    }
    json_free(d->head);
    if (status < 0)
        experiment_free(d->e);
    *result = status < 0 ? NULL : d->e;
    return status;
}

int experiment_read_page(const void *bytes, size_t len, const char *name, struct experiment **result,
                         struct warnings *warnings, struct err *err)
{
    struct database d = {
        .path = name, .single = true, .page = {.bytes = bytes, .len = len}, .warnings = warnings, .err = err};
    return read_page(&d, result);
}

int experiment_read_database(const char *path, struct experiment **result, struct warnings *warnings, struct err *err)
{
    struct database d = {.path = path, .warnings = warnings, .err = err};
    *result = NULL;
    if (open_page(&d, err) < 0)
        return -1;
    int status = read_page(&d, result);
    filemap_release(&d.page);
    return status;
}

const struct experiment_reader htmlgen_reader = {experiment_is_database, experiment_read_database};
