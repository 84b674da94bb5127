/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows from call frame information, walks over hand-made stacks, and damage to both. */
#include "hpcprof/recorder/unwind/unwind.h"
#include "tests/tap.h"

#include <stdlib.h>

/* ---- hand-made sections ----------------------------------------------------------------------------------------- */

static uint8_t section[4096];
static size_t used;

static void put(const void *bytes, size_t n)
{
    memcpy(section + used, bytes, n);
    used += n;
}

static void put_u32(uint32_t v)
{
    put(&v, 4);
}

/* Pads to 4 with nops and sets the entry's length. */
static void end_entry(size_t begin)
{
    static const uint8_t nop;
    while (used % 4)
        put(&nop, 1);
    uint32_t length = (uint32_t)(used - begin - 4);
    memcpy(section + begin, &length, 4);
}

/* x86-64's: code alignment 1, data alignment -8, "zR" with pointers of 4 bytes as they are; CFA = rsp + 8, rip at CFA
 * - 8.
 */
static size_t put_cie(const char *augmentation)
{
    size_t begin = used;
    uint8_t encoding = 0x03, version = 1, align[] = {1, 0x78, 16, 1}, initial[] = {0x0c, 7, 8, 0x90, 1};
    put_u32(0);
    put_u32(0);
    put(&version, 1);
    put(augmentation, strlen(augmentation) + 1);
    put(align, sizeof align);
    put(&encoding, 1);
    put(initial, sizeof initial);
    end_entry(begin);
    return begin;
}

static void put_fde(size_t cie, uint32_t code, uint32_t size, const char *instructions, size_t n)
{
    size_t begin = used;
    put_u32(0);
    put_u32((uint32_t)(used - cie));
    put_u32(code);
    put_u32(size);
    put("", 1); /* no augmentation data */
    put(instructions, n);
    end_entry(begin);
}
#define FDE(cie, code, size, text) put_fde(cie, code, size, text, sizeof text - 1)

enum { BASE = 0x1000, LIMIT = 0x9000 };

static struct unwind_rows compiled(void)
{
    struct unwind_section s = {section, used, 0x100000, false, BASE, LIMIT};
    struct unwind_rows rows;
    unwind_rows_compile(&rows, &s, UNWIND_X86_64);
    return rows;
}

/* push rbp; mov rsp,rbp; ...; leave; ret - and a leaf with rbx pushed; and one that realigns its stack */
static void usual_section(void)
{
    used = 0;
    size_t cie = put_cie("zR");
    FDE(cie, 0x3000, 0x100, "\x41\x0e\x10\x83\x02\x0a\x50\x0e\x08\xc3\x45\x0b"); /* rbx, with remember and restore */
    FDE(cie, 0x2000, 0x100, "\x41\x0e\x10\x86\x02\x43\x0d\x06\x02\x80\x0c\x07\x08");
    FDE(cie, 0x4000, 0x20, "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22");
    FDE(cie, 0x5000, 0x100, "\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00");
    FDE(cie, 0x6000, 0x100, "\x07\x10");
}

static const struct unwind_row *row_at(const struct unwind_rows *rows, uint64_t address)
{
    return unwind_rows_find(rows, address - BASE);
}

static bool cfa_is(const struct unwind_rows *rows, uint64_t address, unsigned kind, unsigned reg, int offset)
{
    const struct unwind_row *r = row_at(rows, address);
    return r && r->cfa.kind == kind && r->cfa.reg == reg && r->cfa.offset == offset;
}

