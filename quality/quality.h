/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quality - the quality of a loop's machine code, its bottleneck, and its minimal cost.
 *
 * Knows:    instructions and their effects (bloop/arch/facts.h), blocks of innermost loops, descriptions of
 *           processor cores (machines/).
 * Does not: samples, metrics, pages; print.
 *
 * Usual life:
 *     machine_core_read or machine_core_here -> quality_analyze of a binary's scope tree -> look at the report
 *     (or quality_write) -> quality_free
 *
 * Memory:   a report owns all it hands out, and needs neither binary nor tree afterwards.
 * Errors:   an invalid machine file is reported with file and line. A loop that cannot be analysed completely
 *           is in the report with the reason.
 * Threads:  one report per thread; machines are read-only once read.
 * To add a check: a row below, and its rule in checks_*.c.
 */
#ifndef QUALITY_H
#define QUALITY_H

#include "bloop/bloop.h"
#include "machines/machines.h"

/* ---- loops ---------------------------------------------------------------------------- */

/* The limit of the cycles of an iteration. */
enum quality_bound {
    BOUND_FRONT_END,
    BOUND_PORTS,  /* of calculations */
    BOUND_MEMORY, /* ports of loads and stores */
    BOUND_DIVIDER,
    BOUND_CHAIN,       /* a value that each iteration takes from the one before; see quality_with_overlap */
    BOUND_STORE_CHAIN, /* the same, handed over in memory */
    BOUNDS
};
const char *quality_bound_name(enum quality_bound);

enum quality_mix { MIX_ALL, MIX_LOAD, MIX_STORE, MIX_ADD, MIX_MULTIPLY, MIX_OTHER, MIXES };

/* How the addresses of a reference move from one iteration to the next. */
enum quality_stride {
    STRIDE_NONE /* the same address */,
    STRIDE_ONE,
    STRIDE_MORE,
    STRIDE_INDIRECT,
    STRIDE_UNKNOWN,
    STRIDES
};

/* The role of this copy among several copies of a source loop in the binary. */
enum quality_role { ROLE_ONLY, ROLE_MAIN, ROLE_REMAINDER, ROLE_VERSION };
const char *quality_role_name(enum quality_role);

/* Loop-carried dependencies delay only the iterations of one entry of the loop: the core looks `ahead` iterations
   further, and begins the next entry while the last ones of this one wait. So entries begin at least (trips - ahead) x
   the chain's cycles apart; the cycles of an iteration, at least, if the chain alone needs `chain` and the rest
   `apart`. */
static inline double quality_with_overlap(double chain, double apart, double ahead, double trips)
{
    double held = trips > ahead ? chain * (1 - ahead / trips) : 0;
    return held > apart ? held : apart;
}

struct quality_loop {
    scope_ix scope; /* in the tree that was analysed */
    vaddr header;
    str_id procedure, file; /* in the report's strings */
    uint32_t line_first, line_last;
    uint32_t instructions, bytes;    /* of all its blocks */
    uint32_t paths;                  /* ways through it, from the header back to it; counted up to 1000 */
    uint32_t path_instructions;      /* of the shortest one: all that follows is of that path, once */
    uint32_t uops;                   /* as the front end counts them */
    double flops;                    /* floating-point operations; a multiply-add is two */
    uint32_t fma;                    /* instructions that multiply and add */
    double vector_ratio[MIXES];      /* packed / what could be; NaN: nothing could be */
    double vector_efficiency[MIXES]; /* used part of the widest vectors; NaN likewise */
    double loaded, stored;           /* bytes */
    double intensity;                /* flops / bytes; NaN: no bytes */
    uint32_t stack_references, spills;
    double address_share; /* of the instructions: those that only compute addresses and conditions */
    uint32_t calls;
    uint32_t strides[STRIDES]; /* how many references of each kind */
    int64_t step;              /* bytes that the fastest stream of stride one moves in an iteration; 0: none */
    uint32_t unroll;           /* accesses that such a stream makes in an iteration; 1: not unrolled */
    uint32_t elements;         /* numbers of such a stream in an iteration; 0: unknown */
    uint8_t role;              /* enum quality_role */
    bool vector, unrolled;     /* vector: it calculates on several numbers at once */
    double trips;              /* iterations of an entry, in the mean; NaN: not known, chains are those of a long one */
    double ahead;              /* iterations that the core looks ahead, beyond the end of an entry too */
    double cycles[BOUNDS];     /* of an iteration, at least; 0: that does not limit it */
    double bound;              /* the largest */
    double bound_short;        /* the same, however few iterations an entry has: without chains where that is unknown */
    double chain_long;         /* cycles of the longest chain where entries are long; 0: none */
    uint8_t bound_by;          /* enum quality_bound */
    uint8_t chain_by;          /* which of the two chains is chain_long */
    double chain_general; /* cycles of the longest chain through general registers: pointers, indices, conditions */
    double waits_branch, waits_branch_low; /* part of its samples behind branches inside of it, where mispredictions
                                              show: at most, at least; NaN: too few */
    double waits_chain;        /* part of its samples, at most, that wait for the longest chain; NaN: too few samples */
    double waits_memory;       /* part of them that wait for loads that are not on that chain, or for stores; NaN
                                 likewise */
    int8_t from_memory_known;  /* do its data come from further than the first cache, by its samples? -1: not known */
    double if_vectorized_here; /* the bound if all was vectorized for the vectors it was compiled for; NaN: no change */
    double from_memory;        /* approximate cycles of an iteration if its data come from memory at one core's
                                  bandwidth */
    double if_vectorized, if_clean, if_no_chain, if_next; /* the bound if all was vectorized, address arithmetic
                                                             removed, no loop-carried dependency, the first limit
                                                             removed; NaN: no change */
    double model;   /* cycles of an iteration by llvm-mca; NaN: it was not asked, or could not say */
    str_id note;    /* unknown properties, and why; "" */
    str_id summary; /* it in one sentence without a full stop, as a person would say it */
};

