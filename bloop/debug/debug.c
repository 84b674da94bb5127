/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The debug information of one procedure, read on demand.
 *
 * From an address to a unit: .debug_aranges, and the ranges of units that it does not mention. From a unit to a procedure:
 * one walk over the unit's entries, skipping types. From a procedure to its inlined calls: one walk over its subtree. The
 * tables of the last few units are kept, since callers go by address. DWARF 5: 2.17, 3.3.8, 6.1.2, 6.2.
 */
#include "bloop/debug/debug_int.h"

#include <stdlib.h>

struct unit {
    uint64_t header, die; /* offsets in .debug_info */
    uint64_t signature;   /* DWARF 5 skeletons: the id of the .dwo */
    bool spanned;         /* in the list of spans, or looked at in vain */
};
struct unit_list VEC(struct unit);

struct span {
    vaddr begin, end;
    uint32_t unit;
};
struct span_list VEC(struct span);

struct procedure_range {
    vaddr begin, end;
    uint64_t die;
};
struct procedure_list VEC(struct procedure_range);

/* A namespace, module, class or (Fortran) procedure that holds the entries [begin, end). */
struct enclosing {
    uint64_t begin, end;
    const char *name; /* NULL: not read yet, most never are */
    uint32_t parent;  /* index, or UINT32_MAX */
};
struct enclosing_list VEC(struct enclosing);

/* The source procedure that an inlined call or a copy came from. */
struct callee {
    const char *name, *link_name, *decl_path;
    uint32_t decl_line;
    uint64_t id; /* of the abstract procedure */
    /* The answer being made (debug.answer) that has copies of the strings, and where. */
    uint64_t answer;
    const char *answer_name, *answer_link_name;
};
struct callee_list VEC(struct callee);

struct unit_tables {
    uint32_t unit;
    bool whole;               /* whole: procedures inside of others were looked for too */
    struct dwarf_file *file;  /* of its entries: the binary's, or its .dwo */
    bool is_split;            /* its entries are in a .dwo or .dwp */
    struct dwarf_file *split; /* its own .dwo */
    struct elf_file *split_elf;
    struct package_parts parts; /* of the package */
    uint32_t number;            /* of the unit in `file` */
    uint64_t root;              /* the unit's entry in `file` */
    struct unit_base base;
    struct die_info info; /* of the unit; of the skeleton if it is split */
    uint16_t language;
    struct line_table lines;
    struct procedure_list procedures; /* sorted by begin, then entry */
    struct enclosing_list enclosing;  /* in the order of entries */
    struct callee_list callees;
    struct hashmap callee_of; /* entry offset -> callees */
    struct {
        uint64_t answer;
        uint32_t index;
    } * file_memo; /* file number -> index in the answer being made */
};

#define TABLES_KEPT 6  /* units whose tables are kept: neighbours in memory come from few units */
#define FILES_KEPT  32 /* units whose file names are kept, for entries that refer to other units (LTO, dwz) */

struct package_root {
    uint64_t die;
    uint32_t number; /* of the unit in the package */
};

struct debug {
    const struct image *image;
    struct warnings *w;
    struct dwarf_file *main, *alternate;
    struct go_table *go; /* instead of `main` */
    struct unit_list units;
    struct span_list spans; /* sorted; `reach` [i]: the largest end of spans 0..i */
    vaddr *reach;
    bool all_spanned;
    struct kept tables_kept[TABLES_KEPT], others_kept[FILES_KEPT];
    struct unit_tables tables[TABLES_KEPT];
    struct line_table others[FILES_KEPT]; /* without rows */
    uint64_t clock, answer;
    /* BINARY.dwp, all .dwo files in one; searched once, when the first unit needs it. */
    bool package_looked_for;
    struct elf_file *package_elf;
    struct dwarf_file *package;
    struct hashmap package_units; /* id -> index in package_roots */
    struct root_list VEC(struct package_root) package_roots;
};

