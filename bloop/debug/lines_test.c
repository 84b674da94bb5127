/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random line programs and range lists of each version, compared with the effect of their operations; no file is
 * involved.
 */
#include "bloop/debug/debug_int.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

enum { TEXT = 0x401000, TEXT_SIZE = 0x400 };
static vaddr text = TEXT;                                           /* where the code of line programs is */
enum { LINE = 1, STR, LINE_STR, ADDR, RANGES, RNGLISTS, SECTIONS }; /* zero is not used */

static struct made {
    struct image image;
    struct image_private priv;
    struct image_section sections[2];
    uint32_t by_addr[2];
    struct elf_file elf;
    struct elf_section parts[SECTIONS];
    struct buf bytes[SECTIONS];
    struct dwarf_file file;
    struct warnings *w;
} m;

static void made_init(void)
{
    static const char *const names[] = {
        "", ".debug_line", ".debug_str", ".debug_line_str", ".debug_addr", ".debug_ranges", ".debug_rnglists"};
    m = (struct made){.w = warnings_create()};
    m.sections[0] = (struct image_section){".text", text, TEXT_SIZE, NULL, true, true, false};
    m.sections[1] = (struct image_section){".data", text + TEXT_SIZE, TEXT_SIZE, NULL, true, false, true};
    m.by_addr[1] = 1;
    m.priv.by_addr = m.by_addr;
    m.priv.by_addr_count = 2;
    m.image = (struct image){.path = "made", .sections = m.sections, .section_count = 2, .priv = &m.priv};
    for (size_t i = 0; i < SECTIONS; i++)
        m.parts[i] = (struct elf_section){.name = names[i], .loaded = true};
    m.elf.path = (char *)"made";
    m.elf.sections = m.parts;
    m.elf.section_count = SECTIONS;
    pthread_mutex_init(&m.elf.lock, NULL);
    m.file.elf = &m.elf;
    m.file.w = m.w;
}

/* Each section ends where memory does. */
static void made_finish(void)
{
    static struct guarded_room rooms[SECTIONS];
    for (size_t i = 0; i < SECTIONS; i++) {
        m.parts[i].data = guarded_copy(&rooms[i], m.bytes[i].bytes, m.bytes[i].len);
        m.parts[i].data_size = m.bytes[i].len;
    }
}

static void made_release(void)
{
    for (size_t i = 0; i < SECTIONS; i++)
        buf_release(&m.bytes[i]);
    warnings_free(m.w);
}

static void put_offset(struct buf *b, uint64_t v, unsigned size)
{
    if (size == 8)
        buf_u64(b, v);
    else
        buf_u32(b, (uint32_t)v);
}

/* ---- the names of files ---- */

enum { FILES = 12, FORMATS = 4 };

static const char *const words[] = {"a.c", "inc/b.h", "/abs/c.c", "../d.f90", "./e.c", "x/../f.c", ""};

static struct names {
    const char *folders[FILES], *files[FILES];
    uint64_t folder_of[FILES];
    size_t folder_count, file_count;
} names;

/* As in DWARF 2 to 4: file 0 does not exist. */
static void put_names_v4(struct buf *b)
{
    names.folders[names.folder_count++] = "";
    for (unsigned n = below(4); n > 0; n--) {
        names.folders[names.folder_count] = words[below(6)];
        buf_str(b, names.folders[names.folder_count++]);
        buf_u8(b, 0);
    }
    buf_u8(b, 0);
    names.files[names.file_count++] = "";
    for (unsigned n = below(5); n > 0; n--) {
        names.files[names.file_count] = words[below(6)];
        names.folder_of[names.file_count] = below(5);
        buf_str(b, names.files[names.file_count]);
        buf_u8(b, 0);
        buf_uleb(b, names.folder_of[names.file_count++]);
        buf_uleb(b, below(1000000));
        buf_uleb(b, below(1000000));
    }
    buf_u8(b, 0);
}

static void put_string(struct buf *b, const char *s, unsigned form, unsigned offset_size)
{
    if (form == DW_FORM_string) {
        buf_add(b, s, strlen(s) + 1);
        return;
    }
    struct buf *to = &m.bytes[form == DW_FORM_strp ? STR : LINE_STR];
    put_offset(b, to->len, offset_size);
    buf_add(to, s, strlen(s) + 1);
}

/* A number that fits, or ignored bytes in any form. */
static void put_number(struct buf *b, uint64_t v, unsigned form)
{
    uint64_t n = below(5);
    switch (form) {
    case DW_FORM_data1:
        buf_u8(b, (uint8_t)v);
        return;
    case DW_FORM_data2:
        buf_u16(b, (uint16_t)v);
        return;
    case DW_FORM_data4:
        buf_u32(b, (uint32_t)v);
        return;
    case DW_FORM_data8:
        buf_u64(b, v);
        return;
    case DW_FORM_udata:
        buf_uleb(b, v);
        return;
    case DW_FORM_data16:
        n = 16;
        break;
    case DW_FORM_block:
        buf_uleb(b, n);
        break;
    case DW_FORM_block1:
        buf_u8(b, (uint8_t)n);
        break;
    case DW_FORM_block2:
        buf_u16(b, (uint16_t)n);
        break;
    default:
        buf_u32(b, (uint32_t)n);
    }
    while (n-- > 0)
        buf_u8(b, (uint8_t)(1 + below(255)));
}

