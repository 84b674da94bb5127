/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the two kinds of HPCToolkit's databases. */
#ifndef FILTERS_HPCTOOLKIT_INT_H
#define FILTERS_HPCTOOLKIT_INT_H

#include "filters/base/builder.h"

struct hpctoolkit_metric { /* "CPUTIME (sec)", "CPUTIME (usec):Sum (E)" */
    char *name;            /* "CPUTIME"; to be freed */
    const char *unit;      /* "ns" */
    double scale;          /* of its values to that unit */
};
struct hpctoolkit_metric hpctoolkit_metric(const char *name);

struct hpctoolkit_files {
    const void *meta, *profile;
    size_t meta_len, profile_len;
};
int hpctoolkit_v4(const struct hpctoolkit_files *, const struct filter_input *, struct hpcprof *into, struct warnings *,
                  struct err *);

#endif
