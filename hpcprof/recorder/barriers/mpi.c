/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI: one library for Open MPI, whose handles are pointers, and MPICH, whose handles are ints: here they are words
 * that are passed on. Collectives that no rank leaves before all have arrived are barriers of many processes: a rank
 * knows only its own passage, and the passages of all ranks are joined when measurements are read (phases/finish.c), by
 * the communicator's members and number of collectives so far. Other calls, and messages, are waits.
 *
 * Fortran's names too: Open MPI's Fortran calls PMPI directly, MPICH's calls MPI, and only the outermost counts.
 */
#include "hpcprof/recorder/base/interpose.h"
#include "hpcprof/recorder/barriers/barriers.h"

#define HERE __builtin_return_address(0)
typedef uintptr_t word; /* a handle, a pointer, a number: as the caller has it */

static void *find(_Atomic(void *) *found, const char *name, const void *caller)
{
    void *f = atomic_load_explicit(found, memory_order_acquire);
    if (!f && (f = dlsym(RTLD_NEXT, name)))
        atomic_store_explicit(found, f, memory_order_release);
    return f ? f : phases_real_symbol(name, caller);
}

#define NEXT(name)                                                                                                     \
    ({                                                                                                                 \
        static _Atomic(void *) found_;                                                                                 \
        find(&found_, name, HERE);                                                                                     \
    })

/* ---- communicators ------------------------------------------------------------------------------------------------ */

enum { GROUPS = 256, RANKS_MAX = 1 << 16 };

struct group { /* all communicators of the same members: their collectives are counted together, in all of them alike */
    uint64_t members;
    uint32_t ranks;
    _Atomic uint64_t collectives;
};
static struct group groups[GROUPS];
static struct {
    word handle;
    struct group *group;
} known[GROUPS];
static unsigned group_count, known_count, known_next;

/* A program may have its own copy of that variable, which counts: the first one in the order of search. */
static void *open_mpi_world(const void *caller)
{
    void *first = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    return first ? first : phases_real_symbol("ompi_mpi_comm_world", caller);
}

static bool is_open_mpi(const void *caller)
{
    static int answer;
    if (answer == 0)
        answer = open_mpi_world(caller) ? 1 : -1;
    return answer > 0;
}

static word handle_of(word comm, const void *caller)
{
    return is_open_mpi(caller) ? comm : (uint32_t)comm;
}

/* Ranks in MPI_COMM_WORLD, by a number that is the same in all of them. */
static uint64_t hash_members(word comm, int size, const void *caller)
{
    word world = is_open_mpi(caller) ? (word)open_mpi_world(caller) : 0x44000000, mine[2] = {0}, all[2] = {0};
    int (*group_of)(word, word *) = (int (*)(word, word *))phases_real_symbol("PMPI_Comm_group", caller);
    int (*translate)(word, int, const int *, word, int *) =
        (int (*)(word, int, const int *, word, int *))phases_real_symbol("PMPI_Group_translate_ranks", caller);
    int (*drop)(word *) = (int (*)(word *))phases_real_symbol("PMPI_Group_free", caller);
    uint64_t h = (uint64_t)size;
    if (!group_of || !translate || !drop || size > RANKS_MAX || group_of(comm, mine) != 0)
        return h;
    if (group_of(world, all) == 0) {
        for (int i = 0; i < size; i++) {
            int there = -1;
            translate(mine[0], 1, &i, all[0], &there);
            h = (h ^ (uint32_t)there) * 0x9fb21c651e98df25u;
            h ^= h >> 29;
        }
        drop(all);
    }
    drop(mine);
    return h & 0xffffffffffffu;
}

/* One of the known ones, or a new one; NULL: too many. Locked. */
static struct group *group_with(uint64_t members, uint32_t ranks)
{
    for (unsigned i = 0; i < group_count; i++)
        if (groups[i].members == members && groups[i].ranks == ranks)
            return &groups[i];
    if (group_count == GROUPS)
        return NULL;
    groups[group_count].members = members;
    groups[group_count].ranks = ranks;
    return &groups[group_count++];
}

static bool is_known(word handle, struct group **found)
{
    for (unsigned i = 0; i < known_count; i++)
        if (known[i].handle == handle) {
            *found = known[i].group;
            return true;
        }
    return false;
}

