/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machines - descriptions of machines: the levels of their memory, and costs of instructions on their cores.
 *
 * Knows:    machine files (share/machines/, doc/formats/machine.md), and which processor this machine has.
 * Does not: simulate, judge loops, print.
 *
 * Usual life:  machine_memory_read or machine_memory_here -> plain values
 *              machine_core_read or machine_core_here -> machine_core_free
 *
 * Errors:   an invalid file is an error with file and line. Only the requested part of a file is read.
 * Threads:  nothing is shared.
 *
 * To add a machine: a file in share/machines/.
 */
#ifndef MACHINES_H
#define MACHINES_H

#include "support/support.h"

/* ---- memory ------------------------------------------------------------------------- */

enum {
    MACHINE_LEVELS = 8,     /* levels of a machine, TLBs among them */
    MACHINE_NO_LEVEL = 255, /* behind the last one: memory */
    MACHINE_WAYS = 4096,    /* blocks of a set */
};

enum machine_replace { MACHINE_LRU, MACHINE_PLRU, MACHINE_RANDOM };
enum machine_prefetch { MACHINE_NO_PREFETCH, MACHINE_NEXT_LINE, MACHINE_STRIDE };

struct machine_level {
    char name[16];    /* "L1", "TLB": display name; unique */
    uint64_t size;    /* bytes; of a TLB: covered by its entries */
    uint32_t line;    /* bytes of a block, a power of two; of a TLB: the page size */
    uint32_t ways;    /* blocks of a set; size / (line x ways) sets, any number */
    uint32_t latency; /* cycles of an access that finds its block here; 0: not known */
    uint8_t replace;  /* enum machine_replace */
    uint8_t prefetch; /* enum machine_prefetch */
    bool tlb;
    bool write_through; /* a store goes on to the next level at once; else when its block leaves */
    bool no_allocate;   /* a store that misses brings nothing in */
    bool inclusive;     /* lines evicted here are evicted from the levels before it too */
    bool shared;        /* one for all threads; else each has its own */
    uint8_t next;       /* where a miss goes: a later level, or MACHINE_NO_LEVEL */
};

/* Levels in the order an access meets them: the caches, then the TLBs. Plain values, handed between processes as bytes.
 */
struct machine_memory {
    char name[64];
    uint32_t level_count, memory_latency;
    struct machine_level levels[MACHINE_LEVELS];
};

/* From a machine file (doc/formats/machine.md); `name` is its name in messages. */
int machine_memory_parse(const void *bytes, size_t len, const char *name, struct machine_memory *, struct err *);
/* `path`: a file, or the name of one of `dir`'s without ".xml" (dir may be NULL). */
int machine_memory_read(const char *path, const char *dir, struct machine_memory *, struct err *);
/* This machine's, from the kernel's description below `sys` (usually "/sys"); 0: the kernel says nothing, and a common
   hierarchy (32 kB, 1 MB, 32 MB) was taken. */
int machine_memory_here(const char *sys, struct machine_memory *, struct err *);
/* Sets `next`, and reports inconsistencies. `where` begins the message. */
int machine_memory_check(struct machine_memory *, const char *where, struct err *);
/* "L1: 32 kB, 8 ways of 64-byte lines, LRU, write-back, private; ...", one line without a newline. */
void machine_memory_print(const struct machine_memory *, struct buf *);

/* ---- cores -------------------------------------------------------------------------- */

struct machine_core; /* machines/core.h */
/* A machine file, or, if `path` is a name, the file of that name in `dir`. The file must have a <core>. */
int machine_core_read(const char *path, const char *dir, struct machine_core **, struct err *);
/* The core of this machine, by the processor's family and model in `cpuinfo` (usually "/proc/cpuinfo"), of the files in
   `dir`; where the code is for another kind of processor, the one that stands for that kind. A processor that no file
   describes is an error that names it: the bound of another core may be false. `assumed` has a sentence that says what
   was taken and why. */
int machine_core_here(const char *dir, const char *cpuinfo, bool aarch64, struct machine_core **, struct err *);
void machine_core_free(struct machine_core *);

#endif
