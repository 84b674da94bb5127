/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts that examine a simulated process, compared with plain definitions: rows of growing tables, memory maps,
 * files in this address space as listed by the dynamic linker, this program's own variables, and frame variables.
 */
#include "config.h"
#include "tests/fakes/fake_mmap_memory.h"

#include "mhsim/runtime/modules.h"
#include "mhsim/runtime/variables.h"
#include "tests/chance.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

static char folder[256];

/* The maps are returned in pieces, as by the kernel; then a line that exceeds every buffer, and one more. */
static struct {
    long fd; /* of the maps; -1: not open */
    bool in_pieces;
    size_t endless; /* bytes of that line which are still to come */
    const char *behind;
} maps = {.fd = -1};

static long read_maps(char *to, size_t n)
{
    size_t most = maps.in_pieces ? 1 + below(300) : n;
    long got = syscall(SYS_read, maps.fd, to, n < most ? n : most);
    if (got != 0)
        return got;
    if (maps.endless > 0) {
        n = n < maps.endless ? n : maps.endless;
        maps.endless -= n;
        memset(to, 'x', n);
        return (long)n;
    }
    if (!maps.behind)
        return 0;
    got = (long)strlen(maps.behind);
    memcpy(to, maps.behind, (size_t)got);
    maps.behind = NULL;
    return got;
}

long fake_syscall(long number, ...)
{
    long a[4];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_read && a[0] == maps.fd)
        return read_maps((char *)a[1], (size_t)a[2]);
    long answer = syscall(number, a[0], a[1], a[2], a[3]);
    if (number == SYS_openat && strcmp((const char *)a[1], "/proc/self/maps") == 0)
        maps.fd = answer;
    if (number == SYS_close && a[0] == maps.fd)
        maps.fd = -1;
    return answer;
}

int fake_yield(void)
{
    return sched_yield();
}

/* ---- tables and maps --------------------------------------------------------------------------- */

