/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of one instruction: its kind in the machine file. */
#include "quality/body/body.h"

static bool uses_general(const struct step *s)
{
    return ((s->f.reads.general | s->f.writes.general) & ~0u) != 0;
}

/* Registers read that are not in an address. */
static uint32_t read_as_data(const struct step *s)
{
    uint32_t address = 0;
    for (uint8_t i = 0; i < s->f.memory_count; i++) {
        const struct insn_memory *m = &s->f.memory[i];
        address |= m->base < 32 ? 1u << m->base : 0;
        address |= m->index < 32 && !m->vector_index ? 1u << m->index : 0;
    }
    return s->f.reads.general & ~address;
}

/* Behind prefixes that assemblers put there to move code. */
bool step_is_avx(const struct step *s)
{
    size_t n = s->f.insn.length, i = 0;
    while (i < n && (s->bytes[i] == 0x2e || s->bytes[i] == 0x36 || s->bytes[i] == 0x3e || s->bytes[i] == 0x26 ||
                     s->bytes[i] == 0x64 || s->bytes[i] == 0x65 || s->bytes[i] == 0x67))
        i++;
    return i < n && (s->bytes[i] == 0xc4 || s->bytes[i] == 0xc5 || s->bytes[i] == 0x62);
}

static enum cost_kind floating(const struct step *s)
{
    bool small = s->f.type != NUMBER_DOUBLE;
    switch (s->f.class) {
    case CLASS_ADD:
        return COST_FP_ADD;
    case CLASS_MULTIPLY:
        return COST_FP_MULTIPLY;
    case CLASS_MULTIPLY_ADD:
        return COST_FP_FMA;
    case CLASS_DIVIDE:
        return small ? COST_FP_DIVIDE_32 : COST_FP_DIVIDE_64;
    case CLASS_SQUARE_ROOT:
        return small ? COST_FP_SQRT_32 : COST_FP_SQRT_64;
    case CLASS_MINMAX:
        return COST_FP_MINMAX;
    case CLASS_COMPARE:
        return COST_FP_COMPARE;
    case CLASS_LOGIC:
        return COST_VECTOR_LOGIC;
    default:
        return COST_FP_OTHER;
    }
}

/* A widening conversion needs no shuffle if a load brings each number to its place. */
static enum cost_kind converting(const struct step *s)
{
    bool loads = s->f.memory_count && s->f.memory[0].reads;
    if (read_as_data(s))
        return COST_CONVERT_FROM_GENERAL;
    if (s->f.writes.general)
        return COST_CONVERT_TO_GENERAL;
    bool both = s->f.type >= NUMBER_HALF && s->f.source_type >= NUMBER_HALF;
    bool wider = s->f.type == NUMBER_DOUBLE && s->f.source_type == NUMBER_INTEGER && s->f.element == 4;
    bool packs = s->f.type == NUMBER_INTEGER && s->f.source_type == NUMBER_INTEGER; /* pmovsx and its like */
    bool widens = s->f.type == NUMBER_DOUBLE && s->f.source_type != NUMBER_DOUBLE;
    if (packs)
        return COST_SHUFFLE_WIDE;
    return (both || wider) && !(widens && loads) ? COST_CONVERT_WIDTH : COST_CONVERT;
}

/* Across lanes of 16 bytes, or within them? Only the width is known. */
static enum cost_kind shuffling(const struct step *s)
{
    if (s->f.writes.general)
        return COST_TO_GENERAL;
    if (read_as_data(s))
        return COST_FROM_GENERAL;
    return s->f.width > 16 ? COST_SHUFFLE_WIDE : COST_SHUFFLE;
}

/* A load merged with the contents of a register (movhpd): the loaded value is placed like a shuffle. */
static bool fills_part(const struct step *s)
{
    return s->f.reads.vector && !s->f.masked;
}

