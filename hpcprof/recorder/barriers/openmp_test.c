/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of GCC's libgomp, and events of LLVM's libomp: a fake libgomp is called through every entry point by its own
 * threads, and a fake libomp reports each kind of barrier and wait. The resulting calls are logged as text and compared
 * verbatim.
 */
#include "hpcprof/recorder/base/interpose.h"
#include "hpcprof/recorder/barriers/barriers.h"

#include "tests/tap.h"

#include <execinfo.h>
#include <stdarg.h>

/* ---- the world ------------------------------------------------------------------------------------------------- */

struct recorder hpcrec;
struct phases hpcrec_phases;
_Thread_local struct thread *hpcrec_self;

enum { THREADS = 3, SITES = 1 << 12 };
static struct thread threads[THREADS];
static struct phases_thread known[THREADS - 1]; /* the last one is unknown */
static struct site sites[SITES];
static uint32_t site_count;
static struct team teams[4];
static struct lane lanes[THREADS];
static bool too_deep;
static void *a_word[2];

static char told[1 << 14];
static size_t told_size;

static void __attribute__((format(printf, 1, 2))) tell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = hpcrec_self ? snprintf(told + told_size, sizeof told - told_size, "%d ", (int)(hpcrec_self - threads)) : 0;
    told_size += (size_t)n;
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

static void body(void *);

/* In a call that has not returned yet, or a placeholder for one that does not return. */
static const char *where(uint64_t pc)
{
    static char number[32];
    void *after[12];
    int n = backtrace(after, 12);
    if (pc == (uint64_t)(uintptr_t)body)
        return "body";
    for (int i = 0; i < n; i++)
        if ((uint64_t)(uintptr_t)after[i] == pc + 1)
            return "here";
    snprintf(number, sizeof number, "%llx", (unsigned long long)pc);
    return number;
}

uint32_t phases_site(struct phases_thread *t, uint64_t pc, enum site_kind kind, const char *name)
{
    (void)t;
    tell("site %s %s%s", where(pc), words[kind], name ? name : "");
    uint32_t i = site_count++ % SITES;
    sites[i] = (struct site){.pc = pc, .kind = kind};
    return i;
}

struct team *phases_team_begin(struct phases_thread *t, uint32_t join_site)
{
    struct team *team = too_deep ? NULL : &teams[t->depth];
    tell("begin%s", sites[join_site].kind == BARRIER_OMP_JOIN ? "" : " at no join");
    if (!team)
        return NULL;
    *team = (struct team){.join_site = join_site, .outer = t->team, .outer_lane = t->lane, .wrapped = {a_word, a_word}};
    t->own[t->depth++] = team;
    return team;
}

void phases_team_enter(struct phases_thread *t, struct team *team)
{
    tell("enter %d", (int)(team - teams));
    t->team = team;
    t->lane = &lanes[t - known];
}

void phases_team_arrive(struct phases_thread *t, uint32_t site)
{
    (void)t;
    tell("arrive %s", words[sites[site].kind]);
}

void phases_team_leave(struct phases_thread *t, uint32_t site, bool cancelled)
{
    (void)t;
    tell("leave %s%s", words[sites[site].kind], cancelled ? " cancelled" : "");
}

void phases_team_join(struct phases_thread *t, struct team *team)
{
    tell("join%s", t->team == team ? "" : " another");
}

void phases_team_end(struct phases_thread *t, struct team *team)
{
    tell("end%s%s", t->own[--t->depth] == team ? "" : " of another", t->team == team ? "" : " from outside");
    t->team = team->outer;
    t->lane = team->outer_lane;
}

struct waiting phases_wait_begin(uint64_t pc, enum site_kind kind)
{
    tell("wait %s %s", where(pc), words[kind]);
    return (struct waiting){phases_self(), 17, (uint32_t)kind};
}

void phases_wait_end(const struct waiting *w, uint64_t least_ns)
{
    if (w->self)
        tell("waited %s %llu%s", words[w->site], (unsigned long long)least_ns,
             w->self == phases_self() && w->since == 17 ? "" : " by another");
}

static struct phases_thread *as(int who)
{
    hpcrec_self = who < 0 ? NULL : &threads[who];
    return phases_self();
}

