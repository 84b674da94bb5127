/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random files, built header by header, compared with a plain reading of the same numbers: sections that are in the
 * file or not, have names or not, share addresses or not; segments without sections; and the choice among several debug
 * files.
 */
#include "config.h"

#include "bloop/binary_test.h"
#include "bloop/image/elf.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <limits.h>

static Elf64_Ehdr usual_header(unsigned type)
{
    return (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                        .e_type = (Elf64_Half)type,
                        .e_machine = EM_X86_64,
                        .e_version = 1,
                        .e_ehsize = sizeof(Elf64_Ehdr),
                        .e_phentsize = sizeof(Elf64_Phdr),
                        .e_shentsize = sizeof(Elf64_Shdr)};
}

static void put_warnings(struct buf *b, const struct warnings *w)
{
    for (size_t i = 0; i < warnings_count(w); i++)
        buf_printf(b, "%s\n", warnings_get(w, i));
}

static bool same_text(struct buf *got, struct buf *wanted)
{
    buf_str(got, "");
    buf_str(wanted, "");
    bool same = strcmp(got->bytes, wanted->bytes) == 0;
    if (!same) {
        size_t i = 0, line = 0;
        for (; got->bytes[i] == wanted->bytes[i]; i++)
            line = got->bytes[i] == '\n' ? i + 1 : line;
        printf("# got    %.*s\n# wanted %.*s\n", (int)strcspn(got->bytes + line, "\n"), got->bytes + line,
               (int)strcspn(wanted->bytes + line, "\n"), wanted->bytes + line);
    }
    buf_release(got);
    buf_release(wanted);
    return same;
}

/* A drawing and a look at it, as often as that is right. */
static void check_rounds(bool (*is_right)(void), int rounds, const char *what)
{
    int right = 0;
    while (right < rounds && is_right())
        right++;
    if (!CHECK_NAMED(right == rounds, what))
        printf("# right %d times\n", right);
}

/* ---- rejected files, with the exact message ---------------------------------------------------------------------- */

static void check_refused(const void *bytes, size_t size, const char *says)
{
    struct elf_file *f;
    struct err err = {0};
    char *path = scratch("refused"), *wanted = mem_printf("%s: %s", path, says);
    write_file("refused", bytes, size);
    CHECK(elf_file_open(path, &f, NULL, &err) == -1 && f == NULL);
    CHECK_STR(err.msg, wanted);
    mem_free(wanted);
    mem_free(path);
}

static void test_refused(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *says;
    } strange[] = {
        {"", 0, "the file is empty"},
        {"\x7f", 1, "not an ELF file: it begins with \"\\x7f\""},
        {"\x7f"
         "EL",
         3, "not an ELF file: it begins with \"\\x7fEL\""},
        {"\x7f"
         "ELf",
         4, "not an ELF file: it begins with \"\\x7fELf\""},
        {"a\"\\ ~\x1f\x80z0", 9, "not an ELF file: it begins with \"a\\x22\\x5c ~\\x1f\\x80z\""},
    };
    static const struct {
        unsigned machine;
        const char *name;
    } machines[] = {{EM_386, "32-bit x86"}, {EM_ARM, "32-bit ARM"},    {EM_PPC64, "PowerPC 64"},
                    {EM_PPC, "PowerPC"},    {EM_S390, "IBM Z"},        {EM_RISCV, "RISC-V"},
                    {EM_MIPS, "MIPS"},      {EM_SPARCV9, "SPARC V9"},  {EM_IA_64, "Itanium"},
                    {EM_BPF, "BPF"},        {EM_CUDA, "NVIDIA CUDA"},  {224, "AMD GPU"},
                    {258, "LoongArch"},     {77, "an unknown machine"}};
    for (size_t i = 0; i < ARRAY_SIZE(strange); i++)
        check_refused(strange[i].bytes, strange[i].size, strange[i].says);
    Elf64_Ehdr h = usual_header(ET_EXEC);
    for (size_t size = 4; size < sizeof h; size++) {
        char *says = mem_printf("truncated ELF file: %zu bytes, its header alone has 64", size);
        check_refused(&h, size, says);
        mem_free(says);
    }
    check_refused(&h, sizeof h, "neither sections nor loaded segments lie within the file; it is truncated or damaged");
    h.e_type = ET_REL;
    check_refused(&h, sizeof h, "neither sections nor loaded segments lie within the file; it is truncated or damaged");
    h.e_type = ET_CORE;
    check_refused(&h, sizeof h, "a core dump, not a program or library");
    h.e_type = ET_NONE;
    check_refused(&h, sizeof h, "ELF file type 0 is not an executable, shared object or relocatable file");
    h = usual_header(ET_DYN);
    for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
        h.e_machine = (Elf64_Half)machines[i].machine;
        char *says = mem_printf("made for %s (ELF machine %u); hpcview reads x86-64 and AArch64", machines[i].name,
                                machines[i].machine);
        check_refused(&h, sizeof h, says);
        mem_free(says);
    }
    h.e_ident[EI_DATA] = ELFDATA2MSB;
    check_refused(&h, sizeof h, "a big-endian ELF file; hpcview reads little-endian ones");
    h.e_ident[EI_DATA] = 0;
    check_refused(&h, sizeof h, "ELF byte order 0 is neither little nor big endian");
    h.e_ident[EI_CLASS] = 3;
    check_refused(&h, sizeof h, "ELF class 3 is neither 32-bit nor 64-bit");
    h.e_ident[EI_CLASS] = ELFCLASS32;
    check_refused(&h, 5, "truncated ELF file: 5 bytes, its header alone has 64");
    check_refused(&h, 6, "a 32-bit ELF file; hpcview reads 64-bit ones");
    check_refused(&h, sizeof h, "a 32-bit ELF file; hpcview reads 64-bit ones");
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

enum { DATA_AT = 64, DATA = 600, MOST = 14, PLACES = 0x1800 };

static const char *const section_names[] = {".text",   ".data", ".zdebug_x", ".zdebug_",
                                            ".zdebug", "",      ".debug_y",  ".symtab"};

struct drawn {
    Elf64_Shdr headers[MOST];
    const char *names[MOST];
    unsigned count, names_at; /* names_at: the section of names; 0: no such section */
    Elf64_Ehdr h;
    size_t size; /* of the file */
    char *path;
};

