/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics over the threads or ranks of a run: mean(CYCLES over threads), imbalance(CYCLES over ranks).
 *
 * A statistic at a place is one of each thread's inclusive cost there, so it cannot be computed from the sums: the
 * measurements are read a second time, file by file, each thread's counts are summed up the tree, and only the data
 * that the statistics need are kept. Threads without cost at a place count there as 0 (a thread that takes no part in a
 * loop is an imbalance), except for `count`, the number of threads with some cost. In the tree of calls the same is
 * done by node, a context's being that of the innermost frame.
 *
 * A rank is identified by its number: the costs of its processes (a shell, numactl, the program), which are read one after the
 * other, are added. In a run with ranks, processes without one are launchers and do not count; in a run without, every
 * process is a rank.
 */
#include "metrics/join/join.h"

#include "filters/filters.h"

#include <math.h>
#include <stdlib.h>

/* ---- what is kept of all threads ---------------------------------------------------------- */

struct spread {                /* of one node, or of its own lines; whole numbers, which add up in any order */
    unsigned __int128 squares; /* below the square of the sum, which fits 64 bits: experiment.c has seen to that */
    uint64_t sum, least, most;
    uint32_t count, most_part; /* most_part: of equal ones the first */
};

struct gathering { /* one metric over one kind of part, in one tree */
    uint32_t base;
    size_t tree;
    enum statistic_over over;
    struct spread *spreads[VALUE_FORMS];
    uint32_t parts; /* threads or ranks of the run, with data or without */
    /* of the part at hand */
    int32_t rank; /* of a run with ranks: whose processes are being added up; -1: none */
    uint64_t *values[VALUE_FORMS];
    struct VEC(uint32_t) touched;
    bool *inside;  /* by region of the measurement at hand; NULL: all */
    uint8_t *kept; /* by place: each part's value becomes a row of the table of threads; NULL: none does */
};

struct reading {
    struct experiment *e;
    struct correlation *c;
    const struct config *config;
    const struct columns *columns;
    const place_ix *new_of;
    size_t sites, calls;           /* those that have a place, a node */
    uint32_t run, processes, seen; /* of the run, in inputs before this one; of this one, in files before this one */
    bool ranks;                    /* the run has some: processes without one are launchers */
    bool paths;                    /* the input has some */
    const struct input *finished;  /* the measurement was a database; or NULL */
    struct table *by_thread;       /* NULL: not requested */
    struct VEC(struct gathering) list;
};

static void touch(struct gathering *g, uint32_t node)
{
    if (g->values[VALUE_INCLUSIVE][node] == 0)
        *vec_push(&g->touched) = node;
}

/* A LINE's counts go to all its ancestors; its exclusive part to itself and to its parent. */
static void add_at(struct gathering *g, const struct experiment *e, uint32_t line, uint64_t value)
{
    uint32_t parent = experiment_node_parent(e, g->tree, line);
    if (value == 0)
        return;
    for (uint32_t up = line; up != NODE_NONE; up = experiment_node_parent(e, g->tree, up)) {
        touch(g, up);
        g->values[VALUE_INCLUSIVE][up] += value;
    }
    g->values[VALUE_EXCLUSIVE][line] += value;
    if (parent != NODE_NONE)
        g->values[VALUE_EXCLUSIVE][parent] += value;
}

static void take_most(struct spread *s, uint64_t value, uint32_t part)
{
    if (value < s->most || (value == s->most && part >= s->most_part))
        return;
    s->most = value;
    s->most_part = part;
}

static void add_value(struct spread *s, uint64_t value, uint32_t part)
{
    if (value == 0)
        return;
    s->sum += value;
    s->squares += (unsigned __int128)value * value;
    s->least = s->count == 0 || value < s->least ? value : s->least;
    take_most(s, value, part);
    s->count++;
}

/* The thread's cost at the places that are kept; in the whole program also if it is zero. */
static void note_thread(struct reading *r, struct gathering *g, const struct hpcprof *p, uint32_t thread)
{
    const struct hpcprof_thread *t = &p->threads[thread];
    int32_t rank = p->processes[t->process].rank;
    struct thread_values_of who = {.process = rank >= 0 ? (uint32_t)rank : r->processes + r->seen + t->process,
                                   .thread = t->number,
                                   .name = strtab_add(r->e->strings, strtab_get(p->strings, t->name))};
    struct VEC(place_ix) places = {0};
    *vec_push(&places) = 0;
    for (size_t i = 0; i < g->touched.count; i++)
        if (g->touched.items[i] && g->kept[g->touched.items[i]])
            *vec_push(&places) = g->touched.items[i];
    vec_sort(&places, order_u32);
    for (size_t i = 0; i < places.count; i++)
        thread_values_note(r->e, r->by_thread, g->base, &who, places.items[i],
                           g->values[VALUE_INCLUSIVE][places.items[i]]);
    vec_release(&places);
}

