/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI wrappers inside a measured program: a fake MPI whose handles are ints is called through every entry point, with
 * arguments that must arrive unchanged; communicators are created and freed at random, and the records of their
 * collectives are compared with a plain count.
 */
#include "hpcprof/recorder/barriers/barriers.h"

#include "tests/chance.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>

typedef uintptr_t word;

/* Name, Fortran's, arguments, which of them is the communicator, kind. */
#define COLLECTIVES(X)                                                                                                 \
    X(MPI_Barrier, mpi_barrier, 1, 1, BARRIER_MPI)                                                                     \
    X(MPI_Allreduce, mpi_allreduce, 6, 6, BARRIER_ALLREDUCE)                                                           \
    X(MPI_Allgather, mpi_allgather, 7, 7, BARRIER_ALLGATHER)                                                           \
    X(MPI_Allgatherv, mpi_allgatherv, 8, 8, BARRIER_ALLGATHER)                                                         \
    X(MPI_Alltoall, mpi_alltoall, 7, 7, BARRIER_ALLTOALL)                                                              \
    X(MPI_Alltoallv, mpi_alltoallv, 9, 9, BARRIER_ALLTOALL)                                                            \
    X(MPI_Alltoallw, mpi_alltoallw, 9, 9, BARRIER_ALLTOALL)                                                            \
    X(MPI_Reduce_scatter, mpi_reduce_scatter, 6, 6, BARRIER_REDUCE_SCATTER)                                            \
    X(MPI_Reduce_scatter_block, mpi_reduce_scatter_block, 6, 6, BARRIER_REDUCE_SCATTER)
#define WAITS(X)                                                                                                       \
    X(MPI_Bcast, mpi_bcast, 5, 0, WAIT_MPI_COLLECTIVE)                                                                 \
    X(MPI_Reduce, mpi_reduce, 7, 0, WAIT_MPI_COLLECTIVE)                                                               \
    X(MPI_Gather, mpi_gather, 8, 0, WAIT_MPI_COLLECTIVE)                                                               \
    X(MPI_Gatherv, mpi_gatherv, 9, 0, WAIT_MPI_COLLECTIVE)                                                             \
    X(MPI_Scatter, mpi_scatter, 8, 0, WAIT_MPI_COLLECTIVE)                                                             \
    X(MPI_Scatterv, mpi_scatterv, 9, 0, WAIT_MPI_COLLECTIVE)                                                           \
    X(MPI_Scan, mpi_scan, 6, 0, WAIT_MPI_COLLECTIVE)                                                                   \
    X(MPI_Exscan, mpi_exscan, 6, 0, WAIT_MPI_COLLECTIVE)                                                               \
    X(MPI_Neighbor_allgather, mpi_neighbor_allgather, 7, 0, WAIT_MPI_COLLECTIVE)                                       \
    X(MPI_Neighbor_allgatherv, mpi_neighbor_allgatherv, 8, 0, WAIT_MPI_COLLECTIVE)                                     \
    X(MPI_Neighbor_alltoall, mpi_neighbor_alltoall, 7, 0, WAIT_MPI_COLLECTIVE)                                         \
    X(MPI_Neighbor_alltoallv, mpi_neighbor_alltoallv, 9, 0, WAIT_MPI_COLLECTIVE)                                       \
    X(MPI_Win_fence, mpi_win_fence, 2, 0, WAIT_MPI_COLLECTIVE)                                                         \
    X(MPI_Comm_dup, mpi_comm_dup, 2, 0, WAIT_MPI_COLLECTIVE)                                                           \
    X(MPI_Comm_split, mpi_comm_split, 4, 0, WAIT_MPI_COLLECTIVE)                                                       \
    X(MPI_Recv, mpi_recv, 7, 0, WAIT_MPI_MESSAGE)                                                                      \
    X(MPI_Send, mpi_send, 6, 0, WAIT_MPI_MESSAGE)                                                                      \
    X(MPI_Ssend, mpi_ssend, 6, 0, WAIT_MPI_MESSAGE)                                                                    \
    X(MPI_Sendrecv, mpi_sendrecv, 12, 0, WAIT_MPI_MESSAGE)                                                             \
    X(MPI_Sendrecv_replace, mpi_sendrecv_replace, 9, 0, WAIT_MPI_MESSAGE)                                              \
    X(MPI_Wait, mpi_wait, 2, 0, WAIT_MPI_MESSAGE)                                                                      \
    X(MPI_Waitall, mpi_waitall, 3, 0, WAIT_MPI_MESSAGE)                                                                \
    X(MPI_Waitany, mpi_waitany, 4, 0, WAIT_MPI_MESSAGE)                                                                \
    X(MPI_Waitsome, mpi_waitsome, 5, 0, WAIT_MPI_MESSAGE)                                                              \
    X(MPI_Probe, mpi_probe, 4, 0, WAIT_MPI_MESSAGE)

