/* SPDX-License-Identifier: BSD-3-Clause */
/* The module of an address (maps.c): generated texts of /proc/self/maps and mapped memory; tests/record/maps.cases. */
#undef syscall
#undef dl_iterate_phdr
#include "config.h"

#include "hpcprof/recorder/output/output.h"
#include "tests/cases.h"
#include "tests/chance.h"
#include "tests/guarded.h"

#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct recorder hpcrec;

/* ---- the world ------------------------------------------------------------------------------------------------------- */

enum { MAPS_FD = 4002, CHUNKS = 40, CHUNK_BYTES = 6000 };

static char *maps_text; /* NULL: cannot be read */
static size_t maps_at;
static unsigned readings, stale_contexts;
static unsigned long long adds, subs;
static bool old_loader;
static struct chunk {
    uint64_t at;
    size_t size;
    uint8_t bytes[CHUNK_BYTES];
} chunks[CHUNKS];
static unsigned chunk_count;

/* Memory with an inaccessible page after it, with the contents copied from elsewhere. */
static long guarded(size_t n, void *was, size_t was_n)
{
    void *p = guarded_get(n);
    if (!p)
        exit(99);
    if (was) {
        memcpy(p, was, was_n);
        guarded_put(was, was_n);
    }
    return (long)(intptr_t)p;
}

long fake_syscall(long number, ...);
long fake_syscall(long number, ...)
{
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = i < 3 || number == SYS_mmap || number == SYS_mremap ? va_arg(list, long) : 0;
    va_end(list);
    if (number == SYS_lseek) {
        maps_at = 0;
        readings++;
        return (int)a[0] >= MAPS_FD && maps_text ? 0 : -1;
    }
    if (number == SYS_read) { /* the kernel returns whole lines, as many as fit */
        size_t n = 0;
        const char *text = maps_text + maps_at;
        while (text[n] && n + strcspn(text + n, "\n") + 1 <= (size_t)a[2] && n < 500)
            n += strcspn(text + n, "\n") + (strchr(text + n, '\n') != NULL);
        memcpy((void *)a[1], text, n);
        maps_at += n;
        return (long)n;
    }
    if (number == SYS_mmap)
        return guarded((size_t)a[1], NULL, 0);
    if (number == SYS_mremap)
        return guarded((size_t)a[2], (void *)a[0], (size_t)a[1]);
    if (number == SYS_munmap) {
        guarded_put((void *)a[0], (size_t)a[1]);
        return 0;
    }
    return -1;
}

int fake_dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *ctx);
int fake_dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *ctx)
{
    struct dl_phdr_info info = {.dlpi_adds = adds, .dlpi_subs = subs};
    return f(&info, old_loader ? offsetof(struct dl_phdr_info, dlpi_subs) : sizeof info, ctx);
}

void hpcrec_hold(struct held *h, const char *path, int flags)
{
    h->fd = strcmp(path, "/proc/self/maps") == 0 && flags == 0 ? MAPS_FD : -1;
}
int hpcrec_held(struct held *h, const char *path, int flags)
{
    return strcmp(path, "/proc/self/maps") == 0 && flags == 0 ? h->fd : -1;
}
bool hpcrec_peek(uint64_t address, void *to, size_t n)
{
    for (unsigned i = 0; i < chunk_count; i++)
        if (address - chunks[i].at < chunks[i].size && n <= chunks[i].size - (address - chunks[i].at)) {
            memcpy(to, chunks[i].bytes + (address - chunks[i].at), n);
            return true;
        }
    return false;
}
void hpcrec_contexts_stale(void)
{
    stale_contexts++;
}

/* ---- mapped memory: "ADDRESS WHAT ..." a line -------------------------------------------------------------------- */

static void put(struct chunk *c, const void *bytes, size_t n)
{
    if (c->size + n > sizeof c->bytes)
        exit(99);
    memcpy(c->bytes + c->size, bytes, n);
    c->size += n;
}

/* An ELF header and program headers "load:OFFSET:VADDR:FILESZ", "code:..." or "note:VADDR:SIZE"; the words "class=1",
   "entry=57" or "magic" damage the header, "many" adds 70 empty headers in front. */
