/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Disassembly. x86-64 by Zydis, the destination first as in the manuals; AArch64 by capstone, if it is installed. Without it
 * an instruction is shown as its bits and its kind, which is enough to recognize loops and their loads.
 */
#include "bloop/arch/facts.h"

#include <stdio.h>

#ifdef HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif
#include <Zydis/Zydis.h>

struct arch_writer {
    enum arch_kind kind;
    ZydisDecoder decoder;
    ZydisFormatter formatter;
#ifdef HAVE_CAPSTONE
    csh capstone;
    bool has_capstone;
#endif
};

struct arch_writer *arch_writer_create(enum arch_kind kind)
{
    struct arch_writer *w = mem_calloc(1, sizeof *w);
    w->kind = kind;
    ZydisDecoderInit(&w->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&w->formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterSetProperty(&w->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    ZydisFormatterSetProperty(&w->formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&w->formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&w->formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
#ifdef HAVE_CAPSTONE
    w->has_capstone = kind == ARCH_AARCH64 && cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &w->capstone) == CS_ERR_OK;
#endif
    return w;
}

void arch_writer_free(struct arch_writer *w)
{
    if (!w)
        return;
#ifdef HAVE_CAPSTONE
    if (w->has_capstone)
        cs_close(&w->capstone);
#endif
    mem_free(w);
}

static bool write_x86_64(const struct arch_writer *w, const uint8_t *p, size_t n, vaddr addr, char *out, size_t size)
{
    ZydisDecodedInstruction z;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&w->decoder, p, n, &z, o)) &&
           ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&w->formatter, &z, o, z.operand_count_visible, out, size, addr,
                                                        ZYAN_NULL));
}

#ifdef HAVE_CAPSTONE
static bool write_aarch64(const struct arch_writer *w, const uint8_t *p, size_t n, vaddr addr, char *out, size_t size)
{
    cs_insn *one = NULL;
    size_t count = w->has_capstone && n >= 4 ? cs_disasm(w->capstone, p, 4, addr, 1, &one) : 0;
    if (count)
        snprintf(out, size, "%s%s%s", one->mnemonic, *one->op_str ? " " : "", one->op_str);
    cs_free(one, count);
    return count > 0;
}
#endif

/* Its bits, and its kind if known. */
static void write_bits(const struct arch_writer *w, const uint8_t *p, size_t n, vaddr addr, char *out, size_t size)
{
    struct insn_facts f;
    bool known = arch_get(w->kind)->facts(p, n, addr, &f);
    if (w->kind == ARCH_AARCH64 && n >= 4)
        snprintf(out, size, ".inst 0x%02x%02x%02x%02x%s%s", p[3], p[2], p[1], p[0], known ? " " : "",
                 known ? insn_class_name(f.class) : "");
    else
        snprintf(out, size, ".byte 0x%02x", p[0]);
}

void arch_write(const struct arch_writer *w, const uint8_t *p, size_t n, vaddr addr, char *out, size_t size)
{
    bool done = false;
    out[0] = '\0';
    if (w->kind == ARCH_X86_64)
        done = write_x86_64(w, p, n, addr, out, size);
#ifdef HAVE_CAPSTONE
    else
        done = write_aarch64(w, p, n, addr, out, size);
#endif
    if (!done)
        write_bits(w, p, n, addr, out, size);
}
