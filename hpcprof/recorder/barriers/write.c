/* SPDX-License-Identifier: BSD-3-Clause */
/* To the file: the tables of phases/tables.h as blocks TDEF and TROW. Sums are increments: each time only the
   increase. */
#include "hpcprof/format/format.h"
#include "hpcprof/recorder/barriers/barriers.h"
#include "hpcprof/recorder/output/output.h"
#include "phases/tables.h"

#include <stdio.h>

static uint32_t rows_in_file[PHASES_RECORDED];
static uint32_t first_table; /* ours have no preceding ones: 0 */

const char *const phases_kind_words[] = {
#define X(name, words) words,
    SITE_KINDS(X)
#undef X
};

/* ---- declarations ------------------------------------------------------------------------------------------------- */

static void put_text(struct out *o, const char *text)
{
    hpcrec_put_string(o, text ? text : "");
}

static void put_column(struct out *o, const struct table_column *c)
{
    put_text(o, c->name);
    put_text(o, c->title ? c->title : c->name);
    put_text(o, c->unit);
    put_text(o, c->description);
    hpcrec_put_uleb(o, c->type);
    hpcrec_put_uleb(o, c->merge);
    put_text(o, c->refers);
}

/* Stands in the head of every file. */
void hpcrec_phases_declare(struct out *o)
{
    if (!hpcrec_phases.on)
        return;
    size_t block = hpcrec_block_begin(o, FORMAT_TABLES);
    hpcrec_put_uleb(o, PHASES_RECORDED);
    for (int i = 0; i < PHASES_RECORDED; i++) {
        put_text(o, phases_tables[i].name);
        put_text(o, phases_tables[i].title);
        put_text(o, phases_tables[i].description);
        hpcrec_put_uleb(o, phases_tables[i].column_count);
        for (size_t k = 0; k < phases_tables[i].column_count; k++)
            put_column(o, &phases_tables[i].columns[k]);
    }
    hpcrec_block_end(o, block);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

/* Rows are gathered, and put as a block when they are all there. */
static struct out rows;
static uint64_t row_count;

enum { ROWS_BYTES = 1 << 20 };

static void end_rows(struct out *o, enum phases_table table)
{
    if (row_count == 0)
        return;
    size_t block = hpcrec_block_begin(o, FORMAT_ROWS);
    hpcrec_put_uleb(o, first_table + table);
    hpcrec_put_uleb(o, row_count);
    hpcrec_put(o, rows.bytes.items, rows.bytes.count);
    hpcrec_block_end(o, block);
    rows.bytes.count = 0;
    row_count = 0;
}

/* The number of the row that begins, + 1. */
static uint32_t begin_row(struct out *o, enum phases_table table)
{
    if (rows.bytes.count > ROWS_BYTES)
        end_rows(o, table);
    row_count++;
    return ++rows_in_file[table];
}

static void put_count(uint64_t n)
{
    hpcrec_put_uleb(&rows, n + 1);
}

static void put_missing_count(void)
{
    hpcrec_put_uleb(&rows, 0);
}

static void put_ref(uint32_t row_plus_1)
{
    hpcrec_put_uleb(&rows, row_plus_1);
}

static void put_number(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    hpcrec_put(&rows, &bits, sizeof bits);
}

static void put_missing_number(void)
{
    put_number(__builtin_nan(""));
}

/* Of our clock, as ns since 1970. */
static void put_time(uint64_t mono)
{
    put_count(hpcrec.start_ns + (mono - hpcrec.start_mono));
}

/* ---- barriers ---------------------------------------------------------------------------------------------------------- */

static uint32_t site_count(void)
{
    return atomic_load(&hpcrec_phases.site_count);
}

/* i counts through the sites that are there, and the two that take what is too much. */
static struct site *site_at(uint32_t i)
{
    uint32_t n = site_count();
    return &hpcrec_phases.sites[i < n ? i : SITES_MAX - 2 + (i - n)];
}

static bool is_used(const struct site *s)
{
    return s->kind >= FIRST_WAIT ? atomic_load(&s->wait_times) != 0
                                 : s->sums.episodes + s->sums.broken != 0 || s->pc != 0;
}

/* Before the contexts are written. */
void hpcrec_phases_resolve(void)
{
    for (uint32_t i = 0; hpcrec_phases.on && i < site_count() + 2; i++) {
        struct site *s = site_at(i);
        if (s->resolved || !is_used(s))
            continue;
        s->context = s->pc ? hpcrec_context(s->pc, CONTEXT_NONE) : CONTEXT_NONE;
        s->region = atomic_load(&s->region_row);
        s->resolved = true;
        hpcrec.keep_empty = true;
    }
}

void hpcrec_phases_moved(const uint32_t *moved)
{
    for (uint32_t i = 0; hpcrec_phases.on && i < site_count() + 2; i++) {
        struct site *s = site_at(i);
        if (s->resolved && s->context != CONTEXT_NONE)
            s->context = moved[s->context];
    }
}

static uint32_t context_ref(const struct site *s)
{
    return s->context != CONTEXT_NONE ? s->context + 1 : 0;
}

static void put_barrier(struct out *o, struct site *s, bool all)
{
    static const struct sums nothing;
    const struct sums *now = &s->sums, *old = all ? &nothing : &s->written;
    bool never = now->episodes == 0;
    s->region = atomic_load(&s->region_row);
    s->file_row = begin_row(o, PHASES_BARRIERS);
    put_ref(context_ref(s));
    put_text(&rows, phases_kind_words[s->kind]);
    put_text(&rows, s->name);
    put_count(s->number);
    put_count(now->episodes - old->episodes);
    put_count(now->passages - old->passages);
    put_count(s->threads);
    put_count(now->phase - old->phase);
    put_count(now->barrier - old->barrier);
    put_count(now->idle - old->idle);
    put_count(now->overhead - old->overhead);
    put_count(s->worst);
    never ? put_missing_count() : put_count(s->best);
    put_count(s->longest);
    never ? put_missing_count() : put_count(s->shortest);
    put_number(now->squares - old->squares);
    put_count(now->broken - old->broken);
    never ? put_missing_count() : put_time(s->first);
    never ? put_missing_count() : put_time(s->last);
    put_ref(s->region ? s->region + 1 : 0);
    put_missing_number();
    put_missing_number();
    put_missing_number();
    put_missing_number();
    put_ref(0);
    put_missing_number();
    put_missing_count();
    s->written = s->sums;
}

/* Has it a place in this file, or is it too new for that? Then all that is of it waits for the next time. */
static bool is_ready(const struct site *s)
{
    return s->kind < FIRST_WAIT && s->resolved;
}

static bool is_new(const struct site *s)
{
    return memcmp(&s->sums, &s->written, sizeof s->sums) != 0 || (!s->file_row && s->pc) ||
           s->region != atomic_load(&s->region_row);
}

static void put_barriers(struct out *o, bool all)
{
    for (uint32_t i = 0; i < site_count() + 2; i++) {
        struct site *s = site_at(i);
        if (is_ready(s) && (all || is_new(s)))
            put_barrier(o, s, all);
    }
    end_rows(o, PHASES_BARRIERS);
}

static void put_times(struct out *o, bool all)
{
    for (uint32_t i = 0; i < site_count() + 2; i++) {
        struct site *s = site_at(i);
        for (int k = 0; s->file_row && k < TIMES; k++) {
            uint64_t old = all ? 0 : s->times_written[k];
            if (s->times[k] == old)
                continue;
            begin_row(o, PHASES_TIMES);
            put_ref(s->file_row);
            put_count(k ? 1ull << k : 0);
            put_count(s->times[k] - old);
            s->times_written[k] = s->times[k];
        }
    }
    end_rows(o, PHASES_TIMES);
}

static uint32_t barrier_ref(uint32_t site)
{
    return hpcrec_phases.sites[site].file_row;
}

static bool has_rows(enum cell_kind kind, uint32_t a, uint32_t b)
{
    return (kind == CELL_WAITS_FOR || barrier_ref(a)) && (kind != CELL_PHASE || b == 0 || barrier_ref(b - 1));
}

static void put_cells(struct out *o, enum cell_kind kind, enum phases_table table, bool all)
{
    static const int values[] = {[CELL_THREAD] = 4, [CELL_WAITS_FOR] = 2, [CELL_PHASE] = 3};
    for (uint32_t i = 0; i < hpcrec_phases.cell_count; i++) {
        struct pair_cell *c = &hpcrec_phases.cells[i];
        uint32_t a = c->key >> 28 & 0xfffffff, b = c->key & 0xfffffff;
        if (c->key >> 56 != kind || !has_rows(kind, a, b) || (!all && memcmp(c->now, c->written, sizeof c->now) == 0))
            continue;
        begin_row(o, table);
        put_ref(kind == CELL_WAITS_FOR ? a + 1 : barrier_ref(a));
        put_ref(kind == CELL_PHASE ? (b ? barrier_ref(b - 1) : 0) : b + 1);
        for (int k = 0; k < values[kind]; k++)
            put_count(c->now[k] - (all ? 0 : c->written[k]));
        memcpy(c->written, c->now, sizeof c->now);
    }
    end_rows(o, table);
}

/* ---- kept episodes -------------------------------------------------------------------------------------------------------- */

static void put_episode(struct out *o, const struct site *s, struct kept *k)
{
    k->file_row = begin_row(o, PHASES_EPISODES);
    put_ref(s->file_row);
    put_count(k->number);
    put_time(k->begin);
    put_time(k->first);
    put_time(k->last);
    put_time(k->release);
    put_count(k->last - k->begin);
    put_count(k->last - k->first);
    put_count(k->idle);
    put_count(k->threads);
    put_ref(k->last_row + 1);
}

static void put_arrivals(struct out *o, const struct kept *k)
{
    for (uint32_t i = 0; i < k->listed; i++) {
        begin_row(o, PHASES_ARRIVALS);
        put_ref(k->file_row);
        put_ref(k->arrivals[i].row + 1);
        put_count(k->arrivals[i].order);
        put_time(k->arrivals[i].at);
        put_count(k->last - k->arrivals[i].at);
    }
}

enum { KEPT = KEPT_WORST + KEPT_SAMPLE };

static struct kept *kept_at(const struct site *s, int i)
{
    return i < KEPT_WORST ? &s->kept->worst[i] : &s->kept->sample[i - KEPT_WORST];
}

static bool is_to_put(const struct kept *k, bool all)
{
    return k->number && (all || k->file_row == 0);
}

static void put_episodes(struct out *o, bool all)
{
    uint32_t before = rows_in_file[PHASES_EPISODES];
    for (uint32_t i = 0; i < site_count(); i++)
        for (int k = 0; site_at(i)->kept && site_at(i)->file_row && k < KEPT; k++)
            if (is_to_put(kept_at(site_at(i), k), all))
                put_episode(o, site_at(i), kept_at(site_at(i), k));
    end_rows(o, PHASES_EPISODES);
    for (uint32_t i = 0; i < site_count(); i++)
        for (int k = 0; site_at(i)->kept && k < KEPT; k++)
            if (kept_at(site_at(i), k)->file_row > before && kept_at(site_at(i), k)->number)
                put_arrivals(o, kept_at(site_at(i), k));
    end_rows(o, PHASES_ARRIVALS);
}

/* ---- waits, collectives ----------------------------------------------------------------------------------------------------- */

static void put_waits(struct out *o, bool all)
{
    for (uint32_t i = 0; i < site_count() + 2; i++) {
        struct site *s = site_at(i);
        uint64_t times = atomic_load(&s->wait_times), ns = atomic_load(&s->wait_ns);
        if (s->kind < FIRST_WAIT || !s->resolved || times == 0 || (!all && times == s->wait_times_written))
            continue;
        begin_row(o, PHASES_WAITS);
        put_ref(context_ref(s));
        put_text(&rows, phases_kind_words[s->kind]);
        put_count(times - (all ? 0 : s->wait_times_written));
        put_count(ns - (all ? 0 : s->wait_ns_written));
        put_count(atomic_load(&s->wait_worst));
        s->wait_times_written = times;
        s->wait_ns_written = ns;
    }
    end_rows(o, PHASES_WAITS);
}

static void put_passages(struct out *o, bool all)
{
    struct passage *p = hpcrec_phases.passages.items;
    for (size_t i = 0; i < hpcrec_phases.passages.count; i++) {
        if ((p[i].written && !all) || !barrier_ref(p[i].site) || (p[i].from && !barrier_ref(p[i].from - 1)))
            continue;
        p[i].written = true;
        begin_row(o, PHASES_PASSAGES);
        put_ref(barrier_ref(p[i].site));
        put_ref(p[i].row + 1);
        put_ref(p[i].from ? barrier_ref(p[i].from - 1) : 0);
        put_count(p[i].group);
        put_count(p[i].ranks);
        put_count(p[i].number);
        put_time(p[i].begun);
        put_time(p[i].arrived);
        put_time(p[i].left);
    }
    end_rows(o, PHASES_PASSAGES);
}

/* ---- where each thread is ----------------------------------------------------------------------------------------------------- */

enum state { RUNNING, BETWEEN_REGIONS, AT_BARRIER, IN_WAIT };

static bool has_moved(const struct phases_thread *t, enum state what, uint64_t since, uint32_t site, uint32_t context,
                      uint64_t passed)
{
    return !t->written.known || t->written.what != what || t->written.since != since || t->written.site != site ||
           t->written.context != context || t->written.passed != passed;
}

/* A thread that has joined its team, as all others have, sleeps until the next parallel region. */
static enum state state_of(const struct phases_thread *t, uint64_t since, const struct site *s)
{
    if (phases_team_has_joined(t))
        return BETWEEN_REGIONS;
    return since == 0 ? RUNNING : s->kind < FIRST_WAIT ? AT_BARRIER : IN_WAIT;
}

static void put_state(struct out *o, const struct thread *thread, bool all)
{
    static const char *const words[] = {"running", "between parallel regions", "at barrier"};
    struct phases_thread *t = thread->phases;
    uint64_t since = atomic_load_explicit(&t->waits_since, memory_order_acquire), passed = atomic_load(&t->passed);
    uint32_t at = atomic_load_explicit(&t->waits_at, memory_order_relaxed);
    const struct site *s = &hpcrec_phases.sites[at];
    enum state what = state_of(t, since, s);
    bool waits = what == AT_BARRIER || what == IN_WAIT;
    uint32_t site = what == AT_BARRIER ? at + 1 : t->phase;
    uint32_t context = hpcrec_thread_last_context(thread->row);
    if (waits && s->resolved)
        context = s->context;
    if (!waits)
        since = t->begun;
    if (!all && !has_moved(t, what, since, site, context, passed))
        return;
    t->written.known = true;
    t->written.what = (uint8_t)what;
    t->written.since = since;
    t->written.site = site;
    t->written.context = context;
    t->written.passed = passed;
    begin_row(o, PHASES_STATES);
    put_ref(thread->row + 1);
    put_text(&rows, what == IN_WAIT ? phases_kind_words[s->kind] : words[what]);
    since ? put_time(since) : put_missing_count();
    put_ref(context == CONTEXT_NONE ? 0 : context + 1);
    put_ref(site ? barrier_ref(site - 1) : 0);
    put_count(passed);
}

struct states {
    struct out *o;
    bool all;
};

static void put_state_of(struct thread *thread, void *p)
{
    const struct states *s = p;
    if (thread->phases)
        put_state(s->o, thread, s->all);
}

static void put_states(struct out *o, bool all)
{
    struct states s = {o, all};
    hpcrec_threads_each(put_state_of, &s);
    end_rows(o, PHASES_STATES);
}

/* A thread that has ended: its row's last state. */
void hpcrec_phases_write(struct out *o, bool all)
{
    if (!hpcrec_phases.on)
        return;
    phases_teams_fold();
    if (!phases_trylock())
        return;
    if (all)
        memset(rows_in_file, 0, sizeof rows_in_file);
    rows.bytes.count = 0;
    row_count = 0;
    put_barriers(o, all);
    put_cells(o, CELL_THREAD, PHASES_THREADS, all);
    put_cells(o, CELL_WAITS_FOR, PHASES_WAITS_FOR, all);
    put_times(o, all);
    put_cells(o, CELL_PHASE, PHASES_PHASES, all);
    put_episodes(o, all);
    put_waits(o, all);
    put_passages(o, all);
    put_states(o, all);
    o->bytes.full |= rows.bytes.full;
    rows.bytes.full = false;
    if (hpcrec_phases.kept_full)
        hpcrec_missing("too many barriers to keep single episodes of all: the later ones have sums only");
    phases_unlock();
}
