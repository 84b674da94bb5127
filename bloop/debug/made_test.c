/*
 * Debug information made entry by entry, in numbers no compiler writes, against what was meant: each thing that is put
 * in is noted in words as it must come out again. Made from seeds: another one makes other programs.
 */
#include "config.h"
#include "bloop/binary_test.h"
#include "bloop/bloop.h"
#include "bloop/debug/debug_int.h"
#include "tests/tap.h"

#include <elf.h>

enum { TEXT = 0x401000, TEXT_SIZE = 0x8000, UNITS = 12, LINE_STEP = 6 };

/* ---- entries ---- */

struct maker {
    struct buf info, abbrev, line, aranges, ranges;
    size_t unit; /* where the one being made begins */
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

static void put_value(struct maker *m, const struct attribute *a)
{
    struct buf *b = &m->info;
    switch (a->form) {
    case 0: /* left out */
    case DW_FORM_flag_present:
        return;
    case DW_FORM_addr:
        buf_u64(b, (uint64_t)a->number);
        return;
    case DW_FORM_string:
        buf_add(b, a->bytes, strlen(a->bytes) + 1);
        return;
    case DW_FORM_sdata:
        put_sleb(b, a->number);
        return;
    case DW_FORM_udata:
        put_uleb(b, (uint64_t)a->number);
        return;
    case DW_FORM_exprloc:
        put_uleb(b, (uint64_t)a->number);
        buf_add(b, a->bytes, (size_t)a->number);
        return;
    case DW_FORM_ref4:
        buf_u32(b, (uint32_t)((uint64_t)a->number - m->unit));
        return;
    default: /* DW_FORM_data4, _sec_offset, _ref_addr */
        buf_u32(b, (uint32_t)a->number);
    }
}

/* An entry with an abbreviation of its own; its offset. */
static uint64_t die(struct maker *m, unsigned tag, bool children, const struct attribute *list, size_t n)
{
    uint64_t at = m->info.len;
    put_uleb(&m->abbrev, ++m->codes);
    put_uleb(&m->abbrev, tag);
    buf_u8(&m->abbrev, children);
    put_uleb(&m->info, m->codes);
    for (size_t i = 0; i < n; i++) {
        put_value(m, &list[i]);
        if (list[i].form) {
            put_uleb(&m->abbrev, list[i].name);
            put_uleb(&m->abbrev, list[i].form);
        }
    }
    buf_add(&m->abbrev, "\0\0", 2);
    return at;
}

static void end_children(struct maker *m)
{
    buf_u8(&m->info, 0);
}

static void unit_begin(struct maker *m)
{
    m->unit = m->info.len;
    m->codes = 0;
    buf_u32(&m->info, 0);
    buf_u16(&m->info, 4);
    buf_u32(&m->info, (uint32_t)m->abbrev.len);
    buf_u8(&m->info, 8);
}

static void unit_end(struct maker *m)
{
    end_children(m);
    uint32_t length = (uint32_t)(m->info.len - m->unit - 4);
    memcpy(m->info.bytes + m->unit, &length, 4);
    buf_u8(&m->abbrev, 0);
}

/* One table for all units: "/cd/a.c" and "/cd/inc/b.h" in turn, a row every LINE_STEP bytes, numbered from line 1. */
static void make_lines(struct maker *m)
{
    static const uint8_t operands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    struct buf *b = &m->line;
    buf_u32(b, 0);
    buf_u16(b, 4);
    buf_u32(b, 0);
    size_t header = b->len;
    buf_add(b, "\1\1\1\373\16\15", 6);
    buf_add(b, operands, sizeof operands);
    buf_add(b, "inc\0\0a.c\0\0\0\0b.h\0\1\0\0\0", 20);
    uint32_t header_length = (uint32_t)(b->len - header), length;
    memcpy(b->bytes + header - 4, &header_length, 4);
    buf_add(b, "\0\x09\x02", 3);
    buf_u64(b, TEXT);
    for (unsigned at = 0; at < TEXT_SIZE; at += LINE_STEP) {
        buf_u8(b, 4);
        put_uleb(b, 1 + at / LINE_STEP % 2);
        buf_u8(b, 1);
        buf_add(b, "\3\1\2", 3); /* line + 1, address + */
        put_uleb(b, TEXT_SIZE - at < LINE_STEP ? TEXT_SIZE - at : LINE_STEP);
    }
    buf_add(b, "\0\1\1", 3);
    length = (uint32_t)b->len - 4;
    memcpy(b->bytes, &length, 4);
}

/* ---- the file ---- */

/* FOLDER/made with the sections that have something in them; the path, caller frees. */
static char *write_made(const struct maker *m)
{
    static const char names[] =
        "\0.text\0.shstrtab\0.debug_info\0.debug_abbrev\0.debug_line\0.debug_aranges\0.debug_ranges";
    const struct buf *parts[] = {&m->info, &m->abbrev, &m->line, &m->aranges, &m->ranges};
    struct buf file = {0}, text = {0};
    Elf64_Shdr sections[3 + ARRAY_SIZE(parts)] = {0};
    Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                    .e_type = ET_EXEC,
                    .e_machine = EM_X86_64,
                    .e_version = 1,
                    .e_ehsize = sizeof h,
                    .e_phoff = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 1,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = 3,
                    .e_shstrndx = 2};
    Elf64_Phdr p = {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_X,
                    .p_offset = 0x1000,
                    .p_vaddr = TEXT,
                    .p_filesz = TEXT_SIZE,
                    .p_memsz = TEXT_SIZE,
                    .p_align = 0x1000};
    size_t name = 1;
    for (size_t i = 0; i < TEXT_SIZE; i++)
        buf_u8(&text, 0x90);
    buf_add(&file, &h, sizeof h);
    buf_add(&file, &p, sizeof p);
    while (file.len < 0x1000)
        buf_u8(&file, 0);
    sections[1] = (Elf64_Shdr){.sh_name = 1,
                               .sh_type = SHT_PROGBITS,
                               .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                               .sh_addr = TEXT,
                               .sh_offset = file.len,
                               .sh_size = TEXT_SIZE,
                               .sh_addralign = 16};
    buf_add(&file, text.bytes, text.len);
    name += strlen(names + name) + 1;
    sections[2] = (Elf64_Shdr){.sh_name = (Elf64_Word)name,
                               .sh_type = SHT_STRTAB,
                               .sh_offset = file.len,
                               .sh_size = sizeof names,
                               .sh_addralign = 1};
    buf_add(&file, names, sizeof names);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        name += strlen(names + name) + 1;
        if (!parts[i]->len)
            continue;
        sections[h.e_shnum++] = (Elf64_Shdr){.sh_name = (Elf64_Word)name,
                                             .sh_type = SHT_PROGBITS,
                                             .sh_offset = file.len,
                                             .sh_size = parts[i]->len,
                                             .sh_addralign = 1};
        buf_add(&file, parts[i]->bytes, parts[i]->len);
    }
    h.e_shoff = file.len;
    buf_add(&file, sections, h.e_shnum * sizeof *sections);
    memcpy(file.bytes, &h, sizeof h);
    write_file("made", file.bytes, file.len);
    buf_release(&file);
    buf_release(&text);
    return scratch("made");
}