/* ---- checks ---------------------------------------------------------------------------- */

/* Name, title, rule: check_* of checks_vectors.c, checks_memory.c or checks_ways.c. A loop that was compiled without
   optimization has no other finding: all of them would change. */
#define QUALITY_CHECK_LIST(X)                                                                                          \
    X(UNOPTIMIZED, "not-optimized", unoptimized)                                                                       \
    X(SCALAR, "scalar", scalar)                                                                                        \
    X(REDUCTION, "reduction", reduction_chain)                                                                         \
    X(SUMS, "reduction-by-hand", sums)                                                                                 \
    X(PARTLY, "partly-vectorized", partly)                                                                             \
    X(NARROW, "narrow-vectors", narrow)                                                                                \
    X(GATHER, "gather", gather)                                                                                        \
    X(SCATTER, "scatter", scatter)                                                                                     \
    X(STRIDE, "stride", strided)                                                                                       \
    X(INDIRECT, "indirect", indirect)                                                                                  \
    X(CONVERT, "conversion", conversions)                                                                              \
    X(WIDTH, "float-double", widths)                                                                                   \
    X(DIVIDE, "division", division)                                                                                    \
    X(ROOT, "square-root", square_root)                                                                                \
    X(INT_DIVIDE, "int-division", int_division)                                                                        \
    X(ADDRESS_MULTIPLY, "address-multiply", address_multiply)                                                          \
    X(FMA, "fma-missed", fma_missed)                                                                                   \
    X(CHAIN, "chain", chain)                                                                                           \
    X(LIST, "list-walk", list_walk)                                                                                    \
    X(STORE_CHAIN, "chain-through-memory", store_chain)                                                                \
    X(ACCUMULATOR, "update-in-memory", accumulator)                                                                    \
    X(COPY, "copy", copy)                                                                                              \
    X(SPILL, "spill", spilled)                                                                                         \
    X(INVARIANT, "invariant-load", invariant_load)                                                                     \
    X(CALL, "call", call)                                                                                              \
    X(ADDRESSES, "address-work", addresses)                                                                            \
    X(TINY, "tiny", tiny)                                                                                              \
    X(REMAINDER, "remainder", remainder_loop)                                                                          \
    X(BRANCHES, "branches", branches)                                                                                  \
    X(BOUNDS, "bounds-check", bounds_check)                                                                            \
    X(VERSIONS, "versions", versions)                                                                                  \
    X(SPLITS, "split-lines", splits)                                                                                   \
    X(PAGES, "4k-aliasing", pages)                                                                                     \
    X(MIXED, "mixed-encodings", mixed_encodings)                                                                       \
    X(X87, "x87", x87)                                                                                                 \
    X(LOCKED, "locked", locked)                                                                                        \
    X(SMALL, "small-loads", small_loads)                                                                               \
    X(PREFETCH, "no-prefetch", no_prefetch)                                                                            \
    X(BUSY_WAIT, "busy-wait", busy_wait)
enum quality_check_kind {
#define QUALITY_CHECK_NAME(name, word, rule) CHECK_##name,
    QUALITY_CHECK_LIST(QUALITY_CHECK_NAME)
#undef QUALITY_CHECK_NAME
        QUALITY_CHECKS
};
const char *quality_check_word(enum quality_check_kind);