/* The thread or rank is complete: its costs become part of the spreads if it counts. */
static void end_part(struct gathering *g, bool counts)
{
    uint32_t part = g->rank >= 0 ? (uint32_t)g->rank : g->parts;
    for (size_t i = 0; i < g->touched.count; i++)
        for (enum value_form form = 0; form < VALUE_FORMS; form++) {
            uint32_t node = g->touched.items[i];
            add_value(&g->spreads[form][node], counts ? g->values[form][node] : 0, part);
            g->values[form][node] = 0;
        }
    g->touched.count = 0;
    g->parts += counts;
    g->rank = -1;
}

/* What comes next is of this process: another rank's values are complete. */
static void begin_process(const struct reading *r, struct gathering *g, const struct hpcprof_process *p)
{
    if (g->rank >= 0 && g->rank != p->rank)
        end_part(g, true);
    if (g->over == STAT_RANKS && r->ranks)
        g->rank = p->rank;
}

static bool is_launcher(const struct reading *r, const struct hpcprof_process *p)
{
    return r->ranks && p->rank < 0;
}

/* ---- one measurement ------------------------------------------------------------------------- */

static bool is_event(const struct reading *r, const struct gathering *g, const struct hpcprof *p, uint32_t event)
{
    const struct column *c = &r->columns->list.items[g->base];
    return strcmp(strtab_get(r->e->strings, c->event), strtab_get(p->strings, p->events[event].name)) == 0 &&
           !(p->events[event].flags & HPCPROF_LOST);
}

static uint32_t part_of(const struct hpcprof *p, const struct gathering *g, uint32_t thread)
{
    return g->over == STAT_THREADS ? thread : p->threads[thread].process;
}

/* Of a column without what is inside of MPI. */
static bool is_left_out(const struct reading *r, const struct gathering *g, const struct context_sites *known,
                        uint32_t context)
{
    uint32_t site = known->sites[context], call = known->calls ? known->calls[context] : CALL_NONE;
    return r->columns->list.items[g->base].outside_mpi && site < r->sites && (call == CALL_NONE || call < r->calls) &&
           metrics_in_mpi(r->c, site, call);
}

/* The node of a context's own line. */
static uint32_t node_of(const struct reading *r, const struct gathering *g, const struct context_sites *known,
                        uint32_t context)
{
    uint32_t site = known->sites[context], call = known->calls ? known->calls[context] : CALL_NONE;
    if (g->tree == TREE_SCOPES)
        return site < r->sites ? r->new_of[r->c->site_place[site]] : NODE_NONE;
    return call < r->calls ? r->c->call_node[call] : NODE_NONE;
}

static void add_count(struct reading *r, struct gathering *g, const struct hpcprof *p,
                      const struct context_sites *known, const struct hpcprof_count *count)
{
    uint32_t node = node_of(r, g, known, count->context);
    if (is_event(r, g, p, count->event) && (!g->inside || g->inside[count->region]) && node != NODE_NONE &&
        !is_left_out(r, g, known, count->context))
        add_at(g, r->e, node, count->value);
}

static void gather_counts(struct reading *r, struct gathering *g, const struct hpcprof *p,
                          const struct context_sites *known)
{
    size_t at = 0, parts = g->over == STAT_THREADS ? p->thread_count : p->process_count;
    for (uint32_t part = 0; part < parts; part++) {
        const struct hpcprof_process *of = &p->processes[g->over == STAT_THREADS ? p->threads[part].process : part];
        begin_process(r, g, of);
        for (; at < p->count_count && part_of(p, g, p->counts[at].thread) == part; at++)
            add_count(r, g, p, known, &p->counts[at]);
        if (g->kept && !is_launcher(r, of))
            note_thread(r, g, p, part);
        if (g->rank < 0)
            end_part(g, !is_launcher(r, of));
    }
}

/* A whole measurement is a part of a repetition, which ends with the input. */
static void gather_repetition(struct reading *r, struct gathering *g, const struct hpcprof *p,
                              const struct context_sites *known)
{
    for (size_t i = 0; i < p->count_count; i++)
        add_count(r, g, p, known, &p->counts[i]);
}

