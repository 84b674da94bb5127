/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoders: single instructions, and the fast path of x86-64 compared with Zydis itself. */
#include "config.h"

#include "bloop/arch/facts.h"
#include "bloop/arch/ops.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <stdlib.h>

static const struct {
    enum arch_kind arch;
    const char *text, *bytes;
    unsigned length;
    enum insn_kind kind;
    vaddr target; /* from address 0x1000 */
} rows[] = {
    {ARCH_X86_64, "push %rbp", "55", 1, INSN_PLAIN, 0},
    {ARCH_X86_64, "mov 0x12345678(%rax,%rbx,8),%rcx", "488b8cd878563412", 8, INSN_PLAIN, 0},
    {ARCH_X86_64, "mov 0x10(%rip),%eax", "8b0510000000", 6, INSN_PLAIN, 0},
    {ARCH_X86_64, "movabs $0x1122334455667788,%rax", "48b88877665544332211", 10, INSN_PLAIN, 0},
    {ARCH_X86_64, "mov $1,%ax", "66b80100", 4, INSN_PLAIN, 0},
    {ARCH_X86_64, "test $1,%eax", "f7c001000000", 6, INSN_PLAIN, 0},
    {ARCH_X86_64, "not %eax", "f7d0", 2, INSN_PLAIN, 0},
    {ARCH_X86_64, "movabs 0x1122334455667788,%al", "a08877665544332211", 9, INSN_PLAIN, 0},
    {ARCH_X86_64, "je +5", "7405", 2, INSN_BRANCH, 0x1007},
    {ARCH_X86_64, "jne -16", "0f85f0ffffff", 6, INSN_BRANCH, 0xff6},
    {ARCH_X86_64, "jrcxz", "e3fe", 2, INSN_BRANCH, 0x1000},
    {ARCH_X86_64, "loop", "e2fe", 2, INSN_BRANCH, 0x1000},
    {ARCH_X86_64, "jmp short", "eb10", 2, INSN_JUMP, 0x1012},
    {ARCH_X86_64, "jmp", "e900010000", 5, INSN_JUMP, 0x1105},
    {ARCH_X86_64, "call", "e8fbffffff", 5, INSN_CALL, 0x1000},
    {ARCH_X86_64, "data16 rex.W call, of __tls_get_addr", "6648e800000000", 7, INSN_CALL, 0x1007},
    {ARCH_X86_64, "addr32 call, relaxed from a slot", "67e800000000", 6, INSN_CALL, 0x1006},
    {ARCH_X86_64, "call *%rax", "ffd0", 2, INSN_CALL_INDIRECT, 0},
    {ARCH_X86_64, "call *8(%rax)", "ff5008", 3, INSN_CALL_INDIRECT, 0},
    {ARCH_X86_64, "jmp *%rax", "ffe0", 2, INSN_JUMP_INDIRECT, 0},
    {ARCH_X86_64, "notrack jmp *%rax", "3effe0", 3, INSN_JUMP_INDIRECT, 0},
    {ARCH_X86_64, "jmp *table(,%rax,8)", "ff24c500500000", 7, INSN_JUMP_INDIRECT, 0},
    {ARCH_X86_64, "push (%rax)", "ff30", 2, INSN_PLAIN, 0},
    {ARCH_X86_64, "ret", "c3", 1, INSN_RETURN, 0},
    {ARCH_X86_64, "rep ret", "f3c3", 2, INSN_RETURN, 0},
    {ARCH_X86_64, "bnd ret", "f2c3", 2, INSN_RETURN, 0},
    {ARCH_X86_64, "ret $8", "c20800", 3, INSN_RETURN, 0},
    {ARCH_X86_64, "iretq", "48cf", 2, INSN_RETURN, 0},
    {ARCH_X86_64, "nop", "90", 1, INSN_PADDING, 0},
    {ARCH_X86_64, "xchg %ax,%ax", "6690", 2, INSN_PADDING, 0},
    {ARCH_X86_64, "xchg %rax,%r8", "4990", 2, INSN_PLAIN, 0},
    {ARCH_X86_64, "pause", "f390", 2, INSN_PLAIN, 0},
    {ARCH_X86_64, "nopl 0(%rax)", "0f1f00", 3, INSN_PADDING, 0},
    {ARCH_X86_64, "data16 cs nopw 0(%rax,%rax,1)", "66662e0f1f840000000000", 11, INSN_PADDING, 0},
    {ARCH_X86_64, "int3", "cc", 1, INSN_PADDING, 0},
    {ARCH_X86_64, "ud2", "0f0b", 2, INSN_STOP, 0},
    {ARCH_X86_64, "hlt", "f4", 1, INSN_STOP, 0},
    {ARCH_X86_64, "endbr64", "f30f1efa", 4, INSN_PLAIN, 0},
    {ARCH_X86_64, "syscall", "0f05", 2, INSN_PLAIN, 0},
    {ARCH_X86_64, "lock cmpxchg %esi,(%rdi)", "f00fb137", 4, INSN_PLAIN, 0},
    {ARCH_X86_64, "xbegin", "c7f800000000", 6, INSN_PLAIN, 0},
    {ARCH_X86_64, "vfmaddps (FMA4)", "c4e3f968c220", 6, INSN_PLAIN, 0},
    {ARCH_X86_64, "kmovw %eax,%k1", "c5f892c8", 4, INSN_PLAIN, 0},
    {ARCH_X86_64, "adcx %eax,%ebx", "660f38f6d8", 5, INSN_PLAIN, 0},
    {ARCH_X86_64, "vaddps %zmm0,%zmm1,%zmm2", "62f1744858d0", 6, INSN_PLAIN, 0},
    {ARCH_X86_64, "undefined EVEX opcode: ModRM", "62f67d48ffc0", 6, INSN_BAD, 0},
    {ARCH_X86_64, "undefined EVEX opcode: ModRM, SIB, compressed displacement", "62f67d48ff442440", 8, INSN_BAD, 0},
    {ARCH_X86_64, "undefined EVEX opcode of map 3: immediate", "62f37d48ffc011", 7, INSN_BAD, 0},
    {ARCH_X86_64, "undefined VEX opcode of map 2", "c4e279fec0", 5, INSN_BAD, 0},
    {ARCH_X86_64, "push %es is no more", "06", 1, INSN_BAD, 0},
    {ARCH_X86_64, "lea of a register", "8dc0", 1, INSN_BAD, 0},
    {ARCH_X86_64, "cut short", "488b", 1, INSN_BAD, 0},
    {ARCH_X86_64, "sixteen bytes of prefixes", "66666666666666666666666666666690", 1, INSN_BAD, 0},
    {ARCH_AARCH64, "b", "04000014", 4, INSN_JUMP, 0x1010},
    {ARCH_AARCH64, "b back", "ffffff17", 4, INSN_JUMP, 0xffc},
    {ARCH_AARCH64, "bl", "02000094", 4, INSN_CALL, 0x1008},
    {ARCH_AARCH64, "b.eq", "40000054", 4, INSN_BRANCH, 0x1008},
    {ARCH_AARCH64, "b.al", "4e000054", 4, INSN_JUMP, 0x1008},
    {ARCH_AARCH64, "cbz w0", "40000034", 4, INSN_BRANCH, 0x1008},
    {ARCH_AARCH64, "cbnz x0", "e0ffffb5", 4, INSN_BRANCH, 0xffc},
    {ARCH_AARCH64, "tbz w0, #3", "40001836", 4, INSN_BRANCH, 0x1008},
    {ARCH_AARCH64, "tbnz x0, #33", "e0ff0fb7", 4, INSN_BRANCH, 0xffc},
    {ARCH_AARCH64, "br x1", "20001fd6", 4, INSN_JUMP_INDIRECT, 0},
    {ARCH_AARCH64, "braaz x1", "3f081fd6", 4, INSN_JUMP_INDIRECT, 0},
    {ARCH_AARCH64, "blr x1", "20003fd6", 4, INSN_CALL_INDIRECT, 0},
    {ARCH_AARCH64, "ret", "c0035fd6", 4, INSN_RETURN, 0},
    {ARCH_AARCH64, "retaa", "ff0b5fd6", 4, INSN_RETURN, 0},
    {ARCH_AARCH64, "nop", "1f2003d5", 4, INSN_PADDING, 0},
    {ARCH_AARCH64, "bti c", "5f2403d5", 4, INSN_PLAIN, 0},
    {ARCH_AARCH64, "brk #1000", "007d20d4", 4, INSN_STOP, 0},
    {ARCH_AARCH64, "udf #0", "00000000", 4, INSN_STOP, 0},
    {ARCH_AARCH64, "add x0, x1, x2", "2000028b", 4, INSN_PLAIN, 0},
    {ARCH_AARCH64, "svc #0", "010000d4", 4, INSN_PLAIN, 0},
    {ARCH_AARCH64, "fmla z0.d, p0/m, z1.d, z2.d (SVE)", "2000e265", 4, INSN_PLAIN, 0},
    {ARCH_AARCH64, "a word of a group that holds no instruction", "00000002", 4, INSN_BAD, 0},
    {ARCH_AARCH64, "cut short", "c003", 2, INSN_BAD, 0},
};

