/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths from handlers and from perf records to rows: a stack that grows and shrinks at random is walked (by a fake
 * unwinder), and for any interleaving of queueing and draining, the rows equal the planned paths.
 */
#include "hpcprof/recorder/output/paths.h"
#include "hpcprof/recorder/unwind/objects.h"
#include "tests/tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

struct recorder hpcrec = {.dir.fd = -1, .file_fd = -1, .temp_fd = -1};
_Thread_local uint64_t hpcrec_waiting_pc __attribute__((tls_model("initial-exec")));

static uint32_t drawn = 7;
static uint32_t draw(uint32_t below)
{
    drawn = drawn * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)drawn * below >> 32);
}

/* ---- fakes of the rest of the recorder ------------------------------------------------------------------- */

enum { ROWS = 200000, CUT = 1000000 };
static struct {
    uint64_t pc;
    uint32_t parent;
} rows[ROWS];
static uint32_t row_count, rows_most = ROWS;

uint32_t hpcrec_context(uint64_t pc, uint32_t parent)
{
    static uint32_t slots[1 << 19]; /* row + 1 */
    uint32_t at = (uint32_t)((pc * 0x9e3779b97f4a7c15u ^ parent * 0x85ebca6bull) >> 20) % (1 << 19);
    for (; slots[at]; at = (at + 1) % (1 << 19))
        if (rows[slots[at] - 1].pc == pc && rows[slots[at] - 1].parent == parent)
            return slots[at] - 1;
    if (row_count == rows_most)
        return CONTEXT_NONE;
    rows[row_count].pc = pc;
    rows[row_count].parent = parent;
    slots[at] = ++row_count;
    return row_count - 1;
}
uint32_t hpcrec_context_cut(unsigned why)
{
    return CUT + why;
}
static int missing;
void hpcrec_missing(const char *sentence)
{
    missing += *sentence != 0;
}
static struct unwind_map map;
const struct unwind_map *hpcrec_unwind_map(void)
{
    return &map;
}
static int refreshed, refreshed_all;
static bool (*asks)(void); /* whether handlers walk */
void hpcrec_unwind_refresh(bool compile_all, bool (*in_use)(void))
{
    asks = in_use;
    refreshed++;
    refreshed_all += compile_all;
}
const struct unwind_rows *hpcrec_unwind_missing(const struct unwind_object *o)
{
    (void)o;
    return NULL;
}
/* As the kernel reads: whatever is mapped, of which a sanitizer's borders are a part. */
__attribute__((no_sanitize_address)) bool hpcrec_peek(uint64_t address, void *to, size_t n)
{
    const volatile char *from = (const volatile char *)(uintptr_t)address;
    if (address < 0x10000) /* not mapped */
        return false;
    for (size_t i = 0; i < n; i++)
        ((char *)to)[i] = from[i];
    return true;
}
static struct thread *each_thread;
void hpcrec_threads_each(void (*each)(struct thread *, void *ctx), void *ctx)
{
    each(each_thread, ctx);
}

/* The fake walk returns the plan, outermost first. */
enum { DEEP = 200 };
static uint64_t plan[DEEP];
static uint32_t depth;
static enum unwind_end planned_end;
static struct unwind_registers walked_from;
static struct unwind_memory walked_in;
static int walks;
static bool leaves_out_inner;
static bool walking_seen; /* whether a walk is in progress, as seen during the walk */
static unsigned unnoticed;

const struct unwind_numbers unwind_numbers[] = {[UNWIND_X86_64] = {.sp = 7}, [UNWIND_AARCH64] = {.sp = 31}};
enum unwind_end unwind_walk(const struct unwinder *u, const struct unwind_registers *r, const struct unwind_memory *m,
                            struct unwind_path *path)
{
    (void)u;
    walks++;
    unnoticed += walking_seen && !asks();
    walked_from = *r;
    walked_in = *m;
    leaves_out_inner = path->skip_inner;
    for (uint32_t i = depth; i-- > 0 && path->count < path->room;)
        path->word[(path->at + path->count++) & path->mask] = plan[i];
    return planned_end;
}

