/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables: how many entries one has, and where they lead.
 */
#include "bloop/code/jump_int.h"

#include <stdlib.h>

/* ---- how many entries ----------------------------------------------------------------------------------- */

/* index = f->index_add + root of f */
struct index {
    uint64_t add;
    struct root root;
};

/* The comparison whose flags a branch at b uses. */
static bool find_compare(struct cfg_work *w, pos b, struct op *op, pos *at)
{
    pos p = b;
    for (int i = 0; i < 16; i++) {
        p = jump_only_pred(w, p);
        if (p == POS_NONE || jump_out_of_steps(w))
            return false;
        jump_lift(w, p, op);
        if (op->compare != COMPARE_NONE) {
            *at = p;
            return op->compare != COMPARE_UNKNOWN;
        }
    }
    return false;
}

/* Values that pass: 0 .. result - 1. 0: the test says nothing of the kind. */
static uint64_t passing(enum branch_test test, bool taken, uint64_t c)
{
    switch (test) {
    case TEST_ABOVE:
    case TEST_GREATER_SIGNED:
        return taken ? 0 : c + 1;
    case TEST_ABOVE_EQUAL:
        return taken ? 0 : c;
    case TEST_BELOW:
        return taken ? c : 0;
    case TEST_BELOW_EQUAL:
    case TEST_LESS_EQUAL_SIGNED:
        return taken ? c + 1 : 0;
    case TEST_EQUAL:
        return taken ? c + 1 : 0;
    case TEST_NOT_EQUAL:
        return taken ? 0 : c + 1;
    default:
        return 0;
    }
}

/* How many values the index can have when control came by this branch, taken or not; 0: it does not say. */
static uint64_t guarded(struct cfg_work *w, const struct index *x, pos b, bool taken)
{
    const struct cfg_part *part = cfg_part_at(w, b);
    struct op op = {0};
    pos at;
    enum branch_test test = w->in->arch->detail->test(part->bytes + (b - part->first),
                                                      (size_t)(part->end - part->begin) - (b - part->first));
    if (test == TEST_OTHER || !find_compare(w, b, &op, &at))
        return 0;
    struct form c = {.kind = FORM_CONST, .add = (uint64_t)op.cmp_const}, value;
    if (op.compare == COMPARE_REG)
        c = jump_eval_register(w, op.cmp_reg2, at, 6);
    if (op.compare == COMPARE_MEM_CONST) {
        if (op.index != ARCH_NO_REG)
            return 0;
        value = jump_eval(w, (struct jump_place){.slot = true, .reg = op.base, .disp = op.disp}, at, DEPTH_MAX);
    } else {
        value = jump_eval_register(w, op.cmp_reg, at, DEPTH_MAX);
    }
    jump_demote_entry(&value);
    if (c.kind != FORM_CONST || value.kind != FORM_LINEAR || value.scale <= 0 || !jump_same_root(&value.root, &x->root))
        return 0;
    uint64_t constant = op.cmp_size < 8 && op.cmp_size > 0 ? c.add & ((1ull << (8 * op.cmp_size)) - 1) : c.add;
    uint64_t n = passing(test, taken, constant);
    if (n == 0 || n > INT32_MAX)
        return 0;
    /* add + scale * root < n, so root < (n - add) / scale, rounded up; negative where what is added wraps around */
    int64_t room = (int64_t)(n - value.add), roots = room / value.scale + (room % value.scale > 0);
    return (uint64_t)roots + x->add;
}

static bool is_branch(const struct cfg_work *w, pos p)
{
    const struct term *t = cfg_term_at(w, p);
    return t && t->kind == INSN_BRANCH;
}

