/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write - an experiment becomes the files of a database, or one page.
 *
 * Knows:    the blocks and the head, the page that templates/ makes, source texts.
 * Does not: do arithmetic on measurements; print.
 *
 * Memory:   blocks are made, written and released one after the other.
 * Errors:   no file can be written, or a part would be too large: there is no database then. A source that
 *           cannot be read is a warning.
 * Threads:  none.
 */
#ifndef HTMLGEN_WRITE_H
#define HTMLGEN_WRITE_H

#include "htmlgen/format/format.h"
#include "htmlgen/htmlgen.h"

/* ---- the bundle, made from templates/ at build time (embed.sh) ---- */

extern const unsigned char htmlgen_page[], htmlgen_script[], htmlgen_style[];
extern const size_t htmlgen_page_len, htmlgen_script_len, htmlgen_style_len;
/* SHA-256, in base64: the content security policy allows the one script and style with this hash. */
extern const char htmlgen_script_hash[], htmlgen_style_hash[];

/* ---- columns (encode.c) ---- */

/* *scale: factor of the stored values, which are 32 bits wide then; 0: they are doubles. Sampled metrics are
   multiples of their period; small integers pack better than doubles. exclusive may be NULL. */
void htmlgen_metric_column(struct buf *, const double *inclusive, const double *exclusive, size_t n, uint64_t period,
                           uint64_t *scale);

/* A tree's nodes: parents and places. */
void htmlgen_node_columns(struct buf *, const struct experiment *, size_t tree);

/* The head's description of the block of the places. */
struct place_layout {
    size_t strings;
    size_t columns;
    uint8_t planes[16]; /* that each of the wide columns has */
};

/* The places' columns and, behind them, their strings. Upper planes that are 0 everywhere are left out: most are, and
   the page would spend more time on them than on the others. */
void htmlgen_place_columns(struct buf *, const struct experiment *, struct place_layout *);

/* A table's columns and, behind them, their strings. */
void htmlgen_table_columns(struct buf *, const struct experiment *, const struct table *, size_t *string_count);

/* Text as valid UTF-8: invalid bytes become U+FFFD. */
void htmlgen_utf8(struct buf *, const void *bytes, size_t n);
/* Text that may stand in HTML, in content and in a quoted attribute. */
void htmlgen_escape(struct buf *, const char *text);

/* ---- source text (sources.c) ---- */

enum source_state { SOURCE_TEXT, SOURCE_MISSING, SOURCE_LEFT_OUT, SOURCE_TOO_LARGE, SOURCE_UNREADABLE };

struct source_text { /* of one file of the experiment */
    enum source_state state;
    uint32_t chunk;       /* which source-K */
    size_t offset, bytes; /* in the chunk's text; set by htmlgen_sources_chunk */
};

/* Decides what is shown and in which chunk; texts[] has one entry a file. Returns the number of chunks. */
size_t htmlgen_sources_plan(const struct experiment *, bool no_sources, struct source_text *texts, struct warnings *);
/* The text of one chunk; fills offset and bytes of the files in it. */
void htmlgen_sources_chunk(const struct experiment *, struct source_text *texts, size_t chunk, struct buf *text,
                           struct warnings *);

#endif
