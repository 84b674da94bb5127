/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * x86-64.  Zydis decides what an instruction is; this file sees to it that Zydis is asked once for each
 * form of instruction instead of once for each instruction.
 *
 * Length and kind of nearly all instructions follow from a few bits:
 *
 *     opcode map | 66, F3, F2 or none | REX.W | opcode | ModRM.reg | ModRM.mod == 3
 *
 * plus ModRM, SIB and displacement, whose length the manual gives in one small table (Intel SDM volume 2, 2.1.5,
 * table 2-2; 2.2.1 for REX).  So the answer to each such form is remembered in a table of 128 KiB, of which a
 * binary touches a few hundred places.  Where more bits matter (`needs_zydis`), Zydis is asked every time.  arch_test.c
 * checks the two ways against each other.  Bare Zydis takes about 75 ns for an instruction, this about 5.
 */
#include "bloop/arch/x86_64.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static ZydisDecoder decoder;

/* ---- what Zydis says ---------------------------------------------------------------- */

static enum insn_kind kind_of_jump(const ZydisDecodedInstruction *z)
{
    return z->raw.imm[0].is_relative ? INSN_JUMP : INSN_JUMP_INDIRECT;
}

static enum insn_kind kind_of(const ZydisDecodedInstruction *z)
{
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
        return kind_of_jump(z);
    case ZYDIS_MNEMONIC_CALL:
        return z->raw.imm[0].is_relative ? INSN_CALL : INSN_CALL_INDIRECT;
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
    case ZYDIS_MNEMONIC_UIRET:
        return INSN_RETURN;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
        return INSN_STOP;
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_INT3:
        return INSN_PADDING;
    case ZYDIS_MNEMONIC_XBEGIN: /* its target is where an aborted transaction goes on: the code falls through */
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XABORT:
        return INSN_PLAIN;
    default:
        return z->meta.category == ZYDIS_CATEGORY_COND_BR ? INSN_BRANCH : INSN_PLAIN;
    }
}

/* ---- layout of an instruction ---------------------------------------------------------- */

enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_OTHER };
enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 };

struct layout {
    unsigned prefix; /* the one that selects among instructions: PREFIX_* */
    unsigned map, opcode_at, opcode;
    bool odd; /* prefixes in an order or mixture that is left to Zydis */
    bool rex_w, rex_b;
};

/* Bit set: this opcode has a ModRM byte. Rows of 32 opcodes, Intel SDM volume 2, appendix A, table A-2. */
static const uint32_t has_modrm_one[8] = {0x0f0f0f0f, 0x0f0f0f0f, 0x00000000, 0x00000a08,
                                          0x0000ffff, 0x00000000, 0xff0f00c3, 0xc0c00000};

static bool has_modrm(unsigned map, unsigned opcode)
{
    if (map == MAP_ONE)
        return has_modrm_one[opcode >> 5] >> (opcode & 31) & 1;
    if (map != MAP_0F)
        return true;
    switch (opcode >> 3) {
    case 0x00:
        return opcode <= 0x03; /* 04 invalid, 05 syscall, 06 clts, 07 sysret */
    case 0x01:
        return opcode == 0x0d; /* prefetchw */
    case 0x06:                 /* wrmsr ... getsec */
    case 0x10:                 /* jcc */
    case 0x11:
    case 0x19: /* bswap */
        return false;
    case 0x0e:
        return opcode != 0x77; /* emms */
    case 0x14:
        return opcode > 0xa2; /* push fs, pop fs, cpuid */
    case 0x15:
        return opcode > 0xaa; /* push gs, pop gs, rsm */
    default:
        return true;
    }
}

/* Forms whose length or kind depends on more than the key, or of which only Zydis knows whether they exist. */
static bool needs_zydis(unsigned map, unsigned opcode, const struct layout *l)
{
    if (map == MAP_OTHER || l->odd)
        return true;
    if (map == MAP_ONE)
        return opcode == 0x62 || opcode == 0xc4 || opcode == 0xc5 || opcode == 0x8f /* EVEX, VEX, XOP */ ||
               opcode == 0x90 /* nop, pause or xchg */ || opcode == 0x8c || opcode == 0x8e ||
               (opcode >= 0xd8 && opcode <= 0xdf) /* x87 */ || opcode == 0xc6 || opcode == 0xc7 /* xabort, xbegin */;
    if (map == MAP_0F)
        return opcode <= 0x01 || opcode == 0x0f || opcode == 0x1a || opcode == 0x1b || opcode == 0x1e ||
               (opcode >= 0x20 && opcode <= 0x27) || opcode == 0xa6 || opcode == 0xa7 || opcode == 0xae ||
               opcode == 0xc7;
    return opcode >= 0xc8; /* SHA, AES and key locker, CET, MOVDIR: few, and with conditions of their own */
}

