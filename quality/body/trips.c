/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trip counts that the code itself shows: the condition of the last branch compares a register that moves by a known
 * step with one that does not move, and both are known at the loop's entry, or their distance is: it begins at i * 27
 * and ends before (i + 1) * 27.
 */
#include "quality/body/body.h"

#include <math.h>

enum { BLOCKS_BACK = 6 };

/* The sum of registers, as they are at the beginning of a block, that is the distance from the counter to its end. */
struct distance {
    int64_t factors[ARCH_REGS], add;
};

static void substitute(struct distance *d, unsigned reg, uint8_t base, uint8_t index, int64_t scale, int64_t disp)
{
    int64_t f = d->factors[reg];
    d->factors[reg] = 0;
    d->add += f * disp;
    if (base < ARCH_REGS)
        d->factors[base] += f;
    if (index < ARCH_REGS)
        d->factors[index] += f * scale;
}

/* From behind the instruction to in front of it; false: it makes one of the registers in a way that is not followed. */
static bool step_back(const struct bloop_code *code, const struct insn_facts *f, const struct op *op,
                      struct distance *d)
{
    bool plain = op->kind == OP_ADDRESS && op->dst < ARCH_REGS && (op->size >= 4 || op->size == 0) &&
                 (op->index >= ARCH_REGS || op->index_size == 0 || op->index_size >= 4);
    bool calls = f->insn.kind == INSN_CALL || f->insn.kind == INSN_CALL_INDIRECT;
    uint32_t written = f->writes.general | (calls ? code->arch->detail->call_clobbers : 0);
    for (unsigned r = 0; r < ARCH_REGS; r++)
        if (d->factors[r] && (written >> r & 1)) {
            if (f->constant_result && !plain && f->insn.length && !f->has_constant)
                d->factors[r] = 0; /* xor r, r */
            else if (plain && op->dst == r)
                substitute(d, r, op->base, op->index, op->scale, op->disp);
            else
                return false;
        }
    return true;
}

enum { INSTRUCTIONS_MOST = 256 };
struct decoded {
    struct insn_facts f;
    struct op op;
};

static size_t decode_block(const struct bloop_code *code, uint32_t block, struct decoded *out)
{
    const struct cfg_block *at = &code->cfg->blocks[block];
    size_t avail, n = 0;
    const uint8_t *bytes = image_bytes(code->image, at->begin, &avail);
    if (!bytes || at->end - at->begin > avail)
        return SIZE_MAX;
    for (vaddr a = at->begin; a < at->end; a += out[n++].f.insn.length) {
        size_t left = (size_t)(at->end - a);
        if (n == INSTRUCTIONS_MOST || !code->arch->facts(bytes + (a - at->begin), left, a, &out[n].f) ||
            !out[n].f.insn.length)
            return SIZE_MAX;
        code->arch->detail->lift(bytes + (a - at->begin), left, a, &out[n].op);
    }
    return n;
}

static bool block_back(const struct bloop_code *code, uint32_t block, struct distance *d)
{
    struct decoded *all = mem_alloc(INSTRUCTIONS_MOST * sizeof *all);
    size_t n = decode_block(code, block, all);
    bool followed = n != SIZE_MAX;
    while (followed && n-- > 0)
        followed = step_back(code, &all[n].f, &all[n].op, d);
    mem_free(all);
    return followed;
}

static bool holds(const struct loop_forest *f, uint32_t loop, uint32_t block)
{
    uint32_t at = f->block_loop[block];
    while (at != LOOP_NONE && at != loop)
        at = f->loops[at].parent;
    return at == loop;
}

/* The only block outside of the loop (LOOP_NONE: any) that leads to this one; UINT32_MAX: there are several, or none. */
static uint32_t only_predecessor(const struct bloop_code *code, uint32_t block, uint32_t outside)
{
    const struct cfg *g = code->cfg;
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < g->block_count; i++)
        for (uint32_t k = 0; k < g->blocks[i].succ_count; k++) {
            bool leads = g->succs[g->blocks[i].succ_first + k] == block;
            if (!leads || i == found || (outside != LOOP_NONE && holds(code->forest, outside, i)))
                continue;
            if (found != UINT32_MAX)
                return UINT32_MAX;
            found = i;
        }
    return found;
}

