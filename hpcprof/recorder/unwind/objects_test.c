/* SPDX-License-Identifier: BSD-3-Clause */
/* Which objects are loaded, and the source of their rows (objects.c), with a fake loader, memory and files. */
#undef syscall
#undef dl_iterate_phdr
#include "config.h"

#include "hpcprof/recorder/unwind/objects.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- fake objects ------------------------------------------------------------------------------------------------ */

enum header {
    GOOD,
    EARLIER, /* .eh_frame comes before it */
    LAST,    /* .eh_frame is the segment's last byte, and so without an entry */
    NONE,
    OTHER_VERSION,
    OTHER_ENCODING,
    SHORT,
    NOT_READ, /* unmapped */
    NO_COPY,  /* of .eh_frame cannot be read */
    BEYOND,   /* .eh_frame begins where the segment ends */
    PAGE      /* it ends with the segment, one page later, without a terminator */
};
enum file {
    ELF,
    NO_FILE,
    NOT_ELF,
    OTHER_SECTIONS,
    COMPRESSED,
    EMPTY,
    CUT,
    HUGE_SECTION,
    LARGEST_SECTION, /* that is still read */
    NO_NAMES,
    ONE_BEHIND, /* the last section's index exceeds the number of sections */
    ONE_BEFORE  /* and the first is the requested one */
};

/* Rows of each source have a distinct CFA. */
enum {
    IN_MEMORY = 0x100,
    IN_FILE = 0x200,
    FOR_DEBUGGERS = 0x300,
    OBJECTS = 8,
    BYTES = 1 << 14,
    FRAME_AT = 0x400,
    CODE = 0x2000
};

struct object {
    const char *name;
    uint64_t bias;
    enum header header;
    enum file file;
    unsigned rows, file_rows, debug_rows; /* entries of each */
    bool two_code_segments;
    bool two_data_segments;              /* the second starts with the header, or with .eh_frame if that comes first */
    unsigned beyond;                     /* PAGE: bytes of the last entry after the end */
    uint8_t memory[BYTES], bytes[BYTES]; /* as loaded from bias on; the file */
    size_t file_size;
    ElfW(Phdr) segments[6]; /* the last one is after the end, and would change everything */
    ElfW(Half) segment_count;
};

static struct object objects[OBJECTS];
static unsigned object_count; /* reported by the loader, in its order */
static struct object *loaded[OBJECTS];
static unsigned long long adds, subs;
static size_t info_size = sizeof(struct dl_phdr_info);
static bool walking;
static unsigned freed, opened;
static int descriptor = 77; /* of opened files */

/* ---- sections -------------------------------------------------------------------------------------------------------- */

static size_t put(uint8_t *to, size_t at, uint64_t v, size_t n)
{
    memcpy(to + at, &v, n);
    return at + n;
}

/* A common entry and `rows` others of 16 bytes each, from the code's begin on; `at` is where their addresses count from. */
static size_t put_frames(uint8_t *to, unsigned rows, int source, bool debug, uint64_t code)
{
    static const uint8_t cie[] = {1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0};
    size_t at = put(to, 0, 4 + sizeof cie, 4);
    at = put(to, at, debug ? 0xffffffff : 0, 4);
    memcpy(to + at, cie, sizeof cie);
    at += sizeof cie;
    for (unsigned i = 0; i < rows; i++) {
        unsigned offset = (unsigned)source + i % 2 * 8;
        at = put(to, at, 4 + 8 + 8 + 4, 4);
        at = put(to, at, debug ? 0 : at, 4);
        at = put(to, at, code + 16 * (uint64_t)i, 8);
        at = put(to, at, 16, 8);
        at = put(to, at, 0x0e | (offset & 0x7f) << 8 | 0x80 << 8 | (offset >> 7) << 16, 4);
    }
    return at;
}

/* The last entry is padded with no-ops: it ends at the end of the section, or after it. */
static void end_with(uint8_t *frames, size_t used, size_t size, size_t beyond)
{
    enum { ENTRY = 28 };
    put(frames, used - ENTRY, size + beyond - (used - ENTRY) - 4, 4);
    memset(frames + used, 0, size - used);
}

