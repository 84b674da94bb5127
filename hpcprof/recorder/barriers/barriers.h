/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers and waits, inside the measured program: a part of the recorder, in a library of its own
 * (libhpcview-record-phases.so) so that programs recorded without --phases have no such wrappers.
 *
 *   program's threads                                         helper thread
 *   arrive: slot of the object's episode, time                drained 20 times a second: warnings, watched episodes
 *   leave:  the last one out folds the episode into           appended twice a second: what is new in the sums,
 *           sums by site, and keeps it if it is worth it      kept episodes, where each thread is (write.c)
 *
 * Teams of OpenMP have a way of their own, which is cheaper (teams.c).
 *
 * An object is something that threads meet at: a pthread barrier, a barrier of the program's own. Its two buffers hold
 * the episode that threads leave and the one they arrive at: no thread arrives at the next but one before all have
 * left. (This does not hold if more threads arrive than a barrier waits for: there are more buffers then, and an
 * episode that is complete is folded before its buffer is needed again, even if threads have not left.) Arriving and
 * leaving take no lock; folding takes a spin lock of our own (never hpcrec_lock, which the helper holds for long). If
 * the number of threads is unknown, the first departure shows that all have arrived.
 */
#ifndef HPCPROF_RECORDER_BARRIERS_BARRIERS_H
#define HPCPROF_RECORDER_BARRIERS_BARRIERS_H

#include "hpcprof/recorder/base/state.h"

enum {
    SITES_MAX = 4096, /* places with barriers or waits; the last one takes all others */
    CELLS_MAX = 1 << 16,
    TEAM_THREADS = 1024,    /* slots of a team's episode; further threads are counted, not listed */
    BARRIER_THREADS = 4096, /* the same of a pthread barrier */
    BUFFERS = 8,            /* episodes of a barrier for few threads that may be on their way at once */
    BUFFERS_THREADS = 16,   /* so few; else two */
    TEAM_DEPTH = 16,        /* nested parallel regions */
    KEPT_WORST = 8,         /* episodes of a site, by barrier time */
    KEPT_SAMPLE = 56,       /* and every n-th, n doubling when there are so many */
    KEPT_ARRIVALS = 64,     /* of an episode: the first 8 and the last 56 if there are more */
    KEPT_SITES = 64,        /* sites with kept episodes: 5 MB */
    PASSAGES_MAX = 4096,    /* of MPI's collectives, of a rank; then every 2nd, 4th, ... */
    TIMES = 48,             /* barrier times by their logarithm */
    NOTICES = 512,
    NAME_BYTES = 64,
};

/* Kinds of sites; the names are in the tables. */
#define SITE_KINDS(X)                                                                                                  \
    X(BARRIER_PTHREAD, "pthread_barrier_wait")                                                                         \
    X(BARRIER_OMP, "omp barrier")                                                                                      \
    X(BARRIER_OMP_LOOP, "omp for end")                                                                                 \
    X(BARRIER_OMP_SECTIONS, "omp sections end")                                                                        \
    X(BARRIER_OMP_JOIN, "omp parallel end")                                                                            \
    X(BARRIER_USER, "hpcview.h")                                                                                       \
    X(BARRIER_USER_LOOP, "hpcview.h loop")                                                                             \
    X(BARRIER_MPI, "MPI_Barrier")                                                                                      \
    X(BARRIER_ALLREDUCE, "MPI_Allreduce")                                                                              \
    X(BARRIER_ALLGATHER, "MPI_Allgather")                                                                              \
    X(BARRIER_ALLTOALL, "MPI_Alltoall")                                                                                \
    X(BARRIER_REDUCE_SCATTER, "MPI_Reduce_scatter")                                                                    \
    X(WAIT_MUTEX, "mutex")                                                                                             \
    X(WAIT_RWLOCK, "rwlock")                                                                                           \
    X(WAIT_CONDITION, "condition")                                                                                     \
    X(WAIT_JOIN, "join")                                                                                               \
    X(WAIT_SEMAPHORE, "semaphore")                                                                                     \
    X(WAIT_OMP_CRITICAL, "omp critical")                                                                               \
    X(WAIT_OMP_LOCK, "omp lock")                                                                                       \
    X(WAIT_OMP_TASKS, "omp taskwait")                                                                                  \
    X(WAIT_OMP_ORDERED, "omp ordered")                                                                                 \
    X(WAIT_OMP_SINGLE, "omp single copyprivate")                                                                       \
    X(WAIT_MPI_COLLECTIVE, "MPI collective")                                                                           \
    X(WAIT_MPI_MESSAGE, "MPI message")

enum site_kind {
#define X(name, words) name,
    SITE_KINDS(X)
#undef X
        SITE_KIND_COUNT,
    FIRST_WAIT = WAIT_MUTEX
};

extern const char *const phases_kind_words[];