static void remember(word handle, struct group *g)
{
    unsigned at = known_count < GROUPS ? known_count++ : known_next++ % GROUPS;
    known[at].handle = handle;
    known[at].group = g;
}

/* MPI is asked without the lock; another thread may have asked as well meanwhile. */
static struct group *group_of(word comm, const void *caller)
{
    word handle = handle_of(comm, caller);
    struct group *g = NULL;
    phases_lock();
    bool found = is_known(handle, &g);
    phases_unlock();
    if (found)
        return g;
    int (*size_of)(word, int *) = (int (*)(word, int *))phases_real_symbol("PMPI_Comm_size", caller);
    int size = 0;
    bool good = size_of && size_of(comm, &size) == 0 && size > 0;
    uint64_t members = good ? hash_members(comm, size, caller) : 0;
    phases_lock();
    if (!is_known(handle, &g)) {
        g = good ? group_with(members, (uint32_t)size) : NULL;
        remember(handle, g);
    }
    phases_unlock();
    return g;
}

static void forget_handle(word comm, const void *caller)
{
    word handle = handle_of(comm, caller);
    phases_lock();
    for (unsigned i = 0; i < known_count; i++)
        if (known[i].handle == handle)
            known[i] = known[--known_count];
    phases_unlock();
}

/* ---- passages -------------------------------------------------------------------------------------------------------- */

/* The same numbers are kept in all ranks: every one, or every second, fourth, ... when there are too many. */
static void keep_passage(const struct passage *p)
{
    static uint64_t stride = 1;
    struct area *all = &hpcrec_phases.passages;
    if (p->number % stride)
        return;
    if (all->count == PASSAGES_MAX) {
        struct passage *v = all->items;
        size_t n = 0;
        stride *= 2;
        for (size_t i = 0; i < all->count; i++)
            if (v[i].number % stride == 0)
                v[n++] = v[i];
        all->count = n;
    }
    if (p->number % stride == 0 && hpcrec_area_room(all, PASSAGES_MAX, sizeof *p))
        ((struct passage *)all->items)[all->count++] = *p;
}

struct collective {
    struct phases_thread *self;
    struct group *group;
    struct passage passage;
};

static struct collective come(word comm, uint64_t pc, enum site_kind kind, const void *caller)
{
    struct collective c = {.self = phases_self()};
    if (!c.self || c.self->inside_mpi++ > 0)
        return c;
    c.group = group_of(comm, caller);
    c.passage = (struct passage){.site = phases_site(c.self, pc, kind, NULL),
                                 .row = hpcrec_self->row,
                                 .begun = c.self->begun,
                                 .from = c.self->phase};
    c.passage.arrived = phases_now();
    atomic_store_explicit(&c.self->waits_at, c.passage.site, memory_order_relaxed);
    atomic_store_explicit(&c.self->waits_since, c.passage.arrived, memory_order_release);
    return c;
}

static void go(struct collective *c)
{
    if (!c->self || --c->self->inside_mpi > 0)
        return;
    c->passage.left = phases_now();
    atomic_store_explicit(&c->self->waits_since, 0, memory_order_relaxed);
    atomic_fetch_add(&c->self->passed, 1);
    phases_enter(c->self, c->passage.site, c->passage.left);
    if (!c->group || !hpcrec.measuring)
        return;
    struct site *s = &hpcrec_phases.sites[c->passage.site];
    c->passage.group = c->group->members;
    c->passage.ranks = c->group->ranks;
    phases_lock();
    c->passage.number = atomic_fetch_add(&c->group->collectives, 1);
    s->sums.passages++;
    if (s->threads < c->passage.ranks)
        s->threads = c->passage.ranks;
    keep_passage(&c->passage);
    phases_notify(&(struct notice){.number = c->passage.number + 1,
                                   .begin = c->passage.begun,
                                   .first = c->passage.arrived,
                                   .last = c->passage.left,
                                   .site = c->passage.site,
                                   .threads = c->passage.ranks,
                                   .last_row = c->passage.row,
                                   .passage = true});
    phases_unlock();
}

