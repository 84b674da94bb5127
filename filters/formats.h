/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats of one file each; those of several have a folder: perf/, callgrind/, hpctoolkit/. */
#ifndef FILTERS_FORMATS_H
#define FILTERS_FORMATS_H

#include "filters/filters.h"

bool gcov_sniff(const void *bytes, size_t len);
int gcov_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool lcov_sniff(const void *bytes, size_t len);
int lcov_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool llvm_cov_sniff(const void *bytes, size_t len);
int llvm_cov_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool folded_sniff(const void *bytes, size_t len);
int folded_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool speedscope_sniff(const void *bytes, size_t len);
int speedscope_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool pprof_sniff(const void *bytes, size_t len);
int pprof_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool gmon_sniff(const void *bytes, size_t len);
int gmon_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool table_sniff(const void *bytes, size_t len);
int table_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool caliper_sniff(const void *bytes, size_t len);
int caliper_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool likwid_sniff(const void *bytes, size_t len);
int likwid_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool papi_sniff(const void *bytes, size_t len);
int papi_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool profile_sniff(const void *bytes, size_t len);
int profile_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);

#endif
