/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What DWARF says of one procedure, read when it is asked for.
 *
 * From an address to a unit and its tables (units.c); from there to the procedure; from the procedure to its inlined
 * calls: one walk over what is below it. DWARF 5: 2.17, 6.2.
 */
#include "bloop/debug/units.h"

static int open_go_table(const struct image *im, struct debug **out)
{
    struct go_table *go;
    if (!go_table_open(im, &go))
        return 0;
    *out = mem_calloc(1, sizeof **out);
    (*out)->image = im;
    (*out)->go = go;
    return 1;
}

int debug_open(const struct image *im, struct debug **out, struct warnings *w, struct err *err)
{
    struct dwarf_file *main = NULL;
    *out = NULL;
    int status = im->priv->dwarf ? dwarf_file_open(im->priv->dwarf, false, w, &main, err) : 0;
    if (status <= 0)
        return status < 0 ? status : open_go_table(im, out);
    struct debug *d = mem_calloc(1, sizeof *d);
    d->image = im;
    d->w = w;
    d->main = main;
    if (im->priv->alternate) {
        struct err ignored = {0};
        if (dwarf_file_open(im->priv->alternate, false, w, &d->alternate, &ignored) == 1) {
            Dwarf_Error e = NULL;
            if (dwarf_set_tied_dbg(main->dbg, d->alternate->dbg, &e) == DW_DLV_ERROR) /* for DW_FORM_GNU_strp_alt */
                dwarf_complain(main, 0, e);
            else
                main->has_alternate = true;
        }
    }
    unit_list(d);
    *out = d;
    return 1;
}

void debug_close(struct debug *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < TABLES_KEPT; i++)
        unit_release(&d->tables[i]);
    for (size_t i = 0; i < FILES_KEPT; i++)
        line_table_release(&d->others[i]);
    go_table_close(d->go);
    dwarf_file_close(d->package);
    elf_file_close(d->package_elf);
    hashmap_release(&d->package_units);
    vec_release(&d->package_roots);
    dwarf_file_close(d->main);
    dwarf_file_close(d->alternate);
    vec_release(&d->units);
    vec_release(&d->spans);
    mem_free(d->reach);
    mem_free(d);
}

/* ---- an answer ---- */

struct path_list VEC(const char *);
struct inline_list VEC(struct inline_call);
struct answer_row_list VEC(struct line_row);

struct answer {
    struct debug *d;
    struct unit_tables *t;
    struct arena *arena;
    struct path_list files;
    struct inline_list inlines;
    struct range_list ranges;
    struct answer_row_list rows;
};

/* Index of a path in the answer; DEBUG_NO_FILE for "". Several numbers may stand for one file. */
static uint32_t file_index(struct answer *a, const char *path)
{
    if (!*path)
        return DEBUG_NO_FILE;
    for (size_t i = 0; i < a->files.count; i++)
        if (strcmp(a->files.items[i], path) == 0)
            return (uint32_t)i;
    *vec_push(&a->files) = arena_strdup(a->arena, path);
    return (uint32_t)a->files.count - 1;
}

static uint32_t numbered_file(struct answer *a, uint32_t number)
{
    if (number >= a->t->lines.files.count)
        return DEBUG_NO_FILE;
    if (a->t->file_memo[number].answer != a->d->answer) {
        a->t->file_memo[number].answer = a->d->answer;
        a->t->file_memo[number].index = file_index(a, line_table_path(&a->t->lines, number));
    }
    return a->t->file_memo[number].index;
}

static void copy_names(struct answer *a, struct callee_names *c, const char **name, const char **link_name)
{
    if (c->answer != a->d->answer) {
        c->answer = a->d->answer;
        c->answer_name = arena_strdup(a->arena, c->name);
        c->answer_link_name = arena_strdup(a->arena, c->link_name);
    }
    *name = c->answer_name;
    *link_name = c->answer_link_name;
}

static uint32_t add_inline(struct answer *a, const struct die_info *info, uint32_t parent)
{
    struct inline_call call = {.parent = parent,
                               .name = "",
                               .link_name = "",
                               .decl_file = DEBUG_NO_FILE,
                               .call_line = info->call_line,
                               .call_column = info->call_column,
                               .entry = die_entry(&a->t->base, info),
                               .range_first = (uint32_t)a->ranges.count};
    die_ranges(a->t->file, &a->t->base, info, &a->ranges);
    ranges_normalize(&a->ranges, call.range_first);
    call.range_count = (uint32_t)a->ranges.count - call.range_first;
    call.call_file = numbered_file(a, info->call_file);
    if (info->origin != NO_OFFSET && (!info->origin_alternate || a->d->alternate)) {
        struct callee_names *c = unit_callee(a->d, a->t, info->origin_alternate, info->origin);
        copy_names(a, c, &call.name, &call.link_name);
        call.decl_line = c->decl_line;
        call.decl_file = file_index(a, c->decl_path);
    }
    *vec_push(&a->inlines) = call;
    return (uint32_t)a->inlines.count - 1;
}

