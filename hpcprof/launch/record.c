/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launcher: finds out all that can go wrong before anything is started, then runs the program with the recorder
 * preloaded and its orders in one environment variable (recorder/protocol.h).
 */
#include "config.h"

#include "hpcprof/format/writer.h"
#include "hpcprof/launch/exit_status.h"
#include "hpcprof/launch/events.h"
#include "hpcprof/launch/program.h"
#include "hpcprof/hpcprof.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- events ---------------------------------------------------------------------------------------------------- */

struct plan {
    struct record_event events[RECORD_EVENTS_MAX * 8];
    size_t event_count;
    size_t group_end[RECORD_EVENTS_MAX * 8]; /* events of run i: up to here */
    size_t group_count;
};

static bool twice(const struct plan *p, const char *name)
{
    for (size_t i = 0; i < p->event_count; i++)
        if (strcmp(p->events[i].name, name) == 0)
            return true;
    return false;
}

static int parse_events(const struct hpcprof_record_options *o, struct plan *p, struct warnings *w, struct err *err)
{
    bool papi = o->sampler ? strcmp(o->sampler, "papi") == 0 : o->multiplex;
    const char *const fallback[] = {o->events && o->events[0] ? NULL : events_default(papi, w), NULL};
    const char *const *names = fallback[0] ? fallback : o->events;
    size_t most = o->repeat ? ARRAY_SIZE(p->events) : RECORD_EVENTS_MAX;
    for (; *names; names++) {
        struct record_event *e = &p->events[p->event_count];
        if (p->event_count == most)
            return err_set(err, ERR_USAGE, "more than %zu events at once%s", most,
                           o->repeat ? "" : "; --repeat runs the program once for each group");
        if (events_parse(*names, papi, o->multiplex, e, w, err) < 0 || events_check(e, err) < 0)
            return -1;
        if (twice(p, e->name))
            return err_set(err, ERR_USAGE, "%s is requested twice", e->name);
        p->event_count++;
    }
    return 0;
}

static int say_which_fit(const struct plan *p, size_t first, size_t n, bool multiplex, struct err *err)
{
    struct buf fit = {0};
    for (size_t i = first; i < first + n; i++)
        buf_printf(&fit, "%s%s", i > first ? ", " : "", p->events[i].name);
    err_set(err, ERR_UNSUPPORTED,
            "these events cannot be %s: %s fit together, %s does not fit with them; --repeat "
            "runs the program once for each group%s",
            multiplex ? "sampled in one run, even in turn" : "counted at the same time", fit.bytes,
            p->events[first + n].name, multiplex ? "" : ", --multiplex shares the counters (estimates)");
    buf_release(&fit);
    return -1;
}

/* Cuts the events, in their order, into groups that can be counted together. */
static int make_groups(const struct hpcprof_record_options *o, struct plan *p, struct err *err)
{
    size_t first = 0;
    while (first < p->event_count) {
        size_t n = 1;
        while (first + n < p->event_count && n < RECORD_EVENTS_MAX && (o->counters == 0 || n < o->counters) &&
               events_fit(p->events + first, n + 1))
            n++;
        if (first + n < p->event_count && !o->repeat)
            return say_which_fit(p, first, n, o->multiplex, err);
        first += n;
        p->group_end[p->group_count++] = first;
    }
    return 0;
}

static void say_repetition(const struct hpcprof_record_options *o, const struct plan *p)
{
    if (o->repeat != HPCPROF_AS_NEEDED || p->group_count < 2 || !o->say)
        return;
    char *sentence = mem_printf("not all of these events can be counted at the same time: running the program %zu "
                                "times, once for each group (--multiplex: once, with estimates)",
                                p->group_count);
    o->say(sentence);
    mem_free(sentence);
}

/* ---- where the measurement goes ------------------------------------------------------------------------------------
 */

int hpcprof_own_rank(void)
{
    return record_rank();
}

int hpcprof_own_ranks(void)
{
    return record_ranks();
}

