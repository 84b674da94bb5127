/* SPDX-License-Identifier: BSD-3-Clause */
/* Offsets in a binary's file, link-time addresses, symbols. */
#include "filters/base/image.h"

#include "support/demangle.h"

#include <elf.h>
#include <stdio.h>

static bool read_head(Elf64_Ehdr *head, const void *bytes, size_t len)
{
    if (len < sizeof *head)
        return false;
    memcpy(head, bytes, sizeof *head);
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64 &&
           head->e_ident[EI_DATA] == ELFDATA2LSB;
}

void filter_image_read(struct filter_image *b, const void *bytes, size_t len)
{
    Elf64_Ehdr head;
    bool elf = read_head(&head, bytes, len) && head.e_phentsize == sizeof(Elf64_Phdr);
    b->x86 = elf && head.e_machine == EM_X86_64;
    for (unsigned i = 0; elf && i < head.e_phnum; i++) {
        Elf64_Phdr ph;
        uint64_t at = head.e_phoff + i * sizeof ph;
        if (at > len || len - at < sizeof ph)
            break;
        memcpy(&ph, (const char *)bytes + at, sizeof ph);
        if (ph.p_type == PT_LOAD)
            *vec_push(&b->segments) = (struct filter_image_segment){ph.p_offset, ph.p_filesz, ph.p_vaddr};
    }
}

bool filter_image_linked_at(const struct filter_image *b, uint64_t offset, uint64_t *address)
{
    for (size_t i = 0; i < b->segments.count; i++) {
        const struct filter_image_segment *s = &b->segments.items[i];
        if (offset - s->offset < s->size) {
            *address = offset - s->offset + s->address;
            return true;
        }
    }
    return false;
}

bool filter_image_offset_of(const struct filter_image *b, uint64_t address, uint64_t *offset)
{
    for (size_t i = 0; i < b->segments.count; i++) {
        const struct filter_image_segment *s = &b->segments.items[i];
        if (address - s->address < s->size) {
            *offset = address - s->address + s->offset;
            return true;
        }
    }
    return false;
}

/* ---- symbols -------------------------------------------------------------------------------------------------- */

static bool read_section(Elf64_Shdr *section, const Elf64_Ehdr *head, unsigned i, const char *bytes, size_t len)
{
    uint64_t at = head->e_shoff + i * (uint64_t)sizeof *section;
    if (head->e_shentsize != sizeof *section || at > len || len - at < sizeof *section)
        return false;
    memcpy(section, bytes + at, sizeof *section);
    return section->sh_type != SHT_NOBITS && section->sh_offset <= len && section->sh_size <= len - section->sh_offset;
}

static void add_symbols(struct filter_image *b, const Elf64_Shdr *table, const Elf64_Shdr *texts, const char *bytes)
{
    for (uint64_t at = 0; table->sh_size - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        memcpy(&s, bytes + table->sh_offset + at, sizeof s);
        unsigned type = ELF64_ST_TYPE(s.st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s.st_shndx == SHN_UNDEF || s.st_name >= texts->sh_size)
            continue;
        const char *name = bytes + texts->sh_offset + s.st_name;
        size_t n = strnlen(name, texts->sh_size - s.st_name);
        *vec_push(&b->symbols) = (struct filter_image_symbol){s.st_value, s.st_size, strtab_addn(b->names, name, n)};
    }
}

static int compare_symbols(const void *left, const void *right)
{
    const struct filter_image_symbol *a = left, *b = right;
    return order_of(a->address, b->address);
}

void filter_image_read_symbols(struct filter_image *b, const void *bytes, size_t len)
{
    Elf64_Ehdr head;
    if (!b->names)
        b->names = strtab_create();
    if (!read_head(&head, bytes, len))
        return;
    for (unsigned i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr table, texts;
        if (read_section(&table, &head, i, bytes, len) &&
            (table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) &&
            read_section(&texts, &head, table.sh_link, bytes, len))
            add_symbols(b, &table, &texts, bytes);
    }
    vec_sort(&b->symbols, compare_symbols);
}

/* By its build id, where distributions put it. */
void filter_image_debug_file(const void *bytes, size_t len, char path[128])
{
    enum { NOTE_HEAD = 16, MOST_ID = 32 }; /* head with the name "GNU" */
    Elf64_Ehdr head;
    Elf64_Shdr s;
    *path = '\0';
    for (unsigned i = 0; read_head(&head, bytes, len) && i < head.e_shnum; i++) {
        if (!read_section(&s, &head, i, bytes, len) || s.sh_type != SHT_NOTE || s.sh_size <= NOTE_HEAD)
            continue;
        const unsigned char *note = (const unsigned char *)bytes + s.sh_offset;
        size_t n = s.sh_size - NOTE_HEAD;
        if (note[8] != NT_GNU_BUILD_ID || memcmp(note + 12, "GNU", 4) != 0 || n != note[4] || n > MOST_ID)
            continue;
        char *end = path + sprintf(path, "/usr/lib/debug/.build-id/%02x/", note[NOTE_HEAD]);
        for (size_t k = 1; k < n; k++)
            end += sprintf(end, "%02x", note[NOTE_HEAD + k]);
        strcpy(end, ".debug");
    }
}

/* Ignoring suffixes of compilers' copies of a function ("f.part.0", "f [clone .cold]"), versions ("f@@V1") and
   parameters. */
static size_t name_length(const char *name)
{
    size_t n = strcspn(name, "@.");
    const char *clone = strstr(name, " [clone");
    return clone && (size_t)(clone - name) < n ? (size_t)(clone - name) : n;
}

static bool same_name(const char *link_name, const char *said)
{
    if (strcmp(link_name, said) == 0)
        return true;
    struct arena *arena = arena_create();
    const char *own = demangle_short(arena, demangle_full(arena, link_name));
    said = demangle_short(arena, demangle_full(arena, said));
    size_t n = name_length(own);
    bool same = n == name_length(said) && memcmp(own, said, n) == 0;
    arena_free(arena);
    return same;
}

bool filter_image_has_symbol(const struct filter_image *b, uint64_t address, const char *name, uint64_t offset)
{
    enum { MOST_TRIED = 64 }; /* names of one place, and functions in others */
    size_t n = sorted_front(b->symbols.count, i, b->symbols.items[i].address <= address);
    for (size_t i = n; i-- > 0 && n - i <= MOST_TRIED;) {
        const struct filter_image_symbol *s = &b->symbols.items[i];
        bool holds = address - s->address < s->size || (s->size == 0 && s->address == b->symbols.items[n - 1].address);
        if (holds && (offset == UINT64_MAX || address - s->address == offset) &&
            (!name || same_name(strtab_get(b->names, s->name), name)))
            return true;
    }
    return false;
}

void filter_image_release(struct filter_image *b)
{
    vec_release(&b->symbols);
    strtab_free(b->names);
    vec_release(&b->segments);
}
