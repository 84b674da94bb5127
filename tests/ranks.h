/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks without MPI, for tests: the process and children of it, with a pair of sockets between each two. */
#ifndef TESTS_RANKS_H
#define TESTS_RANKS_H

#include "support/support.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* In builds that count which lines run, a rank notes its own as it ends. */
void __gcov_exit(void) __attribute__((weak));

enum { TEST_RANKS_MOST = 8 };
struct test_ranks {
    struct ranks ranks;
    int socket[TEST_RANKS_MOST][TEST_RANKS_MOST]; /* [a][b]: a's end towards b */
    pid_t child[TEST_RANKS_MOST];
};

static int test_ranks_send(void *ctx, unsigned to, const void *bytes, size_t len, struct err *err)
{
    struct test_ranks *t = ctx;
    const char *p = bytes;
    uint64_t n = len;
    if (write(t->socket[t->ranks.me][to], &n, sizeof n) != (ssize_t)sizeof n)
        return err_set(err, ERR_SYSTEM, "a rank is gone");
    while (n > 0) {
        ssize_t done = write(t->socket[t->ranks.me][to], p, n);
        if (done <= 0)
            return err_set(err, ERR_SYSTEM, "a rank is gone");
        p += done;
        n -= (uint64_t)done;
    }
    return 0;
}

static int test_ranks_receive(void *ctx, unsigned from, struct buf *into, struct err *err)
{
    struct test_ranks *t = ctx;
    char piece[4096];
    uint64_t n = 0;
    if (recv(t->socket[t->ranks.me][from], &n, sizeof n, MSG_WAITALL) != (ssize_t)sizeof n)
        return err_set(err, ERR_SYSTEM, "a rank is gone");
    while (n > 0) {
        ssize_t done = read(t->socket[t->ranks.me][from], piece, n < sizeof piece ? n : sizeof piece);
        if (done <= 0)
            return err_set(err, ERR_SYSTEM, "a rank is gone");
        buf_add(into, piece, (size_t)done);
        n -= (uint64_t)done;
    }
    return 0;
}

/* Returns in every rank; a child does its part and ends by test_ranks_end. */
static void test_ranks_begin(struct test_ranks *t, unsigned count)
{
    *t = (struct test_ranks){.ranks = {0, count, t, test_ranks_send, test_ranks_receive}};
    for (unsigned a = 0; a < count; a++)
        for (unsigned b = a + 1; b < count; b++) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
                abort();
            t->socket[a][b] = pair[0];
            t->socket[b][a] = pair[1];
        }
    for (unsigned i = 1; i < count; i++)
        if ((t->child[i] = fork()) == 0) {
            t->ranks.me = i;
            return;
        }
}

/* In the first rank: did all ranks end successfully? */
static bool test_ranks_end(struct test_ranks *t, bool well)
{
    if (t->ranks.me) {
        if (__gcov_exit)
            __gcov_exit();
        _exit(well ? 0 : 1);
    }
    for (unsigned i = 1; i < t->ranks.count; i++) {
        int status = 1;
        well = waitpid(t->child[i], &status, 0) == t->child[i] && status == 0 && well;
    }
    for (unsigned a = 0; a < t->ranks.count; a++)
        for (unsigned b = 0; b < t->ranks.count; b++)
            if (a != b)
                close(t->socket[a][b]);
    return well;
}

#endif
