/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files opened with libdwarf, and their units.
 *
 * libdwarf gets its sections from us, through its interface for foreign object formats: so they are checked,
 * decompressed and relocated by elf.c, libdwarf's own ELF reader never sees the file, and threads share the mapping.
 * Both generations of its interface are served (LIBDWARF_SINCE_0_1).
 */
#include "config.h"

#include "bloop/debug/debug_int.h"

#include <stdlib.h>

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
