/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICYCLES, the ideal cycles of HPCView's own example (2001, from pixie there): how often each instruction was executed,
 * times its minimal cost on the core (quality/). An innermost loop's iteration costs its bound, whichever resource
 * limits it; other code costs what the front end takes. All data are assumed in the nearest cache: measured cycles
 * above it are stalls.
 *
 * Loop-carried dependencies limit a loop only if it has many iterations (quality_with_overlap). Trip counts are known
 * if callgrind noted jumps (--collect-jumps=yes); otherwise iterations are assumed to overlap, so that ICYCLES stay
 * below any measurement.
 *
 * It is an event like any other, so that formulas use it (STALL = CYCLES - ICYCLES), and lines, loops and procedures have
 * it. Exact counts of instructions come from callgrind (--dump-instr=yes).
 */
#include "metrics/code/code.h"

#include <math.h>

#define EVENT_EXECUTIONS "Ir" /* of callgrind; by address one each time the instruction there is executed */

struct ideal {
    struct hpcprof *p;
    const struct config *config;
    struct loop_machines machines;
    uint32_t executions, event;   /* events */
    double *iterations, *entries; /* by context: of the loop that begins there */
    double *cycles;               /* by context, of one execution; NaN: not known */
    struct warnings *warnings;
};

static uint32_t event_named(const struct hpcprof *p, const char *name)
{
    for (uint32_t i = 0; i < p->event_count; i++)
        if (strcmp(strtab_get(p->strings, p->events[i].name), name) == 0 && p->events[i].period == 0)
            return i;
    return UINT32_MAX;
}

struct at {
    vaddr address;
    uint32_t context;
};

static int by_address(const void *a, const void *b)
{
    const struct at *x = a, *y = b;
    return order_of(x->address, y->address) ?: order_of(x->context, y->context);
}

struct at_list VEC(struct at);
struct address_list VEC(vaddr);

/* Iterations of an entry, in the mean; 0: not known. */
static double trips_at(const struct ideal *w, const struct at_list *contexts, vaddr header)
{
    size_t i = sorted_front(contexts->count, k, contexts->items[k].address < header);
    double iterations = 0, entries = 0;
    for (; i < contexts->count && contexts->items[i].address == header; i++) {
        iterations += w->iterations[contexts->items[i].context];
        entries += w->entries[contexts->items[i].context];
    }
    return entries > 0 ? iterations / entries : 0;
}

static double cycles_of(const struct ideal *w, const struct at_list *contexts, const struct quality_insn *q)
{
    return q->loop_uops ? quality_with_overlap(q->ideal, q->ideal_apart, q->ahead, trips_at(w, contexts, q->loop))
                        : q->ideal;
}

static void take_cycles(struct ideal *w, const struct quality_listing *l, const struct at_list *contexts)
{
    struct hashmap insns = {0};
    for (uint32_t i = 0; i < l->count; i++)
        *hashmap_put(&insns, l->insns[i].address) = i;
    for (size_t i = 0; i < contexts->count; i++) {
        uint32_t at = hashmap_get(&insns, contexts->items[i].address);
        if (at != HASHMAP_NONE)
            w->cycles[contexts->items[i].context] = cycles_of(w, contexts, &l->insns[at]);
    }
    hashmap_release(&insns);
}

static void cost_functions(struct ideal *w, struct bloop_binary *binary, const struct address_list *addresses,
                           const struct at_list *contexts)
{
    const struct machine_core *machine = loops_machine(&w->machines, bloop_is_aarch64(binary), w->warnings);
    if (!machine)
        return;
    struct quality_listing *l = quality_costs(binary, machine, addresses->items, addresses->count, LIMIT_IDEAL_BYTES);
    take_cycles(w, l, contexts);
    quality_listing_free(l);
}

struct bloop_binary *code_open(const struct hpcprof *p, const struct config *config, uint32_t module)
{
    const struct hpcprof_module *m = &p->modules[module];
    const char *build_id = strtab_get(p->strings, m->build_id);
    char *path = config_replaced(config, strtab_get(p->strings, m->path));
    struct bloop_options options = {.threads = config->threads};
    struct bloop_binary *binary = NULL;
    struct err ignored;
    if (path[0] != '[' && bloop_open(path, &options, &binary, NULL, &ignored) == 0) {
        const char *own = bloop_build_id(binary);
        if (*build_id && *own && strcmp(build_id, own) != 0) {
            bloop_close(binary);
            binary = NULL;
        }
    }
    mem_free(path);
    return binary;
}

