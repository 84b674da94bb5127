/* Collectives that are barriers, ranks with planned arrivals: mpi [EPISODES [STEP_MS]]. Rank 0 prints all results. */
#include "planned.h"

#include <mpi.h>

enum { RANKS = 16 };
static int rank, ranks, from[RANKS], to[RANKS], counts[RANKS], places[RANKS], bytes[RANKS];
static MPI_Datatype types[RANKS];
static MPI_Comm everybody; /* Open MPI: a pointer, MPICH: a number */

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD); /* BARRIER */
}

static void duplicate(void)
{
    MPI_Barrier(everybody); /* DUPLICATE */
}

static void allreduce(void)
{
    MPI_Allreduce(from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* ALLREDUCE */
}

static void allgather(void)
{
    MPI_Allgather(from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD); /* ALLGATHER */
}

static void allgatherv(void)
{
    MPI_Allgatherv(from, 1, MPI_INT, to, counts, places, MPI_INT, everybody); /* ALLGATHERV */
}

static void alltoall(void)
{
    MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD); /* ALLTOALL */
}

static void alltoallv(void)
{
    MPI_Alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD); /* ALLTOALLV */
}

static void alltoallw(void)
{
    MPI_Alltoallw(from, counts, bytes, types, to, counts, bytes, types, MPI_COMM_WORLD); /* ALLTOALLW */
}

static void scatter(void)
{
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* SCATTER */
}

static void block(void)
{
    MPI_Reduce_scatter_block(from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* BLOCK */
}

static struct {
    struct plan plan;
    void (*call)(void);
} all[] = {{{.name = "barrier"}, meet},          {{.name = "allreduce"}, allreduce}, {{.name = "allgather"}, allgather},
           {{.name = "allgatherv"}, allgatherv}, {{.name = "alltoall"}, alltoall},   {{.name = "alltoallv"}, alltoallv},
           {{.name = "alltoallw"}, alltoallw},   {{.name = "scatter"}, scatter},     {{.name = "block"}, block},
           {{.name = "duplicate"}, duplicate}};
enum { COLLECTIVES = sizeof all / sizeof *all };

static void gather(struct plan *p)
{
    for (int e = 0; e < p->episodes; e++) {
        double mine = p->at[e][rank], theirs[PLAN_THREADS];
        MPI_Gather(&mine, 1, MPI_DOUBLE, theirs, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* GATHER */
        for (int i = 0; rank == 0 && i < p->threads; i++)
            p->at[e][i] = theirs[i];
    }
}

int main(int argc, char **argv)
{
    int episodes = argc > 1 ? atoi(argv[1]) : 3;
    double step = argc > 2 ? atof(argv[2]) : 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &everybody);
    for (int i = 0; i < ranks; i++) {
        counts[i] = 1;
        places[i] = i;
        bytes[i] = i * (int)sizeof *from;
        types[i] = MPI_INT;
    }
    for (int e = 0; e < episodes; e++)
        for (int c = 0; c < COLLECTIVES; c++) {
            plan_sleep(1 + (c % 2 ? ranks - 1 - rank : rank) * step);
            plan_arrive(&all[c].plan, e, rank);
            all[c].call();
        }
    for (int c = 0; c < COLLECTIVES; c++) {
        all[c].plan.threads = ranks;
        all[c].plan.episodes = episodes;
        gather(&all[c].plan);
    }
    for (int c = 0; c < COLLECTIVES; c++) {
        for (int e = 0; c && e < episodes; e++)
            all[c].plan.begun[e] = plan_last(&all[c - 1].plan, e);
        if (rank == 0)
            plan_end(&all[c].plan);
    }
    MPI_Comm_free(&everybody);
    MPI_Finalize();
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
