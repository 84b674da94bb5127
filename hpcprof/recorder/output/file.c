/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement file. New data are appended twice a second; when the appended part outgrows a fresh file, a fresh one
 * is written next to it and renamed over it: hours of running leave a file of the size that its distinct locations
 * need.
 */
#include "hpcprof/format/format.h"
#include "hpcprof/recorder/base/syscalls.h"
#include "hpcprof/recorder/output/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { JOURNAL_MIN = 192 << 10 };

/* ---- what is in it --------------------------------------------------------------------------------- */

static void put_modules(struct out *o, size_t from)
{
    const struct module_row *rows = hpcrec.modules.items;
    if (from >= hpcrec.modules.count)
        return;
    size_t block = hpcrec_block_begin(o, FORMAT_MODULES);
    hpcrec_put_uleb(o, hpcrec.modules.count - from);
    for (size_t i = from; i < hpcrec.modules.count; i++) {
        hpcrec_put_string(o, hpcrec_string(rows[i].path));
        hpcrec_put_string(o, hpcrec_string(rows[i].build_id));
        hpcrec_put_uleb(o, rows[i].length ? 1 : 0);
        if (rows[i].length) {
            hpcrec_put_uleb(o, rows[i].start);
            hpcrec_put_uleb(o, rows[i].length);
            hpcrec_put_uleb(o, rows[i].vaddr);
        }
    }
    hpcrec_block_end(o, block);
}

static void put_regions(struct out *o, size_t from)
{
    const struct region_row *rows = hpcrec.regions.items;
    if (from >= hpcrec.regions.count)
        return;
    size_t block = hpcrec_block_begin(o, FORMAT_REGIONS);
    hpcrec_put_uleb(o, hpcrec.regions.count - from);
    for (size_t i = from; i < hpcrec.regions.count; i++) {
        hpcrec_put_uleb(o, rows[i].parent);
        hpcrec_put_string(o, hpcrec_string(rows[i].name));
    }
    hpcrec_block_end(o, block);
}

enum { CONTEXTS_PER_BLOCK = 100000 };

static void put_contexts(struct out *o, size_t from)
{
    const struct context_row *rows = hpcrec.contexts.items;
    for (size_t end; from < hpcrec.contexts.count; from = end) {
        uint64_t module = 0, address = 0;
        end = hpcrec.contexts.count - from > CONTEXTS_PER_BLOCK ? from + CONTEXTS_PER_BLOCK : hpcrec.contexts.count;
        size_t block = hpcrec_block_begin(o, FORMAT_CONTEXTS);
        hpcrec_put_uleb(o, end - from);
        for (size_t i = from; i < end; i++) {
            hpcrec_put_uleb(o, rows[i].parent == CONTEXT_NONE ? 0 : FORMAT_HAS_PARENT);
            if (rows[i].parent != CONTEXT_NONE)
                hpcrec_put_uleb(o, rows[i].parent);
            hpcrec_put_sleb(o, (int64_t)(rows[i].module - module));
            hpcrec_put_sleb(o, (int64_t)(rows[i].address - address));
            module = rows[i].module;
            address = rows[i].address;
        }
        hpcrec_block_end(o, block);
    }
}

static void put_threads(struct out *o, size_t from)
{
    const struct thread_row *rows = hpcrec.thread_rows.items;
    if (from >= hpcrec.thread_rows.count)
        return;
    size_t block = hpcrec_block_begin(o, FORMAT_THREADS);
    hpcrec_put_uleb(o, hpcrec.thread_rows.count - from);
    for (size_t i = from; i < hpcrec.thread_rows.count; i++) {
        hpcrec_put_uleb(o, rows[i].number);
        hpcrec_put_uleb(o, rows[i].start_ns);
        hpcrec_put_string(o, rows[i].name);
    }
    hpcrec_block_end(o, block);
}

/* The row of the event that counts lost (or throttled) samples of event e; it exists only if some were lost. */
static uint32_t extra_event(unsigned e, bool throttled)
{
    struct extra_event *rows = hpcrec.extra_events.items;
    for (size_t i = 0; i < hpcrec.extra_events.count; i++)
        if (rows[i].event == e && rows[i].throttled == throttled)
            return (uint32_t)(hpcrec.config.event_count + i);
    if (!hpcrec_area_room(&hpcrec.extra_events, hpcrec.extra_events.count + 1, sizeof *rows))
        return 0;
    rows = hpcrec.extra_events.items;
    rows[hpcrec.extra_events.count] = (struct extra_event){e, throttled};
    return (uint32_t)(hpcrec.config.event_count + hpcrec.extra_events.count++);
}

