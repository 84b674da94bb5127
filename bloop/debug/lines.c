/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line map of one unit.  DWARF 5, chapter 6.2, and its predecessors back to DWARF 2.
 *
 * Read here and not through libdwarf, for exactness: libdwarf 20210528 (Debian 12) takes every row with
 * epilogue_begin for the end of a sequence, and lets the file register of DWARF 5 begin at 0 instead of
 * 1, which puts inlined headers of gcc's objects into the unit's own file.  It would also make an object of
 * a hundred bytes of each row.
 */
#include "bloop/debug/debug_int.h"

#include <stdlib.h>

struct program {
    struct cursor c; /* at the program, to its end */
    unsigned version, offset_size;
    unsigned min_length, max_ops;
    bool default_is_stmt;
    int line_base;
    unsigned line_range, opcode_base;
    const uint8_t *operand_counts; /* of opcode i at [i - 1] */
};

/* ---- header ---- */

/* A string of another section, wholly inside it. */
static const char *string_at(struct dwarf_file *f, const char *section, uint64_t offset)
{
    struct elf_section *s = elf_section_named(f->elf, section);
    if (!s || !elf_section_load(f->elf, s, f->w) || offset >= s->data_size ||
        !memchr(s->data + offset, 0, s->data_size - offset))
        return "";
    return (const char *)s->data + offset;
}

enum { LNCT_path = 1, LNCT_directory_index = 2 };
enum {
    FORM_block2 = 0x03,
    FORM_block4 = 0x04,
    FORM_data2 = 0x05,
    FORM_data4 = 0x06,
    FORM_data8 = 0x07,
    FORM_string = 0x08,
    FORM_block = 0x09,
    FORM_block1 = 0x0a,
    FORM_data1 = 0x0b,
    FORM_strp = 0x0e,
    FORM_udata = 0x0f,
    FORM_data16 = 0x1e,
    FORM_line_strp = 0x1f,
};

/* One field of a DWARF 5 directory or file entry; anything but strings and numbers is skipped. */
static void read_field(struct dwarf_file *f, struct cursor *c, unsigned offset_size, uint64_t form, const char **text,
                       uint64_t *number)
{
    *text = "";
    *number = 0;
    switch (form) {
    case FORM_string:
        *text = cursor_cstr(c);
        break;
    case FORM_line_strp:
    case FORM_strp: {
        uint64_t offset = offset_size == 8 ? cursor_u64(c) : cursor_u32(c);
        *text = c->bad ? "" : string_at(f, form == FORM_strp ? ".debug_str" : ".debug_line_str", offset);
        break;
    }
    case FORM_data1:
        *number = cursor_u8(c);
        break;
    case FORM_data2:
        *number = cursor_u16(c);
        break;
    case FORM_data4:
        *number = cursor_u32(c);
        break;
    case FORM_data8:
        *number = cursor_u64(c);
        break;
    case FORM_udata:
        *number = cursor_uleb(c);
        break;
    case FORM_data16:
        cursor_bytes(c, 16);
        break;
    case FORM_block:
        cursor_bytes(c, cursor_uleb(c));
        break;
    case FORM_block1:
        cursor_bytes(c, cursor_u8(c));
        break;
    case FORM_block2:
        cursor_bytes(c, cursor_u16(c));
        break;
    case FORM_block4:
        cursor_bytes(c, cursor_u32(c));
        break;
    default:
        c->bad = true; /* its length is not known */
        break;
    }
}

/* A table of directories (files false) or files, described by its own formats. */
static void read_entries_v5(struct dwarf_file *f, struct cursor *c, unsigned offset_size, bool files,
                            struct line_table *t)
{
    uint64_t contents[255], forms[255];
    unsigned formats = cursor_u8(c);
    for (unsigned i = 0; i < formats; i++) {
        contents[i] = cursor_uleb(c);
        forms[i] = cursor_uleb(c);
    }
    uint64_t count = cursor_uleb(c);
    if (formats == 0) /* entries of no bytes: their count could be anything */
        return;
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        const char *name = "", *text;
        uint64_t folder = 0, number;
        for (unsigned k = 0; k < formats; k++) {
            read_field(f, c, offset_size, forms[k], &text, &number);
            if (contents[k] == LNCT_path)
                name = text;
            else if (contents[k] == LNCT_directory_index)
                folder = number;
        }
        if (c->bad)
            return;
        if (files)
            *vec_push(&t->files) = (struct line_file){name, folder > UINT32_MAX ? UINT32_MAX : (uint32_t)folder, NULL};
        else
            *vec_push(&t->folders) = name;
    }
}

