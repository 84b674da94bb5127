/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's tables of barriers: sites, sums by two keys, kept episodes, waits, passages and threads grow at
 * random, and are written repeatedly, as increments or completely. The union that a reader computes, with the merging
 * that the tables declare, must always equal the current state.
 */
#include "hpcprof/format/format.h"
#include "hpcprof/recorder/barriers/barriers.h"
#include "hpcprof/recorder/output/output.h"
#include "phases/tables.h"
#include "support/support.h"

#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <math.h>

/* ---- the world ------------------------------------------------------------------------------------------------- */

struct recorder hpcrec;
struct phases hpcrec_phases;

enum { SITES = 24, THREADS = 6, CONTEXTS = 64, NEVER = 3 /* a site without arrivals */ };

static struct thread threads[THREADS];
static struct phases_thread phases_threads[THREADS];
static uint32_t last_context[THREADS];
static bool has_joined[THREADS], is_locked;
static unsigned folded, missing, asked[CONTEXTS];

uint32_t hpcrec_context(uint64_t pc, uint32_t parent)
{
    asked[pc - 0x1000]++;
    return parent == CONTEXT_NONE ? (uint32_t)(pc - 0x1000) : 0;
}

uint32_t hpcrec_thread_last_context(uint32_t row)
{
    return last_context[row];
}

void hpcrec_threads_each(void (*f)(struct thread *, void *), void *ctx)
{
    for (uint32_t i = 0; i < THREADS; i++)
        f(&threads[i], ctx);
}

void hpcrec_missing(const char *sentence)
{
    missing += strstr(sentence, "barriers") != NULL;
}

void phases_teams_fold(void)
{
    folded++;
}

bool phases_team_has_joined(const struct phases_thread *t)
{
    return has_joined[t - phases_threads];
}

bool phases_trylock(void)
{
    bool free = !is_locked;
    is_locked = true;
    return free;
}

void phases_unlock(void)
{
    is_locked = false;
}

/* ---- it grows --------------------------------------------------------------------------------------------------------- */

static uint32_t site_index(uint32_t i)
{
    return i < SITES ? i : SITES_MAX - 2 + (i - SITES);
}

static uint32_t site_count(void)
{
    return atomic_load(&hpcrec_phases.site_count);
}

static bool is_there(uint32_t i)
{
    return i < site_count() || i >= SITES;
}

static void begin_world(void)
{
    hpcrec_phases = (struct phases){.on = true, .sites = guarded_get(SITES_MAX * sizeof(struct site))};
    atomic_store(&hpcrec_phases.site_count, SITES / 2);
    hpcrec.start_ns = 1700000000000000000;
    hpcrec.start_mono = 5000;
    for (uint32_t i = 0; i < SITES + 2; i++) {
        struct site *s = &hpcrec_phases.sites[site_index(i)];
        s->kind = i >= SITES   ? i == SITES ? WAIT_MUTEX : BARRIER_USER
                  : i % 3 == 2 ? FIRST_WAIT + i / 3
                               : i % FIRST_WAIT;
        s->number = s->kind < FIRST_WAIT ? ++hpcrec_phases.barrier_count : 0;
        s->pc = i < SITES ? 0x1000 + 2 * i : 0;
        if (i % 4 == 0)
            snprintf(s->name, sizeof s->name, "name %u", i);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        threads[i].row = i;
        threads[i].phases = i == THREADS - 1 ? NULL : &phases_threads[i]; /* one without barrier data */
    }
    last_context[0] = CONTEXT_NONE;
}

static struct kept new_kept(uint64_t number)
{
    struct kept k = {
        .number = number, .begin = 6000 + below(100000), .threads = 1 + below(80), .last_row = below(THREADS)};
    k.first = k.begin + below(1000);
    k.last = k.first + below(1000);
    k.release = k.last + below(50);
    k.idle = below(9999);
    k.listed = k.threads < KEPT_ARRIVALS ? k.threads : KEPT_ARRIVALS;
    for (uint32_t i = 0; i < k.listed; i++) {
        k.arrivals[i].at = k.first + i * (k.last - k.first) / k.listed;
        k.arrivals[i].row = below(THREADS);
        k.arrivals[i].order = i + 1;
    }
    return k;
}

