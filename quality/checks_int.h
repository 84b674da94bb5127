/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of checks: the loop that a rule looks at, access to its instructions, and reporting.
 * A rule sees one loop: its body, counts, bounds. A check that needs more (samples, other copies) is not a rule.
 */
#ifndef QUALITY_CHECKS_INT_H
#define QUALITY_CHECKS_INT_H

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

/* The rules: checks_vectors.c, checks_memory.c, checks_ways.c. */
#define QUALITY_CHECK_RULE(name, word, rule) void check_##rule(struct finder *);
QUALITY_CHECK_LIST(QUALITY_CHECK_RULE)
#undef QUALITY_CHECK_RULE

/* ---- looking ------------------------------------------------------------------------------ */

typedef bool step_test(const struct finder *, const struct step *);

struct found {
    const struct step *first;
    unsigned count;
    struct buf where; /* "0x1234, 0x1240 and 3 more" */
};

void finder_note(struct found *, const struct step *);
/* Steps that pass: of the shortest way, or of all ways. */
struct found finder_look(const struct finder *, step_test *, bool whole_loop);
const struct insn_memory *finder_memory(const struct finder *, const struct ref *);
bool finder_is_locked(const struct finder *, const struct step *); /* atomic, or a fence */
/* The first sum (or least, or largest) into a register that only takes such: a reduction; NULL: none. */
const struct step *finder_sum(const struct finder *);

bool finder_chain_divides(const struct finder *); /* is a division, or a root, on the longest chain? */

/* ---- reporting --------------------------------------------------------------------------- */

struct gain { /* of the loop's cycles, percent; NaN: not known */
    double low, high;
};
#define GAIN_UNKNOWN ((struct gain){NAN, NAN})

/* The possible gain if so many cycles were enough: an interval, because it is unknown whether the data come from
   memory and whether entries of the loop are too short for chains to matter. NaN: unknown. */
struct gain finder_gain(const struct finder *, double cycles);
double finder_saved(double before, double after); /* percent */
/* No more than that part of the time (0 to 1; NaN: not known) that was seen to be waited for. */
struct gain finder_limit(struct gain, double part);
/* The trip count, and so whether chains limit the loop, is mostly unknown. */
double finder_chain_confidence(const struct finder *, double confidence);
PRINTF_LIKE(5, 6)
void finder_say(struct finder *, const struct step *at, double confidence, struct gain, const char *format, ...);
/* Says what a test finds, where it finds something: "2 divisions at 0x10, 0x20". */
void finder_say_steps(struct finder *, step_test *, bool whole_loop, double confidence, struct gain, const char *noun);
const char *finder_plural(unsigned n);

#endif
