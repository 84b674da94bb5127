/* What the filters share: lines of text, packed files, and a measurement that is filled in the order the file happens
 * to have. */
#ifndef FILTERS_INT_H
#define FILTERS_INT_H

#include "filters/filters.h"

/* One line of the input without its end. */
struct line_reader {
    const char *at, *end; /* what comes after it */
    const char *line;     /* in the input */
    size_t len;
    struct buf text; /* a copy of it, NUL-terminated and lent until the next one */
    unsigned long number;
};
struct line_reader line_reader_make(const void *bytes, size_t len);
bool line_reader_next(struct line_reader *);
/* The same in two: where it lies, and the copy for those that want one. */
bool line_reader_step(struct line_reader *);
char *line_reader_copy(struct line_reader *);
void line_reader_release(struct line_reader *);
/* Is this text, as far as its first kilobyte shows? */
bool looks_like_text(const void *bytes, size_t len);
const char *skip_blanks(const char *s);

/* 1: it is a gzip or zstd file (of any number of members), and *plain, to be released, what is in it; 0: it is not packed.
   More than LIMIT_IMPORT_BYTES, or a packing that is damaged, is an error. */
int unpack(struct filemap *packed, const char *name, struct filemap *plain, struct err *);

bool perf_script_sniff(const void *bytes, size_t len);
int perf_script_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool perf_data_sniff(const void *bytes, size_t len);
int perf_data_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool callgrind_sniff(const void *bytes, size_t len);
int callgrind_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool cachegrind_sniff(const void *bytes, size_t len);
int cachegrind_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
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
bool hpctoolkit_sniff(const void *bytes, size_t len);
int hpctoolkit_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool profile_sniff(const void *bytes, size_t len);
int profile_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);

#endif
