/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random sources of functions (symbols, unwind entries, stubs, entry points), compared with a naive table built address
 * by address.
 */
#include "bloop/functions/functions_int.h"
#include "bloop/image/image.h"
#include "bloop/image/elf.h"
#include "tests/chance.h"
#include "tests/tap.h"

enum {
    BASE = 0x1000,
    SPACE = 0x400,
    SYMBOLS = 60,
    FDES = 12,
    STUBS = 6,
    SLOTS_AT = 0x8000,
    NONE = -1,
    NAME_BYTES = 32
};
enum { TEXT, MORE, DATA, PLT, EXTERNAL, INIT, FINI, ARRAY, LAST_ARRAY, SECTIONS };

/* ---- random input ---- */

static struct drawn {
    struct image image;
    struct image_private priv;
    struct elf_file file;
    struct image_section sections[SECTIONS];
    uint32_t by_addr[SECTIONS];
    struct image_symbol symbols[SYMBOLS + 1];
    struct fde_list fdes;
    uint8_t bytes[SPACE];
    struct stub {
        int at; /* where it begins */
        const char *name;
    } stubs[STUBS + 1];
    int stub_count;
} d;

static const char *const names[] = {"f",     "_f",      "__f", "g",    "h",  "f.cold", "g.cold.3", "f.__part.2",
                                    ".cold", "g.coldx", "$x",  "$d.1", "$q", "$x1",    "_h",       "h.cold"};
static const char *const slot_names[] = {"puts", "exit", "", "free"};

static void set_section(int i, const char *name, uint32_t at, uint32_t size, bool exec, bool has_bytes)
{
    d.sections[i] = (struct image_section){name, BASE + at, size, has_bytes ? d.bytes + at : NULL, true, exec, false};
    d.by_addr[i] = (uint32_t)i;
}

static void draw_sections(void)
{
    uint32_t text = 0x80 + below(0x80);
    set_section(TEXT, ".text", 0, text, true, true);
    set_section(MORE, ".text.more", text, 0x180 - text, true, below(4) > 0);
    set_section(DATA, ".rodata", 0x180, 0x40, false, true);
    set_section(PLT, (const char *[]){".plt", ".plt.sec", ".iplt", ".plt.bnd"}[below(4)], 0x1c0, 0x60, true, true);
    set_section(EXTERNAL, "[external]", 0x220, 0x40, false, false);
    set_section(INIT, ".init", 0x260, 16, below(4) > 0, below(4) > 0);
    set_section(FINI, ".fini", 0x270, 16, below(4) > 0, below(4) > 0);
    set_section(ARRAY, below(2) ? ".init_array" : ".preinit_array", 0x280, 8 * below(5) + below(8), false,
                below(4) > 0);
    set_section(LAST_ARRAY, ".fini_array", 0x2c0, 8 * below(3) + below(8), false, true);
}

static int symbols_by_place(const void *a, const void *b)
{
    const struct image_symbol *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    int rank_x = x->global ? 0 : x->weak ? 1 : 2, rank_y = y->global ? 0 : y->weak ? 1 : 2;
    return rank_x != rank_y ? rank_x - rank_y : strcmp(x->name, y->name);
}

/* Close together, so that they overlap; mostly at few addresses, or at many. */
static void draw_symbols(void)
{
    size_t n = 0, wanted = below(3) ? below(12) : below(SYMBOLS);
    uint32_t step = 1 + below(8), in_blob = below(3) == 0;
    if (in_blob)
        d.symbols[n++] = (struct image_symbol){
            .addr = BASE + below(8), .size = 0x20 + below(0x80), .name = "blob", .kind = SYM_FUNC, .global = true};
    while (n < wanted) {
        struct image_symbol *s = &d.symbols[n++];
        uint32_t binding = below(4);
        const struct image_symbol *other = &d.symbols[below((uint32_t)n)];
        *s = (struct image_symbol){.addr = BASE + below(below(4) ? 0x180 / step : 0x260 / step) * step,
                                   .size = below(4) == 0    ? 0
                                           : below(20) == 0 ? UINT64_MAX - below(100)
                                                            : 1 + below(in_blob ? 12 : 40),
                                   .name = names[below(ARRAY_SIZE(names))],
                                   .kind = (uint8_t)(below(2) ? SYM_FUNC : below(4)),
                                   .global = binding == 0,
                                   .weak = binding == 1,
                                   .dynamic = below(4) == 0,
                                   .source = binding > 1 ? below(3) : 0};
        if (below(4) == 0 && other->size < 0x80 && other->addr + other->size < BASE + 0x180)
            s->addr = other->addr + other->size; /* the end of another symbol */
    }
    qsort(d.symbols, n, sizeof *d.symbols, symbols_by_place);
    /* After the last: must not be read. */
    d.symbols[n] = (struct image_symbol){
        .addr = BASE + 0x17f, .size = 1, .name = "nobody", .kind = (uint8_t)(below(2) ? SYM_OBJECT : SYM_FUNC)};
    d.image.symbols = d.symbols;
    d.image.symbol_count = n;
}

