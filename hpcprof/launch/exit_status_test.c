/* SPDX-License-Identifier: BSD-3-Clause */
/* The exit status of a process is added to its own file, after the readable part. */
#include "hpcprof/launch/exit_status.h"

#include "hpcprof/format/tables.h"
#include "hpcprof/format/writer.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PID = 4711, LAUNCHED = 1000 };

static char dir[] = "/tmp/exit_status_test.XXXXXX";

/* The file of one process, as long as it is written in full. */
static void write_file(const char *path, uint32_t pid, uint64_t start_ns, const char *host)
{
    struct hpcprof *p = hpcprof_create();
    struct outfile *f;
    struct hpcprof_process process = {.host = strtab_add(p->strings, host),
                                      .start_ns = start_ns,
                                      .pid = pid,
                                      .rank = -1,
                                      .exit_status = -1,
                                      .complete = true};
    hpcprof_add_process(p, &process);
    hpcprof_add_thread(p, &(struct hpcprof_thread){.number = 0, .end_ns = 9});
    hpcprof_finish(p);
    CHECK(outfile_create(path, &f, NULL) == 0 && hpcprof_write(p, f, NULL) == 0 && outfile_commit(f, NULL) == 0);
    hpcprof_free(p);
}

static uint64_t end_offset;

static void find_end(void *ctx, const struct hpcprof_block *b)
{
    (void)ctx;
    if (strcmp(b->type, "process end") == 0)
        end_offset = b->offset;
}

/* Truncates the file `keep` bytes into its end block; -1: no truncation. */
static void cut_file(const char *path, int keep)
{
    struct filemap map;
    CHECK(filemap_open(&map, path, NULL) == 0);
    CHECK(hpcprof_list_blocks(map.bytes, map.len, path, find_end, NULL, NULL) == 0);
    filemap_release(&map);
    CHECK(keep < 0 || truncate(path, (off_t)end_offset + keep) == 0);
}

static const struct row {
    const char *name, *file;
    uint32_t pid;
    uint64_t start_ns;
    bool here; /* on this machine */
    int keep;
    int status; /* read back */
    bool complete, note;
} rows[] = {
    {"without an end", "app.node.4711.hpcprof", PID, LAUNCHED, true, 0, 9, false, false},
    {"with a rank", "app.node.4711.3.hpcprof", PID, LAUNCHED, true, 0, 9, false, false},
    {"the second of that name", "app.node.4711-2.hpcprof", PID, LAUNCHED + 5, true, 0, 9, false, false},
    {"cut within a block's header", "app.node.4711.hpcprof", PID, LAUNCHED, true, 1, 9, false, true},
    {"cut within a block", "app.node.4711.hpcprof", PID, LAUNCHED, true, 17, 9, false, true},
    {"with its own end", "app.node.4711.hpcprof", PID, LAUNCHED, true, -1, -1, true, false},
    {"of another process", "app.node.47110.hpcprof", 47110, LAUNCHED, true, 0, -1, false, false},
    {"of another process, by its content", "app.node.4711.hpcprof", 4712, LAUNCHED, true, 0, -1, false, false},
    {"of an earlier process", "app.node.4711.hpcprof", PID, LAUNCHED - 1, true, 0, -1, false, false},
    {"of another machine", "app.node.4711.hpcprof", PID, LAUNCHED, false, 0, -1, false, false},
};

static void try_row(const struct row *row)
{
    struct utsname host;
    struct hpcprof *p;
    struct warnings *w = warnings_create();
    char *path = path_join(dir, row->file);
    printf("# %s\n", row->name);
    uname(&host);
    write_file(path, row->pid, row->start_ns, row->here ? host.nodename : "elsewhere.invalid");
    cut_file(path, row->keep);
    CHECK_INT(exit_status_add(dir, PID, LAUNCHED, 9, NULL), 0);
    if (CHECK(hpcprof_read(path, &p, w, NULL) == 0)) {
        CHECK_INT(p->processes[0].exit_status, row->status);
        CHECK_INT(p->processes[0].complete, row->complete);
        CHECK_INT(p->processes[0].end_ns > LAUNCHED, row->status == 9);
        CHECK_INT(p->note_count, row->note);
        CHECK_INT(warnings_count(w), row->complete ? 0 : 1);
        hpcprof_free(p);
    }
    warnings_free(w);
    unlink(path);
    mem_free(path);
}

