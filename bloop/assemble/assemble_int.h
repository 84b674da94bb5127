/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of bloop/assemble. */
#ifndef BLOOP_ASSEMBLE_INT_H
#define BLOOP_ASSEMBLE_INT_H

#include "bloop/assemble/assemble.h"

#define NO_ROW    UINT32_MAX
#define NODE_NONE UINT32_MAX

/* A run of instructions of one block with the same line row and the same inlined call around them. */
struct segment {
    vaddr begin, end;
    uint32_t block;
    uint32_t row;     /* into debug->rows, NO_ROW: none */
    uint32_t inlined; /* innermost inlined call, INLINE_NONE: the procedure itself */
};

/* Position of a loop in the source. */
struct loop_place {
    uint32_t inlined; /* the call whose callee holds the loop, INLINE_NONE: the procedure itself */
    str_id file;      /* 0: unknown */
    uint32_t line, line_last;
    uint32_t line_own;      /* the first that its own code has; `line` may be that of a keyword in front of it */
    bool keyword;           /* it is: of a `do`, or of a loop without a condition */
    uint32_t control;       /* an exit's line in front of all else in the loop: that of a `for` or `while`; 0: none */
    bool control_stale;     /* that exit has no row of its own: it is on the line of the row before it */
    uint32_t part_of;       /* the loop around it that it is only a part of, or itself; see copies.c */
    bool has_inside;        /* there are loops in it */
    bool leaves_with_child; /* it is left where a loop in it is left too, and nowhere else */
    bool line_alone;        /* its control and its body are on one line */
    bool asks_for_parts;    /* one round is one part of a loop that OpenMP shares out */
    bool entered_from_outside; /* of the loop around it */
    bool packed_known;         /* only where it was asked */
    enum packed_kind packed;   /* SIMD operations of its instructions */
};

struct interval_owner {
    vaddr begin;
    uint32_t owner; /* an inlined call, or INLINE_NONE */
};

/* Evidence for the position of a loop, from a line row or a branch. */
struct evidence {
    uint32_t loop, inlined;
    str_id file; /* not the number in the line table: there two numbers may stand for one file */
    uint32_t line;
    uint16_t column, left; /* of the row, and of the statement's mark */
    uint32_t leaves;       /* of an exit: the outermost loop that it leaves */
    bool exit;             /* a branch with one way out of the loop and one that stays */
    bool stmt;             /* the row begins a statement */
    bool bare;             /* a mark in front of another row at the same address: nothing of the statement is left */
    bool calls;            /* it does not, and calls: calls are not moved about */
    bool
        fresh; /* the row begins in this block; else it only reaches into it from the block before, which says little */
};

/* The columns that a loop goes from and to on its first line. */
struct extent {
    uint16_t left, right;
};

/* Some lines that speak for being the loop's; see places.c. */
struct line_point {
    uint32_t first, last, weight;
    const struct evidence *evidence; /* NULL: a loop inside */
    bool bare;                       /* only marks, or the loop inside begins at its keyword */
};

struct source_line {
    uint32_t inlined;
    str_id file;
    uint32_t line;
};

/* The mark of a statement of which no instruction is left there. */
struct mark {
    str_id file;
    uint32_t line, block, row;
};

struct scope_node {
    uint32_t parent, next_same_hash, depth;
    uint32_t loop;                                 /* of a LOOP: its index in the forest; else LOOP_NONE */
    uint32_t range_first, range_last, range_count; /* list through node_range.next */
    vaddr low;
    struct scope scope;
};

struct node_range {
    struct addr_range range;
    uint32_t next;
};

/* A call that asks OpenMP for this thread's part of a loop. */
struct share {
    vaddr at;
    bool with_program; /* half of it is a question of the program's own, so the code that follows need not be the
                          loop's */
};

struct assembler {
    const struct assemble_input *in;
    struct function_scopes *out;
    const struct debug_function *debug; /* == in->debug */
    bool
        gnu_c; /* gcc's C or C++, which begins each statement with a mark, the keyword's further left than the body's */

