/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of support/. */
#include "support/support.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_errors(void)
{
    struct err e = {0};
    CHECK_INT(err_set(&e, ERR_FORMAT, "%s:%d: bad", "f.xml", 3), -1);
    err_in(&e, "reading %s", "x");
    CHECK_STR(e.msg, "reading x: f.xml:3: bad");
    CHECK_INT(e.kind, ERR_FORMAT);
    struct warnings *w = warnings_create();
    warnings_add(w, "one");
    warnings_add(w, "two");
    warnings_add(w, "one");
    CHECK_INT(warnings_count(w), 2);
    for (int i = 0; i < 2000; i++)
        warnings_add(w, "n %d", i);
    CHECK_STR(warnings_get(w, warnings_count(w) - 1), "1002 more warnings omitted");
    warnings_free(w);
}

static void test_strings(void)
{
    struct strtab *t = strtab_create();
    CHECK_INT(strtab_add(t, ""), 0);
    str_id a = strtab_add(t, "abc");
    CHECK_INT(strtab_addn(t, "abcdef", 3), a);
    CHECK(strtab_add(t, "abd") != a);
    CHECK_STR(strtab_get(t, a), "abc");
    for (int i = 0; i < 10000; i++)
        strtab_printf(t, "s%d", i);
    CHECK_INT(strtab_count(t), 10003);
    CHECK_STR(strtab_get(t, strtab_add(t, "s77")), "s77");
    strtab_free(t);

    static const char *const names[] = {"PAPI_TOT_CYC", "PAPI_TOT_INS", NULL};
    CHECK_STR(str_nearest("papi_tot_cyx", names), "PAPI_TOT_CYC");
    CHECK(str_nearest("zebra", names) == NULL);
    CHECK_INT(utf8_length("\xc3\xa9", 2), 2);
    CHECK_INT(utf8_length("\xc0\x80", 2), 0);
    CHECK_INT(utf8_length("\xed\xa0\x80", 3), 0);
}

static void test_search(void)
{
    static const int t[] = {1, 3, 3, 7};
    CHECK_INT(sorted_front(ARRAY_SIZE(t), i, t[i] <= 3), 3);
    CHECK_INT(sorted_front(ARRAY_SIZE(t), i, t[i] < 1), 0);
    CHECK_INT(sorted_front(ARRAY_SIZE(t), i, t[i] < 100), 4);
    CHECK_INT(sorted_front(0, i, t[i] < 100), 0);
    char *text = str_trimmed("\n a b\t ");
    CHECK_STR(text, "a b");
    mem_free(text);
    text = str_trimmed(" \n");
    CHECK_STR(text, "");
    mem_free(text);
}

static void test_hashmap(void)
{
    struct hashmap m = {0};
    CHECK_INT(hashmap_get(&m, 0), HASHMAP_NONE);
    for (uint32_t i = 0; i < 5000; i++)
        *hashmap_put(&m, (uint64_t)i << 40) = i;
    bool all = true;
    for (uint32_t i = 0; i < 5000; i++)
        all = all && hashmap_get(&m, (uint64_t)i << 40) == i;
    CHECK(all);
    CHECK_INT(hashmap_get(&m, 1), HASHMAP_NONE);
    hashmap_release(&m);
    CHECK_INT(crc32_bytes(0, "123456789", 9), 0xcbf43926);
    uint8_t every_byte[256];
    for (unsigned i = 0; i < 256; i++)
        every_byte[i] = (uint8_t)i;
    CHECK_INT(crc32_bytes(0, every_byte, 256), 0x29058c73); /* every entry of the table */
    for (uint64_t a = 0x401000; a < 0x401010; a += 2) /* of one stretch of code, each its own, all close together */
        CHECK_INT(hash_near(a, 7, 1) - hash_near(0x401000, 7, 1), (a - 0x401000) / 2);
    CHECK(hash_near(0x401010, 7, 1) != hash_near(0x401000, 7, 1));
    CHECK(hash_near(0, 70, 1) != hash_near(0, 7, 1) && hash_near(0, 7, 2) != hash_near(0, 7, 1));
}

struct wanted_row {
    const uint32_t *rows;
    uint32_t value;
    unsigned *asked;
};

static bool is_row(const void *ctx, uint32_t row)
{
    const struct wanted_row *w = ctx;
    ++*w->asked;
    return w->rows[row] == w->value;
}

