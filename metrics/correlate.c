/*
 * Every sampled address in its own chain of scopes.
 *
 *     (a.out, 0x1184)  ->  a.out > heat.f90 > heat_solve > loop 52 > dot, called at 54 > loop 12 > line 13
 *
 * A place is made when the first sample needs it, so there are no places without data but the ancestors of those that
 * have some.
 */
#include "metrics/metrics_int.h"

#include "filters/filters.h"

#include <stdlib.h>

void correlation_init(struct correlation *c, struct strtab *strings)
{
    *c = (struct correlation){.strings = strings};
    *vec_push(&c->places) =
        (struct place){.kind = PLACE_PROGRAM, .parent = PLACE_NONE, .file = SOURCE_NONE, .call_file = SOURCE_NONE};
    *vec_push(&c->ordinals) = 0;
}

static void free_tree(struct module *m)
{
    if (!m->lent)
        scope_tree_free(m->tree);
    m->tree = NULL;
    quality_free(m->quality);
    quality_listing_free(m->listing);
    m->quality = NULL;
    m->listing = NULL;
}

/* What was needed to find places again. */
static void forget_places(struct correlation *c)
{
    row_index_release(&c->place_index);
}

void correlation_release(struct correlation *c)
{
    for (size_t i = 0; i < c->modules.count; i++) {
        free_tree(&c->modules.items[i]);
        mem_free(c->modules.items[i].why);
    }
    vec_release(&c->modules);
    vec_release(&c->uses);
    vec_release(&c->sites);
    vec_release(&c->calls);
    vec_release(&c->cells);
    vec_release(&c->loop_counts);
    hashmap_release(&c->loop_at);
    table_list_release(&c->tables);
    vec_release(&c->places);
    vec_release(&c->files);
    vec_release(&c->file_module);
    vec_release(&c->file_known);
    mem_free(c->site_place);
    mem_free(c->site_state);
    mem_free(c->site_weight);
    mem_free(c->call_node);
    mem_free(c->file_rank);
    hashmap_release(&c->listed);
    row_index_release(&c->module_index);
    row_index_release(&c->site_index);
    row_index_release(&c->call_index);
    forget_places(c);
    vec_release(&c->ordinals);
    hashmap_release(&c->file_index);
}

/* ---- gathering ----------------------------------------------------------------------- */

struct wanted { /* a row to be found: of modules, sites, calls or places */
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
    return x->module == y->module && x->by_line == y->by_line && x->address == y->address &&
           x->procedure == y->procedure && x->file == y->file && x->line == y->line && x->cut == y->cut &&
           x->own_file == y->own_file;
}

static bool same_call(const void *ctx, uint32_t i)
{
    const struct wanted *w = ctx;
    const struct call *x = w->row, *y = &w->c->calls.items[i];
    return x->parent == y->parent && x->site == y->site;
}

const char *correlate_module_name(const struct correlation *c, uint32_t module)
{
    const struct module *m = &c->modules.items[module];
    const char *path = strtab_get(c->strings, m->role ? m->role : m->path);
    return path[0] == '[' || m->role ? path : path_base(path);
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

static uint32_t site_index(struct correlation *c, const struct site *s)
{
    uint32_t tuple[] = {
        s->module, s->by_line, (uint32_t)s->address, (uint32_t)(s->address >> 32), s->procedure, s->file,
        s->line,   s->cut,     s->own_file};
    uint64_t hash = hash_bytes(tuple, sizeof tuple, 0);
    uint32_t known = row_index_find(&c->site_index, hash, same_site, &(struct wanted){c, s});
    if (known != ROW_NONE)
        return known;
    row_index_add(&c->site_index, hash, (uint32_t)c->sites.count);
    *vec_push(&c->sites) = *s;
    return (uint32_t)c->sites.count - 1;
}

static int check_profile(const struct hpcprof *p, struct err *err)
{
    for (size_t i = 0; i < p->count_count; i++)
        if (p->counts[i].context >= p->context_count || p->counts[i].event >= p->event_count ||
            p->counts[i].thread >= p->thread_count || p->counts[i].region >= p->region_count)
            return err_set(err, ERR_FORMAT, "a measurement names a context, event, thread or region that is not in it");
    for (size_t i = 0; i < p->context_count; i++)
        if (p->contexts[i].module >= p->module_count ||
            (p->contexts[i].parent != HPCPROF_NO_PARENT && p->contexts[i].parent >= i))
            return err_set(err, ERR_FORMAT, "a measurement names a module or a caller that is not in it");
    return 0;
}

struct input_sites { /* from an input's numbers to ours, made when first needed */
    uint32_t *modules, *contexts;
    uint32_t *calls; /* by context; NULL: the input has no paths */
    struct VEC(uint32_t) chain;
};

/* Is it what the measurement's first process was started as? Who does not say has nothing else. */
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
    if (tables_gather(&c->tables, c->strings, input->profile, &sites, run, c->process_count, c->event_count, &err) < 0)
        warnings_add(warnings, "a part of the tables of run '%s' is left out: %s", config->runs.items[input->run].name,
                     err.msg);
    c->process_count += (uint32_t)input->profile->process_count;
    c->event_count += (uint32_t)input->profile->event_count;
}

