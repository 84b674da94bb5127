/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AArch64. Every instruction has four bytes, with fixed fields for everything that control flow and jump tables need: Arm
 * Architecture Reference Manual (DDI 0487), C4.1 "A64 instruction set encoding".
 *
 * They are decoded here rather than by capstone, which takes 350 ns for an instruction instead of about two, and of which
 * version 4 cannot decode instructions newer than itself (pointer authentication, SVE, memory tagging), which would end
 * blocks. Since lengths are never in question, only words of unallocated groups count as undecodable. arch_test.c compares
 * the branches decoded here with capstone's.
 */
#include "bloop/arch/aarch64.h"

/* Sign-extended field of `bits` bits at `low`, in words of four bytes. */
static uint64_t offset(uint32_t w, unsigned low, unsigned bits)
{
    return (uint64_t)((int64_t)((uint64_t)w << (64 - low - bits)) >> (64 - bits)) * 4;
}

/* C4.1.3, "Unconditional branch (register)" */
static enum insn_kind kind_of_branch_register(uint32_t w)
{
    switch (w >> 21 & 15) {
    case 0: /* BR, BRAAZ, BRABZ */
    case 8: /* BRAA, BRAB */
        return INSN_JUMP_INDIRECT;
    case 1: /* BLR and its kin */
    case 9:
        return INSN_CALL_INDIRECT;
    case 2: /* RET, RETAA, RETAB */
    case 4: /* ERET */
    case 5: /* DRPS */
        return INSN_RETURN;
    default:
        return INSN_BAD;
    }
}

/* C4.1, table C4-1: groups that hold no instruction. */
static enum insn_kind kind_of_rest(uint32_t w)
{
    if (w == 0xd503201f)
        return INSN_PADDING;
    if ((w & 0xffe0001f) == 0xd4200000 || (w & 0xffe0001f) == 0xd4400000) /* BRK, HLT */
        return INSN_STOP;
    switch (w >> 25 & 15) {
    case 0:
        return w >> 16 == 0 ? INSN_STOP : w >> 31 ? INSN_PLAIN : INSN_BAD; /* UDF; SME */
    case 1:
    case 3:
        return INSN_BAD;
    default:
        return INSN_PLAIN;
    }
}

static void decode(const uint8_t *p, size_t n, vaddr addr, struct insn *in)
{
    in->addr = addr;
    in->target = 0;
    if (n < 4) {
        in->kind = INSN_BAD;
        in->length = (uint8_t)n;
        return;
    }
    uint32_t w = arch_word(p);
    in->length = 4;
    if ((w & 0x7c000000) == 0x14000000) { /* B, BL */
        in->kind = w >> 31 ? INSN_CALL : INSN_JUMP;
        in->target = addr + offset(w, 0, 26);
    } else if (w >> 24 == 0x54) { /* B.cond, BC.cond; conditions 14 and 15 are always true */
        in->kind = (w & 14) == 14 ? INSN_JUMP : INSN_BRANCH;
        in->target = addr + offset(w, 5, 19);
    } else if ((w & 0x7e000000) == 0x34000000) { /* CBZ, CBNZ */
        in->kind = INSN_BRANCH;
        in->target = addr + offset(w, 5, 19);
    } else if ((w & 0x7e000000) == 0x36000000) { /* TBZ, TBNZ */
        in->kind = INSN_BRANCH;
        in->target = addr + offset(w, 5, 14);
    } else if (w >> 25 == 0x6b) {
        in->kind = (uint8_t)kind_of_branch_register(w);
    } else {
        in->kind = (uint8_t)kind_of_rest(w);
    }
}

/* ---- lift ------------------------------------------------------------------------------------ */

/* Register 31 is the stack pointer or zero, as the instruction has it. */
static uint8_t reg_or_zero(uint32_t r)
{
    return (r & 31) == 31 ? ARCH_NO_REG : (uint8_t)(r & 31);
}

