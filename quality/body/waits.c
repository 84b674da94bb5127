/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples in a loop: the instructions that it waited for.
 *
 * A timer or a counter interrupts a core between instructions, when the oldest one retires: so the sample is at the
 * instruction after the one that was waited for. A load that hits the L1 cache is hardly ever waited for, and one from
 * further away is; this reveals data from memory. If the load is itself part of the longest chain, the two cannot be
 * distinguished.
 */
#include "quality/body/body.h"

#include <math.h>

enum { SAMPLES_LEAST = 20 };

static double samples_at(const struct quality_samples *s, vaddr address)
{
    size_t i = sorted_front(s->count, k, s->addresses[k] < address);
    return i < s->count && s->addresses[i] == address ? s->numbers[i] : 0;
}

/* The step that gets the samples for the one at i of the path. */
static const struct step *step_behind(const struct body *b, size_t i)
{
    size_t n = b->path.count;
    bool fused = i + 1 < n && bounds_fuses(b, path_step(b, i), path_step(b, i + 1));
    return path_step(b, (i + (fused ? 2 : 1)) % n);
}

static bool reads_memory(const struct step *s)
{
    for (uint8_t i = 0; i < s->f.memory_count; i++)
        if (s->f.memory[i].reads && s->f.class != CLASS_PREFETCH)
            return true;
    return false;
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

/* After a mispredicted branch nothing is in flight: the sample is at the first instruction there. */
static double branches_missed(const struct body *b, const struct quality_samples *samples)
{
    double missed = 0;
    for (size_t i = 0; i < b->steps.count; i++)
        if ((i == 0 || b->steps.items[i - 1].block != b->steps.items[i].block) &&
            is_behind_branch(b, b->steps.items[i].block))
            missed += samples_at(samples, b->steps.items[i].addr);
    return missed;
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
    double n = 0, loads = 0, chained = 0, chained_loads = 0;
    q->waits_chain = q->waits_load = q->waits_branch = NAN;
    q->from_memory_known = -1;
    for (size_t i = 0; samples && i < b->steps.count; i++)
        n += samples_at(samples, b->steps.items[i].addr);
    if (n < SAMPLES_LEAST)
        return;
    q->waits_branch = branches_missed(b, samples) / n;
    uint32_t registers = registers_of_chain(b, q);
    double expected = 0; /* if samples lay evenly on all instructions */
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *s = path_step(b, i);
        bool chain = waits_for_chain(s, registers);
        expected += !chain && reads_memory(s) ? 1.0 / (double)b->path.count : 0;
        double w = samples_at(samples, step_behind(b, i)->addr);
        chained += chain ? w : 0;
        loads += !chain && reads_memory(s) ? w : 0;
        chained_loads += chain && reads_memory(s) ? w : 0;
    }
    q->waits_chain = at_most(chained / n, n);
    q->waits_load = loads / n;
    double most = at_most((loads + chained_loads) / n, n), surely = 2 * q->waits_load - at_most(q->waits_load, n);
    if (most < 0.2)
        q->from_memory_known = 0;
    else if (surely > 0.5 && surely > 2 * expected)
        q->from_memory_known = 1;
}
