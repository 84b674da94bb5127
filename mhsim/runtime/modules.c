/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files in the address space, from /proc/self/maps and their ELF headers. System calls alone, and all of a file's
 * numbers are checked: it is read inside somebody else's process.
 */
#include "config.h"
#include "mhsim/runtime/modules.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct symbol {
    uint64_t value, size;
    const char *name;
};

/* Beside each row of the modules: its file, while it is mapped, and its data symbols by value. */
static struct loaded {
    const uint8_t *file;
    uint64_t len;
    struct symbol *symbols;
    uint64_t symbol_count, symbol_room;
    bool looked;
} * loaded;

/* ---- the file ------------------------------------------------------------------------ */

static bool map_file(const char *path, struct loaded *l)
{
    struct stat st;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    void *p = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > (off_t)sizeof(Elf64_Ehdr)
                  ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                  : MAP_FAILED;
    syscall(SYS_close, fd);
    if (p == MAP_FAILED)
        return false;
    l->file = p;
    l->len = (uint64_t)st.st_size;
    const Elf64_Ehdr *e = p;
    return memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 && e->e_ident[EI_CLASS] == ELFCLASS64 &&
           e->e_ident[EI_DATA] == ELFDATA2LSB;
}

static const void *part_of(const struct loaded *l, uint64_t at, uint64_t count, uint64_t size)
{
    return at <= l->len && count <= (l->len - at) / size ? l->file + at : NULL;
}

static const Elf64_Phdr *headers_of(const struct loaded *l, unsigned *count)
{
    const Elf64_Ehdr *e = (const void *)l->file;
    *count = e->e_phnum;
    return e->e_phentsize == sizeof(Elf64_Phdr) && e->e_phoff % 8 == 0
               ? part_of(l, e->e_phoff, e->e_phnum, sizeof(Elf64_Phdr))
               : NULL;
}

static void read_build_id(const struct loaded *l, const Elf64_Phdr *h, char *to)
{
    const uint8_t *note = part_of(l, h->p_offset, h->p_filesz, 1);
    for (uint64_t at = 0; note && h->p_filesz - at >= 16;) {
        uint32_t head[3];
        memcpy(head, note + at, sizeof head);
        uint64_t name = (head[0] + 3ull) & ~3ull, size = (head[1] + 3ull) & ~3ull;
        if (name + size > h->p_filesz - at - 12)
            return;
        if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && memcmp(note + at + 12, "GNU", 4) == 0 &&
            head[1] * 2 < RAW_BUILD_ID) {
            for (uint32_t i = 0; i < head[1]; i++)
                snprintf(to + 2 * i, 3, "%02x", note[at + 12 + name + i]);
            return;
        }
        at += 12 + name + size;
    }
}

/* The address of the module, from one of its mappings. */
static bool place_module(const struct loaded *l, uint64_t start, uint64_t offset, struct raw_module *m)
{
    unsigned count;
    const Elf64_Phdr *h = headers_of(l, &count);
    bool found = false;
    uint64_t lo = UINT64_MAX, hi = 0;
    for (unsigned i = 0; h && i < count; i++) {
        if (h[i].p_type == PT_NOTE && !m->build_id[0])
            read_build_id(l, &h[i], m->build_id);
        if (h[i].p_type != PT_LOAD || h[i].p_vaddr + h[i].p_memsz < h[i].p_vaddr)
            continue;
        lo = h[i].p_vaddr < lo ? h[i].p_vaddr : lo;
        hi = h[i].p_vaddr + h[i].p_memsz > hi ? h[i].p_vaddr + h[i].p_memsz : hi;
        if (!found && offset <= h[i].p_offset && h[i].p_offset - offset < 65536) {
            m->bias = start - offset + h[i].p_offset - h[i].p_vaddr;
            found = true;
        }
    }
    m->lo = (lo & ~4095ull) + m->bias;
    m->hi = ((hi + 4095) & ~4095ull) + m->bias;
    return found && m->lo < m->hi;
}

/* ---- the address space ------------------------------------------------------------------ */

static void unmap_file(struct loaded *l)
{
    if (l->file)
        munmap((void *)(uintptr_t)l->file, l->len);
    pages_put(l->symbols, l->symbol_room * sizeof *l->symbols);
    *l = (struct loaded){0};
}

static void add_mapping(struct store *modules, uint64_t start, uint64_t offset, const char *path)
{
    for (uint64_t i = *modules->count; i-- > 0;) {
        const struct raw_module *m = store_get(modules, i);
        if ((start >= m->lo && start < m->hi && strcmp(m->path, path) == 0) ||
            start - (uint64_t)(uintptr_t)loaded[i].file < loaded[i].len) /* mapped by us */
            return;
    }
    struct loaded l = {0};
    struct raw_module found = {0}, *m;
    if (map_file(path, &l) && place_module(&l, start, offset, &found) && (m = mmap_store_add(modules, 1))) {
        *m = found;
        snprintf(m->path, sizeof m->path, "%s", path);
        loaded[*modules->count - 1] = l;
        return;
    }
    unmap_file(&l);
}