/* Does the distance stay the same through the iterations of this loop? Each register in it must be written once, and be
   moved by a constant there. */
static bool same_in_each_iteration(const struct bloop_code *code, uint32_t loop, const struct distance *d)
{
    int64_t moves = 0;
    unsigned written[ARCH_REGS] = {0};
    bool plain = true;
    struct decoded *all = mem_alloc(INSTRUCTIONS_MOST * sizeof *all);
    for (uint32_t block = 0; plain && block < code->cfg->block_count; block++) {
        size_t n = holds(code->forest, loop, block) ? decode_block(code, block, all) : 0;
        plain = n != SIZE_MAX;
        for (size_t i = 0; plain && i < n; i++) {
            const struct op *op = &all[i].op;
            bool calls = all[i].f.insn.kind == INSN_CALL || all[i].f.insn.kind == INSN_CALL_INDIRECT;
            uint32_t changed = all[i].f.writes.general | (calls ? code->arch->detail->call_clobbers : 0);
            for (unsigned r = 0; r < ARCH_REGS; r++)
                if (d->factors[r] && (changed >> r & 1)) {
                    plain = plain && op->kind == OP_ADDRESS && op->dst == r && op->base == r &&
                            op->index >= ARCH_REGS && ++written[r] == 1 && code->forest->block_loop[block] == loop;
                    moves += d->factors[r] * op->disp;
                }
        }
    }
    mem_free(all);
    return plain && moves == 0;
}

static bool is_constant(const struct distance *d)
{
    for (unsigned r = 0; r < ARCH_REGS; r++)
        if (d->factors[r])
            return false;
    return true;
}

/* Back from the loop's header, outwards through the loops around it, until the distance is a number. */
static bool follow_back(const struct bloop_code *code, uint32_t loop, struct distance *d)
{
    uint32_t block = code->forest->loops[loop].header, left = loop;
    for (int i = 0; i < BLOCKS_BACK; i++) {
        uint32_t before = only_predecessor(code, block, left);
        if (is_constant(d))
            return true;
        if (before == UINT32_MAX || !block_back(code, before, d))
            return false;
        block = before;
        uint32_t around = code->forest->block_loop[block];
        bool enters = around != LOOP_NONE && code->forest->loops[around].header == block;
        if (enters && !is_constant(d) && !same_in_each_iteration(code, around, d))
            return false;
        left = enters ? around : LOOP_NONE;
    }
    return is_constant(d);
}

static const struct step *last_compare(const struct body *b)
{
    for (size_t i = b->path.count; i-- > 0;)
        if (path_step(b, i)->f.writes.flags)
            return path_step(b, i);
    return NULL;
}

/* The register at the comparison, in terms of those at the beginning of the iteration: the path is followed back. */
static bool to_header(const struct body *b, const struct step *compare, struct distance *d)
{
    size_t i = 0;
    while (path_step(b, i) != compare)
        i++;
    while (i-- > 0)
        if (!step_back(b->code, &path_step(b, i)->f, &path_step(b, i)->op, d))
            return false;
    return true;
}

double trips_find(const struct body *b)
{
    const struct step *c = b->tangled || b->path.count == 0 ? NULL : last_compare(b);
    struct distance d = {.add = 0};
    int64_t step = 0;
    if (!c || (c->op.compare != COMPARE_CONST && c->op.compare != COMPARE_REG) || c->op.cmp_reg >= ARCH_REGS ||
        path_step(b, b->path.count - 1)->f.insn.kind != INSN_BRANCH)
        return NAN;
    d.factors[c->op.cmp_reg] -= 1;
    if (c->op.compare == COMPARE_CONST)
        d.add = c->op.cmp_const;
    else if (c->op.cmp_reg2 < ARCH_REGS)
        d.factors[c->op.cmp_reg2] += 1;
    if (!to_header(b, c, &d))
        return NAN;
    for (unsigned r = 0; r < ARCH_REGS; r++)
        if (d.factors[r] && !b->moved_known[r])
            return NAN;
        else
            step -= d.factors[r] * b->moved[r];
    if (step == 0 || !follow_back(b->code, b->loop, &d))
        return NAN;
    double trips = (double)d.add / (double)step + 1; /* at the first comparison one iteration is done */
    return trips >= 1 && trips < 1e12 ? floor(trips) : NAN;
}
