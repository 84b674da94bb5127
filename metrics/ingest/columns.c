/*
 * Which columns there are. Without measured metrics in the configuration every event is one, of each run; a computed
 * metric finds its operands among the columns before it, else among the events, which then become columns that are not
 * shown.
 */
#include "metrics/ingest/ingest.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

struct run_event {        /* an event of a run, whatever measurement of the run has it */
    uint32_t run, number; /* number: its place in the run's first measurement that has it */
    str_id name, description, unit;
    str_id said; /* what people call it; in full where that would be two events */
    uint64_t period;
    unsigned flags;
};

struct maker {
    const struct config *config;
    const struct input *inputs;
    size_t input_count;
    struct strtab *strings;
    struct columns *columns;
    struct VEC(struct run_event) events;
    struct VEC(const char *) failed; /* names of metrics that have an error: formulas with them tell of no second one */
    struct err_gathered errors;
    struct err *err;
};

static struct run_event *find_event(struct maker *m, uint32_t run, str_id name)
{
    for (size_t i = 0; i < m->events.count; i++)
        if (m->events.items[i].run == run && m->events.items[i].name == name)
            return &m->events.items[i];
    return NULL;
}

static void collect_events(struct maker *m)
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
static const char *without_component(const char *event)
{
    size_t n = strspn(event, "abcdefghijklmnopqrstuvwxyz_");
    return n && strncmp(event + n, "::", 2) == 0 && isalpha((unsigned char)event[n + 2]) ? event + n + 2 : event;
}

static void say_events(struct maker *m)
{
    struct hashmap meant = {0}; /* by what they are called in short: which event, or that there are several */
    const uint32_t several = HASHMAP_NONE - 1;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->events.count; i++) {
            struct run_event *e = &m->events.items[i];
            str_id brief = strtab_add(m->strings, without_component(strtab_get(m->strings, e->name)));
            uint32_t *which = hashmap_put(&meant, brief);
            if (pass == 0)
                *which = *which == HASHMAP_NONE || *which == e->name ? e->name : several;
            else
                e->said = *which == several ? e->name : brief;
        }
    hashmap_release(&meant);
}

static bool is_called(const struct maker *m, const struct run_event *e, const char *name)
{
    return strcmp(strtab_get(m->strings, e->name), name) == 0 || strcmp(strtab_get(m->strings, e->said), name) == 0;
}

uint32_t columns_find(const struct columns *c, str_id name)
{
    for (size_t i = 0; i < c->list.count; i++)
        if (c->list.items[i].metric.name == name)
            return (uint32_t)i;
    return COLUMN_NONE;
}

/* "gcc.CYCLES", or "CYCLES" where there is one run only. */
static str_id name_in_run(struct maker *m, uint32_t run, const char *name)
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

