/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * After SIGKILL, or when the disk was full, a process's file has no end. The launcher waited for the process and knows
 * when and how it ended; it appends that, marked as not written by the recorder: the last moments are still missing.
 */
#include "hpcprof/launch/exit_status.h"

#include "hpcprof/format/writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- which file ------------------------------------------------------------------------------------------------ */

/* Names are NAME.HOST.PID[.RANK][-COUNT].hpcprof; the file itself is asked afterwards. number: ".PID" */
static bool name_holds(const char *name, const char *number)
{
    size_t n = strlen(number);
    for (const char *at = name; str_ends(name, HPCPROF_SUFFIX) && (at = strstr(at, number)); at++)
        if (at[n] == '.' || at[n] == '-')
            return true;
    return false;
}

struct file_extent {
    const struct filemap *map; /* of the file; not valid longer than that */
    uint64_t sound;            /* bytes from the beginning that are sound blocks */
    uint64_t last;             /* where the last of them begins */
    uint32_t tables;           /* that they declare */
    bool has_end;              /* the last of them is a process's end */
    bool cut;                  /* the bytes behind them are part of a block */
};

static void measure_block(void *ctx, const struct hpcprof_block *b)
{
    struct file_extent *x = ctx;
    if (b->why_not) {
        x->cut = strcmp(b->why_not, "it is truncated") == 0;
        return;
    }
    x->last = b->offset;
    x->sound = b->offset + b->length;
    x->has_end = strcmp(b->type, "process end") == 0;
    if (strcmp(b->type, "tables") == 0) {
        struct cursor c = cursor_make(x->map->bytes + b->offset + FORMAT_BLOCK_BYTES, b->length - FORMAT_BLOCK_BYTES);
        x->tables += (uint32_t)cursor_uleb(&c);
    }
}

/* False: not a measurement. */
static bool measure(const struct filemap *map, struct file_extent *x)
{
    *x = (struct file_extent){.map = map};
    return hpcprof_list_blocks(map->bytes, map->len, "", measure_block, x, NULL) == 0;
}

/* It is not being written any more, and everything written is there. */
static bool is_ended(const struct filemap *map, struct file_extent *x)
{
    return measure(map, x) && x->has_end && x->sound == map->len;
}

/* When the one process in the bytes began; 0: it is not the one we look for. */
static uint64_t start_of(const struct filemap *map, pid_t pid, uint64_t launched_ns)
{
    struct hpcprof *p;
    struct utsname host;
    uint64_t start = 0;
    if (uname(&host) == 0 && hpcprof_read_bytes(map->bytes, map->len, "", &p, NULL, NULL) == 0) {
        const struct hpcprof_process *process = p->processes;
        if (p->process_count == 1 && process->pid == (uint32_t)pid && process->start_ns >= launched_ns &&
            strcmp(strtab_get(p->strings, process->host), host.nodename) == 0)
            start = process->start_ns;
        hpcprof_free(p);
    }
    return start;
}

/* Of the programs that the process executed one after another, the last; *x has how far its file is sound. NULL: none
 * with an end, or without one. */
