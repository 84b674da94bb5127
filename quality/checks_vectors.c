/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of calculations: are they vectorized, and how wide; and expensive operations. */
#include "quality/checks_int.h"

#include <math.h>

static bool has_flag(const struct finder *f, const char *flag)
{
    const char *at = strstr(f->built->producer, flag);
    size_t n = strlen(flag);
    return at && (at[n] == ' ' || at[n] == '\0') && at > f->built->producer && at[-1] == ' ';
}

static bool knows_flags(const struct finder *f)
{
    return strstr(f->built->producer, " -") != NULL;
}

static bool fast_math(const struct finder *f)
{
    return has_flag(f, "-ffast-math") || has_flag(f, "-Ofast") || has_flag(f, "-fassociative-math");
}

static bool is_float(uint8_t type)
{
    return type >= NUMBER_HALF && type <= NUMBER_DOUBLE;
}

static bool float_work(const struct step *s)
{
    return step_calculates(s) && is_float(s->f.type);
}

static bool sums_into(const struct step *s, uint32_t reg)
{
    bool sums = s->f.class == CLASS_ADD || s->f.class == CLASS_MULTIPLY_ADD || s->f.class == CLASS_MINMAX;
    return float_work(s) && sums && (s->f.reads.vector & s->f.writes.vector) == reg;
}

/* Is nothing done with the register but that more is added to it? */
static bool only_sums_into(const struct finder *f, uint32_t reg)
{
    for (size_t i = 0; i < f->b->path.count; i++) {
        const struct step *s = path_step(f->b, i);
        if (((s->f.reads.vector | s->f.writes.vector) & reg) && !sums_into(s, reg))
            return false;
    }
    return true;
}

const struct step *finder_sum(const struct finder *f)
{
    for (size_t i = 0; i < f->b->path.count; i++) {
        const struct step *s = path_step(f->b, i);
        uint32_t own = s->f.reads.vector & s->f.writes.vector;
        if (own && sums_into(s, own) && only_sums_into(f, own))
            return s;
    }
    return NULL;
}

static bool only_unit_strides(const struct quality_loop *q)
{
    return q->strides[STRIDE_ONE] > 0 && !q->strides[STRIDE_MORE] && !q->strides[STRIDE_INDIRECT] &&
           !q->strides[STRIDE_UNKNOWN];
}

static bool scalar_float_step(const struct finder *f, const struct step *s)
{
    (void)f;
    return float_work(s) && !s->f.packed;
}

static bool scalar_integer_step(const struct finder *f, const struct step *s)
{
    (void)f;
    return step_whole_number_data(s);
}

/* Do loaded data decide a branch? Vectors need its direction in advance. */
static bool ends_by_data(const struct finder *f)
{
    bool loaded = false;
    for (size_t i = 0; i < f->b->path.count; i++) {
        const struct step *s = path_step(f->b, i);
        if (s->f.writes.flags)
            loaded = f->b->loaded[i] || (s->f.memory_count && s->f.memory[0].reads);
        if (s->f.insn.kind == INSN_BRANCH && loaded)
            return true;
    }
    return f->q->paths > 1;
}

/* Cycles that other chains take in any case: pointers that are followed, and not counters, which a vector has one of. */
static double other_chains(const struct quality_loop *q)
{
    return q->chain_general > 1.5 ? q->chain_general : 0;
}

/* By vectors of the kind it is compiled for, at least, and by the core's widest at most. */
static struct gain vector_gain(const struct finder *f, double others)
{
    const struct quality_loop *q = f->q;
    struct gain wide = finder_gain(f, fmax(q->if_vectorized, others));
    struct gain here = isnan(q->if_vectorized_here) ? wide : finder_gain(f, fmax(q->if_vectorized_here, others));
    return (struct gain){fmin(here.low, wide.low), fmax(here.high, wide.high)};
}