/* Rows are found by content, even if their hashes are equal. */
static void test_row_index(void)
{
    enum { ROWS = 5000 };
    static uint32_t rows[ROWS];
    struct row_index x = {0};
    unsigned asked = 0;
    bool found = true, none = true;
    CHECK_INT(row_index_find(&x, 7, is_row, &(struct wanted_row){rows, 7, &asked}), ROW_NONE);
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = i * 3;
        row_index_add(&x, rows[i] / 12 * UINT64_C(0x9e3779b97f4a7c15), i); /* four of each hash */
    }
    CHECK(x.count == ROWS && x.capacity >= ROWS + ROWS / 3 && x.capacity <= 4 * ROWS);
    asked = 0;
    for (uint32_t v = 0; v < 3 * ROWS; v++) {
        uint32_t row =
            row_index_find(&x, v / 12 * UINT64_C(0x9e3779b97f4a7c15), is_row, &(struct wanted_row){rows, v, &asked});
        found = found && (v % 3 || row == v / 3);
        none = none && (v % 3 == 0 || row == ROW_NONE);
    }
    CHECK_NAMED(found, "each row is found");
    CHECK_NAMED(none, "what is in no row is not");
    CHECK_NAMED(asked <= 4 * 3 * ROWS, "rows of other hashes are not compared");
    row_index_release(&x);
    CHECK(x.capacity == 0 && x.count == 0);
}

static void test_cursor(void)
{
    struct buf b = {0};
    buf_u32(&b, 0xdeadbeef);
    buf_uleb(&b, 624485);
    buf_sleb(&b, -123456);
    buf_add(&b, "hi", 3);
    struct cursor c = cursor_make(b.bytes, b.len);
    CHECK_INT(cursor_u32(&c), 0xdeadbeef);
    CHECK_INT(cursor_uleb(&c), 624485);
    CHECK_INT(cursor_sleb(&c), -123456);
    CHECK_STR(cursor_cstr(&c), "hi");
    CHECK(!c.bad);
    CHECK_INT(cursor_u8(&c), 0);
    CHECK(c.bad);
    static const uint8_t endless[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    c = cursor_make(endless, sizeof endless);
    cursor_uleb(&c);
    CHECK(c.bad);
    c = cursor_make("abc", 3);
    CHECK_STR(cursor_cstr(&c), "");
    CHECK(c.bad);
    /* a string that extends to the end, and one whose stated length exceeds it by one */
    for (size_t missing = 0; missing < 2; missing++) {
        size_t len = 7;
        b.len = 0;
        buf_text(&b, "until", 5);
        c = cursor_make(b.bytes, b.len - missing);
        const char *text = cursor_text(&c, &len);
        CHECK_INT(len, missing ? 0 : 5);
        CHECK(missing ? !text && c.bad : text && !c.bad && memcmp(text, "until", 5) == 0);
    }
    buf_release(&b);
}

static void test_text(void)
{
    static const struct {
        const char *in, *want;
    } paths[] = {{"a//b/./c", "a/b/c"}, {"/a/../..//b", "/b"}, {"../a/../b", "../b"}, {"a/..", "."}, {"/", "/"},
                 {"../../x", "../../x"}};
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        char *got = path_normal(paths[i].in);
        CHECK_STR(got, paths[i].want);
        mem_free(got);
    }
    struct buf b = {0};
    struct jsonout j = {&b, false};
    json_begin_object(&j);
    json_key(&j, "a");
    json_string(&j, "</script>\"\xff\n");
    json_key(&j, "b");
    json_begin_array(&j);
    json_double(&j, 0.1);
    json_double(&j, NAN);
    json_double(&j, 1e15);
    json_end_array(&j);
    json_end_object(&j);
    CHECK_STR(b.bytes, "{\"a\":\"\\u003c/script>\\\"\xef\xbf\xbd\\u000a\",\"b\":[0.1,null,1000000000000000]}");
    b.len = 0;
    buf_base64(&b, "hello", 5);
    CHECK_STR(b.bytes, "aGVsbG8=");
    buf_release(&b);
}

struct seen {
    struct buf text;
};

static int saw_begin(void *ctx, const struct xml_event *e, struct err *err)
{
    struct seen *s = ctx;
    const char *name = xml_attr_get(e, "n");
    (void)err;
    buf_printf(&s->text, "<%s %s@%d", e->element, name ? name : "-", (int)e->line);
    return 0;
}

static int saw_end(void *ctx, const struct xml_event *e, struct err *err)
{
    struct seen *s = ctx;
    (void)err;
    buf_printf(&s->text, " '%s'>", e->text);
    return 0;
}