static int fdes_by_place(const void *a, const void *b)
{
    const struct fde *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static void draw_fdes(void)
{
    static const int exec[] = {TEXT, TEXT, MORE, PLT};
    for (uint32_t n = below(FDES); n > 0; n--) {
        const struct image_section *s = &d.sections[exec[below(4)]];
        vaddr begin = s->addr + below((uint32_t)s->size), left = s->addr + s->size - begin;
        if (d.image.symbol_count && below(2)) { /* usual location of symbols */
            vaddr there = d.symbols[below((uint32_t)d.image.symbol_count)].addr;
            if (there >= s->addr && there < s->addr + s->size) {
                begin = there;
                left = s->addr + s->size - begin;
            }
        }
        *vec_push(&d.fdes) = (struct fde){begin, begin + 1 + below((uint32_t)(left < 40 ? left : 40)), 0};
        if (d.fdes.items[d.fdes.count - 1].end > s->addr + s->size)
            d.fdes.items[d.fdes.count - 1].end = s->addr + s->size;
    }
    vec_sort(&d.fdes, fdes_by_place);
}

static void put_word(uint32_t at, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        d.bytes[at + i] = (uint8_t)(word >> 8 * i);
}

static const char *name_of_slot(uint32_t slot)
{
    return *slot_names[slot] ? slot_names[slot] : NULL;
}

static void add_stub(uint32_t at, const char *name)
{
    d.stubs[d.stub_count++] = (struct stub){(int)at, name};
}

static void put_jump(uint32_t at, vaddr slot)
{
    d.bytes[at] = 0xff;
    d.bytes[at + 1] = 0x25;
    put_word(at + 2, (uint32_t)(slot - (BASE + at + 6)));
}

/* The first of 16 bytes pushes and jumps, through unnamed slots; then stubs with and without endbr64, and stubs that
   only lead to these. */
static void draw_stubs_x86_64(void)
{
    uint32_t at = 0x1c0, unit = 16;
    if (below(3) == 0) {
        unit = 8;
        d.sections[PLT].name = ".plt.got";
    }
    uint32_t count = 1 + below(STUBS);
    d.sections[PLT].size = count * unit;
    memset(d.bytes + at, 0x90, 0x60);
    for (uint32_t i = 0; i < count; i++, at += unit) {
        uint32_t slot = below(ARRAY_SIZE(slot_names));
        vaddr to = SLOTS_AT + 8 * slot;
        uint32_t form = unit == 8 ? 0 : below(4);
        if (form == 0) {
            put_jump(at, to);
        } else if (form == 1) {
            put_word(at, 0xfa1e0ff3);
            put_jump(at + 4, to);
        } else if (form == 2) {
            d.bytes[at] = 0xff;
            d.bytes[at + 1] = 0x35;
            put_jump(at + 10, to);
        } else {
            put_word(at, 0x00006800);
        }
        add_stub(at, form == 3 ? NULL : name_of_slot(slot));
    }
    if (count == 1)
        d.sections[PLT].size = unit == 8 ? 8 + below(8) : 16;
}

/* First the resolver's stub, if any; then adrp and ldr, some after a bti. */
static void draw_stubs_aarch64(void)
{
    uint32_t at = 0x1c0, count = 1 + below(3);
    memset(d.bytes + at, 0, 0x60);
    add_stub(at, NULL);
    if (below(2)) {
        put_word(at, 0xa9bf7bf0); /* stp x16, x30, [sp, #-16]! */
        at += 4 + 4 * below(2);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = below(ARRAY_SIZE(slot_names)), begin = at;
        bool bti = below(2);
        if (bti) {
            put_word(at, 0xd503245f);
            at += 4;
        }
        vaddr to = SLOTS_AT + 8 * slot;
        int64_t pages = (int64_t)(to >> 12) - (int64_t)((BASE + at) >> 12);
        if (below(8) == 0) { /* farther away than it is: none gets a name */
            pages += 1 << below(19);
            slot = 2;
        }
        put_word(at, 0x90000010 | ((uint32_t)pages & 3) << 29 | ((uint32_t)(pages >> 2) & 0x7ffff) << 5);
        put_word(at + 4, 0xf9400211 | (uint32_t)(to & 0xfff) / 8 << 10);
        if (name_of_slot(slot))
            add_stub(begin, name_of_slot(slot));
        at += 8;
        put_word(at, 0xd61f0220); /* br x17 */
        at += 4 + 4 * below(2);
    }
    d.sections[PLT].size = at - 0x1c0 + below(2) * 4;
}

static void draw_pointers(void)
{
    for (int i = ARRAY; i <= LAST_ARRAY; i++)
        for (uint64_t at = 0; at < d.sections[i].size + 8; at += 8)
            if (below(5))
                *vec_push(&d.priv.pointers) =
                    (struct pointer){d.sections[i].addr + at, below(3) ? BASE + below(SPACE) : BASE + below(0x180)};
    for (uint32_t i = 0; i < ARRAY_SIZE(slot_names); i++)
        *vec_push(&d.priv.slots) = (struct slot){SLOTS_AT + 8 * i, slot_names[i]};
    d.priv.pointers_ready = true;
}

static void draw(void)
{
    d = (struct drawn){0};
    bool aarch64 = below(4) == 0;
    d.image = (struct image){.path = "drawn",
                             .build_id = "",
                             .arch = aarch64 ? ARCH_AARCH64 : ARCH_X86_64,
                             .relocatable = below(3) == 0,
                             .position_independent = true,
                             .entry = below(3) ? BASE + below(SPACE) : 0,
                             .sections = d.sections,
                             .section_count = SECTIONS,
                             .priv = &d.priv};
    d.priv.file = &d.file;
    d.priv.by_addr = d.by_addr;
    d.priv.by_addr_count = SECTIONS;
    d.priv.fdes = &d.fdes;
    pthread_mutex_init(&d.priv.lock, NULL);
    draw_sections();
    if (aarch64)
        draw_stubs_aarch64();
    else
        draw_stubs_x86_64();
    if (below(5) == 0)
        d.sections[PLT].bytes = NULL;
    if (!d.sections[PLT].bytes)
        d.stub_count = 0;
    draw_symbols();
    draw_fdes();
    draw_pointers();
}

static void drawn_release(void)
{
    vec_release(&d.fdes);
    vec_release(&d.priv.pointers);
    vec_release(&d.priv.slots);
}

/* ---- the naive table ---- */

enum { WEAK = 1, FIRM, STRONG, WITNESSES = SYMBOLS + FDES + STUBS + 12 };

static struct witness {
    int at, end; /* end 0: unknown */
    char name[NAME_BYTES];
    int strength, origin;
    bool plt, ifunc;
} witnesses[WITNESSES];
static int witness_count;

static struct known {
    int begin, end, strength;
    bool sized, plt, ifunc;
    int origin, part_of; /* part_of: in this table */
    char names[SYMBOLS][NAME_BYTES];
    int name_count;
} known[SPACE];
static int known_count;

/* The owner of each address: a function, or the remainder of one after the end of another. */
static struct paint {
    int function; /* index in `known` */
    bool rest;
} paint[SPACE];

static int section_of(uint64_t at)
{
    for (int i = 0; i < SECTIONS; i++)
        if (BASE + at >= d.sections[i].addr && BASE + at < d.sections[i].addr + d.sections[i].size)
            return i;
    return NONE;
}

static int section_end(int section)
{
    return (int)(d.sections[section].addr + d.sections[section].size - BASE);
}

static bool is_code(uint64_t at)
{
    int s = at < SPACE ? section_of(at) : NONE;
    return s != NONE && d.sections[s].exec;
}

static struct witness *add_witness(int at, int end, const char *name, int strength, int origin)
{
    struct witness *w = &witnesses[witness_count++];
    *w = (struct witness){.at = at, .end = end, .strength = strength, .origin = origin};
    snprintf(w->name, sizeof w->name, "%s", name);
    return w;
}

static void list_symbols(void)
{
    for (size_t i = 0; i < d.image.symbol_count; i++) {
        const struct image_symbol *s = &d.symbols[i];
        int at = (int)(s->addr - BASE), section = section_of((uint64_t)at);
        static const char *const marks[] = {"$x", "$d.1"};
        bool mark = strcmp(s->name, marks[0]) == 0 || strcmp(s->name, marks[1]) == 0;
        if (s->kind == SYM_OBJECT || section == NONE)
            continue;
        if (s->kind == SYM_NOTYPE && (mark || (!s->global && !s->weak)))
            continue;
        bool outside = section == EXTERNAL && d.image.relocatable;
        if (!d.sections[section].exec && !outside)
            continue;
        int end = s->size == 0                                      ? 0
                  : s->size > (uint64_t)(section_end(section) - at) ? section_end(section)
                                                                    : at + (int)s->size;
        bool function = s->kind != SYM_NOTYPE || outside;
        struct witness *w = add_witness(at, end, s->name,
                                        !function ? WEAK
                                        : end     ? STRONG
                                                  : FIRM,
                                        s->dynamic ? FROM_DYNSYM : FROM_SYMTAB);
        w->plt = outside;
        w->ifunc = s->kind == SYM_IFUNC;
    }
}

static void list_pointers(int section)
{
    for (size_t i = 0; i < d.priv.pointers.count && d.sections[section].bytes; i++) {
        const struct pointer *p = &d.priv.pointers.items[i];
        if (p->at >= d.sections[section].addr && p->at + 8 <= d.sections[section].addr + d.sections[section].size &&
            is_code(p->value - BASE))
            add_witness((int)(p->value - BASE), 0, "", WEAK, FROM_ENTRY);
    }
}

static void list_witnesses(void)
{
    witness_count = 0;
    list_symbols();
    int symbols = witness_count;
    for (size_t i = 0; i < d.fdes.count; i++) {
        int at = (int)(d.fdes.items[i].begin - BASE), strong = 0;
        while (strong < symbols && (witnesses[strong].at != at || witnesses[strong].strength != STRONG))
            strong++;
        if (strong < symbols)
            witnesses[strong].origin |= FROM_EH_FRAME;
        else if (section_of((uint64_t)at) != PLT)
            add_witness(at, (int)(d.fdes.items[i].end - BASE), "", FIRM, FROM_EH_FRAME);
    }
    for (int i = 0; i < d.stub_count; i++) {
        char name[NAME_BYTES] = "";
        if (d.stubs[i].name)
            snprintf(name, sizeof name, "%s@plt", d.stubs[i].name);
        add_witness(d.stubs[i].at, 0, name, FIRM, FROM_PLT)->plt = true;
    }
    if (d.image.entry && is_code(d.image.entry - BASE))
        add_witness((int)(d.image.entry - BASE), 0, "", WEAK, FROM_ENTRY);
    for (int i = INIT; i <= FINI; i++)
        if (d.sections[i].bytes && d.sections[i].exec)
            add_witness((int)(d.sections[i].addr - BASE), 0, "", WEAK, FROM_ENTRY);
    list_pointers(ARRAY);
    list_pointers(LAST_ARRAY);
}

/* Names, best first: those of functions, with few underscores; otherwise in order, firm ones first. */
static void list_names(struct known *k)
{
    int best = NONE, best_key = 0;
    for (int pass = STRONG; pass >= WEAK; pass--)
        for (int i = 0; i < witness_count; i++) {
            const struct witness *w = &witnesses[i];
            int key = (w->strength == WEAK) * 100 + (int)strspn(w->name, "_");
            if (w->at == k->begin && w->strength == pass && *w->name && (best == NONE || key < best_key)) {
                best = i;
                best_key = key;
            }
        }
    k->name_count = 0;
    if (best == NONE)
        return;
    strcpy(k->names[k->name_count++], witnesses[best].name);
    for (int pass = STRONG; pass >= WEAK; pass--)
        for (int i = 0; i < witness_count; i++)
            if (witnesses[i].at == k->begin && witnesses[i].strength == pass && *witnesses[i].name &&
                strcmp(witnesses[i].name, k->names[0]) != 0)
                strcpy(k->names[k->name_count++], witnesses[i].name);
}

static struct known know(int at, int section)
{
    struct known k = {.begin = at, .part_of = NONE};
    int any = 0, strong = 0;
    for (int i = 0; i < witness_count; i++) {
        const struct witness *w = &witnesses[i];
        if (w->at != at)
            continue;
        k.strength = w->strength > k.strength ? w->strength : k.strength;
        k.origin |= w->origin;
        k.plt |= w->plt;
        k.ifunc |= w->ifunc;
        any = w->end > any ? w->end : any;
        strong = w->strength == STRONG && w->end > strong ? w->end : strong;
    }
    k.sized = any;
    k.end = strong ? strong : any ? any : section_end(section);
    return k;
}

static int rests_before(int at, int outer)
{
    int n = 0;
    for (int i = 1; i < at; i++)
        n += paint[i].rest && paint[i].function == outer && !(paint[i - 1].rest && paint[i - 1].function == outer);
    return n;
}

/* A function starts at `at`: it owns the addresses marked after it, followed by the remainder of the enclosing one, if
   large enough, and then by nothing. */
static void paint_function(int number, int outer, int outer_end, int section)
{
    const struct known *k = &known[number];
    for (int i = k->begin; i < section_end(section); i++)
        paint[i] = i < k->end                       ? (struct paint){number, false}
                   : outer != NONE && i < outer_end ? (struct paint){outer, true}
                                                    : (struct paint){NONE, false};
}

static void paint_section(int section)
{
    int outer = NONE, outer_end = 0;
    for (int at = (int)(d.sections[section].addr - BASE); at < section_end(section); at++) {
        struct known k = know(at, section);
        if (!k.strength)
            continue;
        if (at >= outer_end)
            outer = NONE;
        if (paint[at].rest && k.strength < STRONG)
            continue;
        int around = paint[at].function;
        if (around != NONE && !paint[at].rest && known[around].sized) {
            const struct known *a = &known[around];
            if (k.strength == WEAK || (k.strength == FIRM && a->strength == STRONG))
                continue;
            int end = at;
            while (end < section_end(section) && paint[end].function == around && !paint[end].rest)
                end++;
            if (a->strength == STRONG && k.end < end && outer == NONE) {
                outer = around;
                outer_end = end;
            }
        }
        known[known_count] = k;
        list_names(&known[known_count]);
        paint_function(known_count++, outer != NONE && rests_before(at, outer) < 8 ? outer : NONE, outer_end, section);
    }
}

/* NAME.cold, NAME.cold.3, NAME.__part.2: how long NAME is. */
static int cold_length(const char *name)
{
    const char *at = strstr(name, ".cold"), *part = strstr(name, ".__part.");
    const char *rest = at ? at + 5 : part ? part + 8 : "x";
    if (at && *rest == '.')
        rest++;
    while (*rest >= '0' && *rest <= '9')
        rest++;
    return *rest ? 0 : (int)((at ? at : part) - name);
}

static uint32_t source_at(int at, const char *name)
{
    for (size_t i = 0; i < d.image.symbol_count; i++)
        if ((int)(d.symbols[i].addr - BASE) == at && strcmp(d.symbols[i].name, name) == 0)
            return d.symbols[i].source;
    return 0;
}

/* In address order, including parts. */
static struct listed {
    int begin, end, of; /* of: index in `known` */
    bool rest;
    int owner; /* of `listed` */
} listed[SPACE];
static int listed_count;

static void list_painted(void)
{
    listed_count = 0;
    for (int i = 0; i < SPACE; i++) {
        const struct paint *p = &paint[i], *before = i ? p - 1 : NULL;
        if (p->function == NONE)
            continue;
        if (before && before->function == p->function && before->rest == p->rest) {
            listed[listed_count - 1].end = i + 1;
            continue;
        }
        listed[listed_count] = (struct listed){i, i + 1, p->function, p->rest, NONE};
        for (int k = 0; p->rest && k < listed_count; k++)
            if (listed[k].of == p->function && !listed[k].rest)
                listed[listed_count].owner = k;
        listed_count++;
    }
}

/* A cold part is of the first function of its name, or of the one of the same source. */
static void own_cold_parts(void)
{
    for (int c = 0; c < listed_count; c++) {
        struct listed *part = &listed[c];
        const struct known *k = &known[part->of];
        int n = k->name_count && !part->rest ? cold_length(k->names[0]) : 0;
        uint32_t source = n ? source_at(part->begin, k->names[0]) : 0;
        for (int i = 0; n && i < listed_count; i++) {
            const struct known *f = &known[listed[i].of];
            int count = f->name_count == 0 || cold_length(f->names[0]) ? 0 : listed[i].rest ? 1 : f->name_count;
            for (int a = 0; a < count && i != c; a++)
                if ((int)strlen(f->names[a]) == n && strncmp(f->names[a], k->names[0], (size_t)n) == 0) {
                    uint32_t mine = source_at(listed[i].begin, f->names[a]);
                    if (part->owner == NONE || (mine && mine == source))
                        part->owner = i;
                }
        }
    }
}

static void make_naive_table(void)
{
    known_count = 0;
    for (int i = 0; i < SPACE; i++)
        paint[i] = (struct paint){NONE, false};
    list_witnesses();
    for (int i = 0; i < SECTIONS; i++)
        paint_section(i);
    for (size_t s = d.image.symbol_count; s-- > 0;) { /* data ends symbols without a size */
        int at = (int)(d.symbols[s].addr - BASE), f = paint[at].function;
        if (d.symbols[s].kind == SYM_OBJECT && d.symbols[s].size && f != NONE && !known[f].sized && known[f].begin < at)
            for (int i = at; i < SPACE; i++)
                if (paint[i].function == f)
                    paint[i].function = NONE;
    }
    list_painted();
    own_cold_parts();
}

/* ---- comparing ---- */

static void put_naive(struct buf *b)
{
    for (int i = 0; i < listed_count; i++) {
        const struct listed *l = &listed[i];
        const struct known *k = &known[l->of];
        buf_printf(b, "%x-%x %s of %d %x%s%s%s", l->begin, l->end, k->name_count ? k->names[0] : "?", l->owner,
                   k->origin, k->sized ? " sized" : "", k->plt && !l->rest ? " plt" : "",
                   k->ifunc && !l->rest ? " ifunc" : "");
        for (int a = 1; a < k->name_count && !l->rest; a++)
            buf_printf(b, "=%s", k->names[a]);
        buf_char(b, '\n');
    }
}

static void put_table(struct buf *b, const struct function_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct function *f = &t->functions[i];
        buf_printf(b, "%x-%x %s of %d %x%s%s%s", (int)(f->begin - BASE), (int)(f->end - BASE),
                   *f->link_name ? f->link_name : "?", (int)f->part_of, f->origin, f->sized ? " sized" : "",
                   f->plt ? " plt" : "", f->ifunc ? " ifunc" : "");
        for (uint32_t a = 0; a < f->alias_count; a++)
            buf_printf(b, "=%s", t->aliases[f->aliases_first + a]);
        buf_char(b, '\n');
    }
}