static void put_elf(struct chunk *c, char *words)
{
    Elf64_Ehdr e = {.e_phoff = sizeof e, .e_phentsize = sizeof(Elf64_Phdr)};
    memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = ELFCLASS64;
    put(c, &e, sizeof e);
    for (char *word; (word = strsep(&words, " "));) {
        unsigned long v[3] = {0};
        Elf64_Phdr p = {.p_type = PT_LOAD};
        int n = sscanf(word + strcspn(word, ":"), ":%lx:%lx:%lx", &v[0], &v[1], &v[2]);
        if (strcmp(word, "class=1") == 0)
            e.e_ident[EI_CLASS] = ELFCLASS32;
        else if (strcmp(word, "entry=57") == 0)
            e.e_phentsize++;
        else if (strcmp(word, "magic") == 0)
            e.e_ident[3] = 'G';
        else if (strncmp(word, "none*", 5) == 0)
            for (int i = atoi(word + 5); i-- > 0; e.e_phnum++)
                put(c, &(Elf64_Phdr){0}, sizeof p);
        else if (n == 3) {
            p.p_flags = strncmp(word, "code", 4) == 0 ? PF_X : 0;
            p.p_offset = v[0], p.p_vaddr = v[1], p.p_filesz = v[2], p.p_memsz = v[2] + 0x100;
            put(c, &p, sizeof p), e.e_phnum++;
        } else if (n == 2) {
            p.p_type = PT_NOTE, p.p_vaddr = v[0], p.p_memsz = v[1];
            put(c, &p, sizeof p), e.e_phnum++;
        }
    }
    memcpy(c->bytes, &e, sizeof e);
}

/* Notes "TYPE:NAME:DIGITS", each padded; "*N" instead of digits: N bytes of ab. */
static void put_notes(struct chunk *c, char *words)
{
    for (char *word; (word = strsep(&words, " "));) {
        unsigned type = 0;
        char name[20] = "", digits[800] = "";
        uint8_t desc[1024];
        uint32_t n = 0;
        sscanf(word, "%u:%19[^:]:%799s", &type, name, digits);
        if (digits[0] == '*')
            for (n = 0; n < (uint32_t)atoi(digits + 1); n++)
                desc[n] = 0xab;
        else
            for (unsigned byte; sscanf(digits + 2 * n, "%2x", &byte) == 1;)
                desc[n++] = (uint8_t)byte;
        uint32_t head[3] = {(uint32_t)strlen(name) + 1, n, type};
        put(c, head, sizeof head);
        put(c, name, (strlen(name) + 4) / 4 * 4);
        memset(desc + n, 0, 4);
        put(c, desc, (n + 3) / 4 * 4);
    }
}

static void make_memory(const char *text)
{
    char *copy = mem_strdup(text), *rest = copy;
    chunk_count = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line && chunk_count < CHUNKS;) {
        struct chunk *c = &chunks[chunk_count++];
        *c = (struct chunk){.at = strtoull(line, &line, 16)};
        if (strncmp(line, " elf", 4) == 0)
            put_elf(c, line + 4 + (line[4] == ' '));
        else if (strncmp(line, " notes ", 7) == 0)
            put_notes(c, line + 7);
        else if (strncmp(line, " cut ", 5) == 0) /* truncates the last item by this much */
            chunk_count--, chunks[chunk_count - 1].size -= strtoul(line + 5, NULL, 10);
    }
    mem_free(copy);
}

/* ---- cases ----------------------------------------------------------------------------------------------------------- */

static void begin(void *ctx, const char *name)
{
    (void)ctx, (void)name;
    mem_free(maps_text);
    maps_text = NULL;
    chunk_count = 0;
    readings = stale_contexts = 0;
    adds = subs = 0;
    old_loader = false;
    hpcrec_maps_check();
    hpcrec_maps_forget();
    hpcrec_area_free(&hpcrec.modules, sizeof(struct module_row));
    hpcrec_maps_open();
}

static void option(void *ctx, const char *word)
{
    (void)ctx, (void)word;
}

