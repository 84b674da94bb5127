/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Effects of AArch64 instructions: general registers, loads and stores, floating point, NEON, and the part of SVE that
 * compilers use for loops. Decoded from the fixed fields as in aarch64.c: Arm ARM (DDI 0487), C4.1, whose tables are named at
 * each function. Instructions of other groups (cryptography, SME) are CLASS_OTHER, with the registers they may use.
 */
#include "bloop/arch/aarch64.h"
#include "bloop/arch/facts.h"

static bool is(uint32_t w, uint32_t mask, uint32_t value)
{
    return (w & mask) == value;
}

static unsigned bits(uint32_t w, unsigned low, unsigned count)
{
    return w >> low & ((1u << count) - 1);
}

static int64_t signed_bits(uint32_t w, unsigned low, unsigned count)
{
    return (int64_t)((uint64_t)w << (64 - low - count)) >> (64 - count);
}

/* ---- registers; number 31 is zero or the stack pointer, as the instruction has it ---- */

enum { D = 0, N = 5, M = 16, A = 10 }; /* where the fields begin */

static void general(struct reg_set *set, uint32_t w, unsigned field)
{
    set->general |= bits(w, field, 5) == 31 ? 0 : 1u << bits(w, field, 5);
}

static void general_or_sp(struct reg_set *set, uint32_t w, unsigned field)
{
    set->general |= 1u << bits(w, field, 5);
}

static void vector(struct reg_set *set, uint32_t w, unsigned field)
{
    set->vector |= 1u << bits(w, field, 5);
}

static void predicate(struct reg_set *set, uint32_t w, unsigned field, unsigned count)
{
    set->mask |= (uint16_t)(1u << bits(w, field, count));
}

static void constant(struct insn_facts *f, int64_t value)
{
    f->has_constant = true;
    f->constant = value;
}

static void whole_numbers(struct insn_facts *f, uint32_t w)
{
    f->type = NUMBER_INTEGER;
    f->element = f->width = w >> 31 ? 8 : 4;
}

/* ---- general registers ---- */

/* "Data Processing -- Immediate" */
static void immediate(uint32_t w, vaddr addr, struct insn_facts *f)
{
    unsigned opc = bits(w, 29, 2), immr = bits(w, 16, 6), imms = bits(w, 10, 6);
    bool flags = false;
    whole_numbers(f, w);
    if (is(w, 0x1f000000, 0x10000000)) { /* ADR, ADRP */
        int64_t imm = signed_bits(w, 5, 19) * 4 + bits(w, 29, 2);
        f->class = CLASS_ADDRESS;
        f->element = f->width = 8;
        constant(f, (int64_t)(w >> 31 ? (addr & ~0xfffull) + (uint64_t)(imm * 4096) : addr + (uint64_t)imm));
    } else if (is(w, 0x1f800000, 0x11000000)) { /* ADD, SUB */
        int64_t imm = (int64_t)bits(w, 10, 12) << (bits(w, 22, 1) ? 12 : 0);
        flags = opc & 1;
        f->class = flags && bits(w, D, 5) == 31 ? CLASS_COMPARE : imm == 0 && !flags ? CLASS_MOVE : CLASS_ADD;
        bool subtract = opc & 2, compares = f->class == CLASS_COMPARE; /* with imm, by subtracting it */
        constant(f, subtract != compares ? -imm : imm);
        general_or_sp(&f->reads, w, N);
        if (!flags)
            general_or_sp(&f->writes, w, D);
    } else if (is(w, 0x1f800000, 0x12000000)) { /* AND, ORR, EOR, ANDS */
        flags = opc == 3;
        f->class = flags && bits(w, D, 5) == 31      ? CLASS_COMPARE
                   : opc == 1 && bits(w, N, 5) == 31 ? CLASS_MOVE
                                                     : CLASS_LOGIC;
        f->has_constant = true; /* a pattern of bits, not spelled out */
        general(&f->reads, w, N);
        if (!flags)
            general_or_sp(&f->writes, w, D);
    } else if (is(w, 0x1f800000, 0x12800000)) { /* MOVN, MOVZ, MOVK */
        uint64_t value = (uint64_t)bits(w, 5, 16) << 16 * bits(w, 21, 2);
        f->class = CLASS_MOVE;
        constant(f, (int64_t)(opc == 0 ? ~value : value));
        if (opc == 3)
            general(&f->reads, w, D);
    } else if (is(w, 0x1f800000, 0x13000000)) { /* SBFM, BFM, UBFM */
        f->class = immr == 0 && (imms == 7 || imms == 15 || imms == 31) ? CLASS_MOVE : CLASS_SHIFT;
        general(&f->reads, w, N);
        if (opc == 1)
            general(&f->reads, w, D);
    } else { /* EXTR */
        f->class = CLASS_SHIFT;
        general(&f->reads, w, N);
        general(&f->reads, w, M);
    }
    f->writes.flags = flags;
    if (f->writes.general == 0)
        general(&f->writes, w, D);
}

/* "Data Processing -- Register" */
static void registers(uint32_t w, struct insn_facts *f)
{
    bool none = bits(w, D, 5) == 31, third = false;
    unsigned opc = bits(w, 29, 2);
    whole_numbers(f, w);
    general(&f->reads, w, N);
    general(&f->reads, w, M);
    general(&f->writes, w, D);
    if (is(w, 0x1f000000, 0x0a000000)) { /* AND, ORR, EOR, ANDS, shifted */
        f->writes.flags = opc == 3;
        f->class = opc == 3 && none ? CLASS_COMPARE : opc == 1 && bits(w, N, 5) == 31 ? CLASS_MOVE : CLASS_LOGIC;
    } else if (is(w, 0x1f000000, 0x0b000000)) { /* ADD, SUB: shifted, extended */
        f->writes.flags = opc & 1;
        f->class = (opc & 1) && none ? CLASS_COMPARE : CLASS_ADD;
        if (bits(w, 21, 1)) {
            general_or_sp(&f->reads, w, N);
            if (!(opc & 1))
                general_or_sp(&f->writes, w, D);
        }
    } else if (is(w, 0x1fe00000, 0x1a000000)) { /* ADC, SBC */
        f->class = CLASS_ADD;
        f->reads.flags = true;
        f->writes.flags = opc & 1;
    } else if (is(w, 0x1fe00000, 0x1a400000)) { /* CCMP, CCMN */
        f->class = CLASS_COMPARE;
        f->reads.flags = f->writes.flags = true;
        f->writes.general = 0;
        if (bits(w, 11, 1)) {
            f->reads.general = 0;
            general(&f->reads, w, N);
            constant(f, bits(w, 16, 5));
        }
    } else if (is(w, 0x1fe00000, 0x1a800000)) { /* CSEL and its kin */
        f->class = CLASS_SELECT;
        f->reads.flags = true;
    } else if (is(w, 0x1f000000, 0x1b000000)) { /* MADD, SMADDL, UMULH */
        third = bits(w, A, 5) != 31;
        f->class = third ? CLASS_MULTIPLY_ADD : CLASS_MULTIPLY;
    } else if (is(w, 0x5fe00000, 0x1ac00000)) { /* two sources */
        unsigned op = bits(w, 10, 6);
        f->class = op == 2 || op == 3 ? CLASS_DIVIDE : (op & 0x3c) == 8 ? CLASS_SHIFT : CLASS_OTHER;
    } else if (is(w, 0x5fe00000, 0x5ac00000)) { /* one source */
        f->class = bits(w, 10, 6) >= 4 ? CLASS_ARITHMETIC : CLASS_SHUFFLE;
        f->reads.general = 0;
        general(&f->reads, w, N);
    }
    if (third)
        general(&f->reads, w, A);
}

