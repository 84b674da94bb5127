/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a binary against naive definitions: relocations bit by bit, compressed sections of every size, and a file
 * without section headers against the same file with them.
 */
#include "config.h"

#include "bloop/binary_test.h"
#include "bloop/image/elf.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* ---- relocations: the tables of the ABIs ---------------------------------------------------------------------- */

enum value { ABSOLUTE, RELATIVE, PAGES, NOTHING };
struct field { /* bits of the value: `count` bits from `from` on are stored from bit `to` of the field on */
    uint8_t from, count, to;
};
static const struct rule {
    uint32_t type;
    uint8_t bytes, value; /* enum value */
    struct field fields[2];
} x86_rules[] =
    {
        {R_X86_64_NONE, 0, NOTHING, {{0}}},          {R_X86_64_64, 8, ABSOLUTE, {{0, 64, 0}}},
        {R_X86_64_PC64, 8, RELATIVE, {{0, 64, 0}}},  {R_X86_64_32, 4, ABSOLUTE, {{0, 32, 0}}},
        {R_X86_64_32S, 4, ABSOLUTE, {{0, 32, 0}}},   {R_X86_64_PC32, 4, RELATIVE, {{0, 32, 0}}},
        {R_X86_64_PLT32, 4, RELATIVE, {{0, 32, 0}}}, {R_X86_64_16, 2, ABSOLUTE, {{0, 16, 0}}},
        {R_X86_64_PC16, 2, RELATIVE, {{0, 16, 0}}},  {R_X86_64_8, 1, ABSOLUTE, {{0, 8, 0}}},
        {R_X86_64_PC8, 1, RELATIVE, {{0, 8, 0}}},    {R_X86_64_GOTPCREL, 0, NOTHING, {{0}}},
        {R_X86_64_TPOFF32, 0, NOTHING, {{0}}},
},
  arm_rules[] = {
      {R_AARCH64_NONE, 4, NOTHING, {{0}}},
      {R_AARCH64_ABS64, 8, ABSOLUTE, {{0, 64, 0}}},
      {R_AARCH64_ABS32, 4, ABSOLUTE, {{0, 32, 0}}},
      {R_AARCH64_ABS16, 2, ABSOLUTE, {{0, 16, 0}}},
      {R_AARCH64_PREL64, 8, RELATIVE, {{0, 64, 0}}},
      {R_AARCH64_PREL32, 4, RELATIVE, {{0, 32, 0}}},
      {R_AARCH64_PREL16, 2, RELATIVE, {{0, 16, 0}}},
      {R_AARCH64_LD_PREL_LO19, 4, RELATIVE, {{2, 19, 5}}},
      {R_AARCH64_ADR_PREL_LO21, 4, RELATIVE, {{0, 2, 29}, {2, 19, 5}}},
      {R_AARCH64_ADR_PREL_PG_HI21, 4, PAGES, {{12, 2, 29}, {14, 19, 5}}},
      {R_AARCH64_ADR_PREL_PG_HI21_NC, 4, PAGES, {{12, 2, 29}, {14, 19, 5}}},
      {R_AARCH64_ADD_ABS_LO12_NC, 4, ABSOLUTE, {{0, 12, 10}}},
      {R_AARCH64_LDST8_ABS_LO12_NC, 4, ABSOLUTE, {{0, 12, 10}}},
      {R_AARCH64_LDST16_ABS_LO12_NC, 4, ABSOLUTE, {{1, 11, 10}}},
      {R_AARCH64_LDST32_ABS_LO12_NC, 4, ABSOLUTE, {{2, 10, 10}}},
      {R_AARCH64_LDST64_ABS_LO12_NC, 4, ABSOLUTE, {{3, 9, 10}}},
      {R_AARCH64_LDST128_ABS_LO12_NC, 4, ABSOLUTE, {{4, 8, 10}}},
      {R_AARCH64_TSTBR14, 4, RELATIVE, {{2, 14, 5}}},
      {R_AARCH64_CONDBR19, 4, RELATIVE, {{2, 19, 5}}},
      {R_AARCH64_JUMP26, 4, RELATIVE, {{2, 26, 0}}},
      {R_AARCH64_CALL26, 4, RELATIVE, {{2, 26, 0}}},
      {R_AARCH64_TLSLE_ADD_TPREL_HI12, 4, NOTHING, {{0}}},
};

static void set_bit(uint8_t *bytes, unsigned i, bool on)
{
    bytes[i / 8] = (uint8_t)((bytes[i / 8] & ~(1u << i % 8)) | (unsigned)on << i % 8);
}

static void naive_relocate(uint8_t *bytes, const struct rule *r, uint64_t value, uint64_t place)
{
    uint64_t v = r->value == ABSOLUTE   ? value
                 : r->value == RELATIVE ? value - place
                                        : (value >> 12 << 12) - (place >> 12 << 12);
    for (int f = 0; f < 2 && r->value != NOTHING; f++)
        for (unsigned i = 0; i < r->fields[f].count; i++) {
            bool bit = v >> (r->fields[f].from + i) & 1;
            /* what is loaded is aligned, so that the rest of the field is 0 */
            set_bit(bytes, r->fields[f].to + i, bit);
        }
    if (r->value == ABSOLUTE && r->fields[0].to == 10)
        for (unsigned i = r->fields[0].count; i < 12; i++)
            set_bit(bytes, 10 + i, false);
}

enum { SIZE = 1 << 12, PLACES = 200, SYMBOLS = 6, TARGET = 0x23456000 };

static void test_relocations(unsigned machine, const struct rule *rules, size_t rule_count)
{
    static uint8_t bytes[SIZE], wanted[SIZE];
    static const char strings[] = "\0one\0two";
    Elf64_Sym symbols[SYMBOLS] = {{0}};
    Elf64_Rela relas[PLACES + 3];
    for (unsigned i = 1; i < SYMBOLS; i++) /* the last is an absolute one */
        symbols[i] = (Elf64_Sym){.st_name = 1,
                                 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                 .st_shndx = i + 1 == SYMBOLS ? SHN_ABS : (Elf64_Half)(1 + i % 2),
                                 .st_value = random64() >> 40};
    static struct guarded_room behind;
    const struct elf_section made[] = {
        {.name = ""},
        {.name = ".text", .type = SHT_PROGBITS, .flags = SHF_ALLOC, .addr = TARGET, .size = SIZE},
        {.name = ".far", .type = SHT_PROGBITS, .flags = SHF_ALLOC, .addr = UINT64_C(0x123456789000), .size = 1 << 24},
        {.name = ".symtab", .type = SHT_SYMTAB, .link = 4, .size = sizeof symbols, .raw = (const uint8_t *)symbols},
        {.name = ".strtab", .type = SHT_STRTAB, .size = sizeof strings, .raw = (const uint8_t *)strings},
        {.name = ".rela.text",
         .type = SHT_RELA,
         .link = 3,
         .info = 1,
         .size = sizeof relas,
         .raw = (const uint8_t *)relas},
        {.name = ".rela.far", .type = SHT_RELA, .link = 3, .info = 2, .size = sizeof relas, .raw = (void *)relas},
        {.name = ".rel.text", .type = SHT_REL, .link = 3, .info = 1, .size = sizeof relas, .raw = (void *)relas},
    };
    struct elf_section *sections = guarded_copy(&behind, made, sizeof made);
    struct elf_file f = {.path = (char *)(uintptr_t) "made.o",
                         .header = {.e_type = ET_REL, .e_machine = (Elf64_Half)machine},
                         .sections = sections,
                         .section_count = ARRAY_SIZE(made)};
    struct warnings *w = warnings_create();
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = wanted[i] = (uint8_t)random64();
    for (uint64_t i = 0; i < PLACES; i++) {
        const struct rule *r = &rules[i < rule_count ? i : below((uint32_t)rule_count)];
        uint32_t symbol = 1 + below(SYMBOLS - 1);
        int64_t addend = (int64_t)random64() >> (20 + below(44));
        uint64_t at = i * 20 + below(12);
        relas[i] = (Elf64_Rela){at, ELF64_R_INFO((uint64_t)symbol, r->type), addend};
        const Elf64_Sym *s = &symbols[symbol];
        uint64_t address = s->st_value + (s->st_shndx == SHN_ABS ? 0 : sections[s->st_shndx].addr);
        naive_relocate(wanted + at, r, address + (uint64_t)addend, TARGET + at);
    }
    const uint32_t whole = machine == EM_X86_64 ? R_X86_64_64 : R_AARCH64_ABS64;
    relas[PLACES] = (Elf64_Rela){SIZE - 8, ELF64_R_INFO(1ull, whole), 0}; /* the last one that fits */
    naive_relocate(wanted + SIZE - 8, &(struct rule){whole, 8, ABSOLUTE, {{0, 64, 0}}},
                   symbols[1].st_value + sections[symbols[1].st_shndx].addr, 0);
    relas[PLACES + 1] = (Elf64_Rela){SIZE - 7, ELF64_R_INFO(1ull, whole), 0};
    relas[PLACES + 2] = (Elf64_Rela){0, ELF64_R_INFO((uint64_t)SYMBOLS, whole), 0}; /* no such symbol */
    elf_relocate(&f, 1, bytes, SIZE, w);
    size_t at = 0;
    while (at < SIZE && bytes[at] == wanted[at])
        at++;
    CHECK_INT(at, SIZE);
    for (size_t i = 0; i < PLACES && at < SIZE; i++)
        if (relas[i].r_offset <= at && at < relas[i].r_offset + 8)
            printf("# of type %u\n", (unsigned)ELF64_R_TYPE(relas[i].r_info));
    CHECK_INT(warnings_count(w), 1);
    CHECK_STR(warnings_get(w, 0),
              "made.o: 2 relocations in .rela.text point outside the section or the symbol table; they are ignored");
    warnings_free(w);
    for (size_t i = 0; i < rule_count; i++) { /* it fits at the very end, but not one byte later */
        uint8_t room = rules[i].bytes, end[8] = {0}, relocated[8] = {0};
        uint64_t value = symbols[1].st_value + sections[symbols[1].st_shndx].addr + 4096;
        relas[0] = (Elf64_Rela){0, ELF64_R_INFO(1ull, rules[i].type), 4096};
        sections[5].size = sizeof *relas;
        w = warnings_create();
        naive_relocate(relocated, &rules[i], value, TARGET);
        if (room)
            elf_relocate(&f, 1, end, room - 1u, w);
        bool left = warnings_count(w) == (room > 0) && memcmp(end, (uint8_t[8]){0}, 8) == 0;
        elf_relocate(&f, 1, end, room ? room : 1u, w);
        CHECK(left && warnings_count(w) == (room > 0) && memcmp(end, relocated, 8) == 0);
        warnings_free(w);
    }
}

