/* SPDX-License-Identifier: BSD-3-Clause */
/* One at a time, and the threads.
 *
 * With one thread the lock would be most of an access's cost, so it is only taken from the second on. The second, at
 * its first access, says so and then waits until the first is seen outside: a barrier on all cores (membarrier) makes
 * the first's plain store to `busy` come before its look at `many`. */
#include "config.h"
#include "mhsim/runtime/state.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static int lock_word;
static bool no_membarrier;

/* Without the barrier each access is locked from the start. */
void runtime_lock_init(void)
{
    no_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
    runtime.many = no_membarrier;
}

void runtime_lock_forked(void)
{
    lock_word = 0;
    runtime.many = no_membarrier;
    runtime.first_thread = NULL;
}

static void take_lock(void)
{
    for (unsigned spins = 0; __atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE); spins++)
        if (spins > 100)
            sched_yield();
}

static void drop_lock(void)
{
    __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
}

/* A signal handler that was at it between the thread's look and its store may have been forgotten: never more than there are. */
static void see_numbered(struct runtime_thread *t)
{
    uint64_t numbered = t->numbered, n = numbered > t->counted ? numbered - t->counted : 0;
    n = n < runtime.left ? n : runtime.left - 1;
    runtime.head->seen += n;
    runtime.left -= n;
    t->counted = numbered;
}

/* Waiting accesses are simulated before anything else. Of the first thread; it is busy, or stopped. */
static void simulate_waiting(void)
{
    struct runtime_thread *t = runtime.first_thread;
    if (t)
        see_numbered(t);
    uint32_t n = t ? t->waiting : 0, wanted = 0;
    if (n == 0)
        return;
    runtime.head->seen += n;
    runtime.left -= n;
    for (uint32_t i = 0; i < n && runtime.head->orders.range_count; i++)
        if (t->batch[i].row != NOT_WANTED)
            t->batch[wanted++] = t->batch[i];
    wanted = runtime.head->orders.range_count ? wanted : n;
    runtime.head->simulated += runtime_counts() ? wanted : 0;
    mhsim_accesses(runtime.sim, t->batch, wanted);
    t->waiting = 0;
    if (t->room)
        t->room = runtime_room_left();
}

bool runtime_enter(void)
{
    if (runtime_me->busy)
        return false;
    runtime_me->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (runtime.many)
        take_lock();
    simulate_waiting();
    return true;
}

void runtime_leave(bool locked)
{
    if (locked)
        drop_lock();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    runtime_me->busy = false;
}

static void wait_for_first(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    while (runtime.first_thread->busy)
        sched_yield();
}

/* There is a first one. `room` follows from `many`: the first thread may just be computing it from the old value of
   `many`. */
static void become_many(void)
{
    runtime.many = true;
    if (no_membarrier)
        return;
    wait_for_first();
    runtime.first_thread->until = runtime.first_thread->room = 0;
    wait_for_first();
}

void runtime_settle(void)
{
    if (!runtime.head || !runtime.first_thread)
        return;
    if (runtime.first_thread == runtime_me) {
        if (!runtime_enter())
            return;
        mhsim_wait(runtime.sim);
        runtime_leave(runtime.many);
        return;
    }
    if ((runtime.first_thread->waiting == 0 && runtime.first_thread->until == 0) || !runtime_out())
        return;
    become_many();
    take_lock();
    simulate_waiting();
    mhsim_wait(runtime.sim);
    drop_lock();
}

static void find_stack(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    if (pthread_attr_getstack(&attr, &low, &size) == 0) {
        runtime_me->stack_lo = (uint64_t)(uintptr_t)low;
        runtime_me->stack_hi = runtime_me->stack_lo + size;
    }
    pthread_attr_destroy(&attr);
}

/* The thread's first access: before the lock, because finding the stack may ask for memory. */
bool runtime_thread_begins(void)
{
    struct runtime_thread *me = runtime_me == &runtime_nobody ? pages_get(sizeof *me) : runtime_me;
    if (!me || me->busy)
        return false;
    runtime_me = me;
    me->busy = true;
    if (runtime.head->way == RAW_HOOKS)
        find_stack();
    if (runtime.first_thread)
        become_many();
    take_lock();
    simulate_waiting();
    if (!runtime.first_thread)
        runtime.first_thread = me;
    me->core = mhsim_core(runtime.sim);
    struct raw_thread *t = mmap_store_add(&runtime.threads, 1);
    if (t)
        *t = (struct raw_thread){(uint64_t)syscall(SYS_gettid), me->core};
    me->ready = me->core != UINT32_MAX;
    drop_lock();
    me->busy = false;
    return me->ready;
}
