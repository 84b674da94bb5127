/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Debug information generated entry by entry, with combinations that compilers do not write, compared with its meaning:
 * each addition is recorded as the text that reading must produce. Generated from seeds: another seed gives other
 * programs.
 */
#include "config.h"
#include "bloop/binary_test.h"
#include "bloop/bloop.h"
#include "bloop/debug/debug_int.h"
#include "tests/tap.h"

#include <elf.h>
#include <malloc.h>

enum { TEXT = 0x401000, TEXT_SIZE = 0x8000, UNITS = 12, LINE_STEP = 6 };

/* ---- entries ---- */

/* Sections, and the unit under construction. For a split file `addr`, `ranges` and `line` are borrowed from the
   binary. */
struct maker {
    struct buf info, abbrev, line, aranges, ranges, str, line_str, str_offsets, addr, rnglists, link;
    struct buf *shared; /* strings in the dwz file; NULL: no such file */
    size_t unit;        /* its start; also of its contributions to other sections, after their headers: */
    size_t str_base, addr_base, lists_base, ranges_base;
    unsigned lists; /* number of ranges in the table before them */
    unsigned version, offset_size;
    bool split;
    uint32_t codes;
    uint64_t random;
};

struct attribute {
    uint16_t name, form;
    int64_t number;
    const char *bytes; /* of a string; of a block, `number` of them */
};
#define DIE(m, tag, children, ...)                                                                                     \
    die((m), (tag), (children), (const struct attribute[]){__VA_ARGS__},                                               \
        sizeof((const struct attribute[]){__VA_ARGS__}) / sizeof(struct attribute))

static unsigned pick(struct maker *m, unsigned n)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(m->random >> 33) % n;
}

static void put_uleb(struct buf *b, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_u8(b, (uint8_t)(n | 0x80));
    buf_u8(b, (uint8_t)n);
}

static void put_sleb(struct buf *b, int64_t n)
{
    for (; n < -64 || n > 63; n >>= 7)
        buf_u8(b, (uint8_t)(n | 0x80));
    buf_u8(b, (uint8_t)(n & 0x7f));
}

static void put_offset(struct buf *b, uint64_t v, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        buf_u8(b, (uint8_t)(v >> 8 * i));
}

/* Callers name an attribute by its usual form; the form written is random, because readers must not depend on it. */

struct form {
    unsigned form;
    unsigned bytes; /* 0: as LEB128 */
};

/* Chooses among the forms that can hold the value. */
static unsigned put_in(struct maker *m, const struct form *forms, size_t count, uint64_t v)
{
    const struct form *f;
    do
        f = &forms[pick(m, (unsigned)count)];
    while (f->bytes > 0 && f->bytes < 8 && v >> 8 * f->bytes);
    if (f->bytes)
        put_offset(&m->info, v, f->bytes);
    else
        put_uleb(&m->info, v);
    return f->form;
}

static unsigned put_address(struct maker *m, uint64_t v)
{
    static const struct form indexed[] = {
        {DW_FORM_addrx, 0}, {DW_FORM_addrx1, 1}, {DW_FORM_addrx2, 2}, {DW_FORM_addrx4, 4}};
    if ((m->version < 5 && !m->split) || pick(m, 3) == 0) {
        buf_u64(&m->info, v);
        return DW_FORM_addr;
    }
    uint64_t index = (m->addr.len - m->addr_base) / 8;
    buf_u64(&m->addr, v);
    if (m->version >= 5)
        return put_in(m, indexed, ARRAY_SIZE(indexed), index);
    put_uleb(&m->info, index);
    return DW_FORM_GNU_addr_index;
}

static unsigned put_string(struct maker *m, const char *s)
{
    static const struct form indexed[] = {
        {DW_FORM_strx, 0}, {DW_FORM_strx1, 1}, {DW_FORM_strx2, 2}, {DW_FORM_strx4, 4}};
    unsigned how = pick(m, m->version >= 5 && !m->split ? 4 : 3);
    if (m->shared && pick(m, 8) == 0) {
        put_offset(&m->info, m->shared->len, m->offset_size);
        buf_add(m->shared, s, strlen(s) + 1);
        return DW_FORM_GNU_strp_alt;
    }
    struct buf *to = how == 3 ? &m->line_str : &m->str;
    if (how == 0 || (how == 1 && m->split)) {
        buf_add(&m->info, s, strlen(s) + 1);
        return DW_FORM_string;
    }
    uint64_t at = to->len, index = (m->str_offsets.len - m->str_base) / m->offset_size;
    buf_add(to, s, strlen(s) + 1);
    if (how == 2 && (m->version >= 5 || m->split)) {
        put_offset(&m->str_offsets, at, m->offset_size);
        if (m->version >= 5)
            return put_in(m, indexed, ARRAY_SIZE(indexed), index);
        put_uleb(&m->info, index);
        return DW_FORM_GNU_str_index;
    }
    put_offset(&m->info, at, m->offset_size);
    return how == 3 ? DW_FORM_line_strp : DW_FORM_strp;
}

static unsigned put_value(struct maker *m, const struct attribute *a)
{
    static const struct form numbers[] = {
        {DW_FORM_udata, 0}, {DW_FORM_data1, 1}, {DW_FORM_data2, 2}, {DW_FORM_data4, 4}, {DW_FORM_data8, 8}};
    static const struct form references[] = {
        {DW_FORM_ref_udata, 0}, {DW_FORM_ref1, 1}, {DW_FORM_ref2, 2}, {DW_FORM_ref4, 4}, {DW_FORM_ref8, 8}};
    struct buf *b = &m->info;
    switch (a->form) {
    case DW_FORM_addr:
        return put_address(m, (uint64_t)a->number);
    case DW_FORM_string:
        return put_string(m, a->bytes);
    case DW_FORM_sdata:
        if (m->version >= 5 && pick(m, 3) == 0)
            return DW_FORM_implicit_const; /* where the abbreviation is */
        put_sleb(b, a->number);
        return DW_FORM_sdata;
    case DW_FORM_data4:
    case DW_FORM_udata:
        if (pick(m, 6) == 0 && a->number >= 0)
            return put_value(m, &(struct attribute){a->name, DW_FORM_sdata, a->number, NULL});
        return put_in(m, numbers, ARRAY_SIZE(numbers), (uint64_t)a->number);
    case DW_FORM_ref4:
        if (m->split || pick(m, 6))
            return put_in(m, references, ARRAY_SIZE(references), (uint64_t)a->number - m->unit);
        /* fall through */
    case DW_FORM_ref_addr:
        put_offset(b, (uint64_t)a->number, m->version == 2 ? 8 : m->offset_size);
        return DW_FORM_ref_addr;
    case DW_FORM_GNU_ref_alt:
        put_offset(b, (uint64_t)a->number, m->offset_size);
        return DW_FORM_GNU_ref_alt;
    case DW_FORM_exprloc:
        put_uleb(b, (uint64_t)a->number);
        buf_add(b, a->bytes, (size_t)a->number);
        return DW_FORM_exprloc;
    case DW_FORM_rnglistx:
        put_uleb(b, (uint64_t)a->number);
        return DW_FORM_rnglistx;
    case DW_FORM_data8: /* an id, which has only this form */
        buf_u64(b, (uint64_t)a->number);
        return DW_FORM_data8;
    default: /* DW_FORM_sec_offset */
        put_offset(b, (uint64_t)a->number, m->offset_size);
        return m->version >= 4 ? DW_FORM_sec_offset : m->offset_size == 8 ? DW_FORM_data8 : DW_FORM_data4;
    }
}

static void put_attribute(struct maker *m, const struct attribute *a)
{
    if (!a->form) /* left out */
        return;
    unsigned form = put_value(m, a);
    put_uleb(&m->abbrev, a->name);
    put_uleb(&m->abbrev, form);
    if (form == DW_FORM_implicit_const)
        put_sleb(&m->abbrev, a->number);
}

/* An entry with its own abbreviation; returns its offset. */
static uint64_t die(struct maker *m, unsigned tag, bool children, const struct attribute *list, size_t n)
{
    uint64_t at = m->info.len;
    put_uleb(&m->abbrev, ++m->codes);
    put_uleb(&m->abbrev, tag);
    buf_u8(&m->abbrev, children);
    put_uleb(&m->info, m->codes);
    if ((tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit || tag == DW_TAG_skeleton_unit) && m->version >= 5 &&
        !m->split) {
        /* start of its contributions to other sections: before their contents, for libdwarf */
        const struct attribute bases[] = {
            {DW_AT_str_offsets_base, DW_FORM_sec_offset, (int64_t)m->str_base, NULL},
            {DW_AT_addr_base, DW_FORM_sec_offset, (int64_t)m->addr_base, NULL},
            {DW_AT_rnglists_base, DW_FORM_sec_offset, (int64_t)m->lists_base, NULL},
        };
        for (size_t i = 0; i < ARRAY_SIZE(bases); i++)
            put_attribute(m, &bases[i]);
    }
    for (size_t i = 0; i < n; i++)
        put_attribute(m, &list[i]);
    buf_add(&m->abbrev, "\0\0", 2);
    return at;
}

static void end_children(struct maker *m)
{
    buf_u8(&m->info, 0);
}

static void put_length(struct buf *b, uint64_t length, unsigned offset_size)
{
    if (offset_size == 8)
        buf_u32(b, 0xffffffff);
    put_offset(b, length, offset_size);
}

/* Sets the length field for the bytes since `at`. */
static void set_length(struct buf *b, size_t at, unsigned offset_size)
{
    size_t field = at + (offset_size == 8 ? 4 : 0);
    uint64_t length = b->len - field - offset_size;
    memcpy(b->bytes + field, &length, offset_size);
}

enum { LISTS = 400 }; /* most of a unit */

/* The unit's parts of the sections that it refers to by number. Those of .debug_addr are the binary's. */
static void begin_parts(struct maker *m)
{
    put_length(&m->str_offsets, 0, m->offset_size);
    buf_add(&m->str_offsets, "\5\0\0\0", 4);
    m->str_base = m->str_offsets.len;
    put_length(&m->rnglists, 0, m->offset_size);
    buf_add(&m->rnglists, "\5\0\10\0", 4);
    buf_u32(&m->rnglists, LISTS);
    m->lists_base = m->rnglists.len;
    m->lists = 0;
    for (unsigned i = 0; i < LISTS; i++)
        put_offset(&m->rnglists, 0, m->offset_size);
    if (m->split)
        return;
    put_length(&m->addr, 0, m->offset_size);
    buf_add(&m->addr, "\5\0\10\0", 4);
    m->addr_base = m->addr.len;
}

static void end_parts(struct maker *m)
{
    unsigned header = m->offset_size == 8 ? 16 : 8;
    set_length(&m->str_offsets, m->str_base - header, m->offset_size);
    set_length(&m->rnglists, m->lists_base - header - 4, m->offset_size);
    if (!m->split)
        set_length(&m->addr, m->addr_base - header, m->offset_size);
}

static void unit_begin(struct maker *m, unsigned type, uint64_t id)
{
    m->unit = m->info.len;
    m->codes = 0;
    put_length(&m->info, 0, m->offset_size);
    buf_u16(&m->info, (uint16_t)m->version);
    if (m->version >= 5) {
        buf_u8(&m->info, (uint8_t)type);
        buf_u8(&m->info, 8);
    }
    put_offset(&m->info, m->abbrev.len, m->offset_size);
    if (m->version < 5)
        buf_u8(&m->info, 8);
    else if (type == DW_UT_skeleton || type == DW_UT_split_compile)
        buf_u64(&m->info, id);
    if (m->version >= 5)
        begin_parts(m);
}

/* Closes a unit whose entry has no children. */
static void unit_close(struct maker *m)
{
    set_length(&m->info, m->unit, m->offset_size);
    if (m->version >= 5)
        end_parts(m);
    buf_u8(&m->abbrev, 0);
}

static void unit_end(struct maker *m)
{
    end_children(m);
    unit_close(m);
}

/* `least`: 4 if there are expressions. */
static void pick_version(struct maker *m, unsigned least)
{
    m->version = least + pick(m, 6 - least);
    m->offset_size = m->version > 2 && pick(m, 3) == 0 ? 8 : 4;
}

/* A table that alternates "a.c" and "inc/b.h", with a row every LINE_STEP bytes of [begin, end), numbered as if rows
   started at TEXT. Returns its offset. */
static uint64_t make_lines(struct maker *m, vaddr begin, vaddr end)
{
    static const uint8_t operands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    struct buf *b = &m->line;
    size_t start = b->len;
    buf_u32(b, 0);
    buf_u16(b, 4);
    buf_u32(b, 0);
    size_t header = b->len;
    buf_add(b, "\1\1\1\373\16\15", 6);
    buf_add(b, operands, sizeof operands);
    buf_add(b, "inc\0\0a.c\0\0\0\0b.h\0\1\0\0\0", 20);
    uint32_t header_length = (uint32_t)(b->len - header);
    memcpy(b->bytes + header - 4, &header_length, 4);
    buf_add(b, "\0\x09\x02", 3);
    buf_u64(b, begin);
    buf_u8(b, 3);
    put_sleb(b, (int64_t)(begin - TEXT) / LINE_STEP);
    for (vaddr at = begin; at < end; at += LINE_STEP) {
        buf_u8(b, 4);
        put_uleb(b, 1 + (at - TEXT) / LINE_STEP % 2);
        buf_u8(b, 1);
        buf_add(b, "\3\1\2", 3); /* line + 1, address + */
        put_uleb(b, end - at < LINE_STEP ? end - at : LINE_STEP);
    }
    buf_add(b, "\0\1\1", 3);
    set_length(b, start, 4);
    return start;
}