/* ---- compressed sections ----------------------------------------------------------------------------------------- */

enum packing { ZLIB, GNU, ZSTANDARD };

/* The section as a linker writes it, claiming `size` bytes. */
static struct buf pack(enum packing how, const uint8_t *bytes, size_t n, uint64_t size)
{
    struct buf b = {0};
    if (how == GNU) {
        buf_str(&b, "ZLIB");
        for (int i = 7; i >= 0; i--)
            buf_char(&b, (char)(size >> 8 * i));
    } else {
        Elf64_Chdr h = {
            .ch_type = how == ZLIB ? ELFCOMPRESS_ZLIB : ELFCOMPRESS_ZSTD, .ch_size = size, .ch_addralign = 1};
        buf_add(&b, &h, sizeof h);
    }
#ifdef HAVE_ZSTD
    if (how == ZSTANDARD) {
        size_t room = ZSTD_compressBound(n);
        char *out = mem_alloc(room);
        buf_add(&b, out, ZSTD_compress(out, room, bytes, n, 3));
        mem_free(out);
        return b;
    }
#endif
    uLongf room = compressBound((uLong)n);
    Bytef *out = mem_alloc(room);
    if (compress2(out, &room, bytes, (uLong)n, 6) != Z_OK)
        exit(99);
    buf_add(&b, out, room);
    mem_free(out);
    return b;
}

/* NULL: it is left out, and the only warning has these words. */
static uint8_t *unpack(enum packing how, const struct buf *b, uint64_t *size, const char *words)
{
    struct warnings *w = warnings_create();
    struct elf_section s = {.raw = (const uint8_t *)b->bytes, .size = b->len, .zdebug = how == GNU};
    uint8_t *got = section_decompress(&s, size, "made(.debug_x)", w);
    bool good = got ? words == NULL && warnings_count(w) == 0
                    : *size == 0 && warnings_count(w) == 1 && (!words || warned(w, words));
    if (!good)
        printf("# %s\n", warnings_count(w) ? warnings_get(w, 0) : "no warning");
    CHECK(good);
    warnings_free(w);
    return got;
}

static void test_packed(enum packing how)
{
    static const size_t sizes[] = {0, 1, 100, 4096, 70000, 1 << 20, 3000001};
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        for (int kind = 0; kind < 3; kind++) { /* zeros, text, noise */
            size_t n = sizes[i];
            uint8_t *bytes = mem_calloc(n + 1, 1);
            uint64_t size = 7;
            for (size_t k = 0; k < n && kind; k++)
                bytes[k] = kind == 1 ? (uint8_t)("to be or not to be"[k % 18] + k / 1000 % 3) : (uint8_t)random64();
            struct buf b = pack(how, bytes, n, n);
            uint8_t *got = unpack(how, &b, &size, NULL);
            CHECK(got && size == n && memcmp(got, bytes, n) == 0);
            mem_free(got);
            if (n > 100) { /* truncated, or the stated size is too small or too large */
                b.len -= 1 + below((uint32_t)b.len / 3);
                CHECK(unpack(how, &b, &size, NULL) == NULL);
                for (int more = -1; more <= 1; more += 2) {
                    buf_release(&b);
                    b = pack(how, bytes, n, n + (uint64_t)more);
                    mem_free(unpack(how, &b, &size, "cannot be decompressed: it is damaged; it is ignored"));
                }
            }
            buf_release(&b);
            mem_free(bytes);
        }
}

static void test_headers(void)
{
    static const uint8_t zeros[5000];
    uint64_t size;
    struct buf b = pack(ZLIB, zeros, sizeof zeros, sizeof zeros);
    size_t packed = b.len - sizeof(Elf64_Chdr);
    buf_release(&b);
    b = pack(ZLIB, zeros, sizeof zeros, 1040 * packed + 1039); /* zlib's maximum ratio, and more */
    mem_free(unpack(ZLIB, &b, &size, "cannot be decompressed"));
    buf_release(&b);
    b = pack(ZLIB, zeros, sizeof zeros, 1040 * packed + 1040);
    mem_free(unpack(ZLIB, &b, &size, "its compression header is damaged (it claims"));
    b.bytes[0] = 9;
    mem_free(unpack(ZLIB, &b, &size, "is compressed in an unknown way (9); it is ignored"));
    b.len = sizeof(Elf64_Chdr) - 1;
    mem_free(unpack(ZLIB, &b, &size, "its compression header is damaged"));
    b.len = 0;
    mem_free(unpack(ZLIB, &b, &size, "its compression header is damaged"));
    mem_free(unpack(GNU, &b, &size, "does not begin with \"ZLIB\""));
    buf_str(&b, "ZLIP");
    b.len = 4;
    memcpy(b.bytes, "ZLIP", 4);
    mem_free(unpack(GNU, &b, &size, "does not begin with \"ZLIB\""));
    memcpy(b.bytes, "ZLIB", 4);
    mem_free(unpack(GNU, &b, &size, "its compression header is damaged"));
    buf_release(&b);
    b = pack(ZLIB, zeros, sizeof zeros, LIMIT_SECTION_BYTES + 1ull);
    mem_free(unpack(ZLIB, &b, &size, "its compression header is damaged"));
    buf_release(&b);
}

/* ---- without section headers ------------------------------------------------------------------------------------- */

static const char library_source[] =
    "#include <stdlib.h>\n"
    "int one(int x) { return x + 1; }\n"
    "static int two(int x) { return x + 2; }\n"
    "int (*table[])(int) = {one, two, two, one};\n"
    "void *(*get)(size_t) = malloc;\n"
    "__attribute__((constructor)) static void begin(void) { table[0](1); }\n"
    "__attribute__((destructor)) static void end(void) { table[1](1); }\n"
    "char *three(void) { char *p = malloc(3); free(getenv(p)); return realloc(p, 4); }\n";