static uint32_t call_index(struct correlation *c, uint32_t parent, uint32_t site)
{
    struct call call = {parent, site};
    uint64_t hash = hash_bytes(&call, sizeof call, 0);
    uint32_t known = row_index_find(&c->call_index, hash, same_call, &(struct wanted){c, &call});
    if (known != ROW_NONE)
        return known;
    row_index_add(&c->call_index, hash, (uint32_t)c->calls.count);
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

static struct input_sites begin_sites(const struct hpcprof *p)
{
    struct input_sites known = {.modules = mem_alloc((p->module_count + 1) * sizeof(uint32_t)),
                                .contexts = mem_alloc((p->context_count + 1) * sizeof(uint32_t))};
    memset(known.modules, 0xff, p->module_count * sizeof(uint32_t));
    memset(known.contexts, 0xff, p->context_count * sizeof(uint32_t));
    if (hpcprof_has_paths(p)) {
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
static uint32_t fed_column(const struct feed *to, const struct input *input, const struct hpcprof_count *count)
{
    if (to->in_region && !to->in_region[count->region])
        return COLUMN_NONE;
    if (!to->by_thread)
        return to->column;
    return input->path ? COLUMN_NONE : to->by_thread[count->thread];
}

static void gather_counts(struct correlation *c, const struct config *config, const struct input *input,
                          const struct feed_list *feeds, struct input_sites *known)
{
    const struct hpcprof *p = input->profile;
    for (size_t i = 0; i < p->count_count; i++) {
        const struct hpcprof_count *count = &p->counts[i];
        const struct feed_list *to = &feeds[count->event];
        for (size_t k = 0; k < to->count; k++) {
            uint32_t column = fed_column(&to->items[k], input, count);
            if (column != COLUMN_NONE)
                *vec_push(&c->cells) = (struct cell){.site = site_of_context(c, config, input, count->context, known),
                                                     .column = column,
                                                     .call = call_of_context(c, config, input, count->context, known),
                                                     .value = count->value};
        }
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
                         const struct feed_list *feeds, struct warnings *warnings)
{
    struct input_sites known = begin_sites(input->profile);
    gather_counts(c, config, input, feeds, &known);
    gather_loop_counts(c, input->profile, &known, EVENT_ITERATIONS, iterations_of);
    gather_loop_counts(c, input->profile, &known, EVENT_ENTRIES, entries_of);
    gather_tables(c, config, input, &known, warnings);
    end_sites(&known);
}

/* ---- columns by thread: the files are read once more, so that what all threads counted is never held at once -------- */

struct thread_reading {
    struct correlation *c;
    const struct config *config;
    const struct columns *columns;
    const struct input *input;
    const struct feed_list *feeds; /* of the input, by its events */
    uint32_t first_thread;         /* of the measurement at hand, counted over the input */
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

/* The feeds of the input's threads for one of its measurements, whose events, regions and threads have numbers of their
   own. */
static void own_feeds(const struct thread_reading *r, const struct hpcprof *p, size_t event, struct arena *arena,
                      struct feed_list *own)
{
    uint32_t of_all = event_in(r->input->profile, p, event);
    for (size_t k = 0; of_all != UINT32_MAX && k < r->feeds[of_all].count; k++) {
        struct feed f = r->feeds[of_all].items[k];
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
    struct feed_list *feeds = mem_calloc(p->event_count + 1, sizeof *feeds);
    struct input_sites known = begin_sites(p);
    struct arena *arena = arena_create();
    for (size_t e = 0; e < p->event_count; e++)
        own_feeds(r, p, e, arena, &feeds[e]);
    if (check_profile(p, NULL) == 0)
        gather_counts(r->c, r->config, &input, feeds, &known);
    r->first_thread += (uint32_t)p->thread_count;
    for (size_t e = 0; e < p->event_count; e++)
        vec_release(&feeds[e]);
    end_sites(&known);
    arena_free(arena);
    mem_free(feeds);
}

static int gather_by_thread(struct correlation *c, const struct config *config, const struct input *input,
                            const struct columns *columns, const struct feed_list *feeds, struct err *err)
{
    struct thread_reading r = {.c = c, .config = config, .columns = columns, .input = input, .feeds = feeds};
    return filters_read_as(input->path,
                           &(struct hpcprof_reading){.threads = config->threads, .each = gather_threads, .ctx = &r},
                           NULL, NULL, err);
}

int correlate_gather(struct correlation *c, const struct config *config, const struct input *inputs, size_t input_count,
                     const struct columns *columns, struct warnings *warnings, struct err *err)
{
    for (size_t i = 0; i < input_count; i++) {
        if (check_profile(inputs[i].profile, err) < 0)
            return -1;
        gather_input(c, config, &inputs[i], columns->feeds[i], warnings);
        if (inputs[i].path && config->per_thread &&
            gather_by_thread(c, config, &inputs[i], columns, columns->feeds[i], err) < 0)
            return -1;
        if (inputs[i].path)
            hpcprof_drop_counts(inputs[i].profile); /* who wants them again reads them again */
    }
    return 0;
}

struct context_sites correlate_contexts(struct correlation *c, const struct config *config, const struct hpcprof *p,
                                        uint32_t run)
{
    struct input input = {.profile = (struct hpcprof *)p, .run = run};
    struct input_sites known = begin_sites(p);
    for (uint32_t i = 0; i < p->context_count; i++) {
        site_of_context(c, config, &input, i, &known);
        call_of_context(c, config, &input, i, &known);
    }
    mem_free(known.modules);
    vec_release(&known.chain);
    return (struct context_sites){known.contexts, known.calls};
}

/* ---- modules of several runs ------------------------------------------------------------ */

/* Who knows lines alone names a module without its build id: it is the one of that path which has one. */
static void find_same_paths(struct correlation *c)
{
    struct hashmap known = {0};
    for (uint32_t i = 0; i < c->modules.count; i++) {
        uint32_t *slot = hashmap_put(&known, c->modules.items[i].path);
        if (*slot == HASHMAP_NONE || !c->modules.items[*slot].build_id)
            *slot = i;
    }
    for (uint32_t i = 0; i < c->modules.count; i++)
        c->modules.items[i].lines_in = c->modules.items[i].build_id ? i : hashmap_get(&known, c->modules.items[i].path);
    hashmap_release(&known);
}

/* Or else the one that shares its place. */
static void find_same_places(struct correlation *c)
{
    struct hashmap known = {0};
    for (uint32_t i = 0; i < c->modules.count; i++)
        if (c->modules.items[i].build_id && hashmap_get(&known, c->modules.items[i].group) == HASHMAP_NONE)
            *hashmap_put(&known, c->modules.items[i].group) = i;
    for (uint32_t i = 0; i < c->modules.count; i++) {
        struct module *m = &c->modules.items[i];
        uint32_t same = hashmap_get(&known, m->group);
        if (!m->build_id && m->lines_in == i && same != HASHMAP_NONE)
            m->lines_in = same;
    }
    hashmap_release(&known);
}

/* Gives the modules of one key, one in each run, to the first of them; key 0: to nobody. */
static void group_by(struct correlation *c, const str_id *key)
{
    struct hashmap leader = {0}, in_run = {0}; /* by key; by key and run. UINT32_MAX - 1: two of one run have it */
    const uint32_t several = UINT32_MAX - 1;
    for (uint32_t i = 0; i < c->modules.count; i++) {
        uint32_t *slot = hashmap_put(&leader, key[i]);
        *slot = *slot == HASHMAP_NONE ? i : *slot;
    }
    for (size_t i = 0; i < c->uses.count; i++) {
        uint32_t module = c->modules.items[c->uses.items[i].module].lines_in;
        uint32_t *slot = hashmap_put(&in_run, (uint64_t)key[module] << 32 | c->uses.items[i].run);
        if (*slot != HASHMAP_NONE && *slot != module)
            *hashmap_put(&leader, key[module]) = several;
        *slot = module;
    }
    for (uint32_t i = 0; i < c->modules.count; i++) {
        uint32_t first = hashmap_get(&leader, key[i]);
        if (key[i] && first != several && c->modules.items[i].group == c->modules.items[i].lines_in)
            c->modules.items[i].group = first;
    }
    hashmap_release(&leader);
    hashmap_release(&in_run);
}

/* "libm-2.31.so", "libm.so.6": libm; "" where it is no library. */
static char *library_name(const char *name)
{
    const char *end = strstr(name, ".so");
    if (!end || (end[3] && end[3] != '.'))
        return mem_strdup("");
    while (end > name && ((end[-1] >= '0' && end[-1] <= '9') || end[-1] == '.' || end[-1] == '-'))
        end--;
    return mem_strndup(name, (size_t)(end - name));
}

static bool similar(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), same = 0;
    while (same < n && same < m && a[same] == b[same])
        same++;
    return same >= 2 && 2 * same >= (n < m ? n : m);
}

/* What a module that is alone with its name may be another build of, as text; "" nothing. */
static char *role_of(struct correlation *c, uint32_t module, const char *program)
{
    const struct module *m = &c->modules.items[module];
    const char *name = correlate_module_name(c, module);
    if (m->program && similar(name, program))
        return mem_strdup("program");
    char *library = library_name(name);
    char *role = *library ? mem_printf("library %s", library) : mem_strdup("");
    mem_free(library);
    return role;
}

/* Modules that share no name with one of another run: by what they are there. */
static void group_similar(struct correlation *c)
{
    str_id *key = mem_calloc(c->modules.count + 1, sizeof *key);
    bool *alone = mem_alloc(c->modules.count + 1);
    const char *program = "";
    memset(alone, true, c->modules.count);
    for (uint32_t i = 0; i < c->modules.count; i++)
        if (c->modules.items[i].group != i)
            alone[i] = alone[c->modules.items[i].group] = false;
    for (uint32_t i = 0; i < c->modules.count; i++) {
        if (!alone[i])
            continue;
        program = !*program && c->modules.items[i].program ? correlate_module_name(c, i) : program;
        char *role = role_of(c, i, program);
        key[i] = strtab_add(c->strings, role);
        mem_free(role);
    }
    group_by(c, key);
    mem_free(key);
    mem_free(alone);
}

/* Builds of one module have each their version of its sources. */
static void number_versions(struct correlation *c)
{
    uint32_t *builds = mem_calloc(c->modules.count + 1, sizeof *builds);
    for (uint32_t i = 0; i < c->modules.count; i++)
        if (c->modules.items[i].lines_in == i)
            c->modules.items[i].version = builds[c->modules.items[i].group]++;
    for (uint32_t i = 0; i < c->modules.count; i++)
        c->modules.items[i].version = c->modules.items[c->modules.items[i].lines_in].version;
    mem_free(builds);
}

void correlate_group_modules(struct correlation *c)
{
    str_id *key = mem_calloc(c->modules.count + 1, sizeof *key);
    find_same_paths(c);
    for (uint32_t i = 0; i < c->modules.count; i++) {
        c->modules.items[i].group = c->modules.items[i].lines_in;
        key[i] = strtab_add(c->strings, correlate_module_name(c, i));
    }
    group_by(c, key);
    group_similar(c);
    find_same_places(c);
    number_versions(c);
    mem_free(key);
}

/* ---- places -------------------------------------------------------------------------- */

struct identity identity_of(const struct place *p, uint32_t ordinal)
{
    bool by_line = p->kind == PLACE_LINE || p->kind == PLACE_LOOP;
    return (struct identity){p->parent,    p->kind,      p->full_name, p->file, by_line ? p->line_first : 0,
                             p->call_file, p->call_line, p->instance,  ordinal};
}

static bool same_place(const void *ctx, uint32_t i)
{
    const struct wanted *w = ctx;
    struct identity x = *(const struct identity *)w->row;
    struct identity y = identity_of(&w->c->places.items[i], w->c->ordinals.items[i]);
    return memcmp(&x, &y, sizeof x) == 0;
}

static place_ix child(struct correlation *c, const struct place *new, uint32_t ordinal)
{
    struct identity id = identity_of(new, ordinal);
    uint64_t hash = hash_bytes(&id, sizeof id, 0);
    place_ix known = row_index_find(&c->place_index, hash, same_place, &(struct wanted){c, &id});
    if (known != ROW_NONE)
        return known;
    row_index_add(&c->place_index, hash, (place_ix)c->places.count);
    *vec_push(&c->places) = *new;
    *vec_push(&c->ordinals) = ordinal;
    return (place_ix)c->places.count - 1;
}

static struct place place_in(place_ix parent, enum place_kind kind)
{
    return (struct place){.parent = parent, .kind = (uint8_t)kind, .file = SOURCE_NONE, .call_file = SOURCE_NONE};
}

static place_ix module_place(struct correlation *c, uint32_t module)
{
    struct place p = place_in(0, PLACE_MODULE);
    p.name = p.full_name = c->modules.items[module].shown;
    return child(c, &p, c->modules.items[module].group);
}

/* The source file of a path as debug information has it; SOURCE_NONE for "". */
static uint32_t file_of(struct correlation *c, const struct config *config, const char *raw, uint32_t module)
{
    if (*raw == '\0')
        return SOURCE_NONE;
    str_id raw_id = strtab_add(c->strings, raw);
    uint64_t version = (uint64_t)c->modules.items[module].version << 33;
    uint32_t *known = hashmap_put(&c->file_index, version | (uint64_t)raw_id << 1);
    if (*known != HASHMAP_NONE)
        return *known;
    char *replaced = config_replaced(config, raw);
    char *normal = path_normal(replaced);
    str_id name = strtab_add(c->strings, normal);
    mem_free(normal);
    mem_free(replaced);
    /* "./a.c" and "a.c" are one file */
    uint32_t *same = hashmap_put(&c->file_index, version | (uint64_t)name << 1 | 1);
    if (*same == HASHMAP_NONE) {
        *same = (uint32_t)c->files.count;
        *vec_push(&c->files) = (struct source_file){.name = name, .raw_name = raw_id};
        *vec_push(&c->file_module) = c->modules.items[module].group;
        *vec_push(&c->file_known) = false;
    }
    uint32_t file = *same;
    *hashmap_put(&c->file_index, version | (uint64_t)raw_id << 1) = file;
    return file;
}

static place_ix file_place(struct correlation *c, uint32_t module, uint32_t file)
{
    struct place p = place_in(module_place(c, module), PLACE_FILE);
    p.file = file;
    return child(c, &p, 0);
}

static place_ix named_proc(struct correlation *c, uint32_t module, uint32_t file, const char *name)
{
    struct place p = place_in(file_place(c, module, file), PLACE_PROC);
    p.file = file;
    p.name = p.full_name = strtab_add(c->strings, name);
    return child(c, &p, UINT32_MAX);
}

static place_ix line_place(struct correlation *c, place_ix parent, uint32_t file, uint32_t line)
{
    struct place p = place_in(parent, PLACE_LINE);
    p.file = line ? file : SOURCE_NONE;
    p.line_first = p.line_last = line;
    return child(c, &p, 0);
}

struct module_scopes { /* the places of one module's scopes, made when first needed */
    struct correlation *c;
    const struct config *config;
    uint32_t module;
    const struct scope_tree *tree;
    place_ix *place;   /* by scope */
    uint32_t *ordinal; /* by scope: how many siblings before it look the same */
    uint32_t *file;    /* by string of the tree: our file, or FILE_UNKNOWN */
    struct VEC(scope_ix) chain;
    /* Of by-line look-ups, made when first needed: procedures of a name (3 x scope + which of its names), children. */
    struct hashmap first_named;
    uint32_t *next_named;
    scope_ix *first_child, *next_child;
};
#define FILE_UNKNOWN (UINT32_MAX - 1)

/* The same function inlined twice on one line, clones of a procedure: told apart by their order. */
static void count_ordinals(struct module_scopes *m)
{
    struct strtab *keys = strtab_create();
    struct VEC(uint32_t) seen = {0}; /* by key */
    m->ordinal = mem_calloc(m->tree->scope_count + 1, sizeof *m->ordinal);
    for (size_t i = 0; i < m->tree->scope_count; i++) {
        const struct scope *s = &m->tree->scopes[i];
        if (s->kind != SCOPE_PROC && s->kind != SCOPE_INLINE && s->kind != SCOPE_LOOP)
            continue;
        uint32_t line = s->kind == SCOPE_LOOP ? s->line_first : 0;
        struct identity id = {s->parent, s->kind, s->name, s->file, line, s->call_file, s->call_line, s->instance, 0};
        str_id key = strtab_addn(keys, (const char *)&id, sizeof id);
        while (seen.count <= key)
            *vec_push(&seen) = 0;
        m->ordinal[i] = seen.items[key]++;
    }
    vec_release(&seen);
    strtab_free(keys);
}

static uint32_t scope_file(struct module_scopes *m, str_id file)
{
    if (m->file[file] == FILE_UNKNOWN) {
        m->file[file] = file_of(m->c, m->config, strtab_get(m->tree->strings, file), m->module);
        if (m->file[file] != SOURCE_NONE)
            m->c->file_known.items[m->file[file]] = true;
    }
    return m->file[file];
}

static place_ix make_place(struct module_scopes *m, scope_ix ix, place_ix parent)
{
    static const uint8_t kinds[] = {
        [SCOPE_MODULE] = PLACE_MODULE, [SCOPE_FILE] = PLACE_FILE, [SCOPE_PROC] = PLACE_PROC,
        [SCOPE_INLINE] = PLACE_INLINE, [SCOPE_LOOP] = PLACE_LOOP,
    };
    const struct scope *s = &m->tree->scopes[ix];
    if (s->kind == SCOPE_MODULE)
        return module_place(m->c, m->module);
    if (s->kind == SCOPE_FILE)
        return file_place(m->c, m->module, scope_file(m, s->name));
    if (s->kind == SCOPE_STMT)
        return line_place(m->c, parent, scope_file(m, s->file), s->line_first);
    struct place p = place_in(parent, (enum place_kind)kinds[s->kind]);
    p.role = s->kind == SCOPE_LOOP ? s->role : 0;
    p.irreducible = s->irreducible;
    p.file = scope_file(m, s->file);
    p.line_first = s->line_first;
    p.line_last = s->line_last;
    p.instance = s->instance;
    p.instances = s->instances;
    p.address = s->entry;
    if (s->kind != SCOPE_LOOP) {
        const char *full = strtab_get(m->tree->strings, s->name), *brief = strtab_get(m->tree->strings, s->short_name);
        p.full_name = strtab_add(m->c->strings, full);
        p.name = *brief ? strtab_add(m->c->strings, brief) : p.full_name;
    }
    if (s->kind == SCOPE_INLINE) {
        p.call_file = scope_file(m, s->call_file);
        p.call_line = s->call_line;
    }
    return child(m->c, &p, m->ordinal[ix]);
}

/* The place of a scope, and of all around it. */
static place_ix scope_place(struct module_scopes *m, scope_ix ix)
{
    m->chain.count = 0;
    for (scope_ix s = ix; s != SCOPE_NONE && m->place[s] == PLACE_NONE; s = m->tree->scopes[s].parent)
        *vec_push(&m->chain) = s;
    for (size_t i = m->chain.count; i-- > 0;) {
        scope_ix s = m->chain.items[i], parent = m->tree->scopes[s].parent;
        m->place[s] = make_place(m, s, parent == SCOPE_NONE ? 0 : m->place[parent]);
    }
    return m->place[ix];
}

/* ---- sources that know lines alone ----------------------------------------------------- */

/* Two names of a file that differ in how much of the path they give. */
static bool same_file(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n < m)
        return same_file(b, a);
    return m && strcmp(a + n - m, b) == 0 && (n == m || a[n - m - 1] == '/' || b[0] == '/');
}

/* A procedure's full, short and linker's name, and the name of what it is a clone or a part of. */
enum { NAME_OF_ORIGIN = 3, NAMES_OF_PROC = 4 };

/* Procedures by each of their names, and the scopes' children, for looking up lines without walking the tree each time.
 */
static void index_procedures(struct module_scopes *m)
{
    const struct scope_tree *t = m->tree;
    m->next_named = mem_alloc((NAMES_OF_PROC * t->scope_count + 1) * sizeof *m->next_named);
    for (size_t i = t->scope_count; i-- > 0;) {
        const struct scope *s = &t->scopes[i];
        str_id names[NAMES_OF_PROC] = {s->name, s->short_name, s->link_name, s->origin};
        for (size_t k = 0; k < NAMES_OF_PROC && s->kind == SCOPE_PROC; k++) {
            uint32_t *first = hashmap_put(&m->first_named, names[k]);
            m->next_named[NAMES_OF_PROC * i + k] = *first;
            *first = (uint32_t)(NAMES_OF_PROC * i + k);
        }
    }
    m->first_child = mem_alloc((t->scope_count + 1) * sizeof *m->first_child);
    m->next_child = mem_alloc((t->scope_count + 1) * sizeof *m->next_child);
    memset(m->first_child, 0xff, t->scope_count * sizeof *m->first_child);
    for (size_t i = t->scope_count; i-- > 1;) {
        scope_ix parent = t->scopes[i].parent;
        m->next_child[i] = parent == SCOPE_NONE ? SCOPE_NONE : m->first_child[parent];
        if (parent != SCOPE_NONE)
            m->first_child[parent] = (scope_ix)i;
    }
}

/* The procedure of that name in that file ("": not known), else of that name elsewhere; in each, one so named rather
   than a clone of it (the source calls `sum` what the compiler made `sum.constprop.0`). SCOPE_NONE: none. */
static scope_ix proc_by_name(struct module_scopes *m, const char *procedure, const char *file)
{
    const struct scope_tree *t = m->tree;
    scope_ix found = SCOPE_NONE;
    int least = 4;
    if (!m->next_named)
        index_procedures(m);
    str_id name = strtab_add(t->strings, procedure);
    for (uint32_t i = hashmap_get(&m->first_named, name); i != HASHMAP_NONE && least > 0; i = m->next_named[i]) {
        scope_ix proc = i / NAMES_OF_PROC;
        bool elsewhere = *file && !same_file(strtab_get(t->strings, t->scopes[proc].file), file);
        int rank = 2 * elsewhere + (i % NAMES_OF_PROC == NAME_OF_ORIGIN);
        found = rank < least ? proc : found;
        least = rank < least ? rank : least;
    }
    return found;
}

/* The innermost loop of the procedure whose lines hold line `line` of `file` ("": not known), calls that were inlined
   left out: what knows lines alone knows nothing of them. A line of a header that was inlined has the numbers of that
   file, and is in no loop of this one. */
static scope_ix loop_by_line(const struct module_scopes *m, scope_ix proc, const char *file, uint32_t line)
{
    scope_ix innermost = proc;
    for (scope_ix i = m->first_child[proc]; i != SCOPE_NONE;) {
        const struct scope *s = &m->tree->scopes[i];
        bool holds = s->kind == SCOPE_LOOP && s->line_first <= line && line <= s->line_last &&
                     (*file == '\0' || same_file(strtab_get(m->tree->strings, s->file), file));
        innermost = holds ? i : innermost;
        i = holds ? m->first_child[i] : m->next_child[i];
    }
    return innermost;
}

/* Where the procedure begins is not known; its own line is the first one measured in it. */
static void widen(struct place *proc, uint32_t line)
{
    if (line && (proc->line_first == 0 || line < proc->line_first))
        proc->line_first = line;
    if (line > proc->line_last)
        proc->line_last = line;
}

static place_ix place_by_line(struct correlation *c, const struct config *config, struct module_scopes *m,
                              const struct site *s, uint8_t *state)
{
    const char *procedure = strtab_get(c->strings, s->procedure), *file_name = strtab_get(c->strings, s->file);
    const char *own_name = s->own_file ? strtab_get(c->strings, s->own_file) : file_name;
    scope_ix scope = m && *procedure ? proc_by_name(m, procedure, own_name) : SCOPE_NONE;
    *state = s->line ? SITE_LINE : *procedure ? SITE_NO_LINE : SITE_NO_SYMBOL;
    if (scope != SCOPE_NONE) {
        scope = loop_by_line(m, scope, file_name, s->line);
        /* the structure knows where the file lies; the measurement its last name, as a rule */
        str_id own = m->tree->scopes[scope].file;
        uint32_t file = *file_name == '\0' || same_file(strtab_get(m->tree->strings, own), file_name)
                            ? scope_file(m, own)
                            : file_of(c, config, file_name, s->module);
        return line_place(c, scope_place(m, scope), file, s->line);
    }
    uint32_t own = file_of(c, config, own_name, s->module), file = file_of(c, config, file_name, s->module);
    place_ix proc = named_proc(c, s->module, own, *procedure ? procedure : "(no symbol)");
    if (file == own)
        widen(&c->places.items[proc], s->line);
    return line_place(c, proc, file, s->line);
}

/* ---- by address ------------------------------------------------------------------------ */

static const char *nothing_known_of(const struct module *m)
{
    return m->state == STRUCTURE_FAILED ? "(no symbols)" : "(no symbol)";
}

static place_ix place_by_address(struct correlation *c, struct module_scopes *m, const struct site *s, uint8_t *state)
{
    scope_ix scope = m ? scope_tree_find((struct scope_tree *)m->tree, s->address) : SCOPE_NONE;
    if (scope != SCOPE_NONE && m->tree->scopes[scope].kind >= SCOPE_PROC) {
        const struct scope *found = &m->tree->scopes[scope];
        place_ix place = scope_place(m, scope);
        *state = found->kind == SCOPE_STMT && found->line_first ? SITE_LINE : SITE_NO_LINE;
        return found->kind == SCOPE_STMT ? place : line_place(c, place, SOURCE_NONE, 0);
    }
    const struct module *module = &c->modules.items[s->module];
    *state = module->state == STRUCTURE_FAILED ? SITE_NO_MODULE : SITE_NO_SYMBOL;
    place_ix proc = named_proc(c, s->module, SOURCE_NONE, nothing_known_of(module));
    return line_place(c, proc, SOURCE_NONE, 0);
}

struct site_order { /* sites by module, then by address; lines keep their order */
    uint32_t module, site;
    bool by_line;
    vaddr address;
};

static int compare_sites(const void *a, const void *b)
{
    const struct site_order *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

static bool has_lines(const struct scope_tree *tree)
{
    bool procedures = false;
    for (size_t i = 0; i < tree->scope_count; i++) {
        if (tree->scopes[i].kind == SCOPE_STMT && tree->scopes[i].line_first)
            return true;
        procedures = procedures || tree->scopes[i].kind == SCOPE_PROC;
    }
    return !procedures;
}

static uint64_t loop_key(const struct correlation *c, uint32_t module, vaddr address)
{
    uint64_t key[] = {c->modules.items[module].lines_in, address};
    return hash_bytes(key, sizeof key, 0);
}

/* Samples of one run and counts of another, whose tool wrote no build id, are of one loop. */
static void join_loop_counts(struct correlation *c)
{
    for (uint32_t i = 0; i < c->loop_counts.count; i++) {
        struct loop_count *n = &c->loop_counts.items[i];
        const struct site *s = &c->sites.items[i];
        if (s->by_line || n->entries <= 0)
            continue;
        uint32_t first = hashmap_get(&c->loop_at, loop_key(c, s->module, s->address));
        if (first == HASHMAP_NONE) {
            *hashmap_put(&c->loop_at, loop_key(c, s->module, s->address)) = i;
            continue;
        }
        c->loop_counts.items[first].iterations += n->iterations;
        c->loop_counts.items[first].entries += n->entries;
    }
}

double correlate_trips(const struct correlation *c, uint32_t module, vaddr header)
{
    uint32_t at = hashmap_get(&c->loop_at, loop_key(c, module, header));
    return at == HASHMAP_NONE ? 0 : c->loop_counts.items[at].iterations / c->loop_counts.items[at].entries;
}

static void ask_structure(struct correlation *c, uint32_t module, const struct site_order *sites, size_t count,
                          const struct structure_source *source, struct warnings *warnings)
{
    struct VEC(vaddr) addresses = {0};
    struct VEC(double) weights = {0};
    struct module *m = &c->modules.items[module];
    m->state = STRUCTURE_NONE;
    for (size_t i = 0; i < count; i++) {
        if (sites[i].by_line)
            continue;
        if (addresses.count == 0 || addresses.items[addresses.count - 1] != sites[i].address) {
            *vec_push(&addresses) = sites[i].address;
            *vec_push(&weights) = 0;
        }
        weights.items[weights.count - 1] += c->site_weight[sites[i].site];
    }
    const struct sampled sampled = {addresses.items, weights.items, addresses.count, &c->listed_bytes, c, module};
    source->scopes(source->ctx, m, c->strings, &sampled, warnings);
    m->stripped = m->tree && !has_lines(m->tree);
    vec_release(&addresses);
    vec_release(&weights);
}

static void place_module(struct correlation *c, const struct config *config, uint32_t module,
                         const struct site_order *sites, size_t count)
{
    struct module_scopes scopes = {.c = c, .config = config, .module = module, .tree = c->modules.items[module].tree};
    if (scopes.tree) {
        size_t strings = strtab_count(scopes.tree->strings);
        scopes.place = mem_alloc((scopes.tree->scope_count + 1) * sizeof *scopes.place);
        memset(scopes.place, 0xff, scopes.tree->scope_count * sizeof *scopes.place);
        scopes.file = mem_alloc((strings + 1) * sizeof *scopes.file);
        for (size_t i = 0; i < strings; i++)
            scopes.file[i] = FILE_UNKNOWN;
        count_ordinals(&scopes);
    }
    struct module_scopes *known = scopes.tree ? &scopes : NULL;
    for (size_t i = 0; i < count; i++) {
        struct site s = c->sites.items[sites[i].site];
        s.module = module;
        uint8_t *state = &c->site_state[sites[i].site];
        c->site_place[sites[i].site] = s.cut       ? module_place(c, module)
                                       : s.by_line ? place_by_line(c, config, known, &s, state)
                                                   : place_by_address(c, known, &s, state);
    }
    if (known) {
        loops_note(c, c->modules.items[module].quality, scopes.place);
        instructions_note(c, &(struct placed_scopes){module, scopes.place, scopes.file});
    }
    mem_free(scopes.place);
    mem_free(scopes.ordinal);
    mem_free(scopes.file);
    vec_release(&scopes.chain);
    hashmap_release(&scopes.first_named);
    mem_free(scopes.next_named);
    mem_free(scopes.first_child);
    mem_free(scopes.next_child);
}

void correlate_place(struct correlation *c, const struct config *config, const struct structure_source *source,
                     struct warnings *warnings, const struct progress *progress)
{
    size_t n = c->sites.count;
    struct site_order *order = mem_alloc((n + 1) * sizeof *order);
    c->site_weight = instructions_weigh_sites(c);
    join_loop_counts(c);
    for (size_t i = 0; i < n; i++) {
        const struct site *s = &c->sites.items[i];
        uint32_t module = s->by_line ? c->modules.items[s->module].lines_in : s->module;
        order[i] = (struct site_order){module, (uint32_t)i, s->by_line, s->by_line ? 0 : s->address};
    }
    qsort(order, n, sizeof *order, compare_sites);
    c->site_place = mem_alloc((n + 1) * sizeof *c->site_place);
    c->site_state = mem_calloc(n + 1, 1);
    for (size_t from = 0, to; from < n; from = to) {
        uint32_t module = order[from].module;
        for (to = from; to < n && order[to].module == module;)
            to++;
        progress_report(progress, "analysing modules", from, n);
        ask_structure(c, module, order + from, to - from, source, warnings);
        place_module(c, config, module, order + from, to - from);
        free_tree(&c->modules.items[module]);
    }
    progress_report(progress, "analysing modules", n, n);
    mem_free(order);
    instructions_count(c);
    forget_places(c);
    if (source->end)
        source->end(source->ctx);
}
