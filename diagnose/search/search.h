/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagnose/search - from properties to findings.
 *
 *     search.c                strategies
 *     merge.c                 findings: one for each thing in the source
 *     callers.c               what the program's own source has to do with it
 *     next_measurements.c     what to measure for properties that could not be tested
 */
#ifndef DIAGNOSE_SEARCH_H
#define DIAGNOSE_SEARCH_H

#include "diagnose/evaluate/evaluate.h"

void diagnosis_make_findings(struct evaluator *, struct diagnosis *);

/* ---- callers.c: own source is a file outside the system's folders ---- */

/* The innermost scope around the place, itself included, with own source: the function it was inlined into;
   PLACE_NONE. */
place_ix diagnosis_own_scope(const struct experiment *, place_ix);
/* The frame with own source from which most of the metric at these places was called; PLACE_NONE: there is none, or
   no call paths. *part: its part of that. */
place_ix diagnosis_own_caller(const struct experiment *, size_t metric, const place_ix *places, size_t count,
                              double *part);

#endif
