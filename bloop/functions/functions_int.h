/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of this folder. One way: table.c <- gaps.c <- functions.c. */
#ifndef BLOOP_FUNCTIONS_INT_H
#define BLOOP_FUNCTIONS_INT_H

#include "bloop/functions/functions.h"

struct function_list VEC(struct function);

bool function_in_code(const struct image *, vaddr);
/* Adds functions beginning at `found` (ascending, distinct), by evidence of enum function_origin. Each extends to
   the next thing known and not beyond its own end, which is a guess all the same. */
void functions_add_found(struct function_table *, const struct addr_range *found, size_t count, uint8_t origin);

/*
 * Functions in the gaps of a table, appended in order. A gap is covered by no function, or only by one without a name and
 * with a guessed end. All of them; those that contain addresses, by reading around these; those that begin at called
 * addresses (both ascending). Reading around an address continues while the function has no beginning and end in the part
 * read, up to 1 MiB each way.
 */
void gaps_find(const struct function_table *, struct range_list *);
void gaps_find_at(const struct function_table *, const vaddr *addrs, size_t count, struct range_list *);
void gaps_find_called(const struct function_table *, const vaddr *entries, size_t count, struct range_list *);

#endif
