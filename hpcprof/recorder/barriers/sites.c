/* SPDX-License-Identifier: BSD-3-Clause */
/* Sites of barriers and waits: found and created by caller and kind, and the sums of waits there. */
#include "hpcprof/recorder/barriers/barriers.h"

#include <sys/syscall.h>
#include <unistd.h>
#include <time.h>

enum { SITE_SLOTS = SITES_MAX * 4 };

/* ---- the lock ----------------------------------------------------------------------------------------------- */

static _Atomic int lock_word;

static bool take_lock(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) {
        if (!atomic_load_explicit(&lock_word, memory_order_relaxed) && !atomic_exchange(&lock_word, 1))
            return true;
        if (i % 64 == 63) /* its owner may wait for our processor */
            syscall(SYS_sched_yield);
    }
    return false;
}

void phases_lock(void)
{
    while (!take_lock(1u << 30))
        ;
}

/* A thread that was ended, or stopped by a signal, while it held the lock, must not stop the helper. */
bool phases_trylock(void)
{
    for (int i = 0; i < 200; i++) {
        struct timespec pause = {0, 500000};
        if (take_lock(1000))
            return true;
        syscall(SYS_nanosleep, &pause, NULL);
    }
    return false;
}

void phases_unlock(void)
{
    atomic_store(&lock_word, 0);
}

/* ---- sites -------------------------------------------------------------------------------------------------- */

static bool is_site(const struct site *s, uint64_t pc, uint32_t kind, const char *name)
{
    return s->pc == pc && s->kind == kind && strncmp(s->name, name ? name : "", NAME_BYTES - 1) == 0;
}

static uint64_t hash_of(uint64_t pc, uint32_t kind, const char *name)
{
    uint64_t h = phases_mix(pc ^ (uint64_t)kind << 56);
    for (size_t i = 0; name && name[i] && i < NAME_BYTES - 1; i++)
        h = (h ^ (uint8_t)name[i]) * 0x100000001b3u;
    return phases_mix(h);
}

/* SITES_MAX: not there; *slot is where it would be. */
static uint32_t find_site(uint64_t pc, uint32_t kind, const char *name, size_t *slot)
{
    size_t i = hash_of(pc, kind, name) & (SITE_SLOTS - 1);
    for (uint32_t at; (at = atomic_load_explicit(&hpcrec_phases.site_slots[i], memory_order_acquire));
         i = (i + 1) & (SITE_SLOTS - 1))
        if (is_site(&hpcrec_phases.sites[at - 1], pc, kind, name))
            return at - 1;
    *slot = i;
    return SITES_MAX;
}

/* Barriers beyond the most share the last site, waits the one before. */
static uint32_t shared_site(uint32_t kind)
{
    return kind >= FIRST_WAIT ? SITES_MAX - 2 : SITES_MAX - 1;
}

static void name_site(struct site *s, uint64_t pc, uint32_t kind, const char *name)
{
    struct text t = hpcrec_text(s->name, sizeof s->name);
    hpcrec_text_str(&t, name ? name : "");
    s->pc = pc;
    s->kind = kind;
    s->best = s->shortest = s->first = UINT64_MAX;
}

static uint32_t make_site(uint64_t pc, uint32_t kind, const char *name)
{
    size_t slot = 0;
    phases_lock();
    uint32_t at = find_site(pc, kind, name, &slot);
    if (at == SITES_MAX) {
        at = atomic_load(&hpcrec_phases.site_count);
        if (at >= SITES_MAX - 2) {
            phases_unlock();
            return shared_site(kind);
        }
        name_site(&hpcrec_phases.sites[at], pc, kind, name);
        hpcrec_phases.sites[at].number = kind < FIRST_WAIT ? ++hpcrec_phases.barrier_count : 0;
        atomic_store(&hpcrec_phases.site_count, at + 1);
        atomic_store_explicit(&hpcrec_phases.site_slots[slot], at + 1, memory_order_release);
    }
    phases_unlock();
    return at;
}

uint32_t phases_site(struct phases_thread *t, uint64_t pc, enum site_kind kind, const char *name)
{
    unsigned i = (unsigned)phases_mix(pc ^ kind) % (sizeof t->cache / sizeof *t->cache);
    size_t slot;
    if (t->cache[i].pc == pc && t->cache[i].kind == kind &&
        (!name || is_site(&hpcrec_phases.sites[t->cache[i].site], pc, kind, name)))
        return t->cache[i].site;
    uint32_t at = find_site(pc, kind, name, &slot);
    if (at == SITES_MAX)
        at = make_site(pc, kind, name);
    t->cache[i].pc = pc;
    t->cache[i].kind = kind;
    t->cache[i].site = at;
    return at;
}

/* ---- waits ------------------------------------------------------------------------------------------------------------ */

struct waiting phases_wait_begin(uint64_t pc, enum site_kind kind)
{
    struct waiting w = {.self = phases_self()};
    if (!w.self || atomic_load_explicit(&w.self->waits_since, memory_order_relaxed)) { /* inside of another wait */
        w.self = NULL;
        return w;
    }
    w.site = phases_site(w.self, pc, kind, NULL);
    w.since = phases_now();
    atomic_store_explicit(&w.self->waits_at, w.site, memory_order_relaxed);
    atomic_store_explicit(&w.self->waits_since, w.since, memory_order_release);
    return w;
}

void phases_wait_end(const struct waiting *w, uint64_t least_ns)
{
    if (!w->self)
        return;
    struct site *s = &hpcrec_phases.sites[w->site];
    uint64_t waited = phases_now() - w->since, worst = atomic_load(&s->wait_worst);
    atomic_store_explicit(&w->self->waits_since, 0, memory_order_relaxed);
    if (waited < least_ns || !hpcrec.measuring)
        return;
    atomic_fetch_add(&s->wait_times, 1);
    atomic_fetch_add(&s->wait_ns, waited);
    while (worst < waited && !atomic_compare_exchange_weak(&s->wait_worst, &worst, waited))
        ;
}

/* ---- beginning and end ---------------------------------------------------------------------------------------- */

bool phases_sites_begin(void)
{
    struct phases *p = &hpcrec_phases;
    p->sites = hpcrec_map(SITES_MAX * sizeof *p->sites);
    p->site_slots = hpcrec_map(SITE_SLOTS * sizeof *p->site_slots);
    if (!p->sites || !p->site_slots)
        return false;
    for (uint32_t kind = 0; kind < SITE_KIND_COUNT; kind += SITE_KIND_COUNT - 1) {
        struct site *s = &p->sites[shared_site(kind)];
        name_site(s, 0, kind ? WAIT_MUTEX : BARRIER_PTHREAD, "(all others)");
        s->number = shared_site(kind) + 1;
    }
    return true;
}

void phases_sites_forget(void)
{
    struct phases *p = &hpcrec_phases;
    for (uint32_t i = 0; p->sites && i < SITES_MAX; i++)
        hpcrec_unmap(p->sites[i].kept, sizeof *p->sites[i].kept);
    hpcrec_unmap(p->sites, SITES_MAX * sizeof *p->sites);
    hpcrec_unmap(p->site_slots, SITE_SLOTS * sizeof *p->site_slots);
    atomic_store(&lock_word, 0);
}