static const struct image_symbol *same_symbol(const struct image *im, const struct image_symbol *s)
{
    for (size_t i = 0; i < im->symbol_count; i++)
        if (im->symbols[i].addr == s->addr && im->symbols[i].size == s->size && im->symbols[i].kind == s->kind &&
            im->symbols[i].global == s->global && im->symbols[i].weak == s->weak &&
            strcmp(im->symbols[i].name, s->name) == 0)
            return &im->symbols[i];
    return NULL;
}

static void compare_images(const struct image *with, const struct image *without)
{
    size_t dynamic = 0, missing = 0, pointers = 0, slots = 0, other = 0;
    for (size_t i = 0; i < with->symbol_count; i++)
        if (with->symbols[i].dynamic) {
            dynamic++;
            missing += !same_symbol(without, &with->symbols[i]);
        }
    CHECK(dynamic >= 3);
    CHECK_INT(missing, 0);
    CHECK_INT(without->symbol_count, dynamic);
    for (size_t i = 0; i < with->section_count; i++) {
        const struct image_section *s = &with->sections[i];
        for (vaddr at = s->addr; s->alloc && s->bytes && s->size && at < s->addr + s->size; at++) {
            vaddr a = 0, b = 0;
            size_t left;
            bool has = image_pointer(with, at, &a);
            const char *name = image_slot_name(with, at), *named = image_slot_name(without, at);
            const uint8_t *byte = image_bytes(with, at, &left), *same = image_bytes(without, at, &left);
            other += has != image_pointer(without, at, &b) || a != b || !name != !named ||
                     (name && strcmp(name, named) != 0) || !byte || !same || *byte != *same;
            pointers += has;
            slots += name != NULL;
        }
    }
    CHECK_INT(other, 0);
    CHECK(pointers >= 4);
    CHECK(slots >= 3);
}

static void test_segments(const char *flags)
{
    char *all = mem_printf("-O1 -s -shared -fPIC %s", flags);
    char *path = compile(tool("CC", "cc"), all, "library.c", library_source, "library.so");
    struct err err = {0};
    struct image *with = NULL, *without = NULL;
    mem_free(all);
    if (!path || image_open_alone(path, &with, NULL, &err) < 0) {
        SKIP(flags, "no compiler that does it");
        mem_free(path);
        return;
    }
    struct filemap map;
    if (filemap_open(&map, path, &err) < 0)
        exit(99);
    uint8_t *bytes = mem_alloc(map.len);
    memcpy(bytes, map.bytes, map.len);
    Elf64_Ehdr *h = (void *)bytes;
    h->e_shoff = 0;
    h->e_shnum = h->e_shstrndx = 0;
    write_file("bare.so", bytes, map.len);
    filemap_release(&map);
    mem_free(bytes);
    char *bare = scratch("bare.so");
    CHECK_INT(image_open_alone(bare, &without, NULL, &err), 0);
    if (without) {
        CHECK(with->position_independent == without->position_independent && with->entry == without->entry &&
              strcmp(with->build_id, without->build_id) == 0);
        compare_images(with, without);
    }
    image_close(with);
    image_close(without);
    mem_free(path);
    mem_free(bare);
}

/* ---- a generated file: unwind entries, landing pads, entries of the loader, symbols ------------------------------ */

enum {
    TEXT = 0x8000, /* so low that 16 bits reach */
    TEXT_SIZE = 0x4000,
    FRAMES = 0xc000,
    TABLES = 0x13000,
    DATA = 0x20000,
    DATA_SIZE = 0x2000,
    MOST_SECTIONS = 12
};

struct maker {
    Elf64_Shdr headers[MOST_SECTIONS];
    struct buf parts[MOST_SECTIONS], names;
    unsigned count;
};

static unsigned add_part(struct maker *m, const char *name, uint32_t type, uint64_t flags, uint64_t addr, uint32_t link)
{
    if (!m->names.len)
        buf_char(&m->names, '\0');
    m->count = m->count ? m->count : 1;
    m->headers[m->count] = (Elf64_Shdr){.sh_name = (Elf64_Word)m->names.len,
                                        .sh_type = type,
                                        .sh_flags = flags,
                                        .sh_addr = addr,
                                        .sh_link = link,
                                        .sh_addralign = 1};
    buf_add(&m->names, name, strlen(name) + 1);
    return m->count++;
}

static struct image *open_made(struct maker *m, unsigned type, unsigned machine)
{
    struct buf file = {0};
    struct image *im = NULL;
    struct err err = {0};
    unsigned names = add_part(m, ".shstrtab", SHT_STRTAB, 0, 0, 0);
    buf_add(&m->parts[names], m->names.bytes, m->names.len);
    Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                    .e_type = (Elf64_Half)type,
                    .e_machine = (Elf64_Half)machine,
                    .e_version = 1,
                    .e_ehsize = sizeof h,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = (Elf64_Half)m->count,
                    .e_shstrndx = (Elf64_Half)names};
    buf_add(&file, &h, sizeof h);
    for (unsigned i = 1; i < m->count; i++) {
        while (file.len % 8)
            buf_char(&file, '\0');
        m->headers[i].sh_offset = file.len;
        m->headers[i].sh_size = m->parts[i].len;
        buf_add(&file, m->parts[i].bytes ? m->parts[i].bytes : "", m->parts[i].len);
        buf_release(&m->parts[i]);
    }
    while (file.len % 8)
        buf_char(&file, '\0');
    h.e_shoff = file.len;
    buf_add(&file, m->headers, m->count * sizeof *m->headers);
    memcpy(file.bytes, &h, sizeof h);
    write_file("made", file.bytes, file.len);
    buf_release(&file);
    buf_release(&m->names);
    char *path = scratch("made");
    if (image_open_alone(path, &im, NULL, &err) < 0)
        exit(99);
    mem_free(path);
    return im;
}

static void put_number(struct buf *b, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buf_char(b, (char)(i < 8 ? v >> 8 * i : 0));
}

static void put_leb(struct buf *b, int64_t v, bool is_signed)
{
    for (bool more = true; more;) {
        uint8_t byte = v & 0x7f;
        v = is_signed ? v >> 7 : (int64_t)((uint64_t)v >> 7);
        more = is_signed ? !((v == 0 && !(byte & 0x40)) || (v == -1 && (byte & 0x40))) : v != 0;
        buf_char(b, (char)(byte | (more ? 0x80 : 0)));
    }
}

/* As the LSB has it; base: the address of the buffer's first byte. */
static void put_encoded(struct buf *b, uint8_t encoding, uint64_t v, uint64_t base)
{
    static const uint8_t bytes[16] = {8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8};
    if (encoding & 0x10 && v)
        v -= base + b->len;
    if ((encoding & 0x0f) == 1 || (encoding & 0x0f) == 9)
        put_leb(b, (int64_t)v, (encoding & 0x0f) == 9);
    else
        put_number(b, v, bytes[encoding & 0x0f]);
}

/* Can the form encode the value here? */
static bool can_encode(uint8_t encoding, uint64_t v, uint64_t here)
{
    int64_t value = (int64_t)(encoding & 0x10 && v ? v - here : v);
    switch (encoding & 0x0f) {
    case 2:
        return value >= 0 && value < 1 << 16;
    case 10:
        return value >= -(1 << 15) && value < 1 << 15;
    case 1:
    case 3:
        return value >= 0;
    default:
        return true;
    }
}

static const uint8_t encodings[] = {0, 1, 2, 3, 4, 9, 10, 11, 12, 0x10, 0x19, 0x1a, 0x1b, 0x1c};

static uint8_t any_encoding(uint64_t v, uint64_t here)
{
    for (;;) {
        uint8_t e = encodings[below(sizeof encodings)];
        if (can_encode(e, v, here) && can_encode(e, v, here + 64) && can_encode(e, v, here + 0x2000))
            return e;
    }
}

struct made_cie {
    size_t at;
    uint8_t code, lsda; /* encodings */
    bool has_length, has_lsda;
    bool wide;    /* found only if nothing else was read since */
    bool unknown; /* nor its entries */
};

