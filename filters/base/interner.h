/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys that come again and again, as rows of a table: each once, in the order of first coming.
 *
 * Tools write their counts part after part, and most parts in the order of the one before: so the row that followed
 * last time is tried first, and hashing is for new ones.
 */
#ifndef FILTERS_INTERNER_H
#define FILTERS_INTERNER_H

#include "support/support.h"

struct interner_key {
    uint32_t a[6];
    uint64_t b[2]; /* addresses and lines: adjacent keys are close */
};

struct interner {
    struct VEC(struct interner_row) rows;
    struct row_index index;
    uint32_t last; /* the row that was asked for last */
};
struct interner_row {
    struct interner_key key;
    uint32_t next; /* the row that came after this one, or ROW_NONE */
};

uint32_t interner_row(struct interner *, const struct interner_key *);
void interner_release(struct interner *);

#endif