static bool is_there(const struct drawn *d, const Elf64_Shdr *s)
{
    return s->sh_type != SHT_NULL && s->sh_type != SHT_NOBITS && s->sh_offset <= d->size &&
           s->sh_size <= d->size - s->sh_offset;
}

static void draw_sections(struct drawn *d)
{
    static const uint32_t types[] = {SHT_PROGBITS, SHT_PROGBITS, SHT_NOBITS, SHT_NULL, SHT_STRTAB, SHT_INIT_ARRAY};
    static const unsigned files[] = {ET_EXEC, ET_DYN, ET_REL};
    struct buf names = {0}, file = {0};
    bool unfinished = below(4) == 0;
    *d = (struct drawn){.count = 2 + below(MOST - 2), .h = usual_header(files[below(3)])};
    buf_u8(&names, 0);
    d->names_at = below(8) ? 1 + below(d->count - 1) : 0;
    d->size = DATA_AT + DATA + 256 + d->count * sizeof *d->headers;
    for (unsigned i = 1; i < d->count; i++) {
        Elf64_Shdr *s = &d->headers[i];
        d->names[i] = section_names[below(ARRAY_SIZE(section_names))];
        *s = (Elf64_Shdr){.sh_name = (Elf64_Word)names.len,
                          .sh_type = types[below(ARRAY_SIZE(types))],
                          .sh_addr = 0x1000 + 16 * below(64) + (below(3) ? 0 : below(16)),
                          .sh_offset = DATA_AT + below(DATA / 2),
                          .sh_size = below(DATA / 2),
                          .sh_addralign = below(2) ? 1u << below(9) : below(400)};
        s->sh_flags = (below(4) ? SHF_ALLOC : 0) | (below(2) ? SHF_EXECINSTR : 0) | (below(2) ? SHF_WRITE : 0) |
                      (below(5) == 0 ? SHF_TLS : 0);
        switch (below(12)) {
        case 0: /* to the end of the file, and one more */
            s->sh_size = d->size - s->sh_offset + below(2);
            break;
        case 1:
            s->sh_offset = d->size + below(2);
            s->sh_size = below(2);
            break;
        case 2:
            s->sh_size = UINT64_MAX - below(2);
            break;
        case 3:
            s->sh_size = 0;
            break;
        default:
            break;
        }
        if (below(12) == 0)
            s->sh_name = 100000;
        else
            buf_add(&names, d->names[i], strlen(d->names[i]) + (unfinished && i + 1 == d->count ? 0 : 1));
        if (s->sh_name == 100000 || !d->names_at || (unfinished && i + 1 == d->count))
            d->names[i] = "";
    }
    if (d->names_at)
        d->headers[d->names_at] = (Elf64_Shdr){.sh_name = d->headers[d->names_at].sh_name,
                                               .sh_type = SHT_STRTAB,
                                               .sh_offset = DATA_AT + DATA,
                                               .sh_size = names.len};
    d->h.e_shnum = (Elf64_Half)d->count;
    d->h.e_shstrndx = (Elf64_Half)d->names_at;
    d->h.e_shoff = DATA_AT + DATA + 256;
    buf_add(&file, &d->h, sizeof d->h);
    while (file.len < DATA_AT + DATA)
        buf_u8(&file, (uint8_t)random64());
    buf_add(&file, names.bytes, names.len);
    while (file.len < d->h.e_shoff)
        buf_u8(&file, 'x');
    buf_add(&file, d->headers, d->count * sizeof *d->headers);
    write_file("drawn", file.bytes, file.len);
    buf_release(&file);
    buf_release(&names);
    d->path = scratch("drawn");
}

/* Addresses of a relocatable file: its loaded sections, one after the other. Returns the end of the last one. */
static vaddr lay_out_plainly(struct drawn *d)
{
    vaddr at = 0x1000;
    for (unsigned i = 1; i < d->count; i++) {
        Elf64_Shdr *s = &d->headers[i];
        uint64_t align = 16;
        if (!(s->sh_flags & SHF_ALLOC)) {
            s->sh_addr = 0;
            continue;
        }
        for (uint64_t power = 32; power <= 1 << 20; power *= 2)
            align = s->sh_addralign == power ? power : align;
        while (at % align)
            at++;
        s->sh_addr = at;
        if ((s->sh_type == SHT_NOBITS || is_there(d, s)) && s->sh_size <= 1ull << 46)
            at += s->sh_size;
    }
    return at;
}

static void put_section(struct buf *b, const char *name, uint32_t type, uint64_t flags, vaddr addr, uint64_t size,
                        bool zdebug, long offset)
{
    buf_printf(b, "%s type %u flags %llx at %llx+%llx%s from %ld\n", name, type, (unsigned long long)flags,
               (unsigned long long)addr, (unsigned long long)size, zdebug ? " packed" : "", offset);
}

static void put_wanted_sections(const struct drawn *d, struct buf *b, struct buf *missing)
{
    unsigned outside = 0;
    const char *first = NULL;
    for (unsigned i = 1; i < d->count; i++) {
        const Elf64_Shdr *s = &d->headers[i];
        bool zdebug = str_starts(d->names[i], ".zdebug_");
        char *name = zdebug ? mem_printf(".%s", d->names[i] + 2) : mem_strdup(d->names[i]);
        put_section(b, name, s->sh_type, s->sh_flags, s->sh_addr, s->sh_size, zdebug,
                    is_there(d, s) ? (long)s->sh_offset : -1);
        if (s->sh_type != SHT_NULL && s->sh_type != SHT_NOBITS && s->sh_size && !is_there(d, s) && outside++ == 0) {
            first = d->names[i];
            missing->len = 0;
            buf_str(missing, *first ? name : "one without name");
        }
        mem_free(name);
    }
    if (outside) {
        char *words =
            mem_printf("%s: truncated or damaged: %u of %u sections (%s first) lie outside the file and are ignored\n",
                       d->path, outside, d->count - 1, missing->bytes);
        missing->len = 0;
        buf_str(missing, words);
        mem_free(words);
    }
}

