/* Independent threads that end in two ways: suitable for sanitizers. */
#include "burn.h"
#include <pthread.h>

static void *work(void *arg)
{
    volatile double x = 0;
    double end = cpu_ms() + 150;
    while (cpu_ms() < end)
        for (int i = 0; i < 20000; i++)
            x += i;
    return arg;
}

static void *leave(void *arg)
{
    work(arg);
    pthread_exit(NULL);
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, i ? work : leave, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    say_burned(450);
    return 4;
}
/* SPDX-License-Identifier: BSD-3-Clause */