static enum cost_kind of_vectors(const struct step *s)
{
    if (s->f.class == CLASS_CONVERT)
        return converting(s);
    if (s->f.class == CLASS_SHUFFLE)
        return s->f.memory_count && !read_as_data(s) && s->f.memory[0].reads && !s->f.reads.vector ? COST_LOAD
                                                                                                   : shuffling(s);
    if (s->f.class == CLASS_MOVE) {
        if (s->f.memory_count && s->f.memory[0].writes)
            return COST_STORE;
        if (s->f.memory_count)
            return fills_part(s) ? COST_SHUFFLE : COST_LOAD;
        if (s->f.writes.general)
            return COST_TO_GENERAL;
        return s->f.reads.general ? COST_FROM_GENERAL : COST_VECTOR_MOVE;
    }
    if (s->f.type >= NUMBER_HALF && s->f.class != CLASS_SHIFT && s->f.class != CLASS_SELECT)
        return floating(s);
    switch (s->f.class) {
    case CLASS_MULTIPLY:
    case CLASS_MULTIPLY_ADD:
        return COST_VECTOR_MULTIPLY;
    case CLASS_LOGIC:
        return COST_VECTOR_LOGIC;
    case CLASS_SHIFT:
        return COST_VECTOR_SHIFT;
    case CLASS_SELECT:
        return COST_VECTOR_SELECT;
    default:
        return COST_VECTOR_INT;
    }
}

static enum cost_kind of_general(const struct step *s)
{
    switch (s->f.class) {
    case CLASS_MULTIPLY:
    case CLASS_MULTIPLY_ADD:
        return COST_INT_MULTIPLY;
    case CLASS_DIVIDE:
        return s->f.element == 8 ? COST_INT_DIVIDE_64 : COST_INT_DIVIDE_32;
    case CLASS_SHIFT:
        return COST_SHIFT;
    case CLASS_ADDRESS:
        return COST_LEA;
    case CLASS_SELECT:
        return COST_SELECT;
    case CLASS_ARITHMETIC:
        return COST_BITS;
    case CLASS_STACK:
    case CLASS_MOVE:
        if (s->f.memory_count)
            return s->f.memory[0].writes ? COST_STORE : COST_LOAD;
        return COST_INT;
    case CLASS_PREFETCH:
        return COST_LOAD;
    case CLASS_CONVERT: /* of a number in memory */
        return COST_CONVERT_TO_GENERAL;
    case CLASS_OTHER:
    case CLASS_FENCE:
        return COST_OTHER;
    default:
        return COST_INT;
    }
}

static enum cost_kind kind_of(const struct step *s)
{
    if (!s->known)
        return COST_OTHER;
    if (s->f.class == CLASS_CONTROL)
        return s->f.insn.kind == INSN_CALL || s->f.insn.kind == INSN_CALL_INDIRECT ? COST_CALL : COST_BRANCH;
    if (s->f.locked)
        return COST_LOCKED;
    if (s->f.memory_count && s->f.memory[0].vector_index)
        return s->f.memory[0].writes ? COST_SCATTER : COST_GATHER;
    if (s->f.class == CLASS_FENCE)
        return COST_OTHER;
    if (s->f.type == NUMBER_EXTENDED || (s->f.reads.other && s->f.writes.other && !s->f.reads.vector))
        return COST_X87;
    if (s->f.reads.vector | s->f.writes.vector)
        return of_vectors(s);
    if (s->f.reads.mask | s->f.writes.mask)
        return uses_general(s) && s->f.writes.general ? COST_TO_GENERAL : COST_MASK;
    return of_general(s);
}

uint8_t cost_of(const struct step *s)
{
    return (uint8_t)kind_of(s);
}

void cost_find(struct body *b)
{
    for (size_t i = 0; i < b->path.count; i++)
        path_step(b, i)->cost = cost_of(path_step(b, i));
}

bool cost_is_free(const struct body *b, const struct step *s)
{
    bool copies = s->f.class == CLASS_MOVE && s->f.memory_count == 0 && !s->f.has_constant &&
                  (s->cost == COST_INT || s->cost == COST_VECTOR_MOVE);
    bool zero = s->f.constant_result && s->f.class != CLASS_COMPARE && !s->f.writes.mask;
    return s->f.class == CLASS_NOP || zero || (copies && b->machine->moves_free);
}

unsigned cost_width(const struct body *b, const struct step *s)
{
    unsigned width = step_width(s, b->machine);
    return width > 32 ? 2 : width > 16 ? 1 : 0;
}

double cost_latency(const struct body *b, const struct step *s)
{
    if (cost_is_free(b, s) || s->cost == COST_LOAD || s->cost == COST_STORE)
        return 0;
    return (double)b->machine->costs[s->cost].latency;
}

double cost_load_latency(const struct body *b, const struct step *s)
{
    bool to_vector = (s->f.reads.vector | s->f.writes.vector) != 0;
    return (double)(to_vector ? b->machine->load_vector : b->machine->costs[COST_LOAD].latency);
}
