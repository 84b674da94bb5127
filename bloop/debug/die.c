/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The border to libdwarf.
 *
 * libdwarf gets its sections from us, through its interface for foreign object formats: so they are
 * checked, decompressed and relocated by elf.c, libdwarf's own ELF reader never sees the file, and
 * threads share the mapping.  Both generations of its interface are served (LIBDWARF_SINCE_0_1).
 *
 * Range lists and .debug_addr are read by ourselves: they are simple, and libdwarf has three
 * interfaces for them, none of which bounds a list.
 */
#include "config.h"

#include "bloop/debug/debug_int.h"

#include <stdlib.h>

/* DWARF 5 and GNU's split DWARF 4; libdwarf's older headers miss some. */
enum {
    AT_call_column = 0x57,
    AT_call_file = 0x58,
    AT_call_line = 0x59,
    AT_ranges = 0x55,
    AT_linkage_name = 0x6e,
    AT_addr_base = 0x73,
    AT_rnglists_base = 0x74,
    AT_dwo_name = 0x76,
    AT_MIPS_linkage_name = 0x2007,
    AT_GNU_dwo_name = 0x2130,
    AT_GNU_dwo_id = 0x2131,
    AT_GNU_ranges_base = 0x2132,
    AT_GNU_addr_base = 0x2133,
    FORM_addr = 0x01,
    FORM_strx = 0x1a,
    FORM_GNU_str_index = 0x1f02,
    FORM_addrx = 0x1b,
    FORM_ref_sup4 = 0x1c,
    FORM_ref_sig8 = 0x20,
    FORM_rnglistx = 0x23,
    FORM_ref_sup8 = 0x24,
    FORM_strx1 = 0x25,
    FORM_strx4 = 0x28,
    FORM_addrx1 = 0x29,
    FORM_addrx4 = 0x2c,
    FORM_GNU_addr_index = 0x1f01,
    FORM_GNU_ref_alt = 0x1f20,
    FORM_GNU_strp_alt = 0x1f21,
    FORM_strp_sup = 0x1d,
};

/* ---- sections for libdwarf ---- */

#ifdef LIBDWARF_SINCE_0_1
typedef Dwarf_Obj_Access_Interface_a object_interface;
typedef Dwarf_Obj_Access_Methods_a object_methods;
typedef Dwarf_Obj_Access_Section_a object_section;
typedef Dwarf_Unsigned section_number;
#else
typedef Dwarf_Obj_Access_Interface object_interface;
typedef Dwarf_Obj_Access_Methods object_methods;
typedef Dwarf_Obj_Access_Section object_section;
typedef Dwarf_Half section_number;
#endif

/* The sections that libdwarf needs for entries and names. Lines and ranges are read by us (libdwarf 20210528 frees a
   damaged .debug_rnglists twice); the others (.debug_loc, .debug_macro, ...) are not even decompressed. */
static const char *const wanted[] = {"info", "abbrev", "str", "line_str", "str_offsets", "addr"}; /* ".debug_info" */
static const char *const wanted_of_packages[] = {".debug_cu_index", ".debug_tu_index"};

struct dwarf_object {
    object_interface interface;
    /* Each once; [0] stays NULL, like ELF's null section. */
    struct elf_section *sections[1 + ARRAY_SIZE(wanted) + ARRAY_SIZE(wanted_of_packages)];
    size_t count;
};

static int get_section(void *object, section_number i, object_section *out, int *error)
{
    const struct dwarf_object *o = object;
    (void)error;
    memset(out, 0, sizeof *out);
    if (i >= o->count)
        return DW_DLV_NO_ENTRY;
    const struct elf_section *s = o->sections[i];
#ifdef LIBDWARF_SINCE_0_1
    out->as_name = s ? s->name : "";
    out->as_type = s ? SHT_PROGBITS : SHT_NULL;
    out->as_size = s ? s->data_size : 0;
    out->as_addralign = 1;
#else
    out->name = s ? s->name : "";
    out->type = s ? SHT_PROGBITS : SHT_NULL;
    out->size = s ? s->data_size : 0;
#endif
    return DW_DLV_OK;
}

static int load_section(void *object, section_number i, Dwarf_Small **bytes, int *error)
{
    const struct dwarf_object *o = object;
    (void)error;
    if (i >= o->count || !o->sections[i])
        return DW_DLV_NO_ENTRY;
    *bytes = (Dwarf_Small *)o->sections[i]->data;
    return DW_DLV_OK;
}

#ifdef LIBDWARF_SINCE_0_1
static Dwarf_Small get_byte_order(void *object)
{
    (void)object;
    return DW_END_little;
}

