/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers inside a measured program: the test's own threads arrive and leave by the test's own clock, in any order
 * that barriers permit; the sums of each site, the wait matrix, and the kept episodes are compared with the definitions
 * in tables.h applied to the same times.
 */
#include "hpcprof/recorder/barriers/barriers.h"
#include "tests/fakes/fake_recorder_memory.h"

#include "tests/chance.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <sys/syscall.h>

/* ---- the world ------------------------------------------------------------------------------------------------- */

static uint64_t now = 1000000, next_after; /* next_after: time until the next reading of the clock; 0: random */

int fake_clock_gettime(clockid_t id, struct timespec *t)
{
    (void)id;
    now += next_after ? next_after : 1 + (below(20) ? below(2000) : below(40000000));
    next_after = 0;
    *t = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    return 0;
}

bool fake_fails(void)
{
    return below(4) == 0;
}

static unsigned yields, pauses, until_free; /* until_free: yields until the lock is released; 0: never */

long fake_syscall(long number, ...) /* local.mk */
{
    yields += number == SYS_sched_yield;
    pauses += number == SYS_nanosleep;
    if (until_free && --until_free == 0)
        phases_unlock();
    return 0;
}

struct recorder hpcrec;
struct phases hpcrec_phases;
_Thread_local struct thread *hpcrec_self;

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

/* ---- expected results -------------------------------------------------------------------------------------------- */

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
    uint64_t begun, arrived; /* by its own clock */
    uint32_t from;           /* site + 1 */
} members[THREADS];

struct meeting {
    struct object *object;
    uint32_t size, site, inside, left; /* left: number of those that have left */
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
        (begins && outside < waiting + meetings[barrier].size)) /* otherwise there would be a deadlock */
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

