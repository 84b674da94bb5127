/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of OpenMP inside a measured program: threads of the test's own begin regions, arrive at barriers and continue
 * in any order that teams allow, by a clock of the test's own, while a helper folds now and then. Each episode must be
 * folded once, in turn, with everything its threads did until then.
 */
#include "hpcprof/recorder/barriers/barriers.h"
#include "tests/fakes/fake_recorder_memory.h"

#include "tests/chance.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <sys/syscall.h>

/* ---- the world ------------------------------------------------------------------------------------------------- */

static uint64_t now = 1000000, *noted[2]; /* noted: where the times of the next fold are written */

int fake_clock_gettime(clockid_t id, struct timespec *t)
{
    (void)id;
    now += 1 + below(2000);
    *t = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    if (noted[0])
        *noted[0] = now;
    noted[0] = noted[1];
    noted[1] = NULL;
    return 0;
}

struct recorder hpcrec;
struct phases hpcrec_phases;
_Thread_local struct thread *hpcrec_self;

static bool is_locked;
static unsigned misused; /* the lock */

void phases_lock(void)
{
    misused += is_locked;
    is_locked = true;
}

void phases_unlock(void)
{
    misused += !is_locked;
    is_locked = false;
}

void phases_enter(struct phases_thread *t, uint32_t site, uint64_t begun)
{
    t->begun = begun;
    t->phase = site + 1;
}

enum { MEMBERS = 7, MANY = TEAM_THREADS + 6, BARRIERS = 150, SITES = 40, JOIN = 30 /* and further: sites of joins */ };

static struct member {
    struct thread thread;
    struct phases_thread phases;
    uint32_t came, went; /* barriers of its team that it came to and left; not those of its join */
    bool joined;
} members[MANY];

void hpcrec_threads_each(void (*f)(struct thread *, void *), void *ctx)
{
    static struct thread unknown; /* an unknown thread */
    f(&unknown, ctx);
    for (uint32_t i = 0; i < MANY; i++)
        f(&members[i].thread, ctx);
}

/* ---- one region, as tracked by the test -------------------------------------------------------------------------- */

struct passage_known {
    uint64_t arrived, left, begun; /* begun 0: when the last one came to the barrier before */
    uint32_t from;
    bool measured;
};

static struct region {
    struct team *team;
    uint32_t size, barriers;
    bool cancelled; /* its last barrier was cancelled and releases threads without waiting */
    uint32_t folded;
    uint64_t last;                /* arrival of the episodes folded */
    uint32_t sites[BARRIERS + 1]; /* the last is the join's */
    struct passage_known known[BARRIERS + 1][MEMBERS];
} region;

static bool wrong;
static uint32_t folds, folded_listed, folded_size; /* while no region is known: how many, and the last one's */

static void expect(bool good, const char *what)
{
    if (!good && !wrong)
        printf("# episode %u of %u: %s\n", region.folded, region.barriers, what);
    wrong |= !good;
}

static bool is_measured(uint32_t episode)
{
    bool all = true;
    for (uint32_t i = 0; i < region.size; i++)
        all &= region.known[episode][i].measured;
    return all;
}

/* The next episode: a cancelled barrier does not count. */
static uint32_t next_episode(uint32_t episode)
{
    return region.cancelled && episode + 1 == region.barriers ? episode + 1 : episode;
}

static void pass_episode(uint32_t episode)
{
    for (uint32_t i = 0; i < region.size; i++)
        if (region.known[episode][i].arrived > region.last)
            region.last = region.known[episode][i].arrived;
    region.folded = episode + 1;
}

static void pass_unmeasured(void)
{
    uint32_t e;
    while ((e = next_episode(region.folded)) < region.barriers && !is_measured(e))
        pass_episode(e);
}

/* Replaces the function that adds up the sums. */
void phases_fold_slots(struct slot *slots, uint32_t listed, uint32_t size)
{
    if (!region.team) {
        folds++;
        folded_listed = listed;
        folded_size = size;
        return;
    }
    pass_unmeasured();
    uint32_t e = next_episode(region.folded);
    expect(e <= region.barriers && is_measured(e), "folded, but not measured");
    expect(listed == region.size && size == region.size, "its threads");
    for (uint32_t i = 0; i < listed && !wrong; i++) {
        const struct passage_known *k = &region.known[e][i];
        expect(slots[i].row == members[i].thread.row, "whose slot it is");
        expect(slots[i].arrived == k->arrived && slots[i].left == k->left, "when a thread came and went");
        expect(slots[i].begun == (k->begun ? k->begun : region.last), "when its phase began");
        expect(slots[i].site == region.sites[e] && slots[i].from == k->from, "where");
    }
    pass_episode(e);
}