/* ---- a database: threads' values at the places where they were kept ---- */

struct part_of_database {
    const struct thread_value *value;
    uint32_t node;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part_of_database *x = a, *y = b;
    return order_of(x->value->process, y->value->process)
               ?: order_of(x->value->thread, y->value->thread)
               ?: order_of(x->node, y->node);
}

static uint32_t node_of_value(const struct reading *r, const struct gathering *g, const struct context_sites *known,
                              const struct thread_value *v)
{
    uint32_t node = v->up == UP_TO_ROOT ? 0 : node_of(r, g, known, v->context);
    for (uint32_t up = v->up; up > 0 && up != UP_TO_ROOT && node != NODE_NONE; up--)
        node = experiment_node_parent(r->e, g->tree, node);
    return node;
}

static void add_part(struct reading *r, struct gathering *g, const struct hpcprof *p,
                     const struct part_of_database *part)
{
    const struct thread_value *v = part->value;
    struct thread_values_of who = {v->process, v->thread, strtab_add(r->e->strings, strtab_get(p->strings, v->name))};
    uint64_t value = v->value >= 0 && v->value < 0x1p63 ? (uint64_t)(v->value + 0.5) : 0;
    if (g->kept)
        thread_values_note(r->e, r->by_thread, g->base, &who, part->node, value);
    if (value == 0)
        return;
    touch(g, part->node);
    g->values[VALUE_INCLUSIVE][part->node] += value;
    if (r->e->places[part->node].kind == PLACE_LINE)
        g->values[VALUE_EXCLUSIVE][part->node] += value;
}

static void gather_kept(struct reading *r, struct gathering *g, const struct hpcprof *p,
                        const struct context_sites *known)
{
    struct VEC(struct part_of_database) list = {0};
    uint32_t parts = columns_parts(p, g->over), before = g->parts;
    for (size_t i = 0; i < r->finished->threads.count && g->tree == TREE_SCOPES; i++) {
        const struct thread_value *v = &r->finished->threads.items[i];
        uint32_t node = is_event(r, g, p, v->event) && !g->inside ? node_of_value(r, g, known, v) : NODE_NONE;
        if (node != NODE_NONE)
            *vec_push(&list) = (struct part_of_database){v, node};
    }
    vec_sort(&list, compare_parts);
    for (size_t i = 0; i < list.count; i++) {
        const struct thread_value *v = list.items[i].value, *next = i + 1 < list.count ? list.items[i + 1].value : NULL;
        add_part(r, g, p, &list.items[i]);
        if (!next || next->process != v->process || (g->over == STAT_THREADS && next->thread != v->thread))
            end_part(g, true);
    }
    if (list.count && g->parts < before + parts) /* no row means no cost */
        g->parts = before + parts;
    vec_release(&list);
}

static void gather_finished(struct reading *r, struct gathering *g, const struct hpcprof *p,
                            const struct context_sites *known)
{
    bool launched = g->over != STAT_REPETITIONS && p->process_count > 1; /* whose counts are not the rank's alone */
    if (columns_parts(p, g->over) == 1 && !launched)
        gather_counts(r, g, p, known);
    else
        gather_kept(r, g, p, known);
}

static int not_alike(struct err *err)
{
    return err_set(
        err, ERR_FORMAT,
        "the ranks found different scopes; do all of their machines have the same measurements, binaries and sources?");
}

/* ---- a repetition's values, of the files that each rank has seen ---- */

struct repetition {
    struct reading *r;
    uint32_t run;
};

/* NULL: no (more) repetition of the run is gathered from `i` on. */
static struct gathering *repeated(const struct repetition *p, size_t *i)
{
    for (; *i < p->r->list.count; ++*i) {
        struct gathering *g = &p->r->list.items[*i];
        if (g->over == STAT_REPETITIONS && p->r->columns->list.items[g->base].run == p->run)
            return g;
    }
    return NULL;
}

static void pack_repetition(void *ctx, struct buf *out)
{
    struct gathering *g;
    for (size_t i = 0; (g = repeated(ctx, &i)); i++) {
        buf_uleb(out, g->touched.count);
        for (size_t k = 0; k < g->touched.count; k++) {
            buf_uleb(out, g->touched.items[k]);
            for (enum value_form form = 0; form < VALUE_FORMS; form++)
                buf_uleb(out, g->values[form][g->touched.items[k]]);
        }
    }
}

