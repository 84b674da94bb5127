/* What the files that read a database share: its head, blocks, and columns in byte planes. */
#ifndef METRICS_DATABASE_INT_H
#define METRICS_DATABASE_INT_H

#include "metrics/code/code.h"

struct database {
    const char *path;
    bool single;         /* one page, blocks in it */
    struct filemap page; /* index.html, or the page itself */
    struct json *head;
    struct experiment *e;
    struct warnings *warnings;
    struct err *err;
};

struct block {
    uint8_t *bytes;
    size_t len;
};

struct columns_reader {
    const struct block *block;
    size_t at, n;
};

/* A block by its name. Not there, or damaged: false. Names are of our making, not the file's. */
bool database_block(struct database *, const char *name, struct block *);
/* The next column; NULL: the block ends before it does. */
const uint8_t *database_column(struct columns_reader *, unsigned width);
/* Row `i` of a column of n numbers of `width` bytes in byte planes, at `at`. */
uint64_t database_plane(const uint8_t *at, size_t n, size_t i, unsigned width);
/* The strings behind the columns: as many as the head says; NULL: they are cut short. */
str_id *database_strings(struct database *, const struct columns_reader *, size_t count);
str_id database_text(struct database *, json_ix object, const char *key);
size_t database_length(const struct json *, json_ix list);

/* database_tables.c: all that are sound; the others with a warning. */
void database_tables(struct database *);

#endif
