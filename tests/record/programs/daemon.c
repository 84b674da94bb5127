/* A daemon: forks twice, changes directory, closes everything, works, and reports in a file. */
#include "burn.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 1;
    int out = open(argv[1], O_CREAT | O_WRONLY, 0666);
    burn(100);
    pid_t pid = fork();
    if (pid > 0) {
        waitpid(pid, NULL, 0);
        for (int i = 0; i < 500; i++) { /* its file is complete when it has ended, which only a lock shows */
            struct stat st;
            if (stat(argv[1], &st) == 0 && st.st_size > 0)
                break;
            usleep(10000);
        }
        say_burned(300);
        return 0;
    }
    setsid();
    if (fork() > 0)
        _exit(0);
    if (chdir("/") < 0)
        return 1;
    umask(0);
    for (int fd = 0; fd < 3000; fd++)
        if (fd != out)
            close(fd);
    burn(200);
    if (write(out, "done\n", 5) != 5)
        return 1;
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
