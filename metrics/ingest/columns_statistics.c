/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of statistics: of every shown event, where formulas name them, and for diagnoses. */
#include "metrics/ingest/columns_int.h"

#include <math.h>

uint32_t columns_add_statistic(struct maker *m, str_id name, enum statistic which, uint32_t base,
                               enum statistic_over over)
{
    static const char *const parts[] = {"threads", "processes",
                                        "repetitions"}; /* in the order of enum statistic_over */
    struct column of = m->columns->list.items[base];
    struct column c = {.statistic = which, .over = over, .base = base, .run = of.run, .event = of.event, .where = ""};
    struct buf shown = {0};
    statistic_words(&shown, which, strtab_get(m->strings, of.metric.display_name), over);
    c.metric = (struct metric){
        .name = name,
        .display_name = strtab_add(m->strings, shown.bytes),
        .formula = name,
        .run = of.metric.run,
        .unit = which == STAT_IMBALANCE || which == STAT_ARGMAX ? 0
                : which == STAT_COUNT                           ? strtab_add(m->strings, parts[over])
                                                                : of.metric.unit,
        .estimated = of.metric.estimated,
        .has_exclusive = true,
        .exact_total = NAN,
    };
    buf_release(&shown);
    *vec_push(&m->columns->list) = c;
    return (uint32_t)(m->columns->list.count - 1);
}

/* The column called "mean(CYCLES over threads)", seen from one run; it is made where its metric is measured. */
uint32_t columns_operand_statistic(struct maker *m, const char *name, uint32_t run)
{
    enum statistic which;
    enum statistic_over over;
    struct buf metric = {0};
    uint32_t base = statistic_parse(name, &which, &metric, &over) ? columns_operand(m, metric.bytes, run) : COLUMN_NONE;
    buf_release(&metric);
    if (base == COLUMN_NONE || m->columns->list.items[base].metric.formula)
        return COLUMN_NONE;
    return columns_add_statistic(m, columns_name_in_run(m, run, name), which, base, over);
}

void columns_add_every_statistic(struct maker *m, enum statistic_over over)
{
    size_t measured = m->columns->list.count;
    for (uint32_t i = 0; i < measured; i++) {
        const struct column *c = &m->columns->list.items[i];
        if (c->expr || c->statistic || c->error || !c->metric.display)
            continue;
        for (enum statistic s = STAT_MEAN; s < STATISTICS; s++) {
            struct buf name = {0};
            statistic_name(&name, s, strtab_get(m->strings, m->columns->list.items[i].metric.name), over);
            str_id id = strtab_add(m->strings, name.bytes);
            uint32_t known = columns_find(m->columns, id);
            buf_release(&name);
            if (known == COLUMN_NONE)
                known = columns_add_statistic(m, id, s, i, over);
            m->columns->list.items[known].metric.display = true;
        }
    }
}

/* The column of statistics over the parts of a run is called as formulas call it: mean(CYCLES over threads). */
uint32_t columns_statistic(struct maker *m, const struct expr_operand *o, uint32_t run)
{
    struct expr_operand plain = {.name = o->name, .run = (char *)"", .statistic = o->statistic, .over = o->over};
    struct buf name = {0};
    expr_operand_text(&plain, &name);
    uint32_t column = columns_operand(m, name.bytes, run);
    buf_release(&name);
    return column;
}

uint32_t columns_parts(const struct hpcprof *p, enum statistic_over over)
{
    struct hpcprof_parts parts = hpcprof_parts(p->processes, p->process_count);
    return over == STAT_REPETITIONS ? 1
           : over == STAT_THREADS   ? parts.threads
           : parts.ranks            ? parts.ranks
                                    : parts.processes;
}

static size_t parts_of_run(const struct maker *m, uint32_t run, enum statistic_over over)
{
    size_t parts = 0;
    for (size_t i = 0; i < m->input_count; i++)
        if (m->inputs[i].run == run && !m->inputs[i].finished)
            parts += columns_parts(m->inputs[i].profile, over);
    return parts;
}

