/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries as libdwarf has them: their attributes, and walks over them. */
#include "bloop/debug/debug_int.h"

#include <stdlib.h>

/* ---- attributes ---- */

Dwarf_Die dwarf_die_at(struct dwarf_file *f, uint64_t offset)
{
    Dwarf_Die die = NULL;
    Dwarf_Error e = NULL;
    int status = dwarf_offdie_b(f->dbg, offset, true, &die, &e);
    if (status == DW_DLV_ERROR)
        dwarf_complain(f, offset, e);
    return status == DW_DLV_OK ? die : NULL;
}

uint64_t die_offset(Dwarf_Die die)
{
    Dwarf_Off offset = 0;
    Dwarf_Error e = NULL;
    return dwarf_dieoffset(die, &offset, &e) == DW_DLV_OK ? offset : 0;
}

unsigned die_tag(Dwarf_Die die)
{
    Dwarf_Half tag = 0;
    Dwarf_Error e = NULL;
    return dwarf_tag(die, &tag, &e) == DW_DLV_OK ? tag : 0;
}

struct cursor die_section(struct elf_file *f, const char *name, uint64_t offset, struct warnings *w)
{
    struct elf_section *s = elf_section_named(f, name);
    struct cursor none = cursor_make(NULL, 0);
    none.bad = true;
    if (!s || !elf_section_load(f, s, w) || offset > s->data_size)
        return none;
    return cursor_make(s->data + offset, s->data_size - offset);
}

bool die_has_code(Dwarf_Die die)
{
    static const Dwarf_Half attributes[] = {DW_AT_low_pc, AT_ranges};
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
        Dwarf_Bool has = 0;
        Dwarf_Error e = NULL;
        if (dwarf_hasattr(die, attributes[i], &has, &e) == DW_DLV_OK && has)
            return true;
        if (e) /* damaged; such errors belong to no Dwarf_Debug, and dwarf_finish does not free them */
            dwarf_dealloc_error(NULL, e);
    }
    return false;
}

static void free_error(struct dwarf_file *f, Dwarf_Error *e)
{
    if (*e)
        dwarf_dealloc_error(f->dbg, *e);
    *e = NULL;
}

/* libdwarf 20210528 forgets that the units of a .dwp share one table, and takes a .dwo's base from the skeleton in the
   binary, which speaks of the binary's own table. */
static const char *split_string(struct dwarf_file *f, Dwarf_Attribute a)
{
    Dwarf_Unsigned index = 0;
    Dwarf_Error e = NULL;
    int status = dwarf_get_debug_str_index(a, &index, &e);
    free_error(f, &e);
    if (status != DW_DLV_OK || index > UINT32_MAX || f->string_offsets > (1ull << 48))
        return NULL;
    struct cursor c = die_section(f->elf, ".debug_str_offsets.dwo", f->string_offsets + index * f->offset_size, f->w);
    uint64_t offset = f->offset_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
    struct cursor s = die_section(f->elf, ".debug_str.dwo", offset, f->w);
    const char *text = cursor_cstr(&s);
    return c.bad || s.bad ? NULL : text;
}

static const char *attr_string(struct dwarf_file *f, Dwarf_Attribute a, unsigned form)
{
    char *s = NULL;
    Dwarf_Error e = NULL;
    if (f->string_offsets != NO_OFFSET &&
        (form == FORM_strx || form == FORM_GNU_str_index || (form >= FORM_strx1 && form <= FORM_strx4)))
        return split_string(f, a);
    if ((form == FORM_GNU_strp_alt || form == FORM_strp_sup) && !f->has_alternate)
        return NULL; /* libdwarf gives the form's name for a text */
    int status = dwarf_formstring(a, &s, &e);
    if (status == DW_DLV_OK && s)
        return s;
    free_error(f, &e); /* also where dwz's file is missing */
    return NULL;
}

static uint64_t attr_number(struct dwarf_file *f, Dwarf_Attribute a)
{
    Dwarf_Unsigned u = 0;
    Dwarf_Signed s = 0;
    Dwarf_Error e = NULL;
    int status = dwarf_formudata(a, &u, &e);
    if (status == DW_DLV_OK)
        return u;
    free_error(f, &e);
    status = dwarf_formsdata(a, &s, &e); /* DW_FORM_sdata, and DW_FORM_implicit_const in the older library */
    free_error(f, &e);
    return status == DW_DLV_OK && s >= 0 ? (uint64_t)s : 0;
}

