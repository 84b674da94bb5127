/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that need the whole measurement. */
#include "phases/phases.h"
#include "phases/tables.h"

#include <math.h>

/* ---- collectives: passages of ranks become episodes ------------------------------------------------------------- */

struct passages {
    const struct hpcprof *p;
    const struct table *rows;
    size_t barrier, thread, from, group, ranks, number, begin, arrived, left; /* columns */
};

static const union table_cell *passage(const struct passages *v, uint32_t row)
{
    return table_row(v->rows, row);
}

static _Thread_local const struct passages *sorted_by; /* qsort has no argument for it */

static int compare_passages(const void *left, const void *right)
{
    const struct passages *v = sorted_by;
    const union table_cell *a = passage(v, *(const uint32_t *)left), *b = passage(v, *(const uint32_t *)right);
    const size_t keys[] = {v->group, v->number, v->arrived};
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (a[keys[i]].count != b[keys[i]].count)
            return order_of(a[keys[i]].count, b[keys[i]].count);
    return order_of(a[v->thread].row, b[v->thread].row);
}

static str_id host_of(const struct passages *v, uint32_t row)
{
    uint32_t thread = passage(v, row)[v->thread].row;
    return thread < v->p->thread_count ? v->p->processes[v->p->threads[thread].process].host : 0;
}

struct meetings {
    struct passages v;
    struct table *barriers, *threads, *waits_for, *times, *phases, *episodes, *arrivals;
    uint64_t *met;              /* by barrier: episodes that are whole */
    struct hashmap left;        /* by thread and time: the episode a rank left then */
    struct VEC(uint64_t) lasts; /* by episode: its last arrival */
};

/* An episode as ranks saw it, in the order of arrival. */
struct meeting {
    bool one_host;
    uint32_t *rows;
    uint64_t *arrived; /* by one clock */
    size_t count;
    uint32_t barrier;
    uint64_t begin, first, last, release, idle;
};

/* Clocks of several hosts differ. There each rank's own waiting time counts: all are released at one time. */
static void use_one_clock(const struct passages *v, struct meeting *m)
{
    uint64_t release = 0;
    m->one_host = true;
    for (size_t i = 0; i < m->count; i++) {
        const union table_cell *c = passage(v, m->rows[i]);
        m->one_host &= host_of(v, m->rows[i]) == host_of(v, m->rows[0]);
        release = c[v->left].count > release ? c[v->left].count : release;
    }
    for (size_t i = 0; i < m->count; i++) {
        const union table_cell *c = passage(v, m->rows[i]);
        uint64_t waited = c[v->left].count > c[v->arrived].count ? c[v->left].count - c[v->arrived].count : 0;
        m->arrived[i] = m->one_host ? c[v->arrived].count : release - (waited < release ? waited : release);
    }
    for (size_t i = 1; i < m->count; i++)
        for (size_t k = i; k > 0 && m->arrived[k] < m->arrived[k - 1]; k--) {
            uint64_t time = m->arrived[k];
            uint32_t row = m->rows[k];
            m->arrived[k] = m->arrived[k - 1];
            m->rows[k] = m->rows[k - 1];
            m->arrived[k - 1] = time;
            m->rows[k - 1] = row;
        }
}

static uint64_t moment(uint32_t thread, uint64_t time)
{
    uint64_t key[2] = {thread, time};
    return hash_bytes(key, sizeof key, 0);
}

/* The next phase of a rank begins when it is released; by one clock it began when the last rank arrived there. */
static uint64_t begin_of(const struct meetings *s, const struct meeting *m, const union table_cell *c)
{
    uint32_t before =
        m->one_host ? hashmap_get(&s->left, moment(c[s->v.thread].row, c[s->v.begin].count)) : HASHMAP_NONE;
    return before == HASHMAP_NONE ? c[s->v.begin].count : s->lasts.items[before];
}

static void note_leaving(struct meetings *s, const struct meeting *m)
{
    for (size_t i = 0; m->one_host && i < m->count; i++) {
        const union table_cell *c = passage(&s->v, m->rows[i]);
        *hashmap_put(&s->left, moment(c[s->v.thread].row, c[s->v.left].count)) = (uint32_t)s->lasts.count;
    }
    *vec_push(&s->lasts) = m->last;
}

