/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * filters - measurements of any kind are opened here: ours, and other tools' output as if it were ours.
 *
 * Knows:    other tools' formats, and packed files (gzip, zstd).
 * Does not: structure, metrics, pages; print.
 *
 * Usual life:  filters_read (a path; content decides its format) -> struct hpcprof -> hpcprof_free
 *              filters_import, once or several times, if one measurement is to hold several files
 *
 * Memory:   what is made is the caller's.
 * Errors:   "file:line: ..." or "file, byte N: ..." and the fault; anything read before it is dropped.
 * Threads:  nothing is shared.
 *
 * A filter is one row: name, sniff (looks at content, never at the file's name), convert. To add one: CONTRIBUTING.md.
 */
#ifndef FILTERS_H
#define FILTERS_H

#include "hpcprof/hpcprof.h"

struct filter_options {  /* data that a file itself lacks */
    const char *program; /* which program it is of; NULL: not given */
    /* of a table */
    const char *columns; /* "file,line,procedure,CYCLES,-": the meaning of each column; NULL: not given */
    const char *units;   /* "cycles,,": of the columns that are values; NULL: none */
    char separator;      /* '\0': blanks, any number of them */
    unsigned skip;       /* lines at the beginning that are not rows */
};

typedef int filter_open(const char *path, struct filemap *, struct err *);

struct filter_input {
    const void *bytes; /* unpacked */
    size_t len;
    const char *name;                     /* for messages; its last component for the measurement */
    const struct filter_options *options; /* never NULL */
    struct filemap *map;                  /* which the bytes are of: filemap_pass; NULL: of none */
    filter_open *open;                    /* of further files that this one names; NULL: they are not there */
};
/* The default `open`: regular files are opened. */
filter_open filters_open;

struct filter {
    const char *name, *description;
    bool (*sniff)(const void *bytes, size_t len);
    int (*convert)(const struct filter_input *, struct hpcprof *into, struct warnings *, struct err *);
};
/* All filters; the last row has a NULL name. */
extern const struct filter filter_table[];
/* The row of that name; NULL: there is none, *err names the available ones. */
const struct filter *filter_named(const char *name, struct err *);

/* Opens any measurement: a file or folder of ours, or another tool's file. */
int filters_read(const char *path, struct hpcprof **, struct warnings *, struct err *);
/* The same with overrides (hpcprof.h; of these, only `each` applies to another tool's file). result NULL: only
   `each` is called. */
int filters_read_as(const char *path, const struct hpcprof_reading *, struct hpcprof **, struct warnings *,
                    struct err *);
/* Is it a regular file that a filter recognises? */
bool filters_know(const char *path);
/* How often jumps between instructions were taken: part of the file (0: it has none), thread, from (TABLE_NONE: the
   instruction was reached without a jump), to, times. */
extern const struct table_decl filters_jumps;

/* Adds another tool's file to `into`, which hpcprof_finish ends. filter NULL: content decides; a file that may be
   two formats, or is of none, is an error. options may be NULL. */
int filters_import(const char *path, const struct filter *, const struct filter_options *, struct hpcprof *into,
                   struct warnings *, struct err *);

#endif