static char *find_file(const char *path, pid_t pid, uint64_t launched_ns, bool with_end, struct file_extent *x)
{
    char number[16], *found = NULL;
    uint64_t latest = 0;
    DIR *dir = opendir(path);
    snprintf(number, sizeof number, ".%d", (int)pid);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct filemap map;
        struct file_extent this;
        char *file = name_holds(entry->d_name, number) ? path_join(path, entry->d_name) : NULL;
        if (!file || filemap_open(&map, file, NULL) < 0) {
            mem_free(file);
            continue;
        }
        bool sound = measure(&map, &this);
        uint64_t start = sound && this.has_end == with_end ? start_of(&map, pid, launched_ns) : 0;
        if (start > latest && (this.sound == map.len || (this.cut && !with_end))) {
            mem_free(found);
            found = file;
            file = NULL;
            latest = start;
            *x = this;
        }
        filemap_release(&map);
        mem_free(file);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* ---- what is added --------------------------------------------------------------------------------------------- */

static void put_block(struct buf *out, uint32_t type, const struct buf *payload)
{
    hpcprof_write_block_head(out, type, payload);
    buf_add(out, payload->bytes, payload->len);
}

static void put_cut(struct buf *out)
{
    struct buf b = {0};
    buf_uleb(&b, 1);
    hpcprof_write_text(&b, "missing");
    hpcprof_write_text(&b, "the process was killed while writing: its last counts are missing");
    put_block(out, FORMAT_NOTES, &b);
    buf_release(&b);
}

static void put_end(struct buf *out, int status)
{
    struct buf b = {0};
    buf_uleb(&b, time_wall_ns());
    buf_sleb(&b, status);
    buf_u8(&b, 0); /* not all was written */
    put_block(out, FORMAT_END, &b);
    buf_release(&b);
}

/* Over the part of a block that was cut, if any: nothing behind that could be read. */
static int write_at(const char *path, uint64_t at, const struct buf *b, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    bool done = fd >= 0 && ftruncate(fd, (off_t)at) == 0 && pwrite(fd, b->bytes, b->len, (off_t)at) == (ssize_t)b->len;
    int status = done ? 0 : err_errno(err, path, "adding the exit status");
    if (fd >= 0 && !done && ftruncate(fd, (off_t)at) < 0)
        status = err_errno(err, path, "adding the exit status");
    if (fd >= 0)
        close(fd);
    return status;
}

int exit_status_add(const char *dir, pid_t pid, uint64_t launched_ns, int status, struct err *err)
{
    struct file_extent x;
    struct buf b = {0};
    char *file = find_file(dir, pid, launched_ns, false, &x);
    if (!file)
        return 0;
    if (x.cut)
        put_cut(&b);
    put_end(&b, status);
    int result = write_at(file, x.sound, &b, err);
    buf_release(&b);
    mem_free(file);
    return result;
}

/* ---- tables that the launcher adds ---------------------------------------------------------------------------- */

static bool file_is_ended(const char *path)
{
    struct filemap map;
    struct file_extent x;
    if (filemap_open(&map, path, NULL) < 0)
        return false;
    bool ended = is_ended(&map, &x);
    filemap_release(&map);
    return ended;
}

char *exit_status_file(const char *dir, pid_t pid, uint64_t launched_ns, bool or_any)
{
    struct file_extent x;
    struct text_list files = {0};
    char *found = find_file(dir, pid, launched_ns, true, &x);
    if (!found && or_any && dir_list(dir, HPCPROF_SUFFIX, "", &files, NULL) == 0)
        for (size_t i = 0; i < files.count && !found; i++)
            if (file_is_ended(files.items[i]))
                found = mem_strdup(files.items[i]);
    text_list_release(&files);
    return found;
}

/* In front of the process's end, which stays the last block. In place, as a file server has more work with another file
   than with these bytes; if they find no place, the end is written again. */
static int insert_tables(const char *path, const struct filemap *map, const struct hpcprof *p, struct err *err)
{
    struct file_extent x;
    struct buf tables = {0}, end = {0};
    if (!is_ended(map, &x))
        return err_set(err, ERR_FORMAT, "%s: the process has not ended", path);
    struct outfile *out = outfile_into(&tables);
    hpcprof_write_tables(out, p, x.tables);
    outfile_commit(out, NULL);
    buf_add(&end, map->bytes + x.last, x.sound - x.last);
    buf_add(&tables, end.bytes, end.len);
    int status = write_at(path, x.last, &tables, err);
    if (status < 0)
        write_at(path, x.last, &end, NULL);
    buf_release(&tables);
    buf_release(&end);
    return status;
}

int hpcprof_add_tables(const char *path, const struct hpcprof *p, struct err *err)
{
    struct filemap map;
    if (filemap_open(&map, path, err) < 0)
        return -1;
    int status = insert_tables(path, &map, p, err);
    filemap_release(&map);
    return status;
}
