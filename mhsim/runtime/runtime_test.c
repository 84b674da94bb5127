/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts inside a simulated program and their attribution: random program runs (heap blocks, accesses from several code
 * locations, phases, regions, threads, forks), compared with a table that is computed by a naive reading of
 * shared_layout.h.
 *
 * Each run is a process of its own, which reads its own files at its end. An access counts once for each of its lines,
 * whatever the levels are.
 */
#include "config.h"
#include "tests/fakes/fake_mmap_memory.h"

#include "mhsim/runtime/runtime.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[RAW_PATH + 1]; /* of the maximum length */

/* ---- the kernel --------------------------------------------------------------------------------------------- */

static enum { AS_IT_IS, WITHOUT_MEMBARRIER, WITH_MEMBARRIER } kernel;
static void (*while_reading_maps)(void); /* once */
static void (*instead_of_yielding)(void);

long fake_syscall(long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_membarrier && kernel != AS_IT_IS)
        return kernel == WITH_MEMBARRIER ? 0 : (errno = ENOSYS, -1);
    if (number == SYS_openat && while_reading_maps) {
        void (*then)(void) = while_reading_maps;
        while_reading_maps = NULL;
        then();
    }
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int fake_yield(void)
{
    if (instead_of_yielding)
        instead_of_yielding();
    return sched_yield();
}

/* ---- expected counts ------------------------------------------------------------------------------------- */

enum { PAGES = 96, ARENA = PAGES * 4096, CODES = 12, SITES = 6, ROWS = 4096 };
static uint8_t *arena;

struct expected {
    uint64_t code, accesses, split;
    uint32_t kind, core;
    uint64_t key; /* HEAP: site; STATIC: address; STACK: number of a variable + 1; MODULE_DATA: the module's bias */
    char name[RAW_NAME];
};

struct life {
    struct raw_orders orders;
    struct expected rows[ROWS];
    size_t count;
    uint64_t owner[ARENA / 16]; /* for each 16 bytes: the site of the last block there, 0: none */
    uint64_t seen, simulated, lost;
    bool stopped;
    uint32_t depth, times; /* in the region; how often it was entered */
    uint32_t core;
};
static struct life *life;

/* As shared_layout.h has it. */
static bool is_counted(const struct raw_orders *o, uint64_t number)
{
    if (number < o->delay)
        return false;
    number -= o->delay;
    if (o->burst)
        return number % o->period >= o->warm_up && number % o->period < o->warm_up + o->burst;
    return o->window == 0 || number < o->window;
}

static bool in_region(void)
{
    const struct raw_orders *o = &life->orders;
    return !*o->region || (life->depth > 0 && (o->region_time == 0 || life->times == o->region_time));
}

static uint64_t bias; /* of this program */

/* A module name matches a whole suffix of path components. */
static bool is_here(const char *module)
{
    return strcmp(module, "runtime_test") == 0 || strcmp(module, "runtime/runtime_test") == 0;
}

static bool is_wanted(uint64_t code)
{
    const struct raw_orders *o = &life->orders;
    bool wanted = o->range_count == 0;
    for (uint32_t i = 0; i < o->range_count; i++)
        wanted |= code - bias >= o->ranges[i].from && code - bias < o->ranges[i].to && is_here(o->ranges[i].module);
    return wanted;
}

static void expect(uint64_t code, uint64_t address, uint32_t size, uint32_t kind, uint64_t key, const char *name)
{
    bool counts = is_counted(&life->orders, life->seen) && !life->stopped && in_region() && is_wanted(code);
    life->seen++;
    if (!counts)
        return;
    life->simulated++;
    struct expected *e = life->rows;
    while (e < life->rows + life->count &&
           (e->code != code || e->kind != kind || e->key != key || e->core != life->core || strcmp(e->name, name) != 0))
        e++;
    if (e == life->rows + life->count) {
        *e = (struct expected){.code = code, .kind = kind, .key = key, .core = life->core};
        snprintf(e->name, sizeof e->name, "%s", name);
        life->count++;
    }
    uint64_t lines = (address + size - 1) / 64 - address / 64 + 1;
    e->accesses += lines;
    e->split += lines > 1;
}

/* ---- events ------------------------------------------------------------------------------------------------ */

static uint64_t code_at(uint32_t i)
{
    return bias + 0x1000 + 0x40 * (uint64_t)i;
}

static void allocate(uint64_t offset, uint64_t size, uint64_t site)
{
    runtime_allocated((uint64_t)(uintptr_t)arena + offset, size, site);
    for (uint64_t a = offset & ~15ull; a < offset + size; a += 16)
        life->owner[a / 16] = site;
}

static void touch(uint32_t code, uint64_t offset, uint32_t size, bool write)
{
    uint64_t owner = life->owner[offset / 16], address = (uint64_t)(uintptr_t)arena + offset;
    runtime_access(code_at(code), address, size, write, false, 0);
    expect(code_at(code), address, size, owner ? RAW_HEAP : RAW_OTHER, owner, "");
}

