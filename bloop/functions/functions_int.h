/* What the files of this folder share. One way: table.c <- gaps.c <- functions.c. */
#ifndef BLOOP_FUNCTIONS_INT_H
#define BLOOP_FUNCTIONS_INT_H

#include "bloop/functions/functions.h"

struct function_list VEC(struct function);

bool function_in_code(const struct image *, vaddr);
/* functions_add for any witness: `origin` is one of enum function_origin. */
void functions_add_found(struct function_table *, const vaddr *entries, size_t count, uint8_t origin);

/* Where functions begin in the gaps of a table, ascending, appended. A gap is what no function covers, or only one that
   nobody names and whose end is a guess. */
void gaps_find(const struct function_table *, struct vaddr_list *entries);

#endif