/* ---- the file ---- */

static void put_padded(struct buf *b, const void *bytes, size_t n, size_t align)
{
    while (b->len % align)
        buf_u8(b, 0);
    buf_add(b, bytes, n);
}

/* FOLDER/name with the sections that have something in them; the path, caller frees. */
static char *write_file_of(const struct maker *m, const char *name)
{
    const struct {
        const char *name;
        const struct buf *bytes;
        bool of_binary;
    } parts[] = {{".debug_info", &m->info, false},         {".debug_abbrev", &m->abbrev, false},
                 {".debug_line", &m->line, true},          {".debug_aranges", &m->aranges, true},
                 {".debug_ranges", &m->ranges, true},      {".debug_str", &m->str, false},
                 {".debug_line_str", &m->line_str, false}, {".debug_str_offsets", &m->str_offsets, false},
                 {".debug_addr", &m->addr, true},          {".debug_rnglists", &m->rnglists, false},
                 {".gnu_debugaltlink", &m->link, true}};
    static const uint8_t text[TEXT_SIZE] = {0x90};
    struct buf file = {0}, names = {0};
    Elf64_Shdr sections[3 + ARRAY_SIZE(parts)] = {0};
    Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                    .e_type = ET_EXEC,
                    .e_machine = EM_X86_64,
                    .e_version = 1,
                    .e_ehsize = sizeof h,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = 2};
    buf_add(&names, "\0.text", 7);
    buf_add(&file, &h, sizeof h);
    put_padded(&file, text, sizeof text, 0x1000);
    sections[1] = (Elf64_Shdr){.sh_name = 1,
                               .sh_type = SHT_PROGBITS,
                               .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                               .sh_addr = TEXT,
                               .sh_offset = 0x1000,
                               .sh_size = TEXT_SIZE,
                               .sh_addralign = 16};
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        if (!parts[i].bytes->len || (m->split && parts[i].of_binary))
            continue;
        sections[h.e_shnum++] = (Elf64_Shdr){.sh_name = (Elf64_Word)names.len,
                                             .sh_type = SHT_PROGBITS,
                                             .sh_offset = file.len,
                                             .sh_size = parts[i].bytes->len,
                                             .sh_addralign = 1};
        buf_printf(&names, "%s%s", parts[i].name, m->split ? ".dwo" : "");
        buf_u8(&names, 0);
        buf_add(&file, parts[i].bytes->bytes, parts[i].bytes->len);
    }
    h.e_shstrndx = h.e_shnum;
    sections[h.e_shnum++] = (Elf64_Shdr){
        .sh_name = 0, .sh_type = SHT_STRTAB, .sh_offset = file.len, .sh_size = names.len, .sh_addralign = 1};
    buf_add(&file, names.bytes, names.len);
    put_padded(&file, sections, h.e_shnum * sizeof *sections, 8);
    h.e_shoff = file.len - h.e_shnum * sizeof *sections;
    memcpy(file.bytes, &h, sizeof h);
    write_file(name, file.bytes, file.len);
    buf_release(&file);
    buf_release(&names);
    return scratch(name);
}

static char *write_made(const struct maker *m)
{
    return write_file_of(m, "made");
}

static void maker_release(struct maker *m)
{
    struct buf *const all[] = {&m->info,     &m->abbrev,      &m->line, &m->aranges,  &m->ranges, &m->str,
                               &m->line_str, &m->str_offsets, &m->addr, &m->rnglists, &m->link};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        buf_release(all[i]);
}

static void check_text(struct buf *got, struct buf *wanted, const char *what, uint64_t seed)
{
    buf_str(got, "");
    buf_str(wanted, "");
    char *name = mem_printf("%s, seed %llu", what, (unsigned long long)seed);
    if (!tap_result(strcmp(got->bytes, wanted->bytes) == 0, name, __FILE__, __LINE__)) {
        size_t i = 0, line = 0;
        for (; got->bytes[i] == wanted->bytes[i]; i++)
            line = got->bytes[i] == '\n' ? i + 1 : line;
        printf("# got    %.*s\n# wanted %.*s\n", (int)strcspn(got->bytes + line, "\n"), got->bytes + line,
               (int)strcspn(wanted->bytes + line, "\n"), wanted->bytes + line);
    }
    mem_free(name);
    buf_release(got);
    buf_release(wanted);
}

static const uint16_t languages[] = {
    DW_LANG_C_plus_plus, DW_LANG_C99, DW_LANG_Fortran77, DW_LANG_Fortran90, DW_LANG_Fortran95, 0x22, 0x23, 0x2d,
    DW_LANG_C_plus_plus};

static bool is_fortran(unsigned language)
{
    return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
           language == 0x22 || language == 0x23 || language == 0x2d;
}

/* ---- variables ---- */

struct made_type {
    uint64_t at, bytes; /* 0: unknown */
};

/* A number of 1, 2, 4, ... bytes, or arrays of arrays of it, under names and qualifiers. */
static struct made_type make_type(struct maker *m, bool fortran)
{
    struct made_type t = {.bytes = 1u << pick(m, 5)};
    t.at = DIE(m, DW_TAG_base_type, false, {DW_AT_byte_size, DW_FORM_udata, (int64_t)t.bytes, NULL});
    for (unsigned layers = pick(m, 4); layers; layers--) {
        static const uint16_t names[] = {DW_TAG_typedef, DW_TAG_const_type, DW_TAG_volatile_type};
        if (pick(m, 2)) {
            t.at = DIE(m, names[pick(m, 3)], false, {DW_AT_type, DW_FORM_ref4, (int64_t)t.at, NULL});
            continue;
        }
        t.at = DIE(m, DW_TAG_array_type, true, {DW_AT_type, DW_FORM_ref4, (int64_t)t.at, NULL});
        for (unsigned dimensions = 1 + pick(m, 2); dimensions; dimensions--) {
            int64_t lower = (int64_t)pick(m, 7) - 3, n = (int64_t)pick(m, 9);
            switch (pick(m, 3)) {
            case 0:
                DIE(m, DW_TAG_subrange_type, false, {DW_AT_count, DW_FORM_udata, n, NULL});
                break;
            case 1: /* from 0, or 1 in Fortran */
                DIE(m, DW_TAG_subrange_type, false, {DW_AT_upper_bound, DW_FORM_sdata, n - !fortran, NULL});
                break;
            default:
                DIE(m, DW_TAG_subrange_type, false, {DW_AT_lower_bound, DW_FORM_sdata, lower, NULL},
                    {DW_AT_upper_bound, DW_FORM_sdata, lower + n - 1, NULL});
            }
            t.bytes *= (uint64_t)n;
        }
        end_children(m);
        if (pick(m, 16) == 0) { /* its size is unknown, and so is that of any containing type */
            t.at = DIE(m, DW_TAG_array_type, true, {DW_AT_type, DW_FORM_ref4, (int64_t)t.at, NULL});
            DIE(m, DW_TAG_subrange_type, false, {0});
            end_children(m);
            t.bytes = 0;
        }
    }
    return t;
}

/* The origins of variables and procedures: abstract instances or declarations. */
enum { ABSTRACTS = 8 };
struct made_abstract {
    uint64_t at;
    char name[8];                 /* "": no name */
    const struct made_type *type; /* NULL: no type */
};

struct made_place {
    const struct made_abstract *abstracts;
    int64_t frame; /* offset of the frame base */
    struct addr_range procedure, code;
    char name[32];
    bool common;
};

static void make_variable(struct maker *m, const struct made_place *in, const struct made_type *types, unsigned number,
                          struct buf *wanted)
{
    static const struct made_type unknown = {0, 0};
    struct buf where = {0};
    const struct made_type *t = &types[pick(m, 8)];
    bool in_frame = pick(m, 3) != (in->common ? 1 : 0), sound = true;
    int64_t at = in_frame ? (int64_t)pick(m, 100000) - 90000 : 0x500000 + (int64_t)pick(m, 100000);
    char name[16];
    snprintf(name, sizeof name, "v%u", number);
    if (in_frame) {
        buf_u8(&where, 0x91);
        put_sleb(&where, at);
        at += in->frame;
    } else {
        buf_u8(&where, 0x03);
        buf_u64(&where, (uint64_t)at);
        if (pick(m, 2)) {
            unsigned more = pick(m, 1000);
            buf_u8(&where, pick(m, 4) ? 0x23 : (sound = false, 0x22));
            put_uleb(&where, more);
            at += more;
        }
    }
    if (pick(m, 8) == 0) { /* an additional operation: not a plain location */
        buf_u8(&where, 0x06);
        sound = false;
    }
    bool named = pick(m, 4) != 0, typed = pick(m, 4) != 0, below = pick(m, 8) == 0;
    const struct made_abstract *of = pick(m, 2) ? &in->abstracts[pick(m, ABSTRACTS)] : NULL;
    DIE(m, DW_TAG_variable, below, {DW_AT_name, named ? DW_FORM_string : 0, 0, name},
        {pick(m, 2) ? DW_AT_abstract_origin : DW_AT_specification, of ? DW_FORM_ref4 : 0, of ? (int64_t)of->at : 0,
         NULL},
        {DW_AT_type, typed ? DW_FORM_ref4 : 0, (int64_t)t->at, NULL},
        {DW_AT_location, DW_FORM_exprloc, (int64_t)where.len, where.bytes});
    if (below) { /* not searched */
        DIE(m, DW_TAG_variable, false, {DW_AT_name, DW_FORM_string, 0, "below"},
            {DW_AT_type, DW_FORM_ref4, (int64_t)t->at, NULL},
            {DW_AT_location, DW_FORM_exprloc, (int64_t)where.len, where.bytes});
        end_children(m);
    }
    buf_release(&where);
    if (!named)
        snprintf(name, sizeof name, "%s", of ? of->name : "");
    if (!typed)
        t = of && of->type ? of->type : &unknown;
    if (!sound || !*name || !t->bytes || in_frame == in->common || !at)
        return;
    buf_printf(wanted, in->common ? "COMMON /%s/ %s" : "%s::%s", in->name, name);
    buf_printf(wanted, " %lld+%llu", (long long)at, (unsigned long long)t->bytes);
    if (in_frame)
        buf_printf(wanted, " in %llx-%llx %llx-%llx", (unsigned long long)in->procedure.begin,
                   (unsigned long long)in->procedure.end, (unsigned long long)in->code.begin,
                   (unsigned long long)in->code.end);
    buf_char(wanted, '\n');
}

static void make_variables(struct maker *m, const struct made_place *in, const struct made_type *types, unsigned depth,
                           struct buf *wanted)
{
    for (unsigned n = pick(m, 4); n; n--)
        make_variable(m, in, types, pick(m, 100), wanted);
    if (pick(m, 4) == 0) { /* members of a class do not belong to the procedure */
        struct buf unsaid = {0};
        DIE(m, DW_TAG_structure_type, true, {DW_AT_name, DW_FORM_string, 0, "s"});
        make_variable(m, in, types, 0, &unsaid);
        end_children(m);
        buf_release(&unsaid);
    }
    for (unsigned n = depth ? pick(m, 3) : 0; n; n--) {
        struct made_place inner = *in;
        bool code = pick(m, 2);
        if (pick(m, 3) == 0 && !in->common) {
            inner.common = true;
            snprintf(inner.name, sizeof inner.name, "area%u", pick(m, 9));
            DIE(m, DW_TAG_common_block, true, {DW_AT_name, DW_FORM_string, 0, inner.name});
        } else {
            if (code)
                inner.code = (struct addr_range){in->code.begin + 1, in->code.end - 1};
            DIE(m, pick(m, 3) ? DW_TAG_lexical_block : DW_TAG_inlined_subroutine, true,
                {DW_AT_low_pc, code ? DW_FORM_addr : 0, (int64_t)inner.code.begin, NULL},
                {DW_AT_high_pc, code ? DW_FORM_data4 : 0, (int64_t)(inner.code.end - inner.code.begin), NULL});
        }
        make_variables(m, &inner, types, inner.common ? 0 : depth - 1, wanted);
        end_children(m);
    }
}