static int add_repetition(void *ctx, const void *bytes, size_t len, struct err *err)
{
    const struct repetition *p = ctx;
    struct cursor c = cursor_make(bytes, len);
    struct gathering *g;
    for (size_t i = 0; (g = repeated(p, &i)); i++)
        for (uint64_t n = cursor_uleb(&c); n > 0; n--) {
            uint64_t node = cursor_uleb(&c);
            if (c.bad || node >= p->r->e->trees[g->tree].node_count)
                return not_alike(err);
            touch(g, (uint32_t)node);
            for (enum value_form form = 0; form < VALUE_FORMS; form++)
                g->values[form][node] += cursor_uleb(&c);
        }
    return 0;
}

static int end_repetition(struct reading *r, uint32_t run, struct err *err)
{
    struct repetition p = {r, run};
    struct gathering *g;
    size_t first = 0;
    if (!repeated(&p, &first))
        return 0;
    if (ranks_unite(r->config->ranks, &(struct ranks_work){&p, pack_repetition, add_repetition, NULL}, err) < 0)
        return -1;
    for (size_t i = 0; (g = repeated(&p, &i)); i++)
        end_part(g, true);
    return 0;
}

static void gather_measurement(void *ctx, const struct hpcprof *p)
{
    struct reading *r = ctx;
    struct context_sites known = ingest_contexts(r->c, r->config, p, r->run, r->paths);
    for (size_t i = 0; i < r->list.count; i++) {
        struct gathering *g = &r->list.items[i];
        const struct column *base = &r->columns->list.items[g->base];
        if (base->run != r->run)
            continue;
        struct arena *arena = arena_create();
        g->inside = columns_regions_named(arena, r->e->strings, p, base->metric.region);
        if (g->over == STAT_REPETITIONS)
            gather_repetition(r, g, p, &known);
        else if (r->finished)
            gather_finished(r, g, p, &known);
        else
            gather_counts(r, g, p, &known);
        arena_free(arena);
    }
    r->seen += (uint32_t)p->process_count;
    mem_free(known.sites);
    mem_free(known.calls);
}

/* ---- columns ------------------------------------------------------------------------------------ */

static double statistic_of(enum statistic which, const struct spread *s, uint32_t parts)
{
    double mean = (double)s->sum / parts, variance = (double)s->squares / parts - mean * mean;
    switch (which) {
    case STAT_MEAN:
        return mean;
    case STAT_MIN:
        return s->count < parts ? 0 : (double)s->least;
    case STAT_MAX:
        return (double)s->most;
    case STAT_STDDEV:
        return variance > 0 ? sqrt(variance) : 0;
    case STAT_IMBALANCE:
        return (double)s->most / mean - 1;
    case STAT_COUNT:
        return s->count;
    case STAT_ARGMAX:
        return s->most_part;
    default:
        return NAN;
    }
}

static void set_columns(struct experiment *e, const struct columns *columns, const struct gathering *g, double *dense)
{
    for (size_t i = 0; i < columns->list.count; i++) {
        const struct column *c = &columns->list.items[i];
        if (c->statistic == STAT_NONE || c->statistic == STAT_LOOP || c->base != g->base || c->over != g->over)
            continue;
        for (enum value_form form = 0; form < VALUE_FORMS; form++) {
            for (size_t k = 0; k < e->trees[g->tree].node_count; k++)
                dense[k] = g->spreads[form][k].count ? statistic_of(c->statistic, &g->spreads[form][k], g->parts) : NAN;
            experiment_set_column(e, g->tree, i, form, dense);
        }
    }
}

static struct gathering *find_gathering(struct reading *r, size_t tree, uint32_t base, enum statistic_over over)
{
    for (size_t i = 0; i < r->list.count; i++)
        if (r->list.items[i].tree == tree && r->list.items[i].base == base && r->list.items[i].over == over)
            return &r->list.items[i];
    return NULL;
}

static struct gathering *gathering_of(struct reading *r, size_t tree, uint32_t base, enum statistic_over over)
{
    struct gathering *known = find_gathering(r, tree, base, over);
    size_t n = r->e->trees[tree].node_count;
    if (known)
        return known;
    struct gathering g = {.base = base, .over = over, .tree = tree, .rank = -1};
    for (enum value_form form = 0; form < VALUE_FORMS; form++) {
        g.spreads[form] = mem_calloc(n, sizeof *g.spreads[form]);
        g.values[form] = mem_calloc(n, sizeof *g.values[form]);
    }
    *vec_push(&r->list) = g;
    return &r->list.items[r->list.count - 1];
}