/* Every n-th is kept, with n doubled on overflow; of the others, those with the longest barrier times. */
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
    for (int i = 0; i < 4 && c; i++)
        good = good && same(c->written[i], 0, "what is written of it");
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
    for (uint32_t b = 0; b < BARRIERS; b++) { /* two with one site; the last two have unknown sizes */
        meetings[b] = (struct meeting){.size = sizes[b]};
        meetings[b].site = phases_site(&members[0].phases, 0x1000 + b / 2 * 0x40,
                                       b % 2 ? BARRIER_PTHREAD : BARRIER_USER, b > 2 ? "own" : NULL);
        meetings[b].object = phases_object_at(&meetings[b], b < 3 ? sizes[b] : 0, false);
        CHECK(meetings[b].object && meetings[b].object == phases_object_at(&meetings[b], sizes[b], false));
    }
    for (int i = 0; i < 400000; i++)
        step();
    for (int round = 0; round < 100000; round++) { /* threads that still wait join the barrier */
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

/* An unfinished episode becomes broken when the next one overruns it; a new barrier at an old address discards the
   threads inside. */
static void test_broken(void)
{
    struct phases_thread *t = &members[0].phases, *u = &members[1].phases;
    static int place;
    uint32_t site = phases_site(t, 0x9000, BARRIER_PTHREAD, NULL);
    struct object *o = phases_object_at(&place, 2, true);
    const struct sums *sums = &hpcrec_phases.sites[site].sums;
    struct passing a = phases_arrive(t, o, site), b;
    (void)a;
    CHECK(phases_object_at(&place, 2, true) == o); /* created anew: the earlier arrival is discarded */
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

/* ---- threads that never leave, more than expected, and barriers that are recreated ------------------------------- */

enum { CROWD = 60, PLACES = 3, MOST_EXPECTED = 40 };

/* A barrier as in inside.h: episodes use its buffers in turn, and each buffer keeps its contents until it is reused. */
static struct crowd {
    struct object *object;
    uint32_t expected, capacity, buffer_count, episode, came;
    struct {
        uint32_t episode, size, left; /* size 0: still unknown */
        bool done;
        uint64_t last;
        struct slot slots[CROWD];
    } buffers[BUFFERS];
} crowd;

static struct crowd_member {
    struct thread thread;
    struct phases_thread phases;
    struct passing passing;
    bool inside;
    uint32_t episode, index;
} crowd_members[CROWD];

static uint32_t crowd_sites[PLACES];
static struct sums crowd_sums[PLACES];

static struct sums *sums_at(uint32_t site)
{
    uint32_t i = 0;
    while (crowd_sites[i] != site)
        i++;
    return &crowd_sums[i];
}

static void sort_by_arrival(struct slot *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct slot t = v[i];
        uint32_t k = i;
        for (; k > 0 && t.arrived < v[k - 1].arrived; k--)
            v[k] = v[k - 1];
        v[k] = t;
    }
}

static void crowd_fold(uint32_t buffer)
{
    uint32_t size = crowd.buffers[buffer].size, listed = size < crowd.capacity ? size : crowd.capacity,
             site = UINT32_MAX;
    struct slot *v = crowd.buffers[buffer].slots;
    uint64_t begin = 0, release = UINT64_MAX, idle = 0;
    crowd.buffers[buffer].done = true;
    if (!hpcrec.measuring)
        return;
    sort_by_arrival(v, listed);
    uint64_t first = v[0].arrived, last = v[listed - 1].arrived;
    for (uint32_t i = 0; i < listed; i++) {
        idle += last - v[i].arrived;
        begin = v[i].begun > begin ? v[i].begun : begin;
        release = v[i].left && v[i].left < release ? v[i].left : release;
        site = v[i].site < site ? v[i].site : site;
    }
    struct sums *s = sums_at(site);
    s->episodes++;
    s->passages += size;
    s->barrier += last - first;
    s->phase += last - (begin < first ? begin : first);
    s->idle += idle;
    s->overhead += release == UINT64_MAX || release < last ? 0 : release - last;
}

/* Updates the expected state at an episode's end. */
static void crowd_count(uint32_t episode, uint32_t size, uint32_t leaving, uint32_t site)
{
    uint32_t b = episode % crowd.buffer_count, there = crowd.buffers[b].episode;
    if (there > episode || (there == episode && crowd.buffers[b].done))
        return;
    if (there < episode) {
        sums_at(site)->broken += !crowd.buffers[b].done && (crowd.buffers[b].size || crowd.buffers[b].left);
        crowd.buffers[b].episode = episode;
        crowd.buffers[b].size = crowd.buffers[b].left = 0;
        crowd.buffers[b].done = false;
    }
    if (size)
        crowd.buffers[b].size = size;
    crowd.buffers[b].left += leaving;
    if (crowd.buffers[b].size && crowd.buffers[b].left == crowd.buffers[b].size)
        crowd_fold(b);
}

/* The next episode is the one that threads come to from now on. */
static void crowd_close(uint32_t site)
{
    uint32_t episode = crowd.episode++, size = crowd.came;
    crowd.came = 0;
    crowd_count(episode, size, 0, site);
}

static bool crowd_is_complete(uint32_t buffer)
{
    return crowd.buffers[buffer].size && !crowd.buffers[buffer].done;
}

/* If more threads than expected arrive, the older half of eight buffers is folded regardless of the threads inside. */
static void crowd_push(void)
{
    for (uint32_t back = BUFFERS / 2; back < BUFFERS && crowd.buffer_count == BUFFERS; back++) {
        uint32_t episode = crowd.episode - back, b = episode % BUFFERS;
        if (crowd.buffers[b].episode == episode && crowd_is_complete(b))
            crowd_fold(b);
    }
}

static void crowd_arrive(struct crowd_member *m)
{
    struct phases_thread *t = &m->phases;
    uint32_t site = crowd_sites[below(PLACES)];
    struct slot slot = {.begun = t->begun, .from = t->phase, .site = site, .row = m->thread.row};
    hpcrec_self = &m->thread;
    m->passing = phases_arrive(t, crowd.object, site);
    if (crowd.expected && crowd.came >= crowd.expected) {
        crowd_close(site);
        crowd_push();
    }
    uint32_t b = crowd.episode % crowd.buffer_count;
    slot.arrived = crowd.buffers[b].last = now;
    m->inside = true;
    m->episode = crowd.episode;
    m->index = crowd.came++;
    if (m->index < crowd.capacity)
        crowd.buffers[b].slots[m->index] = slot;
}

static bool crowd_leave(struct crowd_member *m)
{
    uint32_t b = m->episode % crowd.buffer_count, site = m->passing.site;
    uint64_t last = crowd.buffers[b].last;
    hpcrec_self = &m->thread;
    phases_leave(&m->phases, &m->passing);
    if (m->index < crowd.capacity && crowd.buffers[b].slots[m->index].arrived)
        crowd.buffers[b].slots[m->index].left = now;
    if (m->episode == crowd.episode)
        crowd_close(site);
    crowd_count(m->episode, 0, 1, site);
    m->inside = false;
    return same(m->phases.phase, site + 1, "the phase") && same(m->phases.begun, last, "its begin");
}

/* A barrier recreated for more threads than it has slots gets new slots; all earlier arrivals are folded first. */
static void crowd_renew(uint32_t expected)
{
    CHECK_NAMED(phases_object_at(&crowd, expected, true) == crowd.object, "the same object");
    if (expected > crowd.capacity) {
        for (uint32_t b = 0; b < BUFFERS; b++) {
            if (crowd_is_complete(b))
                crowd_fold(b);
            crowd.buffers[b].episode = crowd.episode;
            crowd.buffers[b].done = true;
            memset(crowd.buffers[b].slots, 0, sizeof crowd.buffers[b].slots);
        }
        crowd.capacity = expected > 2 * crowd.capacity ? expected : 2 * crowd.capacity;
        crowd.buffer_count = crowd.capacity > BUFFERS_THREADS ? 2 : BUFFERS;
    }
    crowd.expected = expected;
    crowd.came = 0;
    crowd.episode += 2;
}

/* A thread in a complete episode leaves at some time, or never does. */
static bool crowd_step(void)
{
    struct crowd_member *m = &crowd_members[below(CROWD)];
    hpcrec.measuring = below(30) > 0;
    if (below(400) == 0)
        crowd_renew(1 + below(below(4) ? crowd.capacity : MOST_EXPECTED));
    if (!m->inside) {
        if (below(3) == 0 || crowd.came == 0 || crowd.came < crowd.expected)
            crowd_arrive(m);
        return true;
    }
    if (m->episode < crowd.episode || crowd.came == crowd.expected || (!crowd.expected && below(9) == 0)) {
        if (below(20))
            return crowd_leave(m);
        m->inside = false; /* another thread with the same number */
    }
    return true;
}

static bool same_sums(uint32_t i)
{
    const struct sums *got = &hpcrec_phases.sites[crowd_sites[i]].sums, *n = &crowd_sums[i];
    return same(got->episodes, n->episodes, "episodes") && same(got->passages, n->passages, "passages") &&
           same(got->phase, n->phase, "phase") && same(got->barrier, n->barrier, "barrier") &&
           same(got->idle, n->idle, "idle") && same(got->overhead, n->overhead, "overhead") &&
           same(got->broken, n->broken, "broken");
}

static void test_crowds(void)
{
    static const uint32_t sizes[] = {2, 3, BUFFERS_THREADS, BUFFERS_THREADS + 1, 30, 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool good = true;
        uint64_t broken = 0;
        phases_objects_forget();
        CHECK(phases_objects_begin());
        memset(crowd_sums, 0, sizeof crowd_sums);
        memset(crowd_members, 0, sizeof crowd_members);
        for (uint32_t k = 0; k < PLACES; k++)
            crowd_sites[k] = phases_site(&members[0].phases, 0xc0000 + 0x100 * i + k, BARRIER_PTHREAD, NULL);
        for (uint32_t k = 0; k < CROWD; k++)
            crowd_members[k].thread =
                (struct thread){.row = 100 + k, .begun = true, .phases = &crowd_members[k].phases};
        crowd = (struct crowd){.expected = sizes[i], .capacity = sizes[i] ? sizes[i] : TEAM_THREADS, .episode = 1};
        crowd.buffer_count = crowd.capacity > BUFFERS_THREADS ? 2 : BUFFERS;
        crowd.object = phases_object_at(&crowd, sizes[i], true);
        for (int step = 0; step < 30000 && good; step++) {
            good = crowd_step();
            for (uint32_t k = 0; k < PLACES; k++)
                good = good && same_sums(k);
        }
        for (uint32_t k = 0; k < PLACES; k++)
            broken += crowd_sums[k].broken;
        CHECK_NAMED(good && broken > 20, "whoever never leaves, or is one too many");
    }
    hpcrec.measuring = true;
}

/* With more threads than slots, the first ones are listed, and all are counted. */
static void check_full(struct object *o, uint32_t came, uint32_t capacity)
{
    static struct passing passings[BARRIER_THREADS + 3];
    static uint64_t arrived[BARRIER_THREADS + 3];
    struct phases_thread *t = &members[0].phases;
    uint32_t site = phases_site(t, 0xd0000 + came, BARRIER_PTHREAD, NULL);
    const struct site *s = &hpcrec_phases.sites[site];
    uint64_t idle = s->sums.idle, passages = s->sums.passages, barrier = s->sums.barrier;
    uint32_t listed = came < capacity ? came : capacity;
    CHECK_INT(o->capacity, capacity);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < came; i++) {
            passings[i] = phases_arrive(t, o, site);
            arrived[i] = now;
        }
        for (uint32_t i = 0; i < listed; i++)
            idle += arrived[listed - 1] - arrived[i];
        barrier += arrived[listed - 1] - arrived[0];
        for (uint32_t i = 0; i < came; i++)
            phases_leave(t, &passings[i]);
        passages += came;
    }
    CHECK_INT(s->sums.passages, passages);
    CHECK_INT(s->sums.idle, idle);
    CHECK_INT(s->sums.barrier, barrier);
    CHECK_INT(s->sums.broken, 0);
    CHECK_INT(s->threads, came);
}

