/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The content of the measurements, before attribution: modules, sampled addresses (sites) and calls, each once, and the
 * cost of each site in each column.
 */
#include "metrics/ingest/ingest.h"

#include "filters/filters.h"

#include <stdlib.h>

struct wanted { /* a row to be found: of modules, sites or calls */
    const struct correlation *c;
    const void *row;
};

static bool same_module(const void *ctx, uint32_t i)
{
    const struct wanted *w = ctx;
    const struct module *x = w->row, *y = &w->c->modules.items[i];
    return x->path == y->path && x->build_id == y->build_id;
}

static bool same_site(const void *ctx, uint32_t i)
{
    const struct wanted *w = ctx;
    const struct site *x = w->row, *y = &w->c->sites.items[i];
    if (x->module != y->module || x->by_line != y->by_line) /* whether it is cut, its module says */
        return false;
    return x->by_line
               ? x->procedure == y->procedure && x->file == y->file && x->line == y->line && x->own_file == y->own_file
               : x->address == y->address;
}

static bool same_call(const void *ctx, uint32_t i)
{
    const struct wanted *w = ctx;
    const struct sampled_call *x = w->row, *y = &w->c->calls.items[i];
    return x->parent == y->parent && x->site == y->site;
}

/* The role that the configuration gives the module; 0: none. */
static str_id configured_role(struct correlation *c, const struct config *config, const char *raw)
{
    for (size_t i = 0; i < config->roles.count; i++) {
        const struct config_role *r = &config->roles.items[i];
        if (strcmp(r->module, raw) == 0 || strcmp(r->module, path_base(raw)) == 0)
            return strtab_add(c->strings, r->role);
    }
    return 0;
}

static uint32_t module_index(struct correlation *c, const struct config *config, const char *raw, const char *build_id)
{
    char *replaced = raw[0] == '[' ? mem_strdup(raw) : config_replaced(config, raw);
    struct module m = {.path = strtab_add(c->strings, replaced),
                       .raw_path = strtab_add(c->strings, raw),
                       .build_id = strtab_add(c->strings, build_id),
                       .role = configured_role(c, config, raw)};
    mem_free(replaced);
    uint32_t tuple[] = {m.path, m.build_id};
    uint64_t hash = hash_bytes(tuple, sizeof tuple, 0);
    uint32_t known = row_index_find(&c->module_index, hash, same_module, &(struct wanted){c, &m});
    if (known != ROW_NONE)
        return known;
    row_index_add(&c->module_index, hash, (uint32_t)c->modules.count);
    *vec_push(&c->modules) = m;
    return (uint32_t)c->modules.count - 1;
}

static uint64_t hash_of_site(const struct site *s)
{
    uint32_t tuple[] = {s->module, s->by_line, s->cut, s->procedure, s->file, s->line, s->own_file};
    return s->by_line ? hash_bytes(tuple, sizeof tuple, 0)
                      : hash_near(s->address, s->cut, s->module * 0x9e3779b97f4a7c15u);
}

static uint32_t site_index(struct correlation *c, const struct site *s)
{
    for (; c->sites_indexed < c->sites.count; c->sites_indexed++)
        row_index_add(&c->site_index, hash_of_site(&c->sites.items[c->sites_indexed]), (uint32_t)c->sites_indexed);
    uint32_t known = row_index_find(&c->site_index, hash_of_site(s), same_site, &(struct wanted){c, s});
    if (known != ROW_NONE)
        return known;
    *vec_push(&c->sites) = *s;
    return (uint32_t)c->sites.count - 1;
}

static int check_profile(const struct hpcprof *p, struct err *err)
{
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].context >= p->context_count || p->counts[i].event >= p->event_count ||
            p->counts[i].thread >= p->thread_count || p->counts[i].region >= p->region_count)
            return err_set(err, ERR_FORMAT, "a measurement refers to a missing context, event, thread or region");
    for (size_t i = 0; i < p->context_count; i++)
        if (p->contexts[i].module >= p->module_count ||
            (p->contexts[i].parent != HPCPROF_NO_PARENT && p->contexts[i].parent >= i))
            return err_set(err, ERR_FORMAT, "a measurement refers to a missing module or caller");
    return 0;
}

struct input_sites { /* from an input's numbers to ours, made when first needed */
    uint32_t *modules, *contexts;
    uint32_t *calls; /* by context; NULL: the input has no paths */
    struct VEC(uint32_t) chain;
};

