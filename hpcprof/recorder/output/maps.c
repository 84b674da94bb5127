/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module of an address, and its offset in it: /proc/self/maps for mappings, the ELF headers in memory for link-time
 * addresses and build ids. Read again when the loader reports a change, and at most once a round for an address without
 * a mapping (code made at run time).
 */
#include "hpcprof/recorder/base/syscalls.h"
#include "hpcprof/recorder/output/output.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An executable mapping, or the first mapping of a file (where its ELF header is); sorted by start. */
struct range {
    uint64_t start, end, offset;
    uint64_t vaddr;  /* link-time address of start */
    uint32_t path;   /* string */
    uint32_t module; /* row; UINT32_MAX: not asked for yet */
    bool executable;
};

static struct area ranges, strings, maps_text;
static struct held maps_file = {.fd = -1};
static bool stale = true, may_reread = true;
static unsigned long long loader_adds, loader_subs;

enum { MAPS_TEXT_MAX = 64 << 20 }; /* a process with half a million mappings */

/* ---- strings ----------------------------------------------------------------------------------------- */

const char *hpcrec_string(uint32_t offset)
{
    return strings.items ? (const char *)strings.items + offset : "";
}

uint32_t hpcrec_string_add(const char *s)
{
    size_t n = strlen(s) + 1;
    if (strings.count == 0 && hpcrec_area_room(&strings, 1, 1))
        strings.count = 1; /* offset 0 is "" */
    if (n == 1 || !hpcrec_area_room(&strings, strings.count + n, 1) || strings.count + n > UINT32_MAX)
        return 0;
    memcpy((char *)strings.items + strings.count, s, n);
    strings.count += n;
    return (uint32_t)(strings.count - n);
}

/* ---- reading the maps ----------------------------------------------------------------------------------- */

void hpcrec_maps_open(void)
{
    hpcrec_hold(&maps_file, "/proc/self/maps", 0);
    stale = true;
}

void hpcrec_maps_move_fd(int from, int to)
{
    if (maps_file.fd == from)
        maps_file.fd = to;
}

void hpcrec_maps_forget(void)
{
    maps_file.fd = -1;
    ranges.count = 0;
    stale = may_reread = true;
    hpcrec_area_free(&strings, 1);
}

void hpcrec_maps_stale(void)
{
    stale = true;
    hpcrec_contexts_stale();
}

void hpcrec_maps_new_round(void)
{
    may_reread = true;
}

static int note_loader(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)ctx;
    if (size < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        return 1;
    if (info->dlpi_adds != loader_adds || info->dlpi_subs != loader_subs)
        hpcrec_maps_stale();
    loader_adds = info->dlpi_adds;
    loader_subs = info->dlpi_subs;
    return 1;
}

void hpcrec_maps_check(void)
{
    dl_iterate_phdr(note_loader, NULL);
}

/* The whole text of the maps, NUL-terminated; NULL where it cannot be read. */
static const char *read_maps(void)
{
    int maps_fd = hpcrec_held(&maps_file, "/proc/self/maps", 0);
    maps_text.count = 0;
    if (maps_fd < 0 || syscall(SYS_lseek, maps_fd, 0, SEEK_SET) < 0)
        return NULL;
    for (;;) {
        if (!hpcrec_area_room(&maps_text, maps_text.count + 4097, 1))
            return NULL;
        ssize_t n = raw_read(maps_fd, (char *)maps_text.items + maps_text.count, maps_text.room - maps_text.count - 1);
        if (n <= 0 || maps_text.count > MAPS_TEXT_MAX)
            break;
        maps_text.count += (size_t)n;
    }
    ((char *)maps_text.items)[maps_text.count] = '\0';
    return maps_text.items;
}

static const char *hex_into(const char *s, uint64_t *to)
{
    *to = 0;
    for (;; s++) {
        if (*s >= '0' && *s <= '9')
            *to = *to << 4 | (uint64_t)(*s - '0');
        else if (*s >= 'a' && *s <= 'f')
            *to = *to << 4 | (uint64_t)(*s - 'a' + 10);
        else
            return s;
    }
}

