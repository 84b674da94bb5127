/* SPDX-License-Identifier: BSD-3-Clause */
/* DWARF: hand-made line programs and range lists, then compiler output in every version and layout. */
#include "config.h"
#include "bloop/binary_test.h"
#include "bloop/debug/debug_int.h"
#include "tests/tap.h"

/* ---- line programs by hand ---- */

static uint8_t text[0x1000];

struct made {
    struct image image;
    struct image_private priv;
    struct image_section section;
    uint32_t by_addr[1];
    struct elf_file elf;
    struct elf_section sections[2];
    struct dwarf_file file;
};

static void made_init(struct made *m, const char *section, const struct buf *bytes)
{
    *m = (struct made){0};
    m->section = (struct image_section){".text", 0x1000, sizeof text, text, true, true, false};
    m->priv.by_addr = m->by_addr;
    m->priv.by_addr_count = 1;
    m->image =
        (struct image){.path = "made", .build_id = "", .sections = &m->section, .section_count = 1, .priv = &m->priv};
    m->sections[0].name = "";
    m->sections[1] = (struct elf_section){
        .name = section, .type = SHT_PROGBITS, .raw = (const uint8_t *)bytes->bytes, .size = bytes->len};
    m->elf = (struct elf_file){.path = (char *)"made", .sections = m->sections, .section_count = 2};
    pthread_mutex_init(&m->elf.lock, NULL);
    m->file = (struct dwarf_file){.elf = &m->elf};
}

/* A header with one folder and two files, up to the program; put_length closes it. */
static void begin_program(struct buf *b, unsigned version)
{
    static const uint8_t operands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    buf_u32(b, 0);
    buf_u16(b, (uint16_t)version);
    if (version >= 5) {
        buf_u8(b, 8);
        buf_u8(b, 0);
    }
    size_t header_length_at = b->len;
    buf_u32(b, 0);
    buf_u8(b, 1);
    if (version >= 4)
        buf_u8(b, 1);
    buf_u8(b, 1);
    buf_u8(b, (uint8_t)-5); /* line base */
    buf_u8(b, 14);
    buf_u8(b, 13);
    buf_add(b, operands, sizeof operands);
    if (version >= 5) {
        buf_add(b, "\x01\x01\x08\x02/cd\0inc", 12); /* folders: path as string; 2 of them */
        buf_add(b, "\x02\x01\x08\x02\x0b\x03", 6);  /* files: path as string, folder as data1; 3 of them */
        buf_add(b, "a.c\0\0a.c\0\0b.h\0\1", 15);
    } else {
        buf_add(b, "inc\0\0", 5);
        buf_add(b, "a.c\0\0\0\0b.h\0\1\0\0\0", 15);
    }
    uint32_t header_length = (uint32_t)(b->len - header_length_at - 4);
    memcpy(b->bytes + header_length_at, &header_length, 4);
}

static void set_address(struct buf *b, uint64_t address)
{
    buf_add(b, "\0\x09\x02", 3);
    buf_u64(b, address);
}

static char *rows_text(struct buf *b, struct warnings *w)
{
    struct made m;
    struct line_table t;
    struct die_info unit = {.lines = 0, .comp_dir = "/cd"};
    struct buf out = {0};
    uint32_t n = (uint32_t)b->len - 4;
    memcpy(b->bytes, &n, 4);
    made_init(&m, ".debug_line", b);
    m.file.w = w;
    line_table_read(&m.file, &m.image, &unit, true, &t);
    buf_str(&out, "");
    for (size_t i = 0; i < t.row_count; i++) {
        const struct line_row *r = &t.rows[i];
        if (r->file == DEBUG_NO_FILE)
            buf_printf(&out, "%s%llx:end", i ? " " : "", (unsigned long long)r->addr);
        else
            buf_printf(&out, "%s%llx:%s:%u%s%s", i ? " " : "", (unsigned long long)r->addr,
                       line_table_path(&t, r->file), r->line, r->is_stmt ? "" : "-", r->prologue_end ? "p" : "");
    }
    line_table_release(&t);
    return out.bytes;
}

