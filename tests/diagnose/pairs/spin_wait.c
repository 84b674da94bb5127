/* planted: BusyWait; at: consume; false: SerialPart; set: a; by: record; before: -O2 -pthread; after: -O2 -pthread -DAFTER. One thread waits for the other by looking at a variable. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int ready;
static double y[2];
static double work(long n)
{
    double s = 1;
    for (long k = 0; k < n; k++)
        s = s * 0.5 + k;
    return s;
}
static void *produce(void *unused)
{
#ifdef AFTER
    y[0] = work(125000000);
#else
    y[0] = work(250000000);
#endif
    atomic_store(&ready, 1);
    return unused;
}
static void *consume(void *unused)
{
#ifdef AFTER
    y[1] = work(125000000);
#endif
    while (!atomic_load(&ready))
        ;
    y[1] += y[0];
    return unused;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, produce, NULL);
    pthread_create(&b, NULL, consume, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%g\n", y[1]);
}
/* SPDX-License-Identifier: BSD-3-Clause */