static void grow_barrier(struct site *s)
{
    static uint64_t episode;
    if (below(4) == 0) {
        s->sums.broken += below(3);
        return;
    }
    s->sums.episodes += 1 + below(3);
    uint64_t *const sums[] = {&s->sums.passages, &s->sums.phase, &s->sums.barrier, &s->sums.idle, &s->sums.overhead};
    for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
        *sums[i] += below(100000);
    s->sums.squares += below(100) / 4.0;
    uint64_t *const most[] = {&s->threads, &s->worst, &s->longest, &s->last};
    for (size_t i = 0; i < ARRAY_SIZE(most); i++)
        *most[i] += below(1000) + 10;
    if (!s->best) {
        s->best = s->shortest = 100000 + below(1000);
        s->first = 100000;
    }
    s->best -= below(10);
    s->shortest -= below(10);
    s->times[below(TIMES)] += 1 + below(5);
    if (s->pc && !s->kept && below(2))
        s->kept = mem_calloc(1, sizeof *s->kept);
    if (s->kept)
        *(below(3) ? &s->kept->sample[below(KEPT_SAMPLE)] : &s->kept->worst[below(KEPT_WORST)]) = new_kept(++episode);
}

/* Its capacity equals the number of cells. */
static void add_cell(void)
{
    size_t bytes = hpcrec_phases.cell_count++ * sizeof(struct pair_cell);
    struct pair_cell *more = guarded_get(bytes + sizeof *more);
    if (!more)
        exit(99);
    if (bytes)
        memcpy(more, hpcrec_phases.cells, bytes);
    guarded_put(hpcrec_phases.cells, bytes);
    hpcrec_phases.cells = more;
}

static void grow_cell(enum cell_kind kind, uint32_t a, uint32_t b)
{
    uint64_t key = (uint64_t)kind << 56 | (uint64_t)a << 28 | b;
    uint32_t at = 0;
    while (at < hpcrec_phases.cell_count && hpcrec_phases.cells[at].key != key)
        at++;
    if (at == hpcrec_phases.cell_count)
        add_cell();
    struct pair_cell *c = &hpcrec_phases.cells[at];
    c->key = key;
    for (int k = 0; k < 4; k++)
        c->now[k] += k == 0 ? 1 : below(2) ? below(300) : 0;
}

static uint32_t any_barrier(void)
{
    uint32_t i;
    do {
        i = below(site_count());
    } while (!hpcrec_phases.sites[i].sums.episodes);
    return i;
}

static void grow_cells(void)
{
    for (int i = 0; i < 3; i++) {
        grow_cell(CELL_THREAD, any_barrier(), below(THREADS));
        grow_cell(CELL_WAITS_FOR, below(THREADS), below(THREADS));
        grow_cell(CELL_PHASE, any_barrier(), below(4) ? any_barrier() + 1 : 0);
    }
}

static void grow_passages(uint32_t n)
{
    static uint64_t number;
    struct area *p = &hpcrec_phases.passages;
    while (n-- > 0 && hpcrec_area_room(p, p->count + 1, sizeof(struct passage)))
        ((struct passage *)p->items)[p->count++] = (struct passage){.group = below(5),
                                                                    .number = ++number,
                                                                    .begun = 6000 + below(100000),
                                                                    .arrived = 106000 + below(100000),
                                                                    .left = 206000 + below(100000),
                                                                    .site = below(4) ? 0 : any_barrier(),
                                                                    .row = below(THREADS),
                                                                    .ranks = 2 + below(60),
                                                                    .from = below(2)};
}