/* Some frames return, and others are called. */
static void change_stack(void)
{
    depth -= draw(depth < 5 ? depth + 1 : 5);
    for (uint32_t n = draw(7); n > 0 && depth < DEEP; n--)
        plan[depth++] = 0x1000 + draw(12);
    planned_end = draw(9) ? UNWIND_COMPLETE : UNWIND_DAMAGED;
}

/* ---- by handlers ----------------------------------------------------------------------------------------- */

struct expected {
    struct queued entry;
    uint64_t plan[DEEP];
    uint32_t depth;
    enum unwind_end end;
};

/* From the row outwards: the innermost frames of the plan, all of them or, if marked as too long, as many as were
   queued. */
static bool is_path(uint32_t row, const struct expected *e, bool *short_one)
{
    uint32_t i = e->depth;
    for (; row < CUT && i > 0; row = rows[row].parent)
        if (rows[row].pc != e->plan[--i])
            return false;
    *short_one = row == CUT + UNWIND_LONG;
    return *short_one ? e->depth - i == e->entry.fresh
                      : i == 0 && row == (e->end == UNWIND_COMPLETE ? CONTEXT_NONE : CUT + e->end);
}

static void test_handlers(void)
{
    enum { QUEUED = 2000 };
    static struct expected queue[QUEUED];
    static struct thread t;
    ucontext_t context;
    size_t n = 0, wrong = 0, shorter = 0, taken = 0, shared = 0;
    memset(&context, 0, sizeof context);
    hpcrec_path_put(&t, &queue[0].entry, &context); /* call paths are disabled: no effect */
    CHECK(walks == 0 && hpcrec_path_take(&t, &queue[0].entry) == CONTEXT_NONE);
    hpcrec.config.call_paths = true;
    hpcrec.config.event_count = 1;
    hpcrec.config.events[0].conf.kind = RECORD_CPUTIME;
    hpcrec_paths_create(&t);
    CHECK(t.paths != NULL && t.ring_paths == t.paths);
    each_thread = &t;
    hpcrec_paths_refresh();
    CHECK(!asks());
    for (int i = 0; i < 20000; i++) {
        struct expected *e = &queue[n++];
        change_stack();
        *e = (struct expected){.depth = depth, .end = planned_end};
        memcpy(e->plan, plan, sizeof plan);
        walking_seen = true;
        hpcrec_path_put(&t, &e->entry, &context);
        walking_seen = false;
        shared += e->entry.shared;
        /* occasionally later than the capacity permits */
        if (n == QUEUED || (i < 15000 && draw(100) == 0) || i == 19999) {
            for (size_t k = 0; k < n; k++) {
                bool short_one = false;
                wrong += !is_path(hpcrec_path_take(&t, &queue[k].entry), &queue[k], &short_one);
                shorter += short_one;
                taken++;
            }
            n = 0;
        }
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(unnoticed, 0);
    CHECK_INT(taken, 20000);
    CHECK(shorter < 5000);
    CHECK(shared > 20000); /* most of a path is the path before */
    CHECK(!asks());
    CHECK_NAMED(!leaves_out_inner, "nothing is waited for");
    hpcrec_waiting_pc = 5;
    hpcrec_path_put(&t, &queue[0].entry, &context);
    hpcrec_waiting_pc = 0;
    CHECK_NAMED(leaves_out_inner, "what waits is called by our own functions, which are left out with it");
    hpcrec_paths_free(&t);
}

/* A queue that is not drained: as much as fits is queued, innermost frames first, and marked as cut. */
static void test_no_room(void)
{
    static struct thread t;
    static struct queued entries[2 * PATH_WORDS / DEEP + 2];
    size_t n = sizeof entries / sizeof *entries, words = 0, cut = 0;
    bool sound = true;
    ucontext_t context;
    memset(&context, 0, sizeof context);
    hpcrec_paths_create(&t);
    depth = DEEP;
    planned_end = UNWIND_COMPLETE;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < DEEP; k++)
            plan[k] = 0x100000 + i % 2; /* nothing in common with the previous path */
        hpcrec_path_put(&t, &entries[i], &context);
        words += entries[i].fresh;
        bool whole = entries[i].fresh == DEEP;
        cut += !whole;
        sound = sound && entries[i].shared == 0 && entries[i].path_end == (whole ? UNWIND_COMPLETE : UNWIND_LONG);
    }
    CHECK_INT(words, PATH_WORDS);
    CHECK(sound && cut == n - PATH_WORDS / DEEP);
    for (size_t i = 0; i < n; i++) {
        uint32_t row = hpcrec_path_take(&t, &entries[i]), frames = 0;
        for (; row < CUT; row = rows[row].parent)
            frames++;
        sound = sound && frames == entries[i].fresh && (frames == DEEP) == (row == CONTEXT_NONE);
    }
    CHECK(sound);
    hpcrec_paths_free(&t);
}

