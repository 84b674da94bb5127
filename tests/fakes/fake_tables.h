/* Included first in the sources of finish_test: memory and table rows are allocated by the test, so that any access
   past their end crashes at once. */
#ifndef TESTS_FAKE_TABLES_H
#define TESTS_FAKE_TABLES_H

#include "support/support.h"
#include "support/table.h"

void *fake_get(size_t bytes, int filled_with);
void *fake_grow(void *items, size_t *capacity, size_t wanted, size_t item_size);
void fake_free(void *);
uint64_t fake_hash(const void *, size_t, uint64_t start);
const union table_cell *fake_row(const struct table *, size_t row);

#define mem_alloc(bytes)            fake_get(bytes, 0x5a)
#define mem_calloc(count, size)     fake_get((count) * (size), 0)
#define mem_free(p)                 fake_free(p)
#define hash_bytes(bytes, n, start) fake_hash(bytes, n, start)
#define vec_grow_                   fake_grow
#define table_row(t, row)           fake_row(t, row)

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
