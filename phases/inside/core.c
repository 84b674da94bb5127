/* Sites, what threads meet at, episodes and their sums. */
#include "phases/inside/inside.h"

#include <sched.h>

struct phases hpcrec_phases;

enum { SITE_SLOTS = SITES_MAX * 4, CELL_SLOTS = CELLS_MAX * 2, OBJECTS = 4096 };

static uint64_t mix(uint64_t h)
{
    h *= 0x9fb21c651e98df25u;
    h ^= h >> 32;
    h *= 0x9fb21c651e98df25u;
    return h ^ h >> 29;
}

/* ---- the lock ----------------------------------------------------------------------------------------------- */

static _Atomic int lock_word;

static bool take_lock(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) {
        if (!atomic_load_explicit(&lock_word, memory_order_relaxed) && !atomic_exchange(&lock_word, 1))
            return true;
        if (i % 64 == 63) /* whoever has it may wait for our processor */
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
    uint64_t h = mix(pc ^ (uint64_t)kind << 56);
    for (size_t i = 0; name && name[i] && i < NAME_BYTES - 1; i++)
        h = (h ^ (uint8_t)name[i]) * 0x100000001b3u;
    return mix(h);
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
    unsigned i = (unsigned)mix(pc ^ kind) % (sizeof t->cache / sizeof *t->cache);
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

/* ---- sums by two numbers --------------------------------------------------------------------------------------- */

struct pair_cell *phases_cell(enum cell_kind kind, uint32_t a, uint32_t b)
{
    uint64_t key = (uint64_t)kind << 56 | (uint64_t)(a & 0xfffffff) << 28 | (b & 0xfffffff);
    uint32_t *slots = hpcrec_phases.cell_slots;
    size_t i = mix(key) & (CELL_SLOTS - 1);
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
    struct pair_cell *c = phases_cell(kind, a, b);
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
    struct episode e = {.slots = slots, .listed = listed, .size = size, .site = slots[0].site, .release = UINT64_MAX};
    sort_slots(slots, listed);
    e.first = slots[0].arrived;
    e.last = slots[listed - 1].arrived;
    for (uint32_t i = 0; i < listed; i++) {
        e.idle += e.last - slots[i].arrived;
        e.begin = slots[i].begun > e.begin ? slots[i].begun : e.begin;
        e.release = slots[i].left && slots[i].left < e.release ? slots[i].left : e.release;
        e.site = slots[i].site < e.site ? slots[i].site : e.site;
    }
    if (e.begin > e.last)
        e.begin = e.last;
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
        if (e->listed > KEPT_ARRIVALS && i >= 8 && i < e->listed - (KEPT_ARRIVALS - 8))
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

static void tell(const struct site *s, const struct episode *e)
{
    const struct config *c = &hpcrec.config;
    bool warn = c->warn_ns && e->last - e->first >= c->warn_ns;
    if (!warn && (!c->watch || s->kind == BARRIER_USER_LOOP))
        return;
    if (hpcrec_phases.notice_head - hpcrec_phases.notice_tail == NOTICES) {
        hpcrec_phases.notices_lost++;
        return;
    }
    hpcrec_phases.notices[hpcrec_phases.notice_head++ % NOTICES] =
        (struct notice){.number = s->sums.episodes,
                        .begin = e->begin,
                        .first = e->first,
                        .last = e->last,
                        .site = e->site,
                        .threads = e->size,
                        .last_row = e->slots[e->listed - 1].row,
                        .warn = warn};
}

static void fold(struct object *o, uint32_t number, uint32_t size)
{
    struct buffer *b = &o->buffers[number & 1];
    uint32_t listed = size < o->capacity ? size : o->capacity;
    if (listed == 0 || !hpcrec.measuring)
        return;
    struct episode e = look_at(b->slots, listed, size);
    struct site *s = &hpcrec_phases.sites[e.site];
    phases_lock();
    add_to_site(s, &e);
    add_threads(&e);
    keep(s, &e);
    tell(s, &e);
    phases_unlock();
}

/* ---- arriving and leaving ------------------------------------------------------------------------------------------ */

enum { LEFT_MASK = 0xffff };

static uint64_t left_word(uint32_t episode, uint64_t size, uint64_t left)
{
    return (uint64_t)episode << 32 | (size & LEFT_MASK) << 16 | (left & LEFT_MASK);
}

/* Adds to what is known of an episode's end; true: it is over with that. What an older episode left here, whose threads
   never came out, is forgotten. */
static bool count_out(struct object *o, uint32_t episode, uint32_t size, uint32_t leaving, bool *stale)
{
    struct buffer *b = &o->buffers[episode & 1];
    uint64_t old = atomic_load(&b->left), new;
    do {
        bool mine = (uint32_t)(old >> 32) == episode;
        *stale = !mine && (old & LEFT_MASK << 16 || old & LEFT_MASK);
        new = left_word(episode, size ? size : mine ? old >> 16 : 0, (mine ? old & LEFT_MASK : 0) + leaving);
    } while (!atomic_compare_exchange_weak(&b->left, &old, new));
    uint64_t all = new >> 16 & LEFT_MASK;
    return all != 0 && all == (new &LEFT_MASK);
}

static void end_if_over(struct object *o, uint32_t episode, uint32_t size, uint32_t leaving, uint32_t site)
{
    bool stale = false;
    bool over = count_out(o, episode, size, leaving, &stale);
    if (stale) {
        phases_lock();
        hpcrec_phases.sites[site].sums.broken++;
        phases_unlock();
    }
    if (!over)
        return;
    fold(o, episode, (uint32_t)(atomic_load(&o->buffers[episode & 1].left) >> 16 & LEFT_MASK));
    atomic_store(&o->buffers[episode & 1].left, 0);
}

static void note_latest(struct buffer *b, uint64_t time)
{
    uint64_t last = atomic_load(&b->last);
    while (last < time && !atomic_compare_exchange_weak(&b->last, &last, time))
        ;
}

struct passing phases_arrive(struct phases_thread *t, struct object *o, uint32_t site)
{
    uint64_t now = phases_now(), old = atomic_load(&o->arrive), new;
    bool full;
    do { /* more threads than the barrier waits for: the next episode */
        full = o->expected && (uint32_t)old >= o->expected;
        new = full ? ((old >> 32) + 1) << 32 | 1 : old + 1;
    } while (!atomic_compare_exchange_weak(&o->arrive, &old, new));
    if (full)
        end_if_over(o, (uint32_t)(old >> 32), (uint32_t)old, 0, site);
    struct passing p = {.object = o, .episode = (uint32_t)(new >> 32), .index = (uint32_t) new - 1, .site = site};
    struct buffer *b = &o->buffers[p.episode & 1];
    if (p.index < o->capacity)
        b->slots[p.index] =
            (struct slot){.arrived = now, .begun = t->begun, .row = hpcrec_self->row, .site = site, .from = t->phase};
    note_latest(b, now);
    atomic_store_explicit(&t->waits_at, site, memory_order_relaxed);
    atomic_store_explicit(&t->waits_since, now, memory_order_release);
    return p;
}

/* Nobody arrives at this episode any more. */
static void close_episode(const struct passing *p)
{
    uint64_t old = atomic_load(&p->object->arrive);
    while ((uint32_t)(old >> 32) == p->episode)
        if (atomic_compare_exchange_weak(&p->object->arrive, &old, ((uint64_t)p->episode + 1) << 32)) {
            end_if_over(p->object, p->episode, (uint32_t)old, 0, p->site);
            return;
        }
}

static void go_on(struct phases_thread *t, const struct passing *p)
{
    atomic_store_explicit(&t->waits_since, 0, memory_order_relaxed);
    atomic_store_explicit(&t->passed, atomic_load_explicit(&t->passed, memory_order_relaxed) + 1, memory_order_relaxed);
    phases_enter(t, p->site, atomic_load(&p->object->buffers[p->episode & 1].last));
}

void phases_leave(struct phases_thread *t, const struct passing *p)
{
    struct buffer *b = &p->object->buffers[p->episode & 1];
    uint64_t now = phases_now();
    if (p->index < p->object->capacity && b->slots[p->index].arrived)
        b->slots[p->index].left = now;
    go_on(t, p);
    close_episode(p);
    end_if_over(p->object, p->episode, 0, 1, p->site);
}

void phases_abandon(struct phases_thread *t)
{
    atomic_store_explicit(&t->waits_since, 0, memory_order_relaxed);
}

void phases_leave_for_all(struct phases_thread *t, const struct passing *p)
{
    struct buffer *b = &p->object->buffers[p->episode & 1];
    uint32_t size = (uint32_t)atomic_load(&p->object->arrive);
    if (p->index < p->object->capacity)
        b->slots[p->index].left = phases_now();
    go_on(t, p);
    atomic_store(&p->object->arrive, ((uint64_t)p->episode + 1) << 32);
    fold(p->object, p->episode, size);
    atomic_store(&b->left, 0);
}

/* ---- the phase a thread is in, for its samples ------------------------------------------------------------------------ */

static uint32_t region_locked(uint32_t site, uint32_t around)
{
    char name[64];
    sigset_t saved;
    struct text t = hpcrec_text(name, sizeof name);
    hpcrec_text_str(&t, "after barrier ");
    hpcrec_text_u64(&t, hpcrec_phases.sites[site].number);
    hpcrec_lock(&saved);
    uint32_t region = hpcrec_region_row(name, around);
    hpcrec_unlock(&saved);
    return region;
}

static uint32_t region_of(struct phases_thread *t)
{
    struct site *s = &hpcrec_phases.sites[t->phase - 1];
    uint32_t region = atomic_load_explicit(&s->region_row, memory_order_relaxed);
    if (t->user_region == 0 && region)
        return region;
    if (t->region_site != t->phase || t->region_user != t->user_region) {
        t->region = region_locked(t->phase - 1, t->user_region);
        t->region_site = t->phase;
        t->region_user = t->user_region;
    }
    if (t->user_region == 0)
        atomic_store_explicit(&s->region_row, t->region, memory_order_relaxed);
    return t->region;
}

static void mark(struct phases_thread *t)
{
    uint32_t region = t->phase ? region_of(t) : t->user_region;
    if (region != hpcrec_self->region)
        hpcrec_mark_region(hpcrec_self, region);
}

void phases_enter(struct phases_thread *t, uint32_t site, uint64_t begun)
{
    t->begun = begun;
    if (t->phase == site + 1)
        return;
    t->phase = site + 1;
    mark(t);
}

void hpcrec_phases_region(struct thread *t, uint32_t region)
{
    if (!t->phases) {
        hpcrec_mark_region(t, region);
        return;
    }
    t->phases->user_region = region;
    mark(t->phases);
}

uint32_t hpcrec_phases_user_region(const struct thread *t)
{
    return t->phases ? t->phases->user_region : t->region;
}

/* ---- what threads meet at ---------------------------------------------------------------------------------------------- */

static _Atomic(struct object *) *objects;

bool phases_object_init(struct object *o, uint32_t expected, uint32_t capacity)
{
    struct slot *slots = hpcrec_map(2 * capacity * sizeof *slots);
    if (!slots)
        return false;
    o->capacity = capacity;
    o->buffers[0].slots = slots;
    o->buffers[1].slots = slots + capacity;
    atomic_store(&o->arrive, 1ull << 32);
    o->expected = expected;
    return true;
}

void phases_object_reset(struct object *o, uint32_t expected)
{
    o->expected = expected;
    atomic_store(&o->arrive, ((atomic_load(&o->arrive) >> 32) + 2) << 32);
}

static struct object *find_object(uint64_t address, size_t *slot)
{
    size_t i = mix(address) & (OBJECTS - 1), looked = 0;
    for (struct object *o; looked < OBJECTS && (o = atomic_load_explicit(&objects[i], memory_order_acquire));
         i = (i + 1) & (OBJECTS - 1), looked++)
        if (o->address == address)
            return o;
    *slot = looked < OBJECTS ? i : OBJECTS;
    return NULL;
}

static struct object *make_object(uint64_t address, uint32_t expected)
{
    size_t slot = 0;
    phases_lock();
    struct object *o = find_object(address, &slot);
    uint32_t capacity = expected && expected < BARRIER_THREADS ? expected : expected ? BARRIER_THREADS : TEAM_THREADS;
    if (!o && slot < OBJECTS && (o = hpcrec_map(sizeof *o))) {
        o->address = address;
        if (phases_object_init(o, expected, capacity)) {
            atomic_store_explicit(&objects[slot], o, memory_order_release);
        } else {
            hpcrec_unmap(o, sizeof *o);
            o = NULL;
        }
    }
    phases_unlock();
    return o;
}

/* A barrier made anew at an old address may be for more threads than fit in the old one's slots. */
static void grow_object(struct object *o, uint32_t expected)
{
    uint32_t wanted = expected < BARRIER_THREADS ? expected : BARRIER_THREADS;
    struct slot *slots = wanted > o->capacity ? hpcrec_map(2 * wanted * sizeof *slots) : NULL;
    if (!slots)
        return;
    hpcrec_unmap(o->buffers[0].slots, 2 * o->capacity * sizeof *slots);
    o->buffers[0].slots = slots;
    o->buffers[1].slots = slots + wanted;
    o->capacity = wanted;
}

struct object *phases_object_at(const void *address, uint32_t expected, bool fresh)
{
    size_t slot;
    uint64_t key = (uint64_t)(uintptr_t)address;
    struct object *o = find_object(key, &slot);
    if (!o)
        return make_object(key, expected);
    if (fresh) {
        grow_object(o, expected);
        phases_object_reset(o, expected);
    }
    return o;
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

/* ---- teams ------------------------------------------------------------------------------------------------------------- */

struct team *phases_team_begin(struct phases_thread *t, uint32_t join_site)
{
    if (t->depth >= TEAM_DEPTH)
        return NULL;
    struct team *team = t->own[t->depth];
    if (!team) {
        team = hpcrec_map(sizeof *team);
        if (!team || !phases_object_init(&team->object, 0, TEAM_THREADS) ||
            !phases_object_init(&team->end, 0, TEAM_THREADS))
            return NULL;
        t->own[t->depth] = team;
    } else {
        phases_object_reset(&team->object, 0);
        phases_object_reset(&team->end, 0);
    }
    t->depth++;
    team->join_site = join_site;
    team->forked = phases_now();
    team->phase = t->phase;
    team->outer = t->team;
    return team;
}

/* Arrivals at a barrier that its team never left. */
static void count_broken(const struct object *o)
{
    uint64_t arrive = atomic_load(&o->arrive);
    if ((uint32_t)arrive == 0)
        return;
    phases_lock();
    hpcrec_phases.sites[o->buffers[arrive >> 32 & 1].slots[0].site].sums.broken++;
    phases_unlock();
}

void phases_team_end(struct phases_thread *t, struct team *team)
{
    count_broken(&team->object);
    if (t->join.object == &team->end)
        phases_leave_for_all(t, &t->join);
    t->join.object = NULL;
    t->team = team->outer;
    t->depth--;
}

/* ---- beginning and end --------------------------------------------------------------------------------------------------- */

void hpcrec_phases_begin(void)
{
    struct phases *p = &hpcrec_phases;
    if (!hpcrec.config.phases || p->on)
        return;
    p->sites = hpcrec_map(SITES_MAX * sizeof *p->sites);
    p->site_slots = hpcrec_map(SITE_SLOTS * sizeof *p->site_slots);
    p->cells = hpcrec_map(CELLS_MAX * sizeof *p->cells);
    p->cell_slots = hpcrec_map(CELL_SLOTS * sizeof *p->cell_slots);
    objects = hpcrec_map(OBJECTS * sizeof *objects);
    p->on = p->sites && p->site_slots && p->cells && p->cell_slots && objects;
    if (!p->on) {
        hpcrec_missing("there was no memory for barriers and phases");
        return;
    }
    for (uint32_t kind = 0; kind < SITE_KIND_COUNT; kind += SITE_KIND_COUNT - 1) {
        struct site *s = &p->sites[shared_site(kind)];
        name_site(s, 0, kind ? WAIT_MUTEX : BARRIER_PTHREAD, "(all others)");
        s->number = shared_site(kind) + 1;
    }
}

void hpcrec_phases_thread_create(struct thread *t)
{
    if (hpcrec_phases.on)
        t->phases = hpcrec_map(sizeof *t->phases);
}

void hpcrec_phases_thread_begin(struct thread *t)
{
    if (t->phases)
        t->phases->begun = phases_now();
}

/* Teams stay: a worker that ends may have led one whose threads still look at it. They are few: a page or two each. */
void hpcrec_phases_thread_discard(struct thread *t)
{
    hpcrec_unmap(t->phases, sizeof *t->phases);
}

void hpcrec_phases_forget(void)
{
    struct phases *p = &hpcrec_phases;
    for (uint32_t i = 0; p->on && i < SITES_MAX; i++)
        hpcrec_unmap(p->sites[i].kept, sizeof *p->sites[i].kept);
    if (p->on) {
        hpcrec_unmap(p->sites, SITES_MAX * sizeof *p->sites);
        hpcrec_unmap(p->site_slots, SITE_SLOTS * sizeof *p->site_slots);
        hpcrec_unmap(p->cells, CELLS_MAX * sizeof *p->cells);
        hpcrec_unmap(p->cell_slots, CELL_SLOTS * sizeof *p->cell_slots);
        hpcrec_unmap(objects, OBJECTS * sizeof *objects);
    }
    hpcrec_area_free(&p->passages, sizeof(struct passage));
    *p = (struct phases){0};
    atomic_store(&lock_word, 0);
}
