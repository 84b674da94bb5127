/* SPDX-License-Identifier: BSD-3-Clause */
/* Split units: their entries are in a .dwo, or with others in a .dwp. DWARF 5: 7.3. */
#include "bloop/debug/units.h"

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
void unit_use_strings(const struct unit_tables *t)
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
    unit_use_strings(t);
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
            unit_use_strings(t);
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

void unit_open_split(struct debug *d, struct unit_tables *t)
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
