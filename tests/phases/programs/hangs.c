/* Four threads (ranks) meet a few times; then one goes on working and never comes. With -DOMP at a barrier of OpenMP, with -DMPI at MPI's. */
#include <pthread.h>
#include <unistd.h>
#ifdef MPI
#include <mpi.h>
#endif

static volatile double sink;

static void work_for_ever(void)
{
    for (;;)
        sink += 1;
}

#if defined OMP
static void meet(void)
{
#pragma omp barrier /* OMP */
}
#elif defined MPI
static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD); /* MPI */
}
#else
static pthread_barrier_t b;

static void meet(void)
{
    pthread_barrier_wait(&b); /* PTHREAD */
}
#endif

static void *work(void *arg)
{
    for (int e = 0;; e++) {
        if ((long)arg == 2 && e == 3)
            work_for_ever();
        usleep(1000);
        meet();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
#if defined OMP
    long next = 0;
#pragma omp parallel num_threads(4)
    {
        long me = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST);
        work((void *)me);
    }
#elif defined MPI
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    work((void *)(long)rank);
#else
    pthread_t id;
    pthread_barrier_init(&b, NULL, 4);
    for (long i = 0; i < 4; i++)
        pthread_create(&id, NULL, work, (void *)i);
    pause();
#endif
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
