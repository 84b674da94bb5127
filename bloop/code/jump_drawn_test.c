/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random indirect jumps in the forms that compilers generate: through tables, to labels, to pieces of code of equal
 * length, and out of the function.
 *
 * The entries after the end of a table are valid targets too, so that both missing and surplus entries are detected.
 */
#include "tests/fixtures/code_image.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

/* ---- tables ---- */

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, NO_REG = -1 };
enum {
    TEXT_AT = 0x1000,
    TABLE_AT = 0x5000,
    BYTES_AT = 0x5800,
    LABELS = 8,
    ENTRIES = 48,
    FUNCTIONS_MOST = 3,
    FAR_AWAY = 0x01000000,
    JOINS_SEEN_THROUGH = 4,
    LOOKED_THROUGH = 16 /* number of instructions examined between a branch and its comparison */
};

static struct dispatch {
    uint8_t text[1024], table[8 * ENTRIES + 8], bytes[ENTRIES];
    uint32_t size, labels[LABELS], head, leave_at[8], leave_count; /* leave: jumps to the default case */
    uint32_t to[ENTRIES];                                          /* of `labels` */
    uint32_t read, joins;
    uint32_t there, table_size; /* entries, and bytes, up to the end of the memory that holds the table */
    const void *large;          /* the table if it is not `table` */
    const char *writable;       /* name of its section if that is writable */
    enum {
        HALF,
        RUNS_OUT,
        CALLS,
        FAR
    } end;       /* of the code; HALF, RUNS_OUT: the target of the entry that ends the table */
    bool lost;   /* the index is unknown on one path */
    bool unread; /* more entries are missing than present */
    bool masked; /* no comparison bounds the number of entries */
    bool narrow; /* nothing is added to the index: unneeded entries are not read if the table is found late */
} t;

static void byte(uint32_t value)
{
    t.text[t.size++] = (uint8_t)value;
}

static void word(uint32_t value)
{
    for (int i = 0; i < 4; i++)
        byte(value >> 8 * i & 255);
}

/* An instruction of one or two bytes with two registers, or a register and memory. */
static void rex(bool wide, int reg, int index, int base)
{
    byte(0x40 | (uint32_t)wide << 3 | (uint32_t)(reg & 8) >> 1 | (uint32_t)(index > 0 ? index & 8 : 0) >> 2 |
         (uint32_t)(base > 0 ? base & 8 : 0) >> 3);
}

static void opcode(uint32_t code)
{
    if (code > 255)
        byte(code >> 8);
    byte(code & 255);
}

static void registers(uint32_t code, bool wide, int reg, int rm)
{
    rex(wide, reg, NO_REG, rm);
    opcode(code);
    byte(0xc0 | (uint32_t)(reg & 7) << 3 | (uint32_t)(rm & 7));
}

static void memory(uint32_t code, bool wide, int reg, int base, int index, uint32_t scale, int32_t disp)
{
    rex(wide, reg, index, base);
    opcode(code);
    byte((base == NO_REG ? 0 : 0x80) | (uint32_t)(reg & 7) << 3 | 4);
    byte((uint32_t)__builtin_ctz(scale) << 6 | (uint32_t)(index == NO_REG ? 4 : index & 7) << 3 |
         (uint32_t)(base == NO_REG ? 5 : base & 7));
    word((uint32_t)disp);
}

static void address_into(int reg, uint32_t address)
{
    rex(true, reg, NO_REG, NO_REG);
    byte(0x8d);
    byte(5 | (uint32_t)(reg & 7) << 3);
    word(address - (TEXT_AT + t.size + 4));
}

static void compare(int reg, uint32_t with)
{
    rex(false, 0, NO_REG, reg);
    byte(with < 128 && below(2) ? 0x83 : 0x81);
    bool small = t.text[t.size - 1] == 0x83;
    byte(0xf8 | (uint32_t)(reg & 7));
    if (small)
        byte(with);
    else
        word(with);
}

static void leave_if(uint32_t condition)
{
    byte(0x0f);
    byte(0x80 | condition);
    t.leave_at[t.leave_count++] = t.size;
    word(0);
}

/* Filler instructions that do not affect the registers in use. */
static void fill(void)
{
    for (uint32_t n = below(3); n > 0; n--)
        switch (below(4)) {
        case 0:
            byte(0x90);
            break;
        case 1:
            registers(0xff, false, 0, RBX); /* inc */
            break;
        case 2:
            memory(0x89, false, RBX, RBP, NO_REG, 1, -64);
            break;
        default:
            registers(0x85, true, RSI, RSI); /* test: flags */
        }
}

enum { ABOVE = 7, ABOVE_EQUAL = 3, BELOW_EQUAL = 6, BELOW = 2, GREATER = 15, LESS_EQUAL = 14 };

/* Leaves for elsewhere unless reg < n. */
static void guard(int reg, uint32_t n)
{
    uint32_t way = below(n > 1 ? 7 : 6);
    int slot = -8 * (int)(1 + below(4));
    if (way == 0) {
        byte(0x40 | (reg & 8 ? 4 : 0) | 1); /* mov $c,%r11d; cmp %r11d,reg */
        byte(0xbb);
        word(n - 1);
        rex(false, 11, NO_REG, reg);
        byte(0x39);
        byte(0xc0 | 3 << 3 | (uint32_t)(reg & 7));
        leave_if(ABOVE);
        return;
    }
    if (way == 1) { /* in memory */
        memory(0x89, false, reg, RBP, NO_REG, 1, slot);
        fill();
        memory(0x83, false, 7, RBP, NO_REG, 1, slot);
        byte(n - 1);
        leave_if(ABOVE);
        if (below(12) == 0) { /* a second load uses another frame */
            memory(0x8d, true, RBP, RBP, NO_REG, 1, 256);
            t.lost = true;
        }
        memory(0x8b, false, reg, RBP, NO_REG, 1, slot);
        return;
    }
    if (way == 2 || way == 3) { /* over the exit */
        compare(reg, way == 2 ? n - 1 : n);
        byte(0x70 | (way == 2 ? BELOW_EQUAL : BELOW));
        byte(5);
        byte(0xe9);
        t.leave_at[t.leave_count++] = t.size;
        word(0);
        return;
    }
    compare(reg, way == 4 || way == 6 ? n - 1 : n);
    uint32_t nops = below(20) ? below(2) : LOOKED_THROUGH - 1 + below(2); /* flags stay */
    t.lost |= nops >= LOOKED_THROUGH;
    while (nops-- > 0)
        byte(0x90);
    leave_if(way == 4 ? ABOVE : way == 6 ? GREATER : ABOVE_EQUAL);
}

/* Computes an index into n entries from `reg`, whose value is below n; returns its register. */
static int index_of(int reg, uint32_t *n)
{
    static const int others[] = {RCX, RDI, 8, 9};
    int other = others[below(4)];
    uint32_t k = 1 + below(3);
    switch (below(6)) {
    case 0:
        registers(0x89, below(2), reg, other); /* mov */
        return other;
    case 1:
        if (t.narrow)
            return reg;
        memory(0x8d, below(2), other, reg, NO_REG, 1,
               (int32_t)k); /* lea k(reg): reads from the first on all the same */
        *n += k;
        return other;
    case 2:
        registers(0x89, false, reg, reg);
        return reg;
    case 3:
        memory(0x89, true, reg, RSP, NO_REG, 1, 16);
        fill();
        memory(0x8b, true, other, RSP, NO_REG, 1, 16);
        return other;
    default:
        return reg;
    }
}

