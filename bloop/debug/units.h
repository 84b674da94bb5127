/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units of DWARF and their tables: units.c finds units by address and keeps the tables of the last few, since callers
 * go by address; unit_index.c lists their procedures and scopes; unit_split.c opens .dwo and .dwp files; unit_names.c
 * names procedures.
 */
#ifndef BLOOP_DEBUG_UNITS_H
#define BLOOP_DEBUG_UNITS_H

#include "bloop/debug/debug_int.h"

struct unit {
    uint64_t header, die; /* offsets in .debug_info */
    uint64_t signature;   /* DWARF 5 skeletons: the id of the .dwo */
    bool spanned;         /* in the list of spans, or looked at in vain */
};
struct unit_list VEC(struct unit);

struct unit_span {
    vaddr begin, end;
    uint32_t unit;
};
struct span_list VEC(struct unit_span);

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
struct callee_names {
    const char *name, *link_name, *decl_path;
    uint32_t decl_line;
    uint64_t id; /* of the abstract procedure */
    /* The answer being made (debug.answer) that has copies of the strings, and where. */
    uint64_t answer;
    const char *answer_name, *answer_link_name;
};
struct callee_list VEC(struct callee_names);

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

/* units.c */
void unit_list(struct debug *); /* all of them, with the addresses that they claim */
bool unit_read(struct debug *, uint32_t unit, struct die_info *, struct unit_base *);
/* With `rows` false only to see which procedures the unit has. */
void unit_load(struct debug *, uint32_t unit, bool rows, struct unit_tables *);
void unit_release(struct unit_tables *);
struct unit_tables *unit_tables_of(struct debug *, uint32_t unit); /* read, or kept; lent until the next call */
#define UNITS_AT 16 /* units that claim one address: identical functions folded by the linker */
size_t unit_all_at(const struct debug *, vaddr, uint32_t *units);
/* Last resort for an address no unit claims: units without ranges are searched for procedures, once. */
void unit_span_the_rest(struct debug *);

/* unit_index.c: `whole`, also procedures inside of others */
void unit_index(struct unit_tables *, bool whole);

/* unit_split.c: the skeleton in the binary has lines and addresses; names and inlined calls are in BINARY.dwp or the
   unit's own .dwo */
void unit_open_split(struct debug *, struct unit_tables *);
void unit_use_strings(const struct unit_tables *); /* what is read next of the unit's file are entries of this unit */

/* unit_names.c: lent until the next call */
struct callee_names *unit_callee(struct debug *, struct unit_tables *, bool alternate, uint64_t offset);

#endif