static void touch_named(uint32_t code, const void *at, uint32_t size, uint32_t kind, uint64_t key, const char *name)
{
    runtime_access(code_at(code), (uint64_t)(uintptr_t)at, size, true, false, 0);
    expect(code_at(code), (uint64_t)(uintptr_t)at, size, kind, key, name);
}

/* Blocks of a few bytes, of pages, and large ones. */
static void allocate_anywhere(void)
{
    uint64_t most = below(3) == 0 ? ARENA / 2 : below(2) ? 3 * 4096 : 100;
    uint64_t size = 1 + below((uint32_t)most), offset = below((uint32_t)(ARENA - size) / 16) * 16;
    if (below(4) == 0) /* in whole pages */
        offset &= ~4095ull;
    allocate(offset, size, code_at(100 + below(SITES)));
}

static void touch_anywhere(void)
{
    uint32_t size = 1u << below(5), code = below(CODES);
    uint64_t offset = below(ARENA - 16);
    if (below(4)) { /* where this code was before: it remembers */
        static uint64_t last[CODES];
        offset = last[code] = (last[code] + 8 * below(8)) % (ARENA - 16);
    }
    touch(code, offset, size, below(2));
}

static void live(unsigned steps)
{
    for (unsigned i = 0; i < steps; i++)
        if (below(64) == 0)
            allocate_anywhere();
        else
            touch_anywhere();
}

/* ---- resulting files --------------------------------------------------------------------------------------- */

static void *read_table(int fd, enum raw_table table, size_t row, uint64_t count)
{
    void *to = calloc(count + 1, row);
    if (pread(fd, to, row * count, (off_t)RAW_TABLE_AT(table)) != (ssize_t)(row * count))
        exit(3);
    return to;
}

static struct raw_head head;
static struct raw_object *objects;
static struct raw_thread *threads;
static struct raw_module *modules;

static const struct expected *find_expected(const struct mhsim_row *r, const struct raw_object *o)
{
    uint64_t key = o->kind == RAW_OTHER ? 0 : o->kind == RAW_MODULE_DATA ? modules[o->module].bias : o->address;
    for (size_t i = 0; i < life->count; i++) {
        const struct expected *e = &life->rows[i];
        if (e->code == r->code && e->core == r->core && e->kind == o->kind && e->key == key &&
            strcmp(e->name, o->name) == 0)
            return e;
    }
    return NULL;
}

static bool same(uint64_t got, uint64_t wanted, const char *what)
{
    if (got != wanted)
        printf("# %s: %llu, %llu wanted\n", what, (unsigned long long)got, (unsigned long long)wanted);
    return got == wanted;
}

/* Rows of the file written by this process; NULL: unreadable. */
static struct mhsim_row *read_own(unsigned number)
{
    char path[RAW_PATH + 100];
    snprintf(path, sizeof path, "%s/%d-%04u" RAW_SUFFIX, folder, (int)getpid(), number);
    int fd = open(path, O_RDONLY);
    if (fd < 0 || pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head)
        return printf("# %s: not to be read\n", path), NULL;
    objects = read_table(fd, RAW_OBJECTS, sizeof *objects, head.counts[RAW_OBJECTS]);
    threads = read_table(fd, RAW_THREADS, sizeof *threads, head.counts[RAW_THREADS]);
    modules = read_table(fd, RAW_MODULES, sizeof *modules, head.counts[RAW_MODULES]);
    struct mhsim_row *rows = read_table(fd, RAW_ROWS, sizeof *rows, head.counts[RAW_ROWS]);
    close(fd);
    return rows;
}

/* false: not as expected. */
static bool look_back(unsigned number)
{
    struct mhsim_row *rows = read_own(number);
    bool good = rows && same(head.seen, life->seen, "seen") && same(head.simulated, life->simulated, "simulated") &&
                same(head.lost, life->lost, "lost") && same(head.magic, RAW_MAGIC, "magic") &&
                same(head.ended, 1, "ended") && same(head.pid, (uint64_t)getpid(), "process") &&
                head.start_ns <= head.end_ns;
    size_t found = 0;
    for (uint64_t i = 0; i < head.counts[RAW_ROWS] && good; i++) {
        if (rows[i].levels[0].accesses == 0)
            continue;
        const struct expected *e = find_expected(&rows[i], &objects[rows[i].object]);
        found++;
        good = e && same(rows[i].levels[0].accesses, e->accesses, "accesses of a row") &&
               same(rows[i].split, e->split, "split ones of a row");
        if (!e)
            printf("# code %llx of core %u on an object of kind %u at %llx, '%s': nothing wanted\n",
                   (unsigned long long)(rows[i].code - bias), rows[i].core, objects[rows[i].object].kind,
                   (unsigned long long)objects[rows[i].object].address, objects[rows[i].object].name);
    }
    free(rows);
    return good && same(found, life->count, "rows");
}

/* ---- one life ------------------------------------------------------------------------------------------------ */

