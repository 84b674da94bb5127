/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bloop/functions - the table of functions: beginnings, extents, names.
 *
 * Knows:    symbols, .eh_frame, entry points, PLT stubs, DWARF if there are no symbols, and the look of code
 *           without any of them (gaps.c); names that never return.
 * Does not: graphs. Functions that only their callers reveal are added by the code that decodes these (functions_add).
 *
 * Memory:   a table lends the image's names and must not outlive it.
 * Errors:   none but warnings: there is always a table.
 * Threads:  reading a table is safe from several; adding to it is not.
 */
#ifndef BLOOP_FUNCTIONS_H
#define BLOOP_FUNCTIONS_H

#include "bloop/image/image.h"

enum function_origin {
    FROM_SYMTAB = 1,
    FROM_DYNSYM = 2,
    FROM_EH_FRAME = 4,
    FROM_DEBUG = 8,
    FROM_CALL = 16,
    FROM_ENTRY = 32,
    FROM_PLT = 64,
    FROM_GAP = 128 /* no name; found by its look */
};

struct function {
    vaddr begin, end;      /* [begin,end): the wall for fall-through. Functions of a table do not overlap. */
    const char *link_name; /* best symbol, version and clone suffix included; "" where none. Lent */
    uint32_t aliases_first, alias_count; /* other names at begin: into function_table.aliases */
    uint32_t part_of;                    /* index of the function this is a cold part of; FUNCTION_NONE: a whole one */
    uint8_t origin;                      /* enum function_origin bits */
    bool plt, ifunc; /* plt: also external functions that a relocatable file calls (no bytes, named without "@plt") */
    bool sized;      /* its end is from a symbol or FDE; else it is where the next thing begins */
};
#define FUNCTION_NONE UINT32_MAX

struct function_table {
    struct function *functions; /* sorted by begin */
    const char **aliases;
    size_t count, alias_count;
    struct arena *arena;       /* names made here ("puts@plt") */
    const struct image *image; /* lent: must outlive the table */
};
/* Everything known without decoding: symbols, .eh_frame(_hdr), entry, .init_array, PLT, DWARF low pcs if there is no symbol. */
struct function_table *functions_list(const struct image *, struct warnings *);
/* Then functions in the gaps between these, by decoding. Indices change. */
void functions_fill_gaps(struct function_table *);
/* The same only for functions that contain one of the addresses (ascending): costs only the code read around them.
   The answer for an address is that of functions_fill_gaps unless only a call out of another gap, or code further away
   than 32 KiB, reveals the beginning of a function. */
void functions_fill_gaps_at(struct function_table *, const vaddr *addrs, size_t count);
/* And for functions at called addresses (ascending, distinct) that lie in gaps; costs what these functions cost. */
void functions_fill_gaps_called(struct function_table *, const vaddr *entries, size_t count);
/* List and fill. */
struct function_table *functions_find(const struct image *, struct warnings *);
/* Add functions found as call targets by cfg work (sorted, distinct); splits the gap they fall into, or the function
   if its end was a guess. A function delimited by a symbol or FDE is not split: an apparent call into its middle is at
   most another entry of it. Indices change. */
void functions_add(struct function_table *, const vaddr *entries, size_t count);
uint32_t functions_at(const struct function_table *, vaddr); /* FUNCTION_NONE: in none */
void functions_free(struct function_table *);

/* Look-up of functions by address, and of their parts; made once for a table. */
struct function_index {
    const struct function_table *table;
    const struct function *functions;
    size_t count;
    vaddr base;
    unsigned shift;
    uint32_t *buckets; /* first function that ends after the start of the bucket */
    size_t bucket_count;
    struct part_of { /* sorted */
        uint32_t owner, part;
    } * parts;
    size_t part_count;
};
uint32_t function_index_find(const struct function_index *, vaddr);
void function_index_make(struct function_index *, const struct function_table *);
void function_index_release(struct function_index *);
/* The cold parts of a function, in the order of addresses. */
const struct part_of *function_index_parts(const struct function_index *, uint32_t owner, size_t *count);

/* Does a function of that name never return? "abort@plt", "_ZSt9terminatev" and the like. */
bool noreturn_name(const char *link_name);
/* The same for any of its names. */
bool function_noreturn_by_name(const struct function_table *, const struct function *);

#endif