/* into = from + value in 32 bits, at once or in sums that overflow. */
static void add_number(int into, int from, int32_t value)
{
    if (below(4) == 0) {
        memory(0x8d, false, into, from, NO_REG, 1, INT32_MAX);
        memory(0x8d, false, into, into, NO_REG, 1, INT32_MAX);
        from = into;
        value += 2;
    }
    memory(0x8d, false, into, from, NO_REG, 1, value);
}

/* Bounds the index to values below *n; returns its register. */
static int bounded(uint32_t *n)
{
    int reg = (const int[]){RDI, RSI, 8, 10, RCX}[below(5)];
    uint32_t k = 1 + below(20), other = 1 + below(8);
    if (t.head)
        memory(0x8b, false, reg, RSI, NO_REG, 1, 4);
    if (below(3) == 0) { /* computed: the previous value of the register is irrelevant */
        if (below(2))
            guard(reg, 2);
        t.lost = false;
        registers(0x0faf, false, reg, RBX);
    }
    switch (below(7)) {
    case 0: /* and */
        *n = 2u << below(3);
        t.masked = true;
        rex(false, 0, NO_REG, reg);
        byte(0x83);
        byte(0xe0 | (uint32_t)(reg & 7));
        byte(*n - 1);
        break;
    case 1: /* less a number first */
        add_number(RAX, reg, -(int32_t)k);
        guard(RAX, *n);
        return RAX;
    case 2: /* and after that */
        guard(reg, *n + k);
        add_number(RAX, reg, -(int32_t)k);
        return RAX;
    case 3: /* the compared value is four times as large */
        memory(0x8d, false, RAX, NO_REG, reg, 4, 0);
        compare(RAX, 4 * (*n - 1) + below(4));
        leave_if(ABOVE);
        break;
    case 4: /* two paths: the larger bound applies */
        t.joins++;
        registers(0x85, false, RBX, RBX);
        byte(0x74);
        uint32_t over = t.size;
        byte(0);
        guard(reg, *n);
        byte(0xeb);
        uint32_t on = t.size;
        byte(0);
        t.text[over] = (uint8_t)(t.size - over - 1);
        if (below(6) == 0) { /* on one path the index is doubled and has no known bound */
            memory(0x8d, false, reg, NO_REG, RBX, 2, 0);
            t.lost = true;
        } else if (below(2)) {
            if (below(2)) /* an entry of another table */
                memory(0x0fb6, false, reg, NO_REG, RBX, 1, BYTES_AT);
            guard(reg, other);
        } else { /* one of them a constant */
            rex(false, 0, NO_REG, reg);
            byte(0xb8 | (uint32_t)(reg & 7));
            word(other - 1);
            if (below(2)) { /* reached by a branch that implies no bound */
                registers(0x85, false, RBX, RBX);
                byte(0x75);
                byte(1);
                byte(0xf4);
            }
        }
        t.text[on] = (uint8_t)(t.size - on - 1);
        *n = other > *n ? other : *n;
        break;
    case 5: /* the last two bits, by shifts */
        *n = 4;
        t.masked = true;
        registers(0xc1, false, 5, reg); /* shr */
        t.lost = below(8) == 0;         /* (by 32 is not at all) */
        byte(t.lost ? 32 : 30);
        break;
    default:
        guard(reg, *n);
    }
    fill();
    return index_of(reg, n);
}

/* The jump through the table, with an index in a register. */
static void jump_through(int index, uint32_t form, int base)
{
    int target = (const int[]){RAX, RDX, 11}[below(3)];
    bool outside = base == NO_REG;
    if (outside)
        base = target == RDX ? 10 : RDX;
    if (base == index)
        base = 9;
    switch (form) {
    case 0: /* jmp *T(,index,8) */
        memory(0xff, false, 4, NO_REG, index, 8, TABLE_AT);
        return;
    case 1:
        memory(0x8b, true, target, NO_REG, index, 8, TABLE_AT);
        break;
    case 2: /* from the table on, with a sign; in either order */
        if (outside)
            address_into(base, TABLE_AT);
        memory(0x63, true, target, base, index, 4, 0);
        registers(0x01, true, base, target);
        break;
    case 3: /* the same in steps */
        memory(0x8d, true, target, NO_REG, index, 4, 0);
        if (outside)
            address_into(base, TABLE_AT);
        memory(0x8b, false, target, target, base, 1, 0);
        registers(0x63, true, target, target);
        registers(0x01, true, base, target);
        break;
    case 4: /* four bytes of address */
        memory(0x8b, false, target, NO_REG, index, 4, TABLE_AT);
        break;
    default: /* a byte indexes the table, and its own bound is unknown */
        memory(0x0fb6, false, target, NO_REG, index, 1, BYTES_AT);
        memory(0x8b, true, target, NO_REG, target, 8, TABLE_AT);
    }
    fill();
    if (below(4) == 0) { /* through memory */
        memory(0x89, true, target, RBP, NO_REG, 1, -72);
        memory(0x8b, true, target, RBP, NO_REG, 1, -72);
    }
    registers(0xff, false, 4, target);
}

static void put_places(void)
{
    for (uint32_t i = 0; i < LABELS; i++) {
        t.labels[i] = t.size;
        for (uint32_t n = below(3); n > 0; n--)
            byte(0x90);
        if (t.head && below(2)) {
            byte(0xe9);
            word(t.head - (t.size + 4));
        } else
            byte(0xc3);
    }
    for (uint32_t i = 0; i < t.leave_count; i++) {
        uint32_t distance = t.size - (t.leave_at[i] + 4);
        memcpy(t.text + t.leave_at[i], &distance, 4);
    }
    if (t.narrow) /* the default case uses the table register for something else */
        address_into(12, TEXT_AT + t.labels[0]);
    byte(0xf4);
    if (t.end == CALLS) {                  /* a noreturn call: no code need follow */
        t.labels[LABELS / 2 - 1] = t.size; /* (the last that is led to) */
        byte(0xe8);
        word(0x100000);
        for (uint32_t n = below(3); n > 0; n--)
            byte(0x90);
    } else { /* where code runs out, or is half an instruction, no entry leads */
        byte(t.end == RUNS_OUT ? 0x90 : 0x0f);
        byte(t.end == RUNS_OUT ? 0x90 : 0x84);
    }
}

/* `open`: only the bytes after the entries bound their number. */
static void put_entries(uint32_t form, bool open)
{
    uint32_t size = form == 2 || form == 3 || form == 4 ? 4 : 8, from = form == 2 || form == 3 ? TABLE_AT : 0;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint32_t to = open && i == t.read ? (t.end < CALLS ? TEXT_AT + t.size - 2 - from : FAR_AWAY)
                                          : TEXT_AT + t.labels[t.to[i]] - from;
        memcpy(t.table + i * size, &to, 4);
    }
}

/* Puts the table's address in a register for all later uses: directly, by a copy, a sum or memory, or identically on
   two paths. */
static void set_base(int base)
{
    uint32_t way = below(5);
    if (way == 4) {
        registers(0x85, false, RBX, RBX);
        byte(0x74);
        byte(9);
        address_into(base, TABLE_AT);
        byte(0xeb);
        byte(7);
    }
    address_into(way == 0 || way == 4 ? base : RAX, TABLE_AT - (way == 2 ? 48 : 0));
    if (way == 1)
        registers(0x89, true, RAX, base);
    if (way == 2)
        memory(0x8d, true, base, RAX, NO_REG, 1, 48);
    if (way == 3) {
        memory(0x89, true, RAX, RBP, NO_REG, 1, -80);
        fill();
        memory(0x8b, true, base, RBP, NO_REG, 1, -80);
    }
}