/* All inlined calls below the procedure's entry, callers before callees. */
static void add_inlines(struct answer *a, Dwarf_Die procedure)
{
    uint32_t parent_at[LIMIT_DWARF_DEPTH + 2]; /* for entries of each depth */
    struct die_walk w;
    bool at = die_walk_begin(&w, a->t->file, procedure);
    parent_at[1] = INLINE_NONE;
    while (at && a->inlines.count < LIMIT_INLINES_OF_PROCEDURE) {
        Dwarf_Die die = w.levels[w.depth - 1].die;
        unsigned tag = die_tag(die);
        bool into = false;
        if (tag == DW_TAG_inlined_subroutine) {
            struct die_info info;
            die_read(a->t->file, die, &info);
            uint32_t index = add_inline(a, &info, parent_at[w.depth]);
            into = die_walk_into(&w);
            if (into)
                parent_at[w.depth] = index;
        } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
            uint32_t parent = parent_at[w.depth];
            into = die_walk_into(&w);
            if (into)
                parent_at[w.depth] = parent;
        }
        at = into || die_walk_next(&w);
    }
    die_walk_end(&w);
}

static void add_row(struct answer *a, const struct line_row *row, vaddr addr)
{
    struct line_row *out = vec_push(&a->rows);
    *out = *row;
    out->addr = addr;
    out->file = row->file == DEBUG_NO_FILE ? DEBUG_NO_FILE : numbered_file(a, row->file);
}

/* The rows of [begin, end), with one at begin and a hole at end. */
static void add_rows(struct answer *a, vaddr begin, vaddr end)
{
    const struct line_table *t = &a->t->lines;
    static const struct line_row hole = {.file = DEBUG_NO_FILE};
    size_t low = sorted_front(t->row_count, i, t->rows[i].addr < begin); /* the first row at begin or behind it */
    if (begin >= end)
        return;
    if (a->rows.count && a->rows.items[a->rows.count - 1].addr == begin)
        a->rows.count--; /* the hole behind the part before */
    if (low && (low == t->row_count || t->rows[low].addr > begin))
        add_row(a, &t->rows[low - 1], begin);
    for (; low < t->row_count && t->rows[low].addr < end; low++)
        add_row(a, &t->rows[low], t->rows[low].addr);
    if (a->rows.count)
        add_row(a, &hole, end);
}

static int by_addr_range(const void *a, const void *b)
{
    const struct addr_range *x = a, *y = b;
    return order_of(x->begin, y->begin);
}

static void add_part_rows(struct answer *a, const struct addr_range *parts, size_t count)
{
    struct addr_range *sorted = mem_calloc(count + 1, sizeof *sorted);
    if (count)
        memcpy(sorted, parts, count * sizeof *sorted);
    sort_items(sorted, count, sizeof *sorted, by_addr_range);
    vaddr covered = 0;
    for (size_t i = 0; i < count; i++)
        if (sorted[i].begin >= covered) {
            add_rows(a, sorted[i].begin, sorted[i].end);
            covered = sorted[i].end;
        }
    mem_free(sorted);
}

static const void *keep(struct arena *arena, const void *items, size_t count, size_t size)
{
    void *copy = arena_alloc(arena, count * size);
    if (count)
        memcpy(copy, items, count * size);
    return copy;
}

static void answer(struct debug *d, struct unit_tables *t, uint64_t procedure, const struct addr_range *parts,
                   size_t part_count, struct arena *arena, struct debug_function *f)
{
    struct answer a = {.d = d, .t = t, .arena = arena};
    d->answer++;
    *f = (struct debug_function){.name = "", .link_name = "", .decl_file = DEBUG_NO_FILE, .language = t->language};
    f->comp_dir = arena_strdup(arena, t->lines.comp_dir ? t->lines.comp_dir : "");
    f->producer = arena_strdup(arena, t->info.producer ? t->info.producer : "");
    Dwarf_Die die = procedure != NO_OFFSET ? dwarf_die_at(t->file, procedure) : NULL;
    if (die) {
        struct die_info info;
        die_read(t->file, die, &info);
        die_ranges(t->file, &t->base, &info, &a.ranges);
        ranges_normalize(&a.ranges, 0);
        f->own_range_count = a.ranges.count;
        struct callee_names *c = unit_callee(d, t, false, procedure);
        copy_names(&a, c, &f->name, &f->link_name);
        f->decl_line = c->decl_line;
        f->decl_file = file_index(&a, c->decl_path);
        f->abstract_id = c->id;
        add_inlines(&a, die);
        dwarf_dealloc_die(die);
    }
    add_part_rows(&a, parts, part_count);
    f->files = keep(arena, a.files.items, a.files.count, sizeof *a.files.items);
    f->file_count = (uint32_t)a.files.count;
    f->rows = (struct line_row *)keep(arena, a.rows.items, a.rows.count, sizeof *a.rows.items);
    f->row_count = a.rows.count;
    f->inlines = (struct inline_call *)keep(arena, a.inlines.items, a.inlines.count, sizeof *a.inlines.items);
    f->inline_count = a.inlines.count;
    f->ranges = (struct addr_range *)keep(arena, a.ranges.items, a.ranges.count, sizeof *a.ranges.items);
    f->range_count = a.ranges.count;
    vec_release(&a.files);
    vec_release(&a.rows);
    vec_release(&a.inlines);
    vec_release(&a.ranges);
}

