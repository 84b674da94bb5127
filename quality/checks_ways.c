/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the loop as a whole: latencies, paths through it, calls, and its copies. */
#include "quality/checks_int.h"

#include <math.h>

static bool is_load_of_chain(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->chained && s->cost == COST_LOAD;
}

static bool is_store_of_chain(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->chained && s->f.memory_count && s->f.memory[0].writes;
}

/* Loads on a chain of registers: their results are the addresses of the next loads, as in a list. */
static struct found find_list(const struct finder *f)
{
    struct found stores = finder_look(f, is_store_of_chain, false), loads = finder_look(f, is_load_of_chain, false);
    if (stores.count)
        loads.count = 0;
    buf_release(&stores.where);
    return loads;
}

static bool waits_for_chain(const struct quality_loop *q)
{
    return q->bound_by == BOUND_CHAIN && q->bound > 1.2 * q->if_no_chain && !q->calls;
}

/* Elements side by side instead: at most, each load was waited for as long as memory takes (Drepper, 2007, 3.3.2). */
static struct gain list_gain(const struct finder *f)
{
    const double memory_latency = 200;
    struct gain gain = finder_gain(f, f->q->if_no_chain);
    gain.low = isnan(f->q->waits_chain) ? gain.low : gain.high / 2; /* samples confirm the wait */
    if (f->q->from_memory_known != 0 && f->q->if_no_chain < memory_latency)
        gain.high = 100 * (1 - f->q->if_no_chain / memory_latency);
    return finder_limit(gain, f->q->waits_chain);
}

void check_list_walk(struct finder *f)
{
    const struct quality_loop *q = f->q;
    if (!waits_for_chain(q))
        return;
    struct found list = find_list(f);
    if (list.count)
        finder_say(f, list.first, finder_chain_confidence(f, 0.8), list_gain(f),
                   "pointer chasing: the next iteration's address is loaded from memory (%s): %.3g cycles, many more "
                   "after a cache miss; %.3g without it",
                   list.where.bytes, q->bound, q->if_no_chain);
    buf_release(&list.where);
}

static struct gain chain_gain(const struct finder *f)
{
    return finder_limit(finder_gain(f, f->q->if_no_chain), f->q->waits_chain);
}

/* Whether the dependency can be avoided is unknown: many are inherent in the algorithm. */
void check_chain(struct finder *f)
{
    const struct quality_loop *q = f->q;
    if (!waits_for_chain(q) || finder_sum(f) || finder_chain_divides(f))
        return;
    struct found list = find_list(f);
    if (!list.count)
        finder_say(f, NULL, finder_chain_confidence(f, 0.8), (struct gain){0, chain_gain(f).high},
                   "a loop-carried dependency takes %.3g cycles; %.3g without it", q->bound, q->if_no_chain);
    buf_release(&list.where);
}

static bool waits_for_store(const struct finder *f)
{
    const struct quality_loop *q = f->q;
    if (q->cycles[BOUND_STORE_CHAIN] <= 0 || q->bound_by != BOUND_STORE_CHAIN || q->calls)
        return false;
    struct found locked = finder_look(f, finder_is_locked, true); /* an exchange is usually tried once */
    buf_release(&locked.where);
    return !locked.count;
}

/* The store that the next iteration loads from the same fixed address; NULL: none. */
static const struct step *fixed_store(const struct finder *f)
{
    for (size_t i = 0; i < f->b->refs.count; i++) {
        const struct ref *r = &f->b->refs.items[i];
        const struct step *s = path_step(f->b, r->step);
        if (s->chained && r->stride == STRIDE_NONE && finder_memory(f, r)->writes)
            return s;
    }
    return NULL;
}

void check_store_chain(struct finder *f)
{
    if (!waits_for_store(f) || fixed_store(f))
        return;
    struct gain gain = chain_gain(f);
    finder_say(f, NULL, finder_chain_confidence(f, 0.8), (struct gain){gain.low / 2, gain.high},
               "a dependency through memory (load of an earlier iteration's store) takes %.3g cycles; %.3g without it",
               f->q->bound, f->q->if_no_chain);
}

void check_accumulator(struct finder *f)
{
    const struct step *s = waits_for_store(f) ? fixed_store(f) : NULL;
    struct gain gain = chain_gain(f);
    if (s)
        finder_say(f, s, finder_chain_confidence(f, 0.9), (struct gain){gain.low / 2, gain.high},
                   "each iteration updates the same variable in memory, at 0x%llx: %.3g cycles; %.3g without it",
                   (unsigned long long)s->addr, f->q->bound, f->q->if_no_chain);
}

static bool is_call(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.insn.kind == INSN_CALL || s->f.insn.kind == INSN_CALL_INDIRECT;
}