static bool is_prefix(uint8_t b)
{
    return (b & 0xf0) == 0x40 || b == 0x66 || b == 0x67 || (b & 0xfc) == 0x64 || (b & 0xe7) == 0x26 || b == 0xf0 ||
           b == 0xf2 || b == 0xf3;
}

static struct layout layout_of(const uint8_t *p, size_t n)
{
    struct layout l = {0};
    size_t i = 0;
    bool rep = false, data16 = false;
    for (;; i++) {
        if (i >= n || i >= 14) {
            l.odd = true;
            return l;
        }
        uint8_t b = p[i];
        if ((b & 0xf0) == 0x40) { /* REX stands right before the opcode */
            l.rex_w = b & 8;
            l.rex_b = b & 1;
            i++;
            break;
        }
        if (b == 0x66)
            data16 = true;
        else if (b == 0xf2 || b == 0xf3) {
            l.odd |= rep;
            rep = true;
            l.prefix = b == 0xf2 ? PREFIX_F2 : PREFIX_F3;
        } else if (b == 0xf0 || b == 0x67)
            l.odd = true;
        else if (b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 && b != 0x64 && b != 0x65)
            break;
    }
    if (i > 0 && i < n && (p[i - 1] & 0xf0) == 0x40 && is_prefix(p[i])) /* then it counts for nothing */
        l.odd = true;
    if (data16) {
        l.odd |= rep;
        l.prefix = PREFIX_66;
    }
    if (i < n && p[i] == 0x0f) {
        i++;
        l.map = MAP_0F;
        if (i < n && (p[i] == 0x38 || p[i] == 0x3a)) {
            l.map = p[i] == 0x38 ? MAP_0F38 : MAP_0F3A;
            i++;
        }
    }
    if (i >= n) {
        l.odd = true;
        return l;
    }
    l.opcode_at = (unsigned)i;
    l.opcode = p[i];
    return l;
}

/* ModRM at p with SIB and displacement; 0: does not fit. */
static size_t modrm_length(const uint8_t *p, size_t n)
{
    if (n == 0)
        return 0;
    unsigned mod = p[0] >> 6, rm = p[0] & 7;
    size_t len = 1;
    if (mod == 3)
        return len;
    bool disp32 = mod == 2 || (mod == 0 && rm == 5);
    if (rm == 4) {
        if (n < 2)
            return 0;
        len++;
        disp32 |= mod == 0 && (p[1] & 7) == 5;
    }
    len += mod == 1 ? 1 : disp32 ? 4 : 0;
    return len <= n ? len : 0;
}

/* ---- undecodable bytes -------------------------------------------------------------------- */

/* An instruction newer than the decoder: the length of vector encodings does not depend on their meaning. `opcode`
   and the bytes that follow at p, n > 0; imm8 as in the maps they extend. 0: does not fit. */
static size_t vector_tail(const uint8_t *p, size_t n, unsigned map)
{
    unsigned op = p[0];
    size_t len = 1;
    if (!(map == 1 && op == 0x77)) {
        size_t modrm = modrm_length(p + 1, n - 1);
        if (modrm == 0)
            return 0;
        len += modrm;
    }
    bool imm8 =
        map == 3 || map == 8 || (map == 1 && ((op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6)));
    len += imm8 ? 1 : map == 10 ? 4 : 0;
    return len <= n ? len : 0;
}

/* Best guess of the start of the next instruction; 1 if there is none. */
static uint8_t length_of_unknown(const uint8_t *p, size_t n)
{
    size_t prefix = 0, tail = 0;
    if (n >= 3 && p[0] == 0xc5) {
        prefix = 2;
        tail = vector_tail(p + 2, n - 2, 1);
    } else if (n >= 4 && p[0] == 0xc4) {
        prefix = 3;
        unsigned map = p[1] & 0x1f;
        tail = map >= 1 && map <= 7 ? vector_tail(p + 3, n - 3, map) : 0;
    } else if (n >= 5 && p[0] == 0x62) {
        prefix = 4;
        unsigned map = p[1] & 7;
        tail = map >= 1 ? vector_tail(p + 4, n - 4, map) : 0;
    } else if (n >= 4 && p[0] == 0x8f && (p[1] & 0x1f) >= 8 && (p[1] & 0x1f) <= 10) {
        prefix = 3;
        tail = vector_tail(p + 3, n - 3, p[1] & 0x1f);
    }
    size_t len = prefix + tail;
    return tail != 0 && len <= 15 ? (uint8_t)len : 1;
}

