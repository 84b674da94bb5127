/* A library: called through stubs, calling back through a pointer. */
#include "known.h"

void plug_call(void (*back)(int), int n);
FUNCTION void plug_call(void (*back)(int), int n)
{
    ENTER();
    back(n);
    work(10);
    LEAVE();
}
/* SPDX-License-Identifier: BSD-3-Clause */
