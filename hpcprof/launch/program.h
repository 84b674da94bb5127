/* SPDX-License-Identifier: BSD-3-Clause */
/* The program to start. */
#ifndef HPCPROF_LAUNCH_PROGRAM_H
#define HPCPROF_LAUNCH_PROGRAM_H

#include "support/support.h"

/* Its path, as a shell finds it; NULL and an error: there is none that can be run. Caller frees. */
char *hpcprof_find_program(const char *name, struct err *);
/* -1: the recorder cannot be loaded into it. `depth`: of scripts whose interpreters are scripts, 0. */
int hpcprof_check_program(const char *path, int depth, struct err *);

#endif
