/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A finished experiment as a run: its measurement and its binaries' structure, reconstructed from the experiment alone.
 *
 * The join takes counts at addresses, and a scope tree by module for these addresses. Both are taken from it: its
 * places are the scopes, and the number of a place is the address of its exclusive cost. So all later steps, above all
 * matching and comparing, are independent of where a run came from.
 */
#include "metrics/join/join.h"

#include <math.h>

struct splitting {
    const char *path;
    const struct experiment *e;
    struct hpcprof *profile;
    uint32_t *module;                      /* by place: module of the profile; UINT32_MAX: the program */
    uint32_t *scope;                       /* by place: in its module's tree; SCOPE_NONE: in none */
    uint32_t *context;                     /* by place; UINT32_MAX: none yet */
    uint32_t *event;                       /* by metric: of the profile; UINT32_MAX: none */
    char *build_id;                        /* that all its modules get: no other run has it */
    struct VEC(struct scope_tree *) trees; /* by module */
    struct err *err;
};

static const char *text(const struct splitting *s, str_id id)
{
    return strtab_get(s->e->strings, id);
}

static int damaged(const struct splitting *s, const char *what)
{
    return err_set(s->err, ERR_FORMAT, "%s: %s; it cannot be compared", s->path, what);
}

static uint32_t *none_of(size_t n)
{
    uint32_t *all = mem_alloc(n * sizeof *all);
    memset(all, 0xff, n * sizeof *all);
    return all;
}

/* ---- the scopes ---------------------------------------------------------------------------------- */

static bool nests(uint8_t parent, uint8_t kind)
{
    switch (kind) {
    case PLACE_MODULE:
        return parent == PLACE_PROGRAM;
    case PLACE_FILE:
        return parent == PLACE_MODULE;
    case PLACE_PROC:
        return parent == PLACE_FILE;
    default:
        return parent == PLACE_PROC || parent == PLACE_INLINE || parent == PLACE_LOOP;
    }
}

static str_id moved(const struct splitting *s, struct scope_tree *to, str_id id)
{
    return strtab_add(to->strings, text(s, id));
}

static str_id file_name(const struct splitting *s, struct scope_tree *to, uint32_t file)
{
    return file == SOURCE_NONE ? strtab_add(to->strings, "") : moved(s, to, s->e->files[file].name);
}

static bool is_named(const struct place *p)
{
    return p->kind == PLACE_PROC || p->kind == PLACE_INLINE;
}

static struct scope scope_of(const struct splitting *s, struct scope_tree *to, place_ix place, scope_ix parent)
{
    static const uint8_t kinds[] = {
        [PLACE_MODULE] = SCOPE_MODULE, [PLACE_FILE] = SCOPE_FILE, [PLACE_PROC] = SCOPE_PROC,
        [PLACE_INLINE] = SCOPE_INLINE, [PLACE_LOOP] = SCOPE_LOOP, [PLACE_LINE] = SCOPE_STMT,
    };
    const struct place *p = &s->e->places[place];
    str_id none = strtab_add(to->strings, "");
    return (struct scope){
        .kind = kinds[p->kind],
        .role = p->role,
        .irreducible = p->irreducible,
        .on_line = p->on_line,
        .parent = parent,
        .name = p->kind == PLACE_FILE ? file_name(s, to, p->file)
                : is_named(p)         ? moved(s, to, p->full_name)
                                      : moved(s, to, p->name),
        .short_name = is_named(p) ? moved(s, to, p->name) : none,
        .link_name = none,
        .origin = none,
        .file = file_name(s, to, p->file),
        .call_file = file_name(s, to, p->call_file),
        .call_line = p->call_line,
        .line_first = p->line_first,
        .line_last = p->line_last,
        .entry = p->address,
        .range_first = (uint32_t)to->range_count,
        .range_count = p->kind >= PLACE_PROC,
        .instance = p->instance,
        .instances = p->instances,
    };
}

/* Code without a known module: no scope, as in a measurement. */
static bool is_unknown(const struct splitting *s, const struct place *p)
{
    return p->kind == PLACE_PROC && p->file == SOURCE_NONE && str_starts(text(s, p->name), "(no symbol");
}

