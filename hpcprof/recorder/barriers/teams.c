/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams of OpenMP, and the passages that their threads record at barriers. */
#include "hpcprof/recorder/barriers/barriers.h"

#include <sys/syscall.h>
#include <unistd.h>

enum {
    FOLD_AT = 32, /* passages in a lane: the leader folds them */
    NOT_MEASURED = SITES_MAX,
    FULL_AT = 60, /* and waits, where the helper does it just now: the others are one barrier before it at most */
};

/* ---- folding ----------------------------------------------------------------------------------------------------------- */

static bool lock_team(struct team *team, bool wait)
{
    while (atomic_exchange(&team->folding, 1)) {
        if (!wait)
            return false;
        syscall(SYS_sched_yield);
    }
    return true;
}

static void unlock_team(struct team *team)
{
    atomic_store(&team->folding, 0);
}

static uint32_t lane_count(const struct team *team)
{
    uint32_t n = atomic_load(&team->threads);
    return n < TEAM_THREADS ? n : TEAM_THREADS;
}

/* A phase that began when its thread left the team's barrier before, began with the last arrival there. */
static uint64_t begin_of(const struct team *team, const struct lane *lane, const struct record *r, uint32_t number)
{
    const struct record *before = &lane->barriers[(number - 1) % LANE];
    return number > 0 && atomic_load_explicit(&before->left, memory_order_relaxed) == r->begun ? team->last : r->begun;
}

static void take_slot(struct team *team, uint32_t n, const struct lane *lane, const struct record *r, uint32_t number)
{
    team->slots[n] = (struct slot){.arrived = r->arrived,
                                   .left = atomic_load_explicit(&r->left, memory_order_relaxed),
                                   .begun = begin_of(team, lane, r, number),
                                   .row = lane->row,
                                   .site = r->site,
                                   .from = r->from};
}

static void fold_slots(struct team *team, uint32_t n)
{
    bool measured = true;
    for (uint32_t i = 0; i < n; i++)
        measured &= team->slots[i].site != NOT_MEASURED;
    if (n > 0 && measured)
        phases_fold_slots(team->slots, n, atomic_load(&team->threads));
    for (uint32_t i = 0; i < n; i++)
        team->last = team->slots[i].arrived > team->last ? team->slots[i].arrived : team->last;
}

static void count_broken(uint32_t site)
{
    if (site == NOT_MEASURED)
        return;
    phases_lock();
    hpcrec_phases.sites[site].sums.broken++;
    phases_unlock();
}

static void fold_barrier(struct team *team, uint32_t number)
{
    uint32_t lanes = lane_count(team), n = 0;
    for (uint32_t i = 0; i < lanes; i++) {
        const struct lane *lane = &team->lanes[i];
        if ((int32_t)(atomic_load_explicit(&lane->arrivals, memory_order_acquire) - number) > 0)
            take_slot(team, n++, lane, &lane->barriers[number % LANE], number);
    }
    fold_slots(team, n);
}

/* Barriers that the leader has left, and so all have come to. */
static void fold_done(struct team *team)
{
    uint32_t done = atomic_load_explicit(&team->lanes[0].done, memory_order_acquire);
    for (; team->folded != done; team->folded++)
        fold_barrier(team, team->folded);
}

/* Arrivals at a barrier that its team never left. */
static void fold_broken(struct team *team)
{
    uint32_t lanes = lane_count(team);
    for (uint32_t i = 0; i < lanes; i++) {
        const struct lane *lane = &team->lanes[i];
        if (atomic_load(&lane->arrivals) != team->folded) {
            count_broken(lane->barriers[team->folded % LANE].site);
            return;
        }
    }
}

static void fold_join(struct team *team)
{
    uint32_t lanes = lane_count(team), n = 0;
    for (uint32_t i = 0; i < lanes; i++) {
        const struct lane *lane = &team->lanes[i];
        if (lane->join.arrived)
            take_slot(team, n++, lane, &lane->join, atomic_load(&lane->arrivals));
    }
    fold_slots(team, n);
}

/* ---- a thread in its team ------------------------------------------------------------------------------------------------- */

static bool leads(const struct phases_thread *t, const struct team *team)
{
    return t->depth > 0 && t->own[t->depth - 1] == team;
}

void phases_team_enter(struct phases_thread *t, struct team *team)
{
    uint32_t number = leads(t, team) ? 0 : atomic_fetch_add(&team->threads, 1);
    t->team = team;
    t->lane = number < TEAM_THREADS ? &team->lanes[number] : NULL;
    t->join.team = NULL;
    atomic_store_explicit(&t->waits_since, 0, memory_order_relaxed);
    if (number > 0 && team->phase)
        phases_enter(t, team->phase - 1, team->forked);
    t->begun = team->forked;
    if (!t->lane)
        return;
    t->lane->row = hpcrec_self->row;
    t->lane->join.arrived = 0;
    atomic_store_explicit(&t->lane->done, 0, memory_order_relaxed);
    atomic_store_explicit(&t->lane->arrivals, 0, memory_order_release);
}

static void write_down(struct phases_thread *t, struct record *r, uint32_t site, uint64_t now)
{
    r->arrived = now;
    r->begun = t->begun;
    atomic_store_explicit(&r->left, 0, memory_order_relaxed);
    r->site = hpcrec.measuring ? site : NOT_MEASURED;
    r->from = t->phase;
}

