/* SPDX-License-Identifier: BSD-3-Clause */
/* The binary as the rest of bloop sees it: bytes by address, symbols, pointers the loader would set. */
#include "bloop/image/image.h"
#include "bloop/image/elf.h"

#include <stdlib.h>

/* ---- sections --------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b, void *sections)
{
    const struct image_section *all = sections;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return order_of(all[i].addr, all[j].addr) ?: order_of(i, j);
}

/* Allocated sections by address. Where two claim the same bytes, the first (by address, then by number) has them. */
static void index_sections(struct image *im, struct warnings *w)
{
    struct image_private *p = im->priv;
    p->by_addr = mem_calloc(im->section_count + 1, sizeof *p->by_addr);
    for (size_t i = 0; i < im->section_count; i++) {
        const struct image_section *s = &im->sections[i];
        if (s->alloc && s->size && s->size <= UINT64_MAX - s->addr)
            p->by_addr[p->by_addr_count++] = (uint32_t)i;
    }
    qsort_r(p->by_addr, p->by_addr_count, sizeof *p->by_addr, by_address, im->sections);
    size_t kept = 0;
    vaddr end = 0;
    for (size_t i = 0; i < p->by_addr_count; i++) {
        const struct image_section *s = &im->sections[p->by_addr[i]];
        if (kept && s->addr < end) {
            warnings_add(w, "%s: section %s overlaps the one before it (at 0x%llx); its bytes are ignored", im->path,
                         s->name, (unsigned long long)s->addr);
            continue;
        }
        p->by_addr[kept++] = p->by_addr[i];
        end = s->addr + s->size;
    }
    p->by_addr_count = kept;
}

static void make_sections(struct image *im, struct warnings *w)
{
    struct elf_file *f = im->priv->file;
    im->sections = mem_calloc(f->section_count + 1, sizeof *im->sections);
    for (size_t i = 1; i < f->section_count; i++) {
        struct elf_section *e = &f->sections[i];
        struct image_section *s = &im->sections[im->section_count];
        bool thread_bss =
            e->flags & SHF_TLS && e->type == SHT_NOBITS; /* takes no addresses: those are the next section's */
        if (e->type == SHT_NULL)
            continue;
        im->section_count++;
        *s = (struct image_section){.name = e->name, .addr = e->addr, .size = e->size};
        s->alloc = e->flags & SHF_ALLOC && !thread_bss;
        s->exec = e->flags & SHF_EXECINSTR;
        s->writable = e->flags & SHF_WRITE;
        if (im->relocatable && s->alloc && elf_section_load(f, e, w)) {
            s->bytes = e->data;
            s->size = e->data_size;
        } else if (!(e->flags & SHF_COMPRESSED) && !e->zdebug)
            s->bytes = e->raw;
    }
}

/* The "addresses" of a relocatable file's undefined symbols: see elf_symbol_address. */
static void add_external(struct image *im)
{
    const struct elf_section *table = elf_section_typed(im->priv->file, SHT_SYMTAB);
    if (!im->relocatable || !table)
        return;
    im->sections[im->section_count++] = (struct image_section){.name = "[external]",
                                                               .addr = im->priv->file->external,
                                                               .size = table->size / sizeof(Elf64_Sym) * 16,
                                                               .alloc = true};
}

void image_forget(const struct image *im)
{
    if (im->priv->file->own_map)
        filemap_forget(&im->priv->file->map);
}

const struct image_section *image_section_at(const struct image *im, vaddr addr)
{
    const struct image_private *p = im->priv;
    size_t low = sorted_front(p->by_addr_count, i, im->sections[p->by_addr[i]].addr <= addr);
    if (low == 0)
        return NULL;
    const struct image_section *s = &im->sections[p->by_addr[low - 1]];
    return addr - s->addr < s->size ? s : NULL;
}

const struct image_section *image_section_named(const struct image *im, const char *name)
{
    for (size_t i = 0; i < im->section_count; i++)
        if (strcmp(im->sections[i].name, name) == 0)
            return &im->sections[i];
    return NULL;
}

const uint8_t *image_bytes(const struct image *im, vaddr addr, size_t *avail)
{
    const struct image_section *s = image_section_at(im, addr);
    *avail = 0;
    if (!s || !s->bytes)
        return NULL;
    *avail = s->size - (addr - s->addr);
    return s->bytes + (addr - s->addr);
}

/* ---- symbols ---------------------------------------------------------------------------- */

