/* SPDX-License-Identifier: BSD-3-Clause */
/* Completed episodes: folded into the sums of their site, kept if they are long enough, reported to the observer. */
#include "hpcprof/recorder/barriers/barriers.h"

enum { CELL_SLOTS = CELLS_MAX * 2 };

/* ---- sums by two numbers --------------------------------------------------------------------------------------- */

/* NULL: too many. */
static struct pair_cell *cell_of(enum cell_kind kind, uint32_t a, uint32_t b)
{
    uint64_t key = (uint64_t)kind << 56 | (uint64_t)(a & 0xfffffff) << 28 | (b & 0xfffffff);
    uint32_t *slots = hpcrec_phases.cell_slots;
    size_t i = phases_mix(key) & (CELL_SLOTS - 1);
    for (; slots[i]; i = (i + 1) & (CELL_SLOTS - 1))
        if (hpcrec_phases.cells[slots[i] - 1].key == key)
            return &hpcrec_phases.cells[slots[i] - 1];
    if (hpcrec_phases.cell_count == CELLS_MAX)
        return NULL;
    struct pair_cell *c = &hpcrec_phases.cells[hpcrec_phases.cell_count];
    c->key = key;
    slots[i] = ++hpcrec_phases.cell_count;
    return c;
}

static void add(enum cell_kind kind, uint32_t a, uint32_t b, const uint64_t values[4])
{
    struct pair_cell *c = cell_of(kind, a, b);
    for (int i = 0; c && i < 4; i++)
        c->now[i] += values[i];
}

/* ---- episodes that are over --------------------------------------------------------------------------------------- */

struct episode {
    struct slot *slots; /* in the order of arrival */
    uint32_t listed, size, site;
    uint64_t begin, first, last, release, idle;
};

/* They come nearly in order: each took its slot right after it looked at the clock. */
static void sort_slots(struct slot *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && v[k].arrived < v[k - 1].arrived; k--) {
            struct slot t = v[k];
            v[k] = v[k - 1];
            v[k - 1] = t;
        }
}

static struct episode look_at(struct slot *slots, uint32_t listed, uint32_t size)
{
    struct episode e = {.slots = slots, .listed = listed, .size = size, .site = UINT32_MAX, .release = UINT64_MAX};
    sort_slots(slots, listed);
    e.first = slots[0].arrived;
    e.last = slots[listed - 1].arrived;
    for (uint32_t i = 0; i < listed; i++) {
        e.idle += e.last - slots[i].arrived;
        e.begin = slots[i].begun > e.begin ? slots[i].begun : e.begin;
        e.release = slots[i].left && slots[i].left < e.release ? slots[i].left : e.release;
        e.site = slots[i].site < e.site ? slots[i].site : e.site;
    }
    if (e.begin > e.first) /* of the first phase: a thread came before another one was made */
        e.begin = e.first;
    if (e.release < e.last || e.release == UINT64_MAX)
        e.release = e.last;
    return e;
}

static void least(uint64_t *to, uint64_t value)
{
    *to = value < *to ? value : *to;
}

static void most(uint64_t *to, uint64_t value)
{
    *to = value > *to ? value : *to;
}

static void add_to_site(struct site *s, const struct episode *e)
{
    uint64_t phase = e->last - e->begin, barrier = e->last - e->first;
    int bucket = 63 - __builtin_clzll(barrier | 1);
    s->sums.episodes++;
    s->sums.passages += e->size;
    s->sums.phase += phase;
    s->sums.barrier += barrier;
    s->sums.idle += e->idle;
    s->sums.overhead += e->release - e->last;
    s->sums.squares += (double)barrier / 1e6 * ((double)barrier / 1e6);
    s->times[bucket < TIMES ? bucket : TIMES - 1]++;
    most(&s->threads, e->size);
    most(&s->worst, barrier);
    least(&s->best, barrier);
    most(&s->longest, phase);
    least(&s->shortest, phase);
    least(&s->first, e->first);
    most(&s->last, e->last);
}

static void add_threads(const struct episode *e)
{
    const struct slot *last = &e->slots[e->listed - 1];
    for (uint32_t i = 0; i < e->listed; i++) {
        const struct slot *s = &e->slots[i];
        uint64_t waited = e->last - s->arrived, begun = s->begun < s->arrived ? s->begun : s->arrived;
        add(CELL_THREAD, e->site, s->row, (uint64_t[]){1, s == last, waited, s->arrived - begun});
        if (s != last)
            add(CELL_WAITS_FOR, s->row, last->row, (uint64_t[]){1, waited, 0, 0});
    }
    add(CELL_PHASE, e->site, last->from, (uint64_t[]){1, e->last - e->begin, e->last - e->first, 0});
}