static void put_symbols(struct buf *b)
{
    static const char *const kinds[] = {"func", "ifunc", "object", "notype"};
    for (size_t i = 0; i < d.image.symbol_count; i++) {
        const struct image_symbol *s = &d.symbols[i];
        buf_printf(b, "# %s %x+%llx %s%s%s\n", kinds[s->kind], (int)(s->addr - BASE), (unsigned long long)s->size,
                   s->name,
                   s->global ? " global"
                   : s->weak ? " weak"
                             : "",
                   s->dynamic ? " dynamic" : "");
    }
    for (size_t i = 0; i < d.fdes.count; i++)
        buf_printf(b, "# unwind %x-%x\n", (int)(d.fdes.items[i].begin - BASE), (int)(d.fdes.items[i].end - BASE));
}

static bool same_text(struct buf *got, struct buf *wanted)
{
    buf_str(got, "");
    buf_str(wanted, "");
    bool same = strcmp(got->bytes, wanted->bytes) == 0;
    if (!same) {
        struct buf said = {0};
        put_symbols(&said);
        printf("%s# got\n%s# wanted\n%s", said.bytes ? said.bytes : "", got->bytes, wanted->bytes);
        buf_release(&said);
    }
    buf_release(got);
    buf_release(wanted);
    return same;
}