static void add_scope(struct splitting *s, place_ix place)
{
    const struct place *p = &s->e->places[place];
    struct scope_tree *to = s->trees.items[s->module[place]];
    scope_ix parent = p->kind == PLACE_MODULE ? SCOPE_NONE : s->scope[p->parent];
    if (is_unknown(s, p) || (parent == SCOPE_NONE && p->kind != PLACE_MODULE))
        return;
    s->scope[place] = (scope_ix)to->scope_count;
    to->scopes[to->scope_count++] = scope_of(s, to, place, parent);
    if (p->kind >= PLACE_PROC)
        to->ranges[to->range_count++] = (struct addr_range){place, (vaddr)place + 1};
}

static void add_module(struct splitting *s, place_ix place)
{
    const char *name = text(s, s->e->places[place].name);
    s->module[place] = hpcprof_add_module(s->profile, *name ? name : "[unknown]", s->build_id);
    if (s->module[place] == s->trees.count)
        *vec_push(&s->trees) = scope_tree_create();
}

/* Modules that were loaded but have no sample: their cost is known to be zero. */
static void add_idle_modules(struct splitting *s)
{
    const struct experiment_run *run = &s->e->runs[0];
    for (uint32_t i = 0; i < run->module_count; i++)
        hpcprof_add_module(s->profile, text(s, run->modules[i]), "");
}

static void add_environment(struct splitting *s)
{
    const struct experiment_run *run = &s->e->runs[0];
    for (uint32_t i = 0; i < run->environment_count; i++) {
        str_id name = strtab_add(s->profile->strings, text(s, run->environment[i].name));
        str_id value = strtab_add(s->profile->strings, text(s, run->environment[i].value));
        hpcprof_add_note(s->profile, &(struct hpcprof_note){0, name, value});
    }
}

/* Which module each place is in, and how many places each has. */
static int add_modules(struct splitting *s, size_t **counts)
{
    for (place_ix i = 1; i < s->e->place_count; i++) {
        const struct place *p = &s->e->places[i];
        if (p->parent >= i || !nests(s->e->places[p->parent].kind, p->kind))
            return damaged(s, "the nesting of its places is invalid");
        if (p->kind == PLACE_MODULE)
            add_module(s, i);
        else
            s->module[i] = s->module[p->parent];
    }
    *counts = mem_calloc(s->trees.count, sizeof **counts);
    for (place_ix i = 1; i < s->e->place_count; i++)
        (*counts)[s->module[i]]++;
    return 0;
}

static int add_scopes(struct splitting *s)
{
    size_t *counts = NULL;
    if (add_modules(s, &counts) < 0)
        return -1;
    for (size_t i = 0; i < s->trees.count; i++) {
        s->trees.items[i]->scopes = mem_calloc(counts[i], sizeof *s->trees.items[i]->scopes);
        s->trees.items[i]->ranges = mem_calloc(counts[i], sizeof *s->trees.items[i]->ranges);
    }
    mem_free(counts);
    for (place_ix i = 1; i < s->e->place_count; i++)
        add_scope(s, i);
    return 0;
}

/* ---- the counts ---------------------------------------------------------------------------------- */

static uint32_t context_of(struct splitting *s, place_ix place)
{
    struct hpcprof *p = s->profile;
    if (s->context[place] != UINT32_MAX)
        return s->context[place];
    str_id none = strtab_add(p->strings, "");
    struct hpcprof_context c = {.parent = HPCPROF_NO_PARENT,
                                .module = s->module[place],
                                .address = place,
                                .procedure = none,
                                .file = none,
                                .procedure_file = none};
    if (s->scope[place] == SCOPE_NONE) { /* in code without symbols: "(no symbol)" is the name of an unnamed place */
        place_ix proc = place;
        while (s->e->places[proc].kind > PLACE_PROC)
            proc = s->e->places[proc].parent;
        const char *name = text(s, s->e->places[proc].name);
        c.by_line = true;
        c.procedure = strtab_add(p->strings, strcmp(name, "(no symbol)") == 0 ? "" : name);
        c.address = 0;
    }
    return s->context[place] = hpcprof_add_context(p, &c);
}

