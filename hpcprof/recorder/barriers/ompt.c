/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLVM's libomp (and Intel's): the tools interface of OpenMP 5 (OMPT) reports teams, barriers and waits. libomp looks
 * for ompt_start_tool when it begins, and finds ours because we are preloaded. The part of the interface that is used
 * is declared here.
 *
 *     parallel_begin -> team        implicit_task begin -> the thread works in it
 *     sync_region begin, end        around every barrier; the join's has no place in workers (libomp 14), and they leave it
 *                                   when the next team begins: so parallel_end leaves for all, as with libgomp
 */
#include "hpcprof/recorder/base/interpose.h"
#include "hpcprof/recorder/barriers/barriers.h"

typedef union {
    uint64_t value;
    void *ptr;
} ompt_data;
typedef int (*ompt_set_callback)(int event, void (*callback)(void));
typedef void (*ompt_interface)(void);
typedef ompt_interface (*ompt_lookup)(const char *name);
struct ompt_start_result {
    int (*initialize)(ompt_lookup, int device, ompt_data *);
    void (*finalize)(ompt_data *);
    ompt_data tool;
};
/* The numbers of OpenMP 5.1, 4.4. */
enum {
    PARALLEL_BEGIN = 3,
    PARALLEL_END = 4,
    IMPLICIT_TASK = 7,
    SYNC_REGION = 23,
    MUTEX_ACQUIRE = 26,
    MUTEX_ACQUIRED = 27
};
enum { SCOPE_BEGIN = 1, SCOPE_END = 2 };
enum {
    BARRIER = 1,
    BARRIER_IMPLICIT,
    BARRIER_EXPLICIT,
    BARRIER_IMPLEMENTATION,
    TASKWAIT,
    TASKGROUP,
    REDUCTION,
    BARRIER_WORKSHARE,
    BARRIER_PARALLEL,
    BARRIER_TEAMS
};
enum {
    MUTEX_LOCK = 1,
    MUTEX_TEST_LOCK,
    MUTEX_NEST_LOCK,
    MUTEX_TEST_NEST_LOCK,
    MUTEX_CRITICAL,
    MUTEX_ATOMIC,
    MUTEX_ORDERED
};
enum { TASK_IMPLICIT = 2, TASK_INITIAL = 1 };

/* A thread is in one barrier of its team at a time, but a task it runs meanwhile may wait for something itself. */
static _Thread_local struct {
    struct waiting waiting;
    uint32_t site; /* of its barrier */
    bool at_barrier;
} me __attribute__((tls_model("initial-exec")));

static void parallel_begin(ompt_data *task, const void *frame, ompt_data *parallel, unsigned wanted, int flags,
                           const void *from)
{
    struct phases_thread *t = phases_self();
    (void)task, (void)frame, (void)wanted, (void)flags;
    parallel->ptr = t ? phases_team_begin(t, phases_site(t, phases_pc(from), BARRIER_OMP_JOIN, NULL)) : NULL;
}

/* The master has reached the join, or did so without an event if it is alone. */
static void parallel_end(ompt_data *parallel, ompt_data *task, int flags, const void *from)
{
    struct phases_thread *t = phases_self();
    struct team *team = parallel ? parallel->ptr : NULL;
    (void)task, (void)flags, (void)from;
    if (!t || !team || t->depth == 0 || t->own[t->depth - 1] != team)
        return;
    phases_team_end(t, team);
}

static void implicit_task(int scope, ompt_data *parallel, ompt_data *task, unsigned size, unsigned index, int flags)
{
    struct phases_thread *t = phases_self();
    struct team *team = parallel ? parallel->ptr : NULL;
    (void)task, (void)size, (void)index;
    if (scope != SCOPE_BEGIN || !t || !team || flags & TASK_INITIAL)
        return;
    me.at_barrier = false;
    phases_team_enter(t, team);
}

static bool is_join(const struct phases_thread *t, int kind, const void *from)
{
    uint64_t join = hpcrec_phases.sites[t->team->join_site].pc;
    return kind == BARRIER_PARALLEL || (kind == BARRIER_IMPLICIT && (!from || phases_pc(from) == join));
}

static void arrive(struct phases_thread *t, int kind, const void *from)
{
    struct team *team = t->team;
    if (is_join(t, kind, from)) {
        phases_team_join(t, team);
        return;
    }
    enum site_kind what = kind == BARRIER_EXPLICIT || kind == BARRIER ? BARRIER_OMP : BARRIER_OMP_LOOP;
    me.site = phases_site(t, phases_pc(from), what, NULL);
    phases_team_arrive(t, me.site);
    me.at_barrier = true;
}

static void leave(struct phases_thread *t)
{
    if (me.at_barrier)
        phases_team_leave(t, me.site, false);
    me.at_barrier = false;
}

static void sync_region(int kind, int scope, ompt_data *parallel, ompt_data *task, const void *from)
{
    struct phases_thread *t = phases_self();
    (void)parallel, (void)task;
    if (!t || kind == REDUCTION || kind == BARRIER_IMPLEMENTATION)
        return;
    if (kind == TASKWAIT || kind == TASKGROUP) {
        if (scope == SCOPE_BEGIN)
            me.waiting = phases_wait_begin(phases_pc(from), WAIT_OMP_TASKS);
        else
            phases_wait_end(&me.waiting, 1000);
        if (scope != SCOPE_BEGIN)
            me.waiting.self = NULL;
        return;
    }
    if (scope == SCOPE_BEGIN && t->team)
        arrive(t, kind, from);
    else if (scope == SCOPE_END)
        leave(t);
}

static void mutex_acquire(int kind, unsigned hint, unsigned how, uint64_t id, const void *from)
{
    enum site_kind what = kind == MUTEX_CRITICAL  ? WAIT_OMP_CRITICAL
                          : kind == MUTEX_ORDERED ? WAIT_OMP_ORDERED
                                                  : WAIT_OMP_LOCK;
    (void)hint, (void)how, (void)id;
    if (kind != MUTEX_ATOMIC && phases_self())
        me.waiting = phases_wait_begin(phases_pc(from), what);
}

static void mutex_acquired(int kind, uint64_t id, const void *from)
{
    (void)kind, (void)id, (void)from;
    phases_wait_end(&me.waiting, 1000);
    me.waiting.self = NULL;
}

static int initialize(ompt_lookup lookup, int device, ompt_data *tool)
{
    ompt_set_callback set = (ompt_set_callback)lookup("ompt_set_callback");
    (void)device, (void)tool;
    if (!set)
        return 0;
    set(PARALLEL_BEGIN, (void (*)(void))parallel_begin);
    set(PARALLEL_END, (void (*)(void))parallel_end);
    set(IMPLICIT_TASK, (void (*)(void))implicit_task);
    set(SYNC_REGION, (void (*)(void))sync_region);
    set(MUTEX_ACQUIRE, (void (*)(void))mutex_acquire);
    set(MUTEX_ACQUIRED, (void (*)(void))mutex_acquired);
    phases_have_ompt = true;
    return 1;
}

static void finalize(ompt_data *tool)
{
    (void)tool;
}

EXPORT struct ompt_start_result *ompt_start_tool(unsigned version, const char *runtime);
EXPORT struct ompt_start_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_start_result result = {initialize, finalize, {0}};
    (void)version, (void)runtime;
    return hpcrec_phases.on ? &result : NULL;
}
