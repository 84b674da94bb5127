/* For tests of code in a recorded program: memory ends at an inaccessible page, and mapping fails on request. */
#ifndef TESTS_FAKE_RECORDER_MEMORY_H
#define TESTS_FAKE_RECORDER_MEMORY_H

#include "hpcprof/recorder/barriers/barriers.h"
#include "tests/guarded.h"

static int maps_until = -1, mapped; /* maps_until: number of mappings that still succeed; -1: all */

void *hpcrec_map(size_t bytes)
{
    if (maps_until == 0)
        return NULL;
    maps_until -= maps_until > 0;
    mapped++;
    return guarded_get(bytes);
}

void hpcrec_unmap(void *p, size_t bytes)
{
    mapped -= p != NULL;
    guarded_put(p, bytes);
}

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
