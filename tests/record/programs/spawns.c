/* posix_spawn, vfork and exec, system and popen: the programs they start are recorded too. */
#define _GNU_SOURCE
#include "burn.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
    int status = 0;
    pid_t pid;
    char *args[] = {argv[0], "child", NULL}, *empty[] = {NULL}, command[4200], self[4096];
    if (argc > 1) {
        burn(150);
        return 2;
    }
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    if (posix_spawn(&pid, self, NULL, NULL, args, empty) != 0 || waitpid(pid, &status, 0) < 0 ||
        WEXITSTATUS(status) != 2)
        return 1;
    pid = vfork();
    if (pid == 0) {
        execve(self, args, environ);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) < 0 || WEXITSTATUS(status) != 2)
        return 1;
    pid = vfork();
    if (pid == 0)
        _exit(9);
    if (waitpid(pid, &status, 0) < 0 || WEXITSTATUS(status) != 9)
        return 1;
    snprintf(command, sizeof command, "'%s' child", self);
    if (WEXITSTATUS(system(command)) != 2)
        return 1;
    FILE *f = popen(command, "r");
    if (!f || WEXITSTATUS(pclose(f)) != 2)
        return 1;
    burn(100);
    say_burned(700);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
