/*
 * diagnose/search - from properties to findings.
 *
 *     search.c                strategies
 *     merge.c                 findings: one for each thing in the source
 *     next_measurements.c     what to measure for properties that could not be tested
 */
#ifndef DIAGNOSE_SEARCH_H
#define DIAGNOSE_SEARCH_H

#include "diagnose/evaluate/evaluate.h"

void diagnosis_make_findings(struct evaluator *, struct diagnosis *);

#endif
