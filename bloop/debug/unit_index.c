/* SPDX-License-Identifier: BSD-3-Clause */
/* The procedures of a unit, and the scopes that names are made of: one walk over its entries, without types.
   DWARF 5: 3.3.8. */
#include "bloop/debug/units.h"

bool language_is_fortran(uint16_t language)
{
    return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
           language == 0x22 || language == 0x23 /* 03, 08 */ || language == 0x2d /* 18 */;
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

void unit_index(struct unit_tables *t, bool whole)
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