static const char *next_field(const char *s)
{
    while (*s && *s != ' ' && *s != '\n')
        s++;
    while (*s == ' ')
        s++;
    return s;
}

static bool is_octal(const char *s)
{
    for (int i = 0; i < 3; i++)
        if (s[i] < '0' || s[i] > (i ? '7' : '3'))
            return false;
    return true;
}

/* The path as it is: the kernel writes newlines and backslashes in octal, and marks deleted files. */
static uint32_t path_string(const char *s, size_t n)
{
    static char path[4096 + 16];
    static const char gone[] = " (deleted)";
    size_t len = 0;
    for (size_t i = 0; i < n && len < sizeof path - 1; i++) {
        if (s[i] == '\\' && i + 3 < n && is_octal(s + i + 1)) {
            path[len++] = (char)((s[i + 1] - '0') << 6 | (s[i + 2] - '0') << 3 | (s[i + 3] - '0'));
            i += 3;
        } else {
            path[len++] = s[i];
        }
    }
    if (path[0] == '/' && len > sizeof gone && memcmp(path + len - (sizeof gone - 1), gone, sizeof gone - 1) == 0)
        len -= sizeof gone - 1;
    path[len] = '\0';
    return hpcrec_string_add(path);
}

/* A string that an earlier reading knew keeps its offset, so the pool does not grow with every reading. */
static uint32_t known_path(const char *s, size_t n, const struct range *old, size_t old_count, uint64_t start)
{
    for (size_t low = 0, high = old_count; low < high;) {
        size_t mid = (low + high) / 2;
        if (old[mid].start == start) {
            const char *known = hpcrec_string(old[mid].path);
            if (strlen(known) == n && memcmp(known, s, n) == 0)
                return old[mid].path;
            break;
        }
        if (old[mid].start < start)
            low = mid + 1;
        else
            high = mid;
    }
    /* New at this address: loaded elsewhere before, or loaded again. */
    const struct module_row *rows = hpcrec.modules.items;
    for (size_t i = 0; i < hpcrec.modules.count; i++)
        if (strncmp(hpcrec_string(rows[i].path), s, n) == 0 && hpcrec_string(rows[i].path)[n] == '\0')
            return rows[i].path;
    for (size_t i = 0; i < old_count; i++)
        if (strncmp(hpcrec_string(old[i].path), s, n) == 0 && hpcrec_string(old[i].path)[n] == '\0')
            return old[i].path;
    return 0;
}

static void add_line(const char *s, const struct range *old, size_t old_count)
{
    struct range r = {.module = UINT32_MAX};
    s = hex_into(s, &r.start);
    s = hex_into(s + (*s == '-'), &r.end);
    s += *s == ' ';
    if (!s[0] || !s[1] || !s[2])
        return;
    r.executable = s[2] == 'x';
    s = next_field(s);
    const char *offset = s;
    hex_into(offset, &r.offset);
    s = next_field(next_field(next_field(s))); /* device, inode */
    size_t n = strcspn(s, "\n");
    bool header = n > 0 && s[0] == '/' && r.offset == 0;
    if (!r.executable && !header)
        return;
    if (n == 0) {
        s = "[anonymous]";
        n = strlen(s);
    }
    r.path = known_path(s, n, old, old_count, r.start);
    if (r.path == 0)
        r.path = path_string(s, n);
    if (hpcrec_area_room(&ranges, ranges.count + 1, sizeof r))
        ((struct range *)ranges.items)[ranges.count++] = r;
}

/* An address range reused by another file is another range: it gets its module anew. Unchanged ones keep their rows. */
static void keep_known_rows(const struct range *old, size_t old_count)
{
    struct range *now = ranges.items;
    size_t o = 0;
    for (size_t i = 0; i < ranges.count; i++) {
        while (o < old_count && old[o].start < now[i].start)
            o++;
        if (o < old_count && old[o].start == now[i].start && old[o].end == now[i].end &&
            old[o].offset == now[i].offset && strcmp(hpcrec_string(old[o].path), hpcrec_string(now[i].path)) == 0 &&
            hpcrec_string(old[o].path)[0] != '/') {
            now[i].module = old[o].module;
            now[i].vaddr = old[o].vaddr;
        }
    }
}