static Dwarf_Unsigned get_file_size(void *object)
{
    const struct dwarf_object *o = object;
    Dwarf_Unsigned size = 1 << 16;
    for (size_t i = 1; i < o->count; i++)
        size += o->sections[i]->data_size;
    return size;
}
#else
static Dwarf_Endianness get_byte_order(void *object)
{
    (void)object;
    return DW_OBJECT_LSB;
}
#endif

static Dwarf_Small eight(void *object)
{
    (void)object;
    return 8;
}

static Dwarf_Unsigned get_section_count(void *object)
{
    const struct dwarf_object *o = object;
    return o->count;
}

static const object_methods methods = {
#ifdef LIBDWARF_SINCE_0_1
    .om_get_section_info = get_section,
    .om_get_byte_order = get_byte_order,
    .om_get_length_size = eight,
    .om_get_pointer_size = eight,
    .om_get_filesize = get_file_size,
    .om_get_section_count = get_section_count,
    .om_load_section = load_section,
#else
    .get_section_info = get_section,
    .get_byte_order = get_byte_order,
    .get_length_size = eight,
    .get_pointer_size = eight,
    .get_section_count = get_section_count,
    .load_section = load_section,
#endif
};

static bool wanted_section(const char *name, bool dwo)
{
    for (size_t i = 0; dwo && i < ARRAY_SIZE(wanted_of_packages); i++)
        if (strcmp(name, wanted_of_packages[i]) == 0)
            return true;
    if (!str_starts(name, ".debug_"))
        return false;
    name += strlen(".debug_");
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        size_t n = strlen(wanted[i]);
        if (strncmp(name, wanted[i], n) == 0 && strcmp(name + n, dwo ? ".dwo" : "") == 0)
            return true;
    }
    return false;
}

static struct dwarf_object *make_object(struct elf_file *f, bool dwo, struct warnings *w)
{
    struct dwarf_object *o = mem_calloc(1, sizeof *o);
    o->count = 1;
    for (size_t i = 1; i < f->section_count; i++) {
        struct elf_section *s = &f->sections[i];
        bool again = false; /* a .o with section groups may have several of a name; units of the first are read */
        for (size_t j = 1; j < o->count; j++)
            again |= strcmp(o->sections[j]->name, s->name) == 0;
        if (!again && wanted_section(s->name, dwo) && elf_section_load(f, s, w) && s->data_size)
            o->sections[o->count++] = s;
    }
#ifdef LIBDWARF_SINCE_0_1
    o->interface.ai_object = o;
    o->interface.ai_methods = &methods;
#else
    o->interface.object = o;
    o->interface.methods = &methods;
#endif
    return o;
}

/* ---- open, close, errors ---- */

int dwarf_file_open(struct elf_file *elf, bool dwo, struct warnings *w, struct dwarf_file **out, struct err *err)
{
    struct dwarf_file *f = mem_calloc(1, sizeof *f);
    Dwarf_Error e = NULL;
    bool has_info = false;
    *out = NULL;
    f->elf = elf;
    f->w = w;
    f->string_offsets = NO_OFFSET;
    f->object = make_object(elf, dwo, w);
    for (size_t i = 1; i < f->object->count; i++)
        has_info |= str_starts(f->object->sections[i]->name, ".debug_info");
    if (!has_info) {
        dwarf_file_close(f);
        return 0;
    }
    dwarf_set_de_alloc_flag(0); /* we free what we get; its book-keeping of every allocation costs half of the time */
    int status = dwarf_object_init_b(&f->object->interface, NULL, NULL, dwo ? DW_GROUPNUMBER_DWO : DW_GROUPNUMBER_BASE,
                                     &f->dbg, &e);
    if (status != DW_DLV_OK) {
        f->dbg = NULL;
        err_set(err, ERR_FORMAT, "%s: its debug information cannot be read: %s", elf->path,
                status == DW_DLV_ERROR ? dwarf_errmsg(e) : "none found");
        if (e)
            dwarf_dealloc_error(NULL, e);
        dwarf_file_close(f);
        return -1;
    }
    *out = f;
    return 1;
}

void dwarf_file_close(struct dwarf_file *f)
{
    if (!f)
        return;
    if (f->dbg) {
#ifdef LIBDWARF_SINCE_0_1
        dwarf_object_finish(f->dbg);
#else
        Dwarf_Error e = NULL;
        dwarf_object_finish(f->dbg, &e);
#endif
    }
    mem_free(f->object);
    mem_free(f);
}