/* How many values the index can have before p; 0: unknown. */
static uint64_t bound(struct cfg_work *w, const struct index *x, pos p, unsigned depth)
{
    for (int i = 0; i < 200 && !jump_out_of_steps(w); i++) {
        struct ways v = jump_ways_into(w, p);
        if (v.count == 0 || v.entered || (v.count > 1 && (depth == 0 || v.count > JOIN_MAX)))
            break;
        if (v.count == 1) {
            pos from = jump_way(&v, 0);
            if (is_branch(w, from)) {
                uint64_t n = guarded(w, x, from, v.branch_count == 1);
                if (n > 0 && n <= ENTRIES_MAX)
                    return n;
            }
            if (x->root.defined && from == x->root.at)
                break;
            p = from;
            continue;
        }
        uint64_t most = 0;
        for (size_t k = 0; k < v.count; k++) {
            pos from = jump_way(&v, k);
            struct index here = *x;
            uint64_t n = 0;
            if (!x->root.defined && x->root.at == p) {
                struct form f = jump_eval_after(w, x->root.place, from, DEPTH_MAX);
                jump_demote_entry(&f);
                if (f.kind == FORM_CONST)
                    n = f.add + x->add + 1;
                else if (f.kind != FORM_LINEAR || f.scale != 1)
                    return 0;
                here = (struct index){x->add + f.add, f.root};
            }
            if (n == 0 && is_branch(w, from))
                n = guarded(w, &here, from, k < v.branch_count);
            if (n == 0)
                n = bound(w, &here, from, depth - 1);
            if (n == 0 || n > ENTRIES_MAX)
                return 0;
            most = n > most ? n : most;
        }
        return most;
    }
    return 0;
}

/* ---- reading tables ---------------------------------------------------------------------------------------- */

static bool read_entry(const struct cfg_work *w, const struct form *f, uint64_t i, uint64_t *entry)
{
    const struct image *im = w->in->image;
    vaddr a = f->table + i * (uint64_t)f->step;
    uint64_t v;
    if (f->size == 8)
        return image_pointer(im, a, entry);
    if (!jump_read_bytes(im, a, f->size, &v))
        return false;
    unsigned shift = 64 - 8u * f->size;
    *entry = f->sign ? (uint64_t)((int64_t)(v << shift) >> shift) : v;
    return true;
}

static vaddr next_in(const struct VEC_vaddr *sorted, vaddr after)
{
    size_t lo = sorted_front(sorted->count, i, sorted->items[i] <= after);
    return lo < sorted->count ? sorted->items[lo] : UINT64_MAX;
}

/* Compilers place the tables of one function after those of the one before. So the addresses that the next functions
   compute bound our last table. Their instructions are swept linearly, which is accurate enough for addresses. */
static void list_neighbours(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    const struct function_index *x = &w->index;
    uint64_t swept = 0;
    j->neighbours.count = 0;
    j->have_neighbours = true;
    for (uint32_t f = w->in->function + 1; f < x->count && swept < NEIGHBOUR_BYTES; f++) {
        size_t avail = 0;
        vaddr a = x->functions[f].begin, size = x->functions[f].end - a;
        const uint8_t *p = image_bytes(w->in->image, a, &avail);
        size = size < avail ? size : avail;
        size = size < NEIGHBOUR_BYTES ? size : NEIGHBOUR_BYTES;
        for (uint64_t at = 0; p != NULL && at < size;) {
            struct insn in;
            uint8_t reg;
            vaddr value;
            if (w->in->arch->detail->constant(p + at, size - at, a + at, &reg, &value))
                *vec_push(&j->neighbours) = value;
            w->in->arch->decode(p + at, size - at, a + at, &in);
            at += in.length;
        }
        swept += size;
    }
    vec_sort(&j->neighbours, order_u64);
}

/* The start of the object that follows the one at `table`, as far as code here and in the next functions shows. */
static vaddr next_object(struct cfg_work *w, vaddr table)
{
    struct jumptable_work *j = w->jumptable;
    if (!j->have_neighbours)
        list_neighbours(w);
    vaddr own = next_in(&j->ends, table), other = next_in(&j->neighbours, table);
    return own < other ? own : other;
}

/* Table bytes that lie in code are never decoded. */
static void mark_table(struct cfg_work *w, const struct form *f, uint64_t count)
{
    const struct image_section *s = image_section_at(w->in->image, f->table);
    if (s == NULL || !s->exec)
        return;
    uint64_t bytes = (count - 1) * (uint64_t)f->step + f->size;
    for (uint64_t i = 0; i < bytes; i++) {
        pos p = cfg_position(w, f->table + i);
        if (p == POS_NONE) {
            w->table_bytes++;
        } else if (!bit_get(w->covered, p) && !bit_get(w->table, p)) {
            bit_set(w->table, p);
            w->table_bytes++;
        }
    }
}

