/* What the program's debug information says of variables that no symbol names: members of COMMON blocks, and what lies in
   procedures' frames. Inside the simulated process, from the file that `hpcview simulate` made. */
#ifndef MHSIM_VARIABLES_H
#define MHSIM_VARIABLES_H

#include "mhsim/raw.h"

/* false: there are none. */
bool variables_open(const char *folder, const struct raw_orders *);
/* Addresses are the program file's. NULL: none is there. */
const struct mhsim_variable *variables_static(uint64_t address);
/* Of the frame of code at `pc`, the one `offset` from its canonical address; NULL: none, and lo <= offset < hi is the gap
   between those that are (as far as they go: lo and hi come with the frame's own bounds). */
const struct mhsim_variable *variables_in_frame(uint64_t pc, int64_t offset, int64_t *lo, int64_t *hi);
/* Of all: for telling them apart. */
uint64_t variables_number(const struct mhsim_variable *);

#endif