static void look_at(struct meetings *s, struct meeting *m)
{
    const struct passages *v = &s->v;
    use_one_clock(v, m);
    m->first = m->arrived[0];
    m->last = m->arrived[m->count - 1];
    m->idle = 0;
    m->begin = m->release = UINT64_MAX;
    m->barrier = UINT32_MAX;
    for (size_t i = 0; i < m->count; i++) {
        const union table_cell *c = passage(v, m->rows[i]);
        m->idle += m->last - m->arrived[i];
        uint64_t begin = begin_of(s, m, c);
        m->begin = begin < m->begin ? begin : m->begin; /* the first one released there */
        m->release = c[v->left].count < m->release ? c[v->left].count : m->release;
        m->barrier = c[v->barrier].row < m->barrier ? c[v->barrier].row : m->barrier;
    }
    m->begin = m->begin < m->first ? m->begin : m->first;
    m->release = m->release > m->last ? m->release : m->last;
    note_leaving(s, m);
}

static void add_number(struct table *t, uint32_t row, const char *column, uint64_t value, bool greatest)
{
    size_t at = table_column_of(t, column);
    uint64_t old = table_row(t, row)[at].count;
    uint64_t sum = old == TABLE_NO_COUNT ? value : greatest ? (value > old ? value : old) : old + value;
    table_set(t, row, at, (union table_cell){.count = sum});
}

static void add_least(struct table *t, uint32_t row, const char *column, uint64_t value)
{
    size_t at = table_column_of(t, column);
    uint64_t old = table_row(t, row)[at].count;
    table_set(t, row, at, (union table_cell){.count = value < old ? value : old});
}

static void add_to_barrier(struct meetings *s, const struct meeting *m)
{
    uint64_t phase = m->last - m->begin, barrier = m->last - m->first, least = 1;
    struct table *t = s->barriers;
    size_t squares = table_column_of(t, "squares");
    double old = table_row(t, m->barrier)[squares].number;
    add_number(t, m->barrier, "phase", phase, false);
    add_number(t, m->barrier, "barrier", barrier, false);
    add_number(t, m->barrier, "idle", m->idle, false);
    add_number(t, m->barrier, "overhead", m->release - m->last, false);
    add_number(t, m->barrier, "worst", barrier, true);
    add_number(t, m->barrier, "longest_phase", phase, true);
    add_least(t, m->barrier, "best", barrier);
    add_least(t, m->barrier, "shortest_phase", phase);
    add_least(t, m->barrier, "first", m->first);
    add_number(t, m->barrier, "last", m->last, true);
    table_set(t, m->barrier, squares,
              (union table_cell){.number = (isnan(old) ? 0 : old) + (double)barrier / 1e6 * ((double)barrier / 1e6)});
    while (least <= barrier / 2)
        least *= 2;
    table_add(s->times, (union table_cell[]){{.row = m->barrier}, {.count = barrier ? least : 0}, {.count = 1}});
    table_add(s->phases, (union table_cell[]){{.row = m->barrier},
                                              passage(&s->v, m->rows[m->count - 1])[s->v.from],
                                              {.count = 1},
                                              {.count = phase},
                                              {.count = barrier}});
    s->met[m->barrier]++;
}

static void add_ranks(struct meetings *s, const struct meeting *m)
{
    uint32_t last = passage(&s->v, m->rows[m->count - 1])[s->v.thread].row;
    for (size_t i = 0; i < m->count; i++) {
        const union table_cell *c = passage(&s->v, m->rows[i]);
        uint64_t waited = m->last - m->arrived[i], begin = c[s->v.begin].count,
                 busy = begin < c[s->v.arrived].count ? c[s->v.arrived].count - begin : 0;
        table_add(s->threads, (union table_cell[]){{.row = m->barrier},
                                                   {.row = c[s->v.thread].row},
                                                   {.count = 1},
                                                   {.count = i + 1 == m->count},
                                                   {.count = waited},
                                                   {.count = busy}});
        if (i + 1 < m->count)
            table_add(s->waits_for, (union table_cell[]){
                                        {.row = c[s->v.thread].row}, {.row = last}, {.count = 1}, {.count = waited}});
    }
}

