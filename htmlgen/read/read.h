/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read - a database, of any version, becomes an experiment again.
 *
 * Knows:    where the page has the head, and blocks by name; how an experiment is put together.
 * Does not: trust any number in it.
 *
 * Memory:   the experiment owns all it has; blocks are freed after their contents were read.
 * Errors:   without head or places there is no experiment; another block that is missing or damaged is a warning.
 * Threads:  none.
 */
#ifndef HTMLGEN_READ_H
#define HTMLGEN_READ_H

#include "htmlgen/format/format.h"
#include "htmlgen/htmlgen.h"
#include "metrics/model/model.h"

struct database {
    const char *path;
    bool single;         /* one page, blocks in it */
    struct filemap page; /* index.html, or the page itself */
    struct json *head;
    struct experiment *e;
    struct warnings *warnings;
    struct err *err;
};

struct columns_reader {
    const struct htmlgen_block *block;
    size_t at, n;
};

/* A block by its name. Not there, or damaged: false. Names are of our making, not the file's. */
bool database_block(struct database *, const char *name, struct htmlgen_block *);
/* The next column; NULL: the block ends before it does. */
const uint8_t *database_column(struct columns_reader *, unsigned width);
/* The strings behind the columns: as many as the head says; NULL: they are cut short. */
str_id *database_strings(struct database *, const struct columns_reader *, size_t count);
str_id database_text(struct database *, json_ix object, const char *key);

/* tables.c: all that are sound; the others with a warning. */
void database_tables(struct database *);

#endif