/* A queue that is full to the last word: nothing is cut, and the next path shares frames as usual. */
static void test_full(void)
{
    enum { EACH = 128, ENTRIES = PATH_WORDS / EACH };
    static struct thread t;
    static struct queued entries[ENTRIES], next;
    bool whole = true;
    ucontext_t context;
    memset(&context, 0, sizeof context);
    hpcrec_paths_create(&t);
    depth = EACH;
    planned_end = UNWIND_COMPLETE;
    for (size_t i = 0; i < ENTRIES; i++) {
        for (uint32_t k = 0; k < EACH; k++)
            plan[k] = 0x200000 + i % 2;
        hpcrec_path_put(&t, &entries[i], &context);
        whole = whole && entries[i].fresh == EACH && entries[i].path_end == UNWIND_COMPLETE;
    }
    CHECK(whole);
    hpcrec_path_put(&t, &next, &context);
    CHECK(next.fresh == 0 && next.shared == EACH && next.path_end == UNWIND_COMPLETE);
    hpcrec_paths_free(&t);
}

/* Rows are renumbered, including the shared frames of queued paths; the next path is queued in full. */
static void test_moved(void)
{
    static struct thread t;
    static uint32_t moved[ROWS];
    struct queued first = {0}, second = {0}, third = {0};
    ucontext_t context;
    memset(&context, 0, sizeof context);
    hpcrec_paths_create(&t);
    each_thread = &t;
    depth = 3;
    planned_end = UNWIND_COMPLETE;
    for (uint32_t i = 0; i < 3; i++)
        plan[i] = 0x7000 + i;
    hpcrec_path_put(&t, &first, &context);
    plan[2] = 0x7009;
    hpcrec_path_put(&t, &second, &context);
    CHECK(first.fresh == 3 && first.shared == 0 && second.fresh == 1 && second.shared == 2);
    hpcrec_path_take(&t, &first);
    uint32_t before = row_count;
    for (uint32_t i = 0; i < before; i++)
        moved[i] = hpcrec_context(0x900000 + i, CONTEXT_NONE);
    uint32_t middle = hpcrec_context(0x7001, hpcrec_context(0x7000, CONTEXT_NONE));
    hpcrec_paths_moved(moved);
    uint32_t row = hpcrec_path_take(&t, &second);
    CHECK(rows[row].pc == 0x7009 && rows[row].parent == moved[middle]);
    hpcrec_path_put(&t, &third, &context);
    CHECK(third.fresh == 3 && third.shared == 0);
    row = hpcrec_path_take(&t, &third);
    CHECK(rows[row].pc == 0x7009 && rows[row].parent == middle);
    /* context limit reached: the reason for the incomplete path is recorded, here and for paths that share it */
    rows_most = row_count;
    plan[1] = 0x8001;
    hpcrec_path_put(&t, &first, &context);
    CHECK_INT(hpcrec_path_take(&t, &first), CUT + UNWIND_FULL);
    plan[2] = 0x8002;
    hpcrec_path_put(&t, &second, &context);
    CHECK(second.shared == 2);
    CHECK_INT(hpcrec_path_take(&t, &second), CUT + UNWIND_FULL);
    rows_most = ROWS;
    hpcrec_paths_free(&t);
}

