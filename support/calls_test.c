/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files and child processes (files.c, child.c) when system calls fail, are interrupted, or process less than requested.
 * Successful calls set errno, which must be ignored.
 */
#undef clock_gettime
#undef close
#undef fcntl
#undef fstat
#undef lseek
#undef madvise
#undef mkostemp
#undef mmap
#undef nanosleep
#undef openat
#undef poll
#undef posix_spawn
#undef posix_spawn_file_actions_adddup2
#undef posix_spawn_file_actions_init
#undef read
#undef rename
#undef send
#undef socketpair
#undef syscall
#undef unlinkat
#undef waitpid
#undef write
#include "support/support.h"
#include "tests/tap.h"

#include <sys/sysmacros.h>

/* ---- the world ------------------------------------------------------------------------------------------------------- */

static struct plan {
    const char *call;
    int after, error, times; /* number of successful calls, followed by the number of failing ones */
    int seen;
} plan;
static size_t most_at_once = SIZE_MAX;          /* bytes that one call writes or sends */
static struct buf noted;                        /* timeouts and released memory */
static unsigned sent_nothing, writes, not_yet;  /* not_yet: number of waits that find no ended child */
static unsigned most_open;                      /* descriptors, while it is waited for a program */
static int left_behind = EINTR;                 /* errno after successful calls */
static void (*while_waiting)(int milliseconds); /* polling is done by it; NULL: by the system */
static int poll_answer;
static bool clock_is_set, time_jumps;
static unsigned clock_asked;
static struct stat fake_stat; /* st_mode 0: not used */
static struct {
    void *at;
    size_t n;
} put_over;              /* the last fixed mapping */
static char *next_place; /* where the next file is mapped; NULL: wherever the system likes */

static bool fails(const char *call)
{
    if (!plan.call || strcmp(plan.call, call) != 0 || plan.times == 0 || plan.seen++ < plan.after)
        return false;
    plan.times--;
    errno = plan.error;
    return true;
}

static void fail(const char *call, int after, int error, int times)
{
    plan = (struct plan){call, after, error, times, 0};
    noted.len = 0;
    buf_str(&noted, "");
}

static unsigned descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static long well(long answer)
{
    if (answer >= 0)
        errno = left_behind;
    return answer;
}

/* Each reading advances the clock by half a second; or it is stopped until it jumps exactly past the deadline. */
int world_clock_gettime(clockid_t which, struct timespec *t)
{
    int answer = clock_gettime(which, t);
    if (clock_is_set) {
        *t = (struct timespec){.tv_sec = 100, .tv_nsec = clock_asked ? 500000000 : 0};
        if (time_jumps && clock_asked)
            *t = (struct timespec){.tv_sec = 102, .tv_nsec = 500000000};
        clock_asked++;
    }
    return answer;
}

int world_close(int fd)
{
    return (int)well(close(fd));
}

int world_fcntl(int fd, int what, int value)
{
    return fails("fcntl") ? -1 : fcntl(fd, what, value);
}

int world_fstat(int fd, struct stat *st)
{
    if (fails("fstat"))
        return -1;
    int answer = fstat(fd, st);
    if (fake_stat.st_mode)
        *st = fake_stat;
    return answer;
}

off_t world_lseek(int fd, off_t to, int from)
{
    return fails("lseek") ? -1 : lseek(fd, to, from);
}

int world_madvise(void *p, size_t n, int advice)
{
    buf_printf(&noted, "given back %zu ", n);
    return madvise(p, n, advice);
}

int world_mkostemp(char *path, int flags)
{
    return fails("mkostemp") ? -1 : mkostemp(path, flags);
}

void *world_mmap(void *at, size_t n, int may, int how, int fd, off_t from)
{
    if (fails("mmap"))
        return MAP_FAILED;
    if (how & MAP_FIXED)
        put_over.at = at, put_over.n = n;
    void *p =
        next_place && fd >= 0 ? mmap(next_place, n, may, how | MAP_FIXED, fd, from) : mmap(at, n, may, how, fd, from);
    if (next_place && fd >= 0)
        next_place += n;
    errno = p == MAP_FAILED ? errno : left_behind;
    return p;
}

int world_nanosleep(const struct timespec *t, struct timespec *left)
{
    if (t->tv_sec || t->tv_nsec < 1000 || t->tv_nsec > 10000000)
        buf_str(&noted, "slept long ");
    return nanosleep(t, left);
}

int world_openat(int dir, const char *path, int flags)
{
    return fails("openat") ? -1 : (int)well(openat(dir, path, flags));
}