static void reread(void)
{
    stale = false;
    may_reread = false;
    const char *text = read_maps();
    if (!text)
        return;
    struct area old = ranges;
    ranges = (struct area){0};
    for (const char *line = text; *line; line++) {
        add_line(line, old.items, old.count);
        line = strchr(line, '\n');
        if (!line)
            break;
    }
    keep_known_rows(old.items, old.count);
    hpcrec_area_free(&old, sizeof(struct range));
    hpcrec_contexts_stale();
}

/* ---- what a mapping is --------------------------------------------------------------------------------------- */

static const char hex_digits[] = "0123456789abcdef";

/* GNU build id among the notes at [address, +size), as hex text. */
static void find_build_id(uint64_t address, uint64_t size, char *to, size_t room)
{
    uint8_t notes[1024];
    if (size > sizeof notes)
        size = sizeof notes;
    if (!hpcrec_peek(address, notes, size))
        return;
    for (uint64_t at = 0; at + 12 <= size;) {
        uint32_t name, desc, type;
        memcpy(&name, notes + at, 4);
        memcpy(&desc, notes + at + 4, 4);
        memcpy(&type, notes + at + 8, 4);
        uint64_t name_at = at + 12, desc_at = name_at + (((uint64_t)name + 3) & ~3ull);
        if (desc_at + desc > size)
            return;
        if (type == NT_GNU_BUILD_ID && name == 4 && memcmp(notes + name_at, "GNU", 4) == 0) {
            size_t n = 0;
            for (uint32_t i = 0; i < desc && n + 3 < room; i++) {
                to[n++] = hex_digits[notes[desc_at + i] >> 4];
                to[n++] = hex_digits[notes[desc_at + i] & 15];
            }
            to[n] = '\0';
            return;
        }
        at = desc_at + (((uint64_t)desc + 3) & ~3ull);
    }
}

/* The mapping of the same file that holds its ELF header: the nearest one at or before `r`; or, for a part of the file
   that the program has mapped once more somewhere else (node does so with its built-in functions), any. */
static const struct range *header_range(const struct range *r)
{
    const struct range *all = ranges.items;
    const char *path = hpcrec_string(r->path);
    for (const struct range *head = r;; head--) {
        if (head->offset == 0)
            return head;
        if (head == all || strcmp(hpcrec_string(head[-1].path), path) != 0)
            break;
    }
    for (size_t i = 0; i < ranges.count; i++)
        if (all[i].offset == 0 && strcmp(hpcrec_string(all[i].path), path) == 0)
            return &all[i];
    return NULL;
}

/* Link-time address of the mapping's start, and the build id. Without readable headers: the file offset. */
static void look_into(struct range *r, char *build_id, size_t room)
{
    Elf64_Ehdr ehdr;
    Elf64_Phdr phdr[64];
    const struct range *head = header_range(r);
    build_id[0] = '\0';
    r->vaddr = r->offset;
    if (!head || !hpcrec_peek(head->start, &ehdr, sizeof ehdr) || memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0 ||
        ehdr.e_ident[EI_CLASS] != ELFCLASS64)
        return;
    size_t n = ehdr.e_phnum < 64 ? ehdr.e_phnum : 64;
    if (ehdr.e_phentsize != sizeof *phdr || !hpcrec_peek(head->start + ehdr.e_phoff, phdr, n * sizeof *phdr))
        return;
    uint64_t header_vaddr = 0;
    bool has_header = false, is_code = false;
    for (size_t i = 0; i < n; i++) {
        if (phdr[i].p_type != PT_LOAD)
            continue;
        uint64_t page_offset = phdr[i].p_offset & ~(hpcrec_page_bytes() - 1);
        if (page_offset == 0 && !has_header) {
            header_vaddr = phdr[i].p_vaddr - phdr[i].p_offset;
            has_header = true;
        }
        /* Of two segments that share a page of the file (as code and data of a small program do), the page is
           code's. */
        bool code = phdr[i].p_flags & PF_X;
        if (r->offset >= page_offset && r->offset < phdr[i].p_offset + phdr[i].p_filesz && (code || !is_code)) {
            r->vaddr = r->offset - phdr[i].p_offset + phdr[i].p_vaddr;
            is_code = code;
        }
    }
    for (size_t i = 0; i < n && !build_id[0]; i++)
        if (phdr[i].p_type == PT_NOTE)
            find_build_id(head->start + phdr[i].p_vaddr - header_vaddr, phdr[i].p_memsz, build_id, room);
}

