/*
 * What becomes of barriers inside a measured program: threads of the test's own come and go by a clock of the test's own, in
 * any order that barriers allow, and the sums of each place, who waited for whom, and the kept episodes are held against
 * what the definitions in tables.h make of the same times.
 */
#include "phases/inside/inside.h"

#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <stdlib.h>

/* ---- the world ------------------------------------------------------------------------------------------------- */

static uint64_t now = 1000000;

int world_clock_gettime(clockid_t id, struct timespec *t)
{
    (void)id;
    now += 1 + (below(20) ? below(2000) : below(40000000));
    *t = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    return 0;
}

struct recorder hpcrec;
struct phases hpcrec_phases;
_Thread_local struct thread *hpcrec_self;

void *hpcrec_map(size_t bytes)
{
    return guarded_get(bytes);
}

void hpcrec_unmap(void *p, size_t bytes)
{
    guarded_put(p, bytes);
}

struct text hpcrec_text(char *to, size_t room)
{
    struct text t = {.at = to, .end = to + room};
    *to = '\0';
    return t;
}

void hpcrec_text_str(struct text *t, const char *s)
{
    while (*s && t->at + 1 < t->end)
        *t->at++ = *s++;
    *t->at = '\0';
}

void phases_enter(struct phases_thread *t, uint32_t site, uint64_t begun)
{
    t->begun = begun;
    t->phase = site + 1;
}

/* ---- what is to come of it ------------------------------------------------------------------------------------------- */

enum { THREADS = 12, BARRIERS = 5, EPISODES = 900, SITES = 8 };

struct naive_episode {
    uint64_t begin, first, last, release, idle;
    uint32_t threads, last_row;
};

struct naive_site {
    uint64_t episodes, passages, phase, barrier, idle, overhead, worst, best, longest, shortest, first, last, threads;
    double squares;
    uint64_t times[TIMES];
    struct naive_episode all[EPISODES + 1]; /* from 1 */
} naive_sites[SITES];

static uint64_t thread_cells[SITES][THREADS][4], waits_cells[THREADS][THREADS][2], phase_cells[SITES][SITES + 1][3];

struct member {
    struct thread thread;
    struct phases_thread phases;
    int at; /* barrier; -1: outside */
    struct passing passing;
    uint64_t begun, arrived; /* of its own clock */
    uint32_t from;           /* site + 1 */
} members[THREADS];

struct meeting {
    struct object *object;
    uint32_t size, site, inside, left; /* left: of those who came */
    bool open;                         /* all have come: they may go */
    uint64_t arrived[THREADS], begun[THREADS], first_left;
    uint32_t order[THREADS], from[THREADS];
} meetings[BARRIERS];

static void finish_naively(struct meeting *m)
{
    struct naive_site *s = &naive_sites[m->site];
    uint32_t n = m->size, last = m->order[n - 1];
    struct naive_episode e = {.first = m->arrived[m->order[0]],
                              .last = m->arrived[last],
                              .release = m->first_left,
                              .threads = n,
                              .last_row = last};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t who = m->order[i];
        uint64_t waited = e.last - m->arrived[who];
        e.idle += waited;
        e.begin = m->begun[who] > e.begin ? m->begun[who] : e.begin;
        uint64_t *cell = thread_cells[m->site][who];
        cell[0]++;
        cell[1] += who == last;
        cell[2] += waited;
        cell[3] += m->arrived[who] - m->begun[who];
        if (who != last) {
            waits_cells[who][last][0]++;
            waits_cells[who][last][1] += waited;
        }
    }
    e.begin = e.begin > e.first ? e.first : e.begin;
    uint64_t barrier = e.last - e.first, phase = e.last - e.begin, *cell = phase_cells[m->site][m->from[last]];
    cell[0]++;
    cell[1] += phase;
    cell[2] += barrier;
    if (!s->episodes)
        s->best = s->shortest = s->first = UINT64_MAX;
    s->episodes++;
    s->passages += n;
    s->phase += phase;
    s->barrier += barrier;
    s->idle += e.idle;
    s->overhead += e.release - e.last;
    s->squares += (double)barrier / 1e6 * ((double)barrier / 1e6);
    unsigned bucket = 0;
    while (bucket + 1 < TIMES && barrier >> (bucket + 1))
        bucket++;
    s->times[bucket]++;
    s->worst = barrier > s->worst ? barrier : s->worst;
    s->best = barrier < s->best ? barrier : s->best;
    s->longest = phase > s->longest ? phase : s->longest;
    s->shortest = phase < s->shortest ? phase : s->shortest;
    s->first = e.first < s->first ? e.first : s->first;
    s->last = e.last > s->last ? e.last : s->last;
    s->threads = n > s->threads ? n : s->threads;
    s->all[s->episodes] = e;
}