int world_poll(struct pollfd *fds, nfds_t n, int milliseconds)
{
    unsigned open_now = descriptors();
    buf_printf(&noted, "%d ", milliseconds);
    most_open = open_now > most_open ? open_now : most_open;
    if (n != 1 && n != 3)
        buf_str(&noted, "of too many ");
    if (fails("poll"))
        return -1;
    if (!while_waiting)
        return (int)well(poll(fds, n, milliseconds));
    while_waiting(milliseconds);
    return (int)well(poll_answer);
}

int world_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const *argv, char *const *environment)
{
    return fails("posix_spawn") ? plan.error : posix_spawn(pid, path, actions, attributes, argv, environment);
}

int world_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int from, int to)
{
    if (to > STDERR_FILENO)
        buf_str(&noted, "given more ");
    return fails("adddup2") ? plan.error : posix_spawn_file_actions_adddup2(actions, from, to);
}

int world_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions)
{
    return fails("actions_init") ? plan.error : posix_spawn_file_actions_init(actions);
}

ssize_t world_read(int fd, void *to, size_t n)
{
    return fails("read") ? -1 : well(read(fd, to, n));
}

int world_rename(const char *from, const char *to)
{
    return fails("rename") ? -1 : rename(from, to);
}

ssize_t world_send(int fd, const void *from, size_t n, int flags)
{
    sent_nothing += n == 0;
    return fails("send") ? -1 : well(send(fd, from, n < most_at_once ? n : most_at_once, flags));
}

int world_socketpair(int family, int type, int protocol, int pair[2])
{
    return fails("socketpair") ? -1 : socketpair(family, type, protocol, pair);
}

long world_syscall(long number, int fd, void *to, size_t n)
{
    return fails("getdents") ? -1 : well(syscall(number, fd, to, n));
}

int world_unlinkat(int dir, const char *path, int flags)
{
    return fails("unlinkat") ? -1 : unlinkat(dir, path, flags);
}

pid_t world_waitpid(pid_t pid, int *status, int flags)
{
    if (fails("waitpid"))
        return -1;
    if ((flags & WNOHANG) && not_yet && not_yet--)
        return (pid_t)well(0);
    return (pid_t)well(waitpid(pid, status, flags));
}

ssize_t world_write(int fd, const void *from, size_t n)
{
    writes++;
    return fails("write") ? -1 : well(write(fd, from, n < most_at_once ? n : most_at_once));
}

/* ---- common helpers ---------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/calls_test.XXXXXX";

static const char *in_folder(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        perror(path);
}

/* -1: cannot be opened. */
static long long size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (long long)st.st_size : -1;
}

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

/* An error message: PATH: WHAT, followed by the system's message. */
static void check_says(const struct err *e, const char *path, const char *what, int error)
{
    char *want = error ? mem_printf("%s: %s: %s", path, what, strerror(error)) : mem_printf("%s: %s", path, what);
    CHECK_STR(e->msg, want);
    CHECK_INT(e->kind, ERR_SYSTEM);
    mem_free(want);
}

/* ---- files that are read ------------------------------------------------------------------------------------------------ */

static const char *pipe_path;
static const char *const *pieces; /* by a writer that appears once the reader waits; NULL: it leaves */
static int writer = -1;

static void next_piece(int milliseconds)
{
    (void)milliseconds;
    poll_answer = 1;
    if (writer < 0)
        writer = open(pipe_path, O_WRONLY | O_CLOEXEC);
    if (*pieces && write(writer, *pieces, strlen(*pieces)) < 0)
        perror(pipe_path);
    if (!*pieces++) {
        close(writer);
        writer = -1;
    }
}

static void nobody_comes(int milliseconds)
{
    (void)milliseconds;
    poll_answer = 0;
}