static size_t threads_of(const struct input *inputs, size_t n, uint32_t run)
{
    size_t threads = 0;
    for (size_t i = 0; i < n; i++)
        threads += inputs[i].run == run && (!inputs[i].finished || inputs[i].threads.count)
                       ? inputs[i].profile->thread_count
                       : 0;
    return threads;
}

/* Shown, measured, and of a run of several threads: their values are worth a plot. */
static bool has_threads(const struct column *c, const struct input *inputs, size_t n)
{
    return !c->expr && !c->error && !c->of_thread && c->statistic == STAT_NONE && c->metric.display &&
           threads_of(inputs, n, c->run) > 1;
}

static int begin_threads(struct reading *r, const struct input *inputs, size_t n, struct err *err)
{
    size_t metrics = 0;
    for (uint32_t i = 0; i < r->columns->list.count; i++)
        metrics += has_threads(&r->columns->list.items[i], inputs, n);
    if (metrics && thread_values_declare(r->e, &r->by_thread, err) < 0)
        return -1;
    for (uint32_t i = 0; metrics && i < r->columns->list.count; i++) {
        const struct column *c = &r->columns->list.items[i];
        if (has_threads(c, inputs, n))
            gathering_of(r, TREE_SCOPES, i, STAT_THREADS)->kept =
                thread_values_places(r->e, i, threads_of(inputs, n, c->run), metrics);
    }
    return 0;
}

static int begin(struct reading *r, const struct input *inputs, size_t n, struct err *err)
{
    size_t calls = r->c->call_node ? experiment_calls(r->e) : SIZE_MAX;
    for (size_t i = 0; i < r->columns->list.count; i++) {
        const struct column *c = &r->columns->list.items[i];
        if (c->statistic == STAT_LOOP)
            continue;
        if (c->statistic != STAT_NONE)
            gathering_of(r, TREE_SCOPES, c->base, c->over);
        if (c->statistic != STAT_NONE && calls != SIZE_MAX)
            gathering_of(r, calls, c->base, c->over);
    }
    return r->config->thread_values ? begin_threads(r, inputs, n, err) : 0;
}

static void end(struct reading *r)
{
    for (size_t i = 0; i < r->list.count; i++) {
        struct gathering *g = &r->list.items[i];
        double *dense = mem_alloc(r->e->trees[g->tree].node_count * sizeof *dense);
        set_columns(r->e, r->columns, g, dense);
        mem_free(dense);
        for (enum value_form form = 0; form < VALUE_FORMS; form++) {
            mem_free(g->spreads[form]);
            mem_free(g->values[form]);
        }
        vec_release(&g->touched);
        mem_free(g->kept);
    }
    vec_release(&r->list);
}

/* ---- ranks: each has seen its part of the files ----------------------------------------------- */

static void put_spread(struct buf *out, uint32_t node, const struct spread *s)
{
    buf_uleb(out, node);
    buf_uleb(out, (uint64_t)(s->squares >> 64));
    buf_uleb(out, (uint64_t)s->squares);
    buf_uleb(out, s->sum);
    buf_uleb(out, s->least);
    buf_uleb(out, s->most);
    buf_uleb(out, s->count);
    buf_uleb(out, s->most_part);
}

static void add_spread(struct cursor *c, struct spread *to)
{
    struct spread s = {.squares = (unsigned __int128)cursor_uleb(c) << 64};
    s.squares += cursor_uleb(c);
    s.sum = cursor_uleb(c);
    s.least = cursor_uleb(c);
    s.most = cursor_uleb(c);
    s.count = (uint32_t)cursor_uleb(c);
    s.most_part = (uint32_t)cursor_uleb(c);
    to->squares += s.squares;
    to->sum += s.sum;
    to->least = to->count == 0 || s.least < to->least ? s.least : to->least;
    take_most(to, s.most, s.most_part);
    to->count += s.count;
}

static void pack_spreads(const struct reading *r, struct buf *out)
{
    for (size_t i = 0; i < r->list.count; i++) {
        const struct gathering *g = &r->list.items[i];
        size_t n = r->e->trees[g->tree].node_count;
        buf_uleb(out, n);
        if (g->over == STAT_REPETITIONS) /* whose values were brought together before */
            continue;
        buf_uleb(out, g->parts);
        for (enum value_form form = 0; form < VALUE_FORMS; form++) {
            size_t known = 0;
            for (size_t k = 0; k < n; k++)
                known += g->spreads[form][k].count > 0;
            buf_uleb(out, known);
            for (size_t k = 0; k < n; k++)
                if (g->spreads[form][k].count)
                    put_spread(out, (uint32_t)k, &g->spreads[form][k]);
        }
    }
}