static void test_variables(uint64_t seed)
{
    static const struct {
        const char *bytes;
        int64_t n, frame;
        bool usual;
    } bases[] = {{"\x9c", 1, 0, true}, {"\x56", 1, -16, true}, {"\x57", 1, 0, false}, {"\x9c\x06", 2, 0, false}};
    struct maker m = {.random = seed};
    struct buf got = {0}, wanted = {0};
    vaddr at = TEXT;
    for (unsigned u = 0; u < UNITS; u++) {
        unsigned language = languages[pick(&m, ARRAY_SIZE(languages))];
        bool fortran = is_fortran(language);
        struct made_type types[8];
        pick_version(&m, 4);
        unit_begin(&m, DW_UT_compile, 0);
        DIE(&m, DW_TAG_compile_unit, true, {DW_AT_language, DW_FORM_data4, language, NULL},
            {DW_AT_name, DW_FORM_string, 0, "a.c"});
        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
            types[i] = make_type(&m, fortran);
        struct made_abstract abstracts[ABSTRACTS];
        DIE(&m, DW_TAG_subprogram, true, {DW_AT_name, DW_FORM_string, 0, "abstract"});
        for (unsigned i = 0; i < ABSTRACTS; i++) {
            abstracts[i] = (struct made_abstract){.type = pick(&m, 3) ? &types[pick(&m, 8)] : NULL};
            if (pick(&m, 3))
                snprintf(abstracts[i].name, sizeof abstracts[i].name, "a%u", i);
            abstracts[i].at = DIE(&m, DW_TAG_variable, false,
                                  {DW_AT_name, *abstracts[i].name ? DW_FORM_string : 0, 0, abstracts[i].name},
                                  {DW_AT_type, abstracts[i].type ? DW_FORM_ref4 : 0,
                                   abstracts[i].type ? (int64_t)abstracts[i].type->at : 0, NULL});
        }
        end_children(&m);
        for (unsigned p = pick(&m, 5); p; p--, at += 0x40) {
            unsigned base = pick(&m, 6) % 4;
            struct made_place in = {
                .abstracts = abstracts, .frame = bases[base].frame, .procedure = {at, at + 0x20 + pick(&m, 0x20)}};
            const struct made_abstract *of = pick(&m, 3) ? NULL : &abstracts[pick(&m, ABSTRACTS)];
            struct buf unsaid = {0};
            bool around = pick(&m, 3) == 0, known = bases[base].usual && (!of || *of->name);
            in.code = in.procedure;
            snprintf(in.name, sizeof in.name, "p%u", (unsigned)(at - TEXT) / 0x40);
            if (of)
                snprintf(in.name, sizeof in.name, "%s", of->name);
            if (around)
                DIE(&m, pick(&m, 2) ? DW_TAG_namespace : DW_TAG_module, true, {DW_AT_name, DW_FORM_string, 0, "n"});
            DIE(&m, DW_TAG_subprogram, true, {DW_AT_name, of ? 0 : DW_FORM_string, 0, in.name},
                {DW_AT_abstract_origin, of ? DW_FORM_ref4 : 0, of ? (int64_t)of->at : 0, NULL},
                {DW_AT_low_pc, DW_FORM_addr, (int64_t)at, NULL},
                {DW_AT_high_pc, DW_FORM_data4, (int64_t)(in.code.end - at), NULL},
                {DW_AT_frame_base, DW_FORM_exprloc, bases[base].n, bases[base].bytes});
            make_variables(&m, &in, types, 3, known ? &wanted : &unsaid);
            end_children(&m);
            if (around)
                end_children(&m);
            buf_release(&unsaid);
        }
        unit_end(&m);
    }
    char *path = write_made(&m);
    struct image *im = NULL;
    struct debug *d = NULL;
    struct bloop_variables list = {0};
    if (image_open(path, NULL, &im, NULL, NULL) == 0 && debug_open(im, &d, NULL, NULL) == 1)
        debug_variables(d, &list);
    for (size_t i = 0; i < list.count; i++) {
        const struct bloop_variable *v = &list.items[i];
        buf_printf(&got, "%s %lld+%llu", v->name, (long long)v->at, (unsigned long long)v->bytes);
        if (v->in_frame)
            buf_printf(&got, " in %llx-%llx %llx-%llx", (unsigned long long)v->procedure.begin,
                       (unsigned long long)v->procedure.end, (unsigned long long)v->code.begin,
                       (unsigned long long)v->code.end);
        buf_char(&got, '\n');
    }
    printf("# %zu variables\n", list.count);
    check_text(&got, &wanted, "variables", seed);
    bloop_variables_release(&list);
    debug_close(d);
    image_close(im);
    mem_free(path);
    maker_release(&m);
}

/* ---- procedures and their inlined calls ---- */

struct made_callee {
    uint64_t at;
    unsigned unit;
    bool split;               /* nothing else refers to it */
    bool shared;              /* it is in the dwz file */
    char name[128], bare[16]; /* as seen from its own unit, and from others */
    char link_name[16], path[24];
    unsigned line;
};
struct made_procedure {
    vaddr begin, inside, outside;  /* outside: after its end, where no procedure is; 0: not queried */
    struct range_list code, parts; /* parts: addresses whose rows are queried */
    bool entry;                    /* it is found without looking into others */
    bool lost;                     /* its description is in a missing split file */
    size_t source;                 /* the callee that it is a copy of, or a unique number */
    uint64_t id;                   /* as written; 0: not queried */
    struct buf said, rows, unit;
};
struct made_program {
    struct maker m, shared;
    struct VEC(struct made_callee) callees;
    struct VEC(struct made_procedure) procedures;
    struct buf missing; /* warnings, one a line */
    char *gone;         /* message that its split file is missing */
    /* of the unit being made */
    unsigned unit;
    char files[3][24];
    uint32_t last_line; /* drawn by some_line */
    struct buf says;
};

/* A line number; values that exceed 32 bits, or that mean none, yield no line. */
static struct attribute some_line(struct made_program *p, unsigned attribute)
{
    static const int64_t large[] = {0xfffffffe, 0xffffffff, 0x100000001, INT64_MAX, -1};
    int64_t n = pick(&p->m, 12) ? 1 + (int64_t)pick(&p->m, 900) : large[pick(&p->m, ARRAY_SIZE(large))];
    p->last_line = n < 0 || n > 0xfffffffe ? 0 : (uint32_t)n;
    return (struct attribute){(uint16_t)attribute, n < 0 ? DW_FORM_sdata : DW_FORM_udata, n, NULL};
}

/* Opens up to three namespaces and classes; sets their path with "::" after each, and returns their number. */
static unsigned open_names(struct maker *m, char *path, size_t size, bool fortran)
{
    unsigned depth = pick(m, 4);
    *path = '\0';
    for (unsigned i = 0; i < depth; i++) { /* a class holds only procedures: its members have linkage names */
        static const uint16_t tags[] = {DW_TAG_namespace, DW_TAG_class_type, DW_TAG_structure_type};
        unsigned kind = i + 1 == depth ? pick(m, 3) : 0;
        bool named = pick(m, 4) != 0;
        char name[8], *end = path + strlen(path);
        snprintf(name, sizeof name, "n%u", pick(m, 100));
        DIE(m, fortran ? DW_TAG_module : tags[kind], true, {DW_AT_name, named ? DW_FORM_string : 0, 0, name});
        snprintf(end, size - strlen(path), "%s::",
                 named             ? name
                 : fortran || kind ? "(unnamed class)"
                                   : "(anonymous namespace)");
    }
    return depth;
}

static void close_names(struct maker *m, unsigned depth)
{
    while (depth--)
        end_children(m);
}

/* A procedure of the source: complete, or a body whose name is in its declaration. */
static void make_callee(struct made_program *p, bool fortran)
{
    struct maker *m = &p->m;
    struct made_callee *c = vec_push(&p->callees);
    char path[64];
    unsigned depth = open_names(m, path, sizeof path, fortran), file = 1 + pick(m, 2);
    bool linked = pick(m, 3) == 0, old = pick(m, 2);
    struct attribute line = some_line(p, DW_AT_decl_line);
    *c = (struct made_callee){.unit = p->unit, .split = m->split, .line = p->last_line};
    snprintf(c->path, sizeof c->path, "%s", p->files[file]);
    snprintf(c->bare, sizeof c->bare, "f%zu", p->callees.count);
    snprintf(c->name, sizeof c->name, "%s%s", path, c->bare);
    if (linked)
        snprintf(c->link_name, sizeof c->link_name, "l%zu", p->callees.count);
    c->at = DIE(m, DW_TAG_subprogram, false, {DW_AT_name, DW_FORM_string, 0, c->bare},
                {old ? DW_AT_MIPS_linkage_name : DW_AT_linkage_name, linked ? DW_FORM_string : 0, 0, c->link_name},
                {DW_AT_decl_file, DW_FORM_udata, file, NULL}, line);
    close_names(m, depth);
    if (pick(m, 2))
        return;
    line = some_line(p, DW_AT_decl_line);
    if (pick(m, 2))
        line.form = 0;
    c->at = DIE(m, DW_TAG_subprogram, false, {DW_AT_specification, DW_FORM_ref4, (int64_t)c->at, NULL}, line);
    c->line = line.form && p->last_line ? p->last_line : c->line;
}

static void put_ranges(struct buf *b, const struct range_list *r)
{
    for (size_t i = 0; i < r->count; i++)
        buf_printf(b, " %llx-%llx", (unsigned long long)r->items[i].begin, (unsigned long long)r->items[i].end);
    buf_char(b, '\n');
}

/* Lists of ranges, backwards: they are sorted when they are read. */
static struct attribute put_list_v4(struct maker *m, const struct range_list *r, vaddr base)
{
    struct attribute list = {DW_AT_ranges, DW_FORM_sec_offset, (int64_t)(m->ranges.len - m->ranges_base), NULL};
    for (size_t i = r->count; i-- > 0;) {
        if (pick(m, 3) == 0) {
            base = TEXT + pick(m, 2) * 16;
            base = base > r->items[i].begin ? TEXT : base;
            buf_u64(&m->ranges, UINT64_MAX);
            buf_u64(&m->ranges, base);
        }
        if (pick(m, 4) == 0 && r->items[i].begin > base) { /* an empty range is ignored */
            buf_u64(&m->ranges, r->items[i].begin - base);
            buf_u64(&m->ranges, r->items[i].begin - base);
        }
        buf_u64(&m->ranges, r->items[i].begin - base);
        buf_u64(&m->ranges, r->items[i].end - base);
    }
    buf_u64(&m->ranges, 0);
    buf_u64(&m->ranges, 0);
    return list;
}

static uint64_t address_index(struct maker *m, vaddr v)
{
    buf_u64(&m->addr, v);
    return (m->addr.len - m->addr_base) / 8 - 1;
}

static struct attribute put_list_v5(struct maker *m, const struct range_list *r, vaddr base)
{
    struct buf *b = &m->rnglists;
    size_t at = b->len;
    for (size_t i = r->count; i-- > 0;) {
        vaddr begin = r->items[i].begin, end = r->items[i].end;
        if (pick(m, 3) == 0) {
            buf_u8(b, DW_RLE_base_addressx);
            put_uleb(b, address_index(m, base = begin - pick(m, 40)));
        }
        switch (pick(m, 3)) {
        case 0:
            buf_u8(b, DW_RLE_offset_pair);
            put_uleb(b, begin - base);
            put_uleb(b, end - base);
            break;
        case 1:
            buf_u8(b, DW_RLE_startx_length);
            put_uleb(b, address_index(m, begin));
            put_uleb(b, end - begin);
            break;
        default:
            buf_u8(b, DW_RLE_start_end);
            buf_u64(b, begin);
            buf_u64(b, end);
        }
    }
    buf_u8(b, DW_RLE_end_of_list);
    if (m->lists == LISTS || pick(m, 3) == 0)
        return (struct attribute){DW_AT_ranges, DW_FORM_sec_offset, (int64_t)at, NULL};
    uint64_t offset = at - m->lists_base;
    memcpy(b->bytes + m->lists_base + (size_t)m->lists * m->offset_size, &offset, m->offset_size);
    return (struct attribute){DW_AT_ranges, DW_FORM_rnglistx, m->lists++, NULL};
}

/* The code as DWARF describes it: two addresses, an address and a size, or a list with or without a base. In any order;
   the result is sorted. */
struct said_code {
    struct attribute low, high, ranges;
};

static struct said_code say_code(struct maker *m, const struct range_list *r, vaddr base)
{
    struct said_code s = {{0}, {0}, {0}};
    if (r->count == 1 && pick(m, 2)) {
        bool size = pick(m, 2);
        s.low = (struct attribute){DW_AT_low_pc, DW_FORM_addr, (int64_t)r->items[0].begin, NULL};
        s.high = (struct attribute){DW_AT_high_pc, size ? DW_FORM_data4 : DW_FORM_addr,
                                    (int64_t)(r->items[0].end - (size ? r->items[0].begin : 0)), NULL};
        return s;
    }
    s.ranges = m->version >= 5 ? put_list_v5(m, r, base) : put_list_v4(m, r, base);
    return s;
}

/* One or two pieces of [begin, end), apart. */
static void cut_code(struct maker *m, vaddr begin, vaddr end, struct range_list *r)
{
    vaddr middle = begin + (end - begin) / 2;
    r->count = 0;
    if (pick(m, 3)) {
        *vec_push(r) = (struct addr_range){begin, end};
    } else {
        *vec_push(r) = (struct addr_range){begin, middle - 1};
        *vec_push(r) = (struct addr_range){middle + 1, end};
    }
}

/* A callee of any unit; a split unit refers only to its own, and no other unit refers to those. */
static const struct made_callee *any_callee(struct made_program *p, bool *own)
{
    const struct made_callee *c;
    do
        c = &p->callees.items[pick(&p->m, (unsigned)p->callees.count)];
    while (c->unit != p->unit && (c->split || p->m.split));
    *own = c->unit == p->unit;
    return c;
}

static uint16_t form_of(const struct made_callee *c, bool own)
{
    return own ? DW_FORM_ref4 : c->shared ? DW_FORM_GNU_ref_alt : DW_FORM_ref_addr;
}

