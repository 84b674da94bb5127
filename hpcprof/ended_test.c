/* How a process ended is added to its file, to no other, and behind what can be read. */
#include "hpcprof/ended.h"

#include "hpcprof/hpcprof_int.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PID = 4711, LAUNCHED = 1000 };

static char dir[] = "/tmp/ended_test.XXXXXX";

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

/* Cuts the file `keep` bytes into its end block; -1: not at all. */
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
    CHECK_INT(ended_add(dir, PID, LAUNCHED, 9, NULL), 0);
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

int main(void)
{
    if (!mkdtemp(dir)) {
        SKIP("how a process ended is added", "no folder can be made in /tmp");
        return tap_done();
    }
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        try_row(&rows[i]);
    CHECK_INT(ended_add(dir, PID, LAUNCHED, 9, NULL), 0); /* nothing was recorded */
    rmdir(dir);
    return tap_done();
}