/* ---- coming and going --------------------------------------------------------------------------------------------------- */

static void arrive(uint32_t who, int barrier)
{
    struct member *t = &members[who];
    struct meeting *m = &meetings[barrier];
    hpcrec_self = &t->thread;
    m->begun[who] = t->phases.begun;
    m->from[who] = t->phases.phase;
    t->passing = phases_arrive(&t->phases, m->object, m->site);
    t->at = barrier;
    m->arrived[who] = now;
    m->order[m->inside++] = who;
    m->open = m->inside == m->size;
    m->first_left = UINT64_MAX;
}

static void leave(uint32_t who)
{
    struct member *t = &members[who];
    struct meeting *m = &meetings[t->at];
    hpcrec_self = &t->thread;
    phases_leave(&t->phases, &t->passing);
    m->first_left = now < m->first_left ? now : m->first_left;
    t->at = -1;
    if (++m->left == m->size) {
        finish_naively(m);
        m->inside = m->left = 0;
        m->open = false;
    }
}

/* Whoever is outside comes to a barrier that is not open; whoever is at an open one goes. */
static void step(void)
{
    uint32_t who = below(THREADS);
    struct member *t = &members[who];
    if (t->at >= 0) {
        if (meetings[t->at].open)
            leave(who);
        return;
    }
    int barrier = (int)below(BARRIERS);
    uint32_t waiting = 0;
    for (int b = 0; b < BARRIERS; b++)
        waiting += meetings[b].inside > 0 && !meetings[b].open ? meetings[b].size - meetings[b].inside : 0;
    bool begins = meetings[barrier].inside == 0;
    uint32_t outside = 0;
    for (uint32_t i = 0; i < THREADS; i++)
        outside += members[i].at < 0;
    if (meetings[barrier].open || naive_sites[meetings[barrier].site].episodes >= EPISODES ||
        (begins && outside < waiting + meetings[barrier].size)) /* or all would wait for all */
        return;
    arrive(who, barrier);
}

/* ---- comparing ------------------------------------------------------------------------------------------------------------- */

static bool same(uint64_t got, uint64_t wanted, const char *what)
{
    if (got != wanted)
        printf("# %s: %llu, %llu wanted\n", what, (unsigned long long)got, (unsigned long long)wanted);
    return got == wanted;
}

static void check_site(uint32_t at)
{
    const struct site *s = &hpcrec_phases.sites[at];
    const struct naive_site *n = &naive_sites[at];
    bool good = same(s->sums.episodes, n->episodes, "episodes") && same(s->sums.passages, n->passages, "passages") &&
                same(s->sums.phase, n->phase, "phase") && same(s->sums.barrier, n->barrier, "barrier") &&
                same(s->sums.idle, n->idle, "idle") && same(s->sums.overhead, n->overhead, "overhead") &&
                same(s->sums.broken, 0, "broken") && same(s->worst, n->worst, "worst") &&
                same(s->best, n->best, "best") && same(s->longest, n->longest, "longest") &&
                same(s->shortest, n->shortest, "shortest") && same(s->first, n->first, "first") &&
                same(s->last, n->last, "last") && same(s->threads, n->threads, "threads") &&
                s->sums.squares > n->squares * 0.999999 - 1e-9 && s->sums.squares < n->squares * 1.000001 + 1e-9;
    for (int i = 0; i < TIMES; i++)
        good = good && same(s->times[i], n->times[i], "times");
    CHECK_NAMED(good, "sums of a place");
}

static bool same_kept(const struct kept *k, const struct naive_site *n)
{
    if (k->number == 0 || k->number > n->episodes)
        return same(k->number, 0, "number");
    const struct naive_episode *e = &n->all[k->number];
    bool good = same(k->begin, e->begin, "begin") && same(k->first, e->first, "first") &&
                same(k->last, e->last, "last") && same(k->release, e->release, "release") &&
                same(k->idle, e->idle, "idle") && same(k->threads, e->threads, "threads") &&
                same(k->last_row, e->last_row, "last one") && same(k->listed, e->threads, "listed");
    for (uint32_t i = 0; i < k->listed && good; i++)
        good = k->arrivals[i].order == i + 1 && k->arrivals[i].at >= e->first && k->arrivals[i].at <= e->last &&
               (i == 0 || k->arrivals[i].at > k->arrivals[i - 1].at);
    return good && k->arrivals[0].at == e->first && k->arrivals[k->listed - 1].at == e->last;
}

