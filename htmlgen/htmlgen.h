/*
 * htmlgen - an experiment becomes a database that any browser opens from disk (doc/formats/database.md).
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
   experiment.files[].found; what cannot be read is a warning. opts may be NULL. */
int htmlgen_write(const struct experiment *, const char *path, const struct htmlgen_options *opts, struct warnings *,
                  struct err *);

#endif
