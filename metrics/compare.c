/*
 * Two runs side by side. Places are matched when they are made (correlate.c: by what the source says, not by
 * addresses); here is what a missing value means between runs, how far chance goes, and the columns of a comparison.
 *
 * A place that has samples in one run and none in the other cost nothing there, if its module was measured there at
 * all, be it without a sample: new code that is hot, and code that is gone, are what a comparison looks for. Within one run, missing stays
 * missing.
 */
#include "metrics/metrics_int.h"

#include <math.h>

struct measured {     /* which modules were measured in which run */
    uint32_t *module; /* by place: the module it is in, counted from 0; UINT32_MAX: the program */
    size_t module_count;
    bool *in_run; /* [run * module_count + module] */
};

static bool had_module(const struct experiment_run *run, str_id name)
{
    uint32_t i = 0;
    while (i < run->module_count && run->modules[i] != name)
        i++;
    return i < run->module_count;
}

static struct measured *number_modules(struct experiment *e)
{
    struct measured *m = e->measured = mem_calloc(1, sizeof *m);
    m->module = mem_alloc(e->place_count * sizeof *m->module);
    for (size_t i = 0; i < e->place_count; i++) { /* places stand below their module, in pre-order */
        m->module_count += e->places[i].kind == PLACE_MODULE;
        m->module[i] = i ? (uint32_t)m->module_count - 1 : UINT32_MAX;
    }
    return m;
}

/* Has the run a sample in the module? */
static bool has_value(const struct experiment *e, uint32_t run, place_ix module)
{
    bool has = false;
    for (size_t i = 0; i < e->metric_count && !has; i++)
        has = e->metrics[i].run == run && *strtab_get(e->strings, e->metrics[i].event) &&
              !isnan(experiment_value(e, i, module, VALUE_INCLUSIVE));
    return has;
}

void measured_from_database(struct experiment *e)
{
    struct measured *m = number_modules(e);
    m->in_run = mem_calloc(e->run_count * m->module_count, 1);
    for (place_ix i = 1; i < e->place_count; i++) {
        if (e->places[i].kind != PLACE_MODULE)
            continue;
        str_id name = strtab_add(e->strings, path_base(strtab_get(e->strings, e->places[i].name)));
        for (uint32_t run = 0; run < e->run_count; run++)
            m->in_run[run * m->module_count + m->module[i]] = had_module(&e->runs[run], name) || has_value(e, run, i);
    }
}

void measured_make(struct experiment *e, const struct correlation *c, const place_ix *new_of)
{
    struct measured *m = number_modules(e);
    uint32_t *number = mem_alloc(c->modules.count * sizeof *number); /* by module of the measurements */
    memset(number, 0xff, c->modules.count * sizeof *number);
    for (size_t i = 0; i < c->sites.count; i++)
        number[c->sites.items[i].module] = m->module[new_of[c->site_place[i]]];
    m->in_run = mem_calloc(e->run_count * m->module_count, 1);
    for (size_t i = 0; i < c->modules.count; i++) {
        const char *path = strtab_get(c->strings, c->modules.items[i].raw_path);
        str_id name = strtab_add(e->strings, module_base_name(path));
        for (size_t run = 0; run < e->run_count && number[i] != UINT32_MAX; run++)
            if (had_module(&e->runs[run], name))
                m->in_run[run * m->module_count + number[i]] = true;
    }
    mem_free(number);
}

void measured_free(struct measured *m)
{
    if (!m)
        return;
    mem_free(m->module);
    mem_free(m->in_run);
    mem_free(m);
}

bool experiment_measured(const struct experiment *e, uint32_t run, place_ix place)
{
    const struct measured *m = e->measured;
    if (!m || run >= e->run_count)
        return false;
    return m->module[place] == UINT32_MAX || m->in_run[run * m->module_count + m->module[place]];
}

double experiment_error(const struct experiment *e, size_t metric, double value)
{
    const struct metric *m = &e->metrics[metric];
    if (m->period == 0 || m->formula)
        return NAN;
    /* samples are counts: their deviation is their root; of no sample at all one tells as little as none */
    double sample = (double)m->period / (m->repetitions > 1 ? m->repetitions : 1);
    return sqrt(fmax(value, sample) * sample);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* A thread that did less than a twentieth of what the busiest did has no share in the work: one that waits for others. */
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

void compare_columns(const struct config *config, const struct input *inputs, size_t input_count, const char *event,
                     const char *base, const char *new,
                     void (*add)(void *ctx, enum comparison, const char *name, const char *formula), void *ctx)
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

/* ---- a gate ------------------------------------------------------------------------------------ */

int experiment_gate(const struct experiment *e, bool *holds, struct err *err)
{
    *holds = false;
    for (size_t i = 0; i < e->metric_count; i++) {
        const char *name = strtab_get(e->strings, e->metrics[i].name);
        if (strcmp(name, CONFIG_GATE) != 0 && !str_ends(name, "." CONFIG_GATE))
            continue;
        double value = experiment_value(e, i, 0, VALUE_INCLUSIVE);
        if (isnan(value))
            return err_set(err, ERR_FORMAT, "'%s' has no value: something it names was not measured",
                           strtab_get(e->strings, e->metrics[i].formula));
        *holds = *holds || value > 0;
    }
    return 0;
}