/* Sums; the file gets the increase since the last time. */
struct sums {
    uint64_t episodes, passages, phase, barrier, idle, overhead, broken;
    double squares; /* ms2 */
};

struct kept {
    uint64_t number; /* 0: a free place */
    uint64_t begin, first, last, release, idle;
    uint32_t threads, listed, last_row;
    uint32_t file_row; /* + 1; 0: not in the file as it is */
    struct {
        uint64_t at;
        uint32_t row, order;
    } arrivals[KEPT_ARRIVALS];
};

struct kept_set {
    uint64_t stride; /* of the sample */
    struct kept worst[KEPT_WORST], sample[KEPT_SAMPLE];
};

struct site {
    uint64_t pc;           /* inside of the call */
    uint32_t kind, number; /* number: of barriers, from 1 */
    char name[NAME_BYTES];
    /* barriers; locked by the spin lock */
    struct sums sums, written;
    uint64_t threads, worst, best, longest, shortest, first, last;
    uint64_t times[TIMES], times_written[TIMES];
    struct kept_set *kept;
    /* waits */
    _Atomic uint64_t wait_times, wait_ns, wait_worst;
    uint64_t wait_times_written, wait_ns_written;
    /* the helper's */
    uint32_t context, region, file_row; /* region, file_row: + 1; 0: none yet */
    bool resolved;
    _Atomic uint32_t region_row; /* of this site's phase in no other region; 0: not made yet */
};

/* Sums by two numbers. */
enum cell_kind { CELL_THREAD = 1, CELL_WAITS_FOR, CELL_PHASE };
struct pair_cell {
    uint64_t key; /* kind << 56 | a << 28 | b */
    uint64_t now[4], written[4];
};

struct slot { /* of one thread in one episode */
    uint64_t arrived, left, begun;
    uint32_t row, site, from; /* from: the barrier before, + 1 */
};

struct buffer {
    _Atomic uint64_t left; /* episode << 32 | size << 16 | how many have left; size 0: not known yet */
    _Atomic uint64_t last; /* the latest arrival; never goes back */
    struct slot *slots;
};

struct object {
    uint64_t address;        /* whose it is */
    _Atomic uint64_t arrive; /* episode << 32 | arrivals */
    uint32_t expected, capacity, buffer_count;
    struct buffer buffers[BUFFERS];
};
static inline struct buffer *phases_buffer(struct object *o, uint32_t episode)
{
    return &o->buffers[episode & (o->buffer_count - 1)];
}

struct passing { /* between arrival and leaving */
    struct object *object;
    uint32_t episode, index, site;
};

/* A team of OpenMP: all its threads come to all its barriers in turn, so each records only its own passages, in a
   lane that no other thread writes: a passage costs two clock readings. The team's leader folds them when many have
   accumulated, and at the end; the helper does it when they are old. */
struct record {
    uint64_t arrived, begun;
    _Atomic uint64_t left; /* 0: not yet */
    uint32_t site, from;   /* from: the barrier before, + 1 */
};
enum { LANE = 64 };
struct lane {
    _Atomic uint32_t arrivals, done; /* at barriers; done: those it left */
    uint32_t row;
    struct record join;
    _Alignas(64) struct record barriers[LANE];
};

struct team {
    struct lane *lanes; /* the first is the leader's */
    struct slot *slots; /* for the folding thread */
    uint64_t forked, last;
    uint32_t folded, join_site, phase; /* phase: of the thread that created the team, at that time */
    _Atomic int folding;               /* a lock of its own */
    _Atomic uint32_t threads, generation;
    struct team *outer;
    struct lane *outer_lane;
    void (*body)(void *);
    void *data;
    void *wrapped[2]; /* arguments of the body where it is started, and where it is called */
};

/* State of a thread; its own page. */
struct phases_thread {
    uint64_t begun; /* when its phase began: the last arrival at the barrier before */
    uint32_t phase; /* site of the barrier before, + 1 */
    uint32_t user_region;
    uint32_t region_site, region_user, region; /* the last one looked up */
    struct team *team;                         /* the one it works in */
    struct lane *lane;                         /* its lane there; NULL: too many threads */
    _Atomic(struct team *) own[TEAM_DEPTH];    /* those it leads */
    unsigned depth, inside_mpi;
    struct { /* where it waits for the others of its team, and will not leave by itself */
        struct team *team;
        uint32_t generation;
    } join;
    struct passing user[4]; /* barriers of the program's own that it is in */
    unsigned user_count;
    struct {
        uint64_t pc;
        uint32_t kind, site;
    } cache[32];
    _Atomic uint64_t passed;
    _Atomic uint64_t waits_since; /* 0: it does not wait */
    _Atomic uint32_t waits_at;    /* site */
    /* the helper's */
    struct {
        uint64_t since, passed;
        uint32_t site, context;
        uint8_t what;
        bool known;
    } written;
    uint64_t warned_since;
};