static void test_full(void)
{
    static int places[4];
    check_full(phases_object_at(&places[0], BARRIER_THREADS + 3, true), BARRIER_THREADS + 3, BARRIER_THREADS);
    check_full(phases_object_at(&places[1], BARRIER_THREADS - 1, true), BARRIER_THREADS - 1, BARRIER_THREADS - 1);
    check_full(phases_object_at(&places[2], 0, true), TEAM_THREADS + 3, TEAM_THREADS);
    struct object *o = phases_object_at(&places[3], 3, true);
    const struct slot *slots = o->buffers[0].slots;
    CHECK(phases_object_at(&places[3], 3, true) == o && o->buffers[0].slots == slots);
    CHECK(phases_object_at(&places[3], 4, true) == o && o->buffers[0].slots != slots);
    check_full(o, 4, 6);
    phases_object_at(&places[3], BARRIER_THREADS - 2, true);
    check_full(o, BARRIER_THREADS - 2, BARRIER_THREADS - 2);
    phases_object_at(&places[3], BARRIER_THREADS - 1, true); /* twice as many would exceed the limit of a barrier */
    check_full(o, BARRIER_THREADS - 1, BARRIER_THREADS);
    slots = o->buffers[0].slots;
    phases_object_at(&places[3], BARRIER_THREADS + 3, true);
    check_full(o, BARRIER_THREADS + 3, BARRIER_THREADS);
    CHECK(o->buffers[0].slots == slots);
}