static const struct machine_memory one_level = {
    .level_count = 1, .levels = {{.name = "L1", .size = 1 << 16, .line = 64, .ways = 16, .next = MACHINE_NO_LEVEL}}};
static bool without_input; /* descriptor 0 is free: the first file that is opened has it */

static void begin_life(struct raw_orders orders, const char *name)
{
    char path[RAW_PATH + 100];
    snprintf(path, sizeof path, "%s/" RAW_ORDERS, folder);
    orders.magic = RAW_MAGIC;
    orders.size = sizeof orders;
    orders.machine = one_level;
    if (readlink("/proc/self/exe", orders.program, sizeof orders.program - 1) < 0)
        exit(2);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(&orders, sizeof orders, 1, f) != 1 || fclose(f) != 0)
        exit(2);
    memset(life, 0, sizeof *life);
    life->orders = orders;
    seed = 0x9e3779b97f4a7c15;
    for (const char *c = name; *c; c++)
        seed = seed * 31 + (unsigned char)*c;
    setenv(RAW_VARIABLE, folder, 1);
    if (without_input)
        close(0);
    if (!runtime_open(RAW_HOOKS) || *runtime_head()->command == '\0')
        exit(2);
}

static void end_life(const char *name)
{
    (void)name;
    runtime_close();
    exit(!look_back(0));
}

/* In a process of its own: was everything as expected? */
static void check_life(const char *name, const struct raw_orders *orders, void (*lived)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(200); /* (for endless waits) */
        begin_life(*orders, name);
        lived();
        end_life(name);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    if (status)
        printf("# ended with %d\n", status);
    CHECK_NAMED(status == 0, name);
}

static void lived_plainly(void)
{
    live(30000);
}

/* ---- stops, regions, signals, threads, forks -------------------------------------------------------------------- */

static void lived_with_stops(void)
{
    for (int i = 0; i < 40; i++) {
        live(below(700));
        life->stopped = below(2);
        runtime_measure(!life->stopped);
        runtime_region("", below(2)); /* no such region */
    }
}

static void lived_in_regions(void)
{
    for (int i = 0; i < 60; i++) {
        live(below(400));
        bool begins = below(2), other = below(4) == 0;
        runtime_region(other ? "other" : "solve", begins);
        if (other)
            continue;
        if (begins && life->depth++ == 0)
            life->times++;
        else if (!begins && life->depth > 0)
            life->depth--;
    }
}

static void lived_with_signals(void)
{
    for (int i = 0; i < 20; i++) {
        live(1 + below(300));
        runtime_me->busy = true; /* as in the simulator, when a signal comes */
        for (uint32_t k = below(5); k-- > 0; life->lost++)
            runtime_access(code_at(1), (uint64_t)(uintptr_t)arena, 8, false, false, 0);
        runtime_allocated((uint64_t)(uintptr_t)arena, 64, code_at(1)); /* is not seen */
        runtime_me->busy = false;
    }
}

static void *second_thread(void *steps)
{
    live(*(unsigned *)steps);
    return NULL;
}

static void lived_with_threads(void)
{
    live(5000);
    for (uint32_t i = 1; i < 4; i++) {
        unsigned steps = 1000 * i;
        pthread_t t;
        life->core = i;
        if (pthread_create(&t, NULL, second_thread, &steps) != 0 || pthread_join(t, NULL) != 0)
            exit(4);
        life->core = 0;
        live(777);
    }
    runtime_close();
    bool good = look_back(0) && same(head.counts[RAW_THREADS], 4, "threads");
    for (uint32_t i = 0; i < 4 && good; i++)
        good = same(threads[i].core, i, "core of a thread") && (i == 0) == (threads[i].tid == (uint64_t)getpid());
    exit(!good);
}

static void lived_with_a_child(void)
{
    live(3000);
    uint64_t owner[ARENA / 16];
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        runtime_forked();
        struct raw_orders orders = life->orders;
        memset(life, 0, sizeof *life); /* heap blocks inherited from the parent have no owner here */
        life->orders = orders;
        life->core = 0;
        live(2500);
        end_life("");
    }
    int status = -1;
    memcpy(owner, life->owner, sizeof owner);
    waitpid(pid, &status, 0);
    if (status)
        exit(5);
    live(3000);
}

/* ---- too little memory ----------------------------------------------------------------------------------------------- */

/* In the child of a fork: opening fails cleanly if any mapping is refused, for the child and for its own child. 9: no
   refusal. */
static int open_poorly(unsigned granted)
{
    made_memory.first = granted;
    made_memory.times = 1;
    made_memory.refused = 0;
    runtime_forked();
    if (made_memory.refused == 0)
        return runtime_on && runtime_head() ? 9 : 2;
    if (runtime_on || runtime_head())
        return 3;
    runtime_forked();
    runtime_settle();
    runtime_close();
    return runtime_on || runtime_head() ? 4 : 0;
}