static void test_store(void)
{
    struct store s;
    uint64_t count = 2; /* of a file that has rows already */
    char path[300];
    snprintf(path, sizeof path, "%s/rows", folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    for (int in_file = 0; in_file < 2; in_file++) {
        CHECK_INT(mmap_store_open(&s, 24, 10000, in_file ? path : NULL, 8192, in_file ? &count : NULL), 0);
        uint64_t before = *s.count;
        CHECK_INT(before, in_file ? 2 : 0);
        uint8_t *first = mmap_store_add(&s, 1), clear[24] = {0};
        CHECK(first && first == (uint8_t *)store_get(&s, before) && memcmp(first, clear, 24) == 0);
        if (!first)
            return;
        memset(first, 7, 24);
        CHECK(mmap_store_add(&s, 10000 - before) == NULL); /* one more than the limit: no change */
        CHECK_INT(*s.count, before + 1);
        uint8_t *rest = mmap_store_add(&s, 10000 - before - 1);
        CHECK(rest == (uint8_t *)store_get(&s, before + 1));
        CHECK(rest && memcmp(rest + 24 * (size_t)(10000 - before - 2), clear, 24) == 0);
        CHECK(first == (uint8_t *)store_get(&s, before) && first[23] == 7); /* rows never move */
        CHECK(mmap_store_add(&s, 1) == NULL);
        CHECK_INT(*s.count, 10000);
        if (in_file) { /* data written there is in the file */
            uint8_t there[24] = {0};
            CHECK_INT(pread(fd, there, 24, 8192 + 2 * 24), 24);
            CHECK(memcmp(there, first, 24) == 0);
        }
        mmap_store_close(&s);
    }
    close(fd);
    unlink(path);
    CHECK_INT(mmap_store_open(&s, 24, 100, "/nowhere/rows", 0, &count), -1);
}

static void test_map(void)
{
    enum { KEYS = 3000 };
    static uint64_t keys[KEYS], values[KEYS];
    struct map m = {0};
    size_t n = 0;
    bool same = true;
    CHECK(map_get(&m, 5) == NULL);
    for (int i = 0; i < 9000; i++) {
        uint64_t key = below(4) ? below(2000) : (uint64_t)below(500) << 40;
        size_t k = 0;
        while (k < n && keys[k] != key)
            k++;
        uint64_t *got = map_get(&m, key);
        same = same && (k < n) == (got != NULL) && (!got || *got == values[k]);
        uint64_t *put = map_put(&m, key);
        if (k == n) {
            same = same && put && *put == 0;
            keys[n++] = key;
        }
        if (put)
            values[k] = *put = below(1000) + 1;
    }
    for (size_t k = 0; k < n; k++)
        same = same && map_get(&m, keys[k]) && *map_get(&m, keys[k]) == values[k];
    CHECK_NAMED(same, "a map has what a list of pairs has");
    CHECK_INT(m.count, n);
    map_close(&m);
    struct map few = {.most = 3};
    for (uint64_t i = 0; i < 3; i++)
        CHECK(map_put(&few, i) != NULL);
    CHECK(map_put(&few, 3) == NULL);
    CHECK(map_put(&few, 2) != NULL); /* is there */
    map_close(&few);
}

/* Rows that met one block, objects of one address: their keys differ in the upper bits only. */
static void test_map_spreads(void)
{
    struct map m = {0};
    uint64_t further = 0;
    for (uint64_t row = 0; row < 4000; row++)
        map_put(&m, row << 44 | 12345);
    for (uint64_t i = 0; i < m.capacity; i++)
        if (m.slots[i].key != MAP_EMPTY)
            further += (i - map_hash(m.slots[i].key)) & (m.capacity - 1);
    CHECK_NAMED(further < 3 * m.count, "keys stand near where they are looked for");
    map_close(&m);
}

/* ---- the address space --------------------------------------------------------------------------- */

struct known { /* an object as the dynamic linker has it */
    uint64_t bias, lo, hi;
    char build_id[RAW_BUILD_ID];
};

static void note_of(const uint8_t *note, size_t size, char *id)
{
    const Elf64_Nhdr *n = (const void *)note;
    while (size >= sizeof *n && !*id) {
        size_t name = (n->n_namesz + 3u) & ~3u, all = sizeof *n + name + ((n->n_descsz + 3u) & ~3u);
        if (n->n_type == NT_GNU_BUILD_ID && strcmp((const char *)(n + 1), "GNU") == 0)
            for (uint32_t i = 0; i < n->n_descsz; i++)
                sprintf(id + 2 * i, "%02x", ((const uint8_t *)(n + 1) + name)[i]);
        size -= all;
        n = (const void *)((const uint8_t *)n + all);
    }
}

static struct store modules;
static size_t objects, alike;

static int compare_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct known k = {.bias = info->dlpi_addr, .lo = UINT64_MAX};
    (void)size, (void)ctx;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *h = &info->dlpi_phdr[i];
        uint64_t begin = k.bias + h->p_vaddr, end = begin + h->p_memsz;
        if (h->p_type == PT_NOTE && !*k.build_id)
            note_of((const uint8_t *)(uintptr_t)begin, h->p_memsz, k.build_id);
        if (h->p_type == PT_LOAD && begin < k.lo)
            k.lo = begin & ~4095ull;
        if (h->p_type == PT_LOAD && end > k.hi)
            k.hi = (end + 4095) & ~4095ull;
    }
    if (strstr(info->dlpi_name, "vdso") || (*info->dlpi_name && *info->dlpi_name != '/'))
        return 0;
    objects++;
    int64_t at = modules_find(&modules, k.lo);
    const struct raw_module *m = at < 0 ? NULL : store_get(&modules, (uint64_t)at);
    bool same = m && m->bias == k.bias && m->lo == k.lo && m->hi == k.hi && strcmp(m->build_id, k.build_id) == 0 &&
                modules_find(&modules, k.hi - 1) == at && modules_find(&modules, k.hi) != at &&
                modules_find(&modules, k.lo - 1) != at;
    alike += same;
    if (!same)
        printf("# '%s' %llx %llx-%llx %s\n", info->dlpi_name, (unsigned long long)k.bias, (unsigned long long)k.lo,
               (unsigned long long)k.hi, k.build_id);
    return 0;
}

static void test_modules(void)
{
    CHECK_INT(mmap_store_open(&modules, sizeof(struct raw_module), RAW_MODULES_MOST, NULL, 0, NULL), 0);
    CHECK_INT(modules_find(&modules, (uint64_t)(uintptr_t)&modules), -1);
    modules_refresh(&modules);
    dl_iterate_phdr(compare_object, NULL);
    CHECK(objects >= 2);
    CHECK_INT(alike, objects);
    uint64_t count = *modules.count;
    modules_refresh(&modules);
    CHECK_INT(*modules.count, count); /* no change: files mapped to read their headers are not listed either */
    CHECK_INT(modules_find(&modules, 16), -1);
    char own[RAW_PATH] = "";
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    int64_t at = modules_find(&modules, (uint64_t)(uintptr_t)&modules);
    if (CHECK(at >= 0))
        CHECK_STR(((struct raw_module *)store_get(&modules, (uint64_t)at))->path, own);
}

