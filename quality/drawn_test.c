/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random loops compared with plain definitions: the code is generated from instructions with known semantics.
 * References are checked by running the loop (addresses are numbers then), the throughput bound by enumerating every
 * set of ports, and chains by computing when each value is available over a few thousand iterations.
 */
#include "config.h"

#include "bloop/binary_test.h"
#include "quality/quality_int.h"
#include "tests/chance.h"
#include "tests/elf.h"
#include "tests/tap.h"

#include <math.h>

enum {
    TEXT = 0x400000,
    BINARIES = 8,
    LOOPS = 30,
    INSNS = 14,
    GENERAL = 16,
    REGISTERS = 32,
    COUNTER = 1,
    STACK = 4,
    FLAGS = 16,
    NONE = 255
};

/* ---- a core -------------------------------------------------------------------------------------------------- */

enum kind {
    INT,
    LEA,
    INT_MULTIPLY,
    BRANCH,
    LOAD,
    STORE,
    STORE_INDEXED,
    VECTOR_MOVE,
    FP_ADD,
    FP_MULTIPLY,
    FP_DIVIDE,
    KINDS
};
static const struct {
    const char *word, *uops; /* ports of each uop, as digits */
    double latency, chain, busy;
} kinds[KINDS] = {
    {"int", "015", 1, 0, 0},
    {"address", "1", 2, 0, 0},
    {"int-multiply", "1", 3, 0, 0},
    {"branch", "06", 1, 0, 0},
    {"load", "23", 5, 0, 0},
    {"store", "4 237", 0, 0, 0},
    {"store-indexed", "4 23", 0, 0, 0},
    {"vector-move", "15", 1, 0, 0},
    {"fp-add", "01", 4, 2, 0},
    {"fp-multiply", "0 05", 7, 0, 0},
    {"fp-divide-64", "0", 13, 0, 6},
};
struct core {
    unsigned issue, forward, forward_stack, load_vector, taken;
    bool moves_free;
};

static struct machine_core *make_core(struct core *c)
{
    struct buf text = {0};
    struct machine_core *m = NULL;
    struct err err = {0};
    *c = (struct core){1 + below(8), 3 + below(5), 1 + below(3), 6 + below(3), below(3), below(2)};
    buf_printf(
        &text,
        "<machine><core name=\"Made\" arch=\"x86-64\" issue=\"%u\" vector=\"32\" forward=\"%u\" forward-stack=\"%u\" "
        "load-vector=\"%u\" taken=\"%u\" moves-free=\"%s\" fuses=\"no\">",
        c->issue, c->forward, c->forward_stack, c->load_vector, c->taken, c->moves_free ? "yes" : "no");
    for (int i = 0; i < KINDS; i++)
        buf_printf(&text, "<op kind=\"%s\" uops=\"%s\" latency=\"%g\" chain=\"%g\" busy=\"%g\"/>", kinds[i].word,
                   kinds[i].uops, kinds[i].latency, kinds[i].chain, kinds[i].busy);
    buf_str(&text, "</core></machine>");
    write_file("core.xml", text.bytes, text.len);
    char *path = scratch("core.xml");
    if (machine_core_read(path, NULL, &m, &err) < 0)
        printf("# %s\n", err.msg);
    mem_free(path);
    buf_release(&text);
    return m;
}

/* ---- loops ----------------------------------------------------------------------------------------------------- */

/* Each general register has one role in a loop, so that address arithmetic can be derived locally, as by the
   analysis. */
enum role { INVARIANT, MOVES, FOLLOWS, MOVES_BY_REGISTER, LOADED, MULTIPLIED, ROLES };
enum action {
    ADD_NUMBER,
    LEA_NUMBER,
    LEA_OF,
    COPY,
    ADD_REGISTER,
    MULTIPLY,
    LOAD_GENERAL,
    STORE_GENERAL,
    ADD_TO_MEMORY,
    LOAD_VECTOR,
    STORE_VECTOR,
    ADD_VECTOR,
    MULTIPLY_VECTOR,
    DIVIDE_VECTOR,
    ADD_FROM_MEMORY,
    COPY_VECTOR,
    COUNT,
    SKIP,
    JUMP
};
struct made {
    enum action form;
    uint8_t to, from;    /* of the form's kind of registers */
    uint8_t base, index; /* NONE: no register */
    int32_t scale, number;
    size_t bytes;
    bool reads, writes; /* memory, of 8 bytes */
    unsigned skips;     /* SKIP: number of instructions skipped if its condition holds */
};
struct drawn {
    struct made insns[INSNS + 2];
    size_t count, at, bytes;
    unsigned skips, passed_over; /* forward jumps; instructions they skip */
    enum role roles[GENERAL];
    bool crowded; /* see draw_crowded */
};

static bool is_jump(const struct made *i)
{
    return i->form == SKIP || i->form == JUMP;
}

static bool is_vector(enum action f)
{
    return f >= LOAD_VECTOR && f <= COPY_VECTOR;
}