static void read_file_v4(struct cursor *c, const char *name, struct line_table *t)
{
    uint64_t folder = cursor_uleb(c);
    cursor_uleb(c); /* time of change */
    cursor_uleb(c); /* length */
    *vec_push(&t->files) = (struct line_file){name, folder > UINT32_MAX ? UINT32_MAX : (uint32_t)folder, NULL};
}

static void read_entries_v4(struct cursor *c, struct line_table *t)
{
    const char *name;
    *vec_push(&t->folders) = ""; /* the unit's own */
    while (*(name = cursor_cstr(c)))
        *vec_push(&t->folders) = name;
    *vec_push(&t->files) = (struct line_file){"", 0, NULL}; /* files are counted from 1 */
    while (!c->bad && *(name = cursor_cstr(c)))
        read_file_v4(c, name, t);
}

/* 1: read; 0: there is none; -1: damaged. */
static int read_header(struct dwarf_file *f, const struct die_info *unit, struct line_table *t, struct program *p)
{
    struct elf_section *s = elf_section_named(f->elf, ".debug_line");
    if (unit->lines == NO_OFFSET || !s || !elf_section_load(f->elf, s, f->w))
        return 0;
    if (unit->lines >= s->data_size)
        return -1;
    struct cursor c = cursor_make(s->data + unit->lines, s->data_size - unit->lines);
    uint64_t length = cursor_u32(&c);
    *p = (struct program){.offset_size = 4, .max_ops = 1};
    if (length == 0xffffffff) {
        p->offset_size = 8;
        length = cursor_u64(&c);
    }
    if (c.bad || length > cursor_left(&c))
        return -1;
    c.end = c.p + length;
    p->version = cursor_u16(&c);
    if (p->version < 2 || p->version > 5)
        return -1;
    if (p->version == 5)
        cursor_u16(&c); /* size of addresses and of segment selectors */
    uint64_t header_length = p->offset_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
    if (c.bad || header_length > cursor_left(&c))
        return -1;
    p->c = cursor_make(c.p + header_length, cursor_left(&c) - header_length);
    c.end = c.p + header_length;
    p->min_length = cursor_u8(&c);
    if (p->version >= 4)
        p->max_ops = cursor_u8(&c);
    p->default_is_stmt = cursor_u8(&c) != 0;
    p->line_base = (int8_t)cursor_u8(&c);
    p->line_range = cursor_u8(&c);
    p->opcode_base = cursor_u8(&c);
    p->operand_counts = cursor_bytes(&c, p->opcode_base ? p->opcode_base - 1 : 0);
    if (c.bad || p->opcode_base == 0)
        return -1;
    if (p->version == 5) {
        t->folder_0_is_whole = true;
        read_entries_v5(f, &c, p->offset_size, false, t);
        read_entries_v5(f, &c, p->offset_size, true, t);
    } else {
        read_entries_v4(&c, t);
    }
    return 1;
}

const char *line_table_path(struct line_table *t, uint32_t number)
{
    if (number >= t->files.count || !*t->files.items[number].name)
        return "";
    struct line_file *f = &t->files.items[number];
    if (!f->path) {
        const char *folder = f->folder < t->folders.count ? t->folders.items[f->folder] : "";
        const char *base = t->folder_0_is_whole && f->folder == 0 && *folder ? "" : t->comp_dir;
        char *in_folder = path_join(folder, f->name), *whole = path_join(base, in_folder), *normal = path_normal(whole);
        f->path = arena_strdup(t->arena, normal);
        mem_free(in_folder);
        mem_free(whole);
        mem_free(normal);
    }
    return f->path;
}

/* ---- the program ---- */