static const unsigned string_forms[] = {DW_FORM_string, DW_FORM_strp, DW_FORM_line_strp},
                      number_forms[] = {DW_FORM_data1,  DW_FORM_data2, DW_FORM_data4,  DW_FORM_data8,  DW_FORM_udata,
                                        DW_FORM_data16, DW_FORM_block, DW_FORM_block1, DW_FORM_block2, DW_FORM_block4};

static const char **last_text[SECTIONS]; /* objects whose string is the last one in a section */
static bool unknown;                     /* a field has a form of unknown length: the following fields are not read */

/* A table of folders or files with its own formats: name, folder and ignored fields in any order. */
static void put_names_v5(struct buf *b, bool files, unsigned offset_size)
{
    enum { PATH = 1, FOLDER, MD5 = 5, NUMBERS = 5, NOBODYS = 0x99 };
    unsigned contents[FORMATS], forms[FORMATS], formats = 1 + below(FORMATS), path_at = below(formats), n = below(6);
    buf_u8(b, (uint8_t)formats);
    for (unsigned i = 0; i < formats; i++) {
        contents[i] = i == path_at ? PATH : i == (path_at + 1) % formats && below(4) ? FOLDER : below(2) ? MD5 : 0x2001;
        forms[i] = contents[i] == PATH     ? string_forms[below(3)]
                   : contents[i] == FOLDER ? number_forms[below(below(4) ? NUMBERS : ARRAY_SIZE(number_forms))]
                                           : number_forms[below(ARRAY_SIZE(number_forms))];
        if (contents[i] > FOLDER && below(40) == 0)
            forms[i] = NOBODYS;
        unknown |= n > 0 && forms[i] == NOBODYS;
        buf_uleb(b, contents[i]);
        buf_uleb(b, forms[i]);
    }
    buf_uleb(b, n);
    for (; n > 0; n--) {
        const char *name = words[below(ARRAY_SIZE(words))];
        uint64_t folder = 0;
        for (unsigned i = 0; i < formats; i++) {
            uint64_t v = below(6);
            if (contents[i] == PATH) {
                put_string(b, name, forms[i], offset_size);
                if (forms[i] != DW_FORM_string)
                    last_text[forms[i] == DW_FORM_strp ? STR : LINE_STR] =
                        files ? &names.files[names.file_count] : &names.folders[names.folder_count];
            } else if (forms[i] != NOBODYS)
                put_number(b, v, forms[i]);
            for (size_t k = 0; k < NUMBERS && contents[i] == FOLDER; k++)
                folder = forms[i] == number_forms[k] ? v : folder;
        }
        if (unknown) {
            memset(last_text, 0, sizeof last_text);
            continue;
        }
        if (files) {
            names.folder_of[names.file_count] = folder;
            names.files[names.file_count++] = name;
        } else {
            names.folders[names.folder_count++] = name;
        }
    }
}

static char *wanted_path(size_t file, bool v5, const char *comp_dir)
{
    if (file >= names.file_count || !*names.files[file])
        return mem_strdup("");
    uint64_t number = names.folder_of[file];
    const char *folder = number < names.folder_count ? names.folders[number] : "";
    char *below_folder = path_join(folder, names.files[file]), *whole = NULL;
    if (v5 && number == 0 && *folder)
        whole = mem_strdup(below_folder);
    else
        whole = path_join(comp_dir, below_folder);
    char *normal = path_normal(whole);
    mem_free(below_folder);
    mem_free(whole);
    return normal;
}

/* ---- programs ---- */

struct header {
    unsigned version, offset_size, min_length, max_ops, line_range, opcode_base;
    int line_base;
    bool is_stmt;
    uint8_t operands[32];
};

struct row_list VEC(struct line_row);
static struct row_list rows; /* of the sequence at hand */
static struct sequence {
    struct row_list rows;
    vaddr begin, end;
} sequences[200];
static size_t sequence_count;

static struct registers {
    uint64_t address, op_index, file, column, discriminator;
    uint32_t line;
    bool is_stmt, prologue_end;
} r;

static void begin_sequence(const struct header *h)
{
    r = (struct registers){.file = 1, .line = 1, .is_stmt = h->is_stmt};
    rows = (struct row_list){0};
}

static void row(bool end)
{
    struct line_row *last = rows.count ? &rows.items[rows.count - 1] : NULL;
    if (!last || r.address >= last->addr)
        *vec_push(&rows) =
            end ? (struct line_row){.addr = r.address,
                                    .file = DEBUG_NO_FILE,
                                    .discriminator = r.discriminator > 65535 ? 65535 : (uint16_t)r.discriminator}
                : (struct line_row){.addr = r.address,
                                    .file = r.file > 0xfffffffe ? DEBUG_NO_FILE : (uint32_t)r.file,
                                    .line = r.line > 0x7fffffff ? 0 : r.line,
                                    .column = r.column > 65535 ? 0 : (uint16_t)r.column,
                                    .discriminator = r.discriminator > 65535 ? 65535 : (uint16_t)r.discriminator,
                                    .is_stmt = r.is_stmt,
                                    .prologue_end = r.prologue_end};
    r.discriminator = 0;
    r.prologue_end = false;
}

