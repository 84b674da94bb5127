/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions in the gaps: code of Go, Free Pascal, hand-written assembly and compilers without unwind tables, once it is
 * stripped.
 *
 * A gap is read twice from front to end. First every instruction, for the targets of calls in a gap: these are functions.
 * Then function by function: one begins at such a target, or behind padding at an address that compilers align functions to;
 * it ends behind a return, jump or trap that no branch of it crosses. The bytes between count as code only if they look like
 * it from the first to the last: instructions that programs use, and branches that lead to beginnings of instructions. Tables
 * and strings fail that soon.
 *
 * Ends are unknown: each function extends to the next thing known, and a call found later may still split it.
 *
 * Asked for single addresses, the same is done with the code around each: instructions of arbitrary bytes soon fall
 * into step with the real ones, and the first function of such a piece must begin in a way that is not met inside of
 * others.
 *
 * Starts after padding and recognised prologues are the usual witnesses in stripped code; how far each can be trusted
 * is measured in Bao et al., "ByteWeight" (USENIX Security 2014), and Andriesse et al., "Compiler-Agnostic Function
 * Detection in Binaries" (Euro S&P 2017).
 */
#include "bloop/functions/functions_int.h"

#include <stdlib.h>

struct gap_scan {
    const struct function_table *table;
    const struct arch *arch;
    const struct image_section *section;
    vaddr end;                         /* of the gap, or of the piece of it that is read */
    bool strict;                       /* reading starts somewhere: no function was seen yet */
    bool follows;                      /* it begins where a function of this gap ended */
    struct vaddr_list called;          /* targets of calls, in gaps, ascending */
    struct vaddr_list starts, targets; /* of the function at hand */
};

enum {
    ALIGNMENT = 16,          /* of functions, as nearly all compilers choose it */
    FUNCTION_MOST = 1 << 20, /* bytes; a longer run is read in pieces, so that memory stays small */
    PIECE = 1 << 15,         /* the least that is read around an address: itself, and as much before and behind */
    OUT_OF_STEP = 64         /* bytes that may contain no instructions */
};

static void decode(const struct gap_scan *g, vaddr at, struct insn *in)
{
    g->arch->decode(g->section->bytes + (at - g->section->addr), (size_t)(g->end - at), at, in);
}

static const uint8_t *bytes_at(const struct gap_scan *g, vaddr at, size_t n)
{
    return g->end - at >= n ? g->section->bytes + (at - g->section->addr) : NULL;
}

/* Nops, traps and zeros: behind them, where *in is the instruction unless the gap ends. No function begins with one of
   them. */
static vaddr skip_padding(const struct gap_scan *g, vaddr at, struct insn *in)
{
    while (at < g->end) {
        if (g->arch->min_length == 1 && *bytes_at(g, at, 1) == 0) {
            at++;
            continue;
        }
        const uint8_t *word = bytes_at(g, at, 4);
        decode(g, at, in);
        if (in->kind != INSN_PADDING && !(g->arch->min_length == 4 && word && arch_word(word) == 0))
            break;
        at += in->length;
    }
    return at;
}

/* ---- what code looks like ---- */

/* Nothing else begins this way. */
static bool sure_prologue_x86_64(const uint8_t *p)
{
    return arch_word(p) == 0xfa1e0ff3 ||                                       /* endbr64 */
           (p[0] == 0x55 && p[1] == 0x48 && (p[2] == 0x89 || p[2] == 0x8b)) || /* push %rbp; mov %rsp,%rbp */
           (p[0] == 0x55 && p[1] == 0x41 && p[2] >= 0x54 && p[2] <= 0x57) ||   /* push %rbp; push %r12 to %r15 */
           (p[0] == 0x41 && p[1] == 0x57 && p[2] == 0x41 && p[3] == 0x56);     /* push %r15; push %r14 */
}

static bool prologue_x86_64(const uint8_t *p)
{
    return sure_prologue_x86_64(p) || p[0] == 0x53 || p[0] == 0x55 ||        /* push %rbx; push %rbp */
           (p[0] == 0x41 && p[1] >= 0x54 && p[1] <= 0x57) ||                 /* push %r12 to %r15 */
           (p[0] == 0x48 && (p[1] == 0x83 || p[1] == 0x81) && p[2] == 0xec); /* sub $frame,%rsp */
}