static size_t from_hex(const char *hex, uint8_t *bytes)
{
    size_t n = 0;
    for (; hex[2 * n] != 0; n++)
        bytes[n] = (uint8_t)strtoul((char[]){hex[2 * n], hex[2 * n + 1], 0}, NULL, 16);
    return n;
}

static void test_rows(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct arch *arch = arch_get(rows[i].arch);
        uint8_t bytes[32];
        struct insn in;
        /* Alone and followed by other bytes; the second time the form is cached. */
        size_t n = from_hex(rows[i].bytes, bytes);
        static struct guarded_room edge;
        const uint8_t *exact = guarded_copy(&edge, bytes, n);
        memset(bytes + n, 0xcc, sizeof bytes - n);
        bool good = true;
        for (int again = 0; again < 3; again++) {
            bool cut = rows[i].kind == INSN_BAD;
            arch->decode(again == 1 && !cut ? bytes : exact, again == 1 && !cut ? sizeof bytes : n, 0x1000, &in);
            good &= in.length == rows[i].length && in.kind == rows[i].kind && in.target == rows[i].target;
        }
        if (!tap_result(good, rows[i].text, __FILE__, __LINE__))
            printf("# length %u kind %u target %#llx\n", in.length, in.kind, (unsigned long long)in.target);
    }
}

/* ---- the table of forms against Zydis --------------------------------------------------- */

static uint64_t seed = 1;

static uint32_t below(uint32_t k)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % k;
}

