/* ENTER and LEAVE for Fortran. */
#include "known.h"

void known_enter(const char *name);
void known_enter(const char *name)
{
    known_stack[known_depth++] = strdup(name);
}
void known_leave(void);
void known_leave(void)
{
    known_depth--;
}
/* SPDX-License-Identifier: BSD-3-Clause */
