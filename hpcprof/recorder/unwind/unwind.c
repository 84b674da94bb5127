/* SPDX-License-Identifier: BSD-3-Clause */
/* From a frame to its caller's, up to the thread's first function. */
#include "hpcprof/recorder/unwind/unwind.h"

enum {
    SIGNALS_MAX = 16,               /* signal frames in one path: handlers that were interrupted by others */
    FRAME_POINTER_REACH = 16 << 20, /* how far above the stack pointer a frame pointer may point */
    COPY_REACH = 256 << 20,         /* how far above a copy the rest of that stack may be */
};

/* Offset of the interrupted function's registers, saved by the kernel, from the stack pointer in a signal's
   trampoline; 0: not followed there. x86-64's handler has returned: ucontext, whose sigcontext begins at 40: r8 to r15,
   rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. AArch64's struct rt_sigframe is siginfo (128 bytes), then ucontext,
   whose sigcontext begins at 176: fault address, x0 to x30, sp, pc. */
enum { X64_SAVED = 40, A64_SAVED = 128 + 176 + 8 };
static const struct signal_frame {
    uint16_t pc, sp, fp, base, ra;
} signal_frames[] = {
    [UNWIND_X86_64] = {X64_SAVED + 16 * 8, X64_SAVED + 15 * 8, X64_SAVED + 10 * 8, X64_SAVED + 11 * 8, 0},
    [UNWIND_AARCH64] = {A64_SAVED + 32 * 8, A64_SAVED + 31 * 8, A64_SAVED + 29 * 8, 0, A64_SAVED + 30 * 8},
};

struct frame {
    struct unwind_registers at;
    bool exact;     /* pc is where it was interrupted; else where it will return to */
    uint64_t floor; /* callers' frames lie above */
    unsigned signals;
    enum unwind_end why; /* no further */
};

struct walk {
    const struct unwinder *u;
    const struct unwind_memory *memory;
    const struct unwind_numbers *number;
};

static bool known(const struct frame *f, unsigned reg)
{
    return f->at.known >> reg & 1;
}