/* Is it the measurement's first program? Without a command line there is no other. */
static bool was_run(const struct hpcprof *p, const char *path)
{
    const char *command = p->process_count ? strtab_get(p->strings, p->processes[0].command) : "";
    char *program = mem_strndup(command, strcspn(command, " "));
    bool was = *program ? strcmp(path_base(program), path_base(path)) == 0 : p->module_count == 1;
    mem_free(program);
    return was;
}

static uint32_t site_of_context(struct correlation *c, const struct config *config, const struct input *input,
                                uint32_t context, struct input_sites *known)
{
    const struct hpcprof *p = input->profile;
    const struct hpcprof_context *given = &p->contexts[context];
    uint32_t *module = &known->modules[given->module];
    if (known->contexts[context] != UINT32_MAX)
        return known->contexts[context];
    if (*module == UINT32_MAX) {
        *module = module_index(c, config, strtab_get(p->strings, p->modules[given->module].path),
                               strtab_get(p->strings, p->modules[given->module].build_id));
        *vec_push(&c->uses) = (struct module_use){*module, input->run};
        if (was_run(p, strtab_get(p->strings, p->modules[given->module].path)))
            c->modules.items[*module].program = true;
    }
    struct site s = {.module = *module, .by_line = given->by_line};
    s.cut = hpcprof_cut_reason(p, context) != NULL;
    if (given->by_line) {
        s.procedure = strtab_add(c->strings, strtab_get(p->strings, given->procedure));
        s.file = strtab_add(c->strings, strtab_get(p->strings, given->file));
        s.own_file = strtab_add(c->strings, strtab_get(p->strings, given->procedure_file));
        s.line = given->line;
    } else
        s.address = given->address;
    return known->contexts[context] = site_index(c, &s);
}

struct context_asker { /* for tables.c, which asks for the sites of the contexts it meets */
    struct correlation *c;
    const struct config *config;
    const struct input *input;
    struct input_sites *known;
};

static uint32_t asked_site(void *ctx, uint32_t context)
{
    struct context_asker *a = ctx;
    return site_of_context(a->c, a->config, a->input, context, a->known);
}

static void gather_tables(struct correlation *c, const struct config *config, const struct input *input,
                          struct input_sites *known, struct warnings *warnings)
{
    struct context_asker asker = {c, config, input, known};
    struct sites_of_contexts sites = {asked_site, &asker};
    struct err err = {0};
    uint32_t run = config->runs.count > 1 ? input->run : RUN_ALONE;
    if (tables_ingest(&c->tables, c->strings, input->profile, &sites, run, c->process_count, c->event_count, &err) < 0)
        warnings_add(warnings, "some tables of run '%s' are omitted: %s", config->runs.items[input->run].name, err.msg);
    c->process_count += (uint32_t)input->profile->process_count;
    c->event_count += (uint32_t)input->profile->event_count;
}

static uint32_t call_index(struct correlation *c, uint32_t parent, uint32_t site)
{
    struct sampled_call call = {parent, site};
    for (; c->calls_indexed < c->calls.count; c->calls_indexed++)
        row_index_add(&c->call_index, hash_bytes(&c->calls.items[c->calls_indexed], sizeof call, 0),
                      (uint32_t)c->calls_indexed);
    uint32_t known =
        row_index_find(&c->call_index, hash_bytes(&call, sizeof call, 0), same_call, &(struct wanted){c, &call});
    if (known != ROW_NONE)
        return known;
    *vec_push(&c->calls) = call;
    return (uint32_t)c->calls.count - 1;
}

/* The innermost frame of a context, made with all around it. */
static uint32_t call_of_context(struct correlation *c, const struct config *config, const struct input *input,
                                uint32_t context, struct input_sites *known)
{
    const struct hpcprof_context *contexts = input->profile->contexts;
    if (!known->calls)
        return CALL_NONE;
    known->chain.count = 0;
    for (uint32_t i = context; i != HPCPROF_NO_PARENT && known->calls[i] == CALL_NONE; i = contexts[i].parent)
        *vec_push(&known->chain) = i;
    for (size_t k = known->chain.count; k-- > 0;) {
        uint32_t i = known->chain.items[k], parent = contexts[i].parent;
        known->calls[i] = call_index(c, parent == HPCPROF_NO_PARENT ? CALL_NONE : known->calls[parent],
                                     site_of_context(c, config, input, i, known));
    }
    return known->calls[context];
}

/* `paths`: the measurement, of which this may be one file among many, has some; then a sample without callers is one, too. */
static struct input_sites begin_sites(const struct hpcprof *p, bool paths)
{
    struct input_sites known = {.modules = mem_alloc(p->module_count * sizeof(uint32_t)),
                                .contexts = mem_alloc(p->context_count * sizeof(uint32_t))};
    memset(known.modules, 0xff, p->module_count * sizeof(uint32_t));
    memset(known.contexts, 0xff, p->context_count * sizeof(uint32_t));
    if (paths) {
        known.calls = mem_alloc(p->context_count * sizeof(uint32_t));
        memset(known.calls, 0xff, p->context_count * sizeof(uint32_t));
    }
    return known;
}