void check_scalar(struct finder *f)
{
    const double sum_or_select = 2.5; /* cycles: such chains can be vectorized, chains of products cannot */
    const struct quality_loop *q = f->q;
    struct found floats = finder_look(f, scalar_float_step, false);
    bool whole = !floats.count && !ends_by_data(f);
    bool chained = q->cycles[BOUND_CHAIN] > (whole ? sum_or_select : 1.5) && !finder_sum(f);
    buf_release(&floats.where);
    if (q->vector_ratio[MIX_ALL] > 0 || q->calls || !only_unit_strides(q) || chained ||
        q->cycles[BOUND_STORE_CHAIN] > 0 || q->role == ROLE_REMAINDER)
        return;
    if (floats.count)
        finder_say_steps(f, scalar_float_step, false, 0.8, vector_gain(f, other_chains(f->q)),
                         "scalar floating-point instruction");
    else if (whole)
        finder_say_steps(f, scalar_integer_step, false, 0.7, vector_gain(f, 0), "scalar integer calculation");
}

/* For a sum that vectors cannot take: several accumulators, by hand; compiler options do not help. */
static struct gain sums_side_by_side(const struct finder *f)
{
    struct gain gain = finder_gain(f, fmax(f->q->if_no_chain, other_chains(f->q)));
    return finder_limit((struct gain){0, gain.high}, f->q->waits_chain);
}

/* The sum that limits the loop; NULL: none. */
static const struct step *slow_sum(const struct finder *f)
{
    const struct step *s = finder_sum(f);
    bool holds_up = f->q->bound_by == BOUND_CHAIN && f->q->role != ROLE_REMAINDER && !fast_math(f);
    return s && !s->f.packed && holds_up ? s : NULL;
}

static bool vectors_can_sum(const struct quality_loop *q)
{
    return only_unit_strides(q) && q->if_vectorized < q->bound;
}

static void say_sum(struct finder *f, struct gain gain, const char *why)
{
    const struct step *s = slow_sum(f);
    if (s && gain.high > 0)
        finder_say(f, s, finder_chain_confidence(f, knows_flags(f) ? 0.9 : 0.7), gain,
                   "serial reduction: each addition at 0x%llx waits for the previous one%s",
                   (unsigned long long)s->addr, why);
}

void check_reduction_chain(struct finder *f)
{
    if (vectors_can_sum(f->q))
        say_sum(f, vector_gain(f, other_chains(f->q)), "");
}

void check_sums(struct finder *f)
{
    if (!vectors_can_sum(f->q))
        say_sum(f, sums_side_by_side(f), "; its references cannot be vectorized");
}

static bool unvectorized_step(const struct finder *f, const struct step *s)
{
    (void)f;
    return step_calculates(s) && !s->f.packed;
}

void check_partly(struct finder *f)
{
    double ratio = f->q->vector_ratio[MIX_ALL];
    const struct step *sum = finder_sum(f);
    bool reduction = sum && !sum->f.packed && f->q->bound_by == BOUND_CHAIN; /* reported as that */
    if (!f->q->vector || ratio >= 0.999 || reduction)
        return;
    struct found scalars = finder_look(f, unvectorized_step, false);
    buf_release(&scalars.where);
    if (!scalars.count)
        finder_say(f, NULL, 0.5, vector_gain(f, other_chains(f->q)),
                   "%.0f%% of the vectorizable loads, stores and calculations are vectorized", 100 * ratio);
    else
        finder_say_steps(f, unvectorized_step, false, 0.6, vector_gain(f, other_chains(f->q)), "scalar calculation");
}

void check_narrow(struct finder *f)
{
    unsigned widest = 0;
    const struct step *first = NULL;
    for (size_t i = 0; i < f->b->path.count; i++) {
        const struct step *s = path_step(f->b, i);
        if (step_calculates(s) && s->f.packed && step_width(s, f->b->machine) > widest) {
            widest = step_width(s, f->b->machine);
            first = s;
        }
    }
    if (first && widest < f->b->machine->vector)
        finder_say(f, first, 0.7, (struct gain){0, vector_gain(f, other_chains(f->q)).high},
                   "vectors of %u bytes; the core supports %u", widest, f->b->machine->vector);
}

