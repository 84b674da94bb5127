/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operands of formulas in a finished experiment: for values that have no column. The names are those of columns.c:
 * EVENT, with several runs RUN.EVENT, mean(EVENT over threads).
 */
#include "metrics/model/model.h"

/* A name of the metric, without "RUN." if it is of that run. */
static const char *name_within(const struct experiment *e, const struct metric *m, str_id of)
{
    const char *name = strtab_get(e->strings, of);
    if (m->run >= e->run_count)
        return name;
    const char *run = strtab_get(e->strings, e->runs[m->run].name);
    size_t n = strlen(run);
    return str_starts(name, run) && name[n] == '.' && name[n + 1] ? name + n + 1 : name;
}

/* mean(RUN.EVENT over threads) is one of EVENT too: that is how --statistics calls its columns. */
static bool is_statistic(const struct experiment *e, const struct metric *m, const char *wanted)
{
    enum statistic which, asked;
    enum statistic_over over, asked_over;
    struct buf name = {0}, event = {0};
    const char *own = name_within(e, m, m->name);
    bool is = strcmp(own, wanted) == 0;
    if (!is && statistic_parse(own, &which, &name, &over) && statistic_parse(wanted, &asked, &event, &asked_over) &&
        m->run < e->run_count && which == asked && over == asked_over) {
        char *full = mem_printf("%s.%s", strtab_get(e->strings, e->runs[m->run].name), event.bytes);
        is = strcmp(full, name.bytes) == 0;
        mem_free(full);
    }
    buf_release(&name);
    buf_release(&event);
    return is;
}

static bool is_named(const struct experiment *e, const struct metric *m, const char *name)
{
    if (strcmp(strtab_get(e->strings, m->name), name) == 0 || strcmp(name_within(e, m, m->name), name) == 0 ||
        strcmp(name_within(e, m, m->display_name), name) == 0)
        return true;
    return m->formula == 0 && m->region == 0 && strcmp(strtab_get(e->strings, m->event), name) == 0;
}

size_t experiment_find_metric(const struct experiment *e, uint32_t run, const struct expr_operand *o)
{
    struct buf statistic = {0};
    size_t found = SIZE_MAX;
    struct expr_operand plain = {.name = o->name, .run = (char *)"", .statistic = o->statistic, .over = o->over};
    bool plain_name = o->statistic == EXPR_NO_STATISTIC || o->statistic == EXPR_STAT_SUM;
    if (!plain_name)
        expr_operand_text(&plain, &statistic);
    for (size_t i = 0; i < e->metric_count; i++) {
        const struct metric *m = &e->metrics[i];
        if (run != RUN_NONE && m->run != run && m->run != RUN_NONE)
            continue;
        bool is = plain_name ? is_named(e, m, o->name) : is_statistic(e, m, statistic.bytes);
        /* of one run the first: a column by thread has its event too; of all the last run that has it */
        if (is && (found == SIZE_MAX || e->metrics[found].run != m->run))
            found = i;
    }
    buf_release(&statistic);
    return found;
}

void experiment_forget_wanted(struct experiment *e)
{
    size_t kept = e->metric_count - e->wanted_count;
    for (size_t t = 0; t < e->tree_count; t++)
        for (size_t i = kept * VALUE_FORMS; i < e->metric_count * VALUE_FORMS; i++)
            values_free(e->trees[t].columns[i]);
    e->metric_count = kept;
    e->wanted_count = 0;
}

void experiment_children(const struct experiment *e, size_t tree, size_t **first, uint32_t **child)
{
    size_t n = e->trees[tree].node_count;
    *child = mem_alloc((n + 1) * sizeof **child);
    *first =
        mem_calloc(n + 2, sizeof **first); /* one behind: while they are filled, first[i + 1] is where i's next goes */
    for (uint32_t i = 1; i < n; i++)
        (*first)[experiment_node_parent(e, tree, i) + 2]++;
    for (size_t i = 0; i < n; i++)
        (*first)[i + 2] += (*first)[i + 1];
    for (uint32_t i = 1; i < n; i++)
        (*child)[(*first)[experiment_node_parent(e, tree, i) + 1]++] = i;
}

place_ix experiment_enclosing(const struct experiment *e, place_ix place, enum place_kind kind)
{
    while (place != PLACE_NONE && e->places[place].kind != kind)
        place = e->places[place].parent;
    return place;
}

size_t experiment_calls(const struct experiment *e)
{
    for (size_t i = 0; i < e->tree_count; i++)
        if (strcmp(strtab_get(e->strings, e->trees[i].name), TREE_CALLS_NAME) == 0)
            return i;
    return SIZE_MAX;
}