static uint64_t bit(unsigned reg)
{
    return (uint64_t)1 << reg;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool load(const struct walk *w, struct frame *f, uint64_t address, uint64_t *value)
{
    const struct unwind_memory *m = w->memory;
    if (address >= m->begin && address < m->end && m->end - address >= 8) {
        __builtin_memcpy(value, m->bytes + (address - m->begin), 8);
        return true;
    }
    if (m->other && m->other(m->ctx, address, value))
        return true;
    bool above = m->copied && address >= m->begin && address - m->begin < COPY_REACH;
    bool mapped = !m->other && !above && w->u->peek && w->u->peek(address, value, 8); /* by now; it may differ */
    f->why = above ? UNWIND_STACK : mapped ? UNWIND_ELSEWHERE : UNWIND_DAMAGED;
    return false;
}

/* Return addresses may be signed: pointer authentication uses the bits above the address. */
static uint64_t stripped(const struct walk *w, uint64_t address)
{
    return w->u->machine == UNWIND_AARCH64 ? address & 0x0000ffffffffffffu : address;
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

static const struct unwind_object *object_at(const struct unwind_map *map, uint64_t pc)
{
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (map->object[mid].begin <= pc)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && pc < map->object[low - 1].end ? &map->object[low - 1] : NULL;
}

static const struct unwind_row *row_at(const struct walk *w, uint64_t pc)
{
    const struct unwind_object *o = object_at(w->u->map, pc);
    const struct unwind_rows *rows = o ? o->rows : NULL;
    if (o && !rows && w->u->missing)
        rows = w->u->missing(o);
    return rows ? unwind_rows_find(rows, pc - o->begin) : NULL;
}

/* ---- one step ------------------------------------------------------------------------------------------------------
 */

static bool find_cfa(const struct walk *w, struct frame *f, const struct unwind_row *row, uint64_t *cfa)
{
    unsigned sp = w->number->sp;
    unsigned reg = row->cfa.kind == UNWIND_PLT ? sp : row->cfa.reg;
    f->why = UNWIND_NO_ROWS;
    if (!known(f, reg))
        return false;
    *cfa = f->at.reg[reg] + (uint64_t)(int64_t)row->cfa.offset;
    if (row->cfa.kind == UNWIND_PLT && (f->at.pc & 15) >= row->cfa.reg)
        *cfa += 8;
    if (row->cfa.kind == UNWIND_DEREF) {
        if (!load(w, f, *cfa, cfa))
            return false;
        *cfa += (uint64_t)(int64_t)row->add;
    }
    return true;
}

/* The caller's value of a register; 1 known, 0 unknown, -1 memory could not be read. */
static int value_of(const struct walk *w, struct frame *f, const struct unwind_rule *r, unsigned reg, uint64_t cfa,
                    uint64_t *value)
{
    unsigned from = r->kind == UNWIND_SAME ? reg : r->reg;
    switch (r->kind) {
    case UNWIND_SAME:
    case UNWIND_IN:
        *value = f->at.reg[from];
        return known(f, from);
    case UNWIND_CFA:
        return load(w, f, cfa + (uint64_t)(int64_t)r->offset, value) ? 1 : -1;
    case UNWIND_AT:
        if (!known(f, from))
            return 0;
        return load(w, f, f->at.reg[from] + (uint64_t)(int64_t)r->offset, value) ? 1 : -1;
    default:
        return 0;
    }
}

/* The first frames of a stack may have 0 as the caller's address: crt1's _start by ABI, threads of small C
   libraries. */
static bool end_complete(struct frame *f)
{
    f->why = UNWIND_COMPLETE;
    return false;
}

static bool step_by_row(const struct walk *w, struct frame *f, const struct unwind_row *row)
{
    const struct unwind_numbers *n = w->number;
    struct unwind_registers next = {0};
    uint64_t cfa, value;
    if (row->ra.kind == UNWIND_UNDEFINED)
        return end_complete(f);
    if (!find_cfa(w, f, row, &cfa))
        return false;
    int have = value_of(w, f, &row->ra, n->ra, cfa, &value);
    if (have <= 0) {
        f->why = have < 0 ? f->why : UNWIND_DAMAGED;
        return false;
    }
    next.pc = stripped(w, value);
    if (next.pc == 0)
        return end_complete(f);
    /* Upwards, except for an AArch64 function that has no frame yet (its caller is in a register, once), and for a
       signal, which may have been delivered on another stack. */
    bool up = cfa > f->floor || (f->exact && row->ra.kind != UNWIND_CFA && cfa == f->floor);
    if ((row->signal ? ++f->signals > SIGNALS_MAX : !up)) {
        f->why = UNWIND_DAMAGED;
        return false;
    }
    next.reg[n->sp] = cfa;
    next.known = bit(n->sp);
    if ((have = value_of(w, f, &row->fp, n->fp, cfa, &next.reg[n->fp])) > 0)
        next.known |= bit(n->fp);
    if (have >= 0 && (have = value_of(w, f, &row->base, n->base, cfa, &next.reg[n->base])) > 0)
        next.known |= bit(n->base);
    f->at = next;
    f->exact = row->signal;
    f->floor = row->signal ? 0 : cfa;
    return true;
}

static bool load_saved(const struct walk *w, struct frame *f, struct unwind_registers *next, unsigned reg, uint16_t at)
{
    if (at == 0)
        return true;
    next->known |= bit(reg);
    return load(w, f, f->at.reg[w->number->sp] + at, &next->reg[reg]);
}

static bool step_signal(const struct walk *w, struct frame *f)
{
    const struct unwind_numbers *n = w->number;
    const struct signal_frame *saved = &signal_frames[w->u->machine];
    struct unwind_registers next = {0};
    if (!known(f, n->sp) || ++f->signals > SIGNALS_MAX) {
        f->why = UNWIND_DAMAGED;
        return false;
    }
    if (!load_saved(w, f, &next, n->fp, saved->fp) || !load_saved(w, f, &next, n->base, saved->base) ||
        !load_saved(w, f, &next, n->ra, saved->ra) || !load_saved(w, f, &next, n->sp, saved->sp) ||
        !load(w, f, f->at.reg[n->sp] + saved->pc, &next.pc))
        return false;
    f->at = next;
    f->exact = true;
    f->floor = 0;
    return true;
}

/* The code that handlers return to has no rows in some C libraries, and on some kernels, but two instructions that
   are always the same: mov $15,%rax; syscall, or mov x8,#139; svc #0. */
static bool returns_from_signal(const struct walk *w, uint64_t pc)
{
    static const uint8_t x64[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t a64[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
    bool is_x64 = w->u->machine == UNWIND_X86_64;
    uint8_t code[sizeof x64];
    size_t n = is_x64 ? sizeof x64 : sizeof a64;
    return w->u->peek && w->u->peek(pc, code, n) && __builtin_memcmp(code, is_x64 ? x64 : a64, n) == 0;
}

/* Code that has no call frame information, and is not in a call: system calls that make threads, assembly. Most of
   it has no frame; then the word at the return address's place is a known return address. */
static bool step_as_leaf(const struct walk *w, struct frame *f)
{
    const struct unwind_numbers *n = w->number;
    bool in_register = w->u->machine == UNWIND_AARCH64;
    struct unwind_registers next = f->at;
    if (!f->exact || !known(f, n->sp) || !object_at(w->u->map, f->at.pc))
        return false;
    if (in_register)
        next.pc = known(f, n->ra) ? f->at.reg[n->ra] : 0;
    else if (!load(w, f, f->at.reg[n->sp], &next.pc))
        return false;
    next.pc = stripped(w, next.pc);
    if (!row_at(w, next.pc - 1))
        return false;
    next.reg[n->sp] += in_register ? 0 : 8;
    next.known = bit(n->sp) | bit(n->fp) | bit(n->base);
    f->at = next;
    f->exact = false;
    f->floor = next.reg[n->sp] - 1;
    return true;
}

/* Code without rows, made at run time most likely, with the chain that frame pointers make: where it points, the
   caller's frame pointer, and the return address behind it. */
static bool step_by_frame_pointer(const struct walk *w, struct frame *f)
{
    const struct unwind_numbers *n = w->number;
    struct unwind_registers next = {0};
    uint64_t fp = f->at.reg[n->fp];
    f->why = UNWIND_NO_ROWS;
    if (!known(f, n->fp) || fp % 8 != 0 || fp < f->floor || (f->floor && fp - f->floor > FRAME_POINTER_REACH))
        return false;
    if (!load(w, f, fp, &next.reg[n->fp]) || !load(w, f, fp + 8, &next.pc))
        return false;
    next.pc = stripped(w, next.pc);
    if (next.pc == 0 && next.reg[n->fp] == 0)
        return end_complete(f);
    f->why = UNWIND_NO_ROWS;
    if (next.pc < 4096 || (next.reg[n->fp] && next.reg[n->fp] <= fp))
        return false;
    next.known = bit(n->fp);
    if (w->u->machine == UNWIND_X86_64) { /* AArch64's frame record is at the bottom of the frame, or at its top */
        next.reg[n->sp] = fp + 16;
        next.known |= bit(n->sp);
    }
    f->at = next;
    f->exact = false;
    f->floor = fp + 16;
    return true;
}

/* The loader's own start has no description, nor have other libraries' first functions; and in a thread under
   creation there is nothing above the first frame. */
static bool at_the_first(const struct walk *w, const struct frame *f)
{
    uint64_t sp = f->at.reg[w->number->sp];
    return known(f, w->number->sp) && sp >= w->memory->first_low && sp < w->memory->first_high;
}

static bool step(const struct walk *w, struct frame *f)
{
    const struct unwind_row *row = row_at(w, f->exact ? f->at.pc : f->at.pc - 1);
    if (row && row->cfa.kind == UNWIND_SIGNAL_A64)
        return step_signal(w, f);
    if (row)
        return step_by_row(w, f, row);
    if (returns_from_signal(w, f->at.pc))
        return step_signal(w, f);
    return step_as_leaf(w, f) || step_by_frame_pointer(w, f);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* False: no space. */
static bool put(struct unwind_path *path, uint64_t pc)
{
    if (pc - path->skip_begin < path->skip_end - path->skip_begin) {
        if (path->skip_inner)
            path->count = 0;
        return true;
    }
    if (path->count == path->room)
        return false;
    path->word[(path->at + path->count++) & path->mask] = pc;
    return true;
}

/* Nothing is called from a function's first instruction: somebody made this stack and wrote there where its first
   function is to return to (makecontext does). */
static bool made_by_hand(const struct walk *w, const struct frame *f)
{
    return !f->exact && f->why == UNWIND_NO_ROWS && !row_at(w, f->at.pc - 1) && row_at(w, f->at.pc);
}

enum unwind_end unwind_walk(const struct unwinder *u, const struct unwind_registers *registers,
                            const struct unwind_memory *memory, struct unwind_path *path)
{
    struct walk w = {u, memory, &unwind_numbers[u->machine]};
    struct frame f = {.at = *registers, .exact = true};
    f.floor = known(&f, w.number->sp) ? f.at.reg[w.number->sp] : 0;
    path->count = 0;
    while (step(&w, &f))
        if (!put(path, f.exact ? f.at.pc : f.at.pc - 1))
            return UNWIND_LONG;
    bool first = f.why == UNWIND_NO_ROWS && at_the_first(&w, &f);
    if (!first && !made_by_hand(&w, &f))
        return f.why;
    if (!f.exact && (!first || !object_at(u->map, f.at.pc)) && path->count > 0)
        path->count--; /* not a valid frame */
    return UNWIND_COMPLETE;
}
