/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GCC's libgomp. It has no tools interface, but every barrier of user code is a call that the compiler makes:
 *
 *     GOMP_parallel(body, data, ...)   team, our body around the program's; at its end each thread arrives at the join, and
 *                                      GOMP_parallel returns when all have
 *     GOMP_barrier                     also the end of static `for`, of `single`
 *     GOMP_loop_end, GOMP_sections_end  with their cancel forms, which may return before the others have come: the team's
 *                                      episodes end with the team
 *
 * If LLVM's libomp replaces it (it has these names too) its tools interface is used, and these pass through.
 */
#include "hpcprof/recorder/base/interpose.h"
#include "hpcprof/recorder/barriers/barriers.h"

bool phases_have_ompt;

#define HERE           __builtin_return_address(0)
#define TYPED(type, p) ((type)(p))

/* The next one of this name. Most programs have one libgomp, found once. */
#define NEXT(type, name, args)                                                                                         \
    ({                                                                                                                 \
        static _Atomic(void *) found_;                                                                                 \
        void *f_ = atomic_load_explicit(&found_, memory_order_acquire);                                                \
        if (!f_ && (f_ = dlsym(RTLD_NEXT, #name)))                                                                     \
            atomic_store_explicit(&found_, f_, memory_order_release);                                                  \
        if (!f_)                                                                                                       \
            f_ = phases_real_symbol(#name, HERE);                                                                      \
        (type(*) args) f_;                                                                                             \
    })

static struct phases_thread *self(void)
{
    return phases_have_ompt ? NULL : phases_self();
}

/* ---- teams ----------------------------------------------------------------------------------------------------- */

static void run_body(struct team *team)
{
    struct phases_thread *t = self();
    if (!t) {
        team->body(team->data);
        return;
    }
    struct team *before = t->team;
    struct lane *lane = t->lane;
    bool leads = t->depth > 0 && t->own[t->depth - 1] == team;
    phases_team_enter(t, team);
    team->body(team->data);
    phases_team_join(t, team);
    if (leads)
        return;
    t->team = before;
    t->lane = lane;
}

/* The body's arguments as libgomp gets them: reductions look for theirs behind the first word. */
struct wrapped {
    void *first;
    struct team *team;
};

static void body(void *p)
{
    run_body(((const struct wrapped *)p)->team);
}

/* A call that is the last of an outlined body may be a jump: then the caller seems to be us. */
static uint64_t pc_of(const struct phases_thread *t, const void *return_address)
{
    uint64_t pc = phases_pc(return_address), ours = (uint64_t)(uintptr_t)run_body;
    return pc - ours < 1024 && t->team ? (uint64_t)(uintptr_t)t->team->body : pc;
}

static struct team *begin(struct phases_thread *t, void (*fn)(void *), void *data, const void *from)
{
    struct team *team = phases_team_begin(t, phases_site(t, pc_of(t, from), BARRIER_OMP_JOIN, NULL));
    if (team) {
        team->body = fn;
        team->data = data;
    }
    return team;
}

#define PARALLEL(type, name, more, pass, first_word)                                                                   \
    EXPORT type name(void (*fn)(void *), void *data, unsigned threads UNPACK more);                                    \
    EXPORT type name(void (*fn)(void *), void *data, unsigned threads UNPACK more)                                     \
    {                                                                                                                  \
        type (*next)(void (*)(void *), void *, unsigned UNPACK more) =                                                 \
            NEXT(type, name, (void (*)(void *), void *, unsigned UNPACK more));                                        \
        struct phases_thread *t = self();                                                                              \
        struct team *team = t ? begin(t, fn, data, HERE) : NULL;                                                       \
        if (!team)                                                                                                     \
            return next(fn, data, threads UNPACK pass);                                                                \
        struct wrapped w = {first_word, team};                                                                         \
        RESULT(type) next(body, &w, threads UNPACK pass);                                                              \
        phases_team_end(t, team);                                                                                      \
        GIVE(type);                                                                                                    \
    }
#define UNPACK(...)     , __VA_ARGS__
#define RESULT(type)    RESULT_##type
#define RESULT_void     (void)0;
#define RESULT_unsigned unsigned result_ =
#define GIVE(type)      GIVE_##type
#define GIVE_void       (void)0
#define GIVE_unsigned   return result_

#define LOOP_ARGS    (long start, long end, long by, long chunk, unsigned flags)
#define LOOP_PASS    (start, end, by, chunk, flags)
#define RUNTIME_ARGS (long start, long end, long by, unsigned flags)
#define RUNTIME_PASS (start, end, by, flags)

PARALLEL(void, GOMP_parallel, (unsigned flags), (flags), NULL)
PARALLEL(unsigned, GOMP_parallel_reductions, (unsigned flags), (flags), *(void **)data)
PARALLEL(void, GOMP_parallel_loop_static, LOOP_ARGS, LOOP_PASS, NULL)
PARALLEL(void, GOMP_parallel_loop_dynamic, LOOP_ARGS, LOOP_PASS, NULL)
PARALLEL(void, GOMP_parallel_loop_guided, LOOP_ARGS, LOOP_PASS, NULL)
PARALLEL(void, GOMP_parallel_loop_nonmonotonic_dynamic, LOOP_ARGS, LOOP_PASS, NULL)
PARALLEL(void, GOMP_parallel_loop_nonmonotonic_guided, LOOP_ARGS, LOOP_PASS, NULL)
PARALLEL(void, GOMP_parallel_loop_runtime, RUNTIME_ARGS, RUNTIME_PASS, NULL)
PARALLEL(void, GOMP_parallel_loop_nonmonotonic_runtime, RUNTIME_ARGS, RUNTIME_PASS, NULL)
PARALLEL(void, GOMP_parallel_loop_maybe_nonmonotonic_runtime, RUNTIME_ARGS, RUNTIME_PASS, NULL)
PARALLEL(void, GOMP_parallel_sections, (unsigned count, unsigned flags), (count, flags), NULL)

/* Before GCC 4.9: the program calls the body itself between start and end. */
EXPORT void GOMP_parallel_start(void (*fn)(void *), void *data, unsigned threads);
EXPORT void GOMP_parallel_start(void (*fn)(void *), void *data, unsigned threads)
{
    void (*next)(void (*)(void *), void *, unsigned) =
        NEXT(void, GOMP_parallel_start, (void (*)(void *), void *, unsigned));
    struct phases_thread *t = self();
    struct team *team = t ? begin(t, fn, data, HERE) : NULL;
    if (!team) {
        next(fn, data, threads);
        return;
    }
    team->wrapped[0] = NULL;
    team->wrapped[1] = team;
    phases_team_enter(t, team);
    next(body, team->wrapped, threads);
}

EXPORT void GOMP_parallel_end(void);
EXPORT void GOMP_parallel_end(void)
{
    void (*next)(void) = NEXT(void, GOMP_parallel_end, (void));
    struct phases_thread *t = self();
    struct team *team = t && t->team && t->depth && t->team == t->own[t->depth - 1] ? t->team : NULL;
    if (team)
        phases_team_join(t, team);
    next();
    if (team)
        phases_team_end(t, team);
}

/* ---- barriers --------------------------------------------------------------------------------------------------------- */

#define BARRIER(type, name, kind)                                                                                      \
    EXPORT type name(void);                                                                                            \
    EXPORT type name(void)                                                                                             \
    {                                                                                                                  \
        type (*next)(void) = NEXT(type, name, (void));                                                                 \
        struct phases_thread *t = self();                                                                              \
        if (!t || !t->team)                                                                                            \
            return next();                                                                                             \
        uint32_t site = phases_site(t, pc_of(t, HERE), kind, NULL);                                                    \
        phases_team_arrive(t, site);                                                                                   \
        RESULT(type) next();                                                                                           \
        phases_team_leave(t, site, CANCELLED(type));                                                                   \
        GIVE(type);                                                                                                    \
    }
#define RESULT__Bool    _Bool result_ =
#define GIVE__Bool      return result_
#define CANCELLED(type) CANCELLED_##type
#define CANCELLED_void  false
#define CANCELLED__Bool result_

BARRIER(void, GOMP_barrier, BARRIER_OMP)
BARRIER(_Bool, GOMP_barrier_cancel, BARRIER_OMP)
BARRIER(void, GOMP_loop_end, BARRIER_OMP_LOOP)
BARRIER(_Bool, GOMP_loop_end_cancel, BARRIER_OMP_LOOP)
BARRIER(void, GOMP_sections_end, BARRIER_OMP_SECTIONS)
BARRIER(_Bool, GOMP_sections_end_cancel, BARRIER_OMP_SECTIONS)

/* ---- waits ------------------------------------------------------------------------------------------------------------- */

enum { LEAST_NS = 1000 }; /* shorter: it did not wait */

#define WAIT(type, name, args, pass, kind)                                                                             \
    EXPORT type name args;                                                                                             \
    EXPORT type name args                                                                                              \
    {                                                                                                                  \
        type(*next) args = NEXT(type, name, args);                                                                     \
        struct phases_thread *t = self();                                                                              \
        struct waiting w = {NULL, 0, 0};                                                                               \
        if (t)                                                                                                         \
            w = phases_wait_begin(pc_of(t, HERE), kind);                                                               \
        RESULT(type) next pass;                                                                                        \
        phases_wait_end(&w, LEAST_NS);                                                                                 \
        GIVE(type);                                                                                                    \
    }
typedef void *pointer;
#define RESULT_pointer pointer result_ =
#define GIVE_pointer   return result_

WAIT(void, GOMP_critical_start, (void), (), WAIT_OMP_CRITICAL)
WAIT(void, GOMP_critical_name_start, (void **lock), (lock), WAIT_OMP_CRITICAL)
WAIT(void, GOMP_taskwait, (void), (), WAIT_OMP_TASKS)
WAIT(void, GOMP_taskgroup_end, (void), (), WAIT_OMP_TASKS)
WAIT(void, GOMP_ordered_start, (void), (), WAIT_OMP_ORDERED)
WAIT(pointer, GOMP_single_copy_start, (void), (), WAIT_OMP_SINGLE)
WAIT(void, omp_set_lock, (void *lock), (lock), WAIT_OMP_LOCK)
WAIT(void, omp_set_nest_lock, (void *lock), (lock), WAIT_OMP_LOCK)
