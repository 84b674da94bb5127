/* Closes every descriptor in every possible way, and must find only its own. "raw": by the system call itself, and uses
 * all numbers for a file of its own, which nothing else may read or write. "papi": PAPI uses low numbers itself. */
#define _GNU_SOURCE
#include "burn.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static int close_raw(void)
{
    char name[] = "/tmp/closes.XXXXXX";
    syscall(SYS_close_range, 3, ~0U, 0);
    burn(100);
    int own = mkstemp(name);
    unlink(name);
    for (int fd = own + 1; fd < 4020; fd++)
        syscall(SYS_dup3, own, fd, 0);
    burn(1000); /* the recorder reads its maps, and writes */
    if (lseek(own, 0, SEEK_END) != 0 || syscall(SYS_fcntl, 4019, F_GETFD) < 0)
        return 1;
    say_burned(1200);
    return 0;
}

/* The lowest numbers are the program's: but for a moment, while the recorder opens a file. */
static int lowest_is(int wanted)
{
    for (int tries = 0; tries < 100; tries++) {
        int fd = open("/dev/null", O_RDONLY);
        if (fd == wanted)
            return 1;
        close(fd);
        usleep(1000);
    }
    return 0;
}

/* A program that closes 0 and opens a file gets 0: at its start no other descriptor is opened concurrently. */
static int gets_its_own(void)
{
    int lowest = open("/dev/null", O_RDONLY);
    for (int i = 0; i < 20000; i++) {
        close(lowest);
        if (open("/dev/null", O_RDONLY) != lowest)
            return 0;
    }
    close(lowest);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 1 && !gets_its_own()) {
        fprintf(stderr, "another one has the number that was just closed\n");
        return 1;
    }
    burn(100);
    if (argc > 1 && strcmp(argv[1], "raw") == 0)
        return close_raw();
    for (int fd = 3; fd < 5000; fd++)
        close(fd);
    burn(100);
    close_range(3, ~0U, 0);
    closefrom(3);
    bool papi = argc > 1 && strcmp(argv[1], "papi") == 0;
    if (!papi && !lowest_is(3)) {
        fprintf(stderr, "descriptor 3 is not free\n");
        return 1;
    }
    for (int fd = 700; fd < 800; fd++) /* and those it requests by number, even if they are in use */
        if (dup2(0, fd) != fd)
            return 1;
    for (int fd = 4000; fd < 4010; fd++)
        if (dup2(0, fd) != fd && errno != EBADF)
            return 1;
    burn(100);
    say_burned(300);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