static void add_episode(struct meetings *s, const struct meeting *m)
{
    const union table_cell *last = passage(&s->v, m->rows[m->count - 1]);
    uint32_t episode = table_add(s->episodes, (union table_cell[]){{.row = m->barrier},
                                                                   {.count = s->met[m->barrier]},
                                                                   {.count = m->begin},
                                                                   {.count = m->first},
                                                                   {.count = m->last},
                                                                   {.count = m->release},
                                                                   {.count = m->last - m->begin},
                                                                   {.count = m->last - m->first},
                                                                   {.count = m->idle},
                                                                   {.count = m->count},
                                                                   {.row = last[s->v.thread].row}});
    for (size_t i = 0; i < m->count; i++)
        table_add(s->arrivals, (union table_cell[]){{.row = episode},
                                                    {.row = passage(&s->v, m->rows[i])[s->v.thread].row},
                                                    {.count = i + 1},
                                                    {.count = m->arrived[i]},
                                                    {.count = m->last - m->arrived[i]}});
}

enum { RANKS_MOST = 1 << 14, MEETINGS_KEPT = 64 }; /* of a barrier, in whole; as many as threads' episodes */

static void add_meeting(struct meetings *s, struct meeting *m)
{
    look_at(s, m);
    if (m->barrier >= table_row_count(s->barriers))
        return;
    add_to_barrier(s, m);
    add_ranks(s, m);
    if (s->met[m->barrier] <= MEETINGS_KEPT)
        add_episode(s, m);
}

/* Runs of equal group and number that have a passage of every rank. */
static void meet(struct meetings *s, uint32_t *rows, size_t n)
{
    struct meeting m = {.arrived = mem_calloc(n, sizeof *m.arrived)};
    for (size_t i = 0, end; i < n; i = end) {
        const union table_cell *a = passage(&s->v, rows[i]);
        for (end = i + 1; end < n && passage(&s->v, rows[end])[s->v.group].count == a[s->v.group].count &&
                          passage(&s->v, rows[end])[s->v.number].count == a[s->v.number].count;
             end++)
            ;
        m.rows = rows + i;
        m.count = end - i;
        if (m.count == a[s->v.ranks].count && m.count <= RANKS_MOST)
            add_meeting(s, &m);
    }
    mem_free(m.arrived);
}

/* Sums are of the episodes that were kept whole: scaled to all there were. */
static void scale(struct meetings *s)
{
    static const char *const sums[] = {"phase", "barrier", "idle", "overhead"};
    struct table *t = s->barriers;
    size_t passages = table_column_of(t, "passages"), threads = table_column_of(t, "threads");
    for (uint32_t row = 0; row < table_row_count(t); row++) {
        const union table_cell *c = table_row(t, row);
        uint64_t all = s->met[row] && c[threads].count ? c[passages].count / c[threads].count : 0;
        if (!all)
            continue;
        all = all > s->met[row] ? all : s->met[row];
        table_set(t, row, table_column_of(t, "episodes"), (union table_cell){.count = all});
        for (size_t i = 0; all > s->met[row] && i < ARRAY_SIZE(sums); i++) {
            size_t at = table_column_of(t, sums[i]);
            double scaled = (double)table_row(t, row)[at].count * (double)all / (double)s->met[row];
            table_set(t, row, at, (union table_cell){.count = (uint64_t)scaled});
        }
    }
}

static int find_tables(struct hpcprof *p, struct meetings *s)
{
    const struct {
        enum phases_table which;
        struct table **where;
    } wanted[] = {{PHASES_THREADS, &s->threads},  {PHASES_WAITS_FOR, &s->waits_for}, {PHASES_TIMES, &s->times},
                  {PHASES_PHASES, &s->phases},    {PHASES_EPISODES, &s->episodes},   {PHASES_ARRIVALS, &s->arrivals},
                  {PHASES_BARRIERS, &s->barriers}};
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
        if (table_list_declare(&p->tables, &phases_tables[wanted[i].which], p->strings, wanted[i].where, NULL) < 0)
            return -1;
    return 0;
}

