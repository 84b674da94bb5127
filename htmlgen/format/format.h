/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * format - what a database's writer and its reader both know (doc/formats/database.md).
 *
 * Knows:    packed blocks, columns of numbers in byte planes, the columns of a place, the head's objects of one struct.
 * Does not: files, the page; which block holds what.
 *
 * Memory:   a block's bytes are the caller's to mem_free.
 * Errors:   data that cannot be unpacked are not a block; a member of the head that is missing or of another type is 0
 * or "".
 * Threads:  none.
 */
#ifndef HTMLGEN_FORMAT_H
#define HTMLGEN_FORMAT_H

#include "metrics/metrics.h"

/* The page's reader has the same number in templates/model/head.ts. */
#define HTMLGEN_VERSION 3

/* ---- blocks (block.c): zlib, as base64, in a script of its own or in an element of the page ---- */

#define BLOCK_CALL    "hpcview_data(\"%s\",\"" /* up to a '"' */
#define BLOCK_ELEMENT "id=\"data-%s\">"        /* up to a '<' */

struct htmlgen_block {
    uint8_t *bytes;
    size_t len;
};

/* The same text for the same bytes and zlib. */
int htmlgen_pack(struct buf *base64, const void *bytes, size_t n, struct err *);
/* base64 up to the first character that is not a digit of it; false: not a packed block, or one of more than
   LIMIT_BLOCK_BYTES. */
bool htmlgen_unpack(const char *base64, size_t n, struct htmlgen_block *);

/* ---- columns ---- */

/* Numbers of `width` bytes are stored as byte planes: all lowest bytes, then all second bytes, ... zlib makes much less
   of it that way, and byte order does not matter. */
uint8_t *htmlgen_zeros(struct buf *, size_t n); /* appended; NULL: n is 0 */
void htmlgen_planes(struct buf *, const uint64_t *, size_t n, unsigned width);
/* Number `i` of n, whose planes begin at `at`. */
uint64_t htmlgen_number(const uint8_t *at, size_t n, size_t i, unsigned width);

/* One metric: n bytes of state, then the values the states call for. */
enum { STATE_INCLUSIVE = 1, STATE_EXCLUSIVE = 2, STATE_EQUAL = 4 /* the exclusive value is the inclusive one */ };

/* The columns of the places, in their order; the strings that names are numbers of come behind them. Of all but KIND
   and ROLE the head says how many planes there are: upper ones of zeros alone are left out. */
enum place_column {
    COLUMN_KIND,
    COLUMN_ROLE,   /* role, on_line << 2, irreducible << 7 */
    COLUMN_PARENT, /* distance to it; 0: none */
    COLUMN_NAME,
    COLUMN_FULL_NAME,
    COLUMN_FILE,
    COLUMN_FIRST,
    COLUMN_LAST, /* distance from the first line */
    COLUMN_CALL_FILE,
    COLUMN_CALL_LINE,
    COLUMN_INSTANCE,
    COLUMN_INSTANCES,
    COLUMN_ADDRESS,
    COLUMN_SAME, /* distance to the first of the same; since version 2 */
    PLACE_COLUMNS
};
extern const uint8_t htmlgen_place_widths[PLACE_COLUMNS];

extern const char *const htmlgen_cell_types[TABLE_TYPES]; /* names of enum table_type */
/* A cell's bytes: 4 for a string's or row's number, 8 for others. */
static inline unsigned htmlgen_cell_width(uint8_t type)
{
    return type == TABLE_TEXT || type == TABLE_REF ? 4 : 8;
}

/* ---- the head's objects (head.c) ---- */

enum field_kind {
    FIELD_TEXT,
    FIELD_COMMAND,   /* without the program's folder: of no use elsewhere, and it reveals the machine */
    FIELD_BASE_NAME, /* of a path */
    FIELD_COUNT,     /* uint64_t */
    FIELD_SIZE,      /* uint32_t */
    FIELD_INDEX,     /* uint32_t, UINT32_MAX: none, which is -1 in the head */
    FIELD_STATUS,    /* int32_t, -1: none */
    FIELD_FLAG
};
struct field { /* of a struct, and a member of its object; the last one has no key */
    const char *key;
    enum field_kind kind;
    size_t offset;
};
extern const struct field htmlgen_metric_fields[], htmlgen_run_fields[], htmlgen_run_processes[],
    htmlgen_process_names[], htmlgen_process_fields[];
void htmlgen_put_fields(struct jsonout *, const struct strtab *, const struct field *, const void *from);
void htmlgen_get_fields(const struct json *, json_ix object, struct strtab *, const struct field *, void *to);

#endif
