/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share. One way: table.c <- gaps.c <- functions.c. */
#ifndef BLOOP_FUNCTIONS_INT_H
#define BLOOP_FUNCTIONS_INT_H

#include "bloop/functions/functions.h"

struct function_list VEC(struct function);

bool function_in_code(const struct image *, vaddr);
/* Adds what begins at `found` (ascending, distinct) on the word of one of enum function_origin. Each goes as far as the
   next thing known and not beyond its own end, which is a guess all the same. */
void functions_add_found(struct function_table *, const struct addr_range *found, size_t count, uint8_t origin);

/*
 * Functions in the gaps of a table, appended in order. A gap is what no function covers, or only one that nobody names
 * and whose end is a guess. All of them; those that hold addresses, by reading around these; those that begin at
 * addresses that are called (both ascending). What is read around an address is more of the gap as long as the function
 * has no beginning and end in it, up to 1 MiB each way.
 */
void gaps_find(const struct function_table *, struct range_list *);
void gaps_find_at(const struct function_table *, const vaddr *addrs, size_t count, struct range_list *);
void gaps_find_called(const struct function_table *, const vaddr *entries, size_t count, struct range_list *);

#endif
