/*
 * What quality/ says of the sampled innermost loops, as tables beside places: loop_quality, a row for each, and
 * loop_checks, what is to be said of them.
 *
 * The core that bounds are counted for is the one that this machine has, or the configuration names: measurements do
 * not know their processor's features. The table says which it was.
 */
#include "metrics/metrics_int.h"

#include <math.h>

#define TEXT_COLUMN(word, shown, says)                                                                                 \
    {                                                                                                                  \
        .name = word, .title = shown, .description = says, .type = TABLE_TEXT, .merge = TABLE_LAST                     \
    }
#define NUMBER_COLUMN(word, shown, of, says)                                                                           \
    {                                                                                                                  \
        .name = word, .title = shown, .unit = of, .description = says, .type = TABLE_NUMBER, .merge = TABLE_LAST       \
    }

static const struct table_column quality_columns[] = {
    {.name = "place", .title = "loop", .type = TABLE_REF, .refers = TABLE_FOUND_PLACE, .merge = TABLE_KEY},
    TEXT_COLUMN("summary", "summary", "the loop in one sentence"),
    TEXT_COLUMN("role", "role", "which of one source loop's copies it is"),
    NUMBER_COLUMN("vectorized", "vectorized", "%", "packed instructions of those that could be"),
    NUMBER_COLUMN("vector_load", "vector loads", "%", "of the loads"),
    NUMBER_COLUMN("vector_store", "vector stores", "%", "of the stores"),
    NUMBER_COLUMN("vector_add", "vector additions", "%", "of additions and subtractions"),
    NUMBER_COLUMN("vector_multiply", "vector multiplications", "%", "of multiplications"),
    NUMBER_COLUMN("vector_other", "other vector work", "%", "of other calculations"),
    NUMBER_COLUMN("efficiency", "of widest vectors", "%", "used part of the core's widest vectors"),
    NUMBER_COLUMN(
        "bound", "cycles at least", NULL,
        "of an iteration: what the core allows at best; where it is not known how often the loop goes round, in "
        "long entries"),
    NUMBER_COLUMN("bound_short", "however short", NULL,
                  "the same however few iterations an entry has: then the next ones run beside it, and do not wait"),
    NUMBER_COLUMN("trips", "iterations an entry", NULL, "counted by callgrind --collect-jumps=yes"),
    NUMBER_COLUMN("ahead", "looks ahead", "iterations", "so far the core goes on while a chain waits"),
    TEXT_COLUMN("bound_by", "because of", "the largest of the bounds"),
    NUMBER_COLUMN("front_end", "front end", "cycles", "uops / uops that the core takes in a cycle"),
    NUMBER_COLUMN("ports", "ports", "cycles", "calculations"),
    NUMBER_COLUMN("memory", "loads and stores", "cycles", NULL),
    NUMBER_COLUMN("divider", "divider", "cycles", NULL),
    NUMBER_COLUMN("chain", "chain", "cycles", "values handed from iteration to iteration in registers"),
    NUMBER_COLUMN("store_chain", "chain through memory", "cycles", NULL),
    NUMBER_COLUMN("if_vectorized", "if vectorized", "cycles", "the bound if all was vectorized"),
    NUMBER_COLUMN("if_clean", "without address work", "cycles", NULL),
    NUMBER_COLUMN("if_no_chain", "without the chain", "cycles", NULL),
    NUMBER_COLUMN("if_next", "by the next bound", "cycles", NULL),
    NUMBER_COLUMN("instructions", "instructions", NULL, "of the shortest way through the loop"),
    NUMBER_COLUMN("uops", "uops", NULL, NULL),
    NUMBER_COLUMN("paths", "ways", NULL, "through the loop"),
    NUMBER_COLUMN("elements", "numbers an iteration", NULL, "0: unknown"),
    NUMBER_COLUMN("unroll", "unrolled", NULL, "accesses of a stream in an iteration"),
    NUMBER_COLUMN("flops", "flops", NULL, "of an iteration; a multiply-add is two"),
    NUMBER_COLUMN("fma", "multiply-adds", NULL, "instructions that multiply and add, of an iteration"),
    NUMBER_COLUMN("loaded", "loaded", "bytes", "of an iteration"),
    NUMBER_COLUMN("stored", "stored", "bytes", "of an iteration"),
    NUMBER_COLUMN("intensity", "intensity", "flops/byte", NULL),
    NUMBER_COLUMN("address_share", "address work", "%", "instructions that make addresses and conditions only"),
    NUMBER_COLUMN("spills", "spills", NULL, NULL),
    NUMBER_COLUMN("calls", "calls", NULL, NULL),
    NUMBER_COLUMN("stride_one", "stride one", NULL, "references"),
    NUMBER_COLUMN("stride_more", "larger strides", NULL, "references"),
    NUMBER_COLUMN("indirect", "indirect", NULL, "references"),
    NUMBER_COLUMN("llvm_mca", "by llvm-mca", "cycles", "of an iteration, as llvm-mca simulates it (--llvm-mca)"),
    TEXT_COLUMN("llvm_model", "its model", "of llvm-mca's models of cores the one that was used"),
    TEXT_COLUMN("machine", "core", "whose cycles these are"),
    TEXT_COLUMN("note", "note", "what is not known"),
};
static const struct table_decl quality_decl = {
    "loop_quality", "Loop quality",
    "What the machine code of sampled innermost loops allows; nothing here is measured.", quality_columns,
    ARRAY_SIZE(quality_columns)};

