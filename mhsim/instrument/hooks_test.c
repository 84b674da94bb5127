/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks of programs compiled by hpcview-cc: each hook reports one access of its size, or pieces that fit a register;
 * memory block functions, the heap and the ways to exit behave as without instrumentation, and are reported.
 */
#include "config.h"
#include "tests/fakes/fake_runtime.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- hooks of one size --------------------------------------------------------------------------- */

#define EACH_SIZE(X, before, behind, write)                                                                            \
    X(before##1##behind, 1, write)                                                                                     \
    X(before##2##behind, 2, write)                                                                                     \
    X(before##4##behind, 4, write)                                                                                     \
    X(before##8##behind, 8, write)                                                                                     \
    X(before##16##behind, 16, write)
#define HOOKS(X)                                                                                                       \
    EACH_SIZE(X, __asan_load, , false)                                                                                 \
    EACH_SIZE(X, __asan_store, , true)                                                                                 \
    EACH_SIZE(X, __asan_load, _noabort, false)                                                                         \
    EACH_SIZE(X, __asan_store, _noabort, true)                                                                         \
    EACH_SIZE(X, __tsan_read, , false)                                                                                 \
    EACH_SIZE(X, __tsan_write, , true)                                                                                 \
    EACH_SIZE(X, __tsan_unaligned_read, , false)                                                                       \
    EACH_SIZE(X, __tsan_unaligned_write, , true)                                                                       \
    EACH_SIZE(X, __tsan_read_write, , true)                                                                            \
    EACH_SIZE(X, __tsan_unaligned_read_write, , true)                                                                  \
    EACH_SIZE(X, __tsan_volatile_read, , false)                                                                        \
    EACH_SIZE(X, __tsan_volatile_write, , true)                                                                        \
    X(__tsan_vptr_read, 8, false)
#define NUMBERED(X)                                                                                                    \
    EACH_SIZE(X, hpcview_simulate__asan_load, _noabort, false)                                                         \
    EACH_SIZE(X, hpcview_simulate__asan_store, _noabort, true)
#define RANGES(X)                                                                                                      \
    X(__asan_loadN, 64, false)                                                                                         \
    X(__asan_storeN, 64, true)                                                                                         \
    X(__asan_loadN_noabort, 64, false)                                                                                 \
    X(__asan_storeN_noabort, 64, true)                                                                                 \
    X(__tsan_read_range, 0, false)                                                                                     \
    X(__tsan_write_range, 0, true)

#define DECLARE(name, size, write)       void name(uint64_t);
#define DECLARE_RANGE(name, size, write) void name(uint64_t, uint64_t);
HOOKS(DECLARE)
NUMBERED(DECLARE)
RANGES(DECLARE_RANGE)
void __tsan_init(void);
void __asan_handle_no_return(void);

#define ROW(name, size, write) {#name, name, size, write},
static const struct {
    const char *name;
    void (*call)(uint64_t);
    uint32_t size;
    bool write;
} hooks[] = {HOOKS(ROW)}, numbered[] = {NUMBERED(ROW)};
static const struct {
    const char *name;
    void (*call)(uint64_t, uint64_t);
    uint32_t at_once; /* up to this size it is one access */
    bool write;
} ranges[] = {RANGES(ROW)};
enum {
    HOOKS_COUNT = sizeof hooks / sizeof *hooks,
    NUMBERED_COUNT = sizeof numbered / sizeof *numbered,
    RANGES_COUNT = sizeof ranges / sizeof *ranges
};

static uint64_t frame; /* of the caller */
static volatile unsigned calls;

#ifdef __x86_64__
#define OWN_FRAME ((uint64_t)(uintptr_t)__builtin_frame_address(0))
#else
#define OWN_FRAME 0
#endif

static __attribute__((noinline)) void call_one(void (*hook)(uint64_t), uint64_t address)
{
    frame = OWN_FRAME;
    hook(address);
    calls++; /* (a tail call is not counted) */
}

static __attribute__((noinline)) void call_range(void (*hook)(uint64_t, uint64_t), uint64_t address, uint64_t size)
{
    frame = OWN_FRAME;
    hook(address, size);
    calls++;
}

/* The pieces of a block: split at multiples of 32, or all of it if it is small enough. Returns the number after the
   last one. */
static uint32_t expect_block(uint32_t at, uint64_t address, uint64_t size, uint64_t at_once, bool write, bool *good)
{
    for (uint64_t from = 0, to; from < size; from = to, at++) {
        for (to = from + 1; to < size && (size <= at_once || (address + to) % 32 != 0);)
            to++;
        const struct recorded *t = &recorded->rows[at];
        *good = *good && at < recorded->count && t->what == ACCESS && t->address == address + from &&
                t->size == to - from && t->write == write && !t->on_stack && t->from_call && t->frame == frame;
    }
    return at;
}

static void check_told(uint64_t address, uint64_t size, uint64_t at_once, bool write, const char *name)
{
    bool good = true;
    uint32_t n = expect_block(0, address, size, at_once, write, &good);
    CHECK_NAMED(good && n == recorded->count, name);
    recorded->count = 0;
}

static void test_hooks(void)
{
    struct runtime_thread *me = runtime_me;
    for (uint32_t i = 0; i < HOOKS_COUNT; i++) {
        uint64_t address = random64();
        runtime_on = false;
        call_one(hooks[i].call, address);
        runtime_on = true;
        me->until = 3;
        me->numbered = 2;
        call_one(hooks[i].call, address); /* only numbered */
        CHECK_NAMED(recorded->count == 0 && me->numbered == 3, hooks[i].name);
        call_one(hooks[i].call, address);
        runtime_on = false;
        CHECK_INT(me->numbered, 3);
        check_told(address, hooks[i].size, 64, hooks[i].write, hooks[i].name);
    }
    me->numbered = 0;
    for (uint32_t i = 0; i < NUMBERED_COUNT; i++) { /* the program has used the numbers itself */
        uint64_t address = random64();
        call_one(numbered[i].call, address);
        CHECK_INT(recorded->count, 0);
        runtime_on = true;
        call_one(numbered[i].call, address);
        runtime_on = false;
        check_told(address, numbered[i].size, 64, numbered[i].write, numbered[i].name);
    }
    me->until = 0;
    runtime_on = true;
    __tsan_init();
    __asan_handle_no_return();
    runtime_on = false;
    CHECK_INT(recorded->count, 0);
}

static void test_ranges(void)
{
    for (uint32_t i = 0; i < RANGES_COUNT; i++)
        for (uint32_t k = 0; k < 40; k++) {
            uint64_t address = random64() >> 1, size = k < 4 ? 31 + 33 * (k / 2) + k % 2 : below(k < 20 ? 70 : 400);
            size = k == 4 ? 0 : size;
            call_range(ranges[i].call, address, size);
            CHECK_INT(recorded->count, 0);
            runtime_on = true;
            call_range(ranges[i].call, address, size);
            runtime_on = false;
            check_told(address, size, ranges[i].at_once, ranges[i].write, ranges[i].name);
        }
}

/* ---- blocks of memory ------------------------------------------------------------------------------ */

enum { ROOM = 300 };
/* (through pointers: a compiler would replace direct calls) */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
static void *(*volatile move)(void *, const void *, size_t) = memmove;
static void *(*volatile set)(void *, int, size_t) = memset;

/* One call, and its effect on memory compared with the expected one. */
static bool block_is_moved(uint32_t how, uint32_t to, uint32_t from, uint32_t n)
{
    static uint8_t here[ROOM], was[ROOM];
    void *got;
    frame = OWN_FRAME;
    for (uint32_t i = 0; i < ROOM; i++)
        here[i] = was[i] = (uint8_t)random64();
    bool on = runtime_on;
    if (how == 0)
        got = copy(here + to, here + from, n);
    else if (how == 1)
        got = move(here + to, here + from, n);
    else
        got = set(here + to, 0x1a7, n);
    runtime_on = false;
    bool good = got == here + to;
    for (uint32_t i = 0; i < ROOM; i++)
        good = good && here[i] == (i < to || i >= to + n ? was[i] : how == 2 ? 0xa7 : was[i - to + from]);
    uint32_t at = 0;
    if (on && how < 2)
        at = expect_block(0, (uint64_t)(uintptr_t)here + from, n, 0, false, &good);
    if (on)
        at = expect_block(at, (uint64_t)(uintptr_t)here + to, n, 0, true, &good);
    good = good && recorded->count == at;
    recorded->count = 0;
    return good;
}

static bool blocks_are_moved(uint32_t times, bool on)
{
    bool good = true;
    for (uint32_t i = 0; i < times; i++) {
        uint32_t how = below(3), n = below(4) ? below(100) : 0, to = below(ROOM - 100), from = below(ROOM - 100);
        if (how == 0) /* apart */
            n = n < (to > from ? to - from : from - to) ? n : 0;
        runtime_on = on;
        good = block_is_moved(how, to, from, n) && good;
    }
    return good;
}

/* Runs before the constructor of hooks.c, which looks up the C library's functions. */
static bool moved_early;
__attribute__((constructor(101))) static void begin_early(void)
{
    void *after[2];
    backtrace(after, 2); /* (allocates memory on first use) */
    recorded_note((struct recorded){.what = OPENED});
    recorded->count = 0;
    moved_early = blocks_are_moved(200, false) && blocks_are_moved(200, true);
}

static void test_blocks(void)
{
    struct runtime_thread busy = {.busy = true}, *me = runtime_me;
    CHECK(moved_early);
    CHECK(blocks_are_moved(200, true));
    CHECK(blocks_are_moved(50, false));
    runtime_me = &busy; /* the simulator's own accesses are not the program's */
    runtime_on = true;
    uint8_t here[8] = {1, 2}, there[8];
    copy(there, here, 8);
    move(here, there, 8);
    set(here, 0, 8);
    runtime_on = false;
    runtime_me = me;
    CHECK_INT(recorded->count, 0);
}

/* ---- the heap -------------------------------------------------------------------------------------------- */

static void check_allocated(void *p, uint64_t size, uint64_t alignment, const char *name)
{
    bool was_on = runtime_on;
    runtime_on = false;
    const struct recorded *t = &recorded->rows[0];
    CHECK_NAMED(p && (uint64_t)(uintptr_t)p % alignment == 0, name);
    if (was_on)
        CHECK_NAMED(recorded->count == 1 && t->what == ALLOCATED && t->address == (uint64_t)(uintptr_t)p &&
                        t->size == size && t->from_call,
                    name);
    else
        CHECK_INT(recorded->count, 0);
    recorded->count = 0;
    free(p);
    runtime_on = was_on;
}

void *memalign(size_t, size_t);

static void test_heap(bool on)
{
    void *p = NULL;
    runtime_on = on;
    check_allocated(malloc(100), 100, 16, "malloc");
    check_allocated(calloc(7, 30), 210, 16, "calloc");
    check_allocated(realloc(NULL, 50), 50, 16, "realloc");
    check_allocated(memalign(256, 33), 33, 256, "memalign");
    check_allocated(aligned_alloc(512, 1024), 1024, 512, "aligned_alloc");
    int made = posix_memalign(&p, 128, 99);
    check_allocated(made == 0 ? p : NULL, 99, 128, "posix_memalign");
    runtime_on = false;
    p = &p;
    void *const before = p;
    runtime_on = on;
    int status[] = {posix_memalign(&p, 0, 8), posix_memalign(&p, 4, 8), posix_memalign(&p, 24, 8),
                    posix_memalign(&p, 64, SIZE_MAX / 2)};
    void *none = malloc(SIZE_MAX / 2);
    runtime_on = false;
    CHECK(status[0] == EINVAL && status[1] == EINVAL && status[2] == EINVAL && status[3] == ENOMEM && p == before);
    CHECK(none == NULL && recorded->count == 0);
}

void *_Znwm(size_t);
void *_Znam(size_t);

/* The C++ operators call malloc from library code: the allocation belongs to the operator's caller. */
static void test_operators(void)
{
    if (_Znwm(8) == NULL && !dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL)) {
        SKIP("operator new", "no libstdc++ here");
        return;
    }
    for (int i = 0; i < 4; i++) {
        runtime_on = true;
        void *p = i % 2 ? _Znam(48) : _Znwm(48);
        runtime_on = false;
        uint64_t code = recorded->rows[0].code - (uint64_t)(uintptr_t)test_operators;
        CHECK(code < 2048);
        runtime_on = true;
        check_allocated(p, 48, 16, "operator new");
        check_allocated(malloc(9), 9, 16, "malloc behind it");
        runtime_on = false;
    }
}

/* ---- hpcview.h ---------------------------------------------------------------------------------------------- */

struct hpcview_calls {
    void (*start)(void), (*stop)(void), (*region_begin)(const char *), (*region_end)(const char *);
};
extern const struct hpcview_calls hpcview_calls_1;

static void test_calls(void)
{
    static const struct recorded want[] = {{.what = MEASURED, .code = true},
                                           {.what = MEASURED},
                                           {.what = REGION, .code = true, .name = "one"},
                                           {.what = REGION, .name = "two"}};
    hpcview_calls_1.start();
    hpcview_calls_1.stop();
    hpcview_calls_1.region_begin("one");
    hpcview_calls_1.region_begin(NULL);
    hpcview_calls_1.region_end("two");
    hpcview_calls_1.region_end(NULL);
    CHECK_INT(recorded->count, 4);
    for (int i = 0; i < 4; i++)
        CHECK(recorded->rows[i].what == want[i].what && recorded->rows[i].code == want[i].code &&
              strcmp(recorded->rows[i].name, want[i].name) == 0);
    recorded->count = 0;
}

/* ---- ways to exit --------------------------------------------------------------------------------------------- */

#define CHECKED "test \"$#:$1:$2:$HOOKS_TEST\" = '2:a b:c:yes' && exit 17"

static void end_by(int way)
{
    static char shell[] = "/bin/sh", name[] = "sh", option[] = "-c", script[] = CHECKED, zero[] = "0", one[] = "a b",
                two[] = "c", variable[] = "HOOKS_TEST=yes";
    char *const argv[] = {name, option, script, zero, one, two, NULL}, *const envp[] = {variable, NULL};
    setenv("HOOKS_TEST", "yes", 1);
    runtime_on = true;
    switch (way) {
    case 0:
        execve(shell, argv, envp);
        break;
    case 1:
        execv(shell, argv);
        break;
    case 2:
        execvp(name, argv);
        break;
    case 3:
        execvpe(name, argv, envp);
        break;
    case 4:
        execl(shell, name, option, script, zero, one, two, NULL);
        break;
    case 5:
        execlp(name, name, option, script, zero, one, two, NULL);
        break;
    case 6:
        execle(shell, name, option, script, zero, one, two, NULL, envp);
        break;
    case 7:
        _exit(17);
    case 8:
        _Exit(17);
    case 9:
        abort();
    case 10:
        raise(SIGTERM);
        break;
    case 11:
        kill(getpid(), SIGTERM);
        break;
    }
    _exit(3);
}

static void test_ends(void)
{
    enum { WAYS = 12 };
    static const int signals[WAYS] = {[9] = SIGABRT, [10] = SIGTERM, [11] = SIGTERM};
    for (int way = 0; way < WAYS; way++) {
        int status = -1;
        recorded->count = 0;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            end_by(way);
        waitpid(pid, &status, 0);
        CHECK_INT(recorded->rows[0].what, SETTLED); /* before its memory was reused */
        if (signals[way])
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[way]);
        else
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17);
        CHECK_INT(recorded_count(FORKED), 1);
        CHECK_INT(recorded_count(SETTLED), 2);
    }
    recorded->count = 0;
    CHECK_INT(execv("/nowhere", (char *[]){NULL}), -1);
    CHECK_INT(kill(getpid(), 0), 0);
    CHECK_INT(recorded->count, 0);
    runtime_on = true;
    int failed[] = {execv("/nowhere", (char *[]){NULL}), errno, raise(0)};
    runtime_on = false;
    CHECK(failed[0] == -1 && failed[1] == ENOENT && failed[2] == 0);
    CHECK_INT(recorded_count(SETTLED), 2);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void test_life(uint32_t opened)
{
    int status = -1;
    CHECK_INT(opened, 1);
    recorded->count = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        exit(0);
    waitpid(pid, &status, 0);
    CHECK_INT(recorded_count(CLOSED), 1);
}

int main(void)
{
    uint32_t opened = recorded_count(OPENED);
    CHECK_INT(recorded->rows[0].code, RAW_HOOKS);
    test_life(opened);
    recorded->count = 0;
    RUN(test_hooks);
    RUN(test_ranges);
    RUN(test_blocks);
    test_heap(true);
    test_heap(false);
    RUN(test_operators);
    RUN(test_calls);
    RUN(test_ends);
    return tap_done();
}
