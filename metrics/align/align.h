/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * align - places of several runs that are one thing in the source become one.
 *
 * Knows:    versions of files, how lines have moved between them, clones of procedures, loops that compilers begin elsewhere.
 * Does not: look for sources or binaries; values.
 *
 * Memory:   the correlation's places and files are replaced.
 * Errors:   unmatched scopes stay separate; if a user can help it is a warning.
 * Threads:  none.
 */
#ifndef METRICS_ALIGN_H
#define METRICS_ALIGN_H

#include "metrics/ingest/ingest.h"

/* Places of several runs that are one thing in the source become one: files of one tree in different folders, lines
   that have moved, loops that compilers begin elsewhere. After sources_find, whose texts it compares. */
void align_runs(struct correlation *, struct warnings *);
/* By line of a, the first one first: the matching line of b, from 1; 0: it was deleted. mem_free. */
uint32_t *metrics_line_diff(const void *a, size_t a_len, const void *b, size_t b_len, size_t *lines_of_a);
/* How many whole components the ends of two paths share. */
unsigned metrics_path_shared_end(const char *a, const char *b);

#endif