static uint8_t reg_or_sp(uint32_t r)
{
    return (uint8_t)(r & 31);
}

static bool is(uint32_t w, uint32_t mask, uint32_t value)
{
    return (w & mask) == value;
}

static int64_t signed_field(uint32_t w, unsigned low, unsigned bits)
{
    return (int64_t)((uint64_t)w << (64 - low - bits)) >> (64 - bits);
}

static void writes(struct op *op, uint8_t reg)
{
    if (reg != ARCH_NO_REG)
        op->clobbers |= 1u << reg;
}

static void address(struct op *op, uint8_t dst, uint8_t base, uint8_t index, uint8_t scale, int64_t disp, unsigned size)
{
    op->kind = OP_ADDRESS;
    op->dst = dst;
    op->base = base;
    op->index = index;
    op->scale = scale;
    op->disp = disp;
    op->size = (uint8_t)size;
    writes(op, dst);
}

static unsigned width(uint32_t w)
{
    return w >> 31 ? 8 : 4;
}

/* C4.1.2 "Data Processing -- Immediate" */
static void lift_immediate(uint32_t w, vaddr addr, struct op *op)
{
    uint8_t rd = reg_or_zero(w), rn = reg_or_zero(w >> 5);
    unsigned immr = w >> 16 & 63, imms = w >> 10 & 63, bits = 8 * width(w);
    writes(op, rd);
    if (is(w, 0x1f000000, 0x10000000)) { /* ADR, ADRP */
        int64_t imm = signed_field(w, 5, 19) * 4 + (w >> 29 & 3);
        address(op, rd, ARCH_NO_REG, ARCH_NO_REG, 1,
                (int64_t)(w >> 31 ? (addr & ~0xfffull) + (uint64_t)(imm * 4096) : addr + (uint64_t)imm), 8);
    } else if (is(w, 0x1f800000, 0x11000000)) { /* ADD, ADDS, SUB, SUBS */
        int64_t imm = (int64_t)(w >> 10 & 0xfff) << (w >> 22 & 1 ? 12 : 0);
        bool subtract = w >> 30 & 1, flags = w >> 29 & 1;
        if (flags) {
            op->compare = subtract ? COMPARE_CONST : COMPARE_UNKNOWN;
            op->cmp_reg = reg_or_sp(w >> 5);
            op->cmp_const = imm;
            op->cmp_size = (uint8_t)width(w);
        }
        if (!flags || rd != ARCH_NO_REG)
            address(op, flags ? rd : reg_or_sp(w), reg_or_sp(w >> 5), ARCH_NO_REG, 1, subtract ? -imm : imm, width(w));
    } else if (is(w, 0x7f800000, 0x52800000)) { /* MOVZ */
        address(op, rd, ARCH_NO_REG, ARCH_NO_REG, 1, (int64_t)((uint64_t)(w >> 5 & 0xffff) << 16 * (w >> 21 & 3)),
                width(w));
    } else if (is(w, 0x7f800000, 0x12800000)) { /* MOVN */
        address(op, rd, ARCH_NO_REG, ARCH_NO_REG, 1, (int64_t) ~((uint64_t)(w >> 5 & 0xffff) << 16 * (w >> 21 & 3)),
                width(w));
    } else if (is(w, 0x1f800000, 0x12000000)) { /* AND, ORR, EOR, ANDS */
        if (rd == ARCH_NO_REG || (w >> 29 & 3) == 3)
            op->compare = (w >> 29 & 3) == 3 ? COMPARE_UNKNOWN : COMPARE_NONE;
        unsigned opc = w >> 29 & 3;
        bool low_ones = immr == 0 && (w >> 22 & 1 || imms < 32); /* C5.1: a run of ones from bit 0 */
        if ((opc == 0 || opc == 3) && rd != ARCH_NO_REG && low_ones && imms < 62) {
            op->kind = OP_AND;
            op->dst = rd;
            op->base = rn;
            op->disp = (int64_t)((2ull << imms) - 1);
            op->size = (uint8_t)width(w);
        }
    } else if (is(w, 0x7f800000, 0x53000000)) { /* UBFM: LSL, LSR, UXTB, UXTH, UBFX */
        if (imms == bits - 1 && immr > 0) {
            op->kind = OP_SHIFT_R;
            op->dst = rd;
            op->base = rn;
            op->disp = immr;
            op->size = (uint8_t)width(w);
        } else if (imms + 1 == immr && bits - immr <= 6) {
            address(op, rd, ARCH_NO_REG, rn, (uint8_t)(1u << (bits - immr)), 0, width(w));
        } else if (immr == 0 && (imms == 7 || imms == 15 || imms == 31)) {
            address(op, rd, rn, ARCH_NO_REG, 1, 0, (imms + 1) / 8);
        } else if (imms >= immr && imms - immr < 62) { /* some bits of it: a number with a limit */
            op->kind = OP_AND;
            op->dst = rd;
            op->base = rn;
            op->disp = (int64_t)((2ull << (imms - immr)) - 1);
            op->size = (uint8_t)width(w);
        }
    } else if (is(w, 0x7f800000, 0x13000000) && immr == 0 &&
               (imms == 7 || imms == 15 || imms == 31)) { /* SXTB, SXTH, SXTW */
        address(op, rd, rn, ARCH_NO_REG, 1, 0, (imms + 1) / 8);
        op->sign = true;
    }
}