static uint32_t attr_u32(struct dwarf_file *f, Dwarf_Attribute a)
{
    uint64_t v = attr_number(f, a);
    return v <= UINT32_MAX - 1 ? (uint32_t)v : 0;
}

static uint64_t attr_offset(struct dwarf_file *f, Dwarf_Attribute a)
{
    Dwarf_Off v = 0;
    Dwarf_Error e = NULL;
    int status = dwarf_global_formref(a, &v, &e);
    if (status == DW_DLV_OK)
        return v;
    free_error(f, &e);
    return attr_number(f, a); /* DWARF 2 and 3 write section offsets as data4 */
}

static bool indexed_form(unsigned form)
{
    return form == FORM_addrx || (form >= FORM_addrx1 && form <= FORM_addrx4) || form == FORM_GNU_addr_index;
}

/* An address, or the index of one in .debug_addr. */
static bool attr_address(struct dwarf_file *f, Dwarf_Attribute a, unsigned form, vaddr *v, bool *indexed)
{
    Dwarf_Addr addr = 0;
    Dwarf_Unsigned index = 0;
    Dwarf_Error e = NULL;
    int status;
    *indexed = indexed_form(form);
    if (*indexed) {
        status = dwarf_get_debug_addr_index(a, &index, &e);
        *v = index;
    } else {
        status = dwarf_formaddr(a, &addr, &e);
        *v = addr;
    }
    free_error(f, &e);
    return status == DW_DLV_OK;
}

static uint64_t attr_reference(struct dwarf_file *f, Dwarf_Attribute a, unsigned form, bool *alternate)
{
    Dwarf_Off offset = NO_OFFSET;
    Dwarf_Error e = NULL;
    *alternate = form == FORM_GNU_ref_alt || form == FORM_ref_sup4 || form == FORM_ref_sup8;
    if (form == FORM_ref_sig8) /* a type's, never a procedure's */
        return NO_OFFSET;
    int status = dwarf_global_formref(a, &offset, &e);
    free_error(f, &e);
    return status == DW_DLV_OK ? offset : NO_OFFSET;
}

/* NULL: not there. */
static Dwarf_Attribute attribute_of(struct dwarf_file *f, Dwarf_Die die, unsigned attribute, unsigned *form)
{
    Dwarf_Attribute a = NULL;
    Dwarf_Half found = 0;
    Dwarf_Error e = NULL;
    if (dwarf_attr(die, (Dwarf_Half)attribute, &a, &e) != DW_DLV_OK)
        a = NULL;
    else if (dwarf_whatform(a, &found, &e) != DW_DLV_OK)
        found = 0;
    free_error(f, &e);
    *form = found;
    return a;
}

bool die_number(struct dwarf_file *f, Dwarf_Die die, unsigned attribute, int64_t *v)
{
    unsigned form;
    Dwarf_Attribute a = attribute_of(f, die, attribute, &form);
    Dwarf_Unsigned u = 0;
    Dwarf_Signed s = 0;
    Dwarf_Error e = NULL;
    if (!a)
        return false;
    bool is_signed = form == DW_FORM_sdata || form == DW_FORM_implicit_const;
    int status = is_signed ? dwarf_formsdata(a, &s, &e) : dwarf_formudata(a, &u, &e);
    free_error(f, &e);
    dwarf_dealloc_attribute(a);
    if (status == DW_DLV_OK)
        *v = is_signed ? s : (int64_t)u;
    return status == DW_DLV_OK;
}

uint64_t die_reference(struct dwarf_file *f, Dwarf_Die die, unsigned attribute)
{
    unsigned form;
    bool alternate = false;
    Dwarf_Attribute a = attribute_of(f, die, attribute, &form);
    uint64_t offset = a ? attr_reference(f, a, form, &alternate) : NO_OFFSET;
    if (a)
        dwarf_dealloc_attribute(a);
    return alternate ? NO_OFFSET : offset;
}

struct cursor die_block(struct dwarf_file *f, Dwarf_Die die, unsigned attribute)
{
    unsigned form;
    Dwarf_Attribute a = attribute_of(f, die, attribute, &form);
    Dwarf_Unsigned size = 0;
    Dwarf_Ptr bytes = NULL;
    Dwarf_Error e = NULL;
    int status = a && form == DW_FORM_exprloc ? dwarf_formexprloc(a, &size, &bytes, &e) : DW_DLV_NO_ENTRY;
    struct cursor c = cursor_make(bytes, status == DW_DLV_OK ? size : 0);
    c.bad = status != DW_DLV_OK;
    free_error(f, &e);
    if (a)
        dwarf_dealloc_attribute(a);
    return c;
}