bool language_is_fortran(uint16_t language)
{
    return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
           language == 0x22 || language == 0x23 /* 03, 08 */ || language == 0x2d /* 18 */;
}

/* ---- units ---- */

static void list_units(struct debug *d)
{
    struct unit_header h = {0};
    while (dwarf_file_next(d->main, &h))
        *vec_push(&d->units) = (struct unit){.header = h.header, .die = h.die, .signature = h.signature};
}

static uint32_t unit_of_header(const struct debug *d, uint64_t header)
{
    size_t low = sorted_front(d->units.count, i, d->units.items[i].header <= header);
    return low ? (uint32_t)low - 1 : UINT32_MAX;
}

static void add_span(struct debug *d, vaddr begin, vaddr end, uint32_t unit)
{
    if (begin && begin < end)
        *vec_push(&d->spans) = (struct span){begin, end, unit};
}

static int by_span(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return order_of(x->begin, y->begin) ?: order_of(x->unit, y->unit);
}

static void sort_spans(struct debug *d)
{
    sort_items(d->spans.items, d->spans.count, sizeof *d->spans.items, by_span);
    d->reach = mem_realloc(d->reach, d->spans.count + 1, sizeof *d->reach);
    for (size_t i = 0; i < d->spans.count; i++)
        d->reach[i] = i && d->reach[i - 1] > d->spans.items[i].end ? d->reach[i - 1] : d->spans.items[i].end;
}

static void read_aranges(struct debug *d)
{
    struct elf_section *s = elf_section_named(d->main->elf, ".debug_aranges");
    if (!s || !elf_section_load(d->main->elf, s, d->w))
        return;
    struct cursor all = cursor_make(s->data, s->data_size);
    while (cursor_left(&all) > 12) {
        const uint8_t *start = all.p;
        uint64_t length = cursor_u32(&all);
        bool wide = length == 0xffffffff;
        if (wide)
            length = cursor_u64(&all);
        if (length > cursor_left(&all))
            return;
        struct cursor c = cursor_make(cursor_bytes(&all, length), length);
        uint16_t version = cursor_u16(&c);
        uint64_t header = wide ? cursor_u64(&c) : cursor_u32(&c);
        uint8_t address_size = cursor_u8(&c), segment_size = cursor_u8(&c);
        uint32_t unit = unit_of_header(d, header);
        if (c.bad || version != 2 || address_size != 8 || segment_size != 0 || unit == UINT32_MAX ||
            d->units.items[unit].header != header)
            continue;
        cursor_bytes(&c, -(size_t)(c.p - start) & 15);
        while (cursor_left(&c) >= 16) {
            vaddr begin = cursor_u64(&c), size = cursor_u64(&c);
            if (begin && size && begin + size > begin) {
                add_span(d, begin, begin + size, unit);
                d->units.items[unit].spanned = true;
            }
        }
    }
}

static bool read_unit(struct debug *d, uint32_t unit, struct die_info *info, struct unit_base *base)
{
    dwarf_file_seek(d->main, unit);
    Dwarf_Die die = dwarf_die_at(d->main, d->units.items[unit].die);
    if (!die)
        return false;
    die_read(d->main, die, info);
    unit_base_set(base, d->main, die, info);
    dwarf_dealloc_die(die);
    return true;
}

/* Units that .debug_aranges does not mention (clang writes none) say their ranges themselves. */
static void span_unit(struct debug *d, uint32_t unit)
{
    struct die_info info;
    struct unit_base base;
    struct range_list ranges = {0};
    if (read_unit(d, unit, &info, &base)) {
        die_ranges(d->main, &base, &info, &ranges);
        for (size_t i = 0; i < ranges.count; i++)
            add_span(d, ranges.items[i].begin, ranges.items[i].end, unit);
        d->units.items[unit].spanned = ranges.count > 0;
    }
    vec_release(&ranges);
}

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
    list_units(d);
    read_aranges(d);
    for (uint32_t i = 0; i < d->units.count; i++)
        if (!d->units.items[i].spanned)
            span_unit(d, i);
    sort_spans(d);
    *out = d;
    return 1;
}