static void advance(const struct header *h, uint64_t operations)
{
    uint64_t most = h->version >= 4 && h->max_ops ? h->max_ops : 1;
    r.address += h->min_length * ((r.op_index + operations) / most);
    r.op_index = (r.op_index + operations) % most;
}

static void end_sequence(const struct header *h)
{
    row(true);
    rows.items[rows.count - 1].file = DEBUG_NO_FILE;
    struct sequence s = {.rows = rows, .begin = rows.items[0].addr, .end = rows.items[rows.count - 1].addr};
    if (s.begin >= text && s.begin < text + TEXT_SIZE && s.end > s.begin)
        sequences[sequence_count++] = s;
    else
        vec_release(&rows);
    begin_sequence(h);
}

static uint64_t sometimes_large(uint32_t small)
{
    return below(12) ? below(small) : below(3) == 0 ? 0xfffe + below(3) : below(2) ? below(200000) : random64();
}

static void put_extended(struct buf *b, const struct header *h, unsigned kind)
{
    struct buf op = {0};
    uint64_t v;
    switch (kind) {
    case 0: /* zero length: ignored */
        break;
    case 1:
        buf_u8(&op, DW_LNE_end_sequence);
        end_sequence(h);
        break;
    case 2:
        v = below(8) ? text + below(TEXT_SIZE) : below(2) ? 0 : text + TEXT_SIZE + below(TEXT_SIZE);
        buf_u8(&op, DW_LNE_set_address);
        if (v > UINT32_MAX || below(3))
            buf_u64(&op, v);
        else
            buf_u32(&op, (uint32_t)v);
        r.address = v;
        r.op_index = 0;
        break;
    case 3:
        if (names.file_count == FILES)
            break;
        names.files[names.file_count] = words[below(6)];
        names.folder_of[names.file_count] = below(5);
        buf_u8(&op, DW_LNE_define_file);
        buf_add(&op, names.files[names.file_count], strlen(names.files[names.file_count]) + 1);
        buf_uleb(&op, names.folder_of[names.file_count++]);
        buf_uleb(&op, below(1000));
        buf_uleb(&op, below(1000));
        break;
    case 4:
        v = sometimes_large(20);
        buf_u8(&op, DW_LNE_set_discriminator);
        buf_uleb(&op, v);
        r.discriminator = v;
        break;
    default: /* a vendor's */
        buf_u8(&op, (uint8_t)(0x80 + below(0x80)));
        for (unsigned n = below(6); n > 0; n--)
            buf_u8(&op, (uint8_t)below(256));
    }
    buf_u8(b, 0);
    buf_uleb(b, op.len);
    buf_add(b, op.bytes ? op.bytes : "", op.len);
    buf_release(&op);
}

static void put_standard(struct buf *b, const struct header *h, unsigned opcode)
{
    uint64_t v;
    int64_t s;
    buf_u8(b, (uint8_t)opcode);
    switch (opcode) {
    case DW_LNS_copy:
        row(false);
        break;
    case DW_LNS_advance_pc:
        v = below(20);
        if (r.address == 0 && below(2)) /* to the start of code, if nothing else does */
            v = (text + below(TEXT_SIZE)) / (h->min_length ? h->min_length : 1) *
                (h->version >= 4 && h->max_ops ? h->max_ops : 1);
        buf_uleb(b, v);
        advance(h, v);
        break;
    case DW_LNS_advance_line:
        s = below(30)  ? (int64_t)below(200) - 60
            : below(2) ? INT32_MAX - 1 + (int64_t)below(3) - r.line
                       : (int64_t)random64() / 1024;
        buf_sleb(b, s);
        r.line += (uint32_t)s;
        break;
    case DW_LNS_set_file:
        v = below(30) ? below(8) : below(3) ? 0xfffffffe + below(3) : random64();
        buf_uleb(b, v);
        r.file = v;
        break;
    case DW_LNS_set_column:
        v = below(10) ? below(200) : 65530 + below(12);
        buf_uleb(b, v);
        r.column = v;
        break;
    case DW_LNS_negate_stmt:
        r.is_stmt = !r.is_stmt;
        break;
    case DW_LNS_const_add_pc:
        if (h->line_range)
            advance(h, (255 - h->opcode_base) / h->line_range);
        break;
    case DW_LNS_fixed_advance_pc:
        v = below(30);
        buf_u16(b, (uint16_t)v);
        r.address += v;
        r.op_index = 0;
        break;
    case DW_LNS_set_prologue_end:
        r.prologue_end = true;
        break;
    case DW_LNS_set_basic_block:
    case DW_LNS_set_epilogue_begin:
        break;
    default:
        for (unsigned n = h->operands[opcode - 1]; n > 0; n--)
            buf_uleb(b, random64() >> below(64));
    }
}