static void put_insn(struct buf *code, struct made *i, size_t loop_at)
{
    static const struct {
        uint8_t prefix, escape, opcode;
    } codes[] = {[LEA_NUMBER] = {0, 0, 0x8d},
                 [LEA_OF] = {0, 0, 0x8d},
                 [COPY] = {0, 0, 0x8b},
                 [ADD_REGISTER] = {0, 0, 0x03},
                 [MULTIPLY] = {0, 0x0f, 0xaf},
                 [LOAD_GENERAL] = {0, 0, 0x8b},
                 [STORE_GENERAL] = {0, 0, 0x89},
                 [ADD_TO_MEMORY] = {0, 0, 0x01},
                 [LOAD_VECTOR] = {0xf2, 0x0f, 0x10},
                 [STORE_VECTOR] = {0xf2, 0x0f, 0x11},
                 [ADD_VECTOR] = {0xf2, 0x0f, 0x58},
                 [MULTIPLY_VECTOR] = {0xf2, 0x0f, 0x59},
                 [DIVIDE_VECTOR] = {0xf2, 0x0f, 0x5e},
                 [ADD_FROM_MEMORY] = {0xf2, 0x0f, 0x58},
                 [COPY_VECTOR] = {0x66, 0x0f, 0x28}};
    size_t before = code->len;
    int32_t number = i->number;
    uint8_t reg = i->writes ? i->from : i->to;
    if (is_jump(i)) { /* jne, ja: the target of a SKIP is filled in later */
        buf_add(code, i->form == JUMP ? "\x0f\x85" : "\x0f\x87", 2);
        number = (int32_t)(loop_at - (code->len + 4));
    } else if (i->form == ADD_NUMBER || i->form == COUNT) {
        buf_char(code, (char)(0x48 | i->to >> 3));
        buf_char(code, (char)0x81);
        buf_char(code, (char)((i->form == COUNT ? 0xe8 : 0xc0) | (i->to & 7)));
    } else {
        bool memory = i->base != NONE || i->index != NONE;
        uint8_t rm = memory ? (i->base == NONE ? 0 : i->base) : i->from, x = memory && i->index != NONE ? i->index : 0;
        if (codes[i->form].prefix)
            buf_char(code, (char)codes[i->form].prefix);
        buf_char(code, (char)(0x40 | (is_vector(i->form) ? 0 : 8) | reg >> 3 << 2 | x >> 3 << 1 | rm >> 3));
        if (codes[i->form].escape)
            buf_char(code, (char)codes[i->form].escape);
        buf_char(code, (char)codes[i->form].opcode);
        buf_char(code,
                 (char)(memory ? (i->base == NONE ? 0x04 : 0x84) | (reg & 7) << 3 : 0xc0 | (reg & 7) << 3 | (rm & 7)));
        if (memory)
            buf_char(code, (char)((i->scale == 8   ? 3
                                   : i->scale == 4 ? 2
                                                   : i->scale == 2)
                                      << 6 |
                                  (i->index == NONE ? 4 : i->index & 7) << 3 | (i->base == NONE ? 5 : i->base & 7)));
        if (!memory)
            number = 0;
    }
    if (is_jump(i) || i->form == ADD_NUMBER || i->form == COUNT || i->base != NONE || i->index != NONE)
        buf_add(code, &number, 4); /* as this machine has it: little-endian */
    i->bytes = code->len - before;
}

static uint8_t draw_general(void)
{
    static const uint8_t registers[] = {0, 2, 3, 6, 7, 8, 9, 10, 11, 14};
    return registers[below(sizeof registers)];
}

static uint8_t draw_role(const struct drawn *l, enum role role)
{
    for (int i = 0; i < 20; i++) {
        uint8_t r = draw_general();
        if (l->roles[r] == role)
            return r;
    }
    return NONE;
}

/* A loop in which 8 is incremented, 9 follows it, and 6, 7 and 10 are invariant: accesses eight of each sixteen bytes
   of the increment, so that a reference has a stride of one if both halves are accessed. The address expressions differ
   only in a register, a factor, or their order. */
static void draw_crowded(struct made *i)
{
    static const uint8_t bases[] = {8, 8, 8, 6, 7, 10, 9, 9};
    i->base = bases[below(sizeof bases)];
    i->index = i->base != 8 && i->base != 9 ? 8 : (uint8_t[]){6, 7, 10}[below(3)];
    i->scale = i->index == 8 ? 1 : 1 << below(2);
    i->number = 8 * (int32_t)below(2);
}

static void draw_memory(struct made *i)
{
    bool stack = below(5) == 0;
    i->base = stack ? STACK : draw_general();
    i->index = stack || below(2) ? NONE : below(4) ? draw_general() : COUNTER;
    i->scale = i->index == NONE ? 1 : 1 << below(4);
    i->number = 8 * ((int32_t)below(9) - 4);
}

