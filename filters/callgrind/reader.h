/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files that read callgrind's format. A file is read line after line:
 *
 *     callgrind.c         lines: headers, names, costs, calls, jumps
 *     tokens.c            numbers, positions and names in a line
 *     costs.c             what was counted where becomes contexts, counts, call edges
 *     cost_positions.c    positions with costs, each once
 *     jumps.c             jumps between instructions
 *
 * Each knows those below it.
 */
#ifndef FILTERS_CALLGRIND_READER_H
#define FILTERS_CALLGRIND_READER_H

#include "filters/base/base.h"
#include "filters/callgrind/cost_positions.h"
#include "filters/callgrind/jumps.h"

#include <endian.h>

enum { MOST_EVENTS = 64, MOST_POSITIONS = 2 };

struct name_table VEC(str_id); /* by the file's own numbers */

struct object { /* a module, once it is needed */
    uint32_t module;
    bool settled, here; /* here: its file is on this machine, addresses can be placed */
};

struct callee {
    str_id object, file, function;
    bool has_object, has_file;
};

struct callgrind_call { /* to which place, how often */
    struct callee callee;
    uint64_t address, line, count;
};

struct call_sum {
    uint64_t calls, cost; /* cost: inclusive, of the first event */
};

struct callgrind {
    struct hpcprof *into;
    const struct filter_input *in;
    const char *name;     /* of the input */
    struct filemap *map;  /* which it is of */
    const char *at, *end; /* the rest of the line */
    const char *text_end; /* of the file */
    unsigned long line;   /* for messages */
    bool cachegrind;
    struct name_table objects, files, functions;
    str_id object, file, function, command;
    str_id nameless;                         /* "???" */
    str_id own_file;                         /* of the function: `file` goes on to those inlined into it */
    struct VEC(struct object) known_objects; /* by name */
    uint32_t process, thread;
    struct hashmap threads; /* by callgrind's number */
    bool has_process, has_thread;
    bool whole_line;     /* the line that is read has its end */
    bool has_end, ended; /* has_end: it is of a tool that writes totals behind the costs; ended: they were there */
    uint64_t pid, thread_number;
    uint32_t events[MOST_EVENTS];
    size_t event_count, ir; /* ir: which of them is Ir, or event_count */
    bool has_addresses, has_lines;
    uint64_t address, source_line; /* where the last line was */
    bool skip_next;                /* the line after a jump that was never taken */
    uint64_t jump_to, jump_count;  /* jump_count 0: none is waiting for the line that says where it stands */
    struct callee called;          /* by the next call */
    struct callgrind_call call;    /* that waits for the line that says where it stands */
    bool has_call;
    unsigned parts;
    /* counts, each place once: a file has as many parts as there were dumps */
    struct cost_positions positions;
    bool group_changed; /* callgrind_positions_enter must be called */
    struct interner calls;
    struct VEC(uint64_t) costs;    /* by row and event, since the events were named */
    struct VEC(uint64_t) executed; /* by row: Ir, if there are addresses */
    struct VEC(uint32_t) contexts; /* by row; UINT32_MAX: not made yet */
    bool first_file, distinct;     /* distinct: each row with an address is a context of its own */
    struct VEC(struct call_sum) call_sums;
    struct jumps jumps;
    struct names names;
    bool again; /* the second reading: each part's jumps */
    struct err *err;
};

/* An error about the line that is read: -1. */
int callgrind_wrong(struct callgrind *, const char *what);

/* ---- tokens.c */

static inline const char *behind_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

static inline void blanks(struct callgrind *c)
{
    c->at = behind_blanks(c->at, c->end);
}

static inline bool is_digit(char c)
{
    return (unsigned)(c - '0') < 10;
}

static inline bool digit_next(const struct callgrind *c)
{
    return c->at < c->end && is_digit(*c->at);
}

/* Digits one by one, or hexadecimal. */
const char *callgrind_digits(const char *at, const char *end, uint64_t *value);

/* Up to seven digits at once, as most numbers have: no branch depends on how many. Each byte's carry into its highest bit
   says whether it is a digit; then neighbours are joined (Mula, "SIMD-ized conversion of decimal strings", 2014). 0: they are
   more, none, or not decimal. */
static inline unsigned few_digits(const char *at, uint64_t *value)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    v = le64toh(v) ^ 0x3030303030303030;
    uint64_t others = (v | (v + 0x7676767676767676)) & 0x8080808080808080;
    unsigned bits = others ? (unsigned)__builtin_ctzll(others) & ~7u : 0;
    if (bits == 0 || (at[1] | 0x20) == 'x')
        return 0;
    v <<= 64 - bits;
    v = v * 10 + (v >> 8);
    v = (v & 0x000000ff000000ff) * 0x000f424000000064 + (v >> 16 & 0x000000ff000000ff) * 0x0000271000000001;
    *value = v >> 32;
    return bits / 8;
}

/* "16" or "0x10", and the text behind it; NULL: not a number. */
static inline const char *read_number(const struct callgrind *c, const char *at, uint64_t *value)
{
    unsigned digits = c->text_end - at >= 8 ? few_digits(at, value) : 0;
    if (digits)
        return at + digits;
    return at < c->end && is_digit(*at) ? callgrind_digits(at, c->end, value) : NULL;
}

bool callgrind_number(struct callgrind *, uint64_t *value);
/* "16", "+3", "-2" or "*", relative to the last line's: an address, a line or both. */
bool callgrind_positions(struct callgrind *, uint64_t *address, uint64_t *line);
str_id callgrind_rest_of_line(struct callgrind *);
/* "(12) name" gives number 12 that name, "(12)" is the name it has, anything else is the name itself. */
int callgrind_name(struct callgrind *, struct name_table *, str_id *name);
/* 0 for the name that callgrind writes if debug information has none. */
str_id callgrind_known(const struct callgrind *, str_id name);

/* ---- costs.c */

struct code_place {
    str_id object, function, file, own_file;
    uint64_t address, line;
};

/* A process's row comes with the first cost, when the lines about it have been read; threads follow one another. */
void callgrind_settle_thread(struct callgrind *);
/* The row of the position that the last line had. */
uint32_t callgrind_position(struct callgrind *);
/* Costs become counts when other events are named, and at the end (last); then it is known whether there are jumps. */
void callgrind_flush(struct callgrind *, bool last);
int callgrind_call_edges(struct callgrind *);
/* Executions in the whole file, for the jumps. */
void callgrind_jumps_executed(struct callgrind *);
int callgrind_jumps_add(struct callgrind *, unsigned part);

#endif