/* ---- the tables of one unit ---- */

static void release_tables(struct unit_tables *t)
{
    line_table_release(&t->lines);
    vec_release(&t->procedures);
    vec_release(&t->enclosing);
    vec_release(&t->callees);
    hashmap_release(&t->callee_of);
    mem_free(t->file_memo);
    dwarf_file_close(t->split);
    elf_file_close(t->split_elf);
    *t = (struct unit_tables){0};
}

void debug_close(struct debug *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < TABLES_KEPT; i++)
        release_tables(&d->tables[i]);
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

static int by_procedure(const void *a, const void *b)
{
    const struct procedure_range *x = a, *y = b;
    return order_of(x->begin, y->begin) ?: order_of(x->die, y->die);
}

struct index_walk {
    struct unit_tables *t;
    struct die_walk walk;
    struct range_list ranges;
    struct open_list VEC(struct open_scope {
        uint32_t index;
        size_t depth;
    }) open; /* scopes we are in */
};

static void index_procedure(struct index_walk *k, const struct die_info *info)
{
    k->ranges.count = 0;
    die_ranges(k->t->file, &k->t->base, info, &k->ranges);
    ranges_normalize(&k->ranges, 0);
    for (size_t i = 0; i < k->ranges.count; i++)
        *vec_push(&k->t->procedures) =
            (struct procedure_range){k->ranges.items[i].begin, k->ranges.items[i].end, info->offset};
}

static void open_scope(struct index_walk *k, uint64_t offset)
{
    uint32_t index = (uint32_t)k->t->enclosing.count;
    uint32_t parent = k->open.count ? k->open.items[k->open.count - 1].index : UINT32_MAX;
    *vec_push(&k->t->enclosing) = (struct enclosing){offset, UINT64_MAX, NULL, parent};
    *vec_push(&k->open) = (struct open_scope){index, k->walk.depth};
}

/* Scopes at least as deep as the entry at `offset` ended before it. */
static void close_scopes(struct index_walk *k, uint64_t offset, size_t depth)
{
    while (k->open.count && k->open.items[k->open.count - 1].depth >= depth)
        k->t->enclosing.items[k->open.items[--k->open.count].index].end = offset;
}

/* Records the current entry of the walk; true: visit its children. */
static bool index_entry(struct index_walk *k, const struct die_level *at)
{
    struct unit_tables *t = k->t;
    struct die_info info;
    switch (die_tag(at->die)) {
    case DW_TAG_namespace:
    case DW_TAG_module:
        open_scope(k, at->offset);
        return true;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
        open_scope(k, at->offset);
        return t->whole;
    case DW_TAG_subprogram:
        if (die_has_code(at->die)) {
            die_read(t->file, at->die, &info);
            index_procedure(k, &info);
        }
        if (language_is_fortran(t->language))
            open_scope(k, at->offset);
        return t->whole || language_is_fortran(t->language);
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
        return t->whole;
    default:
        return false;
    }
}

static void index_unit(struct unit_tables *t, bool whole)
{
    struct index_walk k = {.t = t};
    t->whole = whole;
    t->procedures.count = t->enclosing.count = 0;
    Dwarf_Die root = dwarf_die_at(t->file, t->root);
    bool at = root && die_walk_begin(&k.walk, t->file, root);
    while (at) {
        const struct die_level *level = &k.walk.levels[k.walk.depth - 1];
        close_scopes(&k, level->offset, k.walk.depth);
        at = (index_entry(&k, level) && die_walk_into(&k.walk)) || die_walk_next(&k.walk);
    }
    if (root) {
        die_walk_end(&k.walk);
        dwarf_dealloc_die(root);
    }
    vec_release(&k.open);
    vec_release(&k.ranges);
    sort_items(t->procedures.items, t->procedures.count, sizeof *t->procedures.items, by_procedure);
}

/* ---- split units ---- */