struct quality_check {
    uint32_t loop;        /* index into the report's loops */
    uint8_t kind;         /* enum quality_check_kind */
    uint32_t line;        /* of the first instruction that was found; 0: unknown */
    vaddr address;        /* of that */
    double confidence;    /* 0 to 1 */
    double gain;          /* of the loop's cycles, percent, at most: by the bounds; NaN: they do not say */
    double gain_low;      /* at least: if data come from memory, and entries of the loop are short, where neither is
                             known; NaN likewise */
    str_id found, remedy; /* sentences without a full stop */
};

struct quality_report {
    struct strtab *strings;
    struct quality_loop *loops; /* in the order of the tree's scopes */
    size_t loop_count;
    struct quality_check *checks; /* in the order of the loops, then of the kinds */
    size_t check_count;
    str_id machine, assumed;
    str_id model; /* llvm-mca's, whose estimates are shown next to ours; "" none */
};

struct quality_samples { /* of the binary: where, ascending, and how many there */
    const vaddr *addresses;
    const double *numbers;
    size_t count;
};

struct quality_tools { /* llvm-mc and llvm-mca: paths */
    const char *mc, *mca;
};

struct quality_options {
    const struct machine_core *machine;
    const uint8_t *wanted;                 /* by scope: look at this loop; NULL: at all innermost ones */
    const double *trips;                   /* by scope: iterations of an entry; 0: not known; NULL: of none */
    const struct quality_samples *samples; /* NULL: none are known */
    const struct quality_tools *tools;     /* NULL: without llvm-mca's estimates */
};
/* The innermost loops of the tree, which must be of this binary. */
int quality_analyze(struct bloop_binary *, const struct scope_tree *, const struct quality_options *,
                    struct quality_report **, struct warnings *, struct err *);
void quality_free(struct quality_report *);

enum quality_format { QUALITY_TEXT, QUALITY_CSV, QUALITY_JSON };
void quality_write(const struct quality_report *, enum quality_format, struct outfile *);

/* ---- the instructions themselves ---------------------------------------------------- */

#define QUALITY_NO_ADDRESS UINT64_MAX
struct quality_insn {
    vaddr address;
    vaddr target;       /* of a jump inside of its procedure, or of a call; QUALITY_NO_ADDRESS: none, or not known */
    vaddr loop, around; /* header of the innermost loop it is in, and of the loop around that; QUALITY_NO_ADDRESS */
    scope_ix scope, procedure; /* the deepest scope that holds it; its PROC */
    str_id text;               /* in the listing's strings, as are: */
    str_id ports;              /* that it may take, "015 23b" */
    double uops, latency;      /* as the front end counts them; from its last operand to its result, a load's part too.
                                  NaN: no machine was given, or it could not be decoded */
    double ideal;              /* minimal cycles of one execution: of an innermost loop's shortest path, its part of
                                  the bound by uops; else its uops / those that the core takes in a cycle. NaN likewise
                                  */
    double ideal_apart;        /* the same where iterations do not wait for each other (quality_with_overlap) */
    double ahead;              /* iterations of its loop that the core looks ahead; NaN: it is on no such way */
    uint32_t loop_uops;        /* of an iteration of that loop; 0: it is not on such a way */
    bool chained;              /* on the longest chain of values from one iteration to the next of an innermost loop */
    bool calls;                /* the target is the callee */
};
struct quality_listing {
    struct strtab *strings;
    struct quality_insn *insns; /* procedures in the order of their first instruction; by address inside of each */
    size_t count;
    str_id assumed;  /* the core whose costs these are, and why it was taken; "" none */
    uint64_t bytes;  /* of code that was chosen */
    size_t left_out; /* procedures that would have been too much */
};
struct quality_listing_options {
    const struct machine_core *machine; /* NULL: costs of instructions are not computed */
    const scope_ix *procedures;         /* PROCs of the tree, the most important first */
    size_t procedure_count;
    uint64_t most_bytes; /* of code: procedures that do not fit any more are left out */
};
struct quality_listing *quality_list(struct bloop_binary *, const struct scope_tree *,
                                     const struct quality_listing_options *, struct warnings *);
/* Costs of the instructions of all functions that contain one of the addresses: no text, no ports, no place in a
   scope tree. Functions beyond that many bytes of code are left out. */
struct quality_listing *quality_costs(struct bloop_binary *, const struct machine_core *, const vaddr *addresses,
                                      size_t count, uint64_t most_bytes);
void quality_listing_free(struct quality_listing *);

#endif
