/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bloop/arch - one instruction at a time, one file per processor.
 *
 * Knows:    bytes and addresses; the kind of an instruction and its targets. Does not: where the bytes are from.
 *           facts.h has all effects of an instruction, on demand; ops.h the few that jump tables need, quickly.
 *
 * Errors:   none. Undecodable bytes are INSN_BAD.
 * Threads:  everything may be called from several.
 * To add a processor: one file that fills a struct arch, and a row in arch_get (x86_64.c).
 */
#ifndef BLOOP_ARCH_H
#define BLOOP_ARCH_H

#include "bloop/bloop.h"

enum arch_kind { ARCH_X86_64, ARCH_AARCH64 };

enum insn_kind {
    INSN_PLAIN,
    INSN_BRANCH,        /* conditional, target known */
    INSN_JUMP,          /* unconditional, target known */
    INSN_JUMP_INDIRECT, /* through a register or memory */
    INSN_CALL,          /* target known */
    INSN_CALL_INDIRECT,
    INSN_RETURN,
    INSN_STOP,    /* ud2, hlt, brk, udf: nothing follows */
    INSN_PADDING, /* nop of any length, int3 */
    INSN_BAD      /* undecodable; length is the best guess where the next one starts, at least 1 */
};
struct insn_facts;
struct insn {
    vaddr addr, target; /* target: of BRANCH, JUMP, CALL */
    uint8_t length;     /* at least 1, and no more than there was */
    uint8_t kind;       /* enum insn_kind */
};
struct arch {
    enum arch_kind kind;
    unsigned min_length;
    /* Decode one instruction at p (n bytes there, n > 0). Never fails: INSN_BAD says it. Thread-safe. */
    void (*decode)(const uint8_t *p, size_t n, vaddr addr, struct insn *);
    /* All there is to know of one (facts.h); false: undecodable, or of a kind that is not known. Thread-safe. */
    bool (*facts)(const uint8_t *p, size_t n, vaddr addr, struct insn_facts *);
    /* Jump table recovery looks closer; see ops.h. */
    const struct arch_detail *detail;
};
const struct arch *arch_get(enum arch_kind);

/* packed.c: the SIMD operation of the instruction at p. */
enum packed_kind { PACKED_NOT, PACKED_SHUFFLES, PACKED_CALCULATES };
enum packed_kind arch_packed_kind(enum arch_kind, const uint8_t *p, size_t n);

/* Four bytes of code as a number: an instruction of AArch64, an operand of x86-64's. */
static inline uint32_t arch_word(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* waits.c: does this straight code wait for another thread, spinning or sleeping on a word in memory? */
bool arch_waits(enum arch_kind, const uint8_t *p, size_t n);

#endif
