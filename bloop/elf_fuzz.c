/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as an ELF file: a sentence, or an image, functions, DWARF and a scope tree that keep the promises of their
   headers. Mutations know where a file's headers, sections and their contents are. */
#include "bloop/assemble/assemble.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak)); /* libFuzzer's */

/* libdwarf 20210528 to 0.11 forget some bytes where dwarf_child meets damage (LeakSanitizer asks for this function, and
   finds it only where others may see it). */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libdwarf.so\n";
}

#define FUNCTIONS_ASKED 64 /* damage shows in few; a run should be short */
#define NUMBER                                                                                                         \
    900 /* its descriptor, so that a file can name itself as where its split or alternate debug information is */

static void promise(bool kept)
{
    if (!kept)
        __builtin_trap();
}

static void check_image(const struct image *im)
{
    size_t avail;
    vaddr value;
    for (size_t i = 0; i < im->section_count; i++) {
        const struct image_section *s = &im->sections[i];
        const uint8_t *bytes = image_bytes(im, s->addr, &avail);
        if (bytes && avail) {
            volatile uint8_t last = bytes[avail - 1];
            (void)last;
        }
        if (i < 64)
            image_pointer(im, s->addr, &value);
    }
    for (size_t i = 1; i < im->symbol_count; i++)
        promise(im->symbols[i - 1].addr <= im->symbols[i].addr && *im->symbols[i].name);
}

static void check_functions(const struct function_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct function *f = &t->functions[i];
        promise(f->begin < f->end && (i == 0 || t->functions[i - 1].end <= f->begin));
        promise(f->part_of == FUNCTION_NONE || (f->part_of < t->count && f->part_of != i));
        promise(f->aliases_first + f->alias_count <= t->alias_count);
        promise(functions_at(t, f->begin) == i && functions_at(t, f->end - 1) == i);
    }
}

static void check_answer(const struct debug_function *f)
{
    promise(f->own_range_count <= f->range_count && f->name && f->link_name && f->comp_dir);
    promise(f->decl_file == DEBUG_NO_FILE || f->decl_file < f->file_count);
    for (size_t i = 0; i < f->row_count; i++) {
        promise(i == 0 || f->rows[i - 1].addr <= f->rows[i].addr);
        promise(f->rows[i].file == DEBUG_NO_FILE || f->rows[i].file < f->file_count);
    }
    for (size_t i = 0; i < f->inline_count; i++) {
        const struct inline_call *c = &f->inlines[i];
        promise(c->parent == INLINE_NONE || c->parent < i);
        promise(c->range_first + (size_t)c->range_count <= f->range_count && c->name && c->link_name);
        promise(c->call_file == DEBUG_NO_FILE || c->call_file < f->file_count);
        for (uint32_t r = c->range_first; r < c->range_first + c->range_count; r++)
            promise(f->ranges[r].begin < f->ranges[r].end &&
                    (r == c->range_first || f->ranges[r - 1].end < f->ranges[r].begin));
    }
}

static void check_variables(struct debug *d)
{
    struct bloop_variables list = {0};
    debug_variables(d, &list);
    for (size_t i = 0; i < list.count; i++)
        promise(list.items[i].bytes && *list.items[i].name &&
                list.items[i].in_frame == (list.items[i].procedure.end != 0));
    bloop_variables_release(&list);
}

static void check_debug(const struct image *im, const struct function_table *t, struct warnings *w)
{
    struct debug *d = NULL;
    struct err err = {0};
    struct vaddr_list entries = {0};
    int status = debug_open(im, &d, w, &err);
    promise(status >= 0 || err.msg[0]);
    if (status != 1)
        return;
    size_t step = t->count / FUNCTIONS_ASKED + 1;
    for (size_t i = 0; i < t->count; i += step) {
        struct arena *a = arena_create();
        struct debug_function f;
        struct addr_range part = {t->functions[i].begin, t->functions[i].end};
        if (debug_function_at(d, part.begin, &part, 1, a, &f) == 1)
            check_answer(&f);
        arena_free(a);
    }
    debug_entries(d, &entries);
    vec_release(&entries);
    mem_free(debug_source_folder(d));
    check_variables(d);
    debug_close(d);
}

/* Functions missing from all tables, around addresses that were sampled or called. */
static void look_into_gaps(const struct image *im, struct warnings *w)
{
    vaddr addrs[64];
    size_t n = 0;
    for (size_t i = 0; i < im->section_count; i++) {
        const struct image_section *s = &im->sections[i];
        for (vaddr k = 0; s->exec && k < 4 && n < ARRAY_SIZE(addrs); k++) {
            vaddr addr = s->addr + s->size / 4 * k + k;
            if (n == 0 || addrs[n - 1] < addr)
                addrs[n++] = addr;
        }
    }
    struct function_table *t = functions_list(im, w);
    functions_fill_gaps_at(t, addrs, n);
    check_functions(t);
    functions_fill_gaps_called(t, addrs, n);
    check_functions(t);
    functions_free(t);
}

