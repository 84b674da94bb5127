/* Does an instruction calculate with several numbers at once? What makes a loop a vector loop is arithmetic: moves,
   shuffles and bitwise operations on vector registers are copies of structs and constants as often as not. */
#include "bloop/arch/facts.h"

bool arch_is_packed(enum arch_kind kind, const uint8_t *p, size_t n)
{
    struct insn_facts f;
    if (!arch_get(kind)->facts(p, n, 0, &f) || !f.packed)
        return false;
    switch (f.class) {
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

const char *insn_class_name(enum insn_class class)
{
    static const char *const names[CLASS_COUNT] = {
        "other",   "move",    "address",    "add",      "multiply", "multiply-add", "divide",
        "sqrt",    "minmax",  "arithmetic", "logic",    "shift",    "compare",      "select",
        "convert", "shuffle", "stack",      "prefetch", "fence",    "control",      "nop"};
    return names[class];
}