/* Bytes that are instructions rather than noise: some prefixes, an opcode of some map, then anything. */
static void random_instruction(uint8_t bytes[16])
{
    static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x2e, 0x3e, 0x64, 0x65, 0xf0, 0x67};
    unsigned n = 0;
    for (int i = 0; i < 16; i++)
        bytes[i] = (uint8_t)below(256);
    for (unsigned k = below(8); k < 2; k++)
        bytes[n++] = prefixes[below(sizeof prefixes)];
    if (below(3) == 0)
        bytes[n++] = (uint8_t)(0x40 + below(16));
    unsigned map = below(4);
    if (map > 0)
        bytes[n++] = 0x0f;
    if (map > 1)
        bytes[n++] = map == 2 ? 0x38 : 0x3a;
}

static void test_against_zydis(void)
{
    const struct arch *arch = arch_get(ARCH_X86_64);
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    int wrong = 0, wrong_target = 0;
    for (int i = 0; i < 2000000; i++) {
        uint8_t bytes[16];
        random_instruction(bytes);
        size_t n = below(16) == 0 ? 1 + below(15) : sizeof bytes;
        struct insn in;
        ZydisDecodedInstruction z;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        arch->decode(bytes, n, 0x400000, &in);
        bool good = ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, bytes, n, &z));
        if (good != (in.kind != INSN_BAD) || (good && in.length != z.length)) {
            if (wrong++ < 5)
                printf("# %02x %02x %02x %02x %02x %02x: Zydis %d %u, ours %u %u\n", bytes[0], bytes[1], bytes[2],
                       bytes[3], bytes[4], bytes[5], good, z.length, in.kind, in.length);
            continue;
        }
        if (in.kind != INSN_BRANCH && in.kind != INSN_JUMP && in.kind != INSN_CALL)
            continue;
        ZyanU64 target = 0;
        int at = 0; /* jkzd has a mask register first */
        bool full = ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes, n, &z, operands));
        while (full && at < z.operand_count - 1 && operands[at].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
            at++;
        if (!full || !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&z, &operands[at], 0x400000, &target)) ||
            target != in.target) {
            wrong_target++;
            printf("# %02x %02x %02x %02x %02x %02x: Zydis %#llx, ours %#llx\n", bytes[0], bytes[1], bytes[2], bytes[3],
                   bytes[4], bytes[5], (unsigned long long)target, (unsigned long long)in.target);
        }
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(wrong_target, 0);
}

/* Counts the calls of Zydis: this function takes precedence over the library's. (Weak: if Zydis is linked into the
   program, its own function is used.) */
static unsigned asked;

__attribute__((weak)) ZyanStatus ZydisDecoderDecodeInstruction(const ZydisDecoder *d, ZydisDecoderContext *context,
                                                               const void *buffer, ZyanUSize length,
                                                               ZydisDecodedInstruction *z)
{
    static ZyanStatus (*real)(const ZydisDecoder *, ZydisDecoderContext *, const void *, ZyanUSize,
                              ZydisDecodedInstruction *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "ZydisDecoderDecodeInstruction");
    asked++;
    return real(d, context, buffer, length, z);
}

/* Prefixes in an unusual order, or ones that change the instruction. */
static bool has_odd_prefixes(const uint8_t *p, const ZydisDecodedInstruction *z)
{
    unsigned reps = 0, wide = 0, odd = 0;
    for (unsigned i = 0; i < z->raw.prefix_count; i++) {
        reps += p[i] == 0xf2 || p[i] == 0xf3;
        wide += p[i] == 0x66;
        odd += p[i] == 0xf0 || p[i] == 0x67 || ((p[i] & 0xf0) == 0x40 && i + 1 < z->raw.prefix_count);
    }
    return odd > 0 || reps > 1 || (reps && wide);
}

/* Is the instruction one that always needs Zydis? By opcode map, as ranges. */
static bool is_asked_of(const uint8_t *p, const ZydisDecodedInstruction *z)
{
    static const struct {
        int map;
        unsigned from, to;
    } left[] = {{0, 0x8c, 0x8c}, {0, 0x8e, 0x90}, {0, 0xc6, 0xc7}, {0, 0xd8, 0xdf}, {1, 0x00, 0x01},
                {1, 0x1a, 0x1b}, {1, 0x1e, 0x1e}, {1, 0x20, 0x27}, {1, 0xa6, 0xa7}, {1, 0xae, 0xae},
                {1, 0xc7, 0xc7}, {2, 0xc8, 0xff}, {3, 0xc8, 0xff}, {1, 0x0f, 0x0f}};
    const int map = z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT ? 0
                    : z->opcode_map == ZYDIS_OPCODE_MAP_0F    ? 1
                    : z->opcode_map == ZYDIS_OPCODE_MAP_0F38  ? 2
                                                              : 3;
    if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || has_odd_prefixes(p, z))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(left); i++)
        if (map == left[i].map && z->opcode >= left[i].from && z->opcode <= left[i].to)
            return true;
    return false;
}

/* Nearly all instructions are decoded by form once Zydis has decoded that form, which takes fifteen times as long.
   Truncated bytes add no form. Must run before all other tests, because each form is cached only once. */
static void test_asked(void)
{
    const struct arch *arch = arch_get(ARCH_X86_64);
    unsigned wrong = 0, seldom = 0, always = 0;
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (int i = 0; i < 100000; i++) {
        uint8_t bytes[16];
        struct insn in;
        ZydisDecodedInstruction z;
        random_instruction(bytes);
        asked = 0;
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, bytes, sizeof bytes, &z)))
            continue;
        if (!asked) {
            SKIP("how often Zydis is asked", "it is part of this program");
            return;
        }
        if (z.length > 1)
            arch->decode(bytes, z.length - 1u, 0x400000, &in);
        arch->decode(bytes, sizeof bytes, 0x400000, &in);
        asked = 0;
        arch->decode(bytes, sizeof bytes, 0x400000, &in);
        bool each_time = is_asked_of(bytes, &z);
        *(each_time ? &always : &seldom) += 1;
        if (asked != each_time && wrong++ < 5)
            printf("# asked %u times of %02x %02x %02x %02x %02x %02x\n", asked, bytes[0], bytes[1], bytes[2], bytes[3],
                   bytes[4], bytes[5]);
    }
    CHECK(seldom > 5000 && always > 5000);
    CHECK_INT(wrong, 0);
}