/* The maximum number of objects, each found again at its address; without memory, no object is created. */
static void test_objects(void)
{
    enum { OBJECTS = 4096 };
    static char addresses[OBJECTS + 5];
    static struct object *made[OBJECTS + 5];
    phases_objects_forget();
    CHECK(phases_objects_begin());
    bool good = true;
    for (uint32_t i = 0; i < OBJECTS + 5; i++) {
        made[i] = phases_object_at(&addresses[i], 1, false);
        good = good && (made[i] != NULL) == (i < OBJECTS) && (!made[i] || made[i]->address == (uintptr_t)&addresses[i]);
    }
    for (uint32_t i = 0; i < OBJECTS + 5; i++)
        good = good && phases_object_at(&addresses[i], 1, false) == made[i];
    CHECK_NAMED(good, "so many objects");
    phases_objects_forget();
    CHECK(phases_objects_begin());
    int before = mapped;
    for (int give = 0; give < 2; give++) { /* the object, its slots */
        maps_until = give;
        CHECK(phases_object_at(&addresses[0], 2, false) == NULL);
        CHECK_INT(mapped, before);
    }
    maps_until = -1;
    CHECK(phases_object_at(&addresses[0], 2, false) != NULL);
}

enum { LISTED = 70 };

/* Two places of one kind, which one episode may be of: threads come by different calls. */
static uint32_t two_sites[2];

static void draw_slots(struct slot *slots, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        slots[i] = (struct slot){.arrived = now + 1000 * (uint64_t)below(i % 2 ? 1 << 20 : 1 << 4),
                                 .begun = now - 500 + below(1000 + 1000 * below(2)),
                                 .row = i,
                                 .site = two_sites[below(3) == 0],
                                 .from = 1};
        slots[i].left = below(3) ? slots[i].arrived + below(1 << 26) : 0;
    }
}

