/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread of the simulator's own: see worker.h. */
#include "config.h"
#include "mhsim/engine/worker.h"
#include "mhsim/engine/mmap_store.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BATCHES = 32, BATCH = 512, STACK = 256 << 10 };

/* `given` is the caller's to change, `done` the thread's; each in a line of memory of its own. */
struct worker {
    struct mhsim *s;
    unsigned chain;
    worker_work *work;
    void (*begins)(void);
    pthread_t thread;
    pid_t pid;
    struct {
        uint32_t given;
        uint32_t wanted; /* done, until which the caller sleeps */
        uint32_t sleeps; /* it does */
        bool over;
    } caller __attribute__((aligned(64)));
    struct {
        uint32_t done;
        uint32_t sleeps;
    } thread_side __attribute__((aligned(64)));
    uint32_t sizes[BATCHES] __attribute__((aligned(64)));
    struct mhsim_reference batches[BATCHES][BATCH];
};

/* ---- sleeping ------------------------------------------------------------------------------- */

/* While the word is 1, and sometimes less long. */
static void doze(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

static void wake(uint32_t *word)
{
    if (__atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static uint32_t given(const struct worker *a)
{
    return __atomic_load_n(&a->caller.given, __ATOMIC_SEQ_CST);
}

static uint32_t done(const struct worker *a)
{
    return __atomic_load_n(&a->thread_side.done, __ATOMIC_SEQ_CST);
}

/* Numbers of batches come round. */
static bool reached(uint32_t number, uint32_t wanted)
{
    return (int32_t)(number - wanted) >= 0;
}

/* ---- the thread ----------------------------------------------------------------------------- */

static bool is_over(const struct worker *a)
{
    return __atomic_load_n(&a->caller.over, __ATOMIC_SEQ_CST);
}

static bool has_work(const struct worker *a)
{
    return given(a) != a->thread_side.done;
}

/* The word is set before the last check: a batch added after that check sees the word. */
static void wait_for_work(struct worker *a)
{
    while (!has_work(a) && !is_over(a)) {
        __atomic_store_n(&a->thread_side.sleeps, 1, __ATOMIC_SEQ_CST);
        if (!has_work(a) && !is_over(a))
            doze(&a->thread_side.sleeps);
        __atomic_store_n(&a->thread_side.sleeps, 0, __ATOMIC_SEQ_CST);
    }
}

static void *run(void *data)
{
    struct worker *a = data;
    prctl(PR_SET_NAME, "hpcview");
    if (a->begins)
        a->begins();
    for (wait_for_work(a); has_work(a); wait_for_work(a)) {
        uint32_t i = a->thread_side.done % BATCHES;
        a->work(a->s, a->chain, a->batches[i], a->sizes[i]);
        uint32_t now = a->thread_side.done + 1;
        __atomic_store_n(&a->thread_side.done, now, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&a->caller.sleeps, __ATOMIC_SEQ_CST) &&
            reached(now, __atomic_load_n(&a->caller.wanted, __ATOMIC_SEQ_CST)))
            wake(&a->caller.sleeps);
    }
    return NULL;
}

/* ---- the caller ----------------------------------------------------------------------------- */

static void wait_until(struct worker *a, uint32_t wanted)
{
    while (!reached(done(a), wanted)) {
        wake(&a->thread_side.sleeps);
        __atomic_store_n(&a->caller.wanted, wanted, __ATOMIC_SEQ_CST);
        __atomic_store_n(&a->caller.sleeps, 1, __ATOMIC_SEQ_CST);
        if (!reached(done(a), wanted))
            doze(&a->caller.sleeps);
        __atomic_store_n(&a->caller.sleeps, 0, __ATOMIC_SEQ_CST);
    }
}

static void give_batch(struct worker *a, const struct mhsim_reference *refs, size_t n)
{
    uint32_t number = a->caller.given;
    if (number - done(a) == BATCHES)
        wait_until(a, number - BATCHES / 2);
    memcpy(a->batches[number % BATCHES], refs, n * sizeof *refs);
    a->sizes[number % BATCHES] = (uint32_t)n;
    __atomic_store_n(&a->caller.given, number + 1, __ATOMIC_SEQ_CST);
    if (number + 1 - done(a) >= BATCHES / 2)
        wake(&a->thread_side.sleeps);
}

void worker_give(struct worker *a, const struct mhsim_reference *refs, size_t n)
{
    for (size_t i = 0; i < n; i += BATCH)
        give_batch(a, refs + i, n - i < BATCH ? n - i : BATCH);
}

void worker_wait(struct worker *a)
{
    if (a)
        wait_until(a, a->caller.given);
}

/* ---- life ----------------------------------------------------------------------------------- */

/* The program's signals are not for it. */
static bool start(struct worker *a)
{
    sigset_t all, before;
    pthread_attr_t attr;
    sigfillset(&all);
    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setstacksize(&attr, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&a->thread, &attr, run, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return good;
}

struct worker *worker_begin(struct mhsim *s, unsigned chain, worker_work *work, void (*begins)(void))
{
    struct worker *a = pages_get(sizeof *a);
    if (!a)
        return NULL;
    a->s = s;
    a->chain = chain;
    a->work = work;
    a->begins = begins;
    a->pid = getpid();
    if (start(a))
        return a;
    pages_put(a, sizeof *a);
    return NULL;
}

void worker_end(struct worker *a)
{
    if (!a)
        return;
    if (a->pid == getpid()) {
        __atomic_store_n(&a->caller.over, true, __ATOMIC_SEQ_CST);
        wake(&a->thread_side.sleeps);
        pthread_join(a->thread, NULL);
    }
    pages_put(a, sizeof *a);
}