static void put_program(struct buf *b, const struct header *h)
{
    sequence_count = 0;
    begin_sequence(h);
    for (unsigned n = below(300); n > 0 && sequence_count < ARRAY_SIZE(sequences); n--) {
        unsigned kind = below(20), opcode = below(h->opcode_base);
        if (kind == 0) {
            put_extended(b, h, 1);
            put_extended(b, h, 2);
        } else if (kind < 4) {
            put_extended(b, h, below(6) ? 2 + below(4) : 0);
        } else if (kind < 12 && opcode) {
            put_standard(b, h, opcode);
        } else if (h->line_range) {
            unsigned special = below(256 - h->opcode_base);
            if (below(3))
                special %= 4 * h->line_range;
            special %= 256 - h->opcode_base;
            buf_u8(b, (uint8_t)(h->opcode_base + special));
            advance(h, special / h->line_range);
            r.line += (uint32_t)(h->line_base + (int)(special % h->line_range));
            row(false);
        }
    }
    if (below(4))
        put_extended(b, h, 1);
    vec_release(&rows); /* an incomplete sequence yields nothing */
}

static struct header draw_header(void)
{
    struct header h = {.version = 2 + below(4),
                       .offset_size = below(3) ? 4 : 8,
                       .min_length = below(3) ? 1 : 1 + below(4),
                       .max_ops = below(3) ? 1 : below(5),
                       .line_range = below(8) ? 1 + below(16) : 0,
                       .opcode_base = below(4) ? 13 : 1 + below(24),
                       .line_base = (int)below(20) - 12,
                       .is_stmt = below(2)};
    static const uint8_t usual[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    for (unsigned i = 0; i < h.opcode_base; i++)
        h.operands[i] = i < sizeof usual ? usual[i] : (uint8_t)below(4);
    return h;
}

/* The unit's part of .debug_line, after another unit's part. */
static void put_unit(const struct header *h)
{
    unknown = false;
    memset(last_text, 0, sizeof last_text);
    struct buf *b = &m.bytes[LINE], names_too = {0}, program = {0};
    buf_u8(&names_too, (uint8_t)h->min_length);
    if (h->version >= 4)
        buf_u8(&names_too, (uint8_t)h->max_ops);
    buf_u8(&names_too, h->is_stmt ? (uint8_t)(1 + below(255)) : 0);
    buf_u8(&names_too, (uint8_t)h->line_base);
    buf_u8(&names_too, (uint8_t)h->line_range);
    buf_u8(&names_too, (uint8_t)h->opcode_base);
    buf_add(&names_too, h->operands, h->opcode_base - 1);
    if (h->version == 5) {
        put_names_v5(&names_too, false, h->offset_size);
        put_names_v5(&names_too, true, h->offset_size);
    } else {
        put_names_v4(&names_too);
    }
    for (unsigned n = below(3); n > 0; n--) /* possible fields of later versions */
        buf_u8(&names_too, 0x77);
    put_program(&program, h);
    uint64_t length = 2 + (h->version == 5 ? 2 : 0) + h->offset_size + names_too.len + program.len;
    if (h->offset_size == 8)
        buf_u32(b, 0xffffffff);
    put_offset(b, length, h->offset_size);
    buf_u16(b, (uint16_t)h->version);
    if (h->version == 5)
        buf_u16(b, 8);
    put_offset(b, names_too.len, h->offset_size);
    buf_add(b, names_too.bytes, names_too.len);
    buf_add(b, program.bytes ? program.bytes : "", program.len);
    buf_release(&names_too);
    buf_release(&program);
}

static int by_begin(const void *a, const void *b)
{
    const struct sequence *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Sequences in the order of addresses, the first of those with equal starts; only those with addresses of their own. */
static struct row_list wanted_rows(void)
{
    struct row_list all = {0};
    vaddr covered = 0;
    for (size_t i = 1; i < sequence_count; i++) /* (as they come, where they begin together) */
        for (size_t k = i; k > 0 && by_begin(&sequences[k - 1], &sequences[k]) > 0; k--) {
            struct sequence s = sequences[k];
            sequences[k] = sequences[k - 1];
            sequences[k - 1] = s;
        }
    for (size_t i = 0; i < sequence_count; i++) {
        const struct sequence *s = &sequences[i];
        if (s->begin < covered)
            continue;
        if (s->begin == covered && all.count > 0)
            all.count--;
        for (size_t k = 0; k < s->rows.count; k++)
            *vec_push(&all) = s->rows.items[k];
        covered = s->end;
    }
    for (size_t i = 0; i < sequence_count; i++)
        vec_release(&sequences[i].rows);
    return all;
}

static bool same_row(const struct line_row *a, const struct line_row *b)
{
    return a->addr == b->addr && a->file == b->file && a->line == b->line && a->column == b->column &&
           a->discriminator == b->discriminator && a->is_stmt == b->is_stmt && a->prologue_end == b->prologue_end;
}

static bool same_rows(const struct line_table *t, const struct row_list *wanted)
{
    size_t i = 0;
    while (i < t->row_count && i < wanted->count && same_row(&t->rows[i], &wanted->items[i]))
        i++;
    if (i == t->row_count && i == wanted->count)
        return true;
    printf("# row %zu of %zu, %zu wanted", i, t->row_count, wanted->count);
    if (i < t->row_count && i < wanted->count)
        printf(": %llx %u:%u:%u, %llx %u:%u:%u wanted", (unsigned long long)t->rows[i].addr, t->rows[i].file,
               t->rows[i].line, t->rows[i].column, (unsigned long long)wanted->items[i].addr, wanted->items[i].file,
               wanted->items[i].line, wanted->items[i].column);
    printf("\n");
    return false;
}

static bool same_paths(struct line_table *t, bool v5, const char *comp_dir)
{
    bool same = true;
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < FILES + 2; i++) {
            char *path = wanted_path(i, v5, comp_dir);
            same = same && strcmp(line_table_path(t, i), path) == 0;
            if (strcmp(line_table_path(t, i), path) != 0)
                printf("# file %u is '%s', '%s' wanted\n", i, line_table_path(t, i), path);
            mem_free(path);
        }
    return same;
}

static void test_programs(void)
{
    enum { ROUNDS = 3000 };
    int right = 0, named = 0, sound = 0, cut_short = 0;
    size_t seen = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const char *comp_dir = below(4) ? "/cd/sub" : below(2) ? "" : NULL;
        struct line_table t;
        struct header h = draw_header();
        text = below(2) ? TEXT : TEXT + ((vaddr)1 << 40);
        made_init();
        names = (struct names){0};
        for (unsigned n = below(4); n > 0; n--)
            buf_u8(&m.bytes[LINE], 0xee);
        struct die_info unit = {.lines = m.bytes[LINE].len, .comp_dir = comp_dir};
        put_unit(&h);
        for (unsigned n = below(4); n > 0; n--)
            buf_u8(&m.bytes[LINE], 0xee);
        for (int i = STR; i <= LINE_STR; i++)
            if (last_text[i] && below(2)) { /* an unterminated string is invalid */
                m.bytes[i].len--;
                *last_text[i] = "";
            }
        made_finish();
        struct row_list wanted = wanted_rows();
        seen += wanted.count;
        line_table_read(&m.file, &m.image, &unit, true, &t);
        right += same_rows(&t, &wanted);
        sound += warnings_count(m.w) == 0;
        named += same_paths(&t, h.version == 5, comp_dir ? comp_dir : "");
        line_table_release(&t);
        line_table_read(&m.file, &m.image, &unit, false, &t); /* names alone */
        cut_short += t.row_count == 0 && warnings_count(m.w) == 0;
        line_table_release(&t);
        vec_release(&wanted);
        made_release();
    }
    CHECK_INT(right, ROUNDS);
    CHECK_INT(named, ROUNDS);
    CHECK_INT(sound, ROUNDS);
    CHECK_INT(cut_short, ROUNDS);
    CHECK(seen > 20 * ROUNDS);
    text = TEXT;
}