static uint32_t add_measured(struct maker *m, str_id name, const struct run_event *e, const char *where)
{
    struct column c = {.run = e->run, .event = e->name, .where = where};
    c.metric = (struct metric){
        .name = name,
        .display_name = name_in_run(m, e->run, strtab_get(m->strings, e->said)),
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

static int add_every_event(struct maker *m)
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
            str_id name = name_in_run(m, e->run, strtab_get(m->strings, e->name));
            if (columns_find(m->columns, name) != COLUMN_NONE)
                return err_set(m->err, ERR_FORMAT, "two columns would be called '%s'; give the runs other names",
                               strtab_get(m->strings, name));
            add_measured(m, name, e, "");
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
        err_set(m->err, ERR_FORMAT, "%s: no event '%s' was measured; nothing was", given->where, event);
    vec_release(&names);
    buf_release(&list);
    return -1;
}

static void take_wishes(struct maker *m, uint32_t column, const struct config_metric *given, str_id display_name)
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
        if (m->events.items[i].run == run && is_called(m, &m->events.items[i], given->event))
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

static int add_taken(struct maker *m, const struct config_metric *given, str_id name)
{
    return err_set(m->err, ERR_FORMAT, "%s: there is a metric '%s' already", given->where,
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

static int add_configured(struct maker *m, const struct config_metric *given)
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
        str_id name = name_in_run(m, named_run, given->name);
        str_id shown = *given->display_name           ? name_in_run(m, named_run, given->display_name)
                       : is_called(m, e, given->name) ? name_in_run(m, named_run, strtab_get(m->strings, e->said))
                                                      : name;
        uint32_t column = columns_find(m->columns, name);
        if (column == COLUMN_NONE)
            column = add_measured(m, name, e, given->where);
        else if (*m->columns->list.items[column].where || m->columns->list.items[column].event != e->name)
            return add_taken(m, given, name);
        /* else a formula before this made it a column, hidden until now */
        take_wishes(m, column, given, shown);
    }
    if (found && *given->region && !region_known(m, strtab_add(m->strings, given->region)))
        return err_set(m->err, ERR_FORMAT, "%s: no region '%s' was measured", given->where, given->region);
    return found ? 0 : no_such_event(m, given, given->event);
}

static uint32_t operand_statistic(struct maker *, const char *name, uint32_t run);
static uint32_t operand_fact(struct maker *, const char *name);

/* A column's head is a name of it, too, where nothing else is called so: TASK-CLOCK.ratio. */
static uint32_t column_shown_as(const struct columns *c, str_id name)
{
    uint32_t i = 0;
    while (i < c->list.count && c->list.items[i].metric.display_name != name)
        i++;
    return i < c->list.count ? i : COLUMN_NONE;
}

/* The column a formula means by `name`, seen from one run; an event that is no column yet becomes one that is not
 * shown. */
static uint32_t operand_column(struct maker *m, const char *name, uint32_t run)
{
    uint32_t column = columns_find(m->columns, strtab_add(m->strings, name));
    if (column == COLUMN_NONE && run != RUN_ALL)
        column = columns_find(m->columns, name_in_run(m, run, name));
    str_id wanted = strtab_add(m->strings, name);
    for (size_t i = 0; column == COLUMN_NONE && i < m->events.count; i++) {
        struct run_event *e = &m->events.items[i];
        str_id full = name_in_run(m, e->run, strtab_get(m->strings, e->name));
        if (full != wanted && name_in_run(m, e->run, strtab_get(m->strings, e->said)) != wanted &&
            !(run == e->run && is_called(m, e, name)))
            continue;
        column = columns_find(m->columns, full);
        if (column != COLUMN_NONE)
            break;
        column = add_measured(m, full, e, "");
        m->columns->list.items[column].metric.display = false;
    }
    if (column == COLUMN_NONE && (column = operand_statistic(m, name, run)) != COLUMN_NONE)
        m->columns->list.items[column].metric.display = false;
    column = column == COLUMN_NONE ? column_shown_as(m->columns, wanted) : column;
    return column == COLUMN_NONE ? operand_fact(m, name) : column;
}

/* What is known of loops; means are weighed by the first event that is a column. */
static uint32_t add_fact(struct maker *m, uint32_t fact, bool display)
{
    const struct table_column *of = loops_fact(fact);
    str_id name = strtab_printf(m->strings, "loop_%s", of->name);
    uint32_t base = 0, known = columns_find(m->columns, name);
    while (base < m->columns->list.count &&
           (m->columns->list.items[base].expr || m->columns->list.items[base].statistic))
        base++;
    if (known != COLUMN_NONE || base == m->columns->list.count) {
        if (known != COLUMN_NONE)
            m->columns->list.items[known].metric.display |= display;
        return known;
    }
    struct column c = {.statistic = STAT_LOOP, .base = base, .fact = fact, .run = RUN_ALL, .where = ""};
    c.metric = (struct metric){
        .name = name,
        .display_name = name,
        .formula = name,
        .description = strtab_add(m->strings, of->description ? of->description : of->title),
        .unit = strtab_add(m->strings, of->unit ? of->unit : ""),
        .run = RUN_NONE,
        .display = display,
        .exact_total = NAN,
    };
    *vec_push(&m->columns->list) = c;
    return (uint32_t)(m->columns->list.count - 1);
}

static uint32_t operand_fact(struct maker *m, const char *name)
{
    uint32_t fact = m->config->machines ? loops_fact_named(name) : UINT32_MAX;
    return fact == UINT32_MAX ? COLUMN_NONE : add_fact(m, fact, false);
}

static int add_all_facts(struct maker *m)
{
    for (uint32_t i = 0; m->config->machines && i < loops_fact_count(); i++)
        if (loops_fact(i))
            add_fact(m, i, true);
    return 0;
}

static uint32_t add_statistic(struct maker *m, str_id name, enum statistic which, uint32_t base,
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
        .unit = which == STAT_IMBALANCE ? 0
                : which == STAT_COUNT   ? strtab_add(m->strings, parts[over])
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
static uint32_t operand_statistic(struct maker *m, const char *name, uint32_t run)
{
    enum statistic which;
    enum statistic_over over;
    struct buf metric = {0};
    uint32_t base = statistic_parse(name, &which, &metric, &over) ? operand_column(m, metric.bytes, run) : COLUMN_NONE;
    buf_release(&metric);
    if (base == COLUMN_NONE || m->columns->list.items[base].metric.formula)
        return COLUMN_NONE;
    return add_statistic(m, name_in_run(m, run, name), which, base, over);
}

static void add_every_statistic(struct maker *m, enum statistic_over over)
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
                known = add_statistic(m, id, s, i, over);
            m->columns->list.items[known].metric.display = true;
        }
    }
}

