/* SPDX-License-Identifier: BSD-3-Clause */
/* An access: whether its code is asked for, and the row that it is counted in, remembered by code. */
#include "config.h"
#include "mhsim/runtime/modules.h"
#include "mhsim/runtime/state.h"

#include <string.h>

static bool place_fits(const struct place *p, uint64_t code, uint64_t address, uint64_t frame)
{
    return place_fits_but_frame(p, code, address) && (!p->frame || runtime_same_frame(p, address, frame));
}

static uint32_t object_at(struct place *p, uint64_t address, bool on_stack, uint64_t frame)
{
    uint64_t lo = address & ~(uint64_t)(GRAIN - 1), hi = lo + GRAIN;
    p->frame = 0;
    p->lo = lo;
    p->bytes = GRAIN;
    if (runtime_on_this_stack(address)) {
        if (runtime.has_variables && frame)
            return runtime_stack_object(p, address, frame);
        p->lo = runtime_me->stack_lo;
        p->bytes = runtime_me->stack_hi - p->lo;
        return RAW_STACK;
    }
    uint32_t object = runtime_object_elsewhere(address, on_stack, &lo, &hi);
    p->lo = lo;
    p->bytes = hi - lo;
    return object;
}

static bool is_of_module(const struct raw_range *r, const struct raw_module *m)
{
    size_t n = strlen(r->module), len = strlen(m->path);
    return n <= len && strcmp(m->path + len - n, r->module) == 0 && (n == len || m->path[len - n - 1] == '/');
}

static bool wanted_code(uint64_t code)
{
    const struct raw_orders *o = &runtime.head->orders;
    if (!o->range_count)
        return true;
    int64_t i = modules_find(&runtime.modules, code);
    if (i < 0) {
        modules_refresh(&runtime.modules);
        i = modules_find(&runtime.modules, code);
    }
    const struct raw_module *m = i >= 0 ? store_get(&runtime.modules, (uint64_t)i) : NULL;
    for (uint32_t k = 0; m && k < o->range_count; k++)
        if (code - m->bias >= o->ranges[k].from && code - m->bias < o->ranges[k].to && is_of_module(&o->ranges[k], m))
            return true;
    return false;
}

static void find_place(struct place *p, uint64_t code, uint64_t address, bool on_stack, uint64_t frame)
{
    if (p->code != code) {
        p->code = code;
        p->row = wanted_code(code) ? 0 : NOT_WANTED;
    }
    p->generation = runtime_generation;
    if (p->row == NOT_WANTED) {
        p->lo = 0;
        p->bytes = UINT64_MAX;
        p->frame = 0;
        return;
    }
    if (modules_find(&runtime.modules, code) < 0)
        runtime_look_again();
    uint32_t object = object_at(p, address, on_stack, frame);
    runtime.of_nothing |= object == 0;
    p->row = mhsim_row(runtime.sim, runtime_me->core, code, object);
}

static void swap_places(struct place *a, struct place *b)
{
    struct place was = *a;
    *a = *b;
    *b = was;
}

/* One of the alternatives where the code's place may be, besides its own. */
static struct place *further_place(const struct place *own, uint32_t i)
{
    return &runtime_me->places[(uint32_t)(own - runtime_me->places) ^ i * (PLACES / FURTHER_PLACES)];
}

/* The code's place, made fit. Code that alternates between arrays (a merge, a copy) keeps its places for the others
   further on; the one that fits comes to the front, where it is searched. */
static const struct place *fit_place(uint64_t code, uint64_t address, bool on_stack, uint64_t frame)
{
    static uint32_t turn;
    struct place *own = place_of(runtime_me, code);
    if (place_fits(own, code, address, frame))
        return own;
    for (uint32_t i = 1; i < FURTHER_PLACES; i++)
        if (place_fits(further_place(own, i), code, address, frame)) {
            swap_places(own, further_place(own, i));
            return own;
        }
    *further_place(own, 1 + turn++ % (FURTHER_PLACES - 1)) = *own;
    find_place(own, code, address, on_stack, frame);
    return own;
}

/* Waiting accesses as well, for places that took more steps to find. */
static bool append_further(uint64_t code, uint64_t address, uint32_t size, bool write, bool on_stack, uint64_t frame)
{
    struct runtime_thread *me = runtime_me;
    me->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    bool room = me->waiting < me->room;
    if (room)
        runtime_append(me, fit_place(code, address, on_stack, frame), address, size, write);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    me->busy = false;
    return room;
}

void runtime_access_slowly(uint64_t code, uint64_t address, uint32_t size, bool write, bool on_stack, uint64_t frame)
{
    if (!runtime_me->ready && !runtime_thread_begins())
        return;
    if (runtime_me->busy) {
        runtime.head->lost++;
        return;
    }
    if (append_further(code, address, size, write, on_stack, frame) || !runtime_enter())
        return;
    bool locked = runtime.many;
    if (runtime_me->waiting < runtime_me->room) { /* processing the waiting accesses made space */
        runtime_append(runtime_me, fit_place(code, address, on_stack, frame), address, size, write);
        runtime_leave(locked);
        return;
    }
    runtime.head->seen++;
    if (runtime.phase <= WARMING && runtime.phase != NOT_YET && !runtime.stopped) {
        const struct place *p = fit_place(code, address, on_stack, frame);
        if (p->row != NOT_WANTED) {
            runtime.head->simulated += runtime_counts();
            mhsim_access(runtime.sim, p->row, address, size, write);
        }
    }
    if (--runtime.left == 0)
        runtime_next_phase();
    else if (!locked)
        runtime_set_quiet();
    runtime_leave(locked);
}
