/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of the C library's barriers and waits (pthreads.c), with the real functions behind them, the program's own
 * barriers, and the region of a thread's samples (core.c). Calls of the other files are a text, compared to the letter.
 */
#include "hpcprof/recorder/base/interpose.h"
#include "hpcprof/recorder/barriers/barriers.h"
#include "hpcprof/recorder/output/output.h"
#include "hpcprof/recorder/sampling/sampling.h"

#include "tests/chance.h"
#include "tests/tap.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>

/* ---- the world ------------------------------------------------------------------------------------------------- */

struct recorder hpcrec;
_Thread_local struct thread *hpcrec_self;
bool phases_have_ompt;

enum { THREADS = 3, SITES = 64 };
static struct thread threads[THREADS];
static struct phases_thread known[THREADS - 1]; /* the last one is unknown */
static struct site sites[SITES];
static uint32_t site_count;
static struct object objects[8];
static uint64_t object_ids[8];
static uint32_t object_count;
static bool no_object, is_locked;
static sem_t *let_go; /* by the waiting thread */

static char told[1 << 14];
static size_t told_size;

static void __attribute__((format(printf, 1, 2))) tell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    told_size += (size_t)vsnprintf(told + told_size, sizeof told - told_size, format, args);
    told_size += (size_t)snprintf(told + told_size, sizeof told - told_size, "\n");
    va_end(args);
}

static void expect(const char *want, const char *name)
{
    if (strcmp(told, want) != 0)
        printf("# %s\n", name);
    CHECK_STR(told, want);
    *told = '\0';
    told_size = 0;
}

static const char *const words[] = {
#define X(name, word) word,
    SITE_KINDS(X)
#undef X
};

/* In a call that has not returned yet? */
static const char *where(uint64_t pc)
{
    void *after[12];
    int n = backtrace(after, 12);
    for (int i = 0; i < n; i++)
        if ((uint64_t)(uintptr_t)after[i] == pc + 1)
            return "here";
    return "elsewhere";
}

uint32_t phases_site(struct phases_thread *t, uint64_t pc, enum site_kind kind, const char *name)
{
    (void)t;
    tell("site %s %s%s%s", where(pc), words[kind], name ? " " : "", name ? name : "");
    uint32_t i = site_count++ % SITES;
    sites[i] = (struct site){.pc = pc, .kind = kind, .number = i};
    snprintf(sites[i].name, sizeof sites[i].name, "%s", name ? name : "");
    return i;
}

/* A number for each address; "here" for a site in the program. */
struct object *phases_object_at(const void *address, uint32_t expected, bool fresh)
{
    uint64_t id = (uint64_t)(uintptr_t)address;
    uint32_t i = 0;
    while (i < object_count && object_ids[i] != id)
        i++;
    if (i == object_count && object_count < 8)
        object_ids[object_count++] = id;
    tell("object %u%s of %u%s", i, strcmp(where(id), "here") == 0 ? " here" : "", expected, fresh ? " fresh" : "");
    return no_object ? NULL : &objects[i];
}

struct passing phases_arrive(struct phases_thread *t, struct object *o, uint32_t site)
{
    tell("%d arrives at %d", (int)(t - known), (int)(o - objects));
    return (struct passing){.object = o, .site = site, .index = 7};
}

void phases_leave(struct phases_thread *t, const struct passing *p)
{
    tell("%d leaves %d%s", (int)(t - known), (int)(p->object - objects), p->index == 7 ? "" : ", not as it came");
}

struct waiting phases_wait_begin(uint64_t pc, enum site_kind kind)
{
    if (phases_self())
        tell("wait %s %s", where(pc), words[kind]);
    if (let_go)
        sem_post(let_go);
    let_go = NULL;
    return (struct waiting){phases_self(), 17, (uint32_t)kind};
}

void phases_wait_end(const struct waiting *w, uint64_t least_ns)
{
    if (w->self)
        tell("waited %s %llu%s", words[w->site], (unsigned long long)least_ns,
             w->self == phases_self() && w->since == 17 ? "" : " by another");
}

static void as(int who)
{
    hpcrec_self = &threads[who];
}