/* ---- the file of a process, and tables that are added to it ------------------------------------------------------ */

static char *put(const char *name, uint32_t pid, uint64_t start_ns, int keep)
{
    struct utsname host;
    char *path = path_join(dir, name);
    uname(&host);
    write_file(path, pid, start_ns, host.nodename);
    cut_file(path, keep);
    return path;
}

static void append(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "a");
    CHECK(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

/* The process's own file: the last one started after the launch; otherwise any that contains its end. */
static void test_files(void)
{
    static const struct {
        const char *name, *own, *any;
        struct {
            const char *file;
            uint32_t pid;
            uint64_t start_ns;
            int keep;
            const char *more; /* bytes after it */
        } files[3];
    } cases[] = {
        {"nothing", NULL, NULL, {{0}}},
        {"its file", "a.node.4711", "a.node.4711", {{"a.node.4711", PID, LAUNCHED, -1, NULL}}},
        {"the last of its programs",
         "a.node.4711-2",
         "a.node.4711-2",
         {{"a.node.4711", PID, LAUNCHED, -1, NULL},
          {"a.node.4711-2", PID, LAUNCHED + 2, -1, NULL},
          {"a.node.4711-3", PID, LAUNCHED + 1, -1, NULL}}},
        {"without its end", NULL, NULL, {{"a.node.4711", PID, LAUNCHED, 0, NULL}}},
        {"another's", NULL, "a.node.12", {{"a.node.12", 12, LAUNCHED, -1, NULL}}},
        {"the first of others",
         NULL,
         "a.node.12",
         {{"b.node.13", 13, LAUNCHED, -1, NULL},
          {"a.node.11", 11, LAUNCHED, 0, NULL},
          {"a.node.12", 12, LAUNCHED, -1, NULL}}},
        {"with something behind its end", NULL, NULL, {{"a.node.4711", PID, LAUNCHED, -1, "x"}}},
        {"with a whole header behind its end", NULL, NULL, {{"a.node.4711", PID, LAUNCHED, -1, "0123456789abcdef"}}},
        {"a name with more digits", NULL, "a.node.24711", {{"a.node.24711", PID, LAUNCHED, -1, NULL}}},
        {"its number in front of another", NULL, "a.4711x", {{"a.4711x", PID, LAUNCHED, -1, NULL}}},
        {"its number as the name", NULL, "4711", {{"4711", PID, LAUNCHED, -1, NULL}}},
        {"its number twice", "a.47112.4711", "a.47112.4711", {{"a.47112.4711", PID, LAUNCHED, -1, NULL}}},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (int k = 0; k < 3 && cases[i].files[k].file; k++) {
            char *name = mem_printf("%s.hpcprof", cases[i].files[k].file);
            char *path = put(name, cases[i].files[k].pid, cases[i].files[k].start_ns, cases[i].files[k].keep);
            if (cases[i].files[k].more)
                append(path, cases[i].files[k].more, strlen(cases[i].files[k].more));
            mem_free(path);
            mem_free(name);
        }
        for (int any = 0; any < 2; any++) {
            const char *want = any ? cases[i].any : cases[i].own;
            char *got = exit_status_file(dir, PID, LAUNCHED, any),
                 *whole = want ? mem_printf("%s/%s.hpcprof", dir, want) : NULL;
            printf("# %s\n", cases[i].name);
            CHECK_STR(got ? got : "none", whole ? whole : "none");
            mem_free(got);
            mem_free(whole);
        }
        for (int k = 0; k < 3 && cases[i].files[k].file; k++) {
            char *path = mem_printf("%s/%s.hpcprof", dir, cases[i].files[k].file);
            unlink(path);
            mem_free(path);
        }
    }
}

/* A table of one row, with that name and number. */
static struct hpcprof *table_of(const char *name, uint64_t n)
{
    static const struct table_column columns[] = {{.name = "n", .type = TABLE_COUNT, .merge = TABLE_LAST}};
    struct hpcprof *p = hpcprof_create();
    struct table *t = NULL;
    table_list_declare(&p->tables, &(struct table_decl){.name = name, .columns = columns, .column_count = 1},
                       p->strings, &t, NULL);
    table_add(t, &(union table_cell){.count = n});
    return p;
}

static void test_tables(void)
{
    static const char *const names[] = {"one", "two", "three", "four"};
    struct warnings *w = warnings_create();
    struct hpcprof *p;
    struct err err = {0};
    char *path = put("a.node.4711.hpcprof", PID, LAUNCHED, -1),
         *want = mem_printf("%s: the process has not ended", path);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        p = table_of(names[i], 10 + i);
        CHECK_INT(hpcprof_add_tables(path, p, &err), 0);
        hpcprof_free(p);
    }
    CHECK_INT(hpcprof_read(path, &p, w, &err), 0);
    CHECK_NAMED(p->processes[0].complete && p->thread_count == 1 && p->threads[0].end_ns == 9,
                "all that was there stays");
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct table *t = table_list_find(&p->tables, names[i]);
        CHECK_INT(t && table_row_count(t) == 1 ? table_row(t, 0)->count : 0, 10 + i);
    }
    CHECK_INT(warnings_count(w), 0);
    hpcprof_free(p);
    p = table_of("late", 1);
    append(path, "x", 1);
    CHECK_INT(hpcprof_add_tables(path, p, &err), -1);
    CHECK_STR(err.msg, want);
    cut_file(path, 0);
    CHECK_INT(hpcprof_add_tables(path, p, &err), -1);
    CHECK_STR(err.msg, want);
    unlink(path);
    append(path, "nothing", 7);
    CHECK_INT(hpcprof_add_tables(path, p, &err), -1);
    CHECK_STR(err.msg, want);
    unlink(path);
    CHECK_INT(hpcprof_add_tables(path, p, &err), -1);
    hpcprof_free(p);
    warnings_free(w);
    mem_free(want);
    mem_free(path);
}