static void draw_dispatch(void)
{
    uint32_t form = below(6), n = 1 + below(12);
    bool open = below(6) == 0;
    int base = NO_REG;
    t = (struct dispatch){0};
    byte(0x53); /* (a frame, so that no jump is a tail call) */
    if (form == 2 && below(2)) {
        base = 12;
        set_base(base);
        t.narrow = true;
    }
    if (base != NO_REG || below(3) == 0)
        t.head = t.size;
    if (open) {
        n = n < 2 ? 2 : n;
        if (t.head)
            memory(0x8b, false, RDI, RSI, NO_REG, 1, 4);
        jump_through(RDI, form, base);
    } else {
        int index = bounded(&n);
        for (uint32_t joins = below(3) ? 0 : below(7); joins > 0; joins--, t.joins++) { /* number of joins searched */
            registers(0x85, false, RBX, RBX);
            byte(0x74);
            byte(1);
            byte(0x90);
        }
        open = t.lost || t.joins > (t.masked ? 0 : JOINS_SEEN_THROUGH);
        n = open ? ENTRIES / 2 : n;
        jump_through(index, form, base);
    }
    t.read = form == 5 ? 2 + below(8) : n;
    for (uint32_t i = 0; i < ENTRIES; i++)
        t.to[i] = below(i < t.read ? LABELS / 2 : LABELS);
    for (uint32_t i = 0; i < ENTRIES; i++)
        t.bytes[i] = (uint8_t)below(t.read);
    t.end = below(4);
    t.there = t.read;
    t.table_size = sizeof t.table;
    if (!open && form < 5 &&
        below(6) == 0) { /* half of the entries, or two if unbounded, are before the end of memory */
        uint32_t size = form == 2 || form == 3 || form == 4 ? 4 : 8;
        t.there = below(t.read);
        t.table_size = t.there * size + below(size);
        t.unread = t.masked ? t.there < 2 : t.there == 0 || (t.read - t.there) * 2 > t.read;
    }
    put_places();
    put_entries(form, open || form == 5);
}

/* Targets of the entries that are readable. */
static void put_wanted(struct buf *out)
{
    bool led_to[LABELS] = {false};
    for (uint32_t i = 0; i < t.there; i++)
        led_to[t.to[i]] = true;
    for (uint32_t i = 0; i < LABELS; i++)
        if (led_to[i])
            buf_printf(out, " %x", t.labels[i]);
}

/* Builds the graph of the first of several functions, which are contiguous in the first section. */
static void build_several(struct image_section *memory_of, size_t count, const uint32_t *sizes, uint32_t functions,
                          struct cfg *g)
{
    static struct guarded_room edge;
    struct image im = {.arch = ARCH_X86_64, .sections = memory_of, .section_count = count};
    struct function f[FUNCTIONS_MOST];
    vaddr at = memory_of[0].addr;
    for (uint32_t i = 0; i < functions; at += sizes[i++])
        f[i] = (struct function){.begin = at, .end = at + sizes[i], .link_name = "f", .part_of = FUNCTION_NONE};
    struct function_table table = {.functions = guarded_copy(&edge, f, functions * sizeof *f), .count = functions};
    struct cfg_input in = {.image = &im, .functions = &table, .arch = arch_get(ARCH_X86_64)};
    test_site_count = 0;
    cfg_build(&in, g);
}

static void build_one(struct image_section *memory_of, size_t count, struct cfg *g)
{
    build_several(memory_of, count, (const uint32_t[]){(uint32_t)memory_of[0].size}, 1, g);
}

/* The targets of the single indirect jump in t.text, as "found of how many". */
static void put_led_to(struct buf *out, struct cfg *g)
{
    static struct guarded_room edges[3];
    struct image_section memory_of[] = {{.name = ".text",
                                         .addr = TEXT_AT,
                                         .bytes = guarded_copy(&edges[0], t.text, t.size),
                                         .size = t.size,
                                         .alloc = true,
                                         .exec = true},
                                        {.name = t.writable ? t.writable : ".rodata",
                                         .writable = t.writable != NULL,
                                         .addr = TABLE_AT,
                                         .bytes = guarded_copy(&edges[1], t.large ? t.large : t.table, t.table_size),
                                         .size = t.table_size,
                                         .alloc = true},
                                        {.name = ".rodata",
                                         .addr = BYTES_AT,
                                         .bytes = guarded_copy(&edges[2], t.bytes, sizeof t.bytes),
                                         .size = sizeof t.bytes,
                                         .alloc = true}};
    build_one(memory_of, ARRAY_SIZE(memory_of) - !!t.large, g);
    for (size_t i = 0; i < g->block_count; i++)
        for (uint32_t k = 0; g->blocks[i].last_kind == INSN_JUMP_INDIRECT && k < g->blocks[i].succ_count; k++)
            buf_printf(out, " %x", (unsigned)(g->blocks[g->succs[g->blocks[i].succ_first + k]].begin - TEXT_AT));
    buf_printf(out, " %u/%u", g->indirect_jumps - g->unresolved_jumps, g->indirect_jumps);
}

static bool led_alike(struct buf *got, struct buf *want)
{
    bool same = strcmp(got->bytes, want->bytes) == 0;
    if (!same) {
        for (uint32_t i = 0; i < t.size; i++)
            printf("%s%02x", i ? "" : "# ", t.text[i]);
        printf("\n# got%s, wanted%s\n", got->bytes, want->bytes);
    }
    buf_release(got);
    buf_release(want);
    return same;
}

static void test_tables(void)
{
    enum { ROUNDS = 4000 };
    struct cfg g = {0};
    unsigned alike = 0, round = 0;
    for (; round < ROUNDS && alike == round; round++) {
        struct buf got = {0}, want = {0};
        draw_dispatch();
        if (!t.unread)
            put_wanted(&want);
        buf_str(&want, t.unread ? " 0/1" : " 1/1");
        put_led_to(&got, &g);
        alike += led_alike(&got, &want) && g.bad_bytes == 0;
    }
    cfg_release(&g);
    CHECK_INT(alike, ROUNDS);
}

/* ---- labels, and pieces of equal length ---- */

/* Can an instruction of the function start there? Before `code`, the starts are known. */
static bool may_begin(uint64_t place, uint32_t code, const bool *starts)
{
    return place < t.size && (place >= code || starts[place]);
}

/* Threaded code with an unresolvable jump: the targets are all labels whose address the function takes, directly or in
   a table of at least two. */