void dwarf_complain(struct dwarf_file *f, uint64_t offset, Dwarf_Error e)
{
    if (!f->damaged)
        warnings_add(f->w,
                     "%s: damaged debug information (.debug_info at 0x%llx: %s); lines, names or inlined calls of that "
                     "part are missing",
                     f->elf->path, (unsigned long long)offset, e ? dwarf_errmsg(e) : "out of order");
    f->damaged = true;
    if (e)
        dwarf_dealloc_error(f->dbg, e);
}

/* ---- units ---- */

static int step(struct dwarf_file *f, struct unit_header *h, Dwarf_Error *e)
{
    Dwarf_Unsigned length = 0, type_offset = 0, next = 0;
    Dwarf_Off abbrev = 0, die = 0;
    Dwarf_Half version = 0, address_size = 0, offset_size = 0, extension = 0, kind = 0;
    Dwarf_Sig8 signature = {{0}};
    uint64_t header = h->next;
    int status = dwarf_next_cu_header_d(f->dbg, true, &length, &version, &abbrev, &address_size, &offset_size,
                                        &extension, &signature, &type_offset, &next, &kind, e);
    if (status != DW_DLV_OK)
        return status;
    status = dwarf_get_cu_die_offset_given_cu_header_offset_b(f->dbg, header, true, &die, e);
    *h = (struct unit_header){.header = header, .die = die, .next = next, .version = version};
    memcpy(&h->signature, &signature, 8);
    return status;
}

bool dwarf_file_next(struct dwarf_file *f, struct unit_header *h)
{
    Dwarf_Error e = NULL;
    uint64_t before = h->next;
    int status = step(f, h, &e);
    if (status == DW_DLV_NO_ENTRY) { /* libdwarf begins anew the next time */
        f->can_seek = true;
        f->position = 0;
        return false;
    }
    if (status == DW_DLV_ERROR || h->next <= before) {
        dwarf_complain(f, before, status == DW_DLV_ERROR ? e : NULL);
        return false;
    }
    f->unit_count++;
    return true;
}

void dwarf_file_seek(struct dwarf_file *f, uint32_t index)
{
    Dwarf_Unsigned length = 0, type_offset = 0, next = 0;
    Dwarf_Off abbrev = 0;
    Dwarf_Half version = 0, address_size = 0, offset_size = 0, extension = 0, kind = 0;
    Dwarf_Sig8 signature;
    /* Up to the unit; if it is behind us, to the end and from the beginning once more. */
    for (uint64_t steps = 2 * (uint64_t)f->unit_count + 2; f->can_seek && f->position != index + 1 && steps; steps--) {
        Dwarf_Error e = NULL;
        int status = dwarf_next_cu_header_d(f->dbg, true, &length, &version, &abbrev, &address_size, &offset_size,
                                            &extension, &signature, &type_offset, &next, &kind, &e);
        if (status == DW_DLV_ERROR) {
            dwarf_dealloc_error(f->dbg, e);
            f->can_seek = false;
        }
        f->position = status == DW_DLV_OK ? f->position + 1 : 0;
    }
}

/* ---- entries ---- */

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

static struct cursor section_cursor(struct elf_file *f, const char *name, uint64_t offset, struct warnings *w)
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
    struct cursor c =
        section_cursor(f->elf, ".debug_str_offsets.dwo", f->string_offsets + index * f->offset_size, f->w);
    uint64_t offset = f->offset_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
    struct cursor s = section_cursor(f->elf, ".debug_str.dwo", offset, f->w);
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

/* ---- ranges ---- */

static bool indexed_address(const struct unit_base *b, uint64_t index, vaddr *v)
{
    uint64_t base = b->addr_base != NO_OFFSET ? b->addr_base : b->version >= 5 ? 8 : 0;
    if (index > UINT32_MAX || base > (1ull << 48))
        return false;
    struct cursor c = section_cursor(b->addresses, ".debug_addr", base + index * 8, NULL);
    *v = cursor_u64(&c);
    return !c.bad;
}

vaddr die_low(const struct unit_base *b, const struct die_info *d)
{
    vaddr v = d->low;
    if (!d->has_low || (d->low_indexed && !indexed_address(b, d->low, &v)))
        return 0;
    return v;
}

vaddr die_entry(const struct unit_base *b, const struct die_info *d)
{
    vaddr v = d->entry;
    if (!d->has_entry || (d->entry_indexed && !indexed_address(b, d->entry, &v)))
        return 0;
    return v;
}