/* Slots of one episode in any order: sorted by arrival, with ties in slot order. */
static bool fold_drawn(uint32_t n)
{
    static struct guarded_room room;
    struct slot drawn[LISTED], *slots;
    uint32_t last = 0, at = two_sites[1];
    draw_slots(drawn, n);
    uint64_t first = UINT64_MAX, latest = 0, begin = 0, release = UINT64_MAX, idle = 0;
    for (uint32_t i = 0; i < n; i++) {
        first = drawn[i].arrived < first ? drawn[i].arrived : first;
        last = drawn[i].arrived >= latest ? i : last;
        latest = drawn[last].arrived;
        begin = drawn[i].begun > begin ? drawn[i].begun : begin;
        release = drawn[i].left && drawn[i].left < release ? drawn[i].left : release;
        at = drawn[i].site < at ? drawn[i].site : at;
    }
    for (uint32_t i = 0; i < n; i++)
        idle += latest - drawn[i].arrived;
    begin = begin < first ? begin : first;
    release = release < UINT64_MAX && release > latest ? release : latest;
    const struct site *s = &hpcrec_phases.sites[at];
    struct sums before = s->sums;
    uint32_t told = hpcrec_phases.notice_head;
    slots = guarded_copy(&room, drawn, n * sizeof *slots);
    phases_fold_slots(slots, n, n + 3);
    bool good = s->sums.episodes == before.episodes + 1 && s->sums.idle - before.idle == idle &&
                s->sums.barrier - before.barrier == latest - first && s->sums.phase - before.phase == latest - begin &&
                s->sums.passages - before.passages == n + 3 && s->sums.overhead - before.overhead == release - latest;
    for (uint32_t i = 1; i < n; i++)
        good = good && (slots[i - 1].arrived < slots[i].arrived ||
                        (slots[i - 1].arrived == slots[i].arrived && slots[i - 1].row < slots[i].row));
    const struct notice *n0 = &hpcrec_phases.notices[told % NOTICES];
    return good && (hpcrec_phases.notice_head == told ||
                    (n0->number == s->sums.episodes && n0->first == first && n0->last == latest && n0->begin == begin &&
                     n0->threads == n + 3 && n0->last_row == last && n0->site == at && !n0->warn && !n0->passage));
}

/* Observers are notified of each, up to the capacity. */
static void test_folded(void)
{
    struct phases_thread *t = &members[0].phases;
    uint32_t site = two_sites[0] = phases_site(t, 0xa000, BARRIER_PTHREAD, "folded");
    two_sites[1] = phases_site(t, 0xa001, BARRIER_PTHREAD, "folded too");
    hpcrec.config.watch = true;
    bool good = true;
    for (uint32_t round = 0; round < NOTICES + 20; round++) {
        good = good && fold_drawn(1 + below(round % 4 ? LISTED : 3)) &&
               hpcrec_phases.notice_head == (round < NOTICES ? round + 1 : NOTICES);
        now += 2000000000;
    }
    CHECK_NAMED(good, "slots in any order");
    CHECK_INT(hpcrec_phases.notice_head - hpcrec_phases.notice_tail, NOTICES);
    CHECK_INT(hpcrec_phases.notices_lost, 20);
    hpcrec_phases.notice_tail = hpcrec_phases.notice_head;
    for (uint32_t round = 0; round < NOTICES + 3; round++) { /* the ring wraps around */
        fold_drawn(2);
        CHECK_INT(hpcrec_phases.notice_head - hpcrec_phases.notice_tail, round < NOTICES ? round + 1 : NOTICES);
    }
    CHECK_INT(hpcrec_phases.notices_lost, 23);
    hpcrec_phases.notice_tail = hpcrec_phases.notice_head;
    for (int loop = 0; loop < 2; loop++) { /* those of a loop are not reported */
        uint32_t own = phases_site(t, 0xa100, loop ? BARRIER_USER_LOOP : BARRIER_USER, NULL);
        phases_fold_slots(&(struct slot){.arrived = now, .begun = now, .site = own}, 1, 1);
        CHECK_INT(hpcrec_phases.notice_head - hpcrec_phases.notice_tail, 1);
    }
    hpcrec_phases.notice_tail = hpcrec_phases.notice_head;
    hpcrec.config.watch = false;
    hpcrec.config.warn_ns = 500; /* of those as long as that */
    for (uint64_t barrier = 499; barrier <= 500; barrier++) {
        struct slot two[] = {{.arrived = now, .begun = now, .site = site},
                             {.arrived = now + barrier, .begun = now, .site = site}};
        phases_fold_slots(two, 2, 2);
        CHECK_INT(hpcrec_phases.notice_head - hpcrec_phases.notice_tail, barrier == 500);
    }
    CHECK(hpcrec_phases.notices[(hpcrec_phases.notice_head - 1) % NOTICES].warn);
    hpcrec.config.warn_ns = 0;
}

