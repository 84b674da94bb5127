/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: mapped in, and out only whole. */
#include "support/support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- in: files that become shorter while they are mapped ---- */

/*
 * The system answers a read behind the new end with SIGBUS. Then the pages from there on become empty ones, the file is
 * noted as damaged, and the reading goes on to its end; nothing that was made meanwhile is committed.
 */
enum { MAPS_WATCHED = 1024 }; /* files beyond that many open ones are read, not mapped */

static struct watched {
    _Atomic uintptr_t begin, end; /* end 0: free */
    char *path;
} watched[MAPS_WATCHED];
static char shrunk_path[4096]; /* the first one */
static _Atomic bool shrunk;
static struct sigaction before_ours;
static size_t page_bytes;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static struct watched *watched_at(uintptr_t address)
{
    for (size_t i = 0; i < MAPS_WATCHED; i++)
        if (address >= atomic_load(&watched[i].begin) && address < atomic_load(&watched[i].end))
            return &watched[i];
    return NULL;
}

static void note_shrunk(const char *path)
{
    if (atomic_exchange(&shrunk, true))
        return;
    for (size_t i = 0; i < sizeof shrunk_path - 1 && path[i]; i++)
        shrunk_path[i] = path[i];
}

static void on_bus_error(int sig, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(page_bytes - 1);
    struct watched *w = watched_at((uintptr_t)info->si_addr);
    (void)context;
    uintptr_t end = w ? (atomic_load(&w->end) + page_bytes - 1) & ~(uintptr_t)(page_bytes - 1) : 0;
    if (w && mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
        note_shrunk(w->path);
    else
        sigaction(sig, &before_ours, NULL); /* not ours: it is raised again, for its owner */
    errno = saved_errno;
}

static void begin_watching(void)
{
    struct sigaction act = {.sa_flags = SA_SIGINFO};
    act.sa_sigaction = on_bus_error;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    sigaction(SIGBUS, &act, &before_ours);
}

/* false: too many are open. */
static bool watch(const void *bytes, size_t len, const char *path)
{
    pthread_once(&watching, begin_watching);
    for (size_t i = 0; i < MAPS_WATCHED; i++) {
        uintptr_t free_slot = 0;
        if (!atomic_compare_exchange_strong(&watched[i].begin, &free_slot, (uintptr_t)bytes))
            continue;
        watched[i].path = mem_strdup(path);
        atomic_store(&watched[i].end, (uintptr_t)bytes + len);
        return true;
    }
    return false;
}

static void unwatch(const void *bytes)
{
    struct watched *w = watched_at((uintptr_t)bytes);
    if (!w)
        return;
    atomic_store(&w->end, 0);
    mem_free(w->path);
    w->path = NULL;
    atomic_store(&w->begin, 0);
}

int filemap_check(struct err *err)
{
    if (!atomic_load(&shrunk))
        return 0;
    return err_set(err, ERR_SYSTEM, "%s: the file shrank while it was read; its contents are not used", shrunk_path);
}

/* ---- in: files and pipes ---- */

/* With a writer there the wait is the writer's business; without one it is not long. */
static int wait_for_writer(int fd, const char *path, struct err *err)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    int n;
    do
        n = poll(&waiting, 1, LIMIT_PIPE_SECONDS * 1000);
    while (n < 0 && errno == EINTR);
    if (n != 0)
        return 0;
    return err_set(err, ERR_SYSTEM, "%s: a pipe without a writer; gave up after %d seconds", path, LIMIT_PIPE_SECONDS);
}

static void wait_for_bytes(int fd)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    (void)!poll(&waiting, 1, -1);
}

/* The descriptor does not block: a pipe that never had a writer gives 0 at once, one with a writer EAGAIN. */
static int read_all(int fd, bool pipe, struct filemap *map, const char *path, struct err *err)
{
    struct buf all = {0};
    char part[65536];
    int status = 0;
    bool waited = !pipe;
    buf_char(&all, '\0'); /* of an empty file, too, there is a place where it begins */
    all.len = 0;
    while (status == 0) {
        ssize_t n = read(fd, part, sizeof part);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN && pipe)
            wait_for_bytes(fd);
        else if (n < 0)
            status = err_errno(err, path, "cannot be read");
        else if (n == 0 && (waited || all.len))
            break;
        else if (n == 0)
            status = wait_for_writer(fd, path, err);
        else
            buf_add(&all, part, (size_t)n);
        waited = waited || n == 0;
        if (all.len > LIMIT_STREAM_BYTES)
            status = err_set(err, ERR_LIMIT, "%s: a pipe with more than %u bytes (LIMIT_STREAM_BYTES)", path,
                             LIMIT_STREAM_BYTES);
    }
    if (status < 0) {
        buf_release(&all);
        return -1;
    }
    map->bytes = (const uint8_t *)all.bytes;
    map->len = all.len;
    return 0;
}