static void begin_world(void)
{
    memset(known, 0, sizeof known);
    hpcrec_phases.sites = sites;
    for (int i = 0; i < THREADS; i++)
        threads[i] = (struct thread){.begun = true, .phases = i + 1 < THREADS ? &known[i] : NULL};
    as(0);
}

/* ---- libgomp ---------------------------------------------------------------------------------------------------- */

typedef void *pointer;
typedef void (*body_type)(void *);
#define GIVE_void
#define GIVE_unsigned return 4000000000u
#define GIVE__Bool    return is_cancelled
#define GIVE_pointer  return &a_word

static bool is_cancelled;
static void *data[2] = {a_word};

static bool is_wrapped(body_type fn, void *passed)
{
    return fn != body || passed != data;
}

/* As in libgomp: each thread of the team runs it. */
static void run_team(body_type fn, void *passed)
{
    if (is_wrapped(fn, passed))
        tell("first %s", *(void **)passed == NULL ? "none" : *(void **)passed == data[0] ? "kept" : "?");
    struct thread *leader = hpcrec_self;
    for (int i = 0; i < THREADS; i++) {
        as(i);
        fn(passed);
    }
    hpcrec_self = leader;
}

#define LOOP_ARGS     long start, long end, long by, long chunk, unsigned flags
#define LOOP_WORDS    "%ld %ld %ld %ld %u", start, end, by, chunk, flags
#define LOOP_PASS     1, -2, 3000000000, 4, 5
#define RUNTIME_ARGS  long start, long end, long by, unsigned flags
#define RUNTIME_WORDS "%ld %ld %ld %u", start, end, by, flags
#define RUNTIME_PASS  1, -2, 3, 4000000000u
#define FLAGS_ARGS    unsigned flags
#define FLAGS_WORDS   "%u", flags
#define FLAGS_PASS    3000000000u
#define PARTS_ARGS    unsigned parts, unsigned flags
#define PARTS_WORDS   "%u %u", parts, flags
#define PARTS_PASS    6, 7
#define TEAMS(X)                                                                                                       \
    X(void, GOMP_parallel, FLAGS, "none")                                                                              \
    X(unsigned, GOMP_parallel_reductions, FLAGS, "kept")                                                               \
    X(void, GOMP_parallel_loop_static, LOOP, "none")                                                                   \
    X(void, GOMP_parallel_loop_dynamic, LOOP, "none")                                                                  \
    X(void, GOMP_parallel_loop_guided, LOOP, "none")                                                                   \
    X(void, GOMP_parallel_loop_nonmonotonic_dynamic, LOOP, "none")                                                     \
    X(void, GOMP_parallel_loop_nonmonotonic_guided, LOOP, "none")                                                      \
    X(void, GOMP_parallel_loop_runtime, RUNTIME, "none")                                                               \
    X(void, GOMP_parallel_loop_nonmonotonic_runtime, RUNTIME, "none")                                                  \
    X(void, GOMP_parallel_loop_maybe_nonmonotonic_runtime, RUNTIME, "none")                                            \
    X(void, GOMP_parallel_sections, PARTS, "none")
#define BARRIERS(X)                                                                                                    \
    X(void, GOMP_barrier, "omp barrier")                                                                               \
    X(_Bool, GOMP_barrier_cancel, "omp barrier")                                                                       \
    X(void, GOMP_loop_end, "omp for end")                                                                              \
    X(_Bool, GOMP_loop_end_cancel, "omp for end")                                                                      \
    X(void, GOMP_sections_end, "omp sections end")                                                                     \
    X(_Bool, GOMP_sections_end_cancel, "omp sections end")
#define WAITS(X)                                                                                                       \
    X(void, GOMP_critical_start, "omp critical")                                                                       \
    X(void, GOMP_taskwait, "omp taskwait")                                                                             \
    X(void, GOMP_taskgroup_end, "omp taskwait")                                                                        \
    X(void, GOMP_ordered_start, "omp ordered")                                                                         \
    X(pointer, GOMP_single_copy_start, "omp single copyprivate")
