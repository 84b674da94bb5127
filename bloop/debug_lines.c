/* The line map of one unit, from libdwarf's line tables.  DWARF 5, chapter 6.2. */
#include "bloop/debug_int.h"

#include <stdlib.h>

/* ---- files ---- */

/* Numbers: from 1 up to DWARF 4, folder 0 being the unit's; from 0 in DWARF 5. */
static void read_files(struct dwarf_file *f, Dwarf_Line_Context context, unsigned version, struct line_table *t)
{
    Dwarf_Signed base = 0, count = 0, end = 0;
    Dwarf_Error e = NULL;
    if (dwarf_srclines_files_indexes(context, &base, &count, &end, &e) != DW_DLV_OK || end <= 0 || end > (1 << 24)) {
        if (e)
            dwarf_dealloc_error(f->dbg, e);
        return;
    }
    t->files = mem_calloc((size_t)end, sizeof *t->files);
    t->file_count = (uint32_t)end;
    for (Dwarf_Signed i = base < 0 ? 0 : base; i < end; i++) {
        const char *name = NULL, *folder = NULL;
        Dwarf_Unsigned folder_index = 0, modified = 0, length = 0;
        Dwarf_Form_Data16 *md5 = NULL;
        if (dwarf_srclines_files_data_b(context, i, &name, &folder_index, &modified, &length, &md5, &e) == DW_DLV_OK) {
            t->files[i].name = name;
            if ((version >= 5 || folder_index > 0) && folder_index < (1 << 24) &&
                dwarf_srclines_include_dir_data(context, (Dwarf_Signed)folder_index, &folder, &e) == DW_DLV_OK)
                t->files[i].folder = folder;
        }
        if (e)
            dwarf_dealloc_error(f->dbg, e);
        e = NULL;
    }
}

const char *line_table_path(struct line_table *t, uint32_t number)
{
    if (number >= t->file_count || !t->files[number].name || !*t->files[number].name)
        return "";
    struct line_file *f = &t->files[number];
    if (!f->path) {
        char *in_folder = path_join(f->folder ? f->folder : "", f->name), *whole = path_join(t->comp_dir, in_folder),
             *normal = path_normal(whole);
        f->path = arena_strdup(t->arena, normal);
        mem_free(in_folder);
        mem_free(whole);
        mem_free(normal);
    }
    return f->path;
}

/* ---- rows ---- */

/* One sequence of the line program: rows [first, first + count) of the pool, going up; its end is a row without file.
 */
struct sequence {
    vaddr begin, end;
    size_t first, count;
};
struct sequence_list VEC(struct sequence);
struct row_list VEC(struct line_row);