static struct made_cie put_cie(struct buf *b)
{
    static const char *const augmentations[] = {"", "zR", "zPLR", "zLR", "zRS", "zPR", "zRB", "eh", "zRG", "zQR"};
    struct made_cie c = {.at = b->len, .code = 0, .lsda = 0xff, .wide = below(6) == 0};
    const char *augmentation = augmentations[below(ARRAY_SIZE(augmentations))];
    uint8_t version = (uint8_t[]){1, 3, 4, 1, 3, 4, 1, 3, 4, 0, 2, 5}[below(12)];
    c.unknown = version == 0 || version == 2 || version == 5;
    struct buf body = {0};
    buf_char(&body, (char)version);
    buf_add(&body, augmentation, strlen(augmentation) + 1);
    if (*augmentation == 'e')
        put_number(&body, random64(), 8);
    if (version == 4)
        put_number(&body, 8, 2);
    put_leb(&body, 1, false);
    put_leb(&body, -8, true);
    if (version == 1)
        put_number(&body, 16 + below(0xf0), 1); /* the return address' register: a byte */
    else
        put_leb(&body, 16 + below(0xf0), false);
    if (*augmentation == 'z')
        put_leb(&body, 9, false);
    uint64_t here = FRAMES + b->len;
    for (const char *a = augmentation; *a && *a != 'Q'; a++) /* the fields after an unknown letter are not read */
        if (*a == 'R') {
            c.code = any_encoding(TEXT + TEXT_SIZE / 2, here);
            c.code = can_encode(c.code, TEXT, here + 0x3000) && can_encode(c.code, TEXT + TEXT_SIZE, here + 0x3000)
                         ? c.code
                         : 0x1b;
            buf_char(&body, (char)c.code);
        } else if (*a == 'L') {
            c.lsda = below(4) ? any_encoding(TABLES + 0x1000, here) : 0x9b; /* indirect: not followed */
            c.lsda = can_encode(c.lsda, TABLES, here) && can_encode(c.lsda, TABLES + 0x4000, here) ? c.lsda : 0x1b;
            buf_char(&body, (char)c.lsda);
        } else if (*a == 'P') {
            uint8_t e = (uint8_t[]){0, 3, 0x1b, 0x9b, 2}[below(5)];
            buf_char(&body, (char)e);
            put_number(&body, 0x1234, (e & 15) == 0 ? 8 : (e & 15) == 2 ? 2 : 4);
        }
    c.has_length = *augmentation == 'z';
    c.has_lsda = strchr(augmentation, 'L') != NULL;
    if (c.wide)
        put_number(b, 0xffffffff, 4);
    put_number(b, body.len + (c.wide ? 8 : 4), c.wide ? 8 : 4);
    put_number(b, 0, c.wide ? 8 : 4);
    buf_add(b, body.bytes, body.len);
    buf_release(&body);
    return c;
}

static void put_fde(struct buf *b, const struct made_cie *c, vaddr begin, uint64_t size, vaddr lsda)
{
    bool wide = below(5) == 0;
    size_t at = b->len;
    if (wide)
        put_number(b, 0xffffffff, 4);
    put_number(b, 0, wide ? 8 : 4); /* its length, later */
    size_t from = b->len;
    put_number(b, from - c->at, wide ? 8 : 4);
    put_encoded(b, c->code, begin, FRAMES);
    put_encoded(b, c->code & 0x0f, size, FRAMES);
    if (c->has_length) {
        struct buf more = {0};
        put_number(&more, 0, 1); /* instead of its length, which takes one byte */
        if (c->has_lsda)
            put_encoded(&more, c->lsda & 0x7f, lsda, FRAMES + b->len);
        more.bytes[0] = (char)(more.len - 1);
        buf_add(b, more.bytes, more.len);
        buf_release(&more);
    }
    for (uint32_t pad = below(8); pad > 0; pad--)
        buf_char(b, '\0');
    for (unsigned i = 0; i < (wide ? 8u : 4u); i++)
        b->bytes[at + (wide ? 4 : 0) + i] = (char)((b->len - from) >> 8 * i);
}

/* A table with its landing pads; the expected ones are added to `wanted`. */
static void put_table(struct buf *b, vaddr begin, uint64_t size, struct call_site_list *wanted)
{
    uint8_t start = (uint8_t[]){0xff, 3, 4, 0x1b}[below(4)], types = below(2) ? 0xff : 0x9b,
            form = (uint8_t[]){1, 3, 2, 4}[below(4)];
    vaddr pads = start == 0xff ? begin : TEXT + below(64);
    struct buf sites = {0};
    for (uint32_t n = below(9); n > 0; n--) {
        uint64_t from = below((uint32_t)size + 20), length = 1 + below(30), pad = below(3) ? 1 + below(200) : 0;
        put_encoded(&sites, form, from, 0);
        put_encoded(&sites, form, length, 0);
        put_encoded(&sites, form, pad, 0);
        put_leb(&sites, below(300), false);
        if (pad && from < size && from + length <= size)
            *vec_push(wanted) = (struct call_site){begin + from, begin + from + length, pads + pad};
    }
    buf_char(b, (char)start);
    if (start != 0xff)
        put_encoded(b, start, pads, TABLES);
    buf_char(b, (char)types);
    if (types != 0xff)
        put_leb(b, 1000, false);
    buf_char(b, (char)form);
    put_leb(b, (int64_t)sites.len, false);
    buf_add(b, sites.bytes ? sites.bytes : "", sites.len);
    buf_add(b, "\1\1\1\1\1\1", 6); /* of actions: no sites */
    buf_release(&sites);
}

static int by_fde(const void *a, const void *b)
{
    const struct fde *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static size_t all_pads;

static void test_frames(void)
{
    enum { ENTRIES = 150, COMMON = 8 };
    struct maker m = {0};
    struct fde_list wanted = {0};
    struct call_site_list sites[ENTRIES] = {{0}};
    unsigned text = add_part(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0),
             frames = add_part(&m, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, FRAMES, 0),
             tables = add_part(&m, ".gcc_except_table", SHT_PROGBITS, SHF_ALLOC, TABLES, 0);
    struct made_cie cies[COMMON];
    vaddr owner[ENTRIES] = {0}, begin = TEXT;
    for (int i = 0; i < TEXT_SIZE; i++)
        buf_char(&m.parts[text], '\x90');
    const struct made_cie *last = NULL; /* that was read */
    for (unsigned i = 0, known = 0; i < ENTRIES; i++) {
        if (i % (ENTRIES / COMMON + 1) == 0) {
            cies[known] = put_cie(&m.parts[frames]);
            last = &cies[known++];
        }
        const struct made_cie *c = &cies[below(3) ? known - 1 : below(known)];
        bool lost = c->unknown || (c->wide && c != last);
        last = c->wide ? last : c;
        uint64_t size = 1 + below(150), lsda = 0;
        begin += 1 + below(190);
        if (begin >= TEXT + TEXT_SIZE)
            break;
        owner[i] = begin;
        if (c->has_lsda && below(4)) {
            lsda = TABLES + m.parts[tables].len;
            put_table(&m.parts[tables], begin, begin + size > TEXT + TEXT_SIZE ? TEXT + TEXT_SIZE - begin : size,
                      &sites[i]);
        }
        if (c->lsda & 0x80 || lost)
            sites[i].count = 0;
        put_fde(&m.parts[frames], c, begin, size, lsda);
        put_fde(&m.parts[frames], c, 0, size, 0); /* of a discarded function */
        put_fde(&m.parts[frames], c, begin, 0, 0);
        if (below(3) == 0 && c->code != 2 && c->code != 10)
            put_fde(&m.parts[frames], c, TABLES + 3, size, 0); /* outside of code */
        if (!lost)
            *vec_push(&wanted) = (struct fde){begin, begin + size < TEXT + TEXT_SIZE ? begin + size : TEXT + TEXT_SIZE,
                                              c->lsda & 0x80 ? 0 : lsda};
    }
    put_number(&m.parts[frames], 0, 4);
    put_number(&m.parts[frames], 77, 4); /* after the end */
    CHECK(m.parts[frames].len < TABLES - FRAMES && m.parts[tables].len < 0x4000);
    struct image *im = open_made(&m, ET_EXEC, EM_X86_64);
    struct warnings *w = warnings_create();
    const struct fde_list *got = image_fdes(im, w);
    vec_sort(&wanted, by_fde);
    CHECK_INT(warnings_count(w), 0);
    CHECK_INT(got->count, wanted.count);
    size_t different = 0;
    for (size_t i = 0; i < wanted.count && i < got->count; i++)
        different += got->items[i].begin != wanted.items[i].begin || got->items[i].end != wanted.items[i].end ||
                     got->items[i].lsda != wanted.items[i].lsda;
    CHECK_INT(different, 0);
    different = 0;
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct call_site_list found = {0};
        if (owner[i])
            image_call_sites(im, owner[i], &found);
        all_pads += found.count;
        different += found.count != sites[i].count;
        for (size_t k = 0; k < found.count && k < sites[i].count; k++)
            different += memcmp(&found.items[k], &sites[i].items[k], sizeof *found.items) != 0;
        vec_release(&found);
        vec_release(&sites[i]);
    }
    CHECK_INT(different, 0);
    warnings_free(w);
    image_close(im);
    vec_release(&wanted);
}

