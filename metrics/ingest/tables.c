/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables about places of other folders (evictors, episodes), carried from measurements into the experiment. Their
 * references are converted:
 *
 *     context  ->  site  ->  place       joined rows that have become equal are one
 *     context.loop       ->  place       the innermost loop around that, else its procedure
 *     found    ->  place                 a place by the number it had before places were put in order
 *     found file -> file                 the same of files
 *     process  ->  process               of the experiment
 *     event    ->  metric                the first column of the event's counts
 *     thread   ->  threads, region -> regions: tables of their own, made where something refers to them
 *
 * With several runs each row has its run: a column "run" is added in front.
 */
#include "metrics/ingest/ingest.h"

static const struct table_column thread_columns[] = {
    {.name = "process", .type = TABLE_REF, .refers = "process", .merge = TABLE_KEY},
    {.name = "number", .type = TABLE_COUNT, .merge = TABLE_KEY},
    {.name = "name", .type = TABLE_TEXT, .merge = TABLE_LAST},
    {.name = "cpu", .title = "CPU time", .unit = "ns", .type = TABLE_COUNT, .merge = TABLE_SUM},
};
static const struct table_decl threads_decl = {"threads", "Threads", "", thread_columns, ARRAY_SIZE(thread_columns)};

static const struct table_column region_columns[] = {
    {.name = "name", .type = TABLE_TEXT, .merge = TABLE_KEY},
    {.name = "parent", .title = "in", .type = TABLE_REF, .refers = "regions", .merge = TABLE_KEY},
};
static const struct table_decl regions_decl = {"regions", "Regions", "", region_columns, ARRAY_SIZE(region_columns)};

static bool refers_to(const struct table_list *tables, const char *what)
{
    for (size_t i = 0; i < tables->count; i++) {
        const struct table_decl *d = table_declared(tables->items[i]);
        for (size_t k = 0; k < d->column_count; k++)
            if (d->columns[k].type == TABLE_REF && strcmp(d->columns[k].refers, what) == 0)
                return true;
    }
    return false;
}

static bool is_context(const char *refers)
{
    return strcmp(refers, "context") == 0 || strcmp(refers, "context.loop") == 0;
}

/* wanted[context]: a row of the measurement's tables refers to it. */
static void mark_contexts(const struct hpcprof *p, bool *wanted)
{
    for (size_t i = 0; i < p->tables.count; i++) {
        const struct table *t = p->tables.items[i];
        const struct table_decl *d = table_declared(t);
        for (size_t k = 0; k < d->column_count; k++) {
            if (d->columns[k].type != TABLE_REF || !is_context(d->columns[k].refers))
                continue;
            for (size_t r = 0; r < table_row_count(t); r++) {
                uint32_t context = table_row(t, r)[k].row;
                if (context < p->context_count)
                    wanted[context] = true;
            }
        }
    }
}

static uint32_t *context_sites(const struct hpcprof *p, const struct sites_of_contexts *sites)
{
    bool *wanted = mem_calloc(p->context_count, 1);
    uint32_t *rows = mem_alloc(p->context_count * sizeof *rows);
    mark_contexts(p, wanted);
    for (uint32_t i = 0; i < p->context_count; i++)
        rows[i] = wanted[i] ? sites->site(sites->ctx, i) : TABLE_NONE;
    mem_free(wanted);
    return rows;
}