/* Known facts about a thread do not change; the first thread has none and never waits. */
static void change_thread(uint32_t i)
{
    struct phases_thread *t = &phases_threads[i];
    if (below(3) == 0)
        atomic_fetch_add(&t->passed, below(3));
    if (i == 0)
        return;
    if (!t->phase || below(3) == 0)
        t->phase = 1 + below(2);
    if (!t->begun || below(4) == 0)
        t->begun = 6000 + below(100000);
    if (below(3) == 0)
        atomic_store(&t->waits_since, below(3) ? 7000 + below(100000) : 0);
    if (below(3) == 0)
        atomic_store(&t->waits_at, below(site_count()));
    if (below(4) == 0)
        last_context[i] = below(CONTEXTS);
    has_joined[i] = below(6) == 0;
}

static void grow(void)
{
    for (uint32_t i = 0; i < SITES + 2; i++) {
        struct site *s = &hpcrec_phases.sites[site_index(i)];
        if (i == NEVER || !is_there(i) || (i > 1 && below(4)))
            continue;
        if (s->kind < FIRST_WAIT) {
            grow_barrier(s);
            atomic_store(&s->region_row, s->region_row ? s->region_row : below(6));
        } else {
            atomic_fetch_add(&s->wait_times, 1 + below(9));
            atomic_fetch_add(&s->wait_ns, below(100000));
            atomic_fetch_add(&s->wait_worst, below(1000));
        }
    }
    grow_cells();
    grow_passages(below(3));
    for (uint32_t i = 0; i < THREADS; i++)
        change_thread(i);
}

/* A place that came while the file is written: too late for that. */
static void grow_late(void)
{
    uint32_t i = site_count();
    if (i == SITES || below(3))
        return;
    atomic_store(&hpcrec_phases.site_count, i + 1);
    struct site *s = &hpcrec_phases.sites[i];
    if (s->kind >= FIRST_WAIT) {
        atomic_fetch_add(&s->wait_times, 1);
        return;
    }
    do {
        grow_barrier(s);
    } while (!s->sums.episodes);
    grow_cell(CELL_THREAD, i, 1);
    grow_cell(CELL_PHASE, 0, i + 1);
    grow_cell(CELL_PHASE, i, 0);
    grow_passages(5);
}

/* ---- result in the reader ---------------------------------------------------------------------------------------- */

/* All tables, and for those that others refer to the row of each of the file's rows. */
struct document {
    struct strtab *strings;
    struct table_list tables;
    struct VEC(uint32_t) rows[PHASES_RECORDED];
};

static void document_begin(struct document *d)
{
    *d = (struct document){.strings = strtab_create()};
    for (int i = 0; i < PHASES_RECORDED; i++) {
        struct table *t;
        CHECK_NAMED(table_list_declare(&d->tables, &phases_tables[i], d->strings, &t, NULL) == 0,
                    "a table is declared");
    }
}

static void document_end(struct document *d)
{
    table_list_release(&d->tables);
    strtab_free(d->strings);
    for (int i = 0; i < PHASES_RECORDED; i++)
        vec_release(&d->rows[i]);
}

static int table_named(const char *name)
{
    for (int i = 0; i < PHASES_RECORDED; i++)
        if (strcmp(phases_tables[i].name, name) == 0)
            return i;
    return -1;
}

static bool read_row(struct document *d, struct cursor *c, uint64_t table)
{
    const struct table_decl *decl = &phases_tables[table];
    union table_cell cells[32] = {0};
    for (size_t i = 0; i < decl->column_count; i++) {
        const struct table_column *column = &decl->columns[i];
        uint64_t value = column->type == TABLE_NUMBER ? cursor_u64(c) : column->type == TABLE_TEXT ? 0 : cursor_uleb(c);
        size_t len;
        if (column->type == TABLE_NUMBER) {
            memcpy(&cells[i].number, &value, sizeof value);
        } else if (column->type == TABLE_TEXT) {
            const char *text = cursor_text(c, &len);
            cells[i].text = text ? strtab_addn(d->strings, text, len) : 0;
        } else if (column->type == TABLE_REF) {
            int to = table_named(column->refers);
            if (to >= 0 && value > d->rows[to].count)
                return false; /* of a row that has not been written */
            cells[i].row = value == 0 ? TABLE_NONE : to < 0 ? (uint32_t)value - 1 : d->rows[to].items[value - 1];
        } else {
            cells[i].count = value - 1;
        }
    }
    *vec_push(&d->rows[table]) = table_add(d->tables.items[table], cells);
    return !c->bad;
}