static void make_extra_events(void)
{
    const struct thread_row *rows = hpcrec.thread_rows.items;
    for (size_t i = 0; i < hpcrec.thread_rows.count; i++)
        for (unsigned e = 0; rows[i].changed && e < hpcrec.config.event_count; e++) {
            if (rows[i].lost[e])
                extra_event(e, false);
            if (rows[i].throttled[e])
                extra_event(e, true);
        }
}

static void put_extra_events(struct out *o, size_t from)
{
    const struct extra_event *rows = hpcrec.extra_events.items;
    if (from >= hpcrec.extra_events.count)
        return;
    size_t block = hpcrec_block_begin(o, FORMAT_EVENTS);
    hpcrec_put_uleb(o, hpcrec.extra_events.count - from);
    for (size_t i = from; i < hpcrec.extra_events.count; i++) {
        char name[160];
        struct text t = hpcrec_text(name, sizeof name);
        hpcrec_text_str(&t, hpcrec.config.events[rows[i].event].conf.name);
        hpcrec_text_str(&t, rows[i].throttled ? " throttled" : " lost");
        hpcrec_put_string(o, name);
        hpcrec_put_string(o, rows[i].throttled
                                 ? "number of times the kernel paused sampling because of too many samples"
                                 : "samples lost because a buffer was full");
        hpcrec_put_string(o, "samples");
        hpcrec_put_uleb(o, 0);
        hpcrec_put_uleb(o, RECORD_FLAG_LOST);
    }
    hpcrec_block_end(o, block);
}

static void put_totals(struct out *o, uint32_t thread, const struct thread_row *row)
{
    uint64_t n = 0;
    for (unsigned e = 0; e < hpcrec.config.event_count; e++)
        n += (row->has_total >> e & 1) + (row->lost[e] != 0) + (row->throttled[e] != 0);
    if (n == 0)
        return;
    size_t block = hpcrec_block_begin(o, FORMAT_TOTALS);
    hpcrec_put_uleb(o, thread);
    hpcrec_put_uleb(o, n);
    for (unsigned e = 0; e < hpcrec.config.event_count; e++) {
        if (row->has_total >> e & 1) {
            hpcrec_put_uleb(o, e);
            hpcrec_put_uleb(o, row->total[e]);
        }
        if (row->lost[e]) {
            hpcrec_put_uleb(o, extra_event(e, false));
            hpcrec_put_uleb(o, row->lost[e]);
        }
        if (row->throttled[e]) {
            hpcrec_put_uleb(o, extra_event(e, true));
            hpcrec_put_uleb(o, row->throttled[e]);
        }
    }
    hpcrec_block_end(o, block);
}

static void put_thread_changes(struct out *o, bool all)
{
    struct thread_row *rows = hpcrec.thread_rows.items;
    for (uint32_t i = 0; i < hpcrec.thread_rows.count; i++) {
        struct thread_row *row = &rows[i];
        if (!row->changed && !all)
            continue;
        row->changed = false;
        put_totals(o, i, row);
        if (!row->ended)
            continue;
        size_t block = hpcrec_block_begin(o, FORMAT_THREAD_END);
        hpcrec_put_uleb(o, i);
        hpcrec_put_uleb(o, row->end_ns);
        hpcrec_put_uleb(o, row->cpu_ns);
        hpcrec_put_string(o, row->name);
        hpcrec_block_end(o, block);
    }
}

void hpcrec_missing(const char *sentence)
{
    for (unsigned i = 0; i < hpcrec.missing_count; i++)
        if (strncmp(hpcrec.missing[i], sentence, sizeof hpcrec.missing[i] - 1) == 0)
            return;
    if (hpcrec.missing_count == sizeof hpcrec.missing / sizeof *hpcrec.missing)
        return;
    struct text t = hpcrec_text(hpcrec.missing[hpcrec.missing_count++], sizeof hpcrec.missing[0]);
    hpcrec_text_str(&t, sentence);
}

