/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * QEMU's plugin with a fake QEMU, which translates instructions, and reports accesses split as QEMU does. The simulator
 * must receive the program's accesses. System calls of the library preloaded into such programs (heap.c) reach the
 * plugin as well.
 */
#include "config.h"
#include "mhsim/instrument/decode.h"
#include "tests/fakes/fake_runtime.h"
#include "mhsim/instrument/qemu_api.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- QEMU -------------------------------------------------------------------------------------- */

extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t, const qemu_info_t *, int argc, char **argv);

struct qemu_plugin_insn {
    uint64_t address; /* the guest's */
    uint8_t *host;    /* NULL: unknown to QEMU */
    size_t size;
    qemu_plugin_mem_cb recorded;
    void *data;
};
struct qemu_plugin_tb {
    size_t count;
    struct qemu_plugin_insn *insns;
};

static qemu_plugin_tb_cb on_translation;
static qemu_plugin_syscall_cb on_syscall;
static qemu_plugin_atexit_cb at_exit;
static bool wrong_use;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_cb f)
{
    wrong_use |= id != 77;
    on_translation = f;
}

void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_syscall_cb f)
{
    wrong_use |= id != 77;
    on_syscall = f;
}

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_atexit_cb f, void *data)
{
    wrong_use |= id != 77 || data;
    at_exit = f;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_cb f,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw, void *data)
{
    wrong_use |= flags != QEMU_PLUGIN_CB_NO_REGS || rw != QEMU_PLUGIN_MEM_RW;
    insn->recorded = f;
    insn->data = data;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
    return tb->count;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i)
{
    wrong_use |= i >= tb->count;
    return &tb->insns[i < tb->count ? i : 0];
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
    return insn->size;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
    return insn->address;
}

void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn)
{
    return insn->host;
}

/* As QEMU packs them: log2 of the size, and further up whether it writes. */
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info)
{
    return info & 7;
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
    return info >> 16 & 1;
}

static qemu_plugin_meminfo_t info_of(uint32_t size, bool write)
{
    uint32_t shift = 0;
    while (1u << shift < size)
        shift++;
    return shift | (uint32_t)write << 16 | below(2) << 5;
}

/* Are the functions of interface 2 available? Called by a constructor: see test_version. */
void *dlsym(void *handle, const char *name)
{
    (void)handle;
    return strcmp(name, "qemu_plugin_num_vcpus") == 0 && getenv("QEMU_TEST_NEW") ? &wrong_use : NULL;
}

/* ---- instructions ---------------------------------------------------------------------------------- */

static const struct known {
    uint8_t bytes[8], size, wide; /* wide: of an access that comes in pieces */
    bool memory, stack_read, stack_written;
} known[] = {
    {{0x48, 0x8b, 0x07}, 3, 0, true, false, false},                   /* mov rax, [rdi] */
    {{0x48, 0x89, 0x44, 0x24, 0x08}, 5, 0, true, false, true},        /* mov [rsp + 8], rax */
    {{0x67, 0x8b, 0x04, 0x24}, 4, 0, true, true, false},              /* mov eax, [esp] */
    {{0x48, 0x01, 0x44, 0x24, 0x08}, 5, 0, true, true, true},         /* add [rsp + 8], rax */
    {{0x01, 0x07}, 2, 0, true, false, false},                         /* add [rdi], eax */
    {{0x0f, 0x28, 0x07}, 3, 16, true, false, false},                  /* movaps xmm0, [rdi] */
    {{0x0f, 0x11, 0x04, 0x24}, 4, 16, true, false, true},             /* movups [rsp], xmm0 */
    {{0xc5, 0xfc, 0x10, 0x04, 0x8f}, 5, 32, true, false, false},      /* vmovups ymm0, [rdi + rcx * 4] */
    {{0xc5, 0xfc, 0x11, 0x07}, 4, 32, true, false, false},            /* vmovups [rdi], ymm0 */
    {{0xc5, 0xf5, 0x58, 0x44, 0x24, 0x20}, 6, 32, true, true, false}, /* vaddpd ymm0, ymm1, [rsp + 32] */
    {{0xc4, 0xe2, 0x7d, 0x18, 0x07}, 5, 0, true, false, false},       /* vbroadcastss ymm0, [rdi] */
    {{0xc4, 0xe2, 0x6d, 0x92, 0x04, 0x8f}, 6, 0, true, false, false}, /* vgatherdps ymm0, [rdi + ymm1 * 4], ymm2 */
    {{0x48, 0x0f, 0xc7, 0x0f}, 4, 16, true, false, false},            /* cmpxchg16b [rdi] */
    {{0xdb, 0x2f}, 2, 10, true, false, false},                        /* fld tbyte [rdi] */
    {{0x50}, 1, 0, true, false, true},                                /* push rax */
    {{0x58}, 1, 0, true, true, false},                                /* pop rax */
    {{0xff, 0x37}, 2, 0, true, false, true},                          /* push [rdi] */
    {{0x8f, 0x07}, 2, 0, true, true, false},                          /* pop [rdi] */
    {{0xff, 0x74, 0x24, 0x08}, 4, 0, true, true, true},               /* push [rsp + 8] */
    {{0xff, 0x15, 0x08, 0x00, 0x00, 0x00}, 6, 0, true, false, true},  /* call [rip + 8] */
    {{0xff, 0xd0}, 2, 0, true, false, true},                          /* call rax */
    {{0xc3}, 1, 0, true, true, false},                                /* ret */
    {{0xff, 0x27}, 2, 0, true, false, false},                         /* jmp [rdi] */
    {{0x48, 0xa5}, 2, 0, true, false, false},                         /* movsq */
    {{0x9c}, 1, 0, true, false, true},                                /* pushfq */
    {{0x48, 0x87, 0x04, 0x24}, 4, 0, true, true, true},               /* xchg [rsp], rax */
    {{0xc4, 0xe2, 0x75, 0x2c, 0x07}, 5, 32, true, false, false},      /* vmaskmovps ymm0, ymm1, [rdi] */
    {{0x48, 0x8d, 0x44, 0x24, 0x08}, 5, 0, false, false, false},      /* lea rax, [rsp + 8] */
    {{0x48, 0x01, 0xd8}, 3, 0, false, false, false},                  /* add rax, rbx */
    {{0x0f, 0x0b}, 2, 0, false, false, false},                        /* ud2 */
    {{0x06}, 1, 0, false, false, false},                              /* no access */
};
enum { KNOWN = sizeof known / sizeof *known };