/* Of the n arguments, ARGS(n) are words a1...an. */
#define ARGS_1  word a1
#define ARGS_2  ARGS_1, word a2
#define ARGS_3  ARGS_2, word a3
#define ARGS_4  ARGS_3, word a4
#define ARGS_5  ARGS_4, word a5
#define ARGS_6  ARGS_5, word a6
#define ARGS_7  ARGS_6, word a7
#define ARGS_8  ARGS_7, word a8
#define ARGS_9  ARGS_8, word a9
#define ARGS_12 ARGS_9, word a10, word a11, word a12
#define PASS_1  a1
#define PASS_2  PASS_1, a2
#define PASS_3  PASS_2, a3
#define PASS_4  PASS_3, a4
#define PASS_5  PASS_4, a5
#define PASS_6  PASS_5, a6
#define PASS_7  PASS_6, a7
#define PASS_8  PASS_7, a8
#define PASS_9  PASS_8, a9
#define PASS_12 PASS_9, a10, a11, a12
/* Fortran passes addresses, and has one argument more, for the error; f08's may leave that out and pass NULL. */
#define FORTRAN_ARGS(n) ARGS_##n, word error
#define FORTRAN_PASS(n) PASS_##n, error

static word c_handle(word fortran_handle, const void *caller)
{
    int f = *(const int *)fortran_handle;
    word (*convert)(int) = is_open_mpi(caller) ? (word(*)(int))phases_real_symbol("PMPI_Comm_f2c", caller) : NULL;
    return convert ? convert(f) : (word)(uint32_t)f;
}