static void lived_with_poor_children(void)
{
    live(1000);
    unsigned granted = 0;
    for (int status = 0; status == 0; granted++) {
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            _exit(open_poorly(granted));
        waitpid(pid, &status, 0);
        if (status && (!WIFEXITED(status) || WEXITSTATUS(status) != 9))
            exit(5);
    }
    live(1000);
    runtime_close();
    exit(!look_back(0) || granted < 8);
}

/* From some mapping on, no memory is available: accesses may lose their attribution, but each is counted. */
static unsigned granted_in_life;
static void lived_poorly(void)
{
    live(100);
    made_memory.first = granted_in_life;
    made_memory.times = UINT_MAX;
    live(6000);
    runtime_close();
    uint64_t sum = 0, wanted = 0;
    for (size_t i = 0; i < life->count; i++)
        wanted += life->rows[i].accesses;
    struct mhsim_row *rows = read_own(0);
    for (uint64_t i = 0; rows && i < head.counts[RAW_ROWS]; i++)
        sum += rows[i].levels[0].accesses;
    bool good = rows && same(sum, wanted, "accesses") && same(head.seen, life->seen, "seen");
    free(rows);
    exit(!good);
}

/* ---- special cases ----------------------------------------------------------------------------------------------- */

static void live_in_a_thread(unsigned steps)
{
    pthread_t t;
    if (pthread_create(&t, NULL, second_thread, &steps) != 0 || pthread_join(t, NULL) != 0)
        exit(4);
}

static void *settling_thread(void *nothing)
{
    runtime_settle();
    return nothing;
}

static void settle_by_another(void)
{
    pthread_t t;
    if (pthread_create(&t, NULL, settling_thread, NULL) != 0 || pthread_join(t, NULL) != 0)
        exit(4);
}

/* A thread that exits or execs waits until all earlier accesses are processed; if none is pending, the first thread
   continues unchanged. */
static void lived_settled(void)
{
    live(3000);
    runtime_settle();
    bool numbers = runtime_me->until > 0;
    uint32_t room = runtime_me->room;
    bool good = same(runtime_head()->seen, life->seen, "seen when it settled");
    settle_by_another();
    good = good && (numbers || same(runtime_me->room, room, "room"));
    live(1777);
    settle_by_another();
    good = good && same(runtime_head()->seen, life->seen, "seen when another settled");
    live(3000);
    runtime_close();
    exit(!good || !look_back(0));
}

/* With the barrier accesses may be deferred; without it each is simulated at once. */
static void lived_waiting(void)
{
    live(100);
    if ((runtime_me->room > 0) != (kernel == WITH_MEMBARRIER) || (kernel != WITH_MEMBARRIER && runtime_me->waiting > 0))
        exit(6);
    live(3000);
}

static struct runtime_thread *first;
static volatile bool goes_on, has_yielded;

static void let_first_out(void)
{
    first->busy = false;
}

/* The second thread waits for the first, which is at it, and lets it run. */
static void lived_busily(void)
{
    live(100);
    first = runtime_me;
    first->busy = true;
    instead_of_yielding = let_first_out;
    life->core = 1;
    live_in_a_thread(50);
    instead_of_yielding = NULL;
    life->core = 0;
    live(100);
}

static void note_yield(void)
{
    has_yielded = true;
}

/* Called by the owner of the lock. */
static void let_other_try(void)
{
    goes_on = true;
    while (!has_yielded)
        sched_yield();
}

static void *trying_thread(void *address)
{
    runtime_access(code_at(7), (uint64_t)(uintptr_t)address, 8, false, false, 0);
    while (!goes_on)
        sched_yield();
    runtime_access(code_at(8), (uint64_t)(uintptr_t)address, 8, false, false, 0);
    return NULL;
}

/* The maps are read with the lock held: other threads meanwhile yield. */
static void lived_locked(void)
{
    pthread_t t;
    uint64_t address = (uint64_t)(uintptr_t)arena;
    live(100);
    instead_of_yielding = note_yield;
    if (pthread_create(&t, NULL, trying_thread, arena) != 0)
        exit(4);
    while (runtime_me->room > 0 || runtime_head()->counts[RAW_THREADS] < 2) /* it has begun */
        sched_yield();
    while_reading_maps = let_other_try;
    for (uint64_t i = 0; while_reading_maps && i < 10000; i++)
        touch_named(3, (void *)(uintptr_t)(16 + 16 * i), 4, RAW_OTHER, 0, "");
    if (!has_yielded || pthread_join(t, NULL) != 0)
        exit(7);
    life->core = 1;
    for (uint32_t code = 7; code < 9; code++)
        expect(code_at(code), address, 8, life->owner[0] ? RAW_HEAP : RAW_OTHER, life->owner[0], "");
    life->core = 0;
}

/* ---- attribution of addresses ------------------------------------------------------------------------------------ */

enum { STACK_BYTES = 1 << 18 };
int counting_numbers[100];
static char counting_text[33];

/* A sanitizer enlarges static variables. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
static bool holds(uint64_t bytes, uint64_t wanted)
{
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
    return bytes >= wanted;
#else
    return same(bytes, wanted, "bytes of a static");
#endif
}

/* A thread on a stack provided by the test: addresses just before and after it do not belong to it, whatever stack its
   code used before. */
