/* SPDX-License-Identifier: BSD-3-Clause */
/* filters/hpctoolkit - databases of HPCToolkit: version 4 (v4.c) and experiment.xml of before 2022. */
#ifndef FILTERS_HPCTOOLKIT_H
#define FILTERS_HPCTOOLKIT_H

#include "filters/filters.h"

bool hpctoolkit_sniff(const void *bytes, size_t len);
int hpctoolkit_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);

#endif