/* Which section has a byte: the first, by address and then by number, of those that do not begin in one that has some. */
static void put_wanted_owners(const struct drawn *d, int *owners, struct buf *missing)
{
    bool done[MOST] = {false};
    vaddr end = 0;
    for (size_t i = 0; i < PLACES; i++)
        owners[i] = -1;
    for (;;) {
        unsigned best = 0;
        for (unsigned i = 1; i < d->count; i++) {
            const Elf64_Shdr *s = &d->headers[i];
            bool thread_bss = s->sh_flags & SHF_TLS && s->sh_type == SHT_NOBITS;
            bool counts = !done[i] && s->sh_type != SHT_NULL && s->sh_flags & SHF_ALLOC && !thread_bss &&
                          s->sh_size > 0 && s->sh_size <= UINT64_MAX - s->sh_addr;
            if (counts && (best == 0 || s->sh_addr < d->headers[best].sh_addr))
                best = i;
        }
        if (best == 0)
            return;
        const Elf64_Shdr *s = &d->headers[best];
        done[best] = true;
        if (s->sh_addr < end) {
            bool zdebug = str_starts(d->names[best], ".zdebug_");
            char *line =
                mem_printf("%s: section %s%s overlaps the one before it (at 0x%llx); its bytes are ignored\n", d->path,
                           zdebug ? "." : "", d->names[best] + (zdebug ? 2 : 0), (unsigned long long)s->sh_addr);
            buf_str(missing, strstr(missing->bytes, line) ? "" : line); /* each line appears once */
            mem_free(line);
            continue;
        }
        end = s->sh_addr + s->sh_size;
        for (vaddr at = s->sh_addr; at < end && at < PLACES; at++)
            owners[at] = (int)best;
    }
}

/* The sections as listed, and the section at each address. */
static bool sections_are_right(void)
{
    static int owners[PLACES];
    struct drawn d;
    struct elf_file *f = NULL;
    struct image *im = NULL;
    struct err err = {0};
    struct warnings *w = warnings_create();
    struct buf got = {0}, wanted = {0}, missing = {0};
    draw_sections(&d);
    bool rel = d.h.e_type == ET_REL, right = elf_file_open(d.path, &f, NULL, &err) == 0;
    vaddr end = rel ? lay_out_plainly(&d) : 0;
    buf_str(&missing, "");
    put_wanted_sections(&d, &wanted, &missing);
    for (size_t i = 1; right && i < f->section_count; i++) {
        const struct elf_section *s = &f->sections[i];
        put_section(&got, s->name, s->type, s->flags, s->addr, s->size, s->zdebug,
                    s->raw ? (long)(s->raw - f->map.bytes) : -1);
    }
    right = right && (!rel || (f->external >= end && f->external < end + 0x1000 && f->external % 0x1000 == 0));
    for (unsigned i = 1; right && i < d.count; i++) { /* of a name the first */
        const struct elf_section *first = elf_section_named(f, f->sections[i].name);
        const struct elf_section *typed = elf_section_typed(f, f->sections[i].type);
        unsigned k = 1, t = 1;
        while (strcmp(f->sections[k].name, f->sections[i].name) != 0)
            k++;
        while (t < d.count && (f->sections[t].type != f->sections[i].type || !f->sections[t].raw))
            t++;
        right = first == &f->sections[k] && typed == (t < d.count ? &f->sections[t] : NULL);
    }
    elf_file_close(f);
    if (!rel && image_open_alone(d.path, &im, w, &err) == 0) {
        put_wanted_owners(&d, owners, &missing);
        for (vaddr at = 0; at < PLACES; at++) {
            size_t left = 1;
            const struct image_section *s = image_section_at(im, at);
            const uint8_t *bytes = image_bytes(im, at, &left);
            const Elf64_Shdr *h = owners[at] > 0 ? &d.headers[owners[at]] : NULL;
            bool packed = h && str_starts(d.names[owners[at]], ".zdebug_"), has = h && is_there(&d, h) && !packed;
            right = right && !s == !h &&
                    (!h || (s->addr == h->sh_addr && s->size == h->sh_size && s->alloc &&
                            s->exec == ((h->sh_flags & SHF_EXECINSTR) != 0) &&
                            s->writable == ((h->sh_flags & SHF_WRITE) != 0)));
            right = right && !bytes == !has && left == (has ? h->sh_addr + h->sh_size - at : 0);
        }
        size_t shown = 0; /* sections without a type are skipped */
        for (unsigned i = 1; i < d.count; i++)
            shown += d.headers[i].sh_type != SHT_NULL;
        right = right && im->section_count == shown && im->position_independent == (d.h.e_type == ET_DYN);
        struct buf said = {0};
        put_warnings(&said, w);
        right = same_text(&said, &missing) && right;
    }
    image_close(im);
    right = same_text(&got, &wanted) && right;
    buf_release(&missing);
    warnings_free(w);
    mem_free(d.path);
    return right;
}

/* ---- segments without sections ----------------------------------------------------------------------------------- */

enum { BASE = 0x40000, LOADS = 10, IMAGE = 0x2000, NUMBERS = 16 };

/* Random entries of PT_DYNAMIC; each number is random, or 0 if the entry is missing. */
static const struct {
    int64_t tag;
    const char *section; /* the resulting section; NULL: a size, or more entries are required */
    uint32_t type;
    int64_t size_tag; /* 0: it is one byte */
} numbers[] = {{DT_RELA, ".rela.dyn", SHT_RELA, DT_RELASZ},
               {DT_JMPREL, ".rela.plt", SHT_RELA, DT_PLTRELSZ},
               {36, ".relr.dyn", 19, 35},
               {DT_INIT, ".init", SHT_PROGBITS, 0},
               {DT_FINI, ".fini", SHT_PROGBITS, 0},
               {DT_INIT_ARRAY, ".init_array", SHT_INIT_ARRAY, DT_INIT_ARRAYSZ},
               {DT_FINI_ARRAY, ".fini_array", SHT_FINI_ARRAY, DT_FINI_ARRAYSZ}};

struct drawn_segments {
    uint8_t bytes[IMAGE];
    Elf64_Phdr loads[LOADS];
    unsigned load_count;
};

/* Remaining length of the segment that contains the address; -1: no segment does. */
static long at_address(const struct drawn_segments *d, vaddr addr, uint64_t *left)
{
    for (unsigned i = 0; i < d->load_count; i++) {
        const Elf64_Phdr *p = &d->loads[i];
        if (p->p_type == PT_LOAD && addr >= p->p_vaddr && addr < p->p_vaddr + p->p_filesz) {
            *left = p->p_vaddr + p->p_filesz - addr;
            return (long)(p->p_offset + (addr - p->p_vaddr));
        }
    }
    *left = 0;
    return -1;
}

