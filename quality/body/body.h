/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quality/body - one innermost loop: its instructions, and the minimal cost of an iteration.
 *
 * Knows:    machine code and a core's costs (machines/); samples only as numbers at addresses (waits.c).
 * Does not: say what is wrong with a loop; know other loops, sources, or how anything is shown.
 *
 *     body.c       its instructions, the shortest path through it
 *     address.c    what address each reference has, and how it moves from iteration to iteration
 *     mix.c        what the instructions are: calculations, addresses, bytes, packed or not
 *     cost.c       what one instruction costs on the core
 *     bounds.c     what an iteration costs at least, and why
 *     trips.c      trip counts that the code itself gives
 *     waits.c      what the samples in it waited for
 *
 * Memory:   body_release gives back what body_make took; a body may be made again for the next loop.
 */
#ifndef QUALITY_BODY_H
#define QUALITY_BODY_H

#include "bloop/arch/facts.h"
#include "bloop/arch/ops.h"
#include "bloop/code/code.h"
#include "machines/core.h"
#include "quality/quality.h"

/* ---- body.c ----------------------------------------------------------------------- */

struct step { /* one instruction */
    struct insn_facts f;
    struct op op;
    vaddr addr;
    const uint8_t *bytes;
    uint32_t block;           /* of the graph */
    bool known;               /* f has been filled; else it could not be decoded */
    bool on_path, addressing; /* on the shortest way; makes addresses and conditions only */
    bool chained;             /* on the longest chain from iteration to iteration */
    uint8_t cost;             /* enum cost_kind */
};

enum { FORM_TERMS = 4 };
struct form_term {
    uint32_t root; /* below ARCH_REGS: a register at the beginning of the iteration; else ARCH_REGS + step's number */
    int64_t factor;
};
struct quality_form { /* a sum of roots */
    struct form_term terms[FORM_TERMS];
    uint8_t count;
    int64_t add;
};

struct ref {       /* of the path */
    uint32_t step; /* index into body.path */
    uint8_t operand;
    uint8_t stride; /* enum quality_stride */
    struct quality_form form;
    bool known;    /* `moves` is */
    bool stack;    /* relative to the stack pointer */
    bool runtime;  /* it moves by a number that is known at run time only */
    int64_t moves; /* bytes in an iteration */
};

struct body {
    const struct bloop_code *code;
    const struct machine_core *machine;
    uint32_t loop;                 /* of the forest */
    struct VEC(struct step) steps; /* of all blocks, by address */
    struct VEC(uint32_t) path;     /* indices of steps, in the order of execution */
    struct VEC(struct ref) refs;
    struct quality_form final[ARCH_REGS]; /* of registers behind the path */
    bool moved_known[ARCH_REGS];
    int64_t moved[ARCH_REGS]; /* by how much a register changes in an iteration, where that is known */
    uint8_t *loaded;          /* by index of the path: its result comes from memory, read in this iteration */
    uint32_t paths, undecodable;
    bool cut, tangled; /* too long; not a simple loop: all blocks count as one way */
    struct VEC(uint32_t) blocks, order, best, first_step;
    struct VEC(double) ways;
};

void body_release(struct body *);
/* Collects the loop; false: it is not innermost. */
bool body_make(struct body *, const struct bloop_code *, uint32_t loop, const struct machine_core *);
static inline struct step *path_step(const struct body *b, size_t i)
{
    return &b->steps.items[b->path.items[i]];
}

/* ---- address.c --------------------------------------------------------------------- */

void body_find_addresses(struct body *);
bool quality_form_same_terms(const struct quality_form *, const struct quality_form *);

/* ---- mix.c -------------------------------------------------------------------------- */

/* Bytes of a vector register that the instruction uses; elements: numbers in it. */
unsigned step_width(const struct step *, const struct machine_core *);
double step_elements(const struct step *, const struct machine_core *);
unsigned quality_memory_size(const struct insn_memory *, const struct machine_core *);
bool step_calculates(const struct step *);        /* arithmetic on vector registers */
bool step_whole_number_data(const struct step *); /* on general ones, and not of addresses or conditions */
void quality_mix_count(struct body *, struct quality_loop *);

/* ---- cost.c, bounds.c --------------------------------------------------------------- */

uint8_t cost_of(const struct step *); /* enum cost_kind */
void cost_find(struct body *);
/* Latency of the step's calculation (not of its load). */
double cost_latency(const struct body *, const struct step *);
double cost_load_latency(const struct body *, const struct step *);
/* A copy between registers, or a constant, that takes no port and no time. */
bool cost_is_free(const struct body *, const struct step *);
unsigned cost_width(const struct body *, const struct step *);
/* Is it in AVX's encodings, VEX or EVEX? (x86-64) */
bool step_is_avx(const struct step *);
/* As the front end counts: a load is fused with its consumer, and a store's two parts are one. */
unsigned bounds_uops(const struct body *, const struct step *);
/* The ports that each of its parts may take, as machine files write them: "015 23b"; calculation, loads, stores. */
void bounds_ports(const struct body *, const struct step *, struct buf *);
bool bounds_fuses(const struct body *, const struct step *, const struct step *next);
/* Memory bandwidth of one core in a cycle, a middle value for server processors of today (STREAM on one core of
   Skylake, Ice Lake, Zen 3, Zen 4 and Neoverse N1: 3 to 8). */
#define QUALITY_MEMORY_BYTES 4.0

/* trips.c: iterations of an entry where the loop's code says how many; NaN: it does not. */
double trips_find(const struct body *);
/* waits.c: fills waits_* and from_memory_known; samples may be NULL. */
void waits_find(const struct body *, const struct quality_samples *, struct quality_loop *);
/* trips: of an entry; NaN: not known. */
void bounds_find(struct body *, struct quality_loop *, double trips);

#endif