    struct VEC(struct segment) segments;
    struct VEC(struct interval_owner) owners; /* the inlined call at each address, as intervals */
    struct VEC(struct evidence) evidence;     /* sorted by loop after collection */
    struct VEC(uint32_t) evidence_first;      /* per loop, into evidence; one more at the end */
    struct hashmap around;                    /* (loop, file, line, column) of every fresh row; loop LOOP_NONE too */
    struct VEC(struct source_line) lines;     /* with statements; sorted, each once */
    struct VEC(struct mark) marks;            /* in no order until one is looked for */
    bool marks_sorted;
    struct VEC(struct line_point) points;      /* of the loop being placed */
    uint32_t outside_call, outside_loop;       /* that call was looked at last, for that loop: */
    bool outside;                              /* almost all of it is somewhere else */
    struct VEC(struct share) shares;           /* ascending */
    struct hashmap beside;                     /* of sibling loops: (callee, file, line) -> its last line */
    struct VEC(struct source_line) ends;       /* of sibling loops: their last lines, sorted */
    struct VEC(struct loop_place) places;      /* per loop */
    struct VEC(struct extent) extents;         /* per loop, where loops begin on one line */
    struct VEC(uint32_t) blocks_first, blocks; /* own blocks of each loop, made when first needed */
    /* Per inlined call: 1 where the procedure itself calls; the call around it; the first copy of the same call. Of
       these only first copies are used below, as parents too. */
    struct VEC(uint32_t) inline_depth, inline_parent, inline_first;
    struct VEC(uint32_t) loop_node;      /* per loop: its node, or that of the loop or call that stands for it */
    struct VEC(struct scope_node) nodes; /* [0] is the PROC */
    bool too_deep;                       /* some were not opened */
    struct VEC(struct node_range) ranges;
    struct VEC(uint32_t) order; /* nodes as siblings, sorted */
    struct hashmap node_by_hash;

    /* File index of the debug information -> string; valid where the stamp is the current one. */
    struct VEC(uint32_t) file_stamps;
    struct VEC(str_id) file_ids;
    uint32_t stamp;

    /* Callees of inlined calls, each demangled once for all the functions of one strtab. */
    struct VEC(struct scope) callee_names; /* only the names are filled in */
    struct VEC(uint32_t) inline_names;     /* per inlined call: into callee_names, UINT32_MAX: not looked up yet */
    struct hashmap name_by_link;           /* link name, name -> index into callee_names */
    const struct strtab *named_in;
    struct arena *names; /* scratch for demangling; emptied now and then */
};

/* places.c: fills a->places. */
void assemble_place_loops(struct assembler *);
bool assemble_in_loop(const struct loop_forest *, uint32_t block, uint32_t loop);
uint32_t assemble_block_at(const struct cfg *, vaddr); /* UINT32_MAX: none */
uint32_t assemble_inlined_at(const struct assembler *, vaddr);
uint32_t assemble_row_before(const struct debug_function *, vaddr); /* NO_ROW: none */
/* May the line (of an exit?) be one of a loop of that callee? A procedure's first line is that of its arguments and, for
   gfortran, of common blocks: no loop's statement. A region that was cut out of one begins with its directive. */
bool assemble_is_in_body(struct assembler *, const struct loop_place *, uint32_t line, bool exit);
int assemble_by_line(const void *x, const void *y); /* of struct source_line */
/* How many lines with statements are there in front of `line`; behind `low` and in front of `high`? */
size_t assemble_lines_before(const struct assembler *, uint32_t inlined, str_id file, uint32_t line);
size_t assemble_lines_between(const struct assembler *, const struct loop_place *, uint32_t low, uint32_t high);
bool assemble_seen_from(struct assembler *, const struct evidence *, uint32_t at, str_id *file, uint32_t *line);
/* control.c: the lines of loops without a line of their own for their control; of sibling loops (a list through
   `next`) once all of them are placed. */
void assemble_find_shares(struct assembler *);
void assemble_step_back(struct assembler *, uint32_t first, const uint32_t *next);
/* copies.c: natural loops that are parts, or copies, of one source loop. */
void assemble_adopt_lines(struct assembler *);
void assemble_find_parts(struct assembler *);
void assemble_number_instances(struct assembler *);
uint64_t assemble_place_key(uint32_t loop, str_id file, uint32_t line, uint16_t column); /* of assembler.around */
enum packed_kind assemble_packed_kind(struct assembler *, uint32_t loop);
/* Is `ancestor` (INLINE_NONE: the procedure) `inlined` itself or a call around it? */
bool assemble_inside(const struct assembler *, uint32_t inlined, uint32_t ancestor);
uint32_t assemble_inline_depth(const struct assembler *, uint32_t inlined);
uint32_t assemble_common(const struct assembler *, uint32_t a, uint32_t b);

/* names.c: the names of a PROC, and of the callee of an inlined call. */
void assemble_name_procedure(struct assembler *, struct scope *);
struct scope assemble_inlined_names(struct assembler *, uint32_t inlined);

bool assemble_is_fortran(const struct assembler *);
str_id assemble_file(struct assembler *, uint32_t file);

#endif