static uint32_t *numbered(size_t n, uint32_t from)
{
    uint32_t *rows = mem_alloc(n * sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = from + (uint32_t)i;
    return rows;
}

static int thread_rows(struct table_list *to, struct strtab *strings, const struct hpcprof *p, uint32_t first_process,
                       uint32_t *rows, struct err *err)
{
    struct table *threads;
    if (table_list_declare(to, &threads_decl, strings, &threads, err) < 0)
        return -1;
    for (size_t i = 0; i < p->thread_count; i++) {
        const struct hpcprof_thread *t = &p->threads[i];
        rows[i] =
            table_add(threads, (union table_cell[]){{.row = first_process + t->process},
                                                    {.count = t->number},
                                                    {.text = strtab_add(strings, strtab_get(p->strings, t->name))},
                                                    {.count = t->cpu_ns}});
    }
    return 0;
}

static int region_rows(struct table_list *to, struct strtab *strings, const struct hpcprof *p, uint32_t *rows,
                       struct err *err)
{
    struct table *regions;
    if (table_list_declare(to, &regions_decl, strings, &regions, err) < 0)
        return -1;
    for (size_t i = 0; i < p->region_count; i++) {
        const struct hpcprof_region *r = &p->regions[i];
        rows[i] = TABLE_NONE; /* the first is "in no region" */
        if (i)
            rows[i] =
                table_add(regions, (union table_cell[]){{.text = strtab_add(strings, strtab_get(p->strings, r->name))},
                                                        {.row = r->parent < i ? rows[r->parent] : TABLE_NONE}});
    }
    return 0;
}

/* ---- rows of several runs ---------------------------------------------------------------------------- */

static bool has_keys(const struct table_decl *d)
{
    for (size_t i = 0; i < d->column_count; i++)
        if (d->columns[i].merge == TABLE_KEY)
            return true;
    return false;
}

/* The table with the run in front of each row; rows keep their numbers. */
static int with_run(struct table_list *to, struct strtab *strings, const struct table *t, uint32_t run, struct err *err)
{
    const struct table_decl *d = table_declared(t);
    struct table_column columns[LIMIT_TABLE_COLUMNS + 1] = {
        {.name = "run", .type = TABLE_REF, .refers = "run", .merge = has_keys(d) ? TABLE_KEY : TABLE_LAST}};
    union table_cell cells[LIMIT_TABLE_COLUMNS + 1] = {{.row = run}};
    struct table *wide = NULL;
    memcpy(columns + 1, d->columns, d->column_count * sizeof *columns);
    struct table_decl decl = {d->name, d->title, d->description, columns, d->column_count + 1};
    if (table_list_declare(to, &decl, strings, &wide, err) < 0)
        return -1;
    for (size_t r = 0; r < table_row_count(t); r++) {
        memcpy(cells + 1, table_row(t, r), d->column_count * sizeof *cells);
        table_add(wide, cells);
    }
    return 0;
}

static int tables_with_run(struct table_list *to, struct strtab *strings, const struct table_list *from, uint32_t run,
                           struct err *err)
{
    for (size_t i = 0; i < from->count; i++)
        if (with_run(to, strings, from->items[i], run, err) < 0)
            return -1;
    return 0;
}

/* ---- the way ------------------------------------------------------------------------------------------ */

int tables_ingest(struct table_list *to, struct strtab *strings, const struct hpcprof *p,
                  const struct sites_of_contexts *sites, uint32_t run, uint32_t first_process, uint32_t first_event,
                  struct err *err)
{
    struct table_list wide = {0};
    if (p->tables.count == 0)
        return 0;
    uint32_t *contexts = context_sites(p, sites), *processes = numbered(p->process_count, first_process),
             *events = numbered(p->event_count, first_event), *threads = numbered(p->thread_count, 0),
             *regions = numbered(p->region_count, 0);
    int status = 0;
    if (refers_to(&p->tables, "thread"))
        status = thread_rows(to, strings, p, first_process, threads, err);
    if (status == 0 && refers_to(&p->tables, "region"))
        status = region_rows(to, strings, p, regions, err);
    const struct table_mapping mappings[] = {
        {"context", "site", contexts, p->context_count},     {"context.loop", "site.loop", contexts, p->context_count},
        {"process", "process", processes, p->process_count}, {"event", "event", events, p->event_count},
        {"thread", "threads", threads, p->thread_count},     {"region", "regions", regions, p->region_count},
    };
    if (status == 0 && run != RUN_ALONE)
        status = tables_with_run(&wide, p->strings, &p->tables, run, err);
    if (status == 0)
        status =
            table_list_merge(to, strings, run == RUN_ALONE ? &p->tables : &wide, mappings, ARRAY_SIZE(mappings), err);
    table_list_release(&wide);
    mem_free(contexts);
    mem_free(processes);
    mem_free(events);
    mem_free(threads);
    mem_free(regions);
    return status;
}

/* By site: the innermost loop around its place, else the procedure. */
static place_ix *loops_of(const struct experiment *e, const uint32_t *site_places, size_t sites)
{
    place_ix *loops = mem_alloc(sites * sizeof *loops);
    for (size_t i = 0; i < sites; i++) {
        place_ix up = site_places[i];
        while (up != PLACE_NONE && e->places[up].kind > PLACE_LOOP)
            up = e->places[up].parent;
        while (up != PLACE_NONE && e->places[up].kind == PLACE_INLINE)
            up = e->places[up].parent;
        loops[i] = up;
    }
    return loops;
}

int metrics_tables_finish(struct experiment *e, const struct correlation *from, const uint32_t *site_places,
                          const place_ix *found_places, const uint32_t *event_metrics, struct err *err)
{
    place_ix *loops = loops_of(e, site_places, from->sites.count);
    const struct table_mapping mappings[] = {
        {"site", "place", site_places, from->sites.count},
        {"site.loop", "place", loops, from->sites.count},
        {TABLE_FOUND_PLACE, "place", found_places, e->place_count},
        {TABLE_FOUND_FILE, "file", from->file_rank, e->file_count},
        {"event", "metric", event_metrics, from->event_count},
    };
    int status = table_list_merge(&e->tables, e->strings, &from->tables, mappings, ARRAY_SIZE(mappings), err);
    mem_free(loops);
    if (status == 0)
        table_list_sort(&e->tables);
    return status;
}