static void input(void *ctx, const char *which, const char *text)
{
    (void)ctx;
    if (strcmp(which, "maps") == 0) {
        mem_free(maps_text);
        maps_text = mem_strdup(text);
    } else
        make_memory(text);
}

static void show_row(struct buf *out, uint32_t row)
{
    const struct module_row *m = (const struct module_row *)hpcrec.modules.items + row;
    buf_printf(out, "%u %s [%s]", row, hpcrec_string(m->path), hpcrec_string(m->build_id));
}

/* Words in the header of a part: an address to look up (its module and offset), or another action or query. */
static void do_word(struct buf *out, const char *word)
{
    char *end;
    uint64_t address, pc = strtoull(word, &end, 16);
    if (!*end) {
        buf_printf(out, "%s: ", word);
        show_row(out, hpcrec_maps_find(pc, &address));
        buf_printf(out, " %llx\n", (unsigned long long)address);
    } else if (strcmp(word, "stale") == 0)
        hpcrec_maps_stale();
    else if (strcmp(word, "round") == 0)
        hpcrec_maps_new_round();
    else if (strcmp(word, "look") == 0)
        hpcrec_maps_check();
    else if (strcmp(word, "loaded") == 0)
        adds++;
    else if (strcmp(word, "unloaded") == 0)
        subs++;
    else if (strcmp(word, "old-loader") == 0)
        old_loader = true;
    else if (strcmp(word, "unreadable") == 0)
        mem_free(maps_text), maps_text = NULL;
    else if (strcmp(word, "name-all") == 0)
        hpcrec_maps_name_all();
    else if (strcmp(word, "forget") == 0)
        hpcrec_maps_forget();
    else if (strcmp(word, "open") == 0)
        hpcrec_maps_open();
    else if (strcmp(word, "moved") == 0)
        hpcrec_maps_move_fd(MAPS_FD - 1, 3), hpcrec_maps_move_fd(MAPS_FD, MAPS_FD + 5);
    else if (strcmp(word, "moved-away") == 0)
        hpcrec_maps_move_fd(MAPS_FD, 7);
    else if (strcmp(word, "readings") == 0)
        buf_printf(out, "%u readings, contexts stale %u times\n", readings, stale_contexts);
    else if (strcmp(word, "rows") == 0)
        for (uint32_t i = 0; i < hpcrec.modules.count; i++) {
            const struct module_row *m = (const struct module_row *)hpcrec.modules.items + i;
            show_row(out, i);
            buf_printf(out, " %llx +%llx as %llx\n", (unsigned long long)m->start, (unsigned long long)m->length,
                       (unsigned long long)m->vaddr);
        }
    else if (word[0] == '[') {
        show_row(out, hpcrec_maps_named(word));
        buf_str(out, "\n");
    } else
        buf_printf(out, "no such word: %s\n", word);
}

static void output(void *ctx, const char *what, struct buf *out)
{
    char *copy = mem_strdup(what), *rest = copy;
    (void)ctx;
    for (char *word; (word = strsep(&rest, " "));)
        if (*word)
            do_word(out, word);
    mem_free(copy);
}

/* Names of every length: one that is too long is cut. */
static void test_long_names(void)
{
    enum { KEPT = 4096 + 16 - 1 };
    static const size_t lengths[] = {KEPT - 1, KEPT, KEPT + 1, 2 * KEPT};
    for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
        struct buf text = {0};
        uint64_t address;
        buf_str(&text, "1000-2000 r-xp 00001000 00:00 7 /");
        for (size_t n = 1; n < lengths[i]; n++)
            buf_str(&text, "x");
        buf_str(&text, "\n");
        begin(NULL, "");
        maps_text = mem_strdup(text.bytes);
        uint32_t row = hpcrec_maps_find(0x1000, &address);
        const struct module_row *m = (const struct module_row *)hpcrec.modules.items + row;
        CHECK_INT(strlen(hpcrec_string(m->path)), lengths[i] < KEPT ? lengths[i] : KEPT);
        buf_release(&text);
    }
}

/* ---- random processes -------------------------------------------------------------------------------------------- */

enum { FILES = 12, LOADS = 5, PLACES = 400, PAGE = 4096 };

