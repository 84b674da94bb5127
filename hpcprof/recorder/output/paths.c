/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of samples, from the thread's first function to the caller of the sampled instruction. */
#include "hpcprof/recorder/output/paths.h"
#include "hpcprof/recorder/unwind/objects.h"

#include <sys/resource.h>

enum {
    FIRST_FRAME = 512,          /* bytes that the main thread's first function may leave below the start of its stack */
    CHUNK = 512,                /* of another stack, read at once; never across a page */
    MAIN_STACK_MOST = 96 << 20, /* the kernel keeps 128 MiB below the stack free of mappings, for any limit */
};

struct path_queue {
    _Atomic bool walking;
    uint64_t low, high; /* the thread's own stack: readable from its stack pointer up to `high`, where that is within */
    uint64_t first_low, first_high; /* the frames of the thread's first functions */
    _Atomic uint32_t head, tail;    /* of words */
    bool no_previous;               /* the last entry of the queue was incomplete */
    _Atomic bool start_over;        /* rows of the path before may be invalid */
    uint64_t chunk_at;
    uint8_t chunk[CHUNK];
    unsigned now; /* which of `path` is being walked; the other one is the path before */
    uint32_t count[2];
    uint8_t end[2];
    uint32_t row[PATH_FRAMES]; /* the helper's: of the path before, outermost first */
    uint32_t row_count;
    uint64_t words[PATH_WORDS];
    uint64_t path[2][PATH_FRAMES];
};

/* ---- threads --------------------------------------------------------------------------------------------------- */

static struct path_queue *create(void)
{
    struct path_queue *q = hpcrec_map(sizeof *q);
    if (q)
        q->no_previous = true;
    return q;
}

/* Some events come through the ring, and some by signals. */
static bool both_ways(void)
{
    unsigned ring = 0;
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        ring += hpcrec.config.events[e].conf.kind == RECORD_PERF;
    return ring > 0 && ring < hpcrec.config.event_count;
}

void hpcrec_paths_create(struct thread *t)
{
    if (!hpcrec.config.call_paths)
        return;
    t->paths = create();
    t->ring_paths = both_ways() ? create() : t->paths;
}

void hpcrec_paths_free(struct thread *t)
{
    if (t->ring_paths != t->paths)
        hpcrec_unmap(t->ring_paths, sizeof *t->ring_paths);
    hpcrec_unmap(t->paths, sizeof *t->paths);
}

/* Only in glibc: the main thread's stack pointer before anything ran. */
extern void *__libc_stack_end __attribute__((weak));

static void main_stack(struct path_queue *q)
{
    struct rlimit limit;
    if (!&__libc_stack_end)
        return;
    q->first_high = (uint64_t)(uintptr_t)__libc_stack_end + 1;
    q->first_low = q->first_high - FIRST_FRAME;
    q->high = (q->first_high | 4095) + 1;
    uint64_t most =
        getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < MAIN_STACK_MOST ? limit.rlim_cur : MAIN_STACK_MOST;
    q->low = q->high - most / 4 * 3;
}

static uint64_t thread_pointer(void)
{
#if defined __x86_64__
    uint64_t tp; /* clang and older gcc have no __builtin_thread_pointer here; its first word points to itself */
    __asm__("mov %%fs:0, %0" : "=r"(tp));
    return tp;
#else
    return (uint64_t)(uintptr_t)__builtin_thread_pointer();
#endif
}

/* The C library puts what is the thread's own at the top of its stack, where the thread pointer points. */
static void other_stack(struct path_queue *q, uint64_t size)
{
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    uint64_t top = thread_pointer() & ~(uint64_t)15;
    if (size == 0 || here >= top || top - here > size)
        return;
    q->high = q->first_high = top;
    q->first_low = here;
    q->low = top - size / 4 * 3;
}

void hpcrec_paths_begin(struct thread *t)
{
    if (!t->paths)
        return;
    if (t->tid == atomic_load(&hpcrec.pid))
        main_stack(t->paths);
    else
        other_stack(t->paths, t->stack_size);
    if (t->ring_paths) {
        t->ring_paths->first_low = t->paths->first_low;
        t->ring_paths->first_high = t->paths->first_high;
    }
}

