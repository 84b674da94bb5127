/* planted: FalseSharing|SharedLine; false: SerialPart; set: a; by: record; before: -O1 -pthread; after: -O1 -pthread -DAFTER. Two threads of different functions write one cache line; both are busy all the time. */
#include <pthread.h>
#include <stdio.h>
#ifdef AFTER
static struct { _Alignas(128) volatile long a; _Alignas(128) volatile long b; } both;
#else
static struct { volatile long a, b; } both;
#endif
enum { N = 150000000 };
static void *first(void *unused)
{
    for (long i = 0; i < N; i++)
        both.a += i;
    return unused;
}
static void *second(void *unused)
{
    for (long i = 0; i < N; i++)
        both.b ^= i;
    return unused;
}
int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%ld\n", both.a + both.b);
}
/* SPDX-License-Identifier: BSD-3-Clause */