static struct elf_file *try_split(char *path, struct debug *d)
{
    struct elf_file *elf = NULL;
    struct err err = {0};
    if (regular_file(path) && elf_file_open(path, &elf, d->w, &err) < 0)
        warnings_add(d->w, "%s", err.msg);
    mem_free(path);
    return elf;
}

/* DIR/NAME as compiled; next to the binary, as named or by its last component; in the debug folders. */
static struct elf_file *find_split(struct debug *d, const struct die_info *unit)
{
    const char *at = d->main->elf->path, *dir = unit->comp_dir ? unit->comp_dir : "";
    char *folder = mem_strndup(at, (size_t)(path_base(at) - at));
    struct elf_file *elf = try_split(path_join(dir, unit->dwo_name), d);
    if (!elf)
        elf = try_split(mem_printf("%s%s", folder, unit->dwo_name), d);
    if (!elf)
        elf = try_split(mem_printf("%s%s", folder, path_base(unit->dwo_name)), d);
    for (size_t i = 0; !elf && d->image->priv->debug_dirs[i]; i++)
        elf = try_split(mem_printf("%s/%s", d->image->priv->debug_dirs[i], path_base(unit->dwo_name)), d);
    mem_free(folder);
    return elf;
}

/* The id of the unit just stepped to, and whether it is a compile unit, not one of types. */
static bool split_unit_id(struct dwarf_file *f, const struct unit_header *h, uint64_t *id)
{
    struct die_info info = {0};
    Dwarf_Die die = dwarf_die_at(f, h->die);
    if (die) {
        die_read(f, die, &info);
        dwarf_dealloc_die(die);
    }
    *id = h->version >= 5 ? h->signature : info.dwo_id;
    return info.tag == DW_TAG_compile_unit;
}

static bool find_split_root(struct dwarf_file *f, uint64_t id, uint64_t *root)
{
    struct unit_header h = {0};
    uint64_t has;
    while (dwarf_file_next(f, &h))
        if (split_unit_id(f, &h, &has) && has == id) {
            *root = h.die;
            return true;
        }
    return false;
}

static void open_package(struct debug *d)
{
    struct err err = {0};
    struct unit_header h = {0};
    d->package_looked_for = true;
    d->package_elf = try_split(mem_printf("%s.dwp", d->image->path), d);
    if (!d->package_elf)
        return;
    if (dwarf_file_open(d->package_elf, true, d->w, &d->package, &err) != 1) {
        warnings_add(d->w, "%s", err.msg[0] ? err.msg : "a .dwp file without debug information");
        return;
    }
    for (uint32_t number = 0; dwarf_file_next(d->package, &h); number++) {
        uint64_t id;
        uint32_t *slot = split_unit_id(d->package, &h, &id) ? hashmap_put(&d->package_units, id) : NULL;
        if (slot && *slot == HASHMAP_NONE) {
            *slot = (uint32_t)d->package_roots.count;
            *vec_push(&d->package_roots) = (struct package_root){h.die, number};
        }
    }
    Dwarf_Error e = NULL;
    if (dwarf_set_tied_dbg(d->package->dbg, d->main->dbg, &e) == DW_DLV_ERROR) /* not before: see split_from_file */
        dwarf_complain(d->package, 0, e);
}

/* The next entries read from the unit's file belong to this unit. */
static void use_strings(const struct unit_tables *t)
{
    t->file->string_offsets = t->parts.string_offsets;
    t->file->offset_size = t->base.offset_size;
}

/* Reads the unit's entries from the package; the package's index has its part of .debug_rnglists.dwo. */
static bool split_from_package(struct debug *d, struct unit_tables *t, uint64_t id)
{
    if (!d->package_looked_for)
        open_package(d);
    uint32_t index = d->package ? hashmap_get(&d->package_units, id) : HASHMAP_NONE;
    if (index == HASHMAP_NONE)
        return false;
    t->file = d->package;
    t->root = d->package_roots.items[index].die;
    t->number = d->package_roots.items[index].number;
    dwarf_file_seek(t->file, t->number);
    Dwarf_Die die = dwarf_die_at(t->file, t->root);
    if (die) {
        t->parts = die_package_parts(t->file, die);
        dwarf_dealloc_die(die);
    }
    use_strings(t);
    return true;
}

