/* Ends as selected: return, exit, _exit, quick_exit, abort, segv, overflow, term, kill. */
#include "burn.h"
#include <signal.h>
#include <unistd.h>

static int deeper(int n)
{
    volatile char fill[4096];
    fill[0] = (char)n;
    return n > 1 << 30 ? 0 : deeper(n + 1) + fill[0];
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    burn(300);
    say_burned(300);
    if (strcmp(how, "exit") == 0)
        exit(11);
    if (strcmp(how, "_exit") == 0)
        _exit(12);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(13);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "segv") == 0)
        *(volatile int *)16 = 1;
    if (strcmp(how, "overflow") == 0)
        return deeper(0);
    if (strcmp(how, "term") == 0)
        kill(getpid(), SIGTERM);
    if (strcmp(how, "kill") == 0) {
        usleep(1100000); /* samples older than a second must be in the file */
        kill(getpid(), SIGKILL);
    }
    return 10;
}
/* SPDX-License-Identifier: BSD-3-Clause */
