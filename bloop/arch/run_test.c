/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoded effects of x86-64's instructions against the processor itself: random instructions are run with all registers
 * set, and again with those changed that they do not read according to the decoder. The registers they change must be
 * among those decoded as written, and must not depend on the changed ones; element types and sums of registers must be
 * the decoded ones.
 *
 * Only such that stay in registers; one that the processor does not have is passed over.
 */
#include "config.h"

#include "bloop/arch/facts.h"
#include "bloop/arch/ops.h"
#include "tests/chance.h"
#include "tests/tap.h"

#ifdef __x86_64__
#include <Zydis/Zydis.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

/* ---- a processor ---------------------------------------------------------------------------------------------- */

enum { GENERAL = 16, VECTORS = 16, STACK = 4, INSN_MOST = 15, PAGE = 4096 };

struct state {
    uint64_t general[GENERAL], flags;
    uint8_t vector[VECTORS][32];
};

/* In a page of its own after the code, addressed relative to the instruction pointer. */
struct machine {
    struct state in, out;
    uint64_t stack;
};

static uint8_t *code; /* a page of it, and behind it a struct machine */
static size_t code_size, insn_at;
static bool has_avx;

static struct machine *machine(void)
{
    return (struct machine *)(void *)(code + PAGE);
}

static void put(const void *bytes, size_t n)
{
    memcpy(code + code_size, bytes, n);
    code_size += n;
}

/* Puts an instruction that will run at address `at`. */
static void put_at(const char *bytes, size_t n, const void *at)
{
    put(bytes, n);
    int32_t distance = (int32_t)((const uint8_t *)at - (code + code_size + 4));
    put(&distance, 4);
}

static void put_general(uint8_t opcode, unsigned reg, const void *at)
{
    const char bytes[] = {(char)(0x48 | (reg >> 3) << 2), (char)opcode, (char)(5 | (reg & 7) << 3)};
    put_at(bytes, 3, at);
}

static void put_vector(uint8_t opcode, unsigned reg, const void *at)
{
    const char avx[] = {(char)0xc5, (char)(reg < 8 ? 0xfc : 0x7c), (char)opcode, (char)(5 | (reg & 7) << 3)};
    const char sse[] = {(char)(0x40 | (reg >> 3) << 2), 0x0f, (char)opcode, (char)(5 | (reg & 7) << 3)};
    put_at(has_avx ? avx : sse, 4, at);
}

/* Saves callee-saved registers; loads stack, registers and flags; runs the instruction; restores all. */
static void make_frame(void)
{
    struct machine *m = machine();
    code_size = 0;
    put("\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57", 10);
    put_general(0x89, STACK, &m->stack);
    for (unsigned i = 0; i < VECTORS; i++)
        put_vector(0x10, i, m->in.vector[i]);
    put_at("\xff\x35", 2, &m->in.flags);
    put("\x9d", 1);
    for (unsigned i = 0; i < GENERAL; i++)
        if (i != STACK)
            put_general(0x8b, i, &m->in.general[i]);
    insn_at = code_size;
    memset(code + code_size, 0x90, INSN_MOST);
    code_size += INSN_MOST;
    for (unsigned i = 0; i < GENERAL; i++)
        if (i != STACK)
            put_general(0x89, i, &m->out.general[i]);
    put("\x9c", 1);
    put_at("\x8f\x05", 2, &m->out.flags);
    for (unsigned i = 0; i < VECTORS; i++)
        put_vector(0x11, i, m->out.vector[i]);
    put_general(0x8b, STACK, &m->stack);
    put("\xfc\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xc3", 12);
}

static sigjmp_buf trapped;

static void on_trap(int sig)
{
    siglongjmp(trapped, sig);
}

/* false: the processor would not. */
static bool run(const uint8_t *insn, size_t n, const struct state *in, struct state *out)
{
    struct machine *m = machine();
    void (*f)(void);
    m->in = *in;
    memset(code + insn_at, 0x90, INSN_MOST);
    memcpy(code + insn_at, insn, n);
    if (sigsetjmp(trapped, 1))
        return false;
    *(void **)&f = code;
    f();
    *out = m->out;
    return true;
}