static bool converts_int(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.class == CLASS_CONVERT && ((is_float(s->f.type) && s->f.source_type == NUMBER_INTEGER) ||
                                           (s->f.type == NUMBER_INTEGER && is_float(s->f.source_type)));
}

static bool converts_float(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.class == CLASS_CONVERT && is_float(s->f.type) && is_float(s->f.source_type) &&
           s->f.type != s->f.source_type;
}

/* Uops of these, of all: the upper limit of the gain. */
static struct gain share_of(const struct finder *f, step_test *test)
{
    double uops = 0, all = 0;
    for (size_t i = 0; i < f->b->path.count; i++) {
        const struct step *s = path_step(f->b, i);
        uops += s->known && test(f, s);
        all += s->f.class != CLASS_NOP;
    }
    return all > 0 ? (struct gain){0, 100 * uops / all} : GAIN_UNKNOWN;
}

void check_conversions(struct finder *f)
{
    finder_say_steps(f, converts_int, false, 0.8, share_of(f, converts_int), "integer conversion");
}

void check_widths(struct finder *f)
{
    finder_say_steps(f, converts_float, false, 0.8, share_of(f, converts_float), "float-double conversion");
}

static bool divides(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.class == CLASS_DIVIDE && is_float(s->f.type);
}

static bool roots(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.class == CLASS_SQUARE_ROOT;
}

static bool divides_int(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.class == CLASS_DIVIDE && s->f.type == NUMBER_INTEGER;
}

static bool is_chained_divide(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->chained && (s->f.class == CLASS_DIVIDE || s->f.class == CLASS_SQUARE_ROOT);
}

bool finder_chain_divides(const struct finder *f)
{
    struct found found = finder_look(f, is_chained_divide, false);
    buf_release(&found.where);
    return found.count > 0;
}

/* The loop's bound without its divider, and without the chain that goes through it. */
static double without_divider(const struct finder *f)
{
    double most = 0;
    bool chain = finder_chain_divides(f);
    for (int i = 0; i < BOUNDS; i++)
        if (i != BOUND_DIVIDER && !(chain && i == BOUND_CHAIN))
            most = f->q->cycles[i] > most ? f->q->cycles[i] : most;
    return most;
}

static bool divides_by_invariant(const struct finder *f, const struct step *s)
{
    uint32_t written = 0;
    if (!divides(f, s))
        return false;
    if (s->f.divisor == FACTS_NO_REG)
        return s->f.memory_count && s->f.memory[0].base == FACTS_NO_REG && s->f.memory[0].index == FACTS_NO_REG;
    for (size_t i = 0; i < f->b->path.count; i++)
        written |= path_step(f->b, i)->f.writes.vector;
    return !(written >> s->f.divisor & 1);
}

/* Without the divider, at most; at least nothing where the result may be needed as it is. */
static struct gain divider_gain(const struct finder *f, bool needed)
{
    struct gain gain = finder_gain(f, without_divider(f));
    if (needed && gain.low > 0)
        gain.low = 0;
    return gain;
}

/* A multiplication can replace a division by a number that does not change. */
void check_division(struct finder *f)
{
    struct found found = finder_look(f, divides, false), invariant = finder_look(f, divides_by_invariant, false);
    struct gain gain = divider_gain(f, invariant.count < found.count);
    if (found.count)
        finder_say(f, found.first, 0.9, gain, "%u division%s at %s%s, %.3g cycles of the divider", found.count,
                   finder_plural(found.count), found.where.bytes,
                   invariant.count == found.count ? " by a loop-invariant number"
                   : invariant.count              ? ", some by a loop-invariant number"
                                                  : " by a number that changes in the loop",
                   f->q->cycles[BOUND_DIVIDER]);
    buf_release(&found.where);
    buf_release(&invariant.where);
}

void check_square_root(struct finder *f)
{
    finder_say_steps(f, roots, false, 0.9, divider_gain(f, true), "square root");
}

