/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns that compare an event of two runs: difference, its error, ratio, and the loss of scaling. */
#include "metrics/ingest/columns_int.h"

#include <math.h>

enum comparison { COMPARE_DIFFERENCE, COMPARE_RATIO, COMPARE_LOSS };

/* A thread that did less than a twentieth of the busiest one's work has no share in it: it waits for others. */
static size_t working_threads(const struct hpcprof *p)
{
    uint64_t most = 0;
    size_t working = 0;
    for (size_t i = 0; i < p->thread_count; i++)
        most = p->threads[i].cpu_ns > most ? p->threads[i].cpu_ns : most;
    for (size_t i = 0; i < p->thread_count; i++)
        working += p->threads[i].cpu_ns >= most / 20;
    return working;
}

static uint32_t threads_of(const struct input *inputs, size_t n, uint32_t run)
{
    size_t threads = 0;
    for (size_t i = 0; i < n; i++) /* of repetitions, the first */
        threads += inputs[i].repetition > 1 ? 0 : inputs[i].run == run ? working_threads(inputs[i].profile) : 0;
    return threads ? (uint32_t)threads : 1;
}

/* The formula of one column of a comparison; both names are in quotes where they need them. */
static char *formula_of(enum comparison what, enum scaling scaling, const char *base, const char *new,
                        const struct input *inputs, size_t n)
{
    switch (what) {
    case COMPARE_DIFFERENCE:
        return mem_printf("%s - %s", new, base);
    case COMPARE_RATIO:
        return mem_printf("%s / %s", new, base);
    default:
        if (scaling == SCALING_WEAK)
            return mem_printf("(%s - %s * %u / %u) / total(%s)", new, base, threads_of(inputs, n, 1),
                              threads_of(inputs, n, 0), new);
        return mem_printf("(%s - %s) / total(%s)", new, base, new);
    }
}

static void metrics_compare_columns(const struct config *config, const struct input *inputs, size_t input_count,
                                    const char *event, const char *base, const char *new,
                                    void (*add)(void *ctx, enum comparison, const char *name, const char *formula),
                                    void *ctx)
{
    static const char *const names[] = {"difference", "ratio", "loss"}; /* in the order of enum comparison */
    struct buf base_name = {0}, new_name = {0};
    expr_quote_name(&base_name, base);
    expr_quote_name(&new_name, new);
    for (enum comparison what = COMPARE_DIFFERENCE; what <= COMPARE_LOSS; what++) {
        if (what == COMPARE_LOSS && config->scaling == SCALING_NONE)
            continue;
        char *name = mem_printf("%s.%s", event, names[what]);
        char *formula = formula_of(what, config->scaling, base_name.bytes, new_name.bytes, inputs, input_count);
        add(ctx, what, name, formula);
        mem_free(name);
        mem_free(formula);
    }
    buf_release(&base_name);
    buf_release(&new_name);
}

/* ---- comparisons ------------------------------------------------------------------------ */

/* The column of the deviation over repetitions; COLUMN_NONE: there are none. */
static uint32_t spread_of(struct maker *m, uint32_t base)
{
    const struct metric *metric = &m->columns->list.items[base].metric;
    if (metric->repetitions < 2)
        return COLUMN_NONE;
    struct buf name = {0};
    statistic_name(&name, STAT_STDDEV, strtab_get(m->strings, metric->name), STAT_REPETITIONS);
    str_id id = strtab_add(m->strings, name.bytes);
    uint32_t known = columns_find(m->columns, id);
    buf_release(&name);
    return known == COLUMN_NONE ? columns_add_statistic(m, id, STAT_STDDEV, base, STAT_REPETITIONS) : known;
}

/* For repeated measurements, also their deviation. */
void columns_add_spreads(struct maker *m)
{
    size_t measured = m->columns->list.count;
    for (uint32_t i = 0; i < measured; i++) {
        const struct column *c = &m->columns->list.items[i];
        if (c->expr || c->statistic || c->error || !c->metric.display || c->metric.repetitions < 2)
            continue;
        uint32_t spread = spread_of(m, i); /* which may move the columns */
        m->columns->list.items[spread].metric.display = true;
    }
}

/* How much of a difference may be chance. */
static void add_error(struct maker *m, const char *difference, const char *shown, uint32_t base)
{
    const uint32_t *operands = m->columns->list.items[base].operands;
    struct column c = {.error = true,
                       .base = base,
                       .run = RUN_ALL,
                       .where = "",
                       .spreads = {spread_of(m, operands[0]), spread_of(m, operands[1])}};
    str_id name = strtab_printf(m->strings, "%s.error", difference);
    c.metric = (struct metric){
        .name = name,
        .display_name = strtab_printf(m->strings, "%s.error", shown),
        .formula = name,
        .run = RUN_NONE,
        .unit = m->columns->list.items[base].metric.unit,
        .display = true,
        .exact_total = NAN,
    };
    *vec_push(&m->columns->list) = c;
}