/* Damage ends the reading; the preceding entries are kept. */
static void test_damaged_frames(void)
{
    static const uint8_t lengths[][4] = {{3}, {200}, {0xff, 0xff, 0xff, 0x7f}};
    for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
        struct maker m = {0};
        unsigned text = add_part(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0),
                 frames = add_part(&m, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, FRAMES, 0);
        struct buf *b = &m.parts[frames];
        struct made_cie c;
        do {
            b->len = 0;
            c = put_cie(b);
        } while (c.unknown);
        for (int k = 0; k < TEXT_SIZE; k++)
            buf_char(&m.parts[text], '\x90');
        put_fde(b, &c, TEXT + 16, 5, 0);
        size_t at = b->len;
        buf_add(b, lengths[i], 4);
        buf_add(b, "abcdefgh", 8);
        put_fde(b, &c, TEXT + 32, 5, 0);
        struct image *im = open_made(&m, ET_EXEC, EM_X86_64);
        struct warnings *w = warnings_create();
        CHECK_INT(image_fdes(im, w)->count, 1);
        char *words = mem_printf("the entry at byte %zu of .eh_frame is damaged", at);
        CHECK(warnings_count(w) == 1 && warned(w, words));
        mem_free(words);
        warnings_free(w);
        image_close(im);
    }
}

/* ---- entries of the loader, and symbols -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint64_t value;
    uint8_t kind, binding;
    bool dynamic; /* it is in both tables */
} made_symbols[] = {{"one", TEXT + 16, STT_FUNC, STB_GLOBAL, true},
                    {"two", TEXT + 16, STT_FUNC, STB_WEAK, false},
                    {"three@@V1", TEXT + 32, STT_FUNC, STB_GLOBAL, true},
                    {"four", TEXT + 32, STT_FUNC, STB_LOCAL, false},
                    {"pick", TEXT + 64, 10, STB_GLOBAL, true},
                    {"label", TEXT + 65, STT_NOTYPE, STB_LOCAL, false},
                    {"object", DATA + 8, STT_OBJECT, STB_GLOBAL, true},
                    {"threads", DATA, STT_TLS, STB_GLOBAL, false},
                    {"section", TEXT, STT_SECTION, STB_LOCAL, false},
                    {"thr", TEXT + 32, STT_FUNC, STB_LOCAL, false}};
enum { MADE = ARRAY_SIZE(made_symbols) };

static void put_symbol(struct buf *table, struct buf *names, const char *name, size_t length, Elf64_Sym s)
{
    if (!names->len)
        buf_char(names, '\0');
    if (!table->len)
        put_number(table, 0, sizeof s);
    s.st_name = (Elf64_Word)names->len;
    buf_add(names, name, length);
    buf_char(names, '\0');
    buf_add(table, &s, sizeof s);
}

static void check_symbols(const struct image *im)
{
    size_t missing = 0, wanted = 0;
    for (size_t i = 0; i < MADE; i++) {
        const struct image_symbol *s = symbol_named(im, made_symbols[i].name);
        if (made_symbols[i].kind == STT_TLS || made_symbols[i].kind == STT_SECTION) {
            missing += s != NULL;
            continue;
        }
        wanted++;
        missing += !s || s->addr != made_symbols[i].value || s->size != i + 1 || s->dynamic ||
                   s->global != (made_symbols[i].binding == STB_GLOBAL) ||
                   s->weak != (made_symbols[i].binding == STB_WEAK) ||
                   s->kind != (made_symbols[i].kind == STT_FUNC     ? SYM_FUNC
                               : made_symbols[i].kind == STT_OBJECT ? SYM_OBJECT
                               : made_symbols[i].kind == STT_NOTYPE ? SYM_NOTYPE
                                                                    : SYM_IFUNC);
    }
    CHECK_INT(missing, 0);
    CHECK_INT(im->symbol_count, wanted);
    static const char *const order[] = {"one", "two", "three@@V1", "four", "thr", "pick", "label", "object"};
    for (size_t i = 0; i < ARRAY_SIZE(order) && i < im->symbol_count; i++)
        CHECK_STR(im->symbols[i].name, order[i]);
}

