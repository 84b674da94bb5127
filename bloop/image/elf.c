/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One ELF file: headers through libelf, every number in them checked against the file before it is
 * used.  Spec: System V gABI 4.1 ch. 4 and 5, with the section compression of its later drafts.
 */
#include "bloop/image/elf.h"

#include <sys/stat.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

static const struct {
    unsigned machine;
    const char *name;
} machines[] = {
    {EM_X86_64, "x86-64"},    {EM_AARCH64, "AArch64"},  {EM_386, "32-bit x86"}, {EM_ARM, "32-bit ARM"},
    {EM_PPC64, "PowerPC 64"}, {EM_PPC, "PowerPC"},      {EM_S390, "IBM Z"},     {EM_RISCV, "RISC-V"},
    {EM_MIPS, "MIPS"},        {EM_SPARCV9, "SPARC V9"}, {EM_IA_64, "Itanium"},  {EM_BPF, "BPF"},
    {EM_CUDA, "NVIDIA CUDA"}, {224, "AMD GPU"},         {258, "LoongArch"},
};

const char *elf_machine_name(unsigned machine)
{
    for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
        if (machines[i].machine == machine)
            return machines[i].name;
    return "an unknown machine";
}

/* ---- is it ours ---- */

static int not_elf(const struct elf_file *f, struct err *err)
{
    struct buf begins = {0};
    for (size_t i = 0; i < f->map.len && i < 8; i++) {
        uint8_t c = f->map.bytes[i];
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\')
            buf_char(&begins, (char)c);
        else
            buf_printf(&begins, "\\x%02x", c);
    }
    err_set(err, ERR_FORMAT, "%s: not an ELF file: it begins with \"%s\"", f->path, begins.bytes);
    buf_release(&begins);
    return -1;
}

static int check_header(struct elf_file *f, struct err *err)
{
    const uint8_t *id = f->map.bytes;
    if (f->map.len == 0)
        return err_set(err, ERR_FORMAT, "%s: the file is empty", f->path);
    if (f->map.len < SELFMAG || memcmp(id, ELFMAG, SELFMAG) != 0)
        return not_elf(f, err);
    if (f->map.len < sizeof f->header && !(f->map.len > EI_DATA && id[EI_CLASS] == ELFCLASS32))
        return err_set(err, ERR_FORMAT, "%s: truncated ELF file: %zu bytes, its header alone has %zu", f->path,
                       f->map.len, sizeof f->header);
    if (id[EI_CLASS] == ELFCLASS32)
        return err_set(err, ERR_UNSUPPORTED, "%s: a 32-bit ELF file; hpcview reads 64-bit ones", f->path);
    if (id[EI_CLASS] != ELFCLASS64)
        return err_set(err, ERR_FORMAT, "%s: ELF class %u is neither 32-bit nor 64-bit", f->path, id[EI_CLASS]);
    if (id[EI_DATA] == ELFDATA2MSB)
        return err_set(err, ERR_UNSUPPORTED, "%s: a big-endian ELF file; hpcview reads little-endian ones", f->path);
    if (id[EI_DATA] != ELFDATA2LSB)
        return err_set(err, ERR_FORMAT, "%s: ELF byte order %u is neither little nor big endian", f->path, id[EI_DATA]);
    memcpy(&f->header, id, sizeof f->header);
    unsigned machine = f->header.e_machine, type = f->header.e_type;
    if (machine != EM_X86_64 && machine != EM_AARCH64)
        return err_set(err, ERR_UNSUPPORTED, "%s: made for %s (ELF machine %u); hpcview reads x86-64 and AArch64",
                       f->path, elf_machine_name(machine), machine);
    if (type == ET_CORE)
        return err_set(err, ERR_UNSUPPORTED, "%s: a core dump, not a program or library", f->path);
    if (type != ET_EXEC && type != ET_DYN && type != ET_REL)
        return err_set(err, ERR_FORMAT, "%s: ELF file type %u is not an executable, shared object or relocatable file",
                       f->path, type);
    return 0;
}

/* ---- headers ---- */

static bool in_file(const struct elf_file *f, uint64_t offset, uint64_t size)
{
    return offset <= f->map.len && size <= f->map.len - offset;
}

