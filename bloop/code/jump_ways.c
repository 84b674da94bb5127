/* SPDX-License-Identifier: BSD-3-Clause */
/* Walking backward through the known code: effects of instructions, and predecessors. */
#include "bloop/code/jump_int.h"

#include <stdlib.h>

static void count_step(struct jumptable_work *j)
{
    j->steps++;
    j->steps_left--;
}

void jump_lift(struct cfg_work *w, pos at, struct op *op)
{
    struct lifted *cached = &w->jumptable->lifted[at % ARRAY_SIZE(w->jumptable->lifted)];
    count_step(w->jumptable);
    if (cached->round == w->jumptable->round && cached->at == at) {
        *op = cached->op;
        return;
    }
    const struct cfg_part *part = cfg_part_at(w, at);
    const uint8_t *p = part->bytes + (at - part->first);
    size_t n = (size_t)(part->end - part->begin) - (at - part->first);
    vaddr a = part->begin + (at - part->first);
    struct insn in = cfg_insn_at(w, at);
    w->in->arch->detail->lift(p, n, a, op);
    if (in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT) {
        op->clobbers |= w->in->arch->detail->call_clobbers;
        op->compare = COMPARE_UNKNOWN;
        op->stack = 0; /* the return pops the address it pushes */
        op->stack_lost = false;
        op->calls = true;
    }
    *cached = (struct lifted){w->jumptable->round, at, *op};
}

/* The instruction that control runs from into p, or POS_NONE. */
pos jump_line_pred(const struct cfg_work *w, pos p)
{
    const struct cfg_part *part = cfg_part_at(w, p);
    for (pos q = p; q-- > part->first && p - q <= 16;) {
        if (!bit_get(w->start, q) || q + cfg_insn_at(w, q).length != p)
            continue;
        const struct term *t = cfg_term_at(w, q);
        return t && !t->goes_on ? POS_NONE : q;
    }
    return POS_NONE;
}

static int by_target(const void *a, const void *b)
{
    const struct branch_pred *x = a, *y = b;
    return order_of(x->target, y->target) ?: order_of(x->from, y->from);
}

void jump_list_preds(struct cfg_work *w)
{
    struct jumptable_work *j = w->jumptable;
    j->preds.count = 0;
    for (size_t i = 0; i < w->terms.count; i++)
        if (w->terms.items[i].target != POS_NONE)
            *vec_push(&j->preds) = (struct branch_pred){w->terms.items[i].target, w->terms.items[i].at};
    for (size_t i = 0; i < w->indirects.count; i++)
        for (uint32_t k = 0; !w->indirects.items[i].shares && k < w->indirects.items[i].target_count; k++)
            *vec_push(&j->preds) = (struct branch_pred){w->targets.items[w->indirects.items[i].target_first + k],
                                                        w->indirects.items[i].at};
    vec_sort(&j->preds, by_target);
}

struct ways jump_ways_into(const struct cfg_work *w, pos p)
{
    struct jumptable_work *j = w->jumptable;
    count_step(j);
    struct ways r = {.line = jump_line_pred(w, p), .entered = bit_get(w->entered, p)};
    if (bit_get(w->leader, p) && j->preds.count) {
        size_t lo = sorted_front(j->preds.count, i, j->preds.items[i].target < p);
        r.branches = j->preds.items + lo;
        while (lo + r.branch_count < j->preds.count && j->preds.items[lo + r.branch_count].target == p &&
               r.branch_count <= JOIN_MAX) /* more than are followed */
            r.branch_count++;
    }
    r.count = r.branch_count + (r.line != POS_NONE);
    return r;
}

pos jump_way(const struct ways *v, size_t i)
{
    return i < v->branch_count ? v->branches[i].from : v->line;
}

/* The only instruction control comes from to p, or POS_NONE. */
pos jump_only_pred(const struct cfg_work *w, pos p)
{
    struct ways v = jump_ways_into(w, p);
    return v.count == 1 && !v.entered ? jump_way(&v, 0) : POS_NONE;
}

bool jump_out_of_steps(const struct cfg_work *w)
{
    return w->jumptable->steps > STEPS_MAX || w->jumptable->steps_left < 0;
}

/* A place in this function where an instruction is or may be. */
pos jump_plausible(const struct cfg_work *w, vaddr target)
{
    pos p = cfg_position(w, target);
    if (p == POS_NONE || bit_get(w->table, p) || (target & (w->in->arch->min_length - 1)) != 0)
        return POS_NONE;
    return bit_get(w->covered, p) && !bit_get(w->start, p) ? POS_NONE : p;
}

bool jump_read_bytes(const struct image *im, vaddr at, unsigned size, uint64_t *value)
{
    size_t avail = 0;
    const uint8_t *p = image_bytes(im, at, &avail);
    if (p == NULL || size < 1 || size > 4 || avail < size)
        return false;
    *value = 0;
    for (unsigned k = size; k-- > 0;)
        *value = *value << 8 | p[k];
    return true;
}

bool jump_visit(struct jumptable_work *j, pos p)
{
    for (size_t i = 0; i < j->visited.count; i++)
        if (j->visited.items[i] == p)
            return false;
    *vec_push(&j->visited) = p;
    return true;
}
