/* The decoders: single instructions by their bytes, and the quick way of x86-64 against Zydis itself. */
#include "config.h"

#include "bloop/arch/facts.h"
#include "bloop/arch/ops.h"
#include "tests/tap.h"

#include <Zydis/Zydis.h>
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
        /* Alone and with other bytes behind it: the second time the form is known. */
        size_t n = from_hex(rows[i].bytes, bytes);
        uint8_t *exact = mem_alloc(n);
        memcpy(exact, bytes, n);
        memset(bytes + n, 0xcc, sizeof bytes - n);
        bool good = true;
        for (int again = 0; again < 3; again++) {
            bool cut = rows[i].kind == INSN_BAD;
            arch->decode(again == 1 && !cut ? bytes : exact, again == 1 && !cut ? sizeof bytes : n, 0x1000, &in);
            good &= in.length == rows[i].length && in.kind == rows[i].kind && in.target == rows[i].target;
        }
        mem_free(exact);
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

/* Addresses that one instruction puts into a register: most are none. */
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

/* An instruction is the same whatever lies behind it, and none where its last byte is missing. */
static void test_ends(void)
{
    const struct arch *arch = arch_get(ARCH_X86_64);
    unsigned different = 0, cut = 0, constants = 0;
    for (int i = 0; i < 60000; i++) {
        uint8_t bytes[16], reg[2] = {0};
        struct insn in;
        struct insn_facts facts[2];
        struct op op[2], compared[2] = {{0}};
        vaddr value[2] = {0};
        if (i % 3)
            random_instruction(bytes);
        else
            draw_constant(bytes);
        arch->decode(bytes, sizeof bytes, 0x400000, &in);
        if (in.kind == INSN_BAD)
            continue;
        uint8_t *exact = mem_alloc(in.length);
        memcpy(exact, bytes, in.length);
        memset(op, 0, sizeof op);
        memset(facts, 0, sizeof facts);
        for (int k = 0; k < 2; k++) {
            const uint8_t *p = k ? exact : bytes;
            size_t n = k ? in.length : sizeof bytes;
            arch->detail->lift(p, n, 0x400000, &op[k]);
            arch->facts(p, n, 0x400000, &facts[k]);
            constants += arch->detail->constant(p, n, 0x400000, &reg[k], &value[k]);
            if (in.kind == INSN_BRANCH)
                compared[k].kind = (uint8_t)arch->detail->test(p, n, 0x400000, &compared[k]);
        }
        different += memcmp(&op[0], &op[1], sizeof *op) != 0 || memcmp(&facts[0], &facts[1], sizeof *facts) != 0 ||
                     reg[0] != reg[1] || value[0] != value[1] || compared[0].kind != compared[1].kind;
        arch->decode(exact, in.length - 1u, 0x400000, &in);
        cut += in.kind == INSN_BAD && !arch->facts(exact, (size_t)facts[0].insn.length - 1, 0x400000, &facts[1]) &&
               !arch->detail->constant(exact, (size_t)facts[0].insn.length - 1, 0x400000, &reg[1], &value[1]);
        cut -= 1;
        mem_free(exact);
    }
    CHECK_INT(different, 0);
    CHECK_INT(cut, 0);
    CHECK(constants > 5000);
}

/* ---- AArch64 against capstone --------------------------------------------------------------- */

#ifdef HAVE_CAPSTONE
#include <capstone/capstone.h>

/* What capstone's word for an instruction means to us; -1: nothing for control flow. */
static int kind_by_capstone(const cs_insn *i)
{
    /* capstone 5 knows these, 4 has no numbers for them */
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
            continue; /* it knows less than there is */
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

/* An address made of adrp and add, with other instructions in between, as compilers schedule them. */
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
        if (!CHECK_INT(arch_waits(waiting[i].arch, bytes, n), waiting[i].waits))
            printf("# waiting: %s\n", waiting[i].text);
    }
}

/* Whatever the bytes, and however few: an instruction takes at least one, and none that is not there. */
static void test_lengths(void)
{
    int wrong = 0;
    for (int i = 0; i < 400000; i++) {
        uint8_t bytes[16];
        struct insn in = {0};
        random_instruction(bytes);
        size_t n = 1 + below(sizeof bytes);
        arch_get(i % 4 ? ARCH_X86_64 : ARCH_AARCH64)->decode(bytes, n, 0x400000, &in);
        wrong += in.length < 1 || in.length > n;
    }
    CHECK_INT(wrong, 0);
}

int main(void)
{
    test_rows();
    test_lengths();
    test_waiting();
    test_against_capstone();
    test_against_zydis();
    test_ends();
    test_aarch64_constant();
    return tap_done();
}
