/* Nothing but a barrier that two threads (ranks) pass: prints ns a passage. With -DOMP OpenMP's, with -DMPI MPI's, with -DOWN one of the
   program's own, which it tells hpcview of. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#if defined OMP
enum { TIMES = 20000 };

static void pass(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < TIMES; i++) {
#pragma omp barrier
    }
}
#elif defined MPI
#include <mpi.h>
enum { TIMES = 20000 };

static void pass(void)
{
    for (int i = 0; i < TIMES; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}
#else
enum { TIMES = 200000 };
static pthread_barrier_t b;

#ifdef OWN
#include "hpcview.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int arrived, turn;

static void wait_for_all(void)
{
    int mine = atomic_load(&turn);
    HPCVIEW_BARRIER_LOOP_ARRIVE("spin");
    if (atomic_fetch_add(&arrived, 1) == 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&turn, 1);
    }
    while (atomic_load(&turn) == mine)
        sched_yield();
    HPCVIEW_BARRIER_LEAVE("spin");
}
#else
static void wait_for_all(void)
{
    pthread_barrier_wait(&b);
}
#endif

static void *other(void *arg)
{
    for (int i = 0; i < TIMES; i++)
        wait_for_all();
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

int main(int argc, char **argv)
{
    int rank = 0;
#ifdef MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    (void)argc, (void)argv;
    double before = now();
    pass();
    if (rank == 0)
        printf("%.0f\n", (now() - before) / TIMES);
#ifdef MPI
    MPI_Finalize();
#endif
    return 0;
}
