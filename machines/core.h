/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of instructions on a core, by kind. */
#ifndef MACHINES_CORE_H
#define MACHINES_CORE_H

#include "machines/machines.h"
#include "machines/processor.h"

/* Costs of instructions, by kind; the names are in machine files. */
#define COST_KINDS(X)                                                                                                  \
    X(INT, "int")                                                                                                      \
    X(SHIFT, "shift")                                                                                                  \
    X(LEA, "address")                                                                                                  \
    X(SELECT, "select")                                                                                                \
    X(BITS, "bits")                                                                                                    \
    X(INT_MULTIPLY, "int-multiply")                                                                                    \
    X(INT_DIVIDE_32, "int-divide-32")                                                                                  \
    X(INT_DIVIDE_64, "int-divide-64")                                                                                  \
    X(BRANCH, "branch")                                                                                                \
    X(CALL, "call")                                                                                                    \
    X(LOAD, "load")                                                                                                    \
    X(STORE, "store")                                                                                                  \
    X(STORE_INDEXED, "store-indexed")                                                                                  \
    X(LOCKED, "locked")                                                                                                \
    X(VECTOR_MOVE, "vector-move")                                                                                      \
    X(VECTOR_INT, "vector-int")                                                                                        \
    X(VECTOR_LOGIC, "vector-logic")                                                                                    \
    X(VECTOR_SHIFT, "vector-shift")                                                                                    \
    X(VECTOR_MULTIPLY, "vector-multiply")                                                                              \
    X(VECTOR_SELECT, "vector-select")                                                                                  \
    X(SHUFFLE, "shuffle")                                                                                              \
    X(SHUFFLE_WIDE, "shuffle-wide")                                                                                    \
    X(FP_ADD, "fp-add")                                                                                                \
    X(FP_MULTIPLY, "fp-multiply")                                                                                      \
    X(FP_FMA, "fp-fma")                                                                                                \
    X(FP_MINMAX, "fp-minmax")                                                                                          \
    X(FP_COMPARE, "fp-compare")                                                                                        \
    X(FP_OTHER, "fp-other")                                                                                            \
    X(FP_DIVIDE_32, "fp-divide-32")                                                                                    \
    X(FP_DIVIDE_64, "fp-divide-64")                                                                                    \
    X(FP_SQRT_32, "fp-sqrt-32")                                                                                        \
    X(FP_SQRT_64, "fp-sqrt-64")                                                                                        \
    X(CONVERT, "convert")                                                                                              \
    X(CONVERT_WIDTH, "convert-width")                                                                                  \
    X(CONVERT_FROM_GENERAL, "convert-from-general")                                                                    \
    X(CONVERT_TO_GENERAL, "convert-to-general")                                                                        \
    X(TO_GENERAL, "to-general")                                                                                        \
    X(FROM_GENERAL, "from-general")                                                                                    \
    X(MASK, "mask")                                                                                                    \
    X(GATHER, "gather")                                                                                                \
    X(SCATTER, "scatter")                                                                                              \
    X(X87, "x87")                                                                                                      \
    X(OTHER, "other")
enum cost_kind {
#define KIND(name, word) COST_##name,
    COST_KINDS(KIND)
#undef KIND
        COST_KINDS_COUNT
};
extern const char *const machine_cost_words[COST_KINDS_COUNT + 1];

enum { PORTS_MAX = 16, UOPS_MAX = 8, WIDTHS = 3 }; /* vectors of up to 16 bytes, 32, 64 and more */
struct cost {
    float latency;                   /* from the last operand to the result */
    float chain;                     /* where the consumer is of the same kind */
    uint16_t uops[WIDTHS][UOPS_MAX]; /* of each: a bit for every port it may take; 0: no more */
    float busy[WIDTHS];              /* cycles that the divider is taken */
    uint16_t per_element;            /* additional ports of each element's uop of gathers and scatters; 0: none */
    bool given;
};

struct machine_core {
    char name[64]; /* of the file */
    char core[96]; /* display name */
    char arch[16];
    struct machine_processors processors;
    char assumed[320];
    char llvm[96];          /* llvm-mca's models that stand for it, the best first */
    uint32_t issue;         /* uops that the front end hands on in a cycle */
    uint32_t vector;        /* bytes of the widest vectors */
    uint32_t line;          /* bytes of a cache line */
    uint32_t window;        /* uops in flight: the distance of out-of-order execution */
    float forward;          /* cycles from a store to a load of the same bytes, in addition to those of the load's
                               consumer */
    float forward_stack;    /* the same for slots of the stack: some cores rename them */
    float taken;            /* cycles between taken branches */
    float load_vector;      /* latency of loads into vector registers */
    bool moves_free, fuses; /* moves between registers; compare and branch are one uop */
    bool splits_indexed;    /* calculations of three operands whose load has an index are two uops for the front end */
    bool aarch64;
    struct cost costs[COST_KINDS_COUNT];
};

#endif