/* A stack that is not known to be the thread's own is read through the kernel, which checks the addresses. */
static void test_other_stack(void)
{
#if defined __x86_64__
    static struct thread t;
    static uint64_t far[300];
    struct queued entry = {0};
    ucontext_t context;
    memset(&context, 0, sizeof context);
    hpcrec_paths_create(&t);
    uint64_t value = 0;
    for (size_t i = 0; i < 300; i++)
        far[i] = i + 1;
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)far;
    context.uc_mcontext.gregs[REG_RIP] = 0x1234;
    context.uc_mcontext.gregs[REG_RBX] = 33;
    hpcrec_path_put(&t, &entry, &context);
    CHECK(walked_from.pc == 0x1234 && walked_from.reg[3] == 33 && walked_from.reg[7] == (uint64_t)(uintptr_t)far);
    CHECK_INT(walked_from.known, 0xffff);
    CHECK(!walked_in.bytes && walked_in.other);
    bool same = true;
    for (size_t i = 0; i < 299; i++) /* at any address, across the chunks that are read at once, too */
        for (size_t k = 0; k < 8; k += 3) {
            memcpy(&value, (const char *)&far[i] + k, 8);
            uint64_t got = 0;
            same = same && walked_in.other(walked_in.ctx, (uint64_t)(uintptr_t)&far[i] + k, &got) && got == value;
        }
    CHECK(same);
    CHECK(!walked_in.other(walked_in.ctx, 0x800, &value));
    CHECK(walked_in.other(walked_in.ctx, (uint64_t)(uintptr_t)&far[5], &value) && value == 6);
    hpcrec_paths_free(&t);
#else
    SKIP("registers of a context", "of x86-64");
#endif
}

/* ---- the thread's own stack ------------------------------------------------------------------------------------------ */

#if defined __x86_64__
/* Whose memory it is that a handler finds: the thread's own from the stack pointer on, up to `high`. */
static void check_stack(struct thread *t, uint64_t low, uint64_t high)
{
    const uint64_t pointers[] = {low - 8, low - 1, low, low + 8, high - 8, high - 1, high, high + 8, 0x5000};
    ucontext_t context;
    memset(&context, 0, sizeof context);
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
        struct queued entry;
        uint64_t sp = pointers[i];
        bool own = sp >= low && sp < high;
        context.uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
        hpcrec_path_put(t, &entry, &context);
        hpcrec_path_take(t, &entry);
        CHECK(walked_in.bytes == (own ? (const uint8_t *)(uintptr_t)sp : NULL));
        CHECK(!own || (walked_in.begin == sp && walked_in.end == high));
    }
}

/* Main thread: from the stack end reported by the C library, three quarters of the stack limit. */
extern void *__libc_stack_end;
static void test_main_stack(void)
{
    static const uint64_t most = 96 << 20;
    static const rlim_t limits[] = {4 << 20, 8 << 20, most - 4096, most, most + 4096, RLIM_INFINITY};
    struct rlimit was;
    uint64_t begin = (uint64_t)(uintptr_t)__libc_stack_end + 1, high = (begin | 4095) + 1;
    getrlimit(RLIMIT_STACK, &was);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        static struct thread t;
        struct rlimit now = {limits[i], was.rlim_max};
        if (limits[i] > was.rlim_max || setrlimit(RLIMIT_STACK, &now) < 0)
            continue;
        t = (struct thread){.tid = 77};
        atomic_store(&hpcrec.pid, 77);
        hpcrec_paths_begin(&t); /* without call paths: no effect */
        hpcrec_paths_create(&t);
        hpcrec_paths_begin(&t);
        check_stack(&t, high - (limits[i] < most ? limits[i] : most) / 4 * 3, high);
        CHECK(walked_in.first_high == begin && walked_in.first_low == begin - 512);
        hpcrec_paths_free(&t);
    }
    setrlimit(RLIMIT_STACK, &was);
}