/* Facts used for resolving jumps: the register set and its source; comparisons; changes of the stack pointer (4),
   and the registers that are overwritten. The number of bytes that are kept or moved follows a colon, "s" if sign
   extended. */
static const struct {
    const char *text, *bytes, *want;
} lifted[] = {
    {"mov %rcx,%rax", "4889c8", "= 0 [1 -*1 +0]:8 changes 0"},
    {"mov %ecx,%r8d", "4189c8", "= 8 [1 -*1 +0]:4 changes 8"},
    {"mov %cx,%ax", "6689c8", "other - [- -*1 +0]:0 changes 0"},
    {"mov %ah,%al", "88e0", "other - [- -*1 +0]:0 changes 0"},
    {"mov $-2,%rax", "48c7c0feffffff", "= 0 [- -*1 -2]:8 changes 0"},
    {"mov $-2,%eax", "b8feffffff", "= 0 [- -*1 -2]:4 changes 0"},
    {"mov 8(%rdi,%rcx,4),%rax", "488b448f08", "load 0 [7 1*4 +8]:8 changes 0"},
    {"mov (%rdi),%ecx", "8b0f", "load 1 [7 -*1 +0]:4 changes 1"},
    {"mov 0x100(%rip),%rax", "488b0500010000", "load 0 [- -*1 +4359]:8 changes 0"},
    {"mov %fs:8(%rdi),%rax", "64488b4708", "other - [- -*1 +0]:0 changes 0"},
    {"mov (%edi),%rax", "67488b07", "other - [- -*1 +0]:0 changes 0"},
    {"mov %rax,8(%rsp)", "4889442408", "store 0 [4 -*1 +8]:8 changes"},
    {"mov %cl,(%rdi)", "880f", "store 1 [7 -*1 +0]:1 changes"},
    {"mov $5,(%rdi)", "c70705000000", "other - [- -*1 +0]:0 changes"},
    {"movzx (%rdi,%rax),%ecx", "0fb60c07", "load 1 [7 0*1 +0]:1 changes 1"},
    {"movzx %cx,%eax", "0fb7c1", "= 0 [1 -*1 +0]:2 changes 0"},
    {"movzx %cl,%ax", "660fb6c1", "other - [- -*1 +0]:0 changes 0"},
    {"movsx (%rdi),%rax", "480fbe07", "load 0 [7 -*1 +0]:1s changes 0"},
    {"movsxd (%rdi,%rax,4),%rcx", "48630c87", "load 1 [7 0*4 +0]:4s changes 1"},
    {"movsxd %eax,%rcx", "4863c8", "= 1 [0 -*1 +0]:4s changes 1"},
    {"cdqe", "4898", "= 0 [0 -*1 +0]:4s changes 0"},
    {"lea 8(%rdi,%rcx,4),%rax", "488d448f08", "= 0 [7 1*4 +8]:8 changes 0"},
    {"lea 8(%rdi,%rcx,4),%eax", "8d448f08", "= 0 [7 1*4 +8]:4 changes 0"},
    {"lea (%rdi),%ax", "668d07", "other - [- -*1 +0]:0 changes 0"},
    {"lea 0x100(%rip),%rax", "488d0500010000", "= 0 [- -*1 +4359]:8 changes 0"},
    {"lea 8(%edi),%rax", "67488d4708", "other - [- -*1 +0]:0 changes 0"},
    {"add %rcx,%rax", "4801c8", "= 0 [0 1*1 +0]:8 flags changes 0"},
    {"add $-8,%rax", "4883c0f8", "= 0 [0 -*1 -8]:8 flags changes 0"},
    {"add $0xfffffff0,%eax", "83c0f0", "= 0 [0 -*1 -16]:4 flags changes 0"},
    {"add (%rdi),%rax", "480307", "other - [- -*1 +0]:0 flags changes 0"},
    {"add $1,%ax", "6683c001", "other - [- -*1 +0]:0 flags changes 0"},
    {"sub $8,%rsp", "4883ec08", "= 4 [4 -*1 -8]:8 cmp:8 4 $8 stack -8 changes 4"},
    {"sub $1,%eax", "83e801", "= 0 [0 -*1 -1]:4 cmp:4 0 $1 changes 0"},
    {"sub %rcx,%rax", "4829c8", "other - [- -*1 +0]:0 cmp:8 0 1 changes 0"},
    {"inc %ecx", "ffc1", "= 1 [1 -*1 +1]:4 flags changes 1"},
    {"dec %rcx", "48ffc9", "= 1 [1 -*1 -1]:8 flags changes 1"},
    {"inc %cx", "66ffc1", "other - [- -*1 +0]:0 flags changes 1"},
    {"cmp $-1,%rax", "4883f8ff", "other - [- -*1 +0]:0 cmp:8 0 $-1 changes"},
    {"cmp $0x80,%al", "3c80", "other - [- -*1 +0]:0 cmp:1 0 $-128 changes"},
    {"cmp $200,%ecx", "81f9c8000000", "other - [- -*1 +0]:0 cmp:4 1 $200 changes"},
    {"cmp %rcx,%rax", "4839c8", "other - [- -*1 +0]:0 cmp:8 0 1 changes"},
    {"cmp $5,8(%rdi)", "837f0805", "other - [7 -*1 +8]:4 cmp-memory:4 0 $5 changes"},
    {"cmp (%rdi),%eax", "3b07", "other - [- -*1 +0]:0 flags changes"},
    {"cmp %ah,%al", "38e0", "other - [- -*1 +0]:0 flags changes"},
    {"test %rax,%rax", "4885c0", "other - [- -*1 +0]:0 flags changes"},
    {"xor %eax,%eax", "31c0", "= 0 [- -*1 +0]:8 flags changes 0"},
    {"xor %rax,%rax", "4831c0", "= 0 [- -*1 +0]:8 flags changes 0"},
    {"xor %eax,%ecx", "31c1", "other - [- -*1 +0]:0 flags changes 1"},
    {"xor %ax,%ax", "6631c0", "other - [- -*1 +0]:0 flags changes 0"},
    {"shl $3,%rax", "48c1e003", "= 0 [- 0*8 +0]:8 flags changes 0"},
    {"shl $6,%eax", "c1e006", "= 0 [- 0*64 +0]:4 flags changes 0"},
    {"shl $7,%rax", "48c1e007", "other - [- -*1 +0]:0 flags changes 0"},
    {"shl $1,%ax", "66d1e0", "other - [- -*1 +0]:0 flags changes 0"},
    {"shl %cl,%rax", "48d3e0", "other - [- -*1 +0]:0 flags changes 0"},
    {"and $15,%eax", "83e00f", "and 0 [0 -*1 +15]:4 flags changes 0"},
    {"and $-16,%rax", "4883e0f0", "and 0 [0 -*1 -16]:8 flags changes 0"},
    {"and %rcx,%rax", "4821c8", "other - [- -*1 +0]:0 flags changes 0"},
    {"and $15,%al", "240f", "other - [- -*1 +0]:0 flags changes 0"},
    {"and $-16,%rsp", "4883e4f0", "and 4 [4 -*1 -16]:8 flags stack +0 lost changes 4"},
    {"shr $3,%rax", "48c1e803", "shift 0 [0 -*1 +3]:8 flags changes 0"},
    {"shr $3,%eax", "c1e803", "shift 0 [0 -*1 +3]:4 flags changes 0"},
    {"shr %cl,%rax", "48d3e8", "other - [- -*1 +0]:0 flags changes 0"},
    {"shr $3,%ax", "66c1e803", "other - [- -*1 +0]:0 flags changes 0"},
    {"jmp *%rax", "ffe0", "jump - [0 -*1 +0]:0 changes"},
    {"jmp *8(%rdi,%rax,8)", "ff64c708", "jump-load - [7 0*8 +8]:8 changes"},
    {"jmp *%fs:(%rdi)", "64ff27", "other - [- -*1 +0]:0 changes"},
    {"ljmp *8(%rdi)", "ff6f08", "jump-load - [7 -*1 +8]:6 changes"},
    {"jmp .+5", "eb03", "other - [- -*1 +0]:0 changes"},
    {"push %rbx", "53", "other - [- -*1 +0]:0 stack -8 changes 4"},
    {"pop %rbx", "5b", "other - [- -*1 +0]:0 stack +8 changes 3 4"},
    {"pop %rsp", "5c", "other - [- -*1 +0]:0 stack +8 lost changes 4"},
    {"push $1", "6a01", "other - [- -*1 +0]:0 stack -8 changes 4"},
    {"pushfq", "9c", "other - [- -*1 +0]:0 stack -8 changes 4"},
    {"popfq", "9d", "other - [- -*1 +0]:0 flags stack +8 changes 4"},
    {"call *%rax", "ffd0", "other - [- -*1 +0]:0 changes 4"},
    {"ret", "c3", "other - [- -*1 +0]:0 changes 4"},
    {"leave", "c9", "other - [- -*1 +0]:0 stack +8 lost from the frame changes 4 5"},
    {"mov %rbp,%rsp", "4889ec", "= 4 [5 -*1 +0]:8 stack +0 lost from the frame changes 4"},
    {"lea 16(%rsp),%rsp", "488d642410", "= 4 [4 -*1 +16]:8 stack +16 changes 4"},
    {"lea -16(%rbp),%rsp", "488d65f0", "= 4 [5 -*1 -16]:8 stack -16 lost from the frame changes 4"},
    {"add %rax,%rsp", "4801c4", "= 4 [4 0*1 +0]:8 flags stack +0 lost changes 4"},
    {"xchg %rax,%rcx", "4891", "other - [- -*1 +0]:0 changes 0 1"},
    {"cpuid", "0fa2", "other - [- -*1 +0]:0 changes 0 1 2 3"},
    {"vgatherdps %ymm2,(%rdi,%ymm1,4),%ymm0", "c4e26d92048f", "other - [- -*1 +0]:0 changes"},
};

