/* planted: FalseSharing; also: FirstLevelMisses|SecondLevelMisses; by: simulate; flags: -O1 -pthread. Two threads count in one block of memory, by turns. */
#include <pthread.h>
#include <sched.h>
static volatile long counts[2];
static pthread_barrier_t both;
static void *count(void *which)
{
    volatile long *mine = &counts[(long)which];
    pthread_barrier_wait(&both);
    for (int i = 0; i < 100000; i++) {
        *mine += 1; /* HERE */
        if (i % 16 == 0)
            sched_yield();
    }
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&a, 0, count, (void *)0);
    pthread_create(&b, 0, count, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return counts[0] + counts[1] != 200000;
}
/* SPDX-License-Identifier: BSD-3-Clause */