static int map_file(int fd, size_t size, struct filemap *map, const char *path, struct err *err)
{
    void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return err_errno(err, path, "cannot be mapped");
    if (!watch(p, size, path)) {
        munmap(p, size);
        return read_all(fd, false, map, path, err);
    }
    *map = (struct filemap){.bytes = p, .len = size, .mapped = true};
    return 0;
}

/* /dev/null is an empty file; other devices give bytes without end, or wait for somebody to type. */
static bool is_device(const struct stat *st)
{
    return S_ISBLK(st->st_mode) || (S_ISCHR(st->st_mode) && st->st_rdev != makedev(1, 3));
}

int filemap_open(struct filemap *map, const char *path, struct err *err)
{
    struct stat st;
    int status = 0;
    *map = (struct filemap){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_errno(err, path, "cannot be opened");
    if (fstat(fd, &st) != 0)
        status = err_errno(err, path, "cannot be opened");
    else if (S_ISDIR(st.st_mode))
        status = err_set(err, ERR_SYSTEM, "%s: is a folder, not a file", path);
    else if (is_device(&st))
        status = err_set(err, ERR_SYSTEM, "%s: is a device, not a file", path);
    else if (!S_ISREG(st.st_mode) || st.st_size == 0)
        status = read_all(fd, S_ISFIFO(st.st_mode), map, path, err); /* pipes; and /proc, whose files have no size */
    else
        status = map_file(fd, (size_t)st.st_size, map, path, err);
    close(fd);
    return status;
}

void filemap_forget(const struct filemap *map)
{
    if (map->mapped)
        madvise((void *)(uintptr_t)map->bytes, map->len, MADV_DONTNEED);
}

void filemap_pass_(struct filemap *map, const void *at)
{
    size_t to = (size_t)((const uint8_t *)at - map->bytes) & ~(size_t)0xffff; /* whole pages, of 64 KiB too */
    if (map->mapped && to > map->passed)
        madvise((void *)(uintptr_t)(map->bytes + map->passed), to - map->passed, MADV_DONTNEED);
    map->passed = to > map->passed ? to : map->passed;
}

void filemap_release(struct filemap *map)
{
    if (map->mapped) {
        unwatch(map->bytes);
        munmap((void *)map->bytes, map->len);
    } else {
        mem_free((void *)map->bytes);
    }
    *map = (struct filemap){0};
}

/* The folder has no file of that name: those that it has. */
static int list_named(const char *word, const char *dir, const char *what, struct err *err)
{
    struct text_list files = {0};
    struct buf names = {0};
    if (dir_list(dir, ".xml", "reading the folder", &files, err) < 0)
        return -1;
    buf_str(&names, "");
    for (size_t i = 0; i < files.count; i++)
        buf_printf(&names, "%s%.*s", i ? ", " : "", (int)strlen(path_base(files.items[i])) - 4,
                   path_base(files.items[i]));
    err_set(err, ERR_USAGE, "'%s' is not %s of %s; available: %s", word, what, dir, names.bytes);
    buf_release(&names);
    text_list_release(&files);
    return -1;
}

int filemap_open_named(struct filemap *map, const char *word, const char *dir, const char *what, char **path,
                       struct err *err)
{
    bool named = dir && !strchr(word, '/') && !str_ends(word, ".xml");
    *path = named ? mem_printf("%s/%s.xml", dir, word) : mem_strdup(word);
    if (named && access(*path, F_OK) != 0 && errno == ENOENT)
        return list_named(word, dir, what, err);
    if (filemap_open(map, *path, err) < 0)
        return -1;
    if (map->len <= LIMIT_CONFIG_BYTES)
        return 0;
    filemap_release(map);
    return err_set(err, ERR_LIMIT, "%s: too large for %s (at most %u MB)", *path, what, LIMIT_CONFIG_BYTES >> 20);
}

/* ---- out: incomplete files ---- */

/* A table of its own, without memory of the heap and without a lock: it is used when memory is out, and in handlers of
   signals. */
enum { HALF_MOST = 64 };
static struct half {
    _Atomic bool taken, whole; /* whole: the path is there to its end */
    char path[4096];
} halves[HALF_MOST];

static struct half *half_begin(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; n < sizeof halves->path && i < HALF_MOST; i++) {
        if (atomic_exchange(&halves[i].taken, true))
            continue;
        memcpy(halves[i].path, path, n + 1);
        atomic_store(&halves[i].whole, true);
        return &halves[i];
    }
    return NULL;
}