/* UXTB, UXTH, UXTW, UXTX, SXTB ...: how an index register is read */
static void index_option(struct op *op, uint32_t option)
{
    op->index_size = (option & 3) == 3 ? 0 : (uint8_t)(1u << (option & 3));
    op->index_sign = option & 4;
}

/* C4.1.5 "Data Processing -- Register" */
static void lift_register(uint32_t w, struct op *op)
{
    uint8_t rd = reg_or_zero(w), rn = reg_or_zero(w >> 5), rm = reg_or_zero(w >> 16);
    bool subtract = w >> 30 & 1, flags = w >> 29 & 1;
    writes(op, rd);
    if (is(w, 0x7fe0ffe0, 0x2a0003e0)) { /* MOV */
        address(op, rd, rm, ARCH_NO_REG, 1, 0, width(w));
    } else if (is(w, 0x1f200000, 0x0b000000) || is(w, 0x1fe00000, 0x0b200000)) { /* ADD, SUB: shifted, extended */
        bool extended = w >> 21 & 1;
        unsigned shift = extended ? w >> 10 & 7 : w >> 10 & 63;
        if (flags) {
            bool plain = subtract && shift == 0 && (!extended || (w >> 13 & 3) >= 2);
            op->compare = plain ? COMPARE_REG : COMPARE_UNKNOWN;
            op->cmp_reg = rn;
            op->cmp_reg2 = rm;
            op->cmp_size = (uint8_t)width(w);
            if (rn == ARCH_NO_REG || rm == ARCH_NO_REG)
                op->compare = COMPARE_UNKNOWN;
        }
        if (!subtract && !flags && shift <= 6 && (extended || (w >> 22 & 3) == 0)) {
            address(op, extended ? reg_or_sp(w) : rd, extended ? reg_or_sp(w >> 5) : rn, rm, (uint8_t)(1u << shift), 0,
                    width(w));
            if (extended)
                index_option(op, w >> 13 & 7);
        }
    } else if (is(w, 0x7f000000, 0x6a000000) || is(w, 0x1fe00000, 0x1a400000) || is(w, 0x3fe00000, 0x3a000000)) {
        op->compare = COMPARE_UNKNOWN; /* ANDS, BICS; CCMP, CCMN; ADCS, SBCS */
    }
}

/* Base register changed by imm, before or after the access. */
static void write_back(struct op *op, uint32_t w, int64_t imm)
{
    writes(op, reg_or_sp(w >> 5));
    if ((w >> 5 & 31) == 31)
        op->stack = imm;
}