/* ---- generated files: their notes ------------------------------------------------------------------------------ */

enum { FILES = 60, FILE_BYTES = 8192, NOTE_PARTS = 3, LOAD_PARTS = 3, ROOM = 1 << 20 };

static size_t put_note(uint8_t *to, const char *name, uint32_t name_size, uint32_t type, uint32_t size, uint8_t first)
{
    const uint32_t head[3] = {name_size, size, type};
    size_t at = sizeof head + ((name_size + 3u) & ~3u), all = at + ((size + 3u) & ~3u);
    memset(to, 0, all);
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, name, name_size);
    for (uint32_t i = 0; i < size; i++)
        to[at + i] = (uint8_t)(first + i);
    return all;
}

/* Some notes, one of which may be the build id; a malformed one ends the reading. id: the expected build id. */
static size_t put_notes(uint8_t *to, char *id)
{
    size_t n = 0;
    for (uint32_t k = below(4); k-- > 0;) {
        uint32_t size = 1 + below(40), kind = below(6);
        uint8_t first = (uint8_t)below(100);
        if (kind == 0) { /* a name that continues past the end of the segment */
            n += put_note(to + n, "GNU", 4, NT_GNU_BUILD_ID, 8, first);
            return n - 4;
        }
        const char *name = kind == 1 ? "XYZ" : "GNU";
        uint32_t type = kind == 2 ? NT_GNU_ABI_TAG : NT_GNU_BUILD_ID, name_size = kind == 3 ? 3 : 4;
        n += put_note(to + n, name, name_size, type, size, first);
        if (kind > 3 && 2 * size < RAW_BUILD_ID && !*id) {
            for (uint32_t i = 0; i < size; i++)
                sprintf(id + 2 * i, "%02x", first + i);
            return n;
        }
    }
    return n;
}

/* end: of the loaded segments, from the start: segments anywhere in the file, also empty ones; one that ends before its
   start is ignored. */
static void make_object(uint8_t *bytes, char *id, uint64_t *end)
{
    Elf64_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                    .e_type = ET_DYN,
                    .e_phoff = sizeof e,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 1 + NOTE_PARTS + LOAD_PARTS};
    Elf64_Phdr parts[1 + NOTE_PARTS + LOAD_PARTS] = {
        {.p_type = PT_LOAD, .p_filesz = FILE_BYTES, .p_memsz = FILE_BYTES}};
    memset(bytes, 0, FILE_BYTES);
    for (unsigned i = 1; i <= NOTE_PARTS; i++) {
        uint8_t *to = bytes + 1024 * i;
        size_t n = put_notes(to, id);
        parts[i] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = 1024 * i, .p_filesz = n};
        put_note(to + ((n + 3) & ~3u), "GNU", 4, NT_GNU_BUILD_ID, 8, 200); /* after its end */
    }
    *end = FILE_BYTES;
    for (unsigned i = 1 + NOTE_PARTS; i < 1 + NOTE_PARTS + LOAD_PARTS; i++) {
        uint64_t at = below(ROOM / 2), size = below(3) ? below(ROOM / 2) : below(2) ? 0 : UINT64_MAX - below(100);
        parts[i] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = below(FILE_BYTES), .p_vaddr = at, .p_memsz = size};
        if (at + size >= at && at + size > *end)
            *end = at + size;
    }
    memcpy(bytes, &e, sizeof e);
    memcpy(bytes + sizeof e, parts, sizeof parts);
}