static void put_missing(struct out *o, unsigned from)
{
    if (from >= hpcrec.missing_count)
        return;
    size_t block = hpcrec_block_begin(o, FORMAT_NOTES);
    hpcrec_put_uleb(o, hpcrec.missing_count - from);
    for (unsigned i = from; i < hpcrec.missing_count; i++) {
        hpcrec_put_string(o, "missing");
        hpcrec_put_string(o, hpcrec.missing[i]);
    }
    hpcrec_block_end(o, block);
}

static void put_end(struct out *o, int status)
{
    uint8_t complete = 1;
    size_t block = hpcrec_block_begin(o, FORMAT_END);
    hpcrec_put_uleb(o, hpcrec_now(CLOCK_REALTIME));
    hpcrec_put_sleb(o, status);
    hpcrec_put(o, &complete, 1);
    hpcrec_block_end(o, block);
}

static void put_file_header(struct out *o)
{
    size_t begin = o->bytes.count;
    hpcrec_put(o, FORMAT_MAGIC, 8);
    hpcrec_put_u32(o, 1);
    hpcrec_put_crc(o, begin);
}

/* All of it, or what came since the last time. */
static void put_everything(struct out *o, bool all)
{
    o->bytes.count = 0;
    o->bytes.full = false;
    make_extra_events();
    if (all) {
        put_file_header(o);
        hpcrec_put(o, hpcrec.head.bytes.items, hpcrec.head.bytes.count);
    }
    if (hpcrec.barriers)
        hpcrec.barriers->resolve();
    put_extra_events(o, all ? 0 : hpcrec.extra_events_written);
    put_modules(o, all ? 0 : hpcrec.modules_written);
    put_regions(o, all ? 0 : hpcrec.regions_written);
    put_contexts(o, all ? 0 : hpcrec.contexts_written);
    put_threads(o, all ? 0 : hpcrec.threads_written);
    hpcrec_put_counts(o, all);
    put_thread_changes(o, all);
    if (hpcrec.barriers)
        hpcrec.barriers->write(o, all);
    put_missing(o, all ? 0 : hpcrec.missing_written);
    hpcrec.extra_events_written = hpcrec.extra_events.count;
    hpcrec.modules_written = hpcrec.modules.count;
    hpcrec.regions_written = hpcrec.regions.count;
    hpcrec.contexts_written = hpcrec.contexts.count;
    hpcrec.threads_written = hpcrec.thread_rows.count;
    hpcrec.missing_written = hpcrec.missing_count;
}

/* ---- where it goes --------------------------------------------------------------------------------------- */

