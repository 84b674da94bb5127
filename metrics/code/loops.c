/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quality/'s results for the sampled innermost loops, as tables: loop_quality, a row for each, and loop_checks, the
 * findings about them.
 *
 * The core that bounds are counted for is the one that this machine has, or the configuration names: measurements do
 * not know their processor's features. The table says which it was.
 */
#include "metrics/code/code.h"

#include <math.h>

/* ---- analysis ------------------------------------------------------------------------ */

const struct machine_core *loops_machine(struct loop_machines *m, bool aarch64, struct warnings *warnings)
{
    struct machine_core **machine = &m->of[aarch64];
    struct err err = {0};
    if (*machine || m->failed[aarch64] || !m->folder)
        return *machine;
    int status = m->named ? machine_core_read(m->named, m->folder, machine, &err)
                          : machine_core_here(m->folder, "/proc/cpuinfo", aarch64, machine, &err);
    if (status < 0) {
        warnings_add(warnings, "%s; the machine code of loops is not analysed", err.msg);
        m->failed[aarch64] = true;
    }
    return *machine;
}

void loops_machines_release(struct loop_machines *m)
{
    machine_core_free(m->of[0]);
    machine_core_free(m->of[1]);
}

/* By scope: is there a sampled address in this loop, and in none inside of it? */
static uint8_t *sampled_loops(struct scope_tree *t, const struct sampled *at)
{
    uint8_t *sampled = mem_calloc(t->scope_count, 1);
    for (size_t i = 0; i < at->count; i++) {
        scope_ix s = scope_tree_enclosing(t, scope_tree_find(t, at->addresses[i]), SCOPE_LOOP);
        if (s != SCOPE_NONE)
            sampled[s] = 1;
    }
    return sampled;
}

/* By scope, the loop's trip count; 0: unknown. */
static double *trips_of_loops(const struct scope_tree *t, const struct sampled *at)
{
    double *trips = mem_calloc(t->scope_count, sizeof *trips);
    for (scope_ix s = 0; at->c && s < t->scope_count; s++)
        if (t->scopes[s].kind == SCOPE_LOOP)
            trips[s] = correlate_trips(at->c, at->module, t->scopes[s].entry);
    return trips;
}

/* By the evidence of strides: a body that takes several numbers where a copy takes fewer. */
static void tell_unrolled(struct scope_tree *t, const struct quality_report *r)
{
    for (size_t i = 0; i < r->loop_count; i++)
        if (r->loops[i].unrolled && t->scopes[r->loops[i].scope].role == LOOP_PLAIN)
            t->scopes[r->loops[i].scope].role = LOOP_UNROLLED;
}

struct quality_report *loops_analyze(struct loop_machines *machines, struct bloop_binary *binary,
                                     struct scope_tree *tree, const struct sampled *at, struct warnings *warnings)
{
    const struct machine_core *machine = loops_machine(machines, bloop_is_aarch64(binary), warnings);
    struct quality_report *report = NULL;
    struct err err = {0};
    if (!machine)
        return NULL;
    uint8_t *sampled = sampled_loops(tree, at);
    double *trips = trips_of_loops(tree, at);
    const struct quality_samples samples = {at->addresses, at->samples, at->count};
    const struct quality_options options = {.machine = machine,
                                            .wanted = sampled,
                                            .trips = trips,
                                            .samples = at->samples ? &samples : NULL,
                                            .tools = machines->llvm};
    if (quality_analyze(binary, tree, &options, &report, warnings, &err) == 0)
        tell_unrolled(tree, report);
    mem_free(sampled);
    mem_free(trips);
    return report;
}

/* ---- rows ------------------------------------------------------------------------------ */

static union table_cell text(struct strtab *strings, const char *s)
{
    return (union table_cell){.text = strtab_add(strings, s)};
}

static union table_cell number(double v)
{
    return (union table_cell){.number = isnan(v) ? v : round(v * 1000) / 1000};
}

static void add_loop(struct table *t, struct strtab *strings, const struct quality_report *r,
                     const struct quality_loop *q, place_ix place)
{
    const union table_cell cells[] = {
        {.row = place},
        text(strings, strtab_get(r->strings, q->summary)),
        text(strings, q->unrolled ? "unrolled" : quality_role_name(q->role)),
        number(100 * q->vector_ratio[MIX_ALL]),
        number(100 * q->vector_ratio[MIX_LOAD]),
        number(100 * q->vector_ratio[MIX_STORE]),
        number(100 * q->vector_ratio[MIX_ADD]),
        number(100 * q->vector_ratio[MIX_MULTIPLY]),
        number(100 * q->vector_ratio[MIX_OTHER]),
        number(100 * q->vector_efficiency[MIX_ALL]),
        number(q->bound),
        number(q->bound_short),
        number(q->trips),
        number(q->ahead),
        text(strings, quality_bound_name(q->bound_by)),
        number(q->cycles[BOUND_FRONT_END]),
        number(q->cycles[BOUND_PORTS]),
        number(q->cycles[BOUND_MEMORY]),
        number(q->cycles[BOUND_DIVIDER]),
        number(q->cycles[BOUND_CHAIN]),
        number(q->cycles[BOUND_STORE_CHAIN]),
        number(q->if_vectorized),
        number(q->if_clean),
        number(q->if_no_chain),
        number(q->if_next),
        number(q->path_instructions),
        number(q->uops),
        number(q->paths),
        number(q->elements),
        number(q->unroll),
        number(q->flops),
        number(q->fma),
        number(q->loaded),
        number(q->stored),
        number(q->intensity),
        number(100 * q->address_share),
        number(q->spills),
        number(q->calls),
        number(q->strides[STRIDE_ONE]),
        number(q->strides[STRIDE_MORE]),
        number(q->strides[STRIDE_INDIRECT]),
        number(q->model),
        text(strings, isnan(q->model) ? "" : strtab_get(r->strings, r->model)),
        text(strings, strtab_get(r->strings, r->assumed)),
        text(strings, strtab_get(r->strings, q->note)),
    };
    _Static_assert(ARRAY_SIZE(cells) == LOOP_QUALITY_COLUMNS, "a cell for each column");
    table_add(t, cells);
}

static void add_check(struct table *t, struct strtab *strings, const struct quality_report *r,
                      const struct quality_check *c, place_ix place)
{
    table_add(t, (union table_cell[]){{.row = place},
                                      text(strings, quality_check_word(c->kind)),
                                      {.number = c->confidence},
                                      number(c->gain),
                                      number(c->gain_low),
                                      text(strings, strtab_get(r->strings, c->found)),
                                      text(strings, strtab_get(r->strings, c->remedy)),
                                      {.count = c->line}});
}

void loops_note(struct correlation *c, const struct quality_report *r, const place_ix *scope_place)
{
    struct table *quality = NULL, *checks = NULL;
    struct err err;
    if (!r || r->loop_count == 0 ||
        table_list_declare(&c->tables, &loops_quality_decl, c->strings, &quality, &err) < 0 ||
        table_list_declare(&c->tables, &loops_checks_decl, c->strings, &checks, &err) < 0)
        return; /* a measurement brought a table of this name: that one is shown */
    for (size_t i = 0; i < r->loop_count; i++)
        if (scope_place[r->loops[i].scope] != PLACE_NONE)
            add_loop(quality, c->strings, r, &r->loops[i], scope_place[r->loops[i].scope]);
    for (size_t i = 0; i < r->check_count; i++) {
        place_ix place = scope_place[r->loops[r->checks[i].loop].scope];
        if (place != PLACE_NONE)
            add_check(checks, c->strings, r, &r->checks[i], place);
    }
}