#define CHECK_ROWS(b, w, wanted)                                                                                       \
    do {                                                                                                               \
        char *got = rows_text((b), (w));                                                                               \
        CHECK_STR(got, wanted);                                                                                        \
        mem_free(got);                                                                                                 \
    } while (0)

static void test_line_programs(void)
{
    struct warnings *w = warnings_create();
    for (unsigned version = 2; version <= 5; version++) {
        struct buf b = {0};
        printf("# version %u\n", version);
        begin_program(&b, version);
        set_address(&b, 0x1000);
        buf_u8(&b, 1);                      /* copy: line 1 of file 1, in every version */
        buf_u8(&b, 13 + 5 + 2 + 14 * 4);    /* special: line + 2, address + 4 */
        buf_add(&b, "\x04\x02\x0b\x0a", 4); /* file 2, epilogue_begin, prologue_end */
        buf_u8(&b, 13 + 5 + 14 * 2);
        buf_add(&b, "\x06\x03\x7f\x02\x04\x01", 6); /* negate_stmt, line - 1, address + 4, copy */
        buf_add(&b, "\x02\x06\0\1\1", 5);           /* address + 6, end of sequence */
        CHECK_ROWS(&b, w, "1000:/cd/a.c:1 1004:/cd/a.c:3 1006:/cd/inc/b.h:3p 100a:/cd/inc/b.h:2- 1010:end");

        /* Sequences discarded by the linker are omitted; others are in any order; holes are preserved. */
        set_address(&b, 0);
        buf_add(&b, "\x01\x02\x10\0\1\1", 6);
        set_address(&b, 0x1010);
        buf_add(&b, "\x03\x09\x01\x02\x10\0\1\1", 8);
        set_address(&b, 0x0800);
        buf_add(&b, "\x01\x02\x10\0\1\1", 6);
        set_address(&b, 0x1100);
        buf_add(&b, "\x03\x13\x01\x02\x10\0\1\1", 8);
        CHECK_ROWS(&b, w,
                   "1000:/cd/a.c:1 1004:/cd/a.c:3 1006:/cd/inc/b.h:3p 100a:/cd/inc/b.h:2- 1010:/cd/a.c:10 1020:end "
                   "1100:/cd/a.c:20 1110:end");
        CHECK_INT(warnings_count(w), 0);

        bool bounded = true; /* cut anywhere: rows or a sentence */
        for (size_t cut = 12; cut < b.len; cut++) {
            struct buf part = {0};
            buf_add(&part, b.bytes, cut);
            char *got = rows_text(&part, NULL);
            bounded = bounded && strlen(got) < 256;
            mem_free(got);
            buf_release(&part);
        }
        CHECK(bounded);
        buf_release(&b);
    }
    struct buf b = {0};
    begin_program(&b, 4);
    set_address(&b, 0x1000);
    buf_add(&b, "\x01\x02\x10", 3); /* no end_sequence: its extent is unknown */
    CHECK_ROWS(&b, w, "");
    b.bytes[4] = 9;
    CHECK_ROWS(&b, w, "");
    CHECK(warned(w, "line program"));
    b.bytes[4] = 4;
    b.bytes[4 + 2 + 4 + 4] = 0; /* line range 0: no division by it */
    buf_add(&b, "\xff\xff\x08\0\1\1", 6);
    CHECK_ROWS(&b, w, "");
    buf_release(&b);
    warnings_free(w);
}

/* ---- range lists by hand ---- */

static char *ranges_text(const struct unit_base *base, const struct die_info *info, const char *section,
                         const struct buf *bytes)
{
    struct made m;
    struct unit_base b = *base;
    struct range_list list = {0};
    struct buf out = {0};
    made_init(&m, section, bytes);
    b.addresses = &m.elf;
    die_ranges(&m.file, &b, info, &list);
    ranges_normalize(&list, 0);
    buf_str(&out, "");
    for (size_t i = 0; i < list.count; i++)
        buf_printf(&out, "%s%llx-%llx", i ? " " : "", (unsigned long long)list.items[i].begin,
                   (unsigned long long)list.items[i].end);
    vec_release(&list);
    return out.bytes;
}