/* ---- damage ---- */

static bool is_damaged(struct die_info unit)
{
    struct line_table t;
    warnings_free(m.w); /* (each message appears once) */
    m.file.w = m.w = warnings_create();
    line_table_read(&m.file, &m.image, &unit, true, &t);
    line_table_release(&t);
    return warnings_count(m.w) == 1;
}

/* A valid program, and its damaged variants; one that is truncated is reported as damaged unless the program itself is
   complete. */
static void test_damage(void)
{
    enum { FRONT = 3 }; /* bytes of other data */
    static struct guarded_room cut_off;
    struct header h = {2, 4, 1, 1, 14, 13, -5, true, {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}};
    for (h.version = 2; h.version <= 5; h.version++)
        for (h.offset_size = 4; h.offset_size <= 8; h.offset_size += 4) {
            struct die_info unit = {.lines = FRONT};
            made_init();
            names = (struct names){0};
            buf_add(&m.bytes[LINE], "\xee\xee\xee", FRONT);
            put_unit(&h);
            made_finish();
            for (size_t i = 0; i < sequence_count; i++)
                vec_release(&sequences[i].rows);
            uint8_t *bytes = (uint8_t *)(uintptr_t)m.parts[LINE].data + FRONT;
            size_t size = m.parts[LINE].data_size - FRONT, version_at = h.offset_size == 8 ? 12 : 4;
            size_t base_at = version_at + 2 + (h.version == 5 ? 2 : 0) + h.offset_size + (h.version >= 4 ? 5 : 4);
            CHECK(!is_damaged(unit));
            bool said = true;
            for (size_t cut = 0; cut < size; cut++) {
                m.parts[LINE].data_size = FRONT + cut;
                m.parts[LINE].data = guarded_copy(&cut_off, bytes - FRONT, FRONT + cut);
                said = said && is_damaged(unit);
            }
            CHECK_NAMED(said, "cut off");
            m.parts[LINE].data_size = FRONT + size;
            m.parts[LINE].data = bytes - FRONT;
            unit.lines = FRONT + size;
            CHECK(is_damaged(unit));
            unit.lines = NO_OFFSET; /* a missing program is not damage */
            CHECK(!is_damaged(unit));
            unit.lines = FRONT;
            for (unsigned version = 0; version < 8; version++) {
                bytes[version_at] = (uint8_t)version;
                if (version < 2 || version > 5)
                    CHECK(is_damaged(unit));
            }
            bytes[version_at] = (uint8_t)h.version;
            CHECK(!is_damaged(unit));
            size_t length_at = base_at - (h.version >= 4 ? 5 : 4) - h.offset_size, fields = h.version >= 4 ? 18 : 17;
            uint64_t length = 0, left = size - length_at - h.offset_size, odd;
            memcpy(&length, bytes + length_at, h.offset_size);
            for (odd = 0; odd < fields; odd++) { /* a header that ends inside its fields or after the section */
                memcpy(bytes + length_at, &odd, h.offset_size);
                CHECK(is_damaged(unit));
            }
            for (odd = left; odd < left + 3; odd++) {
                memcpy(bytes + length_at, &odd, h.offset_size);
                CHECK(is_damaged(unit) == (odd > left));
            }
            memcpy(bytes + length_at, &length, h.offset_size);
            CHECK_INT(bytes[base_at], 13);
            bytes[base_at] = 0;
            CHECK(is_damaged(unit));
            bytes[base_at] = 13;
            m.parts[LINE].name = ".debug_other";
            CHECK(!is_damaged(unit));
            made_release();
        }
}