static void *thread_on_stack(void *at)
{
    uint8_t *stack = at, *end = stack + STACK_BYTES;
    for (unsigned i = 0; i < 40; i++) {
        uint32_t code = below(3);
        switch (below(4)) {
        case 0:
            touch_named(code, stack - 1, 1, RAW_OTHER, 0, "");
            break;
        case 1:
            touch_named(code, stack, 1, RAW_STACK, 0, "");
            break;
        case 2:
            touch_named(code, end - 1, 1, RAW_STACK, 0, "");
            break;
        default:
            touch_named(code, end, 1, RAW_OTHER, 0, "");
        }
    }
    return NULL;
}

static void lived_on_a_stack(void)
{
    pthread_t t;
    pthread_attr_t a;
    uint8_t *around = mmap(NULL, 3 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    live(10);
    life->core = 1;
    if (around == MAP_FAILED || pthread_attr_init(&a) != 0 ||
        pthread_attr_setstack(&a, around + STACK_BYTES, STACK_BYTES) != 0 ||
        pthread_create(&t, &a, thread_on_stack, around + STACK_BYTES) != 0 || pthread_join(t, NULL) != 0)
        exit(4);
    life->core = 0;
}

/* A heap block at the address of a static variable, and the unnamed data of two files: objects are identified by kind
   and file. */
static void lived_alike(void)
{
    Dl_info of;
    const void *elsewhere = dlsym(RTLD_DEFAULT, "qsort_r");
    uint64_t numbers = (uint64_t)(uintptr_t)counting_numbers;
    allocate(0, 64, numbers);
    for (unsigned i = 0; i < 3; i++) {
        touch(i, 0, 8, false);
        touch_named(i, counting_numbers, 4, RAW_STATIC, numbers, "counting_numbers");
        touch_named(i, (const void *)(uintptr_t)lived_alike, 1, RAW_MODULE_DATA, bias, "");
        if (elsewhere && dladdr(elsewhere, &of))
            touch_named(i, elsewhere, 1, RAW_MODULE_DATA, (uint64_t)(uintptr_t)of.dli_fbase, "");
    }
}

/* The maps are read again only for unknown addresses: a file mapped late is found at once, whatever was in the heap
   there before. */
static void lived_on_a_late_module(void)
{
    enum { ROOM = 1 << 28 };
    uint8_t *at = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int fd = open("/proc/self/exe", O_RDONLY);
    allocate(0, ARENA, code_at(100));
    for (unsigned i = 0; i < 3000; i++)
        touch(below(CODES), below(ARENA - 16), 8, false);
    if (at == MAP_FAILED || mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        exit(4);
    close(fd);
    touch_named(1, at, 1, RAW_MODULE_DATA, (uint64_t)(uintptr_t)at, "");
}

static void lived_on_variables(void)
{
    char local[64];
    counting_text[0] = 1;
    for (unsigned i = 0; i < 2000; i++) {
        uint32_t k = below(100), code = below(3);
        touch_named(code, &counting_numbers[k], 4, RAW_STATIC, (uint64_t)(uintptr_t)counting_numbers,
                    "counting_numbers");
        touch_named(code, &counting_text[k % 33], 1, RAW_STATIC, (uint64_t)(uintptr_t)counting_text, "counting_text");
        touch_named(code, &local[k % 64], 1, RAW_STACK, 0, "");
        uint64_t elsewhere = (uint64_t)(uintptr_t)arena + k * 8; /* reported to be on another stack */
        runtime_access(code_at(code), elsewhere, 8, false, true, 0);
        expect(code_at(code), elsewhere, 8, RAW_STACK, 0, "");
        touch_named(code, (void *)(uintptr_t)16, 4, RAW_OTHER, 0, "");
    }
    runtime_close();
    bool good = look_back(0);
    for (uint64_t i = 0; i < head.counts[RAW_OBJECTS] && good; i++)
        if (objects[i].kind == RAW_STATIC)
            good = objects[i].count == 1 &&
                   holds(objects[i].bytes, strcmp(objects[i].name, "counting_text") == 0 ? 33 : 400);
    exit(!good);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

enum { IN_FRAMES = 8 * CODES, STATICS = 5, FRAMES_MOST = 80, WORDS = 8192 };
static struct mhsim_variable variables[STATICS + IN_FRAMES];
static struct frame_made {
    uint64_t fp, code; /* code: in it */
} frames[FRAMES_MOST];
static unsigned frame_count;

/* Of the program's procedures, 0x40 bytes each: eight variables, some nested, some in scope for a part of it. */
static void make_variables(void)
{
    uint64_t numbers = (uint64_t)(uintptr_t)counting_numbers - bias;
    for (int i = 0; i < STATICS; i++) {
        variables[i] = (struct mhsim_variable){.lo = (int64_t)numbers + 80 * i, .hi = (int64_t)numbers + 80 * i + 80};
        snprintf(variables[i].name, sizeof variables[i].name, "member%d", i);
    }
    for (int i = STATICS; i < STATICS + IN_FRAMES; i++) {
        struct mhsim_variable *v = &variables[i];
        uint64_t from = 0x1000 + 0x40 * (uint64_t)((i - STATICS) / 8);
        int64_t lo = -160 + (int64_t)below(150);
        *v = (struct mhsim_variable){.from = from, .to = from + 0x40, .lo = lo, .hi = lo + 1 + below(60)};
        v->code_from = below(2) ? from : from + below(0x20);
        v->code_to = below(2) ? from + 0x40 : from + 0x20 + below(0x20);
        snprintf(v->name, sizeof v->name, "local%d", i);
    }
}

/* As in runtime_test.c: the smallest one there; of equals the last. */
static const struct mhsim_variable *variable_at(uint64_t code, int64_t offset)
{
    const struct mhsim_variable *best = NULL;
    uint64_t pc = code - bias;
    for (int i = STATICS + IN_FRAMES; i-- > STATICS;) {
        const struct mhsim_variable *v = &variables[i];
        bool known = pc >= v->from && pc < v->to && pc >= v->code_from && pc < v->code_to;
        if (known && v->lo <= offset && offset < v->hi && (!best || v->hi - v->lo < best->hi - best->lo))
            best = v;
    }
    return best;
}

/* From the outermost frame down; the frame size depends on the procedure and its call site. The last one has code of
   its own. */
static void make_frames(uint64_t *stack, uint64_t code)
{
    unsigned depth = below(8) ? 1 + below(6) : 60 + below(12);
    uint64_t fp = (uint64_t)(uintptr_t)&stack[WORDS - 40 - 8 * below(4)], up = below(2) ? 0 : fp - 8;
    for (unsigned i = depth; i-- > 0;) {
        uint64_t *at = (uint64_t *)(uintptr_t)fp;
        frames[i] = (struct frame_made){fp, i ? code_at(below(CODES)) + below(0x3f) : code};
        at[0] = up;
        at[1] = i + 1 < depth ? frames[i + 1].code + 1 : code_at(1);
        up = fp;
        fp -= 96 + 16 * ((frames[i].code - bias) * 2654435761u >> 16 & 7);
    }
    frame_count = depth;
}

/* The same frames are of others. */
static void change_callers(void)
{
    for (unsigned i = 1; i < frame_count; i++) {
        frames[i].code = code_at(below(CODES)) + below(0x3f);
        ((uint64_t *)(uintptr_t)frames[i - 1].fp)[1] = frames[i].code + 1;
    }
}

static void touch_in_frames(uint64_t address, uint64_t frame)
{
    uint64_t code = frames[0].code;
    const struct mhsim_variable *v = NULL;
    unsigned i = 0;
    while (i < frame_count && address >= frames[i].fp + 16)
        i++;
    if (i < frame_count && i <= 64 && frame == frames[0].fp)
        v = variable_at(frames[i].code, (int64_t)(address - frames[i].fp) - 16);
    runtime_access(code, address, 4, true, false, frame);
    expect(code, address, 4, RAW_STACK, v ? (uint64_t)(v - variables) + 1 : 0, v ? v->name : "");
}

static void lived_in_frames(void)
{
    uint64_t stack[WORDS];
    memset(stack, 0, sizeof stack);
    for (unsigned i = 0; i < 1500; i++) {
        make_frames(stack, code_at(below(CODES)) + below(2) * 0x18);
        uint64_t lowest = frames[0].fp - 200, highest = frames[frame_count - 1].fp;
        for (unsigned k = below(12); k-- > 0;) {
            uint64_t frame = below(20) ? frames[0].fp : below(2) ? frames[0].fp + 4 : 64;
            uint64_t near = frames[below(frame_count)].fp - 160 + below(200);
            uint64_t outside = (uint64_t)(uintptr_t)&stack[WORDS - 1 - below(16)];
            uint64_t any = lowest + below((uint32_t)(highest - lowest));
            uint64_t address = below(2) ? near : below(8) ? any : outside;
            touch_in_frames(address, frame);
            if (below(3) == 0) {
                change_callers();
                touch_in_frames(address, frame);
            }
        }
        uint32_t n = below(100);
        touch_named(2, &counting_numbers[n], 4, RAW_STATIC, (uint64_t)variables[n / 20].lo + bias,
                    variables[n / 20].name);
    }
    runtime_close();
    bool good = look_back(0);
    for (uint64_t i = 0; i < head.counts[RAW_OBJECTS] && good; i++)
        if (objects[i].kind == RAW_STACK && objects[i].address) {
            const struct mhsim_variable *v = &variables[objects[i].address - 1];
            good = same(objects[i].bytes, (uint64_t)(v->hi - v->lo), "bytes of a variable");
        }
    exit(!good);
}

static void check_frames(void)
{
    struct raw_variables its = {.first = 0, .statics = STATICS, .frames = IN_FRAMES};
    struct raw_orders o = {.variable_files = 1, .variables = STATICS + IN_FRAMES};
    char path[RAW_PATH + 100];
    snprintf(path, sizeof path, "%s/" RAW_VARIABLES, folder);
    make_variables();
    FILE *f = fopen(path, "wb");
    if (CHECK(f && readlink("/proc/self/exe", its.path, sizeof its.path - 1) > 0)) {
        CHECK(fwrite(&its, sizeof its, 1, f) == 1 && fwrite(variables, sizeof variables, 1, f) == 1);
        CHECK_INT(fclose(f), 0);
        check_life("variables in frames", &o, lived_in_frames);
    }
    unlink(path);
}

/* The module of an allocation's caller is looked up at the allocation, not at the first access. */
static void lived_unseen(void)
{
    allocate(0, 64, code_at(100));
    runtime_close();
    exit(!look_back(0) || head.counts[RAW_MODULES] == 0);
}

/* Blocks of one site: how many, and the largest. */
static void lived_on_blocks(void)
{
    touch(3, ARENA - 64, 8, false); /* without an owner yet */
    touch(4, ARENA - 4096 - 64, 8, false);
    allocate(ARENA - 64, 32, code_at(500));
    allocate(ARENA - 2 * 4096, 4096, code_at(501));
    touch(3, ARENA - 64, 8, false);
    touch(4, ARENA - 4096 - 64, 8, false);
    static const uint32_t sizes[] = {17, 4096, 90000, 16, 1, 90001, 65536};
    uint64_t offset = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        allocate(offset, sizes[i], code_at(200 + i % 2));
        touch(0, offset, 1, true);
        touch(1, offset + sizes[i] - 1, 1, true);
        offset += (sizes[i] + 31) & ~15u;
    }
    for (int i = 0; i < 20; i++) { /* more large ones than are kept, in turn, and one removed in the middle */
        allocate((uint64_t)(i % 3) * 65536, 65536, code_at(300 + below(5)));
        for (int k = 0; k < 30; k++)
            touch(below(3), below(3 * 65536), 8, false);
    }
    allocate(65536 + 4096 + 32, 32, code_at(400));
    for (uint64_t at = 65536; at < 65536 + 3 * 4096; at += 16)
        touch(2, at, 16, false);
    runtime_close();
    bool good = look_back(0);
    for (uint64_t i = 0; i < head.counts[RAW_OBJECTS] && good; i++)
        if (objects[i].kind == RAW_HEAP && objects[i].address == code_at(200))
            good = same(objects[i].count, 4, "blocks") && same(objects[i].bytes, 90000, "the largest block");
        else if (objects[i].kind == RAW_HEAP && objects[i].address == code_at(201))
            good = same(objects[i].count, 3, "blocks") && same(objects[i].bytes, 90001, "the largest block");
    exit(!good);
}

/* ---- all ------------------------------------------------------------------------------------------------------------ */

static void check_orders(void)
{
    struct raw_orders o = {0};
    check_life("blocks and accesses, all counted", &o, lived_plainly);
    check_life("each block's place", &o, lived_on_blocks);
    check_life("a block that nobody touches", &o, lived_unseen);
    check_life("statics, the stack, and what is nothing", &o, lived_on_variables);
    without_input = true;
    check_life("statics, where no input is open", &o, lived_on_variables);
    check_life("a child, where no input is open", &o, lived_with_a_child);
    without_input = false;
    check_life("stops", &o, lived_with_stops);
    check_life("signals in the simulator", &o, lived_with_signals);
    check_life("threads", &o, lived_with_threads);
    check_life("a child", &o, lived_with_a_child);
    check_life("children without memory", &o, lived_with_poor_children);
    for (granted_in_life = 0; granted_in_life < 12; granted_in_life++)
        check_life("little memory", &o, lived_poorly);
    check_life("a stack's ends", &o, lived_on_a_stack);
    check_life("objects alike", &o, lived_alike);
    check_life("a module that comes late", &o, lived_on_a_late_module);
    for (uint64_t batches = 1; batches < 4; batches++) { /* to the very access */
        o = (struct raw_orders){.window = batches * BATCH};
        check_life("a window of batches", &o, lived_plainly);
        o = (struct raw_orders){.burst = BATCH, .period = (batches + 1) * BATCH, .warm_up = BATCH};
        check_life("bursts of batches", &o, lived_plainly);
    }
    o = (struct raw_orders){0};
    check_life("what waits is settled", &o, lived_settled);
    check_life("a thread that comes while the first is at it", &o, lived_busily);
    check_life("a thread that waits for the lock", &o, lived_locked);
    for (kernel = WITHOUT_MEMBARRIER; kernel <= WITH_MEMBARRIER; kernel++)
        check_life(kernel == WITH_MEMBARRIER ? "with a barrier" : "without a barrier", &o, lived_waiting);
    kernel = AS_IT_IS;
    o.delay = 100000;
    check_life("what is numbered is settled", &o, lived_settled);
    for (uint64_t delay = 0; delay < 1000; delay += 998) {
        o = (struct raw_orders){.delay = delay};
        check_life("a delay", &o, lived_plainly);
        o.window = 1 + delay * 3;
        check_life("a window", &o, lived_plainly);
        check_life("a window, with stops", &o, lived_with_stops);
        check_life("a window, with threads", &o, lived_with_threads);
        check_life("a window, with a child", &o, lived_with_a_child);
        o = (struct raw_orders){.delay = delay, .burst = 100 + delay, .period = 2000 + 2 * delay};
        check_life("bursts", &o, lived_plainly);
        o.warm_up = 501;
        check_life("bursts after warming up", &o, lived_plainly);
        check_life("bursts, with threads", &o, lived_with_threads);
        o.period = o.burst + o.warm_up;
        check_life("bursts without a pause", &o, lived_with_stops);
    }
    for (uint32_t time = 0; time < 4; time++) {
        o = (struct raw_orders){.region = "solve", .region_time = time, .delay = time % 2 * 1000};
        check_life("a region", &o, lived_in_regions);
    }
    o = (struct raw_orders){.range_count = 2,
                            .ranges = {{0x1000, 0x1080, "runtime_test"}, {0x1101, 0x1180, "runtime/runtime_test"}}};
    check_life("some functions", &o, lived_plainly);
    o.range_count = 4;
    o.ranges[2] = (struct raw_range){0, 1 << 20, "time_test"};
    o.ranges[3] = (struct raw_range){0, 1 << 20, "x/runtime_test"};
    check_life("some functions, with threads", &o, lived_with_threads);
    o.window = 9000;
    check_life("some functions, in a window", &o, lived_plainly);
}

/* A path one character longer than the limit, in a complete environment. */
static bool refuses_longer_folder(void)
{
    char longer[RAW_PATH + 2], path[RAW_PATH + 100];
    struct raw_orders o = {.magic = RAW_MAGIC, .size = sizeof o, .machine = one_level};
    snprintf(longer, sizeof longer, "%sx", folder);
    snprintf(path, sizeof path, "%s/" RAW_ORDERS, longer);
    FILE *f = mkdir(longer, 0700) == 0 ? fopen(path, "wb") : NULL;
    bool good = f && fwrite(&o, sizeof o, 1, f) == 1 && fclose(f) == 0;
    setenv(RAW_VARIABLE, longer, 1);
    good = good && !runtime_open(RAW_HOOKS);
    setenv(RAW_VARIABLE, folder, 1);
    return good && unlink(path) == 0 && rmdir(longer) == 0;
}

/* Without orders, or with orders of another version. */
static void check_closed(void)
{
    char path[RAW_PATH + 100];
    snprintf(path, sizeof path, "%s/" RAW_ORDERS, folder);
    unsetenv(RAW_VARIABLE);
    CHECK(!runtime_open(RAW_HOOKS));
    setenv(RAW_VARIABLE, "/nowhere", 1);
    CHECK(!runtime_open(RAW_HOOKS));
    setenv(RAW_VARIABLE, folder, 1);
    struct raw_orders o = {.magic = RAW_MAGIC, .size = sizeof o + 1};
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(&o, sizeof o, 1, f) == 1 && fclose(f) == 0);
    CHECK(!runtime_open(RAW_HOOKS));
    CHECK(refuses_longer_folder());
    CHECK(!runtime_on && runtime_head() == NULL);
    runtime_allocated(16, 16, 16); /* none of these has any effect */
    runtime_region("", true);
    runtime_region("solve", true);
    runtime_settle();
    runtime_forked();
    runtime_close();
    unlink(path);
}

static uint64_t find_bias(void)
{
    char line[700], own[600] = "";
    unsigned long long lo = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    if (!f || readlink("/proc/self/exe", own, sizeof own - 1) < 0)
        exit(2);
    while (fgets(line, sizeof line, f))
        if (strstr(line, own) && sscanf(line, "%llx", &lo) == 1)
            break;
    fclose(f);
    return lo;
}

/* Below `top`, one character shorter than the limit. */
static bool make_long_folder(const char *top)
{
    size_t n = (size_t)snprintf(folder, sizeof folder, "%s", top);
    bool good = true;
    while (n < RAW_PATH - 1) {
        size_t more = RAW_PATH - 1 - n > 201 ? 100 : RAW_PATH - 1 - n;
        folder[n] = '/';
        memset(folder + n + 1, 'x', more - 1);
        folder[n += more] = '\0';
        good = good && mkdir(folder, 0700) == 0;
    }
    return good;
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    char command[RAW_PATH + 100], top[256];
    snprintf(top, sizeof top, "%s/hpcview-counting.XXXXXX", tmp ? tmp : "/tmp");
    bias = find_bias();
    if (!CHECK(mkdtemp(top) != NULL) || !CHECK(make_long_folder(top)))
        return tap_done();
    arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    life = mmap(NULL, sizeof *life, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_closed();
    check_orders();
    check_frames();
    snprintf(command, sizeof command, "rm -r '%s'", top);
    CHECK_INT(system(command), 0);
    return tap_done();
}
