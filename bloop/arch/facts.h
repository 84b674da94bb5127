/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The effects of one instruction, independent of the processor: registers, memory, kind of operation, types and number of its
 * elements.
 *
 * Computed on demand (arch.facts): structure recovery needs only struct insn, which is decoded ten times as fast. Only
 * properties of the encoding are modelled: no latencies, no ports.
 */
#ifndef BLOOP_FACTS_H
#define BLOOP_FACTS_H

#include "bloop/arch/arch.h"

#define FACTS_NO_REG 0xff

/* Bit n: register n as the processor numbers it; AArch64's general register 31 is the stack pointer. A part of a
   register counts as the register; the zero register does not count. */
struct reg_set {
    uint32_t general, vector; /* vector: all widths; AVX-512 has 32, SVE's z0-z31 are the same as v0-v31 */
    uint16_t mask;            /* k0-k7, p0-p15 */
    bool flags, other;        /* condition flags; segment, control, x87, MMX registers */
};

enum insn_class {
    CLASS_OTHER,
    CLASS_MOVE,    /* copies, extensions, constants; loads and stores of all kinds are moves with a memory operand */
    CLASS_ADDRESS, /* lea, adr */
    CLASS_ADD,     /* subtraction, negation and horizontal sums too */
    CLASS_MULTIPLY,
    CLASS_MULTIPLY_ADD, /* fused, or sums of products */
    CLASS_DIVIDE,
    CLASS_SQUARE_ROOT,
    CLASS_MINMAX,
    CLASS_ARITHMETIC, /* any other: estimates, rounding, absolute values, counts of bits */
    CLASS_LOGIC,
    CLASS_SHIFT,
    CLASS_COMPARE,
    CLASS_SELECT,  /* cmov, csel, setcc, blends */
    CLASS_CONVERT, /* between types of numbers */
    CLASS_SHUFFLE, /* moves elements between places */
    CLASS_STACK,   /* push, pop, leave */
    CLASS_PREFETCH,
    CLASS_FENCE,
    CLASS_CONTROL, /* struct insn says which */
    CLASS_NOP,
    CLASS_COUNT
};
const char *insn_class_name(enum insn_class);
/* Does it work out numbers? Moves, shuffles and bitwise operations on vector registers are copies of structs and
   constants as often as not. */
bool insn_class_calculates(enum insn_class);

enum number_type { NUMBER_NONE, NUMBER_INTEGER, NUMBER_HALF, NUMBER_FLOAT, NUMBER_DOUBLE, NUMBER_EXTENDED };

struct insn_memory {            /* memory[base + index * scale + disp] */
    uint8_t base, index, scale; /* general registers, or FACTS_NO_REG */
    bool vector_index;          /* index (SVE: or base) is a vector register: a gather or scatter */
    bool reads, writes;
    bool segment;   /* relative to fs or gs: of the thread */
    bool scalable;  /* as many bytes as SVE's vectors have, however long; `size` is 0 */
    int64_t disp;   /* relative to the instruction: the address itself, without base */
    uint16_t size;  /* bytes accessed in all, masked ones too */
    bool post_disp; /* AArch64: disp is added to the base behind the access */
    bool updates;   /* the base is changed by disp */
};

struct insn_facts {
    struct insn insn;
    uint8_t class;        /* enum insn_class */
    uint8_t type;         /* enum number_type of its operands, or of the elements it moves if the encoding specifies
                             them */
    uint8_t source_type;  /* source type of a CONVERT */
    uint8_t element;      /* bytes of one number */
    uint8_t width;        /* bytes of the widest register used; 0: none, or scalable */
    uint8_t flops;        /* floating-point operations for each element: 2 of a fused multiply and add */
    bool packed;          /* several numbers at once */
    bool scalable;        /* SVE: as many as fit */
    bool masked;          /* elements may be left out by a mask */
    bool locked;          /* atomic: lock, xchg with memory, exclusives, LSE */
    bool constant_result; /* its result depends on no operand: xor %eax,%eax; all ones too */
    bool has_constant;    /* an immediate operand: */
    int64_t constant;
    struct reg_set reads, writes;
    uint8_t divisor; /* of a DIVIDE on vector registers: the one it divides by, or FACTS_NO_REG (memory has it) */
    struct insn_memory memory[2];
    uint8_t memory_count;
};

/* ---- text.c: disassembly; a writer belongs to one thread ---- */

struct arch_writer;
struct arch_writer *arch_writer_create(enum arch_kind);
void arch_writer_free(struct arch_writer *);
/* At most `size` bytes including the terminating NUL; of n bytes at p, n > 0. Undecodable bytes are shown in
   hexadecimal. */
void arch_write(const struct arch_writer *, const uint8_t *p, size_t n, vaddr addr, char *out, size_t size);

#endif