static bool read_blocks(struct document *d, const struct out *o)
{
    enum { MOST = (1 << 20) + 4096 }; /* bytes */
    struct cursor c = cursor_make(o->bytes.items, o->bytes.count);
    while (cursor_left(&c) > 0 && !c.bad) {
        uint32_t type = cursor_u32(&c), length = cursor_u32(&c);
        cursor_u64(&c); /* checksums */
        struct cursor b = cursor_make(cursor_bytes(&c, length), length);
        uint64_t table = cursor_uleb(&b), n = cursor_uleb(&b);
        if (type != FORMAT_ROWS || table >= PHASES_RECORDED || n == 0 || length > MOST)
            return false;
        while (n-- > 0)
            if (!read_row(d, &b, table))
                return false;
        if (cursor_left(&b))
            return false;
    }
    return !c.bad;
}

/* ---- current state ----------------------------------------------------------------------------------------------- */

static union table_cell count(uint64_t n)
{
    return (union table_cell){.count = n};
}

static union table_cell at_time(uint64_t mono)
{
    return count(hpcrec.start_ns + mono - hpcrec.start_mono);
}

static union table_cell ref(uint32_t row)
{
    return (union table_cell){.row = row};
}

static union table_cell text(struct document *d, const char *s)
{
    return (union table_cell){.text = strtab_add(d->strings, s)};
}

#define ADD(d, table, ...) table_add((d)->tables.items[table], (union table_cell[]){__VA_ARGS__})

static uint32_t barrier_row[SITES_MAX + 1]; /* [site + 1] */

static void list_barriers(struct document *d)
{
    union table_cell none = {.number = NAN}, nobody = ref(TABLE_NONE), never = count(TABLE_NO_COUNT);
    memset(barrier_row, 0xff, sizeof barrier_row); /* TABLE_NONE */
    for (uint32_t i = 0; i < SITES + 2; i++) {
        const struct site *s = &hpcrec_phases.sites[site_index(i)];
        bool met = s->sums.episodes > 0;
        if (s->kind >= FIRST_WAIT || !s->resolved)
            continue;
        uint32_t row = barrier_row[site_index(i) + 1] =
            ADD(d, PHASES_BARRIERS, ref(s->pc ? s->context : TABLE_NONE), text(d, phases_kind_words[s->kind]),
                text(d, s->name), count(s->number), count(s->sums.episodes), count(s->sums.passages), count(s->threads),
                count(s->sums.phase), count(s->sums.barrier), count(s->sums.idle), count(s->sums.overhead),
                count(s->worst), met ? count(s->best) : never, count(s->longest), met ? count(s->shortest) : never,
                {.number = s->sums.squares}, count(s->sums.broken), met ? at_time(s->first) : never,
                met ? at_time(s->last) : never, ref(s->region_row ? s->region_row : TABLE_NONE), none, none, none, none,
                nobody, none, never);
        for (int k = 0; k < TIMES; k++)
            if (s->times[k])
                ADD(d, PHASES_TIMES, ref(row), count(k ? 1ull << k : 0), count(s->times[k]));
    }
}

static bool is_listed(uint32_t site_plus_1)
{
    return barrier_row[site_plus_1] != TABLE_NONE;
}

static void list_cells(struct document *d)
{
    for (uint32_t i = 0; i < hpcrec_phases.cell_count; i++) {
        const struct pair_cell *c = &hpcrec_phases.cells[i];
        uint32_t kind = c->key >> 56, a = c->key >> 28 & 0xfffffff, b = c->key & 0xfffffff;
        union table_cell n[] = {count(c->now[0]), count(c->now[1]), count(c->now[2]), count(c->now[3])};
        if (kind == CELL_WAITS_FOR)
            ADD(d, PHASES_WAITS_FOR, ref(a), ref(b), n[0], n[1]);
        else if (kind == CELL_THREAD && is_listed(a + 1))
            ADD(d, PHASES_THREADS, ref(barrier_row[a + 1]), ref(b), n[0], n[1], n[2], n[3]);
        else if (kind == CELL_PHASE && is_listed(a + 1) && (b == 0 || is_listed(b)))
            ADD(d, PHASES_PHASES, ref(barrier_row[a + 1]), ref(barrier_row[b]), n[0], n[1], n[2]);
    }
}