static struct phases_thread *as(uint32_t who)
{
    hpcrec_self = &members[who].thread;
    return &members[who].phases;
}

static void begin_world(void)
{
    hpcrec_phases.sites = calloc(SITES, sizeof *hpcrec_phases.sites);
    for (uint32_t i = 0; i < MANY; i++) {
        members[i].thread.row = 100 + i;
        members[i].thread.begun = true;
        members[i].thread.phases = &members[i].phases;
    }
}

static void enter(uint32_t who)
{
    struct member *m = &members[who];
    uint32_t own = below(SITES), leaders = members[0].phases.phase;
    m->came = m->went = 0;
    m->joined = false;
    m->phases.phase = who ? own : leaders;
    m->phases.waits_since = who ? 77 : 0; /* it slept at the join before */
    phases_team_enter(as(who), region.team);
    expect(m->phases.team == region.team && m->phases.lane == &region.team->lanes[who], "its team");
    expect(m->phases.begun == region.team->forked && m->phases.waits_since == 0, "its phase began with the team");
    expect(m->phases.phase == (leaders ? leaders : who ? own : 0), "its phase is the leader's");
    expect(!phases_team_has_joined(&m->phases), "it works");
}

static void begin_region(void)
{
    region = (struct region){.size = 1 + below(MEMBERS), .barriers = below(3) ? below(BARRIERS + 1) : below(3)};
    region.cancelled = region.barriers && below(4) == 0;
    for (uint32_t i = 0; i < region.barriers; i++)
        region.sites[i] = below(JOIN);
    region.sites[region.barriers] = JOIN + below(SITES - JOIN);
    struct phases_thread *leader = as(0);
    leader->phase = below(3) ? 1 + below(SITES) : 0;
    region.team = phases_team_begin(leader, region.sites[region.barriers]);
    region.last = now;
    expect(region.team && leader->depth == 1 && region.team->forked == now, "a team begins");
    for (uint32_t i = 0; i < region.size; i++)
        enter(i);
}

/* Called by the clock. */
static void note_arrival(uint32_t who, uint32_t at)
{
    struct phases_thread *t = &members[who].phases;
    if (below(8) == 0) { /* it was at a barrier of the program's own */
        t->begun = ++now;
        t->phase = 1 + below(SITES);
    }
    uint32_t came = members[who].came;
    bool as_before = came > 0 && t->begun == region.known[came - 1][who].left;
    hpcrec.measuring = below(60) > 0;
    region.known[at][who] =
        (struct passage_known){.begun = as_before ? 0 : t->begun, .from = t->phase, .measured = hpcrec.measuring};
    noted[0] = &region.known[at][who].arrived;
}

static void arrive(uint32_t who)
{
    struct member *m = &members[who];
    uint32_t site = region.sites[m->came];
    note_arrival(who, m->came);
    phases_team_arrive(as(who), site);
    expect(m->phases.waits_since == now && m->phases.waits_at == site, "that it waits");
    m->came++;
}

static bool is_cancelled(uint32_t barrier)
{
    return region.cancelled && barrier + 1 == region.barriers;
}

static void leave(uint32_t who)
{
    struct member *m = &members[who];
    uint64_t passed = m->phases.passed;
    uint32_t at = m->went++, phase = m->phases.phase;
    bool cancelled = is_cancelled(at);
    bool helper_folds = region.team->folding;
    noted[0] = cancelled ? NULL : &region.known[at][who].left;
    phases_team_leave(as(who), region.sites[at], cancelled);
    if (who == 0 && !helper_folds) /* the primary thread folds when many are pending, and continues when done */
        expect(region.team->lanes[0].done - region.team->folded < LANE / 2 && !region.team->folding,
               "that it is folded");
    expect(m->phases.waits_since == 0 && m->phases.passed == passed + !cancelled, "that it went on");
    expect(m->phases.phase == (cancelled ? phase : region.sites[at] + 1), "the phase it is in");
}

static void join(uint32_t who)
{
    struct member *m = &members[who];
    note_arrival(who, region.barriers);
    phases_team_join(as(who), region.team);
    expect(m->phases.waits_since == now && m->phases.waits_at == region.sites[region.barriers],
           "that it waits at the join");
    expect(!phases_team_has_joined(&m->phases), "that not all have come");
    m->joined = true;
}