/* Linkers point the ranges of functions they dropped to 0 or 1 (ld) or to the top of the address space (lld). */
static void add_range(struct range_list *list, vaddr begin, vaddr end)
{
    if (begin > 1 && begin < end && begin < UINT64_MAX - 16)
        *vec_push(list) = (struct addr_range){begin, end};
}

static void ranges_v4(struct dwarf_file *f, const struct unit_base *b, uint64_t offset, struct range_list *list)
{
    if (b->gnu_ranges_base != NO_OFFSET)
        offset += b->gnu_ranges_base;
    struct cursor c = section_cursor(b->addresses, ".debug_ranges", offset, f->w);
    vaddr base = b->base;
    for (size_t n = 0; n < LIMIT_RANGES_OF_ENTRY; n++) {
        uint64_t begin = cursor_u64(&c), end = cursor_u64(&c);
        if (c.bad || (begin == 0 && end == 0))
            return;
        if (begin == UINT64_MAX)
            base = end;
        else
            add_range(list, base + begin, base + end);
    }
}

/* DWARF 5, 7.25 */
static void ranges_v5(struct dwarf_file *f, const struct unit_base *b, const struct die_info *d,
                      struct range_list *list)
{
    const char *section = elf_section_named(f->elf, ".debug_rnglists.dwo") ? ".debug_rnglists.dwo" : ".debug_rnglists";
    uint64_t offset = d->ranges;
    if (d->ranges_form == FORM_rnglistx) {
        uint64_t table = b->rnglists_base != NO_OFFSET ? b->rnglists_base
                         : b->offset_size == 8         ? 20
                                                       : 12; /* right behind the header */
        if (offset > UINT32_MAX || table > (1ull << 48))
            return;
        struct cursor entry = section_cursor(f->elf, section, table + offset * b->offset_size, f->w);
        offset = table + (b->offset_size == 8 ? cursor_u64(&entry) : cursor_u32(&entry));
        if (entry.bad)
            return;
    }
    struct cursor c = section_cursor(f->elf, section, offset, f->w);
    vaddr base = b->base, begin = 0, end = 0;
    for (size_t n = 0; n < LIMIT_RANGES_OF_ENTRY && !c.bad; n++) {
        bool known = true;
        uint8_t kind = cursor_u8(&c);
        switch (kind) {
        case 0:
            return; /* DW_RLE_end_of_list */
        case 1:     /* base_addressx */
            if (!indexed_address(b, cursor_uleb(&c), &base))
                return;
            continue;
        case 2: /* startx_endx */
            known = indexed_address(b, cursor_uleb(&c), &begin);
            known &= indexed_address(b, cursor_uleb(&c), &end);
            break;
        case 3: /* startx_length */
            known = indexed_address(b, cursor_uleb(&c), &begin);
            end = begin + cursor_uleb(&c);
            break;
        case 4: /* offset_pair */
            begin = base + cursor_uleb(&c);
            end = base + cursor_uleb(&c);
            break;
        case 5:
            base = cursor_u64(&c);
            continue; /* base_address */
        case 6:       /* start_end */
            begin = cursor_u64(&c);
            end = cursor_u64(&c);
            break;
        case 7: /* start_length */
            begin = cursor_u64(&c);
            end = begin + cursor_uleb(&c);
            break;
        default:
            return;
        }
        if (known && !c.bad)
            add_range(list, begin, end);
    }
}

void die_ranges(struct dwarf_file *f, const struct unit_base *b, const struct die_info *d, struct range_list *list)
{
    if (d->has_ranges) {
        if (b->version >= 5)
            ranges_v5(f, b, d, list);
        else
            ranges_v4(f, b, d->ranges, list);
        return;
    }
    vaddr low = die_low(b, d), high = d->high;
    if (!d->has_low || !d->has_high || (d->high_indexed && !indexed_address(b, d->high, &high)))
        return;
    add_range(list, low, d->high_is_size ? low + high : high);
}

static int by_range(const void *a, const void *b)
{
    const struct addr_range *x = a, *y = b;
    return order_of(x->begin, y->begin) ?: order_of(x->end, y->end);
}

void ranges_normalize(struct range_list *list, size_t from)
{
    size_t kept = from;
    if (list->count < from + 2)
        return;
    sort_items(list->items + from, list->count - from, sizeof *list->items, by_range);
    for (size_t i = from; i < list->count; i++) {
        struct addr_range r = list->items[i];
        if (kept > from && r.begin <= list->items[kept - 1].end) {
            if (r.end > list->items[kept - 1].end)
                list->items[kept - 1].end = r.end;
        } else {
            list->items[kept++] = r;
        }
    }
    list->count = kept;
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
