/* Events in programs: crash, fork, exec (with little memory available), signals, short-lived threads. The argument
   selects one; with "late-" before it, it follows enough work for the simulator to start a thread. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile double field[4096];
static volatile long handled;

static void work(int rounds)
{
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < 4096; i++)
            field[i] += i; /* WORK */
}

static void *thread(void *arg)
{
    work(2);
    return arg;
}

static void on_alarm(int sig)
{
    (void)sig;
    handled++;
    field[handled % 4096] = 1;
}

static void take_signals(void)
{
    struct itimerval every = {{0, 1000}, {0, 1000}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &every, NULL);
    while (handled < 20)
        work(1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool late = strncmp(what, "late-", 5) == 0;
    what += late ? 5 : 0;
    work(late ? 100 : 2);
    if (strcmp(what, "crash") == 0)
        *(volatile int *)(argc - 2) = 1;
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(what, "signals") == 0)
        take_signals();
    if (strcmp(what, "limit") == 0)
        setrlimit(RLIMIT_AS, &(struct rlimit){3000000000, 3000000000});
    if (strcmp(what, "exec") == 0 || strcmp(what, "limit") == 0)
        execl(argv[2], argv[2], (char *)NULL);
    if (strcmp(what, "close") == 0)
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
    if (strcmp(what, "fork") == 0) {
        int status;
        pid_t child = fork();
        work(child == 0 ? 3 : 5);
        if (child == 0)
            _exit(0);
        waitpid(child, &status, 0);
    }
    for (int i = 0; strcmp(what, "threads") == 0 && i < 300; i++) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
        pthread_join(t, NULL);
    }
    work(1);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
