/*
 * Files by chance, header by header, against a plain reading of the same numbers: sections that lie in the file or not,
 * have names or not, share addresses or not; segments without sections; and which of several debug files is taken.
 */
#include "config.h"

#include "bloop/binary_test.h"
#include "bloop/image/elf.h"
#include "tests/chance.h"
#include "tests/tap.h"

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

/* ---- what is refused, to the letter ------------------------------------------------------------------------------ */

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
        char *says = mem_printf("an ELF file cut short: %zu bytes, its header alone has 64", size);
        check_refused(&h, size, says);
        mem_free(says);
    }
    check_refused(&h, sizeof h,
                  "neither sections nor loaded segments of it lie in the file; it is cut short or damaged");
    h.e_type = ET_REL;
    check_refused(&h, sizeof h,
                  "neither sections nor loaded segments of it lie in the file; it is cut short or damaged");
    h.e_type = ET_CORE;
    check_refused(&h, sizeof h, "a core dump, not a program or library");
    h.e_type = ET_NONE;
    check_refused(&h, sizeof h, "ELF file type 0 is no executable, shared object or relocatable file");
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
    check_refused(&h, 5, "an ELF file cut short: 5 bytes, its header alone has 64");
    check_refused(&h, 6, "a 32-bit ELF file; hpcview reads 64-bit ones");
    check_refused(&h, sizeof h, "a 32-bit ELF file; hpcview reads 64-bit ones");
}

/* ---- sections ------------------------------------------------------------------------------------------------------ */

enum { DATA_AT = 64, DATA = 600, MOST = 14, PLACES = 0x1800 };

static const char *const section_names[] = {".text",   ".data", ".zdebug_x", ".zdebug_",
                                            ".zdebug", "",      ".debug_y",  ".symtab"};

struct drawn {
    Elf64_Shdr headers[MOST];
    const char *names[MOST];
    unsigned count, names_at; /* names_at: the section of names; 0: none */
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

/* Addresses of a relocatable file: one after the other, of those that are loaded. Where the last one ends. */
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
            mem_printf("%s: cut short or damaged: %u of %u sections (%s first) lie outside the file and are left out\n",
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
                mem_printf("%s: section %s%s overlaps the one before it (at 0x%llx); its bytes are left out\n", d->path,
                           zdebug ? "." : "", d->names[best] + (zdebug ? 2 : 0), (unsigned long long)s->sh_addr);
            buf_str(missing, strstr(missing->bytes, line) ? "" : line); /* nothing is said twice */
            mem_free(line);
            continue;
        }
        end = s->sh_addr + s->sh_size;
        for (vaddr at = s->sh_addr; at < end && at < PLACES; at++)
            owners[at] = (int)best;
    }
}

/* The sections as they stand, and of each address what lies there. */
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
        size_t shown = 0; /* those without a type are no sections */
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

static void test_sections(void)
{
    enum { ROUNDS = 1000 };
    int right = 0;
    while (right < ROUNDS && sections_are_right())
        right++;
    CHECK_INT(right, ROUNDS);
}

/* ---- segments, where there are no sections --------------------------------------------------------------------------- */

enum { BASE = 0x40000, LOADS = 10, IMAGE = 0x2000, NUMBERS = 16 };