static uint32_t module_row(uint32_t path, const char *build_id, const struct range *r)
{
    struct module_row *rows = hpcrec.modules.items;
    for (size_t i = hpcrec.modules.count; i-- > 0;)
        if (strcmp(hpcrec_string(rows[i].path), hpcrec_string(path)) == 0 &&
            strcmp(hpcrec_string(rows[i].build_id), build_id) == 0)
            return (uint32_t)i;
    if (!hpcrec_area_room(&hpcrec.modules, hpcrec.modules.count + 1, sizeof *rows))
        return 0;
    rows = hpcrec.modules.items;
    rows[hpcrec.modules.count] = (struct module_row){.path = path, .build_id = hpcrec_string_add(build_id)};
    if (r) {
        rows[hpcrec.modules.count].start = r->start;
        rows[hpcrec.modules.count].length = r->end - r->start;
        rows[hpcrec.modules.count].vaddr = r->vaddr;
    }
    return (uint32_t)hpcrec.modules.count++;
}

static void identify(struct range *r)
{
    char build_id[129] = "";
    const char *path = hpcrec_string(r->path);
    uint32_t name = r->path;
    if (path[0] == '/') {
        look_into(r, build_id, sizeof build_id);
    } else if (strcmp(path, "[vdso]") == 0) {
        r->vaddr = 0;
    } else {
        r->vaddr = r->start; /* no file: the address itself is all there is to say */
        if (path[0] != '[')
            name = hpcrec_string_add("[anonymous]"); /* "anon_inode:...", "//anon" and their like */
        else if (strncmp(path, "[anon", 5) == 0)
            name = hpcrec_string_add("[anonymous]"); /* named by prctl(PR_SET_VMA) */
    }
    r->module = module_row(name, build_id, r);
}

static struct range *find(uint64_t pc)
{
    struct range *r = ranges.items;
    size_t low = 0, high = ranges.count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (r[mid].start <= pc)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && pc < r[low - 1].end && r[low - 1].executable ? &r[low - 1] : NULL;
}

uint32_t hpcrec_maps_named(const char *name)
{
    struct module_row *rows = hpcrec.modules.items;
    for (size_t i = 0; i < hpcrec.modules.count; i++)
        if (strcmp(hpcrec_string(rows[i].path), name) == 0)
            return (uint32_t)i;
    return module_row(hpcrec_string_add(name), "", NULL);
}

uint32_t hpcrec_maps_find(uint64_t pc, uint64_t *address)
{
    *address = pc;
    if (pc >> 63)
        return hpcrec_maps_named(pc >= 0xffffffffff600000u && pc < 0xffffffffff601000u ? "[vsyscall]" : "[kernel]");
    if (stale)
        reread();
    struct range *r = find(pc);
    if (!r && may_reread) {
        reread();
        r = find(pc);
    }
    if (!r)
        return hpcrec_maps_named("[unknown]");
    if (r->module == UINT32_MAX)
        identify(r);
    *address = pc - r->start + r->vaddr;
    return r->module;
}

/* The cost of a module without samples is known, if the module is: zero. */
void hpcrec_maps_name_all(void)
{
    if (stale)
        reread();
    struct range *r = ranges.items;
    for (size_t i = 0; i < ranges.count; i++)
        if (r[i].executable && r[i].module == UINT32_MAX && hpcrec_string(r[i].path)[0] == '/')
            identify(&r[i]);
}