static int meet_ranks(struct hpcprof *p, struct meetings *s, struct table *passages, struct err *err)
{
    struct table *t = NULL;
    if (table_list_declare(&p->tables, &phases_tables[PHASES_PASSAGES], p->strings, &t, err) < 0)
        return -1;
    s->v = (struct passages){.p = p,
                             .rows = passages,
                             .barrier = table_column_of(t, "barrier"),
                             .thread = table_column_of(t, "thread"),
                             .from = table_column_of(t, "from"),
                             .group = table_column_of(t, "group"),
                             .ranks = table_column_of(t, "ranks"),
                             .number = table_column_of(t, "number"),
                             .begin = table_column_of(t, "begin"),
                             .arrived = table_column_of(t, "arrived"),
                             .left = table_column_of(t, "left")};
    size_t n = table_row_count(passages);
    uint32_t *rows = mem_calloc(n, sizeof *rows);
    s->met = mem_calloc(table_row_count(s->barriers), sizeof *s->met);
    for (size_t i = 0; i < n; i++)
        rows[i] = (uint32_t)i;
    sorted_by = &s->v;
    qsort(rows, n, sizeof *rows, compare_passages);
    meet(s, rows, n);
    scale(s);
    mem_free(rows);
    mem_free(s->met);
    hashmap_release(&s->left);
    vec_release(&s->lasts);
    return 0;
}

/* ---- derived numbers ------------------------------------------------------------------------------------------------- */

static uint64_t count_of(const struct table *t, uint32_t row, const char *column)
{
    uint64_t n = table_row(t, row)[table_column_of(t, column)].count;
    return n == TABLE_NO_COUNT ? 0 : n;
}

static void set_number(struct table *t, uint32_t row, const char *column, double value)
{
    table_set(t, row, table_column_of(t, column), (union table_cell){.number = isfinite(value) ? value : (double)NAN});
}

static void derive(struct table *t, uint32_t row)
{
    double n = (double)count_of(t, row, "episodes"), phase = (double)count_of(t, row, "phase"),
           barrier = (double)count_of(t, row, "barrier"), idle = (double)count_of(t, row, "idle"),
           threads = (double)count_of(t, row, "threads"), mean = barrier / n,
           squares = table_row(t, row)[table_column_of(t, "squares")].number * 1e12 / n - mean * mean;
    set_number(t, row, "mean", mean);
    set_number(t, row, "deviation", sqrt(squares > 0 ? squares : 0));
    set_number(t, row, "share", barrier / phase * 100);
    set_number(t, row, "imbalance", idle / (phase * threads) * 100);
}

static void count_participants(struct table *barriers, const struct table *threads)
{
    size_t barrier = table_column_of(threads, "barrier"); /* a row for each barrier and thread */
    for (size_t i = 0; i < table_row_count(threads); i++)
        if (table_row(threads, i)[barrier].row < table_row_count(barriers))
            add_number(barriers, table_row(threads, i)[barrier].row, "participants", 1, false);
}

static void find_last(struct table *barriers, const struct table *threads)
{
    size_t last = table_column_of(threads, "last"), barrier = table_column_of(threads, "barrier"),
           thread = table_column_of(threads, "thread");
    uint64_t *most = mem_calloc(table_row_count(barriers), sizeof *most);
    for (size_t i = 0; i < table_row_count(threads); i++) {
        const union table_cell *c = table_row(threads, i);
        uint32_t row = c[barrier].row;
        if (row >= table_row_count(barriers) || c[last].count <= most[row] || c[last].count == TABLE_NO_COUNT)
            continue;
        most[row] = c[last].count;
        table_set(barriers, row, table_column_of(barriers, "last_thread"), c[thread]);
        set_number(barriers, row, "last_share", (double)most[row] / (double)count_of(barriers, row, "episodes") * 100);
    }
    mem_free(most);
}

/* ---- samples of phases ------------------------------------------------------------------------------------------------ */

/* By the barrier that began a phase (the last: none did), the one that ended most of those; TABLE_NONE: none yet. */
static uint32_t *usual_ends(const struct table *barriers, const struct table *phases)
{
    size_t n = table_row_count(barriers), ended = table_column_of(phases, "ended"),
           begun = table_column_of(phases, "begun");
    uint32_t *ends = mem_alloc((n + 1) * sizeof *ends);
    uint64_t *most = mem_calloc(n + 1, sizeof *most);
    memset(ends, 0xff, (n + 1) * sizeof *ends);
    for (uint32_t i = 0; i < table_row_count(phases); i++) {
        const union table_cell *c = table_row(phases, i);
        size_t from = c[begun].row < n ? c[begun].row : n;
        uint64_t episodes = count_of(phases, i, "episodes");
        if (episodes <= most[from])
            continue;
        most[from] = episodes;
        ends[from] = c[ended].row;
    }
    mem_free(most);
    return ends;
}