static int binding_rank(const struct image_symbol *s)
{
    return s->global ? 0 : s->weak ? 1 : 2;
}

/* Names come from the file and may be megabytes long, a million times the same: compare a bounded part. Ties keep file
 * order. */
#define NAME_COMPARED 1024

static int by_symbol(const void *a, const void *b)
{
    const struct image_symbol *x = a, *y = b;
    return order_of(x->addr, y->addr)
               ?: binding_rank(x) - binding_rank(y)
               ?: (x->name == y->name ? 0 : strncmp(x->name, y->name, NAME_COMPARED))
               ?: x->dynamic - y->dynamic
               ?: order_of(x->size, y->size);
}

struct symbol_list VEC(struct image_symbol);

static void add_symbol(struct image *im, const struct elf_file *f, const struct elf_symbols *syms, size_t i,
                       bool dynamic, uint32_t *source, struct symbol_list *list)
{
    Elf64_Sym s = elf_symbol_get(syms, i);
    if (ELF64_ST_TYPE(s.st_info) == STT_FILE)
        *source = (uint32_t)i;
    unsigned type = ELF64_ST_TYPE(s.st_info), bind = ELF64_ST_BIND(s.st_info);
    const char *name = elf_symbol_name(syms, &s);
    struct image_symbol out = {.size = s.st_size, .name = name, .dynamic = dynamic};
    if (!*name || !elf_symbol_address(f, &s, i, &out.addr))
        return;
    if (type == STT_FUNC)
        out.kind = SYM_FUNC;
    else if (type == STT_GNU_IFUNC_)
        out.kind = SYM_IFUNC;
    else if (type == STT_OBJECT)
        out.kind = SYM_OBJECT;
    else if (type == STT_NOTYPE)
        out.kind = SYM_NOTYPE;
    else
        return;
    if (im->relocatable && s.st_shndx == SHN_UNDEF)
        out.size = 16;
    out.global = bind == STB_GLOBAL || bind == 10 /* STB_GNU_UNIQUE */;
    out.weak = bind == STB_WEAK;
    out.source = bind == STB_LOCAL ? *source : 0;
    *vec_push(list) = out;
}

static void read_table(struct image *im, struct elf_file *f, uint32_t type, struct symbol_list *list,
                       struct warnings *w)
{
    struct elf_symbols syms = elf_symbols_of(f, elf_section_typed(f, type), w);
    uint32_t source = 0;
    vec_reserve(list, list->count + syms.count);
    for (size_t i = 1; i < syms.count; i++)
        add_symbol(im, f, &syms, i, type == SHT_DYNSYM, &source, list);
}

/* "memcpy@@GLIBC_2.14" of .symtab is "memcpy" in .dynsym. */
static bool same_base_name(const char *full, const char *base)
{
    size_t n = strlen(base);
    return strncmp(full, base, n) == 0 && (full[n] == 0 || full[n] == '@');
}

/* Drop what is there twice: equal symbols, and .dynsym's view of a .symtab one. */
static void drop_repeated(struct symbol_list *list)
{
    size_t kept = 0, group = 0; /* group: where the kept ones of this address begin */
    for (size_t i = 0; i < list->count; i++) {
        const struct image_symbol *s = &list->items[i];
        bool repeated = false;
        if (kept && list->items[group].addr != s->addr)
            group = kept;
        /* A bounded look back and forth: thousands of symbols at one address are an attack or a table of labels. */
        for (size_t j = kept; j > group && kept - j < 8 && !repeated; j--)
            repeated =
                list->items[j - 1].name == s->name || (s->dynamic && same_base_name(list->items[j - 1].name, s->name));
        for (size_t j = i + 1;
             s->dynamic && j < list->count && j < i + 8 && list->items[j].addr == s->addr && !repeated; j++)
            repeated = !list->items[j].dynamic && same_base_name(list->items[j].name, s->name);
        if (!repeated)
            list->items[kept++] = *s;
    }
    list->count = kept;
}

static void make_symbols(struct image *im, struct warnings *w)
{
    struct image_private *p = im->priv;
    struct symbol_list list = {0};
    read_table(im, elf_section_typed(p->file, SHT_SYMTAB) || !p->debug_file ? p->file : p->debug_file, SHT_SYMTAB,
               &list, w);
    read_table(im, p->file, SHT_DYNSYM, &list, w);
    sort_items(list.items, list.count, sizeof *list.items, by_symbol);
    drop_repeated(&list);
    im->symbols = list.items;
    im->symbol_count = list.count;
}

