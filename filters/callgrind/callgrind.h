/* SPDX-License-Identifier: BSD-3-Clause */
/* filters/callgrind - callgrind.out and cachegrind.out files, which are a part of that format. */
#ifndef FILTERS_CALLGRIND_H
#define FILTERS_CALLGRIND_H

#include "filters/filters.h"

bool callgrind_sniff(const void *bytes, size_t len);
int callgrind_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool cachegrind_sniff(const void *bytes, size_t len);
int cachegrind_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);

#endif