static void test_rows(void)
{
    usual_section();
    struct unwind_rows rows = compiled();
    CHECK(cfa_is(&rows, 0x2000, UNWIND_REG, 7, 8));
    CHECK(cfa_is(&rows, 0x2001, UNWIND_REG, 7, 16));
    CHECK(cfa_is(&rows, 0x2004, UNWIND_REG, 6, 16));
    CHECK(cfa_is(&rows, 0x2083, UNWIND_REG, 6, 16));
    CHECK(cfa_is(&rows, 0x2084, UNWIND_REG, 7, 8));
    CHECK(row_at(&rows, 0x2004)->fp.kind == UNWIND_CFA && row_at(&rows, 0x2004)->fp.offset == -16);
    CHECK(row_at(&rows, 0x2004)->ra.kind == UNWIND_CFA && row_at(&rows, 0x2004)->ra.offset == -8);
    CHECK(row_at(&rows, 0x1fff) == NULL);
    CHECK(row_at(&rows, 0x2100) == NULL);
    CHECK(cfa_is(&rows, 0x3010, UNWIND_REG, 7, 16));
    CHECK(cfa_is(&rows, 0x3011, UNWIND_REG, 7, 8));
    CHECK(row_at(&rows, 0x3011)->base.kind == UNWIND_SAME);
    CHECK(cfa_is(&rows, 0x3016, UNWIND_REG, 7, 16));
    CHECK(row_at(&rows, 0x3016)->base.kind == UNWIND_CFA);
    CHECK(cfa_is(&rows, 0x4005, UNWIND_PLT, 11, 8));
    CHECK(cfa_is(&rows, 0x5000, UNWIND_DEREF, 6, -8));
    CHECK(row_at(&rows, 0x5000)->fp.kind == UNWIND_AT);
    CHECK(row_at(&rows, 0x6000)->ra.kind == UNWIND_UNDEFINED);
    CHECK(row_at(&rows, 0x7000) == NULL);
    unwind_rows_free(&rows);
}

static void test_many_rows(void)
{
    used = 0;
    size_t cie = put_cie("zR");
    for (uint32_t i = 0; i < 100; i++) /* each the same: ten rows, of which two differ */
        FDE(cie, 0x1000 + (i * 37 % 100) * 0x10, 0x10, "\x44\x0e\x10\x44\x0e\x08");
    struct unwind_rows rows = compiled();
    CHECK_INT(rows.distinct.count, 3);
    bool right = true;
    for (uint32_t i = 0; i < 100; i++)
        right = right && cfa_is(&rows, 0x1000 + i * 0x10 + 3, UNWIND_REG, 7, 8) &&
                cfa_is(&rows, 0x1000 + i * 0x10 + 4, UNWIND_REG, 7, 16) &&
                cfa_is(&rows, 0x1000 + i * 0x10 + 8, UNWIND_REG, 7, 8);
    CHECK(right);
    unwind_rows_free(&rows);
}

/* Two entries for the same code: each applies up to the start of the other, and the order is preserved. */
static void test_overlap(void)
{
    used = 0;
    size_t cie = put_cie("zR");
    FDE(cie, 0x2000, 0x1000, "\x0e\x20");
    FDE(cie, 0x2100, 0x10, "\x0e\x30");
    FDE(cie, 0x2100, 0x20, "\x0e\x40");
    FDE(cie, 0xfffffff0, 0x20, "\x0e\x50"); /* not this object's code */
    struct unwind_rows rows = compiled();
    CHECK(cfa_is(&rows, 0x20ff, UNWIND_REG, 7, 0x20));
    CHECK(cfa_is(&rows, 0x2100, UNWIND_REG, 7, 0x40));
    const uint32_t *begin = rows.begin.items;
    bool sorted = true;
    for (size_t i = 1; i < rows.begin.count; i++)
        sorted = sorted && begin[i - 1] < begin[i];
    CHECK(sorted);
    unwind_rows_free(&rows);
}

/* ---- walks ------------------------------------------------------------------------------------------------------- */

static union {
    struct unwind_map map;
    uint8_t room[sizeof(struct unwind_map) + sizeof(struct unwind_object)];
} one;

enum { STACK = 0x70000000, WORDS = 96, FRAMES = 32 };
static uint64_t stack[WORDS], found[FRAMES];
static uint32_t found_count;

/* The code to which handlers return, without rows. */
enum { RETURN_X64 = 0x8200, RETURN_A64 = 0x8300 };

static bool peek_code(uint64_t address, void *to, size_t n)
{
    static const char x64[] = "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", a64[] = "\x68\x11\x80\xd2\x01\0\0\xd4";
    const char *code = address == RETURN_X64 ? x64 : address == RETURN_A64 ? a64 : NULL;
    if (code)
        memcpy(to, code, n);
    return code != NULL;
}