/* ---- pointers the loader sets ------------------------------------------------------------ */

static int by_pointer(const void *a, const void *b)
{
    const struct pointer *x = a, *y = b;
    return order_of(x->at, y->at);
}

static int by_slot(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    return order_of(x->at, y->at);
}

static void add_pointer(struct image_private *p, vaddr at, vaddr value)
{
    *vec_push(&p->pointers) = (struct pointer){at, value};
}

/* An ifunc's slot has no symbol in its relocation, only the address of the resolver. */
static const char *resolver_name(const struct image *im, vaddr resolver)
{
    size_t low = sorted_front(im->symbol_count, i, im->symbols[i].addr < resolver);
    return low < im->symbol_count && im->symbols[low].addr == resolver ? im->symbols[low].name : NULL;
}

static void add_relocation(const struct image *im, const struct elf_symbols *syms, const Elf64_Rela *r)
{
    struct image_private *p = im->priv;
    bool x86 = im->arch == ARCH_X86_64;
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
    uint64_t index = ELF64_R_SYM(r->r_info);
    vaddr addend = (vaddr)r->r_addend, value;
    if (type == (x86 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE)) {
        add_pointer(p, r->r_offset, addend);
    } else if (type == (x86 ? R_X86_64_IRELATIVE : R_AARCH64_IRELATIVE)) {
        const char *name = resolver_name(im, addend);
        if (name)
            *vec_push(&p->slots) = (struct slot){r->r_offset, name};
    } else if (index && index < syms->count) {
        bool absolute = type == (x86 ? R_X86_64_64 : R_AARCH64_ABS64);
        if (!absolute && type != (x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT) &&
            type != (x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT))
            return;
        Elf64_Sym s = elf_symbol_get(syms, index);
        if (elf_symbol_address(p->file, &s, index, &value))
            add_pointer(p, r->r_offset, value + (absolute ? addend : 0));
        if (!absolute || addend == 0)
            *vec_push(&p->slots) = (struct slot){r->r_offset, elf_symbol_name(syms, &s)};
    }
}

/* The pointer in the file at addr, no relocation applied. */
static bool stored_pointer(const struct image *im, vaddr addr, vaddr *value)
{
    size_t avail;
    const uint8_t *b = image_bytes(im, addr, &avail);
    if (!b || avail < 8)
        return false;
    struct cursor c = cursor_make(b, 8);
    *value = cursor_u64(&c);
    return true;
}

/* Relative relocations packed as addresses and bit maps (gABI draft, SHT_RELR). */
static void add_relr(const struct image *im, const struct elf_section *s)
{
    struct cursor c = cursor_make(s->raw, s->size);
    vaddr next = 0, value;
    while (cursor_left(&c) >= 8) {
        uint64_t e = cursor_u64(&c);
        if (!(e & 1)) {
            if (stored_pointer(im, e, &value))
                add_pointer(im->priv, e, value);
            next = e + 8;
            continue;
        }
        for (unsigned i = 0; i < 63; i++)
            if (e >> (i + 1) & 1 && stored_pointer(im, next + 8 * i, &value))
                add_pointer(im->priv, next + 8 * i, value);
        next += 63 * 8;
    }
}

static void make_pointers(const struct image *im)
{
    struct image_private *p = im->priv;
    struct elf_file *f = p->file;
    for (size_t i = 1; !im->relocatable && i < f->section_count; i++) {
        const struct elf_section *s = &f->sections[i];
        if (s->type == SHT_RELR && s->raw)
            add_relr(im, s);
        if (s->type != SHT_RELA || !s->raw || !(s->flags & SHF_ALLOC || f->from_segments))
            continue;
        struct elf_symbols syms = elf_symbols_of(f, s->link < f->section_count ? &f->sections[s->link] : NULL, NULL);
        for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= s->size; at += sizeof(Elf64_Rela)) {
            Elf64_Rela r;
            memcpy(&r, s->raw + at, sizeof r);
            add_relocation(im, &syms, &r);
        }
    }
    sort_items(p->pointers.items, p->pointers.count, sizeof *p->pointers.items, by_pointer);
    sort_items(p->slots.items, p->slots.count, sizeof *p->slots.items, by_slot);
}