static bool split_from_file(struct debug *d, struct unit_tables *t, uint64_t id)
{
    struct err err = {0};
    uint64_t root = 0;
    struct elf_file *elf = find_split(d, &t->info);
    struct dwarf_file *f = NULL;
    if (!elf)
        return false;
    if (dwarf_file_open(elf, true, d->w, &f, &err) == 1) {
        Dwarf_Error e = NULL;
        /* Not tied before: libdwarf 20210528 looks for the file's id among the binary's units, and where those are damaged it
           may come to no end. */
        if (find_split_root(f, id, &root)) {
            if (dwarf_set_tied_dbg(f->dbg, d->main->dbg, &e) == DW_DLV_ERROR)
                dwarf_complain(f, 0, e);
            t->split_elf = elf;
            t->split = t->file = f;
            t->root = root;
            if (t->base.version >= 5)
                t->parts.string_offsets = t->base.offset_size == 8 ? 16 : 8; /* behind the header */
            use_strings(t);
            return true;
        }
        warnings_add(d->w, "%s: not the split debug information that %s was linked with; it is not used", elf->path,
                     d->main->elf->path);
    } else {
        warnings_add(d->w, "%s", err.msg[0] ? err.msg : "a .dwo file without debug information");
    }
    dwarf_file_close(f);
    elf_file_close(elf);
    return false;
}

/* The skeleton in the binary has lines and addresses; names and inlined calls are in BINARY.dwp or the unit's own .dwo.
 */
static void open_split(struct debug *d, struct unit_tables *t)
{
    uint64_t id = t->info.dwo_id ? t->info.dwo_id : d->units.items[t->unit].signature;
    if (!split_from_package(d, t, id) && !split_from_file(d, t, id)) {
        warnings_add(d->w,
                     "%s: parts of its debug information are in split files (.dwo, .dwp) that were not found; names "
                     "and inlined calls there "
                     "are missing",
                     d->main->elf->path);
        return;
    }
    t->is_split = true;
    t->base.gnu_ranges_base = t->info.gnu_ranges_base;
    Dwarf_Die die = dwarf_die_at(t->file, t->root);
    struct die_info info;
    if (!die)
        return;
    die_read(t->file, die, &info);
    dwarf_dealloc_die(die);
    t->language = info.language;
    t->info.producer = info.producer ? info.producer : t->info.producer; /* gcc says it here alone */
    t->base.rnglists_base = info.rnglists_base;
    if (t->parts.rnglists != NO_OFFSET)
        t->base.rnglists_base = t->parts.rnglists;
}

/* With `rows` false only to see which procedures the unit has. */
static void load_tables(struct debug *d, uint32_t unit, bool rows, struct unit_tables *t)
{
    *t = (struct unit_tables){.unit = unit,
                              .number = unit,
                              .file = d->main,
                              .root = d->units.items[unit].die,
                              .parts = {NO_OFFSET, NO_OFFSET}};
    if (!read_unit(d, unit, &t->info, &t->base)) {
        t->lines.arena = arena_create();
        t->lines.comp_dir = "";
        return;
    }
    line_table_read(d->main, d->image, &t->info, rows, &t->lines);
    t->language = t->info.language;
    if (t->info.dwo_name)
        open_split(d, t);
    t->file_memo = mem_calloc(t->lines.files.count + 1, sizeof *t->file_memo);
    index_unit(t, false);
}

size_t kept_slot(struct kept *kept, size_t count, uint64_t key, uint64_t now, bool *there)
{
    size_t slot = 0;
    *there = false;
    for (size_t i = 0; i < count && !*there; i++) {
        *there = kept[i].last_use && kept[i].key == key;
        if (*there || kept[i].last_use < kept[slot].last_use)
            slot = i;
    }
    kept[slot] = (struct kept){key, now};
    return slot;
}