static void lift_single(uint32_t w, struct op *op, bool load, unsigned size)
{
    op->kind = load ? OP_LOAD : OP_STORE;
    op->dst = load ? reg_or_zero(w) : ARCH_NO_REG;
    op->src = load ? ARCH_NO_REG : reg_or_zero(w);
    op->size = (uint8_t)size;
    op->sign = load && (w >> 23 & 1);
    op->base = reg_or_sp(w >> 5);
    if (load)
        writes(op, op->dst);
}

/* C4.1.4 "Loads and Stores" */
static void lift_memory(uint32_t w, vaddr addr, struct op *op)
{
    bool vector = w >> 26 & 1, load = (w >> 22 & 3) != 0;
    unsigned size = 1u << (w >> 30);
    if (is(w, 0x3a000000, 0x28000000)) { /* LDP, STP and their kin */
        unsigned each = vector ? 4u << (w >> 30) : 4u << (w >> 31);
        if ((w >> 22 & 1) && !vector) {
            writes(op, reg_or_zero(w));
            writes(op, reg_or_zero(w >> 10));
        }
        if (w >> 23 & 1)
            write_back(op, w, signed_field(w, 15, 7) * each);
    } else if (is(w, 0x3b000000, 0x18000000)) { /* LDR, LDRSW of a literal */
        if (vector || w >> 30 == 3)
            return;
        lift_single(w, op, true, w >> 30 == 1 ? 8 : 4);
        op->sign = w >> 30 == 2;
        op->base = ARCH_NO_REG;
        op->disp = (int64_t)(addr + (uint64_t)(signed_field(w, 5, 19) * 4));
    } else if (is(w, 0x3b000000, 0x39000000)) {      /* base + number */
        if (vector || (w >> 30 == 3 && w >> 23 & 1)) /* PRFM */
            return;
        lift_single(w, op, load, size);
        op->disp = (int64_t)(w >> 10 & 0xfff) * size;
    } else if (is(w, 0x3b200c00, 0x38200800)) { /* base + register */
        if (vector || (w >> 30 == 3 && w >> 23 & 1))
            return;
        lift_single(w, op, load, size);
        op->index = reg_or_zero(w >> 16);
        op->scale = (uint8_t)(w >> 12 & 1 ? size : 1);
        index_option(op, w >> 13 & 7);
    } else if (is(w, 0x3b200000, 0x38000000)) { /* base + small number; written back or not */
        unsigned mode = w >> 10 & 3;
        int64_t imm = signed_field(w, 12, 9);
        if (mode & 1)
            write_back(op, w, imm);
        if (vector || (w >> 30 == 3 && w >> 23 & 1))
            return;
        if (mode & 1) {
            if (load)
                writes(op, reg_or_zero(w));
            return;
        }
        lift_single(w, op, load, size);
        op->disp = imm;
    } else { /* atomics, exclusives, structures of vectors: all registers named may change */
        writes(op, reg_or_zero(w));
        writes(op, reg_or_zero(w >> 5));
        writes(op, reg_or_zero(w >> 10));
        writes(op, reg_or_zero(w >> 16));
        if (is(w, 0xbfa00000, 0x08200000)) /* CASP */
            writes(op, reg_or_zero(w >> 16 | 1));
    }
}

static void take_stack(struct op *op)
{
    if (!(op->clobbers >> 31) || op->stack != 0)
        return;
    op->stack_lost = true;
    if (op->kind == OP_ADDRESS && op->dst == 31 && op->index == ARCH_NO_REG && (op->base == 31 || op->base == 29)) {
        op->stack = op->disp;
        op->stack_lost = op->from_frame = op->base == 29;
    }
}