static bool goes_to_labels(struct cfg *g)
{
    enum { TAKEN = 5, PLACES = 64 };
    bool starts[256] = {false}, led_to[256] = {false};
    uint32_t taken[TAKEN], count = below(TAKEN + 1), labels = 0;
    struct buf got = {0}, want = {0};
    t = (struct dispatch){.table_size = sizeof t.table};
    byte(0x53);
    starts[0] = starts[1] = true;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint64_t to = below(4) ? TEXT_AT + 48 + below(PLACES) : below(2) ? TEXT_AT + below(48) : 0;
        memcpy(t.table + 8 * i, &to, 8);
    }
    for (uint32_t i = 0; i < count; i++) {
        taken[i] =
            (const uint32_t[]){TEXT_AT, TEXT_AT + 48 + below(PLACES + 20), TEXT_AT + below(48),
                               TABLE_AT + 8 * below(ENTRIES + 1), TABLE_AT + 8 * below(ENTRIES) + below(8)}[below(5)];
        address_into((const int[]){RCX, RDX, 9}[below(3)], taken[i]);
        starts[t.size] = true;
    }
    bool through_pointer = below(4) == 0;
    if (through_pointer)
        memory(0xff, false, 4, NO_REG, NO_REG, 1, 0x7000);
    else
        memory(0xff, false, 4, RAX, NO_REG, 1, 8);
    uint32_t code = t.size;
    while (t.size < 48 + PLACES) /* whatever is led to is code */
        byte(t.size % 2 ? 0xc3 : 0x90);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t place = taken[i] - TEXT_AT, run = 0, to;
        if (may_begin(place, code, starts)) {
            led_to[place] |= place != 0;
            continue;
        }
        if (taken[i] % 8 || taken[i] < TABLE_AT)
            continue;
        for (uint64_t at = taken[i] - TABLE_AT; at + 8 <= sizeof t.table; at += 8, run++) {
            memcpy(&to, t.table + at, 8);
            if (!may_begin(to - TEXT_AT, code, starts))
                break;
        }
        for (uint64_t k = 0; run > 1 && k < run; k++) {
            memcpy(&to, t.table + (taken[i] - TABLE_AT) + 8 * k, 8);
            led_to[to - TEXT_AT] = true;
        }
    }
    for (uint32_t i = 0; i < t.size; i++)
        labels += led_to[i];
    for (uint32_t i = 0; i < t.size && labels > 1; i++)
        if (led_to[i])
            buf_printf(&want, " %x", i);
    buf_printf(&want, " %d/%d", labels > 1, labels > 1 || !through_pointer);
    put_led_to(&got, g);
    return led_alike(&got, &want);
}

/* Pieces of code of equal length: targets up to the end or to invalid code, at most 64. Not of one byte: such an index
   could be any label plus a number. */
static bool goes_to_pieces(struct cfg *g)
{
    enum { PIECES_MOST = 64 };
    uint32_t scale = 1u << below(4), pieces = 1 + below(below(3) ? 12 : 80), good = pieces;
    struct buf got = {0}, want = {0};
    t = (struct dispatch){.table_size = sizeof t.table};
    byte(0x53);
    address_into(RDX, TEXT_AT + 64);
    memory(0x8d, true, RAX, RDX, RDI, scale, 0);
    registers(0xff, false, 4, RAX);
    while (t.size < 64)
        byte(0xcc);
    uint32_t bad = below(2) ? below(pieces) : pieces;
    for (uint32_t i = 0; i < pieces; i++) {
        if (i == bad) {
            byte(0x06);
            good = i;
        }
        while ((t.size - 64) % scale != scale - 1)
            byte(0x90);
        byte(0xc3);
    }
    good = scale > 1 ? good : 0;
    for (uint32_t i = 0; i < good && i < PIECES_MOST; i++)
        buf_printf(&want, " %x", 64 + i * scale);
    buf_printf(&want, " %d/1", good > 0);
    put_led_to(&got, g);
    return led_alike(&got, &want);
}

/* ---- several jumps through few tables ---- */

/* Jumps that share two or more targets are all routed through the one with the lowest address. Tables may follow the
   code; they are not code. */
static bool joins_dispatches(struct cfg *g)
{
    enum { JUMPS = 6, TABLES = 3, BETWEEN = 0x80 };
    uint32_t jumps = 2 + below(JUMPS - 1), blocks[JUMPS], ends[JUMPS], of[JUMPS], next[JUMPS];
    bool led_to[TABLES][LABELS] = {{false}}, upwards = below(2), in_code = below(2), used[TABLES] = {false};
    uint64_t bytes = 0;
    struct buf got = {0}, want = {0};
    t = (struct dispatch){.table_size = sizeof t.table};
    byte(0xe9);
    word(0);
    for (uint32_t i = 0; i < jumps; i++) {
        blocks[i] = t.size;
        used[of[i] = below(TABLES)] = true;
        byte(0x0f);
        byte(0x84);
        next[i] = t.size;
        word(0);
        memory(0x0fb6, false, RAX, RDI, NO_REG, 1, 0);
        memory(0xff, false, 4, NO_REG, RAX, 8, 0);
        ends[i] = t.size;
    }
    for (uint32_t i = 0; i < LABELS; i++) {
        t.labels[i] = t.size;
        byte(0xc3);
    }
    for (uint32_t i = 0; i < jumps; i++) { /* each block leads to the next one, in either order; the last to the end */
        uint32_t to = upwards ? i + 1 < jumps ? blocks[i + 1] : t.size : i > 0 ? blocks[i - 1] : t.size;
        uint32_t distance = to - (next[i] + 4);
        memcpy(t.text + next[i], &distance, 4);
    }
    byte(0xf4);
    uint32_t first = blocks[upwards ? 0 : jumps - 1] - 5;
    memcpy(t.text + 1, &first, 4);
    uint32_t tables = in_code ? TEXT_AT + t.size : TABLE_AT;
    for (uint32_t i = 0; i < TABLES; i++) {
        uint32_t n = 2 + below(5), few = 1 + below(3);
        bytes += in_code && used[i] ? 8 * n : 0;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t label = below(few);
            uint64_t to = TEXT_AT + t.labels[label];
            led_to[i][label] = true;
            memcpy((in_code ? t.text + t.size : t.table) + BETWEEN * i + 8 * k, &to, 8);
        }
    }
    for (uint32_t i = 0; i < jumps; i++) {
        uint32_t table = tables + BETWEEN * of[i];
        memcpy(t.text + ends[i] - 4, &table, 4);
    }
    t.size += in_code ? TABLES * BETWEEN : 0;
    for (uint32_t i = 0; i < jumps; i++) {
        uint32_t through = i, count = 0;
        for (uint32_t k = i; k-- > 0;)
            if (memcmp(led_to[of[k]], led_to[of[i]], sizeof led_to[0]) == 0)
                through = k;
        for (uint32_t k = 0; k < LABELS; k++)
            count += led_to[of[i]][k];
        if (through != i && count > 1)
            buf_printf(&want, " %x", ends[through] - 8);
        for (uint32_t k = 0; k < LABELS && (through == i || count < 2); k++)
            if (led_to[of[i]][k])
                buf_printf(&want, " %x", t.labels[k]);
    }
    buf_printf(&want, " %u/%u", jumps, jumps);
    put_led_to(&got, g);
    return led_alike(&got, &want) && g->table_bytes == bytes;
}

/* Entries embedded in larger records: strides up to 64 bytes. A number that is not multiplied is not an index. */
static bool finds_steps(struct cfg *g)
{
    enum { STEP_MOST = 64 };
    uint32_t times = 1u << below(5), step = 8 * times, n = 1 + below((sizeof t.table - 8) / step);
    bool alone = below(6) == 0, known = !alone && step <= STEP_MOST;
    struct buf got = {0}, want = {0};
    t = (struct dispatch){.table_size = sizeof t.table};
    byte(0x53);
    memory(0x0fb6, false, RAX, RDI, NO_REG, 1, 0);
    compare(RAX, n - 1);
    leave_if(ABOVE);
    memory(0x8d, true, RCX, NO_REG, RAX, times > 8 ? 8 : times, 0);
    if (times > 8)
        memory(0x8d, true, RCX, NO_REG, RCX, times / 8, 0);
    memory(0xff, false, 4, alone ? RAX : NO_REG, alone ? NO_REG : RCX, alone ? 1 : 8, TABLE_AT);
    put_places();
    t.there = known ? n : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t to = TEXT_AT + t.labels[t.to[i] = below(LABELS)];
        memcpy(t.table + step * i, &to, 8);
    }
    put_wanted(&want);
    buf_printf(&want, " %d/1", known);
    put_led_to(&got, g);
    return led_alike(&got, &want);
}