static struct unit_tables *tables_of(struct debug *d, uint32_t unit)
{
    bool there;
    struct unit_tables *t = &d->tables[kept_slot(d->tables_kept, TABLES_KEPT, unit, ++d->clock, &there)];
    if (there) {
        use_strings(t);
        if (t->file != t->split)
            dwarf_file_seek(t->file, t->number);
        return t;
    }
    release_tables(t);
    load_tables(d, unit, true, t);
    return t;
}

/* ---- names ---- */

static const char *enclosing_name(const struct unit_tables *t, struct enclosing *e)
{
    if (e->name)
        return e->name;
    struct die_info info = {0};
    Dwarf_Die die = dwarf_die_at(t->file, e->begin);
    if (die) {
        die_read(t->file, die, &info);
        dwarf_dealloc_die(die);
    }
    e->name = info.name                       ? info.name
              : info.tag == DW_TAG_namespace  ? "(anonymous namespace)"
              : info.tag == DW_TAG_subprogram ? ""
                                              : "(unnamed class)";
    return e->name;
}

/* "outer::inner::" of the scopes around the entry at `offset`. */
static void add_enclosing(const struct unit_tables *t, uint64_t offset, struct buf *out)
{
    size_t low = sorted_front(t->enclosing.count, i, t->enclosing.items[i].begin < offset);
    uint32_t chain[64];
    size_t n = 0;
    for (uint32_t i = low ? (uint32_t)low - 1 : UINT32_MAX; i != UINT32_MAX && n < ARRAY_SIZE(chain);) {
        const struct enclosing *e = &t->enclosing.items[i];
        if (offset < e->end)
            chain[n++] = i;
        i = e->parent;
    }
    while (n) {
        const char *name = enclosing_name(t, &t->enclosing.items[chain[--n]]);
        buf_str(out, name);
        buf_str(out, *name ? "::" : "");
    }
}

/* The same, found by going down from the unit's entry: for lambdas, whose class stands inside of a procedure, where
 * index_unit does not look. */
static void add_path(const struct unit_tables *t, uint64_t offset, struct buf *out)
{
    Dwarf_Die at = dwarf_die_at(t->file, t->root);
    for (size_t depth = 0; at && depth < LIMIT_DWARF_DEPTH; depth++) {
        struct die_walk w;
        Dwarf_Die down = NULL;
        for (bool more = die_walk_begin(&w, t->file, at); more && w.levels[0].offset < offset;
             more = die_walk_next(&w)) {
            if (down) /* the last one that begins before it is the one that holds it */
                dwarf_dealloc_die(down);
            down = dwarf_die_at(t->file, w.levels[0].offset);
        }
        bool there = w.depth && w.levels[0].offset == offset;
        die_walk_end(&w);
        dwarf_dealloc_die(at);
        at = down;
        if (there || !at)
            break;
        struct die_info info;
        die_read(t->file, at, &info);
        bool class = info.tag == DW_TAG_structure_type || info.tag == DW_TAG_class_type;
        if (info.tag != DW_TAG_lexical_block && (info.name || class)) {
            buf_str(out, info.name ? info.name : "{lambda}");
            buf_str(out, "::");
        }
    }
    if (at)
        dwarf_dealloc_die(at);
}

/* gfortran: __heat_MOD_solve is solve of module heat. */
static bool add_fortran_module(const char *link_name, struct buf *out)
{
    const char *mark = str_starts(link_name, "__") ? strstr(link_name + 2, "_MOD_") : NULL;
    if (!mark)
        return false;
    buf_add(out, link_name + 2, (size_t)(mark - link_name) - 2);
    buf_str(out, "::");
    return true;
}

