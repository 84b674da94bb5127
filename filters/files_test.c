/* SPDX-License-Identifier: BSD-3-Clause */
/* Files as they are found: packed or not, of one format and no other, in a folder, damaged. */
#include "config.h"

#include "filters/base/image.h"
#include "tests/fixtures/import_dump.h"

#include <elf.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* The system may write only a part, or nothing if a signal arrived. */
ssize_t write(int fd, const void *bytes, size_t n)
{
    enum { AT_ONCE = 1000003 };
    static unsigned calls;
    if (n > AT_ONCE && ++calls % 5 == 0) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_write, fd, bytes, n > AT_ONCE ? AT_ONCE : n);
}

/* ---- packed ------------------------------------------------------------------------------------------------------ */

enum { PACKED_MOST = 1 << 20 };

static void add_gzip(struct buf *b, const void *bytes, size_t n)
{
    uint8_t *out = mem_alloc(PACKED_MOST);
    z_stream z = {.next_in = (Bytef *)bytes, .avail_in = (uInt)n, .next_out = out, .avail_out = PACKED_MOST};
    CHECK_INT(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_add(b, out, PACKED_MOST - z.avail_out);
    deflateEnd(&z);
    mem_free(out);
}

#ifdef HAVE_ZSTD
static void add_zstd(struct buf *b, const void *bytes, size_t n)
{
    uint8_t *out = mem_alloc(PACKED_MOST);
    size_t len = ZSTD_compress(out, PACKED_MOST, bytes, n, 1);
    CHECK(!ZSTD_isError(len));
    buf_add(b, out, len);
    mem_free(out);
}
#else
static void add_zstd(struct buf *b, const void *bytes, size_t n)
{
    (void)b, (void)bytes, (void)n;
}
#endif

static const struct packing {
    const char *name;
    void (*add)(struct buf *, const void *, size_t);
    const char *damaged, *cut;
} packings[] = {
    {"gzip", add_gzip, "its gzip data are damaged", "its gzip data are truncated"},
    {"zstd", add_zstd, "its zstd data are damaged", "its zstd data are truncated"},
};
#ifdef HAVE_ZSTD
enum { PACKINGS = 2 };
#else
enum { PACKINGS = 1 };
#endif

/* The decompressed data, or the error; "not packed". Uses a copy of exact size, so that reads past its end are
   detected. */
static struct buf unpacked(const void *bytes, size_t n)
{
    uint8_t *copy = memcpy(mem_alloc(n + 1), bytes, n);
    struct filemap packed = {.bytes = copy, .len = n}, plain = {0};
    struct err err = {0};
    struct buf out = {0};
    int status = filter_unpack(&packed, "input", &plain, &err);
    buf_str(&out, status < 0 ? err.msg : status == 0 ? "not packed" : "");
    if (status > 0) {
        buf_add(&out, plain.bytes, plain.len);
        filemap_release(&plain);
    }
    mem_free(copy);
    return out;
}

static void check_unpacked(const struct buf *packed, const char *want, const char *name)
{
    struct buf got = unpacked(packed->bytes, packed->len);
    tap_str(got.bytes, want, name, __FILE__, __LINE__);
    buf_release(&got);
}

static void test_members(const struct packing *p)
{
    struct buf b = {0};
    p->add(&b, "one ", 4);
    check_unpacked(&b, "one ", p->name);
    p->add(&b, "", 0);
    p->add(&b, "two", 3);
    check_unpacked(&b, "one two", "members follow each other");
    size_t whole = b.len;
    buf_str(&b, "junk");
    check_unpacked(&b, p->add == add_gzip ? "one two" : "input: its zstd data are damaged", "what is none behind them");
    b.len = whole;
    buf_add(&b, "\x1f", 1);
    if (p->add == add_gzip)
        check_unpacked(&b, "one two", "nor is half a beginning");
    b.len = whole;
    buf_add(&b, "\x1f\x8c", 2);
    if (p->add == add_gzip)
        check_unpacked(&b, "one two", "nor a whole one of another kind");
    buf_release(&b);
}

/* Cut anywhere it ends too early; a byte of its checked part changed, it is damaged. */
static void test_damage(const struct packing *p)
{
    static const char text[] = "a text of some length, some of it again: a text of some length";
    struct buf b = {0};
    p->add(&b, text, sizeof text - 1);
    bool words = true;
    for (size_t n = 4; n < b.len; n++) {
        struct buf got = unpacked(b.bytes, n);
        words = words && str_starts(got.bytes, "input: ") && str_ends(got.bytes, p->cut);
        buf_release(&got);
    }
    CHECK_NAMED(words, p->cut);
    b.bytes[p->add == add_gzip ? b.len - 1 : 4] ^= (char)0xff;
    char *want = mem_printf("input: %s", p->damaged);
    check_unpacked(&b, want, p->damaged);
    mem_free(want);
    buf_release(&b);
}

/* Every size around the in-memory limit: larger data go through a file, with the same result. */
static void test_sizes(const struct packing *p)
{
    static const size_t sizes[] = {0,
                                   1,
                                   (1u << 16) - 1,
                                   1u << 16,
                                   (1u << 16) + 1,
                                   3u << 16,
                                   LIMIT_UNPACKED_IN_MEMORY - 1,
                                   LIMIT_UNPACKED_IN_MEMORY,
                                   LIMIT_UNPACKED_IN_MEMORY + 1,
                                   2 * LIMIT_UNPACKED_IN_MEMORY + 5};
    size_t most = sizes[ARRAY_SIZE(sizes) - 1];
    char *bytes = mem_alloc(most);
    for (size_t i = 0; i < most; i++)
        bytes[i] = (char)(i >> 12);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct buf b = {0};
        p->add(&b, bytes, sizes[i]);
        struct filemap packed = {.bytes = (uint8_t *)b.bytes, .len = b.len}, plain = {0};
        struct err err = {0};
        if (CHECK_INT(filter_unpack(&packed, "input", &plain, &err), 1)) {
            CHECK_INT(plain.len, sizes[i]);
            CHECK(plain.len == sizes[i] && (sizes[i] == 0 || memcmp(plain.bytes, bytes, sizes[i]) == 0));
            CHECK_INT(plain.mapped, sizes[i] > LIMIT_UNPACKED_IN_MEMORY);
        }
        filemap_release(&plain);
        buf_release(&b);
    }
    mem_free(bytes);
}