static void half_end(struct half *h)
{
    if (!h)
        return;
    atomic_store(&h->whole, false);
    atomic_store(&h->taken, false);
}

struct entry64 { /* linux_dirent64, getdents(2) */
    uint64_t ino, off;
    uint16_t length;
    uint8_t type;
    char name[];
};

static int remove_at(int dir, const char *name, unsigned depth);

/* One round over a folder's entries: how many were removed; -1: one cannot be. */
static int remove_entries(int fd, unsigned depth)
{
    _Alignas(8) char bytes[4096];
    int removed = 0;
    long n = lseek(fd, 0, SEEK_SET) < 0 ? -1 : syscall(SYS_getdents64, fd, bytes, sizeof bytes);
    for (long at = 0; at < n && removed >= 0;) {
        const struct entry64 *entry = (const struct entry64 *)(bytes + at);
        at += entry->length;
        if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
            continue;
        removed = remove_at(fd, entry->name, depth + 1) < 0 ? -1 : removed + 1;
    }
    return n < 0 ? -1 : removed;
}

/* A file, or a folder with all that is in it; no symbolic link is followed. errno says why it fails. */
static int remove_at(int dir, const char *name, unsigned depth)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if ((errno != EISDIR && errno != EPERM) || depth > LIMIT_SOURCE_DEPTH)
        return -1;
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), removed;
    if (fd < 0)
        return -1;
    while ((removed = remove_entries(fd, depth)) > 0)
        ;
    int error = errno;
    close(fd);
    errno = error;
    return removed < 0 ? -1 : unlinkat(dir, name, AT_REMOVEDIR);
}

void outputs_abandon(void)
{
    for (size_t i = 0; i < HALF_MOST; i++)
        if (atomic_load(&halves[i].whole))
            remove_at(AT_FDCWD, halves[i].path, 0);
}

/* ---- out: one file ---- */

struct outfile {
    char *path;      /* as given, for messages */
    char *place;     /* where the result goes: the end of symbolic links */
    char *temporary; /* NULL: written to fd as it comes */
    struct half *half;
    struct buf *into; /* NULL: a file */
    int fd;
    int first_errno;
    size_t used;
    char pending[65536];
};

/* A device, a pipe: must not be replaced by a file (root's -o /dev/null would leave a file there), and cannot be
 * partial. */