static void read_attribute(struct dwarf_file *f, Dwarf_Attribute a, struct die_info *d)
{
    Dwarf_Half at = 0, form = 0;
    Dwarf_Error e = NULL;
    if (dwarf_whatattr(a, &at, &e) != DW_DLV_OK || dwarf_whatform(a, &form, &e) != DW_DLV_OK)
        return;
    switch (at) {
    case DW_AT_name:
        d->name = attr_string(f, a, form);
        break;
    case AT_linkage_name:
    case AT_MIPS_linkage_name:
        d->link_name = attr_string(f, a, form);
        break;
    case DW_AT_comp_dir:
        d->comp_dir = attr_string(f, a, form);
        break;
    case AT_dwo_name:
    case AT_GNU_dwo_name:
        d->dwo_name = attr_string(f, a, form);
        break;
    case DW_AT_language:
        d->language = (uint16_t)attr_number(f, a);
        break;
    case DW_AT_producer:
        d->producer = attr_string(f, a, form);
        break;
    case DW_AT_stmt_list:
        d->lines = attr_offset(f, a);
        break;
    case DW_AT_decl_file:
        d->decl_file = attr_u32(f, a);
        break;
    case DW_AT_decl_line:
        d->decl_line = attr_u32(f, a);
        break;
    case AT_call_file:
        d->call_file = attr_u32(f, a);
        break;
    case AT_call_line:
        d->call_line = attr_u32(f, a);
        break;
    case AT_call_column:
        d->call_column = attr_u32(f, a);
        break;
    case DW_AT_low_pc:
        d->has_low = attr_address(f, a, form, &d->low, &d->low_indexed);
        break;
    case DW_AT_high_pc:
        d->high_is_size = form != FORM_addr && !indexed_form(form);
        if (d->high_is_size) {
            d->high = attr_number(f, a);
            d->has_high = true;
        } else {
            d->has_high = attr_address(f, a, form, &d->high, &d->high_indexed);
        }
        break;
    case DW_AT_entry_pc: /* (a number would be counted from where its unit begins: no compiler's) */
        d->has_entry =
            (form == FORM_addr || indexed_form(form)) && attr_address(f, a, form, &d->entry, &d->entry_indexed);
        break;
    case AT_ranges:
        d->has_ranges = true;
        d->ranges_form = form;
        d->ranges = form == FORM_rnglistx ? attr_number(f, a) : attr_offset(f, a);
        break;
    case DW_AT_abstract_origin:
        d->origin = attr_reference(f, a, form, &d->origin_alternate);
        break;
    case DW_AT_specification:
        d->specification = attr_reference(f, a, form, &d->specification_alternate);
        break;
    case AT_rnglists_base:
        d->rnglists_base = attr_offset(f, a);
        break;
    case AT_addr_base:
    case AT_GNU_addr_base:
        d->addr_base = attr_offset(f, a);
        break;
    case AT_GNU_ranges_base:
        d->gnu_ranges_base = attr_offset(f, a);
        break;
    case AT_GNU_dwo_id:
        d->dwo_id = attr_number(f, a);
        break;
    default:
        break;
    }
    free_error(f, &e);
}

void die_read(struct dwarf_file *f, Dwarf_Die die, struct die_info *d)
{
    Dwarf_Attribute *list = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Error e = NULL;
    *d = (struct die_info){.offset = die_offset(die),
                           .tag = (uint16_t)die_tag(die),
                           .origin = NO_OFFSET,
                           .specification = NO_OFFSET,
                           .lines = NO_OFFSET,
                           .decl_file = DEBUG_NO_FILE,
                           .call_file = DEBUG_NO_FILE,
                           .rnglists_base = NO_OFFSET,
                           .addr_base = NO_OFFSET,
                           .gnu_ranges_base = NO_OFFSET};
    int status = dwarf_attrlist(die, &list, &count, &e);
    if (status == DW_DLV_ERROR)
        dwarf_complain(f, d->offset, e);
    if (status != DW_DLV_OK)
        return;
    for (Dwarf_Signed i = 0; i < count; i++) {
        read_attribute(f, list[i], d);
        dwarf_dealloc_attribute(list[i]);
    }
    dwarf_dealloc(f->dbg, list, DW_DLA_LIST);
}