/* Instructions that preserve the registers' roles; form JUMP: none does. */
static struct made draw_insn(const struct drawn *l)
{
    struct made i = {.form = (enum action)below(COUNT),
                     .to = (uint8_t)below(8),
                     .from = (uint8_t)below(8),
                     .base = NONE,
                     .index = NONE};
    uint8_t role = NONE;
    switch (i.form) {
    case ADD_NUMBER:
    case LEA_NUMBER:
        role = i.to = draw_role(l, MOVES);
        i.base = i.form == LEA_NUMBER ? i.to : NONE;
        i.scale = 1;
        i.number = (int32_t[]){8, 8, 16, -8, 24, 1, 3}[below(7)];
        break;
    case LEA_OF:
    case COPY:
        role = i.to = draw_role(l, FOLLOWS);
        i.from = draw_role(l, below(3) ? MOVES : INVARIANT);
        role = i.from == NONE ? NONE : role;
        i.index = i.form == LEA_OF ? i.from : NONE;
        i.scale = 1 << below(4);
        i.number = i.form == LEA_OF ? 8 * (int32_t)below(9) : 0;
        break;
    case ADD_REGISTER:
        role = i.to = draw_role(l, MOVES_BY_REGISTER);
        i.from = draw_role(l, below(3) ? INVARIANT : below(2) ? LOADED : MULTIPLIED);
        role = i.from == NONE ? NONE : role;
        break;
    case MULTIPLY:
        role = i.to = draw_role(l, MULTIPLIED);
        i.from = draw_general();
        break;
    case LOAD_GENERAL:
        role = i.to = draw_role(l, LOADED);
        i.reads = true;
        break;
    case STORE_GENERAL:
    case ADD_TO_MEMORY:
        role = i.from = draw_general();
        i.writes = true;
        i.reads = i.form == ADD_TO_MEMORY;
        break;
    default:
        role = 0;
        i.reads = i.form == LOAD_VECTOR || i.form == ADD_FROM_MEMORY;
        i.writes = i.form == STORE_VECTOR;
    }
    if (role == NONE)
        i.form = JUMP;
    else if (i.reads || i.writes)
        draw_memory(&i);
    return i;
}

static struct made draw_of_crowd(const struct drawn *l)
{
    static const enum action references[] = {LOAD_VECTOR, STORE_VECTOR, ADD_FROM_MEMORY};
    if (l->count == 0)
        return (struct made){.form = ADD_NUMBER, .to = 8, .base = NONE, .index = NONE, .number = 16};
    if (l->count == 1)
        return (struct made){.form = LEA_OF, .to = 9, .base = 6, .index = 8, .scale = 1};
    struct made i = {.form = references[below(3)], .to = (uint8_t)below(8), .from = (uint8_t)below(8)};
    i.writes = i.form == STORE_VECTOR;
    i.reads = !i.writes;
    draw_crowded(&i);
    return i;
}

/* The shortest path takes every jump: skipped instructions are not on it and are removed from the list. */
static void lead_skips(struct drawn *l, struct buf *code)
{
    size_t at = l->at, kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        const struct made *skip = &l->insns[i];
        int32_t distance = 0;
        at += skip->bytes;
        l->insns[kept++] = *skip;
        if (skip->form != SKIP)
            continue;
        for (unsigned k = 0; k < skip->skips; k++)
            distance += (int32_t)l->insns[i + 1 + k].bytes;
        memcpy(code->bytes + at - 4, &distance, 4);
        at += (size_t)distance;
        i += skip->skips;
        l->passed_over += skip->skips;
        l->skips++;
    }
    l->count = kept;
}

static void draw_loop(struct drawn *l, struct buf *code)
{
    *l = (struct drawn){.at = code->len, .crowded = below(3) == 0};
    size_t wanted = l->crowded ? INSNS - 1 : below(INSNS);
    for (int r = 0; r < GENERAL; r++) {
        l->roles[r] = (enum role)below(ROLES);
    }
    for (unsigned room = 0; l->count < wanted;) {
        struct made i = l->crowded ? draw_of_crowd(l) : draw_insn(l);
        if (room == 0 && l->count + 3 < wanted && below(6) == 0) {
            i = (struct made){.form = SKIP, .base = NONE, .index = NONE, .skips = 1 + below(2)};
            room = i.skips + 1;
        }
        room -= room > 0 && i.form != JUMP;
        if (i.form != JUMP)
            l->insns[l->count++] = i;
    }
    l->insns[l->count++] = (struct made){.form = COUNT, .to = COUNTER, .base = NONE, .index = NONE, .number = 1};
    l->insns[l->count++] = (struct made){.form = JUMP, .base = NONE, .index = NONE};
    for (size_t i = 0; i < l->count; i++)
        put_insn(code, &l->insns[i], l->at);
    lead_skips(l, code);
    l->bytes = code->len - l->at;
}

/* ---- addresses: of a few iterations, from two sets of numbers in registers ---------------------------------------- */

enum { ROUNDS = 3 };
enum taint { BEFORE_LOADED = 1, BEFORE_MADE = 2, NOW_LOADED = 4, NOW_MADE = 8 };
struct seen { /* of the reference of an instruction */
    uint64_t at[2][ROUNDS];
    int taint;
    bool known, one; /* its stride; one: as covered by its stream */
    int64_t moves;
    enum quality_stride stride;
};