static void wait_from(struct phases_thread *t, uint32_t site, uint64_t now)
{
    atomic_store_explicit(&t->waits_at, site, memory_order_relaxed);
    atomic_store_explicit(&t->waits_since, now, memory_order_release);
}

void phases_team_arrive(struct phases_thread *t, uint32_t site)
{
    uint64_t now = phases_now();
    if (t->lane) {
        uint32_t number = atomic_load_explicit(&t->lane->arrivals, memory_order_relaxed);
        write_down(t, &t->lane->barriers[number % LANE], site, now);
        atomic_store_explicit(&t->lane->arrivals, number + 1, memory_order_release);
    }
    wait_from(t, site, now);
}

static void fold_by_leader(struct team *team, uint32_t done)
{
    uint32_t behind = done - team->folded;
    if (behind < FOLD_AT || !lock_team(team, behind >= FULL_AT))
        return;
    fold_done(team);
    unlock_team(team);
}

static void go_on(struct phases_thread *t, uint32_t site, uint64_t begun)
{
    atomic_store_explicit(&t->waits_since, 0, memory_order_relaxed);
    atomic_store_explicit(&t->passed, atomic_load_explicit(&t->passed, memory_order_relaxed) + 1, memory_order_relaxed);
    phases_enter(t, site, begun);
}

void phases_team_leave(struct phases_thread *t, uint32_t site, bool cancelled)
{
    uint64_t now = phases_now();
    uint32_t number;
    if (cancelled)
        atomic_store_explicit(&t->waits_since, 0, memory_order_relaxed);
    else
        go_on(t, site, now);
    if (!t->lane || cancelled)
        return;
    number = atomic_load_explicit(&t->lane->arrivals, memory_order_relaxed);
    atomic_store_explicit(&t->lane->barriers[(number - 1) % LANE].left, now, memory_order_relaxed);
    atomic_store_explicit(&t->lane->done, number, memory_order_release);
    if (t->lane == t->team->lanes)
        fold_by_leader(t->team, number);
}

void phases_team_join(struct phases_thread *t, struct team *team)
{
    uint64_t now = phases_now();
    if (t->lane)
        write_down(t, &t->lane->join, team->join_site, now);
    t->join.team = team;
    t->join.generation = atomic_load(&team->generation);
    wait_from(t, team->join_site, now);
}

bool phases_team_has_joined(const struct phases_thread *t)
{
    const struct team *team = t->join.team;
    return team && atomic_load(&team->generation) != t->join.generation;
}

/* ---- teams ------------------------------------------------------------------------------------------------------------- */

static struct team *make_team(void)
{
    struct team *team = hpcrec_map(sizeof *team);
    if (!team)
        return NULL;
    team->lanes = hpcrec_map(TEAM_THREADS * sizeof *team->lanes);
    team->slots = hpcrec_map(TEAM_THREADS * sizeof *team->slots);
    if (team->lanes && team->slots)
        return team;
    hpcrec_unmap(team->lanes, TEAM_THREADS * sizeof *team->lanes);
    hpcrec_unmap(team->slots, TEAM_THREADS * sizeof *team->slots);
    hpcrec_unmap(team, sizeof *team);
    return NULL;
}

struct team *phases_team_begin(struct phases_thread *t, uint32_t join_site)
{
    struct team *team = t->depth < TEAM_DEPTH ? t->own[t->depth] : NULL;
    if (!team && t->depth < TEAM_DEPTH && (team = make_team()))
        atomic_store(&t->own[t->depth], team);
    if (!team)
        return NULL;
    t->depth++;
    lock_team(team, true);
    team->folded = 0;
    atomic_store(&team->lanes[0].done, 0);
    atomic_store(&team->threads, 1);
    team->lanes[0].join.arrived = 0;
    unlock_team(team);
    team->join_site = join_site;
    team->forked = phases_now();
    team->last = team->forked;
    team->phase = t->phase;
    team->outer = t->team;
    team->outer_lane = t->lane;
    return team;
}

void phases_team_end(struct phases_thread *t, struct team *team)
{
    struct record *join = &team->lanes[0].join;
    if (t->team != team) /* it is alone, without an event */
        phases_team_enter(t, team);
    if (join->arrived == 0)
        phases_team_join(t, team);
    atomic_store_explicit(&join->left, phases_now(), memory_order_relaxed);
    lock_team(team, true);
    fold_done(team);
    fold_broken(team);
    fold_join(team);
    unlock_team(team);
    go_on(t, team->join_site, team->last);
    atomic_fetch_add(&team->generation, 1);
    t->join.team = NULL;
    t->team = team->outer;
    t->lane = team->outer_lane;
    t->depth--;
}

/* ---- by the helper ----------------------------------------------------------------------------------------------------- */

static void fold_teams_of(struct thread *thread, void *ctx)
{
    struct phases_thread *t = thread->phases;
    (void)ctx;
    for (unsigned i = 0; t && i < TEAM_DEPTH; i++) {
        struct team *team = atomic_load(&t->own[i]);
        if (!team || !lock_team(team, false))
            continue;
        fold_done(team);
        unlock_team(team);
    }
}

void phases_teams_fold(void)
{
    hpcrec_threads_each(fold_teams_of, NULL);
}