static struct drawn_file {
    char path[60], shown[80], id[50]; /* shown: as the kernel writes it */
    unsigned loads;
    struct {
        uint64_t offset, vaddr, size;
        bool is_code;
    } load[LOADS];
} files[FILES];

static struct place { /* a mapping that code may be in */
    uint64_t start, end, offset;
    int file;      /* -1: none */
    unsigned load; /* which of its */
    bool executable;
} places[PLACES];
static unsigned place_count;

static void draw_file(struct drawn_file *f, unsigned number)
{
    static const char *const odd[] = {"", " b", "\n", "\\", " (deleted) not", "\x80"};
    *f = (struct drawn_file){.loads = 1 + below(LOADS)};
    snprintf(f->path, sizeof f->path, "/lib%u%s.so", number / 2, odd[below(6)]);
    for (const char *c = f->path; *c; c++)
        snprintf(f->shown + strlen(f->shown), 8, *c == '\n' || *c == '\\' ? "\\%03o" : "%c", *c);
    if (below(4) == 0)
        strcat(f->shown, " (deleted)");
    for (unsigned i = 0, n = below(3) ? 4 + below(16) : 0; i < n; i++)
        snprintf(f->id + 2 * i, 3, "%02x", below(256));
    uint64_t offset = 0, vaddr = below(2) ? 0 : (uint64_t)PAGE * below(5000);
    for (unsigned i = 0; i < f->loads; i++) {
        f->load[i].offset = offset;
        f->load[i].vaddr = vaddr + offset;
        f->load[i].size = 1 + below(3 * PAGE);
        f->load[i].is_code = below(2) && !(i > 0 && offset % PAGE && f->load[i - 1].is_code); /* some share a page */
        offset += f->load[i].size + (below(3) ? (PAGE - (offset + f->load[i].size) % PAGE) % PAGE : below(PAGE));
        vaddr += (uint64_t)PAGE * below(4);
    }
}

static void add_place(struct buf *text, uint64_t *at, int file, unsigned load, uint64_t pages, bool executable)
{
    uint64_t offset = file < 0 ? 0 : files[file].load[load].offset / PAGE * PAGE;
    struct place p = {*at, *at + pages * PAGE, offset, file, load, executable};
    buf_printf(text, "%llx-%llx r-%cp %08llx 08:01 %u %s%s\n", (unsigned long long)p.start, (unsigned long long)p.end,
               executable ? 'x' : '-', (unsigned long long)offset, file < 0 ? 0 : 7, file < 0 ? "" : "      ",
               file < 0 ? "" : files[file].shown);
    *at = p.end + (uint64_t)PAGE * below(3);
    if (executable || (file >= 0 && offset == 0))
        places[place_count++] = p;
}

/* A file with its memory contents; some of it is occasionally mapped a second time elsewhere. */
static void add_file(struct buf *text, struct buf *memory, uint64_t *at, int number)
{
    const struct drawn_file *f = &files[number];
    uint64_t begin = *at, note = f->load[0].vaddr + 2048;
    buf_printf(memory, "%llx elf", (unsigned long long)begin);
    for (unsigned i = 0; i < f->loads; i++)
        buf_printf(memory, " %s:%llx:%llx:%llx", f->load[i].is_code ? "code" : "load",
                   (unsigned long long)f->load[i].offset, (unsigned long long)f->load[i].vaddr,
                   (unsigned long long)f->load[i].size);
    if (f->id[0])
        buf_printf(memory, " note:%llx:%zx\n%llx notes 1:ab:11 3:GNU:%s\n", (unsigned long long)note,
                   20 + 16 + (strlen(f->id) / 2 + 3) / 4 * 4, (unsigned long long)begin + 2048, f->id);
    else
        buf_str(memory, "\n");
    add_place(text, at, number, 0, 1 + below(2), f->load[0].is_code);
    for (unsigned i = 0; i < f->loads; i++)
        if (f->load[i].offset >= PAGE)
            add_place(text, at, number, i, 1 + below(3), f->load[i].is_code);
}

