/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The experiment: measurements, joined with structure, summed up.
 *
 *     read the runs -> columns -> sites and cells -> structure of the sampled functions -> places -> names
 *         -> sums -> formulas
 *
 * Sums are made in whole numbers and turned into doubles at the very end, so that a total is exact to the last digit a
 * double has.
 */
#include "metrics/join/join.h"

#include "phases/phases.h"

#include <stdlib.h>

/* ---- sums ------------------------------------------------------------------------------------- */

/* One measured column from its cells. */
static int sum_column(struct experiment *e, size_t tree, const struct correlation *c, size_t column,
                      node_of_cell *node_of, const void *ctx, struct err *err)
{
    const struct cell_list *cells = &c->cells.items[column];
    bool outside_mpi = c->columns && c->columns->list.items[column].outside_mpi;
    size_t n = e->trees[tree].node_count;
    uint64_t *own = mem_calloc(n, sizeof *own);
    uint8_t *known = mem_calloc(n, 1);
    bool fits = true;
    for (size_t i = 0; i < cells->count; i++) {
        uint32_t node = node_of(ctx, &cells->items[i]);
        if (node == NODE_NONE || (outside_mpi && metrics_in_mpi(c, cells->items[i].site, cells->items[i].call)))
            continue;
        fits = !__builtin_add_overflow(own[node], cells->items[i].value, &own[node]) && fits;
        known[node] = 1;
    }
    fits = experiment_sum_counts(e, tree, column, own, known) == 0 && fits;
    mem_free(own);
    mem_free(known);
    return fits ? 0
                : err_set(err, ERR_FORMAT, "the counts of '%s' exceed 64 bits; the measurement is damaged",
                          strtab_get(e->strings, e->metrics[column].name));
}

int metrics_sum_measured(struct experiment *e, size_t tree, const struct correlation *c, node_of_cell *node_of,
                         const void *ctx, struct err *err)
{
    for (size_t column = 0; column < c->cells.count; column++)
        if (c->cells.items[column].count && sum_column(e, tree, c, column, node_of, ctx, err) < 0)
            return -1;
    return 0;
}

struct scopes_of_sites {
    const place_ix *site_place, *new_of;
};

static uint32_t place_of_cell(const void *ctx, const struct cell *cell)
{
    const struct scopes_of_sites *of = ctx;
    return of->new_of[of->site_place[cell->site]];
}

/* ---- the experiment ---------------------------------------------------------------------------------- */

static struct hpcprof_process copy_process(struct experiment *e, const struct hpcprof *p, size_t which)
{
    struct hpcprof_process one = p->processes[which];
    str_id *texts[] = {&one.source_file, &one.host,   &one.command, &one.working_dir,
                       &one.machine,     &one.kernel, &one.sampler};
    for (size_t t = 0; t < ARRAY_SIZE(texts); t++)
        *texts[t] = strtab_add(e->strings, strtab_get(p->strings, *texts[t]));
    return one;
}

/* The events of a run, as `record -e` takes them. */
static str_id asked_of(struct experiment *e, const struct input *inputs, size_t n, uint32_t run)
{
    struct strtab *seen = strtab_create();
    struct buf list = {0};
    buf_str(&list, "");
    for (size_t i = 0; i < n; i++) {
        const struct hpcprof *p = inputs[i].profile;
        for (size_t k = 0; inputs[i].run == run && k < p->event_count; k++) {
            const struct hpcprof_event *event = &p->events[k];
            const char *name = strtab_get(p->strings, event->name);
            size_t known = strtab_count(seen);
            if (event->flags & HPCPROF_LOST || strtab_add(seen, name) < known)
                continue;
            buf_printf(&list, "%s%s", list.len ? ", " : "", name);
            if (event->period && !(event->flags & HPCPROF_FREQUENCY))
                buf_printf(&list, "@%llu", (unsigned long long)event->period);
        }
    }
    str_id asked = strtab_add(e->strings, list.bytes);
    buf_release(&list);
    strtab_free(seen);
    return asked;
}

/* The load modules that a run had in memory, each once; "[vdso]" has no path. */
static void take_modules(struct experiment *e, const struct input *inputs, size_t n, uint32_t number)
{
    struct VEC(str_id) all = {0};
    struct hashmap seen = {0};
    for (size_t i = 0; i < n; i++) {
        const struct hpcprof *p = inputs[i].profile;
        for (size_t k = 0; inputs[i].run == number && k < p->module_count; k++) {
            const char *path = strtab_get(p->strings, p->modules[k].path);
            str_id name = strtab_add(e->strings, module_base_name(path));
            uint32_t *slot = hashmap_put(&seen, name);
            if (*slot == HASHMAP_NONE)
                *vec_push(&all) = name, *slot = 0;
        }
    }
    hashmap_release(&seen);
    e->runs[number].modules = all.items;
    e->runs[number].module_count = (uint32_t)all.count;
}

