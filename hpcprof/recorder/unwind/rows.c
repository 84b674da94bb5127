/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call frame information, compiled: DWARF 5, section 6.4; Linux Standard Base Core, "Exception Frames" (.eh_frame,
 * DW_EH_PE_*). Each entry is run once from its first to its last instruction; the rules between two advances of the
 * location are a row.
 */
#include "hpcprof/recorder/unwind/unwind.h"

const struct unwind_numbers unwind_numbers[2] = {
    [UNWIND_X86_64] = {.sp = 7, .fp = 6, .base = 3, .ra = 16},
    [UNWIND_AARCH64] = {.sp = 31, .fp = 29, .base = 19, .ra = 30},
};

enum { DISTINCT_MAX = 65535, REMEMBERED = 32 };

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

struct bytes {
    const uint8_t *p, *end;
    bool bad; /* past the end, or a form we do not know: everything read since is 0 */
};

static uint64_t take(struct bytes *b, size_t n)
{
    uint64_t v = 0;
    if ((size_t)(b->end - b->p) < n) {
        b->bad = true;
        b->p = b->end;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)b->p[i] << 8 * i;
    b->p += n;
    return v;
}

static uint64_t take_uleb(struct bytes *b)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t)take(b, 1);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
}

static int64_t take_sleb(struct bytes *b)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)take(b, 1);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && byte & 0x40)
        v |= ~(uint64_t)0 << shift;
    return (int64_t)v;
}

static struct bytes take_block(struct bytes *b, uint64_t n)
{
    struct bytes block = {b->p, b->p, false};
    if (n > (uint64_t)(b->end - b->p)) {
        b->bad = block.bad = true;
        b->p = b->end;
        return block;
    }
    b->p += n;
    block.end = b->p;
    return block;
}

enum { PE_OMIT = 0xff, PE_PCREL = 0x10 };

/* A pointer; forms that do not occur for code set bad. `address` is that of b->p. */
static uint64_t take_encoded(struct bytes *b, uint8_t encoding, uint64_t address)
{
    static const int8_t width[16] = {[0] = 8, [2] = 2, [3] = 4, [4] = 8, [8] = 8, [10] = -2, [11] = -4, [12] = 8};
    int n = width[encoding & 15];
    uint64_t v;
    if ((encoding & 15) == 1)
        v = take_uleb(b);
    else if ((encoding & 15) == 9)
        v = (uint64_t)take_sleb(b);
    else if (n > 0)
        v = take(b, (size_t)n);
    else if (n < 0)
        v = (uint64_t)((int64_t)(take(b, (size_t)-n) << (64 + 8 * n)) >> (64 + 8 * n));
    else
        v = 0;
    if ((n == 0 && (encoding & 15) != 1 && (encoding & 15) != 9) ||
        ((encoding & 0x70) && (encoding & 0x70) != PE_PCREL))
        b->bad = true;
    return encoding & PE_PCREL ? v + address : v;
}

/* ---- entries -------------------------------------------------------------------------------------------------- */

struct cie {
    size_t offset; /* in the section */
    bool ok, has_length, signal;
    uint8_t pointer_encoding;
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra;
    struct unwind_row initial;
};

struct fde {
    uint32_t begin, end;    /* from the base */
    uint32_t cie, at, size; /* its instructions, in the section */
};

struct compiler {
    const struct unwind_section *in;
    enum unwind_machine machine;
    const struct unwind_numbers *reg;
    struct unwind_rows *rows;
    struct area cies, fdes; /* of the above */
    struct area slots;      /* uint32_t, a hash of distinct rows: index + 1 */
    size_t slot_count;
};