static bool sure_prologue_aarch64(uint32_t w)
{
    return (w & 0xffc07fff) == 0xa9807bfd ||   /* stp x29, x30, [sp, #-frame]! */
           w == 0xd503233f || w == 0xd503245f; /* paciasp; bti c */
}

static bool is_sure_prologue(const struct gap_scan *g, vaddr at)
{
    const uint8_t *p = bytes_at(g, at, 4);
    return p && (g->arch->kind == ARCH_X86_64 ? sure_prologue_x86_64(p) : sure_prologue_aarch64(arch_word(p)));
}

static bool is_prologue(const struct gap_scan *g, vaddr at)
{
    const uint8_t *p = bytes_at(g, at, 4);
    return p && (g->arch->kind == ARCH_X86_64 ? prologue_x86_64(p)
                                              : sure_prologue_aarch64(arch_word(p)) ||
                                                    (arch_word(p) & 0xff8003ff) == 0xd10003ff); /* sub sp, sp, #frame */
}

/* Input and output, interrupt flags, far returns, xlat, additions to where a pointer is its own low byte: decodable,
   and in no program. */
static bool never_written(const struct gap_scan *g, vaddr at, unsigned length)
{
    const uint8_t *p = bytes_at(g, at, length);
    unsigned i = 0;
    if (g->arch->kind != ARCH_X86_64 || !p)
        return false;
    if (length == 2 && p[0] == 0 && p[1] == 0)
        return true;
    while (i + 1 < length && ((p[i] & 0xf0) == 0x40 || p[i] == 0x66 || p[i] == 0xf2 || p[i] == 0xf3))
        i++;
    uint8_t op = p[i];
    return (op & 0xfc) == 0x6c || (op & 0xf4) == 0xe4 || op == 0xfa || op == 0xfb || op == 0xca || op == 0xcb ||
           op == 0xcf || op == 0xf1 || op == 0xc8 || op == 0xd7;
}

static bool in_code(const struct gap_scan *g, vaddr addr)
{
    if (addr - g->section->addr < g->section->size)
        return true;
    const struct image_section *s = image_section_at(g->table->image, addr);
    return s && s->exec;
}

static bool is_transfer(const struct insn *in)
{
    return in->kind == INSN_BRANCH || in->kind == INSN_JUMP || in->kind == INSN_CALL;
}

static bool plausible(const struct gap_scan *g, const struct insn *in)
{
    return in->kind != INSN_BAD && !never_written(g, in->addr, in->length) &&
           (!is_transfer(in) || in_code(g, in->target));
}

static bool never_returns(const struct gap_scan *g, vaddr callee)
{
    uint32_t f = functions_at(g->table, callee);
    return f != FUNCTION_NONE && g->table->functions[f].begin == callee &&
           noreturn_name(g->table->functions[f].link_name);
}

static bool ends_control(const struct gap_scan *g, const struct insn *in)
{
    return (in->kind == INSN_CALL && never_returns(g, in->target)) || in->kind == INSN_JUMP ||
           in->kind == INSN_JUMP_INDIRECT || in->kind == INSN_RETURN || in->kind == INSN_STOP;
}

/* Do all branches that stay inside arrive where instructions begin? */
static bool branches_fit(const struct gap_scan *g, vaddr begin, vaddr end)
{
    for (size_t i = 0; i < g->targets.count; i++) {
        vaddr t = g->targets.items[i];
        size_t low = sorted_front(g->starts.count, k, g->starts.items[k] <= t); /* the first is `begin` */
        if (t >= begin && t < end && g->starts.items[low - 1] != t)
            return false;
    }
    return true;
}

/* ---- the gaps ---- */

/* Is the extent of a function only a guess, so that other functions may follow in it? Functions named by symbols are
   left alone: assembly has labels in it that look like functions. */