/* All data written to a pipe is read, despite interruptions; the length of each wait is logged. */
static void test_pipes(void)
{
    static const char *const several[] = {"one", "two", "three", NULL}, *const none[] = {NULL};
    static const struct {
        const char *const *pieces;
        const char *call;
        int after, error, times;
        const char *want, *waits;
    } cases[] = {
        {several, NULL, 0, 0, 0, "onetwothree", "10000 -1 -1 -1 "},
        {several, "read", 0, EINTR, 3, "onetwothree", "10000 -1 -1 -1 "},
        {several, "read", 2, EINTR, 1, "onetwothree", "10000 -1 -1 -1 "},
        {several, "poll", 0, EINTR, 2, "onetwothree", "10000 10000 10000 -1 -1 -1 "},
        {several, "poll", 1, EINTR, 2, "onetwothree", "10000 -1 -1 -1 -1 -1 "},
        {several, "poll", 0, ENOMEM, 1, "", "10000 "},
        {none, NULL, 0, 0, 0, "", "10000 "},
        {several, "read", 1, EIO, 1, NULL, "10000 "},
        {several, "read", 3, EIO, 1, NULL, "10000 -1 "},
    };
    pipe_path = in_folder("pipe");
    CHECK_INT(mkfifo(pipe_path, 0600), 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct filemap map;
        struct err e = {0};
        unsigned before = descriptors();
        pieces = cases[i].pieces;
        while_waiting = next_piece;
        fail(cases[i].call, cases[i].after, cases[i].error, cases[i].times);
        CHECK_INT(filemap_open(&map, pipe_path, &e), cases[i].want ? 0 : -1);
        CHECK_STR(noted.bytes, cases[i].waits);
        if (cases[i].want) {
            CHECK_STR((const char *)map.bytes, cases[i].want); /* (it ends with a zero) */
            CHECK_INT(map.len, strlen(cases[i].want));
            filemap_release(&map);
        } else
            check_says(&e, pipe_path, "cannot be read", cases[i].error);
        if (writer >= 0)
            close(writer);
        writer = -1;
        CHECK_INT(descriptors(), before);
    }
    struct filemap map;
    struct err e = {0};
    while_waiting = nobody_comes;
    fail(NULL, 0, 0, 0);
    CHECK_INT(filemap_open(&map, pipe_path, &e), -1);
    check_says(&e, pipe_path, "a pipe without a writer; gave up after 10 seconds", 0);
    CHECK_STR(noted.bytes, "10000 ");
    while_waiting = NULL;
}

static void test_unreadable(void)
{
    static const struct {
        const char *path, *call, *what;
        int error;
    } cases[] = {
        {"/proc/self/status", "read", "cannot be read", EIO},
        {"/proc/self/status", "read", "cannot be read", EAGAIN}, /* no waiting except on pipes */
        {"whole", "fstat", "cannot be opened", ENOMEM},
        {"whole", "mmap", "cannot be mapped", ENOMEM},
    };
    put_file(in_folder("whole"), "words", 5);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *path = cases[i].path[0] == '/' ? cases[i].path : in_folder(cases[i].path);
        struct filemap map;
        struct err e = {0};
        unsigned before = descriptors();
        fail(cases[i].call, 0, cases[i].error, 1);
        CHECK_INT(filemap_open(&map, path, &e), -1);
        check_says(&e, path, cases[i].what, cases[i].error);
        CHECK_STR(noted.bytes, "");
        CHECK_INT(descriptors(), before);
    }
}

/* The kind and identity of the file determine how it is read. */
static void test_kinds(void)
{
    static const struct {
        mode_t mode;
        unsigned major, minor;
        off_t size;
        const char *refused;
        bool mapped;
    } cases[] = {
        {S_IFREG, 0, 0, 5, NULL, true},
        {S_IFREG, 0, 0, 0, NULL, false},
        {S_IFSOCK, 0, 0, 5, NULL, false},
        {S_IFCHR, 1, 3, 0, NULL, false},
        {S_IFCHR, 1, 5, 0, "is a device, not a file", false},
        {S_IFCHR, 3, 3, 0, "is a device, not a file", false},
        {S_IFBLK, 1, 3, 0, "is a device, not a file", false},
        {S_IFBLK, 8, 0, 5, "is a device, not a file", false},
        {S_IFDIR, 0, 0, 5, "is a folder, not a file", false},
    };
    fail(NULL, 0, 0, 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *path = in_folder("whole");
        struct filemap map;
        struct err e = {0};
        fake_stat.st_mode = cases[i].mode | 0600;
        fake_stat.st_rdev = makedev(cases[i].major, cases[i].minor);
        fake_stat.st_size = cases[i].size;
        CHECK_INT(filemap_open(&map, path, &e), cases[i].refused ? -1 : 0);
        if (cases[i].refused)
            check_says(&e, path, cases[i].refused, 0);
        else {
            CHECK_INT(map.mapped, cases[i].mapped);
            CHECK(map.len == 5 && memcmp(map.bytes, "words", 5) == 0);
            filemap_release(&map);
        }
    }
    fake_stat.st_mode = 0;
}

/* Each byte read is released once, in pieces of 64 KiB; unmapped memory is not. */
static void test_given_back(void)
{
    enum { SIZE = 400000 };
    static const struct {
        size_t at;
        const char *want;
    } steps[] = {{0, ""},
                 {65535, ""},
                 {65536, "given back 65536 "},
                 {65536, ""},
                 {200000, "given back 131072 "},
                 {100000, ""},
                 {262143, ""},
                 {262144, "given back 65536 "},
                 {SIZE, "given back 131072 "}};
    static uint8_t bytes[SIZE];
    struct filemap map, small = {.bytes = bytes, .len = SIZE};
    struct err e = {0};
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)hash_mix(i);
    put_file(in_folder("long"), bytes, SIZE);
    if (!CHECK_INT(filemap_open(&map, in_folder("long"), &e), 0))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        fail(NULL, 0, 0, 0);
        filemap_pass_(&map, map.bytes + steps[i].at);
        filemap_pass_(&small, small.bytes + steps[i].at);
        CHECK_STR(noted.bytes, steps[i].want);
        CHECK_INT(small.passed, map.passed);
    }
    CHECK_NAMED(memcmp(map.bytes, bytes, SIZE) == 0, "it comes back");
    fail(NULL, 0, 0, 0);
    filemap_forget(&small);
    filemap_forget(&map);
    CHECK_STR(noted.bytes, "given back 400000 ");
    filemap_release(&map);
}