#define COLLECTIVE_FORTRAN(symbol, n, comm, kind)                                                                      \
    EXPORT void symbol(FORTRAN_ARGS(n));                                                                               \
    EXPORT void symbol(FORTRAN_ARGS(n))                                                                                \
    {                                                                                                                  \
        void (*next)(FORTRAN_ARGS(n)) = (void (*)(FORTRAN_ARGS(n)))NEXT(#symbol);                                      \
        struct collective c = come(c_handle(comm, HERE), phases_pc(HERE), kind, HERE);                                 \
        next(FORTRAN_PASS(n));                                                                                         \
        go(&c);                                                                                                        \
    }
#define COLLECTIVE(c_name, fortran_name, n, comm, kind)                                                                \
    EXPORT int c_name(ARGS_##n);                                                                                       \
    EXPORT int c_name(ARGS_##n)                                                                                        \
    {                                                                                                                  \
        int (*next)(ARGS_##n) = (int (*)(ARGS_##n))NEXT("P" #c_name);                                                  \
        struct collective c = come(comm, phases_pc(HERE), kind, HERE);                                                 \
        int status = next(PASS_##n);                                                                                   \
        go(&c);                                                                                                        \
        return status;                                                                                                 \
    }                                                                                                                  \
    COLLECTIVE_FORTRAN(fortran_name##_, n, comm, kind)                                                                 \
    COLLECTIVE_FORTRAN(fortran_name##_f08_, n, comm, kind)                                                             \
    COLLECTIVE_FORTRAN(fortran_name##_f08ts_, n, comm, kind)

COLLECTIVE(MPI_Barrier, mpi_barrier, 1, a1, BARRIER_MPI)
COLLECTIVE(MPI_Allreduce, mpi_allreduce, 6, a6, BARRIER_ALLREDUCE)
COLLECTIVE(MPI_Allgather, mpi_allgather, 7, a7, BARRIER_ALLGATHER)
COLLECTIVE(MPI_Allgatherv, mpi_allgatherv, 8, a8, BARRIER_ALLGATHER)
COLLECTIVE(MPI_Alltoall, mpi_alltoall, 7, a7, BARRIER_ALLTOALL)
COLLECTIVE(MPI_Alltoallv, mpi_alltoallv, 9, a9, BARRIER_ALLTOALL)
COLLECTIVE(MPI_Alltoallw, mpi_alltoallw, 9, a9, BARRIER_ALLTOALL)
COLLECTIVE(MPI_Reduce_scatter, mpi_reduce_scatter, 6, a6, BARRIER_REDUCE_SCATTER)
COLLECTIVE(MPI_Reduce_scatter_block, mpi_reduce_scatter_block, 6, a6, BARRIER_REDUCE_SCATTER)

/* ---- waits --------------------------------------------------------------------------------------------------------------- */

enum { LEAST_NS = 1000 };

static struct waiting wait_for(uint64_t pc, enum site_kind kind)
{
    struct phases_thread *t = phases_self();
    struct waiting none = {NULL, 0, 0};
    return t && t->inside_mpi == 0 ? phases_wait_begin(pc, kind) : none;
}

#define WAIT_FORTRAN(symbol, n, kind)                                                                                  \
    EXPORT void symbol(FORTRAN_ARGS(n));                                                                               \
    EXPORT void symbol(FORTRAN_ARGS(n))                                                                                \
    {                                                                                                                  \
        void (*next)(FORTRAN_ARGS(n)) = (void (*)(FORTRAN_ARGS(n)))NEXT(#symbol);                                      \
        struct waiting w = wait_for(phases_pc(HERE), kind);                                                            \
        next(FORTRAN_PASS(n));                                                                                         \
        phases_wait_end(&w, LEAST_NS);                                                                                 \
    }
#define WAIT(c_name, fortran_name, n, kind)                                                                            \
    EXPORT int c_name(ARGS_##n);                                                                                       \
    EXPORT int c_name(ARGS_##n)                                                                                        \
    {                                                                                                                  \
        int (*next)(ARGS_##n) = (int (*)(ARGS_##n))NEXT("P" #c_name);                                                  \
        struct waiting w = wait_for(phases_pc(HERE), kind);                                                            \
        int status = next(PASS_##n);                                                                                   \
        phases_wait_end(&w, LEAST_NS);                                                                                 \
        return status;                                                                                                 \
    }                                                                                                                  \
    WAIT_FORTRAN(fortran_name##_, n, kind)                                                                             \
    WAIT_FORTRAN(fortran_name##_f08_, n, kind)                                                                         \
    WAIT_FORTRAN(fortran_name##_f08ts_, n, kind)

WAIT(MPI_Bcast, mpi_bcast, 5, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Reduce, mpi_reduce, 7, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Gather, mpi_gather, 8, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Gatherv, mpi_gatherv, 9, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Scatter, mpi_scatter, 8, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Scatterv, mpi_scatterv, 9, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Scan, mpi_scan, 6, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Exscan, mpi_exscan, 6, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Neighbor_allgather, mpi_neighbor_allgather, 7, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Neighbor_allgatherv, mpi_neighbor_allgatherv, 8, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Neighbor_alltoall, mpi_neighbor_alltoall, 7, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Neighbor_alltoallv, mpi_neighbor_alltoallv, 9, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Win_fence, mpi_win_fence, 2, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Comm_dup, mpi_comm_dup, 2, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Comm_split, mpi_comm_split, 4, WAIT_MPI_COLLECTIVE)
WAIT(MPI_Recv, mpi_recv, 7, WAIT_MPI_MESSAGE)
WAIT(MPI_Send, mpi_send, 6, WAIT_MPI_MESSAGE)
WAIT(MPI_Ssend, mpi_ssend, 6, WAIT_MPI_MESSAGE)
WAIT(MPI_Sendrecv, mpi_sendrecv, 12, WAIT_MPI_MESSAGE)
WAIT(MPI_Sendrecv_replace, mpi_sendrecv_replace, 9, WAIT_MPI_MESSAGE)
WAIT(MPI_Wait, mpi_wait, 2, WAIT_MPI_MESSAGE)
WAIT(MPI_Waitall, mpi_waitall, 3, WAIT_MPI_MESSAGE)
WAIT(MPI_Waitany, mpi_waitany, 4, WAIT_MPI_MESSAGE)
WAIT(MPI_Waitsome, mpi_waitsome, 5, WAIT_MPI_MESSAGE)
WAIT(MPI_Probe, mpi_probe, 4, WAIT_MPI_MESSAGE)

/* A handle that is given back may be another communicator's soon. */
EXPORT int MPI_Comm_free(word *comm);
EXPORT int MPI_Comm_free(word *comm)
{
    int (*next)(word *) = (int (*)(word *))NEXT("PMPI_Comm_free");
    if (phases_self())
        forget_handle(is_open_mpi(HERE) ? *comm : *(uint32_t *)comm, HERE);
    return next(comm);
}
