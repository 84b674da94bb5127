/* Spin barriers of the program's own, named and not, by the macros of hpcview.h: own [THREADS [EPISODES [STEP_MS]]]. */
#include "planned.h"

#include <hpcview.h>
#include <pthread.h>
#include <sched.h>

static struct plan named = {.name = "named"}, anonymous = {.name = "anonymous"};
static int threads = 3, episodes = 5;
static double step = 2;
static int arrived, turn;

static void spin(void)
{
    int mine = __atomic_load_n(&turn, __ATOMIC_SEQ_CST);
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST) == threads) {
        __atomic_store_n(&arrived, 0, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&turn, 1, __ATOMIC_SEQ_CST);
    }
    while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) == mine)
        sched_yield();
}

static void *work(void *arg)
{
    int me = (int)(long)arg;
    for (int e = 0; e < episodes; e++) {
        plan_sleep(1 + me * step);
        plan_arrive(&named, e, me);
        HPCVIEW_BARRIER_ARRIVE("exchange"); /* NAMED */
        spin();
        HPCVIEW_BARRIER_LEAVE("exchange");
        plan_sleep(1 + (threads - 1 - me) * step);
        plan_arrive(&anonymous, e, me);
        HPCVIEW_BARRIER_LOOP_ARRIVE(""); /* ANONYMOUS */
        spin();
        HPCVIEW_BARRIER_LEAVE("");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t id[PLAN_THREADS];
    threads = argc > 1 ? atoi(argv[1]) : threads;
    episodes = argc > 2 ? atoi(argv[2]) : episodes;
    step = argc > 3 ? atof(argv[3]) : step;
    named.threads = anonymous.threads = threads;
    named.episodes = anonymous.episodes = episodes;
    for (long i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, work, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    plan_end(&named);
    plan_end(&anonymous);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