/* ---- files that are written ------------------------------------------------------------------------------------------------ */

/* All data is written despite interruptions and short writes; after an error nothing more is written, and the first
   error is reported. */
static void test_writing(void)
{
    enum { SIZE = 150000 };
    static const struct {
        size_t most;
        int after, error, times;
        unsigned writes; /* 0: as many as necessary */
    } cases[] = {
        {SIZE_MAX, 0, EINTR, 3, 0}, {999, 10, EINTR, 2, 0},      {1, 0, 0, 0, 0},
        {999, 5, ENOSPC, 1, 6},     {SIZE_MAX, 0, ENOSPC, 1, 1}, {SIZE_MAX, 1, EIO, 1, 2},
    };
    static char bytes[SIZE];
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)hash_mix(i);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *path = in_folder("out");
        size_t n = cases[i].most == 1 ? 2000 : SIZE, before = entries(folder);
        bool good = cases[i].error == EINTR || cases[i].error == 0;
        struct outfile *f;
        struct err e = {0};
        CHECK_INT(outfile_create(path, &f, &e), 0);
        writes = 0;
        most_at_once = cases[i].most;
        fail("write", cases[i].after, cases[i].error, cases[i].times);
        outfile_write(f, bytes, n / 3);
        outfile_write(f, bytes + n / 3, n - n / 3);
        CHECK_INT(outfile_commit(f, &e), good ? 0 : -1);
        most_at_once = SIZE_MAX;
        CHECK_INT(entries(folder), before + good);
        if (good) {
            struct filemap map;
            CHECK_INT(filemap_open(&map, path, &e), 0);
            CHECK(map.len == n && memcmp(map.bytes, bytes, n) == 0);
            filemap_release(&map);
            CHECK_INT(unlink(path), 0);
        } else {
            check_says(&e, path, "cannot be written", cases[i].error);
            CHECK_INT(writes, cases[i].writes);
        }
    }
}

static void test_not_kept(void)
{
    struct outfile *f;
    struct err e = {0};
    size_t before = entries(folder);
    unsigned open_before = descriptors();
    fail("mkostemp", 0, EACCES, 1);
    CHECK_INT(outfile_create(in_folder("out"), &f, &e), -1);
    check_says(&e, in_folder("out"), "cannot be written", EACCES);
    fail("rename", 0, EXDEV, 1);
    CHECK_INT(outfile_create(in_folder("out"), &f, &e), 0);
    CHECK_INT(outfile_commit(f, &e), -1);
    check_says(&e, in_folder("out"), "cannot be written", EXDEV);
    CHECK_INT(entries(folder), before);
    fail("write", 0, EIO, 1);
    CHECK_INT(outfile_create("-", &f, &e), 0);
    outfile_printf(f, "not seen");
    CHECK_INT(outfile_commit(f, &e), -1);
    check_says(&e, "standard output", "cannot be written", EIO);
    CHECK_NAMED(fcntl(STDOUT_FILENO, F_GETFD) >= 0, "standard output stays open");
    CHECK_INT(descriptors(), open_before);
}

/* Output files are readable according to the umask. */
static void test_modes(void)
{
    static const mode_t masks[] = {0, 022, 027, 077};
    mode_t before = umask(0);
    fail(NULL, 0, 0, 0);
    for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
        struct outfile *f;
        struct outdir *d;
        struct stat file, dir;
        struct err e = {0};
        umask(masks[i]);
        CHECK(outfile_create(in_folder("out"), &f, &e) == 0 && outfile_commit(f, &e) == 0);
        CHECK(outdir_create(in_folder("site"), "index", &d, &e) == 0 && outdir_commit(d, &e) == 0);
        CHECK(stat(in_folder("out"), &file) == 0 && stat(in_folder("site"), &dir) == 0);
        CHECK_INT(file.st_mode & 07777, 0666 & ~masks[i]);
        CHECK_INT(dir.st_mode & 07777, 0777 & ~masks[i]);
        CHECK_INT(umask(0), masks[i]);
        umask(before);
        CHECK_INT(dir_remove_tree(in_folder("site"), &e), 0);
        CHECK_INT(unlink(in_folder("out")), 0);
    }
}

/* On an unexpected exit, pending outputs are removed up to the limit; abandoned or committed ones make room for
   others. */
