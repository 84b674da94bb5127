/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bloop/assemble - joins loops, lines and inlined calls of one function into scopes.
 *
 *     names.c -> places.c -> control.c -> copies.c -> assemble.c
 *
 * Knows:    what the folders below found about one function. Does not: other functions, or the text forms of scopes.
 *
 * Memory:   an assembler is reused from one function to the next; scopes are appended to the caller's tree.
 * Errors:   none.
 * Threads:  one assembler per thread.
 */
#ifndef BLOOP_ASSEMBLE_H
#define BLOOP_ASSEMBLE_H

#include "bloop/code/code.h"
#include "bloop/debug/debug.h"

/* The scopes of some functions, self-contained so that threads make them side by side: each begins with its PROC
   (parent SCOPE_NONE), other parents are indices into `scopes`. bloop.c joins them, in order, into a scope_tree.
   Zero-initialise. */
struct function_scopes {
    struct strtab *strings; /* made at the first use */
    struct VEC(struct scope) scopes;
    struct VEC(struct addr_range) ranges;
};
void function_scopes_release(struct function_scopes *);

struct assemble_input {
    const struct image *image;
    const struct function_table *functions;
    uint32_t function;
    const struct addr_range *parts; /* the function and its cold parts, sorted */
    size_t part_count;
    const struct cfg *cfg;
    const struct loop_forest *forest;
    const struct debug_function *debug; /* NULL: none */
    /* For an outlined region whose symbol does not name its procedure (clang before 17): that procedure, else
       FUNCTION_NONE. */
    uint32_t outlined_from;
    const struct debug_function *outlined_from_debug;
};
/* Working memory, kept from one function to the next; one per thread. */
struct assembler;
struct assembler *assembler_create(void);
void assembler_free(struct assembler *);
/* Is it a region cut out of a procedure that its symbol does not name? */
bool assemble_is_orphan_region(const struct function *);
/* Appends the function's scopes. False: so many are in each other that the innermost joined what is around them. */
bool assemble_function(struct assembler *, const struct assemble_input *, struct function_scopes *);

#endif
