/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loaded objects, and their rows. The loader lists them; the sections are copied out of memory (or, for a static
 * program or one with only .debug_frame, out of the file), so that an object that is unloaded meanwhile does no harm.
 *
 * Handlers read the map without a lock: a new one is built next to it and replaces it; the old one, and rows of
 * unloaded objects, are freed when every thread has been seen outside of a walk since.
 */
#include "hpcprof/recorder/unwind/objects.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

struct object {          /* the loader's data, and ours derived from them */
    uint64_t begin, end; /* of its code, as loaded */
    uint64_t header;     /* .eh_frame_hdr as loaded; 0: none */
    uint64_t header_size, bias;
    uint64_t readable_end;    /* of the segment that holds the header */
    char name[512];           /* to find .debug_frame */
    struct unwind_rows *rows; /* NULL: not yet */
};

struct retired {
    void *map; /* NULL: rows */
    size_t bytes;
    struct unwind_rows *rows;
};

static struct area objects, seen, retired; /* struct object, struct object, struct retired */
static struct unwind_map *_Atomic current;
static size_t current_bytes;
static unsigned long long adds, subs;
static bool looked;

const struct unwind_map *hpcrec_unwind_map(void)
{
    return atomic_load(&current);
}

/* ---- what the loader says -------------------------------------------------------------------------------------- */

static int changed(struct dl_phdr_info *info, size_t size, void *ctx)
{
    bool *is = ctx;
    if (size < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        *is = true;
    else
        *is = !looked || info->dlpi_adds != adds || info->dlpi_subs != subs;
    if (*is && size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
        adds = info->dlpi_adds;
        subs = info->dlpi_subs;
    }
    return 1;
}

static void look_at_segment(struct object *o, const ElfW(Phdr) * p, uint64_t bias)
{
    uint64_t begin = bias + p->p_vaddr, end = begin + p->p_memsz;
    if (p->p_type == PT_GNU_EH_FRAME) {
        o->header = begin;
        o->header_size = p->p_memsz;
    }
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
        return;
    if (o->end == 0 || begin < o->begin)
        o->begin = begin;
    if (end > o->end)
        o->end = end;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct object o = {.bias = info->dlpi_addr};
    (void)size;
    (void)ctx;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        look_at_segment(&o, &info->dlpi_phdr[i], info->dlpi_addr);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && o.header - (o.bias + p->p_vaddr) < p->p_filesz)
            o.readable_end = o.bias + p->p_vaddr + p->p_filesz;
    }
    struct text t = hpcrec_text(o.name, sizeof o.name);
    hpcrec_text_str(&t, info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe");
    if (o.end > o.begin && hpcrec_area_room(&seen, seen.count + 1, sizeof o))
        ((struct object *)seen.items)[seen.count++] = o;
    return 0;
}

static void sort_seen(void)
{
    struct object *v = seen.items;
    for (size_t i = 1; i < seen.count;
         i++) /* the loader's order is nearly sorted, downwards or upwards; some hundreds */
        for (size_t j = i; j > 0 && v[j - 1].begin > v[j].begin; j--) {
            struct object t = v[j];
            v[j] = v[j - 1];
            v[j - 1] = t;
        }
}

