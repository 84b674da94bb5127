/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mhsim - a memory hierarchy, simulated reference by reference.
 *
 * Knows:    levels of memory (caches, TLBs; machines/); which reference (instruction) touched which block,
 *           which brought it in, which evicted it; two ways to get a program's references: QEMU's user mode with a
 *           plugin, and the hooks that compilers insert.
 * Does not: structure, source, metrics, pages.
 *
 * Usual life, the simulator alone:  machine_memory_read -> mhsim_create -> mhsim_core -> mhsim_row -> mhsim_access ...
 *                                   -> mhsim_counts -> mhsim_free
 * Usual life, a program:            mhsim_run (runs it, leaves a measurement)
 *
 * Memory:   a simulator maps its memory from the system, none from the heap: it lives in other people's programs.
 * Errors:   an invalid machine file is reported with file and line; nothing is simulated then.
 * Threads:  a simulator belongs to one thread at a time; the ways in put a lock around it. Simulated threads are cores.
 */
#ifndef MHSIM_H
#define MHSIM_H

#include "machines/machines.h"

/* ---- what is counted ------------------------------------------------------------------ */

/* Of one reference on one object by one thread, at one level. Hits are accesses - misses. */
struct mhsim_counts {
    uint64_t accesses; /* of blocks: an access across two blocks is two */
    uint64_t misses;
    uint64_t temporal;    /* hits on bytes that had been touched since the block came in */
    uint64_t cold;        /* misses on blocks never before in this level (of this thread) */
    uint64_t conflict;    /* misses that a fully associative LRU level of this size would not have; where asked for */
    uint64_t distinct;    /* different blocks it touched here */
    uint64_t evictions;   /* blocks it had brought in that left */
    uint64_t used;        /* bytes of those that had been touched */
    uint64_t write_backs; /* changed blocks that left; it was the last to write */
    uint64_t write_throughs; /* stores passed on at once */
    uint64_t prefetches;     /* blocks it made the prefetcher bring in */
    uint64_t prefetch_hits;  /* first touches of blocks that a prefetcher had brought in */
    uint64_t invalidated;    /* blocks it had brought in that another thread's store took away; among evictions */
};

/* Key of a row: a reference (an instruction's address) of a core (a thread) on an object (an array). Row 0 takes
   everything beyond the limits. */
struct mhsim_row {
    uint64_t code;
    uint32_t object, core;
    uint64_t split;        /* accesses across two blocks of the first level */
    uint64_t last_address; /* the simulator's own, as are the following */
    int64_t step, stride;  /* of the last access; the same of the last two, else 0 */
    uint64_t unused[2];
    struct mhsim_last {
        uint64_t block;
        uint32_t slot, unused[5]; /* in the first cache, the first TLB */
        uint32_t pair[MACHINE_LEVELS];
    } last[2]; /* of the caches, of the TLBs */
    struct mhsim_counts levels[MACHINE_LEVELS];
};
_Static_assert(sizeof(struct mhsim_row) == 1024,
               "a row is found by a shift, and what changes most has lines of its own");

/* `evictor` threw a block out that `victim` had brought in, that often. */
struct mhsim_pair {
    uint32_t victim, evictor; /* rows */
    uint32_t level, unused;
    uint64_t count;
    uint64_t invalidations; /* among count: by a store of another core */
};

/* ---- simulator ------------------------------------------------------------------------- */

struct mhsim_options {
    bool classify;        /* distinguish conflict from capacity misses: costs about as much as a level */
    uint32_t sample_sets; /* simulate one block in so many, a power of two; 0 or 1: all */
};

struct mhsim;
/* The machine must have passed machine_memory_check. NULL: out of memory. */
struct mhsim *mhsim_create(const struct machine_memory *, const struct mhsim_options *);
void mhsim_free(struct mhsim *);
/* A new core with private levels of its own; beyond MHSIM_CORES they are shared in turn. */
enum { MHSIM_CORES = 256 };
uint32_t mhsim_core(struct mhsim *);
/* The row of (core, code, object), created on demand. */
uint32_t mhsim_row(struct mhsim *, uint32_t core, uint64_t code, uint32_t object);
/* One access. */
struct mhsim_reference {
    uint64_t address;
    uint32_t row;
    uint16_t size; /* bytes, 1 to 4096 */
    bool write;
};
void mhsim_access(struct mhsim *, uint32_t row, uint64_t address, uint32_t size, bool write);
/* As one after the other, but faster. */
void mhsim_accesses(struct mhsim *, const struct mhsim_reference *, size_t n);
/* While quiet, the levels change and nothing is counted: for warming up. */
void mhsim_quiet(struct mhsim *, bool quiet);
const struct mhsim_row *mhsim_rows(const struct mhsim *, size_t *count);
const struct mhsim_pair *mhsim_pairs(const struct mhsim *, size_t *count);

/* ---- a program --------------------------------------------------------------------------- */

/* A variable of the program, or of a library, that no symbol names. */
enum { MHSIM_NAME = 96 };
struct mhsim_variable {
    uint64_t from, to;           /* in a frame: code of which procedure; else 0, 0 */
    uint64_t code_from, code_to; /* of it, the name of the variable */
    int64_t lo, hi;              /* addresses in the file; in a frame, from its canonical address */
    char name[MHSIM_NAME];
};
struct mhsim_variables VEC(struct mhsim_variable);

/* Of a load module, as its file has it. */
struct mhsim_code {
    const char *module; /* the end of its path */
    uint64_t from, to;
};

struct mhsim_run_options {
    const struct machine_memory *machine;
    struct mhsim_options simulator;
    uint64_t delay, window;          /* accesses before it begins, and that it lasts; 0: from the start, to the end */
    uint64_t burst, period, warm_up; /* accesses: see shared_layout.h; 0: all */
    const char *const *functions;    /* of the program; NULL-terminated, or NULL: everywhere */
    const struct mhsim_code
        *code; /* and so much of it, or of its libraries; code_count 0, and no functions: everywhere */
    size_t code_count;
    const char *region;        /* of hpcview.h: nothing is counted outside, it only changes the levels; NULL */
    unsigned region_time;      /* but the first, second, ... time that the process enters it; 0: each time */
    const char *out_dir;       /* made where missing */
    const char *plugin, *heap; /* paths of libhpcview-simulate-qemu.so and libhpcview-simulate-heap.so */
    /* Appends what the debug information of the file (the program, a library of it that was compiled by hpcview-cc) says;
       NULL: arrays have the names that symbols give them. */
    void (*variables)(const char *path, struct mhsim_variables *, struct warnings *);
    const char *qemu; /* NULL: qemu-ARCHITECTURE of the search path */
};
/* Runs argv (NULL-terminated), compiled by hpcview-cc or, where it was not, under QEMU; leaves its measurements in
   out_dir and its wait(2) status in *status. */
int mhsim_run(const struct mhsim_run_options *, char *const *argv, int *status, struct warnings *, struct err *);

#endif
