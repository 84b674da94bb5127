/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples in a loop: the instructions that it waited for.
 *
 * A timer or a counter interrupts a core between instructions, when the oldest one retires: so the sample is at the
 * instruction after the one that was waited for. A load that hits the L1 cache is hardly ever waited for, and one from
 * further away is; this reveals data from memory. If the load is itself part of the longest chain, the two cannot be
 * distinguished. No instruction waits for a store, so samples on a store whose value was available are of page faults,
 * or of stores that memory does not accept any faster.
 */
#include "quality/body/body.h"

#include <math.h>

enum { SAMPLES_LEAST = 20 };

static double samples_at(const struct quality_samples *s, vaddr address)
{
    size_t i = sorted_front(s->count, k, s->addresses[k] < address);
    return i < s->count && s->addresses[i] == address ? s->numbers[i] : 0;
}

/* Samples for the step at i of the path: those on the next one. If it may be fused with that one, a branch, on the
   branch (it was not fused) or after it. */
static double samples_behind(const struct body *b, const struct quality_samples *s, size_t i)
{
    size_t n = b->path.count;
    bool fused = i + 1 < n && bounds_fuses(b, path_step(b, i), path_step(b, i + 1));
    double behind = samples_at(s, path_step(b, (i + 1) % n)->addr);
    return behind + (fused ? samples_at(s, path_step(b, (i + 2) % n)->addr) : 0);
}

static bool reads_memory(const struct step *s)
{
    for (uint8_t i = 0; i < s->f.memory_count; i++)
        if (s->f.memory[i].reads && s->f.class != CLASS_PREFETCH)
            return true;
    return false;
}

/* Is the step at i of the path a store whose value was computed quickly? */
static bool only_stores(const struct body *b, size_t i)
{
    const struct step *s = path_step(b, i), *before = path_step(b, i ? i - 1 : b->path.count - 1);
    bool writes = s->f.memory_count == 1 && s->f.memory[0].writes && !s->f.memory[0].reads && !s->f.locked;
    bool quick = before->f.class != CLASS_DIVIDE && before->f.class != CLASS_SQUARE_ROOT && !before->chained;
    return writes && quick && !reads_memory(before);
}

static bool is_behind_branch(const struct body *b, uint32_t block)
{
    const struct cfg *g = b->code->cfg;
    uint32_t header = b->code->forest->loops[b->loop].header;
    for (size_t i = 0; block != header && i < b->blocks.count; i++) {
        const struct cfg_block *from = &g->blocks[b->blocks.items[i]];
        for (uint32_t k = 0; from->last_kind == INSN_BRANCH && k < from->succ_count; k++)
            if (g->succs[from->succ_first + k] == block)
                return true;
    }
    return false;
}

/* After a mispredicted branch nothing is in flight: the first instruction there retires late, and the sample is at it or
   at the second one. Their part of n samples at most; and at least: beyond what evenly distributed samples give, and
   not where the first one may wait for memory itself. */
static void branches_missed(const struct body *b, const struct quality_samples *samples, double n,
                            struct quality_loop *q)
{
    double most = 0, least = 0, expected_most = 0, expected_least = 0, even = n / (double)b->steps.count;
    for (size_t i = 0; i < b->steps.count; i++) {
        const struct step *s = &b->steps.items[i];
        if ((i > 0 && b->steps.items[i - 1].block == s->block) || !is_behind_branch(b, s->block))
            continue;
        bool more = i + 1 < b->steps.count && b->steps.items[i + 1].block == s->block, sure = !reads_memory(s);
        double second = more ? samples_at(samples, b->steps.items[i + 1].addr) : 0,
               first = samples_at(samples, s->addr);
        most += first + second;
        least += first + (sure ? second : 0);
        expected_most += even * (1 + more);
        expected_least += even * (1 + (more && sure));
    }
    q->waits_branch = most > 1.5 * expected_most ? most / n : 0;
    q->waits_branch_low = fmax(least - 1.5 * expected_least, 0) / n;
}

/* At most what a share of n samples may be in truth, within two standard errors. */
static double at_most(double share, double n)
{
    return fmin(share + 2 * sqrt(share * (1 - share) / n) + 1 / n, 1);
}

/* Is it on the longest chain, or a load whose address comes from there, as of a list's element? */
static bool waits_for_chain(const struct step *s, uint32_t chain_registers)
{
    for (uint8_t i = 0; i < s->f.memory_count; i++) {
        const struct insn_memory *m = &s->f.memory[i];
        if ((m->base < 32 && chain_registers >> m->base & 1) || (m->index < 32 && chain_registers >> m->index & 1))
            return true;
    }
    return s->chained;
}

/* General registers that the longest chain goes through, if it is one that can be waited for: a counter is not. */
static uint32_t registers_of_chain(const struct body *b, const struct quality_loop *q)
{
    uint32_t registers = 0;
    for (size_t i = 0; q->chain_long > 1.5 && i < b->path.count; i++)
        registers |= path_step(b, i)->chained ? path_step(b, i)->f.writes.general : 0;
    return registers;
}

void waits_find(const struct body *b, const struct quality_samples *samples, struct quality_loop *q)
{
    double n = 0, loads = 0, stores = 0, chained = 0, chained_loads = 0;
    q->waits_chain = q->waits_memory = q->waits_branch = q->waits_branch_low = NAN;
    q->from_memory_known = -1;
    for (size_t i = 0; samples && i < b->steps.count; i++)
        n += samples_at(samples, b->steps.items[i].addr);
    if (n < SAMPLES_LEAST)
        return;
    branches_missed(b, samples, n, q);
    uint32_t registers = registers_of_chain(b, q);
    double expected = 0; /* if samples lay evenly on all instructions */
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *s = path_step(b, i);
        bool chain = waits_for_chain(s, registers), load = !chain && reads_memory(s), store = only_stores(b, i);
        expected += (load + store) / (double)b->path.count;
        double w = samples_behind(b, samples, i);
        chained += chain ? w : 0;
        loads += load ? w : 0;
        stores += store ? samples_at(samples, s->addr) : 0;
        chained_loads += chain && reads_memory(s) ? w : 0;
    }
    q->waits_chain = at_most(chained / n, n);
    q->waits_memory = (loads + stores) / n;
    double most = at_most((loads + chained_loads) / n, n), surely = 2 * q->waits_memory - at_most(q->waits_memory, n);
    if (surely > 0.5 && surely > 2 * expected)
        q->from_memory_known = 1;
    else if (most < 0.2)
        q->from_memory_known = 0;
}