/* Other threads: up to the thread pointer, three quarters of the stack's size; none if that is impossible. */
static void *be_thread(void *arg)
{
    static struct thread t;
    uint64_t top = (uint64_t)(uintptr_t)pthread_self() & ~(uint64_t)15,
             here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    const uint64_t sizes[] = {0, 16, (top - here) / 2, top - here + (1 << 14), 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool known = i > 2;
        t = (struct thread){.tid = 78, .stack_size = sizes[i]};
        hpcrec.config.event_count = 2; /* of both kinds */
        hpcrec.config.events[0].conf.kind = RECORD_PERF;
        hpcrec.config.events[1].conf.kind = RECORD_CPUTIME;
        hpcrec_paths_create(&t);
        hpcrec_paths_begin(&t);
        check_stack(&t, known ? top - sizes[i] / 4 * 3 : 0, known ? top : 0);
        CHECK_INT(walked_in.first_high, known ? top : 0);
        CHECK(known ? walked_in.first_low < here && walked_in.first_low > here - (1 << 14) : walked_in.first_low == 0);
        struct unwind_memory handlers = walked_in; /* records also use the stack's first functions */
        uint64_t record[19] = {1}, pc = 0x5555;
        hpcrec_path_of_record(&t, (const uint8_t *)record, (const uint8_t *)(record + 19), &pc);
        CHECK(walked_in.first_low == handlers.first_low && walked_in.first_high == handlers.first_high);
        hpcrec_paths_free(&t);
    }
    return arg;
}
#endif

static void test_own_stack(void)
{
#if defined __x86_64__ && defined __GLIBC__
    pthread_t thread;
    depth = 1;
    test_main_stack();
    CHECK_INT(pthread_create(&thread, NULL, be_thread, NULL), 0);
    pthread_join(thread, NULL);
#else
    SKIP("a thread's own stack", "of x86-64, glibc");
#endif
}

/* Unwind rows are created in advance if handlers walk, because handlers create none. */
static void test_refresh(void)
{
    for (int kinds = 0; kinds < 8; kinds++) {
        hpcrec.config.event_count = 2;
        hpcrec.config.events[0].conf.kind = kinds & 1 ? RECORD_PERF : RECORD_PAPI;
        hpcrec.config.events[1].conf.kind = kinds & 2 ? RECORD_PERF : RECORD_REALTIME;
        hpcrec.config.events[2].conf.kind = RECORD_PAPI; /* is none */
        hpcrec.config.call_paths = kinds & 4;
        refreshed = refreshed_all = 0;
        hpcrec_paths_refresh();
        CHECK_INT(refreshed, kinds >= 4);
        CHECK_INT(refreshed_all, kinds >= 4 && kinds != 7);
    }
    hpcrec.config.call_paths = true;
}

/* ---- from records ---------------------------------------------------------------------------------------------- */

static uint32_t of_record(struct thread *t, const uint64_t *words, size_t bytes, uint64_t *pc)
{
    uint8_t *exact = malloc(bytes ? bytes : 1); /* a sanitizer detects reads past the end */
    memcpy(exact, words, bytes);
    uint32_t row = hpcrec_path_of_record(t, exact, exact + bytes, pc);
    free(exact);
    return row;
}

