/* SPDX-License-Identifier: BSD-3-Clause */
/* Edge cases of the basic functions: first, last, empty, one too many. Each row detects a small change of the code that
 * no other test would. */
#include "support/support.h"
#include "tests/tap.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- texts -------------------------------------------------------------------------------------- */

static void test_starts_and_ends(void)
{
    static const struct {
        const char *text, *part;
        bool starts, ends;
    } cases[] = {
        {"abc", "abc", true, true},  {"abc", "ab", true, false},    {"abc", "bc", false, true},
        {"abc", "", true, true},     {"", "", true, true},          {"", "a", false, false},
        {"bc", "abc", false, false}, {"abc", "abcd", false, false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CHECK_INT(str_starts(cases[i].text, cases[i].part), cases[i].starts);
        CHECK_INT(str_ends(cases[i].text, cases[i].part), cases[i].ends);
    }
}

static void test_trimmed(void)
{
    static const char *const cases[][2] = {
        {"a", "a"}, {" a ", "a"}, {"\t\r\v\fa b\n", "a b"}, {"", ""}, {"\016a\b", "\016a\b"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *got = str_trimmed(cases[i][0]);
        CHECK_STR(got, cases[i][1]);
        mem_free(got);
    }
}

/* How far a misspelt word may be: a third of its letters and one more. */
static void test_nearest(void)
{
    static const struct {
        const char *word, *name;
        bool near;
    } cases[] = {
        {"CYCLES", "cycles", true},
        {"CYCLE", "CYCLES", true},
        {"YCLES", "CYCLES", true},
        {"CYCELS", "CYCLES", true},
        {"CXXLES", "CYCLES", true},
        {"CXXXES", "CYCLES", true},
        {"CXXXXS", "CYCLES", false},
        {"CYCLESabc", "CYCLES", true},
        {"ab", "b", true},
        {"a", "b", true},
        {"ab", "cd", false},
        {"Z[", "z{", true},
        {"abc", "bca", true},
        {"abc", "xyz", false},
        {"@bcdef", "`bcdef", true},
        {"", "ab", false},
        {"", "a", true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *const names[] = {cases[i].name, NULL};
        if (!CHECK_NAMED((str_nearest(cases[i].word, names) != NULL) == cases[i].near, cases[i].word))
            printf("# to %s\n", cases[i].name);
    }
    static const char *const two[] = {"CYCLEX", "CYCLES", "CYCLED", NULL};
    CHECK_STR(str_nearest("CYCLES", two), "CYCLES");
    CHECK_STR(str_nearest("CYCLE", two), "CYCLEX"); /* of equally near ones the first */
    char longest[101], longer[102];
    memset(longest, 'x', sizeof longest);
    memset(longer, 'x', sizeof longer);
    longest[100] = longer[101] = '\0';
    const char *const self[] = {longest, NULL}, *const beyond[] = {longer, NULL};
    CHECK_NAMED(str_nearest(longest, self) == longest, "a hundred letters are compared");
    CHECK_NAMED(str_nearest(longest, beyond) == NULL && str_nearest(longer, self) == NULL, "more are not");
}

static void test_utf8(void)
{
    static const struct {
        const char *text;
        size_t n, want;
    } cases[] = {
        {"a", 1, 1},
        {"a", 0, 0},
        {"\x7f", 1, 1},
        {"\x80", 1, 0},
        {"\xc1\xbf", 2, 0},
        {"\xc2\x80", 2, 2},
        {"\xc2\x80", 1, 0},
        {"\xc2\x7f", 2, 0},
        {"\xc2\xc0", 2, 0},
        {"\xdf\xbf", 2, 2},
        {"\xe0\xa0\x80", 3, 3},
        {"\xe0\x9f\xbf", 3, 0},
        {"\xe1\x80\x80", 3, 3},
        {"\xe1\x80", 2, 0},
        {"\xe1\x80\x7f", 3, 0},
        {"\xed\x9f\xbf", 3, 3},
        {"\xed\xa0\x80", 3, 0},
        {"\xef\xbf\xbf", 3, 3},
        {"\xf0\x90\x80\x80", 4, 4},
        {"\xf0\x8f\xbf\xbf", 4, 0},
        {"\xf4\x8f\xbf\xbf", 4, 4},
        {"\xf4\x90\x80\x80", 4, 0},
        {"\xf5\x80\x80\x80", 4, 0},
        {"\xf1\x80\x80", 3, 0},
        {"\xf1\x80\x80\x80", 4, 4},
        {"\xf1\x80\x80\xc0", 4, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        CHECK_INT(utf8_length(cases[i].text, cases[i].n), cases[i].want);
}

static void test_interning(void)
{
    struct strtab *t = strtab_create();
    CHECK_INT(strtab_add(t, NULL), 0);
    str_id nul = strtab_addn(t, "a\0b", 3), plain = strtab_add(t, "a");
    CHECK_NAMED(nul != plain, "a text goes on behind a zero");
    CHECK_INT(strtab_addn(t, "a\0b", 3), nul);
    CHECK_INT(strtab_printf(t, "%s%d", "x", 7), strtab_add(t, "x7"));
    CHECK_INT(strtab_count(t), 4);
    CHECK_STR(strtab_get(t, 4), "");
    CHECK_STR(strtab_get(t, 3), "x7");
    strtab_free(t);
    strtab_free(NULL);
}

/* ---- bytes -------------------------------------------------------------------------------------- */

static void check_bytes(struct buf *b, const char *want, size_t n, const char *what)
{
    CHECK_NAMED(b->len == n && memcmp(b->bytes, want, n) == 0 && b->bytes[n] == '\0', what);
    b->len = 0;
}

static void test_numbers_written(void)
{
    static const struct {
        uint64_t value;
        const char *uleb;
        size_t n;
    } ulebs[] = {{0, "\0", 1},
                 {127, "\x7f", 1},
                 {128, "\x80\x01", 2},
                 {16383, "\xff\x7f", 2},
                 {16384, "\x80\x80\x01", 3},
                 {UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}};
    static const struct {
        int64_t value;
        const char *sleb;
        size_t n;
    } slebs[] = {{0, "\0", 1},          {63, "\x3f", 1},
                 {64, "\xc0\0", 2},     {-1, "\x7f", 1},
                 {-64, "\x40", 1},      {-65, "\xbf\x7f", 2},
                 {8191, "\xff\x3f", 2}, {INT64_MIN, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10}};
    struct buf b = {0};
    buf_u8(&b, 0xab);
    buf_u16(&b, 0x1234);
    buf_u32(&b, 0x89abcdef);
    buf_u64(&b, 0x0123456789abcdef);
    check_bytes(&b, "\xab\x34\x12\xef\xcd\xab\x89\xef\xcd\xab\x89\x67\x45\x23\x01", 15, "the low byte first");
    for (size_t i = 0; i < ARRAY_SIZE(ulebs); i++) {
        buf_uleb(&b, ulebs[i].value);
        struct cursor c = cursor_make(b.bytes, b.len);
        CHECK_NAMED(cursor_uleb(&c) == ulebs[i].value && !c.bad && cursor_left(&c) == 0, "read as written");
        check_bytes(&b, ulebs[i].uleb, ulebs[i].n, "a uleb");
    }
    for (size_t i = 0; i < ARRAY_SIZE(slebs); i++) {
        buf_sleb(&b, slebs[i].value);
        struct cursor c = cursor_make(b.bytes, b.len);
        CHECK_NAMED(cursor_sleb(&c) == slebs[i].value && !c.bad && cursor_left(&c) == 0, "read as written");
        check_bytes(&b, slebs[i].sleb, slebs[i].n, "a sleb");
    }
    buf_release(&b);
}

static void test_base64(void)
{
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}, /* RFC 4648, 10 */
                                           {"\xff\xef\xbe", "/+++"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf b = {0};
        buf_base64(&b, cases[i][0], strlen(cases[i][0]));
        buf_str(&b, "");
        CHECK_STR(b.bytes, cases[i][1]);
        buf_release(&b);
    }
}

static void test_doubles(void)
{
    static const struct {
        double value;
        const char *want;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {-7, "-7"},
                 {9007199254740991.0, "9007199254740991"},
                 {9007199254740992.0, "9.00719925474099e+15"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {2.0 / 3, "0.6666666666666666"},
                 {5e-324, "4.94065645841247e-324"},
                 {1e22, "1e+22"},
                 {0.1 + 0.2, "0.30000000000000004"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf b = {0};
        buf_double(&b, cases[i].value);
        CHECK_NAMED(strtod(b.bytes, NULL) == cases[i].value, "reads back the same");
        if (cases[i].value != 9007199254740992.0)
            CHECK_STR(b.bytes, cases[i].want);
        buf_release(&b);
    }
}

/* Growing by one, by many, from empty; never past the end (detected by sanitizers). */
static void test_growing(void)
{
    struct buf b = {0};
    for (int i = 0; i < 1000; i++)
        buf_char(&b, (char)('a' + i % 26));
    buf_printf(&b, "%0500d", 7);
    CHECK_INT(b.len, 1500);
    CHECK_NAMED(b.bytes[999] == 'a' + 999 % 26 && b.bytes[1499] == '7' && b.bytes[1500] == '\0',
                "what was added is there");
    CHECK_NAMED(b.capacity > b.len && b.capacity < 4000, "with room for the end, and not much more");
    buf_release(&b);
    CHECK_NAMED(b.bytes == NULL && b.len == 0 && b.capacity == 0, "released it is as new");
    struct VEC(int) v = {0};
    vec_reserve(&v, 3);
    size_t first = v.capacity;
    vec_reserve(&v, first);
    CHECK_INT(v.capacity, first);
    CHECK_NAMED(first == 8 || first == 3, "room for eight; under a sanitizer for what is wanted");
    vec_reserve(&v, 100);
    CHECK_INT(v.capacity, 100);
    vec_reserve(&v, 101);
    CHECK_NAMED(v.capacity == 150, "by half");
    vec_release(&v);
}

static void test_memory(void)
{
    mem_free(mem_alloc(0));
    mem_free(mem_calloc(0, 8));
    mem_free(mem_realloc(NULL, 0, 8));
    unsigned char *clear = mem_calloc(100, 3);
    size_t used = 0;
    for (size_t i = 0; i < 300; i++)
        used += clear[i];
    CHECK_INT(used, 0);
    clear = mem_realloc(clear, 1, 1);
    mem_free(clear);
    char *text = mem_strndup("abcdef", 3);
    CHECK_STR(text, "abc");
    mem_free(text);
    text = mem_printf("%d-%s", 7, "x");
    CHECK_STR(text, "7-x");
    mem_free(text);
}

static void test_arena(void)
{
    struct arena *a = arena_create();
    char *all[200];
    bool clear = true, kept = true, aligned = true;
    CHECK_INT(arena_bytes(a), 0);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        size_t n = i * i % 977 + 1;
        all[i] = arena_alloc(a, n);
        aligned = aligned && (uintptr_t)all[i] % 16 == 0;
        for (size_t k = 0; k < n; k++)
            clear = clear && all[i][k] == 0;
        memset(all[i], (int)i, n);
    }
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        for (size_t k = 0; k < i * i % 977 + 1; k++)
            kept = kept && all[i][k] == (char)i;
    CHECK(clear && kept && aligned);
    size_t before = arena_bytes(a);
    CHECK_NAMED(before > 80000 && before < 400000, "chunks double, they do not explode");
    char *large = arena_alloc(a, 3 << 20), *small = arena_alloc(a, 16);
    large[(3 << 20) - 1] = small[15] = 'x';
    CHECK_NAMED(arena_bytes(a) < before + (3 << 20) + 4096, "a large piece stands alone, the chunk goes on");
    CHECK_STR(arena_strdup(a, "abc"), "abc");
    CHECK_STR(arena_strndup(a, "abc", 2), "ab");
    CHECK_STR(arena_printf(a, "%s=%d", "x", 12), "x=12");
    arena_free(a);
    arena_free(NULL);
    a = arena_create();
    for (int i = 0; i < 5; i++)
        arena_alloc(a, 4096);
    CHECK_NAMED(arena_bytes(a) < 40000, "pieces as large as the first chunk");
    arena_free(a);
}

/* ---- errors ---------------------------------------------------------------------------------------- */

static void test_error_sentences(void)
{
    struct err e = {0};
    errno = ENOENT;
    CHECK_INT(err_errno(&e, "f", "opening it"), -1);
    CHECK_STR(e.msg, "f: opening it: No such file or directory");
    CHECK_INT(e.kind, ERR_SYSTEM);
    CHECK_INT(err_set(NULL, ERR_FORMAT, "x"), -1);
    CHECK_INT(err_in(NULL, "x"), -1);
    e.kind = ERR_LIMIT;
    err_in(&e, "reading");
    CHECK_INT(e.kind, ERR_LIMIT);
    char much[2000];
    memset(much, 'y', sizeof much);
    much[sizeof much - 1] = '\0';
    err_set(&e, ERR_FORMAT, "%s", much);
    err_in(&e, "in %s", "there");
    CHECK_NAMED(strlen(e.msg) == sizeof e.msg - 1 && str_starts(e.msg, "in there: yyy"), "a long sentence is cut");
    struct warnings *w = warnings_create();
    warnings_add(NULL, "nobody hears");
    for (int i = 0; i < LIMIT_WARNINGS; i++)
        warnings_add(w, "%d", i);
    CHECK_INT(warnings_count(w), LIMIT_WARNINGS);
    warnings_add(w, "7");
    CHECK_INT(warnings_count(w), LIMIT_WARNINGS);
    warnings_add(w, "one more");
    warnings_add(w, "another");
    CHECK_INT(warnings_count(w), LIMIT_WARNINGS + 1);
    CHECK_STR(warnings_get(w, LIMIT_WARNINGS - 1), "999");
    CHECK_STR(warnings_get(w, LIMIT_WARNINGS), "2 more warnings omitted");
    warnings_free(w);
    warnings_free(NULL);
}

/* ---- JSON and paths ------------------------------------------------------------------------------------ */

static void test_json(void)
{
    struct buf b = {0};
    struct jsonout j = {&b, false};
    json_begin_array(&j);
    json_null(&j);
    json_bool(&j, true);
    json_bool(&j, false);
    json_u64(&j, UINT64_MAX);
    json_i64(&j, INT64_MIN);
    json_double(&j, -INFINITY);
    json_begin_object(&j);
    json_end_object(&j);
    json_begin_array(&j);
    json_end_array(&j);
    json_begin_object(&j);
    json_key(&j, "k");
    json_begin_object(&j);
    json_key(&j, "a");
    json_u64(&j, 1);
    json_key(&j, "b");
    json_u64(&j, 2);
    json_end_object(&j);
    json_end_object(&j);
    json_end_array(&j);
    CHECK_STR(b.bytes,
              "[null,true,false,18446744073709551615,-9223372036854775808,null,{},[],{\"k\":{\"a\":1,\"b\":2}}]");
    b.len = 0;
    j.need_comma = false;
    json_string(&j, "\\\x1f \x7f~\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xc3\xa9\xe2\x80");
    CHECK_STR(b.bytes,
              "\"\\\\\\u001f \\u007f~\xe2\x80\xa7\\u2028\\u2029\xe2\x80\xaa\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"");
    buf_release(&b);
}

static void test_paths(void)
{
    static const char *const normal[][2] = {
        {"", "."},           {".", "."},
        {"./", "."},         {"a", "a"},
        {"a/", "a"},         {"/..", "/"},
        {"/../a", "/a"},     {"/a/..", "/"},
        {"a/b/../c", "a/c"}, {"a/../../b", "../b"},
        {"..", ".."},        {"...", "..."},
        {"a/...", "a/..."},  {"a/.b", "a/.b"},
        {"..a/..", "."},     {"a../b", "a../b"},
        {"//", "/"},         {"/a/b/../../c", "/c"},
        {"ab/cd/..", "ab"},  {"../..", "../.."},
        {"x/../..", ".."},
    };
    static const char *const joined[][3] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"},
                                            {"a", "/b", "/b"}, {"/", "b", "/b"},   {"a", "", "a/"}};
    for (size_t i = 0; i < ARRAY_SIZE(normal); i++) {
        char *got = path_normal(normal[i][0]);
        CHECK_STR(got, normal[i][1]);
        mem_free(got);
    }
    for (size_t i = 0; i < ARRAY_SIZE(joined); i++) {
        char *got = path_join(joined[i][0], joined[i][1]);
        CHECK_STR(got, joined[i][2]);
        mem_free(got);
    }
    CHECK_STR(path_base("a/b"), "b");
    CHECK_STR(path_base("a/"), "");
    CHECK_STR(path_base("a"), "a");
}

/* A program in a folder of its own; other folders contain a non-executable file or a folder of the same name. */
static void test_program_search(void)
{
    static const struct {
        const char *folders, *name, *want;
    } cases[] = {
        {"run", "p", "run/p"},      {"none:run", "p", "run/p"},  {"read:dir:run", "p", "run/p"},
        {"run:also", "p", "run/p"}, {"also:run", "p", "also/p"}, {"run", "q", NULL},
        {"read", "p", NULL},        {"dir", "p", NULL},          {"", "p", NULL},
        {"run:", "here", "./here"}, {"", "here", "./here"},      {":run", "p", "run/p"},
        {"run", "./x", "./x"},
    };
    char dir[] = "/tmp/hpcview_pathXXXXXX", *back = getcwd(NULL, 0);
    CHECK(mkdtemp(dir) && chdir(dir) == 0 && mkdir("run", 0777) == 0 && mkdir("also", 0777) == 0);
    CHECK(mkdir("read", 0777) == 0 && mkdir("dir", 0777) == 0 && mkdir("dir/p", 0777) == 0);
    CHECK(symlink("/bin/sh", "run/p") == 0 && symlink("/bin/sh", "also/p") == 0 && symlink("/bin/sh", "here") == 0);
    CHECK(symlink("/etc/passwd", "read/p") == 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *got = path_search(cases[i].folders, cases[i].name);
        CHECK_STR(got ? got : "none", cases[i].want ? cases[i].want : "none");
        mem_free(got);
    }
    char *shell = path_search(NULL, "sh");
    CHECK(shell && str_ends(shell, "/sh"));
    mem_free(shell);
    struct err e = {0};
    CHECK(chdir(back) == 0);
    CHECK_INT(dir_remove_tree(dir, &e), 0);
    free(back);
}

/* ---- cursors and hashes ---------------------------------------------------------------------------------- */

static void test_cursor_ends(void)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct cursor c = cursor_make(bytes, sizeof bytes);
    CHECK_NAMED(cursor_u64(&c) == 0x0807060504030201 && !c.bad, "eight of nine");
    CHECK_NAMED(cursor_u16(&c) == 0 && c.bad, "two of one");
    CHECK_NAMED(cursor_u8(&c) == 0, "bad stays bad");
    c = cursor_make(bytes, 2);
    CHECK_NAMED(cursor_u16(&c) == 0x0201 && !c.bad && cursor_left(&c) == 0, "to the very end");
    c = cursor_make(bytes, 9);
    CHECK_NAMED(cursor_bytes(&c, 9) == bytes && !c.bad, "all of it");
    CHECK_NAMED(cursor_bytes(&c, 0) == bytes + 9 && !c.bad, "nothing of nothing");
    CHECK_NAMED(cursor_bytes(&c, 1) == NULL && c.bad, "one of nothing");
    c = cursor_make(NULL, 0);
    CHECK_NAMED(cursor_left(&c) == 0 && cursor_u8(&c) == 0 && c.bad, "no bytes at all");
    c = cursor_make("ab\0c", 5);
    CHECK_STR(cursor_cstr(&c), "ab");
    CHECK_STR(cursor_cstr(&c), "c");
    CHECK_NAMED(!c.bad && cursor_left(&c) == 0, "two texts");
    static const uint8_t ten[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x7f};
    c = cursor_make(ten, sizeof ten);
    CHECK_NAMED(cursor_uleb(&c) == 1ull << 63 && !c.bad, "ten bytes are a number");
    CHECK_NAMED(cursor_sleb(&c) == -1 && !c.bad, "one byte below zero");
    static const uint8_t many[] = {0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x7f, 'x', 0};
    for (size_t n = 0; n <= 11; n++) {
        c = cursor_make(many, n < 11 ? n : sizeof many);
        CHECK_NAMED(cursor_uleb(&c) == 0 && c.bad, "a number that does not end, or is too long, is none");
        c = cursor_make(many, n < 11 ? n : sizeof many);
        CHECK_NAMED(cursor_sleb(&c) == 0 && c.bad, "nor is one with a sign");
        CHECK_STR(cursor_cstr(&c), "");
    }
}

static void test_hash_bytes(void)
{
    char text[40];
    uint64_t seen[40];
    size_t equal = 0;
    memset(text, 'a', sizeof text);
    for (size_t n = 0; n < ARRAY_SIZE(seen); n++) {
        seen[n] = hash_bytes(text, n, 0);
        for (size_t k = 0; k < n; k++)
            equal += seen[k] == seen[n];
    }
    for (size_t at = 0; at < 20; at++) { /* each byte counts */
        text[at] = 'b';
        equal += hash_bytes(text, 20, 0) == seen[20];
        text[at] = 'a';
    }
    CHECK_INT(equal, 0);
    CHECK(hash_bytes(text, 20, 1) != seen[20]);
    CHECK_NAMED(hash_bytes("", 0, 0) == UINT64_C(0) && hash_bytes("hpcview", 7, 0) == UINT64_C(0x616b384262c8821) &&
                    hash_bytes("0123456789abcdef", 16, 7) == UINT64_C(0x1c42b61b0db92cb5),
                "the same on every machine");
    CHECK_NAMED(hash_bytes("hpcview", 7, 0) == hash_bytes("hpcview", 7, 0), "the same each time");
    struct hashmap m = {0};
    for (uint64_t i = 0; i < 1000; i++)
        *hashmap_put(&m, i) += 2; /* created with HASHMAP_NONE */
    CHECK_INT(m.count, 1000);
    CHECK_INT(hashmap_get(&m, 999), 1);
    CHECK_NAMED(m.capacity == 2048, "at most three quarters full");
    *hashmap_put(&m, 999) = 5;
    CHECK_NAMED(m.count == 1000 && hashmap_get(&m, 999) == 5, "an old key is not counted again");
    hashmap_release(&m);
}

/* ---- threads ---------------------------------------------------------------------------------------------- */

struct visits {
    atomic_uint count[100];
    atomic_uint outside;
    size_t n;
};

static void visit(void *ctx, size_t i)
{
    struct visits *v = ctx;
    if (i < v->n)
        atomic_fetch_add(&v->count[i], 1);
    else
        atomic_fetch_add(&v->outside, 1);
}

static void test_each_item_once(void)
{
    static const struct {
        size_t n;
        unsigned threads;
    } cases[] = {{0, 4}, {1, 4}, {2, 4}, {100, 1}, {100, 3}, {100, 0}, {100, 1000}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct visits v = {.n = cases[i].n};
        bool once = true;
        parallel_for(cases[i].n, cases[i].threads, visit, &v);
        for (size_t k = 0; k < ARRAY_SIZE(v.count); k++)
            once = once && v.count[k] == (k < cases[i].n);
        CHECK_NAMED(once && v.outside == 0, "each item once, and none beyond");
    }
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    CHECK_INT(parallel_default(), CPU_COUNT(&set));
}

enum { SAYINGS = LIMIT_WARNINGS + 300 };

static void say(void *ctx, size_t i)
{
    warnings_add(ctx, "warning %zu", i % SAYINGS);
}

/* From many threads at once, each message twice: it is stored once, or counted each time when the list is full. */
static void test_warnings_of_threads(void)
{
    size_t wrong = 0;
    for (int round = 0; round < 20; round++) {
        struct warnings *w = warnings_create();
        bool seen[SAYINGS] = {false};
        parallel_for(2 * SAYINGS, 8, say, w);
        wrong += warnings_count(w) != LIMIT_WARNINGS + 1;
        for (size_t i = 0; i < LIMIT_WARNINGS && i < warnings_count(w); i++) {
            size_t said = strtoul(warnings_get(w, i) + strlen("warning "), NULL, 10);
            wrong += said >= SAYINGS || seen[said];
            seen[said % SAYINGS] = true;
        }
        wrong += strcmp(warnings_get(w, LIMIT_WARNINGS), "600 more warnings omitted") != 0;
        warnings_free(w);
    }
    CHECK_INT(wrong, 0);
}

static void note_progress(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    snprintf(ctx, 32, "%s %d/%d", what, (int)done, (int)total);
}

static void test_progress(void)
{
    char said[32] = "";
    struct progress p = {note_progress, said}, silent = {NULL, NULL};
    progress_report(NULL, "x", 1, 2);
    progress_report(&silent, "x", 1, 2);
    progress_report(&p, "reading", 3, 4);
    CHECK_STR(said, "reading 3/4");
}

static void test_empty_name(void)
{
    struct strtab *t = strtab_create();
    CHECK_INT(strtab_addn(t, NULL, 0), 0);
    CHECK_INT(strtab_add(t, ""), 0);
    CHECK_INT(strtab_count(t), 1);
    strtab_free(t);
}

static void test_safe(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"plain \xe2\x80\x93 \xe2\x82\xac \xe6\x96\x87", "plain \xe2\x80\x93 \xe2\x82\xac \xe6\x96\x87"},
        {"\x1b[2J\a\r\n\t\x7f", "?[2J?????"},
        {"\xc2\x9f\xc2\xa0", "?\xc2\xa0"},
        {"\xd8\x9c\xd8\x9b", "?\xd8\x9b"},                                                  /* U+061C, U+061B */
        {"\xe2\x80\x8a\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\x90", "\xe2\x80\x8a??\xe2\x80\x90"}, /* U+200A..2010 */
        {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf", "\xe2\x80\xa7??\xe2\x80\xaf"}, /* U+2027..202F */
        {"\xe2\x81\x9f\xe2\x81\xa0\xe2\x81\xa9\xe2\x81\xb0", "\xe2\x81\x9f??\xe2\x81\xb0"}, /* U+205F..2070 */
        {"\xff\xc3_", "?\?_"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct buf b = {0};
        buf_safe(&b, cases[i].text);
        CHECK_STR(b.bytes, cases[i].want);
        buf_release(&b);
    }
}

static void test_folder_list(void)
{
    static const char *const names[] = {"b.x", "A.x", "a.x", ".hidden.x", "a.y"}, *const want[] = {"A.x", "a.x", "b.x"};
    char dir[] = "/tmp/hpcview_listXXXXXX";
    struct text_list list = {0};
    struct err e = {0};
    CHECK(mkdtemp(dir) != NULL);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char *path = path_join(dir, names[i]);
        struct outfile *f;
        if (CHECK_INT(outfile_create(path, &f, &e), 0))
            CHECK_INT(outfile_commit(f, &e), 0);
        mem_free(path);
    }
    CHECK_INT(dir_list(dir, ".x", "listing", &list, &e), 0);
    CHECK_INT(list.count, ARRAY_SIZE(want));
    for (size_t i = 0; i < list.count && i < ARRAY_SIZE(want); i++)
        CHECK_STR(path_base(list.items[i]), want[i]);
    text_list_release(&list);
    CHECK_INT(dir_remove_tree(dir, &e), 0);
    CHECK_INT(dir_list(dir, ".x", "listing", &list, &e), -1);
    CHECK(strstr(e.msg, dir) != NULL);
    text_list_release(&list);
}

static void test_named_file(void)
{
    static const struct {
        const char *word, *dir, *path;
    } cases[] = {
        {"zen", "/nosuch", "/nosuch/zen.xml"},
        {"zen.xml", "/nosuch", "zen.xml"},
        {"./zen", "/nosuch", "./zen"},
        {"zen", NULL, "zen"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct filemap map;
        struct err e = {0};
        char *path;
        CHECK_INT(filemap_open_named(&map, cases[i].word, cases[i].dir, "a machine file", &path, &e), -1);
        CHECK_STR(path, cases[i].path);
        mem_free(path);
    }
}

int main(void)
{
    RUN(test_starts_and_ends);
    RUN(test_trimmed);
    RUN(test_nearest);
    RUN(test_utf8);
    RUN(test_empty_name);
    RUN(test_safe);
    RUN(test_folder_list);
    RUN(test_named_file);
    RUN(test_interning);
    RUN(test_numbers_written);
    RUN(test_base64);
    RUN(test_doubles);
    RUN(test_growing);
    RUN(test_memory);
    RUN(test_arena);
    RUN(test_error_sentences);
    RUN(test_json);
    RUN(test_paths);
    RUN(test_program_search);
    RUN(test_cursor_ends);
    RUN(test_hash_bytes);
    RUN(test_each_item_once);
    RUN(test_warnings_of_threads);
    RUN(test_progress);
    return tap_done();
}