static void run_addresses(const struct drawn *l, struct seen *seen, int which)
{
    uint64_t v[GENERAL];
    int taint[GENERAL] = {0};
    for (int r = 0; r < GENERAL; r++)
        v[r] = random64() << 8;
    for (int round = 0; round < ROUNDS; round++) {
        for (int r = 0; r < GENERAL; r++)
            taint[r] = taint[r] & (NOW_LOADED | BEFORE_LOADED) ? BEFORE_LOADED : taint[r] ? BEFORE_MADE : 0;
        for (size_t k = 0; k < l->count; k++) {
            const struct made *i = &l->insns[k];
            uint64_t at = (uint64_t)(int64_t)i->number + (i->base != NONE ? v[i->base] : 0) +
                          (i->index != NONE ? v[i->index] * (uint64_t)i->scale : 0);
            int of = (i->base != NONE ? taint[i->base] : 0) | (i->index != NONE ? taint[i->index] : 0);
            seen[k].at[which][round] = at;
            seen[k].taint = of;
            switch (i->form) {
            case ADD_NUMBER:
                v[i->to] += (uint64_t)(int64_t)i->number;
                break;
            case COUNT:
                v[i->to]--;
                break;
            case LEA_NUMBER:
            case LEA_OF:
                v[i->to] = at;
                taint[i->to] = of;
                break;
            case COPY:
                v[i->to] = v[i->from];
                taint[i->to] = taint[i->from];
                break;
            case ADD_REGISTER:
                v[i->to] += v[i->from];
                taint[i->to] |= taint[i->from];
                break;
            case MULTIPLY:
                taint[i->to] = (taint[i->to] | taint[i->from]) & NOW_LOADED ? NOW_LOADED : NOW_MADE;
                break;
            case LOAD_GENERAL:
                taint[i->to] = NOW_LOADED;
                break;
            default:
                break;
            }
        }
    }
}

static bool refers(const struct made *i)
{
    return i->reads || i->writes;
}

/* How far b's address is from a's, whatever is in the registers; false: that is not always the same. */
static bool apart_by(const struct seen *a, const struct seen *b, int64_t *apart)
{
    *apart = (int64_t)(b->at[0][ROUNDS - 1] - a->at[0][ROUNDS - 1]);
    return *apart == (int64_t)(b->at[1][ROUNDS - 1] - a->at[1][ROUNDS - 1]);
}

/* Do the references of its stream together access as many bytes per iteration as its stride? */
static bool stream_covers(const struct drawn *l, const struct seen *seen, const struct seen *a)
{
    enum { AROUND = 1 << 13 };
    bool touched[2 * AROUND] = {0};
    int64_t apart, n = 0;
    for (size_t k = 0; k < l->count; k++) {
        if (!refers(&l->insns[k]) || !seen[k].known || seen[k].moves != a->moves || !apart_by(a, &seen[k], &apart))
            continue;
        for (int64_t i = AROUND + apart; i < AROUND + apart + 8; i++) {
            n += !touched[i];
            touched[i] = true;
        }
    }
    return n >= llabs(a->moves);
}

static void see_addresses(const struct drawn *l, struct seen *seen)
{
    memset(seen, 0, (INSNS + 2) * sizeof *seen);
    for (int which = 0; which < 2; which++)
        run_addresses(l, seen, which);
    for (size_t k = 0; k < l->count; k++) {
        struct seen *s = &seen[k];
        int64_t moves[2];
        for (int which = 0; which < 2; which++)
            moves[which] = (int64_t)(s->at[which][ROUNDS - 1] - s->at[which][ROUNDS - 2]);
        s->known = s->taint == 0 && moves[0] == moves[1];
        s->moves = s->known ? moves[0] : 0;
        if (s->taint)
            s->stride = s->taint & NOW_LOADED                                ? STRIDE_INDIRECT
                        : s->taint & NOW_MADE || !(s->taint & BEFORE_LOADED) ? STRIDE_UNKNOWN
                                                                             : STRIDE_INDIRECT;
        else
            s->stride = !s->known              ? STRIDE_MORE
                        : s->moves == 0        ? STRIDE_NONE
                        : llabs(s->moves) == 8 ? STRIDE_ONE
                                               : STRIDE_MORE;
    }
    for (size_t k = 0; k < l->count; k++)
        seen[k].one = seen[k].known && seen[k].moves != 0 && refers(&l->insns[k]) && stream_covers(l, seen, &seen[k]);
    for (size_t k = 0; k < l->count; k++)
        seen[k].stride = seen[k].one ? STRIDE_ONE : seen[k].stride;
}

/* ---- costs --------------------------------------------------------------------------------------------------------- */

static enum kind kind_of(const struct made *i)
{
    static const uint8_t of[] = {[LEA_NUMBER] = LEA,
                                 [LEA_OF] = LEA,
                                 [MULTIPLY] = INT_MULTIPLY,
                                 [LOAD_GENERAL] = LOAD,
                                 [STORE_GENERAL] = STORE,
                                 [LOAD_VECTOR] = LOAD,
                                 [STORE_VECTOR] = STORE,
                                 [ADD_VECTOR] = FP_ADD,
                                 [MULTIPLY_VECTOR] = FP_MULTIPLY,
                                 [DIVIDE_VECTOR] = FP_DIVIDE,
                                 [ADD_FROM_MEMORY] = FP_ADD,
                                 [COPY_VECTOR] = VECTOR_MOVE,
                                 [JUMP] = BRANCH,
                                 [SKIP] = BRANCH};
    return (enum kind)of[i->form];
}

