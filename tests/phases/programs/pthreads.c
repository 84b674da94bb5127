/* Two barriers in turn, the first phase the longer one, N threads with planned arrivals: pthreads [THREADS [EPISODES [STEP_MS]]]. */
#include "planned.h"

#include <pthread.h>

static struct plan first = {.name = "first"}, second = {.name = "second"};
static pthread_barrier_t a, b;
static int threads = 4, episodes = 5;
static double step = 2;

static void *work(void *arg)
{
    int me = (int)(long)arg;
    for (int e = 0; e < episodes; e++) {
        plan_sleep(1 + me * 2 * step);
        plan_arrive(&first, e, me);
        pthread_barrier_wait(&a); /* FIRST */
        plan_sleep(1 + (threads - 1 - me) * step);
        plan_arrive(&second, e, me);
        pthread_barrier_wait(&b); /* SECOND */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t id[PLAN_THREADS];
    threads = argc > 1 ? atoi(argv[1]) : threads;
    episodes = argc > 2 ? atoi(argv[2]) : episodes;
    step = argc > 3 ? atof(argv[3]) : step;
    first.threads = second.threads = threads;
    first.episodes = second.episodes = episodes;
    pthread_barrier_init(&a, NULL, (unsigned)threads);
    pthread_barrier_init(&b, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, work, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL); /* JOIN */
    for (int e = 0; e < episodes; e++)
        second.begun[e] = plan_last(&first, e);
    plan_end(&first);
    plan_end(&second);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
