/* A child ends by SIGKILL, and so does the program after an exec. */
#include "burn.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void burn_and_die(void)
{
    burn(100);
    usleep(1100000); /* samples older than a second must be in the file */
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    int status;
    if (argc > 1)
        burn_and_die();
    pid_t pid = fork();
    if (pid == 0)
        burn_and_die();
    burn(100);
    waitpid(pid, &status, 0);
    say_burned(300);
    execl("/proc/self/exe", argv[0], "last", (char *)NULL);
    return WTERMSIG(status);
}
/* SPDX-License-Identifier: BSD-3-Clause */