static void test_notes(void)
{
    static uint8_t bytes[FILE_BYTES];
    char path[300];
    for (int i = 0; i < FILES; i++) {
        char id[RAW_BUILD_ID] = "";
        uint64_t end;
        make_object(bytes, id, &end);
        snprintf(path, sizeof path, "%s/object%d", folder, i);
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        bool good = fd >= 0 && write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes;
        void *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        void *at = mmap(room, FILE_BYTES, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
        modules_refresh(&modules);
        int64_t found = modules_find(&modules, (uint64_t)(uintptr_t)at + 5000);
        if (CHECK(good && at != MAP_FAILED && found >= 0)) {
            const struct raw_module *m = store_get(&modules, (uint64_t)found);
            CHECK_STR(m->build_id, id);
            CHECK_INT(m->lo - (uint64_t)(uintptr_t)at, 0);
            CHECK_INT(m->hi - m->lo, (end + 4095) & ~4095ull);
        }
        munmap(room, ROOM);
        close(fd);
        unlink(path);
    }
}

/* ---- generated files: their symbols ----------------------------------------------------------------------------- */

enum { SYMBOLS = 12, NAMES_BYTES = 200, DRAWN_FILES = 120 };

/* All kinds but the first yield no symbols. */
enum damage {
    SOUND,
    OTHER_SECTIONS,
    CROOKED_SECTIONS,
    SECTIONS_BEHIND,
    NO_TABLE,
    CROOKED_TABLE,
    TABLE_BEHIND,
    EMPTY_TABLE,
    NO_SUCH_NAMES,
    NAMES_BEHIND,
    NAMES_WITHOUT_END,
    NO_NAMES,
    DAMAGES
};

struct made_file {
    Elf64_Ehdr head;
    Elf64_Phdr part, behind; /* the second is not in the table */
    Elf64_Shdr sections[6];  /* the last is not in the table */
    Elf64_Sym tables[2][SYMBOLS];
    char names[2][NAMES_BYTES];
};

/* Data symbols at distinct addresses, in any order; and symbols to be ignored: code, undefined, empty, or with a name
 * outside of the string table. */
static void draw_symbols(Elf64_Sym *table, char *names)
{
    memset(names, 'x', NAMES_BYTES);
    for (unsigned i = 0; i < SYMBOLS; i++) {
        unsigned kind = below(8);
        snprintf(names + 10 * i, 10, "v%u_%u", i, below(1000));
        table[i] = (Elf64_Sym){.st_name = kind == 0   ? NAMES_BYTES
                                          : kind == 1 ? NAMES_BYTES - 1
                                                      : 10 * i,
                               .st_info = ELF64_ST_INFO(STB_GLOBAL, kind == 2 ? STT_FUNC : STT_OBJECT),
                               .st_shndx = kind == 3 ? SHN_UNDEF : 1,
                               .st_size = kind == 4 ? 0 : 1 + below(40)};
        for (bool unlike = false; !unlike;) {
            unlike = true;
            table[i].st_value = 16 + below(SYMBOLS * 30);
            for (unsigned k = 0; k < i; k++)
                unlike = unlike && table[k].st_value != table[i].st_value;
        }
    }
    names[NAMES_BYTES - 1] = '\0';
}

/* The full symbol table takes precedence if both tables exist, in any order. Returns the one used; 2: none. */
static unsigned draw_file(struct made_file *f, enum damage damage)
{
    unsigned symtab = below(3), dynsym = symtab == 2 || below(2) ? 1 : 2; /* the index of each; 2: missing */
    unsigned counts = symtab < 2 ? symtab : dynsym;
    memset(f, 0, sizeof *f);
    f->part = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = sizeof *f, .p_memsz = 8192};
    f->behind = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 16384, .p_memsz = 4096};
    f->head = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                           .e_type = ET_DYN,
                           .e_phoff = offsetof(struct made_file, part),
                           .e_phentsize = sizeof f->part,
                           .e_phnum = 1,
                           .e_shoff = offsetof(struct made_file, sections),
                           .e_shentsize = sizeof *f->sections,
                           .e_shnum = 5};
    if (dynsym == symtab)
        dynsym = 1 - symtab;
    for (unsigned i = 0; i < 2; i++) {
        draw_symbols(f->tables[i], f->names[i]);
        f->sections[1 + i] = (Elf64_Shdr){.sh_type = i == symtab   ? SHT_SYMTAB
                                                     : i == dynsym ? SHT_DYNSYM
                                                                   : SHT_PROGBITS,
                                          .sh_offset = offsetof(struct made_file, tables[i]),
                                          .sh_size = sizeof f->tables[i],
                                          .sh_link = 3 + i};
        f->sections[3 + i] = (Elf64_Shdr){
            .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct made_file, names[i]), .sh_size = NAMES_BYTES};
    }
    f->sections[5] = f->sections[below(2) ? 1 : 3 + counts % 2];
    f->sections[5].sh_type = f->sections[5].sh_type == SHT_STRTAB ? SHT_STRTAB : SHT_SYMTAB;
    Elf64_Shdr *table = &f->sections[1 + counts], *names = &f->sections[3 + counts];
    f->head.e_shentsize += damage == OTHER_SECTIONS;
    f->head.e_shoff += damage == CROOKED_SECTIONS ? 4 : damage == SECTIONS_BEHIND ? sizeof *f - 64 : 0;
    f->sections[1].sh_type = damage == NO_TABLE ? SHT_PROGBITS : f->sections[1].sh_type;
    f->sections[2].sh_type = damage == NO_TABLE ? SHT_PROGBITS : f->sections[2].sh_type;
    table->sh_offset += damage == CROOKED_TABLE ? 4 : damage == TABLE_BEHIND ? sizeof *f + 64 : 0;
    table->sh_size = damage == EMPTY_TABLE ? sizeof(Elf64_Sym) - 1 : table->sh_size;
    table->sh_link = damage == NO_SUCH_NAMES ? 5 : table->sh_link;
    names->sh_offset = damage == NAMES_BEHIND ? sizeof *f - NAMES_BYTES + 1 : names->sh_offset;
    names->sh_size = damage == NO_NAMES ? 0 : damage == NAMES_WITHOUT_END ? NAMES_BYTES - 1 : names->sh_size;
    return damage == SOUND ? counts : 2;
}