static void want_section(const struct drawn_segments *d, struct buf *b, const char *name, uint32_t type, vaddr addr,
                         uint64_t size)
{
    uint64_t left;
    long offset = at_address(d, addr, &left);
    put_section(b, name, type, 0, addr, size < left ? size : left, false, offset);
}

/* A hash table that gives the number of symbols; 0: it does not. */
static uint64_t put_hash(struct drawn_segments *d, size_t at, bool gnu)
{
    struct buf b = {0};
    uint32_t count = 1 + below(20), first = below(count + 1), buckets = 1 + below(4), bloom = below(3);
    if (!gnu) {
        buf_u32(&b, buckets);
        buf_u32(&b, count);
    } else {
        buf_u32(&b, buckets);
        buf_u32(&b, first);
        buf_u32(&b, bloom);
        buf_u32(&b, 6);
        for (unsigned i = 0; i < bloom; i++)
            buf_u64(&b, random64());
        /* the chain of the last symbols is the one of the bucket that begins last */
        uint32_t begin = first + (count > first ? below(count - first) : 0), which = below(buckets);
        for (unsigned i = 0; i < buckets; i++)
            buf_u32(&b, count == first ? 0 : i == which ? begin : below(2) ? 0 : first + below(begin - first + 1));
        for (uint32_t i = first; i < count; i++)
            buf_u32(&b, (uint32_t)random64() << 1 | (i + 1 == count || (i < begin && below(3) == 0)));
    }
    memcpy(d->bytes + at, b.bytes, b.len);
    buf_release(&b);
    return count;
}

static vaddr some_place(void)
{
    return below(8) ? BASE + 0x400 + below(IMAGE - 0x400) : below(2) ? BASE + IMAGE + below(16) : 16 + below(16);
}

enum { DYNAMIC = 0x400, SYSV = 0x700, GNU = 0x900, HEADER = 0x380 }; /* where in the file */

/* The whole file in segments, from BASE on; the first contains the tables below. */
static void draw_loads(struct drawn_segments *d)
{
    d->load_count = 1 + below(LOADS);
    for (size_t i = 0; i < IMAGE; i++)
        d->bytes[i] = (uint8_t)random64();
    uint64_t from = 0, most = d->load_count > 1 ? 0x1000 : IMAGE;
    for (unsigned i = 0; i < d->load_count; i++) {
        uint64_t to = i + 1 == d->load_count ? IMAGE : i == 0 ? most : from + below((uint32_t)(IMAGE - from) / 2 + 1);
        d->loads[i] = (Elf64_Phdr){.p_type = i > 0 && below(6) == 0 ? PT_NULL : PT_LOAD,
                                   .p_flags = below(8),
                                   .p_offset = from,
                                   .p_vaddr = BASE + from,
                                   .p_filesz = to - from,
                                   .p_memsz = to - from + below(100)};
        from = to;
    }
}

static void want_loads(const struct drawn_segments *d, struct buf *wanted)
{
    unsigned shown = 0;
    for (unsigned i = 0; i < d->load_count; i++) {
        const Elf64_Phdr *p = &d->loads[i];
        char name[16] = "[text]";
        if (p->p_type != PT_LOAD || !p->p_filesz)
            continue;
        if (shown < 7)
            snprintf(name, sizeof name, "[text %u]", shown);
        if (!(p->p_flags & PF_X))
            memcpy(name + 1, "data", 4);
        put_section(wanted, name, SHT_PROGBITS,
                    SHF_ALLOC | (p->p_flags & PF_X ? SHF_EXECINSTR : 0) | (p->p_flags & PF_W ? SHF_WRITE : 0),
                    p->p_vaddr, p->p_filesz, false, (long)p->p_offset);
        shown++;
    }
}

/* .eh_frame_hdr: where .eh_frame is, from its 5th byte on. */
static void draw_frames(struct drawn_segments *d, struct buf *wanted, Elf64_Phdr *all, unsigned *count)
{
    bool usual = below(4) > 0, cut = below(8) == 0;
    int32_t distance = (int32_t)(below(0x3000)) - 0x400;
    d->bytes[HEADER + 1] = usual ? 0x1b : 0x3b;
    memcpy(d->bytes + HEADER + 4, &distance, 4);
    all[(*count)++] = (Elf64_Phdr){
        .p_type = PT_GNU_EH_FRAME, .p_offset = HEADER, .p_vaddr = BASE + HEADER, .p_filesz = cut ? 7 : 8 + below(9)};
    want_section(d, wanted, ".eh_frame_hdr", SHT_PROGBITS, BASE + HEADER, all[*count - 1].p_filesz);
    uint64_t left;
    vaddr frames = BASE + HEADER + 4 + (vaddr)(int64_t)distance;
    if (usual && !cut && at_address(d, frames, &left) >= 0)
        want_section(d, wanted, ".eh_frame", SHT_PROGBITS, frames, left);
    if (below(3) == 0) /* one more than the limit */
        all[(*count)++] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME, .p_vaddr = BASE + 16, .p_filesz = 12};
}

