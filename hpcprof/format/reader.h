/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files that read measurements: one file being read into a measurement. */
#ifndef HPCPROF_FORMAT_READER_H
#define HPCPROF_FORMAT_READER_H

#include "hpcprof/format/tables.h"

/* From the row numbers of one file to those of the whole measurement. */
struct reader_rows VEC(uint32_t);

struct reader_table { /* one that the file declares */
    struct table *table;
    struct reader_rows rows;
};

struct own_file { /* of the procedure of a context to come */
    uint64_t row;
    str_id file;
};

struct reader {
    struct hpcprof *p;
    const char *name;
    struct reader_rows processes, events, modules, contexts, threads, regions;
    struct VEC(struct own_file) own_files; /* by rows; those before `own_file_next` are used */
    size_t own_file_next;
    struct VEC(struct reader_table) tables;
    uint32_t process;  /* the one that blocks speak of; UINT32_MAX before the first */
    const char *wrong; /* the fault in the current block; NULL: none */
};

str_id hpcprof_reader_string(struct reader *, struct cursor *);
/* The number of rows that follow; each takes at least a byte, so more rows than bytes is nonsense. */
uint64_t hpcprof_reader_count(struct reader *, struct cursor *);

/* hpcprof_read_tables.c */
void hpcprof_read_tables(struct reader *, struct cursor *);
void hpcprof_read_table_rows(struct reader *, struct cursor *);
void hpcprof_release_tables(struct reader *);

#endif