static void test_decode(void)
{
    for (int i = 0; i < KNOWN; i++) {
        struct decoded d = {1, true, true, true, true};
        CHECK_INT(decode_x86_64(known[i].bytes, known[i].size, &d), known[i].bytes[0] != 0x06);
        CHECK_INT(d.bytes, known[i].wide);
        CHECK(d.memory == known[i].memory && !d.unreported);
        CHECK(d.stack_read == known[i].stack_read && d.stack_written == known[i].stack_written);
        CHECK(!decode_x86_64(known[i].bytes, known[i].size - 1u, &d) && !d.memory); /* cut off */
    }
}

#ifdef HAVE_CAPSTONE
#include <capstone/capstone.h>

/* Access size of an instruction by its assembly operands: the registers before the address. */
static uint32_t width_of(const char *name, const char *operands)
{
    static const struct {
        char letter;
        uint32_t bytes;
    } widths[] = {{'w', 4}, {'x', 8}, {'b', 1}, {'h', 2}, {'s', 4}, {'d', 8}, {'q', 16}};
    uint32_t sum = 0, vectors = 0;
    bool whole = strstr(operands, "16b") || strstr(operands, "8h") || strstr(operands, "4s") || strstr(operands, "2d");
    for (const char *at = operands; *at && *at != '['; at++) {
        if (at > operands && at[-1] != ' ' && at[-1] != '{')
            continue;
        vectors += *at == 'v';
        for (uint32_t i = 0; i < sizeof widths / sizeof *widths && *at != 'v'; i++)
            if (*at == widths[i].letter && (at[1] == 'z' || (at[1] >= '0' && at[1] <= '9')))
                sum = widths[i].bytes;
    }
    bool pair = strstr(name, "xp") || name[2] == 'p' || strncmp(name + 2, "np", 2) == 0;
    if (vectors) /* all of them, not one element of each */
        return strchr(operands, '[') == strrchr(operands, '[') && name[3] != 'r' ? vectors * (whole ? 16 : 8) : 0;
    return strcmp(name, "ldpsw") == 0 ? 8 : pair ? 2 * sum : sum;
}

static bool is_known_alike(uint32_t w, const cs_insn *i)
{
    struct decoded d;
    uint8_t bytes[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24)};
    bool literal = !strchr(i->op_str, '[') && (strncmp(i->mnemonic, "ldr", 3) == 0 || strcmp(i->mnemonic, "prfm") == 0);
    bool on_stack = strstr(i->op_str, "[sp"), memory = strstr(i->op_str, "[x") || on_stack || literal;
    uint32_t width = memory && i->mnemonic[0] != 'p' ? width_of(i->mnemonic, i->op_str) : 0;
    bool read = decode_aarch64(bytes, 4, &d);
    return read && !d.unreported && d.memory == memory && d.stack_read == on_stack && d.stack_written == on_stack &&
           d.bytes == (width > 8 ? width : 0);
}

