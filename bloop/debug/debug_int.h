/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of bloop/debug. die.c is the border to libdwarf: nothing else sees its errors, and its
 * results (struct die_info) are plain. lines.c turns a unit's line program into rows;
 * units.h declares what finds units and keeps their tables; debug.c answers.
 */
#ifndef BLOOP_DEBUG_INT_H
#define BLOOP_DEBUG_INT_H

#include "bloop/debug/debug.h"
#include "bloop/image/elf.h"

#include <dwarf.h>
#include <libdwarf.h>

#define NO_OFFSET UINT64_MAX

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

/* One file opened with libdwarf: the binary or its debug file, dwz's alternate file, a .dwo file. */
struct dwarf_file {
    Dwarf_Debug dbg;
    struct elf_file *elf;
    struct warnings *w;
    struct dwarf_object *object; /* libdwarf's interface for reading sections */
    bool damaged;                /* warned about once */
    bool has_alternate;          /* dwz's file with the texts of several */
    /* libdwarf finds the unit of an offset by walking a list of all, from the unit that its iteration stands at if that
       is before it. So the iteration is made to stand at the unit we are about to read. */
    uint32_t position; /* units stepped over; the current one is position - 1 */
    uint32_t unit_count;
    bool can_seek;
    uint64_t string_offsets; /* a split file: the first entry of .debug_str_offsets.dwo for the unit being read;
                                NO_OFFSET: libdwarf knows */
    uint8_t offset_size;     /* of these entries */
};

/* Attributes of a unit that determine how its own entries are read. */
struct unit_base {
    uint16_t version;
    uint8_t offset_size;
    vaddr base;                 /* of its range lists */
    uint64_t rnglists_base;     /* DWARF 5, NO_OFFSET: none given */
    uint64_t addr_base;         /* NO_OFFSET: none given */
    uint64_t gnu_ranges_base;   /* split DWARF 4: base of ranges in the split file, not of the unit's own */
    struct elf_file *addresses; /* base in .debug_addr (a .dwo has none) */
};

/* The attributes we want of one entry; strings are lent by the file. */
struct die_info {
    uint64_t offset; /* in .debug_info */
    uint16_t tag;
    uint16_t ranges_form;
    bool has_low, has_high, high_is_size, has_ranges;
    bool has_entry;
    bool low_indexed, high_indexed, entry_indexed; /* the value is an index into .debug_addr */
    vaddr low, high, entry;
    uint64_t ranges;
    uint64_t origin, specification; /* NO_OFFSET: none */
    bool origin_alternate, specification_alternate;
    const char *name, *link_name, *comp_dir, *dwo_name, *producer;
    uint32_t decl_file, call_file; /* numbers of the line table; DEBUG_NO_FILE: none given (0 is a file in DWARF 5) */
    uint32_t decl_line, call_line, call_column;
    uint16_t language;
    uint64_t lines;                                     /* offset in .debug_line, or NO_OFFSET */
    uint64_t rnglists_base, addr_base, gnu_ranges_base; /* of a unit; NO_OFFSET: none */
    uint64_t dwo_id;
};

int dwarf_file_open(struct elf_file *, bool dwo, struct warnings *, struct dwarf_file **,
                    struct err *); /* 1, 0: no .debug_info, -1 */
void dwarf_file_close(struct dwarf_file *);
/* A warning with libdwarf's message, once per file; frees the error. */
void dwarf_complain(struct dwarf_file *, uint64_t offset, Dwarf_Error);
struct unit_header {
    uint64_t header, die, next; /* offsets in .debug_info */
    uint64_t signature;         /* DWARF 5, split or skeleton: the id they have in common; else 0 */
    uint16_t version;
};
/* Steps to the next unit; begin with *h = {0}. 0: there is none, or a damaged one (with a warning). */
bool dwarf_file_next(struct dwarf_file *, struct unit_header *h);
/* Look-ups in the index-th unit will be fast. In ascending order this costs next to nothing. */
void dwarf_file_seek(struct dwarf_file *, uint32_t index);
/* The entry at an offset, or NULL. Free with dwarf_dealloc_die. */
Dwarf_Die dwarf_die_at(struct dwarf_file *, uint64_t offset);
void die_read(struct dwarf_file *, Dwarf_Die, struct die_info *);
/* A section from that offset on; bad: not there. */
struct cursor die_section(struct elf_file *, const char *name, uint64_t offset, struct warnings *);
/* Cheap ones, which look at no values. */
bool die_has_code(Dwarf_Die); /* has it addresses? */
uint64_t die_offset(Dwarf_Die);
unsigned die_tag(Dwarf_Die);
/* Single attributes, for entries of which die_read does not say enough. A number may be a string of bytes elsewhere: false. */
bool die_number(struct dwarf_file *, Dwarf_Die, unsigned attribute, int64_t *);
uint64_t die_reference(struct dwarf_file *, Dwarf_Die, unsigned attribute);  /* NO_OFFSET: none */
struct cursor die_block(struct dwarf_file *, Dwarf_Die, unsigned attribute); /* of an expression; bad: none */
void unit_base_set(struct unit_base *, struct dwarf_file *, Dwarf_Die, const struct die_info *);