static bool all_came_to(uint32_t barrier)
{
    bool all = true;
    for (uint32_t i = 0; i < region.size; i++)
        all &= members[i].came > barrier;
    return all;
}

static void step(uint32_t who)
{
    struct member *m = &members[who];
    if (m->joined)
        return;
    if (m->came > m->went) {
        if (is_cancelled(m->went) || all_came_to(m->went))
            leave(who);
    } else if (m->came < region.barriers && !(is_cancelled(m->came) && below(3) == 0)) {
        arrive(who);
    } else if (who > 0 || below(3) == 0) { /* the primary thread need not arrive by itself */
        join(who);
    }
}

/* The helper folds, or is folding at the moment; meanwhile, the primary thread continues for a while. */
static void help(void)
{
    if (below(40) == 0)
        phases_teams_fold();
    if (below(40) == 0)
        atomic_store(&region.team->folding, 1);
    uint32_t done = region.team->lanes[0].done, folded = region.team->folded;
    if (below(10) == 0 || done - folded > 50)
        atomic_store(&region.team->folding, 0);
}

/* The primary thread need not arrive at the join before it ends it. */
static bool is_done(uint32_t who)
{
    const struct member *m = &members[who];
    bool all = m->came == m->went && (m->came == region.barriers || is_cancelled(m->came));
    return m->joined || (who == 0 && all);
}

static bool all_are_done(void)
{
    bool all = true;
    for (uint32_t i = 0; i < region.size; i++)
        all &= is_done(i);
    return all;
}

static uint64_t broken_at(uint32_t site)
{
    return hpcrec_phases.sites[site].sums.broken;
}

/* A cancelled barrier counts if a thread arrived at it. */
static uint32_t broken_here(void)
{
    for (uint32_t i = 0; i < region.size; i++)
        if (region.cancelled && members[i].came == region.barriers)
            return region.known[region.barriers - 1][i].measured;
    return 0;
}

static void end_region(void)
{
    struct member *leader = &members[0];
    uint64_t passed = leader->phases.passed,
             broken = region.barriers ? broken_at(region.sites[region.barriers - 1]) : 0;
    if (!leader->joined)
        note_arrival(0, region.barriers);
    noted[leader->joined ? 0 : 1] = &region.known[region.barriers][0].left;
    atomic_store(&region.team->folding, 0);
    phases_team_end(as(0), region.team);
    pass_unmeasured();
    if (!is_measured(region.barriers))
        pass_episode(region.barriers);
    expect(region.folded == region.barriers + 1, "all are folded");
    expect(!region.barriers || broken_at(region.sites[region.barriers - 1]) == broken + broken_here(),
           "what was broken");
    expect(!is_locked && !region.team->folding, "that locks are free");
    expect(leader->phases.passed == passed + 1 && leader->phases.waits_since == 0, "that its leader goes on");
    expect(leader->phases.begun == region.last && leader->phases.phase == region.sites[region.barriers] + 1,
           "the phase behind it");
    expect(leader->phases.depth == 0 && !leader->phases.team && !leader->phases.lane, "that there is no team");
    for (uint32_t i = 0; i < region.size; i++)
        expect(phases_team_has_joined(&members[i].phases) == (i > 0), "who sleeps");
}

static void test_regions(void)
{
    for (int round = 0; round < 300; round++) {
        begin_region();
        for (uint32_t i = 0; i < 1000000 && !wrong && !all_are_done(); i++) {
            step(below(region.size));
            help();
            expect(region.folded + 64 > members[0].went, "that it is folded in time");
        }
        end_region();
        CHECK_NAMED(!wrong, "a region");
        wrong = false;
    }
}

/* Nested regions of one thread each, without entry events; beyond the maximum depth they are ignored. */
static void test_nested(void)
{
    struct phases_thread *t = as(0);
    struct team *teams[TEAM_DEPTH];
    region.team = NULL;
    hpcrec.measuring = true;
    for (uint32_t i = 0; i < TEAM_DEPTH; i++) {
        teams[i] = phases_team_begin(t, JOIN);
        CHECK(teams[i] && (i == 0 || teams[i] != teams[i - 1]));
        CHECK_INT(t->depth, i + 1);
        if (i % 2 == 0)
            phases_team_enter(t, teams[i]);
    }
    CHECK(phases_team_begin(t, JOIN) == NULL);
    CHECK_INT(t->depth, TEAM_DEPTH);
    for (uint32_t i = TEAM_DEPTH; i-- > 0;) {
        phases_team_end(t, teams[i]);
        const struct team *outer = i == 0 ? NULL : teams[i % 2 ? i - 1 : i - 2]; /* (the one it was in) */
        CHECK(t->team == outer && t->lane == (outer ? outer->lanes : NULL));
        CHECK_INT(folds, TEAM_DEPTH - i);
        CHECK(folded_listed == 1 && folded_size == 1);
    }
    CHECK_INT(t->depth, 0);
    CHECK(phases_team_begin(t, JOIN) == teams[0]); /* its memory is used again */
    phases_team_end(t, teams[0]);
}