static void need_pointers(const struct image *im)
{
    struct image_private *p = im->priv;
    if (__atomic_load_n(&p->pointers_ready, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&p->lock);
    if (!p->pointers_ready) {
        make_pointers(im);
        image_forget(im);
        __atomic_store_n(&p->pointers_ready, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&p->lock);
}

bool image_pointer(const struct image *im, vaddr addr, vaddr *value)
{
    const struct image_private *p = im->priv;
    need_pointers(im);
    size_t low = sorted_front(p->pointers.count, i, p->pointers.items[i].at < addr);
    if (low < p->pointers.count && p->pointers.items[low].at == addr) {
        *value = p->pointers.items[low].value;
        return true;
    }
    /* Without a relocation, eight bytes are an address only where addresses are fixed. */
    return !im->position_independent && stored_pointer(im, addr, value);
}

const char *image_slot_name(const struct image *im, vaddr addr)
{
    const struct image_private *p = im->priv;
    need_pointers(im);
    size_t low = sorted_front(p->slots.count, i, p->slots.items[i].at < addr);
    return low < p->slots.count && p->slots.items[low].at == addr && *p->slots.items[low].name
               ? p->slots.items[low].name
               : NULL;
}

/* ---- open and close ------------------------------------------------------------------------ */

static char **copy_dirs(const char *const *dirs)
{
    size_t n = 0;
    while (dirs && dirs[n])
        n++;
    char **copy = mem_calloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = mem_strdup(dirs[i]);
    return copy;
}

static bool has_debug_info(const struct elf_file *f)
{
    const struct elf_section *s = f ? elf_section_named(f, ".debug_info") : NULL;
    return s && s->raw && s->size;
}

static void find_debug_files(struct image_private *p, bool alone, struct warnings *w)
{
    const char *const *dirs = (const char *const *)p->debug_dirs;
    if (!p->file->own_map) /* the vDSO is not a file */
        return;
    if (alone) {
        p->dwarf = has_debug_info(p->file) ? p->file : NULL;
        return;
    }
    if (!has_debug_info(p->file) || !elf_section_typed(p->file, SHT_SYMTAB))
        p->debug_file = debug_file_find(p->file, dirs, w);
    p->dwarf = has_debug_info(p->file) ? p->file : has_debug_info(p->debug_file) ? p->debug_file : NULL;
    if (p->dwarf)
        p->alternate = debug_alt_find(p->dwarf, dirs, w);
}

static int open_image(const char *path, const char *const *debug_dirs, bool alone, struct image **out,
                      struct warnings *w, struct err *err)
{
    struct elf_file *f;
    *out = NULL;
    if (elf_file_open(path, &f, w, err) < 0)
        return -1;
    struct image *im = mem_calloc(1, sizeof *im);
    struct image_private *p = im->priv = mem_calloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    p->file = f;
    p->debug_dirs = copy_dirs(debug_dirs);
    im->arch = f->header.e_machine == EM_X86_64 ? ARCH_X86_64 : ARCH_AARCH64;
    im->relocatable = f->header.e_type == ET_REL;
    im->position_independent = f->header.e_type == ET_DYN;
    im->entry = im->relocatable ? 0 : f->header.e_entry;
    im->path = f->path;
    im->build_id = f->build_id;
    find_debug_files(p, alone, w);
    make_sections(im, w);
    add_external(im);
    index_sections(im, w);
    make_symbols(im, w);
    *out = im;
    return 0;
}

int image_open(const char *path, const char *const *debug_dirs, struct image **out, struct warnings *w, struct err *err)
{
    return open_image(path, debug_dirs, false, out, w, err);
}

int image_open_alone(const char *path, struct image **out, struct warnings *w, struct err *err)
{
    return open_image(path, NULL, true, out, w, err);
}

void image_close(struct image *im)
{
    if (!im)
        return;
    struct image_private *p = im->priv;
    elf_file_close(p->alternate);
    elf_file_close(p->debug_file);
    elf_file_close(p->file);
    for (size_t i = 0; p->debug_dirs[i]; i++)
        mem_free(p->debug_dirs[i]);
    mem_free(p->debug_dirs);
    mem_free(p->by_addr);
    if (p->fdes)
        vec_release(p->fdes);
    mem_free(p->fdes);
    vec_release(&p->pointers);
    vec_release(&p->slots);
    pthread_mutex_destroy(&p->lock);
    mem_free(p);
    mem_free(im->sections);
    mem_free(im->symbols);
    mem_free(im);
}
