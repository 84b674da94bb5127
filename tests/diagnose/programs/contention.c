/* planted: Locks|WaitingPlace|FalseParallelism|TimedWaits; also: SerialPart|Chains; by: record -e REALTIME -e CPUTIME; flags: -O2 -pthread. All work is under one lock. */
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double sum;
static void *work(void *arg)
{
    for (int i = 0; i < 1500; i++) {
        pthread_mutex_lock(&lock); /* HERE */
        for (int k = 0; k < 20000; k++)
            sum = sum * 0.999999 + 1e-7;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    printf("%g\n", sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
