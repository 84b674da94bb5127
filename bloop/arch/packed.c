/* Does an instruction calculate with several numbers at once? What makes a loop a vector loop is arithmetic: moves,
   shuffles and bitwise operations on vector registers are copies of structs and constants as often as not. */
#include "bloop/arch/arch.h"

#include <Zydis/Zydis.h>

static bool has_word(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strncmp(name, *words, strlen(*words)) == 0)
            return true;
    return false;
}

/* By name, after the v of VEX forms: addpd, vfmadd213ps, paddd. The scalar forms end in ss and sd. */
static bool packed_name(const char *name)
{
    static const char *const floating[] = {"add",   "sub",   "mul",    "div",    "min",  "max",  "sqrt",
                                           "fmadd", "fmsub", "fnmadd", "fnmsub", "hadd", "hsub", "rcp",
                                           "rsqrt", "cmp",   "round",  "cvt",    NULL};
    static const char *const whole[] = {"padd", "psub", "pmul", "pmadd",  "pmin", "pmax",
                                        "pabs", "pavg", "pcmp", "psadbw", NULL};
    size_t n = strlen(name);
    if (*name == 'v')
        name++, n--;
    bool many = n > 2 && name[n - 2] == 'p' && (name[n - 1] == 's' || name[n - 1] == 'd');
    return (many && has_word(name, floating)) || has_word(name, whole);
}

static bool packed_x86_64(const uint8_t *p, size_t n)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction z;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, p, n, &z)))
        return false;
    const char *name = ZydisMnemonicGetString(z.mnemonic);
    return name && packed_name(name);
}

/* Arm ARM, C4.1: SIMD three registers of the same type (all but the bitwise ones, opcode 00011), vector by element; SVE
   integer and floating-point arithmetic. */
static bool packed_aarch64(const uint8_t *p, size_t n)
{
    struct cursor c = cursor_make(p, n);
    uint32_t word = cursor_u32(&c);
    if (c.bad)
        return false;
    if ((word & 0x9f200400) == 0x0e200400)
        return (word >> 11 & 0x1f) != 3;
    return (word & 0x9f000400) == 0x0f000000 || word >> 24 == 0x04 || word >> 24 == 0x65;
}

bool arch_is_packed(enum arch_kind kind, const uint8_t *p, size_t n)
{
    return kind == ARCH_X86_64 ? packed_x86_64(p, n) : packed_aarch64(p, n);
}
