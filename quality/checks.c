/*
 * What a person would point at in a loop's code: each check is a row with a word, what to do about it, and a rule that
 * says what was found, how sure that is, and what it may gain by the bounds.
 *
 * A rule sees one loop: its body, what was counted, its bounds. What takes more (samples, other copies) is no rule.
 */
#include "quality/quality_int.h"

#include <math.h>

struct finder {
    const struct body *b;
    const struct quality_loop *q;
    const struct quality_built *built;
    struct quality_report *report;
    const struct scope_tree *tree;
    enum quality_check_kind kind;
};

/* ---- saying it ---------------------------------------------------------------------------- */

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

static double gain_to(const struct finder *f, double cycles)
{
    return isnan(cycles) || f->q->bound <= 0 ? NAN : cycles < f->q->bound ? 100 * (1 - cycles / f->q->bound) : 0;
}

/* The line of an instruction; 0: none. */
static uint32_t line_at(const struct finder *f, const struct step *s)
{
    scope_ix at = s ? scope_tree_find((struct scope_tree *)f->tree, s->addr) : SCOPE_NONE;
    return at != SCOPE_NONE && f->tree->scopes[at].kind == SCOPE_STMT ? f->tree->scopes[at].line_first
                                                                      : f->q->line_first;
}

static void add_check(struct finder *f, const struct step *at, double confidence, double gain, const char *found)
{
    struct quality_report *r = f->report;
    r->checks = mem_realloc(r->checks, r->check_count + 1, sizeof *r->checks);
    r->checks[r->check_count++] =
        (struct quality_check){.loop = f->q->scope,
                               .kind = (uint8_t)f->kind,
                               .line = line_at(f, at),
                               .address = at ? at->addr : f->q->header,
                               .confidence = confidence,
                               .gain = gain,
                               .found = strtab_add(r->strings, found),
                               .remedy = strtab_add(r->strings, quality_remedy(f->kind, f->built))};
}

PRINTF_LIKE(5, 6)
static void say(struct finder *f, const struct step *at, double confidence, double gain, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *found = mem_vprintf(format, args);
    va_end(args);
    add_check(f, at, confidence, gain, found);
    mem_free(found);
}

/* ---- looking ------------------------------------------------------------------------------ */

typedef bool step_test(const struct finder *, const struct step *);

struct found {
    const struct step *first;
    unsigned count;
    struct buf where; /* "0x1234, 0x1240 and 3 more" */
};

static void note_found(struct found *found, const struct step *s)
{
    enum { NAMED = 4 };
    if (!found->count)
        found->first = s;
    if (found->count < NAMED)
        buf_printf(&found->where, "%s0x%llx", found->count ? ", " : "", (unsigned long long)s->addr);
    found->count++;
}

static struct found look(const struct finder *f, step_test *test, bool whole_loop)
{
    struct found found = {0};
    for (size_t i = 0; i < f->b->steps.count; i++) {
        const struct step *s = &f->b->steps.items[i];
        if (s->known && (whole_loop || s->on_path) && test(f, s))
            note_found(&found, s);
    }
    if (found.count > 4)
        buf_printf(&found.where, " and %u more", found.count - 4);
    return found;
}

static const char *plural(unsigned n)
{
    return n == 1 ? "" : "s";
}

/* Says what a test finds, where it finds something: "2 divisions at 0x10, 0x20". */
static void say_steps(struct finder *f, step_test *test, bool whole_loop, double confidence, double gain,
                      const char *noun)
{
    struct found found = look(f, test, whole_loop);
    if (found.count)
        say(f, found.first, confidence, gain, "%u %s%s at %s", found.count, noun, plural(found.count),
            found.where.bytes);
    buf_release(&found.where);
}