/* May the difference be chance? */
static bool is_uncertain(const struct maker *m, const struct column *difference)
{
    bool uncertain = false;
    for (size_t i = 0; i < 2; i++) {
        const struct metric *metric = &m->columns->list.items[difference->operands[i]].metric;
        uncertain = uncertain || metric->period || metric->repetitions > 1;
    }
    return uncertain;
}

static void add_comparison(void *ctx, enum comparison what, const char *name, const char *formula)
{
    struct maker *m = ctx;
    enum comparison ranks = m->config->scaling == SCALING_NONE ? COMPARE_DIFFERENCE : COMPARE_LOSS;
    str_id shown = strtab_add(m->strings, columns_short_event(name));
    struct config_metric given = {.name = name,
                                  .display_name = strtab_get(m->strings, shown),
                                  .unit = "",
                                  .description = "",
                                  .event = "",
                                  .formula = formula,
                                  .region = "",
                                  .run_name = "",
                                  .run = RUN_ALL,
                                  .percent = CHOICE_NO,
                                  .sort_by = what == ranks ? CHOICE_YES : CHOICE_OPEN,
                                  .where = name};
    uint32_t column = (uint32_t)m->columns->list.count;
    if (expr_parse(formula, name, &given.expr, NULL) < 0)
        return; /* a name that no formula can hold */
    if (columns_add_computed_in(m, &given, RUN_ALL) == 0) {
        const struct column *added = &m->columns->list.items[column];
        m->columns->list.items[column].metric.has_exclusive = what == COMPARE_DIFFERENCE;
        if (what == COMPARE_DIFFERENCE && is_uncertain(m, added))
            add_error(m, name, strtab_get(m->strings, shown), column);
    }
    expr_free(given.expr);
}

static bool is_measured_in(const struct column *c, uint32_t run)
{
    return !c->expr && !c->statistic && !c->error && c->run == run && c->metric.display;
}

static bool has_event(const struct maker *m, size_t measured, uint32_t run, str_id event)
{
    const struct column *columns = m->columns->list.items;
    for (size_t i = 0; i < measured; i++)
        if (is_measured_in(&columns[i], run) && columns[i].event == event)
            return true;
    return false;
}

/* The column of the second run that the one of the first is compared with: of the same event, else of one with the
   same meaning and another name (perf's task-clock), if that has no partner; COLUMN_NONE: none. */
static uint32_t counterpart_of(const struct maker *m, size_t measured, const struct column *base)
{
    uint32_t by_meaning = COLUMN_NONE;
    for (uint32_t i = 0; i < measured; i++) {
        const struct column *new = &m->columns->list.items[i];
        if (!is_measured_in(new, 1) || new->metric.region != base->metric.region)
            continue;
        if (new->event == base->event)
            return i;
        if (by_meaning == COLUMN_NONE && new->metric.unit == base->metric.unit &&
            blocks_same_quantity(m->config->known_blocks, strtab_get(m->strings, base->event),
                                 strtab_get(m->strings, new->event)) &&
            !has_event(m, measured, 0, new->event))
            by_meaning = i;
    }
    return by_meaning;
}

static void warn_nothing_shared(const struct maker *m, struct warnings *warnings)
{
    struct buf events[2] = {{0}, {0}};
    for (size_t i = 0; i < m->events.count; i++)
        if (m->events.items[i].run < 2) {
            struct buf *b = &events[m->events.items[i].run];
            buf_printf(b, "%s%s", b->len ? ", " : "", strtab_get(m->strings, m->events.items[i].said));
        }
    if (events[0].len && events[1].len)
        warnings_add(warnings,
                     "%s and %s have no event in common: the first has %s, the second %s; compare others with -m",
                     m->config->runs.items[0].name, m->config->runs.items[1].name, events[0].bytes, events[1].bytes);
    buf_release(&events[0]);
    buf_release(&events[1]);
}

void columns_add_comparisons(struct maker *m, struct warnings *warnings)
{
    size_t measured = m->columns->list.count, compared = 0;
    for (size_t i = 0; i < measured; i++) {
        const struct column *base = &m->columns->list.items[i];
        uint32_t with = is_measured_in(base, 0) ? counterpart_of(m, measured, base) : COLUMN_NONE;
        if (with == COLUMN_NONE)
            continue;
        compared++;
        metrics_compare_columns(m->config, m->inputs, m->input_count, strtab_get(m->strings, base->event),
                                strtab_get(m->strings, base->metric.name),
                                strtab_get(m->strings, m->columns->list.items[with].metric.name), add_comparison, m);
    }
    if (compared == 0)
        warn_nothing_shared(m, warnings);
}
