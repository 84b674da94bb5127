/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of events: those that the configuration selects, or all of them. */
#include "metrics/ingest/columns_int.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

static struct run_event *find_event(struct maker *m, uint32_t run, str_id name)
{
    for (size_t i = 0; i < m->events.count; i++)
        if (m->events.items[i].run == run && m->events.items[i].name == name)
            return &m->events.items[i];
    return NULL;
}

void columns_collect_events(struct maker *m)
{
    for (size_t i = 0; i < m->input_count; i++) {
        const struct hpcprof *p = m->inputs[i].profile;
        for (size_t e = 0; e < p->event_count; e++) {
            str_id name = strtab_add(m->strings, strtab_get(p->strings, p->events[e].name));
            if (p->events[e].flags & HPCPROF_LOST) /* no cost in the program: experiment.c warns of it */
                continue;
            struct run_event *known = find_event(m, m->inputs[i].run, name);
            if (known) {
                known->flags |= p->events[e].flags;
                if (known->period != p->events[e].period)
                    known->flags |= HPCPROF_FREQUENCY; /* no one period to speak of */
                continue;
            }
            *vec_push(&m->events) = (struct run_event){
                .run = m->inputs[i].run,
                .number = (uint32_t)e,
                .name = name,
                .description = strtab_add(m->strings, strtab_get(p->strings, p->events[e].description)),
                .unit = strtab_add(m->strings, strtab_get(p->strings, p->events[e].unit)),
                .period = p->events[e].period,
                .flags = p->events[e].flags,
            };
        }
    }
}

/* "TASK-CLOCK" of "perf::TASK-CLOCK": without PAPI's component in front. */
const char *columns_short_event(const char *event)
{
    size_t n = strspn(event, "abcdefghijklmnopqrstuvwxyz_");
    return n && strncmp(event + n, "::", 2) == 0 && isalpha((unsigned char)event[n + 2]) ? event + n + 2 : event;
}

void columns_name_events(struct maker *m)
{
    struct hashmap meant = {0}; /* by short name: the event, or that there are several */
    const uint32_t several = HASHMAP_NONE - 1;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->events.count; i++) {
            struct run_event *e = &m->events.items[i];
            str_id brief = strtab_add(m->strings, columns_short_event(strtab_get(m->strings, e->name)));
            uint32_t *which = hashmap_put(&meant, brief);
            if (pass == 0)
                *which = *which == HASHMAP_NONE || *which == e->name ? e->name : several;
            else
                e->said = *which == several ? e->name : brief;
        }
    hashmap_release(&meant);
}

bool columns_event_is(const struct maker *m, const struct run_event *e, const char *name)
{
    return strcmp(strtab_get(m->strings, e->name), name) == 0 || strcmp(strtab_get(m->strings, e->said), name) == 0;
}

/* "gcc.CYCLES", or "CYCLES" if there is only one run. */
str_id columns_name_in_run(struct maker *m, uint32_t run, const char *name)
{
    if (m->config->runs.count < 2 || run == RUN_ALL)
        return strtab_add(m->strings, name);
    return strtab_printf(m->strings, "%s.%s", m->config->runs.items[run].name, name);
}

/* How many times the run was measured. */
static uint32_t repetitions_of(const struct maker *m, uint32_t run)
{
    uint32_t most = 1;
    for (size_t i = 0; i < m->input_count; i++)
        if (m->inputs[i].run == run && m->inputs[i].repetition > most)
            most = m->inputs[i].repetition;
    return most;
}

uint32_t columns_add_measured(struct maker *m, str_id name, const struct run_event *e, const char *where)
{
    struct column c = {.run = e->run, .event = e->name, .where = where};
    c.metric = (struct metric){
        .name = name,
        .display_name = columns_name_in_run(m, e->run, strtab_get(m->strings, e->said)),
        .run = e->run,
        .unit = e->unit,
        .description = e->description,
        .event = e->name,
        .period = e->period,
        .percent = true,
        .display = true,
        .estimated = (e->flags & HPCPROF_ESTIMATED) != 0,
        .has_exclusive = true,
        .exact_total = NAN,
        .repetitions = repetitions_of(m, e->run),
    };
    *vec_push(&m->columns->list) = c;
    return (uint32_t)(m->columns->list.count - 1);
}

int columns_add_every_event(struct maker *m)
{
    /* event by event, so that the runs of one event stand side by side */
    for (size_t i = 0; i < m->events.count; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first = first && m->events.items[k].name != m->events.items[i].name;
        for (size_t k = i; first && k < m->events.count; k++) {
            struct run_event *e = &m->events.items[k];
            if (e->name != m->events.items[i].name)
                continue;
            str_id name = columns_name_in_run(m, e->run, strtab_get(m->strings, e->name));
            if (columns_find(m->columns, name) != COLUMN_NONE)
                return err_set(m->err, ERR_FORMAT, "two columns would have the name '%s'; rename the runs",
                               strtab_get(m->strings, name));
            columns_add_measured(m, name, e, "");
        }
    }
    return 0;
}