static void look_into(struct ideal *w, uint32_t module, struct at_list *contexts)
{
    struct bloop_binary *binary = code_open(w->p, w->config, module);
    struct address_list addresses = {0};
    vec_sort(contexts, by_address);
    for (size_t i = 0; i < contexts->count; i++)
        if (i == 0 || contexts->items[i].address != contexts->items[i - 1].address)
            *vec_push(&addresses) = contexts->items[i].address;
    if (binary) {
        cost_functions(w, binary, &addresses, contexts);
        bloop_close(binary);
    }
    vec_release(&addresses);
}

/* Contexts that instructions were executed at, by module. */
static struct at_list *executed(const struct ideal *w)
{
    const struct hpcprof *p = w->p;
    struct at_list *of = mem_calloc(p->module_count, sizeof *of);
    bool *seen = mem_calloc(p->context_count, 1);
    for (size_t i = 0; i < p->count_count; i++) {
        const struct hpcprof_count *count = &p->counts[i];
        if (count->event != w->executions || count->context >= p->context_count || seen[count->context])
            continue;
        const struct hpcprof_context *c = &p->contexts[count->context];
        seen[count->context] = true;
        if (!c->by_line && c->module < p->module_count)
            *vec_push(&of[c->module]) = (struct at){c->address, count->context};
    }
    mem_free(seen);
    return of;
}

static double *sums_of(const struct hpcprof *p, const char *name)
{
    uint32_t event = event_named(p, name);
    double *sums = mem_calloc(p->context_count, sizeof *sums);
    for (size_t i = 0; i < p->count_count && event != UINT32_MAX; i++)
        if (p->counts[i].event == event && p->counts[i].context < p->context_count)
            sums[p->counts[i].context] += (double)p->counts[i].value;
    return sums;
}

static void add_counts(struct ideal *w)
{
    struct hpcprof *p = w->p;
    const struct hpcprof_event event = {.name = strtab_add(p->strings, EVENT_IDEAL),
                                        .description = strtab_add(p->strings, "executions x minimum cycles"),
                                        .unit = strtab_add(p->strings, "cycles")};
    struct VEC(struct hpcprof_count) counts = {0}; /* adding may put all rows in another order */
    w->event = hpcprof_add_event(p, &event);
    for (size_t i = 0; i < p->count_count; i++) {
        struct hpcprof_count count = p->counts[i];
        double cycles = count.event == w->executions ? (double)count.value * w->cycles[count.context] : NAN;
        count.event = w->event;
        count.samples = 0;
        count.value = cycles < 1e18 ? (uint64_t)(cycles + 0.5) : 0;
        if (count.value)
            *vec_push(&counts) = count;
    }
    for (size_t i = 0; i < counts.count; i++)
        hpcprof_add_count(p, &counts.items[i]);
    vec_release(&counts);
    hpcprof_finish(p);
}

void ideal_cycles_add(struct hpcprof *p, const struct config *config, struct warnings *warnings)
{
    struct ideal w = {.p = p,
                      .config = config,
                      .machines = {.folder = config->machines, .named = config->machine},
                      .executions = event_named(p, EVENT_EXECUTIONS),
                      .warnings = warnings};
    bool known = false;
    if (!config->machines || w.executions == UINT32_MAX || event_named(p, EVENT_IDEAL) != UINT32_MAX)
        return;
    struct at_list *contexts = executed(&w);
    w.iterations = sums_of(p, EVENT_ITERATIONS);
    w.entries = sums_of(p, EVENT_ENTRIES);
    w.cycles = mem_alloc(p->context_count * sizeof *w.cycles);
    for (size_t i = 0; i < p->context_count; i++)
        w.cycles[i] = NAN;
    for (uint32_t i = 0; i < p->module_count; i++) {
        if (contexts[i].count)
            look_into(&w, i, &contexts[i]);
        vec_release(&contexts[i]);
    }
    for (size_t i = 0; i < p->context_count; i++)
        known |= !isnan(w.cycles[i]);
    if (known)
        add_counts(&w);
    mem_free(contexts);
    mem_free(w.cycles);
    mem_free(w.iterations);
    mem_free(w.entries);
    loops_machines_release(&w.machines);
}