/* ---- decode -------------------------------------------------------------------------------- */

static bool zydis(const uint8_t *p, size_t n, ZydisDecodedInstruction *z)
{
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, p, n, z));
}

static void decode_by_zydis(const uint8_t *p, size_t n, vaddr addr, struct insn *in)
{
    ZydisDecodedInstruction z;
    if (!zydis(p, n, &z)) {
        in->kind = INSN_BAD;
        in->length = length_of_unknown(p, n);
        return;
    }
    in->kind = (uint8_t)kind_of(&z);
    in->length = z.length;
    if (in->kind == INSN_BRANCH || in->kind == INSN_JUMP || in->kind == INSN_CALL)
        in->target = addr + z.length + (uint64_t)z.raw.imm[0].value.s;
}

/* One byte for each form: 0 not asked yet; FORM_ASK: Zydis each time; else kind << 4 | (length of immediate + 1). */
static _Atomic uint8_t forms[4][4][2][256][16];
#define FORM_ASK 0xff

/* Zydis's decoding of this form, given the length without the immediate. */
static uint8_t learn_form(const uint8_t *p, size_t n, size_t without_imm)
{
    ZydisDecodedInstruction z;
    if (!zydis(p, n, &z) || z.length < without_imm || z.length - without_imm > 8)
        return FORM_ASK;
    size_t imm = z.length - without_imm;
    enum insn_kind kind = kind_of(&z);
    assert((kind != INSN_BRANCH && kind != INSN_JUMP && kind != INSN_CALL) || imm == 1 ||
           imm == 4); /* in 64-bit mode */
    return (uint8_t)(kind << 4 | (imm + 1));
}

static vaddr relative_target(const uint8_t *end, size_t imm, vaddr next)
{
    if (imm == 1)
        return next + (uint64_t)(int64_t)(int8_t)end[-1];
    int32_t v;
    memcpy(&v, end - 4, 4);
    return next + (uint64_t)(int64_t)v;
}

static void decode(const uint8_t *p, size_t n, vaddr addr, struct insn *in)
{
    in->addr = addr;
    in->target = 0;
    struct layout l = layout_of(p, n);
    if (needs_zydis(l.map, l.opcode, &l)) {
        decode_by_zydis(p, n, addr, in);
        return;
    }
    size_t len = l.opcode_at + 1;
    unsigned reg_mod = 0;
    if (has_modrm(l.map, l.opcode)) {
        size_t modrm = modrm_length(p + len, n - len);
        if (modrm == 0) {
            decode_by_zydis(p, n, addr, in);
            return;
        }
        reg_mod = (p[len] >> 3 & 7) | (p[len] >= 0xc0 ? 8 : 0);
        len += modrm;
    }
    _Atomic uint8_t *slot = &forms[l.map][l.prefix][l.rex_w][l.opcode][reg_mod];
    uint8_t form = atomic_load_explicit(slot, memory_order_relaxed);
    if (form == 0) { /* all threads learn the same, so no lock is needed */
        form = learn_form(p, n, len);
        if (form != FORM_ASK || n >= 15) /* cut short bytes teach nothing */
            atomic_store_explicit(slot, form, memory_order_relaxed);
    }
    size_t imm = (form & 15) - 1u;
    len += imm;
    if (form == FORM_ASK || len > n || len > 15) {
        decode_by_zydis(p, n, addr, in);
        return;
    }
    in->kind = form >> 4;
    in->length = (uint8_t)len;
    if (in->kind == INSN_BRANCH || in->kind == INSN_JUMP || in->kind == INSN_CALL)
        in->target = relative_target(p + len, imm, addr + len);
}

/* ---- lift ------------------------------------------------------------------------------------ */

static uint8_t gpr(ZydisRegister r)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return ARCH_NO_REG;
    return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

static bool high_byte(ZydisRegister r)
{
    return r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH;
}

