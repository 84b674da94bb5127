/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random call frame information: the compiled rows at each address are compared with instructions executed one by one,
 * as the standards describe them, without bytes or tables.
 */
#include "hpcprof/recorder/unwind/unwind.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <stdlib.h>

enum {
    CODE = 0x20000,
    BEFORE_CODE = 0x1a000,
    BEHIND_CODE = 0x24000,
    CODE_BYTES = 600,
    BYTES = 1 << 19,
    FDES = 12,
    STEPS = 90,
    DEEP = 32
};

/* ---- encoded form ------------------------------------------------------------------------------------------------ */

enum what {
    ADVANCE,
    SET_LOC,
    OFFSET,
    OFFSET_SF,
    NEGATIVE, /* GNU_negative_offset_extended */
    RESTORE,
    UNDEFINED,
    SAME,
    REGISTER,
    REMEMBER,
    RECALL,
    CFA,
    CFA_SF,
    CFA_REGISTER,
    CFA_OFFSET,
    CFA_OFFSET_SF,
    CFA_EXPRESSION,
    EXPRESSION,
    VALUE_OFFSET,
    VALUE_EXPRESSION,
    ARGUMENTS,
    NOTHING,
    SIGNED, /* AARCH64_negate_ra_state */
    UNKNOWN,
    WHATS
};

/* Forms of expressions: some that compilers write, and some that nearly are. */
enum form { BREG, BREG_DEREF, BREG_DEREF_PLUS, STUB, NEAR_STUB, NO_BREG, CUT, LONGER, BREG_OTHER, HUGE_PLUS, FORMS };

struct step {
    enum what what;
    uint64_t by;   /* of an advance, in bytes of code */
    unsigned wide; /* which of the forms that an instruction has */
    uint64_t reg, other;
    int64_t n; /* the intended offset, or the encoded one if it is not scaled */
    enum form form;
};

struct cie {
    uint64_t at; /* in the section */
    unsigned version, code_align;
    int data_align;
    uint64_t ra;
    const char *augmentation;
    uint8_t encoding;
    bool is_signal, unreadable;
    struct step steps[4];
    unsigned count;
};

struct fde {
    uint64_t begin, size;
    const struct cie *cie;
    unsigned astray; /* error in bytes of the reference to its CIE */
    struct step steps[STEPS];
    unsigned count;
};

static enum unwind_machine machine;
static bool debug;
static uint64_t where; /* address of the section */
static struct cie cies[3];
static struct fde fdes[FDES];

/* ---- meaning ----------------------------------------------------------------------------------------------------- */

static struct unwind_rule a_rule(enum unwind_kind kind, uint64_t reg, int64_t offset)
{
    struct unwind_rule none = {0}, r = {.kind = (uint8_t)kind, .reg = (uint8_t)reg, .offset = (int32_t)offset};
    return reg > 32 || offset != (int32_t)offset ? none : r;
}

static struct unwind_rule *place_of(const struct cie *cie, struct unwind_row *row, uint64_t reg)
{
    unsigned fp = machine == UNWIND_X86_64 ? 6 : 29, base = machine == UNWIND_X86_64 ? 3 : 19;
    return reg == cie->ra ? &row->ra : reg == fp ? &row->fp : reg == base ? &row->base : NULL;
}

static void put_cfa_expression(const struct step *s, struct unwind_row *row)
{
    unsigned sp = machine == UNWIND_X86_64 ? 7 : 31;
    row->cfa = (struct unwind_rule){0};
    row->add = 0;
    switch (s->form) {
    case BREG:
        row->cfa = a_rule(UNWIND_REG, s->reg, s->n);
        break;
    case BREG_DEREF:
    case BREG_DEREF_PLUS:
        row->cfa = a_rule(UNWIND_DEREF, s->reg, s->n);
        row->add = s->form == BREG_DEREF ? 0 : (int32_t)s->other;
        break;
    case STUB:
        if (machine == UNWIND_X86_64 && s->reg == sp && s->other < 16)
            row->cfa = a_rule(UNWIND_PLT, s->other, s->n);
        break;
    default:
        break;
    }
}

/* False: the following rows are unknown. */
static bool obey(const struct cie *cie, const struct step *s, struct unwind_row *row, const struct unwind_row *initial,
                 struct unwind_row *stack, unsigned *depth)
{
    struct unwind_rule *to = place_of(cie, row, s->reg), none = {0};
    struct unwind_rule rule = none;
    switch (s->what) {
    case OFFSET:
    case OFFSET_SF:
        rule = a_rule(UNWIND_CFA, 0, s->n * cie->data_align);
        break;
    case NEGATIVE:
        rule = a_rule(UNWIND_CFA, 0, -s->n * cie->data_align);
        break;
    case UNDEFINED:
        rule.kind = UNWIND_UNDEFINED;
        break;
    case SAME:
        rule.kind = UNWIND_SAME;
        break;
    case REGISTER:
        rule = a_rule(UNWIND_IN, s->other, 0);
        break;
    case EXPRESSION:
        rule = s->form == BREG ? a_rule(UNWIND_AT, s->other, s->n) : none;
        break;
    case VALUE_OFFSET:
    case VALUE_EXPRESSION:
        break;
    case RESTORE:
        if (to)
            *to = *place_of(cie, (struct unwind_row *)(uintptr_t)initial, s->reg);
        return true;
    case REMEMBER:
        if (*depth < DEEP)
            stack[*depth] = *row;
        ++*depth;
        return true;
    case RECALL:
        if (*depth > 0 && --*depth < DEEP)
            *row = stack[*depth];
        else
            memset(row, 0, sizeof *row);
        return true;
    case CFA:
        row->cfa = a_rule(UNWIND_REG, s->reg, s->n);
        return true;
    case CFA_SF:
        row->cfa = a_rule(UNWIND_REG, s->reg, s->n * cie->data_align);
        return true;
    case CFA_REGISTER:
        row->cfa = a_rule(UNWIND_REG, s->reg, row->cfa.offset);
        return true;
    case CFA_OFFSET:
    case CFA_OFFSET_SF:
        row->cfa = row->cfa.kind == UNWIND_REG
                       ? a_rule(UNWIND_REG, row->cfa.reg, s->what == CFA_OFFSET ? s->n : s->n * cie->data_align)
                       : none;
        return true;
    case CFA_EXPRESSION:
        put_cfa_expression(s, row);
        return true;
    case UNKNOWN:
        memset(row, 0, sizeof *row);
        return false;
    default:
        return true;
    }
    if (to)
        *to = rule;
    return true;
}