/* A string of the section-name table, wholly inside it. */
static const char *section_name(const struct elf_section *names, uint64_t at)
{
    if (!names || !names->raw || at >= names->size || !memchr(names->raw + at, 0, names->size - at))
        return "";
    return (const char *)names->raw + at;
}

static void read_sections(struct elf_file *f, Elf *elf, struct warnings *w)
{
    size_t count = 0, names_index = 0;
    if (f->header.e_shoff == 0)
        return;
    if (elf_getshdrnum(elf, &count) != 0 || count == 0) {
        warnings_add(w,
                     "%s: its section headers (at byte %llu of %zu) lie outside the file or are damaged; its program "
                     "headers are used instead",
                     f->path, (unsigned long long)f->header.e_shoff, f->map.len);
        return;
    }
    if (count > f->map.len / sizeof(Elf64_Shdr))
        count = f->map.len / sizeof(Elf64_Shdr);
    f->sections = mem_calloc(count, sizeof *f->sections);
    f->section_count = count;
    Elf64_Word *name_at = mem_calloc(count, sizeof *name_at);
    size_t outside = 0;
    const char *first_outside = NULL;
    for (size_t i = 1; i < count; i++) {
        GElf_Shdr h;
        struct elf_section *s = &f->sections[i];
        s->name = "";
        Elf_Scn *scn = elf_getscn(elf, i);
        if (!scn || !gelf_getshdr(scn, &h))
            continue;
        s->type = h.sh_type, s->link = h.sh_link, s->info = h.sh_info;
        s->flags = h.sh_flags, s->addr = h.sh_addr, s->offset = h.sh_offset, s->size = h.sh_size,
        s->align = h.sh_addralign;
        name_at[i] = h.sh_name;
        if (s->type != SHT_NOBITS && s->type != SHT_NULL && in_file(f, s->offset, s->size))
            s->raw = f->map.bytes + s->offset;
    }
    if (elf_getshdrstrndx(elf, &names_index) != 0 || names_index >= count)
        names_index = 0;
    f->sections[0].name = "";
    for (size_t i = 1; i < count; i++) {
        struct elf_section *s = &f->sections[i];
        s->name = section_name(&f->sections[names_index], name_at[i]);
        if (str_starts(s->name, ".zdebug_")) {
            s->zdebug = true;
            s->name = mem_printf(".%s", s->name + 2);
        }
        if (s->type != SHT_NOBITS && s->type != SHT_NULL && !s->raw && s->size) {
            first_outside = first_outside ? first_outside : s->name;
            outside++;
        }
    }
    mem_free(name_at);
    if (outside)
        warnings_add(w, "%s: truncated or damaged: %zu of %zu sections (%s first) lie outside the file and are ignored",
                     f->path, outside, count - 1, *first_outside ? first_outside : "one without name");
}

static void read_segments(struct elf_file *f, Elf *elf, struct warnings *w)
{
    size_t count = 0;
    if (f->header.e_phoff == 0 || f->header.e_phnum == 0)
        return;
    if (elf_getphdrnum(elf, &count) != 0 || count == 0 || !in_file(f, f->header.e_phoff, count * sizeof(Elf64_Phdr))) {
        warnings_add(w, "%s: its program headers (at byte %llu) lie outside the file", f->path,
                     (unsigned long long)f->header.e_phoff);
        return;
    }
    f->segments = mem_calloc(count, sizeof *f->segments);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr h;
        if (!gelf_getphdr(elf, (int)i, &h) || h.p_offset > f->map.len)
            continue;
        if (h.p_filesz > f->map.len - h.p_offset)
            h.p_filesz = f->map.len - h.p_offset; /* truncated: the remaining part */
        f->segments[f->segment_count++] = h;
    }
}

/* ---- a file without section headers ---- */

struct dynamic {
    uint64_t symtab, strtab, strsz, hash, gnu_hash, rela, relasz, jmprel, pltrelsz, relr, relrsz;
    uint64_t init, fini, init_array, init_arraysz, fini_array, fini_arraysz;
};

/* File bytes of the segment that holds an address, to the segment's end. */
static const uint8_t *segment_bytes(const struct elf_file *f, vaddr addr, uint64_t *avail)
{
    for (size_t i = 0; i < f->segment_count; i++) {
        const Elf64_Phdr *p = &f->segments[i];
        if (p->p_type == PT_LOAD && addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz) {
            *avail = p->p_filesz - (addr - p->p_vaddr);
            return f->map.bytes + p->p_offset + (addr - p->p_vaddr);
        }
    }
    *avail = 0;
    return NULL;
}