/* Every n-th is kept, n doubling when there are too many; of the others those with the longest barrier times. */
static void check_kept(uint32_t at)
{
    const struct naive_site *n = &naive_sites[at];
    const struct kept_set *set = hpcrec_phases.sites[at].kept;
    uint64_t stride = 1, in_sample = 0, wanted = 0, found = 0;
    bool sampled[EPISODES + 1] = {false}, good = set != NULL;
    for (uint64_t i = 1; i <= n->episodes && good; i++) {
        while ((i - 1) % stride == 0 && in_sample == KEPT_SAMPLE) {
            stride *= 2;
            in_sample = 0;
            for (uint64_t k = 1; k < i; k++)
                in_sample += (k - 1) % stride == 0;
        }
        sampled[i] = (i - 1) % stride == 0;
        in_sample += sampled[i];
    }
    for (uint64_t i = 1; i <= n->episodes; i++)
        wanted += (i - 1) % stride == 0;
    for (int i = 0; i < KEPT_SAMPLE && good; i++) {
        good = same_kept(&set->sample[i], n);
        found += set->sample[i].number && (set->sample[i].number - 1) % stride == 0;
    }
    good = good && same(set->stride, stride, "stride") && same(found, wanted, "kept in the sample");
    for (int i = 0; i < KEPT_WORST && good; i++) {
        const struct kept *k = &set->worst[i];
        uint64_t longer = 0;
        good = same_kept(k, n) && k->number && !sampled[k->number];
        for (uint64_t e = 1; e <= n->episodes && good; e++)
            longer += !sampled[e] && n->all[e].last - n->all[e].first > k->last - k->first;
        good = good && longer < KEPT_WORST;
    }
    CHECK_NAMED(good, "kept episodes of a place");
}

static const struct pair_cell *find_cell(enum cell_kind kind, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < hpcrec_phases.cell_count; i++)
        if (hpcrec_phases.cells[i].key == ((uint64_t)kind << 56 | (uint64_t)a << 28 | b))
            return &hpcrec_phases.cells[i];
    return NULL;
}

static bool same_cell(enum cell_kind kind, uint32_t a, uint32_t b, const uint64_t *values, int count, size_t *known)
{
    const struct pair_cell *c = find_cell(kind, a, b);
    bool good = (c != NULL) == (values[0] > 0);
    *known += c != NULL;
    for (int i = 0; i < count && c; i++)
        good = good && same(c->now[i], values[i], "a cell");
    return good;
}

static void check_cells(void)
{
    bool good = true;
    size_t known = 0;
    for (uint32_t s = 0; s < SITES; s++)
        for (uint32_t t = 0; t < THREADS; t++)
            good = good && same_cell(CELL_THREAD, s, t, thread_cells[s][t], 4, &known);
    CHECK_NAMED(good, "how each thread came");
    for (uint32_t a = 0; a < THREADS; a++)
        for (uint32_t b = 0; b < THREADS; b++)
            good = good && same_cell(CELL_WAITS_FOR, a, b, waits_cells[a][b], 2, &known);
    CHECK_NAMED(good, "who waited for whom");
    for (uint32_t s = 0; s < SITES; s++)
        for (uint32_t f = 0; f <= SITES; f++)
            good = good && same_cell(CELL_PHASE, s, f, phase_cells[s][f], 3, &known);
    CHECK_NAMED(good, "phases by what they lie between");
    CHECK_INT(known, hpcrec_phases.cell_count);
}

/* ---- barriers ------------------------------------------------------------------------------------------------------------------ */

static void begin_world(void)
{
    CHECK(phases_sites_begin() && phases_cells_begin() && phases_objects_begin());
    hpcrec.measuring = true;
    for (uint32_t i = 0; i < THREADS; i++) {
        members[i] = (struct member){.at = -1};
        members[i].thread.row = i;
        members[i].thread.begun = true;
        members[i].thread.phases = &members[i].phases;
        members[i].phases.begun = now + i;
    }
    now += THREADS;
}

