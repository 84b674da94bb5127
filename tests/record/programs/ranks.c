/* MPI: each rank works, the first one longer. */
#include "burn.h"
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    burn(rank == 0 ? 300 : 150);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        say_burned(450);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