static enum unwind_end walk(const struct unwind_rows *rows, enum unwind_machine machine, uint64_t pc, uint64_t sp,
                            uint64_t fp)
{
    const struct unwind_numbers *n = &unwind_numbers[machine];
    struct unwind_registers r = {.pc = pc, .known = ~(uint64_t)0 >> 31};
    struct unwind_memory m = {STACK, STACK + sizeof stack, (const uint8_t *)stack, .copied = true};
    struct unwind_path path = {.word = found, .mask = UINT32_MAX, .room = FRAMES};
    struct unwinder u = {machine, &one.map, NULL, peek_code};
    r.reg[n->sp] = sp;
    r.reg[n->fp] = fp;
    one.map.count = 1;
    one.map.object[0] = (struct unwind_object){BASE, LIMIT, rows};
    enum unwind_end end = unwind_walk(&u, &r, &m, &path);
    found_count = path.count;
    return end;
}

static void test_walk(void)
{
    usual_section();
    struct unwind_rows rows = compiled();
    memset(stack, 0, sizeof stack);
    /* 0x3010 (rbx pushed) called from 0x2050 (rbp's frame), called from 0x6010, the first */
    stack[1] = 0x2050;
    stack[5] = 0x1234; /* the first's rbp */
    stack[6] = 0x6010;
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x3010, STACK, STACK + 5 * 8), UNWIND_COMPLETE);
    CHECK_INT(found_count, 2);
    CHECK(found[0] == 0x204f && found[1] == 0x600f);
    /* in the stub, at its 12th byte: one word more on the stack */
    stack[1] = 0x6010;
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x400b, STACK, 0), UNWIND_COMPLETE);
    CHECK_INT(found_count, 1);
    stack[0] = 0x6010;
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x400a, STACK, 0), UNWIND_COMPLETE);
    CHECK_INT(found_count, 1);
    /* no rows, but a return address at the place used by functions without a frame */
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x8000, STACK, 0), UNWIND_COMPLETE);
    CHECK_INT(found_count, 1);
    /* no rows at all, but frame pointers: 0x8000 -> 0x8100 -> 0x6010 */
    memset(stack, 0, sizeof stack);
    stack[4] = STACK + 8 * 8;
    stack[5] = 0x8100;
    stack[8] = STACK + 60 * 8;
    stack[9] = 0x6010;
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x8000, STACK, STACK + 4 * 8), UNWIND_COMPLETE);
    CHECK_INT(found_count, 2);
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x8000, STACK, 12345), UNWIND_NO_ROWS);
    unwind_rows_free(&rows);
}

/* 0x2000 was interrupted; its handler 0x3000 returns to code without rows. */
static void test_signals(void)
{
    usual_section();
    struct unwind_rows rows = compiled();
    memset(stack, 0, sizeof stack);
    stack[0] = RETURN_X64; /* above it the ucontext: rbp, rbx, rsp, rip */
    stack[1 + 15] = STACK + 40 * 8;
    stack[1 + 20] = STACK + 30 * 8;
    stack[1 + 21] = 0x2000;
    stack[30] = 0x6010;
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x3000, STACK, 0), UNWIND_COMPLETE);
    CHECK(found_count == 3 && found[0] == RETURN_X64 - 1 && found[1] == 0x2000 && found[2] == 0x600f);
    /* a frame marked as interrupted in the same place, in an endless loop */
    stack[1 + 20] = STACK + 8;
    stack[1 + 21] = RETURN_X64;
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x3000, STACK, 0), UNWIND_DAMAGED);
    CHECK(found_count <= 18);
    unwind_rows_free(&rows);
}

static void test_bad_stacks(void)
{
    usual_section();
    struct unwind_rows rows = compiled();
    /* a frame that is its own caller: each step has to go up */
    memset(stack, 0, sizeof stack);
    for (size_t i = 0; i < WORDS; i += 2) {
        stack[i] = STACK + 2 * 8;
        stack[i + 1] = 0x2050;
    }
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x2050, STACK, STACK + 2 * 8), UNWIND_DAMAGED);
    CHECK(found_count <= 2);
    /* a cyclic chain of frame pointers */
    stack[3] = 0x8100;
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x8000, STACK, STACK + 2 * 8), UNWIND_NO_ROWS);
    /* the CFA is read from an address that contains that address */
    stack[1] = STACK;
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x5050, STACK, STACK + 2 * 8), UNWIND_DAMAGED);
    /* the copy ends too early; the stack pointer points nowhere */
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x2000, STACK + sizeof stack, 0), UNWIND_STACK);
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x2000, 0, 0), UNWIND_DAMAGED);
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x2000, UINT64_MAX - 3, 0), UNWIND_DAMAGED);
    /* more frames than the limit */
    for (size_t i = 0; i < WORDS; i++)
        stack[i] = 0x2001;
    CHECK_INT(walk(&rows, UNWIND_X86_64, 0x2000, STACK, 0), UNWIND_LONG);
    CHECK_INT(found_count, FRAMES);
    unwind_rows_free(&rows);
}