static void test_decode_aarch64(void)
{
    csh capstone;
    cs_insn *i;
    uint32_t wrong = 0, memory = 0, wide = 0;
    if (cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &capstone) != CS_ERR_OK) {
        SKIP("AArch64's accesses as capstone has them", "capstone without ARM64");
        return;
    }
    for (int n = 0; n < 60000; n++) {
        uint32_t w = (uint32_t)(random64() >> 32);
        if (n % 8)
            w = (w & ~0x0a000000u) | 0x08000000;
        if (n % 3 == 0)
            w |= 31 << 5;
        uint8_t bytes[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24)};
        if (cs_disasm(capstone, bytes, 4, 0, 1, &i) != 1)
            continue;
        memory += strchr(i->op_str, '[') != NULL;
        wide += width_of(i->mnemonic, i->op_str) > 8;
        if (!is_known_alike(w, i) && wrong++ < 20)
            printf("# %08x %s %s\n", w, i->mnemonic, i->op_str);
        cs_free(i, 1);
    }
    cs_close(&capstone);
    CHECK_INT(wrong, 0);
    CHECK(memory > 10000 && wide > 1000);
}
#else
static void test_decode_aarch64(void)
{
    SKIP("AArch64's accesses as capstone has them", "built without capstone");
}
#endif

/* ---- a program under QEMU ------------------------------------------------------------------------------ */

enum { INSNS = 96, APART = 16 };
static uint8_t codes[4][INSNS * APART], *code; /* of programs; of the one that runs */
static struct qemu_plugin_insn insns[INSNS];
static const struct known *of[INSNS]; /* NULL: QEMU does not know its bytes */
static uint64_t base;                 /* host address - guest's */

static struct recorded expected[RECORDED_MOST];
static uint32_t expected_count;
static uint64_t expected_joined;
static struct recorded part; /* of an access that a fault ended */

static void expect(struct recorded t)
{
    if (part.what && expected_count < RECORDED_MOST)
        expected[expected_count++] = part;
    part.what = 0;
    if (t.what && expected_count < RECORDED_MOST)
        expected[expected_count++] = t;
}

static void translate(uint32_t from, uint32_t n)
{
    struct qemu_plugin_tb tb = {n, insns + from};
    on_translation(77, &tb);
}

static void make_program(int which)
{
    code = codes[which];
    base = which % 2 ? 0 : 0x7000000;
    for (uint32_t i = 0; i < INSNS; i++) {
        of[i] = i > 0 && below(8) == 0 ? NULL : &known[below(KNOWN)];
        const struct known *k = of[i] ? of[i] : known;
        memcpy(code + APART * i, k->bytes, k->size);
        insns[i] = (struct qemu_plugin_insn){.address = (uint64_t)(uintptr_t)code + APART * i - base,
                                             .host = of[i] ? code + APART * i : NULL,
                                             .size = k->size};
    }
    for (uint32_t from = 0, n; from < INSNS; from += n) {
        n = 1 + below(9);
        n = n < INSNS - from ? n : INSNS - from;
        translate(from, n);
        if (below(2)) /* QEMU discards its translations and repeats them */
            translate(from, n);
    }
}

static bool whole_is_told(const struct recorded *t)
{
    const struct recorded *e = &expected[t - recorded->rows];
    return t->what == e->what && t->code == e->code && t->address == e->address && t->size == e->size &&
           t->frame == 0 && t->write == e->write && t->on_stack == e->on_stack && strcmp(t->name, e->name) == 0;
}

static void check_expected(const char *name)
{
    bool good = recorded->count == expected_count && recorded_head.joined == expected_joined;
    for (uint32_t i = 0; i < expected_count && good; i++) {
        good = whole_is_told(&recorded->rows[i]);
        if (!good)
            printf("# %u: %d of %llx at %llx, %llu\n", i, recorded->rows[i].what,
                   (unsigned long long)recorded->rows[i].code, (unsigned long long)recorded->rows[i].address,
                   (unsigned long long)recorded->rows[i].size);
    }
    CHECK_NAMED(good, name);
    recorded->count = expected_count = 0;
}