static void test_not_packed(void)
{
    static const struct {
        const char *bytes;
        size_t n;
    } cases[] = {{"", 0},         {"\x1f", 1},         {"\x1f\x8a", 2},
                 {"\x1e\x8b", 2}, {"\x28\xb5\x2f", 3}, {"\x28\xb5\x2f\xfe", 4},
                 {"text", 4},     {"\x8b\x1f\x8b", 3}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf got = unpacked(cases[i].bytes, cases[i].n);
        CHECK_STR(got.bytes, "not packed");
        buf_release(&got);
    }
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void test_lines(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", ""},
        {"a", "1 a|"},
        {"a\n", "1 a|"},
        {"a\nb", "1 a|2 b|"},
        {"\n", "1 |"},
        {"\n\na", "1 |2 |3 a|"},
        {"a\r\nb\r\n", "1 a|2 b|"},
        {"\r\n", "1 |"},
        {"a\rb\n", "1 a\rb|"},
        {"a\r", "1 a|"},
        {"a\r\r\n", "1 a\r|"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct line_reader r = filter_line_reader_make(cases[i].text, strlen(cases[i].text));
        struct buf got = {0};
        buf_str(&got, "");
        while (filter_line_reader_next(&r))
            buf_printf(&got, "%lu %s|", r.number, r.text.bytes);
        CHECK_STR(got.bytes, cases[i].want);
        filter_line_reader_release(&r);
        buf_release(&got);
    }
    char bytes[1030];
    memset(bytes, 'x', sizeof bytes);
    CHECK(!filter_looks_like_text(bytes, 0) && filter_looks_like_text(bytes, sizeof bytes));
    bytes[1024] = '\0';
    CHECK(filter_looks_like_text(bytes, sizeof bytes));
    bytes[1023] = '\0';
    CHECK(!filter_looks_like_text(bytes, sizeof bytes) && filter_looks_like_text(bytes, 1023));
    CHECK_STR(filter_skip_blanks(" \t a "), "a ");
    CHECK_STR(filter_skip_blanks(""), "");
}

/* ---- the door ---------------------------------------------------------------------------------------------------- */

static char *folder;

static char *put_file(const char *name, const void *bytes, size_t n)
{
    char *path = path_join(folder, name);
    FILE *f = fopen(path, "wb");
    CHECK_NAMED(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, name);
    return path;
}

/* "ok", or the message after the folder's name. */
static char *imported(const char *path, const char *format)
{
    struct err err = {0};
    struct hpcprof *p = hpcprof_create();
    int status = filters_import(path, format ? filter_named(format, NULL) : NULL, NULL, p, NULL, &err);
    if (status == 0)
        hpcprof_finish(p);
    hpcprof_free(p);
    return mem_strdup(status == 0 ? "ok" : str_starts(err.msg, folder) ? err.msg + strlen(folder) + 1 : err.msg);
}

static void test_words(void)
{
    static const struct {
        const char *bytes, *format, *want;
    } cases[] = {
        {"a;b 1\n", NULL, "ok"},
        {"a;b 1\n", "folded", "ok"},
        {"Flat profile:\n 26.82 1.45 0.70 7531899 0.00 0.00 f(int*)\n", NULL,
         "f: is gprof's report as text; give its gmon.out"},
        {"a;b 1\n", "gprof", "f: not in format gprof: a gmon.out file of a program compiled with -pg"},
        {"a;b 1\n", "table", "f: a table needs --columns, for example file,line,procedure,CYCLES"},
        {"", NULL, "f: is empty"},
        {"", "folded", "f: is empty"},
        {"?", NULL, "f: unknown format; hpcview-import(1) lists the known ones"},
        {"{\"gcc_version\": \"12\", \"files\": [], \"type\": \"llvm.coverage.json.export\", \"data\": []}", NULL,
         "f: could be gcov or llvm-cov; convert it with 'hpcview import gcov' or 'hpcview import llvm-cov'"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *path = put_file("f", cases[i].bytes, strlen(cases[i].bytes));
        char *got = imported(path, cases[i].format);
        tap_str(got, cases[i].want, "what is said of a file", __FILE__, __LINE__);
        CHECK_INT(filters_know(path), strchr("aF{", cases[i].bytes[0]) && *cases[i].bytes);
        unlink(path);
        mem_free(got);
        mem_free(path);
    }
    char *none = path_join(folder, "none");
    CHECK(!filters_know(none) && !filters_know(folder));
    char *said = imported(none, "folded");
    CHECK_STR(said, "none: cannot be opened: No such file or directory");
    mem_free(said);
    CHECK_STR(filter_named("perf", NULL)->name, "perf");
    struct err err = {0};
    CHECK(!filter_named("callgrin", &err));
    CHECK_STR(err.msg, "unknown format 'callgrin'; did you mean 'callgrind'?");
    CHECK(!filter_named("xyzzy", &err));
    CHECK(str_starts(err.msg, "unknown format 'xyzzy'; available: perf, perf-script, ") &&
          str_ends(err.msg, ", table, profile"));
    mem_free(none);
}

/* A file of another tool is read like ours, and the callback sees it once for any request. */
static void see(void *ctx, const struct hpcprof *p)
{
    *(size_t *)ctx += p->count_count;
}

static void test_read(void)
{
    char *path = put_file("f", "a;b 1\na;c 2\n", 12);
    struct hpcprof *p = NULL;
    CHECK_INT(filters_read(path, &p, NULL, NULL), 0);
    CHECK_INT(p->count_count, 2);
    hpcprof_free(p);
    size_t seen = 0;
    struct hpcprof_reading how = {.each = see, .ctx = &seen};
    CHECK_INT(filters_read_as(path, &how, NULL, NULL, NULL), 0);
    CHECK_INT(seen, 2);
    struct err err = {0};
    mem_free(path);
    path = put_file("f", "# callgrind format\nevents: Ir\nfn=f\n!\n", 37);
    CHECK(filters_read(path, &p, NULL, &err) < 0 && str_ends(err.msg, "/f:4: is not a line of a callgrind file"));
    unlink(path);
    mem_free(path);
}

/* The example of each format is of that one alone, and by content so. */
static void test_examples(void)
{
    const char *top = getenv("top_srcdir");
    char *examples = path_join(top ? top : ".", "tests/filters");
    for (const struct filter *f = filter_table; f->name; f++) {
        char *file = mem_printf("%s/%s.example", examples, f->name);
        bool table = strcmp(f->name, "table") == 0;
        CHECK_NAMED(filters_know(file) == !table, f->name);
        for (const struct filter *other = filter_table; other->name && !table; other++) {
            char *got = imported(file, other->name);
            if (!CHECK_NAMED((strcmp(got, "ok") == 0) == (other == f), other->name))
                printf("# %s is read as %s: %s\n", f->name, other->name, got);
            mem_free(got);
        }
        mem_free(file);
    }
    mem_free(examples);
}

/* ---- segments ------------------------------------------------------------------------------------------------------ */

static const struct {
    uint64_t offset, size, address;
} loaded[] = {{0x40, 0x100, 0x400040}, {0x1000, 0x500, 0x402000}, {0x1500, 0x10, 0x700}};

/* The first `count` segments: offsets become addresses, and addresses offsets, from the first byte to the last. */
static void check_segments(const void *bytes, size_t n, size_t count, bool x86, const char *name)
{
    struct filter_image image = {0};
    size_t wrong = 0;
    filter_image_read(&image, bytes, n);
    for (size_t k = 0; k < ARRAY_SIZE(loaded); k++)
        for (uint64_t at = 0; at < loaded[k].size; at += loaded[k].size - 1) {
            uint64_t address = 0, offset = 0;
            bool there = filter_image_linked_at(&image, loaded[k].offset + at, &address);
            there &= filter_image_offset_of(&image, loaded[k].address + at, &offset);
            wrong += there != (k < count) ||
                     (there && (address != loaded[k].address + at || offset != loaded[k].offset + at));
        }
    uint64_t none;
    wrong += filter_image_linked_at(&image, 0x3f, &none) || filter_image_linked_at(&image, 0x1510, &none) ||
             filter_image_offset_of(&image, 0x400140, &none) || filter_image_offset_of(&image, 0x6ff, &none);
    CHECK_NAMED(wrong == 0 && image.x86 == x86, name);
    filter_image_release(&image);
}

static void test_segments(void)
{
    struct {
        Elf64_Ehdr head;
        char between[8];
        Elf64_Phdr segments[1 + ARRAY_SIZE(loaded)];
    } file = {.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                       .e_machine = EM_X86_64,
                       .e_phoff = sizeof(Elf64_Ehdr) + 8,
                       .e_phnum = ARRAY_SIZE(file.segments),
                       .e_phentsize = sizeof(Elf64_Phdr)},
              .segments = {{.p_type = PT_NOTE, .p_offset = 0x1510, .p_filesz = 0x1000, .p_vaddr = 0x400140}}};
    for (size_t i = 0; i < ARRAY_SIZE(loaded); i++)
        file.segments[i + 1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                            .p_offset = loaded[i].offset,
                                            .p_filesz = loaded[i].size,
                                            .p_memsz = loaded[i].size + 0x1000,
                                            .p_vaddr = loaded[i].address};
    check_segments(&file, sizeof file, 3, true, "segments of a file");
    check_segments(&file, sizeof file - 1, 2, true, "whole ones");
    check_segments(&file, sizeof file.head, 0, true, "none");
    check_segments(&file, sizeof file.head - 1, 0, false, "no whole header");
    file.head.e_machine = EM_AARCH64;
    check_segments(&file, sizeof file, 3, false, "segments of another processor's");
    static const uint8_t idents[] = {EI_MAG0, EI_MAG3, EI_CLASS, EI_DATA};
    for (size_t i = 0; i < ARRAY_SIZE(idents); i++) {
        file.head.e_ident[idents[i]]++;
        check_segments(&file, sizeof file, 0, false, "of another kind of file");
        file.head.e_ident[idents[i]]--;
    }
    file.head.e_phentsize++;
    check_segments(&file, sizeof file, 0, false, "headers of another size");
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    folder = mem_printf("%s/hpcview-files.XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(folder));
    for (size_t i = 0; i < PACKINGS; i++) {
        test_members(&packings[i]);
        test_damage(&packings[i]);
        test_sizes(&packings[i]);
    }
    test_not_packed();
    test_segments();
    test_lines();
    test_words();
    test_read();
    test_examples();
    rmdir(folder);
    mem_free(folder);
    return tap_done();
}