/* Looks up each address, by the table and by iteration. */
static bool found_everywhere(const struct function_table *t)
{
    bool same = true;
    for (vaddr a = BASE - 2; a < BASE + SPACE; a++) {
        uint32_t there = FUNCTION_NONE;
        for (uint32_t i = 0; i < t->count; i++)
            if (a >= t->functions[i].begin && a < t->functions[i].end)
                there = i;
        same = same && functions_at(t, a) == there;
    }
    return same;
}

/* ---- more of them ---- */

/* Adds the found functions one by one to a list. */
static struct function_list added(const struct function_table *t, const struct addr_range *found, size_t count,
                                  uint8_t origin)
{
    struct function_list list = {0};
    for (size_t i = 0; i < t->count; i++)
        *vec_push(&list) = t->functions[i];
    for (size_t n = 0; n < count; n++) {
        vaddr at = found[n].begin, end;
        size_t next = 0;
        int section = section_of(at - BASE);
        if (!is_code(at - BASE))
            continue;
        while (next < list.count && list.items[next].begin <= at)
            next++;
        struct function *in = next ? &list.items[next - 1] : NULL;
        if (in && in->begin == at) {
            if (origin == FROM_CALL)
                in->origin |= FROM_CALL;
            if (!in->sized && found[n].end < in->end)
                in->end = found[n].end;
            continue;
        }
        if (in && at < in->end) {
            if (in->sized || in->plt)
                continue;
            end = in->end;
            in->end = at;
        } else {
            end = BASE + (vaddr)section_end(section);
            if (next < list.count && list.items[next].begin < end)
                end = list.items[next].begin;
        }
        if (found[n].end < end)
            end = found[n].end;
        vec_push(&list);
        memmove(list.items + next + 1, list.items + next, (list.count - 1 - next) * sizeof *list.items);
        list.items[next] =
            (struct function){.begin = at, .end = end, .link_name = "", .part_of = FUNCTION_NONE, .origin = origin};
        for (size_t i = 0; i < list.count; i++)
            if (list.items[i].part_of != FUNCTION_NONE && list.items[i].part_of >= next)
                list.items[i].part_of++;
    }
    return list;
}