static struct unwind_row initial_of(const struct cie *cie)
{
    struct unwind_row row = {.signal = cie->is_signal}, stack[DEEP], nothing = {0};
    unsigned depth = 0;
    row.ra.kind = row.fp.kind = row.base.kind = UNWIND_SAME;
    for (unsigned i = 0; i < cie->count; i++)
        if (!obey(cie, &cie->steps[i], &row, &nothing, stack, &depth))
            break;
    if (cie->is_signal && machine == UNWIND_AARCH64)
        row.cfa = (struct unwind_rule){.kind = UNWIND_SIGNAL_A64};
    return row;
}

/* The row at an address: from the entry with the last start before it (of equal ones, the last), if it reaches the
   address. */
static struct unwind_row row_by_steps(uint64_t address)
{
    const struct fde *f = NULL;
    struct unwind_row nothing = {0}, stack[DEEP];
    unsigned depth = 0;
    for (size_t i = 0; i < FDES; i++)
        if (!fdes[i].cie->unreadable && !fdes[i].astray && fdes[i].begin >= CODE && fdes[i].begin <= address &&
            fdes[i].size > 0 && (!f || fdes[i].begin >= f->begin))
            f = &fdes[i];
    if (!f || address - f->begin >= f->size)
        return nothing;
    struct unwind_row initial = initial_of(f->cie), row = initial;
    uint64_t at = f->begin;
    for (unsigned i = 0; i < f->count; i++) {
        const struct step *s = &f->steps[i];
        if (s->what == ADVANCE)
            at = s->by > CODE ? UINT64_MAX : at + s->by * f->cie->code_align;
        else if (s->what == SET_LOC && f->begin + s->by > at)
            at = f->begin + s->by;
        if (at > address || !obey(f->cie, s, &row, &initial, stack, &depth))
            break;
    }
    return row;
}

/* ---- how it is written ---------------------------------------------------------------------------------------------- */

static uint8_t section[BYTES];
static size_t used;

static void put(uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        section[used++] = (uint8_t)(v >> 8 * i);
}

static void put_uleb(uint64_t v)
{
    unsigned padding = below(4) == 0 ? below(3) : 0; /* which assemblers write, too */
    for (; v >= 128; v >>= 7)
        put(v | 128, 1);
    put(v | (padding ? 128 : 0), 1);
    for (; padding > 0; padding--)
        put(padding > 1 ? 128 : 0, 1);
}

static void put_sleb(int64_t v)
{
    for (; v < -64 || v > 63; v >>= 7)
        put((uint64_t)v | 128, 1);
    put((uint64_t)v & 127, 1);
}

static void put_encoded(uint8_t encoding, uint64_t v)
{
    static const uint8_t width[] = {8, 0, 2, 4, 8};
    if (encoding & 0x10)
        v -= where + used;
    if ((encoding & 7) != 1)
        put(v, width[encoding & 7]);
    else if (encoding & 8)
        put_sleb((int64_t)v);
    else
        put_uleb(v);
}

static void put_expression(const struct step *s, uint64_t reg)
{
    static const uint8_t stub[] = {0x80, 0x00, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22};
    uint8_t bytes[40];
    size_t begin = used, n;
    put(s->form == NO_BREG ? (s->n & 1 ? 0x6f : 0x90) : 0x70 + reg, 1);
    put_sleb(s->n);
    if (s->form == BREG_DEREF || s->form == BREG_DEREF_PLUS || s->form == LONGER || s->form == HUGE_PLUS)
        put(0x06, 1);
    if (s->form == BREG_OTHER)
        put(0x12, 1);
    if (s->form == BREG_DEREF_PLUS || s->form == LONGER || s->form == HUGE_PLUS) {
        put(0x23, 1);
        put_uleb(s->form == HUGE_PLUS ? 0x80000000 : s->other);
    }
    if (s->form == LONGER)
        put(0x96, 1); /* nop */
    if (s->form == STUB || s->form == NEAR_STUB) {
        unsigned wrong = s->form == STUB ? 99 : (unsigned)(s->other % 9), skip = wrong == 4;
        for (unsigned i = 0; i + skip < 9; i++)
            put(i == 4 && !skip ? 0x30 + s->other : (unsigned)stub[i] + (i == wrong), 1);
    }
    if (s->form == CUT)
        used = begin + 1, section[used++] = 0x80; /* a number that continues past the end */
    n = used - begin;
    memcpy(bytes, section + begin, n);
    used = begin;
    put_uleb(n);
    memcpy(section + used, bytes, n);
    used += n;
}

