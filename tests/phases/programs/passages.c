/* Nothing but a barrier that two threads pass: prints ns a passage (with -DOMP: OpenMP's). */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#ifdef OMP
enum { TIMES = 20000 };
#else
enum { TIMES = 200000 };
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#ifdef OMP
static void pass(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < TIMES; i++) {
#pragma omp barrier
    }
}
#else
static pthread_barrier_t b;

static void *other(void *arg)
{
    for (int i = 0; i < TIMES; i++)
        pthread_barrier_wait(&b);
    return arg;
}

static void pass(void)
{
    pthread_t id;
    pthread_barrier_init(&b, NULL, 2);
    pthread_create(&id, NULL, other, NULL);
    other(NULL);
    pthread_join(id, NULL);
}
#endif

int main(void)
{
    double before = now();
    pass();
    printf("%.0f\n", (now() - before) / TIMES);
    return 0;
}