static bool adding_is_right(struct function_table *t)
{
    struct addr_range found[20];
    struct buf got = {0}, wanted = {0};
    size_t count = 0;
    uint8_t origin = below(2) ? FROM_CALL : FROM_GAP;
    for (vaddr at = BASE + below(60); at < BASE + SPACE && count < ARRAY_SIZE(found); at += 1 + below(80))
        found[count++] = (struct addr_range){at, below(2) ? UINT64_MAX : at + 1 + below(40)};
    struct function_list list = added(t, found, count, origin);
    struct function_table naive = *t;
    naive.functions = list.items;
    naive.count = list.count;
    put_table(&wanted, &naive);
    functions_add_found(t, found, count, origin);
    put_table(&got, t);
    vec_release(&list);
    return same_text(&got, &wanted);
}

int main(void)
{
    enum { ROUNDS = 2000 };
    int same = 0, found = 0, right = 0, parts = 0, round = 0;
    for (; round < ROUNDS && same == round && found == round && right == round; round++) {
        struct buf got = {0}, wanted = {0};
        draw();
        struct function_table *t = functions_list(&d.image, NULL);
        make_naive_table();
        for (int i = 0; i < listed_count; i++)
            parts += listed[i].owner != NONE;
        put_table(&got, t);
        put_naive(&wanted);
        same += same_text(&got, &wanted);
        found += found_everywhere(t);
        right += adding_is_right(t) && found_everywhere(t);
        functions_free(t);
        drawn_release();
    }
    CHECK_INT(same, ROUNDS);
    CHECK_INT(found, ROUNDS);
    CHECK_INT(right, ROUNDS);
    printf("# %d parts\n", parts);
    CHECK(parts > ROUNDS / 10);
    return tap_done();
}