/* One sequence: rows [first, first + count) of the pool, going up; its end is a row without file. */
struct sequence {
    vaddr begin, end;
    size_t first, count;
};
struct sequence_list VEC(struct sequence);
struct row_list VEC(struct line_row);

struct machine {
    const struct image *im;
    struct program *p;
    struct line_table *t;
    struct row_list rows;
    struct sequence_list sequences;
    size_t first; /* row of the sequence being read */
    /* registers */
    vaddr address;
    uint64_t file, line, column, discriminator;
    unsigned op_index;
    bool is_stmt, prologue_end;
};

static void reset(struct machine *m)
{
    m->address = 0;
    m->op_index = 0;
    m->file = m->line = 1;
    m->column = m->discriminator = 0;
    m->is_stmt = m->p->default_is_stmt;
    m->prologue_end = false;
}

/* Within a sequence addresses never fall, or it is damaged and the row is left out. */
static void emit(struct machine *m, bool end)
{
    bool falls = m->rows.count > m->first && m->address < m->rows.items[m->rows.count - 1].addr;
    if (!falls)
        *vec_push(&m->rows) = (struct line_row){
            .addr = m->address,
            .file = end || m->file >= DEBUG_NO_FILE ? DEBUG_NO_FILE : (uint32_t)m->file,
            .line = end || m->line > INT32_MAX ? 0 : (uint32_t)m->line,
            .column = end || m->column > UINT16_MAX ? 0 : (uint16_t)m->column,
            .discriminator = m->discriminator > UINT16_MAX ? UINT16_MAX : (uint16_t)m->discriminator,
            .is_stmt = !end && m->is_stmt,
            .prologue_end = !end && m->prologue_end,
        };
    m->discriminator = 0;
    m->prologue_end = false;
}

/* Sequences of functions the linker dropped are at 0 (ld) or at the top of the address space (lld); code they are not.
 */
static bool kept_by_linker(const struct image *im, const struct sequence *s)
{
    const struct image_section *section = s->begin ? image_section_at(im, s->begin) : NULL;
    return section && section->exec && s->end > s->begin;
}

static void end_sequence(struct machine *m)
{
    emit(m, true);
    size_t count = m->rows.count - m->first;
    struct sequence s = {.begin = m->rows.items[m->first].addr,
                         .end = m->rows.items[m->rows.count - 1].addr,
                         .first = m->first,
                         .count = count};
    m->rows.items[m->rows.count - 1].file = DEBUG_NO_FILE; /* also if the end itself was left out */
    if (kept_by_linker(m->im, &s))
        *vec_push(&m->sequences) = s;
    else
        m->rows.count = m->first;
    m->first = m->rows.count;
    reset(m);
}

static void advance(struct machine *m, uint64_t operations)
{
    if (m->p->max_ops <= 1) {
        m->address += m->p->min_length * operations;
        return;
    }
    m->address += m->p->min_length * ((m->op_index + operations) / m->p->max_ops); /* VLIW */
    m->op_index = (unsigned)((m->op_index + operations) % m->p->max_ops);
}

static void extended(struct machine *m)
{
    struct cursor *c = &m->p->c;
    uint64_t length = cursor_uleb(c);
    struct cursor op = cursor_make(cursor_bytes(c, length), c->bad ? 0 : length);
    if (c->bad || length == 0)
        return;
    switch (cursor_u8(&op)) {
    case 1: /* DW_LNE_end_sequence */
        end_sequence(m);
        break;
    case 2: /* DW_LNE_set_address */
        m->address = cursor_left(&op) >= 8 ? cursor_u64(&op) : cursor_u32(&op);
        m->op_index = 0;
        break;
    case 3: { /* DW_LNE_define_file */
        const char *name = cursor_cstr(&op);
        if (!op.bad)
            read_file_v4(&op, name, m->t);
        break;
    }
    case 4: /* DW_LNE_set_discriminator */
        m->discriminator = cursor_uleb(&op);
        break;
    default: /* a vendor's: its length says where the next one is */
        break;
    }
}

