/* SPDX-License-Identifier: BSD-3-Clause */
/* Widths of memory accesses: x86-64 through Zydis; AArch64's few wide forms from their fixed encodings. */
#include "config.h"
#include "mhsim/instrument/decode.h"

#include <Zydis/Zydis.h>
#include <string.h>

static bool is_stack_register(ZydisRegister r)
{
    return r == ZYDIS_REGISTER_RSP || r == ZYDIS_REGISTER_ESP;
}

/* A call through a table reads there, and writes on the stack. */
bool decode_x86_64(const uint8_t *code, size_t n, struct decoded *d)
{
    ZydisOperandActions on_stack = 0, elsewhere = 0;
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    memset(d, 0, sizeof *d);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, n, &insn, operands)))
        return false;
    for (unsigned i = 0; i < insn.operand_count; i++) {
        const ZydisDecodedOperand *o = &operands[i];
        if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
            continue;
        d->memory = true;
        *(is_stack_register(o->mem.base) ? &on_stack : &elsewhere) |= o->actions;
        if (o->size > 64 && o->mem.type != ZYDIS_MEMOP_TYPE_VSIB)
            d->bytes = (uint16_t)(o->size / 8);
    }
    d->stack_read = on_stack & ZYDIS_OPERAND_ACTION_MASK_READ && !(elsewhere & ZYDIS_OPERAND_ACTION_MASK_READ);
    d->stack_written = on_stack & ZYDIS_OPERAND_ACTION_MASK_WRITE && !(elsewhere & ZYDIS_OPERAND_ACTION_MASK_WRITE);
    return true;
}

/* A load from the program counter on: it has no base register. */
static bool is_literal(uint32_t w)
{
    return (w & 0x3b000000) == 0x18000000;
}

/* Loads and stores of the A64 encodings (Arm ARM, C4.1): bits 27 and 25 are 1 and 0. Pieces are of 8 bytes. */
static uint16_t aarch64_bytes(uint32_t w)
{
    unsigned size = w >> 30;
    bool vector = w >> 26 & 1;
    if ((w & 0x3a000000) == 0x28000000) /* pairs: 32 or 64 bits; of vector registers 32, 64, 128 */
        return (uint16_t)(vector ? 8u << size : size >> 1 ? 16 : 8);
    if (is_literal(w))
        return (uint16_t)(vector ? 4u << size : 8);
    if ((w & 0x3a000000) == 0x38000000) /* one register */
        return (uint16_t)(vector && size == 0 && (w >> 23 & 1) ? 16 : 8);
    if ((w & 0x3fa00000) == 0x08200000) /* exclusive pairs, and compare-and-swap */
        return size & 1 ? 16 : 8;
    if ((w & 0xbfbf0000) == 0x0c000000 ||
        (w & 0xbfa00000) == 0x0c800000) { /* multiple structures: all of 1 to 4 registers */
        static const uint8_t registers[16] = {4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2};
        return (uint16_t)(registers[w >> 12 & 15] * (w >> 30 & 1 ? 16 : 8));
    }
    return 0;
}

/* SVE's contiguous loads and stores run without a report in the interface's versions known. */
static bool is_sve_memory(uint32_t w)
{
    return (w & 0x1e000000) == 0x04000000 && (w >> 31 & 1) && (w >> 29 & 3) != 0;
}

bool decode_aarch64(const uint8_t *code, size_t n, struct decoded *d)
{
    uint32_t w;
    memset(d, 0, sizeof *d);
    if (n < 4)
        return false;
    memcpy(&w, code, 4);
    bool plain = (w & 0x0a000000) == 0x08000000;
    d->unreported = is_sve_memory(w);
    d->memory = plain || d->unreported;
    uint16_t bytes = plain ? aarch64_bytes(w) : 0;
    d->bytes = bytes > 8 ? bytes : 0;
    d->stack_read = d->stack_written = plain && !is_literal(w) && (w >> 5 & 31) == 31;
    return true;
}
