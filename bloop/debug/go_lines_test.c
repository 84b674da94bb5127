/* SPDX-License-Identifier: BSD-3-Clause */
/* Go's own table, as assembled for each version: its contents, and the result if it is damaged. */
#include "bloop/debug/debug_int.h"

#include "bloop/binary_test.h"
#include "tests/tap.h"

/* main.f contains main.inlined, called on line 10, which contains main.deep, called on its line 3; main.g contains
   neither. */
static const char source[] =
    ".text\n.globl _start\n_start:\n.skip 32, 0x90\ng:\n.skip 16, 0x90\ntext_end:\n"
    "#if V == 2\n#define BASE tab\n#define FIRST 4\n#else\n#define BASE pcs\n#define FIRST 2\n#endif\n"
    "#ifdef PIE\n.section .gopclntab,\"aw\"\n#else\n.section .gopclntab,\"a\"\n#endif\n.balign 8\ntab: "
    ".long MAGIC\n.byte 0, 0, 1, 8\n.quad 2\n"
    "#if V >= 16\n.quad 2\n#if V >= 18\n.quad _start\n#endif\n"
    ".quad names - tab, units - tab, files - tab, pcs - tab, functions - tab\n#endif\n"
    "functions:\n"
    "#if V >= 18\n.long 0, record0 - functions, 32, record1 - functions, 48\n"
    "#elif V == 16\n.quad _start, record0 - functions, g, record1 - functions, text_end\n"
    "#else\n.quad _start, record0 - tab, g, record1 - tab, text_end\n.long list - tab\nlist: .long 3, file0 - tab, "
    "file1 - tab\n#endif\n"
    "units: .long file0 - files, file1 - files\n"
    "files: file0: .asciz \"/src/main.go\"\nfile1: .asciz \"/src/other.go\"\n"
    "#if V == 2\n#define NAMES tab\n#else\n#define NAMES names\n#endif\n"
    "names: .byte 0\nname0: .asciz \"main.f\"\nname1: .asciz \"main.g\"\nname2: .asciz \"main.inlined\"\n"
    "name3: .asciz \"main.deep\"\n"
    "pcs: .byte 0\n"
    "files0: .byte FIRST, 8, 2, 16, 1, 8, 0\n"
    "lines0: .byte 22, 8, 13, 8, 8, 8, 8, 8, 0\n"
    "nodes0: .byte 0, 8, 2, 8, 2, 8, 3, 8, 0\n"
    "files1: .byte FIRST, 16, 0\nlines1: .byte 42, 16, 0\n"
    ".balign 8\n"
    ".macro RECORD entry address name files lines nodes tables data\n"
    "#if V >= 18\n.long \\entry\n#else\n.quad \\address\n#endif\n"
    ".long \\name - NAMES, 0, 0, 0, \\files - BASE, \\lines - BASE, \\tables\n"
    "#if V >= 16\n.long 0\n#endif\n#if V == 20\n.long 9\n#endif\n"
    ".byte 0, 0, 0, \\data\n.long 0, 0, \\nodes, 0, 0, 0, 8\n.endm\n"
    "record0: RECORD 0, _start, name0, files0, lines0, (nodes0-pcs), 3, 4\n"
    "record1: RECORD 32, g, name1, files1, lines1, 0, 0, 0\n"
    ".data\n.balign 8\n.quad 1, 2, tab\n.skip 21 * 8\n.quad _start\n"
    "#if V == 20\n.skip 17 * 8\n#else\n.skip 15 * 8\n#endif\n.quad trees\n"
    ".section .rodata\n.quad 0\ntrees: .quad 0\n"
    "#if V == 20\n.byte 0, 0, 0, 0\n.long name2 - names, 4, 0\n.byte 0, 0, 0, 0\n.long name3 - names, 8, 0\n"
    "#else\n.word 0, 0\n.long 0, 10, name2 - names, 4\n.word 0, 0\n.long 0, 3, name3 - names, 8\n#endif\n";

static const char *const calls[] = {"", "", " main.inlined of other.go in -1 at 10: [8-18)",
                                    " main.deep of other.go in 0 at 3: [10-18)"};

static void say(struct buf *out, const struct debug_function *f, vaddr base)
{
    buf_printf(out, "%s %s:%u;", f->name, f->decl_file < f->file_count ? f->files[f->decl_file] : "", f->decl_line);
    for (size_t i = 0; i < f->inline_count; i++) {
        const struct inline_call *c = &f->inlines[i];
        buf_printf(out, " %s of %s in %d at %u:", c->name,
                   c->decl_file < f->file_count ? path_base(f->files[c->decl_file]) : "", (int)c->parent, c->call_line);
        for (size_t r = c->range_first; r < c->range_first + c->range_count; r++)
            buf_printf(out, " [%llx-%llx)", (unsigned long long)(f->ranges[r].begin - base),
                       (unsigned long long)(f->ranges[r].end - base));
    }
    for (size_t i = 0; i < f->row_count; i++)
        buf_printf(out, " %llx=%s:%u", (unsigned long long)(f->rows[i].addr - base),
                   f->rows[i].file >= f->file_count ? "" : path_base(f->files[f->rows[i].file]), f->rows[i].line);
}