/* Then others are writing into the same folder. */
static bool one_of_many(void)
{
    return record_rank() >= 0;
}

static ssize_t slurp(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
    to[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return n;
}

bool hpcprof_has_other_job(const char *dir)
{
    char own[256];
    struct text_list files = {0};
    bool other = false, known = false;
    record_job(own, sizeof own, slurp);
    if (*own && dir_list(dir, HPCPROF_SUFFIX, "reading the folder", &files, NULL) == 0)
        for (size_t i = 0; i < files.count && !known; i++) {
            struct hpcprof *p;
            struct warnings *unheard = warnings_create();
            if (hpcprof_read(files.items[i], &p, unheard, NULL) == 0) {
                known = *hpcprof_job(p) != '\0';
                other = known && strcmp(hpcprof_job(p), own) != 0;
                hpcprof_free(p);
            }
            warnings_free(unheard);
        }
    text_list_release(&files);
    return other;
}

/* Held while the program runs: of two that begin at the same time, both would find an empty directory. The ranks of a
   parallel program share it. A file system that cannot lock directories (NFS) goes without. */
static int lock_out_dir(const char *path, int *lock, struct err *err)
{
    *lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return err_errno(err, path, "opening the output folder");
    if (flock(*lock, (one_of_many() ? LOCK_SH : LOCK_EX) | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return err_set(err, ERR_USAGE,
                       "%s: another 'hpcview record' is writing to this folder; choose another one with -o", path);
    return 0;
}

static int check_out_dir(const char *path, struct err *err)
{
    DIR *dir = opendir(path);
    int status = 0;
    if (!dir)
        return err_errno(err, path, "opening the output folder");
    for (struct dirent *entry; status == 0 && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            str_starts(entry->d_name, ".done.")) /* of another rank */
            continue;
        if (!str_ends(entry->d_name, HPCPROF_SUFFIX))
            status = err_set(err, ERR_USAGE,
                             "%s: the folder contains other files ('%s'); choose an empty or new one with -o", path,
                             entry->d_name);
        else if (!one_of_many())
            status = err_set(err, ERR_USAGE,
                             "%s: the folder contains an earlier measurement; remove it, or choose another one with -o",
                             path);
    }
    closedir(dir);
    if (status == 0 && one_of_many() && hpcprof_has_other_job(path))
        status = err_set(err, ERR_USAGE,
                         "%s: the folder contains ranks of an earlier start of a program; remove it, or choose another "
                         "one with -o",
                         path);
    if (status == 0 && access(path, W_OK) < 0)
        status = err_errno(err, path, "the output folder cannot be written");
    return status;
}

static size_t count_files(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    if (!dir)
        return 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        n += str_ends(entry->d_name, HPCPROF_SUFFIX);
    closedir(dir);
    return n;
}

/* ---- the preload
 * ------------------------------------------------------------------------------------------------------ */

/* LD_PRELOAD is cut at blanks and colons, and expands '$': a path with those gets another name, a link in a folder of
 * our own. */
static char *preloadable(const char *path, struct err *err)
{
    char *full = realpath(path, NULL);
    if (!full) {
        err_set(err, ERR_SYSTEM, "%s: recorder library not found (%s); set HPCVIEW_RECORDER to its path", path,
                strerror(errno));
        return NULL;
    }
    if (!strpbrk(full, " :\t$"))
        return full;
    struct stat st;
    char *dir = mem_printf("/tmp/.hpcview-%u", (unsigned)getuid());
    char *link = mem_printf("%s/%016llx.so", dir, (unsigned long long)hash_bytes(full, strlen(full), 0));
    char *temp = mem_printf("%s.%d", link, (int)getpid());
    mkdir(dir, 0700);
    bool ok = lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == getuid() && !(st.st_mode & 022) &&
              symlink(full, temp) == 0 && rename(temp, link) == 0;
    if (!ok)
        err_set(err, ERR_SYSTEM,
                "%s: the recorder cannot be preloaded from a path with blanks or colons, and no link could be created "
                "in %s",
                full, dir);
    free(full);
    mem_free(dir);
    mem_free(temp);
    if (ok)
        return link;
    mem_free(link);
    return NULL;
}

static void put_escaped(struct buf *b, const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < ' ' || c == '%' || c == ';' || c == 0x7f)
            buf_printf(b, "%%%02X", c);
        else
            buf_char(b, (char)c);
    }
}