static void list_episode(struct document *d, uint32_t barrier, const struct kept *k)
{
    uint32_t row = ADD(d, PHASES_EPISODES, ref(barrier), count(k->number), at_time(k->begin), at_time(k->first),
                       at_time(k->last), at_time(k->release), count(k->last - k->begin), count(k->last - k->first),
                       count(k->idle), count(k->threads), ref(k->last_row));
    for (uint32_t i = 0; i < k->listed; i++)
        ADD(d, PHASES_ARRIVALS, ref(row), ref(k->arrivals[i].row), count(k->arrivals[i].order),
            at_time(k->arrivals[i].at), count(k->last - k->arrivals[i].at));
}

static void list_waits(struct document *d)
{
    for (uint32_t i = 0; i < SITES + 2; i++) {
        const struct site *s = &hpcrec_phases.sites[site_index(i)];
        if (s->kind >= FIRST_WAIT && s->resolved && s->wait_times)
            ADD(d, PHASES_WAITS, ref(s->pc ? s->context : TABLE_NONE), text(d, phases_kind_words[s->kind]),
                count(s->wait_times), count(s->wait_ns), count(s->wait_worst));
    }
}

static void list_passages(struct document *d)
{
    const struct passage *p = hpcrec_phases.passages.items;
    for (size_t i = 0; i < hpcrec_phases.passages.count; i++)
        if (is_listed(p[i].site + 1))
            ADD(d, PHASES_PASSAGES, ref(barrier_row[p[i].site + 1]), ref(p[i].row), ref(barrier_row[p[i].from]),
                count(p[i].group), count(p[i].ranks), count(p[i].number), at_time(p[i].begun), at_time(p[i].arrived),
                at_time(p[i].left));
}

static void list_states(struct document *d)
{
    for (uint32_t i = 0; i < THREADS - 1; i++) {
        const struct phases_thread *t = &phases_threads[i];
        const struct site *s = &hpcrec_phases.sites[t->waits_at];
        bool waits = t->waits_since && !has_joined[i], barrier = waits && s->kind < FIRST_WAIT;
        const char *word = has_joined[i] ? "between parallel regions"
                           : barrier     ? "at barrier"
                           : waits       ? phases_kind_words[s->kind]
                                         : "running";
        uint32_t place = waits && s->resolved ? s->context : last_context[i];
        uint64_t since = waits ? t->waits_since : t->begun;
        ADD(d, PHASES_STATES, ref(i), text(d, word), since ? at_time(since) : count(TABLE_NO_COUNT), ref(place),
            ref(barrier_row[barrier ? t->waits_at + 1 : t->phase]), count(t->passed));
    }
}

/* ---- comparing --------------------------------------------------------------------------------------------------------------- */

static const char *at_name(const struct document *d, const struct table_column *c, union table_cell cell)
{
    static char number[2][32];
    static int turn;
    if (c->type == TABLE_TEXT)
        return strtab_get(d->strings, cell.text);
    turn ^= 1;
    if (table_cell_missing(c, cell))
        return "-";
    if (c->type == TABLE_NUMBER)
        snprintf(number[turn], sizeof number[turn], "%.17g", cell.number);
    else
        snprintf(number[turn], sizeof number[turn], "%llu",
                 c->type == TABLE_REF ? (unsigned long long)cell.row : (unsigned long long)cell.count);
    return number[turn];
}