/* AArch64: the return address is in x30 until it is saved; it may be signed. */
static void test_aarch64(void)
{
    used = 0;
    size_t begin = used;
    uint8_t cie[] = {1, 'z', 'R', 0, 4, 0x78, 30, 1, 0x03, 0x0c, 31, 0};
    put_u32(0);
    put_u32(0);
    put(cie, sizeof cie);
    end_entry(begin);
    FDE(begin, 0x2000, 0x100, "\x41\x2d\x0e\x20\x9d\x04\x9e\x03");
    FDE(begin, 0x3000, 0x100, "\x07\x1e");
    struct unwind_section s = {section, used, 0x100000, false, BASE, LIMIT};
    struct unwind_rows rows;
    unwind_rows_compile(&rows, &s, UNWIND_AARCH64);
    CHECK(cfa_is(&rows, 0x2004, UNWIND_REG, 31, 32));
    memset(stack, 0, sizeof stack);
    stack[1] = 0x00fa000000003010u; /* at CFA - 24: x30 with bits of its signature */
    CHECK_INT(walk(&rows, UNWIND_AARCH64, 0x2010, STACK, 0), UNWIND_COMPLETE);
    CHECK(found_count == 1 && found[0] == 0x300f);
    /* before anything is saved: x30 itself, which walk() leaves 0 */
    CHECK_INT(walk(&rows, UNWIND_AARCH64, 0x2000, STACK, 0), UNWIND_COMPLETE);
    CHECK_INT(found_count, 0);
    /* a handler, interrupted before it saved x30: its return address has no rows. 0x2010 was interrupted */
    stack[1] = RETURN_A64;
    enum { FRAME = 4, SAVED = FRAME + (128 + 176) / 8 }; /* the signal's frame; fault address, x0 ... x30, sp, pc */
    CHECK(SAVED + 33 < WORDS);
    stack[SAVED + 1 + 31] = STACK + 2 * 8;
    stack[SAVED + 1 + 32] = 0x2010;
    stack[3] = 0x3010; /* at 0x2010's CFA - 24 */
    CHECK_INT(walk(&rows, UNWIND_AARCH64, 0x2010, STACK, 0), UNWIND_COMPLETE);
    CHECK(found_count == 3 && found[0] == RETURN_A64 - 1 && found[1] == 0x2010 && found[2] == 0x300f);
    unwind_rows_free(&rows);
}

/* ---- damage -------------------------------------------------------------------------------------------------------
 */

static void compile_and_walk(size_t size)
{
    struct unwind_section s = {section, size, 0x100000, false, BASE, LIMIT};
    for (unsigned machine = 0; machine < 2; machine++) {
        struct unwind_rows rows;
        s.debug = machine != 0;
        unwind_rows_compile(&rows, &s, (enum unwind_machine)machine);
        walk(&rows, (enum unwind_machine)machine, 0x2050, STACK, STACK + 40);
        walk(&rows, (enum unwind_machine)machine, 0x5050, STACK, STACK + 40);
        unwind_rows_free(&rows);
    }
}

static void test_damage(void)
{
    usual_section();
    size_t whole = used;
    for (size_t i = 0; i < whole; i++)
        compile_and_walk(i);
    for (size_t i = 0; i < whole; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            section[i] ^= (uint8_t)(1u << bit);
            compile_and_walk(whole);
            section[i] ^= (uint8_t)(1u << bit);
        }
    CHECK(used == whole); /* no cut and no flipped bit did harm */
}

int main(void)
{
    RUN(test_rows);
    RUN(test_many_rows);
    RUN(test_overlap);
    RUN(test_walk);
    RUN(test_signals);
    RUN(test_bad_stacks);
    RUN(test_aarch64);
    RUN(test_damage);
    return tap_done();
}