static bool is_stream(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static void open_beside(struct outfile *f)
{
    f->temporary = mem_printf("%s.XXXXXX", f->place);
    f->fd = mkostemp(f->temporary, O_CLOEXEC);
    if (f->fd < 0)
        return;
    f->half = half_begin(f->temporary);
    mode_t mask = umask(0); /* mkostemp gives 0600; a result is for everybody the user lets read */
    umask(mask);
    (void)!fchmod(f->fd, 0666 & ~mask);
}

static void outfile_free(struct outfile *f)
{
    if (f->fd >= 0 && f->fd != STDOUT_FILENO)
        close(f->fd);
    half_end(f->half);
    mem_free(f->temporary);
    mem_free(f->place);
    mem_free(f->path);
    mem_free(f);
}

int outfile_create(const char *path, struct outfile **out, struct err *err)
{
    struct outfile *f = mem_calloc(1, sizeof *f);
    char *end = realpath(path, NULL);
    f->path = mem_strdup(path);
    f->place = mem_strdup(end ? end : path);
    free(end);
    *out = NULL;
    if (strcmp(path, "-") == 0)
        f->fd = STDOUT_FILENO;
    else if (is_stream(path))
        f->fd = open(path, O_WRONLY | O_CLOEXEC);
    else
        open_beside(f);
    if (f->fd < 0) {
        err_errno(err, path, "cannot be written");
        outfile_free(f);
        return -1;
    }
    *out = f;
    return 0;
}

struct outfile *outfile_into(struct buf *into)
{
    struct outfile *f = mem_calloc(1, sizeof *f);
    f->into = into;
    f->fd = -1;
    return f;
}

static void write_through(struct outfile *f, const char *bytes, size_t n)
{
    if (f->into) {
        buf_add(f->into, bytes, n);
        return;
    }
    while (n && !f->first_errno) {
        ssize_t done = write(f->fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            f->first_errno = errno;
            return;
        }
        bytes += done;
        n -= (size_t)done;
    }
}

static void flush(struct outfile *f)
{
    write_through(f, f->pending, f->used);
    f->used = 0;
}

void outfile_write(struct outfile *f, const void *bytes, size_t n)
{
    if (n > sizeof f->pending - f->used) {
        flush(f);
        if (n >= sizeof f->pending) {
            write_through(f, bytes, n);
            return;
        }
    }
    if (n)
        memcpy(f->pending + f->used, bytes, n);
    f->used += n;
}

void outfile_take(struct outfile *f, struct buf *b)
{
    outfile_write(f, b->bytes, b->len);
    buf_release(b);
}

void outfile_printf(struct outfile *f, const char *fmt, ...)
{
    char small[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n < sizeof small) {
        outfile_write(f, small, (size_t)n);
        return;
    }
    char *text = mem_alloc((size_t)n + 1);
    va_start(args, fmt);
    vsnprintf(text, (size_t)n + 1, fmt, args);
    va_end(args);
    outfile_write(f, text, (size_t)n);
    mem_free(text);
}

int outfile_commit(struct outfile *f, struct err *err)
{
    int status = 0;
    flush(f);
    if (filemap_check(err) < 0) {
        outfile_abandon(f);
        return -1;
    }
    if (!f->first_errno && f->temporary && rename(f->temporary, f->place) != 0)
        f->first_errno = errno;
    if (f->first_errno) {
        errno = f->first_errno;
        status = err_errno(err, strcmp(f->path, "-") == 0 ? "standard output" : f->path, "cannot be written");
        if (f->temporary)
            unlink(f->temporary);
    }
    outfile_free(f);
    return status;
}

void outfile_abandon(struct outfile *f)
{
    if (!f)
        return;
    if (f->temporary)
        unlink(f->temporary);
    outfile_free(f);
}

/* ---- out: a folder ---- */

int dir_remove_tree(const char *path, struct err *err)
{
    return remove_at(AT_FDCWD, path, 0) == 0 ? 0 : err_errno(err, path, "cannot be removed");
}

struct outdir {
    char *path, *temporary;
    struct half *half;
};

static bool holds_nothing_else(const char *path, const char *marker)
{
    char *inside = path_join(path, marker);
    bool ours = access(inside, F_OK) == 0;
    mem_free(inside);
    if (ours)
        return true;
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    bool empty = true;
    for (struct dirent *e; empty && (e = readdir(dir));)
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    closedir(dir);
    return empty;
}

static char *without_trailing_slashes(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return mem_strndup(path, n);
}

int outdir_create(const char *path, const char *marker, struct outdir **out, struct err *err)
{
    struct stat st;
    *out = NULL;
    if (lstat(path, &st) == 0) {
        if (!S_ISDIR(st.st_mode))
            return err_set(err, ERR_SYSTEM, "%s: exists and is not a folder; choose another name", path);
        if (!holds_nothing_else(path, marker))
            return err_set(err, ERR_SYSTEM, "%s: contains other files (and no %s); choose a new folder", path, marker);
    }
    struct outdir *d = mem_calloc(1, sizeof *d);
    d->path = without_trailing_slashes(path);
    const char *base = path_base(d->path);
    char *parent = base > d->path + 1 ? mem_strndup(d->path, (size_t)(base - d->path - 1)) : NULL;
    int status = parent ? dir_make(parent, err) : 0;
    mem_free(parent);
    d->temporary = mem_printf("%s.XXXXXX", d->path);
    if (status == 0 && !mkdtemp(d->temporary))
        status = err_errno(err, path, "cannot be created");
    if (status < 0) {
        mem_free(d->temporary);
        mem_free(d->path);
        mem_free(d);
        return -1;
    }
    d->half = half_begin(d->temporary);
    mode_t mask = umask(0);
    umask(mask);
    (void)!chmod(d->temporary, 0777 & ~mask);
    *out = d;
    return 0;
}

const char *outdir_path(const struct outdir *d)
{
    return d->temporary;
}

static void outdir_release(struct outdir *d)
{
    half_end(d->half);
    mem_free(d->temporary);
    mem_free(d->path);
    mem_free(d);
}

int outdir_commit(struct outdir *d, struct err *err)
{
    int status = 0;
    if (filemap_check(err) < 0) {
        outdir_abandon(d);
        return -1;
    }
    char *old = mem_printf("%s.old", d->temporary);
    bool had_old = rename(d->path, old) == 0;
    if (rename(d->temporary, d->path) != 0) {
        status = err_errno(err, d->path, "cannot be written");
        if (had_old)
            (void)!rename(old, d->path);
        dir_remove_tree(d->temporary, NULL);
    } else if (had_old)
        status = dir_remove_tree(old, err);
    mem_free(old);
    outdir_release(d);
    return status;
}

void outdir_abandon(struct outdir *d)
{
    if (!d)
        return;
    dir_remove_tree(d->temporary, NULL);
    outdir_release(d);
}
