/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bloop/code - what the instructions of a function are together: basic blocks and edges, where indirect jumps go,
 * which functions never return, dominators and loops.
 *
 *     cfg_work.c -> jump*.c -> cfg.c -> noreturn.c      loops.c (knows nothing but a graph)
 *
 * Knows:    instructions and the table of functions.
 * Does not: lines, names of the source, scopes.
 *
 * Memory:   a graph and a forest are zero-initialised, reused from one function to the next, and released once.
 * Errors:   none: bytes that cannot be decoded are counted, and work goes on.
 * Threads:  one graph and one forest per thread.
 */
#ifndef BLOOP_CODE_H
#define BLOOP_CODE_H

#include "bloop/functions/functions.h"

/* ---- graphs ---- */

struct cfg_block { /* sorted by begin; no overlap, but for code that really overlaps */
    vaddr begin, end;
    uint32_t succ_first,
        succ_count;     /* into cfg.succs. Of a BRANCH first the fall-through (if there is one), then the target */
    uint16_t pad_count; /* that many of the last successors are landing pads of calls in it; the others are jumps */
    uint8_t last_kind;  /* enum insn_kind of its last instruction; a call ends a block only if it never returns */
    bool bad_end;       /* ended by bytes that cannot be decoded */
};
struct cfg {
    struct cfg_block *blocks;
    uint32_t *succs; /* block indices */
    uint32_t
        *entries; /* blocks where control comes in: the function's begin, further entries, pads no call is known for */
    size_t block_count, succ_count, entry_count;
    uint64_t instructions, bad_bytes, padding_bytes, table_bytes;
    uint32_t indirect_jumps, unresolved_jumps; /* tail calls through registers are not among them */
    struct cfg_work *work;                     /* cfg.c's own, kept from one function to the next */
};
struct cfg_input {
    const struct image *image;
    const struct function_table *functions;
    const struct arch *arch;
    const uint8_t *noreturn;  /* one byte per function of the table: does it never return (may be NULL) */
    uint32_t function;        /* whose graph; its cold parts are taken in */
    struct vaddr_list *calls; /* targets of direct calls met, appended (may be NULL) */
};
/* Zero-initialise a cfg; it is cleared and reused from one function to the next, so that memory is asked for once. */
void cfg_build(const struct cfg_input *, struct cfg *);
void cfg_release(struct cfg *);
/* The direct calls and tail calls of the function, by address. */
struct cfg_call {
    vaddr at;
    uint32_t callee; /* FUNCTION_NONE: unknown */
};
size_t cfg_call_count(const struct cfg *);
struct cfg_call cfg_call(const struct cfg *, size_t);
/* How far calls are followed from the requested functions: a function that never returns is a few wrappers away from
   one whose name is known, and a request for 300 functions must not cost all functions they reach. */
enum { NORETURN_DEPTH = 3, NORETURN_BYTES = 4 << 20 };
/* Which functions never return: known names and PLT entries, then the closure over callers. One byte each, caller
   frees with mem_free. On demand (whole == false) only names are used, and noreturn_follow adds the callees of the
   requested functions. */
/* For callers that build every graph anyway: names first; notes of each graph built with these, in lists that
   threads need not share; at last the closure, which returns in `again` the functions (ascending) whose graphs change,
   because they call a function found by it. Zero-initialise; closing releases the notes. */
struct index_list VEC(uint32_t);
struct noreturn_pair {
    uint32_t function, callee;
};
struct noreturn_pairs VEC(struct noreturn_pair);
struct noreturn_notes {
    struct noreturn_pairs witnesses, calls;
    struct index_list found;
    struct VEC(uint32_t) reached_from; /* working memory */
    struct index_list queue, callees;
};
void noreturn_notes_release(struct noreturn_notes *);
/* The notes, without the working memory. */
void noreturn_notes_take(struct noreturn_notes *from, struct noreturn_notes *to);
void noreturn_note(struct noreturn_notes *, const struct function_table *, const uint8_t *noreturn, uint32_t function,
                   const struct cfg *);
void noreturn_close(const struct image *, const struct function_table *, uint8_t *noreturn, struct noreturn_notes *,
                    size_t note_count, struct index_list *again);
uint8_t *noreturn_find(const struct image *, const struct function_table *, bool whole, unsigned threads);
void noreturn_follow(const struct image *, const struct function_table *, uint8_t *noreturn, const uint32_t *wanted,
                     size_t count);

/* ---- loops ---- */

struct loop {
    uint32_t header; /* block; of an irreducible loop the entry with the lowest address */
    uint32_t parent; /* index of the loop around it (below the own index), or LOOP_NONE */
    uint32_t depth;  /* 1: outermost */
    bool irreducible;
};
#define LOOP_NONE UINT32_MAX
struct loop_forest {
    struct loop *loops;   /* a loop, then all within it, then its next sibling; siblings by header address */
    uint32_t *block_loop; /* innermost loop of each block, or LOOP_NONE; unreachable blocks too: none */
    uint32_t *idom;       /* immediate dominator of each block; own index if there is none (entries, and blocks that
                       several of them reach); UINT32_MAX unreachable */
    size_t loop_count;
    void *memory; /* loops.c's own: all of the above and its working memory, kept from one graph to the next */
    size_t memory_size;
};
/* Near linear in blocks + edges; no recursion. Zero-initialise a forest; it may be reused. */
void loop_forest_find(const struct cfg *, struct loop_forest *);
void loop_forest_release(struct loop_forest *);

/* ---- one function, for analyses of its instructions (bloop_code_at) ---- */

struct bloop_code {
    const struct arch *arch;
    const struct image *image;
    const struct function_table *functions;
    uint32_t function;
    const struct cfg *cfg;
    const struct loop_forest *forest;
};

#endif
