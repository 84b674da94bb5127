/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagnose/report - findings and the search for people and programs.
 *
 *     print.c       text, CSV, JSON
 *     formats.c     SARIF, Periscope's XML, graphs
 *     tables.c      tables of findings
 */
#ifndef DIAGNOSE_REPORT_H
#define DIAGNOSE_REPORT_H

#include "diagnose/diagnose.h"

void diagnosis_write_sarif(const struct experiment *, const struct properties *, const struct diagnosis *,
                           const char *version, struct outfile *);
void diagnosis_write_periscope(const struct experiment *, const struct diagnosis *, struct outfile *);
void diagnosis_write_graph(const struct diagnosis *, struct outfile *);

#endif