static void draw_dynamic(struct drawn_segments *d, struct buf *wanted, Elf64_Phdr *all, unsigned *count)
{
    struct buf dynamic = {0};
    uint64_t value[ARRAY_SIZE(numbers)] = {0}, size[ARRAY_SIZE(numbers)] = {0}, symbols = 0;
    vaddr strings = 0, table = 0, string_size = below(0x1000);
    bool sysv = below(2), gnu = below(2);
    if (gnu)
        symbols = put_hash(d, GNU, true);
    if (sysv)
        symbols = put_hash(d, SYSV, false);
    if (below(8))
        strings = some_place();
    if (below(8))
        table = some_place();
    const uint64_t fixed[][2] = {{DT_HASH, sysv ? BASE + SYSV : 0},
                                 {DT_GNU_HASH, gnu ? BASE + GNU : 0},
                                 {DT_STRTAB, strings},
                                 {DT_SYMTAB, table},
                                 {DT_STRSZ, string_size}};
    for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
        if (fixed[i][1]) {
            buf_u64(&dynamic, fixed[i][0]);
            buf_u64(&dynamic, fixed[i][1]);
        }
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        if (below(3)) {
            value[i] = some_place();
            size[i] = numbers[i].size_tag ? below(0x400) : 1;
            buf_u64(&dynamic, (uint64_t)numbers[i].tag);
            buf_u64(&dynamic, value[i]);
            buf_u64(&dynamic, (uint64_t)(numbers[i].size_tag ? numbers[i].size_tag : DT_FLAGS));
            buf_u64(&dynamic, size[i]);
        }
    size_t entries = dynamic.len;
    if (below(2)) { /* the terminator; later entries are ignored */
        buf_u64(&dynamic, DT_NULL);
        buf_u64(&dynamic, 0);
        buf_u64(&dynamic, DT_INIT);
        buf_u64(&dynamic, BASE + 77);
        entries = dynamic.len;
    }
    memcpy(d->bytes + DYNAMIC, dynamic.bytes, dynamic.len);
    if (below(8))
        all[(*count)++] = (Elf64_Phdr){
            .p_type = PT_DYNAMIC, .p_offset = DYNAMIC, .p_vaddr = BASE + DYNAMIC, .p_filesz = entries + below(16)};
    else
        symbols = strings = table = 0, memset(value, 0, sizeof value);
    buf_release(&dynamic);
    bool named = symbols && strings && table;
    if (named) {
        want_section(d, wanted, ".dynstr", SHT_STRTAB, strings, string_size);
        want_section(d, wanted, ".dynsym", SHT_DYNSYM, table, symbols * sizeof(Elf64_Sym));
    }
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        if (value[i] && (named || numbers[i].type != SHT_RELA))
            want_section(d, wanted, numbers[i].section, numbers[i].type, value[i], size[i]);
}

static bool segments_are_right(void)
{
    static struct drawn_segments d;
    struct buf got = {0}, wanted = {0};
    Elf64_Phdr all[LOADS + 4];
    unsigned count = 0;
    Elf64_Ehdr h = usual_header(ET_DYN);
    draw_loads(&d);
    want_loads(&d, &wanted);
    if (below(2))
        draw_frames(&d, &wanted, all, &count);
    draw_dynamic(&d, &wanted, all, &count);
    for (unsigned i = 0; i < d.load_count; i++)
        all[count++] = d.loads[i];
    h.e_phoff = sizeof h;
    h.e_phnum = (Elf64_Half)count;
    memcpy(d.bytes, &h, sizeof h);
    memcpy(d.bytes + sizeof h, all, count * sizeof *all);
    write_file("segments", d.bytes, IMAGE);
    char *path = scratch("segments");
    struct elf_file *f = NULL;
    struct warnings *w = warnings_create();
    struct err err = {0};
    bool right = elf_file_open(path, &f, w, &err) == 0 && f->from_segments;
    unsigned dynsym = 0, dynstr = 0;
    for (unsigned i = 1; right && i < f->section_count; i++) {
        const struct elf_section *s = &f->sections[i];
        put_section(&got, s->name, s->type, s->flags, s->addr, s->size, s->zdebug,
                    s->raw ? (long)(s->raw - f->map.bytes) : -1);
        dynsym = s->type == SHT_DYNSYM ? i : dynsym;
        dynstr = s->type == SHT_STRTAB ? i : dynstr;
        right = s->link == (s->type == SHT_DYNSYM ? dynstr : s->type == SHT_RELA ? dynsym : 0);
    }
    right = same_text(&got, &wanted) && right && warnings_count(w) == 0;
    elf_file_close(f);
    warnings_free(w);
    mem_free(path);
    return right;
}

static void test_extent(void)
{
    static const struct {
        uint64_t sections_at, segments[3][2], wanted;
    } cases[] = {{1000, {{0, 900}, {100, 1028}, {0, 0}}, 1000 + 2 * 64},
                 {1000, {{0, 900}, {100, 1029}, {0, 1128}}, 1129},
                 {0, {{500, 1}, {7, 2000}, {9, 100}}, 2007},
                 {0, {{0, 0}, {0, 0}, {500, 0}}, 500}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf b = {0};
        Elf64_Ehdr h = usual_header(ET_DYN);
        h.e_shoff = cases[i].sections_at;
        h.e_shnum = 2;
        h.e_phoff = sizeof h + 8;
        h.e_phnum = 3;
        buf_add(&b, &h, sizeof h);
        buf_u64(&b, UINT64_MAX);
        for (int k = 0; k < 3; k++) {
            Elf64_Phdr p = {.p_offset = cases[i].segments[k][0], .p_filesz = cases[i].segments[k][1]};
            buf_add(&b, &p, sizeof p);
        }
        CHECK_INT(elf_extent((const uint8_t *)b.bytes), cases[i].wanted);
        buf_release(&b);
    }
}

/* ---- debug files ------------------------------------------------------------------------------------------------- */

enum { NO_FILE, FOLDER, NO_ELF, STRANGE_MACHINE, WITH_ID, OTHER_ID, NO_ID, ITSELF, STATES };

static char *folder; /* of all files, without links in its path */

struct drawn_place {
    char *path;
    unsigned state; /* of the file at that path */
};

struct drawn_search {
    struct buf id; /* in hex; "": no build id */
    struct buf files[STATES];
    struct drawn_place places[12];
    size_t count, by_id; /* number of candidates by build id, which come first */
    const char *binary;
};

static void put_part(struct buf *file, Elf64_Shdr *h, uint32_t type, const void *bytes, size_t n)
{
    while (file->len % 8)
        buf_u8(file, 0);
    h->sh_type = type;
    h->sh_offset = file->len;
    h->sh_size = n;
    buf_add(file, n ? bytes : "", n);
}

/* With a build id and a debug link; `words` change the contents of the file. */
static struct buf make_file(unsigned machine, const struct buf *id, const char *link, const struct buf *linked,
                            const char *words)
{
    struct buf b = {0}, note = {0};
    Elf64_Shdr sections[5] = {{0}};
    Elf64_Ehdr h = usual_header(ET_DYN);
    char names[64] = "\0.note\0.words\0";
    h.e_machine = (Elf64_Half)machine;
    h.e_shnum = 5;
    h.e_shstrndx = 1;
    buf_add(&b, &h, sizeof h);
    memcpy(names + 14, link, strlen(link));
    put_part(&b, &sections[1], SHT_STRTAB, names, sizeof names);
    sections[2].sh_name = 1;
    if (id->len) {
        buf_u32(&note, 4);
        buf_u32(&note, (uint32_t)id->len / 2);
        buf_u32(&note, NT_GNU_BUILD_ID);
        buf_add(&note, "GNU", 4);
        for (size_t i = 0; i < id->len; i += 2) {
            unsigned byte;
            sscanf(id->bytes + i, "%2x", &byte);
            buf_u8(&note, (uint8_t)byte);
        }
    }
    put_part(&b, &sections[2], SHT_NOTE, note.bytes, note.len);
    sections[3].sh_name = 7;
    put_part(&b, &sections[3], SHT_PROGBITS, words, strlen(words));
    sections[4].sh_name = 14;
    put_part(&b, &sections[4], linked->len ? SHT_PROGBITS : SHT_NULL, linked->bytes, linked->len);
    while (b.len % 8)
        buf_u8(&b, 0);
    h.e_shoff = b.len;
    buf_add(&b, sections, sizeof sections);
    memcpy(b.bytes, &h, sizeof h);
    buf_release(&note);
    return b;
}