static void set_ends(struct table *t, const uint32_t *ends, size_t n)
{
    size_t ended = table_column_of(t, "ended"), begun = table_column_of(t, "begun");
    for (uint32_t i = 0; i < table_row_count(t); i++) {
        uint32_t from = table_row(t, i)[begun].row;
        table_set(t, i, ended, (union table_cell){.row = ends[from < n ? from : n]});
    }
}

static void set_shares(struct table *t, size_t phases, size_t events)
{
    size_t begun = table_column_of(t, "begun"), event = table_column_of(t, "event");
    double *whole = mem_calloc((phases + 1) * events, sizeof *whole);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < table_row_count(t); i++) {
            const union table_cell *c = table_row(t, i);
            size_t from = c[begun].row < phases ? c[begun].row : phases;
            if (c[event].row >= events)
                continue;
            if (pass == 0)
                whole[from * events + c[event].row] += (double)count_of(t, i, "value");
            else
                set_number(t, i, "share", (double)count_of(t, i, "value") / whole[from * events + c[event].row] * 100);
        }
    mem_free(whole);
}

static void finish_samples(struct hpcprof *p, const struct table *barriers, const struct table *phases)
{
    struct table *samples = NULL, *places = NULL;
    if (!table_list_find(&p->tables, phases_tables[PHASES_SAMPLES].name) ||
        table_list_declare(&p->tables, &phases_tables[PHASES_SAMPLES], p->strings, &samples, NULL) < 0 ||
        table_list_declare(&p->tables, &phases_tables[PHASES_PLACES], p->strings, &places, NULL) < 0)
        return;
    uint32_t *ends = usual_ends(barriers, phases);
    set_ends(samples, ends, table_row_count(barriers));
    set_ends(places, ends, table_row_count(barriers));
    set_shares(places, table_row_count(barriers), p->event_count);
    mem_free(ends);
}

int phases_finish(struct hpcprof *p, struct err *err)
{
    struct table *barriers = table_list_find(&p->tables, phases_tables[PHASES_BARRIERS].name),
                 *passages = table_list_find(&p->tables, phases_tables[PHASES_PASSAGES].name);
    if (!barriers)
        return 0;
    struct meetings s = {0};
    if (find_tables(p, &s) < 0) /* tables of these names that somebody else made: shown as they are */
        return 0;
    if (passages && table_row_count(passages) && meet_ranks(p, &s, passages, err) < 0)
        return -1;
    for (uint32_t row = 0; row < table_row_count(barriers); row++)
        derive(barriers, row);
    find_last(barriers, s.threads);
    count_participants(barriers, s.threads);
    finish_samples(p, barriers, s.phases);
    return 0;
}

/* ---- threads that wait now
   ------------------------------------------------------------------------------------------------ */

struct states {
    const struct hpcprof *p;
    const struct table *rows, *threads, *barriers;
    size_t thread, state, since, barrier;
};

static const char *state_text(const struct states *v, uint32_t row)
{
    return strtab_get(v->p->strings, table_row(v->rows, row)[v->state].text);
}

static bool is_alive(const struct states *v, uint32_t row)
{
    uint32_t thread = table_row(v->rows, row)[v->thread].row;
    return thread < v->p->thread_count && v->p->threads[thread].end_ns == 0 &&
           v->p->processes[v->p->threads[thread].process].end_ns == 0;
}

static uint32_t process_of(const struct states *v, uint32_t row)
{
    return v->p->threads[table_row(v->rows, row)[v->thread].row].process;
}

static bool is_of_mpi(const struct states *v, const struct phases_stuck *s)
{
    size_t kind = table_column_of(v->barriers, "kind");
    return str_starts(strtab_get(v->p->strings, table_row(v->barriers, s->barrier)[kind].text), "MPI_");
}

/* Ranks of MPI meet over processes, threads in theirs. */
static bool meets(const struct states *v, const struct phases_stuck *s, uint32_t row)
{
    return is_of_mpi(v, s) || process_of(v, s->arrived[0]) == process_of(v, row);
}