static void test_ranges(void)
{
    struct buf b = {0};
    struct unit_base base = {.version = 4,
                             .offset_size = 4,
                             .base = 0x1000,
                             .rnglists_base = NO_OFFSET,
                             .addr_base = NO_OFFSET,
                             .gnu_ranges_base = NO_OFFSET};
    struct die_info info = {.has_ranges = true, .ranges_form = 0x17};
    static const uint64_t v4[] = {0x10, 0x20, 0, 0x10, UINT64_MAX, 0x5000, 8, 4, 0x30, 0x40, 0, 0, 0x50, 0x60};
    for (size_t i = 0; i < ARRAY_SIZE(v4); i++)
        buf_u64(&b, v4[i]);
    char *got = ranges_text(&base, &info, ".debug_ranges", &b);
    CHECK_STR(got, "1000-1020 5030-5040");
    mem_free(got);
    info.ranges = 1000;
    got = ranges_text(&base, &info, ".debug_ranges", &b);
    CHECK_STR(got, "");
    mem_free(got);

    b.len = 0;
    info.ranges = 0;
    base.version = 5;
    buf_add(&b, "\x04\x10\x20", 3); /* offset_pair */
    buf_u8(&b, 7);                  /* start_length */
    buf_u64(&b, 0x7000);
    buf_uleb(&b, 0x300);
    buf_u8(&b, 5); /* base_address */
    buf_u64(&b, 0x9000);
    buf_add(&b, "\x04\x01\x03", 3);
    buf_u8(&b, 6); /* start_end */
    buf_u64(&b, 0x9003);
    buf_u64(&b, 0x9004);
    size_t whole = b.len;
    buf_u8(&b, 0);
    got = ranges_text(&base, &info, ".debug_rnglists", &b);
    CHECK_STR(got, "1010-1020 7000-7300 9001-9004");
    mem_free(got);
    b.len = whole; /* without an end */
    buf_u8(&b, 99);
    got = ranges_text(&base, &info, ".debug_rnglists", &b);
    CHECK_STR(got, "1010-1020 7000-7300 9001-9004");
    mem_free(got);
    b.len = 0; /* a list that goes on and on is cut off */
    for (size_t i = 0; i < 3 * (size_t)LIMIT_RANGES_OF_ENTRY; i++)
        buf_add(&b, "\x05zzzzzzzz", 9);
    got = ranges_text(&base, &info, ".debug_rnglists", &b);
    CHECK_STR(got, "");
    mem_free(got);
    buf_release(&b);
}

/* ---- compiler output ---- */

static const char source[] = "extern volatile int sink;\n"                                     /* 1 */
                             "static inline __attribute__((always_inline)) int inner(int x)\n" /* 2 */
                             "{\n"                                                             /* 3 */
                             "    return x * sink;\n"                                          /* 4 */
                             "}\n"                                                             /* 5 */
                             "static inline __attribute__((always_inline)) int outer(int x)\n" /* 6 */
                             "{\n"                                                             /* 7 */
                             "    int s = 0;\n"                                                /* 8 */
                             "    for (int i = 0; i < x; i++)\n"                               /* 9 */
                             "        s += inner(i);\n"                                        /* 10 */
                             "    return s;\n"                                                 /* 11 */
                             "}\n"                                                             /* 12 */
                             "int work(int n)\n"                                               /* 13 */
                             "{\n"                                                             /* 14 */
                             "    return outer(n) + 1;\n"                                      /* 15 */
                             "}\n"                                                             /* 16 */
                             "volatile int sink = 3;\n"                                        /* 17 */
                             "int main(int argc, char **argv) { (void)argv; return work(argc); }\n";

static bool file_is(const struct debug_function *f, uint32_t file, const char *base)
{
    return file < f->file_count && strcmp(path_base(f->files[file]), base) == 0;
}

static bool has_line(const struct debug_function *f, uint32_t line)
{
    for (size_t i = 0; i < f->row_count; i++)
        if (f->rows[i].line == line && file_is(f, f->rows[i].file, "w.c"))
            return true;
    return false;
}

