/* SPDX-License-Identifier: BSD-3-Clause */
/* Known only to the launcher: how a process ended that could not write its own end. */
#ifndef HPCPROF_LAUNCH_EXIT_STATUS_H
#define HPCPROF_LAUNCH_EXIT_STATUS_H

#include "hpcprof/hpcprof.h"

#include <sys/types.h>

/* Adds end time and status (as by wait(2)) to the file of the process that was `pid`, begun at or after
   `launched_ns` (UNIX time) and waited for, if its recorder did not. A process without a file is not an error. `dir`:
   the measurement directory. */
int exit_status_add(const char *dir, pid_t pid, uint64_t launched_ns, int status, struct err *);
/* The file of that process, or else of any other in the folder, which has its end; NULL: none. Caller frees. */
char *exit_status_file(const char *dir, pid_t pid, uint64_t launched_ns, bool or_any);

#endif