static void maker_release(struct maker *m)
{
    buf_release(&m->info);
    buf_release(&m->abbrev);
    buf_release(&m->line);
    buf_release(&m->aranges);
    buf_release(&m->ranges);
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

/* ---- variables ---- */

struct made_type {
    uint64_t at, bytes; /* 0: nobody knows */
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
        if (pick(m, 16) == 0) { /* its extent is not known: nor is what holds it */
            t.at = DIE(m, DW_TAG_array_type, true, {DW_AT_type, DW_FORM_ref4, (int64_t)t.at, NULL});
            DIE(m, DW_TAG_subrange_type, false, {0});
            end_children(m);
            t.bytes = 0;
        }
    }
    return t;
}

struct made_place {
    int64_t frame; /* where the frame's base stands */
    struct addr_range procedure, code;
    char name[32];
    bool common;
};

static void make_variable(struct maker *m, const struct made_place *in, const struct made_type *types, unsigned number,
                          struct buf *wanted)
{
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
    if (pick(m, 8) == 0) { /* an operation more: it is not simply there */
        buf_u8(&where, 0x06);
        sound = false;
    }
    bool named = pick(m, 10) != 0;
    DIE(m, DW_TAG_variable, false, {DW_AT_name, named ? DW_FORM_string : 0, 0, name},
        {DW_AT_type, DW_FORM_ref4, (int64_t)t->at, NULL},
        {DW_AT_location, DW_FORM_exprloc, (int64_t)where.len, where.bytes});
    buf_release(&where);
    if (!sound || !named || !t->bytes || in_frame == in->common || !at)
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
            DIE(m, DW_TAG_lexical_block, true, {DW_AT_low_pc, code ? DW_FORM_addr : 0, (int64_t)inner.code.begin, NULL},
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
        bool fortran = pick(&m, 2);
        struct made_type types[8];
        unit_begin(&m);
        DIE(&m, DW_TAG_compile_unit, true,
            {DW_AT_language, DW_FORM_data4, fortran ? DW_LANG_Fortran95 : DW_LANG_C99, NULL},
            {DW_AT_name, DW_FORM_string, 0, "a.c"});
        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
            types[i] = make_type(&m, fortran);
        for (unsigned p = pick(&m, 5); p; p--, at += 0x40) {
            unsigned base = pick(&m, 6) % 4;
            struct made_place in = {.frame = bases[base].frame, .procedure = {at, at + 0x20 + pick(&m, 0x20)}};
            struct buf unsaid = {0};
            in.code = in.procedure;
            snprintf(in.name, sizeof in.name, "p%u", (unsigned)(at - TEXT) / 0x40);
            DIE(&m, DW_TAG_subprogram, true, {DW_AT_name, DW_FORM_string, 0, in.name},
                {DW_AT_low_pc, DW_FORM_addr, (int64_t)at, NULL},
                {DW_AT_high_pc, DW_FORM_data4, (int64_t)(in.code.end - at), NULL},
                {DW_AT_frame_base, DW_FORM_exprloc, bases[base].n, bases[base].bytes});
            make_variables(&m, &in, types, 3, bases[base].usual ? &wanted : &unsaid);
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

/* ---- procedures and what is inlined into them ---- */

struct made_callee {
    uint64_t at, unit;
    char name[96], bare[16]; /* as seen from its own unit, and from others */
    unsigned file, line;
};
struct made_procedure {
    vaddr begin, inside, outside;  /* outside: behind its end, where no procedure is; 0: not asked */
    struct range_list code, parts; /* parts: what rows are asked of */
    bool entry;                    /* it is found without looking into others */
    struct buf said, rows;
};
struct made_program {
    struct maker m;
    struct VEC(struct made_callee) callees;
    struct VEC(struct made_procedure) procedures;
};

static const char *const made_files[] = {"", "/cd/a.c", "/cd/inc/b.h"};

/* Opens up to three namespaces and classes; their path with "::" behind each. How many. */
static unsigned open_names(struct maker *m, char *path, size_t size, bool fortran)
{
    unsigned depth = pick(m, 4);
    *path = '\0';
    for (unsigned i = 0; i < depth; i++) { /* a class holds procedures alone: those in it have link names */
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

/* A procedure of the source: as it is, or a body whose name stands in its declaration. */
static void make_callee(struct made_program *p, bool fortran)
{
    struct maker *m = &p->m;
    struct made_callee *c = vec_push(&p->callees);
    char path[64];
    unsigned depth = open_names(m, path, sizeof path, fortran), body_line = pick(m, 2) * (1 + pick(m, 500));
    *c = (struct made_callee){.unit = m->unit, .file = 1 + pick(m, 2), .line = 1 + pick(m, 500)};
    snprintf(c->bare, sizeof c->bare, "f%zu", p->callees.count);
    snprintf(c->name, sizeof c->name, "%s%s", path, c->bare);
    c->at = DIE(m, DW_TAG_subprogram, false, {DW_AT_name, DW_FORM_string, 0, c->bare},
                {DW_AT_decl_file, DW_FORM_udata, c->file, NULL}, {DW_AT_decl_line, DW_FORM_udata, c->line, NULL});
    close_names(m, depth);
    if (pick(m, 2))
        return;
    c->at = DIE(m, DW_TAG_subprogram, false, {DW_AT_specification, DW_FORM_ref4, (int64_t)c->at, NULL},
                {DW_AT_decl_line, body_line ? DW_FORM_udata : 0, body_line, NULL});
    c->line = body_line ? body_line : c->line;
}

static void put_ranges(struct buf *b, const struct range_list *r)
{
    for (size_t i = 0; i < r->count; i++)
        buf_printf(b, " %llx-%llx", (unsigned long long)r->items[i].begin, (unsigned long long)r->items[i].end);
    buf_char(b, '\n');
}

/* The code as DWARF says it: two addresses, an address and a size, or a list, by a base or without. In any order: said
   is what comes of it, sorted. */
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
    s.ranges = (struct attribute){DW_AT_ranges, DW_FORM_sec_offset, (int64_t)m->ranges.len, NULL};
    for (size_t i = r->count; i-- > 0;) {
        if (pick(m, 3) == 0) {
            base = TEXT + pick(m, 2) * 16;
            base = base > r->items[i].begin ? TEXT : base;
            buf_u64(&m->ranges, UINT64_MAX);
            buf_u64(&m->ranges, base);
        }
        if (pick(m, 4) == 0 && r->items[i].begin > base) { /* an empty one says nothing */
            buf_u64(&m->ranges, r->items[i].begin - base);
            buf_u64(&m->ranges, r->items[i].begin - base);
        }
        buf_u64(&m->ranges, r->items[i].begin - base);
        buf_u64(&m->ranges, r->items[i].end - base);
    }
    buf_u64(&m->ranges, 0);
    buf_u64(&m->ranges, 0);
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

static const struct made_callee *any_callee(struct made_program *p, bool *own)
{
    const struct made_callee *c = &p->callees.items[pick(&p->m, (unsigned)p->callees.count)];
    *own = c->unit == p->m.unit;
    return c;
}

static void make_inlines(struct made_program *p, vaddr begin, vaddr end, vaddr base, int parent, int *count,
                         unsigned depth, struct buf *said)
{
    struct maker *m = &p->m;
    struct range_list code = {0};
    for (unsigned n = pick(m, 3); n && end - begin > 16; n--) {
        vaddr a = begin + pick(m, 3), z = end - pick(m, 3);
        bool block = pick(m, 3) == 0, own;
        unsigned file = pick(m, 3), line = pick(m, 900), column = pick(m, 90);
        int inner = parent;
        if (block) {
            DIE(m, pick(m, 3) ? DW_TAG_lexical_block : DW_TAG_try_block, true,
                {DW_AT_low_pc, DW_FORM_addr, (int64_t)a, NULL}, {DW_AT_high_pc, DW_FORM_data4, (int64_t)(z - a), NULL});
        } else {
            const struct made_callee *c = any_callee(p, &own);
            cut_code(m, a, z, &code);
            struct said_code s = say_code(m, &code, base);
            vaddr entry = pick(m, 2) ? a + pick(m, 8) : 0; /* as gcc says it; clang does not */
            DIE(m, DW_TAG_inlined_subroutine, true, s.low, s.high, s.ranges,
                {DW_AT_abstract_origin, own ? DW_FORM_ref4 : DW_FORM_ref_addr, (int64_t)c->at, NULL},
                {DW_AT_entry_pc, entry ? DW_FORM_addr : 0, (int64_t)entry, NULL},
                {DW_AT_call_file, file ? DW_FORM_udata : 0, file, NULL}, {DW_AT_call_line, DW_FORM_udata, line, NULL},
                {DW_AT_call_column, DW_FORM_udata, column, NULL});
            inner = (*count)++;
            buf_printf(said, "%d in %d: %s (%s:%u) at %s:%u:%u from %llx", inner, parent, own ? c->name : c->bare,
                       made_files[c->file], c->line, made_files[file], line, column, (unsigned long long)entry);
            put_ranges(said, &code);
        }
        if (depth)
            make_inlines(p, a, z, base, inner, count, depth - 1, said);
        end_children(m);
    }
    vec_release(&code);
}

/* What is asked for: the parts, some cut in two that touch, in any order, with what is in another one again. */
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

/* The rows of the parts, and a hole behind each but where the next one touches it. */
static void put_rows(struct buf *b, const struct range_list *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        vaddr at = parts->items[i].begin, end = parts->items[i].end;
        for (size_t row = (at - TEXT) / LINE_STEP; at < end; row++, at = TEXT + row * LINE_STEP)
            buf_printf(b, " %llx=%s:%zu", (unsigned long long)at, made_files[1 + row % 2], row + 1);
        if (i + 1 == parts->count || parts->items[i + 1].begin != end)
            buf_printf(b, " %llx=", (unsigned long long)end);
    }
    buf_char(b, '\n');
}

/* `path`: of what is around it. With another procedure in it, whose code is behind its own. */
static void make_procedure(struct made_program *p, const char *path, vaddr begin, vaddr end, vaddr base, bool fortran,
                           bool inner, bool hidden, bool asked)
{
    struct maker *m = &p->m;
    struct made_procedure made = {.begin = begin};
    bool own = true, copy = pick(m, 3) == 0, with = !inner && (asked || fortran) && pick(m, 3) == 0;
    const struct made_callee *c = copy ? any_callee(p, &own) : NULL;
    bool around = with && asked && pick(m, 2); /* the one in it is in the midst of its code */
    vaddr last = around ? end - 8 : with ? begin + (end - begin) / 2 : asked ? end - 8 : end;
    bool of_module = !copy && !*path && pick(m, 3) == 0;
    char link_name[40] = "";
    unsigned file = 1 + pick(m, 2), line = 1 + pick(m, 900);
    char name[16];
    int count = 0;
    snprintf(name, sizeof name, "p%zu", p->procedures.count);
    if (of_module) /* or none that says so */
        snprintf(link_name, sizeof link_name, pick(m, 3) ? "__area%u_MOD_%s" : "_area%u_MOD_%s", pick(m, 9), name);
    cut_code(m, begin, last, &made.code);
    ask_for(m, &made.code, &made.parts);
    made.inside = pick(m, 2) ? last - 1 : begin + 2;
    struct said_code s = say_code(m, &made.code, base);
    DIE(m, DW_TAG_subprogram, true, s.low, s.high, s.ranges,
        {DW_AT_linkage_name, *link_name ? DW_FORM_string : 0, 0, link_name},
        {DW_AT_name, copy ? 0 : DW_FORM_string, 0, name},
        {DW_AT_abstract_origin,
         !copy ? 0
         : own ? DW_FORM_ref4
               : DW_FORM_ref_addr,
         copy ? (int64_t)c->at : 0, NULL},
        {DW_AT_decl_file, copy ? 0 : DW_FORM_udata, file, NULL},
        {DW_AT_decl_line, copy ? 0 : DW_FORM_udata, line, NULL});
    if (copy)
        buf_printf(&made.said, "%s%s (%s:%u)", own ? "" : path, own ? c->name : c->bare, made_files[c->file], c->line);
    else
        buf_printf(&made.said, "%s%.*s%s%s (%s:%u)", path, link_name[1] == '_' ? 5 : 0, link_name + 2,
                   link_name[1] == '_' ? "::" : "", name, made_files[file], line);
    put_ranges(&made.said, &made.code);
    make_inlines(p, begin, last, base, -1, &count, 3, &made.said);
    put_rows(&made.rows, &made.parts);
    buf_str(&made.said, made.rows.bytes);
    ask_for_more(m, &made.parts);
    made.outside = with || inner || !asked ? 0 : last + 3;
    made.entry = !hidden;
    *vec_push(&p->procedures) = made;
    if (with) {
        char *below = !fortran ? mem_strdup(path) : copy ? mem_strdup(path) : mem_printf("%s%s::", path, name);
        bool block = asked && pick(m, 2); /* (nobody looks there where the unit has no addresses) */
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

/* How a unit's addresses are known: by .debug_aranges, by itself, or by its procedures alone. */
enum { BY_TABLE, BY_ITSELF, BY_PROCEDURES, KINDS };

static void make_unit(struct made_program *p, vaddr begin, vaddr end)
{
    struct maker *m = &p->m;
    unsigned kind = pick(m, KINDS), procedures = 1 + pick(m, 4);
    bool fortran = pick(m, 3) == 0;
    vaddr base = kind == BY_ITSELF ? begin : 0, step = (end - begin) / procedures;
    unit_begin(m);
    DIE(m, DW_TAG_compile_unit, true,
        {DW_AT_language, DW_FORM_data4, fortran ? DW_LANG_Fortran95 : DW_LANG_C_plus_plus, NULL},
        {DW_AT_name, DW_FORM_string, 0, "a.c"}, {DW_AT_comp_dir, DW_FORM_string, 0, "/cd"},
        {DW_AT_stmt_list, DW_FORM_sec_offset, 0, NULL}, {DW_AT_low_pc, base ? DW_FORM_addr : 0, (int64_t)begin, NULL},
        {DW_AT_high_pc, base ? DW_FORM_data4 : 0, (int64_t)(end - begin), NULL});
    for (unsigned n = 1 + pick(m, 4); n; n--)
        make_callee(p, fortran);
    for (unsigned i = 0; i < procedures; i++) {
        char path[64];
        unsigned depth = pick(m, 2) ? open_names(m, path, sizeof path, true) : (*path = '\0', 0);
        make_procedure(p, path, begin + i * step, begin + (i + 1) * step, base, fortran, false, false,
                       kind != BY_PROCEDURES);
        close_names(m, depth);
    }
    unit_end(m);
    if (kind == BY_TABLE) {
        buf_u32(&m->aranges, 44);
        buf_u16(&m->aranges, 2);
        buf_u32(&m->aranges, (uint32_t)m->unit);
        buf_add(&m->aranges, "\10\0\0\0\0\0", 6);
        buf_u64(&m->aranges, begin);
        buf_u64(&m->aranges, end - begin);
        buf_u64(&m->aranges, 0);
        buf_u64(&m->aranges, 0);
    }
}

static const char *file_of(const struct debug_function *f, uint32_t file)
{
    return file < f->file_count ? f->files[file] : "";
}

static void put_answer(struct buf *b, const struct debug_function *f)
{
    buf_printf(b, "%s (%s:%u)", f->name, file_of(f, f->decl_file), f->decl_line);
    put_ranges(b, &(struct range_list){.items = f->ranges, .count = f->own_range_count});
    for (size_t i = 0; i < f->inline_count; i++) {
        const struct inline_call *c = &f->inlines[i];
        buf_printf(b, "%zu in %d: %s (%s:%u) at %s:%u:%u from %llx", i, (int)c->parent, c->name,
                   file_of(f, c->decl_file), c->decl_line, file_of(f, c->call_file), c->call_line, c->call_column,
                   (unsigned long long)c->entry);
        put_ranges(b, &(struct range_list){.items = f->ranges + c->range_first, .count = c->range_count});
    }
    for (size_t i = 0; i < f->row_count; i++) {
        buf_printf(b, " %llx=%s", (unsigned long long)f->rows[i].addr, file_of(f, f->rows[i].file));
        if (f->rows[i].file != DEBUG_NO_FILE)
            buf_printf(b, ":%u", f->rows[i].line);
    }
    buf_char(b, '\n');
}

static void ask(struct debug *d, vaddr at, const struct made_procedure *p, struct buf *got)
{
    struct arena *a = arena_create();
    struct debug_function f;
    if (d && debug_function_at(d, at, p->parts.items, p->parts.count, a, &f) == 1)
        put_answer(got, &f);
    arena_free(a);
}

static int by_address(const void *left, const void *right)
{
    vaddr a = *(const vaddr *)left, b = *(const vaddr *)right;
    return a < b ? -1 : a > b;
}

static void test_procedures(uint64_t seed)
{
    struct made_program p = {.m = {.random = seed}};
    struct buf got = {0}, wanted = {0};
    struct image *im = NULL;
    struct debug *d = NULL;
    struct warnings *w = warnings_create();
    vaddr size = TEXT_SIZE / UNITS & ~15u;
    make_lines(&p.m);
    for (unsigned u = 0; u < UNITS; u++)
        make_unit(&p, TEXT + u * size, TEXT + (u + 1) * size);
    char *path = write_made(&p.m);
    if (image_open(path, NULL, &im, w, NULL) == 0 && debug_open(im, &d, w, NULL) == 1)
        for (unsigned n = 0; n < 3 * p.procedures.count; n++) {
            const struct made_procedure *made = &p.procedures.items[pick(&p.m, (unsigned)p.procedures.count)];
            ask(d, pick(&p.m, 2) ? made->begin : made->inside, made, &got);
            buf_str(&wanted, made->said.bytes);
            if (made->outside) { /* the lines are all that is known */
                ask(d, made->outside, made, &got);
                buf_str(&wanted, " (:0)\n");
                buf_str(&wanted, made->rows.bytes);
            }
        }
    ask(d, TEXT + TEXT_SIZE + 8, &p.procedures.items[0], &got); /* nothing is known of it */
    for (size_t i = 0; i < warnings_count(w); i++)
        buf_printf(&got, "%s\n", warnings_get(w, i));
    printf("# %zu procedures\n", p.procedures.count);
    check_text(&got, &wanted, "procedures", seed);
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
    for (size_t i = 0; i < p.procedures.count; i++) {
        vec_release(&p.procedures.items[i].code);
        vec_release(&p.procedures.items[i].parts);
        buf_release(&p.procedures.items[i].said);
        buf_release(&p.procedures.items[i].rows);
    }
    vec_release(&p.procedures);
    vec_release(&p.callees);
    debug_close(d);
    image_close(im);
    warnings_free(w);
    mem_free(path);
    maker_release(&p.m);
}

/* The folder that the files of all units are in, but for the system's; a unit of one by one. */
static void test_folder(const char *const *files, const char *wanted)
{
    struct maker m = {0};
    struct image *im = NULL;
    struct debug *d = NULL;
    for (; *files; files++) {
        unit_begin(&m);
        DIE(&m, DW_TAG_compile_unit, true, {DW_AT_name, **files ? DW_FORM_string : 0, 0, *files},
            {DW_AT_comp_dir, DW_FORM_string, 0, "/home/u/build"});
        unit_end(&m);
    }
    char *path = write_made(&m), *got = NULL;
    if (image_open(path, NULL, &im, NULL, NULL) == 0 && debug_open(im, &d, NULL, NULL) == 1)
        got = debug_source_folder(d);
    CHECK_STR(got ? got : "none", wanted);
    mem_free(got);
    debug_close(d);
    image_close(im);
    mem_free(path);
    maker_release(&m);
}

/* More units than are looked at where all claim one address, and than have their files kept. Each has a procedure; the last
   one has copies of all of them, with the file of theirs. */
static void test_many_units(void)
{
    enum { MANY = 40, LOOKED_AT = 16 };
    struct maker m = {.random = 77};
    struct image *im = NULL;
    struct debug *d = NULL;
    uint64_t at[MANY];
    unsigned wrong = 0, unlike = 0;
    make_lines(&m);
    for (unsigned u = 0; u <= MANY; u++) {
        char folder[16];
        snprintf(folder, sizeof folder, "/cd%u", u);
        unit_begin(&m);
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

/* Lines without a unit that wants them are no debug information. */
static void test_no_unit(void)
{
    struct maker m = {0};
    struct image *im = NULL;
    struct debug *d = NULL;
    make_lines(&m);
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
    scratch_make();
    for (uint64_t seed = 1; seed <= 16; seed++)
        test_variables(seed);
    for (uint64_t seed = 1; seed <= 16; seed++)
        test_procedures(seed);
    test_folders();
    test_no_unit();
    test_many_units();
    scratch_remove();
    return tap_done();
}