static void end_sites(struct input_sites *known)
{
    mem_free(known->modules);
    mem_free(known->contexts);
    mem_free(known->calls);
    vec_release(&known->chain);
}

/* The column a count goes to; of threads only where the input has each thread's counts. */
static uint32_t column_of_count(const struct event_column *to, const struct input *input,
                                const struct hpcprof_count *count)
{
    if (to->in_region && !to->in_region[count->region])
        return COLUMN_NONE;
    if (!to->by_thread)
        return to->column;
    return input->path ? COLUMN_NONE : to->by_thread[count->thread];
}

/* Contexts with counts in a column are numbered, in their order. */
static void number_sites(struct correlation *c, const struct config *config, const struct input *input,
                         const struct event_column_list *event_columns, struct input_sites *known)
{
    const struct hpcprof *p = input->profile;
    for (size_t i = 0; i < p->count_count; i++) {
        const struct hpcprof_count *count = &p->counts[i];
        const struct event_column_list *to = &event_columns[count->event];
        bool has_column = false;
        for (size_t k = 0; k < to->count && !has_column; k++)
            has_column = column_of_count(&to->items[k], input, count) != COLUMN_NONE;
        if (has_column) {
            site_of_context(c, config, input, count->context, known);
            call_of_context(c, config, input, count->context, known);
        }
    }
}

static void add_cell(struct correlation *c, uint32_t column, const struct hpcprof_count *count,
                     const struct input_sites *known)
{
    while (c->cells.count <= column)
        *vec_push(&c->cells) = (struct cell_list){0};
    *vec_push(&c->cells.items[column]) = (struct cell){.site = known->contexts[count->context],
                                                       .call = known->calls ? known->calls[count->context] : CALL_NONE,
                                                       .value = count->value};
}

enum { COUNTS_AT_ONCE = 1 << 16 };

/* The cells of the numbered ones. Counts become cells from the end, and are dropped meanwhile if possible: there are
   millions, and the two are never complete at once. */
static void take_counts(struct correlation *c, const struct input *input, const struct event_column_list *event_columns,
                        const struct input_sites *known)
{
    struct hpcprof *p = input->profile;
    for (size_t i = p->count_count; i-- > 0;) {
        const struct hpcprof_count *count = &p->counts[i];
        const struct event_column_list *to = &event_columns[count->event];
        for (size_t k = to->count; k-- > 0;) {
            uint32_t column = column_of_count(&to->items[k], input, count);
            if (column != COLUMN_NONE)
                add_cell(c, column, count, known);
        }
        if (input->path && i % COUNTS_AT_ONCE == 0)
            hpcprof_drop_counts_from(p, i);
    }
}

/* The counts of an event at sites that are shown, whether it is shown or not, added up there. */
static void gather_loop_counts(struct correlation *c, const struct hpcprof *p, const struct input_sites *known,
                               const char *name, double *(*where)(struct loop_count *))
{
    size_t event = 0;
    while (event < p->event_count && strcmp(strtab_get(p->strings, p->events[event].name), name) != 0)
        event++;
    for (size_t i = 0; event < p->event_count && i < p->count_count; i++) {
        uint32_t site = p->counts[i].event == event ? known->contexts[p->counts[i].context] : UINT32_MAX;
        if (site == UINT32_MAX)
            continue;
        while (c->loop_counts.count <= site)
            *vec_push(&c->loop_counts) = (struct loop_count){0};
        *where(&c->loop_counts.items[site]) += (double)p->counts[i].value;
    }
}

static double *iterations_of(struct loop_count *n)
{
    return &n->iterations;
}

static double *entries_of(struct loop_count *n)
{
    return &n->entries;
}

static void gather_input(struct correlation *c, const struct config *config, const struct input *input,
                         const struct event_column_list *event_columns, struct warnings *warnings)
{
    bool paths = hpcprof_has_paths(input->profile);
    struct input_sites known = begin_sites(input->profile, paths);
    *vec_push(&c->with_paths) = paths;
    number_sites(c, config, input, event_columns, &known);
    gather_loop_counts(c, input->profile, &known, EVENT_ITERATIONS, iterations_of);
    gather_loop_counts(c, input->profile, &known, EVENT_ENTRIES, entries_of);
    gather_tables(c, config, input, &known, warnings);
    take_counts(c, input, event_columns, &known);
    end_sites(&known);
}