bool columns_module_is_mpi(const char *path)
{
    static const char *const names[] = {"libmpi",    "libopen-pal", "libopen-rte", "mca_",   "libucp.so",
                                        "libucs.so", "libuct.so",   "libfabric",   "libpsm", "libpmix"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (str_starts(module_base_name(path), names[i]))
            return true;
    return false;
}

/* Ranks may have MPI linked in. */
static bool uses_mpi(const struct maker *m, uint32_t run)
{
    for (size_t i = 0; i < m->input_count; i++) {
        const struct hpcprof *p = m->inputs[i].profile;
        if (m->inputs[i].run != run || m->inputs[i].finished)
            continue;
        if (hpcprof_parts(p->processes, p->process_count).ranks)
            return true;
        for (size_t k = 0; k < p->module_count; k++)
            if (columns_module_is_mpi(strtab_get(p->strings, p->modules[k].path)))
                return true;
    }
    return false;
}

static uint32_t column_in_run(struct maker *m, const char *name, uint32_t run)
{
    uint32_t column = columns_find(m->columns, strtab_add(m->strings, name));
    return column != COLUMN_NONE ? column : columns_find(m->columns, columns_name_in_run(m, run, name));
}

/* The counts that go to `base` go to `column` too. */
static void share_events(struct maker *m, uint32_t base, uint32_t column)
{
    for (size_t i = 0; i < m->input_count; i++)
        for (size_t e = 0; e < m->inputs[i].profile->event_count; e++) {
            struct event_column_list *list = &m->columns->event_columns[i][e];
            for (size_t k = 0, n = list->count; k < n; k++)
                if (list->items[k].column == base && !list->items[k].by_thread)
                    *vec_push(list) = (struct event_column){.column = column, .in_region = list->items[k].in_region};
        }
}

/* "CYCLES outside MPI" of CYCLES; hidden, as it is for diagnoses. */
static uint32_t column_outside_mpi(struct maker *m, const char *name, uint32_t run)
{
    str_id full = columns_name_in_run(m, run, name);
    uint32_t known = columns_find(m->columns, full);
    if (known != COLUMN_NONE || !str_ends(name, OUTSIDE_MPI) || !uses_mpi(m, run))
        return known;
    char *plain = mem_strndup(name, strlen(name) - strlen(OUTSIDE_MPI));
    uint32_t base = column_in_run(m, plain, run);
    mem_free(plain);
    if (base == COLUMN_NONE || m->columns->list.items[base].metric.formula)
        return COLUMN_NONE;
    struct column c = m->columns->list.items[base];
    c.outside_mpi = true;
    c.metric.name = c.metric.display_name = full;
    c.metric.display = c.metric.sort_by = false;
    c.metric.exact_total = NAN;
    *vec_push(&m->columns->list) = c;
    m->columns->wanted_count++;
    share_events(m, base, (uint32_t)(m->columns->list.count - 1));
    return (uint32_t)(m->columns->list.count - 1);
}

/* Those that formulas name, if the run has several parts, and a column of the event. */
static void add_wanted_statistic(struct maker *m, const char *name, uint32_t run)
{
    enum statistic which;
    enum statistic_over over;
    struct buf metric = {0};
    if (statistic_parse(name, &which, &metric, &over)) {
        uint32_t base = column_in_run(m, metric.bytes, run);
        if (base == COLUMN_NONE)
            base = column_outside_mpi(m, metric.bytes, run);
        str_id full = columns_name_in_run(m, run, name);
        if (base != COLUMN_NONE && parts_of_run(m, run, over) > 1 && !m->columns->list.items[base].metric.formula &&
            columns_find(m->columns, full) == COLUMN_NONE) {
            columns_add_statistic(m, full, which, base, over);
            m->columns->wanted_count++;
        }
    }
    buf_release(&metric);
}

void columns_add_wanted(struct maker *m)
{
    const char *const *names = m->config->wanted_statistics;
    for (size_t i = 0; names && names[i]; i++)
        for (uint32_t run = 0; run < m->config->runs.count; run++)
            add_wanted_statistic(m, names[i], run);
}