/* Writes at an offset, all or an error; a signal cannot interrupt the helper, a file size limit gives EFBIG. */
static bool write_all(int fd, const uint8_t *p, size_t n, uint64_t at)
{
    while (n > 0) {
        ssize_t done = raw_pwrite(fd, p, n, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            hpcrec.last_errno = done < 0 ? errno : ENOSPC;
            return false;
        }
        p += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return true;
}

static int directory(void)
{
    return hpcrec_held(&hpcrec.dir, hpcrec.config.dir, O_DIRECTORY);
}

static int open_in_dir(const char *name, int flags)
{
    int fd = (int)syscall(SYS_openat, directory(), name, flags | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 && (errno == ENOENT || errno == EBADF) && flags & O_CREAT) { /* the directory was removed */
        hpcrec_fd_close(&hpcrec.dir.fd);
        mkdir(hpcrec.config.dir, 0777);
        fd = (int)syscall(SYS_openat, directory(), name, flags | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666);
    }
    if (fd < 0)
        hpcrec.last_errno = errno;
    return hpcrec_fd_keep(fd);
}

static void remember_file(int fd)
{
    struct stat st;
    if (raw_fstat(fd, &st) < 0)
        return;
    hpcrec.file_dev = (uint64_t)st.st_dev;
    hpcrec.file_ino = (uint64_t)st.st_ino;
}

/* Back to the name without what create_file adds. */
static void drop_ending(void)
{
    memcpy(hpcrec.file_name, hpcrec.plain_name, sizeof hpcrec.plain_name);
}

/* A process number may have been used before in this directory, or the process became another program of the same name:
   then the name gets a count. */
static int create_file(void)
{
    const char *base = hpcrec.plain_name;
    memcpy(hpcrec.plain_name, hpcrec.file_name, sizeof hpcrec.plain_name);
    for (unsigned i = 1; i < 10000; i++) {
        struct text t = hpcrec_text(hpcrec.file_name, sizeof hpcrec.file_name);
        hpcrec_text_str(&t, base);
        if (i > 1) {
            hpcrec_text_str(&t, "-");
            hpcrec_text_u64(&t, i);
        }
        hpcrec_text_str(&t, ".hpcprof");
        int fd = open_in_dir(hpcrec.file_name, O_CREAT | O_EXCL);
        if (fd >= 0 || hpcrec.last_errno != EEXIST) {
            if (fd < 0)
                drop_ending();
            return fd;
        }
    }
    return -1;
}

/* Our descriptor is still our file, and the file is still in a directory. */
static bool file_is_there(void)
{
    struct stat st;
    return hpcrec.file_fd >= 0 && raw_fstat(hpcrec.file_fd, &st) == 0 && (uint64_t)st.st_dev == hpcrec.file_dev &&
           (uint64_t)st.st_ino == hpcrec.file_ino && st.st_nlink > 0;
}

static bool same_file(int fd)
{
    struct stat st;
    return fd >= 0 && raw_fstat(fd, &st) == 0 && (uint64_t)st.st_dev == hpcrec.file_dev &&
           (uint64_t)st.st_ino == hpcrec.file_ino;
}

/* The descriptor may have been closed behind our back: the name leads to the same file again. */
static void find_file_again(void)
{
    if (!hpcrec.created || file_is_there())
        return;
    int fd = open_in_dir(hpcrec.file_name, 0);
    if (same_file(fd)) {
        if (!same_file(hpcrec.file_fd)) /* the old number is not ours any more */
            hpcrec_fd_disown(hpcrec.file_fd);
        hpcrec.file_fd = fd;
        return;
    }
    hpcrec_fd_close(&fd);
    hpcrec.must_rewrite = true;
}

static void name_temp(void)
{
    struct text t = hpcrec_text(hpcrec.temp_name, sizeof hpcrec.temp_name);
    hpcrec_text_str(&t, ".");
    hpcrec_text_str(&t, hpcrec.file_name);
    hpcrec_text_str(&t, ".tmp");
}

static void full_done(int fd, size_t n)
{
    remember_file(fd);
    hpcrec.file_end = hpcrec.full_bytes = n;
    hpcrec.journal_bytes = 0;
    hpcrec.must_rewrite = false;
    hpcrec.failures = 0;
}

static bool first_write(const struct out *o)
{
    int fd = create_file();
    if (fd < 0)
        return false;
    hpcrec.file_fd = fd;
    hpcrec.created = true;
    remember_file(fd);
    if (write_all(fd, o->bytes.items, o->bytes.count, 0)) {
        full_done(fd, o->bytes.count);
        return true;
    }
    /* Part of a file is not a measurement; it is tried again. */
    syscall(SYS_unlinkat, directory(), hpcrec.file_name, 0);
    hpcrec_fd_close(&hpcrec.file_fd);
    hpcrec.created = false;
    drop_ending();
    return false;
}

static bool rewrite(const struct out *o)
{
    int fd = hpcrec.temp_fd;
    hpcrec.temp_fd = -1;
    if (fd < 0)
        return false;
    if (write_all(fd, o->bytes.items, o->bytes.count, 0) &&
        syscall(SYS_renameat, directory(), hpcrec.temp_name, directory(), hpcrec.file_name) == 0) {
        hpcrec_fd_close(&hpcrec.file_fd);
        hpcrec.file_fd = fd;
        full_done(fd, o->bytes.count);
        return true;
    }
    syscall(SYS_unlinkat, directory(), hpcrec.temp_name, 0);
    hpcrec_fd_close(&fd);
    return false;
}

static bool append(const struct out *o)
{
    if (write_all(hpcrec.file_fd, o->bytes.items, o->bytes.count, hpcrec.file_end)) {
        hpcrec.file_end += o->bytes.count;
        hpcrec.journal_bytes += o->bytes.count;
        return true;
    }
    if (raw_ftruncate(hpcrec.file_fd, hpcrec.file_end) < 0)
        hpcrec.last_errno = errno;
    return false;
}

/* A fresh file is worth writing when what was appended is more than it would be. The temporary file is opened first:
   where that is not possible (privileges dropped) appending goes on, and it is tried again when the file has doubled.
 */
static bool decide_full(bool end)
{
    uint64_t most = hpcrec.full_bytes > JOURNAL_MIN ? hpcrec.full_bytes : JOURNAL_MIN;
    if (!hpcrec.created)
        return true;
    if (!hpcrec.must_rewrite && !hpcrec_contexts_are_many() && hpcrec.journal_bytes <= (end ? most / 4 : most))
        return false;
    name_temp();
    hpcrec.temp_fd = open_in_dir(hpcrec.temp_name, O_CREAT | O_TRUNC);
    if (hpcrec.temp_fd < 0 && !hpcrec.must_rewrite)
        hpcrec.full_bytes = hpcrec.journal_bytes * 2;
    return hpcrec.temp_fd >= 0 || hpcrec.must_rewrite;
}

/* After a failure full writes are tried ever more seldom: 1, 2, 4, ... 64 turns apart. */
static bool wait_longer(bool end)
{
    if (hpcrec.failures == 0 || end)
        return false;
    return ++hpcrec.turns_waited < 1u << (hpcrec.failures < 6 ? hpcrec.failures : 6);
}

static void tell_of_moved_contexts(const uint32_t *moved)
{
    hpcrec_paths_moved(moved);
    if (hpcrec.barriers)
        hpcrec.barriers->moved(moved);
}

/* Rows get new numbers, so only where the file is about to be written anew. */
static void thin_paths(void)
{
    bool possible = !hpcrec.created || hpcrec.temp_fd >= 0;
    if (!hpcrec_contexts_are_many())
        return;
    hpcrec_contexts_thin(possible ? tell_of_moved_contexts : NULL);
    if (possible)
        hpcrec_missing("more call paths than are kept: those visited least were cut");
}

void hpcrec_file_encode(bool end, int status)
{
    hpcrec.nothing_to_write = false;
    if (wait_longer(end) || (hpcrec.from_fork && !hpcrec.created && hpcrec.cells.count == 0 &&
                             !(hpcrec.barriers && hpcrec.barriers->seen()) && !hpcrec.keep_empty)) {
        hpcrec.nothing_to_write = true;
        return;
    }
    hpcrec.turns_waited = 0;
    find_file_again();
    if (hpcrec.failures)
        hpcrec_missing(hpcrec.last_errno == ENOSPC || hpcrec.last_errno == EDQUOT
                           ? "the disk was full for some time: counts were kept in memory until it had space"
                           : "the file could not be written for some time: counts were kept in memory until then");
    hpcrec.writing_full = decide_full(end);
    thin_paths();
    put_everything(&hpcrec.out, hpcrec.writing_full);
    if (end)
        put_end(&hpcrec.out, status);
}

/* The last resort: unwritten data are at least reported, in the few bytes that the file's last disk block has left. */
static void write_epitaph(void)
{
    struct out *o = &hpcrec.out;
    if (!hpcrec.created || hpcrec.file_fd < 0)
        return;
    hpcrec.missing_count = 0;
    hpcrec_missing(hpcrec.last_errno == ENOSPC || hpcrec.last_errno == EDQUOT
                       ? "the disk was full: the last counts are missing"
                       : "the file could not be written: the last counts are missing");
    o->bytes.count = 0;
    put_missing(o, 0);
    if (!append(o))
        hpcrec.last_errno = errno;
}

void hpcrec_file_write(bool end)
{
    const struct out *o = &hpcrec.out;
    bool done = false;
    if (hpcrec.nothing_to_write)
        return;
    if (!o->bytes.full && o->bytes.count > 0) {
        if (!hpcrec.created)
            done = first_write(o);
        else if (hpcrec.writing_full)
            done = rewrite(o);
        else
            done = append(o);
    }
    if (done || o->bytes.count == 0)
        return;
    hpcrec.must_rewrite = true;
    hpcrec.failures++;
    if (end)
        write_epitaph();
}

/* In a fork child: the parent's file is the parent's. */
void hpcrec_file_forget(void)
{
    hpcrec.dir.fd = hpcrec.file_fd = hpcrec.temp_fd = -1;
    hpcrec.created = hpcrec.must_rewrite = hpcrec.keep_empty = false;
    hpcrec.file_end = hpcrec.full_bytes = hpcrec.journal_bytes = 0;
    hpcrec.modules_written = hpcrec.contexts_written = hpcrec.regions_written = hpcrec.threads_written =
        hpcrec.extra_events_written = 0;
    hpcrec.missing_count = hpcrec.missing_written = hpcrec.failures = hpcrec.turns_waited = 0;
    hpcrec.threads_seen = 0;
}