/* ---- the world ------------------------------------------------------------------------------------------------- */

static uint64_t now = 1000000;

int fake_clock_gettime(clockid_t id, struct timespec *t)
{
    (void)id;
    now += 1 + below(2000);
    *t = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    return 0;
}

static bool wrong;

/* For frequent checks: only failures are reported. */
static void expect(bool good, const char *what)
{
    if (!good && !wrong)
        printf("# %s\n", what);
    wrong |= !good;
}

struct recorder hpcrec;
struct phases hpcrec_phases;
_Thread_local struct thread *hpcrec_self;

static struct thread self_thread = {.row = 42, .begun = true};
static struct phases_thread self;
static struct site sites[SITE_KIND_COUNT];
static struct notice told;
static unsigned tellings, locked;
static struct {
    unsigned begun, ended;
    uint32_t kind;
    uint64_t least;
} waited;

void phases_lock(void)
{
    expect(locked++ == 0, "the lock is not free");
}

void phases_unlock(void)
{
    locked--;
}

void phases_enter(struct phases_thread *t, uint32_t site, uint64_t begun)
{
    t->begun = begun;
    t->phase = site + 1;
}

uint32_t phases_site(struct phases_thread *t, uint64_t pc, enum site_kind kind, const char *name)
{
    expect(t == &self && pc && !name, "whose place it is");
    return kind;
}

struct waiting phases_wait_begin(uint64_t pc, enum site_kind kind)
{
    waited.begun++;
    waited.kind = kind;
    return (struct waiting){&self, pc, kind};
}

void phases_wait_end(const struct waiting *w, uint64_t least_ns)
{
    waited.ended += w->self == &self && w->site == waited.kind && w->since != 0;
    waited.least = least_ns;
}

void phases_notify(const struct notice *n)
{
    told = *n;
    tellings++;
}

/* ---- an MPI of our own ---------------------------------------------------------------------------------------------- */

enum { WORLD = 0x44000000, RANKS = 12, COMMS = 700 };

static struct comm {
    uint32_t members; /* a bit for each rank of the world */
    bool there;
} comms[COMMS];
static unsigned groups_held;
static bool without_groups;

/* Another MPI, whose handles are pointers: Open MPI is detected by its world communicator, in the program or in a
   library of the caller. */
static bool is_open_mpi, world_by_caller;
static char open_world;
static const word OTHER = (word)1 << 50; /* with this bit set, a different handle with the same members */

static const struct comm *comm_of(word handle)
{
    static const struct comm world = {(1 << RANKS) - 1, true};
    bool is_world = is_open_mpi ? handle == (word)&open_world : (uint32_t)handle == WORLD;
    return is_world ? &world : is_open_mpi ? (const struct comm *)(handle & ~OTHER) : &comms[(uint32_t)handle % COMMS];
}

static unsigned asked, translated; /* how many members communicators have; which rank one of them is */
static int many;                   /* number of ranks that all have; 0: unchanged */

static int comm_size(word comm, int *size)
{
    asked++;
    *size = many ? many : __builtin_popcount(comm_of(comm)->members);
    return 0;
}

/* A group's handle is its members. */
static int comm_group(word comm, word *group)
{
    groups_held++;
    *group = comm_of(comm)->members;
    return 0;
}

