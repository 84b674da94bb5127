/* A failing exec, and all variants of exec with the program itself, also with an empty environment. */
#define _GNU_SOURCE
#include "burn.h"
#include <errno.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int step = argc > 1 ? atoi(argv[1]) : 0;
    char next[8], *args[] = {argv[0], next, NULL}, *empty[] = {NULL};
    snprintf(next, sizeof next, "%d", step + 1);
    burn(100);
    switch (step) {
    case 0:
        if (execlp("there-is-no-such-program", "x", (char *)NULL) != -1 || errno != ENOENT)
            return 1;
        burn(100);
        execv("/proc/self/exe", args);
        return 1;
    case 1:
        execl("/proc/self/exe", argv[0], next, (char *)NULL);
        return 1;
    case 2:
        execle("/proc/self/exe", argv[0], next, (char *)NULL, empty);
        return 1;
    case 3:
        execvpe("/proc/self/exe", args, empty);
        return 1;
    default:
        say_burned(600);
        return 7;
    }
}
/* SPDX-License-Identifier: BSD-3-Clause */