/* ---- kept episodes ----------------------------------------------------------------------------------------------- */

/* An episode of threads that arrive one after the other, with the given time between the first and the last. */
static void fold_of(uint32_t site, uint32_t threads, uint64_t barrier)
{
    static struct slot slots[300];
    for (uint32_t i = 0; i < threads; i++)
        slots[i] =
            (struct slot){.arrived = now + (i + 1 == threads ? barrier : i), .begun = now, .row = i, .site = site};
    phases_fold_slots(slots, threads, threads);
    now += barrier + 5;
}

/* Of many arrivals, the first and the last ones are listed. */
static void test_listed(void)
{
    static const uint32_t counts[] = {1,  8, 9, KEPT_ARRIVALS - 1, KEPT_ARRIVALS, KEPT_ARRIVALS + 1, KEPT_ARRIVALS + 9,
                                      300};
    uint32_t site = phases_site(&members[0].phases, 0xf0000, BARRIER_PTHREAD, NULL);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint32_t n = counts[i], listed = 0;
        uint64_t from = now;
        fold_of(site, n, 1000);
        const struct kept *k = &hpcrec_phases.sites[site].kept->sample[i];
        bool good = k->number == i + 1 && k->threads == n && k->last_row == n - 1;
        for (uint32_t a = 0; a < n; a++) {
            if (n > KEPT_ARRIVALS && a >= 8 && a < n - (KEPT_ARRIVALS - 8))
                continue;
            good = good && k->arrivals[listed].row == a && k->arrivals[listed].order == a + 1 &&
                   k->arrivals[listed].at == from + (a + 1 == n ? 1000 : a);
            listed++;
        }
        CHECK_NAMED(good && k->listed == listed, "who came first, and last");
    }
}

/* Times by their logarithm: the last takes all that is longer. */
static void test_times(void)
{
    static const uint64_t barriers[] = {0, 1, 2, 3, 4, 7, 8, (1ull << 47) - 1, 1ull << 47, 1ull << 48, 1ull << 60};
    uint32_t site = phases_site(&members[0].phases, 0xf0001, BARRIER_PTHREAD, NULL);
    uint64_t times[TIMES] = {0};
    for (size_t i = 0; i < sizeof barriers / sizeof *barriers; i++) {
        unsigned at = 0;
        while (at + 1 < TIMES && barriers[i] >> (at + 1))
            at++;
        times[at]++;
        fold_of(site, 2, barriers[i]);
    }
    CHECK(memcmp(hpcrec_phases.sites[site].times, times, sizeof times) == 0);
    now = 1ull << 50;
}

/* Kept after each episode: every n-th, and the longest of the others; earlier ones win ties. */
static void test_kept(void)
{
    enum { MANY = 700 };
    uint32_t site = phases_site(&members[0].phases, 0xf0002, BARRIER_PTHREAD, NULL);
    struct {
        uint64_t number, barrier;
    } worst[KEPT_WORST] = {{0, 0}};
    uint64_t stride = 1, sample[KEPT_SAMPLE + 1], in_sample = 0;
    bool good = true;
    for (uint64_t number = 1; number <= MANY && good; number++) {
        uint64_t barrier = below(60) ? below(12) : below(40);
        fold_of(site, 2, barrier);
        const struct kept_set *set = hpcrec_phases.sites[site].kept;
        if ((number - 1) % stride == 0)
            sample[in_sample++] = number;
        while (in_sample > KEPT_SAMPLE) {
            uint64_t n = 0;
            stride *= 2;
            for (uint64_t i = 0; i < in_sample; i++)
                if ((sample[i] - 1) % stride == 0)
                    sample[n++] = sample[i];
            in_sample = n;
        }
        int at = 0;
        for (int i = 1; i < KEPT_WORST && worst[at].number; i++)
            if (!worst[i].number || worst[i].barrier < worst[at].barrier)
                at = i;
        if ((number - 1) % stride && (!worst[at].number || barrier > worst[at].barrier)) {
            worst[at].number = number;
            worst[at].barrier = barrier;
        }
        good = same(set->stride, stride, "stride");
        for (int i = 0; i < KEPT_WORST; i++)
            good = good && same(set->worst[i].number, worst[i].number, "one of the longest");
        uint64_t found = 0, sum = 0;
        for (int i = 0; i < KEPT_SAMPLE; i++) {
            found += set->sample[i].number != 0;
            sum += set->sample[i].number;
        }
        for (uint64_t i = 0; i < in_sample; i++)
            sum -= sample[i];
        good = good && same(found, in_sample, "in the sample") && sum == 0;
    }
    CHECK_NAMED(good && stride > 8, "what is kept");
}

