/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files that resolve indirect jumps. jumptable.c explains the method.
 *
 *     jump_ways.c -> jump_values.c -> jump_tables.c, jump_frames.c -> jumptable.c
 */
#ifndef BLOOP_JUMP_INT_H
#define BLOOP_JUMP_INT_H

#include "bloop/arch/ops.h"
#include "bloop/code/cfg_int.h"

#define STEPS_MAX         8000      /* instructions and joins looked at for one jump */
#define STEPS_OF_FUNCTION 200000    /* and two for each byte: some hundred for each jump of the largest interpreters */
#define DEPTH_MAX         24        /* operands of operands */
#define ENTRIES_MAX       65536     /* of one table: larger ones are not made by compilers */
#define NEIGHBOUR_BYTES   16384     /* of code behind the function that is searched for addresses */
#define STRIDES_MAX       64        /* pieces of code of equal length in a row */
#define SCALE_MOST        INT32_MAX /* of an index, shifts and multiplications together */
#define JOIN_MAX          64        /* ways into a block that are followed */

/* A register, or a memory slot base + disp that is treated as one. */
struct jump_place {
    bool slot;
    uint8_t reg; /* of a slot: its base, or ARCH_NO_REG */
    int64_t disp;
};

/* The value of `place` before the instruction at `at` if it could not be followed further (a join, the entry, a lost
   base), or the value that the instruction at `at` gave it. */
struct root {
    struct jump_place place;
    pos at;
    bool defined; /* by the instruction at `at` */
};

enum form_kind { FORM_CONST, FORM_LINEAR, FORM_ENTRY };
struct form {
    uint8_t kind; /* enum form_kind */
    uint64_t add; /* CONST: the value; LINEAR: add + scale * root; ENTRY: add + scale * entry */
    int64_t scale;
    struct root root;
    uint64_t limit; /* of the root's value: below; 0: not known */
    /* ENTRY: memory[table + step * index], index = index_add + root (limited so) */
    vaddr table;
    uint64_t index_add;
    int64_t step;
    uint8_t size;
    bool sign;
    struct root self; /* as an ordinary value: the result of the load at self.at */
};

struct VEC_vaddr VEC(vaddr);

struct height { /* of the stack */
    pos at;
    int64_t added; /* to the stack pointer from `at` on to the jump */
};

struct branch_pred {
    pos target, from;
};
struct constant { /* an address the code makes */
    vaddr value;
    pos at;
    uint8_t reg;
};

struct lifted {
    uint32_t round;
    pos at;
    struct op op;
};

struct jumptable_work {
    uint32_t round;            /* of settling: distinguishes cached results from stale ones */
    struct lifted lifted[256]; /* by position: one jump looks at the same few instructions again and again */
    struct VEC(struct branch_pred) preds;
    struct VEC(struct constant) constants; /* in the order of `at` */
    struct VEC_vaddr ends;                 /* the same, sorted by value: where known objects begin */
    struct VEC_vaddr neighbours;           /* addresses that the next functions compute, sorted */
    bool have_neighbours;
    bool guarded_only;         /* in this round tables without a guard wait */
    struct VEC(pos) tentative; /* set in the tentative maps */
    struct VEC(pos) labels;    /* whose address the function takes */
    uint64_t entries_left;     /* to be read for this function: an ordinary one reads each entry of its tables once */
    unsigned steps;
    int64_t steps_left;                /* for this function */
    bool have_labels, labels_used;     /* in this round: */
    uint32_t label_first, label_count; /* into cfg_work.targets */
    bool searching;                    /* in search_constant */
    struct VEC(pos) found;             /* targets of the jump at work */
    struct VEC(pos) visited;
    struct VEC(struct height) heights;
};

/* ---- jump_ways.c ---- */

struct ways { /* into a place: one by the line, the others by branches */
    pos line; /* or POS_NONE */
    const struct branch_pred *branches;
    size_t branch_count, count;
    bool entered; /* control comes in from outside as well, with unknown values; not counted */
};

/* The effects of the instruction at `at`; costs a step. */
void jump_lift(struct cfg_work *, pos at, struct op *);
/* The instruction that control runs from into p, or POS_NONE. */
pos jump_line_pred(const struct cfg_work *, pos p);
void jump_list_preds(struct cfg_work *);
struct ways jump_ways_into(const struct cfg_work *, pos p);
pos jump_way(const struct ways *, size_t i);
/* The only instruction control comes from to p, or POS_NONE. */
pos jump_only_pred(const struct cfg_work *, pos p);
bool jump_out_of_steps(const struct cfg_work *);
/* A place in this function where an instruction is or may be; POS_NONE: none. */
pos jump_plausible(const struct cfg_work *, vaddr target);
/* 1 to 4 bytes of the image, the lowest first; false: not available, or a different size was requested. */
bool jump_read_bytes(const struct image *, vaddr at, unsigned size, uint64_t *value);
/* Notes p in jumptable_work.visited; false: it is there. */
bool jump_visit(struct jumptable_work *, pos p);

/* ---- jump_values.c ---- */

bool jump_same_root(const struct root *, const struct root *);
struct form jump_constant(uint64_t value);
/* The value of a place before the instruction at p. Always a form: at worst "what the place holds here". */
struct form jump_eval(struct cfg_work *, struct jump_place, pos p, unsigned depth);
/* The same behind the instruction at p. */
struct form jump_eval_after(struct cfg_work *, struct jump_place, pos p, unsigned depth);
struct form jump_eval_register(struct cfg_work *, uint8_t reg, pos p, unsigned depth);
/* The result of a load, `def`. */
struct form jump_eval_load(struct cfg_work *, struct op, struct root def, unsigned depth);
/* A table entry that is not a target but a number: the index into another table. */
void jump_demote_entry(struct form *);
/* The constant that a register holds before p on all ways, or a label of this function that it is given nearby. */
bool jump_search_constant(struct cfg_work *, uint8_t reg, pos p, uint64_t *value);

/* ---- jump_tables.c ---- */

enum jump_reading { NO_TABLE, TABLE, LATER, FOREIGN_TABLE };

/* Appends the targets of a table's entries to `found`. LATER: it has no guard, and guarded tables come first. */
enum jump_reading jump_read_table(struct cfg_work *, const struct form *);
/* label + scale * number: pieces of code of equal length, as in hand-written memcpy. */
enum jump_reading jump_read_stride(struct cfg_work *, const struct form *);
void jump_list_constants(struct cfg_work *);
/* Labels that code or tables of pointers, whose address the code makes, hold. */
void jump_list_labels(struct cfg_work *);

/* ---- jump_frames.c ---- */

/* Is the stack pointer at this place where it was at the function's entry? */
bool jump_frame_is_gone(struct cfg_work *, pos jump);

#endif