static const struct insn_memory *memory_of(const struct finder *f, const struct ref *r)
{
    return &path_step(f->b, r->step)->f.memory[r->operand];
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

/* The first sum (or least, or largest) into a register that only takes such: a reduction. */
static const struct step *reduction(const struct finder *f)
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

/* ---- the rules ---------------------------------------------------------------------------- */

static bool scalar_float_step(const struct finder *f, const struct step *s)
{
    (void)f;
    return float_work(s) && !s->f.packed;
}

static void scalar(struct finder *f)
{
    const struct quality_loop *q = f->q;
    bool chained = q->cycles[BOUND_CHAIN] > 1.5 && !reduction(f);
    if (q->vector_ratio[MIX_ALL] > 0 || q->calls || !only_unit_strides(q) || chained ||
        q->cycles[BOUND_STORE_CHAIN] > 0 || q->role == ROLE_REMAINDER)
        return;
    say_steps(f, scalar_float_step, false, 0.8, gain_to(f, q->if_vectorized), "scalar floating-point instruction");
}

/* How often a loop goes round, and so whether its chains hold it up, is mostly not known. */
static double confidence_in_chain(const struct finder *f, double confidence)
{
    return isnan(f->q->trips) ? 0.75 * confidence : confidence;
}

static void reduction_chain(struct finder *f)
{
    const struct quality_loop *q = f->q;
    const struct step *s = reduction(f);
    bool vectors = only_unit_strides(q) && q->if_vectorized < q->if_no_chain; /* else sums side by side, and no more */
    if (!s || s->f.packed || q->bound_by != BOUND_CHAIN || q->role == ROLE_REMAINDER || fast_math(f))
        return;
    say(f, s, confidence_in_chain(f, knows_flags(f) ? 0.9 : 0.7),
        gain_to(f, vectors ? q->if_vectorized : q->if_no_chain),
        "the sum at 0x%llx is the only value handed on, and each addition waits for the one before",
        (unsigned long long)s->addr);
}

static bool unvectorized_step(const struct finder *f, const struct step *s)
{
    (void)f;
    return step_calculates(s) && !s->f.packed;
}

static void partly(struct finder *f)
{
    double ratio = f->q->vector_ratio[MIX_ALL];
    if (!f->q->vector || ratio >= 0.999)
        return;
    struct found scalars = look(f, unvectorized_step, false);
    buf_release(&scalars.where);
    if (!scalars.count)
        say(f, NULL, 0.5, gain_to(f, f->q->if_vectorized),
            "%.0f%% of the loads, stores and calculations that could be are vectorized", 100 * ratio);
    else
        say_steps(f, unvectorized_step, false, 0.6, gain_to(f, f->q->if_vectorized), "scalar calculation");
}

static void narrow(struct finder *f)
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
        say(f, first, 0.7, gain_to(f, f->q->if_vectorized), "vectors of %u bytes, where the core has %u", widest,
            f->b->machine->vector);
}

static bool gathers(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.memory_count && s->f.memory[0].vector_index && s->f.memory[0].reads;
}

static bool inserts(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.class == CLASS_SHUFFLE && s->f.memory_count && s->f.memory[0].reads && s->f.reads.vector &&
           s->f.width == 16 && s->f.memory[0].size < 16;
}

static void gather(struct finder *f)
{
    say_steps(f, gathers, false, 0.9, NAN, "gather");
    if (f->q->strides[STRIDE_INDIRECT] > 1 || f->q->strides[STRIDE_MORE] > 1)
        say_steps(f, inserts, false, 0.6, NAN, "single-element vector load");
}

static bool scatters(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.memory_count && s->f.memory[0].vector_index && s->f.memory[0].writes;
}

static void scatter(struct finder *f)
{
    say_steps(f, scatters, false, 0.9, NAN, "scatter");
}