/* For a limited number of sites. */
static void test_kept_sites(void)
{
    uint32_t kept = 0, folded = 0;
    hpcrec_phases.kept_full = false;
    while (hpcrec_phases.kept_sites < KEPT_SITES && folded < KEPT_SITES) {
        fold_of(phases_site(&members[0].phases, 0xf1000 + folded++, BARRIER_PTHREAD, NULL), 2, 1);
        CHECK(!hpcrec_phases.kept_full);
    }
    uint32_t site = phases_site(&members[0].phases, 0xf2000, BARRIER_PTHREAD, NULL);
    fold_of(site, 2, 1);
    CHECK(hpcrec_phases.kept_full && !hpcrec_phases.sites[site].kept && hpcrec_phases.sites[site].sums.episodes == 1);
    for (uint32_t i = 0; i < SITES_MAX; i++)
        kept += hpcrec_phases.sites[i].kept != NULL;
    CHECK_INT(kept, KEPT_SITES);
    CHECK_INT(hpcrec_phases.kept_sites, KEPT_SITES);
}

/* More pairs than there are sums: the existing ones continue to count. */
static void test_cells(void)
{
    uint32_t site = phases_site(&members[0].phases, 0xf3000, BARRIER_PTHREAD, NULL);
    for (uint32_t row = 1000; hpcrec_phases.cell_count < CELLS_MAX && row < 2 * CELLS_MAX; row++) {
        struct slot slot = {.arrived = now, .begun = now, .row = row, .site = site};
        phases_fold_slots(&slot, 1, 1);
    }
    CHECK_INT(hpcrec_phases.cell_count, CELLS_MAX);
    struct slot more = {.arrived = now, .begun = now, .row = 999, .site = site}, again = more;
    again.row = 1000;
    phases_fold_slots(&more, 1, 1);
    phases_fold_slots(&again, 1, 1);
    CHECK_INT(hpcrec_phases.cell_count, CELLS_MAX);
    CHECK(!find_cell(CELL_THREAD, site, 999) && find_cell(CELL_THREAD, site, 1000)->now[0] == 2);
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
    for (uint32_t i = SITES_MAX - 2; i < SITES_MAX; i++) {
        const struct site *s = &hpcrec_phases.sites[i];
        CHECK_STR(s->name, "(all others)");
        CHECK(s->pc == 0 && s->number == i + 1 && s->kind == (i < SITES_MAX - 1 ? WAIT_MUTEX : BARRIER_PTHREAD));
        CHECK(s->best == UINT64_MAX && s->shortest == UINT64_MAX && s->first == UINT64_MAX);
    }
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
    for (uint64_t waited = 999; waited <= 1001; waited++) {
        struct waiting exact = phases_wait_begin(0x77, WAIT_MUTEX);
        next_after = waited;
        phases_wait_end(&exact, 1000);
        times += waited >= 1000;
        CHECK_INT(atomic_load(&s->wait_times), times);
    }
    hpcrec_self = NULL;
    struct waiting w = phases_wait_begin(0x77, WAIT_MUTEX); /* of an unknown thread */
    CHECK(w.self == NULL);
    phases_wait_end(&w, 0);
}