static void make_inlines(struct made_program *p, vaddr begin, vaddr end, vaddr base, int parent, int *count,
                         unsigned depth, struct buf *said)
{
    struct maker *m = &p->m;
    struct range_list code = {0};
    for (unsigned n = pick(m, 3); n && end - begin > 16; n--) {
        static const uint16_t blocks[] = {DW_TAG_lexical_block, DW_TAG_try_block, DW_TAG_catch_block};
        vaddr a = begin + pick(m, 3), z = end - pick(m, 3);
        bool block = pick(m, 3) == 0, own;
        unsigned file = pick(m, 3), column = pick(m, 90);
        int inner = parent;
        if (block) {
            DIE(m, blocks[pick(m, 3)], true, {DW_AT_low_pc, DW_FORM_addr, (int64_t)a, NULL},
                {DW_AT_high_pc, DW_FORM_data4, (int64_t)(z - a), NULL});
        } else {
            const struct made_callee *c = any_callee(p, &own);
            cut_code(m, a, z, &code);
            struct said_code s = say_code(m, &code, base);
            struct attribute line = some_line(p, DW_AT_call_line);
            vaddr entry = pick(m, 2) ? a + pick(m, 8) : 0; /* gcc writes this attribute; clang does not */
            DIE(m, DW_TAG_inlined_subroutine, true, s.low, s.high, s.ranges,
                {DW_AT_abstract_origin, form_of(c, own), (int64_t)c->at, NULL},
                {DW_AT_entry_pc, entry ? DW_FORM_addr : 0, (int64_t)entry, NULL},
                {DW_AT_call_file, file ? DW_FORM_udata : 0, file, NULL}, line,
                {DW_AT_call_column, DW_FORM_udata, column, NULL});
            inner = (*count)++;
            buf_printf(said, "%d in %d: %s %s (%s:%u) at %s:%u:%u from %llx", inner, parent, own ? c->name : c->bare,
                       c->link_name, c->path, c->line, p->files[file], p->last_line, column, (unsigned long long)entry);
            put_ranges(said, &code);
        }
        if (pick(m, 4) == 0) /* a gap between the ranges */
            DIE(m, DW_TAG_variable, false, {DW_AT_name, DW_FORM_string, 0, "v"});
        if (depth)
            make_inlines(p, a, z, base, inner, count, depth - 1, said);
        end_children(m);
    }
    vec_release(&code);
}

/* The query: the parts, some split into two adjacent ones, in any order, including overlapping ones. */
static void ask_for(struct maker *m, const struct range_list *code, struct range_list *parts)
{
    for (size_t i = 0; i < code->count; i++) {
        struct addr_range r = code->items[i];
        vaddr middle = r.begin + 1 + pick(m, (unsigned)(r.end - r.begin - 1));
        if (pick(m, 3) == 0 && middle < r.end) {
            *vec_push(parts) = (struct addr_range){r.begin, middle};
            r.begin = middle;
        }
        *vec_push(parts) = r;
    }
}

static void ask_for_more(struct maker *m, struct range_list *parts)
{
    for (size_t i = parts->count; i-- > 0;) {
        struct addr_range r = parts->items[i];
        for (unsigned n = r.end - r.begin > 40 ? pick(m, 3) : 0; n > 0; n--)
            *vec_push(parts) = (struct addr_range){r.begin + 1 + 4 * n + pick(m, 4), r.end - 1 - pick(m, 4)};
        if (pick(m, 2)) {
            unsigned k = pick(m, (unsigned)parts->count);
            parts->items[i] = parts->items[k];
            parts->items[k] = r;
        }
    }
}

/* The rows of the parts, and a hole after each unless the next one is adjacent. */
static void put_rows(const struct made_program *p, struct buf *b, const struct range_list *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        vaddr at = parts->items[i].begin, end = parts->items[i].end;
        for (size_t row = (at - TEXT) / LINE_STEP; at < end; row++, at = TEXT + row * LINE_STEP)
            buf_printf(b, " %llx=%s:%zu", (unsigned long long)at, p->files[1 + row % 2], row + 1);
        if (i + 1 == parts->count || parts->items[i + 1].begin != end)
            buf_printf(b, " %llx=", (unsigned long long)end);
    }
    buf_char(b, '\n');
}

/* The path without unnamed components. */
static void put_named(struct buf *b, const char *path)
{
    buf_str(b, "");
    for (const char *at = path; *at; at = strstr(at, "::") + 2)
        if (*at != '(')
            buf_add(b, at, (size_t)(strstr(at, "::") + 2 - at));
    buf_str(b, "");
}

/* The call of an object that is of a class inside the procedure: named by all around it that has a name, and the class. */
static void make_lambda(struct made_program *p, const char *path, const char *procedure)
{
    struct maker *m = &p->m;
    struct made_callee c = {.unit = p->unit, .split = m->split, .bare = "operator()"};
    struct buf name = {0};
    unsigned blocks = pick(m, 3), file = 1 + pick(m, 2);
    bool named = pick(m, 2), linked = pick(m, 3) == 0;
    struct attribute line = some_line(p, DW_AT_decl_line);
    put_named(&name, path);
    if (*procedure)
        buf_printf(&name, "%s::", procedure);
    for (unsigned i = 0; i < blocks; i++)
        DIE(m, DW_TAG_lexical_block, true, {0});
    for (unsigned n = pick(m, 3); n > 0; n--) { /* other, non-empty ones before it */
        DIE(m, pick(m, 2) ? DW_TAG_lexical_block : DW_TAG_class_type, true, {DW_AT_name, DW_FORM_string, 0, "other"});
        DIE(m, DW_TAG_variable, false, {DW_AT_name, DW_FORM_string, 0, "v"});
        end_children(m);
    }
    DIE(m, pick(m, 2) ? DW_TAG_class_type : DW_TAG_structure_type, true,
        {DW_AT_name, named ? DW_FORM_string : 0, 0, "functor"});
    buf_printf(&name, "%s::operator()", named ? "functor" : "{lambda}");
    snprintf(c.name, sizeof c.name, "%s", name.bytes);
    snprintf(c.path, sizeof c.path, "%s", p->files[file]);
    if (linked)
        snprintf(c.link_name, sizeof c.link_name, "l%zu", p->callees.count);
    c.line = p->last_line;
    c.at = DIE(m, DW_TAG_subprogram, false, {DW_AT_name, DW_FORM_string, 0, c.bare},
               {DW_AT_linkage_name, linked ? DW_FORM_string : 0, 0, c.link_name},
               {DW_AT_decl_file, DW_FORM_udata, file, NULL}, line);
    for (unsigned i = 0; i <= blocks; i++)
        end_children(m);
    *vec_push(&p->callees) = c;
    buf_release(&name);
}

/* `path`: of the enclosing scopes. May contain another procedure, whose code follows its own. */
static void make_procedure(struct made_program *p, const char *path, vaddr begin, vaddr end, vaddr base, bool fortran,
                           bool inner, bool hidden, bool asked)
{
    struct maker *m = &p->m;
    struct made_procedure made = {.begin = begin};
    bool own = true, copy = pick(m, 3) == 0, with = !inner && (asked || fortran) && pick(m, 3) == 0;
    const struct made_callee *c = copy ? any_callee(p, &own) : NULL;
    if (inner && !own && strcmp(c->bare, "operator()") == 0) /* (its name would include the enclosing scope) */
        copy = false;
    bool around = with && asked && pick(m, 2); /* the one in it is in the midst of its code */
    vaddr last = around ? end - 8 : with ? begin + (end - begin) / 2 : asked ? end - 8 : end;
    bool of_module = !copy && !*path && pick(m, 3) == 0;
    char link_name[40] = "";
    unsigned file = 1 + pick(m, 2);
    struct attribute line = some_line(p, DW_AT_decl_line);
    char name[16];
    int count = 0;
    snprintf(name, sizeof name, "p%zu", p->procedures.count);
    if (of_module) /* or one without that attribute */
        snprintf(link_name, sizeof link_name, pick(m, 3) ? "__area%u_MOD_%s" : "_area%u_MOD_%s", pick(m, 9), name);
    cut_code(m, begin, last, &made.code);
    ask_for(m, &made.code, &made.parts);
    made.inside = pick(m, 2) ? last - 1 : begin + 2;
    struct said_code s = say_code(m, &made.code, base);
    DIE(m, DW_TAG_subprogram, true, s.low, s.high, s.ranges,
        {DW_AT_linkage_name, *link_name ? DW_FORM_string : 0, 0, link_name},
        {DW_AT_name, copy ? 0 : DW_FORM_string, 0, name},
        {DW_AT_abstract_origin, copy ? form_of(c, own) : 0, copy ? (int64_t)c->at : 0, NULL},
        {DW_AT_decl_file, copy ? 0 : DW_FORM_udata, file, NULL},
        {DW_AT_decl_line, copy ? 0 : line.form, line.number, NULL});
    struct buf named = {0};
    if (copy && strcmp(c->bare, "operator()") == 0)
        put_named(&named, path);
    else
        buf_str(&named, path);
    if (copy)
        buf_printf(&made.said, "%s%s %s (%s:%u)", own ? "" : named.bytes, own ? c->name : c->bare, c->link_name,
                   c->path, c->line);
    else
        buf_printf(&made.said, "%s%.*s%s%s %s (%s:%u)", path, link_name[1] == '_' ? 5 : 0, link_name + 2,
                   link_name[1] == '_' ? "::" : "", name, link_name, p->files[file], p->last_line);
    buf_release(&named);
    buf_str(&made.unit, p->says.bytes);
    made.source = copy ? (size_t)(c - p->callees.items) : p->callees.count + SIZE_MAX / 2 + p->procedures.count;
    put_ranges(&made.said, &made.code);
    make_inlines(p, begin, last, base, -1, &count, 3, &made.said);
    put_rows(p, &made.rows, &made.parts);
    buf_str(&made.said, made.rows.bytes);
    if (!inner && pick(m, 3) == 0)
        make_lambda(p, path, copy ? "" : name);
    ask_for_more(m, &made.parts);
    made.outside = with || inner || !asked ? 0 : last + 3;
    made.entry = !hidden;
    *vec_push(&p->procedures) = made;
    if (with) {
        char *below = !fortran ? mem_strdup(path) : copy ? mem_strdup(path) : mem_printf("%s%s::", path, name);
        bool block = asked && pick(m, 2); /* (not searched if the unit has no addresses) */
        if (block)
            DIE(m, DW_TAG_lexical_block, true, {0});
        make_procedure(p, below, around ? begin + (end - begin) / 4 : last + 4,
                       around ? begin + (end - begin) / 2 : end, base, fortran, true, !fortran || block, asked);
        if (block)
            end_children(m);
        mem_free(below);
    }
    end_children(m);
}

/* Source of a unit's addresses: .debug_aranges, the unit entry, or its procedures alone. */
enum { BY_TABLE, BY_ITSELF, BY_PROCEDURES, KINDS };

/* Only complete contributions count; a wide one has 64-bit numbers. */
static void put_aranges(struct maker *m, size_t unit, vaddr begin, vaddr end, unsigned damage)
{
    struct buf *b = &m->aranges;
    size_t start = b->len;
    unsigned offset_size = pick(m, 3) ? 4 : 8;
    put_length(b, 0, offset_size);
    buf_u16(b, damage == 1 ? 3 : 2);
    put_offset(b, unit + (damage == 2), offset_size);
    buf_u8(b, damage == 3 ? 4 : 8);
    buf_u8(b, damage == 4);
    while ((b->len - start) % 16)
        buf_u8(b, 0);
    if (pick(m, 2)) { /* empty, at address zero */
        buf_u64(b, begin);
        buf_u64(b, 0);
        buf_u64(b, 0);
        buf_u64(b, TEXT + TEXT_SIZE);
        buf_u64(b, TEXT);
        buf_u64(b, UINT64_MAX);
    }
    buf_u64(b, begin);
    buf_u64(b, end - begin);
    buf_u64(b, 0);
    buf_u64(b, 0);
    set_length(b, start, offset_size);
}

struct made_unit {
    vaddr begin, end, base;
    unsigned kind, language;
    bool listed; /* its addresses are a list */
    char folder[16], producer[16];
    uint64_t lines, id;
};

/* The unit entry's references to the binary. */
struct unit_place {
    struct attribute lines, low, high, ranges;
};

static struct unit_place place_unit(struct maker *m, const struct made_unit *u)
{
    struct range_list whole = {0};
    struct unit_place p = {.lines = {DW_AT_stmt_list, DW_FORM_sec_offset, (int64_t)u->lines, NULL}};
    if (u->base) {
        p.low = (struct attribute){DW_AT_low_pc, DW_FORM_addr, (int64_t)u->begin, NULL};
        p.high = (struct attribute){DW_AT_high_pc, DW_FORM_data4, (int64_t)(u->end - u->begin), NULL};
    }
    *vec_push(&whole) = (struct addr_range){u->begin, u->end};
    if (u->listed)
        p.ranges = m->version >= 5 ? put_list_v5(m, &whole, 0) : put_list_v4(m, &whole, 0);
    vec_release(&whole);
    return p;
}

static void make_entries(struct made_program *p, const struct made_unit *u)
{
    struct maker *m = &p->m;
    bool fortran = is_fortran(u->language);
    unsigned procedures = 1 + pick(m, 4);
    vaddr step = (u->end - u->begin) / procedures;
    for (unsigned n = 1 + pick(m, 4); n; n--)
        make_callee(p, fortran);
    for (unsigned i = 0; i < procedures; i++) {
        char path[64];
        unsigned depth = pick(m, 2) ? open_names(m, path, sizeof path, true) : (*path = '\0', 0);
        make_procedure(p, path, u->begin + i * step, u->begin + (i + 1) * step, u->base, fortran, false, false,
                       u->kind != BY_PROCEDURES);
        close_names(m, depth);
    }
}

static void make_whole_unit(struct made_program *p, const struct made_unit *u)
{
    struct maker *m = &p->m;
    unit_begin(m, DW_UT_compile, 0);
    struct unit_place at = place_unit(m, u);
    DIE(m, DW_TAG_compile_unit, true, {DW_AT_language, DW_FORM_data4, u->language, NULL},
        {DW_AT_name, DW_FORM_string, 0, "a.c"}, {DW_AT_comp_dir, DW_FORM_string, 0, u->folder},
        {DW_AT_producer, DW_FORM_string, 0, u->producer}, at.lines, at.low, at.high, at.ranges);
    make_entries(p, u);
    unit_end(m);
}