/* work() with outer() inlined, and inner() in that. */
static void check_work(const char *path, const char *name)
{
    struct image *im = NULL;
    struct function_table *t = NULL;
    struct debug *d = NULL;
    struct err err = {0};
    struct debug_function f;
    struct warnings *w = warnings_create();
    struct arena *a = arena_create();
    bool ok = image_open(path, NULL, &im, w, &err) == 0 && (t = functions_find(im, w)) != NULL &&
              debug_open(im, &d, w, &err) == 1;
    const struct function *work = ok ? function_named(t, "work") : NULL;
    struct addr_range part = work ? (struct addr_range){work->begin, work->end} : (struct addr_range){0, 0};
    ok = work && debug_function_at(d, work->begin, &part, 1, a, &f) == 1;
    ok = ok && strcmp(f.name, "work") == 0 && f.decl_line == 13 && file_is(&f, f.decl_file, "w.c") &&
         f.own_range_count == 1 && f.ranges[0].begin == part.begin;
    ok = ok && f.inline_count == 2 && f.row_count > 3 && has_line(&f, 9) && has_line(&f, 10) && has_line(&f, 15) &&
         !has_line(&f, 18);
    if (ok) {
        const struct inline_call *outer = &f.inlines[0], *inner = &f.inlines[1];
        ok = strcmp(outer->name, "outer") == 0 && outer->parent == INLINE_NONE && outer->call_line == 15 &&
             outer->decl_line == 6 && file_is(&f, outer->call_file, "w.c") && strcmp(inner->name, "inner") == 0 &&
             inner->parent == 0 && inner->call_line == 10 && inner->decl_line == 2 && inner->range_count >= 1;
        for (uint32_t r = inner->range_first; ok && r < inner->range_first + inner->range_count; r++)
            ok = f.ranges[r].begin >= part.begin && f.ranges[r].end <= part.end;
        ok = ok && f.rows[0].addr == part.begin && f.rows[f.row_count - 1].addr == part.end &&
             f.rows[f.row_count - 1].file == DEBUG_NO_FILE;
    }
    ok = ok && warnings_count(w) == 0;
    if (!tap_result(ok, name, __FILE__, __LINE__)) {
        for (size_t i = 0; i < warnings_count(w); i++)
            printf("# %s\n", warnings_get(w, i));
        printf("# %s\n", err.msg);
    }
    debug_close(d);
    functions_free(t);
    image_close(im);
    arena_free(a);
    warnings_free(w);
}

static void test_versions(void)
{
    const char *compilers[] = {tool("CC", "cc"), "clang", "aarch64-linux-gnu-gcc"};
    static const char *const flags[] = {"-gdwarf-2",
                                        "-gdwarf-3",
                                        "-gdwarf-4",
                                        "-gdwarf-5",
                                        "-gdwarf-5 -gdwarf64",
                                        "-gdwarf-5 -gz",
                                        "-gdwarf-4 -gsplit-dwarf",
                                        "-gdwarf-5 -gsplit-dwarf",
                                        "-gdwarf-5 -c",
                                        "-gdwarf-4 -c",
                                        "-gdwarf-5 -ffunction-sections"};
    for (size_t c = 0; c < ARRAY_SIZE(compilers); c++) {
        for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
            char *name = mem_printf("%s %s", compilers[c], flags[i]),
                 *all = mem_printf("-O1 -fno-unroll-loops %s", flags[i]);
            char *path = compile(compilers[c], all, "w.c", source, "w");
            if (path)
                check_work(path, name);
            else
                SKIP(name, "cannot be compiled here");
            mem_free(name);
            mem_free(all);
            mem_free(path);
        }
    }
}

