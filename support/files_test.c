/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File input and output as users experience it: all sizes, pipes, write errors, existing files, and interruption.
 */
#include "support/support.h"
#include "tests/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/files_test.XXXXXX";

static const char *in_folder(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static bool is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void put_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        perror(path);
}

/* Number of files, folders and links in a folder, including hidden ones. */
static size_t entries(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return n;
}

static uint8_t byte_at(size_t i)
{
    return (uint8_t)hash_mix(i);
}

/* ---- in ---------------------------------------------------------------------------- */

static void test_sizes(void)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 20};
    const char *path = in_folder("sized");
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        uint8_t *bytes = mem_alloc(sizes[i] + 1);
        struct filemap map;
        struct err e = {0};
        for (size_t k = 0; k < sizes[i]; k++)
            bytes[k] = byte_at(k);
        put_file(path, bytes, sizes[i]);
        if (CHECK_INT(filemap_open(&map, path, &e), 0)) {
            CHECK_INT(map.len, sizes[i]);
            CHECK(map.bytes != NULL);
            filemap_forget(&map); /* it comes back */
            CHECK(memcmp(map.bytes, bytes, sizes[i]) == 0);
            filemap_release(&map);
            CHECK(map.bytes == NULL && map.len == 0);
        }
        mem_free(bytes);
    }
}

static void test_passing(void)
{
    enum { SIZE = 20 << 20 };
    const char *path = in_folder("large");
    struct filemap map;
    struct err e = {0};
    uint8_t *bytes = mem_alloc(SIZE);
    for (size_t k = 0; k < SIZE; k++)
        bytes[k] = (uint8_t)(k >> 12);
    put_file(path, bytes, SIZE);
    if (CHECK_INT(filemap_open(&map, path, &e), 0)) {
        size_t last = 0;
        bool goes_on = true;
        for (size_t k = 0; k < SIZE; k += 4096) {
            filemap_pass(&map, map.bytes + k);
            goes_on = goes_on && map.passed >= last && map.passed <= k && map.passed % 65536 == 0;
            last = map.passed;
        }
        CHECK(goes_on);
        CHECK(last > (8 << 20) && last < SIZE);
        CHECK_NAMED(memcmp(map.bytes, bytes, SIZE) == 0, "what was given back is read again");
        filemap_pass(NULL, map.bytes);
        filemap_release(&map);
    }
    mem_free(bytes);
}

static void *feed(void *path)
{
    int fd = open(path, O_WRONLY);
    char part[1000];
    for (size_t at = 0; fd >= 0 && at < 300 * sizeof part; at += sizeof part) {
        for (size_t i = 0; i < sizeof part; i++)
            part[i] = (char)byte_at(at + i);
        if (write(fd, part, sizeof part) < 0)
            break;
        if (at % 50000 == 0)
            usleep(2000);
    }
    close(fd);
    return NULL;
}

static void test_pipes(void)
{
    const char *path = in_folder("pipe");
    struct filemap map;
    struct err e = {0};
    pthread_t writer;
    bool same = true;
    CHECK_INT(mkfifo(path, 0600), 0);
    pthread_create(&writer, NULL, feed, (void *)path);
    if (CHECK_INT(filemap_open(&map, path, &e), 0)) {
        CHECK_INT(map.len, 300000);
        for (size_t i = 0; i < map.len; i++)
            same = same && map.bytes[i] == byte_at(i);
        CHECK_NAMED(same, "what comes through a pipe in pieces is read whole");
        filemap_release(&map);
    }
    pthread_join(writer, NULL);
    if (CHECK_NAMED(filemap_open(&map, "/proc/self/status", &e) == 0, "files without a size")) {
        CHECK(map.len > 100 && memcmp(map.bytes, "Name:", 5) == 0);
        filemap_release(&map);
    }
    if (CHECK_INT(filemap_open(&map, "/dev/null", &e), 0)) {
        CHECK(map.bytes != NULL && map.len == 0);
        filemap_release(&map);
    }
}

static void check_refused(const char *path, const char *why)
{
    struct filemap map;
    struct err e = {0};
    char *said;
    CHECK_INT(filemap_open(&map, path, &e), -1);
    said = mem_printf("%s: %s", path, why);
    CHECK_STR(e.msg, said);
    CHECK_INT(e.kind, ERR_SYSTEM);
    mem_free(said);
}

static void test_refused(void)
{
    check_refused(folder, "is a folder, not a file");
    check_refused("/dev/zero", "is a device, not a file");
    check_refused("/nowhere/at/all", "cannot be opened: No such file or directory");
}

static void test_many(void)
{
    enum { MANY = 3000 };
    struct filemap *maps = mem_calloc(MANY, sizeof *maps);
    struct err e = {0};
    const char *path = in_folder("often");
    size_t opened = 0, right = 0;
    put_file(path, "0123456789", 10);
    while (opened < MANY && filemap_open(&maps[opened], path, &e) == 0)
        opened++;
    for (size_t i = 0; i < opened; i++) {
        right += maps[i].len == 10 && memcmp(maps[i].bytes, "0123456789", 10) == 0;
        filemap_release(&maps[i]);
    }
    CHECK_INT(right, MANY);
    mem_free(maps);
}

