/* SPDX-License-Identifier: BSD-3-Clause */
/* The full name of a procedure, with what encloses it, and where it was declared. */
#include "bloop/debug/units.h"

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
 * unit_index does not look. */
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
static void resolve(struct debug *d, struct unit_tables *t, bool alternate, uint64_t offset, struct callee_names *c)
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

struct callee_names *unit_callee(struct debug *d, struct unit_tables *t, bool alternate, uint64_t offset)
{
    uint32_t *slot = hashmap_put(&t->callee_of, offset << 1 | alternate);
    if (*slot == HASHMAP_NONE) {
        struct callee_names c = {0};
        *slot = (uint32_t)t->callees.count;
        resolve(d, t, alternate, offset, &c);
        *vec_push(&t->callees) = c;
        return &t->callees.items[t->callees.count - 1];
    }
    return &t->callees.items[*slot];
}