static void add_line(struct store *modules, const char *line)
{
    uint64_t start, end, offset;
    int path = 0;
    if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &start, &end, &offset, &path) == 3 && path && line[path] == '/' &&
        strncmp(line + path, "/dev/", 5) != 0)
        add_mapping(modules, start, offset, line + path);
}

void modules_refresh(struct store *modules)
{
    enum { ROOM = 1 << 16 };
    static char text[ROOM + 1];
    size_t have = 0;
    ssize_t n;
    if (!loaded && !(loaded = pages_get(RAW_MODULES_MOST * sizeof *loaded)))
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    while (fd >= 0 && (n = syscall(SYS_read, fd, text + have, ROOM - have)) > 0) {
        char *at = text, *end;
        have += (size_t)n;
        text[have] = '\0';
        for (; (end = strchr(at, '\n')); at = end + 1) {
            *end = '\0';
            add_line(modules, at);
        }
        have = strlen(at);
        memmove(text, at, have);
        if (have == ROOM) /* no line is so long */
            have = 0;
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
}

int64_t modules_find(const struct store *modules, uint64_t address)
{
    for (uint64_t i = *modules->count; i-- > 0;) {
        const struct raw_module *m = store_get(modules, i);
        if (address >= m->lo && address < m->hi)
            return (int64_t)i;
    }
    return -1;
}

void modules_close(void)
{
    for (uint32_t i = 0; loaded && i < RAW_MODULES_MOST && loaded[i].file; i++)
        unmap_file(&loaded[i]);
}

/* ---- data symbols ------------------------------------------------------------------------ */

static void sift_down(struct symbol *s, uint64_t i, uint64_t n)
{
    for (uint64_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && s[child + 1].value > s[child].value;
        if (s[i].value >= s[child].value)
            return;
        struct symbol swap = s[i];
        s[i] = s[child];
        s[child] = swap;
    }
}

/* In place: qsort may take memory from the heap. */
static void sort_symbols(struct symbol *s, uint64_t n)
{
    for (uint64_t i = n / 2; i-- > 0;)
        sift_down(s, i, n);
    for (uint64_t i = n; i-- > 1;) {
        struct symbol swap = s[0];
        s[0] = s[i];
        s[i] = swap;
        sift_down(s, 0, i);
    }
}

static const Elf64_Shdr *symbol_section(const struct loaded *l, const Elf64_Shdr *h, unsigned count)
{
    const Elf64_Shdr *dynamic = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (h[i].sh_type == SHT_SYMTAB)
            return &h[i];
        if (h[i].sh_type == SHT_DYNSYM)
            dynamic = &h[i];
    }
    (void)l;
    return dynamic;
}

static void read_symbols(struct loaded *l)
{
    const Elf64_Ehdr *e = (const void *)l->file;
    const Elf64_Shdr *h =
        e->e_shentsize == sizeof *h && e->e_shoff % 8 == 0 ? part_of(l, e->e_shoff, e->e_shnum, sizeof *h) : NULL;
    const Elf64_Shdr *table = h ? symbol_section(l, h, e->e_shnum) : NULL;
    if (!table || table->sh_link >= e->e_shnum || table->sh_offset % 8)
        return;
    const Elf64_Shdr *names = &h[table->sh_link];
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *sym = part_of(l, table->sh_offset, count, sizeof *sym);
    const char *text = part_of(l, names->sh_offset, names->sh_size, 1);
    if (!sym || !count || !text || !names->sh_size || text[names->sh_size - 1])
        return;
    l->symbol_room = count;
    l->symbols = pages_get(count * sizeof *l->symbols);
    for (uint64_t i = 0; l->symbols && i < count; i++)
        if (ELF64_ST_TYPE(sym[i].st_info) == STT_OBJECT && sym[i].st_shndx != SHN_UNDEF && sym[i].st_size &&
            sym[i].st_name < names->sh_size)
            l->symbols[l->symbol_count++] = (struct symbol){sym[i].st_value, sym[i].st_size, text + sym[i].st_name};
    if (l->symbols)
        sort_symbols(l->symbols, l->symbol_count);
}

bool modules_symbol(const struct store *modules, uint32_t module, uint64_t address, struct data_symbol *d)
{
    const struct raw_module *m = store_get(modules, module);
    struct loaded *l = &loaded[module];
    if (!l->looked)
        read_symbols(l);
    l->looked = true;
    uint64_t at = address - m->bias;
    size_t low = sorted_front(l->symbol_count, i, l->symbols[i].value <= at);
    const struct symbol *s = low ? &l->symbols[low - 1] : NULL;
    d->hi = low < l->symbol_count ? l->symbols[low].value + m->bias : m->hi;
    if (s && at - s->value < s->size) {
        uint64_t end = s->value + s->size + m->bias;
        *d = (struct data_symbol){s->value + m->bias, end < d->hi ? end : d->hi, s->name, low - 1};
        return true;
    }
    d->lo = s ? s->value + s->size + m->bias : m->lo;
    return false;
}