static void fill_kept(struct kept *k, const struct episode *e, uint64_t number)
{
    *k = (struct kept){.number = number,
                       .begin = e->begin,
                       .first = e->first,
                       .last = e->last,
                       .release = e->release,
                       .idle = e->idle,
                       .threads = e->size,
                       .last_row = e->slots[e->listed - 1].row};
    for (uint32_t i = 0; i < e->listed; i++) {
        if (i >= 8 && i + (KEPT_ARRIVALS - 8) < e->listed)
            continue;
        k->arrivals[k->listed].at = e->slots[i].arrived;
        k->arrivals[k->listed].row = e->slots[i].row;
        k->arrivals[k->listed++].order = i + 1;
    }
}

static uint64_t time_of(const struct kept *k)
{
    return k->last - k->first;
}

static struct kept *place_among_worst(struct kept_set *set, uint64_t barrier)
{
    struct kept *place = &set->worst[0];
    for (int i = 0; i < KEPT_WORST; i++) {
        if (set->worst[i].number == 0)
            return &set->worst[i];
        if (time_of(&set->worst[i]) < time_of(place))
            place = &set->worst[i];
    }
    return barrier > time_of(place) ? place : NULL;
}

static struct kept *free_sample(struct kept_set *set)
{
    for (int i = 0; i < KEPT_SAMPLE; i++)
        if (set->sample[i].number == 0)
            return &set->sample[i];
    return NULL;
}

/* Episodes 1, 1 + stride, 1 + 2 stride, ... */
static struct kept *place_in_sample(struct kept_set *set, uint64_t number)
{
    struct kept *place = NULL;
    while ((number - 1) % set->stride == 0 && !(place = free_sample(set))) {
        set->stride *= 2;
        for (int i = 0; i < KEPT_SAMPLE; i++)
            if ((set->sample[i].number - 1) % set->stride)
                set->sample[i].number = 0;
    }
    return place;
}

static bool may_keep(struct site *s)
{
    if (!s->kept && hpcrec_phases.kept_sites < KEPT_SITES && (s->kept = hpcrec_map(sizeof *s->kept))) {
        s->kept->stride = 1;
        hpcrec_phases.kept_sites++;
    }
    hpcrec_phases.kept_full |= !s->kept;
    return s->kept != NULL;
}

static void keep(struct site *s, const struct episode *e)
{
    if (!may_keep(s))
        return;
    struct kept *place = place_in_sample(s->kept, s->sums.episodes);
    if (!place)
        place = place_among_worst(s->kept, e->last - e->first);
    if (place)
        fill_kept(place, e, s->sums.episodes);
}

void phases_notify(const struct notice *n)
{
    const struct config *c = &hpcrec.config;
    bool warn = c->warn_ns && n->last - n->first >= c->warn_ns;
    if (!warn && (!c->watch || hpcrec_phases.sites[n->site].kind == BARRIER_USER_LOOP))
        return;
    if (hpcrec_phases.notice_head - hpcrec_phases.notice_tail == NOTICES) {
        hpcrec_phases.notices_lost++;
        return;
    }
    struct notice *at = &hpcrec_phases.notices[hpcrec_phases.notice_head++ % NOTICES];
    *at = *n;
    at->warn = warn;
}

static void tell(const struct site *s, const struct episode *e)
{
    phases_notify(&(struct notice){.number = s->sums.episodes,
                                   .begin = e->begin,
                                   .first = e->first,
                                   .last = e->last,
                                   .site = e->site,
                                   .threads = e->size,
                                   .last_row = e->slots[e->listed - 1].row});
}

void phases_fold_slots(struct slot *slots, uint32_t listed, uint32_t size)
{
    struct episode e = look_at(slots, listed, size);
    struct site *s = &hpcrec_phases.sites[e.site];
    phases_lock();
    add_to_site(s, &e);
    add_threads(&e);
    keep(s, &e);
    tell(s, &e);
    phases_unlock();
}

void phases_fold(struct object *o, uint32_t number, uint32_t size)
{
    uint32_t listed = size < o->capacity ? size : o->capacity;
    if (listed > 0 && hpcrec.measuring)
        phases_fold_slots(phases_buffer(o, number)->slots, listed, size);
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

bool phases_cells_begin(void)
{
    struct phases *p = &hpcrec_phases;
    p->cells = hpcrec_map(CELLS_MAX * sizeof *p->cells);
    p->cell_slots = hpcrec_map(CELL_SLOTS * sizeof *p->cell_slots);
    return p->cells && p->cell_slots;
}

void phases_cells_forget(void)
{
    struct phases *p = &hpcrec_phases;
    hpcrec_unmap(p->cells, CELLS_MAX * sizeof *p->cells);
    hpcrec_unmap(p->cell_slots, CELL_SLOTS * sizeof *p->cell_slots);
}