static const struct table_column check_columns[] = {
    {.name = "place", .title = "loop", .type = TABLE_REF, .refers = TABLE_FOUND_PLACE, .merge = TABLE_KEY},
    {.name = "check", .type = TABLE_TEXT, .merge = TABLE_KEY},
    NUMBER_COLUMN("confidence", "confidence", NULL, "0 to 1"),
    NUMBER_COLUMN("gain", "may gain", "%", "of the loop's cycles, by the bounds"),
    TEXT_COLUMN("found", "found", NULL),
    TEXT_COLUMN("remedy", "what to do", NULL),
    {.name = "line", .type = TABLE_COUNT, .merge = TABLE_LAST},
};
static const struct table_decl checks_decl = {
    "loop_checks", "Loop checks", "What there is to be said of the machine code of sampled innermost loops.",
    check_columns, ARRAY_SIZE(check_columns)};

/* ---- analysis ------------------------------------------------------------------------ */

const struct machine_core *loop_machine(struct loop_machines *m, bool aarch64, struct warnings *warnings)
{
    struct machine_core **machine = &m->of[aarch64];
    struct err err = {0};
    if (*machine || m->failed[aarch64] || !m->folder)
        return *machine;
    int status = m->named ? machine_core_read(m->named, m->folder, machine, &err)
                          : machine_core_here(m->folder, "/proc/cpuinfo", aarch64, machine, &err);
    if (status < 0) {
        warnings_add(warnings, "%s; loops are not judged by their machine code", err.msg);
        m->failed[aarch64] = true;
    }
    return *machine;
}

void loop_machines_release(struct loop_machines *m)
{
    machine_core_free(m->of[0]);
    machine_core_free(m->of[1]);
}

/* By scope: is there a sampled address in this loop, and in none inside of it? */
static uint8_t *sampled_loops(struct scope_tree *t, const struct sampled *at)
{
    uint8_t *sampled = mem_calloc(t->scope_count, 1);
    for (size_t i = 0; i < at->count; i++) {
        scope_ix s = scope_tree_find(t, at->addresses[i]);
        while (s != SCOPE_NONE && t->scopes[s].kind != SCOPE_LOOP)
            s = t->scopes[s].parent;
        if (s != SCOPE_NONE)
            sampled[s] = 1;
    }
    return sampled;
}

/* By scope, what is known of the loop's trip count; 0: nothing. */
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
    const struct machine_core *machine = loop_machine(machines, bloop_is_aarch64(binary), warnings);
    struct quality_report *report = NULL;
    struct err err = {0};
    if (!machine)
        return NULL;
    uint8_t *sampled = sampled_loops(tree, at);
    double *trips = trips_of_loops(tree, at);
    const struct quality_options options = {
        .machine = machine, .wanted = sampled, .trips = trips, .tools = machines->llvm};
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
    _Static_assert(ARRAY_SIZE(cells) == ARRAY_SIZE(quality_columns), "a cell for each column");
    table_add(t, cells);
}

