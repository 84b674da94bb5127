/* SPDX-License-Identifier: BSD-3-Clause */
/* When something is counted: delay, window and bursts, start and stop, the region. */
#include "config.h"
#include "mhsim/runtime/state.h"

#include <string.h>

/* Consequences of when and where something is to be counted. */
void runtime_set_quiet(void)
{
    bool simulating = (runtime.phase == COUNTING || runtime.phase == WARMING) && !runtime.stopped;
    struct runtime_thread *t = runtime.first_thread;
    mhsim_quiet(runtime.sim, !runtime_counts());
    if (!t || runtime.many)
        return;
    t->room = simulating ? runtime_room_left() : 0;
    t->until = simulating ? 0 : runtime.left - 1 > UINT64_MAX - t->counted ? UINT64_MAX : t->counted + runtime.left - 1;
}

void runtime_first_phase(const struct raw_orders *o)
{
    runtime.phase = o->delay ? NOT_YET : o->burst && o->warm_up ? WARMING : COUNTING;
    runtime.left = o->delay    ? o->delay
                   : o->burst  ? (o->warm_up ? o->warm_up : o->burst)
                   : o->window ? o->window
                               : UINT64_MAX;
}

void runtime_next_phase(void)
{
    const struct raw_orders *o = &runtime.head->orders;
    if (runtime.phase == COUNTING && !o->burst) {
        runtime.phase = OVER;
    } else if (runtime.phase == COUNTING) {
        runtime.phase = PAUSE;
    } else if (runtime.phase == NOT_YET || runtime.phase == PAUSE) {
        runtime.phase = o->burst && o->warm_up ? WARMING : COUNTING;
    } else if (runtime.phase == WARMING) {
        runtime.phase = COUNTING;
    }
    runtime.left = runtime.phase == OVER      ? UINT64_MAX
                   : runtime.phase == WARMING ? o->warm_up
                   : runtime.phase == PAUSE   ? o->period - o->burst - o->warm_up
                   : o->burst                 ? o->burst
                   : o->window                ? o->window
                                              : UINT64_MAX;
    if (runtime.left == 0)
        runtime_next_phase();
    runtime_set_quiet();
}

void runtime_measure(bool on)
{
    runtime_settle();
    runtime.stopped = !on;
    if (runtime.first_thread)
        runtime.first_thread->until = runtime.first_thread->room = 0; /* until the next access, which sees to it */
}

void runtime_region(const char *name, bool begins)
{
    if (!runtime_on || !*runtime.head->orders.region || strncmp(name, runtime.head->orders.region, RAW_REGION) != 0 ||
        (!runtime_me->ready && !runtime_thread_begins()) || !runtime_enter())
        return;
    bool locked = runtime.many;
    uint32_t time = runtime.head->orders.region_time;
    if (begins && runtime.in_region++ == 0)
        runtime.outside = ++runtime.region_times != time && time;
    else if (!begins && runtime.in_region > 0 && --runtime.in_region == 0)
        runtime.outside = true;
    runtime_set_quiet();
    runtime_leave(locked);
}
