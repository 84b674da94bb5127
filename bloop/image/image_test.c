/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are and are not ELF, and the image of those that are. */
#include "config.h"

#include "bloop/binary_test.h"
#include "bloop/image/elf.h"
#include "tests/tap.h"

#include <sys/auxv.h>

/* ---- files hpcview does not read: one sentence each ---- */

static void test_refusals(void)
{
    static const struct {
        const char *name;
        uint8_t class, order, type, machine;
        size_t size;
        const char *says;
    } cases[] = {
        {"32-bit", ELFCLASS32, ELFDATA2LSB, ET_EXEC, EM_386, 52, "32-bit"},
        {"big-endian", ELFCLASS64, ELFDATA2MSB, ET_EXEC, EM_S390, 64, "big-endian"},
        {"class", 9, ELFDATA2LSB, ET_EXEC, EM_X86_64, 64, "class 9"},
        {"order", ELFCLASS64, 7, ET_EXEC, EM_X86_64, 64, "byte order 7"},
        {"machine", ELFCLASS64, ELFDATA2LSB, ET_EXEC, EM_RISCV, 64, "RISC-V"},
        {"core", ELFCLASS64, ELFDATA2LSB, ET_CORE, EM_X86_64, 64, "core dump"},
        {"type", ELFCLASS64, ELFDATA2LSB, 77, EM_X86_64, 64, "type 77"},
        {"short", ELFCLASS64, ELFDATA2LSB, ET_EXEC, EM_X86_64, 40, "truncated ELF file: 40 bytes"},
        {"hollow", ELFCLASS64, ELFDATA2LSB, ET_EXEC, EM_X86_64, 64, "neither sections nor loaded segments"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', cases[i].class, cases[i].order, 1},
                        .e_type = cases[i].type,
                        .e_machine = cases[i].machine,
                        .e_version = 1,
                        .e_ehsize = 64,
                        .e_shentsize = 64,
                        .e_phentsize = 56};
        struct image *im;
        struct err err = {0};
        write_file("file", &h, cases[i].size);
        char *path = scratch("file");
        int status = image_open(path, NULL, &im, NULL, &err);
        tap_result(status == -1 && strstr(err.msg, cases[i].says) && str_starts(err.msg, path), cases[i].name, __FILE__,
                   __LINE__);
        if (status == 0 || !strstr(err.msg, cases[i].says))
            printf("# %s\n", err.msg);
        mem_free(path);
    }
    struct image *im;
    struct err err = {0};
    write_file("file", "#!/bin/sh\n", 10);
    char *path = scratch("file");
    CHECK(image_open(path, NULL, &im, NULL, &err) == -1 &&
          strstr(err.msg, "not an ELF file: it begins with \"#!/bin/s\""));
    write_file("file", "", 0);
    CHECK(image_open(path, NULL, &im, NULL, &err) == -1 && strstr(err.msg, "empty"));
    mem_free(path);
    CHECK(image_open("/nowhere/at/all", NULL, &im, NULL, &err) == -1 && strstr(err.msg, "No such file"));
}

/* ---- this program itself ---- */

int image_test_one(void);
int image_test_two(void);
__attribute__((noinline)) int image_test_one(void)
{
    return scratch_folder[0];
}
__attribute__((noinline)) int image_test_two(void)
{
    return scratch_folder[1];
}
int (*const volatile image_test_pointers[])(void) = {image_test_one, image_test_two};