static bool works(const struct made *i)
{
    return kind_of(i) != LOAD && kind_of(i) != STORE;
}

static bool is_free(const struct core *c, const struct made *i)
{
    return c->moves_free && (i->form == COPY || i->form == COPY_VECTOR);
}

struct uops {
    uint32_t ports[64];
    size_t count;
};

static size_t add_uops(struct uops *u, enum kind kind)
{
    char *all = mem_strdup(kinds[kind].uops), *rest = all;
    size_t before = u->count;
    for (char *word; (word = strsep(&rest, " "));) {
        u->ports[u->count] = 0;
        for (; *word; word++)
            u->ports[u->count] |= 1u << (*word - '0');
        u->count++;
    }
    mem_free(all);
    return u->count - before;
}

static double busiest_of(const struct uops *a, const struct uops *b)
{
    double most = 0;
    for (uint32_t set = 1; set < 1 << 8; set++) {
        double inside = 0;
        for (size_t i = 0; i < a->count; i++)
            inside += (a->ports[i] & ~set) == 0;
        for (size_t i = 0; b && i < b->count; i++)
            inside += (b->ports[i] & ~set) == 0;
        inside /= __builtin_popcount(set);
        most = inside > most ? inside : most;
    }
    return most;
}

static void expect_resources(const struct drawn *l, const struct core *c, struct quality_loop *want)
{
    struct uops work = {.count = 0}, memory = {.count = 0};
    for (size_t k = 0; k < l->count; k++) {
        const struct made *i = &l->insns[k];
        size_t own = works(i) && !is_free(c, i) ? add_uops(&work, kind_of(i)) : 1;
        want->uops += (uint32_t)own + (works(i) && i->writes);
        if (i->reads)
            add_uops(&memory, LOAD);
        if (i->writes)
            add_uops(&memory, i->index != NONE ? STORE_INDEXED : STORE);
        want->cycles[BOUND_DIVIDER] += kinds[kind_of(i)].busy;
    }
    double front = (double)want->uops / c->issue, both = busiest_of(&work, &memory);
    want->cycles[BOUND_FRONT_END] = front > c->taken ? front : c->taken;
    want->cycles[BOUND_PORTS] = busiest_of(&work, NULL);
    want->cycles[BOUND_MEMORY] = busiest_of(&memory, NULL);
    if (both > want->cycles[BOUND_PORTS] && both > want->cycles[BOUND_MEMORY])
        want->cycles[BOUND_PORTS] = both;
}

/* ---- chains: availability of each value over many iterations ----------------------------------------------------- */

enum { FAR = 2520, BACK = 64 };
struct value {
    double at;
    int maker; /* kind; -1: not assigned */
};