#define LOCKS(X)                                                                                                       \
    X(void, GOMP_critical_name_start, "omp critical")                                                                  \
    X(void, omp_set_lock, "omp lock")                                                                                  \
    X(void, omp_set_nest_lock, "omp lock")

#define TEAM_NEXT(type, name, args, first)                                                                             \
    type name(void (*)(void *), void *, unsigned, args##_ARGS);                                                        \
    static type next_##name(void (*fn)(void *), void *passed, unsigned count, args##_ARGS)                             \
    {                                                                                                                  \
        char text[100];                                                                                                \
        snprintf(text, sizeof text, args##_WORDS);                                                                     \
        tell("next %s %u %s", #name, count, text);                                                                     \
        run_team(fn, passed);                                                                                          \
        tell("next over");                                                                                             \
        GIVE_##type;                                                                                                   \
    }
#define PLAIN_NEXT(type, name, word)                                                                                   \
    type name(void);                                                                                                   \
    static type next_##name(void)                                                                                      \
    {                                                                                                                  \
        tell("next %s", #name);                                                                                        \
        GIVE_##type;                                                                                                   \
    }
#define LOCK_NEXT(type, name, word)                                                                                    \
    type name(void *);                                                                                                 \
    static type next_##name(void *lock)                                                                                \
    {                                                                                                                  \
        tell("next %s%s", #name, lock == a_word ? "" : " of another");                                                 \
    }
TEAMS(TEAM_NEXT)
BARRIERS(PLAIN_NEXT)
WAITS(PLAIN_NEXT)
LOCKS(LOCK_NEXT)
void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_end(void);
static body_type started;
static void *started_with;

static void next_GOMP_parallel_start(void (*fn)(void *), void *passed, unsigned count)
{
    tell("next GOMP_parallel_start %u", count);
    if (is_wrapped(fn, passed))
        tell("first %s", *(void **)passed ? "?" : "none");
    started = fn;
    started_with = passed;
    as(1);
    fn(passed);
    as(0);
}

static void next_GOMP_parallel_end(void)
{
    tell("next GOMP_parallel_end");
}

static unsigned looked_for;

/* The first half of these is found by the one, the others by the caller's libraries alone. */
static void *find(const char *name, bool by_caller)
{
    static const struct {
        const char *name;
        void *f;
    } all[] = {
#define ROW(type, name, ...) {#name, (void *)next_##name},
        TEAMS(ROW) BARRIERS(ROW) WAITS(ROW) LOCKS(ROW){"GOMP_parallel_start", (void *)next_GOMP_parallel_start},
        {"GOMP_parallel_end", (void *)next_GOMP_parallel_end}};
    size_t n = sizeof all / sizeof *all;
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, all[i].name) == 0)
            return (i % 2 == 0) == by_caller ? all[i].f : NULL;
    return NULL;
}

void *dlsym(void *handle, const char *name)
{
    looked_for++;
    return handle == RTLD_NEXT ? find(name, false) : NULL;
}

void *phases_real_symbol(const char *name, const void *caller)
{
    CHECK_STR(where((uint64_t)(uintptr_t)caller - 1), "here");
    return find(name, true);
}

static void body(void *passed)
{
    tell("body%s", passed == data ? "" : " with other data");
}

/* Its value if no other file is searched. */
#define UNTOLD                                                                                                         \
    "0 body\n"                                                                                                         \
    "1 body\n"                                                                                                         \
    "2 body\n"                                                                                                         \
    "0 next over\n"
#define TEAM_TOLD(first)                                                                                               \
    "0 first " first "\n"                                                                                              \
    "0 enter 0\n0 body\n0 join\n"                                                                                      \
    "1 enter 0\n1 body\n1 join\n"                                                                                      \
    "2 body\n"                                                                                                         \
    "0 next over\n"                                                                                                    \
    "0 end\n"
#define VALUE_void(call)     (call, true)
#define VALUE_unsigned(call) ((call) == 4000000000u)
#define VALUE__Bool(call)    ((call) == is_cancelled)
#define VALUE_pointer(call)  ((call) == &a_word)
#define TEXT_OF_LOOP         "next %s 9 1 -2 3000000000 4 5\n"
#define TEXT_OF_RUNTIME      "next %s 9 1 -2 3 4000000000\n"
#define TEXT_OF_FLAGS        "next %s 9 3000000000\n"
#define TEXT_OF_PARTS        "next %s 9 6 7\n"

static const char *with(const char *format, const char *name)
{
    static char text[sizeof told];
    snprintf(text, sizeof text, format, name);
    return text;
}

static void check_no_team(const struct phases_thread *worker)
{
    CHECK(known[0].depth == 0 && !known[0].team && !known[0].lane);
    CHECK(worker->depth == 0 && worker->team == &teams[3] && worker->lane == &lanes[2]); /* as it was */
}

#define TEAM_TEST(type, name, args, first)                                                                             \
    CHECK(VALUE_##type(name(body, data, 9, args##_PASS)));                                                             \
    expect(with("0 site here omp parallel end\n0 begin\n0 " TEXT_OF_##args TEAM_TOLD(first), #name), #name);           \
    check_no_team(worker);
#define TEAM_UNTOLD(type, name, args, first)                                                                           \
    CHECK(VALUE_##type(name(body, data, 9, args##_PASS)));                                                             \
    expect(with("0 " TEXT_OF_##args UNTOLD, #name), #name);
#define TEAM_TOO_DEEP(type, name, args, first)                                                                         \
    CHECK(VALUE_##type(name(body, data, 9, args##_PASS)));                                                             \
    expect(with("0 site here omp parallel end\n0 begin\n0 " TEXT_OF_##args UNTOLD, #name), #name);

static void test_teams(void)
{
    struct phases_thread *worker = &known[1];
    worker->team = &teams[3];
    worker->lane = &lanes[2];
    TEAMS(TEAM_TEST)
    TEAMS(TEAM_TEST)
    phases_have_ompt = true;
    TEAMS(TEAM_UNTOLD)
    phases_have_ompt = false;
    threads[0].begun = threads[1].begun = false;
    TEAMS(TEAM_UNTOLD)
    threads[0].begun = threads[1].begun = true;
    too_deep = true;
    TEAMS(TEAM_TOO_DEEP)
    too_deep = false;
    begin_world();
}

/* A region in a region: of one thread each, and of whoever comes. */
static volatile unsigned calls;
static void nested(void *passed)
{
    if (hpcrec_self == threads)
        GOMP_parallel(body, passed, 9, 0);
    calls++; /* (a tail call is not counted) */
}

static void test_nested(void)
{
    GOMP_parallel(nested, data, 9, 0);
    expect("0 site here omp parallel end\n0 begin\n0 next GOMP_parallel 9 0\n0 first none\n"
           "0 enter 0\n"
           "0 site here omp parallel end\n0 begin\n0 next GOMP_parallel 9 0\n0 first none\n"
           "0 enter 1\n0 body\n0 join\n1 enter 1\n1 body\n1 join\n2 body\n0 next over\n0 end\n"
           "0 join\n"
           "1 enter 0\n1 join\n"
           "0 next over\n0 end\n",
           "a region in a region");
    CHECK(known[0].depth == 0 && !known[0].team && !known[1].team && !known[1].lane);
    struct phases_thread *worker = &known[1]; /* a worker that leads its own team */
    worker->own[0] = &teams[2];
    worker->depth = 1;
    worker->team = &teams[2];
    worker->lane = &lanes[2];
    GOMP_parallel(body, data, 9, 0);
    CHECK(worker->team == &teams[2] && worker->lane == &lanes[2]);
    *told = '\0';
    told_size = 0;
    begin_world();
}

/* Start and end apart: the leader calls the body itself. */
static void test_started(void)
{
    GOMP_parallel_end();
    expect("0 next GOMP_parallel_end\n", "an end without a start");
    GOMP_parallel_start(body, data, 5);
    expect("0 site here omp parallel end\n0 begin\n0 enter 0\n0 next GOMP_parallel_start 5\n0 first none\n"
           "1 enter 0\n1 body\n1 join\n",
           "a start");
    CHECK(known[0].team == &teams[0] && known[0].depth == 1);
    known[0].team = &teams[1]; /* not the one it leads */
    GOMP_parallel_end();
    expect("0 next GOMP_parallel_end\n", "an end of something else");
    known[0].team = &teams[0];
    GOMP_parallel_end();
    expect("0 join\n0 next GOMP_parallel_end\n0 end\n", "an end");
    CHECK(known[0].depth == 0 && !known[0].team);
    known[0].team = &teams[0]; /* it is a member of the team but does not lead one */
    GOMP_parallel_end();
    expect("0 next GOMP_parallel_end\n", "an end by a worker");
    known[0].team = NULL;
    too_deep = true;
    GOMP_parallel_start(body, data, 5);
    expect("0 site here omp parallel end\n0 begin\n0 next GOMP_parallel_start 5\n1 body\n", "a start, too deep");
    GOMP_parallel_end();
    expect("0 next GOMP_parallel_end\n", "its end");
    too_deep = false;
    as(2);
    GOMP_parallel_end();
    expect("2 next GOMP_parallel_end\n", "an end by who is not known");
    as(0);
}

#define BARRIER_ALONE(type, name, word)                                                                                \
    CHECK(VALUE_##type(name()));                                                                                       \
    expect("0 next " #name "\n", #name);
#define BARRIER_TEST(type, name, word)                                                                                 \
    CHECK(VALUE_##type(name()));                                                                                       \
    expect("0 site here " word "\n0 arrive " word "\n0 next " #name "\n0 leave " word "\n", #name);
#define BARRIER_CANCELLED(type, name, word)                                                                            \
    CHECK(VALUE_##type(name()));                                                                                       \
    expect(sizeof #type == sizeof "void"                                                                               \
               ? "0 site here " word "\n0 arrive " word "\n0 next " #name "\n0 leave " word "\n"                       \
               : "0 site here " word "\n0 arrive " word "\n0 next " #name "\n0 leave " word " cancelled\n",            \
           #name);

static void test_barriers(void)
{
    BARRIERS(BARRIER_ALONE)
    known[0].team = &teams[0];
    BARRIERS(BARRIER_TEST)
    is_cancelled = true;
    BARRIERS(BARRIER_CANCELLED)
    phases_have_ompt = true;
    BARRIERS(BARRIER_ALONE)
    phases_have_ompt = is_cancelled = false;
    known[0].team = NULL;
}

/* The last call in the body is a tail call: it returns to the caller of the body. */
static void test_jumps(void)
{
    threads[1].begun = false;
    GOMP_parallel((body_type)(void (*)(void))GOMP_barrier, data, 9, 0);
    const char *site = strstr(told, " omp barrier");
    char want[40];
    snprintf(want, sizeof want, "site %llx", (unsigned long long)(uintptr_t)GOMP_barrier);
    CHECK(site && (size_t)(site - told) >= strlen(want) && strncmp(site - strlen(want), want, strlen(want)) == 0);
    threads[1].begun = true;
    *told = '\0';
    told_size = 0;
}

#define WAIT_TEST(type, name, word)                                                                                    \
    CHECK(VALUE_##type(name()));                                                                                       \
    expect("0 wait here " word "\n0 next " #name "\n0 waited " word " 1000\n", #name);
#define LOCK_TEST(type, name, word)                                                                                    \
    name(a_word);                                                                                                      \
    expect("0 wait here " word "\n0 next " #name "\n0 waited " word " 1000\n", #name);
#define LOCK_ALONE(type, name, word)                                                                                   \
    name(a_word);                                                                                                      \
    expect("0 next " #name "\n", #name);

static void test_waits(void)
{
    WAITS(WAIT_TEST)
    LOCKS(LOCK_TEST)
    phases_have_ompt = true;
    WAITS(BARRIER_ALONE)
    LOCKS(LOCK_ALONE)
    phases_have_ompt = false;
    unsigned before = looked_for;
    for (int i = 0; i < 10; i++) {
        GOMP_barrier();
        GOMP_critical_start();
        GOMP_taskwait();
    }
    CHECK(looked_for - before <= 20); /* each look-up is done once */
    *told = '\0';
    told_size = 0;
}

/* ---- libomp's tools interface (OpenMP 5.1, 4) --------------------------------------------------------------------- */

typedef union {
    uint64_t value;
    void *ptr;
} tool_data;
struct tool {
    int (*initialize)(void (*(*lookup)(const char *))(void), int, tool_data *);
    void (*finalize)(tool_data *);
    tool_data tool;
};
struct tool *ompt_start_tool(unsigned version, const char *runtime);

static void (*callbacks[40])(void);

static int set_callback(int event, void (*f)(void))
{
    callbacks[event] = f;
    return 5;
}

static void (*lookup(const char *name))(void)
{
    return strcmp(name, "ompt_set_callback") == 0 ? (void (*)(void))set_callback : NULL;
}

static void (*lookup_nothing(const char *name))(void)
{
    (void)name;
    return NULL;
}

#define FROM(n) ((const void *)(uintptr_t)(n))
static tool_data region;

static void parallel_begin(uint64_t from)
{
    ((void (*)(tool_data *, const void *, tool_data *, unsigned, int, const void *))callbacks[3])(NULL, NULL, &region,
                                                                                                  4, 0, FROM(from));
}

static void parallel_end(tool_data *of)
{
    ((void (*)(tool_data *, tool_data *, int, const void *))callbacks[4])(of, NULL, 0, FROM(1));
}

static void implicit_task(int scope, tool_data *of, int flags)
{
    ((void (*)(int, tool_data *, tool_data *, unsigned, unsigned, int))callbacks[7])(scope, of, NULL, 4, 0, flags);
}

static void sync_region(int kind, int scope, uint64_t from)
{
    ((void (*)(int, int, tool_data *, tool_data *, const void *))callbacks[23])(kind, scope, NULL, NULL, FROM(from));
}

static void mutex_acquire(int kind, uint64_t from)
{
    ((void (*)(int, unsigned, unsigned, uint64_t, const void *))callbacks[26])(kind, 0, 0, 0, FROM(from));
}

static void mutex_acquired(int kind)
{
    ((void (*)(int, uint64_t, const void *))callbacks[27])(kind, 0, FROM(1));
}

static void test_tool_begins(void)
{
    hpcrec_phases.on = false;
    CHECK(ompt_start_tool(202011, "libomp") == NULL);
    hpcrec_phases.on = true;
    struct tool *tool = ompt_start_tool(202011, "libomp");
    if (!CHECK(tool != NULL))
        return;
    CHECK_INT(tool->initialize(lookup_nothing, 0, &tool->tool), 0);
    CHECK(!phases_have_ompt);
    CHECK(tool->initialize(lookup, 0, &tool->tool) != 0);
    CHECK(phases_have_ompt);
    unsigned count = 0;
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
        count += callbacks[i] != NULL;
    CHECK_INT(count, 6);
    tool->finalize(&tool->tool);
}

enum { IN = 1, OUT = 2, JOIN_AT = 0x5000 };

static void test_tool_teams(void)
{
    parallel_begin(JOIN_AT);
    expect("0 site 4fff omp parallel end\n0 begin\n", "a region begins");
    CHECK(region.ptr == &teams[0]);
    implicit_task(IN, &region, 1);
    implicit_task(OUT, &region, 2);
    implicit_task(IN, NULL, 2);
    expect("", "tasks that are none of a team's threads");
    implicit_task(IN, &region, 2);
    expect("0 enter 0\n", "its leader");
    as(1);
    implicit_task(IN, &region, 2);
    parallel_end(&region);
    expect("1 enter 0\n", "a worker, who ends nothing");
    as(0);
    parallel_end(NULL);
    parallel_end(&(tool_data){.ptr = &teams[1]});
    expect("", "an end of another region");
    parallel_end(&region);
    expect("0 end\n", "its end");
    parallel_end(&region);
    expect("", "its end again");
    too_deep = true;
    parallel_begin(JOIN_AT);
    expect("0 site 4fff omp parallel end\n0 begin\n", "a region too deep");
    CHECK(region.ptr == NULL);
    implicit_task(IN, &region, 2);
    parallel_end(&region);
    too_deep = false;
    as(2);
    region.ptr = &teams[0];
    parallel_begin(JOIN_AT);
    CHECK(region.ptr == NULL);
    region.ptr = &teams[0];
    implicit_task(IN, &region, 2);
    parallel_end(&region);
    sync_region(1, IN, 0x200);
    sync_region(5, IN, 0x200);
    mutex_acquire(1, 0x200);
    mutex_acquired(1);
    expect("", "who is not known");
    as(0);
}

/* Of each kind: the kind and the place of the construct in the program; at the place of the join; without a place. */
static const struct {
    const char *at, *at_join, *nowhere;
} sync_words[] = {
    [1] = {"omp barrier", "omp barrier", "omp barrier"},
    [2] = {"omp for end", "join", "join"},
    [3] = {"omp barrier", "omp barrier", "omp barrier"},
    [4] = {NULL, NULL, NULL}, /* the runtime's own */
    [7] = {NULL, NULL, NULL},
    [8] = {"omp for end", "omp for end", "omp for end"},
    [9] = {"join", "join", "join"},
    [10] = {"omp for end", "omp for end", "omp for end"},
};

static void check_sync(int kind, uint64_t from, const char *word)
{
    char want[200] = "";
    bool join = word && strcmp(word, "join") == 0;
    sync_region(kind, IN, from);
    if (join)
        snprintf(want, sizeof want, "0 join\n");
    else if (word)
        snprintf(want, sizeof want, "0 site %llx %s\n0 arrive %s\n", (unsigned long long)(from - 1), word, word);
    expect(want, "comes to a barrier");
    sync_region(kind, OUT, from);
    expect(word && !join ? with("0 leave %s\n", word) : "", "leaves it");
    sync_region(kind, OUT, from);
    expect("", "leaves it again");
}

static void test_tool_barriers(void)
{
    sync_region(1, IN, 0x200);
    sync_region(1, OUT, 0x200);
    expect("", "barriers of no team");
    parallel_begin(JOIN_AT);
    implicit_task(IN, &region, 2);
    *told = '\0';
    told_size = 0;
    for (int kind = 1; kind <= 10; kind++)
        if (kind != 5 && kind != 6) {
            check_sync(kind, 0x200, sync_words[kind].at);
            check_sync(kind, JOIN_AT, sync_words[kind].at_join);
            check_sync(kind, 0, sync_words[kind].nowhere);
        }
    sync_region(1, IN, 0x200);
    implicit_task(IN, &region, 2); /* a new one of its: it has left the barrier */
    *told = '\0';
    told_size = 0;
    sync_region(1, OUT, 0x200);
    expect("", "leaves what it has left");
    parallel_end(&region);
    expect("0 end\n", "the end");
}

static void test_tool_waits(void)
{
    static const char *const mutexes[] = {[1] = "omp lock",     [2] = "omp lock", [3] = "omp lock",   [4] = "omp lock",
                                          [5] = "omp critical", [6] = NULL,       [7] = "omp ordered"};
    for (int kind = 5; kind <= 6; kind++)
        for (int team = 0; team < 2; team++) {
            known[0].team = team ? &teams[0] : NULL;
            sync_region(kind, IN, 0x300);
            expect("0 wait 2ff omp taskwait\n", "waits for tasks");
            sync_region(kind, OUT, 0x300);
            expect("0 waited omp taskwait 1000\n", "has waited");
            sync_region(kind, OUT, 0x300);
            expect("", "once");
        }
    known[0].team = NULL;
    for (int kind = 1; kind <= 7; kind++) {
        mutex_acquire(kind, 0x400);
        expect(mutexes[kind] ? with("0 wait 3ff %s\n", mutexes[kind]) : "", "waits for a lock");
        mutex_acquired(kind);
        expect(mutexes[kind] ? with("0 waited %s 1000\n", mutexes[kind]) : "", "has it");
        mutex_acquired(kind);
        expect("", "once");
    }
}

int main(void)
{
    begin_world();
    RUN(test_teams);
    RUN(test_nested);
    RUN(test_started);
    RUN(test_barriers);
    RUN(test_jumps);
    RUN(test_waits);
    RUN(test_tool_begins);
    RUN(test_tool_teams);
    RUN(test_tool_barriers);
    RUN(test_tool_waits);
    return tap_done();
}
