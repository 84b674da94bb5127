/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does straight-line code wait for another thread: by a spin hint (pause, yield), or by the system call that sleeps until a
 * word in memory changes (Linux's futex)? This shows the purpose of functions without names.
 */
#include "bloop/arch/arch.h"

#include <string.h>

enum { FUTEX_KINDS = 0x7f, FUTEX_WAKE = 1, FUTEX_REQUEUE = 3, FUTEX_WAKE_OP = 5 }; /* the last three only wake others */
#define UNKNOWN UINT32_MAX

/* Known values of the registers of a system call. */
struct call_registers {
    uint32_t number, operation;
};

static bool sleeps(const struct call_registers *r, uint32_t futex)
{
    uint32_t kind = r->operation == UNKNOWN ? 0 : r->operation & FUTEX_KINDS;
    return r->number == futex && kind != FUTEX_WAKE && (kind < FUTEX_REQUEUE || kind > FUTEX_WAKE_OP);
}

static bool x86_64_waits(const uint8_t *p, size_t n, struct call_registers *r)
{
    enum { FUTEX = 202, MOV_EAX = 0xb8, MOV_ESI = 0xbe };
    if (n == 5 && p[0] == MOV_EAX)
        r->number = arch_word(p + 1);
    else if (n == 5 && p[0] == MOV_ESI)
        r->operation = arch_word(p + 1);
    else if (n == 2 && (p[0] == 0x31 || p[0] == 0x33) && p[1] == 0xf6) /* xor %esi,%esi */
        r->operation = 0;
    else if (n == 2 && p[0] == 0x0f && p[1] == 0x05)
        return sleeps(r, FUTEX);
    return n == 2 && p[0] == 0xf3 && p[1] == 0x90;
}

static bool aarch64_waits(const uint8_t *p, size_t n, struct call_registers *r)
{
    enum { FUTEX = 98, MOVZ = 0x52800000, MOVZ_MASK = 0x7fe0001f, SVC = 0xd4000001, YIELD = 0xd503203f };
    uint32_t insn = n == 4 ? arch_word(p) : 0, value = insn >> 5 & 0xffff;
    if ((insn & MOVZ_MASK) == (MOVZ | 8))
        r->number = value;
    else if ((insn & MOVZ_MASK) == (MOVZ | 1))
        r->operation = value;
    return insn == YIELD || (insn == SVC && sleeps(r, FUTEX));
}

/* The bytes that waiting begins or ends with; most code has them nowhere, and need not be looked at closer. */
static bool may_wait(enum arch_kind kind, const uint8_t *p, size_t n)
{
    static const uint8_t pause[] = {0xf3, 0x90}, syscall[] = {0x0f, 0x05};
    return kind != ARCH_X86_64 || memmem(p, n, pause, sizeof pause) || memmem(p, n, syscall, sizeof syscall);
}

bool arch_waits(enum arch_kind kind, const uint8_t *p, size_t n)
{
    const struct arch *arch = arch_get(kind);
    struct call_registers registers = {UNKNOWN, UNKNOWN};
    struct insn insn;
    if (!arch || !may_wait(kind, p, n))
        return false;
    for (size_t at = 0; at < n; at += insn.length) {
        arch->decode(p + at, n - at, at, &insn);
        if (kind == ARCH_X86_64 ? x86_64_waits(p + at, insn.length, &registers)
                                : aarch64_waits(p + at, insn.length, &registers))
            return true;
    }
    return false;
}