/* The line information of both functions; "" without a table. */
static char *read_all(const char *path)
{
    struct buf out = {0};
    struct image *im;
    struct err err = {0};
    struct go_table *t;
    struct vaddr_list entries = {0};
    buf_str(&out, "");
    if (image_open_alone(path, &im, NULL, &err) != 0)
        return out.bytes;
    if (go_table_open(im, &t)) {
        struct arena *arena = arena_create();
        struct debug_function f;
        go_table_entries(t, &entries);
        for (size_t i = 0; i < entries.count; i++)
            if (go_table_function_at(t, entries.items[i], arena, &f)) {
                say(&out, &f, entries.items[0]);
                buf_char(&out, '\n');
            }
        arena_free(arena);
        go_table_close(t);
    }
    vec_release(&entries);
    image_close(im);
    return out.bytes;
}

/* Through the public interface: the same entries, and for each address in and around both functions the data of the
   function that contains it. */
static void test_door(const char *path)
{
    struct image *im;
    struct debug *d = NULL;
    struct vaddr_list entries = {0};
    struct bloop_variables variables = {0};
    size_t wrong = 0;
    if (image_open_alone(path, &im, NULL, NULL) != 0 || debug_open(im, &d, NULL, NULL) != 1)
        exit(99);
    debug_entries(d, &entries);
    debug_variables(d, &variables);
    CHECK_INT(entries.count, 2);
    CHECK_INT(variables.count, 0);
    vaddr first = entries.items[0], second = entries.items[1], end = second + 16;
    CHECK_INT(second - first, 32);
    for (vaddr at = first - 4; at < end + 4; at++) {
        struct arena *arena = arena_create();
        struct debug_function f;
        int known = debug_function_at(d, at, NULL, 0, arena, &f);
        const char *wanted = at >= first && at < second ? "main.f" : at >= second && at < end ? "main.g" : NULL;
        if (wanted)
            wrong += known != 1 || strcmp(f.name, wanted) != 0 || f.own_range_count != 1 ||
                     f.ranges[0].begin != (at < second ? first : second) ||
                     f.ranges[0].end != (at < second ? second : end) || strcmp(f.producer, "Go") != 0 ||
                     f.language != DW_LANG_Go || *f.link_name || *f.comp_dir || f.decl_file != f.rows[0].file;
        else
            wrong += known != 0;
        arena_free(arena);
    }
    CHECK_INT(wrong, 0);
    vec_release(&entries);
    debug_close(d);
    image_close(im);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    enum { MOST = 1 << 20 };
    uint8_t *bytes = mem_alloc(MOST);
    FILE *f = fopen(path, "rb");
    *size = f ? fread(bytes, 1, MOST, f) : 0;
    if (f)
        fclose(f);
    return bytes;
}

static char *make(const char *version, const char *magic, const char *flags)
{
    char *all = mem_printf("-nostdlib -Wl,--build-id=none %s -DV=%s -DMAGIC=%s", flags, version, magic);
    char *path = compile(tool("CC", "cc"), all, "go.S", source, version);
    mem_free(all);
    return path;
}

static void test_version(const char *version, const char *magic, const char *flags)
{
    char *path = make(version, magic, flags);
    if (!path) {
        SKIP(version, "no compiler that makes such a program here");
        return;
    }
    bool trees = atoi(version) >= 18;
    char *said = read_all(path);
    char *wanted =
        mem_printf("main.f /src/main.go:10;%s%s 0=main.go:10 8=other.go:3 10=other.go:7 18=main.go:11 20=:0\n"
                   "main.g /src/main.go:20; 20=main.go:20 30=:0\n",
                   calls[trees ? 2 : 0], calls[trees ? 3 : 1]);
    CHECK_STR(said, wanted);
    test_door(path);
    mem_free(wanted);
    mem_free(said);
    mem_free(path);
}

/* Any value of any of its bytes: no crash and no endless loop. */
static void test_damaged(const char *version, const char *magic)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0xff};
    char *path = make(version, magic, "-static"), *bad = scratch("bad");
    size_t size = 0;
    uint8_t *whole = path ? read_file(path, &size) : NULL;
    uint32_t number = (uint32_t)strtoul(magic, NULL, 16);
    uint8_t *table = whole ? memmem(whole, size, &number, sizeof number) : NULL;
    if (!table) {
        SKIP(version, "no compiler that makes such a program here");
    } else {
        for (size_t at = 4; at < 420 && table + at < whole + size; at++) {
            uint8_t before = table[at];
            table[at] = values[at % ARRAY_SIZE(values)];
            write_file("bad", whole, size);
            mem_free(read_all(bad));
            table[at] = before;
        }
        CHECK_NAMED(true, "damaged bytes do no harm");
    }
    mem_free(whole);
    mem_free(bad);
    mem_free(path);
}

int main(void)
{
    static const char *const versions[][2] = {
        {"2", "0xfffffffb"}, {"16", "0xfffffffa"}, {"18", "0xfffffff0"}, {"20", "0xfffffff1"}};
    scratch_make();
    for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
        test_version(versions[i][0], versions[i][1], "-static");
        test_damaged(versions[i][0], versions[i][1]);
    }
    test_version("18", "0xfffffff0", "-static-pie -DPIE");
    test_version("20", "0xfffffff1", "-static-pie -DPIE");
    scratch_remove();
    return tap_done();
}