static void test_self(void)
{
    struct image *im = NULL;
    struct err err = {0};
    CHECK_INT(image_open("/proc/self/exe", NULL, &im, NULL, &err), 0);
    if (!im)
        return;
    const struct image_symbol *one = symbol_named(im, "image_test_one"),
                              *table = symbol_named(im, "image_test_pointers");
    size_t avail = 0;
    vaddr value = 0;
    CHECK(one && one->kind == SYM_FUNC && one->global && one->size > 0);
    CHECK(table && table->kind == SYM_OBJECT && table->size == 16);
    if (one && table) {
        const uint8_t *bytes = image_bytes(im, one->addr, &avail);
        CHECK_NAMED(bytes && avail >= one->size && memcmp(bytes, (const void *)image_test_pointers[0], one->size) == 0,
                    "the bytes of a function are those in memory");
        CHECK_NAMED(image_pointer(im, table->addr, &value) && value == one->addr, "a pointer has its link-time value");
        CHECK(image_section_at(im, one->addr)->exec && !image_section_at(im, table->addr)->exec);
    }
    bool sorted = true;
    for (size_t i = 1; i < im->symbol_count; i++)
        sorted = sorted && im->symbols[i - 1].addr <= im->symbols[i].addr;
    CHECK(sorted && im->symbol_count > 100);
    CHECK(image_bytes(im, 0, &avail) == NULL && avail == 0);
    CHECK(image_section_named(im, ".text") && !image_section_named(im, ".nothing"));
    image_close(im);
}

static void test_vdso(void)
{
    struct image *im = NULL;
    struct err err = {0};
    if (!getauxval(AT_SYSINFO_EHDR)) {
        SKIP("vdso", "this kernel has none");
        return;
    }
    if (!CHECK_INT(image_open("[vdso]", NULL, &im, NULL, &err), 0))
        return;
    CHECK_NAMED(symbol_named(im, "__vdso_clock_gettime") || symbol_named(im, "__kernel_clock_gettime"),
                "the vDSO has clock_gettime");
    image_close(im);
}

/* ---- relocatable files ---- */

static const char object_source[] =
    "extern void outside(void);\n"
    "__attribute__((noinline)) int callee(int x) { return x + 1; }\n"
    "int (*const where[])(int) = {callee};\n"
    "__attribute__((section(\".text.far\"))) int caller(int x) { outside(); return callee(x) * 2; }\n";

/* Is there a call of `target` among the function's bytes? */
static bool calls(const struct image *im, const struct image_symbol *f, vaddr target)
{
    size_t avail;
    const uint8_t *b = image_bytes(im, f->addr, &avail);
    for (size_t i = 0; b && i + 5 <= f->size && i + 5 <= avail; i++) {
        struct cursor c = cursor_make(b + i, 5);
        uint32_t word = cursor_u32(&c);
        if (im->arch == ARCH_AARCH64) { /* bl */
            int64_t offset = (int64_t)((uint64_t)word << 38) >> 36;
            if (i % 4 == 0 && word >> 26 == 0x25 && f->addr + i + (uint64_t)offset == target)
                return true;
        } else if (b[i] == 0xe8) { /* call rel32 */
            c = cursor_make(b + i + 1, 4);
            if (f->addr + i + 5 + (uint64_t)(int64_t)(int32_t)cursor_u32(&c) == target)
                return true;
        }
    }
    return false;
}

static void test_object(const char *compiler, const char *name)
{
    char *path = compile(compiler, "-O1 -c", "object.c", object_source, "object.o");
    struct image *im = NULL;
    struct err err = {0};
    vaddr value = 0;
    if (!path) {
        SKIP(name, "no such compiler");
        return;
    }
    CHECK_INT(image_open(path, NULL, &im, NULL, &err), 0);
    if (im) {
        const struct image_symbol *callee = symbol_named(im, "callee"), *caller = symbol_named(im, "caller"),
                                  *outside = symbol_named(im, "outside"), *where = symbol_named(im, "where");
        CHECK(im->relocatable && callee && caller && outside && where);
        CHECK_NAMED(calls(im, caller, callee->addr), "a call within the file reaches its target");
        CHECK_NAMED(calls(im, caller, outside->addr), "a call outside reaches a place with the right name");
        CHECK(image_pointer(im, where->addr, &value) && value == callee->addr);
        CHECK_STR(image_section_at(im, caller->addr)->name, ".text.far");
    }
    image_close(im);
    mem_free(path);
}

/* ---- sections that are compressed or elsewhere ---- */

static const char program_source[] = "int add(int x) { return x + 1; }\n"
                                     "int main(int argc, char **argv) { (void)argv; return add(argc); }\n";