static bool is_data(const Elf64_Sym *s)
{
    return ELF64_ST_TYPE(s->st_info) == STT_OBJECT && s->st_shndx != SHN_UNDEF && s->st_size &&
           s->st_name < NAMES_BYTES;
}

/* By definition: the last symbol at or before the address covers it up to its end or the next symbol; otherwise it is
 * in a gap. */
static bool naive_symbol(const struct made_file *f, unsigned counts, uint64_t at, struct data_symbol *d)
{
    const Elf64_Sym *before = NULL;
    *d = (struct data_symbol){.lo = 0, .hi = 8192, .name = NULL};
    for (unsigned i = 0; counts < 2 && i < SYMBOLS; i++) {
        const Elf64_Sym *s = &f->tables[counts][i];
        if (is_data(s) && s->st_value <= at && (!before || s->st_value > before->st_value))
            before = s;
        if (is_data(s) && s->st_value > at && s->st_value < d->hi)
            d->hi = s->st_value;
    }
    if (before && at < before->st_value + before->st_size) {
        d->lo = before->st_value;
        d->hi = before->st_value + before->st_size < d->hi ? before->st_value + before->st_size : d->hi;
        d->name = f->names[counts] + before->st_name;
        return true;
    }
    d->lo = before ? before->st_value + before->st_size : 0;
    return false;
}

static bool same_symbols(const struct made_file *f, unsigned counts, uint64_t base)
{
    int64_t module = modules_find(&modules, base);
    bool same = module >= 0 && ((const struct raw_module *)store_get(&modules, (uint64_t)module))->hi == base + 8192;
    for (uint64_t at = 0; same && at < 16 + SYMBOLS * 30 + 60; at++) {
        struct data_symbol got = {0}, want;
        bool is = modules_symbol(&modules, (uint32_t)module, base + at, &got),
             wanted = naive_symbol(f, counts, at, &want);
        same = is == wanted && got.lo - base == want.lo && got.hi - base == want.hi &&
               (!is || strcmp(got.name, want.name) == 0);
    }
    return same;
}

static void test_drawn_symbols(void)
{
    static struct made_file f;
    char path[300];
    for (int i = 0; i < DRAWN_FILES; i++) {
        enum damage damage = i % 3 ? SOUND : (enum damage)(i / 3 % DAMAGES);
        unsigned counts = draw_file(&f, damage);
        snprintf(path, sizeof path, "%s/symbols%d", folder, i);
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        bool good = fd >= 0 && write(fd, &f, sizeof f) == (ssize_t)sizeof f;
        void *at = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
        modules_refresh(&modules);
        if (!CHECK(good && at != MAP_FAILED && same_symbols(&f, counts, (uint64_t)(uintptr_t)at)))
            printf("# file %d, damage %d\n", i, (int)damage);
        munmap(at, 8192);
        close(fd);
        unlink(path);
    }
}