/* ---- look-up ---- */

/* The procedure that begins (or has a part that begins) at addr, or with `inside` the smallest that holds it;
 * NO_OFFSET: none. */
static uint64_t find_procedure(const struct unit_tables *t, vaddr addr, bool inside)
{
    size_t low = sorted_front(t->procedures.count, i, t->procedures.items[i].begin < addr + inside);
    uint64_t best = NO_OFFSET;
    vaddr best_size = UINT64_MAX;
    if (!inside)
        return low < t->procedures.count && t->procedures.items[low].begin == addr ? t->procedures.items[low].die
                                                                                   : NO_OFFSET;
    for (size_t n = 0; low && n < 64; low--, n++) { /* nested procedures overlap, but few of them */
        const struct procedure_range *p = &t->procedures.items[low - 1];
        if (addr < p->end && p->end - p->begin < best_size) {
            best = p->die;
            best_size = p->end - p->begin;
        }
    }
    return best;
}

int debug_function_at(struct debug *d, vaddr entry, const struct addr_range *parts, size_t part_count,
                      struct arena *arena, struct debug_function *f)
{
    uint32_t units[UNITS_AT];
    if (d->go)
        return go_table_function_at(d->go, entry, arena, f);
    size_t count = unit_all_at(d, entry, units);
    if (count == 0 && !d->all_spanned) {
        unit_span_the_rest(d);
        count = unit_all_at(d, entry, units);
    }
    /* First where the procedure begins; then also inside of other procedures; then any that contains the address; then lines
     * alone. */
    for (int pass = 0; pass < 4; pass++) {
        for (size_t i = 0; i < count; i++) {
            struct unit_tables *t = unit_tables_of(d, units[i]);
            if (pass == 1 && !t->whole)
                unit_index(t, true);
            uint64_t procedure = pass == 3 ? NO_OFFSET : find_procedure(t, entry, pass == 2);
            if (procedure == NO_OFFSET && pass < 3)
                continue;
            answer(d, t, procedure, parts, part_count, arena, f);
            if (procedure != NO_OFFSET || f->row_count)
                return 1;
        }
    }
    return 0;
}

void debug_entries(struct debug *d, struct vaddr_list *entries)
{
    if (d->go)
        go_table_entries(d->go, entries);
    for (uint32_t i = 0; i < d->units.count; i++) {
        struct unit_tables t;
        unit_load(d, i, false, &t);
        for (size_t p = 0; p < t.procedures.count; p++)
            *vec_push(entries) = t.procedures.items[p].begin;
        unit_release(&t);
    }
}

/* The file that a unit was compiled from; NULL: not known, or one of the system's. Caller frees. */
static char *source_of_unit(struct debug *d, uint32_t unit)
{
    struct die_info info;
    struct unit_base base;
    if (!unit_read(d, unit, &info, &base) || !info.name)
        return NULL;
    char *joined = path_join(info.comp_dir ? info.comp_dir : "", info.name), *path = path_normal(joined);
    mem_free(joined);
    if (path[0] == '/' && !path_is_of_system(path))
        return path;
    mem_free(path);
    return NULL;
}

char *debug_source_folder(struct debug *d)
{
    char *first = NULL;
    size_t len = 0;
    for (uint32_t i = 0; i < d->units.count && i < LIMIT_FOLDER_UNITS; i++) {
        char *path = source_of_unit(d, i);
        if (!path)
            continue;
        if (!first) {
            first = path;
            len = (size_t)(path_base(path) - path);
            continue;
        }
        len = path_common_folder(first, path, len);
        mem_free(path);
    }
    char *folder = first && len > 1 ? mem_strndup(first, len) : NULL;
    mem_free(first);
    return folder;
}

/* Variables of split units are left out: their objects have symbols, too. */
void debug_variables(struct debug *d, struct bloop_variables *out)
{
    const struct elf_section *s = d->main ? elf_section_named(d->main->elf, ".debug_info") : NULL;
    if (!s || s->data_size > LIMIT_VARIABLES_BYTES)
        return;
    for (uint32_t i = 0; i < d->units.count; i++) {
        struct die_info info;
        struct unit_base base;
        Dwarf_Die root = unit_read(d, i, &info, &base) ? dwarf_die_at(d->main, d->units.items[i].die) : NULL;
        if (root) {
            unit_variables(d->main, root, &base, info.language, out);
            dwarf_dealloc_die(root);
        }
    }
}