static void test_barriers(void)
{
    static const uint32_t sizes[BARRIERS] = {THREADS, 2, 3, 4, 2};
    for (uint32_t b = 0; b < BARRIERS; b++) { /* two of one place; the last two do not know how many come */
        meetings[b] = (struct meeting){.size = sizes[b]};
        meetings[b].site = phases_site(&members[0].phases, 0x1000 + b / 2 * 0x40,
                                       b % 2 ? BARRIER_PTHREAD : BARRIER_USER, b > 2 ? "own" : NULL);
        meetings[b].object = phases_object_at(&meetings[b], b < 3 ? sizes[b] : 0, false);
        CHECK(meetings[b].object && meetings[b].object == phases_object_at(&meetings[b], sizes[b], false));
    }
    for (int i = 0; i < 400000; i++)
        step();
    for (int round = 0; round < 100000; round++) { /* those who wait still, are joined */
        uint32_t who = below(THREADS);
        if (members[who].at >= 0 && meetings[members[who].at].open)
            leave(who);
        else if (members[who].at < 0)
            for (int b = 0; b < BARRIERS; b++)
                if (meetings[b].inside && !meetings[b].open) {
                    arrive(who, b);
                    break;
                }
    }
    for (uint32_t b = 0; b < BARRIERS; b++) {
        CHECK_INT(meetings[b].inside, 0);
        CHECK(naive_sites[meetings[b].site].episodes > 100);
    }
    for (uint32_t s = 0; s < atomic_load(&hpcrec_phases.site_count); s++) {
        check_site(s);
        check_kept(s);
    }
    check_cells();
}

/* An episode that nobody ends is broken where the next one runs over it; a new barrier at an old address forgets who was
   inside. */
static void test_broken(void)
{
    struct phases_thread *t = &members[0].phases, *u = &members[1].phases;
    static int place;
    uint32_t site = phases_site(t, 0x9000, BARRIER_PTHREAD, NULL);
    struct object *o = phases_object_at(&place, 2, true);
    const struct sums *sums = &hpcrec_phases.sites[site].sums;
    struct passing a = phases_arrive(t, o, site), b;
    (void)a;
    CHECK(phases_object_at(&place, 2, true) == o); /* made anew: the one who came is forgotten */
    uint32_t episode = a.episode;
    a = phases_arrive(t, o, site);
    CHECK_INT(a.episode, episode + 2);
    b = phases_arrive(u, o, site);
    CHECK_INT(b.episode, a.episode);
    CHECK_INT(a.index, 0);
    CHECK_INT(b.index, 1);
    CHECK(atomic_load(&t->waits_since) > 0 && atomic_load(&t->waits_at) == site);
    uint64_t passed = atomic_load(&t->passed);
    phases_leave(t, &a);
    CHECK_INT(atomic_load(&t->waits_since), 0);
    CHECK_INT(atomic_load(&t->passed), passed + 1);
    CHECK_INT(sums->episodes, 0);
    phases_leave(u, &b);
    CHECK_INT(sums->episodes, 1);
    CHECK_INT(t->phase, site + 1);
    CHECK_INT(t->begun, hpcrec_phases.sites[site].last);
    /* more come than it waits for: each two are an episode, whoever has not left */
    struct passing many[40];
    for (int i = 0; i < 40; i++) {
        many[i] = phases_arrive(i % 2 ? u : t, o, site);
        CHECK(many[i].index == (uint32_t)(i % 2) && many[i].episode == many[i / 2 * 2].episode);
    }
    CHECK(sums->episodes >= 1 + 20 - BUFFERS);
    for (int i = 0; i < 40; i++)
        phases_leave(i % 2 ? u : t, &many[i]);
    CHECK_INT(sums->episodes, 21);
    CHECK_INT(sums->passages, 42);
    CHECK_INT(sums->broken, 0);
    hpcrec.measuring = false;
    a = phases_arrive(t, o, site);
    b = phases_arrive(u, o, site);
    phases_leave(t, &a);
    phases_leave(u, &b);
    CHECK_INT(sums->episodes, 21);
    hpcrec.measuring = true;
}

