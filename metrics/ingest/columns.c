/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which columns there are. Without measured metrics in the configuration every event is one, of each run; a computed
 * metric finds its operands among the columns before it, else among the events, which then become columns that are not
 * shown.
 */
#include "metrics/ingest/columns_int.h"

uint32_t columns_find(const struct columns *c, str_id name)
{
    for (size_t i = 0; i < c->list.count; i++)
        if (c->list.items[i].metric.name == name)
            return (uint32_t)i;
    return COLUMN_NONE;
}

static bool is_gate(const struct config_metric *given)
{
    return given->name && strcmp(given->name, CONFIG_GATE) == 0;
}

static void settle_sorting(struct columns *c)
{
    struct column *first = NULL;
    bool chosen = false;
    for (size_t i = c->list.count; i-- > 0;) {
        struct column *column = &c->list.items[i];
        if (!column->metric.display)
            column->metric.sort_by = false;
        else
            first = column;
    }
    for (size_t i = 0; i < c->list.count; i++) {
        struct metric *metric = &c->list.items[i].metric;
        metric->sort_by = metric->sort_by && !chosen;
        chosen = chosen || metric->sort_by;
    }
    if (!chosen && first)
        first->metric.sort_by = true;
}

/* ---- all of them ---------------------------------------------------------------------- */

/* If all errors are collected, a metric with an error is skipped. */
static int add_metric(struct maker *m, const struct config_metric *given, struct warnings *warnings)
{
    bool follows = m->failed.count && given->expr && columns_need_failed(m, given->expr);
    if (!follows && (*given->block ? columns_add_named_block(m, given, warnings)
                     : given->expr ? columns_add_computed(m, given)
                                   : columns_add_configured(m, given)) == 0)
        return 0;
    *vec_push(&m->failed) = given->name;
    return follows || err_gather(&m->errors, m->err) ? 0 : -1;
}

int columns_make(const struct config *config, const struct input *inputs, size_t input_count, struct strtab *strings,
                 struct columns *columns, struct warnings *warnings, struct err *err)
{
    struct maker m = {.config = config,
                      .inputs = inputs,
                      .input_count = input_count,
                      .strings = strings,
                      .columns = columns,
                      .errors = config->errors,
                      .err = err};
    bool listed = false;
    int status = 0;
    *columns = (struct columns){.arena = arena_create()};
    columns_collect_events(&m);
    columns_name_events(&m);
    for (size_t i = 0; i < config->failed.count; i++)
        *vec_push(&m.failed) = config->failed.items[i];
    for (size_t i = 0; i < config->metrics.count; i++)
        listed = listed || *config->metrics.items[i].event;
    if (!listed)
        status = columns_add_every_event(&m);
    for (size_t i = 0; status == 0 && i < config->metrics.count; i++)
        if (!is_gate(&config->metrics.items[i]))
            status = add_metric(&m, &config->metrics.items[i], warnings);
    if (status == 0)
        status = err_gathered(&m.errors, err);
    if (status == 0 && config->all_blocks && config->known_blocks)
        columns_add_block(&m, NULL);
    if (status == 0)
        columns_add_spreads(&m);
    if (status == 0 && config->compare)
        columns_add_comparisons(&m, warnings);
    for (enum statistic_over over = 0; status == 0 && over < ARRAY_SIZE(config->statistics); over++)
        if (config->statistics[over])
            columns_add_every_statistic(&m, over);
    for (size_t i = 0; status == 0 && i < config->metrics.count; i++)
        if (is_gate(&config->metrics.items[i])) /* it may name all columns that are shown */
            status = add_metric(&m, &config->metrics.items[i], warnings);
    if (status == 0)
        status = err_gathered(&m.errors, err);
    if (status == 0) {
        settle_sorting(columns);
        columns_assign_events(columns, config, inputs, input_count, strings, warnings);
        columns_add_wanted(&m);
    }
    vec_release(&m.events);
    vec_release(&m.failed);
    return status;
}

void columns_release(struct columns *c, const struct input *inputs)
{
    for (size_t i = 0; c->event_columns && i < c->input_count; i++) {
        for (size_t e = 0; e < inputs[i].profile->event_count; e++)
            vec_release(&c->event_columns[i][e]);
        mem_free(c->event_columns[i]);
    }
    mem_free(c->event_columns);
    for (size_t i = 0; i < c->list.count; i++)
        expr_free(c->list.items[i].expr);
    vec_release(&c->list);
    if (c->arena)
        arena_free(c->arena);
    *c = (struct columns){0};
}