static uint64_t debug_info_hash(const char *path, const char *const *dirs, struct warnings *w)
{
    struct image *im = NULL;
    uint64_t hash = 0;
    if (image_open(path, dirs, &im, w, NULL) < 0)
        return 0;
    if (im->priv->dwarf) {
        struct elf_section *s = elf_section_named(im->priv->dwarf, ".debug_info");
        if (elf_section_load(im->priv->dwarf, s, w))
            hash = hash_bytes(s->data, s->data_size, 0);
    }
    image_close(im);
    return hash;
}

static void test_compressed(const char *program)
{
    static const char *const ways[] = {"zlib-gabi", "zlib-gnu", "zstd"};
    uint64_t plain = debug_info_hash(program, NULL, NULL);
    CHECK(plain != 0);
    for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
        char *command = mem_printf(
            "objcopy --compress-debug-sections=%s program packed && readelf -S packed | grep -Eq 'zdebug|C' ", ways[i]);
        char *packed = scratch("packed");
#ifndef HAVE_ZSTD
        bool can = strcmp(ways[i], "zstd") != 0;
#else
        bool can = true;
#endif
        if (!can || !shell(command))
            SKIP(ways[i], "objcopy or this build cannot");
        else
            tap_result(debug_info_hash(packed, NULL, NULL) == plain, ways[i], __FILE__, __LINE__);
        mem_free(command);
        mem_free(packed);
    }
}

static void test_debug_link(const char *program)
{
    struct warnings *w = warnings_create();
    uint64_t plain = debug_info_hash(program, NULL, NULL);
    char *stripped = scratch("stripped"), *elsewhere = scratch("elsewhere");
    const char *dirs[] = {elsewhere, NULL};
    if (!shell("objcopy --only-keep-debug program program.debug && strip -s program -o stripped &&"
               "objcopy --remove-section .note.gnu.build-id --add-gnu-debuglink=program.debug stripped")) {
        SKIP("debug link", "no objcopy or strip");
        goto out;
    }
    CHECK_NAMED(debug_info_hash(stripped, NULL, w) == plain && warnings_count(w) == 0, "debug link beside the binary");
    struct image *im = NULL;
    CHECK(image_open(stripped, NULL, &im, NULL, NULL) == 0 && symbol_named(im, "add"));
    image_close(im);
    CHECK(shell("mkdir .debug && mv program.debug .debug"));
    CHECK_NAMED(debug_info_hash(stripped, NULL, w) == plain, "debug link in .debug");
    CHECK(shell("mkdir elsewhere && mv .debug/program.debug elsewhere"));
    CHECK_NAMED(debug_info_hash(stripped, NULL, w) == 0, "no debug file: none found");
    CHECK_NAMED(debug_info_hash(stripped, dirs, w) == plain, "debug link in a folder of the caller's");
    CHECK(warnings_count(w) == 0);
    CHECK(shell("printf x >> elsewhere/program.debug"));
    CHECK_NAMED(debug_info_hash(stripped, dirs, w) == 0 && warned(w, "checksum"),
                "a debug file of another build is refused");
out:
    mem_free(stripped);
    mem_free(elsewhere);
    warnings_free(w);
}

static void test_build_id(const char *program)
{
    struct warnings *w = warnings_create();
    uint64_t plain = debug_info_hash(program, NULL, NULL);
    struct image *im = NULL;
    char *stripped = scratch("stripped2"), *debug = scratch("debug");
    const char *dirs[] = {debug, NULL};
    CHECK(image_open(program, NULL, &im, NULL, NULL) == 0);
    if (!*im->build_id) {
        SKIP("build id", "this linker writes none");
    } else {
        char *command = mem_printf(
            "mkdir -p debug/.build-id/%.2s && strip -s program -o stripped2 && objcopy --only-keep-debug program "
            "debug/.build-id/%.2s/%s.debug",
            im->build_id, im->build_id, im->build_id + 2);
        CHECK(shell(command));
        mem_free(command);
        CHECK_NAMED(debug_info_hash(stripped, dirs, w) == plain && warnings_count(w) == 0, "debug file by build id");
        command = mem_printf("printf 'int main(void) { return 3; }' > other.c && %s -g -Wl,--build-id other.c -o "
                             "debug/.build-id/%.2s/%s.debug",
                             tool("CC", "cc"), im->build_id, im->build_id + 2);
        CHECK(shell(command));
        mem_free(command);
        CHECK_NAMED(debug_info_hash(stripped, dirs, w) == 0 && warned(w, "build id"),
                    "a debug file with another build id is refused");
    }
    image_close(im);
    mem_free(stripped);
    mem_free(debug);
    warnings_free(w);
}