/* By a handler of the thread, just now. */
static void look_whether_walked(struct thread *t, void *walked)
{
    *(bool *)walked |= t->paths && atomic_load(&t->paths->walking);
}

static bool some_path_is_walked(void)
{
    bool walked = false;
    hpcrec_threads_each(look_whether_walked, &walked);
    return walked;
}

static bool uses_handlers(void)
{
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        if (hpcrec.config.events[e].conf.kind != RECORD_PERF)
            return true;
    return false;
}

void hpcrec_paths_refresh(void)
{
    if (hpcrec.config.call_paths)
        hpcrec_unwind_refresh(uses_handlers(), some_path_is_walked);
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

#if defined __x86_64__
enum { DWARF_REGISTERS = 16 };

static void registers_of_context(struct unwind_registers *r, const void *context)
{
    static const uint8_t place[DWARF_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                                   REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                   REG_R12, REG_R13, REG_R14, REG_R15};
    const ucontext_t *uc = context;
    for (unsigned i = 0; i < DWARF_REGISTERS; i++)
        r->reg[i] = (uint64_t)uc->uc_mcontext.gregs[place[i]];
    r->pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
    r->known = ((uint64_t)1 << DWARF_REGISTERS) - 1;
}

/* In the order of the mask's bits: ax bx cx dx si di bp sp ip r8 ... r15. */
static void registers_of_record(struct unwind_registers *r, const uint64_t *v)
{
    static const uint8_t number[8] = {0, 3, 2, 1, 4, 5, 6, 7};
    for (unsigned i = 0; i < 8; i++)
        r->reg[number[i]] = v[i];
    r->pc = v[8];
    for (unsigned i = 8; i < 16; i++)
        r->reg[i] = v[i + 1];
    r->known = ((uint64_t)1 << DWARF_REGISTERS) - 1;
}
#else
static void registers_of_context(struct unwind_registers *r, const void *context)
{
    const ucontext_t *uc = context;
    for (unsigned i = 0; i < 31; i++)
        r->reg[i] = uc->uc_mcontext.regs[i];
    r->reg[31] = uc->uc_mcontext.sp;
    r->pc = uc->uc_mcontext.pc;
    r->known = ((uint64_t)1 << 32) - 1;
}

static void registers_of_record(struct unwind_registers *r, const uint64_t *v)
{
    for (unsigned i = 0; i < 32; i++)
        r->reg[i] = v[i];
    r->pc = v[32];
    r->known = ((uint64_t)1 << 32) - 1;
}
#endif

/* ---- walking ------------------------------------------------------------------------------------------------------
 */

/* Our own functions stand between pthread_create's caller and the thread's function, and in front of functions that
   wait. They are not the program's. (In a static program they are, and are shown.) */
static void leave_out_ours(struct unwind_path *path)
{
#ifndef HPCREC_STATIC
    extern const char code_begin[] __asm__("__ehdr_start") __attribute__((weak, visibility("hidden")));
    extern const char code_end[] __asm__("etext") __attribute__((weak, visibility("hidden")));
    path->skip_begin = (uint64_t)(uintptr_t)code_begin;
    path->skip_end = (uint64_t)(uintptr_t)code_end;
#endif
    path->skip_inner = hpcrec_waiting_pc != 0;
}

static void walk(struct path_queue *q, const struct unwind_registers *r, const struct unwind_memory *m, bool in_handler)
{
    struct unwinder u = {UNWIND_HERE, hpcrec_unwind_map(), in_handler ? NULL : hpcrec_unwind_missing, hpcrec_peek};
    struct unwind_path path = {.word = q->path[q->now], .mask = UINT32_MAX, .room = PATH_FRAMES};
    leave_out_ours(&path);
    path.skip_inner &= in_handler;
    q->end[q->now] = UNWIND_NO_ROWS;
    if (u.map)
        q->end[q->now] = (uint8_t)unwind_walk(&u, r, m, &path);
    q->count[q->now] = path.count;
}

/* How many outermost frames the walked path has in common with the one before. */
static uint32_t shared_frames(struct path_queue *q)
{
    const uint64_t *a = q->path[q->now], *b = q->path[!q->now];
    uint32_t n = q->count[q->now], m = q->count[!q->now], k = 0;
    if (atomic_exchange_explicit(&q->start_over, false, memory_order_relaxed) || q->no_previous ||
        q->end[q->now] != q->end[!q->now])
        return 0;
    while (k < n && k < m && a[n - 1 - k] == b[m - 1 - k])
        k++;
    return k;
}

/* A stack that is not the thread's own (coroutines, signal stacks), or that we do not know: asked of the kernel, which
   knows what is mapped. */
static bool read_other(void *ctx, uint64_t address, uint64_t *value)
{
    struct path_queue *q = ctx;
    uint64_t at = address & ~(uint64_t)(CHUNK - 1);
    if (address % CHUNK > CHUNK - 8)
        return hpcrec_peek(address, value, 8);
    if (q->chunk_at != at && !hpcrec_peek(at, q->chunk, CHUNK)) {
        q->chunk_at = 0;
        return false;
    }
    q->chunk_at = at;
    __builtin_memcpy(value, q->chunk + (address - at), 8);
    return true;
}

static struct unwind_memory own_stack(struct path_queue *q, uint64_t sp)
{
    struct unwind_memory m = {.other = read_other, .ctx = q, .first_low = q->first_low, .first_high = q->first_high};
    q->chunk_at = 0;
    if (sp >= q->low && sp < q->high) {
        m.begin = sp;
        m.end = q->high;
        m.bytes = (const uint8_t *)(uintptr_t)sp;
    }
    return m;
}

/* ---- from handlers to the helper ------------------------------------------------------------------------------------
 */

static void queue_frames(struct path_queue *q, uint32_t fresh)
{
    uint32_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
    for (uint32_t i = 0; i < fresh; i++)
        q->words[(head + i) % PATH_WORDS] = q->path[q->now][i];
    atomic_store_explicit(&q->head, head + fresh, memory_order_release);
}

static uint32_t queue_room(const struct path_queue *q)
{
    return PATH_WORDS - (atomic_load_explicit(&q->head, memory_order_relaxed) -
                         atomic_load_explicit(&q->tail, memory_order_acquire));
}

void hpcrec_path_put(struct thread *t, struct queued *entry, const void *context)
{
    struct path_queue *q = t->paths;
    struct unwind_registers r;
    if (!q)
        return;
    registers_of_context(&r, context);
    struct unwind_memory m = own_stack(q, r.reg[unwind_numbers[UNWIND_HERE].sp]);
    atomic_store(&q->walking, true);
    walk(q, &r, &m, true);
    atomic_store(&q->walking, false);
    uint32_t shared = shared_frames(q), fresh = q->count[q->now] - shared, room = queue_room(q);
    q->no_previous = fresh > room;
    if (fresh > room) { /* its innermost frames at least */
        shared = 0;
        fresh = room;
        q->end[q->now] = UNWIND_LONG;
    }
    queue_frames(q, fresh);
    entry->fresh = (uint16_t)fresh;
    entry->shared = (uint16_t)shared;
    entry->path_end = q->end[q->now];
    q->now = !q->now;
}

/* ---- rows
 * ------------------------------------------------------------------------------------------------------------ */

/* The new frames are word[(at + i) & mask], innermost first; rows of the shared ones are known. */
static uint32_t row_of_path(struct path_queue *q, enum unwind_end end, uint32_t fresh, uint32_t shared,
                            const uint64_t *word, uint32_t at, uint32_t mask)
{
    uint32_t parent = shared ? q->row[shared - 1] : end == UNWIND_COMPLETE ? CONTEXT_NONE : hpcrec_context_cut(end);
    bool full = shared && parent == CONTEXT_NONE;
    for (uint32_t i = fresh; i-- > 0 && shared < PATH_FRAMES;) {
        if (!full)
            parent = hpcrec_context(word[(at + i) & mask], parent);
        full |= parent == CONTEXT_NONE;
        q->row[shared++] = parent;
    }
    q->row_count = shared;
    return full ? hpcrec_context_cut(UNWIND_FULL) : parent;
}

static void move_rows_of(struct path_queue *q, const uint32_t *moved)
{
    for (uint32_t i = 0; q && i < q->row_count; i++)
        q->row[i] = q->row[i] == CONTEXT_NONE ? CONTEXT_NONE : moved[q->row[i]];
    if (q)
        atomic_store_explicit(&q->start_over, true, memory_order_relaxed);
}

static void move_rows(struct thread *t, void *moved)
{
    move_rows_of(t->paths, moved);
    if (t->ring_paths != t->paths)
        move_rows_of(t->ring_paths, moved);
}

void hpcrec_paths_moved(const uint32_t *moved)
{
    hpcrec_threads_each(move_rows, (void *)(uintptr_t)moved);
}

uint32_t hpcrec_path_take(struct thread *t, const struct queued *entry)
{
    struct path_queue *q = t->paths;
    if (!q)
        return CONTEXT_NONE;
    uint32_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    uint32_t row =
        row_of_path(q, (enum unwind_end)entry->path_end, entry->fresh, entry->shared, q->words, tail, PATH_WORDS - 1);
    atomic_store_explicit(&q->tail, tail + entry->fresh, memory_order_release);
    return row;
}

/* u64 abi, u64 registers[] (none where abi is 0); u64 size, size bytes, u64 how many of them were copied (not where
   size is 0). */
static bool read_record(const uint8_t *p, const uint8_t *end, struct unwind_registers *r, struct unwind_memory *m)
{
    uint64_t v[HPCREC_REGISTERS_BYTES / 8], abi, size, copied = 0;
    size_t n = (size_t)__builtin_popcountll(HPCREC_REGISTERS_MASK);
    if (end - p < 16)
        return false;
    __builtin_memcpy(&abi, p, 8);
    if (abi == 0 || (size_t)(end - p) < 8 + n * 8 + 8)
        return false;
    memcpy(v, p + 8, n * 8);
    registers_of_record(r, v);
    p += 8 + n * 8;
    __builtin_memcpy(&size, p, 8);
    p += 8;
    if (size > 0 && (end - p < 8 || size > (uint64_t)(end - p) - 8))
        return false;
    if (size > 0)
        __builtin_memcpy(&copied, p + size, 8);
    m->bytes = p;
    m->begin = r->reg[unwind_numbers[UNWIND_HERE].sp];
    m->end = m->begin + (copied <= size ? copied : size);
    m->copied = copied == size;
    return true;
}

uint32_t hpcrec_path_of_record(struct thread *t, const uint8_t *p, const uint8_t *end, uint64_t *pc)
{
    struct path_queue *q = t->ring_paths;
    struct unwind_registers r;
    struct unwind_memory m = {0};
    if (!q)
        return CONTEXT_NONE;
    if (!read_record(p, end, &r, &m))
        return hpcrec_context_cut(UNWIND_NO_REGISTERS);
    if (*pc >> 63)
        *pc = r.pc;
    m.first_low = q->first_low;
    m.first_high = q->first_high;
    walk(q, &r, &m, false);
    if (q->end[q->now] == UNWIND_STACK && t->stack_bytes < HPCREC_STACK_BYTES)
        hpcrec_missing("some threads had small ring buffers (many threads, or little locked memory: ulimit -l): their "
                       "call paths are cut");
    uint32_t shared = shared_frames(q);
    uint32_t row = row_of_path(q, (enum unwind_end)q->end[q->now], q->count[q->now] - shared, shared, q->path[q->now],
                               0, UINT32_MAX);
    q->no_previous = false;
    q->now = !q->now;
    return row;
}