static void test_loader(unsigned machine, unsigned type)
{
    const bool x86 = machine == EM_X86_64;
    const uint32_t relative = x86 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE,
                   picked = x86 ? R_X86_64_IRELATIVE : R_AARCH64_IRELATIVE,
                   others[] = {x86 ? R_X86_64_64 : R_AARCH64_ABS64, x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT,
                               x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT, x86 ? R_X86_64_COPY : R_AARCH64_COPY};
    struct maker m = {0};
    static bool has[DATA_SIZE];
    static uint64_t wanted[DATA_SIZE];
    static const char *names[DATA_SIZE];
    memset(has, 0, sizeof has);
    memset(names, 0, sizeof names);
    unsigned text = add_part(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0),
             data = add_part(&m, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, DATA, 0),
             symtab = add_part(&m, ".symtab", SHT_SYMTAB, 0, 0, 4),
             strtab = add_part(&m, ".strtab", SHT_STRTAB, 0, 0, 0),
             dynsym = add_part(&m, ".dynsym", SHT_DYNSYM, SHF_ALLOC, 0x50000, 6),
             dynstr = add_part(&m, ".dynstr", SHT_STRTAB, SHF_ALLOC, 0x60000, 0),
             rela = add_part(&m, ".rela.dyn", SHT_RELA, SHF_ALLOC, 0x70000, 5),
             debug = add_part(&m, ".rela.debug", SHT_RELA, 0, 0, 5),
             relr = add_part(&m, ".relr.dyn", SHT_RELR, SHF_ALLOC, 0x80000, 0),
             low = add_part(&m, ".low", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, 0);
    m.headers[symtab].sh_entsize = m.headers[dynsym].sh_entsize = sizeof(Elf64_Sym);
    m.headers[rela].sh_entsize = m.headers[debug].sh_entsize = sizeof(Elf64_Rela);
    m.headers[relr].sh_entsize = 8;
    for (int i = 0; i < TEXT_SIZE; i++)
        buf_char(&m.parts[text], '\x90');
    for (int i = 0; i < DATA_SIZE; i++)
        buf_char(&m.parts[data], (char)random64());
    for (size_t i = 0; i < MADE; i++) {
        Elf64_Sym s = {.st_info = ELF64_ST_INFO(made_symbols[i].binding, made_symbols[i].kind),
                       .st_shndx = (Elf64_Half)(made_symbols[i].value < DATA ? text : data),
                       .st_value = made_symbols[i].value,
                       .st_size = i + 1};
        put_symbol(&m.parts[symtab], &m.parts[strtab], made_symbols[i].name, strlen(made_symbols[i].name), s);
        if (made_symbols[i].dynamic) /* without its version */
            put_symbol(&m.parts[dynsym], &m.parts[dynstr], made_symbols[i].name, strcspn(made_symbols[i].name, "@"), s);
    }
    Elf64_Sym outside = {.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)};
    put_symbol(&m.parts[dynsym], &m.parts[dynstr], "outside", 7, outside);
    static const char *const of_dynamic[] = {"one", "three", "pick", "object", "outside"};
    static const uint64_t values[] = {TEXT + 16, TEXT + 32, TEXT + 64, DATA + 8, 0};
    for (uint64_t at = 0; at + 8 < DATA_SIZE / 2; at += 8 + below(9)) { /* in any order: sorted when they are read */
        Elf64_Rela r = {.r_offset = DATA + at, .r_addend = below(3) ? 0 : below(1000)};
        uint32_t which = below(6), symbol = below(6), kind = which < 4 ? others[which] : which == 4 ? relative : picked;
        r.r_info = ELF64_R_INFO((uint64_t)(which < 4 ? symbol : 0), kind);
        if (kind == relative) {
            has[at] = true;
            wanted[at] = (uint64_t)r.r_addend;
        } else if (kind == picked) {
            r.r_addend = below(2) ? TEXT + 64 : TEXT + 63;
            names[at] = r.r_addend == TEXT + 64 ? "pick" : NULL;
        } else if (symbol && which < 3) {
            has[at] = symbol != 5;
            wanted[at] = values[symbol - 1] + (which == 0 ? (uint64_t)r.r_addend : 0);
            names[at] = which || r.r_addend == 0 ? of_dynamic[symbol - 1] : NULL;
        }
        buf_add(&m.parts[rela], &r, sizeof r);
        r.r_offset = DATA + DATA_SIZE - 16; /* not of the loader's */
        buf_add(&m.parts[debug], &r, sizeof r);
    }
    uint64_t first_bits = random64() >> 1, lowest[64];
    for (int i = 0; i < 64; i++)
        put_number(&m.parts[low], lowest[i] = random64(), 8);
    put_number(&m.parts[relr], first_bits << 1 | 1, 8);       /* bits before any address: from 0 on */
    for (uint64_t at = DATA_SIZE / 2; at < DATA_SIZE - 64;) { /* an address, then bits for the 63 words after it */
        put_number(&m.parts[relr], DATA + at, 8);
        has[at] = true;
        memcpy(&wanted[at], m.parts[data].bytes + at, 8);
        at += 8;
        for (uint32_t maps = below(3); maps > 0 && at + 63 * 8 < DATA_SIZE; maps--, at += 63 * 8) {
            uint64_t bits = random64() & random64();
            put_number(&m.parts[relr], bits << 1 | 1, 8);
            for (unsigned i = 0; i < 63; i++)
                if (bits >> i & 1) {
                    has[at + 8 * i] = true;
                    memcpy(&wanted[at + 8 * i], m.parts[data].bytes + at + 8 * i, 8);
                }
        }
        at += 8 * (1 + (uint64_t)below(30));
    }
    static char bytes[DATA_SIZE];
    memcpy(bytes, m.parts[data].bytes, DATA_SIZE);
    for (int slots_first = 0; slots_first < 2; slots_first++) {
        struct maker copy = m;
        if (slots_first == 0)
            for (unsigned i = 1; i < m.count; i++) {
                copy.parts[i] = (struct buf){0};
                buf_add(&copy.parts[i], m.parts[i].bytes ? m.parts[i].bytes : "", m.parts[i].len);
            }
        if (slots_first == 0) {
            copy.names = (struct buf){0};
            buf_add(&copy.names, m.names.bytes, m.names.len);
        }
        struct image *im = open_made(&copy, type, machine);
        for (int pass = 0; pass < 2; pass++) {
            size_t different = 0;
            for (uint64_t at = 0; at < DATA_SIZE; at++) {
                vaddr value = 0;
                uint64_t stored = 0;
                if ((pass == 0) == slots_first) {
                    const char *name = image_slot_name(im, DATA + at);
                    different += !name != !names[at] || (name && strcmp(name, names[at]) != 0);
                    continue;
                }
                bool got = image_pointer(im, DATA + at, &value);
                bool fixed = type == ET_EXEC && at + 8 <= DATA_SIZE && !has[at];
                memcpy(&stored, bytes + at, at + 8 <= DATA_SIZE ? 8 : 0);
                different += got != (has[at] || fixed) || (got && value != (fixed ? stored : wanted[at]));
            }
            CHECK_INT(different, 0);
        }
        for (uint64_t i = 0; i < 63; i++) {
            vaddr value = 0;
            bool got = image_pointer(im, 8 * i, &value);
            CHECK(got == (type == ET_EXEC || (first_bits >> i & 1)) && (!got || value == lowest[i]));
        }
        check_symbols(im);
        image_close(im);
    }
}

/* ---- symbols at one address -------------------------------------------------------------------------------------- */

enum { NAMED = 240, AT_ONCE = 6, NAMED_AT = 60 };

struct named {
    char name[24];
    uint64_t addr;
    uint8_t binding; /* 0 global, 1 weak, 2 local: in the order they come */
    uint32_t size;
    bool dynamic, wanted;
};

static bool same_base(const char *a, const char *b)
{
    size_t n = strcspn(a, "@");
    return n == strcspn(b, "@") && memcmp(a, b, n) == 0;
}

/* Names at an address are distinct, except for versions present in the symbol table but not in the loader's. */
static bool is_taken(const struct named *all, size_t count, const struct named *s)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].addr == s->addr && all[i].dynamic == s->dynamic && same_base(all[i].name, s->name))
            return true;
    return false;
}

static int by_place(const void *x, const void *y)
{
    const struct named *a = x, *b = y;
    if (a->addr != b->addr)
        return a->addr < b->addr ? -1 : 1;
    return a->binding != b->binding ? a->binding - b->binding : strcmp(a->name, b->name);
}

static size_t make_names(struct named *all)
{
    unsigned here[NAMED_AT] = {0};
    size_t count = 0;
    while (count < NAMED) {
        struct named *s = &all[count];
        uint32_t place = below(NAMED_AT);
        *s = (struct named){.addr = TEXT + 16 * place, .binding = (uint8_t)below(3), .size = 1 + below(16)};
        s->dynamic = below(3) == 0;
        if (s->dynamic && s->binding == 2)
            s->binding = 0;
        const char *version = s->dynamic || below(2) ? "" : below(2) ? "@V1" : "@@V22";
        snprintf(s->name, sizeof s->name, "n%u%s", below(8), version);
        if (here[place] < AT_ONCE && !is_taken(all, count, s)) {
            here[place]++;
            count++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        all[i].wanted = true;
        for (size_t k = 0; all[i].dynamic && k < count; k++)
            if (!all[k].dynamic && all[k].addr == all[i].addr && same_base(all[k].name, all[i].name))
                all[i].wanted = false;
    }
    return count;
}

static void test_symbols(void)
{
    static const uint8_t bindings[] = {STB_GLOBAL, STB_WEAK, STB_LOCAL};
    static struct named all[NAMED];
    size_t count = make_names(all), n = 0;
    struct maker m = {0};
    unsigned text = add_part(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0),
             symtab = add_part(&m, ".symtab", SHT_SYMTAB, 0, 0, 3),
             strtab = add_part(&m, ".strtab", SHT_STRTAB, 0, 0, 0),
             dynsym = add_part(&m, ".dynsym", SHT_DYNSYM, SHF_ALLOC, 0x50000, 5),
             dynstr = add_part(&m, ".dynstr", SHT_STRTAB, SHF_ALLOC, 0x60000, 0);
    m.headers[symtab].sh_entsize = m.headers[dynsym].sh_entsize = sizeof(Elf64_Sym);
    for (int i = 0; i < TEXT_SIZE; i++)
        buf_char(&m.parts[text], '\x90');
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym s = {.st_info = ELF64_ST_INFO(bindings[all[i].binding], STT_FUNC),
                       .st_shndx = (Elf64_Half)text,
                       .st_value = all[i].addr,
                       .st_size = all[i].size};
        bool dynamic = all[i].dynamic;
        put_symbol(&m.parts[dynamic ? dynsym : symtab], &m.parts[dynamic ? dynstr : strtab], all[i].name,
                   strlen(all[i].name), s);
    }
    struct image *im = open_made(&m, ET_DYN, EM_X86_64);
    qsort(all, count, sizeof *all, by_place);
    bool same = true;
    for (size_t i = 0; i < count && same; i++) {
        if (!all[i].wanted)
            continue;
        const struct image_symbol *s = n < im->symbol_count ? &im->symbols[n++] : NULL;
        same = s && strcmp(s->name, all[i].name) == 0 && s->addr == all[i].addr && s->size == all[i].size &&
               s->global == (all[i].binding == 0) && s->weak == (all[i].binding == 1) && s->dynamic == all[i].dynamic;
        if (!same)
            printf("# symbol %zu: %s at %llx, %s at %llx wanted\n", i, s ? s->name : "none",
                   s ? (unsigned long long)s->addr : 0, all[i].name, (unsigned long long)all[i].addr);
    }
    CHECK_NAMED(same && n == im->symbol_count, "each name at an address once, in order");
    image_close(im);
}