static bool is_open(const struct function *f)
{
    return !f->sized && !f->plt && (f->origin & ~(FROM_ENTRY | FROM_CALL)) == 0;
}

static bool has_stubs(const struct image_section *s)
{
    return str_starts(s->name, ".plt") || str_starts(s->name, ".iplt");
}

typedef void gap_visit(struct gap_scan *, vaddr begin, struct vaddr_list *out);

/* The first function that ends behind the address. */
static size_t first_behind(const struct function_table *t, vaddr at)
{
    return sorted_front(t->count, i, t->functions[i].end <= at);
}

static void visit_gaps_of_section(struct gap_scan *g, gap_visit *visit, struct vaddr_list *out)
{
    const struct function *f = g->table->functions;
    vaddr at = g->section->addr, stop = at + g->section->size;
    size_t next = first_behind(g->table, at), count = g->table->count;
    while (at < stop) {
        while (next < count && f[next].begin < stop && is_open(&f[next]))
            next++;
        bool last = next == count || f[next].begin >= stop;
        g->end = last ? stop : f[next].begin;
        if (at < g->end)
            visit(g, at, out);
        at = last ? stop : f[next++].end;
    }
}

static bool may_have_gaps(const struct image *im, const struct image_section *s)
{
    return s->alloc && s->exec && s->bytes && !has_stubs(s) && image_section_at(im, s->addr) == s;
}

static void visit_gaps(struct gap_scan *g, gap_visit *visit, struct vaddr_list *out)
{
    const struct image *im = g->table->image;
    for (size_t i = 0; i < im->section_count; i++) {
        g->section = &im->sections[i];
        if (may_have_gaps(im, g->section))
            visit_gaps_of_section(g, visit, out);
    }
}

/* ---- first reading: calls ---- */

static bool in_gap(const struct gap_scan *g, vaddr addr)
{
    uint32_t f = functions_at(g->table, addr);
    return in_code(g, addr) && (f == FUNCTION_NONE || is_open(&g->table->functions[f]));
}

static void list_calls(struct gap_scan *g, vaddr begin, struct vaddr_list *out)
{
    struct insn in;
    for (vaddr at = skip_padding(g, begin, &in); at < g->end; at = skip_padding(g, at + in.length, &in))
        if (in.kind == INSN_CALL && in.target != at + in.length && in_gap(g, in.target))
            *vec_push(out) = in.target;
}

/* With the open functions from `first` to `end`, which count as called. */
static void finish_called(struct gap_scan *g, size_t first, vaddr end)
{
    const struct function_table *t = g->table;
    for (size_t i = first; i < t->count && t->functions[i].begin < end; i++)
        if (is_open(&t->functions[i]))
            *vec_push(&g->called) = t->functions[i].begin;
    vec_sort_unique(&g->called, order_u64);
}

/* The first called address at or behind `at`; UINT64_MAX: none. */
static vaddr next_called(const struct gap_scan *g, vaddr at)
{
    size_t low = sorted_front(g->called.count, i, g->called.items[i] < at);
    return low < g->called.count ? g->called.items[low] : UINT64_MAX;
}

/* ---- second reading: functions ---- */

/* State of a function while it is read. */
struct reading {
    vaddr stop;    /* another one begins there, or the gap ends */
    vaddr branch;  /* furthest that a conditional branch goes */
    vaddr jump;    /* that a jump goes: maybe a tail call of another function further on */
    vaddr ended;   /* behind the last instruction that could be the function's last; 0: none yet */
    bool indirect; /* a jump table may lead anywhere behind */
};

static void note_instruction(struct gap_scan *g, struct reading *r, const struct insn *in)
{
    *vec_push(&g->starts) = in->addr;
    if (in->kind == INSN_BRANCH || in->kind == INSN_JUMP)
        *vec_push(&g->targets) = in->target;
    if (in->kind == INSN_BRANCH && in->target < r->stop && in->target > r->branch)
        r->branch = in->target;
    if (in->kind == INSN_JUMP && in->target < r->stop && in->target > r->jump)
        r->jump = in->target;
    r->indirect |= in->kind == INSN_JUMP_INDIRECT;
}

