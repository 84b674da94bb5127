/* fork, a fork in a thread, and a child that ends by _exit. */
#include "burn.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *forks_too(void *arg)
{
    int status;
    (void)arg;
    pid_t pid = fork();
    if (pid == 0) {
        burn(150);
        _exit(4);
    }
    burn(150);
    waitpid(pid, &status, 0);
    return (void *)(long)WEXITSTATUS(status);
}

int main(void)
{
    pthread_t t;
    void *result;
    int status;
    pid_t pid = fork();
    burn(150);
    if (pid == 0)
        exit(3);
    pthread_create(&t, NULL, forks_too, NULL);
    pthread_join(t, &result);
    waitpid(pid, &status, 0);
    say_burned(600);
    return WEXITSTATUS(status) * 10 + (int)(long)result;
}
/* SPDX-License-Identifier: BSD-3-Clause */