static void put_reg(struct buf *out, uint8_t reg)
{
    if (reg == ARCH_NO_REG)
        buf_str(out, "-");
    else
        buf_printf(out, "%u", reg);
}

static void put_lifted(struct buf *out, const struct op *op)
{
    static const char *const kinds[] = {"other", "=", "and", "shift", "load", "store", "jump", "jump-load"};
    static const char *const compares[] = {"", " flags", " cmp", " cmp", " cmp-memory"};
    buf_printf(out, "%s ", kinds[op->kind]);
    put_reg(out, op->kind == OP_STORE ? op->src : op->dst);
    buf_str(out, " [");
    put_reg(out, op->base);
    buf_char(out, ' ');
    put_reg(out, op->index);
    buf_printf(out, "*%u %+lld]:%u%s%s", op->scale, (long long)op->disp, op->size, op->sign ? "s" : "",
               compares[op->compare]);
    if (op->compare > COMPARE_UNKNOWN) {
        buf_printf(out, ":%u ", op->cmp_size);
        put_reg(out, op->cmp_reg);
        if (op->compare == COMPARE_REG)
            buf_printf(out, " %u", op->cmp_reg2);
        else
            buf_printf(out, " $%lld", (long long)op->cmp_const);
    }
    if (op->stack || op->stack_lost || op->from_frame)
        buf_printf(out, " stack %+lld%s%s", (long long)op->stack, op->stack_lost ? " lost" : "",
                   op->from_frame ? " from the frame" : "");
    buf_str(out, " changes");
    for (unsigned r = 0; r < 32; r++)
        if (op->clobbers >> r & 1)
            buf_printf(out, " %u", r);
}