static void draw_id(struct buf *id, unsigned bytes)
{
    id->len = 0;
    buf_str(id, "");
    for (unsigned i = 0; i < bytes; i++)
        buf_printf(id, "%02x", below(256));
}

/* Creates the file and its parent folders. */
static void put_file(const struct drawn_search *s, const struct drawn_place *place)
{
    for (char *slash = strchr(place->path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(place->path, 0700);
        *slash = '/';
    }
    if (place->state == FOLDER)
        mkdir(place->path, 0700);
    if (place->state <= FOLDER)
        return;
    FILE *f = fopen(place->path, "wb");
    if (!f || fwrite(s->files[place->state].bytes, 1, s->files[place->state].len, f) != s->files[place->state].len ||
        fclose(f) != 0)
        exit(99);
}

static void add_place(struct drawn_search *s, char *path)
{
    unsigned state = below(3) ? NO_FILE : below(STATES);
    s->places[s->count++] = (struct drawn_place){path, state};
}

static struct drawn_search begin_search(const char *binary, unsigned id_bytes)
{
    struct drawn_search s = {.binary = binary};
    struct buf other = {0}, none = {0};
    draw_id(&s.id, id_bytes);
    draw_id(&other, 20);
    s.files[WITH_ID] = make_file(EM_X86_64, &s.id, "", &none, "with");
    s.files[OTHER_ID] = make_file(EM_X86_64, &other, "", &none, "other");
    s.files[NO_ID] = make_file(EM_X86_64, &none, "", &none, "without");
    s.files[STRANGE_MACHINE] = make_file(EM_AARCH64, &s.id, "", &none, "strange");
    buf_str(&s.files[NO_ELF], "nothing of that kind");
    buf_release(&other);
    return s;
}

static void end_search(struct drawn_search *s)
{
    buf_release(&s->id);
    for (size_t i = 0; i < STATES; i++)
        buf_release(&s->files[i]);
    for (size_t i = 0; i < s->count; i++) {
        remove(s->places[i].path);
        mem_free(s->places[i].path);
    }
}

/* Is it a readable file for this machine? If not, the message. */
static bool is_file(const struct drawn_search *s, const struct drawn_place *p, struct buf *said)
{
    if (p->state == NO_ELF)
        buf_printf(said, "%s: not an ELF file: it begins with \"nothing \" (searched for a debug file of %s)\n",
                   p->path, s->binary);
    if (p->state == STRANGE_MACHINE)
        buf_printf(said, "%s: made for AArch64, so it is not the debug file of %s\n", p->path, s->binary);
    return p->state > STRANGE_MACHINE;
}

static void put_hex_of(struct buf *b, const struct buf *file, const char *none)
{
    struct cursor c = cursor_make(file->bytes, file->len); /* the note follows the header and the names */
    cursor_bytes(&c, sizeof(Elf64_Ehdr) + 64 + 4);
    uint32_t size = cursor_u32(&c);
    cursor_bytes(&c, 8);
    if (file->len < 400 || size == 0 || size > 20) {
        buf_str(b, none);
        return;
    }
    for (uint32_t i = 0; i < size; i++)
        buf_printf(b, "%02x", cursor_u8(&c));
}

/* The candidate by build id that is chosen; count: none. */
static size_t wanted_by_id(const struct drawn_search *s, struct buf *said)
{
    for (size_t i = 0; i < s->by_id; i++) {
        const struct drawn_place *p = &s->places[i];
        if (!is_file(s, p, said))
            continue;
        if (p->state == WITH_ID || p->state == ITSELF)
            return i;
        buf_printf(said, "%s: has build id ", p->path);
        if (p->state == OTHER_ID)
            put_hex_of(said, &s->files[OTHER_ID], "none");
        else
            buf_str(said, "none");
        buf_printf(said, ", not that of %s (%s); it is not used\n", s->binary, s->id.bytes);
    }
    return s->count;
}

/* Those of a link: with the id, or the checksum that the link has. */
static size_t wanted_by_link(const struct drawn_search *s, unsigned crc_of, uint32_t crc, struct buf *said)
{
    for (size_t i = s->by_id; i < s->count; i++) {
        const struct drawn_place *p = &s->places[i];
        if (!is_file(s, p, said) || p->state == ITSELF)
            continue;
        if (p->state == crc_of || (p->state == WITH_ID && s->id.len))
            return i;
        buf_printf(said,
                   "%s: its checksum is %08x, but %s requires %08x: the debug file of another build; it is not used\n",
                   p->path, crc32_bytes(0, s->files[p->state].bytes, s->files[p->state].len), s->binary, crc);
    }
    return s->count;
}

static bool found_is_right(const struct drawn_search *s, size_t wanted, struct elf_file *found, struct warnings *w,
                           struct buf *said)
{
    struct buf got = {0}, lines = {0};
    buf_printf(&got, "found %s\n", found ? found->path : "none");
    put_warnings(&got, w);
    buf_printf(&lines, "found %s\n%s", wanted < s->count ? s->places[wanted].path : "none", said->bytes);
    buf_release(said);
    return same_text(&got, &lines);
}

static bool debug_file_is_right(void)
{
    static const char *const names[] = {"prog.debug", "a", "four", "b.dbg"};
    char *binary = path_join(folder, "bin/prog"), *dir[] = {path_join(folder, "one"), path_join(folder, "two")};
    const char *name = names[below(4)], *dirs[3] = {NULL};
    struct drawn_search s = begin_search(binary, (unsigned[]){0, 1, 2, 20}[below(4)]);
    struct buf link = {0}, said = {0};
    size_t dir_count = below(3);
    for (size_t i = 0; i < dir_count; i++)
        dirs[i] = dir[i];
    for (size_t i = 0; i < dir_count && s.id.len > 2; i++) {
        add_place(&s, mem_printf("%s/.build-id/%.2s/%s.debug", dir[i], s.id.bytes, s.id.bytes + 2));
        add_place(&s, mem_printf("%s/%s/debuginfo", dir[i], s.id.bytes));
    }
    s.by_id = s.count;
    unsigned crc_of = (unsigned[]){WITH_ID, OTHER_ID, NO_ID, NO_FILE}[below(4)];
    uint32_t crc = crc_of ? crc32_bytes(0, s.files[crc_of].bytes, s.files[crc_of].len) : 77;
    if (below(5)) {
        buf_add(&link, name, strlen(name) + 1);
        while (link.len % 4)
            buf_u8(&link, 0);
        buf_u32(&link, crc);
        add_place(&s, mem_printf("%s/bin/%s", folder, name));
        add_place(&s, mem_printf("%s/bin/.debug/%s", folder, name));
        for (size_t i = 0; i < dir_count; i++) {
            add_place(&s, mem_printf("%s%s/bin/%s", dir[i], folder, name));
            add_place(&s, mem_printf("%s/%s", dir[i], name));
        }
    }
    s.files[ITSELF] = make_file(EM_X86_64, &s.id, ".gnu_debuglink", &link, "binary");
    struct drawn_place itself = {binary, ITSELF};
    put_file(&s, &itself);
    for (size_t i = 0; i < s.count; i++)
        put_file(&s, &s.places[i]);
    buf_str(&said, "");
    size_t wanted = wanted_by_id(&s, &said);
    if (wanted == s.count || s.places[wanted].state == ITSELF)
        wanted = wanted_by_link(&s, crc_of, crc, &said);
    struct elf_file *f = NULL, *found = NULL;
    struct warnings *w = warnings_create();
    bool right = elf_file_open(binary, &f, w, NULL) == 0;
    if (right) {
        found = debug_file_find(f, below(2) || dir_count ? dirs : NULL, w);
        right = found_is_right(&s, wanted, found, w, &said);
    }
    elf_file_close(found);
    elf_file_close(f);
    warnings_free(w);
    buf_release(&link);
    end_search(&s);
    mem_free(binary);
    mem_free(dir[0]);
    mem_free(dir[1]);
    return right;
}

/* dwz's: named from the binary's folder, or by build id. */
static bool shared_file_is_right(void)
{
    static const char *const names[] = {"../shared/z", "z", "%s/abs/z"};
    char *binary = path_join(folder, "bin/prog"), *dir[] = {path_join(folder, "one"), path_join(folder, "two")};
    const char *dirs[] = {dir[0], dir[1], NULL};
    struct drawn_search s = begin_search(binary, (unsigned[]){1, 2, 20, 20}[below(4)]);
    struct buf link = {0}, said = {0}, none = {0};
    unsigned kind = below(3);
    char *name = kind == 2 ? mem_printf("%s/abs/z", folder) : mem_strdup(names[kind]);
    char *in_bin = path_join(folder, "bin"), *named = path_join(in_bin, name);
    buf_add(&link, name, strlen(name) + 1);
    for (size_t i = 0; i < s.id.len; i += 2) {
        unsigned byte;
        sscanf(s.id.bytes + i, "%2x", &byte);
        buf_u8(&link, (uint8_t)byte);
    }
    for (size_t i = 0; i < 2 && s.id.len > 2; i++) {
        add_place(&s, mem_printf("%s/.build-id/%.2s/%s.debug", dir[i], s.id.bytes, s.id.bytes + 2));
        add_place(&s, mem_printf("%s/%s/debuginfo", dir[i], s.id.bytes));
    }
    s.by_id = s.count;
    add_place(&s, mem_strdup(named));
    s.files[ITSELF] = make_file(EM_X86_64, &none, ".gnu_debugaltlink", &link, "binary");
    for (size_t i = 0; i < s.count; i++)
        s.places[i].state = s.places[i].state == ITSELF ? WITH_ID : s.places[i].state;
    struct drawn_place itself = {binary, ITSELF};
    put_file(&s, &itself);
    for (size_t i = 0; i < s.count; i++)
        put_file(&s, &s.places[i]);
    size_t wanted = s.count - 1;
    buf_str(&said, "");
    if (!is_file(&s, &s.places[wanted], &said)) {
        wanted = s.count;
    } else if (s.places[wanted].state == OTHER_ID) { /* (one without an id is believed) */
        buf_printf(&said, "%s: has build id ", named);
        put_hex_of(&said, &s.files[OTHER_ID], "none");
        buf_printf(&said, ", but %s requires %s; it is not used\n", binary, s.id.bytes);
        wanted = s.count;
    }
    if (wanted == s.count)
        wanted = wanted_by_id(&s, &said);
    if (wanted == s.count)
        buf_printf(&said,
                   "%s: part of its debug information is in \"%s\" (build id %s), which was not found: names and "
                   "inlined calls described there are missing\n",
                   binary, name, s.id.bytes);
    struct elf_file *f = NULL, *found = NULL;
    struct warnings *w = warnings_create();
    bool right = elf_file_open(binary, &f, w, NULL) == 0;
    if (right) {
        found = debug_alt_find(f, dirs, w);
        right = found_is_right(&s, wanted, found, w, &said);
    }
    elf_file_close(found);
    elf_file_close(f);
    warnings_free(w);
    buf_release(&link);
    end_search(&s);
    mem_free(name);
    mem_free(named);
    mem_free(in_bin);
    mem_free(binary);
    mem_free(dir[0]);
    mem_free(dir[1]);
    return right;
}

/* Links that are damaged are not followed. */
static void test_damaged_links(void)
{
    static char long_name[NAME_MAX + 16], longer[PATH_MAX + 90];
    static const struct {
        const char *name;
        size_t pad, more; /* bytes up to the checksum, and of it */
        bool good;
    } links[] = {{"x", 2, 4, true}, {"abc", 0, 4, true},  {"x", 2, 3, false},      {"x", 2, 5, true},
                 {"", 3, 4, false}, {"a/b", 0, 4, false}, {long_name, 0, 4, true}, {long_name + 4, 0, 4, true}};
    static const struct {
        const char *name;
        size_t id;
        bool good;
    } shared[] = {{"x", 1, true},  {"x", 0, false},     {"x", 64, true},        {"x", 65, false},
                  {"", 20, false}, {longer, 20, false}, {longer + 90, 20, true}};
    char *path = scratch("damaged");
    memset(long_name, 'n', NAME_MAX);
    memset(longer, 'm', PATH_MAX + 89);
    for (int too_long = 0; too_long < 2; too_long++)
        for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
            struct buf link = {0}, none = {0}, file;
            struct elf_file *f = NULL;
            struct warnings *w = warnings_create();
            bool good = links[i].good && !(too_long && links[i].name == long_name);
            long_name[NAME_MAX] = too_long ? 'n' : '\0';
            buf_add(&link, links[i].name, strlen(links[i].name) + 1);
            while (link.len % 4)
                buf_u8(&link, 0);
            buf_add(&link, "1234567", links[i].more);
            file = make_file(EM_X86_64, &none, ".gnu_debuglink", &link, "");
            write_file("damaged", file.bytes, file.len);
            if (elf_file_open(path, &f, w, NULL) < 0)
                exit(99);
            elf_file_close(debug_file_find(f, NULL, w));
            char *words = mem_printf("%s: .gnu_debuglink is damaged; its debug file is not searched", path);
            CHECK(good ? warnings_count(w) == 0 : warnings_count(w) == 1 && strcmp(warnings_get(w, 0), words) == 0);
            mem_free(words);
            elf_file_close(f);
            warnings_free(w);
            buf_release(&link);
            buf_release(&file);
        }
    for (size_t i = 0; i < ARRAY_SIZE(shared); i++) {
        struct buf link = {0}, none = {0}, file;
        struct elf_file *f = NULL;
        struct warnings *w = warnings_create();
        buf_add(&link, shared[i].name, strlen(shared[i].name) + 1);
        for (size_t k = 0; k < shared[i].id; k++)
            buf_u8(&link, 0xab);
        file = make_file(EM_X86_64, &none, ".gnu_debugaltlink", &link, "");
        write_file("damaged", file.bytes, file.len);
        if (elf_file_open(path, &f, w, NULL) < 0)
            exit(99);
        elf_file_close(debug_alt_find(f, NULL, w));
        char *words =
            mem_printf("%s: .gnu_debugaltlink is damaged; the debug information in that shared file is missing", path);
        CHECK(warnings_count(w) == 1 && (strcmp(warnings_get(w, 0), words) != 0) == shared[i].good);
        CHECK(!shared[i].good || warned(w, "part of its debug information is in"));
        mem_free(words);
        elf_file_close(f);
        warnings_free(w);
        buf_release(&link);
        buf_release(&file);
    }
    mem_free(path);
}