void check_int_division(struct finder *f)
{
    finder_say_steps(f, divides_int, false, 0.9, divider_gain(f, true), "integer division");
}

/* Does what is in these registers behind the step at `first` of the path come to be (part of) an address, in this iteration
   or the next? */
static bool becomes_address(const struct finder *f, size_t first, uint32_t carries)
{
    size_t n = f->b->path.count;
    for (size_t k = 1; k < 2 * n && carries; k++) {
        const struct insn_facts *at = &path_step(f->b, (first + k) % n)->f;
        for (uint8_t m = 0; m < at->memory_count; m++) {
            const struct insn_memory *mem = &at->memory[m];
            if ((mem->base < ARCH_REGS && carries >> mem->base & 1) ||
                (mem->index < ARCH_REGS && !mem->vector_index && carries >> mem->index & 1))
                return true;
        }
        carries = at->reads.general & carries ? carries | at->writes.general : carries & ~at->writes.general;
    }
    return false;
}

/* Not of conditions: x % 20 is a multiplication too. */
static bool multiplies_address(const struct finder *f, const struct step *s)
{
    size_t i = 0;
    if (!s->addressing || (s->f.class != CLASS_MULTIPLY && s->f.class != CLASS_MULTIPLY_ADD))
        return false;
    while (i < f->b->path.count && path_step(f->b, i) != s)
        i++;
    return i < f->b->path.count && becomes_address(f, i, s->f.writes.general);
}

void check_address_multiply(struct finder *f)
{
    finder_say_steps(f, multiplies_address, false, 0.7, share_of(f, multiplies_address), "address multiplication");
}

static bool read_on_other_ways(const struct finder *f, uint32_t vectors)
{
    for (size_t i = 0; i < f->b->steps.count; i++)
        if (!f->b->steps.items[i].on_path && f->b->steps.items[i].f.reads.vector & vectors)
            return true;
    return false;
}

void check_fma_missed(struct finder *f)
{
    size_t n = f->b->path.count;
    for (size_t i = 0; i < f->b->path.count; i++) {
        const struct step *m = path_step(f->b, i);
        uint32_t product = m->f.writes.vector;
        unsigned uses = 0;
        bool added = false;
        if (m->f.class != CLASS_MULTIPLY || !float_work(m))
            continue;
        for (size_t k = 1; k < n; k++) {
            const struct step *s = path_step(f->b, (i + k) % n);
            if (s->f.reads.vector & product) {
                uses++;
                added |= s->f.class == CLASS_ADD && float_work(s) && s->f.packed == m->f.packed;
            }
            if (s->f.writes.vector & product)
                break;
        }
        if (uses == 1 && added && !read_on_other_ways(f, product)) {
            finder_say(f, m, 0.7, GAIN_UNKNOWN,
                       "the product at 0x%llx is only added; a fused multiply-add could do both",
                       (unsigned long long)m->addr);
            return;
        }
    }
}

/* Is the vector instruction in the old encoding? 0: not a vector instruction, 1: old, 2: VEX or EVEX */
static int encoding(const struct finder *f, const struct step *s)
{
    if (f->b->code->arch->kind != ARCH_X86_64 || !(s->f.reads.vector | s->f.writes.vector))
        return 0;
    return step_is_avx(s) ? 2 : 1;
}

void check_mixed_encodings(struct finder *f)
{
    const struct step *first[3] = {0};
    for (size_t i = 0; i < f->b->path.count; i++) {
        const struct step *s = path_step(f->b, i);
        int e = encoding(f, s);
        first[e] = first[e] ? first[e] : s;
    }
    if (first[1] && first[2])
        finder_say(f, first[1], 0.7, GAIN_UNKNOWN, "SSE encoding at 0x%llx, AVX encoding at 0x%llx",
                   (unsigned long long)first[1]->addr, (unsigned long long)first[2]->addr);
}

static bool is_x87(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.type == NUMBER_EXTENDED;
}

void check_x87(struct finder *f)
{
    finder_say_steps(f, is_x87, false, 0.9, GAIN_UNKNOWN, "x87 instruction");
}
