/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of bloop/image and used by bloop/debug: one ELF file, its headers checked, its sections
 * ready to be read. An image has up to two of them: the binary and its separate debug file.
 */
#ifndef BLOOP_IMAGE_INT_H
#define BLOOP_IMAGE_INT_H

#include "bloop/image/image.h"
#include "support/sort.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>

/* Newer than some <elf.h>. */
#ifndef SHT_RELR
#define SHT_RELR 19
#endif
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif
#define STT_GNU_IFUNC_ 10

struct elf_section {
    const char *name; /* "" if it is outside the name table; ".zdebug_x" is called ".debug_x" */
    uint32_t type, link, info;
    uint64_t flags, addr, offset, size, align;
    const uint8_t *raw; /* `size` bytes in the file; NULL: none there */
    bool zdebug;        /* compressed in the old GNU way */
    /* Filled by elf_section_load */
    bool loaded;
    const uint8_t *data; /* decompressed, and relocated in a relocatable file; NULL: none or damaged */
    uint64_t data_size;
    void *owned;
};

struct elf_file {
    char *path;
    struct filemap map;
    bool own_map; /* false: the bytes are somebody else's (the vDSO of this process) */
    Elf64_Ehdr header;
    Elf64_Phdr *segments; /* those whose bytes lie in the file as far as they do; see elf_file_open */
    size_t segment_count;
    struct elf_section *sections; /* 0 is the null section, as in the file */
    size_t section_count;
    bool from_segments; /* no section headers: these were made from program headers, only loaded segments are SHF_ALLOC
                         */
    vaddr external; /* relocatable file: where the addresses begin that undefined symbols were given, 16 bytes each */
    char *build_id; /* lower-case hex, "" if none */
    pthread_mutex_t lock; /* of elf_section_load */
};

/* -1 with a sentence: not an ELF file hpcview can read. */
int elf_file_open(const char *path, struct elf_file **, struct warnings *, struct err *);
void elf_file_close(struct elf_file *);
/* How far a file in memory goes: as far as its headers say. */
uint64_t elf_extent(const uint8_t *);
const char *elf_machine_name(unsigned machine);
/* First section of that name, or NULL. */
struct elf_section *elf_section_named(const struct elf_file *, const char *name);
/* Bytes of a section, decompressed and relocated, on first use; false and a warning if they are not available. Safe from
 * several threads. */
bool elf_section_load(struct elf_file *, struct elf_section *, struct warnings *);
/* The file's table of that type whose bytes are there (SHT_SYMTAB, SHT_DYNSYM), or NULL; f may be NULL. */
const struct elf_section *elf_section_typed(const struct elf_file *f, uint32_t type);
/* Symbols of a table, as far as they lie in the file; names through elf_symbol_name. */
struct elf_symbols {
    const uint8_t *bytes;
    size_t count;
    const char *strings;
    size_t strings_size; /* the last of them is NUL */
};
struct elf_symbols elf_symbols_of(struct elf_file *, const struct elf_section *table, struct warnings *);
Elf64_Sym elf_symbol_get(const struct elf_symbols *, size_t i);
const char *elf_symbol_name(const struct elf_symbols *, const Elf64_Sym *); /* "" if it has none */
/* Address of a symbol as the image has it; false: undefined (in a file that is not relocatable), common or absolute. */
bool elf_symbol_address(const struct elf_file *, const Elf64_Sym *, size_t index, vaddr *);

/* reloc.c: apply the relocations of section `target` to its bytes (a copy of it). */
void elf_relocate(struct elf_file *, size_t target, uint8_t *bytes, uint64_t size, struct warnings *);

/* compress.c: a fresh buffer (mem_free) of *size bytes, or NULL with a warning. `what` names file and section. */
uint8_t *section_decompress(const struct elf_section *, uint64_t *size, const char *what, struct warnings *);

/* debugfile.c: is it a file to open where a binary names others? Not a pipe or device, which could block or never
 * end. */
bool regular_file(const char *path);
/* The separate debug file of `f`, or NULL. */
struct elf_file *debug_file_find(struct elf_file *f, const char *const *debug_dirs, struct warnings *);
/* The file that .gnu_debugaltlink of `f` (a file shared by several, made by dwz) names, or NULL with a warning; NULL
 * and silence without a link. */
struct elf_file *debug_alt_find(struct elf_file *f, const char *const *debug_dirs, struct warnings *);

struct pointer {
    vaddr at, value;
};
struct slot {
    vaddr at;
    const char *name; /* lent */
};

struct fde_list;

struct image_private {
    struct elf_file *file, *debug_file; /* debug_file: NULL if none */
    struct elf_file *dwarf;             /* of the two, the one that has .debug_info, or NULL */
    struct elf_file *alternate;         /* dwz's, or NULL */
    char **debug_dirs;                  /* NULL-terminated copy */
    uint32_t *by_addr;                  /* allocated sections, sorted by address, no overlap */
    size_t by_addr_count;
    pthread_mutex_t lock;  /* of the data created on first use below */
    struct fde_list *fdes; /* ehframe.c's */
    bool pointers_ready;
    struct pointer_list VEC(struct pointer) pointers; /* values that the loader writes, sorted by address */
    struct slot_list VEC(struct slot) slots;          /* and the addresses of which symbols, sorted too */
};

#endif
