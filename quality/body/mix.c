/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classes of the instructions of an iteration: calculations, packed or not; loads and stores; addresses and conditions.
 *
 * A vector instruction counts as vectorized only if it calculates: copies of structs, constants and sign bits use
 * vector registers in scalar loops as well.
 */
#include "quality/body/body.h"

#include <math.h>

unsigned step_width(const struct step *s, const struct machine_core *m)
{
    return s->f.scalable ? m->vector : s->f.width;
}

double step_elements(const struct step *s, const struct machine_core *m)
{
    if (!s->f.packed || s->f.element == 0)
        return 1;
    double n = (double)step_width(s, m) / s->f.element;
    return n < 1 ? 1 : n;
}

unsigned quality_memory_size(const struct insn_memory *m, const struct machine_core *machine)
{
    return m->scalable ? machine->vector : m->size;
}

static bool uses_vectors(const struct step *s)
{
    return (s->f.reads.vector | s->f.writes.vector) != 0;
}

bool step_calculates(const struct step *s)
{
    if (!uses_vectors(s) || (s->f.constant_result && s->f.class != CLASS_COMPARE))
        return false;
    if (s->f.class == CLASS_COMPARE)
        return !s->f.writes.flags || s->f.packed;
    bool bits = s->f.class == CLASS_LOGIC || s->f.class == CLASS_SHIFT; /* of whole numbers: they may be data */
    return bits ? s->f.packed && s->f.type == NUMBER_INTEGER : insn_class_calculates(s->f.class);
}

/* ---- addresses and conditions -------------------------------------------------------- */

static bool whole_number_work(const struct step *s)
{
    return s->known && !uses_vectors(s) && s->f.class != CLASS_CONTROL && s->f.class != CLASS_NOP &&
           s->f.class != CLASS_PREFETCH && s->f.class != CLASS_FENCE;
}

static uint32_t address_registers(const struct step *s)
{
    uint32_t set = 0;
    for (uint8_t i = 0; i < s->f.memory_count; i++) {
        const struct insn_memory *m = &s->f.memory[i];
        set |= m->base < ARCH_REGS ? 1u << m->base : 0;
        set |= m->index < ARCH_REGS && !m->vector_index ? 1u << m->index : 0;
    }
    return set;
}

/* Backwards from addresses and branches, twice around the loop: the producers of their operands. */
static void mark_addressing(struct body *b)
{
    uint32_t wanted = 0;
    bool flags = false;
    for (size_t i = 0; i < b->steps.count; i++)
        b->steps.items[i].addressing = false;
    for (int round = 0; round < 2; round++)
        for (size_t i = b->path.count; i-- > 0;) {
            struct step *s = path_step(b, i);
            bool makes = (s->f.writes.general & wanted) != 0 || (s->f.writes.flags && flags);
            if (s->f.class == CLASS_CONTROL) {
                flags |= s->f.reads.flags;
                wanted |= s->f.reads.general; /* cbz, indirect jumps */
            } else if (makes && whole_number_work(s)) {
                s->addressing = true;
                if (s->f.writes.flags)
                    flags = false;
                wanted &= ~(s->f.writes.general & ~s->f.reads.general);
                wanted |= s->f.reads.general;
            } else if (s->f.writes.flags)
                flags = false;
            wanted |= address_registers(s);
        }
}

/* ---- packed or not --------------------------------------------------------------------- */

struct tally {
    double could[MIXES], packed[MIXES], used[MIXES];
};

static enum quality_mix mix_of(const struct step *s)
{
    switch (s->f.class) {
    case CLASS_ADD:
        return MIX_ADD;
    case CLASS_MULTIPLY:
    case CLASS_MULTIPLY_ADD:
        return MIX_MULTIPLY;
    case CLASS_MOVE:
        return s->f.memory_count && s->f.memory[0].writes ? MIX_STORE : MIX_LOAD;
    default:
        return MIX_OTHER;
    }
}

