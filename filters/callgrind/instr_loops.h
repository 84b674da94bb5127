/*
 * Loops from exact counts: how often each instruction was executed and each jump taken.
 *
 * The instructions of a function in the order of their addresses, and the jumps, are its control flow graph as far as
 * it was run; what reached an instruction by no jump came from the one before it. A loop is a header and the edges back
 * to it from places it dominates. So, exactly:
 *
 *     iterations   how often the header was executed
 *     entries      the same without the edges back
 *
 * become counts of two events at the header; a formula of both gives the mean trip count.
 */
#ifndef FILTERS_INSTR_LOOPS_H
#define FILTERS_INSTR_LOOPS_H

#include "filters/base/base.h"

struct instr_place { /* one instruction in one thread */
    uint32_t thread;
    str_id object, function; /* of into's strings */
    uint64_t address;
};

struct instr_jump {
    uint64_t from, to, count;
};

struct instr_loops;
struct instr_loops *instr_loops_create(struct hpcprof *into);
void instr_loops_free(struct instr_loops *);
/* context: where what was executed there is counted. Ids are small numbers of the caller's, for parts. */
void instr_loops_executed(struct instr_loops *, uint32_t id, struct instr_place, uint32_t context, uint64_t count);
/* A jump in the thread, object and function of the place. */
void instr_loops_jump(struct instr_loops *, uint32_t id, struct instr_place, const struct instr_jump *);
/* A function begins there. */
void instr_loops_entry(struct instr_loops *, str_id object, uint64_t address);
/* Adds the events and their counts, if there were jumps. Are there loops? */
bool instr_loops_finish(struct instr_loops *, const char *name, struct warnings *);

/* After that, where the file has several parts: what each of them counted, and the table of how trip counts differ
   among them. */
void instr_loops_part_executed(struct instr_loops *, uint32_t id, uint64_t count);
void instr_loops_part_jump(struct instr_loops *, uint32_t id, uint64_t count);
void instr_loops_part_end(struct instr_loops *);
int instr_loops_say_parts(struct instr_loops *, struct err *);

#endif