static bool same_table(const struct document *got, const struct document *wanted, int table)
{
    const struct table *a = got->tables.items[table], *b = wanted->tables.items[table];
    const struct table_decl *decl = &phases_tables[table];
    if (table_row_count(a) != table_row_count(b)) {
        printf("# %s: %zu rows, %zu wanted\n", decl->name, table_row_count(a), table_row_count(b));
        return false;
    }
    for (size_t r = 0; r < table_row_count(a); r++)
        for (size_t i = 0; i < decl->column_count; i++) {
            const char *x = at_name(got, &decl->columns[i], table_row(a, r)[i]),
                       *y = at_name(wanted, &decl->columns[i], table_row(b, r)[i]);
            if (strcmp(x, y) != 0) {
                printf("# %s, row %zu, %s: %s, %s wanted\n", decl->name, r, decl->columns[i].name, x, y);
                return false;
            }
        }
    return true;
}

/* Both are sorted, which moves rows: into copies. */
static struct document sorted(const struct document *d)
{
    struct document s;
    document_begin(&s);
    CHECK_NAMED(table_list_merge(&s.tables, s.strings, &d->tables, NULL, 0, NULL) == 0, "a copy");
    table_list_sort(&s.tables);
    return s;
}

static void check_same(const struct document *got, const struct document *wanted)
{
    struct document a = sorted(got), b = sorted(wanted);
    for (int i = 0; i < PHASES_RECORDED; i++)
        CHECK_NAMED(same_table(&a, &b, i), phases_tables[i].name);
    document_end(&a);
    document_end(&b);
}

/* ---- rounds ---------------------------------------------------------------------------------------------------------------------- */

struct file {
    struct document read;
    struct VEC(struct kept) kept; /* all that existed when it was written, including those replaced since */
    struct VEC(uint32_t) kept_by; /* their sites */
    uint64_t last_kept;
};

static void file_begin(struct file *f)
{
    *f = (struct file){0};
    document_begin(&f->read);
}

static void file_end(struct file *f)
{
    document_end(&f->read);
    vec_release(&f->kept);
    vec_release(&f->kept_by);
}

static void keep_episodes(struct file *f)
{
    uint64_t last = f->last_kept;
    for (uint32_t i = 0; i < SITES; i++) {
        const struct kept_set *set = hpcrec_phases.sites[i].resolved ? hpcrec_phases.sites[i].kept : NULL;
        for (int k = 0; set && k < KEPT_WORST + KEPT_SAMPLE; k++) {
            const struct kept *e = k < KEPT_WORST ? &set->worst[k] : &set->sample[k - KEPT_WORST];
            if (e->number > f->last_kept) {
                *vec_push(&f->kept) = *e;
                *vec_push(&f->kept_by) = i;
            }
            last = e->number > last ? e->number : last;
        }
    }
    f->last_kept = last;
}

static void check_file(const struct file *f)
{
    struct document wanted;
    document_begin(&wanted);
    list_barriers(&wanted);
    list_cells(&wanted);
    for (size_t i = 0; i < f->kept.count; i++)
        list_episode(&wanted, barrier_row[f->kept_by.items[i] + 1], &f->kept.items[i]);
    list_waits(&wanted);
    list_passages(&wanted);
    list_states(&wanted);
    check_same(&f->read, &wanted);
    document_end(&wanted);
}

/* How many bytes were put. */
static size_t put_now(struct file *f, bool all)
{
    struct out o = {0};
    hpcrec_phases_write(&o, all);
    CHECK_NAMED(read_blocks(&f->read, &o), "blocks are whole");
    size_t n = o.bytes.count;
    hpcrec_area_free(&o.bytes, 1);
    return n;
}

/* Contexts are renumbered when everything is rewritten. */
static void move_contexts(void)
{
    uint32_t moved[CONTEXTS], by = 1 + below(CONTEXTS - 1);
    for (uint32_t i = 0; i < CONTEXTS; i++)
        moved[i] = (i + by) % CONTEXTS;
    hpcrec_phases_moved(moved);
}

/* Also of barriers without arrivals, except for the one that collects the overflow. */
static bool used_are_resolved(void)
{
    bool good = true;
    for (uint32_t i = 0; i < SITES + 2; i++) {
        const struct site *s = &hpcrec_phases.sites[site_index(i)];
        bool came = s->kind >= FIRST_WAIT ? s->wait_times != 0 : s->sums.episodes || s->sums.broken || s->pc;
        good = good && (!is_there(i) || s->resolved == came);
    }
    return good;
}