static double ready(const struct value *v, int consumer)
{
    bool short_cut = v->maker == consumer && consumer >= 0 && kinds[consumer].chain > 0;
    return v->at - (short_cut ? kinds[consumer].latency - kinds[consumer].chain : 0);
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Distance in iterations between the store at `store` and the load that reads its value; -1: unrelated. */
static int written_ago(const struct seen *store, const struct seen *load, bool before)
{
    int64_t apart;
    if (!store->known || !load->known || store->moves != load->moves || !apart_by(load, store, &apart))
        return -1;
    for (int ago = before ? 0 : 1; ago < BACK; ago++)
        if (apart == ago * store->moves)
            return ago;
    return -1;
}

/* through_memory: includes values stored by earlier iterations; those stored by the same iteration are ordinary
   values. */
static double slope_of(const struct drawn *l, const struct core *c, const struct seen *seen, bool through_memory)
{
    static double stored[BACK][INSNS + 2];
    struct value v[REGISTERS];
    double first = 0, last = 0;
    memset(stored, 0, sizeof stored);
    for (int r = 0; r < REGISTERS; r++)
        v[r] = (struct value){0, -1};
    for (int round = 0; round <= 2 * FAR; round++) {
        for (size_t k = 0; k < l->count; k++) {
            const struct made *i = &l->insns[k];
            const unsigned bank = is_vector(i->form) ? GENERAL : 0;
            const enum kind kind = kind_of(i);
            bool to = i->form != STORE_GENERAL && i->form != STORE_VECTOR && i->form != ADD_TO_MEMORY && !is_jump(i);
            bool both = i->form == ADD_NUMBER || i->form == ADD_REGISTER || i->form == MULTIPLY || i->form == COUNT ||
                        (i->form >= ADD_VECTOR && i->form <= ADD_FROM_MEMORY);
            bool from = i->form == COPY || i->form == ADD_REGISTER || i->form == MULTIPLY || i->writes ||
                        (i->form >= ADD_VECTOR && i->form <= DIVIDE_VECTOR) || i->form == COPY_VECTOR;
            double at = 0, latency = works(i) && !is_free(c, i) ? kinds[kind].latency : 0;
            if (both)
                at = later(at, ready(&v[bank + i->to], (int)kind));
            if (from && (bank || (i->from != i->base && i->from != i->index)))
                at = later(at, ready(&v[bank + i->from], (int)kind));
            const uint8_t address[] = {i->base, i->index};
            for (int a = 0; a < 2; a++)
                if (address[a] != NONE && (i->reads || !refers(i)))
                    at = later(at, ready(&v[address[a]], i->reads ? LOAD : (int)kind) + (!i->reads ? 0
                                                                                         : bank    ? c->load_vector
                                                                                                : kinds[LOAD].latency));
            for (size_t s = 0; s < l->count && i->reads; s++) {
                int ago = l->insns[s].writes ? written_ago(&seen[s], &seen[k], s < k) : -1;
                if (ago >= 0 && round >= ago && (ago == 0 || through_memory))
                    at = later(at, stored[(round - ago) % BACK][s] +
                                       (l->insns[s].base == STACK ? c->forward_stack : c->forward));
            }
            at += latency;
            if (i->writes)
                stored[round % BACK][k] = at;
            if (to)
                v[bank + i->to] = (struct value){at, (int)kind};
            last = later(last, at);
        }
        first = round == FAR ? last : first;
    }
    return (last - first) / FAR;
}

/* ---- all that is expected of a loop ------------------------------------------------------------------------------------------ */

static void expect_memory(const struct drawn *l, const struct seen *seen, struct quality_loop *want)
{
    want->unroll = 1;
    for (size_t k = 0; k < l->count; k++) {
        const struct made *i = &l->insns[k];
        int64_t apart;
        bool spills = false;
        want->flops += i->form >= ADD_VECTOR && i->form <= ADD_FROM_MEMORY;
        if (!refers(i))
            continue;
        want->loaded += i->reads ? 8 : 0;
        want->stored += i->writes ? 8 : 0;
        want->strides[seen[k].stride]++;
        want->stack_references += i->base == STACK;
        for (size_t r = 0; r < l->count; r++)
            spills |= r != k && l->insns[r].reads && l->insns[r].base == STACK &&
                      apart_by(&seen[k], &seen[r], &apart) && apart == 0;
        want->spills += i->base == STACK && i->writes && spills;
        if (seen[k].one && llabs(seen[k].moves) > llabs(want->step)) {
            want->step = seen[k].moves;
            want->unroll = llabs(seen[k].moves) < 8 ? 1 : (uint32_t)(llabs(seen[k].moves) / 8);
            want->elements = want->unroll;
        }
    }
}

static bool sets_flags(const struct made *i)
{
    return i->form == ADD_NUMBER || i->form == ADD_REGISTER || i->form == MULTIPLY || i->form == ADD_TO_MEMORY ||
           i->form == COUNT;
}

/* Integer instructions that only compute an address or the loop condition: marks the producers of their registers, in
   this iteration or the previous one. */
static void mark_makers(const struct drawn *l, bool *marked, size_t at, uint8_t reg)
{
    for (size_t k = at; k-- > 0;) {
        const struct made *i = &l->insns[k % l->count];
        bool makes = reg == FLAGS ? sets_flags(i) : !is_vector(i->form) && !i->writes && !is_jump(i) && i->to == reg;
        if (!makes)
            continue;
        marked[k] = true;
        const uint8_t read[] = {
            i->base, i->index,
            i->form == COPY || i->form == ADD_REGISTER || i->form == MULTIPLY || i->writes ? i->from : NONE,
            i->form == ADD_NUMBER || i->form == COUNT || i->form == ADD_REGISTER || i->form == MULTIPLY ? i->to : NONE};
        for (int r = 0; r < 4; r++)
            if (read[r] != NONE)
                mark_makers(l, marked, k, read[r]);
        return;
    }
}

/* Instructions that could be vectorized but are not: arithmetic, loads and stores, except address computations. NONE:
   not vectorizable. */
static int mix_of(const struct made *i, bool addressing)
{
    static const uint8_t of[] = {
        [ADD_VECTOR] = MIX_ADD,      [ADD_FROM_MEMORY] = MIX_ADD, [MULTIPLY_VECTOR] = MIX_MULTIPLY,
        [DIVIDE_VECTOR] = MIX_OTHER, [LOAD_VECTOR] = MIX_LOAD,    [STORE_VECTOR] = MIX_STORE,
        [LOAD_GENERAL] = MIX_LOAD,   [STORE_GENERAL] = MIX_STORE, [ADD_NUMBER] = MIX_ADD,
        [ADD_REGISTER] = MIX_ADD,    [ADD_TO_MEMORY] = MIX_ADD,   [MULTIPLY] = MIX_MULTIPLY,
    };
    bool none = addressing || i->form == LEA_NUMBER || i->form == LEA_OF || i->form == COPY || i->form == COPY_VECTOR ||
                i->form == COUNT || is_jump(i);
    return none ? NONE : of[i->form];
}

static void expect_work(const struct drawn *l, struct quality_loop *want)
{
    bool marked[2 * (INSNS + 2)] = {0};
    size_t n = 1 + l->skips;
    for (int m = 0; m < MIXES; m++)
        want->vector_ratio[m] = want->vector_efficiency[m] = NAN;
    for (size_t k = 0; k < 2 * l->count; k++) {
        const struct made *i = &l->insns[k % l->count];
        const uint8_t address[] = {i->base, i->index, is_jump(i) ? FLAGS : NONE};
        for (int a = 0; a < 3; a++)
            if (address[a] != NONE && (refers(i) || is_jump(i)))
                mark_makers(l, marked, k, address[a]);
    }
    for (size_t k = 0; k < l->count; k++) {
        bool addressing = marked[k] || marked[k + l->count];
        int mix = mix_of(&l->insns[k], addressing);
        n += addressing;
        if (mix == NONE)
            continue;
        want->vector_ratio[MIX_ALL] = want->vector_ratio[mix] = 0;
        want->vector_efficiency[MIX_ALL] = want->vector_efficiency[mix] = 8.0 / 32;
    }
    want->address_share = (double)n / (double)l->count;
}

static void expect_loop(const struct drawn *l, const struct core *c, struct quality_loop *want)
{
    struct seen seen[INSNS + 2];
    *want = (struct quality_loop){.instructions = (uint32_t)l->count + l->passed_over,
                                  .path_instructions = (uint32_t)l->count,
                                  .paths = 1u << l->skips,
                                  .bytes = (uint32_t)l->bytes};
    see_addresses(l, seen);
    expect_memory(l, seen, want);
    expect_work(l, want);
    expect_resources(l, c, want);
    want->cycles[BOUND_CHAIN] = slope_of(l, c, seen, false);
    double all = slope_of(l, c, seen, true);
    want->cycles[BOUND_STORE_CHAIN] = all > want->cycles[BOUND_CHAIN] + 0.02 ? all : 0;
}

static bool near(double got, double want, double most)
{
    return fabs(got - want) <= most;
}

static bool same_mixes(const double *got, const double *want)
{
    bool same = true;
    for (int m = 0; m < MIXES; m++)
        same &= isnan(want[m]) ? isnan(got[m]) != 0 : near(got[m], want[m], 1e-9);
    return same;
}

static bool same_loop(const struct quality_loop *got, const struct quality_loop *want)
{
    static const double most[BOUNDS] = {1e-9, 1e-9, 1e-9, 1e-9, 0.02, 0.02};
    bool same = got->instructions == want->instructions && got->bytes == want->bytes && got->paths == want->paths &&
                got->path_instructions == want->path_instructions && got->uops == want->uops &&
                near(got->flops, want->flops, 0) && near(got->loaded, want->loaded, 0) &&
                near(got->stored, want->stored, 0) && got->stack_references == want->stack_references &&
                got->spills == want->spills && got->step == want->step && got->unroll == want->unroll &&
                got->elements == want->elements && near(got->address_share, want->address_share, 1e-9) &&
                same_mixes(got->vector_ratio, want->vector_ratio) &&
                same_mixes(got->vector_efficiency, want->vector_efficiency) && !got->vector &&
                memcmp(got->strides, want->strides, sizeof got->strides) == 0;
    double largest = 0, next = 0, no_chain = 0;
    for (int i = 0; i < BOUNDS; i++) {
        same &= near(got->cycles[i], want->cycles[i], most[i]);
        largest = later(largest, got->cycles[i]);
        no_chain = i < BOUND_CHAIN ? later(no_chain, got->cycles[i]) : no_chain;
    }
    for (int i = 0; i < BOUNDS; i++)
        next = i == got->bound_by ? next : later(next, got->cycles[i]);
    return same && near(got->bound, largest, 0) && near(got->cycles[got->bound_by], largest, 0) &&
           near(got->if_next, next, 0) && near(got->if_no_chain, no_chain, 0) && near(got->bound_short, no_chain, 0);
}

static void print_loop(const char *whose, const struct quality_loop *q)
{
    printf("#   %s: insns %u bytes %u uops %u flops %g loaded %g stored %g stack %u spills %u step %lld unroll %u "
           "elements %u "
           "share %g strides",
           whose, q->instructions, q->bytes, q->uops, q->flops, q->loaded, q->stored, q->stack_references, q->spills,
           (long long)q->step, q->unroll, q->elements, q->address_share);
    for (int i = 0; i < STRIDES; i++)
        printf(" %u", q->strides[i]);
    printf(" cycles");
    for (int i = 0; i < BOUNDS; i++)
        printf(" %g", q->cycles[i]);
    printf("\n");
}

static void print_insns(const struct drawn *l)
{
    for (size_t k = 0; k < l->count; k++)
        printf("#   form %u to %u from %u base %u index %u scale %d number %d\n", l->insns[k].form, l->insns[k].to,
               l->insns[k].from, l->insns[k].base, l->insns[k].index, l->insns[k].scale, l->insns[k].number);
}

static unsigned check_binary(unsigned number)
{
    static struct drawn loops[LOOPS];
    struct core core;
    struct machine_core *machine = make_core(&core);
    struct warnings *warnings = warnings_create();
    struct err err = {0};
    struct buf code = {0}, file = {0};
    struct bloop_binary *binary;
    struct scope_tree *tree;
    struct quality_report *r;
    unsigned same = 0;
    for (size_t i = 0; i < LOOPS; i++)
        draw_loop(&loops[i], &code);
    buf_char(&code, (char)0xc3);
    struct elf_procedure work = {"work", 0, code.len};
    elf_write(&file, &(struct elf_program){false, TEXT, code.bytes, code.len, &work, 1, NULL});
    write_file("drawn", file.bytes, file.len);
    char *path = scratch("drawn");
    const struct quality_options o = {.machine = machine};
    if (!machine || bloop_open(path, NULL, &binary, warnings, &err) < 0 ||
        bloop_scopes_all(binary, &tree, warnings, &err) < 0 ||
        quality_analyze(binary, tree, &o, &r, warnings, &err) < 0)
        exit(99);
    for (size_t k = 0; k < r->loop_count; k++)
        for (size_t i = 0; i < LOOPS; i++) {
            struct quality_loop want;
            if (r->loops[k].header != TEXT + loops[i].at)
                continue;
            expect_loop(&loops[i], &core, &want);
            if (same_loop(&r->loops[k], &want)) {
                same++;
                continue;
            }
            printf("# binary %u, loop %zu\n", number, i);
            print_loop("got", &r->loops[k]);
            print_loop("wanted", &want);
            print_insns(&loops[i]);
        }
    quality_free(r);
    scope_tree_free(tree);
    bloop_close(binary);
    machine_core_free(machine);
    warnings_free(warnings);
    mem_free(path);
    buf_release(&code);
    buf_release(&file);
    return same;
}

/* ---- copies of loops, by random source locations ----------------------------------------------------------------- */

enum { COPIES = 12, PROCEDURES = 3, SCOPES = 2 * PROCEDURES + COPIES };

static bool are_copies(const struct scope *scopes, const struct scope *a, const struct scope *b)
{
    return a->line_first != 0 && a->line_first == b->line_first && a->file == b->file && a->on_line == b->on_line &&
           a->instances > 1 && a->instances == b->instances && scopes[a->parent].parent == scopes[b->parent].parent;
}

static enum quality_role role_of(const struct scope *scopes, const struct quality_loop *loops, size_t i)
{
    uint32_t copies = 0, largest = 0, as_large = 0, by_length = 0;
    for (size_t k = 0; k < COPIES; k++) {
        if (!are_copies(scopes, &scopes[loops[i].scope], &scopes[loops[k].scope]))
            continue;
        copies += k != i;
        largest = loops[k].elements > largest ? loops[k].elements : largest;
        as_large += loops[k].elements == loops[i].elements;
        by_length += loops[k].vector && loops[k].elements == 0;
    }
    if (copies == 0 || (by_length == 0 && loops[i].elements == 0))
        return ROLE_ONLY;
    if (by_length > 0)
        return loops[i].vector && loops[i].elements == 0 ? ROLE_MAIN : ROLE_REMAINDER;
    return loops[i].elements < largest ? ROLE_REMAINDER : as_large > 1 ? ROLE_VERSION : ROLE_MAIN;
}

/* Procedures, in each of them something that its loops are in, and those. */
static void check_roles(void)
{
    struct scope scopes[SCOPES];
    struct quality_loop loops[COPIES];
    const struct scope_tree tree = {.scopes = scopes, .scope_count = SCOPES};
    unsigned same = 0, seen[4] = {0};
    for (int round = 0; round < 400; round++) {
        memset(scopes, 0, sizeof scopes);
        memset(loops, 0, sizeof loops);
        for (uint32_t i = 0; i < PROCEDURES; i++) {
            scopes[i] = (struct scope){.kind = SCOPE_PROC, .parent = SCOPE_NONE};
            scopes[PROCEDURES + i] = (struct scope){.kind = SCOPE_LOOP, .parent = i};
        }
        for (uint32_t i = 0; i < COPIES; i++) {
            const uint32_t at = 2 * PROCEDURES + i;
            scopes[at] = (struct scope){.kind = SCOPE_LOOP,
                                        .parent = PROCEDURES + (below(8) ? 0 : below(PROCEDURES)),
                                        .line_first = below(3),
                                        .file = below(8) == 0,
                                        .on_line = below(8) == 0,
                                        .instances = below(8) ? 3 : 1 + below(3)};
            loops[i] = (struct quality_loop){.scope = at, .elements = below(4), .unroll = 1 + below(3)};
            loops[i].vector = below(8) == 0;
        }
        quality_roles_find(&tree, loops, COPIES);
        for (size_t i = 0; i < COPIES; i++) {
            enum quality_role want = role_of(scopes, loops, i);
            same += loops[i].role == want && loops[i].unrolled == (loops[i].unroll > 1 && want == ROLE_MAIN);
            seen[want]++;
        }
    }
    CHECK_INT(same, 400 * COPIES);
    CHECK(seen[ROLE_ONLY] > 50 && seen[ROLE_MAIN] > 50 && seen[ROLE_REMAINDER] > 50 && seen[ROLE_VERSION] > 50);
}

int main(void)
{
    scratch_make();
    check_roles();
    for (unsigned i = 0; i < BINARIES; i++)
        CHECK_INT(check_binary(i), LOOPS);
    scratch_remove();
    return tap_done();
}