/* Chooses, among several files, the last one without an end. */
static void test_which(void)
{
    char *paths[] = {put("a.node.4711.hpcprof", PID, LAUNCHED, 0), put("a.node.4711-2.hpcprof", PID, LAUNCHED + 7, 0),
                     put("a.node.4711-3.hpcprof", PID, LAUNCHED + 3, 0),
                     put("a.node.4711-4.hpcprof", PID, LAUNCHED + 9, -1)};
    CHECK_INT(exit_status_add(dir, PID, LAUNCHED, 768, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct hpcprof *p;
        struct warnings *w = warnings_create();
        CHECK_INT(hpcprof_read(paths[i], &p, w, NULL), 0);
        CHECK_INT(p->processes[0].exit_status, i == 1 ? 768 : -1);
        hpcprof_free(p);
        warnings_free(w);
        unlink(paths[i]);
        mem_free(paths[i]);
    }
}

static long long size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (long long)st.st_size : -1;
}

/* If nothing or only a part can be written, the valid blocks remain, and the next attempt adds it. */
static void test_no_room(void)
{
    signal(SIGXFSZ, SIG_IGN);
    for (unsigned more = 0; more < 6; more += 5) {
        char *path = put("a.node.4711.hpcprof", PID, LAUNCHED, 17),
             *want = mem_printf("%s: adding the exit status: ", path);
        struct hpcprof *p;
        struct err err = {0};
        struct rlimit before, limit;
        getrlimit(RLIMIT_FSIZE, &before);
        limit = before;
        limit.rlim_cur = end_offset + more;
        setrlimit(RLIMIT_FSIZE, &limit);
        int status = exit_status_add(dir, PID, LAUNCHED, 768, &err);
        setrlimit(RLIMIT_FSIZE, &before);
        printf("# room for %u bytes\n", more);
        CHECK_INT(status, -1);
        CHECK(str_starts(err.msg, want));
        CHECK_INT(size_of(path), end_offset);
        CHECK_INT(exit_status_add(dir, PID, LAUNCHED, 768, NULL), 0);
        CHECK_INT(hpcprof_read(path, &p, NULL, NULL), 0);
        CHECK_INT(p->processes[0].exit_status, 768);
        hpcprof_free(p);
        unlink(path);
        mem_free(want);
        mem_free(path);
    }
    signal(SIGXFSZ, SIG_DFL);
}