static void begin_world(void)
{
    hpcrec_phases.sites = sites;
    for (int i = 0; i < THREADS; i++)
        threads[i] = (struct thread){.begun = true, .phases = i + 1 < THREADS ? &known[i] : NULL};
    as(0);
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* A free lock is acquired without a wait; for one held by the caller, the real function's result is returned. */
static void test_locks(bool is_known)
{
    pthread_mutex_t m;
    pthread_mutexattr_t checks;
    pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
    pthread_mutexattr_init(&checks);
    pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &checks);
    CHECK_INT(pthread_mutex_lock(&m), 0);
    expect("", "a free lock");
    CHECK_INT(pthread_mutex_trylock(&m), EBUSY);
    expect("", "no wait for a taken one");
    CHECK_INT(pthread_mutex_lock(&m), EDEADLK);
    expect(is_known ? "wait here mutex\nwaited mutex 0\n" : "", "a taken one");
    CHECK_INT(pthread_mutex_unlock(&m), 0);
    CHECK_INT(pthread_mutex_trylock(&m), 0);
    CHECK_INT(pthread_mutex_unlock(&m), 0);
    CHECK_INT(pthread_rwlock_rdlock(&rw), 0);
    CHECK_INT(pthread_rwlock_rdlock(&rw), 0);
    CHECK_INT(pthread_rwlock_trywrlock(&rw), EBUSY);
    CHECK_INT(pthread_rwlock_unlock(&rw), 0);
    CHECK_INT(pthread_rwlock_unlock(&rw), 0);
    CHECK_INT(pthread_rwlock_wrlock(&rw), 0);
    expect("", "free to read, free to write");
    CHECK_INT(pthread_rwlock_tryrdlock(&rw), EBUSY);
    CHECK_INT(pthread_rwlock_rdlock(&rw), EDEADLK);
    expect(is_known ? "wait here rwlock\nwaited rwlock 0\n" : "", "to read what is written");
    CHECK_INT(pthread_rwlock_wrlock(&rw), EDEADLK);
    expect(is_known ? "wait here rwlock\nwaited rwlock 0\n" : "", "to write it as well");
    CHECK_INT(pthread_rwlock_unlock(&rw), 0);
}

static void test_semaphores(bool is_known)
{
    sem_t s;
    sem_init(&s, 0, 2);
    errno = 5;
    CHECK_INT(sem_wait(&s), 0);
    CHECK_INT(sem_trywait(&s), 0);
    CHECK_INT(sem_trywait(&s), -1);
    CHECK_INT(errno, EAGAIN);
    expect("", "no wait");
    if (is_known) {
        let_go = &s;
        errno = 5;
        CHECK_INT(sem_wait(&s), 0);
        CHECK_INT(errno, 5);
        expect("wait here semaphore\nwaited semaphore 0\n", "a wait");
    }
    CHECK_INT(sem_trywait(&s), -1);
    sem_destroy(&s);
}

static pthread_mutex_t signal_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool is_signalled;

static void *signals(void *result)
{
    pthread_mutex_lock(&signal_lock);
    is_signalled = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&signal_lock);
    return result;
}

static void test_conditions(bool is_known)
{
    pthread_t t;
    void *result = NULL;
    is_signalled = false;
    pthread_mutex_lock(&signal_lock);
    CHECK_INT(pthread_create(&t, NULL, signals, &result), 0);
    while (!is_signalled)
        CHECK_INT(pthread_cond_wait(&condition, &signal_lock), 0);
    expect(is_known ? "wait here condition\nwaited condition 0\n" : "", "a condition");
    const struct timespec past = {1, 0};
    CHECK_INT(pthread_cond_timedwait(&condition, &signal_lock, &past), ETIMEDOUT);
    expect(is_known ? "wait here condition\nwaited condition 0\n" : "", "... for a time");
    pthread_mutex_unlock(&signal_lock);
    CHECK_INT(pthread_join(t, &result), 0);
    CHECK(result == &result);
    expect(is_known ? "wait here join\nwaited join 0\n" : "", "a thread's end");
}

/* ---- barriers ------------------------------------------------------------------------------------------------------ */