/* One access of an instruction, all of it or until a fault. */
static void execute(uint32_t i, bool write, bool whole)
{
    const struct known *k = of[i];
    uint32_t wide = k ? k->wide : 0, piece = wide > 8 ? 8u : 1u << below(4), done = 0;
    uint64_t address = random64() >> 20;
    if (wide && below(8) == 0)
        piece = 16; /* not in pieces, or in fewer */
    uint32_t all = wide > piece ? wide : piece, until = whole ? all : piece * (1 + below((all - 1) / piece));
    struct recorded t = {.what = ACCESS,
                         .code = insns[i].address + base,
                         .address = address + base,
                         .write = write,
                         .on_stack = k && (write ? k->stack_written : k->stack_read)};
    expect((struct recorded){0});
    for (; done < until; done += piece) {
        uint32_t size = done + piece > all ? all - done : piece;
        insns[i].recorded(below(4), info_of(size, write), address + done, insns[i].data);
        expected_joined += done > 0;
        t.size += size;
    }
    if (t.size < all)
        part = t;
    else
        expect(t);
}

static void execute_any(void)
{
    uint32_t i = below(INSNS);
    bool parts = of[i] && of[i]->wide > 16;
    execute(i, below(2), !parts || below(8));
}

static void *execute_elsewhere(void *ctx)
{
    struct recorded kept = part; /* pieces of a split access are pending per thread */
    (void)ctx;
    part.what = 0;
    for (uint32_t i = 0; i < 8; i++)
        execute(below(INSNS), below(2), true);
    part = kept;
    return NULL;
}

static void test_program(int which)
{
    uint64_t memory = 0;
    runtime_on = false;
    translate(0, INSNS);
    CHECK(!insns[0].recorded);
    runtime_on = true;
    make_program(which);
    for (uint32_t i = 0; i < INSNS; i++)
        memory += of[i] && of[i]->memory;
    CHECK_INT(recorded_head.instructions, memory);
    CHECK_INT(recorded_head.unreported, 0);
    CHECK_INT(recorded->count, 0);
    for (int i = 0; i < 1500; i++) {
        execute_any();
        if (below(100) == 0) {
            pthread_t t;
            CHECK(pthread_create(&t, NULL, execute_elsewhere, NULL) == 0 && pthread_join(t, NULL) == 0);
        }
    }
    expect((struct recorded){0});
    execute(0, false, true);
    check_expected("accesses are told once, whole");
    runtime_on = false;
    insns[0].recorded(0, info_of(8, false), 64, insns[0].data);
    CHECK_INT(recorded->count, 0);
    memset(insns, 0, sizeof insns);
    recorded_head.instructions = 0;
}

/* ---- the program's system calls ------------------------------------------------------------------------ */

static bool in_program; /* the library's calls come from one */

static void ask(int64_t number, uint64_t a1, uint64_t a2, uint64_t a3)
{
    on_syscall(77, 0, number, a1, a2, a3, 4, 5, 6, 7, 8);
}

/* The system calls of heap.c. */
long syscall(long number, ...)
{
    va_list more;
    uint64_t a[3];
    va_start(more, number);
    for (int i = 0; i < 3 && in_program; i++)
        a[i] = i == 0 || number != RAW_MEASURE_CALL ? va_arg(more, uint64_t) : 0;
    va_end(more);
    if (in_program)
        ask(number, a[0], a[1], a[2]);
    errno = ENOSYS;
    return -1;
}

static void test_syscalls(long exec, long execveat)
{
    const char *name = "solve", *program = "/bin/other";
    uint64_t at = (uint64_t)(uintptr_t)program - base, numbers[] = {0, 1, 60, 231, 59, 322, 221, 281};
    runtime_on = true;
    for (int i = 0; i < 300; i++) {
        uint64_t a[3] = {random64() >> 20, random64() >> 40, random64() >> 20};
        switch (below(4)) {
        case 0:
            ask(RAW_HEAP_CALL, a[0], a[1], a[2]);
            expect((struct recorded){.what = ALLOCATED, .code = a[2] + base, .address = a[0] + base, .size = a[1]});
            break;
        case 1:
            ask(RAW_MEASURE_CALL, a[0] &= 2, 1, 1);
            expect((struct recorded){.what = SETTLED});
            expect((struct recorded){.what = MEASURED, .code = a[0] != 0});
            break;
        case 2:
            ask(RAW_REGION_CALL, (uint64_t)(uintptr_t)name - base, a[1] &= 4, 0);
            expect((struct recorded){.what = REGION, .code = a[1] != 0, .name = "solve"});
            break;
        default: {
            int64_t number = (int64_t)numbers[below(8)];
            *recorded_head.execs = '\0';
            ask(number, number == execveat ? 3 : at, number == exec ? 1 : at, 1);
            expect((struct recorded){.what = SETTLED});
            bool is_exec = number == exec || number == execveat;
            if (strcmp(recorded_head.execs, is_exec ? program : "") != 0)
                CHECK_STR(recorded_head.execs, is_exec ? program : "");
        }
        }
    }
    runtime_on = false;
    ask(RAW_HEAP_CALL, 1, 2, 3);
    ask(exec, at, at, at);
    check_expected("what the program asks the kernel");
    CHECK(*recorded_head.execs == '\0' || strcmp(recorded_head.execs, program) == 0);
}

