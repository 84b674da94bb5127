/* Threads by pthread_create, detached ones, C11's, and, without an argument, one the C library starts by itself (a
   timer's). */
#define _GNU_SOURCE
#include "burn.h"
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

static volatile int detached_tid, timer_done;

static void *plain(void *arg)
{
    (void)arg;
    burn(150);
    return NULL;
}

static void *detached(void *arg)
{
    (void)arg;
    burn(150);
    detached_tid = (int)syscall(SYS_gettid);
    pthread_exit(NULL);
}

static int c11(void *arg)
{
    (void)arg;
    burn(150);
    return 5;
}

static void on_timer(union sigval v)
{
    (void)v;
    usleep(150000); /* threads started without notice to the recorder are found within a tenth of a second */
    burn(300);
    timer_done = 1;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    thrd_t c;
    int result;
    struct sigevent how = {.sigev_notify = SIGEV_THREAD};
    struct itimerspec when = {.it_value = {0, 1000000}};
    timer_t timer;
    how.sigev_notify_function = on_timer;
    (void)argv;
    timer_done = argc > 1;
    if (argc == 1 && (timer_create(CLOCK_MONOTONIC, &how, &timer) < 0 || timer_settime(timer, 0, &when, NULL) < 0))
        return 1;
    pthread_create(&a, NULL, plain, NULL);
    pthread_create(&b, NULL, detached, NULL);
    pthread_detach(b);
    thrd_create(&c, c11, NULL);
    burn(100);
    pthread_join(a, NULL);
    thrd_join(c, &result);
    while (!detached_tid || syscall(SYS_tgkill, getpid(), detached_tid, 0) == 0 || !timer_done)
        usleep(1000);
    say_burned(argc > 1 ? 550 : 850);
    return result;
}
/* SPDX-License-Identifier: BSD-3-Clause */