/* File numbers of an entry in another unit (or in dwz's file) are that unit's. */
static const char *other_path(struct debug *d, bool alternate, uint64_t offset, uint32_t number)
{
    struct dwarf_file *f = alternate ? d->alternate : d->main;
    Dwarf_Die die = dwarf_die_at(f, offset), root;
    Dwarf_Off root_offset = 0;
    Dwarf_Error e = NULL;
    if (!die)
        return "";
    int status = dwarf_CU_dieoffset_given_die(die, &root_offset, &e);
    dwarf_dealloc_die(die);
    if (status == DW_DLV_ERROR)
        dwarf_complain(f, offset, e);
    if (status != DW_DLV_OK)
        return "";
    bool there;
    struct line_table *files =
        &d->others[kept_slot(d->others_kept, FILES_KEPT, root_offset << 1 | alternate, ++d->clock, &there)];
    if (there)
        return line_table_path(files, number);
    line_table_release(files);
    struct die_info info = {.lines = NO_OFFSET};
    root = dwarf_die_at(f, root_offset);
    if (root) {
        die_read(f, root, &info);
        dwarf_dealloc_die(root);
    }
    line_table_read(f, d->image, &info, false, files);
    return line_table_path(files, number);
}

static bool in_unit(const struct debug *d, const struct unit_tables *t, uint64_t offset)
{
    const struct unit *u = &d->units.items[t->unit];
    return t->is_split || (offset >= u->header && (t->unit + 1 == d->units.count || offset < u[1].header));
}

#define ORIGIN_HOPS 8 /* a copy of an inlined member function has three; a cycle would never end */

/* Follow an entry to the procedure in the source that it is a copy, or the body, of; gather what each says. */
static void resolve(struct debug *d, struct unit_tables *t, bool alternate, uint64_t offset, struct callee *c)
{
    const char *name = NULL, *link_name = NULL, *decl_path = NULL;
    uint64_t named_at = NO_OFFSET; /* in this unit, where its scopes are known */
    bool abstract = true;
    for (int hop = 0; hop < ORIGIN_HOPS && offset != NO_OFFSET; hop++) {
        struct dwarf_file *f = alternate ? d->alternate : t->file;
        Dwarf_Die die = f ? dwarf_die_at(f, offset) : NULL;
        struct die_info info;
        if (!die)
            break;
        die_read(f, die, &info);
        dwarf_dealloc_die(die);
        bool own = !alternate && in_unit(d, t, offset);
        if (abstract)
            c->id = (offset + 1) ^ (alternate ? 1ull << 63 : 0) ^ (t->is_split ? (uint64_t)(t->unit + 1) << 40 : 0);
        name = name ? name : info.name;
        link_name = link_name ? link_name : info.link_name;
        if (own && (!name || name == info.name || info.specification == NO_OFFSET))
            named_at = offset;
        if (!c->decl_line) /* a body has a file attribute only if it differs from the declaration's */
            c->decl_line = info.decl_line;
        if (info.decl_file != DEBUG_NO_FILE && !decl_path)
            decl_path =
                own ? line_table_path(&t->lines, info.decl_file) : other_path(d, alternate, offset, info.decl_file);
        abstract = abstract && info.origin != NO_OFFSET;
        bool to_alternate = info.origin != NO_OFFSET ? info.origin_alternate : info.specification_alternate;
        offset = info.origin != NO_OFFSET ? info.origin : info.specification;
        alternate = alternate || to_alternate;
    }
    struct buf full = {0};
    if (link_name && (str_starts(link_name, "_Z") || str_starts(link_name, "_R"))) {
        const char *words = demangle_full(t->lines.arena, link_name);
        c->name = words == link_name ? (name ? name : link_name) : demangle_short(t->lines.arena, words);
    } else {
        if (name && named_at != NO_OFFSET && strcmp(name, "operator()") == 0)
            add_path(t, named_at, &full);
        else if (name && named_at != NO_OFFSET)
            add_enclosing(t, named_at, &full);
        if (name && full.len == 0 && link_name)
            add_fortran_module(link_name, &full);
        buf_str(&full, name ? name : link_name ? link_name : "");
        c->name = arena_strdup(t->lines.arena, full.bytes);
    }
    c->link_name = link_name ? link_name : "";
    c->decl_path = decl_path ? arena_strdup(t->lines.arena, decl_path) : "";
    buf_release(&full);
}

