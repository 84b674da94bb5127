/* Two threads count into one block in turn, each into its own half of it: every store takes the block from the other. */
#include <pthread.h>
#include <stdio.h>

static volatile long counts[8] __attribute__((aligned(64)));
static pthread_barrier_t turn[2];

static void *count(void *arg)
{
    long me = (long)arg;
    for (int i = 0; i < 200; i++) {
        pthread_barrier_wait(&turn[0]);
        if (me < 4)
            counts[me] = i; /* ONE */
        pthread_barrier_wait(&turn[1]);
        if (me >= 4)
            counts[me] = i; /* OTHER */
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_barrier_init(&turn[i], NULL, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, count, (void *)(i * 4));
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%ld\n", counts[0] + counts[4]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
