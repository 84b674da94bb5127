/* A conjugate gradient over ranks: rank 1 has 1.5 times the rows of the others, and is last in each MPI_Allreduce. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 60000, TERMS = 9 };

static double dot(const double *x, const double *y, int n)
{
    double sum = 0, all;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void multiply(double *y, const double *a, const int *column, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < TERMS; k++)
            sum += a[i * TERMS + k] * x[column[i * TERMS + k]];
        y[i] = sum;
    }
}

static void exchange(double *x, int n, int rank, int ranks)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Sendrecv(x + n - 1, 1, MPI_DOUBLE, next, 0, x, 1, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, ranks, steps = argc > 1 ? atoi(argv[1]) : 300;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int n = rank == 1 ? ROWS + ROWS / 2 : ROWS;
    double *a = malloc(sizeof *a * (size_t)n * TERMS), *x = malloc(sizeof *x * (size_t)n), *y = malloc(sizeof *y * (size_t)n), norm = 0;
    int *column = malloc(sizeof *column * (size_t)n * TERMS);
    for (int i = 0; i < n; i++) {
        x[i] = 1.0 / (i + 1);
        for (int k = 0; k < TERMS; k++) {
            a[i * TERMS + k] = k == 4 ? 4 : -0.4;
            column[i * TERMS + k] = (int)(((long)i * 7919 + k * 104729) % n);
        }
    }
    for (int step = 0; step < steps; step++) {
        exchange(x, n, rank, ranks);
        multiply(y, a, column, x, n);
        norm = dot(y, y, n);
        for (int i = 0; i < n; i++)
            x[i] = y[i] / (1 + norm);
    }
    if (rank == 0)
        printf("%g\n", norm);
    MPI_Finalize();
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
