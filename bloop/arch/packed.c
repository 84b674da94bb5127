/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of SIMD operations, and which of them make a loop a vector loop. */
#include "bloop/arch/facts.h"

bool insn_class_calculates(enum insn_class class)
{
    switch (class) {
    case CLASS_ADD:
    case CLASS_MULTIPLY:
    case CLASS_MULTIPLY_ADD:
    case CLASS_DIVIDE:
    case CLASS_SQUARE_ROOT:
    case CLASS_MINMAX:
    case CLASS_ARITHMETIC:
    case CLASS_COMPARE:
    case CLASS_CONVERT:
        return true;
    default:
        return false;
    }
}

enum packed_kind arch_packed_kind(enum arch_kind kind, const uint8_t *p, size_t n)
{
    struct insn_facts f;
    if (!arch_get(kind)->facts(p, n, 0, &f) || !f.packed)
        return PACKED_NOT;
    if (insn_class_calculates(f.class))
        return PACKED_CALCULATES;
    return f.class == CLASS_SHUFFLE ? PACKED_SHUFFLES : PACKED_NOT;
}

const char *insn_class_name(enum insn_class class)
{
    static const char *const names[CLASS_COUNT] = {
        "other",   "move",    "address",    "add",      "multiply", "multiply-add", "divide",
        "sqrt",    "minmax",  "arithmetic", "logic",    "shift",    "compare",      "select",
        "convert", "shuffle", "stack",      "prefetch", "fence",    "control",      "nop"};
    return names[class];
}