static void put_and_check(struct file *f, bool all)
{
    if (all) {
        file_end(f);
        file_begin(f);
        move_contexts();
    }
    hpcrec_phases_resolve();
    CHECK_NAMED(used_are_resolved(), "places that something came to have their contexts, and no others");
    grow_late();
    CHECK_NAMED(put_now(f, all) > 0, "something was put");
    CHECK_NAMED(!is_locked, "the lock is free");
    keep_episodes(f);
    check_file(f);
}

static void test_rounds(void)
{
    struct file f;
    file_begin(&f);
    for (int round = 0; round < 60; round++) {
        grow();
        put_and_check(&f, below(6) == 0);
        if (round % 8 == 0)
            CHECK_INT(put_now(&f, false), 0); /* no changes */
        if (round % 8 == 1) {
            grow();
            is_locked = true; /* it waits for the next time */
            CHECK_INT(put_now(&f, round % 16 == 1), 0);
            is_locked = false;
        }
    }
    grow_passages(60000); /* more than a block has */
    put_and_check(&f, false);
    put_and_check(&f, true);
    CHECK(hpcrec.keep_empty);
    CHECK_INT(site_count(), SITES);
    for (uint32_t i = 0; i < CONTEXTS; i++)
        CHECK_NAMED(asked[i] <= 1, "a context is asked for once");
    CHECK_INT(missing, 0);
    hpcrec_phases.kept_full = true;
    put_and_check(&f, true);
    CHECK_INT(missing, 1);
    CHECK(folded > 60);
    hpcrec_phases.on = false;
    CHECK_INT(put_now(&f, true), 0);
    file_end(&f);
}

/* ---- declarations ---------------------------------------------------------------------------------------------------------------- */

static bool is_text(struct cursor *c, const char *wanted)
{
    size_t len;
    const char *got = cursor_text(c, &len);
    wanted = wanted ? wanted : "";
    return got && len == strlen(wanted) && memcmp(got, wanted, len) == 0;
}

static void test_declared(void)
{
    struct out o = {0};
    hpcrec_phases_declare(&o);
    CHECK_INT(o.bytes.count, 0); /* not requested */
    hpcrec_phases.on = true;
    hpcrec_phases_declare(&o);
    struct cursor c = cursor_make(o.bytes.items, o.bytes.count);
    CHECK(cursor_u32(&c) == FORMAT_TABLES);
    CHECK_INT(cursor_u32(&c), o.bytes.count - FORMAT_BLOCK_BYTES);
    cursor_u64(&c);
    CHECK_INT(cursor_uleb(&c), PHASES_RECORDED);
    for (int i = 0; i < PHASES_RECORDED; i++) {
        const struct table_decl *d = &phases_tables[i];
        CHECK(is_text(&c, d->name) && is_text(&c, d->title) && is_text(&c, d->description));
        CHECK_INT(cursor_uleb(&c), d->column_count);
        for (size_t k = 0; k < d->column_count; k++) {
            const struct table_column *column = &d->columns[k];
            CHECK(is_text(&c, column->name) && is_text(&c, column->title ? column->title : column->name) &&
                  is_text(&c, column->unit) && is_text(&c, column->description));
            CHECK_INT(cursor_uleb(&c), column->type);
            CHECK_INT(cursor_uleb(&c), column->merge);
            CHECK(is_text(&c, column->refers));
        }
    }
    CHECK_INT(cursor_left(&c), 0);
    hpcrec_area_free(&o.bytes, 1);
}

int main(void)
{
    RUN(test_declared);
    begin_world();
    RUN(test_rounds);
    for (uint32_t i = 0; i < SITES; i++)
        mem_free(hpcrec_phases.sites[i].kept);
    guarded_put(hpcrec_phases.sites, SITES_MAX * sizeof(struct site));
    guarded_put(hpcrec_phases.cells, hpcrec_phases.cell_count * sizeof(struct pair_cell));
    hpcrec_area_free(&hpcrec_phases.passages, sizeof(struct passage));
    return tap_done();
}
