/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jumps between instructions, as the table `jumps`: source, target, count, part of the file. If the target of a jump
 * was reached without a jump as well, from the instruction before it or by a call, a row without `from` has that count.
 * With the loops of the binary these give trip counts.
 */
#ifndef FILTERS_CALLGRIND_JUMPS_H
#define FILTERS_CALLGRIND_JUMPS_H

#include "filters/base/interner.h"
#include "hpcprof/hpcprof.h"

struct jump_target {
    uint32_t thread, object;
    uint64_t address, executed, jumped_to;
};

struct jumps {
    struct interner rows;                   /* thread, object; from, to */
    struct VEC(uint64_t) counts;            /* by row */
    struct VEC(struct jump_target) targets; /* sorted, without their counts */
    struct VEC(uint32_t) target_of;         /* by the number given to jumps_note_target; ROW_NONE: no jump leads
                                               there */
};

void jumps_count(struct jumps *, uint32_t thread, uint32_t object, uint64_t from, uint64_t to, uint64_t times);
/* After the last new one: where jumps lead. */
void jumps_find_targets(struct jumps *);
uint32_t jumps_target(const struct jumps *, uint32_t thread, uint32_t object, uint64_t address);
/* Executions of `position` are executions of that target. */
void jumps_note_target(struct jumps *, uint32_t position, uint32_t target);
void jumps_executed(struct jumps *, uint32_t position, uint64_t times);
/* Adds rows to the table, and begins to count anew. `context` returns where an instruction is counted; ROW_NONE: it
   has no address there, and jumps from and to it are left out. */
typedef uint32_t jumps_context(void *ctx, uint32_t object, uint64_t address);
int jumps_add(struct jumps *, struct hpcprof *into, unsigned part, jumps_context *, void *ctx, struct err *);
void jumps_clear(struct jumps *);
void jumps_release(struct jumps *);

#endif