static int add_spreads(struct reading *r, struct cursor *c, struct err *err)
{
    for (size_t i = 0; i < r->list.count; i++) {
        struct gathering *g = &r->list.items[i];
        size_t n = r->e->trees[g->tree].node_count;
        if (cursor_uleb(c) != n)
            return not_alike(err);
        if (g->over == STAT_REPETITIONS)
            continue;
        g->parts += (uint32_t)cursor_uleb(c);
        for (enum value_form form = 0; form < VALUE_FORMS; form++)
            for (uint64_t k = cursor_uleb(c); k > 0; k--) {
                uint64_t node = cursor_uleb(c);
                if (node >= n || c->bad)
                    return not_alike(err);
                add_spread(c, &g->spreads[form][node]);
            }
    }
    return 0;
}

static void pack_threads(const struct reading *r, struct buf *out)
{
    size_t rows = r->by_thread ? table_row_count(r->by_thread) : 0;
    buf_uleb(out, rows);
    for (size_t i = 0; i < rows; i++)
        thread_values_pack(r->e, r->by_thread, i, out);
}

static int add_threads(struct reading *r, struct cursor *c, struct err *err)
{
    for (uint64_t n = cursor_uleb(c); n > 0; n--)
        if (!r->by_thread || !thread_values_unpack(r->e, r->by_thread, c))
            return not_alike(err);
    return 0;
}

static void pack_all(void *ctx, struct buf *out)
{
    pack_spreads(ctx, out);
    pack_threads(ctx, out);
}

static int add_all(void *ctx, const void *bytes, size_t len, struct err *err)
{
    struct cursor c = cursor_make(bytes, len);
    return add_spreads(ctx, &c, err) < 0 ? -1 : add_threads(ctx, &c, err);
}

/* ---- the inputs, one by one --------------------------------------------------------------------- */

static int gather_files(struct reading *r, const struct input *input, struct err *err)
{
    struct hpcprof_reading how = {
        .threads = r->config->threads, .each = gather_measurement, .ctx = r, .ranks = r->config->ranks};
    r->seen = input->profile->processes_before;
    return filters_read_as(input->path, &how, NULL, NULL, err);
}

/* Data in memory are in every rank's; the first one uses them. */
static int gather_input(struct reading *r, const struct input *input, struct err *err)
{
    const struct ranks *ranks = r->config->ranks;
    int status = 0;
    r->seen = 0;
    if (input->path)
        status = gather_files(r, input, err);
    else if (!ranks || ranks->me == 0)
        gather_measurement(r, input->profile);
    for (size_t i = 0; i < r->list.count; i++)
        if (r->list.items[i].rank >= 0)
            end_part(&r->list.items[i], true);
    return status == 0 ? end_repetition(r, input->run, err) : -1;
}

static bool has_ranks(const struct input *first, const struct input *end)
{
    for (const struct input *i = first; i < end && i->run == first->run; i++)
        if (hpcprof_parts(i->profile->processes, i->profile->process_count).ranks)
            return true;
    return false;
}

int statistics_compute(struct experiment *e, struct correlation *c, const struct config *config,
                       const struct columns *columns, const struct input *inputs, size_t input_count,
                       const place_ix *new_of, struct err *err)
{
    struct reading r = {.e = e,
                        .c = c,
                        .config = config,
                        .columns = columns,
                        .new_of = new_of,
                        .sites = c->sites.count,
                        .calls = c->calls.count};
    int status = begin(&r, inputs, input_count, err);
    for (size_t i = 0; r.list.count && status == 0 && i < input_count; i++) {
        if (i == 0 || inputs[i].run != inputs[i - 1].run) {
            r.processes = 0;
            r.ranks = has_ranks(&inputs[i], inputs + input_count);
        }
        r.run = inputs[i].run;
        r.paths = c->with_paths.items[i];
        r.finished = inputs[i].finished ? &inputs[i] : NULL;
        status = gather_input(&r, &inputs[i], err);
        r.processes += (uint32_t)inputs[i].profile->process_count;
    }
    if (r.list.count && status == 0)
        status = ranks_unite(config->ranks, &(struct ranks_work){&r, pack_all, add_all, NULL}, err);
    if (r.by_thread)
        table_list_sort(&e->tables);
    end(&r);
    return status;
}