static void strided(struct finder *f)
{
    for (size_t i = 0; i < f->b->refs.count; i++) {
        const struct ref *r = &f->b->refs.items[i];
        unsigned size = memory_size(memory_of(f, r), f->b->machine);
        if (r->stride != STRIDE_MORE)
            continue;
        unsigned line = f->b->machine->line;
        double used =
            r->runtime ? (double)size / line : (double)size / (double)(llabs(r->moves) < line ? llabs(r->moves) : line);
        if (r->runtime)
            say(f, path_step(f->b, r->step), 0.7, NAN,
                "the reference at 0x%llx moves by a number that is known at run time only; %.0f%% of a line is used at "
                "worst",
                (unsigned long long)path_step(f->b, r->step)->addr, 100 * used);
        else
            say(f, path_step(f->b, r->step), 0.9, NAN, "the reference at 0x%llx takes %u of every %lld bytes",
                (unsigned long long)path_step(f->b, r->step)->addr, size, (long long)llabs(r->moves));
        return;
    }
}

static void indirect(struct finder *f)
{
    struct found found = {0};
    for (size_t i = 0; i < f->b->refs.count; i++)
        if (f->b->refs.items[i].stride == STRIDE_INDIRECT && !memory_of(f, &f->b->refs.items[i])->vector_index)
            note_found(&found, path_step(f->b, f->b->refs.items[i].step));
    if (found.count)
        say(f, found.first, 0.9, NAN, "%u reference%s whose address was loaded in the same iteration, at %s%s",
            found.count, plural(found.count), found.where.bytes, found.count > 4 ? " and more" : "");
    buf_release(&found.where);
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

/* Cycles of the ports that these take, of all. */
static double share_of(const struct finder *f, step_test *test)
{
    double uops = 0, all = 0;
    for (size_t i = 0; i < f->b->path.count; i++) {
        const struct step *s = path_step(f->b, i);
        uops += s->known && test(f, s);
        all += s->f.class != CLASS_NOP;
    }
    return all > 0 ? 100 * uops / all : NAN;
}

static void conversions(struct finder *f)
{
    say_steps(f, converts_int, false, 0.8, share_of(f, converts_int), "whole-number conversion");
}

static void widths(struct finder *f)
{
    say_steps(f, converts_float, false, 0.8, share_of(f, converts_float), "float-double conversion");
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

/* What the loop could be without its divider. */
static double without_divider(const struct finder *f)
{
    double most = 0;
    for (int i = 0; i < BOUNDS; i++)
        most = i != BOUND_DIVIDER && f->q->cycles[i] > most ? f->q->cycles[i] : most;
    return most;
}

static bool reads_invariant_vector(const struct finder *f, const struct step *s)
{
    uint32_t written = 0;
    for (size_t i = 0; i < f->b->path.count; i++)
        written |= path_step(f->b, i)->f.writes.vector;
    return (s->f.reads.vector & ~written) != 0;
}

static void division(struct finder *f)
{
    struct found found = look(f, divides, false);
    if (found.count)
        say(f, found.first, 0.9, gain_to(f, without_divider(f)), "%u division%s at %s%s, %.3g cycles of the divider",
            found.count, plural(found.count), found.where.bytes,
            reads_invariant_vector(f, found.first) ? ", with an operand that no iteration changes" : "",
            f->q->cycles[BOUND_DIVIDER]);
    buf_release(&found.where);
}

static void square_root(struct finder *f)
{
    say_steps(f, roots, false, 0.9, gain_to(f, without_divider(f)), "square root");
}

static void int_division(struct finder *f)
{
    say_steps(f, divides_int, false, 0.9, gain_to(f, without_divider(f)), "whole-number division");
}

static bool multiplies_address(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->addressing && (s->f.class == CLASS_MULTIPLY || s->f.class == CLASS_MULTIPLY_ADD);
}

static void address_multiply(struct finder *f)
{
    say_steps(f, multiplies_address, false, 0.7, share_of(f, multiplies_address), "address multiplication");
}

static void fma_missed(struct finder *f)
{
    for (size_t i = 0; i < f->b->path.count; i++) {
        const struct step *m = path_step(f->b, i);
        uint32_t product = m->f.writes.vector;
        unsigned uses = 0;
        bool added = false;
        if (m->f.class != CLASS_MULTIPLY || !float_work(m))
            continue;
        for (size_t k = i + 1; k < f->b->path.count; k++) {
            const struct step *s = path_step(f->b, k);
            if (s->f.reads.vector & product) {
                uses++;
                added |= s->f.class == CLASS_ADD && float_work(s) && s->f.packed == m->f.packed;
            }
            if (s->f.writes.vector & product)
                break;
        }
        if (uses == 1 && added) {
            say(f, m, 0.7, NAN, "the product at 0x%llx is only added: a fused instruction does both",
                (unsigned long long)m->addr);
            return;
        }
    }
}

static void chain(struct finder *f)
{
    const struct quality_loop *q = f->q;
    if (q->bound_by == BOUND_CHAIN && q->bound > 1.2 * q->if_no_chain && !reduction(f) && !q->calls)
        say(f, NULL, confidence_in_chain(f, 0.8), gain_to(f, q->if_no_chain),
            "a value handed from iteration to iteration takes %.3g cycles; without it %.3g would do", q->bound,
            q->if_no_chain);
}

static void store_chain(struct finder *f)
{
    const struct quality_loop *q = f->q;
    if (q->cycles[BOUND_STORE_CHAIN] > 0 && q->bound_by == BOUND_STORE_CHAIN && !q->calls)
        say(f, NULL, confidence_in_chain(f, 0.8), gain_to(f, q->if_no_chain),
            "an iteration loads what an earlier one stored: %.3g cycles each; without that %.3g would do", q->bound,
            q->if_no_chain);
}

static void spilled(struct finder *f)
{
    if (f->q->spills && !f->q->calls)
        say(f, NULL, 0.8, NAN, "%u value%s stored on the stack and loaded again in every iteration", f->q->spills,
            plural(f->q->spills));
}

static bool is_stored(const struct finder *f, const struct ref *load)
{
    for (size_t i = 0; i < f->b->refs.count; i++) {
        const struct ref *r = &f->b->refs.items[i];
        if (memory_of(f, r)->writes && r->form.add == load->form.add && form_same_terms(&r->form, &load->form))
            return true;
    }
    return false;
}

static void invariant_load(struct finder *f)
{
    bool stores = f->q->stored > 0 || f->q->calls > 0;
    for (size_t i = 0; i < f->b->refs.count; i++) {
        const struct ref *r = &f->b->refs.items[i];
        const struct insn_memory *m = memory_of(f, r);
        if (r->stride == STRIDE_NONE && m->reads && r->form.count > 0 && !r->stack && stores && !is_stored(f, r) &&
            !m->segment)
            say(f, path_step(f->b, r->step), 0.6, NAN,
                "the load at 0x%llx has the same address in every iteration: the loop's stores might change it",
                (unsigned long long)path_step(f->b, r->step)->addr);
    }
}

static bool is_call(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.insn.kind == INSN_CALL || s->f.insn.kind == INSN_CALL_INDIRECT;
}

static void call(struct finder *f)
{
    for (size_t i = 0; i < f->b->steps.count; i++) {
        const struct step *s = &f->b->steps.items[i];
        if (!is_call(f, s))
            continue;
        const struct function_table *t = f->b->code->functions;
        uint32_t to = s->f.insn.kind == INSN_CALL ? functions_at(t, s->f.insn.target) : FUNCTION_NONE;
        const char *name = to == FUNCTION_NONE ? "" : t->functions[to].link_name;
        if (s->f.insn.kind == INSN_CALL_INDIRECT)
            say(f, s, 0.9, NAN, "a call through a pointer at 0x%llx (a virtual function, or one of another library)",
                (unsigned long long)s->addr);
        else
            say(f, s, 0.9, NAN, "a call of %s at 0x%llx%s", *name ? name : "a function without a name",
                (unsigned long long)s->addr, s->on_path ? "" : ", on some of the ways through the loop");
        return;
    }
}

static void addresses(struct finder *f)
{
    if (f->q->address_share > 0.5 && f->q->path_instructions >= 4 && f->q->bound_by == BOUND_FRONT_END &&
        f->q->role != ROLE_REMAINDER)
        say(f, NULL, 0.6, gain_to(f, f->q->if_clean), "%.0f%% of the instructions make addresses and conditions only",
            100 * f->q->address_share);
}

static void tiny(struct finder *f)
{
    if (f->q->path_instructions < 8 && f->q->unroll == 1 && f->q->role != ROLE_REMAINDER && !f->q->calls &&
        f->q->bound_by == BOUND_FRONT_END && f->q->paths == 1)
        say(f, NULL, 0.5, gain_to(f, f->q->if_clean), "%u instructions an iteration, not unrolled",
            f->q->path_instructions);
}

static void remainder_loop(struct finder *f)
{
    if (f->q->role == ROLE_REMAINDER)
        say(f, NULL, 0.2, NAN,
            "this is what is left over from a body that takes more numbers at a time: if it has as "
            "many samples as that, the loop is too short for its body");
}

static void branches(struct finder *f)
{
    if (f->q->paths > 1)
        say(f, NULL, 0.5, NAN, "%u ways through the loop, the shortest of %u instructions of %u", f->q->paths,
            f->q->path_instructions, f->q->instructions);
}

/* A branch out of the loop, to a block that ends in a call of what never returns. */
static void bounds_check(struct finder *f)
{
    const struct cfg *g = f->b->code->cfg;
    for (size_t i = 0; i < f->b->steps.count; i++) {
        const struct step *s = &f->b->steps.items[i];
        if (s->f.insn.kind != INSN_BRANCH)
            continue;
        size_t at = sorted_front(g->block_count, k, g->blocks[k].begin <= s->f.insn.target);
        const struct cfg_block *to = at ? &g->blocks[at - 1] : NULL;
        if (to && to->begin == s->f.insn.target && to->succ_count == 0 && to->last_kind == INSN_CALL) {
            say(f, s, 0.8, NAN,
                "the branch at 0x%llx leads to a call that never returns: a check of a bound or an assertion",
                (unsigned long long)s->addr);
            return;
        }
    }
}

static void versions(struct finder *f)
{
    if (f->q->role == ROLE_VERSION)
        say(f, NULL, 0.4, NAN,
            "the loop is there more than once, chosen at run time: mostly, because arrays might overlap");
}

static bool vector_access(const struct finder *f, const struct ref *r)
{
    return path_step(f->b, r->step)->f.packed && memory_size(memory_of(f, r), f->b->machine) >= 16;
}

/* Two accesses of a stream whose distance is no multiple of their size: one of them is not aligned. */
static void splits(struct finder *f)
{
    for (size_t i = 0; i < f->b->refs.count; i++) {
        const struct ref *a = &f->b->refs.items[i];
        int64_t size = memory_size(memory_of(f, a), f->b->machine);
        if (!a->known || !vector_access(f, a) || size < 32)
            continue;
        for (size_t k = 0; k < f->b->refs.count; k++) {
            const struct ref *b = &f->b->refs.items[k];
            bool off = (b->form.add - a->form.add) % size != 0 || a->moves % size != 0;
            if (b->known && vector_access(f, b) && b->moves == a->moves && form_same_terms(&a->form, &b->form) && off) {
                say(f, path_step(f->b, a->step), 0.6, NAN,
                    "vectors of %lld bytes at distances that are no multiple of it (0x%llx, 0x%llx): some cross from "
                    "one line of the "
                    "cache into the next",
                    (long long)size, (unsigned long long)path_step(f->b, a->step)->addr,
                    (unsigned long long)path_step(f->b, b->step)->addr);
                return;
            }
        }
    }
}

static void pages(struct finder *f)
{
    for (size_t i = 0; i < f->b->refs.count; i++)
        for (size_t k = 0; k < f->b->refs.count; k++) {
            const struct ref *w = &f->b->refs.items[i], *r = &f->b->refs.items[k];
            int64_t apart = llabs(r->form.add - w->form.add);
            if (memory_of(f, w)->writes && memory_of(f, r)->reads && w->known && form_same_terms(&w->form, &r->form) &&
                apart >= 4096 && apart % 4096 < 64) {
                say(f, path_step(f->b, r->step), 0.5, NAN,
                    "the load at 0x%llx and the store at 0x%llx are %lld bytes apart: to the core that looks like the "
                    "same "
                    "address, and one waits for the other",
                    (unsigned long long)path_step(f->b, r->step)->addr,
                    (unsigned long long)path_step(f->b, w->step)->addr, (long long)apart);
                return;
            }
        }
}

/* Is the vector instruction in the old encoding? 0: it is no vector instruction, 1: old, 2: VEX or EVEX */
static int encoding(const struct finder *f, const struct step *s)
{
    if (f->b->code->arch->kind != ARCH_X86_64 || !(s->f.reads.vector | s->f.writes.vector))
        return 0;
    return s->bytes[0] == 0xc4 || s->bytes[0] == 0xc5 || s->bytes[0] == 0x62 ? 2 : 1;
}

static void mixed_encodings(struct finder *f)
{
    const struct step *first[3] = {0};
    for (size_t i = 0; i < f->b->path.count; i++) {
        const struct step *s = path_step(f->b, i);
        int e = encoding(f, s);
        first[e] = first[e] ? first[e] : s;
    }
    if (first[1] && first[2])
        say(f, first[1], 0.7, NAN, "SSE's encoding at 0x%llx, AVX's at 0x%llx", (unsigned long long)first[1]->addr,
            (unsigned long long)first[2]->addr);
}

static bool is_x87(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.type == NUMBER_EXTENDED;
}

static void x87(struct finder *f)
{
    say_steps(f, is_x87, false, 0.9, NAN, "x87 instruction");
}

static bool is_locked(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.locked || s->f.class == CLASS_FENCE;
}

static void locked(struct finder *f)
{
    say_steps(f, is_locked, true, 0.9, NAN, "atomic access");
}

static bool is_small(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.memory_count && s->f.memory[0].reads && s->f.memory[0].size <= 2 && s->f.memory[0].size > 0 &&
           !(s->f.reads.vector | s->f.writes.vector);
}

static void small_loads(struct finder *f)
{
    say_steps(f, is_small, false, 0.5, NAN, "byte or 16-bit load");
}

static bool is_prefetch(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.class == CLASS_PREFETCH;
}

static void no_prefetch(struct finder *f)
{
    struct found found = look(f, is_prefetch, true);
    if (f->q->strides[STRIDE_INDIRECT] && !found.count && f->q->strides[STRIDE_ONE])
        say(f, NULL, 0.3, NAN, "no prefetch, and hardware does not foresee indirect references");
    buf_release(&found.where);
}

/* ---- all ------------------------------------------------------------------------------------ */

typedef void check_rule(struct finder *);
static check_rule *const rules[QUALITY_CHECKS] = {
#define RULE(name, word, rule) rule,
    QUALITY_CHECK_LIST(RULE)
#undef RULE
};

void checks_find(const struct body *b, const struct quality_loop *q, const struct scope_tree *tree,
                 const struct quality_built *built, struct quality_report *report)
{
    struct finder f = {.b = b, .q = q, .built = built, .report = report, .tree = tree};
    for (int i = 0; i < QUALITY_CHECKS; i++) {
        f.kind = (enum quality_check_kind)i;
        if (f.b->path.count)
            rules[i](&f);
    }
}