static void add_check(struct table *t, struct strtab *strings, const struct quality_report *r,
                      const struct quality_check *c, place_ix place)
{
    table_add(t, (union table_cell[]){{.row = place},
                                      text(strings, quality_check_word(c->kind)),
                                      {.number = c->confidence},
                                      number(c->gain),
                                      text(strings, strtab_get(r->strings, c->found)),
                                      text(strings, strtab_get(r->strings, c->remedy)),
                                      {.count = c->line}});
}

void loops_note(struct correlation *c, const struct quality_report *r, const place_ix *scope_place)
{
    struct table *quality = NULL, *checks = NULL;
    struct err err;
    if (!r || r->loop_count == 0 || table_list_declare(&c->tables, &quality_decl, c->strings, &quality, &err) < 0 ||
        table_list_declare(&c->tables, &checks_decl, c->strings, &checks, &err) < 0)
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

/* ---- columns ------------------------------------------------------------------------- */

#define FACT_PREFIX "loop_"

size_t loops_fact_count(void)
{
    return ARRAY_SIZE(quality_columns);
}

const struct table_column *loops_fact(size_t i)
{
    return quality_columns[i].type == TABLE_NUMBER ? &quality_columns[i] : NULL;
}

uint32_t loops_fact_named(const char *name)
{
    for (uint32_t i = 0; str_starts(name, FACT_PREFIX) && i < ARRAY_SIZE(quality_columns); i++)
        if (loops_fact(i) && strcmp(name + strlen(FACT_PREFIX), quality_columns[i].name) == 0)
            return i;
    return UINT32_MAX;
}

/* Shares and ratios have a mean; cycles or bytes of an iteration of several loops have none. */
static bool has_mean(const struct table_column *c)
{
    return c->unit && (strcmp(c->unit, "%") == 0 || strchr(c->unit, '/'));
}

/* By place: the number of the column; NaN: none. */
static double *facts_of(const struct experiment *e, const struct table *t, uint32_t column)
{
    double *facts = mem_alloc(e->place_count * sizeof *facts);
    for (size_t i = 0; i < e->place_count; i++)
        facts[i] = NAN;
    for (size_t row = 0; row < table_row_count(t); row++) {
        const union table_cell *cells = table_row(t, row);
        if (cells[0].row < e->place_count)
            facts[cells[0].row] = cells[column].number;
    }
    return facts;
}

static void fill_tree(struct experiment *e, size_t tree, size_t metric, const struct column *c, const double *facts)
{
    size_t n = e->trees[tree].node_count;
    double *values = mem_alloc(n * sizeof *values), *sums = mem_calloc(n, sizeof *sums),
           *weights = mem_calloc(n, sizeof *weights);
    bool mean = has_mean(&quality_columns[c->fact]);
    for (size_t i = n; i-- > 0;) {
        uint32_t up = experiment_node_parent(e, tree, (uint32_t)i);
        double own = facts[experiment_node_place(e, tree, (uint32_t)i)];
        double weight = isnan(own) ? NAN : experiment_node_value(e, tree, c->base, (uint32_t)i, VALUE_INCLUSIVE);
        if (weight > 0) {
            sums[i] = own * weight;
            weights[i] = weight;
        }
        values[i] = !isnan(own) ? own : mean && weights[i] > 0 ? sums[i] / weights[i] : NAN;
        if (up != NODE_NONE) {
            sums[up] += sums[i];
            weights[up] += weights[i];
        }
    }
    experiment_set_column(e, tree, metric, VALUE_INCLUSIVE, values);
    mem_free(values);
    mem_free(sums);
    mem_free(weights);
}

void loops_columns(struct experiment *e, const struct columns *columns)
{
    const struct table *t = table_list_find(&e->tables, quality_decl.name);
    for (size_t i = 0; t && i < columns->list.count; i++) {
        const struct column *c = &columns->list.items[i];
        uint32_t column =
            c->statistic == STAT_LOOP ? (uint32_t)table_column_of(t, quality_columns[c->fact].name) : UINT32_MAX;
        if (column >= table_declared(t)->column_count || table_declared(t)->columns[column].type != TABLE_NUMBER ||
            table_declared(t)->columns[0].type != TABLE_REF)
            continue;
        double *facts = facts_of(e, t, column);
        for (size_t tree = 0; tree < e->tree_count; tree++)
            fill_tree(e, tree, i, c, facts);
        mem_free(facts);
    }
}