static void put_advance(const struct step *s)
{
    if (s->wide == 0 && s->by < 64)
        put(0x40 | s->by, 1);
    else if (s->wide <= 1 && s->by < 256)
        put(0x02, 1), put(s->by, 1);
    else if (s->wide <= 2)
        put(0x03, 1), put(s->by, 2);
    else
        put(s->wide == 3 ? 0x04 : 0x1d, 1), put(s->by, s->wide == 3 ? 4 : 8);
}

static void put_step(const struct cie *cie, const struct step *s, uint64_t begin)
{
    static const uint8_t op[WHATS] = {[OFFSET] = 0x05,     [OFFSET_SF] = 0x11,     [NEGATIVE] = 0x2f,
                                      [RESTORE] = 0x06,    [UNDEFINED] = 0x07,     [SAME] = 0x08,
                                      [REGISTER] = 0x09,   [REMEMBER] = 0x0a,      [RECALL] = 0x0b,
                                      [CFA] = 0x0c,        [CFA_SF] = 0x12,        [CFA_REGISTER] = 0x0d,
                                      [CFA_OFFSET] = 0x0e, [CFA_OFFSET_SF] = 0x13, [CFA_EXPRESSION] = 0x0f,
                                      [EXPRESSION] = 0x10, [VALUE_OFFSET] = 0x14,  [VALUE_EXPRESSION] = 0x16,
                                      [ARGUMENTS] = 0x2e,  [SIGNED] = 0x2d,        [UNKNOWN] = 0x1f,
                                      [SET_LOC] = 0x01};
    bool is_short = s->wide == 0 && s->reg < 64;
    if (s->what == ADVANCE) {
        put_advance(s);
        return;
    }
    if (is_short && (s->what == OFFSET || s->what == RESTORE))
        put((s->what == OFFSET ? 0x80 : 0xc0) | s->reg, 1);
    else
        put(s->what == VALUE_OFFSET && s->wide == 1 ? 0x15u : op[s->what], 1);
    if (s->what == SET_LOC)
        put_encoded(cie->encoding, begin + s->by);
    bool has_reg = s->what >= OFFSET && s->what <= VALUE_EXPRESSION && s->what != REMEMBER && s->what != RECALL &&
                   s->what != CFA_OFFSET && s->what != CFA_OFFSET_SF && s->what != CFA_EXPRESSION;
    if (has_reg && !(is_short && (s->what == OFFSET || s->what == RESTORE)))
        put_uleb(s->reg);
    if (s->what == OFFSET || s->what == CFA || s->what == CFA_OFFSET || s->what == NEGATIVE || s->what == ARGUMENTS)
        put_uleb((uint64_t)s->n);
    else if (s->what == OFFSET_SF || s->what == CFA_SF || s->what == CFA_OFFSET_SF || s->what == VALUE_OFFSET)
        put_sleb(s->n);
    else if (s->what == REGISTER)
        put_uleb(s->other);
    else if (s->what == CFA_EXPRESSION)
        put_expression(s, s->reg);
    else if (s->what == EXPRESSION || s->what == VALUE_EXPRESSION)
        put_expression(s, s->other);
}

/* Writes the length at the start of an entry; both .debug_frame and .eh_frame entries may use 8 bytes. */
static size_t begin_entry(bool wide)
{
    if (wide)
        put(0xffffffff, 4);
    put(0, wide ? 8 : 4);
    return used;
}

static void end_entry(size_t begin, bool wide)
{
    while (below(3) && (used - begin) % 8)
        put(0, 1);
    size_t end = used, length = used - begin;
    used = begin - (wide ? 8 : 4);
    put(length, wide ? 8 : 4);
    used = end;
}

static void put_cie(struct cie *cie)
{
    bool wide = below(3) == 0;
    cie->at = used;
    size_t begin = begin_entry(wide);
    put(debug ? ~(uint64_t)0 : 0, wide ? 8 : 4);
    put(cie->version, 1);
    for (const char *a = cie->augmentation; *a; a++)
        put((uint8_t)*a, 1);
    put(0, 1);
    if (cie->version == 4)
        put(8, 2);
    if (cie->augmentation[0] == 'e')
        put(0x4141414141414141, 8);
    put_uleb(cie->code_align);
    put_sleb(cie->data_align);
    if (cie->version == 1)
        put(cie->ra, 1);
    else
        put_uleb(cie->ra);
    if (cie->augmentation[0] == 'z') {
        size_t length = used++;
        for (const char *a = cie->augmentation + 1; *a; a++)
            if (*a == 'R')
                put(cie->encoding, 1);
            else if (*a == 'L')
                put(0x1b, 1);
            else if (*a == 'P')
                put(0x9b, 1), put(77, 4);
        if (below(2) || strchr(cie->augmentation, 'X'))
            put(0x4242, 2); /* with unknown letters, or none */
        section[length] = (uint8_t)(used - length - 1);
    }
    for (unsigned i = 0; i < cie->count; i++)
        put_step(cie, &cie->steps[i], 0);
    end_entry(begin, wide);
}

static void put_fde(struct fde *f)
{
    bool wide = below(5) == 0;
    size_t begin = begin_entry(wide);
    put(debug ? f->cie->at + f->astray : used - f->cie->at - f->astray, wide ? 8 : 4);
    put_encoded(f->cie->encoding, f->begin);
    put_encoded(f->cie->encoding & 0x0f, f->size);
    if (f->cie->augmentation[0] == 'z') {
        put_uleb(3);
        put(0x101010, 3);
    }
    for (unsigned i = 0; i < f->count; i++)
        put_step(f->cie, &f->steps[i], f->begin);
    end_entry(begin, wide);
}