/* ---- notes ---- */

/* Consecutive notes, of which the first build id counts; the expected result is computed during generation. */
static void test_notes(void)
{
    static const char *const owners[] = {"GNU", "GNU", "Go", "GN", "GNUX", "stapsdt", "", "XNU"};
    struct maker m = {0};
    struct buf wanted = {0};
    buf_str(&wanted, "");
    bool found = false;
    for (unsigned sections = 1 + below(3); sections > 0; sections--) {
        unsigned part = add_part(&m, ".note", SHT_NOTE, 0, 0, 0);
        struct buf *b = &m.parts[part];
        for (unsigned notes = below(4); notes > 0; notes--) {
            const char *owner = owners[below(ARRAY_SIZE(owners))];
            uint32_t type = below(3) ? NT_GNU_BUILD_ID : 1 + below(5),
                     size = (uint32_t[]){0, 1, 8, 20, 64, 65}[below(6)];
            bool is_id = !found && type == NT_GNU_BUILD_ID && strcmp(owner, "GNU") == 0 && size > 0 && size <= 64;
            put_number(b, strlen(owner) + 1, 4);
            put_number(b, size, 4);
            put_number(b, type, 4);
            buf_add(b, owner, strlen(owner) + 1);
            while (b->len % 4)
                buf_char(b, '\0');
            for (uint32_t i = 0; i < size; i++) {
                uint8_t byte = (uint8_t)random64();
                buf_char(b, (char)byte);
                if (is_id)
                    buf_printf(&wanted, "%02x", byte);
            }
            found |= is_id;
            while (b->len % 4 && (notes > 1 || below(2))) /* the last may end without filling */
                buf_char(b, '\0');
        }
        if (b->len > 4 && below(8) == 0)
            put_number(b, 0x7fffffff, 4); /* the start of an incomplete one */
    }
    struct image *im = open_made(&m, ET_DYN, EM_X86_64);
    CHECK_STR(im->build_id, wanted.bytes);
    image_close(im);
    buf_release(&wanted);
}

/* A limited number of neighbours is compared: the k-th is the last one recognized as a duplicate. */
static void test_window(void)
{
    for (int forward = 0; forward < 2; forward++)
        for (unsigned between = 0; between < 11; between++) {
            struct maker m = {0};
            unsigned text = add_part(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0),
                     symtab = add_part(&m, ".symtab", SHT_SYMTAB, 0, 0, 3),
                     strtab = add_part(&m, ".strtab", SHT_STRTAB, 0, 0, 0),
                     dynsym = add_part(&m, ".dynsym", SHT_DYNSYM, SHF_ALLOC, 0x50000, 5),
                     dynstr = add_part(&m, ".dynstr", SHT_STRTAB, SHF_ALLOC, 0x60000, 0);
            Elf64_Sym s = {
                .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = (Elf64_Half)text, .st_value = TEXT};
            m.headers[symtab].sh_entsize = m.headers[dynsym].sh_entsize = sizeof s;
            buf_add(&m.parts[text], "\x90\x90\x90\x90", 4);
            if (forward)
                put_symbol(&m.parts[dynsym], &m.parts[dynstr], "a", 1, s);
            else
                put_symbol(&m.parts[symtab], &m.parts[strtab], "a@V", 3, s);
            for (unsigned i = 0; i < between; i++) {
                char name[] = {'b', (char)('a' + i)};
                put_symbol(&m.parts[symtab], &m.parts[strtab], name, 2, s);
            }
            s.st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC); /* follows them */
            if (forward)
                put_symbol(&m.parts[symtab], &m.parts[strtab], "a@V", 3, s);
            else
                put_symbol(&m.parts[dynsym], &m.parts[dynstr], "a", 1, s);
            struct image *im = open_made(&m, ET_DYN, EM_X86_64);
            bool same = between < (forward ? 7u : 8u);
            CHECK_INT(im->symbol_count, between + (same ? 1 : 2));
            image_close(im);
        }
}

/* Local symbols are of the file that was named last; a table of symbols may be without names. */
static void test_sources(void)
{
    static const struct {
        const char *name;
        uint8_t binding, type, source;
    } symbols[] = {
        {"early", STB_LOCAL, STT_FUNC, 0}, {"one.c", STB_LOCAL, STT_FILE, 0}, {"a", STB_LOCAL, STT_FUNC, 2},
        {"b", STB_LOCAL, STT_OBJECT, 2},   {"two.c", STB_LOCAL, STT_FILE, 0}, {"c", STB_LOCAL, STT_NOTYPE, 5},
        {"unique", 10, STT_OBJECT, 0},     {"weak", STB_WEAK, STT_FUNC, 0},   {"strong", STB_GLOBAL, STT_FUNC, 0}};
    struct maker m = {0};
    unsigned text = add_part(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0),
             symtab = add_part(&m, ".symtab", SHT_SYMTAB, 0, 0, 3),
             strtab = add_part(&m, ".strtab", SHT_STRTAB, 0, 0, 0);
    m.headers[symtab].sh_entsize = sizeof(Elf64_Sym);
    buf_add(&m.parts[text], "\x90\x90\x90\x90", 4);
    for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
        put_symbol(&m.parts[symtab], &m.parts[strtab], symbols[i].name, strlen(symbols[i].name),
                   (Elf64_Sym){.st_info = ELF64_ST_INFO(symbols[i].binding, symbols[i].type),
                               .st_shndx = (Elf64_Half)text,
                               .st_value = TEXT + i});
    struct image *im = open_made(&m, ET_EXEC, EM_X86_64);
    size_t wrong = 0, shown = 0;
    for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
        const struct image_symbol *s = symbol_named(im, symbols[i].name);
        wrong += !s != (symbols[i].type == STT_FILE);
        shown += s != NULL;
        wrong += s && (s->source != symbols[i].source || s->weak != (symbols[i].binding == STB_WEAK) ||
                       s->global != (symbols[i].binding == STB_GLOBAL || symbols[i].binding == 10));
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(im->symbol_count, shown);
    image_close(im);
}

/* Tables and their strings, in the file or not; names that end in the strings or not. */
static void test_symbol_tables(void)
{
    static const char strings[] = {0, 'a', 'b', 0, 'c', 'd'};
    Elf64_Sym symbols[4] = {{0}};
    struct elf_section sections[] = {{.name = ""},
                                     {.name = ".symtab",
                                      .type = SHT_SYMTAB,
                                      .link = 2,
                                      .size = sizeof symbols + 23,
                                      .raw = (const uint8_t *)symbols},
                                     {.name = ".strtab",
                                      .type = SHT_STRTAB,
                                      .addr = 0x4000,
                                      .size = sizeof strings,
                                      .raw = (const uint8_t *)strings}};
    struct elf_file f = {
        .path = (char *)(uintptr_t) "made", .sections = sections, .section_count = 3, .external = 0x9000};
    struct warnings *w = warnings_create();
    struct elf_symbols t = elf_symbols_of(&f, &sections[1], w);
    static const char *const names[] = {"", "ab", "b", "", "", "", "", ""};
    CHECK_INT(t.count, 4);
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
        CHECK_STR(elf_symbol_name(&t, &(Elf64_Sym){.st_name = i}), names[i]);
    CHECK_STR(elf_symbol_name(&t, &(Elf64_Sym){.st_name = UINT32_MAX}), "");
    sections[2].size = 0;
    t = elf_symbols_of(&f, &sections[1], w);
    CHECK(t.count == 4 && strcmp(elf_symbol_name(&t, &symbols[0]), "") == 0);
    CHECK_INT(elf_symbols_of(&f, NULL, w).count, 0);
    for (uint32_t link = 0; link <= 3; link += 3) {
        sections[1].link = link;
        CHECK_INT(elf_symbols_of(&f, &sections[1], w).count, 0);
    }
    CHECK_INT(warnings_count(w), 0);
    sections[1].link = 2;
    sections[2].raw = NULL;
    CHECK_INT(elf_symbols_of(&f, &sections[1], w).count, 0);
    CHECK(warnings_count(w) == 1 &&
          strcmp(warnings_get(w, 0), "made: the strings of .symtab are not in the file: its symbols have no names") ==
              0);
    sections[1].raw = NULL;
    CHECK(elf_symbols_of(&f, &sections[1], w).count == 0 && warnings_count(w) == 1);
    warnings_free(w);
    static const struct {
        unsigned section;
        size_t index;
        vaddr in_program, in_object; /* 0: none */
    } places[] = {{SHN_UNDEF, 0, 0, 0},  {SHN_UNDEF, 3, 0, 0x9030}, {SHN_ABS, 1, 0, 0},
                  {SHN_COMMON, 1, 0, 0}, {2, 1, 0x70, 0x4070},      {3, 1, 0x70, 0}};
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        for (int object = 0; object < 2; object++) {
            Elf64_Sym s = {.st_shndx = (Elf64_Half)places[i].section, .st_value = 0x70};
            vaddr at = 0, wanted = object ? places[i].in_object : places[i].in_program;
            f.header.e_type = object ? ET_REL : ET_DYN;
            CHECK(elf_symbol_address(&f, &s, places[i].index, &at) == (wanted != 0) && (!wanted || at == wanted));
        }
}