static bool same_object(const struct object *a, const struct object *b)
{
    return a->begin == b->begin && a->end == b->end && a->header == b->header && a->bias == b->bias &&
           strcmp(a->name, b->name) == 0;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static uint8_t *copy_of(uint64_t address, size_t n)
{
    uint8_t *copy = n ? hpcrec_map(n) : NULL;
    if (copy && hpcrec_peek(address, copy, n))
        return copy;
    hpcrec_unmap(copy, n);
    return NULL;
}

/* .eh_frame_hdr: version 1, how three fields are encoded, where .eh_frame is (LSB Core, "The .eh_frame_hdr
   section"). Its length is not recorded: it extends to a zero entry, at most to the end of its segment. */
static bool find_eh_frame(const struct object *o, struct unwind_section *s)
{
    uint8_t h[12];
    uint64_t at;
    int32_t relative;
    if (!o->header || o->header_size < sizeof h || !hpcrec_peek(o->header, h, sizeof h) || h[0] != 1)
        return false;
    __builtin_memcpy(&relative, h + 4, 4);
    if (h[1] != 0x1b) /* pcrel, sdata4: what every linker writes */
        return false;
    at = o->header + 4 + (uint64_t)(int64_t)relative;
    if (at >= o->readable_end)
        return false;
    s->address = at;
    s->size = o->readable_end - at;
    return true;
}

/* Up to the entry of length zero. */
static size_t used_size(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    while (size - at >= 4) {
        uint32_t length;
        __builtin_memcpy(&length, bytes + at, 4);
        if (length == 0 || length > size - at - 4)
            break;
        at += 4 + (size_t)length;
    }
    return at;
}

static bool read_at(int fd, uint64_t offset, void *to, size_t n)
{
    return syscall(SYS_pread64, fd, to, n, offset) == (long)n;
}

/* A section of the file by its name, NUL and all; *s gets its size and address. */
static uint8_t *section_of(int fd, const char *wanted, struct unwind_section *s)
{
    Elf64_Ehdr e;
    Elf64_Shdr h, names;
    char name[16] = "";
    size_t n = strlen(wanted) + 1;
    if (!read_at(fd, 0, &e, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_shentsize != sizeof h ||
        !read_at(fd, e.e_shoff + (uint64_t)e.e_shstrndx * sizeof h, &names, sizeof names))
        return NULL;
    for (unsigned i = 0; i < e.e_shnum; i++) {
        if (!read_at(fd, e.e_shoff + (uint64_t)i * sizeof h, &h, sizeof h) ||
            !read_at(fd, names.sh_offset + h.sh_name, name, n) || memcmp(name, wanted, n) != 0)
            continue;
        if (h.sh_flags & SHF_COMPRESSED || h.sh_size == 0 || h.sh_size > UINT32_MAX)
            return NULL;
        uint8_t *bytes = hpcrec_map(h.sh_size);
        if (bytes && read_at(fd, h.sh_offset, bytes, h.sh_size)) {
            s->size = h.sh_size;
            s->address = h.sh_addr;
            return bytes;
        }
        hpcrec_unmap(bytes, h.sh_size);
        return NULL;
    }
    return NULL;
}

struct wanted_section {
    const char *file, *name;
    struct unwind_section *section;
    uint8_t *bytes; /* NULL: it has none */
};

static void read_section(void *arg)
{
    struct wanted_section *w = arg;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, w->file, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    w->bytes = section_of(fd, w->name, w->section);
    syscall(SYS_close, fd);
}

/* Static programs have .eh_frame without a header that finds it in memory. */
static void compile_file(const struct object *o, const char *name, bool debug, struct unwind_rows *rows)
{
    struct unwind_section s = {.debug = debug, .base = o->begin - o->bias, .limit = o->end - o->bias};
    struct wanted_section w = {o->name, name, &s, NULL};
    if (strchr(o->name, '/')) /* the kernel's own object has no file */
        hpcrec_with_private_fds(read_section, &w);
    if (!w.bytes)
        return;
    s.bytes = w.bytes;
    unwind_rows_compile(rows, &s, UNWIND_HERE);
    hpcrec_unmap(w.bytes, s.size);
}

static void compile_eh_frame(const struct object *o, struct unwind_rows *rows)
{
    struct unwind_section s = {.base = o->begin, .limit = o->end};
    if (!find_eh_frame(o, &s))
        return;
    size_t copied = s.size;
    uint8_t *copy = copy_of(s.address, copied);
    if (!copy)
        return;
    s.bytes = copy;
    s.size = used_size(copy, copied);
    unwind_rows_compile(rows, &s, UNWIND_HERE);
    hpcrec_unmap(copy, copied);
}

enum { ROWS_OF_START = 100 }; /* little more than the C library's start and the linker's stubs */

/* Compiled without tables for exceptions, but for a debugger: then .eh_frame has little more than the program's start.
 */
static void prefer_debug_frame(const struct object *o, struct unwind_rows *rows)
{
    struct unwind_rows other = {0};
    compile_file(o, ".debug_frame", true, &other);
    if (other.begin.count > rows->begin.count) {
        struct unwind_rows t = *rows;
        *rows = other;
        other = t;
    }
    unwind_rows_free(&other);
}

static void compile(struct object *o)
{
    o->rows = hpcrec_map(sizeof *o->rows);
    if (!o->rows)
        return;
    compile_eh_frame(o, o->rows);
    if (o->rows->begin.count == 0)
        compile_file(o, ".eh_frame", false, o->rows);
    if (o->rows->begin.count < ROWS_OF_START)
        prefer_debug_frame(o, o->rows);
}

/* For the walker: rows are built when the first frame of an object is met, so that objects without samples cost
   nothing. */
const struct unwind_rows *hpcrec_unwind_missing(const struct unwind_object *wanted)
{
    struct object *o = objects.items;
    struct unwind_map *map = atomic_load(&current);
    size_t i = (size_t)(wanted - map->object);
    if (!o[i].rows)
        compile(&o[i]);
    map->object[i].rows = o[i].rows;
    return o[i].rows;
}

/* ---- the map --------------------------------------------------------------------------------------------------- */

static void retire(void *map, size_t bytes, struct unwind_rows *rows)
{
    if (hpcrec_area_room(&retired, retired.count + 1, sizeof(struct retired)))
        ((struct retired *)retired.items)[retired.count++] = (struct retired){map, bytes, rows};
}

static void give_back(bool (*in_use)(void))
{
    const struct retired *r = retired.items;
    if (retired.count == 0 || in_use())
        return;
    for (size_t i = 0; i < retired.count; i++) {
        if (r[i].rows) {
            unwind_rows_free(r[i].rows);
            hpcrec_unmap(r[i].rows, sizeof *r[i].rows);
        }
        hpcrec_unmap(r[i].map, r[i].bytes);
    }
    retired.count = 0;
}

static void publish(struct unwind_map *map, size_t bytes, bool compile_all)
{
    struct object *o = objects.items;
    struct unwind_map *old = atomic_load(&current);
    uint64_t floor = 0;
    for (size_t i = 0; i < objects.count; i++) {
        if (compile_all && !o[i].rows)
            compile(&o[i]);
        bool apart = o[i].begin >= floor; /* as loaders place them; overlapping ones are not found */
        map->object[i] = (struct unwind_object){apart ? o[i].begin : floor, apart ? o[i].end : floor, o[i].rows};
        floor = apart ? o[i].end : floor;
    }
    map->count = objects.count;
    atomic_store(&current, map);
    if (old)
        retire(old, current_bytes, NULL);
    current_bytes = bytes;
}

/* Retained objects keep their rows; both lists are sorted. */
static void keep_rows(void)
{
    struct object *now = seen.items, *old = objects.items;
    size_t n = 0;
    for (size_t i = 0; i < objects.count; i++) {
        while (n < seen.count && now[n].begin < old[i].begin)
            n++;
        if (n < seen.count && same_object(&now[n], &old[i]))
            now[n].rows = old[i].rows;
        else if (old[i].rows)
            retire(NULL, 0, old[i].rows);
    }
    struct area t = objects;
    objects = seen;
    seen = t;
}

void hpcrec_unwind_refresh(bool compile_all, bool (*in_use)(void))
{
    bool is = false;
    give_back(in_use);
    dl_iterate_phdr(changed, &is);
    if (!is)
        return;
    seen.count = 0;
    dl_iterate_phdr(note_object, NULL);
    sort_seen();
    size_t bytes = sizeof(struct unwind_map) + seen.count * sizeof(struct unwind_object);
    struct unwind_map *map = hpcrec_map(bytes);
    looked = map;
    if (!map) /* all stays as it was, with its rows, and the next time is the first one again */
        return;
    keep_rows();
    publish(map, bytes, compile_all);
}
