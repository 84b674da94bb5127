/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparison of two runs. Places are matched when they are made (correlate.c: by source, not by addresses); here are
 * the meaning of a missing value between runs, the range of chance, and the columns of a comparison.
 *
 * A place that has samples in one run and none in the other cost nothing there, if its module was measured there at
 * all, even without a sample: new hot code, and deleted code, are the purpose of a comparison. Within one run, missing
 * stays missing.
 */
#include "metrics/model/model.h"

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

void measured_create(struct experiment *e)
{
    struct measured *m = e->measured = mem_calloc(1, sizeof *m);
    m->module = mem_alloc(e->place_count * sizeof *m->module);
    for (size_t i = 0; i < e->place_count; i++) { /* places stand below their module, in pre-order */
        m->module_count += e->places[i].kind == PLACE_MODULE;
        m->module[i] = i ? (uint32_t)m->module_count - 1 : UINT32_MAX;
    }
    m->in_run = mem_calloc(e->run_count * m->module_count, 1);
}

void measured_note(struct experiment *e, place_ix place, str_id name)
{
    struct measured *m = e->measured;
    for (size_t run = 0; run < e->run_count && m->module[place] != UINT32_MAX; run++)
        if (had_module(&e->runs[run], name))
            m->in_run[run * m->module_count + m->module[place]] = true;
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

void measured_from_values(struct experiment *e)
{
    measured_create(e);
    for (place_ix i = 1; i < e->place_count; i++) {
        if (e->places[i].kind != PLACE_MODULE)
            continue;
        measured_note(e, i, strtab_add(e->strings, path_base(strtab_get(e->strings, e->places[i].name))));
        for (uint32_t run = 0; run < e->run_count; run++)
            if (has_value(e, run, i))
                e->measured->in_run[run * e->measured->module_count + e->measured->module[i]] = true;
    }
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
    /* samples are counts: their deviation is their root; no sample at all is as uncertain as one */
    double sample = (double)m->period / (m->repetitions > 1 ? m->repetitions : 1);
    return sqrt(fmax(value, sample) * sample);
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
            return err_set(err, ERR_FORMAT, "'%s' has no value: one of its metrics was not measured",
                           strtab_get(e->strings, e->metrics[i].formula));
        *holds = *holds || value > 0;
    }
    return 0;
}