/* The exclusive cost of each place. NaN: unknown. */
static double *own_values(const struct splitting *s, size_t metric)
{
    size_t n = s->e->place_count;
    double *own = mem_alloc(n * sizeof *own), *all = mem_alloc(n * sizeof *all);
    experiment_column(s->e, TREE_SCOPES, metric, VALUE_INCLUSIVE, 0, n, all);
    memcpy(own, all, n * sizeof *own);
    for (size_t i = 1; i < n; i++)
        if (!isnan(all[i]))
            own[s->e->places[i].parent] -= all[i];
    mem_free(all);
    return own;
}

/* Sums of large numbers, and means, are not exact. */
static bool is_nothing(double own, double whole)
{
    return fabs(own) < 0.5 || fabs(own) < 1e-9 * fabs(whole);
}

static int add_counts(struct splitting *s, uint32_t event, size_t metric)
{
    double *own = own_values(s, metric), whole = experiment_value(s->e, metric, 0, VALUE_INCLUSIVE);
    uint64_t period = s->e->metrics[metric].period;
    bool sound = is_nothing(own[0], whole);
    for (place_ix i = 1; i < s->e->place_count && sound; i++) {
        bool line = s->e->places[i].kind == PLACE_LINE;
        if (isnan(own[i]) || (!line && is_nothing(own[i], whole)))
            continue;
        sound = own[i] >= 0 && own[i] < 0x1p63;
        uint64_t value = sound ? (uint64_t)(own[i] + 0.5) : 0;
        hpcprof_add_count(s->profile, &(struct hpcprof_count){.context = context_of(s, i),
                                                              .event = event,
                                                              .samples = period ? value / period : 0,
                                                              .value = value});
    }
    mem_free(own);
    return sound ? 0 : damaged(s, "its values are not the sums of their parts");
}

/* ---- the events ----------------------------------------------------------------------------------- */

/* Was the event asked for with this period: "PAPI_TOT_CYC@4000000"? */
static bool asked_by_period(const struct splitting *s, const char *event, uint64_t period)
{
    char *asked = mem_printf("%s@%llu", event, (unsigned long long)period);
    const char *at = strstr(text(s, s->e->runs[0].asked), asked);
    bool by_period = at && (at[strlen(asked)] == '\0' || at[strlen(asked)] == ',');
    mem_free(asked);
    return by_period;
}

static uint32_t add_event(struct splitting *s, const struct metric *m)
{
    const char *name = text(s, m->event);
    unsigned frequency = m->period && !asked_by_period(s, name, m->period) ? HPCPROF_FREQUENCY : 0;
    return hpcprof_add_event(
        s->profile, &(struct hpcprof_event){.name = strtab_add(s->profile->strings, name),
                                            .description = strtab_add(s->profile->strings, text(s, m->description)),
                                            .unit = strtab_add(s->profile->strings, text(s, m->unit)),
                                            .period = m->period,
                                            .flags = frequency | (m->estimated ? HPCPROF_ESTIMATED : 0)});
}

/* Of an event's columns the first is the total; those of its threads follow. */
static bool is_event(const struct splitting *s, size_t metric)
{
    const struct metric *m = &s->e->metrics[metric];
    bool is = *text(s, m->event) && !*text(s, m->formula) &&
              experiment_column_count(s->e, TREE_SCOPES, metric, VALUE_INCLUSIVE) > 0;
    for (size_t i = 0; i < metric && is; i++)
        is = s->e->metrics[i].event != m->event;
    return is;
}

static int add_events(struct splitting *s)
{
    for (size_t i = 0; i < s->e->metric_count; i++)
        if (is_event(s, i) && add_counts(s, s->event[i] = add_event(s, &s->e->metrics[i]), i) < 0)
            return -1;
    return s->profile->count_count ? 0 : damaged(s, "it contains no measured values");
}

/* ---- processes and threads -------------------------------------------------------------------------- */

static void add_processes(struct splitting *s)
{
    size_t threads = 0;
    for (size_t i = 0; i < s->e->process_count; i++) {
        struct hpcprof_process one = s->e->processes[i];
        str_id *texts[] = {&one.source_file, &one.host,   &one.command, &one.working_dir,
                           &one.machine,     &one.kernel, &one.sampler};
        for (size_t t = 0; t < ARRAY_SIZE(texts); t++)
            *texts[t] = strtab_add(s->profile->strings, text(s, *texts[t]));
        uint32_t process = hpcprof_add_process(s->profile, &one);
        for (uint32_t t = 0; t < s->e->processes[i].thread_count && threads < LIMIT_THREADS; t++, threads++)
            hpcprof_add_thread(s->profile, &(struct hpcprof_thread){.process = process, .number = t});
    }
    if (s->e->process_count == 0)
        hpcprof_add_process(s->profile, &(struct hpcprof_process){.rank = -1, .exit_status = -1});
    if (threads == 0) /* the counts are somebody's */
        hpcprof_add_thread(s->profile, &(struct hpcprof_thread){0});
}