/* An index bounded only by its size. Signed or wider indices are not bounded. */
static void test_sizes(void)
{
    enum { LONG = 300, BYTE = 256, LABELS_AT = 64, INNER_AT = 0x7000 };
    static const struct {
        const char *name;
        uint32_t load, narrow; /* instructions: load from memory, then narrow in the register; 0: none */
        bool from_table, wide;
        uint32_t count, shift;
    } cases[] = {
        {"a byte", 0x0fb6, 0, false, false, BYTE, 0},
        {"a byte with a sign", 0x0fbe, 0, false, false, LONG, 0},
        {"two bytes", 0x0fb7, 0, false, false, LONG, 0},
        {"two bytes with a sign", 0x0fbf, 0, false, false, LONG, 0},
        {"four bytes", 0x8b, 0, false, false, LONG, 0},
        {"eight bytes", 0x8b, 0, false, true, LONG, 0},
        {"four bytes, of which one", 0x8b, 0x0fb6, false, false, BYTE, 0},
        {"four bytes, of which one with a sign", 0x8b, 0x0fbe, false, false, LONG, 0},
        {"four bytes, of which two", 0x8b, 0x0fb7, false, false, LONG, 0},
        {"two bytes, of which one", 0x0fb7, 0x0fb6, false, false, BYTE, 0},
        {"a byte, of which two", 0x0fb6, 0x0fb7, false, false, BYTE, 0},
        {"a byte of a table", 0x0fb6, 0, true, false, BYTE, 0},
        {"a byte with a sign of a table", 0x0fbe, 0, true, false, LONG, 0},
        {"two bytes of a table", 0x0fb7, 0, true, false, LONG, 0},
        {"four bytes of a table", 0x8b, 0, true, false, LONG, 0},
        {"a byte of a table, of which two", 0x0fb6, 0x0fb7, true, false, BYTE, 0},
        {"two bytes without the last eight bits", 0x0fb7, 0, false, false, BYTE, 8},
        {"two bytes without the last seven bits", 0x0fb7, 0, false, false, LONG, 7},
        {"two bytes of a table without the last eight bits", 0x0fb7, 0, true, false, BYTE, 8},
        {"two bytes of a table without the last seven bits", 0x0fb7, 0, true, false, LONG, 7},
        {"four bytes without the last 24 bits", 0x8b, 0, false, false, BYTE, 24},
        {"four bytes without the last 23 bits", 0x8b, 0, false, false, LONG, 23},
        {"four bytes, of which two without the last eight bits", 0x8b, 0x0fb7, false, false, BYTE, 8},
    };
    static uint64_t table[LONG + 1];
    struct cfg g = {0};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        t = (struct dispatch){.table_size = sizeof t.table};
        byte(0x53);
        memory(cases[i].load, cases[i].wide, RAX, cases[i].from_table ? NO_REG : RDI,
               cases[i].from_table ? RDI : NO_REG, 1, cases[i].from_table ? INNER_AT : 0);
        if (cases[i].narrow)
            registers(cases[i].narrow, false, RAX, RAX);
        if (cases[i].shift) {
            registers(0xc1, false, 5, RAX);
            byte(cases[i].shift);
        }
        memory(0xff, false, 4, NO_REG, RAX, 8, TABLE_AT);
        while (t.size < LABELS_AT + 2)
            byte(t.size < LABELS_AT ? 0xcc : 0xc3);
        for (uint32_t k = 0; k < LONG; k++) /* the entries after the range of a byte have other targets */
            table[k] = TEXT_AT + LABELS_AT + (k >= BYTE);
        struct image_section memory_of[] = {
            {.name = ".text", .addr = TEXT_AT, .bytes = t.text, .size = t.size, .alloc = true, .exec = true},
            {.name = ".rodata", .addr = TABLE_AT, .bytes = (uint8_t *)table, .size = sizeof table, .alloc = true},
            {.name = ".rodata", .addr = INNER_AT, .bytes = (uint8_t *)table, .size = sizeof table, .alloc = true}};
        build_one(memory_of, ARRAY_SIZE(memory_of), &g);
        CHECK_INT(g.unresolved_jumps, 0);
        if (!tap_result(g.block_count == 1u + 1 + (cases[i].count > BYTE), cases[i].name, __FILE__, __LINE__))
            printf("# %zu blocks\n", (size_t)g.block_count);
    }
    cfg_release(&g);
}

/* Tables larger than compilers make them. */
enum { LARGEST = 65536, LARGE_LABELS_AT = 128, LARGE_APART = 16 };
enum large_way { GUARDED, JOINED, CONSTANT, OPEN, TAKEN };

/* The index is below 8, or goes around that and is below `values` or a number. */
static void put_large_bound(enum large_way way, uint32_t values)
{
    uint32_t over = 0;
    if (way == JOINED || way == CONSTANT) {
        registers(0x85, false, RBX, RBX);
        byte(0x74);
        byte(0);
        over = t.size;
        compare(RAX, 7);
        leave_if(ABOVE);
        byte(0xeb);
        byte(0);
        t.text[over - 1] = (uint8_t)(t.size - over);
        over = t.size;
    }
    if (way == CONSTANT) {
        byte(0xb8);
        word(values - 1);
    }
    if (way == GUARDED || way == JOINED) {
        compare(RAX, values - 1);
        leave_if(ABOVE);
    }
    if (over)
        t.text[over - 1] = (uint8_t)(t.size - over);
}

static void put_large_dispatch(enum large_way way, uint32_t values)
{
    byte(0x53);
    put_large_bound(way, values);
    if (way == TAKEN)
        address_into(RCX, TABLE_AT);
    memory(0xff, false, 4, way == TAKEN ? RSI : NO_REG, RAX, 8, way == TAKEN ? 0 : TABLE_AT);
    while (t.size < LARGE_LABELS_AT + 3 * LARGE_APART)
        byte(t.size < LARGE_LABELS_AT ? 0xcc : t.size % LARGE_APART ? 0x90 : 0xc3);
    for (uint32_t k = 0; k < t.leave_count; k++) {
        uint32_t distance = LARGE_LABELS_AT - (t.leave_at[k] + 4);
        memcpy(t.text + t.leave_at[k], &distance, 4);
    }
}

