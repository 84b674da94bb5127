/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement file's numbers, shared by reader, writer and recorder. Their meaning is in
 * doc/formats/measurement.md.
 *
 *   file:   "hpcprof\n"  u32 version  u32 crc of the 12 bytes before          16 bytes, then blocks
 *   block:  u32 type  u32 length  u32 crc of the payload  u32 crc of the 12 bytes before  payload
 */
#ifndef HPCPROF_FORMAT_H
#define HPCPROF_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_MAGIC        "hpcprof\n"
#define FORMAT_HEADER_BYTES 16
#define FORMAT_BLOCK_BYTES  16

/* Four letters in the order of the file's bytes. */
#define FORMAT_TYPE(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* Every block type, its letters and its name in messages. */
#define FORMAT_BLOCKS(X)                                                                                               \
    X(PROCESS, 'P', 'R', 'O', 'C', "process")                                                                          \
    X(NOTES, 'N', 'O', 'T', 'E', "notes")                                                                              \
    X(EVENTS, 'E', 'V', 'N', 'T', "events")                                                                            \
    X(MODULES, 'M', 'O', 'D', 'L', "modules")                                                                          \
    X(OWN_FILES, 'P', 'F', 'I', 'L', "files of procedures")                                                            \
    X(CONTEXTS, 'C', 'T', 'X', 'T', "contexts")                                                                        \
    X(REGIONS, 'R', 'E', 'G', 'N', "regions")                                                                          \
    X(THREADS, 'T', 'H', 'R', 'D', "threads")                                                                          \
    X(COUNTS, 'C', 'N', 'T', 'S', "counts")                                                                            \
    X(TOTALS, 'T', 'O', 'T', 'L', "totals")                                                                            \
    X(THREAD_END, 'T', 'E', 'N', 'D', "thread end")                                                                    \
    X(TABLES, 'T', 'D', 'E', 'F', "tables")                                                                            \
    X(ROWS, 'T', 'R', 'O', 'W', "table rows")                                                                          \
    X(END, 'P', 'E', 'N', 'D', "process end")

enum format_block {
#define X(name, a, b, c, d, words) FORMAT_##name = FORMAT_TYPE(a, b, c, d),
    FORMAT_BLOCKS(X)
#undef X
};

enum format_context_flags { FORMAT_HAS_PARENT = 1, FORMAT_BY_LINE = 2 };
enum format_count_flags { FORMAT_HAS_VALUES = 1 /* else value = samples x period */ };

/* Call paths that do not reach the thread's first function hang below a context without a parent, of a module whose name
   begins like this and goes on with why. */
#define FORMAT_PATH_CUT "[path cut: "

/* The note of a process whose events count in the kernel and are not sampled there; its value says why. */
#define FORMAT_NOTE_KERNEL "in the kernel"

/* The notes of a rank: what all ranks of one start of a program have in common, and how many they are. */
#define FORMAT_NOTE_JOB   "job"
#define FORMAT_NOTE_RANKS "ranks"
/* The ranks that --ranks or --sample-ranks chose, if not all. */
#define FORMAT_NOTE_CHOSEN "ranks recorded"

/* Largest payload: a writer splits what is longer; a length above is a broken file. */
#define FORMAT_PAYLOAD_MAX (16u << 20)

/* Whether a rank is in such a choice: "0,7,1000-1007", or "sample N". A sample is one rank of each of N equal parts: rank 0 of the
   first part; of the others one at a position that a hash decides, since every 64th rank could be the first of each node. */
static inline bool format_rank_chosen(const char *choice, uint64_t rank, uint64_t ranks)
{
    static const char sample[] = "sample ";
    char *at = (char *)(uintptr_t)choice;
    if (strncmp(choice, sample, sizeof sample - 1) == 0) {
        uint64_t n = strtoull(choice + sizeof sample - 1, NULL, 10);
        if (n == 0 || n >= ranks || rank >= ranks || n > UINT32_MAX || ranks > UINT32_MAX)
            return true;
        uint64_t part = ((rank + 1) * n - 1) / ranks, from = part * ranks / n, to = (part + 1) * ranks / n;
        return rank == from + (part * 0x9E3779B97F4A7C15u >> 33) % (to - from);
    }
    while (*at >= '0' && *at <= '9') {
        uint64_t from = strtoull(at, &at, 10), to = *at == '-' ? strtoull(at + 1, &at, 10) : from;
        if (rank >= from && rank <= to)
            return true;
        at += *at == ',';
    }
    return false;
}

#endif