/* ---- random input ------------------------------------------------------------------------------------------------ */

static uint64_t a_register(void)
{
    static const uint8_t often[2][4] = {{6, 3, 16, 7}, {29, 19, 30, 31}};
    return below(8) ? often[machine][below(4)] : below(200);
}

static struct step draw_step(bool in_cie)
{
    struct step s = {.what = (enum what)below(WHATS), .wide = below(5), .reg = a_register(), .n = below(100)};
    if (below(3) == 0)
        s.what = ADVANCE;
    while ((s.what == UNKNOWN && below(4)) || (in_cie && (s.what == ADVANCE || s.what == SET_LOC)))
        s.what = (enum what)below(WHATS);
    s.by = below(12) ? below(60) : below(400);
    if (s.what == ADVANCE && s.wide == 4 && below(9) == 0)
        s.by = (uint64_t)1 << (62 + below(2)); /* more than the address space, possibly times 4 */
    s.form = below(3) ? (enum form)below(4) : (enum form)below(FORMS);
    if (s.what == OFFSET_SF || s.what == CFA_SF || s.what == CFA_OFFSET_SF || s.what == VALUE_OFFSET)
        s.n -= 50;
    if (below(30) == 0)
        s.n = (int64_t)1 << (28 + below(6)); /* out of a row's range, or so when scaled */
    s.other = s.what == REGISTER ? below(40) : below(20);
    if (s.what == CFA_EXPRESSION || s.what == EXPRESSION || s.what == VALUE_EXPRESSION) {
        s.n = (int64_t)below(4000) - 2000;
        if (s.what == CFA_EXPRESSION)
            s.reg %= 32;
        if (s.form == STUB || s.form == NEAR_STUB)
            s.reg = below(6) ? (machine == UNWIND_X86_64 ? 7 : 31) : 5, s.n = 8;
    }
    return s;
}

static void draw_cie(struct cie *cie)
{
    static const char *const augmentations[] = {"",    "zR", "zRPL", "zPLR", "zRS", "zSR",
                                                "zLR", "z",  "zRB",  "zGR",  "eh",  "zXR"};
    static const uint8_t encodings[] = {0x1b, 0x1b, 0x00, 0x03, 0x04, 0x0b, 0x0c, 0x01, 0x09,
                                        0x1a, 0x14, 0x1c, 0x19, 0x10, 0x12, 0x13, 0x11};
    static const uint8_t versions[] = {1, 3, 4, 1, 3, 4, 1, 3, 4, 2, 5, 0};
    *cie = (struct cie){.version = versions[below(12)],
                        .code_align = below(2) ? 1 : 4,
                        .data_align = below(2)   ? -8
                                      : below(2) ? -4
                                                 : 8,
                        .ra = below(6) ? (machine == UNWIND_X86_64 ? 16 : 30) : below(40),
                        .augmentation = augmentations[below(12)],
                        .count = 1 + below(3)};
    cie->unreadable = cie->version != 1 && cie->version != 3 && cie->version != 4;
    bool has_encoding = strchr(cie->augmentation, 'R') && !strchr(cie->augmentation, 'X');
    cie->encoding = has_encoding ? encodings[below(where == BEFORE_CODE ? 17 : 14)] : 0;
    cie->is_signal = strchr(cie->augmentation, 'S');
    cie->steps[0] = (struct step){.what = CFA, .reg = machine == UNWIND_X86_64 ? 7 : 31, .n = 8};
    for (unsigned i = 1; i < cie->count; i++)
        cie->steps[i] = draw_step(true);
}

static void draw_fde(struct fde *f)
{
    *f = (struct fde){.begin = CODE + below(CODE_BYTES), .cie = &cies[below(3)], .count = below(15)};
    f->size = below(10) ? below(120) : below(900);
    if (below(12) == 0)
        f->begin = below(3) ? CODE : below(2) ? CODE - 1 - below(40) : CODE + CODE_BYTES - 2 + below(4);
    if (below(15) == 0)
        f->astray = 1 + below(below(2) ? 4 : 1000000);
    bool is_deep = below(30) == 0; /* remembers more states than are kept */
    if (is_deep)
        f->count = 40 + below(STEPS - 40);
    for (unsigned i = 0; i < f->count; i++) {
        f->steps[i] = draw_step(false);
        if (is_deep)
            f->steps[i].what =
                i < 36 && below(12) ? REMEMBER : (enum what[]){RECALL, RECALL, CFA_OFFSET, ADVANCE}[below(4)];
        f->steps[i].by %= is_deep ? 4 : UINT64_MAX;
    }
}

/* ---- the check ------------------------------------------------------------------------------------------------------ */

static bool same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->offset == b->offset;
}

static bool same_row(const struct unwind_row *a, const struct unwind_row *b)
{
    return same_rule(&a->cfa, &b->cfa) && a->add == b->add && a->signal == b->signal && same_rule(&a->ra, &b->ra) &&
           same_rule(&a->fp, &b->fp) && same_rule(&a->base, &b->base);
}

static unsigned rows_that_differ(const struct unwind_rows *rows)
{
    unsigned wrong = 0;
    for (uint64_t at = 0; at < CODE_BYTES + 10; at++) {
        struct unwind_row want = row_by_steps(CODE + at), nothing = {0};
        const struct unwind_row *got = unwind_rows_find(rows, at);
        if (at >= CODE_BYTES)
            want = nothing;
        wrong += want.cfa.kind == UNWIND_NONE ? got != NULL : !got || !same_row(got, &want);
    }
    return wrong;
}