/* A site is identified by the caller, its kind, and its name up to a maximum length; each thread's cache of recent
   sites gives the same result. */
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
    CHECK(phases_site(t, 0xb000, BARRIER_USER, NULL) == site); /* its name is already known */
    CHECK(phases_site(t, 0xb001, BARRIER_USER, NULL) != site);
    CHECK(phases_site(t, 0xb000, BARRIER_USER_LOOP, name) != site);
    const struct site *s = &hpcrec_phases.sites[site];
    CHECK(s->pc == 0xb000 && s->kind == BARRIER_USER && s->number == barriers);
    CHECK(s->best == UINT64_MAX && s->shortest == UINT64_MAX && s->first == UINT64_MAX && s->worst == 0);
    uint32_t wait = phases_site(t, 0xb000, WAIT_JOIN, NULL);
    CHECK(wait != site && hpcrec_phases.sites[wait].number == 0);
}

/* ---- the lock -------------------------------------------------------------------------------------------------------- */

/* Operations under the lock wait until it is free, and release it. */
static void check_waits(const char *what)
{
    CHECK_NAMED(until_free == 0 && yields == 3, what);
    CHECK(phases_trylock());
    until_free = 3;
    yields = 0;
}

static void test_locked(void)
{
    struct phases_thread *t = &members[0].phases;
    static int place;
    CHECK(phases_trylock());
    until_free = 3;
    yields = 0;
    uint32_t site = phases_site(t, 0xe000, BARRIER_PTHREAD, NULL);
    check_waits("a site");
    struct object *o = phases_object_at(&place, 2, false);
    check_waits("an object");
    struct slot slots[] = {{.arrived = now, .begun = now, .site = site}};
    phases_fold_slots(slots, 1, 1);
    check_waits("an episode");
    phases_unlock();
    until_free = 0;
    struct passing gone = phases_arrive(t, o, site), stays = phases_arrive(t, o, site); /* who stays breaks it */
    phases_leave(t, &gone);
    (void)stays;
    for (uint32_t i = 1; i < BUFFERS; i++) {
        struct passing two[] = {phases_arrive(t, o, site), phases_arrive(t, o, site)};
        phases_leave(t, &two[0]);
        phases_leave(t, &two[1]);
    }
    struct passing next = phases_arrive(t, o, site);
    phases_arrive(t, o, site);
    CHECK(phases_trylock());
    until_free = 3;
    yields = 0;
    phases_leave(t, &next);
    check_waits("an episode that nobody ends");
    CHECK_INT(hpcrec_phases.sites[site].sums.broken, 1);
    until_free = 0;
    yields = 0;
    CHECK(!phases_trylock()); /* whoever has it does not go on */
    CHECK_INT(pauses, 200);
    CHECK_INT(yields, 200 * (1000 / 64));
    pauses = 0;
    until_free = 5 * (1000 / 64 + 1) + 1;
    CHECK(phases_trylock());
    CHECK_INT(pauses, 5);
    phases_unlock();
}

/* Without memory nothing is begun; all allocated memory is released at the end. */
static void test_memory(void)
{
    static bool (*const begin[])(void) = {phases_sites_begin, phases_cells_begin, phases_objects_begin};
    static void (*const forget[])(void) = {phases_sites_forget, phases_cells_forget, phases_objects_forget};
    static const int maps[] = {2, 2, 1};
    for (int part = 0; part < 3; part++)
        for (int give = 0; give <= maps[part]; give++) {
            int before = mapped;
            maps_until = give;
            CHECK_INT(begin[part](), give == maps[part]);
            maps_until = -1;
            forget[part]();
            CHECK_INT(mapped, before);
        }
}

int main(void)
{
    begin_world();
    RUN(test_barriers);
    RUN(test_broken);
    RUN(test_crowds);
    RUN(test_full);
    RUN(test_objects);
    RUN(test_locked);
    RUN(test_listed);
    RUN(test_times);
    RUN(test_kept);
    RUN(test_folded);
    RUN(test_kept_sites);
    RUN(test_cells);
    RUN(test_waits);
    RUN(test_names);
    RUN(test_sites);
    phases_objects_forget();
    phases_cells_forget();
    phases_lock();
    CHECK(!phases_trylock());
    int before = mapped;
    phases_sites_forget(); /* in the child of a fork, the owner of the lock does not exist */
    CHECK_INT(mapped, before - 2 - (int)hpcrec_phases.kept_sites);
    CHECK(phases_trylock());
    phases_unlock();
    RUN(test_memory);
    return tap_done();
}