/* Split files are searched for at the recorded path, next to the binary, and in the given folders. */
static const struct {
    const char *named, *lies;
} split_places[] = {{"%s%u.dwo", "%s%u.dwo"},
                    {"sub/%s%u.dwo", "sub/%s%u.dwo"},
                    {"gone/%s%u.dwo", "%s%u.dwo"},
                    {"%s%u.dwo", "first/%s%u.dwo"},
                    {"gone/%s%u.dwo", "second/%s%u.dwo"}};

/* State of a split file. */
enum { SOUND, ABSENT, OF_ANOTHER, NO_ELF, NO_DWARF, FATES };

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void name_split(char *to, size_t size, const char *how, unsigned unit)
{
    snprintf(to, size, how, "u", unit);
}
#pragma GCC diagnostic pop

static void lose_split(struct made_program *p, unsigned fate, const char *lies)
{
    char *path = scratch(lies), *binary = scratch("made");
    static const struct maker nothing = {.split = true};
    if (fate == NO_ELF) {
        write_file(lies, "no file of that kind", 20);
        buf_printf(&p->missing, "%s: not an ELF file: it begins with \"no file \"\n", path);
    } else if (fate == NO_DWARF) {
        mem_free(write_file_of(&nothing, lies));
        buf_str(&p->missing, "a .dwo file without debug information\n");
    } else if (fate == OF_ANOTHER) {
        buf_printf(&p->missing, "%s: not the split debug information that %s was linked with; it is not used\n", path,
                   binary);
    }
    mem_free(p->gone);
    p->gone = mem_printf("%s: parts of its debug information are in split files (.dwo, .dwp) that were not found; "
                         "names and inlined calls there are missing\n",
                         binary);
    mem_free(path);
    mem_free(binary);
}

/* If the split file is missing, only the lines remain, if the addresses are known without it. */
static void forget_entries(struct made_program *p, const struct made_unit *u, size_t first)
{
    for (size_t i = first; i < p->procedures.count; i++) {
        struct made_procedure *made = &p->procedures.items[i];
        made->said.len = made->unit.len = 0;
        made->entry = false;
        made->lost = true;
        buf_str(&made->said, "");
        buf_str(&made->unit, "");
        if (u->kind != BY_PROCEDURES) {
            buf_printf(&made->said, "  (:0)\n%s", made->rows.bytes);
            buf_printf(&made->unit, "%s, 0, \n", u->folder);
        } else {
            made->outside = 0;
        }
    }
}

static void make_split_unit(struct made_program *p, const struct made_unit *u)
{
    struct maker *m = &p->m, binary;
    bool new = m->version >= 5;
    unsigned place = pick(m, ARRAY_SIZE(split_places)), fate = pick(m, 3) ? SOUND : pick(m, FATES);
    size_t first = p->procedures.count;
    char named[32], lies[32];
    name_split(named, sizeof named, split_places[place].named, p->unit);
    name_split(lies, sizeof lies, split_places[place].lies, p->unit);
    unit_begin(m, DW_UT_skeleton, u->id);
    struct unit_place at = place_unit(m, u);
    m->ranges_base = new ? 0 : m->ranges.len;
    if (!new)
        m->addr_base = m->addr.len;
    DIE(m, new ? DW_TAG_skeleton_unit : DW_TAG_compile_unit, false, {DW_AT_comp_dir, DW_FORM_string, 0, u->folder},
        {new ? DW_AT_dwo_name : DW_AT_GNU_dwo_name, DW_FORM_string, 0, named},
        {DW_AT_GNU_dwo_id, new ? 0 : DW_FORM_data8, (int64_t)u->id, NULL},
        {DW_AT_GNU_addr_base, new ? 0 : DW_FORM_sec_offset, (int64_t)m->addr_base, NULL},
        {DW_AT_GNU_ranges_base, new ? 0 : DW_FORM_sec_offset, (int64_t)m->ranges_base, NULL}, at.lines, at.low, at.high,
        at.ranges);
    binary = *m;
    *m = (struct maker){.version = m->version,
                        .offset_size = m->offset_size,
                        .split = true,
                        .random = m->random,
                        .addr = m->addr,
                        .addr_base = m->addr_base,
                        .ranges = m->ranges,
                        .ranges_base = m->ranges_base};
    unit_begin(m, DW_UT_split_compile, u->id + (fate == OF_ANOTHER));
    DIE(m, DW_TAG_compile_unit, true, {DW_AT_language, DW_FORM_data4, u->language, NULL},
        {DW_AT_name, DW_FORM_string, 0, "a.c"}, {DW_AT_producer, DW_FORM_string, 0, u->producer},
        {DW_AT_GNU_dwo_id, new ? 0 : DW_FORM_data8, (int64_t)u->id + (fate == OF_ANOTHER), NULL});
    make_entries(p, u);
    unit_end(m);
    if (fate == SOUND || fate == OF_ANOTHER)
        mem_free(write_file_of(m, lies));
    binary.random = m->random;
    binary.addr = m->addr;
    binary.ranges = m->ranges;
    m->addr = m->ranges = (struct buf){0};
    maker_release(m);
    *m = binary;
    m->ranges_base = 0;
    unit_close(m);
    if (fate != SOUND) {
        lose_split(p, fate, lies);
        forget_entries(p, u, first);
    }
}

static void name_files(struct made_program *p, const char *folder)
{
    snprintf(p->files[1], sizeof p->files[1], "%s/a.c", folder);
    snprintf(p->files[2], sizeof p->files[2], "%s/inc/b.h", folder);
}

static void make_unit(struct made_program *p, vaddr begin, vaddr end)
{
    struct maker *m = &p->m;
    struct made_unit u = {.begin = begin, .end = end, .kind = pick(m, KINDS)};
    p->unit++;
    u.listed = u.kind == BY_ITSELF && pick(m, 3) == 0;
    u.base = u.kind == BY_ITSELF && !u.listed ? begin : 0;
    u.language = languages[pick(m, ARRAY_SIZE(languages))];
    u.id = (uint64_t)pick(m, UINT32_MAX) << 32 | 1 | p->unit << 1;
    snprintf(u.folder, sizeof u.folder, "/cd%u", p->unit / 2);
    snprintf(u.producer, sizeof u.producer, "made %u", p->unit);
    name_files(p, u.folder);
    p->says.len = 0;
    buf_printf(&p->says, "%s, %u, %s\n", u.folder, u.language, u.producer);
    u.lines = make_lines(m, begin, end);
    pick_version(m, 2);
    if (m->version >= 4 && pick(m, 2))
        make_split_unit(p, &u);
    else
        make_whole_unit(p, &u);
    if (pick(m, 3) == 0) /* that does not count */
        put_aranges(m, m->unit, TEXT, TEXT + TEXT_SIZE, 1 + pick(m, 4));
    if (u.kind == BY_TABLE)
        put_aranges(m, m->unit, begin, end, 0);
}

static const char *file_of(const struct debug_function *f, uint32_t file)
{
    return file < f->file_count ? f->files[file] : "";
}

static void put_answer(struct buf *b, const struct debug_function *f)
{
    buf_printf(b, "%s %s (%s:%u)", f->name, f->link_name, file_of(f, f->decl_file), f->decl_line);
    put_ranges(b, &(struct range_list){.items = f->ranges, .count = f->own_range_count});
    for (size_t i = 0; i < f->inline_count; i++) {
        const struct inline_call *c = &f->inlines[i];
        buf_printf(b, "%zu in %d: %s %s (%s:%u) at %s:%u:%u from %llx", i, (int)c->parent, c->name, c->link_name,
                   file_of(f, c->decl_file), c->decl_line, file_of(f, c->call_file), c->call_line, c->call_column,
                   (unsigned long long)c->entry);
        put_ranges(b, &(struct range_list){.items = f->ranges + c->range_first, .count = c->range_count});
    }
    for (size_t i = 0; i < f->row_count; i++) {
        buf_printf(b, " %llx=%s", (unsigned long long)f->rows[i].addr, file_of(f, f->rows[i].file));
        if (f->rows[i].file != DEBUG_NO_FILE)
            buf_printf(b, ":%u", f->rows[i].line);
    }
    buf_printf(b, "\n%s, %u, %s\n", f->comp_dir, f->language, f->producer);
}

static uint64_t ask(struct debug *d, vaddr at, const struct made_procedure *p, struct buf *got)
{
    struct arena *a = arena_create();
    struct debug_function f = {.abstract_id = 0};
    if (d && debug_function_at(d, at, p->parts.items, p->parts.count, a, &f) == 1)
        put_answer(got, &f);
    arena_free(a);
    return f.abstract_id;
}

/* Equal where they come of one procedure of the source. */
static void check_ids(const struct made_program *p)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < p->procedures.count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct made_procedure *a = &p->procedures.items[i], *b = &p->procedures.items[k];
            wrong += a->id && b->id && (a->id == b->id) != (a->source == b->source);
        }
    CHECK_INT(wrong, 0);
}

static bool has_line(const struct buf *text, const char *line)
{
    size_t n = strlen(line);
    for (const char *at = text->bytes; at && *at; at = strchr(at, '\n') + 1)
        if (strncmp(at, line, n) == 0 && at[n] == '\n')
            return true;
    return false;
}

/* Every missing file is reported, and nothing else, in the order of the queries; the order is not checked. */
static void check_warnings(const struct made_program *p, const struct warnings *w, uint64_t seed)
{
    struct buf missing = {0}, said = {0};
    bool same = true;
    buf_printf(&missing, "%s%s", p->missing.bytes ? p->missing.bytes : "", p->gone ? p->gone : "");
    buf_str(&said, "");
    for (size_t i = 0; i < warnings_count(w); i++) {
        buf_printf(&said, "%s\n", warnings_get(w, i));
        same = same && has_line(&missing, warnings_get(w, i));
    }
    for (char *line = strtok(missing.bytes, "\n"); line; line = strtok(NULL, "\n"))
        same = same && has_line(&said, line);
    if (!same)
        printf("# said    %s\n# missing %s%s", said.bytes, p->missing.bytes ? p->missing.bytes : "",
               p->gone ? p->gone : "");
    char *name = mem_printf("what is missing is said, seed %llu", (unsigned long long)seed);
    CHECK_NAMED(same, name);
    mem_free(name);
    buf_release(&missing);
    buf_release(&said);
}

static int by_address(const void *left, const void *right)
{
    vaddr a = *(const vaddr *)left, b = *(const vaddr *)right;
    return a < b ? -1 : a > b;
}

/* The contents that dwz would move to a shared file: called procedures and strings. */
static void make_shared(struct made_program *p)
{
    struct maker *m = &p->m, binary = *m;
    *m = (struct maker){.random = binary.random};
    p->unit++;
    name_files(p, "/shared");
    uint64_t lines = make_lines(m, TEXT, TEXT + LINE_STEP);
    pick_version(m, 4);
    unit_begin(m, DW_UT_partial, 0);
    DIE(m, DW_TAG_partial_unit, true, {DW_AT_comp_dir, DW_FORM_string, 0, "/shared"},
        {DW_AT_stmt_list, DW_FORM_sec_offset, (int64_t)lines, NULL});
    for (unsigned n = 1 + pick(m, 5); n; n--)
        make_callee(p, false);
    unit_end(m);
    for (size_t i = 0; i < p->callees.count; i++)
        p->callees.items[i].shared = true;
    binary.random = m->random;
    p->shared = *m;
    *m = binary;
    m->shared = &p->shared.str;
    buf_add(&m->link, "shared\0x", 8); /* (and an id, which the file need not have) */
}

static void test_procedures(uint64_t seed)
{
    struct made_program p = {.m = {.random = seed}};
    struct buf got = {0}, wanted = {0};
    struct image *im = NULL;
    struct debug *d = NULL;
    struct warnings *w = warnings_create();
    vaddr size = TEXT_SIZE / UNITS / 48 * 48; /* a multiple of the row size */
    if (!shell("rm -rf *.dwo sub first second; mkdir sub first second"))
        exit(99);
    if (seed % 2)
        make_shared(&p);
    for (unsigned u = 0; u < UNITS; u++)
        make_unit(&p, TEXT + u * size, TEXT + (u + 1) * size);
    if (p.m.shared)
        mem_free(write_file_of(&p.shared, "shared"));
    char *path = write_made(&p.m), *first = scratch("first"), *second = scratch("second");
    const char *const dirs[] = {first, second, NULL};
    if (image_open(path, dirs, &im, w, NULL) == 0 && debug_open(im, &d, w, NULL) == 1)
        for (unsigned n = 0; n < 3 * p.procedures.count; n++) {
            struct made_procedure *made = &p.procedures.items[pick(&p.m, (unsigned)p.procedures.count)];
            uint64_t id = ask(d, pick(&p.m, 2) ? made->begin : made->inside, made, &got);
            made->id = made->lost ? 0 : id;
            buf_printf(&wanted, "%s%s", made->said.bytes, made->unit.bytes);
            if (made->outside) { /* only lines are known */
                ask(d, made->outside, made, &got);
                buf_printf(&wanted, "  (:0)\n%s%s", made->rows.bytes, made->unit.bytes);
            }
        }
    ask(d, TEXT + TEXT_SIZE + 8, &p.procedures.items[0], &got); /* nothing is known there */
    printf("# %zu procedures\n", p.procedures.count);
    check_text(&got, &wanted, "procedures", seed);
    check_ids(&p);
    struct vaddr_list entries = {0};
    if (d)
        debug_entries(d, &entries);
    vec_sort(&entries, by_address);
    for (size_t i = 0; i < entries.count; i++)
        buf_printf(&got, "%llx ", (unsigned long long)entries.items[i]);
    entries.count = 0;
    for (size_t i = 0; i < p.procedures.count; i++)
        for (size_t r = 0; p.procedures.items[i].entry && r < p.procedures.items[i].code.count; r++)
            *vec_push(&entries) = p.procedures.items[i].code.items[r].begin;
    vec_sort(&entries, by_address);
    for (size_t i = 0; i < entries.count; i++)
        buf_printf(&wanted, "%llx ", (unsigned long long)entries.items[i]);
    check_text(&got, &wanted, "entries", seed);
    vec_release(&entries);
    check_warnings(&p, w, seed);
    mem_free(first);
    mem_free(second);
    for (size_t i = 0; i < p.procedures.count; i++) {
        vec_release(&p.procedures.items[i].code);
        vec_release(&p.procedures.items[i].parts);
        buf_release(&p.procedures.items[i].said);
        buf_release(&p.procedures.items[i].rows);
        buf_release(&p.procedures.items[i].unit);
    }
    vec_release(&p.procedures);
    vec_release(&p.callees);
    buf_release(&p.says);
    buf_release(&p.missing);
    mem_free(p.gone);
    debug_close(d);
    image_close(im);
    warnings_free(w);
    mem_free(path);
    maker_release(&p.m);
    maker_release(&p.shared);
}