static void test_lifted(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(lifted); i++) {
        uint8_t bytes[16];
        struct buf out = {0};
        struct op op;
        size_t n = from_hex(lifted[i].bytes, bytes);
        arch_get(ARCH_X86_64)->detail->lift(bytes, n, 0x1000, &op);
        put_lifted(&out, &op);
        tap_str(out.bytes, lifted[i].want, lifted[i].text, __FILE__, __LINE__);
        buf_release(&out);
    }
}

/* For instructions unknown to Zydis, the vector prefixes give the length. The addressing bytes after the opcode are as
   long as those of addps with the same bytes. */
static unsigned length_by_addps(const ZydisDecoder *d, const uint8_t *p)
{
    uint8_t addps[16] = {0x0f, 0x58};
    ZydisDecodedInstruction z;
    bool long_form = *p != 0xc5;
    unsigned front = *p == 0xc5 ? 2 : *p == 0x62 ? 4 : 3, map = *p == 0xc5 ? 1 : p[1] & (*p == 0x62 ? 7 : 31);
    unsigned opcode = p[front], behind;
    static const struct {
        unsigned from, to;
    } with_byte[] = {{0x70, 0x73}, {0xc2, 0xc2}, {0xc4, 0xc6}};
    bool exists = *p == 0x8f ? map >= 8 && map <= 10 : *p == 0xc4 ? map >= 1 && map <= 7 : map >= 1;
    if (long_form && !exists)
        return 1;
    memcpy(addps + 2, p + front + 1, 11);
    if (map == 1 && opcode == 0x77)
        return front + 1;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(d, NULL, addps, 16, &z)))
        return 0;
    behind = map == 3 || map == 8 ? 1 : map == 10 ? 4 : 0;
    for (size_t i = 0; i < ARRAY_SIZE(with_byte) && map == 1; i++)
        behind += opcode >= with_byte[i].from && opcode <= with_byte[i].to;
    return front + 1 + z.length - 2 + behind;
}

static void test_unknown_lengths(void)
{
    static const uint8_t first[] = {0xc5, 0xc4, 0x62, 0x8f};
    const struct arch *arch = arch_get(ARCH_X86_64);
    ZydisDecoder d;
    unsigned unknown = 0, wrong = 0;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (int i = 0; i < 60000; i++) {
        uint8_t bytes[16], exact[16];
        struct insn in, again;
        for (int k = 0; k < 16; k++)
            bytes[k] = exact[k] = (uint8_t)below(256);
        bytes[0] = exact[0] = first[below(4)];
        if (below(2)) /* an existing map instead */
            bytes[1] = exact[1] = (uint8_t)((bytes[1] & 0xe0) | (bytes[0] == 0x8f ? 8 + below(4) : below(8)));
        arch->decode(bytes, 16, 0x400000, &in);
        unsigned want = length_by_addps(&d, bytes);
        if (in.kind != INSN_BAD || want == 0)
            continue;
        unknown++;
        bool good = in.length == (want > 15 ? 1 : want);
        arch->decode(exact, in.length, 0x400000, &again); /* to its last byte, and without that */
        good = good && (again.kind != INSN_BAD || again.length == in.length);
        if (in.length > 1)
            arch->decode(exact, in.length - 1u, 0x400000, &again);
        good = good && again.kind == INSN_BAD && (in.length == 1 || again.length == 1);
        if (!good && wrong++ < 5)
            printf("# %02x %02x %02x %02x %02x %02x %02x: %u, wanted %u; cut %u\n", bytes[0], bytes[1], bytes[2],
                   bytes[3], bytes[4], bytes[5], bytes[6], in.length, want, again.length);
    }
    CHECK(unknown > 5000);
    CHECK_INT(wrong, 0);
}

/* Bytes that may load an address into a register; most do not. */
static void draw_constant(uint8_t bytes[16])
{
    random_instruction(bytes);
    if (below(2)) { /* lea x(%rip),%reg */
        bytes[0] = below(2) ? 0x48 : 0x4c;
        bytes[1] = 0x8d;
        bytes[2] = (uint8_t)(5 | below(8) << 3);
    } else { /* mov $x,%reg */
        bytes[0] = 0x41;
        bytes[below(2)] = (uint8_t)(0xb8 + below(8));
    }
}