static int translate(word group, int n, const int *ranks, word to, int *there)
{
    int rank = 0;
    expect(n == 1 && to == (1 << RANKS) - 1, "not into ranks of the world");
    translated++;
    expect(*ranks < (many ? many : __builtin_popcountl(group)),
           "a rank that there is"); /* a rank out of range makes MPI abort */
    for (int bit = 0; bit < RANKS; bit++)
        if (group >> bit & 1 && rank++ == *ranks)
            *there = bit;
    return 0;
}

static int group_free(word *group)
{
    groups_held--;
    *group = 0;
    return 0;
}

static word comm_f2c(int number)
{
    return number == WORLD ? (word)&open_world : (word)&comms[number];
}

static char called_name[64];
static word called[13];
static uint64_t waits_since; /* during the call */
static uint32_t waits_at;
static void (*inside)(void); /* names by which the MPI calls its own functions, which are wrapped */

static word call(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l, word m)
{
    memcpy(called, (word[]){a, b, c, d, e, f, g, h, i, j, k, l, m}, sizeof called);
    waits_since = self.waits_since;
    waits_at = self.waits_at;
    if (inside)
        inside();
    return 17;
}

static unsigned nexts, scope_asked, called_in_scope;
static const char *in_scope = ""; /* of all functions, the globally visible one */

static word call_in_scope(word a, word b)
{
    called_in_scope += a == 1 && b == 2;
    return 18;
}

void *dlsym(void *handle, const char *name) /* fake_dlsym: local.mk */
{
    scope_asked += handle == RTLD_NEXT;
    if (handle == RTLD_DEFAULT && is_open_mpi && !world_by_caller && strcmp(name, "ompi_mpi_comm_world") == 0)
        return &open_world;
    return handle == RTLD_NEXT && strcmp(name, in_scope) == 0 ? (void *)call_in_scope : NULL;
}

void *phases_real_symbol(const char *name, const void *caller)
{
    const struct {
        const char *name;
        void *function;
    } own[] = {{"ompi_mpi_comm_world", is_open_mpi && world_by_caller ? &open_world : NULL},
               {"PMPI_Comm_f2c", (void *)comm_f2c},
               {"PMPI_Comm_size", (void *)comm_size},
               {"PMPI_Comm_group", (void *)comm_group},
               {"PMPI_Group_translate_ranks", (void *)translate},
               {"PMPI_Group_free", (void *)group_free}};
    expect(caller != NULL, "who calls");
    nexts++;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i].name, name) == 0)
            return without_groups && i == 3 ? NULL : own[i].function;
    snprintf(called_name, sizeof called_name, "%s", name);
    return (void *)call;
}

/* ---- every name ------------------------------------------------------------------------------------------------------ */

typedef word any(word, word, word, word, word, word, word, word, word, word, word, word, word);

#define DECLARE(c, fortran, n, comm, kind) extern any c, fortran##_, fortran##_f08_, fortran##_f08ts_;
COLLECTIVES(DECLARE)
WAITS(DECLARE)
extern int MPI_Comm_free(word *);