/* Behind an instruction that ends at `after`, and padding, there is `next`: does another function begin there? Where
   control cannot go on, and nothing in front leads there, it does, aligned or not. */
static bool is_boundary(const struct gap_scan *g, const struct reading *r, vaddr after, vaddr next, bool ends)
{
    bool padded = next > after, aligned = next % ALIGNMENT == 0;
    if (r->branch >= after)
        return false;
    if (!ends) /* a call, which may not return */
        return padded && aligned && is_prologue(g, next);
    if (r->indirect || r->jump >= after)
        return is_sure_prologue(g, next) || ((padded || aligned) && is_prologue(g, next));
    return true;
}

/* Reads a function; false: not a function. *end: behind it, as far as it could be read. */
static bool read_function(struct gap_scan *g, vaddr begin, vaddr *end)
{
    struct reading r = {.stop = g->end};
    struct insn in = {.kind = INSN_PLAIN};
    vaddr at = begin, called = next_called(g, begin + 1);
    if (called < r.stop)
        r.stop = called;
    if (r.stop - begin > FUNCTION_MOST)
        r.stop = begin + FUNCTION_MOST;
    g->starts.count = g->targets.count = 0;
    while (at < r.stop) {
        decode(g, at, &in);
        if (!plausible(g, &in))
            break;
        note_instruction(g, &r, &in);
        at += in.length;
        bool ends = ends_control(g, &in);
        if (!ends && in.kind != INSN_CALL)
            continue;
        vaddr next = skip_padding(g, at, &in);
        if (r.branch < at && (ends || next >= r.stop))
            r.ended = at;
        if (next >= r.stop || is_boundary(g, &r, at, next, ends))
            break;
    }
    *end = r.ended ? r.ended : at > begin ? at : begin + 1;
    return r.ended && branches_fit(g, begin, r.ended);
}

static bool may_begin(const struct gap_scan *g, vaddr at, bool padded)
{
    bool aligned = at % ALIGNMENT == 0;
    return next_called(g, at) == at || (padded && aligned && !g->strict) || ((padded || aligned) && is_prologue(g, at));
}

static void list_functions(struct gap_scan *g, vaddr begin, struct vaddr_list *out)
{
    bool follows = g->follows; /* the end of a function that was read here */
    for (vaddr at = begin; at < g->end;) {
        struct insn in;
        vaddr next = skip_padding(g, at, &in), called = next_called(g, at), end;
        if (called < next) { /* some begin with a nop */
            next = called;
            decode(g, next, &in);
        }
        if (next >= g->end)
            break;
        bool padded = next > at || (next == begin && !g->strict); /* or right behind a function that is known */
        follows = (follows || may_begin(g, next, padded)) && read_function(g, next, &end);
        if (follows) {
            *vec_push(out) = next;
            g->strict = false;
        }
        at = follows ? end : next + in.length;
    }
}

static void release(struct gap_scan *g)
{
    vec_release(&g->called);
    vec_release(&g->starts);
    vec_release(&g->targets);
}

void gaps_find(const struct function_table *table, struct range_list *functions)
{
    struct gap_scan g = {.table = table, .arch = arch_get(table->image->arch)};
    struct vaddr_list entries = {0};
    visit_gaps(&g, list_calls, &g.called);
    finish_called(&g, 0, UINT64_MAX);
    visit_gaps(&g, list_functions, &entries);
    vec_sort(&entries, order_u64);
    for (size_t i = 0; i < entries.count; i++)
        *vec_push(functions) = (struct addr_range){entries.items[i], UINT64_MAX};
    vec_release(&entries);
    release(&g);
}

/* ---- around single addresses ---- */

