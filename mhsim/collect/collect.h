/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a simulated process become a measurement. */
#ifndef MHSIM_COLLECT_COLLECT_H
#define MHSIM_COLLECT_COLLECT_H

#include "mhsim/shared_layout.h"

/* Reads every process's file in `folder` and writes a measurement for each into `out_dir`; `pid` ended with `status`
   (as by wait). How many there were, or -1. */
int mhsim_collect(const char *folder, const char *out_dir, uint32_t pid, int wait_status, struct warnings *,
                  struct err *);

#endif