static struct dynamic read_dynamic(const struct elf_file *f)
{
    struct dynamic d = {0};
    for (size_t i = 0; i < f->segment_count; i++) {
        const Elf64_Phdr *p = &f->segments[i];
        if (p->p_type != PT_DYNAMIC)
            continue;
        for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= p->p_filesz; at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn e;
            memcpy(&e, f->map.bytes + p->p_offset + at, sizeof e);
            uint64_t v = e.d_un.d_val;
            switch (e.d_tag) {
            case DT_NULL:
                return d;
            case DT_SYMTAB:
                d.symtab = v;
                break;
            case DT_STRTAB:
                d.strtab = v;
                break;
            case DT_STRSZ:
                d.strsz = v;
                break;
            case DT_HASH:
                d.hash = v;
                break;
            case DT_GNU_HASH:
                d.gnu_hash = v;
                break;
            case DT_RELA:
                d.rela = v;
                break;
            case DT_RELASZ:
                d.relasz = v;
                break;
            case DT_JMPREL:
                d.jmprel = v;
                break;
            case DT_PLTRELSZ:
                d.pltrelsz = v;
                break;
            case 36 /* DT_RELR */:
                d.relr = v;
                break;
            case 35 /* DT_RELRSZ */:
                d.relrsz = v;
                break;
            case DT_INIT:
                d.init = v;
                break;
            case DT_FINI:
                d.fini = v;
                break;
            case DT_INIT_ARRAY:
                d.init_array = v;
                break;
            case DT_INIT_ARRAYSZ:
                d.init_arraysz = v;
                break;
            case DT_FINI_ARRAY:
                d.fini_array = v;
                break;
            case DT_FINI_ARRAYSZ:
                d.fini_arraysz = v;
                break;
            default:
                break;
            }
        }
    }
    return d;
}

/* Only the hash tables have the number of symbols of DT_SYMTAB. */
static uint64_t dynamic_symbol_count(const struct elf_file *f, const struct dynamic *d)
{
    uint64_t avail;
    const uint8_t *p = d->hash ? segment_bytes(f, d->hash, &avail) : NULL;
    if (p && avail >= 8) {
        struct cursor c = cursor_make(p + 4, 4);
        return cursor_u32(&c); /* nchain */
    }
    p = d->gnu_hash ? segment_bytes(f, d->gnu_hash, &avail) : NULL;
    if (!p || avail < 16)
        return 0;
    struct cursor c = cursor_make(p, avail);
    uint32_t buckets = cursor_u32(&c), first = cursor_u32(&c), bloom = cursor_u32(&c), last = 0;
    cursor_u32(&c);
    cursor_bytes(&c, (size_t)bloom * 8);
    for (uint32_t i = 0; i < buckets && !c.bad; i++) {
        uint32_t b = cursor_u32(&c);
        last = b > last ? b : last;
    }
    if (c.bad || last < first)
        return first;
    cursor_bytes(&c, (size_t)(last - first) * 4);
    while (!c.bad && !(cursor_u32(&c) & 1)) /* the chain's last entry has the low bit set */
        last++;
    return (uint64_t)last + 1;
}

static struct elf_section *add_section(struct elf_file *f, const char *name, uint32_t type, uint64_t flags, vaddr addr,
                                       uint64_t size)
{
    struct elf_section *s = &f->sections[f->section_count++];
    uint64_t avail;
    *s = (struct elf_section){.name = name, .type = type, .flags = flags, .addr = addr, .align = 1};
    s->raw = segment_bytes(f, addr, &avail);
    s->size = size < avail ? size : avail;
    return s;
}

/* Sections as the linker would have described them, from program headers and PT_DYNAMIC: enough for functions.c. Only
   PT_LOAD are SHF_ALLOC, so that looking up an address finds the segment; the others are found by name. */
