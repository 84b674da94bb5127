/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface to libdwarf in isolation: sections in memory, entries of one attribute in every form, and random range
 * lists and trees, compared with the intended values.
 */
#include "config.h"
#include "bloop/debug/debug_int.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <malloc.h>

/* ---- files in memory ---- */

struct file {
    struct elf_file elf;
    struct elf_section sections[64]; /* [0] is the null section */
    struct warnings *w;
    struct dwarf_file *f; /* NULL: not opened */
};

static void file_init(struct file *m)
{
    *m = (struct file){.elf = {.path = (char *)"made", .section_count = 1}, .w = warnings_create()};
    m->elf.sections = m->sections;
    m->sections[0].name = "";
    pthread_mutex_init(&m->elf.lock, NULL);
}

static void put_section(struct file *m, const char *name, const void *bytes, size_t n)
{
    m->sections[m->elf.section_count++] =
        (struct elf_section){.name = name, .type = SHT_PROGBITS, .raw = bytes, .size = n};
}

static void put_buf(struct file *m, const char *name, const struct buf *b)
{
    put_section(m, name, b->bytes, b->len);
}

static void file_release(struct file *m)
{
    dwarf_file_close(m->f);
    warnings_free(m->w);
    pthread_mutex_destroy(&m->elf.lock);
}

static void put_units(struct file *m, bool dwo, const struct buf *info, const struct buf *abbrev)
{
    file_init(m);
    put_buf(m, dwo ? ".debug_info.dwo" : ".debug_info", info);
    put_buf(m, dwo ? ".debug_abbrev.dwo" : ".debug_abbrev", abbrev);
}

static void release_units(struct file *m, struct buf *info, struct buf *abbrev)
{
    file_release(m);
    buf_release(info);
    buf_release(abbrev);
}

/* Starts a 32-bit DWARF unit, up to its entry; end_unit sets its length. */
static size_t begin_unit(struct buf *info, unsigned version, size_t abbrev)
{
    size_t at = info->len;
    buf_u32(info, 0);
    buf_u16(info, (uint16_t)version);
    if (version >= 5)
        buf_add(info, "\1\10", 2);
    buf_u32(info, (uint32_t)abbrev);
    if (version < 5)
        buf_u8(info, 8);
    return at;
}

static void end_unit(struct buf *info, size_t at)
{
    uint32_t length = (uint32_t)(info->len - at - 4);
    memcpy(info->bytes + at, &length, 4);
}

/* ---- one attribute in every form ---- */

enum said { NUMBER, NEGATIVE, TEXT, ADDRESS, INDEX, OFFSET, LOCAL, GLOBAL, ALTERNATE, OTHER };

static const struct form {
    unsigned form;
    enum said said;
    unsigned since; /* version */
    uint64_t value;
    const char *bytes;
    size_t n;
} forms[] = {
    {DW_FORM_data1, NUMBER, 2, 0x7f, "\x7f", 1},
    {DW_FORM_data2, NUMBER, 2, 0x1234, "\x34\x12", 2},
    {DW_FORM_data4, NUMBER, 2, 0xfffffffe, "\xfe\xff\xff\xff", 4},
    {DW_FORM_data4, NUMBER, 2, 0xffffffff, "\xff\xff\xff\xff", 4},
    {DW_FORM_data8, NUMBER, 2, 0x100000005, "\5\0\0\0\1\0\0\0", 8},
    {DW_FORM_udata, NUMBER, 2, 0, "\0", 1},
    {DW_FORM_udata, NUMBER, 2, 300, "\xac\2", 2},
    {DW_FORM_sdata, NUMBER, 2, 5, "\5", 1},
    {DW_FORM_sdata, NUMBER, 2, 0, "\0", 1},
    {DW_FORM_sdata, NEGATIVE, 2, (uint64_t)-3, "\x7d", 1},
    {DW_FORM_implicit_const, NUMBER, 5, 9, "", 0},
    {DW_FORM_string, TEXT, 2, 0, "here", 5},
    {DW_FORM_strp, TEXT, 2, 0, "\1\0\0\0", 4},
    {DW_FORM_strx, TEXT, 5, 0, "\0", 1},
    {DW_FORM_strx1, TEXT, 5, 0, "\0", 1},
    {DW_FORM_strx4, TEXT, 5, 0, "\0\0\0\0", 4},
    {DW_FORM_addr, ADDRESS, 2, 0x401000, "\0\x10\x40\0\0\0\0\0", 8},
    {DW_FORM_addrx, INDEX, 5, 1, "\1", 1},
    {DW_FORM_addrx1, INDEX, 5, 2, "\2", 1},
    {DW_FORM_addrx2, INDEX, 5, 0, "\0\0", 2},
    {DW_FORM_addrx4, INDEX, 5, 1, "\1\0\0\0", 4},
    {DW_FORM_GNU_addr_index, INDEX, 4, 3, "\3", 1},
    {DW_FORM_sec_offset, OFFSET, 4, 0x21, "\x21\0\0\0", 4},
    {DW_FORM_ref1, LOCAL, 2, 0x10, "\x10", 1},
    {DW_FORM_ref2, LOCAL, 2, 0x11, "\x11\0", 2},
    {DW_FORM_ref4, LOCAL, 2, 0x12, "\x12\0\0\0", 4},
    {DW_FORM_ref8, LOCAL, 2, 0x13, "\x13\0\0\0\0\0\0\0", 8},
    {DW_FORM_ref_udata, LOCAL, 2, 0x14, "\x14", 1},
    {DW_FORM_ref_addr, GLOBAL, 3, 0x15, "\x15\0\0\0", 4},
    {DW_FORM_GNU_ref_alt, ALTERNATE, 4, 0x16, "\x16\0\0\0", 4},
    {DW_FORM_ref_sig8, OTHER, 4, 0, "\1\2\3\4\5\6\7\10", 8},
    {DW_FORM_exprloc, OTHER, 4, 0, "\2\x91\x10", 3},
    {DW_FORM_block1, OTHER, 2, 0, "\1\x96", 2},
    {DW_FORM_flag, OTHER, 2, 0, "\1", 1},
    {DW_FORM_flag_present, OTHER, 4, 0, "", 0},
};

