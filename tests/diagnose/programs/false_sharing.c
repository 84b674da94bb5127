/* planted: FalseSharing; by: simulate; flags: -O1 -pthread. Two threads count in one block of memory. */
#include <pthread.h>
static volatile long counts[2];
static void *count(void *which)
{
    volatile long *mine = &counts[(long)which];
    for (int i = 0; i < 200000; i++)
        *mine += 1; /* HERE */
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, count, (void *)0);
    pthread_create(&b, 0, count, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return counts[0] + counts[1] != 400000;
}