static void sections_from_segments(struct elf_file *f)
{
    static const char *const names[2][8] = {
        {"[data 0]", "[data 1]", "[data 2]", "[data 3]", "[data 4]", "[data 5]", "[data 6]", "[data]"},
        {"[text 0]", "[text 1]", "[text 2]", "[text 3]", "[text 4]", "[text 5]", "[text 6]", "[text]"}};
    mem_free(f->sections);
    f->sections = mem_calloc(f->segment_count + 16, sizeof *f->sections);
    f->sections[0].name = "";
    f->section_count = 1;
    f->from_segments = true;
    size_t loads = 0;
    for (size_t i = 0; i < f->segment_count; i++) {
        const Elf64_Phdr *p = &f->segments[i];
        if (p->p_type == PT_LOAD && p->p_filesz) {
            bool exec = p->p_flags & PF_X;
            struct elf_section *s = &f->sections[f->section_count++];
            *s = (struct elf_section){
                .name = names[exec][loads < 7 ? loads : 7], .type = SHT_PROGBITS, .addr = p->p_vaddr, .align = 1};
            s->flags = SHF_ALLOC | (exec ? SHF_EXECINSTR : 0) | (p->p_flags & PF_W ? SHF_WRITE : 0);
            s->offset = p->p_offset, s->size = p->p_filesz, s->raw = f->map.bytes + p->p_offset;
            loads++;
        }
    }
    for (size_t i = 0; i < f->segment_count; i++) {
        const Elf64_Phdr *p = &f->segments[i];
        uint64_t avail;
        if (p->p_type != PT_GNU_EH_FRAME)
            continue;
        struct elf_section *s = add_section(f, ".eh_frame_hdr", SHT_PROGBITS, 0, p->p_vaddr, p->p_filesz);
        if (s->raw && s->size >= 8 && s->raw[1] == 0x1b) { /* DW_EH_PE_pcrel | sdata4 */
            struct cursor c = cursor_make(s->raw + 4, 4);
            vaddr eh = s->addr + 4 + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
            if (segment_bytes(f, eh, &avail))
                add_section(f, ".eh_frame", SHT_PROGBITS, 0, eh, avail); /* ends by its zero entry */
        }
        break;
    }
    struct dynamic d = read_dynamic(f);
    uint64_t symbols = dynamic_symbol_count(f, &d);
    if (d.symtab && d.strtab && symbols && symbols < f->map.len / sizeof(Elf64_Sym)) {
        add_section(f, ".dynstr", SHT_STRTAB, 0, d.strtab, d.strsz);
        uint32_t strings = (uint32_t)f->section_count - 1;
        add_section(f, ".dynsym", SHT_DYNSYM, 0, d.symtab, symbols * sizeof(Elf64_Sym))->link = strings;
        uint32_t table = (uint32_t)f->section_count - 1;
        if (d.rela)
            add_section(f, ".rela.dyn", SHT_RELA, 0, d.rela, d.relasz)->link = table;
        if (d.jmprel)
            add_section(f, ".rela.plt", SHT_RELA, 0, d.jmprel, d.pltrelsz)->link = table;
    }
    if (d.relr)
        add_section(f, ".relr.dyn", SHT_RELR, 0, d.relr, d.relrsz);
    if (d.init)
        add_section(f, ".init", SHT_PROGBITS, 0, d.init, 1);
    if (d.fini)
        add_section(f, ".fini", SHT_PROGBITS, 0, d.fini, 1);
    if (d.init_array)
        add_section(f, ".init_array", SHT_INIT_ARRAY, 0, d.init_array, d.init_arraysz);
    if (d.fini_array)
        add_section(f, ".fini_array", SHT_FINI_ARRAY, 0, d.fini_array, d.fini_arraysz);
}

/* ---- relocatable files ---- */

/* A .o has no addresses yet: its sections get them one after the other. Not from 0, which means "none" in many places. */
static void lay_out(struct elf_file *f)
{
    vaddr next = 0x1000;
    for (size_t i = 1; i < f->section_count; i++) {
        struct elf_section *s = &f->sections[i];
        if (!(s->flags & SHF_ALLOC)) {
            s->addr = 0;
            continue;
        }
        uint64_t align = s->align > 16 && s->align <= 1 << 20 && (s->align & (s->align - 1)) == 0 ? s->align : 16;
        next = (next + align - 1) & ~(align - 1);
        s->addr = next;
        uint64_t size = s->type == SHT_NOBITS || s->raw ? s->size : 0;
        if (size > (1ull << 46)) /* a .bss that could not be loaded: it gets an address, not its size */
            size = 0;
        next += size;
    }
    f->external = (next + 0xfff) & ~0xfffull;
}

/* ---- build id ---- */

