/*
 * Ends its threads by the system call itself, in several orders; the kernel ends the process with the last of them. With
 * "strict", as a program must that may only read, write and exit (seccomp(2)).
 */
#define _GNU_SOURCE
#include "burn.h"
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *how;

static int told(const char *word)
{
    return strcmp(how, word) == 0;
}

static void end_raw(int status)
{
    syscall(SYS_exit, status);
}

static void *other(void *arg)
{
    (void)arg;
    burn(100);
    usleep(200000); /* the first thread is long gone */
    if (told("then-exit"))
        exit(6);
    if (told("then-signal"))
        kill(getpid(), SIGTERM);
    if (told("then-exec"))
        execl("/bin/sh", "sh", "-c", "exit 9", NULL);
    if (told("last") || told("all"))
        end_raw(5);
    return NULL;
}

static int cloned(void *arg)
{
    other(arg);
    end_raw(8);
    return 0;
}

/* A thread unknown to the C library. It must not use the library's per-thread data. */
static void start_clone(void)
{
    static char stack[1 << 16] __attribute__((aligned(16)));
    clone(cloned, stack + sizeof stack,
          CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL);
}

int main(int argc, char **argv)
{
    pthread_t t;
    how = argc > 1 ? argv[1] : "alone";
    burn(told("alone") || told("strict") ? 200 : 100);
    if (told("clone"))
        start_clone();
    else if (!told("alone") && !told("strict"))
        pthread_create(&t, NULL, other, NULL);
    say_burned(200);
    if (told("others-first"))
        pthread_join(t, NULL);
    if (told("last")) /* as the C library has it; the other one not */
        pthread_exit(NULL);
    if (told("strict"))
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    end_raw(3);
    return 99;
}
/* SPDX-License-Identifier: BSD-3-Clause */