/* ---- ranges ---- */

struct drawn_ranges {
    struct range_list list; /* as they come */
    uint64_t at;            /* where they are in the section */
};

static bool is_kept(vaddr begin, vaddr end)
{
    return begin > 1 && begin < end && begin < UINT64_MAX - 16;
}

static void want(struct drawn_ranges *d, vaddr begin, vaddr end)
{
    if (is_kept(begin, end))
        *vec_push(&d->list) = (struct addr_range){begin, end};
}

static vaddr some_address(void)
{
    return below(12) ? TEXT + below(200) : below(2) ? below(3) : UINT64_MAX - below(30);
}

static struct drawn_ranges draw_v4(vaddr base)
{
    struct buf *b = &m.bytes[RANGES];
    struct drawn_ranges d = {.at = b->len};
    for (unsigned n = below(8); n > 0; n--) {
        vaddr begin = some_address(), end = begin + below(40);
        if (below(4) == 0) {
            base = TEXT + below(50);
            buf_u64(b, UINT64_MAX);
            buf_u64(b, base);
        }
        if (begin - base == UINT64_MAX || (begin == base && end == base)) /* these have another meaning */
            continue;
        buf_u64(b, begin - base);
        buf_u64(b, end - base);
        want(&d, begin, end);
    }
    buf_u64(b, 0);
    buf_u64(b, 0);
    return d;
}

enum { ADDRESSES = 20 };
static vaddr addresses[ADDRESSES]; /* of .debug_addr, behind `addr_base` */

/* An index of an address, or one out of range, also so large that eight times the index wraps around. */
static uint64_t some_index(bool *there)
{
    uint64_t x = below(ADDRESSES + 2);
    *there = x < ADDRESSES;
    if (below(20) == 0) {
        x += UINT64_C(1) << (32 + below(32));
        *there = false;
    }
    return x;
}

static struct drawn_ranges draw_v5(vaddr base)
{
    struct buf *b = &m.bytes[RNGLISTS];
    struct drawn_ranges d = {.at = b->len};
    for (unsigned n = below(10); n > 0; n--) {
        bool there, both;
        unsigned kind = 1 + below(7);
        uint64_t x = some_index(&there), y = some_index(&both);
        vaddr begin = some_address(), end = begin + below(40);
        both = both && there;
        buf_u8(b, (uint8_t)kind);
        switch (kind) {
        case DW_RLE_base_addressx:
            buf_uleb(b, x);
            if (!there) /* end: the following offsets have no base */
                n = 1;
            else
                base = addresses[x];
            break;
        case DW_RLE_startx_endx:
            buf_uleb(b, x);
            buf_uleb(b, y);
            if (both)
                want(&d, addresses[x], addresses[y]);
            break;
        case DW_RLE_startx_length:
            buf_uleb(b, x);
            buf_uleb(b, end - begin);
            if (there)
                want(&d, addresses[x], addresses[x] + (end - begin));
            break;
        case DW_RLE_offset_pair:
            buf_uleb(b, begin - base);
            buf_uleb(b, end - base);
            want(&d, begin, end);
            break;
        case DW_RLE_base_address:
            base = TEXT + below(50);
            buf_u64(b, base);
            break;
        case DW_RLE_start_end:
            buf_u64(b, begin);
            buf_u64(b, end);
            want(&d, begin, end);
            break;
        default: /* start_length */
            buf_u64(b, begin);
            buf_uleb(b, end - begin);
            want(&d, begin, end);
        }
    }
    if (below(20) == 0)
        buf_u8(b, 8); /* an unknown entry ends the list */
    else
        buf_u8(b, 0);
    return d;
}

/* Sorted, with adjacent ranges joined: checked byte by byte for short lists. */
static bool joined_right(const struct range_list *list, size_t from, const struct range_list *all)
{
    bool right = true;
    for (size_t i = from; i < list->count; i++)
        right = right && list->items[i].begin < list->items[i].end &&
                (i == from || list->items[i - 1].end < list->items[i].begin);
    for (vaddr a = TEXT - 4; a < TEXT + 300 && right; a++) {
        bool in = false, wanted = false;
        for (size_t i = from; i < list->count; i++)
            in |= a >= list->items[i].begin && a < list->items[i].end;
        for (size_t i = from; i < all->count; i++)
            wanted |= a >= all->items[i].begin && a < all->items[i].end;
        right = in == wanted;
    }
    return right;
}