static uint64_t address_of(const struct compiler *c, const uint8_t *p)
{
    return c->in->address + (uint64_t)(p - c->in->bytes);
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

static bool same_row(const struct unwind_row *a, const struct unwind_row *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static size_t slot_of(const struct compiler *c, const struct unwind_row *row)
{
    const struct unwind_row *rows = c->rows->distinct.items;
    const uint32_t *slots = c->slots.items;
    uint64_t words[sizeof *row / 8], h = 0;
    _Static_assert(sizeof *row == sizeof words, "a row has no padding");
    __builtin_memcpy(words, row, sizeof words);
    for (size_t i = 0; i < sizeof words / 8; i++)
        h = (h ^ words[i]) * 0x9fb21c651e98df25u, h ^= h >> 32;
    size_t i = h & (c->slot_count - 1);
    while (slots[i] && !same_row(&rows[slots[i] - 1], row))
        i = (i + 1) & (c->slot_count - 1);
    return i;
}

static bool more_slots(struct compiler *c)
{
    size_t wanted = c->slot_count ? c->slot_count * 4 : 1024;
    hpcrec_area_free(&c->slots, sizeof(uint32_t));
    if (!hpcrec_area_room(&c->slots, wanted, sizeof(uint32_t)))
        return false;
    c->slot_count = wanted;
    for (size_t i = 0; i < c->rows->distinct.count; i++)
        ((uint32_t *)c->slots.items)[slot_of(c, (struct unwind_row *)c->rows->distinct.items + i)] = (uint32_t)i + 1;
    return true;
}

/* The number of an equal row; 0, "unknown", if the table is full. */
static uint16_t distinct(struct compiler *c, const struct unwind_row *row)
{
    struct area *rows = &c->rows->distinct;
    if (rows->count * 2 >= c->slot_count && !more_slots(c))
        return 0;
    uint32_t *slot = (uint32_t *)c->slots.items + slot_of(c, row);
    if (*slot)
        return (uint16_t)(*slot - 1);
    if (rows->count == DISTINCT_MAX || !hpcrec_area_room(rows, rows->count + 1, sizeof *row))
        return 0;
    ((struct unwind_row *)rows->items)[rows->count++] = *row;
    *slot = (uint32_t)rows->count;
    return (uint16_t)(rows->count - 1);
}

/* The rules from `begin` on. */
static void emit(struct compiler *c, uint32_t begin, const struct unwind_row *row)
{
    struct unwind_rows *r = c->rows;
    size_t n = r->begin.count;
    uint16_t which = distinct(c, row);
    if (n > 0 && ((uint32_t *)r->begin.items)[n - 1] == begin) {
        ((uint16_t *)r->which.items)[n - 1] = which;
        return;
    }
    if ((n > 0 && ((uint16_t *)r->which.items)[n - 1] == which) ||
        !hpcrec_area_room(&r->begin, n + 1, sizeof(uint32_t)) || !hpcrec_area_room(&r->which, n + 1, sizeof(uint16_t)))
        return;
    ((uint32_t *)r->begin.items)[n] = begin;
    ((uint16_t *)r->which.items)[n] = which;
    r->begin.count = r->which.count = n + 1;
}

/* ---- expressions ----------------------------------------------------------------------------------------------- */

enum { OP_DEREF = 0x06, OP_PLUS_UCONST = 0x23, OP_BREG0 = 0x70 };

static struct unwind_rule rule(enum unwind_kind kind, uint64_t reg, int64_t offset)
{
    struct unwind_rule r = {.kind = (uint8_t)kind, .reg = (uint8_t)reg, .offset = (int32_t)offset};
    if (reg >= UNWIND_REGISTERS || offset < INT32_MIN || offset > INT32_MAX)
        r = (struct unwind_rule){0};
    return r;
}

/* The linker's stubs (.plt): rsp + 8 + (((rip & 15) >= n) << 3), with n 9, 10 or 11. */
static bool is_plt(struct bytes b, uint8_t *n)
{
    static const uint8_t form[] = {0x80, 0x00, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22};
    enum { N_AT = 4 };
    if ((size_t)(b.end - b.p) != sizeof form)
        return false;
    for (size_t i = 0; i < sizeof form; i++)
        if (b.p[i] != form[i] && i != N_AT)
            return false;
    *n = (uint8_t)(b.p[N_AT] - form[N_AT]);
    return *n < 16;
}

/* The CFA by an expression: a stub's, or a register's value read from where it was saved (realigned stacks, signal
   frames, hand-written assembly). */
static void cfa_expression(const struct compiler *c, struct bytes b, struct unwind_row *row)
{
    uint8_t op = (uint8_t)take(&b, 1), n;
    int64_t offset = take_sleb(&b);
    row->cfa = (struct unwind_rule){0};
    row->add = 0;
    if (b.bad || op < OP_BREG0 || op > OP_BREG0 + 31)
        return;
    row->cfa = rule(UNWIND_REG, op - OP_BREG0, offset);
    if (b.p == b.end)
        return;
    if (c->machine == UNWIND_X86_64 && op - OP_BREG0 == c->reg->sp && is_plt(b, &n)) {
        row->cfa = rule(UNWIND_PLT, n, offset);
        return;
    }
    row->cfa = take(&b, 1) == OP_DEREF ? rule(UNWIND_DEREF, op - OP_BREG0, offset) : (struct unwind_rule){0};
    if (b.p == b.end)
        return;
    bool plus = take(&b, 1) == OP_PLUS_UCONST;
    uint64_t add = take_uleb(&b);
    if (!plus || b.bad || b.p != b.end || add > INT32_MAX)
        row->cfa = (struct unwind_rule){0};
    else
        row->add = (int32_t)add;
}

/* Where a register was saved, by an expression: reg + offset. */
static struct unwind_rule saved_expression(struct bytes b)
{
    uint8_t op = (uint8_t)take(&b, 1);
    int64_t offset = take_sleb(&b);
    if (b.bad || b.p != b.end || op < OP_BREG0 || op > OP_BREG0 + 31)
        return (struct unwind_rule){0};
    return rule(UNWIND_AT, op - OP_BREG0, offset);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

struct run { /* one entry's instructions */
    struct compiler *c;
    const struct cie *cie;
    struct unwind_row row;
    uint64_t at, end; /* addresses, from the base */
    bool emits;       /* not: a common entry's own */
    struct unwind_row remembered[REMEMBERED];
    unsigned depth;
};

static struct unwind_rule *rule_of(struct run *r, struct unwind_row *row, uint64_t reg)
{
    return reg == r->cie->ra ? &row->ra : reg == r->c->reg->fp ? &row->fp : reg == r->c->reg->base ? &row->base : NULL;
}

static void set_rule(struct run *r, uint64_t reg, struct unwind_rule to)
{
    struct unwind_rule *at = rule_of(r, &r->row, reg);
    if (at)
        *at = to;
}

static void restore(struct run *r, uint64_t reg)
{
    const struct unwind_rule *initial = rule_of(r, (struct unwind_row *)&r->cie->initial, reg);
    if (initial)
        set_rule(r, reg, *initial);
}

static void set_cfa_offset(struct run *r, int64_t offset)
{
    r->row.cfa = r->row.cfa.kind == UNWIND_REG ? rule(UNWIND_REG, r->row.cfa.reg, offset) : (struct unwind_rule){0};
}

static void emit_up_to(struct run *r, uint64_t to)
{
    if (to > r->end)
        to = r->end;
    if (r->emits && to > r->at)
        emit(r->c, (uint32_t)r->at, &r->row);
    if (to > r->at)
        r->at = to;
}

static void advance(struct run *r, uint64_t delta)
{
    uint64_t by;
    emit_up_to(r, __builtin_mul_overflow(delta, r->cie->code_align, &by) || by > r->end - r->at ? r->end : r->at + by);
}

static int64_t scaled(const struct run *r, int64_t offset)
{
    int64_t by;
    return __builtin_mul_overflow(offset, r->cie->data_align, &by) ? INT64_MAX : by;
}

static void saved_at(struct run *r, uint64_t reg, int64_t factored)
{
    set_rule(r, reg, rule(UNWIND_CFA, 0, scaled(r, factored)));
}

static void remember(struct run *r)
{
    if (r->depth < REMEMBERED)
        r->remembered[r->depth] = r->row;
    r->depth++;
}

static void recall(struct run *r)
{
    if (r->depth > 0 && --r->depth < REMEMBERED)
        r->row = r->remembered[r->depth];
    else
        r->row = (struct unwind_row){0}; /* nothing was remembered, or deeper than compilers go */
}

/* One of the numbered instructions; false: unknown, and so are those that follow. */
static bool extended(struct run *r, struct bytes *b, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case 0x00: /* nop */
        return true;
    case 0x01: { /* set_loc */
        uint64_t here = address_of(r->c, b->p);
        uint64_t to = take_encoded(b, r->cie->pointer_encoding, here) - r->c->in->base;
        emit_up_to(r, to);
        return true;
    }
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        advance(r, take(b, (size_t)1 << (op - 2)));
        return true;
    case 0x05: /* offset_extended */
        reg = take_uleb(b);
        saved_at(r, reg, (int64_t)take_uleb(b));
        return true;
    case 0x06: /* restore_extended */
        restore(r, take_uleb(b));
        return true;
    case 0x07: /* undefined */
        set_rule(r, take_uleb(b), (struct unwind_rule){.kind = UNWIND_UNDEFINED});
        return true;
    case 0x08: /* same_value */
        set_rule(r, take_uleb(b), (struct unwind_rule){.kind = UNWIND_SAME});
        return true;
    case 0x09: /* register */
        reg = take_uleb(b);
        set_rule(r, reg, rule(UNWIND_IN, take_uleb(b), 0));
        return true;
    case 0x0a:
        remember(r);
        return true;
    case 0x0b:
        recall(r);
        return true;
    case 0x0c: /* def_cfa */
        reg = take_uleb(b);
        r->row.cfa = rule(UNWIND_REG, reg, (int64_t)take_uleb(b));
        return true;
    case 0x0d: /* def_cfa_register */
        r->row.cfa = rule(UNWIND_REG, take_uleb(b), r->row.cfa.offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        set_cfa_offset(r, (int64_t)take_uleb(b));
        return true;
    case 0x0f: /* def_cfa_expression */
        cfa_expression(r->c, take_block(b, take_uleb(b)), &r->row);
        return true;
    case 0x10: /* expression */
        reg = take_uleb(b);
        set_rule(r, reg, saved_expression(take_block(b, take_uleb(b))));
        return true;
    case 0x11: /* offset_extended_sf */
        reg = take_uleb(b);
        saved_at(r, reg, take_sleb(b));
        return true;
    case 0x12: /* def_cfa_sf */
        reg = take_uleb(b);
        r->row.cfa = rule(UNWIND_REG, reg, scaled(r, take_sleb(b)));
        return true;
    case 0x13: /* def_cfa_offset_sf */
        set_cfa_offset(r, scaled(r, take_sleb(b)));
        return true;
    case 0x14: /* val_offset, val_offset_sf: the value itself is relative to the CFA; of no register we follow */
    case 0x15:
        set_rule(r, take_uleb(b), (struct unwind_rule){0});
        take_uleb(b);
        return true;
    case 0x16: /* val_expression */
        set_rule(r, take_uleb(b), (struct unwind_rule){0});
        take_block(b, take_uleb(b));
        return true;
    case 0x1d: /* MIPS_advance_loc8 */
        advance(r, take(b, 8));
        return true;
    case 0x2d: /* AARCH64_negate_ra_state: signed return addresses are stripped in any case */
        return true;
    case 0x2e: /* GNU_args_size */
        take_uleb(b);
        return true;
    case 0x2f: /* GNU_negative_offset_extended */
        reg = take_uleb(b);
        set_rule(r, reg, rule(UNWIND_CFA, 0, -scaled(r, (int64_t)take_uleb(b))));
        return true;
    default:
        return false;
    }
}

/* Leaves the row that holds at the end. */
static void run_instructions(struct run *r, struct bytes b)
{
    while (b.p < b.end && !b.bad) {
        uint8_t op = (uint8_t)take(&b, 1);
        bool known = true;
        if (op >> 6 == 1)
            advance(r, op & 63);
        else if (op >> 6 == 2)
            saved_at(r, op & 63, (int64_t)take_uleb(&b));
        else if (op >> 6 == 3)
            restore(r, op & 63);
        else
            known = extended(r, &b, op);
        if (!known || b.bad)
            r->row = (struct unwind_row){0};
        if (!known)
            return;
    }
}

/* ---- reading entries -----------------------------------------------------------------------------------------------
 */

static void read_augmentation(struct compiler *c, struct cie *cie, struct bytes *b, const char *text,
                              struct bytes *rest)
{
    *rest = *b;
    if (text[0] != 'z')
        return;
    cie->has_length = true;
    struct bytes data = take_block(b, take_uleb(b));
    *rest = *b;
    for (const char *a = text + 1; *a; a++) {
        if (*a == 'R')
            cie->pointer_encoding = (uint8_t)take(&data, 1);
        else if (*a == 'L')
            take(&data, 1);
        else if (*a == 'P') {
            uint8_t encoding = (uint8_t)take(&data, 1);
            take_encoded(&data, encoding & 0x0f, address_of(c, data.p));
        } else if (*a == 'S')
            cie->signal = true;
        else if (*a != 'B' && *a != 'G')
            break;
    }
    if (data.bad)
        rest->bad = true;
}

static void run_initial(struct compiler *c, struct cie *cie, struct bytes b)
{
    struct run r = {.c = c, .cie = cie};
    r.row.ra.kind = r.row.fp.kind = r.row.base.kind = UNWIND_SAME;
    r.row.signal = cie->signal;
    run_instructions(&r, b);
    cie->initial = r.row;
    if (cie->signal && c->machine == UNWIND_AARCH64)
        cie->initial.cfa = (struct unwind_rule){.kind = UNWIND_SIGNAL_A64};
}

static void read_cie(struct compiler *c, struct bytes b, size_t offset)
{
    struct cie cie = {.offset = offset};
    const char *text = (const char *)b.p + 1;
    uint8_t version = (uint8_t)take(&b, 1);
    while (take(&b, 1) && !b.bad)
        ;
    if (version == 4)
        take(&b, 2);                                /* sizes of addresses and segment selectors */
    if (!b.bad && text[0] == 'e' && text[1] == 'h') /* GCC 2: an unused pointer */
        take(&b, 8), text += 2;
    cie.code_align = take_uleb(&b);
    cie.data_align = take_sleb(&b);
    cie.ra = version == 1 ? take(&b, 1) : take_uleb(&b);
    if (!b.bad && (version == 1 || version == 3 || version == 4)) {
        struct bytes rest;
        read_augmentation(c, &cie, &b, text, &rest);
        cie.ok = !rest.bad;
        if (cie.ok)
            run_initial(c, &cie, rest);
    }
    if (hpcrec_area_room(&c->cies, c->cies.count + 1, sizeof cie))
        ((struct cie *)c->cies.items)[c->cies.count++] = cie;
}

/* The common entry at that offset: as a rule the last one read. UINT32_MAX: none was. */
static uint32_t cie_at(const struct compiler *c, size_t offset)
{
    const struct cie *cies = c->cies.items;
    size_t low = 0, high = c->cies.count;
    if (high > 0 && cies[high - 1].offset == offset)
        return (uint32_t)high - 1;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (cies[mid].offset < offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low < c->cies.count && cies[low].offset == offset ? (uint32_t)low : UINT32_MAX;
}

static void read_fde(struct compiler *c, struct bytes b, uint32_t cie_index)
{
    const struct cie *cie = (struct cie *)c->cies.items + cie_index;
    uint64_t begin = take_encoded(&b, cie->pointer_encoding, address_of(c, b.p));
    uint64_t size = take_encoded(&b, cie->pointer_encoding & 0x0f, 0);
    if (cie->has_length)
        take_block(&b, take_uleb(&b));
    if (b.bad || begin < c->in->base || begin >= c->in->limit || size == 0)
        return;
    if (size > c->in->limit - begin)
        size = c->in->limit - begin;
    if (!hpcrec_area_room(&c->fdes, c->fdes.count + 1, sizeof(struct fde)))
        return;
    ((struct fde *)c->fdes.items)[c->fdes.count++] =
        (struct fde){(uint32_t)(begin - c->in->base), (uint32_t)(begin - c->in->base + size), cie_index,
                     (uint32_t)(b.p - c->in->bytes), (uint32_t)(b.end - b.p)};
}

/* One after another; common entries come before those that use them (in .debug_frame too, as linkers write it). */
static void read_entries(struct compiler *c)
{
    struct bytes all = {c->in->bytes, c->in->bytes + c->in->size, false};
    while ((size_t)(all.end - all.p) >= 4) {
        size_t offset = (size_t)(all.p - c->in->bytes);
        uint64_t length = take(&all, 4);
        bool wide = length == 0xffffffff;
        if (length == 0 && c->in->debug)
            continue;
        if (wide)
            length = take(&all, 8);
        if (length == 0)
            break;
        size_t id_at = (size_t)(all.p - c->in->bytes);
        struct bytes b = take_block(&all, length);
        uint64_t id = take(&b, wide ? 8 : 4);
        if (b.bad)
            break;
        if (c->in->debug ? id == (wide ? UINT64_MAX : 0xffffffff) : id == 0) {
            read_cie(c, b, offset);
            continue;
        }
        uint32_t cie = c->in->debug ? cie_at(c, id) : id <= id_at ? cie_at(c, id_at - id) : UINT32_MAX;
        if (cie != UINT32_MAX && ((struct cie *)c->cies.items)[cie].ok)
            read_fde(c, b, cie);
    }
}

/* ---- in order -------------------------------------------------------------------------------------------------- */

static void merge(const struct fde *from, struct fde *to, size_t left, size_t mid, size_t right)
{
    for (size_t i = left, a = left, b = mid; i < right; i++)
        to[i] = b == right || (a < mid && from[a].begin <= from[b].begin) ? from[a++] : from[b++];
}

/* Bottom up; stable. */
static bool sort_fdes(struct area *fdes)
{
    struct area other = {0};
    size_t n = fdes->count;
    bool sorted = true;
    for (size_t i = 1; i < n && sorted; i++)
        sorted = ((struct fde *)fdes->items)[i - 1].begin <= ((struct fde *)fdes->items)[i].begin;
    if (sorted)
        return true;
    if (!hpcrec_area_room(&other, n, sizeof(struct fde)))
        return false;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t left = 0; left < n; left += 2 * width) {
            size_t mid = left + width < n ? left + width : n, right = mid + width < n ? mid + width : n;
            merge(fdes->items, other.items, left, mid, right);
        }
        struct area t = *fdes;
        *fdes = other;
        other = t;
    }
    fdes->count = n;
    hpcrec_area_free(&other, sizeof(struct fde));
    return true;
}

static void run_fde(struct compiler *c, const struct fde *f, uint32_t end)
{
    const struct cie *cie = (struct cie *)c->cies.items + f->cie;
    struct run r;
    r.c = c;
    r.cie = cie;
    r.row = cie->initial;
    r.at = f->begin;
    r.end = end;
    r.emits = true;
    r.depth = 0;
    run_instructions(&r, (struct bytes){c->in->bytes + f->at, c->in->bytes + f->at + f->size, false});
    emit_up_to(&r, end);
}

static void run_all(struct compiler *c)
{
    static const struct unwind_row nothing;
    const struct fde *fdes = c->fdes.items;
    uint32_t covered = 0;
    distinct(c, &nothing);
    for (size_t i = 0; i < c->fdes.count; i++) {
        uint32_t end = fdes[i].end;
        if (i + 1 < c->fdes.count && fdes[i + 1].begin < end)
            end = fdes[i + 1].begin;
        if (fdes[i].begin > covered)
            emit(c, covered, &nothing);
        run_fde(c, &fdes[i], end);
        if (end > covered)
            covered = end;
    }
    emit(c, covered, &nothing);
}

void unwind_rows_compile(struct unwind_rows *rows, const struct unwind_section *in, enum unwind_machine machine)
{
    struct compiler c = {.in = in, .machine = machine, .reg = &unwind_numbers[machine], .rows = rows};
    *rows = (struct unwind_rows){0};
    if (in->size <= UINT32_MAX && in->limit > in->base && in->limit - in->base <= UINT32_MAX) {
        read_entries(&c);
        if (sort_fdes(&c.fdes))
            run_all(&c);
    }
    hpcrec_area_free(&c.cies, sizeof(struct cie));
    hpcrec_area_free(&c.fdes, sizeof(struct fde));
    hpcrec_area_free(&c.slots, sizeof(uint32_t));
}

const struct unwind_row *unwind_rows_find(const struct unwind_rows *rows, uint64_t offset)
{
    const uint32_t *begin = rows->begin.items;
    size_t low = 0, n = rows->begin.count;
    if (n == 0 || offset > UINT32_MAX || begin[0] > offset)
        return NULL;
    while (n > 1) { /* begin[low] <= offset, and the row is among the n from low on */
        size_t half = n / 2;
        low = begin[low + half] <= offset ? low + half : low;
        n -= half;
    }
    const struct unwind_row *row =
        (const struct unwind_row *)rows->distinct.items + ((const uint16_t *)rows->which.items)[low];
    return row->cfa.kind == UNWIND_NONE ? NULL : row;
}

void unwind_rows_free(struct unwind_rows *rows)
{
    hpcrec_area_free(&rows->begin, sizeof(uint32_t));
    hpcrec_area_free(&rows->which, sizeof(uint16_t));
    hpcrec_area_free(&rows->distinct, sizeof(struct unwind_row));
}