static char *note_build_id(const uint8_t *bytes, size_t size)
{
    struct cursor c = cursor_make(bytes, size);
    while (cursor_left(&c) >= 12) {
        uint32_t name_size = cursor_u32(&c), desc_size = cursor_u32(&c), type = cursor_u32(&c);
        const uint8_t *name = cursor_bytes(&c, ((size_t)name_size + 3) & ~(size_t)3);
        const uint8_t *desc = cursor_bytes(&c, desc_size);
        if (c.bad)
            return NULL;
        if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0 && desc_size > 0 &&
            desc_size <= 64) {
            struct buf hex = {0};
            for (uint32_t i = 0; i < desc_size; i++)
                buf_printf(&hex, "%02x", desc[i]);
            return hex.bytes;
        }
        size_t pad = -(size_t)desc_size & 3;
        cursor_bytes(&c, pad < cursor_left(&c) ? pad : cursor_left(&c));
    }
    return NULL;
}

static void find_build_id(struct elf_file *f)
{
    for (size_t i = 1; i < f->section_count && !f->build_id; i++)
        if (f->sections[i].type == SHT_NOTE && f->sections[i].raw)
            f->build_id = note_build_id(f->sections[i].raw, f->sections[i].size);
    for (size_t i = 0; i < f->segment_count && !f->build_id; i++)
        if (f->segments[i].p_type == PT_NOTE)
            f->build_id = note_build_id(f->map.bytes + f->segments[i].p_offset, f->segments[i].p_filesz);
    if (!f->build_id)
        f->build_id = mem_strdup("");
}

/* ---- open and close ---- */

uint64_t elf_extent(const uint8_t *at)
{
    Elf64_Ehdr h;
    memcpy(&h, at, sizeof h);
    uint64_t end = h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize;
    for (unsigned i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, at + h.e_phoff + (uint64_t)i * sizeof p, sizeof p);
        if (p.p_offset + p.p_filesz > end)
            end = p.p_offset + p.p_filesz;
    }
    return end;
}

/* The kernel's page of code in our own address space. */
static int map_vdso(struct elf_file *f, struct err *err)
{
    const uint8_t *at = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: the kernel hands out an address */
    if (!at)
        return err_set(err, ERR_SYSTEM, "[vdso]: this kernel has none");
    f->map.bytes = at;
    f->map.len = elf_extent(at);
    return 0;
}

/* One would be waited for until somebody writes to it. */
static int refuse_pipe(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
        return err_set(err, ERR_FORMAT, "%s: a pipe; a program, library or object file is expected", path);
    return 0;
}

int elf_file_open(const char *path, struct elf_file **out, struct warnings *w, struct err *err)
{
    struct elf_file *f = mem_calloc(1, sizeof *f);
    Elf *elf = NULL;
    *out = NULL;
    f->path = mem_strdup(path);
    pthread_mutex_init(&f->lock, NULL);
    if (strcmp(path, "[vdso]") == 0) {
        if (map_vdso(f, err) < 0)
            goto fail;
    } else {
        if (refuse_pipe(path, err) < 0 || filemap_open(&f->map, path, err) < 0)
            goto fail;
        f->own_map = true;
    }
    if (check_header(f, err) < 0)
        goto fail;
    elf_version(EV_CURRENT);
    elf = elf_memory((char *)f->map.bytes, f->map.len);
    if (!elf) {
        err_set(err, ERR_FORMAT, "%s: damaged ELF header: %s", path, elf_errmsg(-1));
        goto fail;
    }
    read_segments(f, elf, w);
    read_sections(f, elf, w);
    elf_end(elf);
    if (f->section_count < 2 && f->header.e_type != ET_REL)
        sections_from_segments(f);
    if (f->section_count < 2) {
        err_set(err, ERR_FORMAT,
                "%s: neither sections nor loaded segments lie within the file; it is truncated or damaged", path);
        goto fail;
    }
    if (f->header.e_type == ET_REL)
        lay_out(f);
    find_build_id(f);
    *out = f;
    return 0;
fail:
    elf_file_close(f);
    return -1;
}

void elf_file_close(struct elf_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->section_count; i++) {
        mem_free(f->sections[i].owned);
        if (f->sections[i].zdebug)
            mem_free((char *)f->sections[i].name);
    }
    mem_free(f->sections);
    mem_free(f->segments);
    mem_free(f->build_id);
    if (f->own_map)
        filemap_release(&f->map);
    mem_free(f->path);
    pthread_mutex_destroy(&f->lock);
    mem_free(f);
}