/* Is a module found if the first page of the file `name` in `dir` is mapped, with its first segment at file offset
 * `begin`? */
static struct made_file lone; /* mapped by is_module, and generated again for the next call */
static uint64_t mapped_from;

static bool is_module(const char *dir, const char *name, uint64_t offset)
{
    char path[300];
    uint64_t before = *modules.count;
    lone.part.p_offset = lone.part.p_vaddr = offset;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    bool good = fd >= 0 && write(fd, &lone, sizeof lone) == (ssize_t)sizeof lone;
    void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, (off_t)mapped_from);
    modules_refresh(&modules);
    int64_t found = modules_find(&modules, (uint64_t)(uintptr_t)at + offset - mapped_from);
    CHECK(good && at != MAP_FAILED);
    bool is = found >= 0 && strcmp(((const struct raw_module *)store_get(&modules, (uint64_t)found))->path, path) == 0;
    CHECK(*modules.count == before + is);
    munmap(at, 4096);
    close(fd);
    unlink(path);
    draw_file(&lone, SOUND);
    mapped_from = 0;
    return is;
}

/* The first page of a segment precedes it by less than the largest page size; devices and files among them are not
   modules. */
static void test_no_modules(void)
{
    draw_file(&lone, SOUND);
    CHECK(is_module(folder, "here", 0));
    lone.head.e_phentsize++;
    CHECK(!is_module(folder, "other headers", 0));
    lone.head.e_phoff += 4;
    CHECK(!is_module(folder, "crooked headers", 0));
    lone.part.p_memsz = lone.part.p_filesz = 0;
    CHECK(!is_module(folder, "nothing", 0));
    lone.head.e_ident[EI_DATA] = ELFDATA2MSB;
    CHECK(!is_module(folder, "big-endian", 0));
    lone.head.e_ident[EI_CLASS] = ELFCLASS32;
    CHECK(!is_module(folder, "of 32 bits", 0));
    mapped_from = 4096;
    CHECK(is_module(folder, "its second page", 65535 + 4096));
    mapped_from = 4096;
    CHECK(!is_module(folder, "its second page, too far", 65536 + 4096));
    CHECK(is_module(folder, "a page's end", 65535));
    CHECK(!is_module(folder, "behind a page", 65536));
    if (access("/dev/shm", W_OK) != 0)
        SKIP("a file among devices", "no /dev/shm");
    else
        CHECK(!is_module("/dev/shm", strrchr(folder, '/') + 1, 0));
}

/* However the maps are split, the same modules are found, also in the last line; all files opened for that are
   closed. */
static void test_maps(void)
{
    char own[256] = "", line[400];
    struct store first;
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    snprintf(line, sizeof line,
             "\n8000000-8001000 r--p 00000000 00:00 0     /nowhere/at/all\n10000-11000 r--p 00000000 00:00 0     %s\n",
             own);
    for (unsigned how = 0; how < 8; how++) {
        struct store found;
        int input = dup(0), next = dup(0), mapped = made_memory.mapped;
        close(next);
        mmap_store_open(&found, sizeof(struct raw_module), RAW_MODULES_MOST, NULL, 0, NULL);
        found.count = &found.own_count;
        maps.in_pieces = how & 1;
        maps.endless = how & 2 ? 200000 : 0;
        maps.behind = line;
        if (how & 4)
            close(0);
        modules_refresh(&found);
        CHECK(modules_find(&found, 0x10000) >= 0 && modules_find(&found, 0x8000000) < 0);
        CHECK((fcntl(0, F_GETFD) < 0) == (how >= 4));
        dup2(input, 0);
        int free_now = dup(0);
        CHECK_INT(free_now, next);
        close(free_now);
        close(input);
        modules_close();
        if (how == 0) {
            first = found;
            first.count = &first.own_count;
            continue;
        }
        CHECK_INT(*found.count, *first.count);
        CHECK(*found.count == *first.count &&
              memcmp(found.base, first.base, *found.count * sizeof(struct raw_module)) == 0);
        mmap_store_close(&found);
        CHECK_INT(made_memory.mapped, mapped);
    }
    mmap_store_close(&first);
}

/* ---- this program's variables ----------------------------------------------------------------------- */

#ifdef __clang__ /* whose sanitizer adds red zones to the sizes of symbols */
#define AS_IT_IS __attribute__((no_sanitize("address")))
#else
#define AS_IT_IS
#endif
AS_IT_IS int test_one = 1, test_many[37] = {2}, test_zeros[50];
AS_IT_IS char test_char = 'x';

