/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the function's frame released at a jump? Then it is a tail call. */
#include "bloop/code/jump_int.h"

static bool gives_back(const struct op *op)
{
    return op->stack > 0 || op->stack_lost;
}

/* Right before the jump, in its block, the frame is released: the last change of the stack pointer frees memory, and
   not after a call, whose arguments it might be. Code further before is not the jump's. */
static bool taken_down_before(struct cfg_work *w, pos p)
{
    enum { FURTHEST = 32 }; /* instructions */
    struct op op = {0};
    for (int i = 0; !gives_back(&op); i++) {
        p = jump_line_pred(w, p);
        if (i == FURTHEST || p == POS_NONE || jump_out_of_steps(w))
            return false;
        jump_lift(w, p, &op);
        if (op.stack < 0 || op.calls)
            return false;
    }
    while (gives_back(&op)) {
        p = jump_line_pred(w, p);
        if (p == POS_NONE || jump_out_of_steps(w))
            return true;
        jump_lift(w, p, &op);
    }
    return !op.calls;
}

/* The stack pointer was set from the frame pointer, and `added` bytes given back since. */
static bool back_at_entry(const struct cfg_work *w, int64_t added)
{
    int64_t height = w->in->arch->detail->frame_height;
    return height != 0 ? added == height : added > 0;
}

/* Is the stack pointer at this place equal to its value at the function's entry? Any path back to the entry decides
   it, since code keeps its stack balanced. The search goes back from place to place, each with the amount added to the
   stack pointer from there to the jump. */
bool jump_frame_is_gone(struct cfg_work *w, pos jump)
{
    struct jumptable_work *j = w->jumptable;
    pos entry = w->entries.items[0];
    j->heights.count = j->visited.count = 0;
    *vec_push(&j->heights) = (struct height){jump, 0};
    for (size_t done = 0; done < j->heights.count && !jump_out_of_steps(w); done++) {
        struct height h = j->heights.items[done];
        for (bool more = true; more && !jump_out_of_steps(w);) {
            if (h.at == entry)
                return h.added == 0 || taken_down_before(w, jump);
            struct ways v = jump_ways_into(w, h.at);
            more = false;
            for (size_t i = v.count; i-- > 0;) { /* the line is the last of the ways, and taken first */
                pos from = jump_way(&v, i);
                if (v.count > 1 && (j->visited.count >= JOIN_MAX || !jump_visit(j, from)))
                    continue;
                struct op op;
                jump_lift(w, from, &op);
                struct height next = {from, h.added + op.stack};
                if (op.stack_lost)
                    return op.from_frame && back_at_entry(w, next.added);
                if (v.count == 1) {
                    h = next;
                    more = true;
                } else {
                    *vec_push(&j->heights) = next;
                }
            }
        }
    }
    return taken_down_before(w, jump);
}