/* .eh_frame_hdr, at the end of readable memory or before it. */
static void put_header(struct object *o, uint64_t header, uint64_t frames)
{
    uint8_t *h = o->memory + header;
    h[0] = o->header == OTHER_VERSION ? 2 : 1;
    h[1] = o->header == OTHER_ENCODING ? 0x1a : 0x1b;
    h[2] = 0x03;
    h[3] = 0x3b;
    put(h, 4, frames - (header + 4), 4);
}

static void add_segment(struct object *o, uint32_t type, uint32_t flags, uint64_t at, uint64_t filesz, uint64_t memsz)
{
    o->segments[o->segment_count++] =
        (ElfW(Phdr)){.p_type = type, .p_flags = flags, .p_vaddr = at, .p_filesz = filesz, .p_memsz = memsz};
}

static void make_memory(struct object *o)
{
    uint64_t header = o->header == EARLIER ? FRAME_AT + 0x1800 : 0x100, end = 0x2000;
    if (o->header == PAGE)
        end = FRAME_AT + 0x1000;
    memset(o->memory, 0x11, sizeof o->memory);
    size_t used = put_frames(o->memory + FRAME_AT, o->rows, IN_MEMORY, false, o->bias + CODE);
    put(o->memory, FRAME_AT + used, 0, 4);
    if (o->header == PAGE)
        end_with(o->memory + FRAME_AT, used, 0x1000, o->beyond);
    else if (o->rows % 2) { /* no terminator, but an entry that would end after the segment */
        put(o->memory, FRAME_AT + used, end, 4);
        put_frames(o->memory + FRAME_AT + used + 4, 3, IN_FILE, false, o->bias + CODE + 0x800);
    } else /* entries after the terminator, which are ignored */
        put_frames(o->memory + FRAME_AT + used + 4, 3, IN_FILE, false, o->bias + CODE + 0x800);
    put_header(o, header, o->header == BEYOND ? end : o->header == LAST ? end - 1 : FRAME_AT);
    uint64_t split = !o->two_data_segments ? 0 : o->header == EARLIER ? FRAME_AT : header;
    add_segment(o, PT_LOAD, PF_R, split, end - split, end - split);
    if (split)
        add_segment(o, PT_LOAD, PF_R, 0, split, split);
    if (o->header != NONE)
        add_segment(o, PT_GNU_EH_FRAME, PF_R, header, 12, o->header == SHORT ? 11 : 12);
    if (o->two_code_segments) {
        add_segment(o, PT_LOAD, PF_R | PF_X, CODE + 0x900, 0x600, 0x700);
        add_segment(o, PT_LOAD, PF_R | PF_X, CODE, 0x800, 0x800);
    } else
        add_segment(o, PT_LOAD, PF_R | PF_X, CODE, 0x1000, 0x1000);
    add_segment(o, PT_NOTE, PF_R | PF_X, 0, 0x8000, 0x8000);
}

/* ELF header, sections' headers, their names, sections. */
static void make_file(struct object *o)
{
    static const char names[] = "\0.text\0.eh_frame\0.debug_frame\0.eh_frame_hdr";
    Elf64_Ehdr e = {.e_shoff = 0x80, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 5, .e_shstrndx = 4};
    Elf64_Shdr s[5] = {{.sh_name = 0},
                       {.sh_name = 30, .sh_size = 12, .sh_offset = 0x300}, /* .eh_frame_hdr begins like .eh_frame */
                       {.sh_name = 7, .sh_addr = CODE, .sh_offset = 0x400},
                       {.sh_name = 17, .sh_offset = 0x3000},
                       {.sh_name = 1, .sh_offset = 0x280, .sh_size = sizeof names}};
    memset(o->bytes, 0, sizeof o->bytes);
    memcpy(e.e_ident, o->file == NOT_ELF ? "\177ELG" : ELFMAG, SELFMAG);
    if (o->file == OTHER_SECTIONS)
        e.e_shentsize++;
    if (o->file == NO_NAMES)
        e.e_shstrndx = 4000;
    s[2].sh_size = o->file_rows ? put_frames(o->bytes + s[2].sh_offset, o->file_rows, IN_FILE, false, CODE) : 0;
    s[3].sh_size = o->debug_rows ? put_frames(o->bytes + s[3].sh_offset, o->debug_rows, FOR_DEBUGGERS, true, CODE) : 0;
    for (int i = 2; i < 4; i++) {
        if (o->file == COMPRESSED)
            s[i].sh_flags = SHF_COMPRESSED;
        if (o->file == EMPTY)
            s[i].sh_size = 0;
        if (o->file == HUGE_SECTION)
            s[i].sh_size |= (uint64_t)1 << 32;
        if (o->file == LARGEST_SECTION)
            s[i].sh_size = UINT32_MAX;
    }
    if (o->file == ONE_BEHIND)
        e.e_shnum = 2;
    if (o->file == ONE_BEFORE)
        s[0] = s[2], s[2].sh_name = 1;
    memcpy(o->bytes, &e, sizeof e);
    memcpy(o->bytes + e.e_shoff, s, sizeof s);
    memcpy(o->bytes + s[4].sh_offset, names, sizeof names);
    o->file_size = o->file == CUT ? s[2].sh_offset + 40 : sizeof o->bytes;
}