/* Of a copy that ends at the end of the section. */
static struct unwind_rows compiled(uint64_t limit)
{
    struct unwind_rows rows;
    uint8_t *bytes = malloc(used);
    memcpy(bytes, section, used);
    struct unwind_section s = {bytes, used, where, debug, CODE, limit};
    unwind_rows_compile(&rows, &s, machine);
    free(bytes);
    return rows;
}

static unsigned sections_that_differ(unsigned sections)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < sections; i++) {
        machine = (enum unwind_machine)below(2);
        debug = below(3) == 0;
        where = below(2) ? BEFORE_CODE : BEHIND_CODE;
        used = 0;
        for (int k = 0; k < 3; k++)
            draw_cie(&cies[k]);
        for (int k = 0; k < FDES; k++)
            draw_fde(&fdes[k]);
        unsigned written = 1 + below(2);
        for (unsigned k = 0; k < written; k++)
            put_cie(&cies[k]);
        if (debug && below(2))
            put(0, 4); /* a gap between entries */
        for (int k = 0; k < FDES; k++) {
            if (k == FDES / 2)
                for (unsigned c = written; c < 3; c++)
                    put_cie(&cies[c]);
            if (k < FDES / 2)
                fdes[k].cie = &cies[below(written)];
            put_fde(&fdes[k]);
        }
        if (!debug && below(2)) { /* the terminator; the following bytes are ignored */
            put(0, 4);
            put_cie(&cies[0]);
            struct fde other = fdes[0];
            other.cie = &cies[0];
            put_fde(&other);
        }
        struct unwind_rows rows = compiled(CODE + CODE_BYTES);
        unsigned differ = rows_that_differ(&rows);
        if (differ > 0 && wrong++ < 3)
            printf("# section %u: %u addresses\n", i, differ);
        unwind_rows_free(&rows);
    }
    return wrong;
}

/* More distinct rows than can be numbered; the others count as unknown. */
static void test_many(void)
{
    enum { ROWS = 66000, KEPT = 65535 - 1, FIRST = 9 };
    static struct cie cie = {.version = 1, .code_align = 1, .data_align = -8, .ra = 16, .augmentation = "", .count = 1};
    static struct step set = {.what = CFA_OFFSET}, on = {.what = ADVANCE, .by = 1};
    struct unwind_row want = {.cfa = {.kind = UNWIND_REG, .reg = 7}};
    size_t wrong = 0;
    used = 0;
    debug = false;
    machine = UNWIND_X86_64;
    cie.steps[0] = (struct step){.what = CFA, .reg = 7, .n = 8};
    put_cie(&cie);
    size_t begin = begin_entry(false);
    put(used - cie.at, 4);
    put(CODE, 8);
    put(ROWS, 8);
    for (set.n = FIRST; set.n < FIRST + ROWS; set.n++) {
        put_step(&cie, &set, CODE);
        put_step(&cie, &on, CODE);
    }
    end_entry(begin, false);
    struct unwind_rows rows = compiled(CODE + ROWS);
    for (uint32_t i = 0; i < ROWS; i++) {
        const struct unwind_row *row = unwind_rows_find(&rows, i);
        want.cfa.offset = (int32_t)i + FIRST;
        wrong += i < KEPT ? !row || !same_rule(&row->cfa, &want.cfa) : row != NULL;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(rows.distinct.count, KEPT + 1);
    CHECK(unwind_rows_find(&rows, ((uint64_t)1 << 32) + 5) == NULL);
    unwind_rows_free(&rows);
    CHECK(unwind_rows_find(&(struct unwind_rows){.begin = {0}}, 0) == NULL);
    static const uint64_t limits[] = {CODE, CODE - 1, CODE + ((uint64_t)1 << 32), CODE + ((uint64_t)1 << 32) - 1};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        rows = compiled(limits[i]);
        tap_result((rows.begin.count > 0) == (i == 3), "no rows of code that has no bytes, or too many", __FILE__,
                   __LINE__);
        unwind_rows_free(&rows);
    }
}

/* ---- walks: a random stack of calls, unwound --------------------------------------------------------------------- */

enum {
    FUNCTIONS = 24,
    FUNCTION = 64,
    BASE = 0x4000000,
    STACK = 0x70000000,
    STACK_BYTES = 1 << 15,
    CALLS = 60,
    NOWHERE = 0x9000000
};

/* How a function sets up its frame, and which registers it saves: one row for all of it. */
enum frame_kind {
    BY_SP,
    BY_FP,
    BY_BASE,
    BY_SAVED,
    BY_STUB,
    OUTERMOST,
    HANDLED /* return address of a signal handler */,
    FRAME_KINDS
};
static struct unwind_row function_rows[FUNCTIONS + 1]; /* the first one: unknown */
static uint32_t begins[FUNCTIONS + 1];
static uint16_t whiches[FUNCTIONS + 1];
static uint8_t stack_bytes[STACK_BYTES];
static struct unwind_rows walk_rows;

enum { SIGNAL_SP = 160, SIGNAL_PC = 168, SIGNAL_FP = 120, SIGNAL_BASE = 128, SIGNAL_BYTES = 400 };

