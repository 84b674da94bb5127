/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places of a callgrind file, as rows of a table: each once, in the order of first coming.
 *
 * A file names a function, and then its instructions by ascending addresses; it goes back only for a few basic blocks
 * that overlap. Its further parts repeat the same. So a place is usually the one after the last, or new because nothing
 * of its group has an address as high; otherwise it is searched among the ascending stretches of the function, and only
 * if it is in none of them hashed: never in a file of one part.
 */
#ifndef FILTERS_COST_POSITIONS_H
#define FILTERS_COST_POSITIONS_H

#include "filters/base/interner.h"

struct cost_position {
    uint64_t address;     /* 0: not known */
    uint32_t line, group; /* line 0: not known */
};

struct cost_group { /* stored once for many places: ids of the caller's */
    uint32_t thread, object, function, file, own_file;
    uint32_t first;            /* row at the time of its first coming */
    struct cost_position most; /* of it */
};

struct cost_positions {
    struct VEC(struct cost_position) rows;
    struct VEC(struct cost_group) groups;
    struct interner group_keys;
    struct VEC(uint32_t) stretches; /* where each begins: a row; within it addresses ascend */
    struct VEC(uint32_t)
        by_address;          /* stretches of an object in the order of their addresses: callgrind_positions_order */
    uint32_t group, last;    /* of the row that was asked for last */
    uint32_t function_first; /* row with which the function began that was entered last */
    size_t function_stretch, indexed; /* indexed: rows before this one are in the index */
    struct row_index index;
};

/* The places that follow are of that group. */
void callgrind_positions_enter(struct cost_positions *, uint32_t thread, uint32_t object, uint32_t function,
                               uint32_t file, uint32_t own_file);
uint32_t callgrind_positions_row(struct cost_positions *, uint64_t address, uint64_t line);
/* After the last row: puts them in the order of their addresses. Has each row an address of its own in its object? */
bool callgrind_positions_order(struct cost_positions *);
/* After that, if it was true: a row of the object with that address, or ROW_NONE. */
uint32_t callgrind_positions_at(const struct cost_positions *, uint32_t object, uint64_t address);
static inline const struct cost_group *cost_positions_group(const struct cost_positions *s, uint32_t row)
{
    return &s->groups.items[s->rows.items[row].group];
}
void callgrind_positions_release(struct cost_positions *);

#endif
