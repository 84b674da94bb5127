/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unwind - call paths from call frame information.
 *
 *   .eh_frame or .debug_frame --unwind_rows_compile--> rows (address -> how to get at the caller)      once per object
 *   registers, a stack, a map of objects --unwind_walk--> addresses inside the calls, innermost first   once per sample
 *
 * Knows:    call frame information, x86-64's and AArch64's registers, the layout of a signal frame. Does not:
 *           know threads, samplers, files. Rows are compiled from bytes and walked over bytes, so both work anywhere:
 *           in a signal handler on the thread's own stack, in the helper on a copy of another's, in a fuzzer.
 *
 * Memory:   rows are areas (mapped, not of the heap); walking asks for none and uses little stack.
 * Errors:   all input may be damaged. Compiling skips invalid entries; walking ends with a reason. Each step
 *           goes up the stack, so no stack causes an endless loop.
 * Threads:  compiled rows and maps are read-only.
 */
#ifndef HPCPROF_RECORDER_UNWIND_UNWIND_H
#define HPCPROF_RECORDER_UNWIND_UNWIND_H

#include "hpcprof/format/format.h"
#include "hpcprof/recorder/base/base.h"

enum unwind_machine { UNWIND_X86_64, UNWIND_AARCH64 };
#if defined __x86_64__
#define UNWIND_HERE UNWIND_X86_64
#else
#define UNWIND_HERE UNWIND_AARCH64
#endif

/* DWARF's numbers: System V ABI, AMD64 supplement, figure 3.36; DWARF for the Arm 64-bit architecture, 4.1. */
enum { UNWIND_REGISTERS = 33 };
struct unwind_numbers {
    uint8_t sp, fp, base, ra; /* base: kept through calls, and the CFA is sometimes found by it */
};
extern const struct unwind_numbers unwind_numbers[2];

/* ---- rows --------------------------------------------------------------------------------------------------- */

enum unwind_kind {
    UNWIND_NONE,      /* nothing is known here (of the CFA); not recognized (of a register) */
    UNWIND_SAME,      /* the caller's is the one in the register */
    UNWIND_UNDEFINED, /* undefined: of the return address, the thread's first function */
    UNWIND_CFA,       /* saved at the CFA + offset */
    UNWIND_AT,        /* saved at reg + offset */
    UNWIND_IN,        /* in reg */
    /* of the CFA alone */
    UNWIND_REG,        /* reg + offset */
    UNWIND_DEREF,      /* the value at reg + offset, + add */
    UNWIND_PLT,        /* stack pointer + offset, + 8 from byte `reg` of the 16-byte stub on */
    UNWIND_SIGNAL_A64, /* AArch64's signal frame, which has no usable description: the kernel's sigcontext */
};

struct unwind_rule {
    int32_t offset;
    uint8_t kind, reg;
    uint16_t unused;
};

struct unwind_row {
    struct unwind_rule cfa;
    int32_t add;
    uint32_t signal; /* 1: the frame above was interrupted, not calling */
    struct unwind_rule ra, fp, base;
};

/* Sorted by begin; a row is valid up to the next one's begin, the last one to the end of all. Few rows differ. */
struct unwind_rows {
    struct area begin;    /* uint32_t, from the base */
    struct area which;    /* uint16_t, into distinct */
    struct area distinct; /* struct unwind_row; the first is "nothing is known" */
};

struct unwind_section {
    const uint8_t *bytes;
    size_t size;
    uint64_t address;     /* where its bytes lie, in the object's own addresses */
    bool debug;           /* .debug_frame */
    uint64_t base, limit; /* of the code it describes: entries outside are omitted; at most 4 GiB apart */
};
/* Rows of the readable entries; none if there are none. */
void unwind_rows_compile(struct unwind_rows *, const struct unwind_section *, enum unwind_machine);
const struct unwind_row *unwind_rows_find(const struct unwind_rows *, uint64_t offset); /* NULL: none */
void unwind_rows_free(struct unwind_rows *);

/* ---- walking ------------------------------------------------------------------------------------------------ */

struct unwind_object {
    uint64_t begin, end; /* its code in memory; rows are relative to begin */
    const struct unwind_rows *rows;
};

struct unwind_map { /* sorted, not overlapping */
    size_t count;
    struct unwind_object object[];
};

struct unwind_registers {
    uint64_t pc, reg[UNWIND_REGISTERS];
    uint64_t known; /* bit per register */
};

/* The readable part of the stack: bytes[0] is at begin. */
struct unwind_memory {
    uint64_t begin, end;
    const uint8_t *bytes;
    bool copied; /* bytes above end were not copied */
    /* Reads other memory; NULL: not possible. */
    bool (*other)(void *ctx, uint64_t address, uint64_t *value);
    void *ctx;
    uint64_t first_low, first_high; /* where its first functions have their frames; 0: not known */
};

/* How a path ends; the texts are stored in measurements (FORMAT_PATH_CUT). */
#define UNWIND_ENDS(X)                                                                                                 \
    X(COMPLETE, "")                                                                                                    \
    X(NO_ROWS, FORMAT_PATH_CUT "code without unwind information]")                                                     \
    X(STACK, FORMAT_PATH_CUT "a stack larger than the copy]")                                                          \
    X(ELSEWHERE, FORMAT_PATH_CUT "on a stack that was not copied]")                                                    \
    X(DAMAGED, FORMAT_PATH_CUT "inconsistent stack]")                                                                  \
    X(LONG, FORMAT_PATH_CUT "more frames than are kept]")                                                              \
    X(NO_REGISTERS, FORMAT_PATH_CUT "no registers]")                                                                   \
    X(FULL, FORMAT_PATH_CUT "more paths than are kept]")
enum unwind_end {
#define X(name, words) UNWIND_##name,
    UNWIND_ENDS(X)
#undef X
        UNWIND_END_COUNT
};

/* Destination of the addresses: word[(at + i) & mask], at most `room`. */
struct unwind_path {
    uint64_t *word;
    uint32_t at, mask, room, count;
    uint64_t skip_begin, skip_end; /* frames of this code are left out */
    bool skip_inner;               /* and so are its callees */
};

/* The callers of registers->pc, innermost first. `missing` (or NULL) is asked for rows of an object without. */
struct unwinder {
    enum unwind_machine machine;
    const struct unwind_map *map;
    const struct unwind_rows *(*missing)(const struct unwind_object *);
    bool (*peek)(uint64_t address, void *to, size_t n); /* code without rows; NULL: not available */
};
enum unwind_end unwind_walk(const struct unwinder *, const struct unwind_registers *, const struct unwind_memory *,
                            struct unwind_path *);

#endif