static void test_package(void)
{
    static const char other[] = "int more(int x);\nint more(int x)\n{\n    return x ^ 5;\n}\n";
    write_file("other.c", other, strlen(other));
    write_file("w.c", source, strlen(source));
    char *path = scratch("packed");
    for (int version = 4; version <= 5; version++) {
        char *command = mem_printf(
            "rm -f *.dwo && { clang -O1 -gdwarf-%d -gsplit-dwarf -c other.c w.c && clang other.o w.o -o packed &&"
            " { llvm-dwp -e packed -o packed.dwp || llvm-dwp-14 -e packed -o packed.dwp; } && rm *.dwo; }",
            version);
        if (shell(command))
            check_work(path, version == 4 ? "a .dwp, DWARF 4" : "a .dwp, DWARF 5");
        else
            SKIP("a .dwp", "no clang or llvm-dwp");
        mem_free(command);
    }
    if (shell(
            "rm -f *.dwo && clang -O1 -gdwarf-5 -gsplit-dwarf -shared -fPIC other.c -o strange && clang -O1 -gdwarf-5 "
            "-gsplit-dwarf w.c -o packed && { llvm-dwp -e strange -o packed.dwp || llvm-dwp-14 -e strange -o "
            "packed.dwp; }"))
        check_work(path, "a .dwp of another program");
    else
        SKIP("a .dwp of another program", "no clang or llvm-dwp");
    shell("rm -f packed.dwp");
    mem_free(path);
}

static void test_dwz(void)
{
    write_file("w.c", source, strlen(source));
    char *path = scratch("z1"), *command = mem_printf("%s -g -O1 w.c -o z1 && %s -g -O1 -DAGAIN w.c -o z2 && dwz -m "
                                                      "shared z1 z2 && readelf -S z1 | grep -q altlink",
                                                      tool("CC", "cc"), tool("CC", "cc"));
    if (shell(command)) {
        check_work(path, "an alternate file of dwz");
        struct image *im = NULL;
        struct warnings *w = warnings_create();
        CHECK(shell("rm shared") && image_open(path, NULL, &im, w, NULL) == 0 && warned(w, "was not found"));
        image_close(im);
        warnings_free(w);
    } else {
        SKIP("an alternate file of dwz", "no dwz");
    }
    mem_free(path);
    mem_free(command);
}

static void test_missing_split(void)
{
    char *path = compile(tool("CC", "cc"), "-O1 -gdwarf-4 -gsplit-dwarf", "w.c", source, "lost");
    struct image *im = NULL;
    struct function_table *t = NULL;
    struct debug *d = NULL;
    struct err err = {0};
    struct warnings *w = warnings_create();
    struct arena *a = arena_create();
    if (!path || !shell("rm -f *.dwo")) {
        SKIP("a .dwo that is not there", "cannot be compiled here");
    } else {
        struct debug_function f;
        CHECK(image_open(path, NULL, &im, w, &err) == 0 && (t = functions_find(im, w)) != NULL &&
              debug_open(im, &d, w, &err) == 1);
        const struct function *work = function_named(t, "work");
        struct addr_range part = {work->begin, work->end};
        CHECK(debug_function_at(d, work->begin, &part, 1, a, &f) == 1);
        CHECK_NAMED(has_line(&f, 15) && f.inline_count == 0 && warned(w, "split"),
                    "a .dwo that is not there: lines, and a warning");
    }
    debug_close(d);
    functions_free(t);
    image_close(im);
    arena_free(a);
    warnings_free(w);
    mem_free(path);
}

/* The .dwo files are elsewhere: in the first given folder, in a later one, or next to the binary. */
static void test_moved_split(void)
{
    static const char *const folders[] = {"first", "second", "."};
    char *path = compile(tool("CC", "cc"), "-O1 -gdwarf-5 -gsplit-dwarf", "w.c", source, "moved");
    char *first = scratch("first"), *second = scratch("second");
    const char *const dirs[] = {first, second, NULL};
    bool made = path && shell("mkdir first second && mkdir away && mv *.dwo away && mv moved away && rm w.c");
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        char *command = mem_printf("rm -f first/* second/* *.dwo && cp away/*.dwo %s && cp away/moved .", folders[i]);
        struct image *im = NULL;
        struct function_table *t = NULL;
        struct debug *d = NULL;
        struct warnings *w = warnings_create();
        struct arena *a = arena_create();
        struct debug_function f;
        if (!made || !shell(command)) {
            SKIP(folders[i], "cannot be compiled here");
        } else {
            CHECK(image_open(path, dirs, &im, w, NULL) == 0 && (t = functions_find(im, w)) != NULL &&
                  debug_open(im, &d, w, NULL) == 1);
            const struct function *work = function_named(t, "work");
            struct addr_range part = {work->begin, work->end};
            CHECK(debug_function_at(d, work->begin, &part, 1, a, &f) == 1 && f.inline_count == 2);
            CHECK_INT(warnings_count(w), 0);
        }
        debug_close(d);
        functions_free(t);
        image_close(im);
        arena_free(a);
        warnings_free(w);
        mem_free(command);
    }
    mem_free(path);
    mem_free(first);
    mem_free(second);
}

