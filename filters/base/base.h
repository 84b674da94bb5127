/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * filters/base - what filters share: lines of text, packed files (this header); measurements by line (builder.h), tables of
 * calls (call_edges.h), numbered keys (interner.h), addresses of binaries (image.h).
 *
 * Does not: know any format.
 */
#ifndef FILTERS_BASE_H
#define FILTERS_BASE_H

#include "filters/filters.h"

/* One line of the input without its end. */
struct line_reader {
    const char *at, *end; /* the following bytes */
    const char *line;     /* in the input */
    size_t len;
    struct buf text; /* a copy of it, NUL-terminated and lent until the next one */
    unsigned long number;
};
struct line_reader filter_line_reader_make(const void *bytes, size_t len);
bool filter_line_reader_next(struct line_reader *);
/* The same in two: the text in place, and a copy for callers that need one. */
bool filter_line_reader_step(struct line_reader *);
char *filter_line_reader_copy(struct line_reader *);
void filter_line_reader_release(struct line_reader *);
/* Opens a file that the input names, to be released. false: it is not there. */
bool input_open(const struct filter_input *, const char *path, struct filemap *);
/* Is this text, as far as its first kilobyte shows? */
bool filter_looks_like_text(const void *bytes, size_t len);
/* Text whose first character that is not white space is `first`, with `has` in the first 4096 bytes. */
bool filter_text_begins(const void *bytes, size_t len, char first, const char *has);
const char *filter_skip_blanks(const char *s);

/* Names that linkers know (C++, Rust, modules of gfortran), demangled as those of binaries are; others stay.
   Zero-initialise. */
struct names {
    struct hashmap known; /* by string, its demangled name */
};
const char *names_in_words(struct names *, struct strtab *, const char *name);
void names_release(struct names *);

/* 1: it is a gzip or zstd file (of any number of members), and *plain, to be released, has its contents; 0: not
   compressed. More than LIMIT_IMPORT_BYTES, or damage, is an error. */
int filter_unpack(struct filemap *packed, const char *name, struct filemap *plain, struct err *);

#endif
