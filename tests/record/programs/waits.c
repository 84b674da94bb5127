/* Waits in system calls that a signal would interrupt: each lasts its full time, and none fails. */
#define _GNU_SOURCE
#include "burn.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *arg)
{
    usleep(150000);
    if (write(ends[1], "x", 1) != 1)
        return arg;
    usleep(150000);
    return write(ends[1], "y", 1) == 1 ? arg : NULL;
}

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    return 1;
}

int main(void)
{
    pthread_t t;
    char c;
    struct timespec rest = {0, 200000000};
    struct timeval some = {0, 200000};
    if (pipe(ends) < 0)
        return 1;
    pthread_create(&t, NULL, writer, NULL);
    if (read(ends[0], &c, 1) != 1)
        return fail("read");
    if (read(ends[0], &c, 1) != 1)
        return fail("second read");
    pthread_join(t, NULL);
    if (nanosleep(&rest, NULL) < 0)
        return fail("nanosleep");
    if (poll(NULL, 0, 200) < 0)
        return fail("poll");
    if (select(0, NULL, NULL, NULL, &some) < 0)
        return fail("select");
    burn(200);
    say_burned(200);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