static void test_ranges(void)
{
    enum { ROUNDS = 2000, LISTS = 4 };
    int right = 0, joined = 0;
    for (int round = 0; round < ROUNDS; round++) {
        bool v5 = below(2), tables = below(2);
        unsigned offset_size = below(2) ? 4 : 8;
        struct drawn_ranges lists[LISTS];
        made_init();
        for (unsigned n = 8 + below(3) * 4; n > 0; n--)
            buf_u8(&m.bytes[ADDR], 0xee);
        uint64_t addr_base = m.bytes[ADDR].len;
        for (size_t i = 0; i < ADDRESSES; i++)
            buf_u64(&m.bytes[ADDR], addresses[i] = some_address());
        struct unit_base base = {.version = v5 ? 5 : 2 + (uint16_t)below(3),
                                 .offset_size = (uint8_t)offset_size,
                                 .base = below(2) ? TEXT : 0,
                                 .rnglists_base = NO_OFFSET,
                                 .addr_base = addr_base == 8 && v5 && below(2) ? NO_OFFSET : addr_base,
                                 .gnu_ranges_base = NO_OFFSET,
                                 .addresses = &m.elf};
        struct buf *to = &m.bytes[v5 ? RNGLISTS : RANGES];
        uint64_t more = below(2) * 16;
        for (uint64_t n = v5 ? (offset_size == 8 ? 20 : 12) + more : more; n > 0; n--)
            buf_u8(to, 0xee);
        uint64_t table = to->len;
        if (v5 && (more || below(2)))
            base.rnglists_base = table;
        if (!v5 && below(2))
            base.gnu_ranges_base = more;
        for (size_t i = 0; v5 && i < LISTS; i++)
            put_offset(to, 0, offset_size);
        for (size_t i = 0; i < LISTS; i++) {
            lists[i] = v5 ? draw_v5(base.base) : draw_v4(base.base);
            uint64_t offset = lists[i].at - table;
            if (v5)
                memcpy(to->bytes + table + i * offset_size, &offset, offset_size);
        }
        made_finish();
        bool same = true, all_joined = true;
        for (size_t i = 0; i < LISTS; i++) {
            struct die_info info = {.has_ranges = true, .ranges = lists[i].at};
            struct range_list got = {0};
            size_t from = below(3);
            if (v5 && tables) {
                info.ranges_form = DW_FORM_rnglistx;
                info.ranges = i;
            }
            if (base.gnu_ranges_base != NO_OFFSET)
                info.ranges -= base.gnu_ranges_base;
            for (size_t k = 0; k < from; k++) /* existing entries are unchanged */
                *vec_push(&got) = (struct addr_range){9 - k, 5};
            die_ranges(&m.file, &base, &info, &got);
            bool alike = got.count - from == lists[i].list.count;
            for (size_t k = 0; k < lists[i].list.count && alike; k++)
                alike = got.items[from + k].begin == lists[i].list.items[k].begin &&
                        got.items[from + k].end == lists[i].list.items[k].end;
            same = same && alike;
            struct range_list before = {0};
            for (size_t k = 0; k < got.count; k++)
                *vec_push(&before) = got.items[k];
            ranges_normalize(&got, from);
            all_joined = all_joined && joined_right(&got, from, &before);
            for (size_t k = 0; k < from; k++)
                all_joined = all_joined && got.items[k].begin == 9 - k && got.items[k].end == 5;
            vec_release(&before);
            vec_release(&got);
            vec_release(&lists[i].list);
        }
        right += same;
        joined += all_joined;
        made_release();
    }
    CHECK_INT(right, ROUNDS);
    CHECK_INT(joined, ROUNDS);
}

/* Two addresses, as such or by their place in .debug_addr; an end may be a size. */
static void test_bounds(void)
{
    enum { ROUNDS = 500 };
    int right = 0;
    for (int round = 0; round < ROUNDS; round++) {
        made_init();
        for (size_t i = 0; i < ADDRESSES; i++)
            buf_u64(&m.bytes[ADDR], addresses[i] = some_address());
        made_finish();
        struct unit_base base = {.version = 4, .offset_size = 4, .addr_base = 0, .addresses = &m.elf};
        struct die_info d = {.has_low = below(5) > 0, .has_high = below(5) > 0, .has_entry = below(2)};
        bool has_x, has_y, has_z;
        uint64_t x = some_index(&has_x), y = some_index(&has_y), z = some_index(&has_z);
        if (below(10) == 0) { /* a base that would come round again */
            base.addr_base = UINT64_MAX - 7;
            x = y = z = 1 + below(ADDRESSES);
            has_x = has_y = has_z = false;
        }
        vaddr low = some_address(), high = some_address(), entry = some_address();
        d.low_indexed = below(2);
        d.high_indexed = below(2);
        d.entry_indexed = below(2);
        d.high_is_size = !d.high_indexed && below(2);
        d.low = d.low_indexed ? x : low;
        d.high = d.high_indexed ? y : d.high_is_size ? below(30) : high;
        d.entry = d.entry_indexed ? z : entry;
        bool known = d.has_low && d.has_high && (!d.high_indexed || has_y);
        low = !d.has_low ? 0 : !d.low_indexed ? low : has_x ? addresses[x] : 0;
        high = d.high_indexed ? (has_y ? addresses[y] : 0) : d.high_is_size ? low + d.high : high;
        entry = !d.has_entry ? 0 : !d.entry_indexed ? entry : has_z ? addresses[z] : 0;
        struct range_list got = {0};
        die_ranges(&m.file, &base, &d, &got);
        bool wanted = known && is_kept(low, high);
        right += got.count == wanted && (!wanted || (got.items[0].begin == low && got.items[0].end == high)) &&
                 die_low(&base, &d) == low && die_entry(&base, &d) == entry;
        vec_release(&got);
        made_release();
    }
    CHECK_INT(right, ROUNDS);
}