/* ---- columns by thread: the files are read once more, so that the counts of all threads are never in memory at
   once --- */

struct thread_reading {
    struct correlation *c;
    const struct config *config;
    const struct columns *columns;
    const struct input *input;
    const struct event_column_list *event_columns; /* of the input, by its events */
    uint32_t first_thread;                         /* of the measurement at hand, counted over the input */
};

static uint32_t event_in(const struct hpcprof *all, const struct hpcprof *p, size_t event)
{
    const char *name = strtab_get(p->strings, p->events[event].name);
    uint32_t i = 0;
    while (i < all->event_count && (strcmp(strtab_get(all->strings, all->events[i].name), name) != 0 ||
                                    (all->events[i].flags ^ p->events[event].flags) & HPCPROF_LOST))
        i++;
    return i < all->event_count ? i : UINT32_MAX;
}

/* The columns of the input's threads for one of its measurements, whose events, regions and threads have numbers of their
   own. */
static void own_columns(const struct thread_reading *r, const struct hpcprof *p, size_t event, struct arena *arena,
                        struct event_column_list *own)
{
    uint32_t of_all = event_in(r->input->profile, p, event);
    for (size_t k = 0; of_all != UINT32_MAX && k < r->event_columns[of_all].count; k++) {
        struct event_column f = r->event_columns[of_all].items[k];
        if (!f.by_thread || r->first_thread + p->thread_count > r->input->profile->thread_count)
            continue;
        f.by_thread += r->first_thread;
        f.in_region = columns_regions_named(arena, r->c->strings, p, r->columns->list.items[f.column].metric.region);
        *vec_push(own) = f;
    }
}

static void gather_threads(void *ctx, const struct hpcprof *p)
{
    struct thread_reading *r = ctx;
    struct input input = {.profile = (struct hpcprof *)p, .run = r->input->run};
    struct event_column_list *event_columns = mem_calloc(p->event_count, sizeof *event_columns);
    struct input_sites known = begin_sites(p, hpcprof_has_paths(r->input->profile));
    struct arena *arena = arena_create();
    for (size_t e = 0; e < p->event_count; e++)
        own_columns(r, p, e, arena, &event_columns[e]);
    if (check_profile(p, NULL) == 0) {
        number_sites(r->c, r->config, &input, event_columns, &known);
        take_counts(r->c, &input, event_columns, &known);
    }
    r->first_thread += (uint32_t)p->thread_count;
    for (size_t e = 0; e < p->event_count; e++)
        vec_release(&event_columns[e]);
    end_sites(&known);
    arena_free(arena);
    mem_free(event_columns);
}

static int gather_by_thread(struct correlation *c, const struct config *config, const struct input *input,
                            const struct columns *columns, const struct event_column_list *event_columns,
                            struct err *err)
{
    struct thread_reading r = {
        .c = c, .config = config, .columns = columns, .input = input, .event_columns = event_columns};
    return filters_read_as(input->path,
                           &(struct hpcprof_reading){.threads = config->threads, .each = gather_threads, .ctx = &r},
                           NULL, NULL, err);
}

int ingest_inputs(struct correlation *c, const struct config *config, const struct input *inputs, size_t input_count,
                  const struct columns *columns, struct warnings *warnings, struct err *err)
{
    for (size_t i = 0; i < input_count; i++) {
        if (check_profile(inputs[i].profile, err) < 0)
            return -1;
        gather_input(c, config, &inputs[i], columns->event_columns[i], warnings);
        if (inputs[i].path && config->per_thread &&
            gather_by_thread(c, config, &inputs[i], columns, columns->event_columns[i], err) < 0)
            return -1;
        if (inputs[i].path)
            hpcprof_drop_counts(inputs[i].profile); /* they are read again if needed */
    }
    row_index_release(&c->site_index); /* likewise */
    row_index_release(&c->call_index);
    c->sites_indexed = c->calls_indexed = 0;
    return 0;
}

struct context_sites ingest_contexts(struct correlation *c, const struct config *config, const struct hpcprof *p,
                                     uint32_t run, bool paths)
{
    struct input input = {.profile = (struct hpcprof *)p, .run = run};
    struct input_sites known = begin_sites(p, paths);
    for (uint32_t i = 0; i < p->context_count; i++) {
        site_of_context(c, config, &input, i, &known);
        call_of_context(c, config, &input, i, &known);
    }
    mem_free(known.modules);
    vec_release(&known.chain);
    return (struct context_sites){known.contexts, known.calls};
}
