/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The columns of an input's counts: those of their event in its run, inside the column's region; and a column of each
 * thread's own, if requested.
 */
#include "metrics/ingest/ingest.h"

#include <math.h>

struct assigning {
    const struct input *inputs;
    size_t input_count;
    struct strtab *strings;
    struct columns *columns;
};

/* "CYCLES[3]", with several processes "CYCLES[rank.3]". */
static str_id thread_column_name(struct assigning *m, str_id column, const struct hpcprof *p,
                                 const struct hpcprof_thread *t)
{
    const char *name = strtab_get(m->strings, column);
    if (p->process_count < 2 && m->input_count < 2)
        return strtab_printf(m->strings, "%s[%u]", name, t->number);
    int32_t rank = p->processes[t->process].rank;
    if (rank >= 0)
        return strtab_printf(m->strings, "%s[%d.%u]", name, (int)rank, t->number);
    return strtab_printf(m->strings, "%s[p%u.%u]", name, p->processes[t->process].pid, t->number);
}

static uint32_t add_thread_column(struct assigning *m, uint32_t of, const struct hpcprof *p,
                                  const struct hpcprof_thread *t)
{
    struct column c = m->columns->list.items[of];
    const char *thread = strtab_get(p->strings, t->name);
    str_id name = thread_column_name(m, c.metric.name, p, t),
           shown = thread_column_name(m, c.metric.display_name, p, t);
    c.metric.name = name;
    c.metric.display_name = shown;
    for (unsigned k = 2; columns_find(m->columns, c.metric.name) != COLUMN_NONE; k++) {
        c.metric.name = strtab_printf(m->strings, "%s(%u)", strtab_get(m->strings, name), k);
        c.metric.display_name = strtab_printf(m->strings, "%s(%u)", strtab_get(m->strings, shown), k);
    }
    if (*thread)
        c.metric.display_name =
            strtab_printf(m->strings, "%s %s", strtab_get(m->strings, c.metric.display_name), thread);
    c.metric.sort_by = false;
    c.metric.exact_total = NAN;
    c.metric.repetitions = 1;
    c.of_thread = true;
    *vec_push(&m->columns->list) = c;
    return (uint32_t)(m->columns->list.count - 1);
}

static bool belongs_to(const struct assigning *m, size_t input, size_t event, const struct column *c)
{
    const struct hpcprof *p = m->inputs[input].profile;
    return !c->expr && !c->statistic && !c->error && c->run == m->inputs[input].run &&
           !(p->events[event].flags & HPCPROF_LOST) &&
           strcmp(strtab_get(m->strings, c->event), strtab_get(p->strings, p->events[event].name)) == 0;
}

bool *columns_regions_named(struct arena *arena, const struct strtab *strings, const struct hpcprof *p, str_id region)
{
    if (!region)
        return NULL;
    bool *inside = arena_alloc(arena, p->region_count);
    for (size_t i = 1; i < p->region_count; i++) {
        uint32_t parent = p->regions[i].parent;
        inside[i] = strcmp(strtab_get(p->strings, p->regions[i].name), strtab_get(strings, region)) == 0 ||
                    (parent < i && inside[parent]);
    }
    return inside;
}

static bool *regions_named(struct assigning *m, const struct hpcprof *p, str_id region)
{
    return columns_regions_named(m->columns->arena, m->strings, p, region);
}

/* The counters' own totals of a column's event, if every thread of the run that counted the event noted one. */
static void add_exact_totals(struct assigning *m, struct column *c)
{
    double total = 0;
    size_t noted = 0, threads = 0;
    for (size_t i = 0; i < m->input_count; i++) {
        const struct hpcprof *p = m->inputs[i].profile;
        for (size_t e = 0; e < p->event_count; e++) {
            if (!belongs_to(m, i, e, c))
                continue;
            threads += p->thread_count;
            for (size_t k = 0; k < p->total_count; k++)
                if (p->totals[k].event == e) {
                    total += (double)p->totals[k].value;
                    noted++;
                }
        }
    }
    if (noted && noted == threads)
        c->metric.exact_total = total / c->metric.repetitions;
}

static void add_thread_feeds(struct assigning *m, size_t base_columns, struct warnings *warnings)
{
    size_t made = 0;
    for (uint32_t c = 0; c < base_columns; c++)
        for (size_t i = 0; i < m->input_count; i++) {
            const struct hpcprof *p = m->inputs[i].profile;
            if (!m->columns->list.items[c].metric.display || m->inputs[i].finished)
                continue;
            for (size_t e = 0; e < p->event_count; e++) {
                if (!belongs_to(m, i, e, &m->columns->list.items[c]))
                    continue;
                struct event_column f = {.column = c,
                                         .in_region = regions_named(m, p, m->columns->list.items[c].metric.region),
                                         .by_thread =
                                             arena_alloc(m->columns->arena, p->thread_count * sizeof(uint32_t))};
                for (size_t t = 0; t < p->thread_count; t++) {
                    bool room = made < LIMIT_THREAD_COLUMNS;
                    f.by_thread[t] = room ? add_thread_column(m, c, p, &p->threads[t]) : COLUMN_NONE;
                    made++;
                }
                *vec_push(&m->columns->event_columns[i][e]) = f;
            }
        }
    if (made > LIMIT_THREAD_COLUMNS)
        warnings_add(warnings, "%zu columns by thread; only the first %d are shown", made, LIMIT_THREAD_COLUMNS);
}

void columns_assign_events(struct columns *c, const struct config *config, const struct input *inputs,
                           size_t input_count, struct strtab *strings, struct warnings *warnings)
{
    struct assigning m = {inputs, input_count, strings, c};
    size_t base_columns = c->list.count;
    c->event_columns = mem_calloc(input_count, sizeof *c->event_columns);
    c->input_count = input_count;
    for (size_t i = 0; i < input_count; i++) {
        size_t events = inputs[i].profile->event_count;
        c->event_columns[i] = mem_calloc(events, sizeof *c->event_columns[i]);
        for (size_t e = 0; e < events; e++)
            for (uint32_t k = 0; k < base_columns; k++)
                if (belongs_to(&m, i, e, &c->list.items[k]))
                    *vec_push(&c->event_columns[i][e]) = (struct event_column){
                        .column = k, .in_region = regions_named(&m, inputs[i].profile, c->list.items[k].metric.region)};
    }
    for (uint32_t k = 0; k < base_columns; k++)
        if (!c->list.items[k].expr && !c->list.items[k].statistic && !c->list.items[k].error &&
            !c->list.items[k].metric.region)
            add_exact_totals(&m, &c->list.items[k]);
    if (config->per_thread)
        add_thread_feeds(&m, base_columns, warnings);
}