struct hpcview_calls {
    void (*start)(void), (*stop)(void), (*region_begin)(const char *), (*region_end)(const char *);
};
extern const struct hpcview_calls hpcview_calls_1;

static void *asked(void *p, uint64_t size, int error)
{
    in_program = runtime_on = false;
    const struct recorded *t = recorded->rows;
    CHECK(p && recorded->count == 1 && t->what == ALLOCATED && t->address == (uint64_t)(uintptr_t)p + base &&
          t->size == size);
    CHECK_INT(error, 5);
    /* One of the functions around here: compilers place them before and after each other. */
    CHECK_NAMED(t->code - base - (uint64_t)(uintptr_t)asked + 0x4000 < 0x8000, "who asked for it");
    recorded->count = 0;
    runtime_on = in_program = true;
    errno = 5;
    return p;
}

static void test_heap(void)
{
    void *p = NULL;
    runtime_on = in_program = true;
    errno = 5;
    p = asked(malloc(100), 100, errno);
    p = asked(realloc(p, 1000), 1000, errno);
    free(p);
    free(asked(calloc(3, 7), 21, errno));
    p = malloc(SIZE_MAX / 2);
    in_program = runtime_on = false;
    CHECK(!p && recorded->count == 0);
    runtime_on = in_program = true;
    hpcview_calls_1.start();
    hpcview_calls_1.stop();
    hpcview_calls_1.region_begin("one"); /* (host and guest are one where base is 0) */
    hpcview_calls_1.region_end("one");
    in_program = runtime_on = false;
    expect((struct recorded){.what = SETTLED});
    expect((struct recorded){.what = MEASURED, .code = 1});
    expect((struct recorded){.what = SETTLED});
    expect((struct recorded){.what = MEASURED});
    expect((struct recorded){.what = REGION, .code = 1, .name = "one"});
    expect((struct recorded){.what = REGION, .name = "one"});
    check_expected("measuring and regions");
}

/* ---- beginning and end ------------------------------------------------------------------------------------ */

static bool install(const char *target, bool system)
{
    qemu_info_t info = {.target_name = target, .system_emulation = system};
    on_translation = NULL;
    on_syscall = NULL;
    at_exit = NULL;
    recorded->count = 0;
    runtime_on = false;
    int got = qemu_plugin_install(77, &info, 0, NULL);
    CHECK(got == 0 || got == -1);
    CHECK((got == 0) == (on_translation && on_syscall && at_exit));
    return got == 0;
}

static void test_install(void)
{
    recorded_note((struct recorded){.what = OPENED});
    CHECK(!install("arm", false) && !install("x86_64", true) && !install("aarch64", true));
    CHECK_INT(recorded->count, 0);
    recorded_refuses = true;
    CHECK(!install("x86_64", false));
    recorded_refuses = false;
    CHECK(install("x86_64", false));
    CHECK(recorded->count == 1 && recorded->rows[0].what == OPENED && recorded->rows[0].code == RAW_QEMU);
    int status = -1;
    recorded->count = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, &status, 0);
    CHECK(recorded_count(SETTLED) == 1 && recorded_count(FORKED) == 1);
    recorded->count = 0;
    at_exit(77, NULL);
    CHECK(recorded->count == 1 && recorded->rows[0].what == CLOSED);
    recorded->count = 0;
}

/* A constructor has chosen it before. */
static void test_version(const char *self)
{
    char command[600];
    CHECK_INT(qemu_plugin_version, 1);
    snprintf(command, sizeof command, "QEMU_TEST_NEW=1 '%s' version", self);
    int status = system(command);
    CHECK_INT(WEXITSTATUS(status), 2);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return qemu_plugin_version;
    test_version(argv[0]);
    RUN(test_decode);
    RUN(test_decode_aarch64);
    RUN(test_install);
    for (int i = 0; i < 3; i++)
        test_program(i);
    test_syscalls(59, 322); /* with a dirfd; the following ones are without */
    test_program(3);
    CHECK(install("aarch64", false));
    recorded->count = 0;
    test_syscalls(221, 281);
    base = 0;
    RUN(test_heap);
    CHECK(!wrong_use);
    return tap_done();
}
