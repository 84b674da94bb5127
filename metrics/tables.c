/*
 * Tables beside places: what rooms measured about places (evictors, episodes), carried from measurements into the
 * experiment. What their references mean changes on the way:
 *
 *     context  ->  site  ->  place       joined rows that have become equal are one
 *     found    ->  place                 a place by the number it had before places were put in order
 *     found file -> file                 the same of files
 *     process  ->  process               of the experiment
 *     event    ->  metric                the column that the event feeds first
 *     thread   ->  threads, region -> regions: tables of their own, made where something refers to them
 */
#include "metrics/metrics_int.h"

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

/* wanted[context]: a row of the measurement's tables refers to it. */
static void mark_contexts(const struct hpcprof *p, bool *wanted)
{
    for (size_t i = 0; i < p->tables.count; i++) {
        const struct table *t = p->tables.items[i];
        const struct table_decl *d = table_declared(t);
        for (size_t k = 0; k < d->column_count; k++) {
            if (d->columns[k].type != TABLE_REF || strcmp(d->columns[k].refers, "context") != 0)
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
    bool *wanted = mem_calloc(p->context_count + 1, 1);
    uint32_t *rows = mem_alloc((p->context_count + 1) * sizeof *rows);
    mark_contexts(p, wanted);
    for (uint32_t i = 0; i < p->context_count; i++)
        rows[i] = wanted[i] ? sites->site(sites->ctx, i) : TABLE_NONE;
    mem_free(wanted);
    return rows;
}

static uint32_t *numbered(size_t n, uint32_t from)
{
    uint32_t *rows = mem_alloc((n + 1) * sizeof *rows);
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

int tables_gather(struct table_list *to, struct strtab *strings, const struct hpcprof *p,
                  const struct sites_of_contexts *sites, uint32_t first_process, uint32_t first_event, struct err *err)
{
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
        {"context", "site", contexts, p->context_count}, {"process", "process", processes, p->process_count},
        {"event", "event", events, p->event_count},      {"thread", "threads", threads, p->thread_count},
        {"region", "regions", regions, p->region_count},
    };
    if (status == 0)
        status = table_list_merge(to, strings, &p->tables, mappings, ARRAY_SIZE(mappings), err);
    mem_free(contexts);
    mem_free(processes);
    mem_free(events);
    mem_free(threads);
    mem_free(regions);
    return status;
}

int tables_finish(struct experiment *e, const struct correlation *from, const uint32_t *site_places,
                  const place_ix *found_places, const uint32_t *event_metrics, struct err *err)
{
    const struct table_mapping mappings[] = {
        {"site", "place", site_places, from->sites.count},
        {TABLE_FOUND_PLACE, "place", found_places, e->place_count},
        {TABLE_FOUND_FILE, "file", from->file_rank, e->file_count},
        {"event", "metric", event_metrics, from->event_count},
    };
    if (table_list_merge(&e->tables, e->strings, &from->tables, mappings, ARRAY_SIZE(mappings), err) < 0)
        return -1;
    table_list_sort(&e->tables);
    return 0;
}