static void test_half_written(void)
{
    enum { NOTED = 64, MORE = NOTED + 2 };
    struct outfile *files[MORE];
    struct err e = {0};
    size_t before = entries(folder);
    char name[16];
    fail(NULL, 0, 0, 0);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MORE; i++) {
            snprintf(name, sizeof name, "half%d", i);
            CHECK(outfile_create(in_folder(name), &files[i], &e) == 0);
        }
        CHECK_INT(entries(folder), before + MORE);
        outputs_abandon();
        CHECK_INT(entries(folder), before + MORE - NOTED);
        for (int i = 0; i < MORE; i++)
            outfile_abandon(files[i]);
        CHECK_INT(entries(folder), before);
    }
}

/* An existing output folder is kept until it is replaced, and is restored if that fails. */
static void test_folder_commits(void)
{
    static const struct {
        bool old;
        const char *call;
        int error;
        int status;
        long long size;
        size_t more; /* in the folder around it */
        const char *what;
    } cases[] = {
        {false, "rename", EACCES, -1, -1, 0, "cannot be written"},
        {true, "rename", EACCES, -1, 3, 1, "cannot be written"},
        {true, "unlinkat", EACCES, -1, 1, 2, "cannot be removed"},
        {true, NULL, 0, 0, 1, 1, NULL},
    };
    size_t before = entries(folder);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct outdir *d;
        struct err e = {0};
        if (cases[i].old) {
            CHECK_INT(mkdir(in_folder("site"), 0777), 0);
            put_file(in_folder("site/index"), "old", 3);
        }
        CHECK_INT(outdir_create(in_folder("site/"), "index", &d, &e), 0);
        char *index = path_join(outdir_path(d), "index"), *old = mem_printf("%s.old", outdir_path(d));
        put_file(index, "n", 1);
        fail(cases[i].call, cases[i].call && *cases[i].call == 'r', cases[i].error, 1);
        CHECK_INT(outdir_commit(d, &e), cases[i].status);
        if (cases[i].what)
            check_says(&e, *cases[i].call == 'r' ? in_folder("site") : old, cases[i].what, cases[i].error);
        CHECK_INT(size_of(in_folder("site/index")), cases[i].size);
        CHECK_INT(entries(folder), before + cases[i].more);
        fail(NULL, 0, 0, 0);
        dir_remove_tree(old, NULL);
        CHECK_INT(dir_remove_tree(in_folder("site"), &e), 0);
        CHECK_INT(entries(folder), before);
        mem_free(index);
        mem_free(old);
    }
}

/* Missing parent folders are created, and nothing else. */
static void test_folders_above(void)
{
    static const char *const paths[] = {"above/site", "above/other/site", "above/other/deeper///site//"};
    struct err e = {0};
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct outdir *d;
        CHECK_INT(outdir_create(in_folder(paths[i]), "index", &d, &e), 0);
        CHECK_INT(outdir_commit(d, &e), 0);
        CHECK(size_of(in_folder(paths[i])) >= 0);
    }
    CHECK_INT(entries(in_folder("above")), 2);
    CHECK_INT(entries(in_folder("above/other")), 2);
    CHECK_INT(entries(in_folder("above/other/deeper")), 1);
    CHECK_INT(dir_remove_tree(in_folder("above"), &e), 0);
}

/* ---- removal ----------------------------------------------------------------------------------------------------- */

static void make_nested(unsigned depth)
{
    struct buf path = {0};
    buf_str(&path, in_folder("tree"));
    for (unsigned i = 0; i <= depth; i++) {
        if (mkdir(path.bytes, 0777) != 0)
            perror(path.bytes);
        buf_str(&path, "/d");
    }
    buf_release(&path);
}