static const struct wanted_attribute {
    unsigned name;
    enum { A_TEXT, A_16, A_32, A_64, A_OFFSET, A_LOW, A_HIGH, A_ENTRY, A_RANGES, A_REFERENCE, A_NOTHING } kind;
    size_t at; /* in struct die_info */
} attributes[] = {
    {DW_AT_name, A_TEXT, offsetof(struct die_info, name)},
    {DW_AT_linkage_name, A_TEXT, offsetof(struct die_info, link_name)},
    {DW_AT_MIPS_linkage_name, A_TEXT, offsetof(struct die_info, link_name)},
    {DW_AT_comp_dir, A_TEXT, offsetof(struct die_info, comp_dir)},
    {0x76, A_TEXT, offsetof(struct die_info, dwo_name)},
    {0x2130, A_TEXT, offsetof(struct die_info, dwo_name)},
    {DW_AT_producer, A_TEXT, offsetof(struct die_info, producer)},
    {DW_AT_language, A_16, offsetof(struct die_info, language)},
    {DW_AT_decl_file, A_32, offsetof(struct die_info, decl_file)},
    {DW_AT_decl_line, A_32, offsetof(struct die_info, decl_line)},
    {DW_AT_call_file, A_32, offsetof(struct die_info, call_file)},
    {DW_AT_call_line, A_32, offsetof(struct die_info, call_line)},
    {DW_AT_call_column, A_32, offsetof(struct die_info, call_column)},
    {0x2131, A_64, offsetof(struct die_info, dwo_id)},
    {DW_AT_stmt_list, A_OFFSET, offsetof(struct die_info, lines)},
    {0x2132, A_OFFSET, offsetof(struct die_info, gnu_ranges_base)},
    {0x2133, A_OFFSET, offsetof(struct die_info, addr_base)},
    {DW_AT_low_pc, A_LOW, 0},
    {DW_AT_high_pc, A_HIGH, 0},
    {DW_AT_entry_pc, A_ENTRY, 0},
    {DW_AT_ranges, A_RANGES, 0},
    {DW_AT_abstract_origin, A_REFERENCE, offsetof(struct die_info, origin)},
    {DW_AT_specification, A_REFERENCE, offsetof(struct die_info, specification)},
    {DW_AT_byte_size, A_NOTHING, 0},
};

static bool split; /* string indices refer to a split file, whose table starts elsewhere */

static const char *text_of(const struct form *f)
{
    if (split && f->said == TEXT && f->form != DW_FORM_string && f->form != DW_FORM_strp)
        return "apart";
    return f->said != TEXT             ? NULL
           : f->form == DW_FORM_string ? "here"
           : f->form == DW_FORM_strp   ? "there"
                                       : "elsewhere";
}

/* Reads an entry with that attribute alone, in a unit that starts at `unit`. */
static struct die_info meant(const struct wanted_attribute *a, const struct form *f, uint64_t unit, const char **text)
{
    struct die_info d = {.tag = DW_TAG_variable,
                         .origin = NO_OFFSET,
                         .specification = NO_OFFSET,
                         .lines = NO_OFFSET,
                         .decl_file = DEBUG_NO_FILE,
                         .call_file = DEBUG_NO_FILE,
                         .rnglists_base = NO_OFFSET,
                         .addr_base = NO_OFFSET,
                         .gnu_ranges_base = NO_OFFSET};
    uint64_t number = f->said == NUMBER ? f->value : 0;
    uint64_t offset = f->said == OFFSET || f->said == GLOBAL ? f->value : f->said == LOCAL ? unit + f->value : number;
    bool placed = f->said == ADDRESS || f->said == INDEX;
    char *field = (char *)&d + a->at;
    *text = NULL;
    switch (a->kind) {
    case A_TEXT:
        *text = text_of(f);
        break;
    case A_16:
        memcpy(field, &(uint16_t){(uint16_t)number}, 2);
        break;
    case A_32:
        memcpy(field, &(uint32_t){number < UINT32_MAX ? (uint32_t)number : 0}, 4);
        break;
    case A_64:
        memcpy(field, &number, 8);
        break;
    case A_OFFSET:
        memcpy(field, &offset, 8);
        break;
    case A_LOW:
        d.has_low = placed, d.low_indexed = f->said == INDEX, d.low = placed ? f->value : 0;
        break;
    case A_HIGH:
        d.has_high = true, d.high_indexed = f->said == INDEX, d.high_is_size = !placed;
        d.high = placed ? f->value : number;
        break;
    case A_ENTRY:
        d.has_entry = placed, d.entry_indexed = f->said == INDEX, d.entry = placed ? f->value : 0;
        break;
    case A_RANGES:
        d.has_ranges = true, d.ranges_form = (uint16_t)f->form, d.ranges = offset;
        break;
    case A_REFERENCE:
        offset = f->said == LOCAL ? unit + f->value : f->said == GLOBAL || f->said == ALTERNATE ? f->value : NO_OFFSET;
        memcpy(field, &offset, 8);
        d.origin_alternate = a->name == DW_AT_abstract_origin && f->said == ALTERNATE;
        d.specification_alternate = a->name == DW_AT_specification && f->said == ALTERNATE;
        break;
    case A_NOTHING:
        break;
    }
    return d;
}

static void put_info(struct buf *b, const struct die_info *d, const char *text)
{
    buf_printf(
        b, "%x %x %d%d%d%d%d %d%d%d %llx %llx %llx %llx %llx%s %llx%s %s %x %x %x %x %x %x %llx %llx %llx %llx %llx",
        d->tag, d->ranges_form, d->has_low, d->has_high, d->high_is_size, d->has_ranges, d->has_entry, d->low_indexed,
        d->high_indexed, d->entry_indexed, (unsigned long long)d->low, (unsigned long long)d->high,
        (unsigned long long)d->entry, (unsigned long long)d->ranges, (unsigned long long)d->origin,
        d->origin_alternate ? "a" : "", (unsigned long long)d->specification, d->specification_alternate ? "a" : "",
        text ? text : "-", d->decl_file, d->call_file, d->decl_line, d->call_line, d->call_column, d->language,
        (unsigned long long)d->lines, (unsigned long long)d->rnglists_base, (unsigned long long)d->addr_base,
        (unsigned long long)d->gnu_ranges_base, (unsigned long long)d->dwo_id);
}

