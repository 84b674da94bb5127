/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations that jumptable.c distinguishes, independent of the processor.
 *
 * Only the few instructions in front of an indirect jump are looked at this way, so being
 * exact matters here and speed does not.  To add a processor: one file that fills a
 * struct arch with decode and lift, and one row in arch_get (x86_64.c).
 */
#ifndef BLOOP_OPS_H
#define BLOOP_OPS_H

#include "bloop/arch/arch.h"

#define ARCH_REGS   32   /* general registers, numbered as the processor encodes them */
#define ARCH_NO_REG 0xff /* absent, or counts as zero in an address */

enum op_kind {
    OP_OTHER,    /* any other; `clobbers` has the registers it overwrites */
    OP_ADDRESS,  /* dst = extend(base + index * scale + disp); moves, constants, additions and shifts are cases of it */
    OP_AND,      /* dst = base & disp */
    OP_SHIFT_R,  /* dst = base >> disp, logical */
    OP_LOAD,     /* dst = extend(memory[base + index * scale + disp]) of `size` bytes */
    OP_STORE,    /* memory[...] = `src` of `size` bytes */
    OP_JUMP,     /* to base, a register */
    OP_JUMP_LOAD /* to memory[base + index * scale + disp] */
};

/* The operands of the comparison, for a conditional branch that follows. */
enum op_compare {
    COMPARE_NONE,     /* flags untouched */
    COMPARE_UNKNOWN,  /* flags overwritten by something else */
    COMPARE_CONST,    /* cmp_reg against cmp_const */
    COMPARE_REG,      /* cmp_reg against cmp_reg2 */
    COMPARE_MEM_CONST /* memory[base + disp] of `size` bytes against cmp_const */
};

struct op {
    uint8_t kind;     /* enum op_kind */
    uint8_t dst, src; /* registers */
    uint8_t base, index, scale;
    uint8_t size; /* bytes: of a load or store; of an ADDRESS, how many low bytes of the sum are kept */
    bool sign;    /* those bytes are extended by sign; else by zeros */
    int64_t disp;
    uint8_t index_size; /* the index is taken from that many low bytes of its register; 0: all */
    bool index_sign;
    bool stack_lost;   /* the stack pointer is set to something else than itself plus a constant: */
    bool from_frame;   /* to the frame pointer plus `stack` */
    bool calls;        /* filled by jumptable.c */
    int64_t stack;     /* the amount added to the stack pointer */
    uint32_t clobbers; /* registers that have another value afterwards, dst among them */
    uint8_t compare;   /* enum op_compare */
    uint8_t cmp_reg, cmp_reg2, cmp_size;
    int64_t cmp_const;
};

/* Which comparison lets a conditional branch be taken; unsigned unless it says otherwise. */
enum branch_test {
    TEST_OTHER,
    TEST_ABOVE,
    TEST_ABOVE_EQUAL,
    TEST_BELOW,
    TEST_BELOW_EQUAL,
    TEST_EQUAL,
    TEST_NOT_EQUAL,
    TEST_GREATER_SIGNED,
    TEST_LESS_EQUAL_SIGNED
};

struct arch_detail {
    /* Registers a call may overwrite, the stack pointer and the usual frame pointer. */
    uint32_t call_clobbers;
    uint8_t stack_pointer, frame_pointer;
    int64_t
        frame_height; /* of the stack at the entry above where the frame pointer points, with the usual prologue; 0: it
                             varies */
    void (*lift)(const uint8_t *p, size_t n, vaddr addr, struct op *);
    /* Quickly: does this instruction put a constant address into a register? */
    bool (*constant)(const uint8_t *p, size_t n, vaddr addr, uint8_t *reg, vaddr *value);
    /* The condition that a conditional branch at p tests, of the preceding comparison. */
    enum branch_test (*test)(const uint8_t *p, size_t n);
};

const struct arch *arch_x86_64(void);
const struct arch *arch_aarch64(void);

#endif