static int by_begin(const void *a, const void *b)
{
    const struct sequence *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static bool read_row(Dwarf_Line line, struct line_row *row, bool *end)
{
    Dwarf_Addr addr = 0;
    Dwarf_Unsigned number = 0, file = 0, column = 0, isa = 0, discriminator = 0;
    Dwarf_Bool statement = 0, ends = 0, prologue_end = 0, epilogue_begin = 0;
    Dwarf_Error e = NULL; /* these fail only for a NULL line */
    if (dwarf_lineaddr(line, &addr, &e) != DW_DLV_OK || dwarf_lineendsequence(line, &ends, &e) != DW_DLV_OK)
        return false;
    dwarf_lineno(line, &number, &e);
    dwarf_line_srcfileno(line, &file, &e);
    dwarf_lineoff_b(line, &column, &e);
    dwarf_linebeginstatement(line, &statement, &e);
    dwarf_prologue_end_etc(line, &prologue_end, &epilogue_begin, &isa, &discriminator, &e);
    *end = ends;
    *row = (struct line_row){.addr = addr,
                             .file = ends || file >= DEBUG_NO_FILE ? DEBUG_NO_FILE : (uint32_t)file,
                             .line = ends || number > INT32_MAX ? 0 : (uint32_t)number,
                             .column = column > UINT16_MAX ? 0 : (uint16_t)column,
                             .discriminator = discriminator > UINT16_MAX ? UINT16_MAX : (uint16_t)discriminator,
                             .is_stmt = statement,
                             .prologue_end = prologue_end};
    return true;
}

/* Sequences of functions the linker dropped are at 0 (ld) or at the top of the address space (lld); code they are not.
 */
static bool kept_by_linker(const struct image *im, const struct sequence *s)
{
    const struct image_section *section = s->begin ? image_section_at(im, s->begin) : NULL;
    return section && section->exec && s->end > s->begin;
}

static void close_sequence(const struct image *im, struct row_list *rows, size_t first, struct sequence_list *sequences)
{
    size_t count = rows->count - first;
    struct sequence s = {.first = first, .count = count};
    if (count) {
        s.begin = rows->items[first].addr;
        s.end = rows->items[rows->count - 1].addr;
    }
    if (count && kept_by_linker(im, &s))
        *vec_push(sequences) = s;
    else
        rows->count = first;
}

/* Rows come in the order of the program; within a sequence addresses never fall, or it is damaged and the row is left
 * out. */
static void collect(const struct image *im, Dwarf_Line *lines, Dwarf_Signed count, struct row_list *rows,
                    struct sequence_list *sequences)
{
    size_t first = 0;
    for (Dwarf_Signed i = 0; i < count; i++) {
        struct line_row row;
        bool end = false;
        if (!read_row(lines[i], &row, &end))
            continue;
        if (rows->count == first || row.addr >= rows->items[rows->count - 1].addr)
            *vec_push(rows) = row;
        if (end) {
            rows->items[rows->count - 1].file = DEBUG_NO_FILE;
            close_sequence(im, rows, first, sequences);
            first = rows->count;
        }
    }
    rows->count = first; /* a sequence without end says nothing of where it ends */
}

/* One ordered map of all sequences. Where two claim the same addresses, the first has them. */
static void join(struct line_table *t, const struct row_list *rows, struct sequence_list *sequences)
{
    vaddr covered = 0;
    bool sorted = true;
    for (size_t i = 1; i < sequences->count && sorted; i++)
        sorted = sequences->items[i - 1].end <= sequences->items[i].begin;
    if (!sorted)
        qsort(sequences->items, sequences->count, sizeof *sequences->items, by_begin);
    t->rows = mem_calloc(rows->count + 1, sizeof *t->rows);
    for (size_t i = 0; i < sequences->count; i++) {
        const struct sequence *s = &sequences->items[i];
        if (s->begin < covered)
            continue;
        if (t->row_count && s->begin == covered) /* no hole between them */
            t->row_count--;
        memcpy(t->rows + t->row_count, rows->items + s->first, s->count * sizeof *t->rows);
        t->row_count += s->count;
        covered = s->end;
    }
}

static void read_rows(struct dwarf_file *f, const struct image *im, Dwarf_Line_Context context, uint64_t unit,
                      struct line_table *t)
{
    Dwarf_Line *lines = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Error e = NULL;
    int status = dwarf_srclines_from_linecontext(context, &lines, &count, &e);
    if (status == DW_DLV_ERROR)
        dwarf_complain(f, unit, e);
    if (status != DW_DLV_OK)
        return;
    struct row_list rows = {0};
    struct sequence_list sequences = {0};
    collect(im, lines, count, &rows, &sequences);
    join(t, &rows, &sequences);
    vec_release(&rows);
    vec_release(&sequences);
}

/* libdwarf makes an object of some hundred bytes of every row, and a row takes one byte: say no before it begins. */
static bool of_sane_size(struct dwarf_file *f, const struct die_info *unit)
{
    struct elf_section *s = elf_section_named(f->elf, ".debug_line");
    if (!s || !elf_section_load(f->elf, s, f->w) || unit->lines >= s->data_size)
        return false;
    struct cursor c = cursor_make(s->data + unit->lines, s->data_size - unit->lines);
    uint64_t size = cursor_u32(&c);
    if (size == 0xffffffff)
        size = cursor_u64(&c);
    if (!c.bad && size <= LIMIT_LINE_PROGRAM && size <= cursor_left(&c))
        return true;
    warnings_add(
        f->w, "%s: the line program at 0x%llx of .debug_line is damaged (it claims %llu bytes); its lines are missing",
        f->elf->path, (unsigned long long)unit->lines, (unsigned long long)size);
    return false;
}

void line_table_read(struct dwarf_file *f, const struct image *im, Dwarf_Die die, const struct die_info *unit,
                     bool rows, struct line_table *t)
{
    Dwarf_Line_Context context = NULL;
    Dwarf_Unsigned version = 0;
    Dwarf_Small tables = 0;
    Dwarf_Error e = NULL;
    *t = (struct line_table){.comp_dir = unit->comp_dir ? unit->comp_dir : "", .arena = arena_create()};
    if (unit->lines == NO_OFFSET || !of_sane_size(f, unit))
        return;
    int status = dwarf_srclines_b(die, &version, &tables, &context, &e);
    if (status == DW_DLV_ERROR)
        dwarf_complain(f, unit->offset, e);
    if (status != DW_DLV_OK)
        return;
    read_files(f, context, (unsigned)version, t);
    if (rows && tables == 1)
        read_rows(f, im, context, unit->offset, t);
    dwarf_srclines_dealloc_b(context);
}

void line_table_release(struct line_table *t)
{
    mem_free(t->rows);
    mem_free(t->files);
    arena_free(t->arena);
    *t = (struct line_table){0};
}
