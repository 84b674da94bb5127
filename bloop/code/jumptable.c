/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Targets of indirect jumps.
 *
 * The address jumped to is followed backwards through the few instructions that made it, over blocks too, until it has
 * the form
 *
 *     constant + scale * entry,   entry = memory[table + step * index]      (a jump table)
 *
 * The number of entries of a table follows from the comparison that guards the jump, from a mask, or from the size of the
 * index; otherwise (computed gotos) the table ends where the next known object begins or where an entry does not lead into
 * the function.
 *
 *     cmp  $5,%edi           index < 6: compare and index lead back to the same value, %edi at the function's start
 *     ja   default
 *     mov  %edi,%edi
 *     lea  table(%rip),%rdx
 *     movslq (%rdx,%rdi,4),%rax
 *     add  %rdx,%rax
 *     jmp  *%rax
 *
 * A jump without a table is a tail call if the function's frame is released at that place (the stack pointer equals its value
 * at the entry): C++ virtual calls, calls of function pointers, PLT stubs. A jump with the frame in place in a function that
 * holds tables of its own labels is a computed goto whose table cannot be followed (threaded code): it may go to every label
 * whose address the function takes. All others are unresolved, and counted.
 *
 * The work for one jump is bounded (STEPS_MAX); nothing recurses deeper than DEPTH_MAX.
 */
#include "bloop/code/jump_int.h"

#include <stdlib.h>

void jumptable_release(struct jumptable_work *j)
{
    if (j == NULL)
        return;
    vec_release(&j->preds);
    vec_release(&j->constants);
    vec_release(&j->ends);
    vec_release(&j->labels);
    vec_release(&j->neighbours);
    vec_release(&j->tentative);
    vec_release(&j->found);
    vec_release(&j->visited);
    vec_release(&j->heights);
    mem_free(j);
}

static void keep_targets(struct cfg_work *w, struct indirect *in)
{
    struct jumptable_work *j = w->jumptable;
    vec_sort(&j->found, order_u32);
    in->target_first = (uint32_t)w->targets.count;
    for (size_t i = 0; i < j->found.count; i++)
        if (i == 0 || j->found.items[i] != j->found.items[i - 1])
            *vec_push(&w->targets) = j->found.items[i];
    in->target_count = (uint32_t)w->targets.count - in->target_first;
}

/* All jumps of a round that may go to every label share one list of targets. */
static void keep_labels(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    struct indirect in = {0};
    jump_list_labels(w);
    j->found.count = 0;
    for (size_t i = 0; i < j->labels.count; i++)
        *vec_push(&j->found) = j->labels.items[i];
    keep_targets(w, &in);
    j->label_first = in.target_first;
    j->label_count = in.target_count;
    j->have_labels = true;
}

/* Forms of the address jumped to, on each way where a join came between the table and the jump. */
static enum jump_reading follow(struct cfg_work *w, struct form f, unsigned depth)
{
    struct jumptable_work *j = w->jumptable;
    if (f.kind == FORM_ENTRY)
        return jump_read_table(w, &f);
    if (f.kind == FORM_LINEAR && f.scale > 1 && jump_plausible(w, f.add) != POS_NONE)
        return j->guarded_only ? LATER : jump_read_stride(w, &f);
    if (f.kind != FORM_LINEAR || f.root.defined || f.root.place.slot || f.scale != 1 || f.add != 0 || depth == 0)
        return NO_TABLE;
    struct ways v = jump_ways_into(w, f.root.at);
    enum jump_reading result = NO_TABLE;
    for (size_t i = 0; i < v.count && i < JOIN_MAX; i++) {
        enum jump_reading one = follow(w, jump_eval_after(w, f.root.place, jump_way(&v, i), DEPTH_MAX), depth - 1);
        if (one == LATER)
            return LATER;
        if (result == NO_TABLE || one == TABLE)
            result = one;
    }
    return result;
}

static struct form address_of_jump(struct cfg_work *w, pos at)
{
    struct op op;
    jump_lift(w, at, &op);
    if (op.kind == OP_JUMP)
        return jump_eval_register(w, op.base, at, DEPTH_MAX);
    if (op.kind == OP_JUMP_LOAD)
        return jump_eval_load(w, op, (struct root){.at = at, .defined = true}, DEPTH_MAX);
    return jump_constant(0);
}

/* A pointer at a fixed place, the linker's for instance: no table. */
static bool is_through_pointer(struct cfg_work *w, pos at)
{
    struct op op;
    jump_lift(w, at, &op);
    return op.kind == OP_JUMP_LOAD && op.base == ARCH_NO_REG && op.index == ARCH_NO_REG;
}

static void resolve(struct cfg_work *w, struct indirect *in)
{
    struct jumptable_work *j = w->jumptable;
    if (j->steps_left < 0) {
        in->state = INDIRECT_UNKNOWN;
        return;
    }
    j->steps = 0;
    j->found.count = 0;
    struct form f = address_of_jump(w, in->at);
    uint64_t value;
    if (f.kind == FORM_LINEAR && f.scale == 1 && f.add == 0 && !f.root.defined && !f.root.place.slot &&
        jump_search_constant(w, f.root.place.reg, f.root.at, &value)) /* a label that a register holds all the time */
        f = jump_constant(value);
    enum jump_reading reading = NO_TABLE;
    if (f.kind == FORM_CONST && f.add != 0 && jump_plausible(w, f.add) != POS_NONE) {
        *vec_push(&j->found) = jump_plausible(w, f.add);
        reading = TABLE;
    } else {
        reading = follow(w, f, 2);
    }
    if (reading == LATER)
        return;
    if (reading == TABLE) {
        in->state = INDIRECT_RESOLVED;
        keep_targets(w, in);
        return;
    }
    j->steps = 0;
    if (reading == FOREIGN_TABLE || jump_frame_is_gone(w, in->at)) {
        in->state = INDIRECT_TAIL_CALL;
        return;
    }
    if (j->guarded_only) /* more code may show more labels */
        return;
    if (!j->have_labels)
        keep_labels(w);
    in->state = j->label_count >= 2             ? INDIRECT_RESOLVED
                : is_through_pointer(w, in->at) ? INDIRECT_TAIL_CALL
                                                : INDIRECT_UNKNOWN;
    in->target_first = j->label_first;
    in->target_count = j->label_count >= 2 ? j->label_count : 0;
    in->shares = j->labels_used;
    j->labels_used = true;
}

/* First the jumps whose table has a known length: their targets help to find the ends of the others' tables. */
bool jumptable_resolve(struct cfg_work *w, bool new_function)
{
    if (w->jumptable == NULL)
        w->jumptable = mem_calloc(1, sizeof *w->jumptable);
    struct jumptable_work *j = w->jumptable;
    j->round++;
    j->have_labels = j->labels_used = false;
    if (new_function) {
        j->have_neighbours = false;
        j->entries_left = ENTRIES_MAX + 4ull * w->end;
        j->steps_left = STEPS_OF_FUNCTION + 2ll * w->end;
    }
    jump_list_preds(w);
    jump_list_constants(w);
    bool progress = false;
    j->guarded_only = true;
    for (int pass = 0; pass < 2 && !progress; pass++, j->guarded_only = false)
        for (size_t i = 0; i < w->indirects.count; i++)
            if (w->indirects.items[i].state == INDIRECT_NEW) {
                resolve(w, &w->indirects.items[i]);
                progress |= w->indirects.items[i].state != INDIRECT_NEW;
            }
    return progress;
}
