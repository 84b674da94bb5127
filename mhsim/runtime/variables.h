/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables without symbols in the debug information of the program and its libraries: members of COMMON blocks, and
   locals in procedures' frames. Inside the simulated process, from the file that `hpcview simulate` made. */
#ifndef MHSIM_RUNTIME_VARIABLES_H
#define MHSIM_RUNTIME_VARIABLES_H

#include "mhsim/shared_layout.h"

/* false: there are none. */
bool variables_open(const char *folder, const struct raw_orders *);
/* Those of the program or library at this (real) path, whose file's addresses are meant below. NULL: none. */
const struct raw_variables *variables_of(const char *path);
/* NULL: none is there. */
const struct mhsim_variable *variables_static(const struct raw_variables *, uint64_t address);
/* Of the frame of code at `pc`, the one `offset` from its canonical address, the smallest if they are nested; NULL:
   none. lo <= offset < hi is the range of that result: lo and hi come with the frame's own bounds. */
const struct mhsim_variable *variables_in_frame(const struct raw_variables *, uint64_t pc, int64_t offset, int64_t *lo,
                                                int64_t *hi);
/* Of all: for distinguishing them. */
uint64_t variables_number(const struct mhsim_variable *);

#endif