/* The gap that holds an address; sets g->section. */
static bool gap_around(struct gap_scan *g, vaddr addr, struct addr_range *gap)
{
    const struct function *f = g->table->functions;
    g->section = image_section_at(g->table->image, addr);
    if (!g->section || !may_have_gaps(g->table->image, g->section))
        return false;
    size_t behind = first_behind(g->table, addr), before = behind, count = g->table->count;
    if (behind < count && f[behind].begin <= addr && !is_open(&f[behind]))
        return false;
    *gap = (struct addr_range){g->section->addr, g->section->addr + g->section->size};
    while (before > 0 && f[before - 1].end > gap->begin && is_open(&f[before - 1]))
        before--;
    if (before > 0 && f[before - 1].end > gap->begin)
        gap->begin = f[before - 1].end;
    g->follows = before > 0 && f[before - 1].end == gap->begin && f[before - 1].origin & FROM_GAP;
    while (behind < count && f[behind].begin < gap->end && is_open(&f[behind]))
        behind++;
    if (behind < count && f[behind].begin < gap->end)
        gap->end = f[behind].begin;
    return true;
}

/* The piece of the gap that holds the address, and `more` bytes each way. */
static struct addr_range piece_around(const struct addr_range *gap, vaddr addr, vaddr more)
{
    vaddr begin = addr - addr % PIECE, end = begin + PIECE;
    return (struct addr_range){begin - gap->begin > more && begin > gap->begin ? begin - more : gap->begin,
                               gap->end - addr > end - addr + more ? end + more : gap->end};
}

/* Beginnings of functions in a piece of a gap. */
static void read_piece(struct gap_scan *g, const struct addr_range *piece, bool within_gap, struct vaddr_list *entries)
{
    g->follows &= !within_gap;
    g->end = piece->end;
    g->strict = within_gap;
    g->called.count = entries->count = 0;
    list_calls(g, within_gap && piece->end - piece->begin > OUT_OF_STEP ? piece->begin + OUT_OF_STEP : piece->begin,
               &g->called);
    finish_called(g, first_behind(g->table, piece->begin), piece->end);
    list_functions(g, piece->begin, entries);
}

/* The function among the entries of a piece that holds the address; false: its end, or its beginning, lie outside. */
static bool function_in_piece(const struct vaddr_list *entries, const struct addr_range *gap,
                              const struct addr_range *piece, vaddr addr, struct addr_range *function)
{
    size_t behind = sorted_front(entries->count, i, entries->items[i] <= addr);
    *function = (struct addr_range){behind > 0 ? entries->items[behind - 1] : UINT64_MAX,
                                    behind < entries->count ? entries->items[behind] : piece->end};
    return (behind > 0 || piece->begin == gap->begin) && (behind < entries->count || piece->end == gap->end);
}

void gaps_find_at(const struct function_table *table, const vaddr *addrs, size_t count, struct range_list *functions)
{
    struct gap_scan g = {.table = table, .arch = arch_get(table->image->arch)};
    struct vaddr_list entries = {0};
    struct addr_range gap, read = {0, 0}, function;
    for (size_t i = 0; i < count; i++) {
        if (functions->count > 0 && addrs[i] < functions->items[functions->count - 1].end)
            continue;
        if (!gap_around(&g, addrs[i], &gap))
            continue;
        for (vaddr more = PIECE;; more *= 4) {
            struct addr_range piece = piece_around(&gap, addrs[i], more);
            if (piece.begin != read.begin || piece.end != read.end)
                read_piece(&g, &piece, piece.begin > gap.begin, &entries);
            read = piece;
            if (function_in_piece(&entries, &gap, &piece, addrs[i], &function) || more >= FUNCTION_MOST)
                break;
        }
        if (function.begin != UINT64_MAX)
            *vec_push(functions) = function;
    }
    vec_release(&entries);
    release(&g);
}

void gaps_find_called(const struct function_table *table, const vaddr *entries, size_t count,
                      struct range_list *functions)
{
    struct gap_scan g = {.table = table, .arch = arch_get(table->image->arch)};
    struct addr_range gap;
    for (size_t i = 0; i < count; i++) {
        if (!gap_around(&g, entries[i], &gap))
            continue;
        vaddr end;
        g.end = i + 1 < count && entries[i + 1] < gap.end ? entries[i + 1] : gap.end;
        read_function(&g, entries[i], &end);
        *vec_push(functions) = (struct addr_range){entries[i], end};
    }
    release(&g);
}
