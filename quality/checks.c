/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Problems of a loop's code: each check is a row of QUALITY_CHECK_LIST with a name, a remedy (remedies.c), and a rule
 * that returns what was found, the confidence, and the possible gain by the bounds.
 */
#include "quality/checks_int.h"

#include <math.h>

/* ---- reporting --------------------------------------------------------------------------- */

double finder_saved(double before, double after)
{
    return after < before ? 100 * (1 - after / before) : 0;
}

struct gain finder_gain(const struct finder *f, double cycles)
{
    const struct quality_loop *q = f->q;
    struct gain gain = {100, 0};
    if (isnan(cycles) || q->bound <= 0)
        return GAIN_UNKNOWN;
    for (int shorter = 0; shorter <= (isnan(q->trips) ? 1 : 0); shorter++)
        for (int memory = q->from_memory_known == 1; memory <= (q->from_memory_known != 0); memory++) {
            double least = memory ? q->from_memory : 0;
            double one = finder_saved(fmax(shorter ? q->bound_short : q->bound, least), fmax(cycles, least));
            gain.low = fmin(gain.low, one);
            gain.high = fmax(gain.high, one);
        }
    return gain;
}

struct gain finder_limit(struct gain gain, double part)
{
    return isnan(part) ? gain : (struct gain){fmin(gain.low, 100 * part), fmin(gain.high, 100 * part)};
}

double finder_chain_confidence(const struct finder *f, double confidence)
{
    return isnan(f->q->trips) ? 0.75 * confidence : confidence;
}

/* The line of an instruction; 0: none. */
static uint32_t line_at(const struct finder *f, const struct step *s)
{
    scope_ix at = s ? scope_tree_find((struct scope_tree *)f->tree, s->addr) : SCOPE_NONE;
    return at != SCOPE_NONE && f->tree->scopes[at].kind == SCOPE_STMT ? f->tree->scopes[at].line_first
                                                                      : f->q->line_first;
}

static void add_check(struct finder *f, const struct step *at, double confidence, struct gain gain, const char *found)
{
    struct quality_report *r = f->report;
    r->checks = mem_realloc(r->checks, r->check_count + 1, sizeof *r->checks);
    r->checks[r->check_count++] =
        (struct quality_check){.loop = f->q->scope,
                               .kind = (uint8_t)f->kind,
                               .line = line_at(f, at),
                               .address = at ? at->addr : f->q->header,
                               .confidence = confidence,
                               .gain = gain.high,
                               .gain_low = gain.low,
                               .found = strtab_add(r->strings, found),
                               .remedy = strtab_add(r->strings, quality_remedy(f->kind, f->built))};
}

void finder_say(struct finder *f, const struct step *at, double confidence, struct gain gain, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *found = mem_vprintf(format, args);
    va_end(args);
    add_check(f, at, confidence, gain, found);
    mem_free(found);
}

/* ---- looking ------------------------------------------------------------------------------ */

void finder_note(struct found *found, const struct step *s)
{
    enum { NAMED = 4 };
    if (!found->count)
        found->first = s;
    if (found->count < NAMED)
        buf_printf(&found->where, "%s0x%llx", found->count ? ", " : "", (unsigned long long)s->addr);
    found->count++;
}

bool finder_is_locked(const struct finder *f, const struct step *s)
{
    (void)f;
    return s->f.locked || s->f.class == CLASS_FENCE;
}

struct found finder_look(const struct finder *f, step_test *test, bool whole_loop)
{
    struct found found = {0};
    for (size_t i = 0; i < f->b->steps.count; i++) {
        const struct step *s = &f->b->steps.items[i];
        if (s->known && (whole_loop || s->on_path) && test(f, s))
            finder_note(&found, s);
    }
    if (found.count > 4)
        buf_printf(&found.where, " and %u more", found.count - 4);
    return found;
}

const char *finder_plural(unsigned n)
{
    return n == 1 ? "" : "s";
}

void finder_say_steps(struct finder *f, step_test *test, bool whole_loop, double confidence, struct gain gain,
                      const char *noun)
{
    struct found found = finder_look(f, test, whole_loop);
    if (found.count)
        finder_say(f, found.first, confidence, gain, "%u %s%s at %s", found.count, noun, finder_plural(found.count),
                   found.where.bytes);
    buf_release(&found.where);
}

const struct insn_memory *finder_memory(const struct finder *f, const struct ref *r)
{
    return &path_step(f->b, r->step)->f.memory[r->operand];
}

/* ---- all ------------------------------------------------------------------------------------ */

/* gcc writes its options down, other compilers do not. The last -O counts. */
static bool is_unoptimized(const char *producer)
{
    char level = '0';
    if (!str_starts(producer, "GNU ") || str_starts(producer, "GNU AS"))
        return false;
    for (const char *o = producer; (o = strstr(o, " -O"));)
        level = *(o += strlen(" -O"));
    return level == '0';
}

void check_unoptimized(struct finder *f)
{
    if (is_unoptimized(f->built->producer))
        finder_say(f, NULL, 0.95, GAIN_UNKNOWN, "compiled without optimization");
}

typedef void check_rule(struct finder *);
static check_rule *const rules[QUALITY_CHECKS] = {
#define RULE(name, word, rule) check_##rule,
    QUALITY_CHECK_LIST(RULE)
#undef RULE
};

void checks_find(const struct body *b, const struct quality_loop *q, const struct scope_tree *tree,
                 const struct quality_built *built, struct quality_report *report)
{
    struct finder f = {.b = b, .q = q, .built = built, .report = report, .tree = tree};
    int checks = is_unoptimized(built->producer) ? CHECK_UNOPTIMIZED + 1 : QUALITY_CHECKS;
    for (int i = 0; i < checks; i++) {
        f.kind = (enum quality_check_kind)i;
        if (f.b->path.count)
            rules[i](&f);
    }
}