static struct object *make_object(unsigned i, const struct object *like)
{
    struct object *o = &objects[i];
    *o = *like;
    o->segment_count = 0;
    make_memory(o);
    make_file(o);
    for (ElfW(Half) k = o->segment_count; k < 6; k++)
        o->segments[k] =
            (ElfW(Phdr)){.p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = UINT32_MAX, .p_memsz = UINT32_MAX};
    return o;
}

/* ---- the world ------------------------------------------------------------------------------------------------------- */

int fake_dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *ctx);
int fake_dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *ctx)
{
    static struct guarded_room room;
    int status = 0;
    for (unsigned i = 0; i < object_count && status == 0; i++) {
        struct dl_phdr_info info = {.dlpi_addr = loaded[i]->bias,
                                    .dlpi_name = loaded[i]->name,
                                    .dlpi_phdr = loaded[i]->segments,
                                    .dlpi_phnum = loaded[i]->segment_count,
                                    .dlpi_adds = adds,
                                    .dlpi_subs = subs};
        status = f(info_size % 8 ? &info : guarded_copy(&room, &info, info_size), info_size, ctx);
    }
    return status;
}

/* Programs are read as /proc/self/exe. */
static struct object *object_named(const char *name)
{
    for (unsigned i = 0; i < object_count; i++)
        if (strcmp(loaded[i]->name[0] ? loaded[i]->name : "/proc/self/exe", name) == 0)
            return loaded[i];
    return NULL;
}

/* Mappings, each with an unreadable page after it. Each must be unmapped exactly as it was mapped. */
enum { MAPPINGS = 400, LARGE = 1 << 30 };
static struct mapping {
    long at;
    size_t bytes;
} mappings[MAPPINGS];
static unsigned mapped, given_back_otherwise, asked;
static unsigned refused_from = ~0u; /* counted as in `asked`: mapping fails from then on */
static size_t largest;              /* largest refused request */

static long get(size_t bytes)
{
    if (asked++ >= refused_from)
        return -1;
    if (bytes > LARGE)
        largest = bytes;
    if (bytes > LARGE || mapped == MAPPINGS)
        return -1;
    size_t whole = guarded_whole(bytes);
    uint8_t *p = guarded_get(whole);
    mappings[mapped++] = (struct mapping){(long)p, whole};
    return (long)p;
}

static long give(long at, size_t bytes)
{
    for (unsigned i = 0; i < mapped; i++)
        if (mappings[i].at == at && mappings[i].bytes == guarded_whole(bytes)) {
            guarded_put((void *)at, mappings[i].bytes);
            mappings[i] = mappings[--mapped];
            return 0;
        }
    given_back_otherwise++;
    return -1;
}

static long grow(long at, size_t old, size_t bytes)
{
    long p = get(bytes);
    if (p != -1) {
        memcpy((void *)p, (void *)at, old);
        give(at, old);
    }
    return p;
}