static bool begin_machine(void)
{
    static const int signals[] = {SIGILL, SIGSEGV, SIGFPE, SIGBUS, SIGTRAP};
    static uint8_t stack[1 << 16];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction act = {.sa_flags = SA_ONSTACK};
    act.sa_handler = on_trap;
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        sigaction(signals[i], &act, NULL);
    has_avx = __builtin_cpu_supports("avx");
    code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return false;
    make_frame();
    return true;
}

/* ---- instructions ---------------------------------------------------------------------------------------------- */

static ZydisDecoder decoder;

/* Uses only vector and general registers, and is not a system, hypervisor or clock instruction. */
static bool is_tame(const uint8_t *bytes, ZydisDecodedInstruction *z)
{
    static const ZydisInstructionCategory wild[] = {
        ZYDIS_CATEGORY_CALL,    ZYDIS_CATEGORY_RET,      ZYDIS_CATEGORY_COND_BR,    ZYDIS_CATEGORY_UNCOND_BR,
        ZYDIS_CATEGORY_SYSCALL, ZYDIS_CATEGORY_SYSRET,   ZYDIS_CATEGORY_SYSTEM,     ZYDIS_CATEGORY_INTERRUPT,
        ZYDIS_CATEGORY_X87_ALU, ZYDIS_CATEGORY_MMX,      ZYDIS_CATEGORY_IO,         ZYDIS_CATEGORY_RDWRFSGS,
        ZYDIS_CATEGORY_XSAVE,   ZYDIS_CATEGORY_XSAVEOPT, ZYDIS_CATEGORY_SEGOP,      ZYDIS_CATEGORY_CET,
        ZYDIS_CATEGORY_RDRAND,  ZYDIS_CATEGORY_RDSEED,   ZYDIS_CATEGORY_IOSTRINGOP, ZYDIS_CATEGORY_RDPRU,
        ZYDIS_CATEGORY_VTX,     ZYDIS_CATEGORY_PKU,      ZYDIS_CATEGORY_SGX,        ZYDIS_CATEGORY_WAITPKG,
        ZYDIS_CATEGORY_PADLOCK};
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, 16, z, o)))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(wild); i++)
        if (z->meta.category == wild[i])
            return false;
    for (unsigned i = 0; i < z->operand_count; i++) {
        ZydisRegister r = o[i].type == ZYDIS_OPERAND_TYPE_REGISTER ? o[i].reg.value : ZYDIS_REGISTER_NONE;
        ZydisRegisterClass class = ZydisRegisterGetClass(r);
        bool whole = r != ZYDIS_REGISTER_NONE && class != ZYDIS_REGCLASS_FLAGS;
        if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY && o[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
            return false;
        if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            (o[i].mem.base == ZYDIS_REGISTER_RSP || o[i].mem.base == ZYDIS_REGISTER_ESP))
            return false;
        if (whole && class != ZYDIS_REGCLASS_GPR8 && class != ZYDIS_REGCLASS_GPR16 && class != ZYDIS_REGCLASS_GPR32 &&
            class != ZYDIS_REGCLASS_GPR64 && class != ZYDIS_REGCLASS_XMM && class != ZYDIS_REGCLASS_YMM &&
            r != ZYDIS_REGISTER_MXCSR)
            return false;
        if (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r) == ZYDIS_REGISTER_RSP)
            return false;
    }
    return z->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX && z->mnemonic != ZYDIS_MNEMONIC_RDTSC &&
           z->mnemonic != ZYDIS_MNEMONIC_RDTSCP && z->mnemonic != ZYDIS_MNEMONIC_CPUID &&
           z->mnemonic != ZYDIS_MNEMONIC_RDPID && z->mnemonic != ZYDIS_MNEMONIC_XGETBV &&
           z->mnemonic != ZYDIS_MNEMONIC_VMMCALL &&
           z->mnemonic != ZYDIS_MNEMONIC_PAUSE; /* (with REX.B it is xchg, which Zydis does not decode as such) */
}

static void draw_instruction(uint8_t bytes[16])
{
    static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3};
    unsigned n = 0;
    for (int i = 0; i < 16; i++)
        bytes[i] = (uint8_t)below(256);
    if (below(3) == 0)
        bytes[n++] = prefixes[below(3)];
    if (below(3) == 0) { /* VEX */
        bytes[n++] = 0xc4;
        bytes[n] = (uint8_t)((bytes[n] & 0xe0) | (1 + below(3)));
        n += 2;
        bytes[n++] = (uint8_t)below(256);
    } else {
        if (below(2))
            bytes[n++] = (uint8_t)(0x40 + below(16));
        unsigned map = below(4);
        if (map > 0)
            bytes[n++] = 0x0f;
        if (map > 1)
            bytes[n++] = map == 2 ? 0x38 : 0x3a;
        n++;
    }
    if (below(8)) /* registers alone */
        bytes[n] |= 0xc0;
}