/* The last readable entry leads to the second label, and the one after it to the third. */
static void test_large(void)
{
    enum { HOLE = 100 };
    static const struct {
        const char *name;
        enum large_way way;
        uint32_t values; /* that the index may have */
        bool hole;       /* an entry with an invalid target ends an unbounded table */
        const char *led_to;
    } cases[] = {
        {"as many as there may be", GUARDED, LARGEST, true, " 80 90 1/1"},
        {"one more", GUARDED, LARGEST + 1, true, " 80 1/1"},
        {"as many, on one of two ways", JOINED, LARGEST, true, " 80 90 1/1"},
        {"one more, on one of two ways", JOINED, LARGEST + 1, true, " 80 1/1"},
        {"as many, by a number", CONSTANT, LARGEST, true, " 80 90 1/1"},
        {"one more, by a number", CONSTANT, LARGEST + 1, true, " 80 1/1"},
        {"nobody says how many", OPEN, 0, false, " 80 90 1/1"},
        {"labels in a table", TAKEN, 0, false, " 80 90 1/1"},
    };
    uint64_t *table = mem_alloc((LARGEST + 2) * sizeof *table);
    struct cfg g = {0};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf got = {0};
        t = (struct dispatch){.table_size = (LARGEST + 2) * sizeof *table, .large = table};
        put_large_dispatch(cases[i].way, cases[i].values);
        for (uint32_t k = 0; k < LARGEST + 2; k++)
            table[k] = TEXT_AT + LARGE_LABELS_AT + LARGE_APART * ((k + 1 >= LARGEST) + (k >= LARGEST));
        if (cases[i].hole)
            table[HOLE] = FAR_AWAY;
        put_led_to(&got, &g);
        tap_str(got.bytes, cases[i].led_to, cases[i].name, __FILE__, __LINE__);
        buf_release(&got);
    }
    cfg_release(&g);
    mem_free(table);
}

/* The bound may be set up to 200 instructions before the load. */
static void test_far_bound(void)
{
    enum { FURTHEST = 200, READ = 3 };
    struct cfg g = {0};
    for (uint32_t far = FURTHEST - 2; far < FURTHEST + 2; far++) {
        struct buf got = {0};
        t = (struct dispatch){.table_size = sizeof t.table};
        byte(0x53);
        compare(RDI, READ - 1);
        leave_if(ABOVE);
        for (uint32_t i = 0; i < far; i++)
            byte(0x90);
        memory(0xff, false, 4, NO_REG, RDI, 8, TABLE_AT);
        for (uint32_t i = 0; i <= READ; i++) {
            t.labels[i] = t.size;
            byte(0xc3);
        }
        uint32_t distance = t.size - (t.leave_at[0] + 4);
        memcpy(t.text + t.leave_at[0], &distance, 4);
        byte(0xf4);
        for (uint32_t i = 0; i <= READ; i++) {
            uint64_t to = TEXT_AT + t.labels[i];
            memcpy(t.table + 8 * i, &to, 8);
        }
        put_led_to(&got, &g);
        if (!tap_result((strlen(got.bytes) - strlen(" 1/1")) / strlen(" xx") == (far < FURTHEST ? READ : READ + 1),
                        "bounds are looked for so far in front", __FILE__, __LINE__))
            printf("# %u:%s\n", far, got.bytes);
        buf_release(&got);
    }
    cfg_release(&g);
}

/* A constant index: the single entry, if the table is not written. */
static void test_constants(void)
{
    enum { FOURTH = 4, PLACES_AT = 32, NOWHERE = 0x20000 };
    static const struct {
        const char *name;
        uint32_t number;
        const char *widen; /* how it is widened; then the same for the entry */
        uint32_t widen_size;
        bool four, sign; /* bytes of an entry */
        uint32_t table;
        const char *writable;
        int entry; /* -1: none */
    } cases[] = {
        {"as it is", 3, "", 0, false, false, TABLE_AT, NULL, 3},
        {"below zero", -2u, "\x48\x63\xc0", 3, false, false, TABLE_AT + 8 * FOURTH, NULL, 2},
        {"no sign: far behind", -2u, "", 0, false, false, TABLE_AT + 8 * FOURTH, NULL, -1},
        {"a byte", 0x103, "\x0f\xb6\xc0", 3, false, false, TABLE_AT, NULL, 3},
        {"a byte with a sign", 0x1ff, "\x48\x0f\xbe\xc0", 4, false, false, TABLE_AT + 8 * FOURTH, NULL, 3},
        {"two bytes", 0x10002, "\x0f\xb7\xc0", 3, false, false, TABLE_AT, NULL, 2},
        {"two bytes with a sign", 0x1fffd, "\x48\x0f\xbf\xc0", 4, false, false, TABLE_AT + 8 * FOURTH, NULL, 1},
        {"entries of four bytes", 2, "", 0, true, false, TABLE_AT, NULL, 2},
        {"entries of four bytes with a sign", 1, "", 0, true, true, TABLE_AT, NULL, 1},
        {"where no memory is", 1, "", 0, false, false, NOWHERE, NULL, -1},
        {"the last bytes of memory", 15, "", 0, false, false, TABLE_AT, NULL, 15},
        {"behind them", 16, "", 0, false, false, TABLE_AT, NULL, -1},
        {"of four bytes behind them", 32, "", 0, true, false, TABLE_AT, NULL, -1},
        {"may be written", 1, "", 0, false, false, TABLE_AT, ".data", -1},
        {"is written by the loader alone", 1, "", 0, false, false, TABLE_AT, ".data.rel.ro.local", 1},
    };
    struct cfg g = {0};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf got = {0}, want = {0};
        t = (struct dispatch){.table_size = 16 * 8, .writable = cases[i].writable};
        byte(0x53);
        byte(0xb8);
        word(cases[i].number);
        memcpy(t.text + t.size, cases[i].widen, cases[i].widen_size);
        t.size += cases[i].widen_size;
        memory(cases[i].sign ? 0x63 : 0x8b, cases[i].sign || !cases[i].four, RAX, NO_REG, RAX, cases[i].four ? 4 : 8,
               (int32_t)cases[i].table);
        registers(0xff, false, 4, RAX);
        while (t.size < PLACES_AT + 32)
            byte(t.size < PLACES_AT ? 0xcc : 0xc3);
        for (uint32_t k = 0; k < 128 / (cases[i].four ? 4 : 8); k++) {
            uint64_t to = TEXT_AT + PLACES_AT + k;
            memcpy(t.table + (cases[i].four ? 4 : 8) * k, &to, cases[i].four ? 4 : 8);
        }
        if (cases[i].entry >= 0)
            buf_printf(&want, " %x", PLACES_AT + cases[i].entry);
        buf_str(&want, cases[i].entry >= 0 ? " 1/1" : " 0/1");
        put_led_to(&got, &g);
        tap_str(got.bytes, want.bytes, cases[i].name, __FILE__, __LINE__);
        buf_release(&got);
        buf_release(&want);
    }
    cfg_release(&g);
}

/* The work for one jump is limited: an index whose bound is set too far back is unbounded. */
static void test_steps(void)
{
    enum { FEW = 3900, MANY = 4100, READ = 4, MOST = 6, LABELS_BEHIND = 32 };
    struct cfg g = {0};
    for (int many = 0; many < 2; many++) {
        uint32_t between = many ? MANY : FEW, size = 0;
        uint8_t *text = mem_alloc(between + 64 + LABELS_BEHIND);
        uint64_t table[MOST + 1];
        memcpy(text, "\x53\x83\xe0\x03", 4); /* push; and $3,%eax */
        memset(text + 4, 0x90, between);
        size = 4 + between;
        memcpy(text + size, "\xff\x24\xc5\x00\x50\x00\x00", 7); /* jmp *TABLE_AT(,%rax,8) */
        size += 7;
        memset(text + size, 0xc3, MOST);
        for (uint32_t i = 0; i <= MOST; i++)
            table[i] = i < MOST ? TEXT_AT + size + i : 0;
        size += MOST;
        struct image_section memory_of[] = {
            {.name = ".text", .addr = TEXT_AT, .bytes = text, .size = size, .alloc = true, .exec = true},
            {.name = ".rodata", .addr = TABLE_AT, .bytes = (uint8_t *)table, .size = sizeof table, .alloc = true}};
        build_one(memory_of, ARRAY_SIZE(memory_of), &g);
        CHECK_INT(g.unresolved_jumps, 0);
        CHECK_INT(g.block_count, 1 + (many ? MOST : READ));
        mem_free(text);
    }
    cfg_release(&g);
}