/* The folder that the files of all units are in, but for the system's; a unit of one by one. */
static void test_folder(const char *const *files, const char *wanted)
{
    struct maker m = {.version = 4, .offset_size = 4};
    struct image *im = NULL;
    struct debug *d = NULL;
    for (; *files; files++) {
        unit_begin(&m, DW_UT_compile, 0);
        DIE(&m, DW_TAG_compile_unit, true, {DW_AT_name, **files ? DW_FORM_string : 0, 0, *files},
            {DW_AT_comp_dir, DW_FORM_string, 0, "/home/u/build"});
        unit_end(&m);
    }
    char *path = write_made(&m), *got = NULL;
    struct warnings *w = warnings_create();
    if (image_open(path, NULL, &im, w, NULL) == 0 && debug_open(im, &d, w, NULL) == 1)
        got = debug_source_folder(d);
    CHECK_STR(got ? got : "none", wanted);
    CHECK_INT(warnings_count(w), 0);
    warnings_free(w);
    mem_free(got);
    debug_close(d);
    image_close(im);
    mem_free(path);
    maker_release(&m);
}

/* More units claim one address than are searched, and more than have their files cached. Each has a procedure; the last
   one has copies of all of them, with the file of the originals. */
static void test_many_units(void)
{
    enum { MANY = 40, LOOKED_AT = 16 };
    struct maker m = {.random = 77, .version = 4, .offset_size = 4};
    struct image *im = NULL;
    struct debug *d = NULL;
    uint64_t at[MANY];
    unsigned wrong = 0, unlike = 0;
    make_lines(&m, TEXT, TEXT + 60);
    for (unsigned u = 0; u <= MANY; u++) {
        char folder[16];
        snprintf(folder, sizeof folder, "/cd%u", u);
        unit_begin(&m, DW_UT_compile, 0);
        DIE(&m, DW_TAG_compile_unit, true, {DW_AT_name, DW_FORM_string, 0, "a.c"},
            {DW_AT_comp_dir, DW_FORM_string, 0, folder}, {DW_AT_stmt_list, DW_FORM_sec_offset, 0, NULL},
            {DW_AT_low_pc, DW_FORM_addr, u < MANY ? TEXT : TEXT + 0x1000, NULL},
            {DW_AT_high_pc, DW_FORM_data4, 0x1000, NULL});
        for (unsigned i = 0; u == MANY && i < MANY; i++)
            DIE(&m, DW_TAG_subprogram, false, {DW_AT_abstract_origin, DW_FORM_ref_addr, (int64_t)at[i], NULL},
                {DW_AT_low_pc, DW_FORM_addr, TEXT + 0x1000 + 16 * i, NULL}, {DW_AT_high_pc, DW_FORM_data4, 8, NULL});
        if (u < MANY) {
            char name[16];
            snprintf(name, sizeof name, "p%u", u);
            at[u] =
                DIE(&m, DW_TAG_subprogram, false, {DW_AT_name, DW_FORM_string, 0, name},
                    {DW_AT_decl_file, DW_FORM_udata, 1 + u % 2, NULL}, {DW_AT_decl_line, DW_FORM_udata, 3 + u, NULL},
                    {DW_AT_low_pc, DW_FORM_addr, TEXT + 16 * u, NULL}, {DW_AT_high_pc, DW_FORM_data4, 8, NULL});
        }
        unit_end(&m);
    }
    char *path = write_made(&m);
    CHECK(image_open(path, NULL, &im, NULL, NULL) == 0 && debug_open(im, &d, NULL, NULL) == 1);
    for (unsigned n = 0; n < 10 * MANY; n++) {
        unsigned u = n < 2 * MANY ? n % MANY : pick(&m, MANY);
        struct arena *a = arena_create();
        struct debug_function f = {.name = ""};
        char name[16];
        snprintf(name, sizeof name, "p%u", u);
        struct addr_range r = {TEXT + 16 * u, TEXT + 16 * u + 8};
        int known = debug_function_at(d, r.begin, &r, 1, a, &f);
        wrong += u >= MANY - LOOKED_AT ? known != 1 || strcmp(f.name, name) != 0 : known == 1 && *f.name;
        r = (struct addr_range){r.begin + 0x1000, r.end + 0x1000};
        known = debug_function_at(d, r.begin, &r, 1, a, &f);
        char *file = mem_printf(u % 2 ? "/cd%u/inc/b.h" : "/cd%u/a.c", u);
        unlike += known != 1 || strcmp(f.name, name) != 0 || f.decl_line != 3 + u || f.decl_file >= f.file_count ||
                  strcmp(f.files[f.decl_file], file) != 0;
        mem_free(file);
        arena_free(a);
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(unlike, 0);
    debug_close(d);
    image_close(im);
    mem_free(path);
    maker_release(&m);
}

/* The unit entry for the hand-made cases below, and a procedure without children. */
static void begin_plain_unit(struct maker *m, vaddr begin, vaddr size)
{
    unit_begin(m, DW_UT_compile, 0);
    DIE(m, DW_TAG_compile_unit, true, {DW_AT_name, DW_FORM_string, 0, "a.c"},
        {DW_AT_low_pc, DW_FORM_addr, (int64_t)begin, NULL},
        {DW_AT_high_pc, size ? DW_FORM_data4 : 0, (int64_t)size, NULL});
}

static uint64_t plain_procedure(struct maker *m, const char *name, vaddr begin, vaddr size, bool open)
{
    return DIE(m, DW_TAG_subprogram, open, {DW_AT_name, DW_FORM_string, 0, name},
               {DW_AT_low_pc, size ? DW_FORM_addr : 0, (int64_t)begin, NULL},
               {DW_AT_high_pc, size ? DW_FORM_data4 : 0, (int64_t)size, NULL});
}

struct opened {
    struct image *im;
    struct debug *d;
    struct warnings *w;
    struct arena *arena;
    struct debug_function f;
};

static struct opened open_maker(struct maker *m)
{
    struct opened o = {.w = warnings_create(), .arena = arena_create()};
    char *path = write_made(m);
    CHECK(image_open(path, NULL, &o.im, o.w, NULL) == 0 && debug_open(o.im, &o.d, o.w, NULL) == 1);
    mem_free(path);
    return o;
}

static const char *name_at(struct opened *o, vaddr at)
{
    return debug_function_at(o->d, at, NULL, 0, o->arena, &o->f) == 1 ? o->f.name : "none";
}

static void close_opened(struct opened *o, struct maker *m)
{
    CHECK_INT(warnings_count(o->w), 0);
    debug_close(o->d);
    image_close(o->im);
    warnings_free(o->w);
    arena_free(o->arena);
    maker_release(m);
}

/* Nested calls, deeper than the limit, and one call next to them. */
static void test_deep(void)
{
    struct maker m = {.random = 5, .version = 4, .offset_size = 4};
    begin_plain_unit(&m, TEXT, TEXT_SIZE);
    uint64_t callee = plain_procedure(&m, "callee", 0, 0, false);
    plain_procedure(&m, "p", TEXT, 0x1000, true);
    for (unsigned k = 0; k < 2; k++) {
        unsigned depth = k == 0 ? LIMIT_DWARF_DEPTH + 9 : 1;
        for (unsigned i = 0; i < depth; i++)
            DIE(&m, DW_TAG_inlined_subroutine, true, {DW_AT_abstract_origin, DW_FORM_ref4, (int64_t)callee, NULL},
                {DW_AT_call_line, DW_FORM_udata, 1 + i, NULL}, {DW_AT_low_pc, DW_FORM_addr, TEXT + 16, NULL},
                {DW_AT_high_pc, DW_FORM_data4, 9, NULL});
        for (unsigned i = 0; i < depth; i++)
            end_children(&m);
    }
    end_children(&m);
    unit_end(&m);
    struct opened o = open_maker(&m);
    size_t wrong = 0;
    CHECK_STR(name_at(&o, TEXT), "p");
    CHECK_INT(o.f.inline_count, LIMIT_DWARF_DEPTH + 1);
    for (uint32_t i = 0; i < o.f.inline_count && i < LIMIT_DWARF_DEPTH; i++)
        wrong += o.f.inlines[i].parent != (i ? i - 1 : INLINE_NONE) || o.f.inlines[i].call_line != i + 1;
    CHECK_INT(wrong, 0);
    CHECK(o.f.inlines[o.f.inline_count - 1].parent == INLINE_NONE);
    close_opened(&o, &m);
}

/* A procedure that encloses many others and is queried in the gaps between them: only a limited number is searched. */
static void test_around(void)
{
    enum { MANY = 80, LOOKED_AT = 64, STEP = 16 };
    struct maker m = {.random = 6, .version = 5, .offset_size = 4};
    size_t wrong = 0;
    begin_plain_unit(&m, TEXT, TEXT_SIZE);
    plain_procedure(&m, "around", TEXT, MANY * STEP, false);
    for (unsigned i = 1; i < MANY; i++)
        plain_procedure(&m, "small", TEXT + STEP * i, 8, false);
    plain_procedure(&m, "wide", TEXT + 8, MANY * STEP + 8, false); /* and ends later */
    unit_end(&m);
    struct opened o = open_maker(&m);
    for (vaddr at = 1; at < MANY * STEP; at++) {
        unsigned i = (unsigned)at / STEP;
        const char *wanted = at == 8              ? "wide"
                             : i && at % STEP < 8 ? "small"
                             : i + 1 < LOOKED_AT  ? "around"
                             : i < LOOKED_AT      ? "wide"
                                                  : "none";
        wrong += strcmp(name_at(&o, TEXT + at), wanted) != 0;
    }
    CHECK_INT(wrong, 0);
    CHECK_STR(name_at(&o, TEXT + MANY * STEP + 7), "none");
    close_opened(&o, &m);
}

/* A unit ends at the end of its span: code after it belongs to another unit. */
static void test_end_of_span(void)
{
    struct maker m = {.random = 14, .version = 4, .offset_size = 4};
    begin_plain_unit(&m, TEXT, TEXT_SIZE); /* around both */
    plain_procedure(&m, "far", TEXT + 0x1000, 8, false);
    unit_end(&m);
    begin_plain_unit(&m, 0, 0);
    plain_procedure(&m, "inside", TEXT, 16, false);
    plain_procedure(&m, "beyond", TEXT + 16, 8, false);
    unit_end(&m);
    put_aranges(&m, m.unit, TEXT, TEXT + 16, 0);
    begin_plain_unit(&m, TEXT + 16, 16);
    plain_procedure(&m, "next", TEXT + 24, 8, false);
    unit_end(&m);
    struct opened o = open_maker(&m);
    CHECK_STR(name_at(&o, TEXT), "inside");
    CHECK_STR(name_at(&o, TEXT + 15), "inside");
    CHECK_STR(name_at(&o, TEXT + 16), "none");
    CHECK_STR(name_at(&o, TEXT + 24), "next");
    close_opened(&o, &m);
}

/* Units not in address order; if two claim an address, the outermost procedure of either unit is used. */
static void test_order_of_units(void)
{
    enum { MANY = 8 };
    struct maker m = {.random = 16, .version = 4, .offset_size = 4};
    size_t wrong = 0;
    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        unsigned k = MANY - 1 - i;
        snprintf(name, sizeof name, "p%u", k);
        begin_plain_unit(&m, TEXT + 64 * k, 64);
        plain_procedure(&m, name, TEXT + 64 * k, 64, false);
        unit_end(&m);
    }
    for (unsigned i = 0; i < 3; i++) {
        begin_plain_unit(&m, TEXT + 64 * MANY, 64);
        plain_procedure(&m, "around", TEXT + 64 * MANY, 64, true);
        if (i != 1)
            plain_procedure(&m, "within", TEXT + 64 * MANY + 16, 8, false);
        end_children(&m);
        if (i == 1)
            plain_procedure(&m, "beside", TEXT + 64 * MANY + 16, 8, false);
        unit_end(&m);
    }
    struct opened o = open_maker(&m);
    for (unsigned k = 0; k < MANY; k++) {
        char name[16];
        snprintf(name, sizeof name, "p%u", k);
        wrong += strcmp(name_at(&o, TEXT + 64 * k), name) != 0 || strcmp(name_at(&o, TEXT + 64 * k + 63), name) != 0;
    }
    CHECK_INT(wrong, 0);
    CHECK_STR(name_at(&o, TEXT + 64 * MANY + 16), "beside");
    close_opened(&o, &m);
}