static void test_symbols(void)
{
    const struct {
        const char *name;
        const void *at;
        size_t size;
    } known[] = {{"test_one", &test_one, sizeof test_one},
                 {"test_many", test_many, sizeof test_many},
                 {"test_zeros", test_zeros, sizeof test_zeros},
                 {"test_char", &test_char, 1}};
    int64_t own = modules_find(&modules, (uint64_t)(uintptr_t)&modules);
    if (own < 0)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t begin = (uint64_t)(uintptr_t)known[i].at, end = begin + known[i].size;
        uint64_t inside[] = {begin, begin + known[i].size / 2, end - 1};
        for (size_t k = 0; k < 3; k++) {
            struct data_symbol d = {0};
            CHECK(modules_symbol(&modules, (uint32_t)own, inside[k], &d));
            CHECK_STR(d.name, known[i].name);
            CHECK(d.lo == begin && d.hi == end);
        }
    }
    /* each symbol has its own number; gaps extend to the next symbol; code is not data */
    const struct raw_module *m = store_get(&modules, (uint64_t)own);
    bool sound = true;
    uint64_t last = 0, found = 0, number = 0;
    for (uint64_t at = m->lo; at < m->hi;) {
        struct data_symbol d = {.lo = 0};
        bool is = modules_symbol(&modules, (uint32_t)own, at, &d);
        sound = sound && d.hi > at && d.lo <= at && (at == m->lo || d.lo == last);
        sound = sound && (!is || found++ == 0 || d.number > number);
        number = is ? d.number : number;
        last = d.hi;
        at = d.hi > at ? d.hi : m->hi;
    }
    CHECK_NAMED(sound && last == m->hi, "symbols and gaps follow each other, to the module's end");
    CHECK(found > 4);
    struct data_symbol d = {0};
    CHECK(!modules_symbol(&modules, (uint32_t)own, (uint64_t)(uintptr_t)test_symbols, &d));
    const void *of_library =
        dlsym(RTLD_NEXT, "obstack_alloc_failed_handler"); /* which has dynamic symbols alone, often */
    int64_t library = of_library ? modules_find(&modules, (uint64_t)(uintptr_t)of_library) : -1;
    if (library < 0) {
        SKIP("a library's variable", "another C library");
    } else {
        CHECK(modules_symbol(&modules, (uint32_t)library, (uint64_t)(uintptr_t)of_library, &d));
        CHECK_STR(d.name, "obstack_alloc_failed_handler");
    }
    modules_close();
}

/* ---- variables known from debug information ------------------------------------------------------------ */

enum { STATICS = 40, FRAMES = 60 };
static struct mhsim_variable rows[STATICS + FRAMES];

/* Some side by side, some apart. */
static void make_variables(void)
{
    int64_t at = 0x1000;
    for (int i = 0; i < STATICS; i++) {
        at += below(2) * 8;
        rows[i].lo = at;
        rows[i].hi = at += 4 + below(12);
        snprintf(rows[i].name, sizeof rows[i].name, "s%d", i);
    }
    uint64_t from = 0x400;
    for (int i = STATICS; i < STATICS + FRAMES; i++) {
        struct mhsim_variable *v = &rows[i];
        from += i % 5 ? 0 : 64; /* five of each procedure, which has 48 bytes */
        int64_t lo = -100 + (int64_t)below(90);
        *v = (struct mhsim_variable){.from = from, .to = from + 48, .lo = lo, .hi = lo + 1 + below(30)};
        v->code_from = from + below(16);
        v->code_to = v->code_from + below(32);
        snprintf(v->name, sizeof v->name, "f%d", i);
    }
}

/* By definition: the smallest variable that contains the offset and is in scope at this code (of equals the last one);
   otherwise the gap between those in scope. */
static const struct mhsim_variable *naive_in_frame(uint64_t pc, int64_t offset, int64_t *lo, int64_t *hi)
{
    const struct mhsim_variable *best = NULL;
    for (int i = STATICS + FRAMES; i-- > STATICS;) {
        const struct mhsim_variable *v = &rows[i];
        if (pc < v->from || pc >= v->to || pc < v->code_from || pc >= v->code_to)
            continue;
        if (v->lo <= offset && offset < v->hi && (!best || v->hi - v->lo < best->hi - best->lo))
            best = v;
        if (v->hi <= offset && v->hi > *lo)
            *lo = v->hi;
        if (v->lo > offset && v->lo < *hi)
            *hi = v->lo;
    }
    return best;
}