struct notice { /* an episode to be reported */
    uint64_t number, begin, first, last;
    uint32_t site, threads, last_row;
    bool warn, passage; /* passage: one rank's; last: when it went on */
};

struct phases {
    struct site *sites;
    _Atomic uint32_t site_count;
    uint32_t barrier_count;
    _Atomic uint32_t *site_slots; /* hash: site + 1 */
    struct pair_cell *cells;
    uint32_t *cell_slots, cell_count;
    struct area passages; /* struct passage */
    struct notice notices[NOTICES];
    uint32_t notice_head, notice_tail, notices_lost;
    unsigned kept_sites;
    bool on, kept_full;
};
extern struct phases hpcrec_phases;

struct passage { /* of an MPI collective */
    uint64_t group, number, begun, arrived, left;
    uint32_t site, row, ranks, from; /* from: the barrier before, + 1 */
    bool written;
};

static inline struct phases_thread *phases_self(void)
{
    return hpcrec_self && hpcrec_self->begun ? hpcrec_self->phases : NULL;
}
static inline uint64_t phases_now(void)
{
    struct timespec t; /* through the vDSO */
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static inline uint64_t phases_mix(uint64_t h)
{
    h *= 0x9fb21c651e98df25u;
    h ^= h >> 32;
    h *= 0x9fb21c651e98df25u;
    return h ^ h >> 29;
}
/* Inside of the call that returns there. */
static inline uint64_t phases_pc(const void *return_address)
{
    return (uint64_t)(uintptr_t)return_address - 1;
}

void phases_lock(void);
bool phases_trylock(void); /* waits a while; false: the owner makes no progress */
void phases_unlock(void);

/* Functions that the recorder calls (registration.c): see struct barrier_calls. */
void hpcrec_phases_begin(void);
void hpcrec_phases_thread_create(struct thread *);
void hpcrec_phases_thread_begin(struct thread *);
void hpcrec_phases_thread_end(struct thread *);
void hpcrec_phases_thread_discard(struct thread *);
void hpcrec_phases_forget(void);
void hpcrec_phases_declare(struct out *);
void hpcrec_phases_resolve(void);
void hpcrec_phases_moved(const uint32_t *);
void hpcrec_phases_write(struct out *, bool all);
void hpcrec_phases_notify(void);
bool hpcrec_phases_seen(void);
void hpcrec_phases_region(struct thread *, uint32_t region);
uint32_t hpcrec_phases_user_region(const struct thread *);

/* sites.c */
bool phases_sites_begin(void); /* false: no memory */
void phases_sites_forget(void);

/* The site of a call; name may be NULL. */
uint32_t phases_site(struct phases_thread *, uint64_t pc, enum site_kind, const char *name);

struct waiting {
    struct phases_thread *self;
    uint64_t since;
    uint32_t site;
};
struct waiting phases_wait_begin(uint64_t pc, enum site_kind);
void phases_wait_end(const struct waiting *, uint64_t least_ns);

/* episodes.c */
bool phases_cells_begin(void);
void phases_cells_forget(void);
/* To the observer; locked. */
void phases_notify(const struct notice *);
/* An episode of so many threads is over. */
void phases_fold(struct object *, uint32_t episode, uint32_t size);
void phases_fold_slots(struct slot *, uint32_t listed, uint32_t size);

/* barrier.c: objects that threads meet at. */
bool phases_objects_begin(void);
void phases_objects_forget(void);
/* expected: how many threads it waits for, 0 unknown; fresh: a new barrier, threads inside the old one are
   forgotten. NULL: too many. */
struct object *phases_object_at(const void *address, uint32_t expected, bool fresh);
struct passing phases_arrive(struct phases_thread *, struct object *, uint32_t site);
void phases_leave(struct phases_thread *, const struct passing *);

/* teams.c */
struct team *phases_team_begin(struct phases_thread *, uint32_t join_site);
/* The thread works in the team from now on. */
void phases_team_enter(struct phases_thread *, struct team *);
void phases_team_arrive(struct phases_thread *, uint32_t site);
/* cancelled: the barrier let it go without the others. */
void phases_team_leave(struct phases_thread *, uint32_t site, bool cancelled);
/* It has come to the join. */
void phases_team_join(struct phases_thread *, struct team *);
bool phases_team_has_joined(const struct phases_thread *); /* and so have all others */
/* By the leader: all have reached the join. */
void phases_team_end(struct phases_thread *, struct team *);
void phases_teams_fold(void); /* helper only */
extern bool phases_have_ompt;

/* core.c: the thread's phase begins now, or began then. */
void phases_enter(struct phases_thread *, uint32_t site, uint64_t begun);

/* The next definition of a function behind ours, as the caller would have found it. */
void *phases_real_symbol(const char *name, const void *caller);

#endif