static bool has_been_there(const struct states *v, uint32_t barrier, uint32_t thread)
{
    size_t b = table_column_of(v->threads, "barrier"), t = table_column_of(v->threads, "thread");
    for (size_t i = 0; i < table_row_count(v->threads); i++)
        if (table_row(v->threads, i)[b].row == barrier &&
            (thread == TABLE_NONE || table_row(v->threads, i)[t].row == thread))
            return true;
    return false;
}

static bool is_missing(const struct states *v, const struct phases_stuck *s, uint32_t row)
{
    uint32_t thread = table_row(v->rows, row)[v->thread].row;
    if (!meets(v, s, row) || strcmp(state_text(v, row), "between parallel regions") == 0)
        return false;
    if (has_been_there(v, s->barrier, TABLE_NONE)) /* the thread that came last the times before */
        return has_been_there(v, s->barrier, thread);
    if (is_of_mpi(v, s) && v->p->threads[thread].number != 0)
        return false; /* a thread of the library, which sleeps, or of the program, which computes */
    return strcmp(state_text(v, row), "join") != 0;
}

static void add_waiter(const struct states *v, struct phases_stuck *s, uint32_t row)
{
    uint64_t since = table_row(v->rows, row)[v->since].count;
    s->since = since < s->since ? since : s->since;
    size_t i = s->arrived_count++;
    for (; i > 0 && table_row(v->rows, s->arrived[i - 1])[v->thread].row > table_row(v->rows, row)[v->thread].row; i--)
        s->arrived[i] = s->arrived[i - 1];
    s->arrived[i] = row;
}

static void sort_out(const struct states *v, struct phases_stuck *list, size_t *count, uint32_t row)
{
    uint32_t barrier = table_row(v->rows, row)[v->barrier].row;
    size_t n = table_row_count(v->rows), i = 0;
    if (strcmp(state_text(v, row), "at barrier") != 0 || !is_alive(v, row) || barrier >= table_row_count(v->barriers))
        return;
    while (i < *count && !(list[i].barrier == barrier && meets(v, &list[i], row)))
        i++;
    if (i == *count)
        list[(*count)++] = (struct phases_stuck){.barrier = barrier,
                                                 .since = UINT64_MAX,
                                                 .arrived = mem_calloc(n, sizeof *list->arrived),
                                                 .missing = mem_calloc(n, sizeof *list->missing)};
    add_waiter(v, &list[i], row);
}

static bool has_arrived(const struct phases_stuck *s, uint32_t row)
{
    for (size_t i = 0; i < s->arrived_count; i++)
        if (s->arrived[i] == row)
            return true;
    return false;
}

static int by_since(const void *left, const void *right)
{
    const struct phases_stuck *a = left, *b = right;
    /* of several processes: no thread waits twice */
    return order_of(a->since, b->since) ?: order_of(a->barrier, b->barrier) ?: order_of(a->arrived[0], b->arrived[0]);
}

size_t phases_stuck(const struct hpcprof *p, struct phases_stuck **found)
{
    struct states v = {.p = p,
                       .rows = table_list_find(&p->tables, "thread_states"),
                       .threads = table_list_find(&p->tables, "barrier_threads"),
                       .barriers = table_list_find(&p->tables, "barriers")};
    size_t count = 0;
    *found = NULL;
    if (!v.rows || !v.threads || !v.barriers)
        return 0;
    v.thread = table_column_of(v.rows, "thread");
    v.state = table_column_of(v.rows, "state");
    v.since = table_column_of(v.rows, "since");
    v.barrier = table_column_of(v.rows, "barrier");
    if (v.thread == SIZE_MAX || v.state == SIZE_MAX || v.since == SIZE_MAX || v.barrier == SIZE_MAX)
        return 0;
    uint32_t n = (uint32_t)table_row_count(v.rows);
    struct phases_stuck *list = mem_calloc(n, sizeof *list);
    for (uint32_t row = 0; row < n; row++)
        sort_out(&v, list, &count, row);
    for (size_t i = 0; i < count; i++)
        for (uint32_t row = 0; row < n; row++)
            if (is_alive(&v, row) && !has_arrived(&list[i], row) && is_missing(&v, &list[i], row))
                list[i].missing[list[i].missing_count++] = row;
    qsort(list, count, sizeof *list, by_since);
    *found = list;
    return count;
}

void phases_stuck_free(struct phases_stuck *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mem_free(list[i].arrived);
        mem_free(list[i].missing);
    }
    mem_free(list);
}