/* A table ends at an object whose address a following function takes; only a limited number of its bytes is scanned. */
static void test_neighbours(void)
{
    enum { LOOKED_AT = 16384, ENDS = 3, THERE = 6, MAKES = 7, CODE_AT = 0x10000 };
    static const struct {
        const char *name;
        uint32_t first, at; /* bytes of the next function; offset at which it takes the address */
        bool seen;
    } cases[] = {
        {"the first instruction of the next one", 100, 0, true},
        {"one in its middle", 100, 41, true},
        {"the last bytes that are looked at", 2 * LOOKED_AT, LOOKED_AT - MAKES, true},
        {"behind what is looked at", 2 * LOOKED_AT, LOOKED_AT, false},
        {"the function after that", 100, 100, true},
        {"the function after a large one", LOOKED_AT - 1, LOOKED_AT - 1, true},
        {"the function after one that is too large", LOOKED_AT, LOOKED_AT, false},
    };
    uint64_t table[THERE + 1] = {0};
    t = (struct dispatch){0};
    byte(0x53);
    memory(0x0fb6, false, RAX, RDI, NO_REG, 1, 0);
    memory(0xff, false, 4, NO_REG, RAX, 8, TABLE_AT);
    for (uint32_t i = 0; i < THERE; i++) {
        table[i] = CODE_AT + t.size;
        byte(0xc3);
    }
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        static uint8_t text[3 * LOOKED_AT];
        struct cfg g = {0};
        const uint32_t own = t.size, size = own + cases[i].first + 100, here = own + cases[i].at;
        const uint32_t distance = TABLE_AT + 8 * ENDS - (CODE_AT + here + MAKES);
        memcpy(text, t.text, own);
        memset(text + own, 0x90, size - own);
        memcpy(text + here, "\x48\x8d\x15", 3); /* lea into the table,%rdx */
        memcpy(text + here + 3, &distance, 4);
        struct image_section memory_of[] = {
            {.name = ".text", .addr = CODE_AT, .bytes = text, .size = size, .alloc = true, .exec = true},
            {.name = ".rodata", .addr = TABLE_AT, .bytes = (uint8_t *)table, .size = sizeof table, .alloc = true}};
        build_several(memory_of, ARRAY_SIZE(memory_of), (const uint32_t[]){own, cases[i].first, 100}, 3, &g);
        if (!tap_result(g.block_count == 1 + (cases[i].seen ? ENDS : THERE), cases[i].name, __FILE__, __LINE__))
            printf("# %zu blocks\n", (size_t)g.block_count);
        cfg_release(&g);
    }
}

/* A limited number of instructions is examined at each target of an unbounded table. */
static void test_far_end(void)
{
    enum { FURTHEST = 200, GOOD = 2 };
    struct cfg g = {0};
    for (uint32_t far = FURTHEST - 2; far < FURTHEST + 2; far++) {
        struct buf got = {0};
        t = (struct dispatch){.table_size = sizeof t.table};
        byte(0x53);
        memory(0x8b, false, RDI, RSI, NO_REG, 1, 4);
        memory(0xff, false, 4, NO_REG, RDI, 8, TABLE_AT);
        for (uint32_t i = 0; i <= GOOD; i++) {
            uint64_t to = TEXT_AT + t.size + i;
            memcpy(t.table + 8 * i, &to, 8);
        }
        for (uint32_t i = 0; i < GOOD; i++)
            byte(0xc3);
        for (uint32_t i = 0; i < far; i++)
            byte(0x90);
        byte(0x06);
        put_led_to(&got, &g);
        if (!tap_result((strlen(got.bytes) - strlen(" 1/1")) / strlen(" xx") == GOOD + (far >= FURTHEST),
                        "so much is looked at of where an entry leads", __FILE__, __LINE__))
            printf("# %u:%s\n", far, got.bytes);
        buf_release(&got);
    }
    cfg_release(&g);
}

/* An interpreter in which many pieces end in a jump to any piece: no edge is stored for each pair. */
static void test_threaded(void)
{
    enum { PIECES = 16384, PIECE = 64, FIRST = 16, POINTERS_AT = 0x200000 };
    uint64_t *table = mem_alloc(PIECES * sizeof *table);
    uint8_t *text = mem_alloc(FIRST + PIECES * PIECE);
    struct cfg g = {0};
    t = (struct dispatch){0};
    byte(0x53);
    address_into(RCX, POINTERS_AT);
    memset(text, 0xcc, FIRST + PIECES * PIECE);
    memcpy(text, t.text, t.size);
    memcpy(text + t.size, "\xff\x26", 2); /* jmp *(%rsi) */
    for (uint32_t i = 0; i < PIECES; i++) {
        table[i] = TEXT_AT + FIRST + PIECE * i;
        memcpy(text + FIRST + PIECE * i, "\xff\x26", 2);
    }
    struct image_section memory_of[] = {
        {.name = ".text", .addr = TEXT_AT, .bytes = text, .size = FIRST + PIECES * PIECE, .alloc = true, .exec = true},
        {.name = ".rodata", .addr = POINTERS_AT, .bytes = (uint8_t *)table, .size = PIECES * 8, .alloc = true}};
    build_one(memory_of, ARRAY_SIZE(memory_of), &g);
    CHECK_INT(g.indirect_jumps, PIECES + 1);
    CHECK_INT(g.unresolved_jumps, 0);
    CHECK_INT(g.block_count, PIECES + 2); /* the code before the first jump, the jumps */
    CHECK_INT(g.succ_count, 2 * PIECES + 1);
    cfg_release(&g);
    mem_free(text);
    mem_free(table);
}

/* ---- a base that is lost ---- */

/* Offsets from a label whose register differs between paths: the label is the last one assigned before the jump, or
   otherwise the first one after it. Assignments to other registers are ignored. */
static bool finds_lost_base(struct cfg *g)
{
    enum { LABELS_AT = 256, APART = 16, BASE = 12 };
    uint32_t front = below(4), behind = below(3) + (front == 0), n = 1 + below(6), base = LABELS;
    struct buf got = {0}, want = {0};
    t = (struct dispatch){.table_size = sizeof t.table};
    for (uint32_t i = 0; i < LABELS; i++)
        t.labels[i] = LABELS_AT + APART * i;
    byte(0x53);
    for (uint32_t i = 0; i < front; i++) {
        registers(0x85, false, RBX, RBX);
        byte(0x74);
        byte(7);
        address_into(BASE, TEXT_AT + t.labels[base = below(LABELS)]);
        if (below(2))
            address_into(RDX, TEXT_AT + t.labels[below(LABELS)]);
    }
    memory(0x0fb6, false, RAX, RDI, NO_REG, 1, 0);
    compare(RAX, n - 1);
    leave_if(ABOVE);
    memory(0x63, true, RCX, NO_REG, RAX, 4, TABLE_AT);
    registers(0x01, true, BASE, RCX);
    registers(0xff, false, 4, RCX);
    uint32_t distance = t.size - (t.leave_at[0] + 4);
    memcpy(t.text + t.leave_at[0], &distance, 4);
    if (below(2))
        address_into(RDX, TEXT_AT + t.labels[below(LABELS)]);
    for (uint32_t i = 0; i < behind; i++) {
        uint32_t label = below(LABELS);
        address_into(BASE, TEXT_AT + t.labels[label]);
        base = base < LABELS ? base : label;
    }
    byte(0xc3);
    while (t.size < LABELS_AT + APART * LABELS)
        byte(t.size % APART == 2 ? 0xc3 : 0x90);
    t.there = n;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint32_t to = t.labels[t.to[i] = below(LABELS)] - t.labels[base];
        memcpy(t.table + 4 * i, &to, 4);
    }
    put_wanted(&want);
    buf_str(&want, " 1/1");
    put_led_to(&got, g);
    return led_alike(&got, &want);
}