/* Slots in any order, and who watches is told of each: as many as there is room for. */
static void test_folded(void)
{
    enum { LISTED = 70 };
    struct phases_thread *t = &members[0].phases;
    uint32_t site = phases_site(t, 0xa000, BARRIER_PTHREAD, "folded");
    struct site *s = &hpcrec_phases.sites[site];
    hpcrec.config.watch = true;
    for (uint32_t round = 0; round < NOTICES + 20; round++) {
        struct slot slots[LISTED];
        uint32_t n = 1 + below(LISTED), last = 0;
        uint64_t from = now, first = UINT64_MAX, latest = 0, begin = 0, release = UINT64_MAX, idle = 0;
        struct sums before = s->sums;
        for (uint32_t i = 0; i < n; i++) {
            slots[i] =
                (struct slot){.arrived = from + 1000 * (uint64_t)below(1 << 20) + i, .row = i, .site = site, .from = 1};
            slots[i].begun = from - below(1000);
            first = slots[i].arrived < first ? slots[i].arrived : first;
            last = slots[i].arrived > latest ? i : last;
            latest = slots[i].arrived > latest ? slots[i].arrived : latest;
            begin = slots[i].begun > begin ? slots[i].begun : begin;
        }
        for (uint32_t i = 0; i < n; i++) {
            slots[i].left = below(3) ? latest + below(5000) : 0;
            release = slots[i].left && slots[i].left < release ? slots[i].left : release;
            idle += latest - slots[i].arrived;
        }
        phases_fold_slots(slots, n, n + 3);
        release = release == UINT64_MAX ? latest : release;
        bool good = s->sums.idle - before.idle == idle && s->sums.barrier - before.barrier == latest - first &&
                    s->sums.phase - before.phase == latest - begin && s->sums.passages - before.passages == n + 3 &&
                    s->sums.overhead - before.overhead == release - latest;
        for (uint32_t i = 1; i < n; i++)
            good = good && slots[i - 1].arrived < slots[i].arrived;
        const struct notice *told = &hpcrec_phases.notices[(hpcrec_phases.notice_head - 1) % NOTICES];
        if (round < NOTICES)
            good = good && told->number == s->sums.episodes && told->first == first && told->last == latest &&
                   told->begin == begin && told->threads == n + 3 && told->last_row == last && told->site == site &&
                   !told->warn && !told->passage;
        now += 2000000000;
        if (!good || round == 0)
            CHECK_NAMED(good, "slots in any order");
    }
    CHECK_INT(hpcrec_phases.notice_head - hpcrec_phases.notice_tail, NOTICES);
    CHECK_INT(hpcrec_phases.notices_lost, 20);
    hpcrec.config.watch = false;
    hpcrec_phases.notice_tail = hpcrec_phases.notice_head;
    hpcrec.config.warn_ns = 500; /* of those as long as that */
    for (uint64_t barrier = 499; barrier <= 500; barrier++) {
        struct slot two[] = {{.arrived = now, .begun = now, .site = site},
                             {.arrived = now + barrier, .begun = now, .site = site}};
        phases_fold_slots(two, 2, 2);
        CHECK_INT(hpcrec_phases.notice_head - hpcrec_phases.notice_tail, barrier == 500);
    }
    hpcrec.config.warn_ns = 0;
}

/* ---- places, waits --------------------------------------------------------------------------------------------------------------- */

static void test_sites(void)
{
    enum { DIFFERENT = SITES_MAX / 4 * 5 + 300 };
    static struct phases_thread t;
    static const char *const names[] = {NULL, "", "a", "ab", "b"};
    static const enum site_kind kinds[] = {BARRIER_USER, FIRST_WAIT, WAIT_JOIN};
    static uint32_t seen[DIFFERENT];
    uint32_t before = atomic_load(&hpcrec_phases.site_count), barriers = hpcrec_phases.barrier_count;
    bool good = true;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < DIFFERENT; i++) {
            enum site_kind kind = kinds[i / 5 % 3];
            uint64_t pc = 0x500000 + i / 15 * 8;
            uint32_t site = phases_site(&t, pc, kind, names[i % 5]);
            const struct site *s = &hpcrec_phases.sites[site];
            if (pass == 0) {
                seen[i] = site;
                bool is_new = site == before && before < SITES_MAX - 2; /* NULL and "" are one name */
                if (is_new) {
                    before++;
                    barriers += kind < FIRST_WAIT;
                    good = good && (kind < FIRST_WAIT ? s->number == barriers : s->number == 0);
                }
                good = good && (is_new || site == (kind < FIRST_WAIT ? SITES_MAX - 1 : SITES_MAX - 2) ||
                                (i > 0 && i % 5 == 1 && (site == seen[i - 1])));
            }
            good = good && site == seen[i];
            if (site < SITES_MAX - 2)
                good = good && s->pc == pc && s->kind == kind && strcmp(s->name, names[i % 5] ? names[i % 5] : "") == 0;
        }
    CHECK_NAMED(good, "a place is known by what calls, how, and by its name");
    CHECK_INT(before, SITES_MAX - 2);
    CHECK_INT(atomic_load(&hpcrec_phases.site_count), SITES_MAX - 2);
    CHECK_STR(hpcrec_phases.sites[SITES_MAX - 1].name, "(all others)");
}