/* Names of procedures and of the calls inlined into them, ordered by address. */
static char *names_text(const char *path)
{
    struct image *im = NULL;
    struct function_table *t = NULL;
    struct debug *d = NULL;
    struct err err = {0};
    struct buf out = {0};
    buf_str(&out, "");
    if (image_open(path, NULL, &im, NULL, &err) == 0 && (t = functions_find(im, NULL)) != NULL &&
        debug_open(im, &d, NULL, &err) == 1) {
        for (size_t i = 0; i < t->count; i++) {
            struct arena *a = arena_create();
            struct debug_function f;
            struct addr_range part = {t->functions[i].begin, t->functions[i].end};
            if (debug_function_at(d, part.begin, &part, 1, a, &f) == 1 && *f.name) {
                buf_printf(&out, "|%s", f.name);
                for (size_t k = 0; k < f.inline_count; k++)
                    buf_printf(&out, "+%s", f.inlines[k].name);
            }
            arena_free(a);
        }
    }
    buf_char(&out, '|');
    debug_close(d);
    functions_free(t);
    image_close(im);
    return out.bytes;
}

static void test_names(void)
{
    static const char cxx[] =
        "namespace heat { struct Mesh { int n; inline int at(int i) const; }; struct Out { struct In { static int "
        "deep(int); }; };\n"
        "inline __attribute__((always_inline)) int Mesh::at(int i) const { return n * i; }\n"
        "int Out::In::deep(int x) { Mesh m{x}; return m.at(x); }\n"
        "namespace { __attribute__((noinline)) int hidden(int x) { return x * 5; } }\n"
        "template <class T> T twice(T x) { return x + hidden(x); } template int twice<int>(int); }\n"
        "int with_lambda(int n) { auto f = [&](int x) __attribute__((always_inline)) { return x * n; }; return f(n); "
        "}\n";
    static const char fortran[] = "module heat\ncontains\nsubroutine solve(a, n)\n integer :: n, i\n real :: a(n)\n do "
                                  "i = 1, n\n  a(i) = inside(a(i))\n end do\n"
                                  "contains\n real function inside(x)\n  real :: x\n  inside = x * n\n end "
                                  "function\nend subroutine\nend module\n";
    char *path = compile(tool("CXX", "c++"), "-g -O1 -c", "n.cc", cxx, "n.o"), *text_found;
    if (path) {
        text_found = names_text(path);
#ifdef HAVE_IBERTY
        CHECK(strstr(text_found, "|heat::Out::In::deep+heat::Mesh::at|"));
        CHECK(strstr(text_found, "|heat::twice<int>|"));
#else
        SKIP("names of callees and of template instances", "built without libiberty");
#endif
        CHECK(strstr(text_found, "|heat::(anonymous namespace)::hidden|"));
        CHECK(strstr(text_found, "|with_lambda+with_lambda"));
        printf("# %s\n", text_found);
        mem_free(text_found);
    } else {
        SKIP("C++ names", "no C++ compiler");
    }
    mem_free(path);
    path = compile(tool("FC", "gfortran"), "-g -O0 -c", "n.f90", fortran, "nf.o");
    if (path) {
        text_found = names_text(path);
        CHECK(strstr(text_found, "|heat::solve|"));
        CHECK(strstr(text_found, "|heat::solve::inside|"));
        printf("# %s\n", text_found);
        mem_free(text_found);
    } else {
        SKIP("Fortran names", "no Fortran compiler");
    }
    mem_free(path);
}

int main(void)
{
    scratch_make();
    RUN(test_line_programs);
    RUN(test_ranges);
    RUN(test_versions);
    RUN(test_package);
    RUN(test_dwz);
    RUN(test_missing_split);
    RUN(test_moved_split);
    RUN(test_names);
    scratch_remove();
    return tap_done();
}