static void put_event(struct buf *b, const struct record_event *e)
{
    buf_str(b, "\nevent=");
    put_escaped(b, e->name);
    buf_char(b, ';');
    put_escaped(b, e->description);
    buf_char(b, ';');
    put_escaped(b, e->unit);
    buf_printf(b, ";%llu;%llu;%u;%u;%llu;%llu;%llu;%u", (unsigned long long)e->period, (unsigned long long)e->frequency,
               e->kind, e->type, (unsigned long long)e->config, (unsigned long long)e->config1,
               (unsigned long long)e->config2, e->flags);
    if (e->papi_name[0])
        buf_printf(b, ";%s", e->papi_name);
}

/* By default, all ranks of a program write at most 128 times a second: their folder is on one file system. 0: as often as a
   single process. */
static double write_interval(const struct hpcprof_record_options *o)
{
    enum { WRITES_A_SECOND = 128, SINGLE = 2 /* a second */, LONGEST = 60 };
    double shared = (double)record_ranks() / WRITES_A_SECOND;
    return o->write_interval > 0 ? o->write_interval : shared * SINGLE <= 1 ? 0 : shared > LONGEST ? LONGEST : shared;
}

static void put_orders(struct buf *b, const struct hpcprof_record_options *o, const struct plan *p, size_t group,
                       const char *dir, const char *notices)
{
    buf_str(b, RECORD_VARIABLE "=dir=");
    put_escaped(b, dir);
    for (size_t i = group ? p->group_end[group - 1] : 0; i < p->group_end[group]; i++)
        put_event(b, &p->events[i]);
    if (o->sampler)
        buf_printf(b, "\nsampler=%s", o->sampler);
    const char *papi = events_papi_path();
    if (papi) {
        buf_str(b, "\npapi=");
        put_escaped(b, papi);
    }
    if (o->multiplex)
        buf_str(b, "\nmultiplex=1");
    if (o->follow_children)
        buf_str(b, "\nchildren=1");
    if (o->call_paths)
        buf_str(b, "\npaths=1");
    if (o->phases)
        buf_str(b, "\nphases=1");
    if (notices) {
        buf_printf(b, "\nwatch=%d\nwarn=%llu\nnotify=", o->watch, (unsigned long long)o->warn_ms * 1000000);
        put_escaped(b, notices);
    }
    if (o->delay > 0)
        buf_printf(b, "\ndelay=%.0f", o->delay * 1e9);
    if (o->region) {
        buf_str(b, "\nregion=");
        put_escaped(b, o->region);
        buf_printf(b, "\nregion_time=%u", o->region_time);
    }
    if (o->duration > 0)
        buf_printf(b, "\nduration=%.0f", o->duration * 1e9);
    if (p->group_count > 1)
        buf_printf(b, "\nrun=%zu", group + 1);
    if (o->only_processes) {
        buf_str(b, "\nonly=");
        put_escaped(b, o->only_processes);
    }
    if (o->ranks)
        buf_printf(b, "\nranks=%s", o->ranks);
    double interval = write_interval(o);
    if (interval > 0)
        buf_printf(b, "\nwrite=%.0f", interval * 1e9);
    for (size_t i = 0; o->environment && o->environment[i]; i++) {
        buf_str(b, i ? "," : "\nenv=");
        put_escaped(b, o->environment[i]);
    }
}