/* Of itself, or of what comes below: so there are no cycles. NULL: the configuration has no metric of that name. */
static const struct config_metric *metric_below(const struct maker *m, const char *name)
{
    for (size_t i = 0; i < m->config->metrics.count; i++)
        if (m->config->metrics.items[i].name && strcmp(m->config->metrics.items[i].name, name) == 0)
            return &m->config->metrics.items[i];
    return NULL;
}

/* Of "NEW.TASK-CLOCK" without its quotes the formula reads NEW.TASK: the first name that goes on from there with what
   only stands in quotes. */
static const char *cut_short(const char *name, const char *const *names)
{
    size_t n = strlen(name);
    for (; *names; names++)
        if (str_starts(*names, name) && (*names)[n] && !expr_in_name((*names)[n]))
            return *names;
    return NULL;
}

static int no_such_metric(struct maker *m, const struct config_metric *given, const char *name)
{
    const struct config_metric *below = metric_below(m, name);
    if (below == given)
        return err_set(m->err, ERR_FORMAT, "%s: %s is computed from itself; a formula names metrics above it",
                       given->where, name);
    if (below)
        return err_set(m->err, ERR_FORMAT, "%s: %s: '%s' stands below it (%s); a formula names metrics above it",
                       given->where, given->name, name, below->where);
    struct VEC(const char *) names = {0};
    for (size_t i = 0; i < m->columns->list.count; i++)
        *vec_push(&names) = strtab_get(m->strings, m->columns->list.items[i].metric.name);
    for (size_t i = 0; i < m->events.count; i++)
        *vec_push(&names) = strtab_get(m->strings, m->events.items[i].said);
    for (size_t i = 0; i < m->events.count; i++)
        *vec_push(&names) = strtab_get(m->strings, m->events.items[i].name);
    for (size_t i = 0; i < m->events.count; i++) {
        const struct run_event *e = &m->events.items[i];
        *vec_push(&names) = strtab_get(m->strings, name_in_run(m, e->run, strtab_get(m->strings, e->said)));
    }
    *vec_push(&names) = NULL;
    const char *near = cut_short(name, names.items);
    near = near ? near : expr_metric_nearest(name, names.items);
    struct buf quoted = {0};
    if (near)
        expr_quote_name(&quoted, near);
    if (near && !expr_is_bare_name(near))
        err_set(m->err, ERR_FORMAT,
                "%s: %s: there is no metric '%s' before this one; did you mean %s, with the quotes?", given->where,
                given->name, name, quoted.bytes);
    else if (near)
        err_set(m->err, ERR_FORMAT, "%s: %s: there is no metric '%s' before this one; did you mean %s?", given->where,
                given->name, name, quoted.bytes);
    else
        err_set(m->err, ERR_FORMAT, "%s: %s: there is no metric '%s' before this one%s%s", given->where, given->name,
                name, names.count > 1 ? "; the first there is is " : "", names.count > 1 ? names.items[0] : "");
    buf_release(&quoted);
    vec_release(&names);
    return -1;
}