static void lift(const uint8_t *p, size_t n, vaddr addr, struct op *op)
{
    *op = (struct op){.dst = ARCH_NO_REG, .src = ARCH_NO_REG, .base = ARCH_NO_REG, .index = ARCH_NO_REG, .scale = 1};
    if (n < 4)
        return;
    uint32_t w = arch_word(p);
    switch (w >> 25 & 15) { /* C4.1, table C4-1 */
    case 8:
    case 9:
        lift_immediate(w, addr, op);
        break;
    case 10:
    case 11:
        if (is(w, 0xfe1f0000, 0xd61f0000) && kind_of_branch_register(w) == INSN_JUMP_INDIRECT) {
            op->kind = OP_JUMP;
            op->base = reg_or_zero(w >> 5);
        } else if (is(w, 0xfff00000, 0xd5300000)) { /* MRS */
            writes(op, reg_or_zero(w));
        }
        break;
    case 4:
    case 6:
    case 12:
    case 14:
        lift_memory(w, addr, op);
        break;
    case 5:
    case 13:
        lift_register(w, op);
        break;
    case 7:
    case 15: /* vectors: some move to a general register, some compare */
        writes(op, reg_or_zero(w));
        if (is(w, 0xff20fc07, 0x1e202000) || is(w, 0xff200c00, 0x1e200400))
            op->compare = COMPARE_UNKNOWN; /* FCMP, FCCMP */
        break;
    default:
        op->clobbers = UINT32_MAX; /* the stack pointer too */
        op->compare = COMPARE_UNKNOWN;
    }
    take_stack(op);
}

static enum branch_test test(const uint8_t *p, size_t n)
{
    static const enum branch_test tests[16] = {
        [0] = TEST_EQUAL, [1] = TEST_NOT_EQUAL,   [2] = TEST_ABOVE_EQUAL,     [3] = TEST_BELOW,
        [8] = TEST_ABOVE, [9] = TEST_BELOW_EQUAL, [12] = TEST_GREATER_SIGNED, [13] = TEST_LESS_EQUAL_SIGNED};
    if (n < 4 || p[3] != 0x54)
        return TEST_OTHER;
    return tests[p[0] & 15];
}

/* The add that completes the address an adrp at p begins: compilers put other instructions in between. */
static bool add_behind(const uint8_t *p, size_t n, vaddr addr, uint8_t base, struct op *add)
{
    enum { FURTHEST = 8 };
    for (size_t at = 4; at + 4 <= n && at <= 4 * FURTHEST; at += 4) {
        if ((p[at + 3] & 0x7c) == 0x14) /* b, bl */
            return false;
        lift(p + at, 4, addr + at, add);
        if (add->kind == OP_ADDRESS && add->base == base && add->index == ARCH_NO_REG)
            return true;
        if (base == ARCH_NO_REG || add->clobbers >> base & 1)
            return false;
    }
    return false;
}

/* ADR, or ADRP and its ADD */
static bool constant(const uint8_t *p, size_t n, vaddr addr, uint8_t *reg, vaddr *value)
{
    struct op op, next;
    if (n < 4 || (p[3] & 0x1f) != 0x10)
        return false;
    lift(p, n, addr, &op);
    *reg = op.dst;
    *value = (vaddr)op.disp;
    if (p[3] & 0x80) {
        if (!add_behind(p, n, addr, op.dst, &next))
            return false;
        *reg = next.dst;
        *value += (vaddr)next.disp;
    }
    return *reg != ARCH_NO_REG;
}

/* ---- the row ------------------------------------------------------------------------------------ */

/* x0 - x18, x30: Procedure Call Standard for the Arm 64-bit Architecture, 6.1.1. A frame record does not say how high
 * the frame is. */
static const struct arch_detail detail = {.call_clobbers = 0x4007ffff,
                                          .stack_pointer = 31,
                                          .frame_pointer = 29,
                                          .frame_height = 0,
                                          .lift = lift,
                                          .constant = constant,
                                          .test = test};

static const struct arch aarch64 = {
    .kind = ARCH_AARCH64, .min_length = 4, .decode = decode, .facts = aarch64_facts, .detail = &detail};

const struct arch *arch_aarch64(void)
{
    return &aarch64;
}
