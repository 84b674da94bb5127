/*
 * Discrete ordinates in the manner of Sweep3D: for each angle the cells are swept from one corner; a cell's source is the sum
 * of the flux moments, and what leaves it is added to them.
 *
 * As it stands a moment is a whole grid (flux[n][k][j][i]), and the 16 moments of a cell lie 256 kB apart: all in one set of
 * a cache. Compiled with -DCELLS_FIRST they lie beside each other (flux[k][j][i][n]).
 *
 *     hpcview-cc -O2 -o sweep sweep.c && hpcview simulate -o m -- ./sweep && hpcview print --table array_evictors m
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 32, MOMENTS = 16, ANGLES = 4 };

#ifdef CELLS_FIRST
#define FLUX(n, k, j, i) flux[k][j][i][n]
static double flux[N][N][N][MOMENTS];
#else
#define FLUX(n, k, j, i) flux[n][k][j][i]
static double flux[MOMENTS][N][N][N];
#endif
static double source[N][N][N], legendre[ANGLES][MOMENTS], face_i, face_j[N], face_k[N][N];

static void sweep(int angle)
{
    double mu = 0.2 + 0.1 * angle, weight = 0.25 / (1 + angle);
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++) {
            face_i = 0;
            for (int i = 0; i < N; i++) {
                double q = source[k][j][i];
                for (int n = 0; n < MOMENTS; n++)
                    q += legendre[angle][n] * FLUX(n, k, j, i); /* READ */
                double phi = (q + mu * (face_i + face_j[i] + face_k[j][i])) / (1 + 3 * mu);
                face_i = face_j[i] = face_k[j][i] = 2 * phi - face_i;
                for (int n = 0; n < MOMENTS; n++)
                    FLUX(n, k, j, i) += weight * legendre[angle][n] * phi; /* WRITE */
            }
        }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int a = 0; a < ANGLES; a++)
        for (int n = 0; n < MOMENTS; n++)
            legendre[a][n] = 1.0 / (1 + a + n);
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                source[k][j][i] = 1e-3 * (i + j + k);
    for (int r = 0; r < rounds; r++) {
        for (int a = 0; a < ANGLES; a++)
            sweep(a);
        face_j[0] = 1;
    }
    printf("%.6g\n", FLUX(3, N / 2, N / 2, N / 2));
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