/* A relocatable file: its sections get addresses, and their contents are relocated as by a linker; also compressed. */
static void test_relocatable(void)
{
    static const char *const packings[] = {"", ".zdebug_x", ".debug_x"};
    for (size_t how = 0; how < ARRAY_SIZE(packings); how++) {
        struct maker m = {0};
        static const uint8_t zeros[400];
        unsigned text = add_part(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0),
                 threads = add_part(&m, ".tbss", SHT_NOBITS, SHF_ALLOC | SHF_TLS | SHF_WRITE, 0, 0),
                 data = add_part(&m, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, 0),
                 symtab = add_part(&m, ".symtab", SHT_SYMTAB, 0, 0, 5),
                 strtab = add_part(&m, ".strtab", SHT_STRTAB, 0, 0, 0),
                 of_text = add_part(&m, ".rela.text", SHT_RELA, 0, 0, 4),
                 of_debug = add_part(&m, ".rela.debug", SHT_RELA, 0, 0, 4),
                 debug = add_part(&m, how ? packings[how] : ".debug_x", SHT_PROGBITS, how == 2 ? SHF_COMPRESSED : 0,
                                  0x77, 0);
        m.headers[symtab].sh_entsize = sizeof(Elf64_Sym);
        m.headers[of_text].sh_entsize = m.headers[of_debug].sh_entsize = sizeof(Elf64_Rela);
        m.headers[of_text].sh_info = text;
        m.headers[of_debug].sh_info = debug;
        buf_add(&m.parts[text], zeros, 100);
        buf_add(&m.parts[threads], zeros, 8);
        buf_add(&m.parts[data], zeros, 40);
        put_symbol(&m.parts[symtab], &m.parts[strtab], "inside", 6,
                   (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                               .st_shndx = (Elf64_Half)data,
                               .st_value = 5,
                               .st_size = 9});
        put_symbol(&m.parts[symtab], &m.parts[strtab], "outside", 7,
                   (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), .st_size = 3});
        Elf64_Rela relas[] = {{8, ELF64_R_INFO(1ull, R_X86_64_64), 2}, {24, ELF64_R_INFO(2ull, R_X86_64_64), 1}};
        buf_add(&m.parts[of_text], relas, sizeof relas);
        buf_add(&m.parts[of_debug], relas, sizeof relas);
        unsigned damaged = add_part(&m, ".zdebug_y", SHT_PROGBITS, 0, 0, 0),
                 of_damaged = add_part(&m, ".rela.damaged", SHT_RELA, 0, 0, 4);
        m.headers[of_damaged].sh_entsize = sizeof(Elf64_Rela);
        m.headers[of_damaged].sh_info = damaged;
        buf_add(&m.parts[of_damaged], relas, sizeof relas);
        m.parts[damaged] = pack(GNU, zeros, sizeof zeros, sizeof zeros);
        m.parts[damaged].len -= 6;
        if (how)
            m.parts[debug] = pack(how == 1 ? GNU : ZLIB, zeros, sizeof zeros, sizeof zeros);
        else
            buf_add(&m.parts[debug], zeros, sizeof zeros);
        struct image *im = open_made(&m, ET_REL, EM_X86_64);
        const struct image_section *t = image_section_named(im, ".text"), *d = image_section_named(im, ".data"),
                                   *b = image_section_named(im, ".tbss"), *e = image_section_named(im, "[external]"),
                                   *x = image_section_named(im, ".debug_x");
        CHECK(im->relocatable && !im->position_independent && im->entry == 0 && t && d && b && e && x);
        CHECK(t->addr == 0x1000 && t->alloc && t->exec && !t->writable && t->size == 100);
        CHECK(b->addr == 0x1070 && !b->alloc && d->addr == 0x1080 && d->alloc && d->writable && !d->exec);
        CHECK(e->addr == 0x2000 && e->size == 3 * 16 && e->alloc && !e->bytes && !e->exec && im->section_count == 12);
        CHECK(!x->alloc && x->addr == 0 && !x->bytes == (how > 0));
        const struct image_symbol *in = symbol_named(im, "inside"), *out = symbol_named(im, "outside");
        CHECK(in && in->addr == 0x1085 && in->size == 9 && out && out->addr == 0x2020 && out->size == 16);
        struct elf_section *packed = elf_section_named(im->priv->file, ".debug_x");
        CHECK(elf_section_load(im->priv->file, packed, NULL) && packed->data_size == sizeof zeros);
        uint64_t wanted[] = {0x1087, 0x2021};
        for (int i = 0; i < 2; i++) {
            const uint8_t *at = i ? packed->data : t->bytes;
            CHECK(memcmp(at + 8, &wanted[0], 8) == 0 && memcmp(at + 24, &wanted[1], 8) == 0);
            CHECK(memcmp(at, zeros, 8) == 0 && memcmp(at + 16, zeros, 8) == 0 && memcmp(at + 32, zeros, 60) == 0);
        }
        struct elf_section *lost = elf_section_named(im->priv->file, ".debug_y");
        CHECK(lost && !elf_section_load(im->priv->file, lost, NULL) && !lost->data && lost->data_size == 0);
        vaddr value = 0;
        CHECK(image_pointer(im, 0x1008, &value) && value == 0x1087 && !image_slot_name(im, 0x1008));
        image_close(im);
    }
}

int main(void)
{
    scratch_make();
    test_relocations(EM_X86_64, x86_rules, ARRAY_SIZE(x86_rules));
    test_relocations(EM_AARCH64, arm_rules, ARRAY_SIZE(arm_rules));
    test_packed(ZLIB);
    test_packed(GNU);
#ifdef HAVE_ZSTD
    test_packed(ZSTANDARD);
#endif
    RUN(test_headers);
    for (int i = 0; i < 20; i++)
        test_frames();
    CHECK(all_pads > 200);
    RUN(test_damaged_frames);
    for (int i = 0; i < 30; i++)
        test_symbols();
    for (int i = 0; i < 40; i++)
        test_notes();
    RUN(test_window);
    RUN(test_sources);
    RUN(test_symbol_tables);
    RUN(test_relocatable);
    test_loader(EM_X86_64, ET_DYN);
    test_loader(EM_X86_64, ET_EXEC);
    test_loader(EM_AARCH64, ET_DYN);
    test_loader(EM_AARCH64, ET_EXEC);
    test_segments("-Wl,--hash-style=gnu");
    test_segments("-Wl,--hash-style=sysv -Wl,--build-id=sha1");
    test_segments("-Wl,--hash-style=both -Wl,-z,now");
    test_segments("-Wl,--hash-style=gnu -Wl,-z,pack-relative-relocs");
    scratch_remove();
    return tap_done();
}