static void test_named(void)
{
    struct filemap map;
    struct err e = {0};
    char *path;
    put_file(in_folder("core.xml"), "<a/>", 4);
    CHECK_INT(filemap_open_named(&map, "core", folder, "a core", &path, &e), 0);
    CHECK_STR(path, in_folder("core.xml"));
    filemap_release(&map);
    mem_free(path);
    CHECK_INT(filemap_open_named(&map, "core.xml", folder, "a core", &path, &e), -1);
    CHECK_STR(path, "core.xml");
    mem_free(path);
    CHECK_INT(filemap_open_named(&map, in_folder("core.xml"), folder, "a core", &path, &e), 0);
    CHECK_STR(path, in_folder("core.xml"));
    filemap_release(&map);
    mem_free(path);
    CHECK_INT(filemap_open_named(&map, "core", NULL, "a core", &path, &e), -1);
    mem_free(path);
    put_file(in_folder("long.xml"), "", 0);
    CHECK_INT(truncate(in_folder("long.xml"), LIMIT_CONFIG_BYTES), 0);
    CHECK_INT(filemap_open_named(&map, "long", folder, "a core", &path, &e), 0);
    filemap_release(&map);
    mem_free(path);
    e = (struct err){0};
    CHECK_INT(truncate(in_folder("long.xml"), LIMIT_CONFIG_BYTES + 1), 0);
    CHECK_INT(filemap_open_named(&map, "long", folder, "a core", &path, &e), -1);
    CHECK_INT(e.kind, ERR_LIMIT);
    CHECK(strstr(e.msg, "long.xml: too large for a core (at most 16 MB)") != NULL);
    mem_free(path);
}

/* ---- out --------------------------------------------------------------------------- */

/* Data written in pieces of all sizes is in the file after the commit, and no file exists before. */
static void test_pieces(void)
{
    static const size_t pieces[] = {1, 511, 65535, 1, 65536, 70000, 0, 3, 200000, 65537, 12};
    const char *path = in_folder("written");
    struct buf want = {0}, seen = {0};
    struct outfile *f, *memory = outfile_into(&seen);
    struct err e = {0};
    struct filemap map;
    CHECK_INT(outfile_create(path, &f, &e), 0);
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
        uint8_t *bytes = mem_alloc(pieces[i] + 1);
        for (size_t k = 0; k < pieces[i]; k++)
            bytes[k] = byte_at(i + 7 * k);
        outfile_write(f, bytes, pieces[i]);
        outfile_write(memory, bytes, pieces[i]);
        buf_add(&want, bytes, pieces[i]);
        mem_free(bytes);
    }
    char text[600];
    memset(text, 'x', sizeof text - 1);
    for (size_t n = 509; n < 515; n++) { /* around the size of the buffer for short writes */
        outfile_printf(f, "%.*s|", (int)n, text);
        outfile_printf(memory, "%.*s|", (int)n, text);
        buf_printf(&want, "%.*s|", (int)n, text);
    }
    CHECK(!is_there(path));
    CHECK_INT(outfile_commit(f, &e), 0);
    CHECK_INT(outfile_commit(memory, &e), 0);
    CHECK(seen.len == want.len && memcmp(seen.bytes, want.bytes, want.len) == 0);
    if (CHECK_INT(filemap_open(&map, path, &e), 0)) {
        CHECK(map.len == want.len && memcmp(map.bytes, want.bytes, want.len) == 0);
        filemap_release(&map);
    }
    buf_release(&want);
    buf_release(&seen);
}

static void test_full(void)
{
    struct outfile *f;
    struct err e = {0};
    char *much = mem_calloc(1, 200000);
    CHECK_INT(outfile_create("/dev/full", &f, &e), 0);
    outfile_write(f, much, 200000);
    outfile_printf(f, "and more");
    CHECK_INT(outfile_commit(f, &e), -1);
    CHECK_STR(e.msg, "/dev/full: cannot be written: No space left on device");
    e = (struct err){0};
    CHECK_INT(outfile_create("/nowhere/at/all", &f, &e), -1);
    CHECK(f == NULL);
    CHECK_STR(e.msg, "/nowhere/at/all: cannot be written: No such file or directory");
    mem_free(much);
}

static void test_abandoned(void)
{
    struct outfile *f, *g;
    struct outdir *d;
    struct err e = {0};
    size_t before = entries(folder);
    put_file(in_folder("kept"), "old", 3);
    CHECK_INT(outfile_create(in_folder("kept"), &f, &e), 0);
    outfile_printf(f, "new");
    CHECK_INT(entries(folder), before + 2);
    outfile_abandon(f);
    outfile_abandon(NULL);
    CHECK_INT(entries(folder), before + 1);
    /* an unexpected exit */
    CHECK_INT(outfile_create(in_folder("kept"), &f, &e), 0);
    CHECK_INT(outfile_create(in_folder("other"), &g, &e), 0);
    CHECK_INT(outdir_create(in_folder("site"), "index", &d, &e), 0);
    char *inside = path_join(outdir_path(d), "data");
    CHECK_INT(mkdir(inside, 0777), 0);
    char *deep = path_join(inside, "file");
    put_file(deep, "x", 1);
    CHECK_INT(entries(folder), before + 4);
    outputs_abandon();
    CHECK_INT(entries(folder), before + 1);
    outfile_abandon(f);
    e = (struct err){0};
    CHECK_INT(outfile_commit(g, &e), -1);
    CHECK(!is_there(in_folder("other")));
    outdir_abandon(d);
    outdir_abandon(NULL);
    outputs_abandon(); /* no output is pending */
    CHECK_INT(entries(folder), before + 1);
    mem_free(inside);
    mem_free(deep);
}

