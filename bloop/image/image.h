/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bloop/image - what a binary is: bytes of an ELF file by address, symbols, relocations, unwind entries, separate
 * debug files.
 *
 * Knows:    ELF, .eh_frame and .gcc_except_table, read with bounds checks. Does not: what the bytes mean as code, or as DWARF
 * (elf.h hands the sections to bloop/debug).
 *
 * Memory:   an image owns all it lends, until image_close.
 * Errors:   -1 only if it is not a binary we can read; damaged parts are a warning and missing.
 * Threads:  an open image may be read from several.
 */
#ifndef BLOOP_IMAGE_H
#define BLOOP_IMAGE_H

#include "bloop/arch/arch.h"

struct vaddr_list VEC(vaddr);
struct range_list VEC(struct addr_range);

struct image_section { /* validated: bytes..bytes+size is in the file or in a decompressed copy */
    const char *name;
    vaddr addr; /* link-time address; in a relocatable file, an address image.c gave it (sections laid out one after the
                   other) */
    uint64_t size;
    const uint8_t *bytes; /* NULL: none in the file (SHT_NOBITS, outside, damaged), or compressed (debug sections:
                             debug.c's to unpack) */
    bool alloc, exec, writable;
};

enum image_symbol_kind { SYM_FUNC, SYM_IFUNC, SYM_OBJECT, SYM_NOTYPE };
/* Defined symbols of .symtab (the separate debug file's if the binary has none) and .dynsym; no section or file
   symbols. A relocatable file's undefined symbols are there too, with addresses in a section "[external]" without
   bytes, so that a call of abort has a name. */
struct image_symbol {
    vaddr addr;
    uint64_t size;
    const char *name; /* lent */
    uint8_t kind;     /* enum image_symbol_kind */
    bool global, weak;
    bool dynamic;    /* known from .dynsym only */
    uint32_t source; /* equal for the local symbols of one source file; 0 for others */
};

struct image {
    enum arch_kind arch;
    bool relocatable, position_independent;
    vaddr entry;                 /* 0: none */
    const char *path, *build_id; /* lower-case hex of 64 bytes at most, "" if none */
    struct image_section *sections;
    struct image_symbol *symbols; /* sorted by addr, then global before weak before local, then name */
    size_t section_count, symbol_count;
    struct image_private *priv; /* libelf's handles, mappings, separate debug file */
};

int image_open(const char *path, const char *const *debug_dirs, struct image **, struct warnings *, struct err *);
/* The same, and no other file is looked for. */
int image_open_alone(const char *path, struct image **, struct warnings *, struct err *);
void image_close(struct image *);
/* Releases the memory of parts of the file that need not be read again soon. */
void image_forget(const struct image *);
const struct image_section *image_section_at(const struct image *, vaddr); /* an allocated one, or NULL */
const struct image_section *image_section_named(const struct image *, const char *name);
/* The file's bytes at `addr`, with *avail of them up to the section's end; NULL and 0 if there are none. */
const uint8_t *image_bytes(const struct image *, vaddr addr, size_t *avail);
/* The link-time pointer stored at addr (relocations applied: R_*_RELATIVE, R_*_64 and their like); false: none there.
 */
bool image_pointer(const struct image *, vaddr addr, vaddr *value);
/* The symbol whose address the loader writes at addr (a GOT slot: `call *foo@GOTPCREL(%rip)` and PLT stubs go through
 * it), or NULL. */
const char *image_slot_name(const struct image *, vaddr addr);

/* ---- ehframe.c ---- */

struct fde {
    vaddr begin, end; /* code it describes; inside one executable section */
    vaddr lsda;       /* of its language-specific data in .gcc_except_table; 0: none */
};
struct fde_list VEC(struct fde);

/* All entries of .eh_frame, sorted by (begin, end); made on first use, lent until image_close. Safe from several threads. */
const struct fde_list *image_fdes(const struct image *, struct warnings *);

/* Calls of the function (or cold part) at `begin` that go on at a landing pad when they throw (.gcc_except_table
   through its FDE's LSDA), appended in the table's order; entries without a pad are left out. From where a pad is
   reached must be known: were it an entry from nowhere, every loop with a `try` in it would look irreducible. */
struct call_site {
    vaddr begin, end; /* [begin,end): the calls */
    vaddr pad;
};
struct call_site_list VEC(struct call_site);
void image_call_sites(const struct image *, vaddr begin, struct call_site_list *);

#endif