long fake_syscall(long number, ...);
long fake_syscall(long number, ...)
{
    static struct object *open;
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = i < (number == SYS_munmap  ? 2
                    : number == SYS_close ? 1
                                          : 4) ||
                       number == SYS_mmap || number == SYS_mremap
                   ? va_arg(list, long)
                   : 0;
    va_end(list);
    switch (number) {
    case SYS_openat:
        open = object_named((const char *)a[1]);
        if (!open || open->file == NO_FILE || (int)a[0] != AT_FDCWD)
            return -1;
        opened++;
        return descriptor;
    case SYS_close:
        opened -= (int)a[0] == descriptor;
        return 0;
    case SYS_pread64:
        if ((int)a[0] != descriptor || (size_t)a[3] >= open->file_size)
            return 0;
        if ((size_t)a[2] > open->file_size - (size_t)a[3])
            a[2] = (long)(open->file_size - (size_t)a[3]);
        memcpy((void *)a[1], open->bytes + a[3], (size_t)a[2]);
        return a[2];
    case SYS_mmap:
        return get((size_t)a[1]);
    case SYS_mremap:
        return grow(a[0], (size_t)a[1], (size_t)a[2]);
    case SYS_munmap:
        freed++;
        return give(a[0], (size_t)a[1]);
    default:
        return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
}

bool hpcrec_peek(uint64_t address, void *to, size_t n)
{
    for (unsigned i = 0; i < object_count; i++) {
        const struct object *o = loaded[i];
        uint64_t at = address - o->bias;
        if (at < sizeof o->memory && n <= sizeof o->memory - at && !(o->header == NOT_READ && n == 12) &&
            !(o->header == NO_COPY && n > 12)) {
            memcpy(to, o->memory + at, n);
            return true;
        }
    }
    return false;
}

void hpcrec_with_private_fds(void (*run)(void *), void *arg)
{
    run(arg);
}
static bool are_walking(void)
{
    return walking;
}

/* ---- where rows come from -------------------------------------------------------------------------------------------- */

/* Source of the first and the last row but one; 0: no rows. */
static int source_of(const struct unwind_rows *rows, unsigned *count)
{
    *count = 0;
    if (!rows)
        return -1;
    for (uint64_t at = 0; at < 0x1100; at += 16) {
        const struct unwind_row *row = unwind_rows_find(rows, at + 15);
        *count += row != NULL;
        if (row && row->cfa.offset != unwind_rows_find(rows, 0)->cfa.offset + (int)(at / 16 % 2 * 8))
            return -2;
    }
    const struct unwind_row *first = unwind_rows_find(rows, 0);
    return first ? first->cfa.offset & 0xf00 : 0;
}

/* Expected source: the loaded section, or the file's if that is empty; a few rows are replaced by a larger number of
   the debugger's section. Each entry gives a row, and there is a final one. */
static int source_wanted(const struct object *o, unsigned *count)
{
    bool has_file = (o->file == ELF || o->file == ONE_BEFORE) && strchr(o->name[0] ? o->name : "/", '/');
    unsigned file_rows = has_file ? o->file_rows : 0, debug_rows = has_file ? o->debug_rows : 0;
    bool in_memory = o->header <= LAST || o->header == PAGE;
    unsigned rows = !in_memory ? file_rows : o->header == LAST ? 0 : o->rows - (o->beyond > 0);
    int source = rows == 0 ? 0 : in_memory ? IN_MEMORY : IN_FILE;
    if (rows + 1 < 100 && debug_rows > rows)
        rows = debug_rows, source = FOR_DEBUGGERS;
    *count = rows < 0x100 ? rows : 0x100;
    return source;
}

static void load(unsigned n)
{
    object_count = n;
    for (unsigned i = 0; i < n; i++)
        loaded[i] = &objects[i];
    adds++;
}

/* Three lists of files, a map, and the data of one object. */
static unsigned mapped_for_one(const struct unwind_rows *rows)
{
    return 3 + 1 + 1 + (rows->begin.items != NULL) + (rows->which.items != NULL) + (rows->distinct.items != NULL);
}

static void test_sources(void)
{
    static const struct object cases[] = {
        {.rows = 5},
        {.rows = 6},
        {.rows = 5, .header = EARLIER},
        {.rows = 5, .file_rows = 9},
        {.rows = 5, .file_rows = 9, .name = ""},
        {.rows = 5, .file_rows = 9, .header = NONE, .name = ""},
        {.rows = 5, .file_rows = 9, .header = NONE, .name = "vdso"},
        {.rows = 5, .file_rows = 9, .header = LAST},
        {.rows = 5, .file_rows = 9, .debug_rows = 1, .header = LAST},
        {.rows = 0, .file_rows = 9},
        {.rows = 5, .file_rows = 9, .header = OTHER_VERSION},
        {.rows = 5, .file_rows = 9, .header = OTHER_ENCODING},
        {.rows = 5, .file_rows = 9, .header = SHORT},
        {.rows = 5, .file_rows = 9, .header = NOT_READ},
        {.rows = 5, .file_rows = 9, .header = NO_COPY},
        {.rows = 5, .file_rows = 9, .header = BEYOND},
        {.rows = 5, .debug_rows = 6},
        {.rows = 5, .debug_rows = 5},
        {.rows = 5, .debug_rows = 4},
        {.rows = 98, .debug_rows = 120},
        {.rows = 99, .debug_rows = 120},
        {.rows = 100, .debug_rows = 120},
        {.file_rows = 8, .debug_rows = 9, .header = NONE},
        {.file_rows = 9, .debug_rows = 9, .header = NONE},
        {.file_rows = 99, .debug_rows = 120, .header = NONE},
        {.file_rows = 256, .header = NONE},
        {.file_rows = 258, .header = NONE}, /* more than the code contains */
        {.debug_rows = 9, .header = NONE},
        {.debug_rows = 9, .header = NONE, .name = "vdso"},
        {.header = NONE},
        {.rows = 5, .file_rows = 9, .debug_rows = 30, .file = NO_FILE},
        {.file_rows = 9, .debug_rows = 30, .header = NONE, .file = NO_FILE},
        {.file_rows = 9, .debug_rows = 30, .header = NONE, .file = NOT_ELF},
        {.file_rows = 9, .debug_rows = 30, .header = NONE, .file = OTHER_SECTIONS},
        {.file_rows = 9, .debug_rows = 30, .header = NONE, .file = COMPRESSED},
        {.file_rows = 9, .debug_rows = 30, .header = NONE, .file = EMPTY},
        {.file_rows = 9, .debug_rows = 30, .header = NONE, .file = CUT},
        {.file_rows = 9, .debug_rows = 30, .header = NONE, .file = HUGE_SECTION},
        {.file_rows = 9, .debug_rows = 30, .header = NONE, .file = LARGEST_SECTION},
        {.file_rows = 9, .debug_rows = 30, .header = NONE, .file = NO_NAMES},
        {.file_rows = 9, .debug_rows = 30, .header = NONE, .file = ONE_BEHIND},
        {.file_rows = 9, .header = NONE, .file = ONE_BEFORE},
        {.rows = 5, .two_data_segments = true},
        {.rows = 5, .header = EARLIER, .two_data_segments = true},
        {.rows = 5, .header = PAGE},
        {.rows = 5, .header = PAGE, .beyond = 1},
        {.rows = 6, .header = PAGE, .beyond = 5},
        {.rows = 7, .header = PAGE, .beyond = 9},
        {.rows = 5, .header = PAGE, .two_data_segments = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int all = 0; all < 2; all++) {
            struct object like = cases[i];
            char name[60], say[100];
            unsigned count, wanted;
            like.bias = 0x500000 + 0x10000 * (i % 3) + 0x100000 * (uint64_t)all;
            snprintf(name, sizeof name, "/lib/%zu", i);
            like.name = like.name ? like.name : name;
            make_object(0, &like);
            load(1);
            descriptor = all ? 0 : 77;
            largest = 0;
            hpcrec_unwind_refresh(all != 0, are_walking);
            const struct unwind_map *map = hpcrec_unwind_map();
            const struct unwind_rows *rows = map->object[0].rows;
            if (!all) {
                tap_result(map->count == 1 && !rows, "rows are made when they are asked for", __FILE__, __LINE__);
                rows = hpcrec_unwind_missing(&map->object[0]);
                tap_result(rows == map->object[0].rows && hpcrec_unwind_missing(&map->object[0]) == rows, "and once",
                           __FILE__, __LINE__);
            }
            int source = source_of(rows, &count), want = source_wanted(&objects[0], &wanted);
            snprintf(say, sizeof say, "source %zu: %x with %u rows, wanted %x with %u", i, (unsigned)source, count,
                     (unsigned)want, wanted);
            tap_result(source == want && count == wanted, say, __FILE__, __LINE__);
            CHECK_INT(largest, like.file == LARGEST_SECTION ? UINT32_MAX : 0);
            hpcrec_unwind_refresh(false, are_walking); /* which frees the data of the previous object */
            CHECK_INT(mapped, mapped_for_one(rows));
        }
    CHECK_INT(opened, 0);
}

/* ---- loading and unloading --------------------------------------------------------------------------------------- */

static bool map_is(const char *want)
{
    const struct unwind_map *map = hpcrec_unwind_map();
    char got[400] = "";
    for (size_t i = 0; i < map->count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%llx-%llx%s ", (unsigned long long)map->object[i].begin,
                 (unsigned long long)map->object[i].end, map->object[i].rows ? "+" : "");
    if (strcmp(got, want) != 0)
        printf("# got    \"%s\"\n# wanted \"%s\"\n", got, want);
    return strcmp(got, want) == 0;
}

static void test_changes(void)
{
    for (unsigned i = 0; i < 4; i++)
        make_object(i, &(struct object){.name = (const char *[]){"/c", "/a", "/d", "/b"}[i],
                                        .bias = (const uint64_t[]){0x30000, 0x10000, 0x40000, 0x20000}[i],
                                        .rows = 3,
                                        .two_code_segments = i == 1});
    load(3);
    hpcrec_unwind_refresh(true, are_walking);
    CHECK(map_is("12000-13000+ 32000-33000+ 42000-43000+ "));
    const struct unwind_map *first = hpcrec_unwind_map();
    const struct unwind_rows *rows = first->object[1].rows;
    object_count = 4; /* not reported */
    loaded[3] = &objects[3];
    hpcrec_unwind_refresh(true, are_walking);
    CHECK_NAMED(hpcrec_unwind_map() == first, "nothing is looked at where the loader says that nothing changed");
    adds++;
    hpcrec_unwind_refresh(false, are_walking);
    CHECK(map_is("12000-13000+ 22000-23000 32000-33000+ 42000-43000+ "));
    CHECK_NAMED(hpcrec_unwind_map()->object[2].rows == rows, "what stays keeps its rows");
    const struct unwind_map *second = hpcrec_unwind_map();
    hpcrec_unwind_missing(&second->object[1]);
    const struct unwind_rows *b = second->object[1].rows;
    freed = 0;
    walking = true;
    loaded[0] = &objects[3]; /* /c is unloaded, /d is loaded elsewhere, /a is another file */
    object_count = 3;
    objects[2].bias += 0x10000;
    objects[1].name = "/e";
    subs++;
    hpcrec_unwind_refresh(false, are_walking);
    CHECK(map_is("12000-13000 22000-23000+ 52000-53000 "));
    CHECK(hpcrec_unwind_map()->object[1].rows == b);
    unsigned while_walking = freed;
    CHECK_NAMED(rows->begin.count > 0, "rows stay while somebody may read them");
    hpcrec_unwind_refresh(false, are_walking);
    CHECK_NAMED(freed == while_walking, "and maps do");
    walking = false;
    hpcrec_unwind_refresh(false, are_walking);
    CHECK_INT(freed - while_walking, 2 + 3 * 4); /* two maps; of three objects the rows, each with three lists */
    hpcrec_unwind_refresh(false, are_walking);
    CHECK_INT(freed - while_walking, 2 + 3 * 4);
    info_size = offsetof(struct dl_phdr_info, dlpi_subs) + sizeof subs; /* just so much is enough */
    adds++;
    hpcrec_unwind_refresh(false, are_walking);
    const struct unwind_map *just = hpcrec_unwind_map();
    hpcrec_unwind_refresh(false, are_walking);
    CHECK(hpcrec_unwind_map() == just);
    info_size--; /* an old loader does not report it */
    const struct unwind_map *third = hpcrec_unwind_map();
    hpcrec_unwind_refresh(false, are_walking);
    CHECK(hpcrec_unwind_map() != third && map_is("12000-13000 22000-23000+ 52000-53000 "));
    third = hpcrec_unwind_map();
    info_size = offsetof(struct dl_phdr_info, dlpi_subs); /* and its structure lacks the field */
    hpcrec_unwind_refresh(false, are_walking);
    CHECK(hpcrec_unwind_map() != third);
    info_size = sizeof(struct dl_phdr_info);
    third = hpcrec_unwind_map();
    hpcrec_unwind_refresh(false, are_walking);
    CHECK(hpcrec_unwind_map() == third);
    /* each field that identifies an object: if one differs, it is another object */
    for (int what = 0; what < 5; what++) {
        hpcrec_unwind_missing(&hpcrec_unwind_map()->object[1]);
        if (what == 0)
            objects[3].name = "/f";
        else if (what == 1)
            objects[3].segments[2].p_memsz += 0x1000;
        else if (what == 2)
            objects[3].segments[1].p_vaddr += 4;
        else if (what == 3)
            objects[3].segments[1].p_type = PT_NOTE;
        else
            objects[3].bias += 0x40, objects[3].segments[2].p_vaddr -= 0x40, objects[3].segments[2].p_memsz += 0x40;
        adds++;
        hpcrec_unwind_refresh(false, are_walking);
        tap_result(hpcrec_unwind_map()->object[1].rows == NULL, "another object has no rows yet", __FILE__, __LINE__);
    }
    objects[3].bias += 0x40; /* the same start and another end were tested; now another start */
    hpcrec_unwind_missing(&hpcrec_unwind_map()->object[1]);
    adds++;
    hpcrec_unwind_refresh(false, are_walking);
    CHECK(hpcrec_unwind_map()->object[1].rows == NULL);
}

/* Objects that are given at one place, and such without code. */
static void test_places(void)
{
    static const struct {
        uint64_t begin[4], size[4];
        const char *want;
    } cases[] = {
        {{0x1000, 0x3000, 0x2000}, {0x1000, 0x1000, 0x1000}, "1000-2000 2000-3000 3000-4000 "},
        {{0x4000, 0x3000, 0x2000, 0x1000}, {0x800, 0x1000, 0x1000, 0x1000}, "1000-2000 2000-3000 3000-4000 4000-4800 "},
        {{0x1000, 0x1800, 0x2000}, {0x1000, 0x1000, 0x1000}, "1000-2000 2000-2000 2000-3000 "},
        {{0x1000, 0x1000}, {0x1000, 0x2000}, "1000-2000 2000-2000 "},
        {{0x1000, 0x5000, 0x2000}, {0x1000, 0, 0x10}, "1000-2000 2000-2010 "},
        {{0x1000, 0x1400, 0x1c00, 0x1fff}, {0x1000, 0x100, 0x1000, 1}, "1000-2000 2000-2000 2000-2000 2000-2000 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        object_count = 0;
        for (unsigned k = 0; k < 4 && cases[i].begin[k]; k++) {
            struct object *o = loaded[object_count++] = &objects[k];
            *o = (struct object){.name = "x", .header = NONE};
            add_segment(o, PT_LOAD, PF_R | PF_X, cases[i].begin[k], 0, cases[i].size[k]);
            add_segment(o, PT_LOAD, PF_R | PF_W, 0x100, 0x10, 0x10);
        }
        adds++;
        hpcrec_unwind_refresh(false, are_walking);
        tap_result(map_is(cases[i].want), cases[i].want, __FILE__, __LINE__);
    }
}

/* One object; then none are reported; then one without code; then one at the lowest address. */
static void test_first(void)
{
    make_object(0, &(struct object){.name = "/first", .bias = 0x10000, .rows = 3});
    load(0);
    hpcrec_unwind_refresh(true, are_walking);
    CHECK(hpcrec_unwind_map() == NULL);
    load(1);
    hpcrec_unwind_refresh(true, are_walking);
    CHECK(map_is("12000-13000+ "));
    load(0);
    hpcrec_unwind_refresh(true, are_walking);
    CHECK(map_is("12000-13000+ "));
    load(1);
    objects[0] = (struct object){.name = "x"};
    add_segment(&objects[0], PT_LOAD, PF_R | PF_W, 0x100, 0x10, 0x10);
    hpcrec_unwind_refresh(true, are_walking);
    CHECK(map_is(""));
    add_segment(&objects[0], PT_LOAD, PF_R | PF_X, 0, 0x10, 0x10);
    adds++;
    hpcrec_unwind_refresh(false, are_walking);
    CHECK(map_is("0-10 "));
}

/* Without memory from some request on: fewer rows or none, but no incorrect ones, and no leaks. */
static void test_no_memory(void)
{
    enum { FILE_ROWS = 9, STEPS = 24 };
    for (int source = 0; source < 2; source++)
        for (unsigned k = 0; k < STEPS; k++) {
            char name[40];
            unsigned count;
            snprintf(name, sizeof name, "/without/%d/%u", source, k);
            make_object(0, &(struct object){.name = name,
                                            .bias = 0x10000,
                                            .rows = 5,
                                            .file_rows = FILE_ROWS,
                                            .debug_rows = source ? FILE_ROWS : 0,
                                            .header = source ? NONE : GOOD});
            load(1);
            refused_from = asked + k;
            hpcrec_unwind_refresh(true, are_walking);
            refused_from = ~0u;
            hpcrec_unwind_refresh(true, are_walking);
            const struct unwind_rows *rows = hpcrec_unwind_map()->object[0].rows;
            CHECK(source_of(rows, &count) != -2 && count <= FILE_ROWS);
            make_object(0, &(struct object){.name = "/with", .bias = 0x20000, .rows = 5});
            load(1);
            hpcrec_unwind_refresh(true, are_walking);
            hpcrec_unwind_refresh(true, are_walking);
            CHECK_INT(mapped, mapped_for_one(hpcrec_unwind_map()->object[0].rows));
        }
}

/* Many, in random order: rows are removed with their object. */
static void test_many(void)
{
    static const char *const names[OBJECTS] = {"/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7"};
    unsigned wrong = 0;
    const struct unwind_rows *rows[OBJECTS] = {NULL};
    for (unsigned i = 0; i < OBJECTS; i++)
        make_object(i, &(struct object){.name = names[i], .bias = 0x100000 * (uint64_t)(i + 1), .rows = 2 + i});
    for (int round = 0; round < 200; round++) {
        bool is_there[OBJECTS] = {false};
        object_count = 0;
        for (unsigned i = 0; i < OBJECTS; i++) {
            unsigned k = below(OBJECTS);
            if (!is_there[k])
                loaded[object_count++] = &objects[k];
            is_there[k] = true;
        }
        adds++;
        walking = below(2);
        bool all = below(4) == 0;
        hpcrec_unwind_refresh(all, are_walking);
        const struct unwind_map *map = hpcrec_unwind_map();
        wrong += map->count != object_count;
        for (size_t i = 0; i < map->count; i++) {
            unsigned k = (unsigned)(map->object[i].begin / 0x100000 - 1), count;
            wrong += i > 0 && map->object[i].begin <= map->object[i - 1].begin;
            wrong += all && !map->object[i].rows;
            rows[k] = all && !rows[k] ? map->object[i].rows : rows[k];
            wrong += map->object[i].rows != rows[k];
            if (below(3) == 0)
                rows[k] = hpcrec_unwind_missing(&map->object[i]);
            wrong += rows[k] && (source_of(rows[k], &count) != IN_MEMORY || count != 2 + k);
        }
        for (unsigned i = 0; i < OBJECTS; i++)
            rows[i] = is_there[i] ? rows[i] : NULL;
    }
    CHECK_INT(wrong, 0);
    walking = false;
    hpcrec_unwind_refresh(false, are_walking);
    unsigned with_rows = 0;
    for (unsigned i = 0; i < OBJECTS; i++)
        with_rows += rows[i] != NULL;
    CHECK_INT(mapped, 3 + 1 + with_rows * 4);
}

int main(void)
{
    RUN(test_first);
    RUN(test_sources);
    RUN(test_changes);
    RUN(test_places);
    RUN(test_many);
    RUN(test_no_memory);
    CHECK_INT(given_back_otherwise, 0);
    return tap_done();
}
