/* Functions where nothing says that there is code: between those that symbols and .eh_frame know. */
#ifndef BLOOP_GAPS_H
#define BLOOP_GAPS_H

#include "bloop/bloop_int.h"

/* Where functions begin in the gaps of a table, ascending, appended. A gap is what no function covers, or only one that
   nobody names and whose end is a guess. */
void gaps_find(const struct function_table *, struct vaddr_list *entries);

#endif
