/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files that write measurements. */
#ifndef HPCPROF_FORMAT_WRITER_H
#define HPCPROF_FORMAT_WRITER_H

#include "hpcprof/format/tables.h"

/* Rows before a block is closed: far below FORMAT_PAYLOAD_MAX for any rows without very long names. */
enum { ROWS_PER_BLOCK = 4096, BYTES_PER_BLOCK = 1 << 20 };

void hpcprof_write_text(struct buf *, const char *);
/* The bytes before a block's payload, after those already in the buffer. */
void hpcprof_write_block_head(struct buf *, uint32_t type, const struct buf *payload);
/* A block is "count, rows", after its fixed part (may be NULL): `rows` holds the rows so far. Writes it out and
   empties it. */
void hpcprof_write_rows(struct outfile *, uint32_t type, const struct buf *fixed, struct buf *rows, uint64_t *count);
bool hpcprof_write_full(const struct buf *rows, uint64_t count);

/* hpcprof_write_tables.c: all of p->tables, behind `first` others of the file */
void hpcprof_write_tables(struct outfile *, const struct hpcprof *p, uint32_t first);

#endif