static void tally_step(const struct body *b, const struct step *s, struct tally *t)
{
    enum quality_mix mix = mix_of(s);
    unsigned width = s->f.packed ? step_width(s, b->machine) : s->f.element;
    if (width > b->machine->vector)
        width = b->machine->vector;
    const enum quality_mix to[] = {MIX_ALL, mix};
    for (size_t i = 0; i < ARRAY_SIZE(to); i++) {
        t->could[to[i]]++;
        t->packed[to[i]] += s->f.packed;
        t->used[to[i]] += (double)width / b->machine->vector;
    }
}

/* Loads and stores of vector registers, or of whole numbers that are data. */
static bool moves_data(const struct step *s)
{
    return s->f.class == CLASS_MOVE && s->f.memory_count > 0 && !s->f.memory[0].vector_index && !s->addressing;
}

bool step_whole_number_data(const struct step *s)
{
    switch (s->f.class) {
    case CLASS_ADD:
    case CLASS_MULTIPLY:
    case CLASS_MULTIPLY_ADD:
    case CLASS_LOGIC:
    case CLASS_SHIFT:
    case CLASS_MINMAX:
    case CLASS_SELECT:
    case CLASS_ARITHMETIC:
        return whole_number_work(s) && !s->addressing && !s->f.constant_result && s->f.type == NUMBER_INTEGER;
    default:
        return false;
    }
}

static void count_packed(const struct body *b, struct quality_loop *q)
{
    struct tally t = {0};
    bool scalar = false, packed = false;
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *s = path_step(b, i);
        bool works = step_calculates(s);
        packed |= works && s->f.packed;
        scalar |= (works && !s->f.packed) || step_whole_number_data(s);
    }
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *s = path_step(b, i);
        if (!s->known)
            continue;
        bool copies = scalar && !packed && s->f.packed; /* a struct, in a scalar loop */
        if (step_calculates(s) || step_whole_number_data(s) || (moves_data(s) && !copies))
            tally_step(b, s, &t);
    }
    for (int m = 0; m < MIXES; m++) {
        q->vector_ratio[m] = t.could[m] > 0 ? t.packed[m] / t.could[m] : NAN;
        q->vector_efficiency[m] = t.could[m] > 0 ? t.used[m] / t.could[m] : NAN;
    }
    q->vector = packed || (t.packed[MIX_ALL] > 0 && !scalar);
}

/* ---- memory ---------------------------------------------------------------------------- */

static void count_memory(const struct body *b, struct quality_loop *q)
{
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *s = path_step(b, i);
        for (uint8_t k = 0; k < s->f.memory_count; k++) {
            const struct insn_memory *m = &s->f.memory[k];
            double size = quality_memory_size(m, b->machine);
            if (m->vector_index)
                size = s->f.element * step_elements(s, b->machine);
            q->loaded += m->reads ? size : 0;
            q->stored += m->writes ? size : 0;
        }
    }
    q->intensity = q->loaded + q->stored > 0 ? q->flops / (q->loaded + q->stored) : NAN;
    for (size_t i = 0; i < b->refs.count; i++) {
        q->strides[b->refs.items[i].stride]++;
        q->stack_references += b->refs.items[i].stack;
    }
}

/* A slot of the stack that is written and read in the iteration. */
static void count_spills(const struct body *b, struct quality_loop *q)
{
    for (size_t i = 0; i < b->refs.count; i++) {
        const struct ref *w = &b->refs.items[i];
        if (!w->stack || w->stride != STRIDE_NONE || !path_step(b, w->step)->f.memory[w->operand].writes)
            continue;
        for (size_t k = 0; k < b->refs.count; k++) {
            const struct ref *r = &b->refs.items[k];
            if (k != i && r->stack && r->form.add == w->form.add && quality_form_same_terms(&r->form, &w->form) &&
                path_step(b, r->step)->f.memory[r->operand].reads) {
                q->spills++;
                break;
            }
        }
    }
}

/* Bytes of the packed numbers in calculations; 0: none. Loads and stores have no element type: movups moves doubles
   too, and NEON's ldr any. */
