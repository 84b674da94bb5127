/* Only a barrier that two threads (ranks) pass: prints ns per passage, the fastest tenth of 1000 times 100 passages,
   when no other program used the processors.
   With -DOMP OpenMP's barrier, with -DMPI MPI's, with -DOWN one of the program's own, annotated for hpcview. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WINDOWS = 1000, TOGETHER = 100 };
static double windows[WINDOWS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#if defined OMP
#include <omp.h>
static void meet(void)
{
#pragma omp barrier
}
#elif defined MPI
#include <mpi.h>
static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}
#else
static pthread_barrier_t b;

#ifdef OWN
#include "hpcview.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int arrived, turn;

static void meet(void)
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
static void meet(void)
{
    pthread_barrier_wait(&b);
}
#endif
#endif

static void passages(int first)
{
    for (int i = 0; i < WINDOWS; i++) {
        double before = now();
        for (int k = 0; k < TOGETHER; k++)
            meet();
        if (first)
            windows[i] = (now() - before) / TOGETHER;
    }
}

#if defined OMP
static void pass(void)
{
#pragma omp parallel num_threads(2)
    passages(omp_get_thread_num() == 0);
}
#elif defined MPI
static void pass(void)
{
    passages(1);
}
#else
static void *other(void *arg)
{
    passages(arg != NULL);
    return NULL;
}

static void pass(void)
{
    pthread_t id;
    pthread_barrier_init(&b, NULL, 2);
    pthread_create(&id, NULL, other, NULL);
    other(&b);
    pthread_join(id, NULL);
}
#endif

static int by_size(const void *left, const void *right)
{
    double x = *(const double *)left, y = *(const double *)right;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    int rank = 0;
#ifdef MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    (void)argc, (void)argv;
    pass();
    qsort(windows, WINDOWS, sizeof *windows, by_size);
    if (rank == 0)
        printf("%.0f\n", windows[WINDOWS / 10]);
#ifdef MPI
    MPI_Finalize();
#endif
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