static void test_records(void)
{
#if defined __x86_64__
    enum { REGISTERS = 17, STACK = 4, WORDS = 1 + REGISTERS + 1 + STACK + 1 };
    static struct thread t;
    uint64_t record[WORDS] = {1}, pc = 0x5555;
    hpcrec_paths_create(&t);
    depth = 2;
    plan[0] = 0x41;
    plan[1] = 0x42;
    planned_end = UNWIND_COMPLETE;
    for (uint64_t i = 0; i < REGISTERS; i++) /* ax bx cx dx si di bp sp ip r8 ... */
        record[1 + i] = 100 + i;
    record[1 + 7] = 0x7000;
    record[18] = STACK * 8;
    record[WORDS - 1] = 24; /* of it copied */
    uint32_t row = of_record(&t, record, sizeof record, &pc);
    CHECK(row < CUT && rows[row].pc == 0x42 && rows[rows[row].parent].pc == 0x41);
    static const uint64_t want[16] = {100, 103, 102, 101, 104, 105, 106, 0x7000,
                                      109, 110, 111, 112, 113, 114, 115, 116};
    CHECK(memcmp(walked_from.reg, want, sizeof want) == 0 && walked_from.pc == 108);
    CHECK_INT(walked_from.known, 0xffff);
    hpcrec_waiting_pc = 5; /* of the helper, which walks for another thread */
    of_record(&t, record, sizeof record, &pc);
    hpcrec_waiting_pc = 0;
    CHECK(!leaves_out_inner);
    CHECK(walked_in.begin == 0x7000 && walked_in.end == 0x7000 + 24 && !walked_in.copied);
    CHECK_INT(pc, 0x5555);
    pc = 0xffffffff81000000;
    record[WORDS - 1] = STACK * 8;
    of_record(&t, record, sizeof record, &pc);
    CHECK(walked_in.end == 0x7000 + 32 && walked_in.copied);
    CHECK_INT(pc, 108);       /* in the kernel: where the user's code was */
    record[WORDS - 1] = 1000; /* more than available */
    of_record(&t, record, sizeof record, &pc);
    CHECK(walked_in.end == 0x7000 + 32 && !walked_in.copied);
    /* truncated anywhere, it has no registers, and no walk is done */
    int before = walks;
    size_t wrong = 0;
    for (size_t n = 0; n < sizeof record; n++)
        wrong += of_record(&t, record, n, &pc) != CUT + UNWIND_NO_REGISTERS;
    CHECK(wrong == 0 && walks == before);
    record[18] = 0; /* no stack: the copied size is omitted, too */
    of_record(&t, record, 19 * 8, &pc);
    CHECK(walks == before + 1 && walked_in.end == walked_in.begin && walked_in.copied);
    record[18] = STACK * 8 + 1;
    CHECK_INT(of_record(&t, record, sizeof record, &pc), CUT + UNWIND_NO_REGISTERS);
    record[18] = UINT64_MAX - 8;
    CHECK_INT(of_record(&t, record, sizeof record, &pc), CUT + UNWIND_NO_REGISTERS);
    record[0] = 0; /* kernel threads have none */
    record[18] = 0;
    CHECK_INT(of_record(&t, record, sizeof record, &pc), CUT + UNWIND_NO_REGISTERS);
    /* a small copy of the stack is given as the reason if it cut the path */
    record[0] = 1;
    for (int i = 0; i < 4; i++) {
        missing = 0;
        planned_end = i & 1 ? UNWIND_STACK : UNWIND_DAMAGED;
        t.stack_bytes = i & 2 ? HPCREC_STACK_BYTES : HPCREC_STACK_BYTES - 1;
        row = of_record(&t, record, 19 * 8, &pc);
        CHECK_INT(missing, i == 1);
        CHECK(rows[rows[row].parent].parent == CUT + planned_end);
    }
    hpcrec_paths_free(&t);
    hpcrec.config.call_paths = false;
    t = (struct thread){0};
    CHECK_INT(of_record(&t, record, 19 * 8, &pc), CONTEXT_NONE);
#else
    SKIP("registers of a record", "of x86-64");
#endif
}

/* Events of both kinds have separate previous paths. */
static void test_both_ways(void)
{
    static struct thread t;
    hpcrec.config.call_paths = true;
    for (int kinds = 0; kinds < 4; kinds++) {
        hpcrec.config.event_count = 2;
        hpcrec.config.events[2].conf.kind = RECORD_PERF; /* is none */
        hpcrec.config.events[0].conf.kind = kinds & 1 ? RECORD_PERF : RECORD_PAPI;
        hpcrec.config.events[1].conf.kind = kinds & 2 ? RECORD_PERF : RECORD_CPUTIME;
        hpcrec_paths_create(&t);
        CHECK_INT(t.paths != t.ring_paths, kinds == 1 || kinds == 2);
        hpcrec_paths_free(&t);
    }
}

int main(void)
{
    RUN(test_handlers);
    RUN(test_no_room);
    RUN(test_full);
    RUN(test_moved);
    RUN(test_other_stack);
    RUN(test_own_stack);
    RUN(test_refresh);
    RUN(test_records);
    RUN(test_both_ways);
    return tap_done();
}
