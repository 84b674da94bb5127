/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of one function's graph under construction, shared by cfg.c, jumptable.c and noreturn.c.
 *
 * All bytes of a function, cold parts included, are numbered: a position is 0 at the first byte of the part with the
 * lowest address and goes on from part to part (each part starts at a multiple of 64). Sets of positions are bitmaps,
 * so each byte costs half a byte of memory and nothing is asked from the heap for an instruction or a block.
 */
#ifndef BLOOP_CFG_INT_H
#define BLOOP_CFG_INT_H

#include "bloop/code/code.h"

typedef uint32_t pos; /* position in the function at work */
#define POS_NONE UINT32_MAX

struct cfg_part {
    vaddr begin, end;
    pos first; /* position of `begin` */
    const uint8_t *bytes;
    uint32_t function; /* index in the table */
};

/* An instruction after which control does not simply go on, or the last one before a place where it cannot. */
struct term {
    pos at, end;
    pos target;   /* POS_NONE: outside of the function, or not known */
    uint8_t kind; /* enum insn_kind; PLAIN: control falls out of the function or into data; CALL: never returns */
    bool goes_on; /* the instruction after it is a successor */
    bool tail;    /* leaves the function for another: a tail call */
};

struct call {
    pos at;
    uint32_t callee; /* function, or FUNCTION_NONE: unknown */
};

/* Possible targets of one indirect jump. */
struct indirect {
    pos at;
    uint8_t state;                       /* enum indirect_state */
    bool shares;                         /* its list of targets is that of another jump */
    uint32_t target_first, target_count; /* into cfg_work.targets; sorted and distinct */
};
enum indirect_state { INDIRECT_NEW, INDIRECT_RESOLVED, INDIRECT_TAIL_CALL, INDIRECT_UNKNOWN };

struct cfg_work {
    const struct cfg_input *in;
    struct function_index index;
    struct VEC(struct cfg_part) parts;
    pos end; /* all positions are below */
    size_t words;
    size_t word_capacity;
    uint64_t *start;                       /* an instruction begins here */
    uint64_t *covered;                     /* decoded bytes */
    uint64_t *leader;                      /* a block begins here */
    uint64_t *entered;                     /* control comes in from outside: entries and landing pads */
    uint64_t *table;                       /* bytes of jump tables */
    uint64_t *maybe_start, *maybe_covered; /* jumptable.c's, clear between its uses */
    uint64_t *padded;                      /* landing pads of a call; valid if there are call sites */
    uint32_t *rank;                        /* leaders before each word */
    struct VEC(struct term) terms;
    struct VEC(struct term) term_spare;
    struct VEC(struct call) calls;
    struct VEC(struct call) call_spare;
    struct VEC(pos) pending;
    struct VEC(pos) entries;
    struct VEC(struct indirect) indirects;
    struct VEC(pos) targets;
    struct call_site_list sites;
    struct VEC(uint64_t) pad_edges; /* block << 32 | block of the pad */
    bool overlaps, terms_sorted, calls_sorted;
    uint64_t bad_bytes, table_bytes;
    struct jumptable_work *jumptable;
};

static inline bool bit_get(const uint64_t *map, pos p)
{
    return map[p >> 6] >> (p & 63) & 1;
}

static inline void bit_clear(uint64_t *map, pos p)
{
    map[p >> 6] &= ~(1ull << (p & 63));
}

static inline void bit_set(uint64_t *map, pos p)
{
    map[p >> 6] |= 1ull << (p & 63);
}

/* First set position at or after p, or `end`. */
pos bit_next(const uint64_t *map, pos p, pos end);
pos bit_next_clear(const uint64_t *map, pos p, pos end);

const struct cfg_part *cfg_part_at(const struct cfg_work *, pos);
pos cfg_position(const struct cfg_work *, vaddr); /* POS_NONE: not in this function */
vaddr cfg_address(const struct cfg_work *, pos);
/* The kind and length of the instruction there. (Not its target: its address is not given.) */
struct insn cfg_insn_at(const struct cfg_work *, pos);
/* Sorts terms and calls by position. */
void cfg_sort(struct cfg_work *);
/* The term that the instruction at p is, or NULL. */
const struct term *cfg_term_at(const struct cfg_work *, pos p);
/* The first at or after p among the calls. */
size_t cfg_call_from(const struct cfg_work *, pos p);
/* The term that ends a block, or NULL where it runs into the next one. */
const struct term *cfg_term_of(const struct cfg_work *, const struct cfg_block *);
const struct indirect *cfg_indirect_at(const struct cfg_work *, pos at);
/* Appends the functions called in a block except those that never return. */
void cfg_callees_of(const struct cfg_work *, const struct cfg_block *, const uint8_t *noreturn, struct index_list *);

/* jumptable.c: resolve the indirect jumps that are INDIRECT_NEW, as far as the code known by now allows. Terms are sorted.
 * False: none. */
bool jumptable_resolve(struct cfg_work *, bool new_function);
void jumptable_release(struct jumptable_work *);

#endif