static int no_such_event(struct maker *m, const struct config_metric *given, const char *event)
{
    struct VEC(const char *) names = {0};
    struct buf list = {0};
    for (size_t i = 0; i < m->events.count; i++) {
        const char *name = strtab_get(m->strings, m->events.items[i].name);
        bool again = false;
        for (size_t k = 0; k < names.count; k++)
            again = again || strcmp(names.items[k], name) == 0;
        if (!again) {
            if (list.len < 300)
                buf_printf(&list, "%s%s", names.count ? ", " : "", name);
            *vec_push(&names) = name;
        }
    }
    *vec_push(&names) = NULL;
    const char *near = expr_metric_nearest(event, names.items);
    if (near)
        err_set(m->err, ERR_FORMAT, "%s: no event '%s' was measured; did you mean '%s'?", given->where, event, near);
    else if (list.len)
        err_set(m->err, ERR_FORMAT, "%s: no event '%s' was measured; available: %s", given->where, event, list.bytes);
    else
        err_set(m->err, ERR_FORMAT, "%s: no event '%s' was measured, nor any other", given->where, event);
    vec_release(&names);
    buf_release(&list);
    return -1;
}

void columns_take_settings(struct maker *m, uint32_t column, const struct config_metric *given, str_id display_name)
{
    struct metric *metric = &m->columns->list.items[column].metric;
    metric->display_name = display_name;
    if (*given->unit)
        metric->unit = strtab_add(m->strings, given->unit);
    if (*given->description)
        metric->description = strtab_add(m->strings, given->description);
    if (given->percent != CHOICE_OPEN)
        metric->percent = given->percent == CHOICE_YES;
    if (given->region && *given->region)
        metric->region = strtab_add(m->strings, given->region);
    metric->display = given->display != CHOICE_NO;
    metric->sort_by = given->sort_by == CHOICE_YES;
}

static struct run_event *chosen_event(struct maker *m, const struct config_metric *given, uint32_t run)
{
    struct run_event *e = find_event(m, run, strtab_add(m->strings, given->event));
    for (size_t i = 0; !e && i < m->events.count; i++)
        if (m->events.items[i].run == run && columns_event_is(m, &m->events.items[i], given->event))
            e = &m->events.items[i];
    char *end;
    if (e || !given->event_number || *given->event < '0' || *given->event > '9')
        return e;
    unsigned long number = strtoul(given->event, &end, 10);
    for (size_t i = 0; *end == '\0' && i < m->events.count; i++)
        if (m->events.items[i].run == run && m->events.items[i].number == number)
            return &m->events.items[i];
    return NULL;
}

int columns_take_metric(struct maker *m, const struct config_metric *given, str_id name)
{
    return err_set(m->err, ERR_FORMAT, "%s: the metric '%s' already exists", given->where,
                   strtab_get(m->strings, name));
}

static bool region_known(const struct maker *m, str_id region)
{
    for (size_t i = 0; i < m->input_count; i++) {
        const struct hpcprof *p = m->inputs[i].profile;
        for (size_t k = 1; k < p->region_count; k++)
            if (strcmp(strtab_get(p->strings, p->regions[k].name), strtab_get(m->strings, region)) == 0)
                return true;
    }
    return false;
}

int columns_add_configured(struct maker *m, const struct config_metric *given)
{
    bool found = false;
    for (uint32_t run = 0; run < m->config->runs.count; run++) {
        if (given->run != RUN_ALL && given->run != run)
            continue;
        struct run_event *e = chosen_event(m, given, run);
        if (!e)
            continue;
        found = true;
        uint32_t named_run = given->run == RUN_ALL ? run : RUN_ALL;
        str_id name = columns_name_in_run(m, named_run, given->name);
        str_id shown = *given->display_name ? columns_name_in_run(m, named_run, given->display_name)
                       : columns_event_is(m, e, given->name)
                           ? columns_name_in_run(m, named_run, strtab_get(m->strings, e->said))
                           : name;
        uint32_t column = columns_find(m->columns, name);
        if (column == COLUMN_NONE)
            column = columns_add_measured(m, name, e, given->where);
        else if (*m->columns->list.items[column].where || m->columns->list.items[column].event != e->name)
            return columns_take_metric(m, given, name);
        /* else a formula before this made it a column, hidden until now */
        columns_take_settings(m, column, given, shown);
    }
    if (found && *given->region && !region_known(m, strtab_add(m->strings, given->region)))
        return err_set(m->err, ERR_FORMAT, "%s: no region '%s' was measured", given->where, given->region);
    return found ? 0 : no_such_event(m, given, given->event);
}
