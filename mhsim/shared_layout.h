/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data shared by `hpcview simulate` and the simulated process, both of one build: the orders (a file ORDERS in a
 * folder), and the counts (a file for each process there, NAME.raw, written through memory: however the process ends,
 * its counts are in it; of accesses that wait, see runtime.h). Plain structs; the head shows whether both sides mean
 * the same ones.
 */
#ifndef MHSIM_SHARED_LAYOUT_H
#define MHSIM_SHARED_LAYOUT_H

#include "mhsim/mhsim.h"

#define RAW_VARIABLE  "HPCVIEW_SIMULATE" /* the folder */
#define RAW_ORDERS    "orders"
#define RAW_VARIABLES "variables" /* struct raw_variables, one for each file, then every file's struct mhsim_variable */
#define RAW_SUFFIX    ".raw"
#define RAW_MAGIC     0x316d69736d766c68ull

enum { RAW_RANGES = 64, RAW_PATH = 512, RAW_NAME = MHSIM_NAME, RAW_BUILD_ID = 64, RAW_REGION = 256 };

/* Of code, as its file has it. */
struct raw_range {
    uint64_t from, to;
    char module[RAW_PATH]; /* the end of the file's path: whole names of it */
};

/* A file's variables among all: `first` and those behind it, the statics by address, then those in frames by procedure. */
struct raw_variables {
    char path[RAW_PATH]; /* real */
    uint64_t first, statics, frames;
};

struct raw_orders {
    uint64_t magic, size;
    struct machine_memory machine;
    struct mhsim_options options;
    uint64_t delay, window; /* accesses: before it begins; until it ends, 0: never */
    uint64_t burst, period,
        warm_up; /* accesses: of every `period`, `burst` counted after `warm_up` that only change the levels; 0: all */
    char region[RAW_REGION]; /* counted is only what is in it; "": everywhere */
    uint32_t region_time;    /* the first, second, ... time it is entered; 0: each time */
    uint32_t range_count;    /* 0: everywhere */
    struct raw_range ranges[RAW_RANGES];
    uint64_t variable_files, variables;
    char program[RAW_PATH]; /* real path */
    char command[4096];     /* as it was given: under QEMU the process's own is QEMU's */
};

enum raw_table { RAW_ROWS, RAW_PAIRS, RAW_OBJECTS, RAW_MODULES, RAW_THREADS, RAW_TABLES };
enum { RAW_HEAD_BYTES = 1 << 16, RAW_OBJECTS_MOST = 65535, RAW_MODULES_MOST = 4096, RAW_THREADS_MOST = 65536 };
/* Position of a table in the (sparse) file: the largest last, since both sides map everything before it. */
#define RAW_TABLE_AT(i)                                                                                                \
    ((uint64_t[RAW_TABLES]){[RAW_THREADS] = 1 << 24,                                                                   \
                            [RAW_MODULES] = 2 << 24,                                                                   \
                            [RAW_OBJECTS] = 3 << 24,                                                                   \
                            [RAW_PAIRS] = 1 << 28,                                                                     \
                            [RAW_ROWS] = 1 << 29}[i])

enum raw_way { RAW_HOOKS, RAW_QEMU };

struct raw_head {
    uint64_t magic, size; /* sizes of all structs added up */
    uint32_t pid, parent_pid, way, ended;
    uint64_t start_ns, end_ns;
    uint64_t counts[RAW_TABLES];
    uint64_t seen, simulated; /* accesses that came in; that were counted */
    uint64_t lost;            /* in signal handlers that came while the simulator was at work */
    uint64_t instructions,
        unreported;       /* that read or write memory, as translated; of those, of kinds QEMU says nothing of */
    uint64_t joined;      /* accesses that came in pieces */
    char execs[RAW_PATH]; /* the program that the process became by exec, if that was not simulated; "" */
    char command[4096];
    struct raw_orders orders;
};

enum raw_object_kind { RAW_OTHER, RAW_STACK, RAW_STATIC, RAW_HEAP, RAW_MODULE_DATA };

/* System calls that no kernel has, as messages of a program under QEMU to the plugin: address, bytes and site of a
   block from the heap; 1 or 0 to measure or not; the name of a region, and 1 for its begin or 0 for its end. */
enum { RAW_HEAP_CALL = 0x6d680001, RAW_MEASURE_CALL = 0x6d680002, RAW_REGION_CALL = 0x6d680003 };

/* Kinds of objects. Row 0 is for everything else. */
struct raw_object {
    uint32_t kind, module; /* module: of STATIC and MODULE_DATA */
    uint64_t address;      /* STATIC: at run time; HEAP: the code that asked for it; STACK: number + 1 of a variable */
    uint64_t bytes, count; /* the largest block; how many */
    char name[RAW_NAME];   /* STATIC: the symbol, or the variable's readable name; STACK: the variable, or "" */
};

/* A file in the address space: run-time addresses lo <= a < hi are the file's a - bias. */
struct raw_module {
    uint64_t lo, hi, bias;
    char path[RAW_PATH], build_id[RAW_BUILD_ID];
};

struct raw_thread {
    uint64_t tid, core;
};

#define RAW_SIZES                                                                                                      \
    (sizeof(struct raw_head) + sizeof(struct mhsim_row) + sizeof(struct mhsim_pair) + sizeof(struct raw_object) +      \
     sizeof(struct raw_module) + sizeof(struct raw_thread))

#endif
