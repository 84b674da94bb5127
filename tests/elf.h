/* SPDX-License-Identifier: BSD-3-Clause */
/* Executables from bytes, for tests: code at one address, the procedures in it, and a build id. */
#ifndef TESTS_ELF_H
#define TESTS_ELF_H

#include "support/support.h"

#include <elf.h>

struct elf_procedure {
    const char *name;
    uint64_t at, size; /* from the first byte of the code on */
};

struct elf_program {
    bool arm;
    uint64_t text; /* where the code is */
    const void *code;
    size_t size;
    const struct elf_procedure *procedures;
    size_t procedure_count;
    const uint8_t *id; /* NULL: no build id; otherwise as long as a SHA-1 */
};

static inline void elf_put(struct buf *file, size_t at, const void *bytes, size_t n)
{
    while (file->len < at)
        buf_char(file, '\0');
    buf_add(file, bytes, n);
}

static inline void elf_write(struct buf *file, const struct elf_program *p)
{
    enum { ID = 20, TEXT = 1, SYMBOLS, STRINGS, NOTE, SECTIONS, OFFSET = 0x1000 };
    static const char names[] = "\0.text\0.symtab\0.strtab\0.note.gnu.build-id";
    static const uint32_t name_at[SECTIONS] = {0, 1, 7, 15, 23};
    struct buf strings = {0};
    Elf64_Sym *symbols = mem_calloc(p->procedure_count + 1, sizeof *symbols);
    struct {
        Elf64_Nhdr head;
        char name[4];
        uint8_t id[ID];
    } note = {{4, ID, NT_GNU_BUILD_ID}, "GNU", {0}};
    if (p->id)
        memcpy(note.id, p->id, ID);
    buf_add(&strings, names, sizeof names);
    for (size_t i = 0; i < p->procedure_count; i++) {
        symbols[i + 1] = (Elf64_Sym){.st_name = (Elf64_Word)strings.len,
                                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                     .st_shndx = TEXT,
                                     .st_value = p->text + p->procedures[i].at,
                                     .st_size = p->procedures[i].size};
        buf_add(&strings, p->procedures[i].name, strlen(p->procedures[i].name) + 1);
    }
    size_t at_symbols = (OFFSET + p->size + 7) & ~(size_t)7, all_symbols = (p->procedure_count + 1) * sizeof *symbols,
           at_note = at_symbols + all_symbols, at_strings = at_note + sizeof note,
           at_sections = (at_strings + strings.len + 7) & ~(size_t)7;
    Elf64_Shdr sections[SECTIONS] = {
        [TEXT] = {.sh_type = SHT_PROGBITS,
                  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                  .sh_addr = p->text,
                  .sh_offset = OFFSET,
                  .sh_size = p->size,
                  .sh_addralign = 16},
        [SYMBOLS] = {.sh_type = SHT_SYMTAB,
                     .sh_offset = at_symbols,
                     .sh_size = all_symbols,
                     .sh_link = STRINGS,
                     .sh_info = 1,
                     .sh_addralign = 8,
                     .sh_entsize = sizeof *symbols},
        [STRINGS] = {.sh_type = SHT_STRTAB, .sh_offset = at_strings, .sh_size = strings.len, .sh_addralign = 1},
        [NOTE] = {.sh_type = SHT_NOTE, .sh_offset = at_note, .sh_size = sizeof note, .sh_addralign = 4},
    };
    for (size_t i = 0; i < SECTIONS; i++)
        sections[i].sh_name = name_at[i];
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                       .e_type = ET_EXEC,
                       .e_machine = p->arm ? EM_AARCH64 : EM_X86_64,
                       .e_version = 1,
                       .e_ehsize = sizeof head,
                       .e_phoff = sizeof head,
                       .e_phentsize = sizeof(Elf64_Phdr),
                       .e_phnum = 1,
                       .e_shoff = at_sections,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = p->id ? SECTIONS : NOTE,
                       .e_shstrndx = STRINGS};
    Elf64_Phdr segment = {.p_type = PT_LOAD,
                          .p_flags = PF_R | PF_X,
                          .p_offset = OFFSET,
                          .p_vaddr = p->text,
                          .p_filesz = p->size,
                          .p_memsz = p->size,
                          .p_align = 0x1000};
    elf_put(file, 0, &head, sizeof head);
    elf_put(file, sizeof head, &segment, sizeof segment);
    elf_put(file, OFFSET, p->code, p->size);
    elf_put(file, at_symbols, symbols, all_symbols);
    elf_put(file, at_note, &note, sizeof note);
    elf_put(file, at_strings, strings.bytes, strings.len);
    elf_put(file, at_sections, sections, sizeof sections);
    mem_free(symbols);
    buf_release(&strings);
}

#endif