static void test_folders(void)
{
    const char *site = in_folder("database/");
    struct outdir *d;
    struct err e = {0};
    size_t before = entries(folder);
    CHECK_INT(outdir_create(site, "index", &d, &e), 0);
    char *index = path_join(outdir_path(d), "index"), *old = path_join(outdir_path(d), "old");
    put_file(index, "1", 1);
    put_file(old, "1", 1);
    CHECK(!is_there(in_folder("database")));
    CHECK_INT(outdir_commit(d, &e), 0);
    mem_free(index);
    mem_free(old);
    CHECK_INT(entries(in_folder("database")), 2);
    CHECK_NAMED(outdir_create(site, "index", &d, &e) == 0, "one of ours is replaced");
    index = path_join(outdir_path(d), "index");
    put_file(index, "2", 1);
    mem_free(index);
    CHECK_INT(entries(in_folder("database")), 2);
    CHECK_INT(outdir_commit(d, &e), 0);
    CHECK_INT(entries(in_folder("database")), 1);
    CHECK_INT(entries(folder), before + 1);
    CHECK_INT(unlink(in_folder("database/index")), 0);
    put_file(in_folder("database/mine"), "", 0);
    CHECK_INT(outdir_create(site, "index", &d, &e), -1);
    CHECK(strstr(e.msg, "contains other files (and no index); choose a new folder") != NULL);
    CHECK(d == NULL);
    e = (struct err){0};
    CHECK_INT(outdir_create(in_folder("database/mine"), "index", &d, &e), -1);
    CHECK(strstr(e.msg, "exists and is not a folder; choose another name") != NULL);
    CHECK_INT(outdir_create(in_folder("a/b/c"), "index", &d, &e), 0);
    CHECK_INT(outdir_commit(d, &e), 0);
    CHECK(is_there(in_folder("a/b/c")));
    e = (struct err){0};
    CHECK_INT(outdir_create(in_folder("database/mine/x"), "index", &d, &e), -1);
}

/* The path is taken by another file before the commit: that file remains, ours is removed. */
static void test_taken(void)
{
    struct outdir *d;
    struct outfile *f;
    struct err e = {0};
    size_t before = entries(folder);
    CHECK_INT(outdir_create(in_folder("gone/site"), "index", &d, &e), 0);
    char *away = mem_strdup(in_folder("gone")), *to = mem_strdup(in_folder("moved"));
    CHECK_INT(rename(away, to), 0);
    CHECK_INT(outdir_commit(d, &e), -1);
    CHECK(strstr(e.msg, "gone/site: cannot be written") != NULL);
    e = (struct err){0};
    CHECK_INT(outfile_create(in_folder("file"), &f, &e), 0);
    CHECK_INT(mkdir(in_folder("file"), 0777), 0);
    CHECK_INT(outfile_commit(f, &e), -1);
    CHECK(strstr(e.msg, "file: cannot be written") != NULL);
    CHECK_INT(entries(folder), before + 2); /* the moved entry and the folder */
    mem_free(away);
    mem_free(to);
}

static void test_system_paths(void)
{
    CHECK(path_is_of_system("/usr/include/stdio.h"));
    CHECK(path_is_of_system("/lib/x.c"));
    CHECK(!path_is_of_system("/usr/src/linux/x.c"));
    CHECK(!path_is_of_system("/usr/local/src/mine.c"));
    CHECK(!path_is_of_system("/home/me/x.c"));
    CHECK(!path_is_of_system("lib/x.c"));
    CHECK_INT(path_common_folder("/a/bc/d", "/a/bc/e", 7), 6);
    CHECK_INT(path_common_folder("/a/bc/d", "/a/bd/e", 7), 3);
    CHECK_INT(path_common_folder("/a/bc/d", "/x", 7), 1);
    CHECK_INT(path_common_folder("/a/bc/d", "/a/bc/d", 4), 3);
    CHECK_INT(path_common_folder("a", "b", 1), 0);
}

int main(void)
{
    struct err e = {0};
    if (!mkdtemp(folder))
        return 99;
    RUN(test_sizes);
    RUN(test_passing);
    RUN(test_pipes);
    RUN(test_refused);
    RUN(test_many);
    RUN(test_named);
    RUN(test_pieces);
    RUN(test_full);
    RUN(test_abandoned);
    RUN(test_folders);
    RUN(test_taken);
    RUN(test_system_paths);
    CHECK_INT(dir_remove_tree(folder, &e), 0);
    CHECK(!is_there(folder));
    return tap_done();
}