static void test_waits(void)
{
    uint64_t times = 0, sum = 0, worst = 0;
    hpcrec_self = &members[3].thread;
    atomic_store(&members[3].phases.waits_since, 0);
    uint32_t site = phases_site(&members[3].phases, 0x77, WAIT_MUTEX, NULL);
    for (int i = 0; i < 500; i++) {
        struct waiting w = phases_wait_begin(0x77, WAIT_MUTEX);
        uint64_t since = now;
        CHECK(w.self == &members[3].phases && w.site == site && atomic_load(&members[3].phases.waits_since) == since);
        struct waiting inner = phases_wait_begin(0x78, WAIT_JOIN); /* inside of it: no other one */
        CHECK(inner.self == NULL);
        phases_wait_end(&inner, 0);
        hpcrec.measuring = i % 7 != 0;
        phases_wait_end(&w, 1000);
        if (now - since < 1000 || !hpcrec.measuring)
            continue;
        times++;
        sum += now - since;
        worst = now - since > worst ? now - since : worst;
    }
    hpcrec.measuring = true;
    const struct site *s = &hpcrec_phases.sites[site];
    CHECK_INT(atomic_load(&s->wait_times), times);
    CHECK_INT(atomic_load(&s->wait_ns), sum);
    CHECK_INT(atomic_load(&s->wait_worst), worst);
    hpcrec_self = NULL;
    struct waiting w = phases_wait_begin(0x77, WAIT_MUTEX); /* of a thread that nobody knows */
    CHECK(w.self == NULL);
    phases_wait_end(&w, 0);
}

/* A place is what calls, how, and by which name, of which so much counts as is kept; a thread's own memory of the last ones
   says the same. */
static void test_names(void)
{
    struct phases_thread *t = &members[0].phases, *u = &members[1].phases;
    char name[NAME_BYTES + 8], other[NAME_BYTES + 8];
    memset(name, 'n', sizeof name);
    memcpy(other, name, sizeof name);
    name[sizeof name - 1] = other[sizeof other - 1] = '\0';
    uint32_t site = phases_site(t, 0xb000, BARRIER_USER, name), barriers = hpcrec_phases.barrier_count;
    for (size_t i = 0; i < NAME_BYTES + 7; i++) {
        other[i] = 'o';
        bool same = i >= NAME_BYTES - 1;
        CHECK_INT(phases_site(t, 0xb000, BARRIER_USER, other) == site, same);
        CHECK_INT(phases_site(u, 0xb000, BARRIER_USER, other) == site, same);
        other[i] = 'n';
    }
    CHECK_INT(hpcrec_phases.barrier_count, barriers + NAME_BYTES - 1);
    CHECK_INT(strlen(hpcrec_phases.sites[site].name), NAME_BYTES - 1);
    CHECK_INT(phases_site(t, 0xb000, BARRIER_USER, name), site);
    CHECK(phases_site(t, 0xb000, BARRIER_USER, NULL) == site); /* what it is called is known */
    CHECK(phases_site(t, 0xb001, BARRIER_USER, NULL) != site);
    CHECK(phases_site(t, 0xb000, BARRIER_USER_LOOP, name) != site);
    const struct site *s = &hpcrec_phases.sites[site];
    CHECK(s->pc == 0xb000 && s->kind == BARRIER_USER && s->number == barriers);
    CHECK(s->best == UINT64_MAX && s->shortest == UINT64_MAX && s->first == UINT64_MAX && s->worst == 0);
    uint32_t wait = phases_site(t, 0xb000, WAIT_JOIN, NULL);
    CHECK(wait != site && hpcrec_phases.sites[wait].number == 0);
}

int main(void)
{
    begin_world();
    test_barriers();
    test_broken();
    test_folded();
    test_waits();
    test_names();
    test_sites();
    phases_objects_forget();
    phases_cells_forget();
    phases_lock();
    CHECK(!phases_trylock());
    phases_sites_forget(); /* in the child of a fork: whoever had the lock is not there */
    CHECK(phases_trylock());
    return tap_done();
}