static void test_barriers(void)
{
    pthread_barrier_t b;
    object_count = 0;
    CHECK_INT(pthread_barrier_init(&b, NULL, 0), EINVAL);
    expect("", "a barrier for none");
    CHECK_INT(pthread_barrier_init(&b, NULL, 1), 0);
    expect("object 0 of 1 fresh\n", "a new barrier");
    CHECK_INT(pthread_barrier_wait(&b), PTHREAD_BARRIER_SERIAL_THREAD);
    expect("object 0 of 1\nsite here pthread_barrier_wait\n0 arrives at 0\n0 leaves 0\n", "a barrier");
    as(1);
    CHECK_INT(pthread_barrier_wait(&b), PTHREAD_BARRIER_SERIAL_THREAD);
    expect("object 0 of 1\nsite here pthread_barrier_wait\n1 arrives at 0\n1 leaves 0\n", "by another");
    no_object = true;
    CHECK_INT(pthread_barrier_wait(&b), PTHREAD_BARRIER_SERIAL_THREAD);
    expect("object 0 of 1\n", "too many of them");
    no_object = false;
    as(2);
    CHECK_INT(pthread_barrier_wait(&b), PTHREAD_BARRIER_SERIAL_THREAD);
    pthread_barrier_destroy(&b);
    CHECK_INT(pthread_barrier_init(&b, NULL, 9), 0);
    expect("", "by who is not known");
    pthread_barrier_destroy(&b);
    as(0);
}

/* The number of expected threads as stored in the barrier; implausible values are unknown. (The barrier is fake, and
   all but one thread have arrived.) */