/* Before ours three of another file, and two after it. */
static bool write_variables(const char *path, const struct raw_variables *heads, size_t bytes)
{
    const struct mhsim_variable other = {.to = UINT64_MAX, .code_to = UINT64_MAX, .lo = -1000, .hi = 1 << 30};
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(heads, bytes, 1, f) == 1;
    for (int i = 0; i < 3; i++)
        good = good && fwrite(&other, sizeof other, 1, f) == 1;
    good = good && fwrite(rows, sizeof rows, 1, f) == 1;
    for (int i = 0; i < 2; i++)
        good = good && fwrite(&other, sizeof other, 1, f) == 1;
    return f && fclose(f) == 0 && good;
}

static void test_variables(void)
{
    char path[300];
    struct raw_variables heads[] = {{.path = "/before", .statics = 2, .frames = 1},
                                    {.path = "/program", .first = 3, .statics = STATICS, .frames = FRAMES},
                                    {.path = "/behind", .first = 3 + STATICS + FRAMES, .frames = 2}};
    struct raw_orders o = {.variable_files = 3, .variables = 5 + STATICS + FRAMES};
    make_variables();
    snprintf(path, sizeof path, "%s/" RAW_VARIABLES, folder);
    heads[2].first--;
    CHECK(write_variables(path, heads, sizeof heads));
    CHECK(!variables_open(folder, &o)); /* two files have the same variable */
    heads[2].first++;
    CHECK(write_variables(path, heads, sizeof heads));
    CHECK(!variables_open(folder, &(struct raw_orders){0}));
    o.variables++;
    CHECK(!variables_open(folder, &o)); /* the file is shorter than that */
    o.variables--;
    CHECK(!variables_open("/nowhere", &o));
    CHECK(variables_open(folder, &o));
    unlink(path);
    const struct raw_variables *of = variables_of("/program");
    CHECK(!variables_of("/progra") && !variables_of("/nowhere") && variables_of("/before") && variables_of("/behind"));
    if (!CHECK(of != NULL))
        return;
    bool same = true;
    for (int64_t at = rows[0].lo - 20; at < rows[STATICS - 1].hi + 20; at++) {
        const struct mhsim_variable *got = variables_static(of, (uint64_t)at);
        int want = 0;
        while (want < STATICS && !(rows[want].lo <= at && at < rows[want].hi))
            want++;
        same = same && (got ? variables_number(got) == (uint64_t)want + 3 && strcmp(got->name, rows[want].name) == 0
                            : want == STATICS);
    }
    CHECK_NAMED(same, "statics, by address");
    size_t different = 0, known = 0;
    for (uint64_t pc = rows[STATICS].from - 70; pc < rows[STATICS + FRAMES - 1].to + 70; pc++)
        for (int64_t offset = -110; offset < 30; offset += 1 + below(4)) {
            int64_t lo = -120, hi = 40, naive_lo = lo, naive_hi = hi;
            const struct mhsim_variable *got = variables_in_frame(of, pc, offset, &lo, &hi);
            const struct mhsim_variable *want = naive_in_frame(pc, offset, &naive_lo, &naive_hi);
            different += (got ? variables_number(got) != (uint64_t)(want - rows) + 3 || !want : want != NULL) ||
                         (!got && (lo != naive_lo || hi != naive_hi)) || lo > offset || hi <= offset;
            for (int64_t other = lo; got && other < hi; other++)
                different += naive_in_frame(pc, other, &naive_lo, &naive_hi) != want;
            known += got != NULL;
        }
    CHECK_INT(different, 0);
    CHECK(known > 100);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/hpcview-inside.XXXXXX", tmp ? tmp : "/tmp");
    if (!CHECK(mkdtemp(folder) != NULL))
        return tap_done();
    RUN(test_store);
    RUN(test_map);
    RUN(test_map_spreads);
    RUN(test_modules);
    RUN(test_notes);
    RUN(test_drawn_symbols);
    RUN(test_no_modules);
    RUN(test_symbols);
    RUN(test_maps);
    RUN(test_variables);
    rmdir(folder);
    return tap_done();
}