static void test_xml(void)
{
    struct seen seen = {{0}};
    struct xml_handler handler = {saw_begin, saw_end, &seen};
    struct err e = {0};
    static const char good[] = "<A n='1&amp;2'>\n <B>x &lt; y</B>\n</A>";
    CHECK_INT(xml_read(good, sizeof good - 1, "g", &handler, &e), 0);
    CHECK_STR(seen.text.bytes, "<A 1&2@1<B -@2 'x < y'> ''>");
    static const char nested[] = "<A>x<B a='1' bb='&lt;22&gt;'>y<C>one</C>z</B><D> two &#233;</D></A>";
    seen.text.len = 0;
    CHECK_INT(xml_read(nested, sizeof nested - 1, "g", &handler, &e), 0);
    CHECK_STR(seen.text.bytes, "<A -@1<B -@1<C -@1 'one'> ''><D -@1 ' two \xc3\xa9'> ''>");
    static const char bad[] = "<A>\n<B></A>";
    CHECK_INT(xml_read(bad, sizeof bad - 1, "b.xml", &handler, &e), -1);
    CHECK(str_starts(e.msg, "b.xml:2: not well-formed XML"));
    static const char entity[] = "<!DOCTYPE A [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><A>&e;</A>";
    seen.text.len = 0;
    xml_read(entity, sizeof entity - 1, "e.xml", &handler, &e);
    CHECK(seen.text.bytes == NULL || !strstr(seen.text.bytes, "root:"));
    CHECK_INT(xml_read("", 0, "empty", &handler, &e), -1);
    CHECK(e.msg[0] != '\0');
    buf_release(&seen.text);
}

static void test_files(void)
{
    char dir[] = "/tmp/hpcview-support-XXXXXX";
    struct err e = {0};
    if (!mkdtemp(dir)) {
        SKIP("files", "no temporary folder can be made");
        return;
    }
    char *path = path_join(dir, "out.xml");
    struct outfile *f;
    CHECK_INT(outfile_create(path, &f, &e), 0);
    struct xmlout *x = xmlout_create(f, NULL);
    xmlout_begin(x, "A");
    xmlout_attr(x, "n", "<\x01\xff>");
    xmlout_begin(x, "B");
    xmlout_end(x);
    xmlout_begin(x, "C");
    xmlout_text(x, "a & b");
    xmlout_end(x);
    xmlout_begin(x, "D");
    xmlout_attr_u64(x, "i", UINT64_MAX);
    xmlout_attr_printf(x, "k", "%d-%d", 1, 2);
    xmlout_begin(x, "E");
    xmlout_finish(x);
    CHECK(access(path, F_OK) != 0);
    CHECK_INT(outfile_commit(f, &e), 0);
    struct filemap map;
    CHECK_INT(filemap_open(&map, path, &e), 0);
    static const char want[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<A "
                               "n=\"&lt;\xef\xbf\xbd\xef\xbf\xbd&gt;\">\n <B/>\n <C>a &amp; b</C>\n"
                               " <D i=\"18446744073709551615\" k=\"1-2\">\n  <E/>\n </D>\n</A>\n";
    CHECK(map.len == sizeof want - 1 && memcmp(map.bytes, want, map.len) == 0);
    filemap_release(&map);
    struct outdir *d;
    CHECK_INT(outdir_create(dir, "index.html", &d, &e), -1);
    CHECK(strstr(e.msg, "contains other files") != NULL);
    char *empty = path_join(dir, "empty");
    mkdir(empty, 0700);
    CHECK_NAMED(outdir_create(empty, "index.html", &d, &e) == 0 && outdir_commit(d, &e) == 0,
                "an empty folder is taken");
    mem_free(empty);
    char *sub = path_join(dir, "new/db");
    CHECK_INT(outdir_create(sub, "index.html", &d, &e), 0);
    CHECK_INT(outdir_commit(d, &e), 0);
    CHECK(access(sub, F_OK) == 0);
    CHECK_INT(dir_remove_tree(dir, &e), 0);
    CHECK_INT(filemap_open(&map, path, &e), -1);
    mem_free(sub);
    mem_free(path);
}

static void square(void *ctx, size_t i)
{
    ((uint64_t *)ctx)[i] = i * i;
}

static void test_streams_and_links(void)
{
    char dir[] = "/tmp/support_test.XXXXXX", fifo[64], file[64], link[64], got[8] = "";
    struct err e = {0};
    struct outfile *f;
    struct stat st;
    if (!mkdtemp(dir))
        return;
    snprintf(fifo, sizeof fifo, "%s/fifo", dir);
    snprintf(file, sizeof file, "%s/file", dir);
    snprintf(link, sizeof link, "%s/link", dir);

    /* special files are left as they are: -o /dev/null as root must not replace it by a regular file */
    CHECK_INT(mkfifo(fifo, 0600), 0);
    int reader = open(fifo, O_RDONLY | O_NONBLOCK);
    CHECK_INT(outfile_create(fifo, &f, &e), 0);
    outfile_printf(f, "words");
    CHECK_INT(outfile_commit(f, &e), 0);
    CHECK_INT(read(reader, got, sizeof got - 1), 5);
    CHECK(lstat(fifo, &st) == 0 && S_ISFIFO(st.st_mode));
    close(reader);

    CHECK_INT(symlink("file", link), 0);
    for (int again = 0; again < 2; again++) {
        CHECK_INT(outfile_create(again ? link : file, &f, &e), 0);
        outfile_printf(f, "%d", again);
        CHECK_INT(outfile_commit(f, &e), 0);
    }
    CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 1);
    CHECK_INT(dir_remove_tree(dir, &e), 0);
}