static void test_removing(void)
{
    static const struct {
        const char *call;
        int after, error;
        bool removed;
    } cases[] = {
        {NULL, 0, 0, true},
        {"unlinkat", 0, EPERM, true},   /* errors for a folder on some systems */
        {"unlinkat", 0, ENOENT, true},  /* removed by another process */
        {"unlinkat", 0, EACCES, false}, /* the folder itself */
        {"unlinkat", 1, EACCES, false}, /* the first in it */
        {"unlinkat", 2, EROFS, false},
        {"openat", 0, EMFILE, false},
        {"openat", 1, EMFILE, false},
        {"lseek", 0, EIO, false},
        {"getdents", 0, EIO, false},
        {"getdents", 1, EIO, false},
        {"lseek", 1, EBADF, false},
    };
    unsigned before = descriptors();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = {0};
        make_nested(2);
        put_file(in_folder("tree/file"), "x", 1);
        put_file(in_folder("tree/d/file"), "x", 1);
        CHECK_INT(symlink("..", in_folder("tree/link")), 0);
        fail(cases[i].call, cases[i].after, cases[i].error, 1);
        CHECK_INT(dir_remove_tree(in_folder("tree"), &e), cases[i].removed ? 0 : -1);
        if (!cases[i].removed)
            check_says(&e, in_folder("tree"), "cannot be removed", cases[i].error);
        CHECK_INT(size_of(in_folder("tree")) < 0, cases[i].removed && cases[i].error != ENOENT);
        CHECK_INT(descriptors(), before);
        fail(NULL, 0, 0, 0);
        CHECK_INT(dir_remove_tree(in_folder("tree"), &e), 0);
        CHECK_NAMED(size_of(folder) >= 0 && size_of(in_folder("whole")) == 5, "what a link leads to stays");
    }
    struct err e = {0};
    make_nested(LIMIT_SOURCE_DEPTH);
    CHECK_NAMED(dir_remove_tree(in_folder("tree"), &e) == 0, "as deep as may be");
    make_nested(LIMIT_SOURCE_DEPTH + 1);
    CHECK_INT(dir_remove_tree(in_folder("tree"), &e), -1);
    check_says(&e, in_folder("tree"), "cannot be removed", EISDIR);
    CHECK_INT(dir_remove_tree(in_folder("tree/d"), &e), 0);
    CHECK_INT(mkdir(in_folder("tree/many"), 0777), 0);
    for (unsigned i = 0; i < 400; i++) { /* more than one call lists */
        char name[40];
        snprintf(name, sizeof name, "tree/many/entry-%u", i);
        put_file(in_folder(name), "", 0);
    }
    CHECK_INT(dir_remove_tree(in_folder("tree"), &e), 0);
    CHECK_INT(size_of(in_folder("tree")), -1);
}

/* ---- other programs -------------------------------------------------------------------------------------------------------------- */

static int run(const char *script, const struct buf *in, double seconds, struct buf *out, struct err *err)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct buf messages = {0};
    out->len = 0;
    *err = (struct err){0};
    int status = child_run(argv, in, seconds, out, &messages, err);
    if (messages.len)
        buf_printf(out, "[%s]", messages.bytes);
    buf_release(&messages);
    return status;
}

/* Interruptions or delays of any call, and a child that closes its outputs before it exits, do not change the
   result. */
static void test_interrupted_child(void)
{
    static const struct {
        const char *call;
        int after, error, times;
        size_t most;
    } cases[] = {{NULL, 0, 0, 0, SIZE_MAX},         {NULL, 0, 0, 0, 3},
                 {"send", 0, EINTR, 2, SIZE_MAX},   {"send", 0, EAGAIN, 2, SIZE_MAX},
                 {"send", 1, EINTR, 1, 5},          {"read", 0, EINTR, 2, SIZE_MAX},
                 {"read", 1, EAGAIN, 2, SIZE_MAX},  {"poll", 0, EINTR, 3, SIZE_MAX},
                 {"waitpid", 0, EINTR, 3, SIZE_MAX}};
    struct buf in = {0}, out = {0};
    buf_str(&in, "0123456789");
    for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
        size_t which = i / 2;
        struct err err;
        unsigned before = descriptors();
        sent_nothing = most_open = 0;
        left_behind = i % 2 ? EINTR : EIO;
        not_yet = 2;
        most_at_once = cases[which].most;
        fail(cases[which].call, cases[which].after, cases[which].error, cases[which].times);
        CHECK_INT(run("cat; echo why >&2; exit 5", &in, 60, &out, &err), 5);
        most_at_once = SIZE_MAX;
        CHECK_STR(out.bytes, "0123456789[why\n]");
        CHECK(not_yet == 0);
        CHECK_NAMED(sent_nothing == 0 && !strstr(noted.bytes, "slept long") && !strstr(noted.bytes, "given more") &&
                        most_open == before + 3,
                    "it is not asked for more than is needed");
        CHECK_INT(descriptors(), before);
    }
    left_behind = EINTR;
    buf_release(&in);
    buf_release(&out);
}

/* One output is read to its end after the other one, or the input, is closed. */
static void test_closed_ends(void)
{
    enum { MUCH = 600000 };
    struct buf none = {0}, out = {0};
    struct err err;
    fail(NULL, 0, 0, 0);
    CHECK_INT(run("cat; echo said; echo why >&2", &none, 60, &out, &err), 0);
    CHECK_STR(out.bytes, "said\n[why\n]");
    CHECK_INT(run("exec 2>&-; head -c 600000 /dev/zero | tr '\\0' x", &none, 60, &out, &err), 0);
    CHECK_INT(out.len, MUCH);
    CHECK_INT(run("exec >&-; head -c 600000 /dev/zero | tr '\\0' x >&2", &none, 60, &out, &err), 0);
    CHECK_INT(out.len, MUCH + 2); /* in brackets */
    buf_release(&none);
    buf_release(&out);
}