/* The bytes after an instruction do not change its decoding; it is invalid if its last byte is missing. */
static void test_ends(void)
{
    const struct arch *arch = arch_get(ARCH_X86_64);
    unsigned different = 0, cut = 0, constants[2] = {0};
    for (int i = 0; i < 60000; i++) {
        uint8_t bytes[16], reg[2] = {0};
        struct insn in;
        struct insn_facts facts[2];
        struct op op[2];
        enum branch_test tests[2] = {TEST_OTHER, TEST_OTHER};
        vaddr value[2] = {0};
        if (i % 3)
            random_instruction(bytes);
        else
            draw_constant(bytes);
        arch->decode(bytes, sizeof bytes, 0x400000, &in);
        if (in.kind == INSN_BAD)
            continue;
        static struct guarded_room edge[2];
        const uint8_t *exact = guarded_copy(&edge[0], bytes, in.length);
        memset(op, 0, sizeof op);
        memset(facts, 0, sizeof facts);
        for (int k = 0; k < 2; k++) {
            const uint8_t *p = k ? exact : bytes;
            size_t n = k ? in.length : sizeof bytes;
            arch->detail->lift(p, n, 0x400000, &op[k]);
            arch->facts(p, n, 0x400000, &facts[k]);
            if (arch->detail->constant(p, n, 0x400000, &reg[k], &value[k])) { /* which are in its last four bytes */
                int32_t last;
                memcpy(&last, p + in.length - 4, 4);
                different += value[k] != (in.length == 7 ? 0x400007 + (vaddr)(int64_t)last : (uint32_t)last);
                constants[in.length == 7]++;
            }
            if (in.kind == INSN_BRANCH)
                tests[k] = arch->detail->test(p, n);
        }
        different += memcmp(&op[0], &op[1], sizeof *op) != 0 || memcmp(&facts[0], &facts[1], sizeof *facts) != 0 ||
                     reg[0] != reg[1] || value[0] != value[1] || tests[0] != tests[1];
        exact = guarded_copy(&edge[1], bytes, in.length - 1u);
        arch->decode(exact, in.length - 1u, 0x400000, &in);
        cut += in.kind == INSN_BAD && !arch->facts(exact, (size_t)facts[0].insn.length - 1, 0x400000, &facts[1]) &&
               !arch->detail->constant(exact, (size_t)facts[0].insn.length - 1, 0x400000, &reg[1], &value[1]);
        cut -= 1;
    }
    CHECK_INT(different, 0);
    CHECK_INT(cut, 0);
    CHECK(constants[0] > 5000 && constants[1] > 5000);
}

/* ---- AArch64 against capstone --------------------------------------------------------------- */

#ifdef HAVE_CAPSTONE
#include <capstone/capstone.h>

/* Our kind for capstone's mnemonic; -1: not control flow. */
static int kind_by_capstone(const cs_insn *i)
{
    /* capstone 5 has these; 4 has no ids for them */
    if (strncmp(i->mnemonic, "bc.", 3) == 0)
        return strcmp(i->mnemonic, "bc.al") != 0 && strcmp(i->mnemonic, "bc.nv") != 0 ? INSN_BRANCH : INSN_JUMP;
    if (strcmp(i->mnemonic, "udf") == 0)
        return INSN_STOP;
    switch (i->id) {
    case ARM64_INS_B:
        return i->detail->arm64.cc != ARM64_CC_INVALID && i->detail->arm64.cc != ARM64_CC_AL &&
                       i->detail->arm64.cc != ARM64_CC_NV
                   ? INSN_BRANCH
                   : INSN_JUMP;
    case ARM64_INS_CBZ:
    case ARM64_INS_CBNZ:
    case ARM64_INS_TBZ:
    case ARM64_INS_TBNZ:
        return INSN_BRANCH;
    case ARM64_INS_BL:
        return INSN_CALL;
    case ARM64_INS_BR:
        return INSN_JUMP_INDIRECT;
    case ARM64_INS_BLR:
        return INSN_CALL_INDIRECT;
    case ARM64_INS_RET:
    case ARM64_INS_ERET:
    case ARM64_INS_DRPS:
        return INSN_RETURN;
    case ARM64_INS_BRK:
    case ARM64_INS_HLT:
        return INSN_STOP;
    default:
        return -1;
    }
}

static bool agrees_with_capstone(const struct insn *in, const cs_insn *i)
{
    int want = kind_by_capstone(i);
    if (want < 0)
        return in->kind == INSN_PLAIN || in->kind == INSN_PADDING;
    if (in->kind != want)
        return false;
    if (want != INSN_BRANCH && want != INSN_JUMP && want != INSN_CALL)
        return true;
    const cs_arm64 *a = &i->detail->arm64;
    return (vaddr)a->operands[a->op_count - 1].imm == in->target;
}

static void test_against_capstone(void)
{
    const struct arch *arch = arch_get(ARCH_AARCH64);
    csh handle;
    if (cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &handle) != CS_ERR_OK) {
        SKIP("branches of AArch64 as capstone has them", "capstone without ARM64");
        return;
    }
    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    cs_insn *i = cs_malloc(handle);
    int wrong = 0, known = 0;
    for (int round = 0; round < 300000; round++) {
        uint32_t w = below(65536) << 16 | below(65536);
        if (round % 2 == 0) /* the group of branches, half the time */
            w = (w & ~0x1e000000u) | 0x14000000u;
        uint8_t bytes[4];
        memcpy(bytes, &w, 4);
        const uint8_t *p = bytes;
        size_t n = 4;
        uint64_t at = 0x40000000;
        struct insn in;
        arch->decode(bytes, 4, 0x40000000, &in);
        if (!cs_disasm_iter(handle, &p, &n, &at, i))
            continue; /* it does not support all instructions */
        known++;
        if (!agrees_with_capstone(&in, i) && wrong++ < 5)
            printf("# %08x %s %s: kind %u, target %#llx\n", w, i->mnemonic, i->op_str, in.kind,
                   (unsigned long long)in.target);
    }
    CHECK(known > 50000);
    CHECK_INT(wrong, 0);
    cs_free(i, 1);
    cs_close(&handle);
}
#else
static void test_against_capstone(void)
{
    SKIP("branches of AArch64 as capstone has them", "built without capstone");
}
#endif