/* ---- all of these ---- */

static void test_others(void)
{
    enum { ROUNDS = 2000 };
    struct cfg g = {0};
    unsigned labels = 0, pieces = 0, joined = 0, based = 0, stepped = 0, round = 0;
    for (;
         round < ROUNDS && labels == round && pieces == round && joined == round && based == round && stepped == round;
         round++) {
        joined += joins_dispatches(&g);
        labels += goes_to_labels(&g);
        pieces += goes_to_pieces(&g);
        based += finds_lost_base(&g);
        stepped += finds_steps(&g);
    }
    cfg_release(&g);
    CHECK_INT(labels, ROUNDS);
    CHECK_INT(pieces, ROUNDS);
    CHECK_INT(joined, ROUNDS);
    CHECK_INT(based, ROUNDS);
    CHECK_INT(stepped, ROUNDS);
}

/* ---- frames ---- */

/* A jump with unknown target is a tail call if the stack depth equals that at the entry, computed by summing the pushes
   and pops. */
enum { STEPS_MOST = 300, LOOKED_BACK = 32, WAYS_MOST = 64 };

static struct step {
    const char *bytes;
    uint32_t size;
    int added; /* to the stack pointer */
    bool calls, from_frame, lost;
    int over; /* a branch over this many following steps, which do not change the stack; 0: none */
} const steps_known[] = {{"\x53", 1, -8, false, false, false, 0},                /* push %rbx */
                         {"\x48\x83\xec\x10", 4, -16, false, false, false, 0},   /* sub $16,%rsp */
                         {"\x5b", 1, 8, false, false, false, 0},                 /* pop %rbx */
                         {"\x48\x83\xc4\x10", 4, 16, false, false, false, 0},    /* add $16,%rsp */
                         {"\x48\x8d\x64\x24\x08", 5, 8, false, false, false, 0}, /* lea 8(%rsp),%rsp */
                         {"\xff\xd1", 2, 0, true, false, false, 0},              /* call *%rcx */
                         {"\xff\xc6", 2, 0, false, false, false, 0},             /* inc %esi */
                         {"\xff\xc6", 2, 0, false, false, false, 0},             /* the same again */
                         {"\xc9", 1, 8, false, true, true, 0},                   /* leave */
                         {"\x48\x8d\x65\xf0", 4, -16, false, true, true, 0},     /* lea -16(%rbp),%rsp */
                         {"\x48\x83\xe4\xf0", 4, 0, false, false, true, 0}};     /* and $-16,%rsp */

static bool gives_back(const struct step *s)
{
    return s->added > 0 || s->lost;
}

static bool taken_down(const struct step *steps, int count)
{
    int last = count - 1;
    while (last >= 0 && steps[last].added == 0 && !steps[last].lost && !steps[last].calls)
        last--;
    if (last < 0 || count - last > LOOKED_BACK || steps[last].added < 0 || steps[last].calls)
        return false;
    while (last >= 0 && gives_back(&steps[last]))
        last--;
    return last < 0 || !steps[last].calls;
}

/* The branch that targets the step after `last`; -1: none. */
static int branch_behind(const struct step *steps, int last)
{
    for (int i = 0; i <= last; i++)
        if (steps[i].over && i + steps[i].over == last)
            return i;
    return -1;
}

/* Code that is branched over need not be examined; the search stops where too many paths join. */
static bool is_tail_call(const struct step *steps, int count)
{
    int added = 0, ways = 0;
    for (int i = count - 1; i >= 0; i--) {
        int branch = branch_behind(steps, i);
        if (branch >= 0 && (ways += 2) > WAYS_MOST)
            return taken_down(steps, count);
        i = branch < 0 ? i : branch;
        added += steps[i].added;
        if (steps[i].lost)
            return steps[i].from_frame && added == 8;
    }
    return added == 0 || taken_down(steps, count);
}

/* A branch over some that leave the stack as it is. */
static int put_way_around(struct step *steps)
{
    int count = 1;
    for (uint32_t n = 1 + below(2); n > 0; n--) {
        uint32_t what = below(3);
        if (what < 2) {
            steps[count++] = steps_known[what];
            steps[count++] = steps_known[2 + what];
        } else {
            steps[count++] = steps_known[6];
        }
    }
    steps[0] = (struct step){.bytes = "\x74", .size = 2, .over = count - 1};
    return count;
}

static int draw_steps(struct step *steps)
{
    uint32_t known = below(4) ? 8 : ARRAY_SIZE(steps_known), around = below(2) ? below(16) : 0;
    int count = 0, wanted = (int)below(10);
    while (count < wanted)
        if (below(16) < around)
            count += put_way_around(steps + count);
        else
            steps[count++] = steps_known[below(known)];
    for (uint32_t n = below(16) ? 0 : WAYS_MOST / 2 - 1 + below(3); n > 0; n--)
        count += put_way_around(steps + count);
    for (uint32_t n = below(3) ? 0 : 28 + below(10); n > 0; n--) /* then a long stretch without effect on the stack */
        steps[count++] = steps_known[6];
    return count;
}

static uint32_t put_steps(uint8_t *text, const struct step *steps, int count)
{
    uint32_t size = 0;
    for (int i = 0; i < count; size += steps[i++].size) {
        memcpy(text + size, steps[i].bytes, steps[i].size);
        for (int k = 1; k <= steps[i].over; k++)
            text[size + 1] = (uint8_t)(text[size + 1] + steps[i + k].size);
    }
    memcpy(text + size, "\xff\xe0", 2); /* jmp *%rax */
    return size + 2;
}

static void test_frames(void)
{
    enum { ROUNDS = 4000 };
    struct cfg g = {0};
    unsigned right = 0, tails = 0, round = 0;
    for (; round < ROUNDS && right == round; round++) {
        struct step steps[STEPS_MOST];
        uint8_t text[8 * STEPS_MOST];
        int count = draw_steps(steps);
        uint32_t size = put_steps(text, steps, count);
        struct image_section code = {
            .name = ".text", .addr = TEXT_AT, .bytes = text, .size = size, .alloc = true, .exec = true};
        build_one(&code, 1, &g);
        bool tail = is_tail_call(steps, count);
        tails += tail;
        right += g.indirect_jumps == !tail && g.unresolved_jumps == !tail;
        if (right != round + 1) {
            printf("# %stail call, %u/%u:", tail ? "" : "no ", g.unresolved_jumps, g.indirect_jumps);
            for (uint32_t i = 0; i < size; i++)
                printf("%02x", text[i]);
            printf("\n");
        }
    }
    cfg_release(&g);
    CHECK(tails > ROUNDS / 10);
    CHECK_INT(right, ROUNDS);
}

int main(void)
{
    RUN(test_tables);
    RUN(test_others);
    RUN(test_sizes);
    RUN(test_large);
    RUN(test_far_bound);
    RUN(test_far_end);
    RUN(test_neighbours);
    RUN(test_threaded);
    RUN(test_constants);
    RUN(test_steps);
    RUN(test_frames);
    return tap_done();
}