static const struct entry {
    const char *calls; /* name passed to the look-up */
    any *function;
    unsigned arguments, comm; /* comm: which of them, from 1; 0: it does not matter */
    uint32_t kind;
    bool fortran;
} entries[] = {
#define ENTRIES(c, fortran, n, comm, kind)                                                                             \
    {"P" #c, c, n, comm, kind, false}, {#fortran "_", fortran##_, n + 1, comm, kind, true},                            \
        {#fortran "_f08_", fortran##_f08_, n + 1, comm, kind, true},                                                   \
        {#fortran "_f08ts_", fortran##_f08ts_, n + 1, comm, kind, true},
    COLLECTIVES(ENTRIES) WAITS(ENTRIES)};

enum { ENTRY_COUNT = sizeof entries / sizeof *entries };

static word call_entry(const struct entry *e, word *a)
{
    return e->function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12]);
}

/* With distinct arguments, including the communicator. */
static bool passes_on(const struct entry *e, int *comm)
{
    word a[13];
    for (word i = 0; i < 13; i++)
        a[i] = 0x100000001 * (i + 3) + below(1000);
    if (e->comm)
        a[e->comm - 1] = e->fortran ? (word)comm : (word)*comm | 0xabcd00000000; /* ints have any upper half */
    memset(called, 0, sizeof called);
    word answer = call_entry(e, a);
    bool good = strcmp(called_name, e->calls) == 0 && memcmp(a, called, e->arguments * sizeof *a) == 0 &&
                (e->fortran || (int)answer == 17);
    if (!good)
        printf("# %s: called %s\n", e->calls, called_name);
    return good;
}

static void test_names(void)
{
    int world = WORLD;
    uint64_t passages = 0;
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < ENTRY_COUNT; i++) {
            const struct entry *e = &entries[i];
            uint64_t before = sites[e->kind].sums.passages, passed = self.passed;
            unsigned begun = waited.begun, ended = waited.ended;
            hpcrec_self = round == 2 ? NULL : &self_thread; /* an unknown thread */
            CHECK_NAMED(passes_on(e, &world), "arguments and answer");
            bool collective = e->kind < FIRST_WAIT && round < 2, wait = e->kind >= FIRST_WAIT && round < 2;
            passages += collective;
            CHECK_INT(sites[e->kind].sums.passages, before + collective);
            CHECK_INT(self.passed, passed + collective);
            CHECK(waited.begun == begun + wait && waited.ended == ended + wait);
            CHECK(!wait || (waited.kind == e->kind && waited.least == 1000));
            CHECK_INT(self.waits_since, 0);
            CHECK_INT(self.inside_mpi, 0);
            CHECK(!collective || (told.number == passages && told.site == e->kind && told.threads == RANKS &&
                                  told.last_row == 42 && told.passage && told.last == now && told.first < now &&
                                  waits_since == told.first && waits_at == e->kind));
        }
    hpcrec_self = &self_thread;
    CHECK_INT(groups_held, 0);
    CHECK_INT(tellings, passages);
    CHECK_INT(hpcrec_phases.passages.count, passages);
}