static void standard(struct machine *m, unsigned opcode)
{
    struct cursor *c = &m->p->c;
    switch (opcode) {
    case 1: /* DW_LNS_copy */
        emit(m, false);
        break;
    case 2: /* advance_pc */
        advance(m, cursor_uleb(c));
        break;
    case 3: /* advance_line */
        m->line = (uint32_t)(m->line + (uint64_t)cursor_sleb(c));
        break;
    case 4: /* set_file */
        m->file = cursor_uleb(c);
        break;
    case 5: /* set_column */
        m->column = cursor_uleb(c);
        break;
    case 6: /* negate_stmt */
        m->is_stmt = !m->is_stmt;
        break;
    case 8: /* const_add_pc */
        if (m->p->line_range)
            advance(m, (255 - m->p->opcode_base) / m->p->line_range);
        break;
    case 9: /* fixed_advance_pc */
        m->address += cursor_u16(c);
        m->op_index = 0;
        break;
    case 10: /* set_prologue_end */
        m->prologue_end = true;
        break;
    case 7:  /* set_basic_block */
    case 11: /* set_epilogue_begin */
        break;
    default: /* 12, set_isa, and unknown ones: their operands are counted in the header */
        for (unsigned n = m->p->operand_counts[opcode - 1]; n; n--)
            cursor_uleb(c);
        break;
    }
}

static void run(struct machine *m)
{
    struct program *p = m->p;
    reset(m);
    while (cursor_left(&p->c) && !p->c.bad && m->rows.count < LIMIT_LINE_ROWS) {
        unsigned opcode = cursor_u8(&p->c);
        if (opcode >= p->opcode_base) {
            unsigned special = opcode - p->opcode_base;
            if (p->line_range == 0)
                break;
            advance(m, special / p->line_range);
            m->line = (uint32_t)(m->line + (uint64_t)(int64_t)(p->line_base + (int)(special % p->line_range)));
            emit(m, false);
        } else if (opcode) {
            standard(m, opcode);
        } else {
            extended(m);
        }
    }
    m->rows.count = m->first; /* a sequence without end says nothing of where it ends */
}

static int by_begin(const void *a, const void *b)
{
    const struct sequence *x = a, *y = b;
    return order_of(x->begin, y->begin) ?: order_of(x->first, y->first);
}

/* One ordered map of all sequences, instead of the rows if they are in order. If two claim the same addresses, the
   first wins. */
static void join(struct line_table *t, struct row_list *rows, struct sequence_list *sequences)
{
    vaddr covered = 0;
    bool in_place = rows->count > 0;
    sort_items(sequences->items, sequences->count, sizeof *sequences->items, by_begin);
    for (size_t i = 1; i < sequences->count && in_place; i++)
        in_place = sequences->items[i - 1].first < sequences->items[i].first;
    t->rows = in_place ? rows->items : mem_calloc(rows->count + 1, sizeof *t->rows);
    for (size_t i = 0; i < sequences->count; i++) {
        const struct sequence *s = &sequences->items[i];
        if (s->begin < covered)
            continue;
        if (t->row_count && s->begin == covered) /* no hole between them */
            t->row_count--;
        memmove(t->rows + t->row_count, rows->items + s->first, s->count * sizeof *t->rows);
        t->row_count += s->count;
        covered = s->end;
    }
    if (in_place)
        *rows = (struct row_list){0};
}

void line_table_read(struct dwarf_file *f, const struct image *im, const struct die_info *unit, bool rows,
                     struct line_table *t)
{
    struct program p;
    *t = (struct line_table){.comp_dir = unit->comp_dir ? unit->comp_dir : "", .arena = arena_create()};
    int status = read_header(f, unit, t, &p);
    if (status == 1 && rows) {
        struct machine m = {.im = im, .p = &p, .t = t};
        run(&m);
        join(t, &m.rows, &m.sequences);
        vec_release(&m.rows);
        vec_release(&m.sequences);
    }
    if (status < 0 || (status == 1 && p.c.bad))
        warnings_add(f->w, "%s: the line program at 0x%llx of .debug_line is damaged; lines are missing", f->elf->path,
                     (unsigned long long)unit->lines);
}

void line_table_release(struct line_table *t)
{
    mem_free(t->rows);
    vec_release(&t->files);
    vec_release(&t->folders);
    arena_free(t->arena);
    *t = (struct line_table){0};
}