/* ---- loads and stores ---- */

static struct insn_memory *memory(struct insn_facts *f, uint32_t w, bool load, unsigned size)
{
    struct insn_memory *m = &f->memory[f->memory_count++];
    *m = (struct insn_memory){.base = (uint8_t)bits(w, N, 5),
                              .index = FACTS_NO_REG,
                              .scale = 1,
                              .reads = load,
                              .writes = !load,
                              .size = (uint16_t)size};
    general_or_sp(&f->reads, w, N);
    f->class = CLASS_MOVE;
    return m;
}

static void updates(struct insn_facts *f, struct insn_memory *m, uint32_t w, bool behind)
{
    m->updates = true;
    m->post_disp = behind;
    general_or_sp(&f->writes, w, N);
}

static void transferred(struct insn_facts *f, uint32_t w, unsigned field, bool is_vector, bool load)
{
    struct reg_set *set = load ? &f->writes : &f->reads;
    if (is_vector)
        vector(set, w, field);
    else
        general(set, w, field);
}

/* LD1 to LD4, ST1 to ST4 of NEON: how many registers */
static unsigned structure_registers(uint32_t w)
{
    static const uint8_t of_opcode[16] = {[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
    if (!bits(w, 24, 1))
        return of_opcode[bits(w, 12, 4)];
    return 1 + bits(w, 21, 1) + 2 * bits(w, 13, 1); /* one element of each, or one for all */
}

static void structures(uint32_t w, struct insn_facts *f)
{
    unsigned count = structure_registers(w), element = 1u << bits(w, 10, 2), opcode = bits(w, 13, 3);
    bool load = bits(w, 22, 1), whole = !bits(w, 24, 1), last = false;
    if (!whole) { /* opcode and size say which element, but for one that is copied to all */
        unsigned scale = opcode >> 1;
        element = scale == 3 ? element : scale == 2 ? bits(w, 10, 1) ? 8 : 4 : 1u << scale;
        last = scale != 3;
    }
    struct insn_memory *m = memory(f, w, load, count * (whole ? bits(w, 30, 1) ? 16 : 8 : element));
    for (unsigned i = 0; i < count; i++) {
        uint32_t reg = 1u << ((bits(w, D, 5) + i) & 31);
        f->writes.vector |= load ? reg : 0;
        f->reads.vector |= !load || last ? reg : 0;
    }
    f->element = (uint8_t)element;
    f->width = bits(w, 30, 1) ? 16 : 8;
    f->packed = true;
    if (count > 1 || !whole)
        f->class = CLASS_SHUFFLE;
    if (bits(w, 23, 1)) {
        updates(f, m, w, true);
        m->disp = m->size;
        if (bits(w, M, 5) != 31) {
            general(&f->reads, w, M);
            m->disp = 0;
        }
    }
}

/* CAS, and CASP, which has two neighbours each: the first is compared, and gets what was there. */
static void compare_and_swap(uint32_t w, struct insn_facts *f, bool pair)
{
    struct insn_memory *m = memory(f, w, true, f->element * (pair ? 2u : 1u));
    m->writes = true;
    f->locked = true;
    f->class = CLASS_OTHER;
    general(&f->reads, w, D);
    general(&f->reads, w, M);
    general(&f->writes, w, M);
    if (pair) {
        general(&f->reads, w | 1, D);
        general(&f->reads, w | 1 << M, M);
        general(&f->writes, w | 1 << M, M);
    }
}

/* "Load/store exclusive", of pairs too, "compare and swap", "load/store ordered" */
static void exclusives(uint32_t w, struct insn_facts *f)
{
    bool ordered = bits(w, 23, 1), load = bits(w, 22, 1), two = bits(w, 21, 1), pair = two && !ordered;
    f->type = NUMBER_INTEGER;
    f->element = (uint8_t)(pair ? 4u << bits(w, 30, 1) : 1u << bits(w, 30, 2));
    f->width = f->element == 8 ? 8 : 4;
    if (two && (ordered || !bits(w, 31, 1))) {
        compare_and_swap(w, f, pair);
        return;
    }
    memory(f, w, load, f->element * (pair ? 2u : 1u));
    transferred(f, w, D, false, load);
    if (pair)
        transferred(f, w, A, false, load);
    if (!ordered && !load) /* whether it was stored */
        general(&f->writes, w, M);
    f->locked = !ordered;
}

/* "Loads and Stores" */
static void loads_and_stores(uint32_t w, vaddr addr, struct insn_facts *f)
{
    bool is_vector = bits(w, 26, 1), prefetch = !is_vector && bits(w, 30, 2) == 3 && bits(w, 23, 1);
    bool load = bits(w, 22, 2) != 0;
    unsigned size = 1u << bits(w, 30, 2);
    if (is_vector && bits(w, 23, 1)) { /* Q */
        size = 16;
        load = bits(w, 22, 1);
    }
    f->width = (uint8_t)(is_vector ? size : size == 8 ? 8 : 4);
    struct insn_memory *m;
    if (is(w, 0xbe000000, 0x0c000000)) {
        structures(w, f);
        return;
    }
    if (is(w, 0x3a000000, 0x28000000)) { /* LDP, STP and their kin */
        unsigned each = is_vector ? 4u << bits(w, 30, 2) : 4u << bits(w, 31, 1), mode = bits(w, 23, 2);
        load = bits(w, 22, 1);
        m = memory(f, w, load, 2 * each);
        m->disp = signed_bits(w, 15, 7) * (int64_t)each;
        transferred(f, w, D, is_vector, load);
        transferred(f, w, A, is_vector, load);
        f->width = (uint8_t)each;
        if (mode & 1)
            updates(f, m, w, mode == 1);
    } else if (is(w, 0x3b000000, 0x18000000)) { /* LDR of a literal */
        unsigned opc = bits(w, 30, 2), bytes = is_vector ? 4u << opc : opc == 1 ? 8 : 4;
        m = memory(f, w, true, bytes);
        m->base = FACTS_NO_REG;
        m->disp = (int64_t)(addr + (uint64_t)(signed_bits(w, 5, 19) * 4));
        f->reads.general = 0;
        size = bytes;
        f->width = (uint8_t)bytes;
        transferred(f, w, D, is_vector, true);
        prefetch = !is_vector && opc == 3;
    } else if (is(w, 0x3b000000, 0x39000000)) { /* base + number */
        m = memory(f, w, load, size);
        m->disp = (int64_t)bits(w, 10, 12) * size;
        transferred(f, w, D, is_vector, load);
    } else if (is(w, 0x3b200c00, 0x38200800)) { /* base + register */
        m = memory(f, w, load, size);
        m->index = bits(w, M, 5) == 31 ? FACTS_NO_REG : (uint8_t)bits(w, M, 5);
        m->scale = (uint8_t)(bits(w, 12, 1) ? size : 1);
        general(&f->reads, w, M);
        transferred(f, w, D, is_vector, load);
    } else if (is(w, 0x3b200000, 0x38000000)) { /* base + small number */
        unsigned mode = bits(w, 10, 2);
        m = memory(f, w, load, size);
        m->disp = signed_bits(w, 12, 9);
        transferred(f, w, D, is_vector, load);
        if (mode & 1) {
            updates(f, m, w, mode == 1);
            prefetch = false;
        }
    } else if (is(w, 0x3f000000, 0x08000000)) {
        exclusives(w, f);
        return;
    } else if (is(w, 0x3f200c00, 0x19000000)) { /* LDAPUR, STLUR */
        m = memory(f, w, load, size);
        m->disp = signed_bits(w, 12, 9);
        transferred(f, w, D, false, load);
        prefetch = false;
    } else if (is(w, 0x3ffffc00, 0x38bfc000)) { /* LDAPR */
        memory(f, w, true, size);
        general(&f->writes, w, D);
        prefetch = false;
    } else { /* LSE atomics */
        m = memory(f, w, true, size);
        m->writes = true;
        f->locked = true;
        prefetch = false;
        f->class = CLASS_OTHER;
        general(&f->reads, w, M);
        general(&f->writes, w, D);
    }
    f->element = (uint8_t)(is(w, 0x3a000000, 0x28000000) ? f->width : size);
    f->type = is_vector ? NUMBER_NONE : NUMBER_INTEGER;
    f->packed = is_vector && f->width == 16;
    if (prefetch) {
        f->class = CLASS_PREFETCH;
        f->writes = (struct reg_set){0};
        f->memory_count = 0;
    }
}

/* ---- floating point and vectors ---- */

static void number(struct insn_facts *f, enum number_type type)
{
    static const uint8_t bytes[] = {[NUMBER_HALF] = 2, [NUMBER_FLOAT] = 4, [NUMBER_DOUBLE] = 8, [NUMBER_EXTENDED] = 16};
    f->type = (uint8_t)type;
    f->element = bytes[type];
}

static enum number_type type_of_size(unsigned size) /* as NEON, SVE write it */
{
    return size == 3 ? NUMBER_DOUBLE : size == 2 ? NUMBER_FLOAT : NUMBER_HALF;
}

static void take_divisor(uint32_t w, struct insn_facts *f)
{
    if (f->class == CLASS_DIVIDE)
        f->divisor = (uint8_t)bits(w, M, 5);
}

static void count_flops(struct insn_facts *f)
{
    if (f->type >= NUMBER_HALF && f->class != CLASS_CONVERT)
        f->flops = f->class == CLASS_MULTIPLY_ADD ? 2
                                                  : f->class == CLASS_ADD || f->class == CLASS_MULTIPLY ||
                                                        f->class == CLASS_DIVIDE || f->class == CLASS_SQUARE_ROOT;
}

/* "Floating-point data-processing", 1 to 3 sources, compare, select, conversions */
static void scalar_float(uint32_t w, struct insn_facts *f)
{
    static const uint8_t two[16] = {CLASS_MULTIPLY, CLASS_DIVIDE, CLASS_ADD,    CLASS_ADD,     CLASS_MINMAX,
                                    CLASS_MINMAX,   CLASS_MINMAX, CLASS_MINMAX, CLASS_MULTIPLY};
    unsigned ftype = bits(w, 22, 2);
    number(f, ftype == 0 ? NUMBER_FLOAT : ftype == 1 ? NUMBER_DOUBLE : NUMBER_HALF);
    f->width = f->element;
    bool one = false;
    if (bits(w, 24, 1)) { /* three sources */
        f->class = CLASS_MULTIPLY_ADD;
        vector(&f->reads, w, A);
    } else if (!bits(w, 21, 1) || bits(w, 10, 6) == 0) { /* to and from general registers */
        unsigned opcode = bits(w, 16, 3), rmode = bits(w, 19, 2);
        bool to_general = opcode != 2 && opcode != 3 && opcode != 7, move = opcode >= 6 && bits(w, 21, 1) && rmode != 3;
        f->class = move ? CLASS_MOVE : CLASS_CONVERT;
        f->source_type = move ? NUMBER_NONE : to_general ? f->type : NUMBER_INTEGER;
        f->type = !move && to_general ? NUMBER_INTEGER : f->type;
        (to_general ? vector : general)(&f->reads, w, N);
        (to_general ? general : vector)(&f->writes, w, D);
        return;
    } else if (bits(w, 10, 5) == 16) { /* one source */
        unsigned op = bits(w, 15, 6);
        f->class = op == 0                         ? CLASS_MOVE
                   : op < 3                        ? CLASS_LOGIC
                   : op == 3                       ? CLASS_SQUARE_ROOT
                   : op == 4 || op == 5 || op == 7 ? CLASS_CONVERT
                                                   : CLASS_ARITHMETIC;
        if (f->class == CLASS_CONVERT) {
            f->source_type = f->type;
            f->type = op == 4 ? NUMBER_FLOAT : op == 5 ? NUMBER_DOUBLE : NUMBER_HALF;
        }
        one = true;
    } else if (bits(w, 10, 4) == 8) { /* FCMP */
        f->class = CLASS_COMPARE;
        f->writes.flags = true;
        vector(&f->reads, w, N);
        if (!bits(w, 3, 1)) /* else with 0.0 */
            vector(&f->reads, w, M);
        return;
    } else if (bits(w, 10, 3) == 4) { /* FMOV of a constant */
        f->class = CLASS_MOVE;
        f->has_constant = true;
        vector(&f->writes, w, D);
        return;
    } else if (bits(w, 10, 2) == 2) {
        f->class = two[bits(w, 12, 4)];
    } else { /* FCCMP, FCSEL */
        bool select = bits(w, 10, 2) == 3;
        f->class = select ? CLASS_SELECT : CLASS_COMPARE;
        f->reads.flags = true;
        f->writes.flags = !select;
        vector(&f->reads, w, N);
        vector(&f->reads, w, M);
        if (select)
            vector(&f->writes, w, D);
        return;
    }
    vector(&f->reads, w, N);
    if (!one)
        vector(&f->reads, w, M);
    vector(&f->writes, w, D);
    take_divisor(w, f);
    count_flops(f);
}

/* "Advanced SIMD three same": by opcode; rows of whole numbers, then of floating point. */
static void three_same(uint32_t w, struct insn_facts *f)
{
    static const uint8_t whole[24] = {
        CLASS_ADD,          CLASS_ADD,      CLASS_ADD,        CLASS_LOGIC,      CLASS_ADD,      CLASS_ADD,
        CLASS_COMPARE,      CLASS_COMPARE,  CLASS_SHIFT,      CLASS_SHIFT,      CLASS_SHIFT,    CLASS_SHIFT,
        CLASS_MINMAX,       CLASS_MINMAX,   CLASS_ARITHMETIC, CLASS_ARITHMETIC, CLASS_ADD,      CLASS_COMPARE,
        CLASS_MULTIPLY_ADD, CLASS_MULTIPLY, CLASS_MINMAX,     CLASS_MINMAX,     CLASS_MULTIPLY, CLASS_ADD};
    static const uint8_t floating[8] = {CLASS_MINMAX,  CLASS_MULTIPLY_ADD, CLASS_ADD,    CLASS_MULTIPLY,
                                        CLASS_COMPARE, CLASS_COMPARE,      CLASS_MINMAX, CLASS_ARITHMETIC};
    unsigned opcode = bits(w, 11, 5);
    bool u = bits(w, 29, 1), a = bits(w, 23, 1);
    if (opcode >= 24) {
        number(f, bits(w, 22, 1) ? NUMBER_DOUBLE : NUMBER_FLOAT);
        f->class = floating[opcode - 24];
        if (opcode == 31 && u)
            f->class = CLASS_DIVIDE;
        if (opcode == 29 && !u) /* FMLAL, FMLSL */
            f->class = CLASS_MULTIPLY_ADD;
        if (opcode == 26 && u && a) /* FABD */
            f->class = CLASS_ARITHMETIC;
    } else {
        f->class = whole[opcode];
        f->type = NUMBER_INTEGER;
        f->element = (uint8_t)(1u << bits(w, 22, 2));
        if (opcode == 3 && !u && bits(w, 22, 2) == 2 && bits(w, N, 5) == bits(w, M, 5))
            f->class = CLASS_MOVE; /* ORR of one register */
        if (opcode == 3)
            f->element = 1;                            /* bits have no size */
        if (opcode == 3 && u && bits(w, 22, 2) != 0) { /* BSL, BIT, BIF */
            f->class = CLASS_SELECT;
            vector(&f->reads, w, D);
        }
        if (opcode == 15) /* SABA */
            vector(&f->reads, w, D);
    }
    if (f->class == CLASS_MULTIPLY_ADD)
        vector(&f->reads, w, D);
    vector(&f->reads, w, N);
    vector(&f->reads, w, M);
    take_divisor(w, f);
}

/* Narrowing into the upper half of a register keeps the lower half. */
static bool keeps_half(uint32_t w)
{
    return bits(w, 30, 1) && !bits(w, 28, 1);
}

/* "Advanced SIMD two-register miscellaneous", and "across lanes" */
static void two_misc(uint32_t w, struct insn_facts *f)
{
    unsigned opcode = bits(w, 12, 5);
    bool a = bits(w, 23, 1), across = bits(w, 20, 1);
    bool floats = opcode >= 22 || (a && opcode >= 12 && opcode <= 15);
    f->type = NUMBER_INTEGER;
    f->element = (uint8_t)(1u << bits(w, 22, 2));
    vector(&f->reads, w, N);
    if (across) {
        bool floating = opcode == 12 || opcode == 13 || opcode == 15;
        f->class = opcode == 3 || opcode == 27 || opcode == 13 ? CLASS_ADD : CLASS_MINMAX;
        if (floating)
            number(f, bits(w, 22, 1) ? NUMBER_DOUBLE : NUMBER_FLOAT);
    } else if (floats) {
        number(f, bits(w, 22, 1) ? NUMBER_DOUBLE : NUMBER_FLOAT);
        f->class = opcode <= 14                                                          ? CLASS_COMPARE
                   : opcode == 15                                                        ? CLASS_LOGIC
                   : opcode == 31                                                        ? CLASS_SQUARE_ROOT
                   : opcode == 24 || opcode == 25 || opcode == 30 || (a && opcode >= 28) ? CLASS_ARITHMETIC
                                                                                         : CLASS_CONVERT;
        if (f->class == CLASS_CONVERT) {
            bool from_whole = opcode == 29, resized = opcode == 22 || opcode == 23;
            enum number_type smaller = f->type == NUMBER_DOUBLE ? NUMBER_FLOAT : NUMBER_HALF;
            f->source_type = from_whole ? NUMBER_INTEGER : opcode == 23 ? smaller : f->type; /* 23: FCVTL */
            f->type = from_whole || opcode == 23 ? f->type : resized ? smaller : NUMBER_INTEGER;
            f->element /= opcode == 23 ? 2 : 1;
            f->width = resized ? 16 : f->width;
        }
    } else {
        f->class = opcode < 2                    ? CLASS_SHUFFLE
                   : opcode == 5                 ? CLASS_LOGIC
                   : opcode >= 8 && opcode <= 10 ? CLASS_COMPARE
                   : opcode >= 18                ? CLASS_CONVERT
                   : opcode == 2 || opcode == 6  ? CLASS_ADD
                                                 : CLASS_ARITHMETIC;
        if (opcode >= 18 && opcode < 22)
            f->source_type = NUMBER_INTEGER;
    }
    bool sums = opcode == 3 || opcode == 6; /* SUQADD, USQADD; SADALP, UADALP */
    if (!across && (sums || (keeps_half(w) && (opcode == 18 || opcode == 20 || opcode == 22)))) /* XTN2 */
        vector(&f->reads, w, D);
}

/* "Advanced SIMD vector x indexed element" */
static void by_element(uint32_t w, struct insn_facts *f)
{
    unsigned opcode = bits(w, 12, 4), size = bits(w, 22, 2);
    bool floating = !bits(w, 29, 1) && (opcode == 1 || opcode == 5 || opcode == 9);
    bool u = bits(w, 29, 1), add = opcode != 8 && opcode != 9 && opcode < 10; /* 13: SQRDMULH, SQRDMLAH */
    f->class = add || opcode == 14 || opcode == 15 || (opcode == 13 && u) ? CLASS_MULTIPLY_ADD : CLASS_MULTIPLY;
    f->type = NUMBER_INTEGER;
    f->element = (uint8_t)(1u << size);
    if (floating || (bits(w, 29, 1) && opcode == 9))
        number(f, type_of_size(size));
    if (f->class == CLASS_MULTIPLY_ADD)
        vector(&f->reads, w, D);
    vector(&f->reads, w, N);
    f->reads.vector |= 1u << bits(w, M, size == 1 || size == 0 ? 4 : 5);
}

/* DUP, INS, SMOV, UMOV */
static void copy(uint32_t w, struct insn_facts *f)
{
    unsigned imm4 = bits(w, 11, 4), imm5 = bits(w, 16, 5);
    f->class = CLASS_SHUFFLE;
    f->element = (uint8_t)(imm5 ? 1u << __builtin_ctz(imm5) : 0);
    if (bits(w, 29, 1) || imm4 == 3) /* INS keeps the other elements */
        vector(&f->reads, w, D);
    if (!bits(w, 29, 1) && (imm4 == 1 || imm4 == 3)) {
        general(&f->reads, w, N);
    } else {
        vector(&f->reads, w, N);
    }
    if (!bits(w, 29, 1) && (imm4 == 5 || imm4 == 7)) {
        f->writes.vector = 0;
        general(&f->writes, w, D);
        f->packed = false;
    }
}

/* "Cryptographic AES", "two-register SHA", "three-register SHA" */
static void cryptography(uint32_t w, struct insn_facts *f)
{
    bool three = !bits(w, 11, 1),
         fresh = bits(w, 28, 1) ? !bits(w, 12, 5) : bits(w, 13, 4) == 3; /* SHA1H; AESMC, AESIMC */
    f->width = 16;
    f->packed = true;
    vector(&f->reads, w, N);
    if (three)
        vector(&f->reads, w, M);
    if (three || !fresh)
        vector(&f->reads, w, D);
}

/* "Data Processing -- Scalar Floating-Point and Advanced SIMD" */
static void vectors(uint32_t w, struct insn_facts *f)
{
    static const uint8_t different[16] = {
        CLASS_ADD,          CLASS_ADD,          CLASS_ADD,        CLASS_ADD,          CLASS_ADD,
        CLASS_ARITHMETIC,   CLASS_ADD,          CLASS_ARITHMETIC, CLASS_MULTIPLY_ADD, CLASS_MULTIPLY_ADD,
        CLASS_MULTIPLY_ADD, CLASS_MULTIPLY_ADD, CLASS_MULTIPLY,   CLASS_MULTIPLY,     CLASS_MULTIPLY};
    if (is(w, 0x5e000000, 0x1e000000)) {
        scalar_float(w, f);
        return;
    }
    bool single = bits(w, 28, 1); /* one element of a vector register */
    uint32_t v = single ? w & ~0x50000000u : w;
    f->packed = !single;
    f->width = bits(w, 30, 1) && !single ? 16 : 8;
    vector(&f->writes, w, D);
    if (is(w, 0xff3e0c00, 0x4e280800) || is(w, 0xff3e0c00, 0x5e280800) || is(w, 0xff208c00, 0x5e000000)) {
        cryptography(w, f);
    } else if (is(v, 0x9f200400, 0x0e200400)) {
        three_same(w, f);
    } else if (is(v, 0x9f2e0c00, 0x0e200800)) {
        two_misc(w, f);
    } else if (is(v, 0x9f200c00, 0x0e200000)) { /* three different: long and wide */
        f->class = different[bits(w, 12, 4)];
        f->width = 16; /* of the sums */
        f->type = NUMBER_INTEGER;
        f->element = (uint8_t)(1u << bits(w, 22, 2));
        vector(&f->reads, w, N);
        vector(&f->reads, w, M);
        bool half = bits(w, 12, 4) == 4 || bits(w, 12, 4) == 6; /* ADDHN, SUBHN */
        if (f->class == CLASS_MULTIPLY_ADD || bits(w, 12, 4) == 5 || (half && keeps_half(w)))
            vector(&f->reads, w, D);
    } else if (is(v, 0x9f208400, 0x0e008400)) { /* dot products, complex numbers */
        unsigned opcode = bits(w, 11, 4);
        f->class = opcode >= 12 ? CLASS_ADD : CLASS_MULTIPLY_ADD;
        f->type = NUMBER_INTEGER;
        f->element = (uint8_t)(1u << bits(w, 22, 2));
        if (opcode >= 8)
            number(f, type_of_size(bits(w, 22, 2)));
        vector(&f->reads, w, N);
        vector(&f->reads, w, M);
        if (opcode < 12)
            vector(&f->reads, w, D);
    } else if (is(v, 0x9fe08400, 0x0e000400)) {
        copy(w, f);
    } else if (is(v, 0xbf208400, 0x0e000000) || is(v, 0xbf208400, 0x2e000000) || is(v, 0xbf208c00, 0x0e000800)) {
        f->class = CLASS_SHUFFLE; /* TBL, EXT, ZIP and their kin; a table may be four registers */
        f->element = (uint8_t)(1u << bits(w, 22, 2));
        vector(&f->reads, w, M);
        unsigned count = is(v, 0xbf208c00, 0x0e000000) ? 1 + bits(w, 13, 2) : 1;
        for (unsigned i = 0; i < count; i++)
            f->reads.vector |= 1u << ((bits(w, N, 5) + i) & 31);
        if (is(v, 0xbf209c00, 0x0e001000)) /* TBX */
            vector(&f->reads, w, D);
    } else if (is(v, 0x9f000400, 0x0f000000)) {
        by_element(w, f);
    } else if (is(v, 0x9f800400, 0x0f000400) && bits(w, 19, 4) != 0) { /* shift by a number */
        unsigned opcode = bits(w, 11, 5);
        f->class = opcode == 28 || opcode == 31 ? CLASS_CONVERT : CLASS_SHIFT;
        f->type = NUMBER_INTEGER;
        f->element = (uint8_t)(1u << (31 - __builtin_clz(bits(w, 19, 4))));
        bool left = opcode == 10 || opcode == 12 || opcode == 14 || opcode == 20;
        constant(f, left ? (int64_t)bits(w, 16, 7) - 8 * f->element : 16 * f->element - (int64_t)bits(w, 16, 7));
        f->width = opcode >= 16 && opcode <= 20 ? 16 : f->width; /* narrow or widen */
        vector(&f->reads, w, N);
        bool inserts = bits(w, 29, 1) && (opcode == 8 || opcode == 10);          /* SRI, SLI */
        bool narrows = opcode >= 16 && opcode <= 19;                             /* SHRN and its kin */
        if (opcode == 2 || opcode == 6 || inserts || (narrows && keeps_half(w))) /* SSRA, SRSRA */
            vector(&f->reads, w, D);
    } else if (is(v, 0x9ff80400, 0x0f000400)) { /* MOVI, FMOV; ORR, BIC */
        unsigned cmode = bits(w, 12, 4);
        bool changes = (cmode & 1) && cmode < 12;
        f->class = changes ? CLASS_LOGIC : CLASS_MOVE;
        f->has_constant = true;
        f->constant_result = !changes;
        if (changes)
            vector(&f->reads, w, D);
    } else {
        vector(&f->reads, w, N);
        vector(&f->reads, w, M);
    }
    count_flops(f);
}

/* ---- SVE ---- */

struct sve_row {
    uint32_t mask, value;
    uint8_t class;
    uint8_t floating; /* of the type that `size` says */
    const char *uses; /* letters of sve_use */
};

/* C4.1.35 to C4.1.62 of DDI 0487; the first row that fits. */
static const struct sve_row sve[] = {
    {0xff20fc00, 0x04203000, CLASS_LOGIC, 0, "nm-"},         /* AND, ORR, EOR, BIC */
    {0xff20e000, 0x04200000, CLASS_ADD, 0, "nm"},            /* ADD, SUB */
    {0xff3ee000, 0x04102000, CLASS_MOVE, 0, "ng"},           /* MOVPRFX */
    {0xfffffc00, 0x0420bc00, CLASS_MOVE, 0, "n-"},           /* MOVPRFX */
    {0xff3ce000, 0x04000000, CLASS_ADD, 0, "dng"},           /* ADD, SUB, SUBR */
    {0xff3ce000, 0x04080000, CLASS_MINMAX, 0, "dng"},        /* SMAX, UMAX, SMIN, UMIN */
    {0xff3ee000, 0x040c0000, CLASS_ARITHMETIC, 0, "dng"},    /* SABD, UABD */
    {0xff3ce000, 0x04100000, CLASS_MULTIPLY, 0, "dng"},      /* MUL, SMULH, UMULH */
    {0xff3ce000, 0x04140000, CLASS_DIVIDE, 0, "dng"},        /* SDIV, UDIV, reversed */
    {0xff3ce000, 0x04180000, CLASS_LOGIC, 0, "dng"},         /* ORR, EOR, AND, BIC */
    {0xff3ee000, 0x04002000, CLASS_ADD, 0, "ng"},            /* SADDV, UADDV */
    {0xff3ce000, 0x04082000, CLASS_MINMAX, 0, "ng"},         /* SMAXV ... */
    {0xff3ce000, 0x04182000, CLASS_LOGIC, 0, "ng"},          /* ORV ... */
    {0xff204000, 0x04004000, CLASS_MULTIPLY_ADD, 0, "dnmg"}, /* MLA, MLS, MAD, MSB */
    {0xff20e000, 0x04008000, CLASS_SHIFT, 0, "dng"},         /* ASR, LSL, LSR */
    {0xff38e000, 0x0410a000, CLASS_MOVE, 0, "ng"},           /* SXTB ... */
    {0xff38e000, 0x0418a000, CLASS_ARITHMETIC, 0, "ng"},     /* CNT, ABS, NEG */
    {0xff20f000, 0x04209000, CLASS_SHIFT, 0, "nt"},          /* shifts by a number */
    {0xff20f000, 0x04208000, CLASS_SHIFT, 0, "nm"},          /* by wide elements */
    {0xff20fc00, 0x04204000, CLASS_MOVE, 0, ""},             /* INDEX: numbers in a row */
    {0xff20f000, 0x04204000, CLASS_MOVE, 0, "xy"},
    {0xffe0f800, 0x04205000, CLASS_ADD, 0, "yX"},      /* ADDVL */
    {0xffe0f800, 0x04605000, CLASS_ADD, 0, "yX"},      /* ADDPL */
    {0xfffff800, 0x04bf5000, CLASS_MOVE, 0, "X"},      /* RDVL */
    {0xff20f000, 0x0420a000, CLASS_ADDRESS, 0, "nm"},  /* ADR */
    {0xff30fc00, 0x0420e000, CLASS_MOVE, 0, "X"},      /* CNTB, CNTH, CNTW, CNTD */
    {0xff30f800, 0x0430e000, CLASS_ADD, 0, "X0"},      /* INCB, DECB ... */
    {0xff30f000, 0x0430c000, CLASS_ADD, 0, "d"},       /* INCH, DECH of vectors */
    {0xff20c000, 0x0520c000, CLASS_SELECT, 0, "nmg"},  /* SEL */
    {0xff3ffc00, 0x05203800, CLASS_SHUFFLE, 0, "x"},   /* DUP of a general register */
    {0xff3fe000, 0x0528a000, CLASS_SHUFFLE, 0, "xg"},  /* CPY of a general register */
    {0xff3fe000, 0x0520a000, CLASS_SHUFFLE, 0, "ngX"}, /* LASTA, LASTB */
    {0xffc00000, 0x05000000, CLASS_LOGIC, 0, "d"},     /* ORR, EOR, AND of a constant */
    {0xffc00000, 0x05400000, CLASS_LOGIC, 0, "d"},
    {0xffc00000, 0x05800000, CLASS_LOGIC, 0, "d"},
    {0xfffc0000, 0x05c00000, CLASS_MOVE, 0, ""},         /* DUPM */
    {0xff308000, 0x05100000, CLASS_MOVE, 0, ""},         /* CPY of a constant */
    {0xff20fc00, 0x05202000, CLASS_SHUFFLE, 0, "n"},     /* DUP of an element */
    {0xff000000, 0x05000000, CLASS_SHUFFLE, 0, "nm"},    /* TBL, ZIP, REV ... */
    {0xff000000, 0x24000000, CLASS_COMPARE, 0, "nmgPf"}, /* CMPcc */
    {0xff20e000, 0x25200000, CLASS_COMPARE, 0, "xyPf"},  /* WHILE */
    {0xff3ff000, 0x2518e000, CLASS_MOVE, 0, "P"},        /* PTRUE */
    {0xff3ff000, 0x2519e000, CLASS_MOVE, 0, "Pf"},
    {0xff3fffe0, 0x2518e400, CLASS_MOVE, 0, "P"},  /* PFALSE */
    {0xff00c000, 0x25004000, CLASS_LOGIC, 0, "G"}, /* AND, ORR ... of predicates */
    {0xff3fc000, 0x2538c000, CLASS_MOVE, 0, ""},   /* DUP, FDUP of a constant */
    {0xff3fc000, 0x2539c000, CLASS_MOVE, 0, ""},
    {0xff38c000, 0x2520c000, CLASS_ADD, 0, "d"}, /* ADD, SUB of a constant */
    {0xff38c000, 0x2528c000, CLASS_MINMAX, 0, "d"},
    {0xff38c000, 0x2530c000, CLASS_MULTIPLY, 0, "d"},
    {0xff20c000, 0x25000000, CLASS_COMPARE, 0, "ngPf"},     /* CMPcc with a constant */
    {0xff3ef000, 0x252c8000, CLASS_ADD, 0, "X0q"},          /* INCP, DECP */
    {0xff38e000, 0x25208000, CLASS_MOVE, 0, "qX"},          /* CNTP */
    {0xff20fc00, 0x44000000, CLASS_MULTIPLY_ADD, 0, "dnm"}, /* SDOT */
    {0xff20f800, 0x44000000, CLASS_MULTIPLY_ADD, 0, "dnm"}, /* SDOT, UDOT */
    {0xff20e000, 0x65000000, CLASS_ADD, 1, "nm"},           /* FADD, FSUB; FMUL below */
    {0xff3fe000, 0x65182000, CLASS_ADD, 1, "dng"},          /* FADDA: in order */
    {0xff3fe000, 0x65002000, CLASS_ADD, 1, "ng"},           /* FADDV */
    {0xff3ce000, 0x65042000, CLASS_MINMAX, 1, "ng"},
    {0xff3ee000, 0x65008000, CLASS_ADD, 1, "dng"},      /* FADD, FSUB */
    {0xff3fe000, 0x65028000, CLASS_MULTIPLY, 1, "dng"}, /* FMUL */
    {0xff3fe000, 0x65038000, CLASS_ADD, 1, "dng"},      /* FSUBR */
    {0xff3ce000, 0x65048000, CLASS_MINMAX, 1, "dng"},
    {0xff3fe000, 0x650a8000, CLASS_MULTIPLY, 1, "dng"}, /* FMULX */
    {0xff3ee000, 0x650c8000, CLASS_DIVIDE, 1, "dng"},   /* FDIVR, FDIV */
    {0xff3ee000, 0x65188000, CLASS_ADD, 1, "dg"},       /* FADD, FSUB of a constant */
    {0xff3fe000, 0x651a8000, CLASS_MULTIPLY, 1, "dg"},
    {0xff3fe000, 0x650da000, CLASS_SQUARE_ROOT, 1, "ng"},    /* FSQRT */
    {0xff3fe000, 0x650ca000, CLASS_ARITHMETIC, 1, "ng"},     /* FRECPX */
    {0xff38e000, 0x6500a000, CLASS_ARITHMETIC, 1, "ng"},     /* FRINT */
    {0xff20e000, 0x6500a000, CLASS_CONVERT, 1, "ng"},        /* FCVT, SCVTF, FCVTZS */
    {0xff20e000, 0x65008000, CLASS_ARITHMETIC, 1, "dng"},    /* FABD, FSCALE */
    {0xff200000, 0x65200000, CLASS_MULTIPLY_ADD, 1, "dnmg"}, /* FMLA, FMAD ... */
    {0xff3fe000, 0x65082000, CLASS_ARITHMETIC, 1, "n"},      /* estimates */
    {0xff20e000, 0x65002000, CLASS_COMPARE, 1, "ngP"},       /* FCMcc with zero */
    {0xff204000, 0x65004000, CLASS_COMPARE, 1, "nmgP"},      /* FCMcc */
    {0xff20fc00, 0x64202000, CLASS_MULTIPLY, 1, "ni"},       /* FMUL by an element */
    {0xff20f000, 0x64200000, CLASS_MULTIPLY_ADD, 1, "dni"},  /* FMLA by an element, FCMLA */
    {0xff208000, 0x64000000, CLASS_MULTIPLY_ADD, 1, "dnmg"}, /* FCMLA */
    {0xff208000, 0x64008000, CLASS_ADD, 1, "dng"},           /* FCADD */
};

/* d n m: vectors read besides the one written, i: an element of m. g q: predicates, G: all of them. x y: general
   registers. P X: a predicate, a general register is written, 0: and read. f: flags. -: elements have no size; t: it is
   in tsz. */
static void sve_use(struct insn_facts *f, uint32_t w, char use)
{
    switch (use) {
    case 'd':
        vector(&f->reads, w, D);
        break;
    case 'n':
        vector(&f->reads, w, N);
        break;
    case 'm':
        vector(&f->reads, w, M);
        break;
    case 'g':
        predicate(&f->reads, w, 10, 3);
        f->masked = true;
        break;
    case 'q':
        predicate(&f->reads, w, 5, 4);
        break;
    case 'G':
        predicate(&f->reads, w, 5, 4);
        predicate(&f->reads, w, 16, 4);
        predicate(&f->reads, w, 10, 4);
        f->writes.vector = 0;
        predicate(&f->writes, w, 0, 4);
        break;
    case 'P':
        f->writes.vector = 0;
        predicate(&f->writes, w, 0, 4);
        break;
    case 'x':
        general(&f->reads, w, N);
        break;
    case 'y':
        general_or_sp(&f->reads, w, M);
        break;
    case 'X':
        f->writes.vector = 0;
        general_or_sp(&f->writes, w, D);
        break;
    case '0':
        general(&f->reads, w, D);
        break;
    case 'i':
        f->reads.vector |= 1u << bits(w, M, bits(w, 22, 2) == 3 ? 4 : 3);
        break;
    case '-':
        f->element = 0;
        break;
    case 't': {
        unsigned tsz = bits(w, 22, 2) << 2 | bits(w, 19, 2);
        f->element = (uint8_t)(tsz ? 1u << (31 - __builtin_clz(tsz)) : 0);
        break;
    }
    case 'f':
        f->writes.flags = true;
        break;
    }
}

static void sve_calculation(uint32_t w, struct insn_facts *f)
{
    unsigned size = bits(w, 22, 2);
    vector(&f->writes, w, D);
    f->packed = true;
    f->type = NUMBER_INTEGER;
    f->element = (uint8_t)(1u << size);
    for (size_t i = 0; i < ARRAY_SIZE(sve); i++) {
        const struct sve_row *r = &sve[i];
        if (!is(w, r->mask, r->value))
            continue;
        f->class = r->class;
        if (r->floating)
            number(f, type_of_size(size));
        for (const char *use = r->uses; *use; use++)
            sve_use(f, w, *use);
        if (is(w, 0xff20fc00, 0x65000800)) /* FMUL among the sums */
            f->class = CLASS_MULTIPLY;
        else if (is(w, 0xff20f000, 0x65001000)) /* FRECPS, FRSQRTS */
            f->class = CLASS_ARITHMETIC;
        if (is(w, 0xffe0fc00, 0x04603000) && bits(w, N, 5) == bits(w, M, 5)) /* ORR of one register */
            f->class = CLASS_MOVE;
        if (f->class == CLASS_CONVERT && bits(w, 19, 2) == 2) /* SCVTF, UCVTF */
            f->source_type = NUMBER_INTEGER;
        else if (f->class == CLASS_CONVERT) {
            f->source_type = f->type;
            f->type = bits(w, 19, 2) == 3 ? NUMBER_INTEGER : f->type;
        }
        count_flops(f);
        return;
    }
    vector(&f->reads, w, D); /* unknown */
    vector(&f->reads, w, N);
    vector(&f->reads, w, M);
}

/* LD1, ST1 and their kin: contiguous, spread from one place, gathered. */
static void sve_memory(uint32_t w, struct insn_facts *f)
{
    static const uint8_t loaded[16] = {1, 1, 1, 1, 4, 2, 2, 2, 2, 2, 4, 4, 1, 1, 1, 8}; /* by the field dtype */
    unsigned top = w >> 25, form = bits(w, 13, 3);
    bool load = top != 0x72, gather = load ? top == 0x62 || (top == 0x42 && !bits(w, 15, 1)) : form >= 4 && form != 7;
    bool whole =
        is(w, 0xffc00000, 0x85800000) || is(w, 0xffc0e000, 0xe5804000); /* LDR, STR; prefetches among the first */
    bool copied = is(w, 0xfe408000, 0x84408000);                        /* LD1R: one element for all */
    struct insn_memory *m = memory(f, w, load, 0);
    m->scalable = true;
    f->packed = true;
    if (load && (top == 0x52 || copied))
        f->element = loaded[copied ? bits(w, 23, 2) << 2 | bits(w, 13, 2) : bits(w, 21, 4)];
    else
        f->element = (uint8_t)(whole ? 0 : 1u << bits(w, 23, 2));
    if (whole && load && form != 0 && form != 2) {
        f->class = CLASS_PREFETCH;
        f->memory_count = 0;
        return;
    }
    vector(load ? &f->writes : &f->reads, w, D);
    if (whole)
        return;
    predicate(&f->reads, w, 10, 3);
    f->masked = true;
    if (copied) {
        m->scalable = false;
        m->size = f->element;
        m->disp = (int64_t)bits(w, 16, 6) * f->element;
    } else if (gather) {
        bool vector_base = load ? bits(w, 21, 2) == 1 && form >= 4 : form == 5 && bits(w, 22, 1);
        m->vector_index = true;
        m->index = (uint8_t)(vector_base ? bits(w, N, 5) : bits(w, M, 5));
        if (vector_base) {
            m->base = FACTS_NO_REG;
            m->disp = (int64_t)bits(w, M, 5) * f->element;
            f->reads.general = 0;
            vector(&f->reads, w, N);
        } else {
            m->scale = bits(w, 21, 1) ? f->element : 1;
            vector(&f->reads, w, M);
        }
    } else if (form == 2 || form == 3) { /* base + register */
        m->index = bits(w, M, 5) == 31 ? FACTS_NO_REG : (uint8_t)bits(w, M, 5);
        m->scale = f->element;
        general(&f->reads, w, M);
    }
}

/* ---- all ---- */

static void control(uint32_t w, struct insn_facts *f)
{
    f->class = CLASS_CONTROL;
    if (w >> 24 == 0x54)
        f->reads.flags = true;
    else if (is(w, 0x7c000000, 0x34000000)) /* CBZ, TBZ */
        general(&f->reads, w, D);
    else if (w >> 25 == 0x6b)
        general(&f->reads, w, N);
    if (f->insn.kind == INSN_CALL || f->insn.kind == INSN_CALL_INDIRECT)
        f->writes.general |= 1u << 30;
}

static void system_register(uint32_t w, struct insn_facts *f)
{
    f->reads.other = f->writes.other = true;
    if (is(w, 0xfffff01f, 0xd503201f)) /* hints */
        *f = (struct insn_facts){.insn = f->insn, .class = CLASS_NOP};
    else if (is(w, 0xfffff0ff, 0xd50330bf) || is(w, 0xffffff1f, 0xd503309f)) /* DMB, DSB */
        f->class = CLASS_FENCE;
    else if (is(w, 0xfff00000, 0xd5300000) || is(w, 0xfff80000, 0xd5280000)) /* MRS, SYSL */
        general(&f->writes, w, D);
    else if (w >> 24 != 0xd4) /* (SVC and its kin have a number there) */
        general(&f->reads, w, D);
}

bool aarch64_facts(const uint8_t *p, size_t n, vaddr addr, struct insn_facts *f)
{
    *f = (struct insn_facts){.divisor = FACTS_NO_REG};
    arch_aarch64()->decode(p, n, addr, &f->insn);
    if (f->insn.kind == INSN_BAD)
        return false;
    struct cursor c = cursor_make(p, n);
    uint32_t w = cursor_u32(&c);
    if (f->insn.kind != INSN_PLAIN && f->insn.kind != INSN_PADDING) {
        control(w, f);
        return true;
    }
    switch (bits(w, 25, 4)) { /* C4.1, table C4-1 */
    case 2:
        f->scalable = true;
        if (w >> 31)
            sve_memory(w, f);
        else
            sve_calculation(w, f);
        return true;
    case 8:
    case 9:
        immediate(w, addr, f);
        return true;
    case 10:
    case 11:
        system_register(w, f);
        return true;
    case 4:
    case 6:
    case 12:
    case 14:
        loads_and_stores(w, addr, f);
        return true;
    case 5:
    case 13:
        registers(w, f);
        return true;
    case 7:
    case 15:
        vectors(w, f);
        return true;
    default:
        return false;
    }
}