static void barrier_and_message(void)
{
    inside = NULL;
    MPI_Barrier(WORLD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    MPI_Recv(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* Functions that an MPI calls inside a collective belong to that collective, whatever their names. */
static void test_inside(void)
{
    int world = WORLD;
    for (size_t i = 0; i < ENTRY_COUNT && entries[i].kind < FIRST_WAIT; i++) {
        size_t passages = hpcrec_phases.passages.count;
        unsigned begun = waited.begun;
        inside = barrier_and_message;
        word a[13] = {0};
        a[entries[i].comm - 1] = entries[i].fortran ? (word)&world : WORLD;
        call_entry(&entries[i], a);
        CHECK(!inside && waited.begun == begun && self.inside_mpi == 0);
        CHECK_INT(hpcrec_phases.passages.count, passages + 1);
        CHECK_INT(((struct passage *)hpcrec_phases.passages.items)[passages].site, entries[i].kind);
    }
}

/* ---- communicators --------------------------------------------------------------------------------------------------- */

static void forget_passages(void)
{
    hpcrec_phases.passages.count = 0;
}

/* One barrier of a communicator: the recorded passage, or NULL. */
static const struct passage *pass(uint32_t comm)
{
    size_t before = hpcrec_phases.passages.count;
    self.begun = now - 500;
    self.phase = below(30);
    uint32_t from = self.phase;
    uint64_t begun = self.begun;
    MPI_Barrier(comm, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    expect(self.begun == now && self.phase == BARRIER_MPI + 1, "the next phase");
    if (hpcrec_phases.passages.count == before)
        return NULL;
    const struct passage *p = (struct passage *)hpcrec_phases.passages.items + hpcrec_phases.passages.count - 1;
    expect(p->site == BARRIER_MPI && p->row == 42 && p->begun == begun && p->from == from && p->left == now &&
               p->arrived > begun && p->arrived < now && !p->written,
           "a passage");
    return p;
}

/* Communicators of the same members count together, also when handles are given back and mean others. */
static void test_communicators(void)
{
    static struct {
        uint64_t group;
        uint32_t members, times;
    } known[64];
    uint32_t known_count = 0;
    bool good = true;
    for (int i = 0; i < 3000; i++) {
        uint32_t comm = 1 + below(COMMS - 1), at = 0;
        if (!comms[comm].there)
            comms[comm] = (struct comm){below(60) * 37 % 4000 + 5, true};
        const struct passage *p = pass(comm);
        uint32_t members = comms[comm].members;
        while (at < known_count && known[at].members != members)
            at++;
        if (at == known_count) {
            known[known_count].members = members;
            known[known_count++].group = p ? p->group : 0;
            for (uint32_t k = 0; k < at; k++)
                good = good && p && known[k].group != p->group;
        }
        good = good && p && p->group == known[at].group && p->number == known[at].times++ &&
               p->ranks == (uint32_t)__builtin_popcount(members);
        if (below(3) == 0) { /* the upper half of an int's place is anybody's */
            word handle = (word)comm | 0x1234500000000;
            MPI_Comm_free(&handle);
            comms[comm].there = false;
        }
    }
    CHECK_NAMED(good && known_count > 40, "each group has its own count");
    CHECK_INT(groups_held, 0);
    forget_passages();
}

/* The members of each are queried once, and equal members form one group regardless of the handle; the first one
   represents the others. */
static void test_members(void)
{
    comms[1] = (struct comm){(1 << RANKS) - 1, true};
    comms[2] = (struct comm){1 << 1 | 1 << 3, true};
    comms[3] = (struct comm){1 << 2 | 1 << 3, true};
    for (word i = 1; i < 4; i++)
        MPI_Comm_free(&(word){i});
    pass(WORLD);
    asked = 0;
    const struct passage *p = pass(WORLD);
    uint64_t group = p->group, number = p->number;
    CHECK_INT(asked, 0);
    CHECK(pass(1)->group == group && told.number == number + 2);
    CHECK_INT(asked, 1);
    CHECK(pass(2)->group != pass(3)->group);
    CHECK_INT(asked, 3);
    for (uint32_t i = 1; i < 4; i++)
        pass(i);
    CHECK_INT(asked, 3);
    MPI_Comm_free(&(word){3});
    MPI_Comm_free(&(word){3});
    pass(3);
    pass(2);
    CHECK_INT(asked, 4);
    for (word i = 1; i < 4; i++)
        MPI_Comm_free(&(word){i});
    forget_passages();
}

/* On overflow, every second passage is kept, then every fourth, ...: the same in all ranks. */
static void test_thinned(void)
{
    enum { PASSAGES = 5 * PASSAGES_MAX };
    comms[1] = (struct comm){3 << 10, true};
    uint64_t stride = 1;
    for (uint32_t i = 0, kept = 0; i < PASSAGES; i++) {
        if (i % stride == 0 && kept == PASSAGES_MAX) {
            stride *= 2;
            kept = PASSAGES_MAX / 2;
        }
        kept += i % stride == 0;
        pass(1);
        expect(hpcrec_phases.passages.count == kept, "so many are kept");
    }
    CHECK_INT(stride, 8);
    const struct passage *p = hpcrec_phases.passages.items;
    bool good = true;
    for (uint32_t i = 0; i < hpcrec_phases.passages.count; i++)
        good = good && p[i].number == i * stride && (i == 0 || p[i].arrived > p[i - 1].left);
    CHECK_NAMED(good, "every eighth, in their order");
    forget_passages();
}

/* Unmeasured threads, unknown communicators, or too many groups: the call proceeds. */
static void test_not_counted(void)
{
    uint64_t passages = sites[BARRIER_MPI].sums.passages, passed = self.passed;
    hpcrec.measuring = false;
    CHECK(pass(WORLD) == NULL);
    hpcrec.measuring = true;
    comms[2] = (struct comm){0, true}; /* without a thread */
    MPI_Comm_free(&(word){2});
    CHECK(pass(2) == NULL);
    CHECK_INT(sites[BARRIER_MPI].sums.passages, passages);
    CHECK_INT(self.passed, passed + 2);
    without_groups = true; /* an MPI that cannot list members: groups of equal size are the same */
    comms[3] = (struct comm){7, true};
    comms[4] = (struct comm){7 << 4, true};
    MPI_Comm_free(&(word){3});
    MPI_Comm_free(&(word){4});
    pass(3);
    uint64_t group = told.number;
    pass(4);
    CHECK_INT(told.number, group + 1);
    without_groups = false;
    for (uint32_t more = 0; more < 2; more++) { /* all ranks are queried up to this number, but not beyond */
        many = (1 << 16) + more;
        translated = 0;
        comms[3] = (struct comm){7 + more, true};
        MPI_Comm_free(&(word){3});
        pass(3);
        CHECK_INT(translated, more ? 0 : many);
        CHECK_INT(told.threads, many);
    }
    many = 0;
    CHECK_INT(groups_held, 0);
    for (uint32_t i = 5; i < COMMS; i++) {
        comms[i] = (struct comm){i, true};
        MPI_Comm_free(&(word){i});
        pass(i);
    }
    passages = sites[BARRIER_MPI].sums.passages;
    pass(COMMS - 1);
    CHECK_INT(sites[BARRIER_MPI].sums.passages, passages);
    CHECK_INT(self.waits_since, 0);
}

/* The globally visible next function is looked up once and then called directly; one in the caller's own scope is
   looked up on each call. */
static void test_scope(void)
{
    nexts = scope_asked = 0;
    MPI_Wait(1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    MPI_Wait(1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    CHECK_INT(nexts, 2);
    CHECK_INT(scope_asked, 2);
    in_scope = "PMPI_Wait";
    for (int i = 0; i < 3; i++) {
        called_in_scope = 0;
        CHECK_INT((int)MPI_Wait(1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 18);
        CHECK_INT(called_in_scope, 1);
    }
    CHECK_INT(nexts, 2);
    CHECK_INT(scope_asked, 3);
}

/* Handles are pointers: all of their bits count, and Fortran handles are converted. */
static void test_open_mpi(void)
{
    int world = WORLD, one = 1;
    word a[13] = {(word)&world};
    comms[1] = comms[2] = (struct comm){7, true};
    hpcrec_self = &self_thread;
    MPI_Comm_free(&(word){(word)&comms[1]}); /* a handle not seen before, twice */
    MPI_Barrier((word)&comms[1], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    MPI_Comm_free(&(word){(word)&comms[1]});
    MPI_Comm_free(&(word){(word)&comms[1]});
    CHECK(told.number == 1 && told.threads == 3 && asked == 1);
    MPI_Barrier((word)&open_world, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    CHECK(told.number == 1 && told.threads == RANKS && asked == 2);
    MPI_Barrier((word)&comms[2], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    MPI_Barrier((word)&comms[2] | OTHER, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    CHECK(told.number == 3 && told.threads == 3 && asked == 4);
    MPI_Barrier((word)&open_world, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    for (const struct entry *e = entries; e < entries + ENTRY_COUNT; e++)
        if (e->kind == BARRIER_MPI && e->fortran) {
            uint64_t number = told.number;
            a[0] = (word)&world;
            call_entry(e, a);
            CHECK(told.number == number + 1 && told.threads == RANKS);
            CHECK(called[0] == (word)&world && asked == 4); /* the original arguments are passed on */
        }
    a[0] = (word)&one;
    entries[1].function(a[0], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    CHECK(told.number == 4 && told.threads == 3 && asked == 5); /* it was given back */
    CHECK(!wrong && groups_held == 0);
}

/* The MPI implementation is detected once: each case runs in its own process, which returns the outcome. */
static void in_process(void (*test)(void))
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(2, 1);
        is_open_mpi = true;
        test();
        exit(tap_done());
    }
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
}

int main(void)
{
    hpcrec.measuring = true;
    hpcrec_phases.sites = sites;
    self_thread.phases = &self;
    in_process(test_open_mpi);
    world_by_caller = true;
    in_process(test_open_mpi);
    RUN(test_names);
    RUN(test_inside);
    RUN(test_communicators);
    RUN(test_members);
    RUN(test_thinned);
    RUN(test_not_counted);
    RUN(test_scope);
    CHECK_INT(locked, 0);
    CHECK_NAMED(!wrong, "what is asked very often");
    return tap_done();
}