static struct unwind_row row_of_kind(enum frame_kind kind)
{
    const struct unwind_numbers *n = &unwind_numbers[machine];
    struct unwind_row r = {.ra = {.kind = UNWIND_CFA, .offset = -8}};
    r.fp = below(2) || kind == BY_FP || kind == BY_SAVED ? (struct unwind_rule){.kind = UNWIND_CFA, .offset = -16}
                                                         : (struct unwind_rule){.kind = UNWIND_SAME};
    r.base = below(2) || kind == BY_BASE ? (struct unwind_rule){.kind = UNWIND_CFA, .offset = -24}
                                         : (struct unwind_rule){.kind = UNWIND_SAME};
    switch (kind) {
    case BY_SP:
        r.cfa = (struct unwind_rule){.kind = UNWIND_REG, .reg = n->sp, .offset = 32 + 8 * (int)below(20)};
        break;
    case BY_FP:
        r.cfa = (struct unwind_rule){.kind = UNWIND_REG, .reg = n->fp, .offset = 16};
        break;
    case BY_BASE:
        r.cfa = (struct unwind_rule){.kind = UNWIND_REG, .reg = n->base, .offset = 40};
        break;
    case BY_SAVED: /* its CFA, minus 48, is 32 below the address in fp */
        r.cfa = (struct unwind_rule){.kind = UNWIND_DEREF, .reg = n->fp, .offset = -32};
        r.add = 48;
        break;
    case BY_STUB: /* sp + 8, plus 8 from the 11th byte on; saves nothing */
        r.cfa = (struct unwind_rule){.kind = machine == UNWIND_X86_64 ? UNWIND_PLT : UNWIND_REG,
                                     .reg = machine == UNWIND_X86_64 ? 11 : n->sp,
                                     .offset = 8};
        r.fp.kind = r.base.kind = UNWIND_SAME;
        break;
    case OUTERMOST:
        r.cfa = (struct unwind_rule){.kind = UNWIND_REG, .reg = n->sp, .offset = 8};
        r.ra = (struct unwind_rule){.kind = UNWIND_UNDEFINED};
        break;
    default:
        r.signal = 1;
        r.cfa = (struct unwind_rule){.kind = UNWIND_DEREF, .reg = n->sp, .offset = SIGNAL_SP};
        r.ra = (struct unwind_rule){.kind = UNWIND_AT, .reg = n->sp, .offset = SIGNAL_PC};
        r.fp = (struct unwind_rule){.kind = UNWIND_AT, .reg = n->sp, .offset = SIGNAL_FP};
        r.base = (struct unwind_rule){.kind = UNWIND_AT, .reg = n->sp, .offset = SIGNAL_BASE};
    }
    return r;
}

static enum frame_kind kinds[FUNCTIONS];

static void draw_functions(void)
{
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        kinds[i] = i < FRAME_KINDS ? (enum frame_kind)i : (enum frame_kind)below(BY_STUB + 1);
        function_rows[i + 1] = row_of_kind(kinds[i]);
        begins[i] = i * FUNCTION;
        whiches[i] = (uint16_t)(i + 1);
    }
    begins[FUNCTIONS] = FUNCTIONS * FUNCTION;
    whiches[FUNCTIONS] = 0;
    walk_rows = (struct unwind_rows){.begin = {.items = begins, .count = FUNCTIONS + 1},
                                     .which = {.items = whiches, .count = FUNCTIONS + 1},
                                     .distinct = {.items = function_rows, .count = FUNCTIONS + 1}};
}

/* Machine state during the calls, and the expected result of a walk, outermost first. */
static struct {
    uint64_t pc, sp, fp, base, ra;
    uint64_t back[2 * CALLS];  /* resume address of each frame's caller */
    uint64_t reach[2 * CALLS]; /* and where the stack has to be readable up to for that */
    unsigned count;
} now;

static void store(uint64_t address, uint64_t value)
{
    memcpy(stack_bytes + (address - STACK), &value, 8);
}

/* The caller is at now.pc, in the middle of its code. The return address may be signed. */
static void call(unsigned callee)
{
    const struct unwind_row *r = &function_rows[callee + 1];
    uint64_t cfa = now.sp, sign = machine == UNWIND_AARCH64 && below(2) ? (uint64_t)(1 + below(0xfffe)) << 48 : 0;
    unsigned pushed = 0;
    store(cfa - 8, now.pc | sign);
    now.back[now.count] = now.pc - 1;
    now.reach[now.count++] = cfa;
    if (r->fp.kind == UNWIND_CFA)
        store(cfa - 16, now.fp), now.fp = random64() >> 8;
    if (r->base.kind == UNWIND_CFA)
        store(cfa - 24, now.base), now.base = random64() >> 8;
    /* the call may be its last instruction, and return to where the next function begins */
    now.pc = BASE + callee * FUNCTION + 1 + below(kinds[callee] == BY_STUB ? FUNCTION - 2 : FUNCTION);
    switch (kinds[callee]) {
    case BY_SP:
        now.sp = cfa - (uint64_t)r->cfa.offset;
        break;
    case BY_FP:
        now.fp = cfa - 16;
        now.sp = cfa - 32 - 8 * below(20);
        break;
    case BY_BASE:
        now.base = cfa - 40;
        now.sp = cfa - 48 - 8 * below(20);
        break;
    case BY_SAVED:
        now.fp = cfa - 80;
        store(now.fp - 32, cfa - 48);
        now.sp = cfa - 120 - 8 * below(20);
        break;
    default:
        pushed = machine == UNWIND_X86_64 && (now.pc & 15) >= 11 ? 8 : 0;
        now.sp = cfa - 8 - pushed;
    }
}

/* Enters a function that makes no call. */
static void be_inside(void)
{
    now.pc -= (now.pc - BASE) % FUNCTION == 0;
}

/* Interrupts the function at now.pc; the handler called by the kernel returns to code that has a row, or is recognized
   by its bytes. */