/* An address computed by adrp and add with other instructions in between, as scheduled by compilers. */
static void test_aarch64_constant(void)
{
    static const struct {
        const char *name;
        uint32_t words[4];
        bool found;
    } cases[] = {
        {"adrp, add", {0x9000001b, 0x913da37b}, true},
        {"adrp, mov w3, add", {0x9000001b, 0x52800003, 0x913da37b}, true},
        {"adrp, mov x27, add", {0x9000001b, 0xd280001b, 0x913da37b}, false},
        {"adrp, bl, add", {0x9000001b, 0x94000000, 0x913da37b}, false},
        {"adrp, ldr x27 of that page, add", {0x9000001b, 0xf940037b, 0x913da37b}, false},
        {"adrp without an add", {0x9000001b}, false},
    };
    const struct arch *arch = arch_get(ARCH_AARCH64);
    if (arch == NULL) {
        SKIP("addresses of AArch64", "built without its decoder");
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint8_t bytes[16], reg = 0, n = 0;
        vaddr value = 0;
        for (; n < 16 && cases[i].words[n / 4]; n += 4)
            for (unsigned k = 0; k < 4; k++)
                bytes[n + k] = (uint8_t)(cases[i].words[n / 4] >> 8 * k);
        bool found = arch->detail->constant(bytes, n, 0x60cfc, &reg, &value);
        CHECK_NAMED(found == cases[i].found && (!found || (reg == 27 && value == 0x60f68)), cases[i].name);
    }
}

/* Straight code that waits for others, and code that only looks like it. */
static const struct {
    enum arch_kind arch;
    const char *text, *bytes;
    bool waits;
} waiting[] = {
    {ARCH_X86_64, "pause", "f390", true},
    {ARCH_X86_64, "mov; pause", "8b07f390", true},
    {ARCH_X86_64, "the bytes of pause in a constant", "b8f3900000", false},
    {ARCH_X86_64, "futex, operation not known", "b8ca0000000f05", true},
    {ARCH_X86_64, "futex, FUTEX_WAIT_PRIVATE", "be80000000b8ca0000000f05", true},
    {ARCH_X86_64, "futex, FUTEX_WAIT by xor", "31f6b8ca0000000f05", true},
    {ARCH_X86_64, "futex, FUTEX_WAIT_BITSET", "be89000000b8ca0000000f05", true},
    {ARCH_X86_64, "futex, FUTEX_WAKE_PRIVATE", "be81000000b8ca0000000f05", false},
    {ARCH_X86_64, "another system call", "b8010000000f05", false},
    {ARCH_X86_64, "a number that was set elsewhere", "0f05", false},
    {ARCH_X86_64, "cut off", "b8ca000000f3", false},
    {ARCH_AARCH64, "yield", "3f2003d5", true},
    {ARCH_AARCH64, "mov x8, 98; svc", "480c80d2010000d4", true},
    {ARCH_AARCH64, "mov w1, FUTEX_WAKE_PRIVATE; mov x8, 98; svc", "21108052480c80d2010000d4", false},
    {ARCH_AARCH64, "mov x8, 64; svc", "080880d2010000d4", false},
};

static void test_waiting(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(waiting); i++) {
        uint8_t bytes[32];
        size_t n = strlen(waiting[i].bytes) / 2;
        for (size_t k = 0; k < n; k++) {
            const char digits[] = {waiting[i].bytes[2 * k], waiting[i].bytes[2 * k + 1], 0};
            bytes[k] = (uint8_t)strtoul(digits, NULL, 16);
        }
        static struct guarded_room edge;
        if (!CHECK_INT(arch_waits(waiting[i].arch, guarded_copy(&edge, bytes, n), n), waiting[i].waits))
            printf("# waiting: %s\n", waiting[i].text);
    }
}

/* For any bytes, however few: a length is at least one and does not exceed them. */
static void test_lengths(void)
{
    int wrong = 0;
    for (int i = 0; i < 400000; i++) {
        uint8_t bytes[16];
        struct insn in = {0};
        random_instruction(bytes);
        static struct guarded_room edge;
        size_t n = 1 + below(sizeof bytes);
        const uint8_t *exact = guarded_copy(&edge, bytes, n);
        arch_get(i % 4 ? ARCH_X86_64 : ARCH_AARCH64)->decode(exact, n, 0x400000, &in);
        wrong += in.length < 1 || in.length > n;
    }
    CHECK_INT(wrong, 0);
}

int main(void)
{
    RUN(test_asked);
    RUN(test_rows);
    RUN(test_lengths);
    RUN(test_waiting);
    RUN(test_against_capstone);
    RUN(test_against_zydis);
    RUN(test_ends);
    RUN(test_lifted);
    RUN(test_unknown_lengths);
    RUN(test_aarch64_constant);
    return tap_done();
}
