/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export - an experiment in other tools' formats.
 *
 * Knows:    other tools' formats.
 * Does not: measurements, ELF, pages; arithmetic but sums; print.
 *
 * Usual life:  experiment_read_database, or experiment_build -> export_write -> experiment_free
 *
 * Memory:   an experiment read is the caller's.
 * Errors:   the file, and the fault; an unknown metric is named with the nearest existing one.
 * Threads:  nothing is shared.
 *
 * A format is one row: name, description, write. To add one: a file with `export_NAME`, a row in export.c, a section in
 * doc/formats/exports.md.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include "metrics/metrics.h"

struct exported; /* export_int.h */
struct export_format {
    const char *name, *description;
    bool paths; /* needs calling contexts, if there are any */
    bool sums;  /* only metrics of which parts may be added up */
    int (*write)(const struct exported *, struct outfile *, struct err *);
};
/* All formats; the last row has a NULL name. */
extern const struct export_format export_table[];
/* The row of that name; NULL: there is none, *err names the available ones. */
const struct export_format *export_named(const char *name, struct err *err);

struct export_options {
    const char *const *metrics; /* names, NULL-terminated; NULL: all that are displayed */
    const char *tree;           /* "scopes", "calls"; NULL: the format's choice */
    bool no_loops;              /* loops are not frames of stacks */
    const char *generator;      /* program and version, for formats that name their writer */
};
int export_write(const struct experiment *, const struct export_format *, const struct export_options *,
                 struct outfile *, struct err *);

#endif
