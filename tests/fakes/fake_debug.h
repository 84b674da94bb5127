/* Included first in the sources of assemble_test: memory is allocated by the test. */
#ifndef FAKES_FAKE_DEBUG_H
#define FAKES_FAKE_DEBUG_H

#include "support/support.h"

void *world_get(size_t bytes, bool cleared);
void *world_grow(void *items, size_t *capacity, size_t wanted, size_t item_size);
void world_free(void *);

#define mem_alloc(bytes)        world_get(bytes, false)
#define mem_calloc(count, size) world_get((count) * (size), true)
#define mem_free(p)             world_free(p)
#define vec_grow_               world_grow

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
