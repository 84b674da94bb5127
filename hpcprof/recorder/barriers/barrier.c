/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers in memory: objects at addresses, and the episodes that run at them. */
#include "hpcprof/recorder/barriers/barriers.h"

enum { OBJECTS = 4096 };

/* ---- what threads meet at ---------------------------------------------------------------------------------------------- */

static _Atomic(struct object *) *objects;

static uint32_t buffers_for(uint32_t capacity)
{
    return capacity <= BUFFERS_THREADS ? BUFFERS : 2;
}

static bool make_buffers(struct object *o, uint32_t capacity)
{
    uint32_t count = buffers_for(capacity);
    struct slot *slots = hpcrec_map((size_t)count * capacity * sizeof *slots);
    if (!slots)
        return false;
    o->capacity = capacity;
    o->buffer_count = count;
    for (uint32_t i = 0; i < count; i++)
        o->buffers[i].slots = slots + (size_t)i * capacity;
    return true;
}

static bool object_init(struct object *o, uint32_t expected)
{
    uint32_t most = expected < BARRIER_THREADS ? expected : BARRIER_THREADS;
    if (!make_buffers(o, expected ? most : TEAM_THREADS))
        return false;
    atomic_store(&o->arrive, 1ull << 32);
    o->expected = expected;
    return true;
}

static struct object *find_object(uint64_t address, size_t *slot)
{
    size_t i = phases_mix(address) & (OBJECTS - 1), looked = 0;
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
    if (!o && slot < OBJECTS && (o = hpcrec_map(sizeof *o))) {
        o->address = address;
        if (object_init(o, expected)) {
            atomic_store_explicit(&objects[slot], o, memory_order_release);
        } else {
            hpcrec_unmap(o, sizeof *o);
            o = NULL;
        }
    }
    phases_unlock();
    return o;
}

/* ---- arriving and leaving ------------------------------------------------------------------------------------------ */

enum { LEFT_MASK = 0xffff };

static uint64_t left_word(uint32_t episode, uint64_t size, uint64_t left)
{
    return (uint64_t)episode << 32 | (size & LEFT_MASK) << 16 | (left & LEFT_MASK);
}

/* Folded: later departures are no longer recorded. */
static uint64_t done_word(uint32_t episode)
{
    return left_word(episode, LEFT_MASK, 0);
}

static bool is_done(uint64_t word)
{
    return (word >> 16 & LEFT_MASK) == LEFT_MASK;
}

/* Adds to the known facts of an episode's end; true: it is complete with that. An older episode whose threads never
   left is forgotten. */
static bool count_out(struct object *o, uint32_t episode, uint32_t size, uint32_t leaving, bool *stale)
{
    struct buffer *b = phases_buffer(o, episode);
    uint64_t old = atomic_load(&b->left), new;
    do {
        uint32_t there = (uint32_t)(old >> 32);
        bool mine = there == episode;
        *stale = false;
        if ((int32_t)(there - episode) > 0 || (mine && is_done(old)))
            return false;
        *stale = !mine && !is_done(old) && (uint32_t)old != 0; /* size or leavers */
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
    struct buffer *b = phases_buffer(o, episode);
    uint64_t word = atomic_load(&b->left);
    /* The thread that completes it and the one that leaves last may be two. */
    if (!is_done(word) && atomic_compare_exchange_strong(&b->left, &word, done_word(episode)))
        phases_fold(o, episode, (uint32_t)(word >> 16 & LEFT_MASK));
}

/* If more threads arrive than the barrier waits for, its buffers are reused: an episode that all arrived at is
   complete, though some have not left it yet. Half the buffers are left to threads that still write their arrival. */
static void push_over(struct object *o, uint32_t episode)
{
    struct buffer *b = phases_buffer(o, episode);
    uint64_t word = atomic_load(&b->left), size = word >> 16 & LEFT_MASK;
    if (o->buffer_count > 2 && (uint32_t)(word >> 32) == episode && size && !is_done(word) &&
        atomic_compare_exchange_strong(&b->left, &word, done_word(episode)))
        phases_fold(o, episode, (uint32_t)size);
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
    if (full) {
        end_if_over(o, (uint32_t)(old >> 32), (uint32_t)old, 0, site);
        for (uint32_t back = BUFFERS / 2; back < BUFFERS; back++) /* the thread that should have done it may be
                                                                     off-CPU */
            push_over(o, (uint32_t)(new >> 32) - back);
    }
    struct passing p = {.object = o, .episode = (uint32_t)(new >> 32), .index = (uint32_t) new - 1, .site = site};
    struct buffer *b = phases_buffer(o, p.episode);
    if (p.index < o->capacity)
        b->slots[p.index] =
            (struct slot){.arrived = now, .begun = t->begun, .row = hpcrec_self->row, .site = site, .from = t->phase};
    note_latest(b, now);
    atomic_store_explicit(&t->waits_at, site, memory_order_relaxed);
    atomic_store_explicit(&t->waits_since, now, memory_order_release);
    return p;
}

/* No thread arrives at this episode any more. */
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
    phases_enter(t, p->site, atomic_load(&phases_buffer(p->object, p->episode)->last));
}

void phases_leave(struct phases_thread *t, const struct passing *p)
{
    struct buffer *b = phases_buffer(p->object, p->episode);
    uint64_t now = phases_now();
    if (p->index < p->object->capacity && b->slots[p->index].arrived)
        b->slots[p->index].left = now;
    go_on(t, p);
    close_episode(p);
    end_if_over(p->object, p->episode, 0, 1, p->site);
}

/* ---- barriers made anew ----------------------------------------------------------------------------------------------- */

/* An episode that all arrived at is complete, and its slots are freed: later departures are no longer recorded. */
static void end_all(struct object *o)
{
    uint64_t done = done_word((uint32_t)(atomic_load(&o->arrive) >> 32));
    for (uint32_t i = 0; i < BUFFERS; i++) {
        uint64_t word = atomic_exchange(&o->buffers[i].left, done), size = word >> 16 & LEFT_MASK;
        if (size && !is_done(word))
            phases_fold(o, (uint32_t)(word >> 32), (uint32_t)size);
    }
}

/* A new barrier at an old address may be for more threads than the old one's slots. Those stay allocated: a thread
   that has not quite left may still write there. The size doubles each time, so all the old ones together are no larger
   than the last. */
static void grow_object(struct object *o, uint32_t expected)
{
    uint32_t twice = 2 * o->capacity, wanted = expected > twice ? expected : twice;
    if (expected <= o->capacity || o->capacity == BARRIER_THREADS)
        return;
    end_all(o);
    make_buffers(o, wanted < BARRIER_THREADS ? wanted : BARRIER_THREADS);
}

/* A new beginning: threads that were still inside are forgotten. */
static void object_reset(struct object *o, uint32_t expected)
{
    o->expected = expected;
    atomic_store(&o->arrive, ((atomic_load(&o->arrive) >> 32) + 2) << 32);
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
        object_reset(o, expected);
    }
    return o;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

bool phases_objects_begin(void)
{
    objects = hpcrec_map(OBJECTS * sizeof *objects);
    return objects != NULL;
}

void phases_objects_forget(void)
{
    hpcrec_unmap(objects, OBJECTS * sizeof *objects);
    objects = NULL;
}
