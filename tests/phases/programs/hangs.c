/* Four threads meet a few times; then one goes on working and never comes. */
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t b;
static volatile double sink;

static void work_for_ever(void)
{
    for (;;)
        sink += 1; /* FOREVER */
}

static void *work(void *arg)
{
    for (int e = 0;; e++) {
        if ((long)arg == 2 && e == 3)
            work_for_ever();
        usleep(1000);
        pthread_barrier_wait(&b); /* HERE */
    }
    return NULL;
}

int main(void)
{
    pthread_t id;
    pthread_barrier_init(&b, NULL, 4);
    for (long i = 0; i < 4; i++)
        pthread_create(&id, NULL, work, (void *)i);
    pause();
    return 0;
}