static bool is_reg(const ZydisDecodedOperand *o)
{
    return o->type == ZYDIS_OPERAND_TYPE_REGISTER && !high_byte(o->reg.value) && gpr(o->reg.value) != ARCH_NO_REG;
}

static bool same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
    return is_reg(a) && is_reg(b) && a->reg.value == b->reg.value;
}

static bool is_imm(const ZydisDecodedOperand *o)
{
    return o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool is_mem(const ZydisDecodedOperand *o)
{
    return o->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

/* Base, index, scale and displacement into op; false: an address we do not model (segments, gather, 32-bit). */
static bool take_address(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, vaddr addr, struct op *op)
{
    if (z->address_width != 64 || o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS)
        return false;
    op->disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
    op->base = op->index = ARCH_NO_REG;
    op->scale = 1;
    if (o->mem.base == ZYDIS_REGISTER_RIP)
        op->disp = (int64_t)(addr + z->length + (uint64_t)op->disp);
    else if (o->mem.base != ZYDIS_REGISTER_NONE)
        op->base = gpr(o->mem.base);
    if (o->mem.index != ZYDIS_REGISTER_NONE) {
        if ((op->index = gpr(o->mem.index)) == ARCH_NO_REG)
            return false;
        op->scale = o->mem.scale;
    }
    return true;
}

static void set_address(struct op *op, uint8_t dst, uint8_t base, uint8_t index, uint8_t scale, int64_t disp,
                        unsigned bits)
{
    op->kind = OP_ADDRESS;
    op->dst = dst;
    op->base = base;
    op->index = index;
    op->scale = scale;
    op->disp = disp;
    op->size = (uint8_t)(bits / 8);
    op->sign = false;
}

static void lift_move(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, vaddr addr, struct op *op)
{
    unsigned bits = o[1].size;
    bool extends = z->mnemonic == ZYDIS_MNEMONIC_MOVZX || z->mnemonic == ZYDIS_MNEMONIC_MOVSX ||
                   z->mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    bool sign = extends && z->mnemonic != ZYDIS_MNEMONIC_MOVZX;
    if (is_mem(&o[0])) {
        if (is_reg(&o[1]) && take_address(z, &o[0], addr, op)) {
            op->kind = OP_STORE;
            op->src = gpr(o[1].reg.value);
            op->size = (uint8_t)(o[0].size / 8);
        }
        return;
    }
    if (!is_reg(&o[0]) || o[0].size < 32) /* a narrow move keeps the upper bits: not modelled */
        return;
    uint8_t dst = gpr(o[0].reg.value);
    if (is_imm(&o[1]))
        set_address(op, dst, ARCH_NO_REG, ARCH_NO_REG, 1, o[1].imm.value.s, o[0].size);
    else if (is_reg(&o[1]))
        set_address(op, dst, gpr(o[1].reg.value), ARCH_NO_REG, 1, 0, bits);
    else if (is_mem(&o[1]) && take_address(z, &o[1], addr, op)) {
        op->kind = OP_LOAD;
        op->dst = dst;
        op->size = (uint8_t)(bits / 8);
    } else
        return;
    op->sign = sign;
}

/* add, sub: dst = dst +- (register or constant) */
static void lift_add(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct op *op)
{
    if (!is_reg(&o[0]) || o[0].size < 32)
        return;
    uint8_t dst = gpr(o[0].reg.value);
    bool subtract = z->mnemonic == ZYDIS_MNEMONIC_SUB;
    if (is_imm(&o[1])) {
        int64_t v = o[0].size == 32 ? (int32_t)o[1].imm.value.u : o[1].imm.value.s; /* Zydis shows some as unsigned */
        set_address(op, dst, dst, ARCH_NO_REG, 1, subtract ? -v : v, o[0].size);
    } else if (is_reg(&o[1]) && !subtract)
        set_address(op, dst, dst, gpr(o[1].reg.value), 1, 0, o[0].size);
}

static void lift_compare(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, vaddr addr, struct op *op)
{
    op->compare = COMPARE_UNKNOWN;
    op->cmp_size = (uint8_t)(o[0].size / 8);
    if (is_reg(&o[0]) && is_imm(&o[1])) {
        op->compare = COMPARE_CONST;
        op->cmp_reg = gpr(o[0].reg.value);
        op->cmp_const = o[1].imm.value.s;
    } else if (is_reg(&o[0]) && is_reg(&o[1])) {
        op->compare = COMPARE_REG;
        op->cmp_reg = gpr(o[0].reg.value);
        op->cmp_reg2 = gpr(o[1].reg.value);
    } else if (z->mnemonic == ZYDIS_MNEMONIC_CMP && is_mem(&o[0]) && is_imm(&o[1]) &&
               take_address(z, &o[0], addr, op)) {
        op->compare = COMPARE_MEM_CONST;
        op->size = (uint8_t)(o[0].size / 8);
        op->cmp_const = o[1].imm.value.s;
    }
}

static void lift_jump(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, vaddr addr, struct op *op)
{
    if (is_reg(&o[0])) {
        op->kind = OP_JUMP;
        op->base = gpr(o[0].reg.value);
    } else if (is_mem(&o[0]) && take_address(z, &o[0], addr, op)) {
        op->kind = OP_JUMP_LOAD;
        op->size = (uint8_t)(o[0].size / 8);
    }
}

static void lift_by_mnemonic(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, vaddr addr, struct op *op)
{
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        lift_move(z, o, addr, op);
        break;
    case ZYDIS_MNEMONIC_CDQE:
        set_address(op, 0, 0, ARCH_NO_REG, 1, 0, 32);
        op->sign = true;
        break;
    case ZYDIS_MNEMONIC_LEA:
        if (is_reg(&o[0]) && o[0].size >= 32 && take_address(z, &o[1], addr, op)) {
            op->kind = OP_ADDRESS;
            op->dst = gpr(o[0].reg.value);
            op->size = (uint8_t)(o[0].size / 8);
        }
        break;
    case ZYDIS_MNEMONIC_SUB:
        lift_compare(z, o, addr, op);
        lift_add(z, o, op);
        break;
    case ZYDIS_MNEMONIC_ADD:
        lift_add(z, o, op);
        break;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        if (is_reg(&o[0]) && o[0].size >= 32)
            set_address(op, gpr(o[0].reg.value), gpr(o[0].reg.value), ARCH_NO_REG, 1,
                        z->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1, o[0].size);
        break;
    case ZYDIS_MNEMONIC_CMP:
        lift_compare(z, o, addr, op);
        break;
    case ZYDIS_MNEMONIC_XOR:
        if (same_register(&o[0], &o[1]) && o[0].size >= 32)
            set_address(op, gpr(o[0].reg.value), ARCH_NO_REG, ARCH_NO_REG, 1, 0, 64);
        break;
    case ZYDIS_MNEMONIC_SHL:
        if (is_reg(&o[0]) && o[0].size >= 32 && is_imm(&o[1]) && o[1].imm.value.u <= 6)
            set_address(op, gpr(o[0].reg.value), ARCH_NO_REG, gpr(o[0].reg.value), (uint8_t)(1u << o[1].imm.value.u), 0,
                        o[0].size);
        break;
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_SHR:
        if (is_reg(&o[0]) && is_imm(&o[1]) && o[0].size >= 32) {
            op->kind = z->mnemonic == ZYDIS_MNEMONIC_AND ? OP_AND : OP_SHIFT_R;
            op->dst = op->base = gpr(o[0].reg.value);
            op->disp = o[1].imm.value.s;
            op->size = (uint8_t)(o[0].size / 8);
        }
        break;
    case ZYDIS_MNEMONIC_JMP:
        lift_jump(z, o, addr, op);
        break;
    default:
        break;
    }
}

/* Registers, flags and memory that the operands, hidden ones too, say are written. */
static void take_effects(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct op *op)
{
    for (unsigned i = 0; i < z->operand_count; i++) {
        if (!(o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
            uint8_t r = gpr(o[i].reg.value);
            if (r != ARCH_NO_REG)
                op->clobbers |= 1u << r;
        }
    }
    if (z->cpu_flags && (z->cpu_flags->modified | z->cpu_flags->set_0 | z->cpu_flags->set_1 | z->cpu_flags->undefined))
        op->compare = COMPARE_UNKNOWN;
}

static void take_stack(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct op *op)
{
    if (!(op->clobbers >> 4 & 1))
        return;
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHFQ:
        op->stack = -8;
        return;
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_POPFQ:
        op->stack = 8;
        op->stack_lost = z->mnemonic == ZYDIS_MNEMONIC_POP && is_reg(&o[0]) && gpr(o[0].reg.value) == 4;
        return;
    case ZYDIS_MNEMONIC_CALL:
    case ZYDIS_MNEMONIC_RET:
        return;
    case ZYDIS_MNEMONIC_LEAVE: /* mov %rbp,%rsp; pop %rbp */
        op->stack_lost = op->from_frame = true;
        op->stack = 8;
        return;
    default:
        op->stack_lost = true;
        if (op->kind == OP_ADDRESS && op->dst == 4 && op->index == ARCH_NO_REG && (op->base == 4 || op->base == 5)) {
            op->stack = op->disp;
            op->stack_lost = op->from_frame = op->base == 5;
        }
    }
}

/* lea x(%rip),%reg; mov $x,%reg with 32 bits, as code at fixed addresses has it */
static bool constant(const uint8_t *p, size_t n, vaddr addr, uint8_t *reg, vaddr *value)
{
    int32_t v;
    if (n >= 7 && (p[0] == 0x48 || p[0] == 0x4c) && p[1] == 0x8d && (p[2] & 0xc7) == 5) {
        memcpy(&v, p + 3, 4);
        *reg = (uint8_t)((p[2] >> 3 & 7) | (p[0] == 0x4c ? 8 : 0));
        *value = addr + 7 + (uint64_t)(int64_t)v;
        return true;
    }
    bool rex = n >= 6 && p[0] == 0x41;
    if (n >= 5u + rex && (p[rex] & 0xf8) == 0xb8) {
        memcpy(&v, p + rex + 1, 4);
        *reg = (uint8_t)((p[rex] & 7) | (rex ? 8 : 0));
        *value = (uint32_t)v;
        return *value >= 0x10000; /* an address, not a number */
    }
    return false;
}

static void lift(const uint8_t *p, size_t n, vaddr addr, struct op *op)
{
    *op = (struct op){.dst = ARCH_NO_REG, .src = ARCH_NO_REG, .base = ARCH_NO_REG, .index = ARCH_NO_REG, .scale = 1};
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, p, n, &z, operands))) {
        op->clobbers = UINT32_MAX; /* unknown */
        op->compare = COMPARE_UNKNOWN;
        op->stack_lost = true;
        return;
    }
    take_effects(&z, operands, op);
    lift_by_mnemonic(&z, operands, addr, op);
    take_stack(&z, operands, op);
}