/* More threads than a team has lanes: the others are counted. */
static void test_many(void)
{
    struct team *team = phases_team_begin(as(0), JOIN);
    for (uint32_t i = 0; i < MANY; i++) {
        phases_team_enter(as(i), team);
        CHECK((members[i].phases.lane != NULL) == (i < TEAM_THREADS));
    }
    for (uint32_t i = 0; i < MANY; i++)
        phases_team_arrive(as(i), 3);
    for (uint32_t i = 0; i < MANY; i++)
        phases_team_leave(as(i), 3, false);
    folds = 0;
    phases_teams_fold();
    CHECK_INT(folds, 1);
    CHECK(folded_listed == TEAM_THREADS && folded_size == MANY);
    for (uint32_t i = 1; i < MANY; i++)
        phases_team_join(as(i), team);
    phases_team_end(as(0), team);
    CHECK_INT(folds, 2);
    CHECK(folded_listed == TEAM_THREADS && folded_size == MANY);
    CHECK(members[MANY - 1].phases.passed > 0 && phases_team_has_joined(&members[MANY - 1].phases));
}

/* Whoever has not come is not listed. */
static void test_absent(void)
{
    struct team *team = phases_team_begin(as(0), JOIN);
    for (uint32_t i = 0; i < 3; i++)
        phases_team_enter(as(i), team);
    for (uint32_t i = 0; i < 2; i++)
        phases_team_arrive(as(i), 3);
    for (uint32_t i = 0; i < 2; i++)
        phases_team_leave(as(i), 3, false);
    folds = 0;
    phases_teams_fold();
    CHECK_INT(folds, 1);
    CHECK(folded_listed == 2 && folded_size == 3);
    phases_team_join(as(1), team);
    phases_team_end(as(0), team);
    CHECK_INT(folds, 2);
    CHECK(folded_listed == 2 && folded_size == 3);
}

static unsigned yields;
static struct team *held; /* by a thread that continues when it gets a processor */

long fake_syscall(long number, ...) /* local.mk */
{
    yields += number == SYS_sched_yield;
    if (held)
        atomic_store(&held->folding, 0);
    held = NULL;
    return 0;
}

/* The primary thread folds when half a lane is full, unless another thread is folding; it waits for that only before
   the lane overflows. */
static void test_held(void)
{
    enum { HALF = LANE / 2, FULL = LANE - 4 };
    struct team *team = phases_team_begin(as(0), JOIN);
    phases_team_enter(as(0), team);
    for (uint32_t i = 1; i <= FULL + HALF; i++) {
        if (i == 1) {
            held = team;
            atomic_store(&team->folding, 1);
        }
        phases_team_arrive(as(0), 3);
        phases_team_leave(as(0), 3, false);
        CHECK_INT(team->folded, i < FULL ? 0 : i < FULL + HALF ? FULL : FULL + HALF);
        CHECK_INT(yields, i >= FULL);
    }
    phases_team_end(as(0), team);
    held = team;
    atomic_store(&team->folding, 1);
    CHECK(phases_team_begin(as(0), JOIN) == team && yields == 2);
    held = team;
    atomic_store(&team->folding, 1);
    phases_team_end(as(0), team);
    CHECK_INT(yields, 3);
}

static void test_no_memory(void)
{
    int before = mapped;
    for (int give = 0; give < 3; give++) { /* the team, its lanes, its slots */
        maps_until = give;
        CHECK(phases_team_begin(as(1), JOIN) == NULL);
        CHECK(members[1].phases.depth == 0 && mapped == before);
    }
    maps_until = -1;
    struct team *team = phases_team_begin(as(1), JOIN);
    CHECK(team && members[1].phases.depth == 1);
    phases_team_end(as(1), team);
}

int main(void)
{
    begin_world();
    RUN(test_regions);
    RUN(test_nested);
    RUN(test_many);
    RUN(test_absent);
    RUN(test_held);
    RUN(test_no_memory);
    CHECK_INT(misused, 0);
    free(hpcrec_phases.sites);
    return tap_done();
}