/* ---- decoded facts compared with the actual effects ----------------------------------------------------------- */

enum { DIRECTION = 1 << 10, STATUS = 0x8d5 };

static void draw_state(struct state *s)
{
    for (unsigned i = 0; i < GENERAL; i++)
        s->general[i] = below(4) ? random64() : below(100);
    for (unsigned i = 0; i < VECTORS; i++)
        for (unsigned k = 0; k < 4; k++) {
            uint64_t v = random64();
            double d = (double)below(1000) / 8; /* numbers that do not occur by chance */
            float f[2] = {(float)below(1000) / 8, -(float)below(10)};
            memcpy(s->vector[i] + 8 * k, i % 4 == 1 ? (void *)&d : i % 4 == 2 ? (void *)f : (void *)&v, 8);
        }
    s->flags = 0x202 | (random64() & STATUS);
}

static bool same_vector(const struct state *a, const struct state *b, unsigned i, size_t n)
{
    return memcmp(a->vector[i], b->vector[i], n) == 0;
}

static uint64_t low_bytes(uint64_t v, unsigned bytes, bool sign)
{
    unsigned left = bytes && bytes < 8 ? 64 - 8 * bytes : 0;
    return sign ? (uint64_t)((int64_t)(v << left) >> left) : v << left >> left;
}

static uint64_t value_of(const struct state *s, uint8_t reg)
{
    return reg < GENERAL ? s->general[reg] : 0;
}

/* Would `set` jump, by the flags? The processor's manual, "Jcc". */
static bool jumps(unsigned condition, uint64_t flags)
{
    bool carry = flags & 1, zero = flags >> 6 & 1, negative = flags >> 7 & 1, overflow = flags >> 11 & 1,
         parity = flags >> 2 & 1;
    const bool holds[8] = {
        overflow, carry, zero, carry || zero, negative, parity, negative != overflow, zero || negative != overflow};
    return holds[condition >> 1] != (condition & 1);
}

static bool compares(enum branch_test test, uint64_t a, uint64_t b, unsigned bytes)
{
    int64_t x = (int64_t)low_bytes(a, bytes, true), y = (int64_t)low_bytes(b, bytes, true);
    a = low_bytes(a, bytes, false);
    b = low_bytes(b, bytes, false);
    switch (test) {
    case TEST_ABOVE:
        return a > b;
    case TEST_ABOVE_EQUAL:
        return a >= b;
    case TEST_BELOW:
        return a < b;
    case TEST_BELOW_EQUAL:
        return a <= b;
    case TEST_EQUAL:
        return a == b;
    case TEST_NOT_EQUAL:
        return a != b;
    case TEST_GREATER_SIGNED:
        return x > y;
    default:
        return x <= y;
    }
}

/* Effect of a comparison on each conditional branch. */
static bool branches_alike(const struct op *op, const struct state *in, uint64_t flags)
{
    const struct arch *arch = arch_get(ARCH_X86_64);
    for (unsigned condition = 0; condition < 16; condition++) {
        const uint8_t jump[2] = {(uint8_t)(0x70 | condition), 0};
        enum branch_test test = arch->detail->test(jump, 2);
        uint64_t b = op->compare == COMPARE_CONST ? (uint64_t)op->cmp_const : value_of(in, op->cmp_reg2);
        if (test != TEST_OTHER && compares(test, value_of(in, op->cmp_reg), b, op->cmp_size) != jumps(condition, flags))
            return false;
    }
    return true;
}