/* A partial write may be longer than the added block: all of it is removed. */
static void test_long_cut(void)
{
    char *path = put("a.node.4711.hpcprof", PID, LAUNCHED, 0);
    struct hpcprof *p;
    struct warnings *w = warnings_create();
    struct buf payload = {0}, block = {0};
    for (int i = 0; i < 2000; i++)
        buf_u8(&payload, 1);
    hpcprof_write_block_head(&block, FORMAT_NOTES, &payload);
    buf_add(&block, payload.bytes, payload.len / 2);
    append(path, block.bytes, block.len);
    CHECK_INT(exit_status_add(dir, PID, LAUNCHED, 768, NULL), 0);
    CHECK(size_of(path) > (long long)end_offset && size_of(path) < (long long)(end_offset + block.len));
    CHECK_INT(hpcprof_read(path, &p, w, NULL), 0);
    CHECK_INT(p->processes[0].exit_status, 768);
    CHECK_INT(p->note_count, 1);
    CHECK_STR(strtab_get(p->strings, p->notes[0].name), "missing");
    CHECK_STR(strtab_get(p->strings, p->notes[0].value),
              "the process was killed while writing: its last counts are missing");
    CHECK_INT(warnings_count(w), 1); /* that its last moments are missing */
    hpcprof_free(p);
    warnings_free(w);
    buf_release(&payload);
    buf_release(&block);
    unlink(path);
    mem_free(path);
}

/* The target of a symbolic link of that name is not written to. */
static void test_link(void)
{
    char *path = put("elsewhere", PID, LAUNCHED, 0), *link = path_join(dir, "a.node.4711.hpcprof"),
         *want = mem_printf("%s: adding the exit status: %s", link, strerror(ELOOP));
    struct err err = {0};
    CHECK_INT(symlink("elsewhere", link), 0);
    CHECK_INT(exit_status_add(dir, PID, LAUNCHED, 9, &err), -1);
    CHECK_STR(err.msg, want);
    CHECK_INT(size_of(path), end_offset);
    unlink(link);
    unlink(path);
    mem_free(want);
    mem_free(link);
    mem_free(path);
}

static int next_descriptor(void)
{
    int fd = open("/", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

/* All files are closed again. */
static void test_all(void)
{
    int before = next_descriptor();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        try_row(&rows[i]);
    CHECK_INT(exit_status_add(dir, PID, LAUNCHED, 9, NULL), 0); /* nothing was recorded */
    test_files();
    test_tables();
    test_which();
    test_no_room();
    test_long_cut();
    test_link();
    CHECK_INT(next_descriptor(), before);
}

int main(void)
{
    if (!mkdtemp(dir)) {
        SKIP("how a process ended is added", "no folder can be made in /tmp");
        return tap_done();
    }
    RUN(test_all);
    close(0); /* the next file's number is 0 now */
    RUN(test_all);
    CHECK_INT(rmdir(dir), 0);
    return tap_done();
}