static void test_counts(void)
{
#ifdef __GLIBC__
    static const struct {
        uint32_t count, told;
    } cases[] = {{2, 2}, {1 << 20, 1 << 20}, {(1 << 20) + 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pthread_barrier_t b;
        char want[200];
        object_count = 0;
        memset(&b, 0, sizeof b);
        memcpy(&b, (uint32_t[]){cases[i].count - 1, 0, cases[i].count}, 12);
        CHECK_INT(pthread_barrier_wait(&b), PTHREAD_BARRIER_SERIAL_THREAD);
        snprintf(want, sizeof want, "object 0 of %u\nsite here pthread_barrier_wait\n0 arrives at 0\n0 leaves 0\n",
                 cases[i].told);
        expect(want, "as many as that");
    }
#endif
}

struct hpcview_barrier_calls {
    void (*arrive)(const char *name, int loop);
    void (*leave)(const char *name);
};
extern const struct hpcview_barrier_calls hpcview_barrier_calls_1;

static void test_own_barriers(void)
{
    const struct hpcview_barrier_calls *own = &hpcview_barrier_calls_1;
    object_count = 0;
    own->arrive(NULL, 0);
    expect("object 0 here of 0\nsite here hpcview.h\n0 arrives at 0\n", "a barrier without a name");
    own->arrive("red", 1);
    expect("object 1 of 0\nsite here hpcview.h loop red\n0 arrives at 1\n", "one with a name");
    own->arrive("rod", 0);
    expect("object 2 of 0\nsite here hpcview.h rod\n0 arrives at 2\n", "another");
    own->arrive("red", 0);
    expect("object 1 of 0\nsite here hpcview.h red\n0 arrives at 1\n", "the first again");
    CHECK(object_ids[1] >> 63 == 1 && object_ids[2] >> 63 == 1); /* no address has these */
    CHECK(object_ids[1] != object_ids[2]);
    own->arrive("", 0);
    expect("object 3 here of 0\n", "more than are kept");
    own->leave("blue");
    expect("", "none of these");
    own->leave("rod");
    expect("0 leaves 2\n", "the one, and what is in it");
    own->leave("red");
    expect("0 leaves 1\n", "the one around it");
    own->leave(NULL);
    own->leave(NULL);
    own->leave("red");
    expect("0 leaves 0\n", "the last");
    char longest[NAME_BYTES + 20];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    own->arrive(longest, 0);
    *told = '\0';
    told_size = 0;
    own->leave(longest);
    expect("0 leaves 4\n", "a name that is cut");
    object_count = 0;
    for (int i = 0; i < 8; i++) { /* names that differ in the last significant character, or after it */
        char other[NAME_BYTES + 20];
        memcpy(other, longest, sizeof other);
        other[NAME_BYTES - 2 + i % 2] = 'y';
        own->arrive(longest, 0);
        own->leave(other);
        CHECK_INT(known[0].user_count, i % 2 ? 0 : 1);
        own->leave(longest);
        CHECK_INT(known[0].user_count, 0);
        CHECK(object_ids[0] >> 63 == 1);
        longest[0]++;
        object_count = 0;
    }
    *told = '\0';
    told_size = 0;
    object_count = 1;
    own->arrive("red", 0);
    own->leave("red");
    *told = '\0';
    told_size = 0;
    as(1);
    no_object = true;
    own->arrive("red", 0);
    own->leave("red");
    expect("object 1 of 0\n", "too many");
    no_object = false;
    as(2);
    own->arrive("red", 0);
    own->leave("red");
    expect("", "who is not known");
    as(0);
}

/* ---- regions ------------------------------------------------------------------------------------------------------- */

void hpcrec_lock(sigset_t *saved)
{
    (void)saved;
    tell("%s", is_locked ? "locked twice" : "lock");
    is_locked = true;
}

void hpcrec_unlock(const sigset_t *saved)
{
    (void)saved;
    tell("unlock");
    is_locked = false;
}

enum { ROWS = 4096 };
static char row_names[ROWS][64];

uint32_t hpcrec_region_row(const char *name, uint32_t parent)
{
    static uint32_t rows = 100;
    tell("row %u: %s in %u%s", rows, name, parent, is_locked ? "" : ", not locked");
    snprintf(row_names[rows % ROWS], sizeof *row_names, "%s in %u", name, parent);
    return rows++;
}

void hpcrec_mark_region(struct thread *t, uint32_t region)
{
    tell("mark %u", region);
    t->region = region;
}

static void test_regions(void)
{
    for (uint32_t i = 0; i < SITES; i++)
        sites[i] = (struct site){.number = i + 1};
    memset(known, 0, sizeof known);
    phases_enter(&known[0], 4, 1234);
    expect("lock\nrow 100: after barrier 5 in 0\nunlock\nmark 100\n", "behind a barrier");
    CHECK(known[0].begun == 1234 && known[0].phase == 5);
    phases_enter(&known[0], 4, 2345);
    expect("", "behind it again");
    CHECK_INT(known[0].begun, 2345);
    phases_enter(&known[0], 0, 1);
    expect("lock\nrow 101: after barrier 1 in 0\nunlock\nmark 101\n", "behind another");
    phases_enter(&known[0], 4, 1);
    expect("mark 100\n", "and back");
    as(1);
    phases_enter(&known[1], 4, 1);
    expect("mark 100\n", "another thread");
    hpcrec_phases_region(&threads[1], 7);
    expect("lock\nrow 102: after barrier 5 in 7\nunlock\nmark 102\n", "in a region of the program's");
    CHECK_INT(hpcrec_phases_user_region(&threads[1]), 7);
    phases_enter(&known[1], 0, 1);
    expect("lock\nrow 103: after barrier 1 in 7\nunlock\nmark 103\n", "behind another there");
    hpcrec_phases_region(&threads[1], 7);
    expect("", "in the same");
    hpcrec_phases_region(&threads[1], 8);
    expect("lock\nrow 104: after barrier 1 in 8\nunlock\nmark 104\n", "in another");
    hpcrec_phases_region(&threads[1], 0);
    expect("mark 101\n", "out of it");
    as(0);
    known[0] = (struct phases_thread){0};
    hpcrec_phases_region(&threads[0], 9);
    expect("mark 9\n", "before the first barrier");
    as(2);
    hpcrec_phases_region(&threads[2], 5);
    expect("mark 5\n", "who is not known");
    CHECK_INT(hpcrec_phases_user_region(&threads[2]), 5);
    as(0);
}

/* Threads go from any place to any other, in regions of the program's and out of them: the one they are in is of that name. */
static void test_drawn_regions(void)
{
    enum { NEAR = 6 };
    struct {
        uint32_t site, user; /* site: + 1 */
    } at[2] = {{0, 0}, {0, 0}};
    bool good = true;
    memset(known, 0, sizeof known);
    for (int i = 0; i < 2; i++)
        threads[i].region = 0;
    for (uint32_t i = 0; i < SITES; i++)
        sites[i] = (struct site){.number = 3 * i + 1};
    for (int i = 0; i < 3000 && good; i++) {
        char want[64];
        uint32_t who = below(2);
        as((int)who);
        if (below(3)) {
            uint32_t site = below(NEAR);
            at[who].site = site + 1;
            phases_enter(&known[who], site, random64());
        } else {
            at[who].user = below(3);
            hpcrec_phases_region(&threads[who], at[who].user);
        }
        uint32_t region = threads[who].region;
        snprintf(want, sizeof want, "after barrier %u in %u", 3 * at[who].site - 2, at[who].user);
        good = at[who].site ? region >= 100 && strcmp(row_names[region % ROWS], want) == 0 : region == at[who].user;
        if (at[who].site && !at[who].user)
            good = good && sites[at[who].site - 1].region_row == region;
        *told = '\0';
        told_size = 0;
    }
    CHECK_NAMED(good, "the region it is in");
    as(0);
}

/* ---- beginning and end ------------------------------------------------------------------------------------------------- */

static int begins_until, begun;

static bool begin_part(const char *name)
{
    tell("%s", name);
    return begun++ < begins_until;
}

bool phases_sites_begin(void)
{
    return begin_part("sites");
}

bool phases_cells_begin(void)
{
    return begin_part("cells");
}

bool phases_objects_begin(void)
{
    return begin_part("objects");
}

void phases_sites_forget(void)
{
    tell("no sites");
}

void phases_cells_forget(void)
{
    tell("no cells");
}

void phases_objects_forget(void)
{
    tell("no objects");
}

void hpcrec_missing(const char *sentence)
{
    tell("missing: %s", sentence);
}

static void test_life(void)
{
    struct thread t = {0};
    struct timespec before;
    hpcrec_phases = (struct phases){0};
    hpcrec_phases_begin();
    expect("", "nobody asked");
    CHECK(!hpcrec_phases_seen());
    hpcrec_phases_thread_create(&t);
    CHECK(!t.phases);
    hpcrec_phases_thread_begin(&t);
    hpcrec_phases_thread_end(&t);
    hpcrec.config.phases = true;
    static const char *const parts[] = {"sites\n", "sites\ncells\n", "sites\ncells\nobjects\n"};
    for (begins_until = 0; begins_until < 3; begins_until++) {
        char want[200];
        begun = 0;
        hpcrec_phases_begin();
        snprintf(want, sizeof want, "%smissing: out of memory for barriers and phases\n", parts[begins_until]);
        expect(want, "no memory");
        CHECK(!hpcrec_phases.on);
        hpcrec_phases_forget();
        expect("", "nothing to forget");
    }
    begun = 0;
    hpcrec_phases_begin();
    expect(parts[2], "it begins");
    hpcrec_phases_begin();
    expect("", "it has begun");
    CHECK(hpcrec_phases.on && !hpcrec_phases_seen());
    hpcrec_phases.site_count = 1;
    CHECK(hpcrec_phases_seen());
    hpcrec_phases_thread_create(&t);
    clock_gettime(CLOCK_MONOTONIC, &before);
    hpcrec_phases_thread_begin(&t);
    if (CHECK(t.phases != NULL)) {
        CHECK(t.phases->begun >= (uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec);
        t.phases->waits_since = 3;
        hpcrec_phases_thread_end(&t);
        CHECK_INT(t.phases->waits_since, 0);
    }
    hpcrec_phases_thread_discard(&t);
    hpcrec_phases_forget();
    expect("no sites\nno cells\nno objects\n", "it ends");
    CHECK(!hpcrec_phases.on && hpcrec_phases.site_count == 0);
}

/* A function that only the caller's libraries have. */
static void test_next(void)
{
    void *z = dlopen("libz.so.1", RTLD_LAZY | RTLD_LOCAL), *f = z ? dlsym(z, "zlibVersion") : NULL;
    CHECK(phases_real_symbol("getpid", NULL) == dlsym(RTLD_NEXT, "getpid"));
    CHECK(phases_real_symbol("zlibVersion", NULL) == NULL);
    CHECK(phases_real_symbol("zlibVersion", (void *)begin_world) == NULL);
    CHECK(phases_real_symbol("no function of anybody's", (void *)begin_world) == NULL);
    if (f)
        CHECK(phases_real_symbol("zlibVersion", f) == f);
    else
        SKIP("a function that only its own library has", "no libz.so.1 here");
}

int main(void)
{
    begin_world();
    test_locks(true);
    test_semaphores(true);
    test_conditions(true);
    as(2);
    test_locks(false);
    test_semaphores(false);
    test_conditions(false);
    as(0);
    RUN(test_barriers);
    RUN(test_counts);
    RUN(test_own_barriers);
    RUN(test_regions);
    RUN(test_drawn_regions);
    RUN(test_life);
    RUN(test_next);
    return tap_done();
}
