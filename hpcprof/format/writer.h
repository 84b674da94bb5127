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
/* Blocks of "count, rows", each after the same fixed bytes (may be NULL). */
struct block_rows {
    struct outfile *f;
    uint32_t type;
    const struct buf *fixed;
    struct buf rows; /* to which the caller adds */
    uint64_t count;
};
/* Before each row: true where it is the first of a block. */
bool hpcprof_write_row(struct block_rows *);
void hpcprof_write_rows_end(struct block_rows *);

/* hpcprof_write_tables.c: all of p->tables, behind `first` others of the file */
void hpcprof_write_tables(struct outfile *, const struct hpcprof *p, uint32_t first);

#endif
