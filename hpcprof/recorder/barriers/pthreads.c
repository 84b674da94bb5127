/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of the C library: barriers, and waits of similar cost. Calls that do not block are not timed. */
#include "hpcprof/recorder/base/interpose.h"
#include "hpcprof/recorder/barriers/barriers.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#define CALLER phases_pc(__builtin_return_address(0))

/* ---- barriers --------------------------------------------------------------------------------------------------- */

/* glibc has had it in the third word since 2.25: how many threads the barrier waits for. */
static uint32_t threads_of(const pthread_barrier_t *b)
{
#ifdef __GLIBC__
    uint32_t words[3];
    memcpy(words, b, sizeof words);
    return words[2] && words[2] <= 1u << 20 ? words[2] : 0;
#else
    return 0;
#endif
}

WRAP(int, pthread_barrier_init,
     (pthread_barrier_t *restrict b, const pthread_barrierattr_t *restrict attr, unsigned count))
{
    int status = REAL(pthread_barrier_init)(b, attr, count);
    if (status == 0 && phases_self())
        phases_object_at(b, count, true);
    return status;
}

WRAP(int, pthread_barrier_wait, (pthread_barrier_t * b))
{
    struct phases_thread *t = phases_self();
    struct object *o = t ? phases_object_at(b, threads_of(b), false) : NULL;
    if (!o)
        return REAL(pthread_barrier_wait)(b);
    struct passing p = phases_arrive(t, o, phases_site(t, CALLER, BARRIER_PTHREAD, NULL));
    int status = REAL(pthread_barrier_wait)(b);
    phases_leave(t, &p);
    return status;
}

/* ---- waits ------------------------------------------------------------------------------------------------------ */

/* Of several versions, the one that programs get today (dlsym may give the oldest). */
static void *newest(const char *name)
{
#ifdef __x86_64__
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (found)
        return found;
#endif
    return dlsym(RTLD_NEXT, name);
}

/* Locks: first a try without waiting. Any result except "busy" is what the waiting call would return. */
#define LOCK(name, try_name, type, kind)                                                                               \
    WRAP(int, try_name, (type * lock))                                                                                 \
    {                                                                                                                  \
        return REAL(try_name)(lock);                                                                                   \
    }                                                                                                                  \
    WRAP(int, name, (type * lock))                                                                                     \
    {                                                                                                                  \
        if (!phases_self())                                                                                            \
            return REAL(name)(lock);                                                                                   \
        int status = REAL(try_name)(lock);                                                                             \
        if (status != EBUSY)                                                                                           \
            return status;                                                                                             \
        struct waiting w = phases_wait_begin(CALLER, kind);                                                            \
        status = REAL(name)(lock);                                                                                     \
        phases_wait_end(&w, 0);                                                                                        \
        return status;                                                                                                 \
    }

LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t, WAIT_MUTEX)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, WAIT_RWLOCK)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, WAIT_RWLOCK)

static int (*real_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*real_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    if (!real_cond_wait)
        real_cond_wait = (int (*)(pthread_cond_t *, pthread_mutex_t *))newest("pthread_cond_wait");
    struct waiting w = phases_wait_begin(CALLER, WAIT_CONDITION);
    int status = real_cond_wait(c, m);
    phases_wait_end(&w, 0);
    return status;
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    if (!real_cond_timedwait)
        real_cond_timedwait =
            (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))newest("pthread_cond_timedwait");
    struct waiting w = phases_wait_begin(CALLER, WAIT_CONDITION);
    int status = real_cond_timedwait(c, m, until);
    phases_wait_end(&w, 0);
    return status;
}

WRAP(int, pthread_join, (pthread_t id, void **result))
{
    struct waiting w = phases_wait_begin(CALLER, WAIT_JOIN);
    int status = REAL(pthread_join)(id, result);
    phases_wait_end(&w, 0);
    return status;
}

WRAP(int, sem_trywait, (sem_t * s))
{
    return REAL(sem_trywait)(s);
}

WRAP(int, sem_wait, (sem_t * s))
{
    int saved_errno = errno;
    if (!phases_self())
        return REAL(sem_wait)(s);
    if (REAL(sem_trywait)(s) == 0)
        return 0;
    errno = saved_errno;
    struct waiting w = phases_wait_begin(CALLER, WAIT_SEMAPHORE);
    int status = REAL(sem_wait)(s);
    phases_wait_end(&w, 0);
    return status;
}

/* A thread that is cancelled, or exits, while it waits: its row says so no more. */
void hpcrec_phases_thread_end(struct thread *t)
{
    if (t->phases)
        atomic_store(&t->phases->waits_since, 0);
}

/* ---- the program's own barriers (hpcview.h) ------------------------------------------------------------------------- */

/* A named barrier is one wherever it stands; an anonymous one is the place it stands at. */
static uint64_t object_of(const char *name, uint64_t pc)
{
    uint64_t h = 0xcbf29ce484222325u;
    if (!name || !*name)
        return pc;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3u;
    return h | 1ull << 63;
}

static void user_arrive(const char *name, int loop)
{
    struct phases_thread *t = phases_self();
    uint64_t pc = CALLER;
    struct object *o = t ? phases_object_at((const void *)(uintptr_t)object_of(name, pc), 0, false) : NULL;
    if (!o || t->user_count == sizeof t->user / sizeof *t->user)
        return;
    t->user[t->user_count++] = phases_arrive(t, o, phases_site(t, pc, loop ? BARRIER_USER_LOOP : BARRIER_USER, name));
}

static bool is_named(const struct passing *p, const char *name)
{
    return !name || strncmp(hpcrec_phases.sites[p->site].name, name, NAME_BYTES - 1) == 0;
}

/* The innermost one of that name; those inside it are forgotten. */
static void user_leave(const char *name)
{
    struct phases_thread *t = phases_self();
    unsigned n = t ? t->user_count : 0;
    while (n > 0 && !is_named(&t->user[n - 1], name))
        n--;
    if (n == 0)
        return;
    t->user_count = n - 1;
    phases_leave(t, &t->user[n - 1]);
}

struct hpcview_barrier_calls {
    void (*arrive)(const char *name, int loop);
    void (*leave)(const char *name);
};
EXPORT extern const struct hpcview_barrier_calls hpcview_barrier_calls_1;
const struct hpcview_barrier_calls hpcview_barrier_calls_1 = {user_arrive, user_leave};