/* The only string that can be there. */
static const char *text_in(const struct die_info *d, const struct wanted_attribute *a)
{
    const char *const all[] = {d->name, d->link_name, d->comp_dir, d->dwo_name, d->producer};
    const char *text = NULL;
    if (a->kind == A_TEXT)
        memcpy(&text, (const char *)d + a->at, sizeof text);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        if (all[i] && all[i] != text)
            return "a text of something else";
    return text;
}

/* Single values: a signed number, a reference within the file, an expression. */
static bool single_is_right(struct file *m, Dwarf_Die die, const struct wanted_attribute *a, const struct form *f,
                            uint64_t unit)
{
    int64_t number = 77;
    bool there = die_number(m->f, die, a->name, &number);
    bool is_number = f->said == NUMBER || f->said == NEGATIVE;
    uint64_t reference = die_reference(m->f, die, a->name), other = die_reference(m->f, die, DW_AT_type);
    struct cursor block = die_block(m->f, die, a->name), none = die_block(m->f, die, DW_AT_location);
    bool right = there == is_number && number == (is_number ? (int64_t)f->value : 77);
    right = right && other == NO_OFFSET && none.bad && !die_number(m->f, die, DW_AT_type, &number);
    if (f->said != ALTERNATE && f->said != LOCAL && f->said != GLOBAL)
        right = right && (f->said == OFFSET || f->said == NUMBER || reference == NO_OFFSET);
    else
        right = right && reference == (f->said == ALTERNATE ? NO_OFFSET
                                       : f->said == LOCAL   ? unit + f->value
                                                            : f->value);
    if (f->form == DW_FORM_exprloc)
        return right && !block.bad && cursor_u8(&block) == 0x91 && cursor_u8(&block) == 0x10 &&
               (cursor_u8(&block), block.bad);
    return right && block.bad;
}

/* Forms that only some of libdwarf's generations read as offsets, or as numbers. */
static bool is_plain(const struct wanted_attribute *a, const struct form *f)
{
    bool reference = f->said == LOCAL || f->said == GLOBAL || f->said == ALTERNATE || f->form == DW_FORM_ref_sig8;
    if (a->kind == A_OFFSET || a->kind == A_RANGES)
        return !reference && f->said != TEXT && f->said != INDEX;
    if (a->kind == A_REFERENCE)
        return f->said != NUMBER && f->said != NEGATIVE && f->said != OFFSET && f->said != TEXT && f->said != INDEX;
    return true;
}

