/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One measurement added to another: how a folder of files becomes one measurement. Equal rows are merged; processes and
 * threads never are. With sums only, counts of threads are added up on the way, so that the result needs memory for
 * distinct rows of code and not for every thread.
 */
#include "hpcprof/format/tables.h"

struct merger {
    struct hpcprof *into;
    const struct hpcprof *from;
    uint32_t *events, *modules, *contexts, *processes, *threads, *regions; /* by row of `from` */
};

static str_id text(const struct merger *m, str_id id)
{
    return strtab_add(m->into->strings, strtab_get(m->from->strings, id));
}

static void merge_events(struct merger *m)
{
    for (size_t i = 0; i < m->from->event_count; i++) {
        struct hpcprof_event e = m->from->events[i];
        e.name = text(m, e.name);
        e.description = text(m, e.description);
        e.unit = text(m, e.unit);
        m->events[i] = hpcprof_add_event(m->into, &e);
    }
}

static void merge_places(struct merger *m)
{
    const struct hpcprof *from = m->from;
    for (size_t i = 0; i < from->module_count; i++)
        m->modules[i] = hpcprof_add_module(m->into, strtab_get(from->strings, from->modules[i].path),
                                           strtab_get(from->strings, from->modules[i].build_id));
    for (size_t i = 0; i < from->context_count; i++) {
        struct hpcprof_context c = from->contexts[i];
        c.parent = c.parent == HPCPROF_NO_PARENT ? HPCPROF_NO_PARENT : m->contexts[c.parent];
        c.module = m->modules[c.module];
        c.procedure = text(m, c.procedure);
        c.file = text(m, c.file);
        c.procedure_file = text(m, c.procedure_file);
        m->contexts[i] = hpcprof_add_context(m->into, &c);
    }
    for (size_t i = 1; i < from->region_count; i++)
        m->regions[i] = hpcprof_add_region(m->into, strtab_get(from->strings, from->regions[i].name),
                                           m->regions[from->regions[i].parent]);
}

static void merge_processes(struct merger *m)
{
    const struct hpcprof *from = m->from;
    for (size_t i = 0; i < from->process_count; i++) {
        struct hpcprof_process p = from->processes[i];
        str_id *texts[] = {&p.source_file, &p.host, &p.command, &p.working_dir, &p.machine, &p.kernel, &p.sampler};
        for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
            *texts[k] = text(m, *texts[k]);
        m->processes[i] = hpcprof_add_process(m->into, &p);
        for (size_t k = 0; k < from->processes[i].thread_count; k++) {
            struct hpcprof_thread t = from->threads[from->processes[i].first_thread + k];
            t.name = text(m, t.name);
            m->threads[from->processes[i].first_thread + k] = hpcprof_add_thread(m->into, &t);
        }
    }
    for (size_t i = 0; i < from->note_count; i++)
        hpcprof_add_note(m->into, &(struct hpcprof_note){m->processes[from->notes[i].process],
                                                         text(m, from->notes[i].name), text(m, from->notes[i].value)});
}

static void merge_counts(struct merger *m, bool summed)
{
    const struct hpcprof *from = m->from;
    for (size_t i = 0; i < from->total_count; i++) {
        const struct hpcprof_total *t = &from->totals[i];
        hpcprof_add_total(m->into, &(struct hpcprof_total){m->threads[t->thread], m->events[t->event], t->value});
    }
    for (size_t i = 0; i < from->count_count; i++) {
        struct hpcprof_count c = from->counts[i];
        c.thread = summed ? 0 : m->threads[c.thread];
        c.context = m->contexts[c.context];
        c.event = m->events[c.event];
        c.region = m->regions[c.region];
        hpcprof_add_count(m->into, &c);
    }
}

/* Sums that are compared with the counters' totals must be by thread: they are computed before threads are merged. */
static void keep_shares(struct merger *m)
{
    struct hpcprof_share *shares = hpcprof_shares(m->from);
    for (uint32_t e = 0; e < m->from->event_count; e++)
        hpcprof_tables_add_share(m->into, m->events[e], shares[e]);
    mem_free(shares);
}

static int merge_tables(struct merger *m, struct err *err)
{
    const struct hpcprof *from = m->from;
    const struct table_mapping mappings[] = {{"context", "context", m->contexts, from->context_count},
                                             {"context.loop", "context.loop", m->contexts, from->context_count},
                                             {"thread", "thread", m->threads, from->thread_count},
                                             {"event", "event", m->events, from->event_count},
                                             {"region", "region", m->regions, from->region_count},
                                             {"process", "process", m->processes, from->process_count}};
    return table_list_merge(&m->into->tables, m->into->strings, &from->tables, mappings, ARRAY_SIZE(mappings), err);
}

int hpcprof_add_all(struct hpcprof *into, const struct hpcprof *from, bool summed, struct err *err)
{
    struct merger m = {.into = into, .from = from};
    uint32_t **rows[] = {&m.events, &m.modules, &m.contexts, &m.processes, &m.threads, &m.regions};
    const size_t counts[] = {from->event_count,   from->module_count, from->context_count,
                             from->process_count, from->thread_count, from->region_count};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        *rows[i] = mem_calloc(counts[i], sizeof **rows[i]);
    merge_events(&m);
    merge_places(&m);
    merge_processes(&m);
    merge_counts(&m, summed);
    if (summed) {
        keep_shares(&m);
        into->rows_read += from->rows_read ? from->rows_read : from->count_count;
    }
    int status = merge_tables(&m, err);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        mem_free(*rows[i]);
    return status;
}
