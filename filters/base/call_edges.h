/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of calls: the table `call_edges`, the same from every format that counts calls. */
#ifndef FILTERS_CALL_EDGES_H
#define FILTERS_CALL_EDGES_H

#include "filters/base/base.h"

struct call_edge {
    uint32_t caller, callee; /* contexts: the place of the call, and the function; TABLE_NONE: unknown */
    uint64_t calls, cost;    /* cost: inclusive; TABLE_NO_COUNT: not counted */
};

int call_edges_declare(struct hpcprof *into, struct table **, struct err *);
/* Adds to an equal one. */
void call_edges_add(struct table *, const struct call_edge *);

#endif
