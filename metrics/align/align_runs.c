/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching places of several runs. If runs used different builds of a module, correlate.c made each build's files, and
 * everything below them, separately; here places with one source become one place again:
 *
 *     files       of one path; else of one name, in the module's other builds, that share the longest end of their paths
 *     lines       by a diff of the texts, where both are here; else by number, moved as far as their procedure was
 *     procedures, inlined calls, files         by name; a clone of a procedure also by the name of what it is a clone of
 *     loops       by their first line, else by the lines they share, in order: compilers differ in where one begins
 *
 * Line numbers are those of the latest run's source. A place without counterpart stays a place of its own, in its own
 * version of the file: it is shown, and never mistaken for the place that has its line number now.
 */
#include "metrics/align/align_int.h"

static void put_all(struct matcher *m)
{
    size_t n = m->c->places.count;
    memset(m->new_of, 0xff, n * sizeof *m->new_of);
    align_make(m, 0, &m->c->places.items[0], &(struct identity){.parent = PLACE_NONE});
    for (uint32_t i = 1; i < n; i++)
        if (m->c->places.items[i].kind < PLACE_PROC)
            align_put(m, i);
    align_clones(m);
    for (uint32_t i = 1; i < n; i++) {
        const struct place *p = &m->c->places.items[i];
        if (p->kind < PLACE_PROC)
            continue;
        if (p->kind != PLACE_LOOP)
            align_put(m, i);
        else if (m->new_of[i] == PLACE_NONE)
            align_loops(m, p->parent);
    }
}

/* ---- the new places in the place of the old ------------------------------------------------------------ */

/* The version of a file that tables refer to: the latest, unless its lines differ there. */
static uint32_t version_for_tables(const struct matcher *m, uint32_t file)
{
    return m->files[file].lines ? file : m->files[file].latest;
}

static void mark_files_of_table(const struct matcher *m, const struct table *t, bool *used)
{
    const struct table_decl *d = table_declared(t);
    for (size_t k = 0; k < d->column_count; k++) {
        if (d->columns[k].type != TABLE_REF || strcmp(d->columns[k].refers, TABLE_FOUND_FILE) != 0)
            continue;
        for (size_t i = 0; i < table_row_count(t); i++)
            if (table_row(t, i)[k].row < m->c->files.count)
                used[version_for_tables(m, table_row(t, i)[k].row)] = true;
    }
}

static void mark_files(const struct matcher *m, bool *used)
{
    for (size_t i = 0; i < m->places.count; i++) {
        const struct place *p = &m->places.items[i];
        if (p->file != SOURCE_NONE)
            used[p->file] = true;
        if (p->call_file != SOURCE_NONE)
            used[p->call_file] = true;
    }
    for (size_t i = 0; i < m->c->tables.count; i++)
        mark_files_of_table(m, m->c->tables.items[i], used);
}

/* Files that nothing refers to any more are left out; by old file, its number as tables see it. mem_free. */
static uint32_t *renumber_files(struct matcher *m)
{
    struct correlation *c = m->c;
    size_t n = c->files.count, kept = 0;
    uint32_t *number = mem_calloc(n, sizeof *number), *for_tables = mem_calloc(n, sizeof *for_tables);
    bool *used = mem_calloc(n, sizeof *used);
    mark_files(m, used);
    for (size_t i = 0; i < n; i++) {
        if (!used[i])
            continue;
        number[i] = (uint32_t)kept;
        c->files.items[kept] = c->files.items[i];
        c->file_module.items[kept] = c->file_module.items[i];
        c->file_known.items[kept++] = c->file_known.items[i];
    }
    for (size_t i = 0; i < m->places.count; i++) {
        struct place *p = &m->places.items[i];
        p->file = p->file == SOURCE_NONE ? SOURCE_NONE : number[p->file];
        p->call_file = p->call_file == SOURCE_NONE ? SOURCE_NONE : number[p->call_file];
    }
    for (uint32_t i = 0; i < n; i++)
        for_tables[i] = number[version_for_tables(m, i)];
    c->files.count = c->file_module.count = c->file_known.count = kept;
    mem_free(number);
    mem_free(used);
    return for_tables;
}

/* Rows of the tables that are of one place now are one. */
static void renumber_tables(struct matcher *m, const uint32_t *files, size_t file_count)
{
    struct correlation *c = m->c;
    struct table_list tables = {0};
    const struct table_mapping mappings[] = {
        {TABLE_FOUND_PLACE, TABLE_FOUND_PLACE, m->new_of, c->places.count},
        {TABLE_FOUND_FILE, TABLE_FOUND_FILE, files, file_count},
    };
    struct err err = {0};
    if (table_list_merge(&tables, c->strings, &c->tables, mappings, ARRAY_SIZE(mappings), &err) < 0)
        warnings_add(m->warnings, "some tables are omitted: %s", err.msg);
    table_list_release(&c->tables);
    c->tables = tables;
}

static void take_over(struct matcher *m)
{
    struct correlation *c = m->c;
    for (size_t i = 0; i < c->sites.count; i++)
        c->site_place[i] = m->new_of[c->site_place[i]];
    size_t files = c->files.count;
    uint32_t *for_tables = renumber_files(m);
    if (c->tables.count)
        renumber_tables(m, for_tables, files);
    mem_free(for_tables);
    vec_release(&c->places);
    vec_reserve(&c->places, m->places.count);
    c->places.count = m->places.count;
    memcpy(c->places.items, m->places.items, m->places.count * sizeof *m->places.items);
}

static void release(struct matcher *m, size_t files)
{
    for (size_t i = 0; i < files; i++)
        mem_free(m->files[i].lines);
    mem_free(m->files);
    mem_free(m->place_runs);
    row_index_release(&m->extents);
    mem_free(m->votes);
    mem_free(m->loops);
    mem_free(m->loop_first);
    vec_release(&m->procedures);
    mem_free(m->procedure_of);
    vec_release(&m->places);
    vec_release(&m->made);
    row_index_release(&m->index);
    mem_free(m->new_of);
}

void align_runs(struct correlation *c, struct warnings *warnings)
{
    struct matcher m = {.c = c,
                        .warnings = warnings,
                        .files = mem_calloc(c->files.count, sizeof *m.files),
                        .place_runs = mem_calloc(c->places.count, sizeof *m.place_runs),
                        .new_of = mem_alloc(c->places.count * sizeof *m.new_of),
                        .procedure_of = mem_calloc(c->places.count, sizeof *m.procedure_of),
                        .votes = mem_calloc(c->places.count, sizeof *m.votes),
                        .moved_file = SOURCE_NONE};
    align_find_runs(&m);
    align_find_versions(&m);
    align_find_functions(&m);
    align_count_votes(&m);
    align_list_loops(&m);
    put_all(&m);
    if (m.moved_file != SOURCE_NONE)
        warnings_add(warnings,
                     "%s changed between the runs, and only its latest text is available: older lines are compared by "
                     "the start of their procedure",
                     path_base(align_path(&m, m.moved_file)));
    size_t files = c->files.count;
    take_over(&m);
    release(&m, files);
}