/* The recorder of an outer `hpcview record` is in the list: the inner one replaces it. */
static bool is_a_recorder(const char *path, size_t n)
{
    static const char *const names[] = {"libhpcview-record.so", "libhpcview-record-phases.so"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (n >= strlen(names[i]) && memcmp(path + n - strlen(names[i]), names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void put_preload(struct buf *b, const char *preload)
{
    const char *given = getenv("LD_PRELOAD"), *old = given ? given : "";
    size_t front = record_preload_front(old);
    buf_str(b, "LD_PRELOAD=");
    buf_add(b, old, front);
    buf_printf(b, "%s%s", front ? ":" : "", preload);
    for (old += front; *old;) {
        size_t n = strcspn(old, ": ");
        if (n && !is_a_recorder(old, n) && !(strlen(preload) == n && memcmp(old, preload, n) == 0)) {
            buf_char(b, ':');
            buf_add(b, old, n);
        }
        old += n + (old[n] != '\0');
    }
}

/* ---- running
 * ------------------------------------------------------------------------------------------------------------ */

/* AddressSanitizer's shared runtime insists on being the first library; being the second after ours is as good, in whichever
   program of those to come it is. */
static char *sanitizer_options(void)
{
    const char *old = getenv("ASAN_OPTIONS");
    return mem_printf("%s%sverify_asan_link_order=0", old ? old : "", old && *old ? ":" : "");
}

static volatile sig_atomic_t running_child;

static void pass_on(int sig)
{
    if (running_child > 0)
        kill(running_child, sig);
}

/* Keys typed at the terminal reach the program by themselves; signals sent to us alone are passed on. */
struct signals {
    struct sigaction old[4];
};
static const int handled_signals[4] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static void set_signals(struct signals *s)
{
    for (size_t i = 0; i < 4; i++) {
        struct sigaction act = {.sa_flags = SA_RESTART};
        act.sa_handler = i < 2 ? SIG_IGN : pass_on;
        sigaction(handled_signals[i], NULL, &s->old[i]);
        if (s->old[i].sa_handler != SIG_IGN)
            sigaction(handled_signals[i], &act, NULL);
    }
}

static void restore_signals(const struct signals *s)
{
    for (size_t i = 0; i < 4; i++)
        sigaction(handled_signals[i], &s->old[i], NULL);
}

/* After fork: allocates nothing, so that only the launcher reports lack of memory. */
static _Noreturn void become(const char *path, char *const *argv, const char *orders, const char *preload,
                             const char *asan_options, int report)
{
    if (orders) {
        setenv("ASAN_OPTIONS", asan_options, 1);
        putenv((char *)(uintptr_t)orders);
        putenv((char *)(uintptr_t)preload);
    }
    execv(path, argv);
    int error = errno;
    if (write(report, &error, sizeof error) < 0)
        _exit(126);
    _exit(127);
}

/* The recorder is silent in the program; that its counts find no place any more is ours to say, when it happens. */
struct disk {
    const char *dir; /* NULL: nothing is recorded */
    void (*say)(const char *sentence);
    bool full;
    /* The program's reports of its barriers meanwhile. */
    void (*notice)(void *ctx, char *line);
    void *notice_ctx;
    int pipe; /* -1: none */
    char line[8192];
    size_t length;
};

static void watch_disk(struct disk *d)
{
    struct statvfs fs;
    if (d->full || !d->dir || statvfs(d->dir, &fs) < 0 || fs.f_blocks == 0 || fs.f_bavail > 0)
        return;
    d->full = true;
    char *sentence = mem_printf(
        "%s: the disk is full; counts are kept in memory until space is available, and lost if none is at the end",
        d->dir);
    if (d->say)
        d->say(sentence);
    mem_free(sentence);
}

/* Looks at the disk every second meanwhile. A system without descriptors of processes (before Linux 5.3): at the end.
 */
/* Whole lines are passed on; a line longer than the buffer is not ours. */
static void read_pipe(struct disk *d)
{
    ssize_t n;
    while (d->pipe >= 0 && (n = read(d->pipe, d->line + d->length, sizeof d->line - 1 - d->length)) > 0) {
        char *from = d->line, *end;
        d->length += (size_t)n;
        d->line[d->length] = '\0';
        for (; (end = strchr(from, '\n')); from = end + 1) {
            *end = '\0';
            d->notice(d->notice_ctx, from);
        }
        d->length = from == d->line && d->length == sizeof d->line - 1 ? 0 : d->length - (size_t)(from - d->line);
        memmove(d->line, from, d->length);
    }
}

static void watch(pid_t pid, struct disk *d)
{
    struct pollfd fds[] = {{.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN},
                           {.fd = d->pipe, .events = POLLIN}};
    struct pollfd process = fds[0];
    while (process.fd >= 0) {
        int n = poll(fds, 2, 1000);
        read_pipe(d);
        if (fds[0].revents || (n < 0 && errno != EINTR))
            break;
        if (n == 0)
            watch_disk(d);
    }
    if (process.fd >= 0)
        close(process.fd);
}

static int wait_for(pid_t pid, int *status, struct disk *d, struct err *err)
{
    watch(pid, d);
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return err_errno(err, "the program", "waiting for it");
    watch_disk(d);
    read_pipe(d);
    return 0;
}

struct launched {
    pid_t pid;
    uint64_t at; /* UNIX time, ns */
};

/* With orders NULL, the program is not recorded. */
static int run_once(const char *path, char *const *argv, const char *orders, const char *preload, struct disk *disk,
                    struct launched *who, int *status, struct warnings *w, struct err *err)
{
    int report[2], error;
    uint64_t launched = time_wall_ns();
    struct err end_err = {0};
    struct signals signals;
    if (pipe2(report, O_CLOEXEC) < 0)
        return err_errno(err, "pipe", "starting the program");
    char *asan_options = sanitizer_options();
    running_child = 0;
    set_signals(&signals);
    pid_t pid = fork();
    if (pid == 0) {
        restore_signals(&signals);
        become(path, argv, orders, preload, asan_options, report[1]);
    }
    running_child = pid;
    *who = (struct launched){pid, launched};
    mem_free(asan_options);
    close(report[1]);
    ssize_t n = pid < 0 ? 0 : read(report[0], &error, sizeof error);
    close(report[0]);
    int result = pid < 0 ? err_errno(err, path, "starting the program") : wait_for(pid, status, disk, err);
    running_child = 0;
    restore_signals(&signals);
    if (result == 0 && n == (ssize_t)sizeof error)
        return err_set(err, ERR_SYSTEM, "%s: the program cannot be started: %s", path, strerror(error));
    if (result == 0 && orders && exit_status_add(disk->dir, pid, launched, *status, &end_err) < 0)
        warnings_add(w, "%s", end_err.msg);
    return result;
}

static void tell_ended(const struct hpcprof_record_options *o, const char *dir, const struct launched *who)
{
    bool shared = one_of_many();
    char *file = o->ended ? exit_status_file(dir, who->pid, who->at, !shared) : NULL;
    if (file)
        o->ended(shared ? file : dir, file);
    mem_free(file);
}

/* "0,7,1000-1007", or the driver's "sample N" */
static int check_ranks(const char *ranks, struct err *err)
{
    if (str_starts(ranks, "sample "))
        return one_of_many() && record_ranks() < 0
                   ? err_set(err, ERR_USAGE,
                             "--sample-ranks: this launcher does not give the number of ranks; name them with --ranks")
                   : 0;
    const char *at = ranks;
    for (;; at++) {
        char *end;
        unsigned long from = strtoul(at, &end, 10), to = from;
        if (*at < '0' || *at > '9' || (*end == '-' && (end[1] < '0' || end[1] > '9')))
            break;
        if (*end == '-')
            to = strtoul(end + 1, &end, 10);
        if (to < from || to > INT32_MAX)
            break;
        at = end;
        if (*at == '\0')
            return strlen(ranks) < RECORD_RANKS_BYTES
                       ? 0
                       : err_set(err, ERR_USAGE, "--ranks: more than %d bytes; name ranges, or use --sample-ranks",
                                 RECORD_RANKS_BYTES - 1);
        if (*at != ',')
            break;
    }
    return err_set(err, ERR_USAGE, "--ranks needs numbers and ranges such as 0,7,1000-1007, not '%s'", ranks);
}

static int check_options(const struct hpcprof_record_options *o, struct err *err)
{
    if (o->sampler && strcmp(o->sampler, "papi") != 0 && strcmp(o->sampler, "ring") != 0)
        return err_set(err, ERR_USAGE, "unknown sampler '%s'; available: papi, ring", o->sampler);
    if (o->multiplex && o->repeat == HPCPROF_REPEAT)
        return err_set(err, ERR_USAGE, "--multiplex and --repeat exclude each other");
    return o->ranks ? check_ranks(o->ranks, err) : 0;
}

int hpcprof_record(const struct hpcprof_record_options *o, char *const *argv, int *status, struct warnings *w,
                   struct err *err)
{
    struct plan plan = {0};
    struct buf orders = {0}, preload = {0};
    char *path = NULL, *dir = NULL, *library = NULL;
    int result = -1, lock = -1;
    if (check_options(o, err) < 0 || !(path = hpcprof_find_program(argv[0], err)))
        goto out;
    if (o->ranks && one_of_many() && !format_rank_chosen(o->ranks, (uint64_t)record_rank(), (uint64_t)record_ranks())) {
        result = run_once(path, argv, NULL, NULL, &(struct disk){.pipe = -1}, &(struct launched){0}, status, w, err);
        goto out;
    }
    if (hpcprof_check_program(path, 0, err) < 0 || parse_events(o, &plan, w, err) < 0 ||
        make_groups(o, &plan, err) < 0 || !(library = preloadable(o->preload, err)))
        goto out;
    say_repetition(o, &plan);
    if (getenv(RECORD_VARIABLE))
        warnings_add(w,
                     "hpcview record inside hpcview record: programs started by the inner one are recorded in %s only",
                     o->out_dir);
    if (dir_make(o->out_dir, err) < 0 || lock_out_dir(o->out_dir, &lock, err) < 0 || check_out_dir(o->out_dir, err) < 0)
        goto out;
    dir = realpath(o->out_dir, NULL);
    if (!dir) {
        err_errno(err, o->out_dir, "finding the output folder");
        goto out;
    }
    size_t files = count_files(dir);
    struct disk disk = {.dir = dir, .say = o->say, .notice = o->notice, .notice_ctx = o->notice_ctx, .pipe = -1};
    /* Not in the output folder, which may be on a file system that many nodes share. */
    const char *temporary = getenv("TMPDIR");
    char *notices =
        o->phases && o->notice
            ? mem_printf("%s/hpcview-notices.%d", temporary && *temporary == '/' ? temporary : "/tmp", (int)getpid())
            : NULL;
    if (notices && mkfifo(notices, 0600) == 0) /* open for writing too: it has no end */
        disk.pipe = open(notices, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    put_preload(&preload, library);
    struct launched who = {0};
    for (size_t group = 0; group < plan.group_count; group++) {
        orders.len = 0;
        put_orders(&orders, o, &plan, group, dir, disk.pipe >= 0 ? notices : NULL);
        result = run_once(path, argv, orders.bytes, preload.bytes, &disk, &who, status, w, err);
        if (result < 0)
            break;
    }
    if (disk.pipe >= 0) {
        unlink(notices);
        close(disk.pipe);
    }
    mem_free(notices);
    if (result == 0)
        tell_ended(o, dir, &who);
    if (result == 0 && count_files(dir) == files)
        warnings_add(w, "%s: nothing was recorded: %s", o->out_dir,
                     disk.full           ? "the disk is full"
                     : o->only_processes ? "no program of that name ran"
                     : o->ranks          ? "none of these ranks ran"
                                         : "the program did not load the recorder, or ended before it could write");
out:
    buf_release(&orders);
    buf_release(&preload);
    mem_free(path);
    free(dir);
    free(library);
    if (lock >= 0)
        close(lock);
    return result;
}
