/* What the filters share: lines of text, packed files, and a measurement that is filled in the order the file happens
 * to have. */
#ifndef FILTERS_INT_H
#define FILTERS_INT_H

#include "filters/filters.h"

/* One line of the input without its end; `text` is NUL-terminated and lent until the next one. */
struct line_reader {
    const char *at, *end;
    struct buf text;
    unsigned long number;
};
struct line_reader line_reader_make(const void *bytes, size_t len);
bool line_reader_next(struct line_reader *);
void line_reader_release(struct line_reader *);
/* Is this text, as far as its first kilobyte shows? */
bool looks_like_text(const void *bytes, size_t len);
char *skip_blanks(char *s);

/* The bytes of a gzip or zstd file (of any number of members), or the bytes themselves. *owned is to be freed. More
   than LIMIT_IMPORT_BYTES, or a packing that is damaged, is an error. */
int unpack(const void *bytes, size_t len, const char *name, const void **plain, size_t *plain_len, void **owned,
           struct err *);

bool perf_script_sniff(const void *bytes, size_t len);
int perf_script_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool perf_data_sniff(const void *bytes, size_t len);
int perf_data_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool callgrind_sniff(const void *bytes, size_t len);
int callgrind_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool cachegrind_sniff(const void *bytes, size_t len);
int cachegrind_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);
bool profile_sniff(const void *bytes, size_t len);
int profile_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);

#endif