static void test_parallel(void)
{
    uint64_t squares[1000], sum = 0;
    parallel_for(1000, 4, square, squares);
    for (size_t i = 0; i < 1000; i++)
        sum += squares[i];
    CHECK_INT(sum, 332833500);
}

/* ---- other programs ----------------------------------------------------------------------- */

static int run_shell(const char *script, const struct buf *in, double seconds, struct buf *out, struct err *err)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct buf messages = {0};
    out->len = 0;
    int status = child_run(argv, in, seconds, out, &messages, err);
    if (messages.len)
        buf_printf(out, "[%s]", messages.bytes);
    buf_release(&messages);
    return status;
}

static bool spawn_tells(const char *const *program)
{
    pid_t pid;
    if (posix_spawn(&pid, program[0], NULL, NULL, (char *const *)(uintptr_t)program, environ) != 0)
        return true;
    waitpid(pid, NULL, 0);
    return false;
}

static void test_child(void)
{
    struct buf in = {0}, out = {0};
    struct err err = {0};
    for (int i = 0; i < 50000; i++)
        buf_str(&in, "0123456789abcdef0123456789abcdef\n");
    CHECK_NAMED(run_shell("cat", &in, 60, &out, &err) == 0 && out.len == in.len &&
                    memcmp(out.bytes, in.bytes, in.len) == 0,
                "a program is given all and says all, more than a pipe holds");
    CHECK_NAMED(run_shell("true", &in, 60, &out, &err) == 0 && out.len == 0, "one that reads nothing is no error");
    CHECK_NAMED(run_shell("echo said; echo why >&2; exit 3", &in, 60, &out, &err) == 3 &&
                    strcmp(out.bytes, "said\n[why\n]") == 0,
                "its status, its output, its messages");
    CHECK_NAMED(run_shell("echo $HOME$LC_ALL", &in, 60, &out, &err) == 0 && strcmp(out.bytes, "C\n") == 0,
                "it has no environment but one");
    CHECK_NAMED(run_shell("exec sleep 600", &in, 0.1, &out, &err) < 0 && err.kind == ERR_LIMIT &&
                    strcmp(err.msg, "/bin/sh: took more than 0.1 seconds") == 0,
                "one that does not end is ended");
    CHECK_NAMED(run_shell("exec >&- 2>&-; exec sleep 600", &in, 0.1, &out, &err) < 0 && err.kind == ERR_LIMIT,
                "so is one that has closed its outputs");
    CHECK_NAMED(run_shell("kill -9 $$", &in, 60, &out, &err) < 0 && strstr(err.msg, "killed by signal 9"),
                "one that was killed");
    const char *const nothing[] = {"/nonexistent/program", NULL};
    struct buf messages = {0};
    if (spawn_tells(nothing))
        CHECK_NAMED(child_run(nothing, &in, 60, &out, &messages, &err) < 0 &&
                        strstr(err.msg, "/nonexistent/program: cannot be started: "),
                    "one that is not there");
    else
        SKIP("one that is not there", "posix_spawn does not tell (qemu-user)");
    const char *const silent[] = {"/bin/sh", "-c", ":", NULL};
    struct buf none = {0};
    CHECK_NAMED(child_run(silent, &in, 60, &none, &messages, &err) == 0 && none.bytes && !*none.bytes &&
                    messages.bytes && !*messages.bytes,
                "what says nothing has said \"\"");
    buf_release(&none);
    buf_release(&messages);
    buf_release(&in);
    buf_release(&out);
}

int main(void)
{
    RUN(test_errors);
    RUN(test_strings);
    RUN(test_search);
    RUN(test_hashmap);
    RUN(test_row_index);
    RUN(test_cursor);
    RUN(test_text);
    RUN(test_xml);
    RUN(test_files);
    RUN(test_streams_and_links);
    RUN(test_parallel);
    RUN(test_child);
    return tap_done();
}