/* Two procedures with the same code range: the later one gets the addresses. */
static void test_equal_procedures(void)
{
    struct maker m = {.random = 11, .version = 4, .offset_size = 4};
    begin_plain_unit(&m, TEXT, TEXT_SIZE);
    plain_procedure(&m, "first", TEXT, 64, false);
    plain_procedure(&m, "second", TEXT, 64, false);
    plain_procedure(&m, "longer", TEXT, 65, false);
    unit_end(&m);
    struct opened o = open_maker(&m);
    CHECK_STR(name_at(&o, TEXT), "first");
    CHECK_STR(name_at(&o, TEXT + 1), "second");
    CHECK_STR(name_at(&o, TEXT + 63), "second");
    CHECK_STR(name_at(&o, TEXT + 64), "longer");
    CHECK_STR(name_at(&o, TEXT + 65), "none");
    close_opened(&o, &m);
}

/* The scopes before a name are those of the entry that has it, or of the last entry of this unit that it refers to; a
   readable mangled name takes precedence. */
static void test_whose_scopes(void)
{
    static const struct {
        const char *name, *link_name, *wanted;
    } mangled[] = {
#ifdef HAVE_IBERTY
        {"b", "_ZN1a1bEi", "a::b"}, {NULL, "_ZN1a1bEi", "a::b"},
#else /* no demangler */
        {"b", "_ZN1a1bEi", "b"},  {NULL, "_ZN1a1bEi", "_ZN1a1bEi"},
#endif
        {"b", "_Zbad", "b"},        {NULL, "_Zbad", "_Zbad"},        {"b", "plain", "own::b"},
        {NULL, "plain", "plain"},   {"b", "__heat_MOD_b", "own::b"}, {NULL, NULL, ""},
    };
    struct maker m = {.random = 15, .version = 4, .offset_size = 4};
    begin_plain_unit(&m, 0, 0);
    DIE(&m, DW_TAG_namespace, true, {DW_AT_name, DW_FORM_string, 0, "others"});
    uint64_t of_other = plain_procedure(&m, "q", 0, 0, false);
    end_children(&m);
    unit_end(&m);
    begin_plain_unit(&m, TEXT, TEXT_SIZE);
    DIE(&m, DW_TAG_namespace, true, {DW_AT_name, DW_FORM_string, 0, "own"});
    uint64_t declared = plain_procedure(&m, "r", 0, 0, false);
    DIE(&m, DW_TAG_subprogram, false, {DW_AT_name, DW_FORM_string, 0, "p"},
        {DW_AT_specification, DW_FORM_ref_addr, (int64_t)of_other, NULL}, {DW_AT_low_pc, DW_FORM_addr, TEXT, NULL},
        {DW_AT_high_pc, DW_FORM_data4, 8, NULL});
    for (size_t i = 0; i < ARRAY_SIZE(mangled); i++)
        DIE(&m, DW_TAG_subprogram, false, {DW_AT_name, mangled[i].name ? DW_FORM_string : 0, 0, mangled[i].name},
            {DW_AT_linkage_name, mangled[i].link_name ? DW_FORM_string : 0, 0, mangled[i].link_name},
            {DW_AT_low_pc, DW_FORM_addr, (int64_t)(TEXT + 64 + 8 * i), NULL}, {DW_AT_high_pc, DW_FORM_data4, 8, NULL});
    end_children(&m);
    DIE(&m, DW_TAG_subprogram, false, {DW_AT_name, DW_FORM_string, 0, "s"},
        {DW_AT_specification, DW_FORM_ref_addr, (int64_t)declared, NULL}, {DW_AT_low_pc, DW_FORM_addr, TEXT + 8, NULL},
        {DW_AT_high_pc, DW_FORM_data4, 8, NULL});
    unit_end(&m);
    struct opened o = open_maker(&m);
    CHECK_STR(name_at(&o, TEXT), "own::p");
    CHECK_STR(name_at(&o, TEXT + 8), "own::s");
    for (size_t i = 0; i < ARRAY_SIZE(mangled); i++)
        CHECK_STR(name_at(&o, TEXT + 64 + 8 * i), mangled[i].wanted);
    close_opened(&o, &m);
}

/* A name includes at most this many enclosing namespaces, the innermost ones. */
static void test_many_namespaces(void)
{
    enum { MANY = 70, NAMED = 64 };
    struct maker m = {.random = 12, .version = 4, .offset_size = 4};
    struct buf wanted = {0};
    begin_plain_unit(&m, TEXT, TEXT_SIZE);
    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        DIE(&m, DW_TAG_namespace, true, {DW_AT_name, DW_FORM_string, 0, name});
        if (i >= MANY - NAMED)
            buf_printf(&wanted, "%s::", name);
    }
    plain_procedure(&m, "p", TEXT, 64, false);
    buf_str(&wanted, "p");
    for (unsigned i = 0; i < MANY; i++)
        end_children(&m);
    unit_end(&m);
    struct opened o = open_maker(&m);
    CHECK_STR(name_at(&o, TEXT), wanted.bytes);
    close_opened(&o, &m);
    buf_release(&wanted);
}

static void check_rows(struct opened *o, vaddr begin, vaddr end, const char *wanted)
{
    struct buf got = {0};
    struct addr_range part = {begin, end};
    buf_str(&got, "");
    CHECK_INT(debug_function_at(o->d, TEXT, &part, 1, o->arena, &o->f), 1);
    for (size_t i = 0; i < o->f.row_count; i++)
        buf_printf(&got, " %llu:%u%s", (unsigned long long)(o->f.rows[i].addr - TEXT), o->f.rows[i].line,
                   o->f.rows[i].file == DEBUG_NO_FILE ? "-" : "");
    CHECK_STR(got.bytes, wanted);
    buf_release(&got);
}

/* Several rows at one address: all of them if a part starts there, only the last one if the part starts later. */
static void test_rows_at_one_address(void)
{
    static const char program[] = "\1\3\1\1\2\4\3\1\1\3\1\1\2\4\3\1\1\2\4\0\1\1"; /* lines 1, 2; 3, 4; 5; the end */
    static const uint8_t operands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    struct maker m = {.random = 13, .version = 4, .offset_size = 4};
    struct buf *b = &m.line;
    buf_add(b, "\0\0\0\0\4\0\0\0\0\0\1\1\1\373\16\15", 16);
    buf_add(b, operands, sizeof operands);
    buf_add(b, "\0a.c\0\0\0\0\0", 9);
    uint32_t header = (uint32_t)b->len - 10;
    memcpy(b->bytes + 6, &header, 4);
    buf_add(b, "\0\x09\x02", 3);
    buf_u64(b, TEXT);
    buf_add(b, program, sizeof program - 1);
    set_length(b, 0, 4);
    unit_begin(&m, DW_UT_compile, 0);
    DIE(&m, DW_TAG_compile_unit, true, {DW_AT_name, DW_FORM_string, 0, "a.c"},
        {DW_AT_stmt_list, DW_FORM_sec_offset, 0, NULL}, {DW_AT_low_pc, DW_FORM_addr, TEXT, NULL},
        {DW_AT_high_pc, DW_FORM_data4, TEXT_SIZE, NULL});
    plain_procedure(&m, "p", TEXT, 12, false);
    unit_end(&m);
    struct opened o = open_maker(&m);
    check_rows(&o, TEXT, TEXT + 12, " 0:1 0:2 4:3 4:4 8:5 12:0-");
    check_rows(&o, TEXT + 4, TEXT + 8, " 4:3 4:4 8:0-");
    check_rows(&o, TEXT + 3, TEXT + 5, " 3:2 4:3 4:4 5:0-");
    check_rows(&o, TEXT + 5, TEXT + 6, " 5:4 6:0-");
    check_rows(&o, TEXT + 5, TEXT + 5, "");
    check_rows(&o, TEXT + 4, TEXT + 4, "");
    check_rows(&o, TEXT + 8, TEXT + 40, " 8:5 12:0- 40:0-");
    close_opened(&o, &m);
}

/* A unit that has all addresses, and one that has many small ranges in them. */
static void test_many_spans(void)
{
    enum { LOOKED_AT = 1024 };
    for (unsigned count = LOOKED_AT - 2; count <= LOOKED_AT; count++) {
        struct maker m = {.random = 7, .version = 4, .offset_size = 4};
        struct buf *b = &m.aranges;
        begin_plain_unit(&m, 0, 0);
        plain_procedure(&m, "all", TEXT, TEXT_SIZE, false);
        unit_end(&m);
        put_aranges(&m, m.unit, TEXT, TEXT + TEXT_SIZE, 0);
        begin_plain_unit(&m, 0, 0);
        unit_end(&m);
        size_t start = b->len;
        put_length(b, 0, 4);
        buf_u16(b, 2);
        buf_u32(b, (uint32_t)m.unit);
        buf_add(b, "\10\0\0\0\0\0", 6);
        for (unsigned i = 0; i < count; i++) {
            buf_u64(b, TEXT + 4 + 2 * i);
            buf_u64(b, 1);
        }
        set_length(b, start, 4);
        struct opened o = open_maker(&m);
        CHECK_STR(name_at(&o, TEXT + TEXT_SIZE - 9), count < LOOKED_AT ? "all" : "none");
        close_opened(&o, &m);
    }
}

/* Chains of references are followed up to a limit, and cycles end. */
static void test_chains(void)
{
    enum { MOST = 20, HOPS = 8, TYPES = 16 };
    struct maker m = {.random = 10, .version = 4, .offset_size = 4};
    size_t wrong = 0;
    begin_plain_unit(&m, TEXT, TEXT_SIZE);
    uint64_t type = DIE(&m, DW_TAG_base_type, false, {DW_AT_byte_size, DW_FORM_udata, 4, NULL}), types[MOST];
    uint64_t named = DIE(&m, DW_TAG_subprogram, false, {DW_AT_name, DW_FORM_string, 0, "named"}), ring;
    for (unsigned i = 0; i < MOST; i++) {
        types[i] = type;
        type = DIE(&m, DW_TAG_typedef, false, {DW_AT_type, DW_FORM_ref_addr, (int64_t)type, NULL});
    }
    ring = m.info.len;
    DIE(&m, DW_TAG_typedef, false, {DW_AT_type, DW_FORM_ref_addr, (int64_t)ring, NULL});
    uint64_t itself = m.info.len;
    DIE(&m, DW_TAG_subprogram, false, {DW_AT_abstract_origin, DW_FORM_ref_addr, (int64_t)itself, NULL});
    for (unsigned i = 0; i <= MOST; i++) { /* i entries between */
        DIE(&m, DW_TAG_subprogram, true,
            {i % 2 ? DW_AT_specification : DW_AT_abstract_origin, DW_FORM_ref_addr,
             (int64_t)(i == MOST ? itself : named), NULL},
            {DW_AT_low_pc, DW_FORM_addr, TEXT + 16 * i, NULL}, {DW_AT_high_pc, DW_FORM_data4, 16, NULL});
        end_children(&m);
        named = i == MOST
                    ? named
                    : DIE(&m, DW_TAG_subprogram, false, {DW_AT_specification, DW_FORM_ref_addr, (int64_t)named, NULL});
    }
    DIE(&m, DW_TAG_subprogram, true, {DW_AT_name, DW_FORM_string, 0, "p"},
        {DW_AT_low_pc, DW_FORM_addr, TEXT + 0x1000, NULL}, {DW_AT_high_pc, DW_FORM_data4, 16, NULL},
        {DW_AT_frame_base, DW_FORM_exprloc, 1, "\x9c"});
    for (unsigned i = 0; i <= MOST; i++) {
        char name[8];
        snprintf(name, sizeof name, "v%u", i);
        DIE(&m, DW_TAG_variable, false, {DW_AT_name, DW_FORM_string, 0, name},
            {DW_AT_type, DW_FORM_ref_addr, (int64_t)(i == MOST ? ring : types[i]), NULL},
            {DW_AT_location, DW_FORM_exprloc, 2, "\x91\x10"});
    }
    end_children(&m);
    unit_end(&m);
    struct opened o = open_maker(&m);
    for (unsigned i = 0; i <= MOST; i++)
        wrong += strcmp(name_at(&o, TEXT + 16 * i), i + 1 < HOPS ? "named" : "") != 0;
    CHECK_INT(wrong, 0);
    struct bloop_variables list = {0};
    debug_variables(o.d, &list);
    CHECK_INT(list.count, TYPES);
    for (size_t i = 0; i < list.count && i < MOST; i++) {
        char name[8];
        snprintf(name, sizeof name, "p::v%zu", i);
        wrong += strcmp(list.items[i].name, name) != 0 || list.items[i].bytes != 4;
    }
    CHECK_INT(wrong, 0);
    bloop_variables_release(&list);
    close_opened(&o, &m);
}