/* A random number of places; for some of them, readable memory ends right after them. */
static void draw_process(void)
{
    static const unsigned counts[] = {85, 170, 341, 0};
    struct buf text = {0}, memory = {0};
    uint64_t at = 0x10000;
    unsigned wanted = counts[below(4)];
    place_count = 0;
    for (int f = 0; f < FILES; f++) {
        if (below(5) == 0)
            continue;
        if (below(3) == 0)
            add_place(&text, &at, -1, 0, 1 + below(3), below(2));
        add_file(&text, &memory, &at, f);
    }
    while (place_count < wanted)
        add_place(&text, &at, -1, 0, 1, true);
    buf_str(&text, "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n");
    mem_free(maps_text);
    maps_text = mem_strdup(text.bytes);
    make_memory(memory.len ? memory.bytes : "");
    buf_release(&text);
    buf_release(&memory);
}

static bool is_found(uint64_t pc)
{
    const struct place *in = NULL;
    const char *path = "[unknown]", *id = "";
    uint64_t wanted = pc, address;
    for (unsigned i = 0; i < place_count; i++)
        if (pc >= places[i].start && pc < places[i].end && places[i].executable)
            in = &places[i];
    if (in)
        path = in->file < 0 ? "[anonymous]" : files[in->file].path;
    if (in && in->file >= 0) {
        const struct drawn_file *f = &files[in->file];
        wanted = pc - in->start + in->offset - f->load[in->load].offset + f->load[in->load].vaddr;
        id = f->id;
    }
    uint32_t row = hpcrec_maps_find(pc, &address);
    const struct module_row *m = (const struct module_row *)hpcrec.modules.items + row;
    bool good =
        strcmp(hpcrec_string(m->path), path) == 0 && strcmp(hpcrec_string(m->build_id), id) == 0 && address == wanted;
    if (!good)
        printf("# %llx: %s [%s] %llx, wanted %s [%s] %llx\n", (unsigned long long)pc, hpcrec_string(m->path),
               hpcrec_string(m->build_id), (unsigned long long)address, path, id, (unsigned long long)wanted);
    return good;
}

/* Each row is of a different file; after all were named, none is missing. */
static bool rows_are_right(void)
{
    const struct module_row *m = hpcrec.modules.items;
    for (size_t i = 0; i < hpcrec.modules.count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(hpcrec_string(m[i].path), hpcrec_string(m[k].path)) == 0 &&
                strcmp(hpcrec_string(m[i].build_id), hpcrec_string(m[k].build_id)) == 0)
                return false;
    for (unsigned p = 0; p < place_count; p++) {
        size_t i = 0;
        while (i < hpcrec.modules.count && places[p].file >= 0 &&
               (strcmp(hpcrec_string(m[i].path), files[places[p].file].path) != 0 ||
                strcmp(hpcrec_string(m[i].build_id), files[places[p].file].id) != 0))
            i++;
        if (places[p].executable && places[p].file >= 0 && i == hpcrec.modules.count)
            return false;
    }
    return true;
}

/* Files are mapped, unmapped and moved; the module of an address follows the current text and headers. */
static void test_drawn(void)
{
    bool good = true;
    for (int process = 0; process < 25 && good; process++) {
        begin(NULL, "");
        for (unsigned f = 0; f < FILES; f++)
            draw_file(&files[f], f);
        for (int round = 0; round < 6 && good; round++) {
            draw_process();
            hpcrec_maps_stale();
            for (int i = 0; i < 150 && good; i++) {
                const struct place *p = &places[below(place_count)];
                uint64_t edges[] = {p->start - 1, p->start, p->end - 1, p->end, p->start + below(PAGE)};
                good = is_found(edges[below(5)]);
            }
            if (below(3) == 0) {
                hpcrec_maps_name_all();
                good = good && rows_are_right();
            }
        }
    }
    CHECK_NAMED(good, "drawn processes");
}

int main(void)
{
    static const char *const inputs[] = {"maps", "memory", NULL};
    struct cases c = {inputs, begin, option, input, output, NULL, NULL, {0}};
    if (hpcrec_page_bytes() == 4096)
        cases_run(&c, "tests/record/maps.cases");
    else
        SKIP("made up maps", "they are of pages of 4096 bytes");
    RUN(test_long_names);
    RUN(test_drawn);
    begin(NULL, "");
    return tap_done();
}