/* ---- what its threads spent -------------------------------------------------------------------------- */

/* By place the first LINE in it that cost something, or itself; UINT32_MAX: none. mem_free. */
static uint32_t *first_lines(const struct splitting *s)
{
    uint32_t *line = none_of(s->e->place_count);
    for (place_ix i = (place_ix)s->e->place_count; i-- > 1;) {
        if (s->e->places[i].kind == PLACE_LINE && s->context[i] != UINT32_MAX)
            line[i] = i;
        if (line[i] != UINT32_MAX)
            line[s->e->places[i].parent] = line[i];
    }
    return line;
}

static uint32_t event_named(const struct splitting *s, str_id metric)
{
    for (size_t i = 0; i < s->e->metric_count; i++)
        if (s->e->metrics[i].name == metric)
            return s->event[i];
    return UINT32_MAX;
}

/* A place is not looked up, but found from a line in it, whose place in the join is known: it is as far above that. */
static void add_thread_values(const struct splitting *s, struct thread_value_list *to)
{
    const struct table *t = table_list_find(&s->e->tables, TABLE_THREAD_VALUES);
    uint32_t *lines = t ? first_lines(s) : NULL;
    for (size_t i = 0; t && thread_values_is_one(t) && i < table_row_count(t); i++) {
        struct thread_values_row row = thread_values_row(t, i);
        uint32_t event = event_named(s, row.metric), up = row.place ? 0 : UP_TO_ROOT;
        if (event == UINT32_MAX || row.place >= s->e->place_count || lines[row.place] == UINT32_MAX)
            continue;
        place_ix line = lines[row.place];
        for (place_ix at = line; row.place && at != row.place; at = s->e->places[at].parent)
            up++;
        *vec_push(to) = (struct thread_value){.context = s->context[line],
                                              .up = up,
                                              .event = event,
                                              .process = row.who.process,
                                              .thread = row.who.thread,
                                              .name = strtab_add(s->profile->strings, text(s, row.who.name)),
                                              .value = row.value};
    }
    mem_free(lines);
}

/* ---- the whole -------------------------------------------------------------------------------------- */

static int one_run(const struct splitting *s)
{
    if (s->e->run_count == 1)
        return 0;
    return err_set(s->err, ERR_UNSUPPORTED,
                   "%s: a database of %zu runs; only the database of a single run can be compared", s->path,
                   s->e->run_count);
}

static int split(struct splitting *s, struct structures *structures)
{
    if (one_run(s) < 0 || add_scopes(s) < 0)
        return -1;
    add_processes(s);
    if (add_events(s) < 0)
        return -1;
    add_idle_modules(s);
    add_environment(s);
    hpcprof_finish(s->profile);
    for (size_t i = 0; i < s->trees.count; i++)
        structures_add(structures, s->trees.items[i], s->build_id);
    s->trees.count = 0;
    return 0;
}

int metrics_finished_run(const struct experiment *e, const char *path, uint32_t input, struct structures *structures,
                         struct hpcprof **result, struct thread_value_list *threads, struct err *err)
{
    struct splitting s = {.path = path,
                          .e = e,
                          .profile = hpcprof_create(),
                          .module = none_of(e->place_count),
                          .scope = none_of(e->place_count),
                          .context = none_of(e->place_count),
                          .event = none_of(e->metric_count),
                          .build_id = mem_printf("database %u", input),
                          .err = err};
    int status = split(&s, structures);
    if (status == 0)
        add_thread_values(&s, threads);
    for (size_t i = 0; i < s.trees.count; i++)
        scope_tree_free(s.trees.items[i]);
    vec_release(&s.trees);
    mem_free(s.module);
    mem_free(s.scope);
    mem_free(s.context);
    mem_free(s.event);
    mem_free(s.build_id);
    if (status < 0)
        hpcprof_free(s.profile);
    *result = status < 0 ? NULL : s.profile;
    return status;
}
