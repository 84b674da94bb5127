/*
 * measure FILE COMMAND ARGS... - run a command and add one line to FILE: "wall cpu rss status", in seconds, seconds and
 * KiB.
 *
 * cpu is user and system time of the command and of the children it waited for; rss is the largest resident size of any
 * one of them. The command's output goes to /dev/null, its errors are passed on. This program is small, so that its
 * memory inherited by fork does not affect rss.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void become(char **argv)
{
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
        _exit(126);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    struct rusage used;
    int status;
    if (argc < 3) {
        fprintf(stderr, "usage: measure FILE COMMAND ARGS...\n");
        return 2;
    }
    double start = now();
    pid_t pid = fork();
    if (pid == 0)
        become(argv + 2);
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid) {
        perror("measure");
        return 1;
    }
    double wall = now() - start;
    FILE *f = fopen(argv[1], "a");
    if (!f ||
        fprintf(f, "%.6f %.6f %ld %d\n", wall, seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss,
                WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)) < 0 ||
        fclose(f) != 0) {
        perror(argv[1]);
        return 1;
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