struct elf_section *elf_section_named(const struct elf_file *f, const char *name)
{
    for (size_t i = 1; i < f->section_count; i++)
        if (strcmp(f->sections[i].name, name) == 0)
            return &f->sections[i];
    return NULL;
}

const struct elf_section *elf_section_typed(const struct elf_file *f, uint32_t type)
{
    for (size_t i = 1; f && i < f->section_count; i++)
        if (f->sections[i].type == type && f->sections[i].raw)
            return &f->sections[i];
    return NULL;
}

/* ---- what is in a section ---- */

static bool has_relocations(const struct elf_file *f, size_t target)
{
    if (f->header.e_type != ET_REL)
        return false;
    for (size_t i = 1; i < f->section_count; i++)
        if (f->sections[i].type == SHT_RELA && f->sections[i].info == target && f->sections[i].raw)
            return true;
    return false;
}

static void load(struct elf_file *f, struct elf_section *s, struct warnings *w)
{
    char *what = mem_printf("%s: section %s", f->path, s->name);
    s->data = s->raw;
    s->data_size = s->raw ? s->size : 0;
    if (s->raw && (s->zdebug || s->flags & SHF_COMPRESSED)) {
        s->owned = section_decompress(s, &s->data_size, what, w);
        s->data = s->owned;
    }
    size_t index = (size_t)(s - f->sections);
    if (s->data && has_relocations(f, index)) {
        uint8_t *copy = s->owned;
        if (!copy) {
            copy = mem_alloc(s->data_size ? s->data_size : 1);
            memcpy(copy, s->data, s->data_size);
            s->owned = copy;
            s->data = copy;
        }
        elf_relocate(f, index, copy, s->data_size, w);
    }
    if (!s->data)
        s->data_size = 0;
    mem_free(what);
    s->loaded = true;
}

bool elf_section_load(struct elf_file *f, struct elf_section *s, struct warnings *w)
{
    pthread_mutex_lock(&f->lock);
    if (!s->loaded)
        load(f, s, w);
    pthread_mutex_unlock(&f->lock);
    return s->data != NULL;
}

struct elf_symbols elf_symbols_of(struct elf_file *f, const struct elf_section *table, struct warnings *w)
{
    struct elf_symbols syms = {0};
    if (!table || !table->raw || table->link == 0 || table->link >= f->section_count)
        return syms;
    const struct elf_section *strings = &f->sections[table->link];
    syms.bytes = table->raw;
    syms.count = table->size / sizeof(Elf64_Sym);
    if (!strings->raw) {
        warnings_add(w, "%s: the strings of %s are not in the file: its symbols have no names", f->path, table->name);
        return (struct elf_symbols){0};
    }
    /* A name must end inside the table: bytes after the last NUL are not a name. */
    const uint8_t *last = strings->size ? memrchr(strings->raw, 0, strings->size) : NULL;
    syms.strings = (const char *)strings->raw;
    syms.strings_size = last ? (size_t)(last - strings->raw) + 1 : 0;
    return syms;
}

Elf64_Sym elf_symbol_get(const struct elf_symbols *syms, size_t i)
{
    Elf64_Sym s;
    memcpy(&s, syms->bytes + i * sizeof s, sizeof s);
    return s;
}

const char *elf_symbol_name(const struct elf_symbols *syms, const Elf64_Sym *s)
{
    return s->st_name < syms->strings_size ? syms->strings + s->st_name : "";
}

bool elf_symbol_address(const struct elf_file *f, const Elf64_Sym *s, size_t index, vaddr *addr)
{
    bool relocatable = f->header.e_type == ET_REL;
    if (s->st_shndx == SHN_UNDEF) {
        if (!relocatable || index == 0)
            return false;
        *addr = f->external + index * 16;
        return true;
    }
    if (s->st_shndx == SHN_ABS || s->st_shndx == SHN_COMMON)
        return false;
    *addr = s->st_value;
    if (relocatable) { /* SHN_XINDEX (over 65,279 sections) is not followed: such symbols are left out */
        if (s->st_shndx >= f->section_count)
            return false;
        *addr = f->sections[s->st_shndx].addr + s->st_value;
    }
    return true;
}