static void test_failing_child(void)
{
    static const struct {
        const char *call;
        int after, error;
        const char *what;
        enum err_kind kind;
    } cases[] = {
        {"socketpair", 0, EMFILE, "cannot be started", ERR_SYSTEM},
        {"socketpair", 1, EMFILE, "cannot be started", ERR_SYSTEM},
        {"socketpair", 2, ENFILE, "cannot be started", ERR_SYSTEM},
        {"fcntl", 0, EINVAL, "cannot be started", ERR_SYSTEM},
        {"fcntl", 2, EINVAL, "cannot be started", ERR_SYSTEM},
        {"actions_init", 0, ENOMEM, "cannot be started", ERR_SYSTEM},
        {"adddup2", 0, EBADF, "cannot be started", ERR_SYSTEM},
        {"adddup2", 2, EBADF, "cannot be started", ERR_SYSTEM},
        {"posix_spawn", 0, ENOEXEC, "cannot be started", ERR_SYSTEM},
        {"poll", 0, ENOMEM, NULL, ERR_LIMIT},
        {"poll", 1, ENOMEM, NULL, ERR_LIMIT},
        {"waitpid", 0, ECHILD, NULL, ERR_LIMIT},
    };
    struct buf in = {0}, out = {0};
    buf_str(&in, "0123456789");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err;
        unsigned before = descriptors();
        fail(cases[i].call, cases[i].after, cases[i].error, 1);
        CHECK_INT(run("cat; cat >&2", &in, 60, &out, &err), -1);
        if (cases[i].what)
            check_says(&err, "/bin/sh", cases[i].what, cases[i].error);
        else
            CHECK_STR(err.msg, "/bin/sh: took more than 60 seconds");
        CHECK_INT(err.kind, cases[i].kind);
        CHECK_INT(descriptors(), before);
        CHECK_NAMED(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no process is left");
    }
    buf_release(&in);
    buf_release(&out);
}

static void wait_interrupted(int milliseconds)
{
    (void)milliseconds;
    fail("waitpid", 0, EINTR, 1); /* when it is ended, too */
    poll_answer = -1;
    errno = ENOMEM;
}

/* The timeout is the remaining time plus one millisecond; there is no wait if no time remains. */
static void test_child_times(void)
{
    struct buf in = {0}, out = {0};
    struct err err;
    clock_is_set = true;
    clock_asked = 0;
    fail(NULL, 0, 0, 0);
    CHECK_INT(run("exit 4", &in, 2.5, &out, &err), 4);
    CHECK_NAMED(str_starts(noted.bytes, "2001 ") && !strstr(noted.bytes, "slept long"), "half a second is over");
    time_jumps = true;
    clock_asked = 0;
    fail(NULL, 0, 0, 0);
    CHECK_INT(run("exit 4", &in, 2.5, &out, &err), -1);
    CHECK_STR(err.msg, "/bin/sh: took more than 2.5 seconds");
    CHECK_STR(noted.bytes, "");
    clock_is_set = time_jumps = false;
    while_waiting = wait_interrupted;
    CHECK_INT(run("exec sleep 600", &in, 60, &out, &err), -1);
    CHECK_NAMED(plan.times == 0, "waiting for the end of what was ended is interrupted");
    CHECK_NAMED(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no process is left");
    while_waiting = NULL;
    buf_release(&in);
    buf_release(&out);
}

/* With standard input closed, descriptor 0 is an ordinary descriptor. */
static void test_descriptor_0(void)
{
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    struct buf in = {0}, out = {0};
    struct outfile *f;
    struct filemap map;
    struct stat st;
    struct err e = {0};
    close(STDIN_FILENO);
    unsigned before = descriptors();
    fail(NULL, 0, 0, 0);
    CHECK_INT(outfile_create(in_folder("zero"), &f, &e), 0);
    CHECK_INT(fcntl(STDIN_FILENO, F_GETFD), FD_CLOEXEC);
    outfile_printf(f, "0");
    CHECK_INT(outfile_commit(f, &e), 0);
    CHECK_INT(descriptors(), before);
    mode_t mask = umask(0);
    umask(mask);
    CHECK(stat(in_folder("zero"), &st) == 0 && (st.st_mode & 0777) == (0666 & ~mask));
    CHECK_INT(filemap_open(&map, in_folder("zero"), &e), 0);
    CHECK_INT(descriptors(), before);
    filemap_release(&map);
    make_nested(1);
    CHECK_INT(dir_remove_tree(in_folder("tree"), &e), 0);
    CHECK_INT(descriptors(), before);
    buf_str(&in, "0123456789");
    CHECK_INT(run("cat", &in, 20, &out, &e), 0);
    CHECK_STR(out.bytes, "0123456789");
    CHECK_INT(descriptors(), before);
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
    buf_release(&in);
    buf_release(&out);
}

/* ---- files that become shorter ------------------------------------------------------------------------------------------------------ */

static void bus_error_of_others(int sig)
{
    (void)sig;
    _exit(7);
}

/* In a separate process: reads past the end of a file; returns the exit status, or 7 if the signal reached the previous
   handler. */
static int looked_behind(bool ours)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        const char *path = in_folder("cut");
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        struct filemap map = {0};
        put_file(path, "", 0);
        int fd = open(path, O_RDWR);
        if (truncate(path, (off_t)(3 * page)) != 0)
            _exit(90);
        if (ours && filemap_open(&map, path, NULL) < 0)
            _exit(91);
        const volatile uint8_t *p = ours ? map.bytes : mmap(NULL, 3 * page, PROT_READ, MAP_SHARED, fd, 0);
        if (truncate(path, 0) != 0)
            _exit(92);
        fail(ours ? "mmap" : NULL, 0, ENOMEM, 1); /* ours, but no page can be mapped over it */
        _exit(p[2 * page]);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In a separate process: two adjacent mapped files, one of which is released, or none, and the `cut`th is truncated.
   The exit status is 0 if the message names that one. */
static int neighbour_cut(int released, int cut)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        static const char *const names[] = {"first", "second"};
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        struct filemap maps[2];
        struct err e = {0};
        next_place = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int i = 0; i < 2; i++) {
            put_file(in_folder(names[i]), "x", 1);
            if (truncate(in_folder(names[i]), (off_t)page) != 0 || filemap_open(&maps[i], in_folder(names[i]), &e) < 0)
                _exit(90);
        }
        const volatile uint8_t *p = maps[cut].bytes;
        if (maps[1].bytes != maps[0].bytes + page || truncate(in_folder(names[cut]), 0) != 0)
            _exit(91);
        if (released >= 0)
            filemap_release(&maps[released]);
        if (p[0] != 0 || filemap_check(&e) == 0)
            _exit(92);
        _exit(!str_starts(e.msg, in_folder(names[cut])));
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_neighbours(void)
{
    fail(NULL, 0, 0, 0);
    for (int released = -1; released < 2; released++)
        for (int cut = 0; cut < 2; cut++)
            if (cut != released)
                CHECK_INT(neighbour_cut(released, cut), 0);
}