static unsigned lane_of(const struct body *b)
{
    static const uint8_t bytes[] = {[NUMBER_HALF] = 2, [NUMBER_FLOAT] = 4, [NUMBER_DOUBLE] = 8, [NUMBER_EXTENDED] = 16};
    unsigned lane = 0;
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *s = path_step(b, i);
        unsigned result = s->f.class == CLASS_CONVERT ? bytes[s->f.type] : 0;
        unsigned element = result > s->f.element ? result : s->f.element;
        if (step_calculates(s) && s->f.packed && element > lane)
            lane = element;
    }
    return lane;
}

/* Widening of integers: vpmovsxdq and similar. Bytes of one before; 0: there are none. */
static unsigned widened_from(const struct body *b)
{
    for (size_t i = 0; i < b->path.count; i++) {
        const struct insn_facts *f = &path_step(b, i)->f;
        if (f->class == CLASS_CONVERT && f->packed && f->type == NUMBER_INTEGER && f->source_type == NUMBER_INTEGER)
            return f->element;
    }
    return 0;
}

/* Do all its streams move by as much? Then none has the wider numbers. */
static bool streams_move_alike(const struct body *b)
{
    int64_t moves = 0;
    for (size_t i = 0; i < b->refs.count; i++) {
        const struct ref *r = &b->refs.items[i];
        if (!r->known || r->stride != STRIDE_ONE)
            continue;
        if (moves && llabs(r->moves) != moves)
            return false;
        moves = llabs(r->moves);
    }
    return true;
}

static uint32_t numbers_in(const struct step *s, int64_t moves, unsigned lane, uint32_t accesses)
{
    unsigned element = lane ? lane : s->f.element;
    return s->f.packed && element && element < s->f.width ? (uint32_t)(moves / element) : accesses;
}

/* How many numbers an iteration processes, and in how many accesses: by the streams whose stride is one. The one
   with the most bytes decides: of float and double together, the doubles make the loop's width. */
static void find_unroll(const struct body *b, struct quality_loop *q)
{
    unsigned lane = lane_of(b), narrow = widened_from(b);
    if (narrow && narrow < lane && streams_move_alike(b))
        lane = narrow;
    q->unroll = 1;
    for (size_t i = 0; i < b->refs.count; i++) {
        const struct ref *r = &b->refs.items[i];
        const struct step *s = path_step(b, r->step);
        uint32_t size = quality_memory_size(&s->f.memory[r->operand], b->machine);
        int64_t moves = llabs(r->moves);
        if (r->stride != STRIDE_ONE || size == 0 || moves <= llabs(q->step) || !r->known)
            continue;
        q->step = r->moves;
        q->unroll = (uint32_t)(moves / size) ? (uint32_t)(moves / size) : 1;
        q->elements = numbers_in(s, moves, lane, q->unroll);
    }
}

/* ---- all --------------------------------------------------------------------------------- */

void quality_mix_count(struct body *b, struct quality_loop *q)
{
    size_t work = 0, addressing = 0;
    mark_addressing(b);
    q->instructions = (uint32_t)b->steps.count;
    for (size_t i = 0; i < b->steps.count; i++)
        q->bytes += b->steps.items[i].f.insn.length;
    q->paths = b->paths;
    q->path_instructions = (uint32_t)b->path.count;
    for (size_t i = 0; i < b->path.count; i++) {
        const struct step *s = path_step(b, i);
        q->flops += s->f.flops * step_elements(s, b->machine);
        q->fma += s->f.class == CLASS_MULTIPLY_ADD && s->f.flops > 0;
        q->calls += s->f.insn.kind == INSN_CALL || s->f.insn.kind == INSN_CALL_INDIRECT;
        work += s->f.class != CLASS_NOP;
        addressing += s->addressing || s->f.insn.kind == INSN_BRANCH || s->f.insn.kind == INSN_JUMP;
    }
    q->address_share = work ? (double)addressing / (double)work : 0;
    count_packed(b, q);
    count_memory(b, q);
    count_spills(b, q);
    find_unroll(b, q);
}
