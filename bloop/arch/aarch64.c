/*
 * AArch64.  Every instruction has four bytes, and what control flow needs to know stands in a few fixed fields:
 * Arm Architecture Reference Manual (DDI 0487), C4.1 "A64 instruction set encoding".
 */
#include "bloop/arch/arch.h"

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
    uint32_t w = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
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

static const struct arch aarch64 = {.kind = ARCH_AARCH64, .min_length = 4, .decode = decode, .detail = NULL};

const struct arch *arch_aarch64(void)
{
    return &aarch64;
}