/* From the missing page to the file's last one, and nothing else; the first file is the one reported. */
static void test_shorter(void)
{
    static const size_t behind[] = {0, 1, 100};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK_INT(looked_behind(true), 7);
    CHECK_INT(looked_behind(false), 7);
    for (size_t i = 0; i < ARRAY_SIZE(behind); i++) {
        char name[16];
        struct filemap map;
        struct err e = {0};
        snprintf(name, sizeof name, "cut%zu", i);
        put_file(in_folder(name), "x", 1);
        CHECK_INT(truncate(in_folder(name), (off_t)(3 * page + behind[i])), 0);
        CHECK_INT(filemap_open(&map, in_folder(name), &e), 0);
        CHECK_INT(filemap_check(&e), i ? -1 : 0);
        CHECK_INT(truncate(in_folder(name), 1), 0);
        const volatile uint8_t *p = map.bytes;
        errno = 77;
        uint8_t there = p[0], gone = p[page + 5];
        CHECK_INT(errno, 77);
        CHECK(there == 'x' && gone == 0);
        CHECK_INT((uint8_t *)put_over.at - map.bytes, page);
        CHECK_INT(put_over.n, (behind[i] ? 3 : 2) * page);
        CHECK_INT(filemap_check(&e), -1);
        check_says(&e, in_folder("cut0"), "the file shrank while it was read; its contents are not used", 0);
        filemap_release(&map);
    }
}

int main(void)
{
    struct err e = {0};
    signal(SIGBUS, bus_error_of_others); /* before anything is mapped */
    if (!mkdtemp(folder))
        return 99;
    RUN(test_pipes);
    RUN(test_unreadable);
    RUN(test_kinds);
    RUN(test_given_back);
    RUN(test_writing);
    RUN(test_not_kept);
    RUN(test_modes);
    RUN(test_half_written);
    RUN(test_folder_commits);
    RUN(test_folders_above);
    RUN(test_removing);
    RUN(test_interrupted_child);
    RUN(test_closed_ends);
    RUN(test_failing_child);
    RUN(test_child_times);
    RUN(test_descriptor_0);
    RUN(test_neighbours);
    RUN(test_shorter);
    fail(NULL, 0, 0, 0);
    CHECK_INT(dir_remove_tree(folder, &e), 0);
    buf_release(&noted);
    return tap_done();
}