/* Is code at p consistent with the code that is known? Decodes ahead, remembering in the tentative maps, up to known
   code or a place where control does not continue. Entries read beyond a table's end lead to arbitrary bytes, and soon
   into the middle of an instruction. */
static bool fits(struct cfg_work *w, pos p)
{
    struct jumptable_work *j = w->jumptable;
    const struct cfg_part *part = cfg_part_at(w, p);
    const pos end = part->first + (pos)(part->end - part->begin);
    bool after_call = false; /* that never returns, if the function ends there */
    for (int i = 0; i < 200 && p < end; i++) {
        if (bit_get(w->start, p) || bit_get(w->maybe_start, p))
            return true;
        struct insn in = cfg_insn_at(w, p);
        for (pos k = p; k < p + in.length; k++)
            if (bit_get(w->covered, k) || bit_get(w->maybe_covered, k))
                return false;
        if (in.kind == INSN_BAD)
            return in.length > 1;
        bit_set(w->maybe_start, p);
        *vec_push(&j->tentative) = p;
        for (pos k = p; k < p + in.length; k++) {
            bit_set(w->maybe_covered, k);
            *vec_push(&j->tentative) = k;
        }
        if (in.kind == INSN_JUMP || in.kind == INSN_JUMP_INDIRECT || in.kind == INSN_RETURN || in.kind == INSN_STOP)
            return true;
        after_call = in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT || (after_call && in.kind == INSN_PADDING);
        p += in.length;
    }
    return p < end || after_call;
}

static void forget_tentative(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    for (size_t i = 0; i < j->tentative.count; i++) {
        bit_clear(w->maybe_start, j->tentative.items[i]);
        bit_clear(w->maybe_covered, j->tentative.items[i]);
    }
    j->tentative.count = 0;
}

enum entry { ENTRY_NONE, ENTRY_LABEL, ENTRY_HOLE, ENTRY_ELSEWHERE, ENTRY_FUNCTION };

/* clang gives cases that cannot happen (__builtin_unreachable) the label of an empty block, which often is the last:
 * the end of the function. */
static bool is_end_of_part(const struct cfg_work *w, vaddr a)
{
    for (size_t i = 0; i < w->parts.count; i++)
        if (w->parts.items[i].end == a)
            return true;
    return false;
}

static enum entry read_target(struct cfg_work *w, const struct form *f, uint64_t i, pos *p)
{
    uint64_t entry;
    if (!read_entry(w, f, i, &entry))
        return ENTRY_NONE;
    vaddr target = f->add + entry * (uint64_t)f->scale;
    *p = jump_plausible(w, target);
    if (*p != POS_NONE)
        return ENTRY_LABEL;
    if (is_end_of_part(w, target))
        return ENTRY_HOLE;
    uint32_t other = function_index_find(&w->index, target);
    if (other == FUNCTION_NONE || other == w->in->function)
        return ENTRY_NONE;
    /* Into the middle of another function: a stripped binary does not say that this is our cold part. */
    return w->index.functions[other].begin == target ? ENTRY_FUNCTION : ENTRY_ELSEWHERE;
}

/* A guarded table may have entries that leave for other functions, or for nowhere. */
static enum jump_reading read_guarded_table(struct cfg_work *w, const struct form *f, uint64_t n)
{
    struct jumptable_work *j = w->jumptable;
    size_t before = j->found.count;
    uint64_t counts[5] = {0};
    for (uint64_t i = 0; i < n && j->entries_left > 0; i++, j->entries_left--) {
        pos p;
        enum entry e = read_target(w, f, i, &p);
        counts[e]++;
        if (e == ENTRY_LABEL)
            *vec_push(&j->found) = p;
    }
    if (counts[ENTRY_LABEL] == 0 && counts[ENTRY_FUNCTION] > 0)
        return FOREIGN_TABLE;
    if (counts[ENTRY_LABEL] + counts[ENTRY_ELSEWHERE] == 0 || counts[ENTRY_NONE] * 2 > n) {
        j->found.count = before;
        return NO_TABLE;
    }
    mark_table(w, f, n);
    return TABLE;
}

