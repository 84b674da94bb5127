/*
 * Parts of a binary against naive definitions: relocations bit by bit, compressed sections of every size, and a file
 * without section headers against the same file with them.
 */
#include "config.h"

#include "bloop/binary_test.h"
#include "bloop/image/elf.h"
#include "tests/tap.h"

#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

static uint64_t seed = 88172645463325252;
static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)((random64() >> 32) % n);
}

/* ---- relocations: what the ABIs' tables say ------------------------------------------------------------------- */

enum value { ABSOLUTE, RELATIVE, PAGES, NOTHING };
struct field { /* of the value's bits, `count` from `from` on go to bit `to` of what is there */
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
    struct elf_section sections[] = {
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
    struct elf_file f = {.path = (char *)(uintptr_t) "made.o",
                         .header = {.e_type = ET_REL, .e_machine = (Elf64_Half)machine},
                         .sections = sections,
                         .section_count = ARRAY_SIZE(sections)};
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
    relas[PLACES] = (Elf64_Rela){SIZE - 8, ELF64_R_INFO(1ull, whole), 0}; /* the last that has room */
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
    CHECK_STR(warnings_get(w, 0), "made.o: 2 relocations in .rela.text point outside of the section or the symbol "
                                  "table; they are left out");
    warnings_free(w);
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
            if (n > 100) { /* cut short; or it claims less or more than there is */
                b.len -= 1 + below((uint32_t)b.len / 3);
                CHECK(unpack(how, &b, &size, NULL) == NULL);
                for (int more = -1; more <= 1; more += 2) {
                    buf_release(&b);
                    b = pack(how, bytes, n, n + (uint64_t)more);
                    mem_free(unpack(how, &b, &size, "cannot be decompressed: it is damaged; it is left out"));
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
    b = pack(ZLIB, zeros, sizeof zeros, 1040 * packed + 1039); /* as much as zlib could, and more */
    mem_free(unpack(ZLIB, &b, &size, "cannot be decompressed"));
    buf_release(&b);
    b = pack(ZLIB, zeros, sizeof zeros, 1040 * packed + 1040);
    mem_free(unpack(ZLIB, &b, &size, "its compression header is damaged (it claims"));
    b.bytes[0] = 9;
    mem_free(unpack(ZLIB, &b, &size, "is compressed in an unknown way (9); it is left out"));
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

/* ---- without section headers --------------------------------------------------------------------------------------- */

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
    test_headers();
    test_segments("-Wl,--hash-style=gnu");
    test_segments("-Wl,--hash-style=sysv -Wl,--build-id=sha1");
    test_segments("-Wl,--hash-style=both -Wl,-z,now");
    test_segments("-Wl,--hash-style=gnu -Wl,-z,pack-relative-relocs");
    scratch_remove();
    return tap_done();
}