/* Lists whose index is in a missing table, or that are out of range. */
static void test_lists_outside(void)
{
    static const struct {
        uint64_t base, index;
        size_t found;
    } cases[] = {{12, 0, 1},
                 {12, 1, 0},
                 {12, UINT64_C(1) << 62, 0},
                 {UINT64_MAX - 3, 4, 0},
                 {NO_OFFSET, 0, 1},
                 {NO_OFFSET, 9, 0},
                 {1000, 0, 0},
                 {UINT64_C(1) << 50, 0, 0},
                 {8, 1, 0},
                 {12, UINT32_MAX, 0}};
    made_init();
    buf_add(&m.bytes[RNGLISTS], "\0\0\0\0\5\0\10\0\1\0\0\0\4\0\0\0", 16); /* its list is 4 bytes on */
    buf_u8(&m.bytes[RNGLISTS], DW_RLE_start_length);
    buf_u64(&m.bytes[RNGLISTS], TEXT);
    buf_add(&m.bytes[RNGLISTS], "\7\0", 2);
    made_finish();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct unit_base base = {
            .version = 5, .offset_size = 4, .rnglists_base = cases[i].base, .addr_base = 8, .addresses = &m.elf};
        struct die_info info = {.has_ranges = true, .ranges_form = DW_FORM_rnglistx, .ranges = cases[i].index};
        struct range_list got = {0};
        die_ranges(&m.file, &base, &info, &got);
        CHECK_INT(got.count, cases[i].found);
        CHECK(got.count == 0 || (got.items[0].begin == TEXT && got.items[0].end == TEXT + 7));
        vec_release(&got);
    }
    CHECK_INT(warnings_count(m.w), 0);
    made_release();
}

/* The maximum number of ranges of one entry, and one more. */
static void test_many_ranges(void)
{
    for (unsigned version = 4; version <= 5; version++) {
        struct range_list got = {0};
        made_init();
        for (size_t i = 0; i < LIMIT_RANGES_OF_ENTRY + 2; i++) {
            if (version == 4) {
                buf_u64(&m.bytes[RANGES], 2 * i + 2);
                buf_u64(&m.bytes[RANGES], 2 * i + 3);
            } else {
                buf_add(&m.bytes[RNGLISTS], "\4\2\3", 3);
            }
        }
        made_finish();
        struct unit_base base = {.version = (uint16_t)version,
                                 .offset_size = 4,
                                 .rnglists_base = NO_OFFSET,
                                 .addr_base = NO_OFFSET,
                                 .gnu_ranges_base = NO_OFFSET,
                                 .addresses = &m.elf};
        struct die_info info = {.has_ranges = true};
        die_ranges(&m.file, &base, &info, &got);
        CHECK_INT(got.count, LIMIT_RANGES_OF_ENTRY);
        vec_release(&got);
        made_release();
    }
}

/* Cached values, compared with a list in order of use. */
static void test_kept(void)
{
    enum { SLOTS = 5, KEYS = 9, ROUNDS = 2000 };
    struct kept kept[SLOTS] = {{0, 0}};
    uint64_t used[SLOTS]; /* the last one first */
    size_t count = 0, where[KEYS] = {0}, wrong = 0;
    for (uint64_t now = 1; now <= ROUNDS; now++) {
        uint64_t key = below(KEYS);
        size_t at = 0;
        bool there, taken[SLOTS] = {false};
        while (at < count && used[at] != key)
            at++;
        bool wanted = at < count;
        for (size_t i = 0; i < count; i++)
            taken[where[used[i]]] = true;
        size_t slot = kept_slot(kept, SLOTS, key, now, &there);
        wrong += there != wanted || slot >= SLOTS;
        if (wanted)
            wrong += slot != where[key];
        else if (count < SLOTS)
            wrong += taken[slot];
        else
            wrong += slot != where[used[SLOTS - 1]];
        if (!wanted && count < SLOTS)
            count++;
        for (size_t i = wanted ? at : count - 1; i > 0; i--)
            used[i] = used[i - 1];
        used[0] = key;
        where[key] = slot % SLOTS;
    }
    CHECK_INT(wrong, 0);
}

int main(void)
{
    RUN(test_kept);
    RUN(test_lists_outside);
    RUN(test_many_ranges);
    RUN(test_programs);
    RUN(test_damage);
    RUN(test_ranges);
    RUN(test_bounds);
    return tap_done();
}