static int no_such_run(struct maker *m, const struct config_metric *given, const char *name)
{
    struct VEC(const char *) names = {0};
    for (size_t i = 0; i < m->config->runs.count; i++)
        *vec_push(&names) = m->config->runs.items[i].name;
    *vec_push(&names) = NULL;
    const char *near = str_nearest(name, names.items);
    err_set(m->err, ERR_FORMAT, "%s: %s: there is no run '%s'%s%s%s", given->where, given->name, name,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    vec_release(&names);
    return -1;
}

static uint32_t run_named(const struct maker *m, const char *name)
{
    uint32_t run = 0;
    while (run < m->config->runs.count && strcmp(m->config->runs.items[run].name, name) != 0)
        run++;
    return run;
}

/* The column of statistics over the parts of a run is called as formulas call it: mean(CYCLES over threads). */
static uint32_t statistic_column(struct maker *m, const struct expr_operand *o, uint32_t run)
{
    struct expr_operand plain = {.name = o->name, .run = (char *)"", .statistic = o->statistic, .over = o->over};
    struct buf name = {0};
    expr_operand_text(&plain, &name);
    uint32_t column = operand_column(m, name.bytes, run);
    buf_release(&name);
    return column;
}

/* The column that the operand means, seen from one run. */
static uint32_t column_of_operand(struct maker *m, const struct expr_operand *o, uint32_t run)
{
    if (*o->run)
        run = run_named(m, o->run);
    if (*o->run && run == m->config->runs.count)
        return COLUMN_NONE;
    return o->statistic == EXPR_NO_STATISTIC ? operand_column(m, o->name, run) : statistic_column(m, o, run);
}

/* The first operand of the formula that means nothing seen from `run`, or NULL. */
static const struct expr_operand *unknown_operand(struct maker *m, const struct expr *expr, uint32_t run)
{
    for (size_t i = 0; i < expr_name_count(expr); i++)
        if (column_of_operand(m, expr_operand(expr, i), run) == COLUMN_NONE)
            return expr_operand(expr, i);
    return NULL;
}

static int no_such_operand(struct maker *m, const struct config_metric *given, const struct expr_operand *o)
{
    if (*o->run && run_named(m, o->run) == m->config->runs.count)
        return no_such_run(m, given, o->run);
    struct buf text = {0};
    struct expr_operand plain = *o;
    plain.run = (char *)"";
    plain.at = EXPR_HERE;
    plain.form = EXPR_FORM_OWN;
    expr_operand_text(&plain, &text);
    int status = no_such_metric(m, given, o->statistic == EXPR_NO_STATISTIC ? o->name : text.bytes);
    buf_release(&text);
    return status;
}

/* What one run lacks may be another's. */
static int lacks_operand(struct maker *m, const struct config_metric *given, const struct expr_operand *o, uint32_t run)
{
    const struct config_run *runs = m->config->runs.items;
    uint32_t other = 0;
    while (other < m->config->runs.count && column_of_operand(m, o, other) == COLUMN_NONE)
        other++;
    if (*o->run || o->statistic != EXPR_NO_STATISTIC || other == m->config->runs.count)
        return no_such_operand(m, given, o);
    return err_set(m->err, ERR_FORMAT, "%s: %s: the run '%s' has no '%s', which '%s' has; run(%s).M is that of one run",
                   given->where, given->name, runs[run].name, o->name, runs[other].name, runs[other].name);
}

struct operand_names {
    const struct maker *m;
    const uint32_t *operands;
};

static const char *operand_name(void *ctx, size_t operand)
{
    const struct operand_names *n = ctx;
    return strtab_get(n->m->strings, n->m->columns->list.items[n->operands[operand]].metric.name);
}

/* The run that all operands are of; RUN_NONE where they are of several, or there are none. */
static uint32_t run_of_operands(const struct maker *m, const struct column *c)
{
    size_t n = expr_name_count(c->expr);
    uint32_t run = n ? m->columns->list.items[c->operands[0]].metric.run : RUN_NONE;
    for (size_t i = 1; i < n; i++)
        if (m->columns->list.items[c->operands[i]].metric.run != run)
            return RUN_NONE;
    return run;
}

static int bind_units(struct maker *m, const struct config_metric *given, const struct column *c)
{
    struct VEC(const char *) units = {0};
    for (size_t i = 0; i < expr_name_count(c->expr); i++)
        *vec_push(&units) = strtab_get(m->strings, m->columns->list.items[c->operands[i]].metric.unit);
    *vec_push(&units) = "";
    char *what = mem_printf("%s: %s", given->where, given->name);
    int status = expr_bind_units(c->expr, units.items, what, m->err);
    mem_free(what);
    vec_release(&units);
    return status;
}

/* A sum or difference of values of one unit has that unit. */
static str_id unit_of_result(const struct maker *m, const struct column *c)
{
    size_t n = expr_name_count(c->expr);
    str_id unit = n && c->metric.percent ? m->columns->list.items[c->operands[0]].metric.unit : 0;
    for (size_t i = 0; i < n; i++)
        if (m->columns->list.items[c->operands[i]].metric.unit != unit ||
            expr_operand(c->expr, i)->at != EXPR_HERE) /* shares have none */
            return 0;
    return unit;
}

/* What is known of loops does not add up: no place has a part of the program's. */
static bool uses_facts(const struct maker *m, const struct column *c)
{
    bool uses = false;
    for (size_t i = 0; i < expr_name_count(c->expr); i++)
        uses = uses || m->columns->list.items[c->operands[i]].statistic == STAT_LOOP;
    return uses;
}

static int add_computed_in(struct maker *m, const struct config_metric *given, uint32_t run)
{
    size_t n = expr_name_count(given->expr);
    struct column c = {.by_line = given->by_line, .run = run, .where = given->where};
    c.operands = arena_alloc(m->columns->arena, n * sizeof *c.operands);
    for (size_t i = 0; i < n; i++)
        c.operands[i] = column_of_operand(m, expr_operand(given->expr, i), run);
    str_id name = name_in_run(m, run, given->name);
    if (columns_find(m->columns, name) != COLUMN_NONE)
        return add_taken(m, given, name);
    c.expr = expr_copy(given->expr);
    if (bind_units(m, given, &c) < 0) {
        expr_free(c.expr);
        return -1;
    }
    struct operand_names names = {m, c.operands};
    struct buf formula = {0};
    expr_write(c.expr, &formula, operand_name, &names);
    c.metric = (struct metric){
        .name = name,
        .formula = strtab_add(m->strings, formula.bytes),
        .percent = expr_is_linear(given->expr) && !uses_facts(m, &c),
        .has_exclusive = true,
        .exact_total = NAN,
        .run = run_of_operands(m, &c),
    };
    buf_release(&formula);
    for (size_t i = 0; i < n; i++)
        c.metric.estimated = c.metric.estimated || m->columns->list.items[c.operands[i]].metric.estimated;
    c.metric.unit = unit_of_result(m, &c);
    *vec_push(&m->columns->list) = c;
    take_wishes(m, (uint32_t)(m->columns->list.count - 1), given,
                *given->display_name ? name_in_run(m, run, given->display_name) : name);
    return 0;
}

static bool needs_failed(const struct maker *m, const struct expr *expr)
{
    for (size_t i = 0; i < expr_name_count(expr); i++)
        for (size_t k = 0; k < m->failed.count; k++) {
            const char *name = expr_name(expr, i), *failed = m->failed.items[k];
            size_t n = strlen(name), len = strlen(failed);
            if (n >= len && strcmp(name + n - len, failed) == 0 && (n == len || name[n - len - 1] == '.'))
                return true;
        }
    return false;
}

/* With several runs, CYC / INS is gcc.CYC / gcc.INS, clang.CYC / clang.INS, ...: once for each, unless the names are
 * columns as they are. */
static int add_computed(struct maker *m, const struct config_metric *given)
{
    size_t runs = m->config->runs.count;
    const struct expr_operand *unknown = unknown_operand(m, given->expr, runs == 1 ? 0 : RUN_ALL);
    if (!unknown)
        return add_computed_in(m, given, runs == 1 ? 0 : RUN_ALL);
    for (uint32_t run = 0; run < runs; run++)
        if ((unknown = unknown_operand(m, given->expr, run)))
            return lacks_operand(m, given, unknown, run);
    for (uint32_t run = 0; run < runs; run++)
        if (add_computed_in(m, given, run) < 0)
            return -1;
    return 0;
}

/* ---- metric blocks ------------------------------------------------------------------------ */

struct block_adder {
    struct maker *m;
    uint32_t run;
    size_t added;
};

/* A name that is taken stays what it is: level 2 of an analysis has level 1 in it. */
static void add_block_metric(void *ctx, const struct config_metric *metric)
{
    struct block_adder *a = ctx;
    struct config_metric given = *metric;
    uint32_t run = a->m->config->runs.count == 1 ? 0 : a->run;
    a->added++;
    if (columns_find(a->m->columns, name_in_run(a->m, run, given.name)) != COLUMN_NONE ||
        expr_parse(given.formula, given.name, &given.expr, NULL) < 0)
        return;
    if (!unknown_operand(a->m, given.expr, run))
        add_computed_in(a->m, &given, run);
    expr_free(given.expr);
}

/* The block's metrics for each run, by what was measured in it; how many there are. */
static size_t add_block(struct maker *m, const char *name)
{
    struct block_adder a = {.m = m};
    for (; a.run < m->config->runs.count; a.run++) {
        struct VEC(const char *) events = {0};
        for (size_t i = 0; i < m->events.count; i++)
            if (m->events.items[i].run == a.run)
                *vec_push(&events) = strtab_get(m->strings, m->events.items[i].name);
        *vec_push(&events) = NULL;
        blocks_metrics(m->config->known_blocks, name, events.items, add_block_metric, &a);
        vec_release(&events);
    }
    return a.added;
}

static int add_named_block(struct maker *m, const struct config_metric *given, struct warnings *warnings)
{
    const struct blocks *known = m->config->known_blocks;
    if (strcmp(given->block, LOOPS_BLOCK) == 0)
        return add_all_facts(m);
    int status = known ? blocks_check_name(known, given->block, m->err)
                       : err_set(m->err, ERR_SYSTEM, "there are no metric blocks here");
    if (status < 0)
        return *given->where ? err_in(m->err, "%s", given->where) : -1;
    if (add_block(m, given->block) == 0)
        warnings_add(warnings, "nothing of the metric block '%s' can be computed from what was measured", given->block);
    return 0;
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
    return known == COLUMN_NONE ? add_statistic(m, id, STAT_STDDEV, base, STAT_REPETITIONS) : known;
}

/* Of what was measured several times, how far apart the measurements are, too. */
static void add_spreads(struct maker *m)
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
    str_id shown = strtab_add(m->strings, without_component(name));
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
    if (add_computed_in(m, &given, RUN_ALL) == 0) {
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

/* The column of the second run that the one of the first is compared with: of the same event, else of another that says
   the same by another name (perf's task-clock), which is nobody else's; COLUMN_NONE: none. */
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
        warnings_add(
            warnings,
            "%s and %s have no event in common, so there is no difference: the first has %s, the second %s; -m "
            "compares what you name",
            m->config->runs.items[0].name, m->config->runs.items[1].name, events[0].bytes, events[1].bytes);
    buf_release(&events[0]);
    buf_release(&events[1]);
}

static void add_comparisons(struct maker *m, struct warnings *warnings)
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

/* A metric with an error is left out, where all errors are wanted. */
static int add_metric(struct maker *m, const struct config_metric *given, struct warnings *warnings)
{
    bool follows = m->failed.count && given->expr && needs_failed(m, given->expr);
    if (!follows && (*given->block ? add_named_block(m, given, warnings)
                     : given->expr ? add_computed(m, given)
                                   : add_configured(m, given)) == 0)
        return 0;
    *vec_push(&m->failed) = given->name;
    return follows || err_gather(&m->errors, m->err) ? 0 : -1;
}

static size_t parts_of_run(const struct maker *m, uint32_t run, enum statistic_over over)
{
    size_t parts = 0;
    for (size_t i = 0; i < m->input_count; i++)
        if (m->inputs[i].run == run && !m->inputs[i].finished)
            parts += over == STAT_THREADS ? m->inputs[i].profile->thread_count
                     : over == STAT_RANKS ? m->inputs[i].profile->process_count
                                          : 1;
    return parts;
}

/* Of what formulas name: where the run has several parts, and a column of the event. */
static void add_wanted_statistic(struct maker *m, const char *name, uint32_t run)
{
    enum statistic which;
    enum statistic_over over;
    struct buf metric = {0};
    if (statistic_parse(name, &which, &metric, &over) && parts_of_run(m, run, over) > 1) {
        uint32_t base = columns_find(m->columns, strtab_add(m->strings, metric.bytes));
        if (base == COLUMN_NONE)
            base = columns_find(m->columns, name_in_run(m, run, metric.bytes));
        str_id full = name_in_run(m, run, name);
        if (base != COLUMN_NONE && !m->columns->list.items[base].metric.formula &&
            columns_find(m->columns, full) == COLUMN_NONE) {
            add_statistic(m, full, which, base, over);
            m->columns->wanted_count++;
        }
    }
    buf_release(&metric);
}

static void add_wanted(struct maker *m)
{
    const char *const *names = m->config->wanted_statistics;
    for (size_t i = 0; names && names[i]; i++)
        for (uint32_t run = 0; run < m->config->runs.count; run++)
            add_wanted_statistic(m, names[i], run);
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
    collect_events(&m);
    say_events(&m);
    for (size_t i = 0; i < config->failed.count; i++)
        *vec_push(&m.failed) = config->failed.items[i];
    for (size_t i = 0; i < config->metrics.count; i++)
        listed = listed || *config->metrics.items[i].event;
    if (!listed)
        status = add_every_event(&m);
    for (size_t i = 0; status == 0 && i < config->metrics.count; i++)
        if (!is_gate(&config->metrics.items[i]))
            status = add_metric(&m, &config->metrics.items[i], warnings);
    if (status == 0)
        status = err_gathered(&m.errors, err);
    if (status == 0 && config->all_blocks && config->known_blocks)
        add_block(&m, NULL);
    if (status == 0)
        add_spreads(&m);
    if (status == 0 && config->compare)
        add_comparisons(&m, warnings);
    for (enum statistic_over over = 0; status == 0 && over < ARRAY_SIZE(config->statistics); over++)
        if (config->statistics[over])
            add_every_statistic(&m, over);
    for (size_t i = 0; status == 0 && i < config->metrics.count; i++)
        if (is_gate(&config->metrics.items[i])) /* it may name all columns that are shown */
            status = add_metric(&m, &config->metrics.items[i], warnings);
    if (status == 0)
        status = err_gathered(&m.errors, err);
    if (status == 0) {
        settle_sorting(columns);
        columns_make_feeds(columns, config, inputs, input_count, strings, warnings);
        add_wanted(&m);
    }
    vec_release(&m.events);
    vec_release(&m.failed);
    return status;
}

void columns_release(struct columns *c, const struct input *inputs)
{
    for (size_t i = 0; c->feeds && i < c->input_count; i++) {
        for (size_t e = 0; e < inputs[i].profile->event_count; e++)
            vec_release(&c->feeds[i][e]);
        mem_free(c->feeds[i]);
    }
    mem_free(c->feeds);
    for (size_t i = 0; i < c->list.count; i++)
        expr_free(c->list.items[i].expr);
    vec_release(&c->list);
    if (c->arena)
        arena_free(c->arena);
    *c = (struct columns){0};
}