/* Whether the binary or its debug file provides the debug information and the symbols. */
static void test_which(void)
{
    enum { INFO = 1, SYMBOLS = 2 };
    size_t wrong = 0;
    char *paths[] = {scratch("which"), scratch("which.debug")};
    for (unsigned all = 0; all < 32; all++) {
        unsigned has[] = {all & 3, all >> 2 & 3};
        bool alone = all & 16;
        struct buf link = {0}, none = {0};
        buf_add(&link, "which.debug\0", 12);
        for (int i = 1; i >= 0; i--) {
            struct buf b = make_file(EM_X86_64, &none, i ? "" : ".gnu_debuglink", i ? &none : &link, i ? "d" : "b");
            Elf64_Shdr sections[7] = {{0}};
            Elf64_Ehdr h;
            memcpy(&h, b.bytes, sizeof h);
            memcpy(sections, b.bytes + h.e_shoff, 5 * sizeof *sections);
            b.len = h.e_shoff;
            Elf64_Sym symbols[2] = {{0},
                                    {.st_name = 34, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 3}};
            memcpy(b.bytes + sections[1].sh_offset + 34, i ? "debug" : "bin", 4 + 2 * (size_t)i);
            memcpy(b.bytes + sections[1].sh_offset + 42, ".debug_info", 12);
            sections[5].sh_name = 42;
            put_part(&b, &sections[5], has[i] & INFO ? SHT_PROGBITS : SHT_NULL, "info", 4);
            put_part(&b, &sections[6], has[i] & SYMBOLS ? SHT_SYMTAB : SHT_NULL, symbols, sizeof symbols);
            sections[6].sh_link = 1;
            sections[6].sh_entsize = sizeof *symbols;
            while (b.len % 8)
                buf_u8(&b, 0);
            h.e_shoff = b.len;
            h.e_shnum = 7;
            buf_add(&b, sections, sizeof sections);
            memcpy(b.bytes, &h, sizeof h);
            write_file(i ? "which.debug" : "which", b.bytes, b.len);
            if (i)
                buf_u32(&link, crc32_bytes(0, b.bytes, b.len));
            buf_release(&b);
        }
        struct image *im = NULL;
        bool opened =
            (alone ? image_open_alone(paths[0], &im, NULL, NULL) : image_open(paths[0], NULL, &im, NULL, NULL)) == 0;
        bool looked = !alone && has[0] != (INFO | SYMBOLS);
        const char *name = has[0] & SYMBOLS ? "bin" : looked && has[1] & SYMBOLS ? "debug" : NULL;
        wrong += !opened || !im->priv->debug_file != !looked || im->priv->alternate ||
                 im->priv->dwarf != (has[0] & INFO             ? im->priv->file
                                     : looked && has[1] & INFO ? im->priv->debug_file
                                                               : NULL) ||
                 im->symbol_count != (name != NULL) || (name && strcmp(im->symbols[0].name, name) != 0);
        image_close(im);
        buf_release(&link);
    }
    CHECK_INT(wrong, 0);
    mem_free(paths[0]);
    mem_free(paths[1]);
}

int main(void)
{
    scratch_make();
    RUN(test_refused);
    check_rounds(sections_are_right, 800, "sections");
    check_rounds(segments_are_right, 1000, "segments");
    RUN(test_extent);
    RUN(test_which);
    folder = realpath(scratch_folder, NULL);
    check_rounds(debug_file_is_right, 200, "which debug file is taken");
    check_rounds(shared_file_is_right, 100, "which file of dwz's is taken");
    free(folder);
    RUN(test_damaged_links);
    scratch_remove();
    return tap_done();
}