void check_call(struct finder *f)
{
    for (size_t i = 0; i < f->b->steps.count; i++) {
        const struct step *s = &f->b->steps.items[i];
        if (!is_call(f, s))
            continue;
        const struct function_table *t = f->b->code->functions;
        uint32_t to = s->f.insn.kind == INSN_CALL ? functions_at(t, s->f.insn.target) : FUNCTION_NONE;
        const char *name = to == FUNCTION_NONE ? "" : t->functions[to].link_name;
        if (s->f.insn.kind == INSN_CALL_INDIRECT)
            finder_say(f, s, 0.9, GAIN_UNKNOWN,
                       "an indirect call at 0x%llx (a virtual function, or one of another library)",
                       (unsigned long long)s->addr);
        else
            finder_say(f, s, 0.9, GAIN_UNKNOWN, "a call of %s at 0x%llx%s", *name ? name : "a function without a name",
                       (unsigned long long)s->addr, s->on_path ? "" : ", on some paths through the loop");
        return;
    }
}

/* Reads the same addresses again and again, and changes only registers it loaded: it ends when another thread stores.
   The load; NULL: not a busy wait. */
static const struct step *find_busy_wait(const struct finder *f)
{
    const struct body *b = f->b;
    const struct step *load = NULL;
    if (f->q->calls || f->q->stored > 0 || f->q->flops > 0 || b->path.count > 12 || b->tangled)
        return NULL;
    for (size_t i = 0; i < b->refs.count; i++) {
        const struct ref *r = &b->refs.items[i];
        if (r->stride != STRIDE_NONE || r->stack)
            return NULL;
        load = load ? load : path_step(b, r->step);
    }
    for (unsigned r = 0; r < ARCH_REGS; r++)
        if (b->moved_known[r] && b->moved[r] != 0)
            return NULL; /* it counts */
    return load;
}

void check_addresses(struct finder *f)
{
    if (f->q->address_share > 0.5 && f->q->path_instructions >= 4 && f->q->bound_by == BOUND_FRONT_END &&
        f->q->role != ROLE_REMAINDER && !find_busy_wait(f))
        finder_say(f, NULL, 0.6, finder_gain(f, f->q->if_clean),
                   "%.0f%% of the instructions only compute addresses and conditions", 100 * f->q->address_share);
}

void check_tiny(struct finder *f)
{
    if (f->q->path_instructions < 8 && f->q->unroll == 1 && f->q->role != ROLE_REMAINDER && !f->q->calls &&
        f->q->bound_by == BOUND_FRONT_END && f->q->paths == 1 && !find_busy_wait(f))
        finder_say(f, NULL, 0.5, finder_gain(f, f->q->if_clean), "%u instructions per iteration, not unrolled",
                   f->q->path_instructions);
}

void check_remainder_loop(struct finder *f)
{
    if (f->q->role == ROLE_REMAINDER)
        finder_say(f, NULL, 0.2, GAIN_UNKNOWN,
                   "scalar remainder of an unrolled or vectorized loop: if it has as many samples as the main body, "
                   "the trip count is too small for the body");
}

/* If more than so many samples are behind branches, mispredictions cost at most their share. */
static struct gain branch_gain(const struct quality_loop *q)
{
    const double often = 0.25;
    return q->waits_branch > often ? (struct gain){100 * q->waits_branch_low, 100 * q->waits_branch} : GAIN_UNKNOWN;
}

void check_branches(struct finder *f)
{
    if (f->q->paths > 1)
        finder_say(f, NULL, 0.5, branch_gain(f->q),
                   "%u paths through the loop, the shortest with %u of %u instructions", f->q->paths,
                   f->q->path_instructions, f->q->instructions);
}

/* A branch out of the loop, to a block that ends in a call of a function that never returns. */
void check_bounds_check(struct finder *f)
{
    const struct cfg *g = f->b->code->cfg;
    for (size_t i = 0; i < f->b->steps.count; i++) {
        const struct step *s = &f->b->steps.items[i];
        if (s->f.insn.kind != INSN_BRANCH)
            continue;
        size_t at = sorted_front(g->block_count, k, g->blocks[k].begin <= s->f.insn.target);
        const struct cfg_block *to = at ? &g->blocks[at - 1] : NULL;
        if (to && to->begin == s->f.insn.target && to->succ_count == 0 && to->last_kind == INSN_CALL) {
            finder_say(f, s, 0.8, GAIN_UNKNOWN,
                       "the branch at 0x%llx leads to a call that never returns: a bounds check or an assertion",
                       (unsigned long long)s->addr);
            return;
        }
    }
}

void check_versions(struct finder *f)
{
    if (f->q->role == ROLE_VERSION)
        finder_say(f, NULL, 0.4, GAIN_UNKNOWN,
                   "the loop has several versions, chosen at run time, usually because arrays might overlap");
}

void check_busy_wait(struct finder *f)
{
    const struct step *load = find_busy_wait(f);
    if (load)
        finder_say(f, load, 0.9, GAIN_UNKNOWN,
                   "the loop only reads the same address, at 0x%llx, until its value changes",
                   (unsigned long long)load->addr);
}
