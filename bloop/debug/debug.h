/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bloop/debug - debug information: of one procedure its lines, its inlined calls and its names.
 *
 * Knows:    DWARF, through libdwarf (die.c is the border) except for line programs; Go's own table, if there is no DWARF.
 * Does not: instructions, loops, scopes.
 *
 * Memory:   information about a procedure lives in the caller's arena.
 * Errors:   what is missing or damaged is a warning, and the rest is there.
 * Threads:  a struct debug belongs to one; each thread opens its own.
 */
#ifndef BLOOP_DEBUG_H
#define BLOOP_DEBUG_H

#include "bloop/image/image.h"
#include "support/demangle.h"

struct line_row { /* one row of the line map, valid up to the next row's addr */
    vaddr addr;
    uint32_t file; /* index into debug_function.files, or DEBUG_NO_FILE where the map has a hole */
    uint32_t line; /* 0: compiler made */
    uint16_t column;
    uint16_t discriminator;
    bool is_stmt, prologue_end;
};
#define DEBUG_NO_FILE UINT32_MAX

struct inline_call {               /* DW_TAG_inlined_subroutine; parents before children */
    uint32_t parent;               /* index, or INLINE_NONE for the procedure itself */
    const char *name, *link_name;  /* callee; "" unknown */
    uint32_t decl_file, decl_line; /* callee's declaration */
    uint32_t call_file, call_line, call_column;
    uint32_t range_first, range_count; /* into debug_function.ranges, sorted */
    vaddr entry;                       /* where it begins, as gcc says; 0 unknown */
};
#define INLINE_NONE UINT32_MAX

struct debug_function { /* DWARF's information about one procedure; lives in the given arena */
    const char *name,
        *link_name; /* full name with enclosing namespaces, classes, modules ("heat::solve"), "" unknown */
    const char *comp_dir;
    const char *const *files; /* paths as in the line map, joined with its folders and comp_dir */
    uint32_t file_count;
    uint32_t decl_file, decl_line;
    uint16_t language;     /* DW_LANG_* */
    const char *producer;  /* the compiler and, of gcc, its options; "" unknown */
    struct line_row *rows; /* sorted by addr; of all the function's ranges */
    size_t row_count;
    struct inline_call *inlines;
    size_t inline_count;
    struct addr_range *ranges; /* pool for inlines; the procedure's own are ranges[0 .. own_range_count) */
    size_t range_count, own_range_count;
    vaddr abstract_id; /* equal for copies and clones of one source procedure; 0 unknown */
};

struct debug; /* one per thread: libdwarf's handles are not shareable */
/* 1: there is debug information, 0: none (fine), -1: it is there but damaged beyond use. */
int debug_open(const struct image *, struct debug **, struct warnings *, struct err *);
void debug_close(struct debug *);
/* 1: filled; 0: nothing known of this address. `part_ranges` (the function and its cold parts) selects the rows to read. */
int debug_function_at(struct debug *, vaddr entry, const struct addr_range *parts, size_t part_count, struct arena *,
                      struct debug_function *);
/* Entry addresses of all procedures in DWARF; symbols may lack some of them. */
void debug_entries(struct debug *, struct vaddr_list *);
/* The common folder of the sources of all units except the system's, ending in '/'; NULL: there is none. Caller
   frees. */
char *debug_source_folder(struct debug *);
/* Appended: see bloop_variables. */
void debug_variables(struct debug *, struct bloop_variables *);

#endif