static void test_forms(unsigned version)
{
    static const char strings[] = "\0there\0elsewhere";
    static const uint8_t offsets[] = {8, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0},
                         addresses[] = {12, 0, 0, 0, 5, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    struct buf info = {0}, abbrev = {0};
    struct file m;
    struct unit_header h = {0};
    struct die_walk walk;
    unsigned code = 1, wrong = 0, read = 0;
    size_t first = begin_unit(&info, version, 0); /* a preceding unit, so that this one is not at offset 0 */
    buf_add(&abbrev, "\1\x11\0\0\0", 5);
    buf_u8(&info, 1);
    end_unit(&info, first);
    size_t unit = begin_unit(&info, version, abbrev.len + 1);
    buf_add(&abbrev, "\0\1\x11\1", 4);
    buf_u8(&info, 1);
    if (version >= 5) { /* str_offsets_base, addr_base */
        buf_add(&abbrev, "\x72\x17\x73\x17", 4);
        buf_add(&info, "\10\0\0\0\10\0\0\0", 8);
    }
    buf_add(&abbrev, "\0\0", 2);
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
        for (size_t k = 0; k < ARRAY_SIZE(forms); k++) {
            if (version < forms[k].since || !is_plain(&attributes[i], &forms[k]))
                continue;
            buf_uleb(&abbrev, ++code);
            buf_add(&abbrev, "\x34", 2);
            buf_uleb(&abbrev, attributes[i].name);
            buf_uleb(&abbrev, forms[k].form);
            if (forms[k].form == DW_FORM_implicit_const)
                buf_u8(&abbrev, 9);
            buf_add(&abbrev, "\0\0", 2);
            buf_uleb(&info, code);
            buf_add(&info, forms[k].bytes, forms[k].n);
        }
    buf_u8(&info, 0);
    buf_u8(&abbrev, 0);
    end_unit(&info, unit);
    put_units(&m, false, &info, &abbrev);
    put_section(&m, ".debug_str", strings, sizeof strings);
    put_section(&m, ".debug_str_offsets", offsets, sizeof offsets);
    put_section(&m, ".debug_addr", addresses, sizeof addresses);
    CHECK_INT(dwarf_file_open(&m.elf, false, m.w, &m.f, NULL), 1);
    CHECK(dwarf_file_next(m.f, &h) && dwarf_file_next(m.f, &h) && h.header == unit);
    if (split) {
        m.f->offset_size = below(2) ? 4 : 8;
        m.f->string_offsets = 4;
        put_section(&m, ".debug_str_offsets.dwo", "\1\1\1\1\3\0\0\0\0\0\0\0", 4 + m.f->offset_size);
        put_section(&m, ".debug_str.dwo", "\1\1\1apart", 9);
    }
    Dwarf_Die root = dwarf_die_at(m.f, h.die);
    bool more = die_walk_begin(&walk, m.f, root);
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
        for (size_t k = 0; k < ARRAY_SIZE(forms); k++) {
            if (version < forms[k].since || !is_plain(&attributes[i], &forms[k]) || !more)
                continue;
            struct buf got = {0}, wanted = {0};
            struct die_info d, w;
            const char *text;
            Dwarf_Die die = walk.levels[walk.depth - 1].die;
            die_read(m.f, die, &d);
            w = meant(&attributes[i], &forms[k], unit, &text);
            put_info(&got, &d, text_in(&d, &attributes[i]));
            put_info(&wanted, &w, text);
            bool has = attributes[i].kind == A_LOW || attributes[i].kind == A_RANGES;
            bool right = strcmp(got.bytes, wanted.bytes) == 0 && die_has_code(die) == has &&
                         d.offset == die_offset(die) && single_is_right(&m, die, &attributes[i], &forms[k], unit);
            if (!right && wrong++ < 9)
                printf("# attribute %x, form %x, version %u: got\n# %s\n# %s\n", attributes[i].name, forms[k].form,
                       version, got.bytes, wanted.bytes);
            buf_release(&got);
            buf_release(&wanted);
            read++;
            more = die_walk_next(&walk);
        }
    CHECK(read == code - 1 && !more);
    CHECK_INT(wrong, 0);
    CHECK_INT(warnings_count(m.w), 0);
    die_walk_end(&walk);
    dwarf_dealloc_die(root);
    release_units(&m, &info, &abbrev);
}

/* ---- ranges ---- */

static const char *ranges_text(struct buf *b, const struct range_list *r)
{
    b->len = 0;
    buf_str(b, "");
    for (size_t i = 0; i < r->count; i++)
        buf_printf(b, " %llx-%llx", (unsigned long long)r->items[i].begin, (unsigned long long)r->items[i].end);
    return b->bytes;
}

/* Overlapping or adjacent ranges are joined, compared with a map of every address; preceding ranges are unchanged. */
static bool join_is_right(void)
{
    enum { SPACE = 60, FRONT = 2 };
    struct range_list list = {0}, wanted = {0};
    struct buf got_text = {0}, wanted_text = {0};
    bool in[SPACE + 1] = {false};
    for (int i = 0; i < FRONT; i++) {
        *vec_push(&list) = (struct addr_range){9, 11};
        *vec_push(&wanted) = (struct addr_range){9, 11};
    }
    for (unsigned n = below(7); n > 0; n--) {
        vaddr begin = below(SPACE - 12), end = begin + 1 + below(below(3) ? 4 : 12);
        *vec_push(&list) = (struct addr_range){begin, end};
        for (vaddr at = begin; at < end; at++)
            in[at] = true;
    }
    for (vaddr at = 0, end; at < SPACE; at = end) {
        for (end = at; in[end];)
            end++;
        if (end > at)
            *vec_push(&wanted) = (struct addr_range){at, end};
        end += end == at;
    }
    ranges_normalize(&list, FRONT);
    bool right = strcmp(ranges_text(&got_text, &list), ranges_text(&wanted_text, &wanted)) == 0;
    vec_release(&list);
    vec_release(&wanted);
    buf_release(&got_text);
    buf_release(&wanted_text);
    return right;
}

enum { ADDRESSES = 6 };
static const vaddr edges[] = {0, 1, 2, 0x1000, UINT64_MAX - 17, UINT64_MAX - 16, UINT64_MAX - 15};

static vaddr some_address(void)
{
    return below(3) ? 0x1000 + below(0x1000) : edges[below(ARRAY_SIZE(edges))];
}

static void note_range(struct range_list *list, bool known, vaddr begin, vaddr end)
{
    if (known && begin > 1 && begin < end && begin < UINT64_MAX - 16)
        *vec_push(list) = (struct addr_range){begin, end};
}

/* An index and the address that it denotes. */
static bool put_index(struct buf *b, const vaddr *addresses, vaddr *v)
{
    uint64_t i = below(12) ? below(ADDRESSES) : below(2) ? ADDRESSES : UINT64_MAX >> below(40);
    buf_uleb(b, i);
    *v = i < ADDRESSES ? addresses[i] : *v;
    return i < ADDRESSES;
}

/* A DWARF 5 list after `at`, and its contents; it may end in damage: truncated, or an unknown entry. */
static void draw_v5(struct buf *b, const vaddr *addresses, vaddr base, struct range_list *wanted)
{
    for (unsigned n = below(8); n > 0; n--) {
        size_t start = b->len;
        vaddr begin = some_address(), end = begin + below(40);
        bool known = true, range = true;
        unsigned kind = 1 + below(7);
        buf_u8(b, (uint8_t)kind);
        if (kind == DW_RLE_base_addressx) {
            if (!put_index(b, addresses, &base))
                return;
            range = false;
        } else if (kind == DW_RLE_startx_endx) {
            known = put_index(b, addresses, &begin);
            known &= put_index(b, addresses, &end);
        } else if (kind == DW_RLE_startx_length) {
            known = put_index(b, addresses, &begin);
            buf_uleb(b, 33);
            end = begin + 33;
        } else if (kind == DW_RLE_offset_pair) {
            begin = base + below(9), end = begin + below(200);
            buf_uleb(b, begin - base);
            buf_uleb(b, end - base);
        } else if (kind == DW_RLE_base_address) {
            buf_u64(b, base = some_address());
            range = false;
        } else {
            buf_u64(b, begin);
            if (kind == DW_RLE_start_end)
                buf_u64(b, end);
            else
                buf_uleb(b, end - begin);
        }
        if (below(12) == 0) { /* the section ends in the midst of it */
            b->len = start + 1 + below((uint32_t)(b->len - start - 1));
            return;
        }
        if (range)
            note_range(wanted, known, begin, end);
    }
    if (below(4))
        buf_u8(b, (uint8_t)(below(3) ? 0 : 8 + below(200)));
    else
        return;
    buf_add(b, "\6\1\2\3\4\5\6\0\0\2\2\3\4\5\6\0\0\0", 18); /* not read past its end */
}

static void draw_v4(struct buf *b, vaddr base, struct range_list *wanted)
{
    for (unsigned n = below(8); n > 0; n--) {
        vaddr begin = below(5) ? some_address() : UINT64_MAX, end = begin + 1 + below(40);
        if (begin == UINT64_MAX)
            end = base = below(2) ? 0 : some_address();
        buf_u64(b, begin);
        buf_u64(b, end);
        if (below(12) == 0) {
            b->len -= 1 + below(15);
            return;
        }
        if (begin != UINT64_MAX)
            note_range(wanted, true, base + begin, base + end);
    }
    if (below(3) == 0)
        return;
    buf_add(b, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\0\0\0\0\0\0\2\2\0\0\0\0\0\0", 32);
}

/* A list at any place in its section, by offset or through the preceding table; memory ends after the sections. */
static bool list_is_right(void)
{
    static struct guarded_room list_room, address_room;
    struct file m;
    struct buf b = {0}, addr = {0}, got_text = {0}, wanted_text = {0};
    struct range_list got = {0}, wanted = {0};
    vaddr addresses[ADDRESSES];
    bool five = below(3) != 0, indexed = five && below(2), given = below(2), dwo = below(2);
    struct unit_base base = {.version = five ? 5 : 4,
                             .offset_size = below(2) ? 4 : 8,
                             .base = below(2) ? 0x1000 : 0,
                             .rnglists_base = NO_OFFSET,
                             .addr_base = NO_OFFSET,
                             .gnu_ranges_base = NO_OFFSET};
    struct die_info d = {.has_ranges = true, .ranges_form = indexed ? DW_FORM_rnglistx : DW_FORM_sec_offset};
    size_t header = given ? 24 : base.offset_size == 8 ? 20 : 12, at_addr = given ? 16 : five ? 8 : 0;
    for (size_t i = 0; i < at_addr; i++)
        buf_u8(&addr, 0x77);
    for (int i = 0; i < ADDRESSES; i++)
        buf_u64(&addr, addresses[i] = some_address());
    if (given)
        base.rnglists_base = header, base.addr_base = at_addr;
    for (size_t i = 0; i < header; i++)
        buf_u8(&b, 0x6b);
    if (indexed) {
        size_t entries = 1 + below(3);
        d.ranges = below((uint32_t)entries);
        for (size_t i = 0; i < entries; i++) {
            uint64_t to = i == d.ranges ? entries * base.offset_size : 0x6b6b;
            buf_add(&b, &to, base.offset_size);
        }
    } else if (!five && below(2)) {
        base.gnu_ranges_base = header / 2;
        d.ranges = header - header / 2;
    } else {
        d.ranges = header;
    }
    if (five)
        draw_v5(&b, addresses, base.base, &wanted);
    else
        draw_v4(&b, base.base, &wanted);
    if (indexed && below(10) == 0) { /* of a number that is not in the section, or that no section has */
        d.ranges = below(2) ? b.len / base.offset_size : (uint64_t)1 << (32 + below(32));
        wanted.count = 0;
    }
    file_init(&m);
    put_section(&m, ".debug_addr", guarded_copy(&address_room, addr.bytes, addr.len), addr.len);
    put_section(&m,
                !five ? ".debug_ranges"
                : dwo ? ".debug_rnglists.dwo"
                      : ".debug_rnglists",
                guarded_copy(&list_room, b.bytes, b.len), b.len);
    if (five && dwo) /* (that of the file itself, not of the split file) */
        put_section(&m, ".debug_rnglists", "\0\0\0\0", 4);
    struct dwarf_file f = {.elf = &m.elf, .w = m.w};
    base.addresses = &m.elf;
    die_ranges(&f, &base, &d, &got);
    bool right = strcmp(ranges_text(&got_text, &got), ranges_text(&wanted_text, &wanted)) == 0;
    for (uint64_t i = 0; i <= ADDRESSES && right; i++) { /* where an entry begins, by number */
        struct die_info low = {.has_low = true, .low_indexed = true, .low = i};
        struct die_info entry = {.has_entry = true, .entry_indexed = true, .entry = i};
        vaddr there = i < ADDRESSES ? addresses[i] : 0;
        right = die_low(&base, &low) == there && die_entry(&base, &entry) == there;
        low.has_low = entry.has_entry = false;
        right = right && die_low(&base, &low) == 0 && die_entry(&base, &entry) == 0;
    }
    if (!right)
        printf("# version %d: got%s\n# wanted%s\n", base.version, got_text.bytes, wanted_text.bytes);
    file_release(&m);
    buf_release(&b);
    buf_release(&addr);
    buf_release(&got_text);
    buf_release(&wanted_text);
    vec_release(&got);
    vec_release(&wanted);
    return right;
}

static void test_ranges(void)
{
    enum { ROUNDS = 3000 };
    int joined = 0, right = 0;
    while (joined < ROUNDS && join_is_right())
        joined++;
    CHECK_INT(joined, ROUNDS);
    while (right < ROUNDS && list_is_right())
        right++;
    CHECK_INT(right, ROUNDS);
}

/* An entry that has two addresses, or one and a size: as numbers, or by their index. */
static void test_low_and_high(void)
{
    static const uint64_t addresses[] = {0x1000, 0x1800, 0x1200};
    struct buf text = {0};
    struct file m;
    file_init(&m);
    put_section(&m, ".debug_addr", addresses, sizeof addresses);
    struct dwarf_file f = {.elf = &m.elf, .w = m.w};
    struct unit_base base = {.version = 4, .addr_base = NO_OFFSET, .addresses = &m.elf};
    const struct die_info entries[] = {
        {.has_low = true, .has_high = true, .low = 0x2000, .high = 0x2010},
        {.has_low = true, .has_high = true, .low = 0x2000, .high = 0x20, .high_is_size = true},
        {.has_low = true, .has_high = true, .low = 0x1100, .high = 2, .high_indexed = true},
        {.has_low = true, .has_high = true, .low = 0, .low_indexed = true, .high = 1, .high_indexed = true},
        {.has_low = true, .has_high = true, .low = 0x1100, .high = 3, .high_indexed = true}, /* no such address */
        {.has_low = true, .low = 0x2000, .high = 0x2010},
        {.has_high = true, .low = 0x2000, .high = 0x2010},
    };
    struct range_list list = {0};
    for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
        die_ranges(&f, &base, &entries[i], &list);
    CHECK_STR(ranges_text(&text, &list), " 2000-2010 2000-2020 1100-1200 1000-1800");
    vec_release(&list);
    buf_release(&text);
    file_release(&m);
}

/* ---- sections ---- */

/* A unit of one entry with a name, which is long enough for libdwarf to see a unit. */
static void put_unit(struct buf *info, struct buf *abbrev)
{
    static const char name[] = "/a/name/that/is/long/enough/for/libdwarf/to/see/a/unit/a.c";
    size_t at = begin_unit(info, 4, 0);
    buf_add(abbrev, "\1\x11\0\3\x8\0\0\0", 8);
    buf_u8(info, 1);
    buf_add(info, name, sizeof name);
    end_unit(info, at);
}

/* The first section of a given name is used; the section list ends when memory runs out. */
static void test_sections(void)
{
    static const char *const names[] = {".debug_info", ".debug_abbrev"};
    struct guarded_room room = {NULL, 0};
    struct buf info = {0}, abbrev = {0};
    put_unit(&info, &abbrev);
    for (int dwo = 0; dwo < 2; dwo++) {
        struct file m;
        struct unit_header h = {0};
        struct die_info d = {.name = NULL};
        file_init(&m);
        put_buf(&m, dwo ? ".debug_info.dwo" : ".debug_info", &info);
        put_section(&m, dwo ? ".debug_info" : ".debug_info.dwo", "\xff\xff", 2);
        put_section(&m, ".debug_informal", "\xff\xff", 2);
        put_buf(&m, dwo ? ".debug_abbrev.dwo" : ".debug_abbrev", &abbrev);
        for (size_t i = 0; i < 2 * ARRAY_SIZE(names); i++)
            put_section(&m, i % 2 ? names[i / 2] : i == 0 && dwo ? ".debug_info.dwo" : names[i / 2], "\xff\xff\xff", 3);
        if (!dwo) /* of packages alone */
            put_section(&m, ".debug_cu_index", "\x63\0\0\0\1\0\0\0\1\0\0\0\2\0\0\0", 16);
        size_t bytes = m.elf.section_count * sizeof *m.sections;
        m.elf.sections = guarded_copy(&room, m.sections, bytes);
        CHECK_INT(dwarf_file_open(&m.elf, dwo, m.w, &m.f, NULL), 1);
        CHECK(m.f && dwarf_file_next(m.f, &h));
        Dwarf_Die die = m.f ? dwarf_die_at(m.f, h.die) : NULL;
        if (die) {
            die_read(m.f, die, &d);
            dwarf_dealloc_die(die);
        }
        CHECK_STR(d.name ? path_base(d.name) : "none", "a.c");
        CHECK(m.f && !dwarf_file_next(m.f, &h));
        CHECK_INT(warnings_count(m.w), 0);
        file_release(&m);
    }
    buf_release(&info);
    buf_release(&abbrev);
}

/* Only the first section of each name is loaded, and only if libdwarf needs it for this kind of file; no other section
   is even decompressed. */
static void test_what_is_loaded(void)
{
    static const struct {
        const char *name;
        bool plain, split;
    } all[] = {
        {".debug_info", true, false},
        {".debug_info.dwo", false, true},
        {".debug_abbrev", true, false},
        {".debug_abbrev.dwo", false, true},
        {".debug_str", true, false},
        {".debug_str.dwo", false, true},
        {".debug_line_str", true, false},
        {".debug_line_str.dwo", false, true},
        {".debug_str_offsets", true, false},
        {".debug_str_offsets.dwo", false, true},
        {".debug_addr", true, false},
        {".debug_addr.dwo", false, true},
        {".debug_cu_index", false, true},
        {".debug_tu_index", false, true},
        {".debug_line", false, false},
        {".debug_loc", false, false},
        {".debug_loc.dwo", false, false},
        {".debug_macro.dwo", false, false},
        {".debug_informal", false, false},
        {".debug_informal.dwo", false, false},
        {".debug_", false, false},
        {".debug_.dwo", false, false},
        {".info", false, false},
        {"debug_info", false, false},
        {".text", false, false},
        {"", false, false},
    };
    struct buf info = {0}, abbrev = {0};
    unsigned wrong = 0;
    put_unit(&info, &abbrev);
    for (int dwo = 0; dwo < 2; dwo++) {
        struct file m;
        file_init(&m);
        for (int again = 0; again < 2; again++)
            for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                if (i < 4)
                    put_buf(&m, all[i].name, i < 2 ? &info : &abbrev);
                else
                    put_section(&m, all[i].name, "\x63\0\0\0\1\0\0\0\1\0\0\0\2\0\0\0", 16);
            }
        CHECK_INT(dwarf_file_open(&m.elf, dwo, m.w, &m.f, NULL), dwo ? -1 : 1); /* (no version has such an index) */
        for (size_t i = 0; i < 2 * ARRAY_SIZE(all); i++) {
            bool wanted = i < ARRAY_SIZE(all) && (dwo ? all[i].split : all[i].plain);
            if (m.sections[i + 1].loaded != wanted && wrong++ < 9)
                printf("# %s of a %s file\n", m.sections[i + 1].name, dwo ? "split" : "plain");
        }
        file_release(&m);
    }
    CHECK_INT(wrong, 0);
    buf_release(&info);
    buf_release(&abbrev);
}

/* A string of a split file, by index: found only if both its table entry and its offset are within their sections. */
static void test_split_texts(void)
{
    static const struct {
        uint64_t table, offset;
        const char *wanted;
    } cases[] = {
        {4, 3, "apart"}, {0, 0, "\1\1\1apart"}, {4, 8, ""},      {4, 9, NULL},
        {4, 4000, NULL}, {8, 3, NULL},          {1000, 3, NULL}, {5, 3, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf info = {0}, abbrev = {0}, table = {0};
        struct file m;
        struct unit_header h = {0};
        struct die_info d = {.name = NULL};
        size_t at = begin_unit(&info, 5, 0);
        buf_add(&abbrev, "\1\x11\0\3\x1a\0\0\0", 8); /* its name is the text of a number */
        buf_add(&info, "\1\0", 2);
        for (int k = 0; k < 40; k++) /* (so that libdwarf sees a unit) */
            buf_u8(&info, 0);
        end_unit(&info, at);
        put_units(&m, false, &info, &abbrev);
        CHECK_INT(dwarf_file_open(&m.elf, false, m.w, &m.f, NULL), 1);
        buf_u32(&table, 0);
        buf_u32(&table, (uint32_t)cases[i].offset);
        put_buf(&m, ".debug_str_offsets.dwo", &table);
        put_section(&m, ".debug_str.dwo", "\1\1\1apart", 9);
        m.f->offset_size = 4;
        m.f->string_offsets = cases[i].table;
        Dwarf_Die die = dwarf_file_next(m.f, &h) ? dwarf_die_at(m.f, h.die) : NULL;
        if (die) {
            die_read(m.f, die, &d);
            dwarf_dealloc_die(die);
        }
        CHECK(die != NULL);
        CHECK_STR(d.name ? d.name : "none", cases[i].wanted ? cases[i].wanted : "none");
        release_units(&m, &info, &abbrev);
        buf_release(&table);
    }
}

/* Damage is reported once per file, with its first location. */
static void test_complaints(void)
{
    struct file m;
    file_init(&m);
    struct dwarf_file f = {.elf = &m.elf, .w = m.w};
    for (uint64_t offset = 0x12; offset < 0x15; offset++)
        dwarf_complain(&f, offset, NULL);
    CHECK_INT(warnings_count(m.w), 1);
    CHECK_STR(warnings_get(m.w, 0), "made: damaged debug information (.debug_info at 0x12: out of order); lines, names "
                                    "or inlined calls of that part are missing");
    file_release(&m);
}

/* A package index of an unknown version: the file is not read, and the warning quotes libdwarf. */
static void test_damaged_index(void)
{
    static const char *const names[] = {".debug_cu_index", ".debug_tu_index"};
    struct buf info = {0}, abbrev = {0};
    put_unit(&info, &abbrev);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct file m;
        struct err err = {0};
        put_units(&m, true, &info, &abbrev);
        put_section(&m, names[i], "\x63\0\0\0\1\0\0\0\1\0\0\0\2\0\0\0", 16);
        CHECK_INT(dwarf_file_open(&m.elf, true, m.w, &m.f, &err), -1);
        CHECK(m.f == NULL && str_starts(err.msg, "made: its debug information cannot be read: ") &&
              !strstr(err.msg, "none found"));
        file_release(&m);
    }
    buf_release(&info);
    buf_release(&abbrev);
}

/* A unit of an unknown version after a valid one: reported once, with libdwarf's message. */
static void test_damaged_unit(void)
{
    struct buf info = {0}, abbrev = {0};
    struct file m;
    struct unit_header h = {0};
    put_unit(&info, &abbrev);
    size_t second = info.len;
    put_unit(&info, &abbrev);
    info.bytes[second + 4] = 99;
    put_units(&m, false, &info, &abbrev);
    CHECK_INT(dwarf_file_open(&m.elf, false, m.w, &m.f, NULL), 1);
    CHECK(dwarf_file_next(m.f, &h) && !dwarf_file_next(m.f, &h));
    CHECK_INT(warnings_count(m.w), 1);
    CHECK(warnings_count(m.w) == 1 && !strstr(warnings_get(m.w, 0), "out of order"));
    release_units(&m, &info, &abbrev);
}

/* A missing entry is reported. */
static void test_entry_outside(void)
{
    struct buf info = {0}, abbrev = {0};
    struct file m;
    struct unit_header h = {0};
    put_unit(&info, &abbrev);
    put_units(&m, false, &info, &abbrev);
    CHECK_INT(dwarf_file_open(&m.elf, false, m.w, &m.f, NULL), 1);
    CHECK(dwarf_file_next(m.f, &h) && !dwarf_file_next(m.f, &h));
    CHECK(dwarf_die_at(m.f, info.len + 0x1000) == NULL);
    CHECK_INT(warnings_count(m.w), 1);
    release_units(&m, &info, &abbrev);
}

/* Sibling references to arbitrary offsets: the walk continues within the section or ends, and reads no entry twice. */
static void test_siblings(void)
{
    enum { ENTRIES = 6 };
    unsigned wrong = 0;
    for (uint32_t to = 0; to < 60; to++)
        for (unsigned which = 0; which < ENTRIES; which++) {
            struct buf info = {0};
            struct file m;
            struct unit_header h = {0};
            struct die_walk walk;
            static const uint8_t abbrev[] = {1, 0x11, 1, 0, 0, 2, 0x0b, 1, 1, 0x13, 0, 0,
                                             3, 0x0b, 1, 0, 0, 4, 0x34, 0, 0, 0,    0};
            bool more;
            size_t at = begin_unit(&info, 4, 0);
            buf_u8(&info, 1);
            for (unsigned i = 0; i < ENTRIES; i++) { /* each has a child */
                buf_u8(&info, i == which ? 2 : 3);
                if (i == which)
                    buf_u32(&info, to);
                buf_add(&info, "\4\0", 2);
            }
            buf_add(&info, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
            end_unit(&info, at);
            file_init(&m);
            put_buf(&m, ".debug_info", &info);
            put_section(&m, ".debug_abbrev", abbrev, sizeof abbrev);
            if (dwarf_file_open(&m.elf, false, m.w, &m.f, NULL) != 1 || !dwarf_file_next(m.f, &h))
                exit(99);
            Dwarf_Die root = dwarf_die_at(m.f, h.die);
            uint64_t before = h.die;
            unsigned count = 0;
            for (more = die_walk_begin(&walk, m.f, root); more && count < 100; count++) {
                const struct die_level *l = &walk.levels[walk.depth - 1];
                wrong += l->offset <= before || l->offset != die_offset(l->die);
                before = l->offset;
                more = die_walk_into(&walk) || die_walk_next(&walk);
            }
            wrong += count >= 100;
            die_walk_end(&walk);
            dwarf_dealloc_die(root);
            file_release(&m);
            buf_release(&info);
        }
    CHECK_INT(wrong, 0);
}

/* ---- packages ---- */

enum { COLUMNS = 4, PACKED = 3 };

/* Start of each unit's contribution, after the table headers, or the fact that it has none. */
static void test_package(unsigned version, unsigned offset_size)
{
    static const uint32_t columns[COLUMNS] = {1, 3, 6, 8}; /* info, abbreviations, string offsets, lists of ranges */
    struct buf info = {0}, abbrev = {0}, index = {0};
    struct file m;
    struct unit_header h = {0};
    size_t begins[PACKED + 1] = {0};
    uint32_t parts[PACKED][2], sizes[PACKED][2];
    unsigned wrong = 0;
    buf_add(&abbrev, "\1\x11\0\3\x8\0\0\0", 8);
    for (unsigned u = 0; u < PACKED; u++) {
        if (offset_size == 8)
            buf_u32(&info, 0xffffffff);
        size_t field = info.len;
        buf_add(&info, "\0\0\0\0\0\0\0\0", offset_size);
        buf_u16(&info, (uint16_t)version);
        if (version >= 5)
            buf_add(&info, "\5\10", 2); /* split */
        buf_add(&info, "\0\0\0\0\0\0\0\0", offset_size);
        if (version < 5)
            buf_u8(&info, 8);
        else
            buf_u64(&info, 0x100 + u);
        buf_u8(&info, 1);
        buf_printf(&info, "%040u", u);
        buf_u8(&info, 0);
        uint64_t length = info.len - field - offset_size;
        memcpy(info.bytes + field, &length, offset_size);
        begins[u + 1] = info.len;
        for (int k = 0; k < 2; k++) {
            parts[u][k] = 100 * u + 10 * (unsigned)k;
            sizes[u][k] = u == 1 ? 0 : 64;
        }
    }
    if (version >= 5)
        buf_u16(&index, 5), buf_u16(&index, 0);
    else
        buf_u32(&index, 2);
    buf_u32(&index, COLUMNS);
    buf_u32(&index, PACKED);
    buf_u32(&index, 8);
    for (unsigned slot = 0; slot < 8; slot++)
        buf_u64(&index, slot < PACKED ? 0x100 + slot : 0);
    for (unsigned slot = 0; slot < 8; slot++)
        buf_u32(&index, slot < PACKED ? slot + 1 : 0);
    for (int k = 0; k < COLUMNS; k++)
        buf_u32(&index, columns[k]);
    for (unsigned u = 0; u < PACKED; u++) {
        buf_u32(&index, (uint32_t)begins[u]);
        buf_u32(&index, 0);
        buf_u32(&index, parts[u][0]);
        buf_u32(&index, parts[u][1]);
    }
    for (unsigned u = 0; u < PACKED; u++) {
        buf_u32(&index, (uint32_t)(begins[u + 1] - begins[u]));
        buf_u32(&index, (uint32_t)abbrev.len);
        buf_u32(&index, sizes[u][0]);
        buf_u32(&index, sizes[u][1]);
    }
    put_units(&m, true, &info, &abbrev);
    put_buf(&m, ".debug_cu_index", &index);
    CHECK_INT(dwarf_file_open(&m.elf, true, m.w, &m.f, NULL), 1);
    for (unsigned u = 0; u < PACKED; u++) {
        Dwarf_Die die = m.f && dwarf_file_next(m.f, &h) ? dwarf_die_at(m.f, h.die) : NULL;
        struct package_parts p = {0, 0};
        if (die) {
            p = die_package_parts(m.f, die);
            dwarf_dealloc_die(die);
        }
        uint64_t strings = version < 5 ? 0 : offset_size == 8 ? 16 : 8, lists = offset_size == 8 ? 20 : 12;
        wrong += !die || p.string_offsets != (u == 1 ? NO_OFFSET : parts[u][0] + strings);
        wrong += p.rnglists != (u == 1 || version < 5 ? NO_OFFSET : parts[u][1] + lists);
    }
    CHECK_INT(wrong, 0);
    for (size_t i = 0; i < warnings_count(m.w); i++)
        printf("# %s\n", warnings_get(m.w, i));
    release_units(&m, &info, &abbrev);
    buf_release(&index);
}

/* ---- cached values ---- */

/* The slot of the key, otherwise the first empty one, otherwise the least recently used one. */
static void test_kept(void)
{
    enum { MOST = 5 };
    unsigned wrong = 0;
    for (size_t count = 1; count <= MOST; count++) {
        struct kept kept[MOST] = {{0, 0}};
        uint64_t keys[MOST] = {0}, used[MOST] = {0};
        for (uint64_t now = 1; now < 400; now++) {
            uint64_t key = below(8);
            size_t wanted = 0, i;
            bool there;
            for (i = 0; i < count && !(used[i] && keys[i] == key); i++)
                wanted = used[i] < used[wanted] ? i : wanted;
            bool known = i < count;
            wanted = known ? i : wanted;
            wrong += kept_slot(kept, count, key, now, &there) != wanted || there != known;
            keys[wanted] = key, used[wanted] = now;
        }
    }
    CHECK_INT(wrong, 0);
}

int main(void)
{
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0xa5); /* uninitialized memory is not zero */
#endif
    for (unsigned version = 2; version <= 5; version++)
        test_forms(version);
    split = true;
    for (unsigned n = 0; n < 4; n++)
        test_forms(5);
    RUN(test_ranges);
    RUN(test_low_and_high);
    RUN(test_sections);
    RUN(test_what_is_loaded);
    RUN(test_split_texts);
    RUN(test_complaints);
    RUN(test_damaged_index);
    RUN(test_damaged_unit);
    RUN(test_entry_outside);
    RUN(test_siblings);
    RUN(test_kept);
    for (unsigned version = 4; version <= 5; version++)
        for (unsigned offset_size = 4; offset_size <= 8; offset_size += 4)
            test_package(version, offset_size);
    return tap_done();
}
