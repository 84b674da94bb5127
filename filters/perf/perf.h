/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * filters/perf - what Linux perf recorded, from its binary file and from the text of `perf script` alike.
 *
 *     data.c, data.h   the file, the pipe, and the records one after the other; data.h lists its parts
 *     script.c         the text
 *     gperftools.c     profiles of gperftools, which are mappings and stacks as well
 *     run.c            what they say happened: mappings, forks, samples
 *     chain_cache.c    frames of call chains, each once
 */
#ifndef FILTERS_PERF_H
#define FILTERS_PERF_H

#include "filters/filters.h"

bool gperftools_sniff(const void *bytes, size_t len);
int gperftools_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool perf_script_sniff(const void *bytes, size_t len);
int perf_script_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool perf_data_sniff(const void *bytes, size_t len);
int perf_data_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);

#endif
