/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * htmlgen - an experiment becomes a database that any browser opens from disk, and is read back from it
 * (doc/formats/database.md).
 *
 * Knows:    the page's data files, zlib, the bundle built from templates/.
 * Does not: do arithmetic on measurements; print.
 *
 * The database holds tens of files at the most, the same bytes for the same experiment, and no path of the
 * machine that made it but those in the experiment's shown names. It appears whole or not at all.
 */
#ifndef HTMLGEN_H
#define HTMLGEN_H

#include "metrics/metrics.h"

struct htmlgen_options {
    bool single_file; /* one .html instead of a folder */
    bool no_sources;  /* leave the source text out */
};

/* Writes the database at `path`, replacing an older database there (and nothing else). Source text is read from
   experiment.files[].found; unreadable files are a warning. opts may be NULL. */
int htmlgen_write(const struct experiment *, const char *path, const struct htmlgen_options *opts, struct warnings *,
                  struct err *);

/* Is it a folder, or a page, that `hpcview build` wrote? */
bool experiment_is_database(const char *path);
/* Reads a finished database, of any version; a block that is missing or damaged is a warning, and its contents are
   omitted. Computed metrics are as they were written, without the parts of their formulas. */
int experiment_read_database(const char *path, struct experiment **, struct warnings *, struct err *);
/* The same from the bytes of a page that holds all blocks. */
int experiment_read_page(const void *bytes, size_t len, const char *name, struct experiment **, struct warnings *,
                         struct err *);
/* For configurations whose runs may be databases (config_set_reader). */
extern const struct experiment_reader htmlgen_reader;

#endif
