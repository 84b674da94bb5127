/* SPDX-License-Identifier: BSD-3-Clause */
/* Another program, run to its end. */
#include "support/support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TO_CHILD, OUTPUT, MESSAGES, ENDS }; /* our ends, and in the same order its standard input, output and error */

struct child {
    pid_t pid;
    int ours[ENDS], its[ENDS];
    const char *name;
    double deadline;
};

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(struct child *c)
{
    for (int i = 0; i < ENDS; i++) {
        close_end(&c->ours[i]);
        close_end(&c->its[i]);
    }
}

/* Sockets: writing to one without a reader is an error, not a signal. */
static int make_ends(struct child *c, struct err *err)
{
    for (int i = 0; i < ENDS; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            return err_errno(err, c->name, "cannot be started");
        c->ours[i] = pair[0];
        c->its[i] = pair[1];
        if (fcntl(c->ours[i], F_SETFL, O_NONBLOCK) != 0)
            return err_errno(err, c->name, "cannot be started");
    }
    return 0;
}

static int start(struct child *c, const char *const *argv, struct err *err)
{
    static char plain[] = "LC_ALL=C";
    char *environment[] = {plain, NULL};
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return err_set(err, ERR_SYSTEM, "%s: cannot be started: %s", c->name, strerror(failed));
    for (int i = 0; i < ENDS && !failed; i++)
        failed = posix_spawn_file_actions_adddup2(&actions, c->its[i], i);
    if (!failed)
        failed = posix_spawn(&c->pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? err_set(err, ERR_SYSTEM, "%s: cannot be started: %s", c->name, strerror(failed)) : 0;
}

/* false: there is no more to write. */
static bool write_some(int fd, const struct buf *in, size_t *done)
{
    ssize_t n = send(fd, in->bytes + *done, in->len - *done, MSG_NOSIGNAL);
    if (n > 0)
        *done += (size_t)n;
    return (n > 0 || errno == EAGAIN || errno == EINTR) && *done < in->len;
}

/* false: its end, or more than anybody asked for. */
static bool read_some(int fd, struct buf *to)
{
    char part[65536];
    ssize_t n = read(fd, part, sizeof part);
    if (n > 0)
        buf_add(to, part, (size_t)n);
    return (n > 0 && to->len <= LIMIT_CHILD_BYTES) || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Until it has closed both of its outputs; 0: it took too long. */
static int talk(struct child *c, const struct buf *in, struct buf *out, struct buf *messages)
{
    size_t written = 0;
    if (in->len == 0)
        close_end(&c->ours[TO_CHILD]);
    while (c->ours[OUTPUT] >= 0 || c->ours[MESSAGES] >= 0) {
        struct pollfd fds[ENDS] = {{.fd = c->ours[TO_CHILD], .events = POLLOUT},
                                   {.fd = c->ours[OUTPUT], .events = POLLIN},
                                   {.fd = c->ours[MESSAGES], .events = POLLIN}};
        double left = c->deadline - time_seconds();
        if (left <= 0)
            return 0;
        if (poll(fds, ENDS, (int)(left * 1000) + 1) < 0 && errno != EINTR)
            return 0;
        if (fds[TO_CHILD].revents && !write_some(c->ours[TO_CHILD], in, &written))
            close_end(&c->ours[TO_CHILD]);
        if (fds[OUTPUT].revents && !read_some(c->ours[OUTPUT], out))
            close_end(&c->ours[OUTPUT]);
        if (fds[MESSAGES].revents && !read_some(c->ours[MESSAGES], messages))
            close_end(&c->ours[MESSAGES]);
    }
    return 1;
}

/* Its status, once it has ended; -1: it has not until the deadline. */
static int wait_for(const struct child *c)
{
    for (;;) {
        int status = 0;
        pid_t ended = waitpid(c->pid, &status, WNOHANG);
        if (ended == c->pid)
            return status;
        if ((ended < 0 && errno != EINTR) || time_seconds() > c->deadline)
            return -1;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

static void kill_child(const struct child *c)
{
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

int child_run(const char *const *argv, const struct buf *in, double seconds, struct buf *out, struct buf *messages,
              struct err *err)
{
    struct child c = {.ours = {-1, -1, -1}, .its = {-1, -1, -1}, .name = argv[0], .deadline = time_seconds() + seconds};
    if (make_ends(&c, err) < 0 || start(&c, argv, err) < 0) {
        close_all(&c);
        return -1;
    }
    for (int i = 0; i < ENDS; i++)
        close_end(&c.its[i]);
    int status = talk(&c, in, out, messages) > 0 ? wait_for(&c) : -1;
    close_all(&c);
    buf_str(out, "");
    buf_str(messages, "");
    if (status < 0) {
        kill_child(&c);
        return err_set(err, ERR_LIMIT, "%s: took more than %.3g seconds", c.name, seconds);
    }
    if (!WIFEXITED(status))
        return err_set(err, ERR_SYSTEM, "%s: killed by signal %d", c.name, WTERMSIG(status));
    return WEXITSTATUS(status);
}