struct processes { /* of all runs, with the CPU time of each */
    struct VEC(struct hpcprof_process) list;
    struct VEC(uint64_t) cpu;
};

/* The program of a run: in the first rank, the process that computed, because others are shells and launchers; without
   ranks the first process, or the last program that it became (by a wrapper's exec). Names of files do not show it. */
static uint32_t root_of(const struct processes *all, uint32_t from, uint32_t n)
{
    const struct hpcprof_process *p = all->list.items + from;
    uint32_t first = 0;
    for (uint32_t i = 1; i < n; i++)
        if (p[i].start_ns && (!p[first].start_ns || p[i].start_ns < p[first].start_ns))
            first = i;
    uint32_t root = first;
    for (uint32_t i = 0; i < n; i++)
        if (p[i].pid && p[i].pid == p[first].pid && p[i].host == p[first].host && p[i].start_ns > p[root].start_ns)
            root = i;
    if (hpcprof_parts(p, n).ranks == 0)
        return root;
    for (uint32_t i = 0; i < n; i++)
        if (p[i].rank >= 0 && (p[root].rank < 0 || p[i].rank < p[root].rank ||
                               (p[i].rank == p[root].rank && all->cpu.items[from + i] > all->cpu.items[from + root])))
            root = i;
    return root;
}

static void copy_processes(struct experiment *e, const struct hpcprof *p, struct processes *all)
{
    for (size_t i = 0; i < p->process_count; i++) {
        uint64_t cpu = 0;
        for (uint32_t t = 0; t < p->processes[i].thread_count; t++)
            cpu += p->threads[p->processes[i].first_thread + t].cpu_ns;
        *vec_push(&all->list) = copy_process(e, p, i);
        *vec_push(&all->cpu) = cpu;
    }
}

/* The runs, and their processes in that order. */
static void copy_runs(struct experiment *e, const struct config *config, const struct correlation *c,
                      const struct input *inputs, size_t n)
{
    struct processes all = {0};
    e->run_count = config->runs.count;
    e->runs = mem_calloc(e->run_count, sizeof *e->runs);
    for (uint32_t i = 0; i < e->run_count; i++) {
        struct experiment_run *run = &e->runs[i];
        run->name = strtab_add(e->strings, config->runs.items[i].name);
        run->asked = asked_of(e, inputs, n, i);
        take_modules(e, inputs, n, i);
        environment_take(e, c, inputs, n, i);
        run->process_first = (uint32_t)all.list.count;
        for (size_t k = 0; k < n; k++)
            if (inputs[k].run == i)
                copy_processes(e, inputs[k].profile, &all);
        run->process_count = (uint32_t)all.list.count - run->process_first;
        for (size_t k = all.list.count; k-- > run->process_first;)
            run->machine = all.list.items[k].machine ? all.list.items[k].machine : run->machine;
        run->root = run->process_first + root_of(&all, run->process_first, run->process_count);
        run->command = run->process_count ? all.list.items[run->root].command : 0;
    }
    vec_release(&all.cpu);
    e->processes = all.list.items;
    e->process_count = all.list.count;
}

/* The default title: the program. */
static str_id title_of(const struct experiment *e, const struct config *config, const struct correlation *c)
{
    if (*config->title)
        return strtab_add(e->strings, config->title);
    if (e->process_count > 0) {
        const char *command = strtab_get(e->strings, e->processes[e->runs[0].root].command);
        char *program = mem_strndup(command, strcspn(command, " "));
        str_id title = strtab_add(e->strings, path_base(program));
        mem_free(program);
        if (title)
            return title;
    }
    return c->modules.count ? c->modules.items[0].shown : strtab_add(e->strings, "hpcview");
}

static int take_columns(struct experiment *e, const struct columns *columns, struct err *err)
{
    if (columns->list.count * e->place_count > LIMIT_EXPERIMENT_VALUES)
        return err_set(err, ERR_LIMIT,
                       "%zu columns at %zu scopes exceed %llu values (LIMIT_EXPERIMENT_VALUES); choose fewer columns",
                       columns->list.count, e->place_count, LIMIT_EXPERIMENT_VALUES);
    e->metric_count = columns->list.count;
    e->metrics = mem_calloc(e->metric_count, sizeof *e->metrics);
    for (size_t i = 0; i < e->metric_count; i++) {
        const struct column *c = &columns->list.items[i];
        e->metrics[i] = c->metric;
        e->metrics[i].summed = c->statistic == STAT_NONE && !c->error && (!c->expr || c->by_line);
    }
    e->wanted_count = columns->wanted_count;
    for (size_t i = 0; i < columns->list.count; i++) {
        const struct column *c = &columns->list.items[i];
        formulas_keep(e, i,
                      &(struct derivation){.expr = c->expr,
                                           .operands = c->operands,
                                           .by_line = c->by_line,
                                           .error_of = c->error ? c->base : COLUMN_NONE,
                                           .spreads = {c->spreads[0], c->spreads[1]}});
    }
    experiment_add_tree(e, "scopes", "Scopes", e->place_count, NULL, NULL);
    return 0;
}