void unit_base_set(struct unit_base *b, struct dwarf_file *f, Dwarf_Die die, const struct die_info *d)
{
    Dwarf_Half version = 0, offset_size = 4;
    Dwarf_Error e = NULL;
    if (dwarf_get_version_of_die(die, &version, &offset_size) != DW_DLV_OK)
        version = 4, offset_size = 4;
    *b = (struct unit_base){.version = version,
                            .offset_size = (uint8_t)offset_size,
                            .rnglists_base = d->rnglists_base,
                            .addr_base = d->addr_base,
                            .gnu_ranges_base = NO_OFFSET,
                            .addresses = f->elf};
    b->base = die_low(b, d);
    free_error(f, &e);
}

struct package_parts die_package_parts(struct dwarf_file *f, Dwarf_Die die)
{
    struct package_parts none = {NO_OFFSET, NO_OFFSET}, p = none;
    Dwarf_Debug_Fission_Per_CU parts;
    Dwarf_Half version = 0, offset_size = 0;
    Dwarf_Error e = NULL;
    memset(&parts, 0, sizeof parts);
    if (dwarf_get_version_of_die(die, &version, &offset_size) != DW_DLV_OK)
        return none;
    int status = dwarf_get_debugfission_for_die(die, &parts, &e);
    free_error(f, &e);
    if (status != DW_DLV_OK)
        return none;
    /* Columns of the index: DWARF 5 7.3.5.3; 6 is .debug_str_offsets.dwo in GNU's DWARF 4 too, without a header there.
     */
    if (parts.pcu_size[6])
        p.string_offsets = parts.pcu_offset[6] + (version < 5 ? 0 : offset_size == 8 ? 16 : 8);
    if (version >= 5 && parts.pcu_size[8])
        p.rnglists = parts.pcu_offset[8] + (offset_size == 8 ? 20 : 12);
    return p;
}

/* ---- walking ---- */

static Dwarf_Die child_of(struct dwarf_file *f, Dwarf_Die die)
{
    Dwarf_Die child = NULL;
    Dwarf_Error e = NULL;
    int status = dwarf_child(die, &child, &e);
    if (status == DW_DLV_ERROR)
        dwarf_complain(f, die_offset(die), e);
    return status == DW_DLV_OK ? child : NULL;
}

static bool push(struct die_walk *w, Dwarf_Die die, uint64_t after)
{
    if (!die)
        return false;
    uint64_t offset = die_offset(die);
    if (offset <= after || w->depth == LIMIT_DWARF_DEPTH) {
        dwarf_dealloc_die(die);
        return false;
    }
    w->levels[w->depth++] = (struct die_level){.die = die, .offset = offset};
    return true;
}

bool die_walk_begin(struct die_walk *w, struct dwarf_file *f, Dwarf_Die parent)
{
    *w = (struct die_walk){.file = f, .levels = mem_alloc(LIMIT_DWARF_DEPTH * sizeof *w->levels)};
    return push(w, child_of(f, parent), die_offset(parent));
}

bool die_walk_into(struct die_walk *w)
{
    struct die_level *at = &w->levels[w->depth - 1];
    return push(w, child_of(w->file, at->die), at->offset);
}

bool die_walk_next(struct die_walk *w)
{
    uint64_t furthest = 0; /* an entry's sibling is behind the whole subtree of the entry */
    while (w->depth) {
        struct die_level *at = &w->levels[w->depth - 1];
        Dwarf_Die next = NULL;
        Dwarf_Error e = NULL;
        if (at->offset > furthest)
            furthest = at->offset;
        int status = dwarf_siblingof_b(w->file->dbg, at->die, true, &next, &e);
        if (status == DW_DLV_ERROR)
            dwarf_complain(w->file, at->offset, e);
        dwarf_dealloc_die(at->die);
        w->depth--;
        if (status == DW_DLV_OK && push(w, next, furthest))
            return true;
    }
    return false;
}

void die_walk_end(struct die_walk *w)
{
    while (w->depth)
        dwarf_dealloc_die(w->levels[--w->depth].die);
    mem_free(w->levels);
    w->levels = NULL;
}