/* What PT_DYNAMIC says, by chance; each number is drawn, or 0 where it says nothing of it. */
static const struct {
    int64_t tag;
    const char *section; /* that it makes; NULL: it is a size, or more is needed */
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

/* As far as the segment goes that has the address; -1: none has. */
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

/* A table that tells how many symbols there are; 0: it does not. */
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

static bool segments_are_right(void)
{
    enum { DYNAMIC = 0x400, SYSV = 0x700, GNU = 0x900, HEADER = 0x380 };
    static struct drawn_segments d;
    struct buf got = {0}, wanted = {0};
    Elf64_Phdr all[LOADS + 4];
    unsigned count = 0;
    Elf64_Ehdr h = usual_header(ET_DYN);
    d.load_count = 1 + below(LOADS);
    for (size_t i = 0; i < IMAGE; i++)
        d.bytes[i] = (uint8_t)random64();
    /* all of the file in pieces, from BASE on; the first has what is pointed to below */
    uint64_t from = 0, most = d.load_count > 1 ? 0x1000 : IMAGE;
    for (unsigned i = 0; i < d.load_count; i++) {
        uint64_t to = i + 1 == d.load_count ? IMAGE : i == 0 ? most : from + below((uint32_t)(IMAGE - from) / 2 + 1);
        d.loads[i] = (Elf64_Phdr){.p_type = i > 0 && below(6) == 0 ? PT_NULL : PT_LOAD,
                                  .p_flags = below(8),
                                  .p_offset = from,
                                  .p_vaddr = BASE + from,
                                  .p_filesz = to - from,
                                  .p_memsz = to - from + below(100)};
        from = to;
    }
    unsigned shown = 0;
    for (unsigned i = 0; i < d.load_count; i++) {
        const Elf64_Phdr *p = &d.loads[i];
        char name[16] = "[text]";
        if (p->p_type != PT_LOAD || !p->p_filesz)
            continue;
        if (shown < 7)
            snprintf(name, sizeof name, "[text %u]", shown);
        if (!(p->p_flags & PF_X))
            memcpy(name + 1, "data", 4);
        put_section(&wanted, name, SHT_PROGBITS,
                    SHF_ALLOC | (p->p_flags & PF_X ? SHF_EXECINSTR : 0) | (p->p_flags & PF_W ? SHF_WRITE : 0),
                    p->p_vaddr, p->p_filesz, false, (long)p->p_offset);
        shown++;
    }
    if (below(2)) { /* .eh_frame_hdr: where .eh_frame is, from its 5th byte on */
        bool usual = below(4) > 0, cut = below(8) == 0;
        int32_t distance = (int32_t)(below(0x3000)) - 0x400;
        d.bytes[HEADER + 1] = usual ? 0x1b : 0x3b;
        memcpy(d.bytes + HEADER + 4, &distance, 4);
        all[count++] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
                                    .p_offset = HEADER,
                                    .p_vaddr = BASE + HEADER,
                                    .p_filesz = cut ? 7 : 8 + below(9)};
        want_section(&d, &wanted, ".eh_frame_hdr", SHT_PROGBITS, BASE + HEADER, all[count - 1].p_filesz);
        uint64_t left;
        vaddr frames = BASE + HEADER + 4 + (vaddr)(int64_t)distance;
        if (usual && !cut && at_address(&d, frames, &left) >= 0)
            want_section(&d, &wanted, ".eh_frame", SHT_PROGBITS, frames, left);
        if (below(3) == 0) /* one more is not looked at */
            all[count++] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME, .p_vaddr = BASE + 16, .p_filesz = 12};
    }
    struct buf dynamic = {0};
    uint64_t value[ARRAY_SIZE(numbers)] = {0}, size[ARRAY_SIZE(numbers)] = {0}, symbols = 0;
    vaddr strings = 0, table = 0, string_size = below(0x1000);
    bool sysv = below(2), gnu = below(2);
    if (gnu)
        symbols = put_hash(&d, GNU, true);
    if (sysv)
        symbols = put_hash(&d, SYSV, false);
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
    if (below(2)) { /* the end; what is behind it does not count */
        buf_u64(&dynamic, DT_NULL);
        buf_u64(&dynamic, 0);
        buf_u64(&dynamic, DT_INIT);
        buf_u64(&dynamic, BASE + 77);
        entries = dynamic.len;
    }
    memcpy(d.bytes + DYNAMIC, dynamic.bytes, dynamic.len);
    if (below(8))
        all[count++] = (Elf64_Phdr){
            .p_type = PT_DYNAMIC, .p_offset = DYNAMIC, .p_vaddr = BASE + DYNAMIC, .p_filesz = entries + below(16)};
    else
        symbols = strings = table = 0, memset(value, 0, sizeof value);
    buf_release(&dynamic);
    bool named = symbols && strings && table;
    if (named) {
        want_section(&d, &wanted, ".dynstr", SHT_STRTAB, strings, string_size);
        want_section(&d, &wanted, ".dynsym", SHT_DYNSYM, table, symbols * sizeof(Elf64_Sym));
    }
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        if (value[i] && (named || numbers[i].type != SHT_RELA))
            want_section(&d, &wanted, numbers[i].section, numbers[i].type, value[i], size[i]);
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

static void test_segments(void)
{
    enum { ROUNDS = 1000 };
    int right = 0;
    while (right < ROUNDS && segments_are_right())
        right++;
    CHECK_INT(right, ROUNDS);
}

int main(void)
{
    scratch_make();
    test_refused();
    test_sections();
    test_segments();
    scratch_remove();
    return tap_done();
}