static enum branch_test test(const uint8_t *p, size_t n)
{
    ZydisDecodedInstruction z;
    if (!zydis(p, n, &z))
        return TEST_OTHER;
    switch (z.mnemonic) {
    case ZYDIS_MNEMONIC_JNBE:
        return TEST_ABOVE;
    case ZYDIS_MNEMONIC_JNB:
        return TEST_ABOVE_EQUAL;
    case ZYDIS_MNEMONIC_JB:
        return TEST_BELOW;
    case ZYDIS_MNEMONIC_JBE:
        return TEST_BELOW_EQUAL;
    case ZYDIS_MNEMONIC_JZ:
        return TEST_EQUAL;
    case ZYDIS_MNEMONIC_JNZ:
        return TEST_NOT_EQUAL;
    case ZYDIS_MNEMONIC_JNLE:
        return TEST_GREATER_SIGNED;
    case ZYDIS_MNEMONIC_JLE:
        return TEST_LESS_EQUAL_SIGNED;
    default:
        return TEST_OTHER;
    }
}

/* ---- the row --------------------------------------------------------------------------------- */

/* rax, rcx, rdx, rsi, rdi, r8 - r11: System V psABI for x86-64, figure 3.4 */
static const struct arch_detail detail = {.call_clobbers = 0x0fc7,
                                          .stack_pointer = 4,
                                          .frame_pointer = 5,
                                          .frame_height = 8,
                                          .lift = lift,
                                          .constant = constant,
                                          .test = test};

static const struct arch x86_64 = {
    .kind = ARCH_X86_64, .min_length = 1, .decode = decode, .facts = x86_64_facts, .detail = &detail};

static void init(void)
{
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

const ZydisDecoder *x86_64_decoder(void)
{
    arch_x86_64();
    return &decoder;
}

const struct arch *arch_x86_64(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init);
    return &x86_64;
}

const struct arch *arch_get(enum arch_kind kind)
{
    switch (kind) {
    case ARCH_X86_64:
        return arch_x86_64();
    case ARCH_AARCH64:
        return arch_aarch64();
    }
    return NULL;
}
