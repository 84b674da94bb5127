/* Collectives that are barriers, ranks with planned arrivals: mpi [EPISODES [STEP_MS]]. Rank 0 says what all saw: they share a clock. */
#include "planned.h"

#include <mpi.h>

static struct plan barrier = {.name = "barrier"}, reduction = {.name = "allreduce"};

static void gather(struct plan *p, int rank)
{
    for (int e = 0; e < p->episodes; e++) {
        double mine = p->at[e][rank], all[PLAN_THREADS];
        MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < p->threads; i++)
            p->at[e][i] = all[i];
    }
    if (rank == 0)
        plan_end(p);
}

int main(int argc, char **argv)
{
    int rank, ranks, sum, episodes = argc > 1 ? atoi(argv[1]) : 3;
    double step = argc > 2 ? atof(argv[2]) : 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    barrier.threads = reduction.threads = ranks;
    barrier.episodes = reduction.episodes = episodes;
    for (int e = 0; e < episodes; e++) {
        plan_sleep(1 + rank * 2 * step);
        plan_arrive(&barrier, e, rank);
        MPI_Barrier(MPI_COMM_WORLD); /* BARRIER */
        plan_sleep(1 + (ranks - 1 - rank) * step);
        plan_arrive(&reduction, e, rank);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* ALLREDUCE */
    }
    gather(&barrier, rank);
    for (int e = 0; e < episodes; e++)
        reduction.begun[e] = plan_last(&barrier, e);
    gather(&reduction, rank);
    MPI_Finalize();
    return 0;
}