/* Section headers removed, as by sstrip: the program headers are used instead. */
static void test_no_sections(const char *program)
{
    struct filemap map;
    struct image *im = NULL;
    struct warnings *w = warnings_create();
    CHECK(filemap_open(&map, program, NULL) == 0);
    uint8_t *copy = mem_alloc(map.len);
    memcpy(copy, map.bytes, map.len);
    memset(copy + 0x28, 0, 8);
    memset(copy + 0x3a, 0, 6);
    write_file("nosections", copy, map.len);
    char *path = scratch("nosections");
    CHECK(image_open(path, NULL, &im, w, NULL) == 0 && warnings_count(w) == 0);
    if (im) {
        size_t avail;
        CHECK(image_section_at(im, im->entry) && image_section_at(im, im->entry)->exec);
        CHECK(image_bytes(im, im->entry, &avail) && avail > 0);
        CHECK(image_section_named(im, ".eh_frame") && image_section_named(im, ".dynsym"));
    }
    image_close(im);
    /* Only the end missing: the message is that the section headers are out of bounds. */
    write_file("nosections", map.bytes, map.len - 64);
    CHECK(image_open(path, NULL, &im, w, NULL) == 0 && warned(w, "outside the file"));
    image_close(im);
    filemap_release(&map);
    mem_free(copy);
    mem_free(path);
    warnings_free(w);
}

/* Relative relocations as bit maps (RELR), if the linker supports them. */
static void test_relr(void)
{
    static const char source[] =
        "int f(void) { return 1; }\nint g(void) { return 2; }\n"
        "int (*const many[])(void) = {f, g, f, g, f, g, f, g};\nint main(void) { return many[1]() - 2; }\n";
    char *path = compile(tool("CC", "cc"), "-O0 -fPIE -pie -Wl,-z,pack-relative-relocs", "relr.c", source, "relr");
    struct image *im = NULL;
    if (!path || !shell("readelf -S relr | grep -q relr.dyn") || image_open(path, NULL, &im, NULL, NULL) < 0) {
        SKIP("packed relative relocations", "this linker makes none");
    } else {
        const struct image_symbol *many = symbol_named(im, "many"), *f = symbol_named(im, "f"),
                                  *g = symbol_named(im, "g");
        bool all = many && f && g;
        for (vaddr i = 0; all && i < 8; i++) {
            vaddr value = 0;
            all = image_pointer(im, many->addr + 8 * i, &value) && value == (i % 2 ? g : f)->addr;
        }
        CHECK_NAMED(all, "packed relative relocations");
    }
    image_close(im);
    mem_free(path);
}

int main(void)
{
    scratch_make();
    RUN(test_relr);
    RUN(test_refusals);
    RUN(test_self);
    RUN(test_vdso);
    test_object(tool("CC", "cc"), "relocatable file");
    test_object("aarch64-linux-gnu-gcc", "relocatable file for AArch64");
    char *program = compile(tool("CC", "cc"), "-g -O1 -Wl,--build-id", "program.c", program_source, "program");
    if (program) {
        test_compressed(program);
        test_debug_link(program);
        test_build_id(program);
        test_no_sections(program);
    } else {
        SKIP("compiled programs", "no compiler");
    }
    mem_free(program);
    scratch_remove();
    return tap_done();
}