/* Limits of the size of frame variables and of their distance from the frame base. */
static void test_far_variables(void)
{
    static const int64_t far = INT64_C(1) << 40, places[] = {-far - 1, -far, -far + 1, -1, 0, 1, far - 1, far, far + 1};
    static const struct {
        int64_t bytes, count, more; /* of an element; elements in two dimensions, 0: no such dimension */
        uint64_t wanted;
    } sizes[] = {{0, 0, 0, 0},
                 {-1, 0, 0, 0},
                 {UINT32_MAX - 1, 0, 0, UINT32_MAX - 1},
                 {UINT32_MAX, 0, 0, 0},
                 {2, UINT32_MAX - 1, 0, 2 * (UINT32_MAX - UINT64_C(1))},
                 {2, UINT32_MAX, 0, 0},
                 {2, 1 << 16, 1 << 17, UINT64_C(1) << 34},
                 {2, 3, UINT32_MAX, 0},
                 {2, 3, -1, 0}};
    struct maker m = {.random = 11, .version = 4, .offset_size = 4};
    struct buf wanted = {0}, got = {0};
    uint64_t types[ARRAY_SIZE(sizes)];
    begin_plain_unit(&m, TEXT, TEXT_SIZE);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        types[i] = DIE(&m, DW_TAG_base_type, false, {DW_AT_byte_size, DW_FORM_sdata, sizes[i].bytes, NULL});
        if (!sizes[i].count)
            continue;
        types[i] = DIE(&m, DW_TAG_array_type, true, {DW_AT_type, DW_FORM_ref_addr, (int64_t)types[i], NULL});
        DIE(&m, DW_TAG_subrange_type, false, {DW_AT_count, DW_FORM_udata, sizes[i].count, NULL});
        if (sizes[i].more > 0)
            DIE(&m, DW_TAG_subrange_type, false, {DW_AT_count, DW_FORM_udata, sizes[i].more, NULL});
        else if (sizes[i].more < 0) /* the end before the start */
            DIE(&m, DW_TAG_subrange_type, false, {DW_AT_lower_bound, DW_FORM_sdata, 3, NULL},
                {DW_AT_upper_bound, DW_FORM_sdata, 2, NULL});
        end_children(&m);
    }
    DIE(&m, DW_TAG_subprogram, true, {DW_AT_name, DW_FORM_string, 0, "p"}, {DW_AT_low_pc, DW_FORM_addr, TEXT, NULL},
        {DW_AT_high_pc, DW_FORM_data4, 16, NULL}, {DW_AT_frame_base, DW_FORM_exprloc, 1, "\x9c"});
    for (size_t i = 0; i < ARRAY_SIZE(places) + ARRAY_SIZE(sizes); i++) {
        bool of_size = i >= ARRAY_SIZE(places);
        size_t k = of_size ? i - ARRAY_SIZE(places) : 2;
        int64_t at = of_size ? 8 : places[i];
        struct buf where = {0};
        buf_u8(&where, 0x91);
        put_sleb(&where, at);
        DIE(&m, DW_TAG_variable, false, {DW_AT_name, DW_FORM_string, 0, "v"},
            {DW_AT_type, DW_FORM_ref_addr, (int64_t)types[k], NULL},
            {DW_AT_location, DW_FORM_exprloc, (int64_t)where.len, where.bytes});
        buf_release(&where);
        if (at && at > -far && at < far && sizes[k].wanted)
            buf_printf(&wanted, "%lld+%llu\n", (long long)at, (unsigned long long)sizes[k].wanted);
    }
    end_children(&m);
    unit_end(&m);
    struct opened o = open_maker(&m);
    struct bloop_variables list = {0};
    debug_variables(o.d, &list);
    for (size_t i = 0; i < list.count; i++)
        buf_printf(&got, "%lld+%llu\n", (long long)list.items[i].at, (unsigned long long)list.items[i].bytes);
    check_text(&got, &wanted, "far and large variables", 0);
    bloop_variables_release(&list);
    close_opened(&o, &m);
}

static uint64_t begin_framed(struct maker *m, const char *name, const struct range_list *code)
{
    const struct attribute low = {DW_AT_low_pc, DW_FORM_addr, (int64_t)code->items[0].begin, NULL},
                           high = {DW_AT_high_pc, DW_FORM_data4, (int64_t)(code->items[0].end - code->items[0].begin),
                                   NULL},
                           none = {0};
    struct attribute ranges = code->count > 1 ? put_list_v4(m, code, 0) : none;
    return DIE(m, DW_TAG_subprogram, true, {DW_AT_name, DW_FORM_string, 0, name}, code->count > 1 ? ranges : low,
               code->count > 1 ? none : high, {DW_AT_frame_base, DW_FORM_exprloc, 1, "\x9c"});
}

static void put_in_frame(struct maker *m, uint64_t type)
{
    DIE(m, DW_TAG_variable, false, {DW_AT_name, DW_FORM_string, 0, "v"},
        {DW_AT_type, DW_FORM_ref_addr, (int64_t)type, NULL}, {DW_AT_location, DW_FORM_exprloc, 2, "\x91\x10"});
}

/* Procedures in pieces, in any order and nested: a variable belongs to the innermost one, from its first piece to its
   last. */
static void test_whose_variables(void)
{
    static const struct addr_range pieces[] = {
        {TEXT + 0x40, TEXT + 0x50}, {TEXT + 0x80, TEXT + 0x90}, {TEXT + 0x20, TEXT + 0x28}};
    static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct maker m = {.random = 17, .version = 4, .offset_size = 4};
    struct buf wanted = {0}, got = {0};
    struct range_list code = {0};
    begin_plain_unit(&m, 0, 0);
    uint64_t four = DIE(&m, DW_TAG_base_type, false, {DW_AT_byte_size, DW_FORM_udata, 4, NULL});
    uint64_t sized = DIE(&m, DW_TAG_array_type, true, {DW_AT_type, DW_FORM_ref_addr, (int64_t)four, NULL},
                         {DW_AT_byte_size, DW_FORM_udata, 24, NULL}); /* with padding between its elements */
    DIE(&m, DW_TAG_subrange_type, false, {DW_AT_count, DW_FORM_udata, 3, NULL});
    end_children(&m);
    uint64_t of_sized = DIE(&m, DW_TAG_array_type, true, {DW_AT_type, DW_FORM_ref_addr, (int64_t)sized, NULL});
    DIE(&m, DW_TAG_subrange_type, false, {DW_AT_count, DW_FORM_udata, 5, NULL});
    end_children(&m);
    for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
        code.count = 0;
        for (unsigned k = 0; k < 3; k++)
            *vec_push(&code) = pieces[orders[i][k]];
        begin_framed(&m, "pieces", &code);
        put_in_frame(&m, i % 2 ? sized : of_sized);
        buf_printf(&wanted, "pieces::v 20-90 20-90 %d\n", i % 2 ? 24 : 120);
        if (i == 0) {
            code.count = 1;
            code.items[0] = (struct addr_range){TEXT + 0x100, TEXT + 0x110};
            begin_framed(&m, "inner", &code);
            put_in_frame(&m, four);
            buf_printf(&wanted, "inner::v 100-110 100-110 4\n");
            end_children(&m);
        }
        end_children(&m);
    }
    unit_end(&m);
    struct opened o = open_maker(&m);
    struct bloop_variables list = {0};
    debug_variables(o.d, &list);
    for (size_t i = 0; i < list.count; i++) {
        const struct bloop_variable *v = &list.items[i];
        buf_printf(&got, "%s %x-%x %x-%x %u\n", v->name, (unsigned)(v->procedure.begin - TEXT),
                   (unsigned)(v->procedure.end - TEXT), (unsigned)(v->code.begin - TEXT),
                   (unsigned)(v->code.end - TEXT), (unsigned)v->bytes);
    }
    check_text(&got, &wanted, "variables of pieces", 0);
    bloop_variables_release(&list);
    vec_release(&code);
    close_opened(&o, &m);
}

/* Truncated anywhere: the units before the cut are read, and the loss is reported (libdwarf does not report less than a
   header). */
static void test_cut(void)
{
    enum { MANY = 5 };
    struct maker m = {.random = 9, .version = 4, .offset_size = 4};
    size_t ends[MANY], wrong = 0;
    for (unsigned i = 0; i < MANY; i++) {
        m.version = 2 + i % 4;
        begin_plain_unit(&m, TEXT + 64 * i, 48);
        plain_procedure(&m, "p", TEXT + 64 * i, 48, false);
        unit_end(&m);
        ends[i] = m.info.len;
    }
    put_aranges(&m, 0, TEXT, TEXT + 9, 0);
    size_t whole = m.info.len;
    for (size_t cut = 1; cut < whole; cut++) {
        struct vaddr_list entries = {0};
        struct opened o = {.w = warnings_create()};
        struct err err = {0};
        size_t units = 0;
        bool at_end = false;
        for (unsigned i = 0; i < MANY; i++) {
            units += ends[i] <= cut;
            at_end |= ends[i] == cut;
        }
        m.info.len = cut;
        char *path = write_made(&m);
        wrong += image_open(path, NULL, &o.im, o.w, NULL) != 0 || debug_open(o.im, &o.d, o.w, &err) != 1;
        if (o.d)
            debug_entries(o.d, &entries);
        size_t begin = units ? ends[units - 1] : 0;
        wrong +=
            entries.count != units || warnings_count(o.w) > !at_end || (cut >= begin + 32 && warnings_count(o.w) == 0);
        char *words = mem_printf("%s: damaged debug information (.debug_info at 0x%zx: ", path, begin);
        if (warnings_count(o.w) && !warned(o.w, words))
            wrong++;
        for (size_t i = 0; i < entries.count; i++)
            wrong += entries.items[i] != TEXT + 64 * i;
        mem_free(words);
        mem_free(path);
        vec_release(&entries);
        debug_close(o.d);
        image_close(o.im);
        warnings_free(o.w);
    }
    CHECK_INT(wrong, 0);
    maker_release(&m);
}

/* Seeking to a unit from any position: the next unit read is the one after it. */
static void test_seek(unsigned many) /* up to 9 */
{
    struct maker m = {.random = 8, .version = 4, .offset_size = 4};
    struct elf_file *elf = NULL;
    struct dwarf_file *f = NULL;
    struct unit_header h = {0}, headers[9];
    struct warnings *w = warnings_create();
    size_t wrong = 0, count = 0;
    for (unsigned i = 0; i < many; i++) {
        m.version = 2 + i % 4;
        begin_plain_unit(&m, TEXT, 8);
        plain_procedure(&m, "p", TEXT, 8, false);
        unit_end(&m);
    }
    char *path = write_made(&m);
    CHECK(elf_file_open(path, &elf, w, NULL) == 0 && dwarf_file_open(elf, false, w, &f, NULL) == 1);
    for (uint32_t i = 0; i < many && dwarf_file_next(f, &h); i++) { /* only once all of them are known */
        dwarf_file_seek(f, many - 1);
        headers[count++] = h;
        wrong += h.version != 2 + i % 4 || h.header != (i ? headers[i - 1].next : 0) || h.die <= h.header;
    }
    CHECK_INT(count, many);
    CHECK(!dwarf_file_next(f, &h));
    for (unsigned n = 0; n < 200; n++) {
        uint32_t i = n < 2 * many ? n / 2 : pick(&m, many); /* twice the same, too */
        Dwarf_Unsigned length, type_offset, next = 0;
        Dwarf_Off abbrev;
        Dwarf_Half version, address_size, offset_size, extension, kind;
        Dwarf_Sig8 signature;
        Dwarf_Error e = NULL;
        dwarf_file_seek(f, i);
        wrong += f->position != i + 1;
        if (pick(&m, 2))
            continue;
        int status = dwarf_next_cu_header_d(f->dbg, true, &length, &version, &abbrev, &address_size, &offset_size,
                                            &extension, &signature, &type_offset, &next, &kind, &e);
        wrong += i + 1 < many ? status != DW_DLV_OK || next != headers[i + 1].next : status != DW_DLV_NO_ENTRY;
        f->position = i + 1 < many ? i + 2 : 0;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(warnings_count(w), 0);
    dwarf_file_close(f);
    elf_file_close(elf);
    warnings_free(w);
    mem_free(path);
    maker_release(&m);
}

/* Line tables that no unit refers to do not count as debug information. */
static void test_no_unit(void)
{
    struct maker m = {0};
    struct image *im = NULL;
    struct debug *d = NULL;
    make_lines(&m, TEXT, TEXT + TEXT_SIZE);
    char *path = write_made(&m);
    CHECK(image_open(path, NULL, &im, NULL, NULL) == 0);
    CHECK_INT(debug_open(im, &d, NULL, NULL), 0);
    CHECK(d == NULL);
    image_close(im);
    mem_free(path);
    maker_release(&m);
}

static void test_folders(void)
{
    test_folder((const char *const[]){"a.c", NULL}, "/home/u/build/");
    test_folder((const char *const[]){"a.c", "../src/b.c", NULL}, "/home/u/");
    test_folder((const char *const[]){"/home/u/src/a.c", "/home/u/src/sub/b.c", NULL}, "/home/u/src/");
    test_folder((const char *const[]){"/home/u/src/a.c", "/usr/include/x.c", NULL}, "/home/u/src/");
    test_folder((const char *const[]){"/home/u/src/a.c", "", "/home/u/srcs/b.c", NULL}, "/home/u/");
    test_folder((const char *const[]){"/home/u/a.c", "/opt/x/b.c", NULL}, "none");
    test_folder((const char *const[]){"/usr/include/x.c", NULL}, "none");
}

int main(void)
{
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0xa5); /* uninitialized memory is not zero */
#endif
    scratch_make();
    for (uint64_t seed = 1; seed <= 40; seed++)
        test_variables(seed);
    for (uint64_t seed = 1; seed <= 24; seed++)
        test_procedures(seed);
    RUN(test_folders);
    RUN(test_no_unit);
    RUN(test_many_units);
    RUN(test_deep);
    RUN(test_around);
    RUN(test_end_of_span);
    RUN(test_order_of_units);
    RUN(test_equal_procedures);
    RUN(test_whose_scopes);
    RUN(test_many_namespaces);
    RUN(test_rows_at_one_address);
    RUN(test_many_spans);
    for (unsigned units = 1; units <= 9; units++)
        test_seek(units);
    RUN(test_cut);
    RUN(test_chains);
    RUN(test_far_variables);
    RUN(test_whose_variables);
    scratch_remove();
    return tap_done();
}