/* The first entries of the unit's parts of sections of a .dwp; NO_OFFSET: none, or no .dwp. */
struct package_parts {
    uint64_t rnglists, string_offsets;
};
struct package_parts die_package_parts(struct dwarf_file *, Dwarf_Die unit);

/* The entry's code, appended unsorted; empty ranges and those at address 0 (discarded by the linker) left out. */
void die_ranges(struct dwarf_file *, const struct unit_base *, const struct die_info *, struct range_list *);
/* Sort ranges[from..] and join what touches. */
void ranges_normalize(struct range_list *, size_t from);
vaddr die_low(const struct unit_base *, const struct die_info *);   /* 0: none */
vaddr die_entry(const struct unit_base *, const struct die_info *); /* 0: none */

/* A walk over the entries below one, without recursion. Each level must be further in the section than the one before,
 * so that it ends. */
struct die_walk {
    struct dwarf_file *file;
    struct die_level {
        Dwarf_Die die;
        uint64_t offset;
        uint32_t tag; /* the caller's */
    } * levels;
    size_t depth;
};
bool die_walk_begin(struct die_walk *, struct dwarf_file *, Dwarf_Die parent); /* to the first child; false: none */
bool die_walk_into(struct die_walk *); /* to the first child of the current one; false: stays */
bool die_walk_next(struct die_walk *); /* to the next sibling, else up and on; false: the end */
void die_walk_end(struct die_walk *);

bool language_is_fortran(uint16_t language); /* unit_index.c */

/* variables.c: those of one unit, whose entry is `root`. */
void unit_variables(struct dwarf_file *, Dwarf_Die root, const struct unit_base *, uint16_t language,
                    struct bloop_variables *);

/* go_lines.c: if there is no DWARF, but Go's own table. The table lends the image's bytes. */
struct go_table;
bool go_table_open(const struct image *, struct go_table **); /* false: there is none, or an unknown version */
void go_table_close(struct go_table *);
void go_table_entries(const struct go_table *, struct vaddr_list *);
bool go_table_function_at(const struct go_table *, vaddr entry, struct arena *, struct debug_function *);

/* units.c: caches of data that are recreated on demand, in slots next to this. */
struct kept {
    uint64_t key, last_use; /* 0: an empty one */
};
/* The slot of that key, or the one that was not used for longest, which is the key's from now on. `now` grows. */
size_t kept_slot(struct kept *, size_t count, uint64_t key, uint64_t now, bool *there);

/* lines.c */
struct line_file {
    const char *name;
    uint32_t folder;
    const char *path; /* made on first use */
};
struct line_table {
    struct line_row *rows; /* file: as numbered in the line table */
    size_t row_count;
    struct line_files VEC(struct line_file) files; /* by number */
    struct line_folders VEC(const char *) folders; /* [0]: the unit's own */
    const char *comp_dir;                          /* "" unknown. Strings are lent by the file's sections */
    bool folder_0_is_whole;                        /* DWARF 5: folder 0 is not relative to comp_dir */
    struct arena *arena;                           /* of paths, and of names made by unit_names.c */
};
/* Reads the unit's line program; with `rows` false only the names of its files. An empty table, and a warning, if it is
 * damaged. */
void line_table_read(struct dwarf_file *, const struct image *, const struct die_info *unit, bool rows,
                     struct line_table *);
/* Full path of a file: joined with its folder and the unit's, "" if there is none of that number. */
const char *line_table_path(struct line_table *, uint32_t number);
void line_table_release(struct line_table *);

#endif
