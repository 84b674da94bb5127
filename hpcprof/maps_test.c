/* Which module an address is of (maps.c): texts of /proc/self/maps and what is mapped there, made up; tests/record/maps.cases. */
#undef syscall
#undef dl_iterate_phdr
#include "config.h"

#include "hpcprof/recorder/rec.h"
#include "tests/cases.h"

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

long world_syscall(long number, ...);
long world_syscall(long number, ...)
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
    if (number == SYS_read) { /* the kernel gives whole lines, as many as find room */
        size_t n = 0;
        const char *text = maps_text + maps_at;
        while (text[n] && n + strcspn(text + n, "\n") + 1 <= (size_t)a[2] && n < 500)
            n += strcspn(text + n, "\n") + (strchr(text + n, '\n') != NULL);
        memcpy((void *)a[1], text, n);
        maps_at += n;
        return (long)n;
    }
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int world_dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *ctx);
int world_dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *ctx)
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

/* ---- what is mapped: "ADDRESS WHAT ..." a line ----------------------------------------------------------------------- */

static void put(struct chunk *c, const void *bytes, size_t n)
{
    if (c->size + n > sizeof c->bytes)
        exit(99);
    memcpy(c->bytes + c->size, bytes, n);
    c->size += n;
}

/* An ELF header, and program headers "load:OFFSET:VADDR:FILESZ" or "note:VADDR:SIZE"; a word "class=1", "entry=57" or "magic" spoils
   something, "many" puts 70 headers of nothing in front. */
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
            p.p_offset = v[0], p.p_vaddr = v[1], p.p_filesz = v[2], p.p_memsz = v[2] + 0x100;
            put(c, &p, sizeof p), e.e_phnum++;
        } else if (n == 2) {
            p.p_type = PT_NOTE, p.p_vaddr = v[0], p.p_memsz = v[1];
            put(c, &p, sizeof p), e.e_phnum++;
        }
    }
    memcpy(c->bytes, &e, sizeof e);
}

/* Notes "TYPE:NAME:DIGITS", each padded; "*N" in place of digits: so many bytes of ab. */
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
        else if (strncmp(line, " cut ", 5) == 0) /* what was last put, so much shorter */
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

/* Words of a part's head: an address (which module, and where in it), or something else that is done or asked. */
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

int main(void)
{
    static const char *const inputs[] = {"maps", "memory", NULL};
    struct cases c = {inputs, begin, option, input, output, NULL, NULL, {0}};
    if (hpcrec_page_bytes() == 4096)
        cases_run(&c, "tests/record/maps.cases");
    else
        SKIP("made up maps", "they are of pages of 4096 bytes");
    test_long_names();
    begin(NULL, "");
    return tap_done();
}