static void analyse(const struct image *im, struct warnings *w)
{
    struct call_site_list sites = {0};
    struct arena *a = arena_create();
    check_image(im);
    struct function_table *t = functions_find(im, w);
    check_functions(t);
    for (size_t i = 0; i < t->count && i < 1000; i++) {
        demangle_short(a, demangle_full(a, t->functions[i].link_name));
        image_call_sites(im, t->functions[i].begin, &sites);
    }
    vaddr targets[16];
    size_t n = 0;
    for (size_t i = 0; i < t->count && n < ARRAY_SIZE(targets); i += t->count / 16 + 1) {
        vaddr target = t->functions[i].begin + i % 3;
        if (n == 0 || targets[n - 1] < target)
            targets[n++] = target;
    }
    functions_add(t, targets, n);
    check_functions(t);
    check_debug(im, t, w);
    look_into_gaps(im, w);
    vec_release(&sites);
    arena_free(a);
    functions_free(t);
}

/* The whole way, as a user goes it. */
static void recover(const char *path, struct warnings *w)
{
    struct bloop_binary *b = NULL;
    struct scope_tree *tree = NULL;
    struct err err = {0};
    if (bloop_open(path, &(struct bloop_options){.threads = 1}, &b, w, &err) < 0) {
        promise(err.msg[0] != 0);
        return;
    }
    if (bloop_scopes_all(b, &tree, w, &err) < 0) {
        promise(err.msg[0] != 0);
    } else {
        promise(scope_tree_check(tree, &err) == 0);
        scope_tree_free(tree);
    }
    bloop_close(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct image *im = NULL;
    struct err err = {0};
    struct warnings *w = warnings_create();
    int fd = memfd_create("elf", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || dup2(fd, NUMBER) != NUMBER)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", NUMBER);
    if (image_open(path, NULL, &im, w, &err) < 0)
        promise(err.msg[0] != 0 && !im);
    else
        analyse(im, w);
    image_close(im);
    recover(path, w);
    close(NUMBER);
    close(fd);
    warnings_free(w);
    return 0;
}

/* ---- mutations -------------------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Replacement values of a field: near an end, beyond it, zero, all ones. */
static uint64_t odd_value(uint64_t old, size_t size, uint32_t *r)
{
    const uint64_t values[] = {0,        1,
                               old + 1,  old - 1,
                               size,     size - 1,
                               size + 1, old * 2,
                               old / 2,  UINT64_MAX,
                               1u << 31, (uint64_t)1 << 62,
                               8,        next_random(r) % (size + 1)};
    return values[next_random(r) % ARRAY_SIZE(values)];
}

static void change_field(uint8_t *at, size_t bytes, size_t size, uint32_t *r)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    value = odd_value(value, size, r);
    memcpy(at, &value, bytes);
}

/* Tables of headers: all their fields are of 4 or 8 bytes. */
static void change_header(uint8_t *data, size_t size, uint64_t offset, uint64_t count, uint64_t each, uint32_t *r)
{
    uint64_t at = count ? offset + next_random(r) % count * each + next_random(r) % (each / 4) * 4 : size;
    if (offset <= size && at <= size && size - at >= 8)
        change_field(data + at, next_random(r) % 2 ? 8 : 4, size, r);
}

/* Changes bytes of one section; everything else stays in place. */
static bool change_content(uint8_t *data, size_t size, const Elf64_Ehdr *e, uint32_t *r)
{
    Elf64_Shdr s;
    uint64_t at = e->e_shnum ? e->e_shoff + next_random(r) % e->e_shnum * sizeof s : size;
    if (e->e_shoff > size || at > size || size - at < sizeof s)
        return false;
    memcpy(&s, data + at, sizeof s);
    if (s.sh_type == SHT_NOBITS || s.sh_offset > size || s.sh_size == 0 || s.sh_size > size - s.sh_offset)
        return false;
    uint64_t begin = next_random(r) % s.sh_size, length = s.sh_size - begin;
    length = length < 256 ? length : 256;
    if (next_random(r) % 4 == 0 && length >= 8)
        change_field(data + s.sh_offset + begin, (size_t)1 << next_random(r) % 4, s.sh_size, r);
    else
        LLVMFuzzerMutate(data + s.sh_offset + begin, length, length);
    return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    Elf64_Ehdr e;
    uint32_t r = seed;
    unsigned what = next_random(&r) % 16;
    if (size < sizeof e || what == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    memcpy(&e, data, sizeof e);
    if (what == 1)
        change_field(data + 16 + next_random(&r) % 6 * 8, 8 >> next_random(&r) % 3, size, &r);
    else if (what < 5)
        change_header(data, size, e.e_shoff, e.e_shnum, sizeof(Elf64_Shdr), &r);
    else if (what == 5)
        change_header(data, size, e.e_phoff, e.e_phnum, sizeof(Elf64_Phdr), &r);
    else if (!change_content(data, size, &e, &r))
        return LLVMFuzzerMutate(data, size, max_size);
    return size;
}
