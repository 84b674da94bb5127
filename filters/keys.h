/*
 * Keys that come again and again, as rows of a table: each once, in the order of first coming.
 *
 * Tools write what they counted part after part, and most parts in the order of the one before: so the row that followed
 * last time is tried first, and hashing is for what is new.
 */
#ifndef FILTERS_KEYS_H
#define FILTERS_KEYS_H

#include "support/support.h"

struct key {
    uint32_t a[6];
    uint64_t b[2]; /* addresses and lines: what comes together has near ones */
};

struct keys {
    struct VEC(struct key_row) rows;
    struct row_index index;
    uint32_t last; /* the row that was asked for last */
};
struct key_row {
    struct key key;
    uint32_t next; /* the row that came after this one, or ROW_NONE */
};

uint32_t keys_row(struct keys *, const struct key *);
void keys_release(struct keys *);

#endif