/* Lent until the next call. */
static struct callee *callee_at(struct debug *d, struct unit_tables *t, bool alternate, uint64_t offset)
{
    uint32_t *slot = hashmap_put(&t->callee_of, offset << 1 | alternate);
    if (*slot == HASHMAP_NONE) {
        struct callee c = {0};
        *slot = (uint32_t)t->callees.count;
        resolve(d, t, alternate, offset, &c);
        *vec_push(&t->callees) = c;
        return &t->callees.items[t->callees.count - 1];
    }
    return &t->callees.items[*slot];
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

static void copy_names(struct answer *a, struct callee *c, const char **name, const char **link_name)
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
        struct callee *c = callee_at(a->d, a->t, info->origin_alternate, info->origin);
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
        struct callee *c = callee_at(d, t, false, procedure);
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

#define UNITS_AT 16 /* units that claim one address: identical functions folded by the linker */

static size_t units_at(const struct debug *d, vaddr addr, uint32_t *units)
{
    size_t low = sorted_front(d->spans.count, i, d->spans.items[i].begin <= addr), n = 0;
    for (size_t seen = 0; low && d->reach[low - 1] > addr && n < UNITS_AT && seen < 1024; low--, seen++) {
        const struct span *s = &d->spans.items[low - 1];
        bool known = addr >= s->end;
        for (size_t i = 0; i < n && !known; i++)
            known = units[i] == s->unit;
        if (!known)
            units[n++] = s->unit;
    }
    return n;
}

/* Last resort for an address no unit claims: units without ranges are searched for procedures, once. */
static void span_the_rest(struct debug *d)
{
    for (uint32_t i = 0; i < d->units.count; i++) {
        if (d->units.items[i].spanned)
            continue;
        struct unit_tables t;
        load_tables(d, i, false, &t);
        for (size_t p = 0; p < t.procedures.count; p++)
            add_span(d, t.procedures.items[p].begin, t.procedures.items[p].end, i);
        release_tables(&t);
        d->units.items[i].spanned = true;
    }
    d->all_spanned = true;
    sort_spans(d);
}

int debug_function_at(struct debug *d, vaddr entry, const struct addr_range *parts, size_t part_count,
                      struct arena *arena, struct debug_function *f)
{
    uint32_t units[UNITS_AT];
    if (d->go)
        return go_table_function_at(d->go, entry, arena, f);
    size_t count = units_at(d, entry, units);
    if (count == 0 && !d->all_spanned) {
        span_the_rest(d);
        count = units_at(d, entry, units);
    }
    /* First where the procedure begins; then also inside of other procedures; then any that contains the address; then lines
     * alone. */
    for (int pass = 0; pass < 4; pass++) {
        for (size_t i = 0; i < count; i++) {
            struct unit_tables *t = tables_of(d, units[i]);
            if (pass == 1 && !t->whole)
                index_unit(t, true);
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
        load_tables(d, i, false, &t);
        for (size_t p = 0; p < t.procedures.count; p++)
            *vec_push(entries) = t.procedures.items[p].begin;
        release_tables(&t);
    }
}

/* The file that a unit was compiled from; NULL: not known, or one of the system's. Caller frees. */
static char *source_of_unit(struct debug *d, uint32_t unit)
{
    struct die_info info;
    struct unit_base base;
    if (!read_unit(d, unit, &info, &base) || !info.name)
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
        Dwarf_Die root = read_unit(d, i, &info, &base) ? dwarf_die_at(d->main, d->units.items[i].die) : NULL;
        if (root) {
            unit_variables(d->main, root, &base, info.language, out);
            dwarf_dealloc_die(root);
        }
    }
}