/* The first column that counts of each event go to, events counted over all inputs; TABLE_NONE: to none. */
static uint32_t *metrics_of_events(const struct columns *columns, const struct input *inputs, size_t count)
{
    uint32_t *metrics = mem_alloc(count * sizeof *metrics);
    size_t at = 0;
    for (size_t i = 0; i < columns->input_count; i++)
        for (size_t e = 0; e < inputs[i].profile->event_count && at < count; e++)
            metrics[at++] =
                columns->event_columns[i][e].count ? columns->event_columns[i][e].items[0].column : TABLE_NONE;
    return metrics;
}

static int take_tables(struct experiment *e, const struct correlation *c, const struct columns *columns,
                       const struct input *inputs, const place_ix *new_of, struct err *err)
{
    uint32_t *places = mem_alloc(c->sites.count * sizeof *places);
    uint32_t *metrics = metrics_of_events(columns, inputs, c->event_count);
    for (size_t i = 0; i < c->sites.count; i++)
        places[i] = new_of[c->site_place[i]];
    int status = metrics_tables_finish(e, c, places, new_of, metrics, err);
    if (status == 0)
        phases_compare(&e->tables, e->strings);
    mem_free(places);
    mem_free(metrics);
    return status;
}

/* Runs that had a module in memory measured it, by the names that the measurements have for it. */
static void note_measured(struct experiment *e, const struct correlation *c, const place_ix *new_of)
{
    place_ix *in = mem_alloc(c->modules.count * sizeof *in); /* by module of the measurements, a place in it */
    memset(in, 0xff, c->modules.count * sizeof *in);
    for (size_t i = 0; i < c->sites.count; i++)
        in[c->sites.items[i].module] = new_of[c->site_place[i]];
    measured_create(e);
    for (size_t i = 0; i < c->modules.count; i++)
        if (in[i] != PLACE_NONE)
            measured_note(
                e, in[i],
                strtab_add(e->strings, module_base_name(strtab_get(c->strings, c->modules.items[i].raw_path))));
    mem_free(in);
}

int experiment_from(const struct config *config, const struct input *inputs, size_t input_count,
                    const struct structure_source *source, const struct progress *progress, struct experiment **result,
                    struct warnings *warnings, struct err *err)
{
    struct experiment *e = mem_calloc(1, sizeof *e);
    struct correlation c;
    struct columns columns = {0};
    e->strings = strtab_create();
    correlation_init(&c, e->strings);
    int status = columns_make(config, inputs, input_count, e->strings, &columns, warnings, err);
    if (status == 0)
        status = ingest_inputs(&c, config, inputs, input_count, &columns, warnings, err);
    if (status == 0) {
        c.columns = &columns;
        correlate_group_modules(&c);
        sources_name_modules(&c);
        correlate_place(&c, config, source, warnings, progress);
        sources_find(&c, config, inputs, input_count);
        if (config->runs.count > 1)
            align_runs(&c, warnings);
        sources_keep_folders(&c, e);
        sources_name_files(&c, config);
        sources_name_as_shown(&c);
        copy_runs(e, config, &c, inputs, input_count);
        e->title = title_of(e, config, &c);
        c.places.items[0].name = c.places.items[0].full_name = e->title;
        place_ix *new_of = metrics_order_places_and_files(&c, e);
        experiment_find_same(e);
        note_measured(e, &c, new_of);
        status = take_columns(e, &columns, err);
        metrics_find_mpi(&c, e, &columns, new_of);
        if (status == 0)
            status = metrics_sum_measured(e, TREE_SCOPES, &c, place_of_cell,
                                          &(struct scopes_of_sites){c.site_place, new_of}, err);
        if (status == 0)
            status = take_tables(e, &c, &columns, inputs, new_of, err);
        if (status == 0)
            status = attribution_table(e, &c, &columns, inputs, input_count, err);
        if (status == 0)
            status = metrics_calls_build(e, &c, new_of, warnings, err);
        if (status == 0 && config->fold_recursion)
            metrics_calls_fold(e, &c);
        if (status == 0)
            status = statistics_compute(e, &c, config, &columns, inputs, input_count, new_of, err);
        if (status == 0) {
            loop_properties_fill(e, &columns);
            for (size_t tree = 0; tree < e->tree_count; tree++)
                formulas_compute(e, tree, config->threads);
            metrics_warn_shares(e, &c, &columns, warnings);
            metrics_warn_recording(inputs, input_count, warnings);
        }
        mem_free(new_of);
    }
    columns_release(&columns, inputs);
    correlation_release(&c);
    *result = status == 0 ? e : NULL;
    if (status < 0)
        experiment_free(e);
    return status;
}