/* Tables of unknown length. */
static enum jump_reading read_open_table(struct cfg_work *w, const struct form *f, uint64_t most)
{
    struct jumptable_work *j = w->jumptable;
    size_t before = j->found.count;
    vaddr end = next_object(w, f->table);
    uint64_t i;
    enum entry e = ENTRY_NONE;
    for (i = 0; i < most && f->table + i * (uint64_t)f->step < end && j->entries_left > 0; i++, j->entries_left--) {
        pos p;
        e = read_target(w, f, i, &p);
        if (e != ENTRY_HOLE && (e != ENTRY_LABEL || !fits(w, p)))
            break;
        if (e == ENTRY_LABEL)
            *vec_push(&j->found) = p;
    }
    forget_tentative(w);
    if (i == 0 && e == ENTRY_FUNCTION && f->size == 8)
        return FOREIGN_TABLE;
    if (i < 2 || j->found.count == before) { /* one entry may be chance */
        j->found.count = before;
        return NO_TABLE;
    }
    mark_table(w, f, i);
    return TABLE;
}

/* Appends the targets of the entries. LATER: it has no guard, and guarded tables come first. */
enum jump_reading jump_read_table(struct cfg_work *w, const struct form *f)
{
    struct jumptable_work *j = w->jumptable;
    struct index x = {f->index_add, f->root};
    uint64_t n = bound(w, &x, f->self.at, 4), most = ENTRIES_MAX;
    if (n > 0 && n <= ENTRIES_MAX)
        return read_guarded_table(w, f, n);
    if (j->guarded_only)
        return LATER;
    if (f->limit != 0 && f->limit + f->index_add < most)
        most = f->limit + f->index_add;
    return read_open_table(w, f, most);
}

/* label + scale * number: pieces of code of equal length, as in hand-written memcpy. */
enum jump_reading jump_read_stride(struct cfg_work *w, const struct form *f)
{
    struct jumptable_work *j = w->jumptable;
    size_t before = j->found.count;
    for (uint64_t i = 0; i < STRIDES_MAX && j->entries_left > 0; i++, j->entries_left--) {
        pos p = jump_plausible(w, f->add + i * (uint64_t)f->scale);
        if (p == POS_NONE || !fits(w, p))
            break;
        *vec_push(&j->found) = p;
    }
    forget_tentative(w);
    return j->found.count > before ? TABLE : NO_TABLE;
}

/* ---- addresses the code makes ---- */

void jump_list_constants(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    bool (*constant)(const uint8_t *, size_t, vaddr, uint8_t *, vaddr *) = w->in->arch->detail->constant;
    j->constants.count = j->ends.count = 0;
    for (pos p = bit_next(w->start, 0, w->end); p < w->end; p = bit_next(w->start, p + 1, w->end)) {
        const struct cfg_part *part = cfg_part_at(w, p);
        struct constant c = {.at = p};
        if (constant(part->bytes + (p - part->first), (size_t)(part->end - part->begin) - (p - part->first),
                     part->begin + (p - part->first), &c.reg, &c.value)) {
            *vec_push(&j->constants) = c;
            *vec_push(&j->ends) = c.value;
        }
    }
    vec_sort(&j->ends, order_u64);
}

/* Labels that code or tables of pointers, whose address the code makes, hold. */
void jump_list_labels(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    j->labels.count = 0;
    for (size_t i = 0; i < j->constants.count; i++) {
        vaddr a = j->constants.items[i].value, target;
        pos p = jump_plausible(w, a);
        if (p != POS_NONE && a != w->in->functions->functions[w->in->function].begin)
            *vec_push(&j->labels) = p;
        size_t before = j->labels.count;
        if (a % 8 != 0 || p != POS_NONE)
            continue;
        for (unsigned k = 0; k < ENTRIES_MAX && image_pointer(w->in->image, a + 8 * k, &target); k++) {
            p = jump_plausible(w, target);
            if (p == POS_NONE)
                break;
            *vec_push(&j->labels) = p;
        }
        if (j->labels.count == before + 1) /* one pointer is not a table */
            j->labels.count = before;
    }
}