/* NULL: sums, bits and comparisons are as decoded. */
static const char *wrong_value(const ZydisDecodedInstruction *z, const struct op *op, const struct state *in,
                               const struct state *out)
{
    uint64_t index = low_bytes(value_of(in, op->index), op->index_size, op->index_sign), want = value_of(in, op->base);
    if (op->compare != COMPARE_NONE && op->compare != COMPARE_UNKNOWN && !branches_alike(op, in, out->flags))
        return "another comparison";
    if (op->kind != OP_ADDRESS && op->kind != OP_AND && op->kind != OP_SHIFT_R)
        return NULL;
    if (op->kind == OP_ADDRESS)
        want += index * op->scale + (uint64_t)op->disp;
    else if (op->kind == OP_AND)
        want &= (uint64_t)op->disp;
    if (op->kind == OP_SHIFT_R)
        want = low_bytes(want, op->size, false) >> (op->disp & (op->size == 8 ? 63 : 31));
    else
        want = low_bytes(want, op->size, op->sign);
    /* (extended by sign, to 32 bits: the others are 0, which is left out) */
    unsigned bytes = op->sign && z->operand_width == 32 ? 4 : 8;
    return low_bytes(want ^ value_of(out, op->dst), bytes, false) == 0 ? NULL : "another value";
}

/* NULL: the effects are as decoded. */
static const char *disagreement(const uint8_t *bytes, const ZydisDecodedInstruction *z, const struct insn_facts *f,
                                const struct op *op)
{
    struct state in, out, other_in, other_out;
    const char *why;
    bool halves = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY || z->mnemonic == ZYDIS_MNEMONIC_VZEROUPPER;
    size_t width = halves || !has_avx ? 16 : 32;
    for (int times = 0; times < 4; times++) {
        draw_state(&in);
        draw_state(&other_in);
        if (!run(bytes, z->length, &in, &out))
            continue;
        for (unsigned i = 0; i < GENERAL; i++) {
            if (i == STACK)
                continue;
            if (in.general[i] != out.general[i] && !(f->writes.general >> i & 1))
                return "a register changes";
            if (in.general[i] != out.general[i] && !(op->clobbers >> i & 1))
                return "a register changes, as it is lifted";
            if (f->reads.general >> i & 1)
                other_in.general[i] = in.general[i];
        }
        for (unsigned i = 0; i < VECTORS; i++) {
            if (!same_vector(&in, &out, i, width) && !(f->writes.vector >> i & 1))
                return "a vector changes";
            if (f->reads.vector >> i & 1)
                memcpy(other_in.vector[i], in.vector[i], 32);
        }
        if (((in.flags ^ out.flags) & STATUS) && !f->writes.flags)
            return "flags change";
        if (f->reads.flags)
            other_in.flags = in.flags;
        if (!run(bytes, z->length, &other_in, &other_out))
            return "it depends on another register whether it can be done";
        for (unsigned i = 0; i < GENERAL; i++)
            if (i != STACK && f->writes.general >> i & 1 && out.general[i] != other_out.general[i])
                return "a register depends on others";
        for (unsigned i = 0; i < VECTORS; i++)
            if (f->writes.vector >> i & 1 && !same_vector(&out, &other_out, i, width))
                return "a vector depends on other registers";
        if ((why = wrong_value(z, op, &in, &out)))
            return why;
    }
    return NULL;
}

int main(void)
{
    const struct arch *arch = arch_get(ARCH_X86_64);
    unsigned known = 0, wrong = 0;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!begin_machine()) {
        SKIP("instructions that are run", "no memory that can be run");
        return tap_done();
    }
    for (unsigned i = 0; i < 200000; i++) {
        uint8_t bytes[16];
        ZydisDecodedInstruction z;
        struct insn_facts f;
        struct op op;
        struct state s;
        draw_instruction(bytes);
        draw_state(&s);
        if (!is_tame(bytes, &z) || !run(bytes, z.length, &s, &s))
            continue;
        vaddr at = (vaddr)(uintptr_t)(code + insn_at);
        bool good = arch->facts(bytes, sizeof bytes, at, &f);
        arch->detail->lift(bytes, sizeof bytes, at, &op);
        const char *why = good ? disagreement(bytes, &z, &f, &op) : "it is not known";
        known++;
        if (!why || wrong++ >= 20)
            continue;
        printf("# %s:", ZydisMnemonicGetString(z.mnemonic));
        for (unsigned k = 0; k < z.length; k++)
            printf(" %02x", bytes[k]);
        printf(": %s\n", why);
    }
    CHECK(known > 2000);
    CHECK_INT(wrong, 0);
    return tap_done();
}
#else
int main(void)
{
    SKIP("instructions that are run", "for x86-64");
    return tap_done();
}
#endif