static void interrupt(unsigned handler, bool has_row)
{
    be_inside();
    uint64_t interrupted = now.pc, trampoline = has_row ? BASE + HANDLED * FUNCTION + 1 : NOWHERE;
    now.sp -= SIGNAL_BYTES;
    store(now.sp + SIGNAL_SP, now.sp + SIGNAL_BYTES);
    store(now.sp + SIGNAL_PC, now.pc);
    store(now.sp + SIGNAL_FP, now.fp);
    store(now.sp + SIGNAL_BASE, now.base);
    now.back[now.count] = interrupted;
    now.reach[now.count++] = now.sp + SIGNAL_PC + 8;
    now.pc = trampoline;
    call(handler);
}

/* Code without unwind information and without a frame. */
static void call_leaf(void)
{
    bool in_register = machine == UNWIND_AARCH64;
    if (in_register)
        now.ra = now.pc;
    else
        store(now.sp -= 8, now.pc);
    now.back[now.count] = now.pc - 1;
    now.reach[now.count++] = in_register ? 0 : now.sp + 8;
    now.pc = BASE + FUNCTIONS * FUNCTION + below(100);
}

static bool peeks; /* memory outside of the stack is read separately */

static bool peek_code(uint64_t address, void *to, size_t n)
{
    static const uint8_t x64[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    if (n == 8)
        return peeks;
    if (address != NOWHERE || machine != UNWIND_X86_64 || n != sizeof x64)
        return false;
    memcpy(to, x64, n);
    return true;
}

static const struct unwind_rows *missing(const struct unwind_object *o)
{
    return o->begin == BASE ? &walk_rows : NULL;
}

/* How the outermost function ends: marked as such, without a caller, or called by unknown code. */
enum start { SAYS_SO, CALLED_BY_NONE, FROM_NOWHERE, STARTS };

static void draw_stack(enum start start)
{
    now.sp = STACK + STACK_BYTES - 64;
    now.fp = now.base = 0;
    now.count = 0;
    now.pc = start == SAYS_SO ? BASE + OUTERMOST * FUNCTION + 9 : start == CALLED_BY_NONE ? 0 : NOWHERE + 500;
    unsigned calls = 1 + below(CALLS), signals = 0;
    for (unsigned i = 0; i < calls && now.sp > STACK + 2000; i++) {
        unsigned callee = below(FUNCTIONS);
        while (kinds[callee] == OUTERMOST || kinds[callee] == HANDLED || (i == 0 && kinds[callee] != BY_SP))
            callee = below(FUNCTIONS);
        if (i > 0 && signals < 16 && below(8) == 0)
            signals++, interrupt(callee, machine == UNWIND_AARCH64 || below(2));
        else
            call(callee);
    }
    now.ra = random64();
    if (below(3) == 0)
        call_leaf();
    else
        be_inside();
    if (start == CALLED_BY_NONE) /* there is nothing to find */
        for (unsigned i = 0; i + 1 < now.count; i++)
            now.back[i] = now.back[i + 1], now.reach[i] = now.reach[i + 1];
    now.count -= start == CALLED_BY_NONE;
}

/* One walk over the stack, readable up to `cut`: is the result as expected? */
static bool walk_is_right(enum start start, uint64_t cut, bool knows_first, bool is_copied, bool skips)
{
    const struct unwind_numbers *n = &unwind_numbers[machine];
    static union {
        struct unwind_map map;
        uint8_t room[sizeof(struct unwind_map) + 3 * sizeof(struct unwind_object)];
    } some;
    peeks = below(2);
    uint64_t word[64], first_sp = STACK + STACK_BYTES - 64;
    struct unwind_registers r = {.pc = now.pc,
                                 .known = (uint64_t)1 << n->sp | (uint64_t)1 << n->fp | (uint64_t)1 << n->base |
                                          (uint64_t)1 << n->ra};
    struct unwind_memory m = {now.sp, cut, stack_bytes + (now.sp - STACK), .copied = is_copied};
    struct unwind_path path = {.word = word, .at = below(100), .mask = 63, .room = 1 + below(64)};
    struct unwinder u = {machine, &some.map, missing, peek_code};
    if (knows_first)
        m.first_low = first_sp - 100 - 8 * below(2), m.first_high = first_sp + 1 + below(50);
    r.reg[n->sp] = now.sp, r.reg[n->fp] = now.fp, r.reg[n->base] = now.base, r.reg[n->ra] = now.ra;
    some.map.count = 3;
    some.map.object[0] = (struct unwind_object){BASE - 0x1000, BASE - 0x500, NULL};
    some.map.object[1] = (struct unwind_object){BASE, BASE + FUNCTIONS * FUNCTION + 100, below(2) ? &walk_rows : NULL};
    some.map.object[2] = (struct unwind_object){BASE + 0x100000, BASE + 0x100100, NULL};
    if (skips) /* a single function's frames, or also those of its callees */
        path.skip_begin = BASE + below(FUNCTIONS) * FUNCTION, path.skip_end = path.skip_begin + FUNCTION / 2,
        path.skip_inner = below(2);
    enum unwind_end end = unwind_walk(&u, &r, &m, &path), want = UNWIND_COMPLETE;
    uint64_t frames[2 * CALLS];
    unsigned count = 0;
    bool put = false;
    for (unsigned i = now.count; i-- > 0 && want == UNWIND_COMPLETE;) {
        bool skipped = now.back[i] >= path.skip_begin && now.back[i] < path.skip_end;
        if (now.reach[i] > cut)
            want = is_copied ? UNWIND_STACK : peeks ? UNWIND_ELSEWHERE : UNWIND_DAMAGED;
        else if (skipped)
            count = path.skip_inner ? 0 : count;
        else if (count == path.room)
            want = UNWIND_LONG;
        else
            frames[count++] = now.back[i];
        put = !skipped;
    }
    if (want == UNWIND_COMPLETE && start == FROM_NOWHERE)
        want = knows_first ? UNWIND_COMPLETE : UNWIND_NO_ROWS, count -= knows_first && put && count > 0;
    if (want == UNWIND_COMPLETE && start == CALLED_BY_NONE && STACK + STACK_BYTES - 64 > cut)
        want = is_copied ? UNWIND_STACK : peeks ? UNWIND_ELSEWHERE : UNWIND_DAMAGED;
    for (unsigned i = 0; i < count && i < path.count; i++)
        if (word[(path.at + i) & 63] != frames[i])
            return false;
    return end == want && path.count == count;
}

/* ---- code without rows: the chain of frame pointers, as long as it is plausible ---------------------------------- */

static bool chain_is_right(void)
{
    const struct unwind_numbers *n = &unwind_numbers[machine];
    struct unwind_map none = {0};
    uint64_t word[64], frames[64], words = STACK_BYTES / 8, sp = STACK + 8 * below(50), fp = sp + 8 * below(20),
                                   end_at = STACK + 8 * (64 + below(200));
    uint64_t next = fp, floor = sp;
    bool is_copied = below(2), knows_first = below(2);
    unsigned count = 0;
    for (uint64_t i = 0; i < words; i++)
        store(STACK + 8 * i, below(2) ? NOWHERE + 1 + below(4000) : below(5000));
    for (uint64_t at = fp; at + 16 < STACK + STACK_BYTES;) { /* a chain, with faults in it */
        uint64_t to = at + 16 + 8 * below(12);
        switch (below(16)) {
        case 0:
            to += below(8);
            break;
        case 1:
            to = at - 8 * below(2);
            break;
        case 2:
            to = 0;
            break;
        case 3:
            to = at + 8;
            break;
        default:
            break;
        }
        store(at, to);
        store(at + 8, below(12) ? NOWHERE + 1 + below(4000) : below(3) ? 4095 + below(2) : 0);
        at = (to & ~(uint64_t)7) > at ? to & ~(uint64_t)7 : at + 16;
    }
    struct unwind_registers r = {.pc = NOWHERE + 77,
                                 .known = (uint64_t)1 << n->sp | (below(9) ? (uint64_t)1 << n->fp : 0)};
    struct unwind_memory m = {sp, end_at, stack_bytes + (sp - STACK), .copied = is_copied};
    struct unwind_path path = {.word = word, .mask = UINT32_MAX, .room = 64};
    struct unwinder u = {machine, &none, NULL, NULL};
    if (knows_first)
        m.first_low = sp + 8 * below(100), m.first_high = m.first_low + 8 * (1 + below(30));
    r.reg[n->sp] = sp, r.reg[n->fp] = fp;
    enum unwind_end end = unwind_walk(&u, &r, &m, &path), want = UNWIND_NO_ROWS;
    bool knows_fp = r.known >> n->fp & 1, knows_sp = true, first = false;
    for (;;) {
        uint64_t back, up;
        first = knows_first && knows_sp && sp >= m.first_low && sp < m.first_high;
        if (!knows_fp || next % 8 || next < floor)
            break;
        if (next + 16 > end_at) {
            want = is_copied ? UNWIND_STACK : UNWIND_DAMAGED;
            break;
        }
        memcpy(&up, stack_bytes + (next - STACK), 8);
        memcpy(&back, stack_bytes + (next + 8 - STACK), 8);
        if (back == 0 && up == 0) {
            want = UNWIND_COMPLETE;
            break;
        }
        if (back < 4096 || (up && up <= next))
            break;
        frames[count++] = back - 1;
        floor = sp = next + 16;
        knows_sp = machine == UNWIND_X86_64;
        next = up;
    }
    if (want == UNWIND_NO_ROWS && first)
        want = UNWIND_COMPLETE, count -= count > 0;
    for (unsigned i = 0; i < count && i < path.count; i++)
        if (word[i] != frames[i])
            return false;
    return end == want && path.count == count;
}

static unsigned chains_that_differ(unsigned chains)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < chains; i++) {
        machine = (enum unwind_machine)below(2);
        if (!chain_is_right() && wrong++ < 3)
            printf("# chain %u of machine %d\n", i, machine);
    }
    return wrong;
}

static unsigned walks_that_differ(unsigned stacks)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < stacks; i++) {
        machine = (enum unwind_machine)below(2);
        memset(stack_bytes, 0, sizeof stack_bytes);
        draw_functions();
        enum start start = (enum start)below(STARTS);
        draw_stack(start);
        uint64_t all = STACK + STACK_BYTES, cut = all - 8 * below((uint32_t)(all - now.sp) / 8);
        for (int k = 0; k < 16; k++)
            if (!walk_is_right(start, k & 1 ? cut : all, k & 2, k & 4, k & 8) && wrong++ < 3)
                printf("# stack %u, walk %d of machine %d, start %d: %u calls\n", i, k, machine, start, now.count);
    }
    return wrong;
}

int main(void)
{
    RUN(test_many);
    CHECK_INT(sections_that_differ(3000), 0);
    CHECK_INT(walks_that_differ(1500), 0);
    CHECK_INT(chains_that_differ(4000), 0);
    return tap_done();
}
