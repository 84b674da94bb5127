/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: rows from damaged call frame information, and walks with them over damaged stacks. The first byte
 * chooses machine and section, the next 256 are the stack, the rest is the section. Rows are sorted; paths end.
 */
#include "hpcprof/recorder/unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STACK = 0x70000000, STACK_BYTES = 256, BASE = 0x1000, LIMIT = 0x100000, FRAMES = 64 };

static void check(const struct unwind_rows *rows)
{
    const uint32_t *begin = rows->begin.items;
    const uint16_t *which = rows->which.items;
    for (size_t i = 0; i < rows->begin.count; i++)
        if (which[i] >= rows->distinct.count || (i > 0 && begin[i - 1] >= begin[i]) || begin[i] > LIMIT - BASE)
            __builtin_trap();
}

/* Every 16th byte of code may be a signal return trampoline. */
static bool peek_code(uint64_t address, void *to, size_t n)
{
    static const uint8_t x64[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t a64[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
    if (address % 16)
        return false;
    __builtin_memcpy(to, n == sizeof x64 ? x64 : a64, n);
    return true;
}

static void walk(const struct unwind_rows *rows, enum unwind_machine machine, const uint8_t *stack, uint64_t pc)
{
    static union {
        struct unwind_map map;
        uint8_t room[sizeof(struct unwind_map) + sizeof(struct unwind_object)];
    } one;
    uint64_t words[FRAMES];
    struct unwind_registers r = {.pc = pc, .known = ~(uint64_t)0 >> 31};
    struct unwind_memory m = {.begin = STACK, .end = STACK + STACK_BYTES, .bytes = stack, .copied = true};
    struct unwind_path path = {.word = words, .mask = UINT32_MAX, .room = FRAMES};
    struct unwinder u = {machine, &one.map, NULL, peek_code};
    for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
        r.reg[i] = STACK + i * 8;
    one.map.count = 1;
    one.map.object[0] = (struct unwind_object){BASE, LIMIT, rows};
    enum unwind_end end = unwind_walk(&u, &r, &m, &path);
    if (path.count > FRAMES || end >= UNWIND_END_COUNT)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 + STACK_BYTES)
        return 0;
    enum unwind_machine machine = data[0] & 1 ? UNWIND_AARCH64 : UNWIND_X86_64;
    struct unwind_section s = {data + 1 + STACK_BYTES, size - 1 - STACK_BYTES, 0x2000, (data[0] & 2) != 0, BASE, LIMIT};
    struct unwind_rows rows;
    unwind_rows_compile(&rows, &s, machine);
    check(&rows);
    for (uint64_t pc = BASE; pc < LIMIT; pc += (LIMIT - BASE) / 16)
        walk(&rows, machine, data + 1, pc + data[0]);
    for (size_t i = 0; i < rows.begin.count && i < 64; i++)
        walk(&rows, machine, data + 1, BASE + ((uint32_t *)rows.begin.items)[i]);
    unwind_rows_free(&rows);
    return 0;
}
