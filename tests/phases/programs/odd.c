/* What barriers suffer in real programs: odd HOW. The counts are in the test that runs it.
 *
 *     anew     barriers at one address, destroyed and made again for 2, 4, 3 threads
 *     die      a thread ends inside of a barrier of the program's own; the others go on with later ones
 *     cancel   a thread is cancelled while it waits for a condition, another one inside of a barrier for two
 *     fork     a child of a program whose threads stand at a barrier, which meets at barriers itself
 *     more     six threads at a barrier for two: three pairs at a time, 600 in all
 */
#include "hpcview.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int times = 20;

static atomic_int tickets;

static void *meet(void *arg)
{
    for (int i = 0; i < times; i++)
        pthread_barrier_wait(&b); /* MEET */
    return arg;
}

/* Any free thread takes the next slot, so that none is left without a partner. */
static void *pair(void *arg)
{
    while (atomic_fetch_add(&tickets, 1) < 1200)
        pthread_barrier_wait(&b); /* PAIR */
    return arg;
}

static void together(void *(*how)(void *), int threads, int expected)
{
    pthread_t id[64];
    pthread_barrier_init(&b, NULL, (unsigned)expected);
    for (int i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, how, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    pthread_barrier_destroy(&b);
}

static void wait_until(atomic_int *n, int enough)
{
    while (atomic_load(n) < enough)
        usleep(100);
}

static void *die(void *arg)
{
    static const int arrive[] = {3, 3, 2, 2}, leave[] = {3, 2, 2, 2};
    static atomic_int arrived[4], left[4];
    for (int i = 0; i < 4; i++) {
        HPCVIEW_BARRIER_ARRIVE("own"); /* OWN */
        atomic_fetch_add(&arrived[i], 1);
        wait_until(&arrived[i], arrive[i]);
        if (arg && i == 1)
            pthread_exit(NULL);
        HPCVIEW_BARRIER_LEAVE("own");
        atomic_fetch_add(&left[i], 1);
        wait_until(&left[i], leave[i]);
    }
    return NULL;
}

static void dying(void)
{
    pthread_t id[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&id[i], NULL, die, (void *)(i == 2 ? &b : NULL));
    for (int i = 0; i < 3; i++)
        pthread_join(id[i], NULL);
    together(meet, 2, 2);
}

static void *wait_for_ever(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &lock);
    for (;;)
        pthread_cond_wait(&never, &lock); /* NEVER */
    pthread_cleanup_pop(1);
    return arg;
}

static void cancelling(void)
{
    pthread_t id;
    pthread_create(&id, NULL, wait_for_ever, NULL);
    usleep(5000);
    pthread_cancel(id);
    pthread_join(id, NULL);
    together(meet, 3, 3);
}

static int forking(void)
{
    pthread_t id;
    int status = 0;
    times = 1;
    pthread_barrier_init(&b, NULL, 2);
    pthread_create(&id, NULL, meet, NULL);
    usleep(5000); /* it is waiting there */
    pid_t child = fork();
    if (child == 0) {
        times = 7;
        together(meet, 2, 2);
        exit(5);
    }
    waitpid(child, &status, 0);
    meet(NULL);
    pthread_join(id, NULL);
    times = 20;
    together(meet, 2, 2);
    return WIFEXITED(status) && WEXITSTATUS(status) == 5 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "anew") == 0)
        for (int i = 0; i < 3; i++)
            together(meet, (const int[]){2, 4, 3}[i], (const int[]){2, 4, 3}[i]);
    else if (strcmp(how, "die") == 0)
        dying();
    else if (strcmp(how, "cancel") == 0)
        cancelling();
    else if (strcmp(how, "fork") == 0)
        return forking();
    else if (strcmp(how, "more") == 0)
        together(pair, 6, 2);
    puts(how);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
