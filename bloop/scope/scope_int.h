/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of bloop/scope (bloop.h is its public header): none of it knows a binary. */
#ifndef BLOOP_SCOPE_INT_H
#define BLOOP_SCOPE_INT_H

#include "bloop/bloop.h"

/* The version of our own XML form; xml.c says what changed when. */
#define SCOPE_XML_VERSION 4

/* Makes a tree in document order: begin and end like the elements of the file. The scope last begun and its ranges are
   open for writing; ranges of a scope are added before its first child. */
struct scope_builder {
    struct scope_tree *tree;
    size_t scope_capacity, range_capacity;
    struct VEC(scope_ix) open;
};
struct scope *scope_builder_begin(struct scope_builder *, enum scope_kind); /* valid until the next begin */
void scope_builder_range(struct scope_builder *, vaddr begin, vaddr end);   /* to the scope begun last */
void scope_builder_end(struct scope_builder *);
struct scope *scope_builder_top(struct scope_builder *); /* NULL: nothing open */
void scope_builder_release(struct scope_builder *);      /* the tree stays */

/* For the writers: the children of a scope follow it, so that one pass with a stack of open scopes is enough. */
struct scope_walk {
    const struct scope_tree *tree;
    struct VEC(scope_ix) open;
};
/* Calls end for every open scope that is not above `next` (SCOPE_NONE: for all). */
void scope_walk_close(struct scope_walk *, scope_ix next, void (*end)(void *ctx, scope_ix), void *ctx);

/* scope_tree_check without order and overlap, which other tools' files do not promise. */
int scope_check_indices(const struct scope_tree *, struct err *);

const char *scope_kind_name(enum scope_kind);
const char *loop_role_name(enum loop_role);

/*
 * The look-up is the tree seen from above, one interval after the other:
 *
 *     PROC   [--------------------------)
 *     LOOP        [-------------)
 *     STMT   [--)    [--)   [---)
 *     ->     S  P L  S  L   S   P        each begin with the deepest scope from there on
 */
struct scope_lookup {
    vaddr *begins;    /* ascending; interval i ends where i + 1 begins */
    scope_ix *scopes; /* the deepest scope, or SCOPE_NONE; the last one is SCOPE_NONE */
    size_t count;
};
const struct scope_lookup *scope_lookup_get(struct scope_tree *); /* made at the first call */

/* The lowest address in each scope (UINT64_MAX: none) from its ranges, entry and children. Caller frees. */
vaddr *scope_lowest_addresses(const struct scope_tree *);

void scope_write_xml(const struct scope_tree *, struct outfile *);
void scope_write_hpcstruct(struct scope_tree *, struct outfile *);
void scope_write_outline(const struct scope_tree *, struct outfile *);

/* Element handlers of the two readers; ctx is a struct scope_reader. */
struct scope_reader {
    struct scope_builder builder;
    struct warnings *warnings;
    const char *name;          /* of the file, for errors */
    unsigned skipping;         /* depth inside an element that is passed over */
    struct VEC(uint8_t) marks; /* per open element: what its end tag closes; defined by each reader */
    /* Of .hpcstruct only: */
    struct VEC(str_id) files; /* per open element: the file its children are in */
    str_id call_file;         /* of the outer A last begun */
    uint32_t call_line;
};
void scope_reader_finish_hpcstruct(struct scope_reader *); /* last lines, which the format lacks */
int scope_element_kind(const char *name);                  /* of both formats; -1: another element */
int scope_read_xml_begin(void *ctx, const struct xml_event *, struct err *);
int scope_read_xml_end(void *ctx, const struct xml_event *, struct err *);
int scope_read_hpcstruct_begin(void *ctx, const struct xml_event *, struct err *);
int scope_read_hpcstruct_end(void *ctx, const struct xml_event *, struct err *);
/* Number attributes; -1 with "file:line: ..." if the text is not a number in range. */
int scope_attr_line(struct scope_reader *, const struct xml_event *, const char *attr, uint32_t *value, struct err *);
/* "1180-11a4 11b0-11c0" or "{[0x1180-0x11a4) ...}": appended to the scope begun last, or only checked if that scope has no
 * ranges. */
int scope_attr_ranges(struct scope_reader *, const struct xml_event *, const char *attr, bool keep, vaddr *first,
                      struct err *);

#endif
